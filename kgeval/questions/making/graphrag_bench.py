"""The four levels of GraphRAG-Bench [X 3.1-3.2, A.3, C.2-C.6, figures 8 and 10]: make, check the evidence, check the answer, add context.

A level asks for so many relations of a structure (breadth); code counts them by the numbers that the model names. Evidence that does
not follow from the texts is dropped, an answer that does not follow from the rest is corrected once; else there is no question.
"""

from __future__ import annotations

from collections.abc import Callable
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
    triples_shown,
)
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kind import Kind, LaterCall, MakingContext, MakingOptions, Rejected, RejectedError
from kgeval.questions.making.bench_draft import (
    Draft,
    LevelRule,
    apart,
    check_count,
    covering,
    drafted_from,
    numbered_relations,
    refusal,
    tells,
)
from kgeval.questions.making.bench_replies import AnswerVerdict, EvidenceVerdicts, Made, Refined
from kgeval.questions.profiles import CreativeForm, load_profile
from kgeval.records import GoldPath, Passage, Question, QuestionCheck, Structure, StructureRelation

REASON = 200
MAKE_TOKENS, CHECK_TOKENS, SEGMENT_TOKENS = 6_000, 12_000, 1_500  # of passages in a call that makes, checks, adds context
LEAST_SHOWN, MOST_WRITTEN = 60, 600  # guessed tokens of question and answer
CORRECTED = "corrected once"


def make(desk: MakingContext, rule: LevelRule) -> Question | Rejected:
    """One question of a level from a structure with passages, or why there is none.

    Causes: too_small, no_passages, wrong_number, empty, material, leak, repeated, too_few_relations, too_many_relations, no_evidence,
    answer_not_supported. Raises: UnansweredError as Desk.ask does.
    """
    try:
        draft = _first(desk, rule)
        draft = _with_evidence(desk, draft)
        draft = _with_answer(desk, draft)
        return _question(desk, _refined(desk, draft))
    except RejectedError as error:
        return error.rejected


