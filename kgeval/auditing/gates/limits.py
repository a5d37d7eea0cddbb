"""Limits: of a check's share or number of hits, and of structure figures; each with the severity of what breaks it, if it has one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from kgeval.auditing.diff_figures import BETTER
from kgeval.auditing.rulebook import load_rules
from kgeval.auditing.structure import PARTS
from kgeval.errors import did_you_mean
from kgeval.records import SEVERITIES, Severity
from kgeval.stats.thresholds import Sign, passes, read_limit, read_threshold

Of = Literal["share", "hits", "figure"]
FIX = "write ID<=SHARE (0 to 1), ID<='N hits', FIGURE>=X or FIGURE<=X; kgeval checks list and kgeval help structure name the ids"
_NOT_NUMBERS = {
    "entities_by_type", "relations_by_type", "property_fill", "property_types", "degree_histogram", "component_size_histogram", "tokenizer",
    "community_algorithm",
}


@dataclass(frozen=True)
class Limit:
    """What a check or a figure may be: at most (`least`: at least) `value`. `of`: a share of hits 0..1, a number of hits, or a figure's
    value. `severity`: of what breaks it; null: the check's own."""

    id: str
    value: float
    of: Of = "share"
    least: bool = False
    severity: Severity | None = None

    def broken(self, value: float) -> bool:
        """Whether a value is beyond the limit; what differs by rounding only is not."""
        return not passes(value, self.value, least=self.least)

    @property
    def text(self) -> str:
        """`share <= 0.05`, `hits <= 3`, `>= 0.5`."""
        what = {"share": "share ", "hits": "hits ", "figure": ""}[self.of]
        return f"{what}{'>=' if self.least else '<='} {self.value:.15g}"


@dataclass(frozen=True)
class Entry:
    """A limit as somebody wrote it. `where`: the flag or the key of the file; `text`: `<=0.05`, `<=3 hits`, `0.05`."""

    where: str
    id: str
    severity: str | None
    text: str


def entry_of(flag: str) -> Entry | str:
    """The parts of `ID<=X` or `ID:SEVERITY<=X`, as --threshold takes it; else what is wrong with it."""
    one = read_threshold(flag)
    if isinstance(one, str) or one.at is not None:
        why = one if isinstance(one, str) else "an @ says nothing here"
        return f"'{flag[:100]}': {why}; write ID<=SHARE or ID:SEVERITY<=SHARE, a share between 0 and 1"
    name, severity = (one.name, None) if one.of is None else (one.of, one.name)
    return Entry(f"'{flag[:100]}'", name, severity, f"{one.text}{' hits' if one.hits else ''}")


def read_limits(entries: Iterable[Entry]) -> tuple[dict[str, tuple[Limit, ...]], list[str]]:
    """The limits by id, worst severity first, and every fault. Of two for one id and severity the later one holds."""
    found: dict[str, dict[Severity | None, Limit]] = {}
    places: dict[str, str] = {}
    faults: list[str] = []
    for entry in entries:
        limit = _limit(entry)
        if isinstance(limit, str):
            faults.append(f"{entry.where}: {limit}")
        else:
            found.setdefault(entry.id, {})[limit.severity] = limit
            places[entry.id] = entry.where
    sorted_ = {name: tuple(sorted(limits.values(), key=_rank)) for name, limits in found.items()}
    faults += [f"{places[name]}: {fault}" for name, limits in sorted_.items() if (fault := _crossed(limits))]
    return sorted_, faults


def told(limits: Iterable[Limit]) -> str:
    """All limits of a check in words: `share <= 0.05`, `error: share <= 0.2; warning: share <= 0.05`."""
    return "; ".join(f"{one.severity}: {one.text}" if one.severity else one.text for one in limits)


def figures() -> list[str]:
    """The structure figures that are one number."""
    more = ("diameter_lower_bound", "community_stability_runs")
    return [name for part in PARTS.values() for name in part if name not in _NOT_NUMBERS] + list(more)


def _limit(entry: Entry) -> Limit | str:
    """The limit, or what is wrong with it."""
    found = read_limit(entry.text)
    if isinstance(found, str):
        return f"{found}, or '<=3 hits'"
    if entry.severity is not None and entry.severity not in get_args(Severity):
        return f"'{entry.severity[:30]}' is no severity: error, warning, info"
    severity: Severity | None = next((one for one in SEVERITIES if one == entry.severity), None)
    judge = _check if entry.id in load_rules() else _figure if entry.id in figures() else None
    return _unknown(entry.id) if judge is None else judge(entry.id, found, severity)


def _check(name: str, limit: tuple[Sign, float, bool], severity: Severity | None) -> Limit | str:
    sign, value, hits = limit
    if sign == ">=":
        return "a check has a largest share: write <="
    if hits:
        whole = value >= 0 and value.is_integer()
        return Limit(name, value, "hits", severity=severity) if whole else f"{value:g} is no number of hits"
    if not 0 <= value <= 1:
        return f"{value:g} is no share between 0 and 1 (for a number write '<={value:g} hits')"
    return Limit(name, value, severity=severity)


def _figure(name: str, limit: tuple[Sign, float, bool], severity: Severity | None) -> Limit | str:
    sign, value, hits = limit
    if hits:
        return f"{name} is a figure and has no hits"
    if sign == "=" and name not in BETTER:
        return f"{name} is a figure, of which nobody can say which way is good: write >= or <="
    return Limit(name, value, "figure", sign == ">=" or (sign == "=" and BETTER[name] > 0), severity)


def _rank(limit: Limit) -> int:
    return -1 if limit.severity is None else SEVERITIES.index(limit.severity)


def _crossed(limits: tuple[Limit, ...]) -> str | None:
    """Why limits do not fit together: one of a worse severity is broken before a milder one."""
    for worse, milder in pairwise(limit for limit in limits if limit.severity is not None):
        if (worse.of, worse.least) == (milder.of, milder.least) and not milder.broken(worse.value):
            return f"{worse.severity} ({worse.text}) is not beyond {milder.severity} ({milder.text})"
    return None


def _unknown(name: str) -> str:
    if name in _NOT_NUMBERS:
        return f"'{name}' is a figure of many numbers, not of one"
    return f"'{name[:60]}': no such check or figure{did_you_mean(name, [*load_rules(), *figures()])}"
