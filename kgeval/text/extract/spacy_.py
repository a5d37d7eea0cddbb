"""The spaCy extractor: named entities and dependency relations of a trained pipeline on this machine. No language model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from kgeval.errors import UsageError
from kgeval.manifest import Asked
from kgeval.text.clean import clean_line
from kgeval.text.extract.lexicon import DETERMINERS, PRONOUNS
from kgeval.text.extract.mentions import Extraction, Link, Mention, Source
from kgeval.text.extract.parse import Parse

VERSION = "1"
NO_ENTITIES = frozenset({"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME", "DATE"})  # values, not things
DESCRIPTION = 500  # characters of a sentence that are kept
_FINDS_ENTITIES = {"ner", "entity_ruler", "beam_ner"}
_PARSES = {"parser", "beam_parser"}
_WAY_OUT = "or choose --extractor rules, which needs no pipeline"


class SpacyExtractor:
    """Entities with the pipeline's own types, and relations by `kgeval.text.extract.parse`. Same texts, same pipeline: same result.

    `pipeline`: name of an installed package (`en_core_web_sm`) or path of a folder. It must hold a component that finds entities
    and a parser. Raises: UsageError where spaCy or the pipeline is missing, or the pipeline lacks a component.
    """

    def __init__(self, pipeline: str) -> None:
        self._nlp = _load(pipeline)
        _check(self._nlp, pipeline)

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

    def asked(self) -> Asked:
        """Nothing: no language model is asked."""
        return Asked()

    def extract(self, sources: Iterable[Source]) -> Iterator[Extraction]:
        """One extraction a source, in order. A name has one type in a document: the one that it gets most often there."""
        parsed = self._nlp.pipe(((source.chunk.text, source.chunk) for source in sources), as_tuples=True)
        found = ((chunk.document, extraction_of(doc, chunk.id)) for doc, chunk in parsed)
        for _, group in groupby(found, key=lambda pair: pair[0]):
            yield from _one_type_a_name([extraction for _, extraction in group])


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
            links.append(Link(place[_written(a)], place[_written(b)], link.predicate, link.sentence[:DESCRIPTION], start, end))
    return Extraction(chunk_id, tuple(mentions), tuple(links))


def _written(span: Any) -> str:
    return clean_line(span.text)


def _trimmed(span: Any) -> Any | None:
    """The entity without articles before and "'s" behind; null for values, pronouns, and what has no letter."""
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


def _one_type_a_name(extractions: Sequence[Extraction]) -> list[Extraction]:
    votes: dict[str, Counter[str | None]] = {}
    for extraction in extractions:
        for mention in extraction.mentions:
            votes.setdefault(mention.name, Counter())[mention.type] += 1
    types = {name: min(counts, key=lambda kind: (-counts[kind], kind or "")) for name, counts in votes.items()}
    return [
        replace(extraction, mentions=tuple(replace(mention, type=types[mention.name]) for mention in extraction.mentions))
        for extraction in extractions
    ]


def _load(pipeline: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise UsageError("the spaCy extractor needs spaCy, which is not installed",
                         fix=f"pip install spacy, {_WAY_OUT}") from error
    try:
        return spacy.load(pipeline)
    except (OSError, ValueError, ImportError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"the spaCy pipeline {pipeline!r} cannot be loaded: {first[:200]}",
            fix=f"install one (python -m spacy download en_core_web_sm), give the path of a saved pipeline's folder, {_WAY_OUT}",
        ) from error


def _check(nlp: Any, pipeline: str) -> None:
    """Both components must be there: entities without a parse have no relations, and the reverse has no ends."""
    factories = {nlp.get_pipe_meta(name).factory for name in nlp.pipe_names}
    lacking = [what for what, kinds in (("ner", _FINDS_ENTITIES), ("parser", _PARSES)) if not factories & kinds]
    if lacking:
        raise UsageError(
            f"the spaCy pipeline {pipeline!r} has no {' and no '.join(lacking)} (it has: {', '.join(nlp.pipe_names) or 'nothing'})",
            fix=f"use a pipeline with ner and parser, such as en_core_web_sm, {_WAY_OUT}",
        )
