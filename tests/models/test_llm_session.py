"""A session with a model over real HTTP: what ends it, what it tells, what it keeps, and that it lets go when told to."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue
from room import JUDGE, TELL, Fact, Verdicts, judging, kept, session, telling
from waiting import HoldingModel, wait_until

from kgeval.errors import ConfigError, IncompleteError, ModelError
from kgeval.llm.calls import Endpoint, Failure, Limits, Reply, Task
from kgeval.llm.fake import Chat, FakeServer, Rule
from kgeval.llm.session import open_models
from kgeval.llm.shared import Shared

HERE = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}

SLOW_RUN = """
import sys
from pathlib import Path
from room import session, telling
with session(sys.argv[1], Path(sys.argv[2]), concurrency=int(sys.argv[3]), timeout=600) as models:
    for number, outcome in enumerate(models.ask_all(telling(1000))):
        print(outcome.id, flush=True)
"""


def test_the_same_request_asked_at_the_same_time_is_one_call(tmp_path: Path) -> None:
    tasks = telling(1) * 40
    with FakeServer(delay=0.2) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        outcomes = list(models.ask_all(tasks))
        assert len({str(outcome.value) for outcome in outcomes}) == 1
        assert server.stats().requests == 1
        (use,) = models.asked().use
    assert (use.calls, use.from_journal) == (1, 39)


def test_two_classes_of_one_form_asked_at_the_same_time_share_the_call_and_each_get_their_own(tmp_path: Path) -> None:
    Other = type("Fact", (Reply,), {"__annotations__": {"fact": str, "sure": bool}})  # the room's fields, so the same request
    task = telling(1)[0]
    with FakeServer(delay=0.3) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        outcomes = list(models.map(models.ask, [task, replace(task, reply=Other)] * 4))
        assert server.stats().requests == 1
    assert [type(outcome.value) for outcome in outcomes] == [Fact, Other] * 4


def test_two_sessions_of_a_command_spend_one_budget(tmp_path: Path) -> None:
    limits = Limits(max_calls=5, max_error_rate=1.0)
    both, journal = Shared(limits), tmp_path / "j.sqlite"
    with FakeServer() as server:
        for role, tasks in (("extractor", telling(3)), ("judge", telling(9))):
            with open_models(Endpoint("m", server.base_url), limits, role=role, journal=journal, shared=both) as models:  # type: ignore[arg-type]
                outcomes = list(models.ask_all(tasks))
        assert server.stats().requests == 5
    assert sum(outcome.failure is None for outcome in outcomes) == 5  # 3 from the journal
    assert models.notes == ["nothing more was asked: the limit of 5 calls is reached"]


def test_work_may_ask_several_times_and_even_iterate_itself(tmp_path: Path) -> None:
    """Chains: each item's work asks, then asks many; with more items than threads nobody waits for anybody for ever."""
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite", concurrency=4) as models:
        def chain(number: int) -> list[str]:
            first = models.ask(telling(50)[number])
            return [outcome.id for outcome in models.ask_all([*judging(3), *telling(number % 3)])] + [first.id]

        results = list(models.map(chain, range(50)))
    assert [result[-1] for result in results] == [f"tell-{n}" for n in range(50)]
    assert [len(result) for result in results] == [4 + n % 3 for n in range(50)]


def test_what_work_raises_reaches_the_reader_at_once(tmp_path: Path) -> None:
    with FakeServer(delay=600) as server, session(server.base_url, tmp_path / "j.sqlite", timeout=600) as models:
        def work(number: int) -> int:
            if number == 3:
                raise ZeroDivisionError
            return len(models.ask(telling(10)[number]).id)

        with pytest.raises(ZeroDivisionError):
            list(models.map(work, range(10)))
        assert server.stats().successes == 0, "no reply was waited for"


def test_a_stopped_session_still_answers_from_its_journal(tmp_path: Path) -> None:
    with FakeServer() as server:
        with session(server.base_url, tmp_path / "j.sqlite") as models:
            list(models.ask_all(telling(5)))
        with session(server.base_url, tmp_path / "j.sqlite", max_calls=0) as models:
            outcomes = list(models.ask_all([*reversed(telling(10)), *telling(10)]))
            assert models.stopped == Failure("budget", "the limit of 0 calls is reached")
            assert models.exit_code == 3
        assert server.stats().requests == 5
    assert sum(outcome.value is not None for outcome in outcomes) == 10
    assert {outcome.failure.cause for outcome in outcomes if outcome.failure} == {"budget"}


