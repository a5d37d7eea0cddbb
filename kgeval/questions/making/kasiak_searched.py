"""Questions of [K] that a search through all texts decides: out-of-context (4.1) and attribution (5.4.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, JsonValue

from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.llm.calls import Reply
from kgeval.questions.checking.leak import telling, words
from kgeval.questions.checking.model_checks import ModelAnswer
from kgeval.questions.drafts import (
    check,
    drafted,
    entities_shown,
    is_quoted,
    leaks,
    lines_of,
    names_in,
    passages_shown,
    picked,
    question_text,
    relevant_passages,
)
from kgeval.questions.graph_facts import facts_of
from kgeval.questions.kinds import MakingContext, RejectedError
from kgeval.questions.making.answer_cypher import TIMEOUT
from kgeval.questions.making.kasiak_draft import (
    ASK,
    MAKE_TOKENS,
    MOST_REASON,
    TRY_TOKENS,
    QuestionAnswer,
    Trial,
    check_answerable,
    check_not_repeated,
    question_answer,
    says_something,
    slots_of,
    with_text,
)
from kgeval.questions.making.name_faults import check_name, name_fault
from kgeval.questions.proof import absent
from kgeval.records import Layout, Passage, Question, QuestionCheck
from kgeval.text.names import is_element_id
from kgeval.text.signs import identity_key

NEAREST, SPEAKER = "kasiak-nearest", "kasiak-speaker"
OUTSIDE, QUOTED = "kasiak-outside", "kasiak-quoted"
MOST_NEAR = 8  # passages that are shown to a model to find an answer after all
MOST_WORDS = 40  # of a question that passages are searched for
MOST_NAMES = 5
FEWEST_WORDS, MOST_QUOTED = 5, 60  # of a quote: fewer stand in many texts
LONGEST_QUOTE = 600  # characters
AT_ONCE = 200  # chunks that are read to look a quote up


def _word(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class Outside(Reply):
    """A question that the texts do not answer. `names`: what it names that is not in them."""

    question: str
    names: list[str]


class Quoted(Reply):
    """A question who said something, or where it stands. `quote`: word for word from the passage; `speaker`: empty where the text itself
    says it."""

    question: str
    quote: str
    passage: int
    asks: Annotated[Literal["speaker", "document"], BeforeValidator(_word)]
    speaker: str


def make_out_of_context(context: MakingContext) -> Question:
    """A question near the texts' topics that they do not answer: what it names is in no name, alias or text, and a
    model finds no answer in the nearest passages. Raises: RejectedError, UnansweredError."""
    graph, layout = context.database()
    node = context.structure.nodes[0]
    check_name(node.name)
    own = relevant_passages(context.structure)
    values, shown = passages_shown(own, MAKE_TOKENS)
    if not shown:
        raise RejectedError("no_passages", "no passage belongs to the entity")
    reply = context.ask(OUTSIDE, slots_of(context, entity=entities_shown([node])[0], passages=values), Outside)
    question = question_text(reply.question)
    check_not_repeated(context, question)
    names = _new_names(question, reply.names)
    rest = question  # without the new names: "Ann Orlok" is not Ann
    for name in names:
        rest = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "|", rest, flags=re.IGNORECASE)
    if not names_in(rest, [node]):
        raise RejectedError("not_related", f"the question does not name '{node.name}', which it is about")
    proof = _check_absent(graph, layout, names)
    near = with_text((*own[:2], *nearest(graph, layout, question)))[:MOST_NEAR]
    reference = f"This cannot be answered: the texts do not mention {' or '.join(names)}."
    check_not_answered(context, question, near)
    checks = [
        check("related", True, f"it names '{node.name}', which is in the graph"), proof,
        check("answerable", True, f"a model finds no answer in the {len(near)} nearest passages, as it should be"),
    ]
    result = drafted(context.structure, question, reference, level="out_of_context", used=(), checks=checks)
    return result.model_copy(update={"extra": {"absent": list[JsonValue](names)}})


def check_not_answered(context: MakingContext, question: str, near: Sequence[Passage]) -> None:
    """A model finds no answer. Raises: RejectedError("answered") where it takes passages to answer the question;
    UnansweredError."""
    values, _ = passages_shown(near, TRY_TOKENS)
    answer = context.ask(ASK, {"question": question, "passages": values}, ModelAnswer, stage=NEAREST).answer_or_none
    if answer is not None:
        raise RejectedError("answered", f"the nearest passages were taken to answer it: {answer}"[:MOST_REASON])


def _new_names(question: str, given: list[str]) -> list[str]:
    """The names that must be absent: all stand in the question. Raises: RejectedError."""
    names = lines_of(given)[:MOST_NAMES]
    if not names:
        raise RejectedError("no_new_name", "the reply says nothing that is not in the texts")
    for name in names:
        check_name(name)
        if not leaks(question, [name]):
            raise RejectedError("no_new_name", f"the question does not name '{name[:80]}'")
    return names


def _check_absent(graph: Graph, layout: Layout, names: list[str]) -> QuestionCheck:
    """Raises: RejectedError("present") where a name is in the graph or its texts."""
    presences = absent(graph, layout, names, timeout=TIMEOUT, often=True)
    present = [presence for presence in presences.values() if not presence.absent]
    if present or len(presences) < len(names):
        raise RejectedError("present", present[0].proof if present else "a name cannot be searched for")
    # beginnings and ends that are names too: "Count Orlok" may be the Orlok of the graph
    parts = [name.split() for name in names]
    ends = [" ".join(end) for part in parts for cut in range(1, len(part)) for end in (part[:cut], part[cut:])]
    if called := facts_of(graph, layout).entities(end for end in ends if not name_fault(end)):
        whole = ", ".join(names)[:120]
        raise RejectedError("present", f"'{min(called)[:80]}' is the name of an entity, and a part of '{whole}'")
    return check(
        "absent", True, "searched in names, aliases and texts: " + "; ".join(one.proof for one in presences.values()),
    )


def nearest(graph: Graph, layout: Layout, question: str, most: int = MOST_NEAR) -> list[Passage]:
    """The passages of the whole graph that have most of a question's telling words, rare words counting more.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    terms, index = telling(words(question))[:MOST_WORDS], facts_of(graph, layout).text_words()
    if index is not None:
        return [passage for passage, _ in _passages(graph, layout, index.nearest(terms, most))]
    if not terms:
        return []
    params: dict[str, object] = {"layout": layout.model_dump(), "terms": terms}
    rows = graph.read(all_queries()["prove-texts"], params, timeout=TIMEOUT)
    # as WordIndex.nearest weighs them: by one over the root of the number of chunks that have the term
    weighted = [
        {"term": row["term"], "weight": 1 / row["chunks"] ** 0.5} for row in sorted(rows, key=lambda row: row["term"])
    ]
    if not weighted:
        return []
    params = {"layout": layout.model_dump(), "terms": weighted, "most": most}
    rows = graph.read(all_queries()["near-passages"], params, timeout=TIMEOUT)
    return [Passage(text=row["text"], chunk_id=row["id"], document=row["document"]) for row in rows]


