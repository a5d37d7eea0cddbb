"""Scoring: the answers of one or several systems measured by any metrics, with a summary, gates, and the results row by row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import Config, MetricOptions, ScoreOptions
from kgeval.errors import ConnectError, KgevalError, UsageError, raise_together, together, tried
from kgeval.format import percent
from kgeval.metrics.definition import MetricSettings
from kgeval.metrics.engine import Tools
from kgeval.metrics.select import Selection
from kgeval.tables.shards import WHOLE, fingerprint_in
from kgeval.workflows.result import Result, exit_code, gate_lines
from kgeval.workflows.rows import STDIN, check_places, read_record, rows_wanted
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.llm.asker import Asker
    from kgeval.llm.plan import Plan
    from kgeval.manifest import ModelUsage
    from kgeval.records import (
        AuditReport,
        IndexRecord,
        LeftOutKnown,
        MetricInfo,
        Row,
        RunManifest,
        Score,
        ScoreReport,
        ServerInfo,
        Verdict,
    )
    from kgeval.stats.thresholds import Threshold
    from kgeval.tables.known_questions import KnownQuestions
    from kgeval.tables.rows import Rows, RowSelection
    from kgeval.tables.scores import ScoreFile


LOOKED_AT = 100  # rows whose fields are named in an error


@dataclass(frozen=True)
class ScoreResult(Result):
    """The scores of a run: `report` is a ScoreReport. `results`: the file with the scores, row by row; `written`: all files of results
    that were written. `messages`: what is incomplete, and gates that are missed or without an answer."""

    results: Path | None = None
    written: Sequence[Path] = ()
    messages: Sequence[str] = ()
    _folder: Any = field(default=None, repr=False)  # of results that nobody asked to be written: gone with this object

    @property
    def scores(self) -> Iterator[Score]:
        """Every score, row by row in the order of the answers; read from the file, so that memory stays flat."""
        from kgeval.tables.scores import read_scores

        if self.results:
            yield from read_scores(self.results)

    @property
    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts behind the scores, in the same order; none where they are not kept."""
        from kgeval.tables.scores import read_verdicts

        if self.results:
            yield from read_verdicts(self.results)

    def to_pandas(self) -> pd.DataFrame:
        """A row a score: question_id, system, trial, metric, value (0 to 1, None where unscored), status, reason, detail, signature."""
        import pandas as pd

        from kgeval.tables.score_forms import COLUMNS

        return pd.DataFrame([{name: getattr(score, name) for name in COLUMNS} for score in self.scores], columns=list(COLUMNS))

    def save(self, path: str | Path, *, redact: bool | None = None) -> Path:
        """Writes the scores (.jsonl, .csv, .parquet, or a folder; manifest and verdicts beside them), or the report (.html, .md, .json,
        .xml). `redact`: without the texts and names of users; None: as `redact` of this result.

        Raises: UsageError for another ending, InputError where nothing can be written.
        """
        from kgeval.reports.redact import redacted
        from kgeval.tables.output import output_path
        from kgeval.tables.score_forms import FINGERPRINT, write_beside, write_scores
        from kgeval.tables.scores import is_result, without_texts

        with output_path(path) as output:
            if not is_result(output):
                return super().save(output, redact=redact)
            redact = self.redacts(redact)
            report = redacted(self.report) if redact else self.report
            write_scores(output, without_texts(self.scores, _own_code(self.report.metrics) if redact else ()))
            write_beside(output, report, str(self.report.run.arguments.get(FINGERPRINT, "")), None if redact else self.verdicts)
        return output


@dataclass(frozen=True)
class AskingSummary:
    """What is to be said of the asking: whether it stopped early, notes, the account, the server."""

    stopped: bool = False
    notes: tuple[str, ...] = ()
    asked: ModelUsage | None = None
    server: ServerInfo | None = None


