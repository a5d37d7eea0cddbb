"""Small tables of pairs and reports of comparisons, countable by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kgeval.comparison.results.build import build_report
from kgeval.comparison.results.inputs import ComparisonInputs, PairThreshold
from kgeval.comparison.table import PairQuestion, PairTable
from kgeval.records import (
    AlignmentCount,
    ComparisonReport,
    ComparisonVerdict,
    CorrectedRate,
    Drift,
    Estimated,
    ModelRef,
    Quantiles,
    RunManifest,
    SelfCheck,
    Stopped,
    SystemUse,
)
from kgeval.stats.thresholds import Threshold

NAN = float("nan")
ASPECTS = ("comprehensiveness", "relevance")
RUN = RunManifest(
    kgeval="0.7.0", command="kgeval compare a.jsonl b.jsonl", started="2026-11-22T10:00:00+00:00", seconds=61.5, seed=7,
    models=[ModelRef(role="judge", name="judge-x")],
)


def tabled(
    gaps: Any, *, bias: float = 0.0, repeats: int = 1, aspects: Sequence[str] = ("quality",), names: tuple[str, str] = ("A", "B"),
    asked: Sequence[PairQuestion] | None = None, positions: int = 2, words: Any = None,
    failures: Mapping[tuple[int, int], str] | None = None,
    procedure: Any = "scores",
) -> PairTable:
    """A table whose gap is `gaps` (questions, trials) in every aspect, NaN where nothing is known. `bias`: points for standing first."""
    gap = np.asarray(gaps, dtype=np.float64)
    points = np.empty((*gap.shape, positions, repeats, len(aspects), 2))
    points[..., 0] = (2.5 + gap / 2)[:, :, None, None, None]
    points[..., 1] = (2.5 - gap / 2)[:, :, None, None, None]
    for position in range(positions):
        points[:, :, position, :, :, position] += bias
    lengths = np.full((*gap.shape, 2), NAN) if words is None else np.asarray(words, dtype=np.float64)
    questions = tuple(asked or (PairQuestion(f"q{at}") for at in range(len(gap))))
    return PairTable(names[0], names[1], questions, tuple(aspects), points, lengths, None, dict(failures or {}), procedure)


def drawn(names: tuple[str, str], lead: float, seed: int, *, questions: int = 24, trials: int = 3, **more: Any) -> PairTable:
    """A table with noise: two data sets, three levels, one question discarded, one failed, one without one of its trials."""
    rng = np.random.default_rng(seed)
    gaps = np.round(rng.normal(lead, 1.0, (questions, 1)) + rng.normal(0, 0.7, (questions, trials)))
    asked = [PairQuestion(f"q{at}", ("music", "law")[at % 2], ("node", "edge", "subgraph")[at % 3]) for at in range(questions)]
    asked[0] = PairQuestion("q0", "music", "node", frozenset(range(trials)))
    gaps[0] = gaps[1] = gaps[2, 0] = NAN
    words = rng.integers(150, 200, (questions, trials, 2)).astype(float)
    failures = {(1, trial): "timeout: no reply" for trial in range(trials)} | {(2, 0): "cut: the reply was too long"}
    return tabled(gaps, names=names, asked=asked, aspects=ASPECTS, words=words, failures=failures, **more)


def texts(a: str, b: str, question: str, trial: int) -> tuple[str, str] | None:
    """Answers of which A's has a heading and a list."""
    return f"# About {question}\n\n- **first** answer of {a}\n- trial {trial}", f"Plain answer of {b} to {question}"


def calls(a: str, b: str, question: str, trial: int) -> Iterable[ComparisonVerdict]:
    """Both orders of one repeat, written once each way round."""
    for at, first in enumerate((a, b)):
        for aspect, one, other in (("comprehensiveness", 4.0, 3.0), ("relevance", 2.0, 2.0)):
            sides = {"system_a": a, "system_b": b, "score_a": one, "score_b": other, "reason_a": f"{a} names all", "reason_b": "half"}
            if at:
                sides = {"system_a": b, "system_b": a, "score_a": other, "score_b": one, "reason_a": "half", "reason_b": f"{a} names all"}
            yield ComparisonVerdict.model_validate({"question_id": question, "trial": trial, "first": first, "aspect": aspect, **sides})


