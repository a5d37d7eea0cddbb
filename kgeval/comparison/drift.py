"""Did the judge move? A fixed set of labelled pairs is judged again in each run. Pure.

The pairs are the same each time, so the two runs are compared pair by pair. Two questions, answered apart: does it agree with people as
often as before (McNemar over the pairs), and does it say the same as before? A judge may change a third of its verdicts while its
agreement stays: the first question alone would not show it. A judge that is asked several times differs from itself by chance; so the
second question is put to a permutation test: within each pair the outcomes of both runs are dealt out again, and the sum of
|mean now - mean then| is compared with what that gives. If the judge did not change, every deal is as likely.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import multimode

from kgeval.comparison.given.tables import tables_of_verdicts
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import Anchor, ComparisonReport, ComparisonVerdict, Drift, Estimated, Procedure, Winner
from kgeval.rounding import REST, sign

SURE = 0.05
SIDES = ("a", "b")  # what the two answers of an anchor are called in its verdicts
OUTCOME: Mapping[Winner, int] = {"a": 1, "tie": 0, "b": -1}
RESAMPLES = 10_000
NOT_JUDGED = "not judged"
CHANGED_SET = "pairs of the baseline that have another text now, or are gone, are left out of the comparison"
NONE_SHARED = "no pair stands in both runs: whether the judge moved is not known"
ASKED_ONCE = "each pair was judged once in a run: a changed verdict may be the judge's own chance; ask twice (--repeats 2) to tell"


def drift(
    anchors: Sequence[Anchor], verdicts: Iterable[ComparisonVerdict], baseline: ComparisonReport | Drift | None = None, *,
    seed: int = 0, confidence: float = 0.95, procedure: Procedure | None = None,
) -> Drift:
    """The judge on the anchors now, and against the drift of a baseline run.

    `verdicts`: those of the anchors, `question_id` being the anchor's id; the sides may have any names: in the first verdict of a pair,
    system A is answer_a. The judge's verdict of a pair is the majority of its outcomes (of its repeats and trials, each over both
    orders); as many of A as of B: a tie.
    A baseline without anchors gives a note.
    """
    from kgeval.stats.agreement import agreement

    ids = {anchor.id for anchor in anchors}
    tables = tables_of_verdicts(_as_sides(verdict for verdict in verdicts if verdict.question_id in ids), procedure=procedure).tables
    outcomes, causes = _outcomes(tables, OVERALL)
    scored = [anchor for anchor in anchors if anchor.id in outcomes]
    judge, people = [majority(outcomes[anchor.id]) for anchor in scored], [OUTCOME[anchor.label] for anchor in scored]
    aspects = {}
    for aspect in dict.fromkeys(name for anchor in anchors for name in anchor.aspects):
        own, _ = _outcomes(tables, aspect)
        both = [anchor for anchor in anchors if aspect in anchor.aspects and anchor.id in own]
        aspects[aspect] = _agreement([majority(own[anchor.id]) == OUTCOME[anchor.aspects[aspect]] for anchor in both], confidence)
    now = Drift(
        anchors=len(anchors), n_scored=len(scored),
        failures=dict(Counter(causes.get(anchor.id, NOT_JUDGED) for anchor in anchors if anchor.id not in outcomes)),
        agreement=_agreement([verdict == label for verdict, label in zip(judge, people, strict=True)], confidence),
        kappa=agreement(list(map(str, people)), list(map(str, judge))).kappa, aspects=aspects, outcomes=outcomes,
        marks={anchor.id: mark(anchor) for anchor in anchors},
    )
    before = baseline.drift if isinstance(baseline, ComparisonReport) else baseline
    if before is None:
        none = ["the baseline run judged no anchors: whether the judge moved is not known"] if baseline is not None else []
        return now.model_copy(update={"notes": none})
    return _compared(now, before, anchors, seed, confidence)


def _as_sides(verdicts: Iterable[ComparisonVerdict]) -> list[ComparisonVerdict]:
    """The verdicts with the sides called a and b: what stands first in a pair's first verdict is a, whatever other pairs call it."""
    sides: dict[str, dict[str, str]] = {}
    renamed = []
    for verdict in verdicts:
        called = sides.setdefault(verdict.question_id, {verdict.system_a: SIDES[0], verdict.system_b: SIDES[1]})
        if {verdict.system_a, verdict.system_b} <= called.keys():
            renamed.append(verdict.model_copy(update={
                "system_a": called[verdict.system_a], "system_b": called[verdict.system_b],
                "first": None if verdict.first is None else called.get(verdict.first),
            }))
    return renamed


def mark(anchor: Anchor) -> str:
    """A hash of the texts of a pair: another text is another pair, whatever it is called. A label may be corrected."""
    # as a JSON list, so that no text can be moved from one field to the next without another hash
    texts = json.dumps([anchor.question, anchor.answer_a, anchor.answer_b]).encode()
    return hashlib.blake2b(texts, digest_size=8).hexdigest()


