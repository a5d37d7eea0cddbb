"""`kgeval answer` from the outside: what is asked, kept, taken over, refused, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from answer_world import SIMPLE, endpoint, hold_after, lines, questions, script, spec
from waiting import wait_until

from kgeval.cli.main import run
from kgeval.llm.fake import FakeServer, Rule
from kgeval.records import AnswerReport
from kgeval.tables.rows import RowSelection, open_rows

COUNTING = """
for r in requests():
    if "hello" in r:
        say(hello={"name": "mine", "adjusts": True, "parallel": PARALLEL})
        continue
    with open(mark, "a") as file:
        file.write(r["id"] + "\\n")
    BODY
    say(id=r["id"], answer="about " + str(r.get("target_words")), input_tokens=10, cost=0.001)
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the machine: no kgeval.toml, no endpoint, a cache folder of this test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("KGEVAL_ANSWER_CACHE_DIR", str(tmp_path / "cache"))


def counting(folder: Path, body: str = "pass", *, parallel: int = 1) -> str:
    """A system that writes down the ids that it is asked. Returns it as --system takes it."""
    return spec(script(folder, COUNTING.replace("BODY", body).replace("PARALLEL", str(parallel))))


def asked(folder: Path) -> list[str]:
    """The ids that the system was asked, in order."""
    mark = folder / "mine.mark"
    return mark.read_text().split() if mark.exists() else []


def answer(*arguments: object) -> int:
    return run(["answer", *[str(argument) for argument in arguments], "--no-progress"])


def test_answers_come_in_the_order_of_the_questions_and_are_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = questions(tmp_path, 12)
    slow_first = counting(tmp_path, "time.sleep(0.1 if r['id'] == 'q0' else 0)", parallel=4)
    assert answer(file, "--system", slow_first, "--processes", 2, "-o", tmp_path / "a.jsonl") == 0
    assert [row["question_id"] for row in lines(tmp_path / "a.jsonl")] == [f"q{n}" for n in range(12)]
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split()[:4] == ["system", "answers", "empty", "failed"] and shown[1].split()[:4] == ["mine", "12", "0", "0"]
    report = AnswerReport.model_validate_json((tmp_path / "a.run.json").read_text())
    assert report.complete and report.run.command == "answer" and report.systems[0].input_tokens == 120
    assert not list(tmp_path.glob("*.partial")) and (tmp_path / "a.jsonl").stat().st_mode & 0o077 == 0
    assert run(["score", str(tmp_path / "a.jsonl"), "--questions", str(file), "--metrics", "token_f1", "-q"]) == 0


def test_a_system_is_shown_nothing_of_the_right_answer(tmp_path: Path) -> None:
    file = questions(tmp_path)
    peeping = spec(script(tmp_path, 'for r in requests():\n    say(id=r["id"], answer="A", extra={"seen": json.dumps(r)})'))
    assert answer(file, "--system", peeping, "-o", tmp_path / "a.jsonl") == 0
    assert "SECRET" not in (tmp_path / "a.jsonl").read_text() and "hops" not in (tmp_path / "a.jsonl").read_text()


def test_without_an_output_answers_go_to_stdout_as_they_come(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(questions(tmp_path), "--system", counting(tmp_path), "--filter-hops", 2) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["question_id"] for row in said] == ["q1", "q3"] and {row["system"] for row in said} == {"mine"}


@pytest.mark.parametrize("form", [".jsonl", ".json", ".csv", ".parquet"])
def test_every_form_is_read_back_as_it_was(form: str, tmp_path: Path) -> None:
    file, output = questions(tmp_path), tmp_path / f"a{form}"
    assert answer(file, "--system", spec(script(tmp_path, SIMPLE)), "-o", output, "-o", tmp_path / "same.jsonl", "-q") == 0
    found = []
    for path in (output, tmp_path / "same.jsonl"):
        with open_rows(RowSelection((path,), questions=file)) as rows:
            found.append([row.answer for row in rows])
    assert found[0] == found[1] and [len(one.contexts or ()) for one in found[0]] == [2] * 4
    assert answer(file, "--system", spec(script(tmp_path, "sys.exit('never asked')")), "-o", output, "--resume", "-q") == 0


