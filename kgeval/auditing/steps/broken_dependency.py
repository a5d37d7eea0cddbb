"""broken-dependency: values that go against what stands with another value everywhere else: another town's postal code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of, one_each
from kgeval.auditing.steps.unusual_number import is_quantity
from kgeval.auditing.suspects import OPTIONAL, plain_words
from kgeval.graph.connect import Row
from kgeval.profiling.dependencies import ALWAYS, BROKEN, BROKEN_STATE, PURE
from kgeval.profiling.record import PRESENCES, Dependency, GraphProfile
from kgeval.text.wordlists import word_set

MOST_ROWS = 20_000_000  # rows that are counted for all together
# what says nothing of anything else but by chance
OF_PERSONS = word_set("""
    first last given family middle surname forename firstname lastname vorname nachname familienname prenom nom nombre apellido apellidos
    nome cognome voornaam achternaam
""")
QUANTITIES = word_set("""
    amount price cost total sum count quantity qty importe precio montant prix betrag preis menge anzahl importo prezzo days minutes hours
    duration weight height length width area age salary fee score rating percent pct
""")
Rule = dict[str, str | int | dict[str, str] | None]


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes and relations that go against one; `total`: rows of what was asked."""
    profile: GraphProfile | None = check.settings["profile"]
    if profile is None:
        return CheckOutcome(0, 0)
    known = list(_affordable(profile, [one for one in profile.dependencies if is_meant(one)]))
    asked = [_asked(at, one) for at, one in enumerate(known)]
    if not asked:
        return CheckOutcome(0, 0)
    kept = list(_best_years(known, [row for row in check.own_rows(rules=asked, sample=0) if _is_kept(known[row["at"]], row)]))
    total = sum(row["rows"] for row in kept)
    broken = [{**asked[row["at"]], "among": dict(row["broken"])} for row in _surest(known, kept) if row["told"]]
    if not broken:
        return CheckOutcome(0, total, parameters={"rules": [asked[row["at"]] for row in kept]})
    rows = {row["at"]: row for row in check.own_rows(rules=broken)}
    told = [rows[rule["at"]] for rule in broken if rule["at"] in rows]
    hits = {id: None for row in told for id in row["ids"]}
    examples = list(one_each(examples_of(example for row in told for example in row["sample"])))
    return CheckOutcome(len(hits), total, examples[: check.sample], parameters={"rules": broken})


def _affordable(profile: GraphProfile, known: Iterable[Dependency]) -> Iterator[Dependency]:
    """The surest, as many as can be counted in a large graph."""
    nodes = {label.label: label.nodes for label in profile.labels}
    relations = {relation.type: relation.count for relation in profile.types}
    rows = 0
    for one in known:
        rows += nodes.get(one.start, 0) if one.type is None else relations.get(one.type, 0)
        if rows <= MOST_ROWS:
            yield one


def is_meant(one: Dependency) -> bool:
    """Whether the two have to do with each other: no person's name or quantity says anything, and a remark need not be there."""
    first, last = one.first, one.last
    if one.kind == "at most":
        return is_quantity(first.key or "") and is_quantity(last.key or "")
    by = {*plain_words(first.key or "")}
    if first.part == "value" and one.kind == "says" and (by & OF_PERSONS or (first.key and by & QUANTITIES)):
        return False
    return not (last.is_presence and {*plain_words(last.key or "")} & OPTIONAL)


def _asked(at: int, one: Dependency) -> Rule:
    return {
        "at": at, "type": one.type, "start": one.start, "end": one.end, "first": one.first.key, "first_of": one.first.side,
        "first_part": one.first.part, "last": one.last.key, "last_of": one.last.side, "last_part": one.last.part,
        "kind": one.kind, "only": one.only, "among": None,
    }


def _is_kept(one: Dependency, row: Row) -> bool:
    """Whether nearly all of the graph keeps it, not only the sample."""
    few = row["wrong"] <= max(ALWAYS, BROKEN * row["rows"])
    if one.only is not None:
        return bool(few and row["wrong"] <= BROKEN_STATE * row["rows"])
    return bool(few and (one.kind != "says" or row["pure"] >= PURE * row["groups"] - 1))


def _best_years(known: Sequence[Dependency], rows: Sequence[Row]) -> Iterator[Row]:
    """Of the dates whose year stands in a code the one that keeps it best: an invoice of December is paid in January."""
    best: dict[tuple[str, str | None, str | None], float] = {}
    for row in rows:
        for code in _codes_with_a_year(known[row["at"]]):
            best[code] = min(best.get(code, 1.0), row["wrong"] / row["rows"])
    for row in rows:
        if all(row["wrong"] / row["rows"] <= best[code] for code in _codes_with_a_year(known[row["at"]])):
            yield row


def _codes_with_a_year(one: Dependency) -> list[tuple[str, str | None, str | None]]:
    years = [value for value in (one.first, one.last) if value.part == "year"]
    return [(one.start, one.type, value.key) for value in years] if len(years) > 1 else []


def _surest(known: Sequence[Dependency], rows: Sequence[Row]) -> list[Row]:
    """Those first that most rows keep, and that are of whole values."""
    return sorted(rows, key=lambda row: (known[row["at"]].last.part not in ("value", *PRESENCES), row["wrong"] / row["rows"]))