def found(tables: Sequence[PairTable], **more: Any) -> ComparisonInputs:
    """What a run hands over, with texts and calls."""
    given: dict[str, Any] = {
        "run": RUN, "signature": "compare|scores|1x2x3|judge-x|5f2a", "tables": lambda: iter(tables), "seed": 7, "texts": texts,
        "question_text": lambda question: f"What is told of {question}?", "calls": calls, "drill": 3,
        "grades": {aspect: [f"{aspect}, grade {grade}" for grade in range(6)] for aspect in ASPECTS}, "settings": {"trials": 3},
    }
    return ComparisonInputs(**{**given, **more})


def sample(systems: int = 2) -> ComparisonReport:
    """A report in which every part is filled. Systems get weaker by their number."""
    names = [f"rag-{at}" for at in range(1, systems + 1)]
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    tables = [drawn(pair, 0.9 * (names.index(pair[1]) - names.index(pair[0])), at) for at, pair in enumerate(pairs)]
    again = drawn(("rag-1", "rag-1 (second run)"), 0.0, 99)
    biased = [drawn(pair, 2.0, at, positions=1, procedure="biased") for at, pair in enumerate(pairs)]
    count = AlignmentCount(
        system_a="rag-1", system_b="rag-2", n=72, equal=10, adjusted=50, forced=5, discarded=4, failed=3, attempts={"1": 41, "2": 9},
        gap_before=_words(40.0), gap_after=_words(6.0), meaning_checked=30, kept_meaning=Estimated(value=0.91, low=0.85, high=0.95),
    )
    return build_report(found(
        [*tables, again], contrast={"biased": lambda: iter(biased)}, self_check={"rag-1 (second run)": "rag-1"}, alignment=(count,),
        systems=tuple(SystemUse(system=one, answers=24, words=180.5, tokens=4071.2, seconds=3.21, known={"tokens": 23}) for one in names),
        corrected=(CorrectedRate(
            system_a="rag-1", system_b="rag-2", method="ppi++", n=700, labels=64, relative=Estimated(value=0.313), selection_p=0.417,
        ),),
        drift=Drift(
            anchors=57, n_scored=55, failures={"timeout": 2}, agreement=Estimated(value=0.811, low=0.7, high=0.89), kappa=0.617,
            compared=54, baseline_agreement=Estimated(value=0.786, low=0.66, high=0.87),
            change=Estimated(value=0.0247, low=-0.061, high=0.109), change_p=0.754, changed=0.052, changed_p=0.313,
            moved=False, outcomes={"anchor-one": [1, 1]}, marks={"anchor-one": "mark of one"},
            notes=["pairs of the baseline are left out"],
        ),
        missing={"rag-2": ["q-missing"]}, notes=("answers were read from two files",),
        thresholds=(
            PairThreshold(Threshold("relative", ">=", -1.0)),
            PairThreshold(Threshold("low", ">=", 0.999), system_a="rag-1", system_b="rag-2"),
        ),
    ))


def stopped(decision: Any = "a") -> Stopped:
    """Where the pair of the sample stopped."""
    return Stopped(
        system_a="rag-1", system_b="rag-2", questions=11, of_questions=24, calls=44, of_calls=288, low=0.113, high=0.887, tie_region=0.05,
        decision=decision,
    )


def check(value: float, low: float | None, high: float | None) -> SelfCheck:
    """An A/A check."""
    passed = None if low is None or high is None else low <= 0 <= high
    return SelfCheck(system="rag-1", relative=Estimated(value=value, low=low, high=high), n=20, passed=passed)


def _words(median: float) -> Quantiles:
    return Quantiles(mean=median + 1, p50=median, p95=median * 3, p99=median * 4, n=72)
