"""The questions of a run by number, and all scores of their answers in one table: made here, or read from results of kgeval score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.errors import InputError, UsageError
from kgeval.metrics.contamination.measures import ATTEMPTED, CONTAINS, FALSE, JUDGED, LONG, derived
from kgeval.metrics.judge.ratings import outside
from kgeval.metrics.summary.values import Numbers, RunScores
from kgeval.metrics.words import words
from kgeval.records import MetricInfo, Question, Score

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

Texts = tuple[str, ...]
BESIDE = (ATTEMPTED, FALSE)


@dataclass
class QuestionTable:
    """Questions by number, in the order of the file. Memory: a few small values a question, never its texts. `_same`: equal tuples of
    documents and kinds as one object, of which a million questions have a few."""

    numbers: Numbers[str] = field(default_factory=Numbers)
    outside: bytearray = field(default_factory=bytearray)
    documents: list[Texts] = field(default_factory=list)
    kinds: list[Texts] = field(default_factory=list)
    levels: list[str | None] = field(default_factory=list)
    long: int = 0
    _same: dict[Texts, Texts] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.outside)

    def add(self, question: Question) -> None:
        """Takes in the next question."""
        self.numbers.number(question.id)
        self.outside.append(outside(question))
        documents = (question.document,) if question.document else tuple(dict.fromkeys(p.document for p in question.evidence if p.document))
        self.documents.append(self._same.setdefault(documents, documents))
        kinds = tuple(dict.fromkeys(question.kinds))
        self.kinds.append(self._same.setdefault(kinds, kinds))
        self.levels.append(question.level)
        self.long += bool(question.right_answers) and all(len(words(text)) > LONG for text in question.right_answers)

    def question(self, number: int) -> Question:
        """As much of a question as its scores depend on."""
        return Question(id="", question="", level="negative" if self.outside[number] else None)

    @property
    def ids(self) -> list[str]:
        """The ids by number."""
        return list(self.numbers.of)

    def answerable(self) -> Whole:
        """Numbers of the questions that the texts answer."""
        import numpy as np

        return np.flatnonzero(np.frombuffer(self.outside, dtype=np.uint8) == 0) if self.outside else np.zeros(0, dtype=np.int64)

    def by(self, values: Sequence[Texts]) -> dict[str, Whole]:
        """Value -> numbers of the answerable questions that have it, by name; a question of several is in each."""
        import numpy as np

        numbers: dict[str, list[int]] = {}
        for number, own in enumerate(values):
            for value in own if not self.outside[number] else ():
                numbers.setdefault(value, []).append(number)
        return {value: np.array(numbers[value], dtype=np.int64) for value in sorted(numbers)}


def read_asked(questions: Iterable[Question]) -> QuestionTable:
    """The questions of a file, gone through once."""
    asked = QuestionTable()
    for question in questions:
        asked.add(question)
    return asked


@dataclass
class ScoredQuestions:
    """Scores by system and metric. `infos`: one a metric, in the order in which metrics came. `foreign`: scores of unknown questions."""

    table: RunScores
    infos: list[MetricInfo]
    systems: list[str]
    foreign: int = 0

    @property
    def metrics(self) -> list[str]:
        """The metrics to be shown with and without marked questions."""
        return [info.metric for info in self.infos if info.metric not in BESIDE]


def closed_book_of(systems: Sequence[str], wanted: str | None, without_contexts: Collection[str]) -> str:
    """The system that answers without texts: the one that was named, else the one that is called so, else the only one whose answers
    tell no contexts. Raises: UsageError where that leaves none, or several; InputError where there is no system at all."""
    if not systems:
        raise InputError("no answer and no score is to a question of the file", fix="check that the ids of both files are the same")
    if wanted is not None:
        if wanted not in systems:
            raise UsageError(f"--closed-book: no system is called {wanted}", fix=f"systems of these files: {', '.join(systems)}")
        return wanted
    called = [name for name in systems if name.casefold().replace("_", "-").replace(" ", "-") in ("closed-book", "closedbook")]
    bare = called or [name for name in systems if name in without_contexts]
    if len(bare) == 1:
        return bare[0]
    what = "no system answers without contexts" if not bare else f"several systems answer without contexts: {', '.join(bare)}"
    raise UsageError(f"{what}, so that the closed book is not known", fix=f"name it with --closed-book: {', '.join(systems)}")


def gather_scores(asked: QuestionTable, scores: Iterable[Score], decides: str, systems: Sequence[str]) -> ScoredQuestions:
    """All scores in one table. Where a judge's class decides, what it says of attempts and false answers is taken in too.

    Raises: InputError where scores of one metric were made in different ways, or came twice.
    """
    infos: dict[str, MetricInfo] = {}
    table = RunScores([], systems, {})
    table.questions.of.update(asked.numbers.of)
    foreign = 0
    for score in scores:
        number = asked.numbers.of.get(score.question_id)
        if number is None:
            foreign += 1
            continue
        for each in (score, *(derived(score, asked.question(number)) if decides == JUDGED else ())):
            if each.metric not in infos:
                infos[each.metric] = MetricInfo(metric=each.metric, summary="", definition="", source="", signature=each.signature)
                table.expect(infos[each.metric])
            table.add(each)
    table.check()
    return ScoredQuestions(table, list(infos.values()), list(systems), foreign)


def deciding_metric(wanted: str | None, *, judge: bool, given: Collection[str]) -> str:
    """The metric that says what is right: the one named; else the judge's where one is asked or its scores are given; else by words.

    `given`: metrics whose scores come from files.
    """
    return wanted or (JUDGED if judge or JUDGED in given else CONTAINS)


def missing_closed_book(asked: QuestionTable, found: ScoredQuestions, system: str, metric: str) -> int:
    """Answerable questions without a closed-book score. Raises: InputError where there is no score at all."""
    import numpy as np

    _, numbers = found.table.values(system, metric)
    if not len(numbers):
        raise InputError(
            f"{system} has no score of {metric}", fix="give its answers with --answers, or its scores with --scores, for these questions",
        )
    return len(np.setdiff1d(asked.answerable(), numbers))
