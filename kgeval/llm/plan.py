"""What a run would ask, before it asks: calls, tokens, money, time. Nothing is sent.

Calls of a stage whose prompts are known are counted exactly, as first asks: retries and re-asks come on top only where something
fails. A stage whose prompts depend on earlier replies has bounds, low to high.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kgeval.llm import tokens
from kgeval.llm.calls import Limits
from kgeval.llm.prices import Price
from kgeval.llm.prompts import Prompt

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
        """USD, low (input tokens only) to high; null where no price is known."""
        if self.price is None:
            return None
        return self.price.cost(self.input_tokens_low, 0), self.price.cost(self.input_tokens_high, self.output_tokens_high)


@dataclass(frozen=True)
class Plan:
    """All stages of a run, and the limits that it would run under. `tokenizer` names what the tokens were counted with."""

    stages: tuple[PlannedStage, ...]
    limits: Limits = field(default_factory=Limits)
    tokenizer: str = tokens.TOKENIZER

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
        """USD, low to high; null where a stage has no known price."""
        costs = [stage.cost for stage in self.stages]
        known = [cost for cost in costs if cost is not None]
        return (sum(low for low, _ in known), sum(high for _, high in known)) if len(known) == len(costs) else None

    @property
    def price_notes(self) -> list[str]:
        """Where the stages' prices come from and of what date, each once."""
        return list(dict.fromkeys(stage.price.note for stage in self.stages if stage.price is not None and stage.price.note))

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds at the set concurrency and rates, low to high."""
        return self._seconds(high=False), self._seconds(high=True)

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
