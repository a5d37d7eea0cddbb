"""Rates, budget, prices, error rate: laws that hold whatever the threads do."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import LONGEST

from kgeval.errors import ConfigError, ModelError, UsageError
from kgeval.llm.account import Account
from kgeval.llm.budget import Budget, SpentError
from kgeval.llm.calls import Endpoint, Failure, Limits, Outcome, Reply, Tagged, Task
from kgeval.llm.endpoints import address, api_key, is_loopback, scrub, settled
from kgeval.llm.plan import Plan, PlannedStage, bound
from kgeval.llm.prices import FREE, Price, price_of, read_prices
from kgeval.llm.prompts import parse_prompt
from kgeval.llm.rates import Bucket, EndpointRates, backoff
from kgeval.llm.schemas import shape_of
from kgeval.llm.session import open_models

PROMPT = parse_prompt("# ask: asks\n# slots: passage\n--- system ---\nBe brief.\n--- user ---\n{{passage}}\n", name="ask")


class Colour(Reply):
    colour: str


@pytest.mark.slow
@given(per_minute=st.integers(1, 5000), gaps=st.lists(st.floats(0, 3), min_size=1, max_size=300))
@settings(deadline=None)
def test_no_minute_holds_more_requests_than_the_rate(per_minute: int, gaps: list[float]) -> None:
    bucket, now, sent = Bucket(per_minute), 0.0, []
    for gap in gaps:
        now += gap
        sent.append(now + bucket.take(1, now))
    sent.sort()
    for first, start in enumerate(sent):
        assert sum(1 for at in sent[first:] if at < start + 60 - 1e-6) <= per_minute


@pytest.mark.slow
@given(per_minute=st.integers(60, 100_000), sizes=st.lists(st.floats(0.01, 1.0), min_size=1, max_size=200))
@settings(deadline=None)
def test_no_minute_holds_more_tokens_than_the_rate(per_minute: int, sizes: list[float]) -> None:
    bucket, sent = Bucket(per_minute), []
    for size in sizes:
        amount = size * bucket.burst
        sent.append((bucket.take(amount, 0.0), amount))
    for start, _ in sent:
        assert sum(amount for at, amount in sent if start <= at < start + 60 - 1e-6) <= per_minute + 1e-6


@pytest.mark.parametrize("per_minute", [1, 30, 61, 120, 299, 600])
def test_a_burst_is_part_of_the_rate_and_not_on_top_of_it(per_minute: int) -> None:
    bucket = Bucket(per_minute)
    sent = sorted(bucket.take(1, 0.0) for _ in range(2 * per_minute))
    assert all(late - early >= 60 - 1e-6 for early, late in zip(sent, sent[per_minute:], strict=False))


def test_the_rate_is_reached_and_kept() -> None:
    """600 a minute: 1,000 requests that all wait their turn take 99 s, give or take the burst of one second."""
    bucket = Bucket(600)
    assert 96 < max(bucket.take(1, 0.0) for _ in range(1000)) < 103


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.ended = 0.0, False

    def sleep(self, seconds: float) -> bool:
        self.now += seconds
        return self.ended


def test_threads_wait_for_their_turn_and_for_pauses() -> None:
    clock = Clock()
    rates = EndpointRates(60, None, clock=lambda: clock.now)
    turns = []
    for _ in range(5):
        rates.wait(0, sleep=clock.sleep)
        turns.append(clock.now)
    assert turns == [0.0, 1.0, 2.0, 3.0, 4.0]
    rates.pause(30)
    rates.wait(0, sleep=clock.sleep)
    assert clock.now == 34.0


def test_tokens_that_were_not_used_are_given_back() -> None:
    clock = Clock()
    rates = EndpointRates(None, 6000, clock=lambda: clock.now)
    rates.wait(3000, sleep=clock.sleep)
    rates.used(100, taken=3000)
    rates.wait(50, sleep=clock.sleep)
    assert clock.now < 2


def test_waiting_ends_when_the_session_does() -> None:
    clock = Clock()
    clock.ended = True
    rates = EndpointRates(1, None, clock=lambda: clock.now)
    assert not rates.wait(0, sleep=clock.sleep)
    assert rates.wait(0, sleep=clock.sleep)


def test_waits_grow_with_jitter_and_never_undercut_what_the_endpoint_asks() -> None:
    for attempt in range(1, 12):
        waits = [backoff(attempt) for _ in range(200)]
        top = min(0.5 * 2 ** (attempt - 1), 60)
        assert top / 2 <= min(waits) < max(waits) <= top
        assert min(backoff(attempt, asked=7.0) for _ in range(50)) >= 7.0
        assert backoff(attempt, asked=0.0) > 0


def test_a_budget_is_never_overrun_by_32_threads() -> None:
    """Costs differ from 0 up to the bound; the sum spent stays under the limit, and the rest is too small for one more call."""
    budget, most, seen = Budget(cost_limit=1.0, max_calls=None), 0.02, []

    def spend(seed: int) -> None:
        chance = random.Random(seed)
        while True:
            try:
                budget.reserve(most)
            except SpentError as end:
                assert end.failure.cause == "budget"
                return
            cost = most * chance.random()
            seen.append(cost)
            budget.settle(most, cost)

    run_all(spend, 32)
    assert sum(seen) <= 1.0
    assert sum(seen) == pytest.approx(budget.spent)
    assert 1.0 - budget.spent < most


@pytest.mark.parametrize("seed", range(5))
def test_whatever_calls_cost_the_limit_is_passed_by_one_of_them_at_most(seed: int) -> None:
    """Calls reserve far less than they can cost, and then cost that much."""
    budget, costs = Budget(cost_limit=1.0, max_calls=None), []

    def spend(thread: int) -> None:
        chance = random.Random(100 * seed + thread)
        for _ in range(200):
            most = chance.choice([0.02, 0.1, 1.28])
            expected = most * chance.random() / 10
            try:
                budget.reserve(expected, most=most)
            except SpentError:
                return
            cost = most * chance.choice([0.01, 0.05, 1.0])
            costs.append(cost)
            budget.settle(expected, cost, most=most)

    run_all(spend, 16)
    assert sum(costs) > 0.5
    assert sum(costs) - max(costs) <= 1.0 + 1e-9


def test_a_call_that_could_cost_more_than_the_limit_is_made_and_two_of_them_are_not_made_at_once() -> None:
    budget = Budget(cost_limit=1.0, max_calls=None)
    budget.reserve(0.005, most=1.28)
    with pytest.raises(SpentError):
        budget.reserve(0.005, most=1.28, ended=lambda: True)
    budget.settle(0.005, 0.004, most=1.28)
    budget.reserve(0.005, most=1.28)


def test_a_spent_budget_says_what_the_money_went_to() -> None:
    budget = Budget(cost_limit=0.1, max_calls=None)
    for stage, cost, broken in (("claims", 0.02, False), ("claims", 0.02, False), ("verdicts", 0.05, False), ("verdicts", 0.005, True)):
        budget.reserve(0.01)
        budget.settle(0.01, cost, stage=stage, broken=broken)
    with pytest.raises(SpentError) as spent:
        budget.reserve(0.01)
    assert spent.value.failure.detail == (
        "the cost limit of 0.1 USD is reached: 0.0950 USD are spent (verdicts 0.0550 in 2 calls; claims 0.0400 in 2 calls; of it 0.0050 "
        "guessed for calls that broke off), and the next call takes about 0.0100 USD"
    )


def test_the_length_of_a_reply_that_was_never_seen_is_guessed_from_its_form() -> None:
    class Item(Tagged):
        reason: str
        label: Literal["yes", "no"]

    class Items(Reply):
        items: list[Item]

    assert shape_of(Colour).usual_length(0) < 200 < shape_of(Items).usual_length(2) < shape_of(Items).usual_length(10) < 3000


@pytest.mark.parametrize("limit", [0, 1, 100])
def test_a_limit_of_calls_is_kept_exactly(limit: int) -> None:
    budget, made = Budget(cost_limit=None, max_calls=limit), []

    def spend(_: int) -> None:
        while True:
            try:
                budget.reserve(0.0)
            except SpentError:
                return
            made.append(1)
            budget.settle(0.0, 0.0)

    run_all(spend, 32)
    assert len(made) == limit


def test_a_budget_of_nothing_sends_nothing_even_where_calls_are_free() -> None:
    with pytest.raises(SpentError, match="cost limit of 0 USD"):
        Budget(cost_limit=0.0, max_calls=None).reserve(0.0)


def test_who_waits_for_money_is_let_go_when_the_session_ends() -> None:
    budget = Budget(cost_limit=1.0, max_calls=None)
    budget.reserve(1.0)
    ended = threading.Event()
    waiting = threading.Thread(target=lambda: refused(budget, ended))
    waiting.start()
    ended.set()
    budget.wake()
    waiting.join(LONGEST)
    assert not waiting.is_alive()


def refused(budget: Budget, ended: threading.Event) -> None:
    with pytest.raises(SpentError):
        budget.reserve(1.0, ended=ended.is_set)


PRICES = """
[[model]]
name = "m"
input = 1.0
output = 4.0
[[model]]
name = "m"
endpoint = "https://special.test/v1/"
input = 2.0
output = 8.0
max_output = 100
"""


def test_the_shipped_prices_can_be_read_and_hold_at_their_own_endpoint_only() -> None:
    prices = read_prices()
    assert all(row.endpoint and row.input <= row.output for row in prices.model)
    mini = settled(Endpoint("gpt-4o-mini-2024-07-18", "https://api.openai.com/v1/"))
    assert price_of(mini, prices) == price_of(settled(Endpoint("gpt-4o-mini", "https://api.openai.com/v1")), prices) != None  # noqa: E711
    assert price_of(settled(Endpoint("gpt-4o-mini", "https://other.test/v1")), prices) is None
    assert price_of(settled(Endpoint("gpt-4o-mini", "http://127.0.0.1:1/v1")), prices) == FREE


def test_a_price_file_of_the_user_s_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(PRICES)
    prices = read_prices(tmp_path / "p.toml")
    assert price_of(settled(Endpoint("m", "https://any.test/v1")), prices) == Price(1.0, 4.0)
    assert price_of(settled(Endpoint("m", "https://special.test/v1")), prices) == Price(2.0, 8.0, 100)
    assert price_of(settled(Endpoint("m", "http://localhost:8080/v1")), prices) == Price(1.0, 4.0)
    assert price_of(settled(Endpoint("gpt-4o", "https://api.openai.com/v1")), prices) is None
    assert Price(1.0, 4.0).cost(1_000_000, 500_000) == 3.0


def test_prices_carry_their_date(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text("as_of = 2026-01-15\n" + PRICES.replace("output = 8.0", 'output = 8.0\nas_of = "2025-11"'))
    prices = read_prices(path)
    assert (price_of(settled(Endpoint("m", "https://any.test/v1")), prices) or FREE).note == "costs are by prices of 2026-01-15"
    assert (price_of(settled(Endpoint("m", "https://special.test/v1")), prices) or FREE).note == "costs are by prices of 2025-11"
    ours = price_of(settled(Endpoint("gpt-4o", "https://api.openai.com/v1")), read_prices())
    assert ours is not None and "price list of 2025-07" in (ours.note or "")
    path.write_text("as_of = 'soon'")
    with pytest.raises(ConfigError, match="as_of"):
        read_prices(path)


@pytest.mark.parametrize("text", ["[[model]]\nname = 'm'\ninput = -1\noutput = 1", "[[model]]\nname='m'", "x = ", "[[modell]]\nname = 'm'"])
def test_a_faulty_price_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"p\.toml"):
        read_prices(tmp_path / "p.toml")


def test_a_cost_limit_needs_a_known_price(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no price is known") as caught:
        open_models(Endpoint("m", "https://any.test/v1"), Limits(cost_limit=1.0), role="judge", journal=tmp_path / "j.sqlite")
    assert caught.value.exit_code == 2
    assert not (tmp_path / "j.sqlite").exists()


def test_addresses_have_one_form_and_hold_no_secret() -> None:
    assert address(" HTTP://Host:80/v1// ") == "http://host:80/v1"
    for url in ("host:80", "ftp://host/v1", "http://", "http://host:99999/v1", "http://[::1/v1"):
        with pytest.raises(UsageError, match="no address"):
            address(url)
    for url in ("https://user:hunter2@host/v1", "https://host/v1?api_key=hunter2", "https://host/v1#hunter2"):
        with pytest.raises(UsageError) as caught:
            address(url)
        assert "hunter2" not in str(caught.value)


def test_servers_on_this_machine_are_told_from_others() -> None:
    ours = ("http://127.0.0.1:1/v1", "http://localhost/v1", "http://[::1]:8/v1", "http://127.9.9.9/v1")
    others = ("http://10.0.0.1/v1", "https://localhost.evil.test/v1", "https://127.0.0.1.evil.test/v1", None)
    assert [is_loopback(url) for url in ours + others] == [True] * 4 + [False] * 4


def test_a_key_is_needed_elsewhere_but_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert api_key("http://127.0.0.1:1/v1")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        api_key("https://any.test/v1")


def test_settling_fills_in_what_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:5/v1/")
    assert settled(Endpoint("m")) == Endpoint("m", "http://127.0.0.1:5/v1", {"temperature": 0}, "localhost:5")
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert settled(Endpoint("m", None, {"temperature": "default"})) == Endpoint("m", "https://api.openai.com/v1", {}, "api.openai.com")
    with pytest.raises(UsageError, match="messages"):
        settled(Endpoint("m", None, {"messages": []}))
    for name in ("api_key", "extra_headers", "Authorization"):
        with pytest.raises(UsageError, match="cannot be a parameter") as caught:
            settled(Endpoint("m", None, {name: "sk-hunter2"}))
        assert "hunter2" not in str(caught.value)
    for value in (float("nan"), [1, float("inf")]):
        with pytest.raises(UsageError, match="nan or inf"):
            settled(Endpoint("m", None, {"top_p": value}))  # type: ignore[dict-item]
    assert settled(Endpoint("m", None, {"max_tokens": 5, "prompt_cache_key": "x"})).parameters["max_tokens"] == 5
    for name in ("", "  ", "a\nb", "\ud800"):
        with pytest.raises(UsageError, match="name"):
            settled(Endpoint(name))


def test_a_server_s_words_lose_keys_and_length() -> None:
    words = scrub('wrong key "sk-proj-abc" or Bearer xyz-1 or mysecretkey\n' + "x" * 999, "mysecretkey")
    assert not any(secret in words for secret in ("sk-proj", "xyz-1", "mysecretkey", "\n"))
    assert len(words) <= 300


def outcome(failure: Failure | None) -> tuple[Task[Colour], Outcome[Colour]]:
    return Task("1", PROMPT, {"passage": "x"}, Colour), Outcome("1", None if failure else Colour(colour="red"), failure)


def test_the_error_rate_stops_what_chance_cannot_explain_only() -> None:
    account = Account("m", priced=True, max_error_rate=0.1)
    for number in range(200):  # exactly the allowed rate, never stopped
        account.outcome(*outcome(Failure("unparsable") if number % 10 == 9 else None))
        assert account.too_many_failures() is None
    assert account.error_rate == pytest.approx(0.1)
    account = Account("m", priced=True, max_error_rate=0.1)
    for number in range(20):
        assert account.too_many_failures() is None, number
        account.outcome(*outcome(Failure("timeout")))
    assert account.too_many_failures() == Failure("error_rate", "20 of 20 items failed, a share of 0.1 is allowed (--max-error-rate)")


def test_what_the_budget_stopped_does_not_count_as_error() -> None:
    account = Account("m", priced=True, max_error_rate=0.0)
    for _ in range(100):
        account.outcome(*outcome(Failure("budget")))
    assert account.error_rate == 0.0
    assert account.use()[0].failures == {"budget": 100}


def test_items_count_as_their_share_of_a_task() -> None:
    account = Account("m", priced=True, max_error_rate=0.1)
    task = Task("1", PROMPT, {"passage": "x"}, Colour, items=("a", "b", "c", "d"))
    account.outcome(task, Outcome("1", Colour(colour="red"), missing={2: Failure("missing_item")}))
    assert account.error_rate == 0.25
    assert account.use()[0].failures == {"missing_item": 1}


def test_a_plan_adds_up_and_takes_the_slowest_limit() -> None:
    price = Price(1.0, 10.0)
    known = PlannedStage("claims", 100, 100, 20, 100_000, 100_000, 30_000, price, 0.5)
    later = PlannedStage("verdicts", 100, 400, 0, 50_000, 200_000, 40_000, price, 1.0)
    plan = Plan((known, later), Limits(concurrency=10))
    assert plan.calls == (200, 500)
    assert plan.from_journal == 20
    assert plan.cost == (pytest.approx(0.15), pytest.approx(0.3 + 0.7))
    assert plan.seconds == (pytest.approx(15.0), pytest.approx(45.0))
    assert Plan((known, later), Limits(concurrency=10, rpm=100)).seconds == (pytest.approx(120.0), pytest.approx(300.0))
    assert Plan((known, later), Limits(concurrency=10, tpm=10_000)).seconds == (pytest.approx(900.0), pytest.approx(2220.0))
    assert Plan((known, PlannedStage("x", 1, 1))).cost is None


@pytest.mark.slow
def test_a_stage_whose_prompts_are_not_known_has_bounds() -> None:
    stage = bound(PROMPT, calls=(10, 30), slot_tokens=(100, 500), items=5)
    assert (stage.stage, stage.calls_low, stage.calls_high) == ("ask", 10, 30)
    assert stage.input_tokens_low < stage.input_tokens_high
    assert stage.input_tokens_high - 30 * 500 == 3 * (stage.input_tokens_low - 10 * 100)


def run_all(work, count: int) -> None:  # type: ignore[no-untyped-def]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
