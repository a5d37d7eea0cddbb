"""What models were asked in all of a run: by kind of report and stage, from the manifests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgeval.overview.sources import Source
from kgeval.records import AnswerReport, IndexRecord, ModelUse, OverviewCost

UNTOLD = "not told"


def costs_of(sources: Iterable[Source]) -> list[OverviewCost]:
    """Each source's use of models. Where a manifest names none, what a build or the answers themselves tell."""
    return [
        OverviewCost(kind=source.kind, place=source.place, use=use, source=str(source.file)) for source in sources for use in _used(source)
    ]


def _used(source: Source) -> Sequence[ModelUse]:
    record = source.record
    if record.run.model_use or not isinstance(record, IndexRecord | AnswerReport):
        return record.run.model_use
    if isinstance(record, IndexRecord) and record.use:
        return record.use
    return [
        ModelUse(
            stage=system.system, model=UNTOLD, calls=system.calls or 0, input_tokens=system.input_tokens or 0,
            output_tokens=system.output_tokens or 0, cost=system.cost,
        )
        for system in (record.systems if isinstance(record, AnswerReport) else [record])
        if system.calls or system.input_tokens or system.output_tokens
    ]


def total(costs: Sequence[OverviewCost]) -> ModelUse:
    """The sum. `cost`: of those with a known price; null where none has one."""
    uses = [cost.use for cost in costs]
    uses = [use.in_all for use in uses]
    known = [use.cost for use in uses if use.cost is not None]
    return ModelUse(
        stage="all", model="all", calls=sum(use.calls for use in uses), from_journal=sum(use.from_journal for use in uses),
        input_tokens=sum(use.input_tokens for use in uses), output_tokens=sum(use.output_tokens for use in uses),
        cost=sum(known) if known else None, seconds=sum(use.seconds for use in uses),
    )
