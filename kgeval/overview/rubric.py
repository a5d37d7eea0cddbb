"""The rubric of [M]: five scores of 1 to 5, each from figures by stated bands; a dimension without a figure is not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgeval.records import Dimension, OverviewFigure, OverviewFinding, Rubric, RubricFigure, RubricScore, RunPlace
from kgeval.rounding import at_least, at_most

METHOD = "the methodology page [M]: below 70 % critical, 70 to 85 % acceptable, above 85 % strong; 50 % and 95 % are kgeval's"
OURS = "kgeval's own"
PASS = 3.0  # of the guide that [M] belongs to: the mean of the five scores that passes
DIMENSIONS: dict[Dimension, str] = {
    "graph": "Graph: completeness and quality", "retrieval": "Retrieval", "answers": "Answers: correctness",
    "grounding": "Grounding: no hallucination", "reasoning": "Reasoning depth",
}


@dataclass(frozen=True)
class Bands:
    """Four limits between the scores 1 to 5, from the worst to the best. `lower`: a smaller value is better (the limits fall)."""

    limits: tuple[float, float, float, float]
    by: str = OURS
    lower: bool = False

    def score(self, value: float) -> int:
        """1 to 5. A value on a limit has the better score."""
        within = at_most if self.lower else at_least
        return 1 + sum(within(value, limit) for limit in self.limits)

    @property
    def words(self) -> str:
        """`1 below 50 %, 2 from 50 %, 3 from 70 %, 4 from 85 %, 5 from 95 %`."""
        first, *rest = (f"{100 * limit:g} %" for limit in self.limits)
        side, step = ("above", "up to") if self.lower else ("below", "from")
        return f"1 {side} {first}, 2 {step} {first}, " + ", ".join(f"{at} {step} {limit}" for at, limit in enumerate(rest, start=3))


COVERAGE = Bands((0.5, 0.7, 0.85, 0.95), METHOD)
TRUE = Bands((0.7, 0.8, 0.9, 0.95))
USUAL = Bands((0.4, 0.6, 0.75, 0.9))
CLAIMS = Bands((0.6, 0.75, 0.9, 0.95))
WRONG = Bands((0.2, 0.1, 0.05, 0.02), lower=True)
UNSUPPORTED = Bands((0.4, 0.25, 0.1, 0.05), lower=True)
FAILED = Bands((0.05, 0.02, 0.01, 0.0), lower=True)


@dataclass(frozen=True)
class Facet:
    """One side of a dimension: the names of figures that show it, the first that is there counts, and the bands."""

    names: Sequence[str]
    bands: Bands


FACETS: dict[Dimension, tuple[Facet, ...]] = {
    "graph": (
        Facet(("entity_coverage",), COVERAGE), Facet(("relation_completeness",), COVERAGE), Facet(("relations_accuracy",), TRUE),
        Facet(("entities_accuracy",), TRUE), Facet(("worst_error_share",), FAILED),
    ),
    "retrieval": (
        Facet(("evidence_recall", "claim_recall", "id_recall", "entity_recall", "relation_recall"), USUAL),
        Facet(("context_precision", "context_precision_compat", "id_precision", "entity_precision", "context_relevance",
               "context_relevance_compat"), USUAL),
        Facet(("path_complete", "path_coverage"), USUAL),
    ),
    "answers": (
        # right or wrong as a whole first: F1 over claims falls with every grounded claim that the reference lacks
        Facet(("binary_accuracy", "binary_accuracy_compat", "answer_accuracy", "factual_correctness", "answer_accuracy_compat",
               "factual_correctness_compat", "token_f1", "exact_match"), USUAL),
        Facet(("answer_completeness", "evidence_coverage", "evidence_coverage_compat"), USUAL),
        Facet(("citation_precision",), USUAL),
    ),
    "grounding": (
        Facet(("faithfulness",), CLAIMS), Facet(("hallucination", "extrinsic_hallucination"), UNSUPPORTED),
        Facet(("intrinsic_hallucination",), WRONG), Facet(("kg_grounding",), USUAL), Facet(("false_answers",), WRONG),
    ),
    "reasoning": (
        Facet(("hops_2",), USUAL), Facet(("hops_3_up", "hops_3"), USUAL), Facet(("stepwise_accuracy",), USUAL),
    ),
}
NEEDS: dict[Dimension, str] = {
    "graph": "kgeval completeness with a gold set, kgeval accuracy, or kgeval audit",
    "retrieval": "metrics of retrieval, such as evidence_recall, context_precision or path_complete",
    "answers": "a metric of answers against a reference, such as answer_accuracy or token_f1",
    "grounding": "faithfulness, hallucination, kg_grounding, or kgeval contamination with negative questions",
    "reasoning": "questions of two hops and more (hops or path in the question file), or stepwise_accuracy",
}
WORST = "worst_error_share"
LEAST = 10  # questions, entities ... under a figure that is to give a score: three of three right are no 5
Figures = Mapping[str, OverviewFigure]


def rubrics_of(figures: Sequence[OverviewFigure], findings: Sequence[OverviewFinding]) -> list[Rubric]:
    """One rubric a system and place; without systems, one a place. Where there is nothing to score, none."""
    scored = {name for dimension, facets in FACETS.items() if dimension != "graph" for facet in facets for name in facet.names}
    systems = list(dict.fromkeys((figure.of, figure.place) for figure in figures if figure.of is not None and figure.name in scored))
    graphs = list(dict.fromkeys(figure.place for figure in figures if figure.part == "graph" and figure.of is None))
    graphs += [finding.place for finding in findings if finding.place not in graphs]
    alone = [(None, place) for place in dict.fromkeys(graphs) if not any(_covers(place, other) for _, other in systems)]
    made = [_rubric(system, place, figures, findings) for system, place in [*systems, *alone]]
    return [rubric for rubric in made if rubric.measured]


def _covers(graph: RunPlace, place: RunPlace) -> bool:
    """True where a report of `graph` speaks of the graph at `place`: every axis that it names is the same."""
    named = ("dataset", "variant", "share", "reader")
    return all(getattr(graph, axis) is None or getattr(graph, axis) == getattr(place, axis) for axis in named)


def _rubric(
    system: str | None, place: RunPlace, figures: Sequence[OverviewFigure], findings: Sequence[OverviewFinding],
) -> Rubric:
    # reversed: where two reports give a figure of one name, the first one stands
    own = {figure.name: figure for figure in reversed(figures) if figure.of == system and figure.place == place and figure.of is not None}
    graph = {
        figure.name: figure for figure in reversed(figures)
        if figure.part == "graph" and figure.of is None and _covers(figure.place, place)
    }
    worst = _worst([finding for finding in findings if _covers(finding.place, place)])
    if worst is not None:
        graph[WORST] = worst
    scores = [_dimension(dimension, graph if dimension == "graph" else own) for dimension in DIMENSIONS]
    values = [score.score for score in scores if score.score is not None]
    mean = sum(values) / len(values) if values else None
    return Rubric(system=system, place=place, scores=scores, measured=len(values), mean=mean, passed=_passed(values))


def _passed(scores: Sequence[float]) -> bool | None:
    """The mean against PASS. What is not measured may be anything from 1 to 5: where that could turn the verdict, there is none."""
    open_ends = len(DIMENSIONS) - len(scores)
    low, high = ((sum(scores) + open_ends * end) / len(DIMENSIONS) for end in (1, 5))
    if at_least(low, PASS):
        return True
    return None if at_least(high, PASS) else False


def _dimension(dimension: Dimension, figures: Figures) -> RubricScore:
    found, few = [], list[OverviewFigure]()
    for facet in FACETS[dimension]:
        figure = next((figures[name] for name in facet.names if name in figures and figures[name].value is not None), None)
        if figure is not None and not figure.exact and figure.n_scored is not None and figure.n_scored < LEAST:
            few.append(figure)
        elif figure is not None:
            found.append(_figure(figure, facet.bands))
    if not found and few:
        said = ", ".join(f"{figure.title}: {figure.n_scored}" for figure in few)
        return RubricScore(dimension=dimension, reason=f"not measured: too few for a score ({LEAST} needed; {said})")
    if not found:
        return RubricScore(dimension=dimension, reason=f"not measured: needs {NEEDS[dimension]}")
    return RubricScore(dimension=dimension, score=sum(figure.score for figure in found) / len(found), figures=found)


def _figure(figure: OverviewFigure, bands: Bands) -> RubricFigure:
    value = figure.value or 0.0
    ends = sorted(bands.score(end) for end in (figure.low, figure.high) if end is not None)
    return RubricFigure(
        figure=figure.name, title=figure.title, value=value, low=figure.low, high=figure.high, n=figure.n_scored, score=bands.score(value),
        score_low=ends[0] if ends else None, score_high=ends[-1] if ends else None, bands=bands.words, bands_by=bands.by,
    )


def _worst(findings: Sequence[OverviewFinding]) -> OverviewFigure | None:
    """The largest share of hits of any check of severity error; 0 where all of them pass. Checks of gold and samples have figures of
    their own."""
    errors = [
        finding for finding in findings
        if finding.severity == "error" and finding.group not in ("accuracy", "completeness") and finding.status in ("passed", "failed")
    ]
    if not errors:
        return None
    worst = max(errors, key=lambda finding: (finding.share or 0.0) if finding.status == "failed" else 0.0)
    failed = worst.status == "failed"
    title = f"Worst failed check of severity error: {worst.title}" if failed else "Checks of severity error: none failed"
    return OverviewFigure(
        part="graph", name=WORST, title=title, value=(worst.share or 0.0) if failed else 0.0, n=worst.total, n_scored=worst.total,
        better="lower", exact=True, source=worst.source,
    )
