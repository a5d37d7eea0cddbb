"""Which documents a model may know from training: told by name, or by their dates of publication against the model's cutoff."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from kgeval.auditing.completeness.gold import document_keys
from kgeval.errors import InputError, UsageError
from kgeval.format import first_lines

NAMED = ("document", "id", "doc_id", "document_id", "title", "name", "corpus_name", "file_path", "file_name")
DATED = ("published", "publication_date", "published_at", "date", "year", "publication_year")
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[T ].*)?")
MOST_FAULTS = 10


@dataclass(frozen=True)
class Knowledge:
    """What is told of documents. `known`: a way to name a document -> whether the model may know it (None: the date does not decide);
    `published`: a way to name it -> its date as given. `rest`: what holds for all other documents."""

    known: dict[str, bool | None] = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)
    rest: bool | None = None
    told: bool = False

    def of(self, document: str) -> bool | None:
        """Whether the model may know this document; None: not told."""
        return next((self.known[key] for key in document_keys(document) if key in self.known), self.rest)

    def date_of(self, document: str) -> str | None:
        """Its date of publication, as given."""
        return next((self.published[key] for key in document_keys(document) if key in self.published), None)


def named_knowledge(names: Collection[str], documents: Collection[str]) -> Knowledge:
    """The documents named are known, all others are not. Raises: UsageError for names that no document of the questions has."""
    keys = {key for document in documents for key in document_keys(document)}
    strange = [name for name in names if not keys & set(document_keys(name))]
    if strange:
        few = ", ".join(sorted(documents)[:10])
        raise UsageError(
            f"--known: no question is about {', '.join(strange[:MOST_FAULTS])}", fix=f"documents of the questions: {few or '(none told)'}",
        )
    return Knowledge({key: True for name in names for key in document_keys(name)}, rest=False, told=True)


def dated_knowledge(path: Path, cutoff: str) -> Knowledge:
    """Documents published before the cutoff are known. A date may be a year or a month: it decides only where all of it is on one side.

    Raises: UsageError for a cutoff that is no date; InputError with every row that names no document, or has no date that can be read.
    """
    from kgeval.tables.stream import stream

    limit = days_of(cutoff)
    if limit is None:
        raise UsageError(f"--model-cutoff {cutoff[:40]}: no date", fix="write 2024-06-30, 2024-06 or 2024")
    knowledge, faults = Knowledge(told=True), []
    for line in stream(path):
        row = {str(key).strip().lower(): value for key, value in line.value.items()} if isinstance(line.value, dict) else {}
        names = [str(row[name]) for name in NAMED if row.get(name) not in (None, "")]
        date_text = next((str(row[name]) for name in DATED if row.get(name) not in (None, "")), "")
        days = days_of(date_text)
        if line.fault or not names or days is None:
            undated = f"'{date_text[:40]}' is no date" if date_text else "no date of publication"
            faults.append(f"{line.where}: {line.fault or (undated if names else 'no document is named')}")
            continue
        for key in {key for name in names for key in document_keys(name)}:
            # None: a year or a month that the cutoff lies within does not say on which side the document is
            knowledge.known[key] = True if days[1] < limit[0] else False if days[0] > limit[1] else None
            knowledge.published[key] = date_text.strip()
    if faults:
        fix = f"a row needs a document ({', '.join(NAMED[:3])} ...) and a date ({', '.join(DATED[:3])} ...) as 2024-06-30, 2024-06 or 2024"
        raise InputError(f"{path.name}: rows that cannot be read", faults=first_lines(faults, MOST_FAULTS), fix=fix)
    return knowledge


def days_of(text: str) -> tuple[date, date] | None:
    """The first and the last day that a date may mean; None for what is no date."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        first = date(year or 0, month or 1, day or 1)
        last_month = month or 12
        return first, date(first.year, last_month, day or monthrange(first.year, last_month)[1])
    except ValueError:
        return None


def sides(documents: Iterable[str], knowledge: Knowledge) -> dict[bool, list[str]]:
    """The documents that the model may know, and those that it cannot; the others are in neither list."""
    by_side: dict[bool, list[str]] = {True: [], False: []}
    for document in documents:
        if (known := knowledge.of(document)) is not None:
            by_side[known].append(document)
    return by_side
