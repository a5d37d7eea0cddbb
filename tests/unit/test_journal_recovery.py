"""`kgeval cache recover`: whatever part of a journal is damaged, each row whose own bytes are whole is found.

None comes back as another one.
"""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_llm_journal import request

from kgeval.cli.main import run
from kgeval.errors import ConfigError, InputError
from kgeval.llm.answer_store import AnswerStore
from kgeval.llm.journal import Journal, Stored
from kgeval.llm.journal_import import Recovered, recover
from kgeval.records import Answer

Damage = Callable[[bytearray], None]
PAGE = 4096


def stored(number: int, size: int) -> Stored:
    """A reply of `size` bytes that compression hardly makes smaller."""
    text = random.Random(number).randbytes(size // 2).hex()
    return Stored(text, 10 + number, 5, False, 0.25 + number, first=0.125)


def make_journal(path: Path, sizes: list[int]) -> dict[str, Stored]:
    """A journal with a call of each size; the replies by key."""
    calls = {}
    with Journal(path) as journal:
        for number, size in enumerate(sizes):
            asked, reply = request(f"car {number}"), stored(number, size)
            journal.put(asked, reply)
            calls[asked.key] = reply
    return calls


def saved_in(path: Path) -> dict[str, Stored]:
    with Journal(path) as journal, closing(sqlite3.connect(path)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM calls")]
        found = {key: journal.get(key) for key in keys}
        firsts = {key: journal.first_seconds(key) for key in keys}
    return {key: replace(reply, first=firsts[key]) for key, reply in found.items() if reply is not None}


def recovered(folder: Path, data: bytes, log: bytes = b"") -> dict[str, Stored]:
    """What comes back of a journal with these bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "j.sqlite").write_bytes(data)
    if log:
        (folder / "j.sqlite-wal").write_bytes(log)
    try:
        recover(folder / "j.sqlite", folder / "new.sqlite")
    except InputError:
        return {}
    assert (folder / "j.sqlite").read_bytes() == data
    return saved_in(folder / "new.sqlite")


def places(path: Path) -> dict[str, tuple[int, int]]:
    """Where the bytes of each call stand that fits its page: there its values follow each other."""
    data, found = path.read_bytes(), {}
    with closing(sqlite3.connect(path)) as connection:
        for key, *texts, asked, reply in connection.execute(
            "SELECT key, endpoint, model, stage, prompt, request, reply FROM calls",
        ):
            behind_time = re.escape("".join(texts).encode() + asked + reply)
            match = re.search(key.encode() + b".{8}" + behind_time, data, re.DOTALL)
            assert match is not None
            found[key] = match.start() - 30, match.end() + 20  # with the types before it, the numbers behind
    return found


Small = tuple[bytes, dict[str, Stored], dict[str, tuple[int, int]]]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """Sixty calls that fit their pages."""
    path = tmp_path_factory.mktemp("small") / "j.sqlite"
    calls = make_journal(path, [40 + 11 * (number % 40) for number in range(60)])
    return path.read_bytes(), calls, places(path)


@pytest.mark.long
@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_call_whose_bytes_are_whole_is_found(
    tmp_path: Path, small: Small, data: st.DataObject,
) -> None:
    whole, calls, there = small
    sizes, fills = st.sampled_from([1, 64, 512, 1900, 4096, 16384]), st.sampled_from([0, 255, None])
    damages = st.tuples(st.integers(0, len(whole) - 1), sizes, fills)
    spans = data.draw(st.lists(damages, min_size=1, max_size=4))
    damaged = bytearray(whole)
    for start, size, fill in spans:
        end = min(start + size, len(whole))
        noise = random.Random(start).randbytes(end - start)
        damaged[start:end] = noise if fill is None else bytes([fill]) * (end - start)
    found = recovered(tmp_path / "x", bytes(damaged))
    untouched = {
        key for key, (first, last) in there.items()
        if all(start >= last or start + size <= first for start, size, _ in spans)
    }
    assert untouched <= found.keys() <= calls.keys()
    assert {key: found[key].reply for key in found} == {key: calls[key].reply for key in found}
    if damaged == whole:
        assert found == calls


@pytest.mark.parametrize("pages", [range(1), range(1, 2), range(4), range(2, 8)])
def test_neither_the_schema_nor_the_roots_of_the_tables_are_needed(
    tmp_path: Path, small: Small, pages: range,
) -> None:
    """The first pages of a journal hold hardly a call as soon as there are some dozens."""
    whole, calls, there = small
    damaged = bytearray(whole)
    for page in pages:
        damaged[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    start, stop = pages.start * PAGE, pages.stop * PAGE
    lost = {key for key, (first, last) in there.items() if first < stop and last > start}
    found = recovered(tmp_path / "x", bytes(damaged))
    assert found.keys() >= calls.keys() - lost
    assert len(lost) < 15


@pytest.mark.parametrize(("start", "written"), [(16, b"\x02\x00"), (16, b"\x80\x00"), (20, b"\xff"), (20, b"\x50")])
def test_a_first_page_that_lies_about_sizes_moves_no_page(tmp_path: Path, small: Small, start: int, written: bytes) -> None:
    whole, calls, _ = small
    damaged = bytearray(whole)
    damaged[start : start + len(written)] = written
    assert recovered(tmp_path / "x", bytes(damaged)) == calls


def test_a_page_that_lost_its_head_gives_its_calls(tmp_path: Path, small: Small) -> None:
    """Of every page the first 200 bytes: with them SQLite finds no row at all."""
    whole, _, there = small
    damaged = bytearray(whole)
    for start in range(0, len(whole), PAGE):
        damaged[start : start + 200] = bytes(200)
    assert recovered(tmp_path / "x", bytes(damaged)).keys() >= {
        key for key, (first, last) in there.items() if first % PAGE >= 200 and first // PAGE == last // PAGE
    }


@pytest.mark.slow
@given(st.lists(st.sampled_from([0, 1, 400, 3000, 5000, 9000, 60_000, 300_000]), min_size=1, max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_a_whole_journal_all_comes_back_whatever_its_size(tmp_path: Path, sizes: list[int]) -> None:
    """Long replies go on in chains of pages."""
    shutil.rmtree(tmp_path / "made", ignore_errors=True)
    calls = make_journal(tmp_path / "made" / "j.sqlite", sizes)
    assert recovered(tmp_path / "x", (tmp_path / "made" / "j.sqlite").read_bytes()) == calls


def test_a_chain_that_leads_in_a_circle_ends(tmp_path: Path) -> None:
    calls = make_journal(tmp_path / "j.sqlite", [20_000, 100, 20_000])
    data = bytearray((tmp_path / "j.sqlite").read_bytes())
    for start in range(0, len(data), PAGE):
        if data[start] == 0 and 0 < int.from_bytes(data[start : start + 4], "big") <= len(data) // PAGE:
            data[start : start + 4] = (start // PAGE + 1).to_bytes(4, "big")
    assert len(recovered(tmp_path / "x", bytes(data))) == len(calls) - 2


KILLED = """
import os, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_journal_recovery import make_journal, request, stored
from kgeval.llm.journal import Journal
journal = Journal(Path(sys.argv[1]))
for number in range(30):
    journal.put(request(f"car {number}"), stored(number, 50 + 300 * number))
os._exit(9)
"""


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal whose process was killed: its newest calls stand in the write-ahead log alone."""
    path = tmp_path_factory.mktemp("killed") / "j.sqlite"
    tests = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", KILLED, str(path), str(tests / "unit"), str(tests)], check=False)
    assert path.with_name("j.sqlite-wal").stat().st_size > 100_000
    return path


@pytest.fixture
def killed(tmp_path: Path, killed_once: Path) -> Path:
    return Path(shutil.copytree(killed_once.parent, tmp_path / "killed")) / killed_once.name


def log_damages() -> Iterator[tuple[Damage, int]]:
    """Each with the calls that are found at least, of 30."""
    def head(data: bytearray) -> None:
        data[:32] = b"garbage " * 4

    def middle(data: bytearray) -> None:
        data[len(data) // 2 : len(data) // 2 + 512] = bytes(512)

    def frames(data: bytearray) -> None:  # what is said of each page: its number stays
        for start in range(32, len(data), 24 + PAGE):
            data[start + 4 : start + 24] = b"\xaa" * 20

    yield from ((lambda data: None, 30), (head, 30), (middle, 28), (frames, 30))


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "least"), list(log_damages()))
def test_calls_in_the_log_of_a_killed_process_are_found(
    tmp_path: Path, killed: Path, damage: Damage, least: int,
) -> None:
    log = bytearray(killed.with_name("j.sqlite-wal").read_bytes())
    damage(log)
    found = recovered(tmp_path / "x", killed.read_bytes(), bytes(log))
    assert len(found) >= least
    for reply in found.values():
        number = reply.input_tokens - 10
        assert reply == stored(number, 50 + 300 * number)


@pytest.mark.slow
def test_a_log_that_is_none_is_not_written_over(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SQLite takes it for empty without a word, and what stands in it is gone with the next call."""
    log = killed.with_name("j.sqlite-wal")
    data = bytearray(log.read_bytes())
    data[:32] = bytes(32)
    log.write_bytes(data)
    words = r"j\.sqlite-wal, which holds the newest calls, is not a write-ahead log"
    with pytest.raises(ConfigError, match=words) as caught:
        Journal(killed)
    assert log.read_bytes() == data
    assert "kgeval cache recover --journal" in str(caught.value.fix)
    assert run(["cache", "recover", "--journal", str(killed)]) == 0
    assert capsys.readouterr().out.startswith("30 calls saved")


def test_answers_come_back_as_they_were_last(tmp_path: Path) -> None:
    """An answer that failed, and was asked for again, is the one that came."""
    path = tmp_path / "j.sqlite"
    with AnswerStore(path, "run") as store:
        store.begin()
        for number in range(20):
            failed = Answer(question_id=str(number), system="s", answer="", error="timeout: 3 s")
            store.keep(f"{number:064x}", failed)
        for number in range(20):
            text = f"answer {number} " + "x" * number * 400
            store.keep(f"{number:064x}", Answer(question_id=str(number), system="s", answer=text))
    data = bytearray(path.read_bytes())
    data[:PAGE] = bytes(PAGE)
    path.write_bytes(data)
    assert recover(path, tmp_path / "new.sqlite") == Recovered(calls=0, lost=0, answers=20)
    with AnswerStore(tmp_path / "new.sqlite", "run") as store:
        store.begin()
        for number in range(20):
            found = store.get(f"{number:064x}")
            assert found is not None
            assert found[0].answer.startswith(f"answer {number} ")


def test_what_is_lost_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = make_journal(tmp_path / "j.sqlite", [300] * 12)
    there = places(tmp_path / "j.sqlite")
    data = bytearray((tmp_path / "j.sqlite").read_bytes())
    last = there[sorted(calls)[3]][1]
    data[last - 120 : last - 60] = bytes(60)
    (tmp_path / "j.sqlite").write_bytes(data)
    assert run(["cache", "recover", "--journal", str(tmp_path / "j.sqlite")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("11 calls saved in")
    assert "; 1 more are there and cannot be read" in said


