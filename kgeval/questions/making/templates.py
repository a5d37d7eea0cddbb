"""Hop questions without a model: English sentences out of predicates and types, or a neutral wording where a predicate cannot be said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgeval.questions.making.phrases import Phrase, noun_of_type, phrase, spoken, with_a
from kgeval.records import Passage

NOUN = "entity"  # what is asked for where the type says nothing
_PLAIN = re.compile(r"[\w .,'\u2019&()/-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PLACING = frozenset(("in", "at"))


@dataclass(frozen=True)
class Step:
    """One hop from what is known to what is looked for. `forward`: along the relation's own direction. `type`: of the entity reached.
    `one`: the step leads to one entity only. `back`: it goes the step before back, by the same predicate ("who else")."""

    predicate: str
    forward: bool
    type: str | None = None
    one: bool = True
    back: bool = False

    @property
    def noun(self) -> str:
        """What a question calls what is reached; "" where the type says nothing."""
        return noun_of_type(self.type)


@dataclass(frozen=True)
class _Said:
    """A step with its phrase. `leads`: what is looked for is the subject of the sentence."""

    step: Step
    phrase: Phrase
    leads: bool


def worded(start: str, steps: Sequence[Step]) -> str:
    """The question that asks along the steps for the last one's end. `start`: as `called` gives it. At most two steps are put into one
    sentence; what comes before stands in sentences of its own."""
    said = [_said(step) for step in steps]
    known = [one for one in said if one is not None]
    if len(known) < len(said):
        return neutral(start, steps)
    sentences, subject = [], start
    for one in known[:-2]:
        sentences.append(_statement(subject, one))
        subject = f"this {one.step.noun or NOUN}"
    if len(known) > 1:
        subject = _described(subject, known[-2])
    return " ".join([*sentences, _asked(subject, known[-1])])


def neutral(start: str, steps: Sequence[Step]) -> str:
    """The question as a way to follow, for predicates that are not found out (another language, a bare "of")."""
    ways = [f'"{_quoted(spoken(step.predicate) or step.predicate)}"' + ("" if step.forward else " backward") for step in steps]
    noun = steps[-1].noun
    asked = "Who" if noun == "person" else f"Which {noun or NOUN}"
    return f'Start at "{_quoted(start)}". Follow the relation {" and then ".join(ways)}. {asked} do you reach?'


def called(name: str, passages: Iterable[Passage]) -> str:
    """The name as a sentence calls it: with "the" where the passages mostly do, in quotation marks where it is no plain name."""
    if not _PLAIN.fullmatch(name) or len(name.split()) > 8:
        return f'"{_quoted(name)}"'
    if name.casefold().startswith(("the ", "a ", "an ")):
        return name
    pattern = re.compile(r"(?<!\w)(\bthe\s+)?" + r"\s+".join(map(re.escape, name.split())) + r"(?!['\u2019\w-]|\s+[A-Z])")
    found = [bool(match[1]) for passage in passages for match in pattern.finditer(_without_the(passage.text))]
    return f"the {name}" if found and 2 * sum(found) > len(found) else name


def _without_the(text: str) -> str:
    """The text with "The" at the beginning of a sentence in lower case."""
    return re.sub(r"\bThe\b", "the", text)


def _said(step: Step) -> _Said | None:
    said = phrase(step.predicate)
    return None if said is None else _Said(step, said, step.forward == said.swapped)


def _statement(subject: str, one: _Said) -> str:
    """A first hop as a sentence of its own: `Livia Tarrant designed a building.`"""
    noun = f"another {one.step.noun or NOUN}" if one.step.back else with_a(one.step.noun or NOUN)
    text = one.phrase.said_of(noun) + " " + subject if one.leads else one.phrase.said_of(subject) + " " + noun
    return text[0].upper() + text[1:] + "."


def _described(subject: str, one: _Said) -> str:
    """What a hop leads to, as a noun with a clause: `the person who founded the board`, `the place that the board is located in`."""
    noun = one.step.noun or NOUN
    article = ("the other" if one.step.one else "another") if one.step.back else "the" if one.step.one else with_a(noun).split()[0]
    if one.leads:
        clause = one.phrase.said_of("who" if noun == "person" else "that") + " " + subject
    else:
        clause = "that " + one.phrase.said_of(subject)
    return f"{article} {noun} {clause}"


def _asked(subject: str, one: _Said) -> str:
    """The question itself: `Who founded the board?`, `Where was Osric Venn born?`"""
    more, rest = one.step.back, one.phrase.without_object
    if one.leads:
        return f"{one.phrase.said_of(_which(one.step.noun, more))} {subject}?"
    head, _, last = rest.rpartition(" ")
    if one.step.noun == "place" and last in _PLACING and (head or one.phrase.form == "be"):
        where = "Where else" if more else "Where"
        return " ".join(filter(None, (where, one.phrase.helper, subject, head))) + "?"
    return f"{_which(one.step.noun, more)} {one.phrase.helper} {subject} {rest}?"


def _which(noun: str, more: bool) -> str:
    if noun == "person":
        return "Who else" if more else "Who"
    if not noun:
        return "Who or what else" if more else "Who or what"
    return f"Which other {noun}" if more else f"Which {noun}"


def _quoted(text: str) -> str:
    """Text that can stand between double quotation marks, on one line without control characters."""
    return " ".join(_CONTROL.sub(" ", text.replace('"', "'")).split())
