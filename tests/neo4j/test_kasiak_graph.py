"""The kinds of [K] from a graph in Neo4j: what the database decides, and `kgeval questions generate` from the outside."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from kasiak_world import KIND, Reader, blocks_of, cause_of, passed, question_of
from room import session

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.llm.asker import Dry, Live
from kgeval.llm.calls import Failure, Outcome, Task
from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.plan import Plan
from kgeval.questions import word_index as told
from kgeval.questions.generate import KindRun, QuestionAttempt, attempt
from kgeval.questions.graph_facts import facts_of
from kgeval.questions.kinds import MakingContext, MakingOptions
from kgeval.questions.making.kasiak_searched import nearest
from kgeval.questions.proof import absent
from kgeval.questions.sampling.sampler import open_sampler
from kgeval.records import Layout, Structure
from kgeval.tables.rows import read_questions

# sixteen places in a ring, each told in a chunk with the next one; eight chunks a document
RING = """
CREATE (:Document {id: 'D0'}), (:Document {id: 'D1'})
WITH count(*) AS all UNWIND range(0, 15) AS i
CREATE (:__Entity__ {id: 'e' + i, name: 'Place' + i, name_key: 'place' + i, type: 'PLACE', n: i}), (:Chunk {id: 'c' + i, index: i, n: i,
  text: 'Place' + i + ' faces Place' + ((i + 1) % 16) + '. Keeper K' + i + ' said: the lamp of Place' + i + ' burns all night long.'})
WITH count(*) AS all
MATCH (a:__Entity__), (b:__Entity__ {n: (a.n + 1) % 16}), (c:Chunk {n: a.n}), (d:Document {id: 'D' + (a.n / 8)})
CREATE (a)-[:FACES {predicate: 'faces', chunk_ids: [c.id]}]->(b), (a)-[:FROM_CHUNK]->(c), (b)-[:FROM_CHUNK]->(c), (c)-[:FROM_DOCUMENT]->(d)
"""
# Ann founded a mill that owns a boat; which chunk of which document says the second relation, and what is there besides
LINE = """
CREATE (d1:Document {{id: 'D1'}}), (d2:Document {{id: 'D2'}}), (a:__Entity__ {{id: 'a', name: 'Ann', type: 'PERSON'}}),
  (b:__Entity__ {{id: 'b', name: 'Low Mill', type: 'FIRM'}}), (c:__Entity__ {{id: 'c', name: 'Petrel', type: 'BOAT'}}),
  (c1:Chunk {{id: 'c1', text: 'Ann founded Low Mill. Bo said: we never ground so much rye.', index: 1}})-[:FROM_DOCUMENT]->(d1),
  (c2:Chunk {{id: 'c2', text: 'Low Mill owns the Petrel.', index: 2}})-[:FROM_DOCUMENT]->({second}),
  (a)-[:FOUNDED {{chunk_ids: ['c1']}}]->(b), (b)-[:OWNS {{chunk_ids: {chunks}}}]->(c), (a)-[:FROM_CHUNK]->(c1), (b)-[:FROM_CHUNK]->(c1),
  (b)-[:FROM_CHUNK]->(c2), (c)-[:FROM_CHUNK]->(c2) {more}
