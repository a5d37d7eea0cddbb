"""relation-synonym: relation names that say the same and join the same pairs of types."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.records import Example, GraphRef
from kgeval.text.names import normalise
from kgeval.text.slips import differ_in_one_slip

AUXILIARY = frozenset(["is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "does", "did", "do", "the", "a", "an"])
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
RARE = 0.05  # share of the uses of a name, up to which one that differs from it in a single sign is a slip
LEAST_LETTERS = 6  # of a name whose one missing sign says something
ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))


@dataclass(frozen=True)
class RelationUse:
    """A relation name: how often it is used, its reduced words, and its share by (source type, target type)."""

    label: str
    uses: int
    words: tuple[str, ...]
    pairs: dict[tuple[str | None, str | None], float]

    @property
    def letters(self) -> str:
        """The name without case and without what parts its words: BASED_IN, basedIn and BASEDIN have the same."""
        return "".join(char for char in self.label.casefold() if char.isalnum())


def run(check: CheckRun) -> CheckOutcome:
    """`count`: relation names that have a synonym; `total`: relation names. Each example is a group of synonyms."""
    rows = check.own_rows()
    usages = []
    for row in rows:
        total = sum(uses for _, _, uses in row["pairs"]) or 1
        pairs = {(source, target): uses / total for source, target, uses in row["pairs"]}
        usages.append(RelationUse(row["label"], row["uses"], reduced(row["label"]), pairs))
    groups = _groups(usages, check)
    groups.sort(key=lambda group: (-sum(u.uses for u in group), group[0].label))
    return CheckOutcome(sum(map(len, groups)), rows[0]["total"] if rows else 0, [_example(g) for g in groups[: check.sample]])


def reduced(label: str) -> tuple[str, ...]:
    """The words of a relation name without case, underscores, auxiliaries ("is", "has") and endings of tense and number.

    "LOCATED_IN", "isLocatedIn" and "locates in" give the same; "created" and "created_by" do not (they are inverses).
    """
    words = normalise(CAMEL.sub(" ", label.replace("_", " "))).split()
    kept = [word for word in words if word not in AUXILIARY] or words
    return tuple(_stem(word) for word in kept)


def _stem(word: str) -> str:
    for ending, put in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: len(word) - len(ending)] + put
            # "stopped" loses the second p; "passing" and "falling" keep theirs, which are not doubled by the ending
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and ending in ("ing", "ed") and stem[-1] not in "sl"
            return stem[:-1] if doubled else stem.removesuffix("e") if len(stem) > 3 else stem
    return word


def _groups(usages: list[RelationUse], check: CheckRun) -> list[list[RelationUse]]:
    """Groups of two or more synonyms: each member fits the group's most used one."""
    groups: list[list[RelationUse]] = []
    heads: dict[str, list[list[RelationUse]]] = {}
    for usage in usages:
        # where names that are written nearly alike meet: the first letters of each word, and the end of the whole
        keys = dict.fromkeys([*(word[:3] for word in usage.words), "".join(usage.words)[-4:], usage.letters, usage.letters[:2]])
        home = next((group for key in keys for group in heads.get(key, ()) if _synonym(group[0], usage, check)), None)
        if home is not None:
            home.append(usage)
            continue
        groups.append([usage])
        for key in keys:
            heads.setdefault(key, []).append(groups[-1])
    return [group for group in groups if len(group) > 1]


def _synonym(a: RelationUse, b: RelationUse, check: CheckRun) -> bool:
    overlap = sum(min(share, b.pairs.get(pair, 0.0)) for pair, share in a.pairs.items())
    alike = a.letters == b.letters or _is_slip(a, b) or _alike(a.words, b.words, float(check.settings["min_similarity"]))
    return overlap >= float(check.settings["min_signature_overlap"]) and alike


def _is_slip(a: RelationUse, b: RelationUse) -> bool:
    """Whether the rarer name is the other one but for a letter too few or too many, or two that changed places: CALS_AT beside CALLS_AT.
    (Another letter in the place of one makes another word too often: LIKES, LIVES.)"""
    few, many = sorted((a.uses, b.uses))
    x, y = a.letters, b.letters
    if few > RARE * many or min(len(x), len(y)) < LEAST_LETTERS:
        return False
    return (len(x) != len(y) or sorted(x) == sorted(y)) and differ_in_one_slip(x, y)


def _alike(a: tuple[str, ...], b: tuple[str, ...], least: float) -> bool:
    """Equal words, or the same number of words that each are nearly equal (short words must be equal)."""
    from rapidfuzz.fuzz import ratio

    if "".join(a) == "".join(b):
        return bool(a)
    if len(a) != len(b):
        return False
    return all(x == y or (min(len(x), len(y)) >= 5 and x[:2] == y[:2] and ratio(x, y) >= 100 * least) for x, y in zip(a, b, strict=True))


def _example(group: list[RelationUse]) -> Example:
    refs = [GraphRef(key=u.label, name=u.label, type=None, kind="type") for u in group[:10]]
    source, target = max(group[0].pairs, key=lambda pair: (group[0].pairs[pair], str(pair)))
    names = ", ".join(f"{usage.label[:60]} ({usage.uses})" for usage in group[:10])
    return Example(items=refs, why=f"{names}; mostly {source or 'untyped'} to {target or 'untyped'}", counts=len(group))
