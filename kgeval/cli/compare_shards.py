"""`kgeval compare --shard`: what a part of a comparison leaves out, and what it says of itself so that parts can be joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgeval.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from kgeval.cli.compare_files import Outputs
    from kgeval.cli.compare_run import Job
    from kgeval.files.shards import Shard
    from kgeval.manifest import Asked
    from kgeval.records import RunManifest

NOT_IN_PARTS = {
    "stop_when_sure": "looks at all questions in one random order, which a part does not have",
    "systems": "asks systems, and their answers stay with the part; ask them first (kgeval answer), then compare the files",
    "anchors": "judges the anchors, which belong to no part; judge them in a run of their own",
    "simulate": "is one computation",
}


@dataclass(frozen=True)
class Told:
    """What is to be said of the asking of a comparison that was judged in parts: whether it came to its end, notes, the account."""

    complete: bool
    notes: tuple[str, ...]
    asked: Asked


def check_shard(options: Mapping[str, Any]) -> None:
    """Raises: UsageError for options that do not go with --shard, each with its reason."""
    if not options.get("shard"):
        return
    shard_in(options)
    faults = [f"{_flag(name)} {why}" for name, why in NOT_IN_PARTS.items() if options.get(name)]
    if faults:
        raise UsageError(f"--shard does not go with these: {'; '.join(faults)}", fix="leave out --shard, or the others")


def _flag(name: str) -> str:
    return "--system" if name == "systems" else f"--{name.replace('_', '-')}"


def shard_in(options: Mapping[str, Any]) -> Shard | None:
    """The shard of this run; null: it is a whole one. Raises: UsageError."""
    from kgeval.files.shards import parse_shard

    return parse_shard(options["shard"]) if options.get("shard") else None


def manifests_of(outputs: Outputs, options: Mapping[str, Any]) -> list[Path]:
    """The manifests that a part has beside its verdict files, without which it could not be joined; a whole run has none there.

    Raises: UsageError where a part would leave nothing that can be joined.
    """
    from kgeval.files.score_forms import beside

    if not options.get("shard"):
        return []
    lines = [path for path in outputs.verdicts if path.suffix.lower() == ".jsonl"]
    if not options["dry_run"] and not lines and not outputs.folders:
        raise UsageError("a part is its verdicts, and no file is named for them", fix="add -o parts/1.jsonl, or -o parts/1/")
    return [beside(path, "run.json") for path in lines]


def as_part(job: Job, made: RunManifest) -> RunManifest:
    """The manifest of a part: with what the whole run is, and what the session with the judge had to say."""
    from kgeval.files.shards import WHOLE

    models, aligned = job.opened.models, job.opened.aligned
    whole: dict[str, JsonValue] = {
        **whole_of(job), "notes": list(models.notes), "complete": models.stopped is None and aligned.stopped is None,
    }
    return made.model_copy(update={"arguments": {**made.arguments, WHOLE: whole}})


def whole_of(job: Job) -> dict[str, JsonValue]:
    """What the whole run is, the same in each of its parts. `rows`: questions and answers; `signature`: judge, prompts and settings;
    `run`: pairs and procedures."""
    from kgeval.cli.compare_told import signature_of
    from kgeval.comparison.store import key_of

    aligned = job.opened.aligned
    sources = {name: aligned.sources[name].signature for name in aligned.paired.systems}
    rounds = [(one.way.procedure, one.trials, one.repeats, one.aligned) for one in job.settings.rounds]
    return {
        "rows": key_of(aligned.paired.sharing.digest(), sources), "signature": signature_of(job),
        "run": key_of(aligned.signature, list(aligned.paired.pairs), rounds),
    }
