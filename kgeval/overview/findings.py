"""The checks of all graphs, each once: an audit that other reports have joined holds their findings too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgeval.auditing.gates.rows import decides
from kgeval.auditing.identity import lasting_name
from kgeval.format import number, percent, visible
from kgeval.overview.priorities import pressing, touched
from kgeval.overview.sources import Source
from kgeval.records import (
    AccuracyReport,
    AuditReport,
    CheckCell,
    CompletenessReport,
    Example,
    Finding,
    GraphRef,
    OverviewExample,
    OverviewFinding,
    RunPlace,
    Severity,
)

MOST_EXAMPLES = 10


def findings_of(sources: Iterable[Source]) -> list[OverviewFinding]:
    """All findings in the order of the sources; the same check with the same counts of one graph at one place once."""
    found: dict[tuple[object, ...], OverviewFinding] = {}
    for source in sources:
        record = source.record
        if isinstance(record, AuditReport | CompletenessReport | AccuracyReport):
            for finding in record.findings:
                key = (source.place, record.graph, finding.rule_id, finding.status, finding.count, finding.total)
                one = listed(finding, record.graph, str(source.file), source.place)
                share = touched(finding, record) if isinstance(record, AuditReport) else None
                found.setdefault(key, one if share is None else one.model_copy(update={"touches": share.share}))
    return list(found.values())


def listed(finding: Finding, graph: str | None, source: str, place: RunPlace | None = None) -> OverviewFinding:
    """The finding with what of its examples lasts: no element ids."""
    return OverviewFinding(
        rule_id=finding.rule_id, title=finding.title, group=finding.group, severity=finding.severity, status=finding.status,
        place=place or RunPlace(), graph=graph,
        count=finding.count, total=finding.total, total_of=finding.total_of, share=finding.share, threshold=finding.threshold,
        suppressed=finding.suppressed, known=finding.known, advice=finding.advice,
        examples=[_example(example) for example in finding.examples[:MOST_EXAMPLES]], source=source,
    )


def _example(example: Example) -> OverviewExample:
    first = example.items[0] if example.items else None
    return OverviewExample(
        kind=first.kind if first else "graph", type=first.type if first else None,
        names=[name for name in map(_name, example.items) if name], lasting=[lasting_name(item) for item in example.items],
        waived=example.waived, known=example.known,
    )


def _name(item: GraphRef) -> str:
    """The name, else the key; "" where both are the element id, which is another one in the next build of the graph."""
    return next((text for text in (item.name, item.key) if text and text != item.element_id), "")


def amount(one: OverviewFinding | Finding, *, share: bool = True) -> str:
    """The hits: `58 of 1,284 entities (4.5 %)`."""
    part = f" ({percent(one.share)})" if share and one.share is not None else ""
    return f"{number(one.count or 0)} of {number(one.total or 0)} {visible(one.total_of, longest=60)}{part}"


def taken_out(one: OverviewFinding | Finding | CheckCell) -> list[str]:
    """What of the count is not held against the limit (`3 waived`, `2 known`), and what is not in it (`5 more explained by X`)."""
    taken = [f"{number(n)} {word}" for n, word in ((one.suppressed, "waived"), (one.known, "known")) if n]
    more = one.explained if isinstance(one, Finding) else {}
    return [*taken, *(f"{number(n)} more explained by {cause}" for cause, n in more.items())]


def failed(findings: Sequence[OverviewFinding]) -> list[OverviewFinding]:
    """The failed ones, most pressing first, as the audit of each graph has them."""
    return sorted((finding for finding in findings if finding.status == "failed"), key=lambda finding: pressing(finding, finding.touches))


def at_or_above(findings: Sequence[OverviewFinding], severity: Severity) -> list[OverviewFinding]:
    """The failed ones of this severity or a worse one."""
    return [finding for finding in failed(findings) if decides(finding.severity, severity)]
