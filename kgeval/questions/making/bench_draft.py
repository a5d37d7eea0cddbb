"""A question of the four levels while it is made: what a model replies, what the question rests on, and what code can
tell of it without asking anybody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgeval.llm.calls import Reply, SourceTag, Tagged
from kgeval.questions.complexity import complexity
from kgeval.questions.drafts import answer_text, check, leaks, names_in, picked, question_text, relevant_passages
from kgeval.questions.kinds import RejectedError
from kgeval.questions.profiles import DomainProfile
from kgeval.records import Passage, QuestionCheck, Structure, StructureRelation
from kgeval.text.names import normalise
from kgeval.text.signs import identity_key

LONG_ANSWER = 12  # words: an answer of more can be told in parts
RUN = 6  # words: so many in a row are no chance
MOST_LOOKED_AT = 20  # passages of one relation that are searched for its ends

# The docstring of a reply goes to the model as the description in its schema, and so into the journal's key: with other words
# every call that was paid for would be made again.


class BenchQuestion(Reply):
    """A question, its answer, and the numbers of the relations that the answer needs."""

    question: str
    answer: str
    triples: list[int]


class EvidenceVerdict(Tagged):
    """Whether one relation follows from passages, and from which."""

    reason: str
    passages: list[SourceTag]
    follows: bool


class EvidenceVerdicts(Reply):
    """One verdict a relation."""

    items: list[EvidenceVerdict]


class BenchAnswerVerdict(Reply):
    """Whether an answer follows from its evidence. `corrected`: the answer that does, where this one does not; may be empty."""

    reason: str
    follows: bool
    corrected: str


class Refined(Reply):
    """A question with more context."""

    question: str


@dataclass(frozen=True)
class LevelRule:
    """What a level asks for. `least`: relations that an answer needs; with `half` at least half of those that are shown
    too. `most`: None, no upper limit. `focus`: what of the profile the question is to be about; None: a creative task.

    `judge`: the prompt that checks an answer. `long`: the answer is a text, whose points are the relations. `hides`: what
    stands between the ends must not be named when context is added. `apart`: relations should not be adjacent. `steps`: the
    relations are steps of one conclusion. `parts`: of so many parts of the structure at least, `of_part` relations of each. """

    level: str
    prompt: str
    least: int
    focus: Callable[[DomainProfile], Sequence[str]] | None = None
    half: bool = False
    most: int | None = None
    judge: str = "bench-answer"
    long: bool = False
    hides: bool = False
    apart: bool = False
    steps: bool = False
    parts: int = 0
    of_part: int = 1

    def needed(self, shown: int) -> int:
        """How many relations an answer needs, of so many that are shown."""
        return max(self.least, (shown + 1) // 2) if self.half else self.least


@dataclass(frozen=True)
class Draft:
    """A question with its answer and evidence, in the structure that it is made from."""

    structure: Structure
    rule: LevelRule
    question: str
    answer: str
    relations: tuple[StructureRelation, ...]
    passages: tuple[Passage, ...] = ()
    checks: tuple[QuestionCheck, ...] = ()

    @property
    def used(self) -> set[str]:
        """Element ids of the relations that the answer needs."""
        return {r.element_id for r in self.relations}


def numbered_relations(structure: Structure) -> tuple[StructureRelation, ...]:
    """The relations that are shown, in the structure's order: of several that say the same (both ends and predicate)
    the first."""
    first_of: dict[tuple[str, str, str], StructureRelation] = {}
    for r in structure.relations:
        first_of.setdefault((r.source, normalise(r.predicate), r.target), r)
    return tuple(first_of.values())


def drafted_from(reply: BenchQuestion, structure: Structure, rule: LevelRule, earlier: Sequence[str]) -> Draft:
    """A reply as a draft, its numbers looked up.

    Raises: RejectedError for text that cannot be used, wrong numbers, fewer or more relations than the level has, an
    answer that stands in its question, and a question that was there before. """
    shown = numbered_relations(structure)
    question, answer = question_text(reply.question), answer_text(reply.answer)
    chosen = picked(shown, reply.triples, "relation")
    draft = Draft(structure, rule, question, answer, tuple(r for r in shown if r in chosen))
    check_count(draft, "the answer needs")
    if rule.most is not None and len(chosen) > rule.most:
        raise RejectedError(
            "too_many_relations", f"the answer needs {len(chosen)} relations, {rule.level} at most {rule.most}",
        )
    if tells(question, answer, structure):
        raise RejectedError("leak", "the question says its answer")
    if identity_key(question) in set(map(identity_key, earlier)):
        raise RejectedError("repeated", "it is word for word one of the earlier questions")
    return draft


def check_count(draft: Draft, what: str) -> None:
    """Raises: RejectedError where the evidence has fewer relations than the level asks for, or too few parts of the structure
    have enough of them."""
    least = draft.rule.needed(len(numbered_relations(draft.structure)))
    if len(draft.relations) < least:
        raise RejectedError(
            "too_few_relations", f"{what} {len(draft.relations)} relations, {draft.rule.level} takes at least {least}",
        )
    enough = parts_used(draft)
    if enough < draft.rule.parts:
        raise RejectedError(
            "too_few_parts", f"{what} {draft.rule.of_part} or more relations of {enough} parts of the structure, not of {draft.rule.parts}",
        )


def parts_used(draft: Draft) -> int:
    """Of how many parts of its structure the draft has as many relations as the level asks for."""
    return sum(len(draft.used.intersection(part)) >= draft.rule.of_part for part in draft.structure.parts)


def tells(question: str, answer: str, structure: Structure) -> bool:
    """Whether a question says its answer: as a whole, under another name of the same entity, or, of a long answer, half
    of what it says. A long answer may well say the question's words again."""
    own = identity_key(answer)
    spelled = [(node.name, *node.aliases) for node in structure.nodes]
    others = [name for names in spelled if own in map(identity_key, names) for name in names]
    runs = _runs(answer) if _is_long(answer) else set()
    return leaks(question, [answer, *others]) or bool(runs and 2 * len(runs & _runs(question)) >= len(runs))


