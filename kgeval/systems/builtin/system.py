"""A built-in system: retrieves (or not), has the contexts read, and says what that took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from pydantic import JsonValue

from kgeval import __version__
from kgeval.graph.failures import QueryTimeout
from kgeval.llm import tokens
from kgeval.llm.asker import Later, digest
from kgeval.records import Aligned, Answer, Stages
from kgeval.systems.builtin.communities import CommunityRetriever
from kgeval.systems.builtin.graph_rag import GraphRetriever
from kgeval.systems.builtin.readers import (
    CLOSED_BOOK,
    FROM_CONTEXTS,
    NOT_FOUND,
    AnswerReader,
    ExtractiveReader,
    ModelReader,
    Read,
)
from kgeval.systems.builtin.retrieval import Clock, RetrievalFailed, Retrieved, Retriever, search_with
from kgeval.systems.builtin.settings import Settings, defaults, read_settings
from kgeval.systems.builtin.tools import BuiltinTools
from kgeval.systems.builtin.vector_rag import VectorRetriever
from kgeval.systems.system import Ask, ClosedAtEnd

N = TypeVar("N", int, float)
PLANNED = "cancelled: a dry run asks nothing"


class BuiltinSystem(ClosedAtEnd):
    """A System. Closed book has no retriever. Safe for several threads, as many as its reader takes. Whoever gave the
    tools closes them."""

    def __init__(
        self, settings: Settings, reader: AnswerReader, retriever: Retriever | None, layout_settings: Mapping[str, JsonValue],
    ) -> None:
        self.settings, self.retriever, self._reader = settings, retriever, reader
        self.name, self.variant = settings.name, settings.variant
        self.adjusts, self.parallel, self.samples = reader.adjusts, reader.parallel, reader.samples
        retrieval = [retriever.signature] if retriever else []
        if retriever and layout_settings:
            retrieval.append(f"layout={digest(layout_settings)[:12]}")
        self.signature = "|".join([settings.signature, *retrieval, reader.signature, f"kgeval={__version__}"])

    def answer(self, ask: Ask) -> Answer:
        """The answer. A query that takes too long, and a call that fails, is an answer with its error."""
        clock, retrieved = Clock(), None
        try:
            retrieved = self.retriever.retrieve(ask.question, clock, _trial(ask)) if self.retriever else None
        except QueryTimeout as cause:
            return self._empty(ask, error=f"timeout: {cause.message}")
        except RetrievalFailed as cause:
            return self._empty(ask, error=str(cause))
        # without contexts a model would answer from what it knows: that would be closed book under another name
        if retrieved is not None and not retrieved.contexts:
            read = Read(NOT_FOUND, 0.0, input_tokens=0, output_tokens=0, calls=0, cost=0.0)
        else:
            read = self._reader.read(ask, retrieved.contexts if retrieved else None, self.settings.max_words)
        return self._answered(ask, clock, retrieved, read)

    def _answered(self, ask: Ask, clock: Clock, retrieved: Retrieved | None, read: Read) -> Answer:
        seconds = clock.seconds
        if retrieved is not None and (spent := retrieved.spent) is not None:
            read = replace(
                read, calls=_sum(read.calls, spent.calls), input_tokens=_sum(read.input_tokens, spent.input_tokens),
                output_tokens=_sum(read.output_tokens, spent.output_tokens), cost=_sum(read.cost, spent.cost),
            )
        fields: dict[str, object] = {
            "answer": read.text, "error": read.error, "model": None if read.error else self._reader.model,
            "stages": Stages(
                retrieval=clock.retrieval if seconds else None, entry=seconds.get("entry"),
                expand=seconds.get("expand"),
                rerank=seconds.get("rerank"), generate=read.seconds,
            ),
            "calls": read.calls, "cost": read.cost, "input_tokens": read.input_tokens,
            "output_tokens": read.output_tokens,
        }
        if read.seconds is not None and not read.error:
            fields["latency_s"] = round(clock.retrieval + read.seconds, 6)
            if read.first is not None:
                fields["ttft_s"] = round(clock.retrieval + read.first, 6)
        if retrieved is not None:
            fields |= {"contexts": list(retrieved.contexts), "extra": {"context_tokens": retrieved.tokens}}
            if retrieved.nodes is not None and retrieved.relations is not None:
                fields |= {"retrieved_nodes": list(retrieved.nodes), "retrieved_relations": list(retrieved.relations)}
        return self._empty(ask).model_copy(update=fields)

    def _empty(self, ask: Ask, error: str | None = None) -> Answer:
        # the length that was asked for; whose length it was, only the comparison knows
        aligned = None if ask.target_words is None else Aligned(target_words=ask.target_words, attempt=ask.attempt)
        return Answer(
            question_id=ask.question_id, system=self.name, variant=self.variant, trial=ask.trial,
            signature=self.signature, answer="",
            aligned_to=aligned, error=error,
        )


def _trial(ask: Ask) -> int:
    """The trial of what is retrieved. Answers that are sampled to see how they differ share it: only the reader is drawn anew."""
    return 0 if ask.sampled else ask.trial or 0


def _sum(one: N | None, other: N | None) -> N | None:
    """Both together; None where one of them is not known."""
    return None if one is None or other is None else one + other


class PlannedSystem(BuiltinSystem):
    """The same in a dry run: counts the reader's calls, retrieves nothing, embeds nothing, builds no index."""

    def __init__(
        self, settings: Settings, reader: AnswerReader, retriever: Retriever | None, tools: BuiltinTools,
    ) -> None:
        super().__init__(settings, reader, retriever, tools.layout_settings)
        self._asker = asker = tools.asker
        self._bounds = retriever.bounds() if retriever and asker else (0, 0)

    def answer(self, ask: Ask) -> Answer:
        """An answer with the error `cancelled`. Closed book is counted exactly, also what is in the journal; where
        contexts come first, a call a question: at most for the graph, which may find nothing."""
        if self.retriever is None:
            return super().answer(ask)
        self._later(ask, certain=self.settings.system == "vector")
        return self._empty(ask, error=PLANNED)

    def perhaps(self, ask: Ask) -> None:
        """Counts the call of a question that may be asked, once earlier answers are there."""
        self._later(ask, certain=False)

    def _later(self, ask: Ask, *, certain: bool) -> None:
        if self._asker is None:  # the extractive reader makes no calls
            return
        if isinstance(self.retriever, CommunityRetriever):
            self.retriever.plan(ask.question, _trial(ask))
        own, (low, high) = tokens.count(ask.question), self._bounds
        key = digest(self.name, ask.question, ask.trial, ask.target_words, ask.attempt, ask.previous)
        stage = FROM_CONTEXTS if self.retriever is not None else CLOSED_BOOK
        self._asker.later(Later(stage=stage, prompt=stage, key=key, tokens=(own + low, own + high), certain=certain))


