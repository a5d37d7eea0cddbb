"""The eight kinds of questions of [K 4.1] and attribution [K 5.4.2], each with a condition that is checked and
recorded.

[K] sorts questions that people wrote; here each kind's condition is tried when a question is made: by code, by the
database, or by a model that answers from a part of the evidence. What fails is no question. This module has the kinds
along relations (single-hop, multi-hop, long-hop, multi-doc) and the table of all nine. """

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kgeval.llm.calls import Reply
from kgeval.questions.drafts import check, common_id, drafted, entities_shown, names_in, passages_shown, picked, triples_shown
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.kinds import LaterCall, MakingContext, Need, QuestionKind, RejectedError
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
    QuestionAnswer,
    Trial,
    check_answerable,
    check_names,
    counting,
    passage_tokens,
    question_answer,
    slots_of,
    trial_calls,
    tried,
    with_text,
)
from kgeval.questions.making.kasiak_searched import (
    NEAREST,
    OUTSIDE,
    QUOTED,
    SPEAKER,
    make_attribution,
    make_out_of_context,
)
from kgeval.questions.proof import hop_counts
from kgeval.records import GoldPath, Question, QuestionCheck, Structure

MOST_ALONE = 8  # passages of one question that are tried alone
ANSWERABLE = "kasiak-answerable"
SINGLE, HOPS = "kasiak-single", "kasiak-hops"


class OfOnePassage(Reply):
    """A question and its answer, with the one passage that gives it."""

    question: str
    answer: str
    passage: int


class OfRelations(Reply):
    """A question and its answer, with the relations that the answer needs."""

    question: str
    answer: str
    triples: list[int]


@dataclass(frozen=True)
class _TriedPath:
    """A path with the passages that say it, and what is tried of them. `checks`: what code and the database found
    before anything was asked. `of`: of how many, where not all are tried."""

    path: Structure
    evidence: HopEvidence
    trials: tuple[Trial, ...]
    checks: tuple[QuestionCheck, ...] = ()
    of: str = ""


def make_single_hop(context: MakingContext) -> Question:
    """A question that one relation answers, out of one passage. Raises: RejectedError, UnansweredError."""
    structure = context.structure
    check_names(structure.nodes)
    relation = structure.relations[0]
    values, passages = passages_shown(
        with_text(p for p in structure.passages if p.chunk_id in relation.chunk_ids), MAKE_TOKENS,
    )
    if not passages:
        raise RejectedError("no_passages", "no passage says the relation")
    reply = context.ask(SINGLE, slots_of(
        context, triples=triples_shown(structure, layout=context.layout), entities=entities_shown(structure.nodes),
        passages=values,
    ), OfOnePassage)
    passage = picked(passages, [reply.passage], "passage")[0]
    draft = question_answer(context, reply.question, reply.answer)
    if not names_in(draft.question, structure.nodes):
        raise RejectedError("start_not_named", "the question names neither end of the relation")
    enough = check_answerable(context, draft, Trial(ANSWERABLE, (passage,)))
    where = f" of {passage.document}" if passage.document else ""
    alone = check("one_passage", True, f"one relation; passage {passage.chunk_id}{where} alone gives the answer")
    checks = [enough, alone, check("leak", True)]
    question = drafted(structure, draft.question, draft.answer, level="single_hop", evidence=[passage], checks=checks)
    return question.model_copy(update={"references": list(draft.aliases), **_gold(structure)})


def make_multi_hop(context: MakingContext) -> Question:
    """A question that needs both relations of a path, told in one document, and that no single passage answers. Raises:
    as above."""
    path = context.structure
    for document in dict.fromkeys(p.document for p in path.passages if p.document):
        own = path.model_copy(update={"passages": [p for p in path.passages if p.document == document]})
        if not hop_evidence(own).missing:
            tried_path = _by_single_passages(context, own)
            return _of_all_relations(context, tried_path, "multi_hop", "one_passage", "not_in_one_passage", "passage")
    raise RejectedError("no_one_document", "no document tells all relations of the path")


def make_long_hop(context: MakingContext) -> Question:
    """A question that needs four relations of a chain, to which there is no shorter way, and that no single passage
    answers."""
    tried_path = _by_single_passages(context, context.structure)
    return _of_all_relations(context, tried_path, "long_hop", "one_passage", "not_in_one_passage", "passage")


