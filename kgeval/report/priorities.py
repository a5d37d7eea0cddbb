"""What to mend first, and the verdict in plain words. There is no single grade: groups stand side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kgeval.records import GROUPS, SEVERITIES, AuditReport, Finding, Group, Severity
from kgeval.report.display import joined, number, plural

GROUP_TITLES: dict[Group, str] = {
    "names": "Names", "duplicates": "Duplicates", "merging": "Merging", "connectivity": "Connectivity",
    "relations": "Relations", "types": "Types", "schema": "Schema", "properties": "Properties",
    "provenance": "Provenance", "vectors": "Vectors", "time": "Time", "store": "Store",
    "accuracy": "Accuracy", "completeness": "Completeness",
}


@dataclass(frozen=True)
class GroupLine:
    """One group's outcome. `worst`: the highest severity among its failed checks. `by_severity`: the failed
    ones by severity, worst first. `unfinished`: timed out or failed to run."""

    group: Group
    passed: int
    failed: int
    skipped: int
    unfinished: int
    worst: Severity | None
    by_severity: tuple[tuple[Severity, int], ...]

    @property
    def title(self) -> str:
        return GROUP_TITLES[self.group]

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped + self.unfinished


def failed(report: AuditReport) -> list[Finding]:
    """The failed findings, most pressing first: severity, then share, then count, then rule id."""
    return sorted((f for f in report.findings if f.status == "failed"), key=_pressing)


def mend_first(report: AuditReport, most: int = 5) -> list[Finding]:
    """The failed findings to begin with, at most `most`."""
    return failed(report)[:most]


def skipped(report: AuditReport) -> list[Finding]:
    """The checks that could not be answered here."""
    return [f for f in report.findings if f.status == "skipped"]


def unfinished(report: AuditReport) -> list[Finding]:
    """The checks that timed out or that the server refused."""
    return [f for f in report.findings if f.status in ("incomplete", "error")]


def reasons(findings: list[Finding]) -> list[tuple[str, list[Finding]]]:
    """The findings by the reason why they have no answer, most frequent reason first."""
    table: dict[str, list[Finding]] = {}
    for finding in findings:
        table.setdefault(finding.reason or "no reason given", []).append(finding)
    return sorted(table.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def group_lines(report: AuditReport) -> list[GroupLine]:
    """One line for each group that has a check, in the order of GROUPS."""
    lines = (_line(group, [f for f in report.findings if f.group == group]) for group in GROUPS)
    return [line for line in lines if line.total]


def verdict(report: AuditReport) -> str:
    """The outcome in one or two plain sentences, computed from the findings alone."""
    if not report.findings:
        return "No checks were run: only the structure of the graph was measured."
    if report.structure.get("entities") == 0:
        return "The graph has no entities, so there was nothing to check. Is the layout the right one?"
    bad, open_ends = failed(report), _open_ends(report)
    if bad:
        first = ", ".join(f"{f.title.lower()} ({number(f.count or 0)})" for f in bad[:3])
        return f"{_tally(bad)}{open_ends}. Mend first: {first}."
    passed = sum(f.status == "passed" for f in report.findings)
    if not passed:
        return f"Nothing could be judged{open_ends}."
    return f"Nothing to mend: {plural(passed, 'check')} passed{open_ends}."


def _open_ends(report: AuditReport) -> str:
    parts = []
    if count := len(skipped(report)):
        parts.append(f"; {plural(count, 'check')} could not run here")
    if count := len(unfinished(report)):
        parts.append(f"; {plural(count, 'check')} did not finish")
    return "".join(parts)


def _tally(findings: list[Finding]) -> str:
    """`3 errors, 7 warnings and 2 info findings`."""
    words = {"error": "error", "warning": "warning", "info": "info finding"}
    found = Counter(f.severity for f in findings)
    return joined([plural(found[s], words[s]) for s in SEVERITIES if found[s]])


def _line(group: Group, findings: list[Finding]) -> GroupLine:
    states = Counter(f.status for f in findings)
    bad = Counter(f.severity for f in findings if f.status == "failed")
    split = tuple((severity, bad[severity]) for severity in SEVERITIES if bad[severity])
    return GroupLine(
        group, passed=states["passed"], failed=states["failed"], skipped=states["skipped"],
        unfinished=states["incomplete"] + states["error"], worst=split[0][0] if split else None, by_severity=split,
    )


def _pressing(finding: Finding) -> tuple[int, float, int, str]:
    share = -1.0 if finding.share is None else finding.share
    return SEVERITIES.index(finding.severity), -share, -(finding.count or 0), finding.rule_id
