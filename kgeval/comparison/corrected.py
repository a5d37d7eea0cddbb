"""A judge's relative win rate, or share, corrected by few labels of people. Pure.

The labels must be a random sample of the judged questions: a person who labels the questions where the judge looks wrong, or the ones
that are easy, turns the result round (docs/stats-corrections.md shows it). A test of selection looks for that as far as the judge's own
verdicts can tell. The unit is the question: several labels of one are averaged, and so are the judge's trials.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import CorrectedRate, CorrectedShare, Estimated
from kgeval.rounding import REST

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.clusters import Clusters
    from kgeval.tables.label_files import PairLabel

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

SELECTED = 0.05
RESAMPLES = 10_000
UNDEFINED = 0.01  # share of resamples that may leave a correction undefined
WITHOUT_END = 1e12  # questions or items in the population: the sample is no part of it worth counting


@dataclass(frozen=True)
class LabelledQuestions:
    """The labels of one pair. `values`: question -> from -1 (B better) to 1 (A better), the mean over people, in the direction of the
    pair; `unknown`: labels of questions that this pair was not judged on, with their places."""

    values: Mapping[str, float]
    unknown: tuple[str, ...] = ()


def labels_of(table: PairTable, labels: Sequence[PairLabel], aspect: str = OVERALL) -> LabelledQuestions:
    """The labels that are about this pair and aspect, in its direction."""
    pair = (table.system_a, table.system_b)
    judged_questions = {question.question_id for question in table.questions}
    values: dict[str, list[float]] = {}
    unknown = []
    for label in labels:
        named = (label.system_a, label.system_b)
        if label.aspect != aspect or (None not in named and set(named) != set(pair)):
            continue
        if label.question_id not in judged_questions:
            unknown.append(f"{label.where}: question '{label.question_id}'")
            continue
        swapped = label.system_a is not None and named != pair
        values.setdefault(label.question_id, []).append(-label.value if swapped else label.value)
    return LabelledQuestions({question: sum(given) / len(given) for question, given in values.items()}, tuple(unknown))


def corrected(table: PairTable, labelled: LabelledQuestions, *, seed: int, aspect: str = OVERALL) -> tuple[CorrectedRate, ...]:
    """The relative win rate of a pair: as the judge has it, by the labels alone, by PPI++, and by Rogan-Gladen.

    Labels of questions without a verdict of the judge count for `people` only. Values in -1..1 with 95 % intervals over questions.
    """
    import numpy as np

    from kgeval.comparison.results.pair import estimated_mean
    from kgeval.stats.corrections import ppi, selection

    verdicts, documents = table.question_wins(aspect), table.documents
    people = np.array([labelled.values.get(question.question_id, np.nan) for question in table.questions])
    labelled_places = ~np.isnan(people)
    judged = ~np.isnan(verdicts)
    judge, labels = verdicts[judged], people[judged]
    n, has = len(judge), ~np.isnan(labels)
    drawn = _clusters(documents[judged].tolist())
    selected_p = selection((judge + 1) / 2, has, drawn) if n else None

    def row(method: str, count: int, relative: Estimated, reason: str | None = None) -> CorrectedRate:
        return CorrectedRate(
            system_a=table.system_a, system_b=table.system_b, aspect=aspect, method=method, n=n, labels=count, relative=relative,
            selection_p=selected_p, reason=reason,
        )

    def plain(method: str, values: Floats, places: Mask, count: int, lacking: str) -> CorrectedRate:
        if not places.any():
            return row(method, count, Estimated(), lacking)
        return row(method, count, estimated_mean(values[places], documents[places], seed=seed))

    both = int(has.sum())
    rows = [
        plain("judge", verdicts, judged, both, "no question has a verdict"),
        plain("people", people, labelled_places, int(labelled_places.sum()), "no question has a label"),
    ]
    if not n:
        return (*rows, row("ppi++", both, Estimated(), "no verdict"), row("rogan-gladen", both, Estimated(), "the judge has no verdict"))
    # PPI++ on win - loss brought to 0..1: an even change of scale, so the estimate, lambda and variance are those of -1..1
    estimate = ppi((np.where(has, labels, 0.0) + 1) / 2, (judge + 1) / 2, has, drawn)
    value, low, high = (None if end is None else 2 * end - 1 for end in (estimate.value, estimate.low, estimate.high))
    rows.append(row("ppi++", both, Estimated(value=value, low=low, high=high), estimate.reason))
    return (*rows, row("rogan-gladen", both, *_rogan_gladen(judge, labels, has, drawn, seed)))


def selected(rates: Sequence[CorrectedRate]) -> str | None:
    """A warning where the labelled questions are no random part of the judged ones; None else."""
    low = [rate.selection_p for rate in rates if rate.selection_p is not None and rate.selection_p < SELECTED]
    if not low:
        return None
    return (
        f"the labelled questions are no random part of the judged ones (p = {min(low):.2g}): the judge decides them otherwise than the "
        "rest, so the corrections are not to be trusted; label questions drawn at random"
    )


def _rogan_gladen(judge: Floats, people: Floats, has: Mask, clusters: Clusters, seed: int) -> tuple[Estimated, str | None]:
    """Both binary parts, each corrected by its own rates: A is better or not, B is better or not; the difference of the two shares. And why
    there is no figure, or no interval.

    A tie is "not" in both. The interval: percentiles over resampled questions, which keep what the two parts share.
    """
    import numpy as np

    from kgeval.stats.corrections import rogan_gladen

    # means over trials of win and loss: 1/3 + 1/3 - 2/3 must be a tie
    verdicts, true = (np.sign(np.where(np.abs(of) > REST, of, 0.0)) for of in (judge, np.where(has, people, 0.0)))
    shares = []
    for side, name in ((1.0, "A"), (-1.0, "B")):
        share = rogan_gladen((true == side).astype(np.float64), (verdicts == side).astype(np.float64), has, clusters)
        if share.value is None:
            return Estimated(), f"of '{name} is better': {share.reason}"
        shares.append(share.value)
    value = shares[0] - shares[1]
    drawn = _redrawn(verdicts, true, has, seed)
    if drawn is None:
        return Estimated(value=value), "in some resamples the judge is no better than chance: label more questions for an interval"
    low, high = (float(end) for end in np.quantile(drawn, (0.025, 0.975)))
    return Estimated(value=value, low=min(low, value), high=max(high, value)), None


def _redrawn(verdicts: Floats, true: Floats, has: Mask, seed: int) -> Floats | None:
    """The estimate in RESAMPLES resamples of the questions; None where more than UNDEFINED of them leave it undefined.

    Everything depends on how many questions are in each of 12 cells (judge: A, tie, B; people: A, tie, B, no label), so only these
    numbers are drawn.
    """
    import numpy as np

    # 10,000 tables of 12 numbers instead of 10,000 samples of all questions
    cells = np.zeros((3, 4))
    np.add.at(cells, ((1 - verdicts).astype(int), np.where(has, 1 - true, 3).astype(int)), 1)
    drawn = np.random.default_rng(seed).multinomial(len(verdicts), (cells / len(verdicts)).ravel(), size=RESAMPLES).reshape(-1, 3, 4)
    values = np.zeros(RESAMPLES)
    defined = np.ones(RESAMPLES, dtype=bool)
    for side, sign in ((0, 1.0), (2, -1.0)):
        labelled = drawn[:, :, :3].astype(np.float64)
        positive, all_labelled = labelled[:, :, side].sum(axis=1), labelled.sum(axis=(1, 2))
        hits, named = labelled[:, side, side], labelled[:, side].sum(axis=1)
        negative = all_labelled - positive
        defined &= (positive > 0) & (negative > 0)
        sensitivity, false_alarms = hits / np.maximum(positive, 1), (named - hits) / np.maximum(negative, 1)
        slope = sensitivity - false_alarms
        # a judge that says yes to wrong ones as often as to right ones: the formula divides by the difference
        defined &= slope > REST
        seen = drawn[:, side].sum(axis=1) / len(verdicts)
        values += sign * np.clip((seen - false_alarms) / np.where(slope > REST, slope, 1.0), 0, 1)
    defined_values: Floats = values[defined]
    return defined_values if len(defined_values) >= (1 - UNDEFINED) * RESAMPLES else None


@dataclass(frozen=True)
class ShareItem:
    """One judged item: the judge's verdict in 0..1, the person's label in 0..1 (None: not labelled), and what it belongs to: items of one
    cluster (a question, a document) are not independent."""

    judge: float
    human: float | None
    cluster: str


def corrected_shares(items: Sequence[ShareItem]) -> tuple[list[CorrectedShare], float | None]:
    """The share as the judge has it, by the labels alone, by PPI++ and by Rogan-Gladen (where all are 0 or 1); and the p of selection."""
    import numpy as np

    from kgeval.stats.clusters import ratio
    from kgeval.stats.corrections import Corrected, ppi, rogan_gladen, selection

    judge = np.array([item.judge for item in items], dtype=np.float64)
    labelled = np.array([item.human is not None for item in items])
    people = np.array([item.human or 0.0 for item in items], dtype=np.float64)
    names = [item.cluster for item in items]
    clusters, n, labels = _clusters(names), len(items), int(labelled.sum())

    def plain(method: str, values: Floats, names: Sequence[str]) -> CorrectedShare:
        row = CorrectedShare(method=method, n=n, labels=labels)
        if not len(values):
            return row.model_copy(update={"reason": "no item has a label"})
        found = ratio(values, np.ones(len(values)), _clusters(names))
        return row if found is None else row.model_copy(update={"share": Estimated.of(found.value, found)})

    def row(method: str, found: Corrected) -> CorrectedShare:
        return CorrectedShare(
            method=method, n=n, labels=found.labels, share=Estimated.of(found.value, found), power=found.power,
            sensitivity=found.sensitivity, specificity=found.specificity, reason=found.reason,
        )

    rows = [
        plain("judge", judge, names), plain("people", people[labelled], [item.cluster for item in items if item.human is not None]),
        row("ppi++", ppi(people, judge, labelled, clusters)),
    ]
    if np.isin(judge, (0, 1)).all() and np.isin(people[labelled], (0, 1)).all():
        rows.append(row("rogan-gladen", rogan_gladen(people, judge, labelled, clusters)))
    else:
        reason = "only for verdicts and labels that are 0 or 1"
        rows.append(CorrectedShare(method="rogan-gladen", n=n, labels=labels, reason=reason))
    return rows, selection(judge, labelled, clusters)


def _clusters(names: Sequence[Hashable]) -> Clusters:
    import numpy as np

    from kgeval.stats.clusters import Clusters

    at = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return Clusters(np.array([at[name] for name in names], dtype=np.int64), np.zeros(len(at), dtype=np.int64), np.array([WITHOUT_END]))
