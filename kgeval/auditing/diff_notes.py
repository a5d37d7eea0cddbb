"""What makes two audits hard to compare, in sentences: another graph, layout, kgeval, other limits, samples, waivers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from kgeval.auditing.diff_figures import measured, other_methods
from kgeval.auditing.diff_sides import Pair, pairs_of, redacted
from kgeval.auditing.identity import called, lists_all
from kgeval.records import AuditReport, Finding

_LAYOUT_KEYS = (
    "name_keys", "key_property", "type_key", "description_key", "relation_label_key", "weight_key", "confidence_key", "chunk_text_keys",
    "entity_source_key", "relation_source_key", "embedding_key",
)
_MOST = 5  # names in one note


def notes_of(before: AuditReport, after: AuditReport) -> Iterator[str]:
    """One sentence for each thing that a reader of the diff must know."""
    yield from _graphs(before, after)
    yield from _versions(before, after)
    yield from _checks(list(pairs_of(before.findings, after.findings)))
    yield from _examples(before, after)
    yield from _figures(before, after)


def _graphs(before: AuditReport, after: AuditReport) -> Iterator[str]:
    if before.graph != after.graph:
        yield f"the two audits are of different graphs: {called(before.graph)} before, {called(after.graph)} now"
    if before.layout.name != after.layout.name:
        yield f"the layout was {before.layout.name} and is {after.layout.name} now: other things may be taken for entities"
        return
    pairs = [(key, getattr(before.layout, key), getattr(after.layout, key)) for key in _LAYOUT_KEYS]
    if other := [f"{key} ({_value(was)} before, {_value(has)} now)" for key, was, has in pairs if was != has]:
        yield f"the layout reads other properties: {_listed(other)}"


def _versions(before: AuditReport, after: AuditReport) -> Iterator[str]:
    if before.run.kgeval != after.run.kgeval:
        yield f"made by different versions: kgeval {before.run.kgeval} before, {after.run.kgeval} now; a check may be computed otherwise"
    was, has = before.run.server, after.run.server
    if was and has and (was.neo4j, was.gds) != (has.neo4j, has.gds):
        yield f"different servers: Neo4j {was.neo4j} with GDS {was.gds} before, Neo4j {has.neo4j} with GDS {has.gds} now"
    if _later(before.run.started, after.run.started):
        yield f"the audit called before was made later ({before.run.started}) than the other ({after.run.started}): are the two swapped?"


def _later(one: str, other: str) -> bool:
    """Whether a moment is after another, whatever their time zones; without one it is UTC. False for what is no moment."""
    try:
        moments = [datetime.fromisoformat(text) for text in (one, other)]
    except ValueError:
        return False
    first, second = (at if at.tzinfo else at.replace(tzinfo=UTC) for at in moments)
    return first > second


def _checks(pairs: list[Pair]) -> Iterator[str]:
    both = [(then, now) for then, now in pairs if then and now]
    if other := [f"{now.rule_id} ({then.threshold} before, {now.threshold} now)" for then, now in both if then.threshold != now.threshold]:
        yield f"other thresholds, which decide what fails and not what is worse: {_listed(other)}"
    waived = [(then, now) for then, now in both if then.suppressed != now.suppressed]
    if waived:
        names = _listed([f"{now.rule_id} ({then.suppressed} hits before, {now.suppressed} now)" for then, now in waived])
        yield f"other hits are waived; checks are compared without waived hits: {names}"
    if sampled := _ids(both, lambda one: one.interval is not None):
        yield f"only a sample was looked at, so that only differences beyond its interval count, and nothing is said by type: {sampled}"
    if coarse := _ids(both, lambda one: bool(one.count) and one.by_type is None):
        yield f"by type nothing can be said of (hits of no one type, or more than are counted by type): {coarse}"
    if left := [then.rule_id for then, now in pairs if then and not now and then.count is not None]:
        yield f"checks of the earlier audit that were not run now: {_listed(left)}"


def _examples(before: AuditReport, after: AuditReport) -> Iterator[str]:
    if redacted(before) or redacted(after):
        yield "names are left out of a report (--redact): which examples appeared and vanished cannot be said"
        return
    pairs = [(then, now) for then, now in pairs_of(before.findings, after.findings) if then and now]
    if partly := _ids(pairs, lambda one: one.count is not None and not lists_all(one)):
        yield f"which examples appeared and vanished is not said of (not all hits are listed; --examples 0 lists all): {partly}"


def _figures(before: AuditReport, after: AuditReport) -> Iterator[str]:
    lacking = [name for name, side in (("earlier", before), ("later", after)) if not measured(side)]
    if len(lacking) == 1:
        yield f"the {lacking[0]} audit measured no structure figures, so that none is compared"
        return
    for name, (was, has) in other_methods(before, after).items():
        yield f"{name} was {was} and is {has} now: the figures that rest on it cannot be compared"
    if before.run.seed != after.run.seed:
        yield f"communities were found with another seed: {before.run.seed} before, {after.run.seed} now"
    corpora = [side.run.arguments.get("corpus") for side in (before, after)]
    if corpora[0] != corpora[1]:
        told = [f"those of {name}" if name else "those of the graph's chunks" for name in corpora]
        yield f"tokens were counted over different texts: {told[0]} before, {told[1]} now"


def _ids(pairs: Iterable[tuple[Finding, Finding]], holds: Callable[[Finding], bool]) -> str:
    """The checks of which one side is so."""
    return _listed([now.rule_id for then, now in pairs if holds(then) or holds(now)])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else str(value) if value else "none"
