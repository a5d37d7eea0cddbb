"""One report over everything that a run came to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import ReportOptions
from kgeval.errors import UsageError
from kgeval.workflows.result import Result, exit_code, gate_lines
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.overview.sources import Sources
    from kgeval.records import OverviewReport
    from kgeval.stats.thresholds import Threshold


@dataclass(frozen=True)
class ReportResult(Result):
    """One report over several. `report`: an OverviewReport: verdict, what to fix first, five scores, every figure, cost, gaps."""

    @property
    def messages(self) -> list[str]:
        """Gates that are missed or without an answer, and what is not complete."""
        return list(_messages(self.report))

    def to_pandas(self) -> pd.DataFrame:
        """A row a figure, with the fields that the JSON report has for it."""
        import pandas as pd

        return pd.DataFrame([figure.model_dump(mode="json") for figure in self.report.figures])


def run(session: Session, runs: Sequence[Path], options: ReportOptions) -> ReportResult:
    """The report over the reports in `runs`: folders and files. Options and the session's outputs are checked before anything is read.

    Raises: UsageError, InputError.
    """
    from kgeval.overview.build import Demands, overview
    from kgeval.overview.sources import read_sources
    from kgeval.reports.summaries import summary_of

    thresholds, outputs = parsed_thresholds(options.thresholds), session.outputs
    _check(runs, options, outputs)
    sources = read_sources(list(runs), session.spooled)
    baseline = read_sources(list(options.baseline), session.spooled) if options.baseline else None
    _check_sources(sources, outputs)
    read = [file for file in (*sources.files, *(baseline.files if baseline else ())) if file not in outputs]
    demands = Demands(options.title, options.fail_on, thresholds, fail_on_worse=options.fail_on_worse)
    report = _with_links(overview(sources, session.manifest(options, inputs=read), demands, summary_of, baseline=baseline), outputs)
    code = exit_code(report.gates, incomplete=not report.complete)
    return ReportResult(report.model_copy(update={"run": report.run.model_copy(update={"exit_code": code})}), redact=session.redact)


def parsed_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Raises: UsageError with every fault of all of them."""
    from kgeval.stats.thresholds import parse_thresholds, without_at

    fix = "write FIGURE>=X, FIGURE<=X, FIGURE=X or SYSTEM:FIGURE>=X; the JSON report lists the figures under `name`"
    return parse_thresholds(texts, without_at, fix=fix)


def _check(runs: Sequence[Path], options: ReportOptions, outputs: Sequence[Path]) -> None:
    from kgeval.records import OverviewReport
    from kgeval.reports.write import check_outputs

    check_outputs(outputs, OverviewReport, read=[path for path in (*runs, *options.baseline) if path.is_file()])
    if missing := [str(path) for path in (*runs, *options.baseline) if not path.exists()]:
        raise UsageError(f"{', '.join(missing)}: not there", fix="name folders of kgeval run, or report files")
    if options.fail_on_worse and not options.baseline:
        raise UsageError("--fail-on-worse needs a baseline", fix="give it with --baseline RUN")


def _check_sources(sources: Sources, outputs: Sequence[Path]) -> None:
    """Raises: UsageError where a report is to be made of its own kind alone, and where an output would replace a report that is read."""
    from kgeval.reports.write import check_replaced

    check_replaced(outputs, {source.file for source in sources.reports})
    if not sources.reports:
        names = ", ".join(str(path) for path, _ in sources.whole)
        raise UsageError(f"{names}: made by kgeval report itself", fix="give the reports that it was made of; it can be a --baseline")


def _with_links(report: OverviewReport, outputs: Sequence[Path]) -> OverviewReport:
    """The report with the pages of its sources as seen from the folder of the first page that is written."""
    page = next((path for path in outputs if path.suffix.lower() == ".html"), None)
    folder = str(page.parent if page is not None else Path())
    sources = [
        source if source.page is None else source.model_copy(update={"page": os.path.relpath(source.page, folder)})
        for source in report.sources
    ]
    return report.model_copy(update={"sources": sources})


def _messages(report: Any) -> Iterator[str]:
    """What a caller who looks at the exit code alone should know."""
    yield from gate_lines(report.gates)
    for stage in report.stages:
        if stage.state not in ("done", "missed"):
            yield f"not complete: stage {stage.id} ({stage.state.replace('_', ' ')})"
    for source in report.sources:
        if not source.complete:
            yield f"not complete: {source.file}: {source.reason}"
