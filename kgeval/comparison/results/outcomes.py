"""What a comparison lets one conclude of each pair: its figures, who gave no answer, and what the judge is worth, put before
`stats.outcome.conclude`, which decides. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

from kgeval.comparison.results.inputs import ComparisonInputs
from kgeval.comparison.results.tally import JudgeTally, points_given
from kgeval.comparison.table import OVERALL, PairTable
from kgeval.format import plural, share, signed
from kgeval.records import CorrectedRate, DrawnGroups, Drift, Estimated, JudgeReport, Outcome, PairResult, SystemCoverage
from kgeval.rounding import is_equal, is_zero, sign
from kgeval.stats.outcome import PairEvidence, conclude

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

RATE = "relative win rate"
EQUAL_LENGTHS = "where both answered, at equal lengths"
NOT_JUDGED = "not judged"
ONE_GRADE = 0.95  # share of all points that are one and the same: next to nothing is told apart
TURNED = 0.8  # share of verdicts with a winner in both orders that turn with the order
LEAST_POINTS, LEAST_DECIDED = 20, 6
SLIGHT = 0.2  # kappa: up to here agreement is slight at most (Landis & Koch 1977)
LEAST_ANCHORS = 20
MANY_PADDED = 0.2  # of the judged answers
LEAST_UNPADDED = 10  # questions whose rate the padded one is held against
LEAST_LABELS = 10
SELECTED = 0.05


@dataclass(frozen=True)
class PairGrounds:
    """What is kept of a pair's table for its outcome: coverage, what the judge is worth, and the rate without padded answers."""

    pair: tuple[str, str]
    coverage: tuple[SystemCoverage, SystemCoverage]
    doubts: tuple[str, ...]
    blind: tuple[str, ...]
    padded: float
    unpadded: Estimated
    unpadded_questions: int
    at_worst: tuple[Estimated, Estimated] | None
    flat_aspects: Mapping[str, str]


def grounds_of(table: PairTable, counts: JudgeTally, *, seed: int) -> PairGrounds:
    """What a pair's outcome needs of its table."""
    share_padded, rate, left = _unpadded(table, seed)
    return PairGrounds(
        (table.system_a, table.system_b), _coverage(table), tuple(_tells_nothing(counts)), tuple(_by_chance(counts)),
        share_padded, rate, left, _at_worst(table, seed), _flat_aspects(table),
    )


def _at_worst(table: PairTable, seed: int) -> tuple[Estimated, Estimated] | None:
    """The relative win rate over all questions if A lost each one without a result, and if A won it; None where all or none have one."""
    import numpy as np

    from kgeval.comparison.results.pair import estimated_mean

    wins = table.question_wins()
    missing = np.isnan(wins)
    if missing.all() or not missing.any():
        return None
    lost, won = (estimated_mean(np.where(missing, end, wins), table.documents, seed=seed) for end in (-1.0, 1.0))
    return lost, won


def outcome_of(result: PairResult, grounds: PairGrounds, inputs: ComparisonInputs, judge: JudgeReport | None) -> Outcome:
    """The outcome of a pair, whose first result (overall, all questions) has its correction for many pairs already."""
    left_out = questions_left_out(grounds.pair, inputs)
    missing = result.n - result.n_scored + left_out
    lost, won = grounds.at_worst or (result.relative, result.relative)
    stop = next((one for one in inputs.stopped if (one.system_a, one.system_b) == grounds.pair), None)
    beside = {}
    if judge is not None and judge.length_controlled.value is not None:
        beside[EQUAL_LENGTHS] = judge.length_controlled
    if grounds.padded and grounds.unpadded.value is not None:
        beside["answers that no model lengthened"] = grounds.unpadded
    evidence = PairEvidence(
        pair=grounds.pair, of=RATE, figure=result.relative, p=result.p_holm,
        groups=DrawnGroups(
            unit=inputs.unit if (result.groups or 0) < result.n_scored else "question", groups=result.groups or result.n_scored,
            questions=result.n_scored, effective=result.effective,
        ),
        coverage=_with_left_out(grounds.coverage, inputs), missing=missing,
        lowest=shifted(lost, result.n, left_out, -1.0), highest=shifted(won, result.n, left_out, 1.0),
        within=inputs.tie_region if stop is None else stop.tie_region,
        beyond=0.0 if stop is None else stop.tie_region,
        doubts=[*grounds.doubts, *_anchors_missed(inputs.drift), *(_padded(result, grounds) if inputs.pads_itself else ())],
        blind=grounds.blind, beside=beside,
    )
    labelled = {
        rate.method: rate for rate in inputs.corrected
        if (rate.system_a, rate.system_b) == grounds.pair and rate.aspect == OVERALL and rate.labels
    }
    rate = _by_people(labelled)
    outcome = conclude(_led_by_people(evidence, rate) if rate is not None else _beside_people(evidence, labelled.get("people")))
    return outcome.model_copy(update={"flat_aspects": dict(grounds.flat_aspects)})


