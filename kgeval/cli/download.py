"""The progress bar of the one-time download of the embedded server's jars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def download_bar() -> Iterator[Callable[[int, int], None]]:
    """A function that takes bytes done and in all, and draws them on stderr; nothing is drawn where it is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    tasks: list[TaskID] = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:

        def draw(done: int, total: int) -> None:
            if not tasks:
                tasks.append(bar.add_task("", total=total))
            bar.update(tasks[0], completed=done, total=total)

        yield draw
