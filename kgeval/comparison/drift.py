"""Did the judge move? A fixed set of labelled pairs is judged again in each run. Pure.

The pairs are the same each time, so the two runs are compared pair by pair. Two questions, answered apart: does he agree with people as
often as before (McNemar over the pairs), and does he say the same as before? A judge may change a third of his verdicts while his
agreement stays: the first question alone would not show it. A judge that is asked several times differs from himself by chance; so the
second question is put to a permutation test: within each pair the outcomes of both runs are dealt out again, and the sum of
|mean now - mean then| is compared with what that gives. If the judge did not change, every deal is as likely.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from kgeval.comparison.given.tables import judged
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.records import Anchor, ComparisonReport, ComparisonVerdict, Drift, Estimated, Procedure, Winner

SURE = 0.05
SIDES = ("a", "b")  # what the two answers of an anchor are called in its verdicts
OUTCOME: Mapping[Winner, int] = {"a": 1, "tie": 0, "b": -1}
RESAMPLES = 10_000
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
    ids = {anchor.id for anchor in anchors}
    tables = judged(_as_sides(one for one in verdicts if one.question_id in ids), procedure=procedure).tables
    outcomes, failures = _outcomes(tables, OVERALL)
    scored = [anchor for anchor in anchors if anchor.id in outcomes]
    said = {anchor.id: majority(outcomes[anchor.id]) for anchor in scored}
    made = Drift(
        anchors=len(anchors), n_scored=len(scored), failures=_causes(anchors, outcomes, failures),
        agreement=_agreement([said[one.id] == OUTCOME[one.label] for one in scored], confidence), kappa=_kappa(scored, said),
        aspects=_aspects(anchors, tables, confidence), outcomes=outcomes, marks={one.id: mark(one) for one in anchors},
    )
    before = baseline.drift if isinstance(baseline, ComparisonReport) else baseline
    if before is None:
        none = ["the baseline run judged no anchors: whether the judge moved is not known"] if baseline is not None else []
        return made.model_copy(update={"notes": none})
    return _compared(made, before, anchors, seed, confidence)


def _as_sides(verdicts: Iterable[ComparisonVerdict]) -> list[ComparisonVerdict]:
    """The verdicts with the sides called a and b: what stands first in a pair's first verdict is a, whatever other pairs call it."""
    sides: dict[str, dict[str, str]] = {}
    found = []
    for one in verdicts:
        called = sides.setdefault(one.question_id, {one.system_a: SIDES[0], one.system_b: SIDES[1]})
        if {one.system_a, one.system_b} <= called.keys():
            first = None if one.first is None else called.get(one.first)
            found.append(one.model_copy(update={
                "system_a": called[one.system_a], "system_b": called[one.system_b], "first": first,
            }))
    return found


def mark(anchor: Anchor) -> str:
    """A hash of the texts of a pair: another text is another pair, whatever it is called. A label may be mended."""
    told = json.dumps([anchor.question, anchor.answer_a, anchor.answer_b]).encode()
    return hashlib.blake2b(told, digest_size=8).hexdigest()


def _outcomes(tables: Sequence[PairTable], aspect: str) -> tuple[dict[str, list[int]], dict[str, str]]:
    """Pair -> the winner of each repeat of each trial, over its orders (1 A, 0 equal, -1 B); and why some have none."""
    import numpy as np

    found: dict[str, list[int]] = {}
    causes: dict[str, str] = {}
    for table in tables:
        difference = table.points[..., 0] - table.points[..., 1]
        if aspect in table.aspects:
            gaps = difference[..., table.aspects.index(aspect)]
        elif aspect == OVERALL:
            gaps = difference.sum(axis=-1)
        else:
            continue
        over_orders = gaps.mean(axis=2)  # (questions, trials, repeats); NaN where an order is lacking
        for at, question in enumerate(table.questions):
            known = over_orders[at][~np.isnan(over_orders[at])]
            if known.size:
                found.setdefault(question.question_id, []).extend(int(np.sign(np.round(gap, 9))) for gap in known)
            else:
                first = next((table.failures[key] for key in sorted(table.failures) if key[0] == at), "not judged")
                causes[question.question_id] = first.partition(":")[0].strip()
    return found, causes


