"""A run of the whole pipeline: what each stage came to, so that a later run does only what is not done."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kgeval.records.base import SCHEMA_VERSION, Record
from kgeval.records.matrix import RunPlace

StageState = Literal["done", "missed", "incomplete", "failed", "interrupted", "running", "not_run"]
ENDED: tuple[StageState, ...] = ("done", "missed")  # a missed gate is an answer too


class StageRun(Record):
    """One stage. `done`: exit code 0; `missed`: a gate of it is missed (1); `incomplete`: 3; `not_run`: a stage that it needs failed.

    `fingerprint`: of all that its result depends on. `outputs`: file -> SHA-256 of its bytes. `cost`, `calls`: of models, in that run.
    `graph`: the name of the graph that it writes; `graph_state`: a fingerprint of what the database said of it when it was done.
    """

    id: str
    kind: str
    place: RunPlace = RunPlace()
    command: str
    state: StageState
    fingerprint: str
    exit_code: int | None = None
    started: str | None = None
    seconds: float | None = None
    outputs: dict[str, str] = Field(default_factory=dict)
    cost: float | None = None
    calls: int | None = None
    reason: str | None = None
    graph: str | None = None
    graph_state: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the stage came to its end."""
        return self.state in ENDED


class PipelineRun(Record):
    """The file run.json of a run's folder: the last state of every stage."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    kgeval: str
    stages: list[StageRun] = Field(default_factory=list)
