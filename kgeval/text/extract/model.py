"""Extraction by a model: one call a chunk, and further rounds that ask for what was missed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pydantic import Field, JsonValue, model_validator
from pydantic.json_schema import SkipJsonSchema

from kgeval.errors import UsageError
from kgeval.llm.account import NOT_COUNTED
from kgeval.llm.calls import Reply, Task
from kgeval.llm.plan import PlannedStage
from kgeval.llm.prompts import Prompt
from kgeval.llm.session import Models
from kgeval.llm.tokens import count
from kgeval.manifest import ModelUsage
from kgeval.text.clean import clean_name
from kgeval.text.extract import naming
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention
from kgeval.text.extract.schema import Allowed, Schema, folded
from kgeval.text.extract.spans import Finder
from kgeval.text.signs import identity_key

# The form of an extraction reply, read with patience: what can be used of it is used, the rest is dropped and
# counted.

_TEXT_KEYS = ("name", "text", "value", "label", "id")
_DEEPEST = 5


# The docstrings of these classes stand in the schema that the model is shown, and so in the journal's keys.


class FoundEntity(Reply):
    """An entity that the text names."""

    number: int  # below zero: the reply gave none that can be used
    name: str
    type: str
    description: str
    aliases: list[str]


class FoundRelation(Reply):
    """A relation that the text states. `source` and `target` are numbers of entities."""

    source: int
    target: int
    predicate: str
    description: str


class Found(Reply):
    """The entities that the text names and the relations that it states between them."""

    entities: list[FoundEntity]
    relations: list[FoundRelation]
    # items of the reply that could not be read, by cause; counted here, never asked for
    unusable: SkipJsonSchema[dict[str, int]] = Field(default_factory=dict)

    alone: ClassVar[bool] = True  # relations name entities of this reply only

    @model_validator(mode="before")
    @classmethod
    def _patient(cls, data: Any) -> Any:
        """Numbers as texts, texts as numbers, names inside objects, relations by name: taken for what they mean.

        But not anything at all: {"entities": {"a": 1}} once became an entity named 1, and no later run asked again.

        Raises: ValueError where entities or relations are no list, most entities are no objects with a name, or most relations dangle.
        """
        whole = unwrapped(data)
        if whole is None:
            return data
        unusable: Counter[str] = Counter()
        listed = listed_rows(whole["entities"], "entities")
        entities = [parsed for number, row in enumerate(listed) if (parsed := _entity(row, number, unusable)) is not None]
        if 2 * sum(isinstance(row, dict) for row in listed) < len(listed) or 2 * len(entities) < len(listed):
            raise ValueError("most of the entities are no objects with a name")
        numbers: dict[str, int] = {}
        for entity in entities:
            numbers.setdefault(entity["name"].casefold(), entity["number"])
        rows = listed_rows(whole.get("relations", whole.get("relationships")) or [], "relations")
        relations = [parsed for row in rows if (parsed := _relation(row, numbers, unusable)) is not None]
        there = {entity["number"] for entity in entities}
        held = sum(not cls.alone or {row["source"], row["target"]} <= there for row in relations)
        if 2 * held < len(rows):
            raise ValueError("most of the relations are between entities that are not there")
        return {"entities": entities, "relations": relations, "unusable": dict(unusable)}


class More(Found):
    """The entities that the text names and the relations that it states between them."""

    alone: ClassVar[bool] = False  # relations also name entities that an earlier reply gave


def unwrapped(data: Any) -> Mapping[str, Any] | None:
    """The object with the entities: the reply itself, or the only value of an object around it; None where there is none."""
    for _ in range(_DEEPEST):
        if not isinstance(data, Mapping):
            return None
        if "entities" in data:
            return data
        data = next(iter(data.values())) if len(data) == 1 else None
    return None


def listed_rows(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} are no list")
    return value


def _entity(row: Any, at: int, unusable: Counter[str]) -> dict[str, Any] | None:
    fields = row if isinstance(row, dict) else {"name": row}
    name = scalar(fields.get("name", fields.get("text")))
    if name is None:
        unusable["malformed_entity"] += 1
        return None
    number = _number(fields.get("number", fields.get("id")))
    listed = fields.get("aliases")
    aliases = [alias for part in (listed if isinstance(listed, list) else [listed]) if (alias := scalar(part)) is not None]
    return {
        "number": number if number is not None and number >= 0 else -1 - at, "name": name, "type": scalar(fields.get("type")) or "",
        "description": scalar(fields.get("description")) or "", "aliases": aliases,
    }


def _relation(row: Any, numbers: Mapping[str, int], unusable: Counter[str]) -> dict[str, Any] | None:
    fields = row if isinstance(row, dict) else {}
    predicate = scalar(fields.get("predicate", fields.get("label", fields.get("type", fields.get("relation")))))
    source, target = (_end(fields.get(key), numbers) for key in ("source", "target"))
    if predicate is None or source is None or target is None:
        unusable["malformed_relation"] += 1
        return None
    return {"source": source, "target": target, "predicate": predicate, "description": scalar(fields.get("description")) or ""}


def _end(value: Any, numbers: Mapping[str, int]) -> int | None:
    """The number of a relation's end; also where the reply gives the entity's name, or the entity itself."""
    if isinstance(value, dict):
        value = value.get("number", value.get("name"))
    number = _number(value)
    if number is not None:
        return number
    name = scalar(value)
    return numbers.get(name.casefold()) if name is not None else None


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    # numbers are ours and count from 1: what has ten digits is some other id
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**9:
        return int(value)
    return value if isinstance(value, int) and abs(value) < 10**9 else None


def scalar(value: Any, depth: int = 0) -> str | None:
    """The text of a scalar, or of the telling part of an object; None for nothing, true, false and lists."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, dict) and depth < _DEEPEST:
        return next((text for key in _TEXT_KEYS if (text := scalar(value.get(key), depth + 1)) is not None), None)
    return None


