"""Verdicts of statements against one source: all kinds of statements together in one call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import JsonValue

from kgeval.llm import tokens
from kgeval.llm.asker import Later, digest
from kgeval.llm.characters import whole
from kgeval.llm.tags import source_tags
from kgeval.metrics.facts import ItemVerdicts, JudgedItem, TextList
from kgeval.metrics.judge.context import MOST_REASON, ItemList, JudgeContext, answer_text, failure_of, passages
from kgeval.metrics.judge.lists import reasoning_steps
from kgeval.metrics.judge.replies import CitedVerdicts, SourcedVerdict, SourcedVerdicts, StatementVerdict, StatementVerdicts
from kgeval.metrics.words import words

Verdicts = CitedVerdicts | SourcedVerdicts | StatementVerdicts
MOST_ITEMS = 60  # statements a call: each has a sentence of reason in the reply
GUESSED_ITEMS = 10
GROWTH = 3  # claims say names again that the text says once: at most about three times its tokens (a guess, for dry runs only)
QUOTED = frozenset(("evidence",))  # a passage that has the marked text holds it; a claim's words may stand there denied
WORD_FOR_WORD = "stands there word for word; nobody was asked"
SOURCES = ("reference", "contexts", "answer", "statements", "reasoning")


@dataclass(frozen=True)
class VerdictSource:
    """What statements are checked against. `tags`, `texts`: tag -> number -> text of its passages, where verdicts name them. `nothing`:
    why it holds nothing; then nobody is asked, and no statement is supported."""

    stage: str
    prompt: str
    slots: Mapping[str, JsonValue] = field(repr=False)
    tags: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict, repr=False)
    nothing: str | None = None
    reply: type[Verdicts] = StatementVerdicts


def source_of(judge: JudgeContext, name: str) -> VerdictSource:
    """One of SOURCES, as the row has it. Of several right answers the first, each other one has a subject of its own (references.py);
    contexts have numbers."""
    question, prompt = judge.row.question, f"judge-against-{name}"
    slots: dict[str, JsonValue] = {"question": question.question}
    if name == "contexts":
        return tagged_source("verdicts-contexts", passages(judge.row), nothing="nothing was retrieved")
    if name == "answer":
        text = answer_text(judge.row)
        return VerdictSource("verdicts-answer", prompt, {**slots, "answer": text}, nothing=None if text else "the answer is empty")
    if name == "reasoning":  # with the answer that it ends in: the last step of a chain is often said nowhere else
        said = "\n".join(text for text in (*reasoning_steps(judge.row.answer), answer_text(judge.row)) if text)
        nothing = None if said else "the reasoning is empty"
        return VerdictSource("verdicts-reasoning", "judge-against-answer", {**slots, "answer": said}, nothing=nothing)
    texts = question.right_answers[:1] if name == "reference" else tuple(text for text in question.statements if text.strip())
    slot = "references" if name == "reference" else "statements"
    return VerdictSource(f"verdicts-{name}", prompt, {**slots, slot: list[JsonValue](texts)}, nothing=None if texts else "there is none")


def tagged_source(stage: str, texts: Mapping[int, str], *, nothing: str, reply: type[Verdicts] = SourcedVerdicts) -> VerdictSource:
    """Passages with tags, which verdicts name."""
    tags = dict(zip(source_tags(list(texts.values())), texts, strict=True))
    slots: dict[str, JsonValue] = {"passages": [{"tag": tag, "text": texts[number]} for tag, number in tags.items()]}
    return VerdictSource(stage, "judge-against-contexts", slots, tags, texts, None if texts else nothing, reply)


def check_items(judge: JudgeContext, source: VerdictSource, lists: Mapping[str, ItemList]) -> dict[str, ItemVerdicts]:
    """Kind -> one verdict for each of its statements. A kind whose statements could not be had has the failure; the others are
    asked all the same. One call for all of them (MOST_ITEMS statements a call); what a passage says word for word is not asked."""
    verdicts = {kind: ItemVerdicts(failure=given.texts.failure) for kind, given in lists.items() if given.texts.failure is not None}
    sure = {kind: given.known for kind, given in lists.items() if kind not in verdicts}
    if source.nothing is not None:
        unsupported = partial(JudgedItem, label="not_stated", reason=source.nothing)
        return verdicts | {
            kind: ItemVerdicts(tuple(unsupported(number, text) for number, text in enumerate(texts, start=1)))
            for kind, texts in sure.items()
        }
    quoted = {kind: _quoted_items(texts, source) if kind in QUOTED else {} for kind, texts in sure.items()}
    asked = {kind: [text for text in texts if text not in quoted[kind]] for kind, texts in sure.items()}
    if any(given.origin is not None for given in lists.values()):
        _count_later(judge, source, [
            replace(given, texts=TextList(tuple(asked[kind]))) if kind in asked else given for kind, given in lists.items()
        ])
        return verdicts | {kind: ItemVerdicts(failure=next(iter(verdicts.values())).failure) for kind in sure}
    answered = iter(_ask_judge(judge, source, [text for texts in asked.values() for text in texts]))
    for kind, texts in sure.items():
        items = (quoted[kind].get(text) or next(answered) for text in texts)
        verdicts[kind] = ItemVerdicts(tuple(replace(item, number=number) for number, item in enumerate(items, start=1)))
    return verdicts


def _quoted_items(texts: Collection[str], source: VerdictSource) -> dict[str, JudgedItem]:
    """Text -> its verdict, of those that stand word for word in a passage: case, blanks and punctuation play no part."""
    shown = {number: _running(text) for number, text in source.texts.items()}
    forms = {text: _running(text) for text in texts}
    places = {text: tuple(number for number, passage in shown.items() if form in passage) for text, form in forms.items()}
    return {text: JudgedItem(0, text, "supported", reason=WORD_FOR_WORD, sources=found) for text, found in places.items() if found}


def _running(text: str) -> str:
    return f" {' '.join(words(text, articles=True))} "


def _ask_judge(judge: JudgeContext, source: VerdictSource, statements: list[str]) -> list[JudgedItem]:
    """One item a statement, in their order."""
    items: list[JudgedItem] = []
    for start in range(0, len(statements), MOST_ITEMS):
        part = tuple(statements[start : start + MOST_ITEMS])
        outcome = judge.ask(source.stage, source.prompt, source.slots, source.reply, items=part, sources=frozenset(source.tags))
        for number, text in enumerate(part, start=1):
            answer: SourcedVerdict | StatementVerdict | None = outcome.answers.get(number)
            if answer is None:
                items.append(JudgedItem(number, text, failure=failure_of(outcome, number)))
                continue
            named = set[int]()
            if isinstance(answer, SourcedVerdict) and answer.label != "not_stated":
                # where only one passage was shown it is that one, also where the judge names none
                named = {source.tags[tag] for tag in (source.tags if len(source.tags) == 1 else answer.sources)}
            items.append(JudgedItem(
                number, text, answer.label, reason=answer.reason.strip()[:MOST_REASON], sources=tuple(sorted(named)),
                call=outcome.call_of.get(number),
            ))
    return items


def _count_later(judge: JudgeContext, source: VerdictSource, lists: Collection[ItemList]) -> None:
    """Counts the calls of a source whose statements are not all known. An unknown list is taken to have at least one statement,
    and to fit into a call with the others."""
    slots = [source.prompt, dict(source.slots), judge.subject.trial]
    inside: list[str | dict[str, str]] = []  # in their order: the same statements in another order are another call
    for given in lists:
        inside += given.known if given.origin is None else [{"made by": given.origin.key}]
    known_items = [part for part in inside if isinstance(part, str)]
    unknown = [given.origin for given in lists if given.origin is not None]
    base = tokens.count(whole(str(source.slots))) + tokens.count(whole(" ".join(known_items)))
    claims = sum(GROWTH * origin.tokens for origin in unknown)
    for start in range(0, len(inside), MOST_ITEMS):
        judge.asker.later(Later(
            stage=source.stage, prompt=source.prompt, key=digest(*slots, inside, start),
            least=digest(*slots, known_items, start), certain=start < len(known_items), tokens=(base, base + claims),
            items=min(MOST_ITEMS, len(known_items) + GUESSED_ITEMS * len(unknown)),
        ))
