"""A run of `kgeval contamination`: reading the files, the dry run, scoring, the probe, the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.cli.choose import layout_from_options
from kgeval.cli.common import listed, open_from_options, say
from kgeval.cli.models import open_models_from_options, show_plan
from kgeval.cli.questions_stats import STDIN
from kgeval.cli.score_options import maps_of
from kgeval.cli.show import show_report
from kgeval.metrics.contamination.documents import Knowledge
from kgeval.metrics.engine import Tools
from kgeval.reports.display import percent

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.files.rows import Rows
    from kgeval.graph.connect import Graph
    from kgeval.llm.session import Models
    from kgeval.manifest import Started
    from kgeval.metrics.contamination.asked import Asked
    from kgeval.metrics.contamination.probe import Probed, Probers
    from kgeval.metrics.select import Selection
    from kgeval.records import ContaminationReport, Layout, ProbeResult, RunManifest, Score

INCOMPLETE = 3


@dataclass
class Job:
    """One run: what was asked for, and what it is done with. `given`: metrics whose scores come from files; `bare`: systems whose answers
    tell no contexts; `selection` null: nothing is scored here."""

    options: Mapping[str, Any]
    started: Started
    asked: Asked
    notes: list[str]
    knowledge: Knowledge
    max_error_rate: float
    rows: Rows | None = None
    systems: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    decides: str = ""
    system: str = ""
    selection: Selection | None = None
    tools: Tools = field(default_factory=Tools)
    reader: Models | None = None
    judge: Models | None = None
    graph: Graph | None = None
    layout: Layout | None = None

    def closed_book(self) -> None:
        """Finds the closed book among the systems. Raises: UsageError."""
        from kgeval.metrics.contamination.asked import closed_book_of

        self.system = closed_book_of(self.systems, self.options["closed_book"], self.bare)

    def select(self, config: Config, stack: ExitStack) -> None:
        """What is scored here: nothing that the scores of a file have. Opens the judge where it is needed. Raises: UsageError."""
        from kgeval.metrics.contamination.measures import BY_WORDS, JUDGED
        from kgeval.metrics.select import Selection, select

        own = {metric.name: metric for metric in BY_WORDS}
        wanted = [self.decides] if self.decides not in self.given else []
        chosen = [own[name] if name in own else select([name]).metrics[0] for name in wanted]
        if self.decides != JUDGED:
            chosen += [metric for name, metric in own.items() if name not in (self.decides, "contains")]
        if self.rows is None or not chosen:
            return
        self.selection = Selection(tuple(chosen), {})
        strange = sorted(self.selection.tools - {"judge"})
        if strange:
            from kgeval.errors import UsageError

            fix = "score it with kgeval score, and give --scores FILE --metric NAME"
            raise UsageError(f"--metric {self.decides} needs more than a judge: {', '.join(strange)}", fix=fix)
        if "judge" in self.selection.tools:
            self.judge = stack.enter_context(open_models_from_options(config, "judge", self.options))
        self.tools = _signed(Tools(self.judge), self.selection)

    @property
    def sessions(self) -> list[Models]:
        """The open sessions, each once."""
        return list({id(one): one for one in (self.judge, self.reader) if one is not None}.values())


def _signed(tools: Tools, selection: Selection) -> Tools:
    from kgeval.metrics.definition import Settings
    from kgeval.metrics.signature import metric_info, tooling

    what = tooling(tools)
    return replace(tools, signatures={one.name: metric_info(one, Settings(), what).signature for one in selection.metrics})


def knowledge_of(options: Mapping[str, Any], asked: Asked) -> Knowledge:
    """What is told of documents. Raises: UsageError, InputError."""
    from kgeval.metrics.contamination.documents import dated_knowledge, named_knowledge

    if options["known"]:
        return named_knowledge(listed(options["known"]), {name for own in asked.documents for name in own})
    return dated_knowledge(options["dated"], options["cutoff"]) if options["dated"] else Knowledge()


def open_answers(stack: ExitStack, job: Job) -> None:
    """Opens the answers, and looks through the scores once: which systems and metrics they have. All faults come before anything is
    paid. Raises: InputError, UsageError."""
    from kgeval.files.rows import Filters, RowsWanted, open_rows
    from kgeval.files.scores import read_scores

    options = job.options
    systems: dict[str, None] = {}
    if options["answers"]:
        job.rows = stack.enter_context(open_rows(RowsWanted(
            tuple(options["answers"]), questions=options["questions"], maps=maps_of(options["maps"]),
            filters=Filters(first=options["first"]), allow_missing=options["allow_missing"], allow_duplicates=options["allow_duplicates"],
            max_bad_rows=options["max_bad_rows"],
        )))
        for note in job.rows.notes:
            if note not in job.notes:  # the questions are read once by themselves, once with the answers
                say(note)
        systems |= dict.fromkeys(info.system for info in job.rows.systems)
        telling = {row.answer.system for row in job.rows if row.answer.contexts}
        job.bare = set(systems) - telling
    for path in options["scores"]:
        for score in read_scores(path):
            systems.setdefault(score.system)
            job.given.add(score.metric)
    job.systems = list(systems)


def open_probe(stack: ExitStack, config: Config, job: Job) -> None:
    """The graph and the two models of the probe."""
    options = job.options
    if job.judge is None:
        job.judge = stack.enter_context(open_models_from_options(config, "judge", options))
    named = options["reader"] or config.model.reader.name
    if named and named != job.judge.endpoint.model:
        job.reader = stack.enter_context(open_models_from_options(config, "reader", {**options, "model": options["reader"]}))
    else:
        job.reader = job.judge
    job.graph = stack.enter_context(open_from_options(config, **{key: options[key] for key in ("uri", "username", "database", "home")}))
    job.layout = layout_from_options(job.graph, config, **{key: options[key] for key in ("graph_name", "layout_option", "overrides")})


def plan(job: Job) -> int:
    """The dry run: the calls that are not in the journal yet, counted by the same code that makes them."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan
    from kgeval.metrics.contamination.probe import Probers, probe
    from kgeval.metrics.definition import Settings, Subject
    from kgeval.metrics.engine import row_facts
    from kgeval.metrics.facts import Facts

    if job.judge is None:
        show_plan(Plan((), Limits()))
        return 0
    dry = {id(models): Dry(models) for models in job.sessions}
    judge = dry[id(job.judge)]
    if job.selection is not None and job.tools.models is not None:
        for row in job.rows or ():
            row_facts(Subject(row, Facts(), Settings()), selection=job.selection, tools=job.tools, asker=judge)
    if job.options["probe"]:
        for document in _documents(job):
            probe(document, Probers(dry[id(job.reader)], judge))
    show_plan(Plan(tuple(stage for one in dry.values() for stage in one.stages()), job.judge.limits))
    return 0