def make_multi_doc(context: MakingContext) -> Question:
    """A question that needs passages of two documents: neither alone answers it."""
    _evidence(context.structure)
    path = context.structure.model_copy(update={"passages": [p for p in context.structure.passages if p.document]})
    sources = [{p.document for p in path.passages if p.chunk_id in r.chunk_ids and p.document} for r in path.relations]
    if not all(sources):
        raise RejectedError("no_document", "the graph does not say which document a passage is of")
    evidence = _evidence(path)
    shared = common_id(sources)
    if shared is not None:
        raise RejectedError("one_document", f"the document '{shared}' tells all relations")
    documents = list(dict.fromkeys(p.document for p in evidence.passages if p.document))
    trials = tuple(
        Trial(f"kasiak-document-{n}", with_text(p for p in (*evidence.passages, *path.passages) if p.document == name))
        for n, name in enumerate(documents, start=1)
    )
    apart = check("documents", True, f"each relation is told in another document: {', '.join(documents)}")
    tried_path = _TriedPath(path, evidence, trials, (apart, _no_shortcut(context, path)))
    return _of_all_relations(context, tried_path, "multi_doc", "one_document", "not_in_one_document", "document")


def _of_all_relations(
    context: MakingContext, tried_path: _TriedPath, level: str, cause: str, check_name: str, what: str,
) -> Question:
    """A question that needs every relation of a path: the evidence gives the answer, each part that is tried alone does
    not. `cause`: why it is rejected where one does; `check_name`: of the check that none does; `what` a part is
    called."""
    path, evidence, trials = tried_path.path, tried_path.evidence, tried_path.trials
    with counting(context, trials):
        draft = _draft(context, path, evidence)
        checks = [*tried_path.checks, check_answerable(context, draft, Trial(ANSWERABLE, evidence.passages))]
        for trial in trials:
            right, why = tried(context, draft, trial)
            if right:
                raise RejectedError(cause, f"one {what} alone gives the answer: {why}"[:MOST_REASON])
    checks += [
        check(check_name, True, f"tried alone, none of {len(trials)} {what}s{tried_path.of} gives the answer"),
        check("bridge_hidden", True, "the question names no entity on the way"), check("leak", True),
    ]
    question = drafted(path, draft.question, draft.answer, level=level, evidence=evidence.passages, checks=checks)
    return question.model_copy(update={
        "references": list(draft.aliases), **_gold(path), "evidence_ids": [list(group) for group in evidence.groups],
    })


def _draft(context: MakingContext, path: Structure, evidence: HopEvidence) -> QuestionAnswer:
    """The question in a model's words: it needs all relations, and names one end of the path and nothing on the way."""
    values, _ = passages_shown(evidence.passages, MAKE_TOKENS)
    triples, bridges = triples_shown(path, layout=context.layout), path.nodes[1:-1]
    slots = slots_of(context, triples=triples, hidden=[node.name for node in bridges], passages=values)
    reply = context.ask(HOPS, slots, OfRelations)
    used = picked(path.relations, reply.triples, "relation")
    if len(used) < len(path.relations):
        raise RejectedError("too_few_relations", f"the answer needs {len(used)} of the {len(path.relations)} relations")
    draft = question_answer(context, reply.question, reply.answer)
    if named := names_in(draft.question, bridges):
        raise RejectedError("bridge_named", f"the question names '{named[0].name}', which the reader has to find")
    if not names_in(draft.question, [path.nodes[0], path.nodes[-1]]):
        raise RejectedError("start_not_named", "the question names neither end of the path")
    return draft


def _by_single_passages(context: MakingContext, path: Structure) -> _TriedPath:
    """The path with a trial for each passage that says one of its relations, those of the evidence first. Raises:
    RejectedError."""
    evidence = _evidence(path)
    shared = common_id(r.chunk_ids for r in path.relations) if len(path.relations) > 1 else None
    if shared is not None or len(evidence.passages) < 2:
        raise RejectedError("one_passage", "one passage tells all relations")
    said_by = [p for p in path.passages if any(p.chunk_id in r.chunk_ids for r in path.relations)]
    every = with_text((*evidence.passages, *said_by))
    trials = tuple(Trial(f"kasiak-alone-{n}", (passage,)) for n, passage in enumerate(every[:MOST_ALONE], start=1))
    of = f" (of {len(every)})" if len(every) > MOST_ALONE else ""
    documents = {p.document for p in evidence.passages}
    checks = [
        check("one_document", True, f"all evidence is of {name}") for name in documents if name and len(documents) == 1
    ]
    return _TriedPath(path, evidence, trials, (*checks, _no_shortcut(context, path)), of)


