"""Scores as JUnit XML: what CI systems read, with gates as tests."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from score_report_sample import METRICS, SYSTEMS, empty, one_row, sample
from test_report_html import HOSTILE

from kgeval.records import Gate, Mean, MetricSummary, ScoreReport, SystemInfo
from kgeval.reports.junit import scores as render

# The structure that Jenkins' junit-10.xsd and the readers of GitHub and GitLab have in common.
INSIDE = {
    "testsuites": {"testsuite"}, "testsuite": {"properties", "testcase"}, "properties": {"property"}, "property": set(),
    "testcase": {"properties", "skipped", "error", "failure", "system-out"}, "skipped": set(), "error": set(), "failure": set(),
    "system-out": set(),
}
NEEDED: dict[str, set[str]] = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"}, "testcase": {"name", "classname", "time"},
    "property": {"name", "value"}, "failure": {"type", "message"}, "error": {"type", "message"}, "skipped": {"message"},
}
ODD = (*HOSTILE, "\x00", "a\ufffeb\uffff", "\ud800", "]]>", "&amp;", '"\'<', "\x0b\x85")


def suites(report: ScoreReport) -> Element:
    """The document, checked against the structure."""
    text = render(report)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text)
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    for node in root.iter():
        assert {child.tag for child in node} <= INSIDE[node.tag]
        assert NEEDED.get(node.tag, set()) <= set(node.attrib)
        if node.tag in ("testsuites", "testsuite"):
            cases = list(node.iter("testcase"))
            assert int(node.attrib["tests"]) == len(cases)
            for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                assert int(node.attrib[name]) == sum(case.find(tag) is not None for case in cases)
        if node.tag == "testcase":
            assert sum(node.find(tag) is not None for tag in ("failure", "error", "skipped")) <= 1
            assert [child.tag for child in node].count("properties") <= 1
        if "timestamp" in node.attrib:
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", node.attrib["timestamp"])
        assert "time" not in node.attrib or re.fullmatch(r"\d+\.\d{3}", node.attrib["time"])
    return root


def case(root: Element, system: str, name: str) -> Element:
    return next(one for one in root.iter("testcase") if one.get("classname", "").startswith(system) and one.get("name") == name)


def test_a_suite_for_each_system_with_gates_and_metrics() -> None:
    root = suites(sample())
    assert [suite.get("name") for suite in root] == list(SYSTEMS)
    assert int(root.attrib["tests"]) == 4 + len(METRICS) * len(SYSTEMS)
    missed = case(root, "vector-rag", "answer_accuracy >= 0.6").find("failure")
    assert missed is not None and re.fullmatch(r"0\.5\d\d\d, wanted >= 0\.6", missed.attrib["message"])
    assert case(root, "graph-rag", "answer_accuracy >= 0.6").find("failure") is None, "met"
    unanswered = case(root, "graph-rag", "faithfulness >= 0.8").find("error")
    assert unanswered is not None and "2 of its 100 questions failed, and could decide it" in unanswered.attrib["message"]
    senseless = case(root, "closed-book", "context_relevance >= 0.5").find("error")
    assert senseless is not None and "no meaning for any of 100 questions; a gate SYSTEM:METRIC" in senseless.attrib["message"]


def test_a_metric_carries_its_figures_and_passes_whatever_its_value_is() -> None:
    report = sample()
    root = suites(report)
    for one in report.summaries:
        found = case(root, f"{one.system}.metrics", one.metric)
        figures = {node.get("name"): node.get("value") for node in found.iter("property")}
        assert figures["n"] == str(one.overall.n) and figures["n_scored"] == str(one.overall.n_scored)
        if one.overall.mean is not None:
            assert float(figures["mean"] or "nan") == one.overall.mean and found.find("failure") is None and found.find("error") is None


@pytest.mark.parametrize(("mean", "tag"), [
    (Mean(n=4, n_scored=1, mean=0.5, failures={"timeout": 3}), "error"),
    (Mean(n=4, n_scored=0, failures={"timeout": 4}), "error"),
    (Mean(n=4, n_scored=2, mean=0.0, failures={"timeout": 2}), None),
    (Mean(n=4, n_scored=0, not_applicable=4), "skipped"),
])
def test_without_gates_a_metric_is_an_error_where_more_rows_failed_than_were_scored(mean: Mean, tag: str | None) -> None:
    report = one_row().model_copy(update={"summaries": [MetricSummary(system="only", metric="exact_match", overall=mean)]})
    found = case(suites(report), "only", "exact_match")
    assert [one for one in ("error", "skipped", "failure") if found.find(one) is not None] == ([tag] if tag else [])


def test_a_run_that_was_stopped_is_never_green() -> None:
    root = suites(sample().model_copy(update={"complete": False}))
    assert root[0].get("name") == "run" and int(root.attrib["errors"]) == 3


def test_a_gate_on_a_system_without_answers_is_still_told() -> None:
    gate = Gate(name="m", of="lost", limit="<= 0.2")
    found = case(suites(empty().model_copy(update={"gates": [gate]})), "lost", "m <= 0.2").find("error")
    assert found is not None and found.attrib["message"] == "no value"


def test_an_empty_report_is_a_valid_document_without_tests() -> None:
    assert suites(empty()).attrib["tests"] == "0"


@pytest.mark.parametrize("bad", ODD, ids=range(len(ODD)))
def test_hostile_names_make_valid_xml(bad: str) -> None:
    report = sample()
    run = report.run.model_copy(update={"command": bad, "started": bad, "kgeval": bad})
    update: dict[str, Any] = {
        "run": run, "systems": [SystemInfo(system=bad, answers=1)], "metrics": [], "gates": [
            Gate(name=bad, of=bad, limit=bad, value=0.5, met=met) for met in (True, False, None)
        ],
        "summaries": [MetricSummary(system=bad, metric=bad, overall=Mean(n=3, n_scored=1, mean=0.5, failures={bad: 2}))],
    }
    root = suites(report.model_copy(update=update))
    assert len(root) == 1 and max(len(value) for node in root.iter() for value in node.attrib.values()) < 3_000
