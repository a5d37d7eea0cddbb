"""`--batch`: calls by the provider's batch endpoints, before a command goes its usual way through the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import F, Seconds, say
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.llm.asker import Asker
    from kgeval.llm.session import Models

NAMES = ("batch_window", "batch_poll", "batch_size", "batch_price_factor")


def batch_options(command: F) -> F:
    """--batch and how."""
    for option in reversed((
        click.option("--batch", is_flag=True, help="Ask by the provider's batch endpoints: cheaper with many, takes up to a day."),
        click.option("--batch-window", metavar="TIME", help="How long a batch may take, as the provider names it [default: 24h]."),
        click.option("--batch-poll", type=Seconds(), metavar="S", help="Seconds between looks at a batch [default: 30]."),
        click.option("--batch-size", type=click.IntRange(1, 50_000), help="Requests a file at most [default: 50000]."),
        click.option(
            "--batch-price-factor", type=click.FloatRange(0, 1, min_open=True), metavar="X",
            help="What a batch call costs of a live one's price, 0.5 for half [default: not known, counted in full].",
        ),
    )):
        command = option(command)
    return command


def check_batch(options: Mapping[str, Any]) -> None:
    """Raises: UsageError for options of batches without --batch."""
    given = [f"--{name.replace('_', '-')}" for name in NAMES if options.get(name) is not None]
    if given and not options.get("batch"):
        raise UsageError(f"{', '.join(given)}: for --batch only", fix="add --batch, or leave it out")


def batch_first(models: Models | None, walk: Callable[[Asker], object], options: Mapping[str, Any]) -> None:
    """With --batch: brings all that `walk` asks for into the journal by batches, round after round; the run that follows finds it there
    and asks live only what is left. Without --batch, in a dry run, or where no model is asked: nothing.

    `walk` goes through all work of the command once, asking the asker that it is given, as for a dry run (`asker.dry` is true).
    Raises: as llm.batch.rounds.ask_in_batches.
    """
    if models is None or not options.get("batch") or options.get("dry_run"):
        return
    from kgeval.llm.batch.rounds import ask_in_batches
    from kgeval.llm.batch.settings import BatchSettings

    usual = BatchSettings()
    settings = BatchSettings(
        window=options.get("batch_window") or usual.window, poll=options.get("batch_poll") or usual.poll,
        requests=options.get("batch_size") or usual.requests, factor=options.get("batch_price_factor"),
    )
    if settings.factor is None and models.priced:
        say("what a batch call costs is not known: costs are counted as if it were live (--batch-price-factor says how much less it is)")
    try:
        left = ask_in_batches(models, walk, settings, say)
    except KeyboardInterrupt:
        say("batches that were sent go on at the provider; the same command picks them up, kgeval cache batches cancel stops them")
        raise
    if left and models.stopped is None:
        say(f"requests that batches did not answer, asked live now: {left:,}")
