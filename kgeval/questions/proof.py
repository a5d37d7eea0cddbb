"""What the database proves of a question: its answer is the only one, no shorter way leads there, a name is nowhere in
the graph.

Everything is asked for many questions at once: a hop of all paths is one query, and so are all shortcuts and all names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.graph.connect import Graph, Row
from kgeval.graph.queries import all_queries
from kgeval.questions.graph_facts import facts_of
from kgeval.questions.word_index import WordIndex
from kgeval.records import Layout, Structure
from kgeval.text.predicates import is_placeholder, is_predicate, keywords
from kgeval.text.signs import identity_key

MOST_REACHED = 200  # entities that one hop may lead to; ways of one question that are followed at a time
MOST_STARTS = 20
BATCH = 2_000
Ways = list[tuple[tuple[str, str], ...]]
Hop = tuple[str, str, tuple[str, ...] | None, bool | None]


@dataclass(frozen=True)
class PathProof:
    """What holds for the question that names the first node of a path and asks along its predicates for the last one.
    Relations without direction are followed both ways.

    `starts`: element ids of all entities that are called like the first node, it itself first. `reached`: how many
    entities each hop leads to, from all of them. `ends`: what the last hop leads to: element id -> name. `shortcut`:
    relations of a shorter way between start and end, or another entity of the end's name (None: none; not looked for
    where the answer is not the only one). `followed`: false where a hop led to more than MOST_REACHED entities and the
    rest is not known. """

    starts: tuple[str, ...]
    reached: tuple[int, ...]
    ends: Mapping[str, str]
    shortcut: int | None
    followed: bool

    def unique(self, name: str) -> bool:
        """Whether the answer with this name is the only one: entities with the same normalised name are one answer."""
        return self.followed and _only(name, self.ends.values())


@dataclass
class _Walk:
    """The ways of one question so far: the (element id, name) of each entity on them. `ends`: the entities of the
    answer's name."""

    structure: Structure
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    ways: Ways
    reached: list[int] = field(default_factory=list)
    followed: bool = True


