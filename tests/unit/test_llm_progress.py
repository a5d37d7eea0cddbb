"""The progress line: what it says on a terminal, and that it is not there on a pipe."""

from __future__ import annotations

import pytest

from kgeval.llm.progress import Progress


def test_a_pipe_sees_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        line = progress.start("judge m", 10)
        progress.advance(line, state="0.1 USD")
        progress.end(line)
    assert line is None
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_done_total_rate_cost_and_failures(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    with Progress(shown=True) as progress:
        line = progress.start("judge m[red]", 10)
        for _ in range(3):
            progress.advance(line, state="0.1000 USD, 2 failed")
        assert progress._bar is not None
        progress._bar.refresh()
        progress.end(line)
    out, seen = capsys.readouterr()
    assert out == ""
    for part in ("judge m[red]", "3/10", "/s, 0.1000 USD, 2 failed", "left"):
        assert part in seen


def test_an_interrupted_command_leaves_no_display_behind() -> None:
    progress = Progress(shown=True)
    with pytest.raises(KeyboardInterrupt), progress:
        progress.start("judge m", None)
        raise KeyboardInterrupt
    assert progress._bar is None
