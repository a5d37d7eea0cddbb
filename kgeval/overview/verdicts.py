"""The verdict of the whole: what decides first, in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from kgeval.format import joined, number, plural, visible
from kgeval.overview.findings import at_or_above
from kgeval.overview.kinds import TITLES
from kgeval.overview.rubric import DIMENSIONS, PASS
from kgeval.overview.wording import place_of
from kgeval.records import OverviewDiff, OverviewReport, Rubric

ORDER = ("comparison", "scores", "completeness", "accuracy", "audit", "contamination", "matrix")
MOST = 4  # of one kind


def verdict(report: OverviewReport) -> list[str]:
    """The outcome: what makes it void, what is missing, gates, the change against the baseline, each source's own verdict, the rubric."""
    lines = [*_judge(report.diff), *_incomplete(report), _gates(report), _change(report.diff), *_own(report), *_rubric(report.rubrics)]
    return [line for line in lines if line] or ["No report says anything that a decision could rest on."]


def _judge(diff: OverviewDiff | None) -> Iterator[str]:
    for judge in diff.judge if diff else ():
        if judge.moved:
            yield f"The judge is not the one of the baseline ({judge.why}): judged figures of the two runs cannot be compared."


def _incomplete(report: OverviewReport) -> Iterator[str]:
    open_ends = [stage for stage in report.stages if not stage.ended]
    if open_ends:
        told = joined([f"{visible(finding.id, longest=60)} ({finding.state.replace('_', ' ')})" for finding in open_ends], 5)
        yield f"Not all of the run is here: {told}."
    for source in report.sources:
        if not source.complete:
            where, why = place_of(source.place), visible(source.reason or "", longest=300)
            yield f"{TITLES[source.kind]}{f' ({visible(where)})' if where else ''} is not complete: {why}."


def _gates(report: OverviewReport) -> str:
    parts = []
    if report.gates:
        counts = Counter(gate.met for gate in report.gates)
        words = ((True, "met"), (False, "missed"), (None, "not answered"))
        parts.append("Gates: " + ", ".join(f"{number(counts[met])} {word}" for met, word in words if counts[met]) + ".")
    if report.fail_on is not None:
        hits = len(at_or_above(report.findings, report.fail_on))
        parts.append(f"{plural(hits, 'failed check')} of severity {report.fail_on} or worse.")
    return " ".join(parts)


def _change(diff: OverviewDiff | None) -> str:
    if diff is None:
        return ""
    counts = Counter(change.verdict for change in diff.changes)
    judged = counts["better"] + counts["worse"] + counts["noise"] + counts["same"]
    tail = "; beyond noise one figure in 20 seems to move by chance alone" if counts["better"] + counts["worse"] else ""
    found = f"{number(counts['better'])} better, {number(counts['worse'])} worse, {number(counts['noise'])} within noise"
    return f"Against the baseline, of {plural(judged, 'figure')} that can be compared: {found}, {number(counts['same'])} the same{tail}."


def _own(report: OverviewReport) -> Iterator[str]:
    """Each source's first sentences."""
    several = len({source.place for source in report.sources}) > 1
    for kind in ORDER:
        rows = [source for source in report.sources if source.kind == kind]
        for row in rows[:MOST]:
            where = f"{visible(place_of(row.place))}: " if several and place_of(row.place) else ""
            yield from (where + line for line in row.says[:1 if len(rows) > 1 else 2])
        if len(rows) > MOST:
            yield f"{plural(len(rows) - MOST, 'report')} more of this kind ({TITLES[kind].lower()}): see below."  # type: ignore[index]


def _rubric(rubrics: Sequence[Rubric]) -> Iterable[str]:
    for rubric in rubrics[:MOST]:
        whose = visible(place_of(rubric.place, rubric.system) or "the graph", longest=120)
        if rubric.mean is None:
            continue
        of = f"mean {rubric.mean:.1f} of 5 over {number(rubric.measured)} of {len(DIMENSIONS)} dimensions"
        outcome = {True: f"passes ({PASS:g} needed)", False: f"does not pass ({PASS:g} needed)"}.get(
            rubric.passed, "open: what is not measured could turn it",  # type: ignore[arg-type]
        )
        yield f"Rubric, {whose}: {of}; {outcome}."
    if len(rubrics) > MOST:
        yield f"{plural(len(rubrics) - MOST, 'rubric')} more below."
