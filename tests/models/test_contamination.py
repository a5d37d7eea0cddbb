"""`kgeval contamination`: counted by hand on ten questions, by words and by a judge, with and without what the closed book knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.llm.fake import Chat, FakeServer
from kgeval.metrics.contamination.measures import is_refusal, says
from kgeval.records import ContaminationReport
from kgeval.stats.intervals import quantile, wilson

# Ten questions: five on each of two books, the last of each is negative. Closed book knows q0 to q2 of the old book, and claims an answer
# to one negative question; vector knows all answerable ones but q3, and refuses both negative ones.
BOOKS = ("old", "new")
ANSWERABLE = ("q0", "q1", "q2", "q3", "q5", "q6", "q7", "q8")
CLOSED_RIGHT = ("q0", "q1", "q2")
NEGATIVE = ("q4", "q9")


def right(name: str) -> str:
    return f"Mill {name}"


def world(folder: Path) -> dict[str, Path]:
    questions = [
        {
            "id": f"q{n}", "question": f"Which mill is q{n}?", "document": BOOKS[n // 5], "kind": "even" if n % 2 == 0 else "odd",
            **({"level": "negative"} if f"q{n}" in NEGATIVE else {"level": "single_hop", "reference": right(f"q{n}")}),
        } for n in range(10)
    ]
    closed = {name: f"It is the {right(name)}." if name in CLOSED_RIGHT else "I do not know." for name in ANSWERABLE}
    vector = {name: "No information." if name == "q3" else f"{right(name)}, surely." for name in ANSWERABLE}
    closed |= {"q4": "The Blue Mill.", "q9": "I don't know."}
    vector |= {"q4": "The texts do not say.", "q9": "This is not mentioned in the texts."}
    made = {"questions": questions} | {
        name: [{"question_id": key, "system": name, "answer": text, **more} for key, text in answers.items()]
        for name, answers, more in (("closed-book", closed, {}), ("vector", vector, {"contexts": ["some text"]}))
    }
    paths = {}
    for name, rows in made.items():
        paths[name] = folder / f"{name}.jsonl"
        paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("KGEVAL_CONTAMINATION_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KGEVAL_SCORE_CACHE_DIR", str(tmp_path / "cache"))


def judge(chat: Chat) -> Any:
    """By the letter: refusal where the answer says so; correct where it holds the right answer."""
    blocks = dict(part.split("\n</data>")[0].split("\">\n", 1) for part in chat.subject.split('<data name="')[1:])
    answer = json.loads(blocks["answer"])
    if is_refusal(answer):
        return {"reason": "r", "label": "refusal"}
    known = [one for line in blocks["references"].splitlines() for one in json.loads(f"[{line.strip('[]')}]")]
    return {"reason": "r", "label": "correct" if any(one in answer for one in known) else "incorrect"}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(judge) as running:
        yield running


def contamination(*arguments: object) -> int:
    return run(["contamination", *map(str, arguments), "--no-progress"])


def both(paths: dict[str, Path]) -> list[object]:
    return [paths["questions"], "--answers", paths["closed-book"], "--answers", paths["vector"]]


def report_in(folder: Path) -> ContaminationReport:
    return ContaminationReport.model_validate_json((folder / "r.json").read_text(encoding="utf-8"))


def test_what_the_closed_book_knows_is_counted_by_document_kind_and_level(tmp_path: Path) -> None:
    assert contamination(*both(world(tmp_path)), "-o", tmp_path / "r.json", "--marked", tmp_path / "ids.txt", "-q") == 0
    report = report_in(tmp_path)
    assert (report.closed_book, report.metric, report.how) == ("closed-book", "contains", "words")
    assert (report.n, report.negative, report.missing) == (10, 2, 0)
    assert report.marked == list(CLOSED_RIGHT)
    assert (tmp_path / "ids.txt").read_text() == "q0\nq1\nq2\n"
    assert report.accuracy.mean == report.attempted.mean == 3 / 8
    ends = wilson(3 / 8, 8, quantile=quantile())
    assert (report.accuracy.low, report.accuracy.high) == (ends.low, ends.high)
    by = {(one.by, one.value): (one.accuracy.mean, one.accuracy.n_scored, one.marked) for one in report.groups}
    assert by == {("level", "single_hop"): (3 / 8, 8, 3), ("kind", "even"): (2 / 4, 4, 2), ("kind", "odd"): (1 / 4, 4, 1)}
    assert {one.document: (one.accuracy.mean, one.marked) for one in report.documents} == {"old": (3 / 4, 3), "new": (0.0, 0)}
    assert next(one for one in report.documents if one.document == "new").accuracy.high > 0.4, "four zeros are no proof of zero"


def test_every_score_is_given_without_the_marked_questions_and_so_are_gains(tmp_path: Path) -> None:
    assert contamination(*both(world(tmp_path)), "-o", tmp_path / "r.json", "-q") == 0
    report = report_in(tmp_path)
    means = {(one.system, one.metric): (one.overall.mean, one.without.mean, one.without.n_scored) for one in report.scores}
    assert means == {("closed-book", "contains"): (3 / 8, 0.0, 5), ("vector", "contains"): (7 / 8, 4 / 5, 5)}
    gain, rest = report.gains[0], report.gains_without[0]
    assert (gain.system, gain.baseline, gain.n, gain.mean) == ("vector", "closed-book", 8, 4 / 8)
    assert (rest.n, rest.mean) == (5, 4 / 5)
    assert {one.document: one.gains[0].mean for one in report.documents} == {"old": 0.0, "new": 1.0}


def test_a_negative_question_that_is_answered_all_the_same_is_a_false_answer(tmp_path: Path) -> None:
    assert contamination(*both(world(tmp_path)), "-o", tmp_path / "r.json", "-q") == 0
    rates = {one.system: (one.mean.mean, one.mean.n_scored) for one in report_in(tmp_path).false_answers}
    assert rates == {"closed-book": (1 / 2, 2), "vector": (0.0, 2)}


def test_the_judge_says_the_same_here_and_the_second_run_costs_nothing(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    given = [*both(world(tmp_path)), "--model", "m", "--base-url", server.base_url]
    assert contamination(*given, "--dry-run") == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
    assert server.stats().requests == 0
    assert contamination(*given, "-o", tmp_path / "r.json", "-q") == 0
    made = server.stats().requests
    assert total.split()[1] == str(made) == "20", "one call for each of twenty different answers"
    report = report_in(tmp_path)
    assert (report.metric, report.how, report.marked) == ("binary_accuracy", "judge", list(CLOSED_RIGHT))
    assert report.attempted.mean == 3 / 8
    assert {one.system: one.mean.mean for one in report.false_answers} == {"closed-book": 1 / 2, "vector": 0.0}
    overall = {one.system: one.overall.mean for one in report.scores}
    assert overall == {"closed-book": 4 / 10, "vector": 9 / 10}, "a refused negative question is right"
    assert contamination(*given, "-o", tmp_path / "r.json", "-q") == 0
    assert server.stats().requests == made


def test_scores_of_kgeval_score_are_taken_and_every_metric_is_given_without_the_marked_ones(server: FakeServer, tmp_path: Path) -> None:
    paths = world(tmp_path)
    scored = [paths["closed-book"], paths["vector"], "--questions", paths["questions"], "--metrics", "binary_accuracy,token_f1"]
    model = ["--model", "m", "--base-url", server.base_url, "--no-progress", "-q"]
    assert run(["score", *map(str, scored), *model, "-o", str(tmp_path / "s.jsonl")]) == 0
    made = server.stats().requests
    assert contamination(paths["questions"], "--scores", tmp_path / "s.jsonl", "-o", tmp_path / "r.json", "-q") == 0
    assert server.stats().requests == made, "the judge's verdicts are in the scores"
    report = report_in(tmp_path)
    assert (report.metric, report.marked) == ("binary_accuracy", list(CLOSED_RIGHT))
    assert {one.metric for one in report.scores} == {"binary_accuracy", "token_f1"}
    assert {one.system: one.mean.mean for one in report.false_answers} == {"closed-book": 1 / 2, "vector": 0.0}
    assert contamination(
        *both(paths), "--scores", tmp_path / "s.jsonl", "--metric", "token_f1", "--right-from", "0.5", "-o", tmp_path / "f1.json", "-q",
    ) == 0
    by_f1 = ContaminationReport.model_validate_json((tmp_path / "f1.json").read_text(encoding="utf-8"))
    assert (by_f1.metric, by_f1.how, by_f1.marked) == ("token_f1", "words", list(CLOSED_RIGHT)), "F1 of 2 words of 5 in 2: 4 / 6"


def test_known_documents_are_set_against_unknown_ones(tmp_path: Path) -> None:
    assert contamination(*both(world(tmp_path)), "--known", "OLD", "-o", tmp_path / "r.json", "-q") == 0
    report = report_in(tmp_path)
    known, unknown = report.known
    assert (known.known, known.documents, known.marked_share, unknown.marked_share) == (True, 1, 3 / 4, 0.0)
    assert report.difference == 3 / 4 and report.difference_low is not None and report.difference_low > 0
    assert (known.gains[0].mean, unknown.gains[0].mean) == (0.0, 1.0)


@pytest.mark.parametrize(("dates", "cutoff", "known"), [
    (("1920", "2025-05-01"), "2024-06", {"old": True, "new": False}), (("1920", "2024"), "2024-06-30", {"old": True, "new": None}),
    (("2023-12-31", "2024-07-01T10:00:00"), "2024", {"old": True, "new": None}),
])
def test_a_date_of_publication_decides_only_where_all_of_it_is_on_one_side_of_the_cutoff(
    tmp_path: Path, dates: tuple[str, str], cutoff: str, known: dict[str, bool | None],
) -> None:
    dated = tmp_path / "documents.csv"
    dated.write_text("title,published\n" + "".join(f"{book},{day}\n" for book, day in zip(BOOKS, dates, strict=True)))
    paths = both(world(tmp_path))
    assert contamination(*paths, "--documents", dated, "--model-cutoff", cutoff, "-o", tmp_path / "r.json", "-q") == 0
    report = report_in(tmp_path)
    assert {one.document: one.known for one in report.documents} == known
    assert {one.document: one.published for one in report.documents} == dict(zip(BOOKS, dates, strict=True))


@pytest.mark.parametrize(("more", "words"), [
    (["--known", "Moby Dick"], "no question is about Moby Dick"), (["--model-cutoff", "2024"], "belong together"),
    (["--closed-book", "nobody"], "no system is called nobody"), (["--probe"], "--probe needs a judge"), (["--reader", "m"], "for --probe"),
    (["--metric", "semantic_similarity"], "needs more than a judge: embedder"), (["--metric", "exakt"], "unknown metrics"),
    (["-o", "questions.jsonl"], "no form"), (["--marked", "nowhere/ids.txt"], "no file can be written there"),
    (["--marked", "questions.jsonl"], "would replace a file that is read"),
])
def test_what_cannot_be_is_refused_before_anything_is_read_or_paid(
    tmp_path: Path, more: list[str], words: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert contamination(*both(world(tmp_path)), *more) == 2
    assert words.replace("no form", "unknown ending") in capsys.readouterr().err


def test_rows_of_documents_without_a_date_are_named_all_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dated = tmp_path / "documents.jsonl"
    dated.write_text('{"title": "old", "published": "1920"}\n{"title": "new"}\n{"published": "2020"}\n{"title": "x", "date": "soon"}\n')
    assert contamination(*both(world(tmp_path)), "--documents", dated, "--model-cutoff", "2024") == 2
    told = capsys.readouterr().err
    assert all(words in told for words in ("no date of publication", "no document is named", "'soon' is no date", "documents.jsonl:4"))


def test_answers_to_other_questions_only_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"question_id": "zz", "answer": "x", "system": "closed-book"}\n')
    assert contamination(world(tmp_path)["questions"], "--answers", odd, "--allow-missing") == 2
    assert "no answer and no score is to a question of the file" in capsys.readouterr().err


def test_without_a_closed_book_or_with_two_the_way_out_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = world(tmp_path)
    assert contamination(paths["questions"]) == 2
    assert contamination(paths["questions"], "--answers", paths["vector"]) == 2
    assert "name it with --closed-book: vector" in capsys.readouterr().err
    bare = tmp_path / "bare.jsonl"
    bare.write_text(paths["closed-book"].read_text().replace("closed-book", "mine"))
    assert contamination(paths["questions"], "--answers", bare, "--answers", paths["vector"], "-q") == 0, "the only one without contexts"


def test_questions_without_a_closed_book_answer_are_said_and_not_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = world(tmp_path)
    rows = paths["closed-book"].read_text().splitlines(keepends=True)
    paths["closed-book"].write_text("".join(rows[1:]))
    assert contamination(*both(paths), "-o", tmp_path / "r.json") == 0
    assert "1 of 8 answerable questions have no closed-book answer" in capsys.readouterr().out.replace("\n", " ")
    assert (report_in(tmp_path).missing, report_in(tmp_path).marked) == (1, ["q1", "q2"])


def test_a_judge_that_fails_leaves_answers_unscored_and_the_run_incomplete(tmp_path: Path) -> None:
    with FakeServer(lambda chat: "no json" if "I do not know." in chat.subject and "q7?" in chat.subject else judge(chat)) as server:
        given = [*both(world(tmp_path)), "--model", "m", "--base-url", server.base_url, "--max-retries", "0", "--max-reasks", "0"]
        code = contamination(*given, "--max-error-rate", "0.01", "-o", tmp_path / "r.json", "-q")
    report = report_in(tmp_path)
    assert code == report.run.exit_code == 3
    assert sum(report.accuracy.failures.values()) == 1 and report.accuracy.n_scored == 7


def test_a_budget_that_is_used_up_ends_with_three_and_the_next_run_goes_on(server: FakeServer, tmp_path: Path) -> None:
    given = [*both(world(tmp_path)), "--model", "m", "--base-url", server.base_url, "-q", "-j", "1", "-o", tmp_path / "r.json"]
    assert contamination(*given, "--max-calls", "5") == 3
    assert not report_in(tmp_path).complete
    assert contamination(*given) == 0
    assert server.stats().requests == 20


def test_reports_on_the_terminal_and_in_markdown_say_the_same_and_redact_hides_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    paths = world(tmp_path)
    assert contamination(*both(paths), "--known", "old", "-o", tmp_path / "r.md") == 0
    shown, written = capsys.readouterr().out, (tmp_path / "r.md").read_text(encoding="utf-8")
    for text in (shown, written):
        assert "answered without any text: 3 questions" in text and "+50.0" in text and "87.5 %" in text
    assert "`old`" in written
    assert contamination(*both(paths), "--redact", "-q", "-o", tmp_path / "r.json") == 0
    assert {one.document[0] for one in report_in(tmp_path).documents} == {"#"}


REFUSALS = [
    ("I do not know.", True), ("I don’t know", True), ("", True), ("Unknown", True), ("The texts do not say who built it.", True),
    ("Das weiß ich nicht.", True), ("文中没有提到。", True), ("Это неизвестно", False), ("не знаю", True), ("The unknown soldier", False),
    ("Nobody knows but Ada", False), ("The Blue Mill.", False), ("No.", False), ("N/A", True),
]


@pytest.mark.parametrize(("text", "refuses"), REFUSALS)
def test_refusals_are_told_by_phrases_in_several_languages(text: str, refuses: bool) -> None:
    assert is_refusal(text) is refuses


@pytest.mark.parametrize(("answer", "reference", "told"), [
    ("It was the Old Mill, I think.", "old mill", True), ("It was a mill, old.", "Old Mill", False), ("Yes, it was.", "yes", True),
    ("There is no doubt: yes.", "no", False), ("1,204 men", "1204", True), ("12045", "1204", False), ("", "x", False), ("x", "", False),
])
def test_an_answer_says_the_right_one_where_its_words_stand_side_by_side(answer: str, reference: str, told: bool) -> None:
    assert says(answer, reference) is told


def test_thresholds_decide_the_exit_code_and_what_is_lacking_is_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = world(tmp_path)
    out = ["-o", tmp_path / "r.json", "-q"]
    # 3 of 8 answerable ones are known, 5 of all ten are about the old book, 1 of 2 negative ones is answered all the same
    met = "marked<=0.375,accuracy=0.38,known_documents<=0.5,vector:false_answers<=0"
    assert contamination(*both(paths), "--known", "old", "--threshold", met, *out) == 0
    assert [(gate.of, gate.name, gate.value, gate.met) for gate in report_in(tmp_path).gates] == [
        ("closed-book", "marked", 3 / 8, True), ("closed-book", "accuracy", 3 / 8, True), ("closed-book", "known_documents", 1 / 2, True),
        ("vector", "false_answers", 0.0, True),
    ]
    assert contamination(*both(paths), "--threshold", "marked<=0.37,false_answers<=0.4", *out) == 1
    assert "gate missed: closed-book: false_answers <= 0.4 (0.5)" in capsys.readouterr().err
    assert contamination(*both(paths), "--threshold", "known_documents<=0.5", *out) == 3, "nobody said what the model may know"
    # half of the closed book is lost: from 1 to 5 of 8 may be known
    lines = paths["closed-book"].read_text().splitlines(keepends=True)
    paths["closed-book"].write_text("".join(line for line in lines if json.loads(line)["question_id"] not in ("q1", "q2", "q3", "q5")))
    assert contamination(*both(paths), "--threshold", "marked<=0.5", *out) == 3
    assert contamination(*both(paths), "--threshold", "marked<=0.625", *out) == 0
    assert contamination(*both(paths), "--threshold", "marked<=0.1", *out) == 1


def test_thresholds_that_cannot_be_checked_are_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert contamination(*both(world(tmp_path)), "--threshold", "markd<=0.1,vector:marked<=1,accuracy<=2") == 2
    told = capsys.readouterr().err
    for fault in ("markd is no figure of contamination", "marked is of the closed book", "2 is not a number from 0 to 1"):
        assert fault in told
    assert contamination(*both(world(tmp_path)), "--threshold", "graph:false_answers<=0.1") == 2
    assert "no system is called graph" in capsys.readouterr().err
