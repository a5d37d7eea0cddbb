"""Questions of [K 4.1] that are told by what stands around an entity or a pair: thinking, distracting, comparing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from pydantic import JsonValue

from kgeval.llm.calls import Reply, Tagged
from kgeval.questions.drafts import (
    check,
    drafted,
    entities_shown,
    is_quoted,
    leaks,
    lines_of,
    names_in,
    passages_of,
    passages_shown,
    picked,
    relevant_passages,
    tagged_passages,
    triples_shown,
    unnumbered,
)
from kgeval.questions.kinds import MakingContext, RejectedError
from kgeval.questions.making.bench_draft import EvidenceVerdicts
from kgeval.questions.making.hop_evidence import hop_evidence
from kgeval.questions.making.kasiak_draft import (
    MAKE_TOKENS,
    MOST_REASON,
    TRY_TOKENS,
    QuestionAnswer,
    Trial,
    check_answerable,
    check_names,
    question_answer,
    says_something,
    slots_of,
    with_text,
)
from kgeval.records import Passage, Question, Structure, StructureRelation
from kgeval.text.clean import clean_line
from kgeval.text.names import normalise

ANSWERABLE, WITHOUT, TRUE = "kasiak-answerable", "kasiak-without", "kasiak-distractor-true"
THINKING, INFERRED, DISTRACTING, COMPARING, COMPARED = (
    "kasiak-thinking", "kasiak-inferred", "kasiak-distracting", "kasiak-comparing", "kasiak-compared",
)
MOST_FACTS = 12  # of a comparison: each is shown to a model with its passage
SHORTEST_PART = 3  # words: fewer of a longer answer stand in many a text
_PARTS = re.compile(r"[.!?;\u3002\uff01\uff1f\n]+")


class Concluded(Reply):
    """A question whose answer is a conclusion, with the relations and the passages that it is drawn from."""

    question: str
    answer: str
    triples: list[int]
    passages: list[int]


class Conclusion(Reply):
    """Whether an answer follows from passages, and whether one of them says it."""

    reason: str
    follows: bool
    stated: bool


class Distracted(Reply):
    """A question that carries a fact that it does not need. `plain`: without it; `distractor`: the number of that fact's relation."""

    question: str
    plain: str
    answer: str
    triples: list[int]
    distractor: int


class SideFact(Reply):
    """A fact of one of two entities (1 or 2) that an answer uses, with the passage that says it."""

    entity: int
    fact: str
    passage: int


class Compared(Reply):
    """A question that compares two entities, with the facts that its answer uses."""

    question: str
    answer: str
    facts: list[SideFact]


class SideVerdict(Tagged):
    """Whether the passage says a fact of its entity, and whether the answer needs it."""

    reason: str
    follows: bool
    used: bool


class SideVerdicts(Reply):
    """One verdict a fact."""

    items: list[SideVerdict]


