"""Which property names the entities of a label, from how full and how different it is; and what a user may write instead."""

from __future__ import annotations

import pytest

from kgeval.graph.layouts import Catalogue, load_profile
from kgeval.graph.layouts.entity_names import KeyUse, bound_names, chosen, described_by, spelled
from kgeval.records import LabelName, Layout

LISTED = [key for key in load_profile("generic").name_keys if key != "*"]
SEEN = Catalogue(
    9, 9, {"Person": 5, "Order": 4, "a.b": 1}, {}, {}, {},
    frozenset({"name", "firstName", "lastName", "the.name", "x+y", "orderID"}), (), "scan",
)


def use(
    key: str, *some: str, filled: int | None = None, texts: int | None = None, values: int | None = None, of: int = 20,
) -> KeyUse:
    """A property of 20 entities that has these values, all different unless told."""
    count = of if filled is None else filled
    length = sum(map(len, some)) / max(1, len(some))
    return KeyUse(key, of, count, count if texts is None else texts, count if values is None else values, length, some)


TITLE = use("title", "Sales Representative", "Vice President", values=3)
PEOPLE = [use("firstName", "Nancy", "Anne", values=15), use("lastName", "Davolio", "King")]


@pytest.mark.parametrize(("label", "uses", "expected"), [
    ("Employee", [*PEOPLE, TITLE, use("employeeID", "1", "2")], (["firstName", "lastName"], ["employeeID"])),
    ("Person", [use("first_name", "Nancy"), use("last_name", "King"), use("full_name", "Nancy King")], (["full_name"], None)),
    ("Customer", [use("companyName", "Alfreds"), use("contactName", "Maria"), use("customerID", "ALFKI")],
     (["companyName"], ["customerID"])),
    ("Company", [use("companyName", "Alfreds", values=12), use("tradeName", "Alf")], (["companyName"], None)),
    ("Order", [use("orderID", "10248", "10249"), use("shipName", "Vins", values=9),
               use("shipCountry", "France", values=5)], (None, ["orderID"])),
    ("Order", [use("uuid", "3f2a-11", "9c1b-22"), use("status", "open", values=2)], (None, ["uuid"])),
    ("Person", [use("id", "Ada Lovelace", "Charles Babbage")], (["id"], None)),
    ("Part", [use("id", "P-0001", "P-0002")], (None, ["id"])),
    ("Review", [use("text", "This is " + 30 * "very long "), use("stars", "1", "2", texts=0, values=5)], (None, [])),
    ("Book", [use("title", "Moby Dick", "Emma"), use("isbn", "978-3-16", "978-1-23")], (["title"], None)),
    ("City", [use("ort", "Köln", "Bonn"), use("plz", "50667", "53111"), use("mail", "a@b.de", "c@d.de")], (["ort"], None)),
    ("Person", [use("name", "Ada", filled=12), use("fullName", "Ada L."), use("id", "7")], (["name"], ["id"])),
    ("Person", [use("name", "Ada", filled=3), use("nickname", "A"), use("fullName", "Ada L.")], (["fullName"], None)),
    ("Case", [use("primaryid", "1", "2"), use("country", "DE", values=2)], (None, ["primaryid"])),
    ("Part", [use("plate", "B-KG 1", "B-KG 2"), use("stationid", "7", "8")], (None, ["stationid"])),
    ("Act", [use("short_title", "Fisheries Act 1950", "Water Act 1952"), use("enacted", "1950-02-01", "1952-03-04")],
     (["short_title"], None)),
    ("Page", [use("pageTitle", "1984", "Route 66", "Area 51", "About 9 men", "Blink 182"), use("id", "7")], (["pageTitle"], ["id"])),
    ("Section", [use("heading", "Interpretation", "Offences", values=4), use("text", "In this Act " + 30 * "very long ")],
     (["heading"], None)),
    ("Section", [use("heading", "Interpretation", "Offences", values=4), use("id", "s1", "s2")], (None, ["id"])),
    ("Employee", [use("job_title", "Sales Representative", "Vice President", values=12), use("empId", "1", "2")], (None, ["empId"])),
    ("Employee", [use("designation", "Clerk", "Manager", values=4), use("empId", "1", "2")], (None, ["empId"])),
    ("Account", [use("opened", "1950-02-01", "1952-03-04"), use("iban", "DE1234567", "DE1234568")], (None, ["iban"])),
    ("Shift", [use("began", "2020-01-01T10:00:00Z", "2020-01-02T10:00:00Z")], (None, [])),
    ("Hive", [use("tag", "HV-1007", "HV-1014", values=19), use("weight_kg", "31.5", "28.1", texts=0), use("painted", "2015-01-02"),
              use("note", "calm 1", "calm 2")], (None, ["tag"])),
    ("Tram", [use("callsign", "KX7", "KX9", filled=40, values=37, of=40), use("depot", "North", "South", filled=40, values=5, of=40)],
     (None, ["callsign"])),
    ("Tram", [use("callsign", "KX7", "KX9", filled=40, values=34, of=40), use("depot", "North", "South", filled=40, values=5, of=40)],
     (None, [])),
    ("Car", [use("registration", "AB12 CDE", "XY99 ZZZ", filled=38, values=38, of=40), use("seats", "4", "5", texts=0, values=3, of=40)],
     (None, ["registration"])),
    ("Ring", [use("ring", "7", "8", "9", texts=0, values=19), use("price", "15", "840", texts=0, values=19)], (None, ["ring"])),
    ("Dog", [use("chip", "276098104", "276098221", values=18), use("kind", "big", "small", values=2)], (None, ["chip"])),
    ("Pay", [use("sum", "45000", "72000", texts=0, values=19), use("kind", "big", "small", values=2)], (None, [])),
    ("Sale", [use("price", "15", "840", texts=0, values=19), use("paid", "15.2", "840.1", texts=0)], (None, [])),
    ("Thing", [], (None, [])),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_label_is_named_by_what_its_entities_are_called(
    label: str, uses: list[KeyUse], expected: tuple[list[str] | None, list[str] | None],
) -> None:
    found = chosen(label, uses, LISTED)
    names, ids = [one.keys for one in found if not one.is_id], [one.keys for one in found if one.is_id]
    assert (names[0] if names else None, ids[0] if ids else None) == expected
    assert {one.label for one in found} == {label}


@pytest.mark.parametrize(("uses", "expected"), [
    ([use("lorry", "L3", "L4", values=6), use("on", "2023-07-12", values=15), use("state", "done", values=1)], ["lorry", "on"]),
    ([use("on", "2023-07-12", values=15)], ["on"]), ([use("a", "1", texts=0), use("b", "2.5"), use("c", "x"), use("d", "y", values=3)],
                                                     ["a", "b", "c"]),
    ([use("state", "done", values=1)], []), ([use("text", 30 * "very long ")], []), ([use("seldom", "x", filled=4)], []), ([], []),
    ([use("town", "Bonn", of=1)], ["town"]),
])
def test_what_describes_an_entity_is_short_and_differs(uses: list[KeyUse], expected: list[str]) -> None:
    assert described_by(uses) == expected


@pytest.mark.parametrize(("entries", "keys", "names"), [
    ("name", ["name"], []), ("foo", ["foo"], []), ("the.name,x+y", ["the.name", "x+y"], []), ("foo,name", ["name"], []),
    ("firstName+lastName,name", ["firstName", "lastName", "name"], ["firstName+lastName", "name"]),
    ("Person.firstName+lastName,Order.orderID", ["firstName", "lastName", "orderID"], ["Person.firstName+lastName", "Order.orderID"]),
    ("a.b.name,Gone.name,Person.gone", ["name"], ["a.b.name"]), ("firstName+gone", ["firstName"], []),
])
def test_entries_of_name_keys_may_join_properties_and_name_a_label(entries: str, keys: list[str], names: list[str]) -> None:
    layout = bound_names(None, Layout(name="x", name_keys=entries.split(",")), SEEN)  # type: ignore[arg-type]
    assert (layout.name_keys, [spelled(one) for one in layout.label_names]) == (keys, names)
    assert not any(one.is_id for one in layout.label_names)
    assert spelled(LabelName(label="A", keys=["b", "c"])) == "A.b+c"
