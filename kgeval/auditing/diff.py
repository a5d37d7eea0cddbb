"""Two audits of one graph: what became worse, better, new and gone, by check and by type of things. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kgeval.auditing.diff_figures import changes_of_figures, measured, other_methods
from kgeval.auditing.diff_sides import LACKING, Pair, hits_of, pairs_of, redacted, share_of, totals_by_type, why_incomparable
from kgeval.auditing.identity import called, key_of, lists_all
from kgeval.errors import InputError
from kgeval.format import first_of
from kgeval.records import SEVERITIES, AuditDiff, AuditReport, ChangeOf, Example, Finding, FindingChange, Severity
from kgeval.rounding import is_equal, side

if TYPE_CHECKING:
    from kgeval.stats.intervals import Interval

_LAYOUT_KEYS = (
    "name_keys", "key_property", "type_key", "description_key", "relation_label_key", "weight_key", "confidence_key", "chunk_text_keys",
    "entity_source_key", "relation_source_key", "embedding_key",
)
_MOST = 5  # names in one note


def notes_of(before: AuditReport, after: AuditReport) -> Iterator[str]:
    """What makes the two hard to compare, a sentence each: another graph, layout, kgeval, other limits, samples, waivers."""
    if before.graph != after.graph:
        yield f"the two audits are of different graphs: {called(before.graph)} before, {called(after.graph)} now"
    keys = [(key, getattr(before.layout, key), getattr(after.layout, key)) for key in _LAYOUT_KEYS]
    if before.layout.name != after.layout.name:
        yield f"the layout was {before.layout.name} and is {after.layout.name} now: other things may be taken for entities"
    elif other := [f"{key} ({_value(was)} before, {_value(has)} now)" for key, was, has in keys if was != has]:
        yield f"the layout reads other properties: {first_of(other, _MOST)}"
    if before.run.kgeval != after.run.kgeval:
        yield f"made by different versions: kgeval {before.run.kgeval} before, {after.run.kgeval} now; a check may be computed otherwise"
    was, has = before.run.server, after.run.server
    if was and has and (was.neo4j, was.gds) != (has.neo4j, has.gds):
        yield f"different servers: Neo4j {was.neo4j} with GDS {was.gds} before, Neo4j {has.neo4j} with GDS {has.gds} now"
    if _later(before.run.started, after.run.started):
        yield f"the audit called before was made later ({before.run.started}) than the other ({after.run.started}): are the two swapped?"
    yield from _notes_on_checks(before, after)
    yield from _notes_on_figures(before, after)


def _later(one: str, other: str) -> bool:
    """Whether a moment is after another, whatever their time zones; without one it is UTC. False for what is no moment."""
    try:
        moments = [datetime.fromisoformat(text) for text in (one, other)]
    except ValueError:
        return False
    first, second = (moment if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in moments)
    return first > second


def _notes_on_checks(before: AuditReport, after: AuditReport) -> Iterator[str]:
    pairs = list(pairs_of(before.findings, after.findings))
    both = [(then, now) for then, now in pairs if then and now]

    def checks(holds: Callable[[Finding], bool]) -> str:
        """The checks of which one side is so."""
        return first_of([now.rule_id for then, now in both if holds(then) or holds(now)], _MOST)

    if other := [f"{now.rule_id} ({then.threshold} before, {now.threshold} now)" for then, now in both if then.threshold != now.threshold]:
        yield f"other thresholds, which decide what fails and not what is worse: {first_of(other, _MOST)}"
    waived = [(then, now) for then, now in both if then.suppressed != now.suppressed]
    if waived:
        names = first_of([f"{now.rule_id} ({then.suppressed} hits before, {now.suppressed} now)" for then, now in waived], _MOST)
        yield f"other hits are waived; checks are compared without waived hits: {names}"
    if sampled := checks(lambda one: one.interval is not None):
        yield f"only a sample was looked at, so that only differences beyond its interval count, and nothing is said by type: {sampled}"
    if coarse := checks(lambda one: bool(one.count) and one.by_type is None):
        yield f"by type nothing can be said of (hits of no one type, or more than are counted by type): {coarse}"
    if left := [then.rule_id for then, now in pairs if then and not now and then.count is not None]:
        yield f"checks of the earlier audit that were not run now: {first_of(left, _MOST)}"
    if redacted(before) or redacted(after):
        yield "names are left out of a report (--redact): which examples appeared and vanished cannot be said"
    elif partly := checks(lambda one: one.count is not None and not lists_all(one)):
        yield f"which examples appeared and vanished is not said of (not all hits are listed; --examples 0 lists all): {partly}"


def _notes_on_figures(before: AuditReport, after: AuditReport) -> Iterator[str]:
    unmeasured = [name for name, side in (("earlier", before), ("later", after)) if not measured(side)]
    if len(unmeasured) == 1:
        yield f"the {unmeasured[0]} audit measured no structure figures, so that none is compared"
        return
    for name, (was, has) in other_methods(before, after).items():
        yield f"{name} was {was} and is {has} now: the figures that rest on it cannot be compared"
    if before.run.seed != after.run.seed:
        yield (
            f"--seed was {before.run.seed} and is {after.run.seed} now: community stability, Leiden's communities and what --sample-share "
            "looks at may differ"
        )
    corpora = [side.run.arguments.get("corpus") for side in (before, after)]
    if corpora[0] != corpora[1]:
        texts = [f"those of {name}" if name else "those of the graph's chunks" for name in corpora]
        yield f"tokens were counted over different texts: {texts[0]} before, {texts[1]} now"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else str(value) if value else "none"


Verdict = tuple[ChangeOf, str | None]


def diff(
    before: AuditReport, after: AuditReport, *, names: tuple[str, str] = ("before", "after"), fail_on_worse: Severity | None = None,
) -> AuditDiff:
    """Every check and figure of both audits. `names`: what the two reports are called. Checks stand in the order of `after`, each
    followed by its types; those that only `before` has come last."""
    findings = [change for pair in pairs_of(before.findings, after.findings) for change in _changes(pair, before, after)]
    return AuditDiff(
        before=names[0], after=names[1], graph_before=before.graph, graph_after=after.graph, findings=findings,
        figures=list(changes_of_figures(before, after)), notes=list(notes_of(before, after)), fail_on_worse=fail_on_worse,
    )


def diff_all(
    before: Sequence[AuditReport], after: Sequence[AuditReport], *, names: tuple[str, str], fail_on_worse: Severity | None = None,
) -> AuditDiff:
    """The diff of two files, of which each holds one graph or several; several are paired by their names.

    Raises: InputError where no graph is in both.
    """
    if len(before) == len(after) == 1:
        return diff(before[0], after[0], names=names, fail_on_worse=fail_on_worse)
    rest = list(before)
    diffs: list[AuditDiff] = []
    only_after: list[str | None] = []
    for now in after:
        then = next((report for report in rest if report.graph == now.graph), None)
        if then is None:
            only_after.append(now.graph)
        else:
            rest = [report for report in rest if report is not then]
            diffs.append(diff(then, now, names=names, fail_on_worse=fail_on_worse))
    only = [report.graph for report in rest], only_after
    notes = [f"{called(graph)} is only in {name}" for name, side in zip(names, only, strict=True) for graph in side]
    if not diffs:
        raise InputError("the two files have no graph in common: " + "; ".join(notes), fix="give two reports of the same graph")
    return AuditDiff(
        before=names[0], after=names[1], graphs=diffs, notes=notes, only_before=only[0], only_after=only[1], fail_on_worse=fail_on_worse,
    )


def parts_of(audit_diff: AuditDiff) -> list[AuditDiff]:
    """The diffs of single graphs."""
    return audit_diff.graphs or [audit_diff]


def worse_at(audit_diff: AuditDiff, limit: Severity) -> list[FindingChange]:
    """The checks of severity `limit` or above that became worse, or fail now and had no answer before."""
    return [row for row in _held(audit_diff, limit) if row.verdict == "worse" or (row.verdict == "new" and newly_fails(row))]


def unanswered_at(audit_diff: AuditDiff, limit: Severity) -> list[FindingChange]:
    """The checks of severity `limit` or above of which it cannot be said whether they became worse: answered before and not now, though
    they were asked, or with nothing left to look at; or with hits that cannot be compared."""
    held = _held(audit_diff, limit)
    lost = [row for row in held if row.verdict == "gone" and row.status_after is not None]
    return [*lost, *(row for row in held if row.verdict == "not_comparable" and (row.count_after or 0) > row.suppressed_after)]


def unpaired(audit_diff: AuditDiff) -> list[str]:
    """The graphs that only one of the files holds, in sentences: of them it cannot be said whether they became worse."""
    sides = ((audit_diff.before, audit_diff.only_before), (audit_diff.after, audit_diff.only_after))
    return [f"{called(graph)} is only in {name}" for name, graphs in sides for graph in graphs]


def silent(audit_diff: AuditDiff, limit: Severity) -> list[str]:
    """Why the gate has no answer beyond single checks, in sentences: graphs without a partner, or no check of severity `limit` or above (or
    none at all) that both audits answered."""
    every = _held(audit_diff, "info")
    held = _held(audit_diff, limit) or every
    nothing = not any(change.verdict in ("worse", "better", "same") for change in held) and not worse_at(audit_diff, limit)
    return [*unpaired(audit_diff), *(["no check was answered in both audits"] if nothing else [])]


def newly_fails(one: FindingChange) -> bool:
    """True if the check as a whole fails now and did not before."""
    return one.label is None and one.status_after == "failed" and one.status_before != "failed"


def _held(audit_diff: AuditDiff, limit: Severity) -> list[FindingChange]:
    worst = SEVERITIES.index(limit)
    changes = (change for part in parts_of(audit_diff) for change in part.findings)
    return [change for change in changes if change.label is None and SEVERITIES.index(change.severity) <= worst]


def _changes(pair: Pair, before: AuditReport, after: AuditReport) -> Iterator[FindingChange]:
    """The check as a whole, then each type that it has hits of."""
    then, now = pair
    known = now or then
    if known is None:
        return
    named = not (redacted(before) or redacted(after))
    verdict, reason = _verdict(then, now, named=named)
    if verdict not in LACKING and then and now and (other := _other_causes(then, now, before, after)):
        verdict, reason = "not_comparable", other
    appeared: list[Example] = []
    vanished: list[Example] = []
    if compared := bool(then and now and named and lists_all(then) and lists_all(now)):
        was, has = (finding.examples if finding else [] for finding in pair)
        appeared, vanished = _beyond(has, was), _beyond(was, has)
    yield FindingChange(
        rule_id=known.rule_id, group=known.group, title=known.title, severity=known.severity, verdict=verdict, reason=reason,
        status_before=then.status if then else None, status_after=now.status if now else None,
        count_before=then.count if then else None, count_after=now.count if now else None,
        total_before=then.total if then else None, total_after=now.total if now else None,
        share_before=then.share if then else None, share_after=now.share if now else None,
        suppressed_before=then.suppressed if then else 0, suppressed_after=now.suppressed if now else 0,
        examples_compared=compared, appeared=appeared, vanished=vanished,
    )
    if then and now and verdict not in LACKING:
        yield from _by_type(then, now, before, after)


def _other_causes(then: Finding, now: Finding, before: AuditReport, after: AuditReport) -> str | None:
    """Why the counts of two audits cannot be compared, where one leaves out hits that a check explains which the other did not answer."""
    answered = [{finding.rule_id for finding in report.findings if finding.count is not None} for report in (before, after)]
    lost = [cause for cause in {**then.explained, **now.explained} if not all(cause in ids for ids in answered)]
    return f"hits that {first_of(lost, _MOST)} explains are counted in one audit and not in the other" if lost else None


def _verdict(then: Finding | None, now: Finding | None, *, named: bool) -> Verdict:
    """Worse or better; else why that cannot be said. `named`: things have names that can be compared.

    By hits: worse are new ones, or more of them; a share moves with what is clean, and never decides. Only samples have nothing else: of
    them what is beyond their interval counts. Nothing left to look at is no improvement.
    """
    if then is None or now is None:
        return ("new", "it was not run before") if then is None else ("gone", "it was not run now")
    if then.count is None and now.count is None:
        return "unanswered", now.status if then.status == now.status else f"{then.status} before, {now.status} now"
    if then.count is None:
        return "new", f"{then.status} before: {then.reason or 'no reason given'}"
    if now.count is None:
        return "gone", f"{now.status} now: {now.reason or 'no reason given'}"
    if why := why_incomparable(then, now):
        return "not_comparable", why
    if then.total and now.total == 0 and not now.count:  # an emptied graph has no hits either
        return "gone", f"nothing to look at: 0 {now.total_of} now, {then.total:,} before"
    if then.interval or now.interval:
        was, has = share_of(then), share_of(now)
        if was is None or has is None:
            return "not_comparable", "counted on a sample, and without a share"
        verdict = _direction(was, has)
        within = verdict != "same" and _within(then, now)
        return ("same", "the difference is within the interval of the sample") if within else (verdict, None)
    was, has, new = hits_of(then), hits_of(now), _new_hits(then, now, named=named)
    return ("worse", f"{new:,} new, {was - has + new:,} gone") if new and has <= was else (_direction(was, has), None)


def _new_hits(then: Finding, now: Finding, *, named: bool) -> int:
    """How many hits are new at least, by name and type where both audits list all of them, else by type; waived hits are none."""
    if not (named and lists_all(then) and lists_all(now)):
        was, has = then.by_type, now.by_type
        return 0 if was is None or has is None else sum(max(0, count - was.get(name, 0)) for name, count in has.items())
    old, new = ([example for example in finding.examples if example.waived is None] for finding in (then, now))
    known = {key for example in old for key in key_of(example)}
    return sum(any(key not in known for key in key_of(example)) for example in _beyond(new, old))


def _direction(was: float, has: float) -> ChangeOf:
    """Fewer hits are better. Shares that differ by rounding only are the same."""
    if is_equal(was, has):
        return "same"
    return "worse" if has > was else "better"


def _within(then: Finding, now: Finding) -> bool:
    """Whether no difference lies in the interval of the difference, by Newcombe's recovery of it from those of the two shares."""
    from kgeval.stats.recovered import recovered

    sides = [(share, _interval(finding, share)) for finding, share in ((finding, share_of(finding) or 0.0) for finding in (now, then))]
    difference = recovered(sides[0], sides[1])
    return not side(difference.low, difference.high)


