"""The user's tables as CSV files for Neo4j's import tool: checked whole before the tool runs, in flat memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kgeval.errors import UsageError
from kgeval.graph.load.bulk import stages
from kgeval.graph.load.bulk.conversion import CHUNKS, DOCUMENTS, ENTITIES, BadRow, Conversion, NamedNodes, TooManyTypesError
from kgeval.graph.load.bulk.sheets import SEPARATOR, SheetFiles, ToolSheet
from kgeval.graph.load.bulk.source import lines
from kgeval.graph.load.table_files import TableInputs
from kgeval.graph.load.writer import Progress

MOST_SHOWN = 50
S = TypeVar("S", stages.EntityStage, stages.RelationStage)


@dataclass(frozen=True)
class ToolFiles:
    """What the tool is given. `nodes` and `relations` count those in its files; `counts`: entities, relations, chunks, documents,
    dangling_entities, dangling_relations, dangling_chunks, same_names, unnamed, rows, bad. `faults`: the first 50 bad rows with
    file and line. `longest`: bytes of the longest row; `size`: bytes of all files."""

    folder: Path
    node_groups: tuple[SheetFiles, ...]
    relation_groups: tuple[SheetFiles, ...]
    nodes: int
    relations: int
    counts: dict[str, int]
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    longest: int
    size: int


def convert(
    inputs: TableInputs, folder: Path, graph: str, *, name_keys: Callable[[Any], Any],
    progress: Progress = lambda _stage, _done, _total: None,
) -> ToolFiles:
    """Writes the tool's files into `folder`. `name_keys`: a column of names -> their normal forms for the index.

    Raises: InputError for a file that cannot be read or lacks a column; UsageError for a name that the tool cannot write.
    """
    if SEPARATOR in graph:
        raise UsageError("--graph: holds a control character", fix="choose another name")
    conversion = Conversion(folder, graph, name_keys, progress)
    listed = bool(inputs.chunks)
    documents, chunks = NamedNodes(conversion, DOCUMENTS), NamedNodes(conversion, CHUNKS, dangling=listed)
    ends = NamedNodes(conversion, ENTITIES, dangling=bool(inputs.nodes))
    document_sheets = stages.documents(conversion, inputs.documents)
    chunk_sheets, links = stages.chunks(conversion, inputs.chunks, documents)
    entities, entity_sheets = _stage(
        conversion, lambda typed: stages.EntityStage(conversion, typed=typed), lambda stage: stage.convert(inputs.nodes, chunks, documents)
    )
    # numbers are given in turn: an entity with this one or a higher one is named by relations alone
    first_named = conversion.numbers
    _, relations = _stage(
        conversion, lambda typed: stages.RelationStage(conversion, ends, typed=typed, first_named=first_named),
        lambda stage: stage.convert(inputs.relations, None if listed else chunks, dangling=bool(inputs.nodes)),
    )
    conversion.counts["entities"] = sum(sheet.rows for sheet in entity_sheets) + ends.sheet.rows
    conversion.counts["dangling_entities"] = ends.sheet.rows if inputs.nodes else 0
    conversion.counts["dangling_chunks"] = chunks.sheet.rows if listed else 0
    conversion.counts["chunks"] = sum(sheet.rows for sheet in chunk_sheets) + chunks.sheet.rows
    conversion.counts["documents"] = document_sheets[0].rows + documents.sheet.rows
    conversion.counts["relations"] = sum(sheet.rows for sheet in relations)
    all_nodes = [*document_sheets, *chunk_sheets, *entity_sheets, documents.sheet, chunks.sheet, ends.sheet]
    return _whole(conversion, all_nodes, [*links, entities.mentions, *relations])


def _stage(conversion: Conversion, make: Callable[[bool], S], convert: Callable[[S], list[ToolSheet]]) -> tuple[S, list[ToolSheet]]:
    """A stage and its sheets; once more without labels (relation types) of its own where there are too many types."""
    stage = make(True)
    try:
        with conversion.attempt():
            return stage, convert(stage)
    except TooManyTypesError:
        stage.discard()
    stage = make(False)
    return stage, convert(stage)


def _whole(conversion: Conversion, nodes: list[ToolSheet], relations: list[ToolSheet]) -> ToolFiles:
    groups = [[group for group in map(ToolSheet.close, sheets) if group is not None] for sheets in (nodes, relations)]
    size = sum((conversion.folder / name).stat().st_size for group in (*groups[0], *groups[1]) for name in group.files)
    return ToolFiles(
        conversion.folder, tuple(groups[0]), tuple(groups[1]), sum(s.rows for s in nodes), sum(s.rows for s in relations),
        dict(conversion.counts), _described(conversion.faults[:MOST_SHOWN]), tuple(conversion.notes),
        max((sheet.longest for sheet in (*nodes, *relations)), default=0), size,
    )


def _described(faults: list[BadRow]) -> tuple[str, ...]:
    """Bad rows with file and line, in their order; each file is gone through once."""
    rows: dict[Path, set[int]] = {}
    for fault in faults:
        rows.setdefault(fault.path, set()).add(fault.row)
    where = {path: lines(path, wanted) for path, wanted in rows.items()}
    return tuple(f"{where[fault.path][fault.row]}: {fault.what}" for fault in faults)
