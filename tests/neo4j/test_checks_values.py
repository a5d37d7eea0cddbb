"""What checks say of a graph by what it is: values that are words for none, numbers kept as text, markup in names; and where a check is
asked at all."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable

import pytest
from audited import audited, whys

import kgeval
from kgeval.auditing.constants import CONSTANT
from kgeval.auditing.steps.extra_usual_relation import share_of_several
from kgeval.auditing.steps.same_at_both_ends import are_opposite
from kgeval.auditing.steps.unusual_number import NumberRange, is_quantity, usual_numbers
from kgeval.auditing.steps.values_out_of_order import Ordered, in_order
from kgeval.graph.connect import Graph
from kgeval.profiling.record import PropertyProfile
from kgeval.text.slips import is_slip

Draw = Callable[[str], None]
ORDERS = """
UNWIND range(1, 40) AS i
CREATE (:Order {orderID: 'o' + i, price: toString(i) + '.5', zip: '0' + toString(1000 + i), phone: toString(5550000 + i),
    day: '2020-01-' + (10 + i % 20),
    region: CASE WHEN i % 8 = 0 THEN 'NULL' WHEN i % 8 = 4 THEN '\\\\N' ELSE 'Region ' + (i % 3) END, amount: i,
    note: CASE i WHEN 7 THEN 'n/a' ELSE 'Note ' + i END})
  -[:HAS {discount: toString(i % 5), since: date('2020-01-01')}]->(:Item {sku: 's' + i, title: 'Thing ' + i, colour: 'red'})
"""
FILMS = """
UNWIND range(1, 30) AS i
CREATE (f:Film {id: i, title: ['Nobody', 'Doctor', 'Son',
    'The boy who thought that he could go home to the old house by the sea at last'][i % 4]
  + CASE WHEN i > 4 THEN ' ' + i ELSE '' END})
MERGE (g:Genre {name: ['null', 'Comedy'][i % 2]})
CREATE (f)-[:IN]->(g), (f)-[:SHOWN {minute: i}]->(g), (f)-[:SHOWN {minute: i + 1}]->(g)
"""


def test_words_for_no_value_are_counted_in_full_by_property(graph: Graph, draw: Draw) -> None:
    draw(ORDERS)
    found = audited(graph, "null-text")["null-text"]
    assert whys(found) == {
        "Order.region": "10 of 40 texts are no value but a word for none, as 'NULL'",
        "Order.note": "1 of 40 texts are no value but a word for none, as 'n/a'",
    }
    assert (found.count, found.status, found.severity) == (2, "failed", "warning")


def test_numbers_and_dates_that_are_kept_as_text_are_found_and_codes_are_none(graph: Graph, draw: Draw) -> None:
    draw(ORDERS)
    assert whys(audited(graph, "value-as-text")["value-as-text"]) == {
        "Order.price": "40 of 40 texts are numbers, as '1.5'", "Order.day": "40 of 40 texts are dates, as '2020-01-10'",
        "HAS.discount": "40 of 40 texts are numbers, as '0'",
    }


@pytest.mark.parametrize(("name", "why"), [
    ("Can&#39;t merge", "an entity of HTML"), ("<b>Ada</b> Lovelace", "a tag"), ("Ada<SEP>Bob", "a delimiter"),
    ("BS EN 1996-2*", "a mark of a footnote"),
    ("{\"name\": \"Ada\"}", "JSON"), ("MÃ¼ller", "bytes in a wrong encoding"),
    ("$150\\mathrm{mm}$ tie", "LaTeX"), ("\"Ada", "one quotation mark"),
    ("AT&T", None), ("C*", None), ("a < b > c", None), ("Section §", None), ("\"Ada\"", None),
    ("6' 2\"", None), ("O'Neil", None), ("[a]", None),
])
def test_what_is_left_of_markup_in_a_name_is_said(graph: Graph, name: str, why: str | None) -> None:
    graph.write("CREATE (:Person {name: $name, born: 1815}), (:Person {name: 'Bob', born: 1900})", {"name": name})
    found = audited(graph, "markup-in-name")["markup-in-name"]
    assert (found.count, [example.why for example in found.examples]) == ((1, [why]) if why else (0, []))


def test_a_property_that_is_a_slip_for_another_is_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 400) AS i CREATE (n:Clause {id: i, height: i, street_1: 'a' + i, name: 'Clause ' + i, tags: 't', weigth: null})
            SET n += CASE WHEN i <= 3 THEN {clase: 'x' + i} ELSE {clause: 'x' + i} END,
                n += CASE WHEN i % 50 = 0 THEN {firstName: 'A'} ELSE {first_name: 'B'} END,
                n += CASE WHEN i = 7 THEN {weight: 1, street_2: 'b', tag: 'u', colour: 'red', color: 'red'} ELSE {colour: 'blue'} END""")
    found = audited(graph, "misspelled-property")["misspelled-property"]
    assert whys(found) == {
        "Clause.clase": "3 nodes have it and none has clause too, which 397 others have",
        "Clause.firstName": "8 nodes have it and none has first_name too, which 392 others have",
    }
    assert (found.count, found.severity) == (2, "warning")


@pytest.mark.parametrize(("key", "meant", "slip"), [
    ("clase", "clause", True), ("adress", "address", True), ("recieved", "received", True), ("email_", "email", True),
    ("E-Mail", "email", True), ("DateOfBirth", "date_of_birth", True), ("straße", "strasse", True), ("startdate", "start_date", True),
    ("nmae", "name", False), ("tags", "tag", False), ("address2", "address1", False), ("height", "weight", False), ("x", "y", False),
    ("", "_", False), ("title", "title", False), ("price", "prices", False),
])
def test_what_is_a_slip_of_a_property(key: str, meant: str, slip: bool) -> None:
    assert is_slip(key, meant) is slip


def test_a_graph_that_people_made_is_not_taken_for_an_extractors_output(graph: Graph, draw: Draw) -> None:
    """Films called Nobody, a tag called null, a genre of many films, and a film that is shown at two times."""
    draw(FILMS)
    checks = (
        "pronoun-entity,generic-entity,sentence-entity,placeholder-entity,super-node,type-conflict,inverse-duplicate,parallel-relation,"
        "duplicate-name,fragmented-entity,rare-relation-type,constant-relation-type"
    )
    found = audited(graph, checks)
    assert [rule for rule, finding in found.items() if finding.status == "failed"] == []
    assert "about graphs that are extracted" in (found["pronoun-entity"].reason or "")


