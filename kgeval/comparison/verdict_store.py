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
from kgeval.errors import InputError, KgevalError, raise_together
from kgeval.records import ComparisonVerdict, Question
from kgeval.tables.columns import write_csv
from kgeval.tables.output import replacing
from kgeval.tables.spool import Spool
from kgeval.tables.temporary import only_writer

DISCARDED = "discarded"
MOST_CACHED = 64 * 2**20  # bytes of tables that are kept: a report goes through them several times
_REASONS = ("reason_a", "reason_b")


@dataclass(frozen=True)
class ProcedureRun:
    """One procedure over all pairs. `aligned`: it sees answers of one length, where the run aligns them. `wordings`: of the aspects, which
    trials take in turn. `banded`: points within the judge's own noise are ties. `sampled`: the judge draws its replies: the same request
    in another trial is another draw, and worth asking."""

    procedure: JudgeProcedure
    trials: int
    repeats: int
    aligned: bool
    wordings: int = 1
    sampled: bool = True
    banded: bool = True

    @property
    def cases(self) -> int:
        """Judgements of one question and trial: positions x repeats."""
        return self.procedure.positions * self.repeats

    def table(self, verdicts: Iterable[ComparisonVerdict], questions: Iterable[PairQuestion], pairing: Pairing) -> PairTable:
        """The verdicts of a pair as arrays."""
        return table_of(
            verdicts, questions, pair=(pairing.a, pairing.b), aspects=self.procedure.aspect_names, trials=self.trials,
            positions=self.procedure.positions, repeats=self.repeats, procedure=self.procedure.name, banded=self.banded,
        )


@dataclass(frozen=True)
class Pairing:
    """Two systems and the questions that both of them answer."""

    a: str
    b: str
    questions: Sequence[Question]


@dataclass(frozen=True)
class JudgedTrial:
    """One question and trial of a pair: what was said. `how`: how the lengths were brought together (align.rule.How)."""

    place: int
    trial: int
    how: str
    verdicts: tuple[ComparisonVerdict, ...]


@dataclass
class Segment:
    """Where the lines of a pair under a procedure stand: (question's place among the pair's, offset) of each line."""

    run: ProcedureRun
    pairing: Pairing
    # arrays: places of a million lines are 16 MB, as lists of numbers five times that
    places: array[int] = field(default_factory=lambda: array("l"))
    starts: array[int] = field(default_factory=lambda: array("q"))


class VerdictStore:
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

    def __enter__(self) -> VerdictStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def begin(self, run: ProcedureRun, pairing: Pairing) -> Segment:
        """What is added from now on is of this procedure and pair."""
        segment = Segment(run, pairing)
        self.segments.append(segment)
        return segment

    def add(self, segment: Segment, judged: JudgedTrial) -> None:
        """Keeps what was said of a question and trial."""
        line = {
            "place": judged.place, "trial": judged.trial, "how": judged.how,
            "verdicts": [verdict.model_dump(mode="json", exclude_none=True) for verdict in judged.verdicts],
        }
        with self._file.lock:
            start = self._file.append(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            self._file.keep(start)
        segment.places.append(judged.place)
        segment.starts.append(start)

    def verdicts(self, segment: Segment, place: int | None = None) -> Iterator[ComparisonVerdict]:
        """The verdicts of a pair under a procedure, of all its questions or of one, in their order."""
        for line in self._lines(segment, place):
            yield from map(ComparisonVerdict.model_validate, line["verdicts"])

    def table(self, segment: Segment) -> PairTable:
        """The pair's table. Questions that were not come to (a comparison that was sure) are not in it."""
        key = id(segment)
        if key not in self._tables:
            self._tables[key] = self._read(segment)
            while len(self._tables) > 1 and sum(table.points.nbytes for table in self._tables.values()) > MOST_CACHED:
                self._tables.popitem(last=False)
        self._tables.move_to_end(key)
        return self._tables[key]

    def tables(self, run: ProcedureRun) -> Iterator[PairTable]:
        """The tables of a procedure, one pair at a time. A pair without questions (in a shard) has none."""
        return (self.table(segment) for segment in self.segments if segment.run is run and segment.starts)

    def outcomes(self, segment: Segment) -> Iterator[tuple[int, int, str]]:
        """(place of the question, trial, how the lengths were brought together) of each line."""
        for line in self._lines(segment):
            yield line["place"], line["trial"], line["how"]

    def written(self, *, redact: bool = False) -> list[Path]:
        """Writes the verdict files, each in one step. `redact`: without the reasons, which quote answers. Raises:
        KgevalError where some cannot be written, after all others were."""
        faults: list[KgevalError] = []
        for output in self._outputs:
            try:
                _write(output, self._rows(_REASONS if redact else ()))
            except InputError as cause:
                fix = "make room, or choose another output, and run the same command again"
                faults.append(InputError(f"{cause.message}; the judge's replies are in the journal", fix=fix))
        raise_together(faults)
        return list(self._outputs)

    def _rows(self, without: Sequence[str]) -> Iterator[dict[str, Any]]:
        for segment in self.segments:
            for line in self._lines(segment):
                yield from ({name: value for name, value in row.items() if name not in without} for row in line["verdicts"])

    def _lines(self, segment: Segment, place: int | None = None) -> Iterator[dict[str, Any]]:
        for line_place, start in zip(segment.places, segment.starts, strict=True):
            if place is None or line_place == place:
                yield self._file.line(start)

    def _read(self, segment: Segment) -> PairTable:
        discarded: dict[int, set[int]] = {}  # place of a question -> its trials without a judgement
        padded: dict[int, set[int]] = {}
        verdicts: list[ComparisonVerdict] = []
        for line in self._lines(segment):
            trials = discarded.setdefault(line["place"], set())
            if line["how"] == "forced":
                padded.setdefault(line["place"], set()).add(line["trial"])
            if line["how"] == DISCARDED:
                trials.add(line["trial"])
            else:
                # not validated again: written by this run, and read several times for a report
                verdicts += (ComparisonVerdict.model_construct(**row) for row in line["verdicts"])
        questions = [(segment.pairing.questions[place], place) for place in sorted(discarded)]
        return segment.run.table(verdicts, [
            PairQuestion(
                question.id, question.dataset, question.level, frozenset(discarded[place]), question.document,
                frozenset(padded.get(place, ())),
            )
            for question, place in questions
        ], segment.pairing)


def _write(path: Path, verdicts: Iterable[dict[str, Any]]) -> None:
    """Verdicts in the form that the file's ending names. Raises: InputError."""
    if path.suffix.lower() == ".csv":
        columns = tuple(ComparisonVerdict.model_fields)
        write_csv(path, columns, (ComparisonVerdict.model_construct(**row).model_dump() for row in verdicts))
        return
    with replacing(path) as file:
        file.writelines(ComparisonVerdict.model_validate(row).model_dump_json() + "\n" for row in verdicts)
