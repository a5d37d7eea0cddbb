"""Two systems by one metric, question by question: their difference, its tests, and the evidence that a conclusion rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

from kgeval.metrics.summary.coverage import Coverage
from kgeval.metrics.summary.drawn import Drawn, drawn_groups, has_groups, in_order
from kgeval.metrics.summary.means import interval_of
from kgeval.metrics.summary.values import RunScores
from kgeval.records import Estimated, Outcome, SystemCoverage
from kgeval.stats.grouped import group_sums, grouped_mean
from kgeval.stats.outcome import PairEvidence, conclude
from kgeval.stats.paired import cohens_d, discordant, mcnemar, sign_flip
from kgeval.stats.power import detectable, spread
from kgeval.stats.rests import differences_of, mean_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairFigures:
    """What two systems differ by. `fields`: those of a Gain; `tests`: what a PairedGain has beside them. `variance`: of the mean, where
    questions come in groups. `missing`: questions that one of them has no value for; `lowest`, `highest`: the figure with all of them lost,
    won by the first; like `figure` above 0 where the first is better, whichever way the metric goes. What is missing: a value that failed
    or has no meaning because the answer is empty or says nothing, a question that a system was not asked, an answer that is an error."""

    metric: str
    pair: Pair
    fields: Mapping[str, Any]
    tests: Mapping[str, Any]
    figure: Estimated
    lowest: Estimated
    highest: Estimated
    missing: int = 0
    variance: float | None = None

    @property
    def p(self) -> float | None:
        """Of its test, not corrected."""
        p: float | None = self.tests.get("p")
        return p

    def turned(self) -> PairFigures:
        """The second system minus the first: for conclusions alone, the fields stay as they are."""
        return replace(
            self, pair=self.pair[::-1], figure=self.figure.turned(), lowest=self.highest.turned(),
            highest=self.lowest.turned(),
        )

    def detectable(self, alpha: float) -> float | None:
        """The smallest difference that a test at this level would find with 80 % power; None: none within the scale."""
        sd, n = self.tests.get("sd"), self.fields["n"]
        if self.variance is not None:
            n = self.fields["groups"]
            sd = sqrt(self.variance * n)
        least = detectable(sd, n, alpha=alpha) if sd else None
        return least if least is not None and least <= 1 else None

    def outcome(
        self, p: float | None, coverage: Mapping[str, SystemCoverage], unit: str, *, doubts: Sequence[str] = (),
    ) -> Outcome:
        """What may be concluded. `p`: corrected for all that is concluded with it."""
        groups = drawn_groups(unit, self.fields["n"], self.fields.get("groups"), self.fields.get("effective"))
        first, second = (coverage.get(name) or SystemCoverage(system=name, questions=self.fields["n"]) for name in self.pair)
        return conclude(PairEvidence(
            pair=self.pair, of=self.metric, figure=self.figure, p=p, groups=groups, coverage=(first, second), missing=self.missing,
            lowest=self.lowest, highest=self.highest, within=0.0, doubts=doubts,
        ))


@dataclass(frozen=True)
class PairValues:
    """The values of two systems for the questions that the metric was asked for of either; shapes (questions,), NaN where there is none.
    `questions`: their numbers; `asked`: of both; `applies`: it has a meaning for both. `single`: no question has repetitions. `codes`: the
    groups of the questions (`Drawn`). `lower`: a lower value is better. `own_error`, `other_error`: the answer is an error, whatever its
    value."""

    metric: str
    pair: Pair
    questions: Whole
    own: Floats
    other: Floats
    asked: Mask
    applies: Mask
    single: bool
    lower: bool = False
    codes: Whole | None = None
    own_error: Mask | None = None
    other_error: Mask | None = None

    def of(self, places: Whole) -> PairValues:
        """Of some of the questions."""
        return replace(
            self, questions=self.questions[places], own=self.own[places], other=self.other[places], asked=self.asked[places],
            applies=self.applies[places], codes=None if self.codes is None else self.codes[places],
            own_error=None if self.own_error is None else self.own_error[places],
            other_error=None if self.other_error is None else self.other_error[places],
        )

    def alone(self) -> PairValues:
        """The same, each question standing alone."""
        return replace(self, codes=None)

    @property
    def meant(self) -> bool:
        """Whether the metric was asked for and has a meaning for both systems at any of the questions."""
        return bool((self.applies & self.asked).any())

    def figures(self, seed: int) -> PairFigures:
        """Difference, tests and evidence, over the questions that both have a value for."""
        import numpy as np

        differences = differences_of(self.own, self.other)
        there = ~np.isnan(differences)
        fields, variance, sums = self._difference(differences[there], None if self.codes is None else self.codes[there], seed)
        figure = self._better({name: fields.get(name) for name in ("mean", "low", "high")})
        missing = int((self._lost(self.own, self.own_error) | self._lost(self.other, self.other_error)).sum())
        lowest, highest = (self._extreme(seed, won=won) for won in (False, True)) if missing else (figure, figure)
        return PairFigures(
            self.metric, self.pair, fields, self._tests(np.sort(differences[there]), sums, there, seed), figure, lowest, highest, missing,
            variance,
        )

    def _difference(self, differences: Floats, codes: Whole | None, seed: int) -> tuple[dict[str, Any], float | None, Floats | None]:
        """The fields of a Gain; where questions come in groups, with the variance of the mean and the sums of the groups."""
        import numpy as np

        differ = int(np.count_nonzero(differences))
        fields: dict[str, Any] = {
            "system": self.pair[0], "baseline": self.pair[1], "metric": self.metric, "n": len(differences), "differ": differ,
        }
        if not len(differences):
            return fields, None, None
        fields["mean"] = mean_of(differences, scale=1.0)
        if codes is None or not has_groups(codes):
            ends = interval_of(np.sort(differences), low=-1.0, seed=seed)
            return fields | ({} if ends is None else {"low": ends.low, "high": ends.high}), None, None
        values, groups = in_order(differences, codes)
        found = grouped_mean([(values, groups)], low=-1.0, high=1.0)
        fields |= {"groups": found.groups, "effective": found.effective}
        if found.interval is not None:
            fields |= {"low": min(found.interval.low, fields["mean"]), "high": max(found.interval.high, fields["mean"])}
        return fields, found.variance, group_sums(values, groups)

    def _tests(self, differences: Floats, sums: Floats | None, scored: Mask, seed: int) -> dict[str, Any]:
        """What a PairedGain has beside its difference but the correction, which needs all tests. `sums`: those of the groups, whose signs
        are flipped as one."""
        import numpy as np

        if len(differences) < 2:
            return {}
        p = sign_flip(differences if sums is None else np.sort(sums), seed=seed)
        fields: dict[str, Any] = {"p": p, "effect": cohens_d(differences), "sd": spread(differences, scale=1.0)}
        only = discordant(self.own[scored], self.other[scored]) if self.single else None
        if only is None:
            return fields
        fields |= {"only_system": only[0], "only_baseline": only[1]}
        return fields if sums is not None else fields | {"mcnemar_p": mcnemar(*only)}

    def _lost(self, values: Floats, error: Mask | None) -> Mask:
        """Whose result is missing."""
        import numpy as np

        lost: Mask = self.applies & (np.isnan(values) if error is None else np.isnan(values) | error)
        return lost

    def _extreme(self, seed: int, *, won: bool) -> Estimated:
        """The figure with every value that is missing at its worst for the first system, or at its best."""
        import numpy as np

        best, worst = (0.0, 1.0) if self.lower else (1.0, 0.0)
        own = np.where(self._lost(self.own, self.own_error), best if won else worst, self.own)
        other = np.where(self._lost(self.other, self.other_error), worst if won else best, self.other)
        differences = differences_of(own, other)
        there = ~np.isnan(differences)
        fields, _, _ = self._difference(differences[there], None if self.codes is None else self.codes[there], seed)
        return self._better(fields)

    def _better(self, fields: Mapping[str, Any]) -> Estimated:
        found = Estimated(value=fields.get("mean"), low=fields.get("low"), high=fields.get("high"))
        return found.turned() if self.lower else found


def pair_values(
    table: RunScores, metric: str, pair: Pair, *, lower: bool = False, drawn: Drawn | None = None, coverage: Coverage | None = None,
) -> PairValues:
    """Two systems by a metric, of which a `lower` value may be better. `drawn`: what the questions were drawn in; None: each stands
    alone. `coverage`: which answers are errors."""
    import numpy as np

    (own, at_one), (other, at_other) = (table.values(system, metric) for system in pair)
    questions = np.union1d(at_one, at_other)
    values, asked, applies = [], np.ones(len(questions), dtype=np.bool_), np.ones(len(questions), dtype=np.bool_)
    for side, at in ((own, at_one), (other, at_other)):
        places = np.searchsorted(questions, at)
        column = np.full(len(questions), np.nan)
        column[places] = side.value
        values.append(column)
        there = np.zeros(len(questions), dtype=np.bool_)
        there[places] = True
        asked &= there
        applies[places[side.not_applicable & ~side.silent]] = False
    return PairValues(
        metric, pair, questions, values[0], values[1], asked, applies,
        all(len(table.columns.get((system, metric), ())) < 2 for system in pair), lower,
        None if drawn is None else drawn.of(questions),
        *(None if coverage is None else coverage.errors(system, questions) for system in pair),
    )
