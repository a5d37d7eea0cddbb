"""Whose something on a server is: what a living process may have made is never taken for a leftover."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
import pytest

from kgeval.graph import processes
from kgeval.graph.processes import abandoned, mark


@pytest.fixture(autouse=True)
def fresh() -> None:
    processes._host.cache_clear()


def test_what_a_process_marks_is_its_own_until_it_is_gone() -> None:
    code = "from kgeval.graph.processes import mark\nprint(mark(), flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        its = other.stdout.readline().strip()
        assert not abandoned(its) and not abandoned(f"{its}_3_1") and not abandoned(mark())
        other.communicate("\n")
    assert abandoned(its) and abandoned(f"{its}_3_1")


def test_a_number_that_another_process_has_now_belongs_to_nobody_living() -> None:
    host, pid, start = mark().removeprefix("kgeval_").rsplit("_", 2)
    assert abandoned(f"kgeval_{host}_{pid}_{int(start) - 1}")


def test_a_clock_that_is_set_makes_no_living_process_look_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    its = mark()
    if sys.platform == "linux":
        monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 1.0)
    assert mark() == its and not abandoned(its)


def test_a_process_of_another_user_of_which_nothing_may_be_seen_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    its = mark()

    def refused(*_: object, **__: object) -> str:
        raise PermissionError

    def hidden(*_: object, **__: object) -> str:
        raise psutil.NoSuchProcess(os.getpid())

    monkeypatch.setattr(os, "kill", refused)
    monkeypatch.setattr(processes.Path, "read_text", refused)
    monkeypatch.setattr(psutil, "Process", hidden)
    assert not abandoned(its)


@pytest.mark.parametrize("other", ["machine-a pid:[4026532001]", "machine-b pid:[4026531836]"], ids=["container", "machine"])
def test_a_container_or_machine_of_the_same_name_is_another_one(monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    monkeypatch.setattr(processes, "_place", lambda: other)
    theirs = f"kgeval_{processes._host()}_999999_1"
    assert abandoned(theirs)
    monkeypatch.setattr(processes, "_place", lambda: "machine-a pid:[4026531836]")
    processes._host.cache_clear()
    assert not abandoned(theirs)
