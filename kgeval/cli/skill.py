"""`kgeval skill`: a short guide for coding agents, put together from the documentation."""

from __future__ import annotations

from pathlib import Path

import click

from kgeval.errors import UsageError

GUIDE = Path(__file__).with_name("skill.md")


@click.command()
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write it there; - is stdout. No file is replaced.")
def skill(output: Path | None) -> None:
    """Print a short guide to kgeval for coding agents: Markdown with a head of name and description.

    It says when to use which command, how to read results honestly, what the exit codes mean and what to leave alone.

    Exit codes: 0 done, 2 the file is there already or cannot be written.
    """
    text = GUIDE.read_text(encoding="utf-8")
    if output is None or str(output) == "-":
        click.echo(text, nl=False)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{output} is there already", fix="name another file, or remove it") from None
    except OSError as wrong:
        raise UsageError(f"{output} cannot be written: {wrong.strerror}", fix="name another file") from wrong
    click.echo(f"wrote {output}")
