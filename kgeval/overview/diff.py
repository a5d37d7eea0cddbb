"""This run against a baseline: the judge first, then every figure, better or worse only beyond what chance does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from kgeval.format import percent
from kgeval.overview.sources import Source, Sources
from kgeval.records import (
    ChangeVerdict,
    ComparisonReport,
    Drift,
    JudgeMoved,
    OverviewChange,
    OverviewDiff,
    OverviewFigure,
    OverviewFinding,
    RunManifest,
    RunPlace,
)
from kgeval.rounding import is_equal, side
from kgeval.stats.intervals import Interval
from kgeval.stats.recovered import recovered

LEAST = 10  # questions on each side; with fewer, nothing is said
Key = tuple[str, str, str | None, RunPlace]


def changes_of(after: Sequence[OverviewFigure], before: Sequence[OverviewFigure]) -> list[OverviewChange]:
    """Every figure of both runs, in the order of this one; those that only the baseline has come last."""
    now, then = _by_key(after), _by_key(before)
    return [_change(now.get(key) or then[key], now.get(key), then.get(key)) for key in {**now, **then}]


def _by_key(figures: Iterable[OverviewFigure]) -> dict[Key, OverviewFigure]:
    by_key: dict[Key, OverviewFigure] = {}
    for figure in figures:
        of = PurePath(figure.of).name if figure.of and figure.part == "scope" else figure.of  # a file of questions, wherever it lies
        by_key.setdefault((figure.part, figure.name, of, figure.place), figure)
    return by_key


def _change(figure: OverviewFigure, now: OverviewFigure | None, then: OverviewFigure | None) -> OverviewChange:
    """`one`: the figure as this run has it, else as the baseline has it."""
    change = OverviewChange(
        part=figure.part, name=figure.name, title=figure.title, of=figure.of, place=figure.place, unit=figure.unit, better=figure.better,
        before=then.value if then else None, n_before=then.n_scored if then else None,
        after=now.value if now else None, n_after=now.n_scored if now else None, verdict="new" if now else "gone",
    )
    if now is None or then is None:
        return change
    if now.value is None or then.value is None:
        return change.model_copy(update={"verdict": "not_comparable"})
    ends = _interval(now, then)
    span = {} if ends is None else {"low": ends.low, "high": ends.high}
    difference = 0.0 if is_equal(now.value, then.value) else now.value - then.value
    return change.model_copy(update={**span, "difference": difference, "verdict": _verdict(now, then, ends)})


def _verdict(now: OverviewFigure, then: OverviewFigure, ends: Interval | None) -> ChangeVerdict:
    if now.signature is not None and then.signature is not None and now.signature != then.signature:
        return "not_comparable"
    difference = (now.value or 0.0) - (then.value or 0.0)
    if is_equal(now.value or 0.0, then.value or 0.0):
        return "same"
    if not (now.exact and then.exact):
        if ends is None:  # a mean of a metric has none only where questions, or the documents that they are of, are too few
            return "changed" if now.signature is None else "few"
        if min(now.n_scored or 0, then.n_scored or 0) < LEAST:
            return "few"
        if not side(ends.low, ends.high):
            return "noise"
    if now.better is None:
        return "changed"
    return "better" if (difference > 0) == (now.better == "higher") else "worse"


def _interval(now: OverviewFigure, then: OverviewFigure) -> Interval | None:
    """Of the difference; null where a side has none. Of figures that were counted there is none either."""
    sides = [_ends(figure) for figure in (now, then)]
    if (now.exact and then.exact) or sides[0] is None or sides[1] is None:
        return None
    return recovered((now.value or 0.0, sides[0]), (then.value or 0.0, sides[1]))


def _ends(figure: OverviewFigure) -> Interval | None:
    """The figure's interval. One without width lacks what was not seen: 3 / n (the rule of three)."""
    if figure.low is None or figure.high is None or figure.value is None:
        return None
    if not is_equal(figure.low, figure.high):
        return Interval(min(figure.low, figure.value), max(figure.high, figure.value))
    # 20 of 20 right says nothing of the 21st: without this, every change of such a figure would be called certain
    unseen = 3 / figure.n_scored if figure.n_scored else 1.0
    return Interval(figure.value - unseen, figure.value + unseen)


