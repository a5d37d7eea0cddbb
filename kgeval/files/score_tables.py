"""Scores of several systems in the files of any tool: one value a question, system, metric and trial.

Read by the names of their fields: kgeval's scores, FastChat's single answer grades (`model`, `score`, `turn`), judgekit's graded and
binary verdicts (`candidate_model`, `scale_min`, `scale_max`), long tables (`question_id,system,score`), wide ones (`question_id` and a
column a system), and one file a system (`question_id,score`). `--map` names other fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgeval.files.cells import Misfit, absent, name, text
from kgeval.files.given import Faults, Sheet, check_maps, counted, fields_of, lacking, sheet_of, signed
from kgeval.files.plain import Line
from kgeval.records import Answer, Question

FIELDS: Mapping[str, tuple[str, ...]] = {
    "question_id": ("question_id", "item_id", "qid", "query_id", "prompt_id", "example_id", "id", "question"),
    "system": ("system", "system_name", "model", "model_name", "candidate_model", "generator"),
    "score": ("score", "value", "label", "passed", "correct", "rating"),
    "metric": ("metric", "criterion", "criteria", "aspect"),
    "trial": ("trial", "sample_index", "repeat", "epoch", "turn"),
    "status": ("status",), "reason": ("reason",), "dataset": ("dataset",), "level": ("level",),
    "low": ("scale_min",), "high": ("scale_max",),
}
METRIC = "score"
KEPT = ("question_id", "trial", "dataset", "level")  # of a wide table: what is no system
NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class ScoresWanted:
    """How score files are read: `maps` (--map), `systems`: the columns of a wide table, or those of a long one to keep; `metrics`: to
    keep; `range`: the scores must lie in it, both ends included."""

    maps: Mapping[str, str] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A score: null where there is none, with its cause."""

    question_id: str
    system: str
    metric: str
    trial: int
    value: float | None
    cause: str | None = None


@dataclass(frozen=True)
class Scores:
    """What was read."""

    cells: tuple[Cell, ...]
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


def read_score_tables(paths: Sequence[Path], wanted: ScoresWanted) -> Scores:
    """The scores of all files. Raises: InputError with every fault of every file; UsageError for a faulty --map."""
    faults = Faults()
    sheets = [sheet_of(path, faults) for path in paths]
    check_maps(wanted.maps, FIELDS, sheets)
    cells: list[Cell] = []
    notes: list[str] = []
    taken: dict[tuple[str, str, str, int], str] = {}
    for sheet in sheets:
        reader = _reader(sheet, wanted, faults, notes)
        for line in sheet.rows if reader is not None else ():
            for cell in reader.read(line, faults) if reader is not None else ():
                key = (cell.question_id, cell.system, cell.metric, cell.trial)
                if key in taken:
                    faults.add(line.where, "", f"a second score of '{cell.system}' for the place of {taken[key]}", TWICE)
                taken.setdefault(key, line.where)
                cells.append(cell)
    found = Scores(tuple(cells), {sheet.file: len(sheet.rows) for sheet in sheets}, tuple(dict.fromkeys(notes)))
    _check_names(found, sheets, wanted, faults)
    faults.stop("scores")
    kept = [
        cell for cell in cells
        if (not wanted.systems or cell.system in wanted.systems) and (not wanted.metrics or cell.metric in wanted.metrics)
    ]
    return Scores(tuple(kept), found.rows, found.notes)


TWICE = "name the field that tells them apart (--map trial=FIELD), give two systems two names, or take one row out"


def _check_names(found: Scores, sheets: Sequence[Sheet], wanted: ScoresWanted, faults: Faults) -> None:
    columns = [name for sheet in sheets for name in sheet.names if wanted.systems and name not in KEPT and _numeric(sheet, name)]
    systems = list(dict.fromkeys([*found.systems, *columns]))
    for what, names, there in (("system", wanted.systems, systems), ("metric", wanted.metrics, found.metrics)):
        for gone in [one for one in names if one not in there] if found.cells else ():
            faults.add(f"--{what}s", "", f"no {what} is called '{gone}'; there are: {', '.join(there[:30])}", f"choose among these {what}s")


def _reader(sheet: Sheet, wanted: ScoresWanted, faults: Faults, notes: list[str]) -> _Long | _Wide | None:
    """How a file is read; null, with a fault, where that cannot be told."""
    fields = fields_of(sheet, FIELDS, wanted.maps)
    if "question_id" not in fields:
        needed = {"question_id": "what pairs the scores of two systems"}
        faults.add(sheet.file, "", lacking(sheet, "is no file of scores that can be paired", needed), "name it: --paired-by FIELD")
        return None
    if "score" in fields:
        if "system" not in fields:
            notes.append(f"{sheet.file}: no field for the system, so its scores are those of '{sheet.stem}'")
        return _Long(sheet, fields, wanted.range)
    columns = _columns(sheet, fields, wanted, notes)
    if not columns:
        needed = {"score": "the value, or a column of numbers for each system"}
        kind = record_of(sheet.names)[0]
        what = f"is a file of {kind}, not of scores" if kind else "is no file of scores"
        faults.add(sheet.file, "", lacking(sheet, what, needed), "name them: --map score=FIELD, or --filter-system A,B")
        return None
    return _Wide(sheet, fields, columns, wanted.range)


