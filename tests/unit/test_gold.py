"""Gold sets: every form that is read, what is one item and what two, and what is said of broken ones."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from kgeval.auditing.completeness.gold import GoldItems, distinct, document_keys, gold_of, only_documents
from kgeval.auditing.completeness.gold_files import read_gold
from kgeval.errors import InputError, UsageError
from kgeval.records import GoldEntity, GoldTriple
from kgeval.tables.evidence import parts_of, split_groups

DATA = Path(os.environ.get("KGEVAL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def names(gold: object) -> list[str]:
    return [entity.name for entity in gold.entities]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("evidence", "groups"), [
    ("(a, b, c)", ["(a, b, c)"]),
    ("(a, b, c).", ["(a, b, c)."]),
    ("(a, b, c); (d, e, f)", ["(a, b, c)", "(d, e, f)"]),
    ("(a, b, c).; (d, e, f).", ["(a, b, c)", "(d, e, f)."]),
    ("(a,b,c);(d,e,f)", ["(a,b,c)", "(d,e,f)"]),
    ("(a, b, c)\n(d, e, f)", ["(a, b, c)", "(d, e, f)"]),
    ("(a (x), b, c (y)).; (d; e, f, g)", ["(a (x), b, c (y))", "(d; e, f, g)"]),
    ('(a, b, c); ["a remark (here)"]; (d, e, f)', ["(a, b, c)", '["a remark (here)"]', "(d, e, f)"]),
    ("", []),
])
def test_groups_of_triples_are_cut_at_every_separator_in_use(evidence: str, groups: list[str]) -> None:
    assert split_groups(evidence) == groups


def test_a_group_is_cut_at_its_commas_and_keeps_brackets_in_names() -> None:
    assert parts_of("(Ali, went to, Moghrele-el-Aksa (Morocco)).") == ["Ali", "went to", "Moghrele-el-Aksa (Morocco)"]
    assert parts_of('["a remark"]') is None


def test_a_question_file_gives_its_triples_and_names_the_broken_ones_with_file_and_question(tmp_path: Path) -> None:
    rows = [
        ("Q1", "moby", "(Ahab, hunts, Moby Dick).; (Ahab, commands, Pequod)."),
        ("Q2", "moby", "(Ahab, hunts, moby dick); (Starbuck, of Nantucket, serves, Ahab)"),
        ("Q3", "emma", "(Emma, , Harriet); (Emma, knows, Mr. Knightley)"),
    ]
    path = write(tmp_path / "q.json", [{"id": i, "source": s, "question": "?", "evidence_triple": t} for i, s, t in rows])
    gold = read_gold([path])
    assert [(t.subject, t.predicate, t.object, t.document) for t in gold.triples] == [
        ("Ahab", "hunts", "Moby Dick", "moby"), ("Ahab", "commands", "Pequod", "moby"), ("Emma", "knows", "Mr. Knightley", "emma"),
    ]
    assert names(gold) == ["Ahab", "Moby Dick", "Pequod", "Emma", "Mr. Knightley"]
    assert gold.ends == ((0, 1), (0, 2), (3, 4))
    assert gold.duplicates == 1
    assert gold.documents == ["moby", "emma"]
    assert len(gold.faults) == 2
    assert "q.json" in gold.faults[0] and "Q2" in gold.faults[0] and "4 parts" in gold.faults[0]
    assert "Q3" in gold.faults[1]


def test_jsonl_may_mix_entities_and_triples_and_lists_broken_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.jsonl", "\n".join([
        '{"name": "Ada Lovelace", "type": "Person", "aliases": ["Lady Lovelace"], "document": "a.txt"}',
        '{"subject": "ada lovelace", "predicate": "wrote", "object": "Engine", "document": "a.txt", "aliases": {"object": ["Machine"]}}',
        "", "{broken", '{"colour": "red"}', '["Ada Lovelace", "knew", "Babbage"]', '{"name": ""}',
    ]))
    gold = read_gold([path])
    assert [(e.name, e.type, e.aliases, e.document) for e in gold.entities] == [
        ("Ada Lovelace", "Person", ["Lady Lovelace"], "a.txt"), ("Engine", None, ["Machine"], "a.txt"),
        ("Ada Lovelace", None, [], None), ("Babbage", None, [], None),
    ]
    assert gold.spellings[0] == ("Ada Lovelace", "ada lovelace")
    assert gold.ends == ((0, 1), (2, 3))
    assert [fault.split(":")[1] for fault in gold.faults] == ["4", "5", "7"]


@pytest.mark.parametrize("content", [
    'name,type,subject,predicate,object\nAda,Person,,,\n,,Ada,wrote,Notes\n,,Ada,wrote,\n',
    '{"name": "Ada", "type": "Person", "subject": null, "object": null}\n{"name": null, "subject": "Ada", "predicate": "wrote", '
    '"object": "Notes"}\n{"subject": "Ada", "predicate": "wrote", "object": null}\n',
])
def test_a_table_of_entities_and_triples_leaves_the_cells_of_the_other_empty(tmp_path: Path, content: str) -> None:
    gold = read_gold([write(tmp_path / ("g.jsonl" if content.startswith("{") else "g.csv"), content)])
    assert (gold.triples, names(gold)) == ((GoldTriple(subject="Ada", predicate="wrote", object="Notes"),), ["Ada", "Notes"])
    assert len(gold.faults) == 1 and "object" in gold.faults[0]


@pytest.mark.parametrize(("file", "content"), [
    ("t.csv", "Head,Relation,Tail,doc\nAhab,hunts,Moby Dick,moby\n"),
    ("t.csv", "Ahab,hunts,Moby Dick\n"),
    ("t.tsv", "subject\tpredicate\tobject\nAhab\thunts\tMoby Dick\n"),
    ("t.json", [["Ahab", "hunts", "Moby Dick"]]),
    ("t.json", {"entities": ["Ahab"], "relations": [["Ahab", "hunts", "Moby Dick"]]}),
    ("t.json", {"triples": [{"subject": "Ahab", "relation": "hunts", "object": "Moby Dick"}]}),
])
def test_triples_come_as_tables_or_lists(tmp_path: Path, file: str, content: object) -> None:
    gold = read_gold([write(tmp_path / file, content)])
    assert names(gold) == ["Ahab", "Moby Dick"]
    assert [(t.subject, t.predicate, t.object) for t in gold.triples] == [("Ahab", "hunts", "Moby Dick")]
    assert gold.faults == ()


def test_a_table_of_entities_splits_aliases(tmp_path: Path) -> None:
    gold = read_gold([write(tmp_path / "e.csv", "name,type,aliases\nAda Lovelace,Person,Ada;Lady Lovelace\n")])
    assert [(e.name, e.type, e.aliases) for e in gold.entities] == [("Ada Lovelace", "Person", ["Ada", "Lady Lovelace"])]


def test_parquet_question_files_are_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": "Q1", "source": "moby", "question": "?", "evidence_triple": "(Ahab, hunts, Moby Dick)"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "q.parquet")
    assert names(read_gold([tmp_path / "q.parquet"])) == ["Ahab", "Moby Dick"]


def test_several_files_are_one_gold_set_and_repeats_count_once(tmp_path: Path) -> None:
    one = write(tmp_path / "a.csv", "Ahab,hunts,Moby Dick\n")
    two = write(tmp_path / "b.csv", "AHAB,Hunts,moby dick\nAhab,fears,Moby Dick\n")
    gold = read_gold([one, two])
    assert (len(gold.entities), len(gold.triples), gold.duplicates) == (2, 2, 1)
    assert gold.inputs == (one, two)


def test_the_same_name_is_two_entities_in_two_documents_or_of_two_types() -> None:
    gold = distinct(GoldItems([
        GoldEntity(name="Paris", type="City"), GoldEntity(name="Paris", type="Person"), GoldEntity(name="the PARIS"),
        GoldEntity(name="Paris", document="iliad"),
    ]))
    assert [(e.type, e.document) for e in gold.entities] == [("City", None), ("Person", None), (None, "iliad")]
    assert gold.duplicates == 1


def test_names_without_letters_stay_apart() -> None:
    gold = gold_of([], [GoldTriple(subject="?", object="!")], label="made")
    assert (names(gold), gold.label) == (["?", "!"], "made")


def test_documents_can_be_chosen_by_name_file_or_stem() -> None:
    gold = distinct(GoldItems([], [
        GoldTriple(subject="a", object="b", document="books/Moby-Dick.txt"), GoldTriple(subject="c", object="d", document="emma"),
    ]))
    for wanted in ("books/Moby-Dick.txt", "moby-dick.txt", "Moby Dick"):
        assert names(only_documents(gold, [wanted])) == ["a", "b"]
    with pytest.raises(UsageError, match="nothing of ulysses"):
        only_documents(gold, ["emma", "ulysses"])


def test_choosing_every_document_changes_nothing() -> None:
    """Ends, spellings and types stay: `The Pequod` counts at the exact level with and without --filter-document."""
    gold = distinct(GoldItems(
        [GoldEntity(name="Pequod", type="Ship", document="moby"), GoldEntity(name="Emma", document="emma")],
        [GoldTriple(subject="The Pequod", object="Ahab", document="moby"), GoldTriple(subject="Emma", object="Emma", document="emma")],
    ))
    assert gold.spellings[0] == ("Pequod", "The Pequod")
    assert only_documents(gold, ["emma", "moby"]) == gold
    moby = only_documents(gold, ["moby"])
    assert [(moby.entities[a].name, moby.entities[b].name) for a, b in moby.ends] == [("Pequod", "Ahab")]
    assert moby.spellings == (("Pequod", "The Pequod"), ("Ahab",))


def test_a_version_number_is_no_file_ending() -> None:
    assert document_keys("Report 2.0") == ["=Report 2.0", "report 2 0"]
    assert "report 2 0" in document_keys("in/Report 2.0.pdf")


@pytest.mark.parametrize(("file", "content", "words"), [
    ("e.jsonl", "", "is empty"),
    ("e.json", "[]", "holds no gold item"),
    ("e.json", '{"a": 1}', "a list of gold items expected"),
    ("e.csv", "colour,size\nred,3\n", "no columns subject and object"),
    ("e.json", '[{"id": "Q1", "question": "?", "evidence": "Ahab hunts."}]', "none of its 1 questions has an evidence_triple"),
    ("e.json", '[{"id": "Q1", "question": "?", "evidence_triple": "(a, b)"}]', "every gold item is broken"),
])
def test_a_file_without_any_gold_item_is_an_error(tmp_path: Path, file: str, content: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_gold([write(tmp_path / file, content)])


def test_the_benchmarks_questions_give_the_counts_made_by_hand() -> None:
    """1,693 groups, 22 broken by commas; 90 to 237 distinct triples a book lie in the published 77 to 237."""
    path = DATA / "graphrag-bench-novel" / "questions.json"
    if not path.is_file():
        pytest.skip(f"shared data is absent: {path}")
    gold = read_gold([path])
    assert len(gold.triples) + gold.duplicates == 1671
    assert len(gold.faults) == 22
    assert all(77 <= count <= 237 for count in Counter(t.document for t in gold.triples).values())
    assert Counter(t.predicate for t in gold.triples).most_common(1)[0][0] == "has"
    assert len(gold.documents) == 8
