"""Predicates in English: a relation's name of any spelling as a verb or a state for a sentence. Word lists:
wording.toml.

Only three forms are understood: a known verb with at most one preposition ("moved to", "was born in"), a known noun
with "of" ("capital of", and the bare property "director"), and a preposition of place. Whatever has more words, or
words that no list has, is left to a model: extractors write "paint hall for" and "stones in", and no spelling tells
which words of them belong together. """

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from kgeval.text.extract.lexicon import IRREGULAR, is_participle, lemma
from kgeval.text.names import normalise

LONGEST_PREDICATE = 80  # characters
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")
Form = Literal["verb", "be"]


@dataclass(frozen=True)
class PredicatePhrase:
    """A predicate that a sentence can be made of: "A works for B", "A was born in B".

    `finite`: the verb after a singular subject; `base`: its base form (`be`: ""); `rest`: what follows ("for", "the
    capital of"). `past`: it tells what happened. `swapped`: the sentence runs from the relation's end to its start
    ("director": B is the director of A). """

    form: Form
    finite: str
    base: str
    rest: str
    past: bool
    swapped: bool = False

    @property
    def helper(self) -> str:
        """What a question puts before the subject: does, did, is, was."""
        return self.finite if self.form == "be" else "did" if self.past else "does"

    def said_of(self, subject: str) -> str:
        """The phrase after its subject, without object: `Osric Venn works for`."""
        return " ".join(filter(None, (subject, self.finite, self.rest)))

    @property
    def without_object(self) -> str:
        """What follows the helper and the subject of a question: `work for`, `born in`."""
        return " ".join(filter(None, (self.base, self.rest)))


def spoken(predicate: str) -> str:
    """The predicate in lower case with single spaces, whatever its spelling: works_at, WORKS_AT, worksAt, works-at."""
    text = _CAMEL.sub(" ", predicate[: LONGEST_PREDICATE + 1]).replace("_", " ")
    return " ".join(re.sub(r"(?<!\w)-|-(?!\w)", " ", text).lower().split())


@cache
def _wording() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / "wording.toml").read_text(encoding="utf-8"))


@cache
def listed(table: str, name: str) -> frozenset[str]:
    """One of the word lists of wording.toml."""
    return frozenset(_wording()[table][name])


@cache
def phrase(predicate: str) -> PredicatePhrase | None:
    """The predicate as English, or None where its form is not understood."""
    text = spoken(predicate)
    if text in _wording()["whole"]:
        finite, base, rest = _wording()["whole"][text]
        return PredicatePhrase("verb", finite, base, rest, past=finite != third_of(base))
    for words in dict.fromkeys((tuple(text.split()), tuple(text.replace("-", " ").split()))):
        readable = 0 < len(words) <= 6 and len(text) <= LONGEST_PREDICATE and all(
            _WORD.fullmatch(word) for word in words
        )
        if readable and text not in listed("unclear", "whole") and not listed("small", "not") & set(words):
            understood = _of_words(list(words))
            if understood is not None:
                return understood
    return None


def _of_words(words: list[str]) -> PredicatePhrase | None:
    first, *rest = words
    if first in listed("small", "be") and rest:
        return _state(rest, says="was" if first in ("was", "were") else "is" if first in ("is", "are") else None)
    if first in listed("small", "have") and rest:
        if is_participle(rest[0]) and (verb := _verb(rest)):  # has founded
            base = lemma(rest[0], ()) or ""
            return PredicatePhrase("verb", past_of(base), base, verb.rest, past=True)
        return _noun(rest) if rest[-1] not in listed("small", "prepositions") else None  # has director
    return _noun(words) or _passive(words) or _verb(words) or _bare(words)


def _state(rest: list[str], says: str | None) -> PredicatePhrase | None:
    """What follows "is" or "was": a participle, a noun with "of", a preposition of place. `says`: which of the two the
    name says."""
    state = (_noun(rest) or _passive(rest, after_be=True) or _bare(rest)) if rest[-1] in listed("small", "prepositions") else None
    if state is None:
        return None
    return state if says is None else PredicatePhrase("be", says, "", state.rest, past=says == "was", swapped=state.swapped)


def _noun(words: list[str]) -> PredicatePhrase | None:
    """"capital of" (A is the capital of B) and "capital" (B is the capital of A): nouns of the lists, with words before
    them that only say which of several."""
    article = words[0] if words[0] in ("a", "an", "the") else ""
    core = words[1:] if article else words
    of = len(core) > 1 and core[-1] == "of"
    known = " ".join(core[:-1] if of else core)
    plain = _without_modifiers(known)
    if plain not in listed("nouns", "the") | listed("nouns", "a"):
        return None
    if plain == "cause" and not of and not article:
        return None  # "causes", said in the base form
    if plain in listed("nouns", "the"):
        article = "the"
    noun = f"{article} {known}" if article else with_a(known)
    return PredicatePhrase("be", "is", "", f"{noun} of", past=False, swapped=not of)


