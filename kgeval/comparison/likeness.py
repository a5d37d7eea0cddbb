"""What must be said of two systems' answers before a judge is believed about them: they are the same texts, or of different languages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from kgeval.text.language import Written, written_in

LOOKED_AT = 50  # questions of a pair
NAMED = 3  # pairs in one note
SAME = 0.5  # share of equal answers from which on it is said
Seen = Callable[[str, str, int], Iterable[tuple[str, str]]]  # (a, b, at most) -> the marks of both answers, a question each


def likeness(pairs: Sequence[tuple[str, str]], seen: Seen, text: Callable[[str], str | None]) -> Iterator[str]:
    """Notes on the first LOOKED_AT questions of each pair. `text`: mark -> the answer as it was judged."""
    @lru_cache(4 * LOOKED_AT)
    def written(mark: str) -> Written:
        return written_in(text(mark) or "")

    same, mixed = [], []
    for a, b in pairs:
        marks = list(seen(a, b, LOOKED_AT))
        equal = sum(one == other for one, other in marks)
        if marks and equal >= SAME * len(marks):
            same.append(f"{a} and {b} ({equal} of {len(marks)})")
        unlike = [(one, other) for one, other in marks if one != other and written(one).unlike(written(other))]
        if unlike:
            names = " and ".join(written(mark).name for mark in unlike[0])
            mixed.append(f"{a} and {b} ({names} in {len(unlike)} of {len(marks)} questions)")
    if same:
        yield f"the same answers, word for word: {_named(same)}: what a judge says of these is about himself"
    if mixed:
        yield (
            f"answers seem to be in different languages: {_named(mixed)}: a judge may favour one of them, and words are counted by the "
            "rules of each script"
        )


def _named(items: Sequence[str]) -> str:
    more = f" and {len(items) - NAMED} pairs more" if len(items) > NAMED else ""
    return "; ".join(items[:NAMED]) + more
