"""The stages of a conversion: documents, chunks, entities, relations. Each goes through its files batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgeval.graph.load import naming, table_files
from kgeval.graph.load.bulk.keep import CHUNKS, DOCUMENTS, ENTITIES, Keep, Named, TooManyError
from kgeval.graph.load.bulk.places import keys
from kgeval.graph.load.bulk.rows import Rows, good_rows
from kgeval.graph.load.bulk.sheets import END, IDS, LABEL, SEPARATOR, START, TYPE, Sheet

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

MOST_SHOWN = 5


def documents(keep: Keep, paths: tuple[Path, ...]) -> list[Sheet]:
    """Document nodes."""
    import pyarrow.compute as pc

    sheet = Sheet(keep.folder, "documents")
    for _, rows in good_rows(keep, paths, table_files.DOCUMENTS, DOCUMENTS):
        title = pc.coalesce(rows["title"], rows["id"]) if "title" in rows else rows["id"]
        sheet.write({IDS: _ints(rows["numbers"]), LABEL: _same(keep.label(DOCUMENTS), rows["id"]), "id": rows["id"], "title": title})
    return [sheet]


def chunks(keep: Keep, paths: tuple[Path, ...], of: Named) -> tuple[list[Sheet], list[Sheet]]:
    """Chunk nodes; their documents and the order of chunks of one document as relations."""
    import numpy as np

    sheet, links = Sheet(keep.folder, "chunks"), Sheet(keep.folder, "from-document", relation_type="FROM_DOCUMENT")
    order: list[tuple[np.ndarray[Any, Any], ...]] = []
    for _, rows in good_rows(keep, paths, table_files.CHUNKS, CHUNKS):
        own: Rows = {field: rows[field] for field in ("id", "index", "text") if field in rows}
        sheet.write({IDS: _ints(rows["numbers"]), LABEL: _same(keep.label(CHUNKS), rows["id"]), **own})
        if "documents" in rows:
            holders, found = _linked(rows["numbers"], rows["documents"], of)
            links.write({START: _ints(holders), END: _ints(found)})
            if "index" in rows and len(rows["id"]):
                first = np.unique(holders, return_index=True)[1]
                at = holders[first] - rows["numbers"][0]
                known = ~rows["index"].is_null().to_numpy(zero_copy_only=False)[at]
                index = rows["index"].fill_null(0).to_numpy()[at]
                order.append((found[first][known], index[known], holders[first][known]))
    return [sheet], [links, _next(keep, order)]


def _next(keep: Keep, order: list[tuple[np.ndarray[Any, Any], ...]]) -> Sheet:
    """Consecutive chunks of each document, by index; equal ones in the order of the file."""
    import numpy as np

    sheet = Sheet(keep.folder, "next-chunk", relation_type="NEXT_CHUNK")
    if order:
        document, index, chunk = (np.concatenate([part[at] for part in order]) for at in range(3))
        sort = np.lexsort((index, document))
        document, chunk = document[sort], chunk[sort]
        same = document[:-1] == document[1:]
        sheet.write({START: _ints(chunk[:-1][same]), END: _ints(chunk[1:][same])})
    return sheet


def _linked(numbers: np.ndarray[Any, Any], found: pa.ListArray, named: Named) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Each number beside each of what its row names."""
    import pyarrow.compute as pc

    parents = pc.list_parent_indices(found).to_numpy()
    return numbers[parents], named.numbers(pc.list_flatten(found))


class Entities:
    """Entity nodes, and what mentions them. `labelled`: types become labels, as long as there are not too many."""

    def __init__(self, keep: Keep, *, labelled: bool) -> None:
        self._keep, self._labelled = keep, labelled
        self._types: set[str] = set()  # those that may be labels
        self._left: set[str] = set()  # some of the others
        self._names: list[np.ndarray[Any, Any]] = []
        self._sheets: dict[str, Sheet] = {}
        self.mentions = Sheet(keep.folder, "from-chunk", relation_type="FROM_CHUNK")

    def convert(self, paths: tuple[Path, ...], chunks: Named, documents: Named) -> list[Sheet]:
        """The nodes of all files. Raises TooManyError."""
        for file, rows in good_rows(self._keep, paths, table_files.NODES, ENTITIES):
            sheet = self._sheets.setdefault(file, Sheet(self._keep.folder, f"entities-{file}"))
            sheet.write(self._columns(rows))
            if "chunk_ids" in rows:
                holders, found = _linked(rows["numbers"], rows["chunk_ids"], chunks)
                self.mentions.write({START: _ints(holders), END: _ints(found)})
            if "document_ids" in rows:
                _linked(rows["numbers"], rows["document_ids"], documents)
        self._count()
        return list(self._sheets.values())

    def discard(self) -> None:
        """Closes and deletes what was written, so that the stage can begin again."""
        for sheet in (*self._sheets.values(), self.mentions):
            sheet.discard()

    def _columns(self, rows: Rows) -> dict[str, pa.Array]:
        name = rows["name"] if "name" in rows else rows["id"]
        if "name" in rows:
            self._keep.counts["unnamed"] += name.null_count
        self._names.append(keys(name.drop_null()))
        own = {"id": rows["id"], "name": name, "name_key": self._keep.name_keys(name)}
        own |= {field: rows[field] for field in ("type", "description", "aliases", "document_ids", "embedding") if field in rows}
        return {**rows["further"], IDS: _ints(rows["numbers"]), LABEL: self._labels(rows), **own}

    def _labels(self, rows: Rows) -> pa.Array:
        """`__Entity__`, the graph, and the type where it may be a label."""
        import pyarrow as pa

        base = self._keep.label(ENTITIES)
        if "type" not in rows:
            return _same(base, rows["id"])
        coded = rows["type"].dictionary_encode()
        kinds = coded.dictionary.to_pylist()
        fit = {kind for kind in kinds if naming.fits_label(kind, {self._keep.graph})}
        self._left = set(sorted(self._left | (set(kinds) - fit))[:MOST_SHOWN])
        fit = {kind for kind in fit if SEPARATOR not in kind}
        if self._labelled:
            self._types |= fit
            if len(self._types) > naming.MOST_TYPES:
                raise TooManyError
        labels = [f"{base}{SEPARATOR}{kind}" if self._labelled and kind in fit else base for kind in kinds]
        return pa.array([*labels, base]).take(coded.indices.fill_null(len(labels)))

    def _count(self) -> None:
        import numpy as np

        if self._names:
            _, counts = np.unique(np.concatenate(self._names), return_counts=True)
            self._keep.counts["same_names"] = int(counts[counts > 1].sum())
        if not self._labelled:
            self._keep.notes.append(f"more than {naming.MOST_TYPES} distinct types: kept in the property `type`, not as labels")
        elif self._left:
            shown = ", ".join(kind[:40] for kind in sorted(self._left))
            self._keep.notes.append(f"types kept in the property `type` only, their labels are taken: {shown}")