"""
JOINED = {"question": "Which boat does the firm own that Ann founded?", "answer": "Petrel", "triples": [1, 2]}
BOTH = ("Ann founded", "owns the Petrel")
STEPS = re.compile(r"(\d+) places (after|before) (Place\d+)")


def line(second: str = "d1", chunks: str = "['c2']", more: str = "") -> str:
    return LINE.format(second=second, chunks=chunks, more=more)


def drawn(graph: Graph, kind: str, *, of: str | None = None) -> tuple[Structure, Layout]:
    """The first structure that the kind draws; `of`: the first that begins with this entity."""
    layout = bind(graph, load_profile("kgeval").layout, None)
    with open_sampler(graph, layout, seed=1) as sampler:
        found = sampler.structures(KIND[kind].draws)
        return next(one for one in found if of is None or one.nodes[0].name == of), layout


def tried(graph: Graph, kind: str, reader: Reader, folder: Path, of: tuple[Structure, Layout] | None = None) -> QuestionAttempt:
    """What comes of a structure (else of the first that the kind draws)."""
    structure, layout = of or drawn(graph, kind)
    folder.mkdir(exist_ok=True)
    with FakeServer(reader) as server, session(server.base_url, folder / "j.sqlite", timeout=30.0) as models:
        return attempt(structure, KindRun(
            KIND[kind], MakingContext(structure, MakingOptions(seed=1), Live(models), graph, layout), model="m",
        ))


def test_a_multi_hop_question_needs_two_passages_of_one_document(graph: Graph, draw: Callable[[str], None], tmp_path: Path) -> None:
    draw(line())
    reader = Reader(JOINED, needs=BOTH)
    question = question_of(tried(graph, "multi_hop", reader, tmp_path))
    assert passed(question) == {"one_document", "no_shortcut", "answerable", "not_in_one_passage", "bridge_hidden", "leak"}
    assert sorted(map(len, reader.trials)) == [1, 1, 2], "both together, then each passage alone"
    assert (question.document, question.hops, question.triples_needed) == ("D1", 2, 2)
    assert sorted(question.evidence_ids) == [["c1"], ["c2"]]
    assert question.path is not None and len(question.path.relations) == 2


THIRD = ", (c)-[:KNOWS {chunk_ids: ['c3']}]->(a), (:Chunk {id: 'c3', text: 'Ann knows the Petrel.'})-[:FROM_DOCUMENT]->(d1)"


class OnlyFirst(Live):
    """Asks what makes a question, and fails at what tries it."""

    def ask(self, task: Task[Any]) -> Outcome[Any]:
        return super().ask(task) if task.prompt.name.startswith("kasiak") else Outcome(task.id, None, Failure("timeout", "too late"))


def test_a_dry_run_counts_the_trials_that_are_left_when_the_question_is_in_the_journal(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(line())
    structure, layout = drawn(graph, "multi_hop")
    with FakeServer(Reader(JOINED, needs=BOTH)) as server, session(server.base_url, tmp_path / "j.sqlite", timeout=30.0) as models:
        def made(asker: Any) -> QuestionAttempt:
            context = MakingContext(structure, MakingOptions(seed=1), asker, graph, layout)
            return attempt(structure, KindRun(KIND["multi_hop"], context, model="m"))

        def planned() -> tuple[int, int]:
            dry = Dry(models)
            assert made(dry).open
            return Plan(dry.stages(), models.limits).calls

        assert planned() == (4, 7), "the question, both passages together, each alone; and up to three judges"
        assert made(OnlyFirst(models)).failure is not None
        assert planned() == (3, 6)
        assert made(Live(models)).question is not None
        assert server.stats().requests == 4


@pytest.mark.parametrize(("picture", "cause"), [
    (line(second="d2"), "no_one_document"), (line(chunks="['c1', 'c2']"), "one_passage"), (line(more=THIRD), "shortcut"),
])
def test_a_path_that_cannot_give_a_multi_hop_question_is_turned_down_before_a_model_is_asked(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path, picture: str, cause: str,
) -> None:
    draw(picture)
    reader = Reader(JOINED, needs=BOTH)
    assert cause_of(tried(graph, "multi_hop", reader, tmp_path)) == cause
    assert reader.texts == []


def test_a_reply_that_makes_no_multi_hop_question_is_turned_down(graph: Graph, draw: Callable[[str], None], tmp_path: Path) -> None:
    draw(line())
    of = drawn(graph, "multi_hop")
    cases: list[tuple[dict[str, Any], tuple[str, ...], str]] = [
        ({}, BOTH[1:], "one_passage"),
        ({}, ("nothing of it",), "not_answerable"),
        ({"triples": [1]}, BOTH, "too_few_relations"),
        ({"question": "Which boat does Low Mill own, which Ann founded?"}, BOTH, "bridge_named"),
        ({"question": "Which boat does the firm own that somebody founded?"}, BOTH, "start_not_named"),
    ]
    for n, (changes, needs, cause) in enumerate(cases):
        assert cause_of(tried(graph, "multi_hop", Reader(JOINED | changes, needs=needs), tmp_path / str(n), of)) == cause


def test_a_multi_doc_question_needs_both_documents(graph: Graph, draw: Callable[[str], None], tmp_path: Path) -> None:
    draw(line(second="d2"))
    reader = Reader(JOINED, needs=BOTH)
    question = question_of(tried(graph, "multi_doc", reader, tmp_path))
    assert passed(question) == {"documents", "no_shortcut", "answerable", "not_in_one_document", "bridge_hidden", "leak"}
    assert {p.document for p in question.evidence} == {"D1", "D2"}
    assert question.document is None
    assert cause_of(tried(graph, "multi_doc", Reader(JOINED, needs=BOTH[:1]), tmp_path / "b")) == "one_document"


def test_a_document_that_tells_both_relations_makes_no_multi_doc_question(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(line(second="d2", more=", (:Chunk {id: 'c3', text: 'Low Mill owns the Petrel.'})-[:FROM_DOCUMENT]->(d1)"))
    graph.write("MATCH ()-[r:OWNS]->() SET r.chunk_ids = ['c2', 'c3']")
    reader = Reader(JOINED, needs=BOTH)
    assert cause_of(tried(graph, "multi_doc", reader, tmp_path)) == "one_document"
    assert reader.texts == []


OUTSIDE: list[tuple[list[str], str, str | None]] = [
    (["Count Orlok"], "When did Ann meet Count Orlok?", None),
    (["count orlok"], "When did Ann meet Count Orlok?", None),
    (["Petrel"], "When did Ann sail on the Petrel?", "present"),
    (["much rye"], "Did Ann buy much rye?", "present"),
    (["A. Byron"], "When did Ann meet A. Byron?", "present"),
    (["Count Orlok", "Petrel"], "When did Ann meet Count Orlok on the Petrel?", "present"),
    (["Count Orlok"], "When did Ann go home?", "no_new_name"),
    ([], "When did Ann meet Count Orlok?", "no_new_name"),
    (["it"], "When did Ann see it?", "unusable_name"),
    (["Captain Bea"], "When did Ann meet Captain Bea?", "present"),
    (["Count Orlok"], "When did somebody meet Count Orlok?", "not_related"),
    (["Ann Orlok"], "When did somebody meet Ann Orlok?", "not_related"),
]


def test_an_out_of_context_question_names_what_is_in_no_name_alias_or_text(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(line(more=", (:__Entity__ {id: 'x', name: 'Bea', aliases: ['A. Byron']})"))
    of = drawn(graph, "out_of_context", of="Ann")
    for n, (names, question, cause) in enumerate(OUTSIDE):
        reader = Reader({"question": question, "names": names}, needs=("of another tale",))
        found = tried(graph, "out_of_context", reader, tmp_path / str(n), of)
        if cause is not None:
            assert cause_of(found) == cause, question
            continue
        made = question_of(found)
        assert passed(made) == {"related", "absent", "answerable"}
        assert made.reference == f"This cannot be answered: the texts do not mention {names[0]}."
        assert (made.evidence, made.level) == ([], "out_of_context")


def test_a_question_that_the_nearest_passages_answer_is_not_out_of_context(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    """The passage that answers is not one of the entity's own: it is found by the question's words."""
    draw(line())
    made = {"question": "Who owned the Petrel when Ann met Count Orlok?", "names": ["Count Orlok"]}
    reader = Reader(made, needs=("owns the Petrel",), answer="Low Mill")
    assert cause_of(tried(graph, "out_of_context", reader, tmp_path, drawn(graph, "out_of_context", of="Ann"))) == "answered"


def test_the_nearest_passages_are_those_with_most_telling_words_and_rare_words_count_more(
    graph: Graph, draw: Callable[[str], None],
) -> None:
    draw("UNWIND [['a', 'rye rye bread'], ['b', 'bread'], ['c', 'bread and Salt'], ['d', 'water']] AS row "
         "CREATE (:Chunk {id: row[0], text: row[1]})")
    layout = bind(graph, load_profile("kgeval").layout.model_copy(update={"entity_labels": ["Chunk"]}), None)
    assert [p.chunk_id for p in nearest(graph, layout, "Is there rye in the bread?")] == ["a", "b", "c"]
    assert [p.chunk_id for p in nearest(graph, layout, "Salt, or bread?", most=2)] == ["c", "a"]
    assert nearest(graph, layout, "Who?") == []


QUOTE = {
    "question": "Who said \"we never ground so much rye\"?", "quote": "We never ground so much rye", "passage": 1, "asks": "speaker",
    "speaker": "Bo", "answer": "Bo",
}


OTHER = ", (:Chunk {id: 'c4', text: 'It is told: “We -- never ground, so much rye!”'})-[:FROM_DOCUMENT]->(d2)"
AGAIN = ", (:Chunk {id: 'c3', text: 'Again: we never  ground so\\nmuch RYE.'})"
ATTRIBUTED: dict[str, list[tuple[dict[str, Any], str | None]]] = {
    "": [
        ({}, None),
        ({"asks": "document", "speaker": "", "question": "Which document says \"we never ground so much rye\"?"}, None),
        ({"quote": "we never ground so much corn"}, "not_quoted"),
        ({"quote": "so much rye"}, "short_quote"),
        ({"question": "Who spoke of grinding?"}, "not_quoted"),
        ({"speaker": "Napoleon"}, "no_speaker"),
        ({"speaker": " "}, "empty"),
        ({"answer": "Ann"}, "not_answerable"),
        ({"question": "Did Bo say \"we never ground so much rye\"?"}, "leak"),
    ],
    AGAIN + "-[:FROM_DOCUMENT]->(d1)": [({}, None)],
    AGAIN + "-[:FROM_DOCUMENT]->(d2)": [({}, "several_documents")],
    AGAIN: [({}, "several_documents")],
    OTHER: [({}, "several_documents")],
    ", (c1)-[:FROM_DOCUMENT]->(d2)": [({}, "several_documents")],
}


@pytest.mark.parametrize("more", ATTRIBUTED, ids=(
    "once", "twice in one document", "in two documents", "in no document too", "with other punctuation", "in a chunk of two documents",
))
def test_attribution_asks_for_the_speaker_or_the_document_of_a_quote_that_one_document_has(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path, more: str,
) -> None:
    draw(line(more=more))
    of = drawn(graph, "attribution", of="Ann")
    for n, (changes, cause) in enumerate(ATTRIBUTED[more]):
        found = tried(graph, "attribution", Reader(QUOTE | changes, needs=("Bo said",), label="incorrect"), tmp_path / str(n), of)
        if cause is not None:
            assert cause_of(found) == cause, changes
            continue
        question, asks = question_of(found), (QUOTE | changes)["asks"]
        assert passed(question) == {"one_document", "quote", "leak"} | ({"answerable"} if asks == "speaker" else set())
        assert question.reference == ("Bo" if asks == "speaker" else "D1")
        assert (question.evidence_ids, question.document) == ([["c1", "c3"] if more else ["c1"]], "D1")
        assert question.extra["attribution"]["quote"] == "we never ground so much rye"  # type: ignore[index,call-overload]


def test_a_speaker_is_no_pronoun_and_a_document_without_a_name_is_not_asked_for(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    draw(line())
    graph.write("MATCH (c:Chunk {id: 'c1'}) SET c.text = 'Ann founded Low Mill. He said: we never ground so much rye.'")
    of = drawn(graph, "attribution", of="Ann")
    changes = {"speaker": "He", "answer": "He"}
    assert cause_of(tried(graph, "attribution", Reader(QUOTE | changes, needs=("He said",)), tmp_path / "a", of)) == "no_speaker"
    graph.write("MATCH (d:Document {id: 'D1'}) REMOVE d.id")
    of = drawn(graph, "attribution", of="Ann")
    changes = {"asks": "document", "question": "Which document says \"we never ground so much rye\"?"}
    assert cause_of(tried(graph, "attribution", Reader(QUOTE | changes), tmp_path / "b", of)) == "no_document"


def test_the_searches_find_the_same_where_there_is_too_much_text_to_be_kept(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw(line(more=OTHER + AGAIN.replace("c3", "c5") + "-[:FROM_DOCUMENT]->(d1)"))
    terms, found = ["rye", "RYE. He", "we never ground so much rye", "it is told", "Orlok", "Petre", "ow mill"], []
    for most in (told.MOST_TEXT, 0):
        monkeypatch.setattr(told, "MOST_TEXT", most)
        layout = bind(graph, load_profile("kgeval").layout, None)
        near = [p.model_dump() for p in nearest(graph, layout, "Who said that so much rye is told of the mill?")]
        present = absent(graph, layout, terms, often=True)
        assert (facts_of(graph, layout).text_words() is None) == (most == 0)
        assert present == absent(graph, layout, terms)
        of = next(iter(drawn(graph, "attribution", of="Ann")))
        cause = cause_of(tried(graph, "attribution", Reader(QUOTE, needs=("Bo said",)), tmp_path / str(most), (of, layout)))
        found.append((near, present, cause))
    assert found[0] == found[1]
    assert [p["chunk_id"] for p in found[0][0]][:2] == ["c1", "c4"], "said and mill outweigh told"
    assert found[0][2] == "several_documents"


def test_a_multi_doc_question_is_tried_with_all_passages_that_each_document_has_of_the_path(
    graph: Graph, draw: Callable[[str], None], tmp_path: Path,
) -> None:
    """A passage of the second document tells both relations, though the graph has it as source of neither."""
    draw(line(second="d2", more=", (c3:Chunk {id: 'c3', text: 'Ann founded Low Mill, which owns the Petrel.'})-[:FROM_DOCUMENT]->(d2), "
              "(b)-[:FROM_CHUNK]->(c3)"))
    assert cause_of(tried(graph, "multi_doc", Reader(JOINED, needs=BOTH), tmp_path)) == "one_document"


def ring(chat: Chat) -> Any:
    """Writes a question of each kind about the ring, and reads what the passages say, and nothing else."""
    blocks, fields = blocks_of(chat), set((chat.schema or {})["properties"])
    passages = blocks["passages"][0] if "passages" in blocks else []
    if fields == {"reason", "answered", "answer"}:
        said = _read(blocks["question"][0], " ".join(p["text"] for p in passages))
        return {"reason": "so", "answered": bool(said), "answer": said}
    if fields == {"items"}:
        every = {"reason": "so", "follows": True, "used": True, "passages": list(chat.sources)[:1]}
        return {"items": [every | {"tag": line["tag"]} for line in blocks["items"]]}
    if "stated" in fields:
        return {"reason": "so", "follows": True, "stated": False}
    return _written(fields, blocks, passages)


def _written(fields: set[str], blocks: dict[str, Any], passages: list[dict[str, Any]]) -> dict[str, Any]:
    triples = blocks["triples"][0] if "triples" in blocks else []
    if "names" in fields:
        return {"question": f"What does {blocks['entity'][0]['name']} owe to Zanzibar Opera?", "names": ["Zanzibar Opera"]}
    if "facts" in fields:
        names = [entity["name"] for entity in blocks["entities"][0]]
        told = [next(p for p in passages if p["text"].startswith(f"{name} faces")) for name in names]
        return {
            "question": f"How do {names[0]} and {names[1]} differ in what lies before them?",
            "answer": " ".join(p["text"].split(".")[0] + "." for p in told),
            "facts": [{"entity": n, "fact": p["text"].split(".")[0], "passage": p["number"]} for n, p in enumerate(told, start=1)],
        }
    if "quote" in fields:
        place = passages[0]["text"].split()[0]
        quote, even = f"the lamp of {place} burns all night long", int(place[5:]) % 2 == 0
        asked = f"Who said '{quote}'?" if even else f"Where does '{quote}' stand?"
        return {"question": asked, "quote": quote, "passage": 1, "asks": "speaker" if even else "document", "speaker": f"K{place[5:]}"}
    first, ahead = triples[0], len(triples) == 1 or triples[0]["object"] in (triples[1]["subject"], triples[1]["object"])
    start, step = (first["subject"], "after") if ahead else (first["object"], "before")
    own = {"answer": "It is watched by somebody from one side only.", "triples": [1], "passages": [1], "distractor": 2}
    if "distractor" in fields:
        near, far = (first["subject"], triples[1]["object"]) if ahead else (first["object"], triples[1]["subject"])
        plain = f"which place is 1 places {step} {near}?"
        return own | {"question": f"Some look at {far}, but {plain}", "plain": plain, "answer": _moved(near, step, 1)}
    if "passages" in fields:
        return own | {"question": f"What is it like to live in {start}?"}
    asked = f"Which place is {len(triples)} places {step} {start}?"
    told = next(p["number"] for p in passages if f"{first['subject']} faces {first['object']}." in p["text"])
    numbers = [triple["number"] for triple in triples]
    return {"question": asked, "answer": _moved(start, step, len(triples)), "triples": numbers, "passage": told}


def _moved(place: str, step: str, n: int) -> str:
    return f"Place{(int(place[5:]) + (n if step == 'after' else -n)) % 16}"


def _read(question: str, text: str) -> str:
    """Goes from place to place as far as the text tells; "" where it does not."""
    ahead = dict(re.findall(r"(Place\d+) faces (Place\d+)", text))
    if found := STEPS.search(question):
        ways, at = (ahead if found[2] == "after" else {b: a for a, b in ahead.items()}), found[3]
        for _ in range(int(found[1])):
            at = ways.get(at, "")
        return at
    if found := re.search(r"the lamp of Place(\d+) burns", question):
        return f"K{found[1]}" if found[0] in text else ""
    names = re.findall(r"Place\d+", question)
    known = "differ" in question and all(name in ahead for name in names)
    return " ".join(f"{name} faces {ahead[name]}." for name in names) if known else ""


@pytest.mark.long
def test_generate_makes_all_nine_kinds_with_their_conditions_for_the_calls_that_a_dry_run_counts(
    graph: Graph, draw: Callable[[str], None], address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw(RING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    output = tmp_path / "q.jsonl"
    with FakeServer(ring) as server:
        command = [
            "questions", "generate", "--uri", address.uri, "--layout", "kgeval", "--kind", "kasiak", "--n", "2", "--seed", "5",
            "--no-embeddings", "--model", "m", "--base-url", server.base_url, "--journal", "j.sqlite", "-o", str(output), "--no-progress",
        ]
        assert run([*command, "--dry-run"]) == 0
        low, high = bounds(capsys.readouterr().out)
        assert server.stats().requests == 0
        assert run(command) == 0, capsys.readouterr().out
        asked, text = server.stats().requests, output.read_bytes()
        assert run(command) == 0
        assert (server.stats().requests, output.read_bytes()) == (asked, text)
    found = list(read_questions(output))
    assert Counter(q.level for q in found) == dict.fromkeys(KIND, 2)
    assert all(one.passed for question in found for one in question.checks)
    sizes = {"single_hop": 1, "multi_hop": 2, "long_hop": 4, "multi_doc": 2, "distracting": 1, "thinking": 1}
    assert {(str(q.level), q.triples_needed) for q in found if q.level in sizes} == set(sizes.items())
    documents = {q.level: {len({p.document for p in one.evidence}) for one in found if one.level == q.level} for q in found}
    assert (documents["multi_hop"], documents["multi_doc"], documents["attribution"]) == ({1}, {2}, {1})
    assert low <= asked <= high
    speakers = sum(q.extra.get("attribution", {}).get("asks") == "speaker" for q in found)  # type: ignore[union-attr]
    assert asked - speakers == low, "nothing was rejected after a call: only who is asked for a speaker has a trial more"


def bounds(out: str) -> tuple[int, int]:
    """The calls of a dry run, least and most."""
    words = next(line for line in out.splitlines() if line.startswith("total")).split()
    return int(words[1]), int(words[3]) if words[2] == "to" else int(words[1])
