"""What the answers of each system took: seconds, tokens, money, against a baseline and against quality [X tables 6, 7, 15; K table 2]."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import ceil, isfinite, nan
from typing import TYPE_CHECKING

from kgeval.metrics.summary.groups import Grouping
from kgeval.metrics.summary.values import Values
from kgeval.records import Answer, By, CostSummary, IndexRecord, Quantiles

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

STAGES = ("retrieval", "entry", "expand", "rerank", "generate")
FIELDS = ("latency_s", "ttft_s", "input_tokens", "output_tokens", "total_tokens", "calls", "cost")
CONTEXT = "context_tokens"  # built-in systems say it among the further fields of an answer
# counted of every answer that has contexts: a count of tokens would take longer than all else of a report
CHARACTERS = "context_characters"
ADDED = ("latency_s", "input_tokens", "output_tokens", "total_tokens", "calls", "cost")  # fields whose sums say something


@dataclass
class AnswerCosts:
    """What the answers of one system say of their costs, one place an answer; NaN where one says nothing. `questions`: their numbers.

    `failed`: 1 for an answer that is an error. A column ends with the last answer that has its field: most files have none of the fifteen,
    and for a million answers these would be 96 MB of NaN.
    """

    questions: array[int] = field(default_factory=lambda: array("q"))
    failed: array[int] = field(default_factory=lambda: array("b"))
    columns: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in (*FIELDS, *STAGES, CONTEXT, CHARACTERS)})

    def add(self, at: int, answer: Answer) -> None:
        """Takes in an answer to the question with the number `at`."""
        self.questions.append(at)
        self.failed.append(answer.error is not None)
        both = None if answer.input_tokens is None or answer.output_tokens is None else answer.input_tokens + answer.output_tokens
        for name in FIELDS:
            self._put(name, both if name == "total_tokens" else getattr(answer, name))
        for name in STAGES:
            self._put(name, None if answer.stages is None else getattr(answer.stages, name))
        context = answer.extra.get(CONTEXT)
        self._put(CONTEXT, context if isinstance(context, int | float) and not isinstance(context, bool) else None)
        self._put(CHARACTERS, None if answer.contexts is None else sum(len(passage.text) for passage in answer.contexts))

    def _put(self, name: str, value: float | None) -> None:
        if value is not None and isfinite(value) and value >= 0:
            column = self.columns[name]
            column.extend(repeat(nan, len(self.questions) - 1 - len(column)))
            column.append(float(value))

    def of(self, name: str) -> Floats:
        """A field of every answer; shape (n_answers,)."""
        import numpy as np

        values = np.full(len(self.questions), nan)
        values[: len(self.columns[name])] = self.columns[name]
        return values

    def known(self, name: str) -> int:
        """Answers that tell the field."""
        import numpy as np

        return int(np.count_nonzero(~np.isnan(np.array(self.columns[name], dtype=np.float64))))

    def by_question(self, name: str, count: int, *, errors: bool = True) -> Floats:
        """The field's mean over the repetitions of each question, NaN where none told; (count,). `errors`: with failed answers too."""
        import numpy as np

        values, questions = self.of(name), np.array(self.questions, dtype=np.int64)
        has_value = ~np.isnan(values) & (errors | (np.array(self.failed) == 0))
        times = np.bincount(questions[has_value], minlength=count)
        sums = np.bincount(questions[has_value], weights=values[has_value], minlength=count)
        return np.where(times > 0, sums / np.maximum(times, 1), nan)


def quantiles(values: Floats) -> Quantiles | None:
    """p50, p95, p99 by nearest rank: the smallest value that at least that share does not exceed. None where nothing is known."""
    import numpy as np

    ordered = np.sort(values[~np.isnan(values)])
    if not len(ordered):
        return None
    p50, p95, p99 = (float(ordered[ceil(percent * len(ordered) / 100) - 1]) for percent in (50, 95, 99))
    return Quantiles(n=len(ordered), mean=float(ordered.mean()), p50=p50, p95=p95, p99=p99)


