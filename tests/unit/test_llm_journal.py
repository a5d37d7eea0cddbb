"""The journal: a key for everything that decides a reply, a file for its owner only, no finished call ever lost or misread."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import wait_until

from kgeval.cli.main import run
from kgeval.errors import ConfigError, IncompleteError
from kgeval.llm.calls import Endpoint, Reply, Tagged, Task
from kgeval.llm.endpoints import settled
from kgeval.llm.journal import KEPT_TRIES, Journal, Stored, pack
from kgeval.llm.journal_file import SCHEMA, connect
from kgeval.llm.prompts import parse_prompt
from kgeval.llm.request import Request, make_request

PROMPT = parse_prompt("# ask: asks\n# slots: passage\n--- system ---\nBe brief.\n--- user ---\n{{passage}}\n", name="ask")
SLOW = parse_prompt("# ask: asks\n# slots: passage\n--- system ---\nBe slow.\n--- user ---\n{{passage}}\n", name="ask")


class Colour(Reply):
    colour: str


class Shade(Reply):
    colour: str
    dark: bool


class Thing(Tagged):
    colour: str


def request(
    text: str = "red car", *, model: str = "m", url: str = "http://a.test/v1", parameters: dict[str, Any] | None = None, round_: int = 0,
    **task_fields: Any,
) -> Request:
    task = Task("1", **{"prompt": PROMPT, "slots": {"passage": text}, "reply": Colour, **task_fields})
    return make_request(task, settled(Endpoint(model, url, parameters or {})), items={}, round_=round_)


def test_each_ingredient_of_a_request_changes_its_key() -> None:
    all_ = [
        request(), request("blue car"), request(model="n"), request(url="http://b.test/v1"), request(parameters={"temperature": 1}),
        request(parameters={"seed": 1}), request(prompt=SLOW), request(prompt=replace(PROMPT, name="other")),
        request(prompt=replace(PROMPT, hash="0" * 16)), request(reply=Shade), request(trial=1), request(round_=1),
    ]
    assert len({each.key for each in all_}) == len(all_)


def test_the_caller_s_own_names_do_not_change_the_key() -> None:
    """What a row or a stage is called decides nothing about the reply; neither do an address's slash or the order of parameters."""
    same = [request(), replace(request(), stage="other"), request(url="HTTP://A.test/v1/"), request(parameters={"temperature": 0})]
    assert len({each.key for each in same}) == 1


@given(st.permutations(["seed", "top_p", "stop", "max_tokens", "temperature"]))
def test_the_order_of_parameters_does_not_change_the_key(names: list[str]) -> None:
    values = {"seed": 7, "top_p": 0.5, "stop": ["a", "b"], "max_tokens": 5, "temperature": 0.3}
    assert request(parameters={name: values[name] for name in names}).key == request(parameters=values).key


@pytest.mark.slow
@given(st.text(), st.text())
def test_different_texts_have_different_keys(one: str, other: str) -> None:
    same = one.encode("utf-8", "replace") == other.encode("utf-8", "replace")
    assert (request(one).key == request(other).key) == same


STORED = Stored('{"colour": "röt 漢"}', 12, 3, False, 0.25)


def test_a_finished_call_is_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "deep" / "j.sqlite") as journal:
        assert journal.get(request().key) is None
        journal.put(request(), STORED)
        assert journal.get(request().key) == STORED
        assert journal.get(request("blue").key) is None
    with Journal(tmp_path / "deep" / "j.sqlite") as journal:
        assert journal.get(request().key) == STORED


def test_the_journal_and_its_helper_files_are_their_owner_s_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Journal(tmp_path / "j.sqlite") as journal:
            journal.put(request(), STORED)
            files = sorted(tmp_path.iterdir())
            assert [file.name for file in files] == ["j.sqlite", "j.sqlite-shm", "j.sqlite-wal", "j.sqlite.lock"]
            assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    finally:
        os.umask(before)


