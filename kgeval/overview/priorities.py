"""What to fix first and what it costs, and the verdict in plain words. There is no single grade: groups stand side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kgeval.auditing.rulebook import load_rules
from kgeval.auditing.structure import NO_TYPE
from kgeval.format import first_of, joined, number, percent, plural
from kgeval.records import SEVERITIES, AuditReport, Finding, OverviewFinding, Severity

# Checks whose hits rest on types or relation names, and what they come to where the graph has none: LightRAG's and nano-graphrag's
# key-value stores carry names and pairs only, whatever the graph behind them had.
_WITHOUT_TYPES = {
    "duplicate-name": "no entity here has a type, so that these may be different things: it may come from how the graph was loaded",
    "constant-relation-type": "no entity here has a type either: it may come from how the graph was loaded, such as from key-value stores",
}
_THINGS: dict[str, tuple[str, ...]] = {  # what a check counts -> the things of the graph that its hits are, or stand for
    **dict.fromkeys((
        "entities", "entities with a name", "described entities", "entities looked at", "entities with a name and a type",
        "entities with a chunk that has text", "entities with a name and an embedding", "subjects of functional relations",
        "entities with a type", "required properties", "values of declared properties", "entities in hierarchies",
        "entities with values that tell them apart",
    ), ("entities",)),
    **dict.fromkeys((
        "relations", "retired relations", "relations with a begin and an end", "relations whose type and ends are declared",
        "relations with named ends and a chunk that has text", "relations between entities that have a type",
    ), ("relations",)),
    **dict.fromkeys(("chunks", "chunks with text", "chunks with a text of some length"), ("chunks",)),
    "entities and relations with sources": ("entities", "relations"),
    **dict.fromkeys(("nodes of a kind that has embeddings", "embeddings"), ("entities", "chunks")),
}
MANY = 5  # hits of other findings that a cause explains, from which it leads
LEADING = 0.1  # share of the graph's things that a cause touches, from which it leads
_TYPES = {
    "types": ("entities", "entities_by_type"),
    **dict.fromkeys(("relation names", "relation labels"), ("relations", "relations_by_type")),
}


@dataclass(frozen=True)
class Touched:
    """What a finding touches of the graph: `share` of all its `things` (entities, relations, chunks)."""

    share: float
    things: str


def touched(finding: Finding, report: AuditReport) -> Touched | None:
    """What a failed check's open hits touch of the whole graph; null where they are none of its things (indexes, pairs of type and key).

    Of types and relation names: the entities or relations that have them, as far as examples are listed. Of other reports' samples: as
    they estimate it.
    """
    hits = max(0, (finding.count or 0) - finding.suppressed - finding.known)
    if finding.group == "accuracy":
        things = finding.total_of.removeprefix("judged ")
        return Touched(finding.share, things) if finding.share is not None and things in ("entities", "relations") else None
    if finding.total_of in _TYPES:
        things, table = _TYPES[finding.total_of]
        return _of_types(finding, things, report.structure.get(table))
    parts = _THINGS.get(finding.total_of)
    total = sum(_size(part, report) for part in parts or ())
    if not parts or not total:
        return None
    if finding.interval is not None and finding.interval.sampled:
        hits = round(hits * finding.interval.population / finding.interval.sampled)
    return Touched(min(1.0, hits / total), " and ".join(parts))


def _of_types(finding: Finding, things: str, table: object) -> Touched | None:
    sizes = {name: n for name, n in table.items() if isinstance(n, int)} if isinstance(table, dict) else {}
    names = {example.items[0].key for example in finding.examples if example.items and example.waived is None and not example.known}
    return Touched(sum(sizes.get(name, 0) for name in names) / total, things) if (total := sum(sizes.values())) else None


def _size(part: str, report: AuditReport) -> int:
    """How many there are: as measured, else what a check counted that looks at all of them."""
    known = report.structure.get(part)
    if isinstance(known, int) and not isinstance(known, bool):
        return known
    return max((finding.total or 0 for finding in report.findings if finding.total_of == part and finding.interval is None), default=0)


def touches(finding: Finding, report: AuditReport) -> str:
    """`, 0.4 % of all entities`, but where the finding says so itself, or touches no things of the graph."""
    found = touched(finding, report)
    if found is None or (finding.total_of == found.things and finding.share == found.share):
        return ""
    return f", {percent(found.share)} of all {found.things}"


def artefact(finding: Finding, report: AuditReport) -> str | None:
    """Why a finding may say how the graph came here, and nothing about the graph; None: nothing speaks for that."""
    types = report.structure.get("entities_by_type")
    untyped = isinstance(types, dict) and set(types) == {NO_TYPE}
    return _WITHOUT_TYPES.get(finding.rule_id) if untyped else None


def failed(report: AuditReport) -> list[Finding]:
    """The failed findings, most pressing first: causes (`leads`), then severity, then the share of the graph that they touch, then count,
    then rule id; after all of them those that may come from how the graph was loaded."""
    def key(finding: Finding) -> tuple[bool, bool, tuple[int, float, int, str]]:
        found = touched(finding, report)
        return artefact(finding, report) is not None, not leads(finding, report), pressing(finding, found.share if found else None)

    return sorted((f for f in report.findings if f.status == "failed"), key=key)


def leads(finding: Finding, report: AuditReport) -> bool:
    """Whether a failed finding is a cause that stands before all others: an error or warning that explains five hits of other
    findings or more, or touches a tenth of the things that it is about."""
    rule = load_rules().get(finding.rule_id)
    if rule is None or not rule.cause or finding.severity == "info":
        return False
    found = touched(finding, report)
    explained = sum(other.explained.get(finding.rule_id, 0) for other in report.findings)
    return explained >= MANY or (found is not None and found.share >= LEADING)


def pressing(finding: Finding | OverviewFinding, share: float | None) -> tuple[int, float, int, str]:
    """What puts failed checks in order: severity, the share of the graph's things that they touch (none: last), count, rule id."""
    return SEVERITIES.index(finding.severity), 1.0 if share is None else -share, -(finding.count or 0), finding.rule_id


