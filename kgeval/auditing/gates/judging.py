"""One check's hits against limits, waivers and ratchet, while the hits are in hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from kgeval.auditing.check import Outcome
from kgeval.auditing.gates.keys import by_type, recounted
from kgeval.auditing.gates.limits import Limits
from kgeval.auditing.gates.ratchet import allowed, debt_of, known_of
from kgeval.auditing.gates.waivers import Waiver
from kgeval.auditing.identity import are_all
from kgeval.auditing.rulebook import Rule
from kgeval.records import SEVERITIES, Example, Finding, Ratchet, RatchetRule, Severity
from kgeval.stats.thresholds import Threshold


@dataclass(frozen=True)
class Gates:
    """What hits are held against. `limits`: by check or figure, in place of the check's own. `today`: for waivers that end. `remember`:
    keep each check's hits as debt (`Judged.debt`)."""

    limits: Limits = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    ratchet: Ratchet | None = None
    today: date = date.min
    remember: bool = False

    def of(self, rule: Rule) -> tuple[Threshold, ...]:
        """The limits of a check: the user's, or its own."""
        return self.limits.get(rule.id) or (Threshold(rule.id, "<=", rule.threshold, unit="share"),)

    def debt(self, rule_id: str) -> RatchetRule | None:
        """What the ratchet holds of a check."""
        return next((one for one in self.ratchet.rules if one.rule_id == rule_id), None) if self.ratchet else None

    def in_force(self, rule_id: str, group: str) -> list[tuple[int, Waiver]]:
        """The waivers of a check that have not expired, with their places in the list."""
        return [(at, one) for at, one in enumerate(self.waivers) if one.covers(rule_id, group) and not one.expired(self.today)]


@dataclass(frozen=True)
class Judged:
    """What became of a check's hits: all of `count` are suppressed, known, or held against the limits. `examples`: the hits in the order
    held, known, waived. `taken`: hits by the place of the waiver that took them; `matched`: also those that another waiver took. `debt`: if
    it is remembered. `listed`: all hits could be looked at one by one.
    `by_type`: those that are not waived; null where not all are listed."""

    status: Literal["passed", "failed"]
    severity: Severity
    held: int
    suppressed: int
    known: int
    taken: Mapping[int, int]
    matched: Mapping[int, int]
    examples: list[Example]
    by_type: dict[str, int] | None
    note: str | None = None
    debt: RatchetRule | None = None
    listed: bool = True


@dataclass(frozen=True)
class _Sorted:
    """Examples by what becomes of them; of those held `parts` says how many hits of each are known all the same."""

    held: list[Example]
    known: list[Example]
    waived: list[tuple[int, Example]]
    parts: int = 0


def judged(rule: Rule, outcome: Outcome, gates: Gates) -> Judged:
    """The judgement of one check. `outcome.examples`: all of its hits, or as many as could be listed. Unless these are all, only
    waivers of the whole check take hits: of hits that are not listed, or counted twice, nobody can say which are matched."""
    examples = recounted(outcome.examples) if rule.hit == "pairs" else outcome.examples
    listed = are_all(examples, count=outcome.count, total=outcome.examples_total)
    waivers = gates.in_force(rule.id, rule.group)
    left, taken, matched = _waived(rule, examples, [(at, one) for at, one in waivers if listed or one.match is None])
    sorted_ = _known(rule, left, taken, gates, listed=listed)
    if rule.hit == "pairs":
        sorted_ = _pairs(sorted_)
    whole = next((at for at, one in waivers if one.match is None), None)
    hits = _hits(sorted_.waived, outcome.count if whole is not None else None, whole)
    suppressed = sum(hits.values())
    open_ = outcome.count - suppressed
    known = _known_count(rule, sorted_, gates, open_, outcome.total, listed=listed)
    broken = _broken(gates.of(rule), open_ - known, outcome.total)
    debt = debt_of(rule.id, rule.hit, (open_, outcome.total), left, listed=listed or whole is not None) if gates.remember else None
    return Judged(
        "failed" if broken else "passed", worst(broken, rule.severity), open_ - known, suppressed, known,
        {at: n for at, n in sorted(hits.items()) if n}, {**matched, **({whole: outcome.count} if whole is not None else {})},
        _examples(sorted_, gates), by_type([*sorted_.held, *sorted_.known], rule.hit) if listed else None,
        _note(rule, outcome, waivers, gates, listed=listed), debt, listed,
    )


def worst(broken: Sequence[Threshold], own: Severity) -> Severity:
    """The worst severity among the broken limits; the check's own where none is broken."""
    return min((one.severity or own for one in broken), key=SEVERITIES.index, default=own)


def held_value(limit: Threshold, held: int, total: int) -> float | None:
    """What a limit of a check looks at: a number of hits, or their share; null where there is nothing to have a share of."""
    return float(held) if limit.unit == "hits" else held / total if total else None


