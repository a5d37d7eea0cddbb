"""The spaCy extractor: named entities and dependency relations of a trained pipeline on this machine. No language model is asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from kgeval.config.powers import names_folder
from kgeval.errors import UsageError, install
from kgeval.manifest import ModelUsage
from kgeval.text.clean import clean_line
from kgeval.text.extract.lexicon import DETERMINERS, HEDGES, PRONOUNS, lemma
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention

# Relations between named entities from a dependency parse, as spaCy gives it. No model here: a parsed text in,
# triples out.

_SUBJECT = ("nsubj",)
_PASSIVE_SUBJECT = ("nsubjpass", "nsubj:pass")
_OBJECT = ("dobj", "obj", "iobj", "dative")
_PREPOSITION = ("prep", "agent")
_OBLIQUE = ("obl", "obl:agent", "obl:arg", "nmod", "nmod:poss")  # the preposition hangs below the noun, as `case`
_PREDICATE_NOUN = ("attr", "oprd")
_RELATIVE = ("relcl", "acl:relcl")
_OWNER = ("poss", "nmod:poss")
_MOST_NOUNS = 3  # prepositional phrases in each other: "the son of the king of X" ends there


@dataclass(frozen=True, slots=True)
class ParsedLink:
    """A relation between two entities of a text, by their place among the text's entities."""

    source: int
    target: int
    predicate: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Reach:
    """An entity that hangs on a word, with the words on the way there ("journey", "to"). `agent`: it is who does what a passive says."""

    token: Any
    words: tuple[str, ...]
    agent: bool = False


class Parse:
    """One parsed text (`spacy.tokens.Doc`) and its entities (spans, in order, not overlapping)."""

    def __init__(self, doc: Any, entities: list[Any]) -> None:
        self._doc = doc
        self._of = {token.i: position for position, span in enumerate(entities) for token in span}

    def links(self) -> list[ParsedLink]:
        """Every relation, in the order of the text's words; never of an entity with itself."""
        links: dict[tuple[int, int, str, int], ParsedLink] = {}
        for token in self._doc:
            for source, target, predicate in (*self._verb(token), *self._noun(token)):
                a, b = self._of.get(source.i), self._of.get(target.i)
                if a is not None and b is not None and a != b:
                    sentence = clean_line(token.sent.text)
                    links.setdefault((a, b, predicate, token.sent.start), ParsedLink(a, b, predicate, sentence))
        return list(links.values())

    def _verb(self, verb: Any) -> Iterator[tuple[Any, Any, str]]:
        """What a verb (or a noun with a copula) says of its subjects."""
        subjects, passive = _subjects(verb)
        subjects = [token for subject in subjects for token in self._named(subject)]
        if not subjects or _denied(verb):
            return
        for reach in self._said(verb, passive):
            if passive and reach.agent:
                yield from ((reach.token, subject, base(verb)) for subject in subjects)
            else:
                yield from ((subject, reach.token, " ".join(reach.words)) for subject in subjects)

    def _said(self, verb: Any, passive: bool) -> Iterator[_Reach]:
        if any(child.dep_ == "cop" for child in verb.children):
            yield from self._nominal(verb)
            return
        particles = [child.lower_ for child in verb.children if child.dep_ in ("prt", "compound:prt")]
        head = (" ".join(["be", verb.lower_, *particles] if passive else [base(verb), *particles]),)
        things = [child for child in verb.children if child.dep_ in _OBJECT and not passive]
        for thing in things:
            yield from (_Reach(token, head) for token in self._named(thing))
            if thing.i not in self._of:
                yield from (_Reach(r.token, (*head, base(thing), *r.words)) for r in self._attached(thing))
        for child in verb.children:
            if child.dep_ in _PREDICATE_NOUN:
                yield from self._nominal(child)
        common = [thing for thing in things if thing.i not in self._of]
        if not any(thing.lower_ in PRONOUNS for thing in common):  # "sent her to X": she went, not the subject
            words = (*head, *(base(thing) for thing in common))
            yield from (_Reach(r.token, (*words, *r.words), r.agent) for r in self._attached(verb))

    def _nominal(self, noun: Any) -> Iterator[_Reach]:
        """ "was the director of X", "is X's wife", "is X"."""
        if noun.i in self._of:
            yield from (_Reach(token, ("be",)) for token in self._named(noun))
            return
        yield from (_Reach(r.token, (base(noun), *r.words)) for r in self._attached(noun))
        for child in noun.children:
            if child.dep_ in _OWNER:
                yield from (_Reach(token, (base(noun), "of")) for token in self._named(child))

    def _noun(self, noun: Any) -> Iterator[tuple[Any, Any, str]]:
        """Apposition ("X, the director of Y"; "Y's clerk, X") and a possessive before a name ("Y's clerk X")."""
        for child in noun.children:
            if child.dep_ == "appos":
                title, named = (child, noun) if noun.i in self._of else (noun, child)
                if title.i not in self._of:
                    yield from ((token, r.token, " ".join(r.words)) for token in self._named(named) for r in self._nominal(title))
            elif child.dep_ in ("compound", "nmod", "flat") and noun.i in self._of and child.i not in self._of:
                owners = [c for source in (noun, child) for c in source.children if c.dep_ in _OWNER]
                yield from ((noun, token, f"{base(child)} of") for owner in owners for token in self._named(owner))

    def _attached(self, head: Any) -> Iterator[_Reach]:
        """Entities below a word by a preposition, one noun on the way allowed where the noun is no entity ("the ruins of X")."""
        for child in head.children:
            if child.dep_ in _PREPOSITION:
                for noun in child.children:
                    if noun.dep_ in ("pobj", "pcomp"):
                        yield from self._through(noun, child.lower_, agent=child.dep_ == "agent")
            elif child.dep_ in _OBLIQUE:
                case = [c.lower_ for c in child.children if c.dep_ == "case" and c.lower_ not in ("'s", "’s", "'")]
                if case:
                    agent = child.dep_ == "obl:agent" or case == ["by"]
                    yield from self._through(child, " ".join(case), agent=agent)

    def _through(self, noun: Any, preposition: str, *, agent: bool = False, depth: int = 1) -> Iterator[_Reach]:
        if noun.i in self._of:
            yield from (_Reach(token, (preposition,), agent) for token in self._named(noun))
        elif depth < _MOST_NOUNS:
            for child in noun.children:
                if child.dep_ == "prep" and child.lower_ == "of":
                    for below in child.children:
                        yield from (
                            _Reach(r.token, (preposition, base(noun), *r.words)) for r in self._through(below, "of", depth=depth + 1)
                        )

    def _named(self, token: Any) -> list[Any]:
        """The entities that a word and what is joined to it by "and" stand for."""
        # the list grows while it is walked: what "and" joins to a name may have more of its kind
        joined = [token]
        for word in joined:
            joined.extend(child for child in word.children if child.dep_ == "conj" and child not in joined)
        return [entity for entity in joined if entity.i in self._of]


