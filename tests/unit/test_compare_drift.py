"""Did the judge move? The same labelled pairs in two runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from kgeval.comparison.drift import drift, mark
from kgeval.records import Anchor, ComparisonReport, ComparisonVerdict, Drift, RunManifest, Winner
from kgeval.stats.paired import mcnemar

RIGHT: dict[int, Winner] = {1: "a", 0: "tie", -1: "b"}


def anchors(labels: Sequence[int]) -> list[Anchor]:
    return [
        Anchor(id=f"p{at}", question=f"Q{at}?", answer_a="one", answer_b="two", label=RIGHT[label]) for at, label in enumerate(labels)
    ]


def said(outcomes: Sequence[Sequence[int]], *, names: tuple[str, str] = ("x", "y")) -> list[ComparisonVerdict]:
    """Each pair's outcomes, repeat by repeat, each in both orders with the same winner."""
    points = {1: (1.0, 0.0), 0: (0.5, 0.5), -1: (0.0, 1.0)}
    return [
        ComparisonVerdict(
            question_id=f"p{at}", system_a=names[0], system_b=names[1], first=first, repeat=repeat, aspect="overall",
            procedure="pairwise-choice", score_a=points[value][0], score_b=points[value][1], winner=RIGHT[value],
        )
        for at, values in enumerate(outcomes) for repeat, value in enumerate(values, start=1) for first in names
    ]


def flipped(labels: Sequence[int], every: int, start: int = 0) -> list[list[int]]:
    return [[-label if at % every == start else label] for at, label in enumerate(labels)]


def test_agreement_is_the_share_of_labels_that_the_judge_gives_too() -> None:
    labels = [1, 1, -1, 0]
    found = drift(anchors(labels), said([[1], [-1], [-1], [0]]))
    assert (found.anchors, found.n_scored, found.agreement.value) == (4, 4, 0.75)
    # kappa by hand: people a 2, b 1, tie 1; judge a 1, b 2, tie 1: chance (2*1 + 1*2 + 1*1) / 16
    assert found.kappa == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    assert found.moved is None and found.compared is None


def test_change_of_agreement_is_mcnemar_over_the_pairs_as_truescore_has_it() -> None:
    """truescore 0.7.4 judge_drift on the same 80 pairs: 0.8875 -> 0.75, change -0.1375, p 0.028959274291992184, flips 0.3125."""
    labels = [1 if at * 37 % 10 < 6 else -1 for at in range(80)]
    before = drift(anchors(labels), said(flipped(labels, 9)))
    now = drift(anchors(labels), said(flipped(labels, 4, 1)), before)
    assert now.baseline_agreement is not None and now.change is not None
    assert (before.agreement.value, now.agreement.value, now.change.value) == pytest.approx((0.8875, 0.75, -0.1375), abs=1e-12)
    assert now.change_p == pytest.approx(stats.binomtest(7, 25).pvalue, abs=1e-12)
    assert mcnemar(7, 18, mid_p=True) == pytest.approx(0.028959274291992184, abs=1e-9)  # truescore's is the mid-p; ours is more careful
    assert now.changed == pytest.approx(0.3125, abs=1e-12)
    assert now.moved is True


def test_mcnemar_is_the_binomial_test_of_the_pairs_that_changed_sides() -> None:
    labels = [1] * 12
    before, now = [[1]] * 9 + [[-1]] * 3, [[-1]] * 7 + [[1]] * 5
    found = drift(anchors(labels), said(now), drift(anchors(labels), said(before)))
    assert found.change_p == pytest.approx(stats.binomtest(3, 10).pvalue, abs=1e-12)


def test_a_judge_who_says_the_same_has_not_moved() -> None:
    labels = [1, -1, 1, 0, -1, 1]
    verdicts = said([[label, label] for label in labels])
    found = drift(anchors(labels), verdicts, drift(anchors(labels), verdicts))
    assert (found.changed, found.moved, found.changed_p) == (0.0, False, 1.0)


def test_a_rewritten_judge_of_equal_accuracy_is_seen_by_his_verdicts() -> None:
    """Right on the even pairs before, on the odd ones now: the agreement stays 0.5, every verdict changed."""
    labels = [1, -1] * 20
    before = drift(anchors(labels), said([[label if at % 2 else -label] * 3 for at, label in enumerate(labels)]))
    now = drift(anchors(labels), said([[-label if at % 2 else label] * 3 for at, label in enumerate(labels)]), before)
    assert now.change is not None and now.change.value == 0
    assert now.change_p == pytest.approx(1.0)
    assert now.changed == 1.0 and now.changed_p is not None and now.changed_p < 0.001
    assert now.moved is True


