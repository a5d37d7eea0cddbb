"""What is listed: every gold item with how it was matched or that it is missing, and the findings for the audit report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgeval.auditing.completeness.figures import MatchedGold
from kgeval.auditing.completeness.index import RANK
from kgeval.auditing.completeness.match import Match
from kgeval.auditing.completeness.relations import JoiningRelation, TripleMatch
from kgeval.auditing.graph_reader import GraphReader
from kgeval.records import LEVELS, Example, Finding, GoldMatch, GraphRef, Level

MOST_FOUND = 20  # places listed for one gold item; the counts are of all
BATCH = 5_000
LONGEST_SHOWN = 200


def gold_items(reader: GraphReader, found: MatchedGold, bridging: Sequence[bool | None]) -> list[GoldMatch]:
    """A line for each gold entity, then for each gold triple. `bridging`: of each triple; None: not known."""
    ids = {i for match in found.entities for i in match.best[:MOST_FOUND]}
    ids |= {i for match in found.triples for relation in match.found for i in (relation.a, relation.b)}
    refs = {row["element_id"]: GraphRef.model_validate(row) for row in reader.rows_of("gold-entities", ids, size=BATCH)}
    entities = [
        GoldMatch(
            kind="entity", name=gold.name, type=gold.type, document=gold.document, level=_level(match.rank), score=_best_score(match),
            found=[refs[i] for i in match.best[:MOST_FOUND] if i in refs], why=_why(match),
        ) for gold, match in zip(found.gold.entities, found.entities, strict=True)
    ]
    rows = zip(found.gold.triples, found.triples, bridging, strict=True)
    return entities + [
        GoldMatch(
            kind="relation", name=f"{triple.subject} -[{triple.predicate or ''}]-> {triple.object}", document=triple.document,
            level=_level(match.joined), directed=None if match.joined is None else match.directed is not None,
            predicate=match.predicate is not None if found.named and match.joined is not None and triple.predicate else None,
            bridging=across, found=[_relation(relation, refs) for relation in match.found[:MOST_FOUND]], why=_absence(found, position),
        ) for position, (triple, match, across) in enumerate(rows)
    ]


def findings(items: Iterable[GoldMatch], level: Level, *, limit: int, advice: Mapping[str, str]) -> list[Finding]:
    """Two findings of the group `completeness`: what the graph lacks at the level of the verdict. `limit`: examples, 0 = all.

    Skipped where the gold set has no such items: nothing asked is nothing passed.
    """
    every = list(items)
    out = []
    for kind, rule, title in (
        ("entity", "missing-gold-entity", "Gold entities that the graph lacks"),
        ("relation", "missing-gold-relation", "Gold relations that the graph lacks"),
    ):
        those = [item for item in every if item.kind == kind]
        missing = [item for item in those if item.level is None or RANK[item.level] > RANK[level]]
        blank = Finding(
            rule_id=rule, group="completeness", status="skipped", severity="warning", title=title, advice=advice[rule],
            total_of="gold entities" if kind == "entity" else "gold relations",
        )
        out.append(blank.model_copy(update={
            "status": "failed" if missing else "passed", "count": len(missing), "total": len(those), "share": len(missing) / len(those),
            "threshold": "share <= 0", "settings": {"level": level}, "examples": [_example(item) for item in missing[: limit or None]],
        } if those else {"reason": f"the gold set has no {blank.total_of.removeprefix('gold ')}"}))
    return out


def _example(item: GoldMatch) -> Example:
    where = f"gold of {item.document}" if item.document else "gold"
    ref = GraphRef(key=item.name[:LONGEST_SHOWN], name=item.name[:LONGEST_SHOWN], type=item.type, kind=item.kind)
    return Example(items=[ref], why=f"{where}: {item.why}" if item.why else where)


def _relation(one: JoiningRelation, refs: Mapping[str, GraphRef]) -> GraphRef:
    start, end = (one.a, one.b) if one.forward else (one.b, one.a)
    names = [refs[i].name if i in refs else i for i in (start, end)]
    name = f"{names[0]} -[{one.labels[0][:LONGEST_SHOWN]}]-> {names[1]}"
    return GraphRef(element_id=one.element_id, key=name, name=name, type=one.type, kind="relation")


def _level(rank: int | None) -> Level | None:
    return None if rank is None else LEVELS[rank]


def _best_score(match: Match) -> float | None:
    scores = [score for i in match.best if (score := match.found[i].score) is not None]
    return round(max(scores), 4) if scores else None


def _why(match: Match) -> str | None:
    reasons = list(dict.fromkeys(match.found[i].why for i in match.best if match.found[i].why))
    more = f" (and {len(match.best) - MOST_FOUND} more places)" if len(match.best) > MOST_FOUND else ""
    return ("; ".join(reasons[:3]) + more).strip() or None


def _absence(found: MatchedGold, at: int) -> str | None:
    """Why a relation is missing; None for one that was found."""
    match: TripleMatch = found.triples[at]
    if match.joined is not None:
        return None
    subject, obj = (found.entities[end] for end in found.gold.ends[at])
    if match.ends is not None:
        one_entity = found.gold.ends[at][0] != found.gold.ends[at][1] and set(subject.ids) == set(obj.ids)
        return "both ends are one entity of the graph" if one_entity else "both ends are there, no relation joins them"
    if subject.rank is None and obj.rank is None:
        return "both ends are missing"
    return "the subject is missing" if subject.rank is None else "the object is missing"
