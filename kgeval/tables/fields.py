"""What users' files call things, in one place: for each kind of file kgeval's fields, the names that tools have for them,
and how a value is read. The first of a field's names that a file has is taken.

`ROWS`: answers and questions (what a tool's own file means by a name stands in shapes/*.toml). `LABELS`, `ANCHORS`, `SHARES`,
`VERDICTS`, `SCORES`, `WRONG_ANSWERS`: tables of judges and people.
`GOLD`, `TRIPLES`, `FACTS`, `DOCUMENTS`: names alone, of what the graph's
readers take in their own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgeval.tables import cells
from kgeval.tables.cells import Misfit

Owner = Literal["question", "answer", "row"]
Aliases = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Field:
    """A field: how a value is read, and its names in files.

    `owner`, `record`: of `ROWS`, whose it is, and what its record calls it. `meaning`: what it is, for messages. `needed`: a file
    without it is refused.
    """

    read: Callable[[Any], Any]
    names: tuple[str, ...] = ()
    owner: Owner = "row"
    record: str | None = None
    meaning: str = ""
    needed: bool = False


Fields = Mapping[str, Field]


def coerced(row: Iterable[tuple[str, Any]], fields: Fields) -> tuple[dict[str, Any], dict[str, Misfit]]:
    """A row, kgeval's names with values, as its fields read it; and for every value that does not fit why."""
    values: dict[str, Any] = {}
    misfits: dict[str, Misfit] = {}
    for name, value in row:
        try:
            values[name] = fields[name].read(value)
        except Misfit as misfit:
            misfits[name] = misfit
    return values, misfits


def columns(names: Iterable[str], aliases: Aliases) -> dict[str, str]:
    """Which of the given names holds which field, {field: name}: the first alias wins, and each name is used once.

    Letter case does not matter, and a blank or a hyphen is an underscore.
    """
    chosen: dict[str, str] = {}
    for name in names:
        chosen.setdefault(name.strip().lower().replace(" ", "_").replace("-", "_"), name)
    matched: dict[str, str] = {}
    for field, known in aliases.items():
        hit = next((chosen[alias] for alias in known if alias in chosen and chosen[alias] not in matched.values()), None)
        if hit is not None:
            matched[field] = hit
    return matched


def _question(read: Callable[[Any], Any], *names: str, record: str | None = None) -> Field:
    return Field(read, names, "question", record)


def _answer(read: Callable[[Any], Any], *names: str) -> Field:
    return Field(read, names, "answer")


