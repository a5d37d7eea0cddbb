"""Comparing: which of two or more systems answers better, judged without the biases of the usual way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.comparison.results.build import STOPPED
from kgeval.comparison.results.pair import is_first
from kgeval.config import CompareOptions
from kgeval.errors import IncompleteError, KgevalError, ModelError, UsageError, raise_together, together, tried
from kgeval.format import plural, visible
from kgeval.llm.plan import Plan
from kgeval.tables.joining import only_how_read
from kgeval.tables.score_forms import beside, is_folder
from kgeval.workflows.compare_calibrate import CalibrationInputs, read_calibration
from kgeval.workflows.compare_inputs import (
    CompareSettings,
    OpenComparison,
    open_inputs,
    settings_of,
    settled,
    systems_chosen,
    thresholds_of,
)
from kgeval.workflows.result import INCOMPLETE, Result, exit_code, gate_lines
from kgeval.workflows.score import left_out_record
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import JsonValue

    from kgeval.comparison.engine import JudgeRun
    from kgeval.comparison.planning import Planning
    from kgeval.comparison.results.inputs import ComparisonInputs, PairThreshold, Tables
    from kgeval.comparison.verdict_store import Pairing, ProcedureRun, VerdictStore
    from kgeval.llm.plan import PlannedStage
    from kgeval.manifest import ModelUsage
    from kgeval.records import ComparisonReport, ComparisonVerdict, PairResult, RunManifest
    from kgeval.tables.known_questions import KnownQuestions
    from kgeval.workflows.score import AskingSummary

VERDICTS = (".jsonl", ".csv")
IN_FOLDER = ("verdicts.jsonl", "aligned.jsonl", "comparison.json", "comparison.html", "run.json")
NOT_IN_PARTS = {
    "stop_when_sure": "looks at all questions in one random order, which a part does not have",
    "systems": "asks systems, and their answers stay with the part; ask them first (kgeval answer), then compare the files",
    "anchors": "judges the anchors, which belong to no part; judge them in a run of their own",
}


@dataclass(frozen=True)
class CompareResult(Result):
    """A comparison. `report`: a ComparisonReport. `results`: the file with the verdicts, one a line; `written`: all files that were
    written, but the report's own. `messages`: what is incomplete, and thresholds that are missed or without an answer."""

    results: Path | None = None
    written: Sequence[Path] = ()
    messages: Sequence[str] = ()
    _folder: Any = field(default=None, repr=False)  # of verdicts that nobody asked to be written: gone with this object

    @property
    def verdicts(self) -> Iterator[ComparisonVerdict]:
        """What the judge decided: one an aspect of each judgement, in the order procedure, pair, question, trial, position, repeat; read
        from the file, so that memory stays flat."""
        from kgeval.records import ComparisonVerdict
        from kgeval.tables.score_forms import read_lines

        if self.results and self.results.stat().st_size:
            yield from read_lines(self.results, ComparisonVerdict)

    def to_pandas(self) -> pd.DataFrame:
        """A row a pair and aspect (overall: their sum), on all questions: win, tie and loss (shares), relative (win - loss, -1..1) and gap
        (points) with the ends of their intervals, p, p_holm, effect, superiority; n questions, n_scored with a result. None: no value."""
        import pandas as pd

        own, rates = ("system_a", "system_b", "aspect", "n", "n_scored", "trials"), ("win", "tie", "loss")
        tests = ("p", "p_holm", "effect", "superiority")
        ends = {"": "value", "_low": "low", "_high": "high"}
        figures = {f"{name}{end}": (name, part) for name in ("relative", "gap") for end, part in ends.items()}
        rows = [
            [
                *(getattr(pair, name) for name in own), *(getattr(pair.rates, name, None) for name in rates),
                *(getattr(getattr(pair, name), part) for name, part in figures.values()), *(getattr(pair, name) for name in tests),
            ]
            for pair in self.report.pairs if pair.by == "all" and not pair.mean_of_datasets
        ]
        return pd.DataFrame(rows, columns=[*own, *rates, *figures, *tests])

    def save(self, path: str | Path, *, redact: bool | None = None) -> Path:
        """Writes the verdicts (.jsonl), or the report (.html, .md, .json, .xml; .csv: the figures of the pairs). `redact`: without the
        texts and names of users; verdicts without the judge's reasons, which quote answers. None: as `redact` of this result.

        Raises: UsageError for another ending, InputError where nothing can be written.
        """
        from kgeval.tables.output import replacing

        output = Path(path)
        if output.suffix.lower() != ".jsonl":
            return super().save(output, redact=redact)
        if self.results is None:
            raise UsageError("the verdicts were not kept", fix="name a .jsonl file when they are made")
        without: dict[str, Any] = {"reason_a": None, "reason_b": None} if self.redacts(redact) else {}
        with replacing(output) as file:
            for verdict in self.verdicts:
                file.write(verdict.model_copy(update=without).model_dump_json() + "\n")
        return output


