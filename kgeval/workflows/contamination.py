"""Contamination: what a model knows without any text, and what that does to the scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import ContaminationOptions
from kgeval.errors import KgevalError, UsageError, together, tried
from kgeval.format import percent
from kgeval.metrics.contamination.documents import Knowledge
from kgeval.metrics.engine import Tools
from kgeval.workflows.result import Result, exit_code, gate_lines
from kgeval.workflows.rows import STDIN, questions_of
from kgeval.workflows.session import Session, refuse

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.llm.plan import Plan
    from kgeval.llm.session import Models
    from kgeval.metrics.contamination.probe import ProbedDocument
    from kgeval.metrics.contamination.question_table import QuestionTable
    from kgeval.metrics.select import Selection
    from kgeval.records import ContaminationReport, Layout, ProbeResult, RunManifest, Score
    from kgeval.stats.thresholds import Threshold
    from kgeval.tables.rows import Rows

CLOSED_BOOK_ERROR = "answer_error: the closed book gave no answer"


@dataclass(frozen=True)
class ContaminationResult(Result):
    """What the closed book knows. `report`: a ContaminationReport; `messages`: what is incomplete."""

    messages: tuple[str, ...] = ()

    @property
    def marked(self) -> list[str]:
        """The ids of the questions that the closed book answers right."""
        return list(self.report.marked)

    def __str__(self) -> str:
        return super().__str__().replace("--marked ids.txt", "result.marked")

    def to_pandas(self) -> pd.DataFrame:
        """A row a metric of a system: system, metric, and over all questions and without the marked ones the mean with its 95 % interval
        and the number of questions with a value: value, low, high, n, value_without, low_without, high_without, n_without."""
        import pandas as pd

        rows = []
        for score in self.report.scores:
            row: dict[str, Any] = {"system": score.system, "metric": score.metric}
            for mean, end in ((score.overall, ""), (score.without, "_without")):
                row |= {f"value{end}": mean.mean, f"low{end}": mean.low, f"high{end}": mean.high, f"n{end}": mean.n_scored}
            rows.append(row)
        return pd.DataFrame(rows)


@dataclass
class _Measuring:
    """One run: what was read, and what it is done with. `given`: metrics whose scores come from files; `closed_book`: the system that
    answers without texts; `decides`: the metric that says what is right; `selection`: None where nothing is scored here."""

    session: Session
    options: ContaminationOptions
    questions: Path
    asked: QuestionTable
    notes: list[str]
    knowledge: Knowledge
    gates: Sequence[Threshold] = ()
    rows: Rows | None = None
    systems: list[str] = field(default_factory=list)
    closed_book: str = ""
    decides: str = ""
    selection: Selection | None = None
    tools: Tools = field(default_factory=Tools)
    judge: Models | None = None
    reader: Models | None = None
    layout: Layout | None = None

    @property
    def models(self) -> list[Models]:
        """The models that are asked, each once."""
        return list({id(model): model for model in (self.judge, self.reader) if model is not None}.values())

    def documents(self) -> Iterator[ProbedDocument]:
        """The documents of the probe; none without it."""
        from kgeval.metrics.contamination.probe import probed_documents

        if self.layout is not None:
            options = self.options
            yield from probed_documents(
                self.session.graph, self.layout, most=options.probe_documents, timeout=options.timeout,
            )

    def manifest(self, exit_code: int = 0) -> RunManifest:
        """The manifest of this run."""
        from kgeval.manifest import ModelUsage

        use = [models.asked() for models in self.models]
        hashes = {name: value for usage in use for name, value in usage.prompt_hashes.items()}
        all_usage = None
        if use:
            all_usage = ModelUsage([ref for usage in use for ref in usage.models], [part for usage in use for part in usage.use], hashes)
        return self.session.manifest(
            self.options, server=self.session.graph.info if self.layout else None, seed=self.options.seed, exit_code=exit_code,
            asked=all_usage, inputs=[path for path in _read(self.questions, self.options) if path != STDIN and path.is_file()],
        )


def plan(session: Session, questions: Path, options: ContaminationOptions) -> Plan:
    """What the run would ask: the calls that are not in the journal yet, counted by the code that makes them. Raises: as `run`."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan
    from kgeval.metrics.contamination.probe import Probers, probe
    from kgeval.metrics.definition import MetricSettings, Subject
    from kgeval.metrics.engine import row_facts
    from kgeval.metrics.facts import RowFacts

    with ExitStack() as stack:
        run = _opened(stack, session, questions, options)
        if run.judge is None:
            return Plan((), Limits())
        dry = {id(models): Dry(models) for models in run.models}
        judge = dry[id(run.judge)]
        if run.selection is not None and run.tools.models is not None:
            for row in run.rows or ():
                row_facts(Subject(row, RowFacts(), MetricSettings()), selection=run.selection, tools=run.tools, asker=judge)
        for document in run.documents():
            probe(document, Probers(dry[id(run.reader)], judge))
        return Plan(tuple(stage for dry_asker in dry.values() for stage in dry_asker.stages()), run.judge.limits)


