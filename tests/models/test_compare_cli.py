"""`kgeval compare` from the outside: what is asked, counted, kept, refused, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from answer_world import script, spec
from compare_world import UNDECIDED, PairJudge, files
from killed_world import asked_again
from report_page import unpacked
from waiting import HoldingModel, wait_until

from kgeval.cli.main import run
from kgeval.llm.fake import Chat, FakeServer

GOOD, POOR = (4, 5, 4, 3), (2, 3, 2, 1)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the machine: no kgeval.toml, no endpoint, a cache folder of this test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("KGEVAL_COMPARE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KGEVAL_COMPARE_MAX_RETRIES", "1")
    monkeypatch.setenv("KGEVAL_COMPARE_TRIALS", "2")
    monkeypatch.setenv("KGEVAL_COMPARE_TEMPERATURE", "0.5")  # every trial and repeat is a draw of its own


def compare(server: FakeServer, *arguments: object) -> int:
    given = [str(argument) for argument in arguments]
    return run(["compare", *given, "--questions", "questions.jsonl", "--model", "m", "--base-url", server.base_url, "--no-progress"])


def report(path: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(Path(path).read_text())
    return value


def overall(found: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The pairs' results over all aspects and questions."""
    return {
        (one["system_a"], one["system_b"]): one for one in found["pairs"] if one["aspect"] == "overall" and one["by"] == "all"
    }


def total(text: str) -> int:
    """The calls that a dry run has counted."""
    line = next(line for line in text.splitlines() if line.startswith("total"))
    return int(line.split()[1].replace(",", ""))


def bodies(server: FakeServer) -> list[str]:
    """What was asked, as one text each: messages and parameters."""
    return [json.dumps(one.body, sort_keys=True) for one in server.requests]


@pytest.mark.parametrize(("more", "requests", "trials"), [
    ((), 4 * 2, 1), (("--wordings", 3), 4 * 2 * 3, 3), (("--wordings", 3, "--trials", 2), 4 * 2 * 2, 2),
    (("--procedure", "single", "--trials", 9), 4 * 2, 1),
])
def test_a_judge_at_temperature_0_is_never_asked_the_same_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: tuple[object, ...], requests: int,
    trials: int,
) -> None:
    monkeypatch.setenv("KGEVAL_COMPARE_TEMPERATURE", "0")
    monkeypatch.setenv("KGEVAL_COMPARE_TRIALS", "25")
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, *more, "--dry-run") == 0
        out = capsys.readouterr()
        assert total(out.out) == requests and "same request gets the same reply" in out.err
        assert compare(server, *answers, *more, "-o", "r.json", "-q") == UNDECIDED
        assert len(bodies(server)) == len(set(bodies(server))) == requests
    found = report("r.json")
    assert found["requests"] == requests and overall(found)["good", "poor"]["trials"] == trials
    assert any("repeats 1 (of 2)" in note or "--repeats" in more for note in found["notes"])


