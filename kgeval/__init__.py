"""kgeval evaluates knowledge graphs stored in Neo4j, and the GraphRAG systems built on them.

    import kgeval
    result = kgeval.audit(driver, graph="novels", fail_on="error")
    result.save("report.html")
    result.raise_for_gates()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from kgeval.config import AuditOptions, Criterion
    from kgeval.errors import GateError, KgevalError
    from kgeval.metrics.own import MetricRow, metric
    from kgeval.profiling.task import ProfileResult
    from kgeval.records import (
        AccuracyReport,
        AgreementReport,
        Answer,
        AnswerReport,
        AuditReport,
        CheckReport,
        Citation,
        ComparisonReport,
        ComparisonVerdict,
        CompletenessReport,
        ContaminationReport,
        Document,
        Finding,
        Gate,
        GenerationReport,
        GoldEntity,
        GoldPath,
        GoldTriple,
        GraphRef,
        HumanLabel,
        IndexRecord,
        Layout,
        MetricInfo,
        OverviewReport,
        Passage,
        ProfileReport,
        Question,
        QuestionCheck,
        Row,
        RunManifest,
        Score,
        ScoreReport,
        StageRun,
        Verdict,
    )
    from kgeval.workflows.accuracy import AccuracyResult
    from kgeval.workflows.agree import AgreementResult
    from kgeval.workflows.answer import AnswerPlan, AnswersResult
    from kgeval.workflows.api import (
        accuracy,
        agree,
        answer,
        audit,
        build,
        check_questions,
        compare,
        completeness,
        connect,
        contamination,
        generate_questions,
        import_graph,
        profile,
        report,
        run,
        score,
    )
    from kgeval.workflows.audit import AuditPlan, AuditResult
    from kgeval.workflows.audit_several import GraphsResult
    from kgeval.workflows.build import BuildPlan, BuildResult
    from kgeval.workflows.compare import ComparePlan, CompareResult
    from kgeval.workflows.completeness import CompletenessPlan, CompletenessResult
    from kgeval.workflows.contamination import ContaminationResult
    from kgeval.workflows.imports import ImportResult
    from kgeval.workflows.questions_check import CheckResult
    from kgeval.workflows.questions_generate import GeneratePlan, GenerateResult
    from kgeval.workflows.report import ReportResult
    from kgeval.workflows.result import QuestionsResult
    from kgeval.workflows.run import RunPlan, RunResult
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.session import Session

# the modules that the public names come from; each is loaded when a name of it is asked for, so that `import kgeval` stays fast
_MODULES = {
    "kgeval.config": ("AuditOptions", "Criterion"),
    "kgeval.errors": ("GateError", "KgevalError"),
    "kgeval.metrics.own": ("MetricRow", "metric"),
    "kgeval.records": (
        "AccuracyReport", "AgreementReport", "Answer", "AnswerReport", "AuditReport",
        "CheckReport", "Citation", "ComparisonReport", "ComparisonVerdict", "CompletenessReport",
        "ContaminationReport", "Document", "Finding", "Gate", "GenerationReport", "GoldEntity",
        "GoldPath", "GoldTriple", "GraphRef", "HumanLabel", "IndexRecord", "Layout", "MetricInfo",
        "OverviewReport", "Passage", "ProfileReport", "Question", "QuestionCheck", "Row", "RunManifest", "Score", "ScoreReport",
        "StageRun", "Verdict",
    ),
    "kgeval.profiling.task": ("ProfileResult",),
    "kgeval.workflows.accuracy": ("AccuracyResult",),
    "kgeval.workflows.agree": ("AgreementResult",),
    "kgeval.workflows.answer": ("AnswerPlan", "AnswersResult"),
    "kgeval.workflows.api": (
        "accuracy", "agree", "answer", "audit", "build", "check_questions", "compare", "completeness",
        "connect", "contamination", "generate_questions", "import_graph", "profile", "report", "run", "score",
    ),
    "kgeval.workflows.audit": ("AuditPlan", "AuditResult"),
    "kgeval.workflows.audit_several": ("GraphsResult",),
    "kgeval.workflows.build": ("BuildPlan", "BuildResult"),
    "kgeval.workflows.compare": ("ComparePlan", "CompareResult"),
    "kgeval.workflows.completeness": ("CompletenessPlan", "CompletenessResult"),
    "kgeval.workflows.contamination": ("ContaminationResult",),
    "kgeval.workflows.imports": ("ImportResult",),
    "kgeval.workflows.questions_check": ("CheckResult",),
    "kgeval.workflows.questions_generate": ("GeneratePlan", "GenerateResult"),
    "kgeval.workflows.report": ("ReportResult",),
    "kgeval.workflows.result": ("QuestionsResult",),
    "kgeval.workflows.run": ("RunPlan", "RunResult"),
    "kgeval.workflows.score": ("ScoreResult",),
    "kgeval.workflows.session": ("Session",),
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names}
__all__ = [
    "AccuracyReport",
    "AccuracyResult",
    "AgreementReport",
    "AgreementResult",
    "Answer",
    "AnswerPlan",
    "AnswerReport",
    "AnswersResult",
    "AuditOptions",
    "AuditPlan",
    "AuditReport",
    "AuditResult",
    "BuildPlan",
    "BuildResult",
    "CheckReport",
    "CheckResult",
    "Citation",
    "ComparePlan",
    "CompareResult",
    "ComparisonReport",
    "ComparisonVerdict",
    "CompletenessPlan",
    "CompletenessReport",
    "CompletenessResult",
    "ContaminationReport",
    "ContaminationResult",
    "Criterion",
    "Document",
    "Finding",
    "Gate",
    "GateError",
    "GeneratePlan",
    "GenerateResult",
    "GenerationReport",
    "GoldEntity",
    "GoldPath",
    "GoldTriple",
    "GraphRef",
    "GraphsResult",
    "HumanLabel",
    "ImportResult",
    "IndexRecord",
    "KgevalError",
    "Layout",
    "MetricInfo",
    "MetricRow",
    "OverviewReport",
    "Passage",
    "ProfileReport",
    "ProfileResult",
    "Question",
    "QuestionCheck",
    "QuestionsResult",
    "ReportResult",
    "Row",
    "RunManifest",
    "RunPlan",
    "RunResult",
    "Score",
    "ScoreReport",
    "ScoreResult",
    "Session",
    "StageRun",
    "Verdict",
    "__version__",
    "accuracy",
    "agree",
    "answer",
    "audit",
    "build",
    "check_questions",
    "compare",
    "completeness",
    "connect",
    "contamination",
    "generate_questions",
    "import_graph",
    "metric",
    "profile",
    "report",
    "run",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'kgeval' has no attribute '{name}'")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
