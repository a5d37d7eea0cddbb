"""`--embed` from the command line: made beside the graph, named in the report, refused at once where it cannot be had."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer

PICTURE = """
CREATE (:__Entity__:small {id: 'a', name: 'Sea Wall', name_key: 'sea wall', type: 'T'}),
  (:__Entity__:small {id: 'b', name: 'Sea Dyke', name_key: 'sea dyke', type: 'T'}),
  (:__Entity__:small {id: 'c', name: 'Orchard', name_key: 'orchard', type: 'T'}),
  (:__KgevalGraph__:small {name: 'small', status: 'ready'})
"""
QUICK = ("audit", "small", "--check", "similar-entity", "--no-structure", "--no-progress")


@pytest.fixture(autouse=True)
def at(graph: Graph, draw: Callable[[str], None], address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.chdir(tmp_path)
    draw(PICTURE)


def audited(folder: Path, *words: str) -> tuple[int, dict]:
    report = folder / "report.json"
    code = run([*QUICK, "-o", str(report), *words])
    return code, json.loads(report.read_text("utf-8"))


@pytest.mark.long
def test_an_endpoint_embeds_and_the_report_names_its_model(graph: Graph, tmp_path: Path) -> None:
    before = graph.read("MATCH (n) RETURN elementId(n) AS id, properties(n) AS has ORDER BY id")
    with FakeServer() as server:
        words = ("--embed", "--embedding-url", server.base_url, "--embedding-model", "e", "--cache-dir", str(tmp_path / "cache"))
        code, report = audited(tmp_path, *words, "--setting", "similar-entity.min_cosine=-1", "--examples", "0")
    assert code == 0
    assert report["run"]["models"] == [{"role": "embedding", "name": "e", "base_url": server.base_url, "parameters": {}}]
    (found,) = report["findings"]
    assert (found["count"], found["total"], found["reason"]) == (3, 3, "by names embedded with e")
    assert graph.read("MATCH (n) RETURN elementId(n) AS id, properties(n) AS has ORDER BY id") == before


def test_without_embed_the_check_is_skipped_and_no_model_is_named(tmp_path: Path) -> None:
    code, report = audited(tmp_path)
    assert (code, report["run"]["models"], report["findings"][0]["status"]) == (0, [], "skipped")
    assert "--embed" in report["findings"][0]["reason"]


def test_kgeval_toml_can_ask_for_it(tmp_path: Path) -> None:
    with FakeServer() as server:
        (tmp_path / "kgeval.toml").write_text(
            f'schema_version = "1"\n[audit]\nembed = true\n[model.embedding]\nname = "e"\nbase_url = "{server.base_url}"\n', "utf-8",
        )
        code, report = audited(tmp_path, "--cache-dir", str(tmp_path / "cache"))
    assert (code, report["run"]["models"][0]["name"]) == (0, "e")


@pytest.mark.parametrize(("words", "told"), [
    (("--embed", "--embedding-model", "./nothing-here"), "no such folder"),
    (("--embed", "--embedding-url", "http://127.0.0.1:1/v1"), "needs a model name"),
    (("--embedding-model", "all-MiniLM-L6-v2"), "without --embed"),
])
def test_a_model_that_cannot_be_had_is_told_at_once(
    words: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*QUICK, "-o", str(tmp_path / "r.json"), *words]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "r.json").exists()


@pytest.mark.both_lines
@pytest.mark.long
def test_accuracy_lists_the_pairs_of_similar_entity_where_it_can_run(graph: Graph, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    words = ["accuracy", "--graph", "small", "--kind", "duplicates", "--no-model", "--sheet", str(sheet), "--no-progress"]
    assert run(words) == 3  # no check lists a pair
    graph.write("MATCH (e:__Entity__) SET e.embedding = CASE e.name WHEN 'Orchard' THEN [0.0, 1.0] ELSE [1.0, 0.1] END")
    assert run(words) == 0
    assert "Sea Dyke" in sheet.read_text("utf-8") and "Orchard" not in sheet.read_text("utf-8")


def test_embed_belongs_to_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["accuracy", "--graph", "small", "--kind", "entities", "--embed", "--no-model"]) == 2
    assert "--embed is for --kind duplicates" in capsys.readouterr().err