def _interval(one: Finding, share: float) -> Interval:
    """The interval of the share without waived hits: Wilson's with the finite population, as the report's own (PartialScan) is of all."""
    from kgeval.stats.intervals import Interval, quantile, wilson

    ends = one.interval
    if ends is None:
        return Interval(share, share)
    if one.suppressed and 0 < ends.sampled < ends.population:
        # the finite population correction widens n: of everything looked at, nothing is left to guess
        return wilson(share, ends.sampled / (1 - ends.sampled / ends.population), quantile=quantile())
    return Interval(min(ends.low, share), max(ends.high, share))


def _by_type(then: Finding, now: Finding, before: AuditReport, after: AuditReport) -> Iterator[FindingChange]:
    """One change a type with hits, the most hits first. None where a side lists no hits by type, or looked at a sample."""
    was, has = then.by_type, now.by_type
    if was is None or has is None or then.interval or now.interval:
        return
    totals = totals_by_type(before, then.total_of), totals_by_type(after, now.total_of)
    hits = {name: (was.get(name, 0), has.get(name, 0)) for name in (*has, *was)}
    for name, counts in sorted(hits.items(), key=lambda item: (-max(item[1]), item[0])):
        if not any(counts):
            continue
        of = [(known or {}).get(name) for known in totals]
        shares = [count / total if total and total >= count else None for count, total in zip(counts, of, strict=True)]
        verdict = _direction(*counts)
        if None not in totals:  # then a type without a total is not in the graph
            verdict = "new" if of[0] is None and not counts[0] else "gone" if of[1] is None and not counts[1] else verdict
        yield FindingChange(
            rule_id=now.rule_id, group=now.group, title=now.title, label=name, severity=now.severity, verdict=verdict,
            status_before=then.status, status_after=now.status, count_before=counts[0], count_after=counts[1], total_before=of[0],
            total_after=of[1], share_before=shares[0], share_after=shares[1],
        )


def _beyond(these: Sequence[Example], those: Sequence[Example]) -> list[Example]:
    """What only the first lists; things of one key are counted."""
    known = Counter(key_of(example) for example in those)
    beyond = []
    for example in these:
        key = key_of(example)
        if known[key]:
            known[key] -= 1
        else:
            beyond.append(example)
    return beyond
