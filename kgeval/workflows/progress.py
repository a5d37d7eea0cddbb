"""The steps of a task as a bar: in a notebook, or on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def steps_bar(steps: int, *, show: bool | None) -> Iterator[Callable[[str, str], None]]:
    """What is called at each step with its kind and name. `show`: None: only in a notebook; True: where a bar can be shown at all."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console() if show is False else Console(stderr=True)
    if show is False or not (console.is_jupyter or (show and console.is_terminal)):
        yield lambda kind, name: None
        return
    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("connecting", total=steps)
        yield lambda kind, name: bar.update(task, description=name if kind == "check" else f"structure: {name}", advance=1)
