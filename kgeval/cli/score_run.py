"""A scoring run: opening what it needs, the dry run, the rows, and the report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.cli.choose import layout_from_options
from kgeval.cli.common import open_from_options, say
from kgeval.cli.models import limits_from_options, open_embedder_from_options, open_models_from_options, show_plan
from kgeval.cli.score_told import failed_share, told_lines
from kgeval.cli.show import show_report
from kgeval.errors import ConnectError, UsageError
from kgeval.files.shards import WHOLE, fingerprint_in
from kgeval.metrics.definition import Settings
from kgeval.metrics.engine import Tools
from kgeval.metrics.select import Selection

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.files.rows import Rows, RowsWanted
    from kgeval.files.scores import ScoreFile
    from kgeval.graph.connect import Graph
    from kgeval.llm.asker import Asker, Dry
    from kgeval.manifest import Asked, Started
    from kgeval.metrics.summary.gates import Gate
    from kgeval.records import AuditReport, IndexRecord, MetricInfo, Row, RunManifest, ScoreReport, ServerInfo

T = TypeVar("T")
MISSED, INCOMPLETE = 1, 3


@dataclass(frozen=True)
class Told:
    """What is to be said of the asking, where it was done elsewhere: whether it stopped early, notes, the account, the server."""

    stopped: bool = False
    notes: tuple[str, ...] = ()
    asked: Asked | None = None
    server: ServerInfo | None = None


@dataclass
class Job:
    """One run of `kgeval score`: what was asked for, and, once opened, what it is done with. `told`: null where this run asks."""

    options: Mapping[str, Any]
    started: Started
    wanted: RowsWanted
    selection: Selection
    settings: Settings
    gates: tuple[Gate, ...]
    results: tuple[Path, ...]
    reports: tuple[Path, ...]
    tools: Tools = field(default_factory=Tools)
    infos: list[MetricInfo] = field(default_factory=list)
    audit: AuditReport | None = None
    index: tuple[IndexRecord, ...] = ()
    max_error_rate: float = 0.1
    told: Told | None = None

    def read_beside(self) -> None:
        """Reads the files that are joined at the end; their faults must not cost money."""
        from kgeval.metrics.summary.audit_join import read_audit

        if self.options["audit_report"]:
            self.audit = read_audit(self.options["audit_report"], self.options["graph_name"])
        self.index = tuple(_index_record(path) for path in self.options["index_records"])

    def open_rows(self) -> Rows:
        """The rows, all checked. What was decided about the files is said."""
        from kgeval.files.rows import open_rows

        rows = open_rows(self.wanted)
        for note in rows.notes:
            say(note)
        return rows

    def check(self, rows: Rows) -> None:
        """What can only be known once the rows are: names of systems, trials. Raises: UsageError."""
        from kgeval.metrics.summary.build import SummaryOptions, check_options

        check_options(SummaryOptions(baseline=self.options["against"], gates=self.gates), (), [info.system for info in rows.systems])
        if self.options["trials"] > 1 and any(info.trials > 1 for info in rows.systems):
            what = "--trials: the answers have trials of their own, and the spread between runs could be of either"
            raise UsageError(what, fix="leave --trials out, or give answers of one trial")

    def open_tools(self, stack: ExitStack, config: Config) -> None:
        """Opens what the metrics need and nothing else; every way out is told before anything is paid."""
        asked = named_judge(config, self.options, self.selection)
        judge = stack.enter_context(open_models_from_options(config, "judge", self.options)) if asked else None
        if not asked and _reads_triples(self.selection):
            say("no model is named: triples come from the files and from a stored graph (--graph) alone; --model NAME asks for the others")
        embedder = stack.enter_context(open_embedder_from_options(config, self.options)) if "embedder" in self.selection.tools else None
        graph, layout = None, None
        if self.selection.tools & {"graph", "gds"}:
            options = self.options
            graph = stack.enter_context(open_from_options(config, **{k: options[k] for k in ("uri", "username", "database", "home")}))
            _check_gds(graph, self.selection)
            if "graph" in self.selection.tools or options["graph_name"] or options["layout_option"] or config.graph.name:
                layout = layout_from_options(graph, config, **{k: options[k] for k in ("graph_name", "layout_option", "overrides")})
        self.max_error_rate = limits_from_options(config, self.options).max_error_rate
        tools = Tools(judge, embedder, graph, layout)
        self.infos = _infos(self, tools)
        self.tools = replace(tools, signatures={info.metric: info.signature for info in self.infos})

    def manifest(self, rows: Rows, *beside: Path, exit_code: int = 0) -> RunManifest:
        """The manifest of this run. `beside`: files that were read with the rows."""
        from kgeval.config import DEFAULT_FILE

        named = [*rows.inputs, self.options["config_file"] or DEFAULT_FILE, self.options["layout_option"], *beside]
        asking = self.asking()
        made = self.started.manifest(
            server=asking.server, inputs=[Path(name) for name in named if name and Path(name).is_file()],
            seed=self.options["seed"], exit_code=exit_code, asked=asking.asked,
        )
        if self.wanted.shard is None:
            return made
        whole = {"rows": rows.digest(), "run": fingerprint(self, rows), "notes": list(asking.notes)}
        return made.model_copy(update={"arguments": {**made.arguments, WHOLE: whole}})

    def asking(self) -> Told:
        """What is to be said of the asking so far."""
        if self.told is not None:
            return self.told
        graph, models = self.tools.graph, self.tools.models
        server = graph.info if graph else None
        return Told(server=server) if models is None else Told(models.exit_code != 0, tuple(models.notes), models.asked(), server)


def named_judge(config: Config, options: Mapping[str, Any], selection: Selection) -> bool:
    """Whether a judge is asked: metrics need one, or may use one (triples) and one is named. Raises: UsageError where none is named."""
    needing = selection.needing("judge")
    named = bool(options["model"] or config.model.judge.name)
    if needing and not named:
        raise UsageError(
            f"no model is named for the judge, and these metrics need one: {', '.join(needing)}",
            fix="give --model NAME, or name = ... in [model.judge] of kgeval.toml; --metrics lexical needs none",
        )
    return named and (bool(needing) or _reads_triples(selection))


def _reads_triples(selection: Selection) -> bool:
    return any(fact.startswith("triples:") for metric in selection.metrics for fact in metric.asks)


def _check_gds(graph: Graph, selection: Selection) -> None:
    """Raises: ConnectError where metrics need GDS and the server has none: that must not be found out after models were paid."""
    from kgeval.graph.server_info import INSTALL_GDS

    if graph.info.gds is None and (needing := selection.needing("gds")):
        what = f"this server has no Graph Data Science plugin, and these metrics need it: {', '.join(needing)}"
        raise ConnectError(what, fix=INSTALL_GDS)


def _infos(job: Job, tools: Tools) -> list[MetricInfo]:
    from kgeval.metrics.signature import metric_info, tooling

    what = tooling(tools)
    return [metric_info(metric, job.settings, what) for metric in job.selection.metrics]


def plan(job: Job, rows: Iterable[Row], trials: int = 1) -> int:
    """The dry run: the calls that are not in the journal yet, counted by the same code that makes them. Equal ones count once."""
    return counted(job, rows, lambda row, dry: walk(job, [row], dry, trials))


def walk(job: Job, rows: Iterable[Row], asker: Asker, trials: int = 1) -> None:
    """Goes through all asks of a run with an asker that needs no answers, and keeps nothing."""
    from kgeval.metrics.definition import Subject
    from kgeval.metrics.engine import row_facts
    from kgeval.metrics.facts import Facts

    for row in rows:
        for trial in range(trials):
            row_facts(Subject(row, Facts(), job.settings, trial), selection=job.selection, tools=job.tools, asker=asker)


def counted(job: Job, items: Iterable[T], ask: Callable[[T, Dry], object]) -> int:
    """Shows what asking about the items would take; nothing is asked, or gone through, where there is no model."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan

    models = job.tools.models
    if models is None:
        show_plan(Plan((), Limits()))
        return 0
    dry = Dry(models)
    for item in items:
        ask(item, dry)
    show_plan(Plan(dry.stages(), models.limits))
    return 0


