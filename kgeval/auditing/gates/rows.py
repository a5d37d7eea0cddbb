"""The gates and waivers of a whole audit as they were answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kgeval.auditing.gates.judging import Gates, held_value
from kgeval.auditing.rulebook import load_rules
from kgeval.format import number
from kgeval.records import SEVERITIES, Finding, Gate, Severity, StructureSkip, Waived
from kgeval.stats.thresholds import Threshold

RATCHET, FAIL_ON = "ratchet", "fail-on"
NO_NEW_HITS = "no check fails on new hits"


def gate_rows(
    gates: Gates, findings: Sequence[Finding], numbers: Mapping[str, Any], skipped: Sequence[StructureSkip], *, fail_on: Severity | None,
    own: Callable[[Finding], bool] = lambda _: True,
) -> list[Gate]:
    """A row for each limit of the user's, in their order, one for the ratchet, and one for --fail-on. `findings`: of all checks, those that
    other reports brought too; the ratchet is about this audit's own (`own`).

    A limit with a severity decides if that is at or above `fail_on` (None: error); one without always does.
    """
    audited = [finding for finding in findings if own(finding)]
    by_id = {finding.rule_id: finding for finding in audited}
    rows = []
    for limit in (limit for limits in gates.limits.values() for limit in limits):
        value, met, reason = (
            _of_check(limit, by_id.get(limit.name)) if limit.unit else _of_figure(limit, numbers.get(limit.name), skipped)
        )
        rows.append(limit.gate(value, met, reason=reason).model_copy(update={"decides": decides(limit.severity, fail_on)}))
    if gates.ratchet is not None:
        rows.append(_ratchet(gates, audited, fail_on))
    return [*rows, *failing(findings, fail_on)]


def decides(severity: Severity | None, fail_on: Severity | None) -> bool:
    """Whether what has this severity changes the exit code."""
    return severity is None or SEVERITIES.index(severity) <= SEVERITIES.index(fail_on or "error")


def waiver_rows(
    gates: Gates, taken: Sequence[Mapping[int, int]], matched: Sequence[Mapping[int, int]], findings: Sequence[Finding],
    *, unlisted: Collection[str] = (), joining: Mapping[str, str] | None = None,
) -> list[Waived]:
    """All waivers in their order with the hits that they took. `taken`, `matched`: by check, hits by the waiver's place. `unlisted`: the
    checks of which not every hit was looked at, so that nobody can say what matches nothing. `joining`: the checks that other reports
    bring, with their groups."""
    rows = []
    answered = {finding.rule_id for finding in findings if finding.count is not None} - set(unlisted)
    own = {rule.id: rule.group for rule in load_rules().values()}
    for place, waiver in enumerate(gates.waivers):
        expired, hits = waiver.expired(gates.today), sum(by_place.get(place, 0) for by_place in taken)
        checks = own | dict(joining or {}) if waiver.match is None else own  # joined hits are not matched
        about = {name for name, group in checks.items() if waiver.covers(name, group)}
        nothing = not hits and not any(by_place.get(place) for by_place in matched)
        rows.append(waiver.record(expired=expired, stale=not expired and nothing and bool(about) and about <= answered, hits=hits))
    return rows


def waiver_notes(waivers: Sequence[Waived]) -> list[str]:
    """What must be said of waivers: those that have expired and those that match nothing."""
    notes = []
    for position, waiver in enumerate(waivers, start=1):
        name = f"waiver {position} (rule {waiver.rule}{f', match {waiver.match}' if waiver.match is not None else ''})"
        if waiver.expired:
            notes.append(f"{name} ended on {waiver.until}: its hits count again")
        elif waiver.stale:
            notes.append(f"{name} matches nothing any more: take it out")
    return notes


Answer = tuple[float | None, bool | None, str | None]  # value, whether it meets the limit, why there is none


def _of_check(limit: Threshold, finding: Finding | None) -> Answer:
    if finding is None or finding.count is None:
        return None, None, "it was left out of this run" if finding is None else finding.reason or finding.status
    held = finding.count - finding.suppressed - finding.known
    value = held_value(limit, held, finding.total or 0)
    return value, not held or (value is not None and limit.met(value)), None


def _of_figure(limit: Threshold, value: object, skipped: Sequence[StructureSkip]) -> Answer:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, None, next((skip.reason for skip in skipped if limit.name in skip.ids), "it was not measured here")
    return float(value), limit.met(float(value)), None


def failing(findings: Sequence[Finding], fail_on: Severity | None) -> list[Gate]:
    """The row of --fail-on; none where it was not asked for. Whether no check of this severity or a worse one fails, and which do; None
    where one of those did not run to its end, or none could be judged."""
    if fail_on is None:
        return []
    failed = [finding.rule_id for finding in findings if finding.status == "failed" and decides(finding.severity, fail_on)]
    silent = [finding.rule_id for finding in findings if finding.status in ("incomplete", "error") and decides(finding.severity, fail_on)]
    worse = "" if fail_on == SEVERITIES[0] else " or worse"
    reason = ", ".join(failed) or (f"no answer: {', '.join(silent)}" if silent else unjudged(findings, fail_on))
    met = False if failed else None if reason else True
    limit = f"no check of severity {fail_on}{worse} fails"
    return [Gate(name=FAIL_ON, limit=limit, value=float(len(failed)), met=met, reason=reason)]


def unjudged(findings: Sequence[Finding], severity: Severity) -> str | None:
    """Why a gate on checks of this severity or a worse one has no answer, where none of them could be judged, or no check at all."""
    candidates = [finding for finding in findings if decides(finding.severity, severity)] or findings
    if any(finding.status in ("passed", "failed") for finding in candidates):
        return None
    return f"none of {len(candidates)} checks could be judged" if candidates else "no check was run"


def _ratchet(gates: Gates, findings: Sequence[Finding], fail_on: Severity | None) -> Gate:
    """Whether a check fails on hits that are new or worse, at or above --fail-on (without it: any); None where one of those checks
    has no answer and stands in the ratchet, or none could be judged."""
    judged = [item for item in findings if decides(item.severity, fail_on or "info")]
    silent = [item.rule_id for item in judged if item.count is None and (debt := gates.debt(item.rule_id)) is not None and debt.total]
    failed = [item for item in judged if item.status == "failed"]
    value = float(sum((item.count or 0) - item.suppressed - item.known for item in failed))
    if silent:
        reason: str | None = f"no answer now: {', '.join(silent)}"
    elif failed:
        reason = ", ".join(f"{item.rule_id} {number((item.count or 0) - item.suppressed - item.known)}" for item in failed)
        return Gate(name=RATCHET, limit=NO_NEW_HITS, value=value, met=False, reason=reason)
    else:
        reason = unjudged(findings, fail_on or "info")
    return Gate(name=RATCHET, limit=NO_NEW_HITS, value=value, met=None if reason else True, reason=reason)
