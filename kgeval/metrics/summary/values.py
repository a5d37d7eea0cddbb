"""The scores of a run in little room: one array of floats for each system, metric and repetition, a place for each question."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isfinite
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kgeval.errors import InputError
from kgeval.metrics.table import all_metrics
from kgeval.records import MetricInfo, Row, Score

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

T = TypeVar("T", bound=Hashable)

# Where a column holds no value in 0..1; cause c is FAILED - c. One float an answer and metric is all that a run of a million rows may keep.
ABSENT, NOT_APPLICABLE, SILENT, FAILED = -1.0, -2.0, -2.5, -3.0  # SILENT: not applicable, because the answer is empty or says nothing
SAYS_NOTHING = ("empty_answer", "says_nothing")  # in the detail of a score
ANSWER_ERROR = "answer_error"  # the cause of values that are missing because the answer is an error
EXACT = 10**12  # sums are kept in units of 1e-12: whole numbers add up to the same in any order


def is_of_answers(metric: str) -> bool:
    """Whether the metric looks at the answer, and not only at what was retrieved for it; those of the user's own do."""
    known = all_metrics().get(metric)
    return known is None or known.group in ("answers", "grounding", "reasoning")


class Numbers(Generic[T]):
    """Names, each with the number in which it came first, from 0."""

    def __init__(self) -> None:
        self.of: dict[T, int] = {}

    def number(self, name: T) -> int:
        """The name's number, a new one for a new name."""
        return self.of.setdefault(name, len(self.of))

    def __len__(self) -> int:
        return len(self.of)


@dataclass(frozen=True)
class Values:
    """One metric of one system; shapes (n_questions,). Repetitions of a question are averaged.

    `value`: in 0..1, NaN where there is none; `there`: share of the repetitions that have a value, of questions with a value.
    `cause`: number in `causes` of the failed, -1 of the others. Exactly one of scored, failed and not applicable holds. `silent`: of these
    last ones, whose answer is empty or says nothing that the metric looks at.
    """

    value: Floats
    there: Floats
    cause: Whole
    not_applicable: npt.NDArray[np.bool_]
    causes: Sequence[str]
    silent: npt.NDArray[np.bool_]

    def of(self, chosen: Whole | npt.NDArray[np.bool_]) -> Values:
        """The values of some of the questions, by place or by mask."""
        return Values(
            self.value[chosen], self.there[chosen], self.cause[chosen], self.not_applicable[chosen], self.causes, self.silent[chosen],
        )

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        """Which have a value."""
        import numpy as np

        return ~np.isnan(self.value)

    @property
    def failures(self) -> dict[str, int]:
        """Failed questions by cause, most first."""
        import numpy as np

        counts = np.bincount(self.cause[self.cause >= 0], minlength=len(self.causes))
        named = [(name, int(count)) for name, count in zip(self.causes, counts, strict=True) if count]
        return dict(sorted(named, key=lambda pair: (-pair[1], pair[0])))


