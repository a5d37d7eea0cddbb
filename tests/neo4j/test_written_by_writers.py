"""Graphs that the real packages wrote (tests/writers): the right layout, the right counts, the planted faults, and nothing else.

The four documents, what was found in them and which faults were planted stand in tests/writers/world.py; what follows from them for
each writer was worked out by hand. Every finding was read before its count was put down here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kgeval.auditing.engine import EngineOptions, audit
from kgeval.auditing.rulebook import load_rules
from kgeval.errors import LayoutError
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, detect, load_profile
from kgeval.graph.queries import all_queries
from kgeval.records import Finding, Layout
from kgeval.workflows.layouts import choose_layout

sys.path.insert(0, str(Path(__file__).parents[1] / "writers"))
import load

COMPANY = {"fragmented-entity": 2}  # Vell Company and Vell Co.: a pair, two entities
ALWAYS = {**COMPANY, "name-not-in-source": 1, "chunk-without-entities": 1}  # Silver Comet; weather.txt
UNKNOWN_END = {"placeholder-entity": 1, "dangling-relation": 1}  # the Old Quarry, for writers that mark what was never extracted
# the fake model's vectors tell nothing of meaning, and eight numbers are too few for spelling: what is near by them says nothing
NOT_ASKED = {"similar-entity"}


@dataclass(frozen=True)
class Known:
    """What must come out. `relations`: between entities. `chunks`: all, and with text. `own`: relations with a source of their own.
    `found`: hits by check, of all checks; those of rare-relation-type are the predicates that stand on one relation only."""

    layout: str
    entities: int
    relations: int
    chunks: tuple[int, int]
    documents: int = 0
    own: int = 0
    predicates: int = 15
    found: dict[str, int] = field(default_factory=dict)


# 16 facts, of which LIES_ON stands twice, so that 14 predicates are rare; the fact about the Old Quarry is dropped by neo4j-graphrag
NEO4J_GRAPHRAG = {
    **ALWAYS, "type-conflict": 2, "isolated-entity": 1, "self-loop": 1, "rare-type": 1, "rare-relation-type": 13, "missing-index": 1,
}
LANGCHAIN = {**ALWAYS, "isolated-entity": 1, "self-loop": 1, "rare-type": 1, "rare-relation-type": 14, "entity-without-source": 1}
GRAPHS = {
    "neo4j-graphrag": Known("neo4j-graphrag", 14, 15, (4, 4), 4, predicates=14, found={**NEO4J_GRAPHRAG, "duplicate-name": 1}),
    # one entity a chunk: two more of Lake Osk, one more of Tomas Vell
    "neo4j-graphrag-unresolved": Known("neo4j-graphrag", 17, 15, (4, 4), 4, predicates=14, found={**NEO4J_GRAPHRAG, "duplicate-name": 4}),
    # ids are title-cased: one Ilsa Brandt; Harrowmere has both types on one node; the Old Quarry has none and no source
    "langchain": Known("langchain", 13, 16, (4, 4), found={**LANGCHAIN, "missing-type": 1}),
    "langchain-sources": Known("langchain-nobase", 14, 16, (4, 4), found={**LANGCHAIN, "type-conflict": 2}),
    "langchain-plain": Known(
        "langchain-nobase", 14, 16, (0, 0),
        found={**COMPANY, "isolated-entity": 1, "self-loop": 1, "rare-type": 1, "rare-relation-type": 14, "type-conflict": 2},
    ),
    # an entity is the end of a relation: no Lighthouse Fund. A text-less Chunk stands for each document
    "llamaindex": Known(
        "llamaindex", 13, 16, (8, 4), own=16,
        found={**ALWAYS, "duplicate-name": 1, "self-loop": 1, "rare-type": 1, "rare-relation-type": 14},
    ),
    # names begin with a capital and go on in small letters: one Ilsa brandt
    "llamaindex-simple": Known(
        "llamaindex", 12, 16, (8, 4), own=16, found={**ALWAYS, "self-loop": 1, "rare-relation-type": 14, "missing-type": 12},
    ),
    # a relation to itself is dropped, the Old Quarry is UNKNOWN; Place and Town stand on one entity each
    "lightrag": Known(
        "lightrag", 14, 15, (0, 0), own=15, predicates=14,
        found={
            **COMPANY, **UNKNOWN_END, "duplicate-name": 1, "isolated-entity": 1, "rare-relation-type": 13, "rare-type": 2,
        },
    ),
    # names are upper case: one Ilsa Brandt, and one relation between two entities
    "nano-graphrag": Known(
        "nano-graphrag", 13, 15, (0, 0), own=15, predicates=1, found={**COMPANY, **UNKNOWN_END, "isolated-entity": 1, "self-loop": 1},
    ),
    # names are compared without case; the Old Quarry is an entity of no type
    "graphiti": Known(
        "graphiti", 13, 16, (4, 4), own=16,
        found={
            **ALWAYS, "isolated-entity": 1, "self-loop": 1, "rare-relation-type": 14, "missing-type": 1, "expired-relation": 2,
            "inverted-interval": 1,
        },
    ),
}


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("name", GRAPHS)
def test_the_layout_is_recognised_and_everything_has_its_role(graph: Graph, name: str) -> None:
    known = GRAPHS[name]
    load.load(graph, name)
    with load.schema(graph, name):
        seen = detect(graph)
        layout = bind(graph, load_profile(known.layout).layout)
    assert seen.choice == known.layout, seen.reason
    roles = seen.candidates[0].roles
    assert roles is not None
    assert (roles["entities"], roles["chunks"], roles["documents"]) == (known.entities, known.chunks[0], known.documents)
    assert roles["unseen"] == 0
    texts = ask(graph, "chunks-and-documents", layout)[0]
    assert (texts["chunks"], texts["chunks_with_text"], texts["documents"]) == (*known.chunks, known.documents)
    relations = {row["type"]: row["count"] for row in ask(graph, "relations-by-type", layout)}
    assert (sum(relations.values()), len(relations)) == (known.relations, known.predicates)


# the first of the ways to write a graph; loading makes indexes, and then the server plans all queries of an audit anew
SOME = ("neo4j-graphrag",)


@pytest.mark.parametrize("name", [name if name in SOME else pytest.param(name, marks=pytest.mark.long) for name in GRAPHS])
def test_the_audit_finds_what_was_planted_and_nothing_else(graph: Graph, name: str) -> None:
    known = GRAPHS[name]
    load.load(graph, name)
    with load.schema(graph, name):
        layout = bind(graph, load_profile(known.layout).layout)
        done = audit(graph, layout, EngineOptions(rules=list(load_rules().values()), structure=None, examples=20))
    findings = {finding.rule_id: finding for finding in done.findings if finding.rule_id not in NOT_ASKED}
    assert not [finding for finding in done.findings if finding.status in ("incomplete", "error")]
    assert {rule: finding.count for rule, finding in findings.items() if finding.count} == known.found
    own = findings["relation-without-source"]
    assert own.status == "skipped" if not known.own else (own.count, own.total) == (0, known.own)
    check_examples(findings)


def check_examples(findings: dict[str, Finding]) -> None:
    """The examples are the planted things themselves."""
    wanted = {
        "isolated-entity": {"lighthouse fund"}, "name-not-in-source": {"silver comet"},
        "duplicate-name": {"ilsa brandt", "lake osk", "tomas vell"}, "fragmented-entity": {"vell company", "vell co."},
        "type-conflict": {"harrowmere"}, "entity-without-source": {"old quarry"}, "placeholder-entity": {"old quarry"},
    }
    for rule, names in wanted.items():
        seen = {item.name.casefold().strip('"') for example in findings[rule].examples for item in example.items}
        assert seen <= names, f"{rule}: {seen - names}"


@pytest.mark.parametrize(
    "both",
    [("neo4j-graphrag", "langchain"), ("langchain", "llamaindex"), ("lightrag", "nano-graphrag"), ("graphiti", "neo4j-graphrag")],
    ids="+".join,
)
def test_two_writers_in_one_database_are_named_and_not_counted_together(graph: Graph, both: tuple[str, str]) -> None:
    load.load(graph, *both)
    names = {GRAPHS[name].layout for name in both}
    assert {candidate.name for candidate in detect(graph).tied} == names
    with pytest.raises(LayoutError, match="--layout") as refused:
        choose_layout(graph, "auto", None, {}, say=print)
    assert all(name in str(refused.value) for name in names)


def test_a_label_that_only_one_writer_leaves_parts_its_graph_from_the_others(graph: Graph) -> None:
    load.load(graph, "neo4j-graphrag", "langchain")
    layout = choose_layout(graph, "neo4j-graphrag", None, {"scope_label": "__KGBuilder__"}, say=print)
    assert {row["type"]: row["count"] for row in ask(graph, "entities-by-type", layout)} == {
        "Building": 2, "Organization": 3, "Person": 4, "Place": 2, "Ship": 2, "Town": 1,
    }
    assert sum(row["count"] for row in ask(graph, "relations-by-type", layout)) == GRAPHS["neo4j-graphrag"].relations


def test_every_dump_is_tested_and_says_what_wrote_it() -> None:
    assert set(load.names()) == set(GRAPHS)
    heads = [load.lines(name)[0] for name in load.names()]
    assert all(head["package"] and head["version"] and head["settings"] for head in heads)


def ask(graph: Graph, query: str, layout: Layout) -> list[dict[str, object]]:
    return graph.read(all_queries()[query], {"layout": layout.model_dump()})
