"""What only the stored graph can tell: grounding of claims in its triples, Cypher, expired facts; and the steps of a chain."""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.facts import ItemVerdicts, Label
from kgeval.metrics.judge.context import answer_text
from kgeval.metrics.shares import NO_CLAIM, against_contexts, says_nothing, share, zero_for_empty
from kgeval.metrics.stored.steps import step_kinds, step_texts

NOT_ASKED = Failure("cancelled", "the stored graph was not asked")
SUPPORTED: Label = "supported"
CONTRADICTED: Label = "contradicted"
NOT_STATED: Label = "not_stated"


def kg_grounding(subject: Subject) -> MetricValue:
    """Claims of the answer that go back to triples of the stored graph / claims. `support`: claim -> element ids of its triples."""
    if not answer_text(subject.row):
        return says_nothing(subject)
    grounded = subject.facts.grounded
    if grounded is None:
        return unscored(NOT_ASKED)
    checked = grounded.checked
    counts: dict[str, JsonValue] = {
        "claims": len(checked.items), "grounded": checked.count(SUPPORTED), "contradicted": checked.count(CONTRADICTED),
        "not_stated": checked.count(NOT_STATED),
    }
    if failure := checked.unscored:
        return unscored(failure, **counts)
    if not checked.items:
        return says_nothing(subject)
    support = {
        item.number: [grounded.element_ids[number - 1] for number in item.sources if number <= len(grounded.element_ids)]
        for item in checked.items if item.label == SUPPORTED
    }
    related = sum(any(element_id in grounded.relations for element_id in ids) for ids in support.values())
    return scored(
        len(support) / len(checked.items), **counts, by_relations=related / len(checked.items),
        support={str(number): list[JsonValue](ids) for number, ids in support.items()},
    )


def cypher_valid(subject: Subject) -> MetricValue:
    """1 if the server plans the answer's Cypher as a read and runs it within the time limit, else 0, with the server's reason."""
    ran = subject.facts.cypher
    if ran is None:
        return unscored(NOT_ASKED)
    if ran.failure is not None:
        return unscored(ran.failure)
    return scored(1.0) if ran.valid else scored(0.0, error=ran.error)


def cypher_execution_match(subject: Subject) -> MetricValue:
    """1 if the answer's Cypher gives what the gold Cypher gives, else 0. Cypher that is not valid gives nothing: 0."""
    ran = subject.facts.cypher
    if ran is None:
        return unscored(NOT_ASKED)
    if failure := ran.failure or ran.gold_failure:
        return unscored(failure, valid=ran.valid)
    if ran.matches is None:
        return unscored(NOT_ASKED)
    detail: dict[str, JsonValue] = {"valid": ran.valid, "gold_rows": ran.gold_rows}
    if ran.rows is not None:
        detail["rows"] = ran.rows
    if ran.error is not None:
        detail["error"] = ran.error
    if ran.extra_columns:
        detail["extra_columns"] = list[JsonValue](ran.extra_columns)
    return scored(float(ran.matches), **detail)


def stale_context_share(subject: Subject) -> MetricValue:
    """Retrieved things that the graph marks as expired / retrieved things that it knows and that can expire. Lower is better."""
    expired = subject.facts.expired
    if expired is None:
        return unscored(NOT_ASKED)
    if expired.failure is not None:
        return unscored(expired.failure, retrieved=expired.retrieved)
    if not expired.retrieved:
        return not_applicable("nothing was retrieved")
    if not expired.known:
        return not_applicable(expired.nothing or "the graph knows none of them that could expire", retrieved=expired.retrieved)
    return scored(
        expired.expired / expired.known, retrieved=expired.retrieved, known=expired.known, expired=expired.expired,
        element_ids=list[JsonValue](expired.element_ids[:20]),
    )


def stepwise_accuracy(subject: Subject) -> MetricValue:
    """Right steps of the gold chain / its steps. A step is right if the answer states it, or leaves it unsaid, does not contradict
    it, and the retrieved contexts hold it: then the conclusion follows from what the system had before it [M 5].

    `steps`: each step's three checks, its relation type, and whether it is right; `in_graph`: steps that the stored graph holds,
    where it was asked. That does not change the value: it tells about the graph, not about the answer.
    """
    texts = step_texts(subject.row.question)
    if not answer_text(subject.row):
        return scored(0.0, steps_total=len(texts), empty_answer=True, steps=list[JsonValue](_described(subject, {})))
    checks = {source: subject.facts.checks.get(f"steps@{source}", ItemVerdicts(failure=NOT_ASKED)) for source in ("answer", "contexts")}
    # a step that the answer states or contradicts needs no word of the contexts
    open_ = {item.number for item in checks["answer"].items if item.label == NOT_STATED}
    held = checks["contexts"]
    needed = ItemVerdicts(tuple(item for item in held.items if item.number in open_), held.failure)
    failure = checks["answer"].unscored or needed.unscored
    if failure is not None or any(len(checked.items) != len(texts) for checked in checks.values()):
        return unscored(failure or NOT_ASKED, steps_total=len(texts), **{f"judged_{name}": c.judged for name, c in checks.items()})
    steps = _described(subject, checks)
    right = sum(bool(step["right"]) for step in steps)
    counts: dict[str, JsonValue] = {
        "steps_total": len(texts), "right": right, "stated": checks["answer"].count(SUPPORTED),
        "contradicted": checks["answer"].count(CONTRADICTED), "in_contexts": checks["contexts"].count(SUPPORTED),
    }
    stored = subject.facts.checks.get("steps@graph")
    if stored is not None and stored.unscored is None:
        counts["in_graph"] = stored.count(SUPPORTED)
    return scored(right / len(texts), **counts, steps=list[JsonValue](steps))


