"""What each structure figure is called and means, in plain words. Ids are those of the audit report's `structure`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgeval.format import number, percent, visible
from kgeval.records import AuditReport


@dataclass(frozen=True)
class Figure:
    """One figure: id in the report, title, explanation, and whether the value is a share (0..1, shown in percent)."""

    id: str
    title: str
    what: str
    unit: Literal["number", "share", "text"] = "number"

    def text(self, value: float) -> str:
        """A value as people read it."""
        return percent(value) if self.unit == "share" else number(value)


@dataclass(frozen=True)
class Value:
    """A figure with its value as text, or with the reason why there is none (`value` is null then, never 0)."""

    figure: Figure
    value: str | None
    reason: str = ""


FIGURES: tuple[Figure, ...] = (
    Figure("entities", "Entities", "Things the graph is about, as the layout tells them apart from chunks and documents."),
    Figure("relations", "Relations", "All relations among entities; parallel ones count each."),
    Figure("simple_edges", "Joined pairs", "Pairs of entities joined by at least one relation, self-loops left out."),
    Figure("self_loops", "Self-loops", "Relations from an entity to itself."),
    Figure("chunks", "Chunks", "Pieces of source text stored in the graph."),
    Figure("chunks_with_text", "Chunks with text", "Chunks that hold their text."),
    Figure("documents", "Documents", "Source documents stored in the graph."),
    Figure("average_degree", "Average degree", "Relations per entity: 2 × relations / entities, isolated entities included."),
    Figure("simple_average_degree", "Average neighbours", "Distinct neighbours per entity: 2 × joined pairs / entities."),
    Figure("degree_min", "Smallest degree", "Fewest relations at one entity."),
    Figure("degree_median", "Median degree", "Half of the entities have at most this many relations."),
    Figure("degree_p95", "95th percentile of degree", "95 of 100 entities have at most this many relations."),
    Figure("degree_max", "Largest degree", "Most relations at one entity."),
    Figure("degree_above_1", "Degree above 1", "Share of entities with more than 1 relation.", "share"),
    Figure("degree_above_2", "Degree above 2", "Share of entities with more than 2 relations.", "share"),
    Figure("degree_above_3", "Degree above 3", "Share of entities with more than 3 relations.", "share"),
    Figure("density", "Density", "Joined pairs of all possible pairs, 0 to 1. Shrinks as a graph grows: compare like with like."),
    Figure("average_clustering", "Clustering", "How often two neighbours of an entity are joined, 0 to 1, mean over all entities; "
           "entities with fewer than two neighbours count as 0."),
    Figure("average_clustering_degree2", "Clustering, degree 2 and up", "The same mean without entities with fewer than two neighbours."),
    Figure("components", "Components", "Parts of the graph with no relation between them. A traversal never leaves its part."),
    Figure("giant_share", "In the largest component", "Share of entities in the largest connected part.", "share"),
    Figure("isolated", "Isolated entities", "Entities with no relation to another entity: traversal cannot reach them."),
    Figure("isolated_share", "Isolated share", "Share of entities with no relation to another entity.", "share"),
    Figure("component_size_mean", "Component size, mean", "Over components of more than one entity."),
    Figure("component_size_median", "Component size, median", "Over components of more than one entity."),
    Figure("component_size_trimmed", "Component size, trimmed mean", "The mean without the top and bottom 10 %."),
    Figure("component_size_geometric", "Component size, geometric mean", "Over components of more than one entity."),
    Figure("component_size_harmonic", "Component size, harmonic mean", "Over components of more than one entity."),
    Figure("diameter", "Diameter", "Longest shortest path within the largest component, in relations (exact)."),
    Figure("diameter_lower_bound", "Diameter, at least",
           "Longest shortest path found in the largest component; the true one may be longer."),
    Figure("articulation_points", "Articulation points", "Entities whose removal splits a component."),
    Figure("bridges", "Bridges", "Joined pairs whose separation splits a component."),
    Figure("modularity", "Modularity", "How much denser communities are inside than by chance; above 0.3 is a clear community structure."),
    Figure("communities", "Communities", "Groups of closely joined entities found by the community algorithm."),
    Figure("community_size_mean", "Community size, mean", "Entities per community."),
    Figure("community_size_median", "Community size, median", "Half of the communities are at most this large."),
    Figure("community_size_max", "Community size, largest", "Entities in the largest community."),
    Figure("community_stability", "Community stability",
           "Agreement of repeated runs (mean adjusted Rand index): 1 = always the same groups, "
           "0 = no better than chance. Below about 0.7, do not build on single communities."),
    Figure("cross_community_share", "Pairs across communities", "Share of joined pairs whose ends are in two communities.", "share"),
    Figure("community_algorithm", "Community algorithm", "How communities were found.", "text"),
    Figure("entities_per_1k_tokens", "Entities per 1,000 tokens", "Entities for each 1,000 tokens of source text."),
    Figure("relations_per_1k_tokens", "Relations per 1,000 tokens", "Relations for each 1,000 tokens of source text."),
    Figure("entities_per_10k_tokens", "Entities per 10,000 tokens", "Entities for each 10,000 tokens of source text."),
    Figure("relations_per_10k_tokens", "Relations per 10,000 tokens", "Relations for each 10,000 tokens of source text."),
    Figure("tokens", "Tokens of source text", "Size of the chunks, counted with the tokenizer that is named beside it."),
    Figure("tokenizer", "Tokenizer", "How tokens were counted.", "text"),
)
KEY: tuple[str, ...] = (
    "entities", "relations", "average_degree", "giant_share", "components", "isolated_share",
    "average_clustering", "modularity", "communities", "documents", "chunks", "entities_per_1k_tokens",
)
COMMUNITY: tuple[str, ...] = (
    "communities", "modularity", "community_size_median", "community_size_max", "community_stability",
    "cross_community_share", "bridges", "articulation_points",
)
MAPS: frozenset[str] = frozenset({
    "entities_by_type", "relations_by_type", "degree_histogram", "component_size_histogram", "property_fill", "property_types",
})


_BY_ID = {figure.id: figure for figure in FIGURES}


def figure_of(id_: str) -> Figure:
    """The figure of this id; an unknown one is called by its id."""
    return _BY_ID.get(id_, Figure(id_, id_, ""))


def values(report: AuditReport, ids: tuple[str, ...] | None = None) -> list[Value]:
    """The figures of the report in a fixed order: those with a value, and those skipped with the reason.

    Figures that the report does not mention at all are left out. Unknown plain figures come last under their own id.
    """
    others = sorted(set(report.structure) - _BY_ID.keys() - MAPS)
    wanted = (_value(report, figure_of(id_)) for id_ in ids or (*_BY_ID, *others))
    return [value for value in wanted if value is not None]


def why_skipped(report: AuditReport, id_: str) -> str | None:
    """The reason why a figure has no value here, or null if the report gives none."""
    return next((skip.reason for skip in report.structure_skipped if id_ in skip.ids), None)


def counts(report: AuditReport, id_: str) -> list[tuple[str, int]]:
    """A by-type map or histogram as (name, number) pairs, largest first, then by name. Empty if it is absent."""
    table = report.structure.get(id_)
    if not isinstance(table, dict):
        return []
    pairs = [(name, int(n)) for name, n in table.items() if isinstance(n, (int, float))]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _value(report: AuditReport, figure: Figure) -> Value | None:
    raw, reason = report.structure.get(figure.id), why_skipped(report, figure.id)
    if raw is None or isinstance(raw, dict) or raw != raw:
        given = figure.id in report.structure and not isinstance(raw, dict)
        return Value(figure, None, reason or "no value") if reason or given else None
    if isinstance(raw, str):
        return Value(figure, visible(raw))
    return Value(figure, figure.text(raw))
