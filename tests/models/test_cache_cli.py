"""`kgeval cache`: what is kept is counted, shown and cleared, on a journal and embeddings that real runs wrote."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from room import finished, judging, session, telling

from kgeval.cli.main import run
from kgeval.llm.embed import open_embedder
from kgeval.llm.fake import FakeServer, Rule
from kgeval.llm.places import journal_file
from kgeval.llm.text_table import Item, index_folder, open_table

STEERING = "\x1b[2J\x1b]0;owned\x07 done"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache folder: 6 calls of two stages, one reply that could not be used, three embeddings."""
    rules = [Rule(match="passage 0003", fault="prose", times=1), Rule(match="passage 0002", reply={"fact": STEERING, "sure": True})]
    with FakeServer(rules) as server:
        with session(server.base_url, journal_file(cache_dir=tmp_path)) as models:
            list(models.ask_all([*telling(4), *judging(2)]))
        with open_embedder("e", base_url=server.base_url, cache_dir=tmp_path) as embedder:
            embedder.embed(["a", "b", "c"])
    return tmp_path


def kgeval(*arguments: object) -> int:
    return run([str(argument) for argument in arguments])


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert kgeval(*arguments, "-f", "json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.long
def test_stats_count_calls_by_stage_failures_and_embeddings(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, "cache", "stats", "--cache-dir", cache)
    stages = {stage["stage"]: (stage["calls"], stage["model"]) for stage in found["journal"]["stages"]}
    assert (found["journal"]["calls"], stages) == (6, {"judge": (2, "m"), "tell": (4, "m")})
    assert found["journal"]["failed_tries"] == {"unparsable": 1}
    assert [(model["vectors"], model["dimensions"], model["fault"]) for model in found["embeddings"]["models"]] == [(3, 64, None)]
    assert kgeval("cache", "stats", "--cache-dir", cache) == 0
    out = capsys.readouterr().out
    assert "6 calls" in out and "3 vectors of 64 dimensions" in out and "unparsable 1" in out


def test_stats_of_an_empty_place_are_zero_and_make_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "cache", "stats", "--cache-dir", tmp_path / "none")["journal"]["calls"] == 0
    assert not (tmp_path / "none").exists()


def test_show_prints_request_and_reply_of_a_call_by_the_start_of_its_key(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(cache / "journal.sqlite") as journal:
        keys = [key for (key,) in journal.execute("SELECT key FROM calls")]
    journal.close()
    texts = []
    for key in keys:
        found = as_json(capsys, "cache", "show", key[:12], "--cache-dir", cache)
        assert found["key"] == key
        texts.append((found["request"]["user"], found["reply"]))
    assert sorted(texts) == sorted((request["user"], reply) for _, request, reply in finished(cache / "journal.sqlite"))


def test_show_does_not_let_a_reply_steer_the_terminal(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(cache / "journal.sqlite") as journal:
        for (key,) in journal.execute("SELECT key FROM calls UNION SELECT key FROM tries"):
            assert kgeval("cache", "show", key, "--cache-dir", cache) == 0
    journal.close()
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\x07" not in out and "owned" in out
    assert "could not be used: unparsable" in out and "Certainly!" in out


@pytest.mark.parametrize(("key", "words"), [("0", "4 to 64 hex digits"), ("zzzzzz", "4 to 64 hex digits"), ("0123456789abcdef", "no call")])
def test_show_says_why_it_finds_nothing(cache: Path, capsys: pytest.CaptureFixture[str], key: str, words: str) -> None:
    assert kgeval("cache", "show", key, "--cache-dir", cache) == 2
    assert words in capsys.readouterr().err


def test_a_damaged_row_is_said_and_no_crash(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(cache / "journal.sqlite") as connection:
        connection.execute("UPDATE calls SET request = x'00ff'")
        (key,) = connection.execute("SELECT key FROM calls").fetchone()
    connection.close()
    assert kgeval("cache", "show", key, "--cache-dir", cache) == 2
    assert "is damaged" in capsys.readouterr().err


def test_clear_needs_a_yes_where_nobody_can_be_asked(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kgeval("cache", "clear", "--cache-dir", cache) == 2
    assert "--yes" in capsys.readouterr().err
    assert len(finished(cache / "journal.sqlite")) == 6


def test_clear_forgets_what_is_chosen_and_later_runs_pay_again(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def left() -> tuple[int, int]:
        found = as_json(capsys, "cache", "stats", "--cache-dir", cache)
        return found["journal"]["calls"], sum(model["vectors"] for model in found["embeddings"]["models"])

    assert kgeval("cache", "clear", "--stage", "tell", "--older-than", 1, "--yes", "--cache-dir", cache) == 0
    assert left() == (6, 3), "nothing is a day old"
    assert kgeval("cache", "clear", "--stage", "tell", "--yes", "--cache-dir", cache) == 0
    assert left() == (2, 3)
    assert kgeval("cache", "clear", "--only", "embeddings", "--model", "m", "--yes", "--cache-dir", cache) == 2
    assert kgeval("cache", "clear", "--only", "embeddings", "--yes", "--cache-dir", cache) == 0
    assert left() == (2, 0)
    assert kgeval("cache", "clear", "--yes", "--cache-dir", cache) == 0
    assert left() == (0, 0)


def test_indexes_are_counted_and_go_with_the_embeddings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer() as server, open_embedder("e", base_url=server.base_url, cache_dir=tmp_path) as embedder:
        open_table("chunks-1", lambda: [Item("1", "a", "a secret of the harbour")], embedder, cache_dir=tmp_path)
    killed = index_folder(tmp_path) / ".half-built.123"
    killed.mkdir()
    found = as_json(capsys, "cache", "stats", "--cache-dir", tmp_path)["indexes"]
    assert (found["path"], found["tables"], found["bytes"] > 0) == (str(index_folder(tmp_path)), 1, True)
    assert kgeval("cache", "clear", "--only", "journal", "--yes", "--cache-dir", tmp_path) == 0
    assert as_json(capsys, "cache", "stats", "--cache-dir", tmp_path)["indexes"]["tables"] == 1
    assert kgeval("cache", "clear", "--yes", "--cache-dir", tmp_path) == 0
    assert "0 calls, the embeddings of 1 models and 1 indexes" in capsys.readouterr().err
    assert not killed.exists()
    assert not any(b"harbour" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_cleared_texts_are_gone_from_the_disk(cache: Path) -> None:
    with sqlite3.connect(cache / "journal.sqlite") as journal:
        kept = [blob for row in journal.execute("SELECT request, reply FROM calls") for blob in row]
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    journal.close()

    def on_disk() -> int:
        data = b"".join(path.read_bytes() for path in cache.glob("journal.sqlite*"))
        return sum(blob in data for blob in kept)

    assert on_disk() == len(kept) == 12
    assert kgeval("cache", "clear", "--yes", "--cache-dir", cache) == 0
    assert on_disk() == 0


def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("important")
    for command in (["stats"], ["show", "abcd"], ["clear", "--yes", "--only", "journal"]):
        assert kgeval("cache", *command, "--journal", path) == 2
    assert path.read_text() == "important"
    assert "not a journal" in capsys.readouterr().err