def questions_left_out(pair: tuple[str, str], inputs: ComparisonInputs) -> int:
    """Questions that one of the two answered and the other one did not, so that nobody compared them."""
    return len(set().union(*(inputs.missing.get(name, ()) for name in pair)))


def _with_left_out(
    coverage: tuple[SystemCoverage, SystemCoverage], inputs: ComparisonInputs,
) -> tuple[SystemCoverage, SystemCoverage]:
    left_out = questions_left_out((coverage[0].system, coverage[1].system), inputs)
    if not left_out:
        return coverage
    a, b = (
        one.model_copy(update={"questions": one.questions + left_out, "absent": len(inputs.missing.get(one.system, ()))})
        for one in coverage
    )
    return a, b


def shifted(figure: Estimated, known: int, missing: int, side: float) -> Estimated:
    """The figure over all questions if each of the `missing` ones came out as `side` (-1..1), with the ends of its interval."""
    whole = known + missing
    if not whole or figure.value is None:
        return Estimated()
    ends = (None if end is None else (end * known + side * missing) / whole for end in (figure.value, figure.low, figure.high))
    value, low, high = ends
    return Estimated(value=value, low=low, high=high)


def _by_people(labelled: Mapping[str, CorrectedRate]) -> CorrectedRate | None:
    """The pair's rate corrected by labels of people, where enough of them are a random sample of the judged questions; where all labels say
    the same there is nothing to correct by, and they alone are the rate. `labelled`: by method."""
    sure = {name: rate for name, rate in labelled.items() if rate.labels >= LEAST_LABELS and rate.relative.low is not None}
    corrected, people = sure.get("ppi++"), sure.get("people")
    if corrected is not None and (corrected.selection_p is None or corrected.selection_p >= SELECTED):
        return corrected
    return people if corrected is None and people is not None and _is_one_sided(people) else None


def _is_one_sided(people: CorrectedRate) -> bool:
    """Whether all labels are the same."""
    return is_equal(abs(people.relative.value or 0.0), 1.0) or is_zero(people.relative.value or 0.0)


def _beside_people(evidence: PairEvidence, said: CorrectedRate | None) -> PairEvidence:
    """The same with what people said beside it, where their labels do not lead: too few, or chosen."""
    if said is None:
        return evidence
    name = f"by the {plural(said.labels, 'label')} of people alone, which do not decide"
    return replace(evidence, beside={name: said.relative, **evidence.beside})


def _led_by_people(evidence: PairEvidence, rate: CorrectedRate) -> PairEvidence:
    """The same, where labels of people correct the judge: then what the judge sees by itself does not decide."""
    seen, missing = evidence.figure, evidence.missing
    known = evidence.groups.questions
    return replace(
        evidence, figure=rate.relative, p=None,
        of=f"relative win rate, corrected by {plural(rate.labels, 'label')} of people (PPI++)" if rate.method == "ppi++"
        else f"relative win rate by {plural(rate.labels, 'label')} of people, which all say the same",
        lowest=shifted(rate.relative, known, missing, -1.0), highest=shifted(rate.relative, known, missing, 1.0), doubts=(), blind=(),
        beside={"as the judge has it": seen, **evidence.beside},
    )


def _coverage(table: PairTable) -> tuple[SystemCoverage, SystemCoverage]:
    empty: dict[str, set[int]] = {"a": set(), "b": set()}
    errors: dict[str, set[int]] = {"a": set(), "b": set()}
    for (question, trial), who in table.unanswered.items():
        failure = table.failures.get((question, trial))
        kept = empty if failure is None or failure.startswith(NOT_JUDGED) else errors
        for side in ("a", "b"):
            if who in (side, "both"):
                kept[side].add(question)
    a, b = (
        SystemCoverage(system=name, questions=len(table.questions), empty=len(empty[side]), errors=len(errors[side]))
        for side, name in (("a", table.system_a), ("b", table.system_b))
    )
    return a, b


