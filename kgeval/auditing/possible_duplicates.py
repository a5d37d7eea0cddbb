"""What may be one thing: the hits of all checks of duplicates as one list, the surest first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from kgeval.names import compare_names
from kgeval.records import Finding, GraphRef

Certainty = Literal["sure", "likely", "possible"]
ORDER: tuple[Certainty, ...] = ("sure", "likely", "possible")
BY_MORE_THAN_NAMES = frozenset(("same-record",))  # checks that found values which two things hardly share
MOST = 20  # of one group; each pair is compared


@dataclass(frozen=True)
class PossibleDuplicate:
    """Things that may be one. `certainty`: sure where each two have one name and one type; likely where their names mostly say one thing,
    or a record has the same values; possible else. `checks`: those that found it; `why`: what each of them says."""

    items: tuple[GraphRef, ...]
    certainty: Certainty
    checks: tuple[str, ...]
    why: tuple[str, ...]


def possible_duplicates(findings: Iterable[Finding]) -> list[PossibleDuplicate]:
    """What the listed examples of failed checks of duplicates hold, waived ones left out; what several checks found stands once."""
    found: dict[frozenset[tuple[str | None, str, str | None]], list[tuple[str, Sequence[GraphRef], str]]] = {}
    for finding in findings:
        if finding.group == "duplicates" and finding.status == "failed":
            for example in finding.examples:
                things = [item for item in example.items if item.kind == "entity"]
                if example.waived is None and len(things) > 1:
                    key = frozenset((item.element_id, item.name, item.type) for item in things)
                    found.setdefault(key, []).append((finding.rule_id, things, example.why or ""))
    rows = [_duplicate(hits) for hits in found.values()]
    return sorted(rows, key=lambda row: (ORDER.index(row.certainty), -len(row.checks), row.items[0].name.casefold()))


def _duplicate(hits: Sequence[tuple[str, Sequence[GraphRef], str]]) -> PossibleDuplicate:
    items = tuple(hits[0][1])
    checks = tuple(dict.fromkeys(check for check, _, _ in hits))
    whys = tuple(dict.fromkeys(why for _, _, why in hits if why))
    return PossibleDuplicate(items, _certainty(items, checks), checks, whys)


def _certainty(items: Sequence[GraphRef], checks: Sequence[str]) -> Certainty:
    types = {item.type for item in items}
    pairs = combinations(items[:MOST], 2)
    certainties = {compare_names(a.name, b.name, type=next(iter(types)) if len(types) == 1 else None).certainty for a, b in pairs}
    if certainties == {"sure"} and len(types) == 1 and len(items) <= MOST:
        return "sure"
    return "likely" if certainties <= {"sure", "likely"} or BY_MORE_THAN_NAMES & {*checks} else "possible"
