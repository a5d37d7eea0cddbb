"""Leaves users' texts out of a report: names, keys, ids and explanations become short hashes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from kgeval.records import AuditReport, Example, Finding, GraphRef, Record

Hasher = Callable[[str], str]

# Labels, relation types, property names and index names are the graph's vocabulary, not its contents: they stay.
CONTENT = ("entity", "relation", "chunk", "document")


def redacted(report: AuditReport) -> AuditReport:
    """The report with every name, key and explanation of its examples replaced by a hash such as `#3f9c0a1b`.

    The same text has the same hash everywhere in one report. The hash is keyed with the whole report, so that a guess
    cannot be confirmed by someone who has only the redacted one. Element ids, types and counts stay.
    """
    hashed = hasher(report)
    return report.model_copy(update={"findings": [redacted_finding(finding, hashed) for finding in report.findings]})


def hasher(report: Record) -> Hasher:
    """Text to hash, keyed with the whole report."""
    secret = hashlib.sha256(report.model_dump_json().encode("utf-8", "replace")).digest()

    def hashed(text: str) -> str:
        return "#" + hmac.new(secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:8]

    return hashed


def redacted_finding(finding: Finding, hashed: Hasher) -> Finding:
    """The finding with its examples hashed, and a server's message too: it may quote data."""
    update: dict[str, object] = {"sample": [_example(example, hashed) for example in finding.sample]}
    if finding.status == "error" and finding.reason:
        update["reason"] = f"the query failed ({hashed(finding.reason)})"
    return finding.model_copy(update=update)


def redacted_ref(ref: GraphRef, hashed: Hasher) -> GraphRef:
    """The reference with key and name hashed, unless it names a part of the graph's vocabulary."""
    if ref.kind not in CONTENT:
        return ref
    return ref.model_copy(update={"key": hashed(ref.key), "name": hashed(ref.name)})


def _example(example: Example, hashed: Hasher) -> Example:
    why = None if example.why is None else hashed(example.why)
    return Example(items=[redacted_ref(ref, hashed) for ref in example.items], why=why)
