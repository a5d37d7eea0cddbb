"""Single outcomes of pairs as other tools read them: evalica's CSV (`left,right,winner`), with the question beside it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from kgeval.files.plain import replacing
from kgeval.files.sheets import formula_safe

HEAD = ("left", "right", "winner", "question_id")
WORDS = {1: "left", 0: "tie", -1: "right"}


def write_duels(path: Path, rows: Iterable[tuple[str, str, int, str]]) -> None:
    """Writes a row an outcome, as a whole or not at all: left, right, 1 (left won), 0 (tie) or -1, question. Read back by
    `read_verdicts`. A name that a spreadsheet would take for a formula gets an apostrophe before it. Raises: InputError."""
    with replacing(path, mode=0o600) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for left, right, outcome, question in rows:
            writer.writerow([formula_safe(left), formula_safe(right), WORDS[outcome], formula_safe(question)])
