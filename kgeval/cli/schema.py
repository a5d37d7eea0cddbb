"""`kgeval schema`: the records that cross kgeval's border, as JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.derive import CommandGroup
from kgeval.cli.show import form_option
from kgeval.errors import InputError, UsageError
from kgeval.format import first_lines
from kgeval_toolkit import REINSTALL

if TYPE_CHECKING:
    from kgeval.tables import Line

ENDING = ".schema.json"
SHOWN = 20


@click.group(cls=CommandGroup)
def schema() -> None:
    """The records that kgeval reads and writes, as JSON Schemas."""


@schema.command("list")
@form_option()
def list_(form: str) -> None:
    """List all schemas with the first line of what each record is."""
    found = {name: _read(path) for name, path in _files().items()}
    if form == "json":
        click.echo(json.dumps([{"name": name, "description": _summary(one)} for name, one in found.items()], indent=2, ensure_ascii=False))
        return
    for name, one in found.items():
        click.echo(f"{name:24} {_summary(one)}")


@schema.command()
@click.argument("name")
def show(name: str) -> None:
    """Print a schema (draft 2020-12)."""
    click.echo(json.dumps(_read(_file(name)), indent=2, ensure_ascii=False))


@schema.command()
@click.argument("name")
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
def check(name: str, file: Path | None) -> int:
    """Hold every row of FILE (JSON, JSONL, CSV or Parquet) against the record NAME.

    Exit codes: 0 all rows fit, 1 some do not (each named with its line), 2 no such schema or file.
    """
    from pydantic import ValidationError

    from kgeval import records
    from kgeval.config import explain

    _file(name)
    if file is None:
        raise UsageError("no file is named", fix=f"kgeval schema check {name} FILE")
    record = getattr(records, "".join(part.capitalize() for part in name.split("-")))
    rows, faults = 0, list[str]()
    for line in _rows(file):
        rows += 1
        try:
            if line.fault is None:
                record.model_validate(line.value)
            else:
                faults.append(f"{line.where}: {line.fault}")
        except ValidationError as cause:
            faults += [f"{line.where}: {fault}" for fault in explain(cause)]
    return _told(name, rows, faults)


def _rows(file: Path) -> Iterator[Line]:
    """The rows of a file; an object in a JSON file is one row."""
    from kgeval.tables import Line, read_json
    from kgeval.tables.stream import stream

    value = read_json(file) if file.suffix.lower() == ".json" else None
    return iter((Line(file.name, value),)) if isinstance(value, dict) else stream(file)


def _told(name: str, rows: int, faults: list[str]) -> int:
    from kgeval.cli.common import say

    for line in first_lines(faults, SHOWN):
        say(line)
    click.echo(f"{rows:,} rows, {len(faults):,} faults against {name}")
    return 1 if faults else 0


def _files() -> dict[str, Path]:
    """Name -> file of every schema: inside the package in a wheel, beside it in an editable install."""
    inside = Path(__file__).parents[1] / "schemas"
    root = inside if inside.is_dir() else Path(__file__).parents[2] / "schemas"
    return {path.name.removesuffix(ENDING): path for path in sorted(root.glob(f"*{ENDING}"))}


def _file(name: str) -> Path:
    files = _files()
    if name not in files:
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(name, files))
        raise UsageError(f"no such schema: {name}", fix=f"did you mean: {near}" if near else "kgeval schema list names all")
    return files[name]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise InputError(f"{path}: cannot be read ({cause})", fix=REINSTALL) from cause
    return content


def _summary(schema: Mapping[str, Any]) -> str:
    """The first sentence of what a record is. One that holds others of its kind stands among the definitions."""
    if "$ref" in schema:
        schema = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    text = str(schema.get("description", "")).strip().split("\n")[0]
    return text.partition(". ")[0].rstrip(".")
