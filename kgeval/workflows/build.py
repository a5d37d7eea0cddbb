"""Building: a graph in Neo4j made from documents, or brought up to date, and what that took."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from html import escape
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import BuildOptions, Config
from kgeval.errors import QueryError, UsageError
from kgeval.format import for_terminal
from kgeval.llm.plan import Plan
from kgeval.workflows.layouts import choose_layout
from kgeval.workflows.progress import stage_bars
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session, options_of

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.building.resolve import Rules
    from kgeval.building.run import BuildSettings
    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.records import IndexRecord
    from kgeval.text.documents import DocumentSet
    from kgeval.text.extract.mentions import Extractor
    from kgeval.text.extract.schema import Schema

KINDS = ("documents", "chunks", "entities", "relations", "mentions", "merges")


@dataclass(frozen=True)
class BuildResult(Result):
    """What a build took, and what is in the graph now. `report`: an IndexRecord."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a kind of nodes and relations: kind, and how many this build created, updated and deleted."""
        import pandas as pd

        changed = self.report.changed
        rows = [{"kind": kind, **{what: changed.get(f"{kind} {what}", 0) for what in ("created", "updated", "deleted")}} for kind in KINDS]
        return pd.DataFrame(rows)

    @property
    def messages(self) -> list[str]:
        """Notes on what was built."""
        return [f"note: {note}" for note in self.report.notes]

    def write(self, path: str | Path, *, redact: bool | None = None) -> None:
        """Writes the record as JSON; `kgeval.score(index=...)` reads it. Raises: UsageError for another ending, or `redact`."""
        from kgeval.tables.output import write_text

        file = Path(path)
        if redact or file.suffix.lower() != ".json":
            raise UsageError(f"{file}: the record of a build is a .json file, and whole", fix="name a .json file")
        write_text(file, self.rendered("json"))

    def rendered(self, form: str, *, redact: bool | None = None) -> str:
        """The record as text or json. Raises: UsageError for another form."""
        if form == "json":
            return str(self.report.model_dump_json(indent=2)) + "\n"
        if form != "text":
            raise UsageError(f"a build has no {form}", fix="text or json")
        lines = (*_lines(self.report), f"Next: kgeval audit --graph {shlex.quote(self.report.graph)}")
        return "".join(f"{for_terminal(line)}\n" for line in lines)

    def __str__(self) -> str:
        return "\n".join(for_terminal(line) for line in (*_lines(self.report), f"Next: kgeval.audit(graph={self.report.graph!r})"))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class BuildPlan(Plan):
    """What a build would do. `chunks` of `documents` are extracted; `unchanged`: documents that are not."""

    chunks: int = 0
    documents: int = 0
    unchanged: int = 0


@dataclass(frozen=True)
class _Building:
    """One build: its documents, and what it is done with."""

    graph: Graph
    documents: DocumentSet
    extractor: Extractor | None
    settings: BuildSettings


def build_options(config: Config, given: dict[str, Any]) -> BuildOptions:
    """The options of a build over `[build]` of kgeval.toml. Raises: UsageError with all faults."""
    return options_of(BuildOptions, given, config.build)


def run(session: Session, docs: Sequence[Path], options: BuildOptions) -> BuildResult:
    """Builds the graph that the session names, or brings it up to date. Without documents, what is stored is resolved again.

    Raises: UsageError, InputError, ConnectError, ModelError before anything is written; IncompleteError where nothing could be extracted;
    QueryError in the middle: the same call goes on.
    """
    from kgeval.building.run import build

    with ExitStack() as stack:
        try:
            building = _opened(stack, session, docs, options)
            record = build(building.graph, building.documents.documents, building.extractor, building.settings)
        except KeyboardInterrupt:
            session.say(
                f"interrupted: run the same command again to go on with graph {session.graph_name}; finished calls are in the journal",
            )
            raise
        except QueryError as wrong:
            more = f"\ngraph {session.graph_name} may be half written: run the same command again to go on"
            raise type(wrong)(wrong.message + more, fix=wrong.fix) from wrong
    return BuildResult(record)


