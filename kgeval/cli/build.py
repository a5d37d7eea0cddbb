"""`kgeval build`: makes a graph from documents in Neo4j, or brings it up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import as_json, connection_options, open_from_options, say
from kgeval.cli.import_ import load_progress
from kgeval.cli.models import embedding_options, limit_options, model_options
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.records import IndexRecord
    from kgeval.text.build.resolve import Rules
    from kgeval.text.documents import Documents

EXTRACTORS = ("model", "spacy", "rules", "triples-file")


@click.command()
@click.argument("docs", nargs=-1, metavar="[DOCS]...", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--graph", "name", required=True, help="The graph's name: one more label on its nodes, so that several live in one database.")
@click.option(
    "--extractor", type=click.Choice(EXTRACTORS), default="model", show_default=True,
    help="Who finds entities and relations: a language model; a spaCy pipeline; fixed rules; a file of your own triples.",
)
@click.option("--triples", type=click.Path(path_type=Path), help="The file of --extractor triples-file.")
@click.option("--spacy-model", default="en_core_web_sm", show_default=True, metavar="NAME", help="Pipeline of --extractor spacy.")
@click.option("--nouns", type=click.IntRange(min=1), metavar="N", help="--extractor rules: also common nouns used N times in a document.")
@click.option("--cooccurrence", is_flag=True, help="--extractor rules: also join neighbouring names of a sentence.")
@click.option("--chunk-size", type=click.IntRange(16, 100_000), default=600, show_default=True, help="Tokens of a chunk, at most.")
@click.option("--chunk-overlap", type=click.IntRange(0, 100_000), default=100, show_default=True, help="Tokens that neighbours share.")
@click.option(
    "--context-sentences", type=click.IntRange(0, 50), default=3, show_default=True,
    help="Sentences before a chunk that the model also sees, to know who \"she\" is.",
)
@click.option("--gleanings", type=click.IntRange(0, 10), default=0, show_default=True, help="Times the model is asked for what it missed.")
@click.option("--schema", metavar="FILE|graph:NAME", help="Allowed types and relation labels: a file, or those of a graph that is there.")
@click.option(
    "--resolve", "levels", metavar="LEVELS", help="Which names become one entity: exact,normalised,alias,embedding "
    "[default: the graph's own, else exact,normalised,alias].",
)
@click.option(
    "--similarity", type=click.FloatRange(0.5, 1), help="Least cosine of the embedding level [default: the graph's own, else 0.9].",
)
@click.option(
    "--merge-across-types/--no-merge-across-types", "across_types", default=None,
    help="One name is one entity, whatever its types [default: the graph's own, else no].",
)
@click.option(
    "--share", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
    help="Only this share of the documents, drawn by --seed; a smaller share is part of a larger one.",
)
@click.option("--keep", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="QUESTIONS",
              help="With --share: the documents that this question file names are in every share.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Of --share.")
@click.option("--remove", multiple=True, metavar="DOC_ID", help="Take this document and what only came from it out (repeatable).")
@click.option("--replace", is_flag=True, help="Delete the graph of this name first (only its own nodes; merges taken back stay so).")
@click.option("--batch-size", type=click.IntRange(1, 100_000), default=10_000, show_default=True, help="Rows in one transaction.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the index record to this JSON file.")
@click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="What goes to stdout.")
@model_options("extractor")
@limit_options
@embedding_options
@connection_options
def build(docs: tuple[Path, ...], name: str, **given: Any) -> int:
    """Build a knowledge graph from documents, with provenance, or bring it up to date.

    DOCS are files or folders: text, Markdown, PDF, Word, JSONL of documents; `-` is stdin. Given again, an unchanged document
    costs nothing, and a changed one replaces only what came from it. An interrupted build goes on with the same command.
    """
    from kgeval.config import load as load_config
    from kgeval.manifest import Started
    from kgeval.text.documents import Documents, read_documents

    started = Started("build", _arguments(docs, name, given))
    _check_options(given)
    config = load_config(given["config_file"])
    read = read_documents(list(docs)) if docs else Documents([], [], [])
    read = _shared(read, given)
    for fault in read.faults:
        say(f"warning: passed over: {fault}")
    for note in read.notes:
        say(f"note: {note}")
    try:
        return _build(config, name, read, given, started)
    except KeyboardInterrupt:
        say(f"interrupted: run the same command again to go on with graph {name}; finished calls are in the journal")
        raise


def _shared(read: Documents, given: Mapping[str, Any]) -> Documents:
    """The documents of --share, with a note of how many they are."""
    if given["share"] is None:
        return read
    from dataclasses import replace

    from kgeval.files.rows import read_questions
    from kgeval.text.subset import documents_of, subset

    keep = documents_of(read_questions(given["keep"])) if given["keep"] else frozenset()
    chosen = subset(read.documents, given["share"], seed=given["seed"], keep=keep)
    if given["share"] < 1 and keep and len(chosen) == len(read.documents) > 1:
        raise UsageError(
            f"--share {given['share']:g}: nothing would be left out: the questions of {given['keep']} name {len(keep):,} documents, and "
            f"all {len(chosen):,} would be kept", fix="leave this share out, add documents that no question names, or leave out --keep",
        )
    note = f"--share {given['share']:g}: {len(chosen):,} of {len(read.documents):,} documents"
    if given["share"] < 1 and len(chosen) > ceil(given["share"] * len(read.documents)):
        note += ", more than was asked for: documents that questions name are in every share"
    return replace(read, documents=chosen, notes=[*read.notes, note])


def _arguments(docs: tuple[Path, ...], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the manifest keeps."""
    return {key: as_json(value) for key, value in {"docs": docs, "graph": name, **given}.items()}


