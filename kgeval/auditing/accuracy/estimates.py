"""From verdicts and labels to shares with intervals: of the judge alone (uncorrected), of people, and the judge corrected by people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from kgeval.auditing.accuracy.judge import ItemJudgement
from kgeval.auditing.accuracy.sample import Sample, SampleItem
from kgeval.auditing.accuracy.sheet import USES, HumanLabels
from kgeval.records import AccuracyKind, Estimate
from kgeval.stats.clusters import Clusters, ShareEstimate, arranged, ratio
from kgeval.stats.corrections import ppi, rogan_gladen

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

GOOD: dict[AccuracyKind, tuple[str, ...]] = {"relations": ("entailed",), "entities": ("right",), "duplicates": ("same",)}
# what else is worth a share: name -> labels; of all judged items
LABEL_SHARES: dict[AccuracyKind, dict[str, tuple[str, ...]]] = {
    "relations": {"contradicted": ("contradicted",), "not_stated": ("not_stated",)},
    "entities": {"real_entity": ("right", "wrong_type"), "wrong_type": ("wrong_type",), "not_an_entity": ("not_an_entity",)},
    "duplicates": {},
}
MAIN: dict[AccuracyKind, str] = {"relations": "accuracy", "entities": "accuracy", "duplicates": "precision"}
FLAGS = ("redundant", "irrelevant")
BLEMISHED = "wrong_redundant_or_irrelevant"
MOST_ROWS = 200
NOT_IN = -1.0  # the value of an item that a share is not about, such as a relation that is not entailed where those are split
CONSISTENT = "consistent"
_HIGH = {*MAIN.values(), CONSISTENT, "real_entity"}  # of all other shares less is better


def share_names() -> dict[str, Literal["higher", "lower"]]:
    """The names of all shares that a report can have, each with the way that is good."""
    of_labels = [name for shares in LABEL_SHARES.values() for name in shares]
    names = [*MAIN.values(), CONSISTENT, *of_labels, BLEMISHED, *(f"{flag}_of_entailed" for flag in FLAGS)]
    return {name: "higher" if name in _HIGH else "lower" for name in names}


@dataclass(frozen=True)
class LabelEvidence:
    """The sample, the judge's verdicts by item id (empty: no judge was asked), and what people said (None: nobody)."""

    sample: Sample
    kind: AccuracyKind
    judged: Mapping[str, ItemJudgement]
    people: HumanLabels | None

    def judge_value(self, item: SampleItem, labels: Sequence[str]) -> float | None:
        """1 if the judge gave one of the labels, 0 if another, None if unscored."""
        verdict = self.judged.get(item.id)
        return None if verdict is None or verdict.label is None else float(verdict.label in labels)

    def human_value(self, item: SampleItem, labels: Sequence[str]) -> float | None:
        """The share of annotators that gave one of the labels; None without a label."""
        return self.people.share(item.id, labels) if self.people else None


def consistency(evidence: LabelEvidence) -> LabelEvidence | None:
    """The same sample with what people said of consistency, and without the judge, who is not asked for it; None where nobody said."""
    uses = evidence.people.consistency if evidence.people else None
    return LabelEvidence(evidence.sample, evidence.kind, {}, uses) if uses else None


def main_estimates(evidence: LabelEvidence) -> list[Estimate]:
    """The main share by every way that is possible, the most trustworthy first; then the shares of labels and flags."""
    of, good = MAIN[evidence.kind], GOOD[evidence.kind]
    out: list[Estimate] = []
    if evidence.judged and evidence.people:
        out += corrected(evidence)
    if evidence.people:
        out.append(_by_people(evidence, of, good))
    if evidence.judged:
        out.append(_by_judge(evidence, of, partial(evidence.judge_value, labels=good)))
    if uses := consistency(evidence):
        out.append(_by_people(uses, CONSISTENT, USES[:1]))
    shares = LABEL_SHARES[evidence.kind].items()
    if evidence.people:
        out += [_by_people(evidence, name, labels) for name, labels in shares]
    if not evidence.judged:
        return out
    out += [_by_judge(evidence, name, partial(evidence.judge_value, labels=labels)) for name, labels in shares]
    if evidence.kind == "relations":
        out.append(_by_judge(evidence, BLEMISHED, partial(_blemished, evidence)))
        out += [_by_judge(evidence, f"{flag}_of_entailed", partial(_flagged, evidence, flag)) for flag in FLAGS]
    return out


