"""Asks a model about the sample: tagged items, a passage is read once for all its items. What fails is unscored, with its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from kgeval.auditing.accuracy.sample import SampleItem
from kgeval.auditing.graph_reader import batched
from kgeval.llm.calls import Outcome, Reply, Tagged, Task
from kgeval.llm.prompts import Prompt
from kgeval.llm.tags import item_tags
from kgeval.records import AccuracyKind

MOST_ITEMS = 20  # in one call: a passage is read once for all its items
MOST_PAIRS = 5  # pairs share no passage: each brings what the graph knows of two entities
PROMPTS: dict[AccuracyKind, str] = {"relations": "judge-triples", "entities": "judge-entities", "duplicates": "judge-duplicates"}
LABELS: dict[AccuracyKind, tuple[str, ...]] = {
    "relations": ("entailed", "contradicted", "not_stated"),
    "entities": ("right", "wrong_type", "not_an_entity"),
    "duplicates": ("same", "different"),
}


class TripleVerdict(Tagged):
    """What the judge says of one relation."""

    reason: str
    label: Literal["entailed", "contradicted", "not_stated"]
    redundant: bool
    irrelevant: bool


class TripleVerdicts(Reply):
    """One verdict a relation."""

    items: list[TripleVerdict]


class EntityVerdict(Tagged):
    """What the judge says of one entity."""

    reason: str
    label: Literal["right", "wrong_type", "not_an_entity"]


class EntityVerdicts(Reply):
    """One verdict an entity."""

    items: list[EntityVerdict]


class PairVerdict(Tagged):
    """What the judge says of one suspected pair."""

    reason: str
    label: Literal["same", "different"]


class PairVerdicts(Reply):
    """One verdict a pair."""

    items: list[PairVerdict]


Verdicts = TripleVerdicts | EntityVerdicts | PairVerdicts
REPLIES: dict[AccuracyKind, type[TripleVerdicts] | type[EntityVerdicts] | type[PairVerdicts]] = {
    "relations": TripleVerdicts, "entities": EntityVerdicts, "duplicates": PairVerdicts,
}


@dataclass(frozen=True)
class ItemJudgement:
    """One item's verdict; `label` None: unscored, `cause` says why. `call`: the journal key of the reply."""

    id: str
    label: str | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    cause: str | None = None
    call: str | None = None


@dataclass(frozen=True)
class JudgeBatch:
    """Items that are asked about in one call, and its task."""

    items: tuple[SampleItem, ...] = field(repr=False)
    task: Task[Verdicts]


def batches(items: Iterable[SampleItem], kind: AccuracyKind, prompt: Prompt) -> list[JudgeBatch]:
    """The calls to make: items that share a home passage together, at most `MOST_ITEMS` a call (pairs: `MOST_PAIRS`)."""
    grouped: dict[str, list[SampleItem]] = {}
    for item in items:
        grouped.setdefault("" if kind == "duplicates" else item.home, []).append(item)
    most = MOST_PAIRS if kind == "duplicates" else MOST_ITEMS
    calls = []
    for part in (part for group in grouped.values() for part in batched(group, most)):
        slots: dict[str, JsonValue] = {}
        shown = tuple(item.shown for item in part)
        if kind != "duplicates":
            slots["passages"] = _passages(part, item_tags(shown))
        if kind == "relations":
            slots["beside"] = _beside(part)
        task: Task[Verdicts] = Task(
            id=part[0].id, prompt=prompt, slots=slots, reply=REPLIES[kind], items=shown, stage=f"accuracy-{kind}",
        )
        calls.append(JudgeBatch(tuple(part), task))
    return calls


def _passages(items: list[SampleItem], tags: Sequence[str]) -> JsonValue:
    """Each passage once, with the tags of the items that it belongs to."""
    owners: dict[tuple[str, str], list[str]] = {}
    for tag, item in zip(tags, items, strict=True):
        for passage in item.passages:
            owners.setdefault((passage.chunk_id or "", passage.text), []).append(tag)
    return [
        {"for_items": "all" if len(own) == len(items) else list[JsonValue](own), "text": text}
        for (_, text), own in owners.items()
    ]


def _beside(items: list[SampleItem]) -> JsonValue:
    """What the graph says beside the items, without the items themselves; a parallel relation of one of them stays."""
    seen: Counter[str] = Counter()
    for item in items:
        # the union of two Counters takes the larger count: a line that several items see stands once, parallel relations stay several
        seen |= Counter([*item.beside, item.ref.name])
    return list(seen - Counter(item.ref.name for item in items))


def verdicts(asked: Iterable[JudgeBatch], outcomes: Iterable[Outcome[Verdicts]]) -> Iterator[ItemJudgement]:
    """One verdict an item, in the order of the batches. An item without an answer is unscored with the cause."""
    for batch, outcome in zip(asked, outcomes, strict=True):
        for number, item in enumerate(batch.items, start=1):
            answer: TripleVerdict | EntityVerdict | PairVerdict | None = outcome.answers.get(number)
            if answer is None:
                failure = outcome.missing.get(number, outcome.failure)
                cause = failure.cause if failure else "missing_item"
                yield ItemJudgement(item.id, cause=cause, reason=failure.detail if failure else "")
            else:
                call = outcome.calls[-1] if outcome.calls else None
                yield ItemJudgement(item.id, answer.label, answer.reason.strip()[:1000], _flags(answer), call=call)


def _flags(answer: TripleVerdict | EntityVerdict | PairVerdict) -> tuple[str, ...]:
    """Flags of an entailed relation; of others they mean nothing."""
    if not isinstance(answer, TripleVerdict) or answer.label != "entailed":
        return ()
    return tuple(name for name, is_set in (("redundant", answer.redundant), ("irrelevant", answer.irrelevant)) if is_set)
