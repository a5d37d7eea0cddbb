"""`kgeval matrix`: the scores of all places of a run beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import flags_of, options_from
from kgeval.cli.show import report_options, show_report
from kgeval.config import CrossingOptions


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@flags_of(CrossingOptions)
@report_options
def matrix(folder: Path, **options: Any) -> int:
    """Every metric of a run of `kgeval run` in FOLDER, by data set and as the mean over them; and what each change does.

    A change is one thing: a setting of a system (an ablation), the graph's construction, the share of the corpus, the reader. Its effect
    is the mean of paired differences, with its interval and a corrected p.

    Exit codes: 0 done, 2 no run there, or no scores.
    """
    from kgeval.workflows import matrix as workflow
    from kgeval.workflows.session import Session

    arguments = {"form": options["form"], "folder": str(folder)}
    session = Session("matrix", outputs=options["outputs"], redact=options["redact"], say=say, arguments=arguments)
    result = workflow.run(session, folder, options_from(CrossingOptions, options))
    show_report(result.report, options, options["outputs"])
    return result.exit_code