def test_names_that_do_not_tell_which_thing_is_meant_are_no_duplicates(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i CREATE (:Process {pid: i, name: 'php', started: i * 7}), (:Town {name: 'Town ' + i, area: i})
            WITH count(*) AS done CREATE (:Town {name: 'TOWN 1', area: 1})""")
    found = audited(graph, "duplicate-name")["duplicate-name"]
    assert [[item.name for item in example.items] for example in found.examples] == [["TOWN 1", "Town 1"]]
    assert found.total == 41, "of the towns alone"


def test_titles_may_be_long_and_sentences_may_not(graph: Graph, draw: Draw) -> None:
    title = "Code of Practice on Asbestos Work Using Full Containment or Mini Containment Method in Old Buildings"
    draw(f"""CREATE (c:Chunk {{id: 'c', text: 'x'}}), (:__Entity__:Regulation {{id: '1', name: '{title}'}})-[:FROM_CHUNK]->(c),
                    (:__Entity__:Character {{id: '2', name: '{title}'}})-[:FROM_CHUNK]->(c)""")
    found = kgeval.audit(graph.driver, checks="sentence-entity", layout="neo4j-graphrag", no_structure=True).findings[0]
    assert [example.items[0].type for example in found.examples] == ["Character"]


def test_nobody_who_made_a_graph_is_told_of_an_extractor(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 30) AS i CREATE (p:Person {pid: i, name: 'Name ' + i, born: 1900 + i})-[:KNOWS {since: i}]->(p)
            WITH collect(p) AS people UNWIND people[1..] AS p MATCH (f:Person {pid: 1}) CREATE (f)-[:KNOWS {since: 1}]->(p)
            WITH count(*) AS done CREATE (:Person {pid: 77, name: 'NAME 2', born: 1902}), (:Person {pid: 78, name: '', born: 1})""")
    failed = [finding for finding in kgeval.audit(graph.driver).findings if finding.status == "failed"]
    assert {"self-loop", "duplicate-name", "empty-name", "isolated-entity"} <= {finding.rule_id for finding in failed}
    assert [finding.rule_id for finding in failed if "extract" in finding.advice or "retriever" in finding.advice] == []


def test_what_never_changes_tells_two_of_one_name_apart(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 300) AS i CREATE (:Player {wyId: i, name: 'Player ' + i, born: 1900 + i % 90})
            WITH count(*) AS done
            UNWIND [['Ada', '1990-01-01'], ['Ada', '1991-02-02'], ['Bo', '1980-03-03'], ['Bo', '1980-03-03'], ['Cy', null],
              ['Cy', '1970-01-01'], ['Di', '1960-01-01'], ['Di', '1961-01-01'], ['Di', '1961-01-01']] AS row
            CREATE (:Player {wyId: 1000 + toInteger(rand() * 1000000), name: row[0], born: toInteger(left(row[1], 4))})""")
    found = audited(graph, "duplicate-name")["duplicate-name"]
    names = sorted([item.name for item in example.items] for example in found.examples)
    assert (found.count, names) == (3, [["Bo", "Bo"], ["Cy", "Cy"], ["Di", "Di"]])


SECTIONS = """
UNWIND range(1, 350) AS i
CREATE (s:Section {id: 's' + CASE WHEN i > 314 THEN i % 9 ELSE i END, heading: 'Heading of ' + i})
  -[:IN]->(:Book {isbn: 'b' + i, customerID: 'c' + (i % 320), title: 'Book of letters ' + i})
"""


def test_keys_with_repeats_are_found_and_keys_of_other_labels_are_not(graph: Graph, draw: Draw) -> None:
    draw(SECTIONS)
    finding = audited(graph, "repeated-key")["repeated-key"]
    nodes = "Heading of 1, Heading of 316, Heading of 325, ..."
    why = f"350 nodes have 315 values: 9 values stand more than once, as 's1' (5 times: {nodes}), 's2' (5 times: "
    assert list(whys(finding)) == ["Section.id"] and whys(finding)["Section.id"].startswith(why)
    assert (finding.count, finding.severity) == (1, "warning")


def test_a_key_is_no_repeated_one_where_it_is_whole_or_part_of_a_declared_one_or_counted_anew(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 60) AS i CREATE (:Page {id: i, uid: 'u' + i, words: i}), (:Line {id: i % 12, words: i}),
              (:Step {id: i % 57, uuid: 'x' + i, words: i}), (:Version {id: i % 55, rev: i, words: i})""")
    graph.schema_command("CREATE CONSTRAINT version_key FOR (v:Version) REQUIRE (v.id, v.rev) IS UNIQUE")
    try:
        assert audited(graph, "repeated-key")["repeated-key"].count == 0
    finally:
        graph.schema_command("DROP CONSTRAINT version_key")


def test_a_remark_among_numbers_dates_and_addresses_is_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 60) AS i
            CREATE (:Item {sku: 'k' + i, name: 'Item of trade ' + i,
              price: CASE i WHEN 7 THEN 'on request' WHEN 8 THEN 'NULL' WHEN 15 THEN '8 kV' WHEN 16 THEN '8,1' ELSE i + '.5' END,
              day: CASE i WHEN 9 THEN 'some day' WHEN 10 THEN '2020' WHEN 14 THEN '05/06/2020' WHEN 17 THEN '1998-02-31'
                WHEN 18 THEN '0000-00-00' ELSE '2020-01-' + (10 + i % 20) END,
              mail: CASE i WHEN 11 THEN 'ask Ada' ELSE 'a' + i + '@b.org' END,
              site: CASE i WHEN 12 THEN 'none yet' WHEN 13 THEN 'b.org' ELSE 'https://b.org/' + i END,
              colour: CASE i % 2 WHEN 0 THEN 'red' ELSE '17' END, code: 'A-' + i, zip: toString(1000 + i)})""")
    finding = audited(graph, "value-outside-format")["value-outside-format"]
    assert whys(finding) == {
        "Item.price": "1 of 59 texts are no number, as 'on request' (Item of trade 7); 1 of 59 texts are a number and something else, "
            "as '8 kV' (Item of trade 15)",
        "Item.day": "1 of 60 texts are no date, as 'some day' (Item of trade 9); 2 of 60 texts are days that no calendar has, "
            "as '0000-00-00' (Item of trade 18), '1998-02-31' (Item of trade 17); "
            "1 of 60 texts are dates written otherwise, as '05/06/2020' (Item of trade 14)",
        "Item.mail": "1 of 60 texts are no mail address, as 'ask Ada' (Item of trade 11)",
        "Item.site": "1 of 60 texts are no web address, as 'none yet' (Item of trade 12)",
    }
    assert finding.total == 5


def test_other_values_tell_two_of_one_name_apart(graph: Graph, draw: Draw) -> None:
    """Four people of one name, each with a mail address of their own; one who was entered twice; one whose mail address is the same."""
    draw("""UNWIND range(1, 200) AS i
            CREATE (:Contact {contactId: 'c' + i, name: 'Contact ' + i, email: 'c' + i + '@x', city: 'Town ' + (i % 5)})
            WITH count(*) AS done
            UNWIND [['James', 'a@x', 'Town 1'], ['James', 'b@x', 'Town 2'], ['James', 'c@x', 'Town 3'], ['Basil', 'e@x', 'Town 1'],
              ['Basil', 'e@x', 'Town 1'], ['Cora', 'f@x', 'Town 1'], ['Cora', 'f@x', 'Town 4']] AS row
            CREATE (:Contact {contactId: randomUUID(), name: row[0], firstName: row[0], email: row[1], city: row[2]})""")
    found = audited(graph, "duplicate-name")["duplicate-name"]
    assert sorted(example.items[0].name for example in found.examples) == ["Basil", "Cora"]


def test_where_hardly_any_name_is_repeated_an_equal_one_is_no_chance(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 400) AS i CREATE (:User {userId: i, name: 'User ' + i, email: 'u' + i + '@x', phone: '555' + i, born: 1900 + i})
            WITH count(*) AS done UNWIND [['Ada', null], ['Ada', null], ['Bea', 1950], ['Bea', 1951]] AS row
            CREATE (:User {userId: randomUUID(), name: row[0], email: 'e' + rand(), phone: 'p' + rand(), born: row[1]})""")
    found = audited(graph, "duplicate-name")["duplicate-name"]
    assert [example.items[0].name for example in found.examples] == ["Ada"]