def test_a_journal_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    Journal(path).close()
    path.chmod(0o644)
    Journal(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_no_key_is_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1234")
    with Journal(tmp_path / "j.sqlite") as journal:
        journal.put(request(), STORED)
        journal.put_try(request(), "unparsable", "no JSON")
    assert b"very-secret" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"very-secret" not in request().canonical


@pytest.mark.slow
def test_raw_replies_of_failed_tries_are_kept_but_not_without_end(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        for number in range(KEPT_TRIES + 50):
            journal.put_try(request(), "unparsable", f"try {number} " + "x" * 30_000)
    with sqlite3.connect(tmp_path / "j.sqlite") as connection:
        count, first = connection.execute("SELECT count(*), min(id) FROM tries").fetchone()
        (longest,) = connection.execute("SELECT max(length(reply)) FROM tries").fetchone()
    connection.close()
    assert (count, first) == (KEPT_TRIES, 51)
    assert longest < 20_000


def test_what_is_not_a_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, folder, other, newer = tmp_path / "notes.txt", tmp_path / "folder", tmp_path / "other.sqlite", tmp_path / "newer.sqlite"
    text.write_text("my notes, longer than the sixteen bytes of a head" * 100)
    folder.mkdir()
    for path, statements in ((other, ["CREATE TABLE mine (x)"]), (newer, [*SCHEMA, "PRAGMA user_version = 9"])):
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()
    for path, said in ((text, "is not a journal"), (folder, "is no file"), (other, "something else"), (newer, "form 9")):
        path.chmod(0o755)
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(ConfigError, match=said) as caught:
            Journal(path)
        assert "--journal" in caught.value.fix
        assert path.stat().st_mode & 0o777 == 0o755
        assert (path.read_bytes() if path.is_file() else b"") == before
    with pytest.raises(ConfigError, match="cannot be opened"):
        Journal(text / "j.sqlite")


DAMAGES = {  # (from, to) as shares of the file, or of the first page
    "schema": (100 / 4096, 3100 / 4096, True), "head": (0, 100 / 4096, True), "middle": (0.4, 0.6, False), "end": (0.7, 1, False),
}


def damaged_journal(path: Path, where: str, calls: int = 300) -> list[str]:
    """A journal with a part overwritten; the keys of its calls."""
    with Journal(path) as journal:
        asked = [request(f"car {number}") for number in range(calls)]
        with closing(connect(path)) as connection:
            connection.execute("BEGIN")
            for one in asked:
                row = (one.key, 1.0, "a.test", "m", "s", "p", pack(one.canonical), pack(one.user.encode()), 1, 1, 0, 0.5)
                connection.execute(f"INSERT INTO calls VALUES ({','.join('?' * 12)})", row)
            connection.execute("COMMIT")
        journal.put(request("the last"), STORED)
    start, end, first_page = DAMAGES[where]
    size = 4096 if first_page else path.stat().st_size
    with path.open("r+b") as file:
        file.seek(int(start * size))
        file.write(b"\xff" * (int(end * size) - int(start * size)))
    return [one.key for one in asked]


@pytest.mark.slow
@pytest.mark.parametrize("where", DAMAGES)
def test_a_damaged_journal_says_how_what_is_in_it_is_saved_and_that_works(
    tmp_path: Path, where: str, capsys: pytest.CaptureFixture[str],
) -> None:
    """The command is taken from the error's own words; what it saves is what was there, and the damaged file stays as it was."""
    path = tmp_path / "my calls.sqlite"
    keys = damaged_journal(path, where)
    with pytest.raises((ConfigError, IncompleteError), match="journal") as caught, Journal(path) as journal:
        for number, key in enumerate(keys):
            journal.get(key)
            journal.put(request(f"new {number}"), STORED)
    before = path.read_bytes()
    command, new = re.fullmatch(r"(kgeval cache recover --journal '.*') saves .* --journal ('.*')", caught.value.fix or "").groups()
    assert run(shlex.split(command)[1:]) == 0
    assert path.read_bytes() == before
    saved = int(re.match(r"(\d+) calls saved", capsys.readouterr().out).group(1))
    with Journal(Path(shlex.split(new)[0])) as journal:
        there = [number for number, key in enumerate(keys) if (stored := journal.get(key)) and f"car {number}" in stored.reply]
        assert saved >= len(there) > (250 if DAMAGES[where][2] else 100)
        assert journal.get(keys[0] if where != "head" else keys[-1]) is not None
    assert run(shlex.split(command)[1:]) == 2 and "is there already" in capsys.readouterr().err


def test_nothing_is_recovered_from_what_holds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no journal at all" * 1000)
    for path, said in ((text, "no finished call in it can be read"), (tmp_path / "none.sqlite", "no journal there")):
        assert run(["cache", "recover", "--journal", str(path)]) == 2 and said in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir() if "recovered" in one.name and not one.name.endswith(".lock")] == []


@pytest.mark.slow
def test_many_threads_write_and_each_finds_its_own(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        def write(part: int) -> None:
            for number in range(50):
                asked = request(f"{part}-{number}")
                journal.put(asked, replace(STORED, reply=f"{part}-{number}"))
                found = journal.get(asked.key)
                assert found is not None
                assert found.reply == f"{part}-{number}"

        threads = [threading.Thread(target=write, args=(part,)) for part in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with sqlite3.connect(tmp_path / "j.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM calls").fetchone() == (800,)
    connection.close()


def test_two_sessions_of_one_process_hold_claims_apart(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as one, Journal(tmp_path / "j.sqlite") as other:
        key = request().key
        assert one.claim(key)
        assert not other.claim(key)
        assert other.claim(request("blue").key)
        one.release(key)
        assert other.claim(key)


HOLDER = """
import sys, time
from pathlib import Path
from kgeval.llm.journal import Claims
print(Claims(Path(sys.argv[1])).take(sys.argv[2]), flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_a_claim_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path, key = tmp_path / "j.sqlite", request().key
    command = [sys.executable, "-c", HOLDER, str(path), key]
    with Journal(path) as journal, subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert not journal.claim(key)
        holder.kill()
        holder.wait()
        wait_until(lambda: journal.claim(key))


def test_what_an_endpoint_can_do_is_remembered(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        assert journal.ability(Endpoint("m", "http://a/v1", name="a")) == "json_schema"
        journal.remember(Endpoint("m", "http://a/v1", name="a"), "text")
    with Journal(tmp_path / "j.sqlite") as journal:
        assert journal.ability(Endpoint("m", "http://a/v1", name="a")) == "text"
        assert journal.ability(Endpoint("n", "http://a/v1", name="a")) == "json_schema"


LAST_ONE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
connection.close()  # the last one to close a journal takes its -wal file away: is another process known to use it?
"""


def test_opening_a_journal_twice_keeps_the_locks_that_sqlite_holds(tmp_path: Path) -> None:
    """Locks of a process on a file fall when it closes any handle of that file; the journal must never be opened but by SQLite."""
    path = tmp_path / "j.sqlite"
    with Journal(path) as journal:
        journal.put(request("first"), STORED)
        Journal(path).close()
        done = subprocess.run([sys.executable, "-c", LAST_ONE, str(path)], capture_output=True, text=True, check=True)
        assert done.stdout == "1\n"
        assert (tmp_path / "j.sqlite-wal").exists()
        journal.put(request("second"), STORED)
        assert journal.get(request("second").key) == STORED


def test_a_row_with_damaged_bytes_is_asked_again_and_replaced(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.sqlite") as journal:
        journal.put(request(), STORED)
        with sqlite3.connect(tmp_path / "j.sqlite") as connection:
            connection.execute("UPDATE calls SET reply = x'00ff'")
        connection.close()
        assert journal.get(request().key) is None
        journal.put(request(), STORED)
        assert journal.get(request().key) == STORED
