"""Every option of a command with a graph that writes a file, over hostile names and texts: rights, wholeness, cells."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from output_walk import HOSTILE, Case, unwalked, walk

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer

GRAPH = """
CREATE (d:Document:small {id: '=d', title: $hostile}), (c:Chunk:small {id: '@c', index: 0, text: $text})-[:FROM_DOCUMENT]->(d),
  (:__KgevalGraph__:small {name: 'small', status: 'ready'})
FOREACH (i IN range(1, 6) |
  CREATE (a:__Entity__:Person:small {id: '=a' + i, name: $hostile + i, name_key: 'a' + i, type: '+Person'})-[:FROM_CHUNK]->(c)
  CREATE (b:__Entity__:Person:small {id: '@b' + i, name: 'Bob ' + i, name_key: 'b' + i, type: '+Person'})-[:FROM_CHUNK]->(c)
  CREATE (a)-[:MET {predicate: '-met', chunk_ids: ['@c']}]->(b))
CREATE (ada:__Entity__:Person:small {id: '=l', name: 'Ada Lindqvist', name_key: 'ada', type: '+Person'})-[:FROM_CHUNK]->(c)
CREATE (eli:__Entity__:Person:small {id: '=t', name: 'Elias Thorn', name_key: 'elias', type: '+Person'})-[:FROM_CHUNK]->(c)
CREATE (ada)-[:MARRIED {predicate: 'married', chunk_ids: ['@c']}]->(eli)
CREATE (:__Entity__:Person:small {id: '-x', name: 'she', name_key: 'she', type: '+Person'})
"""
REPORTS = "-o {out}/r.html -o {out}/r.json -o {out}/r.md"
FILES = ("r.html", "r.json", "r.md")
SMALL = "--graph small --no-progress"


@pytest.fixture
def world(graph: Graph, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    text = f"{HOSTILE} met Bob 1 in Ulm. Ada Lindqvist married Elias Thorn in Varne."
    graph.write(GRAPH, {"hostile": HOSTILE, "text": text})
    asked = {
        "id": "=q", "question": f"Whom did {HOSTILE}1 meet?", "reference": "Bob 1", "evidence": [{"text": HOSTILE, "chunk_id": "@c"}],
    }
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    gold = [{"name": f"{HOSTILE}1", "type": "+Person"}, {"subject": "=nobody", "predicate": "@met", "object": "Bob 1"}]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold), encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Ada Lindqvist met Elias Thorn in Varne. Elias Thorn sailed to Norway.", encoding="utf-8")
    for name, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password,
        "KGEVAL_CACHE_DIR": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    with FakeServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield tmp_path


def cases() -> list[Case]:
    return [
        Case(f"audit {SMALL} --check names {REPORTS} -o {{out}}/r.xml -o {{out}}/r.sarif -o {{out}}/hits.csv",
             (*FILES, "r.xml", "r.sarif", "hits.csv"), [("audit", "-o")], codes=(0, 3)),
        Case(f"audit {SMALL} --check names --redact {REPORTS} -o {{out}}/hits.csv", (*FILES, "hits.csv"), [], shared=(*FILES, "hits.csv"),
             codes=(0, 3)),
        Case(f"audit {SMALL} --check names --write-ratchet {{out}}/r.json", ("r.json",), [("audit", "--write-ratchet")], again=True,
             codes=(0, 3)),
        Case(f"profile --graph small {REPORTS}", FILES, [("profile", "-o")]),
        Case(f"accuracy {SMALL} --model m -n 2 {REPORTS}", FILES, [("accuracy", "-o")], codes=(0, 3)),
        Case(f"accuracy {SMALL} -n 2 --sheet {{out}}/sheet.csv", ("sheet.csv",), [("accuracy", "--sheet")], refuses=True, again=True,
             codes=(0, 3)),
        Case(f"completeness {SMALL} --gold gold.jsonl {REPORTS}", FILES, [("completeness", "-o")], codes=(0, 3)),
        Case(f"completeness {SMALL} --ideal docs --ideal-extractor rules --ideal-export {{out}}/gold.csv", ("gold.csv",),
             [("completeness", "--ideal-export")], refuses=True, again=True, codes=(0, 3)),
        Case("layout init -o {out}/mine.toml", ("mine.toml",), [("layout init", "-o")], shared=("mine.toml",), refuses=True, again=True),
        Case("questions sample --graph small --structure edge -n 2 -o {out}/s.jsonl", ("s.jsonl",), [("questions sample", "-o")],
             codes=(0, 3)),
        Case(f"questions coverage q.jsonl --graph small {REPORTS}", FILES, [("questions coverage", "-o")]),
        Case(f"questions generate {SMALL} --kind hop_1=1 --template -o {{out}}/q.jsonl", ("q.jsonl",), [("questions generate", "-o")],
             codes=(0, 3)),
        Case(f"questions generate {SMALL} --kind hop_1=1 --template -o made.jsonl --sheet {{out}}/sheet.csv", ("sheet.csv",),
             [("questions generate", "--sheet")], refuses=True, again=True, codes=(0, 3)),
        Case("build docs --graph made --extractor rules --cooccurrence --no-progress -o {out}/index.json", ("index.json",),
             [("build", "-o")]),
        Case(f"answer q.jsonl {SMALL} --system vector --model m --embedding-model e -o {{out}}/a.csv --index-record {{out}}/index.json",
             ("a.csv", "index.json"), [("answer", "--index-record")], codes=(0, 3), again=True),  # no answer was asked yet
    ]


@pytest.mark.parametrize("case", cases(), ids=lambda case: " ".join(case.walks[0]) if case.walks else "redacted")
def test_what_a_command_writes(case: Case, world: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    if "--embedding-model" in case.words:
        case = replace(case, more=("--embedding-url", os.environ["OPENAI_BASE_URL"]))
    walk(case, world, monkeypatch)


def test_every_option_that_writes_is_walked() -> None:
    assert unwalked(cases(), "neo4j") == set()


def test_the_graph_is_there(world: Path, graph: Graph, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--graph", "small", "--check", "pronoun-entity", "-f", "json", "--no-progress"]) == 0
    assert json.loads(capfd.readouterr().out)["findings"][0]["count"] == 1
