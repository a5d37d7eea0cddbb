"""What checks say of relations that put one thing above another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest

import kgeval
from kgeval.auditing.steps.hierarchy_cycle import Hierarchy
from kgeval.graph.connect import Graph
from kgeval.records import Layout
from kgeval.text.relation_kinds import ranking

Draw = Callable[[str], None]
TREE = "UNWIND range(0, 30) AS i CREATE (:Topic {id: i, name: 'Topic ' + i}) WITH count(*) AS done "


def circles(graph: Graph) -> Any:
    return kgeval.audit(graph.driver, checks="hierarchy-cycle", no_structure=True, examples=20).findings[0]


def joined(*edges: tuple[int, str, int]) -> str:
    return TREE + "".join(
        f"MATCH (a{at}:Topic {{id: {a}}}), (b{at}:Topic {{id: {b}}}) CREATE (a{at})-[:`{type_}`]->(b{at}) WITH count(*) AS done "
        for at, (a, type_, b) in enumerate(edges)
    ) + "RETURN done"


@pytest.mark.parametrize(("edges", "whys"), [
    ([(1, "BROADER", 2), (2, "BROADER", 3), (3, "BROADER", 1), (4, "BROADER", 1)],
     ["BROADER: Topic 1 -> Topic 2 -> Topic 3 -> Topic 1"]),
    ([(1, "skos__broader", 2), (2, "skos__narrower", 1)], []),  # both ways of saying one thing
    ([(1, "partOf", 2), (2, "PART_OF", 1), (3, "CONTAINS", 4), (4, "CONTAINS", 3)],
     ["PART_OF, partOf: Topic 1 -> Topic 2 -> Topic 1", "CONTAINS: Topic 3 -> Topic 4 -> Topic 3"]),
    ([(1, "REPORTS_TO", 2), (2, "SUBCLASS_OF", 1)], []),  # two hierarchies
    ([(1, "KNOWS", 2), (2, "KNOWS", 1), (1, "CITES", 3), (3, "CITES", 1)], []),  # no hierarchies
    ([(1, "PART_OF", 1), (1, "PART_OF", 2)], []),  # a self-loop is another check's
    ([(1, "PART_OF", 2), (2, "PART_OF", 3), (3, "PART_OF", 1), (3, "PART_OF", 2)],
     ["PART_OF: Topic 2 -> Topic 3 -> Topic 2"]),  # what hangs together counts once, by a shortest circle
])
def test_a_hierarchy_that_leads_back_is_found(graph: Graph, draw: Draw, edges: list[tuple[int, str, int]], whys: list[str]) -> None:
    draw(joined(*edges))
    found = circles(graph)
    assert sorted(example.why for example in found.examples) == sorted(whys)
    assert (found.count or 0) == sum(len(example.items) for example in found.examples)


CHAIN = """UNWIND range(0, 99) AS i CREATE (:Act {id: i, name: 'Act ' + i}) WITH collect(1) AS done
MATCH (a:Act), (b:Act {id: a.id / 3}) WHERE a.id > 0 AND a.id < 97 CREATE (a)-[:LAID_DOWN_BY]->(b)
WITH count(*) AS done MATCH (x:Act {id: 97}), (y:Act {id: 98}) CREATE (x)-[:LAID_DOWN_BY]->(y), (y)-[:LAID_DOWN_BY]->(x)"""


@pytest.mark.parametrize(("graph_of", "whys"), [
    (CHAIN, ["LAID_DOWN_BY: Act 97 -> Act 98 -> Act 97"]),
    # couples lead nowhere, friends have several, and where many lead back it is no hierarchy
    ("""UNWIND range(0, 49) AS i CREATE (a:Act {id: i, name: 'Act ' + i})-[:MARRIED]->(b:Act {id: 100 + i, name: 'Act 1' + i})
        WITH a, b, i WHERE i = 7 CREATE (b)-[:MARRIED]->(a)""", []),
    ("""UNWIND range(0, 60) AS i CREATE (:Act {id: i, name: 'Act ' + i}) WITH collect(1) AS done
        MATCH (a:Act), (b:Act {id: (a.id + 1) % 61}) CREATE (a)-[:NEXT_TO]->(b)""", []),
])
def test_a_hierarchy_shows_in_its_relations_too(graph: Graph, draw: Draw, graph_of: str, whys: list[str]) -> None:
    draw(graph_of)
    assert [example.why for example in circles(graph).examples] == whys


def test_as_many_circles_as_another_library_counts(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 199) AS i CREATE (:Part {id: i, name: 'Part ' + i}) WITH count(*) AS done
            MATCH (a:Part), (b:Part) WHERE a <> b AND (a.id * 7919 + b.id * 104729) % 211 = 0 CREATE (a)-[:PART_OF]->(b)""")
    edges = [(row["a"], row["b"]) for row in graph.read("MATCH (a)-[:PART_OF]->(b) RETURN a.id AS a, b.id AS b")]
    parts = [part for part in nx.strongly_connected_components(nx.DiGraph(edges)) if len(part) > 1]
    found = circles(graph)
    assert len(parts) > 0 and (found.examples_total, found.total) == (len(parts), len({node for edge in edges for node in edge}))
    for example in found.examples:
        own = [int(item.name.removeprefix("Part ")) for item in example.items]
        assert all(edge in edges for edge in zip(own, [*own[1:], own[0]], strict=True))


