"""Words shared with the reference: examples by hand, the originals computed a second time, laws, and sizes."""

from __future__ import annotations

import json
import random
import re
import string
import time
import tracemalloc
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgeval.metrics.definition import MetricSettings, MetricValue, Subject
from kgeval.metrics.facts import RowFacts
from kgeval.metrics.lexical import METRICS, rouge_words
from kgeval.metrics.select import lacking
from kgeval.metrics.words import lcs_length, words
from kgeval.records import Answer, Question, Row

LAW = settings(deadline=None)  # the first example may load a library
BY_NAME = {metric.name: metric for metric in METRICS}
OURS = ("exact_match", "token_f1", "rouge_l")
PAIRS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ragchecker-human" / "pairs.json"
TEXTS = st.text(st.sampled_from("ab Aé.,-'’—3 1$北ไทٱ\u200b\u0301\n"), max_size=30) | st.text(max_size=30)
SAID = ["the", "a", "an", "cat", "Cats", "sat", "well-known", "U.S.", "Paris,", "(war)", "running", "ran", "it's"]
ENGLISH = st.lists(st.sampled_from(SAID), max_size=12).map(" ".join)


def value(name: str, answer: str, *references: str, error: str | None = None) -> MetricValue:
    row = Row(
        n=0, where="", question=Question(id="q", question="?", references=list(references)),
        answer=Answer(question_id="q", system="s", answer=answer, error=error),
    )
    return BY_NAME[name].value(Subject(row, RowFacts(), MetricSettings()))


def number(name: str, answer: str, *references: str) -> float:
    found = value(name, answer, *references).value
    assert found is not None
    return found


@pytest.mark.parametrize(("text", "expected"), [
    ("The U.S. well-known", "us wellknown"),
    ("war—peace…end", "war peace end"),
    ("O’Neil's", "oneils"),
    ("STRASSE straße ﬁne", "strasse strasse fine"),
    ("北京，大学 is", "北 京 大 学 is"),
    ("สวัสดี", "ส วั ส ดี"),
    ("नमस्ते दुनिया।", "नमस्ते दुनिया"),
    ("한국어 단어", "한국어 단어"),
    ("3,5 10,20 1,00,000 1,234,567.5 1,2345", "3 5 10 20 100000 1234567.5 1 2345"),
    ("3.5 35 1,000 1’000 10:30 10-20 1914–1918", "3.5 35 1000 1000 10 30 10 20 1914 1918"),
    ("-5 −5 x-5", "-5 -5 x5"),
    ("C++ $5 5€ <5", "c + + $ 5 5 € < 5"),
    ("`code` **bold** _it_ | cell |", "code bold it cell"),
    ("❤️ ❤", "❤ ❤"),
    ("soft\u00adhy\u200bphen", "softhyphen"),
    ("a", "a"), ("The the", "the the"), ("!?", "!?"), ("\u200b \u2060", ""), ("", ""),
])
def test_words_by_hand(text: str, expected: str) -> None:
    assert " ".join(words(text)) == expected


def test_articles_stay_where_they_are_asked_for() -> None:
    assert words("The cat saw an owl", articles=True) == ["the", "cat", "saw", "an", "owl"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "answer", "reference", "expected"), [
    ("exact_match", "the  PARIS.", "Paris", 1), ("exact_match", "Paris, France", "Paris", 0), ("exact_match", "北 京", "北京", 1),
    ("exact_match", "A", "B", 0), ("exact_match", "A", "a.", 1), ("exact_match", "3.5", "35", 0), ("exact_match", "+", "-", 0),
    ("token_f1", "Marie Curie", "Curie", 2 / 3), ("token_f1", "cat cat dog", "cat dog dog", 2 / 3), ("token_f1", "北京大学", "北京", 2 / 3),
    ("token_f1", "x", "y", 0), ("rouge_l", "the cat sat", "the dog sat", 2 / 3), ("rouge_l", "a b c d", "d c b a", 1 / 4),
    ("rouge_l", "北京是首都", "首都是北京", 2 / 5), ("rouge_l_compat", "running cats", "run cat", 1),
    ("rouge_l_compat", "北京是中国的首都", "北京是中国的首都", 0), ("token_f1_compat", "3.5", "35", 1),
    ("exact_match_compat", "A", "the", 1),
])
def test_values_by_hand(name: str, answer: str, reference: str, expected: float) -> None:
    assert number(name, answer, reference) == pytest.approx(expected)


