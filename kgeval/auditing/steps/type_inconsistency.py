"""type-inconsistency: types that are spellings of each other. The Cypher counts the types, this compares their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.records import Example, GraphRef
from kgeval.text.names import normalise

_IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "buses": "bus", "series": "series", "species": "species",
}


def run(check: CheckRun) -> CheckOutcome:
    """The types that are another spelling of a type with at least as many entities, of all types."""
    rows = check.own_rows()
    uses = {str(row["type"]): int(row["entities"]) for row in rows if row["type"] is not None}
    spellings = list(other_spellings(uses, int(check.settings["min_letters"])))
    examples = [
        Example(
            items=[GraphRef(key=name[:200], name=name[:200], kind="type") for name in (other, main)],
            why=f"{uses[other]} against {uses[main]} entities",
        ) for other, main in spellings[: check.sample]
    ]
    return CheckOutcome(len(spellings), len(uses), examples)


def other_spellings(uses: Mapping[str, int], min_letters: int) -> Iterator[tuple[str, str]]:
    """Pairs (spelling, main type), main types with most entities first. A main type is never a spelling of another.

    Same type: equal after folding (case, spaces, punctuation, English plural); or both folded names have at least
    `min_letters` letters, the same first letter and the same digits, and are one edit (or one swap of neighbours) apart.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(uses, key=lambda name: (-uses[name], name)):
        groups[fold(name) or name].append(name)
    main = _near(list(groups), min_letters)
    merged: dict[str, list[str]] = defaultdict(list)
    for form, names in groups.items():
        merged[main[form]] += names
    for names in merged.values():
        first, *rest = sorted(names, key=lambda name: (-uses[name], name))
        for other in rest:
            yield other, first


def fold(name: str) -> str:
    """The type name without case, camel case, punctuation, spaces and English plural endings: "Legal_Entities" = "legalentity"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    *front, last = normalise(spaced).split() or [""]
    return "".join([*front, singular(last)])


def singular(word: str) -> str:
    """The English singular, by ending alone: "cities" -> "city", "classes" -> "class"; "status" and short words stay."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _near(forms: list[str], min_letters: int) -> dict[str, str]:
    """For every folded name the first (most used) folded name that it is one edit away from; itself if there is none."""
    from rapidfuzz.distance import OSA

    main_of: dict[str, str] = {}
    blocks: dict[tuple[str, str], list[str]] = defaultdict(list)
    for form in forms:
        block = blocks[form[:1], "".join(re.findall(r"\d", form))]
        long = len(form) >= min_letters
        near = next((other for other in block if OSA.distance(form, other, score_cutoff=1) <= 1), None) if long else None
        main_of[form] = near or form
        if long and near is None:
            block.append(form)
    return main_of
