"""The sentences of a comparison: what is said in every case, and nothing that the figures do not say."""

from __future__ import annotations

from typing import Any

import pytest
from comparison_sample import RUN, found, stopped, tabled

from kgeval.comparison.results.build import build_report
from kgeval.records import (
    ComparisonReport,
    DrawnGroups,
    Estimated,
    Outcome,
    PairResult,
    Ranked,
    Ranking,
    Rates,
    Stopped,
    SystemCoverage,
)
from kgeval.reports.views import pairs as shown
from kgeval.reports.views.pairs import verdict
from kgeval.stats.outcome import PairEvidence, conclude


def one(**more: Any) -> PairResult:
    given: dict[str, Any] = {
        "system_a": "A", "system_b": "B", "n": 100, "n_scored": 90, "rates": Rates(win=0.5, tie=0.2, loss=0.3),
        "relative": Estimated(value=0.2, low=0.05, high=0.35), "gap": Estimated(value=0.4, low=0.1, high=0.7), "p": 0.01, "p_holm": 0.02,
        "detectable": 0.21,
    }
    return PairResult.model_validate({**given, **more})


def sure(decision: str, *, questions: int = 40, low: float = 0.06, high: float = 0.34) -> Stopped:
    return stopped(decision).model_copy(update={
        "system_a": "A", "system_b": "B", "questions": questions, "of_questions": 100, "low": low, "high": high,
    })


def settled(**more: Any) -> PairResult:
    """As a stopped pair is reported: the always-valid interval and no p."""
    relative = Estimated(value=0.2, low=0.06, high=0.34)
    return one(**{"p": None, "p_holm": None, "detectable": None, "always_valid": True, "relative": relative, **more})


def outcome(pair: PairResult, stop: Stopped | None = None, **more: Any) -> Outcome:
    """What is concluded of a pair whose judge is in order and whose systems answered everything."""
    region = stop.tie_region if stop else 0.0
    ends = Estimated(value=0.0 if pair.relative.value is None else pair.relative.value)
    given: dict[str, Any] = {
        "pair": (pair.system_a, pair.system_b), "of": "relative win rate", "figure": pair.relative, "p": pair.p_holm,
        "groups": DrawnGroups(groups=pair.n_scored, questions=pair.n_scored), "missing": 0, "lowest": ends, "highest": ends,
        "coverage": tuple(SystemCoverage(system=name, questions=pair.n) for name in (pair.system_a, pair.system_b)),
        "within": region, "beyond": region,
    }
    return conclude(PairEvidence(**{**given, **more}))


def sentence(pair: PairResult, stop: Stopped | None = None, **more: Any) -> str:
    return shown.sentence(pair, outcome(pair, stop, **more), stop)


def test_a_difference_is_told_with_its_size_and_how_sure_it_is() -> None:
    assert sentence(one()) == (
        "A is better than B: it wins 50.0 % and loses 30.0 % of 90 questions, 20.0 % are ties; relative win rate +20.0 %, "
        "95% CI [+5.0 %, +35.0 %]."
    )


def test_a_loss_is_the_win_of_the_other_seen_from_its_side() -> None:
    turned = shown.swap_sides(one())
    assert (turned.system_a, turned.relative.value) == ("B", -0.2)
    assert sentence(turned) == sentence(one())


def test_no_difference_tells_what_the_sample_would_have_found_and_how_many_more_questions_it_takes() -> None:
    told = sentence(one(p_holm=0.06, p=0.06, needed=130))
    assert told == (
        "No difference found between A and B: relative win rate +20.0 %, 95% CI [+5.0 %, +35.0 %]. 90 questions show a difference of "
        "21.0 % or more (with 80 % power); a smaller one may be there. If it is as large as it looks here, about 40 questions more would "
        "show it."
    )
    assert "as large as it looks" not in sentence(one(p_holm=0.06, p=0.06, needed=90))
    assert sentence(one(p_holm=0.06, p=0.06, detectable=None)).endswith("+35.0 %]. A difference may be there all the same.")
    assert "equal" not in told


def test_a_p_that_only_the_correction_lifts_is_named() -> None:
    told = sentence(one(p=0.01, p_holm=0.06))
    assert "Alone it would count as found (p = 0.010), but not among all pairs of this comparison (p = 0.060, Holm)." in told


def test_nothing_but_ties_is_no_difference() -> None:
    ties = one(rates=Rates(win=0, tie=1, loss=0), relative=Estimated(value=0, low=0, high=0), p_holm=1.0, detectable=None)
    assert sentence(ties) == "No difference found between A and B: all of 90 questions are ties."


