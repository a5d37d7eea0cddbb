"""What the closed book knows, and what that does to the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.format import beyond_chance, interval, number, plural, points, share, visible
from kgeval.records import ContaminationReport, Gain, Mean
from kgeval.reports.document import Cell, Document, Section, Table, columns
from kgeval.reports.measures import causes
from kgeval.reports.usage import usage
from kgeval.reports.views.parts import gate_tally, gates_section

NOT_COMPLETE = "Not complete: the run was stopped; what is missing is unscored."
_SIDES = {True: "known", False: "unknown", None: ""}
_MEAN = ("mean", "95 %", "n", "failed")
_MEANING = (
    "without: without the questions that the closed book answers. gain: retrieval minus closed book on the same questions, * where its "
    "interval leaves out 0. Intervals: 95 %, Wilson's for shares, BCa's for other means; n: questions with a value."
)


def document(report: ContaminationReport) -> Document:
    """The closed book by level and kind, scores without what it answers, documents, false answers, summaries by title."""
    return Document(
        "Contamination", "contamination", [gates_section(report.gates), *_sections(report)],
        about=plural(report.n, "question"), lead=lead(report),
        notes=report.notes, foot=[_MEANING, *usage(report.run)],
        tally=list(gate_tally(report.gates)),
        more="All rows and the ids of the marked questions: add -o report.json, --marked ids.txt",
    )


def lead(report: ContaminationReport) -> list[str]:
    """The main figures, and what was compared."""
    by = "a judge" if report.how == "judge" else "words"
    known = report.known_documents
    return [
        f"closed-book {report.metric}: {mean_text(report.accuracy)}",
        f"answered without any text: {plural(len(report.marked), 'question')} (marked); attempted: {mean_text(report.attempted)}",
        f"{plural(report.n, 'question')}, {number(report.negative)} of them without an answer in the texts (negative, out of context); "
        f"closed book: {visible(report.closed_book, longest=60)}; right is {report.metric} from {report.right_from:g} on; "
        f"refusals told by {by}",
        *([f"about documents that the model may know: {mean_text(known)}"] if known is not None else []),
        *([] if report.complete else [NOT_COMPLETE]),
    ]


def _sections(report: ContaminationReport) -> Iterator[Section]:
    gains, without = ({(gain.system, gain.metric): gain for gain in given} for given in (report.gains, report.gains_without))
    systems = [f"gain of {visible(gain.system, longest=30)}" for gain in report.documents[0].gains] if report.documents else []
    tables = {
        "Closed book by level and kind": Table(("", *_MEAN, ""), [
            (_name(f"{group.by} {group.value}"), *mean_cells(group.accuracy)) for group in report.groups
        ]),
        "Scores with and without what the closed book answers": columns(report.scores, {
            "system": lambda row: _name(row.system),
            "metric": lambda row: _name(row.metric),
            "all": lambda row: share(row.overall.mean),
            "without": lambda row: share(row.without.mean),
            "n": lambda row: number(row.overall.n_scored),
            "n without": lambda row: number(row.without.n_scored),
            "gain": lambda row: gain_text(gains.get((row.system, row.metric))),
            "gain without": lambda row: gain_text(without.get((row.system, row.metric))),
        }, words=frozenset({0, 1})),
        "By document": Table(("document", "", *_MEAN[:3], "marked", *systems), [
            (_name(row.document), _words(_SIDES[row.known], row.published), *mean_cells(row.accuracy)[:3], number(row.marked),
             *map(gain_text, row.gains)) for row in report.documents
        ], words=frozenset({0, 1})),
        "Documents that the model may know, and others": Table(("", "documents", "mean", "marked", "95 %", "n"), list(_known(report))),
        "Answers to questions that the texts do not answer": Table(("system", "false", *_MEAN[1:], ""), [
            (_name(row.system), *mean_cells(row.mean)) for row in report.false_answers
        ]),
        "Summaries by title alone": columns(report.probe, {
            "document": lambda row: _name(row.title),
            "recognised": lambda row: {True: "yes", False: "no", None: "-"}[row.recognised],
            "claims": lambda row: number(row.claims),
            "supported": lambda row: share(row.supported),
            "": lambda row: _words(_SIDES[row.known], row.reason if row.status == "unscored" else ""),
        }, words=frozenset({0, 1, 4})),
    }
    return (Section(title, [table]) for title, table in tables.items() if table.rows)


def _known(report: ContaminationReport) -> Iterator[Sequence[str]]:
    for side in report.known:
        shares = share(side.accuracy.mean), share(side.marked_share), interval(side.low, side.high) or "-"
        yield _SIDES[side.known], number(side.documents), *shares, number(side.accuracy.n_scored)
    if None not in (report.difference, report.difference_low, report.difference_high):
        ends = interval(report.difference_low, report.difference_high, points) or "-"
        yield "known minus unknown", "", "", points(report.difference), ends, ""


def _name(text: str) -> Cell:
    return Cell(text, user=True)


def _words(*parts: str | None) -> str:
    return " ".join(filter(None, parts))


def mean_cells(mean: Mean) -> tuple[str | Cell, ...]:
    """A mean as cells: value, interval, n, failed, and the interval drawn."""
    drawn = Cell("", range=(mean.mean, mean.low, mean.high)) if mean.mean is not None else ""
    return share(mean.mean), interval(mean.low, mean.high) or "-", number(mean.n_scored), number(sum(mean.failures.values())), drawn


def mean_text(mean: Mean) -> str:
    """A mean in words: `40 % (16.8 % to 68.7 %), n 10; unscored: timeout 2`."""
    between = interval(mean.low, mean.high)
    why = f"; unscored: {causes(mean.failures)}" if mean.failures else ""
    return f"{share(mean.mean)}{f' ({between})' if between else ''}, n {number(mean.n_scored)}{why}"


def gain_text(gain: Gain | None) -> str:
    """A gain in hundredths: `+30.0 *`; "-" for none."""
    return "-" if gain is None or gain.mean is None else points(gain.mean) + (" *" if beyond_chance(gain.low, gain.high) else "")
