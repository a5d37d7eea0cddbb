"""The index of the built-in systems, its record at the command line, the cross-encoder over it, and what its search must not lose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from builtin_world import TOWN, ask, tools

from kgeval.cli.main import run
from kgeval.errors import UsageError
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer
from kgeval.llm.rerank import Reranker
from kgeval.llm.tokens import count
from kgeval.records import IndexRecord
from kgeval.systems.builtin import BuiltinTools, open_builtin

Draw = Callable[[str], None]


@pytest.fixture
def town(graph: Graph, draw: Draw, tmp_path: Path) -> Iterator[BuiltinTools]:
    draw(TOWN)
    with tools(graph, tmp_path) as made:
        yield made


class Scores:
    """A cross-encoder for which the longest text fits best. It notes its texts, and whether its lock was held when it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def predict(self, pairs: Sequence[tuple[str, str]], **_: Any) -> list[float]:
        self.asked.append([text for _, text in pairs])
        return [float(len(text)) for _, text in pairs]


@pytest.fixture
def scores(monkeypatch: pytest.MonkeyPatch) -> Scores:
    made = Scores()
    monkeypatch.setattr(Reranker, "_loaded", lambda self: made)
    return made


def test_a_cross_encoder_orders_the_nearest_chunks_and_the_best_k_of_them_stay(town: BuiltinTools, scores: Scores) -> None:
    plain = open_builtin("vector", {"k": 2}, town).answer(ask("Who owns Rex?"))
    assert [one.chunk_id for one in plain.contexts or []] == ["c3", "c1"]
    answer = open_builtin("vector", {"k": 2, "rerank": "longest"}, town).answer(ask("Who owns Rex?"))
    assert [len(texts) for texts in scores.asked] == [3]
    assert [(one.chunk_id, one.score) for one in answer.contexts or []] == [("c2", 48.0), ("c1", 24.0)]
    assert answer.stages is not None and answer.stages.rerank is not None
    assert (answer.system, answer.variant) == ("vector@k=2,rerank=longest", "k=2,rerank=longest")
    open_builtin("vector", {"k": 1, "rerank": "longest", "candidates": 2}, town).answer(ask("Who owns Rex?"))
    assert scores.asked[-1] == ["Bob Tarn owns Rex.", "Ada Quill works at Acme."], "no more than the candidates"


def test_relations_are_ordered_too_and_those_beyond_the_candidates_come_after_them(town: BuiltinTools, scores: Scores) -> None:
    chosen = {"theta": -1, "k": 7, "rerank": "longest", "candidates": 2}
    answer = open_builtin("graph", chosen, town).answer(ask("What does Bob Tarn own?"))
    assert scores.asked[0][0] == "Bob Tarn owns Rex." and len(scores.asked[0]) == 2
    assert len(answer.retrieved_relations or []) == 4
    assert (answer.contexts or [])[0].text.splitlines()[0] == max(scores.asked[0], key=len)


@pytest.mark.parametrize("name", ["vector", "graph"])
def test_waiting_for_the_cross_encoder_is_not_in_the_seconds_of_a_question(
    town: BuiltinTools, scores: Scores, monkeypatch: pytest.MonkeyPatch, name: str,
) -> None:
    from kgeval.systems.builtin.retrieval import Clock

    system = open_builtin(name, {"rerank": f"longest-{name}"}, town)
    assert system.retriever is not None
    lock, held, stage = system.retriever._reranker.lock, [], Clock.stage  # type: ignore[attr-defined]
    monkeypatch.setattr(Clock, "stage", lambda self, what: (held.append((what, lock._is_owned())), stage(self, what))[1])
    system.answer(ask("Who owns Rex?"))
    assert ("rerank", True) in held and ("entry", False) in held


