"""What `kgeval build` prints: what the construction took [X table 15], what is in the graph, what was written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say, visible

if TYPE_CHECKING:
    from kgeval.records import IndexRecord

KINDS = ("documents", "chunks", "entities", "relations", "mentions", "merges")


def show(record: IndexRecord, given: Mapping[str, Any]) -> None:
    """The record to the file of -o, then to stdout in the wanted form."""
    from kgeval.files import write_text

    whole = record.model_dump_json(indent=2) + "\n"
    if given["output"] is not None:
        write_text(given["output"], whole)
    if given["form"] == "json":
        click.echo(whole, nl=False)
        return
    for note in record.notes:
        say(f"note: {note}")
    for line in _lines(record):
        click.echo(visible(line))
    if given["output"] is not None:
        say(f"written: {given['output']}")


def _lines(record: IndexRecord) -> Iterator[str]:
    """The summary, line by line."""
    verb = "written" if record.changed else "nothing has changed"
    yield f"Graph {record.graph}: {verb}, {record.seconds:.1f} s"
    yield f"  {'time (s)':<28} {record.seconds:>12,.2f}   " + ", ".join(f"{name} {s:.2f}" for name, s in record.stages.items())
    for label, number in (
        ("calls", record.calls), ("input tokens", record.input_tokens), ("completion tokens", record.output_tokens),
        ("total tokens", _sum(record.input_tokens, record.output_tokens)),
    ):
        yield f"  {label:<28} {shown(number):>12}"
    if record.calls:
        yield f"  {'cost (USD)':<28} " + ("     unknown" if record.cost is None else f"{record.cost:>12,.4f}")
    yield "in the graph now"
    size = record.corpus
    for label, number in (
        ("documents", size.documents), ("chunks", size.chunks), (f"tokens ({size.tokenizer})", size.tokens), ("words", size.words),
        ("entities", record.entities), ("relations", record.relations),
    ):
        yield f"  {label:<28} {shown(number):>12}"
    for level, number in record.merges.items():
        yield f"  {'merges, ' + level:<28} {number:>12,}"
    yield from _changed(record)
    if record.failures:
        yield "chunks that failed (the next run asks again)"
        yield from (f"  {cause:<28} {number:>12,}" for cause, number in record.failures.items())
    if record.faults:
        yield f"documents passed over: {len(record.faults)}"
        yield from (f"  {fault}" for fault in record.faults[:20])
    yield f"Next: kgeval audit --graph {shlex.quote(record.graph)}"


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def shown(number: int | None) -> str:
    """A count, or that it is not told."""
    return "not told" if number is None else f"{number:,}"


def _changed(record: IndexRecord) -> Iterator[str]:
    """Created, updated and deleted by kind; kinds that did not change are left out."""
    if not record.changed:
        return
    yield f"written in this run{'created':>21}{'updated':>13}{'deleted':>13}"
    for kind in KINDS:
        numbers = [record.changed.get(f"{kind} {what}", 0) for what in ("created", "updated", "deleted")]
        if any(numbers):
            yield f"  {kind:<26}" + "".join(f"{number:>12,} " for number in numbers).rstrip()
    old = record.changed.get("nodes of the old graph deleted")
    if old:
        yield f"  {'nodes of the old graph deleted':<52} {old:>12,}"
