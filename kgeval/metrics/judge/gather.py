"""Finds out, by asking, the facts that metrics read: each thing once for all metrics.

A row's calls, at most: claims of the answer; claims of the reference; points; verdicts once a source (reference, answer, gold
statements), whatever kinds of statements are checked against it; against contexts twice, what the answer says apart from what the
question gives, so that no metric of retrieval depends on the answer, and systems with equal contexts share the call; ratings of
contexts; a rating of them joined; questions; the answer as a whole; citations. What a run does not need is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kgeval.config import Criterion
from kgeval.llm.asker import Asker
from kgeval.metrics.definition import Subject
from kgeval.metrics.facts import ItemVerdicts, JudgedItem, TextList
from kgeval.metrics.judge.checks import SOURCES, check_items, source_of, tagged_source
from kgeval.metrics.judge.context import ItemList, JudgeContext, answer_text
from kgeval.metrics.judge.lists import ITEM_KINDS, OF_SYSTEM, ItemKind, items_of, questions
from kgeval.metrics.judge.ratings import binary, binary_printed, graded, joined, ratings
from kgeval.metrics.judge.replies import CitedVerdicts
from kgeval.metrics.references import facts_for, others
from kgeval.records import Citation, Row
from kgeval.text.names import normalise

# Citations: does the chunk that an answer names support the claim that it is named for, and which claims have such a
# chunk.

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
    passages_of_row = [*(row.answer.contexts or ()), *row.question.evidence]
    by_number = {number: passage for number, passage in enumerate(passages_of_row, start=1) if passage.text.strip()}
    citations, own = tuple(row.answer.citations or ()) if answer_text(row) else (), list[frozenset[int]]()
    for citation in citations:
        name = normalise(citation.document or "")
        if citation.chunk_id is not None:
            numbers_of_chunk = [number for number, passage in by_number.items() if passage.chunk_id == citation.chunk_id]
            own.append(frozenset(numbers_of_chunk[:1]))
        else:
            own.append(frozenset(n for n, passage in by_number.items() if name and normalise(passage.document or "") == name))
    named = frozenset[int]().union(*own)
    claims = dict.fromkeys(claim for citation, numbers in zip(citations, own, strict=True) if numbers and (claim := _claim(citation)))
    return Cited(citations, tuple(own), {number: by_number[number].text for number in sorted(named)}, tuple(claims))


def citation_checks(judge: JudgeContext, claims: ItemList | None, *, coverage: bool) -> dict[str, ItemVerdicts]:
    """The fact `citations`: one item a citation, supported or not. With `coverage` also `citations:claims`: one item a claim of the
    answer, cited or uncited."""
    row_citations = cited(judge.row)
    lists = {"given": ItemList(TextList(row_citations.claims))}
    if row_citations.for_all and claims is not None:
        lists["answer"] = claims
    source = tagged_source("citations", row_citations.texts, nothing="no chunk that is cited is known", reply=CitedVerdicts)
    verdicts = check_items(judge, source, lists)
    checks = {"citations": ItemVerdicts(tuple(_citation(row_citations, at, verdicts) for at in range(len(row_citations.citations))))}
    if coverage and claims is not None:
        cited_claims = dict(enumerate(row_citations.claims, start=1))
        matching = tagged_source("citation-claims", cited_claims, nothing="no citation has a claim", reply=CitedVerdicts)
        matched = check_items(judge, matching, {"answer": claims})["answer"]
        checks["citations:claims"] = _coverage(row_citations, claims, verdicts.get("answer"), matched, checks["citations"])
    return checks


def _citation(cited_texts: Cited, at: int, verdicts: Mapping[str, ItemVerdicts]) -> JudgedItem:
    """The verdict of one citation. A citation of a chunk that is not known does not support its claim."""
    claim, own = _claim(cited_texts.citations[at]), cited_texts.own[at]
    if not own:
        return JudgedItem(at + 1, claim, "unknown_chunk", reason="neither contexts nor evidence have a text of it")
    against = verdicts["given"] if claim else verdicts.get("answer", ItemVerdicts())
    items = [item for item in against.items if not claim or item.text == claim]
    deciding = next((item for item in items if supporting(item) & own), None)
    if deciding is not None:
        sources = tuple(sorted(supporting(deciding) & own))
        return JudgedItem(at + 1, claim, "supported", reason=deciding.reason, sources=sources, call=deciding.call)
    failure = against.failure or next((item.failure for item in items if item.failure), None)
    if failure is not None:
        return JudgedItem(at + 1, claim, failure=failure)
    first = items[0] if claim and items else None
    label = "contradicted" if first is not None and first.label == "contradicted" else "not_stated"
    return JudgedItem(at + 1, claim, label, reason=first.reason if first else "", call=first.call if first else None)


def _coverage(
    cited_texts: Cited, claims: ItemList, against: ItemVerdicts | None, matched: ItemVerdicts, citations: ItemVerdicts,
) -> ItemVerdicts:
    """The fact `citations:claims`. `against`: the answer's claims against all that is cited; `matched`: which of the claims that citations
    give each of them says."""
    if claims.texts.failure is not None:
        return ItemVerdicts(failure=claims.texts.failure)
    if matched.failure is not None:
        return ItemVerdicts(failure=matched.failure)
    whole = frozenset(n for citation, own in zip(cited_texts.citations, cited_texts.own, strict=True) if not _claim(citation) for n in own)
    cited_claims = dict(enumerate(cited_texts.claims, start=1))
    backed = {citation.text: citation for citation in citations.items if citation.text and citation.label == "supported"}
    doubtful = {citation.text: citation.failure for citation in citations.items if citation.failure is not None}
    items = []
    for index, text in enumerate(claims.known):
        direct = against.items[index] if against is not None and against.failure is None else None
        same = matched.items[index]
        stands_for = supporting(same)
        if (direct and supporting(direct) & whole) or any(cited_claims[number] in backed for number in stands_for):
            items.append(JudgedItem(index + 1, text, "cited", call=same.call or (direct.call if direct else None)))
            continue
        faults = [same.failure, direct.failure if direct else None, *(doubtful.get(cited_claims[n]) for n in stands_for)]
        failure = next((fault for fault in faults if fault is not None), None)
        items.append(JudgedItem(index + 1, text, None if failure else "uncited", call=same.call, failure=failure))
    return ItemVerdicts(tuple(items))


def supporting(item: JudgedItem) -> frozenset[int]:
    """Numbers of the texts that support the item."""
    return frozenset(item.sources) if item.label == "supported" else frozenset()


def _claim(citation: Citation) -> str:
    return (citation.claim or "").strip()


MADE: dict[str, ItemKind] = {"claims:answer": "answer_claims", "claims:reference": "reference_claims", "points": "points"}
CITED = ("citations", "citations:claims")


def ask_facts(subject: Subject, wanted: frozenset[str], asker: Asker) -> None:
    """Fills in `subject.facts` what is wanted and a model answers; other names are passed over. What could not be had is a fact
    with its failure. In a dry run everything that is not in the journal fails, and is counted by the asker. Of several right answers
    the first is meant; what is about a right answer is asked for each other one too, in `subject.others`.

    Raises: what the asker raises (ModelError, IncompleteError): what ends a run.
    """
    for variant in (subject, *others(subject, wanted)):
        _ask_facts(variant, facts_for(variant, wanted), asker)


def ask_criteria(subject: Subject, criteria: Iterable[Criterion], asker: Asker) -> None:
    """Fills in the grade by each criterion of the user's own: one item, `criterion:NAME`. Raises: as ask_facts."""
    judge = JudgeContext(subject, asker)
    for criterion in criteria:
        subject.facts.checks[f"criterion:{criterion.name}"] = graded(judge, criterion)