@dataclass
class Scoring:
    """One run: what was asked for, and, once opened, what it is done with. `left_out`: the questions of the rows that are `known`.
    `asking`: where models were asked elsewhere, in parts. `trials`: how many differ; no request is sent a second time to get the same
    reply."""

    session: Session
    options: ScoreOptions
    wanted: RowSelection
    selection: Selection
    settings: MetricSettings
    gates: tuple[Threshold, ...] = ()
    results: tuple[Path, ...] = ()
    reports: tuple[Path, ...] = ()
    tools: Tools = field(default_factory=Tools)
    infos: list[MetricInfo] = field(default_factory=list)
    audit: AuditReport | None = None
    known: KnownQuestions | None = None
    left_out: Sequence[str] = ()
    index: tuple[IndexRecord, ...] = ()
    asking: AskingSummary | None = None
    trials: int = 1

    def open_rows(self) -> Rows:
        """The rows, all checked. What was decided about the files is said."""
        from kgeval.tables.rows import open_rows

        rows = open_rows(self.wanted)
        for note in rows.notes:
            self.session.say(note)
        return rows

    def open_tools(self) -> None:
        """Opens what the metrics need and nothing else; every way out is told before anything is paid."""
        session, selection = self.session, self.selection
        judged = asks_judge(session, selection)
        judge = session.models("judge", self.options) if judged else None
        if not judged and _reads_triples(selection):
            session.say(
                "no model is named: triples come from the files and from a stored graph (--graph) alone; --model NAME asks for the others",
            )
        embedder = session.embedder if "embedder" in selection.tools else None
        if "bert-score" in selection.tools and not session.dry:
            from kgeval.metrics.bertscore import load_scorer

            load_scorer(self.settings.bertscore_model)
        graph, layout = None, None
        if selection.tools & {"graph", "gds"}:
            graph = session.graph
            _check_gds(graph.info.gds, selection)
            if "graph" in selection.tools or session.graph_name or session.layout or session.config.graph.name:
                layout = session.bound_layout()
        self.set_tools(Tools(judge, embedder, graph, layout, session.layout_settings if layout is not None else {}))
        sampled = judge is not None and judge.endpoint.parameters.get("temperature") != 0
        self.trials = self.options.trials if sampled or _own_code(self.infos) else 1
        if self.trials < self.options.trials:
            session.say(self.trials_note())

    def trials_note(self) -> str:
        """Why there are fewer trials than were asked for; "" where there are not."""
        if self.trials == self.options.trials:
            return ""
        fewer = f"trials {self.trials} (of {self.options.trials})"
        if not asks_judge(self.session, self.selection):
            return f"{fewer}: no model is asked, and the same rows get the same scores, so there is no spread between runs"
        return (
            f"{fewer}: the judge has temperature 0, where the same request gets the same reply, which is no second draw: the spread "
            "between runs is not measured; a temperature above 0 in parameters of [model.judge] would make trials differ"
        )

    def set_tools(self, tools: Tools) -> None:
        """What the run is done with; its signatures are of it."""
        from kgeval.metrics.signature import metric_info, tooling

        what = tooling(tools)
        self.infos = [metric_info(metric, self.settings, what) for metric in self.selection.metrics]
        self.tools = replace(tools, signatures={info.metric: info.signature for info in self.infos})

    def manifest(self, rows: Rows, *beside: Path | None, exit_code: int = 0) -> RunManifest:
        """The manifest of this run. `beside`: files that were read with the rows."""
        from kgeval.config import DEFAULT_FILE

        named = [*rows.inputs, self.session.config_file or DEFAULT_FILE, self.session.layout, *beside]
        asking = self.asking_summary()
        manifest = self.session.manifest(
            self.options, server=asking.server, inputs=[Path(name) for name in named if name and Path(name).is_file()],
            seed=self.options.seed, exit_code=exit_code, asked=asking.asked,
        )
        if self.wanted.shard is None:
            return manifest
        whole = {
            "rows": rows.digest(), "run": fingerprint(self, rows), "notes": list(asking.notes), "stopped": asking.stopped,
            "trials": self.trials,
        }
        return manifest.model_copy(update={"arguments": {**manifest.arguments, WHOLE: whole}})

    def asking_summary(self) -> AskingSummary:
        """What is to be said of the asking so far."""
        if self.asking is not None:
            return self.asking
        graph, models = self.tools.graph, self.tools.models
        server = graph.info if graph else None
        if models is None:
            return AskingSummary(server=server)
        return AskingSummary(models.exit_code != 0, tuple(models.notes), models.asked(), server)


