"""The fields of a row by kgeval's names, what each needs, and the names that other files use for it without doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kgeval.files import cells

Owner = Literal["question", "answer", "row"]


@dataclass(frozen=True)
class Field:
    """A field: whose it is, how a value is read, and further names of it (the first that a row has is taken)."""

    owner: Owner
    read: Callable[[Any], Any]
    names: tuple[str, ...] = ()
    record: str | None = None


def _question(read: Callable[[Any], Any], *names: str, record: str | None = None) -> Field:
    return Field("question", read, names, record)


def _answer(read: Callable[[Any], Any], *names: str) -> Field:
    return Field("answer", read, names)


# `answer` and `context` are missing here on purpose: they mean two things, and shapes/__init__.py decides.
FIELDS: Mapping[str, Field] = {
    "id": Field("row", cells.name, ("question_id", "id", "qid", "query_id", "_id")),
    "question": _question(cells.text, "question", "question_text", "query"),
    "dataset": _question(cells.text, "dataset"),
    "kind": _question(cells.kinds, "kind", "question_type"),
    "level": _question(cells.text, "level"),
    "hops": _question(cells.whole, "hops"),
    "triples_needed": _question(cells.whole, "triples_needed"),
    "reference": _question(
        cells.texts, "reference", "ground_truth", "gold_answer", "reference_answer", "expected_answer", "gt_answer", "expected_output",
    ),
    "references": _question(cells.texts, "references", "reference_answers"),
    "points": _question(cells.texts, "points"),
    "statements": _question(cells.texts, "statements", "gold_statements"),
    "evidence": _question(cells.passages, "evidence", "reference_contexts"),
    "evidence_ids": _question(cells.id_groups, "evidence_ids", "reference_context_ids"),
    "path": _question(cells.path, "path"),
    "steps": _question(cells.texts, "steps"),
    "gold_cypher": _question(cells.text, "gold_cypher", record="cypher"),
    "document": _question(cells.name, "document"),
    "structure": _question(cells.refs, "structure"),
    "made_by": _question(cells.mapping, "made_by"),
    "checks": _question(cells.listed),
    "system": Field("row", cells.name, ("system", "system_name", "model_name")),
    "variant": _answer(cells.text, "variant"),
    "answer": Field("row", cells.answer_text, (
        "response", "generated_answer", "model_answer", "system_answer", "actual_answer", "pred_answer", "prediction", "agent_answer",
    )),
    "contexts": _answer(cells.passages, "contexts", "retrieved_contexts", "retrieved_context", "retrieval_context"),
    "context_ids": Field("row", cells.names, ("context_ids", "retrieved_context_ids")),
    "context_scores": Field("row", cells.listed, ()),
    "cypher": _answer(cells.answer_text, "cypher"),
    "retrieved_nodes": _answer(cells.names, "retrieved_nodes"),
    "retrieved_relations": _answer(cells.names, "retrieved_relations"),
    "triples": _answer(cells.triples, "triples"),
    "citations": _answer(cells.citations, "citations"),
    "aligned_to": _answer(cells.mapping, "aligned_to"),
    "latency_s": _answer(cells.number, "latency_s"),
    "ttft_s": _answer(cells.number, "ttft_s"),
    "stages": _answer(cells.mapping, "stages"),
    "input_tokens": _answer(cells.whole, "input_tokens", "prompt_tokens"),
    "output_tokens": _answer(cells.whole, "output_tokens", "completion_tokens"),
    "calls": _answer(cells.whole, "calls", "llm_calls"),
    "cost": _answer(cells.number, "cost"),
    "model": _answer(cells.text, "model"),
    "trial": _answer(cells.whole, "trial"),
    "error": _answer(cells.text, "error"),
    "signature": _answer(cells.text, "signature"),
    "extra": Field("row", cells.mapping, ("extra",)),
}
# What only a file of answers has: beside one of these, `answer` is the system's.
OF_ANSWERS = frozenset(
    {"question_id", "question_text", *FIELDS["reference"].names}.union(*(
        FIELDS[name].names for name in (
            "system", "contexts", "context_ids", "retrieved_nodes", "retrieved_relations", "citations", "latency_s", "ttft_s",
            "input_tokens", "output_tokens", "calls", "trial", "signature",
        )
    ))
)
LEVELS = frozenset({
    "fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation", "node", "edge", "path", "subgraph",
    "single_hop", "multi_hop", "long_hop", "thinking", "distracting", "out_of_context", "comparing", "multi_doc", "negative",
})
OTHER_LEVELS = {
    "type1": "fact_retrieval", "type2": "complex_reasoning", "type3": "contextual_summarize", "type4": "creative_generation",
    "contextual_summarization": "contextual_summarize",
}


def level_of(kind: str) -> str | None:
    """kgeval's name for a type of question, where it is one of the known ones, however it is written."""
    word = "_".join(kind.strip().lower().replace("-", " ").replace("_", " ").split())
    return word if word in LEVELS else OTHER_LEVELS.get(word)
