"""Every option that writes a file, walked: with which rights, whole or not at all, and what stands in the cells of tables.

A new option that names a path stands here, or `test_every_option_with_a_path_reads_or_is_walked` fails.
"""

from __future__ import annotations

import csv
import errno
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import pytest

from kgeval.cli.main import cli, run
from kgeval.config import cache_folder
from kgeval.tables.output import UNSAVED

FORMULA, STEERING = '=HYPERLINK("http://x.test")', "\x1b[2J\x1b]0;t\x07\u202egnp"
HOSTILE = f"{FORMULA} {STEERING}"

# Options that read a file or a folder, wherever they stand
READING = {
    "-c", "--anchors", "--answers", "--audit", "--baseline", "--ca-file", "--chunks", "--config", "--control", "--corpus", "--documents",
    "--earlier", "--facts", "--gold", "--grades", "--ideal", "--ideal-labels", "--import-journal", "--index", "--jars", "--keep",
    "--labelled-pairs", "--labels", "--nodes", "--prices", "--questions", "--ratchet", "--relations", "--scores", "--triples",
    "--with", "--without-known", "--wrong-answers",
}
READING_THERE = {("annotate agreement", "--verdicts"), ("annotate read", "--key")}
# What kgeval keeps for itself: journals, caches and homes have tests of their own
KEPT = {"--cache-dir", "--home", "--journal"}
# (command, option) -> who walks it
WALKED = {
    "models": {
        ("", "--log-file"), ("answer", "-o"), ("annotate agreement", "-o"), ("annotate read", "--write-answers"),
        ("annotate read", "--write-questions"), ("annotate read", "-o"), ("annotate sheet", "--key"), ("annotate sheet", "-o"),
        ("audit diff", "-o"), ("cache recover", "-o"), ("compare", "--verdicts"), ("compare", "-o"), ("contamination", "--marked"),
        ("contamination", "-o"), ("help", "-o"), ("init", "-o"), ("merge-shards", "-o"), ("metrics correlate", "-o"),
        ("metrics sensitivity", "-o"), ("questions check", "-o"), ("questions classify", "-o"), ("questions confirm", "--sheet"),
        ("questions confirm", "-o"), ("questions stats", "-o"), ("report", "-o"), ("report score-matrix", "-o"), ("run", "--folder"),
        ("score", "-o"), ("stats aa", "-o"), ("stats correct", "-o"), ("stats drift", "-o"), ("stats judge", "-o"),
        ("stats paired", "-o"), ("stats power", "-o"), ("stats rank", "--export"), ("stats rank", "-o"), ("stats sequential", "-o"),
    },
    "neo4j": {
        ("accuracy", "--sheet"), ("accuracy", "-o"), ("answer", "--index-record"), ("audit", "--write-ratchet"), ("audit", "-o"),
        ("build", "-o"), ("completeness", "--ideal-export"), ("completeness", "-o"), ("layout init", "-o"), ("profile", "-o"),
        ("questions coverage", "-o"), ("questions generate", "--sheet"), ("questions generate", "-o"), ("questions sample", "-o"),
    },
    # needs a package of other people in an environment of its own
    "e2e": {("system index", "--folder"), ("system index", "-o")},
}
STATES = ((0o022, None), (0o077, None), (0o022, 0o644), (0o077, 0o600))


@dataclass(frozen=True)
class Case:
    """A command line. `{out}` in its words is the folder where it writes; `files`: what it writes there, and may find there;
    `walks`: the options that this proves; `shared`: files without a text of the user's; `refuses`: it never writes over a file;
    `codes`: how it may end; `first`: command lines before it; `grows`: it is no file that is replaced; `again`: it is made
    anew in a moment, so a disk that is full may lose it."""

    words: str
    files: Sequence[str]
    walks: Sequence[tuple[str, str]]
    shared: Sequence[str] = ()
    refuses: bool = False
    codes: Sequence[int] = (0,)
    more: Sequence[str] = ()
    first: Sequence[str] = ()
    grows: bool = False
    again: bool = False


