"""Labels: which of those that stand together is the type, which are subtypes, markers, bases or technical, and what role the nodes play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kgeval.profiling.reads import Labels, Reading, SampledNode, Value
from kgeval.profiling.record import Role
from kgeval.profiling.values import format_of
from kgeval.records import Layout

TECHNICAL = ("_Graph", "_Ns", "_Map", "_Bloom", "_Loading")  # of neosemantics and Bloom
EVERYWHERE = 0.95  # share of all nodes that carry a label without meaning of its own
OWN, OTHERS = 0.5, 0.05  # a property of a subtype: on half of its nodes, and on hardly any other
RDF_BASE = "Resource"  # neosemantics puts it on everything that has a URI
COMMUNITIES = frozenset({"Community", "__Community__", "CommunityReport", "CommunityNode"})
TYPE_KEYS = ("type", "entity_type", "kind")
MOST_TYPES = 50


@dataclass
class TypeGroup:
    """The nodes of one type: its label, the sets of labels that make it up, and the sample of them."""

    label: str
    sets: dict[Labels, int] = field(default_factory=dict)
    nodes: list[SampledNode] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(self.sets.values())

    @property
    def labels(self) -> list[str]:
        """All labels that its nodes carry, its own first."""
        return list(dict.fromkeys([self.label, *(label for labels in self.sets for label in labels)]))


@dataclass(frozen=True)
class Groups:
    """All types. `bases`: labels that stand on nearly everything, `technical`: of what is no content."""

    types: list[TypeGroup]
    bases: list[str]
    technical: list[str]


def group_by_type(reading: Reading, layout: Layout) -> Groups:
    """The types of a graph: of the labels of a node the one of the layout's lowest rank (`Layout.type_label_rank`: one that all nodes of
    the others have too, else the one that fewer have). Of nodes that are no entities the most frequent one.

    Labels of a writer's that are no type, labels of the graph's scope and labels of nearly all nodes are left out where others stand beside
    them.
    """
    technical = _technical(reading.sets, layout)
    content = {labels: nodes for labels, nodes in reading.sets.items() if not technical & set(labels)}
    ignored = _writers_bases(layout)
    bases = _bases(content, ignored)
    counts, ranks = _counts(content), layout.type_label_rank
    groups: dict[str, TypeGroup] = {}
    type_of: dict[Labels, str] = {}
    for labels, nodes in reading.sets.items():
        left = (
            [label for label in labels if label not in bases | ignored] or [label for label in labels if label != layout.scope_label]
            or list(labels)
        )
        if technical & set(labels):
            left = sorted(technical & set(labels))
        name = min(left, key=lambda label: (ranks.get(label, len(ranks)), -counts.get(label, 0), label)) if left else ""
        type_of[labels] = name
        groups.setdefault(name, TypeGroup(name)).sets[labels] = nodes
    for node in reading.nodes:
        groups[type_of[node.labels]].nodes.append(node)
    types = sorted(groups.values(), key=lambda group: (-group.count, group.label))
    return Groups(types, sorted(bases), sorted(technical))


def _technical(sets: Iterable[Labels], layout: Layout) -> set[str]:
    # of a layout for any graph all labels are an entity's
    roles = {*([] if layout.name == "generic" else layout.entity_labels), *layout.chunk_labels, *layout.document_labels}
    return {
        label for labels in sets for label in labels
        if label in layout.entity_excluded_labels or (label.startswith(TECHNICAL) and label not in roles)
    }


def _writers_bases(layout: Layout) -> set[str]:
    """The labels that a writer, or the graph's scope, puts beside a type."""
    known = set() if layout.name == "generic" else set(layout.type_label_ignored)
    structure = {*layout.chunk_labels, *layout.document_labels}
    return {*(known - structure), *([layout.scope_label] if layout.scope_label else [])}


