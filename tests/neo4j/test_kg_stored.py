"""Triples from the stored graph, matching against it, a pair laid open and written back, and sweeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kgeval.config import ScoreOptions
from kgeval.errors import UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.layouts import bind, load_profile
from kgeval.graph.load.pairs import delete_pair, write_pair
from kgeval.graph.queries import all_queries
from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.engine import Tools
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.kg.batch import add_pairs, nearest
from kgeval.metrics.kg.explain import explain as lay_open
from kgeval.metrics.kg.sides import requests_of
from kgeval.metrics.kg.triples import ask_triples, given_triples, stored_triples
from kgeval.metrics.select import select
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Layout, Passage, Question, Row, Triple
from kgeval.workflows.score import Scoring, prepare_metrics
from kgeval.workflows.score_kg import explain, explain_text, pair_rows, parse_grid, sweep
from kgeval.workflows.session import Session

DRAWN = """
CREATE (c1:Chunk {id: 'c1', text: 'Ada wrote notes with Charles.'}), (c2:Chunk {id: 'c2', text: 'Notes.'}),
  (a:__Entity__ {id: '1', name: 'Ada Lovelace', name_key: 'ada lovelace', aliases: ['Countess of Lovelace']}),
  (n:__Entity__ {id: '2', name: 'Notes', name_key: 'notes'}), (b:__Entity__ {id: '3', name: 'Babbage', name_key: 'babbage'}),
  (a)-[:FROM_CHUNK]->(c1), (n)-[:FROM_CHUNK]->(c1), (b)-[:FROM_CHUNK]->(c1), (n)-[:FROM_CHUNK]->(c2),
  (a)-[:WROTE {predicate: 'wrote', chunk_ids: ['c1']}]->(n), (a)-[:KNEW {predicate: 'knew', chunk_ids: ['c9']}]->(b),
  (b)-[:READ {predicate: 'read'}]->(n)
"""


class Words:
    """Vectors by hand: a name's first letter decides, so that "Ada" and "Adalbert" are near and others are not."""

    name = "first letters"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 128), dtype=np.float32)
        for at, text in enumerate(texts):
            rows[at, ord(text[:1].lower() or " ") % 128] = 1.0
        return rows


@pytest.fixture
def layout(graph: Graph, draw: Callable[[str], None]) -> Layout:
    draw(DRAWN)
    return bind(graph, load_profile("kgeval").layout, None)


def subject(given: Sequence[str], contexts: Sequence[Passage] = (), settings: MetricSettings | None = None, n: int = 0) -> Subject:
    triples = [Triple(subject=a, predicate=r, object=b) for a, r, b in (text.split(" / ") for text in given)]
    answer = Answer(question_id=f"q{n}", system="s", answer="text", triples=triples, contexts=list(contexts))
    row = Row(n=n, where="", question=Question(id=f"q{n}", question="?"), answer=answer)
    return Subject(row, RowFacts(), settings or MetricSettings(runs=3))


def of_chunks(graph: Graph, layout: Layout, *ids: str) -> dict[str, list[tuple[str, str, str]]]:
    found = stored_triples(graph, layout, ids, owner=layout, timeout=30.0)
    return {given: sorted((t.subject, t.predicate, t.object) for t in triples) for given, triples in found.items()}


NOTES, READ, KNEW = ("Ada Lovelace", "wrote", "Notes"), ("Babbage", "read", "Notes"), ("Ada Lovelace", "knew", "Babbage")


def test_a_chunks_triples_are_those_that_name_it_or_join_two_of_its_entities(graph: Graph, layout: Layout) -> None:
    assert of_chunks(graph, layout, "c1", "c2", "unknown") == {"c1": [NOTES, READ], "c2": []}
    element_id = graph.read("MATCH (c:Chunk {id: 'c1'}) RETURN elementId(c) AS id")[0]["id"]
    assert of_chunks(graph, layout, element_id) == {element_id: [NOTES, READ]}


def test_relations_that_name_a_chunk_count_though_it_mentions_none_of_their_ends_or_is_not_in_the_graph(
    graph: Graph, draw: Callable[[str], None], layout: Layout,
) -> None:
    draw("MATCH (a {id: '1'})-[r:KNEW]->(b {id: '3'}) SET r.chunk_ids = ['c9', ' c2 ']")
    assert of_chunks(graph, layout, "c1", "c2", "c9", "c8") == {"c1": [NOTES, READ], "c2": [KNEW], "c9": [KNEW]}
    without = layout.model_copy(update={"mention_types": []})
    assert of_chunks(graph, without, "c1", "c2", "c9", "c8") == {"c1": [NOTES], "c2": [KNEW], "c9": [KNEW]}


