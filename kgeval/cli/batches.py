"""`kgeval batches`: what is under way at a provider's batch endpoints, and stopping it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kgeval.cli.cache import form_option, place_options
from kgeval.cli.common import Seconds, say, visible
from kgeval.errors import InputError


@click.group()
def batches() -> None:
    """Batches that runs with --batch have sent and not taken in yet. They are kept beside the journal."""


@batches.command("list")
@place_options
@form_option
def list_(journal: Path | None, cache_dir: Path | None, form: str) -> None:
    """Which batches are under way, of which model, since when."""
    found = [vars(one) for one in _under_way(journal, cache_dir)]
    if form == "json":
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for one in found:
        click.echo(visible(_line(one)))
    if not found:
        click.echo("no batch is under way")


@batches.command()
@place_options
@click.option("--call-timeout", type=Seconds(), default=60.0, show_default=True, help="Seconds a request may take.")
def cancel(journal: Path | None, cache_dir: Path | None, call_timeout: float) -> None:
    """Ask the providers to stop all batches of this journal. What they have done is paid, and the next run takes it in.

    The key comes from OPENAI_API_KEY.
    """
    from kgeval.llm.batch.rounds import cancel_batches
    from kgeval.llm.places import journal_file

    count = cancel_batches(journal_file(journal, cache_dir), timeout=call_timeout, tell=say)
    say(f"batches: {count}; the same run with --batch takes in what is done, and asks the rest again")


def _under_way(journal: Path | None, cache_dir: Path | None) -> list[Any]:
    from kgeval.llm.batch.store import Store, store_file
    from kgeval.llm.places import journal_file

    path = journal_file(journal, cache_dir)
    if not path.exists() and journal is not None:
        raise InputError(f"{path}: no journal there", fix="name the journal of the run with --journal or --cache-dir")
    if not store_file(path).exists():
        return []
    with Store(path) as store:
        return store.batches()


def _line(one: dict[str, Any]) -> str:
    since = datetime.fromtimestamp(one["made"], UTC).isoformat(timespec="seconds")
    return f"{one['id'] or 'not sent yet'}  {one['requests']:,} requests  {one['model']} at {one['endpoint']}  since {since}"
