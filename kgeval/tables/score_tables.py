"""Scores of several systems in the files of any tool: one value a question, system, metric and trial.

Read by the names of their fields: kgeval's scores, FastChat's single answer grades (`model`, `score`, `turn`), judgekit's graded and
binary verdicts (`candidate_model`, `scale_min`, `scale_max`), long tables (`question_id,system,score`), wide ones (`question_id` and a
column a system), and one file a system (`question_id,score`). `--map` names other fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kgeval.records import Answer, Question
from kgeval.tables.cells import Misfit, signed
from kgeval.tables.fields import SCORES
from kgeval.tables.given import Faults, Sheet, check_range, open_sheets

METRIC = "score"
KEPT = ("question_id", "trial", "dataset", "level")  # of a wide table: what is no system
DOCUMENT = "document"  # the field with the groups of questions, where no other is named
NOT_APPLICABLE, NO_SCORE = "not applicable", "no score"
TWICE = "name the field that tells them apart (--map trial=FIELD), give two systems two names, or take one row out"


@dataclass(frozen=True)
class ScoreSelection:
    """How score files are read: `maps` (--map), `systems`: the columns of a wide table, or those of a long one to keep; `metrics`: to
    keep; `range`: the scores must lie in it, both ends included; `cluster`: the field with the groups of questions (None: `document`,
    where rows have it; `question`: none)."""

    maps: Mapping[str, str] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    cluster: str | None = None

    @property
    def group_field(self) -> str | None:
        """Where rows have their group; None: nowhere."""
        return None if self.cluster == "question" else self.cluster or DOCUMENT


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A score: None where there is none, with its cause. `group`: what its question was drawn in."""

    question_id: str
    system: str
    metric: str
    trial: int
    value: float | None
    cause: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class Scores:
    """What was read."""

    cells: tuple[ScoreCell, ...]
    rows: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """In the order of first sight."""
        return list(dict.fromkeys(cell.system for cell in self.cells))

    @property
    def metrics(self) -> list[str]:
        """In the order of first sight."""
        return list(dict.fromkeys(cell.metric for cell in self.cells))


def read_score_tables(paths: Sequence[Path], wanted: ScoreSelection) -> Scores:
    """The scores of all files. Raises: InputError with every fault of every file; UsageError for a faulty --map."""
    faults, cells, notes = Faults(), list[ScoreCell](), list[str]()
    sheets = open_sheets(paths, SCORES, wanted.maps, faults)
    for sheet in sheets:
        for where, cell in _cells(sheet, wanted, faults, notes):
            key = (cell.question_id, cell.system, cell.metric, cell.trial)
            faults.once(key, where, f"a second score of '{cell.system}'", TWICE)
            cells.append(cell)
    scores = Scores(tuple(cells), {sheet.file: len(sheet.rows) for sheet in sheets}, tuple(dict.fromkeys(notes)))
    _check_names(scores, sheets, wanted, faults)
    faults.stop("scores")
    kept = [
        cell for cell in cells
        if (not wanted.systems or cell.system in wanted.systems) and (not wanted.metrics or cell.metric in wanted.metrics)
    ]
    return Scores(tuple(kept), scores.rows, scores.notes)


def _check_names(found: Scores, sheets: Sequence[Sheet], wanted: ScoreSelection, faults: Faults) -> None:
    columns = [name for sheet in sheets for name in sheet.names if wanted.systems and name not in KEPT and _numeric(sheet, name)]
    systems = list(dict.fromkeys([*found.systems, *columns]))
    if wanted.cluster not in (None, "question") and not any(wanted.cluster in sheet.names for sheet in sheets):
        faults.add("--cluster", "", f"no row has a field '{wanted.cluster}'", "name a field of the rows, or question: each stands alone")
    for what, names, there in (("system", wanted.systems, systems), ("metric", wanted.metrics, found.metrics)):
        # Where nothing was read, all names would be unknown, and the other faults say why.
        for gone in [known for known in names if known not in there] if found.cells else ():
            faults.add(f"--{what}s", "", f"no {what} is called '{gone}'; there are: {', '.join(there[:30])}", f"choose among these {what}s")


def _cells(sheet: Sheet, wanted: ScoreSelection, faults: Faults, notes: list[str]) -> Iterator[tuple[str, ScoreCell]]:
    """The scores of a file with their places: one a row, or one a row and column. Nothing, with a fault, where that cannot be told."""
    if sheet.lacks(["question_id"]):
        what = "is no file of scores that can be paired"
        faults.add(sheet.file, "", sheet.refused(what, ["question_id"]), "name it: --paired-by FIELD")
    elif not sheet.lacks(["score"]):
        if sheet.lacks(["system"]):
            notes.append(f"{sheet.file}: no field for the system, so its scores are those of '{sheet.stem}'")
        yield from _long(sheet, wanted, faults)
    elif columns := _columns(sheet, wanted, notes):
        yield from _wide(sheet, columns, wanted, faults)
    else:
        kind = record_of(sheet.names)[0]
        what = f"is a file of {kind}, not of scores" if kind else "is no file of scores"
        faults.add(sheet.file, "", sheet.refused(what, ["score"]), "name them: --map score=FIELD, or --filter-system A,B")


