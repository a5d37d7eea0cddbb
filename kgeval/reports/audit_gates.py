"""Gates and waivers of an audit in words, for all its forms."""

from __future__ import annotations

from kgeval.format import beyond, plural
from kgeval.overview.findings import taken_out
from kgeval.records import AuditGate, AuditReport, Finding, Waived


def waived_or_known(finding: Finding) -> str:
    """`; 3 waived, 2 known`: what of the count is not held against the limit; "" where that is nothing."""
    parts = taken_out(finding)
    return f"; {', '.join(parts)}" if parts else ""


def gate_name(row: AuditGate) -> str:
    """`giant_share >= 0.5`, `isolated-entity error: share <= 0.2`."""
    return f"{row.id} {row.severity}: {row.limit}" if row.severity else f"{row.id} {row.limit}"


def outcome(row: AuditGate) -> str:
    """`met`, `missed`, `no answer`; and whether it only is reported."""
    word = "no answer" if row.met is None else "met" if row.met else "missed"
    return word if row.decides else f"{word} (reported only)"


def value(row: AuditGate) -> str:
    """The value, or why there is none."""
    return row.reason or "-" if row.value is None else beyond(row.value, row.limit)


def waiver_state(one: Waived) -> str:
    """`3 hits`, `ended on 2026-01-31`, `matches nothing`."""
    if one.expired:
        return f"ended on {one.until}: its hits count"
    return "matches nothing" if one.stale else plural(one.hits, "hit") + (f", until {one.until}" if one.until else "")


def summary(report: AuditReport) -> list[str]:
    """At most four short lines: gates, waived, known, waivers to look at."""
    lines = []
    if report.gates:
        missed, silent = (sum(row.met is state for row in report.gates) for state in (False, None))
        lines.append(f"{plural(len(report.gates), 'gate')}: {missed} missed, {silent} without an answer")
    waived, known = (sum(one) for one in ([f.suppressed for f in report.findings], [f.known for f in report.findings]))
    if waived:
        lines.append(f"waived: {plural(waived, 'hit')} by {plural(sum(one.hits > 0 for one in report.waivers), 'waiver')}")
    if known:
        lines.append(f"known from the ratchet file: {plural(known, 'hit')}")
    expired, stale = sum(one.expired for one in report.waivers), sum(one.stale for one in report.waivers)
    if expired or stale:
        lines.append(f"waivers to look at: {expired} ended, {stale} without a match")
    return lines
