"""Parts of `kgeval score` put together: rows read again, scores from the parts, the report built anew by the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.cli.score_run import Job, Told, fingerprint, finish, keeps_verdicts
from kgeval.errors import InputError
from kgeval.files.shards import WHOLE

if TYPE_CHECKING:
    from kgeval.files.rows import Rows
    from kgeval.files.score_parts import ScorePart
    from kgeval.files.scores import ScoreFile
    from kgeval.manifest import Asked
    from kgeval.records import ModelRef, ModelUse, RunManifest

NOT_OF_THE_WHOLE = ("shard", WHOLE, "fingerprint", "outputs", "form", "quiet", "resume", "retry_errors", "executor", "dry_run")
FILES = ("answers", "questions", "audit_report", "config_file")


def join_scores(paths: Sequence[Path], given: Mapping[str, Any]) -> int:
    """Writes the results and reports of the whole run; its exit code. `given`: the options of `kgeval join`.

    Raises: InputError for parts that make up no run, and where the files are no longer what the parts read.
    """
    from kgeval import __version__
    from kgeval.cli.common import as_json
    from kgeval.cli.rebuilt import options_from
    from kgeval.cli.score import score
    from kgeval.files.score_parts import read_parts

    parts = read_parts(paths, kgeval=__version__)
    moved = {name: given[name] for name in FILES if given[name]}
    arguments = {k: v for k, v in parts[0].report.run.arguments.items() if k not in NOT_OF_THE_WHOLE} | moved
    options = {**options_from(score, arguments), **{name: given[name] for name in ("outputs", "form", "quiet")}}
    options["redact"] = options["redact"] or given["redact"]
    told = {name: as_json(value) for name, value in {**arguments, "outputs": given["outputs"], "parts": tuple(paths)}.items()}
    return joined(options, told, parts)


def joined(options: dict[str, Any], told: Mapping[str, Any], parts: Sequence[ScorePart]) -> int:
    """As join_scores, with the options of the run known. `told`: the arguments as the manifest shall have them."""
    from kgeval import config as configuration
    from kgeval.cli.models import limits_from_options
    from kgeval.cli.score import job_of
    from kgeval.manifest import Started

    config = configuration.load(options["config_file"])
    job = job_of(config, options, Started("join", told))
    _check_outputs(job, parts)
    job.read_beside()
    job.max_error_rate = limits_from_options(config, options).max_error_rate
    with job.open_rows() as rows:
        job.check(rows)
        return join_into(job, rows, parts)


def join_into(job: Job, rows: Rows, parts: Sequence[ScorePart]) -> int:
    """Writes the results and reports of a job from its parts; its exit code. Raises: InputError for parts of something else."""
    job.infos, job.told = list(parts[0].report.metrics), told_by(parts)
    _check_same(job, rows, parts)
    return finish(job, rows, partial(_fill, parts))


def _fill(parts: Sequence[ScorePart], job: Job, rows: Rows, file: ScoreFile) -> None:
    from kgeval.files.score_parts import merged

    kept, trials = keeps_verdicts(job.options), job.options["trials"]
    for scores, verdicts in merged(rows, parts, trials=trials, scored=lambda row: bool(job.selection.of(row)), verdicts=kept):
        file.add(scores, verdicts)


def _check_outputs(job: Job, parts: Sequence[ScorePart]) -> None:
    from kgeval.errors import UsageError
    from kgeval.files.scores import files_of

    read = {file.resolve() for file in files_of(one.path for one in parts)}
    lost = [str(path) for path in (*files_of(job.results), *job.reports) if path.resolve() in read]
    if lost:
        raise UsageError(f"-o would replace a file of a part: {', '.join(lost)}", fix="name another file or folder with -o")


def _check_same(job: Job, rows: Rows, parts: Sequence[ScorePart]) -> None:
    """Raises: InputError where the files, the configuration or the metrics are not those of the parts."""
    part, faults = parts[0].part, []
    if rows.digest() != part.rows:
        faults.append("the files have other rows than the parts were made from")
    wanted, found = [metric.name for metric in job.selection.metrics], [info.metric for info in job.infos]
    if wanted != found:
        faults.append(f"the parts have the metrics {', '.join(found)}; asked for are {', '.join(wanted)}")
    if not faults and fingerprint(job, rows) != part.run:
        faults.append("levels of metrics or trials are not those of the parts")
    if faults:
        fix = "give the same files in the same order (--answers, --questions) and the same kgeval.toml (--config)"
        raise InputError("the parts do not belong to this run; nothing was written", fix=fix, faults=faults)


def told_by(parts: Sequence[ScorePart]) -> Told:
    """What the sessions of all parts had to say, as one."""
    runs = [one.report.run for one in parts]
    return Told(
        stopped=not all(one.report.complete for one in parts), notes=tuple(dict.fromkeys(note for one in parts for note in one.notes)),
        asked=asked_by(runs), server=next((run.server for run in runs if run.server is not None), None),
    )


def asked_by(runs: Sequence[RunManifest]) -> Asked:
    """What several runs asked of models, added up."""
    from kgeval.manifest import Asked

    refs: list[ModelRef] = []
    use: dict[tuple[str, str], ModelUse] = {}
    hashes: dict[str, str] = {}
    for run in runs:
        refs += [ref for ref in run.models if ref not in refs]
        hashes |= run.prompt_hashes
        for stage in run.model_use:
            key = (stage.stage, stage.model)
            use[key] = _sum(use[key], stage) if key in use else stage
    return Asked(models=refs, use=[use[key] for key in sorted(use)], prompt_hashes=hashes)


def _sum(one: ModelUse, other: ModelUse) -> ModelUse:
    counts = {
        name: getattr(one, name) + getattr(other, name) for name in ("calls", "from_journal", "input_tokens", "output_tokens", "seconds")
    }
    causes = {cause: one.failures.get(cause, 0) + other.failures.get(cause, 0) for cause in sorted({*one.failures, *other.failures})}
    cost = None if one.cost is None or other.cost is None else round(one.cost + other.cost, 6)
    return one.model_copy(update={**counts, "seconds": round(counts["seconds"], 3), "cost": cost, "failures": causes})
