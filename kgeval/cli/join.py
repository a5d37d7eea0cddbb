"""`kgeval merge-shards`: the shards of a run put together, to the result that one run without shards gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.compare import show_comparison
from kgeval.cli.derive import HeadedCommand
from kgeval.cli.options import session_from
from kgeval.cli.score import show_scores
from kgeval.cli.show import report_options_of
from kgeval.config import Config
from kgeval.errors import InputError, UsageError

PATH = click.Path(path_type=Path)

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
ANSWERS = click.Path(path_type=Path)


@click.command("merge-shards", cls=HeadedCommand)
@click.argument("parts", nargs=-1, required=True, type=PATH)
@click.option("--answers", multiple=True, type=ANSWERS, help="The ANSWERS, where they are not where the parts read them (repeatable).")
@click.option("--questions", type=FILE, metavar="FILE", help="The questions, where they are not where the parts read them.")
@click.option("--audit", type=FILE, metavar="JSON", help="The audit report, where it is not where the parts read it.")
@click.option("-c", "--config", "config_file", type=PATH, help="Configuration file (default: as the parts had it).")
@click.option("--import-journal", "journals", multiple=True, type=PATH, help="Take the calls of a part's own journal over (repeatable).")
@click.option("--journal", type=PATH, help="Where they go, and where a comparison looks replies up [default: the cache folder].")
@report_options_of(
    "Scores: .jsonl .csv .parquet or DIR/; verdicts: .jsonl or DIR/; report: .html .md .json .xml", ("text", "json", "md", "html", "xml"),
)
def join(parts: tuple[Path, ...], **given: Any) -> int:
    """Put the PARTS of one run together: result files (or run folders) of kgeval score, or verdict files (or run folders) of kgeval
    compare, with --shard 1/N to N/N.

    Scores, verdicts and summary are the same, byte for byte, as those of one run without --shard. Nothing is asked, scored or judged,
    but the files that the parts read are read again. Parts that are missing, doubled, of other files or settings, or of another kgeval
    are refused, all faults at once.

    Exit codes: 0 done, 1 a --threshold of the parts is missed, 2 wrong input, 3 a part is incomplete, 130 interrupted.
    """
    from kgeval.tables.score_forms import command_of
    from kgeval.tables.score_parts import without_companions

    paths = without_companions(parts)
    kind = next((found for path in paths if (found := command_of(path)) is not None), "score")  # who joins names the parts that are none
    if kind not in ("score", "compare"):
        raise InputError(f"parts of kgeval {kind} cannot be joined", fix="give parts of: score, compare")
    _import_journals(given["journals"], given["journal"])
    return _join_comparisons(paths, given) if kind == "compare" else _join_scores(paths, given)


def _join_scores(paths: Sequence[Path], given: dict[str, Any]) -> int:
    from kgeval.workflows.score_parts import merge

    session = session_from("merge-shards", given, outputs=given["outputs"], config=Config())  # the parts say which file was read
    result = merge(session, paths, {name: given[name] for name in ("answers", "questions", "audit", "config_file")})
    return show_scores(result, {**given, "redact": bool(result.report.run.arguments.get("redact"))}, session.outputs)


def _join_comparisons(paths: Sequence[Path], given: dict[str, Any]) -> int:
    from kgeval.workflows.compare_parts import merge

    if given["audit"]:
        raise UsageError("--audit is for parts of kgeval score", fix="leave it out")
    session = session_from("merge-shards", given, outputs=given["outputs"], config=Config())  # the parts say which file was read
    moved = {name: given[name] for name in ("answers", "questions", "config_file")}
    result = merge(session, paths, moved, journal=given["journal"], imported=bool(given["journals"]))
    return show_comparison(result, {**given, "redact": bool(result.report.run.arguments.get("redact"))}, session.outputs)


def _import_journals(journals: Sequence[Path], into: Path | None) -> None:
    from kgeval.llm.journal_import import import_calls
    from kgeval.llm.places import journal_file

    for path in journals:
        say(f"{path}: calls taken over into the journal: {import_calls(journal_file(into), path):,}")
