"""Which entities belong to which gold document: by the layout's links, by source lists, or by files that entities name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.completeness.gold import document_keys
from kgeval.auditing.graph_reader import GraphReader
from kgeval.graph.connect import Row

NAMED_BY = (
    "id", "title", "name", "source", "file_path", "file_name", "fileName", "filename", "path", "url", "uri", "doc_id", "document_id",
    "source_description", "ref_doc_id",
)
FILES = ("file_path", "document_ids", "document_id", "documents")  # what writers keep on entities themselves
BATCH = 2_000  # entities a query; fewer than elsewhere, for each row holds the lists of all its sources


@dataclass(frozen=True)
class GoldDocuments:
    """The gold documents that the graph knows. `tokens`: what marks an entity as a document's -> the gold documents that it marks.

    `missing`: gold documents that the graph does not have. `scope`: false where the graph knows none of them (or has no
    documents at all): then everything is looked for in the whole graph, and `note` says so.
    """

    known: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    tokens: dict[str, frozenset[str]] = field(default_factory=dict)
    note: str | None = None

    @property
    def scope(self) -> bool:
        """Whether entities are told apart by document."""
        return bool(self.known)


def resolve(reader: GraphReader, wanted: Sequence[str]) -> GoldDocuments:
    """The graph's documents that the gold documents mean: by key, title, or file name without extension."""
    if not wanted:
        return GoldDocuments()
    layout = reader.layout
    labels = layout.document_labels or layout.chunk_labels
    if labels:
        keys = list(dict.fromkeys(filter(None, [layout.document_key, *layout.chunk_id_keys, *NAMED_BY])))
        ids_of = _same_names(wanted, reader.stream("gold-documents", labels=labels, keys=keys))
    else:  # files that entities name, as documents without a node
        files = reader.stream("gold-files", keys=list(FILES))
        ids_of = _same_names(wanted, ({"element_id": f"file:={row['name']}", "names": [row["name"]]} for row in files))
    if not ids_of:
        shown = ", ".join(wanted[:5]) + (" ..." if len(wanted) > 5 else "")
        why = "the graph has none of the gold documents" if labels else "the graph has no documents"
        return GoldDocuments(note=f"{why} ({shown}): every gold item is looked for in the whole graph")
    tokens: dict[str, set[str]] = {}
    for name, ids in ids_of.items():
        for token in (*ids, *(f"file:{key}" for key in document_keys(name))):
            tokens.setdefault(token, set()).add(name)
    if layout.document_labels:  # the documents' chunks mark entities too, by element id and by the id of source lists
        for row in reader.rows_of("gold-chunks", [token for token in tokens if not token.startswith("file:")], size=BATCH):
            for mark in filter(None, (row["chunk"], row["id"])):
                tokens.setdefault(mark, set()).update(tokens[row["document"]])
    missing = tuple(name for name in wanted if name not in ids_of)
    note = f"not in the graph, so that all their gold items count as missing: {', '.join(missing)}" if missing else None
    return GoldDocuments(frozenset(ids_of), missing, {token: frozenset(names) for token, names in tokens.items()}, note)


def of_entities(reader: GraphReader, documents: GoldDocuments, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """The gold documents that each of the entities (element ids) comes from; {} where entities are not told apart by document."""
    nothing: frozenset[str] = frozenset()
    documents_of: dict[str, frozenset[str]] = {}
    for row in reader.rows_of("gold-entity-sources", ids, size=BATCH, keys=list(FILES)) if documents.scope else ():
        marks = [*row["chunks"], *filter(None, row["ids"]), *(f"file:{k}" for f in row["files"] if f for k in document_keys(f))]
        documents_of[row["element_id"]] = nothing.union(*(documents.tokens.get(mark, nothing) for mark in marks))
    return documents_of


def _same_names(wanted: Sequence[str], rows: Iterable[Row]) -> dict[str, list[str]]:
    """Element ids by gold document: of all that share a key with it, those that share the strictest one."""
    by_key: dict[str, list[tuple[str, int]]] = {}
    for name in wanted:
        for place, key in enumerate(document_keys(name)):
            by_key.setdefault(key, []).append((name, place))
    best: dict[str, int] = {}
    ids_of: dict[str, list[str]] = {}
    for row in rows:
        for key in {key for name in row["names"] for key in document_keys(name)}:
            for name, place in by_key.get(key, ()):
                if place < best.get(name, place + 1):
                    best[name], ids_of[name] = place, []
                if place == best[name] and row["element_id"] not in ids_of[name]:
                    ids_of[name].append(row["element_id"])
    return ids_of
