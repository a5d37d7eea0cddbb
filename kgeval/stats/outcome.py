"""What a figure of two systems lets one conclude: the one place where that is decided [design: one outcome]. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.format import number, plural, signed
from kgeval.records import Conclusion, DrawnGroups, Estimated, Outcome, SystemCoverage
from kgeval.rounding import at_most, side, sign
from kgeval.stats.grouped import LEAST_GROUPS

ALPHA = 0.05
LEAST_QUESTIONS = 10


@dataclass(frozen=True)
class PairEvidence:
    """All that a conclusion about A and B rests on; nothing of it may be left out but where there is none.

    `figure`: A minus B, above 0 where A is better; `p`: of its test after the correction for all that is concluded together, None: not
    tested. `groups`, `coverage`: what was drawn, and how often each system gave no answer. `missing`: questions without a result;
    `lowest`, `highest`: the figure with all of them lost, won by A. `doubts`: why nothing may be concluded, whatever the figure says;
    `blind`: why "no difference" may not be (a judge that sees none). `within`: figures inside -within..within count as equal; 0: none
    does. `beyond`: a difference must lie beyond it with its whole interval. `shown`: a figure in words, as a share unless it is none.
    """

    pair: tuple[str, str]
    of: str
    figure: Estimated
    p: float | None
    groups: DrawnGroups
    coverage: tuple[SystemCoverage, SystemCoverage]
    missing: int
    lowest: Estimated
    highest: Estimated
    within: float
    beyond: float = 0.0
    doubts: Sequence[str] = ()
    blind: Sequence[str] = ()
    beside: Mapping[str, Estimated] = field(default_factory=dict)
    shown: Callable[[float | None], str] = signed


def conclude(evidence: PairEvidence) -> Outcome:
    """The outcome. Where several things stand against a conclusion, all of them are told."""
    because = list(_against(evidence))
    found = _found(evidence)
    if not because and found not in ("a better", "b better"):
        because = list(evidence.blind)
    conclusion: Conclusion = "not decidable" if because else found
    return Outcome(
        system_a=evidence.pair[0], system_b=evidence.pair[1], of=evidence.of, conclusion=conclusion, figure=evidence.figure,
        beside=dict(evidence.beside), within=evidence.within if conclusion == "equal" else None, because=because,
        groups=evidence.groups, coverage=list(evidence.coverage), missing=evidence.missing,
        lowest=evidence.lowest, highest=evidence.highest,
    )


def _found(evidence: PairEvidence) -> Conclusion:
    """What the figure alone says: a difference where its interval leaves 0 out and its test stands."""
    figure, within, beyond = evidence.figure, evidence.within, evidence.beyond
    ahead = 1 if side(figure.low, figure.high, middle=beyond) > 0 else -1 if side(figure.low, figure.high, middle=-beyond) < 0 else 0
    if ahead and (evidence.p is None or at_most(evidence.p, ALPHA)):
        return "a better" if ahead > 0 else "b better"
    if within and figure.low is not None and figure.high is not None and at_most(-within, figure.low) and at_most(figure.high, within):
        return "equal"
    return "no difference found"


def _against(evidence: PairEvidence) -> Iterator[str]:
    """Why nothing may be concluded, the gravest first."""
    groups, figure = evidence.groups, evidence.figure
    if figure.value is None:
        yield "no question has a result"
        return
    if groups.questions < LEAST_QUESTIONS:
        have = "one question has" if groups.questions == 1 else f"{number(groups.questions)} questions have"
        yield f"only {have} a result, and fewer than {LEAST_QUESTIONS} decide nothing"
    elif groups.groups < LEAST_GROUPS:
        yield (
            f"the {plural(groups.questions, 'question')} come from {plural(groups.groups, groups.unit)}, and fewer than {LEAST_GROUPS} do "
            f"not tell what another {groups.unit} would say (--cluster question: only these are meant)"
        )
    yield from evidence.doubts
    if evidence.missing and _could_turn(evidence):
        ends = f"{evidence.shown(evidence.lowest.value)} to {evidence.shown(evidence.highest.value)}"
        yield f"{plural(evidence.missing, 'question')} without a result could decide it: with them it is {ends}"


def _could_turn(evidence: PairEvidence) -> bool:
    """Whether what is missing could turn the conclusion round: of a difference, change its sign; of none, make one either way sure."""
    low, high, found = evidence.lowest, evidence.highest, _found(evidence)
    if found in ("a better", "b better"):
        ahead = 1 if found == "a better" else -1
        return sign((low if ahead > 0 else high).value or 0.0) != ahead
    return side(low.low, low.high) < 0 and side(high.low, high.high) > 0
