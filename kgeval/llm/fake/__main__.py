"""`python -m kgeval.llm.fake`: the fake model server on the loopback address, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import click

from kgeval.errors import KgevalError
from kgeval.llm.fake.faults import KINDS
from kgeval.llm.fake.http import FakeConnection, serve
from kgeval.llm.fake.model import FakeModel, Options
from kgeval.llm.fake.reader import reads
from kgeval.llm.fake.script import make_script


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--port", type=click.IntRange(0, 65_535), default=0, show_default=True, help="Port on 127.0.0.1; 0 takes a free one.")
@click.option("--faults", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share of replies that go wrong.")
@click.option("--fault-kinds", metavar="KIND,...", help=f"Only these faults: {', '.join(KINDS)}.")
@click.option("--delay", type=click.FloatRange(0, 3600), default=0.0, show_default=True, help="Seconds a reply takes.")
@click.option(
    "--jitter", type=click.FloatRange(0, 3600), default=0.0, show_default=True,
    help="Up to so many seconds more, the same for the same request.",
)
@click.option("--script", type=click.Path(path_type=Path), help="Rules for replies: a JSONL or TOML file.")
@click.option("--reader", is_flag=True, help="Answer questions from the passages shown with them (no script beside it).")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of faults and made-up answers.")
@click.option("--key", envvar="KGEVAL_FAKE_KEY", show_envvar=True, help="The only API key let in; others get 401 [default: any, or none].")
@click.option("--model", "models", multiple=True, help="A model that exists (repeatable); others get 404 [default: every name].")
@click.option("--no-json-schema", is_flag=True, help="Refuse response_format json_schema (400).")
@click.option("--no-json-object", is_flag=True, help="Refuse response_format json_object (400).")
@click.option("--no-usage", is_flag=True, help="Replies without token counts (which are characters / 4).")
@click.option("--dimensions", type=click.IntRange(1, 8192), default=64, show_default=True, help="Length of embedding vectors.")
@click.option("--retry-after", type=click.FloatRange(0, 3600), default=0.05, show_default=True, help="Seconds in a 429's Retry-After.")
@click.option("--no-batches", is_flag=True, help="No /files and /batches (404).")
@click.option("--batch-looks", type=click.IntRange(0, 10_000), default=1, show_default=True, help="Looks until a batch is done.")
@click.option(
    "--batch-expire", type=click.IntRange(0), default=0, show_default=True,
    help="So many batches end half way: the other half of their requests is never asked.",
)
@click.option(
    "--batch-refuse", type=click.IntRange(0), default=0, show_default=True,
    help="So many batches are refused as a whole, as if too much was waiting (token_limit_exceeded).",
)
def main(**given: Any) -> None:
    """A scripted model that speaks the OpenAI protocol on 127.0.0.1. Prints its base URL; Ctrl-C stops it.

    Without a script it answers any structured request with something that fits its JSON schema. GET /_stats counts what was
    asked, GET /_requests lists it, POST /_reset counts anew.
    """
    kinds = tuple(kind.strip() for kind in (given["fault_kinds"] or ",".join(KINDS)).split(",") if kind.strip())
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise click.UsageError(f"unknown faults: {', '.join(unknown)}; known: {', '.join(KINDS)}")
    if given["reader"] and given["script"]:
        raise click.UsageError("--reader and --script exclude each other")
    same = ("seed", "faults", "delay", "jitter", "key", "models", "dimensions", "retry_after")
    batches = ("batch_looks", "batch_expire", "batch_refuse")
    options = Options(
        kinds=kinds, json_schema=not given["no_json_schema"], json_object=not given["no_json_object"], usage=not given["no_usage"],
        batches=not given["no_batches"],
        **{name: given[name] for name in (*same, *batches)},
    )
    try:
        asyncio.run(_serve(FakeModel(options, make_script(reads if given["reader"] else given["script"])), given["port"]))
    except KgevalError as wrong:
        raise click.ClickException(str(wrong)) from wrong
    except OSError as wrong:
        raise click.ClickException(f"port {given['port']}: {wrong.strerror or wrong}") from wrong


async def _serve(model: FakeModel, port: int) -> None:
    open_ones: set[FakeConnection] = set()
    server = await serve(model, port, open_ones)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    # a program of its own, with one line of output: scripts read the address from it
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    await stopped.wait()
    server.close()
    for connection in list(open_ones):
        connection.close()


if __name__ == "__main__":
    main()
