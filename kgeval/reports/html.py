"""The audit as one HTML file: its sections and the figures behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kgeval.overview import priorities
from kgeval.overview import structure as figures
from kgeval.records import SEVERITIES, AuditReport, Finding
from kgeval.reports import audit_gates, page, reading
from kgeval.reports.glossary import Words
from kgeval.reports.listing import Listing, hits, layout_line, listing, repair
from kgeval.reports.usage import construction_line
from kgeval.reports.views.audit_diff import section


@dataclass(frozen=True)
class Bar:
    """A row of a table with a bar: `width` in percent of the largest."""

    name: str
    number: int
    share: float
    width: float


@dataclass(frozen=True)
class Entry:
    """A finding as the page shows it: with its anchor, the Cypher of the check, of its hits where that lists something else, and of what
    can be done about them."""

    finding: Finding
    anchor: str
    listing: Listing | None
    hits: Listing | None
    repair: Listing | None


@dataclass(frozen=True)
class Fill:
    """A property of a label or relation type: in how many of its bearers it is filled, and the value types seen."""

    name: str
    share: float
    types: str


def render(report: AuditReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    return page.render("report.html.j2", report, _context(report))


def _context(report: AuditReport) -> dict[str, Any]:
    entries = _entries(report)
    return {
        "verdict": priorities.verdict(report), "reading": reading.lines(report), "entries": entries, **_gates(report),
        "mend": [(entries[id(f)], priorities.touches(f, report)) for f in priorities.mend_first(report)], "ordered": priorities.ORDERED,
        "tally": {s: sum(f.severity == s for f in priorities.failed(report)) for s in SEVERITIES},
        "by_status": {status: sum(f.status == status for f in report.findings) for status in ("passed", "skipped")},
        "unfinished": priorities.unfinished(report), "groups": _groups(report, entries), "lines": priorities.group_lines(report),
        "skip_reasons": priorities.reasons(priorities.skipped(report)), "layout_line": layout_line(report),
        "built": construction_line(report.construction) if report.construction else "",
        "key": figures.values(report, figures.KEY), "community": figures.values(report, figures.COMMUNITY),
        "diff": section(report.diff, everything=True) if report.diff else None,
        "all_figures": figures.values(report), **_shape(report), **_tables(report), "explain": Words().explain,
    }


def _gates(report: AuditReport) -> dict[str, Any]:
    return {
        "gate_lines": audit_gates.summary(report), "gate_name": audit_gates.gate_name, "gate_value": audit_gates.value,
        "gate_outcome": audit_gates.outcome, "waiver_state": audit_gates.waiver_state,
    }


def _entries(report: AuditReport) -> dict[int, Entry]:
    """Each finding's entry, by the identity of the finding: joined reports may bring several findings of one rule."""
    entries: dict[int, Entry] = {}
    taken: set[str] = set()
    for finding in report.findings:
        name = anchor = "finding-" + re.sub(r"[^\w-]", "_", finding.rule_id)
        at = 1
        while anchor in taken:
            at += 1
            anchor = f"{name}-{at}"
        taken.add(anchor)
        entries[id(finding)] = Entry(finding, anchor, listing(report, finding), hits(report, finding), repair(report, finding))
    return entries


def _groups(report: AuditReport, entries: dict[int, Entry]) -> list[tuple[priorities.GroupLine, list[Entry]]]:
    """Each group with its answered and unfinished findings, failed ones first."""
    order = {id(f): at for at, f in enumerate(priorities.failed(report))}
    states = {"failed": 0, "error": 1, "incomplete": 1, "passed": 2}
    out = []
    for line in priorities.group_lines(report):
        shown = [f for f in report.findings if f.group == line.group and f.status in states]
        shown.sort(key=lambda f: (states[f.status], order.get(id(f), 0), f.rule_id))
        if shown:
            out.append((line, [entries[id(f)] for f in shown]))
    return out


def _shape(report: AuditReport) -> dict[str, Any]:
    from kgeval.reports.plots import histogram

    degrees, sizes = _points(report, "degree_histogram"), _points(report, "component_size_histogram")
    return {
        "degrees": degrees, "sizes": sizes,
        "degree_plot": page.raw(histogram(degrees, x="relations of an entity (degree)", y="entities", name="degree")),
        "size_plot": page.raw(histogram(sizes, x="entities in a component", y="components", name="component")),
        "degree_reason": figures.why_skipped(report, "degree_histogram"),
        "size_reason": figures.why_skipped(report, "component_size_histogram"),
    }


def _points(report: AuditReport, id_: str) -> list[tuple[int, int]]:
    return sorted((int(value), n) for value, n in figures.counts(report, id_) if value.isdigit())


def _tables(report: AuditReport) -> dict[str, Any]:
    names = ("entities_by_type", "relations_by_type")
    return {
        "types": [_bars(figures.counts(report, name)) for name in names],
        "type_reasons": [figures.why_skipped(report, name) for name in names],
        "fills": _fills(report), "fill_reason": figures.why_skipped(report, "property_fill"),
    }


def _bars(counts: list[tuple[str, int]]) -> list[Bar]:
    total, largest = sum(n for _, n in counts) or 1, max((n for _, n in counts), default=1) or 1
    return [Bar(name, n, n / total, round(100 * n / largest, 2)) for name, n in counts]


def _fills(report: AuditReport) -> list[Fill]:
    table, kinds = report.structure.get("property_fill"), report.structure.get("property_types")
    kinds = kinds if isinstance(kinds, dict) else {}
    pairs = sorted(table.items()) if isinstance(table, dict) else []
    return [Fill(name, float(share), _kinds(kinds.get(name))) for name, share in pairs if isinstance(share, (int, float))]


def _kinds(found: object) -> str:
    """`STRING` or, where types mix, `STRING (98), INTEGER (2)`."""
    if not isinstance(found, dict):
        return ""
    pairs = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return pairs[0][0] if len(pairs) == 1 else ", ".join(f"{kind} ({n:,})" for kind, n in pairs)
