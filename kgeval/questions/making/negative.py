"""Negative questions: no answer is in the graph, and the database proves it.

Two procedures, by turns: (a) an entity of the graph is asked for a relation that its type often has and that it has
not; (b) a relation of the graph is asked of somebody or something that is in no name, no alias and no text. The right
answer is that the texts do not tell. Of (a) the graph is proof and the texts can only be searched: by words, by
embeddings where a model for them is there, and by a model that is named. """

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from kgeval.auditing.steps.relation_synonym import reduced
from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.queries import all_queries
from kgeval.questions.drafts import check
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.graph_facts import PredicateUsage, facts_of
from kgeval.questions.kinds import MakingContext, Need, QuestionKind, RejectedError
from kgeval.questions.making.answer_cypher import TIMEOUT, answers, either_query
from kgeval.questions.making.kasiak_draft import with_text
from kgeval.questions.making.kasiak_searched import MOST_NEAR, check_not_answered, nearest
from kgeval.questions.making.name_faults import check_name, name_fault
from kgeval.questions.making.predicate_phrases import content_words, past_of, phrase, third_of
from kgeval.questions.making.templates import Step, called, worded
from kgeval.questions.proof import absent, folded, passages_naming, squeezed
from kgeval.records import Layout, Question, Structure, StructureNode
from kgeval.text.extract.lexicon import IRREGULAR, lemma
from kgeval.text.predicates import is_predicate

if TYPE_CHECKING:
    from kgeval.questions.duplicates import Embed

LEVEL = "negative"
NEEDS: frozenset[Need] = frozenset(("graph",))
LEAST_ENTITIES = 3  # entities of the type that have the relation
LEAST_SHARE = 0.02  # of the uses of the type's most used relation
MOST_TRIED = 8
MOST_JOINED = 30  # names that new ones are made of, a question
MOST_PASSAGES = 500
SHORTEST = 3  # letters of the last word of a name that stands for it in a text
NEAR = 0.55  # cosine of question and sentence from which the sentence may tell the answer
MOST_EMBEDDED = 400  # sentences of one entity
UNTOLD = "This cannot be answered: the texts do not tell it."
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_PRONOUNS = frozenset(
    ["he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs", "who", "whom", "whose"],
)


def make(context: MakingContext) -> Question:
    """A negative question.

    Raises: RejectedError: no_predicate, not_worded, no_missing_relation, told, answered, no_new_name, vague,
    unusable_name, query_timeout: of both procedures the first one's; QueryError, ConnectionLost. """
    structure = context.structure
    rng = random.Random(":".join((str(context.options.seed), *(node.key for node in structure.nodes))))  # noqa: S311 - no secret
    # by turns, so that a set has both; the other one where the first gives none
    procedures = (_missing_relation, _invented_name) if structure.number % 2 == 0 else (_invented_name, _missing_relation)
    rejected: list[RejectedError] = []
    for procedure in procedures:
        try:
            return procedure(context, rng)
        except RejectedError as error:
            rejected.append(error)
        except QueryTimeout:
            rejected.append(RejectedError("query_timeout", f"the database did not prove it in {TIMEOUT:g} s"))
    raise rejected[0]


def _missing_relation(context: MakingContext, rng: random.Random) -> Question:
    """(a) A relation that the type often has, and this entity has not."""
    graph, layout = context.database()
    relations, node = context.structure.relations, rng.choice(context.structure.nodes)
    if not any(is_predicate(relation.predicate, layout) for relation in relations):
        raise RejectedError("no_predicate", f"'{relations[0].predicate[:80]}' says nothing that could be asked for")
    check_name(node.name)
    same = facts_of(graph, layout).entities([node.name, *node.aliases])
    ids = sorted({node.element_id, *(element_id for ids_of_name in same.values() for element_id in ids_of_name)})
    params = {"layout": layout.model_dump(), "ids": ids}
    own = [row["predicate"] for row in graph.read(all_queries()["answers-own-predicates"], params, timeout=TIMEOUT)]
    usages = _usages(graph, layout, node, own)
    # shuffled: else all negative questions ask for the type's most used relation
    usages = rng.sample(usages, len(usages))
    texts = texts_of(graph, layout, node) if usages else None
    last: RejectedError | None = None
    for usage in usages[:MOST_TRIED]:
        proof = absence_in_texts(texts, node, usage.predicate)
        if proof:
            try:
                return _about_usage(context, node, usage, own, texts, proof)
            except RejectedError as error:
                if error.cause == "answered":  # no second call for one structure
                    raise
                last = error
    if last is not None:
        raise last
    of_others = f"; of {len(usages)} the texts may tell" if usages else ""
    raise RejectedError(
        "no_missing_relation", f"'{node.name}' has all relations that entities of its type often have{of_others}",
    )


