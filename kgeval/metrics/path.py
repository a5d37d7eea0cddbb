"""The gold path in what was retrieved: which of its nodes and relations are there, and how that was seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored
from kgeval.metrics.elements import Level, distinct, ends_of, match, plain, same
from kgeval.records import Answer, DrawnNode, DrawnRelation, GoldPath, GraphRef, Picture
from kgeval.records.pictures import Mark
from kgeval.text.clean import normal_form
from kgeval.text.extract.spans import Finder, runs_together

UNTOLD = "the answer tells neither contexts nor retrieved nodes or relations"
SHORT = 3
MOST_DRAWN = 25  # nodes of a path that is drawn
NOTHING = "nothing was retrieved"
NAMELESS = "the gold path names no nodes and no relations"


@dataclass(frozen=True)
class PathMatch:
    """A gold path: its distinct nodes and relations, and the place of each one that was found with its level.

    `worded`: relations found whose ends and predicate stand in one context. `ends`: places of the first and the last node (the same,
    where the path comes back).
    """

    nodes: Sequence[GraphRef]
    relations: Sequence[GraphRef]
    nodes_found: Mapping[int, Level]
    relations_found: Mapping[int, Level]
    worded: int
    ends: tuple[int, int]

    @property
    def size(self) -> int:
        """Nodes and relations on the path."""
        return len(self.nodes) + len(self.relations)

    @property
    def found(self) -> int:
        """Those of them that were retrieved."""
        return len(self.nodes_found) + len(self.relations_found)

    def detail(self) -> dict[str, JsonValue]:
        """Counts, by kind and by level."""
        levels = [*self.nodes_found.values(), *self.relations_found.values()]
        counts: dict[str, JsonValue] = {
            "nodes": len(self.nodes), "nodes_found": len(self.nodes_found), "relations": len(self.relations),
            "relations_found": len(self.relations_found), "relations_with_predicate": self.worded,
        }
        return counts | {f"by_{level}": levels.count(level) for level in ("id", "key", "name", "mention") if level in levels}


def match_path(path: GoldPath, answer: Answer) -> PathMatch:
    """What of the path was retrieved: by id, key or name among the retrieved nodes and relations, else mentioned in a context.

    A retrieved relation brings its ends. A relation is mentioned where both its ends stand in one context: ends in two contexts say
    nothing of what joins them.
    """
    nodes, relations = distinct(path.nodes), distinct(path.relations)
    known = list(answer.retrieved_relations or ())
    ends = [end for name in known if (parts := ends_of(name)) for end in (parts[0], parts[2])]
    contexts = Mentions(answer.context_texts)
    nodes_found = match(nodes, [*(answer.retrieved_nodes or ()), *ends]).found
    nodes_found |= {n: "mention" for n, ref in enumerate(nodes) if n not in nodes_found and contexts.of(ref.name)}
    joined = _ends(path, relations)
    relations_found = match(relations, known).found
    relations_found |= {
        n: "mention" for n, ends in joined.items() if n not in relations_found and contexts.together(ends[0], ends[2])
    }
    worded = sum(n in relations_found and contexts.together(*ends) for n, ends in joined.items())
    turn = next((n for n, ref in enumerate(nodes) if same(ref, path.nodes[-1])), 0)
    return PathMatch(nodes, relations, nodes_found, relations_found, worded, (0, turn))


def _tells(answer: Answer) -> bool:
    """Whether an answer says what was retrieved, be it nothing."""
    return not (answer.contexts is None and answer.retrieved_nodes is None and answer.retrieved_relations is None)


def path_picture(path: GoldPath, answer: Answer | None = None) -> Picture | None:
    """The path for a picture, of at most MOST_DRAWN nodes; None where it names no nodes. With an answer that tells what was retrieved, each
    node and relation is marked as found or missing, as the metrics of the path see it. Relations that have no two ends among the nodes are
    counted and not drawn."""
    nodes, relations = distinct(path.nodes), distinct(path.relations)
    if not nodes or len(nodes) > MOST_DRAWN:
        return None
    walk = match_path(path, answer) if answer is not None and _tells(answer) else None

    def mark(found: Collection[int], at: int) -> Mark | None:
        return None if walk is None else "found" if at in found else "missing"

    drawn = []
    for at, (start, end, name) in _places(path, nodes, relations).items():
        found = walk.relations_found if walk else ()
        type_ = relations[at].type  # a name may quote what the graph says: it is no type, and a redacted report hides it
        drawn.append(DrawnRelation(start=start, end=end, type=type_, name=None if type_ else name, mark=mark(found, at)))
    kinds: dict[str, Literal["entity", "chunk", "document"]] = {"chunk": "chunk", "document": "document"}
    return Picture(
        nodes=[
            DrawnNode(
                name=node.name, type=node.type, kind=kinds.get(node.kind, "entity"),
                mark=mark(walk.nodes_found if walk else (), at),
            ) for at, node in enumerate(nodes)
        ],
        relations=drawn, size=len(nodes) + len(relations), found=walk.found if walk else None,
    )


def _places(path: GoldPath, nodes: Sequence[GraphRef], relations: Sequence[GraphRef]) -> dict[int, tuple[int, int, str]]:
    """The places of each relation's ends among the nodes, and its predicate: the nodes beside it where they are called as its ends are, for
    two nodes may have one name; else the first nodes that are called so. Relations whose ends are not on the path are left out."""
    places = {}
    for at, (subject, name, object_) in _ends(path, relations).items():
        given = [plain(subject), plain(object_)]
        step = next(step for step, relation in enumerate(path.relations) if same(relation, relations[at]))
        beside = [next(n for n, node in enumerate(nodes) if same(node, other)) for other in path.nodes[step : step + 2]]
        names = [plain(nodes[n].name) for n in beside]
        if sorted(names) == sorted(given):
            ends = beside if names == given else beside[::-1]
        else:
            ends = [n for wanted in given for n in [n for n, node in enumerate(nodes) if plain(node.name) == wanted][:1]]
        if len(ends) == 2:
            places[at] = (ends[0], ends[1], name)
    return places


def _ends(path: GoldPath, relations: Sequence[GraphRef]) -> dict[int, tuple[str, str, str]]:
    """Subject, predicate and object by place: from the relation's name, else from its place between two nodes of the path."""
    ends = {}
    chain = len(path.nodes) == len(path.relations) + 1
    for n, ref in enumerate(relations):
        if (parts := ends_of(ref.name)) is not None:
            ends[n] = parts
        elif chain:
            place = next(place for place, relation in enumerate(path.relations) if same(relation, ref))
            ends[n] = (path.nodes[place].name, ref.type or ref.name, path.nodes[place + 1].name)
    return ends


