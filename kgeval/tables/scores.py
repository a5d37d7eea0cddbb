"""The results of scoring as they come: a row that is scored is one line, with its scores and verdicts, in a partial file beside the output.
At the end the outputs are written from it, each in one step. Whatever ends a run (Ctrl-C, kill -9, a budget, a full disk), the partial file
stays, and a later run takes its rows over: docs/decisions/07-one-memory.md says why scores have one and nothing else does.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count, groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pydantic import ValidationError

from kgeval.errors import IncompleteError, InputError, KgevalError, raise_together, tried
from kgeval.records import Row, Score, ScoreReport, Verdict
from kgeval.tables.answers import may_pass, stopped
from kgeval.tables.output import replacing
from kgeval.tables.score_forms import (
    files_of,
    fingerprint_of,
    is_result,
    read_scores,
    read_verdicts,
    results_of,
    write_beside,
    write_scores,
)
from kgeval.tables.spool import Spool
from kgeval.tables.temporary import locked

Taking = Literal["nothing", "finished", "scored"]
_CHECKED = '{"checked":['  # verdicts of an earlier result, until its scores are read
HEADER = "kgeval_partial"
OTHER = "or name another output with -o; or run without --resume and --retry-errors"
_WHAT = "rows, metrics, models or settings, so its scores"

__all__ = ["ScoreFile", "files_of", "is_result", "partial_of", "read_scores", "read_verdicts"]


def partial_of(output: Path) -> Path:
    """The file that grows while a run goes on."""
    return _beside(results_of(output))


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.partial")


def aside_note(partial: PartialFile) -> str | None:
    """What `start` put aside, for the user; None where it was nothing."""
    if partial.aside is None:
        return None
    return (
        f"{partial.path} held rows of a run that did not end: they are kept in {partial.aside}, and asked for again now "
        f"(to take them over: Ctrl-C, mv {partial.aside} {partial.path}, and the same command with --resume)"
    )


class PartialFile(Spool):
    """The rows of a run. `outputs`: the files that will be written from it (none: a temporary file). `what`: what rows are made from,
    for the error that refuses those of another run; `ordered`: rows have a place, and `lines` gives them in that order.

    Whoever asks and adds from several threads holds `lock`. Raises: InputError where nothing can be written, and where another run
    writes the same output.
    """

    def __init__(self, outputs: Sequence[Path], *, fingerprint: str, what: str, ordered: bool) -> None:
        self._fingerprint, self._made_from = fingerprint, what
        self._header = json.dumps({HEADER: 1, "fingerprint": fingerprint}).encode() + b"\n"
        self.start = len(self._header)
        self._result = outputs[0] if outputs else None
        self.aside: Path | None = None  # where `begin` put the rows of an earlier run
        self.path = _beside(outputs[0]) if outputs else Path(tempfile.gettempdir())
        self._held: list[tuple[Path, int]] = []  # further outputs: locked too, nothing is written there before the end
        if outputs:
            self._set_up(locked(self.path), "rows", ordered=ordered)
        else:
            super().__init__("rows", ordered=ordered)
        try:
            for path in dict.fromkeys(_beside(output) for output in outputs[1:]):
                self._held.append((path, locked(path)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets the partial file go; it stays where it is, unless no row is in it."""
        super().close()
        while self._held:
            path, file = self._held.pop()
            if not os.fstat(file).st_size:
                path.unlink(missing_ok=True)
            os.close(file)

    def _leave(self, file: int) -> None:
        if self._result is not None and os.fstat(file).st_size <= len(self._header):
            self.path.unlink(missing_ok=True)

    @property
    def empty(self) -> bool:
        """Whether nothing, not even the header, was read or written yet."""
        return not self._end

    def begin(self) -> None:
        """Begins anew and writes the header. Rows of a killed run, which no result has, are put aside first: they were paid for."""
        self._put_aside()
        os.ftruncate(self._file, 0)
        self._end = 0
        self.append(self._header)

    def _put_aside(self) -> None:
        size = 0 if self._result is None else os.fstat(self._file).st_size
        # A copy: the end of `with` closes it, and the original keeps the lock. Both have one position, hence the seek.
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            rows = size > 0 and bool(file.readline()) and bool(file.readline())
        # A result that is newer than the last line here has all of these rows.
        saved = self._result is not None and self._result.exists() and self._result.stat().st_mtime_ns >= os.fstat(self._file).st_mtime_ns
        if not rows or saved:
            return
        places = (self.path.with_name(f"{self.path.name}.{number}") for number in count(1))
        self.aside = next(place for place in places if not place.exists())
        try:
            with self.path.open("rb") as rows_of_killed_run, replacing(self.aside, binary=True, kept=False) as copy:
                shutil.copyfileobj(rows_of_killed_run, copy)
        except (OSError, InputError) as cause:
            what = f"{self.path}: holds the rows of a run that did not end, and cannot be put aside: {cause}"
            raise InputError(what, fix="take them over with --resume, or delete the file") from cause

    def read_earlier(self, offer: Callable[[dict[str, Any], int], None]) -> None:
        """Calls offer(line, where it starts) for the lines that an earlier run left. A last line that was cut is dropped.

        Raises: InputError where they were made from something else.
        """
        offset = 0
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            # A process that is killed while it writes leaves a part of a line, which can only be the last one.
            for number, raw in enumerate(file):
                value = _object(raw)
                if value is None:
                    break
                if number == 0:
                    self.check_same(self.path, value.get("fingerprint"))
                else:
                    offer(value, offset)
                offset += len(raw)
        os.ftruncate(self._file, offset)
        self._end = offset

    def check_same(self, path: Path, found: Any) -> None:
        """Raises InputError where an earlier run was made from something else, or nothing tells from what."""
        if found is None:
            raise InputError(
                f"{path}: cannot be taken over: nothing beside it tells how it was made",
                fix="name another output with -o, or run without --resume and --retry-errors (replies in the journal cost nothing)",
            )
        if found != self._fingerprint:
            what = f"{path}: was made from other {self._made_from} cannot be mixed with new ones"
            raise InputError(what, fix=f"give the same options as then; {OTHER}")

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Around the writing of outputs. Raises: InputError where one cannot be written, with what is kept and how to go on."""
        try:
            yield
        except KgevalError as cause:
            raise InputError(
                f"{cause.message}; all {self.count:,} rows are kept in {self.path}",
                fix="make room, and run the same command with --resume; or choose another output",
            ) from cause

    def done(self) -> None:
        """All rows are in the outputs: the partial file goes."""
        if self._result is not None:
            self.path.unlink(missing_ok=True)

    def _full(self, cause: OSError) -> IncompleteError:
        if self._result is None:
            return super()._full(cause)
        return IncompleteError(
            f"{self.path}: cannot be written: {cause.strerror}; {self.count:,} finished rows are kept in it",
            fix="make room and run the same command with --resume",
        )


def _object(raw: bytes) -> dict[str, Any] | None:
    """The line as an object; None where it was cut, or is none."""
    try:
        value = json.loads(raw) if raw.endswith(b"\n") else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


class ScoreFile:
    """The results of a run. `outputs`: where they go; other files than results (is_result) are passed over.

    `fingerprint`: of all that the scores depend on. `taking`: which rows of an earlier run are not done again: none, all that it
    finished (not those whose model could not be reached), or those of them that have no unscored score. `verdicts`: whether they are
    written too. `bare`: metrics of whose scores the figures alone are kept.

    Raises: InputError where nothing can be written, where another run writes the same output, and where an earlier run was made
    from something else.
    """

    def __init__(
        self, outputs: Sequence[Path], *, fingerprint: str, taking: Taking = "nothing", verdicts: bool = True,
        bare: Collection[str] = (),
    ) -> None:
        self._outputs = [path for path in dict.fromkeys(outputs) if is_result(path)]
        self._fingerprint = fingerprint
        self._verdicts = verdicts
        self._bare = bare
        self._fresh = taking == "nothing"  # then every line of the file is this run's, and nothing needs to be remembered
        self._earlier: dict[int, int] = {}  # key -> where its line starts, of rows that an earlier run finished
        self._again: set[int] = set()  # keys of rows that an earlier run scored without all of their verdicts
        self._order: dict[int, int] = {}  # key -> its place among the rows asked about
        files = [results_of(path) for path in self._outputs]
        self._file = PartialFile(files, fingerprint=fingerprint, what=_WHAT, ordered=not self._fresh)
        self._path = self._file.path
        try:
            self._begin(taking)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ScoreFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def aside(self) -> str | None:
        """What is said where rows of an earlier run were put aside."""
        return aside_note(self._file)

    def close(self) -> None:
        """Lets the partial file go; it stays where it is, unless no row is in it."""
        self._file.close()

    def taken(self, row: Row, trial: int | None) -> tuple[Score, ...] | None:
        """What an earlier run finished for this row; None: it has to be scored. Ask for every row, in order: results are written
        in the order in which they were asked about."""
        if self._fresh:
            return None
        key = _key(row.question.id, row.answer.system, row.answer.trial if row.answer.trial is not None else trial)
        with self._file.lock:
            key = _free(key, self._order)
            place = self._order[key] = len(self._order)
            offset = self._earlier.get(key)
            if offset is None:
                return None
            self._file.keep(offset, place)
        return tuple(Score.model_validate(score) for score in self._file.line(offset)["scores"])

    def add(self, scores: Sequence[Score], verdicts: Sequence[Verdict], *, lacking: str | None = None) -> None:
        """Keeps a finished row, on disk before this returns. `lacking`: why verdicts are missing, though the scores may all be there.

        Raises: IncompleteError where the disk is full; all rows before are kept.
        """
        if not scores:
            return
        kept = ",".join(verdict.model_dump_json() for verdict in verdicts) if self._verdicts else ""
        with self._file.lock:
            line = _line_of(without_texts(scores, self._bare), kept, lacking if self._verdicts else None)
            self._file.add(line, None if self._fresh else self._place(scores[0]))

    def _place(self, score: Score) -> int | None:
        """Where the row was asked about; of rows that come twice under one name, the first that is not there yet."""
        key = _key(score.question_id, score.system, score.trial)
        while (place := self._order.get(key)) is not None and self._file.has(place):
            key += 1
        return place

    def scores(self) -> Iterator[Score]:
        """All scores of this run so far, those taken over too, row by row in order."""
        for line in self._file.lines():
            yield from without_texts((Score.model_validate(score) for score in json.loads(line)["scores"]), self._bare)

    def finish(self, report: ScoreReport) -> list[Path]:
        """Writes the outputs in their forms, with manifest, summary and verdicts beside them, and returns the files.

        The partial file goes if the run is complete, and stays for a later run if it is not. Raises: InputError where a file cannot
        be written, after all others were; the partial file stays then.
        """
        done: list[Path] = []
        faults: list[KgevalError] = []

        def write_all(output: Path) -> list[Path]:
            kept = self.verdicts() if self._verdicts else None
            return write_beside(output, report, self._fingerprint, kept)

        with self._file.finishing():
            for output in self._outputs:
                scores = tried(partial(write_scores, output, self.scores()), faults)
                beside = tried(partial(write_all, output), faults)
                done += [scores] if scores else []
                done += [path for path in beside or () if path not in done]
            raise_together(faults)
        if report.complete:
            self._file.done()
        return done

    def verdicts(self) -> Iterator[Verdict]:
        """All verdicts of this run so far, row by row in order; none where they are not kept."""
        return (Verdict.model_validate(verdict) for line in self._file.lines() for verdict in json.loads(line)["verdicts"])

    def _begin(self, taking: Taking) -> None:
        """Takes over what an earlier run left: its partial file, else its results; then makes sure of the header."""
        if taking != "nothing" and self._outputs:
            self._file.read_earlier(lambda line, at: self._from_line(line, at, taking))
            if results_of(self._outputs[0]).exists():
                self._from_result(self._outputs[0], taking)
        if self._file.empty:
            self._file.begin()

    def _from_line(self, line: dict[str, Any], at: int, taking: Taking) -> None:
        with suppress(ValidationError, KeyError, TypeError):  # a line that is no row is passed over: its row is scored again
            scores = [Score.model_validate(score) for score in line["scores"]]
            if (why := line.get("lacking")) is not None and scores and (taking == "scored" or _is_open(str(why))):
                self._again.add(_key(scores[0].question_id, scores[0].system, scores[0].trial))
            else:
                self._offer(scores, at, taking)

    def _from_result(self, output: Path, taking: Taking) -> None:
        """Copies the rows of a finished result into the partial file, but those that it has already."""
        if self._file.empty:
            self._file.check_same(results_of(output), fingerprint_of(output))
            self._file.begin()
        elif fingerprint_of(output) != self._fingerprint:
            return  # the partial file goes on, and will replace this result
        known, seen = set(self._earlier) | self._again, dict[int, int]()
        verdicts: dict[int, int] = {}
        for name, group in groupby(read_verdicts(output) if self._verdicts else (), key=_name_of):
            # Verdicts stand in a file of their own, so they are put here first, and found again by where they start.
            line = f"{_CHECKED}{','.join(verdict.model_dump_json() for verdict in group)}]}}\n"
            verdicts.setdefault(_key(*name), self._file.append(line.encode()))
        for name, scores in groupby(read_scores(output), key=_name_of):
            row_scores = list(scores)
            key = _free(_key(*name), seen)
            seen[key] = 0
            if key not in known:
                # -2: the line's `]}`.
                kept = self._file.raw(verdicts[key])[len(_CHECKED):-2].decode() if key in verdicts else ""
                self._offer(row_scores, self._file.append(_line_of(row_scores, kept)), taking)

    def _offer(self, scores: Sequence[Score], at: int, taking: Taking) -> None:
        """Makes an earlier run's row available, unless it has to be done again."""
        if scores and not any(_undone(score, taking) for score in scores):
            first = scores[0]
            self._earlier[_free(_key(first.question_id, first.system, first.trial), self._earlier)] = at


