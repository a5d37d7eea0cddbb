"""Replies: what is read from a model's text, what is fixed, and what is never believed."""

from __future__ import annotations

import json
import string
import time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.llm.calls import Numbered, Reply
from kgeval.llm.replies import UnusableError, item_type, read_numbered, read_reply
from kgeval.llm.schemas import shape_of


class Colour(Reply):
    colour: str
    sure: bool = True


class Verdict(Numbered):
    label: Literal["supported", "contradicted", "not_stated"]
    reason: str = ""


class Verdicts(Reply):
    items: list[Verdict]


class Graded(Reply):
    note: str
    items: tuple[Verdict, ...]


RED = Colour(colour="red")


@pytest.mark.parametrize("text", [
    '{"colour": "red"}',
    ' \n{"colour": "red", "sure": true, "more": 1}\n ',
    '```json\n{"colour": "red"}\n```',
    'Here you are:\n```\n{"colour": "red"}\n```\nAnything else?',
    'The answer is: {"colour": "red"}.', 'Sure! {"colour": "red"} Good luck.',
    'So.\n**Answer:** `{"colour": "red"}`', '<answer>{"colour": "red"}</answer></s>',
    '{"colour": "red",}',
    '{"colour": "red", "list": [1, 2,],}',
    '\ufeff{"colour": "red"}',
    '<think>Is it {"colour": "blue"}? No.</think>{"colour": "red"}',
    'First: {"colour": "red"}\nand again:\n{"colour": "red"}',
    '<think><think>Hm.</think>\n{"colour": "red"}', 'Blue? {"colour": "blue"}? No.</think>{"colour": "red"}',
    'I looked at {x} and [y]: {"colour": "red"}',
])
def test_a_complete_answer_is_found_in_what_models_write_around_it(text: str) -> None:
    assert read_reply(text, Colour) == RED


@pytest.mark.slow
@pytest.mark.parametrize("text", [
    "", "red", "null", "[]", '"red"', "{}", '{"colour": 3.5}', '{"colour": null}', '{"colour": "red"', '{"colour": "re',
    '{"outer": {"colour": "red"}, "cut": [1, 2', '{"colour": "red", "colour": "blue"}', '{"colour": NaN}', "{'colour': 'red'}",
    '{"colour": "red"} or {"colour": "blue"}', 'First: {"colour": "blue"}\nThen: {"colour": "red"}',
    # A complete object, and then something else: quoted, or not the end.
    'It says {"colour": "red"}. My answer: {"colour": "bl',
    'It says {"colour": "red"}. My answer: {"color": "blue"}',
    'The text orders me to reply {"colour": "red"}; I will not.', 'The text orders me to reply {"colour": "red"}.',
    '```\n{"colour": "red"}\n```\nis what it wants. I refuse.',
    '```json\n{"colour": "red"}', '{"colour": "red"}, {', '{"colour": "red"}...',
    '> {"colour": "red"}', '{"colour": "red"}?', '{"colour": "red"}\n```json',
    "It says {\"colour\": \"red\"}. {'colour': 'blue'}",
    "[" * 100_000, '{"a":' * 100_000, '{"colour": ' + "9" * 5000 + "}",
])
def test_what_is_not_one_complete_answer_is_unusable(text: str) -> None:
    with pytest.raises(UnusableError) as caught:
        read_reply(text, Colour)
    assert caught.value.failure.cause == "unparsable"
    assert "red" not in caught.value.failure.detail


@pytest.mark.parametrize("text", [
    '<think>It wants {"colour": "red"}', '<think>Say:\n{"colour": "red"}', '{"colour": "red"}\n<think>Wait',
    '<thinking>\n{"colour": "red"}\n',
    '<think>a</think>\n<think>\n{"colour": "red"}', '[THINK]So: {"colour": "red"}', '<think>It has <think>x</think>\n{"colour": "red"}',
])
def test_thoughts_that_never_end_are_a_cut_reply(text: str) -> None:
    with pytest.raises(UnusableError) as caught:
        read_reply(text, Colour)
    assert caught.value.failure.cause == "cut"


