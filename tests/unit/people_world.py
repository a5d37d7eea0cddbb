"""Answers of three systems to some questions as files, and sheets filled by people who see the truth through noise."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from kgeval.records import SheetKey

SYSTEMS = ("alpha-rag", "beta-rag", "gamma-rag")
LEVELS = ("node", "edge", "path")


def write_world(folder: Path, questions: int = 12, *, systems: tuple[str, ...] = SYSTEMS[:2]) -> list[str]:
    """Answer files and a question file; returns the arguments that name them."""
    asked = [
        {"id": f"q{n}", "question": f"Who is number {n}?", "reference": f"Number {n}.", "level": LEVELS[n % 3], "hops": 1 + n % 2}
        for n in range(questions)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    for system in systems:
        rows = [{"question_id": f"q{n}", "system": system, "answer": f"Answer {n} in words of {system[0]}."} for n in range(questions)]
        (folder / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [*(str(folder / f"{system}.jsonl") for system in systems), "--questions", str(folder / "questions.jsonl")]


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


def header_of(rows: list[list[str]]) -> int:
    return next(at for at, row in enumerate(rows) if row[0] == "id")


def fill(path: Path, label: Callable[[dict[str, str], str], str], out: Path | None = None) -> Path:
    """Fills every label cell of a CSV sheet: label(row, aspect)."""
    rows = rows_of(path)
    at = header_of(rows)
    header = rows[at]
    aspects = header[1 : header.index("question")]
    for row in rows[at + 1 :]:
        named = dict(zip(header, row, strict=True))
        for aspect in aspects:
            row[header.index(aspect)] = label(named, aspect)
    out = out or path
    with out.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return out


def key_at(path: Path) -> SheetKey:
    return SheetKey.model_validate_json(path.read_text())


