"""kgeval evaluates knowledge graphs stored in Neo4j, and the GraphRAG systems built on them.

    import kgeval
    result = kgeval.audit(driver, graph="novels", fail_on="error")
    result.save("report.html")
    result.raise_for_gates()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kgeval.config import AuditOptions, Criterion
    from kgeval.errors import GateError, KgevalError
    from kgeval.metrics.own import MetricRow, metric
    from kgeval.records import AuditReport
    from kgeval.workflows.agree import AgreementResult
    from kgeval.workflows.answer import AnswerPlan, AnswersResult
    from kgeval.workflows.api import agree, answer, audit, build, compare, connect, import_graph, report, score
    from kgeval.workflows.audit import AuditPlan, AuditResult
    from kgeval.workflows.audit_several import GraphsResult
    from kgeval.workflows.build import BuildPlan, BuildResult
    from kgeval.workflows.compare import ComparePlan, CompareResult
    from kgeval.workflows.imports import ImportResult
    from kgeval.workflows.report import ReportResult
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.session import Session

# name -> the module it comes from; loaded when it is asked for, so that `import kgeval` stays fast
_PUBLIC = {
    **dict.fromkeys(("AuditOptions", "Criterion"), "kgeval.config"),
    **dict.fromkeys(("GateError", "KgevalError"), "kgeval.errors"),
    **dict.fromkeys(("MetricRow", "metric"), "kgeval.metrics.own"),
    "AuditReport": "kgeval.records",
    "AgreementResult": "kgeval.workflows.agree",
    **dict.fromkeys(("AnswerPlan", "AnswersResult"), "kgeval.workflows.answer"),
    **dict.fromkeys((
        "agree", "answer", "audit", "build", "compare", "connect", "import_graph", "report", "score",
    ), "kgeval.workflows.api"),
    **dict.fromkeys(("AuditPlan", "AuditResult"), "kgeval.workflows.audit"),
    "GraphsResult": "kgeval.workflows.audit_several",
    **dict.fromkeys(("BuildPlan", "BuildResult"), "kgeval.workflows.build"),
    **dict.fromkeys(("ComparePlan", "CompareResult"), "kgeval.workflows.compare"),
    "ImportResult": "kgeval.workflows.imports",
    "ReportResult": "kgeval.workflows.report",
    "ScoreResult": "kgeval.workflows.score",
    "Session": "kgeval.workflows.session",
}
__all__ = [
    "AgreementResult", "AnswerPlan", "AnswersResult", "AuditOptions", "AuditPlan", "AuditReport", "AuditResult",
    "BuildPlan", "BuildResult", "ComparePlan", "CompareResult", "Criterion", "GateError", "GraphsResult",
    "ImportResult", "KgevalError", "MetricRow", "ReportResult", "ScoreResult", "Session", "__version__", "agree",
    "answer", "audit", "build", "compare", "connect", "import_graph", "metric", "report", "score",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kgeval' has no attribute '{name}'")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
