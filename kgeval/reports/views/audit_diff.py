"""What changed from one audit to another; alone, and as a section of an audit's report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgeval import __version__
from kgeval.auditing.diff import newly_fails, parts_of, silent, unanswered_at, worse_at
from kgeval.format import first_of, joined, number, percent, plural, points, visible
from kgeval.overview.structure import Figure, figure_of
from kgeval.records import SEVERITIES, AuditDiff, ChangeOf, Example, FigureChange, FindingChange, RunManifest
from kgeval.reports.document import Block, Cell, Document, Section, Table, Text
from kgeval.reports.document import Figure as Picture
from kgeval.reports.plots_graphs import Move, moves
from kgeval.reports.views.parts import notes_list, version_line

ORDER: tuple[ChangeOf, ...] = ("worse", "better", "new", "gone", "not_comparable", "changed", "same", "unanswered")
HEADINGS: dict[ChangeOf, str] = {
    "worse": "Worse", "better": "Better", "new": "New: no answer before", "gone": "Gone: no answer now", "not_comparable": "Not comparable",
    "changed": "Changed", "same": "The same", "unanswered": "No answer before and now",
}
WORDS: dict[ChangeOf, str] = {
    "worse": "worse", "better": "better", "new": "new", "gone": "gone", "not_comparable": "not comparable", "changed": "changed",
    "same": "the same", "unanswered": "without an answer before and now",
}
HINT = "Worse: new hits, by name and type, or more of them; waived hits are left out. A share alone decides nothing, except of samples."
_NAMES = 5
_MOST_MOVES = 8
_LABELLED = {  # figures by type and by property: maps in an audit's report
    "entities_by_type": Figure("entities_by_type", "Entities of type", ""),
    "relations_by_type": Figure("relations_by_type", "Relations of type", ""),
    "property_fill": Figure("property_fill", "Filled", "", "share"),
}


def document(made: AuditDiff) -> Document:
    """The checks by what became of them, their types, the examples, the figures; graph by graph where there are several."""
    sections = [Section(table.title, [replace(table, title="")]) for table in tables(made)]
    if picture := _picture(made):
        sections.insert(0, Section("", picture))
    for part in made.graphs:
        sections.append(Section(f"Graph {heading(part)}", [Text(verdict(part), style="lead"), notes_list(part.notes, 8), *tables(part)]))
    return Document(
        "Audits compared", "audit diff", sections, name=heading(made), about=f"{made.before}, then {made.after}",
        lead=[line for line in (verdict(made), gate_line(made)) if line], notes=made.notes, foot=[HINT],
        more="All changes: add -o diff.html or -o diff.json", end=version_line(made.run) if made.run else "",
    )


def section(made: AuditDiff) -> Section:
    """The section of an audit's report: against which report, and the checks that are not the same; on a page everything."""
    few = [replace(table, short=6, long=6, forms="all" if "Severity" in table.head else "page") for table in tables(made)]
    lines = [Text(verdict(made), style="lead"), *([Text(line)] if (line := gate_line(made)) else [])]
    return Section(f"Compared with {made.before}", [*lines, *_picture(made), *few, notes_list(made.notes, 4)], id="diff")


def _picture(made: AuditDiff) -> list[Block]:
    """The shares that moved most of the checks that became worse or better, worse ones first."""
    moved = [
        Move(change.title, change.share_before, change.share_after, change.verdict == "worse") for change in made.findings
        if change.label is None and change.verdict in ("worse", "better")
        and change.share_before is not None and change.share_after is not None
    ]
    moved.sort(key=lambda one: (not one.worse, -abs(one.now - one.before)))
    drawing = moves(moved[:_MOST_MOVES])
    hint = "The share that each check finds: the ring is before, the dot is now; red became worse, green better."
    return [Picture(drawing, "Before and now", hint)] if drawing else []


def run_of(made: AuditDiff) -> RunManifest:
    """How the diff came to be; one inside an audit's report has no run of its own."""
    return made.run or RunManifest(kgeval=__version__, command="audit diff", started="", seconds=0)


def heading(made: AuditDiff) -> str:
    """Which graph it is, or both where they differ."""
    if made.graphs:
        return plural(len(made.graphs), "graph")
    was, has = (name or "whole database" for name in (made.graph_before, made.graph_after))
    return has if was == has else f"{was} and {has}"


def verdict(made: AuditDiff) -> str:
    """How many checks became what, and what newly fails, in a sentence."""
    whole = [change for part in parts_of(made) for change in part.findings if change.label is None]
    if not whole:
        return "Neither audit ran a check: only figures can be compared."
    found = Counter(change.verdict for change in whole)
    parts = [f"{number(found[kind])} {WORDS[kind]}" for kind in ORDER if found[kind]]
    fails = [change.rule_id for change in whole if newly_fails(change)]
    tail = f" {plural(len(fails), 'check')} newly {'fails' if len(fails) == 1 else 'fail'}: {first_of(fails, _NAMES)}." if fails else ""
    return f"Of {plural(len(whole), 'check')}: {joined(parts)}.{tail}"


