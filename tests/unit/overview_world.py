"""Small reports of every kind for the tests of the one report: examples of the schemas, and hand-made ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kgeval.manifest import Started
from kgeval.overview.build import Demands, overview
from kgeval.overview.sources import read_sources
from kgeval.records import (
    AuditReport,
    Example,
    Finding,
    Gate,
    GraphRef,
    Layout,
    Mean,
    MetricInfo,
    MetricSummary,
    OverviewReport,
    Record,
    RunManifest,
    ScoreReport,
    SystemInfo,
)
from kgeval.reports.summaries import summary_of

EXAMPLES = Path(__file__).resolve().parents[2] / "schemas" / "examples"
KIND_FILES = {
    "build": "index-record/valid/harbour.json", "audit": "audit-report/valid/small.json",
    "completeness": "completeness-report/valid/harbour.json", "accuracy": "accuracy-report/valid/harbour.json",
    "questions": "generation-report/valid/two-kinds.json", "question-stats": "question-stats/valid/two-questions.json",
    "classification": "classification/valid/one-of-two.json", "check": "check-report/valid/two-sets.json",
    "coverage": "coverage-report/valid/one-set.json", "answers": "answer-report/valid/two-systems.json",
    "scores": "score-report/valid/harbour.json", "sensitivity": "sensitivity-report/valid/one-metric.json",
    "contamination": "contamination-report/valid/ten-questions.json", "comparison": "comparison-report/valid/two-systems.json",
    "matrix": "crossed-report/valid/two-data-sets.json", "agreement": "agreement-report/valid/one-aspect.json",
    "metric-matrix": "matrix-report/valid/one-group.json", "stats": "stats-report/valid/paired.json",
    "simulation": "simulation-report/valid/one-world.json", "load": "load-report/valid/two-systems.json",
}


def example(kind: str) -> Path:
    return EXAMPLES / KIND_FILES[kind]


def manifest(command: str = "score", *, kgeval: str = "1.0", exit_code: int = 0, at: int = 0, **more: Any) -> RunManifest:
    return RunManifest(kgeval=kgeval, command=command, started=f"2026-01-01T00:00:{at:02}+00:00", seconds=1.0, exit_code=exit_code, **more)


def mean(value: float | None, low: float | None = None, high: float | None = None, *, n: int = 100) -> Mean:
    failures = {} if value is not None else {"timeout": n}
    return Mean(n=n, n_scored=0 if value is None else n, mean=value, low=low, high=high, failures=failures)


def scored(values: dict[tuple[str, str], Mean], *, signature: str = "1", run: RunManifest | None = None, **more: Any) -> ScoreReport:
    """A score report: (system, metric) -> mean. `hallucination` is better when lower."""
    systems, metrics = (list(dict.fromkeys(key[at] for key in values)) for at in (0, 1))
    return ScoreReport(
        run=run or manifest(), systems=[SystemInfo(system=name, answers=100) for name in systems],
        metrics=[
            MetricInfo(
                metric=name, summary="", definition="", source="", signature=f"{name}@{signature}",
                better="lower" if "hallucination" in name else "higher",
            )
            for name in metrics
        ],
        summaries=[MetricSummary(system=system, metric=metric, overall=one) for (system, metric), one in values.items()], **more,
    )


def finding(rule_id: str, count: int | None, *, severity: Any = "error", names: tuple[str, ...] = (), **more: Any) -> Finding:
    status = more.pop("status", "failed" if count else "passed")
    shares = {} if count is None else {"count": count, "total": 100, "share": count / 100}
    sample = [Example(items=[GraphRef(element_id=f"4:{at}", key=name.lower(), name=name, type="Person")]) for at, name in enumerate(names)]
    return Finding(
        rule_id=rule_id, group=more.pop("group", "names"), status=status, severity=severity, title=f"title of {rule_id}", examples=sample,
        **shares, **more,
    )


def audited(*findings: Finding, run: RunManifest | None = None, **more: Any) -> AuditReport:
    return AuditReport(
        run=run or manifest("audit"), layout=Layout(name="kgeval"), structure={"entities": 100, "relations": 300}, findings=list(findings),
        **{"graph": "g", **more},
    )


def gate(system: str, metric: str, limit: float, value: float | None, met: bool | None) -> Gate:
    return Gate(name=metric, of=system, limit=f">= {limit:.15g}", value=value, met=met)


def wrote(folder: Path, **reports: Record) -> Path:
    """A folder with each report as name.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, report in reports.items():
        (folder / f"{name}.json").write_text(json.dumps(report.model_dump(mode="json")), encoding="utf-8")
    return folder


def whole(*paths: Path, baseline: Path | None = None, **demands: Any) -> OverviewReport:
    """The report over these runs."""
    before = read_sources([baseline]) if baseline is not None else None
    return overview(read_sources(paths), Started("report", {}).manifest(), Demands(**demands), summary_of, baseline=before)