@dataclass(frozen=True)
class ComparePlan(Plan):
    """What a comparison would ask of models. `lines`: how the number of judge calls comes about, and what systems would be asked."""


@dataclass(frozen=True)
class Outputs:
    """`verdicts`: files of verdicts; `folders`: run folders; `reports`: the rest; `manifests`: those that a part has beside its verdicts,
    without which it could not be joined."""

    verdicts: tuple[Path, ...]
    folders: tuple[Path, ...]
    reports: tuple[Path, ...]
    manifests: tuple[Path, ...]

    @property
    def growing(self) -> tuple[Path, ...]:
        """The verdict files; the first is the one beside which verdicts are kept as they come."""
        return (*self.verdicts, *(folder / "verdicts.jsonl" for folder in self.folders))


@dataclass
class ComparisonRun:
    """One run: what was asked for, open and checked. `inputs`: files that are read; `left_out`: the questions that are `known`; `asking`:
    what the parts of a comparison that is joined asked; None where this run asks."""

    session: Session
    options: CompareOptions
    settings: CompareSettings
    outputs: Outputs
    opened: OpenComparison
    pairings: list[Pairing]
    thresholds: tuple[PairThreshold, ...]
    calibration: CalibrationInputs
    inputs: Sequence[Path] = ()
    known: KnownQuestions | None = None
    left_out: Sequence[str] = ()
    asking: AskingSummary | None = None

    def manifest(self) -> RunManifest:
        """The manifest of this run so far. That of a part says what the whole run is, and what its session with the judge had to say."""
        from kgeval.tables.shards import WHOLE

        graph, models, aligned = self.opened.tools.graph, self.opened.models, self.opened.aligned
        manifest = self.session.manifest(
            self.options, server=graph.info if graph else None, inputs=self.inputs, seed=self.options.seed,
            asked=_asked(self.opened) if self.asking is None else self.asking.asked,
        )
        if not self.options.shard:
            return manifest
        whole: dict[str, JsonValue] = {
            **whole_of(self), "notes": list(models.notes), "complete": models.stopped is None and aligned.stopped is None,
        }
        return manifest.model_copy(update={"arguments": {**manifest.arguments, WHOLE: whole}})

    @property
    def question_ids(self) -> list[str]:
        """The questions of all pairs, each once."""
        return list(dict.fromkeys(question.id for pairing in self.pairings for question in pairing.questions))

    def planning(self) -> Planning:
        """What the judge would be asked, counted by an asker of its own unless this is a dry run."""
        from kgeval.comparison.answering_plan import KnownAnswers
        from kgeval.comparison.planning import Planning
        from kgeval.llm.asker import Dry

        opened = self.opened
        dry = opened.judge if isinstance(opened.judge, Dry) else Dry(opened.models)
        aligned, free = KnownAnswers(opened.aligned), KnownAnswers(opened.free)
        return Planning(opened.models, dry, aligned, free, self.pairings, self.settings.procedures)


