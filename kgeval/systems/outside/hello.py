"""What a process says of itself in its hello."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from kgeval.errors import UsageError
from kgeval.files import cells

LONGEST_NAME = 100
MOST_AT_A_TIME = 64


@dataclass(frozen=True)
class Declared:
    """What a process declares in its hello. `parallel`: questions that one process takes at a time. `card`: configuration, index."""

    name: str = ""
    version: str = ""
    adjusts: bool = False
    parallel: int = 1
    card: Mapping[str, JsonValue] = field(default_factory=dict)


def declared(said: Mapping[str, Any], name: str) -> Declared:
    """The hello as a record. Raises: UsageError for what does not fit."""
    try:
        parallel = cells.whole(said.get("parallel"))
        if not 1 <= (parallel if parallel is not None else 1) <= MOST_AT_A_TIME:
            raise cells.Misfit(f"parallel is not between 1 and {MOST_AT_A_TIME}")
        if not isinstance(said.get("adjusts", False), bool):
            raise cells.Misfit("adjusts is neither true nor false")
        called = cells.name(said.get("name")) or ""
        if not called.isprintable() or len(called) > LONGEST_NAME:
            raise cells.Misfit(f"name is longer than {LONGEST_NAME} characters, or has some that cannot be printed")
        return Declared(
            called, cells.name(said.get("version")) or "", said.get("adjusts", False), parallel or 1,
            cells.mapping(said.get("card")) or {},
        )
    except cells.Misfit as misfit:
        raise UsageError(f"{name}: its hello does not fit: {misfit}", fix="kgeval help system-protocol shows what a hello says") from misfit
