"""Chunks and sentences: laws that hold for every text, and borders that a reader would draw."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.errors import UsageError
from kgeval.llm.tokens import encoding
from kgeval.records import Document
from kgeval.text.chunk import TOKENIZER, count, split
from kgeval.text.sentences import sentences

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "graphrag-bench-novel" / "corpus.jsonl"
WORDS = st.sampled_from(
    [
        "Ada",
        "rowed",
        "to",
        "Vik.",
        "Mr.",
        "No!",
        "«Ja?»",
        "我来了。",
        "สวัสดีครับ",
        "مرحبا؟",
        "👨‍👩‍👧",
        "e\u0301",
        "\n\n",
        "\n# H\n",
        " ",
        "x" * 90,
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=120).map(" ".join), st.lists(WORDS, max_size=120).map("".join))
SIZES = st.integers(16, 80).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def document(text: str, key: str = "d") -> Document:
    return Document(id=key, text=text)


def book() -> str:
    if not DATA.is_file():
        pytest.skip("shared data not here: the books of GraphRAG-Bench")
    return str(json.loads(DATA.read_text(encoding="utf-8").split("\n")[3])["context"])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_every_character_that_is_no_whitespace_is_in_exactly_one_sentence(text):
    spans = sentences(text)
    assert all(start < end for start, end in spans) and all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    covered = {at for start, end in spans for at in range(start, end)}
    assert {at for at, c in enumerate(text) if not c.isspace()} <= covered


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TEXTS, SIZES)
def test_chunks_are_slices_within_the_size_that_cover_the_text_and_move_on(text, sizes):
    size, overlap = sizes
    chunks = split(document(text), size=size, overlap=overlap)
    assert all(chunk.text == text[chunk.start : chunk.end] and chunk.text.strip() for chunk in chunks)
    assert all(chunk.tokens == count(chunk.text) <= size for chunk in chunks)
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    assert {at for at, c in enumerate(text) if not c.isspace()} <= covered
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(chunks))
    assert all(count(text[b.start : a.end]) <= overlap + 2 for a, b in pairwise(chunks) if b.start < a.end)
    assert [chunk.index for chunk in chunks] == list(range(len(chunks))) and len({chunk.id for chunk in chunks}) == len(chunks)


@pytest.mark.slow
def test_tokens_are_those_of_the_named_vocabulary_decoded_back_to_the_text():
    """Second computation: the ids decode to the text, each is one entry of the vocabulary, and a known published count holds."""
    text = "Ada Holm rowed to Vik. 我来了。 👨‍👩‍👧"
    ids = encoding().encode_ordinary(text)
    assert count(text) == len(ids) and b"".join(encoding().decode_single_token_bytes(i) for i in ids).decode() == text
    assert TOKENIZER == "o200k_base" and count("hello world") == 2 and count("<|endoftext|>") > 1


def test_a_long_text_is_counted_in_parts_to_the_same_sum():
    text = "The ferry left Vik at dawn. " * 15_000
    assert len(text) > 400_000
    assert count(text) == pytest.approx(count(text[:28_000]) * 15, abs=15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Mr. Smith met J. R. R. Tolkien at 5 p.m. on Jan. 3. He left.",
            ["Mr. Smith met J. R. R. Tolkien at 5 p.m. on Jan. 3.", "He left."],
        ),
        ('"Really?" she asked. "Yes." Then... nothing.', ['"Really?" she asked.', '"Yes."', "Then... nothing."]),
        ("The U.S. Army won. It was in the U.S. The end.", ["The U.S. Army won.", "It was in the U.S.", "The end."]),
        (
            "It cost $3.50 vs. $4. See Fig. 3. He said no. So did I. Bob left.",
            ["It cost $3.50 vs. $4.", "See Fig. 3.", "He said no.", "So did I.", "Bob left."],
        ),
        ("彼は言った。「そうだ。」次の日、来た。", ["彼は言った。", "「そうだ。」", "次の日、来た。"]),
        ("你好吗？好！３．５元。", ["你好吗？", "好！", "３．５元。"]),
        ("هذا نص. هل تفهم؟ نعم.", ["هذا نص.", "هل تفهم؟", "نعم."]),
        ("नमस्ते। आप कैसे हैं?", ["नमस्ते।", "आप कैसे हैं?"]),
        (
            "# Title\nText goes\non here. More.\n- one\n- two\n\nAfter",
            ["# Title", "Text goes\non here.", "More.", "- one", "- two", "After"],
        ),
        ("It rained.[1] Then sun.[note] End", ["It rained.[1]", "Then sun.[note]", "End"]),
        (
            "Am 3. Mai kam Dr. Weiß, d.h. er. Das war 1999. Dann ging er.",
            ["Am 3. Mai kam Dr. Weiß, d.h. er.", "Das war 1999.", "Dann ging er."],
        ),
        (
            'He said "it is open and never closed. So it goes on. And on.',
            ['He said "it is open and never closed.', "So it goes on.", "And on."],
        ),
        ("www.example.org is up", ["www.example.org is up"]),
        ("1. First thing. 2. Second", ["1. First thing.", "2. Second"]),
        ("Your friend E. A. Bulfinch. A. Holm came.", ["Your friend E. A. Bulfinch.", "A. Holm came."]),
        ("Ada, _i.e._ The Pearl. *Bold.* Plain.", ["Ada, _i.e._ The Pearl.", "*Bold.*", "Plain."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_a_chunk_begins_with_the_last_whole_sentences_of_the_one_before():
    text = " ".join(f"Sentence number {n} of this text says very little." for n in range(40))
    first, second = split(document(text), size=60, overlap=25)[:2]
    assert first.text.endswith("little.") and second.text.startswith("Sentence number")
    assert 0 < count(text[second.start : first.end]) <= 25


def test_a_sentence_above_the_size_is_cut_at_words_and_a_word_at_characters():
    words = split(document("word " * 300), size=50, overlap=0)
    assert all(set(chunk.text.split()) == {"word"} for chunk in words)
    assert "".join(chunk.text for chunk in split(document("x" * 3000), size=50, overlap=0)) == "x" * 3000
    family = "👨‍👩‍👧"
    assert all(chunk.text.count("👨") == chunk.text.count("👧") for chunk in split(document(family * 60), size=50, overlap=0))


@pytest.mark.slow
def test_a_changed_paragraph_changes_only_the_chunks_around_it():
    text = book()
    at = sentences(text)[200][0]
    before = split(document(text))
    after = split(document(text[:at] + "A new sentence stands here. " + text[at:]))
    assert len({c.id for c in before} - {c.id for c in after}) <= 10 < len(before)


def test_equal_chunks_of_one_document_have_ids_of_their_own_and_of_two_documents_too():
    text = "Ada rowed to Vik. " * 100
    one, other = split(document(text), size=16, overlap=0), split(document(text, "e"), size=16, overlap=0)
    assert len({c.id for c in one + other}) == len(one) + len(other)
    assert [c.id for c in one] == [c.id for c in split(document(text), size=16, overlap=0)]


@pytest.mark.parametrize(("size", "overlap"), [(15, 0), (600, 600), (600, -1)])
def test_sizes_that_cannot_work_are_refused(size, overlap):
    with pytest.raises(UsageError, match="not possible"):
        split(document("x"), size=size, overlap=overlap)


@pytest.mark.long
@pytest.mark.parametrize("piece", ["The ferry left Vik. ", "x", "日", '"a. B ', "Mr. ", "... ", "\n", " "])
def test_time_grows_with_the_text_and_not_with_its_square(piece):
    def seconds(size: int) -> float:
        text = piece * (size // len(piece)) + "end"
        start = time.process_time()
        split(document(text))
        return time.process_time() - start

    seconds(1000)  # the vocabulary is read once
    small, large = (min(seconds(size) for _ in range(3)) for size in (10_000, 100_000))
    assert large < 40 * max(0.002, small)  # ten times the text; its square is a hundred


def test_a_book_is_covered_by_chunks_that_are_nearly_full():
    text = book()
    chunks = split(document(text))
    assert max(chunk.tokens for chunk in chunks) <= 600 and sum(c.tokens for c in chunks[:-1]) / (len(chunks) - 1) > 500
    assert 1.1 < sum(chunk.tokens for chunk in chunks) / count(text) < 1.25
