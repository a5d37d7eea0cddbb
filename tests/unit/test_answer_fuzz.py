"""Whatever stands in a row: it is read, or it is refused with a fault. Nothing else is raised, and nothing is changed on the way."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.errors import InputError, UsageError
from kgeval.tables.fields import ROWS
from kgeval.tables.rows import RowSelection, open_rows, read_questions
from kgeval.tables.shapes import shapes, top
from kgeval.tables.stream import object_rows

NAMES = sorted(
    {name for field in ROWS.values() for name in field.names} | {"answer", "context", "unknown", "evidence_triple", "actual_steps"}
    | {top(one) for shape in shapes() for given in (*shape.fields.values(), *shape.needs) for one in given.split("|")}
)
ODD = st.sampled_from(["[1]", "['a' 'b']", "{", "nan", "\ud800"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ROW = st.dictionaries(st.sampled_from(NAMES), VALUE, max_size=8)


MAPS = st.dictionaries(st.sampled_from(sorted(ROWS)), st.sampled_from(NAMES), max_size=2)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=4), st.booleans(), MAPS)
def test_any_row_is_read_or_refused(rows: list[dict[str, Any]], questions: bool, maps: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        try:
            if questions:
                assert len(list(read_questions(path, maps))) == len(rows)
            else:
                with open_rows(RowSelection((path,), maps=maps)) as found:
                    assert len(list(found)) >= 1
                    assert all(row.question.question for row in found)
        except (InputError, UsageError) as refused:
            assert refused.fix


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(VALUE)
def test_any_json_value_holds_rows_or_is_refused(value: Any) -> None:
    try:
        list(object_rows(value, "x.json"))
    except InputError as refused:
        assert refused.fix


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(min_size=1), st.text(), st.lists(st.text())), min_size=1, max_size=4))
def test_texts_come_through_unchanged(given: list[tuple[str, str, list[str]]]) -> None:
    rows = [{"question_id": n, "question": f"Q{n}: {q}", "answer": a, "contexts": c} for n, (q, a, c) in enumerate(given)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_text(json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
        with open_rows(RowSelection((path,))) as found:
            for row, expected in zip(found, rows, strict=True):
                assert (row.question.question, row.answer.answer) == (expected["question"], expected["answer"])
                assert row.answer.context_texts == tuple(text for text in expected["contexts"] if text.strip())
