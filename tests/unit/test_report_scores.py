"""Scores on a terminal, in Markdown, HTML and JSON: who is best and whether that is certain, over what, at what cost."""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hostile import poisoned_alike
from markdown_it import MarkdownIt
from report_page import Page, unpacked
from score_report_sample import METRICS, SYSTEMS, empty, large, one_row, sample, two
from score_report_sample import told as told_mean
from test_report_html import HOSTILE
from test_report_texts import HOSTILE as HOSTILE_MD

from kgeval.errors import UsageError
from kgeval.format import bracketed, figure
from kgeval.records import CompletenessReport, Gate, Mean, ScoreReport, Spread, WorstRow
from kgeval.reports.plots_scores import Point, distribution, plane
from kgeval.reports.redact import redacted
from kgeval.reports.render.markdown import MOST_CHARACTERS
from kgeval.reports.views.scores import difference
from kgeval.reports.write import Form, Screen, check_outputs, rendered, write_report

FORMS: tuple[Form, ...] = ("text", "md", "html")
TAGS = {
    "h1", "h2", "h3", "p", "ol", "strong", "em", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
}
FIXED = ("schema_version", "by", "better", "role", "conclusion", "check")
MAPS = (
    "failures", "known", "totals", "means", "stages", "by_hops", "prompt_tokens_by_level", "factors", "quality_per_1k_tokens", "levels",
    "accuracy_by_hop", "by_relation", "by_position", "aspects", "parameters",
)


@pytest.fixture(scope="module")
def report() -> ScoreReport:
    return sample()


@pytest.fixture(scope="module")
def hostile(report: ScoreReport) -> ScoreReport:
    return poisoned(report, HOSTILE)


def poisoned(report: ScoreReport, bad: Sequence[str]) -> ScoreReport:
    return ScoreReport.model_validate(poisoned_alike(report.model_dump(), bad, keys=MAPS, keep=FIXED))


@pytest.fixture(scope="module")
def texts(report: ScoreReport) -> dict[Form, str]:
    """The sample in every form."""
    return {form: rendered(report, form) for form in FORMS}


@pytest.fixture(scope="module")
def told(texts: dict[Form, str]) -> dict[Form, str]:
    """The sample in every form, blanks and mark-up aside."""
    return {form: plain(text, form) for form, text in texts.items()}


@pytest.fixture(scope="module")
def page(texts: dict[Form, str]) -> Page:
    return Page(texts["html"])


@pytest.fixture(scope="module")
def hostile_page(hostile: ScoreReport) -> Page:
    return Page(rendered(hostile, "html"))


def flat(text: str) -> str:
    return " ".join(text.split())


def shown(report: ScoreReport, form: Form) -> str:
    return plain(rendered(report, form), form)


def plain(text: str, form: Form) -> str:
    return flat(re.sub("_ ", "_", Page(text).text) if form == "html" else re.sub("&#(\\d+);", lambda m: chr(int(m[1])), text))


@pytest.mark.slow
def test_the_verdict_stands_first_and_tells_gates_and_gaps_in_every_form(report: ScoreReport, told: dict[Form, str]) -> None:
    for form, text in told.items():
        at = [text.index(part) for part in (
            "Best by answer_accuracy: graph-rag", "Questions without an answer: vector-rag 4",
            "Answers that are errors or empty: graph-rag 3 of 100", "Gates: 1 met, 1 missed (vector-rag: answer_accuracy >= 0.6",
            "2 not answered", "Best, of 3 metrics that are compared: graph-rag in", "What to fix first",
            "Gate missed: answer_accuracy >= 0.6", "Gates without an answer",
        )]
        assert at == sorted(at) and at[0] < 900, form
        assert "4 questions" in text and "3 of 100 answers" in text, "what it costs"
    stopped = report.model_copy(update={"complete": False})
    assert all("These figures are not complete" in flat(rendered(stopped, form)) for form in ("text", "md"))


