"""The results as they come. One line a scored row goes into a partial file beside the output; at the end the outputs are written
from it, each in one step. Whatever ends a run (Ctrl-C, kill -9, a budget, a full disk), the partial file stays and a later run
takes its rows over.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Literal

from kgeval.errors import IncompleteError, InputError
from kgeval.files.score_forms import (
    PRIVATE,
    check_same,
    files_of,
    fingerprint_of,
    is_result,
    read_scores,
    read_verdicts,
    results_of,
    write_beside,
    write_scores,
)
from kgeval.records import Row, Score, ScoreReport, Verdict

Taking = Literal["nothing", "finished", "scored"]
HEADER = "kgeval_partial"
STOPPED = ("budget", "error_rate", "cancelled")
_CHECKED = '{"checked":['  # verdicts of an earlier result, until its scores are read

__all__ = ["ScoreFile", "files_of", "is_result", "partial_of", "read_scores", "read_verdicts"]


def partial_of(output: Path) -> Path:
    """The file that grows while a run goes on."""
    path = results_of(output)
    return path.with_name(f"{path.name}.partial")


class ScoreFile:
    """The results of a run. `outputs`: where they go; other files than results (is_result) are passed over.

    `fingerprint`: of all that the scores depend on. `taking`: which rows of an earlier run are not done again: none, all that it
    finished, or those of them that have no unscored score. `verdicts`: whether they are written too.

    Raises: InputError where nothing can be written, where another run writes the same output, and where an earlier run was made
    from something else.
    """

    def __init__(self, outputs: Sequence[Path], *, fingerprint: str, taking: Taking = "nothing", verdicts: bool = True) -> None:
        self._outputs = [path for path in dict.fromkeys(outputs) if is_result(path)]
        self._fingerprint = fingerprint
        self._header = json.dumps({HEADER: 1, "fingerprint": fingerprint}).encode() + b"\n"
        self._verdicts = verdicts
        self._fresh = taking == "nothing"  # then every line of the file is this run's, and nothing needs to be remembered
        self._count = 0
        self._lock = Lock()  # rows are asked about and added from different threads
        self._earlier: dict[int, int] = {}  # key -> where its line starts, of rows that an earlier run finished
        self._mine: dict[int, int] = {}  # the same, of rows of this run: added, or taken over
        self._order: dict[int, int] = {}  # key -> its place among the rows asked about
        self._temporary = not self._outputs
        self._path = partial_of(self._outputs[0]) if self._outputs else _temporary_file()
        self._file = _opened(self._path)
        self._end = 0
        self._others: list[tuple[Path, int]] = []  # further outputs: locked too, nothing is written there before the end
        if self._temporary:
            self._path.unlink()  # nobody else needs its name
        try:
            for path in dict.fromkeys(partial_of(output) for output in self._outputs[1:]):
                self._others.append((path, _opened(path)))
            self._begin(taking)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ScoreFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Lets the partial file go; it stays where it is, unless no row is in it."""
        if self._file >= 0:
            if not self._temporary and os.fstat(self._file).st_size <= len(self._header):
                self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1
        while self._others:
            path, file = self._others.pop()
            if not os.fstat(file).st_size:
                path.unlink(missing_ok=True)
            os.close(file)

    def taken(self, row: Row, trial: int | None) -> tuple[Score, ...] | None:
        """What an earlier run finished for this row; null: it has to be scored. Ask for every row, in order: results are written
        in the order in which they were asked about."""
        if self._fresh:
            return None
        key = _key(row.question.id, row.answer.system, row.answer.trial if row.answer.trial is not None else trial)
        with self._lock:
            key = _free(key, self._order)
            self._order[key] = len(self._order)
            at = self._earlier.get(key)
            if at is None:
                return None
            self._mine[key] = at
            self._count += 1
        return tuple(Score.model_validate(score) for score in self._line(at)["scores"])

    def add(self, scores: Sequence[Score], verdicts: Sequence[Verdict]) -> None:
        """Keeps a finished row, on disk before this returns. Raises: IncompleteError where the disk is full; all rows before are kept."""
        if not scores:
            return
        kept = ",".join(verdict.model_dump_json() for verdict in verdicts) if self._verdicts else ""
        first = scores[0]
        with self._lock:
            at = self._append(_line_of(scores, kept))
            self._count += 1
            if not self._fresh:
                self._mine[_free(_key(first.question_id, first.system, first.trial), self._mine)] = at

    def scores(self) -> Iterator[Score]:
        """All scores of this run so far, those taken over too, row by row in order."""
        for line in self._lines():
            yield from (Score.model_validate(score) for score in line["scores"])

    def finish(self, report: ScoreReport) -> list[Path]:
        """Writes the outputs in their forms, with manifest, summary and verdicts beside them, and returns the files.

        The partial file goes if the run is complete, and stays for a later run if it is not. Raises: InputError where a file cannot
        be written; the partial file stays then.
        """
        done: list[Path] = []
        try:
            for output in self._outputs:
                done.append(write_scores(output, self.scores()))
                kept = self.verdicts() if self._verdicts else None
                done.extend(path for path in write_beside(output, report, self._fingerprint, kept) if path not in done)
        except InputError as cause:
            raise InputError(
                f"{cause.message}; all {self._count:,} rows are kept in {self._path}",
                fix="make room, and run the same command with --resume; or choose another output",
            ) from cause
        if report.complete and not self._temporary:
            self._path.unlink(missing_ok=True)
        return done

    def verdicts(self) -> Iterator[Verdict]:
        """All verdicts of this run so far, row by row in order; none where they are not kept."""
        return (Verdict.model_validate(one) for line in self._lines() for one in line["verdicts"])

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The lines of this run's rows: in the order asked about, else as they came."""
        if self._fresh:
            at = len(self._header)
            while at < self._end:
                raw = self._raw(at)
                at += len(raw) + 1
                yield json.loads(raw)
            return
        last = len(self._order)
        for _, at in sorted((self._order.get(key, last), at) for key, at in self._mine.items()):
            yield self._line(at)

    def _line(self, at: int) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self._raw(at))
        return value

    def _raw(self, at: int) -> bytes:
        """The line that starts at a place, without its end."""
        size, parts = 1 << 14, []
        while True:
            part = os.pread(self._file, size, at)
            end = part.find(b"\n")
            parts.append(part if end < 0 else part[:end])
            if end >= 0 or not part:
                return b"".join(parts)
            at, size = at + len(part), size * 2

    def _append(self, line: bytes) -> int:
        """Writes a line at the end and returns its place. What is there of a line that does not fit is cut off again."""
        at, left = self._end, memoryview(line)
        try:
            while left:
                left = left[os.pwrite(self._file, left, self._end + len(line) - len(left)):]
        except OSError as cause:
            os.ftruncate(self._file, at)
            raise IncompleteError(
                f"{self._path}: cannot be written: {cause.strerror}; {self._count:,} finished rows are kept in it",
                fix="make room and run the same command with --resume",
            ) from cause
        self._end += len(line)
        return at

    def _begin(self, taking: Taking) -> None:
        """Takes over what an earlier run left: its partial file, else its results; then makes sure of the header."""
        if taking != "nothing" and self._outputs:
            output = self._outputs[0]
            if os.fstat(self._file).st_size:
                self._from_partial(taking)
            if results_of(output).exists():
                self._from_result(output, taking)
        if not self._end:
            self._start()

    def _start(self) -> None:
        os.ftruncate(self._file, 0)
        self._append(self._header)

    def _from_partial(self, taking: Taking) -> None:
        """Reads the rows of a partial file. A last line that was cut while it was written is dropped."""
        at = 0
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            for number, raw in enumerate(file):
                try:
                    value = json.loads(raw) if raw.endswith(b"\n") else None
                except ValueError:
                    value = None
                if not isinstance(value, dict):
                    break
                if number == 0:
                    check_same(self._path, value.get("fingerprint"), self._fingerprint)
                elif "scores" in value:
                    self._offer([Score.model_validate(score) for score in value["scores"]], at, taking)
                at += len(raw)
        os.ftruncate(self._file, at)
        self._end = at

    def _from_result(self, output: Path, taking: Taking) -> None:
        """Copies the rows of a finished result into the partial file, but those that it has already."""
        if not self._end:
            check_same(results_of(output), fingerprint_of(output), self._fingerprint)
            self._start()
        elif fingerprint_of(output) != self._fingerprint:
            return  # the partial file goes on, and will replace this result
        known, seen = set(self._earlier), dict[int, int]()
        verdicts: dict[int, int] = {}
        for name, group in groupby(read_verdicts(output) if self._verdicts else (), key=_name_of):
            line = f"{_CHECKED}{','.join(one.model_dump_json() for one in group)}]}}\n"
            verdicts.setdefault(_key(*name), self._append(line.encode()))
        for name, scores in groupby(read_scores(output), key=_name_of):
            found = list(scores)
            key = _free(_key(*name), seen)
            seen[key] = 0
            if key not in known:
                kept = self._raw(verdicts[key])[len(_CHECKED):-2].decode() if key in verdicts else ""
                self._offer(found, self._append(_line_of(found, kept)), taking)

    def _offer(self, scores: Sequence[Score], at: int, taking: Taking) -> None:
        """Makes an earlier run's row available, unless it has to be done again."""
        if scores and not any(_undone(score, taking) for score in scores):
            first = scores[0]
            self._earlier[_free(_key(first.question_id, first.system, first.trial), self._earlier)] = at


