"""What can be done about a finding: its rule's file of cypher/repair for the graph's layout, with the hits' element ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from kgeval.auditing.rulebook import Rule
from kgeval.graph.binding import query_of_graph
from kgeval.graph.layouts import fixes_types, names
from kgeval.graph.queries import Query, all_queries
from kgeval.records import Example, Layout, Repair

FIXED_TYPES = "its writer knows its relations by their type, so that renamed ones would be lost to it"
NOT_EXTRACTED = "nothing shows that a writer extracted it from texts"


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
) -> Repair:
    """The repair of a finding with hits. `examples`: those that its report lists; ids of waived ones are left out. `own`: the check's own.
    `extracted`: as `is_extracted` says.

    A graph for which it is not offered has none, and the reason.
    """
    if own is not None:
        return Repair(cypher=own, safe=True)
    query, reason = repair_query(rule), why_not_offered(rule, layout, extracted=extracted)
    if query is None or reason:
        return Repair(reason=reason)
    # the things that are hits, each once: of examples that are not waived the first item, or all of a group
    hits = (item for shown in examples if shown.waived is None for item in (shown.items[:1] if rule.hit == "first" else shown.items))
    ids: list[JsonValue] = [*dict.fromkeys(item.element_id for item in hits if item.element_id)]
    return Repair(
        query=query.name, cypher=query_of_graph(query, layout), parameters={"element_ids": ids} if lists_hits(rule, query) else {},
        reads=query.mode == "read", safe=rule.repair_safe, note=rule.repair_note or None,
    )


def lists_hits(rule: Rule, query: Query) -> bool:
    """Whether the repair's element ids are those of the rule's hits; else the reader chooses."""
    return rule.repair_lists_hits and "element_ids" in {p.name for p in query.params}


def query_lists(rule: Rule) -> Literal["hits", "rows"]:
    """What the rule's query lists: its hits, or the rows in which a step in Python finds them."""
    return "rows" if rule.step and all_queries()[rule.id].columns != ("count", "total", "sample") else "hits"
