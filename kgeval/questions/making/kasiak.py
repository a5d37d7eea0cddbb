"""The eight kinds of questions of [K 4.1] and attribution [K 5.4.2], each with a condition that is checked and recorded.

[K] sorts questions that people wrote; here each kind's condition is tried when a question is made: by code, by the database, or by a
model that answers from a part of the evidence. What fails is no question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from kgeval.questions.drafts import check, drafted, entities_shown, names_in, passages_shown, picked, triples_shown
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.excerpts import in_all
from kgeval.questions.kind import Kind, LaterCall, MakingContext, MakingOptions, Need, RejectedError
from kgeval.questions.making.answer_cypher import TIMEOUT
from kgeval.questions.making.hop_evidence import HopEvidence, hop_evidence
from kgeval.questions.making.kasiak_context import (
    COMPARED,
    COMPARING,
    DISTRACTING,
    INFERRED,
    THINKING,
    TRUE,
    WITHOUT,
    make_comparing,
    make_distracting,
    make_thinking,
)
from kgeval.questions.making.kasiak_draft import (
    MAKE_TOKENS,
    MOST_REASON,
    Said,
    Trial,
    answered,
    counting,
    passage_tokens,
    said,
    slots_of,
    trial_calls,
    tried,
    usable_names,
    with_text,
)
from kgeval.questions.making.kasiak_replies import OfOnePassage, OfRelations
from kgeval.questions.making.kasiak_searched import NEAREST, OUTSIDE, QUOTED, SPEAKER, make_attribution, make_out_of_context
from kgeval.questions.proof import hop_counts
from kgeval.records import GoldPath, Question, QuestionCheck, Structure

# Questions of [K 4.1] along relations: single-hop, multi-hop, long-hop, multi-doc.

MOST_ALONE = 8  # passages of one question that are tried alone
ANSWERABLE = "kasiak-answerable"
SINGLE, HOPS = "kasiak-single", "kasiak-hops"


@dataclass(frozen=True)
class _Way:
    """A path with the passages that say it, and what is tried of them. `checks`: what code and the database found before anything was
    asked. `of`: of how many, where not all are tried."""

    path: Structure
    evidence: HopEvidence
    trials: tuple[Trial, ...]
    checks: tuple[QuestionCheck, ...] = ()
    of: str = ""


def make_single_hop(desk: MakingContext) -> Question:
    """A question that one relation answers, out of one passage. Raises: RejectedError, UnansweredError."""
    structure = desk.structure
    usable_names(structure.nodes)
    relation = structure.relations[0]
    own = with_text(p for p in structure.passages if p.chunk_id in relation.chunk_ids)
    values, passages = passages_shown(own, MAKE_TOKENS)
    if not passages:
        raise RejectedError("no_passages", "no passage says the relation")
    slots = slots_of(desk, triples=triples_shown(structure, layout=desk.layout), entities=entities_shown(structure.nodes), passages=values)
    reply = desk.ask(SINGLE, slots, OfOnePassage)
    passage = picked(passages, [reply.passage], "passage")[0]
    one = said(desk, reply.question, reply.answer)
    if not names_in(one.question, structure.nodes):
        raise RejectedError("start_not_named", "the question names neither end of the relation")
    enough = answered(desk, one, Trial(ANSWERABLE, (passage,)))
    where = f" of {passage.document}" if passage.document else ""
    alone = check("one_passage", True, f"one relation; passage {passage.chunk_id}{where} alone gives the answer")
    checks = [enough, alone, check("leak", True)]
    question = drafted(structure, one.question, one.answer, level="single_hop", evidence=[passage], checks=checks)
    return question.model_copy(update={"references": list(one.aliases), "path": _gold(structure), "steps": _steps(structure)})


def make_multi_hop(desk: MakingContext) -> Question:
    """A question that needs both relations of a path, told in one document, and that no single passage answers. Raises: as above."""
    way = _single_passages(_in_one_document(desk.structure), desk)
    return _joined(desk, way, level="multi_hop", cause="one_passage", name="not_in_one_passage", what="passage")


def make_long_hop(desk: MakingContext) -> Question:
    """A question that needs four relations of a chain, to which there is no shorter way, and that no single passage answers."""
    way = _single_passages(desk.structure, desk)
    return _joined(desk, way, level="long_hop", cause="one_passage", name="not_in_one_passage", what="passage")


def make_multi_doc(desk: MakingContext) -> Question:
    """A question that needs passages of two documents: neither alone answers it."""
    _told(desk.structure)
    path = desk.structure.model_copy(update={"passages": [p for p in desk.structure.passages if p.document]})
    told = [{p.document for p in path.passages if p.chunk_id in r.chunk_ids and p.document} for r in path.relations]
    if not all(told):
        raise RejectedError("no_document", "the graph does not say which document a passage is of")
    evidence = _told(path)
    shared = in_all(told)
    if shared is not None:
        raise RejectedError("one_document", f"the document '{shared}' tells all relations")
    documents = list(dict.fromkeys(p.document for p in evidence.passages if p.document))
    trials = [
        Trial(f"kasiak-document-{n}", with_text(p for p in (*evidence.passages, *path.passages) if p.document == name))
        for n, name in enumerate(documents, start=1)
    ]
    checks = (check("documents", True, f"each relation is told in another document: {', '.join(documents)}"),)
    way = _Way(path, evidence, tuple(trials), (*checks, _no_shortcut(desk, path)))
    return _joined(desk, way, level="multi_doc", cause="one_document", name="not_in_one_document", what="document")


def _joined(desk: MakingContext, way: _Way, *, level: str, cause: str, name: str, what: str) -> Question:
    """A question that needs every relation of a path: the evidence gives the answer, each part that is tried alone does not."""
    path, evidence = way.path, way.evidence
    with counting(desk, way.trials):
        one = _asked(desk, way)
        checks = [*way.checks, answered(desk, one, Trial(ANSWERABLE, evidence.passages))]
        for trial in way.trials:
            right, why = tried(desk, one, trial)
            if right:
                raise RejectedError(cause, f"one {what} alone gives the answer: {why}"[:MOST_REASON])
    checks.append(check(name, True, f"tried alone, none of {len(way.trials)} {what}s{way.of} gives the answer"))
    checks += [check("bridge_hidden", True, "the question names no entity on the way"), check("leak", True)]
    question = drafted(path, one.question, one.answer, level=level, evidence=evidence.passages, checks=checks)
    return question.model_copy(update={
        "references": list(one.aliases), "path": _gold(path), "steps": _steps(path),
        "evidence_ids": [list(group) for group in evidence.groups],
    })


def _asked(desk: MakingContext, way: _Way) -> Said:
    """The question in a model's words: it needs all relations, and names one end of the path and nothing on the way."""
    path = way.path
    values, _ = passages_shown(way.evidence.passages, MAKE_TOKENS)
    hidden = [node.name for node in path.nodes[1:-1]]
    reply = desk.ask(HOPS, slots_of(desk, triples=triples_shown(path, layout=desk.layout), hidden=[*hidden], passages=values), OfRelations)
    used = picked(path.relations, reply.triples, "relation")
    if len(used) < len(path.relations):
        raise RejectedError("too_few_relations", f"the answer needs {len(used)} of the {len(path.relations)} relations")
    one = said(desk, reply.question, reply.answer)
    told = names_in(one.question, path.nodes[1:-1])
    if told:
        raise RejectedError("bridge_named", f"the question names '{told[0].name}', which the reader has to find")
    if not names_in(one.question, [path.nodes[0], path.nodes[-1]]):
        raise RejectedError("start_not_named", "the question names neither end of the path")
    return one


