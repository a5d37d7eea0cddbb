"""What a metric and a preset are, as text: the same on the terminal and in docs/metrics/."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import get_args

from pydantic import JsonValue

from kgeval.errors import with_extra
from kgeval.metrics.definition import Group, Metric, MetricSettings, Need
from kgeval.metrics.options import OPTIONS
from kgeval.metrics.table import EVERY, PRESETS, all_metrics

GROUPS: tuple[Group, ...] = get_args(Group)
TITLES: dict[Group, str] = {
    "answers": "Answers against a reference", "grounding": "Answers against the retrieved contexts and the graph",
    "retrieval": "Retrieval", "kg": "Texts as graphs", "reasoning": "Reasoning", "own": "Your own",
}
NEEDS: dict[Need, str] = {
    "reference": "a reference answer", "contexts": "contexts", "passages": "contexts with a text or a chunk id",
    "context_ids": "ids of the contexts", "evidence": "evidence texts",
    "evidence_ids": "gold chunk ids", "points": "information points or a reference", "statements": "gold statements",
    "citations": "citations", "cited_document": "a cited document", "document": "the gold document", "path": "a gold path",
    "steps": "steps", "reasoning": "the system's own reasoning", "cypher": "the system's Cypher", "gold_cypher": "gold Cypher",
    "retrieved": "retrieved nodes or relations",
    "kind": "a question type",
}
TOOLS = {
    "judge": "a judge model", "embedder": "an embedding model", "graph": "the stored graph", "gds": "Neo4j with GDS",
    "bert-score": f"the package bert-score ({with_extra('bertscore')})",
}
VARIANT = re.compile(r"^(?P<base>\w+)_(?:compat|printed)$")
KINDS = {
    "answer_claims": "claims of the answer", "reference_claims": "claims of the reference", "evidence": "evidence texts",
    "points": "information points", "steps": "steps", "reasoning": "steps of the system's reasoning",
}
SOURCES = {"reference": "the reference", "contexts": "the contexts", "answer": "the answer", "statements": "the gold statements",
           "reasoning": "the system's reasoning", "graph": "the stored graph"}
FACTS = {
    "claims:answer": "list of the answer's claims", "claims:reference": "list of the reference's claims, once for all systems",
    "points": "list of information points", "ratings": "rating of each context", "rating:joined": "rating of all contexts together",
    "questions": "questions made from the answer", "binary": "right or wrong", "binary:compat": "true or false (compat)",
    "citations": "citations with what they cite",
    "citations:claims": "claims of the answer with the citations that are given for them",
    "similarity:reference": "cosine of answer and reference", "similarity:questions": "cosines of the question with those made",
    "stored": "entities of the answer in the stored graph", "grounding": "claims with triples of the stored graph",
    "cypher": "the system's Cypher, run", "cypher:match": "its result beside that of the gold Cypher",
    "expired": "what the stored graph marks as expired",
}
TRIPLES = {"answer": "the answer", "reference": "the reference", "question": "the question", "contexts": "the contexts"}
PAIR_FACTS = {
    "pairs": "graph of", "matching": "matched entities of", "communities": "communities in the graph of", "relations": "matched triples of",
}
PAPERS = {
    "Z": "Zeng et al.", "D": "Dong et al.", "X": "Xiang et al. (GraphRAG-Bench)", "K": "Kasiak et al.",
    "M": "GraphRAG evaluation methodology",
}
_PAPER = re.compile(r"\[([ZDXKM])(?: ([^\]]*))?\]")
COLUMNS = ("metric", "range", "better", "calls", "needs", "with", "what it says")


def base_of(name: str) -> str | None:
    """The metric that a variant (`_compat`, `_printed`) is a variant of; None for every other name."""
    match = VARIANT.match(name)
    return match["base"] if match else None


def variants_of(name: str) -> tuple[Metric, ...]:
    """The variants of a metric."""
    return tuple(metric for metric in all_metrics().values() if base_of(metric.name) == name)


def fact_words(fact: str) -> str | None:
    """A fact's name in words; None for a name that is none."""
    kind, checked, source = fact.partition("@")
    first, _, rest = fact.partition(":")
    if checked:
        return f"verdicts on {KINDS[kind]} against {SOURCES[source]}" if kind in KINDS and source in SOURCES else None
    if first == "criterion":
        return "the judge's grade, with its reason"
    if first == "triples":
        return f"triples of {TRIPLES[rest]}" if rest in TRIPLES else None
    if first in PAIR_FACTS:
        return f"{PAIR_FACTS[first]} the pair {rest.replace('_', ' ')}" if rest else None
    return FACTS.get(fact)


def spelled(text: str) -> str:
    """A text with the names of papers in place of their letters: [X eq. 5] -> Xiang et al. (GraphRAG-Bench) eq. 5."""
    return _PAPER.sub(lambda found: " ".join(filter(None, (PAPERS[found[1]], found[2]))), text)


def sentence(text: str) -> str:
    """The text, spelled out, with a full stop; a capital in front, unless it begins with a name or a formula."""
    plain = spelled(text.strip())
    first = plain.split(" ", 1)[0]
    whole = plain[:1].upper() + plain[1:] if first.isalpha() and len(first) > 1 else plain
    return whole if whole.endswith(("?", "!")) else whole.removesuffix(".") + "."


@cache
def limits() -> dict[str, str]:
    """Metric -> what it cannot tell, and when not to trust it."""
    import tomllib

    texts: dict[str, str] = tomllib.loads((Path(__file__).parent / "limits.toml").read_text(encoding="utf-8"))
    return texts


