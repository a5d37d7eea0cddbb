"""What a run of `kgeval answer` came to."""

from __future__ import annotations

from pydantic import Field

from kgeval.records.base import SCHEMA_VERSION, Record
from kgeval.records.manifest import RunManifest


class AnsweredSystem(Record):
    """One system. `answers`: rows written, questions times trials; `empty`: it said nothing; `errors`: rows without an answer by cause.

    `latency_s`, `slowest_s`: median and maximum in seconds over `n_latency` rows that have one. Tokens, calls and `cost` (USD) are sums
    over the rows that tell them; null: no row does.
    """

    system: str
    variant: str | None = None
    signature: str
    answers: int
    empty: int = 0
    errors: dict[str, int] = Field(default_factory=dict)
    n_latency: int = 0
    latency_s: float | None = None
    slowest_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int | None = None
    cost: float | None = None


class AnswerReport(Record):
    """The file beside a file of answers. `complete` false: some questions were not asked, and the same command goes on."""

    schema_version: str = SCHEMA_VERSION
    run: RunManifest
    complete: bool = True
    systems: list[AnsweredSystem] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
