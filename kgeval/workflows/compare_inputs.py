"""What a comparison needs before anything is paid: its settings, answers, systems that answer anew, pairs, and the judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kgeval.config import CompareOptions
from kgeval.errors import UsageError
from kgeval.workflows.answer_systems import ChosenSystem, Toolbox, chosen_systems
from kgeval.workflows.rows import filters_of
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.comparison.align.rule import AlignmentRule
    from kgeval.comparison.answering import AlignedAnswers
    from kgeval.comparison.judge.procedures import JudgeProcedure
    from kgeval.comparison.pairs import ComparedPairs, PairSelection
    from kgeval.comparison.results.inputs import Figure, PairThreshold
    from kgeval.comparison.sources import AnswerSource, SecondRun
    from kgeval.comparison.verdict_store import Pairing, ProcedureRun
    from kgeval.llm.asker import Asker
    from kgeval.llm.session import Models
    from kgeval.records import Procedure, Question, TrialKind
    from kgeval.stats.thresholds import Threshold
    from kgeval.systems.system import System
    from kgeval.tables.question_rows import Questions
    from kgeval.tables.rows import Rows, RowSelection

TRIALS, REPEATS = 25, 2  # M and N of [Z 4]
Show = Literal["reference", "evidence", "both", "none"]
FIGURES: tuple[Figure, ...] = ("relative", "low", "high", "win", "tie", "loss", "gap")


@dataclass(frozen=True)
class CompareSettings:
    """How a comparison is made. `kind` None: as the systems allow. `notes`: what was decided once questions, systems and judge were known
    (`settled`), for dry run and report."""

    procedures: tuple[ProcedureRun, ...]
    rule: AlignmentRule
    kind: TrialKind | None
    tie_region: float
    show: Show = "none"
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> ProcedureRun:
        """The procedure of the comparison itself; the others stand beside it."""
        return self.procedures[0]


@dataclass(frozen=True)
class KnownCounts:
    """Questions of a run, those with a right answer (or points that it makes), and those with the texts that it stands in."""

    questions: int
    reference: int
    evidence: int


@dataclass
class OpenComparison:
    """What a run works with, open. `aligned`, `free`: the answers as the run aligns them, and as they are; one object where it does not
    align. `self_check`: name of a second run -> its system. `judge`: who is asked; in a dry run who counts. `padding`: the model that adds
    words, where one was named for it; `writer`: who is asked for them; `pads_itself`: it is of the judge's family."""

    models: Models
    judge: Asker
    tools: Toolbox
    paired: ComparedPairs
    aligned: AlignedAnswers
    free: AlignedAnswers
    self_check: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    padding: Models | None = None
    writer: Asker | None = None
    pads_itself: bool = True

    def known_counts(self) -> KnownCounts:
        """Of how many questions something of the right answer is known. Over all of them, so that the parts of a run (--shard) agree."""
        seen: dict[str, tuple[bool, bool]] = {}
        for a, b in self.paired.pairs:
            for question in replace(self.paired, shard=None).questions(a, b):
                if question.id not in seen:
                    seen[question.id] = bool(question.right_answers or question.points), bool(question.evidence_texts)
        return KnownCounts(len(seen), sum(answer for answer, _ in seen.values()), sum(evidence for _, evidence in seen.values()))

    def pairings(self, show: Show, cluster: str | None = None) -> list[Pairing]:
        """The pairs with their questions: of each question what a judge and a system are shown, once for all pairs; `document` is what it
        was drawn with (`Question.drawn_with(cluster)`)."""
        from kgeval.comparison.verdict_store import Pairing

        seen: dict[str, Question] = {}
        return [
            Pairing(a, b, tuple(seen.setdefault(question.id, _slim(question, show, cluster)) for question in self.paired.questions(a, b)))
            for a, b in self.paired.pairs
        ]


