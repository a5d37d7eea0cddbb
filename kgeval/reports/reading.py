"""What a reader must know of how the layout took the graph, in sentences: what it left out, and how it names things."""

from __future__ import annotations

from kgeval.format import first_of, number, percent, visible
from kgeval.records import AuditReport, LabelName

CAUTION = 0.05  # above this share of nodes or relations without a role, the figures are not those of the graph
MOST = 5
NAMED = 8  # labels whose names are told


def lines(report: AuditReport) -> list[str]:
    """The sentences for the report's head; none where the layout reads everything."""
    return [*_without_role(report), *_names(report)]


def _without_role(report: AuditReport) -> list[str]:
    reading = report.reading
    if reading is None:
        return []
    sides = (("nodes", reading.nodes_without_role, reading.nodes), ("relations", reading.relations_without_role, reading.relations))
    shares, amounts = [0.0], []
    for kind, left, total in sides:
        if left and total:
            without = sum(left.values())
            shares.append(without / total)
            listed = first_of([f"{visible(name, longest=40)} {number(count)}" for name, count in left.items()], MOST)
            amounts.append(f"{number(without)} of {number(total)} {kind} ({percent(without / total)}: {listed})")
    if not amounts:
        return []
    text = f"{' and '.join(amounts)} play no role in layout {visible(report.layout.name, longest=40)}: nothing below is about them"
    if max(shares) <= CAUTION:
        return [text]
    way_out = "kgeval layout check shows what the layout takes for what, --set entity_labels=... or relation_types=... changes it"
    return [f"Caution: {text}; {way_out}"]


def _names(report: AuditReport) -> list[str]:
    """What was taken for names, where that was found and not listed; and what to set where there is nothing."""
    lacking = next((finding.reason for finding in report.findings if finding.rule_id == "empty-name" and finding.status == "skipped"), None)
    if lacking and "--set name_keys" in lacking:
        return [f"Caution: checks of names could not run: {visible(lacking, longest=300)}"]
    first: dict[str, LabelName] = {}
    for one in report.layout.label_names:
        first.setdefault(one.label or "all others", one)
    if not first:
        return []
    keys = {label: " + ".join(visible(key, longest=40) for key in one.keys) for label, one in first.items()}
    named = [f"{visible(label, longest=40)} by {keys[label]}" for label, one in first.items() if not one.is_id]
    details = {label or "all others": described for label, described in report.layout.label_details.items()}
    described = {label: " + ".join(visible(key, longest=40) for key in details.get(label, ())) for label in first}
    ids = [
        f"{visible(label, longest=40)} ({keys[label] or (described[label] and f'none: {described[label]}') or 'not even an id'})"
        for label, one in first.items() if one.is_id
    ]
    parts = [first_of(named, NAMED)] if named else []
    parts += [f"without a name, by an id: {first_of(ids, NAMED)}"] if ids else []
    return [f"Names: {'; '.join(parts)} (--set name_keys=LABEL.PROPERTY,* changes it)"]
