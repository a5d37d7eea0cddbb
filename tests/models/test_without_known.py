"""`--without-known`: scores and comparisons without the questions that a closed book answers, beside those on all questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compare_world import PairJudge, files
from test_contamination import CLOSED_RIGHT, world

import kgeval
from kgeval.cli.main import run
from kgeval.llm.fake import FakeServer

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(PairJudge()) as running:
        yield running


def scored(paths: dict[str, Path], *arguments: object) -> int:
    files = [str(paths[name]) for name in ("closed-book", "vector")]
    return run(["score", *files, "--questions", str(paths["questions"]), *map(str, arguments), "--no-progress", "-q"])


def contamination_of(paths: dict[str, Path], tmp_path: Path) -> Path:
    both = [part for name in ("closed-book", "vector") for part in ("--answers", str(paths[name]))]
    assert run(["contamination", str(paths["questions"]), *both, "-o", str(tmp_path / "known.json"), "-q"]) == 0
    return tmp_path / "known.json"


def read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text())
    return value


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name not in ("run", "known", "systems", "notes")}


def test_the_figures_are_those_of_a_run_that_never_had_the_known_questions(tmp_path: Path) -> None:
    paths = world(tmp_path)
    known = contamination_of(paths, tmp_path)
    gates = ["--metrics", "token_f1,rouge_l", "--threshold", "vector:token_f1>=0.6"]
    assert scored(paths, *gates, "--without-known", known, "-o", "with.json", "-o", "scores.jsonl") == 0
    others = ",".join(f"q{n}" for n in range(10) if f"q{n}" not in CLOSED_RIGHT)
    assert scored(paths, *gates, "--filter-id", others, "-o", "plain.json") == 0
    assert scored(paths, *gates, "-o", "all.json") == 0
    one, other, everything = (read(Path(f"{name}.json")) for name in ("with", "plain", "all"))
    assert comparable(one) == comparable(other), "means, groups, gains, costs, worst rows and gates"
    beside = one["known"]
    assert (beside["questions"], beside["left_out"], beside["ids"]) == (10, 3, list(CLOSED_RIGHT))
    assert (beside["closed_book"], beside["metric"], beside["lost"]) == ("closed-book", "contains", 0)
    assert [row["overall"] for row in beside["scores"]] == [row["overall"] for row in everything["summaries"]]
    assert [row["without"] for row in beside["scores"]] == [row["overall"] for row in other["summaries"]]
    assert len(Path("scores.jsonl").read_text().splitlines()) == 10 * 2 * 2, "the results have all questions"


def test_the_head_of_the_report_says_it_with_both_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = world(tmp_path)
    known = contamination_of(paths, tmp_path)
    assert run([
        "score", str(paths["vector"]), "--questions", str(paths["questions"]), "--metrics", "token_f1", "--without-known", str(known),
        "-o", "s.html", "-o", "s.md", "-o", "s.xml",
    ]) == 0
    said = "Without 3 of 10 questions that closed-book answers without any text; token_f1 on all of them: vector 0.700."
    assert said in " ".join(capsys.readouterr().out.split())
    for form in ("html", "md", "xml"):
        assert said in " ".join(Path(f"s.{form}").read_text().split()).replace("\\_", "_").replace("`", ""), form


def test_a_file_of_ids_does_the_same_and_one_about_other_questions_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    paths = world(tmp_path)
    Path("ids.txt").write_text("q0\nq1\nelsewhere\n")
    assert scored(paths, "--metrics", "token_f1", "--without-known", "ids.txt", "-o", "s.json") == 0
    assert read(Path("s.json"))["known"]["ids"] == ["q0", "q1"]
    Path("ids.txt").write_text("elsewhere\n")
    assert scored(paths, "--metrics", "token_f1", "--without-known", "ids.txt") == 2
    assert "none of its 1 question is a question of this run" in capsys.readouterr().err
    Path("ids.txt").write_text("".join(f"q{n}\n" for n in range(10)))
    assert scored(paths, "--metrics", "token_f1", "--without-known", "ids.txt") == 2
    assert "nothing is left to measure" in capsys.readouterr().err
    assert scored(paths, "--metrics", "token_f1", "--without-known", "s.json") == 2
    assert "no report of kgeval contamination" in capsys.readouterr().err
    assert scored(paths, "--metrics", "kg", "--model", "m", "--sweep", "tau=0.6", "--without-known", "ids.txt") == 2
    assert "--sweep gives means of all questions" in capsys.readouterr().err


def test_shards_with_known_questions_join_to_the_same_report(tmp_path: Path) -> None:
    paths = world(tmp_path)
    known = contamination_of(paths, tmp_path)
    own = ["--metrics", "token_f1", "--without-known", known]
    assert scored(paths, *own, "-o", "whole.json") == 0
    for number in (1, 2, 3):
        assert scored(paths, *own, "--shard", f"{number}/3", "-o", f"parts/{number}.jsonl") == 0
    assert run(["merge-shards", *(f"parts/{number}.jsonl" for number in (1, 2, 3)), "-o", "joined.json", "-q"]) == 0
    one, other = read(Path("whole.json")), read(Path("joined.json"))
    assert comparable(one) == comparable(other) and one["known"] == other["known"]


def test_a_closed_book_that_answers_nothing_leaves_nothing_out_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    paths = world(tmp_path)
    lines = [json.loads(line) for line in paths["closed-book"].read_text().splitlines()]
    paths["closed-book"].write_text("".join(json.dumps({**line, "answer": "I do not know"}) + "\n" for line in lines))
    assert run(["contamination", str(paths["questions"]), "--answers", str(paths["closed-book"]), "--marked", "ids.txt", "-q"]) == 0
    assert not Path("ids.txt").read_text()
    capsys.readouterr()
    assert run([
        "score", str(paths["vector"]), "--questions", str(paths["questions"]), "--metrics", "token_f1", "--without-known", "ids.txt",
    ]) == 0
    assert "Without 0 of 10 questions that ids.txt names as known" in " ".join(capsys.readouterr().out.split())


def test_a_result_of_the_library_names_the_known_questions(tmp_path: Path) -> None:
    paths = world(tmp_path)
    closed = kgeval.contamination(paths["questions"], answers=[paths["closed-book"]])
    result = kgeval.score(paths["vector"], questions=paths["questions"], metrics="token_f1", without_known=closed)
    assert result.report.known.ids == list(CLOSED_RIGHT) and result.report.known.file


def test_a_comparison_is_without_them_and_gives_the_rates_on_all(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    # A wins the even questions, B the odd ones; two that A wins are known
    paths = files(tmp_path, {"a": (4, 1), "b": (1, 4)}, n=6)
    Path("ids.txt").write_text("q0\nq2\n")
    given = [
        "compare", *map(str, paths), "--questions", "questions.jsonl", "--model", "m", "--base-url", server.base_url, "--trials", "1",
        "--align", "none", "--without-known", "ids.txt",
    ]
    assert run([*given, "--dry-run"]) == 0
    dry = capsys.readouterr().out
    assert "--without-known: 2 of 6 questions are known; they are judged too" in dry
    counted = next(line for line in dry.splitlines() if line.startswith("total")).split()[1]
    assert run([*given, "-o", "c.json", "-o", "c.jsonl", "--no-progress"]) == 3, "four questions decide nothing"
    assert server.stats().requests == int(counted)
    out = " ".join(capsys.readouterr().out.split())
    assert "Without 2 of 6 questions that ids.txt names as known; relative win rate on all of them: a vs b 0 %." in out
    report = read(Path("c.json"))
    first = next(pair for pair in report["pairs"] if pair["aspect"] == "overall" and pair["by"] == "all")
    assert (first["n"], first["relative"]["value"]) == (4, -0.5), "one win of A, three of B"
    (everything,) = report["known"]["pairs"]
    assert (everything["n"], everything["relative"]["value"]) == (6, 0.0)
    assert {opened["question_id"] for opened in report["drill"]} == {"q1", "q3", "q4", "q5"}
    assert {json.loads(line)["question_id"] for line in Path("c.jsonl").read_text().splitlines()} == {f"q{n}" for n in range(6)}
    assert run([*given, "--stop-when-sure"]) == 2
    assert "leave one of them out" in capsys.readouterr().err


def test_a_pair_that_has_known_questions_alone_is_named_and_a_threshold_on_it_has_no_answer(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    paths = files(tmp_path, {"a": (4, 1), "b": (1, 4), "c": (3,)}, n=6)
    paths[2].write_text("".join(line for line in paths[2].read_text().splitlines(keepends=True) if '"q0"' in line or '"q2"' in line))
    Path("ids.txt").write_text("q0\nq2\n")
    given = [
        "compare", *map(str, paths), "--questions", "questions.jsonl", "--model", "m", "--base-url", server.base_url, "--trials", "1",
        "--align", "none", "--allow-missing", "--without-known", "ids.txt", "--threshold", "c:a:win>=0.5", "-o", "c.json", "--no-progress",
    ]
    assert run(given) == 3
    assert "gate not answered: c:a: win >= 0.5 (no pair that it is about was compared)" in capsys.readouterr().err
    report = read(Path("c.json"))
    assert {(pair["system_a"], pair["system_b"]) for pair in report["pairs"]} == {("a", "b")}
    assert [note for note in report["notes"] if "are known" in note] == [
        "a and c: all 2 questions of both are known, not compared", "b and c: all 2 questions of both are known, not compared",
    ]


def test_errors_of_the_closed_book_are_no_proof_that_it_knows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = world(tmp_path)
    lines = [json.loads(line) for line in paths["closed-book"].read_text().splitlines()]
    paths["closed-book"].write_text("".join(
        json.dumps({**line, "answer": "", "error": "timeout: no reply"} if line["question_id"] in CLOSED_RIGHT else line) + "\n"
        for line in lines
    ))
    given = ["contamination", str(paths["questions"]), "--answers", str(paths["closed-book"]), "-o", "known.json", "-q"]
    assert run([*given, "--threshold", "marked<=0.1", "--max-error-rate", "0.5"]) == 3
    assert "gate not answered: closed-book: marked <= 0.1" in capsys.readouterr().err
    report = read(Path("known.json"))
    assert (report["marked"], report["accuracy"]["failures"]) == ([], {"answer_error": len(CLOSED_RIGHT)})
    assert run(given) == 3, "too many failures, without a threshold too"
    assert scored(paths, "--metrics", "token_f1", "--without-known", "known.json", "-o", "s.json") == 0
    assert read(Path("s.json"))["known"]["lost"] == len(CLOSED_RIGHT), "a report says that they may be known"
