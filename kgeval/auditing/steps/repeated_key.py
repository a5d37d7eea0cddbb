"""repeated-key: properties that are keys of their label, by their name or the shape of their values, whose values nearly all differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.code_shapes import are_codes, may_be_called_code
from kgeval.auditing.suspects import TEXT, property_reference
from kgeval.graph.connect import Row
from kgeval.graph.layouts.entity_names import ID
from kgeval.profiling.record import GraphProfile, LabelProfile, PropertyProfile
from kgeval.records import Example
from kgeval.text.wordlists import word_set

FILLED, CODED, LEAST_NODES = 0.95, 0.5, 10  # shares of nodes that have the property, the second of what is a code everywhere; nodes
LEAST_NAMED = 12  # nodes of which one value twice is a repeat, where the name alone says a key
ROUNDED = 1e-9  # what shares of floats are off by
SURE = 0.95  # share of values that differ, from which a property that only looks like a key is one
NEARLY, LEAST_CODED = 0.98, 50  # the same, and nodes, where its values look like codes, or another property is a key, too
SHOWN = 20  # values that stand more than once that its sentence names, at most
MOST_SHAPES = 60  # properties of which values are read for their shape
CODES = word_set("""
    iata icao iban isin isbn isbn10 isbn13 issn ean ean13 ean8 gtin gtin13 gtin14 upc upca sku vin ssn mrn imei orcid doi lei duns npi cas
    imo mmsi isrc iswc isni ismn isan mbid pmid pmcid oclc lccn asin gln unlocode slug permalink
    barcode serial serialnumber serialno partno
    partnumber itemno articleno accountnumber accountno ordernumber orderno invoicenumber invoiceno licenseplate employeenumber
    membernumber customernumber taxid taxno taxnumber cif nif vat vatid vatno vatnumber vatin ustid ustidnr steuernummer siret siren ip
    ipaddress mac macaddress licensenumber licencenumber licenseno licenceno licenceplate numberplate platenumber plate kennzeichen
    matricula targa cote microchip microchipno microchipnumber chipnumber chipno chipnr transponder
