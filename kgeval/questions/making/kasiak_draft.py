"""What the nine kinds of [K] share: a reply looked up by code, and the trial whether passages give an answer.

A trial shows a question with some passages to a model that does not know the right answer, and compares what it says. So it is tried
that the evidence is enough, and that a part of it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import JsonValue

from kgeval.llm.asker import Later, digest
from kgeval.questions.checking.asked import JUDGE, Judgement, ModelAnswer
from kgeval.questions.drafts import answer_text, check, passages_shown, question_text
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kind import LaterCall, MakingContext, RejectedError, UnansweredError
from kgeval.questions.making.bench_draft import tells
from kgeval.questions.making.names import usable
from kgeval.records import Passage, QuestionCheck, Structure, StructureNode
from kgeval.text.names import normalise
from kgeval.text.scripts import RUNNING

ASK = "check-answerable"
MAKE_TOKENS, TRY_TOKENS = 6_000, 12_000  # of passages in a call that makes a question, in a trial
LEAST_SHOWN, MOST_WRITTEN = 40, 400  # guessed tokens of question and answer
MOST_REASON = 200
_RUNNING = re.compile(rf"[{RUNNING}]")


@dataclass(frozen=True)
class Said:
    """A question with its right answer, as far as code can tell that they are usable. `aliases`: other names of the answer."""

    question: str
    answer: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trial:
    """Passages that are tried by themselves. `stage`: under which name the call is counted; no two of a question have the same."""

    stage: str
    passages: tuple[Passage, ...]


def said(desk: MakingContext, question: str, answer: str) -> Said:
    """Raises: RejectedError: empty, material, too_long, leak, repeated."""
    asked, right = question_text(question), answer_text(answer)
    if tells(asked, right, desk.structure):
        raise RejectedError("leak", "the question says its answer")
    not_repeated(desk, asked)
    return Said(asked, right, tuple(_aliases(right, desk.structure.nodes)))


def _aliases(answer: str, nodes: Iterable[StructureNode]) -> list[str]:
    """The other names of the entities that an answer is a name of."""
    own = normalise(answer)
    spelled = [(node.name, *node.aliases) for node in nodes]
    found = [name for names in spelled if own in map(normalise, names) for name in names if normalise(name) not in ("", own)]
    return list(dict.fromkeys(found))


def not_repeated(desk: MakingContext, question: str) -> None:
    """Raises: RejectedError("repeated") for an earlier question."""
    if normalise(question) in {normalise(one) for one in desk.options.earlier}:
        raise RejectedError("repeated", "it is word for word one of the earlier questions")


def says_something(text: str, least: int) -> bool:
    """Whether a text has so many words; in scripts without spaces two and a half characters are a word."""
    return len(re.findall(r"\w+", text)) >= least or 2 * len(_RUNNING.findall(text)) >= 5 * least


def usable_names(nodes: Iterable[StructureNode]) -> None:
    """Raises: RejectedError: unusable_name for a name that nobody can ask about; same_name where two are called alike."""
    seen: set[str] = set()
    for node in nodes:
        why = usable(node.name)
        if why:
            raise RejectedError("unusable_name", f"'{node.name[:80]}' {why}")
        if normalise(node.name) in seen:
            raise RejectedError("same_name", f"two entities are called '{node.name[:80]}'")
        seen.add(normalise(node.name))


def with_text(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages that have a text, each chunk once."""
    return tuple({(p.chunk_id, p.text): p for p in passages if p.text.strip()}.values())


def tried(desk: MakingContext, one: Said, trial: Trial) -> tuple[bool, str]:
    """Whether a model that sees nothing but these passages gives the right answer, and what it said. Raises: UnansweredError."""
    values, _ = passages_shown(trial.passages, TRY_TOKENS)
    reply = desk.ask(ASK, {"question": one.question, "passages": values}, ModelAnswer, stage=trial.stage)
    answer = reply.said
    if answer is None:
        return False, f"not answered: {reply.reason.strip()}"[:MOST_REASON]
    right = [one.answer, *one.aliases]
    if normalise(answer) in {normalise(text) for text in right}:
        return True, answer[:MOST_REASON]
    slots: dict[str, JsonValue] = {"question": one.question, "references": list[JsonValue](right), "answer": answer}
    label = desk.ask(JUDGE, slots, Judgement, stage=judge_of(trial.stage)).label
    return label == "correct", f"{label}: {answer}"[:MOST_REASON]


def answered(desk: MakingContext, one: Said, trial: Trial) -> QuestionCheck:
    """The check "answerable": the passages give the right answer. Raises: RejectedError("not_answerable")."""
    right, why = tried(desk, one, trial)
    if not right:
        raise RejectedError("not_answerable", why)
    return check("answerable", True, "a model that sees nothing but the evidence gives the answer")


def judge_of(stage: str) -> str:
    """Under which name the call is counted that judges a trial's answer."""
    return f"{stage}-judge"


@contextmanager
def counting(desk: MakingContext, trials: Sequence[Trial]) -> Iterator[None]:
    """Dry run: counts trials whose number depends on the structure, where a reply before them is not there. A stage that was asked
    is not counted again."""
    try:
        yield
    except UnansweredError:
        if desk.asker is not None and desk.asker.dry:
            for trial in trials:
                low = tokens_of(passages_shown(trial.passages, TRY_TOKENS)[0])
                tokens = (low + LEAST_SHOWN, low + MOST_WRITTEN)
                desk.asker.later(Later(trial.stage, ASK, _key(desk, trial.stage), tokens))
                stage = judge_of(trial.stage)
                desk.asker.later(Later(stage, JUDGE, _key(desk, stage), (LEAST_SHOWN, 2 * MOST_WRITTEN), certain=False))
        raise


def _key(desk: MakingContext, stage: str) -> str:
    return digest("kasiak", stage, [ref.key for ref in desk.structure.refs])


def trial_calls(stage: str) -> tuple[LaterCall, LaterCall]:
    """What a trial of every question of a kind asks: the answer, and perhaps a judge."""
    return (
        LaterCall(ASK, passage_tokens, stage=stage),
        LaterCall(JUDGE, lambda _: (LEAST_SHOWN, 2 * MOST_WRITTEN), certain=False, stage=judge_of(stage)),
    )


def passage_tokens(structure: Structure) -> tuple[int, int]:
    """Tokens of what a later call shows: at least a question, at most all passages beside it."""
    values, _ = passages_shown(structure.passages, TRY_TOKENS)
    return LEAST_SHOWN, tokens_of(values) + MOST_WRITTEN


def slots_of(desk: MakingContext, **values: JsonValue) -> dict[str, JsonValue]:
    """The values of a prompt that makes a question, with the earlier questions."""
    return {**values, "earlier": list[JsonValue](desk.options.earlier)}
