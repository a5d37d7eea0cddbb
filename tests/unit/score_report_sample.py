"""Score reports for tests: one with everything in it, one with nothing, one as large as they come."""

from __future__ import annotations

import random
from typing import Any

from kgeval.records import (
    LEVELS_OF_X,
    AuditJoin,
    BothMeans,
    Conclusion,
    CostSummary,
    DrawnGroups,
    Estimated,
    Gate,
    GroupCost,
    GroupGain,
    GroupSummary,
    InputFile,
    LeaderRow,
    Mean,
    MetricInfo,
    MetricSummary,
    ModelRef,
    ModelUse,
    Outcome,
    PairedGain,
    Quantiles,
    ReasoningSummary,
    Repeats,
    RunManifest,
    ScoreReport,
    Spread,
    SystemCoverage,
    SystemInfo,
    WorstRow,
)

SYSTEMS = ("vector-rag", "graph-rag", "closed-book")
QUALITY = {"vector-rag": 0.58, "graph-rag": 0.71, "closed-book": 0.34}
METRICS = (
    "answer_accuracy", "factual_correctness", "rouge_l_compat", "evidence_coverage", "faithfulness", "extrinsic_hallucination",
    "context_relevance",
)
LOWER = ("extrinsic_hallucination",)
ONLY = {  # GraphRAG-Bench: which types a metric is for
    "rouge_l_compat": LEVELS_OF_X[:2], "evidence_coverage": LEVELS_OF_X[2:], "faithfulness": LEVELS_OF_X[3:],
}
SHIFT = {"rouge_l_compat": -0.3, "faithfulness": 0.1, "context_relevance": -0.05}
DOCUMENTS = ("The Harbour Log", "Letters of A. Varne", "The Packet Line: a history")


def sample() -> ScoreReport:
    """Three systems, four levels, seven metrics, failures, gates, costs, chains, the audit: all figures are made up."""
    rng = random.Random(7)
    summaries = [summary(rng, system, metric) for metric in METRICS for system in SYSTEMS]
    return ScoreReport(
        run=run(), systems=[
            SystemInfo(system="vector-rag", answers=96, questions_missing=4, trials=3),
            SystemInfo(system="graph-rag", answers=100, errors=2, empty=1, trials=3, graph=True),
            SystemInfo(system="closed-book", answers=100, trials=3),
        ],
        metrics=[info(metric) for metric in METRICS], summaries=summaries, groups=groups(rng, summaries), leaderboard=leaders(),
        costs=[cost(system, factor) for system, factor in zip(SYSTEMS, (1.0, 5.8, 0.2), strict=True)],
        reasoning=[chains(rng, system) for system in SYSTEMS], gains=differences(), gains_by_group=by_group(),
        costs_by_group=costs_by_group(), joined=joined(rng), worst=worst(),
        gates=gates(summaries),
        notes=["4 questions have no answer of vector-rag", "context_relevance has no meaning for closed-book: it retrieves nothing"],
    )


def empty() -> ScoreReport:
    """A run over no rows."""
    return ScoreReport(run=RunManifest(kgeval="0.5.0", command="kgeval score", started="2025-11-20T10:00:00Z", seconds=0.1))


def one_row() -> ScoreReport:
    """One system, one metric, one row: no interval."""
    mean = Mean(n=1, n_scored=1, mean=0.5)
    return empty().model_copy(update={
        "systems": [SystemInfo(system="only", answers=1)], "metrics": [info("exact_match")],
        "summaries": [MetricSummary(system="only", metric="exact_match", overall=mean)],
    })


def outcome(
    conclusion: Conclusion = "a better", *because: str, systems: tuple[str, str] = ("A", "B"), metric: str = "m", value: float = 0.1,
) -> Outcome:
    """What is concluded of two systems."""
    return Outcome(
        system_a=systems[0], system_b=systems[1], of=metric, conclusion=conclusion, because=list(because),
        figure=Estimated(value=value, low=value - 0.05, high=value + 0.05), groups=DrawnGroups(groups=40, questions=40, effective=40.0),
        coverage=[SystemCoverage(system=name, questions=40) for name in systems],
    )


