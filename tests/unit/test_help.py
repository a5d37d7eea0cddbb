"""`kgeval --help` answers fast: nothing heavy is loaded for it."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

import pytest

from kgeval.cli.main import code_of

HELLO = """
import click
@click.group()
def cli(): pass
@cli.command()
def hello(): click.echo("hello")
cli(["--help"])
"""
KGEVAL = 'from kgeval.cli.main import main; main(["--help"])'
FACTOR = 2.0
RUNS = 7


@pytest.mark.slow
def test_help_takes_at_most_twice_the_time_of_a_click_hello_world() -> None:
    ratios = []
    for _ in range(RUNS):
        theirs = seconds(HELLO)
        ratios.append(seconds(KGEVAL) / theirs)
    assert statistics.median(ratios) <= FACTOR, ratios


def test_help_loads_nothing_beyond_click_and_the_command_list() -> None:
    code = (
        "import sys\nfrom kgeval.cli.main import run\nrun(['--help'])\n"
        "print([m for m in ('pydantic', 'numpy', 'neo4j', 'rich', 'requests', 'kgeval.records') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def seconds(code: str) -> float:
    """Of processor time: what else the machine does says nothing here."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_what_ends_the_program_from_inside_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(lambda: sys.exit(0)) == 2 and "SystemExit(0)" in capsys.readouterr().err
