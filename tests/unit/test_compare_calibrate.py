"""What stands calibration a comparison: labels of people find their pair before anything is paid, or are refused."""

from __future__ import annotations

import pytest
from comparison_sample import tabled

from kgeval.errors import InputError
from kgeval.tables.label_files import PairLabel
from kgeval.workflows.compare_calibrate import CalibrationInputs


def labels(*names: tuple[str | None, str | None]) -> tuple[PairLabel, ...]:
    return tuple(PairLabel(f"q{at}", 1.0, a, b, where=f"labels.csv:{at + 2}") for at, (a, b) in enumerate(names))


def test_labels_without_systems_are_about_the_only_pair_and_not_about_a_second_run() -> None:
    calibration = CalibrationInputs(labels=labels((None, None), ("B", "A")))
    calibration.check([("A", "B")])
    assert [(one.system_a, one.system_b) for one in calibration.labels] == [("A", "B"), ("B", "A")]
    rows, notes = calibration.corrected([tabled([[1], [0]]), tabled([[1], [0]], names=("A", "A again"))])
    assert {(one.system_a, one.system_b) for one in rows} == {("A", "B")} and notes == []
    assert next(one.relative.value for one in rows if one.method == "people") == 0.0, "A is better on q0, B on q1"


def test_labels_without_systems_are_refused_where_several_pairs_are_compared() -> None:
    with pytest.raises(InputError, match="1 labels do not say which systems they are about, and 2 pairs are compared") as caught:
        CalibrationInputs(labels=labels(("A", "B"), (None, None))).check([("A", "B"), ("A", "C")])
    assert tuple(caught.value.faults) == ("labels.csv:3",) and "system_a and system_b" in (caught.value.fix or "")


def test_labels_about_other_systems_alone_are_refused() -> None:
    calibration = CalibrationInputs(labels=labels(("A", "Z")))
    with pytest.raises(InputError, match="no label is about a pair of this comparison; the labels are about: A and Z"):
        calibration.check([("A", "B")])
    CalibrationInputs(labels=labels(("A", "Z"), ("B", "A"))).check([("A", "B")])
    CalibrationInputs().check([])


def test_a_label_of_a_question_that_was_not_judged_is_told_by_its_place_and_not_by_its_id() -> None:
    far = PairLabel("my secret question", 1.0, "A", "B", where="labels.csv:9")
    calibration = CalibrationInputs(labels=(PairLabel("q0", 1.0, "A", "B"), far))
    _, notes = calibration.corrected([tabled([[1], [0]])])
    assert notes == ["labels of questions that were not judged: labels.csv:9"]
