"""Checks that need no model: leaks, twins, counts and intervals, thresholds; which checks can be done with what is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_page import unpacked

from kgeval.errors import UsageError
from kgeval.metrics.path import path_picture
from kgeval.questions.checking.check_table import CHECKS, QuestionCheckOutcome, chosen_checks, decided, not_applicable
from kgeval.questions.checking.figures import MOST_PATHS, CheckTally, differences, failed_share
from kgeval.questions.checking.gates import evaluated, parse_check_gates
from kgeval.questions.checking.leak import leak, words
from kgeval.questions.checking.path_checks import chain_of
from kgeval.questions.checking.run import CheckContext, checked, with_checks
from kgeval.questions.duplicates import QuestionFingerprint, fingerprint_of, marks, twins
from kgeval.records import CheckReport, GoldPath, GraphRef, Question, QuestionCheck
from kgeval.reports.write import rendered
from kgeval.stats.intervals import newcombe, quantile


def asked(text: str, *right: str, **more: object) -> Question:
    return Question.model_validate({"id": "q", "question": text, "references": list(right), **more})


LEAKS = [
    ("Who is Mara Quill?", "Mara Quill"), ("Which ship is the NORTH LIGHT?", "The North Light"),
    ("Was the storm of 1891 in 1891?", "1891"), ("Which Velmouth harbour is meant?", "the harbour of Velmouth"),
    ("What is Velmouth’s name?", "Velmouth"), ("How many of the 1,200 ships were 1200?", "1,200"), ("東京はどこの都市ですか", "東京"),
    ("Who are Ada, Bo and Cy?", "Bo, Cy and Ada"), ("Wo liegt Sankt Gallen?", "in Sankt Gallen"),
]
NO_LEAKS = [
    ("Who captains the North Light?", "Mara Quill"), ("How many of the 2 ships sank?", "2"), ("Which year came after 12?", "1200"),
    ("Which is older, the mill or the quay?", "the mill"), ("Who captains the North Light?", "Mara Quill captains the North Light."),
    ("Who are Ada and Bo's friends?", "Ada, Cy"), ("京に東の門はありますか", "東京"), ("Who built the art school?", "Art Lee"),
    ("Is plan C good?", "C"), ("Which car did Carla sell?", "Car 3"),
]


@pytest.mark.parametrize(("text", "answer"), LEAKS)
def test_a_question_leaks_where_every_telling_word_of_its_answer_stands_in_it(text: str, answer: str) -> None:
    found = leak(asked(text, answer))
    assert found.status == "failed"
    assert found.reason.startswith("the question says the answer")


@pytest.mark.parametrize(("text", "answer"), NO_LEAKS)
def test_parts_choices_small_numbers_and_parts_of_words_are_no_leak(text: str, answer: str) -> None:
    assert leak(asked(text, answer)).status == "passed"


def test_what_is_in_the_question_in_part_is_shown() -> None:
    assert leak(asked("Who captains the North Light?", "Mara Quill captains the North Light.")).reason == (
        "3 of 5 words of the answer are in the question"
    )
    assert leak(asked("Who is with Ada and Bo?", "Ada; Bo; Cy")).reason == "2 of 3 items of the answer are in the question"
    assert "one of several" in leak(asked("Which is older?", "older", kind="comparison")).reason


@pytest.mark.parametrize(("question", "words_"), [
    (asked("Is it so?", "Yes."), "yes or no"), (asked("Which band?", "The Who"), "no word"), (asked("What?"), "no right answer"),
    (asked("Who?", "The texts do not say who.", level="negative"), "negative"),
])
def test_some_questions_have_nothing_to_give_away(question: Question, words_: str) -> None:
    found = leak(question)
    assert found.status == "not_applicable"
    assert words_ in found.reason


def test_one_right_answer_in_the_question_is_enough() -> None:
    assert leak(asked("Who is Mara?", "Captain Quill", "Mara")).status == "failed"


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_a_question_that_is_its_answer_never_passes_silently(text: str) -> None:
    found = leak(asked(text, text))
    assert found.status in ("failed", "not_applicable") or found.reason


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=40))
def test_words_are_the_same_in_any_case(text: str) -> None:
    assert words(text) == words(text.lower()) or text.lower().upper() != text.upper()  # letters whose case does not go both ways


VECTORS = {"Who founded it?": (1.0, 0.0), "Who was its founder?": (0.95, 0.31225), "What is sown there?": (0.0, 1.0)}


def embed(texts: Sequence[str]) -> np.ndarray:
    found = np.array([VECTORS[text] for text in texts], dtype=np.float32).reshape(-1, 2)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def given_asks(*texts: str, number: int = 0) -> list[QuestionFingerprint]:
    return [QuestionFingerprint(f"q{n}", text, number, marks(text)) for n, text in enumerate(texts)]


def test_twins_are_equal_texts_equal_words_and_near_embeddings_each_with_the_earlier_one() -> None:
    given_ = given_asks("Who founded it?", "What is sown there?", "who founded it", "Who was its founder?", "Who founded it?")
    found = [(twin.later, twin.earlier, twin.how, twin.similarity) for twin in twins(given_, embed_any)]
    assert found == [(2, 0, "normalised", None), (3, 0, "embedding", 0.95), (4, 0, "exact", None)]
    assert [(twin.later, twin.how) for twin in twins(given_)] == [(2, "normalised"), (4, "exact")]


def embed_any(texts: Sequence[str]) -> np.ndarray:
    return embed([next(known for known in VECTORS if known.lower().strip("?") == text.lower().strip("?")) for text in texts])


def test_of_two_sets_each_question_has_a_twin_in_its_own_and_in_the_first() -> None:
    given_ = [*given_asks("Who founded it?", "What is sown there?"), *given_asks("What is sown there?", "What is sown there?", number=1)]
    found = [(twin.later, twin.earlier) for twin in twins(given_, embed)]
    assert found == [(2, 1), (3, 1), (3, 2)]


def test_near_questions_about_other_names_numbers_or_answers_are_two() -> None:
    def near(one: Question, other: Question) -> bool:
        return any(twins([fingerprint_of(one), fingerprint_of(other)], lambda texts: np.ones((len(texts), 1), dtype=np.float32)))

    assert near(asked("When did Mara Quill sail?", "1891"), asked("In what year did Mara Quill's ship sail?", "1891"))
    assert not near(asked("When did Mara Quill sail?"), asked("When did Ada Hall sail?"))
    assert not near(asked("What happened in 1891?"), asked("What happened in 1892?"))
    assert not near(asked("Who founded it?", "Ada"), asked("When was it founded?", "1891"))
    assert near(asked("Who founded it?", "Ada"), asked("Who was its founder?"))


def test_twins_by_blocks_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(300, 8)).astype(np.float32)
    vectors[150:] = vectors[:150] + rng.normal(scale=0.2, size=(150, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    given_ = [QuestionFingerprint(str(n), f"what is it {chr(0x4E00 + n)}") for n in range(300)]
    found = {twin.later: twin.earlier for twin in twins(given_, lambda _: vectors, 0.9)}
    cosines = vectors @ vectors.T
    expected = {n: int(cosines[n, :n].argmax()) for n in range(1, 300) if cosines[n, :n].max() >= 0.9}
    assert len(expected) > 50
    assert found == expected


def tally(statuses: str, file: str = "a.jsonl", check: str = "leak") -> CheckTally:
    """p passed, f failed, n not applicable, u unscored."""
    made = CheckTally(file, [check])
    for n, status in enumerate(statuses):
        one = {
            "p": decided(check, True), "f": decided(check, False, "said"), "n": not_applicable(check, "none"),
            "u": QuestionCheckOutcome(check, "unscored", "timeout: late", "timeout"),
        }[status]
        made.add(asked(f"Q{n}?", level="negative" if status == "n" else "node"), [one])
    return made


def test_a_figure_says_what_it_is_over_and_what_the_unscored_could_change() -> None:
    (figure,) = tally("pppfnuu").result().figures
    assert (figure.n, figure.passed, figure.failed, figure.not_applicable, figure.unscored) == (7, 3, 1, 1, 2)
    assert (figure.share, figure.bound_low, figure.bound_high) == (0.75, 0.5, pytest.approx(5 / 6))
    assert (figure.causes, figure.why_not) == ({"timeout": 2}, {"none": 1})
    assert figure.low is not None and figure.high is not None and figure.low < 0.75 < figure.high
    (nothing,) = tally("nn").result().figures
    assert (nothing.share, nothing.low, nothing.bound_low) == (None, None, None)
    assert failed_share([tally("pppfnuu").result()]) == pytest.approx(2 / 6)


def test_figures_by_level_add_up_and_examples_are_of_failures() -> None:
    found = tally("ppfnn").result(["read as x"])
    assert {level: figures[0].n for level, figures in found.levels.items()} == {"negative": 2, "node": 3}
    assert [(one.check, one.reason) for one in found.examples] == [("leak", "said")]
    assert (found.n, found.negative, found.references, found.notes) == (5, 2, 0, ["read as x"])


def test_a_file_whose_types_are_free_text_has_no_group_for_each() -> None:
    made = CheckTally("a", ["leak"])
    for n in range(200):
        made.add(asked("Q?", kind=f"kind {n}"), [decided("leak", True)])
    assert len(made.result().levels) <= 51
    assert sum(figures[0].n for figures in made.result().levels.values()) == 200


@pytest.mark.parametrize(("first", "second", "low", "high"), [
    ((9, 10), (4, 12), 0.1559260579, 0.778450817), ((0, 5), (7, 7), -1.0, -0.4393529904),
    ((50, 100), (50, 100), -0.136002754, 0.136002754), ((1, 3), (2, 4), -0.6098037219, 0.4105336414),
])
def test_the_interval_of_a_difference_is_newcombes_as_statsmodels_has_it(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float,
) -> None:
    """Figures of confint_proportions_2indep(..., method="newcomb", compare="diff"): to import it takes seconds."""
    found = newcombe((first[0] / first[1], first[1]), (second[0] / second[1], second[1]), quantile=quantile())
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_two_sets_differ_in_the_checks_that_both_have_a_share_of() -> None:
    (found,) = differences(tally("pppf").result(), tally("pfff", "b").result())
    assert (found.check, found.difference, found.n_first, found.n_second) == ("leak", 0.5, 4, 4)
    assert found.low < 0.5 < found.high
    assert differences(tally("pp").result(), tally("nn", "b").result()) == []


@pytest.mark.parametrize(("statuses", "gate", "met"), [
    ("pppp", "leak>=0.9", True), ("ppff", "leak=0.9", False), ("pppu", "leak>=0.8", None), ("pppu", "leak>=0.75", True),
    ("ffff", "leak<=0.1", True), ("pppf", "a.jsonl:leak>=0.75", True), ("nn", "leak>=0.5", None),
])
def test_a_threshold_is_met_missed_or_without_an_answer(statuses: str, gate: str, met: bool | None) -> None:
    (found,) = evaluated(parse_check_gates([gate], ["leak"], ["a.jsonl"]), [tally(statuses).result()], complete=True)
    assert found.met is met
    (stopped,) = evaluated(parse_check_gates([gate], ["leak"], ["a.jsonl"]), [tally(statuses).result()], complete=False)
    assert stopped.met is None


def test_faulty_thresholds_are_named_all_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        parse_check_gates(["leak", "unique>=0.5", "nothing>=1", "leak>=2", "b:leak>=0.1", "leak>=x"], ["leak"], ["a"])
    told = ("'leak': this is not", "unique is not among", "nothing is no check", "2 is not a number", "called b", "x is not a number")
    for words_ in told:
        assert words_ in caught.value.message


def test_checks_are_those_that_can_be_done_with_what_is_there() -> None:
    assert chosen_checks([], model=False, graph=False) == ("not_in_one_passage", "leak", "duplicate")
    assert chosen_checks([], model=True, graph=False) == (
        "answerable", "closed_book", "unique_wording", "not_in_one_passage", "leak", "duplicate",
    )
    assert chosen_checks([], model=False, graph=True) == (
        "unique", "unique_wording", "not_in_one_passage", "leak", "duplicate", "no_shortcut", "absent")
    assert chosen_checks(["leak", "answerable"], model=True, graph=True) == ("answerable", "leak")
    assert set(chosen_checks([], model=True, graph=True)) == set(CHECKS)
    with pytest.raises(UsageError, match="answerable cannot be done without a model"):
        chosen_checks(["answerable"], model=False, graph=True)
    with pytest.raises(UsageError, match="there is no check leaks"):
        chosen_checks(["leaks"], model=True, graph=True)


def test_without_model_and_graph_a_question_gets_the_checks_by_words_and_keeps_its_others() -> None:
    question = asked("Who is Ada?", "Ada", checks=[{"name": "leak", "passed": True}, {"name": "evidence_from_text", "passed": True}])
    assert [outcome.record.name for outcome in checked(question, CheckContext())] == ["not_in_one_passage", "leak"]
    found = with_checks(question, checked(question, CheckContext(("leak", "duplicate"), earlier={"q": ("p", "the same words")})))
    assert found.checks == [
        QuestionCheck(name="evidence_from_text", passed=True),
        QuestionCheck(name="leak", passed=False, reason="the question says the answer: Ada"),
        QuestionCheck(name="duplicate", passed=False, reason="the same words as p"),
    ]


def chain(*names: str, relations: Sequence[str]) -> Question:
    refs = [GraphRef(key=name, name=name) for name in names]
    return asked("Q?", path=GoldPath(nodes=refs, relations=[GraphRef(key=name, name=name, kind="relation") for name in relations]))


def test_a_gold_path_is_a_chain_only_where_each_relation_joins_the_next_two_nodes() -> None:
    found = chain_of(chain("Ada", "Mill", "Kent", relations=["Ada -[built]-> Mill", "Kent -[has]-> Mill"]))
    assert found is not None
    assert [(one.source, one.predicate, one.target) for one in found.relations] == [
        ("node 0", "built", "node 1"), ("node 2", "has", "node 1"),
    ]
    assert chain_of(chain("Ada", "Mill", "Kent", relations=["Ada -[built]-> Mill", "Ada -[in]-> Kent"])) is None
    assert chain_of(chain("Ada", "Mill", relations=["built"])) is None
    assert chain_of(asked("Q?")) is None


def test_every_check_is_shown_with_what_is_true_of_a_question_that_passes() -> None:
    from kgeval.questions.checking.check_table import PASSES
    from kgeval.reports.views.question_checks import check_words

    assert list(PASSES) == list(CHECKS)
    assert check_words("leak") == "leak: does not say its answer", "100 % of them is good"


@pytest.mark.parametrize(("question", "answer", "status"), [
    ("Is Mogador considered to be part of Morocco, as the narrative says?", "Mogador is part of Morocco.", "not_applicable"),
    ("In the second letter, did Ada board the North Light?", "Ada did board the North Light.", "not_applicable"),
    ("Is the mill older than the quay?", "Yes, the mill is older than the quay.", "not_applicable"),
    ("Ist die Mühle älter als der Kai?", "Die Mühle ist älter als der Kai.", "not_applicable"),
    ("Where is the Falmouth Hotel?", "The Falmouth Hotel is in Falmouth.", "failed"),
    ("Was ist die Mühle am Kai?", "Die Mühle am Kai.", "failed"),
    ("Who owned the mill, and was it Ada?", "Ada owned the mill.", "failed"),
    ("Was the storm of 1891 in 1891?", "1891", "failed"),
    ("Is the mill known by another name?", "The mill is known as Tarn House.", "passed"),
])
def test_a_question_for_yes_or_no_has_to_say_what_its_answer_affirms(question: str, answer: str, status: str) -> None:
    assert leak(asked(question, answer)).status == status


def test_the_first_questions_with_a_gold_path_are_drawn_failed_ones_first_and_ten_at_most() -> None:
    tally = CheckTally("a.jsonl", ("leak",), draw=path_picture)
    for at in range(25):
        question = chain("Ada", "Mill", f"Place {at}", relations=["Ada -[built]-> Mill", f"Mill -[in]-> Place {at}"])
        status = "failed" if at in (20, 22) else "passed"
        tally.add(question.model_copy(update={"id": f"q{at}"}), [QuestionCheckOutcome("leak", status, "why")])
    tally.add(asked("No path?"), [QuestionCheckOutcome("leak", "failed", "why")])
    paths = tally.result().paths
    assert [one.id for one in paths] == ["q20", "q22", *(f"q{at}" for at in range(MOST_PATHS - 2))]
    assert [one.failed for one in paths[:3]] == [["leak"], ["leak"], []]
    assert [node.name for node in paths[0].path.nodes] == ["Ada", "Mill", "Place 20"]
    assert CheckTally("a.jsonl", ("leak",)).result().paths == [], "nothing is drawn that nobody asked for"


def test_a_page_shows_gold_paths_without_a_script_and_without_texts_where_it_is_redacted() -> None:
    example = Path(__file__).resolve().parents[2] / "schemas" / "examples" / "check-report" / "valid" / "two-sets.json"
    report = CheckReport.model_validate_json(example.read_text(encoding="utf-8"))
    (part,) = [part for part in rendered(report, "html").split("<section")[1:] if ">Gold paths in a.jsonl<" in part]
    part = part[: part.index("</section>")]
    assert part.count("<svg") == 2 and "<script" not in part and "Ann Lee" in part and "BORN_IN" in part
    assert "Gold paths" not in rendered(report, "text")
    hidden = unpacked(rendered(report, "html", redact=True))
    assert "Gold paths" in hidden and "Ann Lee" not in hidden and "Velmouth" not in hidden
