"""Scores against graph quality: do answers suffer where a question's path or evidence touches what the audit flagged?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.errors import InputError, UsageError
from kgeval.metrics.summary.drawn import has_groups, in_order
from kgeval.metrics.summary.means import mean_of_values
from kgeval.metrics.summary.values import Values
from kgeval.records import AuditJoin, AuditReport, Finding, GraphRef, Question, Severity
from kgeval.stats.bootstrap import bootstrap_difference
from kgeval.stats.grouped import grouped_mean
from kgeval.stats.intervals import Interval
from kgeval.text.clean import normal_form
from kgeval.text.names import normalise
from kgeval.text.scripts import RUNNING
from kgeval.text.wordlists import word_list

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]
    Whole = npt.NDArray[np.int64]

# Which of many names a text mentions: token n-grams looked up in a table, so the number of names costs nothing.

_APOSTROPHE = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """A token: one character of a script without spaces, or a run of characters that are no gap as names.normalise has it."""
    gaps, start = [], None
    # built from Unicode's categories: re has no class for them
    for code in range(0x10000):
        gap = unicodedata.category(chr(code))[0] in "PZC"
        if gap and start is None:
            start = code
        elif not gap and start is not None:
            gaps.append((start, code - 1))
            start = None
    ends = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in [*gaps, (0xE000, 0xF8FF)])
    return re.compile(f"[{RUNNING}]|[^{ends}{RUNNING}]+")


def tokens(text: str) -> list[str]:
    """The tokens of a text in its order, in NFKC and case-folded, without punctuation."""
    found_tokens: list[str] = _pattern().findall(_APOSTROPHE.sub("", normal_form(text, "NFKC").casefold()))
    return found_tokens


class NameIndex:
    """Names with a number each (a set of bits), to be found in texts as whole tokens. Equal names share their bits."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        self._bits: dict[tuple[str, ...], int] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        for name, bits in names:
            key = tuple(tokens(normalise(name)))
            if key:
                self._bits[key] = self._bits.get(key, 0) | bits
                self._lengths[key[0]] = tuple(sorted({*self._lengths.get(key[0], ()), len(key)}))

    def __len__(self) -> int:
        return len(self._bits)

    def in_text(self, text: str) -> int:
        """The bits of all names that stand in the text, 0 for none."""
        words, bits = tokens(text), 0
        for place, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                bits |= self._bits.get(tuple(words[place : place + length]), 0)
        return bits


KINDS = ("entity", "relation", "chunk", "document")
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
NO_NAMES = ("empty-name", "pronoun-entity", "generic-entity", "numeric-entity", "placeholder-entity")  # in a text they say nothing
NO_WORDS = ("pronouns", "generic", "placeholders", "articles")  # lists of such words
SHORTEST = 3  # characters of a name that is looked for in texts; 2 outside ASCII, where a character says more
LEAST = 5  # questions on both sides for a comparison by rule


def read_audit(path: Path, name: str | None = None) -> AuditReport:
    """The report in a JSON file of `kgeval audit`: the only one, or the one of the graph `name`.

    Raises: InputError for a file that is none; UsageError where it has several and none, or an unknown one, is named.
    """
    from pydantic import ValidationError

    from kgeval.tables.plain import read_json

    data = read_json(path)
    documents = data["reports"] if isinstance(data, dict) and isinstance(data.get("reports"), list) else [data]
    try:
        reports = [AuditReport.model_validate(report) for report in documents]
    except ValidationError as cause:
        fix = "write it with: kgeval audit --examples 0 -o report.json"
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in cause.errors()[:20]]
        raise InputError(f"{path}: no audit report of this version of kgeval", fix=fix, faults=faults) from cause
    fits = [report for report in reports if name is None or report.graph == name]
    if len(fits) == 1:
        return fits[0]
    names = ", ".join(str(report.graph) for report in reports) or "none"
    raise UsageError(f"{path}: one report is needed, the file has these graphs: {names}", fix="name one of them with --graph")


