"""One check's hits against limits, waivers and ratchet, while the hits are in hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from kgeval.auditing.check import CheckOutcome
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
        return next((rule for rule in self.ratchet.rules if rule.rule_id == rule_id), None) if self.ratchet else None

    def in_force(self, rule_id: str, group: str) -> list[tuple[int, Waiver]]:
        """The waivers of a check that have not expired, with their places in the list."""
        return [(i, waiver) for i, waiver in enumerate(self.waivers) if waiver.covers(rule_id, group) and not waiver.expired(self.today)]


@dataclass(frozen=True)
class CheckJudgement:
    """What became of a check's hits: all of `count` are suppressed, known, or held against the limits. `examples`: the hits in the order
    held, known, waived. `taken`: hits by the place of the waiver that took them; `matched`: also those that another waiver took. `debt`: if
    it is remembered. `listed`: all hits could be looked at one by one.
    `by_type`: those that are not waived; None where not all are listed."""

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


def judged(rule: Rule, outcome: CheckOutcome, gates: Gates, *, explained: Sequence[Example] = ()) -> CheckJudgement:
    """The judgement of one check. `outcome.examples`: all of its hits, or as many as could be listed. Unless these are all, only
    waivers of the whole check take hits: of hits that are not listed, or counted twice, nobody can say which are matched. `explained`: more
    hits, which another check explains; they are debt all the same, for an audit without that check counts them."""
    pairs = rule.hit == "pairs"
    examples = recounted(outcome.examples) if pairs else outcome.examples
    listed = are_all(examples, count=outcome.count, total=outcome.examples_total)
    waivers, debt = gates.in_force(rule.id, rule.group), gates.debt(rule.id)
    held: list[Example] = []
    waived: list[tuple[int, Example]] = []  # with the place of the first waiver in the list that takes it
    matched: Counter[int] = Counter()
    for example in examples:
        items = example.items[:1] if rule.hit == "first" else example.items
        by = [place for place, waiver in waivers if (listed or waiver.match is None) and waiver.takes(items)]
        for place in by:
            matched[place] += max(1, example.counts)
        if by:
            waived.append((by[0], example))
        else:
            held.append(example)
    left, known, partly = held, list[Example](), 0  # partly: hits that are known, of examples of which not all are
    if gates.ratchet is not None and debt is not None and debt.keys is not None and listed:
        counts = known_of(debt, rule.hit, left, hashes=gates.ratchet.hashed)
        sorted_ = [(example, n, n >= (1 if pairs else example.counts)) for example, n in zip(left, counts, strict=True)]
        known = [example for example, _, whole in sorted_ if whole]
        held = [example for example, _, whole in sorted_ if not whole]
        partly = sum(n for _, n, whole in sorted_ if not whole)
    if pairs:  # they share things: what a held pair has is held, then what a known one has is known, and only the rest is waived
        counted = recounted([*held, *known, *(example for _, example in waived)])
        first, second = len(held), len(held) + len(known)
        held, known = counted[:first], counted[first:second]
        waived = list(zip((place for place, _ in waived), counted[second:], strict=True))
    hits: Counter[int] = Counter()
    for place, example in waived:
        hits[place] += example.counts
    whole_check = next((place for place, waiver in waivers if waiver.match is None), None)  # it takes all that no other takes
    if whole_check is not None:
        hits[whole_check] = outcome.count - sum(n for place, n in hits.items() if place != whole_check)
        matched[whole_check] = outcome.count
    suppressed = sum(hits.values())
    unwaived = outcome.count - suppressed
    by_keys = listed and debt is not None and debt.keys is not None
    in_debt = sum(example.counts for example in known) + partly if by_keys else allowed(debt, outcome.total) if debt else 0
    known_count = min(unwaived, in_debt)
    failing = unwaived - known_count
    values = [(limit, held_value(limit, failing, outcome.total)) for limit in gates.of(rule)]
    broken = [limit for limit, value in values if failing and (value is None or not limit.met(value))]
    shown = [*held, *(entry.model_copy(update={"known": True}) for entry in known)]
    return CheckJudgement(
        status="failed" if broken else "passed", severity=worst(broken, rule.severity), held=failing, suppressed=suppressed,
        known=known_count, taken={place: n for place, n in sorted(hits.items()) if n}, matched=matched,
        examples=[*shown, *(entry.model_copy(update={"waived": gates.waivers[place].reason}) for place, entry in waived)],
        by_type=by_type([*held, *known], rule.hit) if listed else None,
        note=_note(outcome, [waiver for _, waiver in waivers], debt, listed=listed), listed=listed,
        debt=debt_of(
            rule.id, rule.hit, (unwaived + sum(example.counts for example in explained), outcome.total), [*left, *explained],
            listed=listed or whole_check is not None,
        )
        if gates.remember else None,
    )


def worst(broken: Sequence[Threshold], own: Severity) -> Severity:
    """The worst severity among the broken limits; the check's own where none is broken."""
    return min((limit.severity or own for limit in broken), key=SEVERITIES.index, default=own)


def held_value(limit: Threshold, held: int, total: int) -> float | None:
    """What a limit of a check looks at: a number of hits, or their share; None where there is nothing to have a share of."""
    return float(held) if limit.unit == "hits" else held / total if total else None


def silenced(finding: Finding, gates: Gates) -> tuple[Finding, list[int]]:
    """A finding of another report under the first waiver of its whole check, and the places of all such waivers; else as it is."""
    if finding.status not in ("passed", "failed") or not finding.count:
        return finding, []
    waivers = [(place, waiver) for place, waiver in gates.in_force(finding.rule_id, finding.group) if waiver.match is None]
    if not waivers:
        return finding, []
    first = waivers[0][1]
    examples = [example.model_copy(update={"waived": first.reason}) for example in finding.examples]
    update = {"status": "passed", "suppressed": finding.count, "waived": [first.record(hits=finding.count)], "examples": examples}
    return finding.model_copy(update={**update, "by_type": None if finding.by_type is None else {}}), [place for place, _ in waivers]


def _note(outcome: CheckOutcome, waivers: Sequence[Waiver], debt: RatchetRule | None, *, listed: bool) -> str | None:
    """What the count leaves out, and how far waivers and ratchet could look."""
    parts = [outcome.note] if outcome.note else []
    if not listed and any(waiver.match is not None for waiver in waivers):
        parts.append(f"waivers with a match take nothing here: not each of the {outcome.count:,} hits is listed")
    if debt is not None and outcome.count and (debt.keys is None or not listed):
        parts.append(f"too many hits to be told apart, or hits without lasting names: only a larger share than {debt.count:,} of "
                     f"{debt.total:,} is worse")
    return "; ".join(parts) or None
