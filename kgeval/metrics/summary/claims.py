"""The claims of answers and references, counted once: every metric over claims is a view of these counts.

Of the answer: right, wrong, and what the reference says nothing of, which the contexts may state or not. Of the reference: what is missing.
Two views tell what a difference by F1 rests on: one in which claims beyond the reference that are grounded (or of which nobody knows) count
for nothing, and one in which claims that are missing count for nothing too.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat
from typing import TYPE_CHECKING

from kgeval.metrics.summary.values import RunScores
from kgeval.records import ClaimRow, ClaimTotals, MetricInfo, Score, Verdict

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

COUNTED = (
    "factual_correctness", "answer_accuracy", "factual_correctness_printed", "answer_accuracy_printed", "answer_accuracy_compat",
)
EXTRAS_NEUTRAL, MISSING_NEUTRAL = "claims without extras", "claims without missing"
RIGHT, MISSED, GROUNDED = "answer_claims@reference", "reference_claims@answer", "answer_claims@contexts"
NONE = 2**16 - 1
FIELDS = ("right", "wrong", "extra_grounded", "extra_ungrounded", "extra_unknown", "missing")


@dataclass
class ClaimTable:
    """Six small numbers an answer, by system and repetition. `metric`: of whose scores they come; None: no metric of the run has them.
    `empty`: the answers that are empty (system, repetition, question), with the number of claims that the reference makes."""

    table: RunScores
    metric: str | None
    counts: dict[str, dict[int, array[int]]] = field(default_factory=dict)
    empty: list[tuple[str, int, str, int]] = field(default_factory=list)

    @classmethod
    def of(cls, table: RunScores, infos: Sequence[MetricInfo]) -> ClaimTable:
        """For a run of these metrics."""
        there = {info.metric for info in infos}
        return cls(table, next((name for name in COUNTED if name in there), None))

    def see(self, score: Score) -> None:
        """Takes in the counts of a score: of claims beyond the reference it does not tell whether they are grounded."""
        if score.metric != self.metric:
            return
        told = [score.detail.get(name) for name in ("tp", "contradicted", "not_stated", "fn")]
        numbers = [value for value in told if isinstance(value, int)]
        if len(numbers) == len(told):
            right, wrong, extra, missing = numbers
            self._put(score.system, score.trial or 0, score.question_id, (right, wrong, 0, 0, extra, missing))
        elif score.detail.get("empty_answer") is True and isinstance(claims := score.detail.get("reference_claims"), int):
            self.empty.append((score.system, score.trial or 0, score.question_id, claims))

    def read_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Tells grounded claims from others, by the verdicts of whole rows, which stand together."""
        if self.metric is None:
            return
        for (question, system, trial), group in groupby(verdicts, key=lambda one: (one.question_id, one.system, one.trial)):
            counted = _counted(list(group))
            if counted is not None and self._at(system, trial or 0, question) is not None:
                self._put(system, trial or 0, question, counted)

    def enter(self, systems: Iterable[str]) -> None:
        """Puts both views into the table of scores, as metrics of their own. What the reference claims is all missing in an empty answer,
        but not in one that is an error."""
        if self.metric is None:
            return
        for system, trial, question, claims in self.empty:
            if self.table.columns[system, self.metric][trial][self.table.questions.number(question)] >= 0:
                self._put(system, trial, question, (0, 0, 0, 0, 0, claims))
        for system in systems:
            views: tuple[dict[int, array[float]], ...] = ({}, {})
            for trial, coded in self.table.columns.get((system, self.metric), {}).items():
                own = self.counts.get(system, {}).get(trial, array("H"))
                for view, column in zip(views, _views(coded, own), strict=True):
                    view[trial] = column
            for name, view in zip((EXTRAS_NEUTRAL, MISSING_NEUTRAL), views, strict=True):
                self.table.columns[system, name] = view

    def totals(self, systems: Iterable[str]) -> list[ClaimTotals]:
        """The claims of each system's answers."""
        import numpy as np

        found = []
        for system in systems:
            rows = [_rows(column) for column in self.counts.get(system, {}).values()]
            known = np.concatenate(rows) if rows else np.zeros((0, len(FIELDS)), dtype=np.uint16)
            known = known[known[:, 0] != NONE].astype(np.int64)
            if len(known):
                sums = dict(zip(FIELDS, (int(total) for total in known.sum(axis=0)), strict=True))
                found.append(ClaimTotals.model_validate({"system": system, "answers": len(known), **sums}))
        return found

    def rows(self, systems: Sequence[str], metric: str, most: int) -> Iterator[ClaimRow]:
        """The answers to the `most` questions where the values of the systems differ most, by the first repetition of each."""
        import numpy as np

        if self.metric is None or len(systems) < 2:
            return
        count = len(self.table.questions)
        values = {system: _by_question(self.table, system, metric, count) for system in systems}
        column = np.stack(list(values.values()))
        known = (~np.isnan(column)).sum(axis=0) > 1
        apart = np.zeros(count)
        apart[known] = np.nanmax(column[:, known], axis=0) - np.nanmin(column[:, known], axis=0)
        names = list(self.table.questions.of)
        differing = [int(number) for number in np.flatnonzero(apart > 0)]
        chosen = sorted(differing, key=lambda number: (-round(float(apart[number]), 9), names[number]))
        for number in chosen[:most]:
            for system in systems:
                own = self._at(system, min(self.counts.get(system, {}), default=0), names[number])
                if own is not None:
                    value = values[system][number]
                    yield ClaimRow.model_validate({
                        "system": system, "question_id": names[number], "answers": 1, "value": None if np.isnan(value) else float(value),
                        **dict(zip(FIELDS, own, strict=True)),
                    })

    def _put(self, system: str, trial: int, question: str, counts: Sequence[int]) -> None:
        column = self.counts.setdefault(system, {}).setdefault(trial, array("H"))
        start = self.table.questions.number(question) * len(FIELDS)
        if start >= len(column):
            column.extend(repeat(NONE, start + len(FIELDS) - len(column)))
        column[start : start + len(FIELDS)] = array("H", (min(count, NONE - 1) for count in counts))

    def _at(self, system: str, trial: int, question: str) -> Sequence[int] | None:
        column = self.counts.get(system, {}).get(trial, array("H"))
        start = self.table.questions.number(question) * len(FIELDS)
        own = column[start : start + len(FIELDS)]
        return None if not own or own[0] == NONE else own