def names(session: Session, options: ScoreOptions) -> Iterator[Callable[[], object]]:
    """Checks of names in the options: of metrics, of their settings, and in thresholds. Each raises: UsageError with its faults."""
    from kgeval.metrics.summary.gates import parse_gates
    from kgeval.metrics.table import all_metrics

    unknown: list[KgevalError] = []
    selection = tried(lambda: selection_of(session, options), unknown)
    yield lambda: raise_together(unknown)
    yield lambda: settings_of(session.config, options)
    metrics = list(all_metrics().values()) if selection is None else selection.metrics
    yield lambda: parse_gates([*session.config.metrics.thresholds, *options.thresholds], metrics)


def prepare(session: Session, answers: Sequence[Path], options: ScoreOptions) -> Scoring:
    """A run, with everything checked that can be before a file of answers is read; what joins at the end is read, for its faults must not
    cost money.

    Raises: UsageError, InputError.
    """
    from kgeval.metrics.summary.audit_join import read_audit
    from kgeval.metrics.summary.gates import parse_gates
    from kgeval.records import IndexRecord, ScoreReport
    from kgeval.reports.write import check_outputs
    from kgeval.tables.known_questions import read_known
    from kgeval.tables.scores import is_result

    if options.write_back and not options.explain:
        raise UsageError("--write-back needs --explain QUESTION", fix="name the question whose graph shall be written")
    if options.shard and (options.explain or options.sweep):
        raise UsageError("--shard is for scores; --explain and --sweep look at the whole run", fix="leave --shard out")
    if options.sweep and options.without_known:
        raise UsageError("--sweep gives means of all questions, and --without-known leaves some out", fix="leave one of them out")
    _check_workers(session, options, answers)
    session.check_batches()
    scoring = prepare_metrics(session, answers, options)
    asks_judge(session, scoring.selection)
    gates = parse_gates([*session.config.metrics.thresholds, *options.thresholds], scoring.selection.metrics)
    reports = tuple(path for path in session.outputs if not is_result(path))
    check_outputs(list(reports), ScoreReport)
    check_places(
        session.outputs, scoring.wanted, options.audit, *options.index, options.without_known, session.config_file, session.asking.prices,
    )
    scoring = replace(
        scoring, gates=tuple(gates) if scoring.wanted.shard is None else (),  # they are about the whole run: the merge looks at them
        results=tuple(path for path in session.outputs if is_result(path)), reports=reports,
    )
    if options.audit:
        scoring.audit = read_audit(options.audit, session.graph_name)
    if options.without_known:
        scoring.known = read_known(options.without_known)
    scoring.index = tuple(
        read_record(path, IndexRecord, "no index record", fix="kgeval help records shows the record") for path in options.index
    )
    return scoring


def prepare_metrics(session: Session, answers: Sequence[Path], options: ScoreOptions) -> Scoring:
    """A run with its rows, metrics and settings, and no more."""
    return Scoring(
        session, options, rows_wanted(answers, options, shard=options.shard), selection_of(session, options),
        settings_of(session.config, options),
    )


def plan(session: Session, answers: Sequence[Path], options: ScoreOptions) -> Plan:
    """What the run would ask of models: calls that are not in the journal yet, tokens, money. Nothing is sent."""
    scoring = prepare(session, answers, options)
    with scoring.open_rows() as rows:
        check(scoring, rows)
        scoring.open_tools()
        made = planned(scoring, rows, lambda row, asker: walk(scoring, [row], asker))
        if scoring.known is not None and made.stages:
            made = replace(made, lines=(*made.lines, scoring.known.plan_line(len(scoring.left_out), len(rows.question_ids()))))
        return made


