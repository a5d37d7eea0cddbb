"""What makers of questions share: excerpts within a budget, numbers and quotes looked up, texts that cannot be used turned down."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.llm.tokens import count
from kgeval.questions import drafts
from kgeval.questions.excerpts import head, tail
from kgeval.questions.kinds import RejectedError
from kgeval.questions.making.graph_text import GROUP_TOKENS, MOST_SUMMARIES, SUMMARIES_A_CALL, groups, shared_out
from kgeval.questions.making.summary import drawn, excerpt_of
from kgeval.records import Passage, Structure, StructureNode, StructureRelation

TEXTS = st.text(st.sampled_from("ab ü東京 \n.é👍"), max_size=300)


def ship() -> Structure:
    """Ada commands the Light; the Light sails to Varne; Varne twins Oak."""
    nodes = [StructureNode(element_id=name, key=name, name=name.title(), chunk_ids=[f"c{at}"]) for at, name in
             enumerate(("ada", "light", "varne", "oak"))]
    relations = [
        StructureRelation(element_id=f"r{at}", source=source, target=target, predicate=predicate, chunk_ids=[f"c{at}"])
        for at, (source, predicate, target) in enumerate((("ada", "commands", "light"), ("light", "sails to", "varne"),
                                                          ("varne", "twins", "oak")))
    ]
    passages = [Passage(text=f"Text {at}.", chunk_id=f"c{at}", document=f"d{at // 2}") for at in range(4)]
    return Structure(kind="path", number=0, seed=0, nodes=nodes, relations=relations, passages=passages)


@settings(max_examples=50, deadline=None)
@given(TEXTS, st.integers(0, 60))
def test_a_beginning_and_an_end_are_parts_of_the_text_and_fit_the_budget(text: str, tokens: int) -> None:
    first, last = head(text, tokens), tail(text, tokens)
    assert count(first) <= tokens and count(last) <= tokens
    assert first in text and last in text
    assert text.lstrip().startswith(first.lstrip()) and text.rstrip().endswith(last.rstrip())


def test_a_text_that_fits_is_not_touched_and_a_longer_one_is_cut_between_words() -> None:
    assert head(" a b ", 10) == tail(" a b ", 10) == " a b "
    text = " ".join(f"word{n}" for n in range(500))
    assert head(text, 21).split() == text.split()[: len(head(text, 21).split())]
    assert tail(text, 21).split() == text.split()[-len(tail(text, 21).split()):]
    assert count(head(text, 21)) >= 15 and count(tail(text, 21)) >= 15


@pytest.mark.parametrize("tokens", [500, 2_000, 2_500, 3_000, 5_000, 20_000])
def test_the_end_of_a_document_is_seen_whatever_its_length(tokens: int) -> None:
    """The evaluation that this baseline follows saw no end of documents over 3,000 tokens."""
    words = [f" {n}" for n in range(tokens)]
    while count("".join(words)) > tokens:
        words = words[: len(words) - max(1, (count("".join(words)) - tokens) // 2)]
    text = "".join(words)
    for size in (40, 700, len(text)):
        found = excerpt_of(text[at : at + size] for at in range(0, len(text), size))
        assert found is not None
        seen = (found.beginning + found.end).replace("\n", "")
        assert seen.split()[0] == "0" and seen.endswith(words[-1].strip())
        if count(text) > 2_200:
            assert found.end and count(found.beginning) <= 1_000 and count(found.end) <= 1_000
            assert count(found.end) > 900
    assert excerpt_of(["", " \n"]) is None


def test_documents_beyond_the_limit_are_drawn_by_the_seed_in_their_order() -> None:
    from kgeval.questions.making.summary import Excerpt

    found = [Excerpt(f"d{n}", "x") for n in range(30)]
    assert drawn(found, 1) == found
    one, other = drawn(found, 1, most=10), drawn(found, 2, most=10)
    assert len(one) == 10 and one == [e for e in found if e in one] and one != other and one == drawn(iter(found), 1, most=10)


def test_all_passages_go_into_groups_within_the_budget_in_their_order() -> None:
    passages = [Passage(text="word " * 3_000, chunk_id=str(n)) for n in range(40)]
    found = groups(passages)
    assert [p.chunk_id for group in found for p in group] == [str(n) for n in range(40)] and len(found) == 20
    assert all(sum(count(p.text) for p in group) <= GROUP_TOKENS for group in found)
    assert groups([]) == []


def test_a_passage_that_is_longer_than_a_group_is_cut_into_parts_that_lose_no_word() -> None:
    text = " ".join(f"w{n}" for n in range(9_000))
    found = groups([Passage(text="first", chunk_id="a"), Passage(text=text, chunk_id="b"), Passage(text="last", chunk_id="c")])
    assert all(sum(count(p.text) for p in group) <= GROUP_TOKENS for group in found)
    parts = [p for group in found for p in group]
    assert [p.chunk_id for p in parts] == ["a", *"b" * (len(parts) - 2), "c"] and len(parts) > 4
    assert " ".join(p.text for p in parts).split() == ["first", *text.split(), "last"]


@given(st.integers(1, 2_000))
def test_summaries_are_shared_out_evenly_and_in_order(size: int) -> None:
    parts = shared_out(range(size))
    assert [item for part in parts for item in part] == list(range(size))
    lengths = [len(part) for part in parts if part]
    assert max(lengths) - min(lengths) <= 1 and max(lengths) <= SUMMARIES_A_CALL
    assert len(parts) == max(MOST_SUMMARIES, math.ceil(size / SUMMARIES_A_CALL))


def test_triples_are_numbered_in_order_and_passages_are_cut_to_the_budget() -> None:
    structure = ship()
    assert drafts.triples_shown(structure)[1] == {"number": 2, "subject": "Light", "relation": "sails to", "object": "Varne"}
    long = [Passage(text="one two three four " * 40, chunk_id=str(n), document="d") for n in range(4)]
    values, shown = drafts.passages_shown([Passage(text=" "), *long], 250)
    assert [p.chunk_id for p in shown] == ["0", "1"]
    assert [value["number"] for value in values if isinstance(value, dict)] == [1, 2]
    assert sum(count(str(value["text"])) for value in values if isinstance(value, dict)) <= 250
    assert drafts.relevant_passages(structure, {"r2"})[0].chunk_id == "c2"
    assert [p.chunk_id for p in drafts.passages_of(structure, structure.relations[1:])] == ["c1", "c2"]


def test_numbers_that_were_not_shown_are_refused_and_repeats_count_once() -> None:
    assert drafts.picked("abc", [3, 1, 3]) == ["c", "a"]
    for numbers, cause in (([0], "wrong_number"), ([4], "wrong_number"), ([-1], "wrong_number"), ([], "no_evidence")):
        with pytest.raises(RejectedError) as caught:
            drafts.picked("abc", numbers)
        assert caught.value.cause == cause


@pytest.mark.parametrize(("text", "cause"), [
    ("", "empty"), (" ?! ", "empty"), ("x" * 3_000, "too_long"), ("What does passage 2 say?", "material"),
    ("None", "declined"), ("N/A.", "declined"), ("(empty)", "declined"), ("No sensible question can be made of this.", "declined"),
    ("I cannot write such a question: the passages say nothing of it.", "declined"), ("Unfortunately, this is not enough.", "declined"),
    ("According to the text, who is Ada?", "material"), ("What do the provided triples say?", "material"),
])
def test_questions_that_cannot_be_used_are_turned_down(text: str, cause: str) -> None:
    with pytest.raises(RejectedError) as caught:
        drafts.question_text(text)
    assert caught.value.cause == cause


def test_questions_are_one_clean_line_and_may_speak_of_passages_at_sea() -> None:
    assert drafts.question_text(' "Who\x00 is\n Ada?" ') == "Who is Ada?"
    for text in ("Who found the passage to Varne?", "No questions asked, who paid?", "None of whom came back?", "Write a letter to Ada."):
        assert drafts.question_text(text) == text


def test_names_quotes_and_leaks_are_found_as_whole_words() -> None:
    nodes = ship().nodes
    assert [node.name for node in drafts.names_in("Does ada, of Varne's guild, own oaks?", nodes)] == ["Ada", "Varne"]
    assert [node.name for node in drafts.names_in("ADA\u2019S crew; the Lights' mast", nodes)] == ["Ada"]
    assert drafts.is_quoted("Sails  TO", "the Light sails to Varne")
    assert not drafts.is_quoted("", "x") and not drafts.is_quoted("ail", "sails")
    assert drafts.leaks("Who owns O'Neil's Inn?", ["ONeil's Inn"]) and drafts.leaks("Is Varne's port far?", ["Varne"])
    assert drafts.leaks("Is Varne far?", ["varne"]) and not drafts.leaks("Is Varnese far?", ["Varne"])
    assert drafts.leaks("東京はどこですか", ["東京"])


def test_a_drafted_question_knows_its_breadth_depth_and_document() -> None:
    structure = ship()
    question = drafts.drafted(
        structure, "What?", "Oak.", level="path", used={"r0", "r2"}, evidence=[structure.passages[0], structure.passages[0]],
    )
    assert (question.triples_needed, question.hops, question.document, len(question.evidence)) == (2, 3, "d0", 1)
    whole = drafts.drafted(structure, "What?", None, level="path", evidence=structure.passages)
    assert (whole.triples_needed, whole.hops, whole.document, whole.reference) == (3, 3, None, None)
    none = drafts.drafted(structure, "What?", None, level="node", used=())
    assert (none.triples_needed, none.hops) == (None, None)
