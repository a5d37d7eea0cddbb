"""What checks read in names and values of several languages: what comes first, words for none, fathers and mothers, keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from audited import told

from kgeval.auditing.steps.values_out_of_order import Ordered, in_order
from kgeval.graph.connect import Graph
from kgeval.profiling.record import PropertyProfile

Draw = Callable[[str], None]


@pytest.mark.parametrize(("first", "last", "types", "ordered"), [
    ("opened", "resolved", "DATE", True), ("reported_at", "resolved_at", "DATE", True), ("not_before", "not_after", "DATE", True),
    ("launched", "discontinued", "DATE", True), ("begin_time", "finish_time", "STRING", True), ("prep_time", "total_time", "INTEGER", True),
    ("net_weight", "gross_weight", "FLOAT", True), ("subtotal", "total", "FLOAT", True), ("check_in", "check_out", "DATE", True),
    ("first_seen", "last_seen", "DATE", True), ("Beginn", "Ende", "DATE", True), ("gültig_von", "gültig_bis", "DATE", True),
    ("geboren", "gestorben", "INTEGER", True), ("date_début", "date_fin", "DATE", True), ("date_de_naissance", "date_décès", "DATE", True),
    ("ouverture", "fermeture", "STRING", True), ("fecha_inicio", "fecha_fin", "DATE", True), ("desde", "hasta", "INTEGER", True),
    ("nacimiento", "muerte", "INTEGER", True), ("data_inizio", "data_fine", "DATE", True), ("nascita", "morte", "INTEGER", True),
    ("início", "fim", "DATE", True), ("begindatum", "einddatum", "DATE", True), ("geboorte", "overlijden", "INTEGER", True),
    ("first_name", "last_name", "STRING", False), ("net_weight", "gross_price", "FLOAT", False), ("before", "after", "FLOAT", False),
    ("launched", "retired", "INTEGER", False), ("total", "subtotal", "FLOAT", False), ("start_month", "end_month", "INTEGER", False),
])
def test_what_comes_first_is_read_in_names_of_several_languages(first: str, last: str, types: str, ordered: bool) -> None:
    values = [PropertyProfile(key=key, filled=1.0, types={types: 1.0}) for key in (first, last)]
    assert (Ordered(first, last) in in_order(values)) is ordered


def test_one_pair_of_few_in_the_wrong_order_is_found_where_names_say_so(graph: Graph, draw: Draw) -> None:
    """A total that a discount lowers, a credit note, a bar that closes after midnight and floors from which lifts go are no slips."""
    draw("""UNWIND range(1, 25) AS i
            CREATE (:Ticket {ticketNo: 't' + i, opened: date('2024-03-10') + duration({days: i}), resolved: date('2024-03-12')
                + duration({days: CASE i WHEN 3 THEN -9 ELSE i END})}),
              (:Recipe {name: 'Soup ' + i, prep_time: 10 + i, total_time: CASE i WHEN 4 THEN 5 ELSE 40 + i END}),
              (:Lesson {name: 'Lesson ' + i, start: '09:00', end: CASE i WHEN 5 THEN '08:15' ELSE '10:00' END}),
              (:Bar {name: 'Bar ' + i, opens: localtime('18:00'),
                closes: CASE WHEN i % 3 = 0 THEN localtime('02:00') ELSE localtime('23:00') END}),
              (:Personne {nom: 'Personne ' + i, naissance: 1900 + i, décès: CASE i WHEN 6 THEN 1890 ELSE 1980 END}),
              (:Invoice {name: 'Invoice ' + i, subtotal: 100.0, total: CASE i WHEN 7 THEN 90.0 ELSE 119.0 END, discount: 0}),
              (:Receipt {name: 'Receipt ' + i, net: CASE i WHEN 8 THEN -10.0 ELSE 10.0 END, gross: CASE i WHEN 8 THEN -11.9 ELSE 11.9 END}),
              (:Paket {name: 'Paket ' + i, netto: CASE i WHEN 9 THEN 12 ELSE 8 END, brutto: 9})
            WITH count(*) AS done UNWIND range(1, 5) AS i
            CREATE (:Expo {nombre: 'Expo ' + i, inicio: date('2024-01-10'),
                fin: CASE i WHEN 2 THEN date('2023-12-01') ELSE date('2024-02-01') END}),
              (:Lift {name: 'Lift ' + i, from: i, to: CASE i WHEN 2 THEN 1 ELSE 8 END})""")
    assert told(graph, "values-out-of-order") == {
        "Ticket t3": "opened 2024-03-13, resolved 2024-03-03", "Soup 4": "prep_time 14, total_time 5", "Lesson 5": "start 09:00, end 08:15",
        "Personne Personne 6": "naissance 1906, décès 1890", "Paket 9": "netto 12, brutto 9",
        "fin=2023-12-01, nombre=Expo 2": "inicio 2024-01-10, fin 2023-12-01",
    }


def test_children_weddings_and_performances_follow_what_they_need(graph: Graph, draw: Draw) -> None:
    """Some weddings are years before others; a performance may be the first."""
    draw("""UNWIND range(1, 12) AS i
            CREATE (p:Personne {nom: 'Parent ' + i, naissance: 1900 + i}), (c:Personne {nom: 'Enfant ' + i,
                naissance: CASE i WHEN 3 THEN 1890 ELSE 1930 + i END}), (c)-[:`PÈRE`]->(p),
              (p)-[:MARRIED {date: CASE i WHEN 4 THEN date('1899-05-01') ELSE date('1925-05-01') END}]->(q:Spouse {name: 'Spouse ' + i}),
              (w:Play {title: 'Play ' + i, premiere: date('1950-01-01') + duration({days: i})}),
              (:Performance {performanceId: 'p' + i,
                date: date('1950-01-01') + duration({days: CASE i WHEN 5 THEN 2 ELSE i END})})-[:OF]->(w),
              (:Performance {performanceId: 'q' + i, date: date('1951-01-01') + duration({days: i})})-[:OF]->(w)""")
    found = told(graph, "values-out-of-order")
    assert sorted(found) == [
        "Performance p5 -[OF]-> Play 5", "Personne Enfant 3 -[PÈRE]-> Personne Parent 3", "Personne Parent 4 -[MARRIED]-> Spouse 4",
    ]


def test_words_for_none_of_several_languages_are_found(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 40) AS i
            WITH i, 'Text of ' + i AS text
            CREATE (:Fiche {ficheId: 'f' + i, name: 'Fiche ' + i, a: CASE i WHEN 1 THEN 'TBD' ELSE text END,
                b: CASE i WHEN 1 THEN 'k. A.' ELSE text END, c: CASE i WHEN 1 THEN 'Entfällt' ELSE text END,
                d: CASE i WHEN 1 THEN 's/d' ELSE text END, e: CASE i WHEN 1 THEN 'non renseigné' ELSE text END,
                f: CASE i WHEN 1 THEN 'sconosciuto' ELSE text END, g: CASE i WHEN 1 THEN 'Sin datos' ELSE text END,
                description: CASE i WHEN 1 THEN 'Lorem ipsum dolor sit amet, consectetur elit' WHEN 2 THEN 'unknown' ELSE text END,
                family: ['ledig', 'verheiratet', 'keine Angabe'][i % 3], status: ['OPEN', 'DONE', 'TBD'][i % 3],
                book: CASE i WHEN 1 THEN 'On Lorem ipsum' ELSE text END, code: ['KA', 'ND', 'NC'][i % 3]})""")
    assert sorted(told(graph, "null-text")) == sorted([*(f"Fiche.{key}" for key in "abcdefg"), "Fiche.description"])


