"""The groups of questions that figures are given for: all, one data set, one level, and the mean over data sets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.comparison.table import PairTable
from kgeval.records import ComparedBy

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Group:
    """Some questions of a table, by their places in it. `strata`: the same places, data set by data set, where the figure is the
    unweighted mean over data sets; empty elsewhere."""

    by: ComparedBy
    value: str | None
    places: tuple[int, ...]
    strata: tuple[tuple[int, ...], ...] = field(default=())

    @property
    def mean_of_datasets(self) -> bool:
        """The figures are means over data sets, each of the same weight."""
        return bool(self.strata)


@dataclass(frozen=True)
class Counted:
    """What became of the questions of a group in one aspect: `scored` have a result in one trial at least; `results`: question-trials."""

    n: int
    scored: int
    results: int
    discarded: int
    failures: dict[str, int]
    lost: int


def groups_of(table: PairTable, by: Iterable[ComparedBy]) -> Iterator[Group]:
    """All questions; then, for two or more data sets, their mean and each of them; then each of two or more levels.

    A data set or level that is the only one would only repeat the figures of `all`. Questions without one are in `all` alone.
    """
    wanted = set(by)
    everything = tuple(range(len(table.questions)))
    datasets = _placed([one.dataset for one in table.questions])
    if "all" in wanted:
        yield Group("all", None, everything)
    if "dataset" in wanted and len(datasets) > 1:
        yield Group("all", None, tuple(at for places in datasets.values() for at in places), tuple(datasets.values()))
        yield from (Group("dataset", name, places) for name, places in datasets.items())
    levels = _placed([one.level for one in table.questions])
    if "level" in wanted and len(levels) > 1:
        yield from (Group("level", name, places) for name, places in levels.items())


def _placed(names: Sequence[str | None]) -> dict[str, tuple[int, ...]]:
    """Name -> its places, in the order of first sight."""
    found: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        if name is not None:
            found.setdefault(name, []).append(at)
    return {name: tuple(places) for name, places in found.items()}


def counted(table: PairTable, wins: Floats, places: Sequence[int]) -> Counted:
    """Every question is in one count: scored, discarded, or failed by the cause before the colon of its first failed trial. `lost`:
    question-trials without a result that were not discarded, those of scored questions among them."""
    import numpy as np

    known = (~np.isnan(wins[list(places)])).sum(axis=1)
    lacking = [at for at, results in zip(places, known.tolist(), strict=True) if not results]
    failures: dict[str, int] = {}
    discarded = 0
    for at in lacking:
        cause = _cause(table, at)
        if cause is None:
            discarded += 1
        else:
            failures[cause] = failures.get(cause, 0) + 1
    asked = sum(wins.shape[1] - len(table.questions[at].discarded) for at in places)
    return Counted(len(places), len(places) - len(lacking), int(known.sum()), discarded, failures, asked - int(known.sum()))


def _cause(table: PairTable, at: int) -> str | None:
    """Why a question has no result; null: its lengths could not be brought together."""
    trials = table.points.shape[1]
    cause = next((table.failures[at, trial] for trial in range(trials) if (at, trial) in table.failures), None)
    if cause is not None:
        return cause.partition(":")[0].strip() or NOT_JUDGED
    return None if table.questions[at].discarded else NOT_JUDGED
