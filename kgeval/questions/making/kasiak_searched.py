"""Questions of [K] that a search through all texts decides: out-of-context (4.1) and attribution (5.4.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from kgeval.graph.connect import Graph
from kgeval.graph.queries import all_queries
from kgeval.questions.checking.asked import ModelAnswer
from kgeval.questions.checking.leak import telling, words
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
from kgeval.questions.graph_facts import known
from kgeval.questions.kind import MakingContext, RejectedError
from kgeval.questions.making.answer_cypher import TIMEOUT
from kgeval.questions.making.kasiak_draft import (
    ASK,
    MAKE_TOKENS,
    MOST_REASON,
    TRY_TOKENS,
    Said,
    Trial,
    answered,
    not_repeated,
    said,
    says_something,
    slots_of,
    with_text,
)
from kgeval.questions.making.kasiak_replies import Outside, Quoted
from kgeval.questions.making.names import usable
from kgeval.questions.proof import absent
from kgeval.records import Layout, Passage, Question, QuestionCheck
from kgeval.text.names import normalise

NEAREST, SPEAKER = "kasiak-nearest", "kasiak-speaker"
OUTSIDE, QUOTED = "kasiak-outside", "kasiak-quoted"
MOST_NEAR = 8  # passages that are shown to a model to find an answer after all
MOST_WORDS = 40  # of a question that passages are searched for
MOST_NAMES = 5
FEWEST_WORDS, MOST_QUOTED = 5, 60  # of a quote: fewer stand in many texts
LONGEST_QUOTE = 600  # characters
_ELEMENT_ID = re.compile(r"\d+:[0-9a-f-]{36}:\d+")  # stands for a document without a name; a rebuilt graph has another
AT_ONCE = 200  # chunks that are read to look a quote up


def make_out_of_context(desk: MakingContext) -> Question:
    """A question near the texts' topics that they do not answer: what it names is in no name, alias or text, and a model finds no answer in
    the nearest passages. Raises: RejectedError, UnansweredError."""
    graph, layout = _searched(desk)
    node = desk.structure.nodes[0]
    why = usable(node.name)
    if why:
        raise RejectedError("unusable_name", f"'{node.name[:80]}' {why}")
    own = relevant_passages(desk.structure)
    values, shown = passages_shown(own, MAKE_TOKENS)
    if not shown:
        raise RejectedError("no_passages", "no passage belongs to the entity")
    reply = desk.ask(OUTSIDE, slots_of(desk, entity=entities_shown([node])[0], passages=values), Outside)
    question = question_text(reply.question)
    not_repeated(desk, question)
    names = _new(question, reply.names)
    if not names_in(_without(question, names), [node]):
        raise RejectedError("not_related", f"the question does not name '{node.name}', which it is about")
    proof = _absent(graph, layout, names)
    near = with_text((*own[:2], *nearest(graph, layout, question)))[:MOST_NEAR]
    reference = f"This cannot be answered: the texts do not mention {' or '.join(names)}."
    not_answered(desk, question, near)
    checks = [
        check("related", True, f"it names '{node.name}', which is in the graph"), proof,
        check("answerable", True, f"a model finds no answer in the {len(near)} nearest passages, as it should be"),
    ]
    made = drafted(desk.structure, question, reference, level="out_of_context", used=(), checks=checks)
    return made.model_copy(update={"extra": {"absent": list[JsonValue](names)}})


def not_answered(desk: MakingContext, question: str, near: Sequence[Passage]) -> None:
    """A model finds no answer. Raises: RejectedError("answered") where it takes passages to answer the question; UnansweredError."""
    values, _ = passages_shown(near, TRY_TOKENS)
    answer = desk.ask(ASK, {"question": question, "passages": values}, ModelAnswer, stage=NEAREST).said
    if answer is not None:
        raise RejectedError("answered", f"the nearest passages were taken to answer it: {answer}"[:MOST_REASON])


def _searched(desk: MakingContext) -> tuple[Graph, Layout]:
    if desk.graph is None or desk.layout is None:
        raise RuntimeError("these questions are proved by a search of the graph")
    return desk.graph, desk.layout


def _new(question: str, given: list[str]) -> list[str]:
    """The names that must be absent: all stand in the question. Raises: RejectedError."""
    names = lines_of(given)[:MOST_NAMES]
    if not names:
        raise RejectedError("no_new_name", "the reply says nothing that is not in the texts")
    for name in names:
        why = usable(name)
        if why:
            raise RejectedError("unusable_name", f"'{name[:80]}' {why}")
        if not leaks(question, [name]):
            raise RejectedError("no_new_name", f"the question does not name '{name[:80]}'")
    return names


def _without(question: str, names: list[str]) -> str:
    """The question without the new names: "Ann Orlok" is not Ann."""
    for name in names:
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "|", question, flags=re.IGNORECASE)
    return question


def _absent(graph: Graph, layout: Layout, names: list[str]) -> QuestionCheck:
    """Raises: RejectedError("present") where a name is in the graph or its texts."""
    found = absent(graph, layout, names, timeout=TIMEOUT, often=True)
    present = [one for one in found.values() if not one.absent]
    if present or len(found) < len(names):
        raise RejectedError("present", present[0].proof if present else "a name cannot be searched for")
    called = known(graph, layout).entities(part for name in names for part in _ends_of(name))
    if called:
        raise RejectedError("present", f"'{min(called)[:80]}' is the name of an entity, and a part of '{', '.join(names)[:120]}'")
    return check("absent", True, "searched in names, aliases and texts: " + "; ".join(one.proof for one in found.values()))


def _ends_of(name: str) -> list[str]:
    """The beginnings and ends of a name of several words that are names too: "Count Orlok" may be the Orlok of the graph."""
    parts = name.split()
    ends = [" ".join(words) for at in range(1, len(parts)) for words in (parts[:at], parts[at:])]
    return [end for end in ends if not usable(end)]


def nearest(graph: Graph, layout: Layout, question: str, most: int = MOST_NEAR) -> list[Passage]:
    """The passages of the whole graph that have most of a question's telling words, rare words counting more.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    terms, told = telling(words(question))[:MOST_WORDS], known(graph, layout).told_texts()
    if told is not None:
        return [passage for passage, _ in _passages(graph, layout, told.nearest(terms, most))]
    params: dict[str, object] = {"layout": layout.model_dump(), "terms": terms}
    counted = {row["term"]: row["chunks"] for row in graph.read(all_queries()["prove-texts"], params, timeout=TIMEOUT)} if terms else {}
    if not counted:
        return []
    weighted = [{"term": term, "weight": 1 / chunks**0.5} for term, chunks in sorted(counted.items())]
    params = {"layout": layout.model_dump(), "terms": weighted, "most": most}
    rows = graph.read(all_queries()["near-passages"], params, timeout=TIMEOUT)
    return [Passage(text=row["text"], chunk_id=row["id"], document=row["document"]) for row in rows]