def test_with_a_temperature_trials_are_draws_and_a_seed_counts_up(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    (tmp_path / "kgeval.toml").write_text('[model.judge.parameters]\nseed = 7\n')
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-o", "r.json", "-q") == UNDECIDED
        sent = [json.loads(one) for one in bodies(server)]
    assert len(sent) == 4 * 2 * 2 * 2 and {one["temperature"] for one in sent} == {0.5}
    assert {one["seed"] for one in sent} == {7, 8, 1007, 1008} and report("r.json")["requests"] == 32


@pytest.mark.long
@pytest.mark.parametrize(("more", "shown", "aspects"), [
    ((), {"right_answers", "evidence"}, 6), (("--show", "reference"), {"right_answers"}, 6), (("--show", "evidence"), {"evidence"}, 6),
    (("--show", "none"), None, 4), (("--aspects", "zeng"), {"right_answers", "evidence"}, 4),
    (("--aspects", "zeng", "--show", "none"), None, 4), (("--aspects", "correctness,completeness"), {"right_answers", "evidence"}, 2),
])
def test_the_judge_is_shown_what_the_questions_have_unless_told_otherwise(
    tmp_path: Path, more: tuple[str, ...], shown: set[str] | None, aspects: int,
) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    rows = [json.loads(line) for line in Path("questions.jsonl").read_text().splitlines()]
    for row in rows[:3]:
        row |= {"reference": f"The builder of {row['id']}.", "evidence": [{"text": f"Built by {row['id']}, says a text."}]}
    Path("questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, *more, "--trials", "1", "--repeats", "1", "-o", "r.json", "-q") == UNDECIDED
        asked = bodies(server)
    assert len(asked) == 8
    if shown is None:
        assert not any("right_answers" in one or "builder of" in one for one in asked)
    else:
        knowing = [one for one in asked if "builder of" in one or "says a text" in one]
        assert len(knowing) == 6, "three of four questions have something, in both orders"
        assert {("builder of" in one, "says a text" in one) for one in knowing} == {("right_answers" in shown, "evidence" in shown)}
    found = report("r.json")
    names = {one["aspect"] for one in found["pairs"]} - {"overall"}
    assert len(names) == aspects and found["settings"]["show"] == (
        "none" if shown is None else "both" if len(shown) == 2 else "reference" if "right_answers" in shown else "evidence"
    )
    said = "shown nothing" if shown is None else "(3 of 4 questions)"
    assert any("the judge is shown" in note and said in note for note in found["notes"])


def test_what_no_question_has_cannot_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--show", "both") == 2
        assert "no question has reference or evidence" in capsys.readouterr().err
        assert compare(server, *answers, "--wordings", "4") == 2
        assert "the aspects have 3" in capsys.readouterr().err and server.stats().requests == 0


@pytest.mark.long
def test_the_dry_run_counts_the_calls_that_are_made_and_a_second_run_makes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    more = ("--baseline-biased", "--contrast", "single", "--contrast", "pairwise-choice")
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, *more, "--dry-run") == 0
        counted = total(capsys.readouterr().out)
        assert server.stats().requests == 0
        assert compare(server, *answers, *more, "-o", "one.json", "--verdicts", "one.jsonl", "-q") == UNDECIDED
        made = server.stats().requests
        # 4 questions x 2 trials x 2 repeats: scores and pairwise-choice in 2 orders, single each answer alone; biased once a question
        assert counted == made == 4 * (2 * 2 * 2 + 2 * 2 * 2 + 2 * 2 * 2 + 1)
        assert compare(server, *answers, *more, "-o", "two.json", "--verdicts", "two.jsonl", "-q") == UNDECIDED
        assert server.stats().requests == made
        capsys.readouterr()
        assert compare(server, *answers, *more, "--dry-run") == 0
        assert total(capsys.readouterr().out) == 0
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    rows = [json.loads(line) for line in Path("one.jsonl").read_text().splitlines()]
    # verdicts: one an aspect of each judgement; single: both answers are one judgement
    assert len(rows) == 4 * (8 * 4 + 4 * 4 + 8 * 4 + 5) and all(row["failure"] is None for row in rows)
    assert list(dict.fromkeys(row["procedure"] for row in rows)) == ["scores", "single", "pairwise-choice", "biased"]


def test_more_trials_or_repeats_ask_for_the_new_ones_only(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-q") == UNDECIDED
        assert compare(server, *answers, "-q", "--trials", "3", "--repeats", "3") == UNDECIDED
        assert server.stats().requests == 4 * 3 * 2 * 3


def test_a_known_taste_for_the_first_place_is_in_the_baseline_and_not_in_the_comparison(tmp_path: Path) -> None:
    """Both systems are worth the same. The judge gives the first answer a point more: the usual way finds a clear winner."""
    answers = files(tmp_path, {"one": (3, 2), "other": (3, 2)}, n=8)
    with FakeServer(PairJudge(first=1)) as server:
        assert compare(server, *answers, "--baseline-biased", "-o", "r.json", "-q") == UNDECIDED
    found = report("r.json")
    fair = overall(found)["one", "other"]
    assert (fair["relative"]["value"], fair["rates"]["tie"], fair["gap"]["value"]) == (0, 1, 0)
    biased = next(one for one in found["contrast"]["biased"] if one["aspect"] == "overall" and one["by"] == "all")
    assert (biased["relative"]["value"], biased["rates"]["win"], biased["trials"]) == (1, 1, 1)
    assert found["judge"][0]["first_wins"]["value"] == 1


@pytest.mark.long
@pytest.mark.parametrize("procedure", ["scores", "single", "pairwise-choice", "differential"])
def test_each_procedure_finds_the_better_system(tmp_path: Path, procedure: str, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"good": (4, 4, 4, 1), "poor": (2, 2, 2, 3)})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--procedure", procedure, "--dry-run") == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
        assert compare(server, *answers, "--procedure", procedure, "-o", "r.json", "-q") == UNDECIDED
        assert f"{server.stats().requests} " in line
    one = overall(report("r.json"))["good", "poor"]
    assert (one["rates"]["win"], one["rates"]["loss"], one["relative"]["value"]) == (0.75, 0.25, 0.5)


@pytest.mark.long
def test_one_thread_and_eight_write_the_same_bytes(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR, "third": (3,)})
    with FakeServer(PairJudge(first=1), faults=0.2, seed=3, kinds=("prose", "server_error")) as server:
        assert compare(server, *answers, "-j", 8, "--verdicts", "eight.jsonl", "-q", "--cache-dir", "c8", "--max-reasks", 6) == UNDECIDED
        assert compare(server, *answers, "-j", 1, "--verdicts", "one.jsonl", "-q", "--cache-dir", "c1", "--max-reasks", 6) == UNDECIDED
    assert Path("eight.jsonl").read_bytes() == Path("one.jsonl").read_bytes()
    places = [
        (row["system_a"], row["system_b"], row["question_id"], row["trial"], row["first"] != row["system_a"], row["repeat"])
        for row in map(json.loads, Path("one.jsonl").read_text().splitlines())
    ]
    assert places == sorted(places), "pair, question, trial, order, repeat"


