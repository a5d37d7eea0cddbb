"""A judge's relative win rate corrected by few labels of people. Pure.

The labels must be a random sample of the judged questions: a person who labels the questions where the judge looks wrong, or the ones
that are easy, turns the result round (docs/stats-corrections.md shows it). A test of selection looks for that as far as the judge's own
verdicts can tell. The unit is the question: several labels of one are averaged, and so are the judge's trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.comparison.given.outcomes import question_wins
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import CorrectedRate, Estimated

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.files.label_files import PairLabel
    from kgeval.stats.clusters import Clusters
    from kgeval.stats.corrections import Corrected

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

SELECTED = 0.05
RESAMPLES = 10_000
UNDEFINED = 0.01  # share of resamples that may leave a correction undefined
WITHOUT_END = 1e12  # questions in the population: the sample is no part of it worth counting


@dataclass(frozen=True)
class LabelledQuestions:
    """The labels of one pair. `values`: question -> from -1 (B better) to 1 (A better), the mean over people, in the direction of the
    pair; `unknown`: labels of questions that this pair was not judged on, with their places."""

    values: Mapping[str, float]
    unknown: tuple[str, ...] = ()


def labels_of(table: PairTable, labels: Sequence[PairLabel], aspect: str = OVERALL) -> LabelledQuestions:
    """The labels that are about this pair and aspect, turned to its direction."""
    pair = (table.system_a, table.system_b)
    known = {one.question_id for one in table.questions}
    found: dict[str, list[float]] = {}
    unknown = []
    for label in labels:
        named = (label.system_a, label.system_b)
        if label.aspect != aspect or (None not in named and set(named) != set(pair)):
            continue
        if label.question_id not in known:
            unknown.append(f"{label.where}: question '{label.question_id}'")
            continue
        turned = label.system_a is not None and named != pair
        found.setdefault(label.question_id, []).append(-label.value if turned else label.value)
    return LabelledQuestions({question: sum(values) / len(values) for question, values in found.items()}, tuple(unknown))


def corrected(table: PairTable, labelled: LabelledQuestions, *, seed: int, aspect: str = OVERALL) -> tuple[CorrectedRate, ...]:
    """The relative win rate of a pair: as the judge has it, by the labels alone, by PPI++, and by Rogan-Gladen.

    Labels of questions without a verdict of the judge count for `people` only. Values in -1..1 with 95 % intervals over questions.
    """
    import numpy as np

    judge = question_wins(table, aspect)
    people = np.array([labelled.values.get(one.question_id, np.nan) for one in table.questions])
    known = ~np.isnan(judge)
    judge_known, people_known = judge[known], people[known]
    has = ~np.isnan(people_known)
    given = people[~np.isnan(people)]
    n = len(judge_known)
    rows = (
        _plain("judge", judge_known, n, int(has.sum()), seed), _plain("people", given, n, len(given), seed),
        _ppi(judge_known, people_known, has), _rogan_gladen(judge_known, people_known, has, seed),
    )
    about = {"system_a": table.system_a, "system_b": table.system_b, "aspect": aspect, "selection_p": _selection(judge_known, has)}
    return tuple(row.model_copy(update=about) for row in rows)


def selected(rates: Sequence[CorrectedRate]) -> str | None:
    """A warning where the labelled questions are no random part of the judged ones; null else."""
    low = [one.selection_p for one in rates if one.selection_p is not None and one.selection_p < SELECTED]
    if not low:
        return None
    return (
        f"the labelled questions are no random part of the judged ones (p = {min(low):.2g}): the judge decides them otherwise than the "
        "rest, so the corrections are not to be trusted; label questions drawn at random"
    )


def alone(n: int) -> Clusters:
    """Each question a cluster of its own, of a population without end."""
    import numpy as np

    from kgeval.stats.clusters import Clusters

    return Clusters(np.arange(n), np.zeros(n, dtype=np.int64), np.array([WITHOUT_END]))


def _row(method: str, n: int, labels: int) -> CorrectedRate:
    """A row without figures; the pair's names are put in at the end."""
    return CorrectedRate(system_a="", system_b="", method=method, n=n, labels=labels, relative=Estimated())