def two(
    first: Mean, second: Mean, *outcomes: Outcome, gains: tuple[PairedGain, ...] = (), better: str = "higher", metric: str = "m",
) -> ScoreReport:
    """Two systems by one metric."""
    info = MetricInfo.model_validate({
        "metric": metric, "summary": "s", "definition": "d", "source": "x", "signature": "m@1:0", "better": better,
    })
    return empty().model_copy(update={
        "systems": [SystemInfo(system="A", answers=40), SystemInfo(system="B", answers=40)], "metrics": [info],
        "gains": list(gains), "outcomes": list(outcomes),
        "summaries": [MetricSummary(system=name, metric=metric, overall=mean) for name, mean in (("A", first), ("B", second))],
    })


def told(value: float, low: float, high: float, **more: Any) -> Mean:
    """A mean of forty questions."""
    return Mean.model_validate({"n": 40, "n_scored": 40, "mean": value, "low": low, "high": high, **more})


def large() -> ScoreReport:
    """30 metrics, 6 systems, 100 documents, 4 levels, and 30 long worst rows a system."""
    rng = random.Random(1)
    systems, metrics = [f"system-{at} with a name that is not short" for at in range(6)], [f"metric_number_{at}" for at in range(30)]
    pairs = [(system, metric) for system in systems for metric in metrics]
    values: list[tuple[Any, str]] = [("document", f"document {at}") for at in range(100)] + [("level", level) for level in LEVELS_OF_X]
    return empty().model_copy(update={
        "systems": [SystemInfo(system=system, answers=1_000) for system in systems], "metrics": [info(metric) for metric in metrics],
        "summaries": [MetricSummary(system=s, metric=m, overall=mean(rng, 0.6, 1_000, failed=3), spread=spread(rng)) for s, m in pairs],
        "groups": [
            GroupSummary(system=s, metric=m, by=by, value=value, overall=mean(rng, 0.6, 10)) for s, m in pairs for by, value in values
        ],
        "worst": [
            WorstRow(system=s, metric="metric_number_0", question_id=f"q{at}", value=0, question="x " * 2_000, answer="y " * 5_000)
            for s in systems for at in range(30)
        ],
    })


