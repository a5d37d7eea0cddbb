"""What is asked about citations: each against its own chunk, and which claims they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from test_metrics_claims_asked import Pretend, asked, row

from kgeval.records import Citation, Passage, Row


def citing(*citations: Citation, answer: str = "It is Paris") -> Row:
    at = row(answer=answer, evidence=[Passage(text="eee", chunk_id="E")])
    contexts = [
        Passage(text="aaa", chunk_id="A", document="Book"), Passage(text="bbb", chunk_id="B", document="Other.txt"),
        Passage(text="", chunk_id="X"),
    ]
    return at.model_copy(update={"answer": at.answer.model_copy(update={"citations": list(citations), "contexts": contexts})})


def judged_citations(at: Row, fields: Callable[[str, int, str], dict[str, Any]]) -> tuple[list[str | None], list[str | None], Pretend]:
    subject, asker = asked(["citation_precision", "citation_coverage"], at, Pretend(fields))
    checks = subject.facts.checks
    return [i.label for i in checks["citations"].items], [i.label for i in checks["citations:claims"].items], asker


def test_each_citation_is_held_against_its_own_chunk_in_one_call_for_all() -> None:
    at = citing(
        Citation(claim="one", chunk_id="A"), Citation(claim="two", chunk_id="A"), Citation(claim="two", chunk_id="E"),
        Citation(claim="three", chunk_id="unknown"), Citation(claim="four", chunk_id="X"), Citation(claim="one", document="Other.txt"),
    )
    named = {"one": [1], "two": [3]}  # places among what is shown: two contexts of three, and the evidence
    labels, claims, asker = judged_citations(at, lambda stage, n, text: {"sources": named.get(text, [1])})
    assert labels == ["supported", "not_stated", "supported", "unknown_chunk", "unknown_chunk", "not_stated"]
    assert asker.stages == ["claims-answer", "citations", "citation-claims"]
    assert asker.tasks[1].items == ("one", "two")
    assert len(asker.tasks[1].slots["passages"]) == 3  # type: ignore[arg-type]
    assert claims == ["cited", "cited"], "both claims are stated by the first citation's text, which its chunk supports"


def test_a_claim_is_covered_only_by_a_citation_that_is_for_it_and_holds() -> None:
    at = citing(Citation(claim="good", chunk_id="A"), Citation(claim="bad", chunk_id="B"))

    def fields(stage: str, n: int, text: str) -> dict[str, Any]:
        if stage == "citation-claims":
            return {"sources": [n]}  # the first claim of the answer is what `good` says, the second what `bad` says
        return {"label": "supported" if text == "good" else "contradicted", "sources": [1]}

    labels, claims, _ = judged_citations(at, fields)
    assert (labels, claims) == (["supported", "contradicted"], ["cited", "uncited"])


def test_a_citation_without_a_claim_is_for_the_whole_answer() -> None:
    at = citing(Citation(chunk_id="A"), Citation(claim=" ", chunk_id="B"))
    labels, claims, asker = judged_citations(at, lambda stage, n, text: {"sources": [1], "label": "supported" if n == 1 else "not_stated"})
    assert asker.stages == ["claims-answer", "citations"], "no claim of a citation has to be found in the answer"
    assert (labels, claims) == (["supported", "not_stated"], ["cited", "uncited"])


def test_a_claim_without_a_verdict_leaves_its_citation_unscored() -> None:
    at = citing(Citation(claim="one", chunk_id="A"), Citation(claim="two", chunk_id="B"))
    subject, _ = asked(["citation_precision"], at, Pretend(lambda stage, n, text: {"lost": 1} if text == "two" else {}))
    first, second = subject.facts.checks["citations"].items
    assert (first.label, second.label) == ("supported", None)
    assert second.failure is not None and second.failure.cause == "missing_item"


def test_a_claim_that_only_a_doubtful_citation_stands_for_is_unscored_and_not_uncited() -> None:
    at = citing(Citation(claim="one", chunk_id="A"), Citation(claim="two", chunk_id="B"))

    def fields(stage: str, n: int, text: str) -> dict[str, Any]:
        return {"sources": [n]} if stage == "citation-claims" else {"lost": 1} if text == "two" else {}

    subject, _ = asked(["citation_coverage"], at, Pretend(fields))
    first, second = subject.facts.checks["citations:claims"].items
    assert (first.label, second.label) == ("cited", None)
    assert second.failure is not None and second.failure.cause == "missing_item"


def test_a_chunk_that_is_cited_for_one_claim_does_not_cover_another_that_it_also_supports() -> None:
    """The second citation is for the whole answer, so the answer's claims are held against both chunks."""
    at = citing(Citation(claim="one", chunk_id="A"), Citation(chunk_id="B"))

    def fields(stage: str, n: int, text: str) -> dict[str, Any]:
        return {"label": "not_stated"} if stage == "citation-claims" else {"sources": [1]}  # chunk A supports everything, B nothing

    labels, claims, _ = judged_citations(at, fields)
    assert (labels, claims) == (["supported", "not_stated"], ["uncited", "uncited"])


def test_of_two_passages_with_the_cited_id_the_retrieved_one_counts() -> None:
    at = citing(Citation(claim="one", chunk_id="A"))
    evidence = [Passage(text="another edition", chunk_id="A")]
    at = at.model_copy(update={"question": at.question.model_copy(update={"evidence": evidence})})
    _, asker = asked(["citation_precision"], at)
    assert [entry["text"] for entry in asker.tasks[0].slots["passages"]] == ["aaa"]  # type: ignore[index, union-attr]


def test_an_empty_answer_with_citations_costs_nothing() -> None:
    assert asked(["citation_precision", "citation_coverage"], citing(Citation(chunk_id="A"), answer=" "))[1].tasks == []
