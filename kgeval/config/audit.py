"""The sections about a graph and its audit."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WrapValidator

from kgeval.config.base import Section
from kgeval.records import Severity


class SessionSection(Section):
    """`[graph.session]`: a session of Aura Graph Analytics for the algorithms of `kgeval audit`, as its flags --gds-session-... say.
    `use`: without the flag too. No key: it comes from AURA_CLIENT_ID and AURA_CLIENT_SECRET."""

    use: bool = False
    memory: str | None = None
    ttl: int = Field(default=60, ge=1, le=10_080)
    cloud: str | None = None
    name: str | None = None


class GraphSection(Section):
    """`[graph]`: where the graph is. `[graph.layout]` overrides single keys of the layout. No password: it comes from
    NEO4J_PASSWORD or a prompt."""

    uri: str | None = None
    username: str | None = None
    database: str | None = None
    name: str | None = None
    layout: str | dict[str, Any] | None = None
    session: SessionSection = Field(default_factory=SessionSection)


def _threshold(value: Any) -> Any:
    """The value, if it has the form of a threshold. What is in its texts is for the audit to read. Raises: ValueError."""
    plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    by_severity = isinstance(value, dict) and value and all(isinstance(one, int | float | str) for one in value.values())
    if not plain and not by_severity:
        raise ValueError("write a number, a text such as \"<=0.05\" or \">=0.5\", or { warning = ..., error = ... } of those")
    return value


def _said(text: str) -> str:
    """The text, if it says something. Raises: ValueError."""
    if not text.strip():
        raise ValueError("say why in words: nobody may waive a hit without a reason")
    return text


Limit = int | float | str
Threshold = Annotated[Limit | dict[str, Limit], WrapValidator(lambda value, _: _threshold(value))]


class IgnoreSection(Section):
    """`[[ignore]]`: a waiver. `rule`: a check, a group, or a pattern with *; `match`: pattern of names (none: every hit); `reason`: why;
    `until`: the last day on which it holds. See docs/gates.md."""

    rule: str = Field(min_length=1)
    match: str | None = Field(default=None, min_length=1)
    reason: Annotated[str, AfterValidator(lambda text: _said(text))] = Field(default="", validate_default=True)
    until: date | None = None


class AuditSection(Section):
    """`[audit]`: which checks, with which limits. `thresholds`: by check the largest share that still passes, a text such as "<=3 hits", or
    one of either by severity; by structure figure ">=0.5" or "<=0.5". `ratchet`: file of accepted debt. See docs/gates.md."""

    checks: list[str] = Field(default_factory=list)
    skip: list[str] = Field(default_factory=list)
    thresholds: dict[str, Threshold] = Field(default_factory=dict)
    settings: dict[str, float | int | str] = Field(default_factory=dict)
    limit: int = Field(default=5, ge=0)
    timeout: float = Field(default=120.0, gt=0, le=86_400, allow_inf_nan=False)
    sample_share: float | None = Field(default=None, gt=0, le=1)
    memory_limit: str | None = None
    fail_on: Severity | None = None
    baseline: Path | None = None
    ratchet: Path | None = None
    fail_on_worse: Severity | None = None
    schema_file: str | None = None
    embed: bool | Literal["anew"] = False


class ReportSection(Section):
    """`[report]`: files to write, and whether users' texts are left out of them."""

    outputs: list[str] = Field(default_factory=list)
    redact: bool = False
