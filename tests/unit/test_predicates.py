"""The one rule for "does this relation say how its ends are related?", and what an import keeps of directions."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from kgeval.graph.entry import Around
from kgeval.graph.layouts import load_profile, names
from kgeval.graph.load.bulk import cells
from kgeval.graph.load.detect import load
from kgeval.records import Layout
from kgeval.systems.builtin.graph_rag import sentence
from kgeval.text.predicates import is_predicate, keywords

EDGES = '<node id="a"/><node id="b"/><edge source="a" target="b"{0}><data key="p">founded</data></edge>'
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="p" for="edge" attr.name="predicate" attr.type="string"/>'
    '<graph edgedefault="{0}">{1}</graph></graphml>'
)


@pytest.mark.parametrize("label", [
    "RELATED", "RELATED_TO", "RelatedTo", "relates to", "is_related_to", "HAS_RELATIONSHIP", "DIRECTED", "undirected", "EDGE",
    "RELATIONSHIP", "UNKNOWN", "relacionado con", "関連", "->", "", None, "cancer spread,disease progression", "cancer spread<SEP>disease",
    "a; b", "alt|neu",
])
def test_a_placeholder_and_a_list_of_keywords_are_no_predicates(label: str | None) -> None:
    assert not is_predicate(label)


@pytest.mark.parametrize("label", [
    "WORKS_AT", "worksAt", "born in", "is a", "associated_with", "linked to", "CONNECTED_TO", "relative of", "is related by marriage to",
    "出生于",
])
def test_what_says_how_two_things_are_related_is_a_predicate(label: str) -> None:
    assert is_predicate(label)


def test_a_label_without_direction_is_a_keyword_even_if_it_is_one_word() -> None:
    assert is_predicate("treatment", Layout(name="kgeval"))
    assert not is_predicate("treatment", Layout(name="lightrag", relations_undirected=True))
    undirected = {name for name in names() if load_profile(name).relations_undirected}
    assert undirected == {"lightrag", "lightrag-1.4", "nano-graphrag", "ms-graphrag-neo4j", "msgraphrag-notebook"}


def test_the_names_that_a_label_lists() -> None:
    assert keywords("cancer spread, disease<SEP>cancer  spread|x") == ["cancer spread", "disease", "x"]
    assert keywords("WORKS_AT") == ["WORKS_AT"]


@pytest.mark.parametrize(("name", "content", "undirected"), [
    ("g.graphml", GRAPHML.format("undirected", EDGES.format("")), True),
    ("g.graphml", GRAPHML.format("directed", EDGES.format("")), False),
    ("g.graphml", GRAPHML.format("undirected", EDGES.format(' directed="true"')), False),
    ("g.json", json.dumps({"directed": False, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}), True),
    ("g.json", json.dumps({"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}), False),
])
def test_an_import_sees_whether_edges_have_a_direction(tmp_path: Path, name: str, content: str, undirected: bool) -> None:
    (tmp_path / name).write_text(content)
    loaded = load(tmp_path / name)
    assert loaded.undirected is undirected and any("no direction" in note for note in loaded.notes) is undirected


def test_the_pieces_of_a_description_are_lines_after_every_kind_of_import(tmp_path: Path) -> None:
    rows = {
        "nodes": [{"id": "a", "description": "An uncle.<SEP> A miser.<SEP>An uncle."}, {"id": "b"}],
        "links": [{"source": "a", "target": "b", "description": "He pays him.<SEP>He fires him."}],
    }
    (tmp_path / "g.json").write_text(json.dumps(rows))
    loaded = load(tmp_path / "g.json")
    assert (loaded.entities[0].description, loaded.relations[0].description) == ("An uncle.\nA miser.", "He pays him.\nHe fires him.")
    column, faults = cells.description(pa.array(["An uncle.<SEP>A miser.", None, "x"]), "description")
    assert (column.to_pylist(), faults) == (["An uncle.\nA miser.", None, "x"], {})


MOVIES = Layout(name="generic", entity_labels=["Person", "Movie"], relation_types=["ACTED_IN", "DIRECTED", "RELATED_TO"])


@pytest.mark.parametrize(("label", "layout", "says"), [
    ("DIRECTED", MOVIES, True), ("RELATED_TO", MOVIES, True), ("->", MOVIES, False),
    ("RELATED_TO", MOVIES.model_copy(update={"relation_types": ["RELATED_TO"]}), False),
    ("RELATED", Layout(name="ms-graphrag-neo4j", relation_types=["RELATED", "RELATIONSHIP"]), False),
    ("DIRECTED", Layout(name="lightrag-1.4", relation_types=["DIRECTED"], relation_label_key="keywords"), False),
    ("directed", Layout(name="kgeval", relation_types=["DIRECTED", "KNOWS"], relation_label_key="predicate"), True),
    ("DIRECTED", Layout(name="kgeval", relation_types=["DIRECTED", "KNOWS"], relation_label_key="predicate"), False),
    ("related to", Layout(name="kgeval", relation_types=["RELATED_TO", "KNOWS"], relation_label_key="predicate"), False),
    ("links", Layout(name="mine", relation_types=["LINKS", "PAGES"]), True),
    ("DIRECTED", None, False),
])
def test_words_of_placeholders_decide_only_where_the_graph_does_not(label: str, layout: Layout | None, says: bool) -> None:
    assert is_predicate(label, layout) is says


def test_who_directed_the_film_is_not_who_is_connected_with_it() -> None:
    told = Around("1", "r", "1", "2", "Lana Wachowski", "DIRECTED", "The Matrix")
    assert sentence(told, MOVIES) == "Lana Wachowski directed The Matrix."