def make_thinking(context: MakingContext) -> Question:
    """A question whose answer no passage says, but that follows from them. Raises: RejectedError, UnansweredError."""
    structure = context.structure
    values, passages = passages_shown(relevant_passages(structure), MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage belongs to the structure")
    slots = slots_of(context, triples=triples_shown(structure, layout=context.layout), passages=values)
    reply = context.ask(THINKING, slots, Concluded)
    relations, evidence = picked(structure.relations, reply.triples, "relation"), picked(
        passages, reply.passages, "passage",
    )
    draft = question_answer(context, reply.question, reply.answer)
    descriptions = [*(node.description for node in structure.nodes), *(r.description for r in structure.relations)]
    if sentence := stated(draft.answer, [*(p.text for p in structure.passages), *filter(None, descriptions)]):
        raise RejectedError("stated", f"the texts say it word for word: {sentence}"[:MOST_REASON])
    verdict = context.ask(INFERRED, {
        "question": draft.question, "answer": draft.answer, "passages": passages_shown(evidence, TRY_TOKENS)[0],
        "others": passages_shown([p for p in passages if p not in evidence], TRY_TOKENS)[0],
    }, Conclusion)
    why = verdict.reason.strip()[:MOST_REASON]
    if not verdict.follows:
        raise RejectedError("answer_not_supported", why)
    if verdict.stated:
        raise RejectedError("stated", why)
    checks = [
        check(
            "not_stated", True, f"neither it nor a sentence of it stands in {len(structure.passages)} passages; "
            f"a model that saw {len(passages)} of them finds it said in none",
        ),
        check("answer_from_evidence", True, why), check("leak", True),
    ]
    question = drafted(
        structure, draft.question, draft.answer, level="thinking", used={r.element_id for r in relations},
        evidence=evidence,
        checks=checks,
    )
    return question.model_copy(update={"steps": [structure.text_of(r) for r in relations]})


def stated(answer: str, texts: Iterable[str]) -> str:
    """The part of an answer that stands in one of the texts word for word: all of it, or a sentence of it; "" where
    none does."""
    parts = [answer, *(part for part in _PARTS.split(answer) if says_something(part, SHORTEST_PART))]
    known = list(texts)
    return next((part.strip() for part in parts if any(is_quoted(part, text) for text in known)), "")


def make_distracting(context: MakingContext) -> Question:
    """A question with a true fact in it that its answer does not need. Raises: RejectedError, UnansweredError."""
    structure = context.structure
    check_names(structure.nodes)
    if len(structure.nodes) < 3 or len(structure.relations) < 2:
        raise RejectedError("too_small", "there is no second fact to distract with")
    values, passages = passages_shown(relevant_passages(structure), MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage belongs to the structure")
    slots = slots_of(context, triples=triples_shown(structure, layout=context.layout), passages=values)
    reply = context.ask(DISTRACTING, slots, Distracted)
    draft = question_answer(context, reply.question, reply.answer)
    plain = question_answer(context, reply.plain, reply.answer).question
    needed = picked(structure.relations, reply.triples, "relation")
    distractor = picked(structure.relations, [reply.distractor], "relation")[0]
    names = _distracting_names(structure, needed, distractor, draft.question, plain)
    evidence = hop_evidence(structure.model_copy(update={"relations": needed}))
    if evidence.missing:
        raise RejectedError("no_passages", f"no passage says: {evidence.missing[0]}")
    sources = _passages_saying(context, distractor)
    enough = check_answerable(context, draft, Trial(ANSWERABLE, evidence.passages))
    check_answerable(context, QuestionAnswer(plain, draft.answer, draft.aliases), Trial(WITHOUT, evidence.passages))
    triple = structure.text_of(distractor)
    carried = f"'{triple}' is true, and not among what the answer needs; the question has its {names}"
    same = f"without it the evidence gives the same answer: {plain}"[:MOST_REASON]
    question = drafted(
        structure, draft.question, draft.answer, level="distracting", used={r.element_id for r in needed},
        evidence=evidence.passages,
        checks=[
            enough, check("distractor", True, carried), check("distractor_unneeded", True, same), check("leak", True),
        ],
    )
    return question.model_copy(update={
        "references": list(draft.aliases), "steps": [structure.text_of(r) for r in needed],
        "evidence_ids": [list(group) for group in evidence.groups],
        "extra": {"distractor": {
            "triple": triple, "names": names, "question_without": plain,
            "chunk_ids": [p.chunk_id for p in sources if p.chunk_id],
        }},
    })


def _distracting_names(
    structure: Structure, needed: Sequence[StructureRelation], distractor: StructureRelation, question: str, plain: str,
) -> list[str]:
    """The names that only the distractor brings into the question. Raises: RejectedError."""
    if distractor in needed:
        raise RejectedError("distractor_needed", "the distracting fact is among those that the answer needs")
    ends = {end for r in needed for end in (r.source, r.target)}
    own = [node for node in structure.nodes if node.element_id in {distractor.source, distractor.target} - ends]
    if not own:
        raise RejectedError("distractor_needed", "all that the distracting fact names is needed for the answer")
    carried = names_in(question, own)
    if not carried:
        raise RejectedError("no_distractor", f"the question does not name '{own[0].name}'")
    if names_in(plain, carried) or normalise(plain) == normalise(question):
        raise RejectedError("no_distractor", "the question without the distracting fact still has it")
    return [node.name for node in carried]


def _passages_saying(context: MakingContext, distractor: StructureRelation) -> tuple[Passage, ...]:
    """The passages that say the distracting fact, as a model finds. Raises: RejectedError("distractor_untrue")."""
    structure = context.structure
    values, passages = passages_shown(with_text(passages_of(structure, [distractor])), TRY_TOKENS)
    if not passages:
        raise RejectedError("distractor_untrue", "no passage says the distracting fact")
    items, (tagged, numbers_of) = unnumbered(triples_shown(structure, [distractor], context.layout)), tagged_passages(values)
    verdict = context.ask("bench-evidence", {"passages": tagged}, EvidenceVerdicts, items=items, stage=TRUE, sources=numbers_of).items[0]
    numbers = [1] if len(passages) == 1 else [numbers_of[tag] for tag in dict.fromkeys(verdict.passages)]
    if not (verdict.follows and numbers):
        raise RejectedError("distractor_untrue", verdict.reason.strip()[:MOST_REASON])
    return tuple(passages[n - 1] for n in numbers)


def make_comparing(context: MakingContext) -> Question:
    """A question that compares two entities of one type, with facts of both in its answer. Raises: RejectedError,
    UnansweredError."""
    structure = context.structure
    check_names(structure.nodes)
    first, second = structure.nodes
    if first.type != second.type:
        raise RejectedError("other_type", f"one is a {first.type}, the other a {second.type}")
    if leaks(first.name, [second.name]) or leaks(second.name, [first.name]):
        raise RejectedError("same_name", f"the names '{first.name}' and '{second.name}' hold one another")
    values, passages = passages_shown(_passages_by_turns(structure), MAKE_TOKENS)
    slots = slots_of(context, entities=entities_shown(structure.nodes), passages=values)
    reply = context.ask(COMPARING, slots, Compared)
    draft = question_answer(context, reply.question, reply.answer)
    named = names_in(draft.question, structure.nodes)
    for node in structure.nodes:
        if node not in named:
            raise RejectedError("not_both_named", f"the question does not name '{node.name}'")
    facts = _used_facts(context, draft, [fact for fact in reply.facts if fact.fact.strip()], passages)
    evidence = with_text(passages[fact.passage - 1] for fact in facts)
    numbers = " and ".join(str(sum(fact.entity == side for fact in facts)) for side in (1, 2))
    kind = f"both of type {first.type}" if first.type else "both without a type"
    checks = [
        check("both_named", True, f"'{first.name}' and '{second.name}', {kind}"),
        check("facts_of_both", True, f"the answer uses {numbers} facts of them, which passages say"),
        check_answerable(context, draft, Trial(ANSWERABLE, evidence)), check("leak", True),
    ]
    question = drafted(
        structure, draft.question, draft.answer, level="comparing", used=(), evidence=evidence, checks=checks,
        points=lines_of(fact.fact for fact in facts),
    )
    return question.model_copy(update={"extra": {"compared": [first.name, second.name]}})


def _passages_by_turns(structure: Structure) -> list[Passage]:
    """Passages of the two entities by turns, so that a budget leaves some of both. Raises:
    RejectedError("no_passages")."""
    sides = [
        [p for p in structure.passages if p.text.strip() and p.chunk_id in node.chunk_ids] for node in structure.nodes
    ]
    if not all(sides):
        raise RejectedError("no_passages", "one of the two has no passage")
    return list(with_text(passage for turn in zip_longest(*sides) for passage in turn if passage is not None))


def _used_facts(
    context: MakingContext, draft: QuestionAnswer, facts: Sequence[SideFact], passages: Sequence[Passage],
) -> list[SideFact]:
    """The facts that their passage says of their entity, and that the answer uses; some of both entities. Raises:
    RejectedError."""
    items: list[JsonValue] = []
    for fact in facts:
        if fact.entity not in (1, 2):
            raise RejectedError("wrong_number", f"the reply names entity {fact.entity} of 2")
        node, passage = context.structure.nodes[fact.entity - 1], picked(passages, [fact.passage], "passage")[0]
        if passage.chunk_id not in node.chunk_ids and not names_in(passage.text, [node]):
            raise RejectedError("wrong_number", f"a passage named for '{node.name}' is not of it")
        # as other prompts show it: cleaned, and not longer than all passages of a prompt together
        values, _ = passages_shown([passage], MAKE_TOKENS)
        text = values[0]["text"] if values and isinstance(values[0], dict) else ""
        items.append({"entity": clean_line(node.name), "fact": clean_line(fact.fact), "passage": text})
    _check_both_sides(facts, "the reply gives")
    if len(facts) > MOST_FACTS:
        raise RejectedError("too_many_facts", f"the reply gives {len(facts)} facts")
    verdicts = context.ask(
        COMPARED, {"question": draft.question, "answer": draft.answer}, SideVerdicts, items=items,
    ).items
    used = [fact for fact, verdict in zip(facts, verdicts, strict=True) if verdict.follows and verdict.used]
    _check_both_sides(used, "passages say, and the answer uses,")
    return used


def _check_both_sides(facts: Sequence[SideFact], what: str) -> None:
    if {fact.entity for fact in facts} != {1, 2}:
        raise RejectedError("one_sided", f"{what} no fact of one of the two")
