"""Replies: what is read from a model's text, what is fixed, and what is never believed."""

from __future__ import annotations

import json
import string
import time
from collections.abc import Iterator
from itertools import product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.llm.calls import Reply, SourceTag, Tagged
from kgeval.llm.replies import UnusableError, item_type, read_reply, read_tagged
from kgeval.llm.schemas import shape_of
from kgeval.llm.tags import item_tags, source_tags


class Colour(Reply):
    colour: str
    sure: bool = True


class Verdict(Tagged):
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
    '**Answer:** `{"colour": "red"}`', '<answer>{"colour": "red"}</answer></s>',
    '{"colour": "red",}',
    '{"colour": "red", "list": [1, 2,],}',
    '\ufeff{"colour": "red"}', '```json\n{"colour": "red"}', json.dumps('{"colour": "red"}'),
    '<think>Is it {"colour": "blue"}? No.</think>{"colour": "red"}',
    '<think><think>Hm.</think>\n{"colour": "red"}', 'Blue? {"colour": "blue"}? No.</think>{"colour": "red"}',
    '<|channel|>analysis<|message|>Blue?<|end|><|start|>assistant<|channel|>final<|message|>{"colour": "red"}<|return|>',
])
def test_a_complete_answer_is_found_in_what_models_write_around_it(text: str) -> None:
    assert read_reply(text, Colour) == RED


@pytest.mark.slow
@pytest.mark.parametrize("text", [
    "", "red", "null", "[]", '"red"', "{}", '{"colour": 3.5}', '{"colour": null}', '{"colour": "red"', '{"colour": "re',
    '{"outer": {"colour": "red"}, "cut": [1, 2', '{"colour": "red", "colour": "blue"}', '{"colour": NaN}', "{'colour': 'red'}",
    '{"colour": "red"} or {"colour": "blue"}', 'First: {"colour": "blue"}\nThen: {"colour": "red"}',
    # among other words: quoted, wrong, refused, or not the end
    'It says {"colour": "red"}. My answer: {"colour": "bl', 'It says {"colour": "red"}. My answer: {"color": "blue"}',
    'The text orders me to reply {"colour": "red"}; I will not.', 'The text orders me to reply {"colour": "red"}.',
    'A wrong answer would be: {"colour": "red"}', 'I will not follow the instruction, which was: {"colour": "red"}',
    'I looked at {x} and [y]: {"colour": "red"}', 'First: {"colour": "red"}\nand again:\n{"colour": "red"}',
    '```\n{"colour": "red"}\n```\nis what it wants. I refuse.', 'I refuse. <think>It wants it.</think>{"colour": "red"}',
    '{"colour": "red"}, {', '{"colour": "red"}...', '> {"colour": "red"}', '{"colour": "red"}?', '{"colour": "red"}\n```json',
    "It says {\"colour\": \"red\"}. {'colour': 'blue'}", '<answer>{"colour": "red"}',
    '<|channel|>analysis<|message|>{"colour": "red"}<|end|>', '<|channel|>final<|message|>{"colour": "blue"}<|end|><|start|>assistant'
    '<|channel|>final<|message|>{"colour": "red"}',
    "[" * 100_000, '{"a":' * 100_000, '{"colour": ' + "9" * 5000 + "}",
])
def test_what_is_not_one_complete_answer_is_unusable(text: str) -> None:
    with pytest.raises(UnusableError) as caught:
        read_reply(text, Colour)
    assert caught.value.failure.cause == "unparsable"
    assert "red" not in caught.value.failure.detail


@pytest.mark.parametrize("text", [
    '<think>It wants {"colour": "red"}', '<think>Say:\n{"colour": "red"}', '{"colour": "red"}\n<think>Wait',
    '<thinking>\n{"colour": "red"}\n', '<analysis>\n{"colour": "red"}',
    '<think>a</think>\n<think>\n{"colour": "red"}', '[THINK]So: {"colour": "red"}', '<think>It has <think>x</think>\n{"colour": "red"}',
])
def test_thoughts_that_never_end_are_a_cut_reply(text: str) -> None:
    with pytest.raises(UnusableError) as caught:
        read_reply(text, Colour)
    assert caught.value.failure.cause == "cut"


def test_a_string_may_hold_commas_braces_and_line_ends() -> None:
    assert read_reply('{"colour": "red,} {[ \\" ,]\n",}', Colour).colour == 'red,} {[ " ,]\n'


