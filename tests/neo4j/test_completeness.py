"""Completeness on a real Neo4j: pictures to be counted by hand, in several layouts, and the published figures on real data."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from kgeval.auditing.completeness.gold import Gold, GoldItems, distinct
from kgeval.auditing.completeness.gold_files import read_gold
from kgeval.auditing.completeness.run import measure
from kgeval.cli.main import run
from kgeval.config import CompletenessOptions
from kgeval.errors import GateError, UsageError
from kgeval.graph.connect import Address, Graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import CompletenessReport, GoldEntity, GoldMatch, GoldTriple, Proportion
from kgeval.reports.views.completeness import verdict
from kgeval.workflows import completeness as workflow
from kgeval.workflows.session import Session, options_of

Draw = Callable[[str], None]
DATA = Path(os.environ.get("KGEVAL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
PICTURES = Path(__file__).parents[1] / "graphs" / "layouts"

# two books; in moby Ahab commands the Pequod and hunts the whale; Emma stands in another book
BOOKS = """
CREATE (:__KgevalGraph__ {name: 'g'}),
  (m:Document:g {id: 'moby', title: 'books/Moby-Dick.txt'}), (e:Document:g {id: 'emma', title: 'Emma'}),
  (c:Chunk:g {id: 'c1'})-[:FROM_DOCUMENT]->(m), (d:Chunk:g {id: 'c2'})-[:FROM_DOCUMENT]->(e),
  (ahab:__Entity__:Person:g {id: '1', name: 'Captain Ahab', name_key: 'captain ahab', type: 'Person',
    aliases: ['Old Thunder']})-[:FROM_CHUNK]->(c),
  (whale:__Entity__:Whale:g {id: '2', name: 'MOBY-DICK', name_key: 'moby dick', type: 'Whale'})-[:FROM_CHUNK]->(c),
  (ship:__Entity__:Ship:g {id: '3', name: 'Pequod', name_key: 'pequod', type: 'Ship'})-[:FROM_CHUNK]->(c),
  (emma:__Entity__:Person:g {id: '4', name: 'Emma', name_key: 'emma', type: 'Person'})-[:FROM_CHUNK]->(d),
  (ahab)-[:COMMANDS {predicate: 'commands'}]->(ship), (whale)-[:HUNTED_BY {predicate: 'hunted by'}]->(ahab)
