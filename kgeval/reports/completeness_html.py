"""Completeness as one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgeval.records import CompletenessReport, Judgement
from kgeval.reports import completeness as view
from kgeval.reports import page
from kgeval.reports.display import interval
from kgeval.reports.measures import of, share


@dataclass(frozen=True)
class Card:
    """A figure of the verdict. `value` null: there is no figure."""

    title: str
    meaning: str
    value: str | None
    over: str
    level: str
    band: str | None
    source: str


def render(report: CompletenessReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    facts = report.facts
    context: dict[str, Any] = {
        "verdict": view.verdict(report), "label": view.gold_label(report), "faults": report.gold.faults,
        "notes": [*report.gold.notes, *report.notes], "judged": [_card(report, judgement) for judgement in report.verdicts],
        "has_gold": view.has_gold(report), "rows": view.level_rows(report) if view.has_gold(report) else [],
        "not_run": view.not_run(report), "titles": view.TITLES, "meanings": view.MEANINGS, "bands": view.BANDS,
        "control": view.control_line(report), "ideal": view.ideal_lines(report),
        "by_type": view.breakdown(report.by_type), "by_document": view.breakdown(report.by_document),
        "bridging": view.bridging(report), "predicates": view.predicates(report), "pairs_line": view.pairs_line(report),
        "settings": view.settings_line(report), "facts_line": view.facts_line(facts) if facts else "",
        "facts": [(fact, view.fact_state(fact)) for fact in view.facts_in_order(facts)] if facts else [],
        **_lists(report),
    }
    return page.render("completeness.html.j2", report, context)


def _card(report: CompletenessReport, judgement: Judgement) -> Card:
    counted = view.judged(report, judgement)
    title, meaning = view.TITLES.get(judgement.figure, judgement.figure), view.MEANINGS.get(judgement.figure, "")
    if counted is None or not counted.total:
        return Card(title, meaning, None, "none in the gold set", "", None, "")
    between = interval(counted.low, counted.high)
    over = of(counted) + (f", 95 %: {between}" if between else "")
    return Card(title, meaning, share(counted), over, judgement.level, judgement.band, judgement.source)


def _lists(report: CompletenessReport) -> dict[str, Any]:
    entities, relations = (view.matched(report, kind) for kind in ("entity", "relation"))
    return {
        "missing_entities": view.missing(report, "entity"), "missing_relations": view.missing(report, "relation"),
        "matched_entities": [(item, view.score(item)) for item in entities], "entity_levels": view.by_level(entities),
        "matched_relations": [(item, view.score(item)) for item in relations], "relation_levels": view.by_level(relations),
    }