def _causes(anchors: Sequence[Anchor], outcomes: Mapping[str, object], causes: Mapping[str, str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for anchor in anchors:
        if anchor.id not in outcomes:
            cause = causes.get(anchor.id, "not judged")
            counts[cause] = counts.get(cause, 0) + 1
    return counts


def majority(outcomes: Sequence[int]) -> int:
    """The outcome that most repeats have; a tie where none has the most."""
    counts = {value: list(outcomes).count(value) for value in (1, 0, -1)}
    most = max(counts.values())
    leading = [value for value, count in counts.items() if count == most]
    return leading[0] if len(leading) == 1 else 0


def _agreement(same: Sequence[bool], confidence: float) -> Estimated:
    """The share with Wilson's interval."""
    from kgeval.stats.intervals import quantile, wilson

    if not same:
        return Estimated()
    share = sum(same) / len(same)
    found = wilson(share, len(same), quantile=quantile(confidence))
    return Estimated(value=share, low=found.low, high=found.high)


def _kappa(anchors: Sequence[Anchor], said: Mapping[str, int]) -> float | None:
    from kgeval.stats.agreement import agreement

    return agreement([str(OUTCOME[one.label]) for one in anchors], [str(said[one.id]) for one in anchors]).kappa


def _aspects(anchors: Sequence[Anchor], tables: Sequence[PairTable], confidence: float) -> dict[str, Estimated]:
    found = {}
    for aspect in dict.fromkeys(name for anchor in anchors for name in anchor.aspects):
        outcomes, _ = _outcomes(tables, aspect)
        both = [one for one in anchors if aspect in one.aspects and one.id in outcomes]
        found[aspect] = _agreement([majority(outcomes[one.id]) == OUTCOME[one.aspects[aspect]] for one in both], confidence)
    return found


def _compared(now: Drift, before: Drift, anchors: Sequence[Anchor], seed: int, confidence: float) -> Drift:
    """`now` with what changed since `before`, over the pairs that both runs judged."""
    from kgeval.stats.bootstrap import bootstrap_mean
    from kgeval.stats.paired import mcnemar

    both = [one for one in anchors if _in_both(one.id, now, before)]
    changed_set = len(both) < len(before.outcomes) or any(now.marks.get(one) != said for one, said in before.marks.items())
    notes = [CHANGED_SET] if changed_set else []
    if not both:
        return now.model_copy(update={"compared": 0, "notes": [*notes, NONE_SHARED]})
    old, new = ([majority(run.outcomes[one.id]) for one in both] for run in (before, now))
    labels = [OUTCOME[one.label] for one in both]
    right_old, right_new = ([said == label for said, label in zip(run, labels, strict=True)] for run in (old, new))
    steps = [float(after) - float(prior) for prior, after in zip(right_old, right_new, strict=True)]
    interval = bootstrap_mean(steps, seed=seed, confidence=confidence)
    change_p = mcnemar(steps.count(1.0), steps.count(-1.0))
    changed = sum(prior != after for prior, after in zip(old, new, strict=True)) / len(both)
    changed_p = dealt_again([(before.outcomes[one.id], now.outcomes[one.id]) for one in both], seed)
    change = Estimated(
        value=sum(steps) / len(steps), low=interval.low if interval else None, high=interval.high if interval else None,
    )
    return now.model_copy(update={
        "compared": len(both), "baseline_agreement": _agreement(right_old, confidence), "change": change, "change_p": change_p,
        "changed": changed, "changed_p": changed_p, "moved": has_moved(change_p, changed_p, changed),
        "notes": [*notes, *([ASKED_ONCE] if changed_p is None and changed else [])],
    })


def _in_both(one: str, now: Drift, before: Drift) -> bool:
    return one in now.outcomes and one in before.outcomes and now.marks.get(one) == before.marks.get(one, now.marks.get(one))


def has_moved(change_p: float | None, changed_p: float | None, changed: float) -> bool | None:
    """Whether either test finds something, at SURE over both (Holm); null where no test can tell and verdicts differ."""
    from kgeval.stats.adjust import holm

    if any(p is not None and p < SURE for p in holm([change_p, changed_p])):
        return True
    return False if changed_p is not None or changed == 0 else None


def dealt_again(runs: Sequence[tuple[Sequence[int], Sequence[int]]], seed: int) -> float | None:
    """One-sided p of the sum of |mean now - mean then|, outcomes dealt out again within each pair; +1 correction.

    Null where no pair has more than one outcome in a run: dealing would change no size.
    """
    import numpy as np

    if not any(len(then) > 1 or len(now) > 1 for then, now in runs):
        return None
    rng = np.random.default_rng(seed)
    seen, drawn = 0.0, np.zeros(RESAMPLES)
    for then, now in runs:
        pool = [*then, *now]
        seen += abs(sum(then) / len(then) - sum(now) / len(now))
        if min(pool) == max(pool):
            continue
        counts = [pool.count(1), pool.count(0), pool.count(-1)]
        dealt = rng.multivariate_hypergeometric(counts, len(then), size=RESAMPLES)  # how many of each come to the earlier run
        sums = dealt[:, 0] - dealt[:, 2]
        drawn += np.abs(sums / len(then) - (sum(pool) - sums) / len(now))
    return float((1 + (drawn >= seen - 1e-9).sum()) / (1 + RESAMPLES))