# Puts together what the replies about one chunk say: numbers joined, repeats folded, the schema enforced, all losses
# counted.

# A reply with more has run away: no chunk of a sane size names a thousand things.
MOST_ENTITIES, MOST_RELATIONS = 1_000, 3_000
_REFUSED, _AMBIGUOUS = -1, -2


@dataclass
class _GatheredEntity:
    name: str
    type: str | None
    description: str | None = None
    aliases: dict[str, None] = field(default_factory=dict)


class Gathering:
    """One chunk's entities and relations, over the rounds in which they were asked for. `as_given`: pronouns and placeholders too."""

    def __init__(self, source: ChunkSource, schema: Schema | None, *, as_given: bool = False) -> None:
        self._source, self._schema, self._as_given = source, schema, as_given
        self._finder = Finder(source.chunk.text)
        self._beside = Finder(f"{source.title or ''}\n{source.before}")
        self._entities: list[_GatheredEntity] = []
        self._places: dict[tuple[str, str | None], int] = {}
        self._relations: dict[tuple[int, int, str], FoundRelation] = {}
        self.dropped: Counter[str] = Counter()

    def add(self, found: Found) -> int:
        """Takes in one reply; how many entities and relations were new. Numbers up to those already shown mean these."""
        before = len(self._entities) + len(self._relations)
        self.dropped.update(found.unusable)
        numbers = {index + 1: index for index in range(len(self._entities))}
        shown = len(numbers)
        for entity in found.entities:
            place = self._entity(entity)
            known = numbers.setdefault(entity.number, place)
            # two things under one number: relations to it mean nobody; but a number that was shown stays what it was where the
            # reply gives it to something that is refused
            if known != place and (entity.number > shown or place != _REFUSED):
                numbers[entity.number] = _AMBIGUOUS
        for relation in found.relations:
            self._relation(relation, numbers)
        return len(self._entities) + len(self._relations) - before

    @property
    def empty(self) -> bool:
        """True where nothing was found so far."""
        return not self._entities

    @property
    def text(self) -> str:
        """The chunk's."""
        return self._source.chunk.text

    def shown(self) -> JsonValue:
        """What was found so far, for the next round."""
        return {
            "entities": [{"number": number, "name": e.name, "type": e.type} for number, e in enumerate(self._entities, start=1)],
            "relations": [{"source": s + 1, "target": t + 1, "predicate": r.predicate} for (s, t, _), r in self._relations.items()],
        }

    def extraction(self) -> Extraction:
        """All of it, with places in the chunk's text. A relation stands where a sentence has both names."""
        return Extraction(
            self._source.chunk.id, mentions=tuple(self._mention(entity) for entity in self._entities),
            links=tuple(self._link(s, t, relation) for (s, t, _), relation in self._relations.items()),
            dropped=dict(sorted(self.dropped.items())),
        )

    def _entity(self, found: FoundEntity) -> int:
        """The place of the entity that is meant; _REFUSED where it can be none."""
        name = clean_name(found.name)
        kind = naming.as_type(found.type)
        if self._schema is not None and kind is not None:
            kind = self._schema.entity_type(kind)
        refusal = self._refusal(name) or ("type_not_allowed" if kind is None and self._schema and self._schema.types_matter else None)
        key = (identity_key(name) or name, kind)
        if refusal is None and key not in self._places and len(self._entities) >= MOST_ENTITIES:
            refusal = "above_limit"
        if refusal is not None:
            self.dropped[refusal] += 1
            return _REFUSED
        if key in self._places:
            self.dropped["repeated_entity"] += 1
        else:
            self._places[key] = len(self._entities)
            self._entities.append(_GatheredEntity(name, kind))
        entity = self._entities[self._places[key]]
        entity.description = entity.description or naming.as_description(found.description)
        self._aliases(entity, [*found.aliases, name])
        return self._places[key]

    def _refusal(self, name: str) -> str | None:
        refusal = naming.refusal(name)
        return None if self._as_given and refusal in ("pronoun", "placeholder") else refusal

    def _aliases(self, entity: _GatheredEntity, given: list[str]) -> None:
        """Other names, where they stand in the material: an invented one would merge what does not belong together."""
        own = identity_key(entity.name)
        for alias in dict.fromkeys(map(clean_name, given)):
            if alias == entity.name or alias in entity.aliases or identity_key(alias) == own:
                continue
            if naming.refusal(alias) is not None or (self._finder.find(alias) or self._beside.find(alias)) is None:
                self.dropped["alias_not_in_text"] += 1
            elif len(entity.aliases) < 20:
                entity.aliases[alias] = None

    def _relation(self, found: FoundRelation, numbers: dict[int, int]) -> None:
        source, target = (numbers.get(number) for number in (found.source, found.target))
        predicate = naming.as_predicate(found.predicate)
        label = self._schema.relation_label(predicate) if self._schema else predicate
        cause = self._misfit(source, target, label)
        if cause is None and source is not None and target is not None and label is not None:
            key = (source, target, folded(label))
            if key in self._relations:
                cause = "repeated_relation"
            elif len(self._relations) >= MOST_RELATIONS:
                cause = "above_limit"
            else:
                self._relations[key] = FoundRelation(source=source, target=target, predicate=label, description=found.description)
        if cause is not None:
            self.dropped[cause] += 1

    def _misfit(self, source: int | None, target: int | None, label: str | None) -> str | None:
        """Why a relation cannot be kept, or None. Ends are places of entities."""
        if source is None or target is None:
            return "missing_number"
        if _AMBIGUOUS in (source, target):
            return "ambiguous_number"
        if _REFUSED in (source, target):
            return "refused_end"
        if source == target:
            return "self_relation"
        if not label:
            return "no_predicate" if label is not None else "label_not_allowed"
        ends = self._entities[source].type, self._entities[target].type
        return None if self._schema is None or self._schema.fits(ends[0], label, ends[1]) else "pattern_not_allowed"

    def _mention(self, entity: _GatheredEntity) -> Mention:
        place = next((span for name in (entity.name, *entity.aliases) if (span := self._finder.find(name))), None)
        start, end = place or (None, None)
        return Mention(entity.name, entity.type, entity.description, tuple(entity.aliases), start, end)

    def _link(self, source: int, target: int, found: FoundRelation) -> RelationMention:
        start, end = self._finder.sentence_with(self._entities[source].name, self._entities[target].name) or (None, None)
        return RelationMention(source, target, found.predicate, naming.as_description(found.description), start, end)