"""


def gold_of(*items: GoldEntity | GoldTriple) -> Gold:
    entities = [item for item in items if isinstance(item, GoldEntity)]
    return distinct(GoldItems(entities, [item for item in items if isinstance(item, GoldTriple)]))


def triple(subject: str, predicate: str | None, obj: str, document: str | None = None) -> GoldTriple:
    return GoldTriple(subject=subject, predicate=predicate, object=obj, document=document)


def completeness(
    graph: Graph, gold: Gold, options: CompletenessOptions | None = None, *, layout: str = "kgeval", name: str | None = "g", **more: Any,
) -> CompletenessReport:
    return measure(graph, bind(graph, load_profile(layout).layout, name), gold, options, **more)


def counts(*figures: Proportion | None) -> list[tuple[int, int] | None]:
    return [None if figure is None else (figure.count, figure.total) for figure in figures]


def by_name(report: CompletenessReport) -> dict[str, GoldMatch]:
    return {item.name: item for item in (*report.matched, *report.missing)}


BOOK_GOLD = gold_of(
    GoldEntity(name="Pequod", document="Moby Dick"), GoldEntity(name="The Moby Dick", document="Moby Dick"),
    GoldEntity(name="Old Thunder", document="Moby Dick"), GoldEntity(name="Ahab", document="Moby Dick"),
    GoldEntity(name="Peqood", document="Moby Dick"), GoldEntity(name="Emma", document="Moby Dick"),
    GoldEntity(name="Emma", document="emma"),
)


def test_each_level_adds_its_own_matches_and_gold_of_a_book_is_sought_in_that_book(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    report = completeness(graph, BOOK_GOLD)
    found = {level: figures.entity_coverage.count for level, figures in report.levels.items()}
    assert found == {"exact": 2, "normalised": 3, "alias": 5, "fuzzy": 5}  # Pequod, Emma; + Moby Dick; + Old Thunder, Ahab
    assert report.apart["alias"]["entities"] == 2
    assert [(item.name, item.document) for item in report.missing] == [("Peqood", "Moby Dick"), ("Emma", "Moby Dick")]
    items = by_name(report)
    assert (items["Old Thunder"].level, items["Old Thunder"].why) == ("alias", "alias 'Old Thunder' of Captain Ahab")
    assert (items["Ahab"].why, items["Ahab"].found[0].name, items["Ahab"].found[0].type) == ("honorific", "Captain Ahab", "Person")
    assert counts(*(figures.entity_coverage for figures in report.by_document.values())) == [(4, 6), (1, 1)]


def test_relations_count_in_either_direction_in_the_gold_one_and_with_their_name(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    report = completeness(graph, gold_of(
        triple("Captain Ahab", "commands", "Pequod", "moby"),       # there, so directed, so called
        triple("Captain Ahab", "hunts", "Moby-Dick", "moby"),       # there, the other way round, called otherwise
        triple("Pequod", "sank with", "Moby-Dick", "moby"),         # both ends, no relation
        triple("Captain Ahab", None, "Starbuck", "moby"),           # an end is missing
    ))
    exact, normal = report.levels["exact"], report.levels["normalised"]
    assert counts(exact.entity_coverage, exact.relation_completeness) == [(2, 4), (1, 4)]
    assert counts(
        normal.relation_completeness, normal.relation_completeness_directed, normal.relation_completeness_with_predicate,
        normal.relation_pairs,
    ) == [(2, 4), (1, 4), (1, 3), (2, 4)]
    why = {item.name: item.why for item in report.missing if item.kind == "relation"}
    assert why == {
        "Pequod -[sank with]-> Moby-Dick": "both ends are there, no relation joins them",
        "Captain Ahab -[]-> Starbuck": "the object is missing",
    }
    hunts = by_name(report)["Captain Ahab -[hunts]-> Moby-Dick"]
    assert (hunts.level, hunts.directed, hunts.predicate) == ("normalised", False, False)
    assert hunts.found[0].name == "MOBY-DICK -[hunted by]-> Captain Ahab"


def test_two_nodes_of_one_normalised_name_both_give_their_relations(graph: Graph, draw: Draw) -> None:
    draw("CREATE (a:Thing {name: 'Lizard'})-[:NEAR]->(:Thing {name: 'Falmouth'}), (:Thing {name: 'The Lizard'})")
    report = completeness(graph, gold_of(triple("The Lizard", "near", "Falmouth")), layout="generic", name=None)
    assert counts(report.levels["exact"].relation_completeness, report.levels["normalised"].relation_completeness) == [(0, 1), (1, 1)]
    assert [found.name for found in by_name(report)["The Lizard"].found] == ["The Lizard"]


def test_one_entity_for_both_ends_is_no_relation_but_a_self_loop_of_the_gold_is(graph: Graph, draw: Draw) -> None:
    draw("CREATE (a:Thing {name: 'Ada Lovelace', aliases: ['Lady Byron']})-[:KNOWS]->(a)")
    gold = gold_of(triple("Ada Lovelace", "knows", "Ada Lovelace"), triple("Ada Lovelace", "is", "Lady Byron"))
    report = completeness(graph, gold, layout="generic", name=None)
    assert report.levels["fuzzy"].relation_completeness.count == 1
    assert by_name(report)["Ada Lovelace -[is]-> Lady Byron"].why == "both ends are one entity of the graph"


def test_the_control_seeks_each_books_gold_in_the_next_book(graph: Graph, draw: Draw) -> None:
    draw(BOOKS + ", (:__Entity__:Ship:g {id: '5', name: 'Pequod', name_key: 'pequod'})-[:FROM_CHUNK]->(d)")
    report = completeness(graph, gold_of(
        GoldEntity(name="Pequod", document="moby"), GoldEntity(name="Captain Ahab", document="moby"),
        GoldEntity(name="Emma", document="emma"),
    ))
    assert report.control is not None
    assert counts(report.control.entity_coverage) == [(1, 3)]
    assert report.levels["fuzzy"].entity_coverage.count == 3


def test_one_book_alone_has_no_control_unless_a_file_gives_one(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    gold = gold_of(GoldEntity(name="Pequod", document="moby"))
    assert "two documents" in (completeness(graph, gold).control_missing or "")
    other = gold_of(GoldEntity(name="Emma"), GoldEntity(name="Harriet"), triple("Emma", "knows", "Ahab"))
    report = completeness(graph, gold, control=other)
    assert report.control is not None and report.control_missing is None
    assert counts(report.control.entity_coverage, report.control.relation_completeness) == [(2, 3), (0, 1)]


def test_a_book_that_the_graph_lacks_counts_as_missing_and_is_named(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    report = completeness(graph, gold_of(GoldEntity(name="Emma", document="emma"), GoldEntity(name="Emma", document="ulysses")))
    assert counts(report.levels["fuzzy"].entity_coverage) == [(1, 2)]
    assert any("ulysses" in note for note in report.notes)


def test_a_graph_without_documents_is_searched_as_a_whole_and_says_so(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:Thing {name: 'Emma'})")
    report = completeness(graph, gold_of(GoldEntity(name="Emma", document="emma")), layout="generic", name=None)
    assert counts(report.levels["exact"].entity_coverage) == [(1, 1)]
    assert any("the graph has no documents" in note for note in report.notes)
    assert report.scope == "unmatched" and [one.band for one in report.verdicts] == [None, None]
    assert verdict(report).startswith("No document of the gold set could be matched")


@pytest.mark.usefixtures("server")
def test_gates_have_no_answer_where_no_gold_document_is_known_unless_the_whole_graph_is_asked_for(
    draw: Draw, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """A LightRAG store whose file_path is unknown_source: by document every item would be missing, in the whole graph all are there."""
    draw("CREATE (:Entity {name: 'Emma', file_path: 'unknown_source'}), (:Entity {name: 'Ishmael', file_path: 'unknown_source'})")
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"name": "Emma", "document": "emma"}\n{"name": "Ishmael", "document": "moby"}\n', encoding="utf-8")
    given = ("--gold", str(gold), "--layout", "generic", "--threshold", "entity_coverage>=0.5")
    assert command(*given, graph=None) == 3
    shown = capsys.readouterr()
    assert "gate not answered: entity_coverage >= 0.5 (no document of the gold set" in shown.err
    assert "No document of the gold set could be matched" in shown.out and "strong" not in shown.out.split("*")[0]
    assert command(*given, "--whole-graph", graph=None) == 0
    assert "No document" not in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(("layout", "document", "engine", "documents_known"), [
    ("kgeval", "a", "Engine", True),
    ("neo4j-graphrag", "a.txt", "Analytical Engine", True),
    ("langchain", "A.txt", "Engine", True),
    ("lightrag", "a", "Engine", True),
    ("msgraphrag-notebook", "a", "Engine", True),
    ("llamaindex", "d", "Engine", True),
    ("llamaindex", "nowhere", "Engine", False),
    ("kg-gen", "a.txt", "Engine", False),
])
def test_every_layout_finds_ada_and_her_relation(
    graph: Graph, draw: Draw, layout: str, document: str, engine: str, documents_known: bool,
) -> None:
    text = (PICTURES / f"{layout}.cypher").read_text(encoding="utf-8")
    draw("\n".join(line for line in text.splitlines() if not line.startswith("//")))
    gold = gold_of(triple("ada", "wrote about", f"the {engine.lower()}", document), triple("Ada", "met", "Nobody", document))
    report = completeness(graph, gold, layout=layout, name=None)
    normal = report.levels["normalised"]
    assert counts(normal.entity_coverage, normal.relation_completeness) == [(2, 3), (1, 2)]
    assert any("whole graph" in note for note in report.notes) is not documents_known


def test_bridging_relations_join_two_communities(graph: Graph, draw: Draw) -> None:
    draw("""CREATE (a:Thing {name: 'a1'}), (b:Thing {name: 'a2'}), (c:Thing {name: 'a3'}), (x:Thing {name: 'b1'}), (y:Thing {name: 'b2'}),
      (z:Thing {name: 'b3'}), (a)-[:R]->(b), (b)-[:R]->(c), (c)-[:R]->(a), (x)-[:R]->(y), (y)-[:R]->(z), (z)-[:R]->(x), (a)-[:R]->(x)""")
    gold = gold_of(triple("a1", "r", "a2"), triple("a1", "r", "b1"), triple("a2", "r", "b2"), triple("a1", "r", "nobody"))
    report = completeness(graph, gold, layout="generic", name=None)
    assert counts(report.bridging["communities"], report.bridging["within_communities"]) == [(1, 2), (1, 1)]
    flags = {item.name: item.bridging for item in (*report.matched, *report.missing) if item.kind == "relation"}
    assert list(flags.values()).count(True) == 2 and flags["a1 -[r]-> nobody"] is None


def test_gold_without_documents_bridges_two_books(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    report = completeness(graph, gold_of(triple("Emma", "never met", "Pequod"), triple("Pequod", "of", "Captain Ahab")))
    assert counts(report.bridging["documents"]) == [(0, 1)]


def test_without_gds_the_communities_are_left_out_with_the_reason(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    known = graph.info
    graph.info = known.model_copy(update={"gds": None})
    try:
        report = completeness(graph, gold_of(triple("Pequod", "of", "Captain Ahab")))
    finally:
        graph.info = known
    assert "communities" not in report.bridging
    assert any("Graph Data Science" in note for note in report.notes)


def test_exact_and_normalised_alone_come_from_the_index_of_our_own_layout_with_the_same_result(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    layout = bind(graph, load_profile("kgeval").layout, "g")
    options = CompletenessOptions(levels=("exact", "normalised"))
    own = measure(graph, layout, BOOK_GOLD, options)
    foreign = measure(graph, layout.model_copy(update={"expected_indexes": []}), BOOK_GOLD, options)
    assert (own.settings["by_index"], foreign.settings["by_index"]) == (True, False)
    assert own.levels == foreign.levels
    assert [(item.name, item.level) for item in own.matched] == [(item.name, item.level) for item in foreign.matched]


def test_another_graph_of_the_same_database_is_not_looked_at(graph: Graph, draw: Draw) -> None:
    draw(BOOKS + ", (:__KgevalGraph__ {name: 'h'}), (:__Entity__:h {id: '9', name: 'Starbuck', name_key: 'starbuck'})")
    for levels in (("exact", "normalised"), ("exact", "normalised", "alias", "fuzzy")):
        report = completeness(graph, gold_of(GoldEntity(name="Starbuck")), CompletenessOptions(levels=levels))  # type: ignore[arg-type]
        assert report.levels["exact"].entity_coverage.count == 0


def test_relations_without_names_leave_the_figure_with_predicate_out(graph: Graph, draw: Draw) -> None:
    draw(BOOKS + ", (ship)-[:RELATED {predicate: 'RELATED'}]->(whale)")
    report = completeness(graph, gold_of(triple("Pequod", "chases", "Moby Dick")))
    figure = report.levels["fuzzy"].relation_completeness_with_predicate
    assert (figure.total, figure.share) == (0, None)
    assert any("no names" in note for note in report.notes)


def test_types_predicates_findings_and_verdicts_are_counted_by_hand(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    report = completeness(graph, gold_of(
        GoldEntity(name="Captain Ahab", type="Person"), GoldEntity(name="Ishmael", type="Person"), GoldEntity(name="Pequod", type="Ship"),
        triple("Captain Ahab", "commands", "Pequod"), triple("Ishmael", "sails on", "Pequod"),
    ))
    assert counts(report.by_type["Person"].entity_coverage, report.by_type["Person"].relation_completeness) == [(1, 2), (1, 2)]
    assert counts(report.by_type["Ship"].entity_coverage, report.by_type["Ship"].relation_completeness) == [(1, 1), (1, 2)]
    assert [(f.rule_id, f.group, f.status, f.count, f.total) for f in report.findings] == [
        ("missing-gold-entity", "completeness", "failed", 1, 3), ("missing-gold-relation", "completeness", "failed", 1, 2),
    ]
    assert report.findings[0].examples[0].items[0].name == "Ishmael"
    assert [(v.figure, v.level, v.band) for v in report.verdicts] == [
        ("entity_coverage", "fuzzy", "critical"), ("relation_completeness", "fuzzy", "critical"),
        ("relation_completeness_with_predicate", "fuzzy", "critical"),
    ]


def test_gold_without_relations_is_no_passed_check_of_relations(graph: Graph, draw: Draw) -> None:
    draw(BOOKS)
    entities, relations = completeness(graph, gold_of(GoldEntity(name="Pequod"))).findings
    assert (entities.status, entities.total) == ("passed", 1)
    assert (relations.status, relations.count, relations.total) == ("skipped", None, None)
    assert relations.reason == "the gold set has no relations"


@pytest.fixture
def server(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)


def command(*arguments: str, graph: str | None = "g") -> int:
    return run(["completeness", *(["--graph", graph] if graph else []), "--no-progress", *arguments])


@pytest.mark.usefixtures("server")
def test_the_command_writes_a_report_names_broken_items_and_answers_gates(
    draw: Draw, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    draw(BOOKS)
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"name": "Pequod", "document": "moby"}\n{"name": "Starbuck", "document": "moby"}\nbroken\n', encoding="utf-8")
    out = tmp_path / "out.json"
    assert command("--gold", str(gold), "-o", str(out), "-f", "json", "--threshold", "entity_coverage>=0.5") == 0
    shown = capsys.readouterr()
    assert CompletenessReport.model_validate_json(shown.out).levels["exact"].entity_coverage.count == 1
    assert "gold.jsonl:3: not JSON" in shown.err
    report = CompletenessReport.model_validate_json(out.read_text(encoding="utf-8"))
    assert report.gold.faults and report.run.inputs[0].path == str(gold)
    assert command("--gold", str(gold), "--threshold", "entity_coverage>=0.6") == 1
    assert command("--gold", str(gold), "--threshold", "relation_completeness>=0.1") == 3  # no gold triple: no answer is no pass
    assert command("--gold", str(gold), "--filter-document", "ulysses") == 2
    assert command("--gold", str(tmp_path / "none.jsonl")) == 2
    assert command() == 2


def test_what_can_fail_at_once_fails_before_a_server_or_a_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("NEO4J_PASSWORD", "none")
    gold, text = tmp_path / "gold.jsonl", tmp_path / "text.txt"
    gold.write_text('{"name": "Pequod"}\n', encoding="utf-8")
    text.write_text("Ahab commands the Pequod.", encoding="utf-8")

    def said(*arguments: str) -> str:
        assert command(*arguments) == 2
        return capsys.readouterr().err

    ideal = ("--ideal", str(text), "--ideal-extractor", "rules")
    assert "none.txt: no such file" in said("--gold", str(gold), "--facts", str(tmp_path / "none.txt"), "--model", "m")
    assert "--model" in said("--gold", str(gold), "--facts", str(text))
    assert "no such level" in said(*ideal, "--levels", "exakt")
    assert "two gold sets" in said(*ideal, "--gold", str(gold))
    assert "is there already" in said(*ideal, "--ideal-export", str(gold))
    assert "127.0.0.1:1" in said("--ideal", str(tmp_path / "no-such-folder"), "--ideal-extractor", "rules"), "the server before the reading"
    assert command("--gold", str(gold), "--dry-run") == 0
    assert "nothing was sent" in capsys.readouterr().out


def test_the_function_gives_rows_and_gates_and_tells_all_that_does_not_fit_at_once(address: Address, draw: Draw, tmp_path: Path) -> None:
    draw(BOOKS)
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"name": "Pequod", "document": "moby"}\n{"name": "Starbuck", "document": "moby"}\nbroken\n', encoding="utf-8")
    said: list[str] = []
    with GraphDatabase.driver(address.uri, auth=("neo4j", address.password)) as driver, Session(
        "completeness", driver, graph_name="g", say=said.append, show=False,
    ) as session:
        wanted = {"gold": gold, "thresholds": "entity_coverage@exact>=0.6,relation_pairs>=0.1", "levels": "exact,normalised"}
        result = workflow.run(session, options_of(CompletenessOptions, wanted))
        with pytest.raises(UsageError) as caught:
            workflow.run(session, CompletenessOptions(gold=(gold,), ideal=(gold,), ideal_sample=3, triples=gold))
    assert all(words in caught.value.message for words in ("two gold sets", "--ideal-sample", "--triples FILE"))
    assert [tuple(row) for row in result.to_pandas()[["name", "level"]].fillna("").to_numpy()] == [("Pequod", "exact"), ("Starbuck", "")]
    assert [(gate.name, gate.limit, gate.value, gate.met) for gate in result.gates] == [
        ("entity_coverage", ">= 0.6", 0.5, False), ("relation_pairs", ">= 0.1", None, None),
    ]
    assert result.exit_code == 3 and result.messages[0] == "gate missed: entity_coverage (exact) >= 0.6 (0.5)"
    with pytest.raises(GateError, match="gate not answered: relation_pairs"):
        result.raise_for_gates()
    assert said[0].startswith("warning: 1 broken gold items") and result.report.run.inputs[0].path == str(gold)
    assert result.report.run.arguments["levels"] == ["exact", "normalised"]


NORMAL = re.compile(r"^(?:a[\s_]+|(?:the|an)[\s_-]+)(?=.*\w)")


def plain(name: str) -> str:
    """The identity of a name without signs that carry meaning, written out a second time: NFKC, lower case, inner apostrophes dropped,
    punctuation and the English article gone, thousands without their comma."""
    name = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", name)
    text = re.sub(r"(?<=\w)['’ʼ](?=\w)", "", unicodedata.normalize("NFKC", name).casefold())
    text = NORMAL.sub("", text.lstrip(" '\"“”‘’(["))
    return " ".join("".join(" " if unicodedata.category(c)[0] in "PZC" else c for c in text).split())


def gold_by_book(path: Path) -> dict[str, set[tuple[str, str]]]:
    """Normalised ends of every clean triple, by book, with the groups cut by hand."""
    out: dict[str, set[tuple[str, str]]] = {}
    for question in json.loads(path.read_text(encoding="utf-8")):
        for group in question["evidence_triple"].replace(").;", ");").replace(") ;", ");").split(";"):
            parts = group.strip().rstrip(".").strip()
            cells = [cell.strip() for cell in parts[1:-1].split(",")]
            if parts.startswith("(") and parts.endswith(")") and len(cells) == 3 and all(cells):
                out.setdefault(question["source"], set()).add((plain(cells[0]), plain(cells[2])))
    return out


def graph_by_book(folder: Path) -> tuple[dict[str, set[str]], dict[str, set[frozenset[str]]]]:
    """Normalised names and joined pairs of each book, straight from LightRAG's files: an entity is in the books of its chunks."""
    files = {name: json.loads((folder / f"kv_store_{name}.json").read_text(encoding="utf-8")) for name in (
        "doc_status", "full_entities", "full_relations", "entity_chunks")}
    book = {key: row["file_path"] for key, row in files["doc_status"].items()}
    book_of_chunk = {chunk: book[key] for key, row in files["doc_status"].items() for chunk in row["chunks_list"]}
    names: dict[str, set[str]] = {name: set() for name in book.values()}
    for key, row in files["full_entities"].items():
        names[book[key]] |= {plain(name) for name in row["entity_names"]}
    for name, row in files["entity_chunks"].items():
        for chunk in row["chunk_ids"]:
            names[book_of_chunk[chunk]].add(plain(name))
    everywhere = {frozenset(map(plain, pair)) for row in files["full_relations"].values() for pair in row["relation_pairs"]}
    return names, {name: {pair for pair in everywhere if pair <= names[name]} for name in names}


