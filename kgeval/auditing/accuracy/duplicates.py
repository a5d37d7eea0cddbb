"""The pairs that the duplicate checks list: drawn for judging, and set against pairs that the user has labelled."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from pydantic import JsonValue

from kgeval.auditing.accuracy.chunks import Chunks
from kgeval.auditing.accuracy.drawing import everything, item_id, numbered
from kgeval.auditing.accuracy.population import PopulationReader
from kgeval.auditing.accuracy.sample import Sample, SampleItem, SampleSpec
from kgeval.auditing.check import Embedding
from kgeval.auditing.engine import run_check
from kgeval.auditing.same_names import MOST_ITEMS
from kgeval.errors import IncompleteError, UsageError
from kgeval.graph.connect import Graph, Row
from kgeval.graph.queries import all_queries
from kgeval.records import Finding, GraphRef, Layout, SampleDesign
from kgeval.stats.sampling import deal, draw, groups_needed, random_number

CHECKS = ("duplicate-name", "fragmented-entity", "similar-entity")
SIMILAR = "similar-entity"
SAME_NAME, OTHER_SCRIPT = "same name", "cross-script"
QUOTED = 300


@dataclass(frozen=True)
class ListedPair:
    """Two entities that a check takes for one. `group`: pairs of one group hang together; `failure_class`: how the names are alike."""

    a: GraphRef
    b: GraphRef
    failure_class: str
    group: str

    @property
    def key(self) -> tuple[str, ...]:
        """What names the pair after a rebuild: names and types, no ids."""
        return tuple(sorted(_named(end) for end in (self.a, self.b)))


def _named(end: GraphRef) -> str:
    return f"{end.name} ({end.type})" if end.type else end.name


@dataclass(frozen=True)
class ListedPairs:
    """All pairs that the checks list, each once, what they left out, and which checks ran."""

    pairs: list[ListedPair]
    notes: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)


def listed_pairs(
    graph: Graph, layout: Layout, *, timeout: float, embedding: Embedding | None = None, checks: Sequence[str] = (),
) -> ListedPairs:
    """Runs the duplicate checks (`checks`: only these, () = all) and takes their pairs. Of all, similar-entity is left out where entities
    have no embeddings and `embedding` makes none.

    Raises: IncompleteError where a check did not run to its end; UsageError where similar-entity was asked for and cannot run.
    """
    pairs: dict[frozenset[str | None], ListedPair] = {}
    notes: list[str] = []
    ran: list[str] = []
    # in this order: a pair that several checks list keeps the form of the first
    for rule in checks or CHECKS:
        finding = run_check(graph, layout, rule, examples=0, timeout=timeout, embedding=embedding)
        if rule == SIMILAR and finding.status == "skipped":
            if checks:
                raise UsageError(f"{rule} cannot run: {finding.reason}", fix="add --embed, or leave this check out")
            continue
        ran.append(rule)
        if finding.status in ("error", "incomplete"):
            fix = "raise --timeout, or run it alone: kgeval audit"
            raise IncompleteError(f"the check {rule} did not run to its end: {finding.reason}", fix=fix)
        if finding.reason:
            notes.append(f"{rule}: {finding.reason}")
        if any(len(example.items) >= MOST_ITEMS for example in finding.examples):
            notes.append(f"{rule}: of groups with more than {MOST_ITEMS} entities, pairs of {MOST_ITEMS} of them are listed")
        for pair in _pairs(finding):
            pairs.setdefault(frozenset((pair.a.element_id, pair.b.element_id)), pair)
    return ListedPairs(list(pairs.values()), notes, ran)


def _pairs(found: Finding) -> Iterable[ListedPair]:
    """The pairs of a finding: of a group of like names every two, of a fragment pair the one."""
    for example in found.examples:
        ends = sorted(example.items, key=lambda end: (end.name, end.key, end.type or ""))
        group = " = ".join(_named(end) for end in ends)
        form = SAME_NAME if found.rule_id == "duplicate-name" else (example.why or "").partition(";")[0]
        for a, b in combinations(ends, 2):
            yield ListedPair(a, b, OTHER_SCRIPT if scripts(a.name) != scripts(b.name) else form, group)


def scripts(name: str) -> frozenset[str]:
    """The scripts of a name's letters, by the first word of their Unicode names ("LATIN", "CYRILLIC", "CJK")."""
    return frozenset(unicodedata.name(c, "").partition(" ")[0] for c in name if c.isalpha())


