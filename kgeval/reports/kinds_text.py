"""The kinds of questions on a terminal: a heading a group, below it what each kind is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgeval.reports.console import screen, text_of, title


def terminal(rows: Sequence[tuple[str, Sequence[Mapping[str, Any]]]], *, width: int = 100, colour: bool = False) -> str:
    """The kinds as text. `rows`: each group's name with its kinds, as `kgeval questions kinds -f json` has them."""
    console, out = screen(width=width, colour=colour)
    for group, kinds in rows:
        title(console, group)
        for kind in kinds:
            console.print(f"  {kind['kind']}: {kind['about']}", overflow="fold")
            needs = ", ".join(kind["needs"]) or "nothing"
            calls = ", ".join(kind["calls"]) or "none"
            form = "; --template: no model" if kind["template"] and "a model" in kind["needs"] else ""
            console.print(f"    needs {needs}{form} · calls {calls} · {kind['source']}", style="dim", overflow="fold")
    return text_of(out).lstrip("\n")
