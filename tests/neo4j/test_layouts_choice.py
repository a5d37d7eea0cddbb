"""Mixtures, several graphs in one database, hostile names, many labels: the right choice or a clear refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kgeval.cli.common import Person, say
from kgeval.cli.layout import layout as layout_commands
from kgeval.errors import LayoutError, UsageError
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, catalogue, detect, load_profile, override
from kgeval.graph.layouts.check import check
from kgeval.graph.layouts.draft import draft
from kgeval.graph.literals import cypher_literal
from kgeval.workflows.layouts import choose_layout

PICTURES = Path(__file__).parents[1] / "graphs" / "layouts"
HOSTILE = ["a`b", "it's \"quoted\"", "two words", "\\u0060", "`}) DETACH DELETE (n)//", "Zürich 東京", "$layout", "*"]
Draw = Callable[[str], None]


def paint(draw: Draw, *names: str) -> None:
    for name in names:
        draw((PICTURES / f"{name}.cypher").read_text(encoding="utf-8"))


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize(
    ("one", "other"),
    [("llm-graph-builder", "graphiti"), ("langchain", "llamaindex"), ("neo4j-graphrag", "kgeval"), ("lightrag", "msgraphrag-notebook"),
     ("neo4j-agent-memory", "graphiti"), ("lightrag", "neo4j-graphrag"), ("cognee", "llamaindex"), ("llm-graph-builder", "langchain")],
)
def test_a_mixture_is_named_with_what_was_seen_and_not_guessed(graph: Graph, draw: Draw, one: str, other: str) -> None:
    paint(draw, one, other)
    found = detect(graph)
    assert found.choice is None
    assert {c.name for c in found.tied} == {one, other}
    assert all(c.evidence_for and c.share is not None and c.share <= 1 for c in found.tied)
    with pytest.raises(LayoutError, match=f"--layout .*{one}") as refused:
        choose_layout(graph, "auto", None, {}, say=print)
    assert other in str(refused.value)


def test_the_graphs_name_settles_a_mixture(graph: Graph, draw: Draw) -> None:
    paint(draw, "kgeval", "graphiti")
    assert detect(graph, "demo").choice == "kgeval"
    assert detect(graph, "g1").choice == "graphiti"


def test_a_fallback_does_not_stand_beside_a_mark(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:__Entity__:Person {id: 'Ada'})<-[:HAS_ENTITY]-(:Chunk {text: 'Ada'})")
    assert detect(graph).choice == "llm-graph-builder"


def test_nodes_that_play_no_role_are_evidence_against(graph: Graph, draw: Draw) -> None:
    paint(draw, "kg-gen")
    draw("UNWIND range(1, 3) AS i CREATE (:Movie {title: 'M' + i})")
    best = detect(graph).candidates[0]
    assert (best.name, best.share) == ("kg-gen", 0.5)
    assert "3 of 6 nodes play no role in it (Movie)" in best.evidence_against


@pytest.mark.parametrize(("picture", "named"), [
    ("neo4j-graphrag", "lightrag"), ("kgeval", "lightrag-1.4"), ("kgeval", "nano-graphrag"), ("kgeval", "cognee"),
    ("graphiti", "langchain-nobase"),
])
def test_a_layout_of_which_nothing_is_there_is_refused_with_what_was_found(graph: Graph, draw: Draw, picture: str, named: str) -> None:
    """It would find entities (any label is one), and leave nearly all checks out."""
    paint(draw, picture)
    with pytest.raises(LayoutError, match=r"does not fit this database|finds no entity here") as refused:
        choose_layout(graph, named, None, {}, say=print)
    assert picture in (refused.value.fix or "") and "holds" in str(refused.value)


def test_an_empty_database_says_so(graph: Graph) -> None:
    assert (detect(graph).choice, detect(graph).reason) == (None, "the database is empty")
    with pytest.raises(LayoutError, match="is empty"):
        choose_layout(graph, "auto", None, {}, say=print)
    with pytest.raises(LayoutError, match="is empty"):
        bind(graph, load_profile("langchain").layout)


def test_a_layout_that_matches_nothing_says_what_is_there_and_what_fits(graph: Graph, draw: Draw) -> None:
    paint(draw, "graphiti")
    with pytest.raises(LayoutError, match="Entity 3") as wrong:
        bind(graph, load_profile("neo4j-graphrag").layout)
    assert "--layout graphiti" in wrong.value.fix


def test_a_graph_of_one_node_keeps_its_type(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:Person {name: 'Ada'})")
    layout = choose_layout(graph, "auto", None, {}, say=print)
    assert (layout.name, layout.entity_labels, layout.relation_types) == ("generic", ["Person"], [])
    assert "Person" not in layout.type_label_ignored
    assert layout.relations_join_entities_only is False


def test_a_label_of_all_entities_beside_others_is_no_type(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:Corpus7:Person {name: 'Ada'}), (:Corpus7:Machine {name: 'Engine'})")
    assert bind(graph, load_profile("generic").layout).type_label_ignored == ["Corpus7"]


def test_two_workspaces_need_a_name(graph: Graph, draw: Draw) -> None:
    paint(draw, "lightrag")
    draw("CREATE (:work2 {entity_id: 'X', entity_type: 'person'})-[:DIRECTED {keywords: 'k'}]->(:work2 {entity_id: 'Y'})")
    layout = load_profile("lightrag").layout
    with pytest.raises(LayoutError, match=r"2 graphs .*'base' \(3 entities\), 'work2' \(2 entities\)"):
        bind(graph, layout)
    bound = bind(graph, layout, "work2")
    assert (bound.scope_label, bound.entity_labels, bound.relation_types) == ("work2", ["work2"], ["DIRECTED"])
    with pytest.raises(LayoutError, match="no graph 'nope'"):
        bind(graph, layout, "nope")
    assert detect(graph).candidates[0].graphs == {"base": 3, "work2": 2}


def test_two_imports_of_kgeval_are_told_apart_by_their_marks(graph: Graph, draw: Draw) -> None:
    paint(draw, "kgeval")
    draw("CREATE (:__KgevalGraph__ {name: 'two'}), (:__Entity__:two:Odd {id: 'x', name: 'X', name_key: 'x', type: 'Strange'})")
    with pytest.raises(LayoutError, match=r"'demo'.*'two'"):
        bind(graph, load_profile("kgeval").layout)
    bound = bind(graph, load_profile("kgeval").layout, "two")
    assert (bound.scope_label, bound.scope_value) == ("two", "two")
    assert bound.relation_types == []
    assert bind(graph, load_profile("kgeval").layout, "demo").relations_join_entities_only is True


def test_groups_of_graphiti_are_chosen_by_property(graph: Graph, draw: Draw) -> None:
    paint(draw, "graphiti")
    draw("CREATE (:Entity {uuid: 'z', name: 'Zoe', group_id: 'g2'})")
    with pytest.raises(LayoutError, match=r"'g1'.*'g2'"):
        bind(graph, load_profile("graphiti").layout)
    bound = bind(graph, load_profile("graphiti").layout, "g2")
    assert (bound.scope_property, bound.scope_value, bound.relation_types) == ("group_id", "g2", [])


def test_a_name_for_a_layout_that_parts_nothing_is_refused(graph: Graph, draw: Draw) -> None:
    paint(draw, "langchain")
    with pytest.raises(LayoutError, match="does not part graphs"):
        bind(graph, load_profile("langchain").layout, "demo")


def test_single_keys_are_replaced_before_binding(graph: Graph, draw: Draw) -> None:
    draw("CREATE (a:Thing {heading: 'A', tenant: 't'})-[:LINK]->(:Thing {heading: 'B', tenant: 't'})")
    overrides = {"name_keys": "heading", "scope_property": "tenant", "relation_types": "LINK,GONE"}
    layout = choose_layout(graph, "generic", "t", overrides, say=print)
    assert (layout.name_keys, layout.scope_value, layout.relation_types) == (["heading"], "t", ["LINK"])


def test_hostile_labels_and_types_pass_through_unharmed(graph: Graph, draw: Draw) -> None:
    for name in HOSTILE:
        graph.write("CREATE (:$($n) {name: $n})-[:$($n)]->(:$($n) {name: 'b'})", {"n": name})
    seen = catalogue(graph)
    assert seen.labels == dict.fromkeys(sorted(HOSTILE), 2)
    bound = choose_layout(graph, "auto", None, {}, say=print)
    assert set(bound.entity_labels) == set(bound.relation_types) == set(HOSTILE)
    returned = graph.read(f"RETURN {cypher_literal(bound.model_dump())} AS layout")[0]["layout"]
    assert returned == bound.model_dump()
    assert check(graph, load_profile("generic").layout).roles["entities"] == 2 * len(HOSTILE)
    assert "a`b" in draft(graph, "mine")


def test_names_as_literals_come_back_as_they_were(graph: Graph) -> None:
    texts = [*HOSTILE, "\\", "\\\\u0027", "line\nend\r\t\0\x1f", "it's", "\u2028"]
    assert graph.read(f"RETURN {cypher_literal(texts)} AS x")[0]["x"] == texts
    keyed = {text: 1 for text in texts if "\0" not in text}
    assert graph.read(f"RETURN {cypher_literal(keyed)} AS x")[0]["x"] == keyed


def test_reading_the_graph_gives_the_same_counts_as_the_count_store(
    graph: Graph, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint(draw, "neo4j-graphrag")
    stored = catalogue(graph)
    monkeypatch.setattr(import_module("kgeval.graph.layouts.catalogue"), "MOST_PAIRS", -1)
    scanned = catalogue(graph)
    assert (scanned.source, scanned.labels, scanned.types) == ("scan", stored.labels, stored.types)
    assert scanned.starts == {key: count for key, count in stored.starts.items() if key in scanned.starts}
    assert detect(graph).choice == "neo4j-graphrag"
    assert bind(graph, load_profile("neo4j-graphrag").layout).relations_join_entities_only is True


def test_the_draft_is_a_valid_layout_that_binds(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    paint(draw, "generic")
    file = tmp_path / "mine.toml"
    file.write_text(draft(graph, "mine"), encoding="utf-8")
    bound = bind(graph, override(load_profile(str(file)).layout, {"weight_key": ""}))
    assert (bound.name, bound.entity_labels, bound.name_keys) == ("mine", ["Person", "Machine"], ["name", "title"])


def test_check_names_what_the_layout_names_in_vain(graph: Graph, draw: Draw) -> None:
    paint(draw, "neo4j-graphrag")
    report = check(graph, override(load_profile("neo4j-graphrag").layout, {"entity_labels": "__Entity__,Gone", "weight_key": "w"}))
    assert report.roles == {"entities": 3, "chunks": 2, "documents": 1, "structure": 0, "unseen": 0}
    assert "entity_labels: no node has the label Gone" in report.remarks
    assert "no relation has the property w" in report.remarks
    assert {f.key: (f.filled, f.total) for f in report.fills if f.role == "chunk"}["text"] == (2, 2)


def test_a_label_of_ones_own_parts_any_graph(graph: Graph, draw: Draw) -> None:
    draw("CREATE (a:Tea:Person {name: 'A'})-[:LIKES]->(:Tea:City {name: 'B'}), (:Tea:Chunk {text: 't'})")
    draw("MATCH (a {name: 'A'}) CREATE (:Milk:Person {name: 'C'})-[:LIKES]->(a)")
    layout = choose_layout(graph, "generic", None, {"scope_label": "Tea"}, say=print)
    roles = check(graph, override(load_profile("generic").layout, {"scope_label": "Tea"})).roles
    assert (layout.scope_label, sorted(layout.entity_labels)) == ("Tea", ["City", "Milk", "Person"])
    assert (roles["entities"], roles["chunks"], roles["unseen"]) == (2, 1, 1)
    assert layout.relations_join_entities_only is False


def test_at_a_terminal_a_tie_is_asked(graph: Graph, draw: Draw) -> None:
    paint(draw, "kgeval", "graphiti")
    names = [c.name for c in detect(graph).tied]

    @click.command()
    def ask() -> None:
        click.echo(choose_layout(graph, "auto", None, {}, ask=Person(), say=say).name)

    for at, name in enumerate(names, start=1):
        result = CliRunner().invoke(ask, input=f"9\n{at}\n")
        assert result.stdout.splitlines()[-1] == name


def test_detect_on_a_mixture_exits_with_2_and_names_both(address: Address, graph: Graph, draw: Draw) -> None:
    paint(draw, "langchain", "graphiti")
    env = {"NEO4J_URI": address.uri, "NEO4J_PASSWORD": address.password}
    result = CliRunner().invoke(layout_commands, ["detect"], env=env, standalone_mode=False)
    assert result.return_value == 2
    assert "undecided" in result.stdout
    assert "--layout graphiti or --layout langchain" in result.stderr
    as_json = CliRunner().invoke(layout_commands, ["detect", "-f", "json", "--graph", "g1"], env=env, standalone_mode=False)
    assert (as_json.return_value, json.loads(as_json.stdout)["choice"]) == (0, "graphiti")


def test_init_and_check_work_on_the_command_line(address: Address, graph: Graph, draw: Draw, tmp_path: Path) -> None:
    paint(draw, "lightrag")
    env, file = {"NEO4J_URI": address.uri, "NEO4J_PASSWORD": address.password}, str(tmp_path / "mine.toml")
    run = CliRunner().invoke
    assert run(layout_commands, ["init", "-o", file], env=env).exit_code == 0
    assert isinstance(run(layout_commands, ["init", "-o", file], env=env).exception, UsageError)
    told = run(layout_commands, ["check", file, "--graph", "base"], env=env)
    assert "3 entities" in told.stdout
    assert "keywords: 100 % (2 of 2)" in told.stdout