def _blemished(evidence: LabelEvidence, item: SampleItem) -> float | None:
    """1 for a relation that is not entailed, or entailed but redundant or irrelevant [K 4.3, 5.2]."""
    verdict = evidence.judged.get(item.id)
    return None if verdict is None or verdict.label is None else float(verdict.label != "entailed" or bool(verdict.flags))


def _flagged(evidence: LabelEvidence, flag: str, item: SampleItem) -> float | None:
    """Of entailed relations: whether the flag is set."""
    verdict = evidence.judged.get(item.id)
    if verdict is None or verdict.label is None:
        return None
    return float(flag in verdict.flags) if verdict.label == "entailed" else NOT_IN


def _by_judge(
    evidence: LabelEvidence, of: str, value: Callable[[SampleItem], float | None], items: Sequence[SampleItem] | None = None,
) -> Estimate:
    """The judge's share over the sample, or over some items of it (a domain)."""
    own = evidence.sample.items if items is None else items
    values = {item.id: value(item) for item in own}
    causes = Counter(verdict.cause for item in own if (verdict := evidence.judged.get(item.id)) and verdict.cause)
    labelled = frozenset(name for name, verdict in evidence.judged.items() if verdict.label is not None)
    return _estimate(evidence.sample, of, values, by="judge", failures=dict(causes), labelled=labelled)


def _by_people(evidence: LabelEvidence, of: str, labels: Sequence[str], items: Sequence[SampleItem] | None = None) -> Estimate:
    """The people's share: the items on the sheet are the sample."""
    people = evidence.people or HumanLabels()
    own = evidence.sample.items if items is None else items
    values = {item.id: people.share(item.id, labels) for item in own if item.id in people.rows}
    missing = sum(value is None for value in values.values())
    failures = {"no label": missing} if missing else {}
    return _estimate(evidence.sample, of, values, by="people", failures=failures, labelled=frozenset(people.votes), part=people.rows)


_FORM = "ratio over clusters, Wilson (deff, t, fpc)"  # docs/accuracy.md spells it out


def _estimate(
    sample: Sample, of: str, values: Mapping[str, float | None], *, by: Literal["judge", "people"], failures: dict[str, int],
    labelled: frozenset[str], part: frozenset[str] | None = None,
) -> Estimate:
    """The share over the items that have a value; the others are `n - n_scored`. NOT_IN: not in the share at all.

    `by`: who gave the labels; `failures`: why items have none; `labelled`: the ids of all items of the sample that have one.
    `part`: the ids that count as drawn, where that is not the whole sample. A cluster without any label counts as not drawn:
    what nobody labelled makes nothing surer.
    """
    drawn = [item for item in sample.items if part is None or item.id in part]
    seen = [item for item in drawn if item.id in labelled]
    # a cluster without any label counts as not drawn: `answered` is the labelled part of the others
    held = {item.cluster for item in seen}
    answered = len(seen) / max(1, sum(item.cluster in held for item in drawn))
    right, known = _columns(seen, values)
    share = ratio(right, known, design(sample, seen), answered=answered) if seen else None
    least, most = _bounds(sample, drawn, values)
    how = _how_sure(share, everything=sample.census and len(seen) == len(sample.items))
    return Estimate(
        of=of, labelled_by=by, method=f"{_FORM}{', uncorrected' if by == 'judge' else ''}{how}",
        n=sum(values.get(item.id, NOT_IN) != NOT_IN for item in drawn), n_scored=share.n if share else 0,
        clusters=share.clusters if share else 0, value=share.value if share else None, low=share.low if share else None,
        high=share.high if share else None, bound_low=least, bound_high=most, design_effect=share.design_effect if share else None,
        interval_effect=share.steadied if share and share.low is not None else None, failures=failures,
    )


