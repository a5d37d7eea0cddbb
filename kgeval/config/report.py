"""The options of `kgeval report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from kgeval.config.audit import GATES
from kgeval.config.base import Section
from kgeval.config.flags import Flag


def _one(value: object) -> object:
    return (value,) if isinstance(value, str | Path) else value


class ReportOptions(Section):
    """What one report over everything compares and demands: keywords of kgeval.report, flags of `kgeval report`."""

    baseline: Annotated[tuple[Path, ...], BeforeValidator(_one), Flag(metavar="RUN")] = Field(
        default=(),
        description="An earlier run to compare with: folder, report files, or an earlier report of this command (repeatable).",
    )
    title: str | None = Field(default=None, description="Heading of the report.")
    fail_on_worse: Annotated[bool, Flag(heading=GATES)] = Field(
        default=False, description="Exit 1 if a figure is worse than the baseline's beyond noise.",
    )
    fail_on: Annotated[Literal["error", "warning", "info"] | None, Flag(heading=GATES)] = Field(
        default=None, description="Exit 1 if a check of this severity or worse failed.",
    )
    thresholds: Annotated[
        tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
        Flag("--threshold", "[SYSTEM:]FIGURE>=X", heading=GATES),
    ] = Field(default=(), description="E.g. entity_coverage>=0.85, graph:faithfulness>=0.9; missed: exit 1 (comma or repeated).")