def test_a_layout_without_mentions_and_sources_knows_no_chunk(graph: Graph, layout: Layout) -> None:
    """Else every chunk would have no triples, and every score would be 0."""
    assert of_chunks(graph, layout.model_copy(update={"mention_types": [], "relation_source_key": None}), "c1") == {}


def test_an_id_that_several_chunks_have_names_none_of_them(graph: Graph, draw: Callable[[str], None], layout: Layout) -> None:
    draw("CREATE (:Chunk {id: 'c1', text: 'of another document'})")
    assert of_chunks(graph, layout, "c1", "c2") == {"c2": []}


def test_chunks_of_a_larger_graph_agree_with_a_count_in_python(graph: Graph, draw: Callable[[str], None], layout: Layout) -> None:
    """Relations with sources, with an empty list of them and with none; ends mentioned in many chunks, in some and in none."""
    draw("""
        UNWIND range(0, 19) AS i CREATE (:Chunk {id: 'k' + i})
        WITH count(*) AS n UNWIND range(0, 29) AS i CREATE (:__Entity__ {id: 'x' + i, name: 'Thing ' + i})
        WITH count(*) AS n UNWIND range(0, 89) AS i MATCH (e:__Entity__ {id: 'x' + (i * 7 % 25)}), (c:Chunk {id: 'k' + (i * i % 20)})
        MERGE (e)-[:FROM_CHUNK]->(c)
        WITH count(*) AS n UNWIND range(0, 149) AS i MATCH (a:__Entity__ {id: 'x' + (i * 11 % 30)}), (b:__Entity__ {id: 'x' + (i * i % 30)})
        CREATE (a)-[:R {chunk_ids: CASE i % 3 WHEN 0 THEN ['k' + (i % 20), 'k' + (i * 3 % 20)] WHEN 1 THEN [] END}]->(b)
    """)
    relations = graph.read("MATCH (a:__Entity__)-[r]->(b:__Entity__) RETURN elementId(r) AS id, a.id AS a, b.id AS b, r.chunk_ids AS own")
    mentions = {(row["e"], row["c"]) for row in graph.read("MATCH (e)-[:FROM_CHUNK]->(c:Chunk) RETURN e.id AS e, c.id AS c")}
    ids = [f"k{at}" for at in range(20)]
    plain = {
        c: {r["id"] for r in relations if (c in r["own"] if r["own"] else (r["a"], c) in mentions and (r["b"], c) in mentions)} for c in ids
    }
    assert sum(map(len, plain.values())) > 100
    bound = bind(graph, load_profile("kgeval").layout, None)
    found = stored_triples(graph, bound, ids, owner=bound, timeout=30.0)
    assert {given: {t.element_id for t in triples} for given, triples in found.items()} == plain


def test_ids_are_read_once_a_run_whatever_thread_comes_first(graph: Graph, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    stream = Graph.stream

    def counted(self: Graph, query: Any, *more: Any, **named: Any) -> Any:
        read.append(query.name)
        return stream(self, query, *more, **named)

    monkeypatch.setattr(Graph, "stream", counted)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: of_chunks(graph, layout, "c1"), range(24)))
    assert found == [{"c1": [NOTES, READ]}] * 24
    assert sorted(read) == ["chunk-keys", "relation-sources"]
    of_chunks(graph, layout.model_copy(), "c1")
    assert len(read) == 4  # another run reads them anew: the graph may have changed