def settings_of(options: CompareOptions) -> CompareSettings:
    """The settings in force. Raises: UsageError, InputError (grades)."""
    from kgeval.comparison.align.rule import alignment
    from kgeval.comparison.stopping import TIE_REGION
    from kgeval.comparison.stopping import TRIALS as SURE_TRIALS

    judging = _judge_procedures(options.procedure or "scores", options, options.aspects)
    align = options.align or ("pair" if judging[0].aligned else "none")
    rule = alignment(
        kind=align, attempts=_or(options.attempts, 5), tolerance=_or(options.tolerance, 10), force=not options.no_force,
    )
    trials = options.trials or (SURE_TRIALS if options.stop_when_sure else TRIALS)
    # a pair that is stopped when sure is looked at question by question: the judge's noise is not known yet
    banded = not (options.no_tie_band or options.stop_when_sure)
    procedures = tuple(
        replace(run, banded=banded) for run in _procedure_runs(judging, trials, options.repeats or REPEATS, aligned=align != "none")
    )
    return CompareSettings(procedures, rule, options.trial_kind, _or(options.tie_region, TIE_REGION))


def settled(settings: CompareSettings, options: CompareOptions, inputs: OpenComparison) -> CompareSettings:
    """The settings once questions, systems and judge are known: what the judge is shown, by which aspects, and how many trials differ.

    A judge at temperature 0 gives the same reply to the same request. So nothing is repeated, and there are as many trials as have other
    answers (systems that answer anew, files with several answers) or another wording. Raises: UsageError.
    """
    from kgeval.comparison.judge.grades import KNOWN

    show, shown_note = _shown(options.show, inputs.known_counts())
    names = options.aspects
    if not names and not options.grades and show != "none":
        names = (*KNOWN, "zeng")
    judging = _judge_procedures(settings.main.procedure.name, options, names, informed=show != "none")
    wordings = options.wordings or 1
    if wordings > judging[0].wordings:
        what = f"--wordings {wordings}: the aspects have {judging[0].wordings}"
        raise UsageError(what, fix="give fewer, or add wordings to the --grades file")
    sampled = inputs.models.endpoint.parameters.get("temperature") != 0
    main = settings.main
    trials, repeats, notes = main.trials, main.repeats, [shown_note, *_temperatures(inputs)]
    if not sampled:
        differ = main.trials
        if inputs.aligned.trial_kind == "rejudge":
            differ = min(main.trials, wordings * lcm(*(source.most() for source in inputs.aligned.sources.values())))
        if (differ, 1) != (main.trials, main.repeats):
            reductions = {"trials": (differ, main.trials), "repeats": (1, main.repeats)}
            cut = ", ".join(f"{name} {now} (of {before})" for name, (now, before) in reductions.items() if now != before)
            notes.append(
                f"the judge has temperature 0, where the same request gets the same reply: {cut}; what would make more of them differ: "
                f"--temperature above 0, --wordings (up to {judging[0].wordings}), systems that answer anew"
            )
        elif main.trials > 1:
            notes.append("temperature of the judge: 0")
        trials, repeats = differ, 1
    procedures = tuple(
        replace(run, procedure=procedure) if procedure.name == "biased"
        else replace(
            run, procedure=procedure, trials=trials, repeats=repeats, wordings=min(wordings, procedure.wordings), sampled=sampled,
        )
        for run, procedure in zip(settings.procedures, judging, strict=True)
    )
    return replace(settings, procedures=procedures, show=show, notes=tuple(notes))


def _temperatures(inputs: OpenComparison) -> Iterator[str]:
    """At which temperatures answers and verdicts are drawn: what trials and repeats can show depends on it."""
    from kgeval.systems.builtin.system import BuiltinSystem

    of_judge, reader = inputs.models.endpoint.parameters, inputs.tools.models
    settings = {
        source.name: source.system.settings.trial_temperature for source in inputs.aligned.live
        if source.sampled and isinstance(source.system, BuiltinSystem)
    }
    if reader is not None and settings:
        set_by_user = reader.endpoint.parameters.get("temperature", "its own")
        named = ", ".join(f"{name} at {setting if set_by_user == 0 else set_by_user}" for name, setting in settings.items())
        yield f"temperature of answers that are asked for several times: {named} (setting trial_temperature)"
    if inputs.aligned.settings.trials > 1:
        if of_judge.get("temperature") != 0:  # of a judge at 0 it is said what that leaves out
            yield f"temperature of the judge: {of_judge.get('temperature', 'its own')}"
        able = [name for name, source in inputs.aligned.sources.items() if source.live or getattr(source, "hook", None) is not None]
        if able and inputs.aligned.trial_kind == "rejudge":
            yield (
                f"the answers stay in all trials, so that these show the judge's randomness alone; {', '.join(able)} can answer anew: "
                "kgeval answer --trials, then compare with --trial-kind regenerate (trial_kind in [compare] of kgeval.toml)"
            )