def plan(session: Session, docs: Sequence[Path], options: BuildOptions) -> BuildPlan:
    """What `run` would do. Nothing is written or sent. Raises: as `run`."""
    from kgeval.building import run as engine
    from kgeval.text.extract.model import ModelExtractor

    with ExitStack() as stack:
        building = _opened(stack, session, docs, options)
        extractor, name = building.extractor, building.settings.name
        if extractor is None:
            return BuildPlan((), lines=(f"Graph {name}: no documents to extract from; 0 calls",), asks=False)
        planned = engine.plan(building.graph, building.documents.documents, extractor, building.settings)
    sources = [source for each in planned.sources for source in each]
    changed, unchanged = len(planned.documents), planned.unchanged
    lines = [f"would extract {len(sources):,} chunks of {changed:,} documents; {unchanged:,} documents are unchanged"]
    if not changed and not unchanged:
        lines = [f"Graph {name}: no documents to extract from; 0 calls"]
    elif not isinstance(extractor, ModelExtractor):
        lines.append("0 calls, 0 tokens: no model is asked; dry run: nothing was written")
    stages = extractor.plan(sources) if isinstance(extractor, ModelExtractor) else ()
    asks = isinstance(extractor, ModelExtractor) and bool(changed or unchanged)
    return BuildPlan(
        stages, session.limits, lines=tuple(lines), asks=asks, chunks=len(sources), documents=changed, unchanged=unchanged,
    )


def _opened(stack: ExitStack, session: Session, docs: Sequence[Path], options: BuildOptions) -> _Building:
    """All that a build needs, checked."""
    from kgeval.building.run import BuildSettings
    from kgeval.building.state import Cutting
    from kgeval.text.documents import DocumentSet, read_documents

    _check(session, options)
    documents = read_documents(list(docs), follow_symlinks=options.follow_symlinks) if docs else DocumentSet([], [], [])
    read = shared(documents, options)
    for fault in read.faults:
        session.say(f"warning: passed over: {session.named(fault)}")
    for note in read.notes:
        session.say(f"note: {session.named(note)}")
    # an extra or a file of triples that is missing is said before a server is opened, or started; only a model's schema may be in the graph
    offline = bool(read.documents) and options.extractor != "model"
    extractor = extractor_of(session, options) if offline else None
    graph, name = session.graph, str(session.graph_name)
    schema = _schema(session, options.schema_file)
    if read.documents and not offline:
        extractor = extractor_of(session, options, schema)
    rules, embedder = _rules(session, graph, name, options)
    settings = BuildSettings(
        name, Cutting(options.chunk_size, options.chunk_overlap, options.context_sentences), rules, remove=options.remove,
        replace=options.replace, max_error_rate=session.limits.max_error_rate, started=session.begun(options),
        configuration=_configuration(session, options, schema, embedder), batch=options.transaction_rows, inputs=tuple(read.inputs),
        faults=tuple(map(session.named, read.faults)), progress=stack.enter_context(stage_bars(show=session.show)),
    )
    return _Building(graph, read, extractor, settings)


def _check(session: Session, options: BuildOptions) -> None:
    """Raises: UsageError with all options that do not fit together."""
    from kgeval.tables.output import blocked

    owners = {
        "triples": "triples-file", "nouns": "rules", "cooccurrence": "rules", "gleanings": "model", "schema_file": "model",
        "extraction_prompt": "model",
        "spacy_model": "spacy",
    }
    wrong = [
        f"--{'schema' if name == 'schema_file' else name.replace('_', '-')} is for --extractor {owner}" for name, owner in owners.items()
        if getattr(options, name) != BuildOptions.model_fields[name].default and options.extractor != owner
    ]
    if options.extraction_prompt != "kgeval" and (options.gleanings or options.schema_file):
        wrong.append(f"--extraction-prompt {options.extraction_prompt} has no schema and one round: leave out --schema and --gleanings")
    if options.extractor == "triples-file" and options.triples is None:
        wrong.append("--extractor triples-file needs --triples FILE")
    if options.keep is not None and options.share is None and options.corpus_tokens is None:
        wrong.append("--keep is for --share and --corpus-tokens")
    if options.share is not None and options.corpus_tokens is not None:
        wrong.append("--share and --corpus-tokens are two sizes of the corpus: give one")
    if options.chunk_overlap >= options.chunk_size:
        wrong.append("--chunk-overlap must be below --chunk-size")
    wrong += [f"-o {output}: {why}" for output in session.outputs if (why := blocked(output))]
    if wrong:
        raise UsageError("; ".join(wrong), fix="kgeval build --help")


