"""Scores of other tools, a row an answer and a column a metric: what ragas' `to_pandas()` gives, saved in any form, and tables like it.

Their metrics are called `ragas: faithfulness`, so that they stand beside kgeval's of the same name. A row is joined with kgeval's by the id
of its question, else by the question's text; its system is in a column, else it is the file's name, else the only one that there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from kgeval.records import Answer, Question, Score
from kgeval.tables.cells import Misfit, name, signed, spaced, text, whole
from kgeval.tables.convert import id_of
from kgeval.tables.fields import ROWS
from kgeval.tables.given import Faults
from kgeval.tables.plain import Line
from kgeval.tables.score_forms import is_folder
from kgeval.tables.score_tables import NO_SCORE, ScoreCell
from kgeval.tables.shapes import shapes
from kgeval.tables.stream import stream

T = TypeVar("T")
PEEKED = 50
TOOLS = ("ragas", "deepeval")  # whose files tell that they are theirs; of others the file's name is the tool's
IDS, SYSTEMS = ROWS["id"].names, ROWS["system"].names
TEXTS = ("user_input", *ROWS["question"].names, "input")
OWN = frozenset({"metric", "value", "status"})  # fields of kgeval's own scores
# numbers of these are none of a metric: seconds, tokens, hops, ranks
NO_METRIC = frozenset(
    known for names in (*(field.names for field in ROWS.values()), ROWS, Question.model_fields, Answer.model_fields, TEXTS, ("index", ""))
    for known in names
)
UNNAMED = re.compile(r"(Unnamed: |column )\d+")  # pandas' index, which has no name in a file
FIX = "write a row an answer, with its question (question_id, or its text as question or user_input) and a column of numbers a metric"


@dataclass(frozen=True)
class KnownAnswers:
    """What the scores of a tool are joined with: ids of questions, systems, and ids by the questions' texts (None: several questions have
    the text). No ids: any row is taken."""

    questions: Collection[str] = ()
    systems: Collection[str] = ()
    texts: Mapping[str, str | None] = field(default_factory=dict)

    def question(self, row: Mapping[str, Any]) -> str | None:
        """Which question a row is about; None for one that is not known. Raises: Misfit for an id or text that is none."""
        given, asked = _first(row, IDS, name), _first(row, TEXTS, text)
        by_text = self.texts.get(spaced(asked)) if asked else None
        possible = [given, by_text, id_of(asked) if asked else None]
        found = next((one for one in possible if one is not None and (not self.questions or one in self.questions)), None)
        if found is None and asked and spaced(asked) in self.texts and by_text is None:
            raise Misfit(f"several questions have the text '{asked[:60]}'", "add a column question_id")
        return found

    def system(self, path: Path) -> str | None:
        """The system of a file that names none; None where several are possible."""
        only = next(iter(self.systems)) if len(self.systems) == 1 else None
        return path.stem if not self.systems or path.stem in self.systems else only


@dataclass(frozen=True)
class ToolScores:
    """The scores of a file. `left_out`: of its `rows`, those about questions that are not known."""

    cells: tuple[ScoreCell, ...]
    rows: int
    left_out: int


@dataclass
class _MetricColumn:
    """A column that may be a metric. `others`: place and fault of each cell that is no number."""

    numbers: int = 0
    others: list[tuple[str, str]] = field(default_factory=list)


def own_cells(scores: Iterable[Score]) -> Iterator[ScoreCell]:
    """kgeval's scores as cells: of a reason the cause alone."""
    for score in scores:
        cause = None if score.value is not None else (score.reason or score.status).partition(":")[0].strip()
        yield ScoreCell(score.question_id, score.system, score.metric, score.trial or 0, score.value, cause)


def is_tool_table(path: Path) -> bool:
    """Whether a file is a table of another tool, by the fields of its first rows. Raises: InputError where it cannot be read."""
    names = frozenset() if is_folder(path) else frozenset(
        own for line in islice(stream(path), PEEKED) if line.fault is None for own in line.value
    )
    return not names >= OWN and not names.isdisjoint({*TEXTS, *IDS})


