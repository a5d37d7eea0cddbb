"""What tells the nodes of a type apart, what names them, and whether two nodes of one name are one thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgeval.format import percent
from kgeval.graph.layouts.entity_names import KeyUse, chosen
from kgeval.profiling.labels import TypeGroup
from kgeval.profiling.reads import GROUPS_TOLD, MOST_COUNTED, Counted, SameNames, SampledNode
from kgeval.records import Layout

MOST_KEYS = 5  # properties of a type that are counted
LEAST_NODES = 10  # of a type where being different says something of a property that is not called like an id
SEEN = 50  # values that tell whether a property holds names
RARE = 0.05  # share of nodes whose name another one bears, up to which names identify
SURPLUS, NAMESAKES = 0.1, 3  # share of nodes beyond the first of each name, and bearers of one name, up to which names identify
FEW = 20  # named nodes, below which repeats tell nothing
SAME = 0.8  # share of groups of one name that agree in everything else
LEAST_NUMBERS = 16  # of a vector
UNIQUE = ("UNIQUENESS", "NODE_KEY", "NODE_PROPERTY_UNIQUENESS")


@dataclass(frozen=True)
class Keys:
    """Properties that tell the nodes of a type apart, the surest first, and why."""

    keys: list[str]
    because: str


@dataclass(frozen=True)
class Name:
    """The properties that make up a name, and why; without any the key stands for it."""

    properties: list[str]
    because: str


@dataclass(frozen=True)
class Identity:
    """Whether names tell which thing is meant; None where no name is repeated or there is none."""

    identify: bool | None
    because: str


def key_uses(group: TypeGroup) -> list[KeyUse]:
    """The properties of a type's nodes as layouts look at them for names."""
    by_key: dict[str, list[tuple[bool, str]]] = {}
    for node in group.nodes:
        for key, value in node.values.items():
            if value.text is not None and value.text.strip() and not value.type.startswith("LIST"):
                by_key.setdefault(key, []).append((value.is_text, value.text))
    return [
        KeyUse(
            key, len(group.nodes), len(values), sum(is_text for is_text, _ in values), len({text for _, text in values}),
            sum(len(text) for _, text in values) / len(values), sorted({text for _, text in values})[:SEEN],
        )
        for key, values in sorted(by_key.items())
    ]


def declared_keys(group: TypeGroup, unique: Mapping[str, Sequence[str]]) -> list[str]:
    """Properties that a constraint on one of the labels declares unique."""
    return list(dict.fromkeys(key for label in group.labels for key in unique.get(label, ())))


def candidates(group: TypeGroup, uses: Sequence[KeyUse], declared: Sequence[str]) -> list[str]:
    """Properties that may be keys beside the declared ones, by the sample: on all nodes, each value once, short, and no number with a
    point or a time. Those that are called like an id come first."""
    found = []
    for use in uses:
        types = {node.values[use.key].type for node in group.nodes if use.key in node.values}
        plain = all(type_ in ("STRING", "INTEGER") for type_ in types)
        if use.key not in declared and use.tells_all_apart and plain and (use.is_key or use.looked_at >= LEAST_NODES):
            found.append(use)
    found.sort(key=lambda use: (not use.is_key, use.length, use.key))
    if declared or any(use.is_key for use in found):  # what else differs does so by chance: streets, telephones
        found = [use for use in found if use.is_key]
    return [use.key for use in found][:MOST_KEYS]


def keys_of(
    group: TypeGroup, declared: Sequence[str], maybe: Sequence[str], counted: Mapping[tuple[str, str], Counted],
) -> Keys:
    """The keys of a type: declared unique, or filled on every node with values that all differ. `maybe`: its candidates."""
    found, reasons = [], []
    if declared:
        reasons.append(f"{', '.join(declared)}: a constraint declares it unique")
    for key in maybe:
        count = counted.get((group.label, key))
        if count is not None and count.filled == group.count == count.values:
            found.append(key)
            reasons.append(f"{key}: {count.values:,} of {group.count:,} nodes have it, and all values differ")
        elif count is None and group.count > MOST_COUNTED:
            found.append(key)
            reasons.append(f"{key}: on all {len(group.nodes):,} sampled nodes, and all values differ")
    return Keys([*declared, *found], "; ".join(reasons) or "no property is on every node with values that all differ")