def finish(job: Job, rows: Rows, fill: Callable[[Job, Rows, ScoreFile], None] | None = None) -> int:
    """Scores all rows, writes results and reports, and says by its exit code whether gates were met. `fill`: where the scores come
    from instead."""
    try:
        report, written = _scored(job, rows, fill or _score_all)
    except KeyboardInterrupt:
        say(_kept(job))
        raise
    for path in written:
        say(f"wrote {path}")
    show_report(report, job.options, job.reports)
    for text in told_lines(report, job.max_error_rate, _kept(job, "retry-errors")):
        say(text)
    return report.run.exit_code


def _scored(job: Job, rows: Rows, fill: Callable[[Job, Rows, ScoreFile], None]) -> tuple[ScoreReport, list[Path]]:
    """The report, and the result files that were written."""
    from kgeval.files.scores import ScoreFile, Taking
    from kgeval.reports.redact_scores import redacted_scores

    taking: Taking = "scored" if job.options["retry_errors"] else "finished" if job.options["resume"] else "nothing"
    mark, shard = fingerprint(job, rows), job.wanted.shard
    mark = mark if shard is None else fingerprint_in(mark, shard)
    with ScoreFile(job.results, fingerprint=mark, taking=taking, verdicts=keeps_verdicts(job.options)) as file:
        if file.aside:
            say(f"warning: {file.aside}")
        fill(job, rows, file)
        report = _report(job, rows, file)
        return report, file.finish(redacted_scores(report) if job.options["redact"] else report)


