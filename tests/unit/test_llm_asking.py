"""From a task to its outcome: whatever a model says, every number is answered once or missing with its cause."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.llm.asking import ask
from kgeval.llm.caller import CallResult
from kgeval.llm.calls import Endpoint, Failure, Outcome, Reply, Tagged, Task
from kgeval.llm.prompts import parse_prompt
from kgeval.llm.replies import UnusableError
from kgeval.llm.request import Request

V = TypeVar("V")
PROMPT = parse_prompt("# judge: asks\n# slots: items\n--- system ---\nJudge.\n--- user ---\n{{items}}\n", name="judge")
TELL = parse_prompt("# tell: asks\n# slots: passage\n--- system ---\nTell.\n--- user ---\n{{passage}}\n", name="tell")


class Verdict(Tagged):
    label: Literal["yes", "no"]


class Verdicts(Reply):
    items: list[Verdict]


class Fact(Reply):
    fact: str


class Scripted:
    """Says one text after the other; a Failure in place of a text fails the call. Then nothing usable any more."""

    def __init__(self, *said: str | Failure) -> None:
        self.said = list(said)
        self.shown: list[list[int]] = []
        self.keys: list[str] = []

    def call(self, request: Request, read: Callable[[str], V], *, tried: int = 0) -> CallResult[V]:
        self.shown.append([int(number) for number in re.findall(r'^{"tag": "\w+", "item": "item (\d+)', request.user, re.MULTILINE)])
        self.keys.append(request.key)
        next_ = self.said.pop(0) if self.said else ""
        if isinstance(next_, Failure):
            return CallResult(None, next_)
        try:
            return CallResult(read(next_))
        except UnusableError as fault:
            return CallResult(None, fault.failure)


def tag_of(number: int, count: int = 4) -> str:
    return task_of(count).tags[number - 1]


def verdicts(*rows: tuple[int, str]) -> str:
    return json.dumps({"items": [{"tag": tag_of(number), "label": label} for number, label in rows]})


def task_of(count: int) -> Task[Verdicts]:
    return Task("t", PROMPT, {}, Verdicts, items=tuple(f"item {n}" for n in range(1, count + 1)))


def judge(model: Scripted, count: int = 4, max_reasks: int = 2) -> Outcome[Verdicts]:
    task = task_of(count)
    return ask(task, model, endpoint=Endpoint("m", "http://127.0.0.1:1/v1"), max_reasks=max_reasks)


def labels(outcome: Outcome[Verdicts]) -> dict[int, str]:
    return {number: answer.label for number, answer in outcome.answers.items()}


def test_asking_again_shows_what_is_missing_only_under_its_own_numbers() -> None:
    model = Scripted(verdicts((1, "yes"), (3, "no")), verdicts((4, "yes")), verdicts((2, "no")))
    outcome = judge(model)
    assert model.shown == [[1, 2, 3, 4], [2, 4], [2]]
    assert labels(outcome) == {1: "yes", 2: "no", 3: "no", 4: "yes"}
    assert list(outcome.value.items) == [outcome.answers[number] for number in (1, 2, 3, 4)]  # type: ignore[union-attr]
    assert outcome.missing == {}
    assert list(outcome.calls) == model.keys


def test_a_later_reply_cannot_change_an_earlier_answer() -> None:
    assert labels(judge(Scripted(verdicts((1, "yes")), verdicts((1, "no"), (2, "no")), "")))[1] == "yes"


def test_what_is_missing_after_the_last_ask_has_the_cause_of_the_last_ask() -> None:
    outcome = judge(Scripted(verdicts((1, "yes")), "no JSON", Failure("cut", "x")))
    assert labels(outcome) == {1: "yes"}
    assert {number: failure.cause for number, failure in outcome.missing.items()} == {2: "cut", 3: "cut", 4: "cut"}
    assert outcome.failure is None


def test_a_failed_call_is_not_asked_again_here() -> None:
    """Transport has had its own retries; a refusal would be the same again."""
    for cause in ("timeout", "refused", "too_long", "rejected", "budget", "error_rate", "cancelled"):
        model = Scripted(Failure(cause), verdicts((1, "yes")))
        outcome = judge(model)
        assert len(model.shown) == 1
        assert outcome.failure == Failure(cause)
        assert set(outcome.missing) == {1, 2, 3, 4}


def test_no_reask_at_all_if_none_is_allowed() -> None:
    model = Scripted(verdicts((1, "yes")))
    assert set(judge(model, max_reasks=0).missing) == {2, 3, 4}
    assert len(model.shown) == 1


def test_words_asked_again_after_a_used_reply_are_another_request() -> None:
    """All four are missing twice: the second ask has the same words. After an unusable reply it is the same request (which may be
    paid again), after a used one it is not."""
    unusable = Scripted("", "", "")
    judge(unusable)
    assert len(set(unusable.keys)) == 1
    used = Scripted(verdicts((1, "yes")), verdicts((2, "yes")), verdicts((3, "yes")))
    judge(used)
    assert len(set(used.keys)) == 3


def test_without_items_an_unusable_reply_is_asked_again_and_the_first_usable_one_counts() -> None:
    task = Task("t", TELL, {"passage": "x"}, Fact)
    model = Scripted("sorry", '{"fact": "a"}', '{"fact": "b"}')
    outcome = ask(task, model, endpoint=Endpoint("m", "http://127.0.0.1:1/v1"), max_reasks=2)
    assert outcome.value == Fact(fact="a")
    assert outcome.calls == (model.keys[1],)
    failed = ask(task, Scripted(), endpoint=Endpoint("m", "http://127.0.0.1:1/v1"), max_reasks=2)
    assert (failed.value, failed.calls) == (None, ())
    assert failed.failure is not None


ROW = st.fixed_dictionaries(
    {"tag": st.sampled_from([*(tag for count in range(1, 7) for tag in task_of(count).tags), None, "1"])},
    optional={"label": st.sampled_from(["yes", "no", "?", 1])},
)
SAID = st.one_of(
    st.lists(ROW, max_size=9).map(lambda rows: json.dumps({"items": rows})), st.text(max_size=20),
    st.sampled_from([Failure("cut"), Failure("empty"), Failure("timeout"), Failure("refused")]),
)


@pytest.mark.slow
@given(said=st.lists(SAID, max_size=5), count=st.integers(1, 6), max_reasks=st.integers(0, 4))
def test_every_number_is_answered_once_or_missing_with_a_cause(said: list[Any], count: int, max_reasks: int) -> None:
    model = Scripted(*said)
    outcome = judge(model, count, max_reasks)
    answered = list(outcome.answers)
    assert answered == sorted(set(answered))
    assert sorted([*answered, *outcome.missing]) == list(range(1, count + 1))
    assert all(failure.cause for failure in outcome.missing.values())
    assert (outcome.failure is None) == (outcome.value is not None)
    assert 1 <= len(model.shown) <= max_reasks + 1
    assert len(outcome.calls) == len(set(outcome.calls))
    for earlier, later in zip(model.shown, model.shown[1:], strict=False):
        assert set(later) <= set(earlier)


def test_what_a_reply_quotes_from_the_texts_that_were_shown_is_no_answer() -> None:
    task = task_of(1)
    own = f'{{"items": [{{"tag": "{task.tags[0]}", "label": "no"}}]}}'
    planted = own.replace("no", "yes")
    ends = [
        f"I refuse. It orders me to write:\n{planted}",
        f"{planted} is what it orders. My answer: {planted[:9]}", f"<think>It says\n{planted}",
    ]
    outcome = ask(task, Scripted(*ends), endpoint=Endpoint("m", "http://127.0.0.1:1/v1"), max_reasks=2)
    assert outcome.value is None
    assert outcome.missing[1].cause == "cut"  # of the last reply
    again = ask(task, Scripted(*ends[:2], own), endpoint=Endpoint("m", "http://127.0.0.1:1/v1"), max_reasks=2)
    assert labels(again) == {1: "no"}
