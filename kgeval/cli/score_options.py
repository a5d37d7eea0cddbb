"""The options of commands that read answers, and what the rooms below make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, Option, listed
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.files.rows import RowsWanted

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ANSWERS = click.Path(path_type=Path)


def filter_options() -> tuple[Callable[[F], F], ...]:
    """--filter-...: which questions of the files."""
    return (
        click.option(
            "--limit", "first", cls=Option, old="--filter-first-n", type=click.IntRange(min=1), metavar="N",
            help="Only the first N questions.",
        ),
        click.option("--filter-sample", "sample", type=click.IntRange(min=1), metavar="N", help="Only N questions, drawn by --seed."),
        click.option("--filter-id", "ids", multiple=True, metavar="ID", help="Only these questions (comma or repeated)."),
        click.option("--filter-level", "levels", multiple=True, metavar="NAME", help="Only questions of these levels."),
        click.option("--filter-kind", "kinds", multiple=True, metavar="NAME", help="Only questions of these types, named as in the file."),
        click.option("--filter-dataset", "datasets", multiple=True, metavar="NAME", help="Only questions of these datasets."),
        click.option("--filter-document", "documents", multiple=True, metavar="NAME", help="Only questions about these documents."),
        click.option("--filter-hops", "hops", multiple=True, metavar="N", help="Only questions with so many hops."),
    )


def rows_wanted(options: Mapping[str, Any]) -> RowsWanted:
    """What open_rows shall read. Raises: UsageError for faulty --map, --filter-hops and --shard."""
    from kgeval.files.rows import Filters, RowsWanted
    from kgeval.files.shards import parse_shard

    words = {name: tuple(listed(options[name])) for name in ("ids", "systems", "levels", "kinds", "datasets", "documents")}
    filters = Filters(first=options["first"], sample=options["sample"], seed=options["seed"], hops=_hops(options["hops"]), **words)
    return RowsWanted(
        answers=tuple(options["answers"]), questions=options["questions"], maps=maps_of(options["maps"]), filters=filters,
        allow_missing=options["allow_missing"], allow_duplicates=options["allow_duplicates"], system=options["system"],
        max_bad_rows=options["max_bad_rows"], shard=parse_shard(options["shard"]) if options.get("shard") else None,
    )


def maps_of(given: tuple[str, ...]) -> dict[str, str]:
    """--map NAME=FIELD as kgeval's field -> the file's. Raises: UsageError for one of another form."""
    pairs = [text.partition("=") for text in given]
    wrong = [text for text, (name, sign, field) in zip(given, pairs, strict=True) if not (name.strip() and sign and field.strip())]
    if wrong:
        raise UsageError("faulty --map: " + ", ".join(f"'{text}'" for text in wrong), fix="write NAME=FIELD, e.g. --map answer=response")
    return {name.strip(): field.strip() for name, _, field in pairs}


def _hops(given: tuple[str, ...]) -> tuple[int, ...]:
    parts = listed(given)
    wrong = [part for part in parts if not part.isdecimal()]
    if wrong:
        raise UsageError(f"--filter-hops {', '.join(wrong)}: no whole number", fix="write for example --filter-hops 2,3")
    return tuple(int(part) for part in parts)