def without_texts(scores: Iterable[Score], metrics: Collection[str]) -> Iterator[Score]:
    """The scores, those of `metrics` with their figures alone: of a reason the cause."""
    for score in scores:
        if score.metric in metrics:
            reason = score.reason.partition(":")[0] if score.status == "unscored" and score.reason else None
            detail = {name: value for name, value in score.detail.items() if isinstance(value, int | float)}
            score = score.model_copy(update={"reason": reason, "detail": detail})
        yield score


def _line_of(scores: Iterable[Score], verdicts: str, lacking: str | None = None) -> bytes:
    more = "" if lacking is None else f',"lacking":{json.dumps(lacking)}'
    return f'{{"scores":[{",".join(score.model_dump_json() for score in scores)}],"verdicts":[{verdicts}]{more}}}\n'.encode()


def _key(question: str, system: str, trial: int | None) -> int:
    """Names a row in few bytes. Trial 0 of judging is no trial, as in the scores."""
    # Of a million rows two share these 8 bytes with a chance of 3 in 100 million.
    name = json.dumps([question, system, trial or None]).encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")


def _undone(score: Score, taking: Taking) -> bool:
    """Whether a score is to be made again."""
    return score.status == "unscored" and (taking == "scored" or _is_open(score.reason))


def _is_open(reason: str | None) -> bool:
    """Whether it is not finished: it was not even asked, because the run was stopped, or nothing came for a cause that passes."""
    return stopped(reason) or may_pass(reason)


def _name_of(record: Score | Verdict) -> tuple[str, str, int | None]:
    return record.question_id, record.system, record.trial


def _free(key: int, used: dict[int, int]) -> int:
    """The key, or the next one: a row that comes twice under one name is two rows."""
    while key in used:
        key += 1
    return key
