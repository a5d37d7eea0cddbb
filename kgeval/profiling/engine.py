"""Computes what a graph is, in at most eight queries: the sets of labels, a sample of nodes, exact counts of what may be a key, and repeats
of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgeval.errors import QueryError
from kgeval.graph.connect import Graph
from kgeval.graph.failures import ConnectionLost
from kgeval.graph.layouts import PAIR_LABELS, Catalogue, catalogue
from kgeval.profiling import keys, reads
from kgeval.profiling.dependencies import dependencies
from kgeval.profiling.kinds import kind_of_graph, kind_of_label
from kgeval.profiling.labels import Groups, TypeGroup, group_by_type, labels_beside, role_of, type_property
from kgeval.profiling.record import GraphProfile, Kind, LabelProfile
from kgeval.profiling.relations import relation_profiles
from kgeval.profiling.values import property_profiles, scripts
from kgeval.records import Layout

MOST_LABELS = 100  # types whose keys and names are counted exactly


def profile_graph(graph: Graph, layout: Layout, *, seed: int = 0, timeout: float | None = None) -> GraphProfile:
    """What the graph of a bound layout is. Counts of labels are exact; properties, formats, relations and ends are of a sample (300 nodes
    of each set of labels, picked by their ids); keys and repeats of names are counted exactly in labels of up to 300,000 nodes.

    `seed` picks the sample; `timeout`: seconds a query may take.
    Raises: QueryError, QueryTimeout, ConnectError.
    """
    with graph.remembering():
        return _profiled(graph, layout, seed, timeout)


def profile_or_note(graph: Graph, layout: Layout, *, seed: int, timeout: float) -> tuple[GraphProfile | None, list[str]]:
    """What a graph is, for a report that is no less true without it: None, and a note that says why, where that could not be told.
    Raises: ConnectionLost."""
    try:
        return profile_graph(graph, layout, seed=seed, timeout=timeout), []
    except ConnectionLost:
        raise
    except QueryError as fault:
        return None, [f"what this graph is could not be told: {fault.message.splitlines()[0]}"]


@dataclass(frozen=True)
class _TypeRead:
    """What is known of a type before its values are counted: its name, the keys that are declared, and properties that may be keys."""

    group: TypeGroup
    name: keys.Name
    declared: list[str]
    maybe: list[str]


def _profiled(graph: Graph, layout: Layout, seed: int, timeout: float | None) -> GraphProfile:
    graph.read_ahead([reads.constraints_asked(layout), reads.label_sets_asked(layout)], timeout=timeout)
    seen = catalogue(graph)
    constraints = reads.read_constraints(graph, layout, timeout=timeout)
    reading = reads.read_sample(graph, layout, seed=seed, timeout=timeout)
    groups = group_by_type(reading, layout)
    unique = keys.unique_properties(constraints)
    read = [_read(group, unique, layout) for group in groups.types]
    counted_types = [one for one in read if one.group.label and one.group.count <= reads.MOST_COUNTED][:MOST_LABELS]
    wanted = [(one.group.label, key) for one in counted_types for key in one.maybe]
    asked = {one.group.label: one.name.properties for one in counted_types if one.name.properties}
    graph.read_ahead([*reads.distinct_asked(layout, wanted), *reads.same_names_asked(layout, asked)], timeout=timeout)
    counted = reads.read_distinct(graph, layout, wanted, timeout=timeout)
    same = reads.read_same_names(graph, layout, asked, timeout=timeout)
    types = relation_profiles(reading, groups, layout, _counts_in(reading, seen, layout))
    labels, reasons = [], {}
    for one in read:
        kind, reasons[one.group.label] = kind_of_label(one.group, groups.types, layout, [relation.type for relation in types])
        found = keys.keys_of(one.group, one.declared, one.maybe, counted)
        identity = keys.identity_of(one.name, found, one.declared, same.get(one.group.label))
        labels.append(_label(one, groups, layout, kind, found, identity))
    kind, because = kind_of_graph(labels, reasons)
    notes = [f"{reading.left_out:,} nodes with rare sets of labels were not looked at"] if reading.left_out else []
    holders = [(node, key) for one in read for node in one.group.nodes for key in one.name.properties]
    named = [node.values[key].text or "" for node, key in holders if key in node.values]
    kept = [one.label for one in labels if one.label and one.role in ("entity", "record", "value") and not one.is_from_texts]
    return GraphProfile(
        written_by=layout.name, kind=kind, kind_because=because, nodes=sum(reading.sets.values()),
        relations=sum(one.count for one in types), sampled=len(reading.nodes), seed=seed, labels=labels, types=types,
        dependencies=dependencies(groups.types, reading.nodes, kept),
        constraints=[_constraint(row) for row in constraints], indexes=sorted({form for index in seen.indexes for form in index.forms()}),
        scripts=scripts(named), notes=notes,
    )


def _read(group: TypeGroup, unique: Mapping[str, Sequence[str]], layout: Layout) -> _TypeRead:
    uses, declared = keys.key_uses(group), keys.declared_keys(group, unique)
    return _TypeRead(group, keys.name_of(group, uses, layout), declared, keys.candidates(group, uses, declared))


def _counts_in(reading: reads.Reading, seen: Catalogue, layout: Layout) -> dict[str, int]:
    """Relations of each type: of the whole database without what kgeval wrote to be looked at, or of the graph where a label is its
    scope; for a scope by a property those types that the sample met, with the database's counts."""
    met = {name for node in reading.nodes for name in (*node.outgoing, *node.incoming)}
    if layout.scope_label is not None and seen.source == "count store":
        return {name: count for name in seen.types if (count := seen.starts.get((name, layout.scope_label), 0))}
    counts = {name: count - sum(seen.starts.get((name, label), 0) for label in PAIR_LABELS) for name, count in seen.types.items()}
    return {name: count for name, count in counts.items() if count > 0 and (layout.scope_property is None or name in met)}


def _label(read: _TypeRead, groups: Groups, layout: Layout, kind: Kind, found: keys.Keys, identity: keys.Identity) -> LabelProfile:
    group, name = read.group, read.name
    role, because = role_of(group, groups, layout, is_named=bool(name.properties))
    beside = labels_beside(group, groups, layout.scope_label)
    return LabelProfile(
        label=group.label, nodes=group.count, sampled=len(group.nodes), role=role, role_because=because, kind=kind,
        with_it=beside.with_it, subtypes=beside.subtypes, markers=beside.markers, type_property=type_property(group, layout),
        properties=property_profiles([node.values for node in group.nodes]) if group.nodes else [],
        keys=found.keys, keys_because=found.because, name=name.properties, name_because=name.because,
        names_identify=identity.identify, names_because=identity.because, embeddings=keys.embeddings(group.nodes),
    )


def _constraint(row: dict[str, object]) -> str:
    labels, properties = row.get("labelsOrTypes") or [], row.get("properties") or []
    names = ", ".join(map(str, properties)) if isinstance(properties, list) else ""
    return f"{row.get('type')}: {', '.join(map(str, labels)) if isinstance(labels, list) else ''}.{names}"