def _ask_facts(subject: Subject, wanted: frozenset[str], asker: Asker) -> None:
    judge, facts = JudgeContext(subject, asker), subject.facts
    lists = {kind: items_of(judge, kind) for kind in ITEM_KINDS if _needed(kind, wanted, subject)}
    for name in SOURCES:
        kinds: dict[str, ItemList] = {kind: lists[kind] for kind in ITEM_KINDS if f"{kind}@{name}" in wanted}
        for part in _apart(kinds) if name == "contexts" else [kinds]:
            if part:
                verdicts = check_items(judge, source_of(judge, name), part)
                facts.checks |= {f"{kind}@{name}": verdicts[kind] for kind in part}
    for name, ask in (("ratings", ratings), ("rating:joined", joined), ("binary", binary), ("binary:compat", binary_printed)):
        if name in wanted:
            facts.checks[name] = ask(judge)
    if "questions" in wanted:
        facts.texts["questions"] = questions(judge)
    if wanted.intersection(CITED):
        facts.checks |= citation_checks(judge, lists.get("answer_claims"), coverage="citations:claims" in wanted)


def _apart(kinds: Mapping[str, ItemList]) -> list[dict[str, ItemList]]:
    """What the question gives, and what the system says."""
    return [{kind: given for kind, given in kinds.items() if (kind in OF_SYSTEM) is own} for own in (False, True)]


def _needed(kind: ItemKind, wanted: frozenset[str], subject: Subject) -> bool:
    """Whether a list of statements is wanted itself, or for its verdicts."""
    if any(MADE.get(name) == kind or name in {f"{kind}@{source}" for source in SOURCES} for name in wanted):
        return True
    # a citation without a claim of its own is for the whole answer: it is checked against all that the answer claims
    return kind == "answer_claims" and ("citations:claims" in wanted or ("citations" in wanted and cited(subject.row).for_all))
