"""Entity resolution: what the chunks say, as entities and relations. A pure function; no graph, no model of its own.

Levels, in this order: exact (same name and type), normalised (same but for letter case, punctuation, a leading article), alias
(other forms of one name, below), embedding (kgeval.building.similar). Never across types unless told; a name without a type joins
the same name with a type, if it has only one. The result does not depend on the order of the chunks given.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.building.assemble import entities_of, relations_of
from kgeval.building.clusters import ALIAS, EMBEDDING, EXACT, LEVELS, NORMALISED, Cluster, Joiner, WrittenName
from kgeval.building.mentions import Extracted, group_mentions
from kgeval.building.similar import join_similar
from kgeval.errors import UsageError
from kgeval.graph.load.built import Derived, EntityRow, MergeRow, RelationRow
from kgeval.names.compare import ACRONYM, HONORIFIC, INITIALS, LEGAL_FORM, SPACING, SUBSET, VARIANT, compare_forms, spelling_key
from kgeval.names.compare import SAME as SAME_NAME
from kgeval.names.forms import GENERIC, LINKS, NameForm, folded, is_person, kind_of, without_legal
from kgeval.text.signs import identity_key

if TYPE_CHECKING:
    from kgeval.building.similar import Embed

# The alias level: other forms of one name. Cautious: nothing is joined where a name could mean two things.

GIVEN = "given as an alias"
SAME = "the same name but for spacing, a title or a legal form"
MOST_CANDIDATES = 50  # a short form that fits more names than this means none of them for certain
EVERYWHERE = frozenset({HONORIFIC, INITIALS, SUBSET, VARIANT})  # needs the fuller name in every document of the short form
MARRIED = frozenset({"mrs", "mme", "frau", "senora", "lady"})  # may stand before a husband's name ("Mrs. John Smith")
PLAIN = frozenset({"mr", "ms", "miss", "mrs"})  # say nothing of rank: "Mr. Watson" may well be "Dr. John Watson"
Edge = tuple[int, int, str]


def join_aliases(clusters: list[Cluster], joiner: Joiner, *, across_types: bool = False) -> list[Cluster]:
    """The clusters, other forms of one name joined; each type by itself unless told otherwise."""
    blocks: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        blocks["" if across_types else cluster.type_key].append(cluster)
    joined = {key: _canonical(blocks[key], joiner) for key in sorted(blocks)}
    if not across_types and "" in joined:
        joined = _typed(joined, joiner)
    return [cluster for block in joined.values() for cluster in _short_forms(block, joiner)]


def _typed(blocks: dict[str, list[Cluster]], joiner: Joiner) -> dict[str, list[Cluster]]:
    """A name without a type joins the name of the same canonical form that has one, if there is only one such name of any type."""
    places: dict[object, list[tuple[str, int]]] = defaultdict(list)
    for key, block in blocks.items():
        for position, cluster in enumerate(block if key else ()):
            places[_canonical_form(cluster)].append((key, position))
    out = {key: list(block) for key, block in blocks.items() if key}
    left: list[Cluster] = []
    for cluster in sorted(blocks[""], key=lambda c: c.order):
        with_type = places[_canonical_form(cluster)]
        into = out[with_type[0][0]][with_type[0][1]] if len(with_type) == 1 else None
        if into is None or joiner.apart(into, cluster) or not _one_gender(into, cluster):
            left.append(cluster)
        else:
            key, position = with_type[0]
            out[key][position] = joiner.join(into, cluster, level=ALIAS, why=SAME)
    return {**out, "": left}


def _canonical(clusters: list[Cluster], joiner: Joiner) -> list[Cluster]:
    """Joins what has the same canonical form. Where both men's and women's titles stand before a name, they stay apart."""
    groups: dict[object, list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        groups[_canonical_form(cluster)].append(cluster)
    out: list[Cluster] = []
    for members in groups.values():
        genders = {c.form.gender for c in members} - {""}
        parts: dict[str, list[Cluster]] = defaultdict(list)
        for cluster in members:
            parts[cluster.form.gender if len(genders) > 1 else ""].append(cluster)
        for part in parts.values():
            out += joiner.gather(part, level=ALIAS, why=SAME)
    return out


def _canonical_form(cluster: Cluster) -> object:
    """Letters of the name without a person's title or a company's legal form, and the words that tell things apart."""
    name = cluster.form
    if not name.tokens:
        return (cluster.norm,)
    person, untyped = is_person(cluster.type_key), not cluster.type_key
    tokens = name.tokens
    if (person or untyped) and len(name.core) > 1 and name.core[0] not in LINKS and not name.titles & MARRIED:
        tokens = name.core
    if not person and not name.titles:
        tokens = without_legal(tokens)
    return ("".join(tokens), name.apart)


def _short_forms(clusters: list[Cluster], joiner: Joiner) -> list[Cluster]:
    """Joins short forms to the one fuller name that they can mean, fullest names first: "Holm" may join "Anna Holm" only after it is known
    whether "A. Holm" and "Anna Holm" are one."""
    def fullness(cluster: Cluster) -> tuple[int, int, str, str]:
        return len(cluster.form.compact), len(cluster.form.tokens), cluster.norm, cluster.name

    fullest_first = sorted(clusters, key=fullness, reverse=True)
    fuller: dict[int, dict[int, str]] = defaultdict(dict)
    for short, full, why in _edges(fullest_first):
        fuller[short].setdefault(full, why)
    roots = list(range(len(fullest_first)))
    joined = dict(enumerate(fullest_first))
    for position, cluster in enumerate(fullest_first):
        meant = {roots[full] for full in fuller.get(position, ())}
        if len(meant) != 1:
            continue
        root = meant.pop()
        why = min(fuller[position].items())[1]
        if _may_join(cluster, joined[root], why) and not joiner.apart(cluster, joined[root]):
            joined[root] = joiner.join(joined[root], joined.pop(position), level=ALIAS, why=why)
            roots[position] = root
    return list(joined.values())


def _may_join(short: Cluster, full: Cluster, why: str) -> bool:
    """Whether the evidence is there, and no name of the cluster speaks against it."""
    if why == ACRONYM and short.documents.isdisjoint(full.documents):
        return False
    if (why in EVERYWHERE or (why == GIVEN and len(short.form.tokens) == 1)) and not short.documents <= full.documents:
        return False
    return _one_gender(short, full)


def _one_gender(one: Cluster, other: Cluster) -> bool:
    """False where titles of men and of women would stand in one cluster."""
    return len({written.form.gender for cluster in (one, other) for written in cluster.names} - {""}) < 2


def _edges(fullest_first: list[Cluster]) -> Iterator[Edge]:
    """(short, full, why): positions in `found`, fullest first, so that `full` < `short`."""
    index = _FullerNames(fullest_first)
    for position, cluster in enumerate(fullest_first):
        for other in index.candidates(position):
            if other < position and (why := _relation(cluster, fullest_first[other])):
                yield position, other, why
    for first, other in index.given():
        if first != other:
            yield max(first, other), min(first, other), GIVEN


def _relation(short: Cluster, full: Cluster) -> str | None:
    """The form that joins the two, where it counts for this kind of thing."""
    if short.letters and short.letters in full.acronyms:
        return ACRONYM if len(short.letters) > 2 or short.type_key else None  # two letters stand for too much, unless a type agrees
    verdict = compare_forms(short.form, full.form, kind=kind_of(short.type_key))
    why = verdict.form if verdict.joins and verdict.form != SAME_NAME else None
    if why and _another(short.form, full.form, why):
        return None
    person, untyped = is_person(short.type_key), not short.type_key
    allowed = {VARIANT} | ({INITIALS, HONORIFIC} if person or untyped else set()) | ({SUBSET} if person else set())
    return why if why in allowed or (verdict.certainty == "sure" and why not in (SPACING, LEGAL_FORM)) else None


def _another(short: NameForm, full: NameForm, why: str) -> bool:
    """Known traps: "King of Fez" / "Governor of Fez", a wife by her husband's name, "Elsie Inglis" / "Elsie Inglis Memorial Hospice",
    a lone first name, "Bishop Paget" / "Sir Ralph Paget"."""
    if why in (HONORIFIC, INITIALS):
        return short.core[0] in LINKS or bool(short.titles & MARRIED) != bool(full.titles & MARRIED)
    if why != SUBSET:
        return False
    n = len(short.core)
    starts = full.core[:n] == short.core
    ranks = short.titles and full.titles and short.titles.isdisjoint(full.titles) and not (short.titles | full.titles) & PLAIN
    return bool(ranks) or (starts and (len(full.core) - n > 1 if n > 1 else not short.titles))


class _FullerNames:
    """Finds, for a name, the fuller ones worth a look: by words at both ends, initials, acronym and folded spelling."""

    def __init__(self, found: list[Cluster]) -> None:
        self._found = found
        self._by: dict[object, list[int]] = defaultdict(list)
        self._norms: dict[str, list[int]] = defaultdict(list)
        for position, cluster in enumerate(found):
            for key in _offered(cluster):
                self._by[key].append(position)
            for norm in {written.norm for written in cluster.names}:
                self._norms[norm].append(position)

    def candidates(self, at: int) -> list[int]:
        """Positions of fuller names, in order; a form that fits too many gives none."""
        out: set[int] = set()
        for key in _wanted(self._found[at]):
            here = self._by.get(key, ())
            if len(here) <= MOST_CANDIDATES:
                out.update(here)
        return sorted(out)

    def given(self) -> Iterator[tuple[int, int]]:
        """Pairs of names of which one is given as the other's alias; words that are no name by themselves give none."""
        for position, cluster in enumerate(self._found):
            for alias in sorted({identity_key(alias) for written in cluster.names for alias in written.aliases}):
                others = self._norms.get(alias, ())
                if len(others) == 1 and len(alias) >= 2 and not GENERIC.issuperset(alias.split()):
                    yield position, others[0]


