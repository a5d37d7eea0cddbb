"""What an audit finds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, JsonValue

from kgeval.records.base import SCHEMA_VERSION, Record
from kgeval.records.build import Construction
from kgeval.records.graph import GraphRef, Layout
from kgeval.records.manifest import RunManifest

Severity = Literal["error", "warning", "info"]
Status = Literal["passed", "failed", "skipped", "incomplete", "error"]
Group = Literal[
    "names", "duplicates", "merging", "connectivity", "relations", "types",
    "schema", "properties", "provenance", "vectors", "time", "store", "accuracy", "completeness",
]
GROUPS: tuple[Group, ...] = (
    "names", "duplicates", "merging", "connectivity", "relations", "types",
    "schema", "properties", "provenance", "vectors", "time", "store", "accuracy", "completeness",
)


class Example(Record):
    """One place where a finding shows: the graph things involved and, where it helps, why they are listed."""

    items: list[GraphRef]
    why: str | None = None


class Finding(Record):
    """What one check found. `count` of `total` (`total_of` names what is counted), `share` in 0..1 or null if total is 0.

    `status`: passed (count 0 or within the threshold), failed, skipped (cannot be answered here; `reason` says why),
    incomplete (timed out), error (the query failed; `reason` has the server's words). With a count, `reason` says what the
    count leaves out. Skipped, incomplete and error
    findings have null count, total and share: an unanswered check is never a pass.
    """

    rule_id: str
    group: Group
    status: Status
    severity: Severity
    title: str
    count: int | None = None
    total: int | None = None
    total_of: str = "entities"
    share: float | None = None
    threshold: str | None = None
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    sample: list[Example] = Field(default_factory=list)
    query: str | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    advice: str = ""
    reason: str | None = None
    seconds: float | None = None


class StructureSkip(Record):
    """Structure figures that could not be computed here, and why."""

    ids: list[str]
    reason: str


class AuditReport(Record):
    """The audit of one graph. `structure` holds plain numbers under the ids of the structure page of the docs,
    maps (name -> number) only for the by-type ones, and text only for names of methods and tokenizers."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    graph: str | None = None
    run: RunManifest
    layout: Layout
    structure: dict[str, float | int | str | dict[str, float | int | dict[str, Any]] | None] = Field(default_factory=dict)
    structure_skipped: list[StructureSkip] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    construction: Construction | None = None
