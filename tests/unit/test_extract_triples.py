"""Triples of one's own: each finds the chunk that it was taken from, and what finds none is listed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from kgeval.errors import InputError
from kgeval.records import Chunk
from kgeval.text.extract.mentions import ChunkSource, Extraction
from kgeval.text.extract.triples import TriplesExtractor

SEA = "Ada Holm rowed to Vik at dawn. Her brother Ole waited there."
LAND = "Ole Holm sold the boat to the Vik Ferry Company. Ada Holm never came back to Vik."


def source(key: str, text: str, document: str = "north.txt", title: str | None = None) -> ChunkSource:
    return ChunkSource(Chunk(id=key, document=document, index=0, text=text), title)


CHUNKS = [source("c1", SEA), source("c2", LAND), source("c3", "Ada Holm and Vik are in a list of names.", "list.md", "A list")]


def placed(
    folder: Path, rows: list[dict[str, object]], chunks: list[ChunkSource] = CHUNKS,
) -> tuple[dict[str, list[str]], TriplesExtractor]:
    path = folder / "t.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    extractor = TriplesExtractor(path)
    extractions = list(extractor.extract(iter(chunks)))
    assert [e.chunk_id for e in extractions] == [c.chunk.id for c in chunks]
    return {e.chunk_id: said(e) for e in extractions}, extractor


def said(extraction: Extraction) -> list[str]:
    names = [mention.name for mention in extraction.mentions]
    return [f"{names[link.source]} {link.predicate} {names[link.target]}" for link in extraction.links]


TRIPLE = {"subject": "Ada Holm", "predicate": "rowed to", "object": "Vik"}


@pytest.mark.parametrize(
    ("more", "chunk"),
    [
        ({"chunk_id": "c2"}, "c2"),  # its id
        ({"document": "north.txt", "sentence": "Ada Holm  never came back to Vik."}, "c2"),  # the sentence, whitespace aside
        (
            {"document": "north", "text": "Before. Ada Holm never came back to Vik. After that the passage goes on."},
            "c2",
        ),  # a longer passage
        ({"document": "north.txt"}, "c1"),  # both names in one sentence, in that document
        ({"document": "A List"}, "c3"),  # a document by its title
        ({"document": "elsewhere.txt"}, "c1"),
        ({}, "c1"),  # any chunk with both names
        ({"chunk_id": "strange-7", "chunk_text": LAND}, "c2"),  # the id of another chunking, with its text
        ({"chunk_id": "strange-7"}, "c1"),
    ],
)
def test_a_triple_goes_to_the_chunk_it_was_taken_from(tmp_path, more, chunk):
    found, extractor = placed(tmp_path, [{**TRIPLE, **more}])
    assert found == {key: ["Ada Holm rowed to Vik"] if key == chunk else [] for key in ("c1", "c2", "c3")}
    assert extractor.unplaced == [] and extractor.faults == []


def test_several_chunk_ids_place_it_in_each(tmp_path):
    found, _ = placed(tmp_path, [{**TRIPLE, "chunk_ids": ["c1", "c3"]}])
    assert [key for key, links in found.items() if links] == ["c1", "c3"]


def test_in_its_document_one_name_is_enough_elsewhere_both_are_needed(tmp_path):
    rows = [
        {"subject": "Ole Holm", "predicate": "likes", "object": "Nobody Else", "document": "north.txt"},
        {"subject": "Ole Holm", "predicate": "likes", "object": "Nobody Else"},
        {"subject": "Nobody", "predicate": "likes", "object": "Nobody Else", "document": "north.txt"},
    ]
    found, extractor = placed(tmp_path, rows)
    assert found["c2"] == ["Ole Holm likes Nobody Else"]
    assert extractor.unplaced == [
        "Ole Holm - likes - Nobody Else: no chunk has both names",
        "Nobody - likes - Nobody Else: no name of it is in document 'north.txt'",
    ]
    assert extractor.notes[-1].startswith("2 triples or entities belong to no chunk: Ole Holm - likes")


def test_mentions_carry_types_descriptions_and_places_and_links_the_sentence(tmp_path):
    row = {**TRIPLE, "subject_type": "Person", "object_type": "Place", "description": "Ada rowed there.", "chunk_id": "c1"}
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps({"triples": [row], "entities": [{"name": "Ole", "type": "Person", "description": "A brother"}]}), encoding="utf-8"
    )
    first = next(TriplesExtractor(path).extract(CHUNKS))
    assert [(m.name, m.type, m.description, SEA[m.start : m.end]) for m in first.mentions] == [
        ("Ada Holm", "Person", None, "Ada Holm"),
        ("Vik", "Place", None, "Vik"),
        ("Ole", "Person", "A brother", "Ole"),
    ]
    (link,) = first.links
    assert (link.description, SEA[link.start : link.end]) == ("Ada rowed there.", "Ada Holm rowed to Vik at dawn.")


def test_possessives_line_breaks_and_scripts_without_spaces_are_found(tmp_path):
    chunks = [source("a", "We saw Ada\nHolm's boat in Vik's harbour."), source("b", "王小明昨天去了北京大学。")]
    rows = [TRIPLE, {"subject": "王小明", "predicate": "去", "object": "北京大学"}]
    found, _ = placed(tmp_path, rows, chunks)
    assert found == {"a": ["Ada Holm rowed to Vik"], "b": ["王小明 去 北京大学"]}


def test_a_table_without_predicates_and_with_bad_rows_is_read_as_far_as_it_goes(tmp_path):
    (tmp_path / "t.csv").write_text("head,tail\nAda Holm,Vik\n,Vik\nAda Holm,Ole\n", encoding="utf-8")
    extractor = TriplesExtractor(tmp_path / "t.csv")
    assert said(next(extractor.extract(CHUNKS))) == ["Ada Holm related to Vik", "Ada Holm related to Ole"]
    assert len(extractor.faults) == 1 and extractor.faults[0].startswith("t.csv:3")


def test_the_signature_is_that_of_the_content(tmp_path):
    (tmp_path / "t.csv").write_text("s,p,o\na,b,c\n", encoding="utf-8")
    one = TriplesExtractor(tmp_path / "t.csv").signature
    assert one == TriplesExtractor(tmp_path / "t.csv").signature
    (tmp_path / "t.csv").write_text("s,p,o\na,b,d\n", encoding="utf-8")
    assert one != TriplesExtractor(tmp_path / "t.csv").signature


def test_a_file_without_triples_is_an_input_error(tmp_path):
    (tmp_path / "t.json").write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(InputError, match="no list of triples"):
        TriplesExtractor(tmp_path / "t.json")


@pytest.mark.long
def test_many_triples_find_their_places_among_many_chunks_without_comparing_all_with_all(tmp_path):
    def seconds(size: int) -> float:
        chunks = [source(f"k{at}", f"Here Ada{at} met Ole{at}. Nothing else happened on that day.") for at in range(size)]
        rows = [{"subject": f"Ada{at}", "predicate": "met", "object": f"Ole{at}"} for at in range(size)]
        start = time.process_time()
        found, extractor = placed(tmp_path, rows, chunks)
        assert found == {f"k{at}": [f"Ada{at} met Ole{at}"] for at in range(size)} and extractor.unplaced == []
        return time.process_time() - start

    small, large = (min(seconds(size) for _ in range(2)) for size in (150, 1500))
    assert large < 40 * small  # ten times as many of both; all with all is a hundred times


@pytest.mark.parametrize("text", ["subject,predicate,object\n", "subject,predicate,object\n,knows,\n"])
def test_a_file_without_a_triple_is_an_error_and_no_empty_graph(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="holds no triples"):
        TriplesExtractor(path)
