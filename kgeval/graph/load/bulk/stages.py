"""The stages of a conversion: documents, chunks, entities, relations. Each goes through its files batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from kgeval.graph.load import naming, nodes, table_files
from kgeval.graph.load.bulk import cells
from kgeval.graph.load.bulk.conversion import CHUNKS, DOCUMENTS, ENTITIES, Conversion, NamedNodes, TooManyTypesError, same, tables
from kgeval.graph.load.bulk.id_numbers import IdNumbers, keys
from kgeval.graph.load.bulk.sheets import END, IDS, LABEL, SEPARATOR, START, TYPE, ToolSheet
from kgeval.graph.load.table_files import SEPARATORS

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

# The good rows of the user's tables, column by column, in batches: fields read, bad rows noted, ids numbered.

Read = Callable[["pa.Array", str], tuple["pa.Array", cells.CellFaults]]
Rows = dict[str, Any]  # {field: column}, and "further": {property: column}
lists = partial(cells.texts, separators=SEPARATORS)  # of ids or names, as the ordinary importer takes them apart


def types(column: pa.Array, field: str) -> tuple[pa.Array, cells.CellFaults]:
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


def good_rows(conversion: Conversion, paths: tuple[Path, ...], kind: str, unique: str | None = None) -> Iterator[tuple[str, Rows]]:
    """The good rows of all files of a kind, in batches, with the file's place as text; bad rows are noted.

    unique: the kind of node whose ids these are; rows with an id that was there before are bad. Their numbers come as "numbers".
    """
    for at, (table, columns) in enumerate(tables(paths, kind)):
        conversion.notes += [note for note in columns.notes if note not in conversion.notes]
        for batch in table.batches():
            rows, faults = _rows(batch.data, kind, columns)
            if unique is not None:
                faults |= _repeated(conversion, unique, rows["id"], faults)
            conversion.counts["rows"] += batch.data.num_rows
            if faults:
                blank = _blank(batch.data) if table.is_csv else set()
                conversion.counts["rows"] -= len(blank)
                conversion.fault(table, batch, {at: what for at, what in faults.items() if at not in blank})
                rows = _without(rows, faults)
            count = len(next(iter(rows.values())))
            if unique is not None:
                rows["numbers"] = conversion.take(count)
                conversion.ids[unique].add(keys(rows["id"]), rows["numbers"])
            conversion.heard(kind, count)
            yield str(at), rows
        conversion.torn(table)


def _rows(data: pa.RecordBatch, kind: str, columns: table_files.Columns) -> tuple[Rows, cells.CellFaults]:
    rows: Rows = {}
    faults: cells.CellFaults = {}
    for field, read in READERS[kind].items():
        if field in columns.fields:
            rows[field], wrong = read(data.column(columns.fields[field]), field)
            # of several faults in a row the first field's is kept
            faults = wrong | faults
    rows["further"] = {name: _property(data.column(column)) for column, name in columns.further.items()}
    return rows, faults


def _blank(data: pa.RecordBatch) -> set[int]:
    """The rows of text in which every cell is blank: all of them are faults, since an id is missing, but they are no rows."""
    import pyarrow.compute as pc

    all_blank = None
    for column in data.columns:
        blank = pc.or_(pc.utf8_is_space(column), pc.equal(pc.binary_length(column), 0))
        all_blank = blank if all_blank is None else pc.and_(all_blank, blank)
    return set(pc.indices_nonzero(all_blank).to_pylist())


def _property(column: pa.Array) -> pa.Array:
    """A further column as a property: an empty text or NaN is no property."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return pc.if_else(pc.equal(pc.binary_length(column), 0), pa.scalar(None, pa.string()), column)
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    return column


def _repeated(conversion: Conversion, kind: str, ids: pa.Array, faults: cells.CellFaults) -> cells.CellFaults:
    """The rows whose id an earlier good row has."""
    import numpy as np

    wanted = keys(ids)
    good = np.ones(len(wanted), bool)
    good[list(faults)] = False
    places = np.flatnonzero(good)
    again = np.ones(len(places), bool)
    again[np.unique(wanted[places], return_index=True)[1]] = False
    again |= conversion.ids[kind].find(wanted[places]) >= 0
    word = {ENTITIES: "entity", CHUNKS: "chunk", DOCUMENTS: "document"}[kind]
    return {
        int(row): f"the {word} id {ids[int(row)].as_py()[:80]!r} was given before; ids must be unique" for row in places[again]
    }


def _without(rows: Rows, faults: cells.CellFaults) -> Rows:
    import numpy as np
    import pyarrow as pa

    kept = np.ones(len(next(iter(rows.values()))), bool)
    kept[list(faults)] = False
    mask = pa.array(kept)
    return {
        field: {name: column.filter(mask) for name, column in value.items()} if field == "further" else value.filter(mask)
        for field, value in rows.items()
    }


