"""`kgeval schema`: every record has one, and files can be held against them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgeval import records
from kgeval.cli.main import cli
from kgeval.cli.schema import _files
from kgeval.errors import UsageError

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"


def schema(*words: str) -> tuple[int | None, str]:
    done = CliRunner().invoke(cli, ["schema", *words], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return done.return_value, done.output


@pytest.mark.parametrize("name", _files())
def test_every_schema_names_a_record_that_its_examples_fit(name: str) -> None:
    assert hasattr(records, "".join(part.capitalize() for part in name.split("-")))
    code, _ = schema("check", name, str(next((EXAMPLES / name / "valid").iterdir())))
    assert code == 0
    code, _ = schema("check", name, str(next((EXAMPLES / name / "invalid").iterdir())))
    assert code == 1


def test_the_list_says_what_each_is_and_show_prints_it() -> None:
    _, listed = schema("list")
    assert all(len(line.split(maxsplit=1)) == 2 for line in listed.splitlines())
    assert {one["name"] for one in json.loads(schema("list", "-f", "json")[1])} == set(_files())
    assert json.loads(schema("show", "answer")[1])["title"] == "Answer"
    with pytest.raises(UsageError, match="no such schema: anser"):
        schema("show", "anser")


def test_every_faulty_row_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"question_id": "1", "system": "s", "answer": "x"}\n{"question_id": "2", "system": "s"}\n{oops\n')
    code, output = schema("check", "answer", str(file))
    assert code == 1 and "a.jsonl:2: answer: Field required" in output and "a.jsonl:3: not JSON" in output and "3 rows, 2 faults" in output
