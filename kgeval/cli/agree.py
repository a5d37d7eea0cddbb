"""`kgeval annotate`: the group of commands around people's labels of answers."""

from __future__ import annotations

import click

from kgeval.cli.agree_measure import measure
from kgeval.cli.agree_read import read
from kgeval.cli.agree_sheet import sheet


@click.group()
def annotate() -> None:
    """People as judges of answers: blind sheets out, labels back in, how far people, metrics and judges agree."""


annotate.add_command(sheet)
annotate.add_command(read)
annotate.add_command(measure)
