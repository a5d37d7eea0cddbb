"""Reads GraphML of any writer, streaming, with line numbers. XML entities are refused, so none can be expanded."""

from __future__ import annotations

import xml.sax.handler
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax import SAXException

from kgeval.errors import InputError
from kgeval.files import check_readable
from kgeval.graph.load import nodes
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Loaded
from kgeval.graph.load.values import Misfit

_TYPES = {"int": int, "integer": int, "long": int, "float": float, "double": float}
_TRUE = {"true": True, "1": True, "false": False, "0": False}


@dataclass
class Element:
    """A `<node>` or `<edge>`: its line, its XML attributes and its typed data."""

    line: int
    attributes: dict[str, str]
    data: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def read(path: Path) -> Loaded:
    """The graph in a GraphML file. Raises: InputError for what is no GraphML, or GraphML with XML entities."""
    gather = Gather("graphml")
    gather.inputs = [path]
    graph = parse(path)
    names = nodes.names_of(found.data for found in graph.nodes)
    for found in graph.nodes:
        with gather.row(f"{path.name}:{found.line}"):
            _sound(found)
            nodes.add_node(gather, {**found.data, "id": found.attributes.get("id")}, f"{path.name}:{found.line}", names)
    for found in graph.edges:
        with gather.row(f"{path.name}:{found.line}"):
            _sound(found)
            ends = {key: value for key, value in found.attributes.items() if key in ("source", "target", "label")}
            nodes.add_edge(gather, {**found.data, **ends})
    gather.notes += graph.notes
    if graph.undirected:
        gather.without_direction()
    return gather.finish()


def _sound(found: Element) -> None:
    if found.faults:
        raise Misfit("; ".join(found.faults))


def parse(path: Path) -> Reader:
    """All nodes and edges of the file. Raises as read does."""
    from defusedxml import DefusedXmlException
    from defusedxml.sax import make_parser

    check_readable(path)
    reader = Reader()
    parser = make_parser()
    parser.forbid_dtd, parser.forbid_entities, parser.forbid_external = False, True, True
    parser.setContentHandler(reader)
    try:
        with path.open("rb") as file:
            parser.parse(file)
    except DefusedXmlException as cause:
        raise InputError(
            f"{path}: declares XML entities or fetches outside files; this is refused, nothing was expanded",
            fix="export the graph again without a DTD that declares entities",
        ) from cause
    except SAXException as cause:
        what = f"{path}:{_line(cause)}: not XML: {cause.getMessage()}"
        raise InputError(what, fix="mend the file, or export it again as UTF-8") from cause
    except (UnicodeDecodeError, ValueError, LookupError) as cause:
        raise InputError(f"{path}: not XML in a known encoding: {cause}", fix="export it again as UTF-8") from cause
    if not reader.is_graphml:
        raise InputError(f"{path}: XML, but not GraphML (no <graphml> at the top)", fix="export the graph as GraphML")
    return reader


def _line(error: SAXException) -> str:
    return str(error.getLineNumber()) if hasattr(error, "getLineNumber") else "?"


class Reader(xml.sax.handler.ContentHandler):
    """Collects nodes and edges. Data is typed by its `<key>`; yEd's labels are read as `label`."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[Element] = []
        self.edges: list[Element] = []
        self.notes: list[str] = []
        self.is_graphml = False
        self.undirected = False
        self._keys: dict[str, tuple[str, str, str]] = {}
        self._defaults: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
        self._open: list[Element] = []
        self._key: str | None = None
        self._text: list[str] = []
        self._depth = 0

    def startElement(self, name: str, attrs: Any) -> None:
        self._depth += 1
        tag, given = name.rpartition(":")[2], {key: attrs.getValue(key) for key in attrs.getNames()}
        if self._depth == 1:
            self.is_graphml = tag == "graphml"
        elif tag == "key":
            self._declare(given)
        elif tag == "graph":
            self.undirected = given.get("edgedefault") == "undirected"
        elif tag in ("node", "edge"):
            self.undirected = self.undirected and given.get("directed") != "true"
            kind = self.nodes if tag == "node" else self.edges
            kind.append(Element(self._line(), given, dict(self._defaults[tag])))
            self._open.append(kind[-1])
        elif tag == "hyperedge" and not self.notes:
            self.notes.append("hyperedges are not loaded: a relation has two ends")
        if tag in ("data", "default", "NodeLabel", "EdgeLabel"):
            self._key = given.get("key", self._key if tag == "default" else None)
            self._text = []

    def setDocumentLocator(self, locator: Any) -> None:
        self._place = locator

    def _line(self) -> int:
        line: int = self._place.getLineNumber()
        return line

    def _declare(self, given: dict[str, str]) -> None:
        self._key = key = given.get("id", "")
        self._keys[key] = (given.get("attr.name") or key, given.get("attr.type", "string"), given.get("for", "all"))

    def characters(self, content: str) -> None:
        self._text.append(content)

    def endElement(self, name: str) -> None:
        self._depth -= 1
        tag = name.rpartition(":")[2]
        if tag in ("node", "edge") and self._open:
            self._open.pop()
        elif tag == "default" and self._key is not None:
            self._default(self._key)
        elif tag in ("NodeLabel", "EdgeLabel") and self._open:
            self._open[-1].data.setdefault("label", "".join(self._text).strip())
            self._text = []
        elif tag == "data" and self._open and self._key is not None:
            self._store(self._open[-1], self._key)

    def _default(self, key: str) -> None:
        attribute, kind, of = self._keys.get(key, (key, "string", "none"))
        for target in ("node", "edge"):
            if of in (target, "all"):
                self._defaults[target][attribute] = typed("".join(self._text), kind)

    def _store(self, element: Element, key: str) -> None:
        attribute, kind, _ = self._keys.get(key, (key, "string", "all"))
        value = "".join(self._text)
        if not value.strip():
            return
        try:
            element.data[attribute] = typed(value, kind)
        except ValueError:
            element.faults.append(f"{attribute}: {kind} expected, found {value[:40]!r}")


def typed(value: str, kind: str) -> Any:
    """The text of a `<data>` as its declared type. Raises ValueError where it does not fit."""
    if kind == "boolean":
        if value.strip().lower() not in _TRUE:
            raise ValueError(value)
        return _TRUE[value.strip().lower()]
    return _TYPES[kind](value.strip()) if kind in _TYPES else value
