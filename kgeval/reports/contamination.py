"""What the closed book knows, and what that does to the scores, on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgeval.records import ContaminationReport, Gain, KnownSide, Mean, ProbeResult
from kgeval.reports.console import notes, screen, table, text_of, title, where
from kgeval.reports.display import has_width, interval, number, plural, points, share, visible
from kgeval.reports.markdown import code, escape, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.measures import causes
from kgeval.reports.usage import usage_line

_SHOWN = 12
_SIDES = {True: "known", False: "unknown", None: ""}
_MEANING = (
    "without: without the questions that the closed book answers. gain: retrieval minus closed book on the same questions, * where its "
    "interval leaves out 0. Intervals: 95 %, Wilson's for shares, BCa's for other means; n: questions with a value."
)


@dataclass(frozen=True)
class Block:
    """A heading and its table; the first `names` cells of a row are the user's texts."""

    heading: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int = 1


def terminal(report: ContaminationReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()) -> str:
    """The result as text. `written`: the report files that exist now."""
    console, out = screen(width=width, colour=colour)
    for line in head(report):
        console.print(line, overflow="fold")
    for block in blocks(report):
        title(console, block.heading)
        made = table(*block.heads)
        for row in block.rows[:_SHOWN]:
            made.add_row(*(visible(cell, longest=40) if at < block.names else cell for at, cell in enumerate(row)))
        console.print(made)
        if len(block.rows) > _SHOWN:
            console.print(f"and {number(len(block.rows) - _SHOWN)} more", style="dim")
    console.print()
    notes(console, report.notes)
    console.print(_MEANING, style="dim", overflow="fold")
    if report.run.model_use:
        console.print(usage_line(report.run), style="dim", overflow="fold")
    where(console, written, "All rows and the ids of the marked questions: add -o report.json, --marked ids.txt")
    return text_of(out)


def markdown(report: ContaminationReport) -> str:
    """The result in Markdown."""
    parts = ["# Contamination", "\n".join(f"- {prose(line)}" for line in head(report))]
    for block in blocks(report):
        rows = [tuple(_cell(cell, name=at < block.names) for at, cell in enumerate(row)) for row in block.rows]
        parts += [f"## {block.heading.capitalize()}", rows_of((_cell(name, name=False) for name in block.heads), rows)]
    parts += [_MEANING, "\n".join(f"- {prose(note)}" for note in report.notes)]
    return "\n\n".join(parts) + "\n"


def _cell(text: str, *, name: bool) -> str:
    """A cell of a Markdown table; `name`: a user's text."""
    return code(text) if name and text else escape(text) if text else ""


def head(report: ContaminationReport) -> list[str]:
    """What was compared, and the main figure."""
    by = "a judge" if report.how == "judge" else "words"
    lines = [
        f"{plural(report.n, 'question')}, {number(report.negative)} of them without an answer in the texts (negative, out of context); "
        "closed book: "
        f"{visible(report.closed_book, longest=60)}; right is {report.metric} from {report.right_from:g} on; refusals told by {by}",
        f"closed-book {report.metric}: {cells_text(report.accuracy)}",
        f"answered without any text: {plural(len(report.marked), 'question')} (marked); attempted: {cells_text(report.attempted)}",
    ]
    return lines if report.complete else ["Not complete: the run was stopped; what is missing is unscored.", *lines]


