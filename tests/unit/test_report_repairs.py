"""What a report prints to see hits and to repair them, in each form: what it lists, whose graph it touches, and why there is none."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from click.testing import CliRunner
from report_page import unpacked

from kgeval.auditing.merging import EntityEvidence, RepairEvidence, declared_unique
from kgeval.auditing.repair import query_lists, repair_for
from kgeval.auditing.rule_pages import rule_page
from kgeval.auditing.rulebook import load_rules
from kgeval.cli.main import cli
from kgeval.graph.binding import query_of_graph
from kgeval.graph.layouts import load_profile
from kgeval.graph.queries import all_queries, blank
from kgeval.records import AuditReport, Example, Finding, GraphRef, Layout, Repair, RunManifest
from kgeval.reports.listing import hits, listing, repair
from kgeval.reports.redact import redacted
from kgeval.reports.write import rendered

PLAIN = Layout(name="plain", entity_labels=["E"], name_keys=["name"])
HOSTILE = "4:x:1'] OR true //"
ROWS = "The rows that the check reads."


def hit(*ids: str, **more: Any) -> Example:
    return Example(items=[GraphRef(element_id=one, key="=k", name="=1+1 \u202e", type="T") for one in ids], **more)


def finding(rule_id: str, *found: Example, layout: Layout = PLAIN, extracted: bool = True) -> Finding:
    rule, query = load_rules()[rule_id], all_queries()[rule_id]
    return Finding(
        rule_id=rule_id, group=rule.group, status="failed", severity=rule.severity, title=rule.title, count=len(found), total=9, share=0.5,
        examples=list(found), query=query_of_graph(query, layout), query_lists=query_lists(rule),
        repair=repair_for(rule, layout, found, extracted=extracted),
        parameters={param.name: 9 for param in query.params},
    )


def audit(*findings: Finding) -> AuditReport:
    run = RunManifest(kgeval="0", command="kgeval audit", started="2025-01-01T00:00:00Z", seconds=1.0)
    return AuditReport(run=run, layout=PLAIN, findings=list(findings))


def test_a_repair_holds_the_ids_of_hits_that_are_not_waived_quoted() -> None:
    found = finding("isolated-entity", hit(HOSTILE), hit("4:x:2", "4:x:3"), hit("4:x:4", waived="right"))
    printed = repair(audit(found), found)
    assert found.repair and found.repair.parameters == {"element_ids": [HOSTILE, "4:x:2"]}
    assert printed and printed.params == ":param element_ids => ['4:x:1\\'] OR true //', '4:x:2']"
    assert (printed.missing, printed.shares_layout, printed.query[-1]) == ((), False, ";")


def named(*things: tuple[str, str, str | None], **more: Any) -> Example:
    return Example(items=[GraphRef(element_id=f"4:x:{at}", key=name, name=name, type=type_) for at, name, type_ in things], **more)


def merge_of(*found: Example, rule_id: str = "fragmented-entity", layout: Layout = PLAIN, **evidence: Any) -> Repair:
    return repair_for(load_rules()[rule_id], layout, found, extracted=True, evidence=RepairEvidence(**evidence))


ADA = ("1", "Ada Lovelace", "Person"), ("2", "ADA LOVELACE", "Person")


def test_a_merge_holds_the_groups_that_are_sure_and_keeps_what_has_most_relations_then_what_is_oldest() -> None:
    pairs = [named(*ADA), named(("10", "Acme Corp.", "Firm"), ("9", "ACME Corp.", "Firm")), named(*ADA, waived="two people")]
    merge = merge_of(*pairs, entities={"4:x:2": EntityEvidence(5), "4:x:1": EntityEvidence(3)})
    assert (merge.query, merge.parameters) == ("merge-entities", {"groups": [["4:x:2", "4:x:1"], ["4:x:9", "4:x:10"]], "unique": []})
    assert merge.dry_run and not merge.safe and merge.note and "the one with most relations, then the oldest" in merge.note
    assert "Not merged" not in merge.note


@pytest.mark.parametrize(("pair", "evidence", "why"), [
    ([("1", "Ada Lovelace", "Person"), ("2", "Lovelace", "Person")], {}, "1 of names that"),
    ([("1", "Ada", "Person"), ("2", "ADA", "Ship")], {}, "1 of several types"),
    ([("1", "C", "Language"), ("2", "C#", "Language")], {}, "1 of names that alone do not say one thing"),
    ([("1", "x" * 200, None), ("2", "x" * 200, None)], {}, "1 of names that are cut"),
    (ADA, {"unique": None}, "1 in a database whose constraints could not be read"),
    (ADA, {"made": frozenset(["Person"])}, "1 of a type that no writer extracted"),
    (ADA, {"entities": {f"4:x:{at}": EntityEvidence(1, {"born": f"18{at}"}) for at in (1, 2)}}, "1 that differ in born"),
    ([("1", "Ada", None)], {}, "1 of one entity"),
])
def test_what_is_not_sure_is_only_looked_at_and_the_reason_is_said(pair: Any, evidence: dict[str, Any], why: str) -> None:
    look = merge_of(named(*pair), **evidence)
    assert (look.query, look.reads, look.dry_run) == ("look-at-copies", True, None)
    assert look.reason and look.reason.startswith(f"No merge is offered: {why}") and "$groups to set" in str(look.note)
    assert look.parameters == {"element_ids": [f"4:x:{at}" for at, *_ in pair]}
    both = merge_of(named(*pair), named(("7", "Oz", "Place"), ("8", "OZ", "Place")), **evidence)
    if evidence.get("unique", ()) is not None:
        assert both.parameters["groups"] == [["4:x:7", "4:x:8"]] and why in str(both.note)


def test_each_form_says_why_no_merge_is_offered() -> None:
    found = finding("fragmented-entity", named(("1", "Ada Lovelace", "Person"), ("2", "Lovelace", "Person")))
    for form in ("text", "md", "html", "json"):
        assert "No merge is offered: 1 of names that" in " ".join(rendered(audit(found), form).split()), form  # type: ignore[arg-type]


def test_groups_that_share_an_entity_are_one_where_all_of_it_is_sure_and_else_none() -> None:
    a, b, c = ("1", "Ada Lovelace", "Person"), ("2", "ADA LOVELACE", "Person"), ("3", "ada lovelace", "Person")
    assert merge_of(named(a, b), named(b, c)).parameters["groups"] == [["4:x:1", "4:x:2", "4:x:3"]]
    told = {"4:x:1": EntityEvidence(0, {"born": "1815"}), "4:x:3": EntityEvidence(0, {"born": "1915"})}
    apart = merge_of(named(a, b), named(b, c), entities=told)
    assert apart.query == "look-at-copies" and "2 that share an entity and are together differ in born" in str(apart.reason)


def test_what_a_constraint_declares_unique_tells_things_apart_and_a_writers_handle_does_not() -> None:
    rows = [
        {"type": kind, "entityType": of, "labelsOrTypes": ["Ship"], "properties": keys}
        for kind, of, keys in (
            ("NODE_PROPERTY_UNIQUENESS", "NODE", ["imo"]), ("UNIQUENESS", "NODE", ["id"]), ("NODE_KEY", "NODE", ["name"]),
            ("RELATIONSHIP_UNIQUENESS", "RELATIONSHIP", ["seq"]), ("NODE_PROPERTY_EXISTENCE", "NODE", ["flag"]),
        )
    ]
    found = declared_unique(rows, PLAIN)
    assert [(one["on"], one["properties"], one["tells"]) for one in found] == [
        ("Ship", ["imo"], True), ("Ship", ["id"], False), ("Ship", ["name"], False), ("Ship", ["seq"], False),
    ]


@pytest.mark.parametrize(("name", "offered"), [
    ("generic", True), ("llm-graph-builder", True), ("lightrag", True),
    ("msgraphrag-notebook", False), ("nano-graphrag", False), ("plain", False),
])
def test_no_relation_is_given_a_type_that_its_writer_does_not_read(name: str, offered: bool) -> None:
    """A relation of another type than RELATED is none for who reads RELATED: it would be lost to retrieval and to the next audit."""
    layout = PLAIN if name == "plain" else load_profile(name).layout
    for rule_id in ("constant-relation-type", "rare-relation-type", "relation-synonym", "undeclared-relation"):
        found = finding(rule_id, hit("4:x:1"), layout=layout)
        assert found.repair and (found.repair.reason is None) is offered
        assert offered or "No repair offered for this kind of graph: its writer knows" in str(found.repair.reason)


def test_what_is_the_readers_to_choose_is_never_filled_in() -> None:
    chosen = {"rare-type": {"from", "to"}, "constant-relation-type": {"element_ids", "label"}}
    for rule_id, wanted in chosen.items():
        found = finding(rule_id, hit("4:x:1", "4:x:2"), layout=PLAIN.model_copy(update={"relation_label_key": "label"}))
        printed = repair(audit(found), found)
        assert printed and (printed.params, {name for name, _ in printed.missing}) == (":param unique => []", wanted)


def test_a_query_of_rows_says_so_and_the_hits_are_shown_by_their_ids() -> None:
    rows, done = finding("duplicate-name", hit("4:x:1", "4:x:2")), finding("pronoun-entity", hit("4:x:3"))
    report = audit(rows, done)
    shown, others = hits(report, rows), hits(report, done)
    assert shown and shown.params == ":param element_ids => ['4:x:1', '4:x:2']"
    assert others and others.params == ":param element_ids => ['4:x:3']" and listing(report, done)
    page = rendered(report, "html")
    assert page.count("Cypher to list them all") == 1 and page.count("Cypher of the rows that the check reads") == 1
    assert "kgeval audit --check duplicate-name --examples 0 -o hits.csv" in page
    assert page.count("Cypher that shows these in Neo4j Browser") == 2
    of_rows = {rule.id for rule in load_rules().values() if query_lists(rule) == "rows"}
    assert of_rows >= {"duplicate-name", "type-conflict", "similar-entity"}


def test_where_there_is_no_repair_each_form_says_why() -> None:
    why = "nothing in this layout separates the pieces of a description"
    found = finding("bloated-description", hit("4:x:1"))
    report = audit(found)
    assert found.repair and found.repair.cypher is None and why in str(found.repair.reason)
    for form in ("text", "md", "html", "json"):
        assert why in " ".join(rendered(report, form).split()), form  # type: ignore[arg-type]
    assert "none is offered: nothing in this layout separates" in rule_page(load_rules()["bloated-description"])
    assert "index again with a higher cap" in rule_page(load_rules()["saturated-source-list"])
    with_one = finding("bloated-description", hit("4:x:1"), layout=PLAIN.model_copy(update={"source_separator": "<SEP>"}))
    assert with_one.repair and with_one.repair.query == "shorten-description"


@pytest.mark.parametrize(("rule_id", "why"), [
    ("duplicate-name", "elsewhere two things may bear one name"), ("similar-entity", "elsewhere two things may bear one name"),
    ("parallel-relation", "elsewhere a relation that stands twice may be a second event"),
])
def test_what_could_lose_a_fact_of_a_graph_made_by_hand_is_not_offered_in_any_form(rule_id: str, why: str) -> None:
    report = audit(finding(rule_id, hit("4:x:1", "4:x:2"), extracted=False))
    for form in ("text", "md", "html", "json"):
        shown = " ".join(rendered(report, form).split())  # type: ignore[arg-type]
        assert "No repair offered for this kind of graph: nothing shows that a writer extracted it from texts, and" in shown, form
        assert why in shown and "merge-entities" not in shown and "delete-parallel" not in shown, form
    assert f"- Offered only for graphs that a writer extracted from texts (a layout that kgeval knows, not `generic` or one of your own, " \
        f"and entities linked to texts): {why}." in rule_page(load_rules()[rule_id])


def test_no_repair_deletes_but_merges_and_relations_that_are_the_same_in_everything() -> None:
    """What deletes is the exception, and is looked at one by one in tests/neo4j/test_repairs.py."""
    repairs = {query.name: blank(query.text) for query in all_queries().values() if query.folder == "repair"}
    remade = {"rename-relation", "name-relations", "turn-relations"}  # relations made anew, with all their properties
    deleting = {name for name, text in repairs.items() if "DELETE" in text}
    assert deleting == {"delete-parallel-relations", "merge-entities", *remade}
    dry = {name: text for name, text in repairs.items() if name.startswith("dry-")}
    assert len(dry) == len([query for query in all_queries().values() if query.folder == "repair" and query.mode == "write"]) > 10
    assert not [name for name, text in dry.items() if re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|FOREACH)\b", text)]
    removing = {name for name, text in repairs.items() if "REMOVE" in text}
    assert removing and all("former_" in all_queries()[name].text for name in removing)


def test_every_form_names_the_repair() -> None:
    report = audit(finding("missing-type", hit("4:x:1")))
    for form in ("text", "md"):
        assert "kgeval cypher show set-type (dry run: dry-set-type)" in " ".join(rendered(report, form).split())
    assert "Cypher to repair them (unsafe: look at each first)" in rendered(report, "html")
    assert "Cypher that counts what the repair would do (reads only)" in rendered(report, "html")
    stored = json.loads(rendered(report, "json"))["findings"][0]["repair"]
    assert stored["parameters"] == {"element_ids": ["4:x:1"], "unique": []}
    assert "RETURN size(typed) AS typed" in stored["dry_run"] and "SET" not in blank(stored["dry_run"])
    assert AuditReport.model_validate_json(rendered(report, "json")) == report
    assert "=1+1" not in unpacked(rendered(redacted(report), "html"))


def test_the_csv_has_a_row_a_thing_and_no_formula() -> None:
    report = audit(finding("duplicate-name", hit("4:x:1", "4:x:2"), hit("4:x:3", waived="right")), finding("self-loop"))
    rows = list(csv.DictReader(io.StringIO(rendered(report, "csv"))))
    assert [(row["check"], row["hit"], row["element_id"], row["waived"]) for row in rows] == [
        ("duplicate-name", "1", "4:x:1", ""), ("duplicate-name", "1", "4:x:2", ""), ("duplicate-name", "2", "4:x:3", "right"),
    ]
    assert all(row["name"].startswith("'=1+1 [U+202E]") and row["key"] == "'=k" for row in rows)
    assert "=1+1" not in rendered(report, "csv", redact=True)
    assert rows[0]["cypher"] == "MATCH (hit) WHERE elementId(hit) = '4:x:1' RETURN hit"


@pytest.mark.parametrize("rule_id", sorted(load_rules()))
def test_every_rule_has_a_repair_or_says_why_not(rule_id: str) -> None:
    rule = load_rules()[rule_id]
    assert bool(rule.repair) != bool(rule.no_repair)
    assert set(rule.repair_needs) <= set(Layout.model_fields)
    query = all_queries().get(rule.repair)
    assert query is None or query.folder == "repair"
    assert query is None or query.speaks_roles


def test_a_shown_repair_sets_nothing_that_is_to_be_chosen_and_a_shown_query_ends() -> None:
    shown = CliRunner().invoke(cli, ["cypher", "show", "rename-relation", "--offline"]).output
    assert "// choose: :param from => 'worked_for'" in shown and not any(line.startswith(":param") for line in shown.splitlines())
    assert CliRunner().invoke(cli, ["cypher", "show", "isolated-entity", "--offline"]).output.endswith(";\n")
    assert ROWS in CliRunner().invoke(cli, ["cypher", "show", "duplicate-name", "--offline"]).output


@pytest.mark.parametrize("form", ["text", "md"])
def test_a_repair_is_shown_for_the_graph_that_was_named(form: Any) -> None:
    """The command finds one of several graphs only by its name."""
    report = audit(finding("isolated-entity", hit("4:x:1")))
    assert "--graph" not in rendered(report.model_copy(update={"graph": "old town"}), form)
    run = report.run.model_copy(update={"arguments": {"graph_name": "old town"}})
    text = rendered(report.model_copy(update={"graph": "old town", "run": run}), form)
    assert "kgeval cypher show look-at-entity-texts --graph 'old town'" in " ".join(text.split())
