"""Own records, which come back; and of fields with two meanings: what is refused, with the map that says which is meant; and maps."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_answer_shapes import only, opened, question, saved

from kgeval.errors import InputError, UsageError
from kgeval.records import Question
from kgeval.tables.rows import read_questions


def test_kgevals_own_records_come_back_as_they_were_written(tmp_path: Path) -> None:
    full = {
        "question_id": "1", "system": "s", "variant": "v", "answer": "A", "cypher": "RETURN 1", "contexts": [
            {"text": "t", "chunk_id": "c", "document": "d", "score": -1.5}], "retrieved_nodes": ["4:a:1"], "retrieved_relations": [],
        "triples": [{"subject": "a", "predicate": "p", "object": "b"}], "citations": [{"claim": None, "chunk_id": "c", "document": None}],
        "aligned_to": {"system": "t", "target_words": 5, "attempt": 1, "forced": True}, "latency_s": 1.0, "ttft_s": 0.5,
        "stages": {"retrieval": 0.25}, "input_tokens": 5, "output_tokens": 6, "calls": 2, "cost": 0.001, "trial": 3, "signature": "x",
        "extra": {"mine": [1, {"a": None}]},
    }
    asked = {
        "id": "1", "question": "Q", "dataset": "d", "kind": ["k1", "k2"], "level": "path", "hops": 2, "triples_needed": 1, "reference": "R",
        "references": ["R2"], "points": ["p"], "statements": ["s"], "evidence": [{"text": "e", "chunk_id": "c"}],
        "evidence_ids": [["c", "d"]],
        "path": {"nodes": [{"key": "a", "name": "a", "kind": "entity"}], "relations": [], "text": ["a to b"]}, "steps": ["s1"],
        "cypher": "MATCH (n) RETURN n", "document": "doc", "structure": [{"key": "a", "name": "a", "kind": "entity"}],
        "made_by": {"seed": 1, "model": "m"}, "extra": {"more": 1.5},
    }
    row = only(tmp_path / "a.jsonl", [full], questions=saved(tmp_path / "q.jsonl", [asked]))
    assert row.answer.model_dump(exclude_unset=True, exclude_defaults=True) == {
        **{name: value for name, value in full.items() if name not in ("citations",)}, "citations": [{"chunk_id": "c"}],
    }
    assert row.question == Question.model_validate(asked)


def test_an_answer_with_two_meanings_is_refused_with_the_map_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'answer' may be the system's answer") as refused:
        opened(tmp_path / "plain.json", [{"id": 1, "question": "Q", "answer": "A"}])
    assert "--map answer=answer" in refused.value.fix
    assert "--map reference=answer" in refused.value.fix
    row = only(tmp_path / "plain.json", [{"id": 1, "question": "Q", "answer": "A"}], maps={"answer": "answer"})
    assert row.answer.answer == "A"
    both = [{"id": 1, "question": "Q", "answer": "G", "output": "A"}]
    row = only(tmp_path / "gold.json", both, maps={"reference": "answer", "answer": "output"})
    assert (row.question.reference, row.answer.answer) == ("G", "A")
    assert question(tmp_path / "plain.json", [{"id": 1, "question": "Q", "answer": "A"}]).reference == "A"


def test_in_a_file_of_questions_answer_is_the_right_one_unless_the_file_looks_like_answers(tmp_path: Path) -> None:
    asked = {"question_id": "1", "question_text": "Q", "answer": "R"}
    assert question(tmp_path / "reference_condition.json", [asked]).reference == "R"
    assert question(tmp_path / "q.json", [{"question_id": "1", "question": "Q", "answer": "A", "ground_truth": "G"}]).reference == "G"
    with pytest.raises(InputError, match="looks like a system's answers") as refused:
        question(tmp_path / "answers.json", [{**asked, "latency_s": 2}])
    assert "--map reference=answer" in refused.value.fix
    saved(tmp_path / "answers.json", [{**asked, "latency_s": 2}])
    assert [q.reference for q in read_questions(tmp_path / "answers.json", {"extra": "answer"})] == [None]


def test_a_context_with_two_meanings_is_refused_with_the_map_to_give(tmp_path: Path) -> None:
    value = [{"question_id": 1, "question": "Q", "answer": "A", "context": ["c"]}]
    with pytest.raises(InputError, match="'context' may be") as refused:
        opened(tmp_path / "x.json", value)
    assert "--map contexts=context or --map evidence=context" in refused.value.fix
    assert only(tmp_path / "x.json", value, maps={"evidence": "context"}).question.evidence_texts == ("c",)
    assert only(tmp_path / "x.json", value, maps={"contexts": "context"}).answer.context_texts == ("c",)
    assert only(tmp_path / "x.json", value, maps={"extra": "context"}).answer.extra == {"context": ["c"]}


def test_two_answers_in_a_row_are_refused_where_none_is_surely_the_right_one(tmp_path: Path) -> None:
    value = [{"id": 1, "question": "Q", "response": "A", "answer": "?"}]
    with pytest.raises(InputError, match="it has 'response' and 'answer'"):
        opened(tmp_path / "x.json", value)
    assert only(tmp_path / "x.json", value, maps={"reference": "answer"}).question.reference == "?"


def test_a_file_that_fits_two_tools_which_differ_is_refused(tmp_path: Path) -> None:
    value = [{"question_id": 1, "question": "Q", "answer": "?", "generated_answer": "A"}]
    with pytest.raises(InputError, match=r"fit GraphRAG-Bench results .* and kgeval answers") as refused:
        opened(tmp_path / "x.json", value)
    assert "--map reference=answer" in refused.value.fix


def test_maps_take_dotted_paths_and_unknown_ones_are_named(tmp_path: Path) -> None:
    value = [{"id": 1, "question": "Q", "reply": {"text": "A"}, "docs": [{"body": {"t": "c1"}}, {"body": {"t": "c2"}}], "meta": {"n": 2}}]
    row = only(tmp_path / "x.json", value, maps={"answer": "reply.text", "contexts": "docs[].body.t", "hops": "meta.n"})
    assert (row.answer.answer, row.answer.context_texts, row.question.hops) == ("A", ("c1", "c2"), 2)
    with pytest.raises(UsageError, match="no field is called antwort"):
        opened(tmp_path / "x.json", value, maps={"antwort": "reply"})
    with pytest.raises(InputError, match="1 fault") as refused:
        opened(tmp_path / "x.json", value, maps={"answer": "reply.text", "hops": "depth"})
    assert refused.value.faults == ("--map hops=depth: no file has such a field (they have: docs, id, meta, question, reply)",)


def test_a_field_that_turns_up_late_is_read_like_the_others(tmp_path: Path) -> None:
    rows = [{"question_id": n, "question": f"Q{n}", "answer": "A"} for n in range(300)]
    rows[250]["reference"] = "late"
    with opened(tmp_path / "x.jsonl", rows) as found:
        assert [r.question.reference for r in found if r.question.reference] == ["late"]
    changed = [*rows, {**rows[0], "question_id": "x", "generated_answer": "B"}]
    with pytest.raises(InputError, match="fit GraphRAG-Bench results"):
        opened(tmp_path / "x.jsonl", changed)
    later = [{"user_input": f"Q{n}", "generated_answer": "A"} for n in range(60)]
    with pytest.raises(InputError, match="'generated_answer' was read as answer, but rows further down have response"):
        opened(tmp_path / "y.jsonl", [*later, {"user_input": "Q", "response": "B"}])
    rows[260]["context"] = "?"
    with pytest.raises(InputError, match="'context' may be"):
        opened(tmp_path / "x.jsonl", rows)
