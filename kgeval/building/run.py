"""Builds a graph from documents, or brings it up to date: extracts what is new, resolves everything anew, writes the difference.

The graph is a pure function of its documents, their stored extractions, the decisions of people, and the rules of resolution.
Hence: the same input again changes nothing; A and then B give what A and B together give; a changed or removed document takes
away what only came from it; and an interrupted build ends in the same state when it is run again.
"""

from __future__ import annotations

import gc
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from kgeval import __version__
from kgeval.building.clusters import EMBEDDING
from kgeval.building.resolve import Resolved, Rules, resolve
from kgeval.building.state import Cutting, content_hash, corpus_hash, found_in, row_of, sources_of, with_texts
from kgeval.errors import IncompleteError, UsageError
from kgeval.graph.connect import Graph
from kgeval.graph.load import mark as marks
from kgeval.graph.load import sync
from kgeval.graph.load.built import BuildTarget, Changes, DocumentRow
from kgeval.graph.load.writer import BATCH, Progress
from kgeval.manifest import ModelUsage, Started
from kgeval.records import Corpus, Document, IndexRecord, ServerInfo
from kgeval.text.chunk import TOKENIZER
from kgeval.text.extract.mentions import ChunkSource, Extractor

# What a build took, as the index record and as figures kept on the graph's mark.

STOPS = ("budget", "error_rate", "cancelled")


@dataclass(frozen=True)
class FinishedBuild:
    """A finished run: the documents of the graph now, what they give, what was written, how long each stage took, what failed
    (of `attempted` chunks), which unusable items were dropped, and what models were asked."""

    name: str
    documents: Mapping[str, DocumentRow]
    resolved: Resolved
    counts: Counter[str]
    stages: Mapping[str, float]
    failures: Counter[str]
    attempted: int
    dropped: Counter[str]
    asked: ModelUsage

    @property
    def seconds(self) -> float:
        """All stages."""
        return round(sum(self.stages.values()), 3)


@dataclass(frozen=True)
class RecordDetails:
    """What the record says of the run beside its results. `inputs`, `faults`: of reading the documents; `notes`: the extractor's."""

    configuration: Mapping[str, JsonValue]
    server: ServerInfo
    started: Started
    inputs: Sequence[Path]
    faults: Sequence[str]
    max_error_rate: float
    notes: Sequence[str] = ()


def exit_code(done: FinishedBuild, max_error_rate: float) -> int:
    """3 where a budget or the error rate was reached or too many chunks failed, else 0."""
    failed = sum(done.failures.values())
    stopped = any(done.failures[cause] for cause in STOPS)
    return 3 if stopped or failed > max_error_rate * done.attempted else 0


def index_record(done: FinishedBuild, about: RecordDetails) -> IndexRecord:
    """The record of this run [X table 15]: time, tokens in and out, and what was built and changed."""
    use = list(done.asked.use)
    paid = [u.in_all for u in use]
    costs = [u.cost for u in paid if u.calls]
    left_out = done.dropped + Counter({what: n for what, n in done.resolved.counts.items() if what != "mentions"})
    notes = list(about.notes)
    if earlier := sum(u.earlier_calls for u in use):
        notes.append(f"{earlier} calls were made by earlier starts of this build, which did not end: calls, tokens and cost are with them")
    elif known := sum(u.from_journal for u in use):  # an earlier run, of another graph, paid for a part
        notes.append(f"{known} requests were answered by the journal: calls, tokens, cost and time are without them")
    notes += [f"{n} left out: {what.replace('_', ' ')}" for what, n in sorted(left_out.items())]
    merges = Counter(merge.level for merge in done.resolved.merges)
    code = exit_code(done, about.max_error_rate)
    return IndexRecord(
        system=f"kgeval build ({about.configuration.get('extractor', 'stored extractions')})", graph=done.name, corpus=corpus(done),
        run=about.started.manifest(server=about.server, inputs=about.inputs, asked=done.asked, exit_code=code),
        seconds=done.seconds, stages=dict(done.stages), calls=sum(u.calls for u in paid),
        input_tokens=sum(u.input_tokens for u in paid), output_tokens=sum(u.output_tokens for u in paid),
        cost=sum(c for c in costs if c is not None) if costs and None not in costs else None, use=use,
        entities=len(done.resolved.entities), relations=len(done.resolved.relations), merges=dict(sorted(merges.items())),
        changed=dict(done.counts), failures=dict(sorted(done.failures.items())), faults=list(about.faults),
        notes=notes, configuration=dict(about.configuration),
    )