def prove(graph: Graph, layout: Layout, paths: Sequence[Structure], *, timeout: float | None = None) -> list[PathProof]:
    """A proof for each path structure, in order: thousands of paths are a few queries.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    return [
        proof for start in range(0, len(paths), BATCH) for proof in _prove(
            graph, layout, paths[start : start + BATCH], timeout,
        )
    ]


def _prove(graph: Graph, layout: Layout, paths: Sequence[Structure], timeout: float | None) -> list[PathProof]:
    called = facts_of(graph, layout).entities(node.name for path in paths for node in (path.nodes[0], path.nodes[-1]))
    walks = []
    for path in paths:
        starts, ends = (
            tuple(dict.fromkeys((node.element_id, *called.get(identity_key(node.name), ())))) for node in (path.nodes[0], path.nodes[-1])
        )
        ways: Ways = [((element_id, ""),) for element_id in starts[:MOST_STARTS]]
        walks.append(_Walk(path, starts[:MOST_STARTS], ends[:MOST_STARTS], ways, followed=len(starts) <= MOST_STARTS))
    for hop in range(max((len(path.relations) for path in paths), default=0)):
        _follow(graph, layout, [walk for walk in walks if hop < len(walk.structure.relations)], hop, timeout)
    short = _shortcuts(graph, layout, walks, timeout)
    return [
        PathProof(walk.starts, tuple(walk.reached), dict(way[-1] for way in walk.ways), short.get(n), walk.followed)
        for n, walk in enumerate(walks)
    ]


def _follow(graph: Graph, layout: Layout, walks: Sequence[_Walk], hop: int, timeout: float | None) -> None:
    """One hop of all walks. A hop that several of them take is asked for once."""
    steps = dict.fromkeys(_step(layout, walk, way, hop) for walk in walks for way in walk.ways)
    number_of = {step: n for n, step in enumerate(steps)}
    rows = [
        {"n": n, "at": at, "predicate": predicate, "listed": None if listed is None else list(listed), "forward": forward}
        for (at, predicate, listed, forward), n in number_of.items()
    ]
    # as many more as the way has entities, which are taken out below, and one, by which it is known that there are too many
    params = {"layout": layout.model_dump(), "rows": rows, "most": MOST_REACHED + hop + 2}
    reached = {row["n"]: row["reached"] for row in graph.read(all_queries()["prove-step"], params, timeout=timeout)} if rows else {}
    for walk in walks:
        ways = [
            (*way, (element_id, name))
            for way in walk.ways
            for element_id, name in reached.get(number_of[_step(layout, walk, way, hop)], ())
            # no entity twice: a way there and back would join everything
            if all(element_id != seen for seen, _ in way)
        ]
        walk.reached.append(len({way[-1][0] for way in ways}))
        walk.followed &= len(ways) <= MOST_REACHED
        walk.ways = ways if walk.followed else []


def _step(layout: Layout, walk: _Walk, way: tuple[tuple[str, str], ...], hop: int) -> Hop:
    """Where a way goes on from, along which predicate or keywords, and whether in the relation's own direction (None: it has
    none)."""
    relation = walk.structure.relations[hop]
    forward = relation.source == walk.structure.nodes[hop].element_id
    direction = forward if has_direction(layout, relation.predicate) else None
    return way[-1][0], squeezed(relation.predicate), listed_words(layout, relation.predicate), direction


def listed_words(layout: Layout, predicate: str) -> tuple[str, ...] | None:
    """The keywords of a label that is no predicate, without those that say only that there is a relation, as the proof compares them; None
    for a predicate. A question that is worded of keywords asks for no one relation."""
    if is_predicate(predicate, layout):
        return None
    return tuple(sorted({squeezed(word) for word in keywords(predicate) if not is_placeholder(word, layout)}))


def has_direction(layout: Layout, predicate: str) -> bool:
    """Whether start and end of a relation mean anything: not in a layout without directions, and not where its label
    says nothing."""
    return not layout.relations_undirected and not is_placeholder(predicate, layout)


def _only(name: str, ends: Iterable[str]) -> bool:
    return {identity_key(end) for end in ends} == {identity_key(name)}


def _shortcuts(graph: Graph, layout: Layout, walks: Sequence[_Walk], timeout: float | None) -> dict[int, int]:
    """Walk -> relations of a shorter way from one of its starts to its end, where there is one."""
    near: list[dict[str, object]] = []
    far: list[dict[str, object]] = []
    for n, walk in enumerate(walks):
        hops, end = len(walk.structure.relations), walk.structure.nodes[-1]
        if hops > 1 and walk.followed and _only(end.name, (way[-1][1] for way in walk.ways)):
            rows = [{"n": n, "start": start, "end": other, "below": hops} for start in walk.starts for other in walk.ends if start != other]
            (near if hops <= 3 else far).extend(rows)
    shorter: dict[int, int] = {}
    for query, chosen in (("prove-near", near), ("prove-hops", far)):
        params = {"layout": layout.model_dump(), "rows": chosen}
        for row in graph.read(all_queries()[query], params, timeout=timeout) if chosen else ():
            if row["hops"] < len(walks[row["n"]].structure.relations):
                shorter[row["n"]] = min(row["hops"], shorter.get(row["n"], row["hops"]))
    return shorter


def hop_counts(
    graph: Graph, layout: Layout, pairs: Iterable[tuple[str, str]], *, timeout: float | None = None,
) -> dict[tuple[str, str], int]:
    """(start, end) by element id -> the fewest relations between them, in either direction. Pairs that are not joined,
    or only over more than 12 relations, are left out; an entity is 0 from itself.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    asked_pairs = list(dict.fromkeys(pairs))
    hops = {pair: 0 for pair in asked_pairs if pair[0] == pair[1]}
    for query in ("prove-near", "prove-hops"):  # most pairs are near, and a path over a super-node is dear
        rows = [
            {"n": n, "start": pair[0], "end": pair[1], "below": 3} for n, pair in enumerate(asked_pairs) if pair not in hops
        ]
        for start in range(0, len(rows), BATCH):
            params = {"layout": layout.model_dump(), "rows": rows[start : start + BATCH]}
            for row in graph.read(all_queries()[query], params, timeout=timeout):
                hops[asked_pairs[row["n"]]] = row["hops"]
    return hops