EXTRACT, GLEAN = "extract", "glean"
RULES = 2  # of what is taken from a reply: to be raised when they change; documents are then read anew, as far as possible from the journal
PARAGRAPH = 40  # tokens: that a text of so many names nothing is asked twice
MOST_GLEANINGS = 10
REPLY_FRAME = 300
SUGGESTED = Schema(
    "kgeval's suggestion", open_types=True, open_relations=True, entity_types=tuple(Allowed(name) for name in (
        "Person", "Organization", "Group", "Place", "Event", "Work", "Product", "Animal", "Law", "Method", "Concept",
    )),
)


class ModelExtractor:
    """Asks a model for the entities and relations of each chunk. `schema` None: common types are suggested, nothing is refused.

    `gleanings`: how many more times each chunk is asked for what was missed; ends early where nothing new comes. A paragraph of which the
    first reply takes nothing is asked for what was missed at least once. A chunk whose first call fails is an extraction with that
    failure, and so is one whose later round was not asked because the run was stopped: the next run goes on there. Where a later round
    fails by itself, what was found stays, and `dropped` counts gleaning_failed.
    """

    name = "model"

    def __init__(self, models: Models, schema: Schema | None = None, gleanings: int = 0) -> None:
        if not 0 <= gleanings <= MOST_GLEANINGS:
            raise UsageError(f"{gleanings} gleaning rounds are not possible", fix=f"give 0 to {MOST_GLEANINGS}")
        self._models, self._schema, self._gleanings = models, schema, gleanings
        self._extract = models.prompt(EXTRACT)

    @property
    def _prompts(self) -> tuple[Prompt, ...]:
        """The prompts that chunks may be asked with: without gleaning rounds too, a paragraph of which nothing was taken is asked again."""
        return self._extract, self._models.prompt(GLEAN)

    @property
    def settings(self) -> dict[str, str | int]:
        """What decides which replies are asked for, each by its name: model, endpoint, parameters, prompts, rounds, schema."""
        endpoint = self._models.endpoint
        return {
            "model": endpoint.model, "endpoint": endpoint.name or "", "parameters": json.dumps(dict(endpoint.parameters), sort_keys=True),
            "gleanings": self._gleanings, "prompts": ", ".join(f"{one.language}/{one.name}@{one.hash}" for one in self._prompts),
            "schema_hash": self._schema.hash if self._schema is not None else f"suggested {SUGGESTED.hash}",
        }

    @property
    def signature(self) -> str:
        """Changes with the settings, and with the rules of what is taken from a reply."""
        return _signed({**self.settings, "rules": RULES})

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        """The extractions in the order of the sources; chunks are asked about side by side. Raises as Models.ask does."""
        return self._models.map(self._one, sources, total=len(sources) if isinstance(sources, Sized) else None)

    def asked(self) -> ModelUsage:
        """What was asked of the model so far."""
        return self._models.asked()

    @property
    def notes(self) -> list[str]:
        """What a user should know: prompts in another language, token counts that are estimates."""
        return self._models.notes

    def plan(self, sources: Sequence[ChunkSource]) -> tuple[PlannedStage, ...]:
        """What extracting would take: the first round exactly, the gleaning rounds as bounds. Nothing is sent.

        Bounds: every chunk whose first round is still to be asked takes at least one gleaning call; at most all chunks take all.
        A reply, and what a gleaning prompt shows of earlier ones, is reckoned as at most twice the tokens of the text and 300.
        """
        if not sources:
            return ()
        reply = sum(2 * count(source.chunk.text) + REPLY_FRAME for source in sources) // len(sources)
        run = self._models.dry_run()
        for source in sources:
            known = run.ask(self._task(source)).value
            if known is not None and not self._gleanings and self._rounds(gathered := self._gathered(source, known)):
                run.ask(self._glean_task(source, gathered))
        first, *again = self._models.planned(run)
        first = replace(first, output_tokens_high=max(first.output_tokens_high, reply * first.calls_high))
        if not self._gleanings:
            return (first, *again)
        slots = [sum(count(json.dumps(value, ensure_ascii=False)) for value in self._slots(source).values()) for source in sources]
        calls = first.calls_low, len(sources) * self._gleanings
        high = -(-sum(slots) // len(slots)) + reply
        more = self._models.bound(self._models.prompt(GLEAN), calls=calls, slot_tokens=(min(slots), high), stage=GLEAN)
        return first, replace(more, output_tokens_high=max(more.output_tokens_high, reply * calls[1]))

    def _one(self, source: ChunkSource) -> Extraction:
        first = self._models.ask(self._task(source))
        if first.value is None:
            return Extraction(source.chunk.id, failure=first.failure)
        gathered = self._gathered(source, first.value)
        for _ in range(self._rounds(gathered)):
            more = self._models.ask(self._glean_task(source, gathered))
            if more.failure is not None and more.failure.cause in NOT_COUNTED:
                return Extraction(source.chunk.id, failure=more.failure)
            if more.value is None:
                gathered.dropped["gleaning_failed"] += 1
                break
            if not gathered.add(more.value):
                break
        return gathered.extraction()

    def _rounds(self, gathered: Gathering) -> int:
        """How often to ask for what was missed, after a first reply."""
        silent = gathered.empty and count(gathered.text) >= PARAGRAPH
        return max(self._gleanings, int(silent))

    def _gathered(self, source: ChunkSource, first: Found) -> Gathering:
        gathered = Gathering(source, self._schema)
        gathered.add(first)
        return gathered

    def _task(self, source: ChunkSource) -> Task[Found]:
        return Task(source.chunk.id, self._extract, self._slots(source), Found, stage=EXTRACT)

    def _glean_task(self, source: ChunkSource, gathered: Gathering) -> Task[Found]:
        return Task(source.chunk.id, self._models.prompt(GLEAN), {**self._slots(source), "found": gathered.shown()}, More, stage=GLEAN)

    def _slots(self, source: ChunkSource) -> dict[str, JsonValue]:
        schema = self._schema or SUGGESTED
        return {"title": source.title, "before": source.before, "text": source.chunk.text, "schema": schema.as_data()}


def _signed(decides: Mapping[str, object]) -> str:
    return "model:" + hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()[:16]