def _without_modifiers(noun: str) -> str:
    """"elder brother" -> "brother"; a noun that a list has as it is stays."""
    words, nouns = noun.split(), listed("nouns", "the") | listed("nouns", "a")
    while len(words) > 1 and " ".join(words) not in nouns and words[0] in listed("nouns", "modifiers"):
        words = words[1:]
    return " ".join(words)


def noun_in(phrase: PredicatePhrase) -> str:
    """The noun of "the elder brother of", without what says which of several; "" where the phrase has none."""
    words = phrase.rest.split()
    is_noun = phrase.form == "be" and len(words) > 2 and words[0] in ("a", "an", "the")
    return _without_modifiers(" ".join(words[1:-1])) if is_noun else ""


def _passive(words: list[str], *, after_be: bool = False) -> PredicatePhrase | None:
    """A participle with one preposition, after "is" or "was": located in, born in, written by."""
    if len(words) != 2 or words[1] not in listed("small", "prepositions"):
        return None
    first, last = words
    if first in listed("verbs", "stative"):
        return PredicatePhrase("be", "is", "", " ".join(words), past=False)
    if not is_participle(first) and first not in listed("verbs", "passive"):
        return None
    irregular = first in IRREGULAR and _past(IRREGULAR[first]) != first and first != IRREGULAR[first]
    if last == "by" or first in listed("verbs", "passive") or (
        (irregular or after_be) and last in listed("vague", "places")
    ):
        return PredicatePhrase("be", "was", "", " ".join(words), past=True)
    return None


def _verb(words: list[str]) -> PredicatePhrase | None:
    """A known verb, alone or with a preposition that goes with it: works for, founded, move to."""
    first, rest = words[0], words[1:]
    if len(rest) > 1 or (rest and (rest[0] not in listed("small", "prepositions") or rest[0] == "by")):
        return None
    base = _base(first)
    if base is None or base == "be" or not (
        base in listed("verbs", "base") or base in _forms() or lemma(third_of(base), ()) == base
    ):
        return None  # the base of an unknown word in -ed is a guess
    if rest and f"{base} {rest[0]}" not in listed("verbs", "joined"):
        return None
    present = first == third_of(base)
    finite = first if present or (first != base and (first.endswith("ed") or _past(base) == first)) else past_of(base)
    return PredicatePhrase("verb", finite, base, " ".join(rest), past=not present)


def _bare(words: list[str]) -> PredicatePhrase | None:
    """A preposition alone that says where something is."""
    return PredicatePhrase("be", "is", "", words[0], past=False) if len(words) == 1 and words[0] in listed("small", "bare") else None


def _base(word: str) -> str | None:
    """The base form of a verb form, None where the word is not known as one."""
    if word in listed("verbs", "base"):
        return word
    for base in (word[:-1], word[:-2], word[:-1] + "e", word[:-3] + "y", word[:-3]):
        if base in listed("verbs", "base") and word in (third_of(base), past_of(base)):
            return base
    return lemma(word, listed("verbs", "base"))


def past_of(base: str) -> str:
    """The past tense of a verb in its base form."""
    if irregular := _past(base):
        return irregular
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    short = len(base) > 2 and re.fullmatch(r"[^aeiou]*(?:qu)?[aeiou][bdgklmnprt]", base)  # one syllable: plan, planned
    return base + (base[-1] if short or base in listed("verbs", "doubling") else "") + "ed"


def third_of(base: str) -> str:
    """The form of a verb after he, she, it."""
    if base in ("have", "be"):
        return {"have": "has", "be": "is"}[base]
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def _past(base: str) -> str | None:
    """The irregular past tense: the third form in the table of irregular verbs, the base where there are no more than
    two."""
    forms = _forms().get(base)
    return None if forms is None else forms[2] if len(forms) > 2 else base


@cache
def _forms() -> dict[str, list[str]]:
    forms: dict[str, list[str]] = {}
    for form, base in IRREGULAR.items():
        forms.setdefault(base, []).append(form)
    return forms


def noun_of_type(kind: str | None) -> str:
    """What a question calls an entity of this type: person, place, "" where the type says nothing, else the type in
    lower case."""
    text = normalise(spoken(kind or ""))
    for noun, types in _wording()["types"].items():
        if text in types:
            return str(noun)
    readable = len(text) <= 30 and len(text.split()) <= 3 and re.fullmatch(r"[a-z]+(?: [a-z]+)*", text)
    return text if readable else ""


def with_a(noun: str) -> str:
    """A noun with its indefinite article."""
    return ("an " if noun[:1] in "aeiou" and not re.match(r"uni|use|eu|one", noun) else "a ") + noun


def tells_place(predicate: str, target: str | None) -> bool:
    """Whether a predicate that is a bare preposition makes sense: something is in or near a place."""
    last = spoken(predicate).split()[-1:]
    return bool(last) and last[0] in listed("small", "bare") and noun_of_type(target) not in ("", "person")


def content_words(predicate: str) -> list[str]:
    """The words of a predicate that carry its sense: without prepositions, "is", "has" and articles."""
    small = listed("small", "prepositions") | listed("small", "be") | listed("small", "have") | {"a", "an", "the"}
    return [word for word in re.findall(r"\w+", spoken(predicate)) if word not in small]
