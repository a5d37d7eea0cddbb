"""Parts that the documents of several kinds share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from kgeval.format import about, beyond, figure, number, plural, visible
from kgeval.overview.findings import amount
from kgeval.records import (
    AccuracyReport,
    AuditReport,
    CheckFigure,
    CompletenessReport,
    ConditionScores,
    CrossedCell,
    Estimate,
    Finding,
    Gate,
    OverviewPriority,
    Proportion,
    RunManifest,
)
from kgeval.reports.document import Block, Cell, Details, Items, Section, Table, Text, Tone
from kgeval.reports.plots_scores import distribution

OUTCOMES: Mapping[bool | None, tuple[str, Tone]] = {False: ("missed", "error"), None: ("not answered", "open"), True: ("met", "passed")}
NO_ANSWER = "A gate is not answered where there is no value, or where what is missing could decide it: it is never counted as met."


def gate_tally(gates: Sequence[Gate]) -> Iterator[tuple[Tone, str]]:
    """`2 gates missed`, and what became of the others, of those that decide."""
    for met, (text, tone) in OUTCOMES.items():
        if count := sum(gate.met is met for gate in gates if gate.decides):
            yield tone, f"{plural(count, 'gate')} {text}"


def gates_section(gates: Sequence[Gate]) -> Section:
    """What became of each gate, those that are met last."""
    rows = []
    for gate in sorted(gates, key=lambda gate: (gate.met is True, not gate.decides)):
        text, tone = OUTCOMES[gate.met]
        value = "-" if gate.value is None else beyond(gate.value, gate.limit)
        outcome = Cell(text if gate.decides else f"{text} (reported only)", tone=tone if gate.decides else "info")
        rows.append((about(gate.of, gate.wanted), value, outcome, visible(gate.reason, longest=300) if gate.reason else ""))
    table = Table(("Gate", "Value", "Outcome", "Why"), rows, words=frozenset({0, 2, 3}), short=8, long=20).filled(keep=(0, 1, 2))
    return Section("Gates", [Text(NO_ANSWER, style="hint", forms="page"), table] if rows else [], id="gates")


def drawn(one: Estimate | Proportion | CheckFigure) -> Cell:
    """A share with its interval as a mark on a line; nothing where there is none."""
    share = one.value if isinstance(one, Estimate) else one.share
    return Cell("", range=None if share is None else (share, one.low, one.high))


def cut_at(most: int, total: int, noun: str = "") -> list[Block]:
    """That not all are shown, where that is so."""
    text = f"The first {number(most)} of {number(total)}{noun and f' {noun}'}; the JSON has them all."
    return [Text(text, style="hint", forms="page")] if total > most else []


def notes_list(notes: Sequence[str], most: int = 10) -> Items:
    """Notes about a part of the report."""
    return Items([f"note: {note}" for note in notes], short=most)


def server_of(report: AuditReport | CompletenessReport | AccuracyReport) -> str:
    """`Neo4j 5.26 at bolt://...`, or nothing."""
    server = report.run.server
    return f"Neo4j {server.neo4j} at {visible(server.uri, longest=60)}" if server else ""


def tone_of(finding: Finding) -> Tone:
    """How bad it is; open: it has no answer."""
    return finding.severity if finding.status == "failed" else "passed" if finding.status == "passed" else "open"


def findings_section(findings: Sequence[Finding]) -> Section:
    """What joins an audit of the same graph."""
    rows = []
    for finding in findings:
        hits = "" if finding.count is None else amount(finding, share=False)
        state = finding.severity if finding.status == "failed" else finding.status
        what = " ".join(filter(None, [finding.advice, finding.reason]))
        rows.append((Cell(state, tone=tone_of(finding)), Cell(finding.title, note=finding.rule_id), hits, what))
    hint = "These join the audit report with kgeval audit --with this report's JSON."
    table = [Table(("", "Check", "Found", "What to do"), rows, words=frozenset(range(4)))] if rows else []
    return Section("Findings for the audit", table, hint=hint, id="findings", forms="page")


def fix_first(
    rows: Sequence[OverviewPriority], most: int, nothing: str, pages: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Block]:
    """What to fix first with what it costs: `most` of the rows, the others folded. `nothing`: what stands there without rows; `pages`: the
    address of a source's page."""
    if not rows:
        yield Text(nothing, forms="long")
        return
    for at, one in enumerate(rows[:most], start=1):
        yield Text(f"{at}. [{one.severity}] {one.title}: {one.evidence}" + (f" ({one.where})" if one.where else ""), forms="short")
        yield Text(one.advice, style="hint", forms="short")
    yield Items([
        f"{row.severity}: {row.title}: {row.evidence}" + (f" ({row.where})" if row.where else "") + f". {row.why} {row.advice}"
        for row in rows
    ], ordered=True, long=most, forms="md")
    opened = [
        Details(row.title, [
            Text(f"{row.why} {row.advice}"), *([Items([Cell(row.source, link=pages.get(row.source, ""))])] if row.source else []),
        ], open=True, tone=row.severity, badge=row.severity, amount=row.evidence, chips=[row.where] if row.where else []) for row in rows
    ]
    yield from opened[:most]
    if rest := opened[most:]:
        yield Details(f"{number(len(rest))} more", rest)
        yield Text(f"and {number(len(rest))} more", forms="short")


def spread_cell(one: ConditionScores | CrossedCell | None, nothing: str = "-") -> Cell:
    """How the values of a metric lie, drawn, with their median and how many they are; `nothing` where there are none."""
    if one is None or one.spread is None or one.spread.median is None:
        return Cell(nothing)
    return Cell(f"median {figure(one.spread.median)}", note=f"n {number(one.n_scored)}", svg=distribution(one.spread, one.mean))


def foot(run: RunManifest, layout: str) -> str:
    """The last line of a report: versions, layout, server, time."""
    server = f", Neo4j {run.server.neo4j}, GDS {run.server.gds or 'missing'}" if run.server else ""
    return f"kgeval {run.kgeval}, layout {layout}{server}, {run.started}, {run.seconds:.1f} s"


def version_line(run: RunManifest) -> str:
    """The last line of a report that no single graph or server stands behind: version and time."""
    return f"kgeval {run.kgeval}, {run.started}"
