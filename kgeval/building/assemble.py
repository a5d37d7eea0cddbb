"""Makes entities and relations of clusters: ids, aliases, descriptions, sources, weights."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgeval.building.clusters import SEPARATOR, Cluster, WrittenName, most, type_key
from kgeval.building.describe import merged
from kgeval.building.mentions import Extracted, clean
from kgeval.graph.load import naming
from kgeval.graph.load.built import EntityRow, RelationRow, predicate_key
from kgeval.text.extract.mentions import RelationMention
from kgeval.text.names import normalise

MOST_ALIASES = 50
LONGEST_ID = 200


def entities_of(clusters: list[Cluster], *, normal: bool) -> tuple[list[EntityRow], dict[int, str]]:
    """The entities sorted by id, and the entity's id of each written name (by its identity). `normal`: ids are made of normal forms."""
    rows: dict[str, EntityRow] = {}
    entity_of: dict[int, str] = {}
    for cluster in sorted(clusters, key=lambda c: (c.name, c.type_key)):
        spellings: Counter[str] = Counter()
        for written in cluster.names:
            spellings.update(written.spellings)
        type_ = most(spellings) or None
        # an id of what the thing is called, not a counter: the same texts give the same graph in whatever order they came
        key = _id(f"{type_key(type_) or '-'}:{cluster.norm if normal else cluster.name}")
        if key in rows:  # two things of one name and type: a merge that was taken back
            key = _id(f"{key}#{_digest(cluster.name + SEPARATOR + cluster.top.type_key)}")
        # by identity: a WrittenName is changed while mentions are gathered, so it has no hash
        entity_of |= {id(written): key for written in cluster.names}
        rows[key] = _entity(key, type_, cluster)
    return sorted(rows.values(), key=lambda e: e.id), entity_of


def _id(text: str) -> str:
    return text if len(text) <= LONGEST_ID else f"{text[:LONGEST_ID - 17]}#{_digest(text, 16)}"


def _digest(text: str, length: int = 8) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _entity(key: str, type_: str | None, cluster: Cluster) -> EntityRow:
    aliases: Counter[str] = Counter()
    sources: dict[str, tuple[int, int | None, int | None]] = {}
    for written in cluster.names:
        aliases[written.name] += written.weight
        aliases.update(written.aliases)
        for chunk, (n, start, end) in written.sources.items():
            before = sources.get(chunk, (0, None, None))
            first = before[1:] if start is None or (before[1] is not None and before[1] <= start) else (start, end)
            sources[chunk] = (before[0] + (n or 0), *first)
    del aliases[cluster.name]
    others = sorted(aliases, key=lambda name: (-aliases[name], name))[:MOST_ALIASES]
    return EntityRow(
        key, cluster.name, naming.name_key(cluster.name, normalise), type_,
        merged(written.descriptions for written in cluster.names), tuple(others), cluster.weight, sources,
    )


@dataclass(slots=True)
class _RelationCounts:
    """A relation on its way: how often it is stated, how it is spelled and described, where."""

    weight: int = 0
    predicates: Counter[str] = field(default_factory=Counter)
    descriptions: Counter[str] = field(default_factory=Counter)
    chunks: dict[str, None] = field(default_factory=dict)


Key = tuple[str, str, str]


class _RelationPlaces:
    """Where each relation stands in its document, to know it again in the next chunk, whose overlap may begin inside a sentence.

    Chunks must come in the order of their documents. Without a span in the text nothing can be known again.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[str, int, int, Key]] = set()
        self._here: list[tuple[Key, int, int]] = []
        self._before: dict[Key, list[tuple[int, int]]] = {}
        self._document = ""

    def enter(self, chunk: Extracted) -> None:
        """The next chunk: spans of earlier ones that reach into it are kept at hand."""
        reaching = [*self._here, *((key, *span) for key, spans in self._before.items() for span in spans)]
        self._here, self._before = [], defaultdict(list)
        for key, start, end in reaching:
            if chunk.document == self._document and end > (chunk.start or 0):
                self._before[key].append((start, end))
        self._document = chunk.document

    def known(self, chunk: Extracted, link: RelationMention, key: Key) -> bool:
        """Whether the relation was seen at this place, or by an earlier chunk at one that overlaps."""
        if chunk.start is None or link.start is None or link.end is None:
            return False
        start, end = chunk.start + link.start, chunk.start + link.end
        place = (chunk.document, start, end, key)
        if place in self._seen:
            return True
        self._seen.add(place)
        self._here.append((key, start, end))
        return any(first < end and start < last for first, last in self._before.get(key, ()))


def relations_of(
    chunks: Sequence[Extracted], placed: list[list[WrittenName | None]], entity_of: dict[int, str], counts: Counter[str]
) -> list[RelationRow]:
    """Relations by (source, predicate, target). What two overlapping chunks both say of one place counts once."""
    links: dict[Key, _RelationCounts] = defaultdict(_RelationCounts)
    keys: dict[str, str] = {}
    places = _RelationPlaces()
    for chunk, here in zip(chunks, placed, strict=True):
        places.enter(chunk)
        for link in chunk.extraction.links:
            ends = [here[position] if 0 <= position < len(here) else None for position in (link.source, link.target)]
            predicate = clean(link.predicate) or naming.NO_PREDICATE
            if ends[0] is None or ends[1] is None:
                counts["relations with a broken end"] += 1
                continue
            source, target = entity_of[id(ends[0])], entity_of[id(ends[1])]
            if source == target:
                counts["self-relations"] += 1
                continue
            key = (source, keys.get(predicate) or keys.setdefault(predicate, predicate_key(predicate)), target)
            relation = links[key]
            relation.chunks[chunk.chunk] = None
            if places.known(chunk, link, key):
                continue
            relation.weight += 1
            relation.predicates[predicate] += 1
            if link.description and clean(link.description):
                relation.descriptions[clean(link.description)] += 1
    return [
        RelationRow(s, t, most(relation.predicates), merged([relation.descriptions]), float(relation.weight), tuple(relation.chunks))
        for (s, _, t), relation in sorted(links.items(), key=lambda item: item[0])
    ]
