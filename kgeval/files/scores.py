"""The results as they come: a scored row is one line of the partial file (partial.py), with its scores and verdicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pydantic import ValidationError

from kgeval.files import partial
from kgeval.files.partial import PartialFile, aside_note, stopped
from kgeval.files.score_forms import (
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
_CHECKED = '{"checked":['  # verdicts of an earlier result, until its scores are read
_WHAT = "rows, metrics, models or settings, so its scores"

__all__ = ["ScoreFile", "files_of", "is_result", "partial_of", "read_scores", "read_verdicts"]


def partial_of(output: Path) -> Path:
    """The file that grows while a run goes on."""
    return partial.partial_of(results_of(output))


class ScoreFile:
    """The results of a run. `outputs`: where they go; other files than results (is_result) are passed over.

    `fingerprint`: of all that the scores depend on. `taking`: which rows of an earlier run are not done again: none, all that it
    finished, or those of them that have no unscored score. `verdicts`: whether they are written too. `bare`: metrics of whose scores
    the figures alone are kept.

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
        """What an earlier run finished for this row; null: it has to be scored. Ask for every row, in order: results are written
        in the order in which they were asked about."""
        if self._fresh:
            return None
        key = _key(row.question.id, row.answer.system, row.answer.trial if row.answer.trial is not None else trial)
        with self._file.lock:
            key = _free(key, self._order)
            place = self._order[key] = len(self._order)
            at = self._earlier.get(key)
            if at is None:
                return None
            self._file.keep(at, place)
        return tuple(Score.model_validate(score) for score in self._file.line(at)["scores"])

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
        be written; the partial file stays then.
        """
        done: list[Path] = []
        with self._file.finishing():
            for output in self._outputs:
                done.append(write_scores(output, self.scores()))
                kept = self.verdicts() if self._verdicts else None
                done.extend(path for path in write_beside(output, report, self._fingerprint, kept) if path not in done)
        if report.complete:
            self._file.done()
        return done

    def verdicts(self) -> Iterator[Verdict]:
        """All verdicts of this run so far, row by row in order; none where they are not kept."""
        return (Verdict.model_validate(one) for line in self._file.lines() for one in json.loads(line)["verdicts"])

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
            if (why := line.get("lacking")) is not None and scores and (taking == "scored" or stopped(str(why))):
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
            line = f"{_CHECKED}{','.join(one.model_dump_json() for one in group)}]}}\n"
            verdicts.setdefault(_key(*name), self._file.append(line.encode()))
        for name, scores in groupby(read_scores(output), key=_name_of):
            found = list(scores)
            key = _free(_key(*name), seen)
            seen[key] = 0
            if key not in known:
                kept = self._file.raw(verdicts[key])[len(_CHECKED):-2].decode() if key in verdicts else ""
                self._offer(found, self._file.append(_line_of(found, kept)), taking)

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
    name = json.dumps([question, system, trial or None]).encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big")


def _undone(score: Score, taking: Taking) -> bool:
    """Whether a score is to be made again: what was not even asked, because the run was stopped, is not finished."""
    return score.status == "unscored" and (taking == "scored" or stopped(score.reason))


def _name_of(record: Score | Verdict) -> tuple[str, str, int | None]:
    return record.question_id, record.system, record.trial


def _free(key: int, used: dict[int, int]) -> int:
    """The key, or the next one: a row that comes twice under one name is two rows."""
    while key in used:
        key += 1
    return key
