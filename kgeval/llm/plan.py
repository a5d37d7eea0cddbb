"""What a run would ask, before it asks: calls, tokens, money, time. Nothing is sent.

Calls of a stage whose prompts are known are counted exactly, as first asks: retries and re-asks come on top only where something
fails. A stage whose prompts depend on earlier replies has bounds, low to high.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING

from kgeval.llm import tokens
from kgeval.llm.calls import Limits
from kgeval.llm.prices import Price
from kgeval.llm.prompts import Prompt

if TYPE_CHECKING:
    import pandas as pd

GUESSED_SECONDS = 2.0
GUESSED_OUTPUT = 300
GUESSED_OUTPUT_AN_ITEM = 60


@dataclass(frozen=True)
class PlannedStage:
    """One stage: calls to make (those in the journal are not among them), tokens of all of them together.

    `seconds_a_call`: mean of this stage's earlier calls in the journal, else a guess of 2 s. `output_tokens_high`: the largest
    reply of the stage in the journal, or the token limit if one is set, else a guess, times the calls: an estimate, no limit.
    """

    stage: str
    calls_low: int
    calls_high: int
    from_journal: int = 0
    input_tokens_low: int = 0
    input_tokens_high: int = 0
    output_tokens_high: int = 0
    price: Price | None = None
    seconds_a_call: float = GUESSED_SECONDS

    @property
    def cost(self) -> tuple[float, float] | None:
        """USD, low (input tokens only) to high; None where no price is known."""
        if self.price is None:
            return None
        return self.price.cost(self.input_tokens_low, 0), self.price.cost(self.input_tokens_high, self.output_tokens_high)


_HEAD = ("stage", "calls", "in the journal", "input tokens", "output tokens", "cost")


class AnyPlan:
    """What every dry run gives: how many calls it would make, rows, and its text, which `print` and a notebook show."""

    @property
    def calls(self) -> tuple[int, int]:
        """Calls of models to make, low to high."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """A row a stage."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class Plan(AnyPlan):
    """All stages of a run, and the limits that it would run under. `tokenizer` names what the tokens were counted with. `print` shows it
    as a table, between `lines` and `notes` in words; `asks`: whether a model is asked at all, else there is no table."""

    stages: tuple[PlannedStage, ...]
    limits: Limits = field(default_factory=Limits)
    tokenizer: str = tokens.TOKENIZER
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    asks: bool = True

    @property
    def calls(self) -> tuple[int, int]:
        """Calls to make, low to high."""
        return sum(stage.calls_low for stage in self.stages), sum(stage.calls_high for stage in self.stages)

    @property
    def from_journal(self) -> int:
        """Calls that the journal answers."""
        return sum(stage.from_journal for stage in self.stages)

    @property
    def cost(self) -> tuple[float, float] | None:
        """USD, low to high; None where a stage has no known price."""
        costs = [stage.cost for stage in self.stages]
        priced_costs = [cost for cost in costs if cost is not None]
        return (sum(low for low, _ in priced_costs), sum(high for _, high in priced_costs)) if len(priced_costs) == len(costs) else None

    @property
    def price_notes(self) -> list[str]:
        """Where the stages' prices come from and of what date, each once."""
        return list(dict.fromkeys(stage.price.note for stage in self.stages if stage.price is not None and stage.price.note))

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds at the set concurrency and rates, low to high."""
        return self._seconds(high=False), self._seconds(high=True)

    def to_pandas(self) -> pd.DataFrame:
        """A row a stage: calls, those in the journal, tokens, USD (None where no price is known)."""
        import pandas as pd

        costs = [stage.cost or (None, None) for stage in self.stages]
        return pd.DataFrame({
            "stage": [stage.stage for stage in self.stages], "calls_low": [stage.calls_low for stage in self.stages],
            "calls_high": [stage.calls_high for stage in self.stages], "from_journal": [stage.from_journal for stage in self.stages],
            "input_tokens_low": [stage.input_tokens_low for stage in self.stages],
            "input_tokens_high": [stage.input_tokens_high for stage in self.stages],
            "output_tokens_high": [stage.output_tokens_high for stage in self.stages],
            "cost_low": [low for low, _ in costs], "cost_high": [high for _, high in costs],
        })

    def __str__(self) -> str:
        return "\n".join((*self.lines, *([self._table()] if self.asks else []), *self.notes))

    def _table(self) -> str:
        total = ("total", _span(*self.calls), f"{self.from_journal:,}", _span(
            sum(stage.input_tokens_low for stage in self.stages), sum(stage.input_tokens_high for stage in self.stages),
        ), f"{sum(stage.output_tokens_high for stage in self.stages):,}", _money(self.cost))
        rows = [_HEAD, *(_row(stage) for stage in self.stages), total]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
            for row in rows
        ]
        low, high = (_time(seconds) for seconds in self.seconds)
        rates = (("requests", self.limits.rpm), ("tokens", self.limits.tpm))
        lines += [
            f"about {low if low == high else f'{low} to {high}'} at {self.limits.concurrency} requests at a time"
            + "".join(f", {limit:,} {what} a minute" for what, limit in rates if limit),
            f"tokens counted with {self.tokenizer}; output tokens, and so the higher cost, are estimates; retries and re-asks come on top",
            *self.price_notes,
        ]
        if self.cost is None:
            lines.append("no price is known for this model: give a price file with --prices to see the cost")
        return "\n".join(line.rstrip() for line in [*lines, "dry run: nothing was sent"])

    def _seconds(self, *, high: bool) -> float:
        calls = self.calls[high]
        used = sum(stage.input_tokens_high + stage.output_tokens_high if high else stage.input_tokens_low for stage in self.stages)
        busy = sum((stage.calls_high if high else stage.calls_low) * stage.seconds_a_call for stage in self.stages)
        by_rpm = 60.0 * calls / self.limits.rpm if self.limits.rpm else 0.0
        by_tpm = 60.0 * used / self.limits.tpm if self.limits.tpm else 0.0
        return max(busy / self.limits.concurrency, by_rpm, by_tpm)


def bound(prompt: Prompt, *, calls: tuple[int, int], slot_tokens: tuple[int, int], stage: str = "", items: int = 0) -> PlannedStage:
    """A stage whose prompts are not known yet: calls, and tokens of one prompt's slots, each low and high. `items`: numbered items
    a call at most."""
    own = tokens.count_messages(prompt.system, prompt.user)
    return PlannedStage(
        stage=stage or prompt.name, calls_low=calls[0], calls_high=calls[1], input_tokens_low=calls[0] * (own + slot_tokens[0]),
        input_tokens_high=calls[1] * (own + slot_tokens[1]), output_tokens_high=calls[1] * guessed_output(items),
    )


def guessed_output(items: int) -> int:
    """A guess at the tokens of a reply, where the journal has no earlier one."""
    return GUESSED_OUTPUT + GUESSED_OUTPUT_AN_ITEM * items


def priced(stage: PlannedStage, price: Price | None) -> PlannedStage:
    """The stage with the model's price."""
    return replace(stage, price=price)


def _row(stage: PlannedStage) -> tuple[str, ...]:
    return (
        stage.stage, _span(stage.calls_low, stage.calls_high), f"{stage.from_journal:,}",
        _span(stage.input_tokens_low, stage.input_tokens_high), f"{stage.output_tokens_high:,}", _money(stage.cost),
    )


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _money(cost: tuple[float, float] | None) -> str:
    if cost is None:
        return "unknown"
    low, high = (f"{value:.2f}" if value >= 1 or value == 0 else f"{value:.4f}" for value in cost)
    return f"{low if low == high else f'{low} to {high}'} USD"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
