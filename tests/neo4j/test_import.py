"""`kgeval import` on a real server: kgeval's own layout, second imports, hostile names, several graphs in one database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgeval.auditing.engine import run_check
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile, override
from kgeval.graph.load.writer import delete_nodes

TRIPLES = (
    "subject,subject_type,predicate,object,object_type,chunk_id,chunk_text,document,weight\n"
    "Ahab,Person,hunts,Moby Dick,Whale,c1,Ahab hunts.,book,2\n"
    "Ishmael,Person,sails on,Pequod,Ship,c2,Ishmael sails.,book,\n"
)


@pytest.fixture
def cli(graph: Graph, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs `kgeval import` on the suite's server; returns the exit code. In an empty folder."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.chdir(tmp_path)

    def command(path: Path, name: str, *more: str) -> int:
        return run(["import", str(path), "--graph", name, "--no-progress", *more])

    return command


def put(name: str, text: str) -> Path:
    path = Path.cwd() / name
    path.write_text(text, encoding="utf-8")
    return path


def one(graph: Graph, query: str, **params: Any) -> Any:
    return next(iter(graph.read(query, params)[0].values()))


def test_triples_become_kgevals_layout_with_provenance(cli: Any, graph: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(put("moby.csv", TRIPLES), "moby") == 0
    shown = capsys.readouterr().out
    assert "entities                              4" in shown and "Next: kgeval audit --graph moby" in shown
    rows = graph.read("""
        MATCH (a:moby:__Entity__:Person {name_key: 'ahab'})-[r:HUNTS]->(b:Whale),
              (a)-[:FROM_CHUNK]->(c:Chunk:moby)-[:FROM_DOCUMENT]->(d:Document:moby)
        RETURN a.type AS type, r {.*} AS r, b.name AS name, c.text AS text, d {.*} AS d""")
    assert rows == [{
        "type": "Person", "name": "Moby Dick", "text": "Ahab hunts.", "d": {"id": "book", "title": "book"},
        "r": {"predicate": "hunts", "weight": 2.0, "chunk_ids": ["c1"], "document": "book"},
    }]
    assert one(graph, "MATCH ()-[r:SAILS_ON]->() RETURN r.predicate") == "sails on"


def snapshot(graph: Graph) -> list[dict[str, Any]]:
    return graph.read("""
        MATCH (n) OPTIONAL MATCH (n)-[r]->(m)
        RETURN elementId(n) AS n, n {.*} AS properties, elementId(r) AS r, r {.*} AS more, elementId(m) AS m ORDER BY n, r""")


def test_the_same_input_again_changes_nothing(cli: Any, graph: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    file = put("moby.csv", TRIPLES)
    cli(file, "moby")
    before = snapshot(graph)
    for more in ((), ("--append",)):
        assert cli(file, "moby", *more) == 0
        assert "nothing was changed" in capsys.readouterr().out
    assert snapshot(graph) == before


def test_other_input_under_the_name_needs_replace_or_append(cli: Any, graph: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    cli(put("one.csv", TRIPLES), "moby")
    cli(put("other.csv", TRIPLES), "other")
    more = put("two.csv", "subject,predicate,object\nAhab,knows,Starbuck\n")
    assert cli(more, "moby") == 2
    assert "--replace" in capsys.readouterr().err
    assert cli(more, "moby", "--append") == 0
    assert graph.read("MATCH (e:moby:__Entity__) WITH e ORDER BY e.name RETURN collect(e.name) AS names") == [
        {"names": ["Ahab", "Ishmael", "Moby Dick", "Pequod", "Starbuck"]}]
    assert cli(more, "moby", "--append") == 0
    assert cli(more, "moby", "--replace") == 0
    assert one(graph, "MATCH (n:moby) RETURN count(n)") == 2
    assert one(graph, "MATCH (n:other) RETURN count(n)") == 7


def test_an_interrupted_import_is_named_by_the_next_one(
    cli: Any, graph: Graph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from kgeval.graph.load import writer

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    file = put("moby.csv", TRIPLES)
    with monkeypatch.context() as patch:
        patch.setattr(writer._Writer, "_link", stop)
        assert cli(file, "moby") == 130
    assert cli(file, "moby") == 2
    assert "never ended" in capsys.readouterr().err
    assert cli(file, "moby", "--append") == 2
    assert cli(file, "moby", "--replace") == 0
    assert (one(graph, "MATCH (n:moby) RETURN count(n)"), one(graph, "MATCH (g:__KgevalGraph__) RETURN g.status")) == (7, "ready")


def test_a_graph_that_was_changed_since_is_not_called_unchanged(cli: Any, graph: Graph, capsys: pytest.CaptureFixture[str]) -> None:
    file = put("moby.csv", TRIPLES)
    cli(file, "moby")
    graph.write("MATCH (n:Ship) DETACH DELETE n")
    assert cli(file, "moby") == 2
    assert "7 nodes were imported, now there are 6" in capsys.readouterr().err


def test_a_label_of_somebody_elses_nodes_is_refused_as_a_name(cli: Any, graph: Graph) -> None:
    graph.write("CREATE (:Person {name: 'mine'})")
    for more in ((), ("--replace",), ("--append",)):
        assert cli(put("moby.csv", TRIPLES), "Person", *more) == 2
    assert one(graph, "MATCH (n) RETURN count(n)") == 1


def test_a_type_that_is_another_graphs_name_stays_a_property(cli: Any, graph: Graph) -> None:
    assert cli(put("one.csv", "subject,predicate,object\na,b,c\n"), "Person") == 0
    assert cli(put("moby.csv", TRIPLES), "moby") == 0
    assert one(graph, "MATCH (n:Person) RETURN count(n)") == 2
    assert one(graph, "MATCH (n:moby) WHERE n.type = 'Person' RETURN count(n)") == 2


def test_the_direction_that_a_file_does_not_have_is_bound_and_can_be_set(cli: Any, graph: Graph) -> None:
    rows = {"nodes": [{"id": "Ahab"}, {"id": "Pequod"}], "links": [{"source": "Ahab", "target": "Pequod", "relation": "commands"}]}
    assert cli(put("plain.json", json.dumps(rows)), "plain") == 0
    assert cli(put("without_direction.json", json.dumps(rows | {"directed": False})), "undirected") == 0
    ours = load_profile("kgeval").layout
    assert [bind(graph, ours, name).relations_undirected for name in ("plain", "undirected")] == [False, True]
    assert bind(graph, override(ours, {"relations_undirected": "false"}), "undirected").relations_undirected is False
    assert cli(put("plain.json", json.dumps(rows)), "undirected", "--replace") == 0
    assert bind(graph, ours, "undirected").relations_undirected is False


HOSTILE = "a`b\"c'd) DETACH DELETE n // \\u0060 e"


def test_an_entity_with_an_id_and_no_name_is_a_finding(cli: Any, graph: Graph) -> None:
    Path("tables").mkdir()
    put("tables/nodes.csv", "id,name,type\na,Ahab,Person\nb,,Person\n")
    put("tables/relations.csv", "source,target,predicate\na,b,knows\na,c,knows\n")
    assert cli(Path("tables"), "moby") == 0
    found = run_check(graph, bind(graph, load_profile("kgeval").layout, "moby"), "empty-name")
    assert (found.count, found.total, [one.items[0].key for one in found.examples]) == (1, 3, ["b"])  # c is an end that the table lacks


def test_hostile_names_types_and_texts_are_only_data(cli: Any, graph: Graph) -> None:
    graph.write("CREATE (:Bystander)")
    rows = [{"subject": HOSTILE, "subject_type": HOSTILE + "!", "predicate": HOSTILE, "object": "x" * 100_000, HOSTILE: "y"}]
    assert cli(put("h.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), HOSTILE) == 0
    labels = one(graph, "MATCH (n:__Entity__ {name: $name}) RETURN labels(n)", name=HOSTILE)
    assert set(labels) == {"__Entity__", HOSTILE, HOSTILE + "!"}
    assert graph.read("MATCH (a)-[r]->(b) RETURN type(r) AS t, r[$key] AS extra, size(b.name) AS size", {"key": HOSTILE}) == [
        {"t": "A_B_C_D_DETACH_DELETE_N_U0060_E", "extra": "y", "size": 100_000}]
    assert cli(put("i.jsonl", '["a", "b", "c"]\n'), HOSTILE, "--replace") == 0
    assert one(graph, "MATCH (n:Bystander) RETURN count(n)") == 1


def test_bad_rows_above_the_rate_write_nothing_and_below_it_are_passed_over(
    cli: Any, graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    file = put("bad.csv", TRIPLES + "Queequeg,Person,,Coffin,,,,,\n")
    assert cli(file, "moby") == 3
    assert "bad.csv:4: predicate: missing or empty" in capsys.readouterr().err
    assert one(graph, "MATCH (n) RETURN count(n)") == 0
    assert cli(file, "moby", "--max-bad-rows", "0.34") == 0
    assert "bad rows passed over                  1" in capsys.readouterr().out


def test_a_dry_run_writes_nothing_and_needs_no_server(cli: Any, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    assert cli(put("moby.csv", TRIPLES), "moby", "--dry-run") == 0
    assert one(graph, "MATCH (n) RETURN count(n)") == 0


def test_replace_and_append_exclude_each_other(cli: Any) -> None:
    assert cli(put("moby.csv", TRIPLES), "moby", "--replace", "--append") == 2


def test_appending_completes_what_was_only_known_by_name(cli: Any, graph: Graph) -> None:
    nodes: list[dict[str, str]] = [{"id": "a"}]
    cli(put("g.json", json.dumps({"nodes": nodes, "links": [{"source": "a", "target": "b"}]})), "g")
    assert one(graph, "MATCH (e {id: 'b'}) RETURN e.dangling") is True
    cli(put("h.json", json.dumps({"nodes": [{"id": "b", "type": "Ship"}], "links": []})), "g", "--append")
    assert graph.read("MATCH (e:Ship) RETURN e.id AS id, e.dangling AS dangling") == [{"id": "b", "dangling": None}]


def test_a_deletion_passes_nodes_of_other_graphs_over_also_where_their_ids_are_given(graph: Graph) -> None:
    """Element ids are given again once a node is gone: those that were read before may be another graph's by now."""
    graph.write("CREATE (:__Entity__:mine {id: 'a'}), (:__Entity__:other {id: 'b'})-[:R]->(:Person:mine {id: 'c'})")
    ids = [row["id"] for row in graph.read("MATCH (n) RETURN elementId(n) AS id")]
    assert delete_nodes(graph, "mine", ids, batch=100) == 1
    assert one(graph, "MATCH (n) RETURN count(n)") == 2 and one(graph, "MATCH ()-[r]->() RETURN count(r)") == 1
