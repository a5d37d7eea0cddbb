"""Which systems are compared, on which questions: what a run compares, found before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import combinations
from typing import TYPE_CHECKING

from kgeval.errors import InputError, UsageError
from kgeval.tables.sharing import Sharing

if TYPE_CHECKING:
    from kgeval.records import Question
    from kgeval.tables.question_rows import Questions
    from kgeval.tables.rows import Rows
    from kgeval.tables.shards import Shard

NAMED = 5
SHOWN = 20
MANY = 10  # pairs from which on a note says how many there are
ONE = "there is nothing to compare: only one system"


@dataclass(frozen=True)
class PairSelection:
    """`against`: only pairs with this system, which is B in each of them; `pairs`: these pairs only, as "A:B". Neither: all pairs.
    `allow_missing`: a question that a system lacks is left out of its pairs; else it is a fault."""

    against: str | None = None
    pairs: tuple[str, ...] = ()
    allow_missing: bool = False


@dataclass(frozen=True)
class ComparedPairs:
    """What is compared. `asked`: systems that can be asked every question (of which no file has the answers); `missing`: system -> ids
    of the questions that it lacks and another has; `failed`: system -> its answers that are errors. `notes`: for the reader of the report.
    `shard`: only the questions of this part are judged. Questions stay on disk; close what the rows came from after use."""

    systems: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    sharing: Sharing = field(repr=False)
    asked: frozenset[str] = frozenset()
    missing: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    shard: Shard | None = None

    def questions(self, a: str, b: str) -> Iterator[Question]:
        """The questions that both have an answer to, or can be asked, in order."""
        return (question for question in self.sharing.common(self._files(a, b)) if self.shard is None or self.shard.has(question.id))

    def count(self, a: str, b: str) -> int:
        """How many questions both have."""
        return self.sharing.n_common(self._files(a, b))

    def question(self, name: str) -> Question | None:
        """The question of an id."""
        return self.sharing.question(name)

    def systems_of(self, name: str) -> list[str]:
        """The systems that have an answer to a question, or can be asked."""
        answering = {*self.sharing.answered_by(name), *self.asked}
        return [system for system in self.systems if system in answering]

    def _files(self, *systems: str) -> list[str]:
        return [system for system in systems if system not in self.asked]


def pair_up(
    rows: Rows | Questions, wanted: PairSelection, *, asked: Sequence[str] = (), second_runs: Sequence[tuple[str, str]] = (),
) -> ComparedPairs:
    """The pairs of a run. `rows`: the answers of files with their questions, or questions alone where all systems are asked. `asked`:
    names of systems that are asked. `second_runs`: (system, name of its second run): their pairs are added; those alone are enough.

    Raises: UsageError for names that are none or stand for two systems, and for one system alone; InputError where systems lack
    questions that others have, each system with what it lacks; where a pair has no question in common.
    """
    filed = [info.system for info in getattr(rows, "systems", ())]
    twice = sorted({*[name for name in filed if name in asked], *[name for name in asked if list(asked).count(name) > 1]})
    if twice:
        raise UsageError(f"two systems are called {', '.join(twice)}", fix="name them: --system NAME=SPEC, or --name for a file's rows")
    systems = (*filed, *asked)
    pairs = _pairs(systems, wanted, alone=bool(second_runs))
    inside = {name for pair in (*pairs, *second_runs) for name in pair}
    filed = [name for name in filed if name in inside]
    sharing = Sharing(rows, among=None if inside.intersection(asked) else filed)
    missing = {name: ids for name in filed if (ids := sharing.lacking(name))}
    if missing and not wanted.allow_missing:
        raise _refused(missing, sharing)
    failed = {name: count for name in filed if (count := sharing.failed(name))}
    paired = ComparedPairs(
        (*(name for name in systems if name in inside), *(second for _, second in second_runs)), (*pairs, *second_runs), sharing,
        frozenset((*asked, *(second for _, second in second_runs))), missing, failed,
    )
    return _checked(paired)


def _pairs(systems: Sequence[str], wanted: PairSelection, *, alone: bool) -> tuple[tuple[str, str], ...]:
    if wanted.against is not None and wanted.pairs:
        raise UsageError("--against and --pairs say different things", fix="give one of them")
    if not systems:
        raise InputError("the files have no answer to any of the questions", fix="check that they belong together")
    if wanted.against is not None:
        base = _known(wanted.against, systems, "--against")
        found = tuple((name, base) for name in systems if name != base)
    elif wanted.pairs:
        by_systems: dict[frozenset[str], tuple[str, str]] = {}
        for text in wanted.pairs:
            pair = _split(text, systems)
            by_systems.setdefault(frozenset(pair), pair)  # A:B and B:A are one pair
        found = tuple(by_systems.values())
    else:
        found = tuple(combinations(systems, 2))
    if not found and not alone:
        raise UsageError(
            f"{ONE}, {systems[0]}",
            fix="give the answers of a second one (answers of two runs of it: --self-check); where rows of two files have one name, "
            "put the names into the field system",
        )
    return found


def _known(name: str, systems: Sequence[str], flag: str) -> str:
    if name in systems:
        return name
    near = get_close_matches(name, systems, 1)
    more = ", ..." if len(systems) > SHOWN else ""
    raise UsageError(
        f"{flag} {name}: there is no such system" + (f"; did you mean {near[0]}?" if near else ""),
        fix=f"the systems are: {', '.join(systems[:SHOWN])}{more}",
    )


def _split(text: str, systems: Sequence[str]) -> tuple[str, str]:
    """A pair from "A:B"; names may have colons themselves, as long as it can be read in one way."""
    places = [place for place, character in enumerate(text) if character == ":"]
    found = [(text[:place], text[place + 1:]) for place in places if text[:place] in systems and text[place + 1:] in systems]
    if len(found) > 1:
        what = f"--pairs {text}: can be read in {len(found)} ways"
        raise UsageError(what, fix="use --against, or leave other systems out with --filter-system")
    if not found:
        first, colon, second = text.partition(":")
        if not colon:
            raise UsageError(f"--pairs {text}: is no pair", fix="write A:B")
        found = [(_known(first, systems, f"--pairs {text}:"), _known(second, systems, f"--pairs {text}:"))]
    if found[0][0] == found[0][1]:
        raise UsageError(f"--pairs {text}: a system beside itself", fix="--self-check compares two runs of one system")
    return found[0]


def _refused(missing: dict[str, list[str]], sharing: Sharing) -> InputError:
    faults = []
    for name, ids in missing.items():
        more = ", ..." if len(ids) > NAMED else ""
        faults.append(f"{name}: lacks {len(ids):,} of {len(sharing):,} questions: {', '.join(ids[:NAMED])}{more}")
    return InputError(
        "not all systems answered the same questions", faults=faults,
        fix="complete the files; or --allow-missing: each pair then uses the questions that both have, and the report lists the others",
    )


def _checked(paired: ComparedPairs) -> ComparedPairs:
    """With notes. Raises: InputError where no pair has a question."""
    empty = [pair for pair in paired.pairs if not paired.count(*pair)]
    if len(empty) == len(paired.pairs):
        raise InputError("no pair of systems has a question in common", fix="check that the files answer the same questions (ids, --map)")
    notes = [f"{name}: lacks {len(ids):,} questions that others have: left out of its pairs" for name, ids in paired.missing.items()]
    notes += [f"{a} and {b}: no question in common, not compared" for a, b in empty]
    notes += [
        f"{name}: {count:,} answers are errors: their questions have no result in its pairs, they are no losses"
        for name, count in paired.failed.items()
    ]
    if (unanswered := paired.sharing.unanswered()) > 0:
        notes.append(f"questions without an answer of any system: {unanswered:,}")
    if len(paired.pairs) > MANY:
        notes.append(f"{len(paired.systems)} systems: {len(paired.pairs):,} pairs")
    return replace(paired, pairs=tuple(pair for pair in paired.pairs if pair not in empty), notes=tuple(notes))