def test_two_of_one_name_with_a_neighbour_in_common_may_be_one(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 200) AS i
            CREATE (:User {userId: i, name: 'User ' + i, email: 'u' + i + '@x', phone: '555' + i})-[:USES]->(:Address {ip: i})
            WITH count(*) AS done
            UNWIND [['Ada', 1], ['Ada', 1], ['Bea', 2], ['Bea', 3]] AS row MATCH (a:Address {ip: row[1]})
            CREATE (:User {userId: randomUUID(), name: row[0], email: 'e' + rand(), phone: 'p' + rand()})-[:USES]->(a)""")
    found = audited(graph, "duplicate-name")["duplicate-name"]
    assert [example.items[0].name for example in found.examples] == ["Ada"]


def test_a_date_of_birth_that_two_share_outweighs_what_changes(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 200) AS i
            CREATE (:Patient {mrn: 'm' + i, name: 'Patient ' + i, birthDate: date('1900-01-01') + duration({days: i}), ward: 'W' + (i % 7),
              weight: 50 + i % 40, phone: '555' + i, mail: 'p' + i + '@x'})
            WITH count(*) AS done
            UNWIND [['Ada', '1938-12-01', 1], ['Ada', '1938-12-01', 2], ['Bea', '1950-01-01', 3], ['Bea', '1951-01-01', 3],
              ['Cleo', null, 4], ['Cleo', null, 5]] AS row
            CREATE (:Patient {mrn: randomUUID(), name: row[0], birthDate: date(row[1]), ward: 'W' + row[2], weight: row[2],
              phone: 'x' + rand(), mail: 'y' + rand()})""")
    found = audited(graph, "duplicate-name")["duplicate-name"]
    assert [example.items[0].name for example in found.examples] == ["Ada"]


@pytest.mark.parametrize(("key", "constant"), [
    ("born", True), ("dateOfBirth", True), ("birth_date", True), ("IMDB_ID", True), ("hasISBN", True), ("isoCode", True),
    ("Geburtsdatum", True), ("date_naissance", True), ("né_le", True), ("DÉCÈS", True), ("fechaNacimiento", True),
    ("data_di_nascita", True), ("dataNascimento", True), ("geboortedatum", True), ("staatsangehoerigkeit", True),
    ("Gründungsjahr", True), ("grundungsjahr", True),
    ("nacionalidad", True), ("ÓBITO", True), ("fundação", True), ("opgericht", True),
    ("ne_lat", False), ("année", False), ("mortgage", False), ("Sexta", False), ("donation", False), ("natural", False), ("renée", False),
    ("elevation", False), ("activated", False), ("private", False), ("studied", False), ("isolated", False), ("reservation", False),
])
def test_what_never_changes_is_a_word_of_a_key(key: str, constant: bool) -> None:
    assert (CONSTANT.search(key) is not None) is constant


def test_a_list_tells_two_relations_apart(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 30) AS i CREATE (p:Person {name: 'Person ' + i}), (m:Film {title: 'Film ' + i}),
              (p)-[:ACTED_IN {roles: ['Elder ' + i]}]->(m), (p)-[:ACTED_IN {roles: ['Younger']}]->(m)
            WITH p, m, i WHERE i = 7 CREATE (p)-[:ACTED_IN {roles: ['Younger']}]->(m)""")
    found = audited(graph, "parallel-relation")["parallel-relation"]
    assert (found.count, [example.items[0].name for example in found.examples]) == (1, ["Person 7 -[ACTED_IN]-> Film 7"])


def test_code_that_calls_itself_is_no_self_loop_where_one_label_is_not_code(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i
            CREATE (f:Function {id: 'f' + i, name: 'run' + i, file: 'a.py', line: i})-[:CALLS {line: i}]->(f),
              (c:Class {id: 'c' + i, name: 'C' + i}), (c)-[:HAS_METHOD]->(f), (f)-[:USES]->(:Library {name: 'library ' + i, licence: 'MIT'})
            WITH f, i WHERE i = 3 MATCH (l:Library {name: 'library 3'}) CREATE (l)-[:NEEDS]->(l)""")
    found = audited(graph, "self-loop")["self-loop"]
    assert [example.items[0].name for example in found.examples] == ["library 3 -[NEEDS]-> library 3"]


