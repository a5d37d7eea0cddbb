"""Negative questions: no answer is in the graph, and the database proves it.

Two ways, by turns: (a) an entity of the graph is asked for a relation that its type often has and that it has not; (b) a relation of the
graph is asked of somebody or something that is in no name, no alias and no text. The right answer is that the texts do not tell. Of (a) the
graph is proof and the texts can only be searched: by words, by embeddings where a model for them is there, and by a model that is named.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.auditing.steps.relation_synonym import reduced
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.queries import all_queries
from kgeval.questions.drafts import check
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.graph_facts import Usage, known
from kgeval.questions.kind import Kind, MakingContext, MakingOptions, Need, Rejected, RejectedError
from kgeval.questions.making.answer_cypher import TIMEOUT, answers, either_query
from kgeval.questions.making.kasiak_draft import with_text
from kgeval.questions.making.kasiak_searched import MOST_NEAR, nearest, not_answered
from kgeval.questions.making.names import usable
from kgeval.questions.making.phrases import content_words, past_of, phrase, third_of
from kgeval.questions.making.templates import Step, called, worded
from kgeval.questions.proof import absent, folded, passages_naming, squeezed
from kgeval.records import Layout, Question, Structure, StructureNode
from kgeval.text.extract.lexicon import IRREGULAR, lemma
from kgeval.text.predicates import is_predicate

if TYPE_CHECKING:
    from kgeval.questions.duplicates import Embed

# Whether the texts may tell what the graph does not: as far as words, and embeddings where there are any, can show
# it.

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


LEVEL = "negative"
NEEDS: frozenset[Need] = frozenset(("graph",))
LEAST_ENTITIES = 3  # entities of the type that have the relation
LEAST_SHARE = 0.02  # of the uses of the type's most used relation
MOST_TRIED = 8
MOST_JOINED = 30  # names that new ones are made of, a question
UNTOLD = "This cannot be answered: the texts do not tell it."


@dataclass(frozen=True)
class _Place:
    """Where a negative question is made: the graph, one relation of it, and what draws."""

    graph: Graph
    layout: Layout
    structure: Structure
    rng: random.Random
    desk: MakingContext


def make(desk: MakingContext) -> Question | Rejected:
    """A negative question, or why there is none: no_predicate, not_worded, no_missing_relation, told, answered, no_new_name, vague,
    unusable_name, query_timeout.

    Raises: QueryError, ConnectionLost.
    """
    if desk.graph is None or desk.layout is None:
        raise RuntimeError("negative questions are proved by the graph")
    structure = desk.structure
    rng = random.Random(":".join((str(desk.options.seed), *(node.key for node in structure.nodes))))  # noqa: S311 - no secret
    place = _Place(desk.graph, desk.layout, structure, rng, desk)
    ways = (_missing, _invented) if structure.number % 2 == 0 else (_invented, _missing)
    causes = []
    for way in ways:
        try:
            return way(place)
        except RejectedError as none:
            causes.append(none.rejected)
        except QueryTimeout:
            causes.append(Rejected("query_timeout", f"the database did not prove it in {TIMEOUT:g} s"))
    return causes[0]


def _missing(place: _Place) -> Question:
    """(a) A relation that the type often has, and this entity has not."""
    node = place.rng.choice(place.structure.nodes)
    if not any(is_predicate(relation.predicate, place.layout) for relation in place.structure.relations):
        raise RejectedError("no_predicate", f"'{place.structure.relations[0].predicate[:80]}' says nothing that could be asked for")
    why = usable(node.name)
    if why:
        raise RejectedError("unusable_name", f"'{node.name[:80]}' {why}")
    same = known(place.graph, place.layout).entities([node.name, *node.aliases])
    ids = sorted({node.element_id, *(element_id for found in same.values() for element_id in found)})
    own = [row["predicate"] for row in place.graph.read(all_queries()["answers-own-predicates"], _params(place, ids=ids), timeout=TIMEOUT)]
    usages = _usages(place, node, own)
    texts = texts_of(place.graph, place.layout, node) if usages else None
    last: RejectedError | None = None
    for usage in usages[:MOST_TRIED]:
        said = unsaid(texts, node, usage.predicate)
        if said.nowhere:
            try:
                return _asked_of(place, node, usage, own, _Search(texts, said.proof))
            except RejectedError as none:
                if none.rejected.cause == "answered":  # no second call for one structure
                    raise
                last = none
    if last is not None:
        raise last
    told = f"; of {len(usages)} the texts may tell" if usages else ""
    raise RejectedError("no_missing_relation", f"'{node.name}' has all relations that entities of its type often have{told}")


def _usages(place: _Place, node: StructureNode, own: list[str]) -> list[Usage]:
    """Relations that other entities of the type have and this one has not, under no similar name, in a seeded order."""
    of_type = [usage for usage in known(place.graph, place.layout).usage(node.type or "") if node.type]
    least = max(LEAST_ENTITIES, LEAST_SHARE * max((usage.entities for usage in of_type), default=0))
    fit = [
        usage for usage in of_type
        if usage.entities >= least and is_predicate(usage.predicate, place.layout) and content_words(usage.predicate)
        and not any(synonymous(usage.predicate, one) for one in own)
    ]
    return place.rng.sample(fit, len(fit))


@dataclass(frozen=True)
class _Search:
    """What a search by words found: the passages that name the entity (null: the graph has no texts), and what it proves."""

    texts: list[str] | None
    proof: str


def _asked_of(place: _Place, node: StructureNode, usage: Usage, own: list[str], search: _Search) -> Question:
    spelled = [usage.predicate]
    cypher = either_query(place.layout, [node.name], spelled)
    if answers(place.graph, cypher):
        raise RejectedError("no_missing_relation", "the database has the relation after all")
    question = worded(called(node.name, place.structure.passages), [Step(usage.predicate, usage.outgoing, usage.other)], node.type)
    texts, means = _untold(place, node, question, search)
    reason = (
        f"In the graph, proved: '{node.name}' has no relation '{usage.predicate}' in either direction, and none of its {len(own)} "
        f"predicates shares a word with that; {usage.entities:,} other entities of type {node.type} have it. {texts}"
    )
    return _question(question, UNTOLD, cypher, reason).model_copy(update={"extra": {"searched": list[JsonValue](means)}})


def _untold(place: _Place, node: StructureNode, question: str, search: _Search) -> tuple[str, list[str]]:
    """How it was found that the texts do not tell: in words, and the means. By words; by embeddings and a model too where they are there.

    Raises: RejectedError: "told" where a sentence is near the question, "answered" where a model finds an answer.
    """
    desk = place.desk
    if search.texts is None:
        return search.proof, []
    means, proof = ["words"], search.proof
    if desk.embed is not None:
        cosine, sentences = near(question, search.texts, node, desk.embed)
        if cosine >= NEAR:
            raise RejectedError("told", f"a sentence about '{node.name}' is near the question (cosine {cosine:.2f}): the texts may tell it")
        means.append("embeddings")
        proof += f"; of {sentences:,} sentences about it none is near the question (cosine {NEAR:g})"
    if desk.asker is not None:
        own = [p for p in place.structure.passages if p.chunk_id in node.chunk_ids]
        passages = with_text((*own[:2], *nearest(place.graph, place.layout, question)))[:MOST_NEAR]
        not_answered(desk, question, passages)
        means.append("model")
        return f"{proof}; a model finds no answer in the {len(passages)} nearest passages.", means
    return f"{proof}; by {' and '.join(means)} only: that no text says it in other words is not proved.", means


def _invented(place: _Place) -> Question:
    """(b) A relation of the graph, asked of a name that nobody and nothing has."""
    relation = place.structure.relations[0]
    if not is_predicate(relation.predicate, place.layout):
        raise RejectedError("no_predicate", f"'{relation.predicate[:80]}' says nothing that could be asked for")
    if not content_words(relation.predicate):
        raise RejectedError("vague", f"nobody can tell what the relation '{relation.predicate[:80]}' asks for")
    source, target = place.structure.node(relation.source), place.structure.node(relation.target)
    for node, other, forward in place.rng.sample([(source, target, True), (target, source, False)], 2):
        names = _new_names(place, node)
        for presence in absent(place.graph, place.layout, names, timeout=TIMEOUT, often=True).values() if names else ():
            cypher = either_query(place.layout, [presence.term], [relation.predicate])
            if presence.absent and not usable(presence.term) and not answers(place.graph, cypher):
                article = "the " if called(node.name, place.structure.passages).startswith("the ") else ""
                question = worded(article + presence.term, [Step(relation.predicate, forward, other.type)], node.type)
                reference = f"This cannot be answered: the texts do not mention {presence.term}."
                return _question(question, reference, cypher, f"In the graph and its texts, proved: {presence.proof}.")
    raise RejectedError("no_new_name", "no name made of two names of this type is new to the graph and its texts")


def _new_names(place: _Place, node: StructureNode) -> list[str]:
    """Names in the manner of the type: the beginning of one, the last word of another."""
    pool = known(place.graph, place.layout).names(node.type, place.structure.seed) if node.type else ()
    joinable = [name for name in pool if _joinable(name) and not usable(name)]
    names = place.rng.sample(joinable, min(MOST_JOINED, len(joinable)))
    made = []
    for one in names:
        for other in names:
            first, last = one.split()[:-1], other.split()[-1]
            if one != other and last != one.split()[-1] and len(first) == len(other.split()) - 1 and last not in first:
                made.append(" ".join((*first, last)))
    return place.rng.sample(made, min(MOST_TRIED, len(made)))


def _joinable(name: str) -> bool:
    """Two or three words that begin in upper case: what a made-up name can be made of."""
    words = name.split()
    return 2 <= len(words) <= 3 and all(word[:1].isupper() and word.isalpha() for word in words)


def _question(text: str, reference: str, cypher: str, proof: str) -> Question:
    return Question(id="", question=text, level=LEVEL, reference=reference, cypher=cypher, checks=[check("absent", True, proof)])


def _params(place: _Place, **values: object) -> dict[str, object]:
    return {"layout": place.layout.model_dump(), **values}


def _wanted(_: MakingOptions) -> DrawSpec:
    return DrawSpec("edge")


KINDS: tuple[Kind, ...] = (
    Kind(
        name="negative", group="negative", level=LEVEL, source="[K] 4.1, out of context; [M]",
        about="no answer in the graph, proved: a relation that an entity has not, or a name that is nowhere in graph and texts",
        wanted=_wanted, make=make, needs=NEEDS, confirms=True, template=True,
    ),
)
