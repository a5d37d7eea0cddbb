"""Which items people see: a sample stratified by type and difficulty, dealt evenly, with the order of answers exchanged. All by a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

from kgeval.errors import UsageError
from kgeval.records import LabelScope, SheetItem
from kgeval.stats.sampling import random_number

if TYPE_CHECKING:
    from kgeval.comparison.people.dimensions import Shown
    from kgeval.records import Answer, Question, Row, Score

UNKNOWN = "no type"
BANDS = ("near", "apart", "far apart")
NO_CONTEXTS, NO_REFERENCE = "answers whose retrieved texts are not known", "answers to questions without a right answer"


@dataclass(frozen=True)
class DrawnItems:
    """The items of a run by id, in a random order; annotator -> their items in their order; annotator -> item -> system that stands first.

    `of`: how many could have been drawn; `strata`: items drawn and of how many, by stratum; `left_out`: answers that are errors, and
    further answers of a system to a question."""

    scope: LabelScope
    items: dict[str, SheetItem]
    dealt: dict[str, list[str]]
    first: dict[str, dict[str, str]]
    of: int
    strata: dict[str, tuple[int, int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DrawSettings:
    """How to draw. `n`: items at most; `per_item`: people an item; `share`: of all items, rounded, one at least; `needs`: answers that lack
    these are left out. Raises: UsageError where there are fewer annotators than that."""

    scope: LabelScope
    n: int
    annotators: tuple[str, ...]
    per_item: int = 3
    seed: int = 0
    share: float | None = None
    needs: frozenset[Shown] = frozenset()

    def __post_init__(self) -> None:
        if self.per_item > len(self.annotators):
            raise UsageError(
                f"{self.per_item} people an item need as many annotators, there are {len(self.annotators)}",
                fix="give more --annotators, or a smaller --per-item",
            )

    def size(self, of: int) -> int:
        """How many items are drawn of so many."""
        return min(self.n, of if self.share is None else max(1, round(self.share * of)))


Spread = Callable[[str, Sequence[str]], float | None]


def drawn(rows: Iterable[Row], wanted: DrawSettings, spread: Spread | None = None) -> DrawnItems:
    """A sample of the rows. `spread`: (question id, systems) -> how far apart their scores lie (of one answer: its score), for difficulty
    where questions have no hops. Raises: UsageError where there is nothing to draw from."""
    left_out: Counter[str] = Counter()
    candidates = _candidates(rows, wanted, spread, left_out)
    if not candidates:
        what = "no question has answers of two systems" if wanted.scope == "pairs" else "there is no answer"
        why = "".join(f"; left out: {n:,} {reason}" for reason, n in left_out.items())
        fixes = {
            "give the answers of two systems, or --of answers for single ones": wanted.scope == "pairs",
            "give answers with what was retrieved for them, or other --aspects": NO_CONTEXTS in left_out,
            "give questions with right answers, or other --aspects": NO_REFERENCE in left_out,
        }
        fix = "; ".join(fix for fix, fits in fixes.items() if fits) or "give answers that are no errors"
        raise UsageError(f"nothing can be labelled: {what}{why}", fix=fix)
    chosen, strata = _sample(candidates, wanted)
    items = {f"i{number:0{max(3, len(str(len(chosen))))}d}": item for number, item in enumerate(chosen, start=1)}
    dealt = _deal(list(items), wanted)
    first = {who: _firsts(names, items, wanted.seed, who) for who, names in dealt.items()}
    return DrawnItems(wanted.scope, items, dealt, first, len(candidates), strata, dict(left_out))


def _candidates(rows: Iterable[Row], wanted: DrawSettings, spread: Spread | None, left_out: Counter[str]) -> list[SheetItem]:
    """Every item that could be drawn, without texts."""
    systems: dict[str, dict[str, int | None]] = {}
    questions: dict[str, Question] = {}
    for row in rows:
        name, system = row.question.id, row.answer.system
        if (why := unfit(row, wanted.needs)) is not None:
            left_out[why] += 1
        elif system in systems.setdefault(name, {}):
            left_out["further answers of a system to a question"] += 1
        else:
            systems[name][system] = row.answer.trial
            questions.setdefault(name, row.question.model_copy(update={"evidence": [], "extra": {}}))
    size = 2 if wanted.scope == "pairs" else 1
    groups = [(questions[name], group, trials[group[0]]) for name, trials in systems.items() for group in combinations(trials, size)]
    difficulty = _difficulty([(question, group) for question, group, _ in groups], spread)
    return [
        SheetItem(
            question_id=question.id, systems=list(group), dataset=question.dataset,
            level=question.level or ", ".join(question.kinds) or None, difficulty=hard, trial=trial,
        )
        for (question, group, trial), hard in zip(groups, difficulty, strict=True)
    ]


def context_texts(answer: Answer) -> tuple[str, ...] | None:
    """The retrieved texts, none where nothing was retrieved; None where they are not known, or known by their ids alone."""
    return None if answer.contexts is None or (answer.contexts and not answer.context_texts) else answer.context_texts


def unfit(row: Row, needs: Collection[Shown]) -> str | None:
    """Why nobody can judge an answer, as it is counted; None where one can."""
    if row.answer.error is not None:
        return "answers that are errors"
    if "contexts" in needs and context_texts(row.answer) is None:
        return NO_CONTEXTS
    if "reference" in needs and not row.question.right_answers:
        return NO_REFERENCE
    return None


def _difficulty(groups: Sequence[tuple[Question, tuple[str, ...]]], spread: Spread | None) -> list[str | None]:
    """Hops where a question has them; else the third in which the spread of scores lies, near answers being hard to tell apart."""
    widths = [None if spread is None or question.hops is not None else spread(question.id, group) for question, group in groups]
    sorted_widths = sorted(width for width in widths if width is not None)
    cuts = [sorted_widths[len(sorted_widths) * third // 3] for third in (1, 2)] if len(sorted_widths) >= 3 else []
    bands = [BANDS[sum(width >= cut for cut in cuts)] if width is not None and cuts else None for width in widths]
    return [
        band if question.hops is None else "1 hop" if question.hops == 1 else f"{question.hops} hops"
        for (question, _), band in zip(groups, bands, strict=True)
    ]


def _sample(candidates: Sequence[SheetItem], wanted: DrawSettings) -> tuple[list[SheetItem], dict[str, tuple[int, int]]]:
    strata: dict[str, list[SheetItem]] = {}
    for item in candidates:
        name = " / ".join((item.level or item.dataset or UNKNOWN, *([item.difficulty] if item.difficulty else [])))
        strata.setdefault(name, []).append(item)
    quotas = shares({name: len(items) for name, items in strata.items()}, wanted.size(len(candidates)))
    chosen, counts = [], dict[str, tuple[int, int]]()
    for name, items in sorted(strata.items()):
        order = sorted(items, key=lambda item: random_number(wanted.seed, "item", item.question_id, *item.systems))
        chosen += order[: quotas[name]]
        counts[name] = (quotas[name], len(items))
    chosen.sort(key=lambda item: random_number(wanted.seed, "order", item.question_id, *item.systems))
    return chosen, counts


def shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """`n` items over strata in proportion to their sizes: largest remainders, at least one from each where `n` is enough, never more than
    there are."""
    total = sum(sizes.values())
    exact = {name: n * size / total for name, size in sizes.items()}
    least = 1 if n >= len(sizes) else 0
    quotas = {name: max(least, int(exact[name])) for name in sizes}
    # rounding down leaves some over; the least of one each may have given out too many
    while (left := n - sum(quotas.values())) != 0:
        step = 1 if left > 0 else -1
        open_ = [name for name in sizes if (quotas[name] < sizes[name] if step > 0 else quotas[name] > least)]
        best = max(open_, key=lambda name: (step * (exact[name] - quotas[name]), name))
        quotas[best] += step
    return quotas


def _deal(names: Sequence[str], wanted: DrawSettings) -> dict[str, list[str]]:
    """Each item to `per_item` people, those with the least so far; ties by the seed. Loads differ by one at most."""
    rng = Random(f"{wanted.seed} deal")  # noqa: S311 - a sample that can be drawn again, no secret
    dealt: dict[str, list[str]] = {who: [] for who in wanted.annotators}
    for name in names:
        order = sorted(dealt, key=lambda who: (len(dealt[who]), rng.random()))
        for who in order[: wanted.per_item]:
            dealt[who].append(name)
    for who, own in dealt.items():
        Random(f"{wanted.seed} shuffle {who}").shuffle(own)  # noqa: S311
    return dealt


def _firsts(names: Sequence[str], items: Mapping[str, SheetItem], seed: int, who: str) -> dict[str, str]:
    """Whose answer stands first: by turns within each pair of systems, so that half of a person's items have either order."""
    rng = Random(f"{seed} first {who}")  # noqa: S311
    # by pair of systems first: taking turns over all items could give one pair one order only
    order = sorted(names, key=lambda name: (items[name].systems, rng.random()))
    start = rng.randrange(2)
    return {name: items[name].systems[(start + number) % len(items[name].systems)] for number, name in enumerate(order)}


def spread_of(scores: Iterable[Score]) -> Spread:
    """How far apart the scores of two answers to a question lie: the mean over metrics of the difference; of one answer: its mean score."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        if score.value is not None:
            values.setdefault((score.question_id, score.system), {})[score.metric] = score.value

    def of(question: str, systems: Sequence[str]) -> float | None:
        sides = [values.get((question, system), {}) for system in systems]
        common = sorted(set.intersection(*(set(side) for side in sides)))
        if not common:
            return None
        return sum(abs(sides[0][name] - (sides[1][name] if len(sides) > 1 else 0)) for name in common) / len(common)

    return of
