"""Metrics, judges and lengths against people's labels, with the other people beside them as the ceiling; which is nearest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING

from kgeval.comparison.people.labels import LabelTable
from kgeval.comparison.people.predictors import Predictor
from kgeval.comparison.people.scales import SCALES
from kgeval.records import (
    AgreementBy,
    AnnotatorAgreement,
    AnnotatorPair,
    Estimated,
    Nearest,
    PeopleAgreement,
    PredictorAgreement,
    PredictorKind,
)
from kgeval.rounding import REST, side, sign
from kgeval.stats.correlations import KINDS, correlate, plain, statistic
from kgeval.stats.kappa import IntervalEstimate, agreed, alpha, majority, pairs_of
from kgeval.stats.ranks import ranks
from kgeval.stats.resampling import numbered, resampled
from kgeval.stats.rests import magnitude, tied

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

OTHERS = "the other people"

# People with each other: alpha, shares of equal labels, kappa of every two, each one against the others.


def estimated(figure: IntervalEstimate | None) -> Estimated:
    """As a record; no figure where there is none."""
    return Estimated() if figure is None else Estimated.of(figure.value, figure)


def _mean(values: Floats, units: Sequence[str], seed: int, weights: Floats | None = None) -> Estimated:
    """The mean with its interval over units, each value with its weight (1); nothing where there is no weight."""
    import numpy as np

    weights = np.ones(len(values)) if weights is None else weights
    if not weights.sum():
        return Estimated()

    def mean(counts: Floats) -> Floats:  # of resamples, each a row of how often every value is drawn
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = (counts @ values) / (counts @ weights)
        return means

    return Estimated.of(float(values.sum() / weights.sum()), resampled(mean, numbered(units, len(values)), seed=seed))


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
    return _mean(near, table.questions, seed, weights=np.array([len(row) * (len(row) - 1) / 2 for row in given]))


def annotator_pairs(table: LabelTable, *, seed: int) -> list[AnnotatorPair]:
    """Every two people with an item in common."""
    import numpy as np

    pairs = []
    for (first_at, name), (other_at, other_name) in pairs_of(list(enumerate(table.people))):
        both = ~(np.isnan(table.places[:, first_at]) | np.isnan(table.places[:, other_at]))
        if not both.any():
            continue
        first, second = (table.places[both, place].astype(int).tolist() for place in (first_at, other_at))
        figures = agreed(first, second, categories=table.categories, seed=seed, units=list(compress(table.questions, both)))
        pairs.append(AnnotatorPair(
            first=name, second=other_name, aspect=table.aspect, n=figures.n, raw=estimated(figures.raw),
            within_one=estimated(figures.within_one), kappa=estimated(figures.kappa), linear=estimated(figures.linear),
            quadratic=estimated(figures.quadratic),
        ))
    return pairs


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

    agreements = []
    for person, name in enumerate(table.people):
        own, mean = table.numbers[:, person], others_mean(table, person)
        both = ~(np.isnan(own) | np.isnan(mean))
        units = list(compress(table.questions, both))
        rho = correlate(own[both], mean[both], seed=seed, units=units, kinds=("spearman",)).values.get("spearman")
        labels = own[~np.isnan(own)]
        agreements.append(AnnotatorAgreement(
            annotator=name, aspect=table.aspect, n=int(both.sum()), spearman=estimated(rho),
            bias=_mean((own - mean)[both], units, seed),
            used={label: int((labels == float(label)).sum()) for label in SCALES[table.scope]},
        ))
    return agreements


@dataclass(frozen=True)
class AgreementFigures:
    """All figures of a run."""

    people: list[PeopleAgreement] = field(default_factory=list)
    pairs: list[AnnotatorPair] = field(default_factory=list)
    each: list[AnnotatorAgreement] = field(default_factory=list)
    predictors: list[PredictorAgreement] = field(default_factory=list)
    nearest: list[Nearest] = field(default_factory=list)


def measured(tables: Sequence[LabelTable], predictors: Sequence[Predictor], *, seed: int) -> AgreementFigures:
    """Every figure for every aspect and group. Intervals: 95 %, resampling questions."""
    figures = AgreementFigures()
    for table in tables:
        own = [predictor for predictor in predictors if predictor.aspect in (None, table.aspect)]
        figures.pairs.extend(annotator_pairs(table, seed=seed))
        figures.each.extend(each(table, seed=seed))
        for by, value, part in table.groups():
            figures.people.append(people(part, by, value, seed=seed))
            figures.predictors.extend(_others(part, by, value, seed))
            figures.predictors.extend(_against(part, predictor, by, value, seed) for predictor in own)
        figures.nearest.extend(nearest(table, [predictor for predictor in own if predictor.kind in ("metric", "judge")], seed=seed))
    return figures


@dataclass(frozen=True)
class _LabelRows:
    """One row a label: what is predicted, the label, its item's place, its question."""

    x: Floats
    y: Floats
    item: list[int]
    units: list[str]


def _rows(table: LabelTable, values: Floats) -> _LabelRows:
    """`values`: (items, people) or (items, 1) of the predictor; labels without a value are left out."""
    import numpy as np

    spread = np.broadcast_to(values, table.places.shape)
    both = ~(np.isnan(table.places) | np.isnan(spread))
    item = [int(place) for place in np.nonzero(both)[0]]
    return _LabelRows(spread[both], table.numbers[both], item, [table.items[place].question for place in item])


def _of(table: LabelTable, predictor: Predictor) -> Floats:
    import numpy as np

    return np.array([[predictor.values.get(item.id, np.nan)] for item in table.items])


