"""What a build took, as the index record and as figures kept on the graph's mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from kgeval.graph.load.built import DocumentRow
from kgeval.manifest import Asked, Started
from kgeval.records import Corpus, IndexRecord, ModelUse, ServerInfo
from kgeval.text.build.resolve import Resolved
from kgeval.text.build.state import corpus_hash
from kgeval.text.chunk import TOKENIZER

STOPS = ("budget", "error_rate", "cancelled")


@dataclass(frozen=True)
class Done:
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
    asked: Asked

    @property
    def seconds(self) -> float:
        """All stages."""
        return round(sum(self.stages.values()), 3)


@dataclass(frozen=True)
class About:
    """What the record says of the run beside its results. `inputs`, `faults`: of reading the documents; `notes`: the extractor's."""

    configuration: Mapping[str, JsonValue]
    server: ServerInfo
    started: Started
    inputs: Sequence[Path]
    faults: Sequence[str]
    max_error_rate: float
    notes: Sequence[str] = ()


def exit_code(done: Done, max_error_rate: float) -> int:
    """3 where a budget or the error rate was reached or too many chunks failed, else 0."""
    failed = sum(done.failures.values())
    stopped = any(done.failures[cause] for cause in STOPS)
    return 3 if stopped or failed > max_error_rate * done.attempted else 0


def index_record(done: Done, about: About) -> IndexRecord:
    """The record of this run [X table 15]: time, tokens in and out, and what was built and changed."""
    use = list(done.asked.use)
    costs = [u.cost for u in use if u.calls]
    dropped = [f"{n} left out: {what.replace('_', ' ')}" for what, n in sorted((done.dropped + _left_out(done)).items())]
    merges = Counter(merge.level for merge in done.resolved.merges)
    code = exit_code(done, about.max_error_rate)
    return IndexRecord(
        system=f"kgeval build ({about.configuration.get('extractor', 'stored extractions')})", graph=done.name, corpus=corpus(done),
        run=about.started.manifest(server=about.server, inputs=about.inputs, asked=done.asked, exit_code=code),
        seconds=done.seconds, stages=dict(done.stages), calls=sum(u.calls for u in use),
        input_tokens=sum(u.input_tokens for u in use), output_tokens=sum(u.output_tokens for u in use),
        cost=sum(c for c in costs if c is not None) if costs and None not in costs else None, use=use,
        entities=len(done.resolved.entities), relations=len(done.resolved.relations), merges=dict(sorted(merges.items())),
        changed=dict(done.counts), failures=dict(sorted(done.failures.items())), faults=list(about.faults),
        notes=[*about.notes, *_known_before(use), *dropped], configuration=dict(about.configuration),
    )


def _known_before(use: Sequence[ModelUse]) -> list[str]:
    """That the figures are of this run only, where an earlier one (interrupted, or of another graph) paid for a part."""
    known = sum(u.from_journal for u in use)
    return [f"{known} requests were answered by the journal: calls, tokens, cost and time are without them"] if known else []


def _left_out(done: Done) -> Counter[str]:
    return Counter({what: n for what, n in done.resolved.counts.items() if what != "mentions" and n})


def corpus(done: Done) -> Corpus:
    """The texts that the graph is built from now."""
    rows = done.documents.values()
    return Corpus(
        hash=corpus_hash((d.id, d.hash) for d in rows), documents=len(done.documents), chunks=sum(len(d.chunks) for d in rows),
        tokens=sum(d.tokens for d in rows), words=sum(d.words for d in rows), tokenizer=TOKENIZER,
    )


def mark_figures(done: Done, rules: Mapping[str, Any], before: Mapping[str, Any], *, fresh: bool) -> dict[str, Any]:
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
