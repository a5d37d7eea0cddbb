"""Whether the texts may tell what the graph does not: as far as words, and embeddings where there are any, can show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.auditing.steps.relation_synonym import reduced
from kgeval.graph.connect import Graph
from kgeval.questions.known import known
from kgeval.questions.making.answer_cypher import TIMEOUT
from kgeval.questions.making.phrases import content_words, past_of, phrase, third_of
from kgeval.questions.proof import folded, passages_naming, squeezed
from kgeval.records import Layout, StructureNode
from kgeval.text.extract.lexicon import IRREGULAR, lemma

if TYPE_CHECKING:
    from kgeval.questions.duplicates import Embed

MOST_PASSAGES = 500
SHORTEST = 3  # letters of the last word of a name that stands for it in a text
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


NEAR = 0.55  # cosine of question and sentence from which the sentence may tell the answer
MOST_EMBEDDED = 400  # sentences of one entity
_PRONOUNS = frozenset(["he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs", "who", "whom", "whose"])


@dataclass(frozen=True)
class Unsaid:
    """`nowhere`: no sentence about the entity holds a word of the predicate. `proof`: what was looked at, and what stays open."""

    nowhere: bool
    proof: str


def texts_of(graph: Graph, layout: Layout, node: StructureNode) -> list[str] | None:
    """The passages that name the entity, or the last word of its name, one more than MOST_PASSAGES at most; null where the graph has no
    texts at all.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    if not known(graph, layout).has_chunks():
        return None
    return [text for _, text in passages_naming(graph, layout, _spelled(node), most=MOST_PASSAGES + 1, timeout=TIMEOUT)]


def unsaid(texts: Sequence[str] | None, node: StructureNode, predicate: str) -> Unsaid:
    """Whether a sentence of its texts that is about the entity has a word of the predicate in some form. Of too many texts nothing is
    said."""
    if texts is None:
        return Unsaid(True, "The graph has no texts: nothing is known of them.")
    stems = forms(predicate)
    if len(texts) > MOST_PASSAGES or any(_has(sentence, stems) for sentence in about(texts, node)):
        return Unsaid(False, "")
    return Unsaid(True, (
        f"In the texts, searched: of {len(texts):,} passages that name it none has a word of '{predicate}', in any of its forms, in a "
        "sentence with its name, in the one after that, or in one with a pronoun"
    ))


def near(question: str, texts: Sequence[str] | None, node: StructureNode, embed: Embed) -> tuple[float, int]:
    """The largest cosine of a question with a sentence about the entity, and how many were looked at. (0, 0) where there are none."""
    sentences = list(dict.fromkeys(sentence for sentence in about(texts or (), node) if sentence.strip()))[:MOST_EMBEDDED]
    if not sentences:
        return 0.0, 0
    vectors = embed([question, *sentences])
    return float((vectors[1:] @ vectors[0]).max()), len(sentences)


def about(texts: Sequence[str], node: StructureNode) -> Iterator[str]:
    """The sentences of texts that name the entity, or the last word of its name, those after them, and those with a pronoun."""
    names = _spelled(node)
    for text in texts:
        sentences = _SENTENCE.split(text)
        named = [any(name in sentence for name in names) for sentence in sentences]
        for at, sentence in enumerate(sentences):
            if named[at] or (at and named[at - 1]) or (any(named) and _PRONOUNS & set(re.findall(r"\w+", sentence))):
                yield sentence


def synonymous(one: str, other: str) -> bool:
    """Whether two predicates may say the same: equal in any spelling, or with a word in common but for its ending."""
    if squeezed(one) == squeezed(other):
        return True
    return bool(_stems(one) & _stems(other))


def forms(predicate: str) -> frozenset[str]:
    """The content words of a predicate in the forms that a text may have: work, works, worked; write, wrote, written."""
    found = set(content_words(predicate))
    said = phrase(predicate)
    if said is not None and said.base:
        found.add(said.base)
    for word in list(found):
        base = lemma(word, ()) or word
        found |= {base, third_of(base), past_of(base), _gerund(base), *(form for form, own in IRREGULAR.items() if own == base)}
        found |= {stem for stem in reduced(word) if len(stem) > 3}
    return frozenset(found)


def _gerund(base: str) -> str:
    """The form in -ing."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    doubled = past_of(base)[: -len("ed")] if past_of(base).endswith("ed") else base
    return (doubled if doubled == base + base[-1] else base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"


def _stems(predicate: str) -> frozenset[str]:
    bases = {lemma(word, ()) or word for word in content_words(predicate)}
    return frozenset(stem for base in bases for stem in reduced(base))


def _spelled(node: StructureNode) -> list[str]:
    """The name, its aliases, and the last word of a name of several words."""
    names = [node.name, *node.aliases]
    last = [name.split()[-1] for name in names if len(name.split()) > 1 and len(name.split()[-1]) >= SHORTEST]
    return list(dict.fromkeys(folded(name) for name in (*names, *last) if folded(name)))


def _has(sentence: str, stems: frozenset[str]) -> bool:
    return any(word in stems or any(len(stem) > 3 and word.startswith(stem) for stem in stems) for word in re.findall(r"\w+", sentence))
