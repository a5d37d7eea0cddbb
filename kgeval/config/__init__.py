"""Where settings come from: flag > environment > kgeval.toml > default. Unknown keys are errors, all named at once."""

from __future__ import annotations

from kgeval.config.accuracy import AccuracyOptions
from kgeval.config.agree import AgreeOptions, CorrelationOptions, ReadOptions, SheetOptions
from kgeval.config.answer import AnswerOptions, SystemOptions
from kgeval.config.asking import BatchOptions, ModelOptions
from kgeval.config.audit import AuditOptions, AuditSection, GraphSection, IgnoreSection, Limit, ReportSection, SessionSection, Threshold
from kgeval.config.base import NAME, OptionValue, Section
from kgeval.config.build import BuildOptions
from kgeval.config.compare import CompareOptions, SimulateOptions
from kgeval.config.completeness import CompletenessOptions
from kgeval.config.contamination import ContaminationOptions
from kgeval.config.flags import Flag, Power, Unit
from kgeval.config.imports import ImportOptions
from kgeval.config.merges import MergesOptions
from kgeval.config.models import Criterion, LimitsSection, MetricsSection, ModelChoice, ModelSection
from kgeval.config.questions import CheckOptions, ClassifyOptions, CoverageOptions, GenerateOptions, QuestionsSection, SampleOptions
from kgeval.config.reading import DEFAULT_FILE, Config, cache_folder, environment, explain
from kgeval.config.report import ReportOptions
from kgeval.config.rows import FilterOptions, FirstOptions, QuestionFileOptions, RowOptions
from kgeval.config.runs import (
    AblationSection,
    AnswersSection,
    CrossingOptions,
    DatasetSection,
    GoldSection,
    MatrixSection,
    ReaderSection,
    RunOptions,
    RunSection,
    SourceSection,
    SystemSection,
    VariantSection,
)
from kgeval.config.score import MetricOptions, ScoreOptions, SensitivityOptions, SpreadOptions
from kgeval.config.session import EmbeddingOptions, ServerOptions, SessionOptions
from kgeval.config.stats import (
    ConfidenceOptions,
    CorrectOptions,
    DriftOptions,
    PowerOptions,
    RankOptions,
    ScoreTableOptions,
    SequentialOptions,
    StatsOptions,
    VerdictOptions,
)
from kgeval.config.trust import load, look_up, read

__all__ = [
    "DEFAULT_FILE",
    "NAME",
    "AblationSection",
    "AccuracyOptions",
    "AgreeOptions",
    "AnswerOptions",
    "AnswersSection",
    "AuditOptions",
    "AuditSection",
    "BatchOptions",
    "BuildOptions",
    "CheckOptions",
    "ClassifyOptions",
    "CompareOptions",
    "CompletenessOptions",
    "ConfidenceOptions",
    "Config",
    "ContaminationOptions",
    "CorrectOptions",
    "CorrelationOptions",
    "CoverageOptions",
    "Criterion",
    "CrossingOptions",
    "DatasetSection",
    "DriftOptions",
    "EmbeddingOptions",
    "FilterOptions",
    "FirstOptions",
    "Flag",
    "GenerateOptions",
    "GoldSection",
    "GraphSection",
    "IgnoreSection",
    "ImportOptions",
    "Limit",
    "LimitsSection",
    "MatrixSection",
    "MergesOptions",
    "MetricOptions",
    "MetricsSection",
    "ModelChoice",
    "ModelOptions",
    "ModelSection",
    "OptionValue",
    "Power",
    "PowerOptions",
    "QuestionFileOptions",
    "QuestionsSection",
    "RankOptions",
    "ReadOptions",
    "ReaderSection",
    "ReportOptions",
    "ReportSection",
    "RowOptions",
    "RunOptions",
    "RunSection",
    "SampleOptions",
    "ScoreOptions",
    "ScoreTableOptions",
    "Section",
    "SensitivityOptions",
    "SequentialOptions",
    "ServerOptions",
    "SessionOptions",
    "SessionSection",
    "SheetOptions",
    "SimulateOptions",
    "SourceSection",
    "SpreadOptions",
    "StatsOptions",
    "SystemOptions",
    "SystemSection",
    "Threshold",
    "Unit",
    "VariantSection",
    "VerdictOptions",
    "cache_folder",
    "environment",
    "explain",
    "load",
    "look_up",
    "read",
]
