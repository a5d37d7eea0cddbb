"""Which kind of graph it is, by label and by most of its nodes: extracted from text, hand-made, RDF, code, the memory of an agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kgeval.profiling.labels import RDF_BASE, TypeGroup
from kgeval.profiling.record import Kind, LabelProfile
from kgeval.records import Layout

MEMORIES = frozenset({"neo4j-agent-memory", "graphiti"})
CODE_LABELS = frozenset({
    "file", "function", "class", "method", "module", "package", "interface", "variable", "parameter", "folder", "directory", "repository",
    "enum", "struct",
})
CODE_TYPES = frozenset({
    "CALLS", "IMPORTS", "DEFINES", "DECLARES", "INHERITS", "INHERITS_FROM", "EXTENDS", "IMPLEMENTS", "CONTAINS", "HAS_METHOD", "RETURNS",
})


def kind_of_label(group: TypeGroup, groups: Sequence[TypeGroup], layout: Layout, types: Sequence[str]) -> tuple[Kind, str]:
    """The kind of a type's nodes, and why."""
    labels = set(group.labels)
    if layout.name in MEMORIES:
        return "memory", f"the layout {layout.name} is an agent's memory"
    if _is_rdf(group):
        return "RDF", "the nodes are resources with a uri, as RDF is stored"
    is_linked = any(set(layout.mention_types) & {*node.outgoing, *node.incoming} for node in group.nodes)
    is_sourced = layout.entity_source_key is not None and any(layout.entity_source_key in node.values for node in group.nodes)
    roles = {*layout.chunk_labels, *layout.document_labels}
    if layout.name != "generic" and (is_linked or is_sourced or labels & roles):
        return "extracted", f"the layout {layout.name} is a writer's, and the nodes are linked to texts"
    if is_linked:
        return "extracted", f"the nodes are linked to texts by {', '.join(sorted(layout.mention_types))}"
    all_labels = {one.label.lower() for one in groups}
    code = CODE_LABELS & all_labels
    if len(code) >= 2 and CODE_TYPES & {name.upper() for name in types} and group.label.lower() in CODE_LABELS:
        return "code", f"labels ({', '.join(sorted(code))}) and relation types are those of program code"
    if layout.name not in ("generic", "kgeval"):
        return "extracted", f"the layout {layout.name} is a writer's"
    return "hand-made", "nothing links the nodes to texts, and no writer left its marks"


def _is_rdf(group: TypeGroup) -> bool:
    holders = [node for node in group.nodes if RDF_BASE in node.labels and "uri" in node.values]
    return bool(group.nodes) and len(holders) >= 0.9 * len(group.nodes)


def kind_of_graph(labels: Sequence[LabelProfile], reasons: Mapping[str, str]) -> tuple[Kind, str]:
    """The kind of most nodes that are content, with the reason of the largest label of that kind."""
    content = [one for one in labels if one.role != "technical"] or list(labels)
    counts: Counter[Kind] = Counter()
    for one in content:
        counts[one.kind] += one.nodes
    if not counts:
        return "hand-made", "there are no nodes"
    kind = max(counts, key=lambda one: (counts[one], one))
    first = next(one for one in content if one.kind == kind)
    share = counts[kind] / sum(counts.values())
    part = "" if share == 1 else f" ({counts[kind]:,} of {sum(counts.values()):,} nodes)"
    return kind, reasons[first.label] + part