def test_half_characters_of_a_reply_are_replaced() -> None:
    assert read_reply('{"colour": "red \\ud800 \\ud83d\\ude00"}', Colour).colour == "red \ufffd \U0001f600"


TAGS = ("k7", "w3", "d5")


def row(tag: object, label: str = "supported") -> dict[str, object]:
    return {"tag": tag, "label": label}


def tagged(*rows: object, tags: tuple[str, ...] = TAGS) -> tuple[list[str], dict[str, str]]:
    checked = read_tagged(json.dumps({"items": rows}), Verdicts, tags)
    return list(checked.answers), {tag: failure.detail for tag, failure in checked.faults.items()}


def test_each_tag_is_answered_once_in_any_order() -> None:
    assert tagged(row("d5"), row("k7"), row("w3")) == (["k7", "w3", "d5"], {})
    assert tagged(row(" K7"), row("[w3]"), row("`D5`"))[0] == ["k7", "w3", "d5"], "as models spell them"


def test_a_tag_that_does_not_come_is_missing() -> None:
    assert tagged(row("k7"), row("d5")) == (["k7", "d5"], {"w3": "the reply has no answer to this item"})


def test_a_malformed_answer_is_missing_and_spoils_no_other() -> None:
    assert tagged(row("k7"), row("w3", "perhaps"), row("d5")) == (["k7", "d5"], {"w3": "the reply has no usable answer to this item"})


@pytest.mark.parametrize(("rows", "said"), [
    ([row("k7"), row("w3"), row("d5"), row("w3")], "a tag twice"), ([row("k7"), row("k7", "perhaps")], "a tag twice"),
    ([row("k7"), row("w3"), row("d5"), row("d6")], "was not asked"), ([row("k8"), row("w4"), row("d6")], "was not asked"),
    ([row("0"), row("1"), row("2")], "was not asked"), ([{"label": "supported"}, row("w3")], "without a tag"),
    *(([row(tag), row("w3")], "without a tag") for tag in (1, True, 1.5, None, [], {})), (["supported", row("w3")], "without a tag"),
])
def test_a_list_with_a_tag_too_many_is_shifted_somewhere_and_not_believed(rows: list[object], said: str) -> None:
    with pytest.raises(UnusableError, match=said):
        tagged(*rows)


def test_a_bare_list_is_read_as_the_list() -> None:
    assert list(read_tagged(json.dumps([row("k7"), row("w3")]), Verdicts, ("k7", "w3")).answers) == ["k7", "w3"]


def test_a_list_that_points_to_what_was_not_shown_is_not_believed() -> None:
    class Pointing(Tagged):
        sources: list[SourceTag]

    class Pointings(Reply):
        items: list[Pointing]

    def read(*sources: str) -> list[str]:
        said = json.dumps({"items": [{"tag": "k7", "sources": list(sources)}]})
        return read_tagged(said, Pointings, ("k7",), sources=("4q", "7w")).value.items[0].sources

    assert read() == [] and read(" 7W", "4q") == ["7w", "4q"]
    for wrong in ("5q", "k7", "1", ""):
        with pytest.raises(UnusableError, match="not shown"):
            read("4q", wrong)


@pytest.mark.parametrize("text", [
    '{"items": []}', '{"items": [{"tag": "k7", "label": "perhaps"}]}', '{"items": {"k7": "supported"}}', "{}", "sorry",
])
def test_a_reply_without_one_usable_answer_is_unusable(text: str) -> None:
    with pytest.raises(UnusableError):
        read_tagged(text, Verdicts, TAGS)


def test_a_list_that_was_cut_is_never_taken_for_a_list() -> None:
    """Cut a good reply anywhere before its end: it is unusable, not a shorter list of verdicts."""
    whole = json.dumps({"items": [row(tag) for tag in TAGS]})
    for length in range(len(whole)):
        with pytest.raises(UnusableError):
            read_tagged(whole[:length], Verdicts, TAGS)


LISTS = st.lists(st.one_of(st.text(max_size=9), st.integers(), st.none()), max_size=70)


@given(LISTS)
def test_tags_of_a_list_cannot_be_counted_on(items: list[object]) -> None:
    tags = item_tags(items)
    assert len(set(tags)) == len(items) and tags == item_tags(list(items))
    assert not {neighbour for tag in tags for neighbour in counted(tag)} & set(tags), "no step on or back gives another tag of the list"
    assert len({tag[:-1] for tag in tags}) == len(tags), "counting the digits alone never does, however far"
    assert len(tags) < 3 or list(tags) not in (sorted(tags), sorted(tags, reverse=True))
    assert not set(tags) & set(source_tags(items)), "a passage's tag is never an item's"


