"""Question files of benchmarks, in hand-made rows with their real fields: what each becomes, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgeval.errors import InputError
from kgeval.records import Question
from kgeval.tables.rows import RowSelection, open_rows, read_questions

PARAGRAPHS = [["Hill", ["A hill. ", " It is high."]], ["Mill", ["A mill stands on Hill.", "Ada built it."]]]
HOTPOT = {
    "_id": "5a", "answer": "Ada", "question": "Who built the mill on the hill?",
    "supporting_facts": [["Mill", 1], ["Hill", 1], ["Mill", 0]], "context": PARAGRAPHS, "type": "bridge", "level": "hard",
}
WIKI = {
    "_id": "w1", "answer": "Kent", "question": "Where was the builder of the mill born?", "supporting_facts": [["Mill", 1]],
    "context": PARAGRAPHS, "type": "compositional", "evidences": [["Mill", "builder", "Ada"], ["Ada", "born in", "Kent"]],
    "entity_ids": "Q1_Q2", "evidences_id": [], "answer_id": "Q9",
}
MUSIQUE = {
    "id": "3hop1__1_2_3", "question": "Who rules the county of the mill's builder?", "answer": "Bo", "answer_aliases": ["Lord Bo"],
    "paragraphs": [
        {"idx": 0, "title": "Mill", "paragraph_text": "Ada built the mill.", "is_supporting": True},
        {"idx": 1, "title": "Rain", "paragraph_text": "It rains.", "is_supporting": False},
    ],
    "question_decomposition": [
        {"id": 7, "question": "Mill >> builder", "answer": "Ada", "paragraph_support_idx": 0},
        {"id": 8, "question": "#1 >> county", "answer": "Kent", "paragraph_support_idx": None},
    ],
    "answerable": True,
}
NEWS = {
    "query": "Which of both papers wrote of the storm?", "answer": "The Gazette", "question_type": "inference_query",
    "evidence_list": [
        {"title": "Storm", "author": "x", "url": "u", "source": "Gazette", "category": "news", "published_at": "2023", "fact": "A storm."},
    ],
}
ULTRA = {
    "input": "What is sown?", "context": "A whole book.", "answers": ["Rye", "Oats"], "label": "farming", "context_id": "book-1",
    "_id": "u1", "length": 3, "meta": {"title": "Fields"},
}
MARCO = {
    "query": "how many sails has a mill", "query_id": 31, "query_type": "NUMERIC", "answers": ["4"], "wellFormedAnswers": ["A mill has 4."],
    "passages": [
        {"is_selected": 0, "url": "u0", "passage_text": "Mills."}, {"is_selected": 1, "url": "u1", "passage_text": "Four sails."},
    ],
}
KASIAK = {
    "question": "Who is Ada?", "answer": "A builder.", "relevant_contexts": ["Ada built it."], "doc_name": "mill.md", "type": "single-hop",
}


def read(path: Path, value: Any) -> list[Question]:
    text = "".join(json.dumps(row) + "\n" for row in value) if path.suffix == ".jsonl" else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return list(read_questions(path))


def one(path: Path, value: Any) -> Question:
    (found,) = read(path, [value])
    return found


def test_hotpotqa_has_its_supporting_sentences_as_evidence_a_passage_for_each_paragraph(tmp_path: Path) -> None:
    found = one(tmp_path / "hotpot_dev.json", HOTPOT)
    assert (found.id, found.reference, found.kind, found.level) == ("5a", "Ada", "bridge", None)
    assert [(p.document, p.text) for p in found.evidence] == [("Mill", "A mill stands on Hill. Ada built it."), ("Hill", "It is high.")]
    assert found.extra == {"level": "hard"}  # its difficulty: not what kgeval calls a level
    assert found.hops is None


def test_hotpotqa_as_parquet_with_lists_by_field(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {
        **{key: HOTPOT[key] for key in ("answer", "question", "type", "level")}, "id": "5a",
        "supporting_facts": {"title": ["Mill", "Hill", "Mill"], "sent_id": [1, 1, 0]},
        "context": {"title": [title for title, _ in PARAGRAPHS], "sentences": [sentences for _, sentences in PARAGRAPHS]},
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "validation.parquet")
    (found,) = read_questions(tmp_path / "validation.parquet")
    assert found == one(tmp_path / "hotpot_dev.json", HOTPOT)


def test_supporting_facts_that_name_no_sentence_are_left_out_kept_and_counted(tmp_path: Path) -> None:
    """As some rows of HotpotQA have them."""
    found = one(tmp_path / "h.json", {**HOTPOT, "supporting_facts": [["Mill", 1], ["Mill", 7], ["Sea", 0]]})
    assert [p.text for p in found.evidence] == ["Ada built it."]
    assert found.extra["supporting_facts_broken"] == [["Mill", 7], ["Sea", 0]]


@pytest.mark.parametrize(("kind", "hops"), [("compositional", 2), ("comparison", 2), ("inference", 2), ("bridge_comparison", 4)])
def test_2wikimultihopqa_has_triples_as_gold_path_and_its_type_tells_the_hops(kind: str, hops: int, tmp_path: Path) -> None:
    found = one(tmp_path / "dev.json", {**WIKI, "type": kind})
    assert (found.hops, found.triples_needed, found.kind) == (hops, 2, kind)
    assert found.path is not None
    assert found.path.text == ["Mill builder Ada", "Ada born in Kent"]
    assert [node.name for node in found.path.nodes] == ["Mill", "Ada", "Kent"]
    assert [p.text for p in found.evidence] == ["Ada built it."]
    assert found.extra == {}


def test_2wikimultihopqa_in_tables_that_hold_its_lists_as_json_text(tmp_path: Path) -> None:
    row = {**WIKI, **{key: json.dumps(WIKI[key]) for key in ("context", "supporting_facts", "evidences")}}
    assert one(tmp_path / "a.json", row) == one(tmp_path / "b.json", WIKI)


def test_musique_has_supporting_paragraphs_steps_aliases_and_hops_by_its_id(tmp_path: Path) -> None:
    found = one(tmp_path / "musique.jsonl", MUSIQUE)
    assert (found.reference, found.references, found.hops) == ("Bo", ["Lord Bo"], 3)
    assert [(p.document, p.text) for p in found.evidence] == [("Mill", "Ada built the mill.")]
    assert found.steps == ["Mill >> builder => Ada", "#1 >> county => Kent"]


def test_musique_questions_without_an_answer_are_negative_and_stand_beside_their_twin(tmp_path: Path) -> None:
    """Both have one id in the file, and the file has the twin's answer: it is not right for them."""
    _, twin = read(tmp_path / "full.jsonl", [MUSIQUE, {**MUSIQUE, "answerable": False}])
    assert (twin.id, twin.level, twin.reference, twin.references) == ("3hop1__1_2_3:unanswerable", "negative", None, [])
    assert len(twin.evidence) == 2
    assert twin.extra == {"answer": "Bo"}


