"""What the database proves of any question with Cypher or a gold path: one answer, no shortcut, nothing there; on a drawn graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.questions.checking.path_checks import path_checks
from kgeval.questions.checking.run import CheckContext, checked
from kgeval.records import GoldPath, GraphRef, Question, QuestionCheck

Draw = Callable[[str], None]
# Ada built two mills; the old one stands in Kent and is named after Ada's town; Kent is ruled by Bo. Ada lives in Kent: a shortcut.
TOWN = """
CREATE (:__KgevalGraph__ {name: 'town'}),
  (a:__Entity__:town {id: 'a', name: 'Ada', name_key: 'ada', type: 'PERSON'}),
  (b:__Entity__:town {id: 'b', name: 'Bo', name_key: 'bo', type: 'PERSON'}),
  (m:__Entity__:town {id: 'm', name: 'Old Mill', name_key: 'old mill', type: 'MILL'}),
  (n:__Entity__:town {id: 'n', name: 'New Mill', name_key: 'new mill', type: 'MILL'}),
  (k:__Entity__:town {id: 'k', name: 'Kent', name_key: 'kent', type: 'COUNTY'}),
  (a)-[:BUILT {predicate: 'built'}]->(m), (a)-[:BUILT {predicate: 'built'}]->(n), (m)-[:STANDS_IN {predicate: 'stands in'}]->(k),
  (k)-[:RULED_BY {predicate: 'ruled by'}]->(b), (a)-[:LIVES_IN {predicate: 'lives in'}]->(k)
