"""`kgeval score --executor`: the shards of a run by several workers, joined to the result of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say
from kgeval.cli.interrupts import patient
from kgeval.cli.join_scores import join_into
from kgeval.cli.models import limits_from_options
from kgeval.cli.rebuilt import argv_of
from kgeval.errors import IncompleteError, InputError
from kgeval.files.temporary import private_folder

if TYPE_CHECKING:
    from kgeval.cli.score_run import Job
    from kgeval.config import Config
    from kgeval.files.rows import Rows
    from kgeval.llm.calls import Limits
    from kgeval.run.spread.command import Command, Ended

DONE = (0, 3)  # a shard that is incomplete is a part too
OF_THE_WHOLE = ("executor", "workers", "shards", "ray_address", "thresholds")
FROM_ENVIRONMENT = ("uri", "username", "database", "base_url")


def spread(job: Job, rows: Rows, config: Config) -> int:
    """Does the shards of the run, joins them, and says by its exit code how it ended. What is finished is kept, --resume goes on.

    Raises: InputError where a shard cannot be done, IncompleteError where one was lost.
    """
    from kgeval import __version__
    from kgeval.cli.score_run import INCOMPLETE
    from kgeval.files.score_parts import read_parts

    limits = limits_from_options(config, job.options)
    workers = job.options["workers"] or 2
    count = job.options["shards"] or workers
    workers = min(workers, count, limits.rpm or workers)
    with _folder(job) as folder:
        parts = [folder / f"{number}-of-{count}.jsonl" for number in range(1, count + 1)]
        commands = [_command(job, limits, number, parts, workers) for number in range(1, count + 1)]
        _check(_carried_out(job, commands, workers), folder if job.results else None)
        if job.options["ray_address"]:
            _import_journals(job, parts)
        job.max_error_rate = limits.max_error_rate
        job.options = {**job.options, "resume": False, "retry_errors": False}
        code = join_into(job, rows, read_parts(parts, kgeval=__version__))
        if code != INCOMPLETE:
            _remove(parts)
        return code


@contextmanager
def _folder(job: Job) -> Iterator[Path]:
    """Where the parts go: beside the first result, where a later run finds them; without one, a folder that goes with this run."""
    if not job.results:
        with private_folder("parts") as made:
            yield made
        return
    first = job.results[0]
    folder = first.with_name(f"{first.stem}.parts")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as cause:
        raise InputError(f"{folder}: cannot be made: {cause.strerror}", fix="choose a folder that is yours with -o") from cause
    yield folder.resolve()
    with suppress(OSError):
        folder.rmdir()  # where nothing is left in it


def _command(job: Job, limits: Limits, number: int, parts: Sequence[Path], workers: int) -> Command:
    """The command of one shard: this run's, with its share of the limits."""
    from kgeval.cli.score import score
    from kgeval.run.spread.command import Command, passed_environment

    part, count = parts[number - 1], len(parts)
    own = {"shard": f"{number}/{count}", "outputs": (part,), "form": "text", "quiet": True, "no_progress": True}
    if job.options["ray_address"]:
        own["journal"] = _journal_of(part)
    options = {**job.options, **own, **_share(limits, number, count, workers)}
    words = ("score", *argv_of(score, options, without=(*OF_THE_WHOLE, *_left_to_the_environment())))
    return Command(f"shard {number}/{count}", words, str(Path.cwd()), passed_environment())


def _share(limits: Limits, number: int, count: int, workers: int) -> dict[str, Any]:
    """What one shard may use: the money and the calls of the run are divided among all shards, the rates among those at work."""
    calls = limits.max_calls
    return {
        "max_concurrency": max(1, limits.concurrency // workers),
        "rpm": limits.rpm and max(1, limits.rpm // workers), "tpm": limits.tpm and max(1, limits.tpm // workers),
        "max_calls": None if calls is None else calls // count + (number <= calls % count),
        "cost_limit": None if limits.cost_limit is None else limits.cost_limit / count,
    }


def _left_to_the_environment() -> list[str]:
    """Options that came from variables which workers have too."""
    context = click.get_current_context(silent=True)
    if context is None:
        return []
    return [name for name in FROM_ENVIRONMENT if context.get_parameter_source(name) == click.core.ParameterSource.ENVIRONMENT]


def _carried_out(job: Job, commands: Sequence[Command], workers: int) -> list[Ended]:
    from kgeval.run.spread.local import run_local
    from kgeval.run.spread.ray_ import run_ray

    ended: list[Ended] = []
    if job.options["executor"] == "ray":
        found = run_ray(commands, workers=workers, go_on=_goes_on, address=job.options["ray_address"])
    else:
        found = run_local(commands, workers=workers, go_on=_goes_on)
    say(f"{len(commands)} shards, {workers} at a time")
    with patient():
        for one in found:
            ended.append(one)
            say(f"{one.name}: {_WORDS.get(one.code, 'failed')} ({len(ended)} of {len(commands)})")
    return ended


_WORDS: Mapping[int, str] = {0: "done", 3: "incomplete", 130: "interrupted"}


def _goes_on(ended: Ended) -> bool:
    return ended.code in DONE


def _check(ended: Sequence[Ended], folder: Path | None) -> None:
    """Raises where a shard gave no part: what it said."""
    lost = [one for one in ended if one.code not in DONE]
    if not lost:
        return
    first = next((one for one in lost if one.code != 130), lost[0])
    kept = f"; what is finished is kept in {folder}" if folder is not None else ""
    said = [line for line in first.said.splitlines() if line.strip()]
    if first.code == 130:
        raise IncompleteError(f"{first.name} did not come to its end{kept}", fix="the same command with --resume goes on")
    what = f"{first.name} ended with exit code {first.code}{kept}; it said:"
    raise InputError(what, faults=said[-10:], fix="mend that; the same command with --resume goes on")


def _journal_of(part: Path) -> Path:
    return part.with_suffix(".journal.sqlite")


def _import_journals(job: Job, parts: Sequence[Path]) -> None:
    """Workers on other machines have journals of their own; their calls are this user's from now on."""
    from kgeval.llm.journal_import import import_calls
    from kgeval.llm.places import journal_file

    into = journal_file(job.options["journal"], job.options["cache_dir"])
    for part in parts:
        if _journal_of(part).exists():
            import_calls(into, _journal_of(part))


def _remove(parts: Sequence[Path]) -> None:
    """The parts are in the result: what was written for them goes."""
    from kgeval.files.scores import files_of, partial_of

    for part in parts:
        journal = _journal_of(part)
        for path in (*files_of([part]), partial_of(part), *(Path(f"{journal}{end}") for end in ("", "-wal", "-shm", ".lock"))):
            path.unlink(missing_ok=True)
