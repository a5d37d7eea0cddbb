"""`kgeval agree`: the group of commands around people's labels of answers."""

from __future__ import annotations

import click

from kgeval.cli.agree_measure import matrix, measure
from kgeval.cli.agree_read import read
from kgeval.cli.agree_sheet import sheet


@click.group()
def agree() -> None:
    """People as judges of answers: blind sheets out, labels back in, how far people, metrics and judges agree."""


agree.add_command(sheet)
agree.add_command(read)
agree.add_command(measure)
agree.add_command(matrix)