def metrics_of(*, group: str | None = None, preset: str | None = None, own: Iterable[Metric] = ()) -> tuple[Metric, ...]:
    """The metrics of a group, of a preset, of both, or all; `own`: those of the user's own among them."""
    chosen = None if preset is None else {name for names in PRESETS[preset].values() for name in names}
    return tuple(
        metric for metric in (*all_metrics().values(), *own)
        if (group is None or metric.group == group) and (chosen is None or metric.name in chosen)
    )


def presets_of(metric: Metric) -> list[str]:
    """Names of the presets that a metric is in."""
    return [name for name in PRESETS if metric in metrics_of(preset=name)]


def table_of(metrics: Iterable[Metric]) -> list[tuple[str, ...]]:
    """One line a metric, as COLUMNS names them."""
    return [
        (m.name, "0..1", m.better, m.calls, ", ".join(m.needs) or "-", ", ".join(m.tools) or "-", sentence(m.summary)) for m in metrics
    ]


def as_json(metric: Metric) -> dict[str, JsonValue]:
    """All that is known of a metric."""
    defaults = asdict(MetricSettings())
    return {
        "name": metric.name, "group": metric.group, "summary": sentence(metric.summary), "definition": sentence(metric.definition),
        "range": [0, 1], "better": metric.better, "needs": list(metric.needs), "asks": list(metric.asks), "tools": list(metric.tools),
        "calls": metric.calls, "settings": {name: defaults[name] for name in metric.declared}, "aspects": list(metric.aspects),
        "source": spelled(metric.source), "version": metric.version, "variants": [variant.name for variant in variants_of(metric.name)],
        "presets": list[JsonValue](presets_of(metric)), "limits": limits().get(metric.name, ""),
    }


def metric_page(metric: Metric, *, level: int = 1) -> str:
    """Definition, range, needs, what is asked and at what cost, source, settings, variants, limits, as Markdown."""
    title, part = "#" * level, "#" * (level + 1)
    aspects = f" Figures beside it, averaged too: {', '.join(f'`{name}`' for name in metric.aspects)}." if metric.aspects else ""
    defaults = asdict(MetricSettings())
    shown = {name: str(value).lower() if isinstance(value, bool) else value for name, value in defaults.items()}
    settings = "\n".join(f"- `{name}` = {shown[name]}: {OPTIONS[name].what}" for name in metric.declared)
    base = base_of(metric.name)
    variants = [f"A variant of `{base}`."] if base else []
    variants += [f"- `{variant.name}`: {sentence(variant.definition)}" for variant in variants_of(metric.name)]
    presets = ", ".join(presets_of(metric)) or "none"
    texts = (
        ("Definition", sentence(metric.definition)), ("Range", f"0 to 1; {metric.better} is better.{aspects}"),
        ("Needs", _needs(metric)), ("Asks", _asks(metric)), ("Settings", settings), ("Variants", "\n".join(variants)),
        ("Limits", limits().get(metric.name, "").strip()),
        ("Source", f"{spelled(metric.source)} · version {metric.version} · in the presets: {presets}"),
    )
    parts = [f"{part} {head}\n\n{text}" for head, text in texts if text]
    return "\n\n".join([f"{title} {metric.name}", sentence(metric.summary), *parts]) + "\n"


def _needs(metric: Metric) -> str:
    row = "; ".join(NEEDS[need] for need in metric.needs)
    tools = "; ".join(TOOLS[tool] for tool in metric.tools) or "no model, no server"
    lacking = f"Of the row: {row}; without, the value is `not_applicable`." if row else "Of the row: a question and an answer."
    return f"{lacking} To compute it: {tools}."


def _asks(metric: Metric) -> str:
    lines = [f"Calls a row, if no other metric is asked for: {metric.calls}."]
    for fact in metric.asks:
        shared = sum(fact in other.asks for other in all_metrics().values()) - 1
        note = f"; the same for {shared} other metric{'s' if shared > 1 else ''}, at no further cost" if shared > 0 else ""
        lines.append(f"- `{fact}`: {fact_words(fact) or fact}{note}")
    return "\n".join([lines[0], *(["", *lines[1:]] if metric.asks else [])])


def preset_page(name: str) -> str:
    """A preset's metrics by level of the question, as Markdown."""
    metrics = all_metrics()
    parts = [f"# preset {name}"]
    for level, names in PRESETS[name].items():
        head = "Every question" if level == EVERY else f"Questions of level {level}, in addition"
        lines = [f"- {metric}: {sentence(metrics[metric].summary) if metric in metrics else '(not there)'}" for metric in names]
        parts.append("\n".join([f"## {head}", "", *lines]))
    return "\n\n".join(parts) + "\n"


def metric_pages() -> dict[str, str]:
    """The generated reference: path below docs/ -> text."""
    pages: dict[str, str] = {}
    index = ["# Metrics, one by one\n\nGenerated from `kgeval metrics list`; do not edit. [Which one for which question](../metrics.md)."]
    for group in GROUPS:
        if metrics := metrics_of(group=group):
            head = f"# {TITLES[group]}\n\nWhat `kgeval metrics show NAME` prints. Generated; do not edit.\n"
            pages[f"metrics/{group}.md"] = "\n".join([head, *(metric_page(metric, level=2) for metric in metrics)])
            lines = [COLUMNS, ["---"] * len(COLUMNS)]
            lines += [(f"[{name}]({group}.md#{name})", *rest) for name, *rest in table_of(metrics)]
            table = "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
            index.append(f"## {TITLES[group]}\n\n{table}")
    return {"metrics/README.md": "\n\n".join(index) + "\n", **pages}