@pytest.mark.parametrize(("type_", "said"), [
    ("skos__broader", "broader"), ("rdfs:subClassOf", "sub class of"), ("IS_A", "is a"), ("isPartOf", "is part of"),
    ("LOCATED_IN", "located in"), ("SUBGENRE_OF", "subgenre of"), ("HAS_PREREQUISITE", "has prerequisite"), ("SUBJECT_OF", None),
     ("Reports To", "reports to"), ("HAS_CHILD", "has child"), ("parent", "parent"),
    ("PARENTHESIS", None), ("PART", None), ("KNOWS", None), ("HAS", None), ("", None), ("__", None),
])
def test_what_a_type_says_is_read_from_its_words(type_: str, said: str | None) -> None:
    assert ranking(type_, Layout(name="mine")) == said


def test_a_layout_names_hierarchies_of_its_own() -> None:
    layout = Layout(name="mine", hierarchy_relations=["UNTER", "<ÜBER"])
    assert [ranking(type_, layout) for type_ in ("UNTER", "ÜBER", "PART_OF", "REPORTS_TO")] == ["unter", "über", None, "reports to"]


def tangle(type_: str, label: str, *, back: str, at: str = "20, 53, 7", each: int = 2) -> str:
    """A mesh of 72 nodes without a circle, in no order of writing, and relations that lead back."""
    return f"""UNWIND range(0, 71) AS i CREATE (:{label} {{no: i * 31 % 72, name: '{label} ' + (i * 31 % 72)}}) WITH count(*) AS done
MATCH (a:{label}) UNWIND [1, {at}][0..{each}] AS step MATCH (b:{label} {{no: a.no + step}}) CREATE (a)-[:`{type_}`]->(b)
WITH count(*) AS done UNWIND {back} AS pair MATCH (a:{label} {{no: pair[0]}}), (b:{label} {{no: pair[1]}}) CREATE (a)-[:`{type_}`]->(b)"""


@pytest.mark.parametrize(("type_", "label", "back", "each", "found"), [
    ("DEPENDS_ON", "Service", "[[12, 11]]", 4, 2), ("HÄNGT_AB_VON", "Dienst", "[[12, 11]]", 4, 2),
    ("dépendDe", "Service", "[[12, 11]]", 4, 2),
    ("requires", "Package", "[[12, 11]]", 4, 2), ("SUSTITUYE_A", "Norma", "[[13, 12], [40, 39]]", 2, 4),
    ("DERIVA_DA", "Opera", "[[3, 2]]", 2, 2),
    ("PROVOQUE", "Panne", "[[12, 11]]", 4, 2),  # by its shape
    ("DEPENDS_ON", "Service", "[[60, 2], [50, 1]]", 4, 0),  # much leads back: in this domain it may
    ("KNOWS", "Person", "[[12, 11]]", 4, 0), ("RELATED_TO", "Topic", "[[12, 11]]", 4, 0), ("LINKS_TO", "Page", "[[12, 11]]", 4, 0),
    ("CALLS", "Function", "[[12, 11]]", 4, 0), ("ROAD_TO", "Town", "[[12, 11]]", 4, 0), ("ADVISES", "Person", "[[12, 11]]", 4, 0),
    ("REPLACES", "Employee", "[[12, 11]]", 4, 0), ("PROVOQUE", "Panne", "[[12, 11], [20, 19], [30, 29]]", 4, 0),
    ("TOUCHES", "Thing", "[[12, 11]]", 2, 0),  # as many by chance would make few
])
def test_what_needs_or_replaces_another_thing_never_leads_back(
    graph: Graph, draw: Draw, type_: str, label: str, back: str, each: int, found: int,
) -> None:
    draw(tangle(type_, label, back=back, each=each))
    assert (circles(graph).count or 0) == found


def test_of_eighteen_addenda_two_that_are_each_others_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(0, 39) AS i CREATE (:Antrag {nr: 'A' + i, i: i}) WITH count(*) AS done
            UNWIND range(0, 16) AS i MATCH (a:Antrag {i: 2 * i + 1}), (b:Antrag {i: 2 * i}) CREATE (a)-[:NACHTRAG_ZU]->(b)
            WITH count(*) AS done MATCH (a:Antrag {i: 6}), (b:Antrag {i: 7}) CREATE (a)-[:NACHTRAG_ZU]->(b)""")
    assert [sorted(item.name for item in example.items) for example in circles(graph).examples] == [["Antrag A6", "Antrag A7"]]


@pytest.mark.parametrize(("numbers", "shows"), [([no * 31 % 72 for no in range(72)], True), ([*range(72)], False)])
def test_what_was_written_in_the_order_of_its_nodes_shows_nothing_by_its_shape(numbers: list[int], shows: bool) -> None:
    one = Hierarchy()
    for start, end in [*((at, at + step) for at in range(72) for step in (1, 20, 53, 7) if at + step < 72), (12, 11)]:
        one.add(f"4:x:{numbers[start]}", f"4:x:{numbers[end]}", "PROVOQUE")
    assert one.never_leads_back() is shows