class Mentions:
    """In which of the contexts a name stands: in NFKC, without regard to case, at borders of words; underscores are blanks."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._finders = [Finder(normal_form(text, "NFKC")) for text in texts]
        self._known: dict[str, frozenset[int]] = {}

    def of(self, name: str) -> frozenset[int]:
        """Places of the contexts that have the name."""
        if name not in self._known:
            text = normal_form(name, "NFKC").replace("_", " ").strip()
            self._known[name] = frozenset(n for n, finder in enumerate(self._finders) if _stands_in(text, finder))
        return self._known[name]

    def together(self, *names: str) -> bool:
        """Whether one context has all of them."""
        return bool(frozenset.intersection(*(self.of(name) for name in names)))


def _stands_in(name: str, finder: Finder) -> bool:
    """A name of one or two letters must stand there in its own case ("US" is not "us", "A" is no article)."""
    form = plain(name)
    if len(form) < SHORT and not runs_together(name):
        return bool(form) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", finder.text) is not None
    return finder.find(name) is not None


def _metric_of(value: Callable[[PathMatch], MetricValue], *, lower: bool = False) -> Callable[[Subject], MetricValue]:
    def compute(subject: Subject) -> MetricValue:
        path, answer = subject.row.question.path, subject.row.answer
        if path is None or not (path.nodes or path.relations):
            return not_applicable(NAMELESS)
        if not _tells(answer):
            return not_applicable(UNTOLD)
        if lower and not (answer.context_texts or answer.retrieved_nodes or answer.retrieved_relations):
            return not_applicable(NOTHING)  # 0 would be the best value there is
        return value(match_path(path, answer))

    return compute


def _coverage(walk: PathMatch) -> MetricValue:
    return scored(walk.found / walk.size, **walk.detail())


def _complete(walk: PathMatch) -> MetricValue:
    return scored(float(walk.found == walk.size), **walk.detail())


def _bridge_missing(walk: PathMatch) -> MetricValue:
    between = [n for n in range(len(walk.nodes)) if n not in walk.ends]
    if not between:
        return not_applicable("the gold path has no node between its ends")
    ends = all(n in walk.nodes_found for n in walk.ends)
    missing = sum(n not in walk.nodes_found for n in between)
    return scored(float(ends and missing > 0), ends_found=ends, between=len(between), between_missing=missing)


_HOW = (
    "Matched by element id, else key, else normalised name, else mention of the name in a context (a relation: both ends in one "
    "context); the detail counts each level"
)

METRICS: tuple[Metric, ...] = (
    Metric(
        "path_coverage", "retrieval", "How much of the gold path was retrieved.",
        f"nodes and relations of the gold path that were retrieved / nodes and relations of the gold path. {_HOW}, and the relations "
        "whose predicate stands in the same context too.",
        "[M 2]", _metric_of(_coverage), needs=("path",),
    ),
    Metric(
        "path_complete", "retrieval", "The whole gold path was retrieved.",
        f"1 if every node and every relation of the gold path was retrieved, else 0. {_HOW}.",
        "[M 2]", _metric_of(_complete), needs=("path",),
    ),
    Metric(
        "path_bridge_missing", "retrieval", "Both ends of the gold path were retrieved, but a node between them was not.",
        f"1 if the first and the last node were retrieved and one between was not, else 0; a path with no node between, "
        f"or nothing retrieved: not applicable. {_HOW}.",
        "[M 2]", _metric_of(_bridge_missing, lower=True), needs=("path",), better="lower", version=2,
    ),
)