def test_nothing_scored_is_no_verdict() -> None:
    none = one(n_scored=0, rates=None, relative=Estimated(), gap=Estimated(), p=None, p_holm=None, discarded=60, failures={"timeout": 40})
    assert sentence(none) == "Nothing can be told of A and B: none of 100 questions has a result (60 discarded, timeout 40)."


def test_under_ten_questions_nobody_is_better_whatever_p_says() -> None:
    assert sentence(one(n_scored=9, p_holm=0.004)) == (
        "Not decidable between A and B: only 9 questions have a result, and fewer than 10 decide nothing. On what there is: relative win "
        "rate +20.0 %, 95% CI [+5.0 %, +35.0 %]."
    )
    assert "only one question has a result" in sentence(one(n_scored=1, p_holm=None, relative=Estimated(value=1)))
    assert "is better" in sentence(one(n_scored=10, p_holm=0.004))


def test_few_documents_decide_nothing_and_many_questions_of_them_are_told() -> None:
    few = sentence(one(), groups=DrawnGroups(unit="document", groups=5, questions=90, effective=7.4))
    assert few.startswith("Not decidable between A and B: the 90 questions come from 5 documents, and fewer than 6 do not tell what")
    many = sentence(one(), groups=DrawnGroups(unit="document", groups=12, questions=90, effective=31.2))
    assert "of 90 questions from 12 documents (as sure as 31 independent questions)" in many


def test_who_gave_no_answer_stands_in_the_headline() -> None:
    silent = (SystemCoverage(system="A", questions=100, empty=57, errors=3), SystemCoverage(system="B", questions=100))
    assert sentence(one(), coverage=silent).endswith(" A gave no answer to 60 of 100 questions (3 errors); B answered all.")


def test_what_is_missing_and_could_turn_a_difference_leaves_it_open() -> None:
    gone = {"missing": 10, "lowest": Estimated(value=-0.02), "highest": Estimated(value=0.28)}
    assert sentence(one(), **gone) == (
        "Not decidable between A and B: 10 questions without a result could decide it: with them it is -2.0 % to +28.0 %. On what there "
        "is: relative win rate +20.0 %, 95% CI [+5.0 %, +35.0 %]."
    )
    assert "is better" in sentence(one(), missing=10, lowest=Estimated(value=0.1), highest=Estimated(value=0.28))


def test_a_judge_that_sees_nothing_cannot_find_no_difference_but_a_difference_it_can() -> None:
    blind = {"blind": ["it sees none"]}
    assert sentence(one(p_holm=0.5), **blind).startswith("Not decidable between A and B: it sees none.")
    assert "is better" in sentence(one(), **blind)
    assert sentence(one(), doubts=["one grade"]).startswith("Not decidable between A and B: one grade.")


def test_where_the_run_stopped_when_sure_the_sequence_decides_and_no_p_is_named() -> None:
    won = sentence(settled(relative=Estimated(value=0.2, low=0.06, high=0.34)), sure("a"))
    assert won.startswith("A is better than B") and won.endswith(
        "relative win rate +20.0 %, 95% CI [+6.0 %, +34.0 %], always valid; the comparison stopped when it was sure, after 40 questions."
    )
    back = sentence(settled(rates=Rates(win=0.3, tie=0.2, loss=0.5), relative=Estimated(value=-0.2, low=-0.34, high=-0.06)), sure("b"))
    assert back.startswith("B is better than A: it wins 50.0 %") and "95% CI [+6.0 %, +34.0 %], always valid" in back
    equal = sentence(settled(relative=Estimated(value=0.01, low=-0.04, high=0.045)), sure("equal"))
    assert equal == (
        "A and B are equal within 5.0 %: relative win rate +1.0 %, 95% CI [-4.0 %, +4.5 %], always valid; the comparison stopped when it "
        "was sure, after 40 questions."
    )
    still = sentence(settled(relative=Estimated(value=0.2, low=-0.02, high=0.4)), sure("open", questions=100))
    assert still == (
        "Not decided between A and B: relative win rate +20.0 %, 95% CI [-2.0 %, +40.0 %], always valid, after 100 questions; neither a "
        "winner nor equality within 5.0 % is sure."
    )
    assert "after 40 of 100 questions" in sentence(settled(relative=Estimated(value=0.2, low=-0.02, high=0.4)), sure("open"))
    assert not any(" p " in told or "Holm" in told for told in (won, back, equal, still))


# Several systems.


def ranked(*names: str, rankable: bool = True, reason: str | None = None) -> Ranking:
    return Ranking(rankable=rankable, reason=reason, systems=[Ranked(system=name, rank=at) for at, name in enumerate(names, start=1)])


