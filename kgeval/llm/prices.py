"""What a model costs: a price file, kgeval's or the user's in its place."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from kgeval.config import Section, explain
from kgeval.errors import ConfigError
from kgeval.limits import parse_toml
from kgeval.llm.calls import Endpoint
from kgeval.llm.endpoints import address, is_loopback
from kgeval.tables import read_text

SHIPPED = Path(__file__).parent / "prices.toml"
MILLION = 1_000_000
DEFAULT_MAX_OUTPUT = 16_384
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens, and the most tokens of one reply. `unchecked`: from a list that nobody compared with the provider's;
    `as_of`: the date of the price, as the price file has it."""

    input: float
    output: float
    max_output: int = DEFAULT_MAX_OUTPUT
    unchecked: bool = False
    as_of: str | None = None

    @property
    def note(self) -> str | None:
        """What a reader of a cost should know of the price."""
        if self.unchecked:
            dated = f" of {self.as_of}" if self.as_of else ""
            return f"costs are by kgeval's own price list{dated}, which its authors wrote from memory and nobody has checked: " \
                "give yours with --prices"
        return f"costs are by prices of {self.as_of}" if self.as_of else None

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """USD."""
        return (input_tokens * self.input + output_tokens * self.output) / MILLION


FREE = Price(0.0, 0.0)
AsOf = Annotated[
    str | None, Field(pattern=r"^\d{4}(-\d{2}(-\d{2})?)?$"),
    BeforeValidator(lambda value: value.isoformat() if type(value) is date else str(value) if isinstance(value, int) else value),
]


class PriceRow(Section):
    """One `[[model]]` of a price file. Without `endpoint` the price holds wherever a model of that name is served."""

    name: str = Field(min_length=1)
    endpoint: str | None = None
    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    max_output: int = Field(default=DEFAULT_MAX_OUTPUT, ge=1)
    as_of: AsOf = None


class PriceFile(Section):
    """A price file. `unchecked`: whoever uses it is told that its figures may be wrong (kgeval's own says so). `as_of`: the date of its
    prices; a row may have its own."""

    unchecked: bool = False
    as_of: AsOf = None
    model: list[PriceRow] = Field(default_factory=list)


def read_prices(path: Path | None = None) -> PriceFile:
    """The user's price file, or kgeval's own. Raises ConfigError with every fault, InputError for a file that cannot be read."""
    file = path or SHIPPED
    try:
        return PriceFile.model_validate(parse_toml(read_text(file)))
    except tomllib.TOMLDecodeError as cause:
        raise ConfigError(f"{file}: {cause}", fix="the form of a price file: kgeval help models") from cause
    except ValidationError as cause:
        raise ConfigError(f"{file}: " + "; ".join(explain(cause)), fix="the form of a price file: kgeval help models") from cause


def price_of(endpoint: Endpoint, prices: PriceFile) -> Price | None:
    """The price of a model at its (settled) endpoint, or None if none is known. A dated name (-2025-01-31) falls back to the
    undated one. A server on this machine costs nothing unless the file names it."""
    for name in (endpoint.model, _DATED.sub("", endpoint.model)):
        rows = [row for row in prices.model if row.name == name and _fits(row, endpoint)]
        if rows:
            # a price for this endpoint is better than one for the name alone
            best = max(rows, key=lambda row: row.endpoint is not None)
            return Price(best.input, best.output, best.max_output, prices.unchecked, best.as_of or prices.as_of)
    return FREE if is_loopback(endpoint.base_url) else None


def _fits(row: PriceRow, endpoint: Endpoint) -> bool:
    return row.endpoint is None or address(row.endpoint) == endpoint.base_url
