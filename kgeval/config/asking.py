"""What is said of models: which one is asked, how much of it, and where its replies are kept. The same for every task that asks models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from kgeval.config.base import Section
from kgeval.config.flags import DAY, Flag, Power, Unit

LIMITS, BATCHES = "Limits of model calls", "Batches of the provider"  # headings of --help
_Count = Annotated[int | None, Flag(heading=LIMITS)]


class ModelOptions(Section):
    """The model of a task and its limits; what is None comes from `[model.ROLE]` and `[limits]` of kgeval.toml. The key comes from
    OPENAI_API_KEY."""

    model: Annotated[str | None, Flag(metavar="NAME")] = Field(
        default=None, description="The model that is the {role} [default: model.{role}.name of kgeval.toml].",
    )
    base_url: Annotated[
        str | None, Flag(metavar="URL", envvar="OPENAI_BASE_URL"), Power("address", "what models are asked, and OPENAI_API_KEY,"),
    ] = Field(
        default=None, description="OpenAI-compatible endpoint [default: the client's]. The key comes from OPENAI_API_KEY.",
    )
    language: Annotated[str, Flag(metavar="CODE")] = Field(default="en", min_length=1, description="Language of the prompts")
    max_concurrency: Annotated[int | None, Flag(short="-j", heading=LIMITS)] = Field(
        default=None, ge=1, le=1024, description="Requests in flight [default: 8].",
    )
    rpm: _Count = Field(default=None, ge=1, description="Requests a minute to one endpoint [default: no limit].")
    tpm: _Count = Field(default=None, ge=1, description="Tokens a minute to one endpoint [default: no limit].")
    max_retries: _Count = Field(default=None, ge=0, le=100, description="Retries of a request that did not get through [default: 6].")
    max_reasks: _Count = Field(default=None, ge=0, le=20, description="Times that missing answers are asked again [default: 2].")
    call_timeout: Annotated[float | None, Unit("seconds"), Flag(heading=LIMITS)] = Field(
        default=None, gt=0, le=DAY, allow_inf_nan=False, description="Seconds a request may take, in silence and in all [default: 60].",
    )
    cost_limit: Annotated[float | None, Flag(metavar="USD", heading=LIMITS)] = Field(
        default=None, ge=0, le=1e9, allow_inf_nan=False, description="Stop (exit 3) before more than this is spent.",
    )
    max_calls: _Count = Field(default=None, ge=0, description="Stop (exit 3) after so many requests.")
    max_error_rate: Annotated[float | None, Flag(heading=LIMITS)] = Field(
        default=None, ge=0, le=1, description="Exit 3 if more than this share of items fails [default: 0.1].",
    )
    prices: Annotated[Path | None, Flag(heading=LIMITS)] = Field(
        default=None, description="Price file to use instead of kgeval's own, which is unchecked.",
    )
    journal: Annotated[Path | None, Flag(heading=LIMITS)] = Field(
        default=None, description="Journal of finished calls [default: in the cache folder].",
    )
    cache_dir: Annotated[Path | None, Flag(heading=LIMITS)] = Field(
        default=None, description="Cache folder [default: KGEVAL_CACHE_DIR, else the user's].",
    )


class BatchOptions(Section):
    """Calls by the provider's batch endpoints, before a task goes its usual way through the journal."""

    batch: Annotated[bool, Flag(heading=BATCHES)] = Field(
        default=False, description="Ask by the provider's batch endpoints: cheaper with many, takes up to a day.",
    )
    batch_window: Annotated[str | None, Flag(metavar="TIME", heading=BATCHES)] = Field(
        default=None, description="How long a batch may take, as the provider names it [default: 24h].",
    )
    batch_poll: Annotated[float | None, Unit("seconds"), Flag(metavar="S", heading=BATCHES)] = Field(
        default=None, gt=0, le=DAY, allow_inf_nan=False, description="Seconds between looks at a batch [default: 30].",
    )
    batch_size: Annotated[int | None, Flag(heading=BATCHES)] = Field(
        default=None, ge=1, le=50_000, description="Requests a file at most [default: 50000].",
    )
    batch_price_factor: Annotated[float | None, Flag(metavar="X", heading=BATCHES)] = Field(
        default=None, gt=0, le=1, description="What a batch call costs of a live one's price, 0.5 for half [default: not known, counted in "
        "full].",
    )

