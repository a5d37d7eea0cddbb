"""`kgeval build` on a real server: the graph is a pure function of its documents, whatever way it came about."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from kgeval.building.decide import decide, decisions_of
from kgeval.building.resolve import Rules
from kgeval.building.run import BuildSettings, build
from kgeval.building.state import Cutting
from kgeval.errors import IncompleteError, UsageError
from kgeval.graph.connect import Graph
from kgeval.llm.calls import Failure
from kgeval.manifest import ModelUsage
from kgeval.records import Document, IndexRecord
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention

SMALL = Cutting(size=20, overlap=0, context_sentences=0)


class Notes:
    """Reads texts of the form "Ahab:Person hunts Moby_Dick:Whale." word by word: no guessing, everything is given."""

    def __init__(self, version: str = "1", fails: str = "") -> None:
        self.signature = version
        self._fails = fails
        self.asked_for: list[str] = []

    name = "notes"

    def asked(self) -> ModelUsage:
        return ModelUsage()

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        for source in sources:
            self.asked_for.append(source.chunk.text)
            if self._fails and self._fails in source.chunk.text:
                yield Extraction(source.chunk.id, failure=Failure("timeout"))
            else:
                yield self._one(source)

    def _one(self, source: ChunkSource) -> Extraction:
        mentions: list[Mention] = []
        links: list[RelationMention] = []
        text, end = source.chunk.text, 0
        for sentence in text.split("."):
            words = sentence.split()
            if len(words) != 3:
                continue
            for word in (words[0], words[2]):
                start = text.index(word, end)
                end = start + len(word)
                name, _, kind = word.partition(":")
                mentions.append(Mention(name.replace("_", " "), kind or None, f"{name} of {source.title}.", (), start, end))
            links.append(RelationMention(len(mentions) - 2, len(mentions) - 1, words[1], sentence.strip()))
        return Extraction(source.chunk.id, tuple(mentions), tuple(links))


def document(key: str, text: str, title: str | None = None) -> Document:
    return Document(id=key, title=title or key.upper(), text=text)


MOBY = document("moby", "Ahab:Person hunts Moby_Dick:Whale. Ahab:Person sails Pequod:Ship. Captain_Ahab:Person meets Ishmael:Person.")
CAROL = document(
    "carol", "Ebenezer_Scrooge:Person employs Bob_Cratchit:Person. Scrooge:Person fears Marley:Person. Ahab:Person reads Carol:Book.",
)
LATER = document("later", "Starbuck:Person doubts Ahab:Person. The_Pequod:Ship leaves Nantucket:Place.")


def options(**more: Any) -> BuildSettings:
    return BuildSettings("novels", cutting=SMALL, **more)


def made(graph: Graph, *documents: Document, extractor: Notes | None = None, **more: Any) -> IndexRecord:
    return build(graph, documents, extractor or Notes(), options(**more))


def state(graph: Graph, *, ids: bool = False) -> list[str]:
    """All nodes and relations with labels and properties, the mark left out; with `ids` their element ids too."""
    node = "{labels: apoc_labels, properties: properties(n)}".replace("apoc_labels", "labels(n)")
    rows = graph.read(f"""
        MATCH (n) WHERE NOT n:__KgevalGraph__
        RETURN {node} AS node, CASE WHEN $ids THEN elementId(n) END AS at,
          [(n)-[r]->(m) | [type(r), properties(r), m.id, CASE WHEN $ids THEN elementId(r) END]] AS out""", {"ids": ids})
    for row in rows:
        row["node"]["labels"].sort()
        row["out"].sort(key=lambda out: json.dumps(out, sort_keys=True))
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def mark(graph: Graph) -> dict[str, Any]:
    row: dict[str, Any] = graph.read("MATCH (g:__KgevalGraph__ {name: 'novels'}) RETURN properties(g) AS g")[0]["g"]
    return row


def wipe(graph: Graph) -> None:
    graph.write("MATCH (n) DETACH DELETE n")


def after(graph: Graph, *documents: Document, **more: Any) -> list[str]:
    """The state that a fresh build of these documents gives."""
    wipe(graph)
    made(graph, *documents, **more)
    return state(graph)


def test_a_build_writes_kgevals_layout_with_provenance(graph: Graph) -> None:
    record = made(graph, MOBY)
    (row,) = graph.read("""
        MATCH (a:novels:__Entity__:Person {id: 'person:ahab'})-[r:HUNTS]->(b:Whale {name: 'Moby Dick'}),
              (a)-[m:FROM_CHUNK]->(c:Chunk:novels {index: 0})-[:FROM_DOCUMENT]->(d:Document:novels), (c)-[:NEXT_CHUNK]->(next)
        RETURN a {.*, id: null} AS a, r {.*} AS r, c.id AS chunk, substring(c.text, m.start, m.end - m.start) AS there, d.title AS title,
               c.start AS start, c.end AS end, next.index AS next""")
    assert row["a"] == {
        "id": None, "name": "Ahab", "name_key": "ahab", "type": "Person", "aliases": ["Captain Ahab"], "mentions": 3,
        "description": "Ahab of MOBY.\nCaptain_Ahab of MOBY.",
    }
    assert row["r"] == {
        "predicate": "hunts", "weight": 1.0, "chunk_ids": [row["chunk"]], "description": "Ahab:Person hunts Moby_Dick:Whale",
    }
    assert (row["there"], row["title"], row["start"], row["next"]) == ("Ahab:Person", "MOBY", 0, 1)
    assert (record.entities, record.relations, record.merges, record.run.exit_code) == (4, 3, {"alias": 1}, 0)
    assert record.changed["chunks created"] == record.corpus.chunks == 3
    assert {"ready", 1, "notes"} == {mark(graph)[key] for key in ("status", "runs", "extractor")}


def test_the_same_input_again_changes_nothing_and_extracts_nothing(graph: Graph) -> None:
    made(graph, MOBY, CAROL)
    before, marked = state(graph, ids=True), mark(graph)
    again = Notes()
    record = made(graph, CAROL, MOBY, extractor=again)
    assert (record.changed, again.asked_for) == ({}, [])
    assert (state(graph, ids=True), mark(graph)) == (before, marked)


@pytest.mark.long
def test_documents_in_any_order_and_in_any_parts_give_the_same_graph(graph: Graph) -> None:
    whole = after(graph, MOBY, CAROL, LATER)
    for order in permutations([MOBY, CAROL, LATER]):
        wipe(graph)
        for one in order:
            made(graph, one)
        assert state(graph) == whole
    wipe(graph)
    made(graph, LATER, MOBY)
    made(graph, CAROL)
    assert state(graph) == whole


def test_a_changed_document_replaces_only_what_came_from_it(graph: Graph) -> None:
    changed = document("carol", CAROL.text.replace("Scrooge:Person fears Marley:Person", "Tiny_Tim:Person blesses Everyone:Group"))
    fresh = after(graph, MOBY, changed)
    wipe(graph)
    made(graph, MOBY, CAROL)
    before = {row["id"]: row["at"] for row in graph.read("MATCH (n:novels) RETURN n.id AS id, elementId(n) AS at")}
    again = Notes()
    record = made(graph, changed, extractor=again)
    assert state(graph) == fresh
    assert not any("Pequod" in text for text in again.asked_for)
    now = {row["id"]: row["at"] for row in graph.read("MATCH (n:novels) RETURN n.id AS id, elementId(n) AS at")}
    assert all(now[key] == before[key] for key in now.keys() & before.keys())
    assert (record.changed["chunks created"], record.changed["chunks deleted"], record.changed["entities deleted"]) == (1, 1, 1)


def test_a_removed_document_takes_only_its_own_with_it(graph: Graph) -> None:
    fresh = after(graph, MOBY)
    wipe(graph)
    made(graph, MOBY, CAROL)
    record = build(graph, [], None, options(remove=("carol",)))
    assert state(graph) == fresh
    assert (record.corpus.documents, record.changed["documents deleted"]) == (1, 1)
    with pytest.raises(UsageError, match="no such document"):
        build(graph, [], None, options(remove=("carol",)))


class Stop(BaseException):
    """The end of the process, as far as the build can see."""


def stopping(graph: Graph, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Every write from number `at` on never reaches the server."""
    count = iter(range(10_000))
    write = Graph.write

    def cut(self: Graph, *given: Any, **more: Any) -> Any:
        if next(count) >= at:
            raise Stop
        return write(self, *given, **more)

    monkeypatch.setattr(Graph, "write", cut)


