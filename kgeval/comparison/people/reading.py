"""Filled sheets and their key -> labels. Every fault of every sheet comes at once, with file and line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kgeval.comparison.people.scales import label_of, word_of, words_of
from kgeval.comparison.people.sheets import MARK
from kgeval.errors import InputError
from kgeval.records import HumanLabel, SheetKey
from kgeval.tables.plain import read_json
from kgeval.tables.sheets import FilledSheet

_HEAD = re.compile(re.escape(MARK) + r" \(run=(\w+) scope=(\w+) annotator=(.*)\)\s*$")


@dataclass(frozen=True)
class FilledCell:
    """One cell as a person left it."""

    where: str
    item: str
    aspect: str
    text: str
    note: str | None = None


@dataclass
class Filled:
    """What was read. `asked`: cells of each annotator on their sheet, `given`: those with a label."""

    labels: list[HumanLabel] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Annotators of the key of whom no sheet was read."""
        return [name for name in self.asked if name not in self.given]


def read_key(path: Path) -> SheetKey:
    """The key. Raises: InputError for a file that is none."""
    try:
        return SheetKey.model_validate(read_json(path))
    except ValidationError as cause:
        first = cause.errors()[0]
        raise InputError(
            f"{path}: is no key of kgeval annotate sheet: {'.'.join(map(str, first['loc']))}: {first['msg']}", fix="give the file of --key",
        ) from cause


def read_filled(sheets: Sequence[Path], key: SheetKey) -> Filled:
    """The labels of the sheets, CSV and JSON. Empty cells are no faults.

    Raises: InputError with every fault: a sheet of another run or of nobody in the key, unknown items and labels, an item of somebody
    else, one item labelled in two ways by one person.
    """
    filled = Filled(asked={who: len(items) * len(key.aspects) for who, items in key.first.items()})
    faults: list[str] = []
    seen: dict[tuple[str, str, str], FilledCell] = {}
    for path in sheets:
        who, cells = (_page if path.suffix.lower() == ".json" else _table)(path, key, faults)
        if who is not None:
            filled.given.setdefault(who, 0)
            for cell in cells:
                _take(cell, who, key, filled=filled, seen=seen, faults=faults)
    if faults:
        raise InputError(
            f"{', '.join(map(str, sheets))}: {len(faults)} {'fault' if len(faults) == 1 else 'faults'}", faults=faults,
            fix=f"labels are {', '.join(words_of(key.scope))} or empty; sheets and key must come from one run of kgeval annotate sheet",
        )
    return filled


def _take(
    cell: FilledCell, who: str, key: SheetKey, *, filled: Filled, seen: dict[tuple[str, str, str], FilledCell], faults: list[str],
) -> None:
    """One cell with something in it."""
    word = word_of(cell.text, key.scope)
    if word is None:
        faults.append(f"{cell.where}: {cell.aspect}: label '{cell.text[:40]}' is none of {', '.join(words_of(key.scope))}")
        return
    place = (who, cell.item, cell.aspect)
    earlier = seen.get(place)
    if earlier is not None:
        # the page and the CSV of one person may both come back: the same label twice is no fault
        if word_of(earlier.text, key.scope) != word:
            faults.append(f"{cell.where}: {cell.aspect}: '{who}' labelled item {cell.item} as '{word}', and otherwise at {earlier.where}")
        return
    seen[place] = cell
    filled.given[who] += 1
    filled.labels.append(_label(cell, who, word, key))


def _label(cell: FilledCell, who: str, word: str, key: SheetKey) -> HumanLabel:
    item = key.items[cell.item]
    b = item.systems[1] if len(item.systems) > 1 else None
    return HumanLabel(
        id=cell.item, annotator=who, label=label_of(word, key.scope, turned=b is not None and key.first[who][cell.item] == b),
        question_id=item.question_id, metric=cell.aspect, system_a=item.systems[0], system_b=b, dataset=item.dataset, level=item.level,
        difficulty=item.difficulty, trial=item.trial, note=cell.note,
    )


def _whose(where: str, run: str, who: str, key: SheetKey, faults: list[str]) -> str | None:
    if run != key.run:
        faults.append(f"{where}: the sheet is of run {run[:40]}, the key is of run {key.run}")
    elif who not in key.first:
        faults.append(f"{where}: nobody is called '{who[:60]}' in the key; its people are {', '.join(key.first)}")
    else:
        return who
    return None


def _item_fault(where: str, item: str, who: str, key: SheetKey) -> str | None:
    """What is wrong with an item's id; None if nothing is."""
    if item not in key.items:
        return f"{where}: id '{item[:40]}' is no item of this run"
    if item not in key.first[who]:
        return f"{where}: item {item} was not given to '{who}'"
    return None


def _page(path: Path, key: SheetKey, faults: list[str]) -> tuple[str | None, list[FilledCell]]:
    value = read_json(path)
    if not isinstance(value, dict) or value.get("mark") != MARK or not isinstance(value.get("labels"), list):
        faults.append(f"{path.name}: holds no labels of a page of kgeval annotate sheet")
        return None, []
    who = _whose(path.name, str(value.get("run")), str(value.get("annotator")), key, faults)
    if who is None:
        return None, []
    notes = value["notes"] if isinstance(value.get("notes"), dict) else {}
    return who, list(_page_cells(path.name, value["labels"], notes, who=who, key=key, faults=faults))


def _page_cells(
    name: str, labels: Iterable[Any], notes: Mapping[str, Any], *, who: str, key: SheetKey, faults: list[str],
) -> Iterable[FilledCell]:
    for number, label in enumerate(labels, start=1):
        where = f"{name}: label {number}"
        if not isinstance(label, dict) or not all(isinstance(label.get(part), str) for part in ("id", "aspect", "label")):
            faults.append(f"{where}: needs id, aspect and label, it is {json.dumps(label)[:80]}")
        elif fault := _item_fault(where, label["id"], who, key):
            faults.append(fault)
        elif label["aspect"] not in key.aspects:
            faults.append(f"{where}: aspect '{label['aspect'][:40]}' is none of {', '.join(key.aspects)}")
        else:
            yield FilledCell(where, label["id"], label["aspect"], label["label"], str(notes.get(label["id"]) or "") or None)


def _table(path: Path, key: SheetKey, faults: list[str]) -> tuple[str | None, list[FilledCell]]:
    """Whose CSV sheet it is, and its filled cells. Without its head nobody knows whose it is."""
    sheet = FilledSheet(path, faults)
    marks = [(match[1], match[3]) for _, line in sheet.head if (match := _HEAD.search(line))]
    if not sheet.has(*(("id", *key.aspects) if sheet.columns else ("id",))):
        return None, []
    if not marks:
        faults.append(f"{sheet.where}: the first lines of the sheet (# {MARK} ...) are missing; nobody knows whose it is")
        return None, []
    who = _whose(sheet.where, *marks[-1], key, faults)
    cells: list[FilledCell] = []
    for where, row in sheet.rows() if who is not None else ():
        item = row.get("id", "").strip()
        if fault := _item_fault(where, item, who or "", key):
            faults.append(fault)
            continue
        note = row.get("note", "").strip() or None
        cells += [FilledCell(where, item, aspect, text, note) for aspect in key.aspects if (text := row.get(aspect, "").strip())]
    return who, cells
