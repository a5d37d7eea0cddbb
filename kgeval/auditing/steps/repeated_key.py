"""repeated-key: properties called like a key of their label whose values nearly all differ, but not all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.suspects import property_reference
from kgeval.graph.connect import Row
from kgeval.graph.layouts.entity_names import ID
from kgeval.profiling.record import GraphProfile, LabelProfile, PropertyProfile
from kgeval.records import Example
from kgeval.text.wordlists import word_set

FILLED, LEAST_NODES = 0.95, 10
SURE = 0.95  # share of values that differ, from which a property that only looks like a key is one
CODES = word_set("""
    iata icao iban isin isbn issn ean gtin upc sku vin ssn mrn imei orcid doi lei duns npi cas barcode serial serialnumber serialno partno
    partnumber itemno articleno accountnumber accountno ordernumber orderno invoicenumber invoiceno licenseplate employeenumber
    membernumber customernumber
""")
CALLED_ID = re.compile(r"(?:[a-z0-9](?:Id|ID|Uuid|UUID|Code|Nr|No)|_(?:id|uuid|key|code|nr|no|number))$")
NO_KEY = re.compile(
    r"zip|post|area|country|currency|language|phone|fax|mobile|tel|house|room|street|colou?r|status|type|state", re.IGNORECASE,
)
KEYS = ("id", "uuid", "guid", "uid", "uri", "iri", "key", "identifier")
NOT_ASKED = ("technical", "value", "community")


def run(check: CheckRun) -> CheckOutcome:
    """`count`: such properties; `total`: properties called like a key of their label, those that are keys included."""
    profile: GraphProfile | None = check.settings["profile"]
    if profile is None:
        return CheckOutcome(0, 0)
    labels = [label for label in profile.labels if label.label and label.nodes >= LEAST_NODES and label.role not in NOT_ASKED]
    names = {_plain(label.label) for label in profile.labels}
    known = [
        (label, values) for label in labels for values in label.properties
        if _is_called_key(label, values, names - {_plain(label.label)})
    ]
    suspects = [(label, values) for label, values in known if _is_suspect(profile, label, values, check)]
    if not suspects:
        return CheckOutcome(0, len(known))
    asked = [{"label": label.label, "key": values.key} for label, values in suspects]
    rows = list(_hits(check.own_rows(suspects=asked), float(check.settings["min_distinct"])))
    examples = [_example(row) for row in rows]
    return CheckOutcome(len(rows), len(known), examples[: check.sample], parameters={"suspects": asked})


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _is_called_key(label: LabelProfile, values: PropertyProfile, others: Collection[str]) -> bool:
    """Whether a property is called like the key of its own label, not of another one, and names no node."""
    plain, own = _plain(values.key), _plain(label.label)
    is_called = plain in (*KEYS, "path", "filepath") or any(plain == own + key for key in KEYS)
    looks_so = CALLED_ID.search(values.key) is not None and not NO_KEY.search(values.key) and not _is_foreign(plain, others)
    is_key = is_called or (values.distinct >= SURE and (looks_so or plain in CODES))
    return is_key and values.key not in label.name and values.filled >= FILLED


def _is_foreign(plain: str, others: Collection[str]) -> bool:
    """Whether a property is called like the key of another label."""
    return any(len(other) > 2 and plain.startswith(other) for other in others)


def _is_suspect(profile: GraphProfile, label: LabelProfile, values: PropertyProfile, check: CheckRun) -> bool:
    """Whether the sample, which may have met no repeat, leaves it open that values repeat, and nothing else tells the nodes apart. (What
    differs by chance, as headings do, is no key.)"""
    if _is_declared(profile, label, values.key) or any(ID.search(key) or _is_declared(profile, label, key) for key in label.keys):
        return False
    return values.distinct >= float(check.settings["min_distinct"])


def _is_declared(profile: GraphProfile, label: LabelProfile, key: str) -> bool:
    return any(_is_part(constraint, label, key) for constraint in profile.constraints)


def _is_part(constraint: str, label: LabelProfile, key: str) -> bool:
    """Whether a constraint on one of the label's labels (TYPE: LABELS.PROPERTIES) speaks of the property."""
    owner, _, keys = constraint.partition(": ")[2].rpartition(".")
    return key in keys.split(", ") and bool({label.label, *label.with_it} & set(owner.split(", ")))


def _hits(rows: list[Row], least: float) -> Iterator[Row]:
    for row in rows:
        if least * row["nodes"] <= row["values"] < row["nodes"]:
            yield row


def _example(row: Row) -> Example:
    values = "1 value stands" if row["repeated"] == 1 else f"{row['repeated']:,} values stand"
    why = f"{row['nodes']:,} nodes have {row['values']:,} values: {values} more than once, as '{row['example']}' ({row['times']:,} times)"
    return Example(items=[property_reference(row["owner"], row["key"])], why=why)
