"""The frozen records that cross rooms. One JSON Schema each in schemas/, generated from here by `make docs`.

Nothing else crosses a border: no dicts of unknown shape, no DataFrames. `to_frame()` is offered at the ends.
"""

from kgeval.profiling.record import GraphProfile, LabelProfile, ProfileReport, PropertyProfile, RelationEnds, RelationProfile
from kgeval.records.accuracy import AccuracyKind, AccuracyReport, CalibrationBin, Estimate, HumanLabel, ItemVerdict, SampleDesign
from kgeval.records.agreement import (
    AgreementBy,
    AgreementReport,
    AnnotatorAgreement,
    AnnotatorPair,
    LabelScope,
    MatrixBy,
    MatrixCell,
    MatrixGroup,
    MatrixReport,
    Nearest,
    PeopleAgreement,
    PredictorAgreement,
    PredictorKind,
    SheetItem,
    SheetKey,
)
from kgeval.records.anchors import Anchor
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
from kgeval.records.audit import (
    GROUPS,
    HALF_LOADED,
    AuditDiff,
    AuditReport,
    ChangeOf,
    CheckCell,
    CheckRow,
    Example,
    FigureChange,
    FigureRow,
    Finding,
    FindingChange,
    GraphsReport,
    Group,
    Ratchet,
    RatchetRule,
    Reading,
    Repair,
    Resumed,
    ShareInterval,
    Status,
    StructureSkip,
    Waived,
)
from kgeval.records.base import SCHEMA_VERSION, Record
from kgeval.records.build import Construction, Corpus, IndexRecord, Merge
from kgeval.records.comparison import (
    AlignmentCount,
    Box,
    ComparedBy,
    ComparisonReport,
    ComparisonVerdict,
    Drill,
    DrillCall,
    KnownInPairs,
    PairResult,
    Procedure,
    Ranked,
    Ranking,
    Rates,
    Stopped,
    SystemUse,
    TrialKind,
    TrialRates,
    Winner,
)
from kgeval.records.comparison_judge import CorrectedRate, Covariate, Drift, Estimated, JudgeReport, LengthBin, SelfCheck
from kgeval.records.completeness import (
    LEVELS,
    Band,
    CompletenessReport,
    CompletenessScope,
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
)
from kgeval.records.gate import SEVERITIES, Gate, Severity
from kgeval.records.graph import GraphRef, LabelName, Layout
from kgeval.records.load import LoadedSystem, LoadLevel, LoadLimit, LoadReport
from kgeval.records.manifest import InputFile, RunManifest, ServerInfo
from kgeval.records.matrix import (
    Axis,
    CostGrowth,
    CrossedCell,
    CrossedChange,
    CrossedCost,
    CrossedGraph,
    CrossedReport,
    GraphTook,
    KeptCorpus,
    KnownAtPlace,
    RunPlace,
)
from kgeval.records.model import ModelRef, ModelUse, Role
from kgeval.records.outcome import Conclusion, DrawnGroups, Outcome, SystemCoverage
from kgeval.records.overview import (
    ChangeVerdict,
    Dimension,
    JudgeMoved,
    OverviewChange,
    OverviewCost,
    OverviewDiff,
    OverviewExample,
    OverviewFigure,
    OverviewFinding,
    OverviewGate,
    OverviewPriority,
    OverviewReport,
    OverviewSource,
    OverviewStage,
    Part,
    Rubric,
    RubricFigure,
    RubricScore,
    SourceKind,
    Unit,
)
from kgeval.records.pictures import CommunityLink, CommunityMap, DrawnCommunity, DrawnNode, DrawnRelation, Picture
from kgeval.records.pipeline import PipelineRun, StageRun, StageState
from kgeval.records.question_checks import (
    CheckDifference,
    CheckedSet,
    CheckExample,
    CheckFigure,
    CheckReport,
    QuestionPath,
    QuestionTwin,
    TwinKind,
)
from kgeval.records.question_coverage import CoverageFigure, CoverageGroup, CoverageReport, CoverageSet, CoverageWays, Facet
from kgeval.records.question_sets import Amounts, Classification, LabelCount, QuestionGroup, QuestionSet, QuestionStats
from kgeval.records.questions import GenerationReport, KindCount
from kgeval.records.scores import (
    CONTEXT_EDGES,
    CONTEXT_LENGTHS,
    AuditJoin,
    BothMeans,
    By,
    ClaimRow,
    ClaimTotals,
    CostSummary,
    Gain,
    GainBy,
    GroupCost,
    GroupGain,
    GroupSummary,
    KnownInScores,
    LeaderRow,
    LeftOutKnown,
    Mean,
    MetricInfo,
    MetricSummary,
    PairedGain,
    Quantiles,
    ReasoningSummary,
    Repeats,
    Score,
    ScoreReport,
    ScoreStatus,
    Spread,
    SurvivalCheck,
    Survived,
    SystemInfo,
    Verdict,
    WithWithout,
    WorstRow,
)
from kgeval.records.sensitivity import ConditionScores, Sensitivity, SensitivityReport
from kgeval.records.simulation import SimulatedProcedure, SimulatedScenario, SimulatedStop, SimulationBound, SimulationReport
from kgeval.records.stats import (
    CorrectedShare,
    PairedResult,
    PowerRow,
    SequencePoint,
    SequenceResult,
    StatsInput,
    StatsKind,
    StatsMean,
    StatsReport,
)
from kgeval.records.structures import QuestionCheck, Stratum, Structure, StructureKind, StructureNode, StructureRelation
from kgeval.records.texts import Chunk, Document, GoldEntity, GoldTriple, Passage, Triple

