"""Temporary rows of users: gone with who made them, swept where a kill has left them, never taken from a process that lives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import kgeval
from kgeval.tables.output import write_text
from kgeval.tables.temporary import KINDS, PART, PART_SECONDS, UNLOCKED_SECONDS, open_part, part_name, private_folder, sweep_folders

MAKE = """
import time
from kgeval.tables.temporary import private_folder
folder = private_folder("rows")
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.mark.slow
def test_what_a_kill_leaves_is_swept_by_the_next_and_what_lives_is_let_alone(own: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", MAKE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    with private_folder("rows"):
        assert len(list(own.iterdir())) == 2, "the other process lives"
        process.kill()
        process.communicate()
        assert sweep_folders() == 1 and len(list(own.iterdir())) == 1
    assert not list(own.iterdir())


def test_every_kind_of_folder_that_is_made_is_swept() -> None:
    made = set()
    for file in Path(kgeval.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "temporary import" in text:
            called = re.findall(r"(?<!def )\bprivate_folder\(([^)]*)\)", text)
            made |= {kind.strip("\"'") for kind in called}
    assert made == set(KINDS)


def test_a_folder_without_a_lock_is_swept_when_it_is_old_and_others_never(own: Path) -> None:
    for name in ("kgeval-rows-old", "kgeval-rows-new", "kgeval-ray-old", "mine-old"):
        (own / name).mkdir()
    (own / "kgeval-rows-link").symlink_to(own / "mine-old")
    long_ago = time.time() - UNLOCKED_SECONDS - 60
    for name in ("kgeval-rows-old", "kgeval-ray-old", "mine-old"):
        os.utime(own / name, (long_ago, long_ago))
    assert sweep_folders() == 1 and not (own / "kgeval-rows-old").exists() and len(list(own.iterdir())) == 4


def test_new_contents_that_a_kill_has_left_are_swept_when_the_file_is_written_again(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    living, left = part_name(file), part_name(file)
    live = open_part(living)
    os.close(open_part(left))
    other = tmp_path / f".other.json.x{PART}"
    other.touch()
    long_ago = time.time() - PART_SECONDS - 60
    for path in (living, left, other):
        os.utime(path, (long_ago, long_ago))
    write_text(file, "{}")
    assert sorted(tmp_path.iterdir()) == sorted([file, living, other])
    os.close(live)
