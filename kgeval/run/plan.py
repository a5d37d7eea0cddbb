"""From the configuration to the stages of a run, in their order. Pure: nothing is read, started or asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from kgeval.config import Config
from kgeval.run.data import Axes, Data, Given, axes_of, flags, outputs_of
from kgeval.run.stages import Place, Stage, command_of

__all__ = ["Axes", "Given", "axes_of", "stages_of"]


def stages_of(given: Given) -> tuple[Stage, ...]:
    """All stages of a run, in an order in which each comes after what it needs. Left out are stages that [run] skip names, and those
    that nothing is configured for."""
    skipped = set(given.config.run.skip)
    axes = axes_of(given.config)
    made = [stage for dataset in axes.datasets for stage in _of_dataset(Data(given, dataset, axes), axes) if stage.kind not in skipped]
    if has_matrix(given.config) and "matrix" not in skipped:
        made += _matrix(given, made)
    if "report" not in skipped:
        made += _report(given, made)
    present = {stage.id for stage in made}
    return tuple(replace(stage, needs=tuple(need for need in stage.needs if need in present)) for stage in made)


def has_matrix(config: Config) -> bool:
    """True if something is crossed or taken out."""
    given = config.matrix
    return bool(given.datasets or given.readers or given.corpus or given.variants or config.ablations)


def _of_dataset(data: Data, axes: Axes) -> Iterator[Stage]:
    """Graphs, questions, answers, scores of one data set. Questions come from its first graph, which is therefore the first."""
    from kgeval.run.asking import answer_stages, question_stages
    from kgeval.run.graphs import graph_stages

    if data.has_graph:
        yield from graph_stages(data, data.base)
    yield from question_stages(data)
    for variant, share in product(axes.variants, axes.shares):
        place = Place(dataset=data.place.dataset, variant=variant.name if variant else None, share=share)
        if data.has_graph and place != data.base:
            yield from graph_stages(data, place)
        for reader in axes.readers:
            yield from answer_stages(data, place, reader)


def _matrix(given: Given, stages: Sequence[Stage]) -> Iterator[Stage]:
    """The tables over the whole matrix."""
    scored = [stage for stage in stages if stage.kind == "scores"]
    if scored:
        outputs = tuple(given.folder / f"matrix{ending}" for ending in (".json", ".html", ".md"))
        words = (*command_of("matrix"), str(given.folder), *outputs_of(outputs), *flags(given.config.run.options.get("matrix", {})))
        yield Stage("matrix", Place(), words, tuple(stage.id for stage in scored), outputs=outputs, gathers=True)


def _report(given: Given, stages: Sequence[Stage]) -> Iterator[Stage]:
    """The one report at the end."""
    outputs = tuple(given.folder / f"report{ending}" for ending in (".html", ".json", ".md"))
    config = ("-c", str(given.config_file)) if given.config_file else ()
    words = ("report", str(given.folder), *outputs_of(outputs), *flags(given.config.run.options.get("report", {})))
    if stages:
        needs = tuple(stage.id for stage in stages)
        yield Stage("report", Place(), words, needs, outputs=outputs, sections=("report",), unsaid=config, gathers=True)