def name_of(group: TypeGroup, uses: Sequence[KeyUse], layout: Layout) -> Name:
    """The name of a type's nodes: what the layout says of the label, else properties that are called like a name, or hold words."""
    own = [one for one in layout.label_names if one.label in group.labels and not one.is_id]
    if own:
        how = "found among its properties" if layout.name == "generic" else f"so says the layout {layout.name}"
        return Name(list(own[0].keys), f"{' + '.join(own[0].keys)}: {how}")
    listed = [key for key in layout.name_keys if "+" not in key and "." not in key and key != "*"]
    written = [use for key in listed for use in uses if use.key == key]
    if layout.name != "generic" and written:
        return Name([written[0].key], f"{written[0].key}: so says the layout {layout.name}")
    named = [one for one in chosen(group.label, uses, listed) if not one.is_id and one.keys]
    if not named:
        return Name([], "no property holds words that name the nodes")
    first = named[0].keys
    filled = min(use.filled / use.looked_at for use in uses if use.key in first)
    how = "listed as a name" if first[0] in listed else "called like a name, or with words that differ"
    return Name(first, f"{' + '.join(first)}: {how}, on {percent(filled)} of the sampled nodes")


def identity_of(name: Name, keys: Keys, declared: Sequence[str], same: SameNames | None) -> Identity:
    """Whether two nodes of one name are one thing: declared so; hardly ever repeated; or repeated with all else alike."""
    if not name.properties:
        return Identity(None, "the nodes have no name")
    if any([key] == name.properties for key in declared):
        return Identity(True, f"a constraint declares {name.properties[0]} unique")
    if same is None:
        return Identity(None, "not looked at: too many nodes")
    if not same.repeated:
        return Identity(None, f"no two of {same.named:,} names are the same")
    share = same.repeated / same.named
    told = f"{same.repeated:,} of {same.named:,} nodes bear a name that another one has"
    if share <= RARE:
        return Identity(True, f"{told}, which is rare")
    differing = _differing(same, {*name.properties, *keys.keys})
    groups = len(same.groups)
    apart = sum(bool(keys_) for keys_ in differing)
    compared = sum(_comparable(one, {*name.properties, *keys.keys}) for one in same.groups)
    if compared and apart > (1 - SAME) * compared and _nearly_all_differ(same):
        return Identity(True, f"{told}, but nearly all names differ: each pair is one thing, or two namesakes")
    if compared and apart > (1 - SAME) * compared:
        common = max({key for keys_ in differing for key in keys_}, key=lambda key: (sum(key in one for one in differing), key))
        return Identity(False, f"{told}, and of {groups} such groups {apart} differ in other properties, most often in {common}")
    if compared:
        return Identity(True, f"{told}, and {compared - apart} of {compared} such groups agree in all other properties")
    if same.named < FEW:
        return Identity(None, f"{told}, and nothing but keys is stored beside it: too few to tell")
    return Identity(False, f"{told}: too many to be the same thing, and nothing but keys is stored beside it")


def _nearly_all_differ(same: SameNames) -> bool:
    """Whether only a few names are repeated, each by two or three nodes. (Where not all groups were told, each is taken for a pair.)"""
    names = max(len(same.groups), same.repeated // 2) if len(same.groups) >= GROUPS_TOLD else len(same.groups)
    few_bearers = all(len(group) <= NAMESAKES for group in same.groups)
    return few_bearers and same.repeated <= NAMESAKES * names and same.repeated - names <= SURPLUS * same.named


def _differing(same: SameNames, leave: set[str]) -> list[set[str]]:
    """Of each group of nodes with one name, the other properties in which two of them differ."""
    found = []
    for group in same.groups:
        keys = {key for node in group for key in node} - leave
        found.append({key for key in keys if len({node[key] for node in group if key in node}) > 1})
    return found


def _comparable(group: Sequence[Mapping[str, str | None]], leave: set[str]) -> bool:
    """Whether two nodes of a group have another property in common."""
    return any(sum(key in node for node in group) > 1 for key in {key for node in group for key in node} - leave)


def unique_properties(constraints: Sequence[Mapping[str, object]]) -> dict[str, list[str]]:
    """By label, the properties that a constraint declares unique, each alone."""
    unique: dict[str, list[str]] = {}
    for row in constraints:
        labels, keys = row.get("labelsOrTypes"), row.get("properties")
        is_unique = row.get("type") in UNIQUE and row.get("entityType") == "NODE"
        if is_unique and isinstance(labels, list) and isinstance(keys, list) and len(keys) == 1:
            for label in labels:
                unique.setdefault(str(label), []).append(str(keys[0]))
    return unique


def embeddings(nodes: Sequence[SampledNode]) -> list[str]:
    """Properties that hold vectors: lists of numbers, most of them of one length, or the type of vectors."""
    sizes: dict[str, Counter[str]] = {}
    for node in nodes:
        for key, value in node.values.items():
            if value.type.startswith(("LIST<FLOAT", "VECTOR")) and value.text is not None:
                sizes.setdefault(key, Counter())[value.text] += 1
    return sorted(key for key, found in sizes.items() if _are_lengths(found))


def _are_lengths(sizes: Counter[str]) -> bool:
    """Whether most lists are as long as vectors are, and equally long. A vector's type does not say its length."""
    (size, times), = sizes.most_common(1)
    return 2 * times > sizes.total() and (not size.isdigit() or int(size) >= LEAST_NUMBERS)
