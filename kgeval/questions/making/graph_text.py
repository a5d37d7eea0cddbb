"""Questions of three levels from the graph together with its texts [Z 3]: node, edge, subgraph; one structure a question.

The passages go into every prompt, so that faults of the graph do not become faults of the questions. A subgraph has more of them than
a prompt should hold: they are summed up first, in groups, and the question is made from the relations and the summaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

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
from kgeval.questions.kind import Kind, LaterCall, MakingContext, MakingOptions, Rejected, RejectedError, UnansweredError
from kgeval.records import Passage, Question, QuestionCheck, Structure, StructureKind

MIN_RELATIONS = 50  # distinct relations of a subgraph [Z 3]
WALK_LENGTH = 100
GROUP_TOKENS = 8_000  # of passages that one call sums up
MOST_GROUPS = 6
SUMMARY_TOKENS = 450  # of a summary of 300 words
LEAST_RELATIONS = 2


class Asked(Reply):
    """A question with the passages that its answer rests on."""

    question: str
    answer: str = ""
    passages: list[int]


class AskedOfMany(Reply):
    """A question with the relations that its answer needs."""

    question: str
    answer: str = ""
    triples: list[int]


class Summary(Reply):
    """What a group of passages tells."""

    summary: str


def make_node(desk: MakingContext) -> Question | Rejected:
    """A question about one entity, from its description and its passages. Raises: UnansweredError, RejectedError."""
    structure = desk.structure
    values, passages = passages_shown(relevant_passages(structure))
    if not passages and not structure.nodes[0].description:
        return Rejected("no_content", "the entity has neither passages nor a description")
    return _from_passages(desk, "ask-node", {"entity": entities_shown(structure.nodes)[0], "passages": values}, passages)


def make_edge(desk: MakingContext) -> Question | Rejected:
    """A question about why or how a relation holds, from it, both its ends and their passages. Raises: as make_node."""
    structure = desk.structure
    values, passages = passages_shown(relevant_passages(structure))
    if not passages and not any([*(r.description for r in structure.relations), *(node.description for node in structure.nodes)]):
        return Rejected("no_content", "the relation has neither passages nor descriptions")
    slots = {"relation": triples_shown(structure, layout=desk.layout)[0], "entities": entities_shown(structure.nodes), "passages": values}
    return _from_passages(desk, "ask-edge", slots, passages)


def make_subgraph(desk: MakingContext) -> Question | Rejected:
    """A question that needs several relations of a subgraph, from them and summaries of their passages. Raises: as make_node."""
    structure = desk.structure
    slots: dict[str, JsonValue] = {
        "triples": triples_shown(structure, layout=desk.layout), "entities": entities_shown(structure.nodes),
        "summary": list[JsonValue](_summaries(desk)),
    }
    reply = desk.ask("ask-subgraph", {**slots, **_common(desk)}, AskedOfMany)
    relations = picked(structure.relations, reply.triples, "relation")
    if len(relations) < LEAST_RELATIONS:
        raise RejectedError("too_few_relations", "the reply names a single relation")
    answer = _answer(desk, reply.question, reply.answer)
    return drafted(
        structure, reply.question, answer, level="subgraph", used={r.element_id for r in relations},
        evidence=passages_of(structure, relations), points=(structure.text_of(r) for r in relations), checks=_checks(answer),
    )


def _from_passages(desk: MakingContext, prompt: str, slots: dict[str, JsonValue], passages: Sequence[Passage]) -> Question:
    structure = desk.structure
    reply = desk.ask(prompt, {**slots, **_common(desk)}, Asked)
    evidence = picked(passages, reply.passages, "passage") if passages else []
    answer = _answer(desk, reply.question, reply.answer)
    return drafted(
        structure, reply.question, answer, level=structure.kind, used={r.element_id for r in structure.relations}, evidence=evidence,
        checks=_checks(answer),
    )


def _common(desk: MakingContext) -> dict[str, JsonValue]:
    return {"earlier": list(desk.options.earlier), "answer_wanted": desk.options.answers}


def _answer(desk: MakingContext, question: str, answer: str) -> str | None:
    """The reference; null where none is wanted. Raises: RejectedError where it is empty, or stands in the question."""
    if not desk.options.answers:
        return None
    text = answer_text(answer)
    if leaks(question_text(question), [text]):
        raise RejectedError("leak", "the question says its answer")
    return text


def _checks(answer: str | None) -> list[QuestionCheck]:
    return [] if answer is None else [check("leak", True)]


def _summaries(desk: MakingContext) -> list[str]:
    """A summary of each group of passages; a dry run counts the calls of all groups."""
    names: list[JsonValue] = [node.name for node in desk.structure.nodes]
    made, open_one = list[str](), None
    for group in groups(relevant_passages(desk.structure)):
        values, _ = passages_shown(group, GROUP_TOKENS)
        try:
            reply = desk.ask("sum-up-passages", {"names": names, "passages": values}, Summary)
        except UnansweredError as error:
            if desk.asker is None or not desk.asker.dry:
                raise
            open_one = error
            continue
        if reply.summary.strip():
            made.append(reply.summary.strip())
    if open_one is not None:
        raise open_one
    return made


def groups(passages: Iterable[Passage]) -> list[list[Passage]]:
    """Passages in groups of at most GROUP_TOKENS tokens, in their order; at most MOST_GROUPS of them, the rest is left out."""
    found: list[list[Passage]] = []
    room = 0
    for passage in passages:
        size = count(passage.text)
        if not found or size > room:
            if len(found) == MOST_GROUPS:
                break
            found.append([])
            room = GROUP_TOKENS
        found[-1].append(passage)
        room -= min(size, room)
    return found


def _wanted(_options: MakingOptions, kind: StructureKind) -> DrawSpec:
    return DrawSpec(kind, min_relations=MIN_RELATIONS, walk_length=WALK_LENGTH)


def _later(structure: Structure) -> tuple[int, int]:
    shown = tokens_of(triples_shown(structure), entities_shown(structure.nodes))
    return shown, shown + SUMMARY_TOKENS * len(groups(structure.passages))


KINDS: tuple[Kind, ...] = (
    Kind(
        name="node", group="levels", level="node", about="what an entity is, has or does, from its description and passages",
        source="[Z] 3", wanted=partial(_wanted, kind="node"), make=make_node, needs=frozenset({"model"}), first="ask-node",
    ),
    Kind(
        name="edge", group="levels", level="edge", about="why or how a relation holds, from it, its ends and their passages",
        source="[Z] 3", wanted=partial(_wanted, kind="edge"), make=make_edge, needs=frozenset({"model"}), first="ask-edge",
    ),
    Kind(
        name="subgraph", group="levels", level="subgraph",
        about=f"an overall view of a random walk of at least {MIN_RELATIONS} relations, with a summary of its passages",
        source="[Z] 3", wanted=partial(_wanted, kind="subgraph"), make=make_subgraph, needs=frozenset({"model", "gds"}),
        first="sum-up-passages", later=(LaterCall("ask-subgraph", _later),),
    ),
)