@pytest.mark.slow
def test_a_wavering_judge_is_not_said_to_have_moved() -> None:
    """25 pairs of runs of one judge who errs at random in 30 % of his calls: 1 false alarm is to be expected at 5 %."""
    rng = np.random.default_rng(5)
    labels = [1, -1] * 15
    alarms = 0
    for seed in range(25):
        runs = [said([[int(label * rng.choice([1, -1], p=[0.7, 0.3])) for _ in range(2)] for label in labels]) for _ in range(2)]
        alarms += drift(anchors(labels), runs[1], drift(anchors(labels), runs[0]), seed=seed).moved is True
    assert alarms <= 4  # 5 or more has a chance under 0.01


def test_one_call_a_pair_cannot_tell_chance_from_change() -> None:
    labels = [1] * 10
    found = drift(anchors(labels), said([[1]] * 9 + [[-1]]), drift(anchors(labels), said([[1]] * 10)))
    assert found.moved is None
    assert any("judged once" in note for note in found.notes)


def test_pairs_with_another_text_are_not_compared_and_that_is_said() -> None:
    labels = [1, 1, -1]
    before = drift(anchors(labels), said([[1], [1], [-1]]))
    changed = anchors(labels)
    changed[0] = changed[0].model_copy(update={"answer_b": "three"})
    now = drift(changed, said([[-1], [1], [-1]]), before)
    assert now.compared == 2 and now.changed == 0
    assert any("another text" in note for note in now.notes)
    assert mark(changed[0]) != mark(anchors(labels)[0])


def test_a_mended_label_counts_for_both_runs() -> None:
    before = drift(anchors([1, 1]), said([[1], [1]]))
    now = drift(anchors([1, -1]), said([[1], [1]]), before)
    assert now.baseline_agreement is not None
    assert (before.agreement.value, now.baseline_agreement.value, now.agreement.value) == (1.0, 0.5, 0.5)
    assert now.moved is False


def test_failed_pairs_are_counted_with_their_cause_and_unknown_questions_passed_over() -> None:
    labels = [1, -1, 1]
    verdicts = said([[1], [-1], [1]])[:4]
    failed = verdicts[0].model_copy(update={
        "question_id": "p2", "score_a": None, "score_b": None, "winner": None, "failure": "timeout: 60 s",
    })
    found = drift(anchors(labels), [*verdicts, failed, failed.model_copy(update={"first": "y"}), verdicts[0].model_copy(
        update={"question_id": "other"})])
    assert (found.n_scored, found.failures) == (2, {"timeout": 1})


def test_sides_are_those_of_each_pairs_first_verdict() -> None:
    labels = [1, 1]
    one, other = said([[1]]), said([[1], [1]], names=("y", "x"))[2:]
    assert drift(anchors(labels), [*one, *other]).agreement.value == 1.0


def test_a_report_keeps_what_the_next_run_needs() -> None:
    labels = [1, -1, 0]
    before = drift(anchors(labels), said([[1], [-1], [0]]))
    report = ComparisonReport(run=RunManifest(kgeval="0", command="compare", started="now", seconds=1), signature="s", drift=before)
    again = ComparisonReport.model_validate_json(report.model_dump_json())
    now = drift(anchors(labels), said([[1], [-1], [-1]]), again)
    assert (now.compared, now.changed) == (3, pytest.approx(1 / 3))
    bare = drift(anchors(labels), said([[1], [-1], [0]]), report.model_copy(update={"drift": None}))
    assert bare.moved is None and "no anchors" in bare.notes[0]
    assert isinstance(again.drift, Drift)


def test_aspects_are_held_against_their_own_labels() -> None:
    one = Anchor(id="p0", question="Q?", answer_a="one", answer_b="two", label="a", aspects={"relevance": "b"})
    verdicts = [
        ComparisonVerdict(question_id="p0", system_a="x", system_b="y", first=first, aspect=aspect, score_a=a, score_b=b, winner=winner)
        for first in ("x", "y") for aspect, a, b, winner in (("relevance", 2, 4, "b"), ("directness", 5, 1, "a"))
    ]
    found = drift([one], verdicts)
    assert found.agreement.value == 1.0  # 2 + 5 against 4 + 1
    assert found.aspects["relevance"].value == 1.0
