"""The rubric of [M]: five scores of 1 to 5, each from figures by stated bands; a dimension without a figure is not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgeval.overview.bands import DIMENSIONS, FACETS, NEEDS, PASS, Bands
from kgeval.records import Dimension, OverviewFigure, OverviewFinding, Rubric, RubricFigure, RubricScore, RunPlace

WORST = "worst_error_share"
LEAST = 10  # questions, entities ... under a figure that is to give a score: three of three right are no 5
_ROUND = 9
Figures = Mapping[str, OverviewFigure]


def rubrics_of(figures: Sequence[OverviewFigure], findings: Sequence[OverviewFinding]) -> list[Rubric]:
    """One rubric a system and place; without systems, one a place. Where there is nothing to score, none."""
    systems = list(dict.fromkeys((one.of, one.place) for one in figures if one.of is not None and _scored(one)))
    graphs = list(dict.fromkeys(one.place for one in figures if one.part == "graph" and one.of is None))
    graphs += [one.place for one in findings if one.place not in graphs]
    alone = [(None, place) for place in dict.fromkeys(graphs) if not any(_covers(place, other) for _, other in systems)]
    made = [_rubric(system, place, figures, findings) for system, place in [*systems, *alone]]
    return [one for one in made if one.measured]


def _scored(figure: OverviewFigure) -> bool:
    return any(figure.name in facet.names for dimension, facets in FACETS.items() if dimension != "graph" for facet in facets)


def _covers(graph: RunPlace, place: RunPlace) -> bool:
    """True where a report of `graph` speaks of the graph at `place`: every axis that it names is the same."""
    named = ("dataset", "variant", "share", "reader")
    return all(getattr(graph, axis) is None or getattr(graph, axis) == getattr(place, axis) for axis in named)


def _rubric(
    system: str | None, place: RunPlace, figures: Sequence[OverviewFigure], findings: Sequence[OverviewFinding],
) -> Rubric:
    own = {one.name: one for one in reversed(figures) if one.of == system and one.place == place and one.of is not None}
    graph = {one.name: one for one in reversed(figures) if one.part == "graph" and one.of is None and _covers(one.place, place)}
    worst = _worst([one for one in findings if _covers(one.place, place)])
    if worst is not None:
        graph[WORST] = worst
    scores = [_dimension(dimension, graph if dimension == "graph" else own) for dimension in DIMENSIONS]
    values = [one.score for one in scores if one.score is not None]
    mean = sum(values) / len(values) if values else None
    return Rubric(system=system, place=place, scores=scores, measured=len(values), mean=mean, passed=_passed(values))


def _passed(scores: Sequence[float]) -> bool | None:
    """The mean against PASS. What is not measured may be anything from 1 to 5: where that could turn the verdict, there is none."""
    open_ends = len(DIMENSIONS) - len(scores)
    low, high = ((sum(scores) + open_ends * end) / len(DIMENSIONS) for end in (1, 5))
    if round(low, _ROUND) >= PASS:
        return True
    return False if round(high, _ROUND) < PASS else None


def _dimension(dimension: Dimension, figures: Figures) -> RubricScore:
    found, few = [], list[OverviewFigure]()
    for facet in FACETS[dimension]:
        one = next((figures[name] for name in facet.names if name in figures and figures[name].value is not None), None)
        if one is not None and not one.exact and one.n_scored is not None and one.n_scored < LEAST:
            few.append(one)
        elif one is not None:
            found.append(_figure(one, facet.bands))
    if not found and few:
        said = ", ".join(f"{one.title}: {one.n_scored}" for one in few)
        return RubricScore(dimension=dimension, reason=f"not measured: too few for a score ({LEAST} needed; {said})")
    if not found:
        return RubricScore(dimension=dimension, reason=f"not measured: needs {NEEDS[dimension]}")
    return RubricScore(dimension=dimension, score=sum(one.score for one in found) / len(found), figures=found)


def _figure(one: OverviewFigure, bands: Bands) -> RubricFigure:
    value = one.value or 0.0
    ends = sorted(bands.score(end) for end in (one.low, one.high) if end is not None)
    return RubricFigure(
        figure=one.name, title=one.title, value=value, low=one.low, high=one.high, n=one.n_scored, score=bands.score(value),
        score_low=ends[0] if ends else None, score_high=ends[-1] if ends else None, bands=bands.words, bands_by=bands.by,
    )


def _worst(findings: Sequence[OverviewFinding]) -> OverviewFigure | None:
    """The largest share of hits of any check of severity error; 0 where all of them pass. Checks of gold and samples have figures of
    their own."""
    errors = [
        one for one in findings
        if one.severity == "error" and one.group not in ("accuracy", "completeness") and one.status in ("passed", "failed")
    ]
    if not errors:
        return None
    worst = max(errors, key=lambda one: (one.share or 0.0) if one.status == "failed" else 0.0)
    failed = worst.status == "failed"
    title = f"Worst failed check of severity error: {worst.title}" if failed else "Checks of severity error: none failed"
    return OverviewFigure(
        part="graph", name=WORST, title=title, value=(worst.share or 0.0) if failed else 0.0, n=worst.total, n_scored=worst.total,
        better="lower", exact=True, source=worst.source,
    )