def prepare(
    session: Session, answers: Sequence[Path], options: CompareOptions, *, stack: ExitStack, names: Mapping[Path, str] | None = None,
) -> ComparisonRun:
    """A run with everything open, checked before anything is asked or paid; `stack` closes it. What was decided about files and pairs is
    said. `names`: of files that are one system's, its name.

    Raises: UsageError, InputError and what opening systems raises.
    """
    from kgeval.tables.known_questions import read_known
    from kgeval.tables.shards import parse_shard

    if options.shard:
        parse_shard(options.shard)
        flags = {"systems": "--system"}
        faults = [
            f"{flags.get(name, '--' + name.replace('_', '-'))} {why}" for name, why in NOT_IN_PARTS.items() if getattr(options, name)
        ]
        if faults:
            raise UsageError(f"--shard does not go with these: {'; '.join(faults)}", fix="leave out --shard, or the others")
    if options.without_known and options.stop_when_sure:
        raise UsageError(
            "--stop-when-sure decides on all questions in one random order, and --without-known leaves some of them out afterwards",
            fix="leave one of them out",
        )
    session.check_batches()
    settings = settings_of(options)
    chosen = systems_chosen(session, options)
    inputs = _inputs(session, answers, options, [system.spec.argument for system in chosen if system.spec.kind == "file"])
    outputs = _outputs(session, options, inputs)
    # what it is compared with is about the whole run: the merge looks at it
    calibration = CalibrationInputs() if options.shard else read_calibration(options)
    known = read_known(options.without_known) if options.without_known else None
    opened = open_inputs(session, answers, options, settings, names=names or {}, chosen=chosen, stack=stack)
    calibration.check((a, b) for a, b in opened.paired.pairs if not opened.self_check.keys() & {a, b})
    for note in dict.fromkeys([*opened.notes, *opened.paired.notes]):
        session.say(note)
    settings = settled(settings, options, opened)
    for note in settings.notes:
        session.say(note)
    aspects = (*settings.main.procedure.aspect_names, "overall")
    pairings = opened.pairings(settings.show, options.cluster)
    if options.cluster not in (None, "question") and not any(one.document for pairing in pairings for one in pairing.questions):
        what = f"--cluster {str(options.cluster)[:100]}: no question has it"
        raise UsageError(what, fix="name document, entity, dataset, level, a field that the questions have, or question: each stands alone")
    thresholds = dict.fromkeys((*session.config.compare.thresholds, *options.thresholds))
    comparison = ComparisonRun(
        session, options, settings, outputs, opened, pairings,
        () if options.shard else thresholds_of(list(thresholds), opened.paired.systems, aspects), calibration, inputs, known,
    )
    if known is not None:
        comparison.left_out = known.among(comparison.question_ids, part=bool(options.shard))
    return comparison


def plan(
    session: Session, answers: Sequence[Path], options: CompareOptions, *, names: Mapping[Path, str] | None = None,
) -> ComparePlan:
    """The calls that a run would make, by stage. `session.dry` must be true: nothing is sent. Raises: as prepare."""
    from kgeval.comparison import planning
    from kgeval.comparison.answering_plan import plan as plan_answers
    from kgeval.llm.asker import Dry

    with ExitStack() as stack:
        comparison = prepare(session, answers, options, stack=stack, names=names)
        opened, judge_calls = comparison.opened, comparison.planning()
        stages: list[PlannedStage] = []
        lines: list[str] = []
        if planning.exact(judge_calls):
            answers_plan = plan_answers(opened.aligned)
            stages, lines = list(answers_plan.stages), list(answers_plan.lines)
        more, notes = planning.plan(judge_calls)
        comparison.calibration.plan(comparison.settings.main, judge_calls.dry)
        counting = [opened.tools.dry, opened.writer if opened.padding is not None else None]
        stages += [stage for dry in counting if isinstance(dry, Dry) for stage in dry.stages()]
        stages += [*judge_calls.dry.stages(), *more]
        return ComparePlan(tuple(stages), session.limits, lines=(*lines, *_counted_lines(comparison), *notes))


