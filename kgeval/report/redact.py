"""Leaves users' texts out of a report: names, keys, ids and explanations become short hashes."""

from __future__ import annotations

import hashlib
import hmac

from kgeval.records import AuditReport, Example, Finding, GraphRef

# Labels, relation types, property names and index names are the graph's vocabulary, not its contents: they stay.
_CONTENT = ("entity", "relation", "chunk", "document")


def redacted(report: AuditReport) -> AuditReport:
    """The report with every name, key and explanation of its examples replaced by a hash such as `#3f9c0a1b`.

    The same text has the same hash everywhere in one report. The hash is keyed with the whole report, so that a guess
    cannot be confirmed by someone who has only the redacted one. Element ids, types and counts stay.
    """
    secret = hashlib.sha256(report.model_dump_json().encode("utf-8", "replace")).digest()
    findings = [_finding(finding, secret) for finding in report.findings]
    return report.model_copy(update={"findings": findings})


def _finding(finding: Finding, secret: bytes) -> Finding:
    update: dict[str, object] = {"sample": [_example(example, secret) for example in finding.sample]}
    if finding.status == "error" and finding.reason:  # a server's message may quote data
        update["reason"] = f"the query failed ({_hash(finding.reason, secret)})"
    return finding.model_copy(update=update)


def _example(example: Example, secret: bytes) -> Example:
    why = None if example.why is None else _hash(example.why, secret)
    return Example(items=[_ref(ref, secret) for ref in example.items], why=why)


def _ref(ref: GraphRef, secret: bytes) -> GraphRef:
    if ref.kind not in _CONTENT:
        return ref
    return ref.model_copy(update={"key": _hash(ref.key, secret), "name": _hash(ref.name, secret)})


def _hash(text: str, secret: bytes) -> str:
    return "#" + hmac.new(secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:8]
