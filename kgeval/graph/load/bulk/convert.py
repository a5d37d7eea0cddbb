"""The user's tables as CSV files for Neo4j's import tool: checked whole before the tool runs, in flat memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgeval.errors import UsageError
from kgeval.graph.load.bulk import stages
from kgeval.graph.load.bulk.keep import ENTITIES, Fault, Keep, TooManyError
from kgeval.graph.load.bulk.places import Places
from kgeval.graph.load.bulk.sheets import SEPARATOR, Group, Sheet
from kgeval.graph.load.bulk.source import lines
from kgeval.graph.load.table_files import Inputs

Progress = Callable[[str, int, int], None]
MOST_TOLD = 50


@dataclass(frozen=True)
class Converted:
    """What the tool is given. `nodes` and `relations` count those in its files; `counts`: entities, relations, chunks, documents,
    dangling_entities, dangling_relations, dangling_chunks, same_names, unnamed, rows, bad. `faults`: the first 50 bad rows with
    file and line. `longest`: bytes of the longest row; `size`: bytes of all files."""

    folder: Path
    node_groups: tuple[Group, ...]
    relation_groups: tuple[Group, ...]
    nodes: int
    relations: int
    counts: dict[str, int]
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    longest: int
    size: int


def convert(
    inputs: Inputs, folder: Path, graph: str, *, name_keys: Callable[[Any], Any], progress: Progress = lambda _stage, _done, _total: None
) -> Converted:
    """Writes the tool's files into `folder`. `name_keys`: a column of names -> their normal forms for the index.

    Raises: InputError for a file that cannot be read or lacks a column; UsageError for a name that the tool cannot write.
    """
    if SEPARATOR in graph:
        raise UsageError("--graph: holds a control character", fix="choose another name")
    keep = Keep(folder, graph, name_keys, progress)
    listed = bool(inputs.chunks)
    documents, chunks = stages.documents_as_nodes(keep), stages.chunks_as_nodes(keep, dangling=listed)
    ends = stages.ends_as_nodes(keep, dangling=bool(inputs.nodes))
    nodes = stages.documents(keep, inputs.documents)
    more, links = stages.chunks(keep, inputs.chunks, documents)
    entities, found = _entities(keep, inputs, chunks, documents)
    relations = _relations(keep, inputs, ends, None if listed else chunks)
    keep.counts["entities"] = sum(sheet.rows for sheet in found) + ends.rows
    keep.counts["dangling_entities"] = ends.rows if inputs.nodes else 0
    keep.counts["dangling_chunks"] = chunks.rows if listed else 0
    keep.counts["chunks"] = sum(sheet.rows for sheet in more) + chunks.rows
    keep.counts["documents"] = nodes[0].rows + documents.rows
    keep.counts["relations"] = sum(sheet.rows for sheet in relations)
    all_nodes = [*nodes, *more, *found, documents.sheet, chunks.sheet, ends.sheet]
    return _whole(keep, all_nodes, [*links, entities.mentions, *relations])


def _entities(keep: Keep, inputs: Inputs, chunks: Any, documents: Any) -> tuple[stages.Entities, list[Sheet]]:
    """The entities; once more without labels where there are too many types."""
    before = replace(keep, counts=Counter(keep.counts), faults=list(keep.faults), notes=list(keep.notes))
    for labelled in (True, False):
        stage = stages.Entities(keep, labelled=labelled)
        try:
            return stage, stage.convert(inputs.nodes, chunks, documents)
        except TooManyError:
            stage.discard()
            keep.restore(before)
            keep.places[ENTITIES] = Places()
    raise AssertionError("a stage without labels has no bound")


def _relations(keep: Keep, inputs: Inputs, ends: Any, chunks: Any) -> list[Sheet]:
    """The relations; once more without types of their own where there are too many predicates."""
    before = replace(keep, counts=Counter(keep.counts), faults=list(keep.faults), notes=list(keep.notes))
    for typed in (True, False):
        stage = stages.Relations(keep, ends, typed=typed, first_named=before.numbers)
        try:
            return stage.convert(inputs.relations, chunks, dangling=bool(inputs.nodes))
        except TooManyError:
            stage.discard()
            keep.restore(before)
    raise AssertionError("a stage without types has no bound")


def _whole(keep: Keep, nodes: list[Sheet], relations: list[Sheet]) -> Converted:
    groups = [[group for group in map(Sheet.close, sheets) if group is not None] for sheets in (nodes, relations)]
    size = sum((keep.folder / name).stat().st_size for group in (*groups[0], *groups[1]) for name in group.files)
    return Converted(
        keep.folder, tuple(groups[0]), tuple(groups[1]), sum(s.rows for s in nodes), sum(s.rows for s in relations),
        dict(keep.counts), _told(keep.faults[:MOST_TOLD]), tuple(keep.notes),
        max((sheet.longest for sheet in (*nodes, *relations)), default=0), size,
    )


def _told(faults: list[Fault]) -> tuple[str, ...]:
    """Bad rows with file and line, in their order; each file is gone through once."""
    rows: dict[Path, set[int]] = {}
    for fault in faults:
        rows.setdefault(fault.path, set()).add(fault.row)
    where = {path: lines(path, wanted) for path, wanted in rows.items()}
    return tuple(f"{where[fault.path][fault.row]}: {fault.what}" for fault in faults)