MOST_SHOWN = 5


def documents(conversion: Conversion, paths: tuple[Path, ...]) -> list[ToolSheet]:
    """Document nodes."""
    import pyarrow.compute as pc

    sheet = ToolSheet(conversion.folder, "documents")
    for _, rows in good_rows(conversion, paths, table_files.DOCUMENTS, DOCUMENTS):
        title = pc.coalesce(rows["title"], rows["id"]) if "title" in rows else rows["id"]
        sheet.write({IDS: _ints(rows["numbers"]), LABEL: same(conversion.label(DOCUMENTS), rows["id"]), "id": rows["id"], "title": title})
    return [sheet]


def chunks(conversion: Conversion, paths: tuple[Path, ...], of: NamedNodes) -> tuple[list[ToolSheet], list[ToolSheet]]:
    """Chunk nodes; their documents and the order of chunks of one document as relations."""
    import numpy as np

    sheet, links = ToolSheet(conversion.folder, "chunks"), ToolSheet(conversion.folder, "from-document", relation_type="FROM_DOCUMENT")
    order: list[tuple[np.ndarray[Any, Any], ...]] = []
    for _, rows in good_rows(conversion, paths, table_files.CHUNKS, CHUNKS):
        own: Rows = {field: rows[field] for field in ("id", "index", "text") if field in rows}
        sheet.write({IDS: _ints(rows["numbers"]), LABEL: same(conversion.label(CHUNKS), rows["id"]), **own})
        if "documents" in rows:
            holders, numbers = _linked(rows["numbers"], rows["documents"], of)
            links.write({START: _ints(holders), END: _ints(numbers)})
            if "index" in rows and len(rows["id"]):
                first = np.unique(holders, return_index=True)[1]
                rows_of_first = holders[first] - rows["numbers"][0]
                known = ~rows["index"].is_null().to_numpy(zero_copy_only=False)[rows_of_first]
                index = rows["index"].fill_null(0).to_numpy()[rows_of_first]
                order.append((numbers[first][known], index[known], holders[first][known]))
    return [sheet], [links, _next(conversion, order)]


def _next(conversion: Conversion, order: list[tuple[np.ndarray[Any, Any], ...]]) -> ToolSheet:
    """Consecutive chunks of each document, by index; equal ones in the order of the file."""
    import numpy as np

    sheet = ToolSheet(conversion.folder, "next-chunk", relation_type="NEXT_CHUNK")
    if order:
        document, index, chunk = (np.concatenate([part[part_index] for part in order]) for part_index in range(3))
        sort = np.lexsort((index, document))
        document, chunk = document[sort], chunk[sort]
        same = document[:-1] == document[1:]
        sheet.write({START: _ints(chunk[:-1][same]), END: _ints(chunk[1:][same])})
    return sheet


def _linked(numbers: np.ndarray[Any, Any], lists: pa.ListArray, named: NamedNodes) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Each number beside each of what its row names."""
    import pyarrow.compute as pc

    parents = pc.list_parent_indices(lists).to_numpy()
    return numbers[parents], named.numbers(pc.list_flatten(lists))


class _TypedStage:
    """Nodes or relations of which a column says the label (relation type). `typed`: it does so, as long as there are not too many."""

    def __init__(self, conversion: Conversion, stem: str, *, typed: bool) -> None:
        self._conversion, self._stem, self._typed = conversion, stem, typed
        self._types: set[str] = set()
        self._sheets: dict[str, ToolSheet] = {}

    def sheet(self, file: str) -> ToolSheet:
        """The sheet of one of the user's files."""
        return self._sheets.setdefault(file, ToolSheet(self._conversion.folder, f"{self._stem}-{file}"))

    def discard(self) -> None:
        """Closes and deletes what was written, so that the stage can begin again."""
        for sheet in self._sheets.values():
            sheet.discard()

    def _note_types(self, types: set[str]) -> None:
        """Raises: TooManyTypesError where that many types cannot be labels."""
        if self._typed:
            self._types |= types
            if len(self._types) > naming.MOST_TYPES:
                raise TooManyTypesError


