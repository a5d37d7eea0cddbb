"""People and the ideal graph: a sheet with a random sample of its items to be labelled, and how much of it they hold to be right."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kgeval.auditing.completeness.figures import proportion
from kgeval.auditing.completeness.ideal import Ideal, IdealItem, label
from kgeval.errors import InputError
from kgeval.records import GoldEntity
from kgeval.tables import sheets

COLUMNS = ("id", "kind", "subject", "type", "predicate", "object", "document", "passage", "label", "note")
RIGHT, WRONG = "right", "wrong"
SPELLINGS = {"right": RIGHT, "correct": RIGHT, "yes": RIGHT, "true": RIGHT, "1": RIGHT,
             "wrong": WRONG, "incorrect": WRONG, "no": WRONG, "false": WRONG, "0": WRONG}
LONGEST_PASSAGE = 4_000
FIX = "the column label holds right or wrong, or is empty; ids are those of a sheet of this ideal graph"


def sampled(ideal: Ideal, n: int, *, seed: int = 0) -> list[IdealItem]:
    """n items in random order, half of them entities and half triples as far as there are so many. Same seed, same items."""
    rng = random.Random(seed)  # noqa: S311 - a sample, no secret
    kinds: dict[bool, list[IdealItem]] = {True: [], False: []}
    for item in sorted(ideal.items, key=lambda item: item.id):
        kinds[isinstance(item.gold, GoldEntity)].append(item)
    for items in kinds.values():
        rng.shuffle(items)
    entities = min(len(kinds[True]), max((n + 1) // 2, n - len(kinds[False])))
    drawn = [*kinds[True][:entities], *kinds[False][: n - entities]]
    rng.shuffle(drawn)
    return drawn


def write_sheet(path: Path, items: Sequence[IdealItem]) -> None:
    """The items as CSV, the label left empty (0600: it quotes the documents).

    Raises: UsageError where the file exists, so that no labelled work is lost.
    """
    sheets.write_sheet(path, COLUMNS, map(_row, items))


def checked(ideal: Ideal, path: Path) -> Ideal:
    """The ideal graph with its precision by the labels of a sheet: right / labelled, for entities and triples, Wilson interval.

    Rows without a label are no labels: the interval fits only if the labelled rows are a random part of the sheet.

    Raises: InputError with every fault of the file: unknown ids, unknown labels, an id twice, no label at all.
    """
    labels, rows = _labels(path, {item.id for item in ideal.items})
    right: dict[str, list[bool]] = {"entities": [], "triples": []}
    for item in ideal.items:
        if item.id in labels:
            right["entities" if isinstance(item.gold, GoldEntity) else "triples"].append(labels[item.id] == RIGHT)
    precision = {name: proportion(sum(answers), len(answers)) for name, answers in right.items() if answers}
    note = f"{rows - len(labels)} rows of the sheet have no label" if rows > len(labels) else None
    record = ideal.record.model_copy(update={
        "sampled": rows, "labelled": len(labels), "precision": precision, "notes": [*ideal.record.notes, *([note] if note else [])],
    })
    return replace(ideal, record=record, gold=replace(ideal.gold, label=label(ideal.record.extractor, checked=True)))


def _row(item: IdealItem) -> tuple[str, ...]:
    gold = item.gold
    if isinstance(gold, GoldEntity):
        what = ("entity", gold.name, gold.type or "", "", "")
    else:
        what = ("triple", gold.subject, "", gold.predicate or "", gold.object)
    return (item.id, *what, gold.document or "", item.passage.text[:LONGEST_PASSAGE], "", "")


def _labels(path: Path, ids: set[str]) -> tuple[dict[str, str], int]:
    """Label by id, and how many rows the sheet has."""
    faults: list[str] = []
    labels: dict[str, str] = {}
    seen: set[str] = set()
    sheet = sheets.FilledSheet(path, faults)
    for where, row in sheet.rows() if sheet.has("id", "label") else ():
        item, word = row.get("id", "").strip(), row.get("label", "").strip().casefold()
        if item not in ids:
            faults.append(f"{where}: id {item[:40]!r} is not in this ideal graph: other documents, or another model")
        elif item in seen:
            faults.append(f"{where}: id {item!r} stands there twice")
        elif word and word not in SPELLINGS:
            faults.append(f"{where}: label {word[:40]!r} is neither right nor wrong")
        else:
            seen.add(item)
            labels |= {item: SPELLINGS[word]} if word else {}
    if not labels and not faults:
        faults.append(f"{path.name}: no row has a label")
    if faults:
        raise InputError(f"{path}: the labels cannot be used", fix=FIX, faults=faults)
    return labels, len(seen)