def test_multihop_rag_has_facts_as_evidence_and_null_queries_are_negative(tmp_path: Path) -> None:
    none = {**NEWS, "query": "Which paper wrote of snow?", "answer": "Insufficient information.", "question_type": "null_query"}
    found, negative = read(tmp_path / "MultiHopRAG.json", [NEWS, {**none, "evidence_list": []}])
    assert (found.question, found.reference, found.kind, found.level) == (NEWS["query"], "The Gazette", "inference_query", None)
    assert [(p.document, p.text) for p in found.evidence] == [("Storm", "A storm.")]
    assert (negative.level, negative.reference, negative.evidence) == ("negative", "Insufficient information.", [])


def test_ultradomain_has_several_right_answers_and_a_book_that_is_no_evidence_unless_one_says_so(tmp_path: Path) -> None:
    found = one(tmp_path / "agriculture.jsonl", ULTRA)
    assert (found.id, found.reference, found.references) == ("u1", "Rye", ["Oats"])
    assert (found.dataset, found.document, found.evidence) == ("farming", "book-1", [])
    (asked,) = read_questions(tmp_path / "agriculture.jsonl", {"evidence": "context"})
    assert [p.text for p in asked.evidence] == ["A whole book."]
    unlabelled = one(tmp_path / "mix.jsonl", {key: value for key, value in ULTRA.items() if key != "label"})
    assert unlabelled.dataset == "mix"


def test_ms_marco_has_its_selected_passages_as_evidence(tmp_path: Path) -> None:
    found = one(tmp_path / "dev.jsonl", MARCO)
    assert (found.id, found.reference, found.references, found.kind) == ("31", "4", ["A mill has 4."], "NUMERIC")
    assert [(p.document, p.text) for p in found.evidence] == [("u1", "Four sails.")]


def test_ms_marco_without_an_answer_is_negative_and_all_its_passages_are_shown(tmp_path: Path) -> None:
    passages = {"is_selected": [0, 0], "url": ["a", "b"], "passage_text": ["P", "Q"]}  # as its tables have them
    row = {**MARCO, "answers": ["No Answer Present."], "wellFormedAnswers": "[]", "passages": passages}
    found = one(tmp_path / "v2.jsonl", row)
    assert (found.level, found.reference, found.references) == ("negative", "No Answer Present.", [])
    assert [p.text for p in found.evidence] == ["P", "Q"]


