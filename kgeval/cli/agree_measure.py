"""`kgeval annotate agreement` and `kgeval metrics correlate`: agreement in figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import common_session
from kgeval.cli.derive import flags_of, options_from
from kgeval.cli.show import report_options, show_report
from kgeval.config import AgreeOptions, CorrelationOptions

CONFIG = click.option("-c", "--config", "config_file", type=click.Path(path_type=Path), help="Configuration file (default: ./kgeval.toml).")


@click.command("agreement")
@click.argument("labels", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
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