def _plain(method: str, values: Floats, n: int, labels: int, seed: int) -> CorrectedRate:
    from kgeval.stats.bootstrap import bootstrap_mean

    base = _row(method, n, labels)
    if not len(values):
        return base.model_copy(update={"reason": "no question has a label" if method == "people" else "no question has a verdict"})
    interval = bootstrap_mean(values, seed=seed)
    low, high = (interval.low, interval.high) if interval else (None, None)
    return base.model_copy(update={"relative": Estimated(value=float(values.mean()), low=low, high=high)})


def _ppi(judge: Floats, people: Floats, has: Mask) -> CorrectedRate:
    """PPI++ on win - loss brought to 0..1: an even change of scale, so the estimate, lambda and variance are those of -1..1."""
    import numpy as np

    from kgeval.stats.corrections import Corrected, ppi

    n = len(judge)
    found = ppi((np.where(has, people, 0.0) + 1) / 2, (judge + 1) / 2, has, alone(n)) if n else Corrected(0, reason="no verdict")
    return _row("ppi++", n, int(has.sum())).model_copy(update={"relative": _relative(found), "reason": found.reason})


def _rogan_gladen(judge: Floats, people: Floats, has: Mask, seed: int) -> CorrectedRate:
    """Both binary parts, each corrected by its own rates: A is better or not, B is better or not; the difference of the two shares.

    A tie is "not" in both. The interval: percentiles over resampled questions, which keep what the two parts share.
    """
    import numpy as np

    from kgeval.stats.corrections import rogan_gladen

    base = _row("rogan-gladen", len(judge), int(has.sum()))
    if not len(judge):
        return base.model_copy(update={"reason": "the judge has no verdict"})
    said, true = np.sign(np.round(judge, 9)), np.sign(np.where(has, people, 0.0))
    shares = []
    for side, name in ((1.0, "A"), (-1.0, "B")):
        found = rogan_gladen((true == side).astype(np.float64), (said == side).astype(np.float64), has, alone(len(judge)))
        if found.value is None:
            return base.model_copy(update={"reason": f"of '{name} is better': {found.reason}"})
        shares.append(found.value)
    value = shares[0] - shares[1]
    drawn = _redrawn(said, true, has, seed)
    if drawn is None:
        why = "in some resamples the judge is no better than chance: label more questions for an interval"
        return base.model_copy(update={"relative": Estimated(value=value), "reason": why})
    low, high = (float(end) for end in np.quantile(drawn, (0.025, 0.975)))
    return base.model_copy(update={"relative": Estimated(value=value, low=min(low, value), high=max(high, value))})


def _redrawn(said: Floats, true: Floats, has: Mask, seed: int) -> Floats | None:
    """The estimate in RESAMPLES resamples of the questions; null where more than UNDEFINED of them leave it undefined.

    Everything depends on how many questions are in each of 12 cells (judge: A, tie, B; people: A, tie, B, no label), so only these
    numbers are drawn.
    """
    import numpy as np

    cells = np.zeros((3, 4))
    np.add.at(cells, ((1 - said).astype(int), np.where(has, 1 - true, 3).astype(int)), 1)
    drawn = np.random.default_rng(seed).multinomial(len(said), (cells / len(said)).ravel(), size=RESAMPLES).reshape(-1, 3, 4)
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
        defined &= slope > 1e-9
        seen = drawn[:, side].sum(axis=1) / len(said)
        values += sign * np.clip((seen - false_alarms) / np.where(slope > 1e-9, slope, 1.0), 0, 1)
    kept: Floats = values[defined]
    return kept if len(kept) >= (1 - UNDEFINED) * RESAMPLES else None


def _relative(found: Corrected) -> Estimated:
    """A share in 0..1 as win - loss in -1..1."""
    value, low, high = (None if one is None else 2 * one - 1 for one in (found.value, found.low, found.high))
    return Estimated(value=value, low=low, high=high)


def _selection(judge: Floats, has: Mask) -> float | None:
    from kgeval.stats.corrections import selection

    return selection((judge + 1) / 2, has, alone(len(judge))) if len(judge) else None