def run(session: Session, answers: Sequence[Path], options: ScoreOptions) -> ScoreResult:
    """Scores all rows; writes the results that the session names as outputs.

    Raises: UsageError, InputError, ConnectError, ModelError before anything is paid; IncompleteError where what is finished cannot be
    kept.
    """
    scoring = prepare(session, answers, options)
    with scoring.open_rows() as rows:
        check(scoring, rows)
        scoring.open_tools()
        session.batch_first(scoring.tools.models, lambda asker: walk(scoring, rows, asker))
        return finish(scoring, rows, _score_all)


def check(scoring: Scoring, rows: Rows) -> None:
    """What can only be known once the rows are: names of systems, trials, which questions are known. Raises: UsageError, InputError."""
    from kgeval.metrics.summary.build import SummaryOptions, check_options

    options = scoring.options
    if scoring.known is not None:
        scoring.left_out = scoring.known.among(rows.question_ids(), part=scoring.wanted.shard is not None)
    _check_cluster(options.cluster, rows)
    check_options(SummaryOptions(against=options.against, gates=scoring.gates), (), [info.system for info in rows.systems])
    if options.trials > 1 and any(info.trials > 1 for info in rows.systems):
        what = "--trials: the answers have trials of their own, and the spread between runs could be of either"
        raise UsageError(what, fix="leave --trials out, or give answers of one trial")


def _check_cluster(cluster: str | None, rows: Rows) -> None:
    """Raises: UsageError where no question has the field: each would stand alone, and nobody would see that the name is wrong."""
    if cluster in (None, "question") or any(row.question.drawn_with(cluster) is not None for row in rows):
        return
    extra = sorted({name for row in islice(rows, LOOKED_AT) for name in row.question.extra})
    own = f" (fields of their own: {', '.join(extra[:10])})" if extra else ""
    what = f"--cluster {str(cluster)[:100]}: no question has it{own}"
    raise UsageError(what, fix="name document, entity, dataset, level, a field that the questions have, or question: each stands alone")


def planned(scoring: Scoring, rows: Iterable[Row], ask: Callable[[Row, Asker], object]) -> Plan:
    """What asking about the rows would take; none are gone through where there is no model."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan

    models = scoring.tools.models
    if models is None:
        return Plan((), Limits())
    dry = Dry(models)
    for row in rows:
        ask(row, dry)
    return Plan(dry.stages(), models.limits)


def walk(scoring: Scoring, rows: Iterable[Row], asker: Asker) -> None:
    """Goes through all asks of a run with an asker that needs no answers, and keeps nothing."""
    from kgeval.metrics.definition import Subject
    from kgeval.metrics.engine import row_facts
    from kgeval.metrics.facts import RowFacts

    for row in rows:
        for trial in range(scoring.trials):
            subject = Subject(row, RowFacts(), scoring.settings, trial)
            row_facts(subject, selection=scoring.selection, tools=scoring.tools, asker=asker)


def finish(scoring: Scoring, rows: Rows, fill: Callable[[Scoring, Rows, ScoreFile], None]) -> ScoreResult:
    """Gathers the scores that `fill` gives, writes the results, and builds the report."""
    from kgeval.reports.redact import redacted
    from kgeval.tables.scores import ScoreFile, Taking
    from kgeval.tables.temporary import private_folder

    options, session = scoring.options, scoring.session
    taking: Taking = "scored" if options.retry_errors else "finished" if options.resume else "nothing"
    mark, shard = fingerprint(scoring, rows), scoring.wanted.shard
    mark = mark if shard is None else fingerprint_in(mark, shard)
    folder = None if scoring.results or not session.keep_rows else private_folder("parts")
    outputs = (folder.path / "scores.jsonl",) if folder else scoring.results
    faults: list[KgevalError] = []
    bare = _own_code(scoring.infos) if _redacts(scoring) else ()
    with ScoreFile(outputs, fingerprint=mark, taking=taking, verdicts=_keeps_verdicts(scoring), bare=bare) as file:
        if file.aside:
            session.say(f"warning: {file.aside}")
        try:
            fill(scoring, rows, file)
        except KeyboardInterrupt:
            session.say(_resume_hint(scoring))
            raise
        report = _report(scoring, rows, file)
        written = tried(lambda: file.finish(redacted(report) if _redacts(scoring) else report), faults) or []
    messages = [*_incomplete_lines(report, _resume_hint(scoring, "retry-errors")), *gate_lines(report.gates)]
    return ScoreResult(
        report, together(faults) if faults else None, session.redact, results=outputs[0] if outputs else None,
        written=() if folder else written, messages=messages, _folder=folder,
    )


def fingerprint(scoring: Scoring, rows: Rows) -> str:
    """What makes two runs the same: the rows as they were understood, the metrics with their signatures, trials."""
    signatures = sorted(info.signature for info in scoring.infos)
    levels = sorted([metric, sorted(only)] for metric, only in scoring.selection.levels.items())
    what = [rows.digest(), signatures, levels, scoring.options.trials]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def selection_of(session: Session, options: MetricOptions) -> Selection:
    """The metrics of the run: `metrics`, else those of `[metrics]`. Raises: UsageError for unknown ones."""
    from kgeval.metrics.select import select

    section = session.config.metrics
    return select(options.metrics or section.names, section.criteria, session.functions)


def settings_of(config: Config, options: MetricOptions) -> MetricSettings:
    """The settings in force: an option, else kgeval.toml's, else the default. Raises: UsageError with all faults."""
    from kgeval.metrics.options import make_settings

    return make_settings({**config.metrics.settings, **options.settings})