# `answer` and `context` are missing here on purpose: they mean two things, and the shapes decide.
ROWS: Fields = {
    "id": Field(cells.name, ("question_id", "id", "qid", "query_id", "_id")),
    "question": _question(cells.text, "question", "question_text", "query"),
    "dataset": _question(cells.text, "dataset"),
    "kind": _question(cells.kinds, "kind", "question_type"),
    "level": _question(cells.text, "level"),
    "hops": _question(cells.whole, "hops"),
    "triples_needed": _question(cells.whole, "triples_needed"),
    "reference": _question(
        cells.texts, "reference", "ground_truth", "gold_answer", "reference_answer", "expected_answer", "gt_answer",
        "expected_output",
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
    "system": Field(cells.name, ("system", "system_name", "model_name")),
    "variant": _answer(cells.text, "variant"),
    "answer": Field(cells.answer_text, (
        "response", "generated_answer", "model_answer", "system_answer", "actual_answer", "pred_answer", "prediction",
        "agent_answer",
    )),
    "contexts": _answer(cells.passages, "contexts", "retrieved_contexts", "retrieved_context", "retrieval_context"),
    "context_ids": Field(cells.names, ("context_ids", "retrieved_context_ids")),
    "context_scores": Field(cells.listed),
    "cypher": _answer(cells.answer_text, "cypher"),
    "retrieved_nodes": _answer(cells.names, "retrieved_nodes"),
    "retrieved_relations": _answer(cells.names, "retrieved_relations"),
    "triples": _answer(cells.triples, "triples"),
    "citations": _answer(cells.citations, "citations"),
    "reasoning": _answer(cells.lines, "reasoning", "reasoning_steps"),
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
    "extra": Field(cells.mapping, ("extra",)),
}
# What only a file of answers has: beside one of these, `answer` is the system's.
OF_ANSWERS = frozenset(
    {"question_id", "question_text", *ROWS["reference"].names}.union(*(
        ROWS[name].names for name in (
            "system", "contexts", "context_ids", "retrieved_nodes", "retrieved_relations", "citations", "latency_s", "ttft_s",
            "input_tokens", "output_tokens", "calls", "trial", "signature",
        )
    ))
)

# What pairs the rows of two files of judges, people or scores. A question's own text is the last resort.
QUESTION_ID = Field(cells.name, (
    "question_id", "item_id", "qid", "query_id", "prompt_id", "instruction_id", "example_id", "id", "question", "instruction",
    "prompt",
), meaning="which question")
SYSTEM_A, SYSTEM_B = (Field(cells.name, names, meaning="the name of a system") for names in (
    ("system_a", "left", "model_a", "model_1", "a_model", "answer_1_name", "generator_1"),
    ("system_b", "right", "model_b", "model_2", "b_model", "answer_2_name", "generator_2"),
))
DATASET, LEVEL = (Field(cells.text, (name,)) for name in ("dataset", "level"))
# Who won is read when all values of a file are known (winners.coding_of), so these values are left as they are.
LABELS: Fields = {
    "question_id": replace(QUESTION_ID, needed=True), "system_a": SYSTEM_A, "system_b": SYSTEM_B,
    "label": Field(
        cells.unread, ("label", "winner", "choice", "human", "preference"), needed=True,
        meaning="which answer is better: a, b, tie, or -1..1",
    ),
    "annotator": Field(cells.name, ("annotator", "judge_id", "rater", "evaluator")),
    "aspect": Field(cells.text, ("aspect", "criterion", "metric")),
}
ANCHORS: Fields = {
    "id": Field(cells.name, ("id", "question_id", "anchor_id", "item_id"), meaning="the pair's name"),
    "question": Field(cells.text, ("question", "question_text", "query", "prompt"), meaning="the question", needed=True),
    "answer_a": Field(cells.text, ("answer_a", "response_a", "answer_1"), meaning="one answer", needed=True),
    "answer_b": Field(cells.text, ("answer_b", "response_b", "answer_2"), meaning="the other answer", needed=True),
    "label": Field(
        cells.unread, ("label", "winner", "human", "gold"), needed=True,
        meaning="which one people hold for better: a, b or tie",
    ),
    "aspects": Field(cells.mapping, ("aspects",)), "dataset": DATASET, "level": LEVEL,
}
SHARES: Fields = {
    "judge": Field(
        cells.share, ("judge", "judge_label", "judge_passed", "prediction"), needed=True,
        meaning="the judge's verdict, 0 to 1, on every row",
    ),
    "human": Field(
        cells.share, ("human", "human_label", "human_passed", "gold", "people"), needed=True,
        meaning="the person's label, 0 to 1, empty where there is none",
    ),
    "cluster": Field(cells.name, ("cluster", "question_id", "document")),
}
VERDICTS: Fields = {
    "question_id": QUESTION_ID, "system_a": SYSTEM_A, "system_b": SYSTEM_B,
    "winner": Field(
        cells.unread, ("winner", "choice", "preference", "preferred", "label"), meaning="who won, or score_a and score_b",
    ),
    "score_a": Field(cells.signed, ("score_a", "points_a")), "score_b": Field(cells.signed, ("score_b", "points_b")),
    "first": Field(cells.name, ("first",)), "swapped": Field(cells.flag, ("swapped",)),
    "aspect": Field(cells.text, ("aspect", "criterion", "criteria")),  # benchmark-qed writes criteria
    "trial": Field(cells.counted, ("trial", "sample_index", "epoch")), "repeat": Field(cells.counted, ("repeat",)),
    "turn": Field(cells.counted, ("turn",)),
    "length_a": Field(cells.counted, ("length_a", "a_len", "words_a", "len_a")),
    "length_b": Field(cells.counted, ("length_b", "b_len", "words_b", "len_b")),
    "procedure": Field(cells.text, ("procedure",)), "failure": Field(cells.text_unless_false, ("failure", "error")),
    "dataset": DATASET, "level": LEVEL, "aligned": Field(cells.flag, ("aligned",)), "document": Field(cells.text, ("document",)),
    "unanswered": Field(cells.text, ("unanswered",), meaning="who gave no answer: a, b or both"),
}
SCORES: Fields = {
    "question_id": replace(QUESTION_ID, meaning="what pairs the scores of two systems"),
    "system": Field(cells.name, ("system", "system_name", "model", "model_name", "candidate_model", "generator")),
    "score": Field(
        cells.signed, ("score", "value", "label", "passed", "correct", "rating"),
        meaning="the value, or a column of numbers for each system",
    ),
    "metric": Field(cells.text, ("metric", "criterion", "criteria", "aspect")),
    "trial": Field(cells.counted, ("trial", "sample_index", "repeat", "epoch", "turn")),
    "status": Field(cells.text, ("status",)), "reason": Field(cells.text, ("reason",)), "dataset": DATASET, "level": LEVEL,
    "low": Field(cells.signed, ("scale_min",)), "high": Field(cells.signed, ("scale_max",)),
}
WRONG_ANSWERS: Fields = {
    "question_id": ROWS["id"], "question": Field(cells.text, ("question", "question_text", "user_input", "query")),
    "answer": Field(
        cells.texts, ("wrong_answer", "wrong_answers", "wrong", "incorrect_answer", "incorrect_answers", "answer", "response"), needed=True,
        meaning="a wrong answer, or a list of them",
    ),
}
GOLD: Aliases = {
    "name": ("name", "entity", "entity_name"), "type": ("type", "entity_type", "label", "category"),
    "aliases": ("aliases", "alias", "synonyms"),
}
FACTS = ("fact", "sentence", "statement", "text")
TRIPLES: Aliases = {
    "subject": (
        "subject", "head", "source", "subj", "from", "start", "head_entity", "source_entity", "subject_name", "entity1", "s",
    ),
    "predicate": ("predicate", "relation", "relationship", "label", "rel", "relation_type", "edge", "property", "type", "p"),
    "object": (
        "object", "tail", "target", "obj", "to", "end", "tail_entity", "target_entity", "object_name", "entity2", "o",
    ),
    "subject_type": ("subject_type", "head_type", "source_type", "subject_label", "head_label", "source_label"),
    "object_type": ("object_type", "tail_type", "target_type", "object_label", "tail_label", "target_label"),
    "description": ("description", "desc", "fact"),
    "weight": ("weight", "strength", "score"),
    "chunk_id": ("chunk_id", "chunk_ids", "chunk", "text_unit_id", "text_unit_ids", "passage_id", "source_id"),
    "chunk_text": ("chunk_text", "text", "passage", "context", "sentence"),
    "chunk_index": ("chunk_index", "chunk_order_index", "position"),
    "document": ("document", "document_id", "doc_id", "doc", "file", "file_path", "filename"),
    "document_title": ("document_title", "doc_title"),
}
DOCUMENTS: Aliases = {
    "id": (
        "id", "doc_id", "document_id", "_id", "docid", "corpus_name", "name", "file_path", "file_name", "filename", "url",
    ),
    "title": ("title", "document_title", "doc_title", "heading"),
    "text": ("text", "content", "context", "contents", "body", "page_content"),
}
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
