"""Answers of systems in the journal: kept for the run that they belong to, asked once by several processes, cleared with the journal."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kgeval.errors import ConfigError, IncompleteError
from kgeval.llm.answer_store import AnswerStore
from kgeval.llm.journal_import import import_calls, recover
from kgeval.llm.journal_view import CallFilter, clear, count, summary
from kgeval.records import Answer

GOOD = Answer(question_id="q", system="A", answer="half \ud800 of it", latency_s=1.5)
FAILED = Answer(question_id="p", system="A", answer="", error="timeout: too slow")


def test_an_answer_is_its_owners_only_and_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.sqlite"
    store = AnswerStore(path)
    store.keep("ab" * 20, GOOD)
    found = store.get("ab" * 20)
    assert found is not None and found[0].answer == "half \ufffd of it" and found[0].latency_s == 1.5 and path.stat().st_mode & 0o077 == 0
    store.close()
    store.close()
    (tmp_path / "other.sqlite").write_text("no database " * 1000)
    for other in (tmp_path / "other.sqlite", tmp_path):
        with pytest.raises(ConfigError):
            AnswerStore(other)


def test_a_run_goes_on_until_it_has_come_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"

    def begun(**how: bool) -> tuple[int, int]:
        with AnswerStore(path, "run", fresh=how.pop("fresh", False)) as store:
            earlier = store.begin(**how)
        return earlier.answers, earlier.failed

    def filled(*, finished: bool) -> None:
        with AnswerStore(path, "run") as store:
            store.begin(again=True)
            store.keep("aa" * 20, GOOD)
            store.keep("bb" * 20, FAILED)
            if finished:
                store.finish()

    filled(finished=False)
    assert begun() == begun() == (2, 1), "an unfinished run goes on, failures too"
    assert begun(failed_again=True) == (1, 0)
    filled(finished=True)
    assert begun(again=True) == (2, 1)
    filled(finished=True)
    assert begun(failed_again=True) == (1, 0)
    filled(finished=True)
    assert begun() == (0, 0), "a finished run asks anew"
    assert begun(again=True) == (2, 1), "and a start by mistake loses nothing"
    assert begun(fresh=True) == (0, 0)


def test_what_an_interrupted_new_run_answered_counts_and_what_it_replaces_does_not(tmp_path: Path) -> None:
    path, newer = tmp_path / "j.sqlite", GOOD.model_copy(update={"answer": "newer"})
    with AnswerStore(path, "run") as store:
        store.begin()
        store.keep("aa" * 20, GOOD)
        store.keep("bb" * 20, GOOD)
        store.finish()
    with AnswerStore(path, "run") as store:
        store.begin()
        assert store.get("aa" * 20) is None
        store.keep("aa" * 20, newer)
    with AnswerStore(path, "run") as store:  # it was interrupted here
        assert store.begin().answers == 1
        found = store.get("aa" * 20)
        assert found is not None and found[0].answer == "newer" and store.get("bb" * 20) is None


def test_another_run_takes_good_answers_and_no_failures(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    with AnswerStore(path) as first, AnswerStore(path) as second, AnswerStore(path, fresh=True) as fresh:
        first.keep("aa" * 20, GOOD)
        first.keep("bb" * 20, FAILED)
        assert first.get("bb" * 20) == (FAILED, False) and second.get("bb" * 20) is None
        found = second.get("aa" * 20, take=True)
        assert found is not None and found[1] and fresh.get("aa" * 20) is None
        again = second.get("aa" * 20)
        assert again is not None and not again[1], "from now on it is its own"


WAITING = """
import sys
from pathlib import Path
from kgeval.llm.answer_store import AnswerStore
from kgeval.records import Answer
with AnswerStore(Path(sys.argv[1]), "run") as store, store.only("aa" * 20):
    print("mine", flush=True)
    sys.stdin.readline()
    store.keep("aa" * 20, Answer(question_id="q", system="A", answer="from the other process"))
"""


@pytest.mark.parametrize("killed", [False, True])
def test_an_answer_that_another_process_has_in_flight_is_waited_for(tmp_path: Path, killed: bool) -> None:
    path = tmp_path / "j.sqlite"
    command = [sys.executable, "-c", WAITING, str(path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with AnswerStore(path, "run") as store, subprocess.Popen(command, **pipes, env=dict(os.environ)) as other:
        assert other.stdin is not None and other.stdout is not None and other.stdout.readline() == "mine\n"
        go_on = partial(print, "go on", file=other.stdin, flush=True)
        threading.Timer(0.1, other.kill if killed else go_on).start()  # the wait has begun by then, or it ends at once
        with store.only("aa" * 20):
            found = store.get("aa" * 20)
        assert (found is None) if killed else (found is not None and found[0].answer == "from the other process")


def test_who_waits_when_the_journal_is_closed_is_told_so(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "j.sqlite") as holder, holder.only("aa" * 20):
        waiting = AnswerStore(tmp_path / "j.sqlite")
        waiting.close()
        with pytest.raises(IncompleteError, match="closed"), waiting.only("aa" * 20):
            pass


def test_answers_are_counted_cleared_imported_and_recovered_with_the_journal(tmp_path: Path) -> None:
    path, other = tmp_path / "j.sqlite", tmp_path / "other.sqlite"
    with AnswerStore(path, "run") as store:
        store.begin()
        store.keep("aa" * 32, GOOD)
    with AnswerStore(other) as store:
        store.keep("cc" * 32, GOOD)
    with AnswerStore(path) as store:
        store.keep("ee" * 32, FAILED)
    with AnswerStore(other) as store:
        store.keep("ee" * 32, GOOD)
    import_calls(path, other)
    assert summary(path).answers == 3
    with AnswerStore(path) as store:
        assert store.get("ee" * 32) is not None, "an answer that came is better than one that failed"
    assert recover(path, tmp_path / "answers-alone.sqlite").answers == 3
    with sqlite3.connect(path) as journal:  # recovering saves calls first of all: one is needed
        request = b"{}"
        key = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        row = key, zlib.compress(request), zlib.compress(b"ok")
        journal.execute("INSERT INTO calls VALUES (?,1.0,'e','m','s','p',?,?,1,1,0,1.0)", row)
    saved = recover(path, tmp_path / "saved.sqlite")
    assert (saved.calls, saved.answers) == (1, 3) and summary(tmp_path / "saved.sqlite").answers == 3
    assert str(clear(path, CallFilter(stage="s"))) == "1 calls" and str(count(path, CallFilter())) == "0 calls, 3 answers of systems"
    assert clear(path, CallFilter(older_than=1.0)).answers == 0 and summary(path).answers == 3
    assert clear(path, CallFilter()).answers == 3 and summary(path).answers == 0
    with AnswerStore(path, "run") as store:
        assert store.begin().answers == 0
