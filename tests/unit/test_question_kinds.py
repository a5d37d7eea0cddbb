"""The table of kinds, what --kind means, and how questions that repeat one before are found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.errors import UsageError
from kgeval.llm.prompts import prompt_names
from kgeval.questions.duplicates import Twins
from kgeval.questions.kind import MakingOptions
from kgeval.questions.kinds import all_kinds, groups, orders_of


def test_every_kind_is_told_in_full_and_its_prompts_exist() -> None:
    known = prompt_names()
    for name, kind in all_kinds().items():
        assert name == kind.name and kind.about and kind.source and kind.group and kind.level
        assert ("model" in kind.needs) == (kind.first is not None)
        assert {call for call in (kind.first, *(later.prompt for later in kind.later)) if call} <= set(known)
        assert "model" not in kind.needs_of(MakingOptions(0, template=True)) or not kind.template
    assert {"node", "edge", "subgraph"} == {kind.name for kind in groups()["levels"]}


def test_a_group_is_all_its_kinds_and_a_number_is_for_each() -> None:
    orders = orders_of(["levels=3", "summary"], 50)
    assert [(order.kind.name, order.n) for order in orders] == [("node", 3), ("edge", 3), ("subgraph", 3), ("summary", 50)]


def test_all_faults_of_kind_are_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        orders_of(["nod", "edge=0", "edge=x", "levels", "node"], 5)
    message = str(caught.value)
    for part in ("'nod' is no kind", "did you mean node", "'edge=0'", "'edge=x'", "'node' is named twice", "kgeval questions kinds"):
        assert part in message


def test_the_list_of_kinds_has_needs_calls_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["questions", "kinds"]) == 0
    text = capsys.readouterr().out
    assert "subgraph" in text and "sum-up-passages, ask-subgraph" in text and "Zeng et al. 3" in text
    assert run(["questions", "kinds", "-f", "json"]) == 0
    listed = {row["kind"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(listed) == set(all_kinds()) and listed["node"]["needs"] == ["a model"] and listed["subgraph"]["needs"][-1] == "GDS"


class Wheel:
    """An embedder by hand: a question's vector is an angle, written at its end: `... @30`."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        import numpy as np

        self.asked += texts
        angles = [np.radians(float(text.rpartition("@")[2])) for text in texts]
        return np.asarray([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)


def test_repeats_are_found_by_words_and_by_angle_and_the_first_is_kept() -> None:
    twins = Twins(Wheel(), 0.9, earlier=["Old one @180"])  # type: ignore[arg-type] # cosine 0.9 is 25.8 degrees
    found = twins.sift(["X @0", "X  @0", "x: @0", "B @0", "C @60", "D @60", "Older one @180"])
    assert found == [None, "exact", "normalised", "embedding", None, "embedding", "embedding"]
    assert twins.sift(["X @0", "E @60", "F @120"]) == ["exact", "embedding", None]


def test_questions_that_differ_in_a_number_are_two_however_near_they_are() -> None:
    class Same(Wheel):
        def embed(self, texts: Sequence[str]) -> Any:
            return super().embed([f"{text} @0" for text in texts])

    twins = Twins(Same())  # type: ignore[arg-type]
    assert twins.sift(["What happened in 1914?", "What came in 1915?", "What was there in 1914?"]) == [None, None, "embedding"]


def test_without_an_embedder_or_for_templates_only_words_are_compared() -> None:
    wheel = Wheel()
    assert Twins(wheel).sift(["A @0", "B @0"], embed=False) == [None, None] and not wheel.asked  # type: ignore[arg-type]
    assert Twins().sift(["A @0", "B @0", "b @0"]) == [None, None, "normalised"]


def test_many_questions_are_compared_with_all_before_them() -> None:
    class Turning(Wheel):
        def embed(self, texts: Sequence[str]) -> Any:
            return super().embed([f"@{len(text)}" for text in texts])

    twins = Twins(Turning(), 0.9999)  # type: ignore[arg-type] # a degree apart: cosine 0.99985
    assert twins.sift(["x" * n for n in range(1, 201)]) == [None] * 200
    assert twins.sift(["y" * 70, "y" * 201, "z" * 201]) == ["embedding", None, "embedding"]


def test_a_question_file_is_needed_where_people_confirm(tmp_path: Path) -> None:
    assert run(["questions", "confirm", str(tmp_path / "none.jsonl")]) == 2