def test_an_endpoint_that_ignores_the_form_asked_for_is_told_it_in_words(tmp_path: Path) -> None:
    """It says yes to json_schema and then answers in prose, unless the schema stands in the messages. No item is lost by that."""
    def reply(chat: Chat) -> JsonValue:
        return None if "JSON Schema" in chat.text else Rule(fault="prose")

    with FakeServer(reply) as server:
        with session(server.base_url, tmp_path / "j.sqlite", concurrency=1, max_reasks=1) as models:
            assert all(outcome.value is not None for outcome in models.ask_all(telling(9)))
            assert models.asked().use[0].calls == 9 + 3  # three prove that json_schema does not work here
        with session(server.base_url, tmp_path / "j.sqlite", concurrency=1) as models:
            assert models.ask(telling(10)[9]).value is not None
            assert models.asked().use[0].calls == 1


def test_a_shape_that_an_endpoint_refuses_lowers_the_form_for_that_shape_only(tmp_path: Path) -> None:
    """As endpoints do that enforce schemas, and know only some of their words."""
    def reply(chat: Chat) -> JsonValue:
        refused = chat.format == "json_schema" and "You judge" in chat.text
        return Rule(status=400, message="Invalid schema for response_format 'Verdicts'") if refused else None

    with FakeServer(reply) as server, session(server.base_url, tmp_path / "j.sqlite", concurrency=1) as models:
        models.ask(telling(1)[0])
        assert all(outcome.value is not None for outcome in models.ask_all(judging(3)))
        assert all(outcome.value is not None for outcome in models.ask_all(telling(3)))
        forms = [entry.body["response_format"]["type"] for entry in server.requests]
    assert forms == ["json_schema", "json_schema", "json_object", "json_object", "json_object", "json_schema", "json_schema"]


@pytest.mark.long
def test_requests_a_minute_are_kept_on_the_wire(tmp_path: Path) -> None:
    """600 a minute with bursts of 10: the 30th request comes no sooner than 20 intervals after the first, however many threads ask."""
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite", rpm=600, concurrency=16) as models:
        list(models.ask_all(telling(30)))
        came = sorted(entry.at for entry in server.requests)
    assert len(came) == 30
    assert came[-1] - came[0] > 20 * 60 / 600 - 0.1


def test_a_plan_knows_which_items_a_journal_lacks(tmp_path: Path) -> None:
    """The first run leaves half of the items without an answer; what the next would ask is counted exactly."""
    with FakeServer([Rule(match="passage", fault="missing", times=6)]) as server:
        with session(server.base_url, tmp_path / "j.sqlite", max_reasks=0) as models:
            assert sum(len(outcome.missing) > 0 for outcome in models.ask_all(judging(10))) == 6
        with session(server.base_url, tmp_path / "j.sqlite", max_reasks=3) as models:
            plan = models.plan(judging(12))
            assert (plan.calls_low, plan.calls_high, plan.from_journal) == (6 + 2, 6 + 2, 10)
            outcomes = list(models.ask_all(judging(12)))
            assert not any(outcome.missing for outcome in outcomes)
            assert models.asked().use[0].calls == plan.calls_low
            assert plan.input_tokens_low > 0


def test_an_endpoint_without_token_counts_gets_estimates_and_says_so(tmp_path: Path) -> None:
    with FakeServer(usage=False) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        models.ask(telling(1)[0])
        (use,) = models.asked().use
        assert models.notes == ["the endpoint gives no token counts: estimated with o200k_base in tell"]
    assert 10 < use.input_tokens < 100
    assert use.output_tokens > 3


def test_the_manifest_names_model_stages_and_prompts(tmp_path: Path) -> None:
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        list(models.ask_all([*judging(3), *telling(2)]))
        asked = models.asked()
    (ref,) = asked.models
    assert (ref.role, ref.name, ref.base_url, ref.parameters) == ("judge", "m", server.base_url, {"temperature": 0})
    assert {use.stage: use.calls for use in asked.use} == {"judge": 3, "tell": 2}
    assert all(use.cost == 0.0 and use.input_tokens > 0 and use.seconds > 0 for use in asked.use)


def test_trials_are_calls_of_their_own(tmp_path: Path) -> None:
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        tasks = [Task("x", TELL, {"passage": "same"}, Fact, trial=trial) for trial in (0, 1, 1, 2)]
        assert len({models.ask(task).calls for task in tasks}) == 3
        assert server.stats().requests == 3


def test_a_server_on_this_machine_is_not_asked_through_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        assert models.ask(telling(1)[0]).value is not None


def test_a_session_that_asks_nothing_writes_no_key_and_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with open_models(Endpoint("m", "https://any.test/v1"), Limits(), role="judge", journal=tmp_path / "j.sqlite") as models:
        assert models.plan(telling(7)).calls_low == 7
        with pytest.raises(ModelError, match="OPENAI_API_KEY"):
            list(models.ask_all(telling(7)))