def _passages(graph: Graph, layout: Layout, ids: Sequence[str]) -> list[tuple[Passage, list[str]]]:
    """Chunks by element id, each with all documents that it is of."""
    rows = graph.read(all_queries()["told-passages"], {"layout": layout.model_dump(), "ids": list(ids)}, timeout=TIMEOUT) if ids else []
    return [(Passage(text=r["text"], chunk_id=r["id"], document=min(r["documents"], default=None)), r["documents"]) for r in rows]


def make_attribution(desk: MakingContext) -> Question:
    """A question who said something, or in which document it stands; the quote stands in one document only. Raises: RejectedError."""
    graph, layout = _searched(desk)
    structure = desk.structure
    values, passages = passages_shown(relevant_passages(structure), MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage belongs to the structure")
    reply = desk.ask(QUOTED, slots_of(desk, entities=entities_shown(structure.nodes), passages=values), Quoted)
    passage = picked(passages, [reply.passage], "passage")[0]
    quote = span_of(reply.quote, passage.text)
    if not is_quoted(quote, question_text(reply.question)):
        raise RejectedError("not_quoted", "the question does not hold the quote")
    document, chunks = _place(graph, layout, quote)
    one = _attributed(desk, reply, passage, document)
    checks = [_one_document(document, chunks), check("quote", True, "the passage has it word for word, and so has the question")]
    if reply.asks == "speaker":
        checks.append(answered(desk, one, Trial(SPEAKER, (passage,))))
    checks.append(check("leak", True))
    question = drafted(structure, one.question, one.answer, level="attribution", used=(), evidence=[passage], checks=checks)
    more: dict[str, JsonValue] = {"asks": reply.asks, "quote": quote, "document": document, "chunk_ids": list[JsonValue](chunks)}
    more |= {"speaker": one.answer} if reply.asks == "speaker" else {}
    return question.model_copy(update={
        "references": list(one.aliases), "evidence_ids": [chunks], "document": document, "extra": {"attribution": more},
    })


def span_of(quote: str, text: str) -> str:
    """A quote as it stands in a text, whatever its case, spaces and punctuation there. Raises: RejectedError."""
    said_words = re.findall(r"\w+", quote)
    if not said_words or not says_something(quote, FEWEST_WORDS):
        raise RejectedError("short_quote", f"the quote has {len(said_words)} words")
    if len(said_words) > MOST_QUOTED or len(quote) > LONGEST_QUOTE:
        raise RejectedError("long_quote", f"the quote has {len(said_words)} words")
    found = _spelled(quote).search(text)
    if found is None:
        raise RejectedError("not_quoted", "the quote is not in its passage")
    return found[0]


def _spelled(quote: str) -> re.Pattern[str]:
    """The words of a quote, with any spaces and punctuation between them."""
    return re.compile(r"(?<!\w)" + r"\W+".join(map(re.escape, re.findall(r"\w+", quote))) + r"(?!\w)", re.IGNORECASE)


def _place(graph: Graph, layout: Layout, quote: str) -> tuple[str | None, list[str]]:
    """The document that has a quote, and its chunks that do. Raises: RejectedError where it is not one."""
    told, found, without = known(graph, layout).told_texts(), dict[str, set[str]](), 0
    ids = told.holding(quote) if told is not None else _holding(graph, layout, quote)
    spelled = _spelled(quote)
    for at in range(0, len(ids), AT_ONCE):
        for passage, documents in _passages(graph, layout, ids[at : at + AT_ONCE]):
            if spelled.search(passage.text):
                found.setdefault(passage.chunk_id or "", set()).update(documents)
                without += not documents
    if not found:
        raise RejectedError("not_proved", "the database does not find the quote in any chunk")
    together = set[str]().union(*found.values())
    if len(together) + without != 1:
        raise RejectedError("several_documents", f"the quote stands in {len(together)} documents and {without} chunks without one")
    return next(iter(together), None), sorted(found)


def _holding(graph: Graph, layout: Layout, quote: str) -> list[str]:
    """The element ids of the chunks that have all words of a quote, where there is too much text to be kept."""
    params = {"layout": layout.model_dump(), "terms": list(dict.fromkeys(re.findall(r"\w+", quote.lower())))}
    return [row["element_id"] for row in graph.read(all_queries()["prove-quotes"], params, timeout=TIMEOUT)]


def _attributed(desk: MakingContext, reply: Quoted, passage: Passage, document: str | None) -> Said:
    """The question with its answer: the speaker, whom the passage names, or the document. Raises: RejectedError."""
    if reply.asks == "document":
        if document is None:
            raise RejectedError("no_document", "the graph does not say which document the quote is of")
        if _ELEMENT_ID.fullmatch(document):
            raise RejectedError("no_document", "the document that the quote is of has no name")
        return said(desk, reply.question, document)
    one = said(desk, reply.question, reply.speaker)
    why = usable(one.answer)
    if why:
        raise RejectedError("no_speaker", f"'{one.answer[:80]}' {why}")
    known = [node for node in desk.structure.nodes if normalise(one.answer) in map(normalise, (node.name, *node.aliases))]
    if not is_quoted(one.answer, passage.text) and not names_in(passage.text, known):
        raise RejectedError("no_speaker", f"the passage does not name '{one.answer[:80]}'")
    return one


def _one_document(document: str | None, chunks: list[str]) -> QuestionCheck:
    where = f"the document {document}" if document is not None else "a single chunk; the graph names no documents"
    return check("one_document", True, f"searched in all chunk texts: the quote stands in {where} ({len(chunks)} chunks)")
