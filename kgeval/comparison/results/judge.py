"""The judge report: what the judge's own verdicts say of the judge, for one pair and over all. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgeval.comparison.forms import NAMES
from kgeval.comparison.results.tally import JudgeTally, Shares, length_bins, tally
from kgeval.comparison.table import PairTable
from kgeval.records import Covariate, Estimated, JudgeReport, TrialKind

if TYPE_CHECKING:
    from kgeval.stats.covariates import Controlled, Slope

MANY_FLIPS = 0.25
LENGTH_UNIT = 100  # words


def judge_report(table: PairTable, *, seed: int, trial_kind: TrialKind = "regenerate", seen: JudgeTally | None = None) -> JudgeReport:
    """The judge of one pair. `seen`: its counts where they are there already.

    `length_slope`: change of win - loss for each 100 words that A's answer is longer; `raw` and `length_controlled`: A's relative win rate
    as it is, and at equal lengths. Nulls where nothing is known; a constant judge has a note and nothing but ties.
    """
    counts = seen or tally(table, trial_kind=trial_kind)
    base = whole_report(counts, seed=seed)
    update: dict[str, Any] = {
        "system_a": table.system_a, "system_b": table.system_b, "ab_win": counts.a_first.mean, "ba_win": counts.a_second.mean,
    }
    about_length = _length(table, seed)
    notes = [*base.notes, *about_length.pop("notes", [])]
    return base.model_copy(update={**update, **about_length, "style": _style(table, seed), "notes": notes})


def whole_report(counts: JudgeTally, *, seed: int) -> JudgeReport:
    """The judge over several pairs: positions, flips, ties, repeats, length bins. A's win rates and slopes belong to one pair."""
    return JudgeReport(
        calls=counts.calls, first_wins=_interval(counts.first, seed), flips=counts.flips.mean, ties=counts.ties.mean,
        self_agreement=counts.agreeing.mean, length_bins=length_bins(counts), notes=_notes(counts, seed),
    )


def _interval(shares: Shares, seed: int) -> Estimated:
    """The mean over questions with its interval over questions."""
    from kgeval.stats.bootstrap import bootstrap_mean

    values = shares.values
    found = bootstrap_mean(values, seed=seed)
    return Estimated(value=shares.mean, low=found.low if found else None, high=found.high if found else None)


def _notes(counts: JudgeTally, seed: int) -> list[str]:
    found = []
    if counts.constant is not None:
        found.append(f"the judge gave one and the same score ({counts.constant:g}) everywhere: he tells nothing apart")
    if counts.orders == 1:
        found.append("each pair was judged in one order only, or alone: a preference for a position cannot be seen here")
    first = _interval(counts.first, seed)
    if first.value is not None and first.low is not None and first.high is not None and not first.low <= 0.5 <= first.high:
        place = "first" if first.value > 0.5 else "second"
        found.append(f"the judge prefers the answer that stands {place}; both orders are judged, so that this cancels out")
    flips = counts.flips.mean
    if flips is not None and flips > MANY_FLIPS:
        turned, judged = round(sum(counts.flips.sums.values())), sum(counts.flips.numbers.values())
        found.append(f"the winner turns round with the order in {turned:,} of {judged:,} question-trials: single calls mean little")
    return found


def _length(table: PairTable, seed: int) -> dict[str, Any]:
    """Slope, raw and controlled rate of one pair, and what must be said of them."""
    from kgeval.stats.covariates import controlled, linear_slope

    wins, gap = table.wins(), table.words[..., 0] - table.words[..., 1]
    if not _both_known(wins, gap):
        return {}
    slope = linear_slope(wins, gap, per=LENGTH_UNIT)
    found = controlled(wins, {"words": gap}, seed=seed)
    raw = Estimated(value=found.raw, low=found.raw_low, high=found.raw_high)
    at_equal = Estimated(value=found.controlled, low=found.low, high=found.high)
    return {"length_slope": _slope(slope), "raw": raw, "length_controlled": at_equal, "notes": _signs(raw, at_equal, found)}


def _signs(raw: Estimated, at_equal: Estimated, found: Controlled) -> list[str]:
    """That the length decides is said only where both rates are on their side of 0 with their whole intervals."""
    notes = []
    if _side(raw) * _side(at_equal) < 0:
        notes.append(
            f"the length of the answers decides: raw, the relative win rate is {raw.value:+.2f}, at equal lengths {at_equal.value:+.2f}"
        )
    if found.reason:
        notes.append(f"no length-controlled rate: {found.reason}")
    return notes + list(found.notes)


def _side(rate: Estimated) -> int:
    """1 or -1 where the whole interval is above or below 0; 0 where it is not, or there is none."""
    if rate.low is None or rate.high is None:
        return 0
    return (rate.low > 0) - (rate.high < 0)


def _style(table: PairTable, seed: int) -> list[Covariate]:
    """Slopes of headings, bold passages and list items, each beside the others and the length."""
    from kgeval.stats.covariates import controlled

    if table.forms is None:
        return []
    wins = table.wins()
    gaps = {"words": table.words[..., 0] - table.words[..., 1]}
    gaps |= {name: table.forms[:, :, 0, at] - table.forms[:, :, 1, at] for at, name in enumerate(NAMES)}
    shown = {name: gap for name, gap in gaps.items() if _both_known(wins, gap) and _varies(wins, gap)}
    if not set(shown) - {"words"}:
        return []
    found = controlled(wins, shown, seed=seed)
    return [Covariate(name=one.name, slope=_slope(one), scale=_scale(one)) for one in found.slopes if one.name != "words"]


def _both_known(wins: Any, gap: Any) -> bool:
    import numpy as np

    return bool((~np.isnan(wins) & ~np.isnan(gap)).any())


def _varies(wins: Any, gap: Any) -> bool:
    """Answers that never differ in something say nothing of it."""
    import numpy as np

    return bool((gap[~np.isnan(wins) & ~np.isnan(gap)] != 0).any())


def _slope(one: Slope) -> Estimated:
    return Estimated(value=one.slope, low=one.low, high=one.high)


def _scale(one: Slope) -> str:
    if one.slope is None:
        return one.reason or ""
    return "" if one.scale is None else f"{one.scale:.3g} {one.name} more"