class Relations:
    """Relations between entities; unknown ends become entities. `typed`: predicates become relation types."""

    def __init__(self, keep: Keep, ends: Named, *, typed: bool, first_named: int) -> None:
        self._keep, self._ends, self._typed, self._first_named = keep, ends, typed, first_named
        self._types: set[str] = set()
        self._sheets: dict[str, Sheet] = {}

    def convert(self, paths: tuple[Path, ...], chunks: Named | None, *, dangling: bool) -> list[Sheet]:
        """The relations of all files. `chunks`: chunks that relations name become nodes. Raises TooManyError."""
        import pyarrow.compute as pc

        for file, rows in good_rows(self._keep, paths, table_files.RELATIONS):
            source, target = self._ends_of(rows)
            if dangling:
                self._keep.counts["dangling_relations"] += int(((source >= self._first_named) | (target >= self._first_named)).sum())
            own: Rows = {field: rows[field] for field in ("description", "weight", "chunk_ids") if field in rows}
            words = rows.get("predicate")
            words = _same(naming.NO_PREDICATE, rows["source"]) if words is None else words
            sheet = self._sheets.setdefault(file, Sheet(self._keep.folder, f"relations-{file}"))
            columns = {START: _ints(source), END: _ints(target), TYPE: self._types_of(words), "predicate": words}
            sheet.write({**rows["further"], **columns, **own})
            if chunks is not None and "chunk_ids" in rows:
                chunks.numbers(pc.list_flatten(rows["chunk_ids"]))
        if not self._typed:
            what = f"more than {naming.MOST_TYPES} distinct predicates: all relations are of type RELATED, `predicate` holds the words"
            self._keep.notes.append(what)
        return list(self._sheets.values())

    def discard(self) -> None:
        """Closes and deletes what was written, so that the stage can begin again."""
        for sheet in self._sheets.values():
            sheet.discard()

    def _ends_of(self, rows: Rows) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Both ends, asked together so that unknown ones are numbered row by row."""
        import numpy as np
        import pyarrow as pa

        both = pa.concat_arrays([rows["source"], rows["target"]])
        found = self._ends.numbers(both)
        return found[: len(found) // 2], found[len(found) // 2 :] if len(found) else np.zeros(0, np.int64)

    def _types_of(self, words: pa.Array) -> pa.Array:
        import pyarrow as pa

        coded = words.dictionary_encode()
        found = [naming.upper_snake(word) for word in coded.dictionary.to_pylist()]
        if self._typed:
            self._types |= set(found)
            if len(self._types) > naming.MOST_TYPES:
                raise TooManyError
        return pa.array(found if self._typed else [naming.NO_PREDICATE] * len(found), pa.string()).take(coded.indices)


def _ints(numbers: np.ndarray[Any, Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array(numbers, pa.int64())


def _same(value: str, beside: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value), len(beside))


def ends_as_nodes(keep: Keep, *, dangling: bool) -> Named:
    """Entities that only relations name: name and id are what the relation says."""
    return Named(keep, ENTITIES, lambda ids: {
        "id": ids, "name": ids, "name_key": keep.name_keys(ids), **({"dangling": _true(ids)} if dangling else {}),
    })


def chunks_as_nodes(keep: Keep, *, dangling: bool) -> Named:
    """Chunks that only entities (or relations) name."""
    return Named(keep, CHUNKS, lambda ids: {"id": ids, **({"dangling": _true(ids)} if dangling else {})})


def documents_as_nodes(keep: Keep) -> Named:
    """Documents that only chunks or entities name."""
    return Named(keep, DOCUMENTS, lambda ids: {"id": ids, "title": ids})


def _true(ids: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.repeat(pa.scalar(True), len(ids))
