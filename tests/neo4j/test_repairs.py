"""Every repair that kgeval prints, on two graphs of one database: it does what it says, in its own graph only, loses nothing that was said,
and the finding is gone. And graphs that people made by hand, for which repairs of extracted graphs are not offered.

The graph is the sample with its planted defects and a few more, written twice, in three layouts: two graphs parted by a label, two by a
property, and one whose types and relation names are labels and types.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from losses import counted, lost, merged, state

import kgeval
from kgeval.auditing.engine import run_check
from kgeval.auditing.repair import repair_query
from kgeval.auditing.rulebook import load_rules
from kgeval.auditing.schema import GraphSchema, PropertySpec, TypeSpec
from kgeval.graph.binding import fields_left
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.graph.queries import all_queries
from kgeval.records import AuditReport, Finding, Layout
from kgeval.reports.listing import Listing, dry_run, hits, listing, repair

SAMPLE = json.loads((Path(kgeval.__file__).parent / "sample" / "graph.json").read_text(encoding="utf-8"))
HOSTILE = "Bobby'; `DETACH` \\u0027 $layout"
VALIDITY = {"valid_from_key": "valid_at", "valid_to_key": "invalid_at", "expired_key": "expired_at"}
VECTORS = {"embedding_key": "vector", "chunk_embedding_key": "vector"}
LAYOUTS = {
    "kgeval": load_profile("kgeval").layout.model_copy(update={**VALIDITY, **VECTORS}),
    "graphiti": load_profile("graphiti").layout.model_copy(update=VECTORS | {"chunk_embedding_key": "vector"}),
    "labels": load_profile("neo4j-graphrag").layout.model_copy(update={**VALIDITY, **VECTORS, "scope_property": "book"}),
}

NODES = [dict(node) for node in SAMPLE["nodes"]]
LINKS = [dict(link) for link in SAMPLE["links"]]
TYPES = {node["id"]: node.get("type") for node in NODES}
SCHEMA = GraphSchema(
    source="schema.toml",
    node_types=[
        TypeSpec(label=label, properties=[
            PropertySpec(name="height", types=["INTEGER"]), PropertySpec(name="record", types=["STRING"], required=label == "Ship"),
        ])
        for label in sorted({kind for kind in TYPES.values() if kind} - {"Comet"})
    ],
    relation_types=[TypeSpec(label=label) for label in sorted({link["predicate"] for link in LINKS} - {"raced"})],
    patterns=sorted({(TYPES[link["source"]], link["predicate"], TYPES.get(link["target"])) for link in LINKS if TYPES.get(link["target"])}),
)


def planted() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Entities and relations of the sample, with defects of embeddings, of time, of what a schema declares, and with hostile names."""
    draws = random.Random(5)
    nodes = [{**node, "vector": [draws.gauss() for _ in range(8)]} for node in NODES]
    links = [dict(link) for link in LINKS]
    for node in nodes:
        node |= {"tonnage": "".join(re.findall(r"\d", str(node["tonnage"])))} if isinstance(node.get("tonnage"), str) else {}
    nodes[3].pop("vector")
    nodes[4]["vector"] = [0.0] * 8
    nodes[5]["vector"] = [1.0] * 3
    for at, node in enumerate([node for node in nodes if node["type"] == "Person"][:6]):
        node["height"] = f" {170 + at}" if at < 3 else 180
    nodes.append({"id": "hostile", "name": HOSTILE, "type": HOSTILE, "description": HOSTILE, "chunk_ids": ["01-harbour-0"], "aliases": []})
    nodes.append({"id": "night", "name": "Night Heron", "type": "Ship", "dangling": True, "chunk_ids": [], "aliases": []})
    nodes.append({"id": "she", "name": "She", "type": "Person", "chunk_ids": ["01-harbour-0"], "aliases": []})
    links += [
        {"source": source, "target": "osric-venn", "predicate": predicate, "description": "turned round", "chunk_ids": []}
        for source, predicate in (("sarn-county", "born_in"), ("velmouth-harbour-board", "works_for"))
    ]
    links.append({"source": "hostile", "target": nodes[0]["id"], "predicate": HOSTILE, "description": "", "chunk_ids": ["01-harbour-0"]})
    for link in links:
        link["target"] = "night" if link["target"] == "Night Heron" else link["target"]
    ended = {"invalid_at": "2020-01-01T00:00:00Z", "expired_at": "2021-05-05T05:05:05Z"}
    free = [link for link in links if link["predicate"] == "happened_at"]
    free[0] |= {"valid_at": "2019-02-03T00:00:00Z", **ended}
    free[1] |= {"valid_at": "2030-02-03T00:00:00Z", "invalid_at": "2029-01-01T00:00:00Z"}
    for link in [link for link in links if link["predicate"] == "born_in"][:12]:
        link |= {"valid_at": "2001-02-03T00:00:00Z", "invalid_at": "2002-01-01T00:00:00Z", "expired_at": "2024-06-06T06:06:06Z"}
    free[2] |= {"invalid_at": "2017-07-07T07:07:07Z", "expired_at": "2018-08-08T08:08:08Z"}
    next(link for link in links if link["predicate"] == "sailed_to")["valid_at"] = "2017-07-07T07:07:07Z"
    return nodes, links


