"""Plants the defects of defects.toml, each in a copy of the project of its own, and says whether the tests catch it.

    python tests/defects/plant.py --list             what is planted where
    python tests/defects/plant.py lost-scope ...     these only
    python tests/defects/plant.py all                each of them, by the test files that it names
    python tests/defects/plant.py all --whole        each of them, by the whole of `make test` (ten minutes a defect)

Run it with the interpreter of the project's environment. Exit code: 0 all are caught; 1 one is not; 2 nothing was planted; 3 one could
not be tried, because its text is gone or its tests fail without it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("defects.toml")
NOT_COPIED = (".git", ".venv*", "out", "*.egg-info", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
GONE = 4  # pytest's exit code where a test that was named is not there: then its file is run
CAUGHT, MISSED, UNTRIED = "caught", "NOT caught", "not tried"


@dataclass(frozen=True)
class Defect:
    """One mistake. `suffers`: what a user would suffer; `old`, `new`: texts of `file`; `tests`: files, or single tests of them
    where a file takes long, that catch it today."""

    id: str
    suffers: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def planted(self, text: str) -> str | None:
        """The file's text with the defect; None where its place is not there exactly once."""
        return text.replace(self.old, self.new) if text.count(self.old) == 1 else None


@dataclass(frozen=True)
class Verdict:
    """How a defect fared. `by`: the first test that failed, or why it was not tried."""

    defect: Defect
    state: str
    by: str
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.defect.id:32} {self.state:10} {self.seconds:6.0f} s  {self.by}"


def read() -> list[Defect]:
    """The list."""
    rows = tomllib.loads(LIST.read_text(encoding="utf-8"))["defect"]
    return [Defect(**{**row, "tests": tuple(row["tests"])}) for row in rows]


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the project as it stands, removed in the end. Times are kept, so that compiled modules are used again."""
    with tempfile.TemporaryDirectory(prefix="kgeval-defect-") as folder:
        yield Path(shutil.copytree(ROOT, Path(folder) / "project", ignore=shutil.ignore_patterns(*NOT_COPIED)))


def made_by_make(place: Path, environment: dict[str, str]) -> list[str]:
    """The command of `make test`, without dealing its tests out to workers."""
    command = ["make", "--no-print-directory", "-n", *_without_install(), "test"]
    told = subprocess.run(command, cwd=place, env={**environment, "KGEVAL_TEST_URI": "-"}, capture_output=True, text=True, check=True)
    return shlex.split(next(line for line in told.stdout.splitlines() if "pytest" in line))


def _without_install() -> list[str]:
    """make's words for the environment of this interpreter, taken as it is."""
    return [f"VENV={sys.prefix}", "-o", f"{sys.prefix}/.ready"]


def ran(place: Path, tests: Sequence[str], *, whole: bool) -> tuple[str, str]:
    """What the tests say in a copy of the project: caught with the first failed test, NOT caught, or not tried with the reason."""
    environment = {**os.environ, "PYTHONPATH": str(place)}
    if whole:
        command = ["make", "--no-print-directory", *_without_install(), "test"]
    else:
        command = [*made_by_make(place, environment), "-x", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == GONE and any("::" in test for test in tests):
        return ran(place, sorted({test.partition("::")[0] for test in tests}), whole=whole)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::\S+)", done.stdout, re.MULTILINE)  # ERROR: what a test is given could not be made
    if failed:
        return CAUGHT, failed[0]
    if done.returncode == 0:
        return MISSED, " ".join(tests)
    last = [line for line in done.stdout.splitlines() if line.strip()][-3:]
    return UNTRIED, f"exit code {done.returncode}: {' / '.join(last)}"


@cache
def sound(tests: tuple[str, ...], whole: bool) -> str:
    """Why the tests prove nothing: they fail, or none runs, in a copy without a defect; "" where they pass."""
    with copied() as place:
        state, by = ran(place, tests, whole=whole)
    return "" if state == MISSED else f"without the defect: {by}"


def tried(defect: Defect, *, whole: bool = False, trust: bool = False) -> Verdict:
    """Plants one defect in a copy and runs the tests there. `trust`: the tests are taken to pass without it."""
    if defect.planted((ROOT / defect.file).read_text(encoding="utf-8")) is None:
        return Verdict(defect, UNTRIED, f"{defect.file} does not hold its text exactly once any more")
    why = "" if trust else sound(() if whole else defect.tests, whole)
    if why:
        return Verdict(defect, UNTRIED, why)
    started = time.monotonic()
    with copied() as place:
        file = place / defect.file
        file.write_text(defect.planted(file.read_text(encoding="utf-8")) or "", encoding="utf-8")
        state, by = ran(place, defect.tests, whole=whole)
    return Verdict(defect, state, by, time.monotonic() - started)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", help="ids of defects, or all")
    parser.add_argument("--list", action="store_true", help="print the list, plant nothing")
    parser.add_argument("--whole", action="store_true", help="run the whole of make test, not only the files that a defect names")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without the defect first")
    given = parser.parse_args(arguments)
    defects = read()
    unknown = set(given.ids) - {one.id for one in defects} - {"all"}
    if given.list or unknown or not given.ids:
        for one in defects:
            print(f"{one.id:32} {one.file}\n    {one.suffers}")
        if unknown:
            print(f"no such defect: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2 if unknown or not given.list else 0
    states = []
    for one in defects:
        if one.id in given.ids or "all" in given.ids:
            verdict = tried(one, whole=given.whole, trust=given.trust)
            states.append(verdict.state)
            print(verdict, flush=True)
    print(f"{states.count(CAUGHT)} of {len(states)} caught")
    return 1 if MISSED in states else 3 if UNTRIED in states else 0


if __name__ == "__main__":
    sys.exit(main())
