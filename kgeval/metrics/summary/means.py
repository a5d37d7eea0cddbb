"""A mean with all that must be said beside it: over how many, why not over the rest, how sure it is, how far it could be off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kgeval.metrics.summary.drawn import has_groups, in_order
from kgeval.metrics.summary.values import ANSWER_ERROR
from kgeval.records import Mean
from kgeval.rounding import is_equal
from kgeval.stats.bootstrap import bootstrap_mean
from kgeval.stats.grouped import grouped_mean
from kgeval.stats.intervals import Interval, quantile, unvaried, wilson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.metrics.summary.values import Values

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]


def mean_of(
    values: Sequence[float | None], *, causes: Mapping[str, int], not_applicable: int, seed: int, codes: Sequence[int] | None = None,
) -> Mean:
    """The mean of values in 0..1, one a question; None: unscored. `causes`: how many are unscored for which reason; `codes`: the group of
    each question (`Drawn`).

    The 95 % interval is BCa's over questions, None for fewer than 2 values; where questions come in groups it is that of `grouped_mean`.
    The bounds take unscored ones as 0 and as 1.
    Raises: ValueError unless `causes` explain every None.
    """
    import numpy as np

    scored = np.asarray([value for value in values if value is not None], dtype=np.float64)
    if len(values) - len(scored) != sum(causes.values()):
        raise ValueError(f"{len(values) - len(scored)} values are missing, but reasons are given for {sum(causes.values())}")
    known = None if codes is None else np.asarray(
        [code for code, value in zip(codes, values, strict=True) if value is not None], dtype=np.int64,
    )
    return _mean(scored, np.ones(len(scored)), dict(causes), not_applicable=not_applicable, seed=seed, codes=known)


def scoring_failures(mean: Mean) -> dict[str, int]:
    """The questions that the scoring failed at, by cause: those whose answer is an error are not among them."""
    return {cause: count for cause, count in mean.failures.items() if cause != ANSWER_ERROR}


def mean_of_values(values: Values, *, seed: int, codes: Whole | None = None) -> Mean:
    """The same over the questions of a run. A repetition that failed widens the bounds, though its question has a value."""
    scored = values.scored
    na = int(values.not_applicable.sum())
    return _mean(
        values.value[scored], values.there[scored], values.failures, not_applicable=na, seed=seed,
        codes=None if codes is None else codes[scored],
    )


def _mean(
    scored: Floats, there: Floats, causes: dict[str, int], *, not_applicable: int, seed: int, codes: Whole | None = None,
) -> Mean:
    """`scored` is the caller's to give away. `there`: the share of each question's repetitions that its value rests on."""
    import numpy as np

    failed, n = sum(causes.values()), len(scored)
    counts = Mean(n=n + failed + not_applicable, n_scored=n, not_applicable=not_applicable, failures=causes)
    if not n:
        return counts.model_copy(update={"bound_low": 0.0, "bound_high": 1.0}) if failed else counts
    grouped = _in_groups(scored, codes) if codes is not None and has_groups(codes) else None
    # sums of sorted numbers do not depend on the order of the rows. `seen`, `unseen`: for the bounds, which take what failed, a whole
    # question or some of its repetitions, as 0 and as 1; a gate must hold at both
    if (there == 1).all():
        scored.sort()
        seen, unseen = float(scored.sum()), 0.0
    else:
        order = np.lexsort((there, scored))
        scored, there = scored[order], there[order]
        seen, unseen = float((scored * there).sum()), float((1 - there).sum())
        del order
    del there  # a run may have a million questions
    mean = min(float(scored[-1]), max(float(scored[0]), float(scored.mean())))
    ends = interval_of(scored, low=0.0, seed=seed) if grouped is None else grouped.pop("ends")
    return counts.model_copy(update={
        "mean": mean, "low": None if ends is None else min(ends.low, mean), "high": None if ends is None else max(ends.high, mean),
        "bound_low": max(0.0, min(mean, seen / (n + failed))),
        "bound_high": min(1.0, max(mean, (seen + unseen + failed) / (n + failed))),
        "sd": float(scored.std(ddof=1)) if n > 1 else None, **(grouped or {}),
    })


def _in_groups(scored: Floats, codes: Whole) -> dict[str, Any]:
    found = grouped_mean([in_order(scored, codes)], low=0.0, high=1.0)
    return {"ends": found.interval, "groups": found.groups, "effective": found.effective}


def interval_of(values: Floats, *, low: float, seed: int) -> Interval | None:
    """The 95 % interval of the mean of independent values in low..1; None for fewer than 2. That of values which are all the same has a
    width: 30 right answers of 30 do not show that all are right."""
    if len(values) < 2 or not is_equal(float(values.min()), float(values.max()), scale=1.0):
        return bootstrap_mean(values, seed=seed)
    value = min(1.0, max(low, float(values[0])))
    if low == 0 and value in (0, 1):
        return wilson(value, len(values), quantile=quantile())
    return unvaried(value, len(values), low=low, high=1.0)
