"""What form has to do with winning: the win rate at equal lengths, and slopes on length and style.

All rates are relative win rates (win - loss, -1..1). `wins`: (questions, trials), 1 A, 0 tie, -1 B (or a mean of these), NaN = lacking. A
gap is A's figure minus B's, of the same shape: words, headings, bold passages, list items. A row is a question and trial where the outcome
and all gaps are known; questions weigh the same, their rows share the weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from kgeval.rounding import REST, is_equal
from kgeval.stats import logit
from kgeval.stats.clustered import clustered_mean
from kgeval.stats.intervals import quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

LEAST = 10  # questions: with fewer a regression only follows them
A_COLUMN = 5  # questions a coefficient, at least
SEPARATING = "tells winners from losers without fault: no finite slope fits best"


@dataclass(frozen=True)
class Slope:
    """How a gap goes with winning; `low`, `high`: its interval. `scale`: the gap that is one unit before it is bent (see `controlled`), or
    the gap that the slope is given for (`linear_slope`). `slope` None: left out, `reason` says why."""

    name: str
    slope: float | None = None
    low: float | None = None
    high: float | None = None
    scale: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Controlled:
    """A's relative win rate as it is (`raw`) and where all gaps are 0 (`controlled`), over `n` questions and `n_values` of their trials.

    `slopes`: log odds of winning a unit of each gap. `reason`: why nothing is controlled. `notes`: what to know of the figures.
    """

    n: int
    n_values: int
    raw: float | None = None
    raw_low: float | None = None
    raw_high: float | None = None
    controlled: float | None = None
    low: float | None = None
    high: float | None = None
    slopes: tuple[Slope, ...] = ()
    reason: str | None = None
    notes: tuple[str, ...] = ()


def controlled(wins: Floats, gaps: Mapping[str, Floats], *, seed: int, confidence: float = 0.95) -> Controlled:
    """The win rate at equal length (and style): what a logistic regression of the outcome predicts where every gap is 0.

    logit P(A wins) = b0 + sum of b_g * tanh(gap_g / s_g), s_g = the gap's root mean square; ties count half; controlled = 2 P(b0) - 1.
    The bend is AlpacaEval's (Dubois et al. 2024): one answer of thousands of words must not decide the slope. Other than there, s is taken
    around 0, not around the mean, and no column is moved: 0 must stay "equal", and A against B must be the mirror of B against A; and there
    is no term for a question's difficulty, so any question set will do. Intervals: sandwich errors by question, Student's t with
    (questions - 1) degrees of freedom, on the logit scale. A slope of b: odds change by exp(b) between no gap and a very large one.

    A gap that never changes, differs in fewer than 5 questions, alone tells who wins, or follows from others is left out with a reason.
    No rate, but a reason, where there are too few questions (under 10, or under 5 a coefficient), where one side wins all or the gaps tell
    who wins without fault (separation), or where a gap is on one side only (one system always has more: equality lies outside of what was
    seen). Where no gap ever differs from 0 the
    controlled rate is the raw one. Raises: ValueError for shapes that differ, or infinite values.
    """
    rows = _rows(wins, gaps)
    raw = clustered_mean(rows.table, seed=seed, confidence=confidence)
    result = Controlled(raw.n, raw.n_values, raw.mean, raw.low, raw.high)
    names = tuple(gaps)
    if raw.n == 0:
        return replace(result, reason="no outcome is known together with its gaps")
    if raw.n < max(LEAST, A_COLUMN * (1 + len(names))):
        many = "1 question" if raw.n == 1 else f"{raw.n} questions"
        return replace(result, slopes=_left_out(names, "too few questions"), reason=f"{many}: too few for a regression")
    if not rows.gaps.any():
        result = replace(result, controlled=raw.mean, low=raw.low, high=raw.high)
        return replace(result, slopes=_left_out(names, "never differs"), notes=("no gap: the raw rate is the controlled one",))
    return _regressed(result, rows, names, quantile(confidence, raw.n - 1))


@dataclass(frozen=True)
class _RegressionRows:
    """`table`: wins with NaN where a gap is lacking (questions, trials); the rest is a row a known value: `wins`, `weights`, `clusters`
    (rows,), `gaps` (rows, names)."""

    table: Floats
    wins: Floats
    gaps: Floats
    weights: Floats
    clusters: Ints


def _rows(wins: Floats, gaps: Mapping[str, Floats]) -> _RegressionRows:
    import numpy as np

    table = np.array(wins, dtype=np.float64)
    width = -1 if table.size else 0
    table = table.reshape(len(table), width)
    parts = [np.asarray(gap, dtype=np.float64).reshape(len(table), width) for gap in gaps.values()]
    if any(part.shape != table.shape for part in parts):
        raise ValueError("outcomes and gaps must have the same shape")
    if any(np.isinf(part).any() for part in (table, *parts)) or (np.abs(table) > 1 + REST).any():
        raise ValueError("outcomes lie between -1 and 1, and gaps are finite")
    for part in parts:
        table[np.isnan(part)] = np.nan
    known = ~np.isnan(table)
    held = known.sum(axis=1)
    # Numbers without gaps, as `logit.fit` needs them: a question without a known row has none.
    clusters = (np.cumsum(held > 0) - 1)[:, None].repeat(table.shape[1], axis=1)[known].astype(np.int64)
    weights = (1 / np.maximum(held, 1))[:, None].repeat(table.shape[1], axis=1)[known]
    columns = np.stack([part[known] for part in parts], axis=1) if parts else np.empty((int(known.sum()), 0))
    return _RegressionRows(table, table[known], columns, weights, clusters)


def _regressed(found: Controlled, rows: _RegressionRows, names: tuple[str, ...], t: float) -> Controlled:
    import numpy as np

    scales = np.sqrt(np.average(rows.gaps**2, axis=0, weights=rows.weights))
    bent = np.tanh(rows.gaps / np.where(scales > 0, scales, 1.0))
    outcome = np.clip((1 + rows.wins) / 2, 0, 1)
    if (rows.wins == rows.wins[0]).all() and abs(rows.wins[0]) == 1:
        side = "A" if rows.wins[0] > 0 else "B"
        return replace(found, slopes=_left_out(names, "separated"), reason=f"{side} wins every time: form has nothing to explain")
    kept, why = _chosen(rows, bent, outcome, names)
    slopes = tuple(Slope(name, reason=reason) for name, reason in zip(names, why, strict=True))
    if len(kept) == 1 and any(why):
        return replace(found, slopes=slopes, reason="nothing to control by: " + "; ".join(f"{one.name}: {one.reason}" for one in slopes))
    design = np.column_stack([np.ones(len(bent)), bent])
    if len(kept) > 2 and logit.separated(design[:, kept], outcome):  # one gap alone was seen to before
        return replace(found, slopes=_left_out(names, SEPARATING), reason="the gaps together tell winners from losers without fault")
    fitted = logit.fit(design[:, kept], outcome, rows.weights, rows.clusters)
    if fitted is None:
        return replace(found, slopes=_left_out(names, "no fit"), reason="the regression does not settle: too nearly one-sided")
    ends = _ends(fitted, t)
    slopes = tuple(
        Slope(one.name, *ends[kept.index(at)], scale=float(scales[at - 1])) if at in kept else one for at, one in enumerate(slopes, 1)
    )
    found = replace(found, slopes=slopes)
    beyond = _beyond(rows, names, kept)
    return replace(found, reason=beyond) if beyond else _predicted(found, bent, ends[0])


def _predicted(found: Controlled, bent: Floats, ends: tuple[float, float, float]) -> Controlled:
    """With the rate where all gaps are 0, unless the gaps never leave their own level: then 0 is nowhere near what was seen."""
    import numpy as np
    from scipy import special

    without, with_ = len(logit.independent(bent)), len(logit.independent(np.column_stack([bent, np.ones(len(bent))])))
    if with_ == without:
        return replace(found, reason="a gap never changes: what it does cannot be told from who wins")
    middle, low, high = (2 * float(special.expit(end)) - 1 for end in ends)
    return replace(found, controlled=middle, low=low, high=high)


def _ends(fitted: logit.Logit, t: float) -> list[tuple[float, float, float]]:
    import numpy as np

    errors = np.sqrt(np.maximum(np.diag(fitted.covariance), 0))
    return [(float(b), float(b - t * e), float(b + t * e)) for b, e in zip(fitted.beta, errors, strict=True)]


def _chosen(rows: _RegressionRows, bent: Floats, outcome: Floats, names: tuple[str, ...]) -> tuple[list[int], list[str | None]]:
    """Columns that stay (0: the constant), and for each gap why it does not."""
    import numpy as np

    constant = np.ones(len(bent))
    why: list[str | None] = []
    for index in range(len(names)):
        gap = rows.gaps[:, index]
        differing = len(np.unique(rows.clusters[gap != 0]))
        if not differing:
            why.append("never differs")
        elif is_equal(float(gap.max()), float(gap.min())):
            why.append("always differs by the same")
        elif differing < A_COLUMN:
            why.append(f"differs in {differing} question{'' if differing == 1 else 's'} only")
        else:
            why.append(SEPARATING if logit.separates_alone(bent[:, index], outcome) else None)
    free = [index for index, reason in enumerate(why) if reason is None]
    # The constant comes first: a gap that is the same everywhere goes, not the constant.
    fresh = logit.independent(np.column_stack([constant, bent[:, free]]))
    for place, index in enumerate(free, 1):
        if place not in fresh:
            why[index] = "goes with the others exactly"
    return [0, *(index + 1 for index, reason in enumerate(why) if reason is None)], why


def _left_out(names: tuple[str, ...], reason: str) -> tuple[Slope, ...]:
    return tuple(Slope(name, reason=reason) for name in names)


def _beyond(rows: _RegressionRows, names: tuple[str, ...], kept: list[int]) -> str | None:
    """Why nothing is said of equality: where no pair is equal in a gap, nor are there pairs on both sides, that would be extrapolation."""
    reasons = []
    for index, name in enumerate(names):
        gap = rows.gaps[:, index]
        if index + 1 in kept and (gap.min() > 0 or gap.max() < 0):
            reasons.append(f"{'A' if gap.min() > 0 else 'B'} always has more {name}, so that equality lies outside of what was seen")
    return "; ".join(reasons) or None


def linear_slope(wins: Floats, gap: Floats, *, name: str = "words", per: float = 100.0, confidence: float = 0.95) -> Slope:
    """The raw slope: how much A's relative win rate rises for each `per` words that its answer is longer, by least squares.

    win - loss = a + b * gap / per, question weights and sandwich errors as in `controlled`. None with a reason for fewer than 10 questions,
    a gap without variation, or gaps that span less than `per`: a slope over more words than were seen would be extrapolation.
    """
    import numpy as np

    rows = _rows(wins, {name: gap})
    held = int(rows.clusters.max()) + 1 if len(rows.clusters) else 0
    if held < LEAST:
        return Slope(name, reason=f"{held} question{'' if held == 1 else 's'}: too few for a slope")
    design = np.column_stack([np.ones(len(rows.wins)), rows.gaps[:, 0] / per])
    if len(logit.independent(design)) < 2:
        return Slope(name, reason="always differs by the same" if rows.gaps.any() else "never differs")
    span = float(rows.gaps.max() - rows.gaps.min())
    if span < per:
        return Slope(name, reason=f"the gaps span {span:g} {name}: too few for a slope over {per:g}")
    bread = np.linalg.inv((design * rows.weights[:, None]).T @ design)
    beta = bread @ design.T @ (rows.weights * rows.wins)
    summed = np.zeros((held, 2))
    np.add.at(summed, rows.clusters, design * (rows.weights * (rows.wins - design @ beta))[:, None])
    # The correction for few clusters that `logit.fit` has too.
    factor = held / (held - 1) * (len(design) - 1) / (len(design) - 2)
    error = sqrt(max(0.0, float((factor * bread @ summed.T @ summed @ bread)[1, 1])))
    slope, reach = float(beta[1]), quantile(confidence, held - 1) * error
    return Slope(name, slope, slope - reach, slope + reach, per)
