"""The leaderboard of GraphRAG-Bench [X figure 6]: systems by the mean of their means at the four levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kgeval.metrics.summary.groups import Grouping
from kgeval.metrics.summary.values import Values
from kgeval.records import LEVELS_OF_X, LeaderRow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

DEFAULT_METRIC = "answer_accuracy"
TIED = 1e-9

Levels = Mapping[str, float]


def leaderboard(found: Mapping[tuple[str, str | None], Levels], *, metric: str) -> list[LeaderRow]:
    """One board a dataset, best system first. `found`: (system, dataset) -> level -> mean of the metric, higher is better.

    A system without all four levels stands below those that have them: its average is over other questions. Equal averages share a
    rank (1, 2, 2, 4). Levels other than the four are not looked at; a system with none of them has no row.
    """
    rows = []
    for dataset in sorted({dataset for _, dataset in found}, key=lambda name: (name is None, name or "")):
        board = [_row(system, dataset, levels, metric) for (system, of), levels in found.items() if of == dataset]
        rows += _ranked([row for row in board if row is not None])
    return rows


def _row(system: str, dataset: str | None, levels: Levels, metric: str) -> LeaderRow | None:
    known = {level: levels[level] for level in LEVELS_OF_X if level in levels}
    if not known:
        return None
    average = sum(known.values()) / len(known)
    return LeaderRow(
        rank=1, system=system, dataset=dataset, metric=metric, average=average, levels=known, complete=len(known) == len(LEVELS_OF_X),
    )


def _ranked(rows: list[LeaderRow]) -> list[LeaderRow]:
    rows.sort(key=lambda row: (not row.complete, -row.average, row.system))
    ranked: list[LeaderRow] = []
    for place, row in enumerate(rows, start=1):
        above = ranked[-1] if ranked else None
        tied = above is not None and above.complete == row.complete and abs(above.average - row.average) <= TIED
        ranked.append(row.model_copy(update={"rank": above.rank if above is not None and tied else place}))
    return ranked


def levels_by_dataset(values: Values, questions: Whole, groups: Grouping) -> dict[str | None, dict[str, float]]:
    """dataset -> level -> mean over the scored questions. Null stands for questions without a dataset.

    A group that the report leaves out (a dataset beyond the most frequent) is left out here too.
    """
    import numpy as np

    datasets: dict[str | None, Whole] = dict(groups.members("dataset", questions))
    rest = np.flatnonzero(groups.traits.numbers("dataset", questions) < 0)
    if len(rest):
        datasets[None] = rest
    found: dict[str | None, dict[str, float]] = {}
    for dataset, places in datasets.items():
        part = values.value[places]
        means = {
            level: float(np.sort(inside).mean())
            for level, at in groups.members("level", questions[places]) if len(inside := part[at][~np.isnan(part[at])])
        }
        if means:
            found[dataset] = means
    return found


def lacking_levels(rows: list[LeaderRow]) -> list[str]:
    """A sentence for every row that is not over all four levels."""
    notes = []
    for row in rows:
        if not row.complete:
            missing = ", ".join(level for level in LEVELS_OF_X if level not in row.levels)
            where = f" on {row.dataset}" if row.dataset else ""
            notes.append(f"leaderboard: {row.system}{where} has no {row.metric} at {missing}; its average is over the other levels")
    return notes
