"""Sensitivity: the three conditions, the shuffle that makes answers wrong, AUC against a second computation, and the command."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.cli.sensitivity import sensitivity as command
from kgeval.errors import InputError, UsageError
from kgeval.metrics.conditions import EXACT, NO_REFERENCE, NO_WRONG, NOT_GIVEN, AnswerMarks, conditions, derange, wrong_for
from kgeval.metrics.definition import MetricSettings
from kgeval.metrics.engine import Tools
from kgeval.metrics.select import select
from kgeval.metrics.sensitivity import sensitivity
from kgeval.records import Answer, Citation, Passage, Question, Row, SensitivityReport, Triple
from kgeval.reports.write import rendered
from kgeval.stats.ranking import separation

LAW = settings(deadline=None)
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def row(n: int, answer: str, reference: str | None, *, system: str = "s", question: str | None = None, error: str | None = None) -> Row:
    qid = question or f"q{n}"
    return Row(
        n=n, where=f"f:{n}", question=Question(id=qid, question=f"What is {qid}?", reference=reference),
        answer=Answer(
            question_id=qid, system=system, answer=answer, contexts=[Passage(text=f"context of {qid}", chunk_id=f"c{n}")], error=error,
            citations=[Citation(chunk_id=f"c{n}")], triples=[Triple(subject=answer or "-", predicate="is", object="it")],
        ),
    )


def some(n: int, system: str = "s") -> list[Row]:
    return [row(at, f"it is {WORDS[at % 10]} {at}", f"{WORDS[at % 10]} {at}", system=system) for at in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 5, 7, 10])
def test_every_row_gets_the_answer_of_another_question_and_keeps_its_contexts(n: int) -> None:
    rows = some(n)
    with conditions(rows, 3) as made:
        wrong, again = list(made["wrong"]), list(made["wrong"])
        assert (made.sizes, made.left_out, made.reused) == ({"answered": n, "reference": n, "wrong": n}, {}, 0)
        assert wrong == again and list(made["answered"]) == rows
        assert sorted(one.answer.answer for one in wrong) == sorted(one.answer.answer for one in rows), "each answer once"
        for mine, given in zip(rows, wrong, strict=True):
            donor = next(one for one in rows if one.answer.answer == given.answer.answer)
            assert donor.question.id != mine.question.id
            assert (given.question, given.answer.contexts) == (mine.question, mine.answer.contexts)
            assert (given.answer.triples, given.answer.citations) == (donor.answer.triples, donor.answer.citations)
        for mine, given in zip(rows, made["reference"], strict=True):
            assert given.answer.answer == mine.question.reference
            assert (given.answer.triples, given.answer.citations, given.answer.error) == (None, None, None)


def test_the_seed_decides_which_answers_are_wrong() -> None:
    def drawn(seed: int) -> list[str]:
        with conditions(some(30), seed) as made:
            return [one.answer.answer for one in made["wrong"]]

    assert drawn(1) == drawn(1) != drawn(2)


def test_answers_are_taken_from_the_same_system_only() -> None:
    rows = [*some(4, "a"), *some(3, "b")]
    rows = [
        one.model_copy(update={"answer": one.answer.model_copy(update={"answer": f"{one.answer.system} {one.answer.answer}"})})
        for one in rows
    ]
    with conditions(rows, 0) as made:
        assert all(one.answer.answer.startswith(one.answer.system) for one in made["wrong"])


def test_a_wrong_answer_is_neither_the_same_text_nor_right_by_chance() -> None:
    """Trials of one question, equal answers, equal references, and an answer that is another question's reference."""
    rows = [
        row(0, "Paris", "Paris", question="a"), row(1, "paris!", "Paris", question="a"), row(2, "Rome", "Rome", question="b"),
        row(3, "The Paris", "Lyon", question="c"), row(4, "Oslo", "Rome", question="d"), row(5, "Kyiv", "Kyiv", question="e"),
        row(6, "Riga", "Riga", question="f"),
    ]
    for seed in range(20):
        with conditions(rows, seed) as made:
            assert made.sizes["wrong"] == 7
            for one in made["wrong"]:
                said = one.answer.answer.casefold().strip("!").removeprefix("the ")
                assert said != (one.question.reference or "").casefold()
                assert not (one.question.id in "bd" and said in ("rome", "oslo")), "both have the reference Rome"
                assert not (one.question.id == "c" and said == "paris")


