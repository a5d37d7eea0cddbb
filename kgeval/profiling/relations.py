"""Relation types: between what they are, whether their direction and their name say something, and what tells two of one pair apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.profiling.labels import Groups
from kgeval.profiling.reads import Labels, Reading, SampledRelation, Value
from kgeval.profiling.record import RelationEnds, RelationProfile, Says
from kgeval.profiling.values import property_profiles
from kgeval.records import Layout
from kgeval.text.predicates import is_placeholder

BOTH_WAYS = 0.9  # share of relations that one of their type leads back along
LEAST = 10  # relations that tell something of all
KEYWORDS = 0.5  # share of labels with commas that makes them keywords


@dataclass
class _Found:
    """The sampled relations of one type, with the type of the node that each begins at."""

    relations: list[tuple[int, str, SampledRelation]] = field(default_factory=list)
    most_out: int = 0
    most_in: int = 0


def relation_profiles(reading: Reading, groups: Groups, layout: Layout, counts: Mapping[str, int]) -> list[RelationProfile]:
    """All relation types, the most frequent first. `counts`: relations of each type."""
    type_of = {labels: group.label for group in groups.types for labels in group.sets}
    found: dict[str, _Found] = {name: _Found() for name in counts}
    for at, node in enumerate(reading.nodes):
        for name, times in node.outgoing.items():
            one = found.setdefault(name, _Found())
            one.most_out = max(one.most_out, times)
        for name, times in node.incoming.items():
            one = found.setdefault(name, _Found())
            one.most_in = max(one.most_in, times)
        for relation in node.relations:
            found.setdefault(relation.type, _Found()).relations.append((at, type_of[node.labels], relation))
    listed = sorted(found, key=lambda name: (-counts.get(name, 0), name))
    content = [name for name in listed if name not in {*layout.mention_types, *layout.chunk_document_types}]
    return [_profile(name, found[name], counts.get(name, 0), type_of, layout, is_only=content == [name]) for name in listed]


def _profile(
    name: str, found: _Found, count: int, type_of: Mapping[Labels, str], layout: Layout, *, is_only: bool,
) -> RelationProfile:
    relations = [relation for _, _, relation in found.relations]
    ends = Counter((start, type_of.get(relation.ends or (), "")) for _, start, relation in found.relations)
    directed, why = _direction(name, relations, layout, ends)
    says, because = _says(name, relations, layout, is_only=is_only)
    apart, pairs = _tells_apart(found.relations)
    return RelationProfile(
        type=name, count=count, sampled=len(relations),
        ends=[RelationEnds(start=start, end=end, share=times / len(relations)) for (start, end), times in ends.most_common(5)],
        directed=directed, directed_because=why, says=says, says_because=because, most_per_start=found.most_out or None,
        most_per_end=found.most_in or None, properties=property_profiles([one.values for one in relations]) if relations else [],
        tells_apart=apart, repeated_pairs=pairs,
    )


def _direction(
    name: str, relations: Sequence[SampledRelation], layout: Layout, ends: Mapping[tuple[str, str], int],
) -> tuple[bool, str]:
    if layout.relations_undirected and name in layout.relation_types:
        return False, f"the writer of {layout.name} gives its relations no direction"
    plain = [relation for relation in relations if not relation.loop]
    back = sum(relation.back for relation in plain)
    if len(plain) >= LEAST and back >= BOTH_WAYS * len(plain) and all(start == end for start, end in ends):
        return False, f"{back} of {len(plain)} sampled relations are stored both ways"
    return True, "nothing shows that it has none"


def _says(name: str, relations: Sequence[SampledRelation], layout: Layout, *, is_only: bool) -> tuple[Says, str]:
    """Where the meaning is. A word such as DIRECTED is a placeholder only where the layout keeps the meaning elsewhere, or where it is the
    graph's one type: else it is a predicate like any other."""
    key = layout.relation_label_key if name in layout.relation_types else None
    texts = [value.text for relation in relations if key and (value := relation.values.get(key)) is not None and value.text]
    if key and relations and len(texts) >= 0.5 * len(relations):
        commas = sum("," in text for text in texts)
        if commas >= KEYWORDS * len(texts):
            return "keywords", f"{key} holds keywords: {commas} of {len(texts)} have a comma"
        return "property", f"{key} says it, on {len(texts)} of {len(relations)} sampled relations"
    if name in layout.relation_types and is_placeholder(name, layout):
        why = "it is the graph's one type" if is_only else f"the writer of {layout.name} uses it for whatever it found"
        return "nothing", f"{name} says only that two things are connected: {why}"
    return "type", "it is the one type, and a predicate" if is_only else "it is one of several types"


def _tells_apart(relations: Iterable[tuple[int, str, SampledRelation]]) -> tuple[list[str], int]:
    """The properties in which the relations of one pair differ, most often first, and the sampled pairs with several."""
    pairs: dict[tuple[int, str], list[Mapping[str, Value]]] = {}
    for at, _, relation in relations:
        pairs.setdefault((at, relation.other), []).append(relation.values)
    several = [values for values in pairs.values() if len(values) > 1]
    differ: Counter[str] = Counter()
    for values in several:
        keys = {key for one in values for key in one}
        differ.update(key for key in keys if len({one[key].text if key in one else None for one in values}) > 1)
    return [key for key, _ in sorted(differ.items(), key=lambda item: (-item[1], item[0]))], len(several)
