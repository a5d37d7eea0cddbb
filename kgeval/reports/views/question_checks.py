"""Checks of question sets: one set, or two side by side with the differences."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.format import beyond_chance, interval, number, plural, points, share, visible
from kgeval.questions.checking.check_table import PASSES
from kgeval.records import CheckDifference, CheckedSet, CheckFigure, CheckReport
from kgeval.reports.document import Block, Cell, Details, Document, Items, Section, Table, Text
from kgeval.reports.measures import causes
from kgeval.reports.pictures import colours_of, path_figure
from kgeval.reports.usage import usage
from kgeval.reports.views.parts import drawn, gates_section, notes_list

_HEADS = ("check: what passes", "passed", "95 %", "of", "failed", "not applicable", "unscored", "")
_MEANING = (
    "passed: share of the questions that could be checked; not applicable: the check means nothing for them (no evidence, no right "
    "answer, a negative question); unscored: a call or query failed."
)
_EXAMPLES = 3  # of each check in the short form
_MOST = 100


def document(report: CheckReport) -> Document:
    """A table a set, the differences of two sets, questions that ask the same, examples of what failed."""
    sections = [gates_section(report.gates), *(Section(set_.file, list(_set(set_))) for set_ in report.sets)]
    if report.differences:
        first, second = (visible(set_.file, longest=40) for set_ in report.sets)
        rows = [(check_words(difference.check), *_difference(difference)) for difference in report.differences]
        sections.append(Section(f"{first} minus {second}", [Table(("check: what passes", "difference", "95 %", "of"), rows)]))
    if report.twins:
        sections.append(Section("Questions that ask the same", list(_twins(report))))
    for set_ in report.sets:
        if set_.examples:
            few = Items(list(_failed(set_, _EXAMPLES)), short=_MOST, forms="short")
            sections.append(Section(f"Failed in {visible(set_.file, longest=60)}", [few, Items(list(_failed(set_, _MOST)), forms="long")]))
        if set_.paths:
            sections.append(Section(f"Gold paths in {visible(set_.file, longest=60)}", list(_paths(set_)), forms="page"))
    return Document(
        "Checks of questions", "questions check", sections, about=plural(sum(set_.n for set_ in report.sets), "question"),
        lead=[] if report.complete else ["Not complete: the run was stopped; what is missing is unscored."], notes=report.notes,
        foot=[_MEANING, *usage(report.run)],
        more="By level, all pairs and more examples: add -o report.json; the questions with their checks: -o checked.jsonl",
    )


def _set(checked: CheckedSet) -> Iterator[Block]:
    yield Text(
        f"{plural(checked.n, 'question')}: {number(checked.references)} with a right answer, {number(checked.evidence)} with evidence, "
        f"{number(checked.negative)} negative", style="hint",
    )
    yield Table(_HEADS, [_row(figure) for figure in checked.figures])
    unscored = [f"{figure.check} unscored: {causes(figure.causes)}" for figure in checked.figures if figure.causes]
    yield Items([*unscored, *(
        f"{figure.check} {why} ({plural(n, 'question')})"
        for figure in checked.figures for why, n in figure.why_not.items() if why.startswith("not judged")
    )], short=_MOST)
    yield notes_list(checked.notes)


def check_words(check: str) -> str:
    """A check and what is true of a question that passes it: `leak: does not say its answer`."""
    return f"{check}: {PASSES[check]}" if check in PASSES else check


def _row(figure: CheckFigure) -> tuple[str | Cell, ...]:
    return (
        check_words(figure.check), share(figure.share), interval(figure.low, figure.high) or "-", number(figure.passed + figure.failed),
        number(figure.failed), number(figure.not_applicable), number(figure.unscored), drawn(figure),
    )


def _difference(difference: CheckDifference) -> tuple[str, str, str]:
    sure = " *" if beyond_chance(difference.low, difference.high) else ""
    between = interval(difference.low, difference.high, points) or "-"
    return f"{points(difference.difference)}{sure}", between, f"{number(difference.n_first)}, {number(difference.n_second)}"


def _paths(checked: CheckedSet) -> Iterator[Block]:
    """The first questions that have a gold path, each with a drawing of it."""
    first = plural(len(checked.paths), "question") if len(checked.paths) == 1 else f"first {plural(len(checked.paths), 'question')}"
    hint = f"The {first} with a gold path, those that failed a check before the others. Does the question ask for each step?"
    yield Text(hint, style="hint")
    colours = colours_of(question.path for question in checked.paths)
    for at, question in enumerate(checked.paths):
        answer = [Items([question.reference], title="The right answer:", longest=1500)] if question.reference else []
        yield Details(
            question.question or question.id,
            [*answer, path_figure(question.path, colours), Text(f"question {visible(question.id, longest=120)}", style="hint")],
            open=at < 3, tone="warning" if question.failed else "passed", chips=[f"failed: {check}" for check in question.failed],
        )


def _twins(report: CheckReport) -> Iterator[Block]:
    """How many pairs there are, within each file and across; the first of them."""
    parts = [f"{number(count)} within {visible(name, longest=60)}" for name, count in report.twins_within.items()]
    across = [f"{number(report.twins_across)} across the files"] if len(report.sets) > 1 else []
    how = "by their words only" if report.near is None else f"by their words, or a cosine of {report.near:g} and more"
    yield Text(f"{', '.join([*parts, *across])} ({how})", style="hint")
    several, pairs = len(report.sets) > 1, []
    for pair in report.twins[:_MOST]:
        one, other = ((f"{name}: " if several else "") + ident for name, ident in ((pair.file, pair.id), (pair.other_file, pair.other_id)))
        near = f", {pair.similarity:.2f}" if pair.similarity is not None else ""
        pairs.append(f"{visible(one, longest=80)} = {visible(other, longest=80)} ({pair.how}{near})")
    yield Items(pairs, short=10, long=_MOST)


def _failed(checked: CheckedSet, most: int) -> Iterator[str]:
    """Examples of each check, `most` of each."""
    for figure in checked.figures:
        for example in [example for example in checked.examples if example.check == figure.check][:most]:
            reason = f" [{visible(example.reason, longest=160)}]" if example.reason else ""
            yield f"{example.check}: {visible(example.id, longest=40)}: {visible(example.question, longest=160)}{reason}"
