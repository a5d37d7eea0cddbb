"""Waivers: hits that somebody answers for, with a reason and, if it is to end, a last day."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from kgeval.records import GROUPS, GraphRef, Waived
from kgeval.text.clean import normal_form

REGEX = "re:"
JOINING = ("accuracy", "completeness")  # groups of checks that only other reports bring


@dataclass(frozen=True)
class Waiver:
    """One `[[ignore]]`. `rule`: a check, a group, or a pattern of checks with * and ?. `match`: a pattern of names (None: all hits);
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
        own_case = pattern.flags & re.IGNORECASE  # a regular expression ignores case by itself; a pattern with * was folded
        for item in items:
            texts = [item.name, item.key, *([] if item.type is None else [f"{item.type}:{item.name}"])]
            if any(pattern.fullmatch(text if own_case else folded(text)) for text in texts):
                return True
        return False

    def record(self, *, expired: bool = False, stale: bool = False, hits: int = 0) -> Waived:
        """What it did, as reports hold it."""
        until = self.until.isoformat() if self.until else None
        return Waived(rule=self.rule, match=self.match, reason=self.reason, until=until, expired=expired, stale=stale, hits=hits)


def waiver_faults(rule: str, match: str | None, known: Collection[str], joining: Collection[str] = ()) -> list[str]:
    """What is wrong with a waiver's check and pattern. `known`: the ids of all checks; `joining`: those that other reports bring."""
    faults = []
    about = {rule_id for rule_id in known if glob(rule).fullmatch(rule_id)}
    if rule not in GROUPS and not about:
        faults.append(f"rule: '{rule[:60]}': no such check or group (kgeval checks list names them)")
    if match is not None and (rule in JOINING or (about and about <= set(joining))):
        faults.append(f"match: hits of {rule[:60]} come from other reports (--with) and are waived as a whole: leave match out")
    if match is not None and match.startswith(REGEX):
        try:
            re.compile(match.removeprefix(REGEX))
        # a{99999999999} overflows, and some thousand brackets exhaust the stack of Python's parser
        except (re.error, OverflowError, RecursionError) as cause:
            faults.append(f"match: '{match[:60]}' is no regular expression: {cause}")
    return faults


def glob(text: str, *, fold: bool = False) -> re.Pattern[str]:
    """The pattern of a text in which only * and ? are wildcards: names of relations hold brackets. `fold`: the rest is folded as names are;
    a full-width ? becomes a plain one there, and no wildcard."""
    parts = (_WILD.get(part) or re.escape(folded(part) if fold else part) for part in re.split(r"([*?])", text))
    return re.compile("".join(parts), re.DOTALL)


def folded(text: str) -> str:
    """The text in NFKC without case."""
    return normal_form(text, "NFKC").casefold()


_WILD = {"*": ".*", "?": "."}


@lru_cache(maxsize=1000)
def _pattern(match: str) -> re.Pattern[str]:
    if match.startswith(REGEX):
        return re.compile(match.removeprefix(REGEX), re.IGNORECASE | re.DOTALL)
    return glob(match, fold=True)