def _counts(sets: Mapping[Labels, int]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for labels, nodes in sets.items():
        for label in labels:
            counts[label] = counts.get(label, 0) + nodes
    return counts


def _bases(sets: Mapping[Labels, int], ignored: Collection[str]) -> set[str]:
    """Labels of nearly all nodes, nearly all of which have another label beside it: it says nothing of what a node is."""
    total, counts = sum(sets.values()), _counts(sets)
    bases = set()
    for label, count in counts.items():
        beside = sum(nodes for labels, nodes in sets.items() if label in labels and len(set(labels) - {label, *ignored}) > 0)
        others = {other for labels in sets if label in labels for other in labels} - {label, *ignored}
        if (label == RDF_BASE and others) or (count >= EVERYWHERE * total and beside >= EVERYWHERE * count and len(others) > 1):
            bases.add(label)
    return bases


@dataclass(frozen=True)
class LabelsBeside:
    """The labels beside a type: on all of its nodes, with something of their own, and without."""

    with_it: list[str]
    subtypes: list[str]
    markers: list[str]


def labels_beside(group: TypeGroup, groups: Groups, scope_label: str | None) -> LabelsBeside:
    """What the other labels of a type's nodes are. A subtype has properties or relations of its own, or is one of several that part the
    type; a marker has not."""
    counts = _counts(group.sets)
    others = [label for label in counts if label not in (group.label, scope_label) and label not in groups.bases]
    with_it = sorted(label for label in others if counts[label] == group.count)
    part = [label for label in others if counts[label] < group.count]
    parted = sum(nodes for labels, nodes in group.sets.items() if sum(label in labels for label in part) == 1)
    is_parted = len(part) > 1 and parted >= EVERYWHERE * group.count
    subtypes = sorted(label for label in part if is_parted or _has_own(label, group.nodes))
    return LabelsBeside(with_it, subtypes, sorted(set(part) - set(subtypes)))


def _has_own(label: str, nodes: Sequence[SampledNode]) -> bool:
    inside = [node for node in nodes if label in node.labels]
    outside = [node for node in nodes if label not in node.labels]
    if not inside or not outside:
        return False
    mine, others = (Counter(trait for node in nodes for trait in _traits(node)) for nodes in (inside, outside))
    return any(times >= OWN * len(inside) and others[trait] <= OTHERS * len(outside) for trait, times in mine.items())


def _traits(node: SampledNode) -> set[str]:
    """What is stored on a node and at it: properties, and relation types by their direction."""
    return {*node.values, *(f"-{name}" for name in node.outgoing), *(f"<{name}" for name in node.incoming)}


def role_of(group: TypeGroup, groups: Groups, layout: Layout, *, is_named: bool) -> tuple[Role, str]:
    """What part the nodes of a type play, and why. `is_named`: a property names them."""
    labels = set(group.labels)
    if labels & COMMUNITIES and layout.name != "generic":
        return "community", f"the writer of {layout.name} keeps its communities as {group.label}"
    if group.label in groups.technical:
        return "technical", f"{group.label} is of a tool or a writer, no content"
    if mine := labels & set(layout.chunk_labels):
        return "passage", f"the layout {layout.name} has texts in {', '.join(sorted(mine))}"
    if mine := labels & set(layout.document_labels):
        return "document", f"the layout {layout.name} has documents in {', '.join(sorted(mine))}"
    if (share := _share_of_values(group)) is not None:
        return "value", f"{share} relations lead to each node and none goes out, and hardly a property beside its name"
    if not is_named and (key := _time_of(group)) is not None:
        return "record", f"each node has a time in {key}, and no property names it"
    return "entity", "nothing marks it as a passage, document, community, value or record"


def _share_of_values(group: TypeGroup) -> str | None:
    """How many relations lead to a node on average, where the nodes stand for values (genres, tags, countries); None where not."""
    nodes = group.nodes
    if len(nodes) < 2 or any(node.outgoing for node in nodes) or any(len(node.values) > 2 for node in nodes):
        return None
    mean = sum(sum(node.incoming.values()) for node in nodes) / len(nodes)
    return f"{mean:.0f}" if mean >= 3 else None


def _time_of(group: TypeGroup) -> str | None:
    """The first property that holds a time on nearly every node; None where there is none."""
    times = [
        key for key in sorted({key for node in group.nodes for key in node.values})
        if sum(_is_time(node.values.get(key)) for node in group.nodes) >= 0.9 * len(group.nodes)
    ]
    return times[0] if times else None


def _is_time(value: Value | None) -> bool:
    return value is not None and (
        value.type.startswith(("DATE", "LOCAL DATETIME", "ZONED DATETIME")) or (value.is_text and format_of(value.text or "") == "date")
    )


def type_property(group: TypeGroup, layout: Layout) -> str | None:
    """The property that says of all nodes what they are, the layout's first; None where there is none."""
    for key in dict.fromkeys([*([layout.type_key] if layout.type_key else []), *TYPE_KEYS]):
        texts = [value.text for node in group.nodes if (value := node.values.get(key)) is not None and value.is_text and value.text]
        values = set(texts)
        if len(texts) >= EVERYWHERE * len(group.nodes) and (key == layout.type_key or 2 <= len(values) <= min(MOST_TYPES, len(texts) / 2)):
            return key
    return None