""")
CALLED_ID = re.compile(r"(?:[a-z0-9](?:Id|ID|Uuid|UUID|Code|Nr|No)|_(?:id|uuid|key|code|nr|no|number))$")
NO_KEY = re.compile(
    r"zip|post|area|country|currency|language|phone|fax|mobile|tel|house|room|street|colou?r|status|type|state", re.IGNORECASE,
)
KEYS = ("id", "uuid", "guid", "uid", "uri", "iri", "key", "identifier")
NOT_ASKED = ("technical", "value", "community")


@dataclass(frozen=True)
class KeySuspect:
    """A property that may be a key of a label. `by_shape`: only if its values are codes."""

    label: LabelProfile
    values: PropertyProfile
    by_shape: bool = False


def run(check: CheckRun) -> CheckOutcome:
    """`count`: such properties; `total`: properties called like a key of their label, those that are keys included."""
    profile: GraphProfile | None = check.settings["profile"]
    if profile is None:
        return CheckOutcome(0, 0)
    labels = [label for label in profile.labels if label.label and label.nodes >= LEAST_NODES and label.role not in NOT_ASKED]
    names = {_plain(label.label) for label in profile.labels}
    known, shaped = [], []
    for label in labels:
        others = names - {_plain(label.label)}
        for values in label.properties:
            if _is_called_key(label, values, others):
                known.append(KeySuspect(label, values))
            elif _may_hold_codes(label, values, others):
                shaped.append(KeySuspect(label, values, by_shape=True))
    suspects = [one for one in known if _is_suspect(profile, one, check)]
    suspects += [one for one in shaped if not _is_declared(profile, one.label, one.values.key)][:MOST_SHAPES]
    if not suspects:
        return CheckOutcome(0, len(known))
    asked = [{"label": one.label.label, "key": one.values.key} for one in suspects]
    by_shape = {(one.label.label, one.values.key) for one in suspects if one.by_shape}
    rows = list(_hits(check.own_rows(suspects=asked, shown=min(check.sample, SHOWN)), by_shape, float(check.settings["min_distinct"])))
    examples = [_example(row) for row in rows]
    given = {"suspects": asked, "shown": SHOWN}
    return CheckOutcome(len(rows), max(len(known), len(rows)), examples[: check.sample], parameters=given)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _is_called_key(label: LabelProfile, values: PropertyProfile, others: Collection[str]) -> bool:
    """Whether a property is called like the key of its own label, not of another one, and names no node."""
    plain, own = _plain(values.key), _plain(label.label)
    is_called = plain in (*KEYS, "path", "filepath") or any(plain == own + key for key in KEYS)
    looks_so = CALLED_ID.search(values.key) is not None and not NO_KEY.search(values.key) and not _is_foreign(plain, others)
    is_key = is_called or (values.distinct >= SURE and looks_so) or _is_code_by_name(label, values)
    least = CODED if _is_code_by_name(label, values) else FILLED
    return is_key and values.key not in label.name and values.filled >= least


def _is_code_by_name(label: LabelProfile, values: PropertyProfile) -> bool:
    """Whether a property is called like what tells things apart everywhere (an ISBN, a number plate), and all values but one differ, or
    nearly all."""
    plain = _plain(values.key)
    least = min(SURE, 1 - 1 / label.nodes) if label.nodes >= LEAST_NAMED else SURE
    return (plain in CODES or plain.removeprefix(_plain(label.label)) in CODES) and values.distinct >= least - ROUNDED


def _may_hold_codes(label: LabelProfile, values: PropertyProfile, others: Collection[str]) -> bool:
    """Whether a property whose name says nothing of a key is on nearly all nodes, with values that nearly all differ: texts or integers."""
    if label.nodes < LEAST_CODED or values.filled < FILLED or values.distinct < NEARLY or values.key in {*label.name, *label.keys}:
        return False
    if max(values.types.get(TEXT, 0.0), values.types.get("INTEGER", 0.0)) < FILLED or not may_be_called_code(values.key):
        return False
    return not NO_KEY.search(values.key) and not _is_foreign(_plain(values.key), others)


def _is_foreign(plain: str, others: Collection[str]) -> bool:
    """Whether a property is called like the key of another label."""
    return any(len(other) > 2 and plain.startswith(other) for other in others)


def _is_suspect(profile: GraphProfile, one: KeySuspect, check: CheckRun) -> bool:
    """Whether the sample, which may have met no repeat, leaves it open that values repeat, and nothing else tells the nodes apart. (What
    differs by chance, as headings do, is no key.) What is a code everywhere is a key beside another one, too."""
    label, values = one.label, one.values
    if _is_declared(profile, label, values.key):
        return False
    if any(ID.search(key) or _is_declared(profile, label, key) for key in label.keys):
        least = min(NEARLY, 1 - 1 / label.nodes) - ROUNDED
        return label.nodes >= LEAST_NAMED and _is_code_by_name(label, values) and values.distinct >= least
    return values.distinct >= float(check.settings["min_distinct"])


def _is_declared(profile: GraphProfile, label: LabelProfile, key: str) -> bool:
    return any(_is_part(constraint, label, key) for constraint in profile.constraints)


def _is_part(constraint: str, label: LabelProfile, key: str) -> bool:
    """Whether a constraint on one of the label's labels (TYPE: LABELS.PROPERTIES) speaks of the property."""
    owner, _, keys = constraint.partition(": ")[2].rpartition(".")
    return key in keys.split(", ") and bool({label.label, *label.with_it} & set(owner.split(", ")))


def _hits(rows: list[Row], by_shape: Collection[tuple[str, str]], least: float) -> Iterator[Row]:
    for row in rows:
        if (row["owner"], row["key"]) in by_shape:
            is_key = row["values"] >= NEARLY * row["nodes"] and are_codes(row["some"])
        else:
            is_key = row["values"] >= least * row["nodes"]
        if is_key and row["values"] < row["nodes"]:
            yield row


def _example(row: Row) -> Example:
    values = "1 value stands" if row["repeated"] == 1 else f"{row['repeated']:,} values stand"
    repeats = [_repeat(one) for one in row["repeats"]]
    shown = ", ".join([*repeats, "..."] if repeats and len(repeats) < row["repeated"] else repeats)
    why = f"{row['nodes']:,} nodes have {row['values']:,} values: {values} more than once{', as ' if shown else ''}{shown}"
    return Example(items=[property_reference(row["owner"], row["key"])], why=why)


def _repeat(one: Row) -> str:
    """A value, how often it stands, and some of its nodes in the order of their names: a server gives nodes in the order of their places,
    which are taken again."""
    names = sorted(_told_apart(one["of"]))
    return f"'{one['value']}' ({one['times']:,} times: {', '.join([*names, '...'] if one['times'] > len(names) else names)})"


def _told_apart(nodes: list[Row]) -> list[str]:
    """The names of nodes, each with another value that differs where they are the same."""
    names = [node["name"] for node in nodes]
    if len({*names}) == len(names):
        return names
    held = [dict(node["held"]) for node in nodes]
    keys = sorted({key for own in held for key in own})
    apart = {key: len({own.get(key) for own in held}) for key in keys}
    best = max(keys, key=lambda key: (apart[key], sum(key in own for own in held), -keys.index(key)), default="")
    if apart.get(best, 1) == 1:
        return [f"{node['name']} (element id {node['id']})" for node in nodes]
    values = [f"{best} {own[best]}" if own.get(best) is not None else f"no {best}" for own in held]
    return [f"{name} ({value})" for name, value in zip(names, values, strict=True)]
