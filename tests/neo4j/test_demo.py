"""The demo: `kgeval import` and `kgeval audit` on the sample graph. What was planted is found, and nothing else is.

Each example of a finding is compared with the manifest by the names in it. Missed: planted, and no example holds its
names. False: an example that holds nothing planted or accepted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgeval
from kgeval.auditing.rulebook import load_rules
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.records import AuditReport, Finding

SAMPLE = Path(kgeval.__file__).parent / "sample"
MANIFEST = json.loads((SAMPLE / "defects.json").read_text(encoding="utf-8"))
GRAPH = json.loads((SAMPLE / "graph.json").read_text(encoding="utf-8"))
RULES = {key: [row["rule_id"] for row in rows] for key, rows in MANIFEST.items()}


@pytest.fixture(scope="module")
def report(address: Address, connection: Graph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AuditReport]:
    """The report of the audit of the sample, all examples listed."""
    connection.write("MATCH (n) CALL (n) { DETACH DELETE n }")
    file = tmp_path_factory.mktemp("demo") / "report.json"
    where = ["--uri", address.uri, "--graph", "velmouth"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_PASSWORD", address.password)
        patch.setenv("NEO4J_USERNAME", address.username)
        assert run(["import", str(SAMPLE / "graph.json"), *where]) == 0
        assert run(["audit", *where, "--examples", "0", "--no-progress", "-q", "-o", str(file)]) == 0
    yield AuditReport.model_validate_json(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def findings(report: AuditReport) -> dict[str, Finding]:
    return {finding.rule_id: finding for finding in report.findings}


def test_every_planted_defect_is_found_and_nothing_else(findings: dict[str, Finding]) -> None:
    rules = [rule for rule in load_rules() if rule not in RULES["skipped"]]
    counts = {rule: (missed(findings[rule]), false(findings[rule])) for rule in rules}
    wrong = {rule: {"missed": gone, "false": more} for rule, (gone, more) in counts.items() if gone or more}
    assert wrong == {}, json.dumps(wrong, indent=1)


@pytest.mark.parametrize("row", MANIFEST["planted"], ids=RULES["planted"])
def test_a_check_with_planted_defects_fails_if_they_are_enough(findings: dict[str, Finding], row: dict[str, Any]) -> None:
    finding = findings[row["rule_id"]]
    assert finding.status == ("passed" if row.get("within_threshold") else "failed"), finding.reason


@pytest.mark.parametrize("rule", RULES["passed"])
def test_a_check_without_one_passes(findings: dict[str, Finding], rule: str) -> None:
    assert findings[rule].status == "passed"


@pytest.mark.parametrize("rule", RULES["skipped"])
def test_what_the_graph_cannot_answer_is_skipped_with_a_reason(findings: dict[str, Finding], rule: str) -> None:
    assert (findings[rule].status, bool(findings[rule].reason)) == ("skipped", True)


def test_the_manifest_speaks_of_every_rule() -> None:
    assert sorted([*RULES["planted"], *RULES["passed"], *RULES["skipped"]]) == sorted(load_rules())


def test_the_whole_sample_was_imported(report: AuditReport) -> None:
    """One node more than the file lists: the end that dangles."""
    head = GRAPH["graph"]
    expected = (len(GRAPH["nodes"]) + 1, len(GRAPH["links"]), len(head["chunks"]), len(head["documents"]))
    assert tuple(report.structure[key] for key in ("entities", "relations", "chunks", "documents")) == expected


def missed(finding: Finding) -> list[str]:
    found = [names(example.items) for example in finding.examples]
    return [item for item in told("planted", finding) if not any(parts(item) <= example for example in found)]


def false(finding: Finding) -> list[str]:
    right = [parts(item) for key in ("planted", "accepted") for item in told(key, finding)]
    return [" + ".join(sorted(names(e.items))) for e in finding.examples if not any(item <= names(e.items) for item in right)]


def told(key: str, finding: Finding) -> list[str]:
    return [item for row in MANIFEST[key] if row["rule_id"] == finding.rule_id for item in row["items"]]


def names(items: list[Any]) -> set[str]:
    return {item.name for item in items}


def parts(item: str) -> set[str]:
    return set(item.split(" + "))