@pytest.mark.long
@pytest.mark.usefixtures("server")
def test_eight_novels_give_the_figures_counted_straight_from_the_files(graph: Graph) -> None:
    folder = DATA / "graphrag-bench-novel"
    if not folder.is_dir():
        pytest.skip(f"shared data is absent: {folder}")
    assert run(["import", str(folder / "lightrag"), "--graph", "novels", "--no-progress"]) == 0
    report = completeness(graph, read_gold([folder / "questions.json"]), name="novels")
    gold, (names, pairs) = gold_by_book(folder / "questions.json"), graph_by_book(folder / "lightrag")
    entities = {book: {end for ends in triples for end in ends} for book, triples in gold.items()}
    ends = {book: {frozenset(pair) for pair in triples} for book, triples in gold.items()}
    normal = report.levels["normalised"]
    assert counts(normal.entity_coverage) == [(sum(len(e & names[b]) for b, e in entities.items()), sum(map(len, entities.values())))]
    assert counts(normal.relation_pairs) == [(sum(len(e & pairs[b]) for b, e in ends.items()), sum(map(len, ends.values())))]
    order = sorted(gold)
    following = dict(zip(order, order[1:] + order[:1], strict=True))
    strict = completeness(graph, read_gold([folder / "questions.json"]), CompletenessOptions(levels=("exact", "normalised")), name="novels")
    assert strict.control is not None
    assert strict.control.entity_coverage.count == sum(len(e & names[following[b]]) for b, e in entities.items())
    assert strict.control.entity_coverage.share == pytest.approx(0.011, abs=0.002)
    assert normal.entity_coverage.share == pytest.approx(0.64, abs=0.005)
    assert [report.levels[level].entity_coverage.count for level in ("exact", "normalised", "alias", "fuzzy")] == [487, 589, 607, 610]


def test_embeddings_add_what_means_the_same_and_leave_other_numbers_alone(graph: Graph, draw: Draw, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    from kgeval.llm.embed import open_embedder

    draw("CREATE (:Thing {name: 'Tour to the Jereed'})-[:IN_YEAR]->(:Thing {name: 'Chapter 2'}), (:Thing {name: 'Novelist'})")
    gold = gold_of(GoldEntity(name="A tour in the Jereed"), GoldEntity(name="Chapter 1"), GoldEntity(name="Steam engine"))
    with open_embedder(None, cache_dir=tmp_path) as embedder:
        options = CompletenessOptions(levels=("exact", "normalised", "embedding"))
        with pytest.raises(UsageError, match="needs an embedding model"):
            completeness(graph, gold, options, layout="generic", name=None)
        report = completeness(graph, gold, options, layout="generic", name=None, embedder=embedder)
    assert [(item.name, item.level) for item in report.matched] == [("A tour in the Jereed", "embedding")]
    assert report.verdict_level == "normalised" and report.settings["embedding_model"]
    assert counts(report.levels["normalised"].entity_coverage, report.levels["embedding"].entity_coverage) == [(0, 3), (1, 3)]
