"""Extraction as Kasiak prints it [K 3.3.1], the prompt in our words: a chunk alone, entities by name and type, relationships by names.

To compare with graphs that were built so: no title or sentences before the chunk, no descriptions, no other names, no schema, no second
round; pronouns and placeholders stay entities, as the paper finds them in its graph [K 5.4.1].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from kgeval.llm.calls import Reply, Task
from kgeval.llm.plan import PlannedStage
from kgeval.llm.prompts import Prompt
from kgeval.llm.session import Models
from kgeval.llm.tokens import count
from kgeval.text.extract.mentions import ChunkSource, Extraction
from kgeval.text.extract.model import (
    EXTRACT,
    REPLY_FRAME,
    Found,
    FoundEntity,
    FoundRelation,
    Gathering,
    ModelExtractor,
    listed_rows,
    scalar,
    unwrapped,
)

PROMPT = "extract-kasiak"


# The docstrings of these classes stand in the schema that the model is shown.


class PrintedEntity(Reply):
    """An entity of the text."""

    id: str
    type: str


class PrintedRelation(Reply):
    """How two entities are related. `source` and `target` are their ids."""

    source: str
    target: str
    label: str


class Printed(Reply):
    """The key entities of the text and the relationships between them."""

    entities: list[PrintedEntity]
    relationships: list[PrintedRelation]
    unusable: SkipJsonSchema[dict[str, int]] = Field(default_factory=dict)  # rows that could not be read, by cause; never asked for

    @model_validator(mode="before")
    @classmethod
    def _patient(cls, data: Any) -> Any:
        """Rows that lack something are dropped and counted. Raises: ValueError where a part is no list, or most entities are lost."""
        whole = unwrapped(data)
        if whole is None:
            return data
        rows = listed_rows(whole["entities"], "entities")
        entities = [{"id": name, "type": scalar(row.get("type")) or ""} for row in rows if (name := _name(row)) is not None]
        if 2 * len(entities) < len(rows):
            raise ValueError("most of the entities are no objects with an id")
        unusable = Counter({"malformed_entity": len(rows) - len(entities)})
        relationships = []
        for row in listed_rows(whole.get("relationships", whole.get("relations")) or [], "relationships"):
            fields = {name: scalar(row.get(name)) for name in ("source", "target", "label")} if isinstance(row, Mapping) else {}
            if fields and None not in fields.values():
                relationships.append(fields)
            else:
                unusable["malformed_relation"] += 1
        return {"entities": entities, "relationships": relationships, "unusable": dict(+unusable)}

    def found(self) -> Found:
        """In the form of kgeval's own replies: numbers for ids. An end that is no entity of the reply is number 0, which nothing has."""
        numbers: dict[str, int] = {}
        for number, entity in enumerate(self.entities, start=1):
            numbers.setdefault(entity.id.casefold(), number)
        return Found.model_construct(
            entities=[
                FoundEntity(number=number, name=entity.id, type=entity.type, description="", aliases=[])
                for number, entity in enumerate(self.entities, start=1)
            ],
            relations=[
                FoundRelation(
                    source=numbers.get(row.source.casefold(), 0), target=numbers.get(row.target.casefold(), 0), predicate=row.label,
                    description="",
                ) for row in self.relationships
            ],
            unusable=self.unusable,
        )


class PrintedExtractor(ModelExtractor):
    """Asks a model for each chunk as Kasiak does: one call, the chunk's text and nothing else."""

    def __init__(self, models: Models) -> None:
        super().__init__(models)
        self._extract = models.prompt(PROMPT)

    @property
    def _prompts(self) -> tuple[Prompt, ...]:
        return (self._extract,)

    @property
    def settings(self) -> dict[str, str | int]:
        """As those of a ModelExtractor, without a schema: none is shown."""
        return {name: value for name, value in super().settings.items() if name != "schema_hash"}

    def plan(self, sources: Sequence[ChunkSource]) -> tuple[PlannedStage, ...]:
        """What extracting would take, exactly. Nothing is sent. A reply is reckoned as at most twice the tokens of its text and 300."""
        if not sources:
            return ()
        run = self._models.dry_run()
        for source in sources:
            run.ask(self._printed_task(source))
        reply = sum(2 * count(source.chunk.text) + REPLY_FRAME for source in sources) // len(sources)
        first, *again = self._models.planned(run)
        return replace(first, output_tokens_high=max(first.output_tokens_high, reply * first.calls_high)), *again

    def _one(self, source: ChunkSource) -> Extraction:
        reply = self._models.ask(self._printed_task(source))
        if reply.value is None:
            return Extraction(source.chunk.id, failure=reply.failure)
        gathering = Gathering(source, None, as_given=True)
        gathering.add(reply.value.found())
        return gathering.extraction()

    def _printed_task(self, source: ChunkSource) -> Task[Printed]:
        return Task(source.chunk.id, self._extract, {"text": source.chunk.text}, Printed, stage=EXTRACT)


def _name(row: Any) -> str | None:
    return scalar(row.get("id", row.get("name"))) if isinstance(row, Mapping) else None
