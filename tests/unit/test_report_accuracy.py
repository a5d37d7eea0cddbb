"""Accuracy on a terminal, in Markdown, HTML and JSON: whose labels, over what, and the passages of what is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hostile import poisoned
from markdown_it import MarkdownIt
from pydantic import ValidationError
from report_page import Page, unpacked

from kgeval.records import AccuracyReport, Estimate, ItemVerdict
from kgeval.reports.page import MOST_ROWS
from kgeval.reports.plots import calibration
from kgeval.reports.views import accuracy as view
from kgeval.reports.write import Screen, rendered

EXAMPLE = Path(__file__).parents[2] / "schemas" / "examples" / "accuracy-report" / "valid" / "harbour.json"


@pytest.fixture(scope="module")
def report() -> AccuracyReport:
    return AccuracyReport.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hostile(report: AccuracyReport) -> AccuracyReport:
    return AccuracyReport.model_validate(poisoned(report.model_dump()))


@pytest.fixture(scope="module")
def empty(report: AccuracyReport) -> AccuracyReport:
    """No item has a label."""
    design = report.design.model_copy(update={"drawn": 0, "strata": {}})
    return AccuracyReport(run=report.run, layout=report.layout, kind="entities", design=design, estimates=[])


@pytest.mark.slow
def test_every_tag_closes_ids_are_unique_and_links_lead_somewhere(
    report: AccuracyReport, hostile: AccuracyReport, empty: AccuracyReport,
) -> None:
    for one in (report, hostile, empty):
        page = Page(rendered(one, "html"))
        assert page.open == []
        assert len(page.values("id")) == len(set(page.values("id")))
        assert {target[1:] for target in page.values("href")} <= set(page.values("id"))
        assert not any(name == "style" or name.startswith("on") for _, name, _ in page.attributes) and page.values("src") == []


@pytest.mark.slow
def test_hostile_texts_stay_texts(hostile: AccuracyReport) -> None:
    page = Page(rendered(hostile, "html"))
    assert len(page.scripts) == 2 and len(page.styles) == 1
    assert "<script>alert(1)</script>" in page.text and "{{ 7*7 }}" in page.text
    assert not re.search("[\u200b\u202e\u2028\x1b]", page.text)
    assert max(map(len, page.texts)) < 5_000
    assert not re.search("[\u202e\x1b]", rendered(hostile, "text"))
    html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(rendered(hostile, "md"))
    assert set(re.findall(r"<(\w+)", html)) <= {
        "h1", "h2", "p", "strong", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td",
    }


@pytest.mark.slow
def test_the_json_is_the_report_and_has_no_nan(report: AccuracyReport, hostile: AccuracyReport) -> None:
    for one in (report, hostile):
        assert AccuracyReport.model_validate_json(Page(rendered(one, "html")).report) == one
    odd = report.model_copy(update={"agreement": {"kappa": float("nan")}})
    assert json.loads(rendered(odd, "json"))["agreement"] == {"kappa": None}
    assert "kappa no figure" in " ".join(rendered(odd, "text").split())


def test_the_first_figure_is_never_rogan_gladens_nor_one_without_an_interval_beside_one_with(report: AccuracyReport) -> None:
    def one(by: str, method: str, low: float | None) -> Estimate:
        return Estimate(of="accuracy", labelled_by=by, method=method, n=9, n_scored=9, value=0.9, low=low, high=low and 1.0)  # type: ignore[arg-type]

    every_item_labelled = [one("judge corrected by people", "Rogan-Gladen", 0.8), one("people", "ratio", 0.7), one("judge", "ratio", 0.8)]
    no_error_seen = [one("judge corrected by people", "PPI++", None), *every_item_labelled]
    for estimates in (every_item_labelled, no_error_seen):
        first = view.headline(report.model_copy(update={"estimates": estimates}))
        assert first is not None and first.labelled_by == "people"


def test_a_judge_alone_is_always_said_to_be_uncorrected_and_people_count_first(report: AccuracyReport) -> None:
    best = view.headline(report)
    assert best is not None and best.labelled_by == "judge corrected by people"
    alone = report.model_copy(update={"estimates": report.estimates[:1]})
    for form in ("text", "md", "html"):
        shown = " ".join(rendered(alone, form).split())  # type: ignore[arg-type]
        assert "judge alone, uncorrected" in shown and "n 5, 4 scored" in shown, form


def test_the_verdict_counts_the_labels_that_it_speaks_of_also_where_only_people_gave_them(report: AccuracyReport) -> None:
    assert view.verdict(report).endswith("In the sample: 1 contradicted by their passages and 2 not stated in their passages.")
    alone = [item.model_copy(update={"label": None, "human": item.human or item.label}) for item in report.items]
    by_people = report.model_copy(update={"items": alone, "labels": {}})
    assert view.verdict(by_people).endswith("In the sample: 1 contradicted by their passages and 2 not stated in their passages.")
    right = [item.model_copy(update={"label": "entailed", "human": None}) for item in report.items]
    assert view.verdict(report.model_copy(update={"items": right})).endswith("No labelled item of the sample is wrong.")


def test_two_corrections_are_told_apart_and_items_with_a_verdict_are_not_called_unscored(report: AccuracyReport) -> None:
    def one(by: str, method: str, scored: int, failures: dict[str, int]) -> Estimate:
        return Estimate.model_validate({
            "of": "accuracy", "labelled_by": by, "method": method, "n": 90, "n_scored": scored, "value": 0.9, "failures": failures,
        })

    ways = ("PPI++ over clusters: 3 labels", "Rogan-Gladen, delta method")
    corrections = [one("judge corrected by people", way, 90, {}) for way in ways]
    assert [view.name_of(each).rpartition(", ")[2] for each in corrections] == ["PPI++)", "Rogan-Gladen)"]
    assert view.name_of(one("judge", "ratio", 90, {})) == "accuracy (judge alone, uncorrected)"
    alone = [one("people", "ratio", 30, {"no label": 60}), one("judge", "ratio", 90, {})]
    assert view.unscored_line(report.model_copy(update={"estimates": [*corrections, *alone]})) == ""


def test_a_split_says_whose_labels_it_rests_on(report: AccuracyReport) -> None:
    assert {one.labelled_by for one in report.by_type} == {"judge"}
    assert "By type (judge alone, uncorrected)" in rendered(report, "text")
    for form in ("md", "html"):
        assert "By type (judge alone, uncorrected)" in rendered(report, form), form  # type: ignore[arg-type]
    assert view.split_title("By class", [report.by_type[0], report.by_type[0].model_copy(update={"labelled_by": "people"})]) == "By class"


def test_what_is_wrong_stands_first_with_its_passages(report: AccuracyReport) -> None:
    assert [(pile.label, pile.bad, len(pile.items)) for pile in view.piles(report)] == [
        ("contradicted", True, 1), ("not_stated", False, 2), ("", False, 1), ("entailed", False, 1),
    ]
    page = Page(rendered(report, "html"))
    for item in report.items:
        assert item.text in page.text and all(passage.text in page.text for passage in report.passages_of(item))
    assert page.text.index("Contradicted by their passages (1)") < page.text.index("Not stated in their passages (2)")
    assert "the passage says that the line owns the ship" in page.text
    assert "The Packet Line, which owns the North Light" in rendered(report, "md")


def test_a_label_of_people_goes_over_the_judges_and_the_dispute_is_shown(report: AccuracyReport) -> None:
    (item,) = view.disputed(report)
    assert (item.label, item.human, view.label_of(item)) == ("entailed", "not_stated", "not_stated")
    assert "People and the judge differ on 1 of these items" in Page(rendered(report, "html")).text


def test_unscored_items_are_counted_with_cause_and_bounds(report: AccuracyReport) -> None:
    assert view.unscored_line(report) == "1 item unscored (timeout 1); if all of them were wrong, or right: 40.0 % to 60.0 %"
    text = Page(rendered(report, "html")).text
    assert "1 unscored" in text and "timeout: no reply in 60 s" in text


def test_no_estimate_is_never_zero(report: AccuracyReport, empty: AccuracyReport) -> None:
    for form in ("text", "md", "html"):
        assert "No estimate: none of 0 sampled items has a label." in rendered(empty, form)  # type: ignore[arg-type]
    none = Estimate(of="KNOWS", labelled_by="judge", method="m", n=3, n_scored=0, failures={"cut": 3})
    page = Page(rendered(report.model_copy(update={"by_type": [none]}), "html"))
    assert re.search(r"KNOWS - - 3 0", page.text)
    assert re.search(r"KNOWS +- +- +3 +0", rendered(report.model_copy(update={"by_type": [none]}), "text"))


def test_every_interval_is_drawn_where_its_numbers_are(report: AccuracyReport) -> None:
    drawn = re.findall(r'x="([\d.]+)%" width="([\d.]+)%"[^>]*class="span"/><circle cx="([\d.]+)%"', rendered(report, "html"))
    given = [one for one in (*report.estimates, *report.by_type, *report.by_document) if one.low is not None]
    assert len(drawn) == len(given)
    for (left, width, at), one in zip(drawn, given, strict=True):
        assert one.low is not None and one.high is not None and one.value is not None
        ends = (float(left), float(left) + float(width), float(at))
        assert ends == pytest.approx((100 * one.low, 100 * one.high, 100 * one.value), abs=0.02)


@pytest.mark.slow
def test_needed_sizes_agreement_and_calibration_are_told(report: AccuracyReport) -> None:
    page = Page(rendered(report, "html"))
    assert re.search(r"items needed for ± 10\.0 % 96 items needed for ± 5\.0 % 380", page.text)
    assert "alpha no figure" in page.text and "kappa 0.5" in page.text
    assert re.search(r"0\.5 to 1 3 90\.0 % 66\.7 %", page.text)
    drawn = calibration([(0.9, 0.667, 3)], name="c")
    assert drawn
    drawing = ElementTree.fromstring(drawn())
    assert drawing.get("class") == "plot" and "style" not in ElementTree.tostring(drawing, encoding="unicode")
    assert calibration([], name="c") is None


def test_the_terminal_is_plain_and_fits_a_screen(report: AccuracyReport) -> None:
    text = rendered(report, "text", screen=Screen(width=80))
    assert "\x1b" not in text and max(map(len, text.splitlines())) <= 80 and len(text.splitlines()) <= 50


@pytest.mark.slow
def test_a_long_list_ends_somewhere(report: AccuracyReport) -> None:
    first = report.items[0]
    long = [first.model_copy(update={"id": str(at), "text": f"item-{at:05d}", "human": None}) for at in range(2_000)]
    page = Page(rendered(report.model_copy(update={"items": long}), "html"))
    assert len(set(re.findall(r"item-\d{5}", page.text))) == MOST_ROWS and "The first 500 of 2,000" in page.text


@pytest.mark.slow
def test_redaction_leaves_no_text_in_any_form(report: AccuracyReport) -> None:
    texts = [text for item in report.items for text in (item.text, item.item.name)]
    texts += [passage.text for passage in report.passages]
    texts += [one.of for one in report.by_document]
    for form in ("text", "md", "html", "json"):
        shown = unpacked(rendered(report, form, redact=True))  # type: ignore[arg-type]
        assert [text for text in texts if text in shown] == [], form
    assert "CAPTAIN_OF" in rendered(report, "html", redact=True), "relation types are vocabulary"


def test_a_passage_is_kept_once_however_many_items_were_judged_on_it(report: AccuracyReport) -> None:
    shared = report.model_copy(update={"items": [item.model_copy(update={"passages": [0]}) for item in report.items]})
    assert rendered(shared, "json").count(json.dumps(report.passages[0].text)) == 1
    with pytest.raises(ValidationError, match="names a passage that is not in the report"):
        AccuracyReport.model_validate({**report.model_dump(), "passages": report.model_dump()["passages"][:1]})


def test_piles_keep_every_item(report: AccuracyReport) -> None:
    odd = ItemVerdict(id="o", item=report.items[0].item, text="odd", status="scored", label="a new label")
    one = report.model_copy(update={"items": [*report.items, odd]})
    assert sum(len(pile.items) for pile in view.piles(one)) == len(one.items)
