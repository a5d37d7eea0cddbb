"""Failed checks and missed gates as SARIF 2.1.0 (OASIS), for code scanning: one result for each example of a finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kgeval.format import visible
from kgeval.overview.findings import amount, failed, listed, taken_out
from kgeval.overview.gates import gate_of
from kgeval.overview.wording import place_of, reached
from kgeval.records import AuditReport, OverviewExample, OverviewFinding, OverviewGate, OverviewReport, RunManifest, Severity
from kgeval.reports.listing import listing

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
KINDS = {"entity": "object", "relation": "member", "type": "type", "property": "property"}
FINGERPRINT = "kgevalName/v1"
WHOLE = "graph"  # what stands for the file that a scanner wants: a graph is none


def of_audit(report: AuditReport) -> str:
    """The failed checks of an audit and its missed gates; what is waived or known is there too, suppressed."""
    findings = [listed(finding, report.graph, WHOLE) for finding in report.findings]
    gates = [gate_of(gate, report.graph) for gate in report.gates if gate.decides]
    open_ends = [f"{finding.rule_id}: {finding.status}" for finding in findings if finding.status in ("incomplete", "error")]
    open_ends += [f"gate {gate.wanted}: no answer" for gate in gates if gate.met is None]
    statements = {finding.rule_id: statement.whole(report) for finding in report.findings if (statement := listing(report, finding))}
    return _written(report.run, findings, gates, open_ends, statements)


def of_overview(report: OverviewReport) -> str:
    """The failed checks of all graphs, and the gates that are missed."""
    stages = [f"stage {stage.id}: {stage.state}" for stage in report.stages if not stage.ended]
    open_ends = [*stages, *(f"{source.file}: {source.reason}" for source in report.sources if not source.complete)]
    return _written(report.run, report.findings, report.gates, open_ends, {})


def _written(
    run: RunManifest, findings: Sequence[OverviewFinding], gates: Sequence[OverviewGate], open_ends: Sequence[str],
    statements: Mapping[str, str],
) -> str:
    """The file: one run of kgeval. `statements`: the Cypher behind a check, ready to paste."""
    missed = [gate for gate in gates if gate.met is False]
    rules = [*_rules(findings, statements), *_gate_rules(missed)]
    at = {rule["id"]: index for index, rule in enumerate(rules)}
    notices = [{"level": "error", "message": _message(visible(text, longest=600))} for text in open_ends]
    invocation: dict[str, Any] = {"executionSuccessful": not open_ends, **({"toolExecutionNotifications": notices} if notices else {})}
    if (start := _stamp(run.started)) is not None:
        invocation["startTimeUtc"] = start
    log = {
        "tool": {"driver": {"name": "kgeval", "version": visible(run.kgeval, longest=40), "rules": rules}}, "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [{**one, "ruleIndex": at[one["ruleId"]]} for one in (*_results(findings), *map(_missed, missed))],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}, ensure_ascii=True, indent=1) + "\n"


def _rules(findings: Iterable[OverviewFinding], statements: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Every check that was run, also those that passed: a scanner then knows what is fixed."""
    for one in {finding.rule_id: finding for finding in findings}.values():
        cypher = {"cypher": statements[one.rule_id]} if one.rule_id in statements else {}
        yield {
            "id": one.rule_id, "name": _camel(one.rule_id), "shortDescription": {"text": visible(one.title)},
            "help": {"text": visible(one.advice, longest=1000) if one.advice else f"kgeval checks show {visible(one.rule_id)}"},
            "defaultConfiguration": {"level": LEVELS[one.severity]}, "properties": {"tags": [one.group], **cypher},
        }


def _gate_rules(gates: Iterable[OverviewGate]) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys(_gate_id(gate) for gate in gates):
        yield {
            "id": name, "name": _camel(name), "shortDescription": {"text": f"Threshold on {visible(name.removeprefix('gate/'))}"},
            "defaultConfiguration": {"level": "error"}, "properties": {"tags": ["gate"]},
        }


def _gate_id(gate: OverviewGate) -> str:
    return "gate/" + visible(gate.figure)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in "".join(c if c.isalnum() else " " for c in name).split()) or "Rule"