def _or(value: Any, default: Any) -> Any:
    """The value, 0 included; the default where there is none."""
    return default if value is None else value


def _shown(given: Show | None, counts: KnownCounts) -> tuple[Show, str]:
    """What the judge is shown of the right answer, and what is said of it. Raises: UsageError for what no question has."""
    has: dict[str, int] = {"reference": counts.reference, "evidence": counts.evidence}
    if given is None:
        there = [name for name, count in has.items() if count]
        show: Show = "both" if len(there) == 2 else "none" if not there else there[0]  # type: ignore[assignment]
    else:
        show = given
    shown_fields = [name for name in has if show in (name, "both")]
    if lacking := [name for name in shown_fields if not has[name]]:
        raise UsageError(
            f"--show {show}: no question has {' or '.join(lacking)}", fix="give --questions with these fields, or another --show",
        )
    if not shown_fields:
        return show, "the judge is shown nothing of the right answers: it judges by what it knows and by how answers read"
    of_each = ", ".join(f"{name} ({has[name]:,} of {counts.questions:,} questions)" for name in shown_fields)
    return show, f"the judge is shown of the right answers: {of_each}"


def _judge_procedures(main: Procedure, options: CompareOptions, names: Sequence[str], *, informed: bool = False) -> list[JudgeProcedure]:
    """The procedure of the run, then those compared with it."""
    from kgeval.comparison.judge.grades import chosen_aspects, read_grades
    from kgeval.comparison.judge.procedures import judge_procedure

    aspects = chosen_aspects(names, read_grades(options.grades) if options.grades else None)
    biased: tuple[Procedure, ...] = ("biased",) if options.baseline_biased else ()
    return [judge_procedure(name, aspects, informed=informed) for name in dict.fromkeys((main, *options.contrast, *biased))]


def _procedure_runs(judging: Sequence[JudgeProcedure], trials: int, repeats: int, *, aligned: bool) -> tuple[ProcedureRun, ...]:
    """The biased baseline has one trial and one call; it and `differential` see free answers, unless that is the run's own procedure."""
    from kgeval.comparison.verdict_store import ProcedureRun

    return tuple(
        ProcedureRun(procedure, 1, 1, aligned=False) if procedure.name == "biased"
        else ProcedureRun(procedure, trials, repeats, aligned=aligned and (procedure.aligned or number == 0))
        for number, procedure in enumerate(judging)
    )


def thresholds_of(texts: Sequence[str], systems: Sequence[str], aspects: Sequence[str]) -> tuple[PairThreshold, ...]:
    """The thresholds of a run. `systems`, `aspects`: those that it has. Raises: UsageError with every fault of all of them."""
    from kgeval.comparison.results.inputs import PairThreshold
    from kgeval.stats.thresholds import parse_thresholds

    read = parse_thresholds(
        texts, lambda one: _threshold_faults(one, systems, aspects), span=(-1000, 1000),
        fix=f"write [A[:B]:]FIGURE[@ASPECT]>=X, e.g. new:low>=-0.05; FIGURE is one of {', '.join(FIGURES)}",
    )
    return tuple(
        PairThreshold(one.resolved("lower" if one.name == "loss" else "higher"), *_pair_of(one.of, systems)[:2]) for one in read
    )


def _threshold_faults(one: Threshold, systems: Sequence[str], aspects: Sequence[str]) -> list[str]:
    if one.name not in FIGURES:
        return [f"there is no figure {one.name[:60]}"]
    faults = []
    if one.sign == "=" and one.name == "tie":
        faults.append("of ties neither more nor fewer are better: write >= or <=")
    if one.at not in (None, "overall", *aspects):
        faults.append(f"there is no aspect {(one.at or '')[:60]}")
    fault = _pair_of(one.of, systems)[2]
    return [*faults, fault] if fault else faults


def _pair_of(text: str | None, systems: Sequence[str]) -> tuple[str | None, str | None, str]:
    """(A, B, fault); None stands for any. Names may have colons of their own."""
    if not text:
        return None, None, ""
    if text in systems:
        return text, None, ""
    for place in (place for place, sign in enumerate(text) if sign == ":"):
        if text[:place] in systems and text[place + 1:] in systems:
            return text[:place], text[place + 1:], ""
    return None, None, f"no system is called {text[:100]}"


