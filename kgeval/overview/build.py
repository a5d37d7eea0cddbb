"""All reports of a run -> the one report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kgeval.overview import verdicts
from kgeval.overview.costs import costs_of
from kgeval.overview.diff import changes_of, diff_of
from kgeval.overview.figures import figures_of
from kgeval.overview.findings import findings_of
from kgeval.overview.gates import fail_on_gate, gates_of, thresholds_on
from kgeval.overview.kinds import TITLES
from kgeval.overview.recommendations import priorities_of
from kgeval.overview.rubric import DIMENSIONS, NEEDS, rubrics_of
from kgeval.overview.sources import Source, Sources
from kgeval.records import (
    OverviewFigure,
    OverviewFinding,
    OverviewGate,
    OverviewReport,
    OverviewSource,
    OverviewStage,
    Rubric,
    RunManifest,
    Severity,
)
from kgeval.stats.thresholds import Threshold

BASIC = ("audit", "completeness", "accuracy", "scores", "contamination", "comparison")


@dataclass(frozen=True)
class Demands:
    """What is asked of the report beside its sources. `fail_on`: failed checks of this severity or a worse one are a missed gate;
    `fail_on_worse`: so is a figure that is worse than the baseline's beyond noise."""

    title: str | None = None
    fail_on: Severity | None = None
    thresholds: Sequence[Threshold] = ()
    fail_on_worse: bool = False


def overview(
    found: Sources, run: RunManifest, demands: Demands, summary_of: Callable[[Source], OverviewSource], *, baseline: Sources | None = None,
) -> OverviewReport:
    """The report over all sources, against a baseline where there is one. `summary_of`: a source with its verdict in its own words."""
    sources = [summary_of(source) for source in found.reports]
    figures = [figure for source in found.reports for figure in figures_of(source)]
    findings = findings_of(found.reports)
    stages = _stages(found)
    rubrics = rubrics_of(figures, findings)
    gates = [*gates_of(found.reports), *thresholds_on(figures, demands.thresholds)]
    if demands.fail_on is not None:
        gates.append(fail_on_gate(findings, demands.fail_on))
    changes = changes_of(figures, _figures(baseline)) if baseline is not None else []
    if demands.fail_on_worse:
        worse = sum(change.verdict == "worse" for change in changes)
        compared = any(change.verdict not in ("new", "gone", "not_comparable", "few") for change in changes)
        met = not worse if compared else None  # of nothing that can be compared, nobody can say that it is no worse
        gates.append(OverviewGate(name="figures worse than the baseline", limit="<= 0", value=worse, met=met))
    diff = diff_of(found, baseline, changes, (findings, _findings(baseline))) if baseline is not None else None
    report = OverviewReport(
        run=run, title=demands.title, complete=all(source.complete for source in sources) and all(stage.ended for stage in stages),
        sources=sources, stages=stages, rubrics=rubrics, figures=figures, findings=findings, gates=gates,
        fail_on=demands.fail_on, diff=diff, cost=costs_of(found.reports), not_measured=list(_missing(sources, rubrics)),
        notes=found.notes,
    )
    return report.model_copy(update={"priorities": priorities_of(report, found.reports), "verdict": verdicts.verdict(report)})


def _figures(baseline: Sources) -> list[OverviewFigure]:
    """The baseline's figures; those of an earlier report of this kind where its sources are not there."""
    own = [figure for source in baseline.reports for figure in figures_of(source)]
    return own or [figure for _, report in baseline.whole for figure in report.figures]


def _findings(baseline: Sources) -> list[OverviewFinding]:
    own = findings_of(baseline.reports)
    return own if baseline.reports else [finding for _, report in baseline.whole for finding in report.findings]


def _stages(found: Sources) -> list[OverviewStage]:
    """Stages of the run that did not come to their end; `report` is this one. Then those whose files were changed since."""
    rows = [
        OverviewStage(id=stage.id, kind=stage.kind, place=stage.place, state=stage.state, reason=stage.reason)
        for stage in found.stages if not stage.ended and stage.kind != "report"
    ]
    # such a file is read all the same, and its reader must know
    changed = {stage.id: stage for stage in found.stages if stage.id in found.changed and stage.ended}
    why = "its file is not as the stage left it"
    return [*rows, *(OverviewStage(id=one.id, kind=one.kind, place=one.place, state=one.state, reason=why) for one in changed.values())]


def _missing(sources: Iterable[OverviewSource], rubrics: Sequence[Rubric]) -> Iterable[str]:
    """What no source speaks of."""
    there = {source.kind for source in sources}
    for kind in BASIC:
        if kind not in there:
            yield f"{TITLES[kind]}: no report of it here"  # type: ignore[index]
    for dimension, title in DIMENSIONS.items():
        if not any(score.score is not None for rubric in rubrics for score in rubric.scores if score.dimension == dimension):
            yield f"{title}: needs {NEEDS[dimension]}"
