"""Reads gold sentences: JSONL or JSON (texts, or objects with a text), or plain text with one sentence a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgeval.errors import InputError
from kgeval.graph.load.values import Misfit
from kgeval.tables import Line, read_json, read_jsonl, read_text
from kgeval.tables.fields import FACTS

LONGEST = 4_000
_FIX = "one sentence a line (.txt), or JSONL with {fact, id?, document?}; sentence, statement and text are read too"


@dataclass(frozen=True)
class Fact:
    """A gold sentence. `id` is unique in its set. `document`: where it comes from, for listing only."""

    id: str
    text: str
    document: str | None = None


@dataclass(frozen=True)
class GoldFacts:
    """Gold sentences in the order of the files. `faults`: rows that were passed over, with file and line."""

    facts: list[Fact]
    faults: list[str] = field(default_factory=list)
    inputs: list[Path] = field(default_factory=list)


def read_facts(paths: Sequence[Path]) -> GoldFacts:
    """The sentences of the files. A row without a text, or with an id that was there, is a fault and passed over.

    Raises: InputError for a file that cannot be read, and where no row holds a sentence.
    """
    facts: list[Fact] = []
    faults: list[str] = []
    seen: set[str] = set()
    for path in paths:
        for line in _lines(path):
            number = line.where.rpartition(":")[2]
            try:
                fact = _fact(line, number if len(paths) == 1 else f"{path.stem}:{number}")
            except Misfit as misfit:
                faults.append(f"{line.where}: {misfit}")
                continue
            if fact.id in seen:
                faults.append(f"{line.where}: the id was there before")
            else:
                seen.add(fact.id)
                facts.append(fact)
    if not facts:
        raise InputError("--facts: no row holds a sentence", fix=_FIX, faults=faults)
    return GoldFacts(facts, faults, list(paths))


def _lines(path: Path) -> Iterator[Line]:
    """The rows of a file as values; `where` ends with the line, or the place in a JSON list."""
    if path.suffix.lower() == ".json":
        value = read_json(path)
        rows = value.get("facts", value) if isinstance(value, dict) else value
        if not isinstance(rows, list):
            raise InputError(f"{path}: is no list of sentences", fix=_FIX)
        yield from (Line(f"{path.name}:{position}", row) for position, row in enumerate(rows, start=1))
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from read_jsonl(path)
    else:
        # not splitlines, which also cuts at U+2028 and form feeds: the numbers are those that an editor shows
        texts = enumerate(read_text(path).split("\n"), start=1)
        yield from (Line(f"{path.name}:{number}", text) for number, text in texts if text.strip())


def _fact(line: Line, fallback: str) -> Fact:
    """The fact of a row. `fallback`: its id where it has none. Raises: Misfit."""
    if line.fault is not None:
        raise Misfit(line.fault)
    row: Any = {"fact": line.value} if isinstance(line.value, str) else line.value
    if not isinstance(row, dict):
        raise Misfit("neither a text nor an object with one")
    text = next((row[key] for key in FACTS if isinstance(row.get(key), str) and row[key].strip()), None)
    if text is None:
        raise Misfit(f"no text under {', '.join(FACTS)}")
    if len(text) > LONGEST:
        raise Misfit(f"{len(text):,} characters; a fact is one sentence, at most {LONGEST:,}")
    document, name = row.get("document"), row.get("id")
    if document is not None and not isinstance(document, str):
        raise Misfit("document is no text")
    if name is not None and (isinstance(name, bool) or not isinstance(name, (str, int))):
        raise Misfit("id is neither a text nor a whole number")
    return Fact(str(name) if name not in (None, "") else fallback, " ".join(text.split()), document)
