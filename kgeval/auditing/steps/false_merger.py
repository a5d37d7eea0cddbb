"""false-merger: one entity that is probably several things that only share a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.contexts import Contexts
from kgeval.auditing.same_names import code
from kgeval.graph.connect import Row
from kgeval.records import Example, GraphRef

WORD = re.compile(r"\w{4,}")  # of fewer letters nearly all are words of grammar, which any two pieces share


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities that fall apart or carry labels that never go together; `total`: entities looked at."""
    rare = _rare_label_pairs(check)
    rows = check.own_rows(rare_label_pairs=rare)
    hits = [(float(sum(map(len, groups[1:]))), row, _why(row, groups)) for row, groups in _apart(check, rows)]
    split = {row["element_id"] for _, row, _ in hits}
    for row in rows:
        clash = [pair for pair in rare if set(pair) <= set(row["labels"])]
        if clash and row["element_id"] not in split:
            hits.append((0.5, row, f"labelled {clash[0][0]} and {clash[0][1]}, which hardly any other entity is"))
    hits.sort(key=lambda hit: (-hit[0], hit[1]["name"], hit[1]["element_id"]))
    examples = [
        Example(items=[GraphRef(element_id=row["element_id"], key=row["key"], name=row["name"], type=row["type"])], why=why)
        for _, row, why in hits[: check.sample]
    ]
    return CheckOutcome(len(hits), len(rows), examples)


def _rare_label_pairs(check: CheckRun) -> list[list[str]]:
    """Pairs of labels that are common apart and hardly ever together (only where labels hold the types)."""
    if check.layout.type_key:
        return []
    alone: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for row in check.stream("label-sets"):
        labels = sorted(row["labels"])
        for label in labels:
            alone[label] += row["uses"]
        # 190 pairs an entity at most, however many labels somebody gives
        for pair in combinations(labels[:20], 2):
            together[pair] += row["uses"]
    share, least = float(check.settings["rare_label_share"]), int(check.settings["min_label_uses"])
    smaller = {pair: min(alone[pair[0]], alone[pair[1]]) for pair in together}
    return [list(pair) for pair, uses in sorted(together.items()) if smaller[pair] >= least and uses <= share * smaller[pair]]


def _apart(check: CheckRun, rows: list[Row]) -> Iterable[tuple[Row, list[set[str]]]]:
    """The entities whose neighbours fall into several groups of at least `min_group`, with those groups, largest first. Neighbours hang
    together by a document, and by what they are joined to other than the entity: related neighbours, and a common third entity."""
    least = int(check.settings["min_group"])
    torn = [(row, groups) for row in rows if len(groups := _groups(_by_documents(row))) > 1]
    ids = {n["element_id"] for row, _ in torn for n in row["neighbours"]}
    near = Contexts(check, dict(enumerate(sorted(ids))))
    numbers = {element_id: number for number, element_id in enumerate(sorted(ids))}
    for row, _ in torn:
        known, own = [n["element_id"] for n in row["neighbours"] if n["documents"]], code(row["element_id"])
        links = _by_documents(row)
        links += [(neighbour, f"code {other}") for neighbour in known for other in near.codes(numbers[neighbour]) if other != own]
        groups = [group for group in _groups(links) if len(group) >= least]
        if len(groups) > 1:
            yield row, groups


def _by_documents(row: Row) -> list[tuple[str, str]]:
    """(neighbour, document) for each neighbour; one without a document stands alone and says nothing."""
    return [(n["element_id"], document) for n in row["neighbours"] for document in n["documents"]]


def _groups(links: list[tuple[str, str]]) -> list[set[str]]:
    """The neighbours that hang together, largest group first (union-find over the links)."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for neighbour, other in links:
        parent[root(neighbour)] = root(other)
    groups: dict[str, set[str]] = {}
    for neighbour, _ in links:
        groups.setdefault(root(neighbour), set()).add(neighbour)
    return sorted(groups.values(), key=lambda group: (-len(group), min(group)))


def _why(row: Row, groups: list[set[str]]) -> str:
    names = {n["element_id"]: n["name"] or "?" for n in row["neighbours"]}
    listed = sorted((sorted(names[i][:60] for i in group) for group in groups), key=lambda group: (-len(group), group))
    shown = " | ".join(", ".join(group[:3]) for group in listed[:3])
    pieces = [set(WORD.findall(piece.casefold())) for piece in re.split(r"\n+|\|", row["description"] or "")]  # of a merged description
    pieces = [piece for piece in pieces if len(piece) > 2][:20]
    more = "; the pieces of its description share no word" if any(not (a & b) for a, b in combinations(pieces, 2)) else ""
    return f"{len(groups)} groups of neighbours with no document or neighbour in common: {shown}{more}"
