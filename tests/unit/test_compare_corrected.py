"""Few labels of people correct a judge's relative win rate: against ppi-python and truescore, and what hand-picked labels do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kgeval.comparison.corrected import LabelledQuestions, ShareItem, corrected, corrected_shares, labels_of, selected
from kgeval.comparison.table import PairQuestion, PairTable
from kgeval.records import HumanLabel
from kgeval.tables.label_files import PairLabel, read_labels

N = 2_000
AT = np.arange(N)
# every value by arithmetic, so that other programs can be given the same: people's win - loss is 0.1, the judge leans to A
TRUTH = np.where((AT * 7919) % 100 < 45, 1, np.where((AT * 7919) % 100 < 65, 0, -1))
ERROR = (AT * 104729) % 97
JUDGE = np.where(ERROR < 60, TRUTH, np.where(ERROR < 80, 1, 0))
LABELLED = (AT * 15485863) % N < 300


def table(wins: np.ndarray) -> PairTable:
    """Questions q0, q1 ... with one trial each; `wins`: 1, 0, -1."""
    points = np.stack([(wins + 1) / 2, (1 - wins) / 2], axis=-1).astype(float).reshape(len(wins), 1, 1, 1, 1, 2)
    asked = tuple(PairQuestion(f"q{at}") for at in range(len(wins)))
    return PairTable("A", "B", asked, ("overall",), points, np.full((len(wins), 1, 2), np.nan))


def labels(truth: np.ndarray, chosen: np.ndarray) -> LabelledQuestions:
    return LabelledQuestions({f"q{at}": float(truth[at]) for at in np.flatnonzero(chosen)})


def by_method(judge: np.ndarray, labelled: LabelledQuestions) -> dict[str, object]:
    return {one.method: one for one in corrected(table(judge), labelled, seed=0)}


def test_ppi_of_a_win_rate_is_that_of_ppi_python() -> None:
    """ppi-python 0.2.3, ppi_mean_pointestimate and ppi_mean_ci at 0.05 on the values in -1..1: 0.09335243, 0.01639197 to 0.1703129."""
    found = by_method(JUDGE, labels(TRUTH, LABELLED))["ppi++"]
    assert found.relative.value == pytest.approx(0.09335243, abs=5e-5)  # lambda differs by terms of 1/n
    assert (found.relative.low, found.relative.high) == pytest.approx((0.01639197, 0.1703129), abs=2e-3)
    assert found.relative.low < TRUTH.mean() < found.relative.high < JUDGE.mean()


def test_a_share_is_corrected_as_truescore_does_it() -> None:
    """truescore 0.7.4: rogan_gladen_estimate 0.4601658767772512; ppi_estimate 0.45183039542432607, 0.3999419 to 0.5037188."""
    truth = (AT * 7919) % 100 < 45
    judge = np.where(ERROR < 70, truth, ~truth)
    rows = enumerate(zip(judge, truth, LABELLED, strict=True))
    items = [ShareItem(float(j), float(t) if has else None, str(at)) for at, (j, t, has) in rows]
    rows, p = corrected_shares(items)
    found = {row.method: row for row in rows}
    assert found["rogan-gladen"].share.value == pytest.approx(0.4601658767772512, abs=1e-9)
    assert found["ppi++"].share.value == pytest.approx(0.45183039542432607, abs=5e-5)
    assert (found["ppi++"].share.low, found["ppi++"].share.high) == pytest.approx((0.3999419, 0.5037188), abs=2e-3)
    assert found["people"].share.value == pytest.approx(truth[LABELLED].mean(), abs=1e-12)
    assert p is not None and p > 0.05


def test_rogan_gladen_without_ties_is_the_binary_formula() -> None:
    truth = np.where((AT * 7919) % 100 < 60, 1, -1)
    judge = np.where(ERROR < 70, truth, -truth)
    found = by_method(judge, labels(truth, LABELLED))["rogan-gladen"]
    right, wrong = LABELLED & (truth > 0), LABELLED & (truth < 0)
    sensitivity, specificity = (judge[right] > 0).mean(), (judge[wrong] < 0).mean()
    share = ((judge > 0).mean() + specificity - 1) / (sensitivity + specificity - 1)
    assert found.relative.value == pytest.approx(2 * share - 1, abs=1e-12)
    assert found.relative.low < 0.2 < found.relative.high


def test_turning_the_pair_round_turns_every_figure() -> None:
    one, other = by_method(JUDGE, labels(TRUTH, LABELLED)), by_method(-JUDGE, labels(-TRUTH, LABELLED))
    for method in ("judge", "people", "ppi++", "rogan-gladen"):
        assert one[method].relative.value == pytest.approx(-other[method].relative.value, abs=1e-12)


@pytest.mark.long
def test_intervals_cover_the_truth() -> None:
    """120 simulated pairs of 400 questions, 100 labelled: 95 % intervals of both corrections hold the truth in 107 to 119 (89 to 99 %)."""
    rng = np.random.default_rng(11)
    hits = {"ppi++": 0, "rogan-gladen": 0}
    for _ in range(120):
        truth = rng.choice([1, 0, -1], size=400, p=[0.5, 0.2, 0.3])
        judge = np.where(rng.random(400) < 0.75, truth, rng.choice([1, 0], size=400, p=[0.7, 0.3]))
        chosen = rng.permutation(400) < 100
        for method, one in by_method(judge, labels(truth, chosen)).items():
            if method in hits and one.relative.low is not None:
                hits[method] += one.relative.low <= 0.2 <= one.relative.high
    assert all(107 <= count <= 119 for count in hits.values()), hits


def test_labels_picked_by_hand_turn_the_result_round() -> None:
    """In truth B wins by 0.1, and the judge sees it. A person labels only questions where A is better "to check the judge's losses": both
    corrections then say that A wins, surely; the same number of labels drawn at random says B. Selection is seen in the verdicts."""
    truth = np.where((AT * 7919) % 100 < 45, 1, -1)
    judge = np.where(ERROR < 85, truth, -truth)
    at_random = by_method(judge, labels(truth, LABELLED))
    picked = (truth == 1) & ((AT * 15485863) % N < 500)
    by_hand = by_method(judge, labels(truth, picked))
    assert at_random["ppi++"].relative.high < 0
    assert by_hand["people"].relative.value == 1.0
    assert by_hand["ppi++"].relative.value > 0.5
    assert selected(list(at_random.values())) is None
    assert "no random part" in (selected(list(by_hand.values())) or "")


def test_hand_picking_that_the_verdicts_do_not_show_is_not_seen() -> None:
    """The limit of the test of selection: who picks questions where the judge is wrong, as many on each side, deceives it."""
    truth = np.where((AT * 7919) % 100 < 50, 1, -1)
    judge = np.where(ERROR < 70, truth, -truth)
    picked = (judge != truth) & ((AT * 15485863) % N < 800)
    found = by_method(judge, labels(truth, picked))
    assert selected(list(found.values())) is None
    assert found["rogan-gladen"].relative.value is None and "no better than chance" in found["rogan-gladen"].reason


def test_one_label_none_and_all_have_their_reasons() -> None:
    few = np.array([1, 0, -1, 1, 1])
    none = by_method(few, LabelledQuestions({}))
    assert none["people"].reason == "no question has a label" and none["ppi++"].reason == "no item has a label"
    every = by_method(few, labels(few, np.ones(5, dtype=bool)))
    assert "every judged item has a label" in every["ppi++"].reason
    assert every["people"].relative.value == pytest.approx(0.4)
    one = by_method(few, LabelledQuestions({"q0": 1.0}))
    assert one["ppi++"].relative.low is None and one["rogan-gladen"].relative.value is None
    lone = by_method(np.array([1]), LabelledQuestions({"q0": 1.0}))
    assert lone["judge"].relative.value == 1.0 and lone["judge"].relative.low is None


def test_all_ties_and_one_sided_verdicts_give_figures_without_intervals_they_cannot_have() -> None:
    ties = by_method(np.zeros(30), LabelledQuestions({f"q{at}": 0.0 for at in range(10)}))
    assert ties["judge"].relative.value == 0 and ties["ppi++"].relative.low is None and ties["ppi++"].reason
    always = by_method(np.ones(30), LabelledQuestions({f"q{at}": 1.0 for at in range(10)}))
    assert always["ppi++"].relative.value == 1.0 and always["ppi++"].reason
    assert always["rogan-gladen"].relative.value is None


def test_labels_are_averaged_over_people_and_turned_to_the_pairs_direction() -> None:
    given = [
        PairLabel("q0", 1.0, "A", "B", "ann"), PairLabel("q0", 1.0, "B", "A", "bob"), PairLabel("q1", -1.0, "B", "A", "ann"),
        PairLabel("q1", 1.0, "A", "C", "ann"), PairLabel("q9", 1.0, "A", "B", "ann", where="l.csv:6"),
        PairLabel("q1", 1.0, aspect="relevance"),
    ]
    found = labels_of(table(np.array([1, -1])), given)
    assert found.values == {"q0": 0.0, "q1": 1.0}
    assert found.unknown == ("l.csv:6: question 'q9'",)


def test_labels_of_agree_read_are_read_by_their_own_scale_and_a_2_is_no_win_of_b(tmp_path: Path) -> None:
    rows = [
        HumanLabel(id=f"i{at}", annotator="ann", label=label, question_id=f"q{at}", metric="overall", system_a="A", system_b="B")
        for at, label in enumerate(("2", "1", "0", "-1", "-2"))
    ]
    file = tmp_path / "labels.jsonl"
    for given, values in ((rows, [1.0, 1.0, 0.0, -1.0, -1.0]), (rows[:2], [1.0, 1.0])):  # 1 and 2 alone are A and B in other tools' files
        file.write_text("".join(row.model_dump_json(exclude_none=True) + "\n" for row in given))
        assert [label.value for label in read_labels([file])] == values