def _is_long(answer: str) -> bool:
    return len(normalise(answer).split()) > LONG_ANSWER


def _runs(text: str) -> set[tuple[str, ...]]:
    """Every run of words in a text."""
    words = normalise(text).split()
    return {tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}


def refusal(refined: str, draft: Draft) -> str:
    """Why a question with added context cannot take the place of the one before; "" if it can."""
    copied = _runs(refined) & _runs(draft.answer) - _runs(draft.question) if _is_long(draft.answer) else set()
    if copied or tells(refined, draft.answer, draft.structure):
        return "the added context says the answer"
    ends = [draft.structure.node(end) for r in draft.relations for end in (r.source, r.target)]
    nodes = list({node.element_id: node for node in ends}.values())
    before, after = ({node.element_id for node in names_in(text, nodes)} for text in (draft.question, refined))
    if before - after:
        return f"it no longer names {draft.structure.node(min(before - after)).name}"
    if draft.rule.hides and after - before:
        return f"the added context names {draft.structure.node(min(after - before)).name}, which the reader has to find"
    return ""


def covering(structure: Structure, relations: Sequence[StructureRelation]) -> list[Passage]:
    """The structure's passages in the order in which they are shown: first one for each relation, so that a budget cuts
    off no relation's only text; then the others, as relevant_passages has them. For a relation: of the chunks that it
    comes from (where it does not say: that its ends come from) the first that names both ends; if none does, the
    first."""
    rest = relevant_passages(structure, {r.element_id for r in relations})
    first = []
    for relation in relations:
        ends = [structure.node(relation.source), structure.node(relation.target)]
        chunks = set(relation.chunk_ids) or set(ends[0].chunk_ids) & set(ends[1].chunk_ids)
        own = [p for p in rest if p.chunk_id in chunks][:MOST_LOOKED_AT]
        first += [p for p in own if len(names_in(p.text, ends)) == len(ends)][:1] or own[:1]
    return list({(p.chunk_id, p.text): p for p in (*first, *rest)}.values())


def apart(draft: Draft) -> QuestionCheck:
    """Whether the relations lie apart in their chain: more hops between their ends than there are relations."""
    breadth, depth = complexity(draft.structure, draft.used)
    spare = len(numbered_relations(draft.structure)) - breadth
    if depth <= breadth and spare <= 0:
        return check("non_adjacent", None, "the chain has no other relations")
    return check("non_adjacent", depth > breadth, f"{breadth} relations, {depth} hops between their ends")