def _columns(sheet: Sheet, fields: Mapping[str, str], wanted: ScoresWanted, notes: list[str]) -> tuple[str, ...]:
    """The columns of a wide table that hold systems: those named, else those where most cells that are not empty are numbers."""
    if wanted.systems:
        return tuple(one for one in wanted.systems if one in sheet.names)
    others = [one for one in sheet.names if one not in {fields.get(kept) for kept in KEPT}]
    kind, own = record_of(sheet.names)
    found = [one for one in others if one not in own and _numeric(sheet, one)]
    passed = [one for one in others if one not in found]
    if kind and found:
        notes.append(f"{sheet.file}: a file of {kind}, whose own fields are no systems; taken for systems: {', '.join(found[:20])}")
    if passed and found:
        notes.append(f"{sheet.file}: passed over, no numbers: {', '.join(passed[:20])}")
    return tuple(found)


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


@dataclass(frozen=True)
class _Long:
    """One score a row."""

    sheet: Sheet
    fields: Mapping[str, str]
    range: tuple[float, float] | None

    def read(self, line: Line, faults: Faults) -> Iterator[Cell]:
        """The score of a row; its faults go to `faults`."""
        got, faulty = _read(line, self.fields, _READERS, faults)
        if faulty:
            return
        system = got.get("system") or (self.sheet.stem if "system" not in self.fields else None)
        if got["question_id"] is None or system is None:
            faults.add(line.where, self.fields["question_id" if got["question_id"] is None else "system"], "is empty")
            return
        bounds = self.range or ((got["low"], got["high"]) if got.get("low") is not None and got.get("high") is not None else None)
        value, cause = got["score"], _cause(got)
        if cause is not None:
            value = None
        if value is not None and bounds is not None and not bounds[0] <= value <= bounds[1]:
            faults.add(line.where, self.fields["score"], _outside(value, bounds))
            return
        metric = got.get("metric") or METRIC
        yield Cell(got["question_id"], system, metric, got.get("trial") or 0, value, cause or ("no score" if value is None else None))


@dataclass(frozen=True)
class _Wide:
    """One score a column and row."""

    sheet: Sheet
    fields: Mapping[str, str]
    columns: tuple[str, ...]
    range: tuple[float, float] | None

    def read(self, line: Line, faults: Faults) -> Iterator[Cell]:
        """The scores of a row; its faults go to `faults`."""
        got, faulty = _read(line, {ours: self.fields[ours] for ours in KEPT if ours in self.fields}, _READERS, faults)
        if not faulty and got["question_id"] is None:
            faults.add(line.where, self.fields["question_id"], "is empty")
        for column in self.columns:
            try:
                value = signed(line.value.get(column))
                if value is not None and self.range is not None and not self.range[0] <= value <= self.range[1]:
                    raise Misfit(_outside(value, self.range))
            except Misfit as cause:
                faults.add(line.where, column, str(cause))
                continue
            if not faulty and got["question_id"] is not None:
                yield Cell(got["question_id"], column, METRIC, got.get("trial") or 0, value, None if value is not None else "no score")


def _read(line: Line, fields: Mapping[str, str], readers: Mapping[str, Any], faults: Faults) -> tuple[dict[str, Any], bool]:
    """The known fields of a row, and whether one of them is faulty."""
    got: dict[str, Any] = {}
    faulty = False
    for ours, theirs in fields.items():
        try:
            got[ours] = readers[ours](line.value.get(theirs))
        except Misfit as cause:
            faults.add(line.where, theirs, str(cause))
            faulty = True
    return got, faulty


def _cause(got: Mapping[str, Any]) -> str | None:
    """Why kgeval has no score: the cause before the colon."""
    if got.get("status") == "not_applicable":
        return NOT_APPLICABLE
    if got.get("status") == "unscored":
        return (got.get("reason") or "unscored").partition(":")[0].strip()
    return None


def _outside(value: float, bounds: tuple[float, float]) -> str:
    return f"{value:g} is outside the range {bounds[0]:g} to {bounds[1]:g}"


def _status(value: Any) -> str | None:
    return None if absent(value) else str(value)


_READERS: Mapping[str, Any] = {
    "question_id": name, "system": name, "score": signed, "metric": text, "trial": counted, "status": _status, "reason": text,
    "dataset": text, "level": text, "low": signed, "high": signed,
}
