"""Questions of three levels from the graph together with its texts [Z 3]: node, edge, subgraph; one structure a
question.

The passages go into every prompt, so that faults of the graph do not become faults of the questions. A subgraph has
more of them than a prompt should hold: all of them are summed up first, in groups, and the summaries of many groups in
rounds, until so few are left as a prompt holds; the question is made from the relations and these summaries. """

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from pydantic import JsonValue

from kgeval.llm.asker import Later, digest
from kgeval.llm.calls import Reply
from kgeval.llm.tokens import count
from kgeval.questions.drafts import (
    answer_text,
    check,
    drafted,
    entities_shown,
    leaks,
    passages_of,
    passages_shown,
    picked,
    question_text,
    relevant_passages,
    triples_shown,
)
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.excerpts import head, tokens_of
from kgeval.questions.kinds import LaterCall, MakingContext, QuestionKind, RejectedError, UnansweredError
from kgeval.records import Passage, Question, QuestionCheck, Structure

T = TypeVar("T")
# Distinct relations of a subgraph [Z 3]. The code of [Z] asks all its 50 subgraph questions of one walk, so that what it finds of the
# level may be that walk's; here each question has a structure of its own, and its passages, which that code leaves out.
MIN_RELATIONS = 50
WALK_LENGTH = 100
GROUP_TOKENS = 8_000  # of passages that one call sums up
MOST_SUMMARIES = 6  # that the question is made from
SUMMARY_TOKENS = 450  # of a summary of 300 words
SUMMARIES_A_CALL = GROUP_TOKENS // SUMMARY_TOKENS
LEAST_RELATIONS = 2
MOST_EVIDENCE = 100  # passages of a question: a relation of a hub comes from thousands, of which any will do


class GraphTextQuestion(Reply):
    """A question with the passages that its answer rests on."""

    question: str
    answer: str = ""
    passages: list[int]


class SubgraphQuestion(Reply):
    """A question with the relations that its answer needs."""

    question: str
    answer: str = ""
    triples: list[int]


class Summary(Reply):
    """What a group of passages tells."""

    summary: str


def make_node(context: MakingContext) -> Question:
    """A question about one entity, from its description and its passages. Raises: UnansweredError, RejectedError."""
    structure = context.structure
    values, passages = passages_shown(relevant_passages(structure))
    if not passages and not structure.nodes[0].description:
        raise RejectedError("no_content", "the entity has neither passages nor a description")
    return _from_passages(
        context, "ask-node", {"entity": entities_shown(structure.nodes)[0], "passages": values}, passages,
    )


def make_edge(context: MakingContext) -> Question:
    """A question about why or how a relation holds, from it, both its ends and their passages. Raises: as make_node."""
    structure = context.structure
    values, passages = passages_shown(relevant_passages(structure))
    descriptions = [*(r.description for r in structure.relations), *(node.description for node in structure.nodes)]
    if not passages and not any(descriptions):
        raise RejectedError("no_content", "the relation has neither passages nor descriptions")
    relation = triples_shown(structure, layout=context.layout)[0]
    slots = {"relation": relation, "entities": entities_shown(structure.nodes), "passages": values}
    return _from_passages(context, "ask-edge", slots, passages)


def _from_passages(
    context: MakingContext, prompt: str, slots: dict[str, JsonValue], passages: Sequence[Passage],
) -> Question:
    structure = context.structure
    reply = context.ask(prompt, {**slots, **_common_slots(context)}, GraphTextQuestion)
    evidence = picked(passages, reply.passages, "passage") if passages else []
    answer, checks = _reference(context, reply.question, reply.answer)
    return drafted(structure, reply.question, answer, level=structure.kind, evidence=evidence, checks=checks)


def make_subgraph(context: MakingContext) -> Question:
    """A question that needs several relations of a subgraph, from them and summaries of their passages. Raises: as
    make_node."""
    structure = context.structure
    passages = relevant_passages(structure)
    summed_up = passages[: context.options.max_passages]
    summaries, rounds = _summaries(context, summed_up)
    slots: dict[str, JsonValue] = {
        "triples": triples_shown(structure, layout=context.layout), "entities": entities_shown(structure.nodes),
        "summary": list[JsonValue](summaries),
    }
    reply = context.ask("ask-subgraph", {**slots, **_common_slots(context)}, SubgraphQuestion)
    relations = picked(structure.relations, reply.triples, "relation")
    if len(relations) < LEAST_RELATIONS:
        raise RejectedError("too_few_relations", "the reply names a single relation")
    answer, checks = _reference(context, reply.question, reply.answer)
    question = drafted(
        structure, reply.question, answer, level="subgraph", used={r.element_id for r in relations},
        evidence=passages_of(structure, relations)[:MOST_EVIDENCE], points=(structure.text_of(r) for r in relations), checks=checks,
    )
    texts = {"passages": len(summed_up), "left_out": len(passages) - len(summed_up), "rounds": rounds}
    return question.model_copy(update={"extra": {"summed_up": texts}})


def _common_slots(context: MakingContext) -> dict[str, JsonValue]:
    return {"earlier": list(context.options.earlier), "answer_wanted": context.options.answers}


def _reference(context: MakingContext, question: str, answer: str) -> tuple[str | None, list[QuestionCheck]]:
    """The reference with its checks; None where none is wanted. Raises: RejectedError where it is empty, or in the
    question."""
    if not context.options.answers:
        return None, []
    text = answer_text(answer)
    if leaks(question_text(question), [text]):
        raise RejectedError("leak", "the question says its answer")
    return text, [check("leak", True)]


