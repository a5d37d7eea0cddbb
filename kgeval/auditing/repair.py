"""What can be done about a finding: its rule's file of cypher/repair for the graph's layout, with the hits' element ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from kgeval.auditing.merging import RepairEvidence, merge_offer
from kgeval.auditing.rulebook import Rule
from kgeval.graph.binding import query_of_graph
from kgeval.graph.layouts import fixes_types, names
from kgeval.graph.queries import DRY, Query, all_queries
from kgeval.records import Example, Layout, Repair

FIXED_TYPES = "its writer knows its relations by their type, so that renamed ones would be lost to it"
MERGE, LOOK = "merge-entities", "look-at-copies"
BY_HAND = "What you know to be one thing, you can merge by hand: `kgeval cypher show merge-entities` has $groups to set."
NOT_EXTRACTED = "nothing shows that a writer extracted it from texts"
NOTHING_READ = RepairEvidence()


def repair_query(rule: Rule) -> Query | None:
    """The file that the rule names; None where it has none."""
    return all_queries()[rule.repair] if rule.repair else None


def is_extracted(layout: Layout, missing: Mapping[str, str]) -> bool:
    """Whether a writer that kgeval knows extracted the graph from texts: by its layout, and by its entities, which
    are linked to texts. `missing`: what the graph lacks (`roles.missing_roles`)."""
    return layout.name in names() and layout.name != "generic" and "mentions" not in missing


def why_not_offered(rule: Rule, layout: Layout, *, extracted: bool) -> str | None:
    """Why the rule's repair is not offered for a graph; None where it is."""
    if repair_query(rule) is None:
        return rule.no_repair
    reasons = [why for role, why in rule.repair_needs.items() if not getattr(layout, role)]
    if rule.repair_only_extracted and not extracted:
        reasons.append(f"{NOT_EXTRACTED}, and elsewhere {rule.repair_only_extracted}")
    if rule.repair_renames_types and _has_fixed_types(layout):
        reasons.append(FIXED_TYPES)
    return f"No repair offered for this kind of graph: {'; '.join(reasons)}" if reasons else None


def _has_fixed_types(layout: Layout) -> bool:
    """Whether relations are told by types that the layout lists, and no property holds their name. Of a layout of one's own it is not
    known: it may."""
    return not layout.relation_label_key and fixes_types(layout.name) is not False


def repair_for(
    rule: Rule, layout: Layout, examples: Sequence[Example], own: str | None = None, *, extracted: bool = False,
    evidence: RepairEvidence = NOTHING_READ,
) -> Repair:
    """The repair of a finding with hits. `examples`: those that its report lists; ids of waived ones are left out. `own`: the check's own.
    `extracted`: as `is_extracted` says. `evidence`: what is known of the graph.

    A graph for which it is not offered has none, and the reason. Merges are offered for what is surely one thing; where nothing is, the
    hits are shown instead, with the reasons.
    """
    if own is not None:
        return Repair(cypher=own, safe=True)
    query, reason = repair_query(rule), why_not_offered(rule, layout, extracted=extracted)
    if query is None or reason:
        return Repair(reason=reason)
    shown = [example for example in examples if example.waived is None]
    if query.name == MERGE:
        return _merge(rule, layout, shown, evidence, query)
    shown = [example for example in shown if example.repairable]
    if examples and not shown:
        return Repair(reason=f"No repair offered: it is meant for none of the listed hits. {rule.repair_note}".rstrip())
    # the things that are hits, each once: of an example the first item, or all of a group
    hits = (item for example in shown for item in (example.items[:1] if rule.hit == "first" else example.items))
    ids: list[JsonValue] = [*dict.fromkeys(item.element_id for item in hits if item.element_id)]
    return _printed(rule, layout, query, {"element_ids": ids} if lists_hits(rule, query) else {}, evidence)


def _merge(rule: Rule, layout: Layout, examples: Sequence[Example], evidence: RepairEvidence, query: Query) -> Repair:
    offer = merge_offer(examples, layout, evidence)
    if offer.groups:
        merge = _printed(rule, layout, query, {"groups": [[*group] for group in offer.groups]}, evidence)
        return merge.model_copy(update={"note": " ".join(filter(None, [offer.note(), rule.repair_note]))})
    look = all_queries()[LOOK]
    ids: list[JsonValue] = [*dict.fromkeys(item.element_id for example in examples for item in example.items if item.element_id)]
    why = f"No merge is offered: {offer.why_left() or 'no example is listed'}"
    return Repair(
        query=look.name, cypher=query_of_graph(look, layout), parameters={"element_ids": ids}, reads=True, note=BY_HAND, reason=why,
    )


def _printed(rule: Rule, layout: Layout, query: Query, parameters: dict[str, JsonValue], evidence: RepairEvidence) -> Repair:
    """A query with what is known of its parameters, and its dry run."""
    dry = all_queries().get(f"{DRY}{query.name}")
    known = {**parameters}
    if evidence.unique is not None and "unique" in {param.name for param in query.params}:
        known["unique"] = [{**one} for one in evidence.unique]
    return Repair(
        query=query.name, cypher=query_of_graph(query, layout), dry_run=query_of_graph(dry, layout) if dry else None, parameters=known,
        reads=query.mode == "read", safe=rule.repair_safe, note=rule.repair_note or None,
    )


def reads_evidence(rule: Rule) -> bool:
    """Whether the rule's repair asks what constraints declare unique."""
    query = repair_query(rule)
    return query is not None and "unique" in {param.name for param in query.params}


def lists_hits(rule: Rule, query: Query) -> bool:
    """Whether the repair's element ids are those of the rule's hits; else the reader chooses."""
    return rule.repair_lists_hits and bool({"element_ids", "groups"} & {param.name for param in query.params})


def query_lists(rule: Rule) -> Literal["hits", "rows"]:
    """What the rule's query lists: its hits, or the rows in which a step in Python finds them."""
    return "rows" if rule.step and all_queries()[rule.id].columns != ("count", "total", "sample") else "hits"
