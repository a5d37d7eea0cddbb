"""`kgeval annotate read`: filled sheets, or RAGChecker's file, as labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import Option, say
from kgeval.errors import InputError, UsageError
from kgeval.reports.write import check_replaced

if TYPE_CHECKING:
    from kgeval.comparison.people.label_files import Labels
    from kgeval.comparison.people.reading import Filled
    from kgeval.records import HumanLabel, SheetKey

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("sheets", nargs=-1, required=True, type=FILE)
@click.option("--key", type=FILE, metavar="FILE.json", help="The key that kgeval annotate sheet wrote.")
@click.option("-o", "--output", required=True, type=OUT, metavar="FILE.jsonl", help="The labels, one a line.")
@click.option(
    "--labels-format", "form", type=click.Choice(("sheet", "ragchecker")), default="sheet", show_default=True,
    help="sheet: CSV sheets and the labels that pages save; ragchecker: the human_labeled_data.json of RAGChecker.",
)
@click.option(
    "--write-answers", "answers", cls=Option, old="--answers", type=OUT, metavar="FILE.jsonl",
    help="With ragchecker: also write its answers.",
)
@click.option(
    "--write-questions", "questions", cls=Option, old="--questions", type=OUT, metavar="FILE.jsonl",
    help="With ragchecker: also write its questions with their right answers.",
)
def read(**options: Any) -> int:
    """Take the labels from SHEETS that people filled in (CSV, or the JSON that a page saves). Empty cells are counted, not refused.

    A label of a pair says by how much A is better than B (-2..2), whatever stood first on the sheet; of one answer it is its points.

    Exit codes: 0 done, 2 wrong input: all faults with file and line; then nothing is written.
    """
    outputs = [path for name in ("output", "answers", "questions") if (path := options[name]) is not None]
    check_replaced(outputs, [*options["sheets"], *([options["key"]] if options["key"] else [])])
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise UsageError("two outputs are one file", fix="name different files")
    return _foreign(options) if options["form"] == "ragchecker" else _filled(options)


def _filled(options: Mapping[str, Any]) -> int:
    from kgeval.comparison.people.reading import read_filled, read_key

    if options["key"] is None:
        raise UsageError("sheets cannot be read without their key", fix="give --key FILE, as kgeval annotate sheet wrote it")
    if options["answers"] or options["questions"]:
        raise UsageError("--write-answers and --write-questions are for --labels-format ragchecker", fix="leave them out")
    key = read_key(options["key"])
    filled = read_filled(options["sheets"], key)
    if not filled.labels:
        raise InputError("no sheet has a label yet", fix="give the sheets that people have filled in")
    _write(options["output"], filled.labels)
    _tell(filled, key)
    return 0


def _foreign(options: Mapping[str, Any]) -> int:
    from kgeval.comparison.people.label_files import read_labels
    from kgeval.files.answers import write_answers
    from kgeval.files.partial import private

    if options["key"] is not None:
        raise UsageError("--key is for sheets of kgeval", fix="leave it out")
    found: Labels = read_labels(options["sheets"], "ragchecker")
    _write(options["output"], found.labels)
    if options["answers"]:
        write_answers(options["answers"], found.answers)
        say(f"wrote {options['answers']}: {len(found.answers):,} answers")
    if options["questions"]:
        with private(options["questions"]) as file:
            file.writelines(question.model_dump_json(exclude_defaults=True) + "\n" for question in found.questions)
        say(f"wrote {options['questions']}: {len(found.questions):,} questions")
    for note in found.notes:
        say(note)
    return 0


def _write(path: Path, labels: Iterable[HumanLabel]) -> None:
    from kgeval.comparison.people.label_files import as_lines
    from kgeval.files.partial import private

    count = 0
    with private(path) as file:
        for line in as_lines(labels):
            file.write(line)
            count += 1
    say(f"wrote {path}: {count:,} labels")


def _tell(filled: Filled, key: SheetKey) -> None:
    for who, given in filled.given.items():
        say(f"{who}: {given:,} of {filled.asked[who]:,} labels")
    if filled.missing:
        say(f"no sheet of: {', '.join(filled.missing)} ({len(filled.missing)} of {len(key.first)} people)")
