"""What building a graph took: the index record of a system [X table 15, table 18]."""

from __future__ import annotations

from pydantic import Field, JsonValue

from kgeval.records.base import SCHEMA_VERSION, PublicRecord, Record
from kgeval.records.manifest import RunManifest
from kgeval.records.model import ModelUse


class Corpus(Record):
    """The texts a graph was built from. `hash`: SHA-256 over ids and content hashes, sorted by id; `tokens` as `tokenizer` counts them;
    `chunks` null: not known."""

    hash: str
    documents: int
    chunks: int | None
    tokens: int
    words: int
    tokenizer: str


class Merge(Record):
    """One decision of entity resolution: the mentions of `merged` are held to mean `kept`.

    `id` is the same in every build that comes to the same decision. `level`: exact, normalised, alias or embedding; `score` in
    0..1 where the level has one; `status` undone: a person took it back, and no later build repeats it.
    """

    id: str
    kept: str
    merged: str
    type: str | None = None
    level: str
    score: float | None = None
    why: str = ""
    status: str = "applied"


class IndexRecord(Record):
    """One build. `seconds` by stage sum to about `seconds` in all. `changed`: what this run wrote: created, updated, deleted by kind.

    `graph`: its name; of an adapter's index, its folder. Tokens, `entities`, `relations` null: not known, never guessed.
    `configuration`: the configuration card.
    """

    schema_version: str = SCHEMA_VERSION
    system: str
    graph: str
    variant: str | None = None
    corpus: Corpus
    run: RunManifest
    seconds: float
    stages: dict[str, float] = Field(default_factory=dict)
    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost: float | None = None
    use: list[ModelUse] = Field(default_factory=list)
    entities: int | None
    relations: int | None
    merges: dict[str, int] = Field(default_factory=dict)
    changed: dict[str, int] = Field(default_factory=dict)
    failures: dict[str, int] = Field(default_factory=dict)
    faults: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    configuration: dict[str, JsonValue] = Field(default_factory=dict)


class Construction(PublicRecord):
    """What the construction of a graph took, as its build wrote it into the graph [X table 15]. Null: not recorded.

    `cost` in USD. `calls` 0: no model was asked.
    """

    system: str
    finished: str | None = None
    seconds: float | None = None
    documents: int | None = None
    chunks: int | None = None
    tokens: int | None = None
    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
