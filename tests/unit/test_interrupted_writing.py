"""An interrupt while the kernel makes a file or a folder leaves nothing half made: no part of a file, no folder, no lock."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kgeval.graph.server.exchange import staging
from kgeval.graph.server.home import write_private
from kgeval.llm.journal_file import _make
from kgeval.tables.output import write_jsonl, write_text
from kgeval.tables.spool import Spool
from kgeval.tables.temporary import only_writer, private_folder

CALLS = [(os, name) for name in ("open", "close", "mkdir", "link", "replace", "rename", "fsync", "fchmod")] + [(fcntl, "flock")]
AT_MOST = 100  # such calls in any of these


class Interrupt:
    """A signal that comes while the kernel does the call of this number: Python raises when it is back, before it keeps the result."""

    def __init__(self, number: int, patch: pytest.MonkeyPatch) -> None:
        self.left, self.came = number, False
        for module, name in CALLS:
            patch.setattr(module, name, self.late(getattr(module, name)))

    def late(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def interrupted(*words: Any, **named: Any) -> Any:
            result = call(*words, **named)
            if sys._getframe(1).f_globals["__name__"] == "shutil":  # a folder is being taken away
                return result
            self.left -= 1
            if self.left == 0:
                self.came = True
                raise KeyboardInterrupt
            return result

        return interrupted


def text(folder: Path) -> None:
    write_text(folder / "report.json", "{}")


def rows_of_a_broken_run(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        write_jsonl(folder / "rows.jsonl", (1 // n for n in (1, 0)))


def outputs(folder: Path) -> None:
    with only_writer([folder / "a.json", folder / "b.json"]):
        pass


def folder_of_rows(folder: Path) -> None:
    with private_folder("rows") as rows:
        (rows / "row").touch()


def spool(folder: Path) -> None:
    with Spool("rows") as rows:
        rows.add(b"{}\n")


def password(folder: Path) -> None:
    write_private(folder / "password", "secret")


def journal(folder: Path) -> None:
    _make(folder / "journal.sqlite")


def store_of_a_server(folder: Path) -> None:
    with staging(folder) as new:
        (new / "data").mkdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "whole"),
    [
        (text, {"report.json"}), (rows_of_a_broken_run, set()), (outputs, set()), (folder_of_rows, set()), (spool, set()),
        (password, {"password"}), (journal, {"journal.sqlite"}), (store_of_a_server, set()),
    ],
)
def test_an_interrupt_while_a_file_is_made_leaves_nothing_half_made(
    write: Callable[[Path], None], whole: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = {}
    for number in range(1, AT_MOST):
        own = tmp_path / str(number)
        own.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(own))
        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            interrupt = Interrupt(number, patch)
            write(own)
        gc.collect()  # a folder goes with who holds it
        if names := {path.name for path in own.iterdir()} - whole:
            left[number] = names
        if not interrupt.came:
            break
    assert not interrupt.came and number > 2 and not left
