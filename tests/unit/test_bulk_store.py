"""Around the bulk import: stores that change places, the tool's arguments and failures, options that are refused."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.errors import ServerError, UsageError
from kgeval.graph.load.bulk import load as loading
from kgeval.graph.load.bulk import tool
from kgeval.graph.load.bulk.sheets import SheetFiles
from kgeval.graph.load.state import ImportTarget
from kgeval.graph.load.table_files import TableInputs
from kgeval.graph.server import exchange, remove
from kgeval.graph.server.home import Home, write_private
from kgeval.text.names import name_keys


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


def test_a_killed_import_is_seen_and_its_staging_folder_deleted(home: Path) -> None:
    (home / f"{exchange.STAGING}left" / "csv").mkdir(parents=True)
    with exchange.alone(home):
        exchange.exchange(home, home / "new")
        assert exchange.is_pending(home) and not exchange.is_left(home)
    assert exchange.is_left(home)
    exchange.recover(home)
    assert not exchange.is_pending(home) and names(home) == ["data", exchange.LOCK]


def test_nothing_starts_in_the_moment_without_a_store(home: Path) -> None:
    (home / "data").rename(home / exchange.OLD)
    with exchange.alone(home), pytest.raises(ServerError, match="is changing the store"):
        exchange.recover(home)
    assert names(home / exchange.OLD) == ["store"]


def test_a_home_is_not_removed_under_a_bulk_import(home: Path) -> None:
    place = Home(home)
    write_private(home / "kgeval-home.json", '{"line": "5.26", "neo4j": "5.26.28", "gds": "2.13.9", "used": true}')
    with exchange.alone(home), pytest.raises(ServerError, match="another bulk import"):
        remove(home)
    assert store(home) == "old"
    remove(home)
    assert not place.path.exists()


def test_ctrl_c_after_the_new_store_is_in_loses_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    exchange.exchange(home, home / "new")
    with monkeypatch.context() as patch:
        patch.setattr(exchange.shutil, "rmtree", interrupted)
        exchange.settle(home)
    exchange.recover(home)
    assert store(home) == "new" and names(home) == ["data", exchange.LOCK]


class Placed:
    """A bulk import without tool and server: the new store is a folder, the server a word."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running, self.nodes, self.starts = False, 0, 0
        for name, part in (("check_fits", None), ("ensure_jars", []), ("_finish", None), ("_check_space", None)):
            monkeypatch.setattr(loading, name, lambda *_, found=part, **__: found)
        monkeypatch.setattr(loading.tool, "import_store", self.tool)
        monkeypatch.setattr(loading.Home, "prepare", lambda *_: None)
        monkeypatch.setattr(loading, "ensure_started", self.start)
        monkeypatch.setattr(loading, "open_graph", lambda _: contextlib.nullcontext(self))
        write_private(home / "kgeval-home.json", '{"line": "5.26", "neo4j": "5.26.28", "gds": "2.13.9", "used": true}')
        write_private(home / "password", "secret")
        (home / "data" / "databases").mkdir()

    def tool(self, _csv: object, _nodes: object, _relations: object, folder: Path, *_: object, **__: object) -> Path:
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "store").write_text("new")
        self.while_the_tool_runs()
        return folder / "data"

    def while_the_tool_runs(self) -> None:
        """For tests."""

    def start(self, *_: object, **__: object) -> None:
        self.starts += 1

    def read(self, query: Any) -> list[dict[str, Any]]:
        return [{"nodes": self.nodes, "relations": 0}] if "count" in query.name else []


def order(home: Path, tables: Path) -> loading.BulkImport:
    inputs = TableInputs(relations=(tables / "relations.csv",))
    return loading.BulkImport(inputs, ImportTarget("g", "f", "tables", "t", "1"), home, name_keys, lambda _: None)


def test_what_others_write_to_the_home_while_the_tool_runs_is_not_lost(home: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = Placed(home, monkeypatch)

    def others() -> None:
        placed.nodes = 7

    placed.while_the_tool_runs = others  # type: ignore[method-assign]
    with pytest.raises(UsageError, match="holds 7 nodes"):
        loading.load(order(home, tables))
    assert store(home) == "old"


def test_an_error_while_the_stores_change_places_leaves_the_old_one(home: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Placed(home, monkeypatch)
    before = Path.rename

    def full(path: Path, to: Path) -> Path:
        if to == home / "data" and path.name == "data":
            raise OSError(28, "No space left on device")
        return before(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        with pytest.raises(ServerError, match="the disk is full"):
            loading.load(order(home, tables))
    assert store(home) == "old" and not exchange.is_pending(home)
    assert loading.load(order(home, tables)) is not None and store(home) == "new"


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
    nodes = SheetFiles(("a-head.csv", "a-rows.csv", "a-lines.csv"), "a-lines.csv", None)
    relations = SheetFiles(("r-head.csv",), None, "FROM_CHUNK")
    given = tool.arguments(Path("any, folder/csv"), [nodes], [relations], Path("home"), longest=9_000_000, heap="1g")
    assert given[:4] == [
        "--nodes=csv/a-head.csv,csv/a-rows.csv,csv/a-lines.csv", "--relationships=FROM_CHUNK=csv/r-head.csv",
        "--multiline-fields=csv/a-lines.csv", "--multiline-fields-format=v2",
    ]
    assert "--array-delimiter=U+001F" in given and "--read-buffer-size=18000000" in given and given[-1] == "neo4j"


def told(tmp_path: Path, script: str) -> tuple[list[str] | None, list[tuple[str, int, int]]]:
    heard: list[tuple[str, int, int]] = []
    said = tool._run([sys.executable, "-c", script], tmp_path, dict(os.environ), lambda *step: heard.append(step))
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
        raise tool._failure(said)


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
    assert "1 of 2 rows are bad (50.0 %); nothing was written\n  relations.csv:3: target: missing or empty" in shown
    assert run(["import", "t", "--graph", "g", "--bulk", "--dry-run", "--max-bad-rows", "0.5"]) == 0
    assert "bad rows passed over                  1" in capsys.readouterr().out
