"""How a profile reads: what the graph is first, then its labels and relation types, each decision with its evidence."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.format import first_of, joined, number, percent, plural
from kgeval.profiling.record import GraphProfile, LabelProfile, ProfileReport, PropertyProfile, RelationProfile, ValueAt
from kgeval.reports.document import Block, Cell, Details, Document, Items, Section, Table, Text

OVERRIDE = (
    "A decision that is wrong here is overridden in a layout: kgeval layout init -o mine.toml, then --layout mine.toml; or one key of it: "
    "--set name_keys=title."
)
MOST = 8  # properties that are told of in a line


def document(report: ProfileReport) -> Document:
    """The short form fits a screen; Markdown and the page have all properties and the evidence of each decision."""
    profile = report.profile
    return Document(
        "Graph profile", "profile", [*sections(profile), _dependencies(profile), _properties(profile)], name=report.graph or "",
        about=f"layout {profile.written_by}", lead=_lead(profile), notes=profile.notes,
        more="The evidence of each decision: add -o profile.html",
    )


def sections(profile: GraphProfile) -> list[Section]:
    """What a graph is, as parts of a report."""
    return [
        Section("Labels", list(_labels(profile)), id="labels"),
        Section("Relation types", list(_types(profile)), id="relation-types"),
        Section("Why", [Items(list(_why(profile)), long=400, forms="long")], id="why", forms="long"),
    ]


def audit_section(profile: GraphProfile) -> Section:
    """What an audit tells of the graph that it looked at."""
    lead = [Text(text) for text in _lead(profile)]
    why = Details("Why, for each decision", [Items(list(_why(profile)), long=400), Text(OVERRIDE, style="hint")])
    blocks: list[Block] = [*lead, *_labels(profile), *_types(profile), why]
    return Section("What this graph is", blocks, id="profile", forms="page")


def _lead(profile: GraphProfile) -> list[str]:
    writer = "No writer's marks" if profile.written_by == "generic" else f"Written as {profile.written_by}"
    names = joined([f"{script} {percent(share)}" for script, share in list(profile.scripts.items())[:3]], 3)
    looked = "" if profile.sampled >= profile.nodes else f", {number(profile.sampled)} of them looked at (seed {profile.seed})"
    return [
        f"Kind: {profile.kind} ({profile.kind_because}). {writer}.",
        f"{plural(profile.nodes, 'node')}{looked}, {plural(profile.relations, 'relation')}."
        + (f" Scripts of names: {names}." if names else ""),
    ]


def _labels(profile: GraphProfile) -> Iterator[Table]:
    rows = [
        (
            Cell(one.label or "(no label)", user=True, note=_beside(one)), number(one.nodes), one.role, one.kind,
            Cell(" + ".join(one.name) or "-", user=True), _identify(one), Cell(", ".join(one.keys) or "-", user=True),
        ) for one in profile.labels
    ]
    head = ("label", "nodes", "role", "kind", "name", "same name", "keys")
    yield Table(head, rows, words=frozenset({0, 2, 3, 4, 5, 6}), short=20, hint=(
        "same name: whether two nodes that bear one name are one thing; - where no name is repeated."
    ))


def _beside(one: LabelProfile) -> str:
    parts = (("also", one.with_it), ("subtypes", one.subtypes), ("markers", one.markers))
    found = [f"{word} {joined(list(labels), 4)}" for word, labels in parts if labels]
    return "; ".join([*found, *([f"type in {one.type_property}"] if one.type_property else [])])


def _identify(one: LabelProfile) -> str:
    return {True: "one thing", False: "several things", None: "-"}[one.names_identify]


def _types(profile: GraphProfile) -> Iterator[Table]:
    several = any(one.tells_apart for one in profile.types)
    rows = [
        (
            Cell(one.type, user=True), number(one.count), Cell(_ends(one), user=True), one.says, "yes" if one.directed else "no",
            _most(one), *([Cell(", ".join(one.tells_apart) or "-", user=True)] if several else []),
        ) for one in profile.types
    ]
    head = ("relation type", "count", "from -> to", "meaning in", "directed", "most per node", *(["tells apart"] if several else []))
    yield Table(head, rows, words=frozenset({0, 2, 3, 4, 5, 6}), short=20, hint=(
        "meaning in: type, property, keywords in a property, nothing (only that two things are connected). most per node: at the start, at "
        "the end, in the sample." + (" tells apart: properties in which several relations of one pair differ." if several else "")
    ))


def _ends(one: RelationProfile) -> str:
    return first_of([f"{end.start or '(no label)'} -> {end.end or '(no label)'}" for end in one.ends], 2) or "-"


def _most(one: RelationProfile) -> str:
    ends = (one.most_per_start, one.most_per_end)
    return " / ".join("-" if most is None else number(most) + ("+" if most >= 1000 else "") for most in ends)


def _why(profile: GraphProfile) -> Iterator[str | Cell]:
    for one in profile.labels:
        named = one.label or "(no label)"
        yield Cell(f"{named} is {_article(one.role)} {one.role}: {one.role_because}", user=True)
        yield Cell(f"{named}, keys: {one.keys_because}", user=True)
        yield Cell(f"{named}, name: {one.name_because}; {one.names_because}", user=True)
    for relation in profile.types:
        yield Cell(f"{relation.type}: {relation.says_because}; direction: {relation.directed_because}", user=True)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _dependencies(profile: GraphProfile) -> Section:
    rows = [
        (
            Cell(f"{one.start} -[{one.type}]-> {one.end}" if one.type else one.start, user=True),
            Cell(_value_at(one.first, one.only), user=True), one.kind, Cell(_value_at(one.last), user=True), number(one.rows),
        ) for one in profile.dependencies
    ]
    head = ("of", "value", "", "value", "rows")
    table = Table(head, rows, words=frozenset({0, 1, 2, 3}), long=150, hint=(
        "Of two values the first says what the last is, equals it, or is at most it, in nearly all rows of the sample, not by chance."
    ))
    return Section("What goes with what", [table], id="dependencies", forms="long")


def _value_at(one: ValueAt, only: str | None = None) -> str:
    if one.key is None:
        return f"which {one.owner}"
    if one.part in ("outgoing", "incoming"):
        return f"whether -[{one.key}]-> {'leads out of it' if one.part == 'outgoing' else 'leads into it'}"
    name = f"{one.owner}.{one.key}"
    if one.part == "presence":
        return f"whether there is {name}"
    return (name if one.part == "value" else f"{one.part} of {name}") + (f" ({only})" if only is not None else "")


def _properties(profile: GraphProfile) -> Section:
    held = [*((one.label, one.properties) for one in profile.labels), *((one.type, one.properties) for one in profile.types)]
    rows: list[tuple[str | Cell, ...]] = [
        (Cell(f"{owner}.{part.key}", user=True), *_property(part)) for owner, properties in held for part in properties
    ]
    head = ("property", "filled", "types", "distinct", "median length", "texts that are")
    return Section("Properties", [Table(head, rows, words=frozenset({0, 2, 5}), long=400)], id="properties", forms="long")


def _property(one: PropertyProfile) -> tuple[str, ...]:
    length = "" if one.length is None else number(round(one.length))
    return percent(one.filled), _shares(one.types), percent(one.distinct), length, _shares(one.formats)


def _shares(shares: dict[str, float]) -> str:
    return ", ".join(f"{name} {percent(share)}" if share < 1 else name for name, share in list(shares.items())[:MOST])
