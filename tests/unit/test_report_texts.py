"""Terminal, Markdown, JSON, files: the same findings, each in its own safe form."""

from __future__ import annotations

import json
import re
import stat
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from kgeval.auditing.rulebook import load_rules
from kgeval.cli.show import show_report
from kgeval.errors import UsageError
from kgeval.format import code, number, percent, visible
from kgeval.overview import priorities
from kgeval.overview.priorities import fix_first, verdict
from kgeval.records import AuditReport, Example, Finding, GraphRef, Layout, RunManifest, StructureSkip
from kgeval.reports import json_
from kgeval.reports.listing import listing
from kgeval.reports.redact import redacted
from kgeval.reports.render import markdown
from kgeval.reports.write import Screen, check_outputs, rendered, write_report

EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"
HOSTILE = (
    "a|b", "`c`", "<img src=x>", "**d**", "[e](http://e.example)", "@team", "#12", "www.e.example", "line\nbreak", "&lt;", "\\|",
    "$x$", "~~f~~", "[0.1, 0.2](http://e.example)", "[x]: http://e.example", "![i](http://e.example/i)", "`` <b>`` x", "_e_", "a_b_c",
    "> quote", "- item", "# head", "[x][y]", ":tada:",
)


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return AuditReport.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def finding(rule_id: str, severity: str, count: int | None = None, total: int = 100, **more: object) -> Finding:
    done = {"count": count, "total": total, "share": count / total, "status": "failed" if count else "passed"} if count is not None else {}
    return Finding.model_validate({"rule_id": rule_id, "group": "names", "severity": severity, "title": rule_id.title(), **done, **more})


def audit(*findings: Finding, **more: object) -> AuditReport:
    run = RunManifest(kgeval="0", command="kgeval audit", started="2025-01-01T00:00:00Z", seconds=1.0)
    return AuditReport.model_validate({"run": run, "layout": Layout(name="generic"), "findings": findings, **more})


def as_markdown(report: AuditReport) -> str:
    return rendered(report, "md")


def test_what_to_fix_first_is_ordered_by_severity_then_share_then_count() -> None:
    few, many = finding("few", "error", 1, 100), finding("many", "error", 9, 900)
    wide, note, fine = finding("wide", "warning", 90), finding("note", "info", 100), finding("fine", "error", 0)
    assert [f.rule_id for f in fix_first(audit(note, wide, fine, few, many))] == ["many", "few", "wide", "note"]


def test_the_verdict_counts_by_severity_and_names_what_could_not_run() -> None:
    skipped = finding("no-chunks", "error", status="skipped", reason="no chunks")
    stopped = finding("slow", "error", status="incomplete", reason="time")
    assert verdict(audit(finding("a", "error", 3), finding("b", "warning", 2), skipped, stopped)) == (
        "1 error can make answers wrong or facts unreachable. Also 1 warning, 1 check skipped, 1 check did not finish. "
        "Fix first: a (3), b (2)."
    )
    assert verdict(audit(finding("a", "error", 0), skipped)) == "Nothing to fix: 1 check passed. 1 check skipped."
    assert verdict(audit(skipped)) == "Nothing could be judged. 1 check skipped."
    assert "No checks were run" in verdict(audit())
    assert "no entities" in verdict(audit(finding("a", "error", 0), structure={"entities": 0}))


def test_a_group_counts_skipped_and_unfinished_checks_apart_from_passed_ones() -> None:
    states = [finding("s", "error", status="skipped"), finding("i", "error", status="incomplete"), finding("e", "info", status="error")]
    text = rendered(audit(finding("a", "info", 1), finding("b", "warning", 1), finding("c", "error", 0), *states), "md")
    assert re.search(r"\| \*?\*?1 warning\*?\*?, 1 info \| 1 \| 1 \(2 unfinished\) \|", text)


def test_the_terminal_summary_fits_a_screen_and_says_first_what_to_fix(report: AuditReport) -> None:
    for width, most in ((100, 48), (80, 58)):
        text = rendered(report, "text", screen=Screen(width, written=[Path("report.html")]))
        lines = text.splitlines()
        assert len(lines) <= most and max(map(len, lines)) <= width
        assert text.index("What to fix first") < text.index("Key figures") < text.index("Checks by group") < text.index("checks skipped:")
        assert "Duplicate names: 58 of 1,284 entities (4.5 %) can hide" in text and lines[-1] == "Report: report.html"
        assert re.search(r"Documents +not measured", text)


def test_the_terminal_gets_escape_codes_only_when_asked(report: AuditReport) -> None:
    named = report.model_copy(update={"graph": "\x1b[31mred [bold]x[/bold]"})
    assert "\x1b" not in rendered(named, "text")
    assert "[U+001B][31mred [bold]x[/bold]" in rendered(named, "text")
    assert "\x1b[1;31m1. error" in rendered(named, "text", screen=Screen(colour=True))


