"""Ctrl-C, SIGTERM and SIGHUP end a command, wherever its main thread is: in a wait, in what swallows the interruption, at its end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from waiting import LONGEST

from kgeval import ending
from kgeval.cli import interrupts
from kgeval.cli.main import COMMANDS, run

# a command `it` that does what a test is about; it sleeps far longer than it is waited for
SCRIPT = """
import atexit, sys, threading, time, types
import click
from kgeval import ending
from kgeval.cli import interrupts, main
interrupts.SECONDS = float(sys.argv[2])

def ready():
    print("ready", flush=True)

def wait():
    ready()
    time.sleep(600)

def swallow():
    while True:
        try:
            wait()
        except BaseException:
            pass

def answer():
    ready()
    for _ in sys.stdin:
        ready()

class Finalized:
    def __del__(self):
        wait()

def finalizer():
    Finalized()
    time.sleep(600)

def clean_up():
    try:
        wait()
    finally:
        time.sleep(600)

def stumble():
    try:
        wait()
    finally:
        raise BufferError("Existing exports of data: object cannot be re-sized")

def both():
    atexit.register(time.sleep, 600)
    wait()

def thread():
    def stay():
        while threading.main_thread().is_alive():  # until the command is through
            time.sleep(0.01)
        wait()
    threading.Thread(target=stay).start()

def at_exit():
    atexit.register(wait)

@click.command()
@click.argument("what")
def it(what):
    ending.register(lambda: open("undone", "w").close())
    globals()[what]()

module = types.ModuleType("commands_of_tests")
module.it = it
sys.modules["commands_of_tests"] = module
main.COMMANDS["it"] = ("commands_of_tests:it", "")
main.main(["it", sys.argv[1]])
"""


@dataclass
class Ended:
    code: int
    said: str


def signalled(folder: Path, what: str, *numbers: signal.Signals, watched: float = 0.8, ignoring: signal.Signals | None = None,
              script: str = SCRIPT) -> Ended:
    """Runs the command, sends it a signal each time that it is ready, and waits for its end. `watched`: seconds after which an interrupted
    command that goes on is ended; three for users."""

    def before() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # it may be ignored where the tests run in the background
        if ignoring is not None:
            signal.signal(ignoring, signal.SIG_IGN)

    process = subprocess.Popen(
        [sys.executable, "-c", script, what, str(watched)], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, preexec_fn=before,
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        for at, number in enumerate(numbers):
            if at:
                print(file=process.stdin, flush=True)
                time.sleep(5 * interrupts.TOGETHER)  # signals that come together are one
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
        _, said = process.communicate(timeout=LONGEST)
    finally:
        process.kill()
        process.wait()
    return Ended(process.returncode, said.strip())


@pytest.mark.long
@pytest.mark.parametrize("what", ["wait", "swallow", "finalizer", "clean_up", "stumble"])
def test_the_first_ends_a_command_whatever_it_does(what: str, tmp_path: Path) -> None:
    ended = signalled(tmp_path, what, signal.SIGINT)
    assert (ended.code, ended.said) == (130, "interrupted")
    assert (tmp_path / "undone").exists(), "what is still registered is undone"


@pytest.mark.slow
@pytest.mark.parametrize("what", ["thread", "at_exit"])
def test_it_ends_a_command_that_is_through_but_does_not_go(what: str, tmp_path: Path) -> None:
    ended = signalled(tmp_path, what, signal.SIGINT)
    assert (ended.code, ended.said) == (-signal.SIGINT, "")  # shells call that 130


def test_what_libraries_do_at_exit_is_not_waited_for(tmp_path: Path) -> None:
    ended = signalled(tmp_path, "both", signal.SIGINT, watched=600)  # no thread watches while Python ends itself
    assert (ended.code, ended.said) == (130, "interrupted")
    assert (tmp_path / "undone").exists()


@pytest.mark.slow
def test_the_second_ends_it_at_once(tmp_path: Path) -> None:
    ended = signalled(tmp_path, "swallow", signal.SIGINT, signal.SIGINT, watched=600)
    assert ended.code == 130 and (tmp_path / "undone").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_job_that_is_stopped_and_a_terminal_that_is_closed_are_ctrl_c(number: signal.Signals, tmp_path: Path) -> None:
    ended = signalled(tmp_path, "wait", number)
    assert (ended.code, ended.said) == (130, "interrupted")


@pytest.mark.slow
def test_what_was_ignored_from_the_start_stays_ignored(tmp_path: Path) -> None:
    """`nohup kgeval ...` goes on when the terminal is closed: it still answers after that."""
    ended = signalled(tmp_path, "answer", signal.SIGHUP, signal.SIGINT, ignoring=signal.SIGHUP)
    assert (ended.code, ended.said) == (130, "interrupted")


def test_the_library_listens_to_no_signal_and_what_is_raised_after_an_interruption_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    before = [signal.getsignal(number) for number in interrupts.SIGNALS]

    def stumble(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise BufferError("of a library that was interrupted")

    monkeypatch.setattr("kgeval.config.read", stumble)
    assert "run" in COMMANDS and run(["run", "--list"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"
    assert [signal.getsignal(number) for number in interrupts.SIGNALS] == before and not interrupts.received()


def test_the_newest_is_undone_first_and_what_fails_holds_up_nothing() -> None:
    done: list[str] = []

    def fail() -> None:
        raise FileNotFoundError

    forget = ending.register(lambda: done.append("old"))
    others = [ending.register(fail), ending.register(lambda: done.append("new"))]
    with ending.undone(lambda: done.append("over")):
        pass
    ending.undo_all()
    assert done == ["new", "old"]
    for one in (forget, *others):
        one()
    ending.undo_all()
    assert done == ["new", "old"]


IMPORTING = """
import sys, time
from kgeval.__main__ import main

class Slow:
    def find_spec(self, name, *_):
        if name == "kgeval.cli.main":
            print("ready", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Slow())
main()
"""


def test_the_first_moments_are_covered_too(tmp_path: Path) -> None:
    ended = signalled(tmp_path, "", signal.SIGINT, script=IMPORTING)
    assert (ended.code, ended.said) == (130, "")
