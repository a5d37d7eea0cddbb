"""The headline figures of a comparison: relative win rates, the judge, what the answers took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kgeval.format import chance
from kgeval.records import ComparisonReport, Estimated, PairResult

MOST_PAIRS = 60


def comparison(report: ComparisonReport) -> Iterator[dict[str, Any]]:
    """Each pair over all questions, in all aspects together and in each; then the judge and the checks of him."""
    chosen = [one for one in report.pairs if one.by == "all"]
    pairs = list(dict.fromkeys((one.system_a, one.system_b) for one in chosen))[:MOST_PAIRS]
    for one in chosen:
        if (one.system_a, one.system_b) in pairs:
            yield from _pair(one, report.signature)
    if report.ranking is not None and report.ranking.rankable:
        for ranked in report.ranking.systems:
            yield {**_figure("strength", "Strength (Bradley-Terry)", ranked.strength), "of": ranked.system, "unit": "number"}
    for judge in report.judge:
        if judge.system_a is None:
            yield {**_figure("first_wins", "Judge: the answer that stood first wins", judge.first_wins), "n": judge.calls}
    if not any(judge.system_a is None for judge in report.judge):
        for judge in report.judge[:MOST_PAIRS]:
            of = f"{judge.system_a} - {judge.system_b}"
            yield {**_figure("first_wins", "Judge: the answer that stood first wins", judge.first_wins), "n": judge.calls, "of": of}
    for check in report.self_checks:
        title = "A system against itself: relative win rate (0 is right)"
        yield {**_figure("self_check", title, check.relative), "of": check.system, "unit": "difference", "n": check.n, "n_scored": check.n}
    if report.drift is not None:
        made = _figure("anchor_agreement", "Judge: agreement with people on the anchors", report.drift.agreement)
        yield {**made, "n": report.drift.anchors, "n_scored": report.drift.n_scored, "better": "higher"}


def _pair(one: PairResult, signature: str) -> Iterator[dict[str, Any]]:
    of = f"{one.system_a} - {one.system_b}"
    scope = ", mean over data sets" if one.mean_of_datasets else ""
    ending = ("" if one.aspect == "overall" else f"_{one.aspect}") + ("_of_datasets" if one.mean_of_datasets else "")
    shared = {"of": of, "n": one.n, "n_scored": one.n_scored, "signature": signature, "part": "comparison"}
    yield {
        **shared, **_figure(f"relative_win_rate{ending}", f"Relative win rate, {one.aspect}{scope}", one.relative), "unit": "difference",
        "note": f"p {chance(one.p_holm)} (Holm)" if one.p_holm is not None else None, "better": "higher",
    }
    if one.aspect == "overall" and not one.mean_of_datasets and one.rates is not None:
        for name in ("win", "tie", "loss"):
            yield {**shared, "name": name, "title": f"Questions: {name}", "value": getattr(one.rates, name)}


def _figure(name: str, title: str, one: Estimated) -> dict[str, Any]:
    return {"part": "comparison", "name": name, "title": title, "value": one.value, "low": one.low, "high": one.high}
