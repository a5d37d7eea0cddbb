"""What may be concluded of the systems of a run: the headline's metric, the pairs that are asked about, what a best system has to survive.

Every conclusion is `kgeval.stats.outcome.conclude`'s; what does not survive is handed to it as a doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kgeval.format import bracketed, figure, first_of, plural, plus
from kgeval.metrics.summary.claims import COUNTED, EXTRAS_NEUTRAL, MISSING_NEUTRAL, ClaimTable
from kgeval.metrics.summary.coverage import Coverage
from kgeval.metrics.summary.drawn import UNIT, Drawn
from kgeval.metrics.summary.pairs import Pair, PairFigures, pair_values
from kgeval.metrics.summary.values import RunScores
from kgeval.metrics.table import all_metrics
from kgeval.records import Estimated, MetricInfo, MetricSummary, Outcome, PairedGain, SurvivalCheck, Survived, SystemCoverage
from kgeval.rounding import at_most, side, sign
from kgeval.stats.adjust import holm
from kgeval.stats.grouped import LEAST_GROUPS
from kgeval.stats.outcome import ALPHA

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Whole = npt.NDArray[np.int64]

# The metric of the headline: the first of these that most systems have values of. An answer is right or wrong as a whole before claims of
# it are counted: F1 over claims is lower for whoever adds a claim that is true, and for a right answer in one word.
WHOLE = ("binary_accuracy", "binary_accuracy_compat")
HEADLINES = (
    *WHOLE, "answer_accuracy", "factual_correctness", "answer_completeness", "semantic_similarity", "token_f1", "exact_match",
)
OF_RIGHTNESS = frozenset((
    *HEADLINES[:5], *COUNTED, "factual_correctness_compat", "statement_precision", "evidence_coverage", "evidence_coverage_compat",
))
# F1 over claims, whoever's: lower for whoever adds a claim, and for whoever leaves one out
OVER_CLAIMS = (*COUNTED, "factual_correctness_compat")
TELL_MISSING = (*WHOLE, "answer_completeness")
NOT_OF_RIGHTNESS = frozenset(("answer_relevancy", "answer_relevancy_compat", "citation_precision", "citation_coverage"))
DOUBTS: tuple[SurvivalCheck, ...] = ("answer metrics", "grounded extras", "missing claims")


def headline_metric(summaries: Sequence[MetricSummary], metrics: Sequence[MetricInfo], boards: Sequence[str] = ()) -> str | None:
    """The metric that the headline speaks of; None where none has a value. `boards`: metrics of leaderboards."""
    names = dict.fromkeys([*(info.metric for info in metrics), *(summary.metric for summary in summaries)])
    valued = Counter(summary.metric for summary in summaries if summary.overall.mean is not None)
    most = max(valued.values(), default=0)
    return next((name for name in (*WHOLE, *boards, *HEADLINES, *names) if most and valued[name] == most), None)


@dataclass(frozen=True)
class Concluded:
    """`gains`: with their conclusions; `outcomes`: those of the headline; `survived`: what its best system has to survive."""

    gains: list[PairedGain]
    outcomes: list[Outcome]
    survived: list[Survived]


@dataclass(frozen=True)
class OutcomeInputs:
    """What conclusions are made from. `figures`: every pair that is compared; `headline`: the metric; `baseline`: that the others are
    compared with, None: the best one with each other."""

    table: RunScores
    infos: Mapping[str, MetricInfo]
    systems: Sequence[str]
    summaries: Sequence[MetricSummary]
    figures: Sequence[PairFigures]
    headline: str | None
    baseline: str | None
    drawn: Drawn
    coverage: Coverage
    covered: Mapping[str, SystemCoverage]
    claims: ClaimTable
    seed: int

    def measured(self, metric: str, pair: Pair, only: Whole | None = None, *, alone: bool = False) -> PairFigures:
        """Two systems by a metric, once measured for all questions. `only`: numbers of the questions that count; `alone`: each stands alone
        among them."""
        import numpy as np

        if only is None and (found := self._known.get((metric, pair)) or self._known.get((metric, pair[::-1]))):
            return found if found.pair == pair else found.turned()
        both = pair_values(self.table, metric, pair, lower=self.lower(metric), drawn=self.drawn, coverage=self.coverage)
        if only is not None:
            both = both.of(np.flatnonzero(np.isin(both.questions, only)))
            return (both.alone() if alone else both).figures(self.seed)
        return self._known.setdefault((metric, pair), both.figures(self.seed))

    @cached_property
    def _known(self) -> dict[tuple[str, Pair], PairFigures]:
        return {(figures.metric, figures.pair): figures for figures in self.figures}

    def lower(self, metric: str) -> bool:
        """True where a lower value is better."""
        return metric in self.infos and self.infos[metric].better == "lower"


def concluded(inputs: OutcomeInputs) -> Concluded:
    """All conclusions of a run. Holm's correction is over the pairs by the headline's metric, which is chosen before anything is seen,
    and apart from these over all others."""
    leading = [figures.metric == inputs.headline for figures in inputs.figures]
    corrected = _corrected([figures.p for figures in inputs.figures], leading)
    gains, known = [], dict[Pair, tuple[PairFigures, float | None, list[Survived]]]()
    for figures, p, is_headline in zip(inputs.figures, corrected, leading, strict=True):
        survived = list(_survived(inputs, figures, p))
        if is_headline:
            known[figures.pair] = figures, p, survived
        found = figures.outcome(p, inputs.covered, inputs.drawn.unit, doubts=_doubts(survived))
        gains.append(PairedGain(
            **figures.fields, **figures.tests, p_holm=p, conclusion=found.conclusion, because=found.because,
        ))
    wanted = list(_wanted(inputs))
    if any(pair not in known and pair[::-1] not in known for pair in wanted):
        known |= _further(inputs, wanted)
    outcomes, survivals = [], list[Survived]()
    for pair in wanted:
        figures, p, survived = known.get(pair) or known[pair[::-1]]
        figures = figures if figures.pair == pair else figures.turned()
        outcomes.append(figures.outcome(p, inputs.covered, inputs.drawn.unit, doubts=_doubts(survived)))
        survivals += survived
    return Concluded(gains, outcomes, survivals)


def _corrected(chances: Sequence[float | None], leading: Sequence[bool]) -> list[float | None]:
    """Holm's correction for the headline's tests, and apart from it for the others."""
    corrected: list[float | None] = [None] * len(chances)
    for family in (True, False):
        places = [at for at, own in enumerate(leading) if own is family]
        for at, p in zip(places, holm([chances[at] for at in places]), strict=True):
            corrected[at] = p
    return corrected


def _wanted(inputs: OutcomeInputs) -> Iterator[Pair]:
    """The pairs of the headline: the best system with each other, or each with the baseline."""
    if inputs.headline is None:
        return
    means = {
        summary.system: summary.overall.mean for summary in inputs.summaries
        if summary.metric == inputs.headline and summary.overall.mean is not None
    }
    order = sorted(
        (system for system in inputs.systems if system in means),
        key=lambda system: (means[system] or 0.0) * (1 if inputs.lower(inputs.headline or "") else -1),
    )
    if inputs.baseline is not None:
        yield from ((system, inputs.baseline) for system in order if system != inputs.baseline and inputs.baseline in means)
    else:
        yield from ((order[0], other) for other in order[1:])


def _further(inputs: OutcomeInputs, wanted: Sequence[Pair]) -> dict[Pair, tuple[PairFigures, float | None, list[Survived]]]:
    """The pairs of the headline where they are not among the gains: many systems, or a metric by which none are compared. Which is the best
    was seen first, so that every pair there is counts as a test."""
    tests = len(wanted) if inputs.baseline is not None else len(inputs.systems) * (len(inputs.systems) - 1) // 2
    found = {}
    for pair in wanted:
        figures = inputs.measured(inputs.headline or "", pair)
        p = None if figures.p is None else min(1.0, figures.p * tests)
        found[pair] = figures, p, list(_survived(inputs, figures, p))
    return found


def _doubts(survived: Sequence[Survived]) -> list[str]:
    return [one.because for one in survived if one.check in DOUBTS and one.passed is False]


def part_doubts(inputs: OutcomeInputs, figures: PairFigures, p: float | None, part: Whole, *, alone: bool) -> list[str]:
    """Why nothing may be concluded of two systems among some of the questions (`part`: their numbers), which may stand `alone` there."""
    return _doubts(list(_survived(inputs, figures, p, lambda metric, pair: inputs.measured(metric, pair, part, alone=alone))))


def _survived(inputs: OutcomeInputs, figures: PairFigures, p: float | None, measured: Measured | None = None) -> Iterator[Survived]:
    """What the better of the two has to survive; nothing where neither is ahead by the figure alone. `measured`: two systems by another
    metric; None: over all questions."""
    measured = measured or inputs.measured
    ahead = side(figures.figure.low, figures.figure.high)
    grouped = "groups" in figures.fields
    if grouped and figures.figure.low is None:
        ahead = sign(figures.figure.value or 0.0)
    if not ahead or (not grouped and (p is None or not at_most(p, ALPHA))):
        return
    figures = figures if ahead > 0 else figures.turned()
    first, other = figures.pair
    of_claims = figures.metric in OVER_CLAIMS and bool(inputs.claims.counts)
    for check, (passed, because) in (
        ("answer metrics", _other_metrics(inputs, figures, measured)),
        ("grounded extras", _without_extras(inputs, figures, measured) if of_claims else _not_of_claims(figures.metric)),
        ("missing claims", _without_missing(inputs, figures, measured) if of_claims else _not_of_claims(figures.metric)),
        ("groups", _by_groups(inputs, figures)), ("failed rows", _failed_rows(figures)),
    ):
        yield Survived.model_validate({"system": first, "other": other, "check": check, "passed": passed, "because": because})


Told = tuple[bool | None, str]
Measured = Callable[[str, Pair], PairFigures]


def _is_ahead(figures: PairFigures, p: float | None) -> bool:
    return side(figures.figure.low, figures.figure.high) > 0 and p is not None and at_most(p, ALPHA)


def _other_metrics(inputs: OutcomeInputs, figures: PairFigures, measured: Measured) -> Told:
    """Whether another metric of what is right puts the other system first."""
    by_words = figures.metric not in OF_RIGHTNESS
    metrics = [name for name in inputs.infos if name != figures.metric and _tells_rightness(name, by_words)]
    found = [measured(name, figures.pair) for name in metrics]
    corrected = holm([one.p for one in found])
    against = [one for one, p in zip(found, corrected, strict=True) if _is_ahead(one.turned(), p)]
    if not found:
        return None, "no other metric of what is right was computed"
    if against:
        told = [f"{one.metric} {_told(one.turned().figure)}" for one in against]
        return False, f"answer metrics disagree: {figures.metric} puts {figures.pair[0]} first, not so {first_of(told, 3, '; ')}"
    with_it = sum(_is_ahead(one, p) for one, p in zip(found, corrected, strict=True))
    return True, f"of {plural(len(found), 'other answer metric')} {with_it} put {figures.pair[0]} first too, and none the other"


def _tells_rightness(metric: str, by_words: bool) -> bool:
    """Metrics over words say nothing against one that a judge or a person has a say in."""
    known = all_metrics().get(metric)
    if known is None:
        return True
    return metric in OF_RIGHTNESS or (by_words and known.group == "answers" and metric not in NOT_OF_RIGHTNESS)


def _without_extras(inputs: OutcomeInputs, figures: PairFigures, measured: Measured) -> Told:
    """Whether the first is ahead where claims beyond the reference count for nothing, but those that are known to be ungrounded."""
    neutral = measured(EXTRAS_NEUTRAL, figures.pair)
    told = f"F1 where grounded claims beyond the reference count for nothing: {_told(neutral.figure)}"
    if _is_ahead(neutral, neutral.p):
        return True, told
    unknown = any(total.extra_unknown for total in inputs.claims.totals(figures.pair))
    known = "; whether the others are grounded is not known (faithfulness in the same run tells)" if unknown else ""
    return False, f"the difference rests on claims beyond the reference. {told}{known}"


def _without_missing(inputs: OutcomeInputs, figures: PairFigures, measured: Measured) -> Told:
    """Whether the first is ahead where claims of the reference that an answer leaves out count for nothing, or by a metric that knows what
    the question asks for."""
    neutral = measured(MISSING_NEUTRAL, figures.pair)
    told = f"precision where missing claims count for nothing: {_told(neutral.figure)}"
    if _is_ahead(neutral, neutral.p):
        return True, told
    telling = [measured(name, figures.pair) for name in TELL_MISSING if name in inputs.infos]
    if proven := [one.metric for one in telling if _is_ahead(one, one.p)]:
        return True, f"{told}; {proven[0]} puts {figures.pair[0]} first too"
    not_seen = " or ".join(one.metric for one in telling)
    unknown = f"is not seen by {not_seen}" if telling else "is not known (answer_completeness or binary_accuracy tell)"
    return False, (
        f"the difference rests on what the reference says and {figures.pair[1]} leaves out. {told}; whether the questions ask for it "
        f"{unknown}"
    )


def _not_of_claims(metric: str) -> Told:
    if metric in WHOLE or metric not in all_metrics():
        return True, f"{metric} looks at the answer as a whole"
    if metric in OVER_CLAIMS:
        return None, f"the claims behind {metric} are not known"
    if metric in OF_RIGHTNESS:
        return None, f"{metric} counts one kind of claims only"
    return None, f"{metric} compares texts: it does not tell what is right"


def _by_groups(inputs: OutcomeInputs, figures: PairFigures) -> Told:
    """Whether the first is ahead where the unit is the document (or what else the questions were drawn in)."""
    unit, groups = inputs.drawn.unit, figures.fields.get("groups")
    if groups is None:
        alone = "each question stands alone" if unit != UNIT else "of no question it is known what document or entity it is of"
        return (True if unit != UNIT else None), alone
    told = f"by {plural(groups, unit)} of {plural(figures.fields['n'], 'question')}: {_told(figures.figure)}"
    if groups < LEAST_GROUPS:
        return False, f"{told}; fewer than {LEAST_GROUPS} have no interval"
    return side(figures.figure.low, figures.figure.high) > 0, told


def _failed_rows(figures: PairFigures) -> Told:
    if not figures.missing:
        return True, "no question is without a result"
    lost = figures.lowest.value or 0.0
    told = f"with {plural(figures.missing, 'question')} without a result at their worst: {plus(lost)}"
    return sign(lost) > 0, told


def _told(found: Estimated) -> str:
    return f"{plus(found.value)} {bracketed(found.low, found.high, lambda end: figure(end, sign=True))}".rstrip()
