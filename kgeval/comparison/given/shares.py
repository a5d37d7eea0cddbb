"""A judge's share (of answers that are right, of tests that pass) corrected by few labels of people. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.records import CorrectedShare, Estimated

if TYPE_CHECKING:
    from kgeval.stats.clusters import Clusters
    from kgeval.stats.corrections import Corrected

WITHOUT_END = 1e12  # items in the population


@dataclass(frozen=True)
class Item:
    """One judged item: the judge's verdict in 0..1, the person's label in 0..1 (null: not labelled), and what it belongs to: items of one
    cluster (a question, a document) are not independent."""

    judge: float
    human: float | None
    cluster: str


def corrected_shares(items: Sequence[Item]) -> tuple[list[CorrectedShare], float | None]:
    """The share as the judge has it, by the labels alone, by PPI++ and by Rogan-Gladen (where all are 0 or 1); and the p of selection."""
    import numpy as np

    from kgeval.stats.corrections import ppi, rogan_gladen, selection

    judge = np.array([one.judge for one in items], dtype=np.float64)
    labelled = np.array([one.human is not None for one in items])
    people = np.array([one.human or 0.0 for one in items], dtype=np.float64)
    clusters = _clusters([one.cluster for one in items])
    n, labels = len(items), int(labelled.sum())
    told = [one.human for one in items if one.human is not None]
    rows = [
        _plain("judge", items, [one.judge for one in items]), _plain("people", items, told),
        _row("ppi++", n, ppi(people, judge, labelled, clusters)),
    ]
    if np.isin(judge, (0, 1)).all() and np.isin(people[labelled], (0, 1)).all():
        rows.append(_row("rogan-gladen", n, rogan_gladen(people, judge, labelled, clusters)))
    else:
        reason = "only for verdicts and labels that are 0 or 1"
        rows.append(CorrectedShare(method="rogan-gladen", n=n, labels=labels, reason=reason))
    return rows, selection(judge, labelled, clusters)


def _clusters(names: Sequence[str]) -> Clusters:
    import numpy as np

    from kgeval.stats.clusters import Clusters

    at = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return Clusters(np.array([at[name] for name in names], dtype=np.int64), np.zeros(len(at), dtype=np.int64), np.array([WITHOUT_END]))


def _plain(method: str, items: Sequence[Item], values: Sequence[float]) -> CorrectedShare:
    """The plain share, with the interval of its clusters."""
    import numpy as np

    from kgeval.stats.clusters import ratio

    labels = sum(one.human is not None for one in items)
    base = CorrectedShare(method=method, n=len(items), labels=labels)
    if not values:
        return base.model_copy(update={"reason": "no item has a label"})
    kept = [one for one in items if method == "judge" or one.human is not None]
    found = ratio(np.array(values, dtype=np.float64), np.ones(len(values)), _clusters([one.cluster for one in kept]))
    if found is None:
        return base
    return base.model_copy(update={"share": Estimated(value=found.value, low=found.low, high=found.high)})


def _row(method: str, n: int, found: Corrected) -> CorrectedShare:
    return CorrectedShare(
        method=method, n=n, labels=found.labels, share=Estimated(value=found.value, low=found.low, high=found.high), power=found.power,
        sensitivity=found.sensitivity, specificity=found.specificity, reason=found.reason,
    )