def _in_one_document(path: Structure) -> Structure:
    """The path with the passages of the first document that tells all its relations. Raises: RejectedError("no_one_document")."""
    for document in dict.fromkeys(p.document for p in path.passages if p.document):
        own = path.model_copy(update={"passages": [p for p in path.passages if p.document == document]})
        if not hop_evidence(own).missing:
            return own
    raise RejectedError("no_one_document", "no document tells all relations of the path")


def _single_passages(path: Structure, desk: MakingContext) -> _Way:
    """The way with a trial for each passage that says one of its relations, those of the evidence first. Raises: RejectedError."""
    evidence = _told(path)
    shared = in_all(r.chunk_ids for r in path.relations) if len(path.relations) > 1 else None
    if shared is not None or len(evidence.passages) < 2:
        raise RejectedError("one_passage", "one passage tells all relations")
    said_by = [p for p in path.passages if any(p.chunk_id in r.chunk_ids for r in path.relations)]
    every = with_text((*evidence.passages, *said_by))
    trials = tuple(Trial(f"kasiak-alone-{n}", (passage,)) for n, passage in enumerate(every[:MOST_ALONE], start=1))
    of = f" (of {len(every)})" if len(every) > MOST_ALONE else ""
    documents = {p.document for p in evidence.passages}
    only = next(iter(documents)) if len(documents) == 1 else None
    checks = (check("one_document", True, f"all evidence is of {only}"),) if only else ()
    return _Way(path, evidence, trials, (*checks, _no_shortcut(desk, path)), of)