def test_what_cannot_be_made_is_said_and_left_out() -> None:
    with conditions(some(1), 0) as made:
        assert (made.left_out, made.sizes["wrong"], list(made["answered"])) == ({NO_WRONG: 1}, 0, [])
    with conditions([row(n, f"yes {n}", "yes") for n in range(5)], 0) as made:
        assert made.left_out == {NO_WRONG: 5}
    with conditions([row(0, "a1", None), row(1, "b1", "b"), row(2, "c1", "c")], 0) as made:
        assert (made.left_out, made.sizes) == ({NO_REFERENCE: 1}, {"answered": 3, "reference": 2, "wrong": 3})
        assert [one.question.id for one in made["reference"]] == ["q1", "q2"]
    with conditions([], 0) as made:
        assert (dict(made.sizes), made.left_out) == ({"answered": 0, "reference": 0, "wrong": 0}, {})


def test_empty_answers_and_errors_are_given_to_nobody() -> None:
    rows = [*some(4), row(4, " ", "x"), row(5, "half a reply", "y", error="timeout")]
    with conditions(rows, 0) as made:
        wrong = list(made["wrong"])
    assert len(wrong) == 6 and made.reused == 2
    assert all(one.answer.answer.startswith("it is") and one.answer.error is None for one in wrong)


PLACES = st.lists(
    st.builds(
        AnswerMarks, st.sampled_from("abcd"), st.sampled_from([b"", b"1", b"2", b"3"]),
        st.frozensets(st.sampled_from([b"1", b"2", b"9"]), max_size=2),
    ),
    max_size=6,
)


@pytest.mark.slow
@LAW
@given(places=PLACES, seed=st.integers(0, 5))
def test_the_shuffle_uses_as_many_different_answers_as_any_could(places: list[AnswerMarks], seed: int) -> None:
    """Compared with all permutations of up to six places."""
    found = derange(places, Random(seed))
    for at, donor in enumerate(found.donors):
        if donor is None:
            assert not any(wrong_for(places[at], other) for other in places)
        else:
            assert wrong_for(places[at], places[donor])
    most = max(sum(wrong_for(places[at], places[donor]) for at, donor in enumerate(order)) for order in permutations(range(len(places))))
    assert sum(donor is not None for donor in found.donors) - found.reused == most


def test_a_large_shuffle_is_a_permutation_also_where_half_the_references_are_equal() -> None:
    n = 3 * EXACT
    places = [AnswerMarks(f"q{at}", b"%d" % at, frozenset([b"yes" if at % 2 else b"r%d" % at])) for at in range(n)]
    found = derange(places, Random(1))
    assert all(donor is not None and wrong_for(places[at], places[donor]) for at, donor in enumerate(found.donors))
    assert len(set(found.donors)) == n - found.reused and found.reused < n / 100


@pytest.mark.long
@LAW
@given(
    first=st.lists(st.sampled_from([0, 0.25, 0.5, 1]) | st.floats(0, 1), min_size=1, max_size=30),
    second=st.lists(st.sampled_from([0, 0.25, 0.5, 1]) | st.floats(0, 1), min_size=1, max_size=30),
)
def test_auc_equals_scipys_u_and_the_count_of_pairs(first: list[float], second: list[float]) -> None:
    from scipy.stats import mannwhitneyu

    found = separation(first, second).auc
    pairs = [(a > b) + 0.5 * (a == b) for a in first for b in second]
    assert found == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert found == pytest.approx(mannwhitneyu(first, second, method="asymptotic").statistic / len(pairs), abs=1e-12)
    turned = separation(second, first).auc
    assert turned is not None and found is not None and turned == pytest.approx(1 - found, abs=1e-12)


def test_auc_of_nothing_is_null_and_infinity_is_refused() -> None:
    assert (separation([], [1.0]).auc, separation([1.0], []).medians) == (None, None)
    with pytest.raises(ValueError, match="finite"):
        separation([float("nan")], [1.0])


def test_the_values_by_hand() -> None:
    rows = [row(0, "red", "red"), row(1, "blue sky", "blue"), row(2, "no idea", "green"), row(3, "", "white")]
    with conditions(rows, 0) as made:
        found = {one.metric: one for one in sensitivity(made, select(["exact_match", "token_f1"]), Tools(), MetricSettings())}
    exact = found["exact_match"]
    assert [(part.condition, part.n, part.n_scored, part.mean) for part in exact.conditions] == [
        ("answered", 4, 4, 0.25), ("reference", 4, 4, 1.0), ("wrong", 4, 4, 0.0),
    ]
    assert (exact.auc_reference, exact.auc_answered, exact.separation_reference) == (1, (4 + 12 * 0.5) / 16, 1)
    assert found["token_f1"].conditions[0].mean == pytest.approx((1 + 2 / 3) / 4)


