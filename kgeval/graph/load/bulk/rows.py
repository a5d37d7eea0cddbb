"""The good rows of the user's tables, column by column, in batches: fields read, bad rows noted, ids numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kgeval.graph.load import nodes, table_files
from kgeval.graph.load.bulk import cells
from kgeval.graph.load.bulk.keep import CHUNKS, DOCUMENTS, ENTITIES, Keep, tables
from kgeval.graph.load.bulk.places import keys

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

Read = Callable[["pa.Array", str], tuple["pa.Array", cells.Faults]]
Rows = dict[str, Any]  # {field: column}, and "further": {property: column}
SEPARATORS = ";|"


def lists(column: pa.Array, field: str) -> tuple[pa.Array, cells.Faults]:
    """Lists of ids or names, as the ordinary importer takes them apart."""
    return cells.texts(column, field, separators=SEPARATORS)


def types(column: pa.Array, field: str) -> tuple[pa.Array, cells.Faults]:
    """Types; of several labels the first that is no base label."""
    import pyarrow as pa

    return cells.each(column, lambda cell: nodes.type_of(cell, field), pa.string())


READERS: dict[str, dict[str, Read]] = {
    table_files.NODES: {
        "id": cells.key, "name": cells.text, "type": types, "description": cells.description, "aliases": lists, "chunk_ids": lists,
        "document_ids": lists, "embedding": cells.numbers,
    },
    table_files.RELATIONS: {
        "source": cells.key, "target": cells.key, "predicate": cells.needed, "description": cells.description, "weight": cells.number,
        "chunk_ids": lists,
    },
    table_files.CHUNKS: {"id": cells.key, "text": cells.text, "index": cells.whole_number, "documents": lists},
    table_files.DOCUMENTS: {"id": cells.key, "title": cells.text},
}


def good_rows(keep: Keep, paths: tuple[Path, ...], kind: str, unique: str | None = None) -> Iterator[tuple[str, Rows]]:
    """The good rows of all files of a kind, in batches, with the file's place as text; bad rows are noted.

    unique: the kind of node whose ids these are; rows with an id that was there before are bad. Their numbers come as "numbers".
    """
    for at, (table, columns) in enumerate(tables(paths, kind)):
        keep.notes += [note for note in columns.notes if note not in keep.notes]
        for batch in table.batches():
            rows, faults = _rows(batch.data, kind, columns)
            if unique is not None:
                faults |= _repeated(keep, unique, rows["id"], faults)
            keep.counts["rows"] += batch.data.num_rows
            if faults:
                blank = _blank(batch.data) if table.is_csv else set()
                keep.counts["rows"] -= len(blank)
                keep.fault(table, batch, {at: what for at, what in faults.items() if at not in blank})
                rows = _without(rows, faults)
            count = len(next(iter(rows.values())))
            if unique is not None:
                rows["numbers"] = keep.take(count)
                keep.places[unique].add(keys(rows["id"]), rows["numbers"])
            keep.heard(kind, count)
            yield str(at), rows
        keep.torn(table)


def _rows(data: pa.RecordBatch, kind: str, columns: table_files.Columns) -> tuple[Rows, cells.Faults]:
    found: Rows = {}
    faults: cells.Faults = {}
    for field, read in READERS[kind].items():
        if field in columns.fields:
            found[field], wrong = read(data.column(columns.fields[field]), field)
            faults = wrong | faults
    found["further"] = {name: _property(data.column(column)) for column, name in columns.further.items()}
    return found, faults


def _blank(data: pa.RecordBatch) -> set[int]:
    """The rows of text in which every cell is blank: all of them are faults, since an id is missing, but they are no rows."""
    import pyarrow.compute as pc

    found = None
    for column in data.columns:
        blank = pc.or_(pc.utf8_is_space(column), pc.equal(pc.binary_length(column), 0))
        found = blank if found is None else pc.and_(found, blank)
    return set(pc.indices_nonzero(found).to_pylist())


def _property(column: pa.Array) -> pa.Array:
    """A further column as a property: an empty text or NaN is no property."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return pc.if_else(pc.equal(pc.binary_length(column), 0), pa.scalar(None, pa.string()), column)
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    return column


def _repeated(keep: Keep, kind: str, ids: pa.Array, faults: cells.Faults) -> cells.Faults:
    """The rows whose id an earlier good row has."""
    import numpy as np

    wanted = keys(ids)
    good = np.ones(len(wanted), bool)
    good[list(faults)] = False
    places = np.flatnonzero(good)
    again = np.ones(len(places), bool)
    again[np.unique(wanted[places], return_index=True)[1]] = False
    again |= keep.places[kind].find(wanted[places]) >= 0
    word = {ENTITIES: "entity", CHUNKS: "chunk", DOCUMENTS: "document"}[kind]
    return {
        int(at): f"the {word} id {ids[int(at)].as_py()[:80]!r} was given before; ids must be unique" for at in places[again]
    }


def _without(rows: Rows, faults: cells.Faults) -> Rows:
    import numpy as np
    import pyarrow as pa

    kept = np.ones(len(next(iter(rows.values()))), bool)
    kept[list(faults)] = False
    mask = pa.array(kept)
    return {
        field: {name: column.filter(mask) for name, column in value.items()} if field == "further" else value.filter(mask)
        for field, value in rows.items()
    }
