"""What the eight kinds of [K] and attribution share: a reply looked up by code, and the trial whether passages give an answer.

A trial shows a question with some passages to a model that does not know the right answer, and compares what it says.
So it is tried that the evidence is enough, and that a part of it is not. """

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import JsonValue

from kgeval.llm.asker import Later, digest
from kgeval.questions.checking.model_checks import JUDGE, AnswerJudgement, ModelAnswer
from kgeval.questions.drafts import answer_text, check, passages_shown, question_text
from kgeval.questions.excerpts import tokens_of
from kgeval.questions.kinds import LaterCall, MakingContext, RejectedError, UnansweredError
from kgeval.questions.making.bench_draft import tells
from kgeval.questions.making.name_faults import check_name
from kgeval.records import Passage, QuestionCheck, Structure, StructureNode
from kgeval.text.scripts import RUNNING
from kgeval.text.signs import identity_key

ASK = "check-answerable"
MAKE_TOKENS, TRY_TOKENS = 6_000, 12_000  # of passages in a call that makes a question, in a trial
LEAST_SHOWN, MOST_WRITTEN = 40, 400  # guessed tokens of question and answer
MOST_REASON = 200
_RUNNING = re.compile(rf"[{RUNNING}]")


@dataclass(frozen=True)
class QuestionAnswer:
    """A question with its right answer, as far as code can tell that they are usable. `aliases`: other names of the
    answer."""

    question: str
    answer: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trial:
    """Passages that are tried by themselves. `stage`: under which name the call is counted; no two of a question have
    the same."""

    stage: str
    passages: tuple[Passage, ...]


def question_answer(context: MakingContext, question: str, answer: str) -> QuestionAnswer:
    """A reply's question and answer, cleaned. Raises: RejectedError: empty, material, too_long, leak, repeated."""
    text, right = question_text(question), answer_text(answer)
    if tells(text, right, context.structure):
        raise RejectedError("leak", "the question says its answer")
    check_not_repeated(context, text)
    own = identity_key(right)
    spelled = [(node.name, *node.aliases) for node in context.structure.nodes]
    aliases = [
        name for names in spelled if own in map(identity_key, names) for name in names if identity_key(name) not in ("", own)
    ]
    return QuestionAnswer(text, right, tuple(dict.fromkeys(aliases)))


def check_not_repeated(context: MakingContext, question: str) -> None:
    """Raises: RejectedError("repeated") for an earlier question."""
    if identity_key(question) in set(map(identity_key, context.options.earlier)):
        raise RejectedError("repeated", "it is word for word one of the earlier questions")


def says_something(text: str, least: int) -> bool:
    """Whether a text has so many words; in scripts without spaces two and a half characters are a word."""
    return len(re.findall(r"\w+", text)) >= least or 2 * len(_RUNNING.findall(text)) >= 5 * least


def check_names(nodes: Iterable[StructureNode]) -> None:
    """Raises: RejectedError: unusable_name for a name that nobody can ask about; same_name where two are called
    alike."""
    seen: set[str] = set()
    for node in nodes:
        check_name(node.name)
        if identity_key(node.name) in seen:
            raise RejectedError("same_name", f"two entities are called '{node.name[:80]}'")
        seen.add(identity_key(node.name))


def with_text(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """The passages that have a text, each chunk once."""
    return tuple({(p.chunk_id, p.text): p for p in passages if p.text.strip()}.values())


def tried(context: MakingContext, draft: QuestionAnswer, trial: Trial) -> tuple[bool, str]:
    """Whether a model that sees nothing but these passages gives the right answer, and what it said. Raises:
    UnansweredError."""
    values, _ = passages_shown(trial.passages, TRY_TOKENS)
    reply = context.ask(ASK, {"question": draft.question, "passages": values}, ModelAnswer, stage=trial.stage)
    answer = reply.answer_or_none
    if answer is None:
        return False, f"not answered: {reply.reason.strip()}"[:MOST_REASON]
    right = [draft.answer, *draft.aliases]
    if identity_key(answer) in set(map(identity_key, right)):  # no judge is asked for what code can see
        return True, answer[:MOST_REASON]
    slots: dict[str, JsonValue] = {"question": draft.question, "references": list[JsonValue](right), "answer": answer}
    label = context.ask(JUDGE, slots, AnswerJudgement, stage=f"{trial.stage}-judge").label
    return label == "correct", f"{label}: {answer}"[:MOST_REASON]


def check_answerable(context: MakingContext, draft: QuestionAnswer, trial: Trial) -> QuestionCheck:
    """The check "answerable": the passages give the right answer. Raises: RejectedError("not_answerable")."""
    right, why = tried(context, draft, trial)
    if not right:
        raise RejectedError("not_answerable", why)
    return check("answerable", True, "a model that sees nothing but the evidence gives the answer")


@contextmanager
def counting(context: MakingContext, trials: Sequence[Trial]) -> Iterator[None]:
    """Dry run: counts trials whose number depends on the structure, where a reply before them is not there. A stage
    that was asked is not counted again."""
    try:
        yield
    except UnansweredError:
        if context.asker is not None and context.dry:
            keys = [ref.key for ref in context.structure.refs]
            for trial in trials:
                low = tokens_of(passages_shown(trial.passages, TRY_TOKENS)[0])
                judge = f"{trial.stage}-judge"
                context.asker.later(Later(
                    trial.stage, ASK, digest("kasiak", trial.stage, keys), (low + LEAST_SHOWN, low + MOST_WRITTEN),
                ))
                context.asker.later(Later(
                    judge, JUDGE, digest("kasiak", judge, keys), (LEAST_SHOWN, 2 * MOST_WRITTEN), certain=False,
                ))
        raise


def trial_calls(stage: str) -> tuple[LaterCall, LaterCall]:
    """What a trial of every question of a kind asks: the answer, and perhaps a judge."""
    return (
        LaterCall(ASK, passage_tokens, stage=stage),
        LaterCall(JUDGE, lambda _: (LEAST_SHOWN, 2 * MOST_WRITTEN), certain=False, stage=f"{stage}-judge"),
    )


def passage_tokens(structure: Structure) -> tuple[int, int]:
    """Tokens of what a later call shows: at least a question, at most all passages beside it."""
    values, _ = passages_shown(structure.passages, TRY_TOKENS)
    return LEAST_SHOWN, tokens_of(values) + MOST_WRITTEN


def slots_of(context: MakingContext, **values: JsonValue) -> dict[str, JsonValue]:
    """The values of a prompt that makes a question, with the earlier questions."""
    return {**values, "earlier": list[JsonValue](context.options.earlier)}
