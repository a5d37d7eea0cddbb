"""`kgeval answer`: has a system under test answer the questions of a file."""

from __future__ import annotations

import click


@click.command()
def answer() -> None:
    """Have systems answer questions: closed book, vector, graph, or your own."""
