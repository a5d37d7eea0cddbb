"""The frozen records that cross rooms. One JSON Schema each in schemas/, generated from here by `make docs`.

Nothing else crosses a border: no dicts of unknown shape, no DataFrames. `to_frame()` is offered at the ends.
"""

from kgeval.records.accuracy import AccuracyKind, AccuracyReport, CalibrationBin, Estimate, HumanLabel, ItemVerdict, SampleDesign
from kgeval.records.answering import AnsweredSystem, AnswerReport
from kgeval.records.answers import (
    LEVELS_OF_X,
    Aligned,
    Answer,
    Citation,
    GoldPath,
    MadeBy,
    Question,
    Row,
    Stages,
)
from kgeval.records.audit import GROUPS, AuditReport, Example, Finding, Group, Severity, Status, StructureSkip
from kgeval.records.base import SCHEMA_VERSION, Record
from kgeval.records.build import Construction, Corpus, IndexRecord, Merge
from kgeval.records.completeness import (
    LEVELS,
    Band,
    CompletenessReport,
    Control,
    Coverage,
    FactRetention,
    FactVerdict,
    GoldMatch,
    GoldSet,
    IdealGraph,
    Judgement,
    Level,
    Proportion,
)
from kgeval.records.contamination import (
    ClosedBookGroup,
    ContaminationDocument,
    ContaminationReport,
    KnownSide,
    ProbeResult,
    SystemMean,
    WithWithout,
)
from kgeval.records.graph import GraphRef, Layout
from kgeval.records.manifest import InputFile, RunManifest, ServerInfo
from kgeval.records.model import ModelRef, ModelUse, Role
from kgeval.records.question_checks import CheckDifference, CheckedSet, CheckExample, CheckFigure, CheckReport, QuestionTwin, TwinKind
from kgeval.records.question_coverage import CoverageFigure, CoverageGroup, CoverageReport, CoverageSet, CoverageWays, Facet
from kgeval.records.question_sets import Amounts, Classification, LabelCount, QuestionGroup, QuestionSet, QuestionStats
from kgeval.records.questions import GenerationReport, KindCount
from kgeval.records.scores import (
    AuditJoin,
    By,
    CostSummary,
    Gain,
    GateResult,
    GroupSummary,
    LeaderRow,
    Mean,
    MetricInfo,
    MetricSummary,
    Quantiles,
    ReasoningSummary,
    Repeats,
    Score,
    ScoreReport,
    ScoreStatus,
    Spread,
    SystemInfo,
    Verdict,
    WorstRow,
)
from kgeval.records.sensitivity import ConditionScores, Sensitivity, SensitivityReport
from kgeval.records.structures import QuestionCheck, Stratum, Structure, StructureKind, StructureNode, StructureRelation
from kgeval.records.texts import Chunk, Document, GoldEntity, GoldTriple, Passage, Triple

__all__ = [
    "GROUPS", "LEVELS", "LEVELS_OF_X", "SCHEMA_VERSION", "AccuracyKind", "AccuracyReport", "Aligned", "Amounts",
    "Answer", "AnswerReport", "AnsweredSystem", "AuditJoin",
    "AuditReport", "Band", "By", "CalibrationBin", "CheckDifference", "CheckExample", "CheckFigure",
    "CheckReport", "CheckedSet", "Chunk", "Citation", "Classification", "ClosedBookGroup",
    "CompletenessReport", "ConditionScores", "Construction", "ContaminationDocument", "ContaminationReport",
    "Control", "Corpus", "CostSummary", "Coverage", "CoverageFigure", "CoverageGroup", "CoverageReport", "CoverageSet", "CoverageWays",
    "Document", "Estimate", "Example", "Facet", "FactRetention", "FactVerdict", "Finding",
    "Gain", "GateResult", "GenerationReport",
    "GoldEntity", "GoldMatch", "GoldPath", "GoldSet", "GoldTriple", "GraphRef", "Group", "GroupSummary",
    "HumanLabel", "IdealGraph", "IndexRecord", "InputFile", "ItemVerdict", "Judgement", "KindCount", "KnownSide", "LabelCount",
    "Layout", "LeaderRow", "Level", "MadeBy",
    "Mean", "Merge", "MetricInfo", "MetricSummary", "ModelRef", "ModelUse", "Passage", "ProbeResult", "Proportion", "Quantiles", "Question",
    "QuestionCheck", "QuestionGroup", "QuestionSet", "QuestionStats", "QuestionTwin",
    "ReasoningSummary", "Record", "Repeats", "Role", "Row", "RunManifest", "SampleDesign", "Score",
    "ScoreReport", "ScoreStatus", "Sensitivity", "SensitivityReport", "ServerInfo", "Severity", "Spread", "Stages", "Status",
    "Stratum", "Structure", "StructureKind", "StructureNode", "StructureRelation", "StructureSkip", "SystemInfo", "SystemMean",
    "Triple", "TwinKind",
    "Verdict", "WithWithout", "WorstRow",
]
