"""Reads GraphML of any writer, streaming, with line numbers. A DTD that declares entities or attributes is refused: a few lines of it can
stand for gigabytes."""

from __future__ import annotations

import re
import xml.sax.handler
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax import SAXException

from kgeval.errors import InputError
from kgeval.graph.load import nodes
from kgeval.graph.load.gather import Gather
from kgeval.graph.load.model import Loaded
from kgeval.graph.load.values import Misfit
from kgeval.limits import PIECE, file_limits, too_large
from kgeval.tables import check_readable

A_VALUE = 100  # characters of a default that count as one value
LONGEST_REFERENCE = 100
# a reference to what only a DTD declares: to none of the five of XML, and to no number
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_][\w.-]{0,90});")
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
    """The graph in a GraphML file. Raises: InputError for what is no GraphML, or GraphML whose DTD declares entities or attributes."""
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

    check_readable(path)
    handler = GraphmlHandler(path)
    try:
        _feed(path, handler)
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


def _feed(path: Path, handler: GraphmlHandler) -> None:
    """Has the handler hear the file. Raises: SAXException, DefusedXmlException; InputError where the DTD gives attributes."""
    from xml.parsers import expat

    from defusedxml.expatreader import DefusedExpatParser

    def refuse_attributes(element: str, *_: object) -> None:
        raise InputError(
            f"{path}: its DTD declares attributes of <{element[:60]}> (<!ATTLIST>); this is refused, since every element would get a copy",
            fix="export the graph again without <!ATTLIST>; a value for all is a <default> of a <key>",
        )

    class Reader(DefusedExpatParser):  # type: ignore[misc]
        given = 0  # bytes so far
        names_dtd = False
        tail = b""

        def note_doctype(self, name: str, system: str | None, public: str | None, subset: bool) -> None:
            self.names_dtd = bool(system or public)

        def reset(self) -> None:
            super().reset()
            self._parser.AttlistDeclHandler = refuse_attributes
            self._parser.StartDoctypeDeclHandler = self.note_doctype
            # a DOCTYPE that names the public DTD is common; it is neither fetched nor a fault
            self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

        def feed(self, data: bytes, isFinal: bool = False) -> None:
            super().feed(data, isFinal)
            self.given += len(data)
            if self.names_dtd:  # Expat leaves such a reference out of an attribute without a word, and two ids become one
                if found := _REFERENCE.search(self.tail + data):
                    raise _undeclared(str(path), found[1].decode())
                self.tail = data[-LONGEST_REFERENCE:]
            if not isFinal:
                # Expat begins a tag or a comment anew with each piece until it ends, and one of 200 MB has 3,000 pieces of 64 kB:
                # the next one is as long as what waits for its end.
                self._bufsize = max(PIECE, self.given - max(self._parser.CurrentByteIndex, 0))

    reader = Reader(forbid_dtd=False, forbid_entities=True, forbid_external=True)
    reader.setContentHandler(handler)
    with path.open("rb") as file:
        reader.parse(file)


def _undeclared(where: str, name: str) -> InputError:
    return InputError(f"{where}: &{name[:60]}; is not declared in the file", fix="write the letter itself")


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
        self._sizes = dict.fromkeys(self._defaults, 0)
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
            self._defaults_given += self._sizes[tag]
            if self._defaults_given > self._most_defaults:
                what = (
                    f"its keys give more than {self._most_defaults:,} values by default (<default>) to nodes and edges, each "
                    f"{A_VALUE} characters of a text counted as one"
                )
                raise too_large(str(self._path), what, "defaults")
            self._open.append(Element(tag, self._place.getLineNumber(), given, dict(self._defaults[tag])))
            (self.nodes if tag == "node" else self.edges).append(self._open[-1])
        elif tag == "hyperedge" and not self.notes:
            self.notes.append("hyperedges are not loaded: a relation has two ends")
        if tag in WITH_TEXT:
            # A <default> stands inside of its <key>, and names none itself.
            self._key = given.get("key", self._key if tag == "default" else None)
            self._text = []

    def skippedEntity(self, name: str) -> None:
        # declared in the DTD that was not fetched, if anywhere: without it a text would lack a letter
        raise _undeclared(f"{self._path}:{self._place.getLineNumber()}", name)

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
            self._give_by_default(attribute, kind, [target for target in self._defaults if of in (target, "all")], value)
        elif tag in ("NodeLabel", "EdgeLabel") and self._open:
            self._open[-1].data.setdefault("label", value.strip())
        elif tag == "data" and self._open and self._key is not None and value.strip():
            attribute, kind, _ = self._keys.get(self._key, (self._key, "string", "all"))
            try:
                self._open[-1].data[attribute] = typed(value, kind)
            except ValueError:
                self._open[-1].faults.append(f"{attribute}: {kind} expected, found {value[:40]!r}")
        if tag in WITH_TEXT:
            # yEd puts a label into a <data>, whose text it is not; and in a thousand of them within each other it would be joined each time
            self._text = []

    def _give_by_default(self, attribute: str, kind: str, targets: Sequence[str], value: str) -> None:
        """Has all nodes or edges from here on get the value where they have no own. Raises: InputError for one of another kind."""
        if not targets or (kind in _TYPES and not value.strip()):
            return
        try:
            given = typed(value, kind)
        except ValueError as cause:
            where = f"{self._path}:{self._place.getLineNumber()}"
            what = f"{where}: the <default> of {attribute[:60]}: {kind} expected, found {value[:40]!r}"
            raise InputError(what, fix="correct the value, or the attr.type of its <key>") from cause
        for target in targets:
            self._defaults[target][attribute] = given
            # what an earlier <default> of this attribute gave stays counted: a file does not need two
            self._sizes[target] += 1 + len(value) // A_VALUE


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
