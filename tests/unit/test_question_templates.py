"""Predicates in English, and the questions that templates make of them: without model and without database."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.questions.kinds import RejectedError
from kgeval.questions.making.name_faults import name_fault
from kgeval.questions.making.negative import forms, synonymous
from kgeval.questions.making.predicate_phrases import (
    LONGEST_PREDICATE,
    content_words,
    noun_of_type,
    past_of,
    phrase,
    spoken,
    tells_place,
    third_of,
)
from kgeval.questions.making.templates import Step, called, worded
from kgeval.records import Passage

SAID = {
    "works_for": "A works for B", "WORKS_AT": "A works at B", "worksAt": "A works at B", "works-at": "A works at B",
    "Works For": "A works for B",
    "isLocatedIn": "A is located in B", "LOCATED_IN": "A is located in B", "is part of": "A is a part of B", "PART_OF": "A is a part of B",
    "born_in": "A was born in B", "was educated at": "A was educated at B", "be worshiped at": "A was worshiped at B",
    "written by": "A was written by B", "owned by": "A was owned by B", "married_to": "A is married to B",
    "founded": "A founded B", "has founded": "A founded B", "wrote": "A wrote B", "took_part_in": "A took part in B",
    "studied under": "A studied under B", "ACTED_IN": "A acted in B",
    "move to": "A moved to B", "leave": "A left B", "flee from": "A fled from B", "travelled to": "A travelled to B",
    "capital of": "A is the capital of B", "brother of": "A is a brother of B", "elder brother of": "A is an elder brother of B",
    "is a friend of": "A is a friend of B", "child_of": "A is a child of B", "belle of": "A is the belle of B",
    "director": "B is the director of A", "HAS_DIRECTOR": "B is the director of A", "birthPlace": "B is the birth place of A",
    "has part": "B is a part of A", "parent": "B is a parent of A",
    "TREATS": "A treats B", "inhibits": "A inhibits B", "invests in": "A invests in B", "consists of": "A consists of B",
    "in": "A is in B", "co-founded": "A co-founded B", "RELATED_TO": "A is related to B",
}
NEUTRAL = (
    "of", "by", "be", "is a", "arbeitet bei", "geboren in", "wohnt in", "fundada por", "habite à", "是", "работает в", "priests of",
    "gave_positions_to", "paint hall for", "stones in", "second battle of", "signer of", "moralised", "signed by hand at", "back",
    "contending candidates for", "several times with", "did not like", "p-1", "", "x" * 200, "one two three four five six seven",
)


@pytest.mark.parametrize(("predicate", "sentence"), SAID.items())
def test_a_predicate_of_any_spelling_becomes_an_english_sentence(predicate: str, sentence: str) -> None:
    said = phrase(predicate)
    assert said is not None
    subject, other = ("B", "A") if said.swapped else ("A", "B")
    assert f"{said.said_of(subject)} {other}" == sentence


@pytest.mark.parametrize("predicate", NEUTRAL)
def test_what_is_not_found_out_is_not_guessed(predicate: str) -> None:
    assert phrase(predicate) is None


@pytest.mark.parametrize(("start", "steps", "question"), [
    ("Osric", [Step("founded", True, "Organization")], "Which organization did Osric found?"),
    ("Osric", [Step("founded", False, "PERSON")], "Who founded Osric?"),
    ("Osric", [Step("born_in", True, "Place")], "Where was Osric born?"),
    ("Osric", [Step("born_in", True, "City")], "Which city was Osric born in?"),
    ("Osric", [Step("sailed_to", True, "Place")], "Which place did Osric sail to?"),
    ("Osric", [Step("inherit", True, None)], "Who or what did Osric inherit?"),
    ("Osric", [Step("brother of", True, None)], "Who is Osric a brother of?"),
        ("Paris", [Step("capital of", True, "Country")], "Which country is Paris the capital of?"),
    ("France", [Step("capital of", False, "City")], "Which city is the capital of France?"),
    ("Solaris", [Step("director", True, "Person")], "Who is the director of Solaris?"),
    ("Tarkovsky", [Step("HAS_DIRECTOR", False, "Film")], "Which film is Tarkovsky the director of?"),
    ("the pier", [Step("designed", False, "Person"), Step("born_in", True, "Place")], "Where was the person who designed the pier born?"),
    ("Ada", [Step("works_for", True, "ORG"), Step("works_for", False, "Person", back=True)],
     "Who else works for the organization that Ada works for?"),
    ("Ada", [Step("founded", True, "ORG", one=False), Step("located_in", True, "City")],
     "Which city is an organization that Ada founded located in?"),
    ("the pier", [Step("designed", False, "Person"), Step("works_for", True, "ORG"), Step("located_in", True, "City")],
     "A person designed the pier. Which city is the organization that this person works for located in?"),
])
def test_a_path_is_asked_in_plain_english(start: str, steps: list[Step], question: str) -> None:
    assert worded(start, steps) == question


@pytest.mark.parametrize(("start", "kind", "step", "why"), [
    ("Ada", None, Step("arbeitet bei", True, "ORG"), "form is not understood"),
    ("Ada", None, Step("paint hall for", True, "Event"), "form is not understood"),
    ("England", "Place", Step("leave", False, "ORG"), "too little"),
    ("Ada", None, Step("is associated with", True, "ORG"), "too little"),
    ("Ada", None, Step("friend of", False, "Person"), "too little"),
    ("Milford", "Place", Step("in", False, "Person"), "where a thing is"),
    ("Ada", "Person", Step("be in", True, "Place"), "where a thing is"),
    ("Ulm", "Place", Step("born in", False, "Person"), "backward"),
    ("the Guild", "Organization", Step("member of", False, "Person"), "backward"),
    ("Ada", "Person", Step("sailed to", True, None), "has no type"),
    ("Bull Run", "Place", Step("sister of", True, "Person"), "joins persons"),
    ("Elsie", "Place", Step("director of", True, "Organization"), "a person is that"),
    ("Yucatan", "Place", Step("discovered", True, None), "does nothing of the kind"),
    ("the Nurses", "Organization", Step("located in", True, "Place"), "may be several"),
    ("deputy sheriff", None, Step("defeated", True, "Person"), "no name of one thing"),
])
def test_what_nobody_would_ask_so_is_refused_with_the_reason(start: str, kind: str | None, step: Step, why: str) -> None:
    with pytest.raises(RejectedError) as caught:
        worded(start, [step], kind)
    assert caught.value.cause == "not_worded"
    assert why in caught.value.reason and step.predicate in caught.value.reason


def test_a_question_has_no_words_for_an_entity_on_the_way_without_a_type() -> None:
    with pytest.raises(RejectedError, match="without a type"):
        worded("Ada", [Step("founded", True, None), Step("located_in", True, "City")])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.lists(st.builds(Step, st.text(max_size=100), st.booleans(), st.none() | st.text(max_size=40),
                                                st.booleans(), st.booleans()), min_size=1, max_size=4))
def test_any_names_types_and_predicates_give_one_line_that_ends_in_a_question_mark(start: str, steps: list[Step]) -> None:
    try:
        question = worded(called(start, []), steps)
    except RejectedError as refused:
        assert refused.cause == "not_worded"
        return
    assert question.endswith("?")
    assert len(question.splitlines()) == 1
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", question)


def test_a_name_has_the_article_that_the_passages_mostly_give_it() -> None:
    passages = [Passage(text="The North Pier burnt. They built the North Pier again. Osric saw it; the Osric we know.")]
    assert called("North Pier", passages) == "the North Pier"
    assert called("Osric", passages[:0]) == "Osric"
    assert called("The Gazette", passages) == "The Gazette"
    assert called('say "hi"', []) == "\"say 'hi'\""


def test_types_of_any_spelling_become_nouns_and_empty_ones_none() -> None:
    told = {"PERSON": "person", "GPE": "place", "ORG": "organization", "WorkOfArt": "work", "Music_Album": "music album", "Entity": ""}
    assert {kind: noun_of_type(kind) for kind in told} == told
    assert noun_of_type(None) == noun_of_type("http://x.org/Thing") == noun_of_type("<script>alert(1)</script>") == ""


@pytest.mark.parametrize(("base", "third", "past"), [
    ("work", "works", "worked"), ("carry", "carries", "carried"), ("stop", "stops", "stopped"), ("visit", "visits", "visited"),
    ("admit", "admits", "admitted"), ("found", "founds", "founded"), ("find", "finds", "found"), ("put", "puts", "put"),
    ("go", "goes", "went"),
    ("have", "has", "had"), ("play", "plays", "played"), ("marry", "marries", "married"),
])
def test_verbs_have_their_forms(base: str, third: str, past: str) -> None:
    assert (third_of(base), past_of(base)) == (third, past)


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(codec="ascii"), max_size=LONGEST_PREDICATE))
def test_a_spoken_predicate_is_lower_case_with_single_spaces(predicate: str) -> None:
    text = spoken(predicate)
    assert text == text.lower()
    assert "  " not in text
    assert not re.search(r"[_\n]", text)


def test_bare_prepositions_tell_something_only_of_places() -> None:
    assert tells_place("in", "City")
    assert not tells_place("in", "Person")
    assert not tells_place("of", "City")
    assert content_words("is located in") == ["located"]


@pytest.mark.parametrize(("name", "why"), [
    ("", "is empty"), ("...", "is empty"), ("1904", "has no letters"), ("she", "names nothing in particular"),
    ("x" * 121, "is a text, not a name"),
    ("unknown", "names nothing in particular"), ("A", "is a single character"),
    ("Osric Venn", ""), ("Łódź", ""), ("東京", ""), ("R2-D2", ""),
])
def test_names_that_name_nothing_are_told_from_others(name: str, why: str) -> None:
    assert name_fault(name) == why


def test_predicates_with_a_word_in_common_may_say_the_same_and_others_not() -> None:
    assert synonymous("works_for", "WORKED_FOR")
    assert synonymous("worksFor", "works_for")
    assert synonymous("wrote", "written by")
    assert not synonymous("born_in", "located_in")
    assert {"wrote", "written", "writes", "write"} <= forms("wrote")