def walk(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch, *, states: Sequence[tuple[int, int | None]] = STATES) -> None:
    """Runs the command in each state of umask and files, and once on a disk that is full."""
    for line in case.first:
        assert run(line.split()) in (0, 3), line
    out = folder / "out"
    words = [word.replace("{out}", str(out)) for word in [*case.words.split(), *case.more]]
    before = os.umask(0o022)
    try:
        for mask, old in states:
            prepare(out, case, old)
            os.umask(mask)
            if old is not None and case.refuses:
                assert run(words) == 2, words
                check_untouched(out, case, old)
                continue
            assert run(words) in case.codes, words
            check_written(out, case, mask, old)
        os.umask(0o022)
        if case.grows:
            return
        old = None if case.refuses else 0o644
        prepare(out, case, old)
        shutil.rmtree(cache_folder() / UNSAVED, ignore_errors=True)
        with monkeypatch.context() as patch:
            patch.setattr("kgeval.tables.output.os.fsync", partial(full, out))
            assert run(words) == 2, "said nothing of a full disk"
        check_untouched(out, case, old)
        if not case.again:
            check_kept(case)
            check_no_room(case, words, monkeypatch)
    finally:
        os.umask(before)


def full(folder: Path, handle: int) -> None:
    """The disk of `folder` is full, that of the cache folder is not."""
    if any(os.path.samestat(os.fstat(handle), path.stat()) for path in files_in(folder)):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def check_no_room(case: Case, words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is nearly full is said before the work: nothing is left to be kept."""
    shutil.rmtree(cache_folder() / UNSAVED)
    with monkeypatch.context() as patch:
        patch.setattr("kgeval.tables.output.LEAST_BYTES", 1 << 62)
        assert run(words) == 2
    assert not case.files or not (cache_folder() / UNSAVED).exists()


def check_kept(case: Case) -> None:
    """What could not be written lies in the cache folder, whole and for this user only."""
    kept = list(files_in(cache_folder() / UNSAVED))
    names = [f"{re.sub(r'-[0-9]{8}-[0-9]{6}(-[0-9]+)?$', '', path.stem)}{path.suffix}" for path in kept]
    assert {Path(name).name for name in case.files} <= set(names)
    for path in kept:
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_size > 0) == (0o600, True), path


def prepare(out: Path, case: Case, old: int | None) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for name in case.files if old is not None else ():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("OLD")
        (out / name).chmod(old or 0)


def files_in(out: Path) -> Iterator[Path]:
    return (path for path in sorted(out.rglob("*")) if path.is_file())


def check_written(out: Path, case: Case, mask: int, old: int | None) -> None:
    written = list(files_in(out))
    assert {str(path.relative_to(out)) for path in written} >= set(case.files)
    for path in written:
        name = str(path.relative_to(out))
        wanted = 0o666 & ~mask & (old or 0o777) if name in case.shared else 0o600
        assert (name, oct(stat.S_IMODE(path.stat().st_mode))) == (name, oct(wanted))
        assert not name.endswith(".kgeval-part")
        assert path.read_bytes() != b"OLD", name
        if path.suffix == ".csv":
            check_cells(path)


def check_untouched(out: Path, case: Case, old: int | None) -> None:
    for name in case.files:
        if old is None:
            assert not (out / name).exists(), name
        else:
            assert ((out / name).read_text(), stat.S_IMODE((out / name).stat().st_mode)) == ("OLD", old), name
    assert [path.name for path in files_in(out) if path.name.endswith(".kgeval-part")] == []


def check_cells(path: Path) -> None:
    """What anybody reads who knows nothing of kgeval: no formula, and no character that nobody sees."""
    with path.open(encoding="utf-8", newline="") as file:
        for cell in (cell for row in csv.reader(file, strict=True) for cell in row):
            number = re.fullmatch(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", cell)
            assert number or cell[:1] not in tuple("=+-@\t\r\n"), cell
            seen = re.sub("[\n\t\u200c\u200d]", "", cell.replace("\r\n", ""))
            assert not [char for char in seen if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")], cell


def options_with_paths() -> Iterator[tuple[str, str]]:
    """Each option of the command line that names a file or a folder, with its command."""
    def commands(command: click.Command, name: str, context: click.Context) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            for word in command.list_commands(context):
                inner = command.get_command(context, word)
                assert inner is not None
                yield from commands(inner, f"{name} {word}".strip(), click.Context(inner, parent=context, info_name=word))

    for name, command in commands(cli, "", click.Context(cli)):
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.type, click.Path | click.File):
                yield name, option.opts[0]


def unwalked(cases: Sequence[Case], who: str) -> set[tuple[str, str]]:
    """What a file of tests should walk and does not, or the other way round."""
    return {walked for case in cases for walked in case.walks} ^ WALKED[who]


__all__ = ["FORMULA", "HOSTILE", "STEERING", "Case", "check_cells", "options_with_paths", "unwalked", "walk"]
