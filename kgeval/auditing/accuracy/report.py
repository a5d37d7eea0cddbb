"""Puts the accuracy report together: items, estimates, agreement, calibration, needed sizes, findings, and what to be wary of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.auditing.accuracy.duplicates import ListedPairs
from kgeval.auditing.accuracy.estimates import GOOD, MAIN, LabelEvidence, consistency, design, main_estimates, split
from kgeval.auditing.accuracy.findings import findings
from kgeval.auditing.accuracy.gold_pairs import GoldPair, against_gold
from kgeval.auditing.accuracy.judge import ItemJudgement
from kgeval.auditing.accuracy.sample import Sample, SampleItem
from kgeval.auditing.accuracy.sheet import USES, HumanLabels
from kgeval.records import AccuracyKind, AccuracyReport, CalibrationBin, Estimate, ItemVerdict, Layout, Passage, RunManifest
from kgeval.stats.agreement import agreement, calibration_error, reliability
from kgeval.stats.corrections import selection
from kgeval.stats.intervals import needed

HALF_WIDTHS = (0.1, 0.05, 0.03, 0.02)
# docs/accuracy.md has the simulation: from 30 clusters on the intervals hold, with 20 nearly
FEW_CLUSTERS = 20  # with fewer, the variance between clusters is itself a guess
SELECTED = 0.01  # p of a random choice of labelled items below which the reader is warned


@dataclass(frozen=True)
class Results:
    """Everything that was found out about one sample. `judged`, `people`: empty and None where nobody was asked. `crossed`: strata are
    types within documents."""

    kind: AccuracyKind
    sample: Sample
    judged: Mapping[str, ItemJudgement] = field(default_factory=dict)
    people: HumanLabels | None = None
    listed: ListedPairs | None = None
    gold: Sequence[GoldPair] = ()
    half_widths: Sequence[float] = ()
    crossed: bool = False


def accuracy_report(results: Results, *, graph: str | None, layout: Layout, run: RunManifest) -> AccuracyReport:
    """The report of a sample. Pure: everything was read and asked before."""
    evidence = LabelEvidence(results.sample, results.kind, results.judged, results.people)
    estimates = main_estimates(evidence)
    passages = {passage: number for number, passage in enumerate(dict.fromkeys(p for item in results.sample.items for p in item.passages))}
    items = [_verdict(evidence, item, passages) for item in results.sample.items]
    bins, calibration_notes = _calibration(evidence)
    on_gold = against_gold(results.listed, results.gold) if results.listed and results.gold else None
    pairs = results.kind == "duplicates"
    uses = consistency(evidence)
    by_class = split(evidence, lambda item: item.failure_class) if pairs and (results.judged or results.people) else []
    return AccuracyReport(
        graph=graph, run=run, layout=layout, kind=results.kind, design=results.sample.design, estimates=estimates,
        by_type=[] if pairs else split(evidence, lambda item: item.type), by_document=split(evidence, lambda item: item.document),
        by_stratum=split(evidence, lambda item: item.stratum) if results.crossed else [],
        consistent_by_type=split(uses, lambda item: item.type, USES[:1]) if uses else [],
        labels=_counted(v.label for v in results.judged.values()), flags=_counted(f for v in results.judged.values() for f in v.flags),
        needed=_needed(estimates, results), agreement=_agreement(evidence), calibration=bins,
        duplicates={"pairs_listed": len(results.listed.pairs), **(on_gold.figures() if on_gold else {})} if results.listed else {},
        by_class=[*by_class, *(on_gold.by_class if on_gold else [])], items=items, passages=list(passages),
        findings=findings(items, results.kind, results.sample) if results.judged or results.people else [],
        notes=[*results.sample.notes, *_warnings(evidence, estimates), *calibration_notes],
    )


def best(estimates: Sequence[Estimate], of: str) -> Estimate | None:
    """The most trustworthy estimate of a share that has a value: PPI++, then people, then the judge alone.

    Before them stand those with an interval. A judge never comes before people, who were asked to correct it.
    """
    ranked = {"judge corrected by people": 0, "people": 1, "judge": 2}
    known = [e for e in estimates if e.of == of and e.value is not None and not e.method.startswith("Rogan")]
    return min(known, key=lambda e: (e.labelled_by == "judge", e.low is None, ranked[e.labelled_by]), default=None)


def _verdict(evidence: LabelEvidence, item: SampleItem, passages: Mapping[Passage, int]) -> ItemVerdict:
    judged = evidence.judged.get(item.id) or ItemJudgement(item.id, reason="no judge was asked")
    human = evidence.people.majority(item.id) if evidence.people else None
    use = evidence.people.consistency.majority(item.id) if evidence.people and evidence.people.consistency else None
    return ItemVerdict(
        id=item.id, item=item.ref, text=f"{item.ref.name} = {item.partner.name}" if item.partner else item.ref.name,
        status="scored" if judged.label or human else "unscored", label=judged.label, human=human, consistency=use,
        reason=": ".join(filter(None, [judged.cause, judged.reason])) or None, flags=list(judged.flags), stratum=item.stratum or None,
        cluster=item.cluster, weight=item.weight, passages=[passages[passage] for passage in item.passages], call=judged.call,
    )


def _counted(names: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(name for name in names if name).most_common())


def _needed(estimates: Sequence[Estimate], results: Results) -> dict[str, int | None]:
    """Items to label for each half-width, by the spread seen here and the design effect that the interval uses."""
    of = MAIN[results.kind]
    seen = next((e for e in estimates if e.of == of and e.labelled_by != "judge corrected by people" and e.value is not None), None)
    if seen is None or seen.value is None:
        return {}
    widths = sorted({*HALF_WIDTHS, *results.half_widths}, reverse=True)
    effect, size = max(1.0, seen.interval_effect or seen.design_effect or 1.0), results.sample.design.population
    return {f"{width:g}": needed(seen.value, width, design_effect=effect, population=size) for width in widths}


def _agreement(evidence: LabelEvidence) -> dict[str, float | int | None]:
    """Judge against people (majority), and people among themselves (mean over pairs of annotators)."""
    if not evidence.people:
        return {}
    out: dict[str, float | int | None] = {}
    both = [(v.label, human) for item, v in evidence.judged.items() if v.label and (human := evidence.people.majority(item))]
    if evidence.judged:
        by_majority = agreement([judge for judge, _ in both], [human for _, human in both])
        out |= {"n": by_majority.n, "raw": by_majority.raw, "kappa": by_majority.kappa}
    out["annotators"] = len({label.annotator for label in evidence.people.labels})
    out |= _among(evidence.people, "people")
    return out | (_among(evidence.people.consistency, "consistency") if evidence.people.consistency else {})


def _among(people: HumanLabels, what: str) -> dict[str, float | int | None]:
    """Raw agreement and kappa of people, the mean over every two with items in common; nothing where there are no two."""
    names = sorted({label.annotator for label in people.labels})
    labels_of = {name: {label.id: label.label for label in people.labels if label.annotator == name} for name in names}
    pairs = [(labels_of[a], labels_of[b]) for position, a in enumerate(names) for b in names[position + 1 :]]
    found = [agreement([a[i] for i in shared], [b[i] for i in shared]) for a, b in pairs if (shared := sorted(a.keys() & b.keys()))]
    if not found:
        return {}
    kappas = [pair.kappa for pair in found if pair.kappa is not None]
    raw = sum(pair.raw or 0.0 for pair in found) / len(found)
    return {f"{what}_raw": raw, f"{what}_kappa": sum(kappas) / len(kappas) if kappas else None}


def _calibration(evidence: LabelEvidence) -> tuple[list[CalibrationBin], list[str]]:
    """Stored confidence against the share of right items; labels of people where there are some, else of the judge."""
    good = GOOD[evidence.kind]
    pairs = []
    for item in evidence.sample.items:
        right = evidence.human_value(item, good)
        right = evidence.judge_value(item, good) if right is None else right
        if right is not None and item.confidence is not None:
            pairs.append((item.confidence, right))
    if not pairs:
        return [], []
    if any(not 0 <= confidence <= 1 for confidence, _ in pairs):
        return [], ["the stored confidences are not shares between 0 and 1: not calibrated"]
    bins = reliability([c for c, _ in pairs], [r for _, r in pairs])
    error = calibration_error(bins)
    rows = [CalibrationBin(low=b.low, high=b.high, n=b.n, confidence=b.confidence, accuracy=b.accuracy) for b in bins]
    return rows, [f"stored confidence: expected calibration error {error:.3f} over {len(pairs)} relations in {len(bins)} bins"]


def _warnings(evidence: LabelEvidence, estimates: Sequence[Estimate]) -> list[str]:
    """What a reader must know before trusting the numbers."""
    notes = []
    if evidence.judged and not evidence.people:
        notes.append("uncorrected: the labels are a model's alone; label a sample by hand (--sheet, then --labels) to correct them")
    drawn = evidence.sample.design.clusters_drawn
    if 0 < drawn < FEW_CLUSTERS and not evidence.sample.census:
        notes.append(f"only {drawn} clusters were drawn: intervals are rough below {FEW_CLUSTERS}; raise --n")
    people = evidence.people
    if people is None:
        return notes
    missing = len(people.rows) - len(people.votes)
    if missing:
        notes.append(f"{missing} of {len(people.rows)} rows of the sheet have no label; estimates suppose that they are like the others")
    order = [item.id for item in evidence.sample.items]
    last = max((position for position, item in enumerate(order) if item in people.rows), default=-1)
    skipped = sum(item not in people.rows for item in order[: last + 1])
    if skipped:
        notes.append(f"{skipped} items are left out before the last labelled one: a part of the sheet must be its beginning, not a choice")
    chance = _selection(evidence, people)
    if chance is not None and chance < SELECTED:
        notes.append(
            "warning: the labelled items do not look random: the judge calls them right more or less often than the others "
            f"(p = {chance:.4f}); corrections by hand-picked labels can turn the result round"
        )
    split_votes = sum(people.majority(item) is None for item in people.votes)
    if split_votes:
        notes.append(f"{split_votes} items have as many votes for one label as for another: counted by their share of votes")
    return notes + _labels_saved(estimates, MAIN[evidence.kind])


def _selection(evidence: LabelEvidence, people: HumanLabels) -> float | None:
    """p of the labelled items being a random part of the judged ones; None where it cannot be told."""
    import numpy as np

    good = GOOD[evidence.kind]
    items = [item for item in evidence.sample.items if evidence.judge_value(item, good) is not None]
    if not items:
        return None
    judged_right = np.array([evidence.judge_value(item, good) for item in items], dtype=np.float64)
    return selection(judged_right, np.array([item.id in people.votes for item in items]), design(evidence.sample, items))


def _labels_saved(estimates: Sequence[Estimate], of: str) -> list[str]:
    """How many labels the judge was worth."""
    by = {e.labelled_by: e for e in reversed(estimates) if e.of == of and e.low is not None and not e.method.startswith("Rogan")}
    both, people = by.get("judge corrected by people"), by.get("people")
    if both is None or people is None or None in (both.low, both.high, people.low, people.high):
        return []
    widths = [(e.high or 0.0) - (e.low or 0.0) for e in (both, people)]
    if widths[1] <= 0 or widths[0] >= widths[1]:
        return ["the judge saves no labels here: people alone are as sure"]
    return [f"with the judge the interval is as wide as with about {(widths[1] / widths[0]) ** 2:.3g} times as many labels of people alone"]