def shared(read: DocumentSet, options: BuildOptions) -> DocumentSet:
    """The documents of `share` or `corpus_tokens`, with a note of how many they are. Raises: UsageError where a share would leave nothing
    out."""
    from kgeval.llm.tokens import count
    from kgeval.tables.rows import read_questions
    from kgeval.text.subset import documents_of, subset, subset_of_tokens

    keep = documents_of(read_questions(options.keep)) if options.keep else frozenset()
    if options.corpus_tokens is not None:
        chosen = subset_of_tokens(read.documents, options.corpus_tokens, seed=options.seed, keep=keep, count=count)
        size = sum(count(document.text) for document in chosen)
        note = f"--corpus-tokens {options.corpus_tokens:,}: {len(chosen):,} of {len(read.documents):,} documents, {size:,} tokens"
        if len(chosen) == len(read.documents):
            note += "; there are no more documents"
        return replace(read, documents=chosen, notes=[*read.notes, note])
    if options.share is None:
        return read
    chosen = subset(read.documents, options.share, seed=options.seed, keep=keep)
    if options.share < 1 and keep and len(chosen) == len(read.documents) > 1:
        raise UsageError(
            f"--share {options.share:g}: nothing would be left out: the questions of {options.keep} name {len(keep):,} documents, and "
            f"all {len(chosen):,} would be kept", fix="leave this share out, add documents that no question names, or leave out --keep",
        )
    note = f"--share {options.share:g}: {len(chosen):,} of {len(read.documents):,} documents"
    if options.share < 1 and len(chosen) > ceil(options.share * len(read.documents)):
        note += ", more than was asked for: documents that questions name are in every share"
    return replace(read, documents=chosen, notes=[*read.notes, note])


def extractor_of(session: Session, options: BuildOptions, schema: Schema | None = None) -> Extractor:
    """The extractor that the options name; its model is closed with the session."""
    if options.extractor == "model":
        from kgeval.text.extract.model import ModelExtractor
        from kgeval.text.extract.printed import PrintedExtractor

        models = session.models("extractor", options)
        return PrintedExtractor(models) if options.extraction_prompt != "kgeval" else ModelExtractor(models, schema, options.gleanings)
    if options.extractor == "spacy":
        from kgeval.text.extract.spacy_ import SpacyExtractor

        return SpacyExtractor(options.spacy_model)
    if options.extractor == "rules":
        from kgeval.text.extract.rules import RulesExtractor

        return RulesExtractor(options.nouns, options.cooccurrence)
    from kgeval.text.extract.triples import TriplesExtractor

    return TriplesExtractor(options.triples)  # type: ignore[arg-type]  # checked before


def embedder_of(session: Session, stored: object) -> Embedder:
    """The embedder that is named, else the one (`stored`) that the graph was resolved with last."""
    named = session.embedding.embedding_model or session.config.model.embedding.name
    return session.embedder if named or not stored else session.open_embedder(str(stored))


def _schema(session: Session, text: str | None) -> Schema | None:
    """The schema of a file, or the types and relation labels of a graph (`graph:NAME`)."""
    from kgeval.graph.queries import all_queries
    from kgeval.text.extract import schema

    if text is None:
        return None
    if not text.startswith("graph:"):
        return schema.from_file(Path(text))
    name, graph = text.removeprefix("graph:"), session.graph
    layout = {"layout": choose_layout(graph, "auto", name, {}, say=session.say).model_dump()}
    types = [row["type"] for row in graph.read(all_queries()["entities-by-type"], layout) if row["type"]]
    labels = [row["type"] for row in graph.read(all_queries()["relations-by-type"], layout) if row["type"]]
    return schema.from_graph(name, types=types, labels=labels)