@pytest.mark.long
def test_single_scores_are_asked_once_an_answer_however_many_pairs_share_it(tmp_path: Path) -> None:
    answers = files(tmp_path, {name: (n,) for n, name in enumerate(("s1", "s2", "s3", "s4"))})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--procedure", "single", "-q", "-o", "r.json") == UNDECIDED
        assert server.stats().requests == 4 * 4 * 2 * 2, "systems x questions x trials x repeats, not pairs"
    assert len(overall(report("r.json"))) == 6


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_where_it_was_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR}, n=20)
    whole = 20 * 2 * 2 * 2
    holding = HoldingModel(20, PairJudge())
    with FakeServer(holding) as server:
        command = [
            sys.executable, "-m", "kgeval.cli.main", "compare", *map(str, answers), "--questions", "questions.jsonl", "--model", "m",
            "--base-url", server.base_url, "--verdicts", "v.jsonl", "-q", "-j", "2", "--no-progress",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: holding.waiting == 2)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        holding.release()
        assert not Path("v.jsonl").exists(), "verdicts are in a file without a name until all of them are there"
        assert compare(server, *answers, "--verdicts", "v.jsonl", "-q") == 0
        assert whole <= server.stats().requests <= whole + asked_again(2), "what was in flight or not yet written may be made again"
    assert len(Path("v.jsonl").read_text().splitlines()) == whole * 4


def test_ctrl_c_ends_with_130_and_says_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR}, n=20)
    judged = count(1)

    def interrupting(chat: Chat, said: Any) -> Any:
        if next(judged) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        return said

    with FakeServer(PairJudge(spoil=interrupting)) as server:
        assert compare(server, *answers, "-q", "-j", "2", "--verdicts", "v.jsonl") == 130
        made = server.stats().requests
        assert "the same command goes on" in capsys.readouterr().err and made < 20 * 8 and not Path("v.jsonl").exists()
        assert compare(server, *answers, "-q", "--verdicts", "v.jsonl") == 0
        assert server.stats().requests <= 20 * 8 + asked_again(2), "what was in flight or not yet written may be made again"


