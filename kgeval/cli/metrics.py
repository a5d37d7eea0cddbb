"""`kgeval metrics`: what there is to measure, and what each costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgeval.cli.agree import matrix
from kgeval.cli.common import visible
from kgeval.cli.derive import CommandGroup, flags_of
from kgeval.cli.sensitivity import sensitivity
from kgeval.cli.show import form_option
from kgeval.config import SessionOptions
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgeval.metrics.definition import Metric

NOT_LOADED = "Not loaded: its code was not run."
config_option = flags_of(
    SessionOptions, only=("config_file",), heading="",
    texts={"config_file": "Configuration file with metrics of your own (default: ./kgeval.toml)."},
)


@click.group(cls=CommandGroup)
def metrics() -> None:
    """The metrics: what each measures, needs and costs; the presets; whether they tell right from wrong on your data, and how they go
    with each other.
    """


@metrics.command("list")
@click.option("--group", help="Only this group: answers, grounding, retrieval, kg, reasoning, own.")
@click.option("--preset", help="Only the metrics of this preset.")
@form_option()
@config_option
def list_(group: str | None, preset: str | None, form: str, config_file: Path | None) -> None:
    """List the metrics with what they need and cost, and the presets; with those of your own that kgeval.toml has.

    No code of yours is run.
    """
    from kgeval.metrics import pages
    from kgeval.metrics.table import PRESETS

    _known("group", group, pages.GROUPS)
    _known("preset", preset, list(PRESETS))
    criteria, code = _own(config_file)
    chosen = pages.metrics_of(group=group, preset=preset, own=criteria.values())
    code = code if group in (None, "own") and preset is None else []
    if form == "json":
        levels = {name: {level: list(names) for level, names in members.items()} for name, members in PRESETS.items()}
        text = {"metrics": [*map(pages.as_json, chosen), *map(_unloaded, code)], "presets": levels}
        click.echo(json.dumps(text, ensure_ascii=False, indent=2))
        return
    unknown = ["-"] * (len(pages.COLUMNS) - 2)
    _table(pages.COLUMNS, [*pages.table_of(chosen), *([visible(name), *unknown, NOT_LOADED] for name in code)])
    if group is None and preset is None:
        click.echo(f"\npresets: {', '.join(PRESETS)} (kgeval metrics show PRESET)")
    click.echo("calls: of a judge model for one row, if the metric is alone; together metrics share claims and verdicts")


@metrics.command()
@click.argument("name", metavar="NAME|PRESET")
@form_option()
@config_option
def show(name: str, form: str, config_file: Path | None) -> None:
    """Print a metric's page: definition, needs, cost, settings, variants, limits, source; or what a preset holds.

    A criterion of your own is named as in kgeval.toml. Of a metric of your own, FILE.py:NAME, there is no page: its code is not run.
    """
    from kgeval.metrics import pages
    from kgeval.metrics.table import PRESETS, all_metrics

    own, code = _own(config_file)
    if ":" in name:
        text = json.dumps(_unloaded(name), ensure_ascii=False, indent=2) if form == "json" else f"# {visible(name)}\n\n{NOT_LOADED}"
        click.echo(text)
        return
    known = {**all_metrics(), **own}
    _known("metric or preset", name, [*known, *PRESETS, *code])
    if form == "json":
        page = pages.as_json(known[name]) if name in known else {level: list(names) for level, names in PRESETS[name].items()}
        click.echo(json.dumps(page, ensure_ascii=False, indent=2))
        return
    click.echo(pages.metric_page(known[name]) if name in known else pages.preset_page(name), nl=False)


metrics.add_command(sensitivity)
metrics.add_command(matrix)


def _own(file: Path | None) -> tuple[dict[str, Metric], list[str]]:
    """The criteria of kgeval.toml as metrics, and how it writes the metrics that are code. Raises: UsageError, ConfigError."""
    from kgeval.config import look_up
    from kgeval.metrics.own import own_metrics

    section = look_up(file).metrics
    criteria, _, faults = own_metrics((), section.criteria)
    if faults:
        raise UsageError("metrics of your own: " + "; ".join(faults), fix="kgeval help own-metrics describes them")
    return criteria, list(dict.fromkeys(name for name in section.names if ":" in name))


def _unloaded(name: str) -> dict[str, str]:
    """A metric that is code, as JSON has it."""
    return {"name": name, "group": "own", "summary": NOT_LOADED}


def _known(what: str, name: str | None, names: Sequence[str]) -> None:
    """Raises: UsageError with the nearest name for one that does not exist."""
    if name is None or name in names:
        return
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3)
    raise UsageError(
        f"no such {what}: {name}", fix=f"did you mean: {', '.join(near)}" if near else f"there are: {', '.join(names)}",
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their longest cell. On a terminal that is too narrow the last one goes below, on a line of its own."""
    import shutil
    import sys

    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    narrow = sys.stdout.isatty() and shutil.get_terminal_size((100, 40)).columns < sum(widths) + 2 * len(widths)
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        click.echo("  ".join(cells[:-1] if narrow else cells).rstrip())
        if narrow:
            click.echo(f"    {line[-1]}")
