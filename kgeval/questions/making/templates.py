"""Questions without a model: English sentences out of predicates and types. What is not understood, or would be asked
as nobody asks it, is refused: a model may word it, or nobody does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgeval.questions.kinds import RejectedError
from kgeval.questions.making.predicate_phrases import PredicatePhrase, listed, noun_in, noun_of_type, phrase, with_a
from kgeval.records import Passage
from kgeval.text.extract.lexicon import lemma

NOUN = "entity"  # what is asked for where the type says nothing
_PLAIN = re.compile(r"[\w .,'\u2019&()/-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PLACING = frozenset(("in", "at"))


@dataclass(frozen=True)
class Step:
    """One hop from what is known to what is looked for. `forward`: along the relation's own direction. `type`: of the
    entity reached. `one`: the step leads to one entity only. `back`: it goes the step before back, by the same
    predicate ("who else")."""

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
class _PhrasedStep:
    """A step with its phrase. `leads`: what is looked for is the subject of the sentence. `known`: the type's noun of
    what is known."""

    step: Step
    phrase: PredicatePhrase
    leads: bool
    known: str

    @property
    def ends(self) -> tuple[str, str]:
        """The nouns of the sentence's subject and object."""
        return (self.step.noun, self.known) if self.leads else (self.known, self.step.noun)


def worded(start: str, steps: Sequence[Step], kind: str | None = None) -> str:
    """The question that asks along the steps for the last one's end. `start`: as `called` gives it; `kind`: its type.
    At most two steps are put into one sentence; what comes before stands in sentences of its own.

    Raises: RejectedError("not_worded") where a predicate is not understood, or the sentence would ask for nothing in
    particular. """
    phrased: list[_PhrasedStep] = []
    for index, step in enumerate(steps):
        form = phrase(step.predicate)
        if form is None:
            raise _refused(step, "its form is not understood")
        phrased.append(
            _PhrasedStep(step, form, step.forward == form.swapped, steps[index - 1].noun if index else noun_of_type(kind)),
        )
    for part in phrased:
        if why := _unfit(part):
            raise _refused(part.step, why)
        if part is not phrased[-1] and not part.step.noun:
            raise _refused(part.step, "it leads to an entity without a type, which a question cannot call anything")
    first = phrased[0]
    if start[:1].islower() and not start.startswith(("the ", "a ", "an ")) and first.known in (
        "", "person", "organization", "group",
    ):
        raise _refused(steps[0], f"'{start[:80]}' is no name of one thing")
    if not first.leads and first.phrase.helper != "did" and _is_plural(start, first.known):
        raise _refused(steps[0], f"'{start[:80]}' may be several, and the verb would not agree")
    sentences, subject = [], start
    for part in phrased[:-2]:  # first hops as sentences of their own: `Livia Tarrant designed a building.`
        noun = f"another {part.step.noun or NOUN}" if part.step.back else with_a(part.step.noun or NOUN)
        text = f"{part.phrase.said_of(noun)} {subject}" if part.leads else f"{part.phrase.said_of(subject)} {noun}"
        sentences.append(text[0].upper() + text[1:] + ".")
        subject = f"this {part.step.noun or NOUN}"
    if len(phrased) > 1:
        subject = _described(subject, phrased[-2])
    return " ".join([*sentences, _asked(subject, phrased[-1])])


def _refused(step: Step, why: str) -> RejectedError:
    return RejectedError("not_worded", f"no template says '{step.predicate[:80]}': {why}")


