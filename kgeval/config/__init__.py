"""Where settings come from: flag > environment > kgeval.toml > default. Unknown keys are errors, all named at once."""

from __future__ import annotations

from kgeval.config.agree import AgreeOptions, CorrelationOptions
from kgeval.config.answer import AnswerOptions, SystemOptions
from kgeval.config.asking import BatchOptions, ModelOptions
from kgeval.config.audit import AuditOptions, AuditSection, GraphSection, IgnoreSection, Limit, ReportSection, SessionSection, Threshold
from kgeval.config.base import NAME, OptionValue, Section
from kgeval.config.build import BuildOptions
from kgeval.config.compare import CompareOptions, SimulateOptions
from kgeval.config.completeness import CompletenessOptions
from kgeval.config.flags import Flag, Unit
from kgeval.config.imports import ImportOptions
from kgeval.config.merges import MergesOptions
from kgeval.config.models import Criterion, LimitsSection, MetricsSection, ModelChoice, ModelSection
from kgeval.config.questions import CheckOptions, CoverageOptions, GenerateOptions, QuestionsSection
from kgeval.config.reading import DEFAULT_FILE, Config, environment, explain, load, read
from kgeval.config.report import ReportOptions
from kgeval.config.rows import FilterOptions, FirstOptions, QuestionFileOptions, RowOptions
from kgeval.config.runs import (
    AblationSection,
    AnswersSection,
    DatasetSection,
    GoldSection,
    MatrixSection,
    ReaderSection,
    RunSection,
    SourceSection,
    SystemSection,
    VariantSection,
)
from kgeval.config.score import MetricOptions, ScoreOptions, SpreadOptions

__all__ = [
    "DEFAULT_FILE",
    "NAME",
    "AblationSection",
    "AgreeOptions",
    "AnswerOptions",
    "AnswersSection",
    "AuditOptions",
    "AuditSection",
    "BatchOptions",
    "BuildOptions",
    "CheckOptions",
    "CompareOptions",
    "CompletenessOptions",
    "Config",
    "CorrelationOptions",
    "CoverageOptions",
    "Criterion",
    "DatasetSection",
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
    "QuestionFileOptions",
    "QuestionsSection",
    "ReaderSection",
    "ReportOptions",
    "ReportSection",
    "RowOptions",
    "RunSection",
    "ScoreOptions",
    "Section",
    "SessionSection",
    "SimulateOptions",
    "SourceSection",
    "SpreadOptions",
    "SystemOptions",
    "SystemSection",
    "Threshold",
    "Unit",
    "VariantSection",
    "environment",
    "explain",
    "load",
    "read",
]
