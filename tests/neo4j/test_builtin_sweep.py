"""The database's own vector index, the sweep, and that the metrics of `kgeval score` read what the graph system retrieved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from builtin_world import TOWN, ask, tools

from kgeval.errors import LayoutError, UsageError
from kgeval.graph.connect import Graph
from kgeval.records import GoldPath, GraphRef, Passage, Question
from kgeval.systems.builtin import open_builtin, read_settings
from kgeval.systems.builtin.sweep import best, sweep
from kgeval.workflows.answer import measured, sweep_lines, sweep_table

PATH = GoldPath(
    nodes=[GraphRef(key=key, name=name) for key, name in (("a", "Ada Quill"), ("b", "Acme"), ("e", "Berlin"))],
    relations=[
        GraphRef(key="ab", name="Ada Quill -[works at]-> Acme", kind="relation"),
        GraphRef(key="be", name="Acme -[located in]-> Berlin", kind="relation"),
    ],
)
QUESTION = Question(
    id="q1", question="In which place is the employer of Ada Quill?", path=PATH, hops=2,
    evidence=[Passage(text="", chunk_id="c1"), Passage(text="", chunk_id="c2")],
)


def test_path_coverage_and_id_recall_show_that_one_hop_misses_what_two_find(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(TOWN)
    with tools(graph, tmp_path) as made:
        found = {
            hops: measured(QUESTION, open_builtin("graph", {"theta": 0.1, "k": 1, "hops": hops}, made).answer(ask(QUESTION.question)))
            for hops in (1, 2)
        }
    assert found[1] == {"path_coverage": pytest.approx(3 / 5), "path_complete": 0, "id_recall": pytest.approx(1 / 2)}
    assert found[2] == {"path_coverage": 1, "path_complete": 1, "id_recall": 1}


def test_a_sweep_finds_at_each_place_what_the_system_finds_there(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(TOWN)
    grid = {"theta": (0.0, 0.4, 0.95), "k": (1, 7), "l_max": (20, 200)}
    with tools(graph, tmp_path) as made:
        rows = sweep(read_settings("graph", {}), made, [QUESTION], measured, grid)
        for row in rows:
            answer = open_builtin("graph", {n: row.settings.own[n] for n in ("theta", "k", "l_max")}, made).answer(ask(QUESTION.question))
            assert row.mean("path_coverage") == measured(QUESTION, answer)["path_coverage"]
            assert (row.tokens, row.nothing) == (answer.extra["context_tokens"], float(answer.contexts == []))
        chosen = best(rows, "path_coverage")
        assert chosen is not None and chosen.mean("path_coverage") == max(row.mean("path_coverage") or 0 for row in rows)
        assert list(sweep_lines([QUESTION], read_settings("graph", {}), made, grid))[:-1] == sweep_table(rows)
        with pytest.raises(UsageError, match="vector has no theta"):
            sweep(read_settings("vector", {}), made, [QUESTION], measured)


@pytest.mark.long
def test_the_vector_index_of_the_database_finds_the_same_entry_entities(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(TOWN)
    with tools(graph, tmp_path) as made:
        assert made.embedder is not None and made.layout is not None
        with pytest.raises(LayoutError, match="the database has no vector index nowhere"):
            open_builtin("graph", {"entry": "neo4j", "index": "nowhere"}, made)
        for row in graph.read("MATCH (e:__Entity__) RETURN elementId(e) AS id, e.name AS name"):
            vector = made.embedder.embed([row["name"]])[0].tolist()
            graph.write("MATCH (e) WHERE elementId(e) = $id SET e.vec = $vector", {"id": row["id"], "vector": vector})
        create = "CREATE VECTOR INDEX {} FOR (e:__Entity__) ON (e.{}) OPTIONS {{indexConfig: {{`vector.dimensions`: {}, " \
            "`vector.similarity_function`: 'cosine'}}}}"
        try:
            graph.schema_command(create.format("town_vectors", "vec", 256))
            graph.schema_command(create.format("short_vectors", "other", 8))
            graph.schema_command("CALL db.awaitIndexes(60)")
            ours = open_builtin("graph", {"theta": 0.4}, made).answer(ask("Where does Ada Quill work?"))
            theirs = open_builtin("graph", {"theta": 0.4, "entry": "neo4j", "index": "town_vectors"}, made).answer(
                ask("Where does Ada Quill work?"))
            assert theirs.retrieved_nodes == ours.retrieved_nodes
            scores = [[one.score for one in found.contexts or []] for found in (ours, theirs)]
            assert scores[1] == pytest.approx(scores[0], abs=0.02)  # the database's index keeps vectors coarsely
            with pytest.raises(LayoutError, match="holds vectors of 8 dimensions, the embedding model gives 256"):
                open_builtin("graph", {"entry": "neo4j", "index": "short_vectors"}, made)
        finally:
            graph.schema_command("DROP INDEX town_vectors IF EXISTS")
            graph.schema_command("DROP INDEX short_vectors IF EXISTS")