@dataclass(frozen=True)
class Presence:
    """Where a term stands in a graph. `called`: entities with just this name or alias, in normal form. `within`:
    entities that hold it as a part of a name or alias. `chunks`: chunks that hold it in their text, None where the
    graph has no texts. Examples: a name, a chunk id."""

    term: str
    called: int
    within: int
    chunks: int | None
    example_name: str | None = None
    example_chunk: str | None = None

    @property
    def absent(self) -> bool:
        """Whether it is nowhere: in no name, no alias and no text that the graph has."""
        return not (self.called or self.within or self.chunks)

    @property
    def proof(self) -> str:
        """What was looked at, in words."""
        texts = "the graph has no texts" if self.chunks is None else f"{self.chunks:,} chunk texts hold it"
        return f"'{self.term}': {self.called:,} entities are called so, {self.within:,} hold it in a name or an alias, {texts}"


def absent(
    graph: Graph, layout: Layout, terms: Iterable[str], *, timeout: float | None = None, often: bool = False,
) -> dict[str, Presence]:
    """Where each of the terms (names, words) stands in names, aliases and chunk texts, whatever its case. One reading
    of the graph for all terms; `often`: one for the run, and another only for terms whose words are all there. A part
    of a word counts as present: "Ann" is in "Anna". A term without letters or digits is left out.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    spelled = {term: folded(term) for term in dict.fromkeys(terms) if identity_key(term)}
    if not spelled:
        return {}
    facts = facts_of(graph, layout)
    called = facts.entities(spelled)

    def found(query: str, index: WordIndex | None) -> dict[str, Row]:
        asked = [term for term in sorted(set(spelled.values())) if index is None or index.holding(term)]
        params = {"layout": layout.model_dump(), "terms": asked}
        return {row["term"]: row for row in graph.read(all_queries()[query], params, timeout=timeout)} if asked else {}

    within = found("prove-names", facts.name_words() if often else None)
    texts = found("prove-texts", facts.text_words() if often else None)
    has_chunks = facts.has_chunks()
    nowhere: Row = {"entities": 0, "chunks": 0, "example": None}
    presences = {}
    for term, low in spelled.items():
        names, chunks = within.get(low, nowhere), texts.get(low, nowhere)
        presences[term] = Presence(
            term, len(called.get(identity_key(term), ())), names["entities"], chunks["chunks"] if has_chunks else None,
            names["example"], chunks["example"],
        )
    return presences


def passages_naming(
    graph: Graph, layout: Layout, names: Iterable[str], *, most: int = 500, timeout: float | None = None,
) -> Iterator[tuple[str, str]]:
    """(id, text) of chunks that hold one of the names, text in lower case on one line; at most `most`."""
    terms = sorted({folded(name) for name in names if identity_key(name)})
    params = {"layout": layout.model_dump(), "terms": terms, "most": most}
    for row in graph.read(all_queries()["prove-passages"], params, timeout=timeout) if terms else ():
        yield row["id"], row["text"]


def folded(text: str) -> str:
    """A text as prove-names and prove-texts compare it."""
    return re.sub(r"\s+", " ", text.lower().replace("\u2019", "'")).strip()


def squeezed(predicate: str) -> str:
    """A predicate without case, spaces, hyphens and underscores: works_for, worksFor and WORKS FOR are one."""
    return predicate.lower().replace("_", "").replace(" ", "").replace("-", "")
