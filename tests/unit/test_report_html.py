"""The HTML report: one safe, complete file."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from markupsafe import escape
from report_page import Page

from kgeval.records import AuditReport, Example, GraphRef
from kgeval.reports.redact import redacted
from kgeval.reports.write import rendered

EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"
KINDS = ("entity", "relation", "chunk", "document")
HOSTILE = (
    "<script>alert(1)</script>", "</script><!--<script>", "' onmouseover='x\"", "\u202eevil", "\u200b", "", "  ", "a\u2028b",
    "{{ 7*7 }}", "x" * 100_000, "\x1b[31m", "]]><svg onload=x>",
)


def render(report: AuditReport) -> str:
    return rendered(report, "html")


@pytest.fixture(scope="module")
def text(report: AuditReport) -> str:
    """The sample's page."""
    return render(report)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def hostile_page(hostile: AuditReport) -> Page:
    return Page(render(hostile))


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return AuditReport.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hostile(report: AuditReport) -> AuditReport:
    """Every place that a graph or a server can fill holds hostile text."""
    sample = [Example(items=[GraphRef(element_id=bad or None, key=bad, name=bad, type=bad)], why=bad) for bad in HOSTILE]
    few = [*report.findings[:3], next(f for f in report.findings if f.status == "incomplete"), *report.findings[-3:]]
    findings = [
        f.model_copy(update={"examples": sample, "reason": HOSTILE[at % len(HOSTILE)], "query": f"{f.query}// {HOSTILE[1]}\u202e"})
        for at, f in enumerate(few)
    ]
    counts, fills = {bad: at for at, bad in enumerate(HOSTILE)}, dict.fromkeys(HOSTILE, 0.5)
    structure = {**report.structure, "entities_by_type": counts, "relations_by_type": counts, "property_fill": fills, "<b>": 1}
    layout = report.layout.model_copy(update={"name": HOSTILE[0], "entity_labels": list(HOSTILE)})
    return report.model_copy(update={"graph": HOSTILE[1], "findings": findings, "structure": structure, "layout": layout})


@pytest.mark.slow
def test_every_tag_closes_in_order_and_ids_are_unique(page: Page, hostile_page: Page) -> None:
    for one in (page, hostile_page):
        assert one.open == []
        assert len(one.values("id")) == len(set(one.values("id")))
        assert {target[1:] for target in one.values("href")} <= set(one.values("id"))


@pytest.mark.slow
def test_the_page_loads_nothing_and_runs_only_its_own_script(page: Page) -> None:
    assert page.values("src") == []
    assert all(target.startswith("#") for target in page.values("href"))
    assert not any(name == "style" or name.startswith("on") for _, name, _ in page.attributes)
    assert "url(" not in page.styles[0] and "@import" not in page.styles[0]
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for source in (page.styles[0], page.scripts[1]):
        assert base64.b64encode(hashlib.sha256(source.encode()).digest()).decode() in policy


@pytest.mark.slow
def test_hostile_texts_stay_texts(hostile_page: Page) -> None:
    page = hostile_page
    assert len(page.scripts) == 2 and len(page.styles) == 1
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert not re.search("[\u200b\u202e\u2028\x1b]", page.text), "hidden characters are written out"
    assert "[U+202E]evil" in page.text and "(empty)" in page.text and "(100,000 characters)" in page.text
    assert not [text for text in page.texts if len(text) > 3000 and ":param" not in text], "long names are cut"


@pytest.mark.slow
def test_the_embedded_json_is_the_report(report: AuditReport, hostile: AuditReport, page: Page, hostile_page: Page) -> None:
    for one, shown in ((report, page), (hostile, hostile_page)):
        assert AuditReport.model_validate_json(shown.report) == one


@pytest.mark.slow
def test_every_finding_is_there_with_its_examples_and_advice(report: AuditReport, page: Page) -> None:
    for finding in report.findings:
        assert finding.title in page.text and finding.rule_id in page.text
        if finding.status == "failed":
            assert finding.advice in page.text
            for item in (item for example in finding.examples for item in example.items):
                assert item.element_id is not None and item.element_id in page.text


@pytest.mark.slow
def test_what_was_skipped_is_shown_with_its_reason_and_never_as_zero(report: AuditReport, page: Page) -> None:
    for finding in report.findings:
        assert finding.status != "skipped" or (finding.reason or "") in page.text
    assert "not measured the graph holds no chunks; give the texts with --corpus" in page.text
    assert "timed out Unusual ends for a relation no answer" in page.text
    empty = Page(render(report.model_copy(update={"structure": {}, "structure_skipped": [], "findings": []})))
    assert "No check failed" in empty.text and "holds no such figures" in empty.text