def test_one_of_few_without_a_relation_and_one_without_any_of_many_are_found(graph: Graph, draw: Draw) -> None:
    """Who bought once may have bought nothing, and whom all report to reports to nobody."""
    draw("""UNWIND range(1, 33) AS i
            CREATE (r:Recipe {name: 'Recipe ' + i}), (k:Cook {name: 'Cook ' + i % 9 + ' ' + i}), (r)-[:BY]->(k),
              (c:Customer {name: 'Customer ' + i}),
              (c)-[:LIVES_IN]->(:Town {name: 'Town ' + i})
            FOREACH (x IN range(1, CASE i WHEN 7 THEN 0 ELSE 1 + i % 4 END)
                | CREATE (r)-[:HAS_INGREDIENT]->(:Ingredient {name: 'I ' + i + '-' + x}))
            FOREACH (x IN range(1, CASE i WHEN 8 THEN 0 ELSE 1 + i % 4 END) | CREATE (c)-[:BOUGHT]->(:Purchase {purchaseNo: i * 10 + x}))
            WITH count(*) AS done UNWIND range(1, 22) AS i
            CREATE (v:Vase {name: 'Vase ' + i}), (v)-[:FOUND_AT]->(:Site {name: 'Site ' + i})
            FOREACH (x IN CASE i WHEN 5 THEN [] ELSE [1] END | CREATE (v)-[:KEPT_IN]->(:Museum {name: 'Museum ' + i}))
            CREATE (e:Clerk {name: 'Clerk ' + i}), (e)-[:HAS]->(:Desk {desk: i})
            WITH collect(e) AS clerks CREATE (b:Clerk:Director {name: 'Boss'})-[:HAS]->(:Desk {desk: 0})
            WITH clerks, b UNWIND clerks AS e CREATE (e)-[:REPORTS_TO]->(b)""")
    assert told(graph, "missing-usual-relation") == {
        "Recipe 7": "none -[HAS_INGREDIENT]->, which 32 of 33 Recipe have", "Vase 5": "none -[KEPT_IN]->, which 21 of 22 Vase have",
    }


