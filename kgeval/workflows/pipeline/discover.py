"""What lies in a folder: answers, questions, documents, graph files, gold; told by names and first rows. Nothing is written or asked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kgeval.errors import KgevalError
from kgeval.limits import parse_json
from kgeval.tables.shapes import ShapeRole
from kgeval.tables.stream import stream

if TYPE_CHECKING:
    from kgeval.records import Record

Sort = Literal["answers", "questions", "documents", "graph", "gold"]
TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
TEXTS = (".txt", ".text", ".md", ".markdown", ".rst", ".pdf", ".docx")
GRAPHS = (".graphml",)
# Microsoft GraphRAG's, LightRAG's, and tables: their folder is the graph
EXPORTS = ("entities.parquet", "graph_chunk_entity_relation.graphml", "nodes.csv", "nodes.parquet")
NOT_TEXTS = frozenset(("readme.md", "license.md", "changelog.md", "contributing.md", "requirements.txt", "license.txt"))
PEEKED = 20
MOST = 2_000  # files looked at
HEAD = 65_536
_NODES, _LINKS = re.compile(rb'^\s*\{.*"nodes"\s*:\s*\[', re.DOTALL), re.compile(rb'"(links|edges)"\s*:\s*\[')
_REPORT = re.compile(rb'"kgeval"\s*:\s*"\d')  # ours names its version; audits hold the nodes and relations of pictures
LARGE = 200_000_000  # bytes of a JSON file, which is read as a whole


@dataclass(frozen=True)
class FoundFiles:
    """What was found, sorted, by kind. `folders`: folders that hold documents, to be given as a whole. `more`: files not looked at."""

    answers: tuple[Path, ...] = ()
    questions: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    graphs: tuple[Path, ...] = ()
    gold: tuple[Path, ...] = ()
    more: bool = False


def look(folder: Path) -> FoundFiles:
    """Looks at the files of a folder and below, hidden ones and what kgeval itself wrote left out."""
    found: dict[Sort, list[Path]] = {"answers": [], "questions": [], "documents": [], "graph": [], "gold": []}
    paths = list(islice(_files(folder), MOST + 1))
    exports = {path.parent for path in paths if path.name in EXPORTS}
    ours = {path.parent for path in paths if path.name == "run.json" and _is_run(path)}
    for path in paths[:MOST]:
        if ours & {path.parent, *path.parents}:
            continue
        sort = None if path.parent in exports else sort_of(path)
        if sort is not None:
            found[sort].append(path)
    found["graph"] += sorted(exports)
    return FoundFiles(
        tuple(found["answers"]), tuple(found["questions"]), _places(folder, found["documents"]), tuple(found["graph"]),
        tuple(found["gold"]), more=len(paths) > MOST,
    )


def sort_of(path: Path) -> Sort | None:
    """What a file is; None: none of these, or it cannot be told."""
    ending = path.suffix.lower()
    if ending in GRAPHS:
        return "graph"
    if ending in TEXTS:
        return None if path.name.lower() in NOT_TEXTS or (ending == ".md" and is_ours(path)) else "documents"
    if ending not in TABLES or (ending == ".json" and path.stat().st_size > LARGE):
        return None
    if ending == ".json" and _is_node_link(path):
        return "graph"
    names = _names(path)
    return _by_names(names) if names else None


def _by_names(names: frozenset[str]) -> Sort | None:
    answers, unclear = _fields(names, "answers")
    if "answer" in answers and answers & {"question", "id"}:
        return "answers"
    questions, _ = _fields(names, "questions")
    if "question" in questions:
        return "answers" if unclear and not questions & {"reference", "evidence"} else "questions"
    from kgeval.text.document_rows import columns

    if {"subject", "object"} <= names or {"head", "tail"} <= names:
        return "gold"
    return "documents" if "text" in columns(dict.fromkeys(names)) else None


def _fields(names: frozenset[str], role: ShapeRole) -> tuple[frozenset[str], bool]:
    """The fields that a file with these names has if it is read as `role`, and whether it could not be told."""
    from kgeval.tables.shapes import FileNames, reading_of, top

    try:
        reading = reading_of(FileNames("", names, role))
    except KgevalError:  # two meanings, or a file of questions read as answers
        return frozenset(), True
    if role == "answers" and reading.shape.only is not None:
        return frozenset(), False
    return frozenset(ours for ours, theirs in reading.fields.items() if any(name in names or top(name) in names for name in theirs)), False


def _names(path: Path) -> frozenset[str]:
    """The names of the fields of the first rows; none for a file that is no table or was written by a run of kgeval."""
    try:
        lines = list(islice(stream(path), PEEKED))
    except (KgevalError, OSError, json.JSONDecodeError):
        return frozenset()
    names = {name for line in lines if line.fault is None and isinstance(line.value, dict) for name in line.value}
    return frozenset() if "schema_version" in names or {"metric", "status"} <= names or _is_record(names) else frozenset(names)


def _is_node_link(path: Path) -> bool:
    """True for a graph as networkx writes it to JSON: nodes near the beginning, and links or edges."""
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return bool(_NODES.search(text[:HEAD]) and _LINKS.search(text) and not _REPORT.search(text))


def is_ours(path: Path) -> bool:
    """True for a Markdown report of kgeval: it ends with a mark that no page shows."""
    from kgeval.reports.write import MARK

    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2 * len(MARK)))
        return MARK.encode() in file.read()


def _is_record(names: set[str]) -> bool:
    """True for rows that only kgeval writes: verdicts, labels, structures. Some have a text, and are no documents."""
    from kgeval.records import ComparisonVerdict, HumanLabel, Structure, Verdict

    def fits(kind: type[Record]) -> bool:
        needed = {name for name, field in kind.model_fields.items() if field.is_required()}
        return needed <= names <= set(kind.model_fields)

    return any(fits(kind) for kind in (Verdict, ComparisonVerdict, HumanLabel, Structure))


def _is_run(path: Path) -> bool:
    """True for the ledger of a run of `kgeval run`, or a result's manifest: its folder is kgeval's."""
    try:
        value = parse_json(path.read_text(encoding="utf-8")) if path.stat().st_size < LARGE else None
    except (OSError, ValueError):
        return False
    return isinstance(value, dict) and "kgeval" in value and bool({"stages", "command"} & set(value))


def _files(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")) and name not in ("out", "node_modules", "venv"))
        yield from (Path(top, name) for name in sorted(names) if not name.startswith("."))


def _places(folder: Path, documents: list[Path]) -> tuple[Path, ...]:
    """Documents as paths for a command: a folder below that holds several of them stands for all of them."""
    inside: dict[Path, int] = {}
    for path in documents:
        part = path.relative_to(folder).parts[0]
        inside[folder / part] = inside.get(folder / part, 0) + 1
    return tuple(sorted(inside))
