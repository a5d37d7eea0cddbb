"""The progress bar of the one-time download of the embedded server's jars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def download_bar() -> Iterator[Callable[[int, int], None]]:
    """A function that takes bytes done and in all, and draws them on stderr; nothing is drawn where it is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("", total=None)

    def finish() -> None:
        if bar.live.is_started:
            bar.stop()

    def draw(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if done < total:
            bar.start()
        else:
            finish()

    try:
        yield draw
    finally:
        finish()
