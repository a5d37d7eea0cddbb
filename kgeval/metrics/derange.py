"""For each answer the answer of another question: a shuffle in which nothing stays in its place. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

TRIES = 100
EXACT = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """One answer. `said`: mark of its text, empty where nothing was said; `right`: marks of the question's right answers."""

    question: str
    said: bytes
    right: frozenset[bytes]


@dataclass(frozen=True)
class Shuffled:
    """`donors`: for each place the place whose answer it gets, or null where no other answer would be wrong. `reused`: places whose
    answer was given to another place too."""

    donors: tuple[int | None, ...]
    reused: int


def wrong_for(receiver: Place, donor: Place) -> bool:
    """Whether the donor's answer is surely wrong at the receiver's question: another question with other right answers, a text that is
    neither the receiver's own answer nor one of its right answers, and not empty."""
    return (
        bool(donor.said) and receiver.question != donor.question and receiver.said != donor.said
        and donor.said not in receiver.right and receiver.right.isdisjoint(donor.right)
    )


def derange(places: Sequence[Place], rng: Random) -> Shuffled:
    """A wrong answer for each place, each answer used once as far as that can be.

    A random permutation whose bad places are swapped with others; where that leaves some and there are at most 1,000 places, the
    largest matching there is (Hopcroft and Karp 1973); what is still left gets an answer that another place has too.
    """
    taken: list[int | None] = list(rng.sample(range(len(places)), len(places)))
    _swap(places, taken, rng)
    if any(_bad(places, at, donor) for at, donor in enumerate(taken)) and len(places) <= EXACT:
        taken = _matched(places, rng)
    reused = 0
    usable: dict[frozenset[bytes], list[int]] = {}
    for at, donor in enumerate(taken):
        if _bad(places, at, donor):
            taken[at] = _any_donor(places, at, usable, rng)
            reused += taken[at] is not None
    return Shuffled(tuple(taken), reused)


def _bad(places: Sequence[Place], at: int, donor: int | None) -> bool:
    return donor is None or not wrong_for(places[at], places[donor])


def _swap(places: Sequence[Place], taken: list[int | None], rng: Random) -> None:
    """Swaps the answers of bad places with those of others where both are good afterwards."""
    everywhere = range(len(places))
    for at in everywhere:
        if not _bad(places, at, taken[at]):
            continue
        for other in rng.sample(everywhere, min(TRIES, len(places))):
            if not _bad(places, at, taken[other]) and not _bad(places, other, taken[at]):
                taken[at], taken[other] = taken[other], taken[at]
                break


def _matched(places: Sequence[Place], rng: Random) -> list[int | None]:
    """The largest matching of places with wrong answers, found in a shuffled order."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    n = len(places)
    order = rng.sample(range(n), n)
    fits = np.array([[wrong_for(places[at], places[donor]) for donor in order] for at in order], dtype=bool)
    found = maximum_bipartite_matching(csr_matrix(fits), perm_type="column")
    taken: list[int | None] = [None] * n
    for at, donor in zip(order, found, strict=True):
        taken[at] = order[donor] if donor >= 0 else None
    return taken


def _any_donor(places: Sequence[Place], at: int, usable: dict[frozenset[bytes], list[int]], rng: Random) -> int | None:
    """Any wrong answer for a place. `usable`: by right answers, the places that fit these; looked through once for all of them."""
    receiver = places[at]
    if receiver.right not in usable:
        usable[receiver.right] = [
            n for n, donor in enumerate(places)
            if donor.said and donor.said not in receiver.right and receiver.right.isdisjoint(donor.right)
        ]
    fitting = usable[receiver.right]
    for _ in range(TRIES if fitting else 0):
        if wrong_for(receiver, places[donor := rng.choice(fitting)]):
            return donor
    return next((donor for donor in fitting if wrong_for(receiver, places[donor])), None)
