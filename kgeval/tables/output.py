"""The one door through which kgeval writes files: whole or not at all, and of this user's only.

- A file is written beside its place, brought to the disk, and renamed: whoever looks sees the old one or the new
  one. Where the name is a link, the file that it leads to is replaced. What is no file (a pipe, a device, the
  standard streams by their names in /dev) is written to as it stands.
- What is written is readable by its owner alone (0600), for it quotes the user's texts; `shared` is for what holds
  none of them (0666 without what the umask takes away). No right that an existing file withholds is given.
- What cannot be written goes into the user's cache folder (`unsaved/`, 0600), and the error says where: a report may
  be half an hour of work. `kept=False` is for what is made anew in a moment, and for what has a memory of its own.
- A cell of a table that a spreadsheet would take for a formula gets an apostrophe in front, and hidden characters
  (those that steer a terminal or turn the direction of writing, too) are written out as [U+001B]. Both are undone
  exactly where kgeval reads its own tables.

`tests/unit/test_one_door.py` lists what does not go through here, and why.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import shlex
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from kgeval.ending import undone
from kgeval.errors import InputError, UsageError
from kgeval.records import Answer, ComparisonVerdict, Score
from kgeval.tables.temporary import open_part, part_name, sweep_parts

PRIVATE, SHARED = 0o600, 0o666
ROOM = "make room there, or name another file in a folder that is yours"
UNSAVED = "unsaved"  # the folder in the cache folder
LEAST_BYTES = 4_000_000  # free on the disk of an output before a run begins: more than most reports take
_BUFFER, _PIECE = 1 << 16, 1 << 20  # bytes written and copied at a time
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
def replacing(path: Path, *, shared: bool = False, binary: bool = False, kept: bool = True) -> Iterator[IO[Any]]:
    """A file that takes the place of `path` when the block ends well; else `path` stays as it was. Its folder is
    made. Line ends are written as given. `shared`: it holds none of the user's texts. `kept`: what cannot be written
    there is written into the cache folder, whole, and the error names that file.

    Raises: InputError where it cannot be written, for whatever reason.
    """
    target = Path(os.path.realpath(path))
    output = _Output(path, kept=kept)
    with undone(output.drop):
        try:
            with _naming_faults(path):
                mode = output.open(target, shared=shared)
                with _opened_output(output, binary=binary) as file:
                    yield file
                    file.flush()
                    output.finish(target, mode)
        finally:
            output.drop()
    if output.fault is not None:
        raise unwritable(path, output.fault, output.place) from output.fault


def keep_unsaved(what: str, name: str, write: Callable[[IO[str]], object], cause: OSError) -> InputError:
    """Keeps a result that could not be printed, in the cache folder. The error that says so; it says as well where that
    failed too. `what`: where it should have gone, as the error calls it; `name`: of the file that it would be."""
    place = _unsaved_place(Path(name))
    try:
        with replacing(place, kept=False) as file:
            write(file)
    except InputError as lost:
        return InputError(f"{what}: cannot be written: {cause.strerror or cause}; nor can {lost.message}", fix=ROOM)
    return unwritable(what, cause, place)


class _Output(io.RawIOBase):
    """The bytes of an output on their way: into a new file beside it, and from the first fault of that place on into a
    file in the cache folder, with all that came before. What is no file (a pipe, a device) gets them as it stands.

    `fault`: why they go into the cache folder; `place`: the file there.
    """

    def __init__(self, path: Path, *, kept: bool) -> None:
        super().__init__()
        self._path, self._kept = path, kept
        self._handle = -1
        self._part: Path | None = None
        self._begun = False  # whether something was written that cannot be read again, for it went to no file
        self.fault: OSError | None = None
        self.place: Path | None = None

    def open(self, target: Path, *, shared: bool) -> int:
        """Opens what is written to first. The rights that the file will have. Raises: as `move`."""
        mode = PRIVATE
        try:
            special = _opened_special(self._path, target)
            if special is not None:
                self._handle = special
                return mode
            mode = (SHARED & ~_umask() if shared else PRIVATE) & _mode_of(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep_parts(target)
            self._begin(target)
        except OSError as cause:
            self.move(cause)
        return mode

    def move(self, cause: OSError) -> None:
        """Goes on in the cache folder. Raises: the cause, where that is not wanted or not possible; InputError where
        nothing can be written there either."""
        if not self._kept or self._begun or self.fault is not None or isinstance(cause, BrokenPipeError):
            raise cause
        place, before, part = _unsaved_place(self._path), self._handle, self._part
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._begin(place)
            self.fault, self.place = cause, place
            if part is not None:
                _copy_bytes(before, self._handle)
        except OSError as second:
            what = f"{self._path}: cannot be written: {cause.strerror or cause}; nor can {place.parent}"
            raise InputError(f"{what}: {second.strerror or second}", fix=ROOM) from second
        finally:
            if before >= 0 and before != self._handle:
                os.close(before)
            if part is not None and part != self._part:
                part.unlink(missing_ok=True)

    def _begin(self, place: Path) -> None:
        self._part = part_name(place)  # known before there is a file: an interrupt may come while it is made
        try:
            self._handle = open_part(self._part)
        except OSError:
            self._part = None
            raise

    def finish(self, target: Path, mode: int) -> None:
        """Puts the file in its place. Raises: OSError."""
        if self._part is None:
            return
        try:
            _put(self._handle, self._part, self.place or target, mode if self.place is None else PRIVATE)
        except OSError as cause:
            self.move(cause)
            self.finish(target, mode)
        self._part = None

    def drop(self) -> None:
        """Takes away what is not in its place, and closes."""
        if self._part is not None:
            self._part.unlink(missing_ok=True)
        self.close()

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._part is not None

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return os.lseek(self._handle, offset, whence)

    def fileno(self) -> int:
        return self._handle

    def write(self, data: Any, /) -> int:
        try:
            written = os.write(self._handle, data)
        except OSError as cause:
            self.move(cause)
            written = os.write(self._handle, data)
        self._begun = self._part is None
        return written

    def close(self) -> None:
        handle, self._handle = self._handle, -1  # never closed twice: the number may be another file's by then
        if handle >= 0:
            os.close(handle)
        super().close()


def _put(handle: int, part: Path, target: Path, mode: int) -> None:
    """Gives a file that is written its rights and its name. Raises: OSError."""
    # In this order: the name is never there with half of the contents, or with rights that are too wide.
    os.fchmod(handle, mode)
    os.fsync(handle)
    part.replace(target)


def _copy_bytes(source: int, copy: int) -> None:
    at = 0
    while piece := os.pread(source, _PIECE, at):
        at += len(piece)
        while piece:
            piece = piece[os.write(copy, piece):]


def unsaved_folder() -> Path:
    """Where results are that could not be written to their place. They are the user's own: nothing clears them."""
    from kgeval.config import cache_folder

    return cache_folder() / UNSAVED