def several(*pairs: PairResult, **more: Any) -> str:
    stops = {(stop.system_a, stop.system_b): stop for stop in more.get("stopped", [])}
    given: dict[str, Any] = {
        "run": RUN, "signature": "s", "pairs": list(pairs), "ranking": ranked("A", "B", "C"), **more,
        "outcomes": [outcome(pair, stops.get((pair.system_a, pair.system_b))) for pair in pairs],
    }
    told = verdict(shown.view_of(ComparisonReport(**given)))[0]
    assert told.endswith(" Judge: judge-x."), "whose verdict it is stands in its first line"
    return told.removesuffix(" Judge: judge-x.")


def pairs_of(first: dict[str, Any], second: dict[str, Any]) -> tuple[PairResult, ...]:
    """A - B, A - C and an open B - C."""
    return one(**first), one(system_b="C", **second), one(system_a="B", system_b="C", p_holm=0.9)


OPEN: dict[str, Any] = {"p_holm": 0.5}
LOST: dict[str, Any] = {"relative": Estimated(value=-0.2, low=-0.35, high=-0.05), "rates": Rates(win=0.3, tie=0.2, loss=0.5)}
NONE: dict[str, Any] = {"rates": None, "relative": Estimated(), "n_scored": 0, "p_holm": None}


def test_a_leader_that_beats_all_is_named_rankable_or_not() -> None:
    told = "3 systems, 3 pairs: A is better than every other system."
    assert several(*pairs_of({}, {})) == told
    assert several(*pairs_of({}, {}), ranking=ranked("A", "B", "C", rankable=False, reason="A never loses")) == told


def test_a_leader_is_not_said_to_beat_those_that_it_was_not_found_to_beat() -> None:
    lead = "3 systems, 3 pairs: A has the highest strength, but "
    assert several(*pairs_of(OPEN, {})) == f"{lead}it is not found to be better than B."
    assert several(*pairs_of(OPEN, OPEN)) == f"{lead}it is not found to be better than B and C."
    assert several(*pairs_of({"n_scored": 4}, {})) == f"{lead}it is not decidable against B."
    assert several(*pairs_of(NONE, OPEN)) == f"{lead}it is not found to be better than C; it is not compared with B."
    assert several(*pairs_of(LOST, {})) == f"{lead}loses to B."


def test_a_circle_is_called_one() -> None:
    circle = one(), one(system_a="B", system_b="C"), one(system_a="C", system_b="A")
    assert several(*circle) == (
        "3 systems, 3 pairs: a circle, so they have no order: A is better than B, B is better than C and C is better than A."
    )


def test_stopped_pairs_decide_who_leads_either_way_round() -> None:
    flat = settled()
    back = shown.swap_sides(settled(system_b="C"))
    stops = [sure("a"), sure("b").model_copy(update={"system_a": "C", "system_b": "A"})]
    assert several(flat, back, stopped=stops) == "3 systems, 2 pairs: A is better than every other system."
    stops[1] = sure("equal").model_copy(update={"system_a": "C", "system_b": "A"})
    back = shown.swap_sides(settled(system_b="C", relative=Estimated(value=0.01, low=-0.04, high=0.045)))
    assert several(flat, back, stopped=stops).endswith("but it is equal, within the tie region, to C.")


def test_systems_that_cannot_be_ranked_are_not() -> None:
    reason = "nobody beats anybody"
    told = several(*pairs_of(OPEN, OPEN), ranking=ranked("A", "B", "C", rankable=False, reason=reason))
    assert told == f"3 systems, 3 pairs: they cannot be ranked ({reason})."
    assert several(*pairs_of(OPEN, OPEN), ranking=None).endswith("they cannot be ranked (there is no ranking).")


def test_without_a_single_result_nobody_leads() -> None:
    nothing = [one(system_a=a, system_b=b, **NONE) for a, b in (("A", "B"), ("A", "C"), ("B", "C"))]
    assert several(*nothing) == "3 systems, 3 pairs: nothing can be told of their order, no pair has a result."
    assert verdict(shown.view_of(ComparisonReport(run=RUN, signature="s"))) == ["There is no pair of systems in this report."]


@pytest.mark.parametrize("wins", [3, 9])
def test_a_system_that_always_wins_few_questions_is_not_called_better(wins: int) -> None:
    report = build_report(found([tabled([[1]] * wins)]))
    told = verdict(shown.view_of(report))[0]
    assert told.startswith(f"Not decidable between A and B: only {wins} questions have a result, and fewer than 10 decide nothing")