def run(session: Session, questions: Path, options: ContaminationOptions) -> ContaminationResult:
    """What the closed book answers of the questions, every score without what it knows, and the probe where it is asked for. Writes the ids
    of `marked`.

    All faults of options and files come before anything is paid.
    Raises: UsageError, InputError, ConnectError, LayoutError, ModelError.
    """
    from kgeval.tables.output import write_text

    with ExitStack() as stack:
        measuring = _opened(stack, session, questions, options)
        try:
            report = _report(measuring)
        except KeyboardInterrupt:
            if measuring.models:
                session.say("replies that came are in the journal: the same command goes on; nothing was written")
            raise
    faults: list[KgevalError] = []
    if marked := options.marked:
        tried(lambda: write_text(marked, "".join(f"{name}\n" for name in report.marked)), faults)
        if not faults:
            session.say(f"wrote {marked}")
    messages = gate_lines(report.gates)
    if not report.complete or _failed(report) > session.limits.max_error_rate:
        share = percent(_failed(report))
        messages = [f"incomplete: {share} of what was to be judged failed (the report has the causes); the same command goes on", *messages]
    fault = together(faults) if faults else None
    return ContaminationResult(report, fault, session.redact, messages=tuple(messages))


def names(_: Session, options: ContaminationOptions) -> Iterator[Callable[[], object]]:
    """Checks of names in the options, before anything is read. Each raises: UsageError with its faults."""
    from kgeval.metrics.contamination.gates import parse_gates

    yield lambda: parse_gates(options.thresholds)


def _read(questions: Path, options: ContaminationOptions) -> list[Path]:
    """The files that are read."""
    return [questions, *options.answers, *options.scores, *([options.documents] if options.documents else [])]


def _check(session: Session, questions: Path, options: ContaminationOptions) -> None:
    """Everything that can be checked before a file is read. Raises: UsageError."""
    from kgeval.records import ContaminationReport
    from kgeval.reports.write import check_outputs, check_replaced

    faults = []
    if not options.answers and not options.scores:
        faults.append(("neither answers nor scores are given", "give --answers closed-book.jsonl (kgeval answer makes one)"))
    if questions == STDIN and options.answers:
        faults.append(("questions from standard input are read twice with --answers", "put them into a file"))
    if bool(options.documents) != bool(options.model_cutoff):
        faults.append(("--documents and --model-cutoff belong together", "give both, or name the known documents with --known"))
    if options.documents and options.known:
        faults.append(("--known and --documents exclude each other", "give one of them"))
    if options.probe and not session.names_model("judge"):
        faults.append(("--probe needs a judge, and no model is named", "give --model NAME, or set [model.judge] in kgeval.toml"))
    if options.reader and not options.probe:
        faults.append(("--reader is for --probe, which is not given", "leave it out, or add --probe"))
    refuse(faults)
    check_outputs(session.outputs, ContaminationReport)
    marked = options.marked
    if marked is not None and (marked.is_dir() or not os.access(marked.resolve().parent, os.W_OK | os.X_OK)):
        raise UsageError(f"--marked {marked}: no file can be written there", fix="name a file in a folder that exists and is yours")
    check_replaced([*session.outputs, *filter(None, [marked])], _read(questions, options))