@pytest.mark.slow
def test_every_mean_stands_with_its_interval_and_what_it_is_over(report: ScoreReport, told: dict[Form, str]) -> None:
    one = next(one for one in report.summaries if (one.system, one.metric) == ("graph-rag", "factual_correctness")).overall
    for form, text in told.items():
        assert f"{figure(one.mean)} {bracketed(one.low, one.high)}" in text and "98/100" in text, form
        assert "timeout 3, unparsable 1" in text and bracketed(one.bound_low, one.bound_high) in text, form
        assert "100 n/a" in text, f"{form}: what has no meaning is told apart from what failed"


@pytest.mark.slow
def test_the_types_by_metrics_the_leaderboard_and_both_averages_are_named(
    report: ScoreReport, texts: dict[Form, str], told: dict[Form, str],
) -> None:
    row = report.leaderboard[0]
    for form, text in ((form, text.lower()) for form, text in told.items()):
        assert "mean of" in text and "types" in text and "questions" in text and figure(row.average) in text, form
        assert "creative generation" in text and "evidence_coverage" in text.replace("_ ", "_"), form
    titles = ("Fact retrieval", "Complex reasoning", "Contextual summarize", "Creative generation")
    assert all(f"<h3>{title}</h3>" in texts["html"] for title in titles), "a table for each type"


@pytest.mark.slow
def test_types_stand_metric_by_metric_with_figures_alone_on_a_terminal(report: ScoreReport) -> None:
    more = [f"metric_{at}" for at in range(3)]
    extra = [one.model_copy(update={"metric": name}) for name in more for one in report.groups if one.metric == METRICS[0]]
    rows = [one.model_copy(update={"metric": name}) for name in more for one in report.summaries if one.metric == METRICS[0]]
    wide = report.model_copy(update={"groups": report.groups + extra, "summaries": report.summaries + rows})
    text, md = rendered(wide, "text").split("By question type")[1].split("By hops")[0], shown(wide, "md")
    assert "metric_2" in text and "[" not in text, "intervals are in the files"
    assert "### Creative generation | metric | vector-rag | graph-rag | closed-book |" in md and "| metric_2 | 0." in md


@pytest.mark.slow
def test_the_table_of_scores_says_what_is_odd_in_it(told: dict[Form, str]) -> None:
    for form, text in told.items():
        assert "Lower is better: extrinsic_hallucination." in text and "n/a: the metric has no meaning" in text, form
    assert "apart from all other" not in shown(one_row(), "text") and "n/a" not in shown(one_row(), "text")


@pytest.mark.slow
def test_how_files_were_read_is_not_said_twice_on_a_terminal(report: ScoreReport) -> None:
    noted = report.model_copy(update={"notes": ["a.jsonl: read as kgeval answers, rows: 1,600", "a.jsonl: read as well"]})
    assert "rows: 1,600" not in rendered(noted, "text") and "read as well" in rendered(noted, "text")
    assert "rows: 1,600" in shown(noted, "md") and "rows: 1,600" in shown(noted, "html")
    assert redacted(noted).notes[0] == noted.notes[0] and "read as" not in redacted(noted).notes[1]


def test_without_chains_there_is_no_table_of_chains(report: ScoreReport) -> None:
    bare = [one.model_copy(update={"stepwise_accuracy": None, "questions": 0}) for one in report.reasoning]
    text = shown(report.model_copy(update={"reasoning": bare}), "text")
    assert "Chains of steps" not in text and "answer_accuracy by hops" in text


def test_a_board_of_questions_without_a_dataset_shows_no_mean_of_other_questions(report: ScoreReport) -> None:
    row = report.leaderboard[0].model_copy(update={"dataset": None})
    mixed = report.model_copy(update={"leaderboard": [*report.leaderboard, row]})
    board = rendered(mixed, "md").split("## Leaderboard")[1].split("### answer")[2].splitlines()[4]
    assert board.startswith("| graph-rag | 1 | 0.715 | - |")
    alone = report.model_copy(update={"leaderboard": [row], "groups": [one for one in report.groups if one.by != "dataset"]})
    assert "| graph-rag | 1 | 0.715 | - |" not in rendered(alone, "md")


