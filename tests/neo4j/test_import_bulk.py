"""`kgeval import --bulk` on a home of its own: the same graph as the ordinary import, the old store kept until the new one is right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.errors import IncompleteError
from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.load.bulk import load as loading
from kgeval.graph.server import ensure_started, exchange, kept_down, status, stop

NODES = (
    'id,name,type,description,aliases,chunk_ids,rank,"odd:name{x}",embedding\n'
    'e1,Captain Ahab,Person,"a ""hunter"", of\nthe whale",Ahab;Old Thunder,c1;c2,007,x,"[0.5, 1]"\n'
    'e2,Moby Dick,Whale,a\0 sign that no text needs,,"[""c2""]",,,\n'
    'e3,The Pequod,Ship,back\\slash,,c9,1e5,"a;b",\n'
    "e4,,,,,,,,\ne5,\u00c9clair,:Entity:Cake,\u2028 line,,,,,\ne6,Chunk thing,Chunk,,,,,,\n"
)
RELATIONS = (
    "source,target,predicate,weight,description,chunk_ids\n"
    'e1,e2,hunts,2,he does,c1|c2\ne1,e2,hunts, 1.5 ,,\ne2,e9,isSeenBy,,,c1\ne8,e9,FROM CHUNK,1e-3,"x\ny",\n'
)
CHUNKS = 'id,text,index,document\nc1,"Ahab, the ""captain"",\nhunts.",1,book\nc2,The whale.,0,book\nc3,Alone.,,\n'

pytestmark = pytest.mark.timeout(900)  # each starts a server or two, and Java again for the tool


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("bulk") / "home"
    yield place
    stop(place)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, text in (("nodes", NODES), ("relations", RELATIONS), ("chunks", CHUNKS)):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True, default=str))


def snapshot(home: Path | Address) -> dict[str, Any]:
    """Everything in the database of the home (or at the address) that does not tell the time or an id of the server's."""
    with open_graph(ensure_started(home, say=lambda _: None) if isinstance(home, Path) else home) as graph:
        nodes = graph.read("MATCH (n) WHERE NOT n:__KgevalGraph__ UNWIND labels(n) AS l WITH n, l ORDER BY l "
                           "RETURN collect(l) AS labels, n {.*} AS properties")
        return {
            "nodes": in_order(nodes),
            "relations": in_order(graph.read("MATCH (a)-[r]->(b) RETURN a.id AS a, type(r) AS type, r {.*} AS properties, b.id AS b")),
            "mark": graph.read("MATCH (n:__KgevalGraph__) RETURN n {.*, started: null, finished: null} AS mark"),
            "indexes": in_order(graph.read("SHOW INDEXES YIELD type, state, labelsOrTypes, properties "
                                           "RETURN type, state, labelsOrTypes, properties")),
        }


def audited(home: Path, folder: Path) -> Any:
    """The audit's figures and findings, without times and ids."""
    report = folder / "report.json"
    assert run(["audit", "--graph", "moby", "--home", str(home), "--output", str(report), "--quiet", "--timeout", "600"]) in (0, 1)
    found = json.loads(report.read_text(encoding="utf-8"))
    figures = {name: value for name, value in found["structure"].items() if "communit" not in name}  # these go by the order of nodes
    return figures, [(f["rule_id"], f["status"], f["count"], f["total"]) for f in found["findings"]]


@pytest.fixture(scope="module")
def loaded(home: Path, tables: Path) -> dict[str, Any]:
    """The home after a bulk import into it while it was new: everything in its database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NEO4J_URI", raising=False)
        assert run(["import", str(tables), "--graph", "moby", "--bulk", "--home", str(home)]) == 0
    return snapshot(home)


@pytest.mark.long
def test_bulk_and_ordinary_import_write_the_same_graph(
    graph: Graph, address: Address, tables: Path, loaded: dict[str, Any], monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(loaded["nodes"]) == 13 and len(loaded["relations"]) == 11
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    assert run(["import", str(tables), "--graph", "moby"]) == 0
    ordinary = snapshot(address)
    assert all(index in ordinary["indexes"] for index in loaded["indexes"])  # other tests have left theirs there
    assert {**ordinary, "indexes": None} == {**loaded, "indexes": None}


@pytest.mark.long
def test_when_a_new_store_is_not_right_the_old_one_is_taken_back(
    home: Path, tables: Path, loaded: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    other = ["import", "--relations", str(tables / "relations.csv"), "--graph", "other", "--bulk", "--home", str(home)]
    assert run(other) == 2
    assert "holds 14 nodes and 11 relations (graphs: moby)" in capsys.readouterr().err

    def wrong(*_: Any) -> None:
        raise IncompleteError("one is missing")

    monkeypatch.setattr(loading, "_started", wrong)
    assert run([*other, "--replace-store"]) == 3
    shown = capsys.readouterr().err
    assert "stopping the server" in shown and "taking the old store back" in shown and "one is missing" in shown
    assert status(home).running and snapshot(home) == loaded
    assert sorted(p.name for p in home.iterdir() if p.name.startswith("kgeval-bulk")) == ["kgeval-bulk.lock"]


@pytest.mark.long
def test_a_server_that_runs_on_the_store_of_a_killed_import_goes_back_to_the_old_one(home: Path, loaded: dict[str, Any]) -> None:
    with exchange.alone(home):
        with kept_down(home):
            exchange.exchange(home, Path(shutil.copytree(home / "data", home / "kgeval-copy")))
        with open_graph(ensure_started(home, say=lambda _: None)) as graph:
            graph.write("CREATE (:Lost)", {})
    assert exchange.is_left(home) and status(home).running  # what kill -9 leaves before the end
    assert snapshot(home) == loaded and not exchange.is_pending(home)


@pytest.mark.long
def test_bulk_and_ordinary_import_pass_the_same_audit_and_know_each_others_graph(
    home: Path, tables: Path, loaded: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    ordinary = ["import", str(tables), "--graph", "moby", "--home", str(home)]
    figures = audited(home, tmp_path)
    for again in ([*ordinary, "--bulk"], ordinary):  # both know the graph again
        assert run(again) == 0 and "nothing was changed" in capsys.readouterr().out
    assert run([*ordinary, "--replace"]) == 0
    assert snapshot(home) == loaded
    assert audited(home, tmp_path) == figures
