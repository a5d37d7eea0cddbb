"""The verdicts of a run in a temporary file, and one pair's table read back from them. Memory holds places in the file only.

A run that is started again takes the judge's replies from the journal. A line of the temporary file is one question and trial of a pair
under one procedure, with its verdicts. The finished verdict file has one verdict a line, in the order: procedure, pair, question, trial,
position, repeat, aspect. That order is the order in which lines are added, whatever the number of threads, so the same run has the same
bytes.
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from kgeval.comparison.judge.procedures import JudgeProcedure
from kgeval.comparison.table import PairQuestion, PairTable, table_of
from kgeval.errors import InputError
from kgeval.files.partial import private
from kgeval.files.spool import Spool
from kgeval.files.tables import write_csv
from kgeval.files.temporary import only_writer
from kgeval.records import ComparisonVerdict, Question

DISCARDED = "discarded"
MOST_CACHED = 64 * 2**20  # bytes of tables that are kept: a report goes through them several times
_REASONS = ("reason_a", "reason_b")


@dataclass(frozen=True)
class ProcedureRun:
    """One procedure over all pairs. `aligned`: it sees answers of one length, where the run aligns them. `wordings`: of the aspects, which
    trials take in turn. `sampled`: the judge draws its replies: the same request in another trial is another draw, and worth asking."""

    way: JudgeProcedure
    trials: int
    repeats: int
    aligned: bool
    wordings: int = 1
    sampled: bool = True

    @property
    def cases(self) -> int:
        """Judgements of one question and trial: positions x repeats."""
        return self.way.positions * self.repeats


@dataclass(frozen=True)
class Pairing:
    """Two systems and the questions that both of them answer."""

    a: str
    b: str
    questions: Sequence[Question]


@dataclass(frozen=True)
class Judged:
    """One question and trial of a pair: what was said. `how`: how the lengths were brought together (align.shape.How)."""

    place: int
    trial: int
    how: str
    verdicts: tuple[ComparisonVerdict, ...]


@dataclass
class Segment:
    """Where the lines of a pair under a procedure stand: (question's place among the pair's, offset) of each line."""

    round: ProcedureRun
    pairing: Pairing
    places: array[int] = field(default_factory=lambda: array("l"))
    starts: array[int] = field(default_factory=lambda: array("q"))


class Verdicts:
    """The verdicts of a run. `outputs`: files to be written at the end, .jsonl or .csv.

    A context manager. Raises: InputError where nothing can be written, or another run writes there; IncompleteError for a full disk.
    """

    def __init__(self, outputs: Sequence[Path] = ()) -> None:
        self._outputs = tuple(outputs)
        self._stack = ExitStack()
        self._stack.enter_context(only_writer(self._outputs))
        self._file = self._stack.enter_context(Spool("verdicts"))
        self.segments: list[Segment] = []
        self._tables: OrderedDict[int, PairTable] = OrderedDict()

    def __enter__(self) -> Verdicts:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def begin(self, of: ProcedureRun, pairing: Pairing) -> Segment:
        """What is added from now on is of this procedure and pair."""
        segment = Segment(of, pairing)
        self.segments.append(segment)
        return segment

    def add(self, segment: Segment, judged: Judged) -> None:
        """Keeps what was said of a question and trial."""
        line = {
            "place": judged.place, "trial": judged.trial, "how": judged.how,
            "verdicts": [one.model_dump(mode="json", exclude_none=True) for one in judged.verdicts],
        }
        with self._file.lock:
            at = self._file.append(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            self._file.keep(at)
        segment.places.append(judged.place)
        segment.starts.append(at)

    def verdicts(self, segment: Segment, place: int | None = None) -> Iterator[ComparisonVerdict]:
        """The verdicts of a pair under a procedure, of all its questions or of one, in their order."""
        for line in self._lines(segment, place):
            yield from (ComparisonVerdict.model_validate(one) for one in line["verdicts"])

    def table(self, segment: Segment) -> PairTable:
        """The pair's table. Questions that were not come to (a comparison that was sure) are not in it."""
        at = self.segments.index(segment)
        if at in self._tables:
            self._tables.move_to_end(at)
            return self._tables[at]
        table = self._read(segment)
        self._tables[at] = table
        while len(self._tables) > 1 and sum(one.points.nbytes for one in self._tables.values()) > MOST_CACHED:
            self._tables.popitem(last=False)
        return table

    def tables(self, of: ProcedureRun) -> Iterator[PairTable]:
        """The tables of a procedure, one pair at a time. A pair without questions (in a shard) has none."""
        yield from (self.table(one) for one in self.segments if one.round is of and one.starts)

    def outcomes(self, segment: Segment) -> Iterator[tuple[int, int, str]]:
        """(place of the question, trial, how the lengths were brought together) of each line."""
        for line in self._lines(segment):
            yield line["place"], line["trial"], line["how"]

    def written(self, *, redact: bool = False) -> list[Path]:
        """Writes the verdict files, each in one step. `redact`: without the reasons, which quote answers. Raises: InputError."""
        for output in self._outputs:
            try:
                _write(output, self._all(_REASONS if redact else ()))
            except InputError as cause:
                fix = "make room, or choose another output, and run the same command again"
                raise InputError(f"{cause.message}; the judge's replies are in the journal", fix=fix) from cause
        return list(self._outputs)

    def _all(self, without: Sequence[str]) -> Iterator[dict[str, Any]]:
        for segment in self.segments:
            for line in self._lines(segment):
                yield from ({name: value for name, value in one.items() if name not in without} for one in line["verdicts"])

    def _lines(self, segment: Segment, place: int | None = None) -> Iterator[dict[str, Any]]:
        for own, start in zip(segment.places, segment.starts, strict=True):
            if place is None or own == place:
                yield self._file.line(start)

    def _read(self, segment: Segment) -> PairTable:
        of, questions = segment.round, segment.pairing.questions
        left_out: dict[int, set[int]] = {}
        said: list[ComparisonVerdict] = []
        for line in self._lines(segment):
            left_out.setdefault(line["place"], set())
            if line["how"] == DISCARDED:
                left_out[line["place"]].add(line["trial"])
            else:
                said += (ComparisonVerdict.model_construct(**one) for one in line["verdicts"])
        asked = [_asked(questions[place], left_out[place]) for place in sorted(left_out)]
        return table_of(
            said, asked, pair=(segment.pairing.a, segment.pairing.b), aspects=of.way.names, trials=of.trials, positions=of.way.positions,
            repeats=of.repeats, procedure=of.way.procedure,
        )


def _asked(question: Question, discarded: Iterable[int]) -> PairQuestion:
    return PairQuestion(question.id, question.dataset, question.level, frozenset(discarded))


def _write(path: Path, verdicts: Iterable[dict[str, Any]]) -> None:
    """Verdicts in the form that the file's ending names. Raises: InputError."""
    if path.suffix.lower() == ".csv":
        columns = tuple(ComparisonVerdict.model_fields)
        write_csv(path, columns, (ComparisonVerdict.model_construct(**one).model_dump() for one in verdicts))
        return
    with private(path) as file:
        for one in verdicts:
            file.write(ComparisonVerdict.model_validate(one).model_dump_json() + "\n")