def _evidence(path: Structure) -> HopEvidence:
    """A passage for each relation. Raises: RejectedError: unusable_name, same_name, no_passages."""
    check_names(path.nodes)
    evidence = hop_evidence(path)
    if evidence.missing:
        raise RejectedError("no_passages", f"no passage says: {evidence.missing[0]}")
    return evidence


def _no_shortcut(context: MakingContext, path: Structure) -> QuestionCheck:
    """The database finds no shorter way between the ends of a path. Raises: RejectedError("shortcut")."""
    ends, length = (path.nodes[0].element_id, path.nodes[-1].element_id), len(path.relations)
    hops = hop_counts(*context.database(), [ends], timeout=TIMEOUT).get(ends)
    if hops is not None and hops < length:
        raise RejectedError("shortcut", f"the ends are joined by {hops} relations, not {length}")
    return check("no_shortcut", True, f"in the graph no way of fewer than {length} relations joins the ends")


def _gold(path: Structure) -> dict[str, object]:
    """The fields of a question that say its path."""
    texts = [path.text_of(r) for r in path.relations]
    gold = GoldPath(
        nodes=[node.ref for node in path.nodes], relations=[path.ref_of(r) for r in path.relations], text=texts,
    )
    return {"path": gold, "steps": texts}


def _kind(
    name: str, about: str, draws: DrawSpec, make: Callable[[MakingContext], Question], *, first: str,
    later: tuple[LaterCall, ...], needs: tuple[Need, ...] = ("chunks",), source: str = "[K] 4.1",
) -> QuestionKind:
    return QuestionKind(
        name=name, group="kasiak", level=name, about=about, source=source, draws=draws, make=make,
        needs=frozenset({"model", *needs}), first=first, later=later,
    )


_ENOUGH = trial_calls(ANSWERABLE)
KINDS: tuple[QuestionKind, ...] = (
    _kind(
        "single_hop", "one relation; tried: one passage of one document is enough", DrawSpec("edge"), make_single_hop,
        first=SINGLE, later=_ENOUGH,
    ),
    _kind(
        "multi_hop", "two relations joined, told in one document; tried: no single passage is enough",
        DrawSpec("path", hops=2),
        make_multi_hop, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "long_hop", "a chain of four relations without a shorter way; tried: no single passage is enough",
        DrawSpec("path", hops=4), make_long_hop, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "thinking", "an answer that follows from the texts, but that no sentence of them says",
        DrawSpec("neighbourhood", most_relations=6), make_thinking, first=THINKING,
        later=(LaterCall(INFERRED, passage_tokens),),
    ),
    _kind(
        "distracting", "carries a true fact that it does not need; tried: without it the answer stays",
        DrawSpec("path", hops=2),
        make_distracting, first=DISTRACTING,
        later=(LaterCall("bench-evidence", passage_tokens, stage=TRUE), *_ENOUGH, *trial_calls(WITHOUT)),
    ),
    _kind(
        "out_of_context", "near the topics, but what it names is in no name, alias or text", DrawSpec("node"),
        make_out_of_context, first=OUTSIDE, later=trial_calls(NEAREST)[:1], needs=("graph", "documents"),
    ),
    _kind(
        "comparing", "two entities of one type, with facts of both in the answer", DrawSpec("pair"), make_comparing,
        first=COMPARING, later=(LaterCall(COMPARED, passage_tokens), *_ENOUGH),
    ),
    _kind(
        "multi_doc", "two relations told in two documents; tried: no single document is enough",
        DrawSpec("path", hops=2, documents=2), make_multi_doc, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "attribution", "who said it, or where: a quote that stands in one document only", DrawSpec("node"),
        make_attribution,
        first=QUOTED, later=tuple(replace(call, certain=False) for call in trial_calls(SPEAKER)),  # not for "in which document"
        needs=("graph", "documents"), source="[K] 5.4.2",
    ),
)