def _offered(cluster: Cluster) -> Iterable[object]:
    """The keys under which shorter forms of this name look for it."""
    name, core = cluster.form, cluster.form.core
    keys: set[object] = {("folded", folded(name.compact)), ("core", core)}
    keys |= {("acronym", key) for key in cluster.acronyms}
    if core:
        keys |= {("spelled", spelling_key(core))}
        keys |= {("initials", core[0][0], core[-1]), ("words", tuple(sorted(core)))} if len(core) > 1 else set()
        # at most three words more or fewer, as compare_forms allows
        for size in range(max(1, len(core) - 3), len(core)):
            keys |= {("part", core[:size]), ("part", core[-size:])}
    return keys


def _wanted(cluster: Cluster) -> Iterable[object]:
    """The keys under which this name looks for fuller ones."""
    name, core = cluster.form, cluster.form.core
    yield "part", core
    yield "core", core
    # shorter ones are no spelling variants to compare_forms
    if len(name.compact) >= 6:
        yield "folded", folded(name.compact)
    if core:
        yield "spelled", spelling_key(core)
    if cluster.letters:
        yield "acronym", cluster.letters
    if len(core) > 1:
        yield "initials", core[0][0], core[-1]
        yield "words", tuple(sorted(core))


DEFAULT_LEVELS = (EXACT, NORMALISED, ALIAS)
DEFAULT_SIMILARITY = 0.9  # cosine; a missed merge leaves a duplicate that the audit finds, a wrong one makes one thing of two


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
    chosen = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [part for part in chosen if part not in LEVELS]
    if unknown or not chosen:
        raise UsageError(f"--resolve {text}: {', '.join(unknown) or 'nothing'} is no level", fix=f"levels: {', '.join(LEVELS)}")
    # exact is always on: mentions of one name and type are one written name before any level is looked at
    return tuple(level for level in LEVELS if level in chosen or level == EXACT)