def run(
    session: Session, answers: Sequence[Path], options: CompareOptions, *, names: Mapping[Path, str] | None = None,
) -> CompareResult:
    """Judges everything, and writes verdicts and run folders that the session names as outputs; reports are for the caller to write.

    Raises: UsageError, InputError, ConnectError, ModelError before anything is paid; IncompleteError where what is finished cannot be
    kept. What stops early raises nothing: the exit code is 3.
    """
    from kgeval.comparison.planning import walk

    with ExitStack() as stack:
        comparison = prepare(session, answers, options, stack=stack, names=names)
        session.batch_first(comparison.opened.models, lambda asker: walk(comparison.planning(), asker))
        return carry_out(comparison)


def carry_out(comparison: ComparisonRun, judged: Callable[[ComparisonRun, VerdictStore], JudgeRun] | None = None) -> CompareResult:
    """Judges, reports and writes. `judged`: where the verdicts come from instead."""
    from kgeval.comparison.verdict_store import VerdictStore
    from kgeval.tables.temporary import private_folder

    session, outputs = comparison.session, comparison.outputs
    folder = private_folder("parts") if session.keep_rows and not outputs.growing else None
    growing = (folder.path / "verdicts.jsonl",) if folder else outputs.growing
    faults: list[KgevalError] = []
    try:
        with VerdictStore(growing) as verdicts:
            judgements = (judged or _judged)(comparison, verdicts)
            report = _report(comparison, judgements)
            written = tried(lambda: verdicts.written(redact=session.redact and not folder), faults) or []
            if not folder:
                written += tried(lambda: _beside(comparison, judgements, report), faults) or []
    except (KeyboardInterrupt, IncompleteError, ModelError):
        if comparison.asking is None:
            without = " without --fresh-answers" if comparison.options.fresh_answers else ""
            session.say(f"replies that came are in the journal: the same command{without} goes on, and pays for none of them again")
        raise
    lines = [path for path in growing if path.suffix.lower() == ".jsonl"]
    return CompareResult(
        report, together(faults) if faults else None, session.redact, results=lines[0] if lines else None,
        written=() if folder else written, messages=messages_of(report), _folder=folder,
    )


def _judged(comparison: ComparisonRun, verdicts: VerdictStore) -> JudgeRun:
    from kgeval.comparison.engine import ComparedAnswers, JudgeRun, StopWhenSure
    from kgeval.comparison.stopping import Stopping

    opened, options, settings = comparison.opened, comparison.options, comparison.settings
    sure = StopWhenSure(lambda: Stopping(tie_region=settings.tie_region), options.seed) if options.stop_when_sure else None
    judgements = JudgeRun(
        opened.models, opened.judge, ComparedAnswers(opened.aligned, opened.free), verdicts, comparison.pairings, settings.procedures, sure,
    )
    judgements.carry_out()
    if opened.models.stopped is None and opened.aligned.settings.rule.on:
        opened.aligned.check_meaning(opened.models.map)
    comparison.calibration.judge(settings.main, judgements)
    return judgements


def _report(comparison: ComparisonRun, judgements: JudgeRun) -> ComparisonReport:
    """The report, with its exit code: 3: not complete, nothing could be judged, or a threshold without an answer; 1: one is missed."""
    from kgeval.comparison.results.build import build_report

    opened = comparison.opened
    report = comparison.calibration.compared(build_report(_findings(comparison, judgements)))
    stopped = not report.complete or opened.aligned.exit_code or opened.free.exit_code
    nothing = _nothing(report) and not comparison.options.shard  # a shard may have no questions
    undecided = any(one.because for one in report.outcomes) and not comparison.options.shard
    code = exit_code(report.gates, incomplete=bool(stopped or nothing or undecided))
    return report.model_copy(update={"run": report.run.model_copy(update={"exit_code": code})})


