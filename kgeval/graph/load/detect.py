"""Finds out the format of a path, and says what was seen where none or several fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from kgeval.errors import InputError
from kgeval.format import first_of
from kgeval.graph.load import graphml, lightrag, msgraphrag, node_link, table_files, tables, triples
from kgeval.graph.load.model import FORMATS, Loaded
from kgeval.tables import check_readable, read_json, read_text

READERS: dict[str, Callable[[Path], Loaded]] = {
    "msgraphrag": msgraphrag.read, "lightrag": lightrag.read, "graphml": graphml.read, "triples": triples.read, "json": node_link.read,
    "tables": lambda folder: tables.read(table_files.in_folder(folder)),
}
FOLDER_FORMATS = ("msgraphrag", "lightrag", "tables")
SUFFIXES = {
    ".graphml": "graphml", ".xml": "graphml", ".csv": "triples", ".tsv": "triples", ".tab": "triples", ".txt": "triples",
    ".jsonl": "triples", ".ndjson": "triples",
}
KNOWN = (
    "a folder of MS GraphRAG (entities.parquet), LightRAG (kv_store_*.json, *.graphml) or tables (nodes.csv, relations.csv), "
    "or one file: .graphml, .csv, .tsv, .jsonl, .json (triples or node-link)"
)


def load(path: Path, form: str | None = None) -> Loaded:
    """The graph at `path`, read and checked as `form`, or as the format that is found.

    Raises: InputError where nothing is there, no format fits or two do, or the file cannot be read.
    """
    chosen = form or detect(path)
    if form in FOLDER_FORMATS and not path.is_dir():
        _exists(path)
        raise InputError(f"{path}: is a file; {form} is a folder", fix=f"give {path.parent}")
    loaded = READERS[chosen](path)
    # With faults it is refused later, and with their lines.
    if not loaded.entities and not loaded.faults:
        raise InputError(f"{path}: read as {chosen}, but it holds no entity and no relation", fix="check the file, or its format with --as")
    return loaded


def detect(path: Path) -> str:
    """The format's name, one of FORMATS. Raises: InputError that says what was seen."""
    _exists(path)
    return _of_folder(path) if path.is_dir() else _of_file(path)


def _exists(path: Path) -> None:
    try:
        if path.is_dir():
            next(path.iterdir(), None)
        else:
            check_readable(path)
    except PermissionError as cause:
        raise InputError(f"{path}: may not be read by this user", fix="chmod u+rx on the folder, or run as its owner") from cause


def _of_folder(path: Path) -> str:
    names = sorted(item.name for item in path.iterdir())
    seen = {
        "msgraphrag": [table.name for table in msgraphrag.tables(path).values()],
        "lightrag": [name for name in names if name == lightrag.GRAPH or name.startswith("kv_store_")],
        "tables": table_files.seen(path),
    }
    fitting = [form for form, files in seen.items() if files]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        what = "; ".join(f"{form}: {', '.join(files[:3])}" for form, files in seen.items())
        raise InputError(f"{path}: holds two formats ({what})", fix="choose one with --as " + " or --as ".join(fitting))
    raise InputError(f"{path}: no graph found; the folder holds: {first_of(names, 12) or 'nothing'}", fix=_way_out(path, names))


def _way_out(path: Path, names: list[str]) -> str:
    """What to give in place of a folder without a graph."""
    below = [*path.glob("*/*entities.parquet"), *path.glob("*/*/*/*entities.parquet"), *path.glob(f"*/{lightrag.GRAPH}")]
    below += path.glob("*/kv_store_full_entities.json")
    if below:
        return f"give the folder below it: {sorted(below)[0].parent}"
    files = [name for name in names if Path(name).suffix.lower() in {*SUFFIXES, ".json"}]
    if files:
        return "give one of its files: " + ", ".join(files[:5])
    archives = [name for name in names if name.lower().endswith((".zip", ".gz", ".7z", ".tar"))]
    return f"unpack {archives[0]} first" if archives else f"kgeval reads {KNOWN}"


def _of_file(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        raise InputError(f"{path}: one table of several", fix=f"give the folder: {path.parent}")
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if suffix != ".json":
        head = read_text(path)[:4000].lstrip()
        if head.startswith("<") and "graphml" in head:
            return "graphml"
        known = f"say it with --as {'|'.join(FORMATS)}; kgeval reads {KNOWN}"
        raise InputError(f"{path}: no format is known by the ending '{suffix}'", fix=known)
    if path.name.startswith("kv_store_"):
        raise InputError(f"{path}: one store of LightRAG's several", fix=f"give the folder: {path.parent}")
    data = read_json(path)
    if isinstance(data, dict) and isinstance(data.get("nodes"), list):
        return "json"
    if isinstance(data, list) or (isinstance(data, dict) and any(isinstance(data.get(name), list) for name in triples.LISTS)):
        return "triples"
    seen = ", ".join(list(data)[:12]) if isinstance(data, dict) else json.dumps(data)[:60]
    raise InputError(f"{path}: JSON, but neither triples nor node-link; it holds: {seen}", fix="see kgeval help import for both shapes")
