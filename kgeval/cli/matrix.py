"""`kgeval matrix`: the scores of all places of a run beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import arguments
from kgeval.cli.show import report_options_of, show_report


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of intervals and tests.")
@report_options_of("Report: .html .md .json", ("text", "json", "md", "html"))
def matrix(folder: Path, **options: Any) -> int:
    """Every metric of a run of `kgeval run` in FOLDER, by data set and as the mean over them; and what each change does.

    A change is one thing: a setting of a system (an ablation), the graph's construction, the share of the corpus, the reader. Its effect
    is the mean of paired differences, with its interval and a corrected p.

    Exit codes: 0 done, 2 no run there, or no scores.
    """
    from kgeval.manifest import Started
    from kgeval.metrics.table import all_metrics
    from kgeval.records import CrossedReport
    from kgeval.reports.write import check_outputs
    from kgeval.run.crossing import crossed
    from kgeval.run.ledger import FILE, read_ledger

    started = Started("matrix", arguments({"folder": folder, **options}))
    check_outputs(options["outputs"], CrossedReport)
    lower = [metric.name for metric in all_metrics().values() if metric.better == "lower"]
    ledger = read_ledger(folder / FILE)
    run = started.manifest(inputs=[folder / FILE] if (folder / FILE).is_file() else [], seed=options["seed"])
    report = crossed(ledger, run, folder=folder, lower=lower, seed=options["seed"])
    show_report(report, options, options["outputs"])
    return 0