@pytest.mark.long
def test_several_systems_share_a_file_or_get_one_each(tmp_path: Path) -> None:
    file, one = questions(tmp_path, 2), spec(script(tmp_path, SIMPLE))
    both = ("--system", f"a={one}", "--system", f"b-c={one}")
    assert answer(file, *both, "-o", tmp_path / "all.csv", "-o", tmp_path / "all.jsonl", "-q") == 0
    assert [(row["system"], row["question_id"]) for row in lines(tmp_path / "all.jsonl")] == [
        ("a", "q0"), ("a", "q1"), ("b-c", "q0"), ("b-c", "q1"),
    ]
    assert answer(file, *both, "-o", tmp_path / "run", "-q") == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"a.jsonl", "a.run.json", "b-c.jsonl", "b-c.run.json"}
    assert answer(file, *both, "-o", tmp_path / "x-{system}.json", "-q") == 0
    assert len(json.loads((tmp_path / "x-a.json").read_text())) == 2 and (tmp_path / "x-b-c.json").exists()


def test_trials_are_rows_of_their_own(tmp_path: Path) -> None:
    assert answer(questions(tmp_path, 2), "--system", counting(tmp_path), "--trials", 2, "-o", tmp_path / "a.jsonl") == 0
    assert [(row["question_id"], row["trial"]) for row in lines(tmp_path / "a.jsonl")] == [("q0", 1), ("q0", 2), ("q1", 1), ("q1", 2)]
    assert len(set(asked(tmp_path))) == 4


def test_a_failed_answer_is_a_record_and_is_asked_again_by_retry_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = questions(tmp_path, 4), tmp_path / "a.jsonl"
    busy = "if r['id'] == 'q2' and not os.path.exists(mark + '2'):\n        say(id=r['id'], error='busy')\n        continue"
    system = counting(tmp_path, busy)
    assert answer(file, "--system", system, "-o", output) == 3
    told = capsys.readouterr()
    assert "incomplete: 1 of 4 answers failed; the same command goes on with --retry-errors" in told.err
    assert "mine: failed: system_error 1" in told.out
    assert [row.get("error") for row in lines(output)] == [None, None, "system_error: busy", None]
    assert answer(file, "--system", system, "-o", output, "--resume") == 3, "an error is a finished answer"
    assert len(asked(tmp_path)) == 4
    (tmp_path / "mine.mark2").touch()
    assert answer(file, "--system", system, "-o", output, "--retry-errors") == 0
    assert asked(tmp_path)[4:] == ["q2"] and [row["question_id"] for row in lines(output)] == ["q0", "q1", "q2", "q3"]
    assert answer(file, "--system", system, "-o", output, "--max-error-rate", 1) == 0
    assert len(asked(tmp_path)) == 9, "without --resume a run starts anew"


def test_too_many_failures_stop_the_run_and_the_rest_is_asked_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = questions(tmp_path, 60), tmp_path / "a.jsonl"
    broken = counting(tmp_path, "if not os.path.exists(mark + '2'):\n        say(id=r['id'], error='down')\n        continue")
    assert answer(file, "--system", broken, "-o", output) == 3
    assert "of 20 answers failed, a share of 0.1 is allowed" in capsys.readouterr().err
    rows = lines(output)
    assert len(rows) == 60 and len(asked(tmp_path)) < 60
    assert rows[-1]["error"] == "error_rate: the run was stopped before this question"
    assert not AnswerReport.model_validate_json((tmp_path / "a.run.json").read_text()).complete
    (tmp_path / "mine.mark2").touch()
    before = len(asked(tmp_path))
    assert answer(file, "--system", broken, "-o", output, "--resume", "--max-error-rate", 1) == 0
    assert len(asked(tmp_path)) == 60 and before < 60, "what was not asked is not finished"
    assert [row["question_id"] for row in lines(output)] == [f"q{n}" for n in range(60)]


