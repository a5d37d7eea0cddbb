"""What no table of names can say: values of one tool that have to be read in its own way, before the fields are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kgeval.limits import parse_json
from kgeval.tables import cells
from kgeval.tables.evidence import gold_path, groups_of, sentences_of, triple_of
from kgeval.tables.shapes import benchmarks

BROKEN = "evidence_triple_broken"
RETRIEVAL = ("retrieval", "retrieve", "retriever")
STEMS = {"FB": "fill_in_blank", "MC": "multi_choice", "MS": "multi_select", "TF": "true_or_false", "OE": "open_ended"}
_CORPUS = re.compile(r"(novel|medical)\b", re.IGNORECASE)

Row = dict[str, Any]
Derive = Callable[[Mapping[str, Any], Row, str], None]


def graphrag_bench(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """Evidence sentences are one text joined with "; "; the triples are the gold path; the corpus's name tells the dataset."""
    if isinstance(fields.get("evidence"), str) and not fields["evidence"].lstrip().startswith("["):
        fields["evidence"] = sentences_of(fields["evidence"])
    if isinstance(fields.get("steps"), str) and not fields["steps"].lstrip().startswith("["):
        fields["steps"] = sentences_of(fields["steps"])
    match = _CORPUS.match(str(row.get("source") or ""))
    if match and "dataset" not in fields:
        fields["dataset"] = match[1].lower()
    value = row.get("evidence_triple")
    if cells.absent(value) or "path" in fields:
        return
    groups = groups_of(value if isinstance(value, list) else [value])
    triples = [triple for group in groups if (triple := triple_of(group)) is not None]
    broken: list[Any] = [group for group in groups if triple_of(group) is None]
    if triples:
        fields["path"] = gold_path(triples)
    if broken:
        fields["extra"] = {**(fields.get("extra") or {}), BROKEN: broken}


def polyu(_row: Mapping[str, Any], fields: Row, stem: str) -> None:
    """The type of a question is the file's name: FB, MC, MS, TF, OE."""
    if stem.upper() in STEMS and "kind" not in fields:
        fields["kind"] = STEMS[stem.upper()]


def autorag(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """`retrieval_gt` is a list of lists of ids; a flat list, or one id, is one group: any of them will do."""
    items = cells.listed(row.get("retrieval_gt"))
    if items is not None:
        nested = any(isinstance(item, list) for item in items)
        fields["evidence_ids"] = items if nested else [items]
    texts = cells.listed(row.get("retrieval_gt_contents"))
    if texts is not None:
        fields["evidence"] = [text for item in texts for text in (item if isinstance(item, list) else [item])]


def deepeval(_row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """Its CSV and JSONL files hold lists of texts as one text, joined with "|", and its own reader cuts them there."""
    for name in ("contexts", "evidence"):
        value = fields.get(name)
        if isinstance(value, str) and "|" in value and not value.lstrip().startswith("["):
            fields[name] = value.split("|")


def graphrag_eval(row: Mapping[str, Any], fields: Row, _stem: str) -> None:
    """Steps: what a retrieval step returned are contexts (or evidence, of the reference), what a Cypher step ran is the query."""
    actual = [step for step in cells.listed(row.get("actual_steps")) or [] if isinstance(step, Mapping)]
    groups = cells.listed(row.get("reference_steps")) or []
    gold = [step for group in groups for step in (group if isinstance(group, list) else [group]) if isinstance(step, Mapping)]
    for steps, passages, cypher in ((actual, "contexts", "cypher"), (gold, "evidence", "gold_cypher")):
        done = [step for step in steps if step.get("status", "success") == "success"]
        retrieved = [item for step in done if step.get("name") in RETRIEVAL for item in _retrieved(step.get("output"))]
        if retrieved and passages not in fields:
            fields[passages] = retrieved
        queries = [step["args"]["query"] for step in done if "cypher" in str(step.get("name")) and _has_query(step)]
        if queries and cypher not in fields:
            fields[cypher] = queries[-1]


def _has_query(step: Mapping[str, Any]) -> bool:
    arguments = step.get("args")
    return isinstance(arguments, Mapping) and isinstance(arguments.get("query"), str)


def _retrieved(output: Any) -> list[Any]:
    if isinstance(output, str):
        try:
            output = parse_json(output)
        except ValueError:
            return []
    return [item for item in output if isinstance(item, Mapping | str)] if isinstance(output, list) else []


DERIVE: Mapping[str, Derive] = {
    "graphrag_bench": graphrag_bench, "polyu": polyu, "autorag": autorag, "deepeval": deepeval, "graphrag_eval": graphrag_eval,
    "hotpotqa": benchmarks.hotpotqa, "wikimultihop": benchmarks.wikimultihop, "musique": benchmarks.musique,
    "multihop_rag": benchmarks.multihop_rag, "ultradomain": benchmarks.ultradomain, "ms_marco": benchmarks.ms_marco,
    "kasiak": benchmarks.kasiak, "uda_qa": benchmarks.uda_qa,
}
