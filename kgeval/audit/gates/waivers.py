"""Waivers: hits that somebody answers for, with a reason and, if it is to end, a last day."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from kgeval.records import GROUPS, GraphRef, Waived

REGEX = "re:"


@dataclass(frozen=True)
class Waiver:
    """One `[[ignore]]`. `rule`: a check, a group, or a pattern of checks with * and ?. `match`: a pattern of names (null: all hits);
    `until`: the last day that it holds."""

    rule: str
    reason: str
    match: str | None = None
    until: date | None = None

    def expired(self, today: date) -> bool:
        """Whether its last day has gone by."""
        return self.until is not None and today > self.until

    def covers(self, rule_id: str, group: str) -> bool:
        """Whether it is about this check."""
        return self.rule in (rule_id, group) or glob(self.rule).fullmatch(rule_id) is not None

    def takes(self, items: Iterable[GraphRef]) -> bool:
        """Whether a name, `Type:name` or key of one of the items is matched, whatever its case; without `match`: always."""
        if self.match is None:
            return True
        pattern = _pattern(self.match)
        return any(_found(pattern, text) for item in items for text in _texts(item))

    def record(self, *, expired: bool = False, stale: bool = False, hits: int = 0) -> Waived:
        """What it did, as reports hold it."""
        until = self.until.isoformat() if self.until else None
        return Waived(rule=self.rule, match=self.match, reason=self.reason, until=until, expired=expired, stale=stale, hits=hits)


def waiver_faults(rule: str, match: str | None, known: Iterable[str]) -> list[str]:
    """What is wrong with a waiver's check and pattern. `known`: the ids of all checks."""
    faults = []
    if rule not in GROUPS and not any(glob(rule).fullmatch(one) for one in known):
        faults.append(f"rule: '{rule[:60]}': no such check or group (kgeval rule list names them)")
    if match is not None and match.startswith(REGEX):
        try:
            re.compile(match.removeprefix(REGEX))
        except (re.error, OverflowError, RecursionError) as cause:
            faults.append(f"match: '{match[:60]}' is no regular expression: {cause}")
    return faults


def glob(text: str) -> re.Pattern[str]:
    """The pattern of a text in which only * and ? are wildcards: names of relations hold brackets."""
    parts = (".*" if c == "*" else "." if c == "?" else re.escape(c) for c in text)
    return re.compile("".join(parts), re.DOTALL)


def folded(text: str) -> str:
    """The text in NFKC without case."""
    return unicodedata.normalize("NFKC", text).casefold()


@lru_cache(maxsize=1000)
def _pattern(match: str) -> re.Pattern[str]:
    if match.startswith(REGEX):
        return re.compile(match.removeprefix(REGEX), re.IGNORECASE | re.DOTALL)
    return glob(folded(match))


def _found(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text if pattern.flags & re.IGNORECASE else folded(text)) is not None


def _texts(item: GraphRef) -> Iterable[str]:
    yield item.name
    if item.type is not None:
        yield f"{item.type}:{item.name}"
    yield item.key