def diff_of(
    now: Sources, then: Sources, changes: Sequence[OverviewChange], findings: tuple[Sequence[OverviewFinding], Sequence[OverviewFinding]],
) -> OverviewDiff:
    """The whole diff. `changes`: of the figures; `findings`: of this run and of the baseline."""
    after, before = (_failed(finding) for finding in findings)
    earlier = [report.run for _, report in then.whole]
    versions = sorted({source.record.run.kgeval for source in then.reports} | {run.kgeval for run in earlier})
    judged = {source.place: source.record for source in then.reports if isinstance(source.record, ComparisonReport)}
    judges = [
        _judge(source.record, judged[source.place]) for source in now.reports
        if isinstance(source.record, ComparisonReport) and source.place in judged
    ]
    return OverviewDiff(
        files=[str(then.names.get(path, path)) for path in then.files], kgeval=versions,
        judge=judges, changes=list(changes),
        findings_new=[title for key, title in after.items() if key not in before],
        findings_gone=[title for key, title in before.items() if key not in after], notes=list(_notes(now.reports, then.reports, versions)),
    )


def _failed(findings: Iterable[OverviewFinding]) -> dict[tuple[str, RunPlace], str]:
    return {
        (finding.rule_id, finding.place): f"{finding.title} ({finding.rule_id}, {finding.severity})"
        for finding in findings if finding.status == "failed"
    }


def _notes(now: Sequence[Source], then: Sequence[Source], versions: Sequence[str]) -> Iterable[str]:
    own = sorted({source.record.run.kgeval for source in now})
    if versions and own != list(versions):
        yield f"made by other versions of kgeval: {', '.join(versions)} then, {', '.join(own)} now; figures may be computed otherwise"
    for name, *_ in _others(now, then, lambda run: [(PurePath(file.path).name, file.sha256) for file in run.inputs]):
        if "question" in name or "gold" in name:
            yield f"another file is called {name} now: what rests on it is over other rows"
    for role, was, has in _others(now, then, lambda run: [(model.role, model.name) for model in run.models]):
        yield f"another {role}: {was} then, {has} now"


def _others(
    now: Iterable[Source], then: Iterable[Source], of: Callable[[RunManifest], Iterable[tuple[str, str]]],
) -> Iterator[tuple[str, str, str]]:
    """What the manifests of both runs name (`of`: name, value) and have other values of: name, then, now."""
    sides = []
    for sources in (then, now):
        values: dict[str, set[str]] = {}
        for source in sources:
            for name, value in of(source.record.run):
                values.setdefault(name, set()).add(value)
        sides.append(values)
    was, has = sides
    for name in sorted(was.keys() & has.keys()):
        if was[name] != has[name]:
            yield name, ", ".join(sorted(was[name])), ", ".join(sorted(has[name]))


def _judge(now: ComparisonReport, then: ComparisonReport) -> JudgeMoved:
    """Whether the judge of a comparison is as he was in the baseline's comparison at the same place."""
    names = [sorted(model.name for model in report.run.models if model.role == "judge") for report in (then, now)]
    if names[0] != names[1]:
        was, has = (", ".join(side) or "none named" for side in names)
        return JudgeMoved(moved=True, why=f"another judge: {was} then, {has} now")
    if now.run.prompt_hashes != then.run.prompt_hashes:
        return JudgeMoved(moved=True, why="the judge's prompts are other ones")
    if now.drift is None or then.drift is None:
        return JudgeMoved(why="not known: anchors were not judged in both runs (kgeval compare --anchors FILE)")
    return _drifted(now.drift, then.drift)


def _drifted(now: Drift, then: Drift) -> JudgeMoved:
    """By what both runs say of the same anchors: pairs with another text now are left out."""
    from kgeval.comparison.drift import dealt_again, has_moved, majority

    both = [
        anchor for anchor in now.outcomes
        if anchor in then.outcomes and now.marks.get(anchor) == then.marks.get(anchor, now.marks.get(anchor))
    ]
    told: dict[str, Any] = {"agreement_before": then.agreement.value, "agreement_after": now.agreement.value, "compared": len(both)}
    if not both:
        return JudgeMoved(why="not known: no anchor was judged in both runs", **told)
    changed = sum(majority(now.outcomes[anchor]) != majority(then.outcomes[anchor]) for anchor in both) / len(both)
    p = dealt_again([(then.outcomes[anchor], now.outcomes[anchor]) for anchor in both], 0)
    moved = has_moved(None, p, changed)
    tail = "" if p is None else f" (permutation p {p:.3g})"
    once = "; each was asked once: chance and change cannot be told apart" if moved is None else ""
    return JudgeMoved(moved=moved, why=f"another verdict on {percent(changed)} of {len(both)} anchors{tail}{once}", **told)
