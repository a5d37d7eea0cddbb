"""Causes: checks whose hits are behind the hits of others. What a cause explains is taken out of the other findings, and said there.

A name that is a piece of JSON stands in no text, and an entity of a prompt's example is linked to nothing: each is one fault, told once.
The checks that are causes run first (`Rule.explains`); a finding that one of them explains counts what is left, and says how many more
there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from kgeval.auditing.check import CheckOutcome
from kgeval.auditing.gates.keys import recounted
from kgeval.auditing.identity import are_all
from kgeval.auditing.rulebook import Rule
from kgeval.records import Example, GraphRef

EVERY = "*"  # in `Rule.explains`: whatever is a hit, for the thing itself is to go


@dataclass(frozen=True)
class Explained:
    """A check's outcome without what causes explain. `by`: hits taken out, by the cause's id; `hits`: where they showed."""

    outcome: CheckOutcome
    by: Mapping[str, int] = field(default_factory=dict)
    hits: Sequence[Example] = ()


@dataclass(frozen=True)
class _Cause:
    rule: Rule
    things: frozenset[str]
    listed: bool

    def explains(self, rule: Rule) -> bool:
        return rule.id != self.rule.id and bool({rule.id, EVERY} & {*self.rule.explains})

    def left_of(self, example: Example, rule: Rule) -> Example | None:
        """What is left of an example without what this cause explains; None where it explains all of it."""
        items = example.items[:1] if rule.hit == "first" else example.items
        other = [item for item in items if _thing(item) not in self.things]
        if not items or len(other) == len(items):
            return example
        if rule.hit == "items":
            taken = len(items) - len(other)
            return example.model_copy(update={"items": other, "counts": example.counts - taken}) if other else None
        if rule.hit == "group":  # like names: one is the thing, the others are its wrong forms; of wrong forms alone nothing is explained
            return None if len(other) == 1 or (not other and EVERY in self.rule.explains) else example
        return None


class Causes:
    """The causes that an audit has found so far. They are all added before another check asks."""

    def __init__(self) -> None:
        self._found: list[_Cause] = []

    def add(self, rule: Rule, outcome: CheckOutcome) -> None:
        """Takes the hits of a cause in; of any other check nothing."""
        if rule.explains and outcome.count:
            shown = (example.items[:1] if rule.hit == "first" else example.items for example in outcome.examples)
            things = frozenset((*map(_thing, chain.from_iterable(shown)), *outcome.covers))
            listed = are_all(outcome.examples, count=outcome.count, total=outcome.examples_total)
            self._found.append(_Cause(rule, things, listed))

    def take_out(self, rule: Rule, outcome: CheckOutcome) -> Explained:
        """The outcome of a check without the hits that causes explain. Where not each hit of both is listed none is taken, and the note
        says so: of hits that are not listed nobody can say what they are."""
        by: dict[str, int] = {}
        taken: list[Example] = []
        for cause in self._found:
            if not outcome.count or not cause.explains(rule) or rule.hit == "share":
                continue
            unlisted = cause.rule.id if not cause.listed else rule.id if not _lists_all(rule, outcome) else None
            if unlisted is not None:
                why = f"what {cause.rule.id} explains of it is not taken out: not each hit of {unlisted} is listed"
                outcome = replace(outcome, note="; ".join(filter(None, [outcome.note, why])))
                continue
            left = [(example, cause.left_of(example, rule)) for example in outcome.examples]
            without = _counted(outcome, rule, [rest for _, rest in left if rest is not None])
            if without.count < outcome.count:
                by[cause.rule.id] = outcome.count - without.count
                taken += _taken(left)
                outcome = without
        return Explained(outcome, by, taken)


def _lists_all(rule: Rule, outcome: CheckOutcome) -> bool:
    examples = recounted(outcome.examples) if rule.hit == "pairs" else outcome.examples
    return are_all(examples, count=outcome.count, total=outcome.examples_total)


def _counted(outcome: CheckOutcome, rule: Rule, examples: Sequence[Example]) -> CheckOutcome:
    left = recounted(examples) if rule.hit == "pairs" else list(examples)
    total = None if outcome.examples_total is None else len(left)
    return replace(outcome, count=sum(example.counts for example in left), examples=left, examples_total=total)


def _taken(left: Sequence[tuple[Example, Example | None]]) -> Iterator[Example]:
    for example, rest in left:
        if rest is None:
            yield example
        elif rest is not example:
            kept = {_thing(item) for item in rest.items}
            items = [item for item in example.items if _thing(item) not in kept]
            yield example.model_copy(update={"items": items, "counts": example.counts - rest.counts})


def _thing(item: GraphRef) -> str:
    return item.element_id or f"{item.kind}:{item.key}"