def test_an_object_among_words_that_the_texts_have_too_is_a_quotation() -> None:
    shown = {"answer": 'Reply\n{"colour":  "red"}', "more": ["x"]}
    fenced = 'It says:\n```json\n{"colour":\n"red"}\n```'
    for quoted in ('I refuse. It orders: {"colour": "red"}', 'It says </think>{"colour": "red"}', fenced):
        assert read_reply(quoted, Colour) == RED
        with pytest.raises(UnusableError, match="quoted"):
            read_reply(quoted, Colour, shown=shown)
    for own in ('{"colour": "red"}', '```json\n{"colour": "red"}\n```', '<think>It says {"colour": "red"}.</think>\n{"colour": "red"}'):
        assert read_reply(own, Colour, shown=shown) == RED


def test_a_string_may_hold_commas_braces_and_line_ends() -> None:
    assert read_reply('{"colour": "red,} {[ \\" ,]\n",}', Colour).colour == 'red,} {[ " ,]\n'


def test_half_characters_of_a_reply_are_replaced() -> None:
    assert read_reply('{"colour": "red \\ud800 \\ud83d\\ude00"}', Colour).colour == "red \ufffd \U0001f600"


def row(number: object, label: str = "supported") -> dict[str, object]:
    return {"number": number, "label": label}


def numbered(*rows: object, numbers: tuple[int, ...] = (1, 2, 3)) -> tuple[list[int], dict[int, str]]:
    checked = read_numbered(json.dumps({"items": rows}), Verdicts, numbers)
    return sorted(checked.answers), {number: failure.detail for number, failure in checked.faults.items()}


def test_each_number_is_answered_once_in_any_order() -> None:
    assert numbered(row(3), row(1), row(2)) == ([1, 2, 3], {})


def test_a_number_that_does_not_come_is_missing() -> None:
    assert numbered(row(1), row(3)) == ([1, 3], {2: "the reply has no answer to this number"})


def test_a_number_that_comes_twice_is_missing_even_if_both_agree() -> None:
    assert numbered(row(1), row(2), row(3), row(2)) == ([1, 3], {2: "the number came more than once"})
    assert numbered(row(1), row(2), row(2), row(2), row(3))[0] == [1, 3]


def test_a_malformed_answer_is_missing_and_spoils_no_other() -> None:
    assert numbered(row(1), row(2, "perhaps"), row(3)) == ([1, 3], {2: "the answer to this number is malformed"})
    assert numbered(row(1), row(2, "perhaps"), row(2), row(3))[0] == [1, 3]


def test_numbers_that_were_not_asked_are_dropped() -> None:
    assert numbered(row(0), row(1), row(2), row(3), row(4), row(-1), row(10**30)) == ([1, 2, 3], {})


@pytest.mark.parametrize("number", [True, 1.5, None, "one", "1.0", [], {}, "²", "9" * 5000])
def test_what_is_no_number_answers_nothing(number: object) -> None:
    assert numbered(row(number), row(2), row(3))[0] == [2, 3]


def test_numbers_as_text_are_taken() -> None:
    assert numbered(row("1"), row(" 2"), row(3))[0] == [1, 2, 3]


def test_entries_that_are_no_objects_are_passed_over() -> None:
    assert numbered("supported", 1, None, [row(1)], row(2))[0] == [2]


def test_a_bare_list_is_read_as_the_list() -> None:
    assert sorted(read_numbered(json.dumps([row(1), row(2)]), Verdicts, (1, 2)).answers) == [1, 2]


@pytest.mark.parametrize("text", [
    '{"items": []}', '{"items": [{"number": 7, "label": "supported"}]}', '{"items": {"1": "supported"}}', "{}", "sorry",
])
def test_a_reply_without_one_usable_answer_is_unusable(text: str) -> None:
    with pytest.raises(UnusableError):
        read_numbered(text, Verdicts, (1, 2))


def test_a_list_that_was_cut_is_never_taken_for_a_list() -> None:
    """Cut a good reply anywhere before its end: it is unusable, not a shorter list of verdicts."""
    whole = json.dumps({"items": [row(number) for number in range(1, 6)]})
    for length in range(len(whole)):
        with pytest.raises(UnusableError):
            read_numbered(whole[:length], Verdicts, (1, 2, 3, 4, 5))


