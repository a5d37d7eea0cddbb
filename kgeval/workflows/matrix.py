"""The scores of all places of a run beside each other, and what each change does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import CrossingOptions
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CrossedResult(Result):
    """Every metric by data set and as the mean over them, and what each change does. `report`: a CrossedReport."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a cell: place, system, metric, n, mean and its interval."""
        import pandas as pd

        rows = [cell.model_dump(mode="json") for cell in self.report.cells]
        return pd.DataFrame([{**row.pop("place"), **row} for row in rows])


def run(session: Session, folder: Path, options: CrossingOptions) -> CrossedResult:
    """The matrix of the run in the folder. Raises: UsageError for an output of another kind; InputError where there are no scores."""
    from kgeval.metrics.table import all_metrics
    from kgeval.records import CrossedReport
    from kgeval.reports.write import check_outputs
    from kgeval.workflows.pipeline.crossing import crossed
    from kgeval.workflows.pipeline.ledger import FILE, read_ledger

    check_outputs(session.outputs, CrossedReport)
    lower = [metric.name for metric in all_metrics().values() if metric.better == "lower"]
    ledger = read_ledger(folder / FILE)
    run = session.manifest(options, inputs=[folder / FILE] if (folder / FILE).is_file() else [], seed=options.seed)
    return CrossedResult(crossed(ledger, run, folder=folder, lower=lower, seed=options.seed))
