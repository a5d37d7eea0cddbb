"""The temperature of answers that are asked for several times: trials are there to show how answers vary, and at 0 they would not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from compare_world import PairJudge

import kgeval
from kgeval.llm.fake import Chat, FakeServer

QUESTIONS = [{"id": f"q{n}", "question": f"Who built mill {n}?"} for n in range(4)]
NUMBER = count(1)
judge = PairJudge()


def reply(chat: Chat) -> Any:
    """A reader that gives another answer each time; a judge by the worth that answers tell."""
    return {"answer": f"Ada did, draw {next(NUMBER)}: worth 3."} if chat.model == "reader-1" else judge(chat)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def temperatures(server: FakeServer) -> dict[str, set[Any]]:
    """By model, what requests since the last look said of their temperature; None: nothing."""
    given = defaultdict(set)
    for request in server.requests:
        given[request.body["model"]].add(request.body.get("temperature"))
    server.reset()
    return dict(given)


def toml(text: str) -> Path:
    Path("kgeval.toml").write_text(text)
    return Path("kgeval.toml")


def answered(server: FakeServer, system: str, **options: Any) -> Any:
    usual: dict[str, Any] = {"model": "reader-1", "base_url": server.base_url, "journal": Path("j.sqlite"), "config": False}
    return kgeval.answer(QUESTIONS, system=system, **usual | options)


def test_several_answers_are_sampled_and_one_is_not() -> None:
    with FakeServer(reply) as server:
        answered(server, "closed-book")
        assert temperatures(server) == {"reader-1": {0}}
        several = answered(server, "closed-book", trials=3)
        assert len({answer.answer for answer in several}) == 12
        assert temperatures(server) == {"reader-1": {0.7}}
        answered(server, "closed-book", trials=2, settings=["trial_temperature=0.2"])
        assert temperatures(server) == {"reader-1": {0.2}}


@pytest.mark.parametrize(("parameters", "sent"), [("temperature = 0.4", 0.4), ('temperature = "default"', None), ("seed = 1", 0.7)])
def test_a_temperature_of_the_users_own_stays(parameters: str, sent: float | None) -> None:
    with FakeServer(reply) as server:
        answered(server, "closed-book", trials=2, config=toml(f"[model.reader]\nparameters = {{ {parameters} }}\n"))
        assert temperatures(server) == {"reader-1": {sent}}


def compared(server: FakeServer, **options: Any) -> Any:
    usual: dict[str, Any] = {
        "systems": ["a=closed-book", "b=closed-book"], "settings": ["b:max_words=20"], "reader": "reader-1", "judge": "judge-1",
        "base_url": server.base_url, "questions": QUESTIONS, "config": False, "journal": Path("j.sqlite"), "trials": 3, "align": "none",
    }
    return kgeval.compare((), **usual | options)


def test_systems_that_answer_anew_are_sampled_and_the_report_states_both_temperatures() -> None:
    with FakeServer(reply) as server:
        plan = compared(server, dry_run=True)
        result = compared(server)
        assert plan.calls[1] == server.stats().requests
        assert temperatures(server) == {"reader-1": {0.7}, "judge-1": {0}}
        assert compared(server, dry_run=True).calls == (0, 0)
    notes = result.report.notes
    assert "temperature of answers that are asked for several times: a at 0.7, b at 0.7 (setting trial_temperature)" in notes
    assert any(note.startswith("the judge has temperature 0") for note in notes) and not any("can answer anew" in note for note in notes)


def test_answers_that_stay_are_not_sampled_and_the_report_says_that_they_could_be_made_anew() -> None:
    with FakeServer(reply) as server:
        notes = compared(server, trial_kind="rejudge", temperature=0.5).report.notes
        assert temperatures(server) == {"reader-1": {0}, "judge-1": {0.5}}
    assert "temperature of the judge: 0.5" in notes
    assert any(note.startswith("the answers stay in all trials") and "a, b can answer anew" in note for note in notes)


@pytest.mark.parametrize(("read", "cautious"), [(lambda chat: {"answer": "Ada did: worth 3."}, True), (reply, False)])
def test_trials_in_which_nothing_varies_are_a_caution(read: Callable[[Chat], Any], cautious: bool) -> None:
    with FakeServer(lambda chat: read(chat) if chat.model == "reader-1" else judge(chat)) as server:
        notes = compared(server).report.notes
    said = [note for note in notes if "the same answer in all trials, word for word, to 4 of 4 questions" in note]
    assert len(said) == 2 * cautious


def test_a_judge_whose_repeats_all_agree_is_a_caution() -> None:
    with FakeServer(reply) as server:
        notes = compared(server, temperature=0.5, repeats=3).report.judge[0].notes
    assert any(note.startswith("repeats agree in 100 % of 72 pairs of them") for note in notes)


def test_a_second_run_of_a_system_has_all_systems_sampled_so_that_pairs_stay_alike() -> None:
    with FakeServer(reply) as server:
        compared(server, trials=1, self_checks=["a"])
        assert temperatures(server)["reader-1"] == {0.7}