def keeps_verdicts(options: Mapping[str, Any]) -> bool:
    """Verdicts quote answers and sources: --redact leaves them out too."""
    return not (options["no_verdicts"] or options["redact"])


def _kept(job: Job, flag: str = "resume") -> str:
    """What a run that did not come to its end leaves, and how to go on."""
    replies = "replies that came are in the journal; " if job.tools.models is not None else ""
    return f"{replies}the same command goes on" + (f" with --{flag}" if job.results else "")


def _score_all(job: Job, rows: Rows, file: ScoreFile) -> None:
    """Scores every row and trial in order, but those that an earlier run has."""
    from kgeval.metrics.engine import score

    trials = job.options["trials"]

    def skip(row: Row, trial: int) -> bool:
        return file.taken(row, trial or None) is not None

    for result in score(rows, job.selection, job.tools, job.settings, trials=trials, total=len(rows) * trials, skip=skip):
        file.add(result.scores, result.verdicts, lacking=result.lacking)


def fingerprint(job: Job, rows: Rows) -> str:
    """What makes two runs the same: the rows as they were understood, the metrics with their signatures, trials."""
    what = [rows.digest(), sorted(info.signature for info in job.infos), sorted(job.selection.levels), job.options["trials"]]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _report(job: Job, rows: Rows, file: ScoreFile) -> ScoreReport:
    from kgeval.metrics.summary.build import SummaryOptions, build_report

    options, asking = job.options, job.asking()
    notes, stopped = [*rows.notes, *asking.notes], asking.stopped
    run = job.manifest(rows, options["audit_report"], *options["index_records"])
    report = build_report(
        file.scores, lambda: iter(rows), infos=job.infos, systems=rows.systems, run=run,
        options=SummaryOptions(
            seed=options["seed"], baseline=options["against"], gates=job.gates, complete=not stopped, notes=tuple(notes),
            verdicts=file.verdicts if keeps_verdicts(options) else None, audit=job.audit, index_records=job.index,
        ),
    )
    return report.model_copy(update={"run": report.run.model_copy(update={"exit_code": _code(report, job, stopped=stopped)})})


def _code(report: ScoreReport, job: Job, *, stopped: bool) -> int:
    if stopped or any(gate.met is None for gate in report.gates) or failed_share(report) > job.max_error_rate:
        return INCOMPLETE
    return MISSED if any(gate.met is False for gate in report.gates) else 0


def _index_record(path: Path) -> IndexRecord:
    from pydantic import ValidationError

    from kgeval.config import explain
    from kgeval.errors import InputError
    from kgeval.files import read_json
    from kgeval.records import IndexRecord

    try:
        return IndexRecord.model_validate(read_json(path))
    except ValidationError as cause:
        raise InputError(f"{path}: no index record: " + "; ".join(explain(cause)), fix="kgeval help records shows the record") from cause
