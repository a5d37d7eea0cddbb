"""`kgeval annotate`: people as judges of answers; and `kgeval metrics correlate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of, options_from
from kgeval.cli.options import common_session
from kgeval.cli.show import report_options, show_report
from kgeval.config import AgreeOptions, CorrelationOptions, ReadOptions, SheetOptions

CONFIG = click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml).")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def annotate() -> None:
    """People as judges of answers: blind sheets out, labels back in, how far people, metrics and judges agree."""


@annotate.command(cls=HeadedCommand)
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
    from kgeval.workflows.session import Session

    write_sheets(Session("annotate sheet", say=say), answers, folder, key, options_from(SheetOptions, options))
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
    from kgeval.workflows.session import Session

    read_sheets(Session("annotate read", say=say), sheets, output, options_from(ReadOptions, options))
    return 0


@annotate.command("agreement")
@click.argument("labels", nargs=-1, required=True, type=FILE)
@flags_of(AgreeOptions)
@report_options
@CONFIG
def measure(labels: tuple[Path, ...], **options: Any) -> int:
    """How far people agree with each other, and metrics and judges with people.

    Which metric or judge is nearest is said per level and data set.

    LABELS are files of kgeval annotate read, or RAGChecker's human_labeled_data.json. For pairs the difference of two scores is compared
    with the preference. The other people stand beside everything as the ceiling. Every figure has its n and a 95 % interval over questions.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.workflows import agree

    with common_session("annotate agreement", options, outputs=options["outputs"], labels=[str(path) for path in labels]) as session:
        result = agree.run(session, labels, options_from(AgreeOptions, options))
    show_report(result.report, options, options["outputs"])
    return result.exit_code


@click.command("correlate")
@click.argument("scores", nargs=-1, required=True, type=click.Path(path_type=Path))
@flags_of(CorrelationOptions)
@report_options
@CONFIG
def matrix(scores: tuple[Path, ...], **options: Any) -> int:
    """How every metric goes with every other, over all answers.

    SCORES are files of kgeval score. Also by data set, and for each pair of texts that metrics set side by side (answer and contexts,
    answer and reference, ...).

    Every cell has its n and a 95 % interval over questions. A metric that is always the same is named and has no correlation.

    Exit codes: 0 done, 2 wrong input, 3 nothing to compare: fewer than two metrics.
    """
    from kgeval.workflows import agree

    with common_session("metrics correlate", options, outputs=options["outputs"], scores=[str(path) for path in scores]) as session:
        result = agree.correlations(session, scores, options_from(CorrelationOptions, options))
    show_report(result.report, options, options["outputs"])
    return result.exit_code