def mean(rng: random.Random, centre: float, n: int, *, failed: int = 0, lacking: int = 0) -> Mean:
    """A mean of n questions near the centre, with an interval of a width that fits n."""
    value = min(0.97, max(0.02, centre + rng.uniform(-0.03, 0.03)))
    scored = n - failed - lacking
    if scored < 1:
        return Mean(n=n, n_scored=0, not_applicable=lacking, failures={"timeout": failed} if failed else {})
    half = 0.25 * 1.96 / scored**0.5
    causes = {"timeout": failed - failed // 3, "unparsable": failed // 3} if failed else {}
    return Mean(
        n=n, n_scored=scored, not_applicable=lacking, mean=value, low=max(0.0, value - half), high=min(1.0, value + half),
        bound_low=value * scored / (scored + failed), bound_high=(value * scored + failed) / (scored + failed), sd=0.25,
        failures={cause: count for cause, count in causes.items() if count},
    )


def centre(system: str, metric: str) -> float:
    quality = QUALITY[system] + SHIFT.get(metric, 0.0)
    return 0.75 - quality if metric in LOWER else quality


def summary(rng: random.Random, system: str, metric: str) -> MetricSummary:
    n, lacking = 100, 100 if (metric, system) == ("context_relevance", "closed-book") else 100 - 25 * len(ONLY.get(metric, LEVELS_OF_X))
    failed = {"vector-rag": 4, "graph-rag": 2}.get(system, 0) if metric in ("factual_correctness", "faithfulness") else 0
    overall = mean(rng, centre(system, metric), n, failed=failed, lacking=lacking)
    value = overall.mean
    runs = None if value is None else Repeats(runs=3, means=[value - 0.004, value, value + 0.006], sd=0.005, se=0.003)
    return MetricSummary(
        system=system, metric=metric, overall=overall, by_type_mean=value, repeats=runs if metric == "answer_accuracy" else None,
        spread=spread(rng, value), aspects={"precision": 0.71234, "recall": 0.6} if metric == "factual_correctness" else {},
    )


def spread(rng: random.Random, value: float | None = 0.6) -> Spread:
    if value is None:
        return Spread()
    drawn = sorted(min(1.0, max(0.0, rng.gauss(value, 0.2))) for _ in range(96))
    bins = [0] * 20
    for one in drawn:
        bins[min(19, int(one * 20))] += 1
    return Spread(minimum=drawn[0], q25=drawn[24], median=drawn[48], q75=drawn[72], maximum=drawn[-1], bins=bins)


def groups(rng: random.Random, summaries: list[MetricSummary]) -> list[GroupSummary]:
    found = [GroupSummary(system=one.system, metric=one.metric, by="dataset", value="novel", overall=one.overall) for one in summaries]
    parts: list[tuple[Any, str, int, float]] = [("hops", "1", 60, 0.05), ("hops", "2", 30, -0.05), ("hops", "3+", 10, -0.15)]
    parts += [("document", name, n, 0.0) for name, n in zip(DOCUMENTS, (50, 30, 20), strict=True)]
    for metric in METRICS:
        levels = ONLY.get(metric, LEVELS_OF_X)
        for system in SYSTEMS:
            if (metric, system) == ("context_relevance", "closed-book"):
                continue
            for by, value, n, shift in [*(("level", level, 25, 0.0) for level in levels), *parts]:
                near = centre(system, metric) + shift
                found.append(GroupSummary(system=system, metric=metric, by=by, value=value, overall=mean(rng, near, n)))
    return found


def leaders() -> list[LeaderRow]:
    rows = []
    for rank, system in enumerate(("graph-rag", "vector-rag", "closed-book"), 1):
        levels = {level: QUALITY[system] + shift for level, shift in zip(LEVELS_OF_X, (0.06, 0.02, -0.01, -0.05), strict=True)}
        average = sum(levels.values()) / 4
        rows.append(LeaderRow(rank=rank, system=system, dataset="novel", metric="answer_accuracy", average=average, levels=levels))
    return rows


def cost(system: str, factor: float) -> CostSummary:
    totals = {"input_tokens": 650_000 * factor, "output_tokens": 160_000.0 * factor, "cost": 1.25 * factor, "latency_s": 200 * factor}
    totals["total_tokens"] = totals["input_tokens"] + totals["output_tokens"]
    seconds = Quantiles(n=96, mean=2.0 * factor, p50=1.8 * factor, p95=4.4 * factor, p99=6.1 * factor)
    known = dict.fromkeys(totals, 100) | ({"cost": 60} if system == "graph-rag" else {})
    return CostSummary(
        system=system, n=100, known=known, totals=totals, means={name: value / 100 for name, value in totals.items()}, latency_s=seconds,
        stages={"retrieval": seconds, "generate": seconds}, by_hops={"1": seconds, "2": seconds}, baseline="vector-rag",
        prompt_tokens_by_level=dict.fromkeys(LEVELS_OF_X, 6_500 * factor),
        factors=dict.fromkeys((*totals, "retrieval"), factor) if factor != 1 else {},
        quality_per_1k_tokens={"answer_accuracy": 0.07 / factor},
    )


def chains(rng: random.Random, system: str) -> ReasoningSummary:
    near = QUALITY[system]
    return ReasoningSummary(
        system=system, accuracy_metric="answer_accuracy", questions=40, with_wrong_step=14, wrong_step_answers=12, wrong_step_share=0.35,
        error_propagation=0.75, lucky=0.25,
        accuracy_by_hop={hop: mean(rng, near - 0.05 * at, n) for at, (hop, n) in enumerate((("1", 60), ("2", 30), ("3+", 10)))},
        stepwise_accuracy=mean(rng, near, 40), by_relation={"CAPTAIN_OF": mean(rng, near, 20)}, by_position={"1": mean(rng, near, 40)},
    )


def differences() -> list[PairedGain]:
    return [
        PairedGain(system="graph-rag", baseline="vector-rag", metric="answer_accuracy", n=94, differ=94, mean=0.128, low=0.071, high=0.184,
                   conclusion="a better"),
        PairedGain(system="graph-rag", baseline="closed-book", metric="answer_accuracy", n=98, differ=98, mean=0.37, low=0.31, high=0.43,
                   conclusion="a better"),
        PairedGain(system="graph-rag", baseline="vector-rag", metric="extrinsic_hallucination", n=94, differ=94,
                   mean=-0.13, low=-0.19, high=-0.06, conclusion="a better"),
        PairedGain(system="graph-rag", baseline="vector-rag", metric="rouge_l_compat", n=47, differ=47, mean=0.01, low=-0.03, high=0.05,
                   conclusion="no difference found"),
    ]


def by_group() -> list[GroupGain]:
    """The graph wins at one type, and nothing can be said at another; with hops, a dataset, and a second metric."""
    pair: dict[str, Any] = {"system": "graph-rag", "baseline": "vector-rag", "metric": "answer_accuracy"}
    known = {"sd": 0.2, "detectable": 0.15}
    wins: dict[str, Any] = known | {"mean": 0.18, "low": 0.1, "high": 0.26, "p": 0.001, "p_holm": 0.006, "effect": 0.9}
    wins |= {"conclusion": "a better"}
    open_: dict[str, Any] = known | {"mean": 0.02, "low": -0.06, "high": 0.1, "p": 0.6, "p_holm": 1.0, "effect": 0.1}
    rows = [
        GroupGain(**pair, **open_, by="level", value="fact_retrieval", n=25, differ=20),
        GroupGain(**pair, **wins, by="level", value="complex_reasoning", n=25, differ=25),
        GroupGain(**pair, **open_, by="hops", value="1", n=60, differ=50),
        GroupGain(**pair, **wins, by="hops", value="3+", n=10, differ=9, mcnemar_p=0.02, only_system=8, only_baseline=1),
        GroupGain(**pair, **open_, by="level", value="fact_retrieval", dataset="novel", n=12, differ=11),
    ]
    return [*rows, rows[0].model_copy(update={"metric": "rouge_l_compat"})]


def costs_by_group() -> list[GroupCost]:
    pair = {"system": "graph-rag", "baseline": "vector-rag"}
    tokens, seconds = BothMeans(n=25, system=5_800, baseline=1_000), BothMeans(n=24, system=3.1, baseline=1.2)
    relevance = BothMeans(n=25, system=0.7, baseline=0.6)
    return [
        GroupCost(**pair, by="level", value=level, prompt_tokens=tokens, seconds=seconds, relevance=relevance)
        for level in LEVELS_OF_X[:2]
    ]


def joined(rng: random.Random) -> list[AuditJoin]:
    return [
        AuditJoin(
            system="graph-rag", metric="answer_accuracy", rule=rule, touched=mean(rng, 0.55, n), untouched=mean(rng, 0.75, 100 - n),
            difference=-0.2, low=-0.31, high=-0.08,
        )
        for rule, n in ((None, 30), ("duplicate-name", 14))
    ]


def worst() -> list[WorstRow]:
    return [
        WorstRow(
            system=system, metric="answer_accuracy", question_id=f"q{at}", value=0.04 * at,
            question=f"Who captained the North Light on voyage {at + 1}?",
            answer="Mary Holt, as the log of the harbour says.", reference="Jonas Okafor",
            reasons=["0 of 2 claims of the answer are supported by the reference", "1 of 1 claims of the reference is missing"],
        )
        for system in SYSTEMS[:2] for at in range(4)
    ]


def gates(summaries: list[MetricSummary]) -> list[Gate]:
    values = {(one.system, one.metric): one.overall.mean for one in summaries}
    failed = "2 of its 100 questions failed, and could decide it"
    senseless = "the metric has no meaning for any of 100 questions; a gate SYSTEM:METRIC asks one system only"
    wanted: list[tuple[str, str, float, bool | None, str | None]] = [
        ("vector-rag", "answer_accuracy", 0.6, False, None), ("graph-rag", "answer_accuracy", 0.6, True, None),
        ("graph-rag", "faithfulness", 0.8, None, failed), ("closed-book", "context_relevance", 0.5, None, senseless),
    ]
    return [
        Gate(name=metric, of=system, limit=f">= {limit:.15g}", value=values[system, metric], met=met, reason=reason)
        for system, metric, limit, met, reason in wanted
    ]


def info(metric: str) -> MetricInfo:
    return MetricInfo(
        metric=metric, summary=f"What {metric.replace('_', ' ')} says in one line", definition="The formula in words.", source="[X eq. 5]",
        better="lower" if metric in LOWER else "higher", signature=f"{metric}@1:0123456789ab",
        parameters={"judge": {"name": "judge-1"}, "tau": 0.7},
    )


def run() -> RunManifest:
    return RunManifest(
        kgeval="0.5.0", command="kgeval score vector-rag.jsonl graph-rag.jsonl closed-book.jsonl --metrics graphrag-bench",
        inputs=[InputFile(path="vector-rag.jsonl", sha256="0" * 64, bytes=1_000)], seed=0, started="2025-11-20T10:00:00Z", seconds=212.3,
        models=[ModelRef(role="judge", name="judge-1", parameters={"temperature": 0}), ModelRef(role="embedding", name="small-embedder")],
        model_use=[
            ModelUse(stage="claims", model="judge-1", calls=600, from_journal=12, input_tokens=810_000, output_tokens=52_000, cost=0.48),
        ],
    )
