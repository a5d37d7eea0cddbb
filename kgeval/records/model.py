"""What was asked of models: which ones, how often, and what it took."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from kgeval.records.base import PublicRecord

Role = Literal["judge", "reader", "extractor", "embedding", "generator"]


class ModelRef(PublicRecord):
    """A model as it was used. `base_url` is null for the client's default endpoint. Never a key."""

    role: Role
    name: str
    base_url: str | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)


class ModelUse(PublicRecord):
    """What one stage of a run asked of a model.

    `calls`: requests sent in this run, retries and re-asks counted; `from_journal`: requests answered by the journal.
    Tokens and cost (USD; null where no price is known) are of the requests sent. `seconds`: sum of their latencies.
    `failures`: items left unscored, by cause.
    """

    stage: str
    model: str
    calls: int = 0
    from_journal: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    failures: dict[str, int] = Field(default_factory=dict)
