"""The rows that a task reads: users' files or objects, as the options say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kgeval.config import FilterOptions, QuestionFileOptions, RowOptions
from kgeval.errors import InputError, UsageError
from kgeval.records import Record

if TYPE_CHECKING:
    from kgeval.tables.question_rows import Questions
    from kgeval.tables.row_selection import Filters, RowSelection
    from kgeval.workflows.session import Session

STDIN = Path("-")
T = TypeVar("T", bound=Record)


def filters_of(options: FilterOptions) -> Filters:
    """The filters of the options."""
    from kgeval.tables.row_selection import Filters

    return Filters(
        limit=options.limit, sample=options.sample, seed=options.seed, ids=options.ids, levels=options.levels, kinds=options.kinds,
        datasets=options.datasets, documents=options.documents, hops=options.hops,
        systems=options.systems if isinstance(options, RowOptions) else (),
    )


def rows_wanted(answers: Sequence[Path], options: RowOptions, *, shard: str | None = None) -> RowSelection:
    """What open_rows shall read. Raises: UsageError for a shard of another form than K/N."""
    from kgeval.tables.row_selection import RowSelection
    from kgeval.tables.shards import parse_shard

    return RowSelection(
        answers=tuple(answers), questions=options.questions, maps=options.map, filters=filters_of(options),
        allow_missing=options.allow_missing, allow_duplicates=options.allow_duplicates, system=options.system,
        max_bad_rows=options.max_bad_rows, shard=parse_shard(shard) if shard else None,
    )


def questions_of(session: Session, path: Path, options: QuestionFileOptions) -> Questions:
    """The questions of a file, all checked; what was decided about it is said."""
    from kgeval.tables.question_rows import open_questions
    from kgeval.tables.row_selection import Filters, RowSelection

    questions = open_questions(RowSelection(
        (), questions=path, maps=options.map, filters=Filters(limit=getattr(options, "limit", None)),
        allow_duplicates=options.allow_duplicates, max_bad_rows=options.max_bad_rows,
    ))
    for note in questions.notes:
        session.say(note)
    return questions


def names_of(session: Session, files: Sequence[Path], done: str) -> list[str]:
    """How one or two files are called: by name, or by path where both have one name; rows that are objects as the session calls them.
    `done`: with one set, for the message.

    Raises: UsageError for more files.
    """
    if len(files) > 2:
        raise UsageError(f"{len(files)} files: one set is {done}, or two are set side by side", fix="give one file or two")
    names = ["stdin" if path == STDIN else session.spooled.get(path, path.name) for path in files]
    return names if len(set(names)) == len(names) else [str(path) for path in files]


def read_record(path: Path, record: type[T], what: str, *, fix: str, most: int | None = None) -> T:
    """A file that kgeval has written before. `what` it should be; `most`: faults that are shown.

    Raises: InputError for a file that cannot be read, or is none.
    """
    from pydantic import ValidationError

    from kgeval.config import explain
    from kgeval.tables import read_json

    try:
        return record.model_validate(read_json(path))
    except ValidationError as cause:
        raise InputError(f"{path}: {what}: {'; '.join(explain(cause)[:most])}", fix=fix) from cause


def check_places(outputs: Sequence[Path], wanted: RowSelection, *beside: Path | None) -> None:
    """That no output replaces a file which the run reads. `beside`: further files that are read.

    Raises: UsageError, also for `-o -`.
    """
    from kgeval.reports.write import check_replaced
    from kgeval.tables.scores import files_of, is_result

    if STDIN in outputs:
        raise UsageError("-o -: an output is a file or a folder", fix="-f json prints the report; -o scores.jsonl writes the scores")
    files = [*files_of(outputs), *(path for path in outputs if not is_result(path))]
    check_replaced(files, [*wanted.answers, wanted.questions, *beside])
