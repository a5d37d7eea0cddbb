"""Gates, waivers and known hits in every form of the audit report; the workflow of the guide."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
import yaml
from overview_world import audited, finding, whole, wrote
from report_page import Page, unpacked
from test_report_html import HOSTILE
from test_report_sarif import judged

from kgeval.cli.main import cli
from kgeval.overview.findings import listed
from kgeval.records import AuditReport, Example, Gate, GraphRef, Waived
from kgeval.reports.render.markdown import MOST_CHARACTERS
from kgeval.reports.sarif import fingerprint
from kgeval.reports.write import rendered

ROOT = Path(__file__).resolve().parents[2]
FORMS = ("text", "md", "html", "xml", "sarif", "json")


def shows(name: str, **more: Any) -> Example:
    return Example(items=[GraphRef(element_id=f"4:{name}", key=name, name=name, type="Person")], **more)


def gated(reason: str = "agreed", graph: str = "g") -> AuditReport:
    """Three duplicates: one held, one known, one waived; one check of waived hits only; a missed, an unanswered and a reported gate."""
    sample = [shows("Ada"), shows("Bob", known=True), shows("Cy", waived=reason)]
    first = finding("duplicate-name", 3, suppressed=1, known=1).model_copy(update={"examples": sample})
    silent = finding("self-loop", 2, suppressed=2, status="passed").model_copy(update={"examples": [shows("Dee", waived=reason, counts=2)]})
    return audited(
        first, silent, graph=graph,
        gates=[
            Gate(name="duplicate-name", limit="share <= 0", value=0.01, met=False),
            Gate(name="modularity", limit=">= 0.3", reason="no GDS"),
            Gate(name="self-loop", limit="share <= 0.5", severity="warning", value=0.9, met=False, decides=False),
            Gate(name="giant_share", limit=">= 0.5", value=0.7, met=True),
        ],
        waivers=[
            Waived(rule="duplicate-name", match="C*", reason=reason, hits=1), Waived(rule="self-loop", reason=reason, hits=2),
            Waived(rule="rare-type", reason=reason, until="2026-01-01", expired=True),
            Waived(rule="*", match="x", reason=reason, stale=True),
        ],
        notes=["waiver 3 (rule rare-type) ended on 2026-01-01: its hits count again"],
    )


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_people_read_gates_and_what_is_taken_out(form: Any) -> None:
    text = rendered(gated(), form)
    text = Page(text).text if form == "html" else " ".join(re.sub(r"&#(\\d+);", lambda m: chr(int(m[1])), text).split())
    lines = ("4 gates: 2 missed, 1 without an answer", "waived: 3 hits by 2 waivers", "known from the ratchet file: 1 hit")
    for part in (*lines, "1 ended, 1 without"):
        assert part in text, part
    assert "no GDS" in text and "1 waived" in text and "1 known" in text
    assert "(empty)" not in text, "a gate without a reason has none"


def test_an_audit_without_gates_says_nothing_of_them() -> None:
    plain = audited(finding("empty-name", 3))
    assert not any("waive" in rendered(plain, form) for form in ("text", "md", "xml", "sarif"))  # type: ignore[arg-type]
    assert 'id="gates"' not in rendered(plain, "html")


def test_junit_has_a_suite_of_gates_and_properties_of_what_is_taken_out() -> None:
    root = ElementTree.fromstring(rendered(gated(), "xml"))
    gates = root.find("testsuite[@name='gates']")
    assert gates is not None and (gates.get("tests"), gates.get("failures"), gates.get("errors")) == ("4", "1", "1")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    found = {one.get("name"): one.get("value") for one in cases["duplicate-name g"].iter("property")}
    assert found == {"suppressed": "1", "known": "1"}
    assert cases["self-loop g"].find("skipped") is not None


def test_junit_fails_what_has_the_severity_of_fail_on_or_a_worse_one() -> None:
    """`rare-type` is a warning: it fails the build of who asked for warnings, as without --fail-on, and not of who asked for errors."""
    def failed(given: str | None) -> set[str | None]:
        report = audited(finding("empty-name", 3), finding("rare-type", 2, severity="warning"), finding("self-loop", 1, severity="info"))
        run = report.run.model_copy(update={"arguments": {"fail_on": given} if given else {}})
        root = ElementTree.fromstring(rendered(report.model_copy(update={"run": run}), "xml"))
        return {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None}

    assert failed("error") == {"empty-name g"}
    assert failed("warning") == failed(None) == {"empty-name g", "rare-type g"}
    assert failed("info") == {"empty-name g", "rare-type g", "self-loop g"}


def test_sarif_holds_suppressed_results_and_missed_gates() -> None:
    run = judged(rendered(gated(), "sarif"))
    told = [(one["ruleId"], [why["justification"] for why in one.get("suppressions", [])]) for one in run["results"]]
    assert told == [
        ("duplicate-name", []), ("duplicate-name", ["stands in the ratchet file"]), ("duplicate-name", ["agreed"]),
        ("self-loop", ["agreed"]), ("gate/duplicate-name", []),
    ]
    assert not run["invocations"][0]["executionSuccessful"]  # a gate without an answer


def test_what_only_illustrates_a_hit_is_no_part_of_its_fingerprint() -> None:
    def of(rule: str, *names: str) -> str:
        items = [GraphRef(key=name, name=name, kind="type") for name in names]
        one = listed(finding(rule, 1).model_copy(update={"examples": [Example(items=items)]}), "g", "f")
        return fingerprint(one, one.examples[0])

    assert of("rare-type", "Ship", "Titanic") == of("rare-type", "SHIP", "Olympic")
    assert of("duplicate-name", "Ship", "Titanic") == of("duplicate-name", "titanic", "ship") != of("duplicate-name", "Ship", "Olympic")


def test_a_report_over_a_run_reads_gates_and_suppressed_hits(tmp_path: Path) -> None:
    report = whole(wrote(tmp_path, audit=gated()))
    assert [(one.name, one.met) for one in report.gates] == [("duplicate-name", False), ("modularity", None), ("giant_share", True)]
    assert {one.rule_id: (one.suppressed, one.known) for one in report.findings} == {"duplicate-name": (1, 1), "self-loop": (2, 0)}
    judged(rendered(report, "sarif"))


@pytest.mark.slow
@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_reasons_and_patterns_do_no_harm(bad: str) -> None:
    gates = [Gate(name=bad, limit=bad, reason=bad), Gate(name=bad, limit=bad, value=1, met=False)]
    waivers = [Waived(rule=bad, match=bad, reason=bad, until=bad, hits=1)]
    report = gated(bad or " ").model_copy(update={"waivers": waivers, "notes": [bad], "gates": gates})
    page = rendered(report, "html")
    assert "<script>alert" not in page
    judged(rendered(report, "sarif"))
    ElementTree.fromstring(rendered(report, "xml"))
    assert all("\x1b" not in rendered(report, form) for form in ("text", "md"))  # type: ignore[arg-type]


def test_redacted_reports_keep_no_reason_and_no_pattern() -> None:
    waiver = Waived(rule="self-loop", match="Eveline*", reason="Eveline agreed")
    report = gated("Eveline agreed").model_copy(update={"waivers": [waiver]})
    for form in FORMS:
        assert "Eveline" not in unpacked(rendered(report, form, redact=True))  # type: ignore[arg-type]
    assert json.loads(rendered(report, "json", redact=True))["findings"][0]["examples"][1]["known"]


def test_a_long_audit_stays_a_comment() -> None:
    sample = [shows("name " * 30 + str(at), why="why " * 40) for at in range(3)]
    many = [finding(f"check-{at}", 3).model_copy(update={"examples": sample, "title": "t" * 150}) for at in range(300)]
    waivers = [Waived(rule=f"check-{at}", match="m" * 150, reason="r " * 150) for at in range(300)]
    assert len(rendered(audited(*many, waivers=waivers, notes=["n" * 400] * 300), "md")) <= MOST_CHARACTERS


def commands() -> list[list[str]]:
    """The kgeval lines of the guide's workflow, with what the shell puts in."""
    text = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])
    steps = workflow["jobs"]["audit"]["steps"]
    assert {"uses", "run"} >= {key for step in steps for key in step if key in ("uses", "run")}
    found = []
    for script in (step["run"] for step in steps if "run" in step):
        values = dict(re.findall(r'^(\w+)="(.*)"$', script, re.MULTILINE))
        for line in script.splitlines():
            if line.strip().startswith("kgeval "):
                found.append(shlex.split(re.sub(r"\$(\w+)", lambda m: values[m[1]], line))[1:])  # noqa: B023 - used at once
    return found


def test_the_workflow_of_the_guide_calls_commands_that_are_there() -> None:
    lines = commands()
    assert len(lines) == 2
    for words in lines:
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None
        context = command.make_context(words[0], words[1:])
        assert context.params["fail_on"] == "error" and context.params["ratchet"] == Path("accepted.json")
