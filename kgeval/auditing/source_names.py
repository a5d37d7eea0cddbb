"""Names held against the texts that their entities come from: those that stand in none, and those that cannot stand there."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kgeval.auditing.check import CheckRun
from kgeval.auditing.source_texts import Sources, WholeName, sources
from kgeval.text.language import main_script

LOOKED_UP = 3_000_000  # names times texts that are looked at, beyond a name's own ones
MANY, MOST = 10, 0.5  # entities that cite a chunk wrongly, and their share, from which the chunk is the cause
FEW = 0.5  # share of names that cannot be compared, above which nothing is said of the others


@dataclass(frozen=True)
class SourcedNames:
    """Positions of entities (in `sources.known`) by what their texts say of their names. `testable`: entities with a chunk that has text.
    `missed`: the name stands in none of them; `elsewhere`: neither, but it is in another script or language. `where`: how those names and
    their texts are written, as the end of a sentence that begins with them."""

    sources: Sources
    testable: int
    missed: array[int]
    elsewhere: array[int]
    where: str = ""

    @property
    def little(self) -> bool:
        """Whether it may be kept as long as an audit runs."""
        return self.sources.chunks.little and self.sources.known.little


def sourced_names(check: CheckRun) -> SourcedNames:
    """The names of the entities that a check looks at, read once for all checks that ask."""
    part = check.part
    return check.read_once(("sourced names", part), lambda: _held(sources(check, part)))


def cannot_judge(found: SourcedNames) -> str | None:
    """Why nothing can be said of names that stand in no text: most could not stand there."""
    if len(found.elsewhere) <= FEW * found.testable or not found.testable:
        return None
    return f"cannot be judged: {len(found.elsewhere):,} of {found.testable:,} names are {found.where}, so that no text can hold them"


def other_texts_of(check: CheckRun) -> dict[int, int] | None:
    """`other_texts` of the names that a check looks at, read once for all checks that ask."""
    return check.read_once(("other texts", check.part), lambda: other_texts(sourced_names(check)))


def other_texts(found: SourcedNames) -> dict[int, int] | None:
    """Of names that stand in none of their own texts: in how many others they stand, as whole words one behind the other (those in none are
    left out). None where there are too many names and texts to look."""
    read, texts = found.sources, len(found.sources.chunks)
    if len(found.missed) * texts > LOOKED_UP:
        return None
    names = {at: WholeName(read.known.looked_for(at), main_script(read.known.roll.names[at])) for at in found.missed}
    counts: Counter[int] = Counter()
    for number in range(texts):
        spaced, text = read.chunks.spaced(number), read.chunks.text(number)
        counts.update(at for at, name in names.items() if name.stands_in(text, spaced))
    return dict(counts)


def wrongly_cited(found: SourcedNames, others: Mapping[int, int] | None) -> dict[int, list[int]]:
    """By the number of a chunk, the entities that come from it alone and are not named in it, where these are many, most of those that do
    so, and most of them stand in other texts: no text says these of them, the source is wrong."""
    chunks = found.sources.known.chunks
    alone = Counter(chunks[at][0] for at in range(len(found.sources.known.roll)) if chunks.size(at) == 1)
    missed: dict[int, list[int]] = defaultdict(list)
    for at in found.missed:
        if chunks.size(at) == 1:
            missed[chunks[at][0]].append(at)
    return {
        number: own for number, own in sorted(missed.items(), key=lambda item: (-len(item[1]), item[0]))
        if len(own) >= max(MANY, MOST * alone[number]) and sum(at in (others or {}) for at in own) >= MOST * len(own)
    }


def _held(read: Sources) -> SourcedNames:
    known = read.known
    testable = array("I", (at for at in range(len(known.roll)) if known.chunks.size(at)))
    missed = array("I", (at for at in testable if not any(read.stands(at, number) for number in known.chunks[at])))
    elsewhere = array("I", (at for at in missed if not read.is_comparable(at, known.chunks[at])))
    if elsewhere:
        foreign = frozenset(elsewhere)
        missed = array("I", (at for at in missed if at not in foreign))
    written = _in_words(read, elsewhere)
    if language := read.other_language(missed):
        both = array("I", sorted([*elsewhere, *missed]))
        said = f"in {language}, and their texts in {read.chunks.language.name}"
        return SourcedNames(read, len(testable), array("I"), both, " or ".join(filter(None, [written, said])))
    return SourcedNames(read, len(testable), missed, elsewhere, written)


def _in_words(read: Sources, elsewhere: array[int]) -> str:
    """`in Latin script, and their texts in Japanese script`: the most frequent pair."""
    scripts = Counter(
        (main_script(read.known.roll.names[at]), read.chunks.script(read.known.chunks[at][0])) for at in elsewhere
    )
    if not scripts:
        return ""
    (name, text), _ = scripts.most_common(1)[0]
    return f"in {name} script, and their texts in {text} script"
