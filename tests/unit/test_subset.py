"""Shares of a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.config import BuildOptions
from kgeval.errors import UsageError
from kgeval.records import Document, Passage, Question
from kgeval.text.documents import DocumentSet
from kgeval.text.subset import documents_of, subset
from kgeval.workflows.build import shared

DOCUMENTS = [Document(id=f"d{n}", title=f"Title {n}", text="x") for n in range(20)]


@given(st.integers(0, 1000), st.integers(1, 100), st.integers(1, 100))
def test_a_smaller_share_is_part_of_a_larger_one(seed: int, one: int, other: int) -> None:
    small, large = sorted((one / 100, other / 100))
    inside = {document.id for document in subset(DOCUMENTS, large, seed=seed)}
    assert {document.id for document in subset(DOCUMENTS, small, seed=seed)} <= inside


@pytest.mark.parametrize(("share", "n"), [(1.0, 20), (0.5, 10), (0.51, 11), (0.001, 1)])
def test_a_share_is_rounded_up_and_keeps_the_order(share: float, n: int) -> None:
    found = subset(DOCUMENTS, share, seed=3)
    assert len(found) == n and found == [one for one in DOCUMENTS if one in found]


def test_documents_to_keep_are_in_every_share_by_id_or_title() -> None:
    found = {one.id for one in subset(DOCUMENTS, 0.1, seed=1, keep={"d3", "Title 7", "d9", "unknown"})}
    assert found == {"d3", "d7", "d9"}
    assert {"d3"} < {one.id for one in subset(DOCUMENTS, 0.5, seed=1, keep={"d3"})}
    assert len(subset(DOCUMENTS, 0.5, seed=1, keep={"d3"})) == 10


def test_questions_name_their_own_document_and_those_of_their_evidence() -> None:
    questions = [
        Question(id="1", question="?", document="a"),
        Question(id="2", question="?", evidence=[Passage(text="t", document="b"), Passage(text="u")]),
    ]
    assert documents_of(questions) == {"a", "b"}


@pytest.mark.parametrize("share", [0.0, 1.5, -1.0])
def test_a_share_outside_its_range_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        subset(DOCUMENTS, share, seed=0)


def test_a_share_that_leaves_nothing_out_is_refused_and_a_larger_one_than_was_asked_for_says_so(tmp_path: Path) -> None:
    texts = [Document(id=f"d{n}", text=f"Text {n}.") for n in range(4)]
    questions = tmp_path / "q.jsonl"

    def taken(*named: str) -> list[str]:
        questions.write_text("".join(json.dumps({"id": name, "question": "?", "document": name}) + "\n" for name in named))
        return shared(DocumentSet(texts, [], []), BuildOptions(share=0.5, keep=questions)).notes

    assert taken("d0") == ["--share 0.5: 2 of 4 documents"]
    assert "3 of 4 documents, more than was asked for" in taken("d0", "d1", "d2")[0]
    with pytest.raises(UsageError, match="nothing would be left out"):
        taken("d0", "d1", "d2", "d3")
