"""Draws a sample of relations or entities, passage by passage, with the texts that they come from.

Sampling unit: a group of at most `per_passage` items of one passage. A passage with more items is dealt at random into groups
of nearly equal size, so every item of a stratum has the same chance. Units are drawn without replacement.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.auditing.accuracy.population import QUERIES, Population, PopulationReader, read_population, stratum_of
from kgeval.auditing.accuracy.sample import Sample, SampleItem, SampleSpec
from kgeval.graph.connect import Graph, Row
from kgeval.records import GraphRef, Layout, Passage, SampleDesign
from kgeval.stats.sampling import allocate, deal, draw, groups_needed, keys_of, random_number

MOST_BESIDE = 30
NAMELESS = "(no name)"


@dataclass(frozen=True)
class SamplingUnit:
    """A drawn group: its stratum, its passage, which of the passage's groups it is, and the weight of its items."""

    stratum: str
    home: int
    group: int
    weight: float


@dataclass(frozen=True)
class PlacedItem:
    """Where an item was found: its element id, its random number, and the numbers of its passages, home first."""

    element_id: str
    number: int
    key: tuple[str, ...]
    passages: tuple[int, ...]


def draw_sample(graph: Graph, layout: Layout, spec: SampleSpec, chunks: Chunks | None = None) -> Sample:
    """A sample of relations or entities with their passages. The layout must be bound; reads only.

    `chunks`: passages from files, in place of those in the graph.
    """
    reader = PopulationReader(graph, layout, spec, chunks)
    population = read_population(reader)
    groups: dict[str, array[int]] = {}  # by stratum, into how many groups each of its passages is dealt, in the order of the sizes
    strata: Counter[str] = Counter()
    for (stratum, _), size in population.sizes.items():
        groups.setdefault(stratum, array("Q")).append(groups_needed(size, spec.per_passage))
        strata[stratum] += size
    units = _drawn(population, groups, spec)
    items = _items(reader, population, units)
    texts = reader.texts(sorted({passage.text for item in items for passage in item.passages}))  # each passage is read once for all items
    items = [replace(item, passages=tuple(p.model_copy(update={"text": texts.get(p.text, "")}) for p in item.passages)) for item in items]
    by = "" if spec.strata == "none" else f", stratified by {spec.strata.replace('-', ' x ')} in proportion"
    unit = {"relations": "relation", "entities": "entity"}.get(spec.kind, "pair")
    design = SampleDesign(
        method=f"cluster sample without replacement: each {unit} belongs to one of its passages, chosen at random; "
        f"unit = at most {spec.per_passage} of one passage{by}",
        seed=spec.seed, wanted=spec.n, drawn=len(items), population=population.total,
        without_source=population.without_source, clusters=sum(map(sum, groups.values())), clusters_drawn=len(units),
        strata=dict(sorted(strata.items(), key=lambda pair: (-pair[1], pair[0]))) if spec.strata != "none" else {},
    )
    return Sample(items, design, {name: sum(counts) for name, counts in groups.items()}, _notes(reader, population, items))