def gate_line(made: AuditDiff) -> str:
    """What the gate came to; "" without one."""
    limit = made.fail_on_worse
    if limit is None:
        return ""
    bad, lost = worse_at(made, limit), unanswered_at(made, limit)
    above = "of any severity" if limit == "info" else f"of severity {limit}" + ("" if limit == "error" else " or above")
    reasons = [f"{first_of([one.rule_id for one in lost], _NAMES)} cannot be compared ({above})"] if lost else []
    if alone := silent(made, limit):
        reasons.append(first_of(alone, _NAMES))
    if reasons:
        return f"Gate without an answer: {'; '.join(reasons)}."
    if bad:
        fails = "fails" if len(bad) == 1 else "fail"
        return f"Gate missed: {plural(len(bad), 'check')} {above} became worse, or {fails} and had no answer before."
    return f"Gate met: no check {above} became worse."


def tables(made: AuditDiff) -> Iterator[Table]:
    """The checks by what became of them, their types, the examples, the figures; without those that are the same, or were skipped in
    both."""
    whole = [
        change for change in made.findings
        if change.label is None and (change.verdict != "unanswered" or change.status_before != change.status_after)
    ]
    whole.sort(key=lambda change: SEVERITIES.index(change.severity))
    for kind in ORDER:
        if kind != "same" and (rows := [_check(change) for change in whole if change.verdict == kind]):
            yield _table(HEADINGS[kind], ("Check", "Severity", "Before", "Now", "Note"), rows, {0, 1, 4})
    labels = [change for change in made.findings if change.label is not None and change.verdict != "same"]
    labels.sort(key=lambda change: (ORDER.index(change.verdict), change.rule_id))
    if rows := [
        (change.rule_id, change.label or "", amount(change, now=False), amount(change, now=True), WORDS[change.verdict])
        for change in labels
    ]:
        yield _table("Checks by type", ("Check", "Type", "Before", "Now", "Became"), rows, {0, 1, 4})
    if moved := [
        (change.rule_id, _names(change.appeared), _names(change.vanished)) for change in made.findings if change.appeared or change.vanished
    ]:
        yield _table("Examples", ("Check", "Appeared", "Vanished"), moved, {0, 1, 2})
    for labelled, title in ((False, "Figures"), (True, "Figures by type and property")):
        if figures := [_figure(figure) for figure in made.figures if (figure.label is not None) is labelled and figure.verdict != "same"]:
            yield _table(title, ("Figure", "Before", "Now", "Difference", "Became"), figures, {0, 4})


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str | Cell]], words: set[int]) -> Table:
    return Table(head, rows, title=title, words=frozenset(words), long=30).filled(keep=range(len(head) - 1))


def _check(change: FindingChange) -> tuple[str, ...]:
    notes = []
    if newly_fails(change):
        notes.append("newly fails")
    elif change.verdict != "gone" and change.status_before == "failed" and change.status_after == "passed":
        notes.append("passes now")
    if change.suppressed_before or change.suppressed_after:
        notes.append(f"waived: {number(change.suppressed_before)} before, {number(change.suppressed_after)} now")
    if change.reason:
        notes.append(change.reason)
    return f"{change.title} ({change.rule_id})", change.severity, amount(change, now=False), amount(change, now=True), "; ".join(notes)


def amount(change: FindingChange, *, now: bool) -> str:
    """The hits before or now: `3 of 12 (25.0 %)`, or the status where there is no answer."""
    count, total, share, status = (
        (change.count_after, change.total_after, change.share_after, change.status_after) if now
        else (change.count_before, change.total_before, change.share_before, change.status_before)
    )
    if count is None:
        return status or "not run"
    of = f" of {number(total)}" if total is not None and (share is not None or not total) else ""
    return f"{number(count)}{of}" + (f" ({percent(share)})" if share is not None else "")


def _names(examples: Sequence[Example]) -> str:
    names = [
        " / ".join(visible(item.name, longest=60) for item in example.items[:3]) + (" (waived)" if example.waived else "")
        for example in examples
    ]
    return first_of(names, _NAMES)


def _figure(change: FigureChange) -> tuple[str | Cell, ...]:
    figure = _LABELLED.get(change.id) or figure_of(change.id)
    name = figure.title if change.label is None else f"{figure.title}: {change.label}"
    became = WORDS[change.verdict] + (f": {change.reason}" if change.reason else "")
    before, after = ("" if value is None else figure.text(value) for value in (change.before, change.after))
    difference = ""
    if change.before is not None and change.after is not None and change.verdict != "not_comparable":
        gap = 0.0 if change.verdict == "same" else change.after - change.before
        difference = f"{points(gap)} points" if figure.unit == "share" else ("+" if gap > 0 else "") + number(gap)
    return Cell(name, what=figure.what), before, after, difference, became
