"""The four levels of [X] for questions of any file, given by a judge: several questions a call, a label and a
reason each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, JsonValue

from kgeval.llm.calls import Failure, Outcome, Reply, Tagged, Task
from kgeval.llm.characters import whole
from kgeval.llm.prompts import Prompt
from kgeval.questions.excerpts import head
from kgeval.records import LEVELS_OF_X, LabelCount, Question
from kgeval.stats.agreement import agreement

if TYPE_CHECKING:
    from kgeval.llm.session import Models

PROMPT = "classify-level"
QUESTION_TOKENS, ANSWER_TOKENS, REASON = 400, 120, 200
MARK = "classified"  # where in Question.extra the label's story stands
LevelOfX = Literal["fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation"]


def _word(value: Any) -> Any:
    """ "Fact Retrieval" as `fact_retrieval`: endpoints that cannot enforce a schema write labels in their own way."""
    return "_".join(value.replace("-", " ").lower().split()) if isinstance(value, str) else value


class LevelVerdict(Tagged):
    """The level of one question."""

    reason: str
    level: Annotated[LevelOfX, BeforeValidator(_word)]


class LevelVerdicts(Reply):
    """One verdict a question."""

    items: list[LevelVerdict]


@dataclass(frozen=True)
class ClassifiedQuestion:
    """A question with the level that it got, or why it got none. `before`: the level that the file gave it."""

    question: Question
    before: str | None
    failure: Failure | None = None


@dataclass
class LevelCounts:
    """What became of the questions of a file."""

    n: int = 0
    levels: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    changes: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    by_kind: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)

    def add(self, labelled: ClassifiedQuestion) -> None:
        """Counts one question."""
        level = None if labelled.failure is not None else labelled.question.level
        self.n += 1
        self.changes[labelled.before, level] += 1
        for kind in dict.fromkeys(labelled.question.kinds) or (None,):
            self.by_kind[kind, level] += 1
        if level is not None:
            self.levels[level] += 1
        if labelled.failure is not None:
            self.failures[labelled.failure.cause] += 1

    @property
    def shares(self) -> dict[str, float]:
        """The share of each of the four levels among the questions that got one; empty where none did."""
        total = self.levels.total()
        return {level: self.levels[level] / total for level in LEVELS_OF_X} if total else {}

    def compared(self) -> tuple[int, float | None, float | None]:
        """Over the questions that the file had one of the four levels for, and that got one: how many, share of the
        same, kappa."""
        both = [(before, level) for (before, level), n in self.changes.items() if before in LEVELS_OF_X and level for _ in range(n)]
        same = agreement([str(before) for before, _ in both], [str(level) for _, level in both])
        return same.n, same.raw, same.kappa

    def rows(self, which: Mapping[tuple[str | None, str | None], int]) -> list[LabelCount]:
        """Counts as records, the largest first."""
        order = sorted(which.items(), key=lambda item: (-item[1], item[0][0] or "", item[0][1] or ""))
        return [LabelCount(before=before, level=level, n=n) for (before, level), n in order]


def tasks(
    questions: Iterable[Question], prompt: Prompt, batch: int,
) -> Iterator[tuple[Task[LevelVerdicts], tuple[Question, ...]]]:
    """The calls: so many questions each, in their order, with the questions that they are about."""
    left, number = iter(questions), 0
    while part := tuple(islice(left, batch)):
        items = tuple(shown(question) for question in part)
        yield Task(
            id=f"classify:{number}", prompt=prompt, slots={}, reply=LevelVerdicts, items=items, stage="classify",
        ), part
        number += 1


def shown(question: Question) -> JsonValue:
    """What a judge sees of a question: its text and the right answer, both cut. What the file calls it is not shown."""
    item: dict[str, JsonValue] = {"question": head(whole(question.question), QUESTION_TOKENS)}
    if question.right_answers:
        item["answer"] = head(whole(question.right_answers[0]), ANSWER_TOKENS)
    return item


def classified(
    models: Models, questions: Iterable[Question], *, batch: int, total: int | None = None,
) -> Iterator[ClassifiedQuestion]:
    """Every question with its level, in order and lazily. Raises as Models.map does."""
    def ask(
        pair: tuple[Task[LevelVerdicts], tuple[Question, ...]],
    ) -> tuple[Outcome[LevelVerdicts], tuple[Question, ...]]:
        return models.ask(pair[0]), pair[1]

    calls = None if total is None else -(-total // batch)
    for outcome, part in models.map(ask, tasks(questions, models.prompt(PROMPT), batch), total=calls):
        for number, question in enumerate(part, start=1):
            verdict: LevelVerdict | None = outcome.answers.get(number)
            failure = outcome.missing.get(number) or outcome.failure or Failure("empty", "no reply")
            earlier = question.extra.get(MARK)  # classified before: what the file had at first counts
            first = earlier.get("before") if isinstance(earlier, dict) else question.level
            before = first if isinstance(first, str) else None
            mark: dict[str, JsonValue] = {"before": before, "model": models.endpoint.model}
            mark |= {"failure": failure.cause} if verdict is None else {"reason": verdict.reason.strip()[:REASON]}
            # the kind stays as it is; a question that got no level has none: an old one would pass for new
            update = {"level": None if verdict is None else verdict.level, "extra": {**question.extra, MARK: mark}}
            yield ClassifiedQuestion(question.model_copy(update=update), before, failure if verdict is None else None)