def open_builtin(name: str, settings: Mapping[str, JsonValue], tools: BuiltinTools) -> BuiltinSystem:
    """The system `closed-book`, `vector`, `graph`, `graph+text` or `communities`, open. Its index is built now, if the cache has none
    that fits.

    In a dry run (`tools.planned`) nothing is built, embedded or asked: its answers only count the reader's calls.

    Raises: UsageError for an unknown name, settings (all at once) or a missing tool; LayoutError where the graph has no
    chunks and the system needs them, or no vector index that fits; ConfigError, ModelError where the index cannot be
    built. """
    return open_variant(read_settings(name, settings, base=defaults(name, tools.preset)), tools)


def open_variant(settings: Settings, tools: BuiltinTools) -> BuiltinSystem:
    """As open_builtin, with settings that were read before (`variants`)."""
    retriever: Retriever | None = None
    if settings.system == "communities":
        retriever = CommunityRetriever(settings, tools, planned=tools.planned)
    elif settings.system != "closed-book":
        kind = VectorRetriever if settings.system == "vector" else GraphRetriever
        retriever = kind(settings, search_with(settings.system, tools), planned=tools.planned)
    reader = ExtractiveReader() if tools.models is None else ModelReader(
        tools.models, tools.asker, settings.trial_temperature, stream=settings.stream,
    )
    if tools.planned:
        return PlannedSystem(settings, reader, retriever, tools)
    return BuiltinSystem(settings, reader, retriever, tools.layout_settings)
