"""extra-usual-relation: nodes with relations to several nodes, of a type of which nearly each node of their label has just one."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import layout_keys, plain_words
from kgeval.auditing.usual_relations import LEAST, arrow, likely_usual
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile, RelationProfile
from kgeval.records import Example
from kgeval.text.wordlists import word_list, word_set

ONE = 0.97  # share of nodes that have any with one, at least
FEWEST = 0.2  # relations a node, by the sample, from which that is asked: works that hang in no room are in a store
SAID, PLACED, UNSAID = 0.03, 0.025, 0.01  # shares of nodes with several (or one node), at most: by what the type's name says of one
PLACES = word_set("""
    at in on of for from to by stands placed located belongs issued billed home origin destination
    an auf bei von fur fuer zu pour dans chez de du en por para da dal nel nella presso per di op bij voor van ubicado esposta esposto
""")
# what a thing may well have several of, though most have one
SEVERAL = word_set("""
    work works worked working employed employs employer employee job member members membership team play plays played player direct
    directs directed director wrote write written writer author authored authors create created creator make made maker produce produced
    producer act acts acted acting actor starring perform performed sing sung compose composed composer teach teaches taught teacher
    attend attends attended study studied student know knows friend like likes follow follows followed married spouse partner child
    children parent parents guardian sibling speak speaks spoken language languages genre genres category categories tag tags tagged
    topic topics subject keyword award awards won nominated skill skills interest interests invest invested investor fund funded funds
    sponsor sponsored supervise supervised supervisor advisor mentor review reviewed rate rated buy bought buys purchased bid use uses
    used depends requires required related similar cites cited references mentions mention nationality citizen citizenship allergy
    diagnosis diagnosed treats treated treatment doctor covers supply supplies supplied supplier ingredient visit visited visits live
    lives lived phone telephone email contact address account role project assigned manage manages managed manager own owns owner owned
    owners worn signed signatory translated adopted invented discovered designed designer painted stars features featuring presented
    hosted edited editor shot filmed
    arbeitet spielt mitglied kennt verheiratet autor regie leitet travaille joue membre connait auteur enseigne trabaja juega miembro
    conoce autor lavora suona membro conosce autore insegna werkt speelt lid kent
""")
HOLDS = word_set("""
    has have contains contain includes include holds hold offers sells lists hat haben enthalt enthaelt besitzt bietet contient possede
    tiene contiene ha heeft bevat tem contem
""")  # of what holds several; each is in one


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes with several such relations, once for each type; `total`: nodes with any, of types of which nearly each has one."""
    profile: GraphProfile | None = check.settings["profile"]
    suspects = list(_suspects(profile, layout_keys(check.layout))) if profile else []
    if not suspects:
        return CheckOutcome(0, 0)
    usual = [row for row in check.own_rows(suspects=suspects) if _is_usual(row)]
    return check.outcome_of(usual, "several", sum(row["one"] + row["several"] for row in usual), _example, suspects=suspects)


def _suspects(profile: GraphProfile, own: frozenset[str]) -> Iterator[dict[str, str | bool]]:
    """Those of which some may have several, and no property tells two of them apart."""
    for relation, asked in likely_usual(profile, fewest=FEWEST):
        outgoing = bool(asked["outgoing"])
        most = relation.most_per_start if outgoing else relation.most_per_end
        several = most != 1 or relation.sampled < relation.count
        if several and not _tells_apart(relation, own) and share_of_several(relation.type, outgoing=outgoing) is not None:
            yield asked


def _tells_apart(relation: RelationProfile, own: frozenset[str]) -> bool:
    """Whether a property of the relation says which is meant: from when to when, in which role."""
    own_properties = (found for found in relation.properties if found.key not in own)
    return any(found.distinct * found.filled * relation.sampled > 1.5 for found in own_properties)


def share_of_several(type_: str, *, outgoing: bool) -> float | None:
    """Share of nodes that may have several by mistake; None where they may rightly."""
    words = {*plain_words(type_)}
    if words & SEVERAL or (outgoing and words & HOLDS):
        return None
    if " ".join(plain_words(type_)) in word_list("one_object"):
        return SAID
    return PLACED if words & (PLACES | HOLDS) else UNSAID


def _is_usual(row: Row) -> bool:
    share = share_of_several(row["type"], outgoing=row["outgoing"])
    of, several = row["one"] + row["several"], row["several"]
    return bool(share is not None and of >= LEAST and row["one"] >= min(ONE * of, of - 1) and several <= max(1, share * of))


def _example(row: Row, example: Example) -> Example:
    way = arrow(row["type"], outgoing=row["outgoing"])
    why = f"{way} {example.why}, where {row['one']:,} of {row['one'] + row['several']:,} {row['owner'][:100]} that have any have one"
    return example.model_copy(update={"why": why})