def test_a_query_that_takes_too_long_is_the_failure_of_its_row(graph: Graph, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(self: Graph, query: Any, *_: Any, timeout: float | None = None, **__: Any) -> Any:
        raise QueryTimeout(f"stopped at its time limit ({timeout})", fix="")

    monkeypatch.setattr(Graph, "read", slow)
    one = subject([], [Passage(text="x", chunk_id="c1")], MetricSettings(query_timeout=7))
    given_triples([one], select(["kg_matching_faithfulness"]), graph, layout)
    assert one.facts.triples["triples:contexts"].failure == Failure("graph_error", "stopped at its time limit (7)")


def test_contexts_with_chunk_ids_cost_no_call_and_a_relation_of_two_chunks_counts_once(graph: Graph, layout: Layout) -> None:
    one = subject(["Ada / wrote / Notes"], [Passage(text="x", chunk_id="c1"), Passage(text="y", chunk_id="c2")])
    ask_triples(one, frozenset({"triples:contexts", "triples:answer"}), None, Tools(graph=graph, layout=layout))
    found = one.facts.triples["triples:contexts"]
    assert (found.origin, len(found.triples), found.failure) == ("graph", 2, None)


def test_a_chunk_that_the_graph_does_not_know_is_a_text_like_any_other(graph: Graph, layout: Layout) -> None:
    one = subject([], [Passage(text="x", chunk_id="nowhere")])
    ask_triples(one, frozenset({"triples:contexts"}), None, Tools(graph=graph, layout=layout))
    failure = one.facts.triples["triples:contexts"].failure
    assert failure is not None
    assert "no model" in failure.detail


def test_entities_of_the_graph_are_found_by_name_by_alias_and_by_embedding(graph: Graph, layout: Layout) -> None:
    names = ["the notes", "COUNTESS of Lovelace", "Bab", "Zuse"]
    found = nearest(names, graph, Words(), layout)  # type: ignore[arg-type]
    assert found.exact.tolist() == [True, True, False, False]
    assert found.cosine.tolist() == [1.0, 1.0, 1.0, 0.0]
    by_id = {row["id"]: row["name"] for row in graph.read("MATCH (e:__Entity__) RETURN elementId(e) AS id, e.name AS name")}
    assert [by_id.get(found.element_id[at]) for at in range(3)] == ["Notes", "Ada Lovelace", "Babbage"]


def test_above_the_limit_only_equal_names_count(graph: Graph, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.metrics.kg.batch.MOST_NAMES", 2)
    found = nearest(["the notes", "Bab"], graph, Words(), layout)  # type: ignore[arg-type]
    assert (found.cosine.tolist(), found.by_embedding) == ([1.0, -1.0], False)


def test_matching_against_the_stored_graph_counts_entities_with_a_cheap_path(graph: Graph, layout: Layout) -> None:
    """"Ada Lovelace" is in the graph; "Zuse" is one relation (0.2) before her, "Xaver" three."""
    given = ["Zuse / met / Ada Lovelace", "Yves / met / Zuse", "Xaver / met / Yves"]
    for delta, matched in ((0.0, 1), (0.2, 2), (0.5, 3), (0.6, 4)):
        one = subject(given, settings=MetricSettings(delta=delta))
        add_pairs([one], select(["kg_matching_stored"]), graph, Words(), layout)  # type: ignore[arg-type]
        value = all_metrics()["kg_matching_stored"].value(one)
        assert (value.value, value.detail["matched"], value.detail["exact"]) == (matched / 4, matched, 1)
    assert one.facts.stored is not None
    assert len(one.facts.stored.element_ids) == 1
    assert graph.gds.graph.list() == []


def test_without_a_layout_the_stored_graph_cannot_be_asked(graph: Graph) -> None:
    one = subject(["a / r / b"])
    add_pairs([one], select(["kg_matching_stored"]), graph, Words(), None)  # type: ignore[arg-type]
    value = all_metrics()["kg_matching_stored"].value(one)
    assert (value.status, value.cause, value.reason) == ("unscored", "graph_error", "no stored graph is given")


def opened(graph: Graph, layout: Layout, one: Subject) -> Any:
    selection = select(["kg_community_faithfulness"])
    given_triples([one], selection, graph, layout)
    return lay_open(requests_of(one, selection)[0], graph, Words())  # type: ignore[arg-type]


def test_a_pair_laid_open_agrees_with_its_counts(graph: Graph, layout: Layout) -> None:
    contexts = [Passage(text="x", chunk_id="c1")]
    one, other = (subject(["Zuse / met / Ada", "Ada / wrote / Verse"], contexts) for _ in range(2))
    add_pairs([other], select(["kg_matching_faithfulness"]), graph, Words(), layout)  # type: ignore[arg-type]
    explained = opened(graph, layout, one)
    assert sum(way.matched for way in explained.ways) == other.facts.pairs["pairs:faithfulness"].matched == 2
    zuse = explained.ways[0]
    assert [node.name for node in zuse.nodes] == ["Zuse", "met", "Ada", "Ada Lovelace"]
    assert zuse.cost == pytest.approx(0.2)
    assert sorted(node.name for group in explained.communities for node in group) == sorted(node.name for node in explained.nodes)
    text = explain_text(explained, one.run_settings)
    assert "0.2000 yes  Zuse -> [met] -> Ada -> Ada Lovelace" in text
    assert "none      Verse" in text


def test_hidden_characters_of_a_name_are_shown(graph: Graph, layout: Layout) -> None:
    explained = opened(graph, layout, subject(["\u202eAda / r\x1b[2J / B"], [Passage(text="x", chunk_id="c1")]))
    text = explain_text(explained, MetricSettings())
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_a_pair_is_written_back_once_however_often_and_can_be_seen_and_deleted(graph: Graph, layout: Layout) -> None:
    before = graph.read("MATCH (n) RETURN count(n) AS n")[0]["n"]
    explained = opened(graph, layout, subject(["Zuse / met / Ada'}) DELETE x //"], [Passage(text="x", chunk_id="c1")]))
    rows = pair_rows(explained, MetricSettings())
    assert write_pair(graph, rows) == write_pair(graph, rows) == len(explained.nodes)
    assert graph.read("MATCH (p:KgevalPair) RETURN count(p) AS n")[0]["n"] == 1
    counts = {row["type"]: row["n"] for row in graph.read(
        "MATCH ({pair: $id})-[r]->({pair: $id}) RETURN type(r) AS type, count(r) AS n", {"id": explained.id})}
    assert counts == {"HEAD": 3, "TAIL": 3, "SIMILAR": len(explained.similar)}
    assert len(graph.read(all_queries()["view-pair"], {"id": explained.id})) == sum(counts.values())
    matched = "MATCH (e:KgevalPairEntity {name: 'Zuse'}) RETURN e.matched AS matched, round(e.cost, 6) AS cost"
    assert graph.read(matched) == [{"matched": True, "cost": 0.2}]
    second = replace(rows, id="another")
    write_pair(graph, second)
    assert delete_pair(graph, explained.id) == len(explained.nodes) + 1
    assert graph.write(all_queries()["delete-pair"], {"id": None})[0]["deleted"] == len(explained.nodes) + 1
    assert graph.read("MATCH (n) RETURN count(n) AS n")[0]["n"] == before


class Found(list[Row]):
    """Rows as the command has them."""

    def find(self, question_id: str) -> list[Row]:
        return [row for row in self if row.question.id == question_id]


def run_of(graph: Graph, layout: Layout, **options: Any) -> Scoring:
    """A run with its tools open."""
    chosen = ScoreOptions(metrics=("kg_matching_faithfulness", "kg_community_faithfulness", "token_f1"), **options)
    made = prepare_metrics(Session("score"), [], chosen)
    return replace(made, settings=MetricSettings(runs=2), tools=Tools(embedder=Words(), graph=graph, layout=layout))  # type: ignore[arg-type]


def rows() -> Found:
    contexts = [Passage(text="x", chunk_id="c1")]
    return Found([subject(["Zuse / met / Ada"], contexts, n=1).row, subject([], contexts, n=2).row])


def test_a_question_is_shown_and_written_only_when_told(
    graph: Graph, layout: Layout, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Session, "embedded_graph", lambda _: nullcontext(graph))
    assert "paths (cost <= 0.5): 2 of 2 input entities" in shown(graph, layout, explain="q1")
    assert graph.read("MATCH (p:KgevalPair) RETURN count(p) AS n")[0]["n"] == 0
    shown(graph, layout, explain="q1", write_back=True)
    assert graph.read("MATCH (p:KgevalPair) RETURN p.id AS id") == [{"id": "q1 | s | faithfulness"}]
    assert "the input has no triples" in shown(graph, layout, explain="q2")
    with pytest.raises(UsageError, match="no answer to question"):
        shown(graph, layout, explain="q3")


def shown(graph: Graph, layout: Layout, **options: Any) -> str:
    return "\n".join(explain(run_of(graph, layout, **options), rows()))  # type: ignore[arg-type]


@pytest.mark.both_lines
@pytest.mark.long
def test_a_sweep_has_a_line_a_point_and_metric(graph: Graph, layout: Layout) -> None:
    lines = sweep(run_of(graph, layout, sweep="tau=0.6,0.9;delta=0,0.1,0.5"), rows()).splitlines()  # type: ignore[arg-type]
    assert lines[0].split() == ["tau", "delta", "mean", "n", "system,", "metric"]
    assert len(lines) == 1 + 6 * 2
    matching = {tuple(line.split()[:2]): float(line.split()[2]) for line in lines if "kg_matching" in line}
    assert matching == {("0.6", "0.0"): 0.25, ("0.6", "0.1"): 0.25, ("0.6", "0.5"): 0.5,
                        ("0.9", "0.0"): 0.25, ("0.9", "0.1"): 0.25, ("0.9", "0.5"): 0.5}


MANY = "runs=" + ",".join(map(str, range(1, 500)))


@pytest.mark.parametrize("text", ["", "tau", "tau=", "speed=1", "tau=0.5;speed=1", "tau=2", "tau=x", MANY])
def test_a_faulty_grid_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_grid(text, MetricSettings())