__all__ = [
    "CONTEXT_EDGES", "CONTEXT_LENGTHS", "GROUPS", "HALF_LOADED", "LEVELS", "LEVELS_OF_X", "SCHEMA_VERSION", "SEVERITIES", "AccuracyKind",
    "AccuracyReport", "AgreementBy", "AgreementReport", "Aligned", "AlignmentCount", "Amounts", "Anchor", "AnnotatorAgreement",
    "AnnotatorPair", "Answer", "AnswerReport", "AnsweredSystem", "AuditDiff", "AuditJoin", "AuditReport", "Axis", "Band", "BothMeans",
    "Box", "By", "CalibrationBin", "ChangeOf", "ChangeVerdict", "CheckCell", "CheckDifference", "CheckExample", "CheckFigure",
    "CheckReport", "CheckRow", "CheckedSet", "Chunk", "Citation", "ClaimRow", "ClaimTotals", "Classification", "ClosedBookGroup",
    "CommunityLink", "CommunityMap", "ComparedBy", "ComparisonReport", "ComparisonVerdict", "CompletenessReport", "CompletenessScope",
    "Conclusion", "ConditionScores", "Construction", "ContaminationDocument", "ContaminationReport", "Control", "Corpus", "CorrectedRate",
    "CorrectedShare", "CostGrowth", "CostSummary", "Covariate", "Coverage", "CoverageFigure", "CoverageGroup", "CoverageReport",
    "CoverageSet", "CoverageWays", "CrossedCell", "CrossedChange", "CrossedCost", "CrossedGraph", "CrossedReport", "Dimension", "Document",
    "DrawnCommunity", "DrawnGroups", "DrawnNode", "DrawnRelation", "Drift", "Drill", "DrillCall", "Estimate", "Estimated", "Example",
    "Facet", "FactRetention", "FactVerdict", "FigureChange", "FigureRow", "Finding", "FindingChange", "Gain", "GainBy", "Gate",
    "GenerationReport", "GoldEntity", "GoldMatch", "GoldPath", "GoldSet", "GoldTriple", "GraphProfile", "GraphRef", "GraphTook",
    "GraphsReport", "Group", "GroupCost", "GroupGain", "GroupSummary", "HumanLabel", "IdealGraph", "IndexRecord", "InputFile",
    "ItemVerdict", "JudgeMoved", "JudgeReport", "Judgement", "KeptCorpus", "KindCount", "KnownAtPlace", "KnownInPairs", "KnownInScores",
    "KnownSide", "LabelCount", "LabelName", "LabelProfile", "LabelScope", "Layout", "LeaderRow", "LeftOutKnown", "LengthBin", "Level",
    "LoadLevel", "LoadLimit", "LoadReport", "LoadedSystem", "MadeBy", "MatrixBy", "MatrixCell", "MatrixGroup", "MatrixReport", "Mean",
    "Merge", "MetricInfo", "MetricSummary", "ModelRef", "ModelUse", "Nearest", "Outcome", "OverviewChange", "OverviewCost", "OverviewDiff",
    "OverviewExample", "OverviewFigure", "OverviewFinding", "OverviewGate", "OverviewPriority", "OverviewReport", "OverviewSource",
    "OverviewStage", "PairResult", "PairedGain", "PairedResult", "Part", "Passage", "PeopleAgreement", "Picture", "PipelineRun",
    "PowerRow", "PredictorAgreement", "PredictorKind", "ProbeResult", "Procedure", "ProfileReport", "PropertyProfile", "Proportion",
    "Quantiles", "Question", "QuestionCheck", "QuestionGroup", "QuestionPath", "QuestionSet", "QuestionStats", "QuestionTwin", "Ranked",
    "Ranking", "Ratchet", "RatchetRule", "Rates", "Reading", "ReasoningSummary", "Record", "RelationEnds", "RelationProfile", "Repair",
    "Repeats", "Resumed", "Role", "Row", "Rubric", "RubricFigure", "RubricScore", "RunManifest", "RunPlace", "SampleDesign", "Score",
    "ScoreReport", "ScoreStatus", "SelfCheck", "Sensitivity", "SensitivityReport", "SequencePoint", "SequenceResult", "ServerInfo",
    "Severity", "ShareInterval", "SheetItem", "SheetKey", "SimulatedProcedure", "SimulatedScenario", "SimulatedStop", "SimulationBound",
    "SimulationReport", "SourceKind", "Spread", "StageRun", "StageState", "Stages", "StatsInput", "StatsKind", "StatsMean", "StatsReport",
    "Status", "Stopped", "Stratum", "Structure", "StructureKind", "StructureNode", "StructureRelation", "StructureSkip", "SurvivalCheck",
    "Survived", "SystemCoverage", "SystemInfo", "SystemMean", "SystemUse", "TrialKind", "TrialRates", "Triple", "TwinKind", "Unit",
    "Verdict", "Waived", "Winner", "WithWithout", "WorstRow",
]
