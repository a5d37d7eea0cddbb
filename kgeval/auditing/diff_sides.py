"""The two sides of a diff: which findings belong together, and what of them can be held against each other. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kgeval.records import AuditReport, ChangeOf, Finding

Pair = tuple[Finding | None, Finding | None]
LACKING: frozenset[ChangeOf] = frozenset({"new", "gone", "not_comparable", "unanswered"})
_ASKED = ("schema", "sample_share", "sample_seed")  # parameters that were chosen, not read in the graph
_TOTALS = {"entities": "entities_by_type", "relations": "relations_by_type"}


def pairs_of(before: Sequence[Finding], after: Sequence[Finding]) -> Iterator[Pair]:
    """The findings of one check side by side, in the order of `after`; those without a partner there come last.

    A check that joined reports bring several times is told apart by its title too.
    """
    several = {rule for side in (before, after) for rule, count in Counter(item.rule_id for item in side).items() if count > 1}
    then, now = (by_key(side, several) for side in (before, after))
    for key, finding in now.items():
        yield then.get(key), finding
    for key, finding in then.items():
        if key not in now:
            yield finding, None


def by_key(findings: Sequence[Finding], several: set[str]) -> dict[tuple[str, str, int], Finding]:
    """The findings by check; those of `several` by their title too, and by their place where that is the same."""
    by_name: dict[tuple[str, str, int], Finding] = {}
    for finding in findings:
        name = (finding.rule_id, finding.title if finding.rule_id in several else "")
        by_name[*name, sum(key[:2] == name for key in by_name)] = finding
    return by_name


def hits_of(finding: Finding) -> int:
    """The hits that are not waived."""
    return max(0, (finding.count or 0) - finding.suppressed)


def share_of(finding: Finding) -> float | None:
    """The share of hits that are not waived; None where there is no total."""
    if not finding.suppressed:
        return finding.share
    return hits_of(finding) / finding.total if finding.total else None


def why_incomparable(then: Finding, now: Finding) -> str | None:
    """Why the counts of two answers cannot be held against each other: another unit, other settings, another query; None: they can."""
    if then.total_of != now.total_of:
        return f"it counts {now.total_of} now and counted {then.total_of} before"
    settings = [
        f"{name} = {_shown(then.settings.get(name))} before, {_shown(now.settings.get(name))} now"
        for name in _different(then.settings, now.settings)
    ]
    others = [f"another {name.replace('_', ' ')}" for name in _different(_parameters(then), _parameters(now))]
    changed = ["its query was changed"] if then.query_hash != now.query_hash else []
    reasons = list(filter(None, [", ".join(settings), ", ".join(others), *changed]))
    if not reasons and then.signature != now.signature:
        reasons = ["it read other words, or other embeddings"]
    return "; ".join(reasons) or None


def _different(then: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))


def _shown(value: object) -> str:
    return "not set" if value is None else str(value)[:80]


def _parameters(finding: Finding) -> dict[str, object]:
    """What the query was given of what somebody chose besides settings. Of lists of words and embeddings the signature tells; what is read
    in the graph first (which properties are suspect) belongs to the answer."""
    return {name: finding.parameters[name] for name in _ASKED if name in finding.parameters}


def totals_by_type(report: AuditReport, of: str) -> dict[str, int] | None:
    """How many things of each type there are, of which a finding counts some; None where that is not known."""
    table = report.structure.get(_TOTALS.get(of, ""))
    if not isinstance(table, dict):
        return None
    return {name: int(count) for name, count in table.items() if isinstance(count, (int, float)) and count == count}


def finite(value: object) -> float | None:
    """A finite number, else None."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None  # type: ignore[arg-type]


def redacted(report: AuditReport) -> bool:
    """True if the report's names are hashes, which are others in every report."""
    return report.run.arguments.get("redact") is True