def systems_chosen(session: Session, options: CompareOptions) -> list[ChosenSystem]:
    """The systems that answer anew, with their settings. Raises: UsageError."""
    return chosen_systems(session.config, options) if options.systems else []


def open_inputs(
    session: Session, answers: Sequence[Path], options: CompareOptions, settings: CompareSettings, *, names: Mapping[Path, str],
    chosen: Sequence[ChosenSystem], stack: ExitStack,
) -> OpenComparison:
    """Opens everything; `stack` closes it. `names`: of files that are one system's, its name. `chosen`: systems that answer anew.

    Raises: UsageError, InputError and what opening systems raises.
    """
    from kgeval.comparison.align.force import Forcer
    from kgeval.comparison.answering import AlignedAnswers, AnsweringSettings
    from kgeval.comparison.pairs import pair_up
    from kgeval.comparison.sources import SECOND, LiveSource, filed, second_run
    from kgeval.llm.answer_store import AnswerStore
    from kgeval.llm.asker import Dry, Live
    from kgeval.llm.places import journal_file
    from kgeval.tables.row_selection import RowSelection
    from kgeval.tables.shards import parse_shard

    if not answers and not chosen:
        raise UsageError(
            "there is nothing to compare", fix="give files of answers, or systems to ask with --system; kgeval compare --help shows how",
        )
    selection = RowSelection(
        tuple(answers), questions=options.questions, maps=options.map,
        filters=replace(filters_of(options), systems=options.filter_systems), allow_missing=options.allow_missing,
        allow_duplicates=options.allow_duplicates, max_bad_rows=options.max_bad_rows, names=names,
    )
    rows = _rows(selection, stack)
    parameters: dict[str, Any] = {} if options.temperature is None else {"temperature": options.temperature}
    models = session.models("judge", options, **parameters)
    judge: Asker = Dry(models) if session.dry else Live(models)
    # --model is the judge, the reader of built-in systems is another; both share the budget
    reading = stack.enter_context(session.task(
        session.command, dry=session.dry, asking=session.asking.model_copy(update={"model": options.reader}),
    ))
    reading.shared = session.shared
    tools = Toolbox(reading, options, stack, flag="--reader")
    systems = _open_systems(tools, chosen, selection, rows, stack)
    files = [info.system for info in getattr(rows, "systems", ())]
    hooks = {name: system for name, system in systems.items() if name in files}
    asked_names = [name for name in systems if name not in files]
    checks = _checks(options.self_checks, [*files, *asked_names])
    again = [(name, f"{name}{SECOND}") for name, other in checks if other is None]
    wanted_pairs = _pairs_wanted(options, [*files, *asked_names], [(name, other) for name, other in checks if other is not None])
    paired = replace(
        pair_up(rows, wanted_pairs, asked=asked_names, second_runs=again), shard=parse_shard(options.shard) if options.shard else None,
    )
    sources: dict[str, AnswerSource] = {
        **filed(paired.sharing, tuple(name for name in files if name in paired.systems), hooks),
        **{name: LiveSource(systems[name]) for name in asked_names},
    }
    reader, asking = tools.models, session.asking
    writer: Asker = judge if reader is None else tools.dry or Live(reader)  # who writes for built-in systems also adds words
    padding = None
    if options.align_model is not None:
        task = stack.enter_context(session.task(
            session.command, dry=session.dry, asking=session.asking.model_copy(update={"model": options.align_model}),
        ))
        task.shared = session.shared
        padding = task.models("reader", options)
        writer = Dry(padding) if session.dry else Live(padding)
    pads = padding or reader or models
    store = stack.enter_context(AnswerStore(journal_file(asking.journal, asking.cache_dir), fresh=options.fresh_answers))
    runs: list[SecondRun] = [second_run(sources[name]) for name, _ in again]

    def answering(rule: AlignmentRule, kind: TrialKind | None) -> AlignedAnswers:
        how = AnsweringSettings(
            rule=rule, trials=settings.main.trials, kind=kind, seed=options.seed, meaning_sample=options.meaning_sample,
            models=_signature(models, *([reader] if reader else []), *([padding] if padding else [])),
            max_error_rate=models.limits.max_error_rate,
        )
        opened = AlignedAnswers(paired, sources, how, store=store, forcer=Forcer(writer), judge=judge, second_runs=runs)
        return stack.enter_context(opened)

    aligned = answering(settings.rule, settings.kind)
    free = answering(replace(settings.rule, on=False), aligned.trial_kind) if settings.rule.on else aligned
    second_names = {other if other is not None else f"{name}{SECOND}": name for name, other in checks}
    return OpenComparison(
        models, judge, tools, paired, aligned, free, second_names, [*rows.notes], padding, writer,
        _family(pads.endpoint.model) == _family(models.endpoint.model),
    )