def corpus(done: FinishedBuild) -> Corpus:
    """The texts that the graph is built from now."""
    rows = done.documents.values()
    return Corpus(
        hash=corpus_hash((d.id, d.hash) for d in rows), documents=len(done.documents), chunks=sum(len(d.chunks) for d in rows),
        tokens=sum(d.tokens for d in rows), words=sum(d.words for d in rows), tokenizer=TOKENIZER,
    )


def mark_figures(done: FinishedBuild, rules: Mapping[str, Any], before: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
    """What the mark keeps: this run's figures as last_*, sums over all runs without, the graph's size, rules and model."""
    use = done.asked.use
    costs = [u.cost for u in use if u.calls]
    last: dict[str, Any] = {
        "seconds": done.seconds, "calls": sum(u.calls for u in use), "input_tokens": sum(u.input_tokens for u in use),
        "output_tokens": sum(u.output_tokens for u in use), "cost": None if None in costs else sum(c for c in costs if c is not None),
    }
    start: Mapping[str, Any] = {} if fresh else before
    sums: dict[str, Any] = {
        key: None if value is None or (key in start and start[key] is None) else round(value + start.get(key, 0), 6)
        for key, value in last.items()
    }
    if not fresh and "runs" in before and "cost" not in before:
        sums["cost"] = None  # one run's price was not known: the sum is not known either
    size = corpus(done)
    return {
        **sums, **{f"last_{key}": value for key, value in last.items()}, **rules, "runs": start.get("runs", 0) + 1,
        "model": ", ".join(sorted({m.name for m in done.asked.models if m.role == "extractor"})) or start.get("model"),
        "documents": size.documents, "chunks": size.chunks, "tokens": size.tokens, "words": size.words,
        "entities": len(done.resolved.entities), "relations": len(done.resolved.relations), "merges": len(done.resolved.merges),
    }


@dataclass(frozen=True)
class BuildSettings:
    """How to build. `configuration`: further settings that decide what comes out (model, schema ...), kept beside the graph.

    `remove`: ids of documents to take out. `replace`: delete the graph of this name first. `inputs`, `faults`: of reading the
    documents, handed through to the record.
    """

    name: str
    cutting: Cutting = field(default_factory=Cutting)
    rules: Rules = field(default_factory=Rules)
    remove: tuple[str, ...] = ()
    replace: bool = False
    max_error_rate: float = 0.1
    configuration: Mapping[str, JsonValue] = field(default_factory=dict)
    inputs: tuple[Path, ...] = ()
    faults: tuple[str, ...] = ()
    batch: int = BATCH
    progress: Progress = lambda _stage, _done, _total: None
    started: Started = field(default_factory=lambda: Started("build", {}))


def build(graph: Graph, documents: Sequence[Document], extractor: Extractor | None, options: BuildSettings) -> IndexRecord:
    """Builds or updates the graph and says what that took. Without documents, what is stored is resolved again.

    The record's `run.exit_code` is 3 where a budget or the error rate was reached: what was done is written.
    Raises: UsageError where nothing may be built so (kgeval.graph.load.mark.look; other settings than the stored ones; an unknown
    document to remove), IncompleteError where nothing at all could be extracted, or another build came between.
    """
    return _Build(graph, extractor, options).run(documents)


@dataclass(frozen=True)
class ExtractionPlan:
    """What a build would extract: documents that are new or changed, and their sources, document by document."""

    documents: list[Document]
    sources: list[list[ChunkSource]]
    unchanged: int


def plan(graph: Graph, documents: Sequence[Document], extractor: Extractor, options: BuildSettings) -> ExtractionPlan:
    """What a build would extract. Nothing is written, nothing is sent. Raises as `build`."""
    build_ = _Build(graph, extractor, options)
    build_.look()
    changed = [d for d in documents if not build_.known(d)]
    return ExtractionPlan(changed, [sources_of(d, options.cutting) for d in changed], len(documents) - len(changed))


class _Build:
    """One build on its way."""

    def __init__(self, graph: Graph, extractor: Extractor | None, options: BuildSettings) -> None:
        self._extractor = extractor
        self._options = options
        self._graph = graph
        self._stages: dict[str, float] = {}
        self._failures: Counter[str] = Counter()
        self._attempted = 0
        self._dropped: Counter[str] = Counter()
        self._made_by = options.cutting.made_by(extractor) if extractor else ""

    def look(self) -> None:
        """What is there, and whether it may be built upon."""
        with self._stage("read"):
            options = self._options
            self._mark = marks.look(self._graph, options.name, replace=options.replace)
            self._place = BuildTarget(self._graph, options.name, self._mark.others, options.batch, options.progress)
            self._replacing = self._mark.exists and (options.replace or self._mark.status == marks.REPLACING)
            if self._extractor and not self._replacing:
                check_settings(self._mark, self._settings(self._extractor), options.configuration, self._extractor)
            known = self._mark.exists and self._mark.properties.get("format") == marks.BUILD
            self._stored = sync.read_documents(self._place) if known else sync.StoredDocuments({}, [])
            self._decisions = sync.read_decisions(self._place) if known else []

    def known(self, document: Document) -> bool:
        """True for a document that is stored as it is, extracted by the same means, no chunk failed."""
        old = self._stored.documents.get(document.id)
        same = old is not None and old.whole and (old.hash, old.made_by) == (content_hash(document), self._made_by)
        return old is not None and same and not any(chunk.failure for chunk in old.chunks)

    def run(self, documents: Sequence[Document]) -> IndexRecord:
        """All of it. Nothing is written before all documents are extracted: what is refused until then leaves the graph as it was."""
        self.look()
        self._check(documents)
        rows = self._rows(documents)
        failed = sum(self._failures.values())
        if failed and failed == self._attempted and (self._replacing or not self._mark.exists):
            # a graph is never replaced by nothing, nor begun with nothing
            causes = ", ".join(f"{cause}: {n}" for cause, n in sorted(self._failures.items()))
            raise IncompleteError(
                f"graph {self._options.name}: none of {failed} chunks could be extracted ({causes}); nothing was written",
                fix="correct the cause and run the same command again",
            )
        kept = {} if self._replacing else self._stored.documents
        removed = [key for key in self._options.remove if key in kept]
        wanted = {key: row for key, row in (kept | rows).items() if key not in removed}
        counts = self._write_documents(rows, removed)
        with self._stage("resolve", asks_models=EMBEDDING in self._options.rules.levels):
            resolved = resolve(found_in(wanted.values()), self._options.rules, self._decisions)
        with self._stage("compare"):
            changes: Changes = sync.derived_changes(self._place, resolved.derived)
        with self._stage("write"):
            if changes.steps:
                self._begin()
                sync.write_changes(self._place, changes)
        counts += changes.counts
        return self._finish(wanted, resolved, counts)

    def _settings(self, extractor: Extractor) -> dict[str, Any]:
        cutting = self._options.cutting
        return {
            "extractor": extractor.name, "extractor_signature": extractor.signature, "chunk_size": cutting.size,
            "chunk_overlap": cutting.overlap, "context_sentences": cutting.context_sentences, "tokenizer": TOKENIZER,
            **getattr(extractor, "settings", {}),
        }

    def _check(self, documents: Sequence[Document]) -> None:
        """Faults of what was asked for, all at once."""
        ids = Counter(document.id for document in documents)
        unknown = [key for key in self._options.remove if key not in self._stored.documents]
        wrong = [f"--remove {key}: the graph has no such document" for key in unknown]
        wrong += [f"{key}: given and to be removed" for key in self._options.remove if key in ids]
        wrong += [f"{key}: {n} documents have this id" for key, n in ids.items() if n > 1]
        if not documents and not self._mark.exists:
            wrong.append("no documents given, and there is nothing to update")
        if not documents and self._replacing:
            wrong.append("replacing it (asked for now, or begun before and not ended) needs documents: it would be left empty")
        if EMBEDDING in self._options.rules.levels and self._options.rules.embed is None:
            wrong.append("the embedding level needs an embedding model")
        if wrong:
            known = ", ".join(list(self._stored.documents)[:10])
            fix = f"documents there: {known}" if known else "give documents"
            raise UsageError(f"graph {self._options.name}: " + "; ".join(wrong), fix=fix)

    def _rows(self, documents: Sequence[Document]) -> dict[str, DocumentRow]:
        """The given documents as they are to be stored; those that are known are not extracted again."""
        rows = {d.id: self._stored.documents[d.id] for d in documents if self.known(d)}
        if self._replacing:
            rows = {d.id: with_texts(rows[d.id], d) for d in documents if d.id in rows}
        changed = [d for d in documents if d.id not in rows]
        if not changed:
            return rows
        if self._extractor is None:
            raise UsageError("documents were given without an extractor", fix="name one with --extractor")
        with self._stage("chunk"):
            sources = [sources_of(document, self._options.cutting) for document in changed]
        with self._stage("extract", asks_models=True):
            total = sum(map(len, sources))
            # all at once, so that a model is asked about chunks of many documents side by side; taken back document by document
            extractions = self._extractor.extract(list(chain.from_iterable(sources)))
            for document, own in zip(changed, sources, strict=True):
                here = [next(extractions) for _ in own]
                self._attempted += len(here)
                for extraction in here:
                    self._dropped.update(extraction.dropped)
                self._failures.update(extraction.failure.cause for extraction in here if extraction.failure)
                old = self._stored.documents.get(document.id)
                rows[document.id] = row_of(document, own, here, made_by=self._made_by, old=old, reread=not self._replacing)
                self._options.progress("chunks extracted", self._attempted, total)
        return rows

    def _write_documents(self, given: Mapping[str, DocumentRow], removed: Sequence[str]) -> Counter[str]:
        self._run: str | None = None
        counts: Counter[str] = Counter()
        with self._stage("write"):
            if self._replacing:
                self._begin(replacing=True)
                counts["nodes of the old graph deleted"] = sync.delete_graph(self._place)
                sync.drop_applied(self._place)
                self._stored = sync.StoredDocuments({}, [])
                # nothing of the old graph is left: a run that is killed from here on may be built upon, and has not to begin anew
                marks.keep(self._graph, self._options.name, str(self._run), {"status": marks.LOADING})
            changes = sync.document_changes(self._stored, given, removed)
            if changes:
                self._begin()
                sync.write_documents(self._place, self._stored, given, removed)
        return counts + changes

    def _begin(self, *, replacing: bool = False) -> None:
        """Sets the mark, once, with the settings that documents are extracted with."""
        if self._run is None:
            about = {**self._options.configuration, **self._settings(self._extractor)} if self._extractor else {}
            # an import's, where it is an import that is replaced
            about |= dict.fromkeys(("fingerprint", "fingerprints"), None) if replacing else {}
            self._run = marks.begin(
                self._graph, self._options.name, about | {"source": "documents", "kgeval": __version__}, replacing=replacing
            )

    def _finish(self, wanted: Mapping[str, DocumentRow], resolved: Resolved, counts: Counter[str]) -> IndexRecord:
        """The mark is set `ready` where something was written or paid for, or the last run was interrupted."""
        usage = self._extractor.asked() if self._extractor else ModelUsage()
        done = FinishedBuild(
            self._options.name, wanted, resolved, +counts, self._stages, self._failures, self._attempted, self._dropped, usage,
        )
        figures = mark_figures(done, self._rules(), self._mark.properties, fresh=self._replacing or not self._mark.exists)
        paid = any(use.calls for use in usage.use)
        kept = self._rules() | ({"extractor_signature": self._extractor.signature} if self._extractor else {})
        other = any(self._mark.properties.get(key) != value for key, value in kept.items() if value is not None)
        if self._run or paid or other or self._mark.status != marks.READY:
            self._begin()
            sync.finish_schema(self._place)
            marks.finish(self._graph, self._options.name, str(self._run), figures)
        options = self._options
        about = RecordDetails(
            {**(self._settings(self._extractor) if self._extractor else {}), **self._rules(), **options.configuration},
            self._graph.info, options.started, options.inputs, options.faults, options.max_error_rate,
            tuple(getattr(self._extractor, "notes", ())),
        )
        return index_record(done, about)

    def _rules(self) -> dict[str, Any]:
        rules = self._options.rules
        embedding = self._options.configuration.get("embedding_model") or self._mark.properties.get("embedding_model")
        return {
            "resolve": ",".join(rules.levels), "similarity": rules.similarity, "merge_across_types": rules.across_types,
            "embedding_model": embedding if EMBEDDING in rules.levels else None,
        }

    @contextmanager
    def _stage(self, name: str, *, asks_models: bool = False) -> Iterator[None]:
        """Times a stage. One that asks no model makes millions of objects and hardly a cycle: Python does not look for cycles in it, which
        with its own settings took a fifth of a build."""
        begun, paused = time.perf_counter(), gc.isenabled() and not asks_models
        try:
            if paused:
                gc.disable()
            yield
        finally:
            if paused:
                gc.enable()
            self._stages[name] = round(self._stages.get(name, 0.0) + time.perf_counter() - begun, 3)


def check_settings(mark: marks.Mark, settings: Mapping[str, Any], more: Mapping[str, Any], extractor: Extractor) -> None:
    """Raises: UsageError that lists every setting which differs from the stored one. What a file of triples holds is no setting.

    `more`: settings for the record; of an extractor that has only a signature they help to say what differs.
    """
    stored = mark.properties
    differ = {key for key, value in settings.items() if key in stored and stored[key] != value}
    named = getattr(extractor, "settings", {})  # kept one by one: the signature says no more than they, and the rules of reading
    if settings["extractor"] == stored.get("extractor") and (named or settings["extractor"] == "triples-file"):
        differ.discard("extractor_signature")
    if not differ:
        return
    now = {**more, **settings}
    differ |= {key for key, value in more.items() if key != "embedding_model" and stored.get(key) != value}
    if len(differ) > 1:
        differ.discard("extractor_signature")
    texts = [f"{key.replace('_', ' ')} {str(stored.get(key))[:120]} there, {str(now[key])[:120]} now" for key in sorted(differ)]
    fix = "give the same settings; or --replace, which deletes the graph and builds it from the documents given; or another name"
    if differ == {"endpoint"}:
        same = json.dumps(str(stored["endpoint"]), ensure_ascii=False)
        fix = (
            f"where it is the same model, say so in [model.extractor] of kgeval.toml: endpoint = {same} (and if it has a base_url, "
            f"the new one); else {fix}"
        )
    raise UsageError(f"graph {mark.name} was built with other settings: " + "; ".join(texts), fix=fix)


def stored_rules(mark: marks.Mark, rules: Rules) -> Rules:
    """The rules that the graph was resolved with last, with the embedder of `rules`."""
    levels = mark.properties.get("resolve")
    return Rules(
        tuple(str(levels).split(",")) if levels else rules.levels, bool(mark.properties.get("merge_across_types", rules.across_types)),
        float(mark.properties.get("similarity", rules.similarity)), rules.embed,
    )
