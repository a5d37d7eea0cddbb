"""Names held against the texts that their entities come from: those that stand in none, and those that cannot stand there."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass

from kgeval.auditing.check import CheckRun
from kgeval.auditing.source_texts import Sources, sources, stands_in
from kgeval.text.language import main_script

LOOKED_UP = 3_000_000  # names times texts that are looked at, beyond a name's own ones
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


def sourced_names(check: CheckRun) -> SourcedNames:
    """The names of the entities that a check looks at, read once for all checks that ask."""
    part = check.part
    return check.read_once(("sourced names", part), lambda: _held(sources(check, part)))


def cannot_judge(found: SourcedNames) -> str | None:
    """Why nothing can be said of names that stand in no text: most could not stand there."""
    if len(found.elsewhere) <= FEW * found.testable or not found.testable:
        return None
    return f"cannot be judged: {len(found.elsewhere):,} of {found.testable:,} names are {found.where}, so that no text can hold them"


def other_texts(found: SourcedNames) -> dict[int, int] | None:
    """Of names that stand in none of their own texts: in how many others they stand (those in none are left out). None where there are too
    many names and texts to look."""
    read, texts = found.sources, len(found.sources.chunks)
    if len(found.missed) * texts > LOOKED_UP:
        return None
    forms = {at: read.known.looked_for(at) for at in found.missed}
    counts: Counter[int] = Counter()
    for number in range(texts):
        text = read.chunks.text(number)
        counts.update(at for at, names in forms.items() if stands_in(names, text))
    return dict(counts)


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