def test_works_may_be_called_anything(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 30) AS i
            CREATE (:Song {id: i, title: CASE i WHEN 1 THEN 'Unknown' WHEN 2 THEN 'Untitled' ELSE 'Song ' + i END}),
              (:Singer {id: i, name: CASE i WHEN 1 THEN 'Unknown' WHEN 2 THEN '!!!' WHEN 3 THEN '///' ELSE 'Singer ' + i END})""")
    found = audited(graph, "placeholder-entity,empty-name")
    assert [example.items[0].type for example in found["placeholder-entity"].examples] == ["Singer"]
    assert found["empty-name"].count == 0


@pytest.mark.parametrize(("key", "found"), [
    ("empId", True), ("IATA", True), ("partNo", True), ("iban", True), ("path", True),
    ("departmentId", False), ("phone", False), ("postalCode", False), ("nickname", False),
])
def test_keys_of_any_domain_that_repeat_are_found(graph: Graph, draw: Draw, key: str, found: bool) -> None:
    draw(f"""UNWIND range(1, 100) AS i CREATE (:Department {{name: 'Department ' + i}}),
             (:Employee {{name: 'Name ' + i, `{key}`: 'v' + (100 + CASE i WHEN 100 THEN 1 ELSE i END)}})""")
    assert list(whys(audited(graph, "repeated-key")["repeated-key"])) == ([f"Employee.{key}"] if found else [])


def test_values_that_stand_in_the_wrong_order_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i
            CREATE (p:Person {pid: i, name: 'Person ' + i, born: 1800 + i, died: CASE i WHEN 3 THEN 1790 ELSE 1870 END,
                hireDate: date({year: 1840 + i, month: 5, day: 1}), left: CASE i WHEN 4 THEN '1801-01-01' ELSE '1890-01-01' END,
                birthDate: CASE i WHEN 5 THEN '1860-05-01' ELSE '1800-05-01' END}),
              (s:Stay:Record {stayId: i, name: 'Stay ' + i,
                started_at: CASE i WHEN 6 THEN '2020-02-01T10:00:00' ELSE '2020-02-01T08:00:00' END,
                ended_at: '2020-02-01T09:00:00', min_price: i % 5, max_price: CASE i WHEN 7 THEN '0.5' ELSE 5 END,
                from: i, to: 40 - i, begin: localtime('22:00'), end: CASE i WHEN 8 THEN localtime('06:00') ELSE localtime('23:00') END,
                width_min: 'n/a', width_max: 2}),
              (p)-[:WORKS_AT {since: 1990, until: CASE i WHEN 8 THEN 1980 ELSE 2000 END, open: true, close: false}]->(s)""")
    found = audited(graph, "values-out-of-order")["values-out-of-order"]
    assert whys(found) == {
        "Person 3": "born 1803, died 1790", "Person 4": "hireDate 1844-05-01, left 1801-01-01",
        "Person 5": "birthDate 1860-05-01, hireDate 1845-05-01",
        "Stay 6": "started_at 2020-02-01T10:00:00, ended_at 2020-02-01T09:00:00", "Stay 7": "min_price 2, max_price 0.5",
        "Person 8 -[WORKS_AT]-> Stay 8": "since 1990, until 1980",
    }


@pytest.mark.parametrize(("first", "last", "ordered"), [
    ("born", "died", True), ("dateOfBirth", "deathDate", True), ("valid_from", "valid_to", True), ("minPrice", "max_price", True),
    ("startedAt", "endedAt", True), ("founded", "dissolvedOn", True), ("hireDate", "terminationDate", True), ("died", "born", False),
    ("startLine", "endColumn", False), ("start_month", "end_month", False),
    ("ordered", "delivered", False), ("entryPrice", "exitPrice", False),
    ("fromStation", "toAirport", False), ("minimum", "died", False), ("ordered", "ordered", False),
])
def test_what_comes_before_what_is_read_in_the_names(first: str, last: str, ordered: bool) -> None:
    values = [PropertyProfile(key=key, filled=1.0, types={"INTEGER": 1.0}) for key in (first, last)]
    assert (Ordered(first, last) in in_order(values)) is ordered


def test_which_of_two_dates_comes_first_is_seen_in_their_values(graph: Graph, draw: Draw) -> None:
    """On loans nearly all come back later; what is due, and what is mostly the same day, says nothing."""
    draw("""UNWIND range(1, 100) AS i
            CREATE (:Member {card: 'm' + i, name: 'Member ' + i})-[:BORROWED {taken: '2022-03-01', returned: CASE i WHEN 7 THEN '2022-02-09'
                ELSE '2022-03-1' + (i % 9) END, due: CASE WHEN i % 50 = 0 THEN '2022-02-01' ELSE '2022-03-20' END}]
              ->(:Book {isbn: 'b' + i, title: 'Book of letters ' + i, written: date('1950-01-01'),
                read: CASE i WHEN 8 THEN date('1950-01-02') ELSE date('1950-01-01') END})""")
    found = audited(graph, "values-out-of-order")["values-out-of-order"]
    assert (found.total, whys(found)) == (100, {"Member 7 -[BORROWED]-> Book of letters 7": "taken 2022-03-01, returned 2022-02-09"})


def test_one_value_in_several_spellings_is_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 60) AS i
            CREATE (:Account {accountId: 'a' + i, name: 'Account of ' + i,
                currency: CASE i WHEN 7 THEN 'eur' WHEN 8 THEN 'EUR ' ELSE 'EUR' END,
                town: CASE i WHEN 9 THEN 'Sao Paulo' ELSE 'São Paulo' END, grade: ['A', 'A-', 'A+'][i % 3], unit: ['m', 'M'][i % 2],
                rate: ['1.0', '10'][i % 2], kind: ['in-house', 'In house', 'abroad'][i % 3],
                floor: ['Level 1', 'Level 2'][i % 2], open: i % 2 = 0, weekday: CASE i WHEN 3 THEN 'Mon' ELSE 'Monday' END,
                place: CASE i WHEN 4 THEN 'North' ELSE 'North East' END, city: CASE i WHEN 5 THEN 'Muenchen' ELSE 'München' END,
                county: CASE i WHEN 6 THEN 'Dorest' WHEN 7 THEN 'Devon' ELSE 'Dorset' END,
                series: CASE i WHEN 8 THEN 'Type A' ELSE 'Type B' END})
              -[:HELD_AS {stage: CASE i WHEN 11 THEN 'closed.' ELSE 'Closed' END}]->(:Bank {bic: 'B' + i, name: 'Bank number ' + i})""")
    finding = audited(graph, "value-spelling")["value-spelling"]
    assert whys(finding) == {
        "Account.currency": "2 of 60 texts are other spellings of a value: 'EUR ' (1) beside 'EUR' (58), 'eur' (1) beside 'EUR' (58)",
        "Account.town": "1 of 60 texts are other spellings of a value: 'Sao Paulo' (1) beside 'São Paulo' (59)",
        "Account.kind": "20 of 60 texts are other spellings of a value: 'in-house' (20) beside 'In house' (20)",
        "Account.city": "1 of 60 texts are other spellings of a value: 'Muenchen' (1) beside 'München' (59)",
        "Account.county": "1 of 60 texts are other spellings of a value: 'Dorest' (1) beside 'Dorset' (58)",
        "Account.weekday": "1 of 60 texts are other forms of a value: 'Mon' (1) beside 'Monday' (59)",
        "HELD_AS.stage": "1 of 60 texts are other spellings of a value: 'closed.' (1) beside 'Closed' (59)",
    }
    assert finding.total == 15


def test_values_that_cannot_be_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i
            CREATE (:Airport {code: 'c' + i, name: 'Airport ' + i, lat: CASE i WHEN 2 THEN 148.2 ELSE 48.1 END, long: i * 1000,
                longitude: CASE i WHEN 3 THEN '-181' WHEN 4 THEN '48E' ELSE '-180' END}),
              (:Person {pid: i, name: 'Person ' + i, born: CASE i WHEN 6 THEN 2991 ELSE 1950 END, age: i,
                birthDate: CASE i WHEN 7 THEN '2991-01-01' WHEN 8 THEN 'unknown' ELSE '1950-01-01' END,
                died: CASE i WHEN 9 THEN date('2991-01-01') ELSE date() END, next_birthday: '2991-01-01',
                hired: CASE i WHEN 10 THEN '2901-04-04' ELSE '2001-04-04' END, contract_end: date('2991-01-01')})""")
    found = audited(graph, "impossible-value")["impossible-value"]
    assert whys(found) == {
        "Airport 2": "lat 148.2", "Airport 3": "longitude -181", "Person 6": "born 2991", "Person 7": "birthDate 2991-01-01",
        "Person 9": "died 2991-01-01", "Person 10": "hired 2901-04-04",
    }


