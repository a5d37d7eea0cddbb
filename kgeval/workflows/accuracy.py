"""Accuracy: how much of a graph is true, by a sample of it that a judge, people, or both read against its passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import AccuracyOptions, AuditOptions
from kgeval.errors import InputError
from kgeval.workflows.result import Result, exit_code
from kgeval.workflows.session import Session, refuse

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.auditing.accuracy.chunks import Chunks
    from kgeval.auditing.accuracy.gold_pairs import GoldPair
    from kgeval.auditing.accuracy.report import Results
    from kgeval.auditing.accuracy.run import DrawnSample
    from kgeval.auditing.accuracy.sample import SampleSpec
    from kgeval.auditing.check import Embedding
    from kgeval.llm.plan import Plan
    from kgeval.llm.session import Models
    from kgeval.records import AccuracyReport, Estimate, Gate, Layout, RunManifest
    from kgeval.stats.thresholds import Threshold

COLUMNS = ("id", "text", "status", "label", "human", "reason", "flags", "stratum", "cluster", "weight")


@dataclass(frozen=True)
class AccuracyResult(Result):
    """How much of a graph is true. `report`: an AccuracyReport; `labelled`: somebody was asked, else it only has the items that were drawn
    (`export` writes them for people)."""

    labelled: bool = True

    @property
    def estimates(self) -> list[Estimate]:
        """The shares, each with who labelled, method, value (0 to 1), 95 % interval, n; the most trustworthy of a share first."""
        return list(self.report.estimates)

    def to_pandas(self) -> pd.DataFrame:
        """A row a drawn item: id, text, status, label (the judge's), human (of most people), reason, flags, stratum, cluster, weight (how
        many items of the graph it stands for), passages (list of texts)."""
        import pandas as pd

        rows = [
            [*(getattr(item, name) for name in COLUMNS), [passage.text for passage in self.report.passages_of(item)]]
            for item in self.report.items
        ]
        return pd.DataFrame(rows, columns=[*COLUMNS, "passages"])


@dataclass(frozen=True)
class _Sampled:
    """A sample, and what it is judged with. `judge`: None where no model is asked; `gold`: labelled pairs."""

    thresholds: Sequence[Threshold]
    drawn: DrawnSample
    layout: Layout
    judge: Models | None
    gold: Sequence[GoldPair]
    embedding: Embedding | None


def plan(session: Session, options: AccuracyOptions) -> Plan:
    """What judging the sample would ask. The graph is read; nothing is sent, and no sheet is written. Raises: as `run`."""
    from kgeval.auditing.accuracy.run import planned
    from kgeval.llm.plan import Plan

    sampled = _sampled(session, options)
    if sampled.judge is None:
        return Plan((), session.limits)
    batches = planned(sampled.judge, sampled.drawn.sample, options.kind)
    return Plan((sampled.judge.plan(batch.task for batch in batches),), session.limits)


def run(session: Session, options: AccuracyOptions) -> AccuracyResult:
    """A sample of the session's graph, labelled by a judge, by people (`labels`), or by both; with `sheet` it is written as a sheet first.

    A model is asked where one is named, but by `export` without `model`. Faults of sheets come before anything is paid.
    Raises: UsageError, InputError, ConnectError, LayoutError, QueryError, ModelError.
    """
    from kgeval.auditing.accuracy.report import accuracy_report

    sampled = _sampled(session, options)
    judge, graph = sampled.judge, sampled.layout.scope_value or session.graph_name
    _export(session, sampled, options, graph)
    results = _results(sampled, options)
    report = accuracy_report(results, graph=graph, layout=sampled.layout, run=_manifest(session, sampled, options))
    report = report.model_copy(update={"notes": [*report.notes, *(judge.notes if judge else ())]})
    gates = list(_answered(report, sampled.thresholds))
    labelled = judge is not None or bool(options.labels or options.labelled_pairs)
    if labelled:
        answered = any(estimate.value is not None for estimate in report.estimates) or report.duplicates.get("gold_pairs") is not None
        stopped = judge is not None and judge.exit_code != 0
        code = exit_code(gates, incomplete=stopped or not answered)
    else:
        code = exit_code(incomplete=not report.items)
    report = report.model_copy(update={"run": report.run.model_copy(update={"exit_code": code}), "gates": gates})
    return AccuracyResult(report, labelled=labelled, redact=session.redact)


def names(_: Session, options: AccuracyOptions) -> Iterator[Callable[[], object]]:
    """Checks of what options name or ask for together, before anything is read. Each raises: UsageError with its faults."""
    yield lambda: parse_gates(options.thresholds)
    yield lambda: _check(options)


def parse_gates(given: Sequence[str]) -> list[Threshold]:
    """`accuracy>=0.8`, `contradicted<=0.02`; `=` means at least for what is good, at most for what is not. Raises: UsageError with all
    faults."""
    from kgeval.auditing.accuracy.estimates import share_names
    from kgeval.stats.thresholds import parse_thresholds, without_at

    names = share_names()

    def faults(threshold: Threshold) -> list[str]:
        is_known = threshold.name in names and threshold.of is None
        shown = f"{threshold.of}:{threshold.name}" if threshold.of else threshold.name
        return [*([] if is_known else [f"no share is called {shown}"[:100]]), *without_at(threshold)]

    return parse_thresholds(given, faults, fix=f"write NAME>=SHARE, NAME<=SHARE or NAME=SHARE; shares are {', '.join(sorted(names))}")


def _sampled(session: Session, options: AccuracyOptions) -> _Sampled:
    """The sample, after everything that can be checked, read and opened before the graph."""
    from kgeval.auditing.accuracy.chunks import read_chunks
    from kgeval.auditing.accuracy.gold_pairs import read_pairs
    from kgeval.auditing.accuracy.run import draw
    from kgeval.records import AccuracyReport
    from kgeval.reports.write import check_outputs

    thresholds = parse_gates(options.thresholds)
    _check(options)
    check_outputs(session.outputs, AccuracyReport, read=_read(options))
    judge = session.models("judge", options) if _asks_judge(session, options) else None
    chunks: Chunks | None = read_chunks(options.chunks) if options.chunks else None
    gold = read_pairs(options.labelled_pairs) if options.labelled_pairs else []
    embedding = _embedding(session, options) if options.kind == "duplicates" else None
    graph, layout = session.graph, session.bound_layout()
    drawn = draw(graph, layout, _spec(options), chunks, embedding=embedding)
    if not drawn.sample.items:
        why = "; ".join(drawn.sample.notes) or f"the graph has no {options.kind} with a passage"
        session.say(f"nothing can be judged: {why}")
    return _Sampled(thresholds, drawn, layout, judge, gold, embedding)


def _check(options: AccuracyOptions) -> None:
    """Raises: UsageError with all options that do not fit together; InputError for labels that are not there."""
    faults = []
    if options.kind != "duplicates":
        given = {"--labelled-pairs": options.labelled_pairs, "--duplicate-check": options.duplicate_checks, "--embed": options.embed}
        faults += [(f"{flag} is for --kind duplicates", f"add --kind duplicates, or leave {flag} out") for flag in given if given[flag]]
    else:
        faults += [("pairs are not stratified", "leave --strata out")] if options.strata != "none" else []
        faults += [("--consistency is for relations and entities", "leave it out")] if options.consistency else []
    if options.consistency and not options.sheet:
        faults.append(("--consistency is for --sheet: what people filled in is read without it", "leave it out, or give --sheet"))
    if options.sheet and options.sheet.exists():
        faults.append((f"{options.sheet}: is there already, and may hold labels", "choose another name, or move the file away"))
    if options.no_model and not (options.sheet or options.labels or options.labelled_pairs):
        faults.append(("--no-model leaves nothing to do", "give --sheet, --labels or --labelled-pairs"))
    refuse(faults)
    if gone := [str(path) for path in _read(options) if not path.exists()]:
        raise InputError(f"{', '.join(gone)}: no such file or folder", fix="check the path")


def _read(options: AccuracyOptions) -> list[Path]:
    """The files that are read beside the graph."""
    return [*options.chunks, *options.labels, *([options.labelled_pairs] if options.labelled_pairs else [])]


def _asks_judge(session: Session, options: AccuracyOptions) -> bool:
    """A model is asked if one is named; a sheet alone asks none, unless --model says so."""
    if options.no_model:
        return False
    others = options.sheet or options.labels or options.labelled_pairs
    return bool(session.asking.model or not others or (session.config.model.judge.name and not options.sheet))


def _embedding(session: Session, options: AccuracyOptions) -> Embedding | None:
    from kgeval.workflows.audit import embedding_of

    return embedding_of(session, AuditOptions(embed=options.embed or session.config.audit.embed))


def _spec(options: AccuracyOptions) -> SampleSpec:
    from kgeval.auditing.accuracy.sample import SampleSpec

    return SampleSpec(
        kind=options.kind, n=options.n, seed=options.seed, strata=options.strata, per_passage=options.per_passage,
        passages=options.passages, timeout=options.timeout, checks=tuple(dict.fromkeys(options.duplicate_checks)),
    )


def _export(session: Session, sampled: _Sampled, options: AccuracyOptions, graph: str | None) -> None:
    from kgeval.auditing.accuracy.elsewhere import elsewhere
    from kgeval.auditing.accuracy.sheet import write_sheet

    sample, spec = sampled.drawn.sample, _spec(options)
    if not options.sheet or not sample.items:
        return
    uses = elsewhere(session.graph, sampled.layout, sample, spec) if options.consistency else None
    write_sheet(options.sheet, sample, spec, graph=graph, elsewhere=uses)
    design = sample.design
    what = f"{design.drawn} {options.kind} in {design.clusters_drawn} clusters"
    columns = "columns label and consistency" if options.consistency else "column label"
    session.say(f"wrote {options.sheet}: {what}; fill in the {columns}, then give it with --labels")


def _results(sampled: _Sampled, options: AccuracyOptions) -> Results:
    """Labels of people and verdicts of the judge. Sheets are read first: their faults must not cost money."""
    from kgeval.auditing.accuracy.report import Results
    from kgeval.auditing.accuracy.run import judge
    from kgeval.auditing.accuracy.sheet import read_sheets

    sample = sampled.drawn.sample
    people = read_sheets(options.labels, sample, _spec(options)) if options.labels else None
    judged = judge(sampled.judge, sample, options.kind) if sampled.judge else {}
    crossed = options.strata == "type-document"
    return Results(options.kind, sample, judged, people, sampled.drawn.listed, sampled.gold, options.half_widths, crossed)


def _manifest(session: Session, sampled: _Sampled, options: AccuracyOptions) -> RunManifest:
    from kgeval.auditing.accuracy.run import query_hashes
    from kgeval.config import DEFAULT_FILE
    from kgeval.manifest import ModelUsage
    from kgeval.workflows.audit import models_of

    usage = sampled.judge.asked() if sampled.judge else ModelUsage()
    if embedded := models_of(sampled.embedding):
        usage = replace(usage, models=[*usage.models, *embedded.models])
    named = [session.config_file or DEFAULT_FILE, session.layout, *_read(options)]
    return session.manifest(
        options, server=session.graph.info, hashes=query_hashes(options.kind, elsewhere=options.consistency),
        seed=options.seed, asked=usage,
        inputs=[Path(name) for name in named if name and Path(name).is_file()],
    )


def _answered(report: AccuracyReport, thresholds: Sequence[Threshold]) -> Iterator[Gate]:
    """The thresholds, each met, missed or without an answer. A threshold looks at the most trustworthy estimate there is."""
    from kgeval.auditing.accuracy.estimates import share_names
    from kgeval.auditing.accuracy.report import best

    better = share_names()
    for threshold in thresholds:
        estimate, resolved = best(report.estimates, threshold.name), threshold.resolved(better[threshold.name])
        if estimate is None or estimate.value is None:
            yield resolved.gate(None, None, reason="there is no estimate of it here")
        else:
            yield resolved.gate(estimate.value, resolved.met(estimate.value), reason=f"labelled by {estimate.labelled_by}")
