"""Labels, relation types and index keys made from strangers' names; files written as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgeval.errors import InputError, UsageError
from kgeval.graph.load import naming
from kgeval.graph.load.model import Entity, Relation
from kgeval.graph.load.writer import batches
from kgeval.tables import read_json, read_jsonl, write_jsonl, write_text
from kgeval.text.names import normalise


@pytest.mark.parametrize(("predicate", "type_"), [
    ("born in", "BORN_IN"), ("bornIn", "BORN_IN"), ("born-in!", "BORN_IN"), ("KNOWS", "KNOWS"), ("живёт в", "ЖИВЁТ_В"),
    ("???", "RELATED"), ("x" * 300, "RELATED"), ("from chunk", "RELATED"), ("a`b", "A_B"),
])
def test_relation_types_are_predicates_in_upper_snake(predicate: str, type_: str) -> None:
    assert naming.upper_snake(predicate) == type_


def test_more_than_a_thousand_relation_types_become_one() -> None:
    few = [Relation(0, 0, predicate=f"p{n}") for n in range(1000)]
    assert naming.relation_types(few)["p7"] == "P7"
    assert set(naming.relation_types([*few, Relation(0, 0, predicate="p1000")]).values()) == {"RELATED"}


def test_reserved_labels_and_graph_names_never_become_type_labels() -> None:
    types = ["Person", "Chunk", "__Community__", "novels", "a`b", "x" * 300, None]
    assert naming.type_labels([Entity("e", type=t) for t in types], {"novels"}) == {"Person", "a`b"}


@pytest.mark.parametrize("name", ["", " ", " a", "Chunk", "Document", "__Entity__", "__mine", "x" * 201, "a\0b"])
def test_names_that_cannot_be_a_graphs_label_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        naming.check_graph_name(name)


def test_a_name_key_fits_into_an_index_and_stays_distinct() -> None:
    long, longer = naming.name_key("x" * 100_000, normalise), naming.name_key("x" * 100_001, normalise)
    assert long and longer and long != longer and len(long.encode()) < 8000
    assert [naming.name_key(name, normalise) for name in ("The Whale!", None, "!")] == ["whale", None, None]


def test_batches_are_cut_by_rows_and_by_text() -> None:
    assert [len(part) for part in batches([[n, {}] for n in range(5)], 2)] == [2, 2, 1]
    assert [len(part) for part in batches([[{"text": "x" * 5_000_000}]] * 4, 100)] == [2, 2]


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    write_jsonl(file, [{"name": "Ægir"}, [1]])
    assert [line.value for line in read_jsonl(file)] == [{"name": "Ægir"}, [1]]
    with pytest.raises(UnicodeEncodeError):
        write_text(file, "\ud800")
    assert file.read_text(encoding="utf-8").startswith('{"name"') and [f.name for f in tmp_path.iterdir()] == ["rows.jsonl"]
    with pytest.raises(InputError):
        write_text(file / "x", "y")


def test_a_number_of_thousands_of_digits_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[" + "9" * 5000 + "]")
    with pytest.raises(InputError, match="JSON that cannot be read"):
        read_json(tmp_path / "a.json")
