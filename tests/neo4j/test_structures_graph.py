"""`kgeval questions generate --kind structures` and `questions sample` from the outside, on a small graph with texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_graphrag_bench_graph import _DATA, RING

from kgeval.cli.main import run
from kgeval.graph.connect import Address
from kgeval.llm.fake import Chat, FakeServer
from kgeval.tables.rows import read_questions

# the ring of places, each of which is also a part of a district of four, the districts of a town; a leak down the line
TOWN = RING.strip() + """
WITH DISTINCT 1 AS one
UNWIND range(0, 15) AS i
MATCH (p:__Entity__ {n: i}), (c:Chunk {n: i})
MERGE (d:__Entity__ {id: 'd' + (i / 4), name: 'District' + (i / 4), type: 'DISTRICT'})
MERGE (t:__Entity__ {id: 't', name: 'Town', type: 'TOWN'})
SET c.text = c.text + ' Place' + i + ' is part of District' + (i / 4) + ', which belongs to Town.'
MERGE (d)-[r:BELONGS_TO {predicate: 'belongs to'}]->(t) SET r.chunk_ids = coalesce(r.chunk_ids, []) + c.id
CREATE (p)-[:PART_OF {predicate: 'part_of', chunk_ids: [c.id]}]->(d), (d)-[:FROM_CHUNK]->(c), (t)-[:FROM_CHUNK]->(c)
WITH p, i, c WHERE i < 6
MATCH (next:__Entity__ {n: i + 1})
SET c.text = c.text + ' The leak at Place' + i + ' causes one at Place' + (i + 1) + '.'
CREATE (p)-[:CAUSES {predicate: 'causes', chunk_ids: [c.id]}]->(next)
"""


def writer(chat: Chat) -> Any:
    """Uses two relations of each part, as far as there are."""
    blocks = {name: [json.loads(line) for line in body.split("\n")] for name, body in _DATA.findall(chat.subject)}
    fields = set((chat.schema or {})["properties"])
    if "triples" in fields:
        numbers = sorted(number for part in blocks["parts"][0] for number in part[:2])
        return {"question": f"What comes of {blocks['triples'][0][0]['subject']}? ({chat.hash})", "answer": "It all hangs together.",
                "triples": numbers}
    if "items" in fields:
        return {"items": [
            {"tag": line["tag"], "reason": "said", "follows": True, "passages": list(chat.sources)[:1]} for line in blocks["items"]
        ]}
    return {"reason": "so", "follows": True, "corrected": "", "question": blocks["question"][0]}


@pytest.mark.both_lines
@pytest.mark.long
def test_questions_of_each_structure_are_counted_made_and_cost_nothing_again(
    draw: Callable[[str], None], address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TOWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    with FakeServer(writer) as server:
        command = [
            "questions", "generate", "--uri", address.uri, "--layout", "kgeval", "--kind", "structures=2", "--seed", "5",
            "--no-embeddings", "--model", "m", "--base-url", server.base_url, "--journal", "j.sqlite", "-o", "q.jsonl",
        ]
        assert run([*command, "--dry-run"]) == 0
        plan = capsys.readouterr().out
        assert all(f"bench-{name} " in plan for name in ("chains", "disjoint", "hierarchy", "dependency")), plan
        assert run(command) == 0, capsys.readouterr()
        asked, text = server.stats().requests, Path("q.jsonl").read_bytes()
        assert run(command) == 0
        assert (server.stats().requests, Path("q.jsonl").read_bytes()) == (asked, text)
    found = list(read_questions(Path("q.jsonl")))
    assert Counter(q.kind for q in found) == dict.fromkeys(("several_chains", "disjoint_subgraphs", "hierarchy", "dependency"), 2)
    assert asked == 4 * len(found)
    assert {q.made_by.structure for q in found if q.made_by} == {"chains", "disjoint", "hierarchy", "dependency"}
    for question in found:
        assert any(one.name == "several_parts" and one.passed for one in question.checks)
    hierarchical = {ref.type for q in found if q.kind == "hierarchy" for ref in q.structure if ref.kind == "relation"}
    assert hierarchical == {"PART_OF", "BELONGS_TO"}
    assert {ref.type for q in found if q.kind == "dependency" for ref in q.structure if ref.kind == "relation"} == {"CAUSES"}


def test_sample_draws_them_and_says_why_there_is_none(
    draw: Callable[[str], None], address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TOWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    command = ["questions", "sample", "--uri", address.uri, "--layout", "kgeval", "-n", "2", "--hops", "2", "--structure"]
    for kind in ("chains", "hierarchy", "dependency"):
        assert run([*command, kind, "--parts", "3", "--min-relations", "2", "--max-relations", "6", "-o", f"{kind}.jsonl"]) == 0
        drawn = [json.loads(line) for line in Path(f"{kind}.jsonl").read_text().splitlines()]
        assert all(len(one["parts"]) == (3 if kind == "chains" else 2) for one in drawn)
    capsys.readouterr()
    assert run([*command, "hierarchy", "--set", "hierarchy_relations=SITS_UNDER"]) == 3
    assert "none of its predicates is one of a hierarchy" in capsys.readouterr().err