def _unsaved_place(path: Path) -> Path:
    """A file in that folder for what was to be written to `path`; nothing has that name."""
    folder, when = unsaved_folder(), time.strftime("%Y%m%d-%H%M%S")
    # 100 characters stay below the 255 bytes that file systems take, whatever the script.
    names = (f"{path.stem[:50]}-{when}{f'-{n}' if n else ''}{path.suffix[:50]}" for n in count())
    return next(place for place in map(folder.joinpath, names) if not os.path.lexists(place))


def write_text(path: Path, text: str, *, shared: bool = False, kept: bool = True) -> None:
    """Writes a UTF-8 file, as `replacing` has it."""
    with replacing(path, shared=shared, kept=kept) as file:
        file.write(text)


def write_jsonl(path: Path, rows: Iterable[Any], *, kept: bool = True) -> None:
    """Writes one JSON value a line as they come, as `replacing` has it."""
    with replacing(path, kept=kept) as file:
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


def unwritable(path: Path | str, cause: OSError, kept: Path | None = None) -> InputError:
    """The error that says that a file cannot be written, and why. `kept`: where its contents are instead."""
    what = f"{path}: cannot be written: {cause.strerror or cause}"
    if kept is None:
        return InputError(what, fix=ROOM)
    return InputError(f"{what}; it is kept whole in {kept}", fix=f"move it to where you want it: mv {shlex.quote(str(kept))} ...")


def blocked(path: Path) -> str:
    """Why no file can be made there, or none of a few megabytes; "" if it can, as far as can be seen."""
    try:
        if path.is_dir():
            return "is a folder"
        if path.exists() and not path.is_file():
            return ""  # a pipe or a device
        folder = next(parent for parent in path.resolve().parents if parent.exists())
        if not folder.is_dir():
            return f"{folder} is no folder"
        if path.exists() and not os.access(path, os.W_OK):
            return "this user may not write to it"
        if not os.access(folder, os.W_OK | os.X_OK):
            return f"nothing can be written to {folder}"
        disk = os.statvfs(folder)
    except OSError as cause:  # a name that is too long
        return str(cause.strerror or cause)
    free = disk.f_bavail * disk.f_frsize
    # some file systems do not tell how large they are
    return f"the disk of {folder} has {free / 1e6:.1f} MB left" if disk.f_blocks and free < LEAST_BYTES else ""


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


def _opened_output(output: _Output, *, binary: bool) -> IO[Any]:
    buffered = io.BufferedWriter(output, _BUFFER)
    return buffered if binary else io.TextIOWrapper(buffered, encoding="utf-8", newline="\n")


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
