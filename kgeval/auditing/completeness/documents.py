"""Which entities belong to which gold document: by the layout's links, by source lists, or by files that entities name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.completeness.gold import document_keys
from kgeval.auditing.completeness.parts import parts
from kgeval.graph.connect import Graph, Row
from kgeval.graph.queries import all_queries
from kgeval.records import Layout

NAMED_BY = (
    "id", "title", "name", "source", "file_path", "file_name", "fileName", "filename", "path", "url", "uri", "doc_id", "document_id",
    "source_description", "ref_doc_id",
)
FILES = ("file_path", "document_ids", "document_id", "documents")  # what writers keep on entities themselves
BATCH = 2_000


@dataclass(frozen=True)
class Documents:
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


def resolve(graph: Graph, layout: Layout, wanted: Sequence[str], *, timeout: float) -> Documents:
    """The graph's documents that the gold documents mean: by key, title, or file name without extension."""
    if not wanted:
        return Documents()
    labels = layout.document_labels or layout.chunk_labels
    keys = list(dict.fromkeys(filter(None, [layout.document_key, *layout.chunk_id_keys, *NAMED_BY])))
    rows = _files(graph, layout, timeout)
    if labels:
        params = {"layout": layout.model_dump(), "labels": labels, "keys": keys}
        rows = graph.stream(all_queries()["gold-documents"], params, timeout=timeout)
    found = _same_names(wanted, rows)
    if not found:
        return Documents(note=_unknown(wanted, anything=bool(labels)))
    tokens: dict[str, set[str]] = {}
    for name, ids in found.items():
        for token in (*ids, *(f"file:{key}" for key in document_keys(name))):
            tokens.setdefault(token, set()).add(name)
    if layout.document_labels:
        _add_chunks(graph, layout, tokens, timeout)
    missing = tuple(name for name in wanted if name not in found)
    note = f"not in the graph, so that all their gold items count as missing: {', '.join(missing)}" if missing else None
    return Documents(frozenset(found), missing, {token: frozenset(names) for token, names in tokens.items()}, note)


def of_entities(graph: Graph, layout: Layout, documents: Documents, ids: Iterable[str], *, timeout: float) -> dict[str, frozenset[str]]:
    """The gold documents that each of the entities (element ids) comes from."""
    nothing: frozenset[str] = frozenset()
    found: dict[str, frozenset[str]] = {}
    for row in _sources(graph, layout, ids, timeout):
        marks = [*row["chunks"], *filter(None, row["ids"]), *(f"file:{k}" for f in row["files"] if f for k in document_keys(f))]
        found[row["element_id"]] = nothing.union(*(documents.tokens.get(mark, nothing) for mark in marks))
    return found


def _sources(graph: Graph, layout: Layout, ids: Iterable[str], timeout: float) -> Iterator[Row]:
    for part in parts(sorted(set(ids)), BATCH):
        params = {"layout": layout.model_dump(), "ids": part, "keys": list(FILES)}
        yield from graph.read(all_queries()["gold-entity-sources"], params, timeout=timeout)


def _files(graph: Graph, layout: Layout, timeout: float) -> Iterator[Row]:
    """Files that entities name, as rows of documents without a node."""
    if layout.document_labels or layout.chunk_labels:
        return
    params = {"layout": layout.model_dump(), "keys": list(FILES)}
    for row in graph.stream(all_queries()["gold-files"], params, timeout=timeout):
        yield {"element_id": f"file:={row['name']}", "names": [row["name"]]}


def _same_names(wanted: Sequence[str], rows: Iterable[Row]) -> dict[str, list[str]]:
    """Element ids by gold document: of all that share a key with it, those that share the strictest one."""
    keys = [(name, place, key) for name in wanted for place, key in enumerate(document_keys(name))]
    by_key: dict[str, list[tuple[str, int]]] = {}
    for name, place, key in keys:
        by_key.setdefault(key, []).append((name, place))
    best: dict[str, int] = {}
    found: dict[str, list[str]] = {}
    for row in rows:
        for key in {key for name in row["names"] for key in document_keys(name)}:
            for name, place in by_key.get(key, ()):
                if place < best.get(name, place + 1):
                    best[name], found[name] = place, []
                if place == best[name] and row["element_id"] not in found[name]:
                    found[name].append(row["element_id"])
    return found


def _add_chunks(graph: Graph, layout: Layout, tokens: dict[str, set[str]], timeout: float) -> None:
    """The chunks of the documents mark their entities, by element id and by the id of source lists."""
    ids = sorted(token for token in tokens if not token.startswith("file:"))
    for part in parts(ids, BATCH):
        params = {"layout": layout.model_dump(), "ids": part}
        for row in graph.stream(all_queries()["gold-chunks"], params, timeout=timeout):
            for mark in filter(None, (row["chunk"], row["id"])):
                tokens.setdefault(mark, set()).update(tokens[row["document"]])


def _unknown(wanted: Sequence[str], *, anything: bool) -> str:
    shown = ", ".join(wanted[:5]) + (" ..." if len(wanted) > 5 else "")
    why = "the graph has none of the gold documents" if anything else "the graph has no documents"
    return f"{why} ({shown}): every gold item is looked for in the whole graph"
