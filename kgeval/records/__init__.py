"""The frozen records that cross rooms. One JSON Schema each in schemas/, generated from here by `make docs`.

Nothing else crosses a border: no dicts of unknown shape, no DataFrames. `to_frame()` is offered at the ends.
"""

from kgeval.records.accuracy import AccuracyKind, AccuracyReport, CalibrationBin, Estimate, HumanLabel, ItemVerdict, SampleDesign
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
from kgeval.records.graph import GraphRef, Layout
from kgeval.records.manifest import InputFile, RunManifest, ServerInfo
from kgeval.records.model import ModelRef, ModelUse, Role
from kgeval.records.texts import Chunk, Document, GoldEntity, GoldTriple, Passage, Triple

__all__ = [
    "GROUPS", "LEVELS", "SCHEMA_VERSION", "AccuracyKind", "AccuracyReport", "AuditReport", "Band", "CalibrationBin", "Chunk",
    "CompletenessReport", "Construction", "Control", "Corpus", "Coverage", "Document", "Estimate", "Example", "FactRetention",
    "FactVerdict", "Finding", "GoldEntity", "GoldMatch", "GoldSet", "GoldTriple", "GraphRef", "Group", "HumanLabel", "IdealGraph",
    "IndexRecord", "InputFile", "ItemVerdict", "Judgement", "Layout", "Level", "Merge", "ModelRef", "ModelUse", "Passage", "Proportion",
    "Record", "Role", "RunManifest", "SampleDesign", "ServerInfo", "Severity", "Status", "StructureSkip", "Triple",
]