def test_a_budget_ends_the_run_with_3_and_the_next_run_finishes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--max-calls", 10, "-o", "r.json", "-q", "-j", 1) == 3
        assert server.stats().requests == 10
        assert "incomplete" in capsys.readouterr().err
        found = report("r.json")
        assert found["complete"] is False and "budget" in overall(found)["good", "poor"]["failures"]
        assert compare(server, *answers, "-o", "r.json", "-q") == UNDECIDED
        assert server.stats().requests == 32
    assert report("r.json")["complete"] is True


def test_replies_that_cannot_be_used_are_asked_again_then_unscored_with_their_cause(tmp_path: Path) -> None:
    def spoil(chat: Chat, said: Any) -> Any:
        if "mill 1?" in chat.subject:
            said = {**said, "relevance": {**said["relevance"], "second": {"reason": "half", "score": 4.5}}}
        if "mill 2?" in chat.subject:
            said = {name: part for name, part in said.items() if name != "directness"}
        return said

    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    with FakeServer(PairJudge(spoil=spoil)) as server:
        limits = ("--max-reasks", 1, "--max-error-rate", 1)
        assert compare(server, *answers, "-o", "r.json", "--verdicts", "v.jsonl", "-q", *limits) == UNDECIDED
        assert server.stats().requests == 2 * 8 + 2 * 8 * 2
    one = overall(report("r.json"))["good", "poor"]
    assert (one["n"], one["n_scored"], one["failures"], one["relative"]["value"]) == (4, 2, {"unparsable": 2}, 1)
    lost = [row for row in map(json.loads, Path("v.jsonl").read_text().splitlines()) if row["failure"]]
    assert {row["question_id"] for row in lost} == {"q1", "q2"} and all(row["score_a"] is None and row["winner"] is None for row in lost)


def test_a_judge_who_always_says_5_is_told_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"one": (5,), "other": (5,)})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-o", "r.json", "-q") == UNDECIDED
    found = report("r.json")
    assert any("one and the same score (5)" in note for note in found["notes"])
    assert overall(found)["one", "other"]["rates"] == {"win": 0, "tie": 1, "loss": 0}


@pytest.mark.parametrize(("n", "worth"), [(1, (4,)), (4, (5,))])
def test_one_question_and_a_system_that_always_wins_have_figures_and_cautions(tmp_path: Path, n: int, worth: tuple[int, ...]) -> None:
    answers = files(tmp_path, {"good": worth, "poor": (1,)}, n=n)
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-o", "r.json", "-q") == UNDECIDED
    found = report("r.json")
    assert overall(found)["good", "poor"]["rates"]["win"] == 1
    assert any("under 100 questions" in note or "one question" in note for note in found["notes"])


def test_an_a_a_check_alone_that_has_no_result_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"one": lambda i: f"worth 3, {i}, " + "word " * 30, "again": lambda i: f"worth 3, {i}"})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--self-check", "one=again", "--no-force", "-q") == 3
        assert "nothing could be judged" in capsys.readouterr().err
        assert compare(server, *answers, "--self-check", "one=again", "--align", "none", "-q") == 0


def test_a_threshold_without_an_answer_and_a_contrast_that_fails_are_told_as_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """One question has no interval: nothing failed, and nothing says so. A contrast that the judge never answers is no success."""
    answers = files(tmp_path, {"good": (4,), "poor": (1,)}, n=1)
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--threshold", "low>=0", "-q") == 3
        said = capsys.readouterr().err
        assert "low (overall) >= 0 (it has no value)" in said and "failed" not in said and "incomplete" not in said
    with FakeServer(PairJudge(spoil=lambda chat, made: made if "second" in chat.subject and "score" in str(made) else "no")) as server:
        assert compare(server, *answers, "--contrast", "pairwise-choice", "-q", "--max-reasks", 0, "--max-error-rate", 0.9) == 3
    assert "pairwise-choice: 1 of 1 questions failed" in capsys.readouterr().err