def _usages(graph: Graph, layout: Layout, node: StructureNode, own: list[str]) -> list[PredicateUsage]:
    """Relations that other entities of the type have and this one has not, under no similar name."""
    of_type = facts_of(graph, layout).usage(node.type) if node.type else ()
    least = max(LEAST_ENTITIES, LEAST_SHARE * max((usage.entities for usage in of_type), default=0))
    return [
        usage for usage in of_type
        if usage.entities >= least and is_predicate(usage.predicate, layout) and content_words(usage.predicate)
        and not any(synonymous(usage.predicate, predicate) for predicate in own)
    ]


def _about_usage(
    context: MakingContext, node: StructureNode, usage: PredicateUsage, own: list[str], texts: list[str] | None,
    proof: str,
) -> Question:
    """The question for a relation that the entity has not. `texts`: the passages that name the entity (None: the graph
    has no texts); `proof`: what a search of them by words showed."""
    graph, layout = context.database()
    cypher = either_query(layout, [node.name], [usage.predicate])
    if answers(graph, cypher):
        raise RejectedError("no_missing_relation", "the database has the relation after all")
    question = worded(
        called(node.name, context.structure.passages), [Step(usage.predicate, usage.outgoing, usage.other)], node.type,
    )
    means: list[JsonValue] = []
    if texts is not None:
        proof, means = _searched(context, node, question, texts, proof)
    reason = (
        f"In the graph, proved: '{node.name}' has no relation '{usage.predicate}' in either direction, and none of its {len(own)} "
        f"predicates shares a word with that; {usage.entities:,} other entities of type {node.type} have it. {proof}"
    )
    return _question(question, UNTOLD, cypher, reason).model_copy(update={"extra": {"searched": means}})


def _searched(
    context: MakingContext, node: StructureNode, question: str, texts: list[str], proof: str,
) -> tuple[str, list[JsonValue]]:
    """How it was found that the texts do not tell: in words, and the means: by words; by embeddings and a model too
    where they are there.

    Raises: RejectedError: "told" where a sentence is near the question, "answered" where a model finds an answer.
    """
    # that no text has a word of the predicate proves little: "he came to Montreal" tells where somebody moved to
    means: list[JsonValue] = ["words"]
    if context.embed is not None:
        cosine, sentences = near(question, texts, node, context.embed)
        if cosine >= NEAR:
            raise RejectedError("told", f"a sentence about '{node.name}' is near the question (cosine {cosine:.2f}): the texts may tell it")
        means.append("embeddings")
        proof += f"; of {sentences:,} sentences about it none is near the question (cosine {NEAR:g})"
    if context.asker is not None:
        own = [p for p in context.structure.passages if p.chunk_id in node.chunk_ids]
        passages = with_text((*own[:2], *nearest(*context.database(), question)))[:MOST_NEAR]
        check_not_answered(context, question, passages)
        return f"{proof}; a model finds no answer in the {len(passages)} nearest passages.", [*means, "model"]
    return f"{proof}; by {' and '.join(map(str, means))} only: that no text says it in other words is not proved.", means


def texts_of(graph: Graph, layout: Layout, node: StructureNode) -> list[str] | None:
    """The passages that name the entity, or the last word of its name, one more than MOST_PASSAGES at most; None where
    the graph has no texts at all.

    Raises: QueryError, QueryTimeout, ConnectionLost.
    """
    if not facts_of(graph, layout).has_chunks():
        return None
    return [text for _, text in passages_naming(graph, layout, _spelled(node), most=MOST_PASSAGES + 1, timeout=TIMEOUT)]


def absence_in_texts(texts: Sequence[str] | None, node: StructureNode, predicate: str) -> str:
    """What shows that no sentence of its texts that is about the entity has a word of the predicate in some form; ""
    where one has, and where there are too many texts to say. `texts` None: the graph has none."""
    if texts is None:
        return "The graph has no texts: nothing is known of them."
    stems = forms(predicate)
    if len(texts) > MOST_PASSAGES or any(_has(sentence, stems) for sentence in about(texts, node)):
        return ""
    return (
        f"In the texts, searched: of {len(texts):,} passages that name it none has a word of '{predicate}', in any of its forms, in a "
        "sentence with its name, in the one after that, or in one with a pronoun"
    )


def near(question: str, texts: Sequence[str], node: StructureNode, embed: Embed) -> tuple[float, int]:
    """The largest cosine of a question with a sentence about the entity, and how many were looked at. (0, 0) where
    there are none."""
    sentences = list(dict.fromkeys(sentence for sentence in about(texts, node) if sentence.strip()))[:MOST_EMBEDDED]
    if not sentences:
        return 0.0, 0
    vectors = embed([question, *sentences])
    return float((vectors[1:] @ vectors[0]).max()), len(sentences)


def about(texts: Sequence[str], node: StructureNode) -> Iterator[str]:
    """The sentences of texts that name the entity, or the last word of its name, those after them, and those with a
    pronoun."""
    names = _spelled(node)
    for text in texts:
        sentences = _SENTENCE.split(text)
        named = [any(name in sentence for name in names) for sentence in sentences]
        for index, sentence in enumerate(sentences):
            if named[index] or (index and named[index - 1]) or (any(named) and _PRONOUNS & set(re.findall(r"\w+", sentence))):
                yield sentence


