"""Puts together what the replies about one chunk say: numbers joined, repeats folded, the schema enforced, all losses counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pydantic import JsonValue

from kgeval.text.extract import naming
from kgeval.text.extract.mentions import Extraction, Link, Mention, Source
from kgeval.text.extract.replies import Found, FoundEntity, FoundRelation
from kgeval.text.extract.schema import Schema, folded
from kgeval.text.extract.spans import Finder
from kgeval.text.names import normalise

# A reply with more has run away: no chunk of a sane size names a thousand things.
MOST_ENTITIES, MOST_RELATIONS = 1_000, 3_000
_REFUSED, _AMBIGUOUS = -1, -2


@dataclass
class _Entity:
    name: str
    type: str | None
    description: str | None
    aliases: dict[str, None] = field(default_factory=dict)


class Gathering:
    """One chunk's entities and relations, over the rounds in which they were asked for."""

    def __init__(self, source: Source, schema: Schema | None) -> None:
        self._source, self._schema = source, schema
        self._finder = Finder(source.chunk.text)
        self._beside = Finder(f"{source.title or ''}\n{source.before}")
        self._entities: list[_Entity] = []
        self._places: dict[tuple[str, str | None], int] = {}
        self._relations: dict[tuple[int, int, str], FoundRelation] = {}
        self.dropped: Counter[str] = Counter()

    def add(self, found: Found) -> int:
        """Takes in one reply; how many entities and relations were new. Numbers up to those already shown mean these."""
        before = len(self._entities) + len(self._relations)
        self.dropped.update(found.unusable)
        numbers = {at + 1: at for at in range(len(self._entities))}
        shown = len(numbers)
        for entity in found.entities:
            place = self._entity(entity)
            known = numbers.setdefault(entity.number, place)
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
            "entities": [{"number": at, "name": e.name, "type": e.type} for at, e in enumerate(self._entities, start=1)],
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
        name = naming.as_name(found.name)
        kind = self._type(found.type)
        refusal = naming.refusal(name) or ("type_not_allowed" if kind is None and self._schema and self._schema.types_matter else None)
        key = (normalise(name) or name, kind)
        if refusal is None and key not in self._places and len(self._entities) >= MOST_ENTITIES:
            refusal = "above_limit"
        if refusal is not None:
            self.dropped[refusal] += 1
            return _REFUSED
        if key in self._places:
            self.dropped["repeated_entity"] += 1
        else:
            self._places[key] = len(self._entities)
            self._entities.append(_Entity(name, kind, naming.as_description(found.description)))
        entity = self._entities[self._places[key]]
        entity.description = entity.description or naming.as_description(found.description)
        self._aliases(entity, [*found.aliases, name])
        return self._places[key]

    def _type(self, given: str) -> str | None:
        kind = naming.as_type(given)
        if self._schema is None or kind is None:
            return kind
        return self._schema.entity_type(kind)

    def _aliases(self, entity: _Entity, given: list[str]) -> None:
        """Other names, where they stand in the material: an invented one would merge what does not belong together."""
        own = normalise(entity.name)
        for alias in dict.fromkeys(map(naming.as_name, given)):
            if alias == entity.name or alias in entity.aliases or normalise(alias) == own:
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
        """Why a relation cannot be kept, or null. Ends are places of entities."""
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

    def _mention(self, entity: _Entity) -> Mention:
        place = next((found for name in (entity.name, *entity.aliases) if (found := self._finder.find(name))), None)
        start, end = place or (None, None)
        return Mention(entity.name, entity.type, entity.description, tuple(entity.aliases), start, end)

    def _link(self, source: int, target: int, found: FoundRelation) -> Link:
        start, end = self._finder.sentence_with(self._entities[source].name, self._entities[target].name) or (None, None)
        return Link(source, target, found.predicate, naming.as_description(found.description), start, end)