@pytest.mark.parametrize("name", BY_NAME)
def test_an_empty_answer_is_0_and_an_empty_reference_has_no_meaning(name: str) -> None:
    for answer, error in (("", None), (" \n", None), ("Paris", "timeout")):
        found = value(name, answer, "Paris", error=error)
        assert (found.status, found.value, dict(found.detail)) == ("scored", 0, {"empty_answer": True})
    row = Row(n=0, where="", question=Question(id="q", question="?", reference=" "), answer=Answer(question_id="q", system="s", answer="x"))
    assert lacking(BY_NAME[name], row) == "no reference answer is given"
    assert value(name, "x", "\u200b").status == "not_applicable"


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ("bleu", "chrf")])  # sacrebleu takes all references at once
def test_the_best_reference_counts_and_is_named(name: str) -> None:
    found = value(name, "blue whale", "a red fox", "the blue whale", "whale")
    assert found.value == 1 or name.startswith("rouge")
    assert found.detail["reference"] == 2
    assert found.value == max(number(name, "blue whale", text) for text in ("a red fox", "the blue whale", "whale"))


def test_the_detail_holds_the_counts_behind_the_value() -> None:
    found = value("token_f1", "cat cat dog", "cat dog dog bird").detail
    assert dict(found) == {"common": 2, "answer_words": 3, "reference_words": 4, "precision": 2 / 3, "recall": 1 / 2}


@pytest.mark.long
@pytest.mark.parametrize("name", BY_NAME)
@LAW
@given(answer=TEXTS, references=st.lists(TEXTS, min_size=1, max_size=3))
def test_values_lie_between_0_and_1_and_the_order_of_references_does_not_count(name: str, answer: str, references: list[str]) -> None:
    found, turned = value(name, answer, *references), value(name, answer, *reversed(references))
    assert (found.status, found.value) == (turned.status, turned.value)
    assert found.value is None or 0 <= found.value <= 1


@pytest.mark.slow
@LAW
@given(text=TEXTS)
def test_a_text_against_itself_is_1_in_every_script(text: str) -> None:
    if words(text):
        assert [number(name, text, text) for name in OURS] == [1, 1, 1]


@LAW
@given(one=TEXTS, other=TEXTS)
def test_answer_and_reference_can_change_places(one: str, other: str) -> None:
    if words(one) and words(other):
        for name in OURS:
            assert number(name, one, other) == number(name, other, one)


@LAW
@given(text=TEXTS)
@example(text="5 %")
@example(text="a CD3é- cell")
def test_letter_case_normal_form_and_blanks_do_not_count(text: str) -> None:
    spaced = "  ".join(text.split(" "))
    decomposed = unicodedata.normalize("NFD", text)
    assert words(spaced) == words(text) == words(decomposed)


@pytest.mark.slow
@LAW
@given(one=ENGLISH, other=ENGLISH)
def test_on_plain_english_ours_equals_the_original(one: str, other: str) -> None:
    bare = {"the", "a", "an", ""}
    if set(one.split()) <= bare or set(other.split()) <= bare:
        return
    assert number("exact_match", one, other) == number("exact_match_compat", one, other)
    assert number("token_f1", one, other) == number("token_f1_compat", one, other)


def squad(text: str) -> list[str]:
    """SQuAD's normal form a second time, word by word instead of by substitution."""
    plain = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return [word for word in re.split(r"\s+|\b(?:a|an|the)\b", plain) if word]


def squad_f1(one: list[str], other: list[str]) -> float:
    if not one or not other:
        return float(one == other)
    left, same = list(other), 0
    for word in one:
        if word in left:
            left.remove(word)
            same += 1
    precision, recall = same / len(one), same / len(other)
    return 2 * precision * recall / (precision + recall) if same else 0.0


@LAW
@given(one=ENGLISH | TEXTS, other=ENGLISH | TEXTS)
def test_the_compat_variants_equal_squads_script_computed_a_second_time(one: str, other: str) -> None:
    if one.strip() and words(other):
        first, second = squad(one), squad(other)
        assert number("token_f1_compat", one, other) == pytest.approx(squad_f1(first, second), abs=1e-12)
        assert number("exact_match_compat", one, other) == (" ".join(first) == " ".join(second))