def _columns(items: Sequence[SampleItem], values: Mapping[str, float | None], *, missing: float | None = None) -> tuple[Floats, Floats]:
    """Each item's value, and whether it is in the share: y and x of `ratio`. `missing`: the value of items without one; None: not in."""
    import numpy as np

    filled = [missing if value is None else value for value in (values.get(item.id, NOT_IN) for item in items)]
    inside = [value is not None and value != NOT_IN for value in filled]
    right = [value if value is not None and value > 0 else 0.0 for value in filled]
    return np.array(right, dtype=np.float64), np.array(inside, dtype=np.float64)


def _bounds(sample: Sample, drawn: Sequence[SampleItem], values: Mapping[str, float | None]) -> tuple[float | None, float | None]:
    """The share if every item without a label were wrong, and if every one were right."""
    if not drawn:
        return None, None
    clusters = design(sample, drawn)
    low, high = (ratio(*_columns(drawn, values, missing=value), clusters) for value in (0.0, 1.0))
    return (low.value if low else None, high.value if high else None)


def _how_sure(found: ShareEstimate | None, *, everything: bool) -> str:
    """The end of the method: what the reader must know of this case."""
    if found is None:
        return "; no item has a label"
    if everything:
        return "; all were drawn: no sampling error"
    if found.low is None:
        return "; labels in one cluster only: no interval"
    if found.design_effect is None:
        return "; no variation seen: clusters counted as half alike"
    return f", df {found.df}"


def design(sample: Sample, items: Sequence[SampleItem]) -> Clusters:
    """The clusters of these items in the codes of `stats`: a cluster without one of them counts as not drawn."""
    strata = {item.cluster: item.stratum for item in items}
    return arranged([item.cluster for item in items], strata, sample.clusters)


def corrected(evidence: LabelEvidence) -> list[Estimate]:
    """PPI++ and Rogan-Gladen, side by side, over the items that the judge scored."""
    import numpy as np

    good = GOOD[evidence.kind]
    items = [item for item in evidence.sample.items if evidence.judge_value(item, good) is not None]
    people = [evidence.human_value(item, good) for item in items]
    labelled = np.array([value is not None for value in people], dtype=np.bool_)
    clusters = design(evidence.sample, items)
    judged_right = np.array([evidence.judge_value(item, good) for item in items], dtype=np.float64)
    truth = np.array([value or 0.0 for value in people], dtype=np.float64)
    if not items:
        return []
    estimates = []
    for method, estimate in (
        ("PPI++ over clusters", ppi(truth, judged_right, labelled, clusters)),
        ("Rogan-Gladen, delta method over clusters", rogan_gladen(truth, judged_right, labelled, clusters)),
    ):
        parts = [f"{estimate.labels} labels"]
        parts += [f"lambda {estimate.power:.2f}"] if estimate.power is not None else []
        if estimate.sensitivity is not None and estimate.specificity is not None:
            parts.append(f"sensitivity {estimate.sensitivity:.2f}, specificity {estimate.specificity:.2f}")
        parts += [f"not defined: {estimate.reason}" if estimate.value is None else estimate.reason] if estimate.reason else []
        estimates.append(Estimate(
            of=MAIN[evidence.kind], labelled_by="judge corrected by people", method=f"{method}: {'; '.join(parts)}",
            n=len(evidence.sample.items), n_scored=len(clusters.of_item), clusters=len(clusters.stratum),
            value=estimate.value, low=estimate.low, high=estimate.high,
        ))
    return estimates


def split(
    evidence: LabelEvidence, by: Callable[[SampleItem], str | None], good: Sequence[str] | None = None,
) -> list[Estimate]:
    """The main share, or that of the labels in `good`, of each group of items (a domain of the sample), largest groups first; by people
    where no judge was asked."""
    groups: dict[str, list[SampleItem]] = {}
    for item in evidence.sample.items:
        name = by(item)
        if name is not None:
            groups.setdefault(name, []).append(item)
    good = GOOD[evidence.kind] if good is None else good
    ranked = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:MOST_ROWS]
    if not evidence.judged:
        return [_by_people(evidence, name, good, items) for name, items in ranked]
    return [_by_judge(evidence, name, partial(evidence.judge_value, labels=good), items) for name, items in ranked]
