"""People with each other: alpha, shares of equal labels, kappa of every two, each one against the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgeval.comparison.people.labelled import LabelTable
from kgeval.comparison.people.scales import SCALES
from kgeval.records import AgreementBy, AnnotatorAgreement, AnnotatorPair, Estimated, PeopleAgreement
from kgeval.stats.correlations import correlate
from kgeval.stats.kappa import Estimate, agreed, alpha, majority, pairs_of
from kgeval.stats.resampling import numbered, resampled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


def estimated(found: Estimate | None) -> Estimated:
    """As a record; no figure where there is none."""
    return Estimated() if found is None else Estimated(value=found.value, low=found.low, high=found.high)


def people(table: LabelTable, by: AgreementBy, value: str | None, *, seed: int) -> PeopleAgreement:
    """All people on one group of items. Intervals are over questions."""
    import numpy as np

    there = ~np.isnan(table.places)
    counts = there.sum(axis=1)
    given = [[int(place) for place in row[~np.isnan(row)]] for row in table.places]
    alphas = {
        f"alpha_{scale}": estimated(alpha(
            table.places, categories=table.categories, scale=scale, seed=seed, units=table.questions,
        )) for scale in ("nominal", "ordinal", "interval")
    }
    return PeopleAgreement(
        aspect=table.aspect, by=by, value=value, items=int((counts > 0).sum()), items_twice=int((counts > 1).sum()),
        labels=int(counts.sum()), annotators=int(there.any(axis=0).sum()), raw=_shared(table, given, 0, seed),
        within_one=_shared(table, given, 1, seed), tied=sum(len(row) > 1 and majority(row).label is None for row in given), **alphas,
    )


def _shared(table: LabelTable, given: list[list[int]], steps: int, seed: int) -> Estimated:
    """Of all pairs of labels of one item, the share at most so many steps apart."""
    import numpy as np

    near = np.array([sum(abs(a - b) <= steps for a, b in pairs_of(row)) for row in given], dtype=np.float64)
    of = np.array([len(row) * (len(row) - 1) / 2 for row in given])
    if not of.sum():
        return Estimated()

    def share(w: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = (w @ near) / (w @ of)
        return found

    between = resampled(share, numbered(table.questions, len(of)), seed=seed)
    value = float(near.sum() / of.sum())
    return Estimated(value=value, low=between.low, high=between.high) if between else Estimated(value=value)


def annotator_pairs(table: LabelTable, *, seed: int) -> list[AnnotatorPair]:
    """Every two people with an item in common."""
    import numpy as np

    found = []
    for (at, one), (other_at, other) in pairs_of(list(enumerate(table.people))):
        both = ~(np.isnan(table.places[:, at]) | np.isnan(table.places[:, other_at]))
        if not both.any():
            continue
        first, second = (table.places[both, place].astype(int).tolist() for place in (at, other_at))
        units = [name for name, there in zip(table.questions, both.tolist(), strict=True) if there]
        figures = agreed(first, second, categories=table.categories, seed=seed, units=units)
        found.append(AnnotatorPair(
            first=one, second=other, aspect=table.aspect, n=figures.n, raw=estimated(figures.raw), within_one=estimated(figures.within_one),
            kappa=estimated(figures.kappa), linear=estimated(figures.linear), quadratic=estimated(figures.quadratic),
        ))
    return found


def others_mean(table: LabelTable, at: int) -> Floats:
    """(items,) the mean label of all people but one; NaN where nobody else labelled."""
    import numpy as np

    rest = np.delete(table.numbers, at, axis=1)
    n = (~np.isnan(rest)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(n > 0, np.nansum(rest, axis=1) / np.maximum(n, 1), np.nan)
    return means


def each(table: LabelTable, *, seed: int) -> list[AnnotatorAgreement]:
    """Each person against the mean of the others."""
    import numpy as np

    found = []
    for at, name in enumerate(table.people):
        own, mean = table.numbers[:, at], others_mean(table, at)
        both = ~(np.isnan(own) | np.isnan(mean))
        units = [question for question, there in zip(table.questions, both, strict=True) if there]
        rho = correlate(own[both], mean[both], seed=seed, units=units, kinds=("spearman",)).values.get("spearman")
        labels = own[~np.isnan(own)]
        found.append(AnnotatorAgreement(
            annotator=name, aspect=table.aspect, n=int(both.sum()), spearman=estimated(rho), bias=_bias((own - mean)[both], units, seed),
            used={label: int((labels == float(label)).sum()) for label in SCALES[table.scope]},
        ))
    return found


def _bias(gaps: Floats, units: list[str], seed: int) -> Estimated:
    if not len(gaps):
        return Estimated()
    between = resampled(lambda w: w @ gaps / w.sum(axis=1), numbered(units, len(gaps)), seed=seed)
    value = float(gaps.mean())
    return Estimated(value=value, low=between.low, high=between.high) if between else Estimated(value=value)