def drawn(kind: str, name: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """Nodes (number, labels, properties) and relations (start, end, type, properties) of the graph `name` in one layout."""
    nodes, links = planted()
    scope = {"kgeval": [name], "graphiti": [], "labels": []}[kind]
    own = {"kgeval": {}, "graphiti": {"group_id": name}, "labels": {"book": name}}[kind]
    entity, chunk = {"kgeval": ("__Entity__", "Chunk"), "graphiti": ("Entity", "Episodic"), "labels": ("__Entity__", "Chunk")}[kind]
    rows: list[list[Any]] = []
    at: dict[str, int] = {}
    relations: list[list[Any]] = []
    for doc in SAMPLE["graph"]["documents"] if kind != "graphiti" else []:
        at["document " + doc["id"]] = len(rows)
        rows.append([len(rows), ["Document", *scope], {"id": doc["id"], "path": doc["id"], **own}])
    for one in SAMPLE["graph"]["chunks"]:
        at["chunk " + one["id"]] = len(rows)
        text = {"content": one["text"], "uuid": one["id"]} if kind == "graphiti" else {"text": one["text"], "id": one["id"]}
        rows.append([len(rows), [chunk, *scope], {**text, "vector": [0.0] * 8 if one["id"] == "01-harbour-1" else [1.0] * 8, **own}])
        if kind != "graphiti":
            relations.append([len(rows) - 1, at["document " + one["document"]], "FROM_DOCUMENT", {}])
    for node in nodes:
        at[node["id"]] = len(rows)
        props = {key: value for key, value in node.items() if key not in ("id", "type", "chunk_ids", "description")}
        props |= {"summary" if kind == "graphiti" else "description": node["description"]} if node.get("description") else {}
        props |= {"uuid" if kind == "graphiti" else "id": node["id"]} | ({"type": node["type"]} if kind == "kgeval" else {})
        rows.append([len(rows), [entity, *scope, *([node["type"]] if node["type"] else [])], {**props, **own}])
        for source in node.get("chunk_ids", []):
            if "chunk " + source in at:
                here, there = len(rows) - 1, at["chunk " + source]
                relations.append([there, here, "MENTIONS", {}] if kind == "graphiti" else [here, there, "FROM_CHUNK", {}])
    for link in links:
        times = {key: link[key] for key in ("valid_at", "invalid_at", "expired_at") if key in link}
        told = {"kgeval": {"predicate": link["predicate"], "chunk_ids": link.get("chunk_ids", [])},
                "graphiti": {"name": link["predicate"], "episodes": link.get("chunk_ids", []), "group_id": name}, "labels": {}}[kind]
        type_ = {"kgeval": re.sub(r"\W", "_", link["predicate"]).upper(), "graphiti": "RELATES_TO", "labels": link["predicate"]}[kind]
        relations.append([at[link["source"]], at[link["target"]], type_, {**told, **times}])
    return rows, relations


def draw(graph: Graph, kind: str, name: str) -> None:
    nodes, relations = drawn(kind, name)
    rows = graph.write("UNWIND $rows AS row CREATE (n:$(row[1])) SET n = row[2] RETURN row[0] AS at, elementId(n) AS id", {"rows": nodes})
    ids = {row["at"]: row["id"] for row in rows}
    graph.write(
        "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row[0] MATCH (b) WHERE elementId(b) = row[1] "
        "CREATE (a)-[r:$(row[2])]->(b) SET r = row[3]",
        {"rows": [[ids[a], ids[b], *more] for a, b, *more in relations]},
    )


def everything(graph: Graph, kind: str, name: str) -> list[Any]:
    """All nodes and relations of one graph, with their ids, labels and properties."""
    mine = {"kgeval": f"'{name}' IN labels(n)", "graphiti": f"n.group_id = '{name}'", "labels": f"n.book = '{name}'"}[kind]
    nodes = graph.read(f"MATCH (n) WHERE {mine} RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS all ORDER BY id")
    links = graph.read(
        f"MATCH (n)-[r]->(o) WHERE {mine} RETURN elementId(r) AS id, type(r) AS type, properties(r) AS all, elementId(o) AS o ORDER BY id"
    )
    return [nodes, links]


# repairs of properties come before those of relations, and what deletes entities comes last, so that each still has its hits
ORDER = [
    "property-type-mismatch", "mixed-property-type", "missing-required-property", "missing-embedding", "zero-embedding",
    "embedding-dimension", "implausible-invalidation", "inverted-interval", "mass-invalidation", "expired-relation",
    "stale-embedding", "document-unfinished", "document-without-chunks", "duplicate-document", "chunk-without-document", "empty-chunk",
    "duplicate-chunk", "broken-chunk-order", "community-without-members", "community-without-report", "community-without-parent",
    "orphaned-memory", "repeated-key", "value-outside-format", "value-spelling", "impossible-value", "values-out-of-order",
    "missing-usual-relation", "extra-usual-relation", "two-at-once", "open-path",
    "same-at-both-ends", "unusual-number", "swapped-values", "unclean-text",
    "broken-dependency", "missing-usual-value", "unusual-ratio", "broken-sum", "swapped-texts",
    "leaked-description", "bloated-description", "low-fill-property", "same-record", "hierarchy-cycle", "misspelled-property", "null-text",
    "value-as-text", "markup-in-name",
    "leaked-output", "leaked-output-in-type", "keyword-list-type", "dominant-type", "name-in-other-language", "prompt-example",
    "chunk-without-entities", "wrongly-cited-chunk", "dangling-source", "ends-not-in-source", "entity-without-source",
    "name-not-in-source", "relation-without-source", "saturated-source-list", "false-merger",
    "bridge-only-access", "small-component", "signature-outlier", "pattern-violation", "undeclared-relation", "missing-type",
    "undeclared-type", "relation-synonym", "rare-relation-type", "conflicting-value", "self-loop", "parallel-relation",
    "inverse-duplicate", "dangling-relation", "rare-type", "type-inconsistency", "type-conflict", "duplicate-name",
    "similar-entity", "fragmented-entity", "sentence-entity", "empty-name", "super-node", "pronoun-entity", "generic-entity",
    "numeric-entity", "placeholder-entity", "isolated-entity", "constant-relation-type", "missing-index",
]
# those that depend most on the layout
SHORT = ["expired-relation", "missing-type", "rare-relation-type", "rare-type", "isolated-entity"]
SWAPPED = "Sarn County -[born_in]-> Osric Venn"
SETTINGS = {
    "mass-invalidation": {"min_facts": 10}, "constant-relation-type": {"min_relations": 20, "min_share": 0.12},
    "similar-entity": {"min_cosine": 0.85},
}
NO_HITS = {  # asked of what people keep, or nothing in these graphs is a hit
    "null-text", "value-as-text", "markup-in-name", "stale-embedding", "document-unfinished", "document-without-chunks",
    "duplicate-document", "chunk-without-document", "empty-chunk", "duplicate-chunk", "broken-chunk-order", "community-without-members",
    "community-without-report", "community-without-parent", "orphaned-memory", "repeated-key", "value-outside-format",
    "value-spelling", "impossible-value", "values-out-of-order", "missing-usual-relation", "extra-usual-relation", "two-at-once",
    "open-path", "same-at-both-ends", "unusual-number", "unusual-ratio", "broken-sum", "swapped-values", "unclean-text",
    "broken-dependency", "missing-usual-value", "swapped-texts", "leaked-description",
    "same-record", "hierarchy-cycle", "misspelled-property", "leaked-output", "leaked-output-in-type", "keyword-list-type", "dominant-type",
    "name-in-other-language", "prompt-example", "wrongly-cited-chunk",
}
NO_ANSWER = {  # what a layout has no place for, so that the check is skipped or has nothing to find
    "kgeval": {"saturated-source-list"}, "graphiti": {"saturated-source-list", "false-merger"},
    "labels": {"saturated-source-list", "relation-without-source", "dangling-source", "ends-not-in-source"},
}
NO_REPAIR = {"bloated-description": "nothing in this layout separates the pieces of a description"} | {
    rule.id: rule.no_repair for rule in load_rules().values() if rule.no_repair
}
LEFT = {"parallel-relation"}  # hits whose properties differ stay


def test_every_rule_stands_in_the_order() -> None:
    assert sorted(ORDER) == sorted(load_rules())


@pytest.mark.parametrize(("kind", "rules"), [
    pytest.param("kgeval", ORDER[:-1], id="kgeval", marks=pytest.mark.long), pytest.param("kgeval", SHORT, id="kgeval, some"),
    pytest.param("graphiti", SHORT, id="graphiti, some", marks=pytest.mark.long), pytest.param("labels", SHORT, id="labels, some"),
    pytest.param("graphiti", ORDER[:-1], id="graphiti", marks=pytest.mark.long),
    pytest.param("labels", ORDER[:-1], id="labels", marks=pytest.mark.long),
])
def test_each_repair_does_what_it_says_in_its_own_graph_only(graph: Graph, kind: str, rules: list[str]) -> None:
    for name in ("one", "two"):
        draw(graph, kind, name)
    before = everything(graph, kind, "two")
    foreign = [[row["id"] for row in rows] for rows in before]
    wrong = {}
    for rule_id in rules:
        if fault := repaired(graph, kind, rule_id, foreign):
            wrong[rule_id] = fault
        reads = (query := repair_query(load_rules()[rule_id])) is not None and query.mode == "read"
        if not reads and everything(graph, kind, "two") != before:  # the server refuses what a reading transaction writes
            wrong[rule_id] = "the other graph was changed"
            before = everything(graph, kind, "two")
    assert wrong == {}


def repaired(graph: Graph, kind: str, rule_id: str, foreign: list[list[str]]) -> str | None:
    """Runs what is printed about a finding, and says what is wrong with it. `foreign`: ids of nodes and relations of the other graph."""
    layout = bind(graph, LAYOUTS[kind], "one")
    finding = check(graph, layout, rule_id)
    if not finding.count:
        return None if rule_id in NO_ANSWER[kind] | NO_HITS else f"has no hits: {finding.status}, {finding.reason}"
    fault = listed(graph, layout, finding)
    printed, query = repair(report_of(layout), finding), repair_query(load_rules()[rule_id])
    if finding.repair is None or fault:
        return fault or "has no repair"
    if rule_id in NO_REPAIR:
        return None if NO_REPAIR[rule_id] in (finding.repair.reason or "") and printed is None else f"not left out: {finding.repair}"
    if query is None:
        return "has no file"
    if printed is None:
        return f"is not printed: {finding.repair.reason}"
    writes = not finding.repair.reads
    theirs = {"element_ids": [*foreign[0], *foreign[1]], "groups": [foreign[0][-2:]], "element_id": foreign[0][-1]}
    pasted(graph, layout, printed, {**next(iter(chosen(graph, rule_id, finding))), **theirs}, write=writes)
    stood = said(graph)
    rows = []
    for values in chosen(graph, rule_id, finding):
        if writes and (wrong := foretold(graph, layout, finding, values)):
            return wrong
        rows += [] if writes else pasted(graph, layout, printed, values)
    if not writes:
        return None if rows else "shows nothing"
    if gone := stood - said(graph):
        return f"loses {sorted(gone)[:5]}"
    if finding.repair.query == "merge-entities" and "Not merged, only to look at" in str(finding.repair.note):
        return still_sure(check(graph, layout, rule_id))
    left = check(graph, layout if rule_id != "constant-relation-type" else bind(graph, LAYOUTS[kind], "one"), rule_id)
    if rule_id == "signature-outlier":  # only one was swapped, the others have an end of the wrong type
        return "is left" if any(SWAPPED in one.items[0].name for one in left.examples) or left.count != (finding.count or 0) - 1 else None
    return f"{left.count} hits are left of {finding.count}; {rows}" if left.count and rule_id not in LEFT else None


def foretold(graph: Graph, layout: Layout, finding: Finding, values: dict[str, Any]) -> str | None:
    """Runs a repair that writes, its dry run first, and says where what it did is not what that said, or what it said."""
    printed, reads = repair(report_of(layout), finding), dry_run(report_of(layout), finding)
    assert printed is not None and reads is not None and finding.repair is not None and finding.repair.query is not None
    before = state(graph.read)
    would = pasted(graph, layout, reads, values)
    did = pasted(graph, layout, printed, values, write=True)
    if would != did:
        return f"would have done {would}, and did {did}"
    after = state(graph.read)
    if finding.repair.query == "merge-entities":
        groups = [*finding.repair.parameters["groups"]]
        seen, faults = merged(before, after, [[one for one in group if one in before.nodes] for group in groups])
    else:
        seen, faults = counted(before, after, finding.repair.query), []
        if finding.repair.query not in ("delete-parallel-relations", "shorten-description"):
            faults = lost(before, after, retyped=finding.repair.query == "text-to-number")
    wrong = {name: (n, did[0][name]) for name, n in seen.items() if n != did[0][name]}
    return f"counts {wrong}; {faults[:5]}" if wrong or faults else None


def still_sure(finding: Finding) -> str | None:
    """What a merge of all that is sure has left of it."""
    return f"is left: {finding.repair.note}" if finding.count and finding.repair and not finding.repair.reads else None


def said(graph: Graph) -> set[str]:
    """All that the database says somewhere: labels, types, values of properties (of lists and of joined texts each), and which types join
    which things, by name."""
    nodes = graph.read("MATCH (n) RETURN labels(n) AS names, properties(n) AS own")
    links = graph.read("MATCH ()-[r]->() RETURN [type(r)] AS names, properties(r) AS own")
    found: set[str] = set()
    for row in (*nodes, *links):
        values = [value if isinstance(value, list) else [value] for value in row["own"].values()]
        texts = [str(value) for value in (*row["names"], *(one for some in values for one in some))]
        found |= {part.strip() for text in texts for part in text.split("<SEP>")}
    return found


def listed(graph: Graph, layout: Layout, finding: Finding) -> str | None:
    """Whether the query lists what its title says."""
    query, ids = listing(report_of(layout), finding), hits(report_of(layout), finding)
    if query is None:
        return "has no query"
    if finding.query_lists == "hits" and not query.missing:
        row = pasted(graph, layout, query, {})[0]
        return None if row["count"] == finding.count else f"lists {row['count']} of {finding.count} hits"
    things = {item.element_id for example in finding.examples for item in example.items if item.element_id}
    found = len(pasted(graph, layout, ids, {})) if ids else 0
    return None if found == len(things) else f"shows {found} of {len(things)} things"


def pasted(graph: Graph, layout: Layout, printed: Listing, values: dict[str, Any], *, write: bool = False) -> list[dict[str, Any]]:
    """What a shell does with the printed text, after the reader has set what is his to choose: `:param` lines, then the statement."""
    lines = printed.text().split("\n")
    settings = [re.fullmatch(r":param (\w+) => (.*)", line) for line in lines if line.startswith(":param ")]
    given = {found[1]: graph.read(f"RETURN {found[2]} AS value")[0]["value"] for found in settings if found}
    statement = "\n".join(line for line in lines if not line.startswith(":param "))
    assert statement.endswith(";")
    return (graph.write if write else graph.read)(statement, given | fields_left(statement, layout) | values)


def check(graph: Graph, layout: Layout, rule_id: str) -> Finding:
    return run_check(graph, layout, rule_id, examples=0, schema=SCHEMA.parameters(), settings=SETTINGS.get(rule_id, {}))


def report_of(layout: Layout) -> AuditReport:
    return SimpleNamespace(layout=layout, findings=[])  # type: ignore[return-value]


def chosen(graph: Graph, rule_id: str, finding: Finding) -> Iterator[dict[str, Any]]:
    """What a reader chooses, run after run of the repair."""
    items = [example.items for example in finding.examples]
    ids = [[item.element_id for item in group] for group in items]
    if rule_id == "mixed-property-type":
        yield from (dict(zip(("type", "property"), group[0].name.split("."), strict=True)) for group in items)
    elif rule_id in ("rare-relation-type", "rare-type"):
        yield from ({"from": group[0].name, "to": "born_in" if rule_id == "rare-relation-type" else "Person"} for group in items)
    elif rule_id == "relation-synonym":
        yield from ({"from": other.name, "to": group[0].name} for group in items for other in group[1:])
    elif rule_id == "type-inconsistency":
        yield from ({"from": group[0].name, "to": group[1].name} for group in items)
    elif rule_id in ("undeclared-relation", "undeclared-type"):
        yield from ({"from": group[0].type, "to": "born_in" if rule_id == "undeclared-relation" else "Person"} for group in items)
    elif rule_id == "signature-outlier":  # the other one that was swapped is left to the schema's check
        yield {"element_ids": [group[0].element_id for group in items if group[0].name == SWAPPED]}
    elif rule_id == "sentence-entity":
        yield from ({"element_id": group[0], "name": "Teaching"} for group in ids)
    elif rule_id == "constant-relation-type":  # the ids of both graphs: those of the other one are left alone
        for group in items:
            named = "MATCH ()-[r]->() WHERE $name IN [type(r), r.name, r.predicate] RETURN elementId(r) AS id ORDER BY id"
            rows = graph.read(named, {"name": group[0].name})
            for part in range(4):
                yield {"element_ids": [row["id"] for row in rows[part::4]], "label": f"{group[0].name} {part}"}
    elif rule_id == "mass-invalidation":
        yield from ({"second": str(example.why).rpartition(" at ")[2]} for example in finding.examples)
    else:
        yield {
            "property-type-mismatch": {"type": "Person", "property": "height"},
            "missing-required-property": {"property": "record", "value": "-"},
            "dangling-source": {"id": items[0][0].name}, "missing-type": {"type": "Person"},
        }.get(rule_id, {})


def run_repair(graph: Graph, layout: Layout, query: str, **values: Any) -> list[dict[str, Any]]:
    given = {"layout": layout.model_dump(), "unique": [], **values}
    would = graph.read(all_queries()[f"dry-{query}"], given)
    did = graph.write(all_queries()[query], given)
    assert would == did
    return did


def id_of(graph: Graph, name: str) -> str:
    return str(graph.read("MATCH (n {name: $name}) RETURN elementId(n) AS id", {"name": name})[0]["id"])


PLAIN = Layout(
    name="plain", scope_property="book", scope_value="mine", entity_labels=["E"], name_keys=["name"], alias_keys=["aliases"],
    type_label_ignored=["E"], relation_types=["R", "S"], relations_join_entities_only=True, chunk_labels=["C"], mention_types=["IN"],
    entity_source_key="source_id", source_separator="<SEP>",
)


def test_a_merge_takes_relations_links_sources_and_the_name_over_and_doubles_nothing(graph: Graph, draw: Any) -> None:
    draw("""CREATE (keep:E {name: 'Ada Lovelace', book: 'mine', source_id: 'c1'}),
              (copy:E {name: 'Lovelace', book: 'mine', source_id: 'c2'}),
              (x:E {name: 'x', book: 'mine'}), (c:C {book: 'mine'}), (keep)-[:R {since: 1}]->(x), (copy)-[:R {since: 1}]->(x),
              (copy)-[:R {since: 2}]->(x), (x)-[:S]->(copy), (copy)-[:S]->(keep), (copy)-[:IN]->(c), (keep)-[:IN]->(c)""")
    groups = [[id_of(graph, "Ada Lovelace"), id_of(graph, "Lovelace")]]
    assert run_repair(graph, PLAIN, "merge-entities", groups=groups) == [
        {"groups": 1, "left_out": 0, "merged": 1, "moved": 3, "joined": 2, "taken": 1, "former": 1},
    ]
    kept = graph.read("MATCH (k:E {name: 'Ada Lovelace'}) RETURN k.source_id AS s, k.aliases AS a, k.former_name AS f")
    assert kept == [{"s": "c1<SEP>c2", "a": ["Lovelace"], "f": ["Lovelace"]}]
    rows = graph.read("MATCH (a)-[r]->(b) RETURN a.name AS a, type(r) AS r, r.since AS since, b.name AS b ORDER BY a, r, since")
    assert [tuple(row.values()) for row in rows] == [
        ("Ada Lovelace", "IN", None, None), ("Ada Lovelace", "R", 1, "x"), ("Ada Lovelace", "R", 2, "x"),
        ("Ada Lovelace", "S", None, "Ada Lovelace"), ("x", "S", None, "Ada Lovelace"),
    ]


def test_a_merge_of_three_keeps_every_value_label_relation_and_link(graph: Graph, draw: Any) -> None:
    """Copies that are related to one another and to themselves, and whose properties, labels and lists differ from each other."""
    draw("""CREATE (k:E:Person {name: 'Ada', book: 'mine', born: 1815, source_id: 'c1', aliases: ['A']}),
              (l:E:Writer {name: 'Lovelace', book: 'mine', born: 1816, died: 1852, source_id: 'c2<SEP>c1', aliases: ['A', 'L']}),
              (m:E:Person {name: 'Ada King', book: 'mine', died: 1853, source_id: 'c3', vector: [0.5, 0.25]}),
              (x:E {name: 'x', book: 'mine'}), (c:C {book: 'mine', text: 'passage'}),
              (l)-[:R {since: 1}]->(m), (m)-[:R {since: 2}]->(m), (m)-[:S {line: 3}]->(x), (l)-[:S {line: 4}]->(x), (x)-[:R]->(m),
              (x)-[:R]->(l), (m)-[:IN {page: 7}]->(c), (l)-[:UNKNOWN_TO_LAYOUT {note: 'n'}]->(c)""")
    stood = said(graph)
    groups, before = [[id_of(graph, name) for name in ("Ada", "Lovelace", "Ada King")]], state(graph.read)
    (did,) = run_repair(graph, PLAIN, "merge-entities", groups=groups)
    assert merged(before, state(graph.read), groups) == ({key: n for key, n in did.items() if key != "left_out"}, [])
    assert (did["merged"], did["moved"], did["joined"]) == (2, 7, 1)
    assert stood - said(graph) == set()
    (kept,) = graph.read("MATCH (k:E {name: 'Ada'}) RETURN labels(k) AS labels, properties(k) AS own")
    own = kept["own"]
    assert set(kept["labels"]) == {"E", "Person"} and own["former_labels"] == ["Writer"]
    assert (own["born"], own["former_born"], {own["died"], *own["former_died"]}) == (1815, [1816], {1852, 1853})
    assert sorted(own["source_id"].split("<SEP>")) == ["c1", "c2", "c3"] and own["vector"] == [0.5, 0.25]
    assert set(own["aliases"]) == {"A", "L", "Lovelace", "Ada King"} and set(own["former_name"]) == {"Lovelace", "Ada King"}
    rows = graph.read("MATCH (a)-[r]->(b) RETURN a.name AS a, type(r) AS r, properties(r) AS own, coalesce(b.name, b.text) AS b")
    assert sorted((row["a"], row["r"], json.dumps(row["own"]), row["b"]) for row in rows) == [
        ("Ada", "IN", '{"page": 7}', "passage"), ("Ada", "R", '{"since": 1}', "Ada"), ("Ada", "R", '{"since": 2}', "Ada"),
        ("Ada", "S", '{"line": 3}', "x"), ("Ada", "S", '{"line": 4}', "x"), ("Ada", "UNKNOWN_TO_LAYOUT", '{"note": "n"}', "passage"),
        ("x", "R", "{}", "Ada"),
    ]


def test_of_repeated_relations_only_those_go_that_are_the_same_in_everything(graph: Graph, draw: Any) -> None:
    draw("""CREATE (a:E {name: 'a', book: 'mine'}), (b:E {name: 'b', book: 'mine'})
              FOREACH (minute IN [3, 41, 41, 90] | CREATE (a)-[:R {minute: minute}]->(b))
              CREATE (a)-[:R]->(b), (b)-[:R]->(a), (a)-[:S {minute: 41}]->(b)""")
    assert run_repair(graph, PLAIN, "delete-parallel-relations") == [{"deleted": 1}]
    rows = graph.read("MATCH (a)-[r]->(b) RETURN a.name + type(r) + b.name + coalesce(toString(r.minute), '') AS r ORDER BY r")
    assert [row["r"] for row in rows] == ["aRb", "aRb3", "aRb41", "aRb90", "aSb41", "bRa"]


def test_texts_that_a_number_would_not_give_back_stay_texts(graph: Graph, draw: Any) -> None:
    draw("UNWIND ['02139', '+49', '-0', '1e3', '7', '-12', ' 3 '] AS zip CREATE (:E:Place {book: 'mine', zip: zip})")
    assert run_repair(graph, PLAIN, "text-to-number", type="Place", property="zip") == [{"changed": 3, "refused": 0}]
    rows = graph.read("MATCH (n) RETURN n.zip AS zip")
    assert {row["zip"] for row in rows} == {"02139", "+49", "-0", "1e3", 7, -12, 3}


def test_a_source_that_came_after_the_audit_is_not_written_over(graph: Graph, draw: Any) -> None:
    draw("""CREATE (a:E {name: 'a', book: 'mine'}), (b:E {name: 'b', book: 'mine'}), (c:C {id: 'c1', book: 'mine'}),
              (a)-[:IN]->(c), (b)-[:IN]->(c), (a)-[:R]->(b), (a)-[:S {chunks: ['own']}]->(b)""")
    layout = PLAIN.model_copy(update={"relation_source_key": "chunks", "chunk_id_keys": ["id"], "source_separator": None})
    ids = [row["id"] for row in graph.read("MATCH (:E)-[r]->(:E) RETURN elementId(r) AS id")]
    assert run_repair(graph, layout, "infer-sources", element_ids=ids) == [{"changed": 1}]
    rows = graph.read("MATCH (:E)-[r]->(:E) RETURN type(r) AS type, r.chunks AS chunks ORDER BY type")
    assert [(row["type"], row["chunks"]) for row in rows] == [("R", ["c1"]), ("S", ["own"])]


HAND_MADE = """
    CREATE (p:Player {name: 'Ann Lee', born: date('1990-01-02')}), (q:Player {name: 'Ann Lee', born: date('1995-05-06')}),
      (m:Match {name: 'Final'}), (t:Product {name: 'Tea', sku: 'T-1', price: 3}), (u:Product {name: 'Tea', sku: 'T-2', price: 4}),
      (f:Function {name: 'walk', file: 'a.py'}), (h:Shop {name: 'Harbour Shop', opened: 1901}),
      (t)-[:SOLD_AT]->(h), (u)-[:SOLD_AT]->(h), (f)-[:CALLS {line: 12}]->(f), (q)-[:PLAYED]->(m)
    FOREACH (minute IN [3, 41, 41, 90] | CREATE (p)-[:SCORED {minute: minute}]->(m))
    CREATE (p)-[:VISITED]->(h), (p)-[:VISITED]->(h), (:Place {name: 'Old Pier', built: 1870})
"""


def test_a_graph_made_by_hand_is_offered_no_repair_that_could_lose_a_fact(graph: Graph, draw: Any) -> None:
    """Goals of one minute, visits, recursion, products and players of one name: what is offered leaves them as they are."""
    draw(HAND_MADE)
    layout = bind(graph, load_profile("generic").layout, None)
    findings = {rule_id: check(graph, layout, rule_id) for rule_id in ORDER}
    hits = {rule_id for rule_id, finding in findings.items() if finding.count}
    assert hits >= {"duplicate-name", "parallel-relation", "self-loop", "isolated-entity"}
    for rule_id, why in (("duplicate-name", "two things may bear one name"), ("parallel-relation", "may be a second event")):
        offered = findings[rule_id].repair
        assert offered is not None and offered.cypher is None
        start = "No repair offered for this kind of graph: nothing shows that a writer extracted it from texts, and elsewhere "
        assert str(offered.reason).startswith(start) and why in str(offered.reason)
    stood, count = said(graph), len(contents(graph))
    for rule_id in sorted(hits):
        offered, printed = findings[rule_id].repair, repair(report_of(layout), findings[rule_id])
        if offered is not None and printed is not None and not offered.reads:
            for values in chosen(graph, rule_id, findings[rule_id]):
                pasted(graph, layout, printed, values, write=True)
            assert (stood - said(graph), len(contents(graph))) == (set(), count), rule_id
    scored = graph.read("MATCH ()-[r]->() WHERE r.minute > 0 RETURN r.minute AS minute ORDER BY minute")
    assert [row["minute"] for row in scored] == [3, 41, 41, 90]


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize(("name", "linked", "offered"), [
    ("neo4j-graphrag", True, True), ("neo4j-graphrag", False, False), ("generic", True, False), ("mine", True, False),
])
def test_merges_are_offered_where_a_known_writer_linked_entities_to_texts(
    graph: Graph, draw: Any, name: str, linked: bool, offered: bool,
) -> None:
    draw("CREATE (:__Entity__:Person {name: 'Ada'}), (:__Entity__:Person {name: 'ADA'}), (:Chunk {text: 'Ada', id: 'c'})")
    if linked:
        graph.write("MATCH (e:__Entity__), (c:Chunk) CREATE (e)-[:FROM_CHUNK]->(c)")
    layout = load_profile("neo4j-graphrag" if name == "mine" else name).layout.model_copy(update={"name": name})
    found = check(graph, bind(graph, layout, None), "duplicate-name").repair
    assert found is not None and (found.query == "merge-entities", found.reason is None) == (offered, offered)


def contents(graph: Graph) -> list[dict[str, Any]]:
    """All nodes and relations with their properties."""
    return graph.read("MATCH (n) RETURN properties(n) AS own UNION ALL MATCH ()-[r]->() RETURN properties(r) AS own")


def test_another_graph_that_came_after_the_layout_was_bound_is_left_alone(graph: Graph, draw: Any) -> None:
    """`relations_join_entities_only` was true of one graph."""
    draw("""UNWIND ['mine', 'other'] AS book CREATE (e:E {name: book, book: book})-[:R]->(f:E {book: book}), (e)-[:R]->(f)""")
    assert run_repair(graph, PLAIN, "delete-parallel-relations") == [{"deleted": 1}]
    assert graph.read("MATCH (e)-[r:R]->() RETURN e.name AS name, count(r) AS n ORDER BY name") == [
        {"name": "mine", "n": 1}, {"name": "other", "n": 2},
    ]


@pytest.mark.parametrize("name", ["kgeval", "graphiti", "lightrag"])
def test_a_layout_that_is_bound_to_no_graph_reaches_none(graph: Graph, draw: Any, name: str) -> None:
    draw("CREATE (e:Entity:__Entity__ {name: 'x', group_id: 'g'})-[:RELATES_TO]->(f:Entity:__Entity__), (e)-[:RELATES_TO]->(f)")
    assert run_repair(graph, load_profile(name).layout, "delete-parallel-relations") == [{"deleted": 0}]


def test_each_missing_index_is_made_by_its_own_statement_whatever_its_label_is_called(graph: Graph, draw: Any) -> None:
    label, key = "E`) ON (n.x); MATCH (n) DETACH DELETE n //", "k\\u0060 ey"
    draw("CREATE (:E {id: 1})")
    graph.write("CREATE (n:$($label)) SET n[$key] = 'x'", {"label": label, "key": key})
    wanted = [f"{kind}{label}.{key}" for kind in ("", "vector:", "fulltext:")]
    layout = Layout(name="indexed", entity_labels=["E"], expected_indexes=[*wanted, "E.id"])
    finding = run_check(graph, layout, "missing-index")
    assert (finding.count, finding.repair is not None and finding.repair.safe) == (4, True)
    try:
        for statement in str(finding.repair and finding.repair.cypher).splitlines():
            graph.schema_command(statement.rstrip(";"))
        graph.schema_command("CALL db.awaitIndexes()")
        assert run_check(graph, layout, "missing-index").count == 0
        assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 2}]
    finally:
        for row in graph.read("SHOW INDEXES YIELD name, type, owningConstraint AS of WHERE type <> 'LOOKUP' RETURN name, of"):
            graph.schema_command(f"DROP {'CONSTRAINT' if row['of'] else 'INDEX'} `{row['of'] or row['name']}`")