def blocks(report: ContaminationReport) -> Iterator[Block]:
    """The tables that have rows."""
    gains = {(one.system, one.metric): one for one in report.gains}
    without = {(one.system, one.metric): one for one in report.gains_without}
    scores = [
        (one.system, one.metric, _share(one.overall), _share(one.without), number(one.overall.n_scored), number(one.without.n_scored),
         gain_text(gains.get((one.system, one.metric))), gain_text(without.get((one.system, one.metric)))) for one in report.scores
    ]
    found = (
        Block("CLOSED BOOK BY LEVEL AND KIND", ("", *_MEAN), [
            (f"{one.by} {one.value}", *mean_cells(one.accuracy)) for one in report.groups
        ]),
        Block("SCORES WITH AND WITHOUT WHAT THE CLOSED BOOK ANSWERS", _SCORES, scores, names=2),
        Block("BY DOCUMENT", _documents_heads(report), list(_documents(report))),
        Block("DOCUMENTS THAT THE MODEL MAY KNOW, AND OTHERS", _KNOWN, list(_known(report))),
        Block("ANSWERS TO QUESTIONS THAT THE TEXTS DO NOT ANSWER", ("SYSTEM", "false", *_MEAN[1:]), [
            (one.system, *mean_cells(one.mean)) for one in report.false_answers
        ]),
        Block("SUMMARIES BY TITLE ALONE", ("DOCUMENT", "recognised", "claims", "supported", ""), list(map(_probe, report.probe))),
    )
    yield from (block for block in found if block.rows)


_MEAN = ("mean", "95 %", "n", "failed")
_SCORES = ("SYSTEM", "metric", "all", "without", "n", "n", "gain", "gain without")
_KNOWN = ("", "documents", "mean", "marked", "95 %", "n")


def mean_cells(mean: Mean) -> tuple[str, ...]:
    """A mean as cells: value, interval, n, failed."""
    failed = sum(mean.failures.values())
    return _share(mean), interval(mean.low, mean.high) or "-", number(mean.n_scored), number(failed)


def cells_text(mean: Mean) -> str:
    """A mean in words: `40 % (95 % 16.8 - 68.7 %), n 10; unscored: 2 timeout`."""
    between = interval(mean.low, mean.high)
    why = f"; unscored: {causes(mean.failures)}" if mean.failures else ""
    return f"{_share(mean)}{f' ({between})' if between else ''}, n {number(mean.n_scored)}{why}"


def gain_text(gain: Gain | None) -> str:
    """A gain: `+30.0 *`, in hundredths; `-` where there is none. Differences that are all the same have an interval without a width, which
    says nothing of other questions: no star."""
    if gain is None or gain.mean is None:
        return "-"
    low, high = gain.low, gain.high
    sure = low is not None and high is not None and has_width(low, high) and not low <= 0 <= high
    return f"{points(gain.mean)}{' *' if sure else ''}"


def _share(mean: Mean) -> str:
    return share(mean.mean)


def _documents_heads(report: ContaminationReport) -> tuple[str, ...]:
    systems = report.documents[0].gains if report.documents else []
    return ("DOCUMENT", "", *_MEAN[:3], "marked", *(f"gain of {visible(one.system, longest=30)}" for one in systems))


def _documents(report: ContaminationReport) -> Iterator[tuple[str, ...]]:
    for one in report.documents:
        told = " ".join(filter(None, [_SIDES[one.known], visible(one.published, longest=20) if one.published else ""]))
        yield one.document, told, *mean_cells(one.accuracy)[:3], number(one.marked), *map(gain_text, one.gains)


def _known(report: ContaminationReport) -> Iterator[tuple[str, ...]]:
    def cells(one: KnownSide) -> Iterable[str]:
        return _share(one.accuracy), share(one.marked_share), interval(one.low, one.high) or "-", number(one.accuracy.n_scored)

    for one in report.known:
        yield _SIDES[one.known], number(one.documents), *cells(one)
    if report.difference is not None and report.difference_low is not None and report.difference_high is not None:
        between = interval(report.difference_low, report.difference_high, points) or "-"
        yield "known minus unknown", "", "", points(report.difference), between, ""


def _probe(one: ProbeResult) -> tuple[str, ...]:
    known = {True: "yes", False: "no", None: "-"}[one.recognised]
    why = visible(one.reason, longest=80) if one.reason and one.status == "unscored" else ""
    return one.title, known, number(one.claims), share(one.supported), " ".join(filter(None, [_SIDES[one.known], why]))
