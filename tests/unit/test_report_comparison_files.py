"""A comparison for programs: JUnit for a CI system, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

import pytest
from comparison_sample import NAN, found, sample, tabled

from kgeval.comparison.results.build import build_report
from kgeval.records import ComparisonReport
from kgeval.reports.write import rendered


@pytest.fixture(scope="module")
def two() -> ComparisonReport:
    return sample()


@pytest.mark.slow
def test_junit_has_a_case_for_each_threshold_and_each_pair(two: ComparisonReport) -> None:
    root = ElementTree.fromstring(rendered(two, "xml"))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "1", "0")
    met, missed = root.findall("testsuite[@name='gates']/testcase")
    assert met.find("failure") is None and missed.find("failure") is not None and missed.get("name") == "low (overall) >= 0.999"
    (pair,) = root.findall("testsuite[@name='pairs']/testcase")
    told = {one.get("name"): one.get("value") for one in pair.iter("property")}
    assert told["relative"] == str(two.pairs[0].relative.value) and told["n_scored"] == "22" and pair.get("name") == "rag-1 against rag-2"
    told_of = {case.get("name"): case.findtext("system-out") or "" for case in root.findall("testsuite[@name='checks']/testcase")}
    assert list(told_of) == ["A/A: a second run against the first", "Corrected by labels of people", "The judge on the anchors"]
    assert "p selection: 0.417" in told_of["Corrected by labels of people"]
    assert "No sign that the judge moved." in told_of["The judge on the anchors"]
    cut = two.model_copy(update={"complete": False, "gates": [two.gates[0].model_copy(update={"met": None})]})
    bad = ElementTree.fromstring(rendered(cut, "xml"))
    assert (bad.get("errors"), bad.get("failures")) == ("2", "0")
    lost = build_report(found([tabled([[NAN]], failures={(0, 0): "timeout: x"})]))
    error = ElementTree.fromstring(rendered(lost, "xml")).find(".//error")
    assert error is not None and "timeout 1" in (error.text or "")


@pytest.mark.slow
def test_csv_has_a_row_for_every_result_and_no_formula(two: ComparisonReport) -> None:
    rows = list(csv.DictReader(io.StringIO(rendered(two, "csv"))))
    assert len(rows) == len(two.pairs) + len(two.contrast["biased"])
    assert rows[0]["system_a"] == "rag-1" and float(rows[0]["relative"]) == two.pairs[0].relative.value and rows[0]["n_scored"] == "22"
    named = build_report(found([tabled([[1], [0]], names=("=1+1", "b\x1b[31m"))]))
    assert "'=1+1" in rendered(named, "csv") and "\x1b" not in rendered(named, "csv")
