"""Citations: does the chunk that an answer names support the claim that it is named for, and which claims have such a chunk.

All cited chunks go into one call, with the claims that citations give as numbered statements; the verdict names the chunks that
support each. A citation without a claim is for the answer as a whole: then the answer's claims are among the statements. To know
which of the answer's claims a citation's own claim stands for takes one call more: the answer's claims against those texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgeval.llm.calls import Failure
from kgeval.metrics.facts import Checked, Item, Texts
from kgeval.metrics.judge.checks import checked, numbered_source
from kgeval.metrics.judge.desk import Desk, Listed, said
from kgeval.metrics.judge.replies import CitedVerdicts
from kgeval.records import Citation, Row
from kgeval.text.names import normalise

SILENT = Failure("missing_item", "the verdict says supported, but names no passage that was shown")


@dataclass(frozen=True)
class Cited:
    """The citations of a row. `own`: numbers of the texts that each citation names (contexts by their place, then evidence);
    `texts`: number -> text of all that are named; `claims`: the different claims that citations give, in their order."""

    citations: tuple[Citation, ...]
    own: tuple[frozenset[int], ...]
    texts: Mapping[int, str] = field(repr=False)
    claims: tuple[str, ...]

    @property
    def for_all(self) -> bool:
        """True if a citation with a text is for the answer as a whole."""
        return any(numbers and not _claim(citation) for citation, numbers in zip(self.citations, self.own, strict=True))


def cited(row: Row) -> Cited:
    """The row's citations with the texts that they name, of contexts and evidence. None of an empty answer."""
    given = [*(row.answer.contexts or ()), *row.question.evidence]
    known = {number: passage for number, passage in enumerate(given, start=1) if passage.text.strip()}
    citations, own = tuple(row.answer.citations or ()) if said(row) else (), list[frozenset[int]]()
    for citation in citations:
        name = normalise(citation.document or "")
        if citation.chunk_id is not None:
            found = [number for number, passage in known.items() if passage.chunk_id == citation.chunk_id]
            own.append(frozenset(found[:1]))
        else:
            own.append(frozenset(n for n, passage in known.items() if name and normalise(passage.document or "") == name))
    named = frozenset[int]().union(*own)
    claims = dict.fromkeys(claim for citation, numbers in zip(citations, own, strict=True) if numbers and (claim := _claim(citation)))
    return Cited(citations, tuple(own), {number: known[number].text for number in sorted(named)}, tuple(claims))


def needs_claims(row: Row) -> bool:
    """True if the citations cannot be checked without the answer's claims."""
    return cited(row).for_all


def citation_checks(desk: Desk, claims: Listed | None, *, coverage: bool) -> dict[str, Checked]:
    """The fact `citations`: one item a citation, supported or not. With `coverage` also `citations:claims`: one item a claim of the
    answer, cited or uncited."""
    found = cited(desk.row)
    lists = {"given": Listed(Texts(found.claims))}
    if found.for_all and claims is not None:
        lists["answer"] = claims
    source = numbered_source("citations", found.texts, nothing="no chunk that is cited is known", reply=CitedVerdicts)
    verdicts = checked(desk, source, lists)
    made = {"citations": Checked(tuple(_citation(found, at, verdicts) for at in range(len(found.citations))))}
    if coverage and claims is not None:
        given = dict(enumerate(found.claims, start=1))
        matching = numbered_source("citation-claims", given, nothing="no citation has a claim", reply=CitedVerdicts)
        matched = checked(desk, matching, {"answer": claims})["answer"]
        made["citations:claims"] = _coverage(found, claims, verdicts.get("answer"), matched, made["citations"])
    return made


def _citation(found: Cited, at: int, verdicts: Mapping[str, Checked]) -> Item:
    """The verdict of one citation. A citation of a chunk that is not known does not support its claim."""
    claim, own = _claim(found.citations[at]), found.own[at]
    if not own:
        return Item(at + 1, claim, "unknown_chunk", reason="neither contexts nor evidence have a text of it")
    against = verdicts["given"] if claim else verdicts.get("answer", Checked())
    items = [item for item in against.items if not claim or item.text == claim]
    deciding = next((item for item in items if supporting(item) & own), None)
    if deciding is not None:
        sources = tuple(sorted(supporting(deciding) & own))
        return Item(at + 1, claim, "supported", reason=deciding.reason, sources=sources, call=deciding.call)
    failure = against.failure or next((_fault(item) for item in items if _fault(item)), None)
    if failure is not None:
        return Item(at + 1, claim, failure=failure)
    first = items[0] if claim and items else None
    label = "contradicted" if first is not None and first.label == "contradicted" else "not_stated"
    return Item(at + 1, claim, label, reason=first.reason if first else "", call=first.call if first else None)


def _coverage(found: Cited, claims: Listed, against: Checked | None, matched: Checked, citations: Checked) -> Checked:
    if claims.texts.failure is not None:
        return Checked(failure=claims.texts.failure)
    if matched.failure is not None:
        return Checked(failure=matched.failure)
    whole = frozenset(n for citation, own in zip(found.citations, found.own, strict=True) if not _claim(citation) for n in own)
    given = dict(enumerate(found.claims, start=1))
    backed = {citation.text: citation for citation in citations.items if citation.text and citation.label == "supported"}
    doubtful = {citation.text: citation.failure for citation in citations.items if citation.failure is not None}
    items = []
    for at, text in enumerate(claims.known):
        direct = against.items[at] if against is not None and against.failure is None else None
        same = matched.items[at]
        stands_for = supporting(same)
        if (direct and supporting(direct) & whole) or any(given[number] in backed for number in stands_for):
            items.append(Item(at + 1, text, "cited", call=same.call or (direct.call if direct else None)))
            continue
        faults = [_fault(same), _fault(direct) if direct else None, *(doubtful.get(given[n]) for n in stands_for)]
        failure = next((fault for fault in faults if fault is not None), None)
        items.append(Item(at + 1, text, None if failure else "uncited", call=same.call, failure=failure))
    return Checked(tuple(items))


def supporting(item: Item) -> frozenset[int]:
    """Numbers of the texts that support the item."""
    return frozenset(item.sources) if item.label == "supported" else frozenset()


def _fault(item: Item) -> Failure | None:
    """Why the item does not tell which texts support it; null if it does."""
    return SILENT if item.label == "supported" and not item.sources else item.failure


def _claim(citation: Citation) -> str:
    return (citation.claim or "").strip()
