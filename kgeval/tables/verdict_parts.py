"""The parts of a comparison that was judged in shards: what each says of itself, and their verdicts as the whole run asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kgeval.errors import InputError
from kgeval.records import ComparisonVerdict, RunManifest
from kgeval.tables.parts import FIX, gathered, notes_in, shard_in, whole_in
from kgeval.tables.plain import read_text
from kgeval.tables.score_forms import beside, is_folder, read_lines
from kgeval.tables.shards import Groups, PartManifest, shard_of

Name = tuple[str, str, str, str, int]
# what the report, or what is kept, depends on beside the signature
ALSO = (
    "seed", "against", "pairs", "self_checks", "trials", "repeats", "trial_kind", "meaning_sample", "baseline_biased", "contrast", "labels",
    "thresholds", "drill", "redact", "max_error_rate", "without_known",
)


@dataclass(frozen=True)
class VerdictPart:
    """A part: its verdict file or run folder, its manifest, and what it says of itself."""

    path: Path
    run: RunManifest
    part: PartManifest

    @property
    def verdicts(self) -> Path:
        """The file with the verdicts."""
        return self.path / "verdicts.jsonl" if is_folder(self.path) else self.path

    @property
    def notes(self) -> tuple[str, ...]:
        """What its session with the judge had to say."""
        return notes_in(self.run)

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return whole_in(self.run).get("complete") is True


def read_verdict_parts(paths: Sequence[Path], *, kgeval: str) -> list[VerdictPart]:
    """The parts in the order of their shards, checked against each other. `kgeval`: the version that joins.

    Raises: InputError with every fault of every part: unreadable, whole, doubled, missing, of another run or version.
    """
    return gathered(paths, _part, kgeval=kgeval)


def _part(path: Path) -> VerdictPart:
    file = beside(path, "run.json")
    if not file.is_file():
        raise InputError(f"{path}: is no part: {file.name} is missing beside it", fix=FIX)
    try:
        run = RunManifest.model_validate_json(read_text(file))
    except ValidationError as cause:
        raise InputError(f"{file}: is no manifest of kgeval compare", fix=FIX) from cause
    if run.command != "compare":
        raise InputError(f"{path}: is a part of kgeval {run.command}, the others are of kgeval compare", fix=FIX)
    known = whole_in(run)
    part = PartManifest(
        name=str(path), shard=shard_in(run), kgeval=run.kgeval, rows=str(known.get("rows")), run=str(known.get("run")),
        signatures=(str(known.get("signature")),), also=tuple((name, str(run.arguments.get(name))) for name in ALSO),
    )
    verdict_part = VerdictPart(path, run, part)
    if not verdict_part.verdicts.is_file():
        raise InputError(f"{verdict_part.verdicts}: no such file", fix=FIX)
    return verdict_part


class MergedVerdicts:
    """The verdicts of all parts, taken in the order of the whole run. Memory: one question and trial a part. Raises: InputError for a
    line that is no verdict."""

    def __init__(self, parts: Sequence[VerdictPart]) -> None:
        self._paths = [part.verdicts for part in parts]
        # A shard without questions has an empty file, which `read_lines` refuses.
        self._opened = [Groups(read_lines(path, ComparisonVerdict) if path.stat().st_size else iter(()), _name) for path in self._paths]

    def take(self, name: Name) -> tuple[ComparisonVerdict, ...]:
        """What was said of (procedure, A, B, question, trial).

        Raises: InputError where the part of this question has something else there, or nothing.
        """
        index = shard_of(name[3], len(self._opened)) - 1
        verdicts = self._opened[index].take(name)
        if not verdicts:
            what = f"{self._paths[index]}: verdicts are not where they should be, on '{name[3]}' ({name[1]} and {name[2]}, {name[0]}, "
            fix = "judge this shard again: its replies are in the journal"
            raise InputError(f"{what}trial {name[4]}): the file was cut or changed", fix=fix)
        return tuple(verdicts)

    def check_end(self) -> None:
        """Raises: InputError where a part has more than its shard."""
        more = [str(path) for path, groups in zip(self._paths, self._opened, strict=True) if groups.key is not None]
        if more:
            raise InputError(f"verdicts that belong to no question: {', '.join(more)}", fix="judge these shards again")


def _name(one: ComparisonVerdict) -> Name:
    return one.procedure, one.system_a, one.system_b, one.question_id, one.trial
