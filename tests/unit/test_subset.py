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
from kgeval.text.subset import documents_of, subset, subset_of_tokens
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


SIZED = [Document(id=f"s{n}", text="w " * (n + 1)) for n in range(15)]  # 1 to 15 words, 120 in all


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.long
@given(st.integers(0, 1000), st.integers(2, 150), st.integers(2, 150), st.sets(st.sampled_from([one.id for one in SIZED]), max_size=3))
def test_so_many_tokens_are_whole_documents_nearest_to_it_and_part_of_more(seed: int, one: int, other: int, keep: set[str]) -> None:
    small, large = sorted((one, other))
    chosen = subset_of_tokens(SIZED, small, seed=seed, keep=keep, count=words)
    assert keep <= {document.id for document in chosen} and chosen == [document for document in SIZED if document in chosen]
    assert {document.id for document in chosen} <= {d.id for d in subset_of_tokens(SIZED, large, seed=seed, keep=keep, count=words)}
    # of all prefixes of the drawn order none is nearer
    everything = subset_of_tokens(SIZED, 10_000, seed=seed, keep=keep, count=words)
    assert len(everything) == len(SIZED)
    sizes = {sum(words(d.text) for d in subset_of_tokens(SIZED, target, seed=seed, keep=keep, count=words)) for target in range(2, 140)}
    assert abs(sum(words(d.text) for d in chosen) - small) == min(abs(size - small) for size in sizes)


def test_a_build_says_how_many_tokens_came_of_it(tmp_path: Path) -> None:
    read = DocumentSet(SIZED, [], [])
    made = shared(read, BuildOptions(corpus_tokens=40))
    assert 0 < len(made.documents) < 15 and made.notes[-1].startswith(f"--corpus-tokens 40: {len(made.documents)} of 15 documents, ")
    assert shared(read, BuildOptions(corpus_tokens=10**6)).notes[-1].endswith("there are no more documents")