def _rows(wanted: RowSelection, stack: ExitStack) -> Rows | Questions:
    """The answers with their questions, or the questions alone where every system is asked."""
    from kgeval.tables.question_rows import open_questions
    from kgeval.tables.rows import open_rows

    answers = wanted.answers
    if len(set(answers)) < len(answers):
        twice = sorted({str(path) for path in answers if answers.count(path) > 1})
        raise UsageError(f"given twice: {', '.join(twice)}", fix="give the answers of two systems; --self-check compares two runs of one")
    if answers:
        return stack.enter_context(open_rows(wanted))
    if wanted.questions is None:
        raise UsageError("the questions are missing", fix="give --questions FILE: the systems are asked them")
    return stack.enter_context(open_questions(wanted))


def _open_systems(
    tools: Toolbox, chosen: Sequence[ChosenSystem], wanted: RowSelection, rows: Rows | Questions, stack: ExitStack,
) -> dict[str, System]:
    """The systems that can be called, by name. Raises: UsageError where two have one name."""
    from kgeval.systems.spec import open_system

    def ids() -> Iterator[str]:
        for row in rows:
            yield getattr(row, "id", None) or row.question.id  # type: ignore[union-attr]

    systems: dict[str, System] = {}
    for choice in chosen:
        system = stack.enter_context(open_system(choice.spec, tools.opening(choice, wanted, ids)))
        if system.name in systems:
            raise UsageError(f"two systems are called {system.name}", fix="name them: --system NAME=SPEC")
        systems[system.name] = system
    return systems


def _checks(given: Sequence[str], systems: Sequence[str]) -> list[tuple[str, str | None]]:
    """(system, system of its second run or None) of each self check. Raises: UsageError."""
    checks: list[tuple[str, str | None]] = []
    for text in given:
        name, _, other = (text, "", "") if text in systems else text.partition("=")
        if unknown := [name_given for name_given in (name, other) if name_given and name_given not in systems]:
            raise UsageError(
                f"--self-check {text}: no system is called {', '.join(unknown)}", fix=f"the systems are {', '.join(systems[:20])}",
            )
        if name == other:
            raise UsageError(f"--self-check {text}: both are the same run", fix="name the system of the second run's file after the =")
        checks.append((name, other or None))
    return checks


def _pairs_wanted(options: CompareOptions, systems: Sequence[str], checks: Sequence[tuple[str, str]]) -> PairSelection:
    """Which pairs: a second run's file stands beside its own system and no other."""
    from kgeval.comparison.pairs import PairSelection

    usual = PairSelection(options.against, options.pairs, options.allow_missing)
    if not checks:
        return usual
    if options.against or options.pairs:
        raise UsageError("--self-check A=B does not go with --against or --pairs", fix="write the check as one of --pairs")
    second = {other for _, other in checks}
    rest = combinations([name for name in systems if name not in second], 2)
    return replace(usual, pairs=tuple(f"{a}:{b}" for a, b in (*rest, *checks)))


def _family(model: str) -> str:
    """What models of one maker have in common: `gpt` of openai/gpt-4o-mini, `qwen` of Qwen2.5-7B."""
    return re.split(r"[^a-z]", model.rpartition("/")[2].lower())[0]


def _signature(*models: Models) -> str:
    """Who judges, and who adds words: what is kept of one says nothing of another."""
    return " ".join(f"{at.model}@{at.name} {sorted(at.parameters.items())}" for at in (model.endpoint for model in models))


def _slim(question: Question, show: Show, cluster: str | None) -> Question:
    from kgeval.records import Question

    slim = Question(
        id=question.id, question=question.question, dataset=question.dataset, level=question.level, document=question.drawn_with(cluster),
    )
    known: dict[str, Any] = {}
    if show in ("reference", "both"):
        known |= {"reference": question.reference, "references": question.references, "points": question.points}
    if show in ("evidence", "both"):
        known["evidence"] = question.evidence
    return slim.model_copy(update=known)