def _opened(stack: ExitStack, session: Session, questions: Path, options: ContaminationOptions) -> _Measuring:
    """Reads and checks all files, then opens the models and the graph."""
    from kgeval.metrics.contamination.gates import parse_gates, unknown_systems
    from kgeval.metrics.contamination.question_table import closed_book_of, deciding_metric, read_asked

    gates = parse_gates(options.thresholds)
    _check(session, questions, options)
    read = stack.enter_context(questions_of(session, questions, options))
    question_table = read_asked(read)
    measuring = _Measuring(session, options, questions, question_table, list(read.notes), _knowledge(options, question_table), gates)
    file_metrics, without_contexts = _open_answers(stack, measuring)
    if unknown := unknown_systems(gates, measuring.systems):
        raise UsageError(f"--threshold: no system is called {', '.join(unknown)}", fix=f"the systems are {', '.join(measuring.systems)}")
    judged = session.names_model("judge") and bool(measuring.rows)
    measuring.decides = deciding_metric(options.metric, judge=judged, given=file_metrics)
    measuring.closed_book = closed_book_of(measuring.systems, options.closed_book, without_contexts)
    _select(measuring, file_metrics)
    if options.probe:
        measuring.judge = measuring.judge or session.models("judge", options)
        name = options.reader or session.config.model.reader.name
        same = not name or name == measuring.judge.endpoint.model
        measuring.reader = measuring.judge if same else session.models("reader", options, name=name)
        measuring.layout = session.bound_layout()
    return measuring


def _knowledge(options: ContaminationOptions, asked: QuestionTable) -> Knowledge:
    """What is known of documents. Raises: UsageError, InputError."""
    from kgeval.metrics.contamination.documents import dated_knowledge, named_knowledge

    if options.known:
        return named_knowledge(options.known, {name for own in asked.documents for name in own})
    return dated_knowledge(options.documents, options.model_cutoff) if options.documents and options.model_cutoff else Knowledge()


def _open_answers(stack: ExitStack, measuring: _Measuring) -> tuple[set[str], set[str]]:
    """Opens the answers, and looks through the scores once: the metrics that they have, and the systems whose answers tell no contexts.

    Raises: InputError, UsageError.
    """
    from kgeval.tables.rows import Filters, RowSelection, open_rows
    from kgeval.tables.scores import read_scores

    options, file_metrics, without_contexts = measuring.options, set[str](), set[str]()
    systems: dict[str, None] = {}
    if options.answers:
        measuring.rows = stack.enter_context(open_rows(RowSelection(
            options.answers, questions=measuring.questions, maps=options.map, filters=Filters(limit=options.limit),
            allow_missing=options.allow_missing, allow_duplicates=options.allow_duplicates, max_bad_rows=options.max_bad_rows,
        )))
        for note in measuring.rows.notes:
            if note not in measuring.notes:  # the questions are read once by themselves, once with the answers
                measuring.session.say(note)
        systems |= dict.fromkeys(info.system for info in measuring.rows.systems)
        without_contexts = set(systems) - {row.answer.system for row in measuring.rows if row.answer.contexts}
    for path in options.scores:
        for score in read_scores(path):
            systems.setdefault(score.system)
            file_metrics.add(score.metric)
    measuring.systems = list(systems)
    return file_metrics, without_contexts


def _select(measuring: _Measuring, given: set[str]) -> None:
    """What is scored here: nothing that the scores of a file have. Opens the judge where it is needed. Raises: UsageError."""
    from kgeval.metrics.contamination.measures import BY_WORDS, JUDGED
    from kgeval.metrics.definition import MetricSettings
    from kgeval.metrics.select import Selection, select
    from kgeval.metrics.signature import metric_info, tooling

    own, decides = {metric.name: metric for metric in BY_WORDS}, measuring.decides
    chosen = [] if decides in given else [own[decides] if decides in own else select([decides]).metrics[0]]
    if decides != JUDGED:
        chosen += [metric for name, metric in own.items() if name not in (decides, "contains")]
    if measuring.rows is None or not chosen:
        return
    selection = measuring.selection = Selection(tuple(chosen), {})
    if strange := sorted(selection.tools - {"judge"}):
        fix = "score it with kgeval score, and give --scores FILE --metric NAME"
        raise UsageError(f"--metric {decides} needs more than a judge: {', '.join(strange)}", fix=fix)
    if "judge" in selection.tools:
        measuring.judge = measuring.session.models("judge", measuring.options)
    tools = Tools(measuring.judge)
    what = tooling(tools)
    measuring.tools = replace(
        tools, signatures={metric.name: metric_info(metric, MetricSettings(), what).signature for metric in selection.metrics},
    )


