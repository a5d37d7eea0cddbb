"""One small file of every tool, with its real field names: what each field becomes, and what is refused instead of guessed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kgeval.errors import InputError
from kgeval.records import Question, Row
from kgeval.tables.fields import ROWS
from kgeval.tables.rows import Rows, RowSelection, open_rows, read_questions
from kgeval.tables.shapes import PLAIN, FileNames, reading_of, shapes

DATA = Path(os.environ.get("KGEVAL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def saved(path: Path, value: Any) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in value) if path.suffix == ".jsonl" else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def opened(path: Path, value: Any, **wanted: Any) -> Rows:
    return open_rows(RowSelection((saved(path, value),), **wanted))


def only(path: Path, value: Any, **wanted: Any) -> Row:
    with opened(path, value, **wanted) as rows:
        (row,) = rows
        return row


def question(path: Path, value: Any) -> Question:
    (found,) = read_questions(saved(path, value))
    return found


RAGAS = {
    "user_input": "Who?", "response": "Ada.", "retrieved_contexts": ["c1", "c2"], "reference": "Ada Lovelace",
    "reference_contexts": ["gold"],
    "retrieved_context_ids": ["a", 7], "reference_context_ids": ["a"], "synthesizer_name": "single_hop_specific_query_synthesizer",
    "rubrics": {"1": "bad"},
}


def test_ragas_since_0_2(tmp_path: Path) -> None:
    with opened(tmp_path / "rag.jsonl", [RAGAS]) as rows:
        (row,) = rows
    assert (row.question.question, row.answer.answer, row.question.reference) == ("Who?", "Ada.", "Ada Lovelace")
    assert [(c.text, c.chunk_id) for c in row.answer.contexts or ()] == [("c1", "a"), ("c2", "7")]
    assert [e.text for e in row.question.evidence] == ["gold"]
    assert row.question.evidence_ids == [["a"]]
    assert row.question.kind == "single_hop_specific_query_synthesizer"
    assert row.answer.extra == {"rubrics": {"1": "bad"}}
    assert row.answer.system == "rag"
    assert rows.notes[0] == "rag.jsonl: read as ragas >= 0.2, rows: 1"


def test_a_tools_file_may_use_another_known_name_where_its_own_is_not_there(tmp_path: Path) -> None:
    row = only(tmp_path / "x.json", [{"input": "Q", "expected_output": "E", "generated_answer": "A", "ground_truth": "G"}])
    assert (row.answer.answer, row.question.reference, row.answer.extra) == ("A", "E", {"ground_truth": "G"})


def test_ragas_before_0_2_and_the_notebook_with_four_parallel_lists(tmp_path: Path) -> None:
    old = {"question": "Q", "answer": "A", "contexts": ["c"], "ground_truths": ["G1", "G2"]}
    row = only(tmp_path / "old.json", [old])
    assert (row.answer.answer, row.question.reference, row.question.references) == ("A", "G1", ["G2"])
    columns = {"question": ["Q1", "Q2"], "contexts": [["a"], ["b", "c"]], "answer": ["A1", "A2"], "reference": ["R1", "R2"]}
    with opened(tmp_path / "tum.json", columns) as rows:
        assert [(r.question.question, r.answer.answer, r.question.reference, len(r.answer.contexts or ())) for r in rows] == [
            ("Q1", "A1", "R1", 1), ("Q2", "A2", "R2", 2),
        ]


@pytest.mark.parametrize("names", [
    ("actual_output", "expected_output", "retrieval_context", "completion_time"),
    ("actualOutput", "expectedOutput", "retrievalContext", "completionTime"),
])
def test_deepeval_in_both_spellings_where_context_is_gold(names: tuple[str, ...], tmp_path: Path) -> None:
    answer, expected, retrieved, seconds = names
    value = {"name": "case 1", "input": "Q", answer: "A", expected: "E", "context": ["gold"], retrieved: ["got"], seconds: 1.5}
    row = only(tmp_path / "cases.json", {"testCases": [value]})
    assert (row.question.id, row.answer.answer, row.question.reference, row.answer.latency_s) == ("case 1", "A", "E", 1.5)
    assert [e.text for e in row.question.evidence] == ["gold"]
    assert row.answer.context_texts == ("got",)


def test_deepeval_joins_the_texts_of_a_list_in_its_csv_and_jsonl_files(tmp_path: Path) -> None:
    """As EvaluationDataset.save_as of deepeval 4.3 writes them; as one context they would change every share of contexts."""
    columns = "input,actual_output,expected_output,retrieval_context,context,name"
    csv = tmp_path / "cases.csv"
    csv.write_text(f"{columns}\nQ,A,E,c1|c2,e1|e2|e3,\n")
    row = only(tmp_path / "cases.jsonl", [{"input": "Q", "actual_output": "A", "retrieval_context": "c1|c2", "context": "e1|e2|e3"}])
    with open_rows(RowSelection((csv,))) as rows:
        for found in (*rows, row):
            assert found.answer.context_texts == ("c1", "c2")
            assert [e.text for e in found.question.evidence] == ["e1", "e2", "e3"]
    kept = only(tmp_path / "list.json", [{"input": "Q", "actual_output": "A", "retrieval_context": ["| a | table |"]}])
    assert kept.answer.context_texts == ("| a | table |",)


def test_ragchecker(tmp_path: Path) -> None:
    value = {"results": [{
        "query_id": "0", "query": "Q", "gt_answer": "G", "response": "A", "retrieved_context": [{"doc_id": "d1", "text": "t1"}],
        "response_claims": [["a", "b", "c"]],
    }], "metrics": {"overall_metrics": {}}}
    row = only(tmp_path / "rc.json", value)
    assert (row.question.id, row.question.reference, row.answer.answer) == ("0", "G", "A")
    assert [(c.text, c.chunk_id) for c in row.answer.contexts or ()] == [("t1", "d1")]
    assert row.answer.extra == {"response_claims": [["a", "b", "c"]]}


def test_benchmark_qed_answers_with_their_metrics_and_assertions_as_points(tmp_path: Path) -> None:
    answers = [{"question_id": "q1", "question_text": "Q", "answer": "A", "metrics": {
        "time_seconds": 2.5, "input_tokens": 10, "output_tokens": 3, "llm_calls": 2, "cost": 0.01,
    }}]
    assertions = [{"question_id": "q1", "question_text": "Q", "assertions": [
        {"statement": "S1", "score": 9, "rank": 1, "source_count": 2}, {"statement": "S2", "score": 8, "rank": 2, "source_count": 1},
    ]}]
    row = only(tmp_path / "lightrag.json", answers, questions=saved(tmp_path / "assertions.json", assertions))
    got = row.answer
    assert (got.latency_s, got.input_tokens, got.output_tokens, got.calls, got.cost) == (2.5, 10, 3, 2, 0.01)
    assert row.question.points == ["S1", "S2"]
    assert row.answer.system == "lightrag"


def test_benchmark_qed_questions_and_retrieval(tmp_path: Path) -> None:
    found = question(tmp_path / "autoq.json", [
        {"id": "q1", "text": "Q", "question_type": "data_local", "references": ["gold text"], "attributes": {"a": 1}},
    ])
    assert (found.id, found.question, found.kind, found.evidence_texts) == ("q1", "Q", "data_local", ("gold text",))
    assert found.extra == {"attributes": {"a": 1}}
    row = only(tmp_path / "retrieval.json", [{"question_id": "q1", "text": "Q", "context": [{"chunk_id": 3, "text": "t"}]}])
    assert [(c.chunk_id, c.text) for c in row.answer.contexts or ()] == [("3", "t")]
    assert (row.answer.answer, row.answer.error) == ("", "the file holds what was retrieved and no answers")


XMU = {
    "id": "Novel-1a", "question": "Q", "source": "Novel-44557", "context": ["c1", "c2"], "evidence": "One. ; Two", "question_type":
    "Fact Retrieval", "generated_answer": "A", "ground_truth": "G",
}


def test_graphrag_bench_results_where_context_is_what_was_retrieved(tmp_path: Path) -> None:
    row = only(tmp_path / "lightrag.json", [XMU])
    assert (row.answer.answer, row.question.reference, row.answer.context_texts) == ("A", "G", ("c1", "c2"))
    assert only(tmp_path / "own.json", [{**XMU, "level": "Creative Generation"}]).question.level == "creative_generation"
    assert (row.question.kind, row.question.level) == ("Fact Retrieval", "fact_retrieval")
    assert (row.question.dataset, row.question.document) == ("novel", "Novel-44557")
    assert row.question.evidence_texts == ("One.", "Two")
    listed = only(tmp_path / "july.json", [{**XMU, "evidence": ["One; two.", "Three."], "context": "one; text"}])
    assert listed.question.evidence_texts == ("One; two.", "Three.")
    assert listed.answer.context_texts == ("one; text",)


def test_a_context_that_is_one_text_is_one_context_and_said_so(tmp_path: Path) -> None:
    with opened(tmp_path / "a.json", [{**XMU, "context": "letters are not contexts"}]) as rows:
        assert [len(row.answer.contexts or ()) for row in rows] == [1]
        assert any(note == "a.json: rows whose contexts are one text, which is one context: 1" for note in rows.notes)


def test_the_june_shape_by_type_gives_level_and_order(tmp_path: Path) -> None:
    row = {"id": "1", "question": "Q", "generated_answer": "A", "gold_answer": "G", "context": ["c"], "evidence": ["e"]}
    with opened(tmp_path / "june.json", {"type1": [row], "type4": [{**row, "id": "2"}]}) as rows:
        assert [(r.question.id, r.question.level, r.question.reference) for r in rows] == [
            ("1", "fact_retrieval", "G"), ("2", "creative_generation", "G"),
        ]


def test_graphrag_bench_questions_where_answer_is_the_right_one_and_triples_are_the_path(tmp_path: Path) -> None:
    value = {
        "id": "Novel-1", "source": "Novel-44557", "question": "Q", "answer": "Right", "question_type": "Complex Reasoning",
        "evidence": "One; Two", "evidence_triple": "(Ahab, hunts, Moby Dick); (Ishmael, is on, Pequod).; (Smith, John, likes, tea)",
    }
    found = question(tmp_path / "q.json", [value])
    assert (found.reference, found.level) == ("Right", "complex_reasoning")
    assert found.path is not None
    assert [node.name for node in found.path.nodes] == ["Ahab", "Moby Dick", "Ishmael", "Pequod"]
    assert [(r.type, r.kind) for r in found.path.relations] == [("hunts", "relation"), ("is on", "relation")]
    assert found.path.text == ["Ahab hunts Moby Dick", "Ishmael is on Pequod"]
    assert found.extra == {"evidence_triple_broken": ["(Smith, John, likes, tea)"]}
    with pytest.raises(InputError, match="is a file of GraphRAG-Bench questions") as refused:
        opened(tmp_path / "q.json", [value])
    assert "--questions" in refused.value.fix


def test_medical_relations_are_steps(tmp_path: Path) -> None:
    found = question(tmp_path / "m.json", [{
        "id": "Medical-1", "source": "Medical", "question": "Q", "answer": "R", "question_type": "Contextual Summarize", "evidence": ["e"],
        "evidence_relations": "A treats B; B causes C",
    }])
    assert (found.dataset, found.level, found.steps) == ("medical", "contextual_summarize", ["A treats B", "B causes C"])


def test_polyu_questions_have_their_type_from_the_name_of_the_file(tmp_path: Path) -> None:
    found = question(tmp_path / "OE.jsonl", [
        {"Question": "Why?", "Level-1 Topic": "Computer networks", "Level-2 Topic": "Protocols", "Rationale": "Because", "Answer": "So"},
    ])
    assert (found.question, found.reference, found.kind, found.document) == ("Why?", "So", "open_ended", "Computer networks")
    assert found.extra == {"Level-2 Topic": "Protocols", "Rationale": "Because"}
    assert found.id.startswith("q-")


def test_wildgraphbench_questions_with_types_as_a_list_and_gold_statements(tmp_path: Path) -> None:
    path = saved(tmp_path / "wild.jsonl", [
        {"question": "Q1", "question_type": ["single-fact"], "answer": "R", "ref_urls": ["u"]},
        {"question": "Q2", "question_type": ["summary", "other"], "gold_statements": ["s1", "s2"], "ref_urls": []},
    ])
    one, two = read_questions(path)
    assert (one.reference, one.kind, one.kinds) == ("R", "single-fact", ("single-fact",))
    assert (two.statements, two.kinds, two.reference) == (["s1", "s2"], ("summary", "other"), None)
    predictions = [{"question": "Q2", "answer": "A2"}, {"question": "Q1", "answer": "A1"}]
    with opened(tmp_path / "sys.jsonl", predictions, questions=path) as rows:
        assert [(r.question.statements, r.answer.answer) for r in rows] == [(["s1", "s2"], "A2"), ([], "A1")]
        assert any("joined by the question's text" in note for note in rows.notes)


def test_graphrag_eval_templates_and_responses_with_steps(tmp_path: Path) -> None:
    gold = [{"name": "retrieval", "args": {"k": 1}, "output": json.dumps([{"id": "d1", "text": "gold"}])}]
    reference = [{"template_id": "t", "questions": [
        {"id": "x", "question_text": "Q1", "reference_answer": "R1", "reference_steps": [gold]},
        {"id": "y", "question_text": "Q2", "reference_steps": [[{"name": "cypher_query", "args": {"query": "MATCH (n) RETURN n"}}]]},
    ]}]
    steps = [
        {"name": "retrieval", "status": "success", "output": '[{"id": "d9", "text": "got"}]'},
        {"name": "cypher_query", "status": "error", "args": {"query": "broken"}},
        {"name": "cypher_query", "status": "success", "args": {"query": "MATCH (m) RETURN m"}},
    ]
    actual = {
        "x": {"question_id": "x", "actual_answer": "A1", "input_tokens": 5, "output_tokens": 2, "elapsed_sec": 4.5, "actual_steps": steps},
        "y": {"question_id": "y", "error": "no budget", "status": "error"},
    }
    with opened(tmp_path / "actual.json", actual, questions=saved(tmp_path / "reference.json", reference)) as rows:
        x, y = rows
    assert (x.question.reference, x.question.kind, x.answer.answer, x.answer.latency_s, x.answer.input_tokens) == ("R1", "t", "A1", 4.5, 5)
    assert [(p.chunk_id, p.text) for p in x.question.evidence] == [("d1", "gold")]
    assert [(p.chunk_id, p.text) for p in x.answer.contexts or ()] == [("d9", "got")]
    assert x.answer.cypher == "MATCH (m) RETURN m"
    assert y.question.cypher == "MATCH (n) RETURN n"
    assert (y.answer.answer, y.answer.error) == ("", "no budget")


def test_the_table_of_graphrag_evals_command_line(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("Question\tReference answer\tActual answer\nQ\tR\tA\n", encoding="utf-8")
    with open_rows(RowSelection((path,))) as rows:
        (row,) = rows
    assert (row.question.question, row.question.reference, row.answer.answer) == ("Q", "R", "A")


def test_autorag_parquet_with_groups_of_gold_ids(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([
        {"qid": "1", "query": "Q1", "retrieval_gt": [["a", "b"], ["c"]], "generation_gt": ["G1", "G2"], "generated_texts": "A1",
         "retrieved_contents": ["t1", "t2"], "retrieved_ids": ["a", "x"], "retrieve_scores": [0.9, -0.5], "generated_tokens": [1, 2]},
    ])
    pq.write_table(table, tmp_path / "result.parquet")
    with open_rows(RowSelection((tmp_path / "result.parquet",))) as rows:
        (row,) = rows
    assert row.question.evidence_ids == [["a", "b"], ["c"]]
    assert row.question.right_answers == ("G1", "G2")
    assert [(c.text, c.chunk_id, c.score) for c in row.answer.contexts or ()] == [("t1", "a", 0.9), ("t2", "x", -0.5)]
    assert row.answer.extra == {}
    flat = question(tmp_path / "qa.json", [{"qid": "1", "query": "Q", "retrieval_gt": ["a", "b"], "generation_gt": "G"}])
    assert (flat.evidence_ids, flat.reference) == ([["a", "b"]], "G")


def test_giskard_test_set_with_dotted_paths(tmp_path: Path) -> None:
    row = only(tmp_path / "g.jsonl", [{
        "id": "u", "question": "Q", "reference_answer": "R", "reference_context": "Document 1: gold", "conversation_history": [],
        "metadata": {"question_type": "complex", "seed_document_id": 12, "topic": "x"}, "agent_answer": "A",
    }])
    assert (row.question.kind, row.question.document, row.answer.answer) == ("complex", "12", "A")
    assert row.question.evidence_texts == ("Document 1: gold",)


def test_kasiak_questions(tmp_path: Path) -> None:
    found = question(tmp_path / "k.json", [
        {"question": "Q", "answer": "R", "relevant_contexts": ["a", "b"], "doc_name": "story.md", "type": "out-of-context"},
    ])
    assert (found.reference, found.level, found.document, found.evidence_texts) == ("R", "out_of_context", "story.md", ("a", "b"))


@pytest.mark.parametrize("field", ["answer", "answers"])
def test_answers_of_several_systems_in_one_row(field: str, tmp_path: Path) -> None:
    value = {"question_id": 4, "question": "Q", field: {"LightRAG": "A1", "MGRAG": "A2"}, "is_remove": False}
    with opened(tmp_path / "both.jsonl", [value]) as rows:
        assert [(r.answer.system, r.answer.answer, r.question.id) for r in rows] == [("LightRAG", "A1", "4"), ("MGRAG", "A2", "4")]
        assert [s.system for s in rows.systems] == ["LightRAG", "MGRAG"]
        assert [r.n for r in rows.find("4")] == [0, 1]


def test_a_list_of_answers_is_read_as_trials(tmp_path: Path) -> None:
    with opened(tmp_path / "a.jsonl", [{"qid": "1", "query": "Q", "generated_texts": ["A1", "A2"]}]) as rows:
        assert [(r.answer.trial, r.answer.answer) for r in rows] == [(1, "A1"), (2, "A2")]
        assert rows.systems[0].trials == 2


def test_every_table_names_fields_that_exist_and_no_two_tools_differ_on_their_own_files() -> None:
    assert {name for shape in shapes() for name in shape.fields} <= set(ROWS)
    for shape in shapes():
        names = frozenset(one.split("|")[0] for one in shape.needs)
        role = "questions" if shape.only else "answers"
        assert reading_of(FileNames("f", names, role)).shape.name == shape.name  # type: ignore[arg-type]
    assert reading_of(FileNames("f", frozenset({"question", "response"}), "answers")).shape.name == PLAIN


@pytest.mark.slow
def test_the_published_novel_questions_are_read_with_their_paths() -> None:
    path = DATA / "graphrag-bench-novel" / "questions.json"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    found = list(read_questions(path))
    assert len(found) == 810
    assert {q.level for q in found} == {"fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation"}
    assert {q.dataset for q in found} == {"novel"}
    assert all(q.reference and q.evidence for q in found)
    assert sum(q.path is not None for q in found) > 780


def test_the_page_on_files_names_every_tool_and_every_field() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "answer-files.md").read_text(encoding="utf-8")
    assert [shape.name for shape in shapes() if shape.name not in page] == []
    assert [name for field, what in ROWS.items() for name in (field, *what.names) if f"`{name}`" not in page] == []
