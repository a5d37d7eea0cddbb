"""What all makers of questions share: showing a structure to a prompt, reading numbers and quotes back, and the
question itself.

Replies and graphs are hostile: whatever a model says is looked up here in what it was shown. What does not hold is a
RejectedError, which the run counts by its cause. """

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from pydantic import JsonValue

from kgeval.llm.tags import source_tags
from kgeval.llm.tokens import count
from kgeval.questions.complexity import complexity
from kgeval.questions.excerpts import head
from kgeval.questions.kinds import RejectedError
from kgeval.records import Layout, Passage, Question, QuestionCheck, Structure, StructureNode, StructureRelation
from kgeval.text.clean import clean_line, clean_name, clean_text
from kgeval.text.names import normalise
from kgeval.text.predicates import is_placeholder, is_predicate, keywords

T = TypeVar("T")
PASSAGE_TOKENS = 3_000
LEAST_PASSAGE = 40  # tokens: a shorter beginning of a passage tells nothing
LONGEST_QUESTION = 2_000  # characters
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019\u02bc]s\b", re.IGNORECASE)
_THINGS = r"(?:passages?|texts?|triples?|relations?|contexts?|excerpts?|snippets?|subgraphs?|data|documents?)"
_MATERIAL = re.compile(  # not "the passage" alone: a ship may look for one
    r"\b(?:passages?|triples?|relations?|chunks?|excerpts?|snippets?)\s+(?:no\.?\s*|number\s*|#\s*)?\d+\b"
    rf"|\b(?:the|this|these)\s+(?:given|provided|above|following|supplied)\s+{_THINGS}\b"
    rf"|\b(?:according to|based on|described in|mentioned in|stated in|given in|shown in|as per)\s+(?:the|this|these)\s+{_THINGS}\b",
    re.IGNORECASE,
)
_DECLINED = re.compile(  # models that were told to leave a field empty often put such words in its place
    r"(?:none|null|n/?a|nil|declined?|empty|not applicable|no (?:\w+ ){0,3}questions?\b.*"
    r"|(?:sorry|unfortunately|(?:i|we) (?:cannot|can't|could not|am unable|are unable|decline)|unable to|cannot|insufficient)\b.*)[.!]?",
    re.IGNORECASE | re.DOTALL,
)


def triples_shown(
    structure: Structure, relations: Sequence[StructureRelation] | None = None, layout: Layout | None = None,
) -> list[JsonValue]:
    """Relations (None: all, in the structure's order) as a prompt shows them, numbered from 1: number, subject,
    relation, object and, where there is one, description. `picked(relations, numbers)` reads numbers back. A label that
    is no predicate is not shown as one: keywords are shown as such, RELATED not at all; and where relations have no
    direction, that is said."""
    values = []
    for n, r in enumerate(structure.relations if relations is None else relations, start=1):
        predicate = {"relation": r.predicate} if is_predicate(r.predicate, layout) else {}
        listed = [] if predicate else [clean_line(word) for word in keywords(r.predicate) if not is_placeholder(word, layout)]
        triple = {"subject": structure.node(r.source).name, **predicate, "object": structure.node(r.target).name}
        values.append(_shown(
            number=n, **triple, keywords=list[JsonValue](listed) or None, description=r.description,
            direction="none" if layout is not None and layout.relations_undirected else None,
        ))
    return values


def entities_shown(nodes: Iterable[StructureNode]) -> list[JsonValue]:
    """Entities as a prompt shows them: name, and type and description where there are any."""
    return [_shown(name=node.name, type=node.type, description=node.description) for node in nodes]


def passages_shown(
    passages: Sequence[Passage], tokens: int = PASSAGE_TOKENS,
) -> tuple[list[JsonValue], tuple[Passage, ...]]:
    """Passages as a prompt shows them, numbered from 1 (number, document, text), and the passages that are shown, in
    that order.

    Together at most `tokens` tokens of text: the last that is shown may be cut, those after it are left out. Empty ones
    are too. """
    values: list[JsonValue] = []
    shown: list[Passage] = []
    for passage in passages:
        text = clean_text(passage.text)[0].strip()
        if not text:
            continue
        if tokens < LEAST_PASSAGE and shown:
            break
        part = head(text, tokens)
        tokens -= count(part)
        values.append(_shown(number=len(shown) + 1, document=passage.document, text=part))
        shown.append(passage)
    return values, tuple(shown)


def unnumbered(values: Sequence[JsonValue]) -> list[JsonValue]:
    """The same without their numbers: items that are judged have tags."""
    return [{name: part for name, part in value.items() if name != "number"} for value in values if isinstance(value, dict)]


def tagged_passages(values: Sequence[JsonValue]) -> tuple[list[JsonValue], dict[str, int]]:
    """Passages as a judge is shown them, with a tag in place of the number; tag -> number."""
    plain = unnumbered(values)
    tags = source_tags(plain)
    shown: list[JsonValue] = [{"tag": tag, **value} for tag, value in zip(tags, plain, strict=True) if isinstance(value, dict)]
    return shown, {tag: number for number, tag in enumerate(tags, start=1)}


def relevant_passages(structure: Structure, relations: Collection[str] | None = None) -> list[Passage]:
    """The structure's passages, those first that most of these relations (element ids; None: all) come from, then those
    that most of its entities come from; of equals the structure's order."""
    chosen = [r for r in structure.relations if relations is None or r.element_id in relations]

    def rank(passage: Passage) -> tuple[int, int]:
        of_relations = sum(passage.chunk_id in r.chunk_ids for r in chosen)
        return -of_relations, -sum(passage.chunk_id in node.chunk_ids for node in structure.nodes)

    return sorted(structure.passages, key=rank)


