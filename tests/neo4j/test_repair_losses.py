"""No repair loses a fact: on hostile graphs of our own, and on public graphs of both kinds, each repair that an audit offers is run, and
all nodes and relations before and after are held against what its dry run said. On public graphs in a transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from losses import State, counted, lost, merged, state
from property_graphs import PROPERTY_GRAPHS, load_property_graph

import kgeval
from kgeval.auditing.engine import run_check
from kgeval.auditing.merging import declared_unique
from kgeval.auditing.rulebook import load_rules
from kgeval.graph.binding import fields_left
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import load_profile
from kgeval.graph.queries import all_queries
from kgeval.records import Finding, Layout, Repair

SHARED = Path(__file__).parents[3] / "shared" / "data"
E = Layout(
    name="plain", scope_property="book", scope_value="mine", entity_labels=["E"], name_keys=["name"], alias_keys=["aliases"],
    description_key="description", type_label_ignored=["E"], relation_types=["R", "S"], chunk_labels=["C"], chunk_id_keys=["id"],
    mention_types=["IN"], entity_source_key="source_id", relation_source_key="chunks", source_separator="<SEP>",
    placeholder_values=["UNKNOWN"], valid_from_key="valid_at", valid_to_key="invalid_at", expired_key="expired_at",
)
DROPPED = {"shorten-description", "delete-parallel-relations"}  # what is there twice


@pytest.fixture
def constrain(graph: Graph) -> Iterator[Callable[[str, str, str], None]]:
    """Declares properties of a label, or of a relation type, unique, for one test."""
    made = []

    def declare(pattern: str, name: str, keys: str) -> None:
        made.append(f"losses_{len(made)}")
        graph.schema_command(f"CREATE CONSTRAINT {made[-1]} FOR {pattern.format(name)} REQUIRE ({keys}) IS UNIQUE")

    yield declare
    for name in made:
        graph.schema_command(f"DROP CONSTRAINT {name}")


NODE, RELATION = "(x:{})", "()-[x:{}]-()"


def run(graph: Graph, query: str, layout: Layout = E, **values: Any) -> tuple[dict[str, Any], State, State]:
    """What a repair did, which is what its dry run said; and all that was before and is after."""
    rows = graph.read(all_queries()["database-constraints"])
    given = {"layout": layout.model_dump(), "unique": declared_unique(rows, layout), **values}
    needed = {param.name for param in all_queries()[query].params}
    given = {name: value for name, value in given.items() if name == "layout" or name in needed}
    before = state(graph.read)
    (would,) = graph.read(all_queries()[f"dry-{query}"], given)
    (did,) = graph.write(all_queries()[query], given)
    assert would == did
    return did, before, state(graph.read)


def ids(graph: Graph, *names: str) -> list[str]:
    return [graph.read("MATCH (n {name: $name}) RETURN elementId(n) AS id", {"name": name})[0]["id"] for name in names]


def links(graph: Graph) -> list[str]:
    return [row["id"] for row in graph.read("MATCH ()-[r]->() RETURN elementId(r) AS id ORDER BY id")]


def unharmed(query: str, did: dict[str, Any], before: State, after: State) -> None:
    seen = counted(before, after, query)
    assert seen == {name: did[name] for name in seen}
    if query not in DROPPED:
        assert lost(before, after, retyped=query == "text-to-number") == []


# --- merges -------------------------------------------------------------------------------------------------------------------------------

HOSTILE = """
CREATE (k:E:Person {name: 'Ada', book: 'mine', born: 1815, source_id: 'c1', aliases: ['A'], former_name: 'Countess', w: 1, flags: [true],
    at: point({x: 1.0, y: 2.0}), former_born: ['c. 1815'], vector: [0.5, 0.25], on: date('1815-12-10'), empty: [], labels: 'own'}),
  (l:E:Writer {name: 'ADA', book: 'mine', born: '1816', died: 1852, source_id: 'c2<SEP>c1', aliases: ['A', 'L'], former_name: ['Byron'],
    at: point({x: 2.0, y: 2.0}), vector: [0.5, 0.75], w: 1.0, on: datetime('1815-12-10T00:00Z'), flags: [false, true], nested: [1, 2]}),
  (m:E:Writer:Person {name: 'ada', book: 'mine', born: 1816, died: 'y', source_id: 'c3', former_former_name: 'x', nested: ['a'],
    at: point({x: 3.0, y: 2.0}), `odd ``key`: 'q', labels: 'other', span: duration('P2D'), former_labels: ['Poet'], empty: ['full']}),
  (x:E {name: 'x', book: 'mine', aliases: 'one text'}), (x2:E {name: 'X', book: 'mine', aliases: ['y']}), (c:C {book: 'mine', text: 't'}),
  (other:E {name: 'Other book', book: 'other'}),
  (l)-[:R {since: 1}]->(m), (m)-[:R {since: 2}]->(m), (k)-[:R {since: 1}]->(k), (m)-[:S {line: 3}]->(x), (l)-[:S {line: 4}]->(x2),
  (k)-[:S {line: 4}]->(x), (k)-[:S {line: 4.0}]->(x2), (x)-[:R]->(m), (x)-[:R]->(l), (x2)-[:R]->(k), (x2)-[:R]->(k),
  (m)-[:IN {page: 7}]->(c), (l)-[:`T ``y` {note: 'n', v: [1.5], d: date('2020-01-01')}]->(c), (other)-[:R]->(l),
  (k)-[:`T ``y` {d: date('2020-01-01'), v: [1.5], note: 'n'}]->(c), (l)-[:`T ``y` {note: 'n', v: [1], d: date('2020-01-01')}]->(c)
