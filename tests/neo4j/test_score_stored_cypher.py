"""The Cypher of systems: what is valid, what is refused, and when two results say the same. A real server, hostile queries."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from kgeval.errors import UndeclaredSettingError
from kgeval.graph.connect import Graph
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import FACT_SETTINGS, CypherRun, RowFacts
from kgeval.metrics.stored.gather import stored_facts
from kgeval.metrics.stored.metrics import cypher_execution_match, cypher_valid
from kgeval.records import Answer, Layout, Question, Row

LAYOUT = Layout(name="plain", entity_labels=["Thing"], name_keys=["name"], relation_types=["R"])
SHIPS = """
CREATE (a:Thing {name: 'North Light', built: 1901, tons: 0.1 + 0.2, docked: date('1902-05-01')}),
  (b:Thing {name: 'Sea Rose', built: 1910, tons: 2.5}), (c:Thing {name: 'Old Tom', built: 1910}),
  (a)-[:R {since: 1}]->(b), (b)-[:R {since: 2}]->(c)
"""
FAST = MetricSettings(query_timeout=20.0)


def subject(cypher: str | None, gold: str | None = None, settings: MetricSettings = FAST) -> Subject:
    question = Question(id="q", question="Which ships?", cypher=gold)
    answer = Answer(question_id="q", system="s", answer="these", cypher=cypher)
    return Subject(Row(n=0, where="a.jsonl:1", question=question, answer=answer), RowFacts(), settings)


def run(graph: Graph, cypher: str | None, gold: str | None = None, settings: MetricSettings = FAST) -> Subject:
    made = subject(cypher, gold, settings)
    stored_facts(made, frozenset(["cypher", "cypher:match"]), graph, LAYOUT, None)
    return made


def fact(graph: Graph, cypher: str, gold: str | None = None, settings: MetricSettings = FAST) -> CypherRun:
    found = run(graph, cypher, gold, settings).facts.cypher
    assert found is not None
    return found


@pytest.mark.parametrize(("mine", "gold", "matches"), [
    ("MATCH (n) RETURN n.name", "MATCH (n) RETURN n.name AS ship", True),
    ("MATCH (n) RETURN n.name ORDER BY n.name DESC", "MATCH (n) RETURN n.name ORDER BY n.name", True),
    ("MATCH (n) RETURN n.name, n.built", "MATCH (n) RETURN n.built AS year, n.name AS ship", True),
    ("MATCH (n) RETURN n.name, n.built, n.tons", "MATCH (n) RETURN n.name", True),
    ("MATCH (n) RETURN n.name", "MATCH (n) RETURN n.name, n.built", False),
    ("MATCH (n) RETURN DISTINCT n.built", "MATCH (n) RETURN n.built", False),
    ("MATCH (n) RETURN n.built", "MATCH (n) RETURN DISTINCT n.built", False),
    ("UNWIND ['North Light', 'Sea Rose', 'Old Tom'] AS x RETURN x", "MATCH (n) RETURN n.name", True),
    ("MATCH (n) RETURN n", "MATCH (n) RETURN n", True),
    ("MATCH (n) RETURN n", "MATCH (n) RETURN n.name", False),
    ("MATCH ()-[r]->() RETURN r", "MATCH ()<-[r]-() RETURN r", True),
    ("MATCH p = (:Thing)-[:R]->() RETURN p", "MATCH p = (:Thing)-->() RETURN p", True),
    ("MATCH p = (:Thing)<-[:R]-() RETURN p", "MATCH p = (:Thing)-->() RETURN p", False),
    ("RETURN 0.3 AS x", "MATCH (n {name: 'North Light'}) RETURN n.tons", True),
    ("RETURN 0.30001 AS x", "MATCH (n {name: 'North Light'}) RETURN n.tons", False),
    ("RETURN 1901.0 AS x", "MATCH (n {name: 'North Light'}) RETURN n.built", True),
    ("RETURN '1901' AS x", "MATCH (n {name: 'North Light'}) RETURN n.built", False),
    ("RETURN true AS x", "RETURN 1 AS x", False),
    ("RETURN date('1902-05-01') AS d", "MATCH (n {name: 'North Light'}) RETURN n.docked", True),
    ("RETURN '1902-05-01' AS d", "MATCH (n {name: 'North Light'}) RETURN n.docked", False),
    ("MATCH (n) RETURN n.tons", "MATCH (n) RETURN n.tons AS t ORDER BY n.name", True),
    ("MATCH (n) WITH n ORDER BY n.name RETURN collect(n.name)", "MATCH (n) WITH n ORDER BY n.name DESC RETURN collect(n.name)", True),
    ("RETURN {a: 1, b: [2, null]} AS m", "RETURN {b: [null, 2], a: 1.0} AS n", True),
    ("RETURN point({x: 1, y: 2.0}) AS p", "RETURN point({x: 1.0, y: 2}) AS p", True),
    ("RETURN duration('P1D') AS p", "RETURN duration({days: 1}) AS p", True),
    ("RETURN 0.0/0.0 AS x", "RETURN 0.0/0.0 AS y", True),
    ("MATCH (n:Nothing) RETURN n.x", "MATCH (n:Nowhere) RETURN n.y", True),
    ("MATCH (n:Nothing) RETURN n.x", "MATCH (n) RETURN n.name", False),
    ("MATCH (n) RETURN n.name, n.built", "MATCH (n) RETURN n.name, n.name AS again", False),
    ("RETURN 9007199254740993 AS x", "RETURN 9007199254740992 AS x", False),
])
def test_two_results_match_where_the_gold_columns_are_found_whatever_names_and_order(graph, draw, mine, gold, matches):
    draw(SHIPS)
    made = run(graph, mine, gold)
    assert made.facts.cypher.failure is None and made.facts.cypher.gold_failure is None
    value = cypher_execution_match(made)
    assert (value.status, value.value) == ("scored", float(matches))
    assert cypher_valid(made).value == 1.0


def test_extra_columns_are_named(graph, draw):
    draw(SHIPS)
    made = run(graph, "MATCH (n) RETURN n.built AS year, n.name AS ship, 1 AS one", "MATCH (n) RETURN n.name")
    assert cypher_execution_match(made).detail["extra_columns"] == ["year", "one"]


def test_rows_count_in_their_order_only_where_both_the_setting_and_the_gold_query_ask_for_it(graph, draw):
    draw(SHIPS)
    asked = MetricSettings(ordered=True, query_timeout=20)
    down, up = "MATCH (n) RETURN n.name ORDER BY n.name DESC", "MATCH (n) RETURN n.name ORDER BY n.name"
    assert fact(graph, down, up).matches is True
    assert fact(graph, down, up, asked).matches is False
    assert fact(graph, up, up, asked).matches is True
    assert fact(graph, down, "MATCH (n) WITH n ORDER BY n.name RETURN n.name", asked).matches is True
    assert fact(graph, down, "MATCH (n) RETURN n.name /* ORDER BY n.name */", asked).matches is True


WRITES = [
    "CREATE (n:Evil) RETURN n", "MATCH (n) SET n.x = 1", "MATCH (n) DETACH DELETE n", "MERGE (n:Evil {a: 1})", "MATCH (n) REMOVE n.name",
    "CREATE INDEX evil FOR (n:Thing) ON (n.name)", "MATCH (n) CALL (n) { SET n.x = 1 } IN TRANSACTIONS", "MATCH (n:None) SET n.x = 1",
    "FOREACH (x IN [1] | CREATE (:Evil))", "CREATE USER evil SET PASSWORD 'abcdefgh'", "CALL db.createLabel('Evil')",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'abcdefghi'", "DROP DATABASE neo4j", "CALL dbms.killConnections(['x'])",
    "MATCH (n) WITH n CALL { CREATE (:Evil) } RETURN n.name", "PROFILE CREATE (:Evil)", "cypher runtime=slotted create (:Evil)",
]


@pytest.mark.parametrize("cypher", WRITES)
def test_cypher_that_would_write_or_administer_is_invalid_and_changes_nothing(graph, draw, cypher):
    draw(SHIPS)
    before = graph.read("MATCH (n) RETURN count(n) AS n, sum(size(keys(n))) AS k")
    labels = graph.read("CALL db.labels() YIELD label RETURN collect(label) AS all")
    made = run(graph, cypher, "MATCH (n) RETURN n.name")
    assert cypher_valid(made).value == 0.0 and cypher_valid(made).detail["error"]
    assert cypher_execution_match(made).value == 0.0
    assert graph.read("MATCH (n) RETURN count(n) AS n, sum(size(keys(n))) AS k") == before
    assert graph.read("CALL db.labels() YIELD label RETURN collect(label) AS all") == labels


LOADS = [
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "load  csv from 'http://127.0.0.1:1/x' as line return line",
    "CALL { LOAD CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line } RETURN line",
    "LOAD/* quiet */CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line",
    "LO\\u0041D CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line",
    "MATCH (n) RETURN CASE WHEN n.built > 0 THEN COLLECT { LOAD CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line } ELSE [] END AS x",
    "RETURN EXISTS { LOAD CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line } AS x",
    *(f"MATCH (n) {hidden} RETURN CASE WHEN n.built > 0 THEN COLLECT {{ LOAD CSV FROM \"http://127.0.0.1:1/x\" AS l RETURN l }} END AS x"
      for hidden in ("WITH n, 1 AS `//`", "WITH n, 1 AS `/*`", "WITH n, 1 AS `'`", "WITH n, 1 AS `a``'`", "// quiet\r")),
]


@pytest.mark.parametrize("cypher", LOADS)
def test_cypher_that_loads_files_or_addresses_is_invalid_and_never_run(graph, draw, cypher, monkeypatch):
    draw(SHIPS)
    monkeypatch.setattr("kgeval.graph.guarded.run_foreign", lambda *_, **__: pytest.fail("it was run"))
    found = fact(graph, cypher)
    assert found.valid is False and found.error is not None


REFUSED = [
    ("CALL gds.graph.list()", "gds.graph.list"), ("CALL gds.graph.project('x', '*', '*')", "gds.graph.project"),
    ("CALL db.awaitIndexes()", "db.awaitIndexes"), ("RETURN gds.version() AS v", "gds.version"), ("SHOW SETTINGS", "lists"),
    ("RETURN `gds` . `version`() AS v", "gds.version"), ("TERMINATE TRANSACTIONS 'neo4j-transaction-1'", "ends"),
    ("SHOW TRANSACTIONS", "lists"), ("MATCH (n) WHERE n.name = gds.version() RETURN n", "gds.version"),
    ("MATCH (n) RETURN [x IN COLLECT { CALL gds.graph.list() YIELD graphName RETURN graphName } | x] AS g", "gds.graph.list"),
    ("RETURN g\\u0064s.version() AS v", "gds.version"), ("MATCH (n) WITH n AS `'` RETURN gds.version() AS `x'`", "gds.version"),
    ("MATCH (n) // quiet\rRETURN [x IN [1] | gds.version()] AS v", "gds.version"),
    ("MATCH (n) WITH n AS `'` RETURN CASE WHEN `'`.built > 0 THEN COLLECT { CALL gds.list() YIELD name RETURN name } END AS g",
     "gds.list"),
    ("MATCH (n) RETURN CASE WHEN n.built > 0 THEN COLLECT { CALL db.ping() YIELD success RETURN success } END AS g", "db.ping"),
]


@pytest.mark.parametrize(("cypher", "words"), REFUSED)
def test_calls_that_are_not_known_to_read_only_are_not_run_and_leave_the_row_unscored(graph, draw, cypher, words, monkeypatch):
    draw(SHIPS)
    monkeypatch.setattr("kgeval.graph.guarded.run_foreign", lambda *_, **__: pytest.fail("it was run"))
    made = run(graph, cypher, "MATCH (n) RETURN n")
    value = cypher_valid(made)
    assert (value.status, value.cause) == ("unscored", "graph_error")
    assert words.casefold() in (value.reason or "").casefold()
    assert cypher_execution_match(made).status == "unscored"


@pytest.mark.parametrize("cypher", [
    "CALL db.labels()", "CALL db.schema.visualization()", "RETURN point.distance(point({x: 1, y: 1}), point({x: 2, y: 1})) AS d",
    "RETURN date.truncate('month', date()) AS d", "RETURN 'gds.version() LOAD CSV' AS text // apoc.load.json()", "MATCH (n) RETURN n;",
    "MATCH (n) RETURN n.name AS `gds.version() in LOAD CSV`",
    "RETURN '\ud800' AS half_a_character", "MATCH (a)-[r:R*1..3]->(b) RETURN a.name, size(r) AS n",
])
def test_reading_calls_and_words_in_strings_are_fine(graph, draw, cypher):
    draw(SHIPS)
    found = fact(graph, cypher)
    assert (found.valid, found.error, found.failure) == (True, None, None)


@pytest.mark.parametrize(("cypher", "words"), [
    ("", "empty"), ("   \n", "empty"), ("Which ships are there?", "Invalid input"),
    ("MATCH (n) RETURN n; MATCH (m) RETURN m", "one statement"),
    ("MATCH (n) RETURN m", "not defined"), ("RETURN 1/0 AS x", "by zero"), ("MATCH (n) WHERE n.name = $name RETURN n", "name"),
    ("CALL no.such.procedure()", "no.such.procedure"), ("RETURN no.such.function() AS x", "no.such.function"),
    ("MATCH (n) RETURN n" + " " * 60_000, "longer than"),
    ("RETURN " + "(" * 5000 + "1" + ")" * 5000 + " AS x", "nested"), ("RETURN " + "NOT " * 3000 + "true AS x", "nested"),
    ("RETURN " + "CASE WHEN true THEN " * 400 + "1" + " END" * 400 + " AS x", "nested"),
    ("RETURN reduce(a = [], x IN range(1, 300) | [a]) AS x", "nested"), ("\0", ""),
    # so deep that the server itself may lose its stack over it: either of the two reasons
    ("RETURN reduce(a = [], x IN range(1, 3000) | [a]) AS x", ""),
    ("RETURN " + "true XOR " * 1900 + "true AS x", "nested"),
    ("MATCH ()" + "-->()" * 3000 + " RETURN 1 AS x", "chains"), ("RETURN " + "'a' + " * 3000 + "'a' AS x", "chains"),
    ("RETURN [1]" + "[0]" * 6000 + " AS x", "chains"), ("MATCH (n:" + "!" * 9000 + "A) RETURN n", "chains"),
    ("RETURN " + "2^" * 9000 + "1 AS x", "nested"), ("RETURN 1 AS x UNION " * 900 + "RETURN 1 AS x", "nested"),
])
def test_what_is_no_cypher_is_invalid_with_the_reason(graph, draw, cypher, words):
    draw(SHIPS)
    found = fact(graph, cypher, "MATCH (n) RETURN n")
    assert (found.valid, found.matches, found.failure) == (False, False, None)
    assert found.error and words in found.error


@pytest.mark.both_lines
@pytest.mark.long
def test_a_query_without_end_is_stopped_and_is_not_valid(graph, draw):
    draw(SHIPS)
    started = time.monotonic()
    endless = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y UNWIND range(1, 100000) AS z WITH count(x + y * z) AS n RETURN n"
    found = fact(graph, endless, "MATCH (n) RETURN n", MetricSettings(query_timeout=1.0))
    assert (found.valid, found.matches) == (False, False)
    assert "time limit of 1 s" in (found.error or "")
    assert time.monotonic() - started < 60
    assert fact(graph, "MATCH (n) RETURN n").valid is True, "the connection is fine afterwards"


@pytest.mark.long
def test_a_million_rows_are_not_fetched_and_match_no_gold_result(graph, draw):
    draw(SHIPS)
    many = "UNWIND range(1, 1000000) AS x RETURN x"
    found = fact(graph, many, "MATCH (n) RETURN n.name")
    assert (found.valid, found.matches, found.rows) == (True, False, 10_000)
    gold = run(graph, "RETURN 1 AS x", many)
    assert cypher_valid(gold).value == 1.0
    value = cypher_execution_match(gold)
    assert (value.status, value.cause) == ("unscored", "graph_error")
    assert "the gold query: it gives more than 10000 rows" in (value.reason or "")


@pytest.mark.parametrize(("cypher", "words"), [
    ("RETURN range(1, 1000000000) AS x", "range"), ("UNWIND range(1, 0x3B9ACA00) AS x RETURN collect(x) AS x", "range"),
    ("RETURN date('+99999-01-01') AS d", "cannot read"),
])
def test_what_kgeval_cannot_take_in_is_unscored_and_not_wrong(graph, draw, cypher, words):
    draw(SHIPS)
    value = cypher_valid(made := run(graph, cypher, "MATCH (n) RETURN n.name"))
    assert (value.status, value.cause) == ("unscored", "graph_error")
    assert words in (value.reason or "")
    assert cypher_execution_match(made).status == "unscored"
    gold = run(graph, "MATCH (n) RETURN n.name", cypher)
    assert (cypher_valid(gold).value, cypher_execution_match(gold).status) == (1.0, "unscored")


def test_rows_are_fetched_only_up_to_so_much_content(graph, draw):
    draw(SHIPS)
    fat = "UNWIND range(1, 9000) AS x RETURN reduce(s = 'a', y IN range(1, 20) | s + s) AS t"
    found = fact(graph, fat, "MATCH (n) RETURN n.name")
    assert (found.valid, found.matches) == (True, False), found.error
    assert found.rows is not None and found.rows < 50


def test_a_gold_query_that_does_not_run_is_our_failure_and_not_the_systems(graph, draw):
    draw(SHIPS)
    made = run(graph, "MATCH (n) RETURN n", "MATCH (n RETURN n")
    assert cypher_valid(made).value == 1.0
    assert cypher_execution_match(made).status == "unscored"


def test_columns_that_look_alike_are_paired_by_whole_rows(graph, draw):
    draw(SHIPS)
    gold = "UNWIND [[1, 2], [2, 1]] AS p RETURN p[0] AS a, p[1] AS b"
    assert fact(graph, "UNWIND [[2, 1], [1, 2]] AS p RETURN p[1] AS x, p[0] AS y", gold).matches is True
    assert fact(graph, "UNWIND [[1, 1], [2, 2]] AS p RETURN p[0] AS x, p[1] AS y", gold).matches is False


def test_no_cypher_is_no_fact_and_no_gold_is_no_match(graph, draw):
    draw(SHIPS)
    assert run(graph, None, "MATCH (n) RETURN n").facts.cypher is None
    alone = fact(graph, "MATCH (n) RETURN n")
    assert (alone.valid, alone.matches) == (True, None)


def test_a_query_that_costs_only_its_connection_is_invalid_and_the_run_goes_on(monkeypatch, graph, draw):
    from kgeval.graph.failures import BreaksConnection

    def gone(*_: object, **__: object) -> None:
        raise BreaksConnection("the connection broke 3 times")

    draw(SHIPS)
    monkeypatch.setattr("kgeval.graph.guarded.explain", gone)
    found = fact(graph, "MATCH (n) RETURN n")
    assert (found.valid, found.error) == (False, "the server gave no answer to it and closed the connection")


def test_a_server_that_goes_away_ends_the_run(monkeypatch: pytest.MonkeyPatch, graph: Graph, draw: Callable[[str], None]):
    from kgeval.graph.failures import ConnectionLost

    def gone(*_: object, **__: object) -> None:
        raise ConnectionLost("the server went away")

    monkeypatch.setattr("kgeval.graph.guarded.explain", gone)
    with pytest.raises(ConnectionLost):
        run(graph, "MATCH (n) RETURN n")


def test_whether_a_query_runs_is_found_out_without_the_gold_query_and_without_the_order(
    graph: Graph, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(FACT_SETTINGS, "cypher:match", ())  # the fact "cypher" alone must not read `ordered`
    made = subject("RETURN 1 AS one", "this is no Cypher", FAST)
    stored_facts(made, frozenset(["cypher"]), graph, LAYOUT, None)
    assert made.facts.cypher == CypherRun(valid=True)
    with pytest.raises(UndeclaredSettingError, match="fact cypher:match reads the setting ordered"):
        run(graph, "RETURN 1 AS one", "RETURN 1 AS one")
