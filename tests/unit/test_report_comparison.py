"""A comparison on a terminal, in Markdown, HTML, JSON, JUnit and CSV: one verdict, every figure, no text that can do harm."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browser import browser
from comparison_sample import NAN, RUN, drawn, found, sample, tabled
from hostile import poisoned_alike
from markdown_it import MarkdownIt
from report_page import Page, unpacked
from test_report_html import HOSTILE
from test_report_scores import TAGS
from test_report_texts import HOSTILE as HOSTILE_MD

from kgeval import format as display
from kgeval.comparison.results.build import build_report
from kgeval.errors import UsageError
from kgeval.records import Box, ComparisonReport, Drill, Estimated, JudgeReport, PairResult, Rates
from kgeval.reports import plots_comparison as plots
from kgeval.reports.document import Details, Table, Text, as_cell
from kgeval.reports.render.markdown import MOST_CHARACTERS
from kgeval.reports.views import pairs as shown
from kgeval.reports.views.comparison import document, maps, weak_points
from kgeval.reports.views.pairs import verdict
from kgeval.reports.write import Form, Screen, rendered, write_report

FORMS: tuple[Form, ...] = ("text", "md", "html")
ALL_FORMS: tuple[Form, ...] = (*FORMS, "json", "xml", "csv")
KEEP = (
    "schema_version", "by", "procedure", "trial_kind", "winner", "decision", "figure", "role", "kgeval", "started", "command",
    "conclusion",
)
KEYS = ("failures", "beside", "attempts", "points", "reasons", "missing", "grades", "contrast", "contrast_judge")


@pytest.fixture(scope="module")
def two() -> ComparisonReport:
    return sample().model_copy(update={"stopped": []})


@pytest.fixture(scope="module")
def three() -> ComparisonReport:
    return sample(3)


@pytest.fixture(scope="module")
def page(two: ComparisonReport) -> Page:
    return Page(rendered(two, "html"))


def poisoned(report: ComparisonReport, bad: Sequence[str]) -> ComparisonReport:
    return ComparisonReport.model_validate(poisoned_alike(report.model_dump(), bad, keys=KEYS, keep=KEEP, words=("overall",)))


def heat_maps(report: ComparisonReport) -> Iterator[tuple[str, Table]]:
    """Title -> heat map, folded or not."""
    for block in maps(shown.view_of(report)):
        (table,) = block.blocks if isinstance(block, Details) else (block,)
        assert isinstance(table, Table)
        yield table.title, replace(table, rows=list(table.rows))


def plain(report: ComparisonReport, form: Form) -> str:
    text = rendered(report, form)
    text = Page(text).text if form == "html" else re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), text)
    return " ".join(text.split())


def one(**more: Any) -> PairResult:
    given: dict[str, Any] = {"system_a": "A", "system_b": "B", "n": 100, "n_scored": 90}
    return PairResult.model_validate({**given, **more})


@pytest.mark.slow
def test_a_result_turned_round_twice_is_itself(two: ComparisonReport) -> None:
    for pair in two.pairs:
        assert shown.swap_sides(shown.swap_sides(pair)) == pair
    view = shown.view_of(two)
    forth, back = view.result("rag-1", "rag-2"), view.result("rag-2", "rag-1")
    assert forth is not None and back is not None and forth.relative.value == -(back.relative.value or 0)
    assert forth.box_win == back.box_loss


# Every form.


@pytest.mark.long
def test_the_verdict_stands_first_in_every_form(two: ComparisonReport, three: ComparisonReport) -> None:
    for report in (two, three):
        first = verdict(shown.view_of(report))[0]
        for form in FORMS:
            assert first in plain(report, form)[:900 if form == "html" else 700], form


def figures(pair: PairResult) -> Iterator[str]:
    yield from (shown.scored(pair), display.signed(pair.relative.value), shown.between(pair.relative), display.chance(pair.p))
    yield from (display.chance(pair.p_holm), display.chance(pair.wilcoxon_p), shown.points(pair.gap.value))
    yield display.figure(pair.effect, digits=2)
    yield from (display.share(pair.superiority), display.share(pair.detectable), shown.between(pair.gap, shown.points))
    if pair.rates:
        yield from map(display.share, (pair.rates.win, pair.rates.tie, pair.rates.loss))


@pytest.mark.slow
def test_every_figure_of_the_record_is_on_the_page(two: ComparisonReport, page: Page) -> None:
    for pair in two.pairs:
        assert [told for told in figures(pair) if told not in page.text] == [], shown.group_of(pair).title
        assert pair.needed is None or f"{pair.needed:,}" in page.text
    first = two.pairs[0]
    for trial in first.per_trial:
        assert display.share(trial.rates.win) in page.text and display.signed(trial.relative) in page.text
    for box in (first.box_win, first.box_loss):
        assert box is not None and all(display.share(end) in page.text for end in (box.low, box.q25, box.median, box.q75, box.high))
    judge = two.judge[0]
    for value in (judge.first_wins.value, judge.ab_win, judge.ba_win, judge.flips, judge.ties, judge.self_agreement):
        assert display.share(value) in page.text
    for part in (
        "4,071", "3.21", "180.5", "n 23", "41", "91.0 %", "p95 120", "+31.3 %", "64 of 700", "0.417", "81.1 %", "0.617", "5.2 %", "+0.025",
        "-0.061 to +0.109",
        "0.754", "0.313", "No sign that the judge moved.",
        "pairs of the baseline are left out", "timeout", "0.999",
        "q-missing", "(this)", two.signature, "relevance, grade 4", "What is told of", "rag-1 names all", "were read from two files",
        display.signed(two.contrast["biased"][0].relative.value), shown.between(two.self_checks[0].relative),
    ):
        assert part in page.text, part


@pytest.mark.slow
def test_every_figure_says_by_what_procedure_and_trials_it_was_had(two: ComparisonReport, page: Page) -> None:
    stamp = "points for both answers in both orders; 3 trials (the answers stay, the judge is asked again); intervals: 95 %, over questions"
    assert page.text.count(stamp) >= 5
    again = two.model_copy(update={"trial_kind": "regenerate"})
    assert all("in each, the systems answer again" in plain(again, form) for form in FORMS)


@pytest.mark.slow
def test_heat_maps_are_row_minus_column_and_mirror_themselves(three: ComparisonReport) -> None:
    made = dict(heat_maps(three))
    assert {"Overall, all questions", "Overall, mean of data sets", "Overall, level node", "Overall, data set music"} <= set(made)
    assert {"Comprehensiveness, all questions", "Relevance, mean of data sets"} <= set(made)
    whole = made["Overall, all questions"]
    rows = [[as_cell(cell) for cell in row] for row in whole.rows]
    assert list(whole.head) == ["", "rag-1", "rag-2", "rag-3"] and all(cells[at].text == "" for at, (_, *cells) in enumerate(rows))
    forth, back = rows[0][3], rows[2][1]
    assert forth.text.startswith("+") and forth.text[1:] == back.text[1:] and forth.shade == -back.shade > 0
    value = next(pair.relative.value for pair in three.pairs if (pair.system_a, pair.system_b) == ("rag-1", "rag-3"))
    assert forth.text == display.signed(value)


def test_two_systems_have_one_heat_map_of_aspects_by_groups(two: ComparisonReport) -> None:
    ((_, made),) = heat_maps(two)
    assert [row[0] for row in made.rows] == ["overall", "comprehensiveness", "relevance"] and len(made.head) == 1 + 7
    for value, shade in ((0.0, 0), (0.4, 5), (-0.4, -5), (1.0, 10), (-1.0, -10)):
        pairs = [one(n_scored=50, relative=Estimated(value=value))]
        ((_, made),) = heat_maps(two.model_copy(update={"pairs": pairs, "systems": []}))
        assert [as_cell(row[1]).shade for row in made.rows] == [shade]


def test_boxes_and_bars_are_drawn_where_their_figures_are() -> None:
    bar = plots.rates_bar(Rates(win=0.5, tie=0.2, loss=0.3))
    drawn_parts = re.findall(r'class="(win|tie|loss)" x="([\d.]+)%" y="0" width="([\d.]+)%"', bar)
    assert drawn_parts == [("win", "0.00", "50.00"), ("tie", "50.00", "20.00"), ("loss", "70.00", "30.00")]
    box = Box(n=5, low=0.1, q25=0.2, median=0.3, q75=0.4, high=0.5, outliers=[0.9])
    svg = plots.boxes(one(box_win=box, box_loss=box))
    assert 'class="win" x="20.00%"' in svg and 'x1="30.00%" x2="30.00%"' in svg and 'cx="90.00%"' in svg and svg.count("<rect") == 2
    assert 'class="tie" x="60.00%"' in plots.relative_box(box) and plots.relative_box(None) == "" and plots.boxes(one()) == ""
    assert 'cx="60.00%"' in plots.relative_dot(0.2, 0.05, 0.35) and plots.relative_dot(None, None, None) == ""
    assert all("style=" not in drawing for drawing in (bar, svg))


def test_the_plot_over_trials_needs_two(two: ComparisonReport) -> None:
    svg = plots.over_trials(two.pairs[0].per_trial)
    assert svg.count("<circle") == 6 and svg.count("<polyline") == 2 and plots.over_trials(two.pairs[0].per_trial[:1]) == ""


@pytest.mark.slow
def test_the_page_loads_nothing_runs_only_its_own_script_and_closes_every_tag(page: Page, three: ComparisonReport) -> None:
    for one_page in (page, Page(rendered(three, "html"))):
        assert one_page.open == [] and one_page.values("src") == [] and len(one_page.scripts) == 2 and len(one_page.styles) == 1
        assert all(target.startswith("#") for target in one_page.values("href"))
        assert {target[1:] for target in one_page.values("href")} <= set(one_page.values("id"))
        assert len(one_page.values("id")) == len(set(one_page.values("id")))
        assert not any(name == "style" or name.startswith("on") for _, name, _ in one_page.attributes)
        assert "default-src 'none'" in next(value for value in one_page.values("content") if "default-src" in value)


@pytest.mark.slow
def test_hostile_names_and_texts_stay_texts(two: ComparisonReport) -> None:
    for shift in range(0, len(HOSTILE), 6):
        hostile = poisoned(two, HOSTILE[shift:] + HOSTILE[:shift])
        page = Page(rendered(hostile, "html"))
        assert page.open == [] and len(page.scripts) == 2 and len(page.styles) == 1
        assert not any(name == "style" or name.startswith("on") for _, name, _ in page.attributes)
        for form in FORMS:
            assert not re.search("[\u200b\u202e\u2028\x1b]", page.text if form == "html" else rendered(hostile, form)), form
        assert ComparisonReport.model_validate_json(page.report) == hostile and max(map(len, page.texts)) < 8_000
        ElementTree.fromstring(rendered(hostile, "xml"))


@pytest.mark.slow
def test_no_text_can_break_out_of_markdown(two: ComparisonReport) -> None:
    for at in range(len(HOSTILE_MD)):
        text = rendered(poisoned(two, HOSTILE_MD[at:] + HOSTILE_MD[:at]), "md")
        html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(text)
        assert set(re.findall(r"<(\w+)", html)) <= TAGS | {"h3"}
        assert not re.search(r"(?i)www\.|https?://|@", text), "no link or mention that a site would make live"
        assert text.count("<details>") == text.count("</details>") == html.count("<details>")


def test_what_weakens_a_result_stands_below_the_verdict_and_not_in_the_notes_again(two: ComparisonReport) -> None:
    judge = two.judge[0].model_copy(update={"flips": 0.3})
    moved = two.drift and two.drift.model_copy(update={"moved": True})
    report = two.model_copy(update={
        "judge": [judge], "drift": moved, "corrected": [two.corrected[0].model_copy(update={"selection_p": 0.01})],
        "notes": ["judge: no length-controlled rate: too few", *two.notes],
    })
    weak = list(weak_points(report))
    assert weak[0].startswith("under 100 questions") and weak[-1] == "rag-2 lacks 1 question, left out of its pairs"
    assert "verdict flips when the order is swapped, in 30.0 % of the question-trials" in weak
    assert any("the judge moved" in line for line in weak) and any("no random part" in line for line in weak)
    judge = judge.model_copy(update={"notes": ["no length-controlled rate: too few"]})  # an older report named the judge in its note
    for form in FORMS:
        text = plain(report.model_copy(update={"judge": [judge]}), form)
        assert text.index("under 100 questions") < text.index(f"{'A wins' if form == 'html' else 'Pair, A vs B'}"), form
        assert text.count("no length-controlled rate: too few") <= (2 if form == "html" else 1), form


def test_few_flips_weaken_nothing_and_missing_questions_are_said_once(two: ComparisonReport) -> None:
    judge = two.judge[0].model_copy(update={"flips": 0.125, "notes": []})
    report = two.model_copy(update={
        "judge": [judge], "missing": {"rag-2": ["q1"]},
        "notes": ["rag-2: lacks 1 questions that others have: left out of its pairs", "kept"],
    })
    assert not any("flips" in line for line in weak_points(report))
    for form in FORMS:
        text = plain(report, form)
        assert "rag-2 lacks 1 question, left out of its pairs" in text and "lacks 1 questions that others" not in text, form
        assert "kept" in text


def test_the_stamp_of_the_procedure_does_not_stand_below_other_procedures(two: ComparisonReport) -> None:
    doc = document(two.model_copy(update={"contrast": {"biased": two.pairs}}))
    last = {section.id: section.blocks[-1] for section in doc.sections if section.blocks}
    assert isinstance(last["result"], Text) and "in both orders" in last["result"].text
    assert not isinstance(last["biases"], Text)


def test_a_heading_without_pairs_is_followed_by_that_there_is_none(two: ComparisonReport) -> None:
    empty = two.model_copy(update={"pairs": [], "systems": [], "judge": [], "contrast": {}})
    assert "Pairs\nThere is no pair in this report." in rendered(empty, "text")


def test_every_table_of_the_markdown_has_as_many_cells_as_heads(two: ComparisonReport, three: ComparisonReport) -> None:
    tables = [table for report in (two, three) for table in re.findall(r"(?:^\|.*\|\n?)+", rendered(report, "md"), re.MULTILINE)]
    assert len(tables) > 8
    for table in tables:
        assert len({line.count(" | ") for line in table.strip().splitlines()}) == 1, table


@pytest.mark.slow
def test_a_comment_never_gets_too_long(three: ComparisonReport) -> None:
    names = {f"rag-{at}": f"rag-{at} {'n' * 300}" for at in (1, 2, 3)}
    pairs = [
        pair.model_copy(update={"system_a": f"{names[pair.system_a]}{at}", "system_b": names[pair.system_b]})
        for at in range(40) for pair in three.pairs
    ]
    text = rendered(three.model_copy(update={"pairs": pairs, "notes": ["n" * 9_000] * 50}), "md")
    assert len(text) <= MOST_CHARACTERS + 100 and text.count("<details>") == text.count("</details>")


@pytest.mark.slow
def test_lines_are_never_longer_than_the_screen(two: ComparisonReport, three: ComparisonReport) -> None:
    for report in (two, three, poisoned(two, HOSTILE)):
        for width in (80, 120):
            text = rendered(report, "text", screen=Screen(width=width, written=[Path("r.html")]))
            assert "\x1b" not in text and max(map(len, text.splitlines())) <= width and text.rstrip().endswith("Report: r.html")


def test_the_json_is_the_report_alone_and_in_the_page(two: ComparisonReport, page: Page) -> None:
    assert ComparisonReport.model_validate_json(rendered(two, "json")) == two == ComparisonReport.model_validate_json(page.report)


@pytest.mark.slow
def test_redaction_leaves_no_text_and_no_question_id_in_any_form(two: ComparisonReport) -> None:
    texts = {text for one in two.drill for text in (one.question_id, one.question, one.answer_a, one.answer_b) if text and len(text) > 3}
    reasons = {reason for one in two.drill for call in one.calls for pair in call.reasons.values() for reason in pair}
    texts |= {reason for reason in reasons if len(reason) > 4} | {"q-missing", "anchor-one", "mark of one", "What is", "told me"}
    texts = {line for text in texts for line in text.splitlines() if len(line) > 3}  # JSON writes a line's end as two characters
    said = ["nothing more was asked: 400 What is X?", "error-rate: 9 of 10: What is Y?: rag-1 is not asked any more", "our own words"]
    first = two.pairs[0].model_copy(update={"failures": {"He told me: so": 1, "timeout": 1}})
    two = two.model_copy(update={"notes": said, "pairs": [first, *two.pairs[1:]]})
    for form in ALL_FORMS:
        text = unpacked(rendered(two, form, redact=True))
        assert [one for one in texts if one in text] == [], form
    kept = ComparisonReport.model_validate_json(rendered(two, "json", redact=True))
    assert kept.pairs[1:] == two.pairs[1:] and kept.judge == two.judge and kept.pairs[0].failures == {"another cause": 1, "timeout": 1}
    assert kept.notes[0].startswith("nothing more was asked: #") and kept.notes[1].endswith(": rag-1 is not asked any more")
    assert kept.notes[2] == said[2] and all(one.question_id.startswith("#") for one in kept.drill)
    bare = two.model_copy(update={"drill": [Drill(system_a="a", system_b="b", question_id="q", trial=1, relative=0.0)]})
    assert ComparisonReport.model_validate_json(rendered(bare, "json", redact=True)).drill[0].answer_a is None


def test_files_that_quote_texts_are_for_their_owner_alone(two: ComparisonReport, tmp_path: Path) -> None:
    wanted = (
        (".html", False, 0o600), (".json", False, 0o600), (".md", True, 0o644), (".xml", False, 0o644), (".csv", False, 0o644),
    )
    for ending, redact, mode in wanted:
        target = tmp_path / f"r{redact}{ending}"
        write_report(two, target, redact=redact)
        assert stat.S_IMODE(target.stat().st_mode) == mode, ending
    with pytest.raises(UsageError, match="unknown ending"):
        write_report(two, tmp_path / "r.pdf")


def test_a_report_of_nothing_can_be_shown_everywhere() -> None:
    empty = ComparisonReport(run=RUN, signature="s")
    lost = build_report(found([tabled([[NAN], [NAN]], failures={(0, 0): "timeout: x"})]))
    alone = build_report(found([tabled([[1]])]))
    judged = ComparisonReport(run=RUN, signature="s", judge=[JudgeReport(calls=0)])
    for report in (empty, lost, alone, judged):
        for form in ALL_FORMS:
            assert rendered(report, form), form
    assert "none of 2 questions has a result" in plain(lost, "html") and "no result: not judged 1, timeout 1" in plain(lost, "html")
    assert "0.0 %" not in plain(lost, "md"), "no value is never shown as zero"


@pytest.mark.long
def test_many_systems_and_questions_are_cut_with_a_word_on_it(three: ComparisonReport) -> None:
    drill = [three.drill[0].model_copy(update={"question_id": f"q{at}"}) for at in range(130)]
    page = Page(rendered(three.model_copy(update={"drill": drill}), "html"))
    assert "100 of 130; the JSON has them all" in page.text
    tables = [drawn((f"s{at}", f"t{at}"), 0.5, at, questions=4, trials=1) for at in range(2)]
    made = build_report(found(tables, drill=0))
    many = [pair.model_copy(update={"system_a": f"x{at}"}) for at in range(70) for pair in made.pairs if shown.group_of(pair) == shown.ALL]
    assert "The first 60 of 140 pairs" in Page(rendered(made.model_copy(update={"pairs": many, "ranking": None}), "html")).text


@pytest.mark.slow
def test_nothing_lies_behind_a_sideways_scroll_on_a_phone(three: ComparisonReport, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    write_report(three, target)
    with browser(tmp_path / "profile") as chromium:
        chromium.open(target)
        chromium.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=True)
        chromium.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        wide = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
        assert chromium.evaluate("document.documentElement.scrollWidth") == 400
        assert chromium.evaluate("document.querySelectorAll('.scroll').length") > 20 and chromium.evaluate(wide) == 0