def test_cost_has_factors_quantiles_and_how_many_answers_tell(told: dict[Form, str]) -> None:
    for form, text in told.items():
        assert "3,770,000" in text and "5.8 x" in text and "of 60/100" in text and "1.80 / 4.40 / 6.10" in text, form


def test_reasoning_gains_repeats_audit_and_worst_rows_are_there_with_their_counts(told: dict[Form, str]) -> None:
    for form, text in told.items():
        for part in (
            "14 of 40", "9 of 12", "+0.128 [+0.071, +0.184]", "no difference found", "standard", "0.005", "duplicate-name",
            "-0.200 [-0.310, -0.080]", "0 of 2 claims of the answer", "Mary Holt", "note" if form == "text" else "Notes",
        ):
            assert part in text, (form, part)


@pytest.mark.long
def test_lines_are_never_longer_than_the_screen_and_pipes_are_plain(
    report: ScoreReport, hostile: ScoreReport, texts: dict[Form, str],
) -> None:
    for one in (report, hostile, large(), empty(), one_row()):
        for width in (80, 100):
            text = rendered(one, "text", screen=Screen(width=width, written=[Path("r.html")]))
            assert "\x1b" not in text and max(map(len, text.splitlines())) <= width
            assert text.rstrip().endswith("Report: r.html") and len(text.splitlines()) < 600
    assert len(texts["text"].splitlines()) < 240
    assert "\x1b[1m" in rendered(report, "text", screen=Screen(colour=True))


@pytest.mark.long
def test_hostile_texts_stay_texts_in_every_form(hostile: ScoreReport, hostile_page: Page) -> None:
    page = hostile_page
    assert page.open == [] and len(page.scripts) == 2 and len(page.styles) == 1
    assert len(page.values("id")) == len(set(page.values("id"))) and {at[1:] for at in page.values("href")} <= set(page.values("id"))
    assert not any(name == "style" or name.startswith("on") for _, name, _ in page.attributes) and page.values("src") == []
    assert not re.search("[\u200b\u202e\u2028\x1b]", page.text) and max(map(len, page.texts)) < 5_000
    assert "<script>alert(1)</script>" in page.text and "{{ 7*7 }}" in page.text
    text = rendered(hostile, "md")
    assert not re.search("[\u200b\u202e\u2028\x1b]", rendered(hostile, "text") + text)
    assert "## Scores" in text and "Worst rows" in text, "a name of 100,000 characters crowds nothing out"


@pytest.mark.long
def test_no_text_can_break_out_of_markdown(report: ScoreReport) -> None:
    for at in range(len(HOSTILE_MD)):
        text = rendered(poisoned(report, HOSTILE_MD[at:] + HOSTILE_MD[:at]), "md")
        html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(text)
        assert set(re.findall(r"<(\w+)", html)) <= TAGS
        assert not re.search(r"(?i)www\.|https?://|@", text), "no link or mention that a site would make live"
        assert text.count("<details>") == text.count("</details>") == html.count("<details>") and "\n\n</details>" in text


def test_every_table_of_the_markdown_has_as_many_cells_as_heads(texts: dict[Form, str]) -> None:
    for table in re.findall(r"(?:^\|.*\|\n?)+", texts["md"], re.MULTILINE):
        assert len({line.count(" | ") for line in table.strip().splitlines()}) == 1


@pytest.mark.long
def test_a_comment_never_gets_too_long() -> None:
    big = large()
    assert len(rendered(big, "md")) < MOST_CHARACTERS + 1_000
    names = {one.system: f"{one.system} {'n' * 200}" for one in big.systems}
    more = big.model_copy(update={
        "systems": [one.model_copy(update={"system": names[one.system]}) for one in big.systems],
        "summaries": [one.model_copy(update={"system": names[one.system], "metric": f"{one.metric}{'m' * 300}"}) for one in big.summaries],
        "groups": [one.model_copy(update={"system": names[one.system]}) for one in big.groups], "notes": ["n" * 9_000] * 50,
        "gates": [Gate(name="m" * 500, of=name, limit=">= 0.5") for name in names.values() for _ in range(80)],
    })
    text = rendered(more, "md")
    assert len(text) <= MOST_CHARACTERS + 100 and text.count("<details>") == text.count("</details>")


