"""Whether the texts may tell what the graph does not: as far as words can show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgeval.audit.steps.relation_synonym import reduced
from kgeval.graph.connect import Graph
from kgeval.questions.known import known
from kgeval.questions.making.answer_cypher import TIMEOUT
from kgeval.questions.making.phrases import content_words, phrase
from kgeval.questions.proof import folded, passages_naming, squeezed
from kgeval.records import Layout, StructureNode
from kgeval.text.extract.lexicon import IRREGULAR, lemma

MOST_PASSAGES = 500
SHORTEST = 3  # letters of the last word of a name that stands for it in a text
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")


@dataclass(frozen=True)
class Unsaid:
    """`nowhere`: no sentence that names the entity holds a word of the predicate. `proof`: what was looked at, and what stays open."""

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
    """Whether a sentence (or the one after it) of its texts names the entity, or the last word of its name, and has a word of the
    predicate in some form. Of too many texts nothing is said."""
    if texts is None:
        return Unsaid(True, "The graph has no texts: nothing is known of them.")
    names, stems = _spelled(node), forms(predicate)
    if len(texts) > MOST_PASSAGES or any(_tells(text, names, stems) for text in texts):
        return Unsaid(False, "")
    return Unsaid(True, (
        f"In the texts, searched: of {len(texts):,} passages that name it none has a word of '{predicate}' in or right after a sentence "
        "with its name; that no text says it in other words is not proved."
    ))


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
        found |= {base, *(form for form, own in IRREGULAR.items() if own == base)}
        found |= {stem for stem in reduced(word) if len(stem) > 3}
    return frozenset(found)


def _stems(predicate: str) -> frozenset[str]:
    bases = {lemma(word, ()) or word for word in content_words(predicate)}
    return frozenset(stem for base in bases for stem in reduced(base))


def _spelled(node: StructureNode) -> list[str]:
    """The name, its aliases, and the last word of a name of several words."""
    names = [node.name, *node.aliases]
    last = [name.split()[-1] for name in names if len(name.split()) > 1 and len(name.split()[-1]) >= SHORTEST]
    return list(dict.fromkeys(folded(name) for name in (*names, *last) if folded(name)))


def _tells(text: str, names: list[str], stems: frozenset[str]) -> bool:
    sentences = _SENTENCE.split(text)
    for at, sentence in enumerate(sentences):
        if any(name in sentence for name in names):
            words = re.findall(r"\w+", " ".join(sentences[at : at + 2]))
            if any(word in stems or any(len(stem) > 3 and word.startswith(stem) for stem in stems) for word in words):
                return True
    return False