def _columns(sheet: Sheet, wanted: ScoreSelection, notes: list[str]) -> tuple[str, ...]:
    """The columns of a wide table that hold systems: those named, else those where most cells that are not empty are numbers."""
    if wanted.systems:
        return tuple(name for name in wanted.systems if name in sheet.names)
    kept_names = {sheet.fields.get(kept) for kept in KEPT} | {wanted.group_field, DOCUMENT}
    others = [name for name in sheet.names if name not in kept_names]
    kind, own = record_of(sheet.names)
    systems = dict.fromkeys(name for name in others if name not in own and _numeric(sheet, name))
    passed = [name for name in others if name not in systems]
    if kind and systems:
        notes.append(f"{sheet.file}: a file of {kind}, whose own fields are no systems; taken for systems: {', '.join(list(systems)[:20])}")
    if passed and systems:
        notes.append(f"{sheet.file}: passed over, no numbers: {', '.join(passed[:20])}")
    return tuple(systems)


def record_of(names: Sequence[str]) -> tuple[str, frozenset[str]]:
    """`questions` or `answers` and the fields of their records, where a file's fields show that it holds them; else "" and none. Their
    numbers (hops, seconds, tokens) are no scores."""
    there = set(names)
    if {"id", "question"} <= there and there & {"reference", "references", "hops", "triples_needed", "evidence", "kind"}:
        return "questions", frozenset(Question.model_fields)
    if {"question_id", "answer"} <= there:
        return "answers", frozenset(Answer.model_fields)
    return "", frozenset()


def _numeric(sheet: Sheet, column: str) -> bool:
    fitting = others = 0
    for value in sheet.texts(column):
        try:
            fitting += signed(value) is not None
        except Misfit:
            others += 1
    return fitting > others or (fitting > 0 and fitting == others)


def _long(sheet: Sheet, wanted: ScoreSelection, faults: Faults) -> Iterator[tuple[str, ScoreCell]]:
    """One score a row. A scale that the row itself names bounds it, where no other is given."""
    for line in sheet.rows:
        values = sheet.whole(line, faults)
        if values is None:
            continue
        # Without a column the file's name is the system's; with one, an empty cell is a fault.
        system = values.get("system") or (sheet.stem if "system" not in values else None)
        if values["question_id"] is None or system is None:
            faults.add(line.where, sheet.fields["question_id" if values["question_id"] is None else "system"], "is empty")
            continue
        low, high, cause = values.get("low"), values.get("high"), _cause(values)
        value = values["score"] if cause is None else None
        try:
            check_range(value, wanted.range or (None if low is None or high is None else (low, high)))
        except Misfit as misfit:
            faults.add(line.where, sheet.fields["score"], str(misfit))
            continue
        cause = cause or (NO_SCORE if value is None else None)
        yield line.where, ScoreCell(
            values["question_id"], system, values.get("metric") or METRIC, values.get("trial") or 0, value, cause,
            _group(line.value, wanted),
        )


def _wide(sheet: Sheet, columns: Sequence[str], wanted: ScoreSelection, faults: Faults) -> Iterator[tuple[str, ScoreCell]]:
    """One score a column and row."""
    kept = replace(sheet, fields={ours: theirs for ours, theirs in sheet.fields.items() if ours in KEPT})
    for line in sheet.rows:
        values = kept.whole(line, faults)
        if values is not None and values["question_id"] is None:
            faults.add(line.where, sheet.fields["question_id"], "is empty")
        for column in columns:
            try:
                value = signed(line.value.get(column))
                check_range(value, wanted.range)
            except Misfit as cause:
                faults.add(line.where, column, str(cause))
                continue
            if values is not None and values["question_id"] is not None:
                why = NO_SCORE if value is None else None
                yield line.where, ScoreCell(
                    values["question_id"], column, METRIC, values.get("trial") or 0, value, why, _group(line.value, wanted),
                )


def _group(row: Mapping[str, Any], wanted: ScoreSelection) -> str | None:
    """What the question of a row was drawn in; None: it stands alone."""
    group = None if wanted.group_field is None else row.get(wanted.group_field)
    return None if group is None or not str(group).strip() else str(group)


def _cause(got: Mapping[str, Any]) -> str | None:
    """Why kgeval has no score: the cause before the colon."""
    if got.get("status") == "not_applicable":
        return NOT_APPLICABLE
    if got.get("status") == "unscored":
        return (got.get("reason") or "unscored").partition(":")[0].strip()
    return None
