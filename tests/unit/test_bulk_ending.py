"""A bulk import that is stopped, looked at only, or started beside others: nothing goes on alone, nothing is half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from filelock import FileLock, Timeout
from test_bulk_store import Placed, home, order, tables
from waiting import LONGEST, wait_until

from kgeval.cli.interrupts import Listener
from kgeval.cli.main import run
from kgeval.errors import ServerError
from kgeval.graph.load.bulk import load as loading
from kgeval.graph.load.bulk import tool
from kgeval.graph.server import exchange
from kgeval.graph.server.home import Home, write_private

__all__ = ["home", "tables"]  # fixtures

TOOL = "import os, sys, time; print('a tool', flush=True); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
PARENT = """\
import os, sys
from pathlib import Path
from kgeval.graph.load.bulk import tool
tool._run([sys.executable, "-c", sys.argv[1], sys.argv[2]], Path(sys.argv[3]), dict(os.environ), lambda *_: None)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_the_tool_does_not_outlive_a_command_that_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", PARENT, TOOL, str(note), str(tmp_path)]) as parent:
        tool = psutil.Process(int(wait_until(lambda: note.exists() and note.read_text())))
        parent.kill()
    gone, _ = psutil.wait_procs([tool], timeout=LONGEST)
    assert gone


def test_on_other_systems_the_tool_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool.sys, "platform", "darwin")
    assert tool.tied(["java", "x"]) == ["java", "x"]


@pytest.mark.usefixtures("tables")
def test_sigterm_ends_a_bulk_import_as_ctrl_c_does(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    placed = Placed(home, monkeypatch)

    placed.while_the_tool_runs = lambda: os.kill(os.getpid(), signal.SIGTERM)  # type: ignore[method-assign]
    told = signal.signal(signal.SIGTERM, Listener().raise_once)
    try:
        assert run(["import", "t", "--graph", "g", "--bulk", "--home", str(home), "--max-bad-rows", "1"]) == 130
    finally:
        signal.signal(signal.SIGTERM, told)
    assert "the home's store is as it was" in capsys.readouterr().err
    assert (home / "data" / "store").read_text() == "old" and not list(home.glob(f"{exchange.STAGING}*/*"))


def test_a_file_that_is_changed_while_it_is_read_is_refused(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    from kgeval.graph.load.bulk import convert

    before = convert.convert

    def slow(*given: Any, **more: Any) -> Any:
        made = before(*given, **more)
        with (tables / "relations.csv").open("a") as file:
            file.write("x,y\n")
        return made

    monkeypatch.setattr(convert, "convert", slow)
    assert run(["import", "t", "--graph", "g", "--bulk", "--dry-run", "--max-bad-rows", "1"]) == 2
    assert "relations.csv: was changed while it was read; nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "what"), [
    (("--transaction-rows", "10000", "--dry-run"), "--transaction-rows is for an import through the server"),
    (("--heap", "4x", "--dry-run"), "'4x' is no heap size"),
])
@pytest.mark.usefixtures("tables")
def test_options_that_mean_nothing_here_are_refused(capsys: pytest.CaptureFixture[str], more: tuple[str, ...], what: str) -> None:
    assert run(["import", "t", "--graph", "g", "--bulk", *more]) == 2
    assert what in capsys.readouterr().err


@pytest.mark.usefixtures("tables")
def test_a_dry_run_looks_for_room_first(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(loading, "CSV_GROWTH", 1 << 50)
    assert run(["import", "t", "--graph", "g", "--bulk", "--dry-run"]) == 2
    shown = capsys.readouterr().err
    assert "the converted files need about" in shown and "TMPDIR" in shown


def test_the_line_of_a_home_is_written_with_its_lock_held(home: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Placed(home, monkeypatch)
    before = Home.claim

    def claim(place: Home, line: str | None) -> Any:
        with pytest.raises(Timeout):
            FileLock(place.path / "kgeval.lock").acquire(timeout=0)
        return before(place, line)

    monkeypatch.setattr(Home, "claim", claim)
    assert loading.load(order(home, tables)) is not None


def test_two_commands_that_write_one_private_file_at_once_both_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sync = tmp_path / "password", os.fsync

    def meanwhile(handle: int) -> None:
        monkeypatch.setattr(os, "fsync", sync)
        write_private(path, "other")

    monkeypatch.setattr(os, "fsync", meanwhile)
    write_private(path, "mine")
    assert path.read_text() == "mine" and path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["password"]


def test_a_private_file_that_cannot_be_written_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ServerError, match="the disk is full"):
        write_private(tmp_path / "password", "secret")
    assert not list(tmp_path.iterdir())


def test_each_step_of_an_exchange_is_on_the_disk_before_the_next(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    rename, sync, delete = Path.rename, os.fsync, exchange.shutil.rmtree

    def renamed(path: Path, to: Path) -> Path:
        steps.append("rename")
        return rename(path, to)

    def synced(handle: int) -> None:
        steps.append("sync" if os.path.samestat(os.fstat(handle), home.stat()) else "sync of another folder")
        sync(handle)

    def deleted(path: Path, **given: Any) -> None:
        steps.append("delete")
        delete(path, **given)

    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(exchange.shutil, "rmtree", deleted)
    exchange.exchange(home, home / "new")
    exchange.take_back(home)
    assert steps == ["rename", "sync", "rename", "sync", "delete", "rename", "sync"]
    steps.clear()
    (home / "new").mkdir()
    exchange.exchange(home, home / "new")
    exchange.settle(home)
    assert steps[4:] == ["rename", "sync", "delete"]