def synonymous(one: str, other: str) -> bool:
    """Whether two predicates may say the same: equal in any spelling, or with a word in common but for its ending."""
    stems = [
        {stem for word in content_words(predicate) for stem in reduced(lemma(word, ()) or word)} for predicate in (one, other)
    ]
    return squeezed(one) == squeezed(other) or bool(stems[0] & stems[1])


def forms(predicate: str) -> frozenset[str]:
    """The content words of a predicate in the forms that a text may have: work, works, worked; write, wrote,
    written."""
    spellings = set(content_words(predicate))
    verb = phrase(predicate)
    if verb is not None and verb.base:
        spellings.add(verb.base)
    for word in list(spellings):
        base = lemma(word, ()) or word
        spellings |= {base, third_of(base), past_of(base), _gerund(base), *(form for form, own in IRREGULAR.items() if own == base)}
        spellings |= {stem for stem in reduced(word) if len(stem) > 3}
    return frozenset(spellings)


def _gerund(base: str) -> str:
    """The form in -ing."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    doubled = past_of(base).removesuffix("ed")
    if doubled == base + base[-1]:
        return doubled + "ing"
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"


def _spelled(node: StructureNode) -> list[str]:
    """The name, its aliases, and the last word of a name of several words."""
    names = [node.name, *node.aliases]
    last = [name.split()[-1] for name in names if len(name.split()) > 1 and len(name.split()[-1]) >= SHORTEST]
    return list(dict.fromkeys(folded(name) for name in (*names, *last) if folded(name)))


def _has(sentence: str, stems: frozenset[str]) -> bool:
    return any(word in stems or any(len(stem) > 3 and word.startswith(stem) for stem in stems) for word in re.findall(r"\w+", sentence))


def _invented_name(context: MakingContext, rng: random.Random) -> Question:
    """(b) A relation of the graph, asked of a name that nobody and nothing has."""
    graph, layout = context.database()
    structure = context.structure
    relation = structure.relations[0]
    if not is_predicate(relation.predicate, layout):
        raise RejectedError("no_predicate", f"'{relation.predicate[:80]}' says nothing that could be asked for")
    if not content_words(relation.predicate):
        raise RejectedError("vague", f"nobody can tell what the relation '{relation.predicate[:80]}' asks for")
    source, target = structure.node(relation.source), structure.node(relation.target)
    for node, other, forward in rng.sample([(source, target, True), (target, source, False)], 2):
        names = _new_names(graph, layout, node, structure, rng)
        for presence in absent(graph, layout, names, timeout=TIMEOUT, often=True).values() if names else ():
            cypher = either_query(layout, [presence.term], [relation.predicate])
            if presence.absent and not name_fault(presence.term) and not answers(graph, cypher):
                article = "the " if called(node.name, structure.passages).startswith("the ") else ""
                question = worded(article + presence.term, [Step(relation.predicate, forward, other.type)], node.type)
                reference = f"This cannot be answered: the texts do not mention {presence.term}."
                return _question(question, reference, cypher, f"In the graph and its texts, proved: {presence.proof}.")
    raise RejectedError("no_new_name", "no name made of two names of this type is new to the graph and its texts")


def _new_names(
    graph: Graph, layout: Layout, node: StructureNode, structure: Structure, rng: random.Random,
) -> list[str]:
    """Names in the manner of the type: the beginning of one, the last word of another, of two or three words each that
    begin in upper case."""
    joinable = []
    for name in facts_of(graph, layout).names(node.type, structure.seed) if node.type else ():
        words = name.split()
        if 2 <= len(words) <= 3 and all(
            word[:1].isupper() and word.isalpha() for word in words
        ) and not name_fault(name):
            joinable.append(words)
    chosen = rng.sample(joinable, min(MOST_JOINED, len(joinable)))
    joined = [
        " ".join((*first[:-1], last[-1])) for first in chosen for last in chosen
        if first != last and last[-1] != first[-1] and len(first) == len(last) and last[-1] not in first[:-1]
    ]
    return rng.sample(joined, min(MOST_TRIED, len(joined)))


def _question(text: str, reference: str, cypher: str, proof: str) -> Question:
    return Question(
        id="", question=text, level=LEVEL, reference=reference, cypher=cypher, checks=[check("absent", True, proof)],
    )


KINDS: tuple[QuestionKind, ...] = (
    QuestionKind(
        name="negative", group="negative", level=LEVEL, source="[K] 4.1, out of context; [M]", draws=DrawSpec("edge"),
        about="no answer in the graph, proved: a relation that an entity has not, or a name that is nowhere in graph and texts",
        make=make, needs=NEEDS, confirms=True, template=True,
    ),
)
