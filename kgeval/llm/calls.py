"""What is asked of a model and what comes back. The shapes that every other room uses; no client here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, ValidationInfo

from kgeval.llm.prompts import Prompt
from kgeval.llm.tags import folded_tag, item_tags

Cause = Literal[
    "rate_limited", "server_error", "timeout", "connection", "unparsable", "missing_item", "refused", "cut", "empty", "too_long",
    "rejected", "budget", "error_rate", "cancelled", "graph_error", "embedding_error", "metric_error",
]


class Reply(BaseModel):
    """Base of what a model is asked to return. Unknown fields are dropped: models like to add some."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _filled(value: str, field: ValidationInfo) -> str:
    if not value.strip():
        raise ValueError(f"the {field.field_name} is empty")
    return value.strip()


FilledText = Annotated[str, AfterValidator(_filled)]  # of a reply: without blanks around it, never empty


def _shown(tag: str, field: ValidationInfo) -> str:
    if field.context is not None and folded_tag(tag) not in field.context:
        raise UnaskedTagError
    return folded_tag(tag)


class UnaskedTagError(Exception):
    """A reply names what it was not shown. No ValueError: not the one answer is malformed, the whole list cannot be believed."""


SourceTag = Annotated[str, AfterValidator(_shown)]  # of a text that the request shows (Task.sources)


class Tagged(Reply):
    """Base of one answer in a list: it repeats the tag of the item that it answers."""

    tag: str


T = TypeVar("T", bound=Reply)


@dataclass(frozen=True)
class Endpoint:
    """A model at an OpenAI-compatible endpoint. `base_url` None: OPENAI_BASE_URL, else the client's default. No key: it is
    read from OPENAI_API_KEY when a client is made, and lives nowhere else.

    `name`: what the endpoint is called in journal keys, signatures and graphs, whatever its address is; None: by its address
    (kgeval.llm.endpoints.endpoint_name), which `settled` puts in."""

    model: str
    base_url: str | None = None
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    name: str | None = None

    @property
    def max_output(self) -> int | None:
        """The most tokens of one reply, where the parameters limit them."""
        limits = [value for name in ("max_completion_tokens", "max_tokens") if isinstance(value := self.parameters.get(name), int)]
        return max(limits, default=None)


@dataclass(frozen=True)
class Limits:
    """How much at a time and in all: requests in flight, per minute, tokens per minute, transport retries, re-asks of missing
    items, seconds a call, USD and calls of this run, largest share of failed items."""

    concurrency: int = 8
    rpm: int | None = None
    tpm: int | None = None
    max_retries: int = 6
    max_reasks: int = 2
    timeout: float = 60.0
    cost_limit: float | None = None
    max_calls: int | None = None
    max_error_rate: float = 0.1


@dataclass(frozen=True)
class Task(Generic[T]):
    """One question to a model. `id` is the caller's own name for it and comes back with the outcome.

    `slots`: one value for each slot of the prompt; every value is put in fenced as data. `items`: shown with their tags in
    the prompt's slot `items`; the reply class then has one field `items: list[X]` with X a Tagged, and each tag must come
    back exactly once. `sources`: tags of what slots show, the only ones that a SourceTag may be. `stage` names the account (default: the
    prompt's name). `trial`: another trial is another call.
    `temperature`: in place of the endpoint's 0, whoever set that; another one, or none, stays. `stream`: the reply comes piece by piece,
    so that the seconds to its first token are known; that is another call than one that comes as a whole.
    """

    id: str
    prompt: Prompt
    slots: Mapping[str, JsonValue]
    reply: type[T]
    items: tuple[JsonValue, ...] = ()
    trial: int = 0
    stage: str = ""
    temperature: float | None = None
    stream: bool = False
    sources: frozenset[str] = frozenset()

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of the items, in their order."""
        return item_tags(self.items)


@dataclass(frozen=True)
class Failure:
    """Why there is no answer: a cause for counting, and the words for people (no secrets, no texts of the user's)."""

    cause: Cause
    detail: str = ""


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What came back. `value` is None if nothing usable came, `failure` then says why.

    With items, `answers` holds one answer an item, by the item's number (its place, from 1), gathered over all asks, and `value.items`
    the same in the order of the numbers; `missing` has a Failure for every number without one. `calls`: journal keys of the replies used,
    in order; `call_of`: of the reply that answered a number.
    """

    id: str
    value: T | None
    failure: Failure | None = None
    answers: Mapping[int, Any] = field(default_factory=dict)
    missing: Mapping[int, Failure] = field(default_factory=dict)
    calls: tuple[str, ...] = ()
    call_of: Mapping[int, str] = field(default_factory=dict)
    from_journal: bool = False


@dataclass(frozen=True)
class Spent:
    """What finished calls took when they were made, in this run or an earlier one: `seconds` on the wire, tokens, USD (None: no price
    is known). Tries that failed before them are not in it. `first`: seconds to the first token of one call that was streamed."""

    calls: int
    seconds: float
    input_tokens: int
    output_tokens: int
    cost: float | None
    first: float | None = None