"""


def question(cypher: str | None = None, reference: str | None = None, **more: Any) -> Question:
    return Question(id="q", question="Q?", cypher=cypher, reference=reference, **more)


def path(*steps: tuple[str, str, str], reference: str) -> Question:
    """A question with a gold path of triples in the order of the path; its nodes have no element ids, as in a file from elsewhere."""
    names = [steps[0][0]]
    for one, _, other in steps:
        names.append(other if names[-1] == one else one)
    nodes = [GraphRef(key=name, name=name, element_id="4:dead:0") for name in names]
    relations = [GraphRef(key=f"{n}", name=f"{a} -[{p}]-> {b}", kind="relation") for n, (a, p, b) in enumerate(steps)]
    return question(reference=reference, path=GoldPath(nodes=nodes, relations=relations))


def said(graph: Graph, asked: Question) -> dict[str, QuestionCheck]:
    layout = bind(graph, load_profile("kgeval").layout, "town")
    context = CheckContext(graph=graph, paths=path_checks([asked], graph, layout))
    return {outcome.record.name: outcome.record for outcome in checked(asked, context)}


MILLS = "MATCH (:__Entity__ {name: 'Ada'})-[:BUILT]->(m) RETURN m.name AS answer"
BY_CYPHER = [
    ("MATCH (:__Entity__ {name: 'Kent'})-[:RULED_BY]->(e) RETURN e.name AS answer", "bo", True, "proved"),
    ("MATCH (:__Entity__ {name: 'Kent'})-[:RULED_BY]->(e) RETURN e.name AS answer", "Ada", False, "another answer than the file: Bo"),
    (MILLS, "Old Mill", False, "2 answers"), (f"{MILLS} ORDER BY answer LIMIT 1", "New Mill", True, "proved"),
    ("MATCH (:__Entity__ {name: 'Nobody'})-[:BUILT]->(m) RETURN m.name", "Old Mill", False, "returns nothing"),
    ("MATCH (:__Entity__ {name: 'Ada'})-[:BUILT]->(m) WITH m ORDER BY m.name RETURN collect(m.name) AS all", "New Mill", True, "proved"),
    ("CREATE (x) RETURN x", "Bo", None, "not run: it writes"), ("MATCH (n RETURN n", "Bo", None, "Invalid input"),
    ("LOAD CSV FROM 'http://127.0.0.1:1/x' AS line RETURN line", "Bo", None, "LOAD CSV"),
    ("CALL gds.graph.list()", "Bo", None, "not known to read only"),
]


@pytest.mark.parametrize(("cypher", "reference", "passed", "words"), BY_CYPHER)
def test_a_questions_own_cypher_proves_that_its_answer_is_the_only_one(
    graph: Graph, draw: Draw, cypher: str, reference: str, passed: bool | None, words: str,
) -> None:
    draw(TOWN)
    found = said(graph, question(cypher, reference))["unique"]
    assert (found.passed, words in found.reason) == (passed, True), found
    assert graph.read("MATCH (n) RETURN count(n) AS n") == [{"n": 6}]


def test_several_rows_are_one_answer_where_the_file_holds_all_of_them_right(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    assert said(graph, question(MILLS, "Old Mill", references=["New Mill"]))["unique"].passed is True


def test_the_cypher_of_a_negative_question_finds_nothing(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    sold = "MATCH (:__Entity__ {name: 'Bo'})-[:SOLD]->(e) RETURN e.name"
    assert said(graph, question(sold, level="negative"))["absent"].passed is True
    assert said(graph, question(MILLS, level="negative"))["absent"].passed is False
    assert said(graph, question(level="negative"))["absent"].passed is None
    assert said(graph, question(MILLS, "Old Mill"))["absent"].passed is None


def test_a_gold_path_is_found_again_by_names_and_proves_one_answer(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    found = said(graph, path(("Old Mill", "stands in", "Kent"), ("Kent", "RULED_BY", "Bo"), reference="Bo"))
    assert (found["unique"].passed, found["no_shortcut"].passed) == (True, True)
    found = said(graph, path(("Ada", "built", "Old Mill"), reference="Old Mill"))
    assert (found["unique"].passed, found["no_shortcut"].passed) == (False, None)
    assert "2 answers" in found["unique"].reason


def test_a_shorter_way_between_the_ends_is_a_shortcut(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    found = said(graph, path(("Ada", "built", "Old Mill"), ("Old Mill", "stands in", "Kent"), reference="Kent"))
    assert (found["unique"].passed, found["no_shortcut"].passed) == (True, False)
    assert found["no_shortcut"].reason == "1 of 2 hops are enough to join its ends"


def test_a_path_that_is_not_in_the_graph_proves_nothing_or_says_so(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    found = said(graph, path(("Ada", "sold", "Kent"), reference="Kent"))
    assert (found["unique"].passed, found["unique"].reason) == (False, "its path is not in this graph")
    layout = bind(graph, load_profile("kgeval").layout, "town")
    made = path_checks([path(("Zoe", "built", "Kent"), reference="Kent")], graph, layout)
    assert (made["q"].unique, made["q"].no_shortcut.reason) == (None, "an end of its path is not in this graph")


def test_the_command_proves_in_the_graph_that_is_named(
    graph: Graph, draw: Draw, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(TOWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    rows = [
        question(BY_CYPHER[0][0], "Bo"), question(MILLS, "Old Mill").model_copy(update={"id": "two"}),
        path(("Old Mill", "stands in", "Kent"), ("Kent", "ruled by", "Bo"), reference="Bo").model_copy(update={"id": "way"}),
        question(reference="Bo").model_copy(update={"id": "bare"}),
    ]
    made = (row.model_copy(update={"question": row.id}).model_dump_json(exclude_defaults=True) for row in rows)
    Path("q.jsonl").write_text("".join(f"{line}\n" for line in made))
    arguments = ["q.jsonl", "--no-model", "--graph", "town", "--uri", address.uri, "-o", "r.json", "-o", "o.jsonl", "--no-progress"]
    assert run(["questions", "check", *arguments]) == 0
    written = [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]
    checks = {row["id"]: {one["name"]: one["passed"] for one in row["checks"]} for row in written}
    assert {name: found["unique"] for name, found in checks.items()} == {"q": True, "two": False, "way": True, "bare": None}
    assert checks["way"]["no_shortcut"] is True
    assert json.loads(Path("r.json").read_text())["run"]["server"]["uri"] == address.uri
    capsys.readouterr()
    assert run(["questions", "check", "q.jsonl", "--no-model", "--graph", "village", "--uri", address.uri]) == 2
    assert "village" in capsys.readouterr().err
