"""How many hits of a check two readers hold to be true, by kind of graph; and where too few are, so that they are information there."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from kgeval.config import explain
from kgeval.errors import ConfigError

Made = Literal["extracted", "made"]
Figures = TypeVar("Figures", bound=BaseModel)

PRECISION = Path(__file__).with_name("precision.toml")
MADE: dict[Made, str] = {"extracted": "extracted from texts", "made": "made by people"}
LEAST_TRUE = 0.5  # share of a check's hits that are true, below which they are information
LEAST_HITS, LEAST_GRAPHS = 20, 2  # labelled hits, and graphs that they are of, that say something of other graphs


class HitShare(BaseModel):
    """How many hits of a check two readers hold to be true, on graphs of a kind (`made`: extracted from texts, or made by people).
    `measured`: there are hits and graphs enough to say something of others; `interval`: 95 %, graphs as clusters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: str
    made: Made
    labelled: int
    true: int
    graphs: int
    measured: bool
    interval: tuple[float, float] | None = None


class HitShares(BaseModel):
    """All shares, in the file's order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: list[HitShare]


@cache
def hit_shares() -> HitShares:
    """How many hits are true, as the package carries it. Raises: ConfigError for a broken file."""
    return read_figures(PRECISION, HitShares, "make precision")


def read_figures(file: Path, figures: type[Figures], maker: str) -> Figures:
    """Figures that the package carries. Raises: ConfigError for a broken file."""
    try:
        return figures.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except ValidationError as wrong:
        raise ConfigError(f"{file.name}: " + "; ".join(explain(wrong)), fix=f"run {maker} again") from wrong


def seldom_true(check: str, made: Made) -> HitShare | None:
    """What was measured of a check on graphs of a kind, of both kinds together where that kind alone says too little; None where at least
    half of the hits are true, or nothing was measured."""
    own = [share for share in hit_shares().share if share.check == check]
    of_kind = [share for share in own if share.made == made and share.measured]
    labelled, true, graphs = (sum(getattr(share, name) for share in of_kind or own) for name in ("labelled", "true", "graphs"))
    if labelled < LEAST_HITS or graphs < LEAST_GRAPHS or true >= LEAST_TRUE * labelled:
        return None
    return HitShare(check=check, made=made, labelled=labelled, true=true, graphs=graphs, measured=bool(of_kind))