def finish(job: Job) -> int:
    """Scores what is not scored, makes the report, writes and shows it."""
    from kgeval.files.plain import write_text

    try:
        report = _report(job)
    except KeyboardInterrupt:
        if job.sessions:
            say("replies that came are in the journal: the same command goes on; nothing was written")
        raise
    if job.options["marked"]:
        write_text(job.options["marked"], "".join(f"{name}\n" for name in report.marked), mode=0o600)
        say(f"wrote {job.options['marked']}")
    show_report(report, job.options, job.options["outputs"])
    if report.run.exit_code:
        say(f"incomplete: {percent(_failed(report))} of what was to be judged failed (the report has the causes); the same command goes on")
    return report.run.exit_code


def _report(job: Job) -> ContaminationReport:
    from kgeval.metrics.contamination.asked import gathered
    from kgeval.metrics.contamination.figures import Case, report_of

    options = job.options
    found = gathered(job.asked, _scores(job), job.decides, job.systems)
    case = Case(job.asked, found, job.system, job.decides, options["right_from"], job.knowledge, options["seed"])
    report = report_of(case, _manifest(job))
    probed = list(_probe(job)) if options["probe"] else []
    stopped = any(models.exit_code for models in job.sessions)
    more = [*job.notes, *(note for models in job.sessions for note in models.notes), *report.notes]
    report = report.model_copy(update={"probe": probed, "complete": not stopped, "notes": list(dict.fromkeys(more))})
    code = INCOMPLETE if stopped or _failed(report) > job.max_error_rate else 0
    return report.model_copy(update={"run": _manifest(job, code)})


def _scores(job: Job) -> Iterator[Score]:
    """The scores of the files, and those that are made here: file scores of a metric that is made here are left out."""
    from kgeval.files.scores import read_scores
    from kgeval.metrics.definition import Settings
    from kgeval.metrics.engine import score

    own = {metric.name for metric in job.selection.metrics} if job.selection is not None else set()
    for path in job.options["scores"]:
        yield from (one for one in read_scores(path) if one.metric not in own)
    if job.selection is not None and job.rows is not None:
        for result in score(job.rows, job.selection, job.tools, Settings(), total=len(job.rows)):
            yield from result.scores


def _documents(job: Job) -> Iterator[Probed]:
    from kgeval.metrics.contamination.probe import probed_documents

    if job.graph is not None and job.layout is not None:
        yield from probed_documents(job.graph, job.layout, most=job.options["probe_documents"], timeout=job.options["query_timeout"])


def _probe(job: Job) -> Iterator[ProbeResult]:
    """The documents one after another through the reader's threads, in order."""
    from functools import partial

    from kgeval.llm.asker import Live
    from kgeval.metrics.contamination.probe import Probers, probe

    if job.reader is None or job.judge is None:
        return
    probers: Probers = Probers(Live(job.reader), Live(job.judge))
    for one in job.reader.map(partial(probe, probers=probers), _documents(job)):
        yield one.model_copy(update={"known": job.knowledge.of(one.document) if job.knowledge.told else None})


def _failed(report: ContaminationReport) -> float:
    """What failed, among all that was to be judged: scores of the metric that decides, false answers, documents."""
    means = [report.accuracy, *(one.mean for one in report.false_answers)]
    means += [one.overall for one in report.scores if one.metric == report.metric]
    failed = sum(sum(mean.failures.values()) for mean in means) + sum(one.status == "unscored" for one in report.probe)
    return failed / max(1, sum(mean.n - mean.not_applicable for mean in means) + len(report.probe))


def _manifest(job: Job, code: int = 0) -> RunManifest:
    from kgeval.manifest import Asked as Use

    options, use = job.options, [models.asked() for models in job.sessions]
    named = [options["questions"], *options["answers"], *options["scores"], *([options["dated"]] if options["dated"] else [])]
    hashes = {name: value for one in use for name, value in one.prompt_hashes.items()}
    asked = Use([ref for one in use for ref in one.models], [part for one in use for part in one.use], hashes) if use else None
    return job.started.manifest(
        server=job.graph.info if job.graph else None, inputs=[path for path in named if path != STDIN and Path(path).is_file()],
        seed=options["seed"], exit_code=code, asked=asked,
    )