def _check_options(given: Mapping[str, Any]) -> None:
    """Options of one extractor given to another are named, all at once."""
    extractor = given["extractor"]
    owners = {
        "triples": ("triples-file", None), "nouns": ("rules", None), "cooccurrence": ("rules", False), "gleanings": ("model", 0),
        "schema": ("model", None), "spacy_model": ("spacy", "en_core_web_sm"),
    }
    wrong = [
        f"--{key.replace('_', '-')} is for --extractor {owner}" for key, (owner, default) in owners.items()
        if given[key] != default and extractor != owner
    ]
    if extractor == "triples-file" and given["triples"] is None:
        wrong.append("--extractor triples-file needs --triples FILE")
    if given["keep"] is not None and given["share"] is None:
        wrong.append("--keep is for --share")
    if given["chunk_overlap"] >= given["chunk_size"]:
        wrong.append("--chunk-overlap must be below --chunk-size")
    output = given["output"]
    if output is not None and (output.is_dir() or not os.access(output.parent, os.W_OK)):
        wrong.append(f"-o {output}: is a folder" if output.is_dir() else f"-o {output}: its folder is not there, or cannot be written")
    if wrong:
        raise UsageError("; ".join(wrong), fix="kgeval build --help")


def _build(config: Config, name: str, read: Documents, given: Mapping[str, Any], started: Any) -> int:
    from kgeval.cli.build_parts import extractor_of, schema_of, show_dry_run
    from kgeval.cli.build_show import show
    from kgeval.text.build.run import BuildOptions, build, plan
    from kgeval.text.build.state import Cutting

    with ExitStack() as stack:
        address = {key: given[key] for key in ("uri", "username", "database", "home")}
        graph = stack.enter_context(open_from_options(config, **address))
        schema = schema_of(graph, given["schema"])
        extractor = extractor_of(stack, config, given, schema) if read.documents else None
        rules, model = _rules(stack, config, graph, name, given)
        cutting = Cutting(given["chunk_size"], given["chunk_overlap"], given["context_sentences"])
        options = BuildOptions(
            name, cutting, rules,
            remove=tuple(given["remove"]), replace=given["replace"], max_error_rate=_max_error_rate(config, given), started=started,
            configuration=_configuration(config, given, schema, model), batch=given["batch_size"], inputs=tuple(read.inputs),
            faults=tuple(read.faults), progress=stack.enter_context(load_progress(quiet=given["no_progress"])),
        )
        if given["dry_run"]:
            if extractor is not None:
                show_dry_run(plan(graph, read.documents, extractor, options), extractor, config, given)
            else:
                click.echo(f"Graph {name}: no documents to extract from; 0 calls")
            return 0
        record = _run(lambda: build(graph, read.documents, extractor, options), name)
    show(record, given)
    return record.run.exit_code


def _run(work: Callable[[], IndexRecord], name: str) -> IndexRecord:
    """The build; where the server fails in the middle, the message says how to go on."""
    from kgeval.errors import QueryError

    try:
        return work()
    except QueryError as wrong:
        more = f"\ngraph {name} may be half written: run the same command again to go on"
        raise type(wrong)(wrong.message + more, fix=wrong.fix) from wrong


def _rules(stack: ExitStack, config: Config, graph: Any, name: str, given: Mapping[str, Any]) -> tuple[Rules, str | None]:
    """The rules of resolution: flags over what the graph was resolved with last over the defaults; and the embedding model."""
    from dataclasses import replace

    from kgeval.cli.build_parts import embedder_of
    from kgeval.graph.load.mark import look
    from kgeval.text.build.clusters import EMBEDDING
    from kgeval.text.build.resolve import Rules, parse_levels
    from kgeval.text.build.run import stored_rules

    mark = look(graph, name, replace=given["replace"])
    rules = Rules() if given["replace"] else stored_rules(mark, Rules())
    if given["levels"]:
        rules = replace(rules, levels=parse_levels(given["levels"]))
    if given["similarity"] is not None:
        rules = replace(rules, similarity=given["similarity"])
    if given["across_types"] is not None:
        rules = replace(rules, across_types=given["across_types"])
    if EMBEDDING not in rules.levels or given["dry_run"]:
        return rules, None
    embedder = embedder_of(stack, config, given, None if given["replace"] else mark.properties.get("embedding_model"))
    return replace(rules, embed=embedder.embed), embedder.name


def _max_error_rate(config: Config, given: Mapping[str, Any]) -> float:
    rate = given["max_error_rate"]
    return config.limits.error_rate if rate is None else float(rate)


def _configuration(config: Config, given: Mapping[str, Any], schema: Any, embedding_model: str | None) -> dict[str, Any]:
    """Further settings for the record: those that matter for the chosen extractor."""
    own: dict[str, Any] = {"embedding_model": embedding_model} if embedding_model else {}
    if given["extractor"] == "model":
        own |= {
            "model": given["model"] or config.model.extractor.name, "gleanings": given["gleanings"], "language": given["language"],
            "schema": schema.source if schema else None,
        }
    if given["extractor"] == "spacy":
        own["spacy_model"] = given["spacy_model"]
    return own
