"""The closed-book summary probe on a drawn graph with a real HTTP model: what is asked, how much, and what failures become."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.llm.fake import Chat, FakeServer
from kgeval.metrics.contamination.probe import nearest_passages, probed_documents, title_of
from kgeval.records import ContaminationReport, ProbeResult

Draw = Callable[[str], None]
# Three documents: the first is remembered (one claim of two is true), the second is not known, the third breaks the model.
SHELF = """
CREATE (:__KgevalGraph__ {name: 'shelf'}),
  (a:Document:shelf {id: 'd1', title: 'The Old Mill'}), (b:Document:shelf {id: 'd2', title: 'Notes'}),
  (c:Document:shelf {id: 'd3', title: 'Broken'}), (:Document:shelf {id: 'd4', title: 'Empty'}),
  (:Chunk:shelf {id: 'c2', text: 'Ada built the mill.', index: 1})-[:FROM_DOCUMENT]->(a),
  (:Chunk:shelf {id: 'c1', text: 'Rain fell.', index: 0})-[:FROM_DOCUMENT]->(a),
  (:Chunk:shelf {id: 'c3', text: 'Milk, bread.', index: 0})-[:FROM_DOCUMENT]->(b),
  (:Chunk:shelf {id: 'c4', text: 'Broken glass.', index: 0})-[:FROM_DOCUMENT]->(c),
  (:__Entity__:shelf {id: 'e1', name: 'Ada', name_key: 'ada', type: 'PERSON'})
"""


def model(chat: Chat) -> Any:
    fields = set((chat.schema or {}).get("properties", {}))
    if "known" in fields:
        if "Broken" in chat.subject:
            return "no json at all"
        known = "Old Mill" in chat.subject
        return {"known": known, "summary": "Ada built the mill. Bo burned it." if known else ""}
    if "statements" in fields:
        return {"statements": ["Ada built the mill.", "Bo burned the mill."], "nothing_claimed": False}
    items = {number: "Ada" in item for number, item in chat.items.items()}
    return {"items": [
        {"tag": number, "reason": "r", "sources": list(chat.sources)[:1], "label": "supported" if told else "not_stated"}
        for number, told in items.items()
    ]}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(model) as running:
        yield running


@pytest.fixture
def command(address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: FakeServer) -> Callable[..., int]:
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "NEO4J_URI": address.uri, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "sk-test",
        "KGEVAL_CONTAMINATION_CACHE_DIR": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q1", "question": "Who?", "reference": "Ada", "document": "The Old Mill"}) + "\n")
    (tmp_path / "a.jsonl").write_text(json.dumps({"question_id": "q1", "answer": "Ada", "system": "closed-book"}) + "\n")
    fixed = [
        "contamination", "q.jsonl", "--answers", "a.jsonl", "--probe", "--graph", "shelf", "--layout", "kgeval", "--model", "m",
        "--base-url", server.base_url, "--metric", "contains", "--no-progress", "--max-reasks", "0", "--max-retries", "0",
    ]
    return lambda *more: run([*fixed, *map(str, more)])


def probes(folder: Path) -> dict[str, ProbeResult]:
    report = ContaminationReport.model_validate_json((folder / "r.json").read_text(encoding="utf-8"))
    return {one.document: one for one in report.probe}


def test_each_document_is_summed_up_by_its_title_and_the_claims_are_held_against_its_text(
    draw: Draw, command: Callable[..., int], tmp_path: Path, server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(SHELF)
    assert command("--dry-run") == 0
    lines = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert lines["probe-document"][1] == "3" and lines["claims"][1:4] == ["0", "to", "3"]
    assert server.stats().requests == 0
    assert command("-o", "r.json", "--known", "The Old Mill", "-q", "--max-error-rate", "0.5") == 0
    found = probes(tmp_path)
    assert set(found) == {"d1", "d2", "d3"}, "a document without a text is not asked about"
    assert (found["d1"].title, found["d1"].recognised, found["d1"].claims, found["d1"].supported) == ("The Old Mill", True, 2, 0.5)
    assert (found["d2"].recognised, found["d2"].status, found["d2"].supported) == (False, "not_applicable", None)
    assert found["d3"].status == "unscored" and found["d3"].reason is not None and found["d3"].reason.startswith("unparsable")
    made = server.stats().requests
    assert made >= 3 + 2
    assert command("-o", "r.json", "-q", "--max-error-rate", "0.1") == 3, "one of three documents failed"
    assert server.stats().requests <= made + 1, "what was answered is in the journal"


def test_the_reader_may_be_another_model_and_fewer_documents_may_be_asked_about(
    draw: Draw, command: Callable[..., int], tmp_path: Path, server: FakeServer,
) -> None:
    draw(SHELF)
    assert command("--reader", "other", "--probe-documents", "1", "-o", "r.json", "-q") == 0
    assert list(probes(tmp_path)) == ["d1"]
    report = ContaminationReport.model_validate_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert {(one.role, one.name) for one in report.run.models} == {("judge", "m"), ("reader", "other")}


def test_chunks_come_in_their_order_under_the_documents_title(graph: Graph, draw: Draw) -> None:
    draw(SHELF)
    layout = bind(graph, load_profile("kgeval").layout, "shelf")
    first = next(probed_documents(graph, layout, most=9))
    assert (first.document, first.title, first.texts) == ("d1", "The Old Mill", ["Rain fell.", "Ada built the mill."])


def test_passages_are_those_that_share_rare_words_with_a_sentence() -> None:
    texts = [f"The rain of day {n} was the rain of the day before." for n in range(40)]
    texts[7], texts[30] = "Ada built the mill in the rain.", "Bo burned it to the ground."
    assert nearest_passages("Ada built a mill. Bo burned it.", texts)[-1] == texts[30]
    assert texts[7] in nearest_passages("Ada built a mill. Bo burned it.", texts)
    assert nearest_passages("Nothing shared", ["x", "y"]) == ["x"], "a judge must see something of the document"
    assert len(nearest_passages(". ".join(texts), texts)) == 12
    assert title_of("d1", ["d1", " ", "The Mill"]) == "The Mill" and title_of("d1", []) == "d1"
