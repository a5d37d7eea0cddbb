"""The mark of a built graph, `(:__KgevalGraph__ {format: 'build', ...})`: what may be built under a name, and what building took."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgeval.errors import IncompleteError, UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.load import naming
from kgeval.graph.queries import all_queries
from kgeval.records import HALF_LOADED

BUILD = "build"
SUMS = ("seconds", "calls", "input_tokens", "output_tokens", "cost")
BUILD_KEYS = (  # what a build keeps on the mark, and an import of the same name takes away
    "run", "runs", *SUMS, *(f"last_{key}" for key in SUMS), "extractor", "extractor_signature", "chunk_size", "chunk_overlap",
    "context_sentences", "tokenizer", "resolve", "similarity", "merge_across_types", "embedding_model", "model", "gleanings",
    "language", "schema", "spacy_model", "endpoint", "parameters", "prompts", "schema_hash", "documents", "chunks",
    "tokens", "words", "entities", "relations", "merges",
)
READY, LOADING, REPLACING = "ready", "loading", "replacing"


@dataclass(frozen=True)
class Mark:
    """What is there under a graph's name. `status` new: nothing. `others` are the names of the other graphs of kgeval here."""

    name: str
    status: str = "new"
    properties: Mapping[str, Any] = field(default_factory=dict)
    others: frozenset[str] = frozenset()

    @property
    def exists(self) -> bool:
        """True where a build of this graph began before."""
        return self.status != "new"


def look(graph: Graph, name: str, *, replace: bool = False) -> Mark:
    """What is there. `replace`: a graph that was imported may be replaced.

    Raises: UsageError where nothing may be built: a reserved name, somebody else's label, an imported graph.
    """
    naming.check_graph_name(name)
    queries = all_queries()
    names = {row["name"] for row in graph.read(queries["imported-graphs"])}
    rows = graph.read(queries["built-graph"], {"graph": name})
    if not rows:
        nodes = graph.read(queries["label-use"], {"label": name})[0]["nodes"]
        if nodes:
            raise UsageError(f"--graph {name}: {nodes} nodes that kgeval did not write have this label", fix="choose another name")
        return Mark(name, others=frozenset(names))
    properties = dict(rows[0]["mark"])
    if properties.get("format") not in (None, BUILD) and not replace:
        raise UsageError(
            f"graph {name}: was loaded by kgeval import ({properties.get('source')}), not built from documents",
            fix="choose another name, or --replace, which deletes it first",
        )
    status = properties.get("status") or LOADING
    if properties.get("format") not in (None, BUILD):
        status = REPLACING
    return Mark(name, status, properties, frozenset(names - {name}))


def half_loaded(graph: Graph, name: str | None, labels: Sequence[str] = ()) -> str | None:
    """What must be known of a graph whose import or build did not end: that what is read is not the whole of it, and the way out. None
    where the mark says ready, or nothing: others wrote it. `name` None: all of a database, or its nodes with one of the `labels`."""
    begun = []
    for row in graph.read(all_queries()["imported-graphs"]):
        read = row["name"] == name if name is not None else not labels or bool({row["name"], naming.ENTITY} & set(labels))
        if read and row["status"] not in (None, READY):
            what, again = ("a build", "kgeval build") if row["format"] == BUILD else ("an import", "kgeval import --replace")
            since = f" on {row['started']}" if row["started"] else ""
            begun.append(f"graph {row['name']}: {what} began{since} and did not end, or still runs ({again} loads it)")
    return f"{HALF_LOADED}: {'; '.join(begun)}" if begun else None


def begin(graph: Graph, name: str, about: Mapping[str, Any], *, replacing: bool = False) -> str:
    """Sets the mark `loading` (or `replacing`) with the settings; returns this run's name. Raises: UsageError where an import holds it."""
    queries = all_queries()
    graph.schema_command(queries["create-graph-constraint"])
    run = uuid.uuid4().hex
    formats = [BUILD, "triples", "json", "graphml", "lightrag", "msgraphrag", "tables"] if replacing else [BUILD]
    params = {"name": name, "run": run, "status": REPLACING if replacing else LOADING, "formats": formats}
    if not graph.write(queries["begin-build"], params)[0]["begun"]:
        raise UsageError(f"graph {name}: an import of this name has just begun", fix="wait for its end, or choose another name")
    keep(graph, name, run, about)
    return run


def keep(graph: Graph, name: str, run: str, about: Mapping[str, Any]) -> None:
    """Keeps settings on the mark. Raises: IncompleteError where another build took the mark over."""
    if not graph.write(all_queries()["set-build"], {"name": name, "run": run, "about": dict(about)})[0]["kept"]:
        raise _overtaken(name)


def finish(graph: Graph, name: str, run: str, about: Mapping[str, Any]) -> None:
    """Sets the mark `ready` with settings and figures. Raises: IncompleteError where another build took the mark over."""
    if not graph.write(all_queries()["finish-build"], {"name": name, "run": run, "about": dict(about)})[0]["finished"]:
        raise _overtaken(name)


def _overtaken(name: str) -> IncompleteError:
    return IncompleteError(f"graph {name}: another build wrote it at the same time", fix="wait for its end, then run this one again")
