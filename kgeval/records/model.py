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

    `calls`: requests sent now, retries and re-asks counted; `from_journal`: requests answered by the journal.
    Tokens and cost (USD; null where no price is known) are of the requests sent. `seconds`: sum of their latencies.
    `failures`: items left unscored, by cause. `earlier_`: the same of earlier starts of this run, which were killed or
    stopped before their report, or whose rows are resumed: with them, `in_all` is what the run was billed for.
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
    earlier_calls: int = 0
    earlier_input_tokens: int = 0
    earlier_output_tokens: int = 0
    earlier_cost: float | None = None

    @property
    def in_all(self) -> ModelUse:
        """What was asked now and by earlier starts of the run, as if all of it were now."""
        costs = [cost for calls, cost in ((self.calls, self.cost), (self.earlier_calls, self.earlier_cost)) if calls or cost]
        return self.model_copy(update={
            "calls": self.calls + self.earlier_calls, "input_tokens": self.input_tokens + self.earlier_input_tokens,
            "output_tokens": self.output_tokens + self.earlier_output_tokens,
            "cost": self.cost if not costs else None if None in costs else round(sum(filter(None, costs)), 6),
            "earlier_calls": 0, "earlier_input_tokens": 0, "earlier_output_tokens": 0, "earlier_cost": None,
        })