def _passages(graph: Graph, layout: Layout, ids: Sequence[str]) -> list[tuple[Passage, list[str]]]:
    """Chunks by element id, each with all documents that it is of."""
    rows = graph.read(all_queries()["told-passages"], {"layout": layout.model_dump(), "ids": list(ids)}, timeout=TIMEOUT) if ids else []
    return [(Passage(text=r["text"], chunk_id=r["id"], document=min(r["documents"], default=None)), r["documents"]) for r in rows]


def make_attribution(context: MakingContext) -> Question:
    """A question who said something, or in which document it stands; the quote stands in one document only. Raises:
    RejectedError."""
    graph, layout = context.database()
    structure = context.structure
    values, passages = passages_shown(relevant_passages(structure), MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage belongs to the structure")
    reply = context.ask(QUOTED, slots_of(context, entities=entities_shown(structure.nodes), passages=values), Quoted)
    passage = picked(passages, [reply.passage], "passage")[0]
    quote = span_of(reply.quote, passage.text)
    if not is_quoted(quote, question_text(reply.question)):
        raise RejectedError("not_quoted", "the question does not hold the quote")
    document, chunks = _document_of(graph, layout, quote)
    draft = _attributed(context, reply, passage, document)
    where = f"the document {document}" if document is not None else "a single chunk; the graph names no documents"
    checks = [
        check("one_document", True, f"searched in all chunk texts: the quote stands in {where} ({len(chunks)} chunks)"),
        check("quote", True, "the passage has it word for word, and so has the question"),
    ]
    attribution: dict[str, JsonValue] = {
        "asks": reply.asks, "quote": quote, "document": document, "chunk_ids": list[JsonValue](chunks),
    }
    if reply.asks == "speaker":
        checks.append(check_answerable(context, draft, Trial(SPEAKER, (passage,))))
        attribution["speaker"] = draft.answer
    checks.append(check("leak", True))
    question = drafted(
        structure, draft.question, draft.answer, level="attribution", used=(), evidence=[passage], checks=checks,
    )
    return question.model_copy(update={
        "references": list(draft.aliases), "evidence_ids": [chunks], "document": document,
        "extra": {"attribution": attribution},
    })


def span_of(quote: str, text: str) -> str:
    """A quote as it stands in a text, whatever its case, spaces and punctuation there. Raises: RejectedError."""
    count = len(re.findall(r"\w+", quote))
    if not count or not says_something(quote, FEWEST_WORDS):
        raise RejectedError("short_quote", f"the quote has {count} words")
    if count > MOST_QUOTED or len(quote) > LONGEST_QUOTE:
        raise RejectedError("long_quote", f"the quote has {count} words")
    span = _pattern(quote).search(text)
    if span is None:
        raise RejectedError("not_quoted", "the quote is not in its passage")
    return span[0]


def _pattern(quote: str) -> re.Pattern[str]:
    """The words of a quote, with any spaces and punctuation between them."""
    return re.compile(r"(?<!\w)" + r"\W+".join(map(re.escape, re.findall(r"\w+", quote))) + r"(?!\w)", re.IGNORECASE)


def _document_of(graph: Graph, layout: Layout, quote: str) -> tuple[str | None, list[str]]:
    """The document that has a quote, and its chunks that do. Raises: RejectedError where it is not one."""
    index = facts_of(graph, layout).text_words()
    if index is not None:
        ids = index.holding(quote)
    else:  # there is too much text to be kept: the database searches
        params = {"layout": layout.model_dump(), "terms": list(dict.fromkeys(re.findall(r"\w+", quote.lower())))}
        ids = [row["element_id"] for row in graph.read(all_queries()["prove-quotes"], params, timeout=TIMEOUT)]
    # the index and the database look for words in any order: the pattern says whether they stand as in the quote
    pattern, documents_of_chunk, without = _pattern(quote), dict[str, set[str]](), 0
    for start in range(0, len(ids), AT_ONCE):
        for passage, documents in _passages(graph, layout, ids[start : start + AT_ONCE]):
            if pattern.search(passage.text):
                documents_of_chunk.setdefault(passage.chunk_id or "", set()).update(documents)
                without += not documents
    if not documents_of_chunk:
        raise RejectedError("not_proved", "the database does not find the quote in any chunk")
    together = set[str]().union(*documents_of_chunk.values())
    if len(together) + without != 1:
        raise RejectedError(
            "several_documents", f"the quote stands in {len(together)} documents and {without} chunks without one",
        )
    return next(iter(together), None), sorted(documents_of_chunk)


def _attributed(context: MakingContext, reply: Quoted, passage: Passage, document: str | None) -> QuestionAnswer:
    """The question with its answer: the speaker, whom the passage names, or the document. Raises: RejectedError."""
    if reply.asks == "document":
        if document is None:
            raise RejectedError("no_document", "the graph does not say which document the quote is of")
        if is_element_id(document):  # a rebuilt graph has another
            raise RejectedError("no_document", "the document that the quote is of has no name")
        return question_answer(context, reply.question, document)
    draft = question_answer(context, reply.question, reply.speaker)
    check_name(draft.answer, "no_speaker")
    own = identity_key(draft.answer)
    speakers = [node for node in context.structure.nodes if own in map(identity_key, (node.name, *node.aliases))]
    if not is_quoted(draft.answer, passage.text) and not names_in(passage.text, speakers):
        raise RejectedError("no_speaker", f"the passage does not name '{draft.answer[:80]}'")
    return draft
