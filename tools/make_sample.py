"""Makes kgeval/sample/graph.json and kgeval/sample/defects.json from the documents and tools/sample/*.toml.

    python tools/make_sample.py            writes both files
    python tools/make_sample.py --check    exit code 1 if they are not current

The graph is clean by construction: an entity gets the chunks that name it, a relation the chunks of its document that
name both ends, and its description is the sentence that says it. Then the defects of defects.toml are planted.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "kgeval" / "sample"
SOURCES = ROOT / "tools" / "sample"
Item = dict[str, Any]


def texts() -> dict[str, str]:
    """What the two files should hold, by file name."""
    planted = _toml("defects")
    graph = _plant(_clean(), planted)
    manifest = {
        key: [{"rule_id": rule, **(told if isinstance(told, dict) else {"reason": told})} for rule, told in planted[key].items()]
        for key in ("planted", "accepted", "skipped", "passed")
    }
    return {"graph.json": _lines(graph), "defects.json": json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"}


def _clean() -> Item:
    documents = [_document(path) for path in sorted((SAMPLE / "documents").glob("*.md"))]
    chunks = [chunk for _, found in documents for chunk in found]
    nodes = [_node(kind, name, text, chunks) for kind, names in _toml("entities").items() for name, text in names.items()]
    by_name = {node["name"]: node for node in nodes}
    links = [
        _link(row, [c for c in chunks if c["document"] == document], by_name)
        for document, rows in _toml("relations").items() for row in rows
    ]
    head = {"name": "velmouth", "documents": [d for d, _ in documents], "chunks": chunks}
    return {"directed": True, "multigraph": True, "graph": head, "nodes": nodes, "links": _joined(links)}


def _document(path: Path) -> tuple[Item, list[Item]]:
    """A document and its chunks: one a paragraph, the title apart."""
    title, *paragraphs = [part.strip() for part in path.read_text(encoding="utf-8").split("\n\n")]
    chunks = [
        {"id": f"{path.stem}-{index}", "document": path.stem, "index": index, "text": text}
        for index, text in enumerate(paragraphs)
    ]
    return {"id": path.stem, "title": title.removeprefix("# ")}, chunks


def _node(kind: str, name: str, text: str, chunks: list[Item]) -> Item:
    description, _, more = text.partition(" | ")
    aliases = [alias.strip() for alias in more.split(";") if alias.strip()]
    ids = [c["id"] for c in chunks if any(_named(n, c["text"]) for n in (name, *aliases))]
    if not ids:
        raise SystemExit(f"entities.toml: {name} is named in no chunk")
    return {"id": slug(name), "name": name, "type": kind, "description": description, "aliases": aliases, "chunk_ids": ids}


def _link(row: str, chunks: list[Item], nodes: dict[str, Item]) -> Item:
    source, predicate, target = (part.strip() for part in row.split("|"))
    for end in (source, target):
        if end not in nodes:
            raise SystemExit(f"relations.toml: {row}: {end} is not in entities.toml")
    ends = (nodes[source], nodes[target])
    both = [c for c in chunks if all(c["id"] in node["chunk_ids"] for node in ends)]
    if not both:
        raise SystemExit(f"relations.toml: {row}: no chunk of {chunks[0]['document']} names both ends")
    return {
        "source": ends[0]["id"], "target": ends[1]["id"], "predicate": predicate, "weight": 1.0,
        "description": _sentence(ends, both), "chunk_ids": [c["id"] for c in both],
    }


def _sentence(ends: tuple[Item, Item], chunks: list[Item]) -> str:
    """The first sentence that names both ends, else the first that names the target."""
    sentences = [s for c in chunks for s in re.split(r"(?<=[.;]) (?=[A-Z])", c["text"])]
    said = [[any(_named(n, s) for n in (end["name"], *end["aliases"])) for end in ends] for s in sentences]
    both = [s for s, (source, target) in zip(sentences, said, strict=True) if source and target]
    return (both or [s for s, (_, target) in zip(sentences, said, strict=True) if target])[0]


def _joined(links: list[Item]) -> list[Item]:
    """One link for each statement: what two documents say is said once, with the chunks of both."""
    joined: dict[tuple[str, str, str], Item] = {}
    for link in links:
        key = (link["source"], link["predicate"], link["target"])
        known = joined.setdefault(key, link)
        if known is not link:
            known["chunk_ids"] = [*known["chunk_ids"], *link["chunk_ids"]]
            known["weight"] += link["weight"]
    return list(joined.values())


def _plant(graph: Item, planted: Item) -> Item:
    """The graph with the nodes, links and changes of defects.toml."""
    chunks = graph["graph"]["chunks"]
    for node in planted["nodes"]:
        ids = [c["id"] for c in chunks if _named(node["name"], c["text"])] if node["name"].strip() else []
        graph["nodes"].append({"id": slug(node["name"]), "aliases": [], "chunk_ids": ids, "description": ""} | node)
    for link in planted["links"]:
        graph["links"].append({"description": "", "weight": 1.0} | link)
    for change in planted["changes"]:
        _changed(graph, change["of"]).update(change["set"])
    for thing in (*graph["nodes"], *graph["links"]):
        if not thing["chunk_ids"]:
            del thing["chunk_ids"]
    for name in planted["grown"]:
        _changed(graph, name)["description"] = _grown(name, chunks)
    return graph


def _changed(graph: Item, name: str) -> Item:
    """The node of that name, or the link of that name (`A -[p]-> B`)."""
    names = {node["id"]: node["name"] for node in graph["nodes"]}
    links = {f"{names.get(e['source'])} -[{e['predicate']}]-> {names.get(e['target'])}": e for e in graph["links"]}
    return {node["name"]: node for node in graph["nodes"]}.get(name) or links[name]


def _grown(name: str, chunks: list[Item]) -> str:
    """What every chunk says of it, joined without an end: more than 2,000 characters."""
    said = " ".join(chunk["text"] for chunk in chunks if _named(name, chunk["text"]))
    return said[: said.index(". ", 2000) + 1]


def slug(name: str) -> str:
    """The id of a node: its name in lower case, words joined by hyphens."""
    return "-".join(re.findall(r"\w+", name.lower()))


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _lines(graph: Item) -> str:
    """JSON with one node, link, chunk or document a line, so that a change is one line of a diff."""
    def rows(items: list[Item], pad: str) -> str:
        return "[\n" + ",\n".join(pad + json.dumps(item, ensure_ascii=False) for item in items) + "\n" + pad[1:] + "]"

    head = graph["graph"]
    return (
        '{"directed": true, "multigraph": true,\n "graph": {"name": ' + json.dumps(head["name"])
        + ',\n  "documents": ' + rows(head["documents"], "   ") + ',\n  "chunks": ' + rows(head["chunks"], "   ")
        + '},\n "nodes": ' + rows(graph["nodes"], "  ") + ',\n "links": ' + rows(graph["links"], "  ") + "}\n"
    )


def _toml(stem: str) -> Item:
    return tomllib.loads((SOURCES / f"{stem}.toml").read_text(encoding="utf-8"))


def main() -> int:
    """Writes the files, or compares them. Exit code 1: not current."""
    stale = 0
    for name, text in texts().items():
        file = SAMPLE / name
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