def _findings(comparison: ComparisonRun, judgements: JudgeRun) -> ComparisonInputs:
    """What the report is made from."""
    from kgeval.comparison.judge.grades import grade_texts
    from kgeval.comparison.results.inputs import ComparisonInputs

    opened, options, asking = comparison.opened, comparison.options, comparison.asking
    main, verdicts = comparison.settings.main, judgements.verdicts
    stopped = opened.models.stopped is not None or opened.aligned.stopped is not None
    notes = opened.models.notes if asking is None else asking.notes
    bearing = [note for note in opened.notes if not only_how_read(note)]
    scores = judgements.scores.get(main.procedure.name)
    left_out = frozenset(comparison.left_out)
    known_alone = [
        f"{pairing.a} and {pairing.b}: all {plural(len(pairing.questions), 'question')} of both are known, not compared"
        for pairing in comparison.pairings if pairing.questions and left_out.issuperset(question.id for question in pairing.questions)
    ]
    question_texts = {question.id: question.question for pairing in comparison.pairings for question in pairing.questions}

    def tables(run: ProcedureRun) -> Tables:
        return lambda: (rest for table in verdicts.tables(run) if (rest := table.without(left_out)).questions)

    corrected, label_notes = comparison.calibration.corrected(tables(main)(), without=left_out)
    return ComparisonInputs(
        run=comparison.manifest(), signature=signature_of(comparison), tables=tables(main), procedure=main.procedure.name,
        trial_kind=opened.aligned.trial_kind, complete=not (stopped if asking is None else asking.stopped),
        max_error_rate=opened.models.limits.max_error_rate, settings=_signed(comparison),
        grades=grade_texts(main.procedure.aspects) if main.procedure.graded else {},
        contrast={run.procedure.name: tables(run) for run in comparison.settings.procedures[1:]}, texts=opened.aligned.texts,
        question_text=question_texts.get, calls=_calls_by_question(verdicts, main), systems=opened.aligned.uses(),
        alignment=opened.aligned.counts() if opened.aligned.settings.rule.on else (), stopped=tuple(judgements.stopped),
        corrected=corrected, drift=comparison.calibration.drift, self_check=opened.self_check, missing=opened.paired.missing,
        thresholds=comparison.thresholds, seed=options.seed, drill=options.drill, judgements=scores.judgements if scores else 0,
        requests=scores.requests if scores else 0,
        known=left_out_record(comparison.known, comparison.left_out, len(comparison.question_ids)),
        unit=options.cluster or "document", tie_region=comparison.settings.tie_region, pads_itself=opened.pads_itself,
        all_tables=lambda: verdicts.tables(main), notes=tuple(dict.fromkeys([
            *judgements.notes, *comparison.settings.notes, *label_notes, *known_alone, *bearing, *opened.aligned.notes, *notes,
        ])),
    )


def _calls_by_question(verdicts: VerdictStore, main: ProcedureRun) -> Callable[[str, str, str, int], Iterator[ComparisonVerdict]]:
    """(a, b, question, trial) -> its verdicts under the main procedure in their order, for the drill-down."""
    segments = {(segment.pairing.a, segment.pairing.b): segment for segment in verdicts.segments if segment.run is main}

    @lru_cache(1)  # a drill-down goes through the questions of one pair after the other
    def places(a: str, b: str) -> dict[str, int]:
        return {question.id: place for place, question in enumerate(segments[a, b].pairing.questions)}

    def calls(a: str, b: str, question_id: str, trial: int) -> Iterator[ComparisonVerdict]:
        if (a, b) in segments and (place := places(a, b).get(question_id)) is not None:
            yield from (verdict for verdict in verdicts.verdicts(segments[a, b], place) if verdict.trial == trial)

    return calls