class EntityStage(_TypedStage):
    """Entity nodes, and what mentions them. `typed`: types become labels."""

    def __init__(self, conversion: Conversion, *, typed: bool) -> None:
        super().__init__(conversion, "entities", typed=typed)
        self._left: set[str] = set()  # some of the types that may not be labels
        self._names: list[np.ndarray[Any, Any]] = []
        self.mentions = ToolSheet(conversion.folder, "from-chunk", relation_type="FROM_CHUNK")

    def convert(self, paths: tuple[Path, ...], chunks: NamedNodes, documents: NamedNodes) -> list[ToolSheet]:
        """The nodes of all files. Raises TooManyTypesError."""
        import numpy as np

        for file, rows in good_rows(self._conversion, paths, table_files.NODES, ENTITIES):
            self.sheet(file).write(self._columns(rows))
            if "chunk_ids" in rows:
                holders, named = _linked(rows["numbers"], rows["chunk_ids"], chunks)
                self.mentions.write({START: _ints(holders), END: _ints(named)})
            if "document_ids" in rows:
                _linked(rows["numbers"], rows["document_ids"], documents)
        if self._names:
            _, counts = np.unique(np.concatenate(self._names), return_counts=True)
            self._conversion.counts["same_names"] = int(counts[counts > 1].sum())
        if not self._typed:
            self._conversion.notes.append(f"more than {naming.MOST_TYPES} distinct types: kept in the property `type`, not as labels")
        elif self._left:
            shown = ", ".join(kind[:40] for kind in sorted(self._left))
            self._conversion.notes.append(f"types kept in the property `type` only, their labels are taken: {shown}")
        return list(self._sheets.values())

    def discard(self) -> None:
        """As a stage; the entities' ids are free again."""
        super().discard()
        self.mentions.discard()
        self._conversion.ids[ENTITIES] = IdNumbers()

    def _columns(self, rows: Rows) -> dict[str, pa.Array]:
        name = rows["name"] if "name" in rows else rows["id"]
        if "name" in rows:
            self._conversion.counts["unnamed"] += name.null_count
        self._names.append(keys(name.drop_null()))
        own = {"id": rows["id"], "name": name, "name_key": self._conversion.name_keys(name)}
        own |= {field: rows[field] for field in ("type", "description", "aliases", "document_ids", "embedding") if field in rows}
        return {**rows["further"], IDS: _ints(rows["numbers"]), LABEL: self._labels(rows), **own}

    def _labels(self, rows: Rows) -> pa.Array:
        """`__Entity__`, the graph, and the type where it may be a label."""
        import pyarrow as pa

        base = self._conversion.label(ENTITIES)
        if "type" not in rows:
            return same(base, rows["id"])
        coded = rows["type"].dictionary_encode()
        kinds = coded.dictionary.to_pylist()
        fit = {kind for kind in kinds if naming.fits_label(kind, {self._conversion.graph})}
        self._left = set(sorted(self._left | (set(kinds) - fit))[:MOST_SHOWN])
        fit = {kind for kind in fit if SEPARATOR not in kind}
        self._note_types(fit)
        labels = [f"{base}{SEPARATOR}{kind}" if self._typed and kind in fit else base for kind in kinds]
        return pa.array([*labels, base]).take(coded.indices.fill_null(len(labels)))


class RelationStage(_TypedStage):
    """Relations between entities; unknown ends become entities. `typed`: predicates become relation types."""

    def __init__(self, conversion: Conversion, ends: NamedNodes, *, typed: bool, first_named: int) -> None:
        super().__init__(conversion, "relations", typed=typed)
        self._ends, self._first_named = ends, first_named

    def convert(self, paths: tuple[Path, ...], chunks: NamedNodes | None, *, dangling: bool) -> list[ToolSheet]:
        """The relations of all files. `chunks`: chunks that relations name become nodes. Raises TooManyTypesError."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        for file, rows in good_rows(self._conversion, paths, table_files.RELATIONS):
            # asked together, so that unknown ends are numbered row by row
            ends = self._ends.numbers(pa.concat_arrays([rows["source"], rows["target"]]))
            source, target = np.split(ends, 2)
            if dangling:
                self._conversion.counts["dangling_relations"] += int(((source >= self._first_named) | (target >= self._first_named)).sum())
            own: Rows = {field: rows[field] for field in ("description", "weight", "chunk_ids") if field in rows}
            words = rows["predicate"] if "predicate" in rows else same(naming.NO_PREDICATE, rows["source"])
            columns = {START: _ints(source), END: _ints(target), TYPE: self._types_of(words), "predicate": words}
            self.sheet(file).write({**rows["further"], **columns, **own})
            if chunks is not None and "chunk_ids" in rows:
                chunks.numbers(pc.list_flatten(rows["chunk_ids"]))
        if not self._typed:
            what = f"more than {naming.MOST_TYPES} distinct predicates: all relations are of type RELATED, `predicate` holds the words"
            self._conversion.notes.append(what)
        return list(self._sheets.values())

    def _types_of(self, words: pa.Array) -> pa.Array:
        import pyarrow as pa

        coded = words.dictionary_encode()
        types = [naming.upper_snake(word) for word in coded.dictionary.to_pylist()]
        self._note_types(set(types))
        return pa.array(types if self._typed else [naming.NO_PREDICATE] * len(types), pa.string()).take(coded.indices)


def _ints(numbers: np.ndarray[Any, Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array(numbers, pa.int64())
