"""What `kgeval build` opens: the extractor, the schema, the embedder; and what its dry run shows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.models import limits_from_options, open_embedder_from_options, open_models_from_options, show_plan

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.text.build.run import Planned
    from kgeval.text.extract.mentions import Extractor
    from kgeval.text.extract.schema import Schema


def extractor_of(stack: ExitStack, config: Config, given: Mapping[str, Any], schema: Schema | None) -> Extractor:
    """The extractor that the options name. The model's session is closed by `stack`."""
    kind = given["extractor"]
    if kind == "model":
        from kgeval.text.extract.model import ModelExtractor

        models = stack.enter_context(open_models_from_options(config, "extractor", given))
        return ModelExtractor(models, schema, given["gleanings"])
    if kind == "spacy":
        from kgeval.text.extract.spacy_ import SpacyExtractor

        return SpacyExtractor(given["spacy_model"])
    if kind == "rules":
        from kgeval.text.extract.rules import RulesExtractor

        return RulesExtractor(given["nouns"], given["cooccurrence"])
    from kgeval.text.extract.triples import TriplesExtractor

    return TriplesExtractor(given["triples"])


def schema_of(graph: Graph, text: str | None) -> Schema | None:
    """The schema of a file, or the types and relation labels of a graph (`graph:NAME`)."""
    from kgeval.text.extract import schema

    if text is None:
        return None
    if not text.startswith("graph:"):
        return schema.from_file(Path(text))
    from kgeval.cli.common import say
    from kgeval.graph.queries import all_queries
    from kgeval.workflows.layouts import choose_layout

    name = text.removeprefix("graph:")
    layout = {"layout": choose_layout(graph, "auto", name, {}, say=say).model_dump()}
    types = [row["type"] for row in graph.read(all_queries()["entities-by-type"], layout) if row["type"]]
    labels = [row["type"] for row in graph.read(all_queries()["relations-by-type"], layout) if row["type"]]
    return schema.from_graph(name, types=types, labels=labels)


def embedder_of(stack: ExitStack, config: Config, given: Mapping[str, Any], stored: str | None) -> Embedder:
    """The embedder, closed by `stack`: of the flag, else of kgeval.toml, else the one (`stored`) that the graph was resolved with last."""
    name = given["embedding_model"] or config.model.embedding.name or stored
    return stack.enter_context(open_embedder_from_options(config, {**given, "embedding_model": name}))


def show_dry_run(planned: Planned, extractor: Extractor, config: Config, given: Mapping[str, Any]) -> None:
    """What a build would do: documents and chunks to extract, and for a model its calls, tokens and price."""
    from kgeval.llm.plan import Plan
    from kgeval.text.extract.model import ModelExtractor

    chunks = sum(len(sources) for sources in planned.sources)
    click.echo(f"would extract {chunks:,} chunks of {len(planned.documents):,} documents; {planned.unchanged:,} documents are unchanged")
    if not isinstance(extractor, ModelExtractor):
        click.echo("0 calls, 0 tokens: no model is asked; dry run: nothing was written")
        return
    stages = extractor.plan([source for sources in planned.sources for source in sources])
    show_plan(Plan(stages, limits_from_options(config, given)))