def real_texts() -> list[tuple[str, str]]:
    if not PAIRS.is_file():
        pytest.skip("shared data is absent: ragchecker-human")
    rows = json.loads(PAIRS.read_text(encoding="utf-8"))
    return [(row[model]["response"], row["gt_answer"]) for row in rows[::8] for model in ("model1", "model2")]


def made_texts() -> list[tuple[str, str]]:
    rng = random.Random(5)
    alphabet = [*"abcxyz0189 -_.,'’é北Kß\n", "running ", "ponies ", "skies ", "dying ", "yyy", "relational "]
    return [tuple("".join(rng.choices(alphabet, k=rng.randrange(60))) for _ in range(2)) for _ in range(400)]  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.parametrize("texts", [made_texts, real_texts])
def test_rouge_l_compat_equals_the_rouge_score_package(texts: object) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    checked = 0
    for answer, reference in texts():  # type: ignore[operator]
        if answer.strip() and words(reference):
            theirs = scorer.score(reference, answer)["rougeL"]
            found = value("rouge_l_compat", answer, reference)
            assert found.value == pytest.approx(theirs.fmeasure, abs=1e-15)
            assert (found.detail["precision"], found.detail["recall"]) == (theirs.precision, theirs.recall)
            checked += 1
    assert checked > 50


def test_the_stemmer_that_remembers_gives_the_packages_words() -> None:
    from rouge_score.tokenizers import DefaultTokenizer

    text = "Relational ponies' skies were running, generously; the " + "long" * 40 + "ing yyyyy 北京 naïve 2024s"
    assert rouge_words(text) == rouge_words(text) == DefaultTokenizer(use_stemmer=True).tokenize(text)


def lcs_by_table(one: str, other: str) -> int:
    row = [0] * (len(other) + 1)
    for a in one:
        before = 0
        for at, b in enumerate(other, 1):
            before, row[at] = row[at], before + 1 if a == b else max(row[at], row[at - 1])
    return row[-1]


@LAW
@given(one=st.text("abcde", max_size=90), other=st.text("abcde", max_size=90))
def test_the_longest_common_subsequence_equals_the_table_of_the_textbook(one: str, other: str) -> None:
    assert lcs_length(list(one), list(other)) == lcs_by_table(one, other)


def test_more_than_55_296_different_words_get_different_codes() -> None:
    many = [f"w{n}" for n in range(60_000)]
    assert lcs_length(many, many) == 60_000
    assert lcs_length(many, many[30_000:]) == 30_000


@pytest.mark.long
def test_an_answer_of_1_mb_is_scored_whole_in_little_memory() -> None:
    """Compared within one run: 4 times the words may take 16 times as long (n * m), not more than 40 times."""
    rng = random.Random(1)
    vocabulary = [f"word{n}" for n in range(4000)]
    weights = [1 / (n + 3) for n in range(4000)]

    def took(size: int) -> float:
        answer, reference = (" ".join(rng.choices(vocabulary, weights, k=size)) for _ in range(2))
        started = time.process_time()
        found = value("rouge_l", answer, reference)
        assert found.detail["answer_words"] == size
        return time.process_time() - started

    small = took(20_000)
    tracemalloc.start()
    large = took(80_000)  # about 0.6 MB each
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert large < 40 * max(small, 0.02) and peak < 120_000_000


@pytest.mark.long
@pytest.mark.parametrize("answer", [
    "-." * 150_000, "\u0301" * 300_000, "a\u0301" * 300_000, "y" * 1_000_000, "\ufdfa" * 20_000,
])
def test_hostile_answers_of_1_mb_are_scored(answer: str) -> None:
    for name in BY_NAME:
        assert value(name, answer, "short reference").value == 0


def test_common_words_are_counted_as_often_as_both_have_them() -> None:
    one, other = words("cat cat cat dog"), words("cat cat bird")
    assert value("token_f1", "cat cat cat dog", "cat cat bird").detail["common"] == (Counter(one) & Counter(other)).total() == 2
