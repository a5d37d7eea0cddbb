"""Around the bulk import: stores that change places, the tool's arguments and failures, options that are refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.errors import ServerError
from kgeval.graph.server import admin, exchange


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an old store, and a new one beside it."""
    for name, text in (("home/data", "old"), ("home/new", "new")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "store").write_text(text)
    return tmp_path / "home"


def store(home: Path) -> str:
    return (home / "data" / "store").read_text()


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_the_old_store_can_be_taken_back_until_the_new_one_is_settled(home: Path) -> None:
    exchange.exchange(home, home / "new")
    assert store(home) == "new"
    exchange.take_back(home)
    assert store(home) == "old"
    exchange.take_back(home)
    assert store(home) == "old" and names(home) == ["data"]


def test_a_settled_store_stays(home: Path) -> None:
    exchange.exchange(home, home / "new")
    exchange.settle(home)
    exchange.recover(home)
    exchange.take_back(home)
    assert store(home) == "new"
    assert not set(names(home)) - {"data", exchange.LOCK}


def test_what_a_killed_command_left_is_put_back_but_not_while_one_runs(home: Path) -> None:
    with exchange.alone(home):
        exchange.exchange(home, home / "new")
        exchange.recover(home)
        assert store(home) == "new"
        with pytest.raises(ServerError, match="another bulk import"), exchange.alone(home):
            pass
    exchange.recover(home)
    assert store(home) == "old"


def test_killed_between_the_two_renames_the_old_store_is_put_back(home: Path) -> None:
    (home / "data").rename(home / exchange.OLD)
    exchange.recover(home)
    assert store(home) == "old"


def test_a_new_home_has_no_store_to_take_back(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    exchange.exchange(tmp_path, tmp_path / "new")
    assert (tmp_path / "data").is_dir()
    exchange.take_back(tmp_path)
    assert names(tmp_path / "data") == []


def test_staging_folders_are_private_and_those_of_killed_commands_are_removed(tmp_path: Path) -> None:
    (tmp_path / f"{exchange.STAGING}left").mkdir()
    with exchange.staging(tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700 and names(tmp_path) == [folder.name]
    assert names(tmp_path) == []


def test_the_tool_is_given_file_names_of_ours_only() -> None:
    nodes, relations = [(None, ("a-head.csv", "a-rows.csv", "a-lines.csv"))], [("FROM_CHUNK", ("r-head.csv",))]
    order = admin.Order(Path("any, folder/csv"), nodes, relations, ["a-lines.csv"], 9_000_000, 0x1F)
    given = admin.arguments(order, Path("home"), "1g")
    assert given[:4] == [
        "--nodes=csv/a-head.csv,csv/a-rows.csv,csv/a-lines.csv", "--relationships=FROM_CHUNK=csv/r-head.csv",
        "--multiline-fields=csv/a-lines.csv", "--multiline-fields-format=v2",
    ]
    assert "--array-delimiter=U+001F" in given and "--read-buffer-size=18000000" in given and given[-1] == "neo4j"


def told(tmp_path: Path, script: str) -> tuple[list[str] | None, list[tuple[str, int, int]]]:
    heard: list[tuple[str, int, int]] = []
    said = admin._run([sys.executable, "-c", script], tmp_path, dict(os.environ), lambda *step: heard.append(step))
    return said, heard


def test_progress_is_read_from_the_tools_words(tmp_path: Path) -> None:
    said, heard = told(tmp_path, "print('(2/4) Relationship import'); print('.......... ..........   5% d1s'); print('done')")
    assert (said, heard) == (None, [("importing: relations", 5, 100)])


@pytest.mark.parametrize(("words", "what"), [
    ("java.io.IOException: No space left on device", "the disk is full"), ("java.lang.OutOfMemoryError", "ran out of memory"),
    ("Something else", "import tool failed\n  \\| Something else"),
])
def test_a_failure_of_the_tool_is_told_in_plain_words(tmp_path: Path, words: str, what: str) -> None:
    said, _ = told(tmp_path, f"import sys; print({words!r}); sys.exit(1)")
    assert said is not None
    with pytest.raises(ServerError, match=what):
        raise admin._failure(said)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEO4J_URI", raising=False)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "relations.csv").write_text("source,target\na,b\nb,\n")
    return tmp_path / "t"


@pytest.mark.parametrize(("more", "what"), [
    (("t", "--bulk", "--append"), "writes a new store"), (("t", "--bulk", "--replace"), "writes a new store"),
    (("t", "--bulk", "--uri", "bolt://x"), "not another server's"), (("t", "--replace-store"), "--replace-store is for --bulk"),
    (("t", "--heap", "4g"), "--heap is for --bulk"), ((), "nothing to load"), (("t", "--nodes", "t/relations.csv"), "exclude each other"),
    (("t/relations.csv", "--bulk"), "reads a folder of tables"), (("--chunks", "t/relations.csv", "--bulk"), "no table of nodes or rel"),
    (("t", "--bulk", "--as", "triples"), "not triples"), (("none", "--bulk"), "no such file"),
    (("t", "--bulk", "--home", "h", "--uri", "b"), "exclude"), (("t", "--bulk", "--database", "mine"), "one database"),
])
@pytest.mark.usefixtures("tables")
def test_what_does_not_fit_a_bulk_import_is_refused(capsys: pytest.CaptureFixture[str], more: tuple[str, ...], what: str) -> None:
    assert run(["import", *more, "--graph", "g"]) == 2
    assert what in capsys.readouterr().err


@pytest.mark.usefixtures("tables")
def test_bad_rows_end_the_import_before_anything_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "t", "--graph", "g", "--bulk", "--dry-run"]) == 3
    shown = capsys.readouterr().err
    assert "1 of 2 rows are bad (50.00%); nothing was written\n  relations.csv:3: target: missing or empty" in shown
    assert run(["import", "t", "--graph", "g", "--bulk", "--dry-run", "--max-error-rate", "0.5"]) == 0
    assert "bad rows passed over                  1" in capsys.readouterr().out
