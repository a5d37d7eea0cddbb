"""When two results of Cypher say the same: against a brute-force comparison, and at the borders of rounding."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.graph.foreign import Cell, Operator, QueryPlan, QueryResult, _operators, plain
from kgeval.graph.guard import ends_ordered, invalid, refused, too_early
from kgeval.metrics.stored.candidates import GraphLine, parts
from kgeval.metrics.stored.gather import TooManyWaysError, compare


def table(rows: list[list[object]], columns: int | None = None) -> QueryResult:
    width = columns if columns is not None else len(rows[0])
    return QueryResult(tuple(f"c{at}" for at in range(width)), tuple(tuple(plain(value) for value in row) for row in rows))


def same(mine: list[list[object]], gold: list[list[object]], *, ordered: bool = False, columns: tuple[int, int] | None = None) -> bool:
    one, other = columns or (None, None)
    return compare(table(mine, one), table(gold, other), ordered=ordered).matches


def brute(mine: list[list[int | None]], gold: list[list[int | None]], widths: tuple[int, int], *, ordered: bool) -> bool:
    """Every way to choose and order columns, rows compared as bags or as lists."""
    if len(mine) != len(gold):
        return False
    wanted = [tuple(row) for row in gold]
    for chosen in permutations(range(widths[0]), widths[1]):
        made = [tuple(row[at] for at in chosen) for row in mine]
        if made == wanted if ordered else Counter(made) == Counter(wanted):
            return True
    return False


values = st.sampled_from([None, 0, 1, 2])
shapes = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(0, 4))


@pytest.mark.slow
@given(shapes, st.data(), st.booleans())
def test_it_agrees_with_trying_every_way_to_pair_columns(shape, data, ordered):
    wide, narrow, height = shape
    mine = data.draw(st.lists(st.lists(values, min_size=wide, max_size=wide), min_size=height, max_size=height))
    if data.draw(st.booleans()):  # a gold result that is in it, shuffled
        chosen = data.draw(st.permutations(range(wide)))[:narrow]
        gold = data.draw(st.permutations([[row[at] for at in chosen] for row in mine]))
        narrow = len(chosen)
    else:
        gold = data.draw(st.lists(st.lists(values, min_size=narrow, max_size=narrow), min_size=height, max_size=height))
    expected = brute(mine, gold, (wide, narrow), ordered=ordered)
    assert same(mine, gold, ordered=ordered, columns=(wide, narrow)) is expected


@pytest.mark.parametrize(("one", "other", "equal"), [
    (1.0, 1.0 + 9e-9, True), (1.0, 1.0 + 2e-8, False), (1, 1.000000001, True), (1e12, 1e12 + 0.05, True), (1e12, 1e12 + 1, False),
    (10**15, 10**15 + 1, False), (float("inf"), float("inf"), True), (float("inf"), 1e308, False), (float("nan"), float("nan"), True),
    (0.0, -0.0, True), (True, 1, False), (None, None, True), (None, 0, False), ("1", 1, False), (b"x", "x", False), ("é", "e\u0301", False),
    ([1, 2], [2, 1], True), ([1, 1, 2], [1, 2, 2], False), ([[1, 2], [3]], [[3], [2, 1]], True), ([], [None], False),
    ({"a": [1]}, {"a": [1 + 1e-9]}, True), ({"a": 1}, {"b": 1}, False),
])
def test_what_counts_as_one_value(one, other, equal):
    assert same([[one]], [[other]]) is equal
    assert same([[other]], [[one]]) is equal


def test_lists_count_in_their_order_only_where_order_is_asked_for():
    assert not same([[[1, 2]]], [[[2, 1]]], ordered=True)
    assert same([[[1, 2]]], [[[1, 2]]], ordered=True)


def test_a_row_counts_as_often_as_it_comes():
    assert not same([[1], [1], [2]], [[1], [2], [2]])
    assert same([[1], [2], [1]], [[1], [1], [2]])


def test_rounding_never_pairs_rows_crosswise():
    third = 1 / 3
    mine = [[third, 0.1 + 0.2], [third + 1e-12, 0.7]]
    assert same(mine, [[third + 1e-12, 0.3], [third, 0.7]])
    assert not same(mine, [[third, 0.3], [third, 0.3]])


def test_columns_that_look_alike_in_too_many_ways_are_given_up(monkeypatch):
    many: list[list[object]] = [[row ^ column for column in range(64)] for row in range(64)]
    wanted: list[list[object]] = [[row ^ column for column in range(63, -1, -1)] for row in range(64)]
    assert same(many, wanted) is True
    monkeypatch.setattr("kgeval.metrics.stored.gather.MOST_WORK", 640)
    with pytest.raises(TooManyWaysError):
        same(many, wanted)


@pytest.mark.slow
def test_ten_thousand_rows_are_compared_at_once():
    rows: list[list[object]] = [[at, f"name {at}", at / 7, None] for at in range(10_000)]
    other = [[row[2], row[1], row[0]] for row in reversed(rows)]
    found = compare(table(rows), table(other), ordered=False)
    assert (found.matches, found.extra_columns) == (True, ("c3",))


@pytest.mark.parametrize(("query", "ordered"), [
    ("MATCH (n) RETURN n ORDER BY n.x", True), ("MATCH (n) RETURN n order\n by n.x DESC LIMIT 3", True), ("MATCH (n) RETURN n", False),
    ("MATCH (n) WITH n ORDER BY n.x RETURN n", False), ("RETURN 'ORDER BY' AS x", False), ("MATCH (n) RETURN n // ORDER BY n", False),
    ("RETURN COLLECT { MATCH (n) RETURN n ORDER BY n.x } AS all", False), ("RETURN {a: 1} AS m ORDER BY m", True),
])
def test_the_last_return_says_whether_a_query_is_ordered(query, ordered):
    assert ends_ordered(query) is ordered


def plan(kind: str, *operators: tuple[str, str], database: str = "neo4j") -> QueryPlan:
    return QueryPlan(kind, tuple(Operator(name, database, details) for name, details in operators))


def test_plans_are_judged_by_kind_operators_and_calls():
    assert invalid(plan("r", ("AllNodesScan", "n"))) is None
    assert "writes" in (invalid(plan("rw", ("Create", "(n)"))) or "")
    assert "LOAD CSV" in (invalid(plan("r", ("LoadCSV", "line"))) or "")
    assert invalid(plan("", ("AllNodesScan", "n"))) is not None, "a server that does not say that it reads is not believed"
    assert refused(plan("r", ("AllNodesScan", "n")), "MATCH (n) RETURN n", "Neo4j") is None
    elsewhere = plan("r", ("AllNodesScan", "n"), database="other")
    assert refused(elsewhere, "USE other MATCH (n) RETURN n", "neo4j") == "it reads another database"
    load = plan("r", ("ProcedureCall", "apoc.load.json($autostring_0) :: (value :: MAP)"))
    assert "apoc.load.json" in (refused(load, "CALL apoc.load.json('http://x')", "neo4j") or "")
    hidden = plan("r", ("Projection", "apoc.cypher.runFirstColumnSingle($autostring_0) AS x"))
    assert "apoc.cypher.runFirstColumnSingle" in (refused(hidden, "RETURN x", "neo4j") or "")
    path = plan("r", ("ProcedureCall", "apoc.path.expand(n, $a) :: (path :: PATH)"))
    assert refused(path, "CALL apoc.path.expand(n, 'R', '', 1, 2)", "neo4j") is None
    assert too_early("RETURN 'LOAD CSV'") is None and too_early("load csv from 'x' as y return y") is not None


@given(st.text(max_size=200))
def test_no_text_upsets_the_guard(text):
    too_early(text)
    ends_ordered(text)
    refused(plan("r", ("Projection", text)), text, "neo4j")


def line(text: str) -> GraphLine:
    return GraphLine(f"5:x:{text}", text, frozenset("ab"))


def test_triples_are_shared_out_fairly_and_calls_are_few():
    wanted = [[line(f"{claim}{rank}") for rank in range(5)] for claim in "abc"]
    assert [(claims, len(lines)) for claims, lines in parts(wanted, most=40, items=60)] == [([0, 1, 2], 15)]
    two = list(parts(wanted, most=4, items=60))
    assert [claims for claims, _ in two] == [[0, 1], [2]]
    assert [[one.text for one in lines] for _, lines in two] == [["a0", "b0", "a1", "b1"], ["c0", "c1", "c2", "c3"]]
    assert list(parts([[], [], []], most=4, items=60)) == []
    assert [claims for claims, _ in parts([wanted[0]], most=2, items=60)] == [[0]]
    many = [[line("same")] for _ in range(130)]
    assert [len(claims) for claims, _ in parts(many, most=40, items=60)] == [44, 44, 42]


def test_driver_values_become_plain_ones():
    made: Cell = plain([None, True, 1, 1.5, "x", b"y", {"b": 1, "a": []}])
    assert made == ("list", (
        ("null", None), ("bool", True), ("int", 1), ("float", 1.5), ("text", "x"), ("bytes", b"y"),
        ("map", (("a", ("list", ())), ("b", ("int", 1)))),
    ))


@pytest.mark.parametrize("query", [
    "LOAD CSV FROM 'x' AS l RETURN l", "RETURN 1 AS `//` LOAD CSV FROM 'x' AS l", "// a\rLOAD CSV FROM 'x' AS l RETURN l",
    "WITH 1 AS `/*` LOAD CSV FROM 'x' AS l RETURN l /* */",
    "RETURN '\\u0027' AS a, COLLECT { LOAD CSV FROM 'x' AS l RETURN '\\u0027' } AS b",
    "L\\u004fAD CSV FROM 'x' AS l RETURN l",
])
def test_load_csv_is_seen_whatever_hides_it_in_cypher_5_or_25(query):
    assert "LOAD CSV" in (too_early(query) or "")


@pytest.mark.parametrize("query", [
    "RETURN 'LOAD CSV' AS x", "RETURN 1 AS `LOAD CSV`", "RETURN 1 AS x // LOAD CSV", "RETURN 1 AS x /* LOAD\rCSV */",
])
def test_load_csv_in_a_string_a_name_or_a_comment_is_none(query):
    assert too_early(query) is None


def test_a_procedure_in_a_subquery_is_judged_as_a_procedure_though_the_plan_does_not_show_it():
    plan = QueryPlan("r", (Operator("Projection", "neo4j", "x"),))
    query = "RETURN '\\u0027' AS a, COLLECT { CALL %s() YIELD label RETURN '\\u0027' } AS x, apoc.coll.max([1]) AS y"
    said = [refused(plan, query.replace("%s", name), "neo4j") for name in ("apoc.meta.data.of", "db.ping", "db.labels")]
    assert "apoc.meta.data.of" in (said[0] or "")
    assert "db.ping" in (said[1] or "")
    assert said[2] is None


def test_a_plan_as_deep_as_a_long_query_is_walked():
    plan: dict[str, object] = {"operatorType": "Unwind@neo4j"}
    for _ in range(5000):
        plan = {"operatorType": "Projection@neo4j", "args": {"Details": "x"}, "children": [plan]}
    steps = list(_operators(plan))
    assert (len(steps), steps[-1].name) == (5001, "Unwind")