def _rules(session: Session, graph: Graph, name: str, options: BuildOptions) -> tuple[Rules, Embedder | None]:
    """The rules of resolution: options over what the graph was resolved with last over the defaults; and what embeds."""
    from kgeval.building.clusters import EMBEDDING
    from kgeval.building.resolve import Rules, parse_levels
    from kgeval.building.run import stored_rules
    from kgeval.graph.load.mark import look

    mark = look(graph, name, replace=options.replace)
    rules = Rules() if options.replace else stored_rules(mark, Rules())
    if options.resolve:
        rules = replace(rules, levels=parse_levels(options.resolve))
    if options.similarity is not None:
        rules = replace(rules, similarity=options.similarity)
    if options.merge_across_types is not None:
        rules = replace(rules, across_types=options.merge_across_types)
    if EMBEDDING not in rules.levels or session.dry:
        return rules, None
    embedder = embedder_of(session, None if options.replace else mark.properties.get("embedding_model"))
    return replace(rules, embed=embedder.embed), embedder


def _configuration(session: Session, options: BuildOptions, schema: Schema | None, embedder: Embedder | None) -> dict[str, Any]:
    """Further settings for the record: those that matter for the chosen extractor."""
    own: dict[str, Any] = {"embedding_model": embedder.name} if embedder else {}
    if options.extractor == "model":
        own |= {
            "model": session.asking.model or session.config.model.extractor.name, "gleanings": options.gleanings,
            "language": session.asking.language, "schema": schema.source if schema else None,
        }
    if options.extractor == "spacy":
        own["spacy_model"] = options.spacy_model
    return own


def _lines(record: IndexRecord) -> Iterator[str]:
    """The summary, line by line: what the construction took [X table 15], what is in the graph, what was written."""
    verb = "written" if record.changed else "nothing has changed"
    yield f"Graph {record.graph}: {verb}, {record.seconds:.1f} s"
    yield f"  {'time (s)':<28} {record.seconds:>12,.2f}   " + ", ".join(f"{name} {s:.2f}" for name, s in record.stages.items())
    total = None if record.input_tokens is None or record.output_tokens is None else record.input_tokens + record.output_tokens
    for label, number in (
        ("calls", record.calls), ("input tokens", record.input_tokens), ("completion tokens", record.output_tokens),
        ("total tokens", total),
    ):
        yield f"  {label:<28} {shown(number):>12}"
    if record.calls:
        yield f"  {'cost (USD)':<28} " + ("     unknown" if record.cost is None else f"{record.cost:>12,.4f}")
    yield "in the graph now"
    size = record.corpus
    for label, number in (
        ("documents", size.documents), ("chunks", size.chunks), (f"tokens ({size.tokenizer})", size.tokens), ("words", size.words),
        ("entities", record.entities), ("relations", record.relations),
    ):
        yield f"  {label:<28} {shown(number):>12}"
    for level, number in record.merges.items():
        yield f"  {'merges, ' + level:<28} {number:>12,}"
    yield from _changed(record)
    if record.failures:
        yield "chunks that failed (the next run asks again)"
        yield from (f"  {cause:<28} {number:>12,}" for cause, number in record.failures.items())
    if record.faults:
        yield f"documents passed over: {len(record.faults)}"
        yield from (f"  {fault}" for fault in record.faults[:20])


def shown(number: int | None) -> str:
    """A count, or that it is not told."""
    return "not told" if number is None else f"{number:,}"


def _changed(record: IndexRecord) -> Iterator[str]:
    """Created, updated and deleted by kind; kinds that did not change are left out."""
    if not record.changed:
        return
    yield f"written in this run{'created':>21}{'updated':>13}{'deleted':>13}"
    for kind in KINDS:
        numbers = [record.changed.get(f"{kind} {what}", 0) for what in ("created", "updated", "deleted")]
        if any(numbers):
            yield f"  {kind:<26}" + "".join(f"{number:>12,} " for number in numbers).rstrip()
    old = record.changed.get("nodes of the old graph deleted")
    if old:
        yield f"  {'nodes of the old graph deleted':<52} {old:>12,}"