def _rows(column: array[int]) -> npt.NDArray[np.uint16]:
    import numpy as np

    return np.frombuffer(column, dtype=np.uint16).reshape(-1, len(FIELDS))


def _by_question(table: RunScores, system: str, metric: str, count: int) -> Floats:
    import numpy as np

    values, questions = table.values(system, metric)
    column = np.full(count, np.nan)
    column[questions] = values.value
    return column


def _views(coded: array[float], counts: array[int]) -> tuple[array[float], array[float]]:
    """Both views of one repetition, coded as the metric's own values: what has none has none here. An answer without counts (an empty one)
    has no right claim."""
    import numpy as np

    values = np.frombuffer(coded, dtype=np.float64)
    own = np.full((len(values), len(FIELDS)), NONE, dtype=np.float64)
    known = _rows(counts)[: len(values)]
    own[: len(known)] = known
    own[own[:, 0] == NONE] = 0
    right, wrong, _, ungrounded, _, missing = own.T
    faulty = wrong + ungrounded
    at_all = np.maximum(right, 1)
    views = (
        np.where(right > 0, 2 * right / (2 * at_all + faulty + missing), 0.0), np.where(right > 0, right / (at_all + faulty), 0.0),
    )
    made = [array("d", np.where(values >= 0, view, values).tobytes()) for view in views]
    return made[0], made[1]


def _counted(verdicts: Sequence[Verdict]) -> tuple[int, ...] | None:
    """The counts of one row by its verdicts; None where a claim of the answer has none. Of several right answers the best counts."""
    labels: dict[str, dict[int, str | None]] = {}
    for verdict in verdicts:
        labels.setdefault(verdict.metric, {})[verdict.item] = verdict.label
    grounded = labels.get(GROUNDED)
    if grounded is None:
        return None
    found = []
    for name, right in labels.items():
        if name.partition("#")[0] != RIGHT:
            continue
        missed = labels.get(name.replace(RIGHT, MISSED), {})
        if None in right.values() or None in missed.values() or None in grounded.values() or set(right) - set(grounded):
            continue
        beyond = [item for item, label in right.items() if label == "not_stated"]
        held = sum(grounded[item] == "supported" for item in beyond)
        counts = (
            sum(label == "supported" for label in right.values()), sum(label == "contradicted" for label in right.values()), held,
            len(beyond) - held, 0, sum(label != "supported" for label in missed.values()),
        )
        found.append(counts)
    return max(found, key=_f1) if found else None


def _f1(counts: Sequence[int]) -> float:
    right, wrong, grounded, ungrounded, _, missing = counts
    return 2 * right / (2 * right + wrong + grounded + ungrounded + missing) if right else 0.0