class RunScores:
    """All scores of a run. `questions` numbers the questions; it may be given more of them by whoever reads the rows.

    `aspects`: (system, metric) -> name -> [how many tell, their sum in units of 1e-12].
    """

    def __init__(self, infos: Sequence[MetricInfo], systems: Sequence[str], aspects: Mapping[str, Sequence[str]]) -> None:
        self.questions: Numbers[str] = Numbers()
        self.causes: Numbers[str] = Numbers()
        self.columns: dict[tuple[str, str], dict[int, array[float]]] = {}
        self.aspects: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._signatures = {info.metric: info.signature for info in infos}
        self._of_answers = [info.metric for info in infos if is_of_answers(info.metric)]
        self._systems = frozenset(systems)
        self._named = aspects
        self._faults: Counter[str] = Counter()
        self._firsts: dict[str, str] = {}

    def expect(self, info: MetricInfo) -> None:
        """One more metric whose scores belong to this run."""
        self._signatures[info.metric] = info.signature

    def add(self, score: Score) -> None:
        """Takes a score in. What does not belong to this run is counted for `check`."""
        if fault := self._fault(score):
            self._faults[fault] += 1
            return
        columns = self.columns.setdefault((score.system, score.metric), {})
        column = columns.setdefault(score.trial or 0, array("d"))
        place = self.questions.number(score.question_id)
        if place >= len(column):
            column.extend(repeat(ABSENT, place + 1 - len(column)))
        elif column[place] != ABSENT:
            self._twice(score)
        column[place] = self._code(score)
        if score.status == "scored" and (named := self._named.get(score.metric)):
            self._add_aspects(score, named)

    def lose(self, row: Row) -> None:
        """Takes the values back that metrics of answers gave an answer that is an error: it is missing, and says nothing for or against its
        system. Only after all scores are in."""
        if row.answer.error is None:
            return
        place, code = self.questions.number(row.question.id), FAILED - self.causes.number(ANSWER_ERROR)
        for metric in self._of_answers:
            columns = self.columns.get((row.answer.system, metric), {})
            trial = row.answer.trial
            for column in columns.values() if trial is None else filter(None, [columns.get(trial)]):
                if place < len(column) and column[place] != ABSENT:
                    column[place] = code

    def check(self) -> None:
        """Raises: InputError that names every metric whose scores are of another run, or came twice."""
        if self._faults:
            faults = [f"{fault} ({count:,})" for fault, count in sorted(self._faults.items())]
            fix = "score again into a new file; every answer needs its own question id, system and trial"
            raise InputError("these scores do not belong together", faults=faults, fix=fix)

    def _fault(self, score: Score) -> str | None:
        signature = self._signatures.get(score.metric)
        if signature is None:
            return f"{score.metric}: not a metric of this run"
        if score.system not in self._systems:
            return f"{score.system}: not a system of this run"
        return None if score.signature == signature else f"{score.metric}: made as {score.signature}, this run is {signature}"

    def _twice(self, score: Score) -> None:
        what = f"{score.metric} of {score.system}: several scores of one question and repetition, first of "
        self._firsts.setdefault(what, score.question_id[:80])
        self._faults[what + self._firsts[what]] += 1

    def _code(self, score: Score) -> float:
        if score.status == "scored" and score.value is not None:
            return score.value
        if score.status == "not_applicable":
            return SILENT if any(score.detail.get(name) is True for name in SAYS_NOTHING) else NOT_APPLICABLE
        return FAILED - self.causes.number((score.reason or "unknown").split(":", 1)[0].strip() or "unknown")

    def _add_aspects(self, score: Score, named: Sequence[str]) -> None:
        sums = self.aspects.setdefault((score.system, score.metric), {})
        for name in named:
            figure = score.detail.get(name)
            if isinstance(figure, int | float) and isfinite(figure):
                count_and_sum = sums.setdefault(name, [0, 0])
                count_and_sum[0] += 1
                count_and_sum[1] += round(figure * EXACT)

    def mean_aspects(self, system: str, metric: str) -> dict[str, float]:
        """Means of the aspects over the scored rows that tell them."""
        sums = self.aspects.get((system, metric), {})
        return {name: total / EXACT / count for name, (count, total) in sorted(sums.items())}

    def runs(self, system: str, metric: str) -> dict[int, Floats]:
        """Repetition -> coded values by question, all of one length (the number of questions)."""
        import numpy as np

        columns = self.columns.get((system, metric), {})
        full = {trial: np.full(len(self.questions), ABSENT) for trial in sorted(columns)}
        for trial, column in columns.items():
            full[trial][: len(column)] = np.frombuffer(column, dtype=np.float64)
        return full

    def values(self, system: str, metric: str) -> tuple[Values, Whole]:
        """The values of the questions that this metric was asked for, and the numbers of these questions."""
        import numpy as np

        runs = self.runs(system, metric)
        coded = np.stack(list(runs.values())) if runs else np.full((1, 0), ABSENT)
        del runs
        asked = (coded != ABSENT).any(axis=0)
        return average_repetitions(coded if asked.all() else coded[:, asked], tuple(self.causes.of)), np.flatnonzero(asked)


def average_repetitions(coded: npt.NDArray[Any], causes: Sequence[str]) -> Values:
    """Coded values of repetitions (n_runs, n_questions), each question in one at least -> one value a question.

    A question has a value if any repetition has one: their mean. Without one it failed, if a repetition failed (the first one's
    cause); else the metric has no meaning for it.
    """
    import numpy as np

    # nothing of the size of the questions is held longer than needed: a run may have a million of them
    has, failed = coded >= 0, coded <= FAILED
    count, missing = has.sum(axis=0, dtype=np.int32), failed.sum(axis=0, dtype=np.int32)
    value = np.zeros(coded.shape[1])
    for run, own in zip(coded, has, strict=True):
        np.add(value, run, out=value, where=own)
    np.divide(value, count, out=value, where=count > 0)
    value[count == 0] = np.nan
    cause = np.full(len(value), -1, dtype=np.int64)
    lost = np.flatnonzero((count == 0) & (missing > 0))
    cause[lost] = (FAILED - coded[failed[:, lost].argmax(axis=0), lost]).astype(np.int64)
    without = (count == 0) & (missing == 0)
    return Values(value, count / np.maximum(count + missing, 1), cause, without, causes, without & (coded == SILENT).any(axis=0))