@pytest.mark.long
@pytest.mark.parametrize("replacing", [False, True])
def test_stopped_before_any_write_the_same_command_ends_in_the_same_state(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, replacing: bool
) -> None:
    changed = document("carol", CAROL.text.replace("Marley", "Jacob_Marley"))
    more: dict[str, Any] = {"replace": replacing, "batch": 5}
    fresh = after(graph, MOBY, changed, LATER)
    stopped = 0
    for at in range(200):
        wipe(graph)
        made(graph, MOBY, CAROL)
        with monkeypatch.context() as patch:
            stopping(graph, patch, at)
            try:
                made(graph, changed, LATER, MOBY, **more)
            except Stop:
                stopped += 1
            else:
                break
        made(graph, changed, LATER, MOBY, **more)
        assert (state(graph), mark(graph)["status"]) == (fresh, "ready")
    assert stopped > 10


@pytest.mark.both_lines
@pytest.mark.long
def test_after_an_interruption_another_build_meets_whole_documents_only(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = document("carol", CAROL.text.replace("Marley", "Jacob_Marley"))
    possible = [after(graph, MOBY, carol, LATER) for carol in (CAROL, changed)]
    for at in (2, 3, 4, 6):
        wipe(graph)
        made(graph, MOBY, CAROL)
        with monkeypatch.context() as patch, pytest.raises(Stop):
            stopping(graph, patch, at)
            made(graph, changed, batch=1)
        made(graph, LATER)
        assert state(graph) in possible


def test_a_merge_taken_back_parts_the_entity_at_once_and_stays_so(graph: Graph) -> None:
    made(graph, MOBY)
    merged = state(graph)
    (merge,) = decisions_of(graph, "novels")
    assert (merge.merged, merge.kept, merge.level, merge.why) == ("Captain Ahab", "Ahab", "alias", "honorific")
    assert decide(graph, "novels", [merge.id], "undone").entities == 5
    parted = state(graph)
    made(graph, MOBY)
    assert state(graph) == parted
    made(graph, MOBY, CAROL)
    made(graph, MOBY, replace=True)
    assert state(graph) == parted
    assert decide(graph, "novels", [merge.id], "applied").entities == 4
    assert state(graph) == merged
    with pytest.raises(UsageError, match="m-nope"):
        decide(graph, "novels", ["m-nope"], "undone")


def test_other_rules_of_resolution_are_applied_to_what_is_stored(graph: Graph) -> None:
    fresh = after(graph, MOBY, CAROL, rules=Rules(("exact",)))
    wipe(graph)
    made(graph, MOBY, CAROL)
    record = build(graph, [], None, options(rules=Rules(("exact",))))
    assert state(graph) == fresh and not record.merges
    assert mark(graph)["resolve"] == "exact"


def test_chunks_that_failed_are_kept_named_and_asked_again(graph: Graph) -> None:
    fresh = after(graph, MOBY, CAROL)
    wipe(graph)
    record = made(graph, MOBY, CAROL, extractor=Notes(fails="Marley"), max_error_rate=0.1)
    assert (record.failures, record.run.exit_code) == ({"timeout": 1}, 3)
    assert made(graph, MOBY, CAROL, extractor=Notes(fails="Marley"), max_error_rate=0.5).run.exit_code == 0
    again = Notes()
    assert made(graph, MOBY, CAROL, extractor=again).failures == {}
    assert state(graph) == fresh
    assert not any("Pequod" in text for text in again.asked_for)


def test_a_graph_is_never_replaced_by_nothing(graph: Graph) -> None:
    with pytest.raises(IncompleteError, match="nothing was written"):
        made(graph, MOBY, extractor=Notes(fails=":"))
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]
    made(graph, MOBY)
    before = state(graph, ids=True)
    for wrong in ({"extractor": Notes("2", fails=":")}, {"extractor": Notes("2", fails=":"), "replace": True}):
        with pytest.raises((IncompleteError, UsageError)):
            made(graph, document("moby", "New:Text replaces Old:Text."), **wrong)
    assert state(graph, ids=True) == before


