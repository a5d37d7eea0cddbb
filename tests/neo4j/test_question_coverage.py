"""What sets of questions cover of a drawn graph: counted by hand, found by records or by names, and listed by the Cypher it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx
import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.questions.coverage import coverage
from kgeval.questions.covering.graph_groups import load_graph_groups
from kgeval.records import CoverageFigure, CoverageReport, CoverageSet, GoldPath, GraphRef, Layout, Passage, Question

Draw = Callable[[str], None]
# Two islands (a ship with her captain and town; a mill in its county) and Bo, who has no relation. A document each.
HARBOUR = """
CREATE (:__KgevalGraph__ {name: 'bay'}), (d:Document:bay {id: 'd1', title: 'Ships'}), (f:Document:bay {id: 'd2', title: 'Mills'}),
  (c:Chunk:bay {id: 'c1', text: 'Ada commands the North Light.', index: 0})-[:FROM_DOCUMENT]->(d),
  (g:Chunk:bay {id: 'c2', text: 'The mill stands in Kent.', index: 0})-[:FROM_DOCUMENT]->(f),
  (a:__Entity__:bay {id: 'e1', name: 'Ada', name_key: 'ada', type: 'PERSON'})-[:FROM_CHUNK]->(c),
  (b:__Entity__:bay {id: 'e2', name: 'Bo', name_key: 'bo', type: 'PERSON'}),
  (s:__Entity__:bay {id: 'e3', name: 'North Light', name_key: 'north light', type: 'SHIP'})-[:FROM_CHUNK]->(c),
  (v:__Entity__:bay {id: 'e4', name: 'Velmouth', name_key: 'velmouth', type: 'TOWN'}),
  (m:__Entity__:bay {id: 'e5', name: 'Old Mill', name_key: 'old mill', type: 'MILL'})-[:FROM_CHUNK]->(g),
  (k:__Entity__:bay {id: 'e6', name: 'Kent', name_key: 'kent', type: 'COUNTY'}), (m)-[:STANDS_IN {predicate: 'stands in'}]->(k),
  (a)-[:COMMANDS {predicate: 'commands', chunk_ids: ['c1']}]->(s), (s)-[:SAILS_TO {predicate: 'sails to', chunk_ids: ['c1']}]->(v)
