"""Which gold names come near a name, without comparing all with all, and without losing one. Pure.

token_sort_ratio is the Indel similarity of two names whose tokens are sorted: 1 - d / (n + m), d the letters to delete and
insert. So a threshold t allows d <= (1 - t)(n + m). A gold name is cut into d + 1 pieces: d edits can touch d of them, one piece
stands unchanged in the other name, shifted by at most the insertions or deletions before it (the pigeonhole principle, as in
Pass-Join: Li, Deng, Wang, Feng 2011). An index of whole tokens would lose every pair without a common token ("Johanson" /
"Johansson"); this one loses nothing that the threshold allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST_KEY = 5  # letters; fewer different lengths are fewer look-ups, fewer letters are more wrong candidates
Posting = tuple[int, int, int]  # number of the gold name, first and last place where its piece may stand


@dataclass(frozen=True)
class _Pieces:
    """The pieces of all gold names that a name of one length can be near to. `sizes`: lengths of pieces."""

    sizes: tuple[int, ...] = ()
    postings: dict[str, list[Posting]] = field(default_factory=dict)


class FuzzyIndex:
    """Gold names (normalised) by pieces. `threshold`: token_sort_ratio, 0..100 exclusive of 0."""

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
        self._pieces: dict[int, _Pieces] = {}

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
        pieces = self._pieces.get(len(probe))
        if pieces is None:
            pieces = self._pieces[len(probe)] = self._cut_for(len(probe))
        get = pieces.postings.get
        for size in pieces.sizes:
            for place in range(len(probe) - size + 1):
                for at, first, last in get(probe[place: place + size], ()):
                    if first <= place <= last:
                        found.add(at)
        return found

    def _cut_for(self, length: int) -> _Pieces:
        """The pieces of every gold name that a name of this length can reach; made when such a name first comes."""
        postings: dict[str, list[Posting]] = {}
        sizes: set[int] = set()
        for own, members in self._lengths.items():
            edits = most_edits(own, length, self._threshold)
            if edits < 0:
                continue
            deleted, inserted = (edits - (length - own)) // 2, (edits + (length - own)) // 2
            for start, piece_end in _cuts(own, edits + 1):
                end = min(piece_end, start + LONGEST_KEY)  # of a piece that stands unchanged, its beginning does too
                sizes.add(end - start)
                for at in members:
                    postings.setdefault(self._texts[at][start:end], []).append((at, start - deleted, start + inserted))
        return _Pieces(tuple(sorted(sizes)), postings)


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


def _cuts(length: int, parts: int) -> list[tuple[int, int]]:
    """Borders of `parts` pieces of nearly equal length; single letters where there are more pieces than letters."""
    parts = min(parts, length)
    return [(length * k // parts, length * (k + 1) // parts) for k in range(parts)]
