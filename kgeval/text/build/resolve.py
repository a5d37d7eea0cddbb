"""Entity resolution: what the chunks say, as entities and relations. A pure function; no graph, no model of its own.

Levels, in this order: exact (same name and type), normalised (same but for letter case, punctuation, a leading article), alias
(kgeval.text.build.aliases), embedding (kgeval.text.build.similar). Never across types unless told; a name without a type joins
the same name with a type, if it has only one. The result does not depend on the order of the chunks given.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.errors import UsageError
from kgeval.graph.load.built import Derived, EntityRow, MergeRow, RelationRow
from kgeval.text.build.aliases import join_aliases
from kgeval.text.build.assemble import entities_of, relations_of
from kgeval.text.build.atoms import Found, gather_atoms
from kgeval.text.build.clusters import ALIAS, EMBEDDING, EXACT, LEVELS, NORMALISED, Atom, Cluster, Joiner
from kgeval.text.build.similar import join_similar

if TYPE_CHECKING:
    from kgeval.text.build.similar import Embed

DEFAULT_LEVELS = (EXACT, NORMALISED, ALIAS)
DEFAULT_SIMILARITY = 0.9


@dataclass(frozen=True)
class Rules:
    """Which levels join names, and how. `similarity`: least cosine of the embedding level, which needs `embed`."""

    levels: tuple[str, ...] = DEFAULT_LEVELS
    across_types: bool = False
    similarity: float = DEFAULT_SIMILARITY
    embed: Embed | None = None


@dataclass(frozen=True)
class Resolved:
    """The graph's contents, sorted. `counts`: unnamed mentions, broken links and self-relations left out, all mentions."""

    derived: Derived
    counts: dict[str, int]

    @property
    def entities(self) -> list[EntityRow]:
        return self.derived.entities

    @property
    def relations(self) -> list[RelationRow]:
        return self.derived.relations

    @property
    def merges(self) -> list[MergeRow]:
        return self.derived.merges


def parse_levels(text: str) -> tuple[str, ...]:
    """`exact,normalised,alias,embedding` or some of these, in their order. Raises: UsageError that names what is no level."""
    asked = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [part for part in asked if part not in LEVELS]
    if unknown or not asked:
        raise UsageError(f"--resolve {text}: {', '.join(unknown) or 'nothing'} is no level", fix=f"levels: {', '.join(LEVELS)}")
    return tuple(level for level in LEVELS if level in asked or level == EXACT)


def resolve(found: Iterable[Found], rules: Rules | None = None, decisions: Iterable[MergeRow] = ()) -> Resolved:
    """Entities, relations and merges of all chunks. `decisions`: merges as stored; those taken back are not repeated.

    Raises: UsageError where the embedding level is asked for without an embedder.
    """
    rules = rules or Rules()
    chunks = sorted(found, key=lambda f: (f.document, f.index, f.chunk))
    counts: Counter[str] = Counter()
    atoms, placed = gather_atoms(chunks, counts)
    joiner = Joiner(decisions)
    clusters = _clusters(atoms, rules, joiner)
    entities, entity_of = entities_of(clusters, normal=NORMALISED in rules.levels)
    relations = relations_of(chunks, placed, entity_of, counts)
    merges = sorted({m.id: m for m in joiner.merges}.values(), key=lambda m: m.id)
    return Resolved(Derived(entities, relations, merges), dict(counts))


def _clusters(atoms: Iterable[Atom], rules: Rules, joiner: Joiner) -> list[Cluster]:
    clusters = [Cluster([atom]) for atom in atoms]
    normal = NORMALISED in rules.levels
    if normal:
        groups: dict[object, list[Cluster]] = defaultdict(list)
        for cluster in clusters:
            groups[_name_key(cluster, normal=True), cluster.type_key].append(cluster)
        why = "the same name but for letter case, punctuation or an article"
        clusters = [c for group in groups.values() for c in joiner.gather(group, level=NORMALISED, why=why)]
    clusters = _join_types(clusters, rules, joiner)
    if ALIAS in rules.levels:
        clusters = join_aliases(clusters, joiner, across_types=rules.across_types)
    if EMBEDDING in rules.levels:
        if rules.embed is None:
            fix = "--embedding-model NAME, or leave embedding out of --resolve"
            raise UsageError("the embedding level needs an embedding model", fix=fix)
        clusters = join_similar(
            clusters, joiner, embed=rules.embed, similarity=rules.similarity, across_types=rules.across_types
        )
    return clusters


def _name_key(cluster: Cluster, *, normal: bool) -> str:
    return f"~{cluster.norm}" if normal else f"={cluster.name}"


def _join_types(clusters: list[Cluster], rules: Rules, joiner: Joiner) -> list[Cluster]:
    """A name without a type joins the same name with one, if there is only one such type; all types where told to."""
    normal = NORMALISED in rules.levels
    groups: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        groups[_name_key(cluster, normal=normal)].append(cluster)
    level = NORMALISED if normal else EXACT
    out: list[Cluster] = []
    for group in groups.values():
        types = {cluster.type_key for cluster in group}
        if len(types) > 1 and rules.across_types:
            out += joiner.gather(group, level=level, why="the same name, types joined as asked")
        elif "" in types and sum(cluster.type_key != "" for cluster in group) == 1:
            out += joiner.gather(group, level=level, why="the same name, once without a type")
        else:
            out += group
    return out