def test_other_settings_are_refused_unless_replaced(graph: Graph) -> None:
    made(graph, MOBY, CAROL)
    before = state(graph)
    with pytest.raises(UsageError, match="extractor signature 1 there, 2 now"):
        made(graph, MOBY, extractor=Notes("2"))
    with pytest.raises(UsageError, match="chunk size 20 there, 30 now"):
        build(graph, [MOBY], Notes(), replace(options(), cutting=Cutting(30, 0, 0)))
    assert state(graph) == before
    record = made(graph, MOBY, extractor=Notes("2"), replace=True)
    assert (record.corpus.documents, mark(graph)["runs"], mark(graph)["extractor_signature"]) == (1, 1, "2")


def test_names_of_others_and_faulty_requests_are_refused(graph: Graph) -> None:
    graph.write("CREATE (:novels {mine: true})")
    with pytest.raises(UsageError, match="did not write"):
        made(graph, MOBY)
    wipe(graph)
    with pytest.raises(UsageError, match="moby: 2 documents have this id"):
        made(graph, MOBY, MOBY)
    with pytest.raises(UsageError, match="nothing to update"):
        made(graph)
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


def test_what_others_added_to_the_graph_is_left_alone_and_damage_is_mended(graph: Graph) -> None:
    made(graph, MOBY, CAROL)
    whole = state(graph)
    graph.write("""
        MATCH (a {id: 'person:ahab'}), (p {id: 'ship:pequod'}), (c {id: 'person:marley'})
        SET a.embedding = [1.0], a.name = 'Nobody', a:Favourite CREATE (a)-[:LIKES {mine: true}]->(p) DETACH DELETE c""")
    graph.write("MATCH (:Document {id: 'carol'})<-[r:FROM_DOCUMENT]-(:Chunk {index: 1}) DELETE r")
    graph.write("MATCH (p {id: 'ship:pequod'})<-[r:SAILS]-() DELETE r")
    made(graph, MOBY, CAROL)
    (row,) = graph.read("""
        MATCH (a {id: 'person:ahab'})-[r:LIKES]->() RETURN a.embedding AS e, a:Favourite AS kept, r.mine AS mine, a.name AS name""")
    assert row == {"e": [1.0], "kept": True, "mine": True, "name": "Ahab"}
    graph.write("MATCH (a {id: 'person:ahab'})-[r:LIKES]->() DELETE r REMOVE a.embedding, a:Favourite")
    assert state(graph) == whole