def silenced(finding: Finding, gates: Gates) -> tuple[Finding, list[int]]:
    """A finding of another report under the first waiver of its whole check, and the places of all such waivers; else as it is."""
    if finding.status not in ("passed", "failed") or not finding.count:
        return finding, []
    found = [(at, one) for at, one in gates.in_force(finding.rule_id, finding.group) if one.match is None]
    if not found:
        return finding, []
    first = found[0][1]
    examples = [example.model_copy(update={"waived": first.reason}) for example in finding.examples]
    update = {"status": "passed", "suppressed": finding.count, "waived": [first.record(hits=finding.count)], "examples": examples}
    return finding.model_copy(update={**update, "by_type": None if finding.by_type is None else {}}), [at for at, _ in found]


def _waived(
    rule: Rule, examples: Sequence[Example], waivers: Sequence[tuple[int, Waiver]],
) -> tuple[list[Example], list[tuple[int, Example]], dict[int, int]]:
    """Examples that no waiver takes; those that one takes, the first in the list, with its place; and what each matches."""
    left: list[Example] = []
    taken: list[tuple[int, Example]] = []
    matched: dict[int, int] = {}
    for example in examples:
        items = example.items[:1] if rule.hit == "first" else example.items
        by = [at for at, one in waivers if one.takes(items)]
        for at in by:
            matched[at] = matched.get(at, 0) + max(1, example.counts)
        if by:
            taken.append((by[0], example))
        else:
            left.append(example)
    return left, taken, matched


def _known(
    rule: Rule, left: list[Example], taken: list[tuple[int, Example]], gates: Gates, *, listed: bool
) -> _Sorted:
    debt = gates.debt(rule.id)
    if gates.ratchet is None or debt is None or debt.keys is None or not listed:
        return _Sorted(left, [], taken)
    known = known_of(debt, rule.hit, left, hashes=gates.ratchet.hashed)
    needed = [1 if rule.hit == "pairs" else example.counts for example in left]
    pairs = list(zip(left, known, needed, strict=True))
    return _Sorted(
        [one for one, n, all_ in pairs if n < all_], [one for one, n, all_ in pairs if n >= all_], taken,
        sum(n for _, n, all_ in pairs if n < all_),
    )


def _pairs(found: _Sorted) -> _Sorted:
    """Pairs share things: what a held pair has is held, then what a known one has is known, and only the rest is waived."""
    counted = recounted([*found.held, *found.known, *(example for _, example in found.waived)])
    first, second = len(found.held), len(found.held) + len(found.known)
    waived = list(zip((at for at, _ in found.waived), counted[second:], strict=True))
    return _Sorted(counted[:first], counted[first:second], waived)


def _hits(waived: Sequence[tuple[int, Example]], whole: int | None, at: int | None) -> dict[int, int]:
    """Hits by the place of the waiver that takes them. `whole`: the count, where waiver `at` takes all that no other takes."""
    hits: dict[int, int] = {}
    for place, example in waived:
        hits[place] = hits.get(place, 0) + example.counts
    if whole is not None and at is not None:
        hits[at] = whole - sum(n for place, n in hits.items() if place != at)
    return hits


def _known_count(rule: Rule, found: _Sorted, gates: Gates, open_: int, total: int, *, listed: bool) -> int:
    debt = gates.debt(rule.id)
    if debt is None:
        return 0
    if debt.keys is None or not listed:
        return min(open_, allowed(debt, total))
    return min(open_, sum(example.counts for example in found.known) + found.parts)


def _broken(limits: Sequence[Threshold], held: int, total: int) -> list[Threshold]:
    """The limits that so many hits break; without hits none is broken."""
    values = [(limit, held_value(limit, held, total)) for limit in limits]
    return [limit for limit, value in values if held and (value is None or not limit.met(value))]


def _examples(found: _Sorted, gates: Gates) -> list[Example]:
    known = [example.model_copy(update={"known": True}) for example in found.known]
    return [*found.held, *known, *(one.model_copy(update={"waived": gates.waivers[at].reason}) for at, one in found.waived)]


def _note(rule: Rule, outcome: Outcome, waivers: Sequence[tuple[int, Waiver]], gates: Gates, *, listed: bool) -> str | None:
    """What the count leaves out, and how far waivers and ratchet could look."""
    parts = [outcome.note] if outcome.note else []
    if not listed and any(one.match is not None for _, one in waivers):
        parts.append(f"waivers with a match take nothing here: not each of the {outcome.count:,} hits is listed")
    debt = gates.debt(rule.id)
    if debt is not None and outcome.count and (debt.keys is None or not listed):
        parts.append(f"too many hits to be told apart, or hits without lasting names: only a larger share than {debt.count:,} of "
                     f"{debt.total:,} is worse")
    return "; ".join(parts) or None
