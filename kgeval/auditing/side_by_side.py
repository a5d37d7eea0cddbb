"""Several audits side by side: the same figures and checks as rows, a column a graph [X tables 5 and 13, figure 5]. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgeval.auditing.diff_sides import by_key, finite
from kgeval.auditing.structure import PARTS
from kgeval.records import SEVERITIES, AuditReport, CheckCell, CheckRow, FigureRow, GraphsReport, RunManifest
from kgeval.text.tokens import TOKENIZER

FAILED = "could not be audited"  # in the note of a graph that has no report, before the reason


def side_by_side(names: Sequence[str], reports: Sequence[AuditReport], run: RunManifest, notes: Sequence[str] = ()) -> GraphsReport:
    """The reports with their figures and checks as rows, in the order of `names`. A figure or check that one graph lacks is None there."""
    return GraphsReport(
        run=run, names=list(names), reports=list(reports), figures=_figures(reports), checks=_checks(reports),
        notes=[*notes, *_notes(names, reports)],
    )


def with_tokens(report: AuditReport, tokens: int) -> AuditReport:
    """The report with densities over so many tokens of source text, if it has none: counts of the graph by tokens x 1,000 and x 10,000.

    A report that counted its own tokens stays as it is.
    """
    numbers = dict(report.structure)
    if "tokens" in numbers or "entities" not in numbers:
        return report
    numbers |= {"tokens": tokens, "tokenizer": TOKENIZER}
    for what in ("entities", "relations"):
        count = numbers.get(what)
        if tokens and isinstance(count, (int, float)):
            numbers |= {f"{what}_per_{per}k_tokens": count * 1000 * per / tokens for per in (1, 10)}
    left = [(skip, [name for name in skip.ids if name not in numbers]) for skip in report.structure_skipped]
    skipped = [skip.model_copy(update={"ids": ids}) for skip, ids in left if ids]
    return report.model_copy(update={"structure": numbers, "structure_skipped": skipped})


def _figures(reports: Sequence[AuditReport]) -> list[FigureRow]:
    """Every plain number that a report has, in the order of the figures' parts."""
    order = {name: place for place, name in enumerate(name for part in PARTS.values() for name in part)}
    names = {name for report in reports for name, value in report.structure.items() if finite(value) is not None}
    return [
        FigureRow(id=name, values=[finite(report.structure.get(name)) for report in reports])
        for name in sorted(names, key=lambda name: (order.get(name, len(order)), name))
    ]


def _checks(reports: Sequence[AuditReport]) -> list[CheckRow]:
    """Every check that a report has, in the order of the first one that has it; its severity is the worst of them."""
    rules = [finding.rule_id for report in reports for finding in report.findings]
    several = {rule for rule in rules if any(sum(f.rule_id == rule for f in report.findings) > 1 for report in reports)}
    tables = [by_key(report.findings, several) for report in reports]
    rows = []
    for key in dict.fromkeys(key for table in tables for key in table):
        findings = [table.get(key) for table in tables]
        known = [finding for finding in findings if finding is not None]
        rows.append(CheckRow(
            rule_id=known[0].rule_id, group=known[0].group, title=known[0].title,
            severity=min((finding.severity for finding in known), key=SEVERITIES.index),
            cells=[
                CheckCell(
                    status=f.status, count=f.count, total=f.total, share=f.share, suppressed=f.suppressed, known=f.known,
                    reason=f.reason,
                ) if f else CheckCell() for f in findings
            ],
        ))
    return rows


def _notes(names: Sequence[str], reports: Sequence[AuditReport]) -> list[str]:
    """What the columns do not have in common, and a reader must know."""
    facts: Mapping[str, list[object]] = {
        "layouts": [audit.layout.name for audit in reports],
        "versions of kgeval": [audit.run.kgeval for audit in reports],
        "tokenizers": [audit.structure.get("tokenizer") for audit in reports],
        "texts that tokens were counted over (tokens)": [audit.structure.get("tokens") for audit in reports],
        "ways to find communities": [audit.structure.get("community_algorithm") for audit in reports],
    }
    notes = []
    for what, values in facts.items():
        known = [(name, str(value)) for name, value in zip(names, values, strict=True) if value is not None]
        if len({value for _, value in known}) > 1:
            notes.append(f"the graphs have different {what}: {', '.join(f'{name}: {value}' for name, value in known)}")
    settings_of: dict[str, set[str]] = {}
    for finding in (finding for report in reports for finding in report.findings if finding.count is not None):
        settings_of.setdefault(finding.rule_id, set()).add(f"{finding.signature} {sorted(finding.settings.items())} {finding.threshold}")
    if other := sorted(rule for rule, settings in settings_of.items() if len(settings) > 1):
        notes.append(f"asked with different settings or thresholds, not to be compared: {', '.join(other)}")
    return notes
