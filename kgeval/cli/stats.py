"""`kgeval stats`: statistics for people who have their own judge: plain files of scores and verdicts, no model is asked."""

from __future__ import annotations

import click

from kgeval.cli.stats_people import correct, drift
from kgeval.cli.stats_scores import aa, paired, power
from kgeval.cli.stats_verdicts import judge, rank, sequential


@click.group()
def stats() -> None:
    """Statistics on your own scores and verdicts: pairs, order, the judge's biases, power, corrections by people. No model is asked."""


for _command in (paired, rank, judge, power, correct, aa, sequential, drift):
    stats.add_command(_command)