def _asked(opened: OpenComparison) -> ModelUsage:
    """What judge and reader were asked."""
    from kgeval.manifest import ModelUsage

    usages = [models.asked() for models in (opened.models, opened.tools.models, opened.padding) if models is not None]
    return ModelUsage(
        [ref for usage in usages for ref in usage.models], [use for usage in usages for use in usage.use],
        {name: digest for usage in usages for name, digest in usage.prompt_hashes.items()},
    )


def _inputs(session: Session, answers: Sequence[Path], options: CompareOptions, systems: Iterable[str]) -> list[Path]:
    """The files that a run reads, for the manifest and so that no output replaces one. `systems`: files that are systems."""
    from kgeval.config import DEFAULT_FILE

    named = [
        *answers, options.questions, options.grades, options.anchors, options.labels, options.baseline, options.without_known,
        session.config_file or DEFAULT_FILE, session.asking.prices, session.layout, *(Path(name).expanduser() for name in systems),
    ]
    return list(dict.fromkeys(Path(name) for name in named if name and Path(name).is_file()))


def _outputs(session: Session, options: CompareOptions, inputs: Sequence[Path]) -> Outputs:
    """Where things go. Raises: UsageError for endings that are none, files that cannot be written, files that are read, and a part that
    would leave nothing to join."""
    from kgeval.records import ComparisonReport
    from kgeval.reports.write import check_outputs, check_replaced
    from kgeval.tables.output import blocked

    paths_given = session.outputs
    if Path("-") in paths_given:
        raise UsageError("-o -: an output is a file or a folder", fix="-f json prints the report; --verdicts FILE keeps the verdicts")
    folders = tuple(dict.fromkeys(path for path in paths_given if is_folder(path)))
    files = [path for path in dict.fromkeys(paths_given) if path not in folders]
    named = [options.verdicts] if options.verdicts else []
    if wrong := [str(path) for path in named if path.suffix.lower() not in VERDICTS]:
        raise UsageError(f"--verdicts {wrong[0]}: unknown ending", fix=f"use one of {', '.join(VERDICTS)}")
    lines = [path for path in files if path.suffix.lower() == ".jsonl"]  # a .csv of -o has the figures of the pairs
    verdicts = tuple(dict.fromkeys([*lines, *named]))
    reports = tuple(path for path in files if path not in lines)
    check_outputs(reports, ComparisonReport)
    parts = [path for path in verdicts if path.suffix.lower() == ".jsonl"] if options.shard else []
    if options.shard and not session.dry and not parts and not folders:
        raise UsageError("a part is its verdicts, and no file is named for them", fix="add -o parts/1.jsonl, or -o parts/1/")
    outputs = Outputs(verdicts, folders, reports, tuple(beside(path, "run.json") for path in parts))
    inside = [*(folder / name for folder in folders for name in IN_FOLDER), *outputs.manifests]
    if faults := [f"{path}: {why}" for path in (*verdicts, *inside) if (why := blocked(path))]:
        raise UsageError("; ".join(faults), fix="name another file or folder with -o")
    check_replaced((*verdicts, *reports, *inside), inputs)
    return outputs


def _beside(comparison: ComparisonRun, judgements: JudgeRun, report: ComparisonReport) -> list[Path]:
    """Writes what stands beside the verdicts: manifests of parts, and run folders. Redacted folders have no answers. Returns the files of
    the folders. Raises: KgevalError where some cannot be written, after all others were."""
    from kgeval.reports.redact import redacted
    from kgeval.reports.write import write_report
    from kgeval.tables.output import write_jsonl, write_text

    faults: list[KgevalError] = []
    redact = comparison.session.redact
    shown = redacted(report) if redact else report
    folders = comparison.outputs.folders
    for path in (*comparison.outputs.manifests, *(folder / "run.json" for folder in folders)):
        tried(partial(write_text, path, shown.run.model_dump_json(indent=2) + "\n"), faults)
    written: list[Path] = []
    for folder in folders:
        for name in ("comparison.json", "comparison.html"):
            tried(partial(write_report, report, folder / name, redact=redact), faults)
        written += [folder / "comparison.json", folder / "comparison.html", folder / "run.json"]
        if redact:
            (folder / "aligned.jsonl").unlink(missing_ok=True)  # that of an earlier run
            continue
        tried(partial(write_jsonl, folder / "aligned.jsonl", _aligned(comparison, judgements)), faults)
        written.append(folder / "aligned.jsonl")
    raise_together(faults)
    return written


