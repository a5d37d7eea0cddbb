"""Cosines of sentence embeddings, for a window of rows in one go: each text is embedded once, whatever compares it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import Cosines
from kgeval.metrics.shares import is_empty

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder
    from kgeval.metrics.select import Selection

NO_VECTOR = Failure("embedding_error", "the embedding of a text is all zeros or not finite")
REFERENCE, QUESTIONS = "similarity:reference", "similarity:questions"


def add_cosines(subjects: Sequence[Subject], selection: Selection, embedder: Embedder) -> None:
    """Fills in the facts similarity:reference (the answer with each right answer, in their order) and similarity:questions (the
    question with each question made from the answer) of the rows whose metrics read them.

    Nothing is embedded for an empty answer. A text without letters is embedded as it is. Where the questions could not be made, or a
    text has no usable vector, the cosines have the failure. Raises: ModelError if the embedder cannot be used: that ends the run.
    """
    comparisons = [(subject, *comparison) for subject in subjects for comparison in _comparisons(subject, selection)]
    texts = dict.fromkeys(text for _, _, first, others in comparisons for text in (first, *others))
    places = {text: place for place, text in enumerate(texts)}
    vectors = embedder.embed(list(places), faulty=True)
    for subject, name, first, others in comparisons:
        values = [float(value) for value in vectors[[places[text] for text in others]] @ vectors[places[first]]]
        if any(math.isnan(value) for value in values):  # of an embedding of zeros: as 0.0 it would pass for an unrelated answer
            subject.facts.cosines[name] = Cosines(failure=NO_VECTOR)
        else:
            # float32 products of unit vectors pass 1 by their last digits
            subject.facts.cosines[name] = Cosines(tuple(max(-1.0, min(1.0, value)) for value in values))


def _comparisons(subject: Subject, selection: Selection) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Fact, a text, and the texts that it is compared with. Facts that failed before are noted here."""
    row = subject.row
    facts = selection.facts_of(row)
    if is_empty(subject):
        return
    if REFERENCE in facts and row.question.right_answers:
        yield REFERENCE, row.answer.answer, row.question.right_answers
    if QUESTIONS in facts and row.question.question.strip():
        questions = subject.facts.texts["questions"]
        if questions.failure is not None:
            subject.facts.cosines[QUESTIONS] = Cosines(failure=questions.failure)
        elif texts := tuple(text for text in questions.texts if text.strip()):
            yield QUESTIONS, row.question.question, texts
