"""The headline figures of every kind of report, each with what it is over, its interval and its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kgeval.auditing.accuracy.report import best
from kgeval.format import labels_of
from kgeval.overview import structure as structure
from kgeval.overview.comparison_figures import comparison
from kgeval.overview.coverage import TITLES as COVERAGE_TITLES
from kgeval.overview.score_figures import scores
from kgeval.overview.sources import Source
from kgeval.questions.checking.check_table import PASSES
from kgeval.records import (
    AccuracyReport,
    AgreementReport,
    AnswerReport,
    AuditReport,
    CheckReport,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    CrossedReport,
    Estimated,
    Gain,
    GenerationReport,
    IndexRecord,
    LoadReport,
    OverviewFigure,
    Part,
    Proportion,
    Unit,
)
from kgeval.stats.intervals import quantile, wilson

WRONG = frozenset({"contradicted", "not_stated", "wrong_type", "not_an_entity", "wrong_redundant_or_irrelevant"})


def figures_of(source: Source) -> list[OverviewFigure]:
    """All headline figures of one report; none for kinds that have none."""
    maker = _MAKERS.get(source.kind)
    if maker is None:
        return []
    where = {"place": source.place, "source": str(source.file)}
    return [OverviewFigure(**{**fields, **where}) for fields in maker(source.record)]


def _row(part: Part, name: str, title: str, value: float | None, **more: Any) -> dict[str, Any]:
    return {"part": part, "name": name, "title": title, "value": value, **more}


def _proportion(part: Part, name: str, title: str, one: Proportion, **more: Any) -> dict[str, Any]:
    return _row(part, name, title, one.share, low=one.low, high=one.high, n=one.total, n_scored=one.total, **more)


def build(report: IndexRecord) -> Iterator[dict[str, Any]]:
    """What the construction took, and what came of it. Nothing here is a sample."""
    of = report.system
    counts = (("built_entities", "Entities built", report.entities), ("built_relations", "Relations built", report.relations))
    for name, title, count in counts:
        yield _row("graph", name, title, count, of=of, unit="count", exact=True)
    yield _row("cost", "build_cost", "Cost of building", report.cost, of=of, unit="usd", better="lower")
    yield _row("latency", "build_seconds", "Time to build", report.seconds, of=of, unit="seconds", better="lower")


def audit(report: AuditReport) -> Iterator[dict[str, Any]]:
    """The structure's key figures, how many checks failed by severity, and each check's share of hits. All is counted, nothing sampled."""
    for figure in (one.figure for one in structure.values(report, structure.KEY)):
        value = report.structure.get(figure.id)
        if isinstance(value, int | float) and value == value:
            unit: Unit = "share" if figure.unit == "share" else "count" if isinstance(value, int) else "number"
            yield _row("graph", figure.id, figure.title, value, unit=unit, exact=True)
    answered = [one for one in report.findings if one.status in ("passed", "failed")]
    for severity in ("error", "warning", "info"):
        failed = sum(one.status == "failed" and one.severity == severity for one in answered)
        n = sum(one.severity == severity for one in answered)
        if n:
            title = f"Failed checks: {severity}"
            yield _row("graph", f"failed_{severity}", title, failed, unit="count", n=n, n_scored=n, better="lower", exact=True)
    for one in answered:
        if one.share is not None and one.group not in ("accuracy", "completeness"):
            signature = f"{one.rule_id}|" + ",".join(f"{name}={value}" for name, value in sorted(one.settings.items()))
            yield _row(
                "graph", one.rule_id, one.title, one.share, n=one.total, n_scored=one.total, better="lower", exact=True,
                signature=signature, note=f"{one.severity}: {one.status}",
            )


def completeness(report: CompletenessReport) -> Iterator[dict[str, Any]]:
    """Coverage of the gold set at the level of the verdict, in its bridging relations, in a control, and of its facts."""
    level = report.verdict_level or next((one.level for one in report.verdicts), None) or next(reversed(report.levels), None)
    coverage = report.levels.get(level) if level else None
    against = f"against {report.gold.label}, {level} level"
    matched = report.scope != "unmatched"  # else its figures are too high for anything to be concluded from them
    if coverage is not None and (report.gold.entities or report.gold.triples) and matched:
        for name, title in COVERAGE_TITLES.items():
            one: Proportion = getattr(coverage, name)
            if one.total:
                yield _proportion("graph", name, f"Gold found: {title.lower()}", one, better="higher", note=against)
    for name, bridging in report.bridging.items():
        if bridging.total and matched:
            title = f"Bridging relations found: {name.replace('_', ' ')}"
            yield _proportion("graph", f"bridging_{name}", title, bridging, better="higher", note=against)
    if report.control is not None and report.control.entity_coverage.total:
        one = report.control.entity_coverage
        yield _proportion("graph", "control_entity_coverage", "Control: gold found that should not be", one, better="lower", note=against)
    if report.facts is not None and report.facts.retention.total:
        facts = report.facts
        made = _proportion("graph", "fact_retention", "Gold facts that follow from the graph", facts.retention, better="higher")
        yield {**made, "n": facts.n, "n_scored": facts.n_scored, "note": f"judge {facts.judge}"}


def accuracy(report: AccuracyReport) -> Iterator[dict[str, Any]]:
    """The most trustworthy estimate of each thing estimated."""
    first = best(report.estimates, report.estimates[0].of) if report.estimates else None
    for of in dict.fromkeys(one.of for one in report.estimates):
        rows = [one for one in report.estimates if one.of == of]
        one = first if first is not None and first.of == of else rows[-1]
        lower = of in WRONG or of.endswith("_of_entailed")
        yield _row(
            "graph", f"{report.kind}_{of}", f"{report.kind.capitalize()}: {of.replace('_', ' ')}", one.value,
            low=one.low, high=one.high, n=one.n, n_scored=one.n_scored, better="lower" if lower else "higher",
            note=f"{labels_of(one)}; {one.method}",
        )


def questions(report: GenerationReport) -> Iterator[dict[str, Any]]:
    """How many questions were made of those asked for."""
    yield _row("scope", "questions_made", "Questions made", report.made, unit="count", n=report.asked, exact=True)


def check(report: CheckReport) -> Iterator[dict[str, Any]]:
    """The share of questions that pass each check, set by set."""
    for one in report.sets:
        yield _row("scope", "questions", "Questions", one.n, of=one.file, unit="count", exact=True)
        for figure in one.figures:
            n = figure.passed + figure.failed
            if n or figure.unscored:
                passes = PASSES.get(figure.check, figure.check.replace("_", " "))
                yield _row(
                    "scope", f"questions_{figure.check}", f"Questions that pass {figure.check}: {passes}", figure.share, of=one.file,
                    low=figure.low, high=figure.high, n=n + figure.unscored, n_scored=n, better="higher",
                )


def coverage(report: CoverageReport) -> Iterator[dict[str, Any]]:
    """The share of each facet of the graph that a set of questions touches. Counted over the whole graph."""
    for one in report.sets:
        for figure in one.figures:
            if figure.total is not None:
                yield _row(
                    "scope", f"covered_{figure.facet}", f"Covered by questions: {figure.facet}", figure.share, of=one.file,
                    n=figure.total, n_scored=figure.total, better="higher", exact=True,
                )


def answers(report: AnswerReport) -> Iterator[dict[str, Any]]:
    """How many answers are none: errors, and empty ones."""
    for one in report.systems:
        if one.answers:
            lost = (one.empty + sum(one.errors.values())) / one.answers
            ends = wilson(lost, one.answers, quantile=quantile())
            yield _row(
                "answers", "no_answer", "Answers that are errors or empty", lost, low=ends.low, high=ends.high, of=one.system,
                n=one.answers, n_scored=one.answers, better="lower", note=one.signature,
            )


def load(report: LoadReport) -> Iterator[dict[str, Any]]:
    """What each system came to with so many questions in flight."""
    for system in report.systems:
        for level in system.levels:
            figures = (("per_second", "Answers a second", level.per_second, level.answered, "number", "higher"),
                       ("load_p95", "Latency under load, p95", level.p95, level.n_latency, "seconds", "lower"))
            for name, title, one, n, unit, better in figures:
                yield _row(
                    "latency", f"{name}_{level.in_flight}", f"{title}, {level.in_flight} in flight", one.value, low=one.low, high=one.high,
                    of=system.system, n=n, n_scored=n, unit=unit, better=better,
                    note=f"limit: {', '.join(level.limits)}" if level.limits else None,
                )


def contamination(report: ContaminationReport) -> Iterator[dict[str, Any]]:
    """What the closed book knows, false answers, and what retrieval gains over it."""
    means = (("closed_book_accuracy", "Closed book: right answers", report.accuracy),
             ("closed_book_attempted", "Closed book: attempted", report.attempted))
    for name, title, mean in means:
        yield _row(
            "baseline", name, title, mean.mean, of=report.closed_book, low=mean.low, high=mean.high, n=mean.n, n_scored=mean.n_scored,
            better="lower", note=f"{report.metric}, right from {report.right_from:g}",
        )
    for one in report.false_answers:
        yield _row(
            "grounding", "false_answers", "False answers to questions without one", one.mean.mean, of=one.system, low=one.mean.low,
            high=one.mean.high, n=one.mean.n, n_scored=one.mean.n_scored, better="lower",
        )
    for gain in report.gains:
        yield _gain(gain, "gain_over_closed_book", "Gain over the closed book")
    for gain in report.gains_without:
        yield _gain(gain, "gain_without_known", "The same without questions that the closed book answers")
    if report.difference is not None:
        yield _row(
            "baseline", "known_minus_unknown", "Answered by heart: known minus unknown documents", report.difference, unit="difference",
            low=report.difference_low, high=report.difference_high, of=report.closed_book,
        )


def _gain(gain: Gain, name: str, title: str) -> dict[str, Any]:
    return _row(
        "baseline", name, f"{title}: {gain.metric}", gain.mean, of=f"{gain.system} - {gain.baseline}", low=gain.low, high=gain.high,
        n=gain.n, n_scored=gain.n, unit="difference", better="higher",
    )


def matrix(report: CrossedReport) -> Iterator[dict[str, Any]]:
    """The means over data sets, and what each change does; single places stand in their own score reports."""
    lower = set(report.lower_is_better)
    for cell in report.cells:
        if cell.place.dataset is None and cell.datasets > 1:
            place = cell.place
            size = f"{place.share:.15g}" if place.share is not None and place.share > 1 else place.share  # tokens are whole
            where = ", ".join(str(one) for one in (place.variant, size, place.reader) if one is not None)
            yield _row(
                "answers", f"{cell.metric}_mean", f"{cell.metric}, mean of {cell.datasets} data sets" + (f" ({where})" if where else ""),
                cell.mean, of=cell.system, low=cell.low, high=cell.high, n=cell.n, n_scored=cell.n_scored,
                better="lower" if cell.metric in lower else "higher",
            )
    several = len(report.datasets) > 1
    for one in report.changes:
        if one.place.dataset is None or not several:
            yield _row(
                "baseline", f"{one.metric}_change", f"{one.metric}: {one.base} to {one.changed}", one.mean, of=one.system, low=one.low,
                high=one.high, n=one.n, n_scored=one.n, unit="difference", better="lower" if one.metric in lower else "higher",
                note=None if one.p_holm is None else f"p {one.p_holm:.3g} (Holm)",
            )


def agreement(report: AgreementReport) -> Iterator[dict[str, Any]]:
    """How far people agree, and what is nearest to them."""
    for people in (one for one in report.people if one.by == "all"):
        yield _estimated("people_alpha", f"People with each other, {people.aspect}: alpha", people.alpha_ordinal, people.items_twice)
    for one in (one for one in report.predictors if one.by == "all" and one.kind != "people"):
        title = f"Agreement with people, {one.aspect}: Spearman"
        yield {**_estimated("agreement_with_people", title, one.spearman, one.n), "of": one.predictor}


def _estimated(name: str, title: str, one: Estimated, n: int) -> dict[str, Any]:
    return _row("comparison", name, title, one.value, low=one.low, high=one.high, n=n, n_scored=n, unit="number", better="higher")


_MAKERS: dict[str, Callable[[Any], Iterator[dict[str, Any]]]] = {
    "build": build, "audit": audit, "completeness": completeness, "accuracy": accuracy, "questions": questions, "check": check,
    "coverage": coverage, "answers": answers, "scores": scores, "contamination": contamination, "comparison": comparison,
    "matrix": matrix, "agreement": agreement, "load": load,
}
