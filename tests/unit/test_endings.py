"""What ends a thing, what happens to it before that, and what is a plan: read in names of seven languages."""

from __future__ import annotations

import pytest

from kgeval.auditing.dates_across import DateAt, Side, happens_before_end
from kgeval.auditing.suspects import is_plan


@pytest.mark.parametrize(("type_", "owner", "key", "label", "end"), [
    ("PASSEE_PAR", "Commande", "date", "Client", "dateCessation"),
    ("BEARBEITET_VON", "Antrag", "eingang", "Sachbearbeiter", "ausgeschieden_am"),
    ("PLAYED_AT", "Match", "date", "Stadium", "demolished_on"), ("BOOKED_BY", "Flight", "departure", "Passenger", "deathDate"),
    ("ASSIGNED_TO", "Incident", "opened_at", "Employee", "left_on"), ("RUNS_ON", "RUNS_ON", "since", "Server", "decommissioned_on"),
    ("ATENDIDA_POR", "Visita", "fecha", "Medico", "fecha_baja"), ("EFFETTUATO_DA", "Ordine", "data_ordine", "Cliente", "data_cessazione"),
    ("PEDIDO_DE", "Pedido", "data", "Cliente", "data_encerramento"),
    ("GEPLAATST_DOOR", "Bestelling", "besteld_op", "Klant", "opgeheven_op"),
    ("BEHANDELT_VON", "Besuch", "datum", "Arzt", "austrittsdatum"), ("TAUGHT_BY", "TAUGHT_BY", "from", "Teacher", "retired"),
])
def test_what_happens_to_what_had_ended_is_read_in_names(type_: str, owner: str, key: str, label: str, end: str) -> None:
    side: Side = "relation" if owner == type_ else "start"
    assert happens_before_end(type_, DateAt(side, owner, key), DateAt("end", label, end))


@pytest.mark.parametrize(("type_", "owner", "key", "label", "end"), [
    ("WON", "WON", "date", "Person", "died"), ("AWARDED_TO", "Prize", "date", "Person", "deathDate"),
    ("WROTE", "Book", "published", "Person", "died"),
    ("PAYS", "Payment", "date", "Customer", "closed"), ("BILLED_TO", "Invoice", "date", "Customer", "terminated_on"),
    ("COMMENT_ON", "Comment", "date", "Ticket", "closed_at"), ("HAT_RECHNUNG", "Rechnung", "datum", "Kunde", "gekuendigt_am"),
    ("MENTIONS", "Article", "date", "Company", "dissolved"), ("OWNS", "OWNS", "since", "Ship", "decommissioned"),
    ("OWNED_BY", "OWNED_BY", "from", "Person", "died"), ("HANDLED_BY", "Case", "closed_at", "Clerk", "left_on"),
    ("HANDLED_BY", "Case", "resolved", "Clerk", "left_on"), ("LIEFERT", "Lieferung", "geliefert_am", "Auftrag", "geschlossen_am"),
    ("SUCCEEDED_BY", "SUCCEEDED_BY", "since", "Company", "dissolved"), ("NAMED_AFTER", "Street", "opened", "Person", "died"),
    ("ARCHIVED_IN", "ARCHIVED_IN", "date", "Person", "died"), ("EXHIBITED", "Exhibition", "start", "Painter", "died"),
    ("PASSEE_PAR", "Commande", "date", "Client", "dateInscription"), ("FOR_ORDER", "Facture", "date", "Commande", "date_cloture"),
    ("BURIED_IN", "BURIED_IN", "date", "Person", "died"), ("HAS_SALE", "Sale", "date", "Lot", "expiry_date"),
])
def test_what_may_come_after_an_end_is_left_alone(type_: str, owner: str, key: str, label: str, end: str) -> None:
    side: Side = "relation" if owner == type_ else "start"
    assert not happens_before_end(type_, DateAt(side, owner, key), DateAt("end", label, end))


@pytest.mark.parametrize(("key", "plan"), [
    ("frist_bis", True), ("Rückgabefrist", True), ("fällig_am", True), ("faelligkeitsdatum", True), ("soll_datum", True),
    ("Solltermin", True),
    ("geplantes_ende", True), ("gültig_bis", True), ("ablaufdatum", True), ("dateEcheance", True), ("date_échéance", True),
    ("date_prevue", True), ("date_limite", True), ("plazo", True), ("fecha_vencimiento", True), ("fecha_prevista", True),
    ("fecha_caducidad", True), ("data_scadenza", True), ("dataPrevista", True), ("prazo", True), ("data_de_validade", True),
    ("vervaldatum", True), ("geplande_datum", True), ("verwacht_op", True), ("due_date", True), ("planned_start", True),
    ("eingang", False), ("entschieden_am", False), ("date_livraison", False), ("fecha_entrada", False), ("geliefert", False),
    ("planted_on", False), ("data_ordine", False), ("solution_date", False), ("gepflanzt_am", False), ("vendu_le", False),
])
def test_plans_and_deadlines_are_no_events(key: str, plan: bool) -> None:
    assert is_plan(key) is plan
