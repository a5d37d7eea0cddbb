"""The one door through which kgeval writes files: whole or not at all, and of this user's only.

- A file is written beside its place, brought to the disk, and renamed: whoever looks sees the old one or the new
  one. Where the name is a link, the file that it leads to is replaced. What is no file (a pipe, a device, the
  standard streams by their names in /dev) is written to as it stands.
- What is written is readable by its owner alone (0600), for it quotes the user's texts; `shared` is for what holds
  none of them (0666 without what the umask takes away). No right that an existing file withholds is given.
- A cell of a table that a spreadsheet would take for a formula gets an apostrophe in front, and hidden characters
  (those that steer a terminal or turn the direction of writing, too) are written out as [U+001B]. Both are undone
  exactly where kgeval reads its own tables.

`tests/unit/test_one_door.py` lists what does not go through here, and why.
"""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import stat
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from kgeval.ending import undone
from kgeval.errors import InputError, UsageError
from kgeval.records import Answer, ComparisonVerdict, Score
from kgeval.tables.temporary import part_of, sweep_parts

PRIVATE, SHARED = 0o600, 0o666
ROOM = "make room there, or name another file in a folder that is yours"
_STREAM = re.compile(r"/dev/(stdout|stderr|fd/(?P<number>\d+))|/proc/self/fd/(?P<same>\d+)")
# OWASP's list (CSV injection), and the signs of full width, which spreadsheets read alike: white space before the sign
# does not keep a spreadsheet from reading a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
# What `format.visible` writes out: control characters (but tab, line feed and the line ends of Windows), characters
# without a look of their own or that turn the direction of writing, and halves of surrogate pairs, which UTF-8 has
# not. Joiners between two characters that are not ASCII stay: Persian, Hindi and emoji need them. And what looks like
# one of these written out.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\ud800-\udfff]"
    "|\r(?!\n)|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])|\\[(?=U\\+[0-9A-F]{4,6}\\])",
)
_WRITTEN_OUT = re.compile(r"\[U\+([0-9A-F]{4,6})\]")
# The columns by which kgeval's own tables are known: scores, answers, verdicts, outcomes for evalica.
_OWN_TABLES = (
    frozenset(Score.model_fields), frozenset(Answer.model_fields), frozenset(ComparisonVerdict.model_fields),
    frozenset(("left", "right", "winner", "question_id")),
)


@contextmanager
def output_path(name: str | Path) -> Iterator[Path]:
    """The path of an output. A name that ends in / is a folder, whatever is in it (`run.v1/`): pathlib forgets the
    sign, so the folder is made before anybody has to tell, and goes again if nothing came into it.

    Raises: UsageError.
    """
    path = Path(name)
    if not (isinstance(name, str) and name.endswith(os.sep) and path.suffix) or path.is_dir():
        yield path
        return
    try:
        path.mkdir(parents=True)
    except FileExistsError as cause:
        what = f"{name}: is a file, and a name that ends in {os.sep} is a folder"
        raise UsageError(what, fix="name another") from cause
    except OSError as cause:
        raise UsageError(f"{name}: the folder cannot be made: {cause.strerror}", fix="name another") from cause
    try:
        yield path
    finally:
        with suppress(OSError):
            path.rmdir()


@contextmanager
def replacing(path: Path, *, shared: bool = False, binary: bool = False) -> Iterator[IO[Any]]:
    """A file that takes the place of `path` when the block ends well; else `path` stays as it was. Its folder is
    made. Line ends are written as given. `shared`: it holds none of the user's texts.

    Raises: InputError where it cannot be written, for whatever reason.
    """
    target = Path(os.path.realpath(path))
    try:
        special = _opened_special(path, target)
        if special is None:
            mode = (SHARED & ~_umask() if shared else PRIVATE) & _mode_of(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep_parts(target)
            handle, part = part_of(target)
    except OSError as cause:
        raise unwritable(path, cause) from cause
    if special is not None:
        with _naming_faults(path), _opened_handle(special, binary=binary) as file:
            yield file
        return
    try:
        with _naming_faults(path), undone(part.unlink), _opened_handle(handle, binary=binary) as file:
            yield file
            # In this order: the name is never there with half of the contents, or with rights that are too wide.
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
            part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str, *, shared: bool = False) -> None:
    """Writes a UTF-8 file, as `replacing` has it."""
    with replacing(path, shared=shared) as file:
        file.write(text)


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Writes one JSON value a line as they come, as `replacing` has it."""
    with replacing(path) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def open_log(path: Path, *, append: bool = False) -> IO[str]:
    """A log: open for writing, of this user's only, and read by others while it grows. Its folder is made.

    Raises: InputError where it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else os.O_TRUNC)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, flags, PRIVATE)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            with suppress(PermissionError):  # another user's, who lets this one write
                os.fchmod(handle, os.fstat(handle).st_mode & PRIVATE)
    except OSError as cause:
        raise unwritable(path, cause) from cause
    return os.fdopen(handle, "a" if append else "w", encoding="utf-8", errors="backslashreplace")


