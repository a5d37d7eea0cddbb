"""The sections about a graph and its audit."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WrapValidator

from kgeval.config.base import Section
from kgeval.config.flags import DAY, HOUR, Flag, Power, Unit
from kgeval.records import Severity

GATES, EMBEDDINGS, LARGE, LOOKED_AT = "Gates", "Embeddings", "Large graphs", "What is looked at"  # headings of --help

PAID = "opens a session of Aura, which costs, with AURA_CLIENT_ID and AURA_CLIENT_SECRET"


class SessionSection(Section):
    """`[graph.session]`: a session of Aura Graph Analytics for the algorithms of `kgeval audit`, as its flags --gds-session-... say.
    `use`: without the flag too. No key: it comes from AURA_CLIENT_ID and AURA_CLIENT_SECRET."""

    use: Annotated[bool, Power("switch", PAID)] = False
    memory: str | None = None
    ttl: int = Field(default=60, ge=1, le=10_080)
    cloud: str | None = None
    name: str | None = None


class GraphSection(Section):
    """`[graph]`: where the graph is. `[graph.layout]` overrides single keys of the layout. No password: it comes from
    NEO4J_PASSWORD or a prompt. `pause`: seconds after each query."""

    uri: Annotated[str | None, Power("address", "NEO4J_PASSWORD")] = None
    username: str | None = None
    database: str | None = None
    pause: float = Field(default=0.0, ge=0, le=HOUR, allow_inf_nan=False)
    name: str | None = None
    layout: Annotated[str | dict[str, Any] | None, Power("path")] = None
    session: SessionSection = Field(default_factory=SessionSection)


def _threshold(value: Any) -> Any:
    """The value, if it has the form of a threshold. What is in its texts is for the audit to read. Raises: ValueError."""
    plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    by_severity = isinstance(value, dict) and value and all(isinstance(limit, int | float | str) for limit in value.values())
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


def _several(value: Any) -> Any:
    """A single text stands for a list of one."""
    return (value,) if isinstance(value, str) else value


def _names(value: Any) -> Any:
    """Names, each alone or several in one text with commas between them."""
    texts = _several(value)
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return texts
    return tuple(name for text in texts for part in text.split(",") if (name := part.strip()))


def _name(value: Any) -> Any:
    """A path stands for its name."""
    return str(value) if isinstance(value, Path) else value


class AuditOptions(Section):
    """What an audit looks at, and its gates: keywords of kgeval.audit, flags of `kgeval audit`, keys of `[audit]` in kgeval.toml."""

    checks: Annotated[tuple[str, ...], BeforeValidator(_names), Flag("--check", "ID")] = Field(
        default=(), description="Run these checks or groups only (comma or repeated).",
    )
    skip: Annotated[tuple[str, ...], BeforeValidator(_names), Flag(metavar="ID")] = Field(
        default=(), description="Leave out these checks or groups (comma or repeated).",
    )
    examples: int = Field(default=5, ge=0, description="Examples of a finding, 0 = all")
    timeout: Annotated[float, Unit("seconds"), Flag(heading=LOOKED_AT)] = Field(
        default=120.0, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
    settings: Annotated[dict[str, bool | float | int | str], Flag("--setting", "ID.NAME=VALUE", heading=LOOKED_AT)] = Field(
        default_factory=dict, description="A setting of a check; kgeval checks show ID lists them.",
    )
    schema_file: Annotated[str | None, BeforeValidator(_name), Flag("--schema", heading=LOOKED_AT), Power("path")] = Field(
        default=None, description="Schema to check: a file (JSON, YAML, TOML) or 'database'.",
    )
    corpus: Annotated[Path | None, Flag(heading=LOOKED_AT)] = Field(
        default=None, description="Text file or folder the graph was made from (for tokens).",
    )
    with_reports: Annotated[tuple[Path, ...], Flag("--with", "REPORT.json", heading=LOOKED_AT)] = Field(
        default=(), description="JSON report of kgeval accuracy or completeness whose findings join (repeatable).",
    )
    no_structure: Annotated[bool, Flag(heading=LOOKED_AT)] = Field(default=False, description="Only the checks, no structure figures.")
    seed: Annotated[int, Flag(heading=LOOKED_AT)] = Field(default=0, ge=0, lt=2**31, description=(
        "Seed of three things: Leiden (above 50,000 entities), the runs that try community stability, what --sample-share picks"
    ))

    thresholds: Annotated[tuple[str, ...], BeforeValidator(_several), Flag("--threshold", "ID<=X", heading=GATES)] = Field(
        default=(),
        description="What still passes: isolated-entity<=0.05, 'ID<=3 hits', ID:error<=0.2 (severity), giant_share>=0.5; missed: exit 1.",
    )
    fail_on: Annotated[Severity | None, Flag(heading=GATES)] = Field(
        default=None, description="Exit 1 if a check of this severity or worse fails.",
    )
    baseline: Annotated[Path | None, Flag(metavar="REPORT.json", heading=GATES)] = Field(
        default=None, description="An earlier JSON report: what became worse, better, new, gone.",
    )
    fail_on_worse: Annotated[Severity | None, Flag(heading=GATES)] = Field(
        default=None, description="Exit 1 if a check of this severity or above became worse, or fails and did not before.",
    )
    ratchet: Annotated[Path | None, Flag(metavar="FILE", heading=GATES)] = Field(
        default=None, description="Accepted hits, as --write-ratchet wrote them: only what is new or worse counts, and is exit 1.",
    )
    write_ratchet: Annotated[Path | None, Flag(metavar="FILE", heading=GATES)] = Field(
        default=None, description="Write what is found now as accepted, for --ratchet.",
    )

    embed: Annotated[bool | Literal["anew"], Flag(heading=EMBEDDINGS, values={
        "--embed": (
            True, "Where the graph has no embeddings, make them of the entities' names for similar-entity; the graph stays as it is.",
        ),
        "--embed-anew": ("anew", "As --embed, also where the graph has embeddings of its own."),
    })] = Field(default=False, description="Make embeddings where the graph has none, for similar-entity; 'anew': also where it has some.")

    sample_share: Annotated[float | None, Flag(metavar="SHARE", heading=LARGE)] = Field(default=None, gt=0, le=1, description=(
        "Share of the things that the checks of names and texts look at, with an interval on what they find [default: 1]."
    ))
    concurrent_queries: Annotated[int, Flag(heading=LARGE)] = Field(
        default=2, ge=1, le=16, description="Queries that the server answers at once; 1: one after the other",
    )
    resume: Annotated[bool, Flag(heading=LARGE)] = Field(
        default=False, description="Ask only what an audit of the same graph, unchanged since, has not answered.",
    )
    memory_limit: Annotated[str | None, Flag(metavar="SIZE", heading=LARGE)] = Field(default=None, description=(
        "What graph algorithms may take of the server's heap, by GDS's estimates (2g); what takes more is skipped."
    ))


class AuditSection(AuditOptions):
    """`[audit]`: the options of an audit. `thresholds`: by check the largest share that still passes, a text such as "<=3 hits", or one of
    either by severity; by structure figure ">=0.5" or "<=0.5". See docs/gates.md."""

    thresholds: dict[str, Threshold] = Field(default_factory=dict)  # type: ignore[assignment]  # a table in the file, texts elsewhere


class ReportSection(Section):
    """`[report]`: files to write, and whether users' texts are left out of them."""

    outputs: Annotated[list[str], Power("path")] = Field(default_factory=list)
    redact: bool = False
