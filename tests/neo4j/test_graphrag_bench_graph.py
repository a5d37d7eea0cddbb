"""The four levels from a graph in Neo4j: structures of the right shape, and `kgeval questions generate` from the outside."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.llm.fake import Chat, FakeServer
from kgeval.questions.making.graphrag_bench import KINDS
from kgeval.questions.sampling.sampler import open_sampler
from kgeval.tables.rows import read_questions

# sixteen places in a ring, each told in a chunk with the next one; every second one also has a light
RING = """
CREATE (d:Document {id: 'D1'})
WITH d UNWIND range(0, 15) AS i
CREATE (:__Entity__ {id: 'e' + i, name: 'Place' + i, name_key: 'place' + i, type: 'PLACE', n: i}),
  (:Chunk {id: 'c' + i, index: i, text: 'Place' + i + ' faces Place' + ((i + 1) % 16) + '.', n: i})-[:FROM_DOCUMENT]->(d)
WITH count(*) AS all
MATCH (a:__Entity__), (b:__Entity__ {n: (a.n + 1) % 16}), (c:Chunk {n: a.n})
CREATE (a)-[:FACES {predicate: 'faces', chunk_ids: [c.id]}]->(b), (a)-[:FROM_CHUNK]->(c), (b)-[:FROM_CHUNK]->(c)
"""
SIZES = {"fact_retrieval": 2, "complex_reasoning": 6, "contextual_summarize": 5, "creative_generation": 8}
LEAST = {"fact_retrieval": 1, "complex_reasoning": 3, "contextual_summarize": 3, "creative_generation": 5}
_DATA = re.compile(r'<data name="(\w+)">\n(.*?)\n</data>', re.DOTALL)


def writer(chat: Chat) -> Any:
    """Uses every second relation where that is enough, all of them in creative tasks, the first one for facts."""
    blocks = {name: [json.loads(line) for line in body.split("\n")] for name, body in _DATA.findall(chat.subject)}
    fields = set((chat.schema or {})["properties"])
    if "triples" in fields:
        shown = blocks["triples"][0]
        numbers = [1] if len(shown) < 5 else list(range(1, len(shown) + 1)) if "form" in blocks else [1, 3, len(shown)]
        start, end = shown[0], shown[numbers[-1] - 1]
        asked = f"{len(shown)} by {'form' in blocks}: what comes of {start['subject']}? ({chat.hash})"
        return {"question": asked, "answer": f"It faces {end['object']}", "triples": numbers}
    if "items" in fields:
        return {"items": [
            {"tag": line["tag"], "reason": "said", "follows": True, "passages": [
                p["tag"] for p in blocks["passages"][0] if f"{line['item']['subject']} faces {line['item']['object']}." in p["text"]
            ]} for line in blocks["items"]
        ]}
    return {"reason": "so", "follows": True, "corrected": "", "question": blocks["question"][0]}


@pytest.mark.long
def test_chains_and_neighbourhoods_are_large_enough_for_their_levels(graph: Graph, draw: Callable[[str], None]) -> None:
    draw(RING)
    with open_sampler(graph, bind(graph, load_profile("kgeval").layout, None), seed=1) as sampler:
        for kind in KINDS:
            wanted = kind.draws
            for structure in islice(sampler.structures(wanted), 5):
                size = len(structure.relations)
                assert size == SIZES[kind.name]
                assert structure.passages
                degrees = Counter(end for r in structure.relations for end in (r.source, r.target))
                assert sorted(degrees.values()) == [1, 1, *[2] * (size - 1)], "a path, also around one place of a ring"


@pytest.mark.long
def test_generate_writes_the_four_levels_and_costs_nothing_again(
    graph: Graph, draw: Callable[[str], None], address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(RING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    output = tmp_path / "q.jsonl"
    with FakeServer(writer) as server:
        command = [
            "questions", "generate", "--uri", address.uri, "--layout", "kgeval", "--kind", "graphrag-bench", "--n", "2", "--seed", "5",
            "--no-embeddings", "--model", "m", "--base-url", server.base_url, "--journal", "j.sqlite", "-o", str(output), "-q",
        ]
        assert run(command) == 0
        asked, text = server.stats().requests, output.read_bytes()
        assert run(command) == 0
        assert (server.stats().requests, output.read_bytes()) == (asked, text)
    found = list(read_questions(output))
    assert Counter(q.level for q in found) == dict.fromkeys(LEAST, 2)
    for question in found:
        assert (question.triples_needed or 0) >= LEAST[str(question.level)]
        assert (question.hops or 0) >= (question.triples_needed or 0)
        assert {"evidence_from_text", "answer_from_evidence"} <= {one.name for one in question.checks if one.passed}
        assert len(question.evidence) == question.triples_needed, "a chunk a relation"
    assert {q.made_by.number for q in found if q.made_by} >= {0, 1}
    assert asked == 4 * len(found)
