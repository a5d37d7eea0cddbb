"""Which gold names come near a name, without comparing all with all, and without losing one. Pure.

token_sort_ratio is the Indel similarity of two names whose tokens are sorted: 1 - e / (n + m), e the letters to delete and
insert. So a threshold t allows d = (1 - t)(n + m) edits. A gold name is cut into d + 1 pieces (the pigeonhole principle, as in
Pass-Join: Li, Deng, Wang, Feng 2011). Give every edit to the piece in which it falls, an insertion between two pieces to the left
one. Going from left to right, edits so far less pieces so far starts at 0, ends below 0, and falls by at most 1 a piece: so some
piece i has no edit itself and exactly i edits before it, and at most d - i follow. It stands unchanged in the other name, shifted
by insertions less deletions before it: one of -i, -i + 2, ..., i, and what is left of the difference in length is at most d - i.
An index of whole tokens would lose every pair without a common token ("Johanson" / "Johansson"); this one loses nothing that the
threshold allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

LONGEST_KEY = 5  # letters; more would part pieces of nearly equal length into more look-ups, fewer give more wrong candidates


@dataclass(frozen=True, slots=True)
class _Window:
    """A stretch of a name, and the gold names (numbers) that have a given text as a piece that may stand there."""

    start: int
    end: int
    at: Callable[[str], tuple[int, ...] | None]


class FuzzyIndex:
    """Gold names (normalised) by pieces. `threshold`: token_sort_ratio, 70..100 (below, a name could have no unchanged piece)."""

    def __init__(self, names: Sequence[str], threshold: float) -> None:
        self._threshold = threshold
        self._names: dict[str, list[int]] = {}
        for number, name in enumerate(names):
            if name:
                self._names.setdefault(sorted_tokens(name), []).append(number)
        self._texts = list(self._names)
        self._numbers = list(self._names.values())
        self._lengths: dict[int, list[int]] = {}
        for at, name in enumerate(self._texts):
            self._lengths.setdefault(len(name), []).append(at)
        self._windows: dict[int, list[_Window]] = {}

    def near(self, name: str) -> Iterator[tuple[int, float]]:
        """Number and token_sort_ratio (threshold..100) of every gold name that reaches the threshold with `name` (normalised)."""
        from rapidfuzz.fuzz import ratio

        probe = sorted_tokens(name)
        for at in self._candidates(probe):
            score = ratio(probe, self._texts[at], score_cutoff=self._threshold)
            if score >= self._threshold:
                yield from ((number, score) for number in self._numbers[at])

    def _candidates(self, probe: str) -> set[int]:
        found: set[int] = set()
        windows = self._windows.get(len(probe))
        if windows is None:
            windows = self._windows[len(probe)] = self._windows_of(len(probe))
        for window in windows:
            numbers = window.at(probe[window.start: window.end])
            if numbers is not None:
                found.update(numbers)
        return found

    def _windows_of(self, length: int) -> list[_Window]:
        """Where the pieces of every gold name that a name of this length can reach may stand; made when such a name first comes."""
        tables: dict[tuple[int, int], dict[str, list[int]]] = {}
        for own, members in self._lengths.items():
            edits = most_edits(own, length, self._threshold)
            for piece, (start, piece_end) in enumerate(_cuts(own, edits + 1)):
                end = min(piece_end, start + LONGEST_KEY)  # of a piece that stands unchanged, its beginning does too
                for shift in _shifts(piece, edits, length - own):
                    if start + shift < 0 or piece_end + shift > length:
                        continue
                    table = tables.setdefault((start + shift, end + shift), {})
                    for at in members:
                        table.setdefault(self._texts[at][start:end], []).append(at)
        return [_Window(*place, {text: tuple(numbers) for text, numbers in tables[place].items()}.get) for place in sorted(tables)]


def sorted_tokens(name: str) -> str:
    """The name's tokens in alphabetical order, as token_sort_ratio compares them."""
    return " ".join(sorted(name.split()))


def most_edits(n: int, m: int, threshold: float) -> int:
    """The most deletions and insertions between names of n and m letters that keep the ratio at the threshold; -1 if none do.

    The number of edits has the parity of m - n.
    """
    allowed = int((n + m) * (1 - threshold / 100) + 1e-9)
    edits = allowed - (allowed - abs(m - n)) % 2
    return edits if edits >= abs(m - n) else -1


def _shifts(piece: int, edits: int, longer: int) -> list[int]:
    """How far a piece without an edit may be shifted if exactly `piece` of the edits stand before it; `longer`: m - n."""
    return [shift for shift in range(-piece, piece + 1, 2) if abs(longer - shift) <= edits - piece]


def _cuts(length: int, parts: int) -> list[tuple[int, int]]:
    """Borders of `parts` pieces of nearly equal length; none for 0 parts. From a threshold of 70 on there are letters enough."""
    return [(length * k // parts, length * (k + 1) // parts) for k in range(parts)]
