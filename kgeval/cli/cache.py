"""`kgeval cache`: what was paid for and kept: the journal of calls to models, the embeddings, and the indexes of built-in systems."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import interactive, say, visible
from kgeval.cli.derive import CommandGroup, flags_of
from kgeval.cli.options import journal_options
from kgeval.cli.show import form_option
from kgeval.config import LimitsSection, ModelOptions
from kgeval.errors import InputError
from kgeval.format import plural

if TYPE_CHECKING:
    from kgeval.llm.journal_view import JournalCall, JournalSummary
    from kgeval.llm.vector_cache import CachedModel

MEGABYTE = 1_000_000


@click.group(cls=CommandGroup)
def cache() -> None:
    """The journal of finished calls to models, the embeddings, and the indexes of built-in systems: what is there, one call in full,
    clearing; batches under way.

    The journal holds what was sent and what came back, texts included, until it is cleared, and what checks of audits found. It never
    holds a key. The indexes hold the texts of graphs.
    """


@cache.command()
@journal_options
@form_option()
def stats(journal: Path | None, cache_dir: Path | None, form: str) -> None:
    """How many calls, embeddings and indexes are kept, of which models and stages, and where; and results that could not be written."""
    from kgeval.llm.journal_view import summary
    from kgeval.llm.places import embedding_folder, journal_file
    from kgeval.llm.text_table import index_folder, kept_indexes
    from kgeval.llm.vector_cache import cached_models
    from kgeval.tables.output import unsaved_folder

    calls, folder = summary(journal_file(journal, cache_dir)), embedding_folder(cache_dir)
    models, indexes = cached_models(folder), index_folder(cache_dir)
    tables, size = kept_indexes(indexes)
    unsaved = unsaved_folder()
    results = sorted(unsaved.glob("*"))
    if form == "json":
        data = {
            "journal": asdict(calls), "embeddings": {"path": str(folder), "models": [asdict(model) for model in models]},
            "indexes": {"path": str(indexes), "tables": tables, "bytes": size},
            "unsaved": {"path": str(unsaved), "files": [one.name for one in results]},
        }
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    own = [f"indexes     {indexes}", f"            {tables} of chunks or entities, {size / MEGABYTE:.1f} MB"]
    if results:
        own += [f"unsaved     {unsaved}", f"            {plural(len(results), 'result')} that could not be written; nothing clears this"]
    for line in (*_journal_lines(calls), *_embedding_lines(folder, models), *own):
        click.echo(line)


@cache.command()
@click.argument("key")
@journal_options
@form_option()
def show(key: str, journal: Path | None, cache_dir: Path | None, form: str) -> None:
    """One call in full: request and reply, with their texts. KEY: the first digits of its key, as results name it."""
    from kgeval.llm.journal_view import show as find
    from kgeval.llm.places import journal_file

    call = find(journal_file(journal, cache_dir), key)
    if form == "json":
        click.echo(json.dumps(asdict(call), indent=2, ensure_ascii=False))
        return
    for line in _call_lines(call):
        click.echo(visible(line))


@cache.command()
@click.option("--only", type=click.Choice(["journal", "embeddings"]), help="Clear only these [default: both]; indexes go with embeddings.")
@click.option("--model", help="Only calls to this model.")
@click.option("--stage", help="Only calls of this stage.")
@click.option("--older-than", type=click.FloatRange(min=0), metavar="DAYS", help="Only calls older than so many days.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@journal_options
def clear(
    only: str | None, yes: bool, journal: Path | None, cache_dir: Path | None, **choice: Any,
) -> None:
    """Forget finished calls, embeddings and indexes. Later runs ask, and pay, again.

    With --model, --stage or --older-than only calls go, not embeddings and indexes.
    """
    from kgeval.errors import UsageError
    from kgeval.llm.journal_view import CallFilter, JournalRows, count
    from kgeval.llm.journal_view import clear as clear_calls
    from kgeval.llm.places import embedding_folder, journal_file
    from kgeval.llm.text_table import clear_indexes, index_folder, kept_indexes
    from kgeval.llm.vector_cache import cached_models, clear_vectors

    chosen = CallFilter(**choice)
    if only == "embeddings" and not chosen.everything:
        raise UsageError("--model, --stage and --older-than choose calls, not embeddings", fix="leave them out, or --only journal")
    path, folder, own = journal_file(journal, cache_dir), embedding_folder(cache_dir), index_folder(cache_dir)
    vectors = only != "journal" and chosen.everything
    rows = JournalRows() if only == "embeddings" else count(path, chosen)
    if not yes:
        more = f", the embeddings of {len(cached_models(folder))} models in {folder} and {kept_indexes(own)[0]} indexes in {own}"
        _ask(f"forget {rows} in {path}" + (more if vectors else ""))
    gone = JournalRows() if only == "embeddings" else clear_calls(path, chosen)
    more = f", the embeddings of {clear_vectors(folder)} models and {clear_indexes(own)} indexes" if vectors else ""
    say(f"forgot {gone}{more}")


@cache.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="The new journal [default: JOURNAL.recovered].")
@journal_options
def recover(output: Path | None, journal: Path | None, cache_dir: Path | None) -> None:
    """Save the calls that a damaged journal still holds into a new one. The damaged file is only read.

    Each call is checked: its key is a hash of its request. What is lost is asked for again where a later run needs it.
    """
    from kgeval.llm.journal_file import recovered_file
    from kgeval.llm.journal_import import recover as recover_calls
    from kgeval.llm.places import journal_file

    path = journal_file(journal, cache_dir)
    into = output or recovered_file(path)
    saved = recover_calls(path, into)
    lost = f"; {saved.lost:,} more are there and cannot be read" if saved.lost else ""
    answers = f" and {saved.answers:,} answers of systems" if saved.answers else ""
    click.echo(f"{saved.calls:,} calls{answers} saved in {into}{lost}")
    click.echo(f"go on with --journal {shlex.quote(str(into))}, or put it in the place of {path}")


@cache.group(cls=CommandGroup)
def batches() -> None:
    """Batches that runs with --batch have sent and not taken in yet. They are kept beside the journal."""


@batches.command("list")
@journal_options
@form_option()
def list_batches(journal: Path | None, cache_dir: Path | None, form: str) -> None:
    """Which batches are under way, of which model, since when."""
    rows = [vars(row) for row in _under_way(journal, cache_dir)]
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for row in rows:
        click.echo(visible(_batch_line(row)))
    if not rows:
        click.echo("no batch is under way")


@batches.command()
@journal_options
@flags_of(ModelOptions, only=("call_timeout",), heading="")
def cancel(journal: Path | None, cache_dir: Path | None, call_timeout: float | None) -> None:
    """Ask the providers to stop all batches of this journal. What they have done is paid, and the next run takes it in.

    The key comes from OPENAI_API_KEY.
    """
    from kgeval.llm.batch.rounds import cancel_batches
    from kgeval.llm.places import journal_file

    count = cancel_batches(journal_file(journal, cache_dir), timeout=call_timeout or LimitsSection().timeout, tell=say, own=journal is None)
    say(f"batches: {count}; the same run with --batch takes in what is done, and asks the rest again")


def _ask(what: str) -> None:
    """Asks on a terminal; elsewhere --yes is needed. Raises: UsageError, click.Abort."""
    from kgeval.errors import UsageError

    if not interactive():
        raise UsageError(f"will not {what} unasked", fix="add --yes")
    click.confirm(f"{what}?", abort=True, err=True)


def _journal_lines(found: JournalSummary) -> list[str]:
    lines = [f"journal     {found.path}", f"            {_kept(found)}, {found.bytes / MEGABYTE:.1f} MB"]
    for stage in found.stages:
        what = f"{visible(stage.stage)}: {stage.calls} calls to {visible(stage.model)} at {visible(stage.endpoint)}"
        took = f"{stage.seconds / stage.calls:.2f} s a call, {_day(stage.first)} to {_day(stage.last)}"
        lines.append(f"  {what}, {stage.input_tokens} + {stage.output_tokens} tokens, {took}")
    if found.failed_tries:
        causes = ", ".join(f"{cause} {number}" for cause, number in found.failed_tries.items())
        lines.append(f"  replies that could not be used, kept for inspection: {causes}")
    return lines


def _kept(found: JournalSummary) -> str:
    from kgeval.llm.journal_view import JournalRows

    return str(JournalRows(found.calls, found.answers, found.checks))


def _embedding_lines(folder: Path, models: list[CachedModel]) -> list[str]:
    vectors, size = sum(model.vectors for model in models), sum(model.bytes for model in models)
    lines = [f"embeddings  {folder}", f"            {vectors} vectors, {size / MEGABYTE:.1f} MB"]
    for model in models:
        what = f"{model.vectors} vectors of {model.dimensions} dimensions" if model.fault is None else f"cannot be read: {model.fault}"
        lines.append(f"  {visible(model.name)}: {what}")
    return lines


def _call_lines(call: JournalCall) -> list[str]:
    lines = [f"key      {call.key}", f"model    {call.model} at {call.endpoint or '(no reply was usable)'}", f"stage    {call.stage}"]
    if call.created is not None:
        lines.append(f"asked    {datetime.fromtimestamp(call.created, UTC).isoformat(timespec='seconds')}, {call.seconds:.2f} s")
        lines.append(f"prompt   {call.prompt}, {call.input_tokens} + {call.output_tokens} tokens")
    request = call.request if isinstance(call.request, dict) else {}
    for part in ("system", "user"):
        if part in request:
            lines += [f"--- {part} ---", str(request[part])]
    if call.reply is not None:
        lines += ["--- reply ---", call.reply]
    for tried in call.failed_tries:
        lines += [f"--- a reply that could not be used: {tried.cause} ---", tried.reply]
    return lines


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


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


def _batch_line(one: dict[str, Any]) -> str:
    since = datetime.fromtimestamp(one["made"], UTC).isoformat(timespec="seconds")
    return f"{one['id'] or 'not sent yet'}  {one['requests']:,} requests  {one['model']} at {one['endpoint']}  since {since}"
