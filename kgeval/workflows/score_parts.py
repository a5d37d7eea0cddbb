"""A scoring run in shards: its parts put together to the result of one run, and done by several workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import ModelOptions, ScoreOptions, load
from kgeval.errors import IncompleteError, InputError, UsageError
from kgeval.tables.parts import whole_in
from kgeval.workflows import score
from kgeval.workflows.result import INCOMPLETE
from kgeval.workflows.score import AskingSummary, Scoring, check, fingerprint, finish, prepare
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.llm.calls import Limits
    from kgeval.manifest import ModelUsage
    from kgeval.metrics.own import OwnMetric
    from kgeval.records import MetricInfo, ModelRef, ModelUse, RunManifest
    from kgeval.tables.rows import Rows
    from kgeval.tables.score_parts import ScorePart
    from kgeval.tables.scores import ScoreFile
    from kgeval.workflows.score import ScoreResult
    from kgeval.workflows.workers import EndedWorker, Worker

DONE = (0, INCOMPLETE)  # a shard that is incomplete is a part too
PLACES = ("uri", "username", "database", "home", "layout", "layout_keys")  # of a graph: the manifest keeps them
NOT_OF_THE_WHOLE = ("shard", "resume", "retry_errors", "executor")


def merge(session: Session, paths: Sequence[Path], moved: Mapping[str, Any]) -> ScoreResult:
    """Writes the results and reports of the whole run from its parts. `session`: its outputs, and what it redacts. `moved`: `answers`,
    `questions`, `audit` and `config_file`, where they are not where the parts read them.

    Raises: InputError for parts that make up no run, and where the files are no longer what the parts read.
    """
    from kgeval import __version__
    from kgeval.reports.write import check_replaced
    from kgeval.tables.score_parts import read_parts
    from kgeval.tables.scores import files_of

    parts = read_parts(paths, kgeval=__version__)
    arguments = {**parts[0].report.run.arguments, **{name: value for name, value in moved.items() if value}}
    own = {name: arguments[name] for name in ScoreOptions.model_fields if name in arguments and name not in NOT_OF_THE_WHOLE}
    options = ScoreOptions.model_validate(own)
    asking = ModelOptions.model_validate({name: arguments[name] for name in ModelOptions.model_fields if name in arguments})
    answers = [Path(name) for name in arguments["answers"]]
    check_there([*answers, options.questions, options.audit, options.without_known, *options.index])
    named = bool(moved.get("config_file"))
    with merging_session(session, arguments, paths, named=named, asking=asking) as whole:
        whole.functions = _unloaded(whole, options, parts[0].report.metrics)
        scoring = prepare(whole, answers, options)
        check_replaced((*files_of(scoring.results), *scoring.reports), files_of(part.path for part in parts), what="of a part")
        with scoring.open_rows() as rows:
            check(scoring, rows)
            return merge_into(scoring, rows, parts)


def merging_session(
    session: Session, arguments: Mapping[str, Any], paths: Sequence[Path], *, named: bool, **more: Any,
) -> Session:
    """The session of the whole run that the parts in `paths` are of. `arguments`: those of their manifest, with what has moved; `named`:
    whether the user named the configuration file, and not the parts; `more`: further fields of the session."""
    config_file = Path(str(arguments["config_file"])) if arguments.get("config_file") else None
    return session.task(
        "merge-shards", config=load(config_file, named=named), config_file=config_file,
        redact=session.redact or bool(arguments.get("redact")), graph_name=arguments.get("graph_name"),
        arguments={
            **{name: arguments[name] for name in PLACES if name in arguments}, **session.arguments,
            "answers": [str(Path(name)) for name in arguments.get("answers", ())], "parts": [str(path) for path in paths],
        },
        **more,
    )


def _unloaded(session: Session, options: ScoreOptions, metrics: Sequence[MetricInfo]) -> dict[str, OwnMetric]:
    """The metrics of the user's own code as the parts have them, by how they are written. No code is run that the parts name.

    Raises: InputError where the parts have more or fewer of them than they name.
    """
    from kgeval.metrics.own import unloaded_metric
    from kgeval.metrics.table import all_metrics

    section = session.config.metrics
    named = options.metrics or section.names
    written = list(dict.fromkeys(name for name in named if isinstance(name, str) and ":" in name))
    criteria = (*section.criteria, *(name for name in named if not isinstance(name, str)))
    known = {*all_metrics(), *(criterion.name for criterion in criteria)}
    own = [info for info in metrics if info.metric not in known]
    if len(own) != len(written):
        had = ", ".join(info.metric for info in own) or "none"
        what = f"the parts name {', '.join(written) or 'none'} as metrics of your own, and have {had}"
        raise InputError(what, fix="score the shards again, each metric named once")
    # both are in the order in which the run had them
    return {name: unloaded_metric(info, name) for name, info in zip(written, own, strict=True)}


def merge_into(scoring: Scoring, rows: Rows, parts: Sequence[ScorePart]) -> ScoreResult:
    """The result of a run from its parts. Raises: InputError for parts of something else."""
    scoring.infos, scoring.asking = list(parts[0].report.metrics), asking_of(parts)
    scoring.trials = int(whole_in(parts[0].report.run).get("trials", scoring.options.trials))
    _check_same(scoring, rows, parts)
    return finish(scoring, rows, partial(_fill, parts))


def run(session: Session, answers: Sequence[Path], options: ScoreOptions) -> ScoreResult:
    """Scores all rows, by several workers where the options name an executor. Raises: as score.run, and as `_spread`."""
    check_scores(options)
    if options.executor is None:
        return score.run(session, answers, options)
    scoring = prepare(session, answers, options)
    with scoring.open_rows() as rows:
        check(scoring, rows)
        return _spread(scoring, rows)


def check_scores(options: ScoreOptions) -> None:
    """Raises: UsageError for options that print something else than scores, which `kgeval score` alone does."""
    if looks := [name for name in ("explain", "sweep") if getattr(options, name)]:
        raise UsageError(
            f"{', '.join(looks)}: of the command kgeval score alone, which prints that instead of scores",
            fix="take it out of [score] in kgeval.toml, and give it to kgeval score",
        )


def _spread(scoring: Scoring, rows: Rows) -> ScoreResult:
    """Does the shards of the run by several workers, and puts them together. What is finished is kept, --resume goes on.

    Raises: InputError where a shard cannot be done, IncompleteError where one was lost.
    """
    from kgeval import __version__
    from kgeval.tables.score_parts import read_parts

    options, limits = scoring.options, scoring.session.limits
    workers = options.workers or 2
    count = options.shards or workers
    # no more than requests a minute: each worker's share of the rate is at least one, and together they would exceed it
    workers = min(workers, count, limits.rpm or workers)
    with _parts_folder(scoring) as folder:
        parts = [folder / f"{number}-of-{count}.jsonl" for number in range(1, count + 1)]
        shards = [_worker(scoring, limits, number, parts, workers) for number in range(1, count + 1)]
        _check_ended(_carried_out(scoring, shards, workers), folder if scoring.results else None)
        if options.ray_address:
            _import_journals(scoring.session.asking, parts)
        # the parts hold what an earlier run had: the merge reads them alone
        scoring.options = options.model_copy(update={"resume": False, "retry_errors": False})
        result = merge_into(scoring, rows, read_parts(parts, kgeval=__version__))
        if result.exit_code != INCOMPLETE:
            _remove(parts)
        return result


def asking_of(parts: Sequence[ScorePart]) -> AskingSummary:
    """What the asking of all parts came to, as one."""
    runs = [part.report.run for part in parts]
    return AskingSummary(
        stopped=any(whole_in(part.report.run).get("stopped") for part in parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        asked=asked_by(runs), server=next((run.server for run in runs if run.server is not None), None),
    )


def asked_by(runs: Sequence[RunManifest]) -> ModelUsage:
    """What several runs asked of models, added up."""
    from kgeval.manifest import ModelUsage

    refs: list[ModelRef] = []
    use: dict[tuple[str, str], ModelUse] = {}
    hashes: dict[str, str] = {}
    for run in runs:
        refs += [ref for ref in run.models if ref not in refs]
        hashes |= run.prompt_hashes
        for stage in run.model_use:
            key = (stage.stage, stage.model)
            use[key] = _sum(use[key], stage) if key in use else stage
    return ModelUsage(models=refs, use=[use[key] for key in sorted(use)], prompt_hashes=hashes)


def _sum(use: ModelUse, other: ModelUse) -> ModelUse:
    from kgeval.llm.account import COUNTS

    counts = {name: getattr(use, name) + getattr(other, name) for name in (*COUNTS, "seconds")}
    causes = {cause: use.failures.get(cause, 0) + other.failures.get(cause, 0) for cause in sorted({*use.failures, *other.failures})}
    cost = None if use.cost is None or other.cost is None else round(use.cost + other.cost, 6)
    paid = [one.earlier_cost for one in (use, other) if one.earlier_calls]
    earlier = None if not paid or None in paid else round(sum(filter(None, paid)), 6)
    seconds = round(counts["seconds"], 3)
    return use.model_copy(update={**counts, "seconds": seconds, "cost": cost, "earlier_cost": earlier, "failures": causes})


def _fill(parts: Sequence[ScorePart], scoring: Scoring, rows: Rows, file: ScoreFile) -> None:
    from kgeval.tables.score_parts import merged

    keeps = not (scoring.options.no_verdicts or scoring.session.redact)
    scored = merged(rows, parts, trials=scoring.trials, scored=lambda row: bool(scoring.selection.of(row)), verdicts=keeps)
    for scores, verdicts in scored:
        file.add(scores, verdicts)


def check_there(files: Sequence[Path | None]) -> None:
    """Raises: InputError naming every file that the parts read and that is gone."""
    gone = [f"{path}: no such file" for path in files if path is not None and not path.exists()]
    if gone:
        raise InputError("what the parts were made with cannot be used here", faults=gone, fix="name files that have moved")


def _check_same(scoring: Scoring, rows: Rows, parts: Sequence[ScorePart]) -> None:
    """Raises: InputError where the files, the configuration or the metrics are not those of the parts."""
    part, faults = parts[0].part, []
    if rows.digest() != part.rows:
        faults.append("the files have other rows than the parts were made from")
    asked_for, present = [metric.name for metric in scoring.selection.metrics], [info.metric for info in scoring.infos]
    if asked_for != present:
        faults.append(f"the parts have the metrics {', '.join(present)}; asked for are {', '.join(asked_for)}")
    if not faults and fingerprint(scoring, rows) != part.run:
        faults.append("levels of metrics or trials are not those of the parts")
    if faults:
        fix = "give the same files in the same order (--answers, --questions) and the same kgeval.toml (--config)"
        raise InputError("the parts do not belong to this run; nothing was written", fix=fix, faults=faults)


@contextmanager
def _parts_folder(scoring: Scoring) -> Iterator[Path]:
    """Where the parts go: beside the first result, where a later run finds them; without one, a folder that goes with this run."""
    from kgeval.tables.temporary import private_folder

    if not scoring.results:
        with private_folder("parts") as private:
            yield private
        return
    first = scoring.results[0]
    folder = first.with_name(f"{first.stem}.parts")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as cause:
        raise InputError(f"{folder}: cannot be made: {cause.strerror}", fix="choose a folder that is yours with -o") from cause
    yield folder.resolve()
    with suppress(OSError):
        folder.rmdir()  # where nothing is left in it


def _worker(scoring: Scoring, limits: Limits, number: int, parts: Sequence[Path], workers: int) -> Worker:
    """One shard for a worker: this run's options, with its share of the limits."""
    from kgeval.workflows.workers import Worker, passed_environment

    session, part, count = scoring.session, parts[number - 1], len(parts)
    asking = session.asking.model_copy(update=_share(limits, number, count, workers))
    if scoring.options.ray_address:
        asking = asking.model_copy(update={"journal": _journal_of(part)})
    whole = {"executor": None, "workers": None, "shards": None, "ray_address": None, "thresholds": (), "without_known": None}
    options = scoring.options.model_copy(update={"shard": f"{number}/{count}", **whole})
    task = {
        "session": session.portable() | {"outputs": [str(part)], "asking": asking.model_dump(mode="json")},
        "answers": [str(path) for path in scoring.wanted.answers], "options": options.model_dump(mode="json"),
    }
    return Worker(f"shard {number}/{count}", task, str(Path.cwd()), passed_environment())


