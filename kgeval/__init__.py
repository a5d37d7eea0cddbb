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
    from kgeval.config import AuditOptions
    from kgeval.errors import GateError, KgevalError
    from kgeval.records import AuditReport
    from kgeval.workflows.accuracy import AccuracyResult
    from kgeval.workflows.agree import AgreementResult
    from kgeval.workflows.api import accuracy, agree, audit, build, completeness, connect, contamination, import_graph, report, score
    from kgeval.workflows.audit import AuditPlan, AuditResult
    from kgeval.workflows.audit_several import GraphsResult
    from kgeval.workflows.build import BuildPlan, BuildResult
    from kgeval.workflows.completeness import CompletenessPlan, CompletenessResult
    from kgeval.workflows.contamination import ContaminationResult
    from kgeval.workflows.imports import ImportResult
    from kgeval.workflows.report import ReportResult
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.session import Session

# name -> the module it comes from; loaded when it is asked for, so that `import kgeval` stays fast
_PUBLIC = {
    "AccuracyResult": "kgeval.workflows.accuracy",
    "AgreementResult": "kgeval.workflows.agree",
    "AuditOptions": "kgeval.config",
    "AuditPlan": "kgeval.workflows.audit",
    "AuditReport": "kgeval.records",
    "AuditResult": "kgeval.workflows.audit",
    "BuildPlan": "kgeval.workflows.build",
    "BuildResult": "kgeval.workflows.build",
    "CompletenessPlan": "kgeval.workflows.completeness",
    "CompletenessResult": "kgeval.workflows.completeness",
    "ContaminationResult": "kgeval.workflows.contamination",
    "GateError": "kgeval.errors",
    "GraphsResult": "kgeval.workflows.audit_several",
    "ImportResult": "kgeval.workflows.imports",
    "KgevalError": "kgeval.errors",
    "ReportResult": "kgeval.workflows.report",
    "ScoreResult": "kgeval.workflows.score",
    "Session": "kgeval.workflows.session",
    **dict.fromkeys(
        ("accuracy", "agree", "audit", "build", "completeness", "connect", "contamination", "import_graph", "report", "score"),
        "kgeval.workflows.api",
    ),
}
__all__ = [
    "AccuracyResult", "AgreementResult", "AuditOptions", "AuditPlan", "AuditReport", "AuditResult", "BuildPlan",
    "BuildResult", "CompletenessPlan", "CompletenessResult", "ContaminationResult", "GateError", "GraphsResult",
    "ImportResult", "KgevalError", "ReportResult", "ScoreResult", "Session", "__version__", "accuracy", "agree",
    "audit", "build", "completeness", "connect", "contamination", "import_graph", "report", "score",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kgeval' has no attribute '{name}'")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
