"""`kgeval stats`: statistics for people who have their own judge: plain files of scores and verdicts, no model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import flags_of, options_from
from kgeval.cli.show import report_options, show_report
from kgeval.config import (
    CorrectOptions,
    DriftOptions,
    PowerOptions,
    RankOptions,
    ScoreTableOptions,
    SequentialOptions,
    VerdictOptions,
)

if TYPE_CHECKING:
    from kgeval.workflows.session import Session
    from kgeval.workflows.stats import StatsResult

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
REPORT = report_options


@click.group()
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
    from kgeval.workflows import stats as workflow

    return _shown(workflow.paired(_session("paired", files, options), files, options_from(ScoreTableOptions, options)), options)


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
    from kgeval.workflows import stats as workflow

    return _shown(workflow.rank(_session("rank", files, options), files, options_from(RankOptions, options)), options)


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
    from kgeval.workflows import stats as workflow

    return _shown(workflow.judge(_session("judge", files, options), files, options_from(VerdictOptions, options)), options)


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
    from kgeval.workflows import stats as workflow

    return _shown(workflow.power(_session("power", files, options), files, options_from(PowerOptions, options)), options)


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
    from kgeval.workflows import stats as workflow

    return _shown(workflow.correct(_session("correct", files, options), files, options_from(CorrectOptions, options)), options)


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
    from kgeval.workflows import stats as workflow

    return _shown(workflow.aa(_session("aa", files, options), files, options_from(ScoreTableOptions, options)), options)


@stats.command()
@FILES
@flags_of(SequentialOptions)
@REPORT
def sequential(files: tuple[Path, ...], **options: Any) -> int:
    """Look as often as you like: an interval of win - loss that holds at every question, and when it was sure.

    The unit is the question. With --order file the questions must have come at random; sorted ones make the interval wrong.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.workflows import stats as workflow

    return _shown(workflow.sequential(_session("sequential", files, options), files, options_from(SequentialOptions, options)), options)


@stats.command()
@FILES
@click.option(
    "--anchors", required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="The labelled pairs: id, question, answer_a, answer_b, label.",
)
@flags_of(DriftOptions)
@REPORT
def drift(files: tuple[Path, ...], anchors: Path, **options: Any) -> int:
    """Did the judge move? Its verdicts (FILES) on a fixed set of labelled pairs, against people and against an earlier run.

    The question_id of a verdict is the anchor's id; the first system of a pair's first verdict is answer_a.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.workflows import stats as workflow

    session = _session("drift", files, options, anchors=str(anchors))
    return _shown(workflow.drift(session, files, anchors, options_from(DriftOptions, options)), options)


def _session(kind: str, files: tuple[Path, ...], options: dict[str, Any], **arguments: str) -> Session:
    """A session with the outputs; these commands read no kgeval.toml."""
    from kgeval.workflows.session import Session

    kept = {"files": [str(path) for path in files], "form": options["form"], **arguments}
    return Session(f"stats {kind}", outputs=options["outputs"], redact=options["redact"], arguments=kept, say=say)


def _shown(result: StatsResult, options: dict[str, Any]) -> int:
    show_report(result.report, options, options["outputs"])
    return result.exit_code
