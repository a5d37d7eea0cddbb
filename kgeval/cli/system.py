"""`kgeval system`: the ready adapters: list, show, install, index, remove."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import Option, Seconds, arguments, interactive, say, visible
from kgeval.cli.derive import CommandGroup
from kgeval.cli.options import config_option
from kgeval.cli.show import form_option
from kgeval.errors import UsageError
from kgeval.workflows.build import shown

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.records import Document, IndexRecord
    from kgeval.systems.adapters.catalog import AdapterInfo, AdapterSetting
    from kgeval.systems.adapters.folder import IndexCard
    from kgeval.systems.adapters.indexing import IndexWanted

_ENDPOINT = "The endpoint's address comes from OPENAI_BASE_URL, its key from OPENAI_API_KEY."


@click.group(cls=CommandGroup)
def system() -> None:
    """Other GraphRAG packages as systems under test: list, show, install, index, remove.

    Each package runs in an environment of its own; `kgeval answer QUESTIONS --system NAME:MODE --folder DIR` then asks it.
    """


@system.command("list")
@form_option()
def list_(form: str) -> None:
    """The adapters: modes, and which are installed."""
    from kgeval.systems.adapters.catalog import catalog
    from kgeval.systems.adapters.environment import listed

    rows = [listed(info) for info in catalog().values()]
    if form == "json":
        import json

        click.echo(json.dumps(rows, indent=2))
        return
    for info in catalog().values():
        click.echo(f"{info.name:<16} {_state(info):<22} {', '.join(info.modes)}")


def _state(info: AdapterInfo) -> str:
    from kgeval.systems.adapters.environment import installed

    environment = installed(info)
    return "not installed" if environment is None else f"installed: {environment.version}"


@system.command()
@click.argument("name")
def show(name: str) -> None:
    """One adapter: package, modes, settings with the package's defaults and the preset's values."""
    from kgeval.systems.adapters.catalog import adapter
    from kgeval.systems.adapters.environment import place

    info = adapter(name)
    click.echo(f"{info.title} ({info.name}), {_state(info)}")
    for label, value in (
        ("package", ", ".join((*info.alone, *info.requirements))), ("tried with", info.tried),
        ("Python", f"{info.python[0]} up to, without, {info.python[1]}"),
        ("modes", ", ".join(info.modes)), ("environment", place(info)), *info.configuration_card.items(),
    ):
        click.echo(f"  {str(label).replace('_', ' '):<16} {value}")
    click.echo("settings (package's default; preset xiang; i: of the index, a: of answering)")
    for setting in info.settings:
        click.echo(f"  {setting.name:<36} {_defaults(setting):<32} {'a' if setting.answer else 'i'}  {setting.about}")
    click.echo(f"  {'temperature':<36} {'-; 0.7':<32} a  Set in every chat request when answering.")
    click.echo(f"  {'model':<36} {'-':<32} a  Another model than the index's to answer with.")


def _defaults(one: AdapterSetting) -> str:
    package = "-" if one.package is None else str(one.package)
    return package if one.xiang is None else f"{package}; {one.xiang}"


@system.command()
@click.argument("name")
@click.option("--python", metavar="PATH", help="The Python of the environment [default: the one that runs kgeval].")
def install(name: str, python: str | None) -> None:
    """Make the environment of an adapter, with uv where it is there, else with pip. What was there is made anew.

    It goes below kgeval's data folder, or KGEVAL_SYSTEMS_DIR; nothing is installed beside kgeval itself.
    """
    from kgeval.systems.adapters import environment as environments
    from kgeval.systems.adapters.catalog import adapter

    env = environments.install(adapter(name), python=python, say=say)
    click.echo(
        f"{name} {env.version} is installed: {env.seconds:.0f} s with {env.by}, {env.bytes / 2**20:,.0f} MB, Python {env.python}"
    )


@system.command()
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def remove(name: str, yes: bool) -> None:
    """Delete the environment of an adapter. Its indexes stay where they are."""
    from kgeval.systems.adapters import environment as environments
    from kgeval.systems.adapters.catalog import adapter

    info = adapter(name)
    where = environments.place(info)
    if where.is_dir() and not yes:
        if not interactive():
            raise UsageError(f"{where} would be deleted", fix="add --yes, or run it in a terminal")
        if not click.confirm(f"Delete {where}?", err=True):
            say("nothing was removed")
            return
    say(f"removed {where}" if environments.remove(info) else f"{name} is not installed")


@system.command(epilog=_ENDPOINT)
@click.argument("name")
@click.option(
    "--documents", multiple=True, type=click.Path(path_type=Path, allow_dash=True), metavar="DOCS",
    help="Files or folders: text, Markdown, PDF, Word, JSONL of documents (repeatable). neo4j-graphrag: none, to use the graph there is.",
)
@click.option(
    "--folder", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where the index goes: a new or empty folder.",
)
@click.option("--model", metavar="NAME", help="The model that extracts and answers [default: model.extractor.name of kgeval.toml].")
@click.option("--embedding-model", metavar="NAME", help="The model that embeds [default: model.embedding.name of kgeval.toml].")
@click.option("--embed-locally", is_flag=True, help="kgeval itself embeds, with a sentence-transformers model, not the endpoint.")
@click.option("--preset", type=click.Choice(["xiang"]), help="Settings of a paper: those of GraphRAG-Bench, appendix H.2.")
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting, over the preset's (repeatable).")
@click.option(
    "--time-limit", "timeout", cls=Option, type=Seconds(), help="Seconds that it may take in all [default: no limit].",
)
@click.option(
    "--follow-symlinks", is_flag=True,
    help="Read what symbolic links in folders of documents lead to; else they are passed over, and named.",
)
@click.option("--replace", is_flag=True, help="Make an index of this folder anew.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the index record to this JSON file.")
@config_option
def index(name: str, **given: Any) -> int:
    """Have an adapter index documents, and write what it took: time, calls, tokens, nodes, relations, configuration.

    Exit codes: 0 done, 2 wrong input or not installed, 3 the package failed on some or all documents, 130 interrupted.
    """
    from kgeval import config as configuration
    from kgeval.manifest import Started
    from kgeval.systems.adapters.catalog import adapter
    from kgeval.systems.adapters.indexing import index as make
    from kgeval.tables.output import write_text

    started = Started("system index", arguments({"name": name, **given}))
    _check_output(given["output"])
    info = adapter(name)
    order = _wanted(info, configuration.load(given["config_file"]), given, started)
    record = make(info, order, say=say)
    if given["output"] is not None:
        write_text(given["output"], record.model_dump_json(indent=2))
    for line in _lines(info, record):
        click.echo(visible(line))
    return record.run.exit_code


def _check_output(output: Path | None) -> None:
    """Raises: UsageError now, and not when hours of indexing are over."""
    if output is not None and (output.is_dir() or not os.access(output.parent, os.W_OK)):
        raise UsageError(f"-o {output}: is a folder, or its folder cannot be written", fix="choose a folder that exists and is yours")


def _wanted(info: AdapterInfo, config: Config, given: Mapping[str, Any], started: Any) -> IndexWanted:
    from kgeval.systems.adapters.indexing import IndexWanted
    from kgeval.text.documents import DocumentSet, read_documents

    paths = list(given["documents"])
    if not paths and not info.neo4j:
        raise UsageError("no documents to index", fix="give --documents FILE or FOLDER")
    card = _card(info, config, given)
    read = read_documents(paths, follow_symlinks=given["follow_symlinks"]) if paths else DocumentSet([], [], [])
    for fault in read.faults:
        say(f"warning: passed over: {fault}")
    for note in read.notes:
        say(f"note: {note}")
    return IndexWanted(
        read.documents, given["folder"], card.model_copy(update={"documents": _digest(read.documents)}), started, inputs=tuple(read.inputs),
        faults=tuple(read.faults), replace=given["replace"], timeout=given["timeout"],
    )


def _digest(documents: list[Document]) -> str | None:
    from kgeval.systems.adapters.folder import digest

    return digest(documents) if documents else None


def _card(info: AdapterInfo, config: Config, given: Mapping[str, Any]) -> IndexCard:
    """How the index shall be made. Raises: UsageError for settings and models that are missing or wrong."""
    from kgeval.llm.embed import DEFAULT
    from kgeval.systems.adapters.folder import IndexCard
    from kgeval.workflows.answer_systems import value_of

    pairs = [text.partition("=") for text in given["settings"]]
    wrong = [name for name, sign, _ in pairs if not sign or not name.strip()]
    if wrong:
        raise UsageError(f"--setting {', '.join(wrong)}: no NAME=VALUE", fix=f"kgeval system show {info.name} lists the settings")
    settings = {**info.preset(given["preset"]), **{name.strip(): value_of(text) for name, _, text in pairs}}
    local = given["embed_locally"]
    model, embedding = given["model"] or config.model.extractor.name, given["embedding_model"] or config.model.embedding.name
    embedding = embedding or (DEFAULT if local else None)
    missing = [flag for flag, value in (("--model", model), ("--embedding-model", embedding)) if not value]
    if missing or not model or not embedding:
        fix = "or name them in [model.extractor] and [model.embedding] of kgeval.toml"
        raise UsageError(f"{' and '.join(missing)} must be given", fix=fix)
    return IndexCard(
        adapter=info.name, model=model, embedding_model=embedding, local=local, preset=given["preset"],
        settings=info.checked(settings, answering=False),
    )


def _lines(info: AdapterInfo, record: IndexRecord) -> Iterator[str]:
    """What the index came to, line by line."""
    documents, failed = record.corpus.documents, sum(record.failures.values())
    indexed = f"{documents - failed:,} of {documents:,}" if failed else f"{documents:,}"
    yield f"{info.title}: {indexed} documents indexed in {record.seconds:,.1f} s, in {record.graph}"
    for label, number in (
        ("chunks", record.corpus.chunks), ("entities", record.entities), ("relations", record.relations), ("calls", record.calls),
        ("input tokens", record.input_tokens), ("output tokens", record.output_tokens),
    ):
        yield f"  {label:<16} {shown(number):>12}"
    yield from (f"note: {note}" for note in record.notes)
    if not failed or failed < documents:
        yield f"Next: kgeval answer QUESTIONS --system {info.name}:{info.modes[0]} --folder {record.graph}"
