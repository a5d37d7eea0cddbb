"""`kgeval questions kinds`: the kinds of questions that can be made."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

import click

from kgeval.cli.common import coloured
from kgeval.cli.derive import HeadedCommand
from kgeval.cli.show import form_option

NEEDS = {"model": "a model", "graph": "the graph", "chunks": "chunk texts", "documents": "chunk texts in order", "gds": "GDS"}


@click.command(cls=HeadedCommand)
@form_option()
def kinds(form: str) -> int:
    """List the kinds of questions: what each asks about, what it needs, which calls it makes, which paper it is from."""
    from kgeval.questions.kinds import all_kinds, groups

    if form == "json":
        click.echo(json.dumps([_as_json(name) for name in all_kinds()], indent=1, ensure_ascii=False))
        return 0
    from kgeval.reports.render.terminal import screen, text_of, title

    console, out = screen(width=shutil.get_terminal_size((100, 40)).columns, colour=coloured(sys.stdout))
    for group, members in groups().items():
        title(console, group)
        for member in members:
            kind = _as_json(member.name)
            console.print(f"  {kind['kind']}: {kind['about']}", overflow="fold")
            needs = ", ".join(kind["needs"]) or "nothing"
            calls = ", ".join(kind["calls"]) or "none"
            form = "; --template: no model" if kind["template"] and "a model" in kind["needs"] else ""
            console.print(f"    needs {needs}{form} · calls {calls} · {kind['source']}", style="dim", overflow="fold")
    click.echo(text_of(out).lstrip("\n"), nl=False)
    return 0


def _as_json(name: str) -> dict[str, Any]:
    """All that is known of a kind."""
    from kgeval.metrics.pages import spelled
    from kgeval.questions.kinds import all_kinds

    kind = all_kinds()[name]
    calls = [call for call in dict.fromkeys((kind.first, *(later.prompt for later in kind.later))) if call]
    return {
        "kind": name, "group": kind.group, "level": kind.level, "about": spelled(kind.about), "source": spelled(kind.source),
        "needs": [NEEDS[need] for need in NEEDS if need in kind.needs], "calls": calls, "template": kind.template,
    }
