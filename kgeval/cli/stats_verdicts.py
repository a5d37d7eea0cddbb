"""`kgeval stats rank`, `judge`, `sequential`: verdicts of a pairwise judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kgeval.cli.stats_options import FILE, begin, common_options, finish, notes_of, read_files, verdict_options, verdicts_of
from kgeval.cli.stats_scores import cautions
from kgeval.errors import UsageError


@click.command()
@verdict_options
@click.option(
    "--ties", type=click.Choice(["model", "half"]), default="model", show_default=True,
    help="Ties as a part of the model (Newman), or as half a win for both.",
)
@click.option(
    "--export", type=FILE, metavar="FILE", help="Also write the single outcomes as evalica CSV: left,right,winner,question_id.",
)
@common_options()
def rank(**options: Any) -> int:
    """Put systems in order by pairwise verdicts: Bradley-Terry with ties, intervals over questions, average win rates beside it.

    FILES: kgeval's verdicts, evalica CSV (left,right,winner), FastChat, benchmark-qed, judgekit, or any table with two systems and a
    winner. Where the wins do not connect the systems, no strengths exist, and the report says what separates them.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.comparison.given.verdicts import ranking_of
    from kgeval.comparison.results.pair import pair_results, with_holm

    started = begin("rank", options)
    _check_export(options)
    found, tables = verdicts_of(options)
    seed, confidence = options["seed"], options["confidence"]
    pairs = with_holm(
        one for table in tables.tables
        for one in pair_results(table, seed=seed, by=("all",), aspects=("overall",), pairs=len(tables.tables), confidence=confidence)
    )
    ranking = ranking_of(tables.tables, seed=seed, confidence=confidence, half=options["ties"] == "half")
    missing = {" - ".join(pair): gone for pair, gone in tables.lacking.items()} if not found.by_row else {}
    parts = {"ranking": ranking, "pairs": pairs, "missing": missing, "notes": [*notes_of(found, tables), *cautions(pairs)]}
    if options["export"] is not None:
        from kgeval.comparison.given.outcomes import single_outcomes
        from kgeval.files.duel_files import write_duels

        write_duels(options["export"], single_outcomes(tables.tables))
    return finish(started, "rank", options, parts, found.rows)


def _check_export(options: Mapping[str, Any]) -> None:
    """Raises: UsageError for a file of --export that is no CSV, cannot be written, or is read."""
    from kgeval.reports.write import blocked, check_replaced

    path: Path | None = options["export"]
    if path is None:
        return
    if path.suffix.lower() != ".csv":
        raise UsageError(f"--export {path}: unknown ending", fix="name a file that ends in .csv")
    if path in options["outputs"]:
        raise UsageError(f"--export and -o name one file: {path}", fix="name two files")
    if why := blocked(path):
        raise UsageError(f"--export {path}: {why}", fix="name another file")
    check_replaced([path], read_files(options))


@click.command()
@verdict_options
@common_options(confidence=False)
def judge(**options: Any) -> int:
    """What the verdicts say of the judge: preference for a position, winners that turn with the order, ties, repeats, length.

    Position needs a field that says which answer stood first (`first` or `swapped`; FastChat and benchmark-qed files have it); length
    needs the lengths in words (`length_a`, `length_b`).

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.comparison.given.verdicts import judge_reports

    started = begin("judge", options)
    found, tables = verdicts_of(options)
    reports = judge_reports(tables, found.verdicts, seed=options["seed"])
    return finish(started, "judge", options, {"judge": reports, "notes": notes_of(found, tables)}, found.rows)


@click.command()
@verdict_options
@click.option("--tie-region", type=float, default=0.1, show_default=True, metavar="R", help="Win - loss from -R to R counts as equal.")
@click.option(
    "--order", type=click.Choice(["random", "file"]), default="random", show_default=True,
    help="Questions in random order by --seed, or as the file has them.",
)
@click.option("--least", type=click.IntRange(min=1), default=20, show_default=True, help="Questions before anything is decided.")
@common_options()
def sequential(**options: Any) -> int:
    """Look as often as you like: an interval of win - loss that holds at every question, and when it was sure.

    The unit is the question. With --order file the questions must have come at random; sorted ones make the interval wrong.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.comparison.given.verdicts import sequence_of

    started = begin("sequential", options)
    if not 0 <= options["tie_region"] < 1:
        raise UsageError(f"--tie-region {options['tie_region']:g} is not from 0 to below 1", fix="e.g. --tie-region 0.1")
    found, tables = verdicts_of(options)
    made = [
        sequence_of(
            table, seed=options["seed"], confidence=options["confidence"], tie_region=options["tie_region"], order=options["order"],
            least=options["least"],
        ) for table in tables.tables
    ]
    return finish(started, "sequential", options, {"sequences": made, "notes": notes_of(found, tables)}, found.rows)