def test_systems_with_different_questions_are_refused_unless_allowed_and_then_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    lines = answers[1].read_text().splitlines(keepends=True)
    answers[1].write_text("".join(lines[:-1]))
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-q") == 2
        assert "poor: lacks 1 of 4 questions: q3" in capsys.readouterr().err
        assert server.stats().requests == 0
        assert compare(server, *answers, "--allow-missing", "-o", "r.json", "-q") == UNDECIDED
    found = report("r.json")
    assert found["missing"] == {"poor": ["q3"]} and overall(found)["good", "poor"]["n"] == 3


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "nothing": ((), "nothing to compare"),
    "one system only": (("good.jsonl",), "only one system"),
    "the same file twice": (("good.jsonl", "good.jsonl"), "given twice"),
    "no such file": (("good.jsonl", "none.jsonl"), "no such file"),
    "an unknown system to compare with": (("good.jsonl", "poor.jsonl", "--against", "goode"), "did you mean good?"),
    "an unknown aspect": (("good.jsonl", "poor.jsonl", "--aspects", "relevence"), "did you mean relevance?"),
    "thresholds of another form": (("good.jsonl", "poor.jsonl", "--threshold", "best", "--threshold", "x:win>=1"), "no system is called x"),
    "an unknown ending": (("good.jsonl", "poor.jsonl", "-o", "r.docx"), "unknown ending"),
    "an output that is an input": (("good.jsonl", "poor.jsonl", "--verdicts", "poor.jsonl"), "would replace a file that is read"),
    "an output that a system reads": (("good.jsonl", "--system", "x=file:poor.jsonl", "-o", "poor.jsonl"), "would replace a file that"),
    "a second run of nobody": (("good.jsonl", "poor.jsonl", "--self-check", "other"), "no system is called other"),
    "a file without a second run": (("good.jsonl", "poor.jsonl", "--self-check", "good"), "one answer to a question"),
    "a baseline that is none": (("good.jsonl", "poor.jsonl", "--baseline", "questions.jsonl"), "questions.jsonl"),
    "systems that cannot answer again": (("good.jsonl", "poor.jsonl", "--trial-kind", "regenerate"), "too few answers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_with_a_way_out_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str,
) -> None:
    files(tmp_path, {"good": GOOD, "poor": POOR})
    given, said = REFUSED[name]
    with FakeServer(PairJudge()) as server:
        assert compare(server, *given) == 2
        assert server.stats().requests == 0
    error = capsys.readouterr().err
    assert said in error and ("Fix:" in error or "Usage:" in error)


def test_a_missing_file_of_questions_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    (tmp_path / "questions.jsonl").unlink()
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers) == 2
    assert "questions.jsonl" in capsys.readouterr().err


def test_thresholds_decide_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR}, n=12)
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-q", "--threshold", "good:relative>=0.5", "--threshold", "poor:good:win<=0") == 0
        assert compare(server, *answers, "-q", "--threshold", "poor:relative@relevance>=-0.05") == 1
        assert "gate missed: poor vs good: relative (relevance) >= -0.05 (-1)" in capsys.readouterr().err


def test_a_run_folder_has_verdicts_answers_report_and_manifest_of_this_user_only(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-o", "run/", "--verdicts", "v.csv", "-q") == UNDECIDED
    folder = tmp_path / "run"
    assert {path.name for path in folder.iterdir()} == {"verdicts.jsonl", "aligned.jsonl", "comparison.json", "comparison.html", "run.json"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    judged = [json.loads(line) for line in (folder / "aligned.jsonl").read_text().splitlines()]
    assert [one["question_id"] for one in judged] == ["q0", "q1", "q2", "q3"], "answers that stay from trial to trial stand once"
    assert judged[0]["answer_a"] == "Mill 0, says good: worth 4."
    assert len((tmp_path / "v.csv").read_text().splitlines()) == 1 + len((folder / "verdicts.jsonl").read_text().splitlines())
    assert "sk-test" not in (folder / "run.json").read_text()


@pytest.mark.long
def test_redacted_outputs_quote_no_answer(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})

    def quoting(chat: Chat, said: Any) -> Any:
        return {name: {side: {**one, "reason": "it quotes-Mill"} for side, one in part.items()} for name, part in said.items()}

    with FakeServer(PairJudge(spoil=quoting)) as server:
        assert compare(server, *answers, "-o", "run/", "--redact", "-q") == UNDECIDED
    assert not any(word in unpacked(path.read_text()) for path in (tmp_path / "run").iterdir() for word in ("quotes-Mill", "Mill 0, says"))
    assert not (tmp_path / "run" / "aligned.jsonl").exists()


@pytest.mark.long
def test_fifty_systems_are_counted_before_anything_is_paid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"s{n:02}" for n in range(50)]
    answers = files(tmp_path, {name: (n % 6,) for n, name in enumerate(names)}, n=2)
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--trials", 25, "--dry-run") == 0
        assert server.stats().requests == 0
    pairs = 50 * 49 // 2
    assert total(capsys.readouterr().out) == pairs * 2 * 25 * 2 * 2