@dataclass
class Costs:
    """The costs of all systems, filled from the rows."""

    systems: dict[str, AnswerCosts] = field(default_factory=dict)

    def add(self, at: int, answer: Answer) -> None:
        """Takes in an answer to the question with the number `at`."""
        self.systems.setdefault(answer.system, AnswerCosts()).add(at, answer)

    def summary(self, system: str, groups: Grouping, *, baseline: str | None, built: Sequence[IndexRecord] = ()) -> CostSummary | None:
        """All figures but quality per tokens. `built`: index records of this system. None where nothing at all is told."""
        taken = self.systems.get(system, AnswerCosts())
        counts = {name: count_known for name in (*FIELDS, *STAGES) if (count_known := taken.known(name))}
        totals, means = self._sums(taken, counts)
        if built:
            totals["index_seconds"] = sum(record.seconds for record in built)
            tokens = [count for record in built for count in (record.input_tokens, record.output_tokens)]
            if None not in tokens:  # a part that is not given makes the sum unknown
                totals["index_tokens"] = float(sum(count or 0 for count in tokens))
        if not counts and not built:
            return None
        stages = {name: figures for name in STAGES if (figures := quantiles(taken.of(name))) is not None}
        return CostSummary(
            system=system, n=len(taken.questions), known=counts, totals=totals, means=means, latency_s=quantiles(taken.of("latency_s")),
            ttft_s=quantiles(taken.of("ttft_s")), stages=stages, by_hops=_by_group(taken, "latency_s", groups, "hops"), baseline=baseline,
            prompt_tokens_by_level={
                level: figures.mean for level, figures in _by_group(taken, "input_tokens", groups, "level").items()
                if figures.mean is not None
            },
            factors=self.factors(system, baseline),
        )

    def _sums(self, taken: AnswerCosts, known: Mapping[str, int]) -> tuple[dict[str, float], dict[str, float]]:
        import numpy as np

        # summed in order of size, so that the order of the rows changes no digit
        totals = {name: float(np.nansum(np.sort(taken.of(name)))) for name in ADDED if name in known}
        return totals, {name: total / known[name] for name, total in totals.items()}

    def factors(self, system: str, baseline: str | None) -> dict[str, float]:
        """Sums over the questions that both systems answered and tell, this one's over the baseline's [K table 2].

        Repetitions of a question are averaged first, so that systems with other numbers of repetitions compare. A field that the
        baseline spends nothing of has no factor.
        """
        import numpy as np

        if baseline is None or baseline == system or baseline not in self.systems or system not in self.systems:
            return {}
        ours, theirs = self.systems[system], self.systems[baseline]
        count = 1 + max(max(ours.questions, default=-1), max(theirs.questions, default=-1))
        factors = {}
        for name in (*ADDED, *STAGES):
            own, other = (taken.by_question(name, count, errors=False) for taken in (ours, theirs))
            both = ~np.isnan(own) & ~np.isnan(other)
            base = float(np.sort(other[both]).sum())
            if base > 0:
                factors[name] = float(np.sort(own[both]).sum()) / base
        return factors

    def by_question(self, system: str, name: str, count: int, *, errors: bool = False) -> Floats:
        """A field's mean over the repetitions of each question, NaN where none told; (count,). `errors`: with failed answers too."""
        return self.systems.get(system, AnswerCosts()).by_question(name, count, errors=errors)

    def quality(self, system: str, values: Values, questions: Whole) -> float | None:
        """Mean of a metric for every 1,000 tokens: over the questions with both a value and known tokens, mean by mean."""
        import numpy as np

        if system not in self.systems or not len(questions) or not self.systems[system].known("total_tokens"):
            return None
        tokens = self.systems[system].by_question("total_tokens", 1 + max(int(questions.max()), max(self.systems[system].questions)))
        spent = tokens[questions]
        both = values.scored & ~np.isnan(spent)
        total = float(np.sort(spent[both]).sum())
        return float(np.sort(values.value[both]).sum()) / total * 1000 if total > 0 else None


def _by_group(taken: AnswerCosts, name: str, groups: Grouping, by: By) -> dict[str, Quantiles]:
    """A field by the groups of the questions: seconds by hop count, prompt tokens by level [X tables 6, 7]."""
    import numpy as np

    values = taken.of(name)
    members = groups.members(by, np.array(taken.questions, dtype=np.int64))
    return {value: figures for value, places in members if (figures := quantiles(values[places])) is not None}