def test_ms_marco_as_one_object_with_a_map_from_row_to_value_for_each_field(tmp_path: Path) -> None:
    columns = {name: {"0": value, "1": value} for name, value in MARCO.items()} | {"query_id": {"0": 31, "1": 32}}
    assert [found.id for found in read(tmp_path / "dev_v2.1.json", columns)] == ["31", "32"]


def test_kasiak_questions_keep_their_kind_and_the_document_of_every_snippet(tmp_path: Path) -> None:
    several = {**KASIAK, "question": "Who?", "relevant_contexts": ["a", "b"], "doc_name": ["x.md", "y.md"], "type": "multi-doc"}
    outside = {**KASIAK, "question": "Which phone?", "relevant_contexts": [], "answer": "Not in the text.", "type": "Out-of-Context"}
    first, second, third = read(tmp_path / "k.json", [KASIAK, several, outside])
    assert (first.level, first.document, first.evidence[0].document) == ("single_hop", "mill.md", "mill.md")
    assert (second.level, second.document, [p.document for p in second.evidence]) == ("multi_doc", None, ["x.md", "y.md"])
    assert second.extra == {"doc_name": ["x.md", "y.md"]}
    assert (third.level, third.evidence, third.document) == ("out_of_context", [], "mill.md")


FAULTY = [
    (HOTPOT, {"supporting_facts": [["Mill"]]}, "supporting_facts: pairs expected"),
    (HOTPOT, {"supporting_facts": [["Mill", "one"]]}, "supporting_facts: [title, number of a sentence] expected"),
    (HOTPOT, {"context": [["Mill", "one text"]]}, "context: paragraphs as [title, [sentences]] expected"),
    (HOTPOT, {"context": {"title": ["Mill"], "sentences": [["a"], ["b"]]}}, "context: lists of one length expected"),
    (WIKI, {"evidences": [["Mill", "builder"]]}, "evidences: triples of texts expected"),
    (MUSIQUE, {"paragraphs": ["text"]}, "paragraphs: objects expected"),
    (MUSIQUE, {"paragraphs": [{"is_supporting": True}]}, "evidence: a passage without a text"),
    (NEWS, {"evidence_list": ["fact"]}, "evidence_list: objects expected"),
    (MARCO, {"passages": {"is_selected": [1], "passage_text": []}}, "passages: lists of one length expected"),
]


@pytest.mark.parametrize(("row", "change", "words"), FAULTY)
def test_faults_name_the_row_and_the_field_and_come_all_at_once(row: Any, change: Any, words: str, tmp_path: Path) -> None:
    second = {**row, **change, **{key: "z" for key in ("_id", "id", "query_id") if key in row}}
    with pytest.raises(InputError) as caught:
        read(tmp_path / "x.jsonl", [row, second, {"question": 1}])
    told = [fault for fault in caught.value.faults if words in fault]
    assert told and told[0].startswith("x.jsonl:2: ")
    assert any(fault.startswith("x.jsonl:3: ") for fault in caught.value.faults)


@pytest.mark.parametrize("row", [HOTPOT, WIKI, MUSIQUE, NEWS, ULTRA, MARCO, KASIAK])
def test_given_as_answers_such_a_file_is_refused_and_as_questions_it_is_joined_with_answers(row: Any, tmp_path: Path) -> None:
    question = one(tmp_path / "questions.json", row)
    with pytest.raises(InputError, match="it holds no system's answers"):
        open_rows(RowSelection((tmp_path / "questions.json",)))
    answers = tmp_path / "s.jsonl"
    asked = {"question_id": question.id} if any(key in row for key in ("_id", "id", "query_id")) else {"question": question.question}
    answers.write_text(json.dumps({**asked, "answer": "A", "contexts": ["c"]}) + "\n")
    with open_rows(RowSelection((answers,), questions=tmp_path / "questions.json")) as rows:
        (found,) = rows
    assert (found.answer.answer, found.question.right_answers) == ("A", question.right_answers)


def test_what_was_checked_of_a_question_is_read_back(tmp_path: Path) -> None:
    found = one(tmp_path / "q.jsonl", {"id": "1", "question": "Who?", "checks": [{"name": "leak", "passed": True}]})
    assert [(check.name, check.passed) for check in found.checks] == [("leak", True)]
    foreign = one(tmp_path / "f.jsonl", {"qid": "1", "query": "Who?", "checks": ["x"]})
    assert foreign.extra == {"checks": ["x"]}


VALUES = st.recursive(st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | (
    st.dictionaries(st.sampled_from(["title", "sentences", "sent_id", "is_selected", "passage_text", "fact"]), inner, max_size=3)
), max_leaves=8)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(row=st.sampled_from([HOTPOT, WIKI, MUSIQUE, NEWS, ULTRA, MARCO, KASIAK]), data=st.data())
def test_whatever_stands_in_a_field_the_file_is_read_or_refused(row: dict[str, Any], data: st.DataObject, tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(sorted(row)))
    try:
        found = read(tmp_path / "x.json", [{**row, name: data.draw(VALUES)}])
    except InputError:
        return
    assert len(found) == 1