def unwritable(path: Path, cause: OSError) -> InputError:
    """The error that says that a file cannot be written, and why."""
    return InputError(f"{path}: cannot be written: {cause.strerror or cause}", fix=ROOM)


def write_cells(file: IO[str], rows: Iterable[Iterable[object]], *, line_end: str = "\n") -> None:
    """Writes rows of a CSV table. Numbers stay numbers, None is an empty cell, and every text is `defuse_cell`."""
    writer = csv.writer(file, lineterminator=line_end)
    writer.writerows([defuse_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)


def defuse_cell(cell: str) -> str:
    """A text that no spreadsheet takes for a formula, and that hides nothing and steers no terminal; a number stays as
    it is. `restore_cell` undoes it exactly, so that an apostrophe in front is doubled."""
    shown = _HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", cell)
    return f"'{shown}" if _is_marked(shown) and not _NUMBER.fullmatch(shown) else shown


def restore_cell(cell: str) -> str:
    """The text as it was before `defuse_cell`."""
    bare = cell[1:] if cell.startswith("'") and _is_marked(cell[1:]) else cell
    return _WRITTEN_OUT.sub(_character, bare)


def _is_marked(shown: str) -> bool:
    """Whether a text gets an apostrophe in front: a formula, also behind white space, and one that begins with an apostrophe."""
    return shown.startswith((*_FORMULA, "'")) or shown.lstrip().startswith(_FORMULA)


def is_own_table(header: Collection[str]) -> bool:
    """Whether a table with these columns is one that kgeval wrote, so that its cells are `restore_cell`."""
    return any(columns <= set(header) for columns in _OWN_TABLES)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code <= sys.maxunicode and (chr(code) in "[" or _HIDDEN.fullmatch(chr(code))) else match[0]


def _opened_special(path: Path, target: Path) -> int | None:
    """What is written to as it stands, opened: a stream of this process, a pipe, a device. None: a file to be replaced.

    Raises: OSError."""
    if match := _STREAM.fullmatch(os.path.abspath(path)):  # noqa: PTH100 - without following links
        sys.stdout.flush()  # what was printed before comes before
        number = match["number"] or match["same"]
        return os.dup(int(number) if number else 1 + (match[1] == "stderr"))
    if not target.exists() or target.is_file() or target.is_dir():
        return None
    return os.open(target, os.O_WRONLY | os.O_CLOEXEC)


def _mode_of(target: Path) -> int:
    """The rights that the file gives now; all, where there is none. Raises: OSError for a folder, and for a file that
    this user may not write to."""
    if target.is_symlink():  # after all links were followed: they lead in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not target.exists():
        return 0o777
    if target.is_dir():
        raise IsADirectoryError(0, "is a folder")
    if not os.access(target, os.W_OK):
        raise PermissionError(0, "this user may not write to it")
    return target.stat().st_mode & 0o777


def _opened_handle(handle: int, *, binary: bool) -> IO[Any]:
    return os.fdopen(handle, "wb") if binary else os.fdopen(handle, "w", encoding="utf-8", newline="\n")


@contextmanager
def _naming_faults(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as cause:
        raise unwritable(path, cause) from cause


def _umask() -> int:
    # The system tells it only to whoever sets it.
    current = os.umask(0)
    os.umask(current)
    return current
