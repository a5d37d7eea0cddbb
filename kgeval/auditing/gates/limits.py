"""Limits: of a check's share or number of hits, and of structure figures; each with the severity of what breaks it, if it has one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from kgeval.auditing.diff_figures import BETTER
from kgeval.auditing.rulebook import load_rules
from kgeval.auditing.structure import PARTS
from kgeval.errors import did_you_mean
from kgeval.records import SEVERITIES, Severity
from kgeval.stats.thresholds import Threshold, read_limit, read_threshold

Limits = dict[str, tuple[Threshold, ...]]  # by check or figure, the worst severity first; the unit of a figure's is ""


class WrittenThreshold(NamedTuple):
    """A threshold as somebody wrote it. `where`: what to call it in a message; `threshold`: what it says, or what is wrong with it; `text`:
    as --threshold takes it."""

    where: str
    threshold: Threshold | str
    text: str

    @property
    def about(self) -> str | None:
        """The check or figure; None where it has not even the form of a threshold."""
        return None if isinstance(self.threshold, str) else self.threshold.of or self.threshold.name


FIX = "write ID<=SHARE (0 to 1), ID<='N hits', FIGURE>=X or FIGURE<=X; kgeval checks list and kgeval help structure name the ids"
_NOT_NUMBERS = {
    "entities_by_type", "relations_by_type", "property_fill", "property_types", "degree_histogram", "component_size_histogram", "tokenizer",
    "community_algorithm",
}


def written_as_flag(flag: str) -> WrittenThreshold:
    """`ID<=X` or `ID:SEVERITY<=X`, as --threshold takes it."""
    threshold = read_threshold(flag)
    if isinstance(threshold, str) or threshold.at is not None:
        why = threshold if isinstance(threshold, str) else "an @ says nothing here"
        threshold = f"{why}; write ID<=SHARE or ID:SEVERITY<=SHARE, a share between 0 and 1"
    return WrittenThreshold(f"'{flag[:100]}'", threshold, flag)


def written_in_file(where: str, name: str, severity: str | None, text: str) -> WrittenThreshold:
    """An entry of `[audit.thresholds]`. `where`: its key; `text`: `<=0.05`, `<=3 hits`, `=0.05`."""
    threshold = read_limit(severity or name, text)
    as_flag = f"{name}{f':{severity}' if severity else ''}{text}"
    if isinstance(threshold, str):
        return WrittenThreshold(where, f"{threshold}, or '<=3 hits'", as_flag)
    return WrittenThreshold(where, replace(threshold, of=name if severity is not None else None), as_flag)


def read_limits(written: Iterable[WrittenThreshold]) -> tuple[Limits, list[str]]:
    """The limits, and every fault. Of two for one id and severity the later holds."""
    by_severity: dict[str, dict[Severity | None, Threshold]] = {}
    places: dict[str, str] = {}
    faults: list[str] = []
    for where, threshold, _ in written:
        limit = threshold if isinstance(threshold, str) else _limit(threshold)
        if isinstance(limit, str):
            faults.append(f"{where}: {limit}")
        else:
            by_severity.setdefault(limit.name, {})[limit.severity] = limit
            places[limit.name] = where
    by_id = {name: tuple(sorted(limits.values(), key=_rank)) for name, limits in by_severity.items()}
    for name, limits in by_id.items():
        for worse, milder in pairwise(limit for limit in limits if limit.severity is not None):
            if (worse.unit, worse.sign) == (milder.unit, milder.sign) and milder.met(worse.limit):  # it would be broken before the milder
                fault = f"{worse.severity} ({worse.text}) is not beyond {milder.severity} ({milder.text})"
                faults.append(f"{places[name]}: {fault}")
                break
    return by_id, faults


def limits_text(limits: Iterable[Threshold]) -> str:
    """All limits of a check in words: `share <= 0.05`, `error: share <= 0.2; warning: share <= 0.05`."""
    return "; ".join(f"{limit.severity}: {limit.text}" if limit.severity else limit.text for limit in limits)


def figures() -> list[str]:
    """The structure figures that are one number."""
    more = ("diameter_lower_bound", "community_stability_runs")
    return [name for part in PARTS.values() for name in part if name not in _NOT_NUMBERS] + list(more)


def _limit(written: Threshold) -> Threshold | str:
    """The limit with its id, unit, severity and a sign that is not `=`; or what is wrong with it."""
    name, named_severity = (written.name, None) if written.of is None else (written.of, written.name)
    severity = next((level for level in SEVERITIES if level == named_severity), None)
    value, in_hits = written.limit, written.unit == "hits"
    if named_severity is not None and severity is None:
        return f"'{named_severity[:30]}' is no severity: error, warning, info"
    limit = replace(written, name=name, of=None, severity=severity)
    if name in figures():
        if in_hits:
            return f"{name} is a figure and has no hits"
        if written.sign == "=" and name not in BETTER:
            return f"{name} is a figure, of which nobody can say which way is good: write >= or <="
        return limit.resolved("higher" if BETTER.get(name, 0) > 0 else "lower")
    if name not in load_rules():
        return _unknown(name)
    if written.sign == ">=":
        return "a check has a largest share: write <="
    if in_hits and (value < 0 or not value.is_integer()):
        return f"{value:g} is no number of hits"
    if not in_hits and not 0 <= value <= 1:
        return f"{value:g} is no share between 0 and 1 (for a number write '<={value:g} hits')"
    return replace(limit, sign="<=", unit="hits" if in_hits else "share")


def _rank(limit: Threshold) -> int:
    return -1 if limit.severity is None else SEVERITIES.index(limit.severity)


def _unknown(name: str) -> str:
    if name in _NOT_NUMBERS:
        return f"'{name}' is a figure of many numbers, not of one"
    return f"'{name[:60]}': no such check or figure{did_you_mean(name, [*load_rules(), *figures()])}"
