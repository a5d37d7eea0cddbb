"""Real graphs with published figures. Skipped aloud where the shared data is absent (users do not have it)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgeval.auditing.engine import run_check
from kgeval.auditing.structure import StructureOptions, measure
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import Finding, Layout

DATA = Path(os.environ.get("KGEVAL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def server(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)


def load(graph: Graph, folder: str) -> Layout:
    path = DATA / folder
    if not path.is_dir():
        pytest.skip(f"shared data is absent: {folder}")
    assert run(["import", str(path), "--graph", "known", "--no-progress"]) == 0
    return bind(graph, load_profile("kgeval").layout, "known")


def check(graph: Graph, layout: Layout, rule_id: str) -> Finding:
    return run_check(graph, layout, rule_id)


def test_the_msgraphrag_index_gives_its_published_figures(graph: Graph) -> None:
    layout = load(graph, "msgraphrag-fixture")
    numbers = measure(graph, layout, StructureOptions(communities=False)).numbers
    assert (numbers["entities"], numbers["relations"], numbers["components"], numbers["isolated"]) == (561, 978, 9, 1)
    assert numbers["average_degree"] == pytest.approx(3.4866, abs=5e-5)
    assert numbers["average_clustering"] == pytest.approx(0.268574, abs=5e-7)
    dangling = check(graph, layout, "dangling-relation")
    assert dangling.count == 84
    assert graph.read("MATCH (e:__Entity__ {dangling: true}) RETURN count(e) AS n") == [{"n": 32}]
    assert check(graph, layout, "inverse-duplicate").count == 43
    assert check(graph, layout, "parallel-relation").count == 0
    assert check(graph, layout, "isolated-entity").count == 1


def test_the_lightrag_stores_give_their_published_figures(graph: Graph) -> None:
    layout = load(graph, "graphrag-bench-novel/lightrag")
    numbers = measure(graph, layout, StructureOptions(communities=False, properties=False)).numbers
    rows = graph.read("MATCH (e:__Entity__) RETURN sum(CASE WHEN e.dangling THEN 1 ELSE 0 END) AS dangling, count(e) AS all")
    assert rows == [{"dangling": 2, "all": 3675}]
    assert numbers["relations"] == 3116
    assert numbers["documents"] == 8
    for rule_id in ("name-not-in-source", "ends-not-in-source"):
        finding = check(graph, layout, rule_id)
        assert finding.status == "skipped"
        assert "text" in (finding.reason or "")