def started(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "kgeval", "answer", *arguments, "--no-progress"]
    return subprocess.Popen(command, cwd=folder, env=dict(os.environ), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


@pytest.mark.long
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_run_that_is_ended_loses_only_what_is_in_flight(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    file, system = questions(tmp_path, 60), counting(tmp_path, hold_after(15), parallel=1)
    arguments = (str(file), "--system", system, "--processes", "3", "-o", "a.jsonl")
    process = started(tmp_path, *arguments)
    wait_until(lambda: len(asked(tmp_path)) > 15)
    process.send_signal(sent)
    error = process.communicate(timeout=200)[1].decode()
    assert process.returncode == code, error
    if sent == signal.SIGINT:
        assert "answers that came are in the journal: the same command goes on" in error
    (tmp_path / "mine.mark.on").touch()
    assert answer(*arguments, "-q") == 0
    assert [row["question_id"] for row in lines(tmp_path / "a.jsonl")] == [f"q{n}" for n in range(60)]
    assert 60 <= len(asked(tmp_path)) <= 60 + 2 * 3, "at most those in flight are asked twice"


def test_answers_to_other_questions_or_of_other_settings_are_not_taken_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output, system = questions(tmp_path, 3), tmp_path / "a.jsonl", counting(tmp_path)
    assert answer(file, "--system", system, "-o", output, "-q") == 0
    before = output.read_bytes()
    for more in (("--limit", 2), ("--trials", 2), ("--target-words", 9), ("--setting", "k=3")):
        asked_before = len(asked(tmp_path))
        assert answer(file, "--system", system, "-o", output, "--resume", *more) == 0, more
        assert "no answers of a run with these questions, systems and settings: all are asked for" in capsys.readouterr().err
        assert len(asked(tmp_path)) - asked_before == len(lines(output))
    assert answer(file, "--system", system, "-o", output, "--resume", "-q") == 0 and output.read_bytes() == before


def test_a_length_is_asked_of_systems_that_take_one_and_refused_for_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = questions(tmp_path, 2), tmp_path / "a.jsonl"
    assert answer(file, "--system", counting(tmp_path), "--target-words", 40, "-o", output, "-q") == 0
    assert [row["answer"] for row in lines(output)] == ["about 40", "about 40"]
    assert lines(output)[0]["aligned_to"] == {"target_words": 40, "attempt": 1, "forced": False}
    (tmp_path / "words.csv").write_text("id,target_words\nq0,5\nq1,6\n")
    assert answer(file, "--system", counting(tmp_path), "--target-words", tmp_path / "words.csv", "-o", output, "-q") == 0
    assert [row["answer"] for row in lines(output)] == ["about 5", "about 6"]
    assert answer(file, "--system", spec(script(tmp_path, SIMPLE)), "--target-words", 40) == 2
    assert "mine cannot be asked for a length" in capsys.readouterr().err
    (tmp_path / "words.csv").write_text("id,target_words\nq0,5\nq1,many\n")
    assert answer(file, "--system", counting(tmp_path), "--target-words", tmp_path / "words.csv") == 2
    assert "words.csv:3" in capsys.readouterr().err


def test_ablations_are_variants_with_names_of_their_own(tmp_path: Path) -> None:
    body = """
k = 5
for r in requests():
    if "hello" in r:
        k = r["settings"].get("k", 5)
        say(hello={"name": "mine", "card": {"k": k}})
    else:
        say(id=r["id"], answer=str(k))
"""
    system = spec(script(tmp_path, body))
    assert answer(questions(tmp_path, 1), "--system", system, "--setting", "k=2", "--ablate", "k=1,2,3", "-o", tmp_path / "a.jsonl") == 0
    assert [(row["system"], row.get("variant"), row["answer"]) for row in lines(tmp_path / "a.jsonl")] == [
        ("mine", None, "2"), ("mine@k=1", "k=1", "1"), ("mine@k=3", "k=3", "3"),
    ]


def test_answers_made_elsewhere_are_looked_up_by_the_names_of_any_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, given = questions(tmp_path, 3), tmp_path / "lightrag.json"
    rows = [{"id": f"q{n}", "generated_answer": f"A{n}", "retrieved_contexts": ["c"], "latency_s": 2.5} for n in (2, 0, 1)]
    given.write_text(json.dumps(rows))
    assert answer(file, "--system", f"file:{given}", "-o", tmp_path / "a.jsonl", "-q") == 0
    found = lines(tmp_path / "a.jsonl")
    assert [(row["question_id"], row["answer"], row["system"], row["latency_s"]) for row in found] == [
        (f"q{n}", f"A{n}", "lightrag", 2.5) for n in range(3)
    ]
    assert answer(file, "--system", f"file:{given}", "--limit", 1, "-q") == 0, "answers to questions that were filtered out are no fault"
    given.write_text(json.dumps([*rows[:2], {"id": "q9", "generated_answer": "A"}]))
    assert answer(file, "--system", f"file:{given}") == 2
    assert "questions.jsonl has no question with 'q9'" in capsys.readouterr().err
    given.write_text(json.dumps(rows[:2]))
    assert answer(file, "--system", f"file:{given}") == 2
    told = capsys.readouterr().err
    assert "questions without an answer in it: 1\n  q1: no answer" in told and "--allow-missing" in told
    assert answer(file, "--system", f"mine=file:{given}", "--allow-missing", "--max-error-rate", 0.5, "-o", tmp_path / "b.jsonl", "-q") == 0
    assert [(row["system"], row.get("error")) for row in lines(tmp_path / "b.jsonl")] == [
        ("mine", None), ("mine", "no_answer: the file has none to this question"), ("mine", None),
    ]


def test_two_answers_to_one_question_are_refused_and_trials_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, given = questions(tmp_path, 1), tmp_path / "x.jsonl"
    given.write_text('{"question_id": "q0", "answer": "A"}\n{"question_id": "q0", "answer": "B"}\n')
    assert answer(file, "--system", f"file:{given}") == 2
    assert "x.jsonl:2: id: second answer of x to 'q0', the first is x.jsonl:1 (the answers differ)" in capsys.readouterr().err
    given.write_text('{"question_id": "q0", "answer": ["A", "B"]}\n')
    assert answer(file, "--system", f"file:{given}") == 2
    assert "ask for as many with --trials N" in capsys.readouterr().err
    assert answer(file, "--system", f"file:{given}", "--trials", 2) == 0
    assert [json.loads(line)["answer"] for line in capsys.readouterr().out.splitlines()] == ["A", "B"]
    given.write_text('{"question_id": "q0", "answer": "A", "ground_truth": "x", "context": ["?"], "system": "s"}\n')
    assert answer(file, "--system", f"file:{given}") == 2, "context may be gold or retrieved: asked, not guessed"
    assert "--map" in capsys.readouterr().err
    assert answer(file, "--system", f"file:{given}", "--setting", "map.contexts=context", "-q") == 0


def test_systems_of_the_configuration_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def serve(_: Any, body: Any) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, json.dumps({"out": {"text": f"{body['q']} {body['k']}"}}).encode()

    with endpoint(serve) as url:
        (tmp_path / "kgeval.toml").write_text(f"""
[[systems]]
name = "mine"
spec = "http:{url}/ask"
timeout = 30
[systems.settings.request]
q = "{{{{question}}}}"
k = 1
[systems.settings.response]
answer = "out.text"
""")
        assert answer(questions(tmp_path, 1), "--system", "mine", "--ablate", "request.k=1,2") == 0
        said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(row["system"], row["answer"]) for row in said] == [
            ("mine", "Who built mill 0? 1"), ("mine@request.k=2", "Who built mill 0? 2"),
        ]
        assert answer(questions(tmp_path, 1)) == 0, "without --system all of [[systems]] answer"


@pytest.mark.long
def test_the_dry_run_of_a_chat_counts_the_calls_that_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = questions(tmp_path, 5)
    with FakeServer([Rule(match="Who", reply="Ada.")]) as server:
        chat = ("--system", f"http:{server.base_url}", "--setting", "model=m")
        assert answer(file, *chat, "--trials", 2, "--dry-run") == 0
        total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
        assert server.stats().requests == 0
        assert answer(file, *chat, "--trials", 2, "-o", tmp_path / "a.jsonl", "-q") == 0
        assert total.split()[1] == str(server.stats().requests) == "10"
        assert answer(file, *chat, "--max-calls", 3, "-j", 1, "-o", tmp_path / "b.jsonl", "-q") == 3
        assert [row.get("error", "").partition(":")[0] for row in lines(tmp_path / "b.jsonl")] == ["", "", "", "budget", "budget"]
    assert answer(file, "--system", counting(tmp_path), "--dry-run") == 0
    assert "mine: 5 questions" in capsys.readouterr().out and asked(tmp_path) == []


def test_faulty_words_cost_nothing_and_say_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, mine = questions(tmp_path), counting(tmp_path)
    cases: list[tuple[tuple[object, ...], str]] = [
        ((), "no system is named"),
        (("--system", "vectr"), "did you mean vector?"),
        (("--system", "command:"), "something must follow the colon"),
        (("--system", "command:no-such-thing"), "cannot be started"),
        (("--system", "http:h"), "needs a model"),
        (("--system", "file:none.jsonl"), "none.jsonl"),
        (("--system", "closed-book"), "no model is named"),
        (("--system", mine, "--system", f"mine={mine}x"), "two systems are called mine"),
        (("--system", mine, "--setting", "k"), "write --setting NAME=VALUE"),
        (("--system", mine, "--setting", "other:k=1"), "no system is called other"),
        (("--system", mine, "-o", "a.txt"), "answers are not written as .txt"),
        (("--system", mine, "-o", "a.jsonl", "-o", "run"), "do not go together"),
        (("--system", mine, "-o", "-"), "leave -o out"),
        (("--system", mine, "-o", file), "would replace a file that is read"),
        (("--system", mine, "--resume"), "need -o"),
        (("--system", mine, "--target-words", "0"), "not between 1 and"),
        (("--system", mine, "--target-words", "none.csv"), "none.csv"),
        (("--system", mine, "--filter-level", "node"), "the filters leave no question"),
        (("--system", mine, "--sweep"), "is not built in"),
        (("--system", mine, "--index-record", "i.json"), "no system here builds an index"),
    ]
    for arguments, said in cases:
        assert answer(file, *arguments) == 2, arguments
        error = capsys.readouterr().err
        assert said in error and "Fix:" in error, (arguments, error)
    assert asked(tmp_path) == []


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    command = f"{sys.executable} -m kgeval answer {questions(tmp_path, 200)} --system '{counting(tmp_path)}' | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert "Traceback" not in done.stderr and json.loads(done.stdout)["question_id"] == "q0"


def test_answers_for_which_standard_output_has_no_room_are_all_kept(tmp_path: Path) -> None:
    file = questions(tmp_path, 3)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kgeval", "answer", str(file), "--system", counting(tmp_path)], stdout=full, stderr=subprocess.PIPE,
            text=True, check=False, env={**os.environ, "KGEVAL_CACHE_DIR": str(tmp_path / "cache")},
        )
    (kept,) = (tmp_path / "cache" / "unsaved").iterdir()
    assert done.returncode == 2
    assert f"standard output: cannot be written: No space left on device; it is kept whole in {kept}" in done.stderr
    assert [row["question_id"] for row in lines(kept)] == asked(tmp_path) and len(asked(tmp_path)) == 3