def _aligned(comparison: ComparisonRun, judgements: JudgeRun) -> Iterator[dict[str, Any]]:
    """The answers as they were judged; a trial with the same two as the one before it has no line."""
    for segment in judgements.verdicts.segments:
        if segment.run is not comparison.settings.main:
            continue
        before: tuple[int, tuple[str, str] | None] = (-1, None)
        for place, trial, how in judgements.verdicts.outcomes(segment):
            question = segment.pairing.questions[place]
            texts = comparison.opened.aligned.texts(segment.pairing.a, segment.pairing.b, question.id, trial)
            if texts is None or before == (place, texts):
                continue
            before = place, texts
            yield {
                "question_id": question.id, "system_a": segment.pairing.a, "system_b": segment.pairing.b, "trial": trial, "how": how,
                "answer_a": texts[0], "answer_b": texts[1],
            }


def _counted_lines(comparison: ComparisonRun) -> Iterator[str]:
    """How the number of calls comes about, one line a procedure."""
    questions = sum(len(pairing.questions) for pairing in comparison.pairings)
    for run in comparison.settings.procedures:
        yield (
            f"{run.procedure.name}: pairs {len(comparison.pairings):,}, questions over all pairs {questions:,}, trials {run.trials} "
            f"({comparison.opened.aligned.trial_kind}), orders {run.procedure.positions}, repeats {run.repeats}"
        )
    if comparison.known is not None:
        yield comparison.known.plan_line(len(comparison.left_out), len(comparison.question_ids))
    if comparison.options.stop_when_sure:
        yield "--stop-when-sure: the counts are of a run to the end; pairs that are clear stop before it"


def _signed(comparison: ComparisonRun) -> dict[str, JsonValue]:
    """All that the signature stands for."""
    from kgeval.comparison.align.force import PROMPTS as FORCING

    settings, opened = comparison.settings, comparison.opened
    endpoint, rule, main = opened.models.endpoint, settings.rule, settings.main
    # the model that was named adds words, else the reader of built-in systems where one is asked, else the judge
    writer = opened.padding or opened.tools.models or opened.models
    words: dict[str, JsonValue] = {"words_by": None}
    if rule.on and rule.force:
        asked = writer.endpoint
        words = {
            "words_by": asked.model, "words_endpoint": asked.name, "words_parameters": dict(asked.parameters),
            "words_prompts": {name: writer.prompt(name).hash for name in FORCING},
        }
    return {
        "procedure": main.procedure.name, "aspects": list(main.procedure.aspect_names),
        "prompts": {name: opened.models.prompt(name).hash for name in main.procedure.prompts}, "trials": main.trials,
        "repeats": main.repeats, "wordings": main.wordings, "show": settings.show, "orders": main.procedure.positions,
        "trial_kind": opened.aligned.trial_kind, "align": "none" if not rule.on else "longest" if rule.to_longest else "pair",
        "tolerance": rule.tolerance, "attempts": rule.attempts, "force": rule.force, **words, "tie_band": main.banded,
        "judge": endpoint.model,
        "endpoint": endpoint.name, "parameters": dict(endpoint.parameters), "language": opened.models.language,
        **({"tie_region": settings.tie_region} if comparison.options.stop_when_sure else {}),
    }


