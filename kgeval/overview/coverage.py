"""The figures of completeness in words: what they are called, and what a verdict on one says."""

from __future__ import annotations

from kgeval.format import interval, number, percent
from kgeval.records import CompletenessReport, Judgement, Proportion

TITLES: dict[str, str] = {
    "entity_coverage": "Entities", "relation_completeness": "Relations (pair)",
    "relation_completeness_directed": "Relations (pair, directed)", "relation_completeness_with_predicate": "Relations (triple)",
}


def judged(report: CompletenessReport, judgement: Judgement) -> Proportion | None:
    """The count behind a verdict, null where the report has no such figure."""
    coverage = report.levels.get(judgement.level)
    found = getattr(coverage, judgement.figure, None)
    return found if isinstance(found, Proportion) else None


def sentence(report: CompletenessReport, judgement: Judgement) -> str:
    """`Relations (triple): 61.6 % of 2,134 found (normalised level; 95 %: 59.5 % to 63.6 %): critical.` Where the interval reaches into
    other bands, that is said."""
    counted, name = judged(report, judgement), TITLES.get(judgement.figure, judgement.figure)
    if judgement.share is None or counted is None:
        return f"{name}: no figure."
    between = interval(counted.low, counted.high)
    level = f"{judgement.level} level; 95 %: {between}" if between else f"{judgement.level} level"
    return f"{name}: {percent(judgement.share)} of {number(counted.total)} found ({level}){_band(judgement, counted)}."


def _band(judgement: Judgement, counted: Proportion) -> str:
    from kgeval.auditing.completeness.figures import band

    if judgement.band is None:
        return ""
    ends = band(counted.low), band(counted.high)
    reach = "" if set(ends) <= {judgement.band, None} else f" (the interval reaches from {ends[0]} to {ends[1]})"
    return f": {judgement.band}{reach}"