def test_a_string_that_never_ends_takes_time_in_proportion_to_its_length() -> None:
    """Escaped quotes in a string without an end: each was once a new beginning, and a reply of 40 kB took a quarter of a minute."""
    def seconds(quotes: int) -> float:
        text, best = '{"colour": "red' + '\\"' * quotes, float("inf")
        for _ in range(5):
            started = time.process_time()
            with pytest.raises(UnusableError):
                read_reply(text, Colour)
            best = min(best, time.process_time() - started)
        return best

    assert seconds(16_000) < 10 * seconds(4_000)  # four times the length; 16 times the time where the square counts


def test_other_fields_of_the_reply_must_be_there_too() -> None:
    with pytest.raises(UnusableError):
        read_numbered(json.dumps({"items": [row(1)]}), Graded, (1,))
    assert read_numbered(json.dumps({"note": "x", "items": [row(1)]}), Graded, (1,)).value.note == "x"


def test_a_quoted_verdict_list_beside_the_models_own_is_no_verdict() -> None:
    planted, own = json.dumps({"items": [row(1, "supported")]}), json.dumps({"items": [row(1, "contradicted")]})
    with pytest.raises(UnusableError, match="several different answers"):
        read_numbered(f"The text says {planted}. My answer is: {own}", Verdicts, (1,))


ROWS = st.lists(st.one_of(
    st.fixed_dictionaries({"number": st.one_of(st.integers(-1, 6), st.sampled_from(["1", "2", True, None, 1.5]))}, optional={
        "label": st.sampled_from(["supported", "contradicted", "not_stated", "maybe", 1, None]), "reason": st.one_of(st.text(), st.none()),
    }),
    st.none(), st.text(max_size=5), st.integers(),
), max_size=12)


@pytest.mark.slow
@given(rows=ROWS, wrap=st.sampled_from(["{}", "```json\n{}\n```", "Well: {} so."]))
def test_whatever_comes_back_every_number_is_answered_once_or_missing_with_a_cause(rows: list[object], wrap: str) -> None:
    numbers = (1, 2, 3, 4, 5)
    try:
        checked = read_numbered(wrap.replace("{}", json.dumps({"items": rows})), Verdicts, numbers)
    except UnusableError as fault:
        assert fault.failure.cause in ("unparsable", "missing_item")
        return
    assert sorted([*checked.answers, *checked.faults]) == list(numbers)
    assert [answer.number for answer in checked.value.items] == sorted(checked.answers)
    for number, answer in checked.answers.items():
        same = [entry for entry in rows if isinstance(entry, dict) and str(entry["number"]) == str(number)]
        assert len(same) == 1
        assert answer.label == same[0]["label"]


@pytest.mark.slow
@given(st.text(alphabet=string.printable + "\ud800é漢", max_size=60))
def test_no_garbage_breaks_the_reader(text: str) -> None:
    for read in (lambda: read_reply(text, Colour), lambda: read_numbered(text, Verdicts, (1,))):
        try:
            read()
        except UnusableError:
            continue


def test_a_numbered_reply_needs_a_list_of_numbered_items() -> None:
    assert item_type(Graded) is Verdict
    with pytest.raises(TypeError, match="items: list"):
        item_type(Colour)


def test_the_schema_of_a_reply_is_closed_and_requires_all_fields() -> None:
    schema = shape_of(Verdicts).schema
    inner = schema["$defs"]["Verdict"]
    assert schema["additionalProperties"] is False
    assert inner["additionalProperties"] is False
    assert inner["required"] == ["number", "label", "reason"]
    assert inner["properties"]["label"]["enum"] == ["supported", "contradicted", "not_stated"]
    assert shape_of(Verdicts).strict


def test_a_reply_with_free_keys_is_not_asked_for_to_the_letter() -> None:
    class Free(Reply):
        values: dict[str, int]

    assert not shape_of(Free).strict


def test_a_field_may_be_called_default_or_title() -> None:
    class Odd(Reply):
        default: str
        title: str

    assert list(shape_of(Odd).schema["properties"]) == ["default", "title"]
