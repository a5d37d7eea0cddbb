"""`kgeval questions`: the group of commands that sample, make, check and describe questions."""

from __future__ import annotations

import click

from kgeval.cli.questions_check import check
from kgeval.cli.questions_classify import classify
from kgeval.cli.questions_confirm import confirm
from kgeval.cli.questions_coverage import coverage
from kgeval.cli.questions_generate import generate
from kgeval.cli.questions_kinds import kinds
from kgeval.cli.questions_sample import sample
from kgeval.cli.questions_stats import stats


@click.group()
def questions() -> None:
    """Questions grounded in a graph and its texts: make them, check them, say what a set covers."""


questions.add_command(check)
questions.add_command(classify)
questions.add_command(confirm)
questions.add_command(coverage)
questions.add_command(generate)
questions.add_command(kinds)
questions.add_command(sample)
questions.add_command(stats)
