"""Where settings come from: flag > environment > kgeval.toml > default. Unknown keys are errors, all named at once."""

from __future__ import annotations

from kgeval.config.audit import AuditOptions, AuditSection, GraphSection, IgnoreSection, Limit, ReportSection, SessionSection, Threshold
from kgeval.config.base import NAME, OptionValue, Section
from kgeval.config.flags import Flag, Unit
from kgeval.config.models import LimitsSection, MetricsSection, ModelChoice, ModelSection
from kgeval.config.reading import DEFAULT_FILE, Config, environment, explain, load, read
from kgeval.config.runs import (
    AblationSection,
    AnswersSection,
    CompareSection,
    DatasetSection,
    GoldSection,
    MatrixSection,
    QuestionsSection,
    ReaderSection,
    RunSection,
    SourceSection,
    SystemSection,
    VariantSection,
)

__all__ = [
    "DEFAULT_FILE", "NAME", "AblationSection", "AnswersSection", "AuditOptions", "AuditSection", "CompareSection", "Config",
    "DatasetSection", "Flag", "GoldSection", "GraphSection", "IgnoreSection", "Limit", "LimitsSection", "MatrixSection",
    "MetricsSection", "ModelChoice", "ModelSection", "OptionValue", "QuestionsSection", "ReaderSection", "ReportSection",
    "RunSection", "Section", "SessionSection", "SourceSection", "SystemSection", "Threshold", "Unit", "VariantSection",
    "environment", "explain", "load", "read",
]