def _outcomes(tables: Sequence[PairTable], aspect: str) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Pair -> the winner of each repeat of each trial, over its orders (1 A, 0 equal, -1 B); and why some have none."""
    import numpy as np

    outcomes: dict[str, list[int]] = {}
    causes: dict[str, str] = {}
    for table in tables:
        if aspect not in (OVERALL, *table.aspects):
            continue
        over_orders = table.call_gaps(aspect).mean(axis=2)  # (questions, trials, repeats); NaN where an order is lacking
        for place, question in enumerate(table.questions):
            answered = over_orders[place][~np.isnan(over_orders[place])]
            if answered.size:
                outcomes.setdefault(question.question_id, []).extend(sign(gap) for gap in answered)
            else:
                first = next((table.failures[key] for key in sorted(table.failures) if key[0] == place), NOT_JUDGED)
                causes[question.question_id] = first.partition(":")[0].strip()
    return outcomes, causes


def majority(outcomes: Sequence[int]) -> int:
    """The outcome that most repeats have; a tie where none has the most."""
    leading = multimode(outcomes)
    return leading[0] if len(leading) == 1 else 0


def _agreement(same: Sequence[bool], confidence: float) -> Estimated:
    """The share with Wilson's interval."""
    from kgeval.stats.intervals import quantile, wilson

    if not same:
        return Estimated()
    share = sum(same) / len(same)
    return Estimated.of(share, wilson(share, len(same), quantile=quantile(confidence)))


def _compared(now: Drift, before: Drift, anchors: Sequence[Anchor], seed: int, confidence: float) -> Drift:
    """`now` with what changed since `before`, over the pairs that both runs judged."""
    from kgeval.stats.bootstrap import bootstrap_mean
    from kgeval.stats.paired import mcnemar

    both = [
        anchor.id for anchor in anchors if anchor.id in now.outcomes and anchor.id in before.outcomes
        and now.marks.get(anchor.id) == before.marks.get(anchor.id, now.marks.get(anchor.id))
    ]
    changed_set = len(both) < len(before.outcomes) or any(now.marks.get(name) != mark for name, mark in before.marks.items())
    notes = [CHANGED_SET] if changed_set else []
    if not both:
        return now.model_copy(update={"compared": 0, "notes": [*notes, NONE_SHARED]})
    old, new = ([majority(run.outcomes[name]) for name in both] for run in (before, now))
    labels = {anchor.id: OUTCOME[anchor.label] for anchor in anchors}
    right_old, right_new = ([verdict == labels[name] for name, verdict in zip(both, run, strict=True)] for run in (old, new))
    steps = [float(after) - float(prior) for prior, after in zip(right_old, right_new, strict=True)]
    change = Estimated.of(sum(steps) / len(steps), bootstrap_mean(steps, seed=seed, confidence=confidence))
    change_p = mcnemar(steps.count(1.0), steps.count(-1.0))
    changed = sum(prior != after for prior, after in zip(old, new, strict=True)) / len(both)
    changed_p = dealt_again([(before.outcomes[name], now.outcomes[name]) for name in both], seed)
    return now.model_copy(update={
        "compared": len(both), "baseline_agreement": _agreement(right_old, confidence), "change": change, "change_p": change_p,
        "changed": changed, "changed_p": changed_p, "moved": has_moved(change_p, changed_p, changed),
        "notes": [*notes, *([ASKED_ONCE] if changed_p is None and changed else [])],
    })


def has_moved(change_p: float | None, changed_p: float | None, changed: float) -> bool | None:
    """Whether either test finds something, at SURE over both (Holm); None where no test can tell and verdicts differ."""
    from kgeval.stats.adjust import holm

    if any(p is not None and p < SURE for p in holm([change_p, changed_p])):
        return True
    return False if changed_p is not None or changed == 0 else None


def dealt_again(runs: Sequence[tuple[Sequence[int], Sequence[int]]], seed: int) -> float | None:
    """One-sided p of the sum of |mean now - mean then|, outcomes dealt out again within each pair; +1 correction.

    None where no pair has more than one outcome in a run: dealing would change no size.
    """
    import numpy as np

    if not any(len(then) > 1 or len(now) > 1 for then, now in runs):
        return None
    rng = np.random.default_rng(seed)
    seen, drawn = 0.0, np.zeros(RESAMPLES)
    for then, now in runs:
        pool = [*then, *now]
        seen += abs(sum(then) / len(then) - sum(now) / len(now))
        # all outcomes are equal: every deal gives 0, as the runs themselves do
        if min(pool) == max(pool):
            continue
        counts = [pool.count(1), pool.count(0), pool.count(-1)]
        dealt = rng.multivariate_hypergeometric(counts, len(then), size=RESAMPLES)  # how many of each come to the earlier run
        sums = dealt[:, 0] - dealt[:, 2]
        drawn += np.abs(sums / len(then) - (sum(pool) - sums) / len(now))
    # deals that equal what was seen must count, whatever their last digits
    return float((1 + (drawn >= seen - REST).sum()) / (1 + RESAMPLES))
