"""What to fix first: everything that the reports hold against the graph, the system or the measurement, the most pressing first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.format import number, percent, visible
from kgeval.overview.advice import ADVICE, as_sentence
from kgeval.overview.coverage import sentence
from kgeval.overview.findings import amount, failed
from kgeval.overview.gates import told_by_checks
from kgeval.overview.score_verdict import ScoreTables, harmful_joins
from kgeval.overview.sources import Source
from kgeval.overview.weak import weak_figures
from kgeval.overview.wording import place_of, reached, value_of
from kgeval.records import (
    SEVERITIES,
    AuditJoin,
    ComparisonReport,
    CompletenessReport,
    ContaminationReport,
    OverviewPriority,
    OverviewReport,
    ScoreReport,
    Severity,
)

MOST = 30
MANY_LOST = 0.1  # answers that are none, questions that fail a check


def priorities_of(report: OverviewReport, sources: Sequence[Source]) -> list[OverviewPriority]:
    """By severity; within one: what makes the measurement void, gates, gaps of the graph, weak figures of systems, what is worse than
    before, the questions, failed checks."""
    rows = [
        *_stages(report), *_judge(sources), *_gates(report), *_completeness(sources),
        *weak_figures(report.figures, report.rubrics), *_worse(report), *_lost(report), *_contamination(sources),
        *_findings(report, sources),
    ]
    ordered = sorted(rows, key=lambda row: SEVERITIES.index(row.severity))[:MOST]
    return [row.model_copy(update={"why": as_sentence(row.why), "advice": as_sentence(row.advice)}) for row in ordered]


def _stages(report: OverviewReport) -> Iterator[OverviewPriority]:
    for stage in report.stages:
        if not stage.ended:
            yield OverviewPriority(
                severity="error", title=f"Stage {stage.id} is not done", why="what it would say is missing from this report",
                evidence=f"state: {stage.state.replace('_', ' ')}" + (f"; {stage.reason}" if stage.reason else ""), where=stage.id,
                advice=f"run the same kgeval run again: it goes on there; its messages are in logs/{stage.id.replace('/', '--')}.log",
            )


def _judge(sources: Sequence[Source]) -> Iterator[OverviewPriority]:
    """What makes a comparison void: a judge that moved, or one that finds a difference where there is none."""
    for source in sources:
        record = source.record
        if not isinstance(record, ComparisonReport):
            continue
        where = {"where": place_of(source.place), "source": str(source.file)}
        if record.drift is not None and record.drift.moved:
            change = record.drift.changed
            yield OverviewPriority(
                severity="error", title="The judge is not the judge of the baseline", why="win rates of the two runs cannot be compared",
                evidence="other verdicts on the anchors" + ("" if change is None else f": {percent(change)} of them"),
                advice="judge the baseline's answers again with this judge, then compare", **where,
            )
        for check in record.self_checks:
            if check.passed is False:
                ends = value_of(check.relative.value, check.relative.low, check.relative.high, "difference")
                yield OverviewPriority(
                    severity="error", title=f"{visible(check.system)} wins against itself", why="the procedure finds what is not there",
                    evidence=f"relative win rate {ends}, n {number(check.n)}", advice="more trials, both orders, answers of one length",
                    **where,
                )


def _gates(report: OverviewReport) -> Iterator[OverviewPriority]:
    for gate in report.gates:
        if gate.met is not True and not told_by_checks(gate):
            state = "missed" if gate.met is False else "not answered"
            yield OverviewPriority(
                severity="error", title=f"Gate {state}: {gate.wanted}", why="a threshold that was set for this run",
                evidence=reached(gate), where=place_of(gate.place, gate.of), source=gate.source,
                advice=ADVICE.get(gate.name, "see the report that the gate is of"),
            )


def _worse(report: OverviewReport) -> Iterator[OverviewPriority]:
    for change in report.diff.changes if report.diff else ():
        if change.verdict == "worse" and change.part not in ("latency", "cost") and not change.name.startswith("failed_"):
            before, after = (value_of(value, None, None, change.unit) for value in (change.before, change.after))
            yield OverviewPriority(
                severity="warning", title=f"Worse than the baseline: {change.title}", why="beyond what chance does",
                evidence=f"{before} then, {after} now", where=place_of(change.place, change.of),
                advice=ADVICE.get(change.name, "look at what was changed between the two runs"),
            )


def _findings(report: OverviewReport, sources: Sequence[Source]) -> Iterator[OverviewPriority]:
    """Failed checks; those that go along with worse answers for sure come first within their severity."""
    joins = {(source.place, join.rule): join for source in sources for join in _harmful(source)}
    rows = [(finding, joins.get((finding.place, finding.rule_id))) for finding in failed(report.findings) if finding.severity != "info"]
    for finding, join in sorted(rows, key=lambda row: (SEVERITIES.index(row[0].severity), row[1] is None)):
        why = "found by the audit" if join is None else (
            f"questions that touch it have a lower {join.metric}: "
            f"{value_of(join.difference, join.low, join.high, 'difference')}, n {number(join.touched.n_scored)} against "
            f"{number(join.untouched.n_scored)} ({visible(join.system, longest=60)})"
        )
        yield OverviewPriority(
            severity=finding.severity, title=f"{finding.title} ({finding.rule_id})", why=why, evidence=amount(finding),
            where=place_of(finding.place, f"graph {finding.graph}" if finding.graph else None),
            advice=finding.advice or f"see kgeval checks show {finding.rule_id}", source=finding.source,
        )


def _harmful(source: Source) -> list[AuditJoin]:
    """Rules whose flagged things go along with lower scores, as the score report says it."""
    return harmful_joins(ScoreTables.of(source.record)) if isinstance(source.record, ScoreReport) else []


def _completeness(sources: Sequence[Source]) -> Iterator[OverviewPriority]:
    for source in sources:
        if isinstance(source.record, CompletenessReport):
            if source.record.scope == "unmatched":
                yield OverviewPriority(
                    severity="warning", title="How complete the graph is could not be measured", why="no gold document is known to it",
                    evidence="none of the gold's documents could be matched with the graph's", where=place_of(source.place),
                    advice="load the graph with its documents (kgeval import --documents map.csv), or measure with --whole-graph",
                    source=str(source.file),
                )
            for judgement in source.record.verdicts:
                if judgement.band in ("critical", "acceptable"):
                    # a relation that goes by another name is there: it is no loss as a missing one is
                    named = judgement.figure == "relation_completeness_with_predicate"
                    severity: Severity = "error" if judgement.band == "critical" and not named else "warning"
                    lost = "a query that names the relation misses what goes by another name" if named else (
                        "what is not in the graph cannot be retrieved"
                    )
                    yield OverviewPriority(
                        severity=severity, title=f"The graph lacks part of the gold set: {judgement.figure.replace('_', ' ')}",
                        why=lost, evidence=sentence(source.record, judgement),
                        where=place_of(source.place), advice=ADVICE[judgement.figure], source=str(source.file),
                    )


def _lost(report: OverviewReport) -> Iterator[OverviewPriority]:
    """Many answers that are none; many questions that fail a check."""
    for figure in report.figures:
        answers = figure.name == "no_answer"
        questions = figure.part == "scope" and figure.name.startswith("questions_")
        if figure.value is None or figure.unit != "share" or not (answers or questions):
            continue
        lost = figure.value if answers else 1 - figure.value
        if lost > MANY_LOST:
            title = figure.title if answers else f"Questions that fail a check: {figure.name.removeprefix('questions_')}"
            yield OverviewPriority(
                severity="warning", title=title, why="figures over these questions say less than they seem to",
                evidence=f"{percent(lost)} of {number(figure.n_scored or 0)}", where=place_of(figure.place, figure.of),
                advice=ADVICE["no_answer" if answers else "questions"], source=figure.source,
            )


def _contamination(sources: Sequence[Source]) -> Iterator[OverviewPriority]:
    for source in sources:
        record = source.record
        if isinstance(record, ContaminationReport) and record.accuracy.low is not None and record.accuracy.low > MANY_LOST:
            ends = value_of(record.accuracy.mean, record.accuracy.low, record.accuracy.high, "share")
            yield OverviewPriority(
                severity="warning", title="The model answers many questions without any text",
                why="on these, scores say nothing of graph or retrieval",
                evidence=f"closed-book {record.metric} {ends}; {number(len(record.marked))} of {number(record.n)} questions marked",
                where=place_of(source.place, record.closed_book), advice=ADVICE["closed_book_accuracy"], source=str(source.file),
            )
