"""Bars of progress on stderr, or in the cell of a notebook."""

from __future__ import annotations

import io
import time
from typing import Any

from rich.console import Console
from rich.progress import Progress, ProgressColumn

# each look goes to the browser as a message with all bars in it
EVERY = 0.25  # seconds between two looks of a cell


def bars(*columns: ProgressColumn, transient: bool = False) -> Progress:
    """Bars that are shown once they are started. `transient`: gone at the end. No columns: those that rich shows."""
    console = Console(stderr=True)
    return (_CellBars if console.is_jupyter else Progress)(*columns, console=console, transient=transient, refresh_per_second=4)


class _CellBars(Progress):
    """Bars in one output of the cell that is running, which is replaced as they move.

    What rich itself has for notebooks needs ipywidgets, and without them warns and leaves an empty output. Models are asked in threads of
    their own, any of which may move a bar; the output belongs to the cell that started them.
    """

    _output: Any = None
    _shown = 0.0

    def start(self) -> None:
        from IPython.display import display

        self._output = display(self._look(), raw=True, display_id=True)

    def stop(self) -> None:
        if self._output is not None:
            self._output.update({"text/plain": "", "text/html": ""} if self.live.transient else self._look(), raw=True)
            self._output = None

    def refresh(self) -> None:
        if self._output is not None and time.monotonic() - self._shown >= EVERY:
            self._shown = time.monotonic()
            self._output.update(self._look(), raw=True)

    def update(self, *given: Any, **fields: Any) -> None:
        super().update(*given, **fields)
        self.refresh()

    def _look(self) -> dict[str, str]:
        """The bars as text and as HTML."""
        console = Console(
            file=io.StringIO(), record=True, width=100, force_jupyter=False, force_terminal=True, color_system="truecolor",
        )
        console.print(self.get_renderable())
        return {
            "text/html": console.export_html(inline_styles=True, clear=False, code_format="<pre style='line-height:normal'>{code}</pre>"),
            "text/plain": console.export_text(),
        }
