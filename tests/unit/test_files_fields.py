"""The table of names: what users' files call things, and one way to read a row by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgeval.errors import InputError
from kgeval.tables import fields
from kgeval.tables.fields import ANCHORS, LABELS, ROWS, SCORES, SHARES, VERDICTS, coerced, columns
from kgeval.tables.label_files import read_labels, read_shares


@pytest.mark.parametrize("table", [LABELS, ANCHORS, SHARES, VERDICTS, SCORES])
def test_a_files_own_word_is_the_first_name_of_its_field(table: fields.Fields) -> None:
    """So that what kgeval writes is read as it was meant, whatever else stands beside it."""
    assert [name for name, field in table.items() if field.names[0] != name] == (["low", "high"] if table is SCORES else [])
    for field in table.values():
        assert len(set(field.names)) == len(field.names) and (field.meaning or not field.needed)


def test_a_row_is_read_whole_with_every_misfit() -> None:
    values, misfits = coerced({"hops": "2", "latency_s": -1, "question": ["Q"], "system": 3.0, "points": None}.items(), ROWS)
    assert values == {"hops": 2, "system": "3", "points": None}
    assert {name: str(misfit) for name, misfit in misfits.items()} == {
        "latency_s": "a number of 0 or more expected, found -1", "question": "a text expected, found a list",
    }


def test_columns_are_found_whatever_their_case_and_each_once() -> None:
    found = columns(["Head", "relation-type", "TAIL", "Doc ID", "source"], fields.TRIPLES)
    assert found == {"subject": "Head", "predicate": "relation-type", "object": "TAIL", "document": "Doc ID"}
    assert columns(["source", "label"], fields.TRIPLES) == {"subject": "source", "predicate": "label"}


def test_labels_may_name_questions_and_systems_as_verdicts_do_and_faults_name_their_own_field(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text('{"query_id": "q", "answer_1_name": "x", "answer_2_name": "y", "label": "y"}\n', encoding="utf-8")
    [label] = read_labels([path])
    assert (label.question_id, label.system_a, label.system_b, label.value, label.annotator) == ("q", "x", "y", -1.0, "l")
    path.write_text('{"query_id": true, "label": "maybe", "rater": ["r"]}\n{"query_id": "q", "label": "maybe"}\n', encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_labels([path])
    assert [fault.partition(",")[0] for fault in wrong.value.faults] == [
        "l.jsonl:1: query_id: an id expected", "l.jsonl:1: rater: a text expected", "l.jsonl:2: label: 'maybe' is no label: a",
    ]


def test_a_judge_who_says_nan_has_said_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("judge,human\nyes,1\nnan,0\n", encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_shares([path], {})
    assert wrong.value.faults == ("s.csv:3: judge: the judge's verdict is lacking",)
