"""SARIF 2.1.0 for code scanning: the structure that the standard needs, fingerprints that outlive a rebuild, nothing hostile."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from overview_world import audited, example, finding, gate, mean, scored, whole, wrote
from test_report_html import HOSTILE

from kgeval.overview.findings import MOST_EXAMPLES, listed
from kgeval.overview.kinds import KINDS
from kgeval.records import AuditReport, Example, GraphRef, OverviewGate
from kgeval.reports.sarif import fingerprint
from kgeval.reports.write import rendered, write_report

# What SARIF 2.1.0 (OASIS, sections 3.13 to 3.52) asks of the objects that we write; strict, so that no property of ours can slip in.
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}, "additionalProperties": False}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
RULE = {
    "type": "object", "required": ["id"], "additionalProperties": False,
    "properties": {
        "id": {"type": "string"}, "name": {"type": "string"}, "shortDescription": TEXT, "help": TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}, "additionalProperties": False},
        "properties": {"type": "object", "properties": {
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "cypher": {"type": "string"},
        }},
    },
}
LOCATION = {
    "type": "object", "additionalProperties": False, "required": ["physicalLocation", "logicalLocations"],
    "properties": {
        "physicalLocation": {
            "type": "object", "additionalProperties": False, "required": ["artifactLocation"],
            "properties": {"artifactLocation": {
                "type": "object", "additionalProperties": False, "required": ["uri"],
                "properties": {"uri": {"type": "string", "pattern": r"^[\w./%-]+$"}, "description": TEXT},
            }},
        },
        "logicalLocations": {"type": "array", "minItems": 1, "items": {
            "type": "object", "additionalProperties": False,
            "properties": {"name": {"type": "string"}, "fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
        }},
    },
}
RESULT = {
    "type": "object", "additionalProperties": False, "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
    "properties": {
        "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0}, "level": LEVEL, "message": TEXT,
        "locations": {"type": "array", "items": LOCATION, "minItems": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
        "suppressions": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {
            "type": "object", "required": ["kind"], "additionalProperties": False,
            "properties": {
                "kind": {"enum": ["inSource", "external"]}, "status": {"enum": ["accepted", "underReview", "rejected"]},
                "justification": {"type": "string", "minLength": 1},
            },
        }},
    },
}
INVOCATION = {
    "type": "object", "required": ["executionSuccessful"], "additionalProperties": False,
    "properties": {
        "executionSuccessful": {"type": "boolean"},
        "startTimeUtc": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "toolExecutionNotifications": {"type": "array", "items": {
            "type": "object", "required": ["message"], "properties": {"level": LEVEL, "message": TEXT}, "additionalProperties": False,
        }},
    },
}
SHAPE: dict[str, Any] = {
    "type": "object", "required": ["version", "runs"], "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "maxItems": 1, "items": {
            "type": "object", "required": ["tool", "results"], "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["driver"], "additionalProperties": False, "properties": {"driver": {
                    "type": "object", "required": ["name"], "additionalProperties": False,
                    "properties": {"name": {"const": "kgeval"}, "version": {"type": "string"}, "rules": {"type": "array", "items": RULE}},
                }}},
                "invocations": {"type": "array", "items": INVOCATION}, "results": {"type": "array", "items": RESULT},
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            },
        }},
    },
}


def judged(text: str) -> dict[str, Any]:
    """The one run of a file that is SARIF; every result names a rule that is there."""
    value = json.loads(text)
    jsonschema.Draft202012Validator(SHAPE).validate(value)
    run: dict[str, Any] = value["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    return run


def test_a_report_over_every_kind_is_sarif() -> None:
    run = judged(rendered(whole(*(example(kind) for kind in KINDS)), "sarif"))
    assert any(one["ruleId"].startswith("gate/") for one in run["results"])


def test_an_audit_is_sarif_one_result_an_example(tmp_path: Path) -> None:
    report = audited(
        finding("duplicate-name", 7, names=("Ada", "Berta")), finding("rare-type", 3, severity="info"), finding("empty-name", 0),
    )
    write_report(report, tmp_path / "a.sarif")
    run = judged((tmp_path / "a.sarif").read_text(encoding="utf-8"))
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("duplicate-name", "error"), ("duplicate-name", "error"), ("rare-type", "note"),
    ]
    first = run["results"][0]
    assert first["message"]["text"] == "title of duplicate-name: Ada. In all: 7 of 100 entities (7.0 %); g."
    assert first["locations"][0]["logicalLocations"] == [{"name": "Ada", "fullyQualifiedName": "g/Person/Ada", "kind": "object"}]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["duplicate-name", "rare-type", "empty-name"]  # passed ones too
    assert run["invocations"] == [{"executionSuccessful": True, "startTimeUtc": "2026-01-01T00:00:00Z"}]


def test_a_rule_has_the_statement_behind_it_with_its_parameters() -> None:
    query, parameters = "MATCH (e:Person) WHERE e.name IN $words RETURN e", {"words": ["it's"], "sample": 1}
    asked = finding("pronoun-entity", 1, query=query, parameters=parameters)
    rules = json.loads(rendered(audited(asked, finding("self-loop", 0)), "sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["properties"].get("cypher") for rule in rules] == [
        ":param sample => 1\n:param words => ['it\\'s']\nMATCH (e:Person) WHERE e.name IN $words RETURN e;", None,
    ]


def test_a_statement_of_sarif_stands_alone() -> None:
    header = "// :param graph_name => 'g' -- STRING: the projected graph"
    query = f"{header}\nMATCH (e) WHERE any(l IN labels(e) WHERE l IN $entity_labels) RETURN e"
    report = audited(finding("small-component", 1, query=query))
    shared = report.model_copy(update={"layout": report.layout.model_copy(update={"entity_labels": ["a\\b", "two\nlines"]})})
    [rule] = json.loads(rendered(shared, "sarif"))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["properties"]["cypher"].split("\n")[:2] == [
        "// set $graph_name first: STRING: the projected graph", r":param entity_labels => ['a\\b', 'two\nlines']",
    ]


def test_examples_are_cut_and_the_message_says_of_how_many() -> None:
    run = judged(rendered(audited(finding("empty-name", 90, names=tuple(f"n{at}" for at in range(40)))), "sarif"))
    assert len(run["results"]) == MOST_EXAMPLES and all("90 of 100" in one["message"]["text"] for one in run["results"])


def test_a_fingerprint_outlives_a_rebuild_of_the_graph(tmp_path: Path) -> None:
    def marks(report: AuditReport) -> list[str]:
        return [one["partialFingerprints"]["kgevalName/v1"] for one in judged(rendered(report, "sarif"))["results"]]

    one = finding("duplicate-name", 2, names=("Ada  Lindqvist",))
    ref = GraphRef(element_id="9:other:77", key="other key", name="ada lindqvist", type="Person")
    rebuilt = one.model_copy(update={"count": 5, "share": 0.05, "examples": [Example(items=[ref])]})
    assert marks(audited(one)) == marks(audited(rebuilt))
    assert marks(audited(one)) != marks(audited(one, graph="another"))
    assert marks(audited(one)) != marks(audited(one.model_copy(update={"rule_id": "empty-name"})))


@pytest.mark.slow
@given(st.lists(st.text(max_size=8), max_size=4), st.randoms(use_true_random=False))
def test_a_fingerprint_does_not_depend_on_the_order_or_the_case_of_names(names: list[str], random: Any) -> None:
    shuffled = [name.upper() if name.isascii() else name for name in names]
    random.shuffle(shuffled)
    one, other = (of_items(*(GraphRef(key="k", name=name, type="Person") for name in found)) for found in (names, shuffled))
    assert one == other


def of_items(*items: GraphRef, rule: str = "duplicate-name") -> str:
    """The fingerprint of one hit."""
    one = listed(finding(rule, 1).model_copy(update={"examples": [Example(items=list(items))]}), "g", "s")
    return fingerprint(one, one.examples[0])


def test_names_are_known_again_as_the_ratchet_and_a_diff_know_them() -> None:
    def named(name: str, type_: str = "Person", kind: Any = "entity") -> GraphRef:
        return GraphRef(key=name, name=name, type=type_, kind=kind)

    assert of_items(named("The Ada-Lovelace")) == of_items(named("ada lovelace")) != of_items(named("Ada"))
    relations = [named(name, "MET", "relation") for name in ("The Ada -[MET]-> Bob!", "ada -[MET]-> bob", "bob -[MET]-> ada")]
    marks = [of_items(one, rule="self-loop") for one in relations]
    assert marks[0] == marks[1] != marks[2]


def test_what_names_are_known_by_is_redacted_with_them(tmp_path: Path) -> None:
    made = whole(wrote(tmp_path, audit=audited(finding("duplicate-name", 1, names=("The Ada Lindqvist",)))))
    assert made.findings[0].examples[0].lasting == ["ada lindqvist"]
    assert "lindqvist" not in rendered(made, "json", redact=True).casefold()


def test_an_element_id_is_no_part_of_a_fingerprint_and_no_name() -> None:
    chunks = [GraphRef(element_id=at, key=at, name=at, kind="chunk") for at in ("4:a:1", "4:b:7")]
    assert of_items(chunks[0], rule="chunk-without-entities") == of_items(chunks[1], rule="chunk-without-entities")
    nameless = [GraphRef(element_id=f"4:{key}", key=key, name="", type="Person") for key in ("uuid-1", "uuid-2")]
    assert of_items(nameless[0], rule="empty-name") == of_items(nameless[1], rule="empty-name"), "keys are others after a rebuild"
    report = audited(*(finding("chunk-without-entities", 1).model_copy(update={"examples": [Example(items=[one])]}) for one in chunks[:1]))
    (result,) = judged(rendered(report, "sarif"))["results"]
    assert "4:a:1" not in json.dumps(result) and "entities. In all: 1 of 100" in result["message"]["text"]
    shown = listed(finding("empty-name", 1).model_copy(update={"examples": [Example(items=nameless[:1])]}), "g", "s")
    assert shown.examples[0].names == ["uuid-1"], "a key helps to find it"


def test_a_run_that_did_not_end_is_no_success_and_missed_gates_are_results(tmp_path: Path) -> None:
    report = whole(wrote(
        tmp_path, scores=scored({("a", "mrr"): mean(0.2)}, gates=[gate("a", "mrr", 0.5, 0.2, False), gate("a", "mrr", 0.1, 0.2, True)]),
        audit=audited(finding("empty-name", None, status="incomplete")),
    ))
    run = judged(rendered(report, "sarif"))
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "1 check did not finish" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert [(one["ruleId"], one["message"]["text"]) for one in run["results"]] == [("gate/mrr", "mrr >= 0.5 is missed: 0.2 (a)")]
    near = report.model_copy(update={"gates": [gate.model_copy(update={"value": 0.49996}) for gate in report.gates]})
    assert "mrr >= 0.5 is missed: 0.49996 (a)" in rendered(near, "sarif"), "a value is told from the limit that it misses"


def test_gates_on_two_aspects_of_a_pair_are_two_alerts(tmp_path: Path) -> None:
    report = whole(wrote(tmp_path, scores=scored({("a", "mrr"): mean(0.2)})))
    gates = [
        OverviewGate(name="low", of="a vs b", at=aspect, limit=">= 0", value=-0.1, met=False) for aspect in ("overall", "relevance")
    ]
    results = judged(rendered(report.model_copy(update={"gates": gates}), "sarif"))["results"]
    assert [one["message"]["text"] for one in results] == [
        "low (overall) >= 0 is missed: -0.1 (a vs b)", "low (relevance) >= 0 is missed: -0.1 (a vs b)",
    ]
    assert len({one["partialFingerprints"]["kgevalName/v1"] for one in results}) == 2


def test_a_name_is_no_link_in_a_message() -> None:
    named = finding("empty-name", 1, names=("[click](https://evil.example)",))
    run = judged(rendered(audited(named, graph="[g](https://evil.example)"), "sarif"))
    (result,) = run["results"]
    assert "](" not in result["message"]["text"] and "[click] (https://evil.example)" in result["message"]["text"]


@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_names_are_made_visible(bad: str) -> None:
    text = rendered(audited(finding("empty-name", 1, names=(bad,)), graph=bad or None), "sarif")
    judged(text)
    assert text.isascii() and not re.search("[\x00-\x08\x0b-\x1f]", text) and "\\u202e" not in text and "\\u001b" not in text
    assert len(text) < 20_000


def test_an_audit_is_junit_too_and_holds_no_name_of_the_graph() -> None:
    report = audited(
        finding("empty-name", 3, names=("Ada",)), finding("rare-type", 3, severity="info"), finding("odd", None, status="skipped"),
        finding("slow", None, status="incomplete"),
    )
    text = rendered(report, "xml")
    root = ElementTree.fromstring(text)
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("4", "1", "1", "1")
    assert "Ada" not in text and root.find(".//failure") is not None
    strict = report.model_copy(update={"run": report.run.model_copy(update={"arguments": {"fail_on": "info"}})})
    assert ElementTree.fromstring(rendered(strict, "xml")).get("failures") == "2"
