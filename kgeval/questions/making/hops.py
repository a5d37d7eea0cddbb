"""Hop questions [M]: one, two or three relations from a named entity to the answer, each proved by the database.

With `MakingOptions.template` no model is asked; else a model says the path as one natural question, which is then
checked. """

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from kgeval.graph.connect import Graph
from kgeval.graph.failures import QueryTimeout
from kgeval.llm.calls import Reply
from kgeval.questions.drafts import (
    check,
    common_id,
    entities_shown,
    leaks,
    names_in,
    passages_shown,
    question_text,
    triples_shown,
)
from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.graph_facts import facts_of
from kgeval.questions.kinds import MakingContext, MakingOptions, Need, QuestionKind, RejectedError
from kgeval.questions.making.answer_cypher import TIMEOUT, answers, path_query
from kgeval.questions.making.hop_evidence import HopEvidence, hop_evidence
from kgeval.questions.making.name_faults import check_name
from kgeval.questions.making.predicate_phrases import content_words, noun_of_type, tells_place
from kgeval.questions.making.templates import Step, called, worded
from kgeval.questions.proof import PathProof, has_direction, prove, squeezed
from kgeval.records import GoldPath, Layout, Question, QuestionCheck, Structure
from kgeval.text.predicates import is_placeholder, is_predicate
from kgeval.text.signs import identity_key

LEVEL = "path"
NEEDS: frozenset[Need] = frozenset(("model", "graph"))
PROMPT = "hop-question"
SHOWN_TOKENS = 6_000  # of passages


class HopReply(Reply):
    """The question that a model made of a path."""

    question: str


def make(context: MakingContext) -> Question:
    """The question of one path.

    Raises: RejectedError: unusable_name, cycle, no_predicate, vague, not_worded, no_evidence, one_passage, ambiguous,
    shortcut, not_proved, query_timeout, declined, start_not_named, leak; UnansweredError; QueryError, ConnectionLost.
    """
    graph, layout = context.database()
    path, options = context.structure, context.options
    try:
        _check_askable(path, layout, options)
        evidence = hop_evidence(path)
        if evidence.missing and facts_of(graph, layout).has_chunks():
            raise RejectedError("no_evidence", f"no passage says: {evidence.missing[0]}")
        shared = common_id(evidence.groups) if options.several_passages and len(path.relations) > 1 else None
        if shared is not None:
            raise RejectedError("one_passage", f"chunk {shared} says all relations of the path")
        proof = context.proof if isinstance(context.proof, PathProof) else prove(graph, layout, [path], timeout=TIMEOUT)[0]
        _check_proof(path, proof)
        cypher = _proved_cypher(graph, layout, path)
    except QueryTimeout as slow:
        raise RejectedError("query_timeout", f"the database did not prove it in {TIMEOUT:g} s") from slow
    text = _templated(path, proof) if options.template else _asked(context, proof, evidence)
    named = {node.element_id for node in names_in(text, path.nodes)}
    if path.nodes[0].element_id not in named:
        raise RejectedError("start_not_named", f"the question does not name '{path.nodes[0].name}'")
    if leaked := [node.name for node in path.nodes[1:] if node.element_id in named]:
        raise RejectedError("leak", f"the question names '{leaked[-1]}'")
    end, steps = path.nodes[-1], [path.text_of(relation) for relation in path.relations]
    return Question(
        id="", question=text, level=LEVEL, hops=len(path.relations), triples_needed=len(path.relations),
        reference=end.name,
        references=[alias for alias in dict.fromkeys(end.aliases) if identity_key(alias) and alias != end.name],
        evidence=[passage.model_copy(update={"score": None}) for passage in evidence.passages],
        evidence_ids=[list(group) for group in evidence.groups], cypher=cypher, steps=steps,
        path=GoldPath(
            nodes=[node.ref for node in path.nodes], relations=[path.ref_of(r) for r in path.relations], text=steps,
        ),
        document=evidence.last.document if evidence.last else None, checks=_checks(path, proof, layout),
    )


def prove_many(context: MakingContext, paths: Sequence[Structure]) -> dict[int, PathProof]:
    """The proofs of those paths that can be asked about, by their numbers, in a few queries. Where the database does
    not prove them all in time there is none: `make` then proves each by itself.

    Raises: QueryError, ConnectionLost.
    """
    graph, layout = context.database()
    askable = []
    for path in paths:
        try:
            _check_askable(path, layout, context.options)
        except RejectedError:
            continue
        askable.append(path)
    try:
        proofs = prove(graph, layout, askable, timeout=TIMEOUT)
    except QueryTimeout:
        return {}
    return {path.number: proof for path, proof in zip(askable, proofs, strict=True)}


def steps_of(path: Structure, proof: PathProof | None = None) -> list[Step]:
    """The hops of a path as the templates word them."""
    steps: list[Step] = []
    for index, relation in enumerate(path.relations):
        forward = relation.source == path.nodes[index].element_id
        back = bool(steps) and steps[-1].forward != forward and squeezed(steps[-1].predicate) == squeezed(relation.predicate)
        single = proof is None or proof.reached[index] == 1
        steps.append(Step(relation.predicate, forward, path.nodes[index + 1].type, single, back))
    return steps


