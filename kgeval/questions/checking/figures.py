"""Counts of checks over a set: shares with intervals, by level, examples of what failed; and the difference of two
sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from kgeval.questions.checking.check_table import CHECKS, QuestionCheckOutcome, is_negative
from kgeval.records import CheckDifference, CheckedSet, CheckExample, CheckFigure, GoldPath, Picture, Question, QuestionPath
from kgeval.stats.intervals import newcombe, quantile, wilson

NO_LEVEL = "(none)"
OTHERS = "(others)"
MOST_LEVELS = 50  # that are told apart
MOST_PATHS = 10  # gold paths that a report draws: a page stays below a megabyte


@dataclass
class _CheckCounts:
    """The results of one check so far."""

    statuses: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    why_not: Counter[str] = field(default_factory=Counter)

    def add(self, one: QuestionCheckOutcome) -> None:
        self.statuses[one.status] += 1
        if one.status == "unscored":
            self.causes[one.cause or "unknown"] += 1
        if one.status == "not_applicable":
            self.why_not[one.reason] += 1

    def figure(self, name: str) -> CheckFigure:
        passed, failed, unscored = (self.statuses[status] for status in ("passed", "failed", "unscored"))
        n = passed + failed
        interval = wilson(passed / n, n, quantile=quantile()) if n else None
        possible = n + unscored
        return CheckFigure(
            check=name, n=self.statuses.total(), passed=passed, failed=failed,
            not_applicable=self.statuses["not_applicable"],
            unscored=unscored, share=passed / n if n else None, low=interval.low if interval else None,
            high=interval.high if interval else None, bound_low=passed / possible if possible else None,
            bound_high=(passed + unscored) / possible if possible else None, causes=dict(self.causes.most_common()),
            why_not=dict(self.why_not.most_common()),
        )


class CheckTally:
    """Counts the questions of one file as they come. `examples`: failed ones kept of each check. `draw`: makes the picture of a gold path,
    or none of one that cannot be drawn."""

    def __init__(
        self, file: str, checks: Collection[str], *, examples: int = 5, draw: Callable[[GoldPath], Picture | None] = lambda path: None,
    ) -> None:
        self._file, self._most, self._draw = file, examples, draw
        self._failed_paths: list[QuestionPath] = []
        self._other_paths: list[QuestionPath] = []
        self._all = {name: _CheckCounts() for name in CHECKS if name in checks}
        self._levels: dict[str, dict[str, _CheckCounts]] = {}
        self._examples: dict[str, list[CheckExample]] = {name: [] for name in self._all}
        self.n = self.references = self.evidence = self.negative = 0

    def add(self, question: Question, found: Iterable[QuestionCheckOutcome]) -> None:
        """Counts one question."""
        self.n += 1
        self.references += bool(question.right_answers)
        self.evidence += bool(question.evidence_texts)
        self.negative += is_negative(question)
        level = question.level or next(iter(question.kinds), NO_LEVEL)
        if level not in self._levels and len(self._levels) >= MOST_LEVELS:
            level = OTHERS  # a file whose types are free text has as many as it has questions
        counts = self._levels.setdefault(level, {name: _CheckCounts() for name in self._all})
        found = list(found)
        self._keep_path(question, [outcome.name for outcome in found if outcome.status == "failed"])
        for outcome in found:
            self._all[outcome.name].add(outcome)
            counts[outcome.name].add(outcome)
            if outcome.status == "failed" and len(self._examples[outcome.name]) < self._most:
                self._examples[outcome.name].append(CheckExample(
                    check=outcome.name, id=question.id, question=question.question,
                    reference=next(iter(question.right_answers), None),
                    reason=outcome.reason,
                ))

    def _keep_path(self, question: Question, failed: list[str]) -> None:
        kept = self._failed_paths if failed else self._other_paths
        if question.path is not None and len(kept) < MOST_PATHS and (picture := self._draw(question.path)) is not None:
            reference = next(iter(question.right_answers), None)
            kept.append(QuestionPath(id=question.id, question=question.question, reference=reference, failed=failed, path=picture))

    def result(self, notes: Sequence[str] = ()) -> CheckedSet:
        """The figures so far."""
        return CheckedSet(
            file=self._file, n=self.n, references=self.references, evidence=self.evidence, negative=self.negative,
            notes=list(notes),
            figures=_figures(self._all),
            levels={level: _figures(counts) for level, counts in sorted(self._levels.items())},
            examples=[example for of_check in self._examples.values() for example in of_check],
            paths=[*self._failed_paths, *self._other_paths][:MOST_PATHS],
        )


def _figures(counts: dict[str, _CheckCounts]) -> list[CheckFigure]:
    return [count.figure(name) for name, count in counts.items()]


def differences(first: CheckedSet, second: CheckedSet) -> list[CheckDifference]:
    """Each check that both sets have a share of: the first's minus the second's, with Newcombe's interval."""
    others = {figure.check: figure for figure in second.figures}
    result = []
    for figure in first.figures:
        other = others.get(figure.check)
        if other is None or figure.share is None or other.share is None:
            continue
        sizes = (figure.passed + figure.failed, other.passed + other.failed)
        interval = newcombe((figure.share, sizes[0]), (other.share, sizes[1]), quantile=quantile())
        result.append(CheckDifference(
            check=figure.check, difference=figure.share - other.share, low=interval.low, high=interval.high,
            n_first=sizes[0],
            n_second=sizes[1],
        ))
    return result


def failed_share(sets: Iterable[CheckedSet]) -> float:
    """Checks whose call or query failed, among all that have a meaning."""
    figures = [figure for checked_set in sets for figure in checked_set.figures]
    return sum(f.unscored for f in figures) / max(1, sum(f.n - f.not_applicable for f in figures))
