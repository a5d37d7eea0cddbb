"""The closed-book summary probe: a model sums up each document by its title alone, and the document's text judges the summary [K 4.1].

The summary's claims are checked against passages of the document that share most words with its sentences: a document is longer than a
call. A model that says that it does not know the document is believed, and nothing is checked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from pydantic import model_validator

from kgeval.auditing.completeness.documents import NAMED_BY
from kgeval.graph.queries import all_queries
from kgeval.llm.asker import Later, digest
from kgeval.llm.calls import Failure, Reply, Task
from kgeval.metrics.definition import MetricSettings, Subject, reason_of
from kgeval.metrics.engine import Tools, result, row_facts
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.select import select
from kgeval.metrics.words import words
from kgeval.records import Answer, Passage, ProbeResult, Question, Row
from kgeval.text.sentences import sentences

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.llm.asker import Asker
    from kgeval.records import Layout

PROMPT = STAGE = "probe-document"
ASKED = "What does the document \"{title}\" say?"
MOST_SENTENCES = 30
EACH = 2  # passages of one sentence
MOST_PASSAGES = 12
SUMMARY_TOKENS = 220  # of a summary, for dry runs
PASSAGE_TOKENS = 1_000
LONGEST_TITLE = 300
NOT_KNOWN = "the model says that it does not know it"
LOST = Failure("empty", "no reply")


class Remembered(Reply):
    """What a model knows of a document. Known without a summary is a fault; a summary of what is not known is dropped."""

    known: bool
    summary: str

    @model_validator(mode="after")
    def _says_something(self) -> Remembered:
        if self.known and not self.summary.strip():
            raise ValueError("known, but the summary is empty")
        return self


@dataclass(frozen=True)
class ProbedDocument:
    """A document to be probed: its name in the graph, its title, the texts of its chunks in order."""

    number: int
    document: str
    title: str
    texts: Sequence[str]


@dataclass(frozen=True)
class Probers:
    """Who is asked: `reader` for the summary, `judge` for its claims."""

    reader: Asker
    judge: Asker


def probed_documents(graph: Graph, layout: Layout, *, most: int, timeout: float | None = None) -> Iterator[ProbedDocument]:
    """The documents of a graph that have a text, in the order of their names, at most `most`. One document's texts at a time.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    params = {"layout": layout.model_dump()}
    keys = list(dict.fromkeys(filter(None, [layout.document_key, "title", "name", *NAMED_BY])))
    titles: dict[str, str] = {}
    if layout.document_labels:
        parameters = {**params, "covered": [], "keys": keys}
        for row in graph.stream(all_queries()["coverage-documents"], parameters, timeout=timeout):
            titles[row["document"]] = title_of(row["document"], row["names"])
    rows = graph.stream(all_queries()["document-chunks"], params, timeout=timeout)
    number = 0
    for document, chunks in groupby(rows, key=lambda row: row["document"]):
        texts = [row["text"] for row in chunks if row["text"] and row["text"].strip()]
        if document is None or not texts:
            continue
        if number == most:
            return
        yield ProbedDocument(number, document, titles.get(document, document)[:LONGEST_TITLE], texts)
        number += 1


def title_of(document: str, names: Iterable[str]) -> str:
    """What people call a document: the first of its names that is not its key."""
    return next((name for name in names if name.strip() and name != document), document)


def probe(document: ProbedDocument, probers: Probers) -> ProbeResult:
    """What a model knows of one document. At most three calls: the summary, its claims, their verdicts. A failure is its status.

    Raises: what the askers raise: what ends a run.
    """
    outcome = probers.reader.ask(Task(
        id=f"{document.number}:{STAGE}", prompt=probers.reader.prompt(PROMPT), slots={"title": document.title}, reply=Remembered,
        stage=STAGE,
    ))
    base = ProbeResult(document=document.document, title=document.title, status="unscored")
    if outcome.value is None:
        _count_later(document, probers.judge)
        failure = outcome.failure or LOST
        return base.model_copy(update={"reason": reason_of(failure.cause, failure.detail)})
    if not outcome.value.known:
        return base.model_copy(update={"recognised": False, "status": "not_applicable", "reason": NOT_KNOWN})
    return _judged(document, outcome.value.summary.strip(), probers.judge, base)


def _judged(document: ProbedDocument, summary: str, judge: Asker, base: ProbeResult) -> ProbeResult:
    """The summary as an answer whose contexts are the document's passages: its faithfulness."""
    question = Question(id=document.document, question=ASKED.format(title=document.title))
    contexts = [Passage(text=text) for text in nearest_passages(summary, document.texts)]
    answer = Answer(question_id=document.document, system="probe", answer=summary, contexts=contexts)
    selection = select(["faithfulness"])
    subject = Subject(Row(n=document.number, where=document.document, question=question, answer=answer), RowFacts(), MetricSettings())
    score = result(row_facts(subject, selection=selection, tools=Tools(), asker=judge), selection, Tools()).scores[0]
    claims = score.detail.get("claims")
    return base.model_copy(update={
        "recognised": True, "supported": score.value, "status": score.status, "reason": score.reason,
        "claims": claims if isinstance(claims, int) else 0,
    })


def _count_later(document: ProbedDocument, judge: Asker) -> None:
    """A dry run: the calls about a summary that is not there yet. None of them is certain: the model may not know the document."""
    if judge.dry:
        for stage, prompt, tokens in (
            ("claims", "claims", SUMMARY_TOKENS), ("verdicts-contexts", "judge-against-contexts", MOST_PASSAGES * PASSAGE_TOKENS),
        ):
            key = digest(stage, document.document, document.title)
            judge.later(Later(stage=stage, prompt=prompt, key=key, tokens=(0, tokens), items=10, certain=False))


def nearest_passages(summary: str, texts: Sequence[str]) -> list[str]:
    """The passages that share most with each sentence of a summary, rare words counting more; in the order of the document."""
    bags = [frozenset(words(text)) for text in texts]
    seen = Counter(word for bag in bags for word in bag)
    # logarithm, as in inverse document frequency: a word that stands in one passage says where the sentence is from
    weight: Callable[[str], float] = lambda word: math.log(1 + len(bags) / seen[word])  # noqa: E731
    ranks: list[list[int]] = []
    for start, end in sentences(summary)[:MOST_SENTENCES]:
        asked_words = frozenset(words(summary[start:end]))
        scores = [sum(weight(word) for word in sorted(asked_words & bag)) for bag in bags]
        best = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
        ranks.append(best[:EACH])
    # the best passage of every sentence before the second of any: the first sentences must not use up all places
    chosen = dict.fromkeys(own[rank] for rank in range(EACH) for own in ranks if rank < len(own))
    return [texts[at] for at in sorted(list(chosen)[:MOST_PASSAGES])] or list(texts[:1])