def _share(limits: Limits, number: int, count: int, workers: int) -> dict[str, Any]:
    """What one shard may use: the money and the calls of the run are divided among all shards, the rates among those at work."""
    calls = limits.max_calls
    return {
        "max_concurrency": max(1, limits.concurrency // workers),
        "rpm": limits.rpm and max(1, limits.rpm // workers), "tpm": limits.tpm and max(1, limits.tpm // workers),
        # the first shards take what does not divide, so that the shares add up to the limit
        "max_calls": None if calls is None else calls // count + (number <= calls % count),
        "cost_limit": None if limits.cost_limit is None else limits.cost_limit / count,
    }


def _carried_out(scoring: Scoring, shards: Sequence[Worker], workers: int) -> list[EndedWorker]:
    from kgeval.workflows.ray_workers import run_ray
    from kgeval.workflows.workers import run_local

    say = scoring.session.say
    ended: list[EndedWorker] = []
    if scoring.options.executor == "ray":
        coming = run_ray(shards, workers=workers, go_on=_goes_on, address=scoring.options.ray_address)
    else:
        coming = run_local(shards, workers=workers, go_on=_goes_on)
    say(f"{len(shards)} shards, {workers} at a time")
    words: Mapping[int, str] = {0: "done", INCOMPLETE: "incomplete", 130: "interrupted"}
    for shard in coming:
        ended.append(shard)
        say(f"{shard.name}: {words.get(shard.code, 'failed')} ({len(ended)} of {len(shards)})")
    return ended


def _goes_on(ended: EndedWorker) -> bool:
    return ended.code in DONE


def _check_ended(ended: Sequence[EndedWorker], folder: Path | None) -> None:
    """Raises where a shard gave no part: what it said."""
    lost = [shard for shard in ended if shard.code not in DONE]
    if not lost:
        return
    first = next((shard for shard in lost if shard.code != 130), lost[0])
    kept = f"; what is finished is kept in {folder}" if folder is not None else ""
    lines = [line for line in first.messages.splitlines() if line.strip()]
    if first.code == 130:
        raise IncompleteError(f"{first.name} did not come to its end{kept}", fix="the same command with --resume goes on")
    what = f"{first.name} ended with exit code {first.code}{kept}; it said:"
    raise InputError(what, faults=lines[-10:], fix="fix that; the same command with --resume goes on")


def _journal_of(part: Path) -> Path:
    return part.with_suffix(".journal.sqlite")


def _import_journals(asking: ModelOptions, parts: Sequence[Path]) -> None:
    """Workers on other machines have journals of their own; their calls are this user's from now on."""
    from kgeval.llm.journal_import import import_calls
    from kgeval.llm.places import journal_file

    into = journal_file(asking.journal, asking.cache_dir)
    for part in parts:
        if _journal_of(part).exists():
            import_calls(into, _journal_of(part))


def _remove(parts: Sequence[Path]) -> None:
    """The parts are in the result: what was written for them goes."""
    from kgeval.tables.scores import files_of, partial_of

    for part in parts:
        journal = _journal_of(part)
        for path in (*files_of([part]), partial_of(part), *(Path(f"{journal}{end}") for end in ("", "-wal", "-shm", ".lock"))):
            path.unlink(missing_ok=True)