def _drawn(population: Population, groups: dict[str, array[int]], spec: SampleSpec) -> list[SamplingUnit]:
    """The groups drawn: those with the smallest random numbers of each stratum, in an order of which every beginning is a sample.

    After the first of each stratum the strata are mixed by their sizes in the graph, not by how many are wanted: so a smaller
    sample is the beginning of a larger one.
    """
    totals = {stratum: sum(counts) for stratum, counts in groups.items()}
    # units, not items: as many as the wanted items fill at the mean size of a unit, rounded up
    needed = -(-spec.n * sum(totals.values()) // max(1, population.total))
    out: list[tuple[float, SamplingUnit]] = []
    for stratum, take in sorted(allocate(totals, needed).items()):
        homes = [home for name, home in population.sizes if name == stratum]
        owners = array("Q", (home for home, n in zip(homes, groups[stratum], strict=True) for _ in range(n)))
        parts = array("Q", (part for n in groups[stratum] for part in range(n)))
        ids = population.passages.ids
        numbers = array("Q", (
            random_number(spec.seed, "unit", stratum, ids[home], str(part)) for home, part in zip(owners, parts, strict=True)
        ))
        chosen = draw(numbers, take).chosen
        weight = totals[stratum] / len(chosen)
        places = [(rank + 0.5) / totals[stratum] if rank else 0.0 for rank in range(len(chosen))]
        # a unit of a large stratum takes a small step from 0 to 1, so the strata come in the mixture that the graph has
        out += [(place, SamplingUnit(stratum, owners[i], parts[i], weight)) for place, i in zip(places, chosen, strict=True)]
    return [unit for _, unit in sorted(out, key=lambda pair: pair[0])]


def _items(reader: PopulationReader, population: Population, units: Sequence[SamplingUnit]) -> list[SampleItem]:
    """The items of the drawn groups, and what else their passages are home to. A passage's text is its element id yet."""
    spec, passages, most = reader.spec, population.passages, reader.spec.per_passage
    held = _held(reader, population, {(unit.stratum, unit.home) for unit in units})
    dealt = {
        key: deal([place.number for place in places], groups_needed(population.sizes[key], most)) for key, places in held.items()
    }
    chosen = [
        (unit, held[unit.stratum, unit.home][i])
        for unit in units for group in dealt.get((unit.stratum, unit.home), [])[unit.group : unit.group + 1] for i in group
    ]
    beside = {key: places[: MOST_BESIDE + most] for key, places in held.items()}
    ids = {place.element_id for places in ([place for _, place in chosen], *beside.values()) for place in places}
    details = reader.details(ids)
    items = []
    for unit, place in chosen:
        home, row = passages.ids[unit.home], details.get(place.element_id, {})
        near = beside[unit.stratum, unit.home] if spec.kind == "relations" else []
        others = [_line(details[p.element_id]) for p in near if p.element_id != place.element_id and p.element_id in details]
        name = _line(row) if row else NAMELESS
        if spec.kind == "relations":
            ref = GraphRef(element_id=place.element_id, key=name, name=name, type=row.get("predicate"), kind="relation")
        else:
            ref = GraphRef(element_id=place.element_id, key=row.get("key") or name, name=name, type=row.get("type"))
        shown = place.passages[: spec.passages]
        texts = (Passage(text=passages.element_ids[i], chunk_id=passages.ids[i], document=passages.documents[i]) for i in shown)
        items.append(SampleItem(
            id=item_id(spec.kind, home, *place.key), ref=ref, shown=_shown(row), stratum=unit.stratum,
            cluster=f"{unit.stratum}|{home}|{unit.group}", home=home, weight=unit.weight,
            passages=tuple(texts), beside=tuple(others[:MOST_BESIDE]), confidence=row.get("confidence"),
            more_passages=len(place.passages) - len(shown),
        ))
    return numbered(items)


def _held(reader: PopulationReader, population: Population, homes: set[tuple[str, int]]) -> dict[tuple[str, int], list[PlacedItem]]:
    """What the given passages are home to, in a fixed order that no element id decides."""
    if not homes:
        return {}
    passages, seed = population.passages, reader.spec.seed
    passage_names = sorted({name for _, home in homes for name in (passages.ids[home], passages.element_ids[home])})
    held: dict[tuple[str, int], list[PlacedItem]] = {}
    for row in reader.rows(QUERIES[reader.spec.kind][2], passages=passage_names):
        known = passages.known(row["ids"])
        home = reader.home(known, row["key"])
        key = (stratum_of(population, row["type"], home), home)
        if key in homes:
            name = keys_of(row["key"])
            number = random_number(seed, "item", passages.ids[home], *name)
            # only the first of its other passages are shown: in an order of the seed's, not of their ids
            ranked = sorted((random_number(seed, "shown", passages.ids[passage], *name), passage) for passage in known if passage != home)
            held.setdefault(key, []).append(PlacedItem(row["element_id"], number, name, (home, *(passage for _, passage in ranked))))
    return {key: sorted(places, key=lambda place: (place.number, place.key)) for key, places in held.items()}


def item_id(*key: str) -> str:
    """The id of an item, from what names it: 12 hex digits."""
    named = "\n".join(f"{len(part)}:{part}" for part in key)
    return blake2b(named.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def numbered(items: list[SampleItem]) -> list[SampleItem]:
    """Items that are alike in everything that makes an id (parallel relations) get a number each."""
    seen: Counter[str] = Counter()
    out = []
    for item in items:
        seen[item.id] += 1
        out.append(item if seen[item.id] == 1 else replace(item, id=f"{item.id}-{seen[item.id]}"))
    return out


def _shown(row: Row) -> dict[str, Any]:
    """What judge and people see; empty values are left out."""
    fields = ("subject", "subject_type", "predicate", "object", "object_type", "name", "type", "description")
    shown = {field: row[field] for field in fields if row.get(field)}
    for needed in ("subject", "object") if "predicate" in row else ("name",):
        shown.setdefault(needed, NAMELESS)
    return shown


def _line(row: Row) -> str:
    """A relation or entity as one line."""
    if "predicate" not in row:
        return row["name"] or NAMELESS
    return f"{row['subject'] or NAMELESS} -[{row['predicate']}]-> {row['object'] or NAMELESS}"


def _notes(reader: PopulationReader, population: Population, items: list[SampleItem]) -> list[str]:
    """What a reader must know about the sample."""
    spec, notes = reader.spec, list(reader.chunks.notes) if reader.chunks else []
    if not population.passages.ids:
        notes.append(f"no passage texts: layout {reader.layout.name} keeps none in this database; give the chunks with --chunks FILE")
    elif reader.chunks and not population.total:
        notes.append(f"none of the {len(reader.chunks.texts)} chunks of --chunks is a source that the graph names: look at their ids")
    elif population.without_source:
        left = f"{population.without_source} {spec.kind} name no passage that is in the graph with its text"
        notes.append(f"{left}: not drawn, and not in the share")
    more = sum(item.more_passages > 0 for item in items)
    if more:
        notes.append(f"{more} items come from more than {spec.passages} passages; the others were not shown (--passages)")
    if len(items) > 1.25 * spec.n:
        notes.append(f"{len(items)} items were drawn for {spec.n} wanted: whole groups, and at least one of each stratum")
    if items and len(items) == population.total:
        notes.append(everything(len(items), f"{spec.kind} with a passage"))
    return notes


def everything(n: int, what: str) -> str:
    """What is to be said of a sample that leaves nothing out."""
    return f"all {n} {what} were drawn: no sampling error is left, only that of the labels"
