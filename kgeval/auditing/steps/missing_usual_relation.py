"""missing-usual-relation: nodes without a relation of which nearly each node of their label has just one, or each has several."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import name_words, plain_words
from kgeval.auditing.usual_relations import arrow, likely_usual
from kgeval.graph.connect import Row
from kgeval.profiling.record import GraphProfile
from kgeval.records import Example
from kgeval.text.wordlists import word_set

LEAST = 20  # nodes of which nearly all say something
MANY, FEWEST = 100.0, 3  # relations a node, at most, that are asked, and how many each other node has where none is no chance
LEAST_MANY = 30  # nodes of which that can be said
ONE, NONE = 0.9, 0.025  # shares of nodes with one relation, at least, and with none, at most (or one node)
FEW, TWO = 0.04, 2  # share of nodes without, at most, where all others have just one; two always may be
LEAST_OF, LEAST_EACH = 40, 50  # nodes of which that says something: by the type's name
# what something is of, or for: without it is nothing
OF = word_set("""
    of for belongs belong von fur fuer gehort gehoert de du des pour appartient para pertenece di per appartiene do da pertence van
    voor hoort
""")
# what comes in time, or never: who approved it, where it was sent, what came before
IN_TIME = word_set("""
    by to from until next previous after before parent via with durch an zu nach mit aus par vers avec apres avant por hasta con
    despues antes verso dopo prima com depois door naar met
""")
MADE_OF = word_set("consists comprises ingredient ingredients made composed line lines item items")
HOLDS = word_set("contains contain includes include part parts")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes without such a relation, once for each; `total`: nodes of labels of which nearly each has one, likewise."""
    profile: GraphProfile | None = check.settings["profile"]
    suspects = [asked for _, asked in likely_usual(profile, LEAST, MANY)] if profile else []
    if not suspects:
        return CheckOutcome(0, 0)
    usual = [row for row in check.own_rows(suspects=suspects) if _is_usual(row)]
    return check.outcome_of(usual, "none", sum(row["nodes"] for row in usual), _example, suspects=suspects)


def _is_usual(row: Row) -> bool:
    if row["nodes"] < LEAST:
        return False
    if row["none"] > max(1, NONE * row["nodes"]):
        return _has_each_one(row)
    return bool(row["one"] >= ONE * row["nodes"] or _has_each_several(row))


def _has_each_one(row: Row) -> bool:
    """Whether a few without one are slips: each other node has just one, and the type's name says what the node is of, or at least nothing
    of what comes in time."""
    words = {*plain_words(row["type"])}
    if not row["outgoing"] or row["none"] > max(TWO, FEW * row["nodes"]) or row["one"] < row["nodes"] - row["none"]:
        return False
    return bool(words & OF and row["nodes"] >= LEAST_OF) or bool(not words & IN_TIME and row["nodes"] >= LEAST_EACH)


def _has_each_several(row: Row) -> bool:
    """Whether none is no smaller case of few: all others have three and more, of what holds others two, and of what is made of others (an
    order of its items, a recipe of its ingredients) one; who bought once may have bought nothing."""
    words = {*name_words(row["type"])} if row["outgoing"] else set()
    fewest = 1 if words & MADE_OF else 2 if words & HOLDS else FEWEST
    return bool(row["nodes"] >= LEAST_MANY and row["least"] >= fewest)


def _example(row: Row, example: Example) -> Example:
    have = row["nodes"] - row["none"]
    why = f"none {arrow(row['type'], outgoing=row['outgoing'])}, which {have:,} of {row['nodes']:,} {row['owner'][:100]} have"
    return example.model_copy(update={"why": why})