def asks_judge(session: Session, selection: Selection) -> bool:
    """Whether a judge is asked: metrics need one, or may use one (triples) and one is named. Raises: UsageError where none is named."""
    needing = selection.needing("judge")
    named = session.names_model("judge")
    if needing and not named:
        raise UsageError(
            f"no model is named for the judge, and these metrics need one: {', '.join(needing)}",
            fix="give --model NAME, or name = ... in [model.judge] of kgeval.toml; --metrics lexical needs none",
        )
    return named and (bool(needing) or _reads_triples(selection))


def failed_share(report: ScoreReport) -> float:
    """Scores that failed, among all that have a meaning: also where no model was to blame (a graph, an embedding). An answer that is an
    error is no failure of the scoring."""
    from kgeval.metrics.summary.means import scoring_failures

    failed = sum(sum(scoring_failures(s.overall).values()) for s in report.summaries)
    return failed / max(1, sum(s.overall.n - s.overall.not_applicable for s in report.summaries))


def _reads_triples(selection: Selection) -> bool:
    return any(fact.startswith("triples:") for metric in selection.metrics for fact in metric.asks)


def _check_gds(version: str | None, selection: Selection) -> None:
    """Raises: ConnectError where metrics need GDS and the server has none: that must not be found out after models were paid."""
    from kgeval.graph.server_info import INSTALL_GDS

    if version is None and (needing := selection.needing("gds")):
        what = f"this server has no Graph Data Science plugin, and these metrics need it: {', '.join(needing)}"
        raise ConnectError(what, fix=INSTALL_GDS)


def _check_workers(session: Session, options: ScoreOptions, answers: Sequence[Path]) -> None:
    """Raises: UsageError for options of several workers that do not fit the rest."""
    executor = options.executor
    beside = [f"--{name.replace('_', '-')}" for name in ("workers", "shards", "ray_address") if getattr(options, name)]
    if beside and not executor:
        raise UsageError(f"{', '.join(beside)}: for --executor only", fix="add --executor local (or ray), or leave it out")
    if executor and not (session.connection is None or isinstance(session.connection, str)):
        raise UsageError("several workers cannot use one open driver", fix="give the address, or leave --executor out")
    if options.ray_address and executor != "ray":
        raise UsageError("--ray-address is for --executor ray", fix="add --executor ray, or leave it out")
    chosen = {"shard": options.shard, "explain": options.explain, "sweep": options.sweep, "batch": session.batches.batch}
    if executor and (against := [f"--{name}" for name, value in chosen.items() if value]):
        raise UsageError(f"--executor and {', '.join(against)} exclude each other", fix="leave one of them out")
    if executor and STDIN in answers:
        raise UsageError("several workers cannot read one standard input", fix="write the answers into a file")
    local = [function.metric.name for function in session.functions.values() if function.reference is None]
    if executor and local:
        what = f"workers cannot find metrics that are defined in this notebook or script alone: {', '.join(local)}"
        raise UsageError(what, fix="put them into a file of their own and import it, or leave --executor out")