def passages_of(structure: Structure, relations: Iterable[StructureRelation]) -> list[Passage]:
    """The structure's passages that at least one of the relations comes from, each once, in the structure's order."""
    chunk_ids = {name for r in relations for name in r.chunk_ids}
    return [passage for passage in structure.passages if passage.chunk_id in chunk_ids]


def picked(shown: Sequence[T], numbers: Iterable[int], what: str = "number") -> list[T]:
    """The things that a reply names by their numbers (from 1), each once, in the order named.

    Raises: RejectedError("wrong_number") for a number that was not shown, RejectedError("no_evidence") where none is
    named. """
    chosen = list(dict.fromkeys(numbers))
    wrong = [n for n in chosen if not 1 <= n <= len(shown)]
    if wrong:
        raise RejectedError("wrong_number", f"the reply names {what} {wrong[0]} of {len(shown)}")
    if not chosen:
        raise RejectedError("no_evidence", f"the reply names no {what}")
    return [shown[n - 1] for n in chosen]


def question_text(text: str) -> str:
    """The question on one line, without quotation marks around it.

    Raises: RejectedError: "empty"; "declined" where it says that there is none; "too_long"; "material" where it speaks
    of the passages, triples or data that only the model saw. """
    line = clean_name(text)
    if not normalise(line):
        raise RejectedError("empty", "the reply has no question")
    if not line.endswith("?") and _DECLINED.fullmatch(line.strip("\"'()[]<>*_ ")):
        raise RejectedError("declined", f"the model declines: {line[:120]}")
    if len(line) > LONGEST_QUESTION:
        raise RejectedError("too_long", f"the question has {len(line):,} characters")
    if material := _MATERIAL.search(line):
        raise RejectedError("material", f"the question speaks of '{material[0]}', which only the model saw")
    return line


def answer_text(text: str | None) -> str:
    """The answer, cleaned; lines are kept. Raises: RejectedError("empty") where nothing is in it."""
    cleaned = clean_text(text or "")[0].strip()
    if not normalise(cleaned):
        raise RejectedError("empty", "the reply has no answer")
    return cleaned


def lines_of(texts: Iterable[str]) -> list[str]:
    """The texts on a line each, without empty ones and repeats."""
    return list(dict.fromkeys(line for text in texts if normalise(line := clean_line(text))))


def is_quoted(quote: str, text: str) -> bool:
    """Whether a text holds a quote, whatever its case, spaces and punctuation. An empty quote is in no text."""
    words = normalise(quote)
    # blanks on both sides: a quote must not begin or end inside a word
    return bool(words) and f" {words} " in f" {normalise(text)} "


def names_in(text: str, nodes: Iterable[StructureNode]) -> list[StructureNode]:
    """The entities whose name or alias stands in the text as whole words, also in the possessive (scripts without
    spaces: anywhere)."""
    plain = _plain(text)
    return [node for node in nodes if any(_stands(normalise(name), plain) for name in (node.name, *node.aliases))]


def leaks(question: str, answers: Iterable[str]) -> bool:
    """Whether the question says one of the answers, word for word or in the possessive."""
    plain = _plain(question)
    return any(_stands(normalise(answer), plain) for answer in answers)


def common_id(groups: Iterable[Iterable[str]]) -> str | None:
    """The first id that every group has: the chunk that says all relations, the document that tells all of them; None
    where none does."""
    sets = [set(group) for group in groups]
    return min(set[str].intersection(*sets), default=None) if sets else None


def check(name: str, passed: bool | None, reason: str = "") -> QuestionCheck:
    """What a maker's own check said of its question."""
    return QuestionCheck(name=name, passed=passed, reason=reason)


def drafted(
    structure: Structure, question: str, reference: str | None, *, level: str, used: Collection[str] | None = None,
    evidence: Iterable[Passage] = (), points: Iterable[str] = (), checks: Iterable[QuestionCheck] = (),
) -> Question:
    """A question as a maker returns it: with breadth, depth and document; id, made_by and structure are the run's.

    `used`: element ids of the relations that the answer needs (None: all of the structure's). `document`: where all
    evidence is of one document, that one. Raises: as question_text and answer_text. """
    needed = {r.element_id for r in structure.relations} if used is None else used
    breadth, depth = complexity(structure, needed)
    passages = list({(p.chunk_id, p.document, p.text): p.model_copy(update={"score": None}) for p in evidence}.values())
    documents = {p.document for p in passages}
    return Question(
        id="", question=question_text(question), level=level,
        reference=None if reference is None else answer_text(reference),
        points=lines_of(points), evidence=passages, document=next(iter(documents)) if len(documents) == 1 else None,
        hops=depth if needed else None, triples_needed=breadth if needed else None, checks=list(checks),
    )


def _shown(**values: JsonValue) -> JsonValue:
    """A value for a prompt without what is not there; texts on one line but the text of a passage."""
    return {
        name: clean_line(value) if isinstance(value, str) and name != "text" else value
        for name, value in values.items() if value not in (None, "")
    }


def _plain(text: str) -> str:
    """The text in normal form; where it has possessives, once more without them: "Ada's firm" names Ada, and may name
    "Ada's Firm"."""
    bare = _POSSESSIVE.sub("", text)
    return f" {normalise(text)} " if bare == text else f" {normalise(text)} | {normalise(bare)} "


def _stands(name: str, plain: str) -> bool:
    if not name:
        return False
    return f" {name} " in plain or (not name.isascii() and any(ord(c) > 0x2E80 for c in name) and name in plain)
