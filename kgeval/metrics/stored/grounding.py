"""Which claims of an answer can be traced to triples of the stored graph: a judge is shown the triples near each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BeforeValidator, JsonValue, model_validator

from kgeval.errors import QueryError
from kgeval.graph.failures import ConnectionLost
from kgeval.llm import tokens
from kgeval.llm.asker import Asker, Later, digest
from kgeval.llm.calls import Failure, Numbered, Outcome, Reply
from kgeval.llm.characters import whole
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import Checked, Grounded, Item, Label, Texts
from kgeval.metrics.judge.desk import LOST, MOST_REASON, Desk, said
from kgeval.metrics.judge.replies import label_word
from kgeval.metrics.stored.candidates import Line, Store, candidates, parts

STAGE = "grounding"
PROMPT = "judge-grounding"
MOST_ITEMS = 60
LINE_TOKENS = 40  # of one triple, a guess for dry runs
NOTHING = "the graph has nothing on what it names"


class Traced(Numbered):
    """What the triples say of one claim, and which of them. A claim that is supported by none of them is not supported."""

    reason: str
    triples: list[int]
    label: Annotated[Label, BeforeValidator(label_word)]

    @model_validator(mode="after")
    def _traceable(self) -> Traced:
        if self.label == "supported" and not self.triples:
            raise ValueError("supported, but by no triple")
        return self


class TracedClaims(Reply):
    """One verdict a numbered claim."""

    items: list[Traced]


@dataclass
class _Found:
    """What was found out so far: claim (position) -> item, and the triples that were shown, numbered over all calls."""

    items: dict[int, Item] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)


def grounding(subject: Subject, store: Store, asker: Asker) -> Grounded:
    """The fact "grounding", from the claims in the facts. A claim that names nothing in the graph, or only what has no triple, is
    not stated by it, and nobody is asked. What the database refuses is a failure of the row.

    Raises: ConnectionLost; what the asker raises.
    """
    given = subject.facts.texts.get("claims:answer", Texts())
    desk = Desk(subject, asker)
    if given.failure is not None:
        if asker.dry and given.failure.cause == "cancelled":
            _put_off(desk, store)
        return Grounded(Checked(failure=given.failure))
    if not given.texts:
        return Grounded(Checked())
    try:
        wanted = candidates(given.texts, store)
    except ConnectionLost:
        raise
    except QueryError as cause:
        return Grounded(Checked(failure=Failure("graph_error", cause.message)))
    return _asked(desk, given.texts, wanted, most=store.settings.candidates)


def _asked(desk: Desk, claims: Sequence[str], wanted: Sequence[Sequence[Line]], *, most: int) -> Grounded:
    found = _Found()
    for places, lines in parts(wanted, most=most, items=MOST_ITEMS):
        numbers: list[JsonValue] = [{"number": number, "triple": line.text} for number, line in enumerate(lines, start=1)]
        texts = tuple(claims[place] for place in places)
        outcome = desk.ask(STAGE, PROMPT, {"triples": numbers}, TracedClaims, items=texts)
        _take(found, outcome, places, texts, lines)
    items = tuple(
        found.items.get(at) or Item(at + 1, claim, "not_stated", reason=NOTHING) for at, claim in enumerate(claims)
    )
    return Grounded(
        Checked(items), tuple(line.element_id for line in found.lines), tuple(line.text for line in found.lines),
        frozenset(line.element_id for line in found.lines if line.is_relation),
    )


def _take(found: _Found, outcome: Outcome[TracedClaims], places: Sequence[int], texts: Sequence[str], lines: Sequence[Line]) -> None:
    """One reply's verdicts. Numbers of triples go on over all calls; those that were not shown are dropped."""
    answers = {} if outcome.value is None else {answer.number: answer for answer in outcome.value.items}
    before = len(found.lines)
    found.lines += lines
    for number, (place, text) in enumerate(zip(places, texts, strict=True), start=1):
        answer = answers.get(number)
        if answer is None:
            failure = outcome.missing.get(number) or outcome.failure or LOST
            found.items[place] = Item(place + 1, text, failure=failure)
            continue
        shown = () if answer.label == "not_stated" else tuple(
            sorted({before + source for source in answer.triples if 1 <= source <= len(lines)})
        )
        lost = Failure("missing_item", "supported by triples that were not shown") if answer.label == "supported" and not shown else None
        found.items[place] = Item(
            place + 1, text, None if lost else answer.label, reason=answer.reason.strip()[:MOST_REASON], sources=shown,
            call=outcome.call_of.get(number), failure=lost,
        )


def _put_off(desk: Desk, store: Store) -> None:
    """Counts the call of an answer whose claims are not known yet. There is none if they name nothing in the graph."""
    text = said(desk.row)
    length = tokens.count(whole(text))
    desk.asker.later(Later(
        stage=STAGE, prompt=PROMPT, key=digest(STAGE, desk.row.question.question, text, desk.subject.trial), certain=False,
        tokens=(length, 3 * length + LINE_TOKENS * store.settings.candidates), items=10,
    ))
    if length > LINE_TOKENS:  # an answer of a few sentences may want more triples than one call shows
        desk.asker.later(Later(
            stage=STAGE, prompt=PROMPT, key=digest(STAGE, "second", desk.row.question.question, text, desk.subject.trial), certain=False,
            tokens=(0, LINE_TOKENS * store.settings.candidates), items=10,
        ))
