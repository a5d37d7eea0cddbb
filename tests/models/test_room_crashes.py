"""Runs that are killed, run twice at a time, or lose their endpoint: nothing finished is asked again, and the output is the same."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from room import RECOVERABLE, as_text, asked_after_finished, finished, judging, session, telling, user_text
from waiting import wait_until

from kgeval.errors import ModelError
from kgeval.llm.fake import FakeServer

WORKER = str(Path(__file__).with_name("room_worker.py"))


def worker(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, WORKER, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def finish(*processes: subprocess.Popen[str]) -> list[str]:
    said = [process.communicate(timeout=200)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return said


@pytest.mark.parametrize(("kills", "count"), [(6, 80), pytest.param(100, 300, marks=pytest.mark.long)])
def test_after_many_kills_no_finished_call_is_repeated_and_the_output_is_byte_identical(tmp_path: Path, kills: int, count: int) -> None:
    """Replies that cannot be used, and 429s, come in between; faults that split a task's calls are left out, so that the journal
    keys of the output can be compared too."""
    kinds = ("rate_limit", "cut", "prose", "empty", "wrong_type")
    options = {"delay": 0.01, "jitter": 0.04, "faults": 0.15, "kinds": kinds}
    disturbed, calm = tmp_path / "disturbed.sqlite", tmp_path / "calm.sqlite"
    with FakeServer(**options) as server:
        (died,) = finish(worker("kill", server.base_url, disturbed, tmp_path / "never", count, kills, 7))
        kept = len(finished(disturbed))
        finish(worker("run", server.base_url, disturbed, tmp_path / "resumed", count))
        stats, requests = server.stats(), server.requests
        url = server.base_url
        server.reset()
        finish(worker("run", url, calm, tmp_path / "undisturbed", count))
    assert int(died) == kills, "each run was killed before its end"
    assert count / 8 < kept < count, "kills fell into the middle of the work"
    assert stats.aborted > kills / 5, "kills hit calls in flight"
    assert asked_after_finished(disturbed, requests) == []
    assert len(finished(disturbed)) == count
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "undisturbed").read_bytes()


def test_a_resumed_run_that_was_finished_sends_nothing(tmp_path: Path) -> None:
    with FakeServer() as server:
        with session(server.base_url, tmp_path / "j") as models:
            first = list(models.ask_all(judging(20)))
        server.reset()
        with session(server.base_url, tmp_path / "j") as models:
            second = list(models.ask_all(judging(20)))
        assert server.stats().requests == 0
    assert as_text(first) == as_text(second)
    assert all(outcome.from_journal for outcome in second)


@pytest.mark.long
def test_two_processes_on_one_journal_pay_no_call_twice_and_agree(tmp_path: Path) -> None:
    with FakeServer(delay=0.02, jitter=0.03, faults=0.2, kinds=("cut", "prose", "rate_limit", "extra")) as server:
        finish(*(worker("run", server.base_url, tmp_path / "j", tmp_path / name, 100) for name in ("one", "two")))
        stats, requests = server.stats(), server.requests
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    paid = Counter(user_text(entry) for entry in requests if entry.good)
    assert set(paid.values()) == {1} and len(paid) == 100
    assert stats.repeated_successes == 0
    assert asked_after_finished(tmp_path / "j", requests) == []


def test_two_sessions_of_one_process_share_a_journal(tmp_path: Path) -> None:
    with FakeServer(delay=0.05) as server:
        def run(_: int) -> str:
            with session(server.base_url, tmp_path / "j") as models:
                return as_text(models.ask_all(telling(50)))

        with ThreadPoolExecutor(2) as pool:
            one, two = pool.map(run, range(2))
        assert one == two
        assert (server.stats().requests, server.stats().successes) == (50, 50)


def test_an_endpoint_that_is_down_at_the_start_stops_the_run_at_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kgeval.llm")
    server = FakeServer().start()
    server.stop()
    with session(server.base_url, tmp_path / "j") as models, pytest.raises(ModelError, match="cannot be reached"):
        list(models.ask_all(telling(1000)))
    assert caplog.text.count("asking again") <= models.limits.max_retries, "no round of retries for each of the thousand"


@pytest.mark.long
def test_an_endpoint_that_dies_in_the_middle_leaves_every_item_with_its_cause_and_a_resume_asks_the_rest(tmp_path: Path) -> None:
    server = FakeServer(delay=0.2).start()
    with session(server.base_url, tmp_path / "j", max_retries=0, concurrency=4, timeout=30) as models:
        outcomes = []
        for outcome in models.ask_all(telling(60)):
            outcomes.append(outcome)
            if len(outcomes) == 5:
                server.stop()
    lost = [o for o in outcomes if o.failure is not None]
    assert len(outcomes) == 60 and 0 < len(lost) <= 55
    assert {o.failure.cause for o in lost if o.failure} == {"connection"}
    with server:
        server.reset()
        with session(server.base_url, tmp_path / "j") as models:
            assert all(o.value is not None for o in models.ask_all(telling(60)))
        # a call that was in flight when the server died may have been lost on the way back
        assert server.stats().requests == len(lost)


def test_an_endpoint_that_comes_back_is_asked_again_and_nothing_is_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kgeval.llm")
    server = FakeServer(delay=0.02).start()

    def away() -> None:
        wait_until(lambda: server.stats().successes >= 10)
        server.stop()
        # up to four calls were on the wire and are waited for again; a fifth wait is of one that met no server
        before = caplog.text.count("asking again")
        wait_until(lambda: caplog.text.count("asking again") > before + 4)
        server.start()

    with ThreadPoolExecutor(1) as pool, session(server.base_url, tmp_path / "j", concurrency=4) as models:
        outage = pool.submit(away)
        outcomes = list(models.ask_all(telling(100)))
        outage.result()
    server.stop()
    assert all(o.value is not None for o in outcomes)
    assert asked_after_finished(tmp_path / "j", server.requests) == []


def test_faults_of_every_recoverable_kind_change_nothing_in_the_output(tmp_path: Path) -> None:
    tasks = judging(60)
    with FakeServer(faults=0.3, kinds=RECOVERABLE, seed=5) as server, session(server.base_url, tmp_path / "a") as models:
        disturbed = as_text(models.ask_all(tasks))
        assert sum(server.stats().faults.values()) > 20
    with FakeServer(seed=5) as server, session(server.base_url, tmp_path / "b") as models:
        assert as_text(models.ask_all(tasks)) == disturbed