def order(report: AuditReport) -> str:
    """How `failed` puts them in order, as a sentence."""
    loaded = any(artefact(f, report) for f in report.findings if f.status == "failed")
    last = " Those that may come from how the graph was loaded are last." if loaded else ""
    causes = any(leads(f, report) for f in report.findings if f.status == "failed")
    first = "Causes that explain other findings, or touch much, are first; then in" if causes else "In"
    return f"{first} the order of severity, then of the share of all entities, relations or chunks that a finding touches.{last}"


def fix_first(report: AuditReport, most: int = 5) -> list[Finding]:
    """The failed findings to begin with, at most `most`."""
    return failed(report)[:most]


def cost(finding: Finding) -> str:
    """What its hits cost those who ask the graph, as the end of a sentence that begins with how many there are; "" for what has no rule,
    such as a finding of an accuracy report."""
    rule = load_rules().get(finding.rule_id)
    return rule.cost if rule else ""


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


def verdict(report: AuditReport) -> str:
    """The outcome and what to fix first, in a few plain sentences."""
    lines = outcome(report)
    if report.structure.get("entities") != 0 and (bad := fix_first(report, 3)):
        lines.insert(2, f"Fix first: {', '.join(f'{f.title.lower()} ({number(f.count or 0)})' for f in bad)}.")
    return " ".join(lines)


def outcome(report: AuditReport) -> list[str]:
    """The outcome for those who decide, the main sentence first, computed from the findings alone. What an error is: docs/report.md."""
    if not report.findings:
        return ["No checks were run: only the structure of the graph was measured."]
    states = Counter(f.status for f in report.findings)
    failures = [f for f in report.findings if f.status == "failed"]
    bad = Counter(f.severity for f in failures)
    empty = "The graph has no entities, so there was nothing to check in them. Is the layout the right one?"
    if report.structure.get("entities") == 0 and not bad:
        return [empty]
    words: tuple[tuple[Severity, str], ...] = (("warning", "warning"), ("info", "info finding"))
    milder = joined([plural(bad[severity], word) for severity, word in words if bad[severity]])
    accepted = _accepted(report)
    if bad["error"]:
        first = f"{plural(bad['error'], 'error')} can make answers wrong or facts unreachable."
        if loaded := sum(f.severity == "error" and artefact(f, report) is not None for f in failures):
            first = f"{first[:-1]}; {loaded} of them may come from how the graph was loaded."
    elif bad:
        first = f"No errors, but {milder}."
    elif states["passed"]:
        first = f"Nothing {'new ' if accepted else ''}to fix: {plural(states['passed'], 'check')} passed."
    else:
        first = "Nothing could be judged."
    silent = states["incomplete"] + states["error"]
    rest = [
        f"Also {milder}" if bad["error"] and milder else "", f"{plural(states['skipped'], 'check')} skipped" if states["skipped"] else "",
        f"{plural(silent, 'check')} did not finish" if silent else "",
    ]
    second = ", ".join(filter(None, rest))
    lines = [first, *([f"{second}."] if second else []), *([accepted] if accepted else [])]
    return [empty, *lines] if report.structure.get("entities") == 0 else lines


def _accepted(report: AuditReport) -> str:
    """What is wrong all the same: hits that the ratchet file knows, and those that are waived, worst checks first; "" without any."""
    known, waived = sum(f.known for f in report.findings), sum(f.suppressed for f in report.findings)
    counts = ((known, "known from the ratchet file"), (waived, "waived"))
    parts = [f"{plural(n, 'hit')} {'is' if n == 1 else 'are'} {word}" for n, word in counts if n]
    checks = sorted((f for f in report.findings if f.known or f.suppressed), key=lambda f: SEVERITIES.index(f.severity))
    named = first_of([f"{f.title.lower()} ({f.severity}: {number(f.known + f.suppressed)})" for f in checks], 3)
    return f"Accepted, not fixed: {joined(parts)}: {named}." if parts else ""
