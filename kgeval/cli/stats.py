"""`kgeval stats`: statistics for people who have their own judge: plain files of scores and verdicts, no model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.derive import CommandGroup, flags_of, options_from
from kgeval.cli.options import session_from
from kgeval.cli.show import report_options, show_result
from kgeval.config import (
    CorrectOptions,
    DriftOptions,
    PowerOptions,
    RankOptions,
    ScoreTableOptions,
    SequentialOptions,
    StatsOptions,
    VerdictOptions,
)

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
REPORT = report_options


@click.group(cls=CommandGroup)
def stats() -> None:
    """Statistics on your own scores and verdicts: pairs, order, the judge's biases, power, corrections by people. No model is asked."""


@stats.command()
@FILES
@flags_of(ScoreTableOptions)
@REPORT
def paired(files: tuple[Path, ...], **options: Any) -> int:
    """Systems on the same questions: differences with intervals, tests, effect sizes.

    FILES: kgeval's scores, long tables (question_id, system, score), wide ones (question_id and a column a system), or one file a system.
    Every two systems are compared on every metric; p Holm is corrected over all that is printed.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("paired", files, ScoreTableOptions, options)


@stats.command()
@FILES
@flags_of(RankOptions)
@REPORT
def rank(files: tuple[Path, ...], **options: Any) -> int:
    """Put systems in order by pairwise verdicts: Bradley-Terry with ties, intervals over questions, average win rates beside it.

    FILES: kgeval's verdicts, evalica CSV (left,right,winner), FastChat, benchmark-qed, judgekit, or any table with two systems and a
    winner. Where the wins do not connect the systems, no strengths exist, and the report says what separates them.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("rank", files, RankOptions, options)


@stats.command()
@FILES
@flags_of(VerdictOptions)
@REPORT
def judge(files: tuple[Path, ...], **options: Any) -> int:
    """What the verdicts say of the judge: preference for a position, winners that turn with the order, ties, repeats, length.

    Position needs a field that says which answer stood first (`first` or `swapped`; FastChat and benchmark-qed files have it); length
    needs the lengths in words (`length_a`, `length_b`).

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("judge", files, VerdictOptions, options)


@stats.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@flags_of(PowerOptions)
@REPORT
def power(files: tuple[Path, ...], **options: Any) -> int:
    """How many questions a difference needs, or what a number of questions can find.

    The spread of the questions' differences comes from --sd or from FILES of scores (a pilot). Without --n, the number of FILES is taken;
    without --difference, the difference seen in them.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("power", files, PowerOptions, options)


@stats.command()
@FILES
@flags_of(CorrectOptions)
@REPORT
def correct(files: tuple[Path, ...], **options: Any) -> int:
    """Correct a judge by few labels of people: PPI++ and Rogan-Gladen.

    FILES with a column of the judge (on every row, 0..1) and one of people (on few rows): the share is corrected. Verdict files with
    --labels: the relative win rate of each pair is corrected. The labelled rows must be drawn at random; hand-picked ones can turn the
    result round, and a test of selection warns where the judge's verdicts show it.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("correct", files, CorrectOptions, options)


@stats.command()
@FILES
@flags_of(ScoreTableOptions)
@REPORT
def aa(files: tuple[Path, ...], **options: Any) -> int:
    """A/A check: two independent runs of one system must not differ.

    FILES: the scores of both runs (a file each, or one with two systems), or verdicts of a judge between them. It is passed where the
    interval of the difference holds 0. With few questions a pass says little: see the smallest difference that would have been found.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("aa", files, ScoreTableOptions, options)


@stats.command()
@FILES
@flags_of(SequentialOptions)
@REPORT
def sequential(files: tuple[Path, ...], **options: Any) -> int:
    """Look as often as you like: an interval of win - loss that holds at every question, and when it was sure.

    The unit is the question. With --order file the questions must have come at random; sorted ones make the interval wrong.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("sequential", files, SequentialOptions, options)


@stats.command()
@FILES
@flags_of(DriftOptions, required=("anchors",))
@REPORT
def drift(files: tuple[Path, ...], **options: Any) -> int:
    """Did the judge move? Its verdicts (FILES) on a fixed set of labelled pairs, against people and against an earlier run.

    The question_id of a verdict is the anchor's id; the first system of a pair's first verdict is answer_a.

    Exit codes: 0 done, 2 wrong input.
    """
    return _done("drift", files, DriftOptions, options)


def _done(task: str, files: tuple[Path, ...], kind: type[StatsOptions], options: dict[str, Any]) -> int:
    """Does a task of workflows.stats and shows its result; these commands read no kgeval.toml. The exit code."""
    from kgeval.workflows import stats as workflow

    session = session_from(f"stats {task}", options, outputs=options["outputs"], files=[str(path) for path in files])
    result = getattr(workflow, task)(session, files, options_from(kind, options))
    return show_result(result, options, session.outputs)
