"""What of a thing never changes, so that two nodes that differ in it are two things: a date of birth, an ISBN."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kgeval.auditing.check import CheckRun
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile

CONSTANT = re.compile(
    r"birth|born|^dob$|death|died|deceased|founded|foundation|established|incorporated|inception|released?$|published|premiere|"
    r"isbn|issn|doi$|orcid|imdb|tmdb|wikidata|musicbrainz|iso_?\d|^iso$|ssn$|vat|passport|iban|cusip|isin|lei$|duns|cas_?n|inchi|nationality",
    re.IGNORECASE,
)
MOST = 10  # nodes of one name that are held against each other
BATCH = 1_000


def parted_by_constants(check: CheckRun, groups: Mapping[int, list[Row]], sizes: Mapping[int, int]) -> dict[int, list[list[Row]]]:
    """Of groups of nodes with one name, those whose nodes differ in what never changes: by code the parts that may each be one thing.

    Groups of labels that a writer extracted from texts, and of more than ten nodes, are not looked at.
    """
    by_type = constant_keys(check.settings["profile"])
    looked_at = {
        code: rows for code, rows in groups.items() if sizes[code] == len(rows) <= MOST and rows[0]["type"] in by_type
    }
    if not looked_at:
        return {}
    keys = sorted({key for found in by_type.values() for key in found})
    ids = [row["element_id"] for rows in looked_at.values() for row in rows]
    values = {row["element_id"]: row["values"] for row in check.rows_of("entity-values", ids, size=BATCH, keys=keys)}
    parts = {code: _parts(rows, values) for code, rows in looked_at.items()}
    return {code: found for code, found in parts.items() if len(found) > 1}


def constant_keys(profile: GraphProfile | None) -> dict[str, list[str]]:
    """By label that people made, its properties that never change."""
    if profile is None:
        return {}
    made = [label for label in profile.labels if not label.is_from_texts]
    found = {label.label: [one.key for one in label.properties if CONSTANT.search(one.key)] for label in made}
    return {label: keys for label, keys in found.items() if keys}


def agree_where_filled(a: Sequence[str | None], b: Sequence[str | None]) -> bool:
    """Whether no value of two nodes differs, but for case, where both have one."""
    return all(x is None or y is None or x.strip().casefold() == y.strip().casefold() for x, y in zip(a, b, strict=False))


def _parts(rows: Sequence[Row], values: Mapping[str, Sequence[str | None]]) -> list[list[Row]]:
    """The rows in parts, each with those before it that it does not differ from in any value that both have."""
    parts: list[list[Row]] = []
    for row in rows:
        own = values.get(row["element_id"], ())
        part = next((part for part in parts if all(agree_where_filled(own, values.get(other["element_id"], ())) for other in part)), None)
        if part is None:
            parts.append([row])
        else:
            part.append(row)
    return parts
