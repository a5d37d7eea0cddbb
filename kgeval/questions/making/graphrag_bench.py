"""The four levels of GraphRAG-Bench [X 3.1-3.2, A.3, C.2-C.6, figures 8 and 10]: make, check the evidence, check the
answer, add context.

A level asks for so many relations of a structure (breadth); code counts them by the numbers that the model names.
Evidence that does not follow from the texts is dropped, an answer that does not follow from the rest is corrected once;
else there is no question. """

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pydantic import JsonValue

from kgeval.questions.drafts import (
    answer_text,
    check,
    drafted,
    passages_of,
    passages_shown,
    question_text,
    relevant_passages,
    tagged_passages,
    triples_shown,
    unnumbered,
)
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kinds import LaterCall, MakingContext, QuestionKind, RejectedError
from kgeval.questions.making.bench_draft import (
    BenchAnswerVerdict,
    BenchQuestion,
    Draft,
    EvidenceVerdicts,
    LevelRule,
    Refined,
    apart,
    check_count,
    covering,
    drafted_from,
    numbered_relations,
    parts_used,
    refusal,
    tells,
)
from kgeval.questions.profiles import CreativeForm
from kgeval.records import GoldPath, Question, Structure

REASON = 200
MAKE_TOKENS, CHECK_TOKENS, SEGMENT_TOKENS = 6_000, 12_000, 1_500  # of passages in a call that makes, checks, adds context
LEAST_SHOWN, MOST_WRITTEN = 60, 600  # guessed tokens of question and answer
CORRECTED = "corrected once"


def make(context: MakingContext, rule: LevelRule) -> Question:
    """One question of a level from a structure with passages.

    Raises: UnansweredError as MakingContext.ask does; RejectedError: too_small, no_passages, wrong_number, empty,
    material, leak, repeated, too_few_relations, too_many_relations, no_evidence, too_few_parts, answer_not_supported. """
    draft = _with_evidence(context, _first_draft(context, rule))
    draft = _refined(context, _with_answer(context, draft))
    structure, relations = draft.structure, draft.relations
    checks = [*draft.checks, check("leak", True)]  # both texts of the question were looked at
    if rule.apart:
        checks.append(apart(draft))
    if rule.parts:
        checks.append(check("several_parts", True, f"relations of {parts_used(draft)} of the structure's {len(structure.parts)} parts"))
    texts = [structure.text_of(r) for r in relations]
    ends = dict.fromkeys(end for r in relations for end in (r.source, r.target))
    question = drafted(
        structure, draft.question, draft.answer, level=rule.level, used=draft.used, evidence=draft.passages,
        points=texts if rule.long else (), checks=checks,
    )
    return question.model_copy(update={
        "path": GoldPath(
            nodes=[structure.node(end).ref for end in ends], relations=[structure.ref_of(r) for r in relations],
            text=texts,
        ),
        "steps": texts if rule.steps else [], "evidence_ids": _evidence_ids(draft),
        "extra": {} if rule.focus is not None else {"form": _form(context).name},
    })