@dataclass(frozen=True)
class Flagged:
    """What an audit flagged, for looking up. Each rule is a bit: `rules[0]` is 1, `rules[1]` is 2...

    `ids`: element id, or (kind, key) -> bits; `named`: normalised name of an entity or relation -> its type, or None -> bits;
    `texts`: names to look for in texts. `notes`: what the report does not list.
    """

    rules: tuple[str, ...]
    ids: dict[str | tuple[str, str], int]
    named: dict[str, dict[str | None, int]]
    texts: NameIndex
    notes: tuple[str, ...]

    def ref(self, ref: GraphRef) -> int:
        """Rules that flagged the thing: by element id, by key, by normalised name with the same type where both have one."""
        flags, own = 0, _type(ref)
        for key in _keys(ref):
            flags |= self.ids.get(key, 0)
        # a document may be called what an entity is called
        named = self.named.get(normalise(ref.name), {}) if ref.kind not in ("chunk", "document") else {}
        for type_, bits in named.items():
            if type_ is None or own is None or type_ == own:
                flags |= bits
        return flags


def flagged(report: AuditReport, *, least: Severity = "info") -> Flagged:
    """Entities, relations, chunks and documents in the samples of the failed findings of this severity or above."""
    failed = [
        finding for finding in report.findings
        if finding.status == "failed" and SEVERITIES.index(finding.severity) >= SEVERITIES.index(least)
    ]
    held = [finding for finding in failed if any(True for _ in _refs(finding))]
    ids: dict[str | tuple[str, str], int] = {}
    named: dict[str, dict[str | None, int]] = {}
    for number, finding in enumerate(held):
        for ref in _refs(finding):
            for key in _keys(ref):
                ids[key] = ids.get(key, 0) | 1 << number
            if ref.kind in ("entity", "relation") and (plain := normalise(ref.name)):
                by_type = named.setdefault(plain, {})
                by_type[_type(ref)] = by_type.get(_type(ref), 0) | 1 << number
    notes = []
    for finding in failed:
        listed = max(len(finding.examples), len({(ref.kind, ref.element_id or ref.key) for ref in _refs(finding)}))
        if finding.count is not None and listed < finding.count:
            more = "run kgeval audit --examples 0 to join them all"
            notes.append(f"{finding.rule_id}: {listed:,} of {finding.count:,} listed; {more}")
    return Flagged(tuple(finding.rule_id for finding in held), ids, named, _texts(held), tuple(notes))


def _keys(ref: GraphRef) -> list[str | tuple[str, str]]:
    keys: list[str | tuple[str, str]] = [ref.element_id] if ref.element_id else []
    return [*keys, (ref.kind, ref.key)] if ref.key else keys


def _refs(finding: Finding) -> Iterator[GraphRef]:
    return (ref for example in finding.examples for ref in example.items if ref.kind in KINDS)


def _type(ref: GraphRef) -> str | None:
    return ref.type.casefold() if ref.type else None


def _texts(findings: Sequence[Finding]) -> NameIndex:
    """Names of entities that mean something in a text: neither those that are flagged because they do not, nor words of the lists
    that such rules look into (the report may list only examples of them, or none)."""
    empty = {normalise(ref.name) for finding in findings if finding.rule_id in NO_NAMES for ref in _refs(finding)}
    empty |= {normalise(text) for stem in NO_WORDS for text in word_list(stem)}
    return NameIndex(
        (ref.name, 1 << number) for number, finding in enumerate(findings) for ref in _refs(finding)
        if ref.kind == "entity" and (plain := normalise(ref.name)) not in empty and len(plain) >= SHORTEST - (not plain.isascii())
        and any(map(str.isalpha, plain))
    )


@dataclass
class TouchedQuestions:
    """Which questions touch what was flagged, filled from the rows. `seen`: 0 unknown, 1 nothing to look at, 2 looked at."""

    flagged: Flagged
    seen: bytearray = field(default_factory=bytearray)
    bits: dict[int, int] = field(default_factory=dict)
    ways: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("path", "chunk", "mention"), 0))

    def add(self, at: int, question: Question) -> None:
        """Looks at the question with the number `at`, once."""
        if at >= len(self.seen):
            self.seen.extend(bytes(at + 1 - len(self.seen)))
        if self.seen[at] == 2:
            return
        path = question.path
        refs = [*(path.nodes if path else ()), *(path.relations if path else ()), *question.structure]
        texts = [*question.evidence_texts, *(path.text if path else ())]
        chunks = _chunks(question)
        self.seen[at] = 2 if refs or chunks or texts else 1
        ways = {
            "path": reduce(or_, map(self.flagged.ref, refs), 0),
            "chunk": reduce(or_, map(self.flagged.ref, chunks), 0),
            "mention": reduce(or_, map(self.flagged.texts.in_text, texts), 0) if len(self.flagged.texts) else 0,
        }
        if touching := reduce(or_, ways.values()):
            self.bits[at] = touching
            self.ways[next(way for way, bits in ways.items() if bits)] += 1

    def note(self) -> str:
        """What was joined on, in one sentence."""
        return (
            f"audit: of {len(self.seen) - self.seen.count(0):,} questions {len(self.bits):,} touch something flagged "
            f"({self.ways['path']:,} by path or structure, {self.ways['chunk']:,} by chunk or document, {self.ways['mention']:,} only by "
            f"a name in their texts); {self.seen.count(1):,} have nothing to look at and are left out"
        )

    def sides(self, count: int) -> TouchMasks:
        """The same as masks over the numbers of `count` questions."""
        import numpy as np

        seen = np.zeros(count, dtype=np.uint8)
        seen[: len(self.seen)] = np.frombuffer(bytes(self.seen), dtype=np.uint8)[:count]
        hits: dict[str | None, npt.NDArray[np.bool_]] = {}
        for number, rule in [(None, None), *enumerate(self.flagged.rules)]:
            hits[rule] = np.zeros(count, dtype=np.bool_)
            hits[rule][[question for question, bits in self.bits.items() if number is None or bits >> number & 1]] = True
        return TouchMasks(seen == 2, hits)


