"""Leaves users' texts out of a report: names, keys, ids and explanations become short hashes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from kgeval.records import AuditDiff, AuditReport, Example, Finding, FindingChange, GraphRef, Record, Waived

Hasher = Callable[[str], str]

# Labels, relation types, property names and index names are the graph's vocabulary, not its contents: they stay.
CONTENT = ("entity", "relation", "chunk", "document")


def redacted(report: AuditReport) -> AuditReport:
    """The report with every name, key and explanation of its examples replaced by a hash such as `#3f9c0a1b`.

    The same text has the same hash everywhere in one report. The hash is keyed with the whole report, so that a guess
    cannot be confirmed by someone who has only the redacted one. Element ids, types and counts stay.
    """
    hashed = hasher(report)
    waivers = [_waiver(one, hashed) for one in report.waivers]
    notes = [f"a note of this audit ({hashed(note)})" if note.startswith("waiver ") else note for note in report.notes]
    findings = [redacted_finding(finding, hashed) for finding in report.findings]
    diff = report.diff and hashed_diff(report.diff, hashed)
    return report.model_copy(update={"findings": findings, "waivers": waivers, "notes": notes, "diff": diff})


def hasher(report: Record) -> Hasher:
    """Text to hash, keyed with the whole report."""
    secret = hashlib.sha256(report.model_dump_json().encode("utf-8", "replace")).digest()

    def hashed(text: str) -> str:
        return "#" + hmac.new(secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:8]

    return hashed


def redacted_finding(finding: Finding, hashed: Hasher) -> Finding:
    """The finding with its examples hashed, and a server's message too: it may quote data."""
    update: dict[str, object] = {"examples": [redacted_example(example, hashed) for example in finding.examples]}
    update["waived"] = [_waiver(one, hashed) for one in finding.waived]
    if finding.status == "error" and finding.reason:
        update["reason"] = f"the query failed ({hashed(finding.reason)})"
    return finding.model_copy(update=update)


def redacted_ref(ref: GraphRef, hashed: Hasher) -> GraphRef:
    """The reference with key and name hashed, unless it names a part of the graph's vocabulary."""
    if ref.kind not in CONTENT:
        return ref
    return ref.model_copy(update={"key": hashed(ref.key), "name": hashed(ref.name)})


def redacted_example(example: Example, hashed: Hasher) -> Example:
    """The example with its things, its explanation and its waiver's reason hashed."""
    why, waived = (None if text is None else hashed(text) for text in (example.why, example.waived))
    return example.model_copy(update={"items": [redacted_ref(ref, hashed) for ref in example.items], "why": why, "waived": waived})


def hashed_diff(made: AuditDiff, hashed: Hasher) -> AuditDiff:
    """The diff with its examples hashed, and messages of the server too. Names of graphs and types stay."""
    return made.model_copy(update={
        "findings": [_change(one, hashed) for one in made.findings], "graphs": [hashed_diff(one, hashed) for one in made.graphs],
    })


def _change(one: FindingChange, hashed: Hasher) -> FindingChange:
    quotes = "error" in (one.status_before, one.status_after)
    return one.model_copy(update={
        "appeared": [redacted_example(example, hashed) for example in one.appeared],
        "vanished": [redacted_example(example, hashed) for example in one.vanished],
        "reason": f"the query failed ({hashed(one.reason)})" if quotes and one.reason else one.reason,
    })


def _waiver(one: Waived, hashed: Hasher) -> Waived:
    """The waiver with its pattern and reason hashed: people write names there."""
    return one.model_copy(update={"match": None if one.match is None else hashed(one.match), "reason": hashed(one.reason)})
