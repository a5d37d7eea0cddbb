"""The gold triples of a question: read from its path, counted as breadth and depth."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kgeval.questions.complexity import Ends, depth
from kgeval.records import GraphRef, Question
from kgeval.tables.shapes.derive import BROKEN
from kgeval.text.signs import identity_key

Origin = Literal["file", "triples", "texts"]
Amount = tuple[int, Origin]  # a number of a question, and where it is from
_RELATION = re.compile(r"(.*?) -\[(.*?)\]-> (.*)", re.DOTALL)


@dataclass(frozen=True)
class GoldTriples:
    """The gold triples of a question: `known` by their parts, each once; `broken`: how many more whose parts cannot be
    told."""

    known: tuple[tuple[str, str, str], ...] = ()
    broken: int = 0

    @property
    def ends(self) -> list[Ends]:
        """The two ends of each known triple."""
        return [(subject, target) for subject, _, target in self.known]


def relation_parts(ref: GraphRef) -> tuple[str, str, str] | None:
    """Start, predicate and end of a relation, out of its name "start -[predicate]-> end"; None where it is no such
    name."""
    if ref.type and len(ends := ref.name.split(f" -[{ref.type}]-> ")) == 2:
        return ends[0], ref.type, ends[1]  # by the type first: names of entities may hold arrows themselves
    parts = _RELATION.fullmatch(ref.name)
    return None if parts is None else (parts[1], parts[2], parts[3])


def gold_of(question: Question) -> GoldTriples:
    """The gold triples, names in their normal form."""
    relations = question.path.relations if question.path is not None else []
    parts = [relation_parts(ref) for ref in relations]
    known = dict.fromkeys((identity_key(s), identity_key(p), identity_key(o)) for s, p, o in filter(None, parts))
    broken = question.extra.get(BROKEN)
    return GoldTriples(tuple(known), parts.count(None) + (len(broken) if isinstance(broken, list) else 0))


def breadth_of(question: Question, gold: GoldTriples) -> Amount | None:
    """Relations that the answer needs; None where the file does not tell. Questions that nothing answers need none:
    None."""
    if question.triples_needed is not None:
        return question.triples_needed, "file"
    counted = len(gold.known) + gold.broken
    return (counted, "triples") if counted else None


def depth_of(question: Question, gold: GoldTriples) -> Amount | None:
    """Hops between the relations' ends: the file's, else over the gold triples alone; None where some of them cannot be
    read."""
    if question.hops is not None:
        return question.hops, "file"
    hops = depth(gold.ends, gold.ends) if gold.known and not gold.broken else 0
    return (hops, "triples") if hops else None
