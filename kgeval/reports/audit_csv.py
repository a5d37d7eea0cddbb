"""The hits of an audit as CSV, a row a thing: for spreadsheets and programs. With `--examples 0` they are all."""

from __future__ import annotations

from kgeval.records import AuditReport
from kgeval.reports.tabled import Table, in_csv

HEAD = ("check", "severity", "status", "hit", "counts", "kind", "type", "name", "key", "element_id", "why", "waived", "known")


def render(report: AuditReport) -> str:
    """One row for each thing of each example: those of one hit share its number and repeat what is said of the whole hit. `counts`: how
    many of the check's hits it stands for. A check without examples has no row."""
    rows = []
    for finding in report.findings:
        for at, example in enumerate(finding.examples, 1):
            head = (finding.rule_id, finding.severity, finding.status, str(at), str(example.counts))
            tail = (example.why or "", example.waived or "", "yes" if example.known else "")
            for item in example.items:
                rows.append((*head, item.kind, item.type or "", item.name, item.key, item.element_id or "", *tail))
    return in_csv([Table("", HEAD, tuple(rows), frozenset(range(len(HEAD))) - {3, 4})])