def draw_pairs(
    graph: Graph, layout: Layout, spec: SampleSpec, chunks: Chunks | None = None, *, embedding: Embedding | None = None,
) -> tuple[Sample, ListedPairs]:
    """A sample of the listed pairs with what the graph knows of both ends; unit = at most `per_passage` pairs of one group."""
    listed = listed_pairs(graph, layout, timeout=spec.timeout, embedding=embedding, checks=spec.checks)
    groups: dict[str, list[ListedPair]] = {}
    for pair in sorted(listed.pairs, key=lambda p: p.key):
        groups.setdefault(pair.group, []).append(pair)
    units = []
    for group, pairs in groups.items():
        numbers = [random_number(spec.seed, "pair", *pair.key) for pair in pairs]
        dealt = deal(numbers, groups_needed(len(pairs), spec.per_passage))
        units += [(f"{group}|{part}", [pairs[index] for index in places]) for part, places in enumerate(dealt)]
    # Rounded up: as many units as hold n pairs, if they are of mean size.
    needed = -(-spec.n * len(units) // max(1, len(listed.pairs)))
    chosen = draw([random_number(spec.seed, "unit", name) for name, _ in units], needed).chosen
    drawn = [(units[index][0], pair) for index in chosen for pair in units[index][1]]
    weight = len(units) / len(chosen) if chosen else 0.0
    items = _items(PopulationReader(graph, layout, spec, chunks), drawn, weight)
    design = SampleDesign(
        method=f"cluster sample without replacement of the pairs that {' and '.join(listed.checks)} list; "
        f"unit = at most {spec.per_passage} pairs of one group of like names",
        seed=spec.seed, wanted=spec.n, drawn=len(items), population=len(listed.pairs), without_source=0,
        clusters=len(units), clusters_drawn=len(chosen),
    )
    return Sample(items, design, {"": len(units)}, _notes(listed, len(items))), listed


def _notes(listed: ListedPairs, drawn: int) -> list[str]:
    if not listed.pairs:
        return ["the duplicate checks list no pair: there is nothing to judge", *listed.notes]
    about = "precision of the checks: of the pairs that they list; what they miss is told by labelled pairs only (--labelled-pairs)"
    return [about, *([everything(drawn, "pairs")] if drawn == len(listed.pairs) else []), *listed.notes]


def _items(reader: PopulationReader, drawn: Sequence[tuple[str, ListedPair]], weight: float) -> list[SampleItem]:
    """The drawn pairs (with their units) as they are shown: what the graph knows of both ends, and a quotation of a passage of each."""
    details = reader.details({end.element_id for _, pair in drawn for end in (pair.a, pair.b) if end.element_id})
    quotes = _quotes(reader, details)
    items = []
    for cluster, pair in drawn:
        shown: dict[str, JsonValue] = {}
        for letter, end in (("a", pair.a), ("b", pair.b)):
            row, quote = details.get(end.element_id or "", {}), quotes.get(end.element_id or "")
            about = [*filter(None, [row.get("description")]), *(row.get("relations") or []), *([f"“{quote}”"] if quote else [])]
            shown |= {f"name_{letter}": end.name, f"type_{letter}": row.get("type") or "", f"about_{letter}": list[JsonValue](about)}
        items.append(SampleItem(
            id=item_id("duplicates", *pair.key), ref=pair.a, partner=pair.b, shown=shown, stratum="", cluster=cluster, home="",
            weight=weight, failure_class=pair.failure_class,
        ))
    return numbered(items)


def _quotes(reader: PopulationReader, details: Mapping[str, Row]) -> dict[str, str]:
    """For each entity the words around its name in the first of its passages, where there are texts."""
    first = {element_id: sorted(row["passages"])[0] for element_id, row in details.items() if row["passages"]}
    spec = set(first.values())
    chunks = {row["id"]: row["element_id"] for row in reader.passages() if row["id"] in spec}
    texts = reader.texts(sorted(set(chunks.values())))
    passage_of = {element_id: texts.get(chunks.get(chunk, ""), "") for element_id, chunk in first.items()}
    return {element_id: around(text, details[element_id]["name"] or "") for element_id, text in passage_of.items() if text}


def around(text: str, name: str) -> str:
    """At most `QUOTED` characters of the text, around the name where it stands in it."""
    found_at = max(0, text.casefold().find(name.casefold()))
    start = max(0, found_at - QUOTED // 2)
    return " ".join(text[start : start + QUOTED].split())


def queries_used() -> list[str]:
    """The queries behind the pairs, for the manifest."""
    return [name for name in (*CHECKS, "entity-details", "passages", "passage-texts", "entity-contexts") if name in all_queries()]