def test_a_chunk_that_does_not_fit_is_cut_after_a_whole_sentence(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw(TOWN)
    long = "Ada Quill works at Acme. " + " ".join(f"On day {n} she walks to the harbour." for n in range(60))
    graph.write("MATCH (c:Chunk {id: 'c1'}) SET c.text = $text", {"text": long})
    with tools(graph, tmp_path) as made:
        answer = open_builtin("graph+text", {"theta": 0.5, "l_max": 60}, made).answer(ask("Where does Ada Quill work?"))
    relation, chunk = answer.contexts or []
    assert (relation.text, chunk.chunk_id, chunk.document) == ("Ada Quill works at Acme.", "c1", "d1")
    assert long.startswith(chunk.text) and chunk.text.endswith("harbour.") and len(chunk.text) > 60
    assert count(relation.text) + count(chunk.text) <= 60
    assert answer.extra["context_tokens"] <= 60


def test_descriptions_leave_half_of_the_budget_to_relations(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw(TOWN)
    graph.write("MATCH (e:__Entity__) SET e.description = 'is known far and wide for much that is told of it elsewhere'")
    with tools(graph, tmp_path) as made:
        answer = open_builtin("graph", {"theta": -1, "k": 7, "l_max": 50, "describe": "yes"}, made).answer(ask("What does Bob Tarn own?"))
    assert "Bob Tarn owns Rex." in " ".join(one.text for one in answer.contexts or [])
    assert answer.retrieved_relations


def test_a_change_of_relations_alone_changes_the_signature(town: BuiltinTools) -> None:
    before = open_builtin("graph", {}, town).signature
    assert open_builtin("graph", {}, town).signature == before
    assert town.graph is not None
    town.graph.write("MATCH (z {id: 'z'}), (a {id: 'a'}) CREATE (z)-[:OWNS {predicate: 'owns'}]->(a)")
    assert open_builtin("graph", {}, town).signature != before


@pytest.mark.long
def test_a_rare_type_is_found_behind_many_nearer_nodes_of_the_vector_index(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    draw("UNWIND range(1, 60) AS i CREATE (:__Entity__ {name: 'Ada ' + i, id: 'a' + i, type: 'Person'})")
    draw("CREATE (:__Entity__ {name: 'Zzyzx', id: 'z', type: 'Place'})-[:IS_IN {predicate: 'is in'}]->(:__Entity__ {name: 'Yo', id: 'y'})")
    with tools(graph, tmp_path) as made:
        assert made.embedder is not None
        for row in graph.read("MATCH (e:__Entity__) WHERE e.type IS NOT NULL RETURN elementId(e) AS id, e.name AS name"):
            given = {"id": row["id"], "vector": made.embedder.embed([row["name"]])[0].tolist()}
            graph.write("MATCH (e) WHERE elementId(e) = $id SET e.vec = $vector", given)
        try:
            graph.schema_command(
                "CREATE VECTOR INDEX rare_types FOR (e:__Entity__) ON (e.vec) "
                "OPTIONS {indexConfig: {`vector.dimensions`: 256, `vector.similarity_function`: 'cosine'}}"
            )
            graph.schema_command("CALL db.awaitIndexes(60)")
            chosen = {"theta": -1, "k": 2, "entry": "neo4j", "index": "rare_types", "entity_types": "Place"}
            answer = open_builtin("graph", chosen, made).answer(ask("Ada 1"))
            assert [one.text for one in answer.contexts or []] == ["Zzyzx is in Yo."]
        finally:
            graph.schema_command("DROP INDEX rare_types IF EXISTS")


@pytest.fixture
def answer(draw: Draw, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Runs `kgeval answer q.jsonl` on the town in an empty folder, without a model; returns the exit code."""
    draw(TOWN)
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q1", "question": "Who owns Rex?"}) + "\n", encoding="utf-8")
    with FakeServer(dimensions=64) as server:
        for name, value in {
            "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password,
            "KGEVAL_ANSWER_CACHE_DIR": str(tmp_path / "cache"), "KGEVAL_ANSWER_EMBEDDING_URL": server.base_url,
            "KGEVAL_ANSWER_EMBEDDING_MODEL": "letters",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        yield lambda *words: run(["answer", "q.jsonl", "--extractive", "--layout", "kgeval", "--no-progress", *map(str, words)])


def test_the_index_record_holds_what_was_indexed_and_says_whether_it_was_built_now(
    answer: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    systems = ("--system", "vector", "--system", "graph")
    for run_number in (1, 2):
        assert answer(*systems, "-o", "a.jsonl", "--index-record", "{system}.json") == 0, capsys.readouterr().err
        vector, graph = (IndexRecord.model_validate_json((tmp_path / f"{name}.json").read_text()) for name in ("vector", "graph"))
        assert (vector.system, vector.corpus.chunks, vector.corpus.documents) == ("vector", 3, 2)
        texts = ["Ada Quill works at Acme.", "Acme is located in Berlin. Berlin is in Germany.", "Bob Tarn owns Rex."]
        assert (vector.corpus.tokens, vector.corpus.words) == (sum(map(count, texts)), sum(len(text.split()) for text in texts))
        assert (graph.corpus.chunks, graph.entities, graph.relations) == (7, 7, 4)
        assert set(graph.stages) == {"read", "embed", "write"} and graph.seconds > 0
        assert graph.configuration["theta"] == 0.3 and graph.configuration["dimensions"] == 64
        assert ("built in this run" in graph.notes) is (run_number == 1)


@pytest.mark.parametrize(("words", "said"), [
    (("--system", "vector", "--system", "graph", "--index-record", "i.json"), "2 systems have an index"),
    (("--system", "graph", "--index-record", "q.jsonl"), "would replace a file of this run: q.jsonl"),
    (("--system", "graph", "-o", "a.jsonl", "--index-record", "a.run.json"), "would replace a file of this run: a.run.json"),
])
def test_an_index_record_that_has_no_place_of_its_own_is_refused(
    answer: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str,
) -> None:
    assert answer(*words) == 2
    assert said in capsys.readouterr().err
    assert "Who owns Rex?" in (tmp_path / "q.jsonl").read_text() and not (tmp_path / "i.json").exists()


def test_vector_finds_a_chunk_by_its_end_and_shows_what_was_found_within_the_budget(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    """The embedding model reads a part of a long chunk: windows are indexed, chunks retrieved."""
    filler = [f"The tide table of year {1800 + n} was printed in the harbour office again." for n in range(60)]
    needles = ["Ishbel Quaid kept gannets.", "Xaver Zyx juggled quills.", "Quox vexed Jumbo."]
    draw("".join(
        f"CREATE (:Chunk {{id: 'c{n}', text: '{' '.join([*filler, needle])}'}}) " for n, needle in enumerate(needles)
    ) + "CREATE (:Chunk {id: 'short', text: 'Nothing here.'}), (:__Entity__ {id: 'a', name: 'Ada', type: 'Person'})")
    said: list[str] = []
    with tools(graph, tmp_path, said=said) as made:
        system = open_builtin("vector", {"k": 2, "l_max": 400}, made)
        assert any(re.search(r"index: 4 chunks in \d+ windows embedded", text) for text in said)
        for n, needle in enumerate(needles):
            found = system.answer(ask(needle)).contexts or []
            assert (found[0].chunk_id, needle in found[0].text, len({one.chunk_id for one in found})) == (f"c{n}", True, 2)
            assert sum(count(one.text) for one in found) <= 400
        whole = open_builtin("vector", {"k": 1, "l_max": 100_000}, made).answer(ask(needles[0])).contexts or []
        assert whole[0].text == " ".join([*filler, needles[0]])


def test_vector_retrieves_pieces_of_so_many_tokens_where_a_paper_did(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    """`chunk_tokens`: a piece of a long chunk stands for itself, under the chunk's id; pieces do not overlap, and hold all of the chunk."""
    sentences = [f"The tide table of year {1800 + n} was printed in the harbour office." for n in range(24)]
    draw(f"CREATE (:Chunk {{id: 'long', text: '{' '.join(sentences)}'}}), (:Chunk {{id: 'short', text: 'Ishbel Quaid kept gannets.'}}), "
         "(:__Entity__ {id: 'a', name: 'Ada', type: 'Person'})")
    with tools(graph, tmp_path) as made:
        system = open_builtin("vector", {"k": 100, "chunk_tokens": 64, "l_max": 10_000}, made)
        pieces = [one.text for one in system.answer(ask("?")).contexts or []]
        assert sorted(" ".join(pieces).split()) == sorted(" ".join([*sentences, "Ishbel Quaid kept gannets."]).split())
        lengths = made.embedder.lengths(pieces) if made.embedder else []
        assert len(pieces) > 5 and max(lengths) <= 64
        best = open_builtin("vector", {"k": 2, "chunk_tokens": 64}, made).answer(ask("Ishbel Quaid kept gannets.")).contexts or []
        assert [one.chunk_id for one in best] == ["short", "long"] and best[0].text == "Ishbel Quaid kept gannets."


def test_pieces_longer_than_the_model_reads_are_refused(town: BuiltinTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(town.embedder), "window", lambda self: 256)
    with pytest.raises(UsageError, match="chunk_tokens=600: letters reads 256 tokens"):
        open_builtin("vector", {"chunk_tokens": 600}, town)


@pytest.mark.long
def test_a_preset_at_the_command_line_is_in_answers_and_in_the_record_of_the_index(
    answer: Callable[..., int], scores: Scores, tmp_path: Path,
) -> None:
    assert answer("--system", "vector", "--preset", "xiang", "--index-record", "i.json", "-o", "a.jsonl") == 0
    row = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert row["system"] == "vector@preset=xiang" and "|preset=xiang|" in row["signature"] and "chunk_tokens=256" in row["signature"]
    record = IndexRecord.model_validate_json((tmp_path / "i.json").read_text())
    assert (record.configuration["preset"], record.configuration["chunk_tokens"]) == ("xiang", 256)
    assert scores.asked, "the reranker of the paper ordered what was found"