def _report(measuring: _Measuring) -> ContaminationReport:
    from kgeval.metrics.contamination.figures import ContaminationInputs, report_of
    from kgeval.metrics.contamination.gates import evaluated
    from kgeval.metrics.contamination.question_table import gather_scores

    options, question_table = measuring.options, measuring.asked
    scores = gather_scores(question_table, _scores(measuring), measuring.decides, measuring.systems)
    case = ContaminationInputs(
        question_table, scores, measuring.closed_book, measuring.decides, options.right_from, measuring.knowledge, options.seed,
    )
    report = report_of(case, measuring.manifest())
    probed = list(_probe(measuring))
    stopped = any(models.exit_code for models in measuring.models)
    notes = [*measuring.notes, *(note for models in measuring.models for note in models.notes), *report.notes]
    report = report.model_copy(update={"probe": probed, "complete": not stopped, "notes": list(dict.fromkeys(notes))})
    gates = evaluated(measuring.gates, report)
    code = exit_code(gates, incomplete=stopped or _failed(report) > measuring.session.limits.max_error_rate)
    return report.model_copy(update={"gates": gates, "run": measuring.manifest(code)})


def _scores(measuring: _Measuring) -> Iterator[Score]:
    """The scores of the files, and those that are made here: file scores of a metric that is made here are left out.

    An answer of the closed book that is an error has no score: as that of a retriever it is worth 0, but of a model that was not heard
    nobody knows what it knows.
    """
    rows = measuring.rows
    errors = {
        (row.question.id, row.answer.trial) for row in rows or ()
        if row.answer.system == measuring.closed_book and row.answer.error is not None
    }
    for score in _all_scores(measuring):
        if score.system == measuring.closed_book and (score.question_id, score.trial) in errors and score.status == "scored":
            lost: dict[str, object] = {"value": None, "status": "unscored", "reason": CLOSED_BOOK_ERROR, "detail": {}}
            yield score.model_copy(update=lost)
        else:
            yield score


def _all_scores(measuring: _Measuring) -> Iterator[Score]:
    from kgeval.metrics.definition import MetricSettings
    from kgeval.metrics.engine import score
    from kgeval.tables.scores import read_scores

    selection, rows = measuring.selection, measuring.rows
    own = {metric.name for metric in selection.metrics} if selection is not None else set()
    for path in measuring.options.scores:
        yield from (file_score for file_score in read_scores(path) if file_score.metric not in own)
    if selection is not None and rows is not None:
        for result in score(rows, selection, measuring.tools, MetricSettings(), total=len(rows)):
            yield from result.scores


def _probe(measuring: _Measuring) -> Iterator[ProbeResult]:
    """The documents one after another through the reader's threads, in order."""
    from kgeval.llm.asker import Live
    from kgeval.metrics.contamination.probe import Probers, probe

    knowledge = measuring.knowledge
    if measuring.reader is None or measuring.judge is None:
        return
    probers: Probers = Probers(Live(measuring.reader), Live(measuring.judge))
    for result in measuring.reader.map(partial(probe, probers=probers), measuring.documents()):
        yield result.model_copy(update={"known": knowledge.of(result.document) if knowledge.told else None})


def _failed(report: ContaminationReport) -> float:
    """What failed, among all that was to be judged: scores of the metric that decides, false answers, documents."""
    means = [report.accuracy, *(of_system.mean for of_system in report.false_answers)]
    means += [score.overall for score in report.scores if score.metric == report.metric]
    failed = sum(sum(mean.failures.values()) for mean in means) + sum(result.status == "unscored" for result in report.probe)
    return failed / max(1, sum(mean.n - mean.not_applicable for mean in means) + len(report.probe))
