"""The one report as HTML, Markdown, text, JSON and JUnit: every figure is there, nothing hostile gets through, and it stays short."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hostile import poisoned_alike
from markdown_it import MarkdownIt
from overview_world import audited, example, finding, gate, mean, scored, whole, wrote
from report_page import Page, unpacked
from test_report_html import HOSTILE
from test_report_texts import HOSTILE as HOSTILE_MD

from kgeval.format import visible
from kgeval.overview.kinds import KINDS
from kgeval.overview.wording import single, value_of
from kgeval.records import OverviewReport, Unit
from kgeval.reports.redact import redacted
from kgeval.reports.render.markdown import MOST_CHARACTERS
from kgeval.reports.views.overview import address
from kgeval.reports.write import Form, rendered, write_report

FORMS: tuple[Form, ...] = ("text", "md", "html")
ALL_FORMS: tuple[Form, ...] = (*FORMS, "json", "xml", "sarif")
FIXED = (
    "schema_version", "kind", "part", "unit", "better", "severity", "status", "dimension", "verdict_", "state", "fail_on", "sha256", "role",
)
TAGS = {"h1", "h2", "h3", "p", "strong", "em", "ol", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.fixture(scope="module")
def report() -> OverviewReport:
    return whole(*(example(kind) for kind in KINDS))


@pytest.fixture(scope="module")
def against(tmp_path_factory: pytest.TempPathFactory) -> OverviewReport:
    """A run that is worse in one figure, better in another, with a gate missed, against its baseline."""
    folder = tmp_path_factory.mktemp("diff")
    values = {("a", "token_f1"): mean(0.5, 0.45, 0.55), ("a", "mrr"): mean(0.7, 0.65, 0.75), ("a", "ndcg"): mean(0.5, 0.4, 0.6)}
    old = wrote(folder / "old", scores=scored(values), audit=audited(finding("empty-name", 3)))
    new = wrote(
        folder / "new", audit=audited(finding("empty-name", 0), finding("self-loop", 2)),
        scores=scored(
            {("a", "token_f1"): mean(0.3, 0.25, 0.35), ("a", "mrr"): mean(0.9, 0.85, 0.95), ("a", "ndcg"): mean(0.52, 0.4, 0.6)},
            gates=[gate("a", "token_f1", 0.4, 0.3, False)],
        ),
    )
    return whole(new, baseline=old, title="Spring", fail_on_worse=True, fail_on="error")


def poisoned(report: OverviewReport, bad: Sequence[str]) -> OverviewReport:
    plain = report.model_dump()
    changes = [one["verdict"] for one in plain["diff"]["changes"]] if plain["diff"] else []
    made = poisoned_alike(plain, bad, keep=FIXED)
    for one, verdict in zip(made["diff"]["changes"] if changes else [], changes, strict=True):
        one["verdict"] = verdict
    return OverviewReport.model_validate(made)


@pytest.mark.slow
def test_every_figure_of_the_record_is_on_the_page_and_in_its_json(report: OverviewReport) -> None:
    page = Page(rendered(report, "html"))
    for one in report.figures:
        assert visible(value_of(one.value, one.low, one.high, one.unit), longest=400) in page.text, one.name
        assert visible(one.title, longest=160) in page.text, one.title
    for rubric in report.rubrics:
        for score in rubric.scores:
            for figure in score.figures:
                assert figure.bands in page.text and visible(figure.title, longest=160) in page.text
    for line in (*report.verdict, *(one.title for one in report.priorities), *(one.evidence for one in report.priorities)):
        assert visible(line, longest=800) in page.text
    assert OverviewReport.model_validate_json(page.report) == report
    assert OverviewReport.model_validate_json(rendered(report, "json")) == report


def test_a_check_without_advice_names_a_command_that_can_be_typed(tmp_path: Path) -> None:
    (row,) = whole(wrote(tmp_path, audit=audited(finding("empty-name", 3, advice="")))).priorities
    assert row.advice == "See kgeval checks show empty-name."


def test_the_page_answers_the_twelve_parts_of_the_template(report: OverviewReport) -> None:
    page = Page(rendered(report, "html"))
    heads = (
        "System", "Scope", "Quality of the graph", "Retrieval", "Answers", "Hallucination and grounding", "Reasoning depth",
        "Against baselines, and what changes do", "Significance", "Weaknesses and gaps", "What to fix first", "Rubric",
    )
    ids = set(page.values("id"))
    for head in heads:
        assert head in page.texts, head
    assert {value.removeprefix("#") for value in page.values("href") if value.startswith("#")} <= ids
    assert re.search(r"Seconds an answer, p50 .* Seconds an answer, p95 .* Seconds an answer, p99", page.text)


def test_the_page_is_one_file_that_loads_and_runs_nothing_of_others(report: OverviewReport) -> None:
    text = rendered(report, "html")
    page = Page(text)
    assert page.open == [] and len(page.values("id")) == len(set(page.values("id")))
    assert not [value for name in ("src", "srcset", "action", "onclick", "style") for value in page.values(name)]
    assert any(value.startswith("default-src 'none'") for value in page.values("content"))
    assert not re.search(r"https?://", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL))


def test_the_diff_says_worse_and_better_in_words(against: OverviewReport) -> None:
    for form in FORMS:
        text = rendered(against, form)
        flat = re.sub(r"\s+", " ", Page(text).text if form == "html" else text)
        assert "worse" in flat and "better" in flat and "within noise" in flat and "Spring" in flat, form
    page = Page(rendered(against, "html"))
    assert re.search(r"worse token_f1 a 50.0 % 30.0 % -0.200 \[-0.271, -0.129\] 100", page.text)
    assert "Checks that fail now and did not: title of self-loop (self-loop, error)" in page.text
    missed = [("token_f1", False), ("fail-on", False), ("figures worse than the baseline", False)]
    assert [(one.name, one.met) for one in against.gates] == missed


@pytest.mark.slow
def test_hostile_texts_stay_texts_in_every_form(report: OverviewReport, against: OverviewReport) -> None:
    for one in (report, against):
        bad = poisoned(one, HOSTILE)
        page = Page(rendered(bad, "html"))
        assert page.open == [] and len(page.scripts) == 2 and "onmouseover" not in {name for _, name, _ in page.attributes}
        assert all(re.match(r"#[\w-]+$|\./", value) for value in page.values("href")), page.values("href")
        assert not {tag for tag, _, _ in page.attributes} & {"img", "iframe", "object", "embed", "base"}
        for form in FORMS:
            shown = re.sub(r"(?s)<script.*?</script>", "", rendered(bad, form))
            assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u200b\u2028]", shown), form
        ElementTree.fromstring(rendered(bad, "xml"))
        assert OverviewReport.model_validate_json(rendered(bad, "json")).verdict == list(bad.verdict)


def test_no_hostile_text_is_markdown(against: OverviewReport) -> None:
    text = rendered(poisoned(against, HOSTILE_MD), "md")
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    inner = [child for token in tokens for child in token.children or []]
    found = {token.tag for token in tokens if token.tag} | {child.tag for child in inner if child.tag}
    assert found <= TAGS and not any(child.type in ("image", "link_open") for child in inner)
    raw = "".join(child.content for child in inner if child.type == "html_inline")
    assert set(re.findall(r"<[^>]*>", raw)) <= {"<code>", "</code>"}
    assert not re.search(r"(?<![\w&;])@\w", re.sub(r"<code>.*?</code>", "", text))


@pytest.mark.slow
def test_markdown_stays_short_enough_for_a_comment_and_says_what_it_left_out(tmp_path: Path) -> None:
    values = {(f"system number {at} with a rather long name", f"metric_{n}"): mean(0.5, 0.4, 0.6) for at in range(60) for n in range(20)}
    findings = [finding(f"rule-{at}", 5, advice="do " * 80) for at in range(300)]
    big = whole(wrote(tmp_path, scores=scored(values), audit=audited(*findings)))
    text = rendered(big, "md")
    assert len(text) < MOST_CHARACTERS
    page = rendered(big, "html")
    data = page.rpartition('id="report">')[2]
    assert len(page) - len(data) < 1_500_000 and len(rendered(big, "text")) < 20_000
    many = big.model_copy(update={"verdict": ["y" * 700] * 75})
    cut = rendered(many, "md")
    assert len(cut) < MOST_CHARACTERS and "*More stands in the HTML and JSON reports: a comment must not become longer.*" in cut


def test_redacting_leaves_out_the_title_names_paths_and_options(tmp_path: Path) -> None:
    folder = wrote(tmp_path / "secret-folder", audit=audited(finding("empty-name", 3, names=("Ada Lindqvist",))))
    report = whole(folder, title="Operation Harbour")
    run = report.run.model_copy(update={"arguments": {"title": "Operation Harbour", "runs": [str(folder)]}})
    report = report.model_copy(update={"run": run, "notes": ["secret-folder"]})
    for form in ALL_FORMS:
        text = unpacked(rendered(report, form, redact=True))
        assert not re.search("Ada|Lindqvist|Operation|secret-folder", text), form
        assert "empty-name" in text or form == "xml"
    assert redacted(report).findings[0].examples[0].names[0].startswith("#")


def test_files_with_names_are_for_their_owner_alone(report: OverviewReport, tmp_path: Path) -> None:
    for ending, redact, mode in (
        (".html", False, 0o600), (".json", False, 0o600), (".md", True, 0o644), (".xml", False, 0o644), (".sarif", False, 0o600),
    ):
        target = tmp_path / f"r{redact}{ending}"
        write_report(report, target, redact=redact)
        assert stat.S_IMODE(target.stat().st_mode) == mode, ending


def test_junit_has_gates_checks_and_what_is_not_complete(against: OverviewReport, tmp_path: Path) -> None:
    root = ElementTree.fromstring(rendered(against, "xml"))
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"reports", "gates", "checks"}
    assert (suites["gates"].get("tests"), suites["gates"].get("failures")) == ("2", "2")
    assert [case.get("name") for case in suites["checks"] if case.find("failure") is not None] == ["self-loop g"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "3", "0")
    open_end = whole(wrote(tmp_path, scores=scored({("a", "mrr"): mean(0.5)}, complete=False, gates=[gate("a", "mrr", 0.1, None, None)])))
    bad = ElementTree.fromstring(rendered(open_end, "xml"))
    assert bad.get("errors") == "2"
    assert [case.get("message") for case in bad.iter("error")] == ["it was stopped before its end", "no value"]


def test_an_address_never_has_a_scheme_of_its_own() -> None:
    assert address("javascript:alert(1).html") == "./javascript%3Aalert%281%29.html"
    assert address("../a b/c.html") == "./../a%20b/c.html" and address("//evil/x") == ".///evil/x"


def test_numbers_are_told_by_their_unit() -> None:
    units: tuple[tuple[float, Unit], ...] = (
        (0.25, "share"), (0.25, "difference"), (-0.1, "difference"), (3, "count"), (2.5, "seconds"), (0.02, "usd"),
    )
    assert [single(*one) for one in units] == ["25.0 %", "+0.250", "-0.100", "3", "2.5 s", "$0.0200"]
    assert value_of(None, None, None, "share") == "-" and value_of(0.5, 0.5, 0.5, "share") == "50.0 %"