def resolve(found: Iterable[Extracted], rules: Rules | None = None, decisions: Iterable[MergeRow] = ()) -> Resolved:
    """Entities, relations and merges of all chunks. `decisions`: merges as stored; those taken back are not repeated.

    Raises: UsageError where the embedding level is asked for without an embedder.
    """
    rules = rules or Rules()
    chunks = sorted(found, key=lambda f: (f.document, f.index, f.chunk))
    counts: Counter[str] = Counter()
    names, placed = group_mentions(chunks, counts)
    joiner = Joiner(decisions)
    clusters = _clusters(names, rules, joiner)
    entities, entity_of = entities_of(clusters, normal=NORMALISED in rules.levels)
    relations = relations_of(chunks, placed, entity_of, counts)
    merges = sorted({m.id: m for m in joiner.merges}.values(), key=lambda m: m.id)
    return Resolved(Derived(entities, relations, merges), dict(counts))


def _clusters(names: Iterable[WrittenName], rules: Rules, joiner: Joiner) -> list[Cluster]:
    clusters = [Cluster([written]) for written in names]
    normal = NORMALISED in rules.levels
    if normal:
        groups: dict[object, list[Cluster]] = defaultdict(list)
        for cluster in clusters:
            groups[cluster.norm, cluster.type_key].append(cluster)
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


def _join_types(clusters: list[Cluster], rules: Rules, joiner: Joiner) -> list[Cluster]:
    """A name without a type joins the same name with one, if there is only one such type; all types where told to."""
    normal = NORMALISED in rules.levels
    groups: dict[str, list[Cluster]] = defaultdict(list)
    for cluster in clusters:
        groups[cluster.norm if normal else cluster.name].append(cluster)
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