def test_nodes_without_a_relation_that_nearly_all_others_have_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 100) AS i
            CREATE (e:Encounter {encounterId: 'e' + i, name: 'Encounter ' + i}),
              (p:Patient {mrn: 'm' + i, name: 'Patient ' + i}), (b:Bed {bed: i})
            CREATE (e)-[:IN]->(b), (b)-[:IN_ROOM]->(:Room {room: i})
            FOREACH (x IN CASE WHEN i IN [3, 4] THEN [] ELSE [1] END | CREATE (p)<-[:OF_PATIENT]-(e))
            FOREACH (x IN range(1, CASE i WHEN 5 THEN 0 ELSE 1 + i % 3 END) | CREATE (p)-[:HAS]->(:Telephone {number: i * 10 + x}))
            FOREACH (x IN CASE WHEN i % 10 = 0 THEN [] ELSE [1] END | CREATE (e)-[:LED_TO]->(:Referral {referral: i}))
            WITH collect(e) AS all UNWIND range(1, 99) AS at WITH all[at - 1] AS a, all[at] AS b CREATE (a)-[:NEXT]->(b)""")
    found = audited(graph, "missing-usual-relation")["missing-usual-relation"]
    assert whys(found) == {
        **{f"Encounter {i}": "none -[OF_PATIENT]->, which 98 of 100 Encounter have" for i in (3, 4)},
        **{f"Patient {i}": "none <-[OF_PATIENT]-, which 98 of 100 Patient have" for i in (3, 4)},
    }


@pytest.mark.parametrize(("type_", "of", "without", "found"), [
    ("OF_PLAYER", 63, 2, 2), ("OF_PLAYER", 63, 3, 0), ("OF_PLAYER", 45, 2, 2), ("OF_PLAYER", 25, 1, 1), ("OF_PLAYER", 25, 2, 0),
    ("SPIELER", 63, 2, 2), ("SPIELER", 45, 2, 0), ("APPROVED_BY", 63, 2, 0), ("SENT_TO", 63, 2, 0), ("PARA", 63, 2, 2),
])
def test_two_without_what_all_others_have_one_of_are_slips_in_a_small_label(
    graph: Graph, draw: Draw, type_: str, of: int, without: int, found: int,
) -> None:
    draw(f"""UNWIND range(1, {of}) AS i CREATE (t:Transfer {{transferId: i, name: 'Transfer ' + i}}), (t)-[:IN_YEAR]->(:Year {{year: i}})
             MERGE (p:Player {{playerId: i % 40, name: 'Player ' + (i % 40)}})
             FOREACH (x IN CASE WHEN i > {without} THEN [1] ELSE [] END | CREATE (t)-[:{type_}]->(p))""")
    assert sum(name.startswith("Transfer") for name in whys(audited(graph, "missing-usual-relation")["missing-usual-relation"])) == found


def test_nodes_with_two_of_a_relation_of_which_the_others_have_one_are_found(graph: Graph, draw: Draw) -> None:
    """Two birthplaces, a room in two houses, a hive at two apiaries. No slip: two employers, two directors, a house that changed hands, the
    same place twice, and what many have two of."""
    draw("""UNWIND range(1, 12) AS i CREATE (:Town {townId: i, name: 'Town ' + i}), (:Firm {firmId: i, name: 'Firm ' + i})
            WITH count(*) AS done UNWIND range(1, 100) AS i
            CREATE (p:Person {personId: i, name: 'Person ' + i}), (h:House {houseId: i, street: 'Street ' + i}),
              (r:Room {roomId: i, door: 'Door ' + i}), (h)-[:HAS_ROOM]->(r), (f:Film {filmId: i, title: 'Film of letters ' + i})
            WITH p, h, r, f, i MATCH (t:Town {townId: 1 + i % 12}) MATCH (o:Firm {firmId: 1 + i % 12})
            CREATE (p)-[:BORN_IN]->(t), (p)-[:WORKS_AT]->(o), (f)-[:DIRECTED_BY]->(p), (h)-[:OF_OWNER {since: 1900 + i}]->(p),
              (h)-[:LIES_NEAR]->(t), (f)-[:PRAISED_IN]->(t)
            WITH p, h, r, f, i MATCH (t:Town {townId: 1 + (i + 5) % 12}) MATCH (o:Firm {firmId: 1 + (i + 5) % 12})
            FOREACH (x IN CASE WHEN i IN [3, 4] THEN [1] ELSE [] END | CREATE (p)-[:BORN_IN]->(t), (p)-[:WORKS_AT]->(o))
            FOREACH (x IN CASE WHEN i % 20 = 0 THEN [1] ELSE [] END | CREATE (h)-[:LIES_NEAR]->(t), (f)-[:PRAISED_IN]->(t))
            WITH p, h, r, f, i MATCH (next:House {houseId: 1 + i % 100}) MATCH (other:Person {personId: 1 + i % 100})
            MATCH (p)-[:BORN_IN]->(same:Town)
            FOREACH (x IN CASE i WHEN 6 THEN [1] ELSE [] END | CREATE (next)-[:HAS_ROOM]->(r))
            FOREACH (x IN CASE i WHEN 7 THEN [1] ELSE [] END | CREATE (f)-[:DIRECTED_BY]->(other), (h)-[:OF_OWNER {since: 2020}]->(other))
            FOREACH (x IN CASE i WHEN 8 THEN [1] ELSE [] END | CREATE (p)-[:BORN_IN]->(same))""")
    found = audited(graph, "extra-usual-relation")["extra-usual-relation"]
    assert whys(found) == {
        "Person 3": "-[BORN_IN]-> Town 4 and Town 9, where 98 of 100 Person that have any have one",
        "Person 4": "-[BORN_IN]-> Town 10 and Town 5, where 98 of 100 Person that have any have one",
        "Room 6": "<-[HAS_ROOM]- House 6 and House 7, where 99 of 100 Room that have any have one",
    }
    assert found.severity == "warning"


@pytest.mark.parametrize(("type_", "outgoing", "share"), [
    ("BORN_IN", True, 0.03), ("STANDS_AT", True, 0.025), ("OF_CUSTOMER", True, 0.025), ("FEEDS", True, 0.01), ("WORKS_AT", True, None),
    ("DIRECTED_BY", True, None), ("HAS_ROOM", True, None), ("HAS_ROOM", False, 0.025), ("EMPLOYS", False, None),
])
def test_how_many_may_have_two_by_mistake_is_read_in_the_name_of_the_type(type_: str, outgoing: bool, share: float | None) -> None:
    assert share_of_several(type_, outgoing=outgoing) == share


def test_dates_in_the_wrong_order_across_a_relation_are_found(graph: Graph, draw: Draw) -> None:
    """A parent younger than its child, a visit before the animal was born, a hire before the foundation, a delivery before the order, a
    vote before the member joined. No slip: adopted children, old books that people read, houses older than who lives in them, firms that
    own each other, and dates that know nothing of each other."""
    draw("""UNWIND range(1, 100) AS i
            CREATE (p:Person {personId: i, name: 'Person ' + i, born: -300 + i}), (c:Pupil {pupilId: i, name: 'Pupil ' + i,
                born: CASE i WHEN 3 THEN -320 ELSE -275 + i END}), (p)-[:PARENT_OF]->(c),
              (a:Animal {chip: 'a' + i, born: date('2015-01-01') + duration({days: i})}),
              (v:Visit {visitId: i, at: toString(date('2015-01-03') + duration({days: CASE i WHEN 4 THEN -40 ELSE 2 * i END}))})-[:OF]->(a),
              (f:Firm {firmId: i, name: 'Firm ' + i, founded: 1900 + i}),
              (e:Clerk {badge: 'e' + i, hired: CASE i WHEN 5 THEN '1890-05-01' ELSE toString(1901 + i) + '-03-01' END})-[:WORKS_AT]->(f),
              (o:Order {orderNo: 'o' + i, placed: date('2020-01-01') + duration({days: i})}),
              (o)-[:SENT_AS]->(:Parcel {parcelNo: 'x' + i, shipped: date('2020-01-01')
                + duration({days: CASE i WHEN 6 THEN 1 ELSE i + i % 7 + 1 END})}),
              (m:Member {card: 'm' + i, joined: date('2020-01-01') + duration({days: i})})-[:VOTED {cast: date('2020-01-01')
                + duration({days: CASE i WHEN 7 THEN 2 ELSE i + i % 9 + 1 END})}]->(:Motion {motionNo: i, tabled: date('2000-01-01')}),
              (r:Reader {readerNo: i, born: 1950 + i % 40}),
              (r)-[:READ]->(:Book {isbn: 'b' + i, published: CASE i WHEN 8 THEN 1812 ELSE 2010 END}),
              (r)-[:LIVES_IN]->(:House {houseNo: i, built: 1900 + i}),
              (s:Site {siteNo: i, cleared: date('1990-01-01') + duration({days: i * 37 % 4000})})
                -[:NEAR]->(:Dam {damNo: i, filled: date('1999-06-01') + duration({days: i * 53 % 4000})})
            WITH collect(f) AS firms UNWIND range(0, 98) AS at WITH firms[at] AS a, firms[(at * 7 + 3) % 100] AS b WHERE a <> b
            CREATE (a)-[:BOUGHT]->(b)""")
    found = audited(graph, "values-out-of-order")["values-out-of-order"]
    assert whys(found) == {
        "Person 3 -[PARENT_OF]-> Pupil 3": "Person.born -297, Pupil.born -320; 99 of 100 stand the other way round",
        "Visit 4 -[OF]-> Animal a4": "Animal.born 2015-01-05, Visit.at 2014-11-24; 99 of 100 stand the other way round",
        "Clerk e5 -[WORKS_AT]-> Firm 5": "Firm.founded 1905, Clerk.hired 1890-05-01; 99 of 100 stand the other way round",
        "Order o6 -[SENT_AS]-> Parcel x6": "Order.placed 2020-01-07, Parcel.shipped 2020-01-02; 99 of 100 stand the other way round",
        "Member m7 -[VOTED]-> Motion 7": "Member.joined 2020-01-08, VOTED.cast 2020-01-03; 99 of 100 stand the other way round",
    }


def test_dates_of_one_label_are_told_by_the_names_of_the_nodes(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 60) AS i
            MERGE (a:Person {personId: i}) SET a.name = 'Person ' + i, a.born = 1500 + i * 10
            MERGE (b:Person {personId: i + 3}) CREATE (b)-[:CHILD_OF]->(a)
            WITH count(*) AS done MATCH (p:Person) SET p.born = CASE p.personId WHEN 63 THEN 1900 ELSE 1500 + p.personId * 10 END,
              p.name = 'Person ' + p.personId""")
    found = audited(graph, "values-out-of-order")["values-out-of-order"]
    why = "Person 60: born 2100, Person 63: born 1900; 59 of 60 stand the other way round"
    assert whys(found) == {"Person 63 -[CHILD_OF]-> Person 60": why}


