"""`kgeval score` from the outside: what is asked, kept, taken over, refused, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import Judge
from waiting import HoldingModel, wait_until

from kgeval.cli.main import run
from kgeval.llm.fake import FakeServer, Rule

USUAL = "factual_correctness,faithfulness,evidence_recall,context_relevance,evidence_coverage"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the machine: no kgeval.toml, no endpoint, a cache folder of this test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("KGEVAL_SCORE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KGEVAL_SCORE_MAX_RETRIES", "1")


def files(folder: Path, n: int = 4, systems: tuple[str, ...] = ("a", "b")) -> list[Path]:
    """Answer files of the systems, with questions, references and evidence of their own in questions.jsonl."""
    levels = ("fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation")
    questions = [
        {
            "id": f"q{i}", "question": f"Who built mill {i}?", "reference": f"Mill {i} was built by Ada {i}.", "level": levels[i % 4],
            "evidence": [{"text": f"Ada {i} built mill {i}.", "chunk_id": f"c{i}"}], "hops": 1 + i % 3,
        } for i in range(n)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions))
    for system in systems:
        rows = [
            {
                "question_id": f"q{i}", "answer": f"Ada {i} of {system} built it.",
                "contexts": [f"Ada {i} built mill {i}.", f"Rain {system}{i}."],
            } for i in range(n)
        ]
        (folder / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [folder / f"{system}.jsonl" for system in systems]


def score(*arguments: object) -> int:
    return run(["score", *[str(argument) for argument in arguments], "--no-progress"])


def judged(server: FakeServer, folder: Path, *more: object, n: int = 4, metrics: str = USUAL) -> int:
    answers = files(folder, n)
    return score(
        *answers, "--questions", folder / "questions.jsonl", "--metrics", metrics, "--model", "m", "--base-url", server.base_url, *more,
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_dry_run_counts_the_calls_that_are_made_and_a_second_run_makes_none(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    assert judged(server, tmp_path, "--dry-run") == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
    assert server.stats().requests == 0
    assert judged(server, tmp_path, "-o", tmp_path / "s.jsonl") == 0
    made = server.stats().requests
    assert f"to {made} " in total
    assert made == 8 * 6 - 4, "six calls a row, and the claims of a reference once for both systems"
    assert judged(server, tmp_path, "-o", tmp_path / "again.jsonl") == 0
    assert server.stats().requests == made
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "s.jsonl").read_bytes()


@pytest.mark.parametrize("command", [("score",), ("metrics", "sensitivity")])
def test_a_dry_run_without_a_model_counts_no_call(command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path)
    assert run([*command, *map(str, answers), "--questions", str(tmp_path / "questions.jsonl"), "--metrics", "lexical", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:2] == ["total", "0"]


def test_an_output_never_replaces_a_file_that_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers, questions = files(tmp_path), tmp_path / "questions.jsonl"
    before = {path: path.read_bytes() for path in (*answers, questions)}
    (tmp_path / "link.jsonl").symlink_to(answers[0])
    for output in (answers[0], tmp_path / "new" / ".." / "b.jsonl", questions, tmp_path / "link.jsonl"):
        assert score(*answers, "--questions", questions, "--metrics", "token_f1", "-o", tmp_path / "s.csv", "-o", output) == 2
        assert "would replace a file that is read" in capsys.readouterr().err
    verdicts = answers[0].rename(tmp_path / "a.verdicts.jsonl")
    assert score(verdicts, "--questions", questions, "--metrics", "token_f1", "-o", tmp_path / "a.jsonl") == 2
    assert score(answers[1], "--questions", questions, "--metrics", "token_f1", "-o", "-") == 2
    assert not (tmp_path / "s.csv").exists() and not (tmp_path / "-").exists()
    assert verdicts.read_bytes() == before[answers[0]] and all(path.read_bytes() == before[path] for path in (answers[1], questions))


def test_redacted_results_hold_no_texts(server: FakeServer, tmp_path: Path) -> None:
    assert judged(server, tmp_path, "--redact", "-o", tmp_path / "run", "-o", tmp_path / "s.jsonl", "-o", tmp_path / "s.json") == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("a.jsonl", "b.jsonl", "questions.jsonl")]
    written = [path for path in written if "cache" not in path.parts]
    assert {path.name for path in written} == {"results.jsonl", "run.json", "summary.json", "s.jsonl", "s.run.json", "s.json"}
    for path in written:
        assert "mill" not in path.read_text() and "Ada" not in path.read_text(), path
    made = server.stats().requests
    assert judged(server, tmp_path, "--redact", "--resume", "-o", tmp_path / "run") == 0
    assert server.stats().requests == made


def test_duplicates_are_refused_with_the_way_out_and_left_out_where_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers, questions = files(tmp_path), tmp_path / "questions.jsonl"
    questions.write_text(questions.read_text() + json.dumps({"id": "q1", "question": "Another?", "reference": "Other."}) + "\n")
    command = (*answers, "--questions", questions, "--metrics", "token_f1", "-q", "-o", tmp_path / "s.jsonl")
    assert score(*command) == 2
    assert "--allow-duplicates" in capsys.readouterr().err
    assert score(*command, "--allow-duplicates") == 0
    assert "left out: 1 (id q1)" in capsys.readouterr().err
    assert len(lines(tmp_path / "s.jsonl")) == 8


def test_lexical_metrics_need_no_model_and_no_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path)
    assert score(*answers, "--questions", tmp_path / "questions.jsonl", "--metrics", "lexical", "-o", tmp_path / "run/", "-o",
                 tmp_path / "s.json") == 0
    assert "token_f1" in capsys.readouterr().out
    report = json.loads((tmp_path / "s.json").read_text())
    assert {(s["system"], s["metric"]) for s in report["summaries"]} == {
        (system, metric) for system in ("a", "b") for metric in ("exact_match", "token_f1", "rouge_l", "rouge_l_compat")
    }
    assert report["run"]["command"] == "score" and len(report["run"]["inputs"]) == 3
    assert {path.name for path in (tmp_path / "run").iterdir()} >= {"run.json", "results.jsonl", "summary.json"}


def test_a_budget_that_is_reached_keeps_everything_and_the_rest_is_asked_later(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "s.jsonl"
    assert judged(server, tmp_path, "--max-calls", 15, "-j", 1, "-q", "-o", out) == 3
    assert "the same command goes on with --retry-errors" in capsys.readouterr().err
    first = lines(out)
    assert len(first) == 8 * 5 and {s["status"] for s in first} == {"scored", "unscored"}
    assert all(s["reason"].startswith("budget") for s in first if s["status"] == "unscored")
    asked = server.stats().requests
    assert asked == 15
    assert judged(server, tmp_path, "--retry-errors", "-o", out) == 0
    assert server.stats().requests == 8 * 6 - 4, "what was paid is not paid again"
    assert {s["status"] for s in lines(out)} == {"scored"}


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    holding = HoldingModel(60)
    with FakeServer(holding) as slow:
        answers = files(tmp_path, 40)
        command = [
            sys.executable, "-m", "kgeval", "score", *map(str, answers), "--questions", "questions.jsonl", "--metrics", USUAL,
            "--model", "m", "--base-url", slow.base_url, "-j", "4", "-o", "s.jsonl", "--no-progress",
        ]
        process = subprocess.Popen(command, cwd=tmp_path, env=dict(os.environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        wait_until(lambda: holding.waiting == 4)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=200)[1].decode()
        assert process.returncode == 130
        assert "the same command goes on with --resume" in error
        holding.release()
        done = subprocess.run([*command, "--resume"], cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        total = 80 * 6 - 40
        assert total <= slow.stats().requests <= total + 8, "at most the calls in flight twice"
    assert len(lines(tmp_path / "s.jsonl")) == 80 * 5


def test_gates_decide_the_exit_code(server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path)
    base = (*answers, "--questions", tmp_path / "questions.jsonl", "--metrics", "token_f1")
    assert score(*base, "--threshold", "token_f1=0.1") == 0
    assert score(*base, "--threshold", "token_f1=0.99") == 1
    assert "gate missed: a: token_f1 >= 0.99 (0.5)" in capsys.readouterr().err
    assert score(*base, "--threshold", "b:token_f1>=0.99") == 1
    assert score(*base, "--threshold", "faithfulness=0.5") == 2
    assert score(*base, "--threshold", "c:token_f1=0.5") == 2
    assert judged(server, tmp_path, "--max-calls", 3, "--threshold", "faithfulness=0.0001") == 3


def test_faulty_words_and_files_cost_nothing_and_say_the_way_out(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers, questions = files(tmp_path), tmp_path / "questions.jsonl"
    cases: list[tuple[tuple[object, ...], str]] = [
        ((tmp_path / "none.jsonl", "--metrics", "lexical"), "no such file"),
        ((answers[0], "--metrics", "lexicl"), "did you mean lexical"),
        ((answers[0],), "no metric is named"),
        ((answers[0], "--metrics", "faithfulness"), "no model is named for the judge"),
        ((answers[0], "--metrics", "lexical", "--setting", "tua=1"), "no such setting"),
        ((answers[0], "--metrics", "lexical", "--setting", "tau=2"), "is not between 0 and 1"),
        ((answers[0], "--metrics", "lexical", "--write-back"), "needs --explain"),
        ((answers[0], "--metrics", "lexical", "--filter-hops", "two"), "no whole number"),
        ((answers[0], "--metrics", "lexical", "--map", "answer"), "write NAME=FIELD"),
        ((answers[0], "--metrics", "lexical", "-o", tmp_path / "x.pdf"), "unknown ending"),
        ((answers[0], "--metrics", "lexical", "--against", "z", "--questions", questions), "no system is called z"),
        ((answers[0], "--metrics", "lexical", "--questions", questions, "--audit", answers[0]), "a.jsonl"),
        ((answers[0], "--metrics", "lexical"), "no file has the text of question 'q0'"),
    ]
    for arguments, said in cases:
        assert score(*arguments) == 2, arguments
        error = capsys.readouterr().err
        assert said in error and "Fix:" in error, (arguments, error)
    assert server.stats().requests == 0


@pytest.mark.parametrize("in_flight", [1, 16])
def test_a_wrong_key_costs_one_request(tmp_path: Path, capsys: pytest.CaptureFixture[str], in_flight: int) -> None:
    with FakeServer([Rule(status=401, message="bad key")]) as server:
        assert judged(server, tmp_path, "-j", in_flight) == 2
        assert server.stats().requests == 1
    assert "sk-test" not in capsys.readouterr().err


def test_filters_choose_the_same_questions_for_every_system(tmp_path: Path) -> None:
    answers = files(tmp_path, 12)
    base = (*answers, "--questions", tmp_path / "questions.jsonl", "--metrics", "exact_match", "-q")

    def chosen(name: str, *more: object) -> dict[str, list[str]]:
        assert score(*base, *more, "-o", tmp_path / name) == 0
        found: dict[str, list[str]] = {}
        for line in lines(tmp_path / name):
            found.setdefault(line["system"], []).append(line["question_id"])
        return found

    assert chosen("first.jsonl", "--limit", 3) == {"a": ["q0", "q1", "q2"], "b": ["q0", "q1", "q2"]}
    drawn = chosen("drawn.jsonl", "--filter-sample", 4, "--seed", 5)
    assert drawn["a"] == drawn["b"] and len(drawn["a"]) == 4
    assert chosen("again.jsonl", "--filter-sample", 4, "--seed", 5) == drawn
    assert set(chosen("level.jsonl", "--filter-level", "fact_retrieval")["a"]) == {"q0", "q4", "q8"}
    assert set(chosen("one.jsonl", "--filter-system", "b", "--filter-id", "q1,q2")) == {"b"}


def test_a_preset_by_level_gives_each_row_its_own_metrics(server: FakeServer, tmp_path: Path) -> None:
    assert judged(server, tmp_path, "-o", tmp_path / "s.jsonl", "--embedding-url", server.base_url, "--embedding-model", "e",
                  metrics="graphrag-bench") == 0
    got: dict[str, set[str]] = {}
    for line in lines(tmp_path / "s.jsonl"):
        got.setdefault(line["question_id"], set()).add(line["metric"])
    both = {"answer_accuracy", "context_relevance", "evidence_recall", "claim_recall"}
    assert got == {
        "q0": both | {"rouge_l_compat"}, "q1": both | {"rouge_l_compat"}, "q2": both | {"evidence_coverage"},
        "q3": both | {"faithfulness", "evidence_coverage"},
    }


def test_trials_of_a_judge_that_draws_are_calls_of_their_own_and_give_a_spread(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "kgeval.toml").write_text("[model.judge]\nparameters = { temperature = 0.7 }\n")
    assert judged(server, tmp_path, "--trials", 3, "-o", tmp_path / "s.json", metrics="faithfulness") == 0
    report = json.loads((tmp_path / "s.json").read_text())
    assert all(s["repeats"]["runs"] == 3 and s["overall"]["n"] == 4 for s in report["summaries"])
    assert server.stats().requests == 8 * 2 * 3


def test_a_judge_at_temperature_0_is_sent_each_body_once_and_no_spread_is_told(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    assert judged(server, tmp_path, "--trials", 4, "-o", tmp_path / "s.json", metrics="faithfulness,token_f1") == 0
    report = json.loads((tmp_path / "s.json").read_text())
    assert all(summary["repeats"] is None for summary in report["summaries"])
    stats = server.stats()
    assert stats.requests == len(stats.by_request) == 8 * 2
    told = "trials 1 (of 4): the judge has temperature 0, where the same request gets the same reply, which is no second draw"
    assert told in capsys.readouterr().err and any(told in note for note in report["notes"])
    assert judged(server, tmp_path, "--trials", 4, metrics="token_f1") == 0
    assert "trials 1 (of 4): no model is asked, and the same rows get the same scores" in capsys.readouterr().err


def test_rows_whose_judge_went_away_are_asked_again_when_it_is_back(tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    given = ("-j", 1, "-q", "-o", out)
    with FakeServer() as server:
        gone = threading.Thread(target=lambda: (wait_until(lambda: server.stats().requests >= 12), server.stop()))
        gone.start()
        assert judged(server, tmp_path, *given, n=12, metrics="faithfulness") == 3
        gone.join()
        causes = {one["reason"].partition(":")[0] for one in lines(out) if one["status"] == "unscored"}
        assert "connection" in causes
        assert json.loads((tmp_path / "s.run.json").read_text())["complete"] is False
        assert judged(server, tmp_path, "--resume", *given, n=12, metrics="faithfulness") == 2, "it is still away: nothing is asked"
        server.start()
        assert judged(server, tmp_path, "--resume", *given, n=12, metrics="faithfulness") == 0
    assert {one["status"] for one in lines(out)} == {"scored"}
    assert json.loads((tmp_path / "s.run.json").read_text())["complete"] is True


def test_a_run_with_more_failures_than_are_allowed_is_not_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer([Rule(match="mill 2", reply="no JSON")]) as server:
        given = ("-q", "-o", tmp_path / "s.json", "--max-error-rate", 0.2)
        assert judged(server, tmp_path, *given, metrics="faithfulness") == 3
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["complete"] is False and "incomplete: 25.0 % of the scores failed" in capsys.readouterr().err
    assert report["run"]["exit_code"] == 3


@pytest.mark.long
def test_a_closed_pipe_loses_no_file(server: FakeServer, tmp_path: Path) -> None:
    answers = files(tmp_path, 30)
    command = (
        f"{sys.executable} -m kgeval score {answers[0]} --questions questions.jsonl --metrics lexical -o s.jsonl -o s.html | head -n 1"
    )
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert "Traceback" not in done.stderr and len(lines(tmp_path / "s.jsonl")) == 30 * 4 and (tmp_path / "s.html").exists()


def test_results_that_quote_texts_are_private(server: FakeServer, tmp_path: Path) -> None:
    assert judged(server, tmp_path, "-o", tmp_path / "s.jsonl", "-o", tmp_path / "s.html") == 0
    for name in ("s.jsonl", "s.verdicts.jsonl", "s.html"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0, name


def test_rows_that_a_stopped_run_never_asked_about_are_not_finished(server: FakeServer, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    assert judged(server, tmp_path, "--max-calls", 12, "-j", 1, "-o", out) == 3
    assert judged(server, tmp_path, "--resume", "-o", out) == 0
    assert {s["status"] for s in lines(out)} == {"scored"}
    assert server.stats().requests == 8 * 6 - 4


def test_a_changed_setting_that_a_metric_declares_is_another_run_and_one_that_none_declares_goes_on(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers, out = files(tmp_path), tmp_path / "s.jsonl"
    words = (
        *answers, "--questions", tmp_path / "questions.jsonl", "--metrics", "context_precision,token_f1", "--model", "judge",
        "--base-url", server.base_url, "-q", "-o", out,
    )
    assert score(*words, "--max-calls", 3, "-j", 1) == 3, "a part of the rows is there"
    before = server.stats().requests
    assert score(*words, "--resume", "--setting", "relevant_from=1") == 2, "the rows there have another meaning"
    assert "other" in capsys.readouterr().err and server.stats().requests == before
    assert score(*words, "--resume", "--setting", "tau=0.9", "--setting", "query_timeout=5") == 0, "no metric of the run reads these"
    first = {(one["metric"], one["signature"]) for one in lines(out)}
    assert len(first) == 2 and len(lines(out)) == 16
    made = server.stats().requests
    assert score(*words, "--setting", "relevant_from=1") == 0 and server.stats().requests == made, "every reply is found in the journal"
    second = {(one["metric"], one["signature"]) for one in lines(out)}
    assert {name for name, _ in first - second} == {"context_precision"}


def test_a_field_of_the_questions_says_what_they_were_drawn_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, 24)
    questions = tmp_path / "questions.jsonl"
    asked = [json.loads(line) for line in questions.read_text().splitlines()]
    questions.write_text("".join(
        json.dumps(one | {"document": f"d{at % 3}", "topic": f"t{at % 8}"}) + "\n" for at, one in enumerate(asked)
    ))
    given = (*answers, "--questions", questions, "--metrics", "token_f1", "-q", "-o", tmp_path / "s.json")

    def mean(*more: object) -> dict[str, Any]:
        assert score(*given, *more) == 0
        report = json.loads((tmp_path / "s.json").read_text())
        return {"drawn": report["drawn"], **report["summaries"][0]["overall"]}

    assert (mean()["drawn"], mean()["groups"], mean()["low"]) == ("document", 3, None)
    assert (mean("--cluster", "topic")["drawn"], mean("--cluster", "topic")["groups"]) == ("topic", 8)
    assert (mean("--cluster", "question")["drawn"], mean("--cluster", "question")["groups"]) == ("question", None)
    capsys.readouterr()
    assert score(*given, "--cluster", "topics") == 2
    assert "--cluster topics: no question has it (fields of their own: topic)" in capsys.readouterr().err
    (tmp_path / "kgeval.toml").write_text('[score]\ncluster = "topic"\n')
    assert mean()["groups"] == 8


def test_a_score_report_and_the_report_over_it_name_the_same_things_to_fix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.jsonl").write_text("".join(json.dumps({"id": f"q{at}", "question": "?", "reference": "Ada"}) + "\n" for at in range(40)))
    (tmp_path / "a.jsonl").write_text("".join(
        json.dumps({"question_id": f"q{at}", "answer": "Ada" if at % 9 == 0 else "Bob"}) + "\n" for at in range(40)
    ))
    assert score("a.jsonl", "--questions", "q.jsonl", "--metrics", "token_f1", "-q", "-o", "s.json", "-o", "s.html") == 0
    assert run(["report", "s.json", "-f", "json"]) == 0
    over = json.loads(capsys.readouterr().out)
    (weak,) = [row for row in over["priorities"] if row["severity"] == "error"]
    page = (tmp_path / "s.html").read_text()
    assert weak["title"] == "Weak answers: token_f1" and weak["title"] in page and weak["evidence"] in page
    assert "asks for it" not in page


def test_the_headline_concludes_nothing_from_grounded_claims_beyond_the_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    def facts(at: int, *numbers: int) -> str:
        return " ".join(f"Fact {at:04} {number:02} holds." for number in numbers)

    said = {"terse": (1, 2), "full": (1, 2, 3, 4)}
    asked = [{"id": f"q{at}", "question": f"What is known of {at:04}?", "reference": facts(at, 1, 2)} for at in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    for system, own in said.items():
        rows = [{"question_id": f"q{at}", "answer": facts(at, *own[: 4 - at % 2]), "contexts": [facts(at, 1, 2, 3, 4)]} for at in range(12)]
        (tmp_path / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("terse.jsonl", "full.jsonl", "--questions", "questions.jsonl", "--metrics", "factual_correctness,faithfulness")
    with FakeServer(Judge()) as server:
        done = score(*given, "--model", "m", "--base-url", server.base_url, "-o", "s.json")
    assert done == 0, "nobody asked for a comparison"
    shown = " ".join(capsys.readouterr().out.split())
    assert "Not decidable by factual_correctness: terse 1 (95% CI" in shown and "Best by" not in shown
    assert "the difference rests on claims beyond the reference" in shown
    report = json.loads((tmp_path / "s.json").read_text())
    assert [one["conclusion"] for one in report["outcomes"]] == ["not decidable"]
    claims = {one["system"]: one for one in report["claims"]}
    assert (claims["full"]["right"], claims["full"]["extra_grounded"], claims["full"]["wrong"]) == (24, 18, 0)
    assert claims["terse"]["extra_grounded"] == 0 and claims["full"]["extra_unknown"] == 0


def spoken(folder: Path, answers: dict[str, list[str | None]]) -> None:
    """Questions with one fact each, and what systems say; null: an error."""
    n = len(next(iter(answers.values())))
    fact = [f"Fact {at:04} holds." for at in range(n)]
    asked = [{"id": f"q{at}", "question": f"What is known of {at:04}?", "reference": fact[at]} for at in range(n)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    for system, said in answers.items():
        rows = [
            {"question_id": f"q{at}", "contexts": [fact[at]], "answer": text or "", **({"error": "timeout"} if text is None else {})}
            for at, text in enumerate(said)
        ]
        (folder / f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_who_refuses_most_questions_is_not_the_most_faithful_and_passes_no_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    right = [f"Fact {at:04} holds." for at in range(40)]
    wrong = [f"Fact {at:04} 99 holds." for at in range(40)]
    spoken(tmp_path, {"a": ["I do not know."] * 25 + right[25:], "b": [wrong[at] if at % 2 else right[at] for at in range(40)]})

    def hears_refusals(chat: Any, reply: Any) -> Any:
        refused = isinstance(reply, dict) and reply.get("statements") == ["I do not know."]
        return {"statements": [], "nothing_claimed": True} if refused else reply

    with FakeServer(Judge(hears_refusals)) as server:
        done = score(
            "a.jsonl", "b.jsonl", "--questions", "questions.jsonl", "--metrics", "faithfulness,factual_correctness", "--model", "m",
            "--base-url", server.base_url, "-o", "s.json", "--threshold", "a:faithfulness>=0.9",
        )
    assert done == 3, capsys.readouterr().out
    report = json.loads((tmp_path / "s.json").read_text())
    means = {(one["system"], one["metric"]): one["overall"] for one in report["summaries"]}
    assert (means["a", "faithfulness"]["mean"], means["a", "faithfulness"]["n_scored"]) == (1, 15)
    assert {one["conclusion"] for one in report["gains"] if one["metric"] == "faithfulness"} == {"not decidable"}
    claims = {one["system"]: one for one in report["claims"]}
    assert (claims["a"]["answers"], claims["a"]["right"], claims["a"]["missing"]) == (40, 15, 25)


def test_answers_that_are_errors_leave_a_gate_unanswered_and_are_no_empty_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    right = [f"Fact {at:04} holds." for at in range(20)]
    spoken(tmp_path, {"a": [None] * 12 + right[12:], "b": list(right)})
    given = ("a.jsonl", "b.jsonl", "--questions", "questions.jsonl", "--metrics", "exact_match", "-o", "s.json", "--threshold")
    assert score(*given, "a:exact_match>=0.5") == 3
    shown = " ".join(capsys.readouterr().out.split())
    assert "8/20" in shown and "the answer is an error: timeout" in shown and "the answer is empty" not in shown
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["complete"] is True and report["gates"][0]["met"] is None
    assert score(*given, "a:exact_match>=0.4") == 0, "met even if all of them were wrong"


def test_empty_answers_miss_all_that_the_reference_claims(tmp_path: Path) -> None:
    spoken(tmp_path, {"a": ["", "", "Fact 0002 holds."]})
    with FakeServer(Judge()) as server:
        given = ("a.jsonl", "--questions", "questions.jsonl", "--metrics", "factual_correctness", "--model", "m")
        assert score(*given, "--base-url", server.base_url, "-o", "s.json") == 0
    (claims,) = json.loads((tmp_path / "s.json").read_text())["claims"]
    assert (claims["answers"], claims["right"], claims["missing"]) == (3, 1, 2)