def counted(tag: str) -> Iterator[str]:
    """The tag with its letters, its digit, or all of them one further or back."""
    for steps in product((-1, 0, 1), repeat=len(tag)):
        if any(steps):
            yield "".join(chr(ord(sign) + step) for sign, step in zip(tag, steps, strict=True))


def test_many_items_have_tags_too_and_other_items_have_others() -> None:
    assert len(set(item_tags([f"item {n}" for n in range(2000)]))) == 2000
    assert item_tags(["a", "b"]) != item_tags(["a", "c"])


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


@pytest.mark.parametrize(("before", "repeated"), [
    ('{"colour": "red"}', " \n"), ('```json\n{"colour": "red"}', "\t"), ("Here is the JSON:", " "), ("", "</think>{"), ("", "<think>"),
    ("", "here is the "), ("", "<|channel|>analysis<|message|><|end|>"), ('{"colour": "red"}', "</s> "),
])
def test_replies_of_models_that_loop_are_read_at_once(before: str, repeated: str) -> None:
    started = time.process_time()
    with pytest.raises(UnusableError):
        read_reply(before + repeated * 20_000 + "x", Colour)
    assert time.process_time() - started < 2


def test_other_fields_of_the_reply_must_be_there_too() -> None:
    with pytest.raises(UnusableError):
        read_tagged(json.dumps({"items": [row("k7")]}), Graded, ("k7",))
    assert read_tagged(json.dumps({"note": "x", "items": [row("k7")]}), Graded, ("k7",)).value.note == "x"


def test_a_quoted_verdict_list_beside_the_models_own_is_no_verdict() -> None:
    planted, own = json.dumps({"items": [row("k7", "supported")]}), json.dumps({"items": [row("k7", "contradicted")]})
    with pytest.raises(UnusableError, match="among other words"):
        read_tagged(f"The text says {planted}. My answer is: {own}", Verdicts, ("k7",))


ROWS = st.lists(st.one_of(
    st.fixed_dictionaries({"tag": st.one_of(st.sampled_from([*TAGS, *TAGS, "K7", "x9", "1", True, None]))}, optional={
        "label": st.sampled_from(["supported", "contradicted", "not_stated", "maybe", 1, None]), "reason": st.one_of(st.text(), st.none()),
    }),
    st.none(), st.text(max_size=5), st.integers(),
), max_size=6)


@pytest.mark.slow
@given(rows=ROWS, wrap=st.sampled_from(["{}", "```json\n{}\n```", "Well: {} so."]))
def test_whatever_comes_back_every_tag_is_answered_once_or_missing_with_a_cause(rows: list[object], wrap: str) -> None:
    try:
        checked = read_tagged(wrap.replace("{}", json.dumps({"items": rows})), Verdicts, TAGS)
    except UnusableError as fault:
        assert fault.failure.cause in ("unparsable", "missing_item")
        return
    assert sorted([*checked.answers, *checked.faults]) == sorted(TAGS)
    assert [answer.tag for answer in checked.value.items] == list(checked.answers)
    for tag, answer in checked.answers.items():
        same = [entry for entry in rows if isinstance(entry, dict) and str(entry["tag"]).lower() == tag]
        assert len(same) == 1
        assert answer.label == same[0]["label"]


@pytest.mark.slow
@given(st.text(alphabet=string.printable + "\ud800é漢", max_size=60))
def test_no_garbage_breaks_the_reader(text: str) -> None:
    for read in (lambda: read_reply(text, Colour), lambda: read_tagged(text, Verdicts, ("k7",))):
        try:
            read()
        except UnusableError:
            continue


def test_a_tagged_reply_needs_a_list_of_tagged_items() -> None:
    assert item_type(Graded) is Verdict
    with pytest.raises(TypeError, match="items: list"):
        item_type(Colour)


def test_the_schema_of_a_reply_is_closed_and_requires_all_fields() -> None:
    schema = shape_of(Verdicts).schema
    inner = schema["$defs"]["Verdict"]
    assert schema["additionalProperties"] is False
    assert inner["additionalProperties"] is False
    assert inner["required"] == ["tag", "label", "reason"]
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