def test_stopping_when_sure_uses_fewer_questions_and_says_so(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR}, n=60)
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "--stop-when-sure", "--trials", 1, "--repeats", 1, "-o", "r.json", "-q") == 0
        made = server.stats().requests
    (stopped,) = report("r.json")["stopped"]
    assert (stopped["decision"], stopped["of_questions"], stopped["of_calls"]) == ("a", 60, 120)
    assert stopped["calls"] == made == stopped["questions"] * 2 < 120
    assert overall(report("r.json"))["good", "poor"]["n"] == stopped["questions"]


def test_anchors_say_whether_the_judge_moved_and_labels_correct_him(tmp_path: Path) -> None:
    answers = files(tmp_path, {"good": GOOD, "poor": POOR})
    anchors = [
        {"id": f"a{n}", "question": "Which?", "answer_a": f"worth {4 - n % 2 * 3}, {n}", "answer_b": f"worth 2, {n}", "label": "ab"[n % 2]}
        for n in range(6)
    ]
    (tmp_path / "anchors.jsonl").write_text("".join(json.dumps(one) + "\n" for one in anchors))
    labels = [{"question_id": f"q{n}", "system_a": "good", "system_b": "poor", "label": "a"} for n in range(3)]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labels))
    more = ("--anchors", "anchors.jsonl", "--labels", "labels.jsonl")
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, *more, "-o", "one.json", "-q") == UNDECIDED
        assert server.stats().requests == 4 * 2 * 4 + 6 * 4
        assert compare(server, *answers, *more, "--baseline", "one.json", "-o", "two.json", "-q") == UNDECIDED
    found = report("two.json")
    assert (found["drift"]["anchors"], found["drift"]["agreement"]["value"], found["drift"]["changed"]) == (6, 1, 0)
    assert {one["method"] for one in found["corrected"]} >= {"judge", "people"}
    assert any(note.startswith("baseline: good against poor: relative win rate +1 then, +1 now") for note in found["notes"])


SYSTEM = """
for r in requests():
    if "hello" in r:
        say(hello={"name": "x", "adjusts": True, "parallel": 2})
        continue
    with open(mark, "a") as log:
        log.write(json.dumps(r) + "\\n")
    words = r.get("target_words") or WORDS
    say(id=r["id"], answer=f"worth WORTH, trial {r.get('trial')}, " + "word " * (words - 4), calls=1)
"""


def system(folder: Path, name: str, *, worth: int, words: int) -> str:
    """A system that can be called and be asked for a length; NAME.mark has its requests."""
    made = script(folder, SYSTEM.replace("WORTH", str(worth)).replace("WORDS", str(words)), name)
    return f"{name}={spec(made)}"