def table(path: Path, head: str, *rows: str) -> list[Question]:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return list(read_questions(path))


def right(question: Question) -> tuple[str | None, list[str]]:
    return question.reference, question.references


def test_the_tables_of_uda_qa_have_the_right_answers_of_their_set(tmp_path: Path) -> None:
    head = "doc_name|q_uid|question|"
    found = table(
        tmp_path / "nq_qa.csv", f"{head}short_answer|long_answer|doc_url",
        "Mill Hill|-83|who built the mill|Ada|Ada, a smith, built it.|u", "Mill Hill|-84|how old is it||It is old , very old .|u",
    )
    assert [(one.id, one.document, one.dataset) for one in found] == [("-83", "Mill Hill", "NqText"), ("-84", "Mill Hill", "NqText")]
    assert [right(one) for one in found] == [("Ada", []), ("It is old , very old .", [])]
    assert [(p.text, p.document) for p in found[0].evidence] == [("Ada, a smith, built it.", "Mill Hill")]

    found = table(
        tmp_path / "tat_qa.csv", f"{head}answer|answer_scale|answer_type",
        "mill-inc_2019|a1|What were sales in 2018 and 2019?|['$ 5.99', '$ 4.79']|thousand|multi-span",
        "mill-inc_2019|a2|When?|['2019']||span",
    )
    assert [right(one) for one in found] == [("$ 5.99, $ 4.79 thousand", []), ("2019", [])]
    assert [(one.kind, one.dataset) for one in found] == [("multi-span", "TatHybrid"), ("span", "TatHybrid")]

    fin = table(tmp_path / "fin_qa.csv", f"{head}answer_1|answer_2", "ADI_2009|ADI/2009/page_59.pdf-2|How much less?|-27.0%|-0.26689")
    assert (right(fin[0]), fin[0].dataset) == (("-27.0%", ["-0.26689"]), "FinHybrid")
    paper = table(tmp_path / "paper_tab_qa.csv", f"{head}answer_1|answer_2|answer_3", "1912.01214|9f|Which one?|BLEU|BLEU|its BLEU")
    assert (right(paper[0]), paper[0].dataset) == (("BLEU", ["its BLEU"]), "PaperTab")
    feta = table(tmp_path / "feta_qa.csv", f"{head}answer|doc_url", "Ada|12844|What did she build?|She built a mill, in 1854.|u")
    assert (right(feta[0]), feta[0].dataset) == (("She built a mill, in 1854.", []), "FetaTab")


def test_the_extended_files_of_uda_qa_have_their_evidence_too(tmp_path: Path) -> None:
    def rows(*answered: tuple[Any, Any]) -> dict[str, Any]:
        made = [{"question": "Q?", "q_uid": n, "answers": answers, "evidence": evidence} for n, (answers, evidence) in enumerate(answered)]
        return {"Doc A": made[:1], "Doc B": made[1:] or [{**made[0], "q_uid": 9}]}

    people = [{"answer": "No", "type": "boolean"}, {"answer": "No, none", "type": "x"}]
    paper = read(tmp_path / "bench_paper_text_qa.json", rows((people, [{"raw_evidence": ["P1", "P2"]}, {"raw_evidence": ["P1"]}])))
    assert [(one.document, one.kind, one.dataset, right(one)) for one in paper] == [
        (name, None, "PaperText", ("No", ["No, none"])) for name in ("Doc A", "Doc B")
    ]
    assert [(p.text, p.document) for p in paper[0].evidence] == [("P1", "Doc A"), ("P2", "Doc A")]
    cells = {"table_array": [["Year", "Mill"], ["1853", "-"], ["1854", "Ada's"]], "highlighted_cell_ids": [[2, 0], [2, 1]]}
    feta = read(tmp_path / "bench_feta_qa.json", rows(("In 1854.", cells)))
    assert (right(feta[0]), feta[0].evidence[0].text) == (("In 1854.", []), "Year | Mill\n1854 | Ada's")
    fin = read(tmp_path / "bench_fin_qa.json", rows(({"str_answer": "380", "exe_answer": 3.8}, {"table_1": "interest was 380"})))
    assert (right(fin[0]), fin[0].evidence[0].text) == (("380", ["3.8"]), "interest was 380")
    tat = read(tmp_path / "bench_tat_qa.json", rows(({"answer": ["1", "2"], "answer_type": "multi-span", "answer_scale": ""}, {})))
    assert (right(tat[0]), tat[0].kind) == (("1, 2", []), "multi-span")
