"""Where a check is asked: on which labels of a graph, by what they are (kgeval.profiling), and how grave its hits are in a graph of a kind.

What holds of an extractor's output does not of what people keep: a film may be called "Nobody", two answers share a title, and a genre has
many films.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgeval.auditing.rulebook import Rule
from kgeval.profiling.record import GraphProfile, LabelProfile
from kgeval.records import Layout

READ_OUT = frozenset(("extracted", "memory"))  # kinds that a writer made of texts
NOT_ASKED = frozenset(("technical", "passage", "document", "community"))  # roles of labels that are no things of the graph's


def without_technical(layout: Layout, profile: GraphProfile | None) -> Layout:
    """The layout without labels of tools (`_GraphConfig` of neosemantics): no check counts their nodes."""
    technical = [label.label for label in profile.labels if label.role == "technical" and label.label] if profile else []
    return _without(layout, technical)


def as_in(rule: Rule, profile: GraphProfile | None) -> Rule:
    """The rule as it holds in a graph of this kind: how grave its hits are there, and what to do about them."""
    if profile is None:
        return rule
    told = {"severity": rule.severity_in.get(profile.kind), "advice": rule.advice_made if profile.kind not in READ_OUT else ""}
    changed = {name: value for name, value in told.items() if value}
    return rule.model_copy(update=changed) if changed else rule


def asked_layout(rule: Rule, layout: Layout, profile: GraphProfile | None) -> Layout | str:
    """The layout of what a check looks at; why there is nothing to look at, where that is so."""
    if profile is None:
        return layout
    things = [label for label in profile.labels if label.role not in NOT_ASKED]
    if not things or not (rule.kinds or rule.roles or rule.where_names_identify):
        return layout
    asked = [label for label in things if _is_asked(rule, label)]
    if not asked:
        return _why_not(rule, things)
    if rule.whole:  # what it counts is between the labels: asked of all, where any is of its kind
        return layout
    return _without(layout, [label.label for label in things if label not in asked and label.label])


def telling_properties(profile: GraphProfile | None) -> Mapping[str, Sequence[str]]:
    """By relation type of a graph that no writer made of texts, the properties that tell two relations of one pair apart: the minute of a
    goal, the line of a call."""
    if profile is None or profile.kind in READ_OUT:
        return {}
    return {relation.type: relation.tells_apart for relation in profile.types if relation.tells_apart}


def _is_asked(rule: Rule, label: LabelProfile) -> bool:
    if rule.kinds and label.kind not in rule.kinds:
        return False
    if label.kind in READ_OUT:  # a writer that merges by name means that it tells the thing, whatever its nodes look like
        return True
    if rule.roles and label.role not in rule.roles:
        return False
    return not rule.where_names_identify or label.names_identify is not False


def _why_not(rule: Rule, things: Sequence[LabelProfile]) -> str:
    kinds = sorted({label.kind for label in things})
    if rule.kinds and not {*kinds} & {*rule.kinds}:
        return f"not asked of a graph that is {' and '.join(kinds)}: the check is about graphs that are {' or '.join(rule.kinds)}"
    if rule.where_names_identify and all(label.names_identify is False for label in things):
        return "no label's names tell which thing is meant"
    return f"no label of the graph is one that it is asked of ({', '.join((*rule.kinds, *rule.roles))})"


def _without(layout: Layout, labels: Sequence[str]) -> Layout:
    if not labels:
        return layout
    return layout.model_copy(update={
        "entity_labels": [label for label in layout.entity_labels if label not in labels],
        "entity_excluded_labels": sorted({*layout.entity_excluded_labels, *labels}), "relations_join_entities_only": False,
    })
