"""The document model: what every kind that has a view promises in every form, whatever names are in it."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from report_page import Page
from test_redact import MARKER, made
from test_report_texts import HOSTILE

from kgeval.records import SensitivityReport
from kgeval.reports.document import Card, Cards, Cell, Code, Details, Document, Figure, Items, Section, Table, Text
from kgeval.reports.kinds import KINDS
from kgeval.reports.render import markdown, terminal
from kgeval.reports.write import Screen, rendered

ROOT = Path(__file__).resolve().parents[2]
TAGS = {"h1", "h2", "h3", "p", "strong", "ol", "ul", "li", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "hr",
        "details", "summary"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("bad", ["<script>alert(1)</script>", "`|`[x](http://e.example) @team", "\x1b[31m\u202ered", *HOSTILE[:3]])
def test_no_text_breaks_out_of_any_form(kind: type, bad: str) -> None:
    hostile = kind.model_validate_json(made(kind).model_dump_json().replace(MARKER, json.dumps(bad)[1:-1]))
    page = rendered(hostile, "html")
    assert "<script>alert" not in page and len(re.findall(r"<script", page)) == 2
    assert Page(page).text
    text = rendered(hostile, "text", screen=Screen(80, False))
    assert "\x1b" not in text and "\u202e" not in text
    html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(rendered(hostile, "md"))
    assert set(re.findall(r"<(\w+)", html)) <= TAGS
    for table in re.findall(r"<table>.*?</table>", html, re.S):
        heads = table.count("<th>") + table.count("<th ")
        assert {line.count("<td") for line in table.split("<tr>")[2:]} <= {heads}


def test_rows_may_be_an_iterator_and_what_is_cut_is_counted() -> None:
    def rows() -> list[Section]:
        numbers = count(1)
        table = Table(("name", "n"), ((f"row {n}", str(n)) for n, _ in zip(numbers, range(1_000), strict=False)), short=3, long=5)
        return [Section("Rows", [table])]

    text, md = terminal.render(Document("A", "a", rows())), markdown.render(Document("A", "a", rows()))
    assert "row 3" in text and "row 4" not in text and "and 997 more" in text
    assert "| row 5 | 5 |" in md and "row 6" not in md and "995 more" in md


def test_columns_in_which_no_cell_has_more_than_a_dash_are_left_out() -> None:
    empty = ("", "-", Cell("–"), Cell("-", ""))
    drawn, noted = Cell("", range=(0.1, 0.0, 0.2)), Cell("-", note="3 : 1")
    head = ("name", "nothing", "mark", "note", "last")
    table = Table(head, iter([("a", at, drawn, noted, "x") for at in empty]), words=frozenset({0, 1, 4}))
    left = table.filled()
    assert (left.head, left.words) == (["name", "mark", "note", "last"], {0, 3})
    assert [len(row) for row in left.rows] == [4, 4, 4, 4]
    assert Table(("a", "b", "c"), [("-", "", "x"), ("", "-", "x")]).filled(keep=(1,)).head == ["b", "c"]


def test_a_terminal_shows_every_metric() -> None:
    given = json.loads((ROOT / "schemas" / "examples" / "sensitivity-report" / "valid" / "one-metric.json").read_text(encoding="utf-8"))
    given["results"] = [given["results"][0] | {"metric": f"metric_{n}"} for n in range(20)]
    text = rendered(SensitivityReport.model_validate(given), "text", screen=Screen(200, False))
    assert all(f"metric_{n} " in text for n in range(20))


def test_a_wide_table_is_parted_by_columns_and_each_part_has_the_names() -> None:
    heads = ("name", *(f"column number {n}" for n in range(9)))
    table = Table(heads, [("first", *("0.123 [0.100, 0.200]" for _ in range(9)))])
    text = terminal.render(Document("A", "a", [Section("", [table])]), width=80)
    assert max(map(len, text.splitlines())) <= 80 and text.count("first") > 1
    assert all(f"column number {n}" in text for n in range(9))


def test_a_table_that_does_not_fit_has_its_notes_below_before_it_is_parted() -> None:
    cells = [Cell("0.123 [0.100, 0.200]", "96/100, 4 n/a")] * 2
    table = Table(("metric", "the first system", "the second system"), [("m", *cells)])
    wide, narrow = (terminal.render(Document("A", "a", [Section("", [table])]), width=width) for width in (90, 60))
    assert "0.123 [0.100, 0.200] (96/100, 4 n/a)  0.123" in wide and "the first system" in wide
    assert narrow.count("metric") == 1 and "(96/100" not in narrow and "96/100, 4 n/a" in narrow and "the second\n" in narrow


def test_a_folded_section_is_folded_in_markdown_alone() -> None:
    doc = Document("A", "a", [Section("More", [Text("One."), Text("Two.")], hint="How.", folded=True)])
    assert "<details><summary>More</summary>\n\nHow.\n\nOne.\n\nTwo.\n\n</details>" in markdown.render(doc)
    assert "More\nOne.\nTwo." in terminal.render(doc)


def test_each_block_stands_in_each_form_that_it_names() -> None:
    blocks = [
        Text("A hint.", style="hint"), Items([Cell("an item", user=True)], title="Items:"), Cards([Card("Figure", "0.5", "what it is")]),
        Table(("t", ""), [("cell", Cell("", range=(0.5, 0.4, 0.6)))], title="Table"), Code("RETURN 1", title="A statement"),
        Details("Folded", [Text("inside")], forms="long"), Figure("<svg></svg>", "A picture"), Text("on the page", forms="page"),
    ]
    lead = ["The outcome.", "More."]
    doc = Document("A", "a", [Section("All", blocks)], lead=lead, notes=["a note"], foot=["how to read it"], more="add -o")
    text, md = terminal.render(doc), markdown.render(doc)
    for word in ("The outcome.", "More.", "A hint.", "an item", "Figure", "cell", "RETURN 1", "a note", "how to read it"):
        assert word in text and word in md, word
    assert "what it is" in md and "what it is" not in text, "a terminal shows figures side by side"
    assert "add -o" in text and "inside" in md and "inside" not in text
    assert "on the page" not in text + md and "| t |\n" in md, "a column of drawings stands in HTML alone"


def test_markdown_is_cut_for_a_comment_but_never_where_it_holds_code() -> None:
    long = [Section(f"Part {n}", [Text("word " * 150)]) for n in range(100)]
    assert len(markdown.render(Document("A", "a", long))) <= 60_000
    whole = markdown.render(Document("A", "a", [*long, Section("Cypher", [Code("RETURN 1")])]))
    assert "RETURN 1" in whole and "Part 99" in whole and "More stands in" not in whole


def test_a_line_of_many_names_keeps_its_end_where_the_names_are_cut_by_themselves() -> None:
    line = "; ".join(f"name {n}" for n in range(200)) + "; 7 more"
    doc = Document("A", "a", [Section("", [Items([line], longest=10_000)])])
    assert "; 7 more" in " ".join(terminal.render(doc).split()) and "; 7 more" in markdown.render(doc)
    cut = Document("A", "a", [Section("", [Items([line])])])
    assert "characters)" in terminal.render(cut) and "characters)" in markdown.render(cut)


def test_the_names_of_a_group_stand_each_by_itself() -> None:
    pair = Cell("", more=[Cell("Ada|B", user=True), Cell("", user=True)])
    rows = [(pair, "like names"), (Cell("", more=[Cell("x", note="why"), Cell("y")]), Cell("Modularity", what="How dense."))]
    doc = Document("A", "a", [Section("S", [Table(("Where", "Why"), rows, words=frozenset({0, 1}))])])
    text, md = terminal.render(doc), markdown.render(doc)
    assert "Ada|B, (empty)" in text and "<code>Ada&#124;B</code>, `(empty)`" in md and "| x (why); y |" in md
