"""Finds the chunk that a triple was taken from: by its id, its text, its document, or the names that it joins."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from kgeval.text.extract.mentions import Source
from kgeval.text.extract.spans import Finder, runs_together
from kgeval.text.sentences import sentences

_MOST_LOOKED_AT = 50
_LEAST_SENTENCE = 20


@dataclass(frozen=True)
class Wanted:
    """What is known of a triple's place: the names of its ends (one for an entity alone), chunk ids, texts, documents."""

    names: tuple[str, ...]
    chunk_ids: Sequence[str] = ()
    texts: Sequence[str] = ()
    documents: Sequence[str] = field(default_factory=list)


class Places:
    """The chunks of a build, to be searched by words. Building it takes time in the length of all texts."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._finders = [Finder(source.chunk.text) for source in sources]
        self._plain = [" ".join(source.chunk.text.split()) for source in sources]
        self._by_id = {source.chunk.id: at for at, source in enumerate(sources)}
        self._by_document: defaultdict[str, dict[int, None]] = defaultdict(dict)
        self._by_word: defaultdict[str, set[int]] = defaultdict(set)
        self._found: dict[str, frozenset[int]] = {}
        for at, source in enumerate(sources):
            for key in _document_keys(source):
                self._by_document[key][at] = None
            for word in set(_words(source.chunk.text)):
                self._by_word[word].add(at)

    def finder(self, at: int) -> Finder:
        """The finder of one chunk's text."""
        return self._finders[at]

    def place(self, wanted: Wanted) -> tuple[list[int], str]:
        """The chunks (places in the order given) that the triple is put to; none: the reason why."""
        own = [self._by_id[key] for key in wanted.chunk_ids if key in self._by_id]
        if own:
            return own, ""
        inside = self._inside(wanted.documents)
        with_text = [at for text in wanted.texts for at in self._with_text(text) if inside is None or at in inside]
        if with_text:
            best = self._best(wanted.names, with_text, one_name=True)
            return [with_text[0] if best is None else best], ""
        if inside is not None:
            best = self._best(wanted.names, inside, one_name=True)
            return ([best], "") if best is not None else ([], f"no name of it is in document {wanted.documents[0][:80]!r}")
        best = self._best(wanted.names, sorted(self._holding_all(wanted.names)), one_name=False)
        if best is not None:
            return [best], ""
        known = f"document {wanted.documents[0][:80]!r} is not among those given, and " if wanted.documents else ""
        return [], known + ("no chunk has both names" if len(wanted.names) > 1 else "no chunk has the name")

    def _inside(self, documents: Iterable[str]) -> list[int] | None:
        """The chunks of the documents that are known; null where none is."""
        found = dict.fromkeys(at for document in documents for at in self._by_document.get(document.strip().casefold(), ()))
        return list(found) or None

    def _best(self, names: tuple[str, ...], among: Sequence[int], *, one_name: bool) -> int | None:
        """The first chunk with all names in one sentence, else with all names, else (if allowed) with one of them."""
        both = [at for at in among if at in self._holding_all(names)]
        if both:
            near = (at for at in both[:_MOST_LOOKED_AT] if self._finders[at].sentence_with(names[0], names[-1]))
            return next(near, both[0])
        if not one_name:
            return None
        return next((at for name in names for at in among if at in self._holding(name)), None)

    def _holding_all(self, names: tuple[str, ...]) -> frozenset[int]:
        return frozenset.intersection(*(self._holding(name) for name in names))

    def _holding(self, name: str) -> frozenset[int]:
        """The chunks in whose text the name stands."""
        if name not in self._found:
            among = self._candidates([word for word in _words(name) if not runs_together(word)])
            self._found[name] = frozenset(at for at in among if self._finders[at].find(name) is not None)
        return self._found[name]

    def _candidates(self, words: Sequence[str]) -> Iterable[int]:
        """The chunks that have all these words; all chunks for no words. A leading article need not be there."""
        needed = words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words
        if not needed:
            return range(len(self._finders))
        return set.intersection(*(self._by_word.get(word, set()) for word in needed))

    def _with_text(self, text: str) -> list[int]:
        """The chunks that hold the text, or lie in it, or hold one of its sentences."""
        plain = " ".join(text.split())
        whole = self._holding_text(plain)
        if whole:
            return whole
        parts = [plain[start:end] for start, end in sentences(plain)]
        found = dict.fromkeys(at for part in parts if len(part) >= _LEAST_SENTENCE for at in self._holding_text(part))
        return sorted(found)

    def _holding_text(self, plain: str) -> list[int]:
        words = [word for word in _words(plain)[1:-1] if not runs_together(word)]  # the first and the last may be cut
        rarest = min(words, key=lambda word: len(self._by_word.get(word, ())), default=None)
        among = self._by_word.get(rarest, set()) if rarest is not None else range(len(self._plain))
        return [at for at in sorted(among) if plain and plain in self._plain[at]]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _document_keys(source: Source) -> set[str]:
    """What a file of triples may call the document: its id, its file name with or without ending, its title."""
    path = PurePosixPath(source.chunk.document)
    names = {source.chunk.document, path.name, path.stem, source.title or ""}
    return {name.strip().casefold() for name in names if name.strip()}
