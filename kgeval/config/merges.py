"""The options of `kgeval build merges list`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kgeval.config.base import Section
from kgeval.config.flags import Flag


class MergesOptions(Section):
    """Which merges of a built graph are listed: flags of `kgeval build merges list`."""

    level: Literal["exact", "normalised", "alias", "embedding"] | None = Field(default=None, description="Only merges of this level.")
    status: Literal["applied", "undone"] | None = Field(default=None, description="Only merges in this state.")
    name: Annotated[str | None, Flag(metavar="TEXT")] = Field(
        default=None, description="Only merges with this text in one of the two names, letter case ignored.",
    )