def test_a_hundred_thousand_items_take_no_more_memory_than_ten_thousand(tmp_path: Path) -> None:
    """The pool alone: results go as they come, at most a window of them waits."""
    from kgeval.llm.pool import Pool

    pool, alive, most = Pool(8), 0, 0
    lock = threading.Lock()

    def items(count: int) -> Iterator[int]:
        nonlocal alive, most
        for number in range(count):
            with lock:
                alive += 1
                most = max(most, alive)
            yield number

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number, text in enumerate(pool.run(lambda n: "x" * 10_000 + str(n), items(100_000))):
        assert text.endswith(str(number))
        with lock:
            alive -= 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert most <= pool.window + 1
    assert grown < 100_000  # kB; all results together are 1 GB
    assert pool.close()


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [1, 8])
def test_ctrl_c_ends_at_once_and_keeps_what_is_finished(tmp_path: Path, concurrency: int) -> None:
    """Replies that do not come are not waited for, and no finished call is paid again."""
    journal, holding = tmp_path / "j.sqlite", HoldingModel(5)
    with FakeServer(holding) as server:
        command = [sys.executable, "-c", SLOW_RUN, server.base_url, str(journal), str(concurrency)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=HERE) as run:
            wait_until(lambda: holding.waiting == concurrency and kept(journal) == 5)
            run.send_signal(signal.SIGINT)
            _, error = run.communicate(timeout=200)
        assert b"KeyboardInterrupt" in error
        wait_until(lambda: server.stats().aborted == concurrency)
        assert server.stats().requests == 5 + concurrency
    assert kept(journal) == 5


@pytest.mark.long
def test_a_full_disk_stops_with_the_way_out(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk."""
    code = """
import resource, signal, sys
from pathlib import Path
from kgeval.errors import KgevalError
from room import session, telling
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with session(sys.argv[1], Path(sys.argv[2]), concurrency=4) as models:
    models.ask(telling(1)[0])
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        list(models.ask_all(telling(2000)))
    except KgevalError as error:
        print(type(error).__name__, error.exit_code, error)
"""
    with FakeServer() as server:
        command = [sys.executable, "-c", code, server.base_url, str(tmp_path / "j.sqlite")]
        done = subprocess.run(command, capture_output=True, text=True, env=HERE, check=False, timeout=200)
    assert done.stdout.startswith("IncompleteError 3"), done
    assert "make room on the disk" in done.stdout
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        assert models.ask(telling(1)[0]).value is not None


def test_asking_after_the_session_is_over_is_an_error(tmp_path: Path) -> None:
    with FakeServer() as server:
        with session(server.base_url, tmp_path / "j.sqlite") as models:
            pass
        with pytest.raises(ConfigError, match="closed"):
            models.ask(telling(1)[0])
        assert server.stats().requests == 0


def test_tasks_with_items_need_a_tagged_reply(tmp_path: Path) -> None:
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite") as models, pytest.raises(TypeError, match="items: list"):
        models.ask(Task("x", JUDGE, {"passage": "y"}, Fact, items=("a",)))


def test_a_reply_class_with_items_but_no_items_asked_is_read_as_it_is(tmp_path: Path) -> None:
    reply = {"items": [{"tag": "k9", "verdict": "entailed"}]}
    with FakeServer([Rule(reply=reply)]) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        value = models.ask(Task("x", TELL, {"passage": "y"}, Verdicts)).value
    assert value is not None
    assert value.items[0].tag == "k9"


def _open_files() -> Iterator[str]:
    """The names of this process's open files, where the system tells them."""
    for entry in Path("/proc/self/fd").glob("*"):
        with suppress(FileNotFoundError):
            yield str(entry.readlink())


def test_errors_of_the_journal_stop_all_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        (tmp_path / "j.sqlite").chmod(0o600)
        models.ask(telling(1)[0])
        import sqlite3

        with sqlite3.connect(tmp_path / "j.sqlite") as connection:
            connection.execute("DROP TABLE calls")
        connection.close()
        with pytest.raises((ConfigError, IncompleteError), match="journal"):
            list(models.ask_all(telling(50)))
        with pytest.raises((ConfigError, IncompleteError), match="journal"):
            models.ask(telling(60)[59])


@pytest.mark.long
def test_hundreds_of_threads_hold_a_few_files_open_only(tmp_path: Path) -> None:
    with FakeServer(delay=0.05) as server, session(server.base_url, tmp_path / "j.sqlite", concurrency=200, timeout=30) as models:
        outcomes = list(models.ask_all(telling(400)))
        names = list(_open_files())
    assert all(outcome.value is not None for outcome in outcomes)
    assert sum("j.sqlite" in name for name in names) <= 4 * 10