def test_two_builds_at_a_time_are_noticed(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.graph.load import sync

    write = sync.write_changes

    def meanwhile(*given: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(sync, "write_changes", write)
            made(graph, CAROL)
        write(*given)

    monkeypatch.setattr(sync, "write_changes", meanwhile)
    with pytest.raises(IncompleteError, match="another build"):
        made(graph, MOBY)
    monkeypatch.undo()
    made(graph, MOBY)
    fixed = state(graph)
    assert fixed == after(graph, MOBY, CAROL)


def test_pythons_search_for_cycles_rests_while_no_model_is_asked_and_is_as_it_was_afterwards(graph: Graph) -> None:
    on: dict[str, bool] = {}

    def watch(stage: str, _done: int, _total: int) -> None:
        on[stage] = gc.isenabled()

    def stop(stage: str, _done: int, _total: int) -> None:
        if stage != "chunks extracted":
            raise Stop

    made(graph, MOBY, progress=watch)
    assert on.pop("chunks extracted") and on and not any(on.values())
    assert gc.isenabled()
    with pytest.raises(Stop):
        made(graph, CAROL, progress=stop)
    assert gc.isenabled()
    gc.disable()
    try:
        made(graph, LATER)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_hostile_documents_become_data_only(graph: Graph) -> None:
    graph.write("CREATE (:Bystander)")
    name = "a`)_DETACH_DELETE_n_//:Chunk"
    text = f"{name} `x`]->(n)_DELETE_n {name}2:__Entity__. " + "x" * 20_000 + ". O:novels from_chunk P:Person."
    made(graph, document("`) DELETE n //", text, title="\u202e{{title}} $name"))
    assert graph.read("MATCH (n:Bystander) RETURN count(n) AS n") == [{"n": 1}]
    labels = {label for row in graph.read("MATCH (e:__Entity__) RETURN labels(e) AS labels") for label in row["labels"]}
    assert labels == {"__Entity__", "novels", "Person"}
    assert graph.read("MATCH (:__Entity__)-[r]->(:__Entity__) WHERE r.predicate = 'from_chunk' RETURN type(r) AS t") == [{"t": "RELATED"}]
    made(graph, document("`) DELETE n //", text, title="\u202e{{title}} $name"))
