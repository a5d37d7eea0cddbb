"""Result files of runs that were stopped: which rows are kept, and which are done again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_score_files import FORMS, report, row, run, scores, verdicts

from kgeval.tables.score_forms import read_scores, read_verdicts
from kgeval.tables.scores import ScoreFile, partial_of


def test_a_run_that_is_stopped_leaves_its_rows_and_resuming_asks_only_for_the_others(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with run(output, ["1", "2"]):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["s.jsonl.partial"]
    with ScoreFile([output], fingerprint="f", taking="finished") as file:
        taken = [file.taken(row(name), None) for name in ("1", "2", "3")]
        assert taken == [tuple(scores("1", 0.5, 1.0)), tuple(scores("2", 0.5, 1.0)), None]
        file.add(scores("3", 0.25), verdicts("3"))
        assert list(file.verdicts()) == [*verdicts("1"), *verdicts("2"), *verdicts("3")]
        file.finish(report())
    assert [score.question_id for score in read_scores(output)] == ["1", "1", "2", "2", "3"]
    assert list(read_verdicts(output)) == [*verdicts("1"), *verdicts("2"), *verdicts("3")]
    assert not partial_of(output).exists()


def test_without_resume_a_run_starts_anew(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with run(output, ["1"]):
        pass
    with run(output, ["2"], taking="nothing") as file:
        file.finish(report())
    assert {score.question_id for score in read_scores(output)} == {"2"}


@pytest.mark.parametrize("cut", [1, 7, 150])
def test_a_last_line_that_was_cut_is_dropped_and_its_row_done_again(cut: int, tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with run(output, ["1", "2"]):
        pass
    data = partial_of(output).read_bytes()
    partial_of(output).write_bytes(data[:-cut])
    with ScoreFile([output], fingerprint="f", taking="finished") as file:
        assert [file.taken(row(name), None) is None for name in ("1", "2")] == [False, True]
        file.add(scores("2", 0.5, 1.0), verdicts("2"))
        file.finish(report())
    assert list(read_scores(output)) == [*scores("1", 0.5, 1.0), *scores("2", 0.5, 1.0)]


def test_a_partial_file_whose_header_was_cut_is_started_anew(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    partial_of(output).write_text('{"kgeval_par')
    with run(output, ["1"], taking="finished") as file:
        file.finish(report())
    assert list(read_scores(output)) == scores("1", 0.5, 1.0)


@pytest.mark.slow
def test_killed_outright_every_row_that_was_added_is_kept(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    code = (
        "import os, signal, sys\nsys.path.insert(0, sys.argv[2])\nfrom test_score_files import *\n"
        "file = run(Path(sys.argv[1]), ['1', '2', '3'])\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(output), str(Path(__file__).parent)], check=False)
    assert done.returncode == -signal.SIGKILL
    with ScoreFile([output], fingerprint="f", taking="finished") as file:
        assert [file.taken(row(name), None) is not None for name in ("1", "2", "3", "4")] == [True, True, True, False]


@pytest.mark.parametrize("form", FORMS)
def test_retrying_takes_all_but_the_rows_with_an_unscored_score_and_keeps_the_order(form: str, tmp_path: Path) -> None:
    output = tmp_path / form
    with ScoreFile([output], fingerprint="f", taking="nothing") as file:
        for name, second in (("1", 1.0), ("2", None), ("3", 1.0)):
            file.add(scores(name, 0.5, second), verdicts(name))
        file.finish(report())
    with ScoreFile([output], fingerprint="f", taking="scored") as file:
        assert [file.taken(row(name), None) is None for name in ("1", "2", "3")] == [False, True, False]
        file.add(scores("2", 0.5, 0.75), verdicts("2"))
        assert [score.question_id for score in file.scores()] == ["1", "1", "2", "2", "3", "3"]
        file.finish(report())
    assert [score.value for score in read_scores(output)] == [0.5, 1.0, 0.5, 0.75, 0.5, 1.0]
    assert list(read_verdicts(output)) == [*verdicts("1"), *verdicts("2"), *verdicts("3")]


def test_a_retry_that_is_stopped_can_be_resumed(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with ScoreFile([output], fingerprint="f", taking="nothing") as file:
        for name in ("1", "2", "3"):
            file.add(scores(name, None if name != "2" else 0.5), verdicts(name))
        file.finish(report())
    with ScoreFile([output], fingerprint="f", taking="scored") as file:
        assert [file.taken(row(name), None) is None for name in ("1", "2", "3")] == [True, False, True]
        file.add(scores("1", 0.1), verdicts("1"))
    with ScoreFile([output], fingerprint="f", taking="scored") as file:
        assert [file.taken(row(name), None) is None for name in ("1", "2", "3")] == [False, False, True]
        file.add(scores("3", 0.3), [])
        file.finish(report())
    assert [score.value for score in read_scores(output)] == [0.1, 0.5, 0.3]
    assert list(read_verdicts(output)) == [*verdicts("1"), *verdicts("2")]


def test_an_incomplete_run_writes_what_it_has_and_stays_resumable(tmp_path: Path) -> None:
    output = tmp_path / "run"
    with run(output, ["1"]) as file:
        file.finish(report(complete=False))
    assert partial_of(output).exists()
    assert len(list(read_scores(output))) == 2
    partial_of(output).unlink()  # the result alone is enough
    with run(output, ["1", "2"], taking="finished") as file:
        file.finish(report())
    assert [score.question_id for score in read_scores(output)] == ["1", "1", "2", "2"]
    assert not partial_of(output).exists()


def test_rows_of_an_earlier_run_that_this_one_does_not_ask_for_are_not_written(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with run(output, ["1", "2", "3"]):
        pass
    with run(output, ["3", "1"], taking="finished") as file:
        file.finish(report())
    assert [score.question_id for score in read_scores(output)] == ["3", "3", "1", "1"]