def _first(desk: MakingContext, rule: LevelRule) -> Draft:
    structure, options = desk.structure, desk.options
    shown = numbered_relations(structure)
    if len(shown) < rule.least(len(shown)):
        raise RejectedError("too_small", f"the structure has {len(shown)} relations, {rule.level} takes at least {rule.least(len(shown))}")
    values, passages = passages_shown(covering(structure, shown), MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage of the texts belongs to the structure")
    slots: dict[str, JsonValue] = {
        "triples": triples_shown(structure, shown, desk.layout), "passages": values, "earlier": list(options.earlier),
    }
    if rule is CREATIVE:
        slots["form"] = _form(desk).task
    else:
        slots["focus"] = list(rule.focus(load_profile(options.profile)))
    return drafted_from(desk.ask(rule.prompt, slots, Made), structure, rule, options.earlier)


def _form(desk: MakingContext) -> CreativeForm:
    """The form of this structure's task: the forms take turns, the seed says which begins."""
    return load_profile(desk.options.profile).form(desk.options.seed + desk.structure.number)


def _with_evidence(desk: MakingContext, draft: Draft) -> Draft:
    """The draft with the relations that follow from the texts, and the passages that say them [X C.5].

    Raises: RejectedError: no_evidence, too_few_relations.
    """
    values, passages = passages_shown(covering(draft.structure, draft.relations), CHECK_TOKENS)
    items = triples_shown(draft.structure, draft.relations, desk.layout)
    verdicts = desk.ask("bench-evidence", {"passages": values}, EvidenceVerdicts, items=items).items
    kept, told = [], set[int]()
    for relation, verdict in zip(draft.relations, verdicts, strict=True):
        numbers = {1} if len(passages) == 1 else {n for n in verdict.passages if 1 <= n <= len(passages)}
        if verdict.follows and numbers:
            kept.append(relation)
            told |= numbers
    if not kept:
        raise RejectedError("no_evidence", verdicts[0].reason.strip()[:REASON] or "no relation follows from the texts")
    dropped = len(draft.relations) - len(kept)
    found = replace(
        draft, relations=tuple(kept), passages=tuple(passages[n - 1] for n in sorted(told)),
        checks=(check("evidence_from_text", True, f"{dropped} of {len(verdicts)} relations did not follow: dropped" if dropped else ""),),
    )
    check_count(found, "of the evidence only follow")
    return found


def _with_answer(desk: MakingContext, draft: Draft) -> Draft:
    """The draft with an answer that follows from its evidence: as it is, or corrected once. Raises: RejectedError."""
    verdict = _judged(desk, draft, "bench-answer")
    if verdict.follows:
        return _checked(draft, "answer_from_evidence")
    why = verdict.reason.strip()[:REASON]
    if not verdict.corrected.strip():
        raise RejectedError("answer_not_supported", why)
    corrected = replace(draft, answer=answer_text(verdict.corrected))
    if tells(corrected.question, corrected.answer, corrected.structure):
        raise RejectedError("leak", "the question says its corrected answer")
    again = _judged(desk, corrected, "bench-answer-again")
    if not again.follows:
        raise RejectedError("answer_not_supported", again.reason.strip()[:REASON] or why)
    return _checked(corrected, "answer_from_evidence", reason=CORRECTED)


def _judged(desk: MakingContext, draft: Draft, stage: str) -> AnswerVerdict:
    values, _ = passages_shown(draft.passages, CHECK_TOKENS)
    evidence: JsonValue = {"relations": triples_shown(draft.structure, draft.relations, desk.layout), "passages": values}
    slots: dict[str, JsonValue] = {"question": draft.question, "answer": draft.answer, "evidence": evidence}
    return desk.ask(draft.rule.judge, slots, AnswerVerdict, stage=stage)


def _refined(desk: MakingContext, draft: Draft) -> Draft:
    """The draft with context from its source in the question [X C.6], where that neither tells the answer nor loses a name; else as
    it was. What became of it is a check."""
    values, _ = passages_shown(draft.passages, SEGMENT_TOKENS)
    slots: dict[str, JsonValue] = {"question": draft.question, "answer": draft.answer, "segment": values}
    try:
        refined = question_text(desk.ask("bench-refine", slots, Refined).question)
    except RejectedError as error:
        return _checked(draft, "refined", passed=False, reason=error.rejected.reason)
    if refined == draft.question:
        return _checked(draft, "refined", passed=None, reason="nothing to add")
    why = refusal(refined, draft)
    if why:
        return _checked(draft, "refined", passed=False, reason=f"{why}: not taken")
    return _checked(replace(draft, question=refined), "refined")


def _checked(draft: Draft, name: str, *, passed: bool | None = True, reason: str = "") -> Draft:
    return replace(draft, checks=(*draft.checks, check(name, passed, reason)))


def _question(desk: MakingContext, draft: Draft) -> Question:
    structure, rule = draft.structure, draft.rule
    checks: list[QuestionCheck] = [*draft.checks, check("leak", True)]  # both texts of the question were looked at
    if rule.apart:
        checks.append(apart(draft))
    texts = [structure.text_of(r) for r in draft.relations]
    question = drafted(
        structure, draft.question, draft.answer, level=rule.level, used=draft.used, evidence=draft.passages,
        points=texts if rule.long else (), checks=checks,
    )
    return question.model_copy(update={
        "path": _path(structure, draft.relations), "steps": texts if rule.apart else [],
        "evidence_ids": _groups(structure, draft.relations, draft.passages),
        "extra": {"form": _form(desk).name} if rule is CREATIVE else {},
    })


def _path(structure: Structure, relations: tuple[StructureRelation, ...]) -> GoldPath:
    ends = dict.fromkeys(end for r in relations for end in (r.source, r.target))
    return GoldPath(
        nodes=[structure.node(end).ref for end in ends], relations=[structure.ref_of(r) for r in relations],
        text=[structure.text_of(r) for r in relations],
    )


def _groups(structure: Structure, relations: tuple[StructureRelation, ...], passages: tuple[Passage, ...]) -> list[list[str]]:
    """For each relation the chunks of the evidence that it comes from: any of them will do. One that comes from none of them: all
    chunks of the evidence, as the check did not say which."""
    every = [p.chunk_id for p in passages if p.chunk_id]
    groups = [[p.chunk_id for p in passages_of(structure, [r]) if p.chunk_id in every] or every for r in relations]
    return [list(group) for group in dict.fromkeys(tuple(name for name in group if name) for group in groups) if group]


def _wanted(_options: MakingOptions, *, wanted: DrawSpec) -> DrawSpec:
    return wanted


def _later(structure: Structure, *, budget: int) -> tuple[int, int]:
    """Tokens of what a later call shows: at least a question and an answer, at most all passages and relations beside them."""
    values, _ = passages_shown(relevant_passages(structure), budget)
    return LEAST_SHOWN, tokens_of(values) + tokens_of(triples_shown(structure)) + MOST_WRITTEN


_CHECKED = partial(_later, budget=CHECK_TOKENS)
_CALLS = (
    LaterCall("bench-evidence", _CHECKED), LaterCall("{judge}", _CHECKED, stage="bench-answer"),
    LaterCall("{judge}", _CHECKED, certain=False, stage="bench-answer-again"),
    LaterCall("bench-refine", partial(_later, budget=SEGMENT_TOKENS)),
)


def _kind(rule: LevelRule, about: str, wanted: DrawSpec) -> Kind:
    calls = tuple(replace(call, prompt=call.prompt.format(judge=rule.judge)) for call in _CALLS)
    return Kind(
        name=rule.level, group="graphrag-bench", level=rule.level, about=about, source="[X] 3.1-3.2, A.3, C.3-C.6",
        wanted=partial(_wanted, wanted=wanted), make=partial(make, rule=rule), first=rule.prompt, later=calls,
        needs=frozenset({"model", "chunks", "gds"} if wanted.kind == "chain" else {"model", "chunks"}),
    )


def _chain(relations: int) -> DrawSpec:
    """Chains of another length for each level: so they do not share their structures."""
    return DrawSpec("chain", hops=relations, min_relations=relations)


def _at_least(least: int) -> Callable[[int], int]:
    return lambda _shown: least


def _most_of(shown: int) -> int:
    """At least half of the relations, and never fewer than two."""
    return max(2, (shown + 1) // 2)


FACT = LevelRule("fact_retrieval", "bench-fact", _at_least(1), lambda profile: profile.facts, most=3)
REASONING = LevelRule(
    "complex_reasoning", "bench-reasoning", _at_least(3), lambda profile: profile.reasoning, hides=True, apart=True,
)
SUMMARY = LevelRule("contextual_summarize", "bench-summary", _most_of, lambda profile: profile.summaries, long=True)
CREATIVE = LevelRule("creative_generation", "bench-creative", _at_least(5), lambda _profile: (), judge="bench-story", long=True)
KINDS: tuple[Kind, ...] = (
    _kind(FACT, "one fact near an entity: one relation, three at most", DrawSpec("neighbourhood", hops=1, most_relations=12)),
    _kind(REASONING, "three relations or more of a chain linked, not adjacent where possible", _chain(6)),
    _kind(SUMMARY, "most of a chain brought together", _chain(5)),
    _kind(CREATIVE, "a role or another kind of text, true to at least five relations", _chain(8)),
)
