"""Labels of people for pairs of answers: which is better, question by question. Every fault is told at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgeval.files.cells import Misfit, name, text
from kgeval.files.given import Faults, Sheet, check_maps, fields_of, lacking, sheet_of, signed
from kgeval.files.plain import Line
from kgeval.files.winners import WAY_OUT, Coding, Unknown, coding_of
from kgeval.records import Winner

FIELDS: Mapping[str, tuple[str, ...]] = {
    "question_id": ("question_id", "item_id", "qid", "id", "question"),
    "system_a": ("system_a", "left", "model_a", "model_1", "a_model"), "system_b": ("system_b", "right", "model_b", "model_2", "b_model"),
    "label": ("label", "winner", "choice", "human", "preference"), "annotator": ("annotator", "judge_id", "rater", "evaluator"),
    "aspect": ("aspect", "criterion", "metric"),
}
VALUE: Mapping[Winner, float] = {"a": 1.0, "tie": 0.0, "b": -1.0}
OVERALL = "overall"
OWN = frozenset(("id", "annotator", "label", "question_id", "metric", "system_a", "system_b"))  # fields of `kgeval annotate read`
OWN_SCALE: Mapping[str, Winner] = {"2": "a", "1": "a", "0": "tie", "-1": "b", "-2": "b"}  # how much better is not asked here


@dataclass(frozen=True, slots=True)
class PairLabel:
    """What a person said of two answers. `value`: from -1 (B is better) to 1 (A is better). `system_a`, `system_b` null: the file names no
    systems, so it is about the only pair, in its direction. `where`: file and line."""

    question_id: str
    value: float
    system_a: str | None = None
    system_b: str | None = None
    annotator: str = ""
    aspect: str = OVERALL
    where: str = ""


def read_labels(
    paths: Sequence[Path], *, maps: Mapping[str, str] | None = None, winners: Mapping[str, Winner] | None = None,
) -> tuple[PairLabel, ...]:
    """The labels of all files; rows with an empty label are passed over (not labelled yet).

    Raises: InputError with every fault: fields that are lacking, labels that are none (winners, or numbers from -1 to 1), one person's
    second label for one place.
    """
    faults = Faults()
    sheets = [sheet_of(path, faults) for path in paths]
    check_maps(maps or {}, FIELDS, sheets)
    found: list[PairLabel] = []
    taken: dict[tuple[Any, ...], str] = {}
    for sheet in sheets:
        fields = fields_of(sheet, FIELDS, maps or {})
        coding = _coding(sheet, fields, winners or {}, faults)
        for line in sheet.rows if coding is not None else ():
            label = _label(line, fields, coding or Coding(), faults, sheet.stem)
            if label is None:
                continue
            key = (label.question_id, frozenset((label.system_a, label.system_b)), label.annotator, label.aspect)
            if key in taken:
                faults.add(line.where, "", f"a second label of '{label.annotator}' for the place of {taken[key]}", "keep one of both")
            taken.setdefault(key, line.where)
            found.append(label)
    faults.stop("labels")
    return tuple(found)


def _coding(sheet: Sheet, fields: Mapping[str, str], winners: Mapping[str, Winner], faults: Faults) -> Coding | None:
    """How the labels are read; null, with a fault, where that cannot be told."""
    meanings = {"question_id": "which question", "label": "which answer is better: a, b, tie, or -1..1"}
    gone = {ours: meanings[ours] for ours in meanings if ours not in fields}
    if gone:
        faults.add(sheet.file, "", lacking(sheet, "is no file of labels", gone), "name the fields in the file's head")
        return None
    if OWN.issubset(sheet.names):
        return Coding({**OWN_SCALE, **winners})
    try:
        return coding_of(sheet.texts(fields["label"]), winners)
    except Unknown:
        return Coding(winners)  # numbers from -1 to 1, or faults of their rows
    except Misfit as cause:
        faults.add(sheet.file, fields["label"], str(cause), WAY_OUT)
        return None


def _label(line: Line, fields: Mapping[str, str], coding: Coding, faults: Faults, stem: str) -> PairLabel | None:
    row = line.value
    try:
        question = name(row.get(fields["question_id"]))
        a, b = (name(row.get(fields[one])) if one in fields else None for one in ("system_a", "system_b"))
        annotator = (name(row.get(fields["annotator"])) if "annotator" in fields else None) or stem
        aspect = (text(row.get(fields["aspect"])) if "aspect" in fields else None) or OVERALL
        value = _value(row.get(fields["label"]), coding, a or "a", b or "b")
    except Misfit as cause:
        faults.add(line.where, fields["label"], str(cause), WAY_OUT)
        return None
    if value is None:
        return None
    if question is None:
        faults.add(line.where, fields["question_id"], "the id of the question is lacking")
        return None
    if (a is None) != (b is None) or (a is not None and a == b):
        faults.add(line.where, fields.get("system_b", "system_b"), "two different systems are needed, or none")
        return None
    return PairLabel(question, value, a, b, annotator, aspect, line.where)


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else signed(value)
    except Misfit:
        return None


def _value(value: Any, coding: Coding, a: str, b: str) -> float | None:
    try:
        winner = coding.read(value, a, b)
    except Misfit:
        number = _number(value)
        if number is None or not -1 <= number <= 1:
            raise Misfit(f"'{str(value)[:40]}' is no label: a, b, tie, the name of a system, or a number from -1 to 1 expected") from None
        return number
    return None if winner is None else VALUE[winner]