def stepwise_reasoning(subject: Subject) -> MetricValue:
    """Steps of the gold chain that the system's own reasoning, or the answer that it ends in, states / steps. What its contexts hold does
    not count: `stepwise_accuracy` gives a step for retrieving it, this one for taking it."""
    if not answer_text(subject.row):
        return zero_for_empty()
    checked = subject.facts.checks["steps@reasoning"]
    value = share(checked, SUPPORTED, what="steps_total", none=not_applicable("no steps are given"))
    kinds = step_kinds(subject.row.question)
    steps: list[dict[str, JsonValue]] = [
        {"position": item.number, "relation": kind, "reasoning": item.label, "right": item.label == SUPPORTED}
        for item, kind in zip(checked.items, kinds, strict=False)
    ]
    return replace(value, detail={**value.detail, "steps": list[JsonValue](steps)}) if value.status == "scored" else value


def reasoning_support(subject: Subject) -> MetricValue:
    """Steps of the system's own reasoning that its contexts support / its steps: does each conclusion follow from what was retrieved?"""
    return against_contexts(subject, "reasoning@contexts", SUPPORTED, what="reasoning_steps", none=not_applicable(NO_CLAIM))


def _described(subject: Subject, checks: dict[str, ItemVerdicts]) -> list[dict[str, JsonValue]]:
    """Each step with its position, its relation type and its checks. An empty answer has no right step."""
    stored = subject.facts.checks.get("steps@graph")
    steps: list[dict[str, JsonValue]] = []
    for at, kind in enumerate(step_kinds(subject.row.question)):
        step: dict[str, JsonValue] = {"position": at + 1, "relation": kind}
        labels = {source: checked.items[at].label for source, checked in checks.items()}
        if stored is not None and at < len(stored.items):
            step["graph"] = stored.items[at].label
        step |= labels
        step["right"] = labels.get("answer") == SUPPORTED or (
            labels.get("answer") == NOT_STATED and labels.get("contexts") == SUPPORTED
        )
        steps.append(step)
    return steps


METRICS: tuple[Metric, ...] = (
    Metric(
        "kg_grounding", "grounding", "claims traceable to triples of the stored graph",
        "claims of the answer that a triple of the stored graph supports, alone or with others, / claims. Candidates: relations "
        "between entities that the claim names, then what is said of these entities and their other relations; a judge says which "
        "triples support the claim. A claim that names nothing with a triple in the graph is not grounded, and nobody is asked.",
        "[M 4] KG grounding rate", kg_grounding, asks=("claims:answer", "grounding"), tools=("judge", "graph"),
        calls="2 (3 where many triples are near)", aspects=("by_relations",),
    ),
    Metric(
        "stepwise_accuracy", "reasoning", "steps of the gold chain that the answer takes, or that follow from its contexts",
        "right steps / steps of the gold chain. A step is right if the answer states it, or if the answer does not contradict it and the "
        "retrieved contexts state it. Beside it: which steps the stored graph holds.",
        "[M 5] stepwise accuracy", stepwise_accuracy, needs=("steps", "contexts"), asks=("steps@answer", "steps@contexts", "steps@graph"),
        tools=("judge",), calls="2",
    ),
    Metric(
        "stepwise_reasoning", "reasoning", "steps of the gold chain that the system's own reasoning takes",
        "steps of the gold chain that the reasoning, or the answer that it ends in, states / steps. What the contexts hold does not count. "
        "An empty answer is 0.",
        "[M 5] chain of reasoning, process-oriented", stepwise_reasoning, needs=("steps", "reasoning"), asks=("steps@reasoning",),
        tools=("judge",), calls="1",
    ),
    Metric(
        "reasoning_support", "reasoning", "steps of the system's own reasoning that follow from its contexts",
        "steps of the reasoning that the retrieved contexts support / its steps; nothing retrieved: 0. A reasoning in one text is cut "
        "into sentences.",
        "[M 5] does the intermediate conclusion follow from the retrieved evidence", reasoning_support, needs=("reasoning", "contexts"),
        asks=("reasoning@contexts",), tools=("judge",), calls="1",
    ),
    Metric(
        "cypher_valid", "retrieval", "the answer's Cypher runs as a read",
        "1 if the server plans the answer's Cypher as a read and runs it in a READ transaction within query_timeout seconds, without an "
        "error; else 0, with the reason in detail. Cypher that would write or that loads files is 0 and is not run.",
        "ours", cypher_valid, needs=("cypher",), asks=("cypher",), tools=("graph",),
    ),
    Metric(
        "cypher_execution_match", "retrieval", "the answer's Cypher gives the result of the gold Cypher",
        "1 if the gold columns are found among the result's columns, whatever their names and order, so that all rows agree as often as "
        "they come; else 0. Rows and the items of lists count in any order unless `ordered` is set; with it, rows count in their order "
        "where the gold Cypher ends with ORDER BY. Numbers to 1e-8; nodes and relations by element id; null equals null.",
        "execution accuracy, as in text-to-query benchmarks", cypher_execution_match, needs=("cypher", "gold_cypher"),
        asks=("cypher", "cypher:match"), tools=("graph",),
    ),
    Metric(
        "stale_context_share", "retrieval", "retrieved facts that the stored graph marks as expired",
        "retrieved relations, and nodes with a property of time, that the graph marks as expired or whose validity has ended / those "
        "that the graph knows. Things are found by element id, key, name, A -[TYPE]-> B, or the words of a fact.",
        "ours", stale_context_share, needs=("retrieved",), asks=("expired",), tools=("graph",), better="lower",
    ),
)
