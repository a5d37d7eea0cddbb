"""Questions of three levels from the graph together with its texts [Z 3]: node, edge, subgraph; one structure a
question.

The passages go into every prompt, so that faults of the graph do not become faults of the questions. A subgraph has
more of them than a prompt should hold: they are summed up first, in groups, and the question is made from the relations
and the summaries. """

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

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
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kinds import LaterCall, MakingContext, QuestionKind, RejectedError, UnansweredError
from kgeval.records import Passage, Question, QuestionCheck, Structure

# Distinct relations of a subgraph [Z 3]. The code of [Z] asks all its 50 subgraph questions of one walk, so that what it finds of the
# level may be that walk's; here each question has a structure of its own, and its passages, which that code leaves out.
MIN_RELATIONS = 50
WALK_LENGTH = 100
GROUP_TOKENS = 8_000  # of passages that one call sums up
MOST_GROUPS = 6
SUMMARY_TOKENS = 450  # of a summary of 300 words
LEAST_RELATIONS = 2


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
    slots: dict[str, JsonValue] = {
        "triples": triples_shown(structure, layout=context.layout), "entities": entities_shown(structure.nodes),
        "summary": list[JsonValue](_summaries(context)),
    }
    reply = context.ask("ask-subgraph", {**slots, **_common_slots(context)}, SubgraphQuestion)
    relations = picked(structure.relations, reply.triples, "relation")
    if len(relations) < LEAST_RELATIONS:
        raise RejectedError("too_few_relations", "the reply names a single relation")
    answer, checks = _reference(context, reply.question, reply.answer)
    return drafted(
        structure, reply.question, answer, level="subgraph", used={r.element_id for r in relations},
        evidence=passages_of(structure, relations), points=(structure.text_of(r) for r in relations), checks=checks,
    )


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


def _summaries(context: MakingContext) -> list[str]:
    """A summary of each group of passages; a dry run counts the calls of all groups before it gives up."""
    names: list[JsonValue] = [node.name for node in context.structure.nodes]
    summaries, unanswered = list[str](), None
    for group in groups(relevant_passages(context.structure)):
        values, _ = passages_shown(group, GROUP_TOKENS)
        try:
            summaries.append(
                context.ask("sum-up-passages", {"names": names, "passages": values}, Summary).summary.strip(),
            )
        except UnansweredError as error:
            if not context.dry:
                raise
            unanswered = error
    if unanswered is not None:
        raise unanswered
    return [summary for summary in summaries if summary]


def groups(passages: Iterable[Passage]) -> list[list[Passage]]:
    """Passages in groups of at most GROUP_TOKENS tokens, in their order; at most MOST_GROUPS of them, the rest is left
    out."""
    grouped: list[list[Passage]] = []
    room = 0
    for passage in passages:
        size = count(passage.text)
        if not grouped or size > room:
            if len(grouped) == MOST_GROUPS:
                break
            grouped.append([])
            room = GROUP_TOKENS
        grouped[-1].append(passage)
        room -= min(size, room)
    return grouped


def _subgraph_tokens(structure: Structure) -> tuple[int, int]:
    shown = tokens_of(triples_shown(structure), entities_shown(structure.nodes))
    return shown, shown + SUMMARY_TOKENS * len(groups(structure.passages))


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
        about=f"an overall view of a random walk of at least {MIN_RELATIONS} relations, with a summary of its passages",
        source="[Z] 3", draws=DrawSpec("subgraph", min_relations=MIN_RELATIONS, walk_length=WALK_LENGTH),
        make=make_subgraph,
        needs=frozenset({"model", "gds"}), first="sum-up-passages",
        later=(LaterCall("ask-subgraph", _subgraph_tokens),),
    ),
)
