"""Checks of question sets on a terminal and in Markdown: one set, or two side by side with the differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.records import CheckDifference, CheckedSet, CheckFigure, CheckReport
from kgeval.reports.console import notes, screen, table, text_of, title, where
from kgeval.reports.display import has_width, interval, number, percent, plural, points, visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.measures import causes
from kgeval.reports.usage import usage_line

if TYPE_CHECKING:
    from rich.console import Console

_HEADS = ("passed", "95 %", "of", "failed", "not applicable", "unscored")
_MEANING = (
    "passed: share of the questions that could be checked; not applicable: the check means nothing for them (no evidence, no right "
    "answer, a negative question); unscored: a call or query failed."
)
# what is true of a question that passes, so that a share of 100 % is good for each of them
PASSES = {
    "answerable": "by its evidence", "closed_book": "not known by heart", "unique": "by its path",
    "unique_wording": "by its words", "not_in_one_passage": "needs several", "leak": "does not say its answer",
    "duplicate": "asked once", "no_shortcut": "no shorter way", "absent": "not in the graph",
}
_EXAMPLES = 3
_TWINS = 10


def terminal(report: CheckReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The result as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    if not report.complete:
        console.print("Not complete: the run was stopped; what is missing is unscored.")
    for one in report.sets:
        _set(console, one)
    _differences(console, report)
    _twins(console, report)
    for one in report.sets:
        _examples(console, one)
    console.print()
    console.print(_MEANING, style="dim", overflow="fold")
    notes(console, report.notes)
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim", overflow="fold")
    where(console, written, "By level, all pairs and more examples: add -o report.json; the questions with their checks: -o checked.jsonl")
    return text_of(out)


def markdown(report: CheckReport) -> str:
    """The result in Markdown."""
    parts = ["# Checks of questions"] + ([] if report.complete else ["Not complete: the run was stopped; what is missing is unscored."])
    for one in report.sets:
        rows = [(check_cell(figure.check), *cells(figure)) for figure in one.figures]
        parts += [f"## {escape(one.file)}", prose(head(one)), rows_of(("Check: what passes", *_HEADS), rows)]
        parts += [f"- {prose(line)}" for line in failures(one)]
    if report.differences:
        first, second = (one.file for one in report.sets)
        rows = [(check_cell(one.check), *_difference(one)) for one in report.differences]
        parts += [f"## {escape(first)} minus {escape(second)}", rows_of(("Check: what passes", "difference", "95 %", "of"), rows)]
    if pairs := list(twin_lines(report)):
        parts += ["## Questions that ask the same", prose(twins_head(report)), *(f"- {prose(line)}" for line in pairs)]
    for one in report.sets:
        if one.examples:
            parts += [f"## Failed in {escape(one.file)}", *(f"- {prose(line)}" for line in _failed(one, most=len(one.examples)))]
    parts += [_MEANING, *(f"- {prose(note)}" for note in report.notes)]
    return "\n\n".join(parts) + "\n"


def head(one: CheckedSet) -> str:
    """What a set has: `12 questions: 10 with a right answer, 9 with evidence, 2 negative`."""
    return (
        f"{plural(one.n, 'question')}: {number(one.references)} with a right answer, {number(one.evidence)} with evidence, "
        f"{number(one.negative)} negative"
    )


def check_words(check: str) -> str:
    """A check and what is true of a question that passes it: `leak: does not say its answer`."""
    return f"{check}: {PASSES[check]}" if check in PASSES else check


def check_cell(check: str) -> str:
    """The same in Markdown."""
    return f"{code(check)}: {PASSES[check]}" if check in PASSES else code(check)


def cells(figure: CheckFigure) -> tuple[str, ...]:
    """A figure as a row: share, interval, n, counts."""
    share = "-" if figure.share is None else percent(figure.share)
    return (
        share, interval(figure.low, figure.high) or "-", number(figure.passed + figure.failed), number(figure.failed),
        number(figure.not_applicable), number(figure.unscored),
    )


def failures(one: CheckedSet) -> Iterator[str]:
    """Why something is unscored or was not judged, a line a check."""
    for figure in one.figures:
        if figure.causes:
            yield f"{figure.check} unscored: {causes(figure.causes)}"
        yield from (f"{figure.check} {why} ({plural(n, 'question')})" for why, n in figure.why_not.items() if why.startswith("not judged"))


def twins_head(report: CheckReport) -> str:
    """How many pairs there are, within each file and across."""
    parts = [f"{number(count)} within {visible(name, longest=60)}" for name, count in report.twins_within.items()]
    across = [f"{number(report.twins_across)} across the files"] if len(report.sets) > 1 else []
    how = "by their words only" if report.near is None else f"by their words, or a cosine of {report.near:g} and more"
    return f"{', '.join([*parts, *across])} ({how})"


def twin_lines(report: CheckReport, most: int = 100) -> Iterator[str]:
    """The first pairs, a line each."""
    several = len(report.sets) > 1
    for pair in report.twins[:most]:
        one, other = ((f"{name}: " if several else "") + ident for name, ident in ((pair.file, pair.id), (pair.other_file, pair.other_id)))
        near = f", {pair.similarity:.2f}" if pair.similarity is not None else ""
        yield f"{visible(one, longest=80)} = {visible(other, longest=80)} ({pair.how}{near})"


def _set(console: Console, one: CheckedSet) -> None:
    title(console, visible(one.file, longest=80))
    console.print(head(one), style="dim")
    made = table("CHECK: what passes", *_HEADS)
    for figure in one.figures:
        made.add_row(check_words(figure.check), *cells(figure))
    console.print(made)
    for line in failures(one):
        console.print(line, overflow="fold")


def _differences(console: Console, report: CheckReport) -> None:
    if report.differences:
        first, second = (visible(one.file, longest=40) for one in report.sets)
        title(console, f"{first} minus {second}")
        made = table("CHECK: what passes", "difference", "95 %", "of")
        for one in report.differences:
            made.add_row(check_words(one.check), *_difference(one))
        console.print(made)


def _difference(one: CheckDifference) -> tuple[str, str, str]:
    sure = " *" if has_width(one.low, one.high) and not one.low <= 0 <= one.high else ""
    return f"{points(one.difference)}{sure}", interval(one.low, one.high, points) or "-", f"{number(one.n_first)}, {number(one.n_second)}"


def _twins(console: Console, report: CheckReport) -> None:
    if report.twins:
        title(console, "Questions that ask the same")
        console.print(twins_head(report), style="dim", overflow="fold")
        for line in twin_lines(report, _TWINS):
            console.print(line, overflow="fold")


def _examples(console: Console, one: CheckedSet) -> None:
    if one.examples:
        title(console, f"Failed in {visible(one.file, longest=60)}")
        for line in _failed(one, most=_EXAMPLES):
            console.print(line, overflow="fold")


def _failed(one: CheckedSet, *, most: int) -> Iterator[str]:
    """Examples of each check, `most` of each."""
    for figure in one.figures:
        for example in [example for example in one.examples if example.check == figure.check][:most]:
            reason = f" [{visible(example.reason, longest=160)}]" if example.reason else ""
            yield f"{example.check}: {visible(example.id, longest=40)}: {visible(example.question, longest=160)}{reason}"