@pytest.mark.parametrize(("father", "mother", "found"), [
    ("FATHER", "MOTHER", ["FATHER, MOTHER"]), ("PERE", "MERE", ["MERE, PERE"]), ("HAS_FATHER", "hasMother", ["HAS_FATHER, hasMother"]),
    ("MUTTER_VON", "VATER_VON", ["MUTTER_VON, VATER_VON"]), ("FATHER", "CHILD_OF", []),
])
def test_nobody_is_an_ancestor_of_oneself_by_fathers_and_mothers(
    graph: Graph, draw: Draw, father: str, mother: str, found: list[str],
) -> None:
    draw(f"""UNWIND range(1, 30) AS i CREATE (:Person {{name: 'Person ' + i, personId: i}}) WITH count(*) AS done
             MATCH (a:Person), (b:Person {{personId: a.personId + 3}}) CREATE (a)-[:{father}]->(b) WITH count(*) AS done
             MATCH (a:Person {{personId: 7}}), (b:Person {{personId: 4}}) CREATE (a)-[:{mother}]->(b)""")
    assert [why.partition(":")[0] for why in told(graph, "hierarchy-cycle").values()] == found


@pytest.mark.parametrize(("key", "found"), [
    ("tax_id", True), ("siret", True), ("ISBN", True), ("serial", True), ("licence_number", True), ("cote", True), ("mac", True),
    ("UstID", True), ("plate", True), ("nickname", False), ("height", False), ("phone", False),
])
def test_a_key_known_by_its_name_repeats_among_few(graph: Graph, draw: Draw, key: str, found: bool) -> None:
    draw(f"UNWIND range(1, 12) AS i CREATE (:Firm {{name: 'Firm ' + i, id: i, `{key}`: 'v' + (100 + CASE i WHEN 12 THEN 1 ELSE i END)}})")
    why = "12 nodes have 11 values: 1 value stands more than once, as 'v101' (2 times: Firm 1, Firm 12)"
    assert told(graph, "repeated-key") == ({f"Firm.{key}": why} if found else {})


def test_each_value_that_stands_twice_is_named_and_its_nodes_are_told_apart(graph: Graph, draw: Draw) -> None:
    """By a value that differs; where none does, by their element ids."""
    draw("""UNWIND range(1, 200) AS i
            CREATE (:Facture {numero: 'FA-2024-' + (1000 + CASE i WHEN 198 THEN 3 WHEN 199 THEN 7 WHEN 200 THEN 9 ELSE i END),
              date: date('2024-01-01') + duration({days: i}), statut: 'payée'})
            WITH count(*) AS done MATCH (f:Facture {numero: 'FA-2024-1009'}) SET f.date = date('2024-03-03')""")
    said = told(graph, "repeated-key")["Facture.numero"]
    first = "Facture FA-2024-1003 (date 2024-01-04), Facture FA-2024-1003 (date 2024-07-17)"
    assert said.startswith("200 nodes have 197 values: 3 values stand more than once, as "
                           f"'FA-2024-1003' (2 times: {first}), 'FA-2024-1007' (2 times: Facture FA-2024-1007 (date 2024-01-08), ")
    assert said.count("FA-2024-1009 (element id 4:") == 2
