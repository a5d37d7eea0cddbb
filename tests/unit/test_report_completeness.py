"""Completeness on a terminal, in Markdown, HTML and JSON: every item listed, every figure with what it is over, nothing trusted."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from hostile import poisoned
from markdown_it import MarkdownIt
from report_page import Page, unpacked

from kgeval.records import CompletenessReport, Coverage, FactRetention, GoldMatch, GoldSet, IdealGraph, Proportion
from kgeval.reports.page import MOST_ROWS
from kgeval.reports.views import completeness as view
from kgeval.reports.write import Screen, rendered, write_report

EXAMPLE = Path(__file__).parents[2] / "schemas" / "examples" / "completeness-report" / "valid" / "harbour.json"
NOTHING = Proportion(count=0, total=0)
EMPTY = Coverage(
    entity_coverage=NOTHING, relation_completeness=NOTHING, relation_completeness_directed=NOTHING,
    relation_completeness_with_predicate=NOTHING,
)


@pytest.fixture(scope="module")
def report() -> CompletenessReport:
    return CompletenessReport.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hostile(report: CompletenessReport) -> CompletenessReport:
    ideal = IdealGraph(
        extractor="x", signature="x", documents=1, chunks=2, failures={"cut": 1}, notes=["x"], precision={"entities": NOTHING},
    )
    return CompletenessReport.model_validate(poisoned(report.model_copy(update={"ideal": ideal}).model_dump()))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_every_tag_closes_ids_are_unique_and_links_lead_somewhere(report: CompletenessReport, hostile: CompletenessReport) -> None:
    for one in (report, hostile, bare(report)):
        page = Page(rendered(one, "html"))
        assert page.open == []
        assert len(page.values("id")) == len(set(page.values("id")))
        assert {target[1:] for target in page.values("href")} <= set(page.values("id"))
        assert not any(name == "style" or name.startswith("on") for _, name, _ in page.attributes) and page.values("src") == []


def test_hostile_texts_stay_texts(hostile: CompletenessReport) -> None:
    page = Page(rendered(hostile, "html"))
    assert len(page.scripts) == 2 and len(page.styles) == 1
    assert "<script>alert(1)</script>" in page.text and "{{ 7*7 }}" in page.text
    assert not re.search("[\u200b\u202e\u2028\x1b]", page.text), "hidden characters are written out"
    assert max(map(len, page.texts)) < 5_000, "long names are cut"
    assert not re.search("[\u202e\x1b]", rendered(hostile, "text"))


def test_the_embedded_json_is_the_report(report: CompletenessReport, hostile: CompletenessReport) -> None:
    for one in (report, hostile):
        data = Page(rendered(one, "html")).report
        assert CompletenessReport.model_validate_json(data) == one
        assert CompletenessReport.model_validate_json(rendered(one, "json")) == one


def test_every_missing_and_every_matched_item_is_on_the_page_with_level_and_score(report: CompletenessReport) -> None:
    text = Page(rendered(report, "html")).text
    for item in (*report.missing, *report.matched):
        assert item.name in text
    assert re.search(r"Varne Harbor fuzzy 95\.7 Varne Harbour", text)
    assert re.search(r"steamship company embedding 0\.871 Packet Line", text)
    assert "other direction, same predicate" in text and "same direction" in text


def test_the_least_certain_match_and_the_costliest_gap_stand_first(report: CompletenessReport) -> None:
    assert [item.level for item in view.matched(report, "entity")] == ["embedding", "fuzzy", "alias", "normalised", "exact"]
    assert [item.bridging for item in view.missing(report, "relation")] == [True, False]
    near = [GoldMatch(kind="entity", name=str(score), level="fuzzy", score=score) for score in (99.0, 90.0, 95.0)]
    assert [item.score for item in view.matched(report.model_copy(update={"matched": near}), "entity")] == [90.0, 95.0, 99.0]


def test_levels_say_what_they_are_over_and_which_one_is_judged(report: CompletenessReport) -> None:
    text = Page(rendered(report, "html")).text
    assert "normalised * 28.6 % 2 of 7" in text and "normalised: the same without case, punctuation and leading article" in text
    assert "8.2 % to 64.1 %" in text, "the Wilson interval of 2 of 7"
    some = report.model_copy(update={"levels": {"exact": report.levels["exact"]}})
    assert "Not run: normalised, alias, fuzzy, embedding." in Page(rendered(some, "html")).text


def test_an_unscored_fact_is_neither_kept_nor_lost(report: CompletenessReport) -> None:
    assert [view.fact_state(fact) for fact in view.facts_in_order(report.facts or pytest.fail())] == [
        "does not follow", "unscored", "follows", "follows",
    ]
    for form in ("text", "md", "html"):
        text = rendered(report, form)  # type: ignore[arg-type]
        shown = flat(Page(text).text if form == "html" else text)
        assert "66.7 % (2 of 3" in shown and "timeout 1" in shown and "50.0 % to 75.0 %" in shown, form


def test_a_share_of_nothing_is_never_shown_as_zero(report: CompletenessReport) -> None:
    none = report.model_copy(update={"by_type": {"person": EMPTY}, "bridging": {"documents": NOTHING}})
    assert re.search(r"person\s+-\s+-", Page(rendered(none, "html")).text)
    empty = bare(report)
    for form in ("text", "md", "html"):
        assert "0 %" not in re.sub(r"\b[1-9]\d*0 %", "", Page(rendered(empty, form)).text), form  # type: ignore[arg-type]
    assert "the gold set is empty" in rendered(empty, "text")
    unjudged = FactRetention(
        k=8, hops=2, n=1, n_scored=0, retention=NOTHING, bound_low=0, bound_high=1, failures={"cut": 1}, embedding_model="e", judge="j",
    )
    assert "no fact could be judged" in rendered(empty.model_copy(update={"facts": unjudged}), "text")


def test_the_label_of_an_ideal_graph_stands_in_every_form(report: CompletenessReport) -> None:
    label = "ideal graph by model-9, not checked by people"
    ideal = IdealGraph(extractor="model-9", signature="s", documents=2, chunks=9, sampled=40)
    one = report.model_copy(update={"gold": report.gold.model_copy(update={"label": label}), "ideal": ideal})
    for form in ("text", "md", "html"):
        text = rendered(one, form)  # type: ignore[arg-type]
        shown = flat(Page(text).text if form == "html" else text)
        assert shown.count(label) >= 3 and "the model's mistake. A sheet of 40 items was written for them." in shown, form
    precision = {"entities": Proportion(count=9, total=10, share=0.9, low=0.6, high=0.98)}
    checked = ideal.model_copy(update={"precision": precision, "labelled": 10})
    assert "Held to be right by people, of 10 labelled items: entities 90.0 % (9 of 10" in flat(
        rendered(one.model_copy(update={"ideal": checked}), "text")
    )


def test_the_terminal_is_plain_on_a_pipe_and_fits_a_screen(report: CompletenessReport) -> None:
    text = rendered(report, "text", screen=Screen(width=80, written=[Path("r.html")]))
    assert "\x1b" not in text and max(map(len, text.splitlines())) <= 80 and len(text.splitlines()) <= 50
    assert text.rstrip().endswith("Report: r.html")
    assert "\x1b[1;31m" in rendered(report, "text", screen=Screen(colour=True)), "critical is red"


def test_markdown_is_short_and_cannot_be_broken(report: CompletenessReport, hostile: CompletenessReport) -> None:
    html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(rendered(hostile, "md"))
    assert set(re.findall(r"<(\w+)", html)) <= {
        "h1", "h2", "p", "strong", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td",
    }
    long = [GoldMatch(kind="entity", name=f"item {at} " + "x" * 400) for at in range(3_000)]
    text = rendered(report.model_copy(update={"missing": long}), "md")
    assert len(text) < 10_000 and "and 2,990 more" in text


@pytest.mark.slow
def test_a_long_list_is_folded_and_ends_somewhere(report: CompletenessReport) -> None:
    long = [GoldMatch(kind="entity", name=f"item-{at:05d}") for at in range(3_000)]
    page = Page(rendered(report.model_copy(update={"missing": long, "matched": []}), "html"))
    assert len(set(re.findall(r"item-\d{5}", page.text))) == MOST_ROWS
    assert f"The first {MOST_ROWS} of 3,000; the JSON has them all." in page.text and "2,980 more" in page.text


def test_redaction_leaves_no_name_in_any_form(report: CompletenessReport) -> None:
    texts = [item.name for item in (*report.missing, *report.matched)] + [ref.name for item in report.matched for ref in item.found]
    texts += [text for fact in (report.facts.facts if report.facts else []) for text in (fact.fact, *fact.retrieved)]
    texts += [*report.gold.documents, *report.gold.faults, *report.by_document]
    assert len(texts) > 30
    for form in ("text", "md", "html", "json"):
        shown = unpacked(rendered(report, form, redact=True))  # type: ignore[arg-type]
        assert [text for text in texts if text in shown] == [], form
    assert "person" in rendered(report, "json", redact=True), "types are vocabulary"
    assert "28.6 %" in rendered(report, "text", redact=True)


def test_json_has_no_nan_and_files_are_for_their_owner_unless_redacted(report: CompletenessReport, tmp_path: Path) -> None:
    odd = report.model_copy(update={"matched": [GoldMatch(kind="entity", name="x", level="fuzzy", score=float("nan"))]})
    assert json.loads(rendered(odd, "json"))["matched"][0]["score"] is None
    write_report(report, tmp_path / "r.html")
    write_report(report, tmp_path / "s.json", redact=True)
    assert stat.S_IMODE((tmp_path / "r.html").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o644


def test_what_a_figure_leaves_out_is_said_in_every_form(report: CompletenessReport) -> None:
    note = "not in the graph, so that all their gold items count as missing: ulysses"
    facts = report.facts.model_copy(update={"notes": ["3 facts had no relation near them"]}) if report.facts else None
    one = report.model_copy(update={"notes": [note], "facts": facts})
    for form in ("text", "md", "html"):
        text = rendered(one, form)  # type: ignore[arg-type]
        shown = flat(Page(text).text if form == "html" else text)
        assert note in shown and "3 facts had no relation near them" in shown, form
    many = report.model_copy(update={"notes": [f"note {at}" for at in range(9)], "facts": None})
    assert re.search(r"and \d+ notes more", rendered(many, "text"))


def test_the_page_says_why_an_alias_is_one(report: CompletenessReport) -> None:
    one = GoldMatch(kind="entity", name="B. A. Gould", level="alias", why="initials")
    assert "initials" in Page(rendered(report.model_copy(update={"matched": [one]}), "html")).text


def test_two_renderings_are_the_same(report: CompletenessReport) -> None:
    assert all(rendered(report, form) == rendered(report, form) for form in ("text", "md", "html", "json"))  # type: ignore[arg-type]


def bare(report: CompletenessReport) -> CompletenessReport:
    """A report against an empty gold set."""
    return CompletenessReport(
        run=report.run.model_copy(update={"models": [], "model_use": []}), layout=report.layout,
        gold=GoldSet(label="gold", entities=0, triples=0), scope="whole_graph", levels={"exact": EMPTY}, apart={"exact": {"entities": 0}},
    )


def test_the_page_says_how_wide_levels_are_that_nothing_is_missing_and_where_a_long_list_of_facts_ends(report: CompletenessReport) -> None:
    assert report.facts is not None
    many = report.facts.model_copy(update={"facts": report.facts.facts[:1] * (MOST_ROWS + 1)})
    page = flat(Page(rendered(report.model_copy(update={"missing": [], "facts": many}), "html")).text)
    assert "1 of 7; 95 %: 2.6 % to 51.3 %" in page and "match no gold are no errors" in page and "Small groups have wide intervals" in page
    assert page.count("None is missing at any level that was run.") == 2
    assert f"The first {MOST_ROWS} of {MOST_ROWS + 1}; the JSON has them all." in page