"""


def layout(graph: Graph) -> Layout:
    return bind(graph, load_profile("kgeval").layout, "bay")


def covered(graph: Graph, *questions: Question) -> CoverageSet:
    return coverage(questions, load_graph_groups(graph, layout(graph), timeout=60), "bay.jsonl")


def figures(one: CoverageSet) -> dict[str, CoverageFigure]:
    return {figure.facet: figure for figure in one.figures}


def counts(one: CoverageSet) -> dict[str, tuple[int | None, int | None]]:
    return {figure.facet: (figure.covered, figure.total) for figure in one.figures}


def entity(graph: Graph, name: str, **changes: Any) -> GraphRef:
    row = graph.read("MATCH (e:__Entity__ {name: $name}) RETURN elementId(e) AS id, e.id AS key, e.type AS type", {"name": name})[0]
    return GraphRef(**{"element_id": row["id"], "key": row["key"], "name": name, "type": row["type"], **changes})


def commands(graph: Graph, **changes: Any) -> Question:
    """Made from `Ada -[commands]-> North Light`, as the sampler would have recorded it."""
    row = graph.read("MATCH ()-[r:COMMANDS]->() RETURN elementId(r) AS id")[0]
    relation = GraphRef(
        element_id=row["id"], key="e1|commands|e3", name="Ada -[commands]-> North Light", type="COMMANDS", kind="relation",
    )
    made = Question(
        id="q1", question="Who commands her?", reference="Ada", level="path", hops=1,
        structure=[entity(graph, "Ada"), entity(graph, "North Light"), relation],
        path=GoldPath(nodes=[entity(graph, "Ada"), entity(graph, "North Light")], relations=[relation]),
    )
    return made.model_copy(update=changes)


SAILS = Question(id="q2", question="Which town does the North Light sail to?", reference="Velmouth")
NOTHING = Question(id="q3", question="What is the weather like?", reference="Rain")


def test_a_recorded_question_covers_the_groups_that_can_be_counted_by_hand(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    found = covered(graph, commands(graph))
    assert counts(found) == {
        "types": (2, 5), "predicates": (1, 3), "communities": (1, 2), "documents": (1, 2), "degrees": (2, 3), "hops": (1, 3),
    }
    assert found.ways.recorded == 1 and found.ways.references == {"element_id": 3}
    assert found.ways.documents == {"relations": 1}, "no evidence is named: the documents are those of the relation"
    types = figures(found)["types"]
    assert types.size_share == 3 / 6, "two persons and a ship of six entities"
    assert [(one.name, one.size) for one in types.missing] == [("COUNTY", 1), ("MILL", 1), ("TOWN", 1)]
    assert [one.name for one in figures(found)["degrees"].missing] == ["0"]
    assert figures(found)["communities"].missing[0].name == "Old Mill, Kent"


@pytest.mark.parametrize(("changes", "way"), [
    ({"element_id": "4:dead:7"}, "key"), ({"element_id": None}, "key"), ({"element_id": None, "key": "Ada"}, "name"),
    ({"element_id": None, "key": "gone", "type": None}, "name"),
])
def test_when_the_element_id_is_dead_the_key_is_asked_and_then_the_name(
    graph: Graph, draw: Draw, changes: dict[str, Any], way: str,
) -> None:
    draw(HARBOUR)
    found = covered(graph, Question(id="q", question="?", structure=[entity(graph, "Ada", **changes)]))
    assert found.ways.references == {way: 1}
    assert [one.name for one in figures(found)["types"].groups] == ["PERSON"]


def test_an_element_id_that_is_now_another_entitys_is_not_believed(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    stale = entity(graph, "Ada", element_id=entity(graph, "Kent").element_id, key="gone")
    found = covered(graph, Question(id="q", question="?", structure=[stale]))
    assert [one.name for one in figures(found)["types"].groups] == ["PERSON"]
    assert found.ways.references == {"name": 1}


def test_references_of_another_graph_are_lost_and_said_to_be(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    strange = GraphRef(key="zz", name="Zanzibar", type="TOWN")
    relation = GraphRef(key="x", name="Ada -[hates]-> North Light", kind="relation")
    broken = GraphRef(key="y", name="no arrow", kind="relation")
    found = covered(graph, Question(id="q", question="?", structure=[strange, relation, broken]))
    assert (found.ways.lost, found.ways.nowhere, found.ways.references) == (3, 1, {})
    assert any("3 references" in note for note in found.notes)


def test_a_file_without_records_is_found_by_the_names_in_its_texts(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    found = covered(graph, SAILS, NOTHING)
    assert (found.ways.recorded, found.ways.by_names, found.ways.nowhere) == (0, 1, 1)
    assert [one.name for one in figures(found)["predicates"].groups] == ["sails to"]
    assert {one.name for one in figures(found)["types"].groups} == {"SHIP", "TOWN"}
    assert figures(found)["types"].share == 2 / 5
    assert figures(found)["types"].recorded_share == 0, "what is found by names is not counted as recorded"


def test_names_in_the_evidence_count_and_a_part_of_a_longer_name_does_not(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    graph.write("CREATE (:__Entity__:bay {id: 'e7', name: 'Light', name_key: 'light', type: 'LAMP'})")
    asked = Question(id="q", question="What of it?", evidence=[Passage(text="The North Light lay before Kent.")])
    assert {one.name for one in figures(covered(graph, asked))["types"].groups} == {"SHIP", "COUNTY"}


@pytest.mark.parametrize(("more", "way", "documents"), [
    ({"evidence": [Passage(text="", chunk_id="c2")]}, "chunk_ids", ["d2"]), ({"evidence_ids": [["c1", "c2"]]}, "chunk_ids", ["d1", "d2"]),
    ({"document": "Mills"}, "document", ["d2"]), ({"document": "books/ships.txt"}, "document", ["d1"]),
    ({"document": "Moby"}, "nothing", []),
])
def test_documents_are_those_of_the_evidence_or_those_that_are_named(
    graph: Graph, draw: Draw, more: dict[str, Any], way: str, documents: list[str],
) -> None:
    draw(HARBOUR)
    found = covered(graph, Question(id="q", question="?", **more))
    assert found.ways.documents == {way: 1}
    titles = {"d1": "Ships (d1)", "d2": "Mills (d2)"}
    assert [one.name for one in figures(found)["documents"].groups] == [titles[name] for name in documents]


def test_the_cypher_of_each_facet_lists_exactly_what_is_missing(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    found = figures(covered(graph, commands(graph)))
    given = {"layout": layout(graph).model_dump()}
    rows = {name: graph.read(one.query, {**given, **one.parameters}) for name, one in found.items() if one.query}
    assert {row["type"] for row in rows["types"]} == {one.name for one in found["types"].missing} == {"TOWN", "MILL", "COUNTY"}
    assert [row["predicate"] for row in rows["predicates"]] == ["sails to", "stands in"]
    assert [(row["document"], row["chunks"]) for row in rows["documents"]] == [("d2", 1)]
    assert [row["name"] for row in rows["degrees"]] == ["Bo"]
    assert [(row["name"], row["neighbours"]) for row in rows["communities"]] == [("Old Mill", ["Kent"])]
    assert found["hops"].query is None


def test_groups_agree_with_networkx_on_a_graph_of_islands(graph: Graph, draw: Draw) -> None:
    """On islands of cliques the communities are the components, so a second computation is at hand."""
    islands = networkx.disjoint_union_all([networkx.complete_graph(n) for n in (2, 3, 5)])
    draw("CREATE (:__KgevalGraph__ {name: 'bay'})")
    graph.write("UNWIND range(0, 10) AS n CREATE (:__Entity__:bay {id: 'n' + n, name: 'node ' + n, name_key: 'node ' + n, type: 'T'})")
    graph.write(
        "UNWIND $pairs AS p MATCH (a:bay {id: 'n' + p[0]}), (b:bay {id: 'n' + p[1]}) CREATE (a)-[:R {predicate: 'r'}]->(b)",
        {"pairs": [list(edge) for edge in islands.edges]},
    )
    land = load_graph_groups(graph, layout(graph), timeout=60)
    components = sorted(len(part) for part in networkx.connected_components(islands))
    assert sorted(land.sizes["communities"].values()) == components
    by_name = {f"n{node}": degree for node, degree in islands.degree} | {"n10": 0}
    rows = graph.read("MATCH (e:__Entity__) RETURN elementId(e) AS id, e.id AS key")
    assert {row["key"]: land.degree(row["id"]) for row in rows} == by_name


def test_more_questions_never_cover_less(graph: Graph, draw: Draw) -> None:
    draw(HARBOUR)
    asked = [commands(graph), SAILS, NOTHING, Question(id="q4", question="Where is the Old Mill?", reference="Kent", hops=7)]
    land = load_graph_groups(graph, layout(graph), timeout=60)
    shares = [
        [figure.share or 0 for figure in coverage(asked[:n], land, "f").figures] for n in range(len(asked) + 1)
    ]
    assert all(a <= b for one, other in pairwise(shares) for a, b in zip(one, other, strict=True))
    assert shares[0] == [0] * 6
    assert figures(coverage(asked, land, "f"))["hops"].groups[-1].name == "3 and more"


def test_a_facet_that_the_graph_does_not_have_is_a_reason_and_no_number(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:__KgevalGraph__ {name: 'bay'}), (:__Entity__:bay {id: 'e1', name: 'Ada', name_key: 'ada'})")
    found = figures(covered(graph, SAILS))
    assert found["types"].reason == "the graph's entities have no types" and found["types"].share is None
    assert found["predicates"].reason == "the graph has no relations between entities"
    assert found["communities"].reason == "no two entities are joined"
    assert found["documents"].reason is not None
    assert (found["degrees"].covered, found["degrees"].total) == (0, 1)


def test_without_gds_communities_have_a_reason_and_the_rest_its_figures(
    graph: Graph, draw: Draw, monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(HARBOUR)
    monkeypatch.setattr(graph, "info", graph.info.model_copy(update={"gds": None}))
    found = figures(covered(graph, commands(graph)))
    assert found["communities"].reason == "this server has no Graph Data Science plugin"
    assert (found["types"].covered, found["types"].total) == (2, 5)


def file_of(folder: Path, *questions: Question, name: str = "asked.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in questions), encoding="utf-8")
    return path


@pytest.fixture
def command(address: Address, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    return lambda *parts: run(["questions", "coverage", *map(str, parts), "--graph", "bay", "--layout", "kgeval"])


@pytest.mark.parametrize(("thresholds", "code"), [
    (("types>=0.4", "types<=0.4", "asked.jsonl:documents>=0.5"), 0), (("types>=0.4", "hops=0.34"), 1), (("labels>=0.5",), 2),
    (("types>=2",), 2), (("other.jsonl:types>=0",), 2),
])
def test_a_threshold_on_a_share_decides_the_exit_code(
    graph: Graph, draw: Draw, command: Callable[..., int], tmp_path: Path, thresholds: tuple[str, ...], code: int,
) -> None:
    draw(HARBOUR)
    given = (part for threshold in thresholds for part in ("--threshold", threshold))
    assert command(file_of(tmp_path, commands(graph)), "-q", *given) == code


def test_the_report_reads_back_and_two_files_stand_side_by_side(
    graph: Graph, draw: Draw, command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(HARBOUR)
    first, second = file_of(tmp_path, commands(graph)), file_of(tmp_path, SAILS, NOTHING, name="other.jsonl")
    outputs = [part for ending in ("json", "md") for part in ("-o", tmp_path / f"r.{ending}")]
    assert command(first, second, "--cypher", "--threshold", "other.jsonl:types>=0.5", *outputs) == 1
    shown = capsys.readouterr()
    assert "1 by names in their texts, 1 nowhere" in shown.out and "types missed: COUNTY (1); MILL (1); TOWN (1)" in shown.out
    assert "// coverage-types:" in shown.out and ":param covered => ['PERSON', 'SHIP']" in shown.out
    assert "gate missed: other.jsonl: types >= 0.5 (0.4)" in shown.err
    report = CoverageReport.model_validate_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [one.file for one in report.sets] == ["asked.jsonl", "other.jsonl"] and report.run.exit_code == 1
    assert "```cypher" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_redact_leaves_out_documents_and_entities_and_keeps_the_vocabulary(
    graph: Graph, draw: Draw, command: Callable[..., int], tmp_path: Path,
) -> None:
    draw(HARBOUR)
    assert command(file_of(tmp_path, commands(graph)), "--redact", "-q", "-o", tmp_path / "r.json") == 0
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert "Old Mill" not in text and "PERSON" in text
    assert {one["facet"]: one["query"] for one in json.loads(text)["sets"][0]["figures"]}["documents"] is None


def test_hostile_names_in_a_file_neither_break_the_run_nor_steer_the_terminal(
    graph: Graph, draw: Draw, command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(HARBOUR)
    graph.write("MATCH (e:bay {id: 'e5'}) SET e.type = 'M\\u001b[31m`|*'")
    hostile = GraphRef(key="'", name="') RETURN 1 //", type="`x`")
    assert command(file_of(tmp_path, Question(id="q", question="Who? \u202e" + "x " * 50_000, structure=[hostile])), "--cypher") == 0
    assert "\x1b[31m" not in capsys.readouterr().out


def test_three_files_or_an_output_over_an_input_are_refused(command: Callable[..., int], tmp_path: Path) -> None:
    path = file_of(tmp_path, SAILS)
    assert command(path, path, path) == 2
    assert command(path, "-o", path) == 2
    assert command(tmp_path / "nothing.jsonl") == 2