"""


def test_a_merge_of_two_groups_keeps_values_of_all_types_lists_parallel_relations_and_loops(graph: Graph, draw: Any) -> None:
    draw(HOSTILE)
    groups = [ids(graph, "Ada", "ADA", "ada"), ids(graph, "x", "X")]
    did, before, after = run(graph, "merge-entities", groups=groups)
    counts, faults = merged(before, after, groups)
    assert (did, faults) == ({**counts, "left_out": 0}, [])
    own = after.nodes[groups[0][0]][1]
    assert own["former_born"] == ["c. 1815", "1816", "1816"] and own["former_w"] == [1.0] and own["former_vector"] == [0.5, 0.75]
    assert set(own["former_labels"]) == {"Poet", "other", "Writer"} and len(own["former_at"]) == 2
    assert {*own["aliases"]} == {"A", "L", "ADA", "ada"} and own["source_id"] == "c1<SEP>c2<SEP>c3"
    assert sorted(str(one[3].get("line")) for one in after.relations.values() if one[1] == "S") == ["3", "4", "4.0"]


def test_points_of_two_systems_and_what_is_no_number_are_kept(graph: Graph, draw: Any) -> None:
    draw("""CREATE (a:E {name: 'a', book: 'mine'}), (b:E {name: 'b', book: 'mine', at: point({x: 1.0, y: 2.0})}), (c:C {book: 'mine'}),
      (d:E {name: 'd', book: 'mine', at: point({latitude: 1.0, longitude: 2.0})}),
      (e:E {name: 'e', book: 'mine', at: point({x: 9.0, y: 2.0})}),
      (a)-[:R {v: 0.0 / 0}]->(c), (b)-[:R {v: 0.0 / 0}]->(c)""")
    did, _, after = run(graph, "merge-entities", groups=[ids(graph, "a", "b", "d", "e")])
    (own,) = (own for labels, own in after.nodes.values() if "E" in labels)
    assert [str(one)[:5] for one in own["former_at"]] == ["point", "point"] and did["former"] == 5
    assert len(after.relations) == 2, "NaN is not the same as NaN: both stay"


def test_a_merge_leaves_what_a_constraint_keeps_apart_and_what_stands_in_two_groups(graph: Graph, draw: Any, constrain: Any) -> None:
    draw("""UNWIND [['a', 1], ['A', 2], ['b', 3], ['B', null], ['c', 4], ['C', null], ['č', null]] AS row
      CREATE (n:E:Ship {name: row[0], book: 'mine', imo: row[1]}) CREATE (n)-[:R {seq: row[0]}]->(:E {name: 'x' + row[0], book: 'mine'})""")
    constrain(NODE, "Ship", "x.imo")
    constrain(RELATION, "R", "x.seq")
    groups = [ids(graph, "a", "A"), ids(graph, "b", "B"), ids(graph, "c", "C"), ids(graph, "C", "č")]
    did, before, after = run(graph, "merge-entities", groups=groups)
    counts, faults = merged(before, after, groups[1:2])
    assert (did, faults) == ({**counts, "left_out": 3}, [])
    assert did["moved"] == 1


def test_a_merge_takes_no_value_that_a_constraint_of_the_kept_ones_label_could_refuse(graph: Graph, draw: Any, constrain: Any) -> None:
    draw("""CREATE (:E:Ship {name: 'a', book: 'mine'})-[:R]->(:E {name: 'x', book: 'mine'}), (:E:Boat {name: 'A', book: 'mine', imo: 1}),
      (:E:Ship {name: 'other', book: 'mine', imo: 1}), (:E:Ship {name: 'b', book: 'mine'}), (:E:Ship {name: 'B', book: 'mine', imo: 2})""")
    constrain(NODE, "Ship", "x.imo")
    groups = [ids(graph, "a", "A"), ids(graph, "b", "B")]
    did, before, after = run(graph, "merge-entities", groups=groups)
    counts, faults = merged(before, after, groups)
    assert (did, faults) == ({**counts, "left_out": 0}, [])
    assert (after.nodes[groups[0][0]][1]["former_imo"], after.nodes[groups[1][0]][1]["imo"]) == ([1], 2)


def test_a_merge_touches_no_other_graph_and_no_entity_that_is_not_there(graph: Graph, draw: Any) -> None:
    draw(HOSTILE)
    before = state(graph.read)
    for groups in ([ids(graph, "Ada", "Other book")], [["4:x:1", "4:x:2"]], [[]], [], [ids(graph, "Ada", "Ada")]):
        did, _, after = run(graph, "merge-entities", groups=groups)
        assert after == before and not any(did.values())


def test_an_audit_offers_to_merge_what_is_sure_and_shows_the_rest(graph: Graph, draw: Any, constrain: Any) -> None:
    """Of four pairs of one name, one is told apart by a declared number, one by the day of birth; the kept one has most relations."""
    draw("""UNWIND [['Ada Lovelace', 1, null], ['ADA LOVELACE', null, '1815'], ['Bo Lee', 2, null], ['BO LEE', 3, null],
        ['Cy Moe', null, '1901'], ['CY MOE', null, '1902'], ['Di Poe', null, null], ['DI POE', 4, '1700']] AS row
      CREATE (n:__Entity__:Person {name: row[0], imo: row[1], born: row[2]})-[:FROM_CHUNK]->(:Chunk {text: row[0], id: row[0]})
      WITH n, row WHERE row[0] = toUpper(row[0]) CREATE (n)-[:KNOWS]->(:__Entity__:Person {name: 'friend of ' + row[0]})""")
    constrain(NODE, "Person", "x.imo")
    finding = run_check(graph, load_profile("neo4j-graphrag").layout, "duplicate-name", examples=0)
    assert finding.count == 4 and finding.repair is not None and finding.repair.query == "merge-entities"
    names = {row["id"]: row["name"] for row in graph.read("MATCH (n) RETURN elementId(n) AS id, n.name AS name")}
    groups: Any = finding.repair.parameters["groups"]
    assert sorted([names[one] for one in group] for group in groups) == [["ADA LOVELACE", "Ada Lovelace"], ["DI POE", "Di Poe"]]
    assert "Not merged, only to look at: 1 that differ in born, 1 that differ in imo" in str(finding.repair.note)


# --- the other repairs --------------------------------------------------------------------------------------------------------------------

DRAWN = """
CREATE (a:E:Boat {name: 'a', book: 'mine', imo: 1, tonnage: '7', former_type: 5, former_name: 3, description: 'x<SEP>y<SEP>x'}),
  (b:E:Boat {name: 'b', book: 'mine', imo: 2, tonnage: ' 7', type: ['Barge', 'Hulk']}),
  (c:E:Ship {name: 'c', book: 'mine', imo: 1, tonnage: 8}),
  (d:E:Ship:Boat {name: 'd', book: 'mine', tonnage: '9'}), (e:E {name: 'e', book: 'other', tonnage: '10'}), (p:C {id: 'p1', book: 'mine'}),
  (a)-[:IN]->(p), (b)-[:IN]->(p),
  (a)-[:R {since: 1}]->(b), (a)-[:R {since: 1.0}]->(b), (a)-[:R {since: 1}]->(b), (a)-[:R {since: [1]}]->(b), (b)-[:R {since: 1}]->(a),
  (a)-[:R {chunks: 'UNKNOWN', former_chunks: 7}]->(b), (a)-[:S {seq: 1, former_name: 1}]->(c), (a)-[:S {seq: 2}]->(c),
  (a)-[:R {seq: 1}]->(a),
  (a)-[:S {valid_at: date('2020-01-01'), invalid_at: datetime('2019-01-01T00:00Z'), expired_at: '2021-05-05T05:05:05Z',
    former_invalid_at: 'never', former_expired_at: [date('2000-01-01')]}]->(c), (e)-[:R {since: 1}]->(a)
