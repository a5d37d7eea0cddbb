"""The audit as one HTML file: no network, readable with scripts off, light and dark, narrow and wide."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.records import AuditReport, Finding
from kgeval.report import display, figures, json_, priorities
from kgeval.report.listing import Listing, layout_line, listing

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
TOP = 20
MOST_EXAMPLES = 100


@dataclass(frozen=True)
class Bar:
    """A row of a table with a bar: `width` in percent of the largest."""

    name: str
    number: int
    share: float
    width: float


@dataclass(frozen=True)
class Entry:
    """A finding as the page shows it: with its anchor and the Cypher that lists all."""

    finding: Finding
    anchor: str
    listing: Listing | None


@dataclass(frozen=True)
class Fill:
    """A property of a label or relation type: in how many of its bearers it is filled, and the value types seen."""

    name: str
    share: float
    types: str


def render(report: AuditReport) -> str:
    """The page. Holds the report as JSON in `<script id="report" type="application/json">`."""
    css, js = (_source(name) for name in ("report.css", "report.js"))
    page = _environment().get_template("report.html.j2")
    return page.render(csp=_policy(css, js), css=_raw(css), js=_raw(js), data=_raw(embedded(report)), **_context(report)) + "\n"


def embedded(report: AuditReport) -> str:
    """The report's JSON, safe inside a script element: no `<`, `>`, `&` and no line separators of JavaScript."""
    text = json_.render(report).strip()
    return re.sub("[<>&\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", text)


def _policy(css: str, js: str) -> str:
    """Nothing is loaded and nothing runs but the page's own style and script, named by their hashes."""
    return (
        f"default-src 'none'; style-src '{_sha256(css)}'; script-src '{_sha256(js)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _context(report: AuditReport) -> dict[str, Any]:
    entries = _entries(report)
    return {
        "report": report, "verdict": priorities.verdict(report), "entries": entries,
        "mend": [entries[f.rule_id] for f in priorities.mend_first(report)],
        "tally": {s: sum(f.severity == s for f in priorities.failed(report)) for s in priorities.SEVERITIES},
        "by_status": {status: sum(f.status == status for f in report.findings) for status in ("passed", "skipped")},
        "unfinished": priorities.unfinished(report), "groups": _groups(report, entries), "lines": priorities.group_lines(report),
        "skip_reasons": priorities.reasons(priorities.skipped(report)), "layout_line": layout_line(report),
        "key": figures.values(report, figures.KEY), "community": figures.values(report, figures.COMMUNITY),
        "all_figures": figures.values(report), **_shape(report), **_tables(report),
    }


def _entries(report: AuditReport) -> dict[str, Entry]:
    return {f.rule_id: Entry(f, "finding-" + re.sub(r"[^\w-]", "_", f.rule_id), listing(report, f)) for f in report.findings}


def _groups(report: AuditReport, entries: dict[str, Entry]) -> list[tuple[priorities.GroupLine, list[Entry]]]:
    """Each group with its answered and unfinished findings, failed ones first."""
    order = {f.rule_id: at for at, f in enumerate(priorities.failed(report))}
    states = {"failed": 0, "error": 1, "incomplete": 1, "passed": 2}
    out = []
    for line in priorities.group_lines(report):
        shown = [f for f in report.findings if f.group == line.group and f.status in states]
        shown.sort(key=lambda f: (states[f.status], order.get(f.rule_id, 0), f.rule_id))
        if shown:
            out.append((line, [entries[f.rule_id] for f in shown]))
    return out


def _shape(report: AuditReport) -> dict[str, Any]:
    from kgeval.report.plots import histogram

    degrees, sizes = _points(report, "degree_histogram"), _points(report, "component_size_histogram")
    return {
        "degrees": degrees, "sizes": sizes,
        "degree_plot": _raw(histogram(degrees, x="relations of an entity (degree)", y="entities", name="degree")),
        "size_plot": _raw(histogram(sizes, x="entities in a component", y="components", name="component")),
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


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    page = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=select_autoescape(enabled_extensions=(), default=True, default_for_string=True),
    )
    page.filters.update(
        visible=display.visible, number=display.number, percent=display.percent, pairs=_pairs,
    )
    page.globals.update(top=TOP, most_examples=MOST_EXAMPLES)
    return page


def _pairs(table: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Filled entries of a map as short texts, lists joined."""
    for key, value in table.items():
        if value not in (None, [], "", False, {}):
            yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _source(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _raw(text: str) -> Any:
    """Text of our own making that goes into the page unescaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own style, script, drawing and the JSON escaped by embedded()