@pytest.mark.long
def test_two_runs_at_once_ask_each_question_once_between_them(tmp_path: Path) -> None:
    file, system = questions(tmp_path, 40), counting(tmp_path, "time.sleep(0.05)", parallel=1)
    both = [started(tmp_path, str(file), "--system", system, "-o", f"{name}.jsonl") for name in ("a", "b")]
    for process in both:
        assert process.wait(200) == 0, process.stderr.read().decode() if process.stderr else ""
    assert len(asked(tmp_path)) < 80, "one took answers of the other"
    assert sorted(set(asked(tmp_path))) == sorted(f"q{n}" for n in range(40))
    assert [row["answer"] for row in lines(tmp_path / "a.jsonl")] == [row["answer"] for row in lines(tmp_path / "b.jsonl")]


def test_two_runs_never_write_one_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, system = questions(tmp_path, 40), counting(tmp_path, hold_after(0))
    first = started(tmp_path, str(file), "--system", system, "-o", "a.jsonl")
    wait_until(lambda: asked(tmp_path))
    assert answer(file, "--system", system, "-o", tmp_path / "a.jsonl") == 2
    assert "a.jsonl: another run is writing it" in capsys.readouterr().err
    first.kill()
    first.communicate()
    (tmp_path / "mine.mark.on").touch()
    assert answer(file, "--system", system, "-o", tmp_path / "a.jsonl", "--limit", 1) == 0, "a killed run holds nothing"
    assert not list(tmp_path.glob(".*writing*"))


