"""Reads GraphML of any writer, streaming, with line numbers. XML entities are refused, so none can be expanded."""

from __future__ import annotations

import xml.sax.handler
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax import SAXException

from kgeval.errors import InputError
from kgeval.graph.load import nodes
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Loaded
from kgeval.graph.load.values import Misfit
from kgeval.limits import file_limits, too_large
from kgeval.tables import check_readable

WITH_TEXT = ("data", "default", "NodeLabel", "EdgeLabel")


@dataclass
class Element:
    """A `<node>` or `<edge>`: its line, its XML attributes and its typed data."""

    tag: str
    line: int
    attributes: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def read(path: Path) -> Loaded:
    """The graph in a GraphML file. Raises: InputError for what is no GraphML, or GraphML with XML entities."""
    gather = Gather("graphml", [path])
    graph = parse(path)
    names = nodes.names_of(node.data for node in graph.nodes)
    for element in (*graph.nodes, *graph.edges):
        where = f"{path.name}:{element.line}"
        with gather.row(where):
            if element.faults:
                raise Misfit("; ".join(element.faults))
            if element.tag == "node":
                nodes.add_node(gather, {**element.data, "id": element.attributes.get("id")}, where, names)
            else:
                ends = {key: value for key, value in element.attributes.items() if key in ("source", "target", "label")}
                nodes.add_edge(gather, {**element.data, **ends})
    gather.notes += graph.notes
    if graph.undirected:
        gather.without_direction()
    return gather.finish()


def parse(path: Path) -> GraphmlHandler:
    """All nodes and edges of the file. Raises as read does."""
    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    check_readable(path)
    handler = GraphmlHandler(path)
    parser = make_parser()
    # a DTD alone expands nothing
    parser.forbid_dtd, parser.forbid_entities, parser.forbid_external = False, True, True
    parser.setContentHandler(handler)
    try:
        with path.open("rb") as file:
            parser.parse(file)
    except DefusedXmlException as cause:
        raise InputError(
            f"{path}: declares XML entities or fetches outside files; this is refused, nothing was expanded",
            fix="export the graph again without a DTD that declares entities",
        ) from cause
    except SAXException as cause:
        line = str(cause.getLineNumber()) if hasattr(cause, "getLineNumber") else "?"
        what = f"{path}:{line}: not XML: {cause.getMessage()}"
        raise InputError(what, fix="correct the file, or export it again as UTF-8") from cause
    except (UnicodeDecodeError, ValueError, LookupError) as cause:
        raise InputError(f"{path}: not XML in a known encoding: {cause}", fix="export it again as UTF-8") from cause
    if not handler.is_graphml:
        raise InputError(f"{path}: XML, but not GraphML (no <graphml> at the top)", fix="export the graph as GraphML")
    return handler


class GraphmlHandler(xml.sax.handler.ContentHandler):
    """Collects nodes and edges. Data is typed by its `<key>`; yEd's labels are read as `label`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._most_defaults = file_limits().defaults
        self._defaults_given = 0
        self.nodes: list[Element] = []
        self.edges: list[Element] = []
        self.notes: list[str] = []
        self.is_graphml = False
        self.undirected = False
        self._keys: dict[str, tuple[str, str, str]] = {}
        self._defaults: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
        # A stack, because a node of GraphML may hold a graph.
        self._open: list[Element] = []
        self._key: str | None = None
        self._text: list[str] = []
        self._depth = 0

    def setDocumentLocator(self, locator: Any) -> None:
        self._place = locator

    def startElement(self, name: str, attrs: Any) -> None:
        self._depth += 1
        tag, given = name.rpartition(":")[2], {key: attrs.getValue(key) for key in attrs.getNames()}
        if self._depth == 1:
            self.is_graphml = tag == "graphml"
        elif tag == "key":
            self._key = given.get("id", "")
            self._keys[self._key] = (given.get("attr.name") or self._key, given.get("attr.type", "string"), given.get("for", "all"))
        elif tag == "graph":
            self.undirected = given.get("edgedefault") == "undirected"
        elif tag in ("node", "edge"):
            # One edge that has a direction, and direction means something in this file.
            self.undirected = self.undirected and given.get("directed") != "true"
            self._defaults_given += len(self._defaults[tag])
            if self._defaults_given > self._most_defaults:
                what = f"its keys give more than {self._most_defaults:,} values by default (<default>) to nodes and edges"
                raise too_large(str(self._path), what, "defaults")
            self._open.append(Element(tag, self._place.getLineNumber(), given, dict(self._defaults[tag])))
            (self.nodes if tag == "node" else self.edges).append(self._open[-1])
        elif tag == "hyperedge" and not self.notes:
            self.notes.append("hyperedges are not loaded: a relation has two ends")
        if tag in WITH_TEXT:
            # A <default> stands inside of its <key>, and names none itself.
            self._key = given.get("key", self._key if tag == "default" else None)
            self._text = []

    def characters(self, content: str) -> None:
        self._text.append(content)

    def endElement(self, name: str) -> None:
        self._depth -= 1
        tag = name.rpartition(":")[2]
        value = "".join(self._text) if tag in WITH_TEXT else ""
        if tag in ("node", "edge") and self._open:
            self._open.pop()
        elif tag == "default" and self._key is not None:
            attribute, kind, of = self._keys.get(self._key, (self._key, "string", "none"))
            for target in self._defaults:
                if of in (target, "all"):
                    self._defaults[target][attribute] = typed(value, kind)
        elif tag in ("NodeLabel", "EdgeLabel") and self._open:
            self._open[-1].data.setdefault("label", value.strip())
            self._text = []  # yEd puts the label into a <data>, whose text it is not
        elif tag == "data" and self._open and self._key is not None and value.strip():
            attribute, kind, _ = self._keys.get(self._key, (self._key, "string", "all"))
            try:
                self._open[-1].data[attribute] = typed(value, kind)
            except ValueError:
                self._open[-1].faults.append(f"{attribute}: {kind} expected, found {value[:40]!r}")


def typed(value: str, kind: str) -> Any:
    """The text of a `<data>` as its declared type. Raises ValueError where it does not fit."""
    return _TYPES[kind](value.strip()) if kind in _TYPES else value


def _truth(value: str) -> bool:
    if value.lower() not in ("true", "1", "false", "0"):
        raise ValueError(value)
    return value.lower() in ("true", "1")


_TYPES: dict[str, Callable[[str], Any]] = {
    "int": int, "integer": int, "long": int, "float": float, "double": float, "boolean": _truth,
}
