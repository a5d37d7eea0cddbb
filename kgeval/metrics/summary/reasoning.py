"""Chains of reasoning [M 5]: accuracy by hop count, right steps, and what wrong steps lead to.

A question has a *wrong step* if a step before the last one of its chain is wrong: the last step says the answer itself, so that
a wrong answer would otherwise prove its own cause. Repetitions of a question are one question: it has a wrong step, or a right answer,
if at least half of them do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from pydantic import JsonValue

from kgeval.metrics.summary.drawn import ALONE
from kgeval.metrics.summary.means import mean_of
from kgeval.metrics.summary.values import ANSWER_ERROR
from kgeval.records import Mean, Question, ReasoningSummary, Row, Score

STEPS = "stepwise_accuracy"
ACCURACIES = ("binary_accuracy", "binary_accuracy_compat", "factual_correctness", "exact_match", "token_f1")
YES_OR_NO = ("binary_accuracy", "binary_accuracy_compat", "exact_match")
BY_WORDS = ("exact_match", "token_f1")  # what they say depends on the form of answers and references
SHORT = 5  # words at the median: a name, a date, a yes
MOST_WORDS = 100
NO_METRIC = "none"
HALF = 0.5
MOST_POSITIONS = 10
K = TypeVar("K", str, int)


@dataclass
class _Repetitions:
    """Repetitions of one thing: sum and count of values, and the cause if none has one (None: not applicable)."""

    total: Fraction = Fraction()  # exact, so that the order of the scores changes nothing
    count: int = 0
    cause: str | None = None
    failed: int = 0  # the repetition that the cause is of

    def add(self, value: float) -> None:
        self.total += Fraction(value)
        self.count += 1

    def fail(self, cause: str, repetition: int) -> None:
        """The cause of the first repetition counts, whichever comes first."""
        if self.cause is None or repetition < self.failed:
            self.cause, self.failed = cause, repetition

    @property
    def value(self) -> float | None:
        """The mean; None without a value."""
        return float(self.total / self.count) if self.count else None


@dataclass
class _Chain:
    """The steps of one question as one system took them, over its repetitions. `wrong`: whether one before the last was wrong."""

    accuracy: _Repetitions = field(default_factory=_Repetitions)
    wrong: _Repetitions = field(default_factory=_Repetitions)
    positions: list[_Repetitions] = field(default_factory=list)
    relations: tuple[str | None, ...] = ()

    def add(self, score: Score) -> None:
        steps = _steps(score.detail)
        if score.status != "scored" or score.value is None or steps is None:
            _add(self.accuracy, score, float)
            return
        self.accuracy.add(score.value)
        right = [step.get("right") is True for step in steps]
        if len(right) > 1:
            self.wrong.add(float(not all(right[:-1])))
        self.positions += [_Repetitions() for _ in range(len(right) - len(self.positions))]
        for position, is_right in zip(self.positions, right, strict=False):
            position.add(float(is_right))
        self.relations = tuple(kind if isinstance(kind := step.get("relation"), str) else None for step in steps)


class Chains:
    """Scores as they come, kept as far as chains need them. Feed it every score and every row once, in any order.

    `accuracy`: the metric that says whether an answer is right (others than binary_accuracy and exact_match count as right from 0.5);
    None: the first of ACCURACIES that there are scores of.
    """

    def __init__(self, accuracy: str | None = None) -> None:
        self._wanted = (accuracy,) if accuracy else ACCURACIES  # NO_METRIC is no metric of any score
        self._chains: dict[str, dict[str, _Chain]] = defaultdict(lambda: defaultdict(_Chain))
        self._right: dict[str, dict[str, dict[str, _Repetitions]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(_Repetitions)))
        self._empty: dict[tuple[str, str], list[Score]] = {}  # by system and question; whether they are errors is told by the rows
        self._chained: set[str] = set()
        self._hops: dict[str, int] = {}
        self._codes: dict[str, int] = {}

    def add(self, score: Score) -> None:
        """Takes a score in; those of other metrics are passed over."""
        if score.metric == STEPS:
            self._chained.add(score.question_id)
        if score.detail.get("empty_answer") is True and (score.metric == STEPS or score.metric in self._wanted):
            self._empty.setdefault((score.system, score.question_id), []).append(score)
        else:
            self._take(score)

    def _take(self, score: Score) -> None:
        if score.metric == STEPS:
            self._chains[score.system][score.question_id].add(score)
        elif score.metric in self._wanted:
            decide = float if score.metric in YES_OR_NO else _from_half
            _add(self._right[score.metric][score.system][score.question_id], score, decide)

    def read(self, row: Row, code: int = ALONE) -> None:
        """Takes in what a row tells of its question. `code`: its group (`Drawn`)."""
        if row.answer.error is not None and (held := self._empty.get((row.answer.system, row.question.id))):
            held[:] = [_lost(one) if row.answer.trial in (None, one.trial or 0) else one for one in held]
        if (hops := hops_of(row.question)) is not None:
            self._hops[row.question.id] = hops
        if code != ALONE and (hops is not None or row.question.id in self._chained):
            self._codes[row.question.id] = code

    def summaries(self, *, seed: int) -> list[ReasoningSummary]:
        """One a system that has a chain, or an answer to a question of known depth, in the order of their names. After all rows, once."""
        for held in self._empty.values():
            for score in held:
                self._take(score)
        self._empty.clear()
        metric = next((name for name in self._wanted if name in self._right), None)
        right = self._right[metric] if metric else {}
        summaries = (self._summary(system, metric, right.get(system, {}), seed) for system in sorted({*self._chains, *right}))
        return [summary for summary in summaries if summary.accuracy_by_hop or summary.stepwise_accuracy]

    def _summary(self, system: str, metric: str | None, right: Mapping[str, _Repetitions], seed: int) -> ReasoningSummary:
        chains = self._chains.get(system, {})
        judged = {question: wrong for question, chain in chains.items() if (wrong := chain.wrong.value) is not None}
        bad = [question for question, wrong in judged.items() if wrong >= HALF]
        known = [value >= HALF for question in bad if question in right and (value := right[question].value) is not None]
        return ReasoningSummary(
            system=system,
            accuracy_metric="none" if metric is None else metric if metric in YES_OR_NO else f"{metric}>={HALF}",
            accuracy_by_hop=_means_by((
                (str(hops) if hops < 3 else "3+", self._code(question), repetitions) for question, repetitions in sorted(right.items())
                if (hops := self._hops.get(question)) is not None
            ), seed),
            stepwise_accuracy=_mean(
                [(self._code(question), chain.accuracy) for question, chain in sorted(chains.items())], seed,
            ) if chains else None,
            questions=len(judged), with_wrong_step=len(bad), wrong_step_answers=len(known),
            wrong_step_share=len(bad) / len(judged) if judged else None,
            error_propagation=known.count(False) / len(known) if known else None, lucky=known.count(True) / len(known) if known else None,
            by_relation=_means_by(
                (
                    (kind, self._code(question), own) for question, chain in chains.items()
                    for kind, own in _by_relation(chain).items()
                ), seed,
            ),
            by_position=_means_by((
                (position, self._code(question), repetitions) for question, chain in chains.items()
                for position, repetitions in enumerate(chain.positions[:MOST_POSITIONS], start=1)
            ), seed),
        )

    def _code(self, question: str) -> int:
        return self._codes.get(question, ALONE)


@dataclass(frozen=True)
class MedianLengths:
    """Words of answers and of right answers at the median; of the answers those of the system that says most."""

    answers: int
    references: int


def form_of(rows: Iterable[Row]) -> MedianLengths | None:
    """The form of the answers that are there and have a right answer; None without any."""
    answers: dict[str, Counter[int]] = defaultdict(Counter)
    references: Counter[int] = Counter()
    for row in rows:
        if row.question.reference and row.answer.answer:
            answers[row.answer.system][min(len(row.answer.answer.split()), MOST_WORDS)] += 1
            references[min(len(row.question.reference.split()), MOST_WORDS)] += 1
    return MedianLengths(max(map(_median, answers.values())), _median(references)) if answers else None


def accuracy_of(metrics: Sequence[str], rows: Callable[[], Iterable[Row]]) -> tuple[str | None, str | None]:
    """The metric of these that says whether an answer is right, and a note where none can (NO_METRIC): whole texts are the same only
    where both are a few words, and a few words among many say little of them. (None, None): there is no metric of accuracy."""
    first = next((name for name in ACCURACIES if name in metrics), None)
    form = form_of(rows()) if first in BY_WORDS else None
    if form is None:
        return first, None
    if form.references <= SHORT and form.answers <= SHORT:
        return first, None
    if form.references > SHORT and "token_f1" in metrics:
        return "token_f1", None
    there = " and ".join(name for name in BY_WORDS if name in metrics)
    return NO_METRIC, (
        f"no accuracy by hops: answers have {form.answers} words and right answers {form.references} at the median, where {there} "
        f"cannot tell right from wrong; binary_accuracy or factual_correctness can"
    )


def _median(counts: Counter[int]) -> int:
    """The lower median of counted numbers; by their counts, because there may be a million answers."""
    half, seen = counts.total() / 2, 0
    for words, count in sorted(counts.items()):
        seen += count
        if seen >= half:
            return words
    return 0


def hops_of(question: Question) -> int | None:
    """How deep a question is: as it says, else relations of its path, else its steps; None where nothing tells."""
    path = question.path
    depths = (question.hops, len(path.relations) if path else 0, len(question.steps), len(path.text) if path else 0)
    return next((count for count in depths if count), None)


def _add(mean: _Repetitions, score: Score, decide: Callable[[float], float]) -> None:
    if score.status == "scored" and score.value is not None:
        mean.add(decide(score.value))
    elif score.status == "unscored":
        mean.fail((score.reason or "").split(":", 1)[0].strip() or "unknown", score.trial or 0)


def _lost(score: Score) -> Score:
    """The score of an answer that is an error: no wrong step and no wrong answer."""
    return score.model_copy(update={"status": "unscored", "value": None, "reason": ANSWER_ERROR, "detail": {}})


def _from_half(value: float) -> float:
    return float(value >= HALF)


def _steps(detail: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]] | None:
    """The steps of a score; None where it has none."""
    steps = detail.get("steps")
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else None


def _mean(given: Sequence[tuple[int, _Repetitions]], seed: int) -> Mean:
    """The mean over questions, each with its group. One without a value failed if a repetition failed; else the metric has no meaning for
    it."""
    lost = [repetitions.cause for _, repetitions in given if repetitions.value is None]
    causes = Counter(sorted(cause for cause in lost if cause is not None))
    meant = [(code, repetitions.value) for code, repetitions in given if repetitions.value is not None or repetitions.cause is not None]
    return mean_of(
        [value for _, value in meant], causes=dict(causes.most_common()), not_applicable=len(lost) - causes.total(), seed=seed,
        codes=[code for code, _ in meant],
    )


def _means_by(groups: Iterable[tuple[K, int, _Repetitions]], seed: int) -> dict[str, Mean]:
    """The mean of each group, in the order of the groups."""
    members: dict[K, list[tuple[int, _Repetitions]]] = defaultdict(list)
    for key, code, repetitions in groups:
        members[key].append((code, repetitions))
    return {str(key): _mean(members[key], seed) for key in sorted(members)}


def _by_relation(chain: _Chain) -> dict[str, _Repetitions]:
    """One value a type: the mean of its steps of that type, so that a chain of five alike does not count five times."""
    own: dict[str, _Repetitions] = {}
    for kind, position in zip(chain.relations, chain.positions, strict=False):
        if kind is not None and (value := position.value) is not None:
            own.setdefault(kind, _Repetitions()).add(value)
    return own