def read_tool_scores(path: Path, known: KnownAnswers) -> ToolScores:
    """The scores of a table. A column is a metric where most of its cells that are not empty are numbers; an empty cell is no score.

    Raises: InputError with every fault: nothing known or no metric in it, a second row of a system for one question, a text where the
    column has numbers, and a system that nobody can tell.
    """
    faults, rows, columns = Faults(), list[tuple[str, str, int, dict[str, float]]](), dict[str, _MetricColumn]()
    names: dict[str, None] = {}
    system, count = known.system(path), 0
    for line in stream(path):
        count += 1
        if line.fault is not None:
            faults.add(line.where, "", line.fault)
            continue
        names.update(dict.fromkeys(line.value))
        try:
            question, own = known.question(line.value), _first(line.value, SYSTEMS, name) or system
            trial = _first(line.value, ("trial",), whole) or 0
        except Misfit as misfit:
            faults.add(line.where, "", str(misfit), misfit.fix)
            continue
        if question is None:
            continue
        if own is None:
            there, first = ", ".join(known.systems), next(iter(known.systems))
            fix = f"add a column system, or call the file after the system: {first}{path.suffix}"
            faults.add(path.name, "", f"does not say of which system its scores are; there are {there}", fix)
            break
        fix = FIX if "metric" in line.value else "keep one of both, or number them in a column trial"
        faults.once((question, own, trial), line.where, f"a second row of '{own}'", fix)
        rows.append((question, own, trial, _numbers(line, columns)))
    shape = next((shape for shape in shapes() if shape.name.startswith(TOOLS) and shape.fits(names)), None)
    texts = {own for theirs in shape.fields.values() for own in theirs.split("|")} if shape else frozenset()
    metrics = [column for column, found in columns.items() if found.numbers >= max(1, len(found.others)) and column not in texts]
    for column in metrics:
        for where, what in columns[column].others:
            faults.add(where, column, what, "leave the cell empty where there is no score")
    if not rows and not faults.found:
        what = f"none of its {count:,} rows is about a question of the others"
        faults.add(path.name, "", what, "give the questions with --questions: where ids differ, rows are joined by the texts")
    elif not metrics and not faults.found:
        there = ", ".join(list(names)[:30])
        what = f"holds no scores: no column of numbers beside questions, answers and contexts; its fields are: {there}"
        faults.add(path.name, "", what, FIX)
    faults.stop(f"{path}: scores")
    # files that are called after systems have their metrics in common, and their folder's name for them
    tool = shape.name.split()[0] if shape else path.stem if path.stem != system else path.absolute().parent.name
    cells = tuple(
        ScoreCell(question, own, f"{tool}: {metric}", trial, values.get(metric), None if metric in values else NO_SCORE)
        for question, own, trial, values in rows for metric in metrics
    )
    return ToolScores(cells, count, count - len(rows))


def _first(row: Mapping[str, Any], columns: Collection[str], read: Callable[[Any], T | None]) -> T | None:
    """The first of these columns that has something. Raises: Misfit that names the column."""
    for column in columns:
        try:
            given = read(row.get(column))
        except Misfit as misfit:
            raise Misfit(f"{column}: {misfit}", misfit.fix) from misfit
        if given is not None:
            return given
    return None


def _numbers(line: Line, columns: dict[str, _MetricColumn]) -> dict[str, float]:
    """The numbers of a row by column, where the column may be a metric; and what each column has."""
    values: dict[str, float] = {}
    for column, value in line.value.items():
        if column in NO_METRIC or UNNAMED.fullmatch(column):
            continue
        found = columns.setdefault(column, _MetricColumn())
        try:
            number = signed(value)
        except Misfit as misfit:
            found.others.append((line.where, str(misfit)))
            continue
        if number is not None:
            values[column] = number
            found.numbers += 1
    return values
