"""Every metric against every other: over all answers, by data set, and within each pair of texts that metrics compare [D 5.1]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from kgeval.comparison.people.dimensions import PAIR_KINDS, pair_kind
from kgeval.records import MatrixBy, MatrixCell, MatrixGroup
from kgeval.stats.correlations import FEW, Kind, correlate
from kgeval.stats.resampling import RESAMPLES
from kgeval.stats.rests import tied

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.tables.score_tables import ScoreCell

    Floats = npt.NDArray[np.float64]

MANY = 300  # cells; with more, intervals are made from fewer resamples


@dataclass(frozen=True)
class ScoreTable:
    """(answers, metrics) values, NaN where a metric has none; a row is a question and a system, trials averaged."""

    metrics: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    values: Floats = field(repr=False)

    @property
    def systems(self) -> list[str]:
        """In the order of the files."""
        return list(dict.fromkeys(system for _, system in self.rows))


def score_table(scores: Iterable[ScoreCell]) -> ScoreTable:
    """All scores with a value. A score that was made twice (two files, or trials) counts with its mean."""
    import numpy as np

    scores_of: dict[tuple[str, str], dict[str, list[float]]] = {}
    metrics: dict[str, None] = {}
    for score in scores:
        metrics.setdefault(score.metric)
        own = scores_of.setdefault((score.question_id, score.system), {})
        if score.value is not None:
            own.setdefault(score.metric, []).append(score.value)
    values = np.full((len(scores_of), len(metrics)), np.nan)
    for row, own in enumerate(scores_of.values()):
        for place, metric in enumerate(metrics):
            if metric in own:
                values[row, place] = sum(own[metric]) / len(own[metric])
    return ScoreTable(tuple(metrics), tuple(scores_of), values)


def matrix(table: ScoreTable, datasets: Mapping[str, str], *, kind: Kind, seed: int) -> list[MatrixGroup]:
    """The groups: all answers, each data set (`datasets`: question id -> its name), each pair of texts with two metrics or more."""
    groups = list(_groups(table, datasets))
    cells = sum(len(names) * (len(names) - 1) // 2 for _, _, _, names, _ in groups)
    draws = FEW if cells > MANY else RESAMPLES
    return [
        _group(table, places, names, head=(by, value, dataset), kind=kind, seed=seed, draws=draws)
        for by, value, dataset, names, places in groups
    ]


Group = tuple[MatrixBy, str | None, str | None, list[str], list[int]]


def _groups(table: ScoreTable, datasets: Mapping[str, str]) -> Iterator[Group]:
    every, all_metrics = list(range(len(table.rows))), list(table.metrics)
    of = [datasets.get(question) for question, _ in table.rows]
    named = sorted({name for name in of if name is not None})
    parts: list[tuple[str | None, list[int]]] = [(None, every)]
    if len(named) > 1:
        parts += [(name, [row for row in every if of[row] == name]) for name in named]
    for dataset, places in parts:
        yield "all" if dataset is None else "dataset", dataset, dataset, all_metrics, places
        for kind in PAIR_KINDS:
            own = [metric for metric in all_metrics if pair_kind(metric) == kind]
            if 1 < len(own) < len(all_metrics):
                yield "pair_kind", kind, dataset, own, places


def _group(
    table: ScoreTable, places: Sequence[int], names: Sequence[str], *, head: tuple[MatrixBy, str | None, str | None], kind: Kind, seed: int,
    draws: int,
) -> MatrixGroup:
    import numpy as np

    columns = {name: table.values[list(places), table.metrics.index(name)] for name in names}
    questions = [table.rows[row][0] for row in places]
    scored = {name: column[~np.isnan(column)] for name, column in columns.items()}
    # a metric with one value everywhere has no correlation: said as such, not shown as 0
    constant = {name: float(column[0]) for name, column in scored.items() if len(column) and not np.ptp(tied(column))}
    cells = [
        _cell((first, columns[first]), (second, columns[second]), questions, kind=kind, seed=seed, draws=draws)
        for first, second in combinations(names, 2)
    ]
    return MatrixGroup(
        by=head[0], value=head[1], dataset=head[2], metrics=list(names), n={name: len(column) for name, column in scored.items()},
        constant=constant, cells=cells,
    )


def _cell(
    one: tuple[str, Floats], other: tuple[str, Floats], questions: Sequence[str], *, kind: Kind, seed: int, draws: int,
) -> MatrixCell:
    import numpy as np

    both = ~(np.isnan(one[1]) | np.isnan(other[1]))
    units = [name for name, there in zip(questions, both.tolist(), strict=True) if there]
    correlation = correlate(one[1][both], other[1][both], seed=seed, units=units, kinds=(kind,), resamples=draws)
    figure = correlation.values[kind]
    reason = None
    if correlation.constant:
        names = {"first": one[0], "second": other[0], "both": f"{one[0]} and {other[0]}"}[correlation.constant]
        reason = f"{names}: always the same value here"
    elif figure.value is None:
        reason = "fewer than 3 answers have both"
    return MatrixCell(first=one[0], second=other[0], n=correlation.n, value=figure.value, low=figure.low, high=figure.high, reason=reason)
