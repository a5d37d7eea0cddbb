"""From candidates to matches: of each gold entity all places at its best level, within its document where the graph knows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.auditing.completeness.candidates import NAMES_QUERY, Candidates
from kgeval.auditing.completeness.documents import GoldDocuments
from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.index import RANK, NameHit
from kgeval.auditing.graph_reader import GraphReader, batched
from kgeval.names.compare import are_told_apart
from kgeval.names.forms import NameForm, form

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder

BATCH = 2_048
EMBEDDING = RANK["embedding"]


@dataclass(frozen=True)
class Match:
    """Where a gold entity stands: element id -> hit. `rank`: its best level, None for nowhere.

    `found` are all places at that level, and all of the same normalised name: a graph that holds "The Lizard" and "Lizard" as two
    nodes still has the relations of both.
    """

    rank: int | None = None
    found: Mapping[str, NameHit] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """Element ids of all places, best first."""
        return sorted(self.found, key=lambda i: (self.found[i].rank, -(self.found[i].score or 0), i))

    @property
    def best(self) -> list[str]:
        """Element ids of the places at the best level."""
        return [i for i in self.ids if self.found[i].rank == self.rank]


NOWHERE = Match()
Sources = Mapping[str, frozenset[str]]


def matches(
    candidates: Candidates, wanted: Sequence[str | None], sources: Sources, documents: GoldDocuments, *, up_to: int = len(RANK),
) -> list[Match]:
    """The match of each gold entity at levels of a rank below `up_to`. `wanted[i]`: the document that entity i must come from;
    None, or no document that the graph knows at all: anywhere. `sources`: gold documents by element id."""
    out = []
    for hits, document in zip(candidates.hits, wanted, strict=True):
        free = document is None or not documents.scope
        here = _unambiguous({i: hit for i, hit in hits.items() if hit.rank < up_to and (free or document in sources.get(i, ()))})
        best = min((hit.rank for hit in here.values()), default=None)
        out.append(NOWHERE if best is None else Match(best, _kept(here, best)))
    return out


def _kept(hits: dict[str, NameHit], best: int) -> dict[str, NameHit]:
    """The places at the best level and those of the same normalised name; by embedding, which only guesses, the nearest alone."""
    top = max((hit.score or 0 for hit in hits.values()), default=0)
    kept = max(best, RANK["normalised"])
    return {i: hit for i, hit in hits.items() if hit.rank <= kept and (best != EMBEDDING or hit.score == top)}


def _unambiguous(hits: dict[str, NameHit]) -> dict[str, NameHit]:
    """Without the forms that several names of the graph could have here: "J. Smith" is neither John nor James Smith then."""
    names = {hit.one_of for hit in hits.values() if hit.one_of}
    return {i: hit for i, hit in hits.items() if not hit.one_of} if len(names) > 1 else hits


def add_by_meaning(
    candidates: Candidates, gold: Gold, still: Collection[int], names: Callable[[], Iterator[tuple[str, str]]], embedder: Embedder,
    *, similarity: float,
) -> None:
    """Adds hits of the embedding level for the gold entities in `still`: cosine of the names' embeddings >= similarity.

    `names` gives (element id, name) of the graph's entities; each batch is embedded and forgotten. Names that differ in a number
    or in a word that tells things apart never match, however near they are.
    """
    import numpy as np

    numbers = sorted(still)
    if not numbers:
        return
    wanted = embedder.embed([gold.entities[number].name for number in numbers])
    forms = [form(gold.entities[number].name) for number in numbers]
    for batch in batched(names(), BATCH):
        close = embedder.embed([name for _, name in batch]) @ wanted.T
        for row, column in np.argwhere(close >= similarity).tolist():
            element_id, name = batch[row]
            if _same_kind(form(name), forms[column]):
                score = round(min(1.0, float(close[row, column])), 4)
                candidates.add(element_id, NameHit(numbers[column], EMBEDDING, score))


def names_of(reader: GraphReader) -> Iterator[tuple[str, str]]:
    """Element id and name of every entity, one by one."""
    return ((row["element_id"], row["name"][:300]) for row in reader.stream(NAMES_QUERY))


def _same_kind(a: NameForm, b: NameForm) -> bool:
    """Whether two names agree in what tells things apart: numbers, such words, single letters, the gender of a title."""
    letters = [{token for token in name_form.tokens if len(token) == 1} for name_form in (a, b)]
    return bool(a.norm) and letters[0] == letters[1] and not are_told_apart(a, b)
