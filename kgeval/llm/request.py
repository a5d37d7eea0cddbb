"""One request in its canonical form: what is asked, and the journal key that stands for all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from kgeval.llm.calls import Endpoint, Reply, Task
from kgeval.llm.prompts import render
from kgeval.llm.schemas import Mode, Shape, shape_of

# Counts up when the canonical form changes: journal rows of another form are then not found, never misread
FORM = 2


@dataclass(frozen=True)
class Request:
    """A request that can be sent. `round` counts the replies of the same task that were used before it (re-asks): the same
    words asked again after a usable reply are another request."""

    endpoint: Endpoint
    system: str
    user: str
    shape: Shape
    prompt: str
    prompt_hash: str
    stage: str
    trial: int = 0
    round: int = 0
    stream: bool = False
    items: int = 0  # items that it shows; they stand in `user`, so this is no part of the canonical form

    @cached_property
    def canonical(self) -> bytes:
        """Canonical JSON of everything that decides the reply: endpoint, model, parameters, messages, reply schema, prompt, trial."""
        whole = {
            "form": FORM, "endpoint": self.endpoint.name, "model": self.endpoint.model, "parameters": dict(self.endpoint.parameters),
            "system": self.system, "user": self.user, "schema": self.shape.text, "prompt": [self.prompt, self.prompt_hash],
            "trial": self.trial, "round": self.round, **({"stream": True} if self.stream else {}),
        }
        return json.dumps(whole, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")

    @cached_property
    def key(self) -> str:
        """SHA-256 of the canonical form, 64 hex digits."""
        return hashlib.sha256(self.canonical).hexdigest()

    def body(self, mode: Mode) -> dict[str, Any]:
        """What is posted. The reply's form is enforced by the endpoint (json_schema), or told in the system message."""
        system = self.system if mode == "json_schema" else f"{self.system}\n\n{self.shape.instruction()}"
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": self.user}],
            **self.endpoint.parameters,
            **({"stream": True, "stream_options": {"include_usage": True}} if self.stream else {}),
        }
        form = self.shape.response_format(mode)
        return body if form is None else {**body, "response_format": form}


def make_request(task: Task[Any], endpoint: Endpoint, *, items: Mapping[str, JsonValue], round_: int = 0) -> Request:
    """The request for a task, with those of its items (tag -> item) that still need an answer. A `seed` among the endpoint's parameters
    counts up with the trial: with one seed, another trial would be the same draw."""
    system, user = render(task.prompt, task.slots, items)
    reply: type[Reply] = task.reply
    parameters = dict(endpoint.parameters)
    if task.trial and isinstance(seed := parameters.get("seed"), int):
        parameters["seed"] = seed + task.trial
    if task.temperature is not None and parameters.get("temperature") == 0:
        parameters["temperature"] = task.temperature
    if parameters != endpoint.parameters:
        endpoint = replace(endpoint, parameters=parameters)
    return Request(
        endpoint=endpoint, system=system, user=user, shape=shape_of(reply), prompt=task.prompt.name, prompt_hash=task.prompt.hash,
        stage=task.stage or task.prompt.name, trial=task.trial, round=round_, stream=task.stream,
        items=len(items),
    )
