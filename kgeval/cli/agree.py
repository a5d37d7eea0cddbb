"""`kgeval annotate`: people as judges of answers; and `kgeval metrics correlate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.derive import CommandGroup, HeadedCommand, flags_of, options_from
from kgeval.cli.options import session_from
from kgeval.cli.show import report_options, show_result
from kgeval.config import AgreeOptions, CorrelationOptions, ReadOptions, SheetOptions

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group(cls=CommandGroup)
def annotate() -> None:
    """People as judges of answers: blind sheets out, labels back in, how far people, metrics and judges agree."""


@annotate.command()
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Where the sheets go: NAME.csv and NAME.html for each annotator.",
)
@click.option(
    "--key", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.json",
    help="Which system is which on whose sheet. Keep it from the annotators: it must not lie in FOLDER.",
)
@flags_of(SheetOptions)
def sheet(answers: tuple[Path, ...], folder: Path, key: Path, **options: Any) -> int:
    """Write blind sheets of ANSWERS for people: a CSV file and a page that works offline for each of them.

    The sample is stratified by level (else type) and by difficulty: hops, else how far --scores lie apart. Systems have no names on the
    sheets, half of each person's pairs have either order, and items are dealt evenly. The same --seed gives the same sheets.

    Exit codes: 0 done, 2 wrong input, or files that are there already.
    """
    from kgeval.workflows.agree_sheets import write_sheets

    write_sheets(session_from("annotate sheet", options, outputs=()), answers, folder, key, options_from(SheetOptions, options))
    return 0


@annotate.command()
@click.argument("sheets", nargs=-1, required=True, type=FILE)
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.jsonl", help="The labels, one a line.",
)
@flags_of(ReadOptions)
def read(sheets: tuple[Path, ...], output: Path, **options: Any) -> int:
    """Take the labels from SHEETS that people filled in (CSV, or the JSON that a page saves). Empty cells are counted, not refused.

    A label of a pair says by how much A is better than B (-2..2), whatever stood first on the sheet; of one answer it is its points.

    Exit codes: 0 done, 2 wrong input: all faults with file and line; then nothing is written.
    """
    from kgeval.workflows.agree_sheets import read_sheets

    read_sheets(session_from("annotate read", options, outputs=()), sheets, output, options_from(ReadOptions, options))
    return 0


@annotate.command("agreement")
@click.argument("labels", nargs=-1, required=True, type=FILE)
@flags_of(AgreeOptions)
@report_options
def measure(labels: tuple[Path, ...], **options: Any) -> int:
    """How far people agree with each other, and metrics and judges with people.

    Which metric or judge is nearest is said per level and data set.

    LABELS are files of kgeval annotate read, or RAGChecker's human_labeled_data.json. For pairs the difference of two scores is compared
    with the preference. The other people stand beside everything as the ceiling. Every figure has its n and a 95 % interval over questions.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.workflows import agree

    session = session_from("annotate agreement", options, outputs=options["outputs"], labels=[str(path) for path in labels])
    return show_result(agree.run(session, labels, options_from(AgreeOptions, options)), options, session.outputs)


@click.command("correlate", cls=HeadedCommand)
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@flags_of(CorrelationOptions)
@report_options
def matrix(scores: tuple[Path, ...], **options: Any) -> int:
    """How every metric goes with every other, over all answers.

    SCORES are files of kgeval score, and tables of other tools with a row an answer and a column a metric, as ragas has them: their
    metrics are called "ragas: faithfulness". Also by data set, and for each pair of texts that metrics set side by side (answer and
    contexts, answer and reference, ...).

    Every cell has its n and a 95 % interval over questions. A metric that is always the same is named and has no correlation.

    Exit codes: 0 done, 2 wrong input, 3 nothing to compare: fewer than two metrics.
    """
    from kgeval.workflows import agree

    session = session_from("metrics correlate", options, outputs=options["outputs"], scores=[str(path) for path in scores])
    return show_result(agree.correlations(session, scores, options_from(CorrelationOptions, options)), options, session.outputs)
