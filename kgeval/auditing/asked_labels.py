"""Where a check is asked: on which labels of a graph, by what they are (kgeval.profiling), and how grave its hits are in a graph of a kind.

What holds of an extractor's output does not of what people keep: a film may be called "Nobody", two answers share a title, and a genre has
many films.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgeval.auditing.hit_shares import seldom_true
from kgeval.auditing.rulebook import Rule
from kgeval.graph.layouts.entity_names import last_word
from kgeval.names.forms import kind_of
from kgeval.profiling.record import GraphProfile, LabelProfile
from kgeval.records import Layout
from kgeval.text.wordlists import word_set

# labels of things that have names of their own, even where the nodes hold no more than that; beside those that `kind_of` knows
BEARERS = word_set("""
    judge lawyer lecturer teacher professor instructor tutor supervisor manager owner founder editor publisher composer conductor singer
    drummer painter photographer designer architect engineer researcher investigator inventor contributor reviewer referee coach driver
    pilot captain officer agent broker seller buyer vendor supplier distributor manufacturer brand maker carrier operator sponsor investor
    donor doctor physician nurse patient therapist student pupil guest host member client contact witness suspect defendant plaintiff
    minister senator politician candidate band ensemble orchestra port airport harbour harbor station venue stadium hospital clinic court
    hotel restaurant shop warehouse
""")
NOT_ASKED = frozenset(("technical", "passage", "document", "community"))  # roles of labels that are no things of the graph's


def without_technical(layout: Layout, profile: GraphProfile | None) -> Layout:
    """The layout without labels of tools (`_GraphConfig` of neosemantics): no check counts their nodes."""
    technical = [label.label for label in profile.labels if label.role == "technical" and label.label] if profile else []
    return _without(layout, technical)


def as_in(rule: Rule, profile: GraphProfile | None) -> Rule:
    """The rule as it holds in a graph of this kind: how grave its hits are there, and what to do about them. Where readers hold fewer than
    half of the hits to be true, they are information."""
    if profile is None:
        return rule
    is_seldom_true = seldom_true(rule.id, "extracted" if profile.is_from_texts else "made") is not None
    told = {
        "severity": "info" if is_seldom_true else rule.severity_in.get(profile.kind),
        "advice": "" if profile.is_from_texts else rule.advice_made,
    }
    changed = {name: value for name, value in told.items() if value}
    return rule.model_copy(update=changed) if changed else rule


def why_not_asked(rule: Rule, profile: GraphProfile | None) -> str | None:
    """Why a check is asked of no label of a graph; None where it is asked of one, or nothing is known of the graph."""
    things = _things(profile)
    if not things or any(_is_asked(rule, label) for label in things):
        return None
    kinds = sorted({label.kind for label in things})
    if rule.kinds and not {*kinds} & {*rule.kinds}:
        return f"not asked of a graph that is {' and '.join(kinds)}: the check is about graphs that are {' or '.join(rule.kinds)}"
    if rule.where_names_identify and all(label.names_identify is False for label in things):
        return "no label's names tell which thing is meant"
    return f"no label of the graph is one that it is asked of ({', '.join((*rule.kinds, *rule.roles))})"


def asked_layout(rule: Rule, layout: Layout, profile: GraphProfile | None) -> Layout:
    """The layout without the labels that a check is not asked of. A check of what is between labels is asked of all of them."""
    if rule.whole:
        return layout
    return _without(layout, [label.label for label in _things(profile) if label.label and not _is_asked(rule, label)])


def telling_properties(profile: GraphProfile | None) -> Mapping[str, Sequence[str]]:
    """By relation type of a graph that no writer made of texts, the properties that tell two relations of one pair apart: the minute of a
    goal, the line of a call."""
    if profile is None or profile.is_from_texts:
        return {}
    return {relation.type: relation.tells_apart for relation in profile.types if relation.tells_apart}


def _things(profile: GraphProfile | None) -> list[LabelProfile]:
    return [label for label in profile.labels if label.role not in NOT_ASKED] if profile else []


def _is_asked(rule: Rule, label: LabelProfile) -> bool:
    if rule.kinds and label.kind not in rule.kinds:
        return False
    if label.is_from_texts:  # a writer that merges by name means that it tells the thing, whatever its nodes look like
        return True
    if rule.roles and label.role not in rule.roles and not (rule.bearers and label.role == "value" and _bears_names(label.label)):
        return False
    if rule.no_works and (kind_of(label.label) == "work" or label.name == ["title"]):
        return False
    return not rule.where_names_identify or label.names_identify is not False


def _bears_names(label: str) -> bool:
    """Whether the last word of a label is one for people, organizations or the like, which have names of their own: unlike genres."""
    return kind_of(label) in ("person", "organization") or last_word(label).removesuffix("s") in BEARERS


def _without(layout: Layout, labels: Sequence[str]) -> Layout:
    if not labels:
        return layout
    return layout.model_copy(update={
        "entity_labels": [label for label in layout.entity_labels if label not in labels],
        "entity_excluded_labels": sorted({*layout.entity_excluded_labels, *labels}), "relations_join_entities_only": False,
    })