def signature_of(comparison: ComparisonRun) -> str:
    """compare-PROCEDURE@1:12 hex digits, a SHA-256 of the settings and grades. Answers and questions are no part of it."""
    main = comparison.settings.main
    shown = [main.procedure.shown(wording) for wording in range(main.wordings)]
    text = json.dumps([_signed(comparison), shown], sort_keys=True, ensure_ascii=False)
    return f"compare-{main.procedure.name}@1:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def whole_of(comparison: ComparisonRun) -> dict[str, JsonValue]:
    """What the whole run is, the same in each of its parts. `rows`: questions and answers; `signature`: judge, prompts and settings;
    `run`: pairs and procedures."""
    from kgeval.llm.answer_store import key_of

    aligned = comparison.opened.aligned
    sources = {name: aligned.sources[name].signature for name in aligned.paired.systems}
    procedures = [(run.procedure.name, run.trials, run.repeats, run.aligned) for run in comparison.settings.procedures]
    return {
        "rows": key_of(aligned.paired.sharing.digest(), sources), "signature": signature_of(comparison),
        "run": key_of(aligned.signature, list(aligned.paired.pairs), procedures),
    }


def messages_of(report: ComparisonReport) -> list[str]:
    """Messages for a run that is not complete, and for thresholds that are missed or have no answer."""
    return [*(_why_incomplete(report) if report.run.exit_code == INCOMPLETE else ()), *gate_lines(report.gates)]


@dataclass(frozen=True)
class _QuestionTotals:
    """Questions over all pairs: asked, with a result, failed, discarded. `results`, `lost`, `trials`: the same by question and trial."""

    asked: int
    scored: int
    failed: int
    discarded: int
    results: int
    lost: int
    trials: int


def _totals(pairs: Sequence[PairResult]) -> _QuestionTotals:
    whole = [pair for pair in pairs if is_first(pair)]
    return _QuestionTotals(
        asked=sum(pair.n for pair in whole), scored=sum(pair.n_scored for pair in whole),
        failed=sum(sum(pair.failures.values()) for pair in whole), discarded=sum(pair.discarded for pair in whole),
        results=sum(pair.results for pair in whole), lost=sum(pair.lost for pair in whole),
        trials=sum(pair.n * pair.trials for pair in whole),
    )


def _nothing(report: ComparisonReport) -> bool:
    """Whether no pair has a result; of a run that is only an A/A check, whether that has none."""
    if report.pairs:
        return not _totals(report.pairs).scored
    return not any(check.n for check in report.self_checks)


def _why_incomplete(report: ComparisonReport) -> Iterator[str]:
    whole = _totals(report.pairs)
    if STOPPED in report.notes:
        yield (
            f"incomplete: the run was stopped with results for {whole.results:,} of {whole.trials:,} trials of questions; "
            "the same command goes on"
        )
        return
    for one in report.outcomes:
        if one.because and one.groups.questions:
            a, b = (visible(name, longest=60) for name in (one.system_a, one.system_b))
            yield f"not decidable between {a} and {b}: {'; '.join(one.because)}"
    if _nothing(report) and whole.discarded:
        yield (
            f"nothing could be judged: {whole.discarded:,} of {whole.asked:,} questions were discarded, because the answers could not be "
            "brought to one length; give the systems hooks (--system NAME=SPEC), let a model add words (no --no-force), or judge them as "
            "they are (--align none)"
        )
    elif _nothing(report):
        yield "nothing could be judged: no question has a result (the report has the causes)"
    for name, totals in (("", whole), *((f"{name}: ", _totals(pairs)) for name, pairs in report.contrast.items())):
        if totals.failed:
            yield f"{name}{totals.failed:,} of {totals.asked:,} questions failed (the report has the causes); the same command goes on"
        elif totals.lost:
            yield (
                f"{name}{totals.lost:,} of {totals.lost + totals.results:,} trials of questions were lost, because calls failed; the same "
                "command goes on"
            )