def _told(path: Structure) -> HopEvidence:
    """A passage for each relation. Raises: RejectedError: unusable_name, same_name, no_passages."""
    usable_names(path.nodes)
    evidence = hop_evidence(path)
    if evidence.missing:
        raise RejectedError("no_passages", f"no passage says: {evidence.missing[0]}")
    return evidence


def _no_shortcut(desk: MakingContext, path: Structure) -> QuestionCheck:
    """The database finds no shorter way between the ends of a path. Raises: RejectedError("shortcut")."""
    if desk.graph is None or desk.layout is None:
        raise RuntimeError("questions along a path are proved by the graph")
    ends, length = (path.nodes[0].element_id, path.nodes[-1].element_id), len(path.relations)
    found = hop_counts(desk.graph, desk.layout, [ends], timeout=TIMEOUT).get(ends)
    if found is not None and found < length:
        raise RejectedError("shortcut", f"the ends are joined by {found} relations, not {length}")
    return check("no_shortcut", True, f"in the graph no way of fewer than {length} relations joins the ends")


def _gold(path: Structure) -> GoldPath:
    return GoldPath(nodes=[node.ref for node in path.nodes], relations=[path.ref_of(r) for r in path.relations], text=_steps(path))


def _steps(path: Structure) -> list[str]:
    return [path.text_of(r) for r in path.relations]


_ENOUGH = trial_calls(ANSWERABLE)
_MAYBE = tuple(replace(call, certain=False) for call in trial_calls(SPEAKER))  # not where the document is asked for


def _wanted(_options: MakingOptions, *, wanted: DrawSpec) -> DrawSpec:
    return wanted


def _kind(
    name: str, about: str, wanted: DrawSpec, make: Callable[[MakingContext], Question], *, first: str, later: tuple[LaterCall, ...],
    needs: tuple[Need, ...] = ("chunks",), source: str = "[K] 4.1",
) -> Kind:
    return Kind(
        name=name, group="kasiak", level=name, about=about, source=source, wanted=partial(_wanted, wanted=wanted), make=make,
        needs=frozenset({"model", *needs}), first=first, later=later,
    )


def _checking(prompt: str, stage: str = "") -> LaterCall:
    return LaterCall(prompt, passage_tokens, stage=stage)


KINDS: tuple[Kind, ...] = (
    _kind(
        "single_hop", "one relation; tried: one passage of one document is enough", DrawSpec("edge"), make_single_hop, first=SINGLE,
        later=_ENOUGH,
    ),
    _kind(
        "multi_hop", "two relations joined, told in one document; tried: no single passage is enough", DrawSpec("path", hops=2),
        make_multi_hop, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "long_hop", "a chain of four relations without a shorter way; tried: no single passage is enough", DrawSpec("path", hops=4),
        make_long_hop, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "thinking", "an answer that follows from the texts, but that no sentence of them says", DrawSpec("neighbourhood", most_relations=6),
        make_thinking, first=THINKING, later=(_checking(INFERRED),),
    ),
    _kind(
        "distracting", "carries a true fact that it does not need; tried: without it the answer stays", DrawSpec("path", hops=2),
        make_distracting, first=DISTRACTING, later=(_checking("bench-evidence", TRUE), *_ENOUGH, *trial_calls(WITHOUT)),
    ),
    _kind(
        "out_of_context", "near the topics, but what it names is in no name, alias or text", DrawSpec("node"), make_out_of_context,
        first=OUTSIDE, later=trial_calls(NEAREST)[:1], needs=("graph", "documents"),
    ),
    _kind(
        "comparing", "two entities of one type, with facts of both in the answer", DrawSpec("pair"), make_comparing, first=COMPARING,
        later=(_checking(COMPARED), *_ENOUGH),
    ),
    _kind(
        "multi_doc", "two relations told in two documents; tried: no single document is enough", DrawSpec("path", hops=2, documents=2),
        make_multi_doc, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "attribution", "who said it, or where: a quote that stands in one document only", DrawSpec("node"), make_attribution, first=QUOTED,
        later=_MAYBE, needs=("graph", "documents"), source="[K] 5.4.2",
    ),
)