@pytest.mark.slow
def test_the_printed_cypher_lists_all_and_brings_its_parameters(report: AuditReport, page: Page) -> None:
    assert ":param layout" not in page.text and "data-with" not in {name for _, name, _ in page.attributes}
    assert ":param pronouns => ['he', 'she'" in page.text and ":param sample => 1000000000" in page.text


@pytest.mark.slow
def test_names_that_cannot_stand_in_a_text_are_printed_once_and_copied_with_each_statement(report: AuditReport) -> None:
    types = [f"T{at}" for at in range(101)]
    asking = [f.model_copy(update={"query": "MATCH ()-[r WHERE type(r) IN $relation_types]->() RETURN r"}) for f in report.findings]
    asking = [*asking[:3], *report.findings[3:]]
    layout = report.layout.model_copy(update={"relation_types": types})
    found = Page(render(report.model_copy(update={"findings": asking, "layout": layout})))
    assert found.text.count(":param relation_types => ['T0'") == 1
    shown = [f for f in asking[:3] if f.status != "skipped" and f.count != 0]
    assert shown and len([1 for tag, name, _ in found.attributes if tag == "button" and name == "data-with"]) == len(shown)


@pytest.mark.slow
def test_the_run_can_be_traced(report: AuditReport, page: Page) -> None:
    run = report.run
    for part in (run.command, "5.26.28", "2.13.9", "bolt://127.0.0.1:7687", "128.4 s", *run.query_hashes.values(), *run.libraries):
        assert part in page.text


@pytest.mark.slow
def test_two_renderings_are_the_same(report: AuditReport, text: str) -> None:
    assert render(report) == text


@pytest.mark.slow
def test_redaction_leaves_no_name(report: AuditReport, text: str) -> None:
    plain, page = text, render(redacted(report))
    data = Page(page).report
    texts = {text for f in report.findings for e in f.examples for text in (e.why, *(i.name for i in e.items if i.kind in KINDS))}
    long = [escape(text) for text in texts if text and len(text) > 8]
    assert len(long) > 30 and all(text in plain or "\u200b" in text for text in long)
    assert [text for text in long if text in page] == []
    assert [text for text in texts if text and len(text) > 8 and text in data] == []
    assert "dangling-relation" in page and "located in" in page, "the vocabulary stays"


@pytest.mark.long
@pytest.mark.parametrize("points", [
    [(40, 1), (85, 1)], [(21, 3), (24, 4), (25, 1)], [(0, 3), (25, 4)], [(1, 3), (185, 1)], [(1, 1_000), (30, 2)], [(500, 1), (501, 1)],
    [(1, 1), (1_000_000, 1)], [(0, 5), (3, 900), (5_000, 1)], [(1, 2), (3, 5)],
])
def test_both_axes_of_a_plot_have_numbers_whatever_they_span(points: list[tuple[int, int]]) -> None:
    from kgeval.reports.plots import histogram

    drawing = histogram(points, x="X", y="Y", name="n")
    assert drawing
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawing())
    across, up = texts[: texts.index("X")], texts[texts.index("X") + 1 : texts.index("Y")]
    assert all(sum(text.replace(",", "").isdigit() for text in side) >= 2 for side in (across, up)), texts


@pytest.mark.long
def test_a_page_of_two_thousand_entities_stays_below_a_megabyte(report: AuditReport) -> None:
    """40 checks with 40 examples each, which are 1,284 entities of 2,000 with an id as Neo4j gives it."""
    def many(at: int) -> list[Example]:
        ids = [f"4:8594016c-0251-4ef0-b2a8-97f217111b85:{at}{n}" for n in range(40)]
        things = [GraphRef(element_id=one, key=one[-6:], name=f"Entity {one[-6:]}", type="Person") for one in ids]
        return [Example(items=[thing], why="x" * 40) for thing in things]

    findings = [f if f.status == "skipped" else f.model_copy(update={"examples": many(at)}) for at, f in enumerate(report.findings)]
    assert len(report.findings) > 40 and len(render(report.model_copy(update={"findings": findings}))) < 1_000_000


@pytest.mark.slow
def test_what_to_fix_first_says_what_it_costs_in_every_form(report: AuditReport, page: Page) -> None:
    said = "96 of 1,284 entities (7.5 %) cannot be reached by following relations"
    for form in ("text", "md"):
        assert said in " ".join(rendered(report, form).split()), form  # type: ignore[arg-type]
    assert said in page.text