def _subjects(verb: Any) -> tuple[list[Any], bool]:
    """A verb's subjects and whether it is passive: its own, the noun that a relative clause hangs on, or those of the verb that
    it continues ("came and saw")."""
    own = [child for child in verb.children if child.dep_ in _SUBJECT + _PASSIVE_SUBJECT]
    passive = any(child.dep_ in _PASSIVE_SUBJECT or child.dep_ in ("auxpass", "aux:pass") for child in verb.children)
    if own:
        relative = verb.dep_ in _RELATIVE and all(child.lower_ in ("who", "which", "that") for child in own)
        return ([verb.head] if relative else own), passive
    if verb.dep_ == "conj" and verb.head.i != verb.i and not passive:
        inherited, was_passive = _subjects(verb.head)
        return ([] if was_passive or _denied(verb.head) else inherited), False
    return [], passive


def _denied(verb: Any) -> bool:
    """Negated, hedged by a modal verb, or under a condition."""
    return any(
        child.dep_ == "neg" or (child.dep_ in ("aux", "advmod", "mark", "det") and child.lower_ in HEDGES) for child in verb.children
    )


def base(token: Any) -> str:
    """The lemma in small letters; without a lemmatizer in the pipeline, the base form of an English verb, else the word itself."""
    known: str = token.lemma_.lower()
    # -PRON- was spaCy 2's lemma of every pronoun
    if known and known != "-pron-":
        return known
    word: str = token.lower_
    return lemma(word, ()) or word


VERSION = "1"
NO_ENTITIES = frozenset({"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME", "DATE"})  # values, not things
DESCRIPTION = 500  # characters of a sentence that are kept
_FINDS_ENTITIES = {"ner", "entity_ruler", "beam_ner"}
_PARSES = {"parser", "beam_parser"}
_WAY_OUT = "or choose --extractor rules, which needs no pipeline"


