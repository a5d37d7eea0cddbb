"""What a profile takes: keywords of kgeval.profile, flags of `kgeval profile`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kgeval.config.base import Section
from kgeval.config.flags import DAY, Unit


class ProfileOptions(Section):
    """How a graph is looked at."""

    seed: int = Field(default=0, ge=0, lt=2**31, description="Seed of the sample of nodes")
    timeout: Annotated[float, Unit("seconds")] = Field(
        default=120.0, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a query may take",
    )