def test_one_relation_of_thirty_that_leads_to_another_label_is_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 30) AS i CREATE (p:Player {playerNo: i, name: 'Player ' + i}), (t:Team {teamNo: i, name: 'Team ' + i}),
              (c:Town {townNo: i, name: 'Town ' + i}), (t)-[:BASED_IN]->(c)
            FOREACH (x IN CASE i WHEN 7 THEN [1] ELSE [] END | CREATE (p)-[:SIGNED_WITH]->(c))
            FOREACH (x IN CASE i WHEN 7 THEN [] ELSE [1] END | CREATE (p)-[:SIGNED_WITH]->(t))""")
    found = audited(graph, "signature-outlier")["signature-outlier"]
    assert whys(found) == {"Player 7 -[SIGNED_WITH]-> Town 7": "Player -> Town: 1 of 30; usual: Player -> Team (29)"}
    assert found.severity == "warning"


def test_every_hit_says_which_node_it_is(graph: Graph, draw: Draw) -> None:
    """By a tag of which one repeats, by what describes a node that has no tag, by dates, by numbers; by the element id alone where all of
    a label are alike."""
    draw("""UNWIND range(1, 60) AS i
            CREATE (y:Yard {yardId: 1 + i % 5, name: 'Yard ' + i}),
              (h:Hive {tag: CASE i WHEN 9 THEN 'HV-8' ELSE 'HV-' + i END, frames: CASE i WHEN 3 THEN 999 ELSE 10 + i % 3 END}),
              (t:Trip {on: '2023-07-' + (10 + i % 15), lorry: 'L' + i % 6, load: CASE i WHEN 4 THEN 9000 ELSE 30 + i % 7 END}),
              (s:Sample {mass: 20.5 + i % 9, ph: CASE i WHEN 5 THEN 700.5 ELSE 6.5 + i % 3 END}),
              (c:Cup {clean: true}),
              (p:Plot {plate: CASE i WHEN 6 THEN null ELSE 'P' + i END, height: CASE i WHEN 6 THEN 5000 ELSE 20 + i % 5 END})
            FOREACH (x IN CASE i WHEN 7 THEN [] ELSE [1] END | CREATE (h)-[:STANDS_AT]->(y), (t)-[:FROM]->(y), (s)-[:FROM]->(y),
              (c)-[:STANDS_AT]->(y), (p)-[:AT]->(y))
            CREATE (h)-[:SEEN_ON]->(t), (s)-[:SEEN_ON]->(t), (c)-[:SEEN_ON]->(t), (p)-[:SEEN_ON]->(t)""")
    found = audited(graph, "unusual-number,impossible-value,missing-usual-relation")
    assert set(whys(found["unusual-number"])) == {"Hive HV-3", "load=9000, lorry=L4, on=2023-07-14", "height=5000"}
    assert set(whys(found["impossible-value"])) == {"mass=25.5, ph=700.5"}
    (cup,) = [item for example in found["missing-usual-relation"].examples for item in example.items if item.type == "Cup"]
    assert cup.name == cup.element_id
    assert all(item.name.strip() for one in kgeval.audit(graph.driver).findings for example in one.examples for item in example.items)


def test_what_leads_to_one_node_at_both_ends_is_found_where_two_are_meant(graph: Graph, draw: Draw) -> None:
    """A match of a team with itself by its names; an item that is checked by who made it, as rarely as never by chance. No slip: people
    who died where they were born, one maker of what two things are, and walks that come back."""
    draw("""UNWIND range(1, 12) AS i CREATE (:Team {teamId: i, name: 'Team ' + i}), (:Town {townId: i, name: 'Town ' + i})
            WITH count(*) AS done UNWIND range(1, 200) AS i
            CREATE (m:Match {matchId: i, name: 'Match ' + i}), (p:Person {personId: i, name: 'Person ' + i}),
              (w:Walk {walkId: i, name: 'Walk ' + i}), (c:Crate {crateId: i, name: 'Crate ' + i})
            WITH m, p, w, c, i, 1 + i % 12 AS one, 1 + (i * 7 + 3) % 11 AS two
            WITH m, p, w, c, i, one, CASE WHEN two >= one THEN two + 1 ELSE two END AS other
            MATCH (home:Team {teamId: one}), (away:Team {teamId: CASE i WHEN 77 THEN one ELSE other END})
            MATCH (born:Town {townId: one}), (died:Town {townId: CASE WHEN i % 50 < 15 THEN one ELSE other END})
            MATCH (end:Town {townId: CASE WHEN i % 10 = 0 THEN one ELSE other END})
            MATCH (seen:Town {townId: CASE i WHEN 88 THEN one ELSE other END})
            CREATE (m)-[:HOME_TEAM]->(home), (p)-[:BORN_IN]->(born), (p)-[:DIED_IN]->(died), (w)-[:FROM]->(born), (w)-[:TO]->(end),
              (born)-[:PACKS]->(c), (c)-[:OPENED_IN]->(seen)
            FOREACH (x IN CASE i WHEN 50 THEN [] ELSE [1] END | CREATE (m)-[:AWAY_TEAM]->(away))""")
    found = audited(graph, "same-at-both-ends")["same-at-both-ends"]
    assert whys(found) == {
        "Match 77": "AWAY_TEAM and HOME_TEAM both lead to Team 6, where 198 of 199 Match have two",
        "Crate 88": "OPENED_IN and PACKS both lead to Town 5, where 199 of 200 Crate have two",
    }
    assert (found.count, found.total, found.severity) == (2, 399, "warning")


def test_two_relations_that_know_nothing_of_each_other_lead_to_one_node_now_and_then(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 150) AS i CREATE (:Town {townId: i, name: 'Town ' + i})
            WITH count(*) AS done UNWIND range(1, 300) AS i CREATE (p:Person {personId: i, name: 'Person ' + i})
            WITH p, i MATCH (born:Town {townId: 1 + i % 150}), (died:Town {townId: 1 + CASE WHEN i IN [4, 9] THEN i ELSE i + 60 END % 150})
            CREATE (p)-[:BORN_IN]->(born), (p)-[:DIED_IN]->(died)""")
    assert audited(graph, "same-at-both-ends")["same-at-both-ends"].count is None


