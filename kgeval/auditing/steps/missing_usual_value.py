"""missing-usual-value: nodes and relations without a value that nearly all others of their label or type have."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import OPTIONAL, TEXT, KeptProperty, every_property, plain_words
from kgeval.graph.connect import Row
from kgeval.records import Example
from kgeval.text.wordlists import word_set

LEAST = 20  # nodes or relations of which nearly all say something
LIKELY = 0.95  # share of the sample that has the property
MISSING = 0.01  # share up to which a missing value is a slip; one always is
# what is not there yet
OPEN = word_set("""
    end ended ends until till thru through died dead death deceased closed close finish finished completed complete completion returned
    return delivered delivery shipped paid payment cancelled canceled resolved approved retired left leaving exit resigned dissolved
    expired expires expiry expiration terminated score result outcome winner grade rating
    bis ende gestorben beendet abgeschlossen bezahlt geliefert fin fini mort deces paye livre rendu
    hasta muerte pagado entregado devuelto fine morto pagato consegnato einde overleden betaald
""")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: values that are missing; `total`: nodes and relations of properties that nearly all have, by property."""
    known = [found for found in every_property(check) if _is_usual(found)]
    if not known:
        return CheckOutcome(0, 0)
    asked = [found.asked() for found in known]
    rows = check.own_rows(suspects=asked, sample=0)
    told = [known[row["at"]] for row in rows if 0 < row["hits"] <= max(1, MISSING * row["all"])]
    total = sum(row["all"] for row in rows)
    if not told:
        return CheckOutcome(0, total, parameters={"suspects": asked})
    listed = [found.asked() for found in told]

    def said(row: Row, example: Example) -> Example:
        have = row["all"] - row["hits"]
        why = f"no {told[row['at']].values.key[:100]}, which {have:,} of {row['all']:,} {told[row['at']].owner[:100]} have"
        return example.model_copy(update={"why": why})

    return check.outcome_of(check.own_rows(suspects=listed), "hits", total, said, suspects=listed)


def _is_usual(found: KeptProperty) -> bool:
    """Whether nearly all have the property, what it means is there for each, and some may be without."""
    may_lack = found.values.filled < 1 or found.sampled < found.of or found.values.types.get(TEXT, 0.0) > 0
    is_due = not {*plain_words(found.values.key)} & (OPEN | OPTIONAL)
    return found.of >= LEAST and found.values.filled >= LIKELY and may_lack and is_due