def _line_of(scores: Sequence[Score], verdicts: str) -> bytes:
    return f'{{"scores":[{",".join(score.model_dump_json() for score in scores)}],"verdicts":[{verdicts}]}}\n'.encode()


def _key(question: str, system: str, trial: int | None) -> int:
    """Names a row in few bytes. Trial 0 of judging is no trial, as in the scores."""
    name = json.dumps([question, system, trial or None]).encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")


def _undone(score: Score, taking: Taking) -> bool:
    """Whether a score is to be made again: what was not even asked, because the run was stopped, is not finished."""
    cause = (score.reason or "").partition(":")[0]
    return score.status == "unscored" and (taking == "scored" or cause in STOPPED)


def _name_of(record: Score | Verdict) -> tuple[str, str, int | None]:
    return record.question_id, record.system, record.trial


def _free(key: int, used: dict[int, int]) -> int:
    """The key, or the next one: a row that comes twice under one name is two rows."""
    while key in used:
        key += 1
    return key


def _temporary_file() -> Path:
    handle, name = tempfile.mkstemp(prefix="kgeval-scores-")
    os.close(handle)
    return Path(name)


def _opened(path: Path) -> int:
    """The partial file, made where it is not there, and locked: two runs never write one output."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    except OSError as cause:
        raise InputError(f"{path.parent}: cannot be written to: {cause.strerror}", fix="choose a folder that is yours with -o") from cause
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        os.close(file)
        raise InputError(f"{path}: another run is writing it", fix="wait for it to end, or name another output with -o") from cause
    if not os.fstat(file).st_nlink:  # the run that held it has just ended and taken its name away
        os.close(file)
        return _opened(path)
    os.fchmod(file, PRIVATE)
    return file