def requests_to(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.mark").read_text().splitlines()]


@pytest.mark.long
def test_systems_that_can_be_called_answer_again_in_each_trial_and_are_brought_to_one_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    files(tmp_path, {})
    both = ("--system", system(tmp_path, "long", worth=2, words=40), "--system", system(tmp_path, "short", worth=4, words=12))
    with FakeServer(PairJudge()) as server:
        first = compare(server, *both, "--self-check", "short", "--baseline-biased", "-o", "r.json", "--verdicts", "v.jsonl", "-q")
        assert first == UNDECIDED
        made = server.stats().requests
        again = compare(server, *both, "--self-check", "short", "--baseline-biased", "-o", "r2.json", "--verdicts", "v2.jsonl", "-q")
        assert (again, server.stats().requests) == (UNDECIDED, made)
    assert Path("v.jsonl").read_bytes() == Path("v2.jsonl").read_bytes()
    found = report("r.json")
    assert found["trial_kind"] == "regenerate" and overall(found)["long", "short"]["relative"]["value"] == -1
    (alignment,) = [one for one in found["alignment"] if one["level"] is None and one["system_b"] == "short"]
    assert (alignment["n"], alignment["adjusted"], alignment["attempts"], alignment["discarded"]) == (8, 8, {"1": 8}, 0)
    (check,) = found["self_checks"]
    assert (check["system"], check["relative"]["value"]) == ("short", 0)
    asked = requests_to(tmp_path, "long")
    assert len(asked) == 4 * 2 and {one["trial"] for one in asked} == {1, 2}, "once a question and trial, and not again in the second run"
    asked = requests_to(tmp_path, "short")
    assert len(asked) == 4 * (2 + 2 + 2), "free, in the second run, and with the longer one's length"
    assert {one.get("target_words") for one in asked} == {None, 40}
    rows = [json.loads(line) for line in Path("v.jsonl").read_text().splitlines()]
    assert {(row["length_a"], row["length_b"]) for row in rows if row["procedure"] == "scores" and row["system_b"] == "short"} == {(40, 40)}
    assert {(row["length_a"], row["length_b"]) for row in rows if row["procedure"] == "biased" and row["system_b"] == "short"} == {(40, 12)}


def test_a_system_of_a_files_name_is_the_hook_of_its_lengths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(tmp_path, {"long": lambda i: f"worth 2, {i}, " + "word " * 37, "short": lambda i: f"worth 4, {i}"})
    with FakeServer(PairJudge()) as server:
        hook = ("--system", system(tmp_path, "short", worth=4, words=12))
        assert compare(server, *answers, *hook, "--no-force", "-o", "hook.json", "-q") == UNDECIDED
        assert compare(server, *answers, "--no-force", "-o", "none.json", "-q") == 3, "nothing can be judged: all pairs are discarded"
    said = capsys.readouterr().err
    assert "nothing could be judged: 4 of 4 questions were discarded" in said and "failed" not in said
    assert {one.get("target_words") for one in requests_to(tmp_path, "short")} == {40}, "free answers come from the file"
    assert overall(report("hook.json"))["long", "short"]["rates"]["loss"] == 1
    one = overall(report("none.json"))["long", "short"]
    assert (one["n"], one["n_scored"], one["discarded"]) == (4, 0, 4)


def test_answers_in_different_languages_are_compared_by_their_own_words(tmp_path: Path) -> None:
    answers = files(tmp_path, {"en": lambda i: f"Mill {i} was built by Ada, worth 2", "zh": lambda i: f"磨坊{i}是阿达建造的 worth 3"})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-o", "r.json", "-q") == UNDECIDED
    found = report("r.json")
    assert overall(found)["en", "zh"]["rates"]["loss"] == 1
    assert any("en and zh (Latin script and Chinese script in 4 of 4 questions)" in note for note in found["notes"])


def test_the_same_answers_under_two_names_are_told(tmp_path: Path) -> None:
    answers = files(tmp_path, {"one": lambda i: f"worth 3, {i}", "copy": lambda i: f"worth 3, {i}"})
    with FakeServer(PairJudge()) as server:
        assert compare(server, *answers, "-o", "r.json", "-q") == UNDECIDED
    found = report("r.json")
    assert overall(found)["one", "copy"]["rates"]["tie"] == 1
    assert any("one and copy (4 of 4)" in note for note in found["notes"])


def test_the_dry_run_of_systems_nobody_has_asked_yet_gives_a_range_that_holds_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    files(tmp_path, {})
    both = ("--system", system(tmp_path, "one", worth=2, words=12), "--system", system(tmp_path, "two", worth=4, words=12))
    with FakeServer(PairJudge()) as server:
        assert compare(server, *both, "--dry-run") == 0
        assert server.stats().requests == 0 and not (tmp_path / "one.mark").exists()
        said = capsys.readouterr().out
        assert compare(server, *both, "-q") == UNDECIDED
        made = server.stats().requests
    line = next(line for line in said.splitlines() if line.startswith("compare-scores"))
    assert made == 32 and line.split()[1:4] == ["0", "to", "32"] and "one: 8 answers" in said
