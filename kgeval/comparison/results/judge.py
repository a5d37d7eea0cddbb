"""The judge report: what the judge's own verdicts say of the judge, for one pair and over all. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kgeval.comparison.forms import NAMES
from kgeval.comparison.results.tally import JudgeTally, length_bins, tally
from kgeval.comparison.table import PairTable
from kgeval.format import share
from kgeval.records import Covariate, Estimated, JudgeReport, TrialKind
from kgeval.rounding import side

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.covariates import Controlled, Slope

    Floats = npt.NDArray[np.float64]

MANY_FLIPS = 0.25
AGREED, ENOUGH_REPEATS = 0.99, 50  # repeats that agree so often, of so many pairs of them, show nothing that one call would not
LENGTH_UNIT = 100  # words


def judge_report(table: PairTable, *, seed: int, trial_kind: TrialKind = "regenerate", counts: JudgeTally | None = None) -> JudgeReport:
    """The judge of one pair. `counts`: its tally where it is there already.

    `length_slope`: change of win - loss for each 100 words that A's answer is longer; `raw` and `length_controlled`: A's relative win rate
    as it is, and at equal lengths. None where nothing is known; a constant judge has a note and nothing but ties.
    """
    from kgeval.stats.covariates import controlled, linear_slope

    counts = counts or tally(table, trial_kind=trial_kind)
    base = whole_report(counts, seed=seed)
    report: dict[str, Any] = {
        "system_a": table.system_a, "system_b": table.system_b, "ab_win": counts.a_first.mean, "ba_win": counts.a_second.mean,
        "style": _style(table, seed), "tie_band": table.tie_band(),
    }
    wins, gap = table.judged_wins(), table.words[..., 0] - table.words[..., 1]
    if _known_gaps(wins, gap).size:
        control = controlled(wins, {"words": gap}, seed=seed)
        raw = Estimated(value=control.raw, low=control.raw_low, high=control.raw_high)
        at_equal = Estimated(value=control.controlled, low=control.low, high=control.high)
        slope = linear_slope(wins, gap, per=LENGTH_UNIT)
        report |= {"length_slope": Estimated.of(slope.slope, slope), "raw": raw, "length_controlled": at_equal}
        report["notes"] = [*base.notes, *_length_notes(raw, at_equal, control)]
    return base.model_copy(update=report)


def whole_report(counts: JudgeTally, *, seed: int) -> JudgeReport:
    """The judge over several pairs: positions, flips, ties, repeats, length bins. A's win rates and slopes belong to one pair."""
    from kgeval.stats.bootstrap import bootstrap_mean

    first = Estimated.of(counts.first.mean, bootstrap_mean(counts.first.values, seed=seed))  # over questions
    return JudgeReport(
        calls=counts.calls, first_wins=first, flips=counts.flips.mean, ties=counts.ties.mean, self_agreement=counts.agreeing.mean,
        length_bins=length_bins(counts), notes=list(_notes(counts, first)),
    )


def _notes(counts: JudgeTally, first: Estimated) -> Iterator[str]:
    if counts.constant is not None:
        yield f"the judge gave one and the same score ({counts.constant:g}) everywhere: it tells nothing apart"
    if counts.orders == 1:
        yield "each pair was judged in one order only, or alone: a preference for a position cannot be seen here"
    if preferred := side(first.low, first.high, middle=0.5):
        place = "first" if preferred > 0 else "second"
        yield f"judge bias: the answer that stands {place} is preferred; both orders are judged, so that this cancels out"
    flips = counts.flips
    if flips.mean is not None and flips.mean > MANY_FLIPS:
        flipped, judged = round(sum(flips.sums.values())), sum(flips.numbers.values())
        yield f"verdict flips when the order is swapped, in {flipped:,} of {judged:,} question-trials: single calls mean little"
    agreeing = counts.agreeing
    compared = sum(agreeing.numbers.values())
    if agreeing.mean is not None and agreeing.mean >= AGREED and compared >= ENOUGH_REPEATS:
        yield (
            f"repeats agree in {share(agreeing.mean)} of {compared:,} pairs of them: the judge shows next to no randomness here, and more "
            "repeats or trials of the same answers cost calls and tell nothing new"
        )


def _length_notes(raw: Estimated, at_equal: Estimated, found: Controlled) -> Iterator[str]:
    """That the length decides is said only where both rates are on their side of 0 with their whole intervals."""
    if side(raw.low, raw.high) * side(at_equal.low, at_equal.high) < 0:
        rates = f"raw, the relative win rate is {raw.value:+.2f}, at equal lengths {at_equal.value:+.2f}"
        yield f"judge bias: the length of the answers decides: {rates}"
    if found.reason:
        yield f"no length-controlled rate: {found.reason}"
    yield from found.notes


def _style(table: PairTable, seed: int) -> list[Covariate]:
    """Slopes of headings, bold passages and list items, each controlled for the others and the length."""
    from kgeval.stats.covariates import controlled

    if table.forms is None:
        return []
    wins = table.judged_wins()
    gaps = {"words": table.words[..., 0] - table.words[..., 1]}
    gaps |= {name: table.forms[:, :, 0, form] - table.forms[:, :, 1, form] for form, name in enumerate(NAMES)}
    varying = {name: gap for name, gap in gaps.items() if _known_gaps(wins, gap).any()}  # what never differs says nothing
    if not varying.keys() - {"words"}:
        return []
    slopes = [slope for slope in controlled(wins, varying, seed=seed).slopes if slope.name != "words"]
    return [Covariate(name=slope.name, slope=Estimated.of(slope.slope, slope), scale=_scale(slope)) for slope in slopes]


def _known_gaps(wins: Floats, gap: Floats) -> Floats:
    """The gaps of all question-trials with a result."""
    import numpy as np

    known_gaps: Floats = gap[~np.isnan(wins) & ~np.isnan(gap)]
    return known_gaps


def _scale(slope: Slope) -> str:
    if slope.slope is None:
        return slope.reason or ""
    return "" if slope.scale is None else f"{slope.scale:.3g} {slope.name} more"