@pytest.mark.long
def test_a_large_report_is_made_in_bounded_size() -> None:
    big = large()
    began = time.process_time()
    texts = {form: rendered(big, form) for form in (*FORMS, "xml")}
    used = time.process_time() - began
    sizes, data = {form: len(text) for form, text in texts.items()}, texts["html"].rpartition('id="report">')[2]
    assert sizes["html"] - len(data) < 3_000_000 and sizes["text"] < 60_000 and sizes["xml"] < 1_000_000
    assert used < 60, "seconds of CPU, where about 2 are usual"


def test_an_empty_report_and_one_row_can_be_shown_everywhere(tmp_path: Path) -> None:
    for one, told in ((empty(), "Nothing was scored."), (one_row(), "exact_match: only 0.500 (1 of 1 scored)")):
        for form in FORMS:
            assert told in shown(one, form), form
        for ending in (".html", ".md", ".json", ".xml"):
            write_report(one, tmp_path / f"r{ending}")
            assert (tmp_path / f"r{ending}").stat().st_size > 50


def test_no_value_is_never_shown_as_zero() -> None:
    failed = Mean(n=4, n_scored=0, failures={"timeout": 4}, bound_low=0.0, bound_high=1.0)
    one = two(failed, Mean(n=4, n_scored=0, not_applicable=4))
    for form in FORMS:
        text = shown(one, form)
        assert "No score could be computed." in text and "timeout 4" in text and "0.000" not in text, form
        assert "0/4" in text and "0/4, 4 n/a" in text, form
    assert figure(None) == "-" and figure(0.0) == "0" and figure(0.0001) == "< 0.001" and figure(0.9999) == "> 0.999"
    assert difference(0.0, -0.1, 0.1) == "0 [-0.100, +0.100]" and difference(None, None, None) == "-"


def test_numbers_that_are_not_finite_break_no_form() -> None:
    odd = two(told_mean(float("nan"), float("nan"), float("inf")), told_mean(0.5, 0.4, 0.6))
    for form in (*FORMS, "xml"):
        assert rendered(odd, form)
    assert ScoreReport.model_validate_json(rendered(odd, "json")).summaries[0].overall.mean is None


@pytest.mark.slow
def test_the_embedded_json_is_the_report(report: ScoreReport, hostile: ScoreReport, page: Page, hostile_page: Page) -> None:
    for one, made in ((report, page), (hostile, hostile_page)):
        assert ScoreReport.model_validate_json(made.report) == one
        assert ScoreReport.model_validate_json(rendered(one, "json")) == one


@pytest.mark.slow
def test_every_metric_of_the_page_has_its_definition_source_and_signature(report: ScoreReport, texts: dict[Form, str], page: Page) -> None:
    for info in report.metrics:
        assert all(part in page.text for part in (info.summary, info.definition, info.source, info.signature))
    assert set(re.findall('<abbr title="(.*?)">', texts["html"])) >= {info.summary for info in report.metrics}, "on hover"
    drawn = page.values("class")
    assert drawn.count("dist") == len(METRICS) * len(SYSTEMS) - 1
    assert drawn.count("plot") == 3, "quality against tokens, seconds and dollars"


@pytest.mark.long
def test_two_renderings_are_the_same(report: ScoreReport, texts: dict[Form, str]) -> None:
    assert texts == {form: rendered(report, form) for form in FORMS}


def test_a_distribution_has_its_bars_where_its_values_are() -> None:
    spread = Spread(minimum=0, q25=0.25, median=0.5, q75=0.75, maximum=1, bins=[4, 0, 2, 1])
    svg = distribution(spread, 0.5)
    drawn = re.findall(r'class="bin" x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', svg)
    bars = [tuple(map(float, found)) for found in drawn]
    assert [round(x / 50) for x, _, _ in bars] == [0, 2, 3] and [tall for _, _, tall in bars] == [34, 17, 8.5]
    assert all(y + tall == pytest.approx(34) for _, y, tall in bars)
    assert re.search(r'class="box" x="50.00" y="37.0" width="100.00"', svg) and 'class="median" x="99.40"' in svg
    assert distribution(Spread(), None) == ""