def _results(findings: Sequence[OverviewFinding]) -> Iterator[dict[str, Any]]:
    """A result for each example of what failed, and for each that is suppressed."""
    bad = failed(findings)
    for one in (*bad, *(finding for finding in findings if finding.status == "passed" and finding.suppressed + finding.known)):
        examples: list[OverviewExample | None] = [*one.examples] or [None]
        for example in examples:
            why = _accepted(one, example)
            if why is not None:
                accepted = {"kind": "external", "status": "accepted", "justification": why}
                yield {**_result(one, example), "suppressions": [accepted]}
            elif one.status == "failed":
                yield _result(one, example)


def _result(finding: OverviewFinding, example: OverviewExample | None) -> dict[str, Any]:
    where = place_of(finding.place, finding.graph)
    names = ": " + ", ".join(visible(name, longest=80) for name in example.names[:6]) if example and example.names else ""
    hits = ", ".join([amount(finding), *taken_out(finding)])
    text = f"{visible(finding.title)}{names}. In all: {hits}" + (f"; {visible(where)}" if where else "") + "."
    return {
        "ruleId": finding.rule_id, "level": LEVELS[finding.severity], "message": _message(text), "locations": [_location(finding, example)],
        "partialFingerprints": {FINGERPRINT: fingerprint(finding, example)},
    }


def _accepted(finding: OverviewFinding, example: OverviewExample | None) -> str | None:
    """Why a result does not count: a waiver with its reason, or the ratchet; None: it counts."""
    if example is not None and example.waived is not None:
        return visible(example.waived, longest=1000)
    nothing_left = example is None and (finding.count or 0) <= finding.suppressed + finding.known
    if (example is not None and example.known) or (nothing_left and finding.known):
        return "stands in the ratchet file"
    return "waived" if nothing_left and finding.suppressed else None


def _location(finding: OverviewFinding, example: OverviewExample | None) -> dict[str, Any]:
    """The thing in the graph; and, as scanners want a file, a word for the graph."""
    graph = visible(place_of(finding.place, finding.graph) or WHOLE)
    names = [visible(name) for name in example.names] if example else []
    kind = visible(example.type or example.kind) if example else WHOLE
    logical = [
        {"name": name, "fullyQualifiedName": f"{graph}/{kind}/{name}", "kind": KINDS.get(example.kind if example else "", "object")}
        for name in names
    ]
    return {
        "physicalLocation": {"artifactLocation": {"uri": WHOLE, "description": {"text": graph}}},
        "logicalLocations": logical or [{"name": graph, "kind": "namespace"}],
    }


def _missed(gate: OverviewGate) -> dict[str, Any]:
    of = place_of(gate.place, gate.of)
    text = f"{visible(gate.wanted)} is missed: {reached(gate)}" + (f" ({visible(of)})" if of else "")
    return {
        "ruleId": _gate_id(gate), "level": "error", "message": _message(text),
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": WHOLE}},
            "logicalLocations": [{"name": visible(of or gate.figure), "kind": "namespace"}],
        }],
        "partialFingerprints": {FINGERPRINT: _hash("gate", gate.figure, of)},
    }


def _message(text: str) -> dict[str, str]:
    """A message without links: `[words](address)` is one in a plain text of SARIF too, and a name may look like that."""
    return {"text": text.replace("](", "] (")}


def fingerprint(finding: OverviewFinding, example: OverviewExample | None) -> str:
    """The same for the same thing in every build of a graph: rule, graph, type and the normal forms of names (audit.identity), sorted; no
    ids, no counts."""
    names = sorted(set(_about(finding.rule_id, example.lasting))) if example else []
    kind = (example.kind, example.type or "") if example else ("", "")
    return _hash(finding.rule_id, place_of(finding.place, finding.graph), *kind, *names)


def _about(rule_id: str, names: Sequence[str]) -> Sequence[str]:
    """The names that a hit is about: of many checks the first one, the others only illustrate it and differ from build to build."""
    from kgeval.auditing.rulebook import load_rules

    rule = load_rules().get(rule_id)
    return names if rule is None or rule.hit not in ("first", "share") else names[:1] if rule.hit == "first" else ()


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _stamp(started: str) -> str | None:
    """Date and time in UTC as SARIF has it; null for what is no date."""
    try:
        at = datetime.fromisoformat(started)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