def _keeps_verdicts(scoring: Scoring) -> bool:
    """Verdicts quote answers and sources: --redact leaves them out too."""
    return not (scoring.options.no_verdicts or _redacts(scoring))


def _redacts(scoring: Scoring) -> bool:
    """Whether rows are written without users' texts. Those that are kept for the result are whole: it leaves them out when it is saved."""
    return scoring.session.redact and bool(scoring.results or not scoring.session.keep_rows)


def _own_code(metrics: Iterable[MetricInfo]) -> frozenset[str]:
    """The metrics that are functions of the user's: what they say beside a value may quote anything."""
    from kgeval.metrics.own import CODE

    return frozenset(metric.metric for metric in metrics if CODE in metric.parameters)


def _resume_hint(scoring: Scoring, flag: str = "resume") -> str:
    """What a run that did not come to its end leaves, and how to go on."""
    replies = "replies that came are in the journal; " if scoring.tools.models is not None else ""
    return f"{replies}the same command goes on" + (f" with --{flag}" if scoring.results else "")


def _score_all(scoring: Scoring, rows: Rows, file: ScoreFile) -> None:
    """Scores every row and trial in order, but those that an earlier run has."""
    from kgeval.metrics.engine import score

    trials = scoring.trials

    def skip(row: Row, trial: int) -> bool:
        return file.taken(row, trial or None) is not None

    results = score(rows, scoring.selection, scoring.tools, scoring.settings, trials=trials, total=len(rows) * trials, skip=skip)
    for result in results:
        file.add(result.scores, result.verdicts, lacking=result.lacking)


def _report(scoring: Scoring, rows: Rows, file: ScoreFile) -> ScoreReport:
    from kgeval.metrics.summary.build import SummaryOptions, build_report

    options, asking, left_out = scoring.options, scoring.asking_summary(), frozenset(scoring.left_out)
    stopped = asking.stopped
    missing = {info.system: sum(name not in left_out for name in rows.unanswered(info.system)) for info in rows.systems if left_out}
    report = build_report(
        file.scores, lambda: iter(rows), infos=scoring.infos, systems=rows.systems,
        run=scoring.manifest(rows, options.audit, *options.index, options.without_known),
        options=SummaryOptions(
            seed=options.seed, against=options.against, cluster=options.cluster, gates=scoring.gates, stopped=stopped,
            notes=tuple(filter(None, (*rows.notes, *asking.notes, scoring.trials_note()))),
            verdicts=file.verdicts if _keeps_verdicts(scoring) else None, audit=scoring.audit, index_records=scoring.index,
            known=left_out_record(scoring.known, scoring.left_out, len(rows.question_ids())), missing=missing,
        ),
    )
    complete = not stopped and failed_share(report) <= scoring.session.limits.max_error_rate
    code = exit_code(report.gates, incomplete=not complete)
    return report.model_copy(update={"complete": complete, "run": report.run.model_copy(update={"exit_code": code})})


def left_out_record(known: KnownQuestions | None, left_out: Sequence[str], questions: int) -> LeftOutKnown | None:
    """What a report says of the known questions that its figures are without; None where they are not asked for."""
    from kgeval.records import LeftOutKnown

    if known is None:
        return None
    return LeftOutKnown(
        file=str(known.file), questions=questions, left_out=len(left_out), closed_book=known.closed_book, metric=known.metric,
        lost=known.lost, ids=list(left_out),
    )


def _incomplete_lines(report: ScoreReport, kept: str) -> list[str]:
    """The message of a run that is not complete. `kept`: what it leaves, and how to go on."""
    if report.complete:
        return []
    return [f"incomplete: {percent(failed_share(report))} of the scores failed (the report has the causes); {kept}"]
