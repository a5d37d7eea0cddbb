"""The stages about a graph: it is made where it has a source, audited, and held against gold. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.run.data import Data, Work, flags
from kgeval.run.stages import Place, Stage

FORMS = (".json", ".html")


def graph_stages(data: Data, place: Place) -> Iterator[Stage]:
    """The stages of the graph at one place."""
    made = _made(data, place)
    if made is not None:
        yield made
    needs = (made.id,) if made is not None else ()
    flags_of_graph = data.graph_flags(place)
    for kind, words, sections, asks in _looked_at(data):
        yield data.stage(kind, place, Work(
            (*words, *flags_of_graph), outputs=tuple(data.at(place, f"{kind}{form}") for form in FORMS), needs=needs,
            inputs=(data.gold,) if data.gold and kind == "completeness" else (), sections=("graph", "report", *sections), asks=asks,
        ))


def graph_ids(data: Data, place: Place) -> tuple[str, ...]:
    """The stages that must be done before a graph can be used."""
    made = _made(data, place)
    return (made.id,) if made is not None else ()


def _looked_at(data: Data) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], bool]]:
    """Kind, first words, sections of the configuration, whether a model may be asked."""
    yield "audit", (), ("audit",), False
    if data.gold is not None:
        yield "completeness", ("--gold", str(data.gold)), ("model", "completeness"), True
    if data.config.gold.sample:
        yield "accuracy", ("--n", str(data.config.gold.sample)), ("model", "accuracy"), True


def _made(data: Data, place: Place) -> Stage | None:
    """The stage that writes the graph; null where it is there already."""
    name = data.graph_name(place)
    if name is None or not (data.documents or data.files):
        return None
    source = data.config.source
    if data.documents:
        variant = data.variants.get(place.variant or "")
        options = {**source.options, **(variant.options if variant else {})}
        words = (*map(str, data.documents), "--graph", name, *flags(options), *_share(data, place), *data.given.connection)
        needs = tuple(_questions_id(data)) if place != data.base and place.share is not None else ()
        return data.stage("build", place, Work(
            words, outputs=(data.at(place, "build.json"),), needs=needs, inputs=tuple(data.documents), sections=("graph", "model", "build"),
            asks=True, makes=name,
        ))
    words = (*map(str, data.files), "--graph", name, *flags(source.options), *data.given.connection)
    return data.stage("import", place, Work(words, inputs=tuple(data.files), sections=("graph",), makes=name))


def _share(data: Data, place: Place) -> tuple[str, ...]:
    """Which part of the documents; those that the questions name are in every part."""
    if place.share is None or place.share == 1:
        return ()
    keep = ("--keep", str(data.questions)) if data.questions is not None else ()
    return ("--share", f"{place.share:g}", *keep)


def _questions_id(data: Data) -> Iterator[str]:
    if data.makes_questions:
        yield "/".join((*data.place.parts, "questions"))
