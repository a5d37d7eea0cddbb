"""Questions that a model answers without any text, as `kgeval contamination` names them: a run's figures are given without them [K 6.3]."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kgeval.errors import InputError
from kgeval.format import plural
from kgeval.records import ContaminationReport
from kgeval.tables.plain import loads, read_text

FIX = "give the .json report of kgeval contamination, or the ids that its --marked writes, one a line"


@dataclass(frozen=True)
class KnownQuestions:
    """The ids in a file. `closed_book`, `metric`: who answered them, and by which metric right; None where the file has ids alone. `lost`:
    answerable questions that the closed book was never asked, or whose answer was not scored: they may be known, and nobody can say."""

    file: Path
    ids: frozenset[str]
    closed_book: str | None = None
    metric: str | None = None
    lost: int = 0

    def among(self, questions: Collection[str], *, part: bool = False) -> list[str]:
        """Those of a run's questions that are known, in their order. `part`: the run is one shard, which may have none, or no others.

        Raises: InputError where the file is about other questions, and where nothing would be left.
        """
        known = [name for name in questions if name in self.ids]
        if self.ids and not known and not part:
            what = f"{self.file}: none of its {plural(len(self.ids), 'question')} is a question of this run"
            raise InputError(what, fix="give the file for these questions, or leave --without-known out")
        if known and len(known) == len(questions) and not part:
            what = f"{self.file}: it names all {plural(len(known), 'question')} of this run, so that nothing is left to measure"
            raise InputError(what, fix="ask questions that the model cannot know, or leave --without-known out")
        return known

    def plan_line(self, left_out: int, questions: int) -> str:
        """What a dry run says: nothing is saved, so that both figures can be given."""
        return (
            f"--without-known: {left_out:,} of {plural(questions, 'question')} are known; they are judged too and counted here, so that "
            "the report gives its figures with and without them"
        )


def read_known(path: Path) -> KnownQuestions:
    """The known questions of a file. Raises: InputError for a file that cannot be read, or is another one."""
    if path.suffix != ".json" and path.is_file() and not path.stat().st_size:
        return KnownQuestions(path, frozenset())  # what --marked writes where the closed book answers nothing
    text = read_text(path)
    if not text.lstrip().startswith("{"):
        return KnownQuestions(path, frozenset(line.strip() for line in text.splitlines() if line.strip()))
    try:
        report = ContaminationReport.model_validate(loads(text))
    except (ValidationError, ValueError, RecursionError) as cause:
        raise InputError(f"{path}: no report of kgeval contamination", fix=FIX) from cause
    lost = report.missing + sum(report.accuracy.failures.values())
    return KnownQuestions(path, frozenset(report.marked), report.closed_book, report.metric, lost)