def test_what_has_no_score_is_counted_and_several_systems_get_a_common_line() -> None:
    rows = [*some(3, "a"), *some(3, "b"), row(9, "odd", None, system="b")]
    with conditions(rows, 0) as made:
        found = sensitivity(made, select(["rouge_l", "path_coverage"]), Tools(), MetricSettings())
    assert [(one.system, one.metric) for one in found] == [
        (system, metric) for system in ("a", "b", None) for metric in ("rouge_l", "path_coverage")
    ]
    together = found[4]
    assert [(part.n, part.n_scored, part.not_applicable) for part in together.conditions] == [(7, 6, 1), (6, 6, 0), (7, 6, 1)]
    assert together.auc_reference == 1
    nothing = found[5]
    assert (nothing.auc_reference, nothing.auc_answered, nothing.conditions[0].mean) == (None, None, None)


def test_where_lower_is_better_a_lower_score_counts_as_better() -> None:
    from kgeval.metrics.path import METRICS
    from kgeval.metrics.sensitivity import ConditionTally, _separation

    lower = next(metric for metric in METRICS if metric.better == "lower")
    good, bad = ConditionTally(), ConditionTally()
    good.values.extend([0.0, 0.1])
    bad.values.extend([0.9, 1.0])
    assert _separation(good, bad, lower).auc == 1


def answers_file(folder: Path, rows: list[Row]) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("".join(
        json.dumps({
            "question_id": r.question.id, "question": r.question.question, "reference": r.question.reference, "system": r.answer.system,
            "answer": r.answer.answer,
        }) + "\n" for r in rows
    ), encoding="utf-8")
    return path


def test_the_command_prints_a_table_and_writes_json_and_markdown(tmp_path: Path) -> None:
    path = answers_file(tmp_path, some(9))
    done = CliRunner().invoke(command, [
        str(path), "--metrics", "lexical", "--seed", "4", "-o", str(tmp_path / "r.json"), "-o", str(tmp_path / "r.md"),
    ], standalone_mode=False)
    assert done.exception is None and done.return_value == 0
    assert "AUC ref" in done.stdout and "rouge_l_compat" in done.stdout
    report = SensitivityReport.model_validate_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (report.rows, report.seed, report.run.command, report.run.inputs[0].path) == (9, 4, "metrics sensitivity", str(path))
    assert [one.auc_reference for one in report.results] == [1, 1, 1, 1]
    assert all(info.signature.startswith(info.metric) for info in report.metrics)
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# Sensitivity of metrics")
    assert (tmp_path / "r.json").stat().st_mode & 0o077 == 0


def test_the_command_says_what_is_wrong_before_anything_is_scored(tmp_path: Path) -> None:
    path = answers_file(tmp_path, some(3))
    for more in (["-o", str(tmp_path / "r.xml")], ["--metrics", "rouge"], ["--metrics", "faithfulness"]):
        given = [str(path), *(more if "--metrics" in more else ["--metrics", "lexical", *more])]
        assert isinstance(CliRunner().invoke(command, given, standalone_mode=False).exception, UsageError)


def test_a_single_answer_is_an_incomplete_run_and_says_why(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, [str(answers_file(tmp_path, some(1))), "--metrics", "lexical"], standalone_mode=False)
    assert done.return_value == 3 and NO_WRONG in done.output


def test_hostile_names_do_not_reach_the_terminal_and_redacting_takes_the_notes(tmp_path: Path) -> None:
    rows = [one.model_copy(update={"answer": one.answer.model_copy(update={"system": "\x1b[31m<b>|`"})}) for one in some(3)]
    with conditions(rows, 0) as made:
        results = sensitivity(made, select(["token_f1"]), Tools(), MetricSettings())
    from kgeval.manifest import Started

    report = SensitivityReport(run=Started("sensitivity", {}).manifest(), seed=0, rows=3, results=results, notes=["secret \x1b[0m"])
    for form in ("text", "md", "json"):
        shown = rendered(report, form)  # type: ignore[arg-type]
        assert "\x1b" not in shown and (form == "json" or "<b>" not in shown or form == "text")
        assert "secret" not in rendered(report, form, redact=True)  # type: ignore[arg-type]