@dataclass(frozen=True)
class TouchMasks:
    """Masks over all questions: `known`: there was something to look at; `hits`: by rule (None: any), who touches."""

    known: npt.NDArray[np.bool_]
    hits: dict[str | None, npt.NDArray[np.bool_]]


def _chunks(question: Question) -> list[GraphRef]:
    """The chunks and documents of the evidence, as references."""
    ids = {name for group in question.evidence_groups for name in group} | {p.chunk_id for p in question.evidence if p.chunk_id}
    documents = {p.document for p in question.evidence if p.document} | ({question.document} if question.document else set())
    refs = [GraphRef(element_id=name, key=name, name=name, kind="chunk") for name in sorted(ids)]
    return refs + [GraphRef(element_id=name, key=name, name=name, kind="document") for name in sorted(documents)]


def audit_joins(
    system: str, metric: str, values: Values, questions: Whole, touched: TouchMasks, *, seed: int, codes: Whole | None = None,
) -> list[AuditJoin]:
    """Questions that touch something flagged against the others: for any rule, and for each rule with LEAST scored ones on both sides.

    `questions`: numbers of the questions of `values`. Questions that say nothing of graph or texts are on neither side. Without one
    scored question on either side there is no comparison at all.
    """
    known = touched.known[questions]
    joins = []
    for rule, hits in touched.hits.items():
        hit = hits[questions]
        masks = known & hit, known & ~hit
        sides = tuple((values.of(mask), None if codes is None else codes[mask]) for mask in masks)
        least = min(int(side.scored.sum()) for side, _ in sides)
        if least >= (1 if rule is None else LEAST):
            joins.append(_join(system, metric, rule, sides, seed))
    return joins


def _join(system: str, metric: str, rule: str | None, sides: Sequence[tuple[Values, Whole | None]], seed: int) -> AuditJoin:
    hit, rest = (mean_of_values(values, seed=seed, codes=codes) for values, codes in sides)
    difference = None if hit.mean is None or rest.mean is None else hit.mean - rest.mean
    ends = _difference_interval([(values.value[values.scored], codes, values.scored) for values, codes in sides], seed)
    return AuditJoin(
        system=system, metric=metric, rule=rule, touched=hit, untouched=rest, difference=difference,
        low=ends.low if ends else None, high=ends.high if ends else None,
    )


def _difference_interval(sides: Sequence[tuple[Floats, Whole | None, Mask]], seed: int) -> Interval | None:
    """Of the difference of two means: over questions, or where these come in groups over groups, which may have questions on both
    sides."""
    import numpy as np

    (own, of_own, here), (other, of_other, there) = sides
    if of_own is None or of_other is None or not has_groups(np.concatenate([of_own[here], of_other[there]])):
        return bootstrap_difference(own, other, seed=seed)
    n = len(own) + len(other)
    # the difference of two means is the mean of these: a mean's variance in groups is then theirs
    values = np.concatenate([(own - own.mean()) * n / len(own), (other.mean() - other) * n / len(other)])
    found = grouped_mean([in_order(values, np.concatenate([of_own[here], of_other[there]]))]).interval
    difference = float(own.mean() - other.mean())
    return None if found is None else Interval(max(-1.0, difference + found.low), min(1.0, difference + found.high))
