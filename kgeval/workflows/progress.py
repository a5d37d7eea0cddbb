"""The steps of a task as a bar: in a notebook, or on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


def shows_progress(show: bool | None) -> bool:
    """Whether there is a place for a bar. `show`: True: on a terminal or in a notebook; None: only in a notebook; False: nowhere."""
    if show is False:
        return False
    from rich.console import Console

    console = Console(stderr=True)
    return console.is_jupyter or bool(show and console.is_terminal)


@contextmanager
def steps_bar(steps: int, *, show: bool | None) -> Iterator[Callable[[str, str], None]]:
    """What is called at each step with its kind and name. `show`: as shows_progress."""
    if not shows_progress(show):
        yield lambda kind, name: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    from kgeval.llm.bars import bars

    columns = (TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with bars(*columns, transient=True) as bar:
        task = bar.add_task("connecting", total=steps)
        yield lambda kind, name: bar.update(task, description=name if kind == "check" else f"structure: {name}", advance=1)


@contextmanager
def stage_bars(*, show: bool | None) -> Iterator[Callable[[str, int, int | None], None]]:
    """What is called with a stage, how much of it is done, and how much there is: a bar a stage. `show`: as shows_progress."""
    if not shows_progress(show):
        yield lambda stage, done, total: None
        return
    from rich.progress import TaskID

    from kgeval.llm.bars import bars

    with bars() as bar:
        tasks: dict[str, TaskID] = {}

        def hear(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done)

        yield hear
