"""Parts of `kgeval compare` put together: verdicts from the parts, lengthened answers from the journal, the report by the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.cli.compare_run import Job, carry_out, open_job
from kgeval.cli.compare_shards import Told, whole_of
from kgeval.errors import InputError, UsageError
from kgeval.files.shards import WHOLE
from kgeval.workflows.score_parts import asked_by

if TYPE_CHECKING:
    from kgeval.comparison.engine import Run
    from kgeval.comparison.kept import Verdicts
    from kgeval.files.verdict_parts import VerdictPart

NOT_OF_THE_WHOLE = ("shard", WHOLE, "outputs", "verdicts", "form", "dry_run", "batch", "journal", "cache_dir")
FILES = ("answers", "questions", "config_file")


def join_verdicts(paths: Sequence[Path], given: Mapping[str, Any]) -> int:
    """Writes verdicts and report of the whole comparison; its exit code. `given`: the options of `kgeval merge-shards`. Nobody is asked.

    Raises: InputError for parts that make up no run, where the files are no longer what the parts read, and where the journal lacks
    what a model wrote for the parts.
    """
    from kgeval import __version__
    from kgeval import config as configuration
    from kgeval.cli.common import arguments, as_json
    from kgeval.files.verdict_parts import read_verdict_parts
    from kgeval.manifest import Started

    if given["audit"]:
        raise UsageError("--audit is for parts of kgeval score", fix="leave it out")
    parts = read_verdict_parts(paths, kgeval=__version__)
    options = _options(parts, given)
    _check_outputs(options["outputs"], parts)
    told = {name: value for name, value in arguments(options).items() if name not in NOT_OF_THE_WHOLE}
    started = Started("merge-shards", {**told, "outputs": as_json(options["outputs"]), "parts": as_json(tuple(paths))})
    config = configuration.load(options["config_file"])
    with ExitStack() as stack:
        job = open_job(config, options, started, stack)
        job.told = _told_by(parts)
        _check_same(job, parts)
        return carry_out(job, partial(_taken, parts))


def _options(parts: Sequence[VerdictPart], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the whole run. It is opened as a dry run is: whoever would be asked looks into the journal, and no further."""
    from kgeval.cli.compare import compare
    from kgeval.cli.rebuilt import options_from

    moved = {name: given[name] for name in FILES if given[name]}
    arguments = {k: v for k, v in parts[0].run.arguments.items() if k not in NOT_OF_THE_WHOLE} | moved
    options = {**options_from(compare, arguments), **{name: given[name] for name in ("outputs", "form", "quiet")}}
    options["journal"] = given["journal"] or (None if given["journals"] else _common(parts, "journal"))
    options["cache_dir"] = None if given["journal"] or given["journals"] else _common(parts, "cache_dir")
    options["redact"] = options["redact"] or given["redact"]
    return {**options, "dry_run": True, "no_progress": True}


def _common(parts: Sequence[VerdictPart], name: str) -> Path | None:
    """A place that all parts were made with, if it is here."""
    found = {str(one.run.arguments[name]) for one in parts if one.run.arguments.get(name)}
    place = Path(found.pop()) if len(found) == 1 else None
    return place if place is not None and place.exists() else None


def _check_outputs(outputs: Sequence[Path], parts: Sequence[VerdictPart]) -> None:
    from kgeval.files.score_forms import beside

    read = {path.resolve() for one in parts for path in (one.path, one.verdicts, beside(one.path, "run.json"))}
    lost = [str(path) for path in outputs if path.resolve() in read]
    if lost:
        raise UsageError(f"-o would replace a file of a part: {', '.join(lost)}", fix="name another file or folder with -o")


def _check_same(job: Job, parts: Sequence[VerdictPart]) -> None:
    """Raises: InputError where the files, the configuration or the pairs are not those of the parts."""
    part, now = parts[0].part, whole_of(job)
    faults = []
    if now["rows"] != part.rows:
        faults.append("the files have other questions or answers than the parts were made from")
    if (now["signature"],) != part.signatures:
        faults.append(f"the judge or his settings are other ones: {now['signature']}; those of the parts are {part.signatures[0]}")
    if not faults and now["run"] != part.run:
        faults.append("pairs, alignment or procedures are not those of the parts")
    if faults:
        fix = "give the same files in the same order (--answers, --questions) and the same kgeval.toml (--config)"
        raise InputError("the parts do not belong to this comparison; nothing was written", fix=fix, faults=faults)


def _told_by(parts: Sequence[VerdictPart]) -> Told:
    """What the sessions of all parts had to say, as one."""
    notes = tuple(dict.fromkeys(note for one in parts for note in one.notes))
    return Told(all(one.complete for one in parts), notes, asked_by([one.run for one in parts]))


def _taken(parts: Sequence[VerdictPart], job: Job, verdicts: Verdicts) -> Run:
    from kgeval.comparison.engine import Sources
    from kgeval.comparison.rejoined import Rejoined
    from kgeval.files.verdict_parts import Said

    opened = job.opened
    run = Rejoined(
        opened.models, opened.judge, Sources(opened.aligned, opened.free), verdicts, job.pairings, job.settings.rounds, said=Said(parts),
    )
    run.carry_out()
    if opened.aligned.settings.rule.on:
        opened.aligned.check_meaning()
    return run