@pytest.mark.slow
def test_a_plane_needs_two_points_and_names_nobody() -> None:
    points = [Point(1, 100.0, 0.5, 0.4, 0.6), Point(2, 5_000.0, 0.7, None, None)]
    drawing = plane(points, amount="tokens per answer", quality="mean score", name="p")
    assert drawing
    svg = drawing()
    assert 'class="plot"' in svg and "style=" not in svg and svg.count("p-") > 3
    assert plane(points[:1], amount="a", quality="b", name="p") is None
    assert plane([Point(1, 0.0, 0.5, None, None), Point(2, 5.0, 0.5, None, None)], amount="a", quality="b", name="p") is None


@pytest.mark.slow
def test_redaction_leaves_no_text_in_any_form_and_keeps_ids(report: ScoreReport) -> None:
    texts = {text for row in report.worst for text in (row.question, row.answer, row.reference or "", *row.reasons)}
    texts |= {one.value for one in report.groups if one.by == "document"} | set(report.notes)
    for form in (*FORMS, "json", "xml"):
        text = unpacked(rendered(report, form, redact=True))
        assert [one for one in texts if one in text] == [], form
    kept = ScoreReport.model_validate_json(rendered(report, "json", redact=True))
    assert [row.question_id for row in kept.worst] == [row.question_id for row in report.worst]
    assert kept.summaries == report.summaries and kept.worst[0].question.startswith("#")
    blank = report.model_copy(update={"worst": [WorstRow(system="A", metric="m", question_id="q", value=None)]})
    assert ScoreReport.model_validate_json(rendered(blank, "json", redact=True)).worst == blank.worst


@pytest.mark.slow
def test_files_that_quote_texts_are_for_their_owner_alone(report: ScoreReport, tmp_path: Path) -> None:
    for ending, redact, mode in ((".html", False, 0o600), (".json", False, 0o600), (".md", True, 0o644), (".xml", False, 0o644)):
        target = tmp_path / f"r{redact}{ending}"
        write_report(report, target, redact=redact)
        assert stat.S_IMODE(target.stat().st_mode) == mode, ending


def test_junit_is_no_form_of_every_report_and_the_message_says_what_has_it(report: ScoreReport, tmp_path: Path) -> None:
    check_outputs([tmp_path / "r.xml"], ScoreReport)
    told = r"a completeness report has no form '\.xml', only a graph audit,[a-z ,]* score report[a-z ,]* have(.|\n)*\.html, \.json, \.md$"
    with pytest.raises(UsageError, match=told):
        check_outputs([tmp_path / "r.xml"], CompletenessReport)
    with pytest.raises(UsageError, match=r"unknown ending '\.pdf'(.|\n)*\.html, \.json, \.md, \.xml"):
        write_report(report, tmp_path / "r.pdf")
    example = Path(__file__).parents[2] / "schemas" / "examples" / "completeness-report" / "valid" / "harbour.json"
    with pytest.raises(UsageError, match="a completeness report has no form 'xml'"):
        rendered(CompletenessReport.model_validate_json(example.read_text(encoding="utf-8")), "xml")


@pytest.mark.long
def test_a_long_list_of_worst_rows_takes_systems_by_turns_and_ends_somewhere(report: ScoreReport) -> None:
    rows = [
        WorstRow(system=name, metric="answer_accuracy", question_id=f"{name}-{at:04d}", value=0.0) for name in SYSTEMS for at in range(400)
    ]
    page = Page(rendered(report.model_copy(update={"worst": rows}), "html"))
    found = set(re.findall(r"question (\S+-rag|closed-book)-\d{4}", page.text))
    assert found == set(SYSTEMS) and "100 of 1,200; the JSON has them all" in page.text
