"""`kgeval questions kinds` and `profiles`: the kinds of questions that can be made, and what they may be about."""

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


@click.command(cls=HeadedCommand)
@click.argument("name", metavar="[NAME|FILE.toml]", required=False)
def profiles(name: str | None) -> int:
    """List the profiles of questions generate --profile; print one as a TOML file to change; or check a file of your own.

    Exit codes: 0 done, 2 a file with faults.
    """
    from kgeval.config.questions import PROFILES
    from kgeval.format import plural, visible
    from kgeval.questions.kinds import question_profile
    from kgeval.questions.profiles import FOLDER

    if name is None:
        for known in PROFILES:
            click.echo(f"{known:{max(map(len, PROFILES))}}  {question_profile(known).about}")
    elif name in PROFILES:
        click.echo((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), nl=False)
    else:
        own = question_profile(name)
        counts = ((len(own.facts), "fact"), (len(own.reasoning), "reasoning"), (len(own.summaries), "summary"), (len(own.creative), "form"),
                  (len(own.personas), "persona"), (len(own.styles), "style"), (len(own.examples), "example"))
        click.echo(f"{visible(own.label)}: {', '.join(plural(count, what) for count, what in counts)}")
    return 0