def _unfit(one: _PhrasedStep) -> str:
    """Why a person would not ask so along a predicate whose form is understood; "" if one would."""
    said, (subject, other) = one.phrase, one.ends
    first, *_, last = (said.rest.split() or [""]) * 2
    noun, places = noun_in(said), listed("vague", "places")
    state = said.form == "be" and not noun and (
        first in listed("vague", "states") or lemma(first, ()) in listed("vague", "verbs")
    )
    if state or said.base in listed("vague", "verbs") or noun in listed("vague", "mutual"):
        return "it says too little: a text has many answers"
    if said.form == "be" and said.rest in listed("small", "bare") and (
        one.leads or subject in ("", "person", "place") or other != "place"
    ):
        return "a preposition alone asks only where a thing is"
    if one.leads and last in places and not noun and one.step.noun in listed("vague", "types"):
        return "backward it has many answers"
    if one.leads and noun in listed("vague", "nouns"):
        return "backward it has many answers"
    if not one.leads and last in places and not noun and not other:
        return "what it leads to has no type: a place, a person or a thing"
    if noun in listed("nouns", "person") and not {subject, other} <= {"", "person"}:
        return "it joins persons, and the graph says that one of the two is none"
    if noun in listed("nouns", "held") and subject not in ("", "person"):
        return f"a person is that, and the graph calls it a {subject}"
    if said.form == "verb" and subject in ("place", "event") and said.base not in listed("vague", "of_places"):
        return f"{with_a(subject)} does nothing of the kind"
    if said.form == "verb" and other == "place" and said.base in listed("vague", "making"):
        return "nobody does that to a place"
    return ""


def _is_plural(name: str, noun: str) -> bool:
    """Whether a name may be that of several ("the Scottish Nurses"): persons and places with a final s are one (Hughes,
    Athens)."""
    last = name.casefold().strip("\"'").split()[-1:]
    several = last and last[0].endswith("s") and not last[0].endswith(("ss", "us", "is", "'s", "\u2019s"))
    return bool(several or " and " in name or last == ["people"]) and noun not in ("person", "place")


def called(name: str, passages: Iterable[Passage]) -> str:
    """The name as a sentence calls it: with "the" where the passages mostly do, in quotation marks where it is no plain
    name."""
    if not _PLAIN.fullmatch(name) or len(name.split()) > 8:  # on one line, without control characters and marks of its own
        return '"' + " ".join(_CONTROL.sub(" ", name.replace('"', "'")).split()) + '"'
    if name.casefold().startswith(("the ", "a ", "an ")):
        return name
    pattern = re.compile(
        r"(?<!\w)(\bthe\s+)?" + r"\s+".join(map(re.escape, name.split())) + r"(?!['\u2019\w-]|\s+[A-Z])",
    )
    texts = (re.sub(r"\bThe\b", "the", passage.text) for passage in passages)  # "The" begins a sentence
    with_the = [bool(match[1]) for text in texts for match in pattern.finditer(text)]
    return f"the {name}" if 2 * sum(with_the) > len(with_the) else name


def _described(subject: str, one: _PhrasedStep) -> str:
    """What a hop leads to, as a noun with a clause: `the person who founded the board`, `the place that the board is
    located in`."""
    noun = one.step.noun or NOUN
    article = ("the other" if one.step.one else "another") if one.step.back else "the" if one.step.one else with_a(noun).split()[0]
    if one.leads:
        clause = one.phrase.said_of("who" if noun == "person" else "that") + " " + subject
    else:
        clause = "that " + one.phrase.said_of(subject)
    return f"{article} {noun} {clause}"


def _asked(subject: str, one: _PhrasedStep) -> str:
    """The question itself: `Who founded the board?`, `Where was Osric Venn born?`"""
    more, rest = one.step.back, one.phrase.without_object
    noun = "person" if not one.step.noun and noun_in(one.phrase) in listed("nouns", "person") else one.step.noun
    if one.leads:
        return f"{one.phrase.said_of(_which(noun, more))} {subject}?"
    head, _, last = rest.rpartition(" ")
    if one.step.noun == "place" and last in _PLACING and (head or one.phrase.form == "be"):
        where = "Where else" if more else "Where"
        return " ".join(filter(None, (where, one.phrase.helper, subject, head))) + "?"
    return f"{_which(noun, more)} {one.phrase.helper} {subject} {rest}?"


def _which(noun: str, more: bool) -> str:
    if noun == "person":
        return "Who else" if more else "Who"
    if not noun:
        return "Who or what else" if more else "Who or what"
    return f"Which other {noun}" if more else f"Which {noun}"