"""


@pytest.mark.parametrize(("query", "values", "counts"), [
    ("delete-parallel-relations", {}, {"deleted": 1}),
    ("fill-property", {"property": "imo", "value": 3}, {"filled": 11, "refused": 0}),
    ("fill-property", {"property": "tonnage", "value": "n"}, {"filled": 10, "refused": 0}),
    ("fill-property", {"property": "imo", "value": 1}, {"filled": 10, "refused": 1}),
    ("fill-property", {"property": "seq", "value": 1}, {"filled": 5, "refused": 6}),
    ("infer-sources", {}, {"changed": 6}),
    ("name-relations", {"label": "T"}, {"renamed": 6, "refused": 4}),
    ("name-relations", {"label": "S"}, {"renamed": 7, "refused": 0}),
    ("rename-relation", {"from": "S", "to": "R"}, {"renamed": 2, "refused": 1}),
    ("rename-relation", {"from": "R", "to": "R"}, {"renamed": 0, "refused": 0}),
    ("rename-type", {"from": "Boat", "to": "Ship"}, {"renamed": 2, "refused": 1}),
    ("rename-type", {"from": "Ship", "to": "E"}, {"renamed": 2, "refused": 0}),
    ("restore-relations", {}, {"restored": 1, "times": 2}),
    ("restore-second", {"second": "2021-05-05T05:05:05"}, {"restored": 1, "times": 2}),
    ("set-type", {"type": "Ship"}, {"typed": 2, "refused": 1}),
    ("shorten-description", {}, {"changed": 1, "repeated": 1}),
    ("shorten-name", {"name": "b"}, {"renamed": 0, "refused": 1}),
    ("shorten-name", {"name": "z"}, {"renamed": 1, "refused": 0}),
    ("swap-validity", {}, {"swapped": 1}),
    ("text-to-number", {"type": "Boat", "property": "tonnage"}, {"changed": 1, "refused": 2}),
    ("turn-relations", {}, {"turned": 10}),
])
def test_a_repair_does_what_its_dry_run_said_and_leaves_what_a_constraint_refuses(
    graph: Graph, draw: Any, constrain: Any, query: str, values: dict[str, Any], counts: dict[str, int],
) -> None:
    draw(DRAWN)
    for pattern, name, keys in (
        (NODE, "Ship", "x.imo"), (NODE, "Boat", "x.tonnage"), (NODE, "Boat", "x.name"), (RELATION, "R", "x.seq"),
        (RELATION, "T", "x.since"),
    ):
        constrain(pattern, name, keys)
    things = [*ids(graph, "a", "b", "c", "d", "e"), *links(graph)]
    did, before, after = run(graph, query, element_ids=things, element_id=things[0], **values)
    assert did == counts
    unharmed(query, did, before, after)
    foreign = things[4]
    assert before.nodes[foreign] == after.nodes[foreign]


@pytest.mark.parametrize("key", ["type", None])
def test_a_type_that_is_a_list_is_kept_where_another_one_takes_its_place(graph: Graph, draw: Any, key: str | None) -> None:
    draw(DRAWN)
    layout = E.model_copy(update={"type_key": key})
    did, before, after = run(graph, "set-type", layout, element_ids=ids(graph, "b"), type="Ship")
    assert did == {"typed": 1, "refused": 0}
    unharmed("set-type", did, before, after)


# --- public graphs ------------------------------------------------------------------------------------------------------------------------

MADE = ["code-of-click", "entity-resolution", "movies", "northwind", "skos-neosemantics", "stackoverflow"]
EXTRACTED = ["biology-msgraphrag", "construction-lightrag"]


@pytest.mark.long
@pytest.mark.both_lines
@pytest.mark.parametrize("declared", [False, True], ids=["bare", "with constraints"])
@pytest.mark.parametrize("name", MADE)
def test_every_repair_that_is_offered_on_a_graph_that_people_made(graph: Graph, name: str, declared: bool) -> None:
    file = PROPERTY_GRAPHS / f"{name}.jsonl.gz"
    if not file.is_file():
        pytest.skip(f"{file} is not on this machine")
    constraints = load_property_graph(graph, file, constrain=declared)
    try:
        offered = run_all(graph, None)
    finally:
        for constraint in constraints:
            graph.schema_command(f"DROP CONSTRAINT {constraint}")
    assert not {"merge-entities", "delete-parallel-relations"} & offered.keys()


@pytest.mark.long
@pytest.mark.both_lines
@pytest.mark.parametrize("name", EXTRACTED)
def test_every_repair_that_is_offered_on_a_graph_that_was_extracted(graph: Graph, name: str) -> None:
    folder = SHARED / "wild-extracted" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not on this machine")
    kgeval.import_graph(folder, graph=name, connection=graph.driver)
    assert run_all(graph, name)


def run_all(graph: Graph, name: str | None) -> dict[str, list[dict[str, Any]]]:
    """Audits the graph, runs each repair that writes in a transaction that is rolled back, and says what each did."""
    audited = kgeval.audit(graph.driver, graph=name, examples=0, no_structure=True).report
    before, done, wrong = state(graph.read), dict[str, list[dict[str, Any]]](), {}
    for finding in audited.findings:
        repair = finding.repair
        if repair is None or repair.cypher is None or repair.query is None:
            continue
        for values in chosen(finding, repair, before):
            given = {**fields_left(f"{repair.cypher}\n{repair.dry_run}", audited.layout), **repair.parameters, **values}
            if repair.reads:
                graph.read(repair.cypher, given)
                continue
            assert repair.dry_run is not None
            (would,) = graph.read(repair.dry_run, given)
            with graph.driver.session() as session, session.begin_transaction() as tx:
                (did,) = [row.data() for row in tx.run(repair.cypher, given)]
                after = state(lambda text: [row.data() for row in tx.run(text)])
                tx.rollback()
            done.setdefault(repair.query, []).append(did)
            if fault := fault_of(repair.query, would, did, before, after, given):
                wrong[finding.rule_id] = fault
    assert wrong == {}
    assert state(graph.read) == before
    print({query: [*map(dict, rows)][:5] for query, rows in done.items()})
    return done


def fault_of(query: str, would: dict[str, Any], did: dict[str, Any], before: State, after: State, given: dict[str, Any]) -> str:
    if would != did:
        return f"would have done {would}, and did {did}"
    if query == "merge-entities":
        seen, faults = merged(before, after, given["groups"])
    else:
        seen, faults = counted(before, after, query), [] if query in DROPPED else lost(before, after, retyped=query == "text-to-number")
    wrong = {name: (n, did[name]) for name, n in seen.items() if n != did[name]}
    return f"counts {wrong}; {faults[:5]}" if wrong or faults else ""


def chosen(finding: Finding, repair: Repair, before: State) -> Iterator[dict[str, Any]]:
    """What a reader may choose, for some of the hits."""
    first = finding.examples[0].items[0]
    relations = [first.element_id] if first.element_id else [*before.relations]
    names = {param.name for param in all_queries()[str(repair.query)].params} - repair.parameters.keys()
    if names == {"type", "property"}:
        for example in finding.examples:
            yield dict(zip(("type", "property"), example.items[0].name.rsplit(".", 1), strict=True))
        return
    fixed = {
        "element_id": first.element_id, "id": first.name, "name": "short", "label": "named anew", "type": "Other", "property": "added",
        "value": "-", "from": first.name if first.kind == "type" else first.type, "to": "Other",
        "second": str(finding.examples[0].why).rpartition(" at ")[2], "element_ids": relations,
    }
    yield {name: fixed[name] for name in names}


def test_every_repair_that_writes_is_run_here() -> None:
    """On a graph of our own, whatever the public ones are offered."""
    written = {query.name for query in all_queries().values() if query.folder == "repair" and query.mode == "write"}
    mark = next(one for one in test_a_repair_does_what_its_dry_run_said_and_leaves_what_a_constraint_refuses.pytestmark if one.args)
    assert written == {case[0] for case in mark.args[1]} | {"merge-entities"}
    assert {rule.repair for rule in load_rules().values()} >= written
