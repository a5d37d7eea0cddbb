"""The parts of a scoring run that was done in shards: what each says of itself, and their rows in the order of the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kgeval.errors import InputError
from kgeval.records import Row, Score, ScoreReport, Verdict
from kgeval.tables.parts import FIX, gathered, notes_in, shard_in, whole_in
from kgeval.tables.plain import read_text
from kgeval.tables.score_forms import beside, fingerprint_of, is_folder, is_result, read_scores, read_verdicts, results_of
from kgeval.tables.shards import Groups, PartManifest, fingerprint_in, shard_of

Name = tuple[str, str, int | None]
# what the report, or what is kept, depends on
ALSO = ("seed", "against", "thresholds", "redact", "no_verdicts", "trials", "without_known", "cluster")


@dataclass(frozen=True)
class ScorePart:
    """A part: where its scores are, its own report, and what it says of itself."""

    path: Path
    report: ScoreReport
    part: PartManifest

    @property
    def notes(self) -> tuple[str, ...]:
        """What its session had to say."""
        return notes_in(self.report.run)


def read_parts(paths: Sequence[Path], *, kgeval: str) -> list[ScorePart]:
    """The parts in the order of their shards, checked against each other. `kgeval`: the version that merges.

    Raises: InputError with every fault of every part: unreadable, whole, doubled, missing, of another run or version, changed since.
    """
    return gathered(paths, _part, kgeval=kgeval, more=_changed)


def without_companions(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The parts among the paths: what was written beside one of them (`parts/*` names that too) is passed over."""
    named = list(dict.fromkeys(paths))
    others = {beside(path, name) for path in named if is_result(path) for name in ("run.json", "verdicts.jsonl", "summary.json")}
    return tuple(path for path in named if path not in others)


def _part(path: Path) -> ScorePart:
    report = _report(path)
    if not results_of(path).is_file():
        raise InputError(f"{results_of(path)}: no such file")
    run = report.run
    known = whole_in(run)
    also = tuple((name, str(run.arguments.get(name))) for name in ALSO)
    part = PartManifest(
        name=str(path), shard=shard_in(run), kgeval=run.kgeval, rows=str(known.get("rows")), run=str(known.get("run")),
        signatures=tuple(info.signature for info in report.metrics), also=also,
    )
    return ScorePart(path, report, part)


def _report(path: Path) -> ScoreReport:
    file = beside(path, "summary.json" if is_folder(path) else "run.json")
    if not file.is_file():
        raise InputError(f"{path}: is no part: {file.name} is missing beside it", fix=FIX)
    try:
        return ScoreReport.model_validate_json(read_text(file))
    except ValidationError as cause:
        raise InputError(f"{file}: is no summary of kgeval score", fix=FIX) from cause


def _changed(one: ScorePart) -> str | None:
    if one.part.shard is None or fingerprint_of(one.path) == fingerprint_in(one.part.run, one.part.shard):
        return None
    return f"{one.path}: its manifest does not belong to it"


class _Open:
    """One part while it is read: a group of scores and one of verdicts in memory."""

    def __init__(self, part: ScorePart, *, verdicts: bool) -> None:
        self.path = part.path
        # A shard without rows is no fault, and the readers refuse an empty file.
        empty = not results_of(part.path).stat().st_size or not any(info.answers for info in part.report.systems)
        self.scores = Groups(iter(()) if empty else read_scores(part.path), _name)
        self.verdicts = Groups(read_verdicts(part.path) if verdicts else iter(()), _name)


def merged(
    rows: Iterable[Row], parts: Sequence[ScorePart], *, trials: int, scored: Callable[[Row], bool], verdicts: bool = True,
) -> Iterator[tuple[list[Score], list[Verdict]]]:
    """The scores and verdicts of every row and trial, in the order in which a run without shards has them. `scored`: whether a row has
    any score at all. Memory: one row a part.

    Raises: InputError where a part lacks a row, or has more of them than its shard.
    """
    opened = [_Open(part, verdicts=verdicts) for part in parts]
    for row in rows:
        source = opened[shard_of(row.question.id, len(opened)) - 1]
        for trial in range(trials):
            name = (row.question.id, row.answer.system, row.answer.trial if row.answer.trial is not None else trial or None)
            scores = source.scores.take(name)
            if not scores and scored(row):
                what = f"{source.path}: the scores of '{name[0]}' by {name[1]} are not where they should be: the file was cut or changed"
                raise InputError(what, fix="run this shard again with --resume")
            yield scores, source.verdicts.take(name)
    more = [str(left.path) for left in opened if left.scores.key is not None or left.verdicts.key is not None]
    if more:
        raise InputError(f"scores or verdicts that belong to no row: {', '.join(more)}", fix="run these shards again")


def _name(record: Score | Verdict) -> Name:
    return record.question_id, record.system, record.trial