@pytest.mark.long
def test_systems_with_files_of_their_own_are_one_run_that_goes_on(tmp_path: Path) -> None:
    file, good = questions(tmp_path, 6), counting(tmp_path)
    down = "for r in requests():\n    say(id=r['id'], **({'answer': 'A'} if os.path.exists(mark) else {'error': 'down'}))"
    both = ("--system", f"good={good}", "--system", f"bad={spec(script(tmp_path, down, 'bad'))}", "-o", tmp_path / "out", "-q")
    assert answer(file, *both) == 3 and len(asked(tmp_path)) == 6
    (tmp_path / "bad.mark").touch()
    assert answer(file, *both) == 3 and answer(file, *both, "--retry-errors") == 0
    assert len(asked(tmp_path)) == 6, "failures of one system do not have the others asked again"
    assert answer(file, *both) == 0 and len(asked(tmp_path)) == 12, "a run that came to its end is asked anew"


def test_outputs_with_long_names_that_begin_alike_are_different_files(tmp_path: Path) -> None:
    stem = "answers_of_graphrag_and_lightrag_on_multihop_rag_with_gpt_"
    outputs = [part for end in ("1.jsonl", "2.jsonl", "1.csv") for part in ("-o", tmp_path / f"{stem}{end}")]
    assert answer(questions(tmp_path, 2), "--system", spec(script(tmp_path, SIMPLE)), *outputs, "-q") == 0