@pytest.mark.parametrize(("first", "last", "opposite"), [
    ("FROM", "TO", True), ("HOME_TEAM", "AWAY_TEAM", True), ("awayTeam", "homeTeam", True), ("LOADED_AT", "DISCHARGED_AT", True),
    ("PORT_OF_LOADING", "PORT_OF_DISCHARGE", True), ("hasSource", "hasTarget", True), ("SELLER", "BUYER", True),
    ("HOME_TEAM", "AWAY_STADIUM", False), ("BORN_IN", "DIED_IN", False), ("BILL_TO", "SHIP_TO", False), ("STARTS_AT", "ENDS_AT", False),
    ("FROM", "FROM", False), ("FROM_PORT", "TO", False),
])
def test_which_two_relations_lead_to_two_sides_is_read_in_their_names(first: str, last: str, opposite: bool) -> None:
    assert are_opposite(first, last) is opposite


def test_numbers_unlike_all_others_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 200) AS i
            CREATE (p:Player {playerId: i, name: 'Player ' + i, height_cm: CASE WHEN i IN [7, 8, 9] THEN 1.83 ELSE 161 + i % 42 END,
                goals: CASE i WHEN 3 THEN -1 ELSE i % 7 END, balance: CASE i WHEN 4 THEN -30 ELSE i END,
                shirt_no: CASE i WHEN 5 THEN 900 ELSE i % 30 + 1 END,
                ward: CASE i WHEN 10 THEN 95000 ELSE 900 + i END, code: CASE i WHEN 5 THEN -5 ELSE i END,
                born: CASE i WHEN 5 THEN -750 ELSE 1980 END,
                price: CASE i WHEN 5 THEN 90000 ELSE 900 + i END, form: CASE i WHEN 5 THEN null WHEN 6 THEN -0.5 ELSE i * 0.7 END}),
              (t:Track {trackId: i, name: 'Track ' + i,
                seconds: CASE WHEN i IN [11, 12] THEN toString(213000 + i) WHEN i IN [13, 14] THEN '3:35' ELSE toString(95 + i) END}),
              (p)-[:HEARD {minute: CASE i WHEN 21 THEN -3 ELSE i % 90 END, weight: CASE i WHEN 22 THEN -1 ELSE i END}]->(t)
            FOREACH (x IN CASE WHEN i > 12 THEN [] ELSE [1] END |
              CREATE (:Room {roomId: i, name: 'Room ' + i, capacity: CASE i WHEN 2 THEN -1 ELSE 20 + i END}))""")
    found = audited(graph, "unusual-number")["unusual-number"]
    assert whys(found) == {
        **{f"Player {i}": "height_cm 1.83: 197 of 200 lie between 161 and 202" for i in (7, 8, 9)},
        "Player 3": "goals -1: 199 of 200 lie between 0 and 6", "Player 6": "form -0.5: 198 of 199 lie between 0.7 and 140",
        "Player 10": "ward 95000: 199 of 200 lie between 901 and 1,100",
        **{f"Track {i}": f"seconds {213000 + i}: 196 of 198 lie between 96 and 295" for i in (11, 12)},
        "Player 21 -[HEARD]-> Track 21": "minute -3: 199 of 200 lie between 0 and 89",
        "Room 2": "capacity -1: 11 of 12 lie between 21 and 32",
    }
    assert (found.count, found.severity) == (10, "warning")


DRAWN = random.Random(7)
INNOCENT: dict[str, list[float]] = {
    "year": [*range(1900, 2000), 64], "price": [*range(10, 90), 12_000], "percent": [DRAWN.uniform(0, 100) for _ in range(400)],
    "ages": [DRAWN.randrange(100) for _ in range(300)], "distance_km": [DRAWN.expovariate(0.01) for _ in range(500)],
    "rating": [DRAWN.randint(1, 5) for _ in range(300)], "stay": [round(DRAWN.uniform(0.1, 900), 2) for _ in range(300)],
    "inhabitants": [DRAWN.lognormvariate(8, 2) for _ in range(500)], "reach": [DRAWN.lognormvariate(8, 2) for _ in range(1000)],
    "ties": [DRAWN.paretovariate(1) for _ in range(500)], "cites": [int(DRAWN.paretovariate(2)) for _ in range(500)],
    "errors": [*[0] * 300, *[1] * 30, *[2] * 8, 75], "children": [0] * 30 + [1] * 60 + [2] * 60 + [40], "few": [1] * 28 + [1000],
    "latitude": [*range(1, 80), -33], "change": [*range(100), -1], "often": [-1] * 5 + [*range(100)],
}


@pytest.mark.parametrize("key", INNOCENT)
def test_numbers_that_spread_widely_are_not_unusual(key: str) -> None:
    assert usual_numbers(key, parts(INNOCENT[key])) is None or not is_quantity(key)


@pytest.mark.parametrize(("numbers", "low", "high"), [
    ([1.83, *range(160, 201)], 160, 200), ([*range(95, 481), 213_000], 95, 480), ([0, 0, *range(50, 200), 20_000], 50, 199),
    ([2, *range(160, 201), 9_000], 160, 200),
])
def test_where_the_numbers_of_a_property_lie(numbers: list[float], low: float, high: float) -> None:
    usual = usual_numbers("measure", parts(numbers))
    assert usual is not None and (usual.low, usual.high) == (low, high)


def parts(numbers: Iterable[float]) -> list[NumberRange]:
    """As the server counts them."""
    found: dict[tuple[bool, int | None], list[float]] = defaultdict(list)
    for one in numbers:
        found[one < 0, math.floor(math.log10(one) * 20) if one > 0 else None].append(one)
    return sorted((NumberRange(len(known), min(known), max(known)) for known in found.values()), key=lambda part: part.low)


CODES = [
    # what a property is called, its values of i, and whether a repeat of one is said
    ("registration", "'MSKU' + (1000000 + i * 7919)", True), ("citation", "'[' + (1950 + i % 60) + '] EWCC ' + (i + 10)", True),
    ("official", "9000000 + i * 7919", True), ("isrc", "'GBAB1' + (6000000 + i)", True), ("slug", "'tale-of-' + i", True),
    ("mbid", "'3f2a1b' + (10 + i) + '-00ab-4c1d-8e9f-01234567' + (1000 + i)", True),
    # telephones, prices, counts, times, places, hashes, headings, dates, measures, and keys of other things
    ("contactPhone", "'+49 30 ' + (100000 + i)", False), ("hotline", "'030-' + (1000000 + i)", False),
    ("line", "'555-' + (1000 + i)", False),
    ("price", "100000 + i * 17", False), ("worth", "200000 + i * 100", False), ("population", "100000 + i * 91", False),
    ("createdAt", "1600000000 + i * 917", False), ("seconds", "1600000000 + i * 917", False),
    ("place", "'52.' + (1000 + i) + ', 13.4'", False),
    ("orderTotal", "100000 + i", False), ("topic", "'Chapter ' + (1000 + i)", False), ("contentHash", "'AB' + (100000 + i)", False),
    ("md5", "toString(100000000 + i)", False), ("opening", "toString(date('2001-01-01') + duration({days: i}))", False),
    ("day", "20010101 + i", False), ("weight", "(1000 + i) + ' kg'", False), ("ship_code", "'MSKU' + (1000000 + i * 7919)", False),
    ("postcode", "'AB' + (10000 + i)", False), ("batch", "'LOT' + (10000 + i)", False),
]


@pytest.mark.parametrize(("key", "value", "found"), CODES, ids=[key for key, *_ in CODES])
def test_codes_are_keys_beside_another_key_whatever_they_are_called(graph: Graph, draw: Draw, key: str, value: str, found: bool) -> None:
    draw(f"""UNWIND range(1, 120) AS n WITH n, CASE n WHEN 120 THEN 1 ELSE n END AS i
             CREATE (:Record {{uuid: 'u' + n, name: 'Record of things ' + n, `{key}`: {value}}}), (:Ship {{name: 'Ship ' + n}})""")
    assert list(whys(audited(graph, "repeated-key")["repeated-key"])) == ([f"Record.{key}"] if found else [])


@pytest.mark.parametrize(("label", "found"), [
    ("Judge", True), ("Judges", True), ("GuestLecturer", True), ("Person", True), ("Company", True), ("Station", True),
    ("Genre", False), ("Status", False), ("Reason", False), ("Gender", False), ("Country", False), ("Band", True), ("Book", False),
])
def test_of_values_only_people_and_the_like_have_names(graph: Graph, draw: Draw, label: str, found: bool) -> None:
    """Nodes that hold a name and nothing else, each with many relations, stand for values."""
    draw(f"""UNWIND range(0, 9) AS v CREATE (:`{label}` {{name: CASE v WHEN 4 THEN 'unknown' ELSE 'Name ' + v END}})
             WITH count(*) AS done UNWIND range(1, 100) AS i MATCH (v:`{label}`) WITH i, v ORDER BY v.name SKIP 0
             WITH i, collect(v) AS every WITH i, every[i % 10] AS v
             CREATE (:Case {{caseId: i, name: 'Case of ' + i, decided: date('2020-01-01') + duration({{days: i}})}})-[:HAS]->(v)""")
    finding = audited(graph, "placeholder-entity")["placeholder-entity"]
    assert [example.items[0].name for example in finding.examples] == (["unknown"] if found else [])