def _tells_nothing(counts: JudgeTally) -> Iterator[str]:
    """Why the judge's verdicts say nothing of the answers, whatever they add up to."""
    if counts.constant is not None:
        yield f"the judge gave one and the same score ({counts.constant:g}) to every answer"
    elif (flat := _one_grade(counts.points)) is not None:
        yield f"the judge gave {share(flat[1])} of all scores the value {flat[0]:g}: it tells next to nothing apart"
    decided = counts.turned + counts.agreed
    if counts.decided >= LEAST_DECIDED and counts.turned >= TURNED * decided:
        yield f"{share(counts.turned / decided)} of the judge's verdicts turn round when the order of the answers does"


def _flat_aspects(table: PairTable) -> dict[str, str]:
    """Aspects in which the judge tells next to nothing apart, with why."""
    flat = {}
    for number, aspect in enumerate(table.aspects):
        if (most := _one_grade(points_given(table.points[..., number, :]))) is not None:
            told = f"{share(most[1])} of all points for {aspect} the value {most[0]:g}"
            flat[aspect] = f"the judge gave {told}: it tells next to nothing apart there"
    return flat


def _one_grade(points: Counter[float]) -> tuple[float, float] | None:
    """The value that nearly all points have, and their share; None where there is none, or too few points to tell."""
    total = points.total()
    if total < LEAST_POINTS:
        return None
    value, times = points.most_common(1)[0]
    return (value, times / total) if times >= ONE_GRADE * total else None


def _by_chance(counts: JudgeTally) -> Iterator[str]:
    """Why "no difference" says nothing: the two orders agree no more often than two judges would who do not read (Cohen's kappa)."""
    decided = counts.turned + counts.agreed
    if counts.decided < LEAST_DECIDED:
        return
    first, second = (ahead / decided for ahead in counts.ahead)
    agreed, expected = counts.agreed / decided, first * second + (1 - first) * (1 - second)
    if expected > 1 - 1e-9:
        return
    kappa, error = (agreed - expected) / (1 - expected), sqrt(agreed * (1 - agreed) / counts.decided) / (1 - expected)
    if kappa - 1.96 * error <= 0:
        yield (
            f"the judge names the same winner in both orders for {share(agreed)} of the questions, where one who does not read the answers "
            f"would for {share(expected)}: with so many questions that is no sign that it reads them, and that it finds no difference says "
            "nothing"
        )


def _anchors_missed(drift: Drift | None) -> Iterator[str]:
    if drift is not None and drift.n_scored >= LEAST_ANCHORS and drift.kappa is not None and drift.kappa < SLIGHT:
        yield f"on the anchors the judge agrees with people no better than by chance (kappa {drift.kappa:.2f} on {drift.n_scored} pairs)"


def _padded(result: PairResult, grounds: PairGrounds) -> Iterator[str]:
    """Where the judge's own model wrote into many answers, what it says of the others must have the same sign."""
    value = result.relative.value
    if grounds.padded <= MANY_PADDED or value is None or not sign(value):
        return
    told = f"a model of the judge's own family lengthened {share(grounds.padded)} of the judged answers, and it may prefer its own words"
    if grounds.unpadded_questions < LEAST_UNPADDED or grounds.unpadded.value is None:
        yield f"{told}: too few others are there to hold it against (--align none judges answers as they are)"
    elif sign(grounds.unpadded.value) != sign(value):
        yield f"{told}: over the {plural(grounds.unpadded_questions, 'other question')} the rate is {signed(grounds.unpadded.value)}"


def _unpadded(table: PairTable, seed: int) -> tuple[float, Estimated, int]:
    """The share of judged question-trials in which a model changed an answer's length; the relative win rate over the others."""
    import numpy as np

    from kgeval.comparison.results.pair import estimated_mean
    from kgeval.stats.clustered import question_means

    wins = table.judged_wins()
    judged = int((~np.isnan(wins)).sum())
    for place, question in enumerate(table.questions):
        for trial in question.padded:
            wins[place, trial - 1] = np.nan
    left = int((~np.isnan(wins)).sum())
    means = question_means(wins)
    known = ~np.isnan(means)
    if not judged or left == judged or not known.any():
        return (0.0 if not judged else 1 - left / judged), Estimated(), int(known.sum())
    return 1 - left / judged, estimated_mean(means[known], table.documents[known], seed=seed), int(known.sum())