def _summaries(context: MakingContext, passages: Sequence[Passage]) -> tuple[list[str], int]:
    """What all the passages tell, in MOST_SUMMARIES summaries at most, and in how many rounds they came about.

    A dry run counts the calls of a whole round, and those of the rounds after it, before it gives up. """
    names: list[JsonValue] = [node.name for node in context.structure.nodes]
    # twice as many tokens as a group has: passages_shown cuts nothing off
    shown = [values for values in (passages_shown(group, 2 * GROUP_TOKENS)[0] for group in groups(passages)) if values]
    summaries = _round(
        context, len(shown),
        (partial(context.ask, "sum-up-passages", {"names": names, "passages": values}, Summary) for values in shown), 1,
    )
    rounds = 1 if shown else 0
    while len(summaries) > MOST_SUMMARIES:
        rounds += 1
        parts = shared_out(summaries)
        asks = (
            # a summary that has a part for itself stays as it is: every call loses something
            partial(Summary, summary=part[0]) if len(part) == 1 else partial(
                context.ask, "sum-up-summaries", {"names": names, "summaries": [text for text in part if text]}, Summary,
                stage=_round_stage(rounds),
            ) for part in parts
        )
        summaries = _round(context, len(parts), asks, rounds)
    return [summary for summary in summaries if summary], rounds


def _round(context: MakingContext, size: int, asks: Iterable[Callable[[], Summary]], number: int) -> list[str]:
    """The summaries of one round. Raises: UnansweredError; in a dry run when all calls of this round and of later ones are counted."""
    summaries, unanswered = list[str](), None
    for ask in asks:
        try:
            summaries.append(ask().summary.strip())
        except UnansweredError as error:
            if not context.dry:
                raise
            unanswered = error
    if unanswered is None or context.asker is None:
        return summaries
    names = tokens_of([node.name for node in context.structure.nodes])
    while size > MOST_SUMMARIES:
        number += 1
        parts = shared_out(range(size))
        for place, part in enumerate(parts):
            if len(part) > 1:
                context.asker.later(Later(
                    _round_stage(number), "sum-up-summaries", digest("subgraph", context.structure.number, number, place),
                    (names + len(part), names + SUMMARY_TOKENS * len(part)),
                ))
        size = len(parts)
    raise unanswered


def _round_stage(number: int) -> str:
    """The stage of a round from the second on: each has its own, as a later call of a stage that was asked already is not counted."""
    return "sum-up-summaries" if number == 2 else f"sum-up-summaries-{number}"


def shared_out(items: Sequence[T]) -> list[Sequence[T]]:
    """The items in their order, in parts of nearly one size: MOST_SUMMARIES parts, or as many as are needed so that none has
    more than SUMMARIES_A_CALL."""
    number = max(MOST_SUMMARIES, -(-len(items) // SUMMARIES_A_CALL))
    ends = [len(items) * part // number for part in range(number + 1)]
    return [items[start:end] for start, end in pairwise(ends)]


def groups(passages: Iterable[Passage]) -> list[list[Passage]]:
    """Passages in groups of at most GROUP_TOKENS tokens, in their order. One that is longer is cut into parts."""
    grouped: list[list[Passage]] = []
    room = 0
    for passage in passages:
        for part in _parts(passage):
            size = count(part.text)
            if not grouped or size > room:
                grouped.append([])
                room = GROUP_TOKENS
            grouped[-1].append(part)
            room -= min(size, room)
    return grouped


def _parts(passage: Passage) -> Iterator[Passage]:
    """The passage, in parts of at most GROUP_TOKENS tokens."""
    rest = passage.text
    while count(rest) > GROUP_TOKENS:
        rest = rest.lstrip()
        part = head(rest, GROUP_TOKENS)
        yield passage.model_copy(update={"text": part})
        rest = rest[len(part):]
    yield passage if rest is passage.text else passage.model_copy(update={"text": rest})


def _subgraph_tokens(structure: Structure) -> tuple[int, int]:
    shown = tokens_of(triples_shown(structure), entities_shown(structure.nodes))
    return shown, shown + SUMMARY_TOKENS * min(MOST_SUMMARIES, len(groups(structure.passages)))


KINDS: tuple[QuestionKind, ...] = (
    QuestionKind(
        name="node", group="levels", level="node",
        about="what an entity is, has or does, from its description and passages",
        source="[Z] 3", draws=DrawSpec("node"), make=make_node, needs=frozenset({"model"}), first="ask-node",
    ),
    QuestionKind(
        name="edge", group="levels", level="edge",
        about="why or how a relation holds, from it, its ends and their passages",
        source="[Z] 3", draws=DrawSpec("edge"), make=make_edge, needs=frozenset({"model"}), first="ask-edge",
    ),
    QuestionKind(
        name="subgraph", group="levels", level="subgraph",
        about=f"an overall view of a random walk of at least {MIN_RELATIONS} relations, with a summary of all its passages",
        source="[Z] 3", draws=DrawSpec("subgraph", min_relations=MIN_RELATIONS, walk_length=WALK_LENGTH, most_passages=None),
        make=make_subgraph,
        needs=frozenset({"model", "gds"}), first="sum-up-passages",
        later=(LaterCall("ask-subgraph", _subgraph_tokens),),
    ),
)
