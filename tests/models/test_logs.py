"""`kgeval -v`, `-vv`, `--log-file`: what they tell of a run with faults, where it goes, and what never stands in it."""

from __future__ import annotations

import logging
from pathlib import Path

import click
import pytest
from room import session, telling

from kgeval.cli.logs import start_logging
from kgeval.cli.main import cli, run
from kgeval.llm.fake import FakeServer, Rule

SAID = "passage 0001 is odd \x1b[2J sk-the-secret-0123456789"


@pytest.fixture
def a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a command that asks three things: one answered with 500 first, one refused in words, one in prose first."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-secret-0123456789")
    monkeypatch.setattr("kgeval.llm.rates.FIRST_WAIT", 0.01)
    rules = [
        Rule(match="passage 0000", status=500, message="broken", times=1), Rule(match="passage 0001", status=400, message=SAID),
        Rule(match="passage 0002", fault="prose", times=1),
    ]

    @click.command()
    def ask() -> None:
        with FakeServer(rules) as server, session(server.base_url, tmp_path / "j.sqlite", concurrency=1) as models:
            list(models.ask_all(telling(3)))

    monkeypatch.setattr(cli, "get_command", lambda context, name: ask)
    return "ask"


def test_without_v_nothing_is_said(a_run: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([a_run]) == 0
    assert tuple(capfd.readouterr()) == ("", "")


def test_v_tells_of_retries_and_unusable_replies_but_repeats_no_word_of_texts_or_servers(
    a_run: str, capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(["-v", a_run]) == 0
    out, lines = capfd.readouterr()
    assert out == ""
    for words in ("failed: HTTP 500", "asking again in", "failed: HTTP 400", "cannot be used", "kgeval cache show "):
        assert words in lines
    assert "passage" not in lines and "odd" not in lines


def test_vv_repeats_the_server_s_words_on_one_line_without_the_key(a_run: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["-vv", a_run]) == 0
    lines = capfd.readouterr().err
    assert "passage 0001 is odd" in lines
    assert "\x1b" not in lines and "the-secret" not in lines


def test_a_log_file_is_its_owner_s_takes_the_lines_and_goes_on_where_it_ended(
    a_run: str, tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "run.log"
    assert run(["--log-file", str(path), a_run]) == 0
    first = path.read_text()
    assert "INFO" in first and "HTTP 500" in first and "passage" not in first
    assert path.stat().st_mode & 0o777 == 0o600
    assert run(["-vv", "--log-file", str(path), a_run]) == 0
    assert path.read_text().startswith(first) and "passage 0001 is odd" in path.read_text()
    assert tuple(capfd.readouterr()) == ("", "")


def test_a_log_file_that_cannot_be_written_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(["--log-file", str(tmp_path / "file" / "x.log"), "layout", "list"]) == 2
    assert "x.log: cannot be written: " in capfd.readouterr().err


def test_warnings_reach_the_user_even_where_a_file_takes_the_rest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    end = start_logging(0, tmp_path / "x.log")
    logging.getLogger("kgeval.llm").warning("look here")
    end()
    assert capfd.readouterr().err == "kgeval: look here\n"
    assert "look here" in (tmp_path / "x.log").read_text()
    assert logging.getLogger("kgeval").handlers == []
