"""The ratchet: the hits that an earlier audit found are accepted for now; only what is new or worse counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kgeval.auditing.gates.keys import hashed, keys_of
from kgeval.auditing.identity import called
from kgeval.auditing.report_files import validated
from kgeval.auditing.rulebook import Hit
from kgeval.errors import InputError
from kgeval.format import first_of
from kgeval.records import SCHEMA_VERSION, Example, Layout, Ratchet, RatchetRule
from kgeval.tables import read_json

READ_FIX = "give a file that kgeval audit --write-ratchet wrote, or write a new one"
_FAULTS = 5


def read_ratchet(path: Path) -> Ratchet:
    """The ratchet of a file. Raises: InputError: unreadable, not JSON, no ratchet, another schema version, broken fields."""
    value = read_json(path)
    if not isinstance(value, dict) or not {"rules", "layout", "written"} <= value.keys():
        what = "an audit report (--baseline takes those)" if isinstance(value, dict) and "findings" in value else "no ratchet file"
        raise InputError(f"{path}: is {what}", fix=READ_FIX)
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(f"{path}: has schema version {version!r}; this kgeval reads {SCHEMA_VERSION!r}", fix=READ_FIX)
    ratchet = validated(Ratchet, value, str(path), what="is broken", fix=READ_FIX)
    if twice := [name for name, n in Counter(rule.rule_id for rule in ratchet.rules).items() if n > 1]:
        fix = "was it merged from two? Keep one entry of each check, or write the file anew"
        raise InputError(f"{path}: {first_of(twice, _FAULTS)}: more than one entry", fix=fix)
    odd = [rule.rule_id for rule in ratchet.rules if rule.count < 0 or rule.total < 0 or any(n < 1 for n in (rule.keys or {}).values())]
    if odd:
        raise InputError(f"{path}: numbers below 0 or keys without a hit: {first_of(odd, _FAULTS)}", fix=READ_FIX)
    return ratchet


def differences(ratchet: Ratchet, graph: str | None, layout: Layout, kgeval: str) -> list[str]:
    """What makes the ratchet hard to hold against this audit: another graph, layout or version of kgeval."""
    notes = []
    if ratchet.graph != graph:
        notes.append(f"it is about {called(ratchet.graph)}, this audit about {called(graph)}")
    if ratchet.layout != layout.name:
        notes.append(f"it was written for layout {ratchet.layout}, this audit uses {layout.name}")
    if ratchet.kgeval != kgeval:
        notes.append(f"kgeval {ratchet.kgeval} wrote it, this is {kgeval}: checks may count otherwise")
    return notes


def debt_of(rule_id: str, hit: Hit, counts: tuple[int, int], examples: Sequence[Example], *, listed: bool) -> RatchetRule:
    """What a check's hits are as debt. `counts`: those that are not waived, and their total; `examples`: where they show; `listed`: all."""
    keys: Counter[str] = Counter()
    for key, n in (pair for example in examples for pair in keys_of(example, hit)):
        keys[key] += n
    lasting = listed and hit != "share"
    return RatchetRule(rule_id=rule_id, count=counts[0], total=counts[1], keys=dict(sorted(keys.items())) if lasting else None)


def hidden(rule: RatchetRule) -> RatchetRule:
    """The debt with its keys hashed."""
    keys = None if rule.keys is None else {hashed(rule.rule_id, key): n for key, n in sorted(rule.keys.items())}
    return rule.model_copy(update={"keys": keys})


def known_of(debt: RatchetRule, hit: Hit, examples: Sequence[Example], *, hashes: bool) -> list[int]:
    """How many of each example's hits stand in the debt: of the same key never more than there were."""
    left = dict(debt.keys or {})
    known_hits = []
    for example in examples:
        known = 0
        for key, n in keys_of(example, hit):
            name = hashed(debt.rule_id, key) if hashes else key
            taken = min(n, left.get(name, 0))
            left[name] = left.get(name, 0) - taken
            known += taken
        known_hits.append(known)
    return known_hits


def allowed(debt: RatchetRule, total: int) -> int:
    """So many hits of `total` are no larger share than the debt's."""
    return debt.count * total // debt.total if debt.total else 0  # whole numbers: no share is rounded

