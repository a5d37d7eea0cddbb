"""Figures of a set of questions: shares of levels and kinds, breadth and depth, lengths, evidence [X figures 2 and 9, table 8].

Breadth and depth are the file's own where it has them (`triples_needed`, `hops`), else counted from its gold triples. What a file does
not tell is not guessed: each figure says how many questions it is over.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Literal

from kgeval.files.shapes.derive import BROKEN
from kgeval.questions.complexity import Ends, depth
from kgeval.records import LEVELS_OF_X, Amounts, GraphRef, Question, QuestionGroup, QuestionSet
from kgeval.text.names import normalise
from kgeval.text.scripts import RUNNING

Source = Literal["file", "triples", "texts"]
Found = tuple[int, Source]
NO_NAME = "(none)"
_WORD = re.compile(rf"[{RUNNING}]|(?:(?![{RUNNING}_])\w)+(?:['’‐-](?:(?![{RUNNING}_])\w)+)*")
_TRIPLE = re.compile(r"(.*?) -\[(.*?)\]-> (.*)", re.DOTALL)


@dataclass(frozen=True)
class Gold:
    """The gold triples of a question: `known` by their parts, each once; `broken`: how many more whose parts cannot be told."""

    known: tuple[tuple[str, str, str], ...] = ()
    broken: int = 0

    @property
    def ends(self) -> list[Ends]:
        """The two ends of each known triple."""
        return [(subject, target) for subject, _, target in self.known]


def gold_of(question: Question) -> Gold:
    """The gold triples, names in their normal form."""
    relations = question.path.relations if question.path is not None else []
    known = dict.fromkeys(triple for ref in relations if (triple := _triple(ref)) is not None)
    lost = sum(_triple(ref) is None for ref in relations)
    broken = question.extra.get(BROKEN)
    return Gold(tuple(known), lost + (len(broken) if isinstance(broken, list) else 0))


def _triple(ref: GraphRef) -> tuple[str, str, str] | None:
    found = _TRIPLE.fullmatch(ref.name)
    if ref.type and (parts := ref.name.split(f" -[{ref.type}]-> ")) and len(parts) == 2:
        return normalise(parts[0]), normalise(ref.type), normalise(parts[1])
    return None if found is None else (normalise(found[1]), normalise(found[2]), normalise(found[3]))


def breadth_of(question: Question, gold: Gold) -> Found | None:
    """Relations that the answer needs; null where the file does not tell. Questions that nothing answers need none: null."""
    if question.triples_needed is not None:
        return question.triples_needed, "file"
    counted = len(gold.known) + gold.broken
    return (counted, "triples") if counted else None


def depth_of(question: Question, gold: Gold) -> Found | None:
    """Hops between the relations' ends: the file's, else over the gold triples alone; null where some of them cannot be read."""
    if question.hops is not None:
        return question.hops, "file"
    if gold.broken or not gold.known:
        return None
    hops = depth(gold.ends, gold.ends)
    return (hops, "triples") if hops else None


def words_in(text: str) -> int:
    """Words of a text; in scripts without spaces between words, their letters."""
    return sum(1 for _ in _WORD.finditer(text))


def evidence_of(question: Question) -> int:
    """Pieces of evidence: passages, else groups of chunks that are known by their ids."""
    return len(question.evidence) or len(question.gold_ids)


@dataclass
class _Column:
    """The values of one figure as they come: a number a question, and nothing more in memory."""

    values: array[int] = field(default_factory=lambda: array("q"))
    sources: Counter[str] = field(default_factory=Counter)

    def add(self, found: Found | None) -> None:
        if found is not None:
            self.values.append(found[0])
            self.sources[found[1]] += 1

    def amounts(self) -> Amounts:
        if not self.values:
            return Amounts(n=0)
        return Amounts(
            n=len(self.values), mean=fmean(self.values), median=float(median(self.values)), lowest=min(self.values),
            highest=max(self.values), sources=dict(sorted(self.sources.items())),
        )


FIGURES = ("breadth", "depth", "question_words", "answer_words", "evidence")


@dataclass
class _Tally:
    n: int = 0
    columns: dict[str, _Column] = field(default_factory=lambda: {name: _Column() for name in FIGURES})

    def add(self, figures: dict[str, Found | None]) -> None:
        self.n += 1
        for name, found in figures.items():
            self.columns[name].add(found)

    def group(self, name: str | None, of: int) -> QuestionGroup:
        figures = {name: column.amounts() for name, column in self.columns.items()}
        return QuestionGroup(name=name, n=self.n, share=self.n / of if of else 0.0, **figures)


def figures(questions: Iterable[Question], file: Path | str) -> QuestionSet:
    """The figures of one set of questions, which is gone through once."""
    overall, levels, kinds = _Tally(), dict[str | None, _Tally](), dict[str | None, _Tally]()
    documents, broken = set[str](), 0
    for question in questions:
        gold = gold_of(question)
        found = _figures_of(question, gold)
        broken += gold.broken
        documents |= {name for name in (question.document, *(p.document for p in question.evidence)) if name}
        overall.add(found)
        levels.setdefault(question.level, _Tally()).add(found)
        for kind in dict.fromkeys(question.kinds) or (None,):
            kinds.setdefault(kind, _Tally()).add(found)
    made = QuestionSet(
        file=str(file), n=overall.n, overall=overall.group(None, overall.n), documents=len(documents), broken_triples=broken,
        levels=_groups(levels, overall.n), kinds=_groups(kinds, overall.n),
    )
    return made.model_copy(update={"notes": _notes(made)})


def _figures_of(question: Question, gold: Gold) -> dict[str, Found | None]:
    pieces, right = evidence_of(question), question.right_answers
    return {
        "breadth": breadth_of(question, gold), "depth": depth_of(question, gold),
        "question_words": (words_in(question.question), "texts"), "answer_words": (words_in(right[0]), "texts") if right else None,
        "evidence": (pieces, "file") if pieces else None,
    }


def _groups(found: dict[str | None, _Tally], of: int) -> list[QuestionGroup]:
    """The levels of [X] in their order, then the others by size, then what has no name."""
    def place(name: str | None) -> tuple[int, int, str]:
        known = LEVELS_OF_X.index(name) if name in LEVELS_OF_X else len(LEVELS_OF_X) + (name is None)
        return known, -found[name].n, name or ""

    return [found[name].group(name, of) for name in sorted(found, key=place)]


def _notes(made: QuestionSet) -> list[str]:
    """What a reader must know of the figures: what they are over, and what cannot be told."""
    notes, overall = [], made.overall
    nameless = sum(group.n for group in made.levels if group.name is None)
    if nameless:
        notes.append(f"{nameless:,} of {made.n:,} questions have no level: kgeval questions classify gives them one of four")
    for name, own in (("breadth", "triples_needed"), ("depth", "hops")):
        amounts: Amounts = getattr(overall, name)
        if amounts.n < made.n:
            notes.append(f"{name}: {made.n - amounts.n:,} of {made.n:,} questions have neither {own} nor gold triples that tell it")
    if overall.breadth.sources.get("triples"):
        notes.append(f"breadth: of {overall.breadth.sources['triples']:,} questions the different gold triples were counted")
    if overall.depth.sources.get("triples"):
        notes.append(
            f"depth: of {overall.depth.sources['triples']:,} questions over their gold triples alone, as if the graph held no other; "
            "published depths that were measured in a whole graph are not comparable",
        )
    if made.broken_triples:
        notes.append(f"{made.broken_triples:,} gold triples cannot be taken apart: they count for breadth, their questions have no depth")
    return notes
