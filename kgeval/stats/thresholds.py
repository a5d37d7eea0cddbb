"""Thresholds of all commands: one class, one grammar (`ID<=X`, `ID>=X`, `ID=X`, comma or repeated), one rule at the edge.

A name may say more: `OF:NAME` (a system, a file, two systems; of a check of an audit `ID:SEVERITY`) and `NAME@AT` (an aspect, a level).
What names there are, which of them are good when high, and in which range a limit lies is for the caller to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgeval.errors import UsageError
from kgeval.records import Gate, Severity
from kgeval.rounding import at_least, at_most

Sign = Literal[">=", "<=", "="]
Unit = Literal["", "share", "hits"]
Better = Literal["higher", "lower"]
_NAME = re.compile(
    r"\s*(?:(?P<of>.*\S)\s*:)?\s*(?P<name>[\w-]+)\s*(?:@\s*(?P<at>[^@<>=:]*[^@<>=:\s])\s*)?(?P<limit>(?:<=|>=|=).*)", re.DOTALL,
)
_LIMIT = re.compile(r"\s*(?P<sign><=|>=|=)\s*(?P<value>[^\s<>=]+)\s*(?P<hits>hits?)?\s*")


@dataclass(frozen=True)
class Threshold:
    """A threshold as it was written. `of`: what stands before the last colon, `at`: what stands after the @.

    `unit`: what the limit counts, where the name does not tell (a check's share of hits, or their number). `severity`: of what misses it;
    None: its own. How it was answered is a record of the report: Gate.
    """

    name: str
    sign: Sign
    limit: float
    of: str | None = None
    at: str | None = None
    unit: Unit = ""
    severity: Severity | None = None

    def least(self, better: Better = "higher") -> bool:
        """Whether a value must be at least the limit. `better`: which way is good for what the name means; it decides what `=` means."""
        return better == "higher" if self.sign == "=" else self.sign == ">="

    def resolved(self, better: Better) -> Threshold:
        """The threshold with >= or <= in place of `=`."""
        return replace(self, sign=">=" if self.least(better) else "<=")

    def met(self, value: float) -> bool:
        """Whether a value keeps the limit. A threshold with `=` is to be `resolved` before, where low values are good."""
        return passes(value, self.limit, least=self.least())

    def met_between(self, low: float, high: float) -> bool | None:
        """Whether every value from `low` to `high` keeps the limit (true) or none does (false); None where the limit lies between them."""
        # Thresholds have one edge: what holds at both ends holds between them.
        ends = {self.met(low), self.met(high)}
        return ends.pop() if len(ends) == 1 else None

    def gate(
        self, value: float | None, met: bool | None, *, of: str | None = None, at: str | None = None, reason: str | None = None,
    ) -> Gate:
        """What it came to; `=` stands as >=. `of`, `at`: in place of what was written; `reason`: why there is no answer, or what misses
        it."""
        return Gate(
            name=self.name, of=of or self.of, at=at or self.at, limit=self.resolved("higher").text, severity=self.severity, value=value,
            met=met, reason=reason,
        )

    @property
    def text(self) -> str:
        """The limit as it was written: `>= 0.8`, `share <= 0.05`, `hits <= 3`."""
        return f"{self.unit} {self.sign} {self.limit:.15g}".strip()


def read_threshold(text: str) -> Threshold | str:
    """One threshold; else what is wrong with it."""
    parts = _NAME.fullmatch(text)
    if parts is None:
        return "this is not NAME>=X, NAME<=X or NAME=X"
    limit = read_limit(parts["name"], parts["limit"])
    return limit if isinstance(limit, str) else replace(limit, of=parts["of"], at=parts["at"])


def read_limit(name: str, text: str) -> Threshold | str:
    """The threshold on `name` of `<=0.05` or `<=3 hits`; else what is wrong with the text."""
    parts = _LIMIT.fullmatch(text)
    if parts is None:
        return f"'{text.strip()[:60]}' is no limit: write <=0.05, >=0.5 or =0.5"
    try:
        value = float(parts["value"])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        return f"{parts['value'][:40]} is not a number"
    sign: Sign = ">=" if parts["sign"] == ">=" else "<=" if parts["sign"] == "<=" else "="
    return Threshold(name, sign, value, unit="hits" if parts["hits"] else "")


def split(texts: Iterable[str]) -> list[str]:
    """The thresholds of texts with one or several each. A comma parts two only where a limit stands before it: `a,b:recall>=0.8` is one."""
    match: list[str] = []
    for text in texts:
        begun: list[str] = []
        for part in text.split(","):
            begun.append(part)
            if re.search(r"[<>=]\s*\S", part):
                match.append(",".join(begun))
                begun = []
        if rest := ",".join(begun).strip(" ,"):
            match.append(rest)
    return [part.strip() for part in match if part.strip()]


def parse_thresholds(
    texts: Iterable[str], faults_of: Callable[[Threshold], Sequence[str]], *, fix: str, span: tuple[float, float] = (0.0, 1.0),
) -> list[Threshold]:
    """The thresholds in the order given. `faults_of`: what is wrong with one that has the right form; `span`: least and largest limit.

    Raises: UsageError that names every fault of all texts.
    """
    thresholds: list[Threshold] = []
    faults: list[str] = []
    for text in texts:
        parts = [_checked(part, faults_of, span) for part in split([text])]
        whole = _checked(text, faults_of, span)[0]
        if any(wrong for _, wrong in parts) and whole is not None and not re.search("[<>]", whole.of or ""):
            parts = [(whole, [])]  # a system's name may have commas and signs of equality of its own
        thresholds += [threshold for threshold, _ in parts if threshold is not None]
        faults += [fault for _, wrong in parts for fault in wrong]
    if faults:
        raise UsageError("thresholds that cannot be checked: " + "; ".join(faults), fix=fix)
    return thresholds


def _checked(
    text: str, faults_of: Callable[[Threshold], Sequence[str]], span: tuple[float, float],
) -> tuple[Threshold | None, list[str]]:
    """A threshold without a fault, or its faults."""
    threshold = read_threshold(text)
    if isinstance(threshold, str):
        return None, [f"'{text[:100]}': {threshold}"]
    faults = list(faults_of(threshold))
    if not span[0] <= threshold.limit <= span[1]:
        faults.append(f"{threshold.limit:g} is not a number from {span[0]:g} to {span[1]:g}")
    if threshold.unit == "hits":
        faults.append("hits are counted by the checks of an audit alone")
    return (None, [f"'{text[:100]}': {fault}" for fault in faults]) if faults else (threshold, [])


def without_at(one: Threshold) -> list[str]:
    """The fault of a threshold with an @ where nothing can stand after it."""
    return [] if one.at is None else [f"@{one.at[:60]} says nothing here"]


def passes(value: float, limit: float, *, least: bool) -> bool:
    """Whether a value is at least (else: at most) the limit; what differs by rounding only is equal."""
    if float(value).is_integer() and float(limit).is_integer():  # numbers of hits and things, however large
        return value >= limit if least else value <= limit
    return at_least(value, limit) if least else at_most(value, limit)
