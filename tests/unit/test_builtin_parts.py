"""The pure parts of the built-in systems: order and budget of relations, sentences, settings and variants, the extractive reader."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.errors import UsageError
from kgeval.graph.entry import Around, ChunkPlace, EntityText, EntryReader, VectorIndex
from kgeval.llm.extractive import NOT_FOUND, extract_answer
from kgeval.records import Layout
from kgeval.systems.builtin import SETTINGS, Settings, defaults, read_settings, variants
from kgeval.systems.builtin.graph_rag import about, budgeted, reached, sentence, words_of
from kgeval.systems.builtin.readers import ExtractiveReader
from kgeval.systems.builtin.system import BuiltinSystem

LINES = ["Livia Tarrant designed North Breakwater.", "Livia Tarrant born in Ostrand.", "Osric Venn born in Gull Point."]


def rel(at: str, start: str, end: str, *chunks: str) -> Around:
    return Around(at, f"{start}{end}", start, end, start, "TO", end, chunks=tuple(ChunkPlace(one) for one in chunks))


def around(*edges: tuple[str, str]) -> dict[str, list[Around]]:
    nodes = {node for edge in edges for node in edge}
    return {node: [rel(node, one, other) for one, other in edges if node in (one, other)] for node in nodes}


CHAIN = around(("a", "b"), ("b", "c"), ("c", "d"))


@pytest.mark.parametrize(("hops", "ids"), [(1, ["ab"]), (2, ["ab", "bc"]), (3, ["ab", "bc", "cd"])])
def test_a_walk_reaches_as_far_as_its_hops(hops: int, ids: list[str]) -> None:
    found = reached([EntityText("a", "a", score=0.9)], CHAIN, hops)
    assert [edge.relation.element_id for edge in found] == ids
    assert [edge.hop for edge in found] == list(range(1, hops + 1))


def test_relations_of_the_better_entry_come_first_and_keep_its_score() -> None:
    found = reached([EntityText("d", "d", score=0.4), EntityText("a", "a", score=0.9)], CHAIN, 1)
    assert [(edge.relation.element_id, edge.score) for edge in found] == [("ab", 0.9), ("cd", 0.4)]


def test_a_relation_reached_from_two_entries_is_there_once_with_the_better_score() -> None:
    found = reached([EntityText("b", "b", score=0.5), EntityText("a", "a", score=0.9)], CHAIN, 1)
    assert [(edge.relation.element_id, edge.score) for edge in found] == [("ab", 0.9), ("bc", 0.5)]


@given(st.lists(st.sampled_from(["x", "yy", "zzz", "w" * 30]), max_size=8), st.integers(20, 80))
def test_the_budget_is_never_overrun_and_what_fits_in_order_is_taken(names: list[str], budget: int) -> None:
    near = {"a": [Around("a", str(n), "a", f"b{n}", "a", "to", f"{name}{n}") for n, name in enumerate(names)]}
    linear = budgeted(reached([EntityText("a", "a", score=1)], near, 1), budget, len, describe=False)
    assert linear.tokens <= budget
    assert linear.tokens == sum(len(line) + 1 for passage in linear.passages for line in passage.text.splitlines())
    if sum(len(sentence(one)) + 1 for one in near["a"]) <= budget:
        assert len(linear.edges) == len(names)


def test_sentences_of_one_chunk_stand_together_and_those_without_in_a_passage_of_their_own() -> None:
    near = {"a": [rel("a", "a", "b", "c1"), rel("a", "a", "c"), rel("a", "a", "d", "c2", "c1")]}
    linear = budgeted(reached([EntityText("a", "a", score=1)], near, 1), 1_000, len, describe=False)
    assert [(p.chunk_id, p.text) for p in linear.passages] == [("c1", "a to b.\na to d."), (None, "a to c.")]


def test_parallel_relations_that_say_the_same_in_one_chunk_are_said_once_and_all_count_as_retrieved() -> None:
    near = {"a": [Around("a", str(n), "a", "b", "a", "TO", "b", chunks=(ChunkPlace("c1" if n < 3 else "c2"),)) for n in range(4)]}
    linear = budgeted(reached([EntityText("a", "a", score=1)], near, 1), 14, len, describe=False)
    assert [(p.chunk_id, p.text) for p in linear.passages] == [("c1", "a to b.")]
    assert [edge.relation.element_id for edge in linear.edges] == ["0", "1", "2"], "the fourth, of another chunk, does not fit"


@pytest.mark.parametrize(("predicate", "words"), [
    ("WORKS_AT", "works at"), ("worksAt", "works at"), ("works at", "works at"), ("KNOWS", "knows"), ("工作", "工作"), ("is_a", "is a"),
    ("ist Mitglied  von", "ist Mitglied von"), ("uses an iPhone of NASA", "uses an iPhone of NASA"), ("WORKS AT", "works at"), ("_", "_"),
])
def test_predicates_are_written_as_words(predicate: str, words: str) -> None:
    assert words_of(predicate) == words


def test_a_sentence_carries_a_description_only_when_asked_and_only_if_it_says_more() -> None:
    one = Around("a", "1", "a", "b", "Ada", "KNOWS", "Bob", "since\nschool")
    assert (sentence(one), sentence(one, describe=True)) == ("Ada knows Bob.", "Ada knows Bob. since school")
    assert sentence(Around("a", "1", "a", "b", "Ada", "KNOWS", "Bob", "Ada knows Bob"), describe=True) == "Ada knows Bob."


@pytest.mark.parametrize(("label", "description", "said"), [
    ("RELATED", "Fred is Scrooge's nephew.", "SCROOGE and FRED: Fred is Scrooge's nephew."),
    ("RELATED", None, "SCROOGE and FRED are connected."),
    ("family tie,nephew", None, "SCROOGE and FRED: family tie, nephew."),
    ("family tie<SEP>RELATED_TO", "Fred visits.", "SCROOGE and FRED (family tie): Fred visits."),
    ("UNCLE_OF", "Fred visits.", "SCROOGE uncle of FRED. Fred visits."),
])
def test_nothing_is_said_with_a_label_that_is_no_predicate(label: str, description: str | None, said: str) -> None:
    assert sentence(Around("a", "1", "a", "b", "SCROOGE", label, "FRED", description), describe=True) == said


def test_a_label_without_direction_is_no_verb_between_its_ends() -> None:
    one = Around("a", "1", "a", "b", "Fred", "uncle", "Scrooge")
    assert sentence(one, Layout(name="x", relations_undirected=True)) == "Fred and Scrooge: uncle."


@pytest.mark.parametrize(("kind", "said"), [
    ("PERSON", "Fred is a PERSON. A nephew."), ("UNKNOWN", "Fred. A nephew."), (None, "Fred. A nephew."),
])
def test_a_type_that_is_not_known_is_not_said(kind: str | None, said: str) -> None:
    assert about(EntityText("e", "Fred", kind, "A\nnephew.")) == said


@given(st.floats(-1, 1))
def test_the_scores_of_both_kinds_of_vector_index_come_back_as_cosines(cosine: float) -> None:
    assert VectorIndex("i", 2, "cosine").cosine((1 + cosine) / 2) == pytest.approx(cosine)
    assert VectorIndex("i", 2, "euclidean").cosine(1 / (1 + (2 - 2 * cosine))) == pytest.approx(cosine)


def test_the_table_of_settings_and_the_settings_are_the_same() -> None:
    assert {one.name for one in SETTINGS} == {one.name for one in fields(Settings)} - {"system", "preset"}


def test_settings_are_read_from_texts_and_only_differences_make_a_variant() -> None:
    found = read_settings("graph", {"hops": "2", "k": 20, "describe": "NO", "entity_types": "Person| Place "})
    assert (found.hops, found.describe, found.entity_types) == (2, False, ("Person", "Place"))
    assert found.name == "graph@hops=2,entity_types=Person|Place,describe=no"
    assert (defaults("graph").name, defaults("vector").variant) == ("graph", None)
    assert read_settings("graph", {"theta": "0.30"}).variant is None


def test_an_ablation_changes_one_thing_at_a_time() -> None:
    made = variants("graph", {"theta": 0.4}, {"hops": ["1", "2"], "k": [5, 20]})
    assert [one.name for one in made] == ["graph@theta=0.4", "graph@theta=0.4,hops=2", "graph@k=5,theta=0.4"]


def test_all_faults_of_all_ablations_come_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        variants("vector", {}, {"hops": [2], "k": [0, 3]})
    assert "vector has no setting hops" in caught.value.message and "k: 0 is not between 1 and 1000" in caught.value.message


@pytest.mark.parametrize(("question", "answer"), [
    ("Who designed the North Breakwater?", "Livia Tarrant"),
    ("Where was the designer of the North Breakwater born?", "Ostrand"),
    ("Where was Osric Venn born?", "Gull Point"),
    ("Wer malte das Bild?", NOT_FOUND),
    ("", NOT_FOUND),
])
def test_the_extractive_reader_follows_names_from_line_to_line(question: str, answer: str) -> None:
    assert extract_answer(question, LINES) == answer == extract_answer(question, ["\n".join(LINES)])


def test_the_extractive_reader_says_the_year_where_a_year_is_asked_for() -> None:
    assert extract_answer("When was the board founded?", ["Osric Venn founded the board in the spring of 1902."]) == "1902"


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_the_extractive_reader_takes_any_text_and_says_the_same_twice(question: str, contexts: list[str]) -> None:
    said = extract_answer(question, contexts)
    assert said and said == extract_answer(question, contexts)


class Limits:
    """A graph that notes the time limit of every query."""

    def __init__(self) -> None:
        self.seen: dict[str, float | None] = {}

    def stream(self, query: Any, params: object, *, timeout: float | None = None) -> list[dict[str, Any]]:
        self.seen[query.name] = timeout
        return []

    def read(self, query: Any, params: object, *, timeout: float | None = None) -> list[dict[str, Any]]:
        self.seen[query.name] = timeout
        return [{"entities": 1, "relations": 2}] if query.name == "graph-size" else []


def test_the_time_limit_is_for_the_queries_of_a_question_and_not_for_building_an_index() -> None:
    graph = Limits()
    reader = EntryReader(graph, Layout(name="x", description="x"), timeout=5)  # type: ignore[arg-type]
    assert (list(reader.entities()), list(reader.chunks()), reader.size()) == ([], [], (1, 2))
    assert (reader.around(["a"], 1), reader.texts(["a"])) == ([], {})
    assert graph.seen == {"entry-texts": None, "entry-chunks": None, "graph-size": None, "expand-entities": 5, "passage-texts": 5}


def test_answers_that_were_retrieved_by_another_layout_are_signed_otherwise_and_those_of_a_closed_book_are_not() -> None:
    class Found:
        signature = "index=1"

    def signed(system: str, layout_settings: dict[str, Any]) -> str:
        retriever: Any = None if system == "closed-book" else Found()
        return BuiltinSystem(defaults(system), ExtractiveReader(), retriever, layout_settings).signature

    keys = {"keys": {"relation_description_key": "note"}}
    assert "layout=" not in signed("graph", {}) and signed("graph", keys) != signed("graph", {})
    assert signed("closed-book", keys) == signed("closed-book", {})