def _check_askable(path: Structure, layout: Layout, options: MakingOptions) -> None:
    """The names can be asked about, and each relation says something: by its predicate, or, where a model words it, by
    its description or its passages. Raises: RejectedError."""
    for node in path.nodes:
        check_name(node.name)
    if len({identity_key(node.name) for node in path.nodes}) < len(path.nodes):
        raise RejectedError("cycle", "two entities of the path have the same name")
    start, end = path.nodes[0], path.nodes[-1]
    if leaks(end.name, [start.name]) or leaks(start.name, [end.name, *end.aliases]):
        raise RejectedError("leak", f"the names '{start.name}' and '{end.name}' hold one another")
    for relation in path.relations:
        # "Who related CAB?" and "Start at X, follow backward" passed as questions while any label was taken for a predicate
        if is_predicate(relation.predicate, layout):
            if not (
                content_words(relation.predicate) or tells_place(relation.predicate, path.node(relation.target).type)
            ):
                raise RejectedError("vague", f"nobody can tell what the relation '{relation.predicate[:80]}' asks for")
            continue
        placeholder = is_placeholder(relation.predicate, layout)
        why = "says only that there is a relation" if placeholder else "is no predicate but a list of keywords"
        if options.template:
            raise RejectedError(
                "no_predicate",
                f"'{relation.predicate[:80]}' {why}: a model can word it from descriptions and passages",
            )
        if not relation.description and not hop_evidence(path.model_copy(update={"relations": [relation]})).passages:
            raise RejectedError(
                "no_predicate",
                f"'{relation.predicate[:80]}' {why}, and neither a description nor a passage says how its ends are joined",
            )
    if options.template:
        _templated(path)


def _check_proof(path: Structure, proof: PathProof) -> None:
    end = path.nodes[-1]
    if not proof.followed:
        raise RejectedError("ambiguous", "a hop leads to more entities than are followed")
    if not proof.unique(end.name):
        others = sorted(name for name in proof.ends.values() if identity_key(name) != identity_key(end.name))
        raise RejectedError(
            "ambiguous", f"also '{others[0]}' is reached" if others else "the path is not in the graph any more",
        )
    if proof.shortcut is not None:
        raise RejectedError("shortcut", f"start and end are joined by a way of {proof.shortcut} relations")


def _proved_cypher(graph: Graph, layout: Layout, path: Structure) -> str:
    """The Cypher of the answer, run: it returns the end and nothing else."""
    try:
        cypher = path_query(layout, path, [path.nodes[0].name])
    except ValueError as cause:
        raise RejectedError("unusable_name", str(cause)) from None
    # run once more, as people will: the proof above asks the graph in another way
    names = {identity_key(name) for name in answers(graph, cypher)}
    if names != {identity_key(path.nodes[-1].name)}:
        raise RejectedError("not_proved", f"the question's Cypher returns {len(names)} answers")
    return cypher


def _templated(path: Structure, proof: PathProof | None = None) -> str:
    """The path in a template's words. Raises: RejectedError("not_worded")."""
    return worded(called(path.nodes[0].name, path.passages), steps_of(path, proof), path.nodes[0].type)


def _asked(context: MakingContext, proof: PathProof, evidence: HopEvidence) -> str:
    """The path in a model's words, from its relations, descriptions and passages. It is shown a template's words to
    better, where a template has any."""
    path, layout, draft = context.structure, context.layout, ""
    if all(is_predicate(r.predicate, layout) for r in path.relations):
        try:
            draft = _templated(path, proof)
        except RejectedError:
            draft = ""
    slots: dict[str, JsonValue] = {
        "start": path.nodes[0].name,
        "facts": triples_shown(path, layout=layout),
        "entities": entities_shown(path.nodes),
        "passages": passages_shown(evidence.passages, SHOWN_TOKENS)[0],
        "hidden": [node.name for node in path.nodes[1:]],
        "asked_for": noun_of_type(path.nodes[-1].type) or "entity",
        "draft": draft,
    }
    return question_text(context.ask(PROMPT, slots, HopReply).question)


def _checks(path: Structure, proof: PathProof, layout: Layout) -> list[QuestionCheck]:
    counts = " then ".join(str(count) for count in proof.reached)
    either = "" if all(has_direction(layout, r.predicate) for r in path.relations) else " in either direction"
    checks = [check(
        "unique", True,
        f"entities of this name: {len(proof.starts)}; the hops lead{either} to {counts} entities, at the end to one name alone",
    )]
    if len(path.relations) > 1:
        checks.append(
            check("no_shortcut", True, f"no way of fewer than {len(path.relations)} relations joins start and end"),
        )
    return [*checks, check("leak", True, "the question names neither the answer nor an entity on the way")]


KINDS: tuple[QuestionKind, ...] = tuple(
    QuestionKind(
        name=f"hop_{hops}", group="hops", level=LEVEL, source="[M] 5, single-hop and multi-hop",
        draws=DrawSpec("path", hops=hops),
        about=f"{hops} relation{'s' * (hops > 1)} from a named entity to the answer; the only answer, and no shorter way",
        make=make, needs=NEEDS, first=PROMPT, template=True, prove=prove_many,
    )
    for hops in (1, 2, 3)
)