def test_an_empty_report_can_be_shown_everywhere(tmp_path: Path) -> None:
    assert "No checks were run" in rendered(audit(), "text")
    for name in ("r.html", "r.md", "r.json"):
        write_report(audit(), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100


def test_markdown_holds_the_findings_and_the_reasons(report: AuditReport) -> None:
    text = as_markdown(report)
    assert len(text) < 20_000 and text.count("## ") == 6
    for f in report.findings:
        assert f.status not in ("failed", "skipped") or f"`{f.rule_id}`" in text
    assert "| not measured | the graph holds no chunks" in text


def test_names_cannot_break_out_of_markdown() -> None:
    sample = [Example(items=[GraphRef(key=bad, name=bad)], why=bad) for bad in HOSTILE]
    for at in range(0, len(HOSTILE), 3):
        failed = finding("x", "error", 3, examples=sample[at : at + 3])
        text = as_markdown(audit(failed, finding("y", "info", status="skipped", reason=HOSTILE[at]), graph=HOSTILE[at]))
        row = next(line for line in text.splitlines() if line.startswith("| error"))
        assert row.count("|") == 5
        html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(text)
        assert set(re.findall(r"<(\w+)", html)) <= {
            "h1", "h2", "p", "strong", "ol", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td",
        }
        assert not re.search(r"(?i)www\.|https?://|@", re.sub(r"`\w[^`|]*`", "", text)), "no link or mention that a site would make live"


@pytest.mark.parametrize("bad", [*HOSTILE, "mailto:a@b.example", "a@b.example"])
def test_a_sentence_with_a_name_stays_a_sentence(bad: str) -> None:
    """In a paragraph, in a list, in a cell, after and before other words."""
    safe = markdown.escape(bad)
    text = f"{safe}\n\n- {safe}\n- a {safe} (b)\n\n| h | i |\n| --- | --- |\n| {safe} | {markdown.code(bad)} |\n"
    html = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).render(text)
    assert set(re.findall(r"<(\w+)", html)) <= {"p", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td"}
    assert "<code>" not in html.split("<table>")[0] and html.count("<td") == 2, "no mark-up, and two cells"
    assert unescape(re.findall(r"<td>(.*)</td>", html)[0]) == visible(bad), "nothing is lost"


@pytest.mark.parametrize("bad", ["東京@octocat", "é@octocat", "@octocat"])
def test_a_mention_after_a_letter_of_any_script_is_none(bad: str) -> None:
    assert "@" not in markdown.escape(bad) + markdown.code(bad) and markdown.prose(bad).startswith("<code>")


@pytest.mark.parametrize("text", [
    "token_f1", "0.712 [0.671, 0.752] n 5", "+0.200 [+0.100, +0.300]", "+50.0 *", "< 0.01 (> -0.01 to 0.01)", "> 0.999", "$0.0213", "R & D",
    "[95 % interval], and more", "token_f1@1:54e70d0b2524", "graph@hops=2: 3", "what (of the question): 3", "A - B",
])
def test_markdown_reads_well_as_text(text: str) -> None:
    assert markdown.escape(text) == text
    assert markdown.code("token_f1") == "`token_f1`"


def test_a_parameter_that_only_the_run_knows_is_named_and_long_sample_limits_are_raised() -> None:
    header = ("graph_name => 'g'  -- STRING: the projected graph", "sample => 5")
    query = "".join(f"// :param {line}\n" for line in header) + "MATCH (e) WHERE any(l IN labels(e) WHERE l IN $entity_labels) RETURN e"
    shown = listing(audit(), finding("x", "error", 7, query=query, parameters={"sample": 5, "word": "it's"}))
    assert shown is not None and shown.shares_layout and shown.missing == (("graph_name", "STRING: the projected graph"),)
    assert shown.params == ":param sample => 7\n:param word => 'it\\'s'"
    assert listing(audit(), finding("x", "error", 7)) is None


def test_json_reads_back_and_is_stable(report: AuditReport) -> None:
    text = json_.render(report)
    assert text.endswith("}\n") and AuditReport.model_validate_json(text) == report
    assert list(json.loads(text)) == sorted(json.loads(text))
    assert text == json_.render(AuditReport.model_validate_json(text)) == EXAMPLE.read_text(encoding="utf-8")
    assert json.loads(json_.render(audit(structure={"density": float("nan")})))["structure"] == {"density": None}


def test_a_figure_without_a_value_is_never_shown_as_zero() -> None:
    skipped = [StructureSkip(ids=["chunks"], reason="no chunks")]
    one = audit(structure={"modularity": float("nan"), "density": None}, structure_skipped=skipped)
    text = as_markdown(one)
    assert "| Chunks | not measured | no chunks |" in text and "| Modularity | not measured | no value |" in text


def test_redaction_is_the_same_for_the_same_text_and_differs_between_reports() -> None:
    def names(total: int) -> list[str]:
        pair = Example(items=[GraphRef(key="Ada", name="Ada", type="person"), GraphRef(key="Ada", name="Bob")], why="Ada")
        red = redacted(audit(finding("x", "error", 1, total, examples=[pair])))
        return [*(item.name for item in red.findings[0].examples[0].items), red.findings[0].examples[0].items[0].key]

    ada, bob, key = names(10)
    assert ada == key != bob and re.fullmatch("#[0-9a-f]{8}", ada)
    assert names(10) == [ada, bob, key] and names(11)[0] != ada


def test_redaction_hides_a_servers_message_but_keeps_the_vocabulary() -> None:
    broken = finding("x", "error", status="error", reason="could not read 'Ada'")
    kept = finding("y", "info", 1, examples=[Example(items=[GraphRef(key="person", name="person", kind="type")])])
    text = json_.render(redacted(audit(broken, kept)))
    assert "Ada" not in text and "person" in text


def test_files_are_written_by_their_ending_in_one_step(report: AuditReport, tmp_path: Path) -> None:
    target = tmp_path / "new" / "report.JSON"
    write_report(report, target)
    write_report(report, target)
    assert json.loads(target.read_text(encoding="utf-8"))["schema_version"] == "1"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600 and [p.name for p in target.parent.iterdir()] == ["report.JSON"]
    write_report(report, target, redact=True)
    assert "Jonas Okafor" not in target.read_text(encoding="utf-8")


def test_an_unknown_ending_names_the_known_ones_and_a_bad_place_says_so(report: AuditReport, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"r\.pdf: unknown ending '\.pdf'(.|\n)*\.html, \.json, \.md"):
        write_report(report, tmp_path / "r.pdf")
    with pytest.raises(UsageError, match=r"a\.x: .*b: "):
        check_outputs([Path("a.x"), Path("fine.md"), Path("b")])
    (tmp_path / "file").write_text("")
    overlong = tmp_path / f"{'x' * 300}.md"
    for bad, why in ((tmp_path / "file" / "r.json", "is no folder"), (tmp_path, "is a folder"), (overlong, "too long")):
        with pytest.raises(UsageError, match=why):
            check_outputs([bad])


def test_a_file_that_cannot_be_written_costs_neither_the_others_nor_the_result(
    report: AuditReport, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    options = {"form": "json", "redact": False, "quiet": False}
    with pytest.raises(UsageError, match="too long"):
        show_report(report, options, [tmp_path / f"{'x' * 300}.md", tmp_path / "good.json"])
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "good.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("share", "text"), [
    (0, "0 %"), (1.0, "100 %"), (0.0455, "4.5 %"), (0.9996, "99.96 %"), (0.0004, "0.04 %"), (1e-9, "< 0.01 %"), (None, ""),
    (1 - 1e-9, "> 99.99 %"),
])
def test_shares_are_never_rounded_to_none_or_all(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_hidden_characters_are_written_out_but_scripts_that_need_joiners_keep_them() -> None:
    assert visible("Ada\u200bB\u202e\x07") == "Ada[U+200B]B[U+202E][U+0007]"
    assert visible("می\u200cخواهم") == "می\u200cخواهم" and visible("a\u200cb") == "a[U+200C]b"
    assert visible("a\n b\t c") == "a b c" and visible("") == "(empty)" and visible(" ") == "(only blanks)"
    assert code("'\u202e'\n") == "'\\u202e'\n"
    assert [number(n) for n in (0, 1284, 3.45327, 0.00026, 12345.6)] == ["0", "1,284", "3.453", "0.00026", "12,346"]


def test_every_unit_that_a_check_counts_is_known_to_the_order_of_what_to_fix() -> None:
    """A new unit is put into the table, or here among those that are no things of the graph."""
    none = {
        "properties of entity types", "properties of entity and relation types",
        "properties that hold text", "joined pairs", "sources that are named",
        "types and relation labels",
        "indexes that readers rely on", "components of two or more entities", "nodes that say what their embedding was made from",
        "properties that are keys by their name or their values",
        "properties that hold numbers, dates, addresses or words as text", "texts of properties",
        "nodes with two values that can be swapped", "nodes with two texts that can be swapped",
        "values of which another one says what they are",
        "values that nearly all nodes of a label, or relations of a type, have",
        "pairs of numbers that keep a proportion",
        "totals that add up nearly everywhere",
        "documents", "documents that say how far they are", "documents with several chunks in order", "communities",
        "communities on levels with parents", "communities of two members or more, on levels with reports",
        "facts, preferences and steps of a kind that is linked",
        "properties that hold few different texts", "values of properties with known bounds",
        "pairs of values of which one comes before the other", "nodes of labels of which nearly each has one such relation",
        "nodes of labels with two relations that lead to two nodes", "relations of nodes that take part in one thing at a time",
        "relations whose ends share something by a rule", "numbers of properties that hold quantities",
    }
    known = {*priorities._THINGS, *priorities._TYPES}
    assert {rule.total_of for rule in load_rules().values()} - known <= none


def test_what_touches_more_of_the_graph_is_fixed_first() -> None:
    """A missing index (1 of 1), one spelling among 68 types, 18 duplicates, 348 isolated entities, 23 super-nodes; and one error."""
    def failing(rule: str, count: int, total: int, total_of: str, severity: str = "warning", **more: Any) -> Finding:
        told = {"rule_id": rule, "group": "types", "status": "failed", "severity": severity, "title": rule, "count": count, "total": total}
        return Finding.model_validate({**told, "total_of": total_of, "share": count / total, **more})

    spelling = [Example(items=[GraphRef(key="PERSON", name="PERSON", kind="type"), GraphRef(key="Person", name="Person", kind="type")])]
    made = audit(
        failing("index", 1, 1, "indexes that readers rely on"), failing("spelling", 1, 68, "types", examples=spelling),
        failing("duplicates", 18, 1_764, "entities with a name"), failing("isolated", 348, 1_764, "entities"),
        failing("super", 23, 1_764, "entities"), failing("dangling", 1, 34, "relations", "error"),
    )
    structure = {"entities": 1_764, "relations": 5_000, "entities_by_type": {"Person": 1_757, "PERSON": 7}}
    for report in (made.model_copy(update={"structure": structure}), made):
        order = [one.rule_id for one in priorities.failed(report)]
        assert order[:4] == ["dangling", "isolated", "super", "duplicates"] and "index" in order[4:]
    report = made.model_copy(update={"structure": structure})
    assert [one.rule_id for one in priorities.failed(report)][4:] == ["spelling", "index"]
    assert priorities.touches(report.findings[1], report) == ", 0.4 % of all entities"
    assert priorities.touches(report.findings[3], report) == "", "the finding says so itself"
    for form in ("text", "md", "html"):
        text = re.sub(r"\s+", " ", rendered(report, form))  # type: ignore[arg-type]
        assert "share of all entities, relations or chunks" in text, form
        assert form == "text" or "0.4 % of all entities" in text, "the terminal shows the first three alone"


def test_what_may_come_from_how_the_graph_was_loaded_says_so_and_does_not_lead() -> None:
    """Key-value stores carry no types: "same name and type", an error, led what to fix first of every graph loaded from them."""
    def failing(rule: str, severity: str, count: int) -> Finding:
        told = {"rule_id": rule, "group": "types", "status": "failed", "severity": severity, "title": rule, "count": count, "total": 3_675}
        return Finding.model_validate({**told, "total_of": "entities with a name", "share": count / 3_675})

    made = audit(failing("duplicate-name", "error", 92), failing("isolated-entity", "warning", 63), failing("self-loop", "info", 1))
    for types, order in (({"(none)": 3_675}, [1, 2, 0]), ({"(none)": 3_600, "Person": 75}, [0, 1, 2])):
        report = made.model_copy(update={"structure": {"entities": 3_675, "entities_by_type": types}})
        assert priorities.failed(report) == [made.findings[at] for at in order]
        for form in ("text", "md", "html"):
            text = re.sub(r"\s+", " ", rendered(report, form))  # type: ignore[arg-type]
            assert ("it may come from how the graph was loaded" in text) == (order[0] == 1), form
    assert "Fix first: isolated-entity" in verdict(made.model_copy(update={"structure": {"entities_by_type": {"(none)": 3}}}))


def test_accepted_hits_are_not_nothing_to_fix() -> None:
    """A ratchet or a waiver lets a graph pass; it does not make it sound."""
    known = Finding(
        rule_id="duplicate-name", group="duplicates", status="passed", severity="error", title="Duplicate names", count=4, total=9, known=4,
    )
    waived = Finding(
        rule_id="self-loop", group="relations", status="passed", severity="info", title="Self-loops", count=1, total=9, suppressed=1,
    )
    assert verdict(audit(known, waived)) == (
        "Nothing new to fix: 2 checks passed. Accepted, not fixed: 4 hits are known from the ratchet file and 1 hit is waived: "
        "duplicate names (error: 4), self-loops (info: 1)."
    )
    failing = verdict(audit(known.model_copy(update={"status": "failed"})))
    assert "known from the ratchet file: duplicate names (error: 4)." in failing