def _others(table: LabelTable, by: AgreementBy, value: str | None, seed: int) -> Iterator[PredictorAgreement]:
    """Each label against the mean of the others' labels of the item: with two people, both ways round. Nothing for one person."""
    import numpy as np

    if len(table.people) > 1:
        means = np.stack([others_mean(table, person) for person in range(len(table.people))], axis=1)
        yield _figures(table, _rows(table, means), OTHERS, "people", group=(by, value), seed=seed)


def _against(table: LabelTable, predictor: Predictor, by: AgreementBy, value: str | None, seed: int) -> PredictorAgreement:
    agreement = _figures(table, _rows(table, _of(table, predictor)), predictor.name, predictor.kind, group=(by, value), seed=seed)
    there = {item.id for item in table.items}
    update: dict[str, object] = {
        "missing": dict(Counter(why for name, why in predictor.missing.items() if name in there)),
        "fits": predictor.dimension == table.aspect,
    }
    if predictor.kind == "judge" and table.scope == "pairs":
        update |= _winner(table, predictor, seed)
    return agreement.model_copy(update=update)


def _figures(
    table: LabelTable, rows: _LabelRows, name: str, kind: PredictorKind, *, group: tuple[AgreementBy, str | None], seed: int,
) -> PredictorAgreement:
    """All kinds of correlation for all items; Spearman's only for a group."""
    import numpy as np

    whole = group[0] == "all"
    correlation = correlate(rows.x, rows.y, seed=seed, units=rows.units, kinds=KINDS if whole else ("spearman",))
    shared: dict[str, object] = {
        "predictor": name, "kind": kind, "aspect": table.aspect, "by": group[0], "value": group[1], "n": correlation.n,
        "items": len(set(rows.item)), "reason": _reason(correlation.n, correlation.constant),
        **{kind_name: estimated(figure) for kind_name, figure in correlation.values.items()},
    }
    if table.scope == "pairs":
        shared["concordance"] = _concordance(rows, seed)
    if whole and kind != "people":
        places = sorted(set(rows.item))
        labels = np.array(rows.y)
        means = [float(labels[[index for index, item in enumerate(rows.item) if item == place]].mean()) for place in places]
        firsts = [rows.x[rows.item.index(place)] for place in places]
        units = [table.items[place].question for place in places]
        by_item = correlate(firsts, means, seed=seed, units=units, kinds=("spearman",))
        shared["spearman_mean"] = estimated(by_item.values.get("spearman"))
    return PredictorAgreement.model_validate(shared)


def _reason(n: int, constant: str | None) -> str | None:
    if constant:
        return {
            "first": "its value is always the same", "second": "all labels are the same", "both": "all values and labels are the same",
        }[constant]
    return None if n >= 3 else "fewer than 3 labels with a value"


def _concordance(rows: _LabelRows, seed: int) -> Estimated:
    """Labels that prefer a side: the share where the difference has that sign; no difference counts half."""
    import numpy as np

    decided = np.abs(rows.y) > REST
    x, y = rows.x[decided], rows.y[decided]
    right = np.where(np.abs(x) <= REST * magnitude(rows.x), 0.5, (np.sign(x) == np.sign(y)).astype(np.float64))
    return _mean(right, list(compress(rows.units, decided)), seed)


def _winner(table: LabelTable, predictor: Predictor, seed: int) -> dict[str, object]:
    """Same winner as most people: A, B or equal. Items without a majority are left out."""
    import numpy as np

    first, second, units = [], [], []
    for item, row in zip(table.items, table.numbers, strict=True):
        most = majority([sign(value) for value in row[~np.isnan(row)]]).label
        if isinstance(most, int) and item.id in predictor.values:
            gap = predictor.values[item.id]
            first.append(most + 1)
            # a gap of sums of points: equal sums may differ in their last digits
            second.append(1 + sign(gap))
            units.append(item.question)
    agreement = agreed(first, second, categories=3, seed=seed, units=units)
    return {"winner": estimated(agreement.raw), "winner_kappa": estimated(agreement.kappa)}


def nearest(table: LabelTable, predictors: Sequence[Predictor], *, seed: int) -> list[Nearest]:
    """Predictors by Spearman's rho, all on the labels for which every one of them has a value."""
    import numpy as np

    valued = [(predictor.name, _of(table, predictor)) for predictor in predictors if predictor.values]
    if not valued:
        return []
    # over the same labels: a predictor with values for the easy items alone would stand first
    common = ~np.isnan(np.concatenate([values for _, values in valued], axis=1)).any(axis=1)
    rows = [(name, _rows(table, np.where(common[:, None], values, np.nan))) for name, values in valued]
    able = [(name, row) for name, row in rows if len(row.y) > 2 and np.ptp(tied(row.x)) and np.ptp(tied(row.y))]
    ranked = sorted(((plain(row.x, row.y, "spearman"), name, row) for name, row in able), key=lambda figure: (-figure[0], figure[1]))
    order: list[Nearest] = []
    for (rho, name, row), rank in zip(ranked, ranks([rho for rho, _, _ in ranked]), strict=True):
        behind = Estimated() if row is ranked[0][2] else _behind(ranked[0][2], row, ranked[0][0] - rho, seed)
        told_apart = None if behind.low is None or behind.high is None else side(behind.low, behind.high) != 0
        order.append(Nearest(
            aspect=table.aspect, rank=rank, predictor=name, n=len(row.y), spearman=rho, behind=behind, told_apart=told_apart,
        ))
    return order


def _behind(best: _LabelRows, other: _LabelRows, value: float, seed: int) -> Estimated:
    ahead, after = statistic(best.x, best.y, "spearman"), statistic(other.x, other.y, "spearman")
    return Estimated.of(value, resampled(lambda w: ahead(w) - after(w), numbered(best.units, len(best.y)), seed=seed))