class SpacyExtractor:
    """Entities with the pipeline's own types, and relations by `Parse`. Same texts, same pipeline: same result.

    `pipeline`: name of an installed package (`en_core_web_sm`) or path of a folder. It must hold a component that finds entities
    and a parser. Raises: UsageError where spaCy or the pipeline is missing, or the pipeline lacks a component.
    """

    def __init__(self, pipeline: str) -> None:
        self._nlp = _load(pipeline)

    @property
    def name(self) -> str:
        """The name of the extractor."""
        return "spacy"

    @property
    def signature(self) -> str:
        """Everything that decides what comes out: our rules, spaCy, the pipeline with its version."""
        import spacy

        meta = self._nlp.meta
        return f"spacy-{VERSION} spacy={spacy.__version__} pipeline={meta['lang']}_{meta['name']}-{meta['version']}"

    def asked(self) -> ModelUsage:
        """Nothing: no language model is asked."""
        return ModelUsage()

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        """One extraction a source, in order. A name has one type in a document: the one that it gets most often there."""
        parsed = self._nlp.pipe(((source.chunk.text, source.chunk) for source in sources), as_tuples=True)
        extracted = ((chunk.document, extraction_of(doc, chunk.id)) for doc, chunk in parsed)
        for _, group in groupby(extracted, key=lambda pair: pair[0]):
            extractions = [extraction for _, extraction in group]
            votes: dict[str, Counter[str | None]] = defaultdict(Counter)
            for extraction in extractions:
                for mention in extraction.mentions:
                    votes[mention.name][mention.type] += 1
            types = {name: min(counts, key=lambda kind: (-counts[kind], kind or "")) for name, counts in votes.items()}
            for extraction in extractions:
                yield replace(extraction, mentions=tuple(replace(m, type=types[m.name]) for m in extraction.mentions))


def extraction_of(doc: Any, chunk_id: str) -> Extraction:
    """What a parsed text (`spacy.tokens.Doc`) holds: one mention a name, one link each time that a relation is stated."""
    spans = [span for span in map(_trimmed, doc.ents) if span is not None]
    place: dict[str, int] = {}
    mentions: list[Mention] = []
    for span in spans:
        name = _written(span)
        if name not in place:
            place[name] = len(mentions)
            mentions.append(Mention(name, span.label_ or None, start=span.start_char, end=span.end_char))
    links = []
    for link in Parse(doc, spans).links():
        a, b = spans[link.source], spans[link.target]
        if _written(a) != _written(b):
            start, end = min(a.start_char, b.start_char), max(a.end_char, b.end_char)
            links.append(RelationMention(place[_written(a)], place[_written(b)], link.predicate, link.sentence[:DESCRIPTION], start, end))
    return Extraction(chunk_id, tuple(mentions), tuple(links))


def _written(span: Any) -> str:
    return clean_line(span.text)


def _trimmed(span: Any) -> Any | None:
    """The entity without articles before and "'s" behind; None for values, pronouns, and what has no letter."""
    if span.label_ in NO_ENTITIES:
        return None
    start, end = span.start, span.end
    while start < end and span.doc[start].lower_ in DETERMINERS:
        start += 1
    while end > start and (span.doc[end - 1].lower_ in ("'s", "’s", "'", "’") or span.doc[end - 1].is_space):
        end -= 1
    kept = span.doc[start:end]
    if not any(c.isalpha() for c in kept.text) or kept.text.lower() in PRONOUNS:
        return None
    from spacy.tokens import Span

    return Span(span.doc, start, end, label=span.label)


def _load(pipeline: str) -> Any:
    """The pipeline, which must have both components: entities without a parse have no relations, and the reverse has no ends."""
    try:
        import spacy
    except ImportError as error:
        raise UsageError("the spaCy extractor needs spaCy, which is not installed",
                         fix=f"{install('spacy')}, {_WAY_OUT}") from error
    a_name = pipeline and not names_folder(pipeline)
    if a_name and Path(pipeline).exists() and not spacy.util.is_package(pipeline):
        raise UsageError(  # a folder may hold code
            f"the spaCy pipeline {pipeline!r} is not installed, and there is a file or folder of this name here",
            fix=f"write ./{pipeline} if you mean it; else python -m spacy download {pipeline}",
        )
    try:
        nlp = spacy.load(pipeline)
    except (OSError, ValueError, ImportError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"the spaCy pipeline {pipeline!r} cannot be loaded: {first[:200]}",
            fix=f"install one (python -m spacy download en_core_web_sm), give the path of a saved pipeline's folder, {_WAY_OUT}",
        ) from error
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    absent = [what for what, kinds in (("ner", _FINDS_ENTITIES), ("parser", _PARSES)) if not factories & kinds]
    if absent:
        raise UsageError(
            f"the spaCy pipeline {pipeline!r} has no {' and no '.join(absent)} (it has: {', '.join(nlp.pipe_names) or 'nothing'})",
            fix=f"use a pipeline with ner and parser, such as en_core_web_sm, {_WAY_OUT}",
        )
    return nlp
