"""Anchors: pairs of answers with a label of people, from JSONL, JSON, CSV, TSV or Parquet. Every fault is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgeval.errors import InputError
from kgeval.files.cells import Misfit, absent, mapping, name, text
from kgeval.files.given import Faults, Sheet, check_maps, fields_of, lacking, sheet_of
from kgeval.files.plain import Line
from kgeval.files.winners import WAY_OUT, Coding, coding_of
from kgeval.records import Anchor, Winner

FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "question_id", "anchor_id", "item_id"), "question": ("question", "question_text", "query", "prompt"),
    "answer_a": ("answer_a", "response_a", "answer_1"), "answer_b": ("answer_b", "response_b", "answer_2"),
    "label": ("label", "winner", "human", "gold"), "aspects": ("aspects",), "dataset": ("dataset",), "level": ("level",),
}
MEANINGS = {
    "id": "the pair's name", "question": "the question", "answer_a": "one answer", "answer_b": "the other answer",
    "label": "which one people hold for better: a, b or tie",
}
PREFIX = "label_"  # of a table's columns for aspects: label_relevance


def read_anchors(path: Path, *, maps: Mapping[str, str] | None = None, winners: Mapping[str, Winner] | None = None) -> tuple[Anchor, ...]:
    """The anchors of a file in their order; a row without an id is called by its place.

    Labels of aspects: an object `aspects`, or columns `label_ASPECT`. Raises: InputError with every fault: a field or value that is
    lacking, a label that is none, an id that stands twice, two answers that are the same text but not labelled tie.
    """
    faults = Faults()
    sheet = sheet_of(path, faults)
    check_maps(maps or {}, FIELDS, [sheet])
    fields = fields_of(sheet, FIELDS, maps or {})
    gone = {ours: meaning for ours, meaning in MEANINGS.items() if ours not in fields and ours != "id"}
    if gone:
        fix = "name the fields: --map label=FIELD"
        raise InputError(f"{sheet.file}: {lacking(sheet, 'is no file of anchors', gone)}", fix=fix)
    try:
        coding = coding_of(sheet.texts(fields["label"]), winners or {})
    except Misfit as cause:
        raise InputError(f"{sheet.file}: {fields['label']}: {cause}", fix=WAY_OUT) from cause
    found: dict[str, Anchor] = {}
    for number, line in enumerate(sheet.rows, start=1):
        anchor = _anchor(line, sheet, fields, coding, faults, str(number))
        if anchor is not None and anchor.id in found:
            faults.add(line.where, fields.get("id", "id"), f"'{anchor.id}' stands twice", "give each pair an id of its own")
        elif anchor is not None:
            found[anchor.id] = anchor
    faults.stop(f"{sheet.file}: anchors")
    return tuple(found.values())


def _anchor(
    line: Line, sheet: Sheet, fields: Mapping[str, str], coding: Coding, faults: Faults, number: str,
) -> Anchor | None:
    got: dict[str, Any] = {"id": number}
    before = len(faults.found)
    for ours, theirs in fields.items():
        try:
            value = _value(ours, line.value.get(theirs), coding)
        except Misfit as cause:
            faults.add(line.where, theirs, str(cause), WAY_OUT if ours == "label" else "")
            continue
        if value is None and ours in MEANINGS:
            faults.add(line.where, theirs, f"is empty: {MEANINGS[ours]} is needed")
        if value is not None:
            got[ours] = value
    got["aspects"] = _aspects(line, sheet, got.get("aspects"), coding, faults)
    if len(faults.found) == before and got["answer_a"] == got["answer_b"] and got["label"] != "tie":
        faults.add(line.where, fields["label"], "both answers are the same text, so no label but tie can be right", "mend or drop the pair")
    if len(faults.found) > before:
        return None
    try:
        return Anchor(**got)
    except ValidationError as cause:
        faults.add(line.where, "", str(cause.errors()[0]["msg"]))
        return None


def _value(ours: str, value: Any, coding: Coding) -> Any:
    if ours == "label":
        return coding.read(value, "a", "b")
    return name(value) if ours == "id" else mapping(value) if ours == "aspects" else text(value)


def _aspects(line: Line, sheet: Sheet, given: Mapping[str, Any] | None, coding: Coding, faults: Faults) -> dict[str, Winner]:
    columns = {one.removeprefix(PREFIX): line.value.get(one) for one in sheet.names if one.startswith(PREFIX) and one != PREFIX}
    found: dict[str, Winner] = {}
    for aspect, value in {**columns, **(given or {})}.items():
        try:
            label = None if absent(value) else coding.read(value, "a", "b")
        except Misfit as cause:
            faults.add(line.where, f"aspects.{aspect}", str(cause), WAY_OUT)
            continue
        if label is not None:
            found[str(aspect)] = label
    return found
