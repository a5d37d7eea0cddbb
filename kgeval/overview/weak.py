"""Figures that are weak by the rubric, also in the best system: what a score report and the report over it say alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.format import first_of, number, visible
from kgeval.overview.advice import ADVICE, BY_DIMENSION, as_sentence
from kgeval.overview.figures import scores
from kgeval.overview.rubric import DIMENSIONS, rubrics_of
from kgeval.overview.wording import place_of, value_of
from kgeval.records import Dimension, OverviewFigure, OverviewPriority, Rubric, RubricFigure, RunPlace, ScoreReport

WEAK = 2  # of 5
TOLD = 3  # systems in one row


def weak_figures(figures: Sequence[OverviewFigure], rubrics: Sequence[Rubric]) -> Iterator[OverviewPriority]:
    """Figures of which even the best system's has a score of 1 or 2: a baseline may be weak, that is what it is there for."""
    at = {(figure.name, figure.of, figure.place): figure.source for figure in figures}
    piles: dict[tuple[Dimension, str, RunPlace], list[tuple[RubricFigure, str]]] = {}
    for rubric in rubrics:
        for score in rubric.scores:
            for scored in score.figures if score.dimension != "graph" and rubric.system else ():
                piles.setdefault((score.dimension, scored.figure, rubric.place), []).append((scored, rubric.system or ""))
    for (dimension, figure, place), pile in piles.items():
        lower = pile[0][0].bands.startswith("1 above")
        pile.sort(key=lambda pair: (-pair[0].score, pair[0].value if lower else -pair[0].value, pair[1]))
        best, system = pile[0]
        if best.score > WEAK:
            continue
        values = [
            f"{visible(name, longest=60)} {value_of(scored.value, scored.low, scored.high, 'share')}, n {number(scored.n or 0)}"
            for scored, name in pile
        ]
        yield OverviewPriority(
            severity="error" if best.score == 1 else "warning", title=f"Weak {DIMENSIONS[dimension].split(':')[0].lower()}: {best.title}",
            why=f"{'no system has more than' if len(pile) > 1 else 'it has'} a score of {best.score} of 5 ({best.bands})",
            evidence=first_of(values, TOLD, "; "), where=place_of(place), advice=ADVICE.get(best.figure, BY_DIMENSION[dimension]),
            source=at.get((figure, system, place)),
        )


def weak_in_scores(report: ScoreReport) -> list[OverviewPriority]:
    """The same of one score report alone."""
    figures = list(scores(report))
    return [
        row.model_copy(update={"why": as_sentence(row.why), "advice": as_sentence(row.advice), "source": ""})
        for row in weak_figures(figures, rubrics_of(figures, ()))
    ]