def _first_draft(context: MakingContext, rule: LevelRule) -> Draft:
    structure, options = context.structure, context.options
    shown = numbered_relations(structure)
    least = rule.needed(len(shown))
    if len(shown) < least:
        raise RejectedError(
            "too_small", f"the structure has {len(shown)} relations, {rule.level} takes at least {least}",
        )
    values, passages = passages_shown(covering(structure, shown), MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage of the texts belongs to the structure")
    slots: dict[str, JsonValue] = {
        "triples": triples_shown(structure, shown, context.layout), "passages": values,
        "earlier": list(options.earlier),
    }
    if rule.parts:
        numbers = {r.element_id: number for number, r in enumerate(shown, start=1)}
        slots["parts"] = [[numbers[name] for name in part if name in numbers] for part in structure.parts]
    if rule.focus is None:
        slots["form"] = _form(context).task
    else:
        slots["focus"] = list(rule.focus(options.profile))
    return drafted_from(context.ask(rule.prompt, slots, BenchQuestion), structure, rule, options.earlier)


def _form(context: MakingContext) -> CreativeForm:
    """The form of this structure's task: the forms take turns, the seed says which begins."""
    return context.options.profile.form(context.options.seed + context.structure.number)


def _with_evidence(context: MakingContext, draft: Draft) -> Draft:
    """The draft with the relations that follow from the texts, and the passages that say them [X C.5].

    Raises: RejectedError: no_evidence, too_few_relations.
    """
    values, passages = passages_shown(covering(draft.structure, draft.relations), CHECK_TOKENS)
    items = unnumbered(triples_shown(draft.structure, draft.relations, context.layout))
    tagged, numbers_of = tagged_passages(values)
    verdicts = context.ask("bench-evidence", {"passages": tagged}, EvidenceVerdicts, items=items, sources=numbers_of).items
    supported_relations, cited = [], set[int]()
    for relation, verdict in zip(draft.relations, verdicts, strict=True):
        # where one passage is shown it is the one, also where the reply names none
        numbers = {1} if len(passages) == 1 else {numbers_of[tag] for tag in verdict.passages}
        if verdict.follows and numbers:
            supported_relations.append(relation)
            cited |= numbers
    if not supported_relations:
        raise RejectedError("no_evidence", verdicts[0].reason.strip()[:REASON] or "no relation follows from the texts")
    dropped = len(draft.relations) - len(supported_relations)
    reason = f"{dropped} of {len(verdicts)} relations did not follow: dropped" if dropped else ""
    supported = replace(
        draft, relations=tuple(supported_relations), passages=tuple(passages[n - 1] for n in sorted(cited)),
        checks=(check("evidence_from_text", True, reason),),
    )
    check_count(supported, "of the evidence only follow")
    return supported


def _with_answer(context: MakingContext, draft: Draft) -> Draft:
    """The draft with an answer that follows from its evidence: as it is, or corrected once. Raises: RejectedError."""
    verdict = _judged(context, draft, "bench-answer")
    if verdict.follows:
        return _checked(draft, "answer_from_evidence")
    why = verdict.reason.strip()[:REASON]
    if not verdict.corrected.strip():
        raise RejectedError("answer_not_supported", why)
    corrected = replace(draft, answer=answer_text(verdict.corrected))
    if tells(corrected.question, corrected.answer, corrected.structure):
        raise RejectedError("leak", "the question says its corrected answer")
    again = _judged(context, corrected, "bench-answer-again")
    if not again.follows:
        raise RejectedError("answer_not_supported", again.reason.strip()[:REASON] or why)
    return _checked(corrected, "answer_from_evidence", reason=CORRECTED)


def _judged(context: MakingContext, draft: Draft, stage: str) -> BenchAnswerVerdict:
    values, _ = passages_shown(draft.passages, CHECK_TOKENS)
    evidence: JsonValue = {
        "relations": triples_shown(draft.structure, draft.relations, context.layout), "passages": values,
    }
    slots: dict[str, JsonValue] = {"question": draft.question, "answer": draft.answer, "evidence": evidence}
    return context.ask(draft.rule.judge, slots, BenchAnswerVerdict, stage=stage)


def _refined(context: MakingContext, draft: Draft) -> Draft:
    """The draft with context from its source in the question [X C.6], where that neither tells the answer nor loses a
    name; else as it was. What became of it is a check."""
    values, _ = passages_shown(draft.passages, SEGMENT_TOKENS)
    slots: dict[str, JsonValue] = {"question": draft.question, "answer": draft.answer, "segment": values}
    try:
        refined = question_text(context.ask("bench-refine", slots, Refined).question)
    except RejectedError as error:
        return _checked(draft, "refined", passed=False, reason=error.reason)
    if refined == draft.question:
        return _checked(draft, "refined", passed=None, reason="nothing to add")
    if why := refusal(refined, draft):
        return _checked(draft, "refined", passed=False, reason=f"{why}: not taken")
    return _checked(replace(draft, question=refined), "refined")


def _checked(draft: Draft, name: str, *, passed: bool | None = True, reason: str = "") -> Draft:
    return replace(draft, checks=(*draft.checks, check(name, passed, reason)))


def _evidence_ids(draft: Draft) -> list[list[str]]:
    """For each relation the chunks of the evidence that it comes from: any of them will do. One that comes from none of
    them: all chunks of the evidence, as the check did not say which."""
    every = [p.chunk_id for p in draft.passages if p.chunk_id]
    sources = [[p.chunk_id for p in passages_of(draft.structure, [r]) if p.chunk_id in every] for r in draft.relations]
    groups = dict.fromkeys(tuple(name for name in group or every if name) for group in sources)
    return [list(group) for group in groups if group]


def _later(structure: Structure, *, budget: int) -> tuple[int, int]:
    """Tokens of what a later call shows: at least a question and an answer, at most all passages and relations beside
    them."""
    values, _ = passages_shown(relevant_passages(structure), budget)
    return LEAST_SHOWN, tokens_of(values) + tokens_of(triples_shown(structure)) + MOST_WRITTEN


def level_kind(
    rule: LevelRule, about: str, draws: DrawSpec, *, name: str | None = None, group: str = "graphrag-bench",
    source: str = "[X] 3.1-3.2, A.3, C.3-C.6",
) -> QuestionKind:
    """A kind of question of a level. `name`: the level's where it is not given."""
    checked = partial(_later, budget=CHECK_TOKENS)
    return QuestionKind(
        name=name or rule.level, group=group, level=rule.level, about=about, source=source,
        draws=draws,
        make=partial(make, rule=rule), first=rule.prompt, later=(
            LaterCall("bench-evidence", checked), LaterCall(rule.judge, checked, stage="bench-answer"),
            LaterCall(rule.judge, checked, certain=False, stage="bench-answer-again"),
            LaterCall("bench-refine", partial(_later, budget=SEGMENT_TOKENS)),
        ),
        needs=frozenset({"model", "chunks", "gds"} if draws.kind == "chain" else {"model", "chunks"}),
    )


def _chain(relations: int) -> DrawSpec:
    """Chains of another length for each level: so they do not share their structures."""
    return DrawSpec("chain", hops=relations, min_relations=relations)


FACT = LevelRule("fact_retrieval", "bench-fact", 1, lambda profile: profile.facts, most=3)
REASONING = LevelRule(
    "complex_reasoning", "bench-reasoning", 3, lambda profile: profile.reasoning, hides=True, apart=True, steps=True,
)
SUMMARY = LevelRule("contextual_summarize", "bench-summary", 2, lambda profile: profile.summaries, half=True, long=True)
CREATIVE = LevelRule("creative_generation", "bench-creative", 5, judge="bench-story", long=True)
KINDS: tuple[QuestionKind, ...] = (
    level_kind(FACT, "one fact near an entity: one relation, three at most", DrawSpec("neighbourhood", hops=1, most_relations=12)),
    level_kind(REASONING, "three relations or more of a chain linked, not adjacent where possible", _chain(6)),
    level_kind(SUMMARY, "most of a chain brought together", _chain(5)),
    level_kind(CREATIVE, "a role or another kind of text, true to at least five relations", _chain(8)),
)