def with_wrong(folder: Path, wrong: list[dict[str, object]], rows: list[Row], *options: str) -> tuple[int, str]:
    (folder / "wrong.jsonl").write_text("".join(json.dumps(row) + "\n" for row in wrong))
    given = [str(answers_file(folder, rows)), "--metrics", "token_f1", "--wrong-answers", str(folder / "wrong.jsonl"), *options]
    done = CliRunner().invoke(command, given, standalone_mode=False)
    if done.exception is not None:
        assert isinstance(done.exception, InputError), done.exception
        return 2, " ".join([str(done.exception), *done.exception.faults])
    return done.return_value, done.output


def test_wrong_answers_of_ones_own_stand_in_the_place_of_those_of_other_questions(tmp_path: Path) -> None:
    """By id, by text, several of one question in turns, and a question without any."""
    rows = [*some(3), row(0, "it is one 0", "one 0", system="t"), row(9, "odd", "nine")]
    wrong: list[dict[str, object]] = [
        {"question_id": "q0", "wrong_answer": ["zero of them", "one 1"]}, {"question_id": "q1", "wrong_answer": "it is two 2"},
        {"question_id": "q2", "wrong_answer": "nothing"},
    ]
    assert with_wrong(tmp_path, wrong, rows, "-o", str(tmp_path / "r.json"), "-o", str(tmp_path / "r.html"))[0] == 0
    report = SensitivityReport.model_validate_json((tmp_path / "r.json").read_text())
    assert (report.rows, report.left_out, report.reused, report.wrong_given) == (4, {NOT_GIVEN: 1}, 0, True)
    assert {Path(file.path).name for file in report.run.inputs} == {"answers.jsonl", "wrong.jsonl"}
    parts = {(one.system, part.condition): part.mean for one in report.results for part in one.conditions}
    # by hand: of three answers "it is two 2" alone shares a word with its reference "two 1": precision 1/4, recall 1/2
    assert parts["s", "wrong"] == pytest.approx((0 + 1 / 3 + 0) / 3)
    assert parts["t", "wrong"] == pytest.approx(1 / 2), "the second row of q0 gets its second wrong answer: one 1 for one 0"
    page = (tmp_path / "r.html").read_text()
    assert "wrong answers as given" in page and "a given wrong answer" in page and page.count('class="dist"') == 9


def test_wrong_answers_by_the_text_of_their_question(tmp_path: Path) -> None:
    wrong: list[dict[str, object]] = [{"question": f"What  is q{n}?", "incorrect_answers": ["no"]} for n in range(3)]
    assert with_wrong(tmp_path, wrong, some(3))[0] == 0
    others = [{**row, "question_id": f"theirs-{n}"} for n, row in enumerate(wrong)]
    code, told = with_wrong(tmp_path, others, some(3))
    assert code == 0 and "left out" not in told and "other questions" not in told, "their ids are others, the texts are the same"


def test_wrong_answers_that_are_right_or_lack_something_are_refused_all_at_once(tmp_path: Path) -> None:
    code, told = with_wrong(tmp_path, [{"question_id": "q0", "wrong": "One, 0!"}, {"question_id": "q1", "wrong": "two 1"}], some(3))
    assert code == 2 and "wrong.jsonl:1: 'One, 0!' is a right answer to question q0" in told and "wrong.jsonl:2: 'two 1'" in told
    code, told = with_wrong(tmp_path, [{"question_id": "q0", "wrong": " "}, {"wrong": "x"}], some(3))
    assert code == 2 and "wrong.jsonl:1: wrong: is empty" in told and "wrong.jsonl:2: does not say to which question" in told
    assert "no field for answer (a wrong answer" in with_wrong(tmp_path, [{"question_id": "q0", "text": "x"}], some(3))[1]


def test_wrong_answers_to_other_questions_are_told_and_refused_where_there_are_no_others(tmp_path: Path) -> None:
    code, told = with_wrong(tmp_path, [{"question_id": "zz", "wrong": "x"}, {"question_id": "q1", "wrong": "nothing"}], some(3))
    assert code == 0 and "wrong.jsonl: 1 line about other questions" in told
    code, told = with_wrong(tmp_path, [{"question_id": "zz", "wrong": "x"}], some(3))
    assert code == 2 and "none of the wrong answers (1 line) is to a question of these answers" in told
