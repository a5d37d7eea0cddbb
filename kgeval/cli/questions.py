"""`kgeval questions`: the group of commands that sample, make, check and describe questions."""

from __future__ import annotations

import click


@click.group()
def questions() -> None:
    """Questions grounded in a graph and its texts: make them, check them, say what a set covers."""
