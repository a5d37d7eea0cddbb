"""The structure figures of two audits side by side. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.auditing.diff_sides import finite
from kgeval.auditing.structure import PARTS
from kgeval.records import AuditReport, ChangeOf, FigureChange
from kgeval.rounding import is_equal

BETTER = {"giant_share": 1, "isolated_share": -1, "property_fill": 1}  # of the others nobody can say which way is better
BY_LABEL = ("entities_by_type", "relations_by_type", "property_fill")
METHODS = {"tokenizer": PARTS["tokens"], "community_algorithm": PARTS["communities"]}  # a figure that names how others were found


def changes_of_figures(before: AuditReport, after: AuditReport) -> Iterator[FigureChange]:
    """Every number of either audit, in the order of the figures' parts; the maps by type last. None where one measured no figure at all."""
    if not measured(before) or not measured(after):
        return
    order = {name: place for place, name in enumerate(name for part in PARTS.values() for name in part)}
    plain = {name for side in (before, after) for name, value in side.structure.items() if finite(value) is not None}
    for name in sorted(plain, key=lambda name: (order.get(name, len(order)), name)):
        yield _change(name, before, after)
    for name in BY_LABEL:  # a change a label; nothing where one side lacks the whole map: the figures beside it say so
        was, has = (side.structure.get(name) for side in (before, after))
        if not isinstance(was, dict) or not isinstance(has, dict):
            continue
        for label in sorted(was.keys() | has.keys()):
            then, now = finite(was.get(label)), finite(has.get(label))
            if then is not None and now is not None:
                yield FigureChange(id=name, label=label, verdict=_verdict(name, then, now), before=then, after=now)
            elif then is not None or now is not None:
                yield FigureChange(id=name, label=label, verdict="new" if then is None else "gone", before=then, after=now)


def measured(report: AuditReport) -> bool:
    """False for an audit without structure figures (--no-structure)."""
    return bool(report.structure or report.structure_skipped)


def other_methods(before: AuditReport, after: AuditReport) -> dict[str, tuple[str, str]]:
    """The named methods that differ: id -> before, now."""
    pairs = {name: (before.structure.get(name), after.structure.get(name)) for name in METHODS}
    return {name: (str(was), str(has)) for name, (was, has) in pairs.items() if was is not None and has is not None and was != has}


def _change(name: str, before: AuditReport, after: AuditReport) -> FigureChange:
    was, has = (finite(side.structure.get(name)) for side in (before, after))
    if was is None or has is None:
        silent_side = before if was is None else after
        why = next((skip.reason for skip in silent_side.structure_skipped if name in skip.ids), None)
        return FigureChange(id=name, verdict="new" if was is None else "gone", reason=why, before=was, after=has)
    for method, (then, now) in other_methods(before, after).items():
        if name in METHODS[method]:
            return FigureChange(id=name, verdict="not_comparable", reason=f"{method} is {now} now and was {then}", before=was, after=has)
    return FigureChange(id=name, verdict=_verdict(name, was, has), before=was, after=has)


def _verdict(name: str, was: float, has: float) -> ChangeOf:
    if is_equal(was, has):
        return "same"
    way = BETTER.get(name)
    if way is None:
        return "changed"
    return "better" if (has - was) * way > 0 else "worse"
