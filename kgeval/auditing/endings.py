"""What ends a thing or a person's part in one (a death, a closing, who left), and what cannot happen to it after that."""

from __future__ import annotations

from collections.abc import Iterable

from kgeval.auditing.suspects import moment_words, plain_words
from kgeval.text.wordlists import word_set

# words of a date after which nothing happens to a thing any more, in seven languages, without accents
ENDS = word_set("""
    died death deceased dod dissolved dissolution closed closure closing left leaving retired retirement decommissioned terminated
    termination resigned resignation dismissed ceased cessation deactivated discontinued scrapped withdrawn liquidated liquidation
    demolished revoked disbanded defunct deregistered exit exited shutdown ausgeschieden austritt austrittsdatum ausgetreten ausscheiden
    geschlossen schliessung aufgelost aufgeloest auflosung aufloesung gestorben verstorben todesdatum sterbedatum tod todestag stillgelegt
    stilllegung stillegung ausgemustert abgemeldet abmeldung gekundigt gekuendigt kundigung kuendigung erloschen entlassen abgerissen
    verschrottet pensioniert pensionierung ruhestand ausserbetriebnahme cesse ferme fermeture dissous deces decede mort radie radiation
    licenciement demission retraite resilie resiliation desactive baja cese cierre cerrado cerrada disuelto disolucion defuncion
    fallecimiento fallecido muerte jubilacion jubilado retirado dimision despido extincion clausura desactivado cessazione cessato cessata
    chiusura chiuso sciolto scioglimento morte decesso deceduto pensionamento dimissioni licenziamento dismesso dismissione radiato
    disattivato encerramento encerrado encerrada falecimento falecido obito dissolucao dissolvido aposentado aposentadoria desligamento
    demissao desativado baixa gesloten sluiting opgeheven opheffing overleden overlijden uitdienst uitdiensttreding beeindigd beeindiging
    pensioen gesloopt uitgeschreven opgezegd buitengebruik
""")
# words of a date on which something begins or takes place; without any such word it is the date of the whole thing
HAPPENS = word_set("""
    since from start started begin began hire hired join joined employed enrolled admitted admission visited visit ordered order placed
    signed played kickoff performed treated treatment inspected inspection sampled measured opened reported received receipt filed
    submitted booked booking reserved reservation requested registered assigned assignment installed deployed appointed appointment held
    sold sale bought purchased lent borrowed rented departure departed operated arrived arrival raised logged issued seit ab beginn
    begonnen eingang eingegangen eingangsdatum gemeldet bestellt bestelldatum gebucht buchung buchungsdatum eroffnet eroeffnet beantragt
    antragsdatum untersucht behandelt gespielt zugewiesen verkauft gekauft besuch termin aufnahme antritt eintritt auftragsdatum depuis
    debut ouvert ouverture commande recu recue depot depose reserve reservee visite passee achat vente achete vendu embauche affecte signe
    joue soigne desde inicio abierto apertura pedido recibido reservado reserva visita compra venta comprado vendido contratado asignado
    ingreso firmado jugado tratado solicitud solicitado dal dalla inizio aperto ordine ordinato ricevuto prenotato prenotazione acquisto
    vendita acquistato venduto assunto assegnato ricovero firmato giocato richiesto aberto abertura encomenda recebido consulta atribuido
    assinado jogado vanaf sinds aanvang geopend besteld bestelling ontvangen geboekt boeking gereserveerd bezoek verkocht gekocht
    aangenomen toegewezen getekend gespeeld opname behandeld aangevraagd
""")
# words of dates that speak of when something was over, or written down
OVER = word_set("""
    closed resolved completed finished ended end decided delivered paid updated modified archived returned shipped published released due
    until expires entschieden erledigt abgeschlossen geliefert bezahlt ende bis fin livre paye cloture hasta pagado pagada entregado fine
    pagato consegnato fim pago entregue einde betaald geleverd
""")
# words of types, labels and dates of what may come after an end: it is remembered, paid, settled, owned, replaced, or handed on
AFTERWARDS = word_set("""
    award awarded awards prize won honor honour honored honoured honors medal nominated nomination posthumous posthumously inducted
    publication published publish publisher edition reissue release released translation translated exhibition exhibited exhibit exhibits
    payment payments paid pays pay invoice invoiced invoices bill billed billing refund refunded settlement settled credit dunning
    reminder mention mentions mentioned cite cites cited citation article news about subject topic describes documents documented document
    report archive archived archives history log audit audited review reviewed biography depicts depicted portrays portrayed features
    statue monument memorial dedicated named commemorates commemorated buried burial funeral autopsy estate inherits inherited inheritance
    heir own owns owned owner ownership belongs holds holder located stored collection museum descendant parent child son daughter
    ancestor successor succeeds succeeded replaced replaces replacement supersedes follows merged acquired acquisition takeover demolition
    disposal disposed dismantled sold influenced inspired based cover covers remake adaptation complaint claim lawsuit trial preis
    auszeichnung ehrung veroffentlichung veroeffentlichung verlag ausgabe zahlung bezahlt rechnung rechnungen mahnung gutschrift
    erstattung erwahnt erwaehnt zitiert artikel archiv archiviert protokoll biografie denkmal benannt gewidmet begraben beerdigung erbe
    erbt eigentumer eigentuemer besitzer besitzt gehort gehoert nachfolger ersetzt beschwerde gebuhr gebuehr prix recompense distinction
    publie paiement facture factures remboursement avoir relance mentionne tombe enterre heritier herite proprietaire possede successeur
    remplace premio galardon publicado publicacion editorial pago pagos factura facturas reembolso mencion menciona citado archivo
    entierro heredero hereda propietario posee sucesor reemplaza pubblicato pubblicazione edizione pagamento fattura fatture rimborso
    menziona citato archivio sepolto erede eredita proprietario possiede successore sostituisce fatura faturas herdeiro possui sucessor
    substitui prijs gepubliceerd uitgave betaling factuur facturen terugbetaling vermeldt archief begraven erfgenaam erft eigenaar bezit
    opvolger vervangt
""")
# words of labels of what ends by being done: more happens to it after that
DONE = word_set("""
    order orders ticket incident issue case request task project application claim invoice bill booking reservation reservacion complaint
    shipment delivery sprint pull patch bug defect alert job run session process step workflow contract deal opportunity lead survey
    proposal tender experiment study trial exam match game auftrag bestellung vorgang antrag fall storung stoerung vorfall aufgabe projekt
    rechnung buchung lieferung vertrag anfrage verfahren akte commande demande dossier tache projet facture livraison contrat affaire
    pedido solicitud caso tarea proyecto factura reserva entrega contrato expediente incidencia ordine richiesta pratica compito progetto
    fattura prenotazione consegna contratto encomenda processo tarefa projeto fatura bestelling aanvraag zaak taak factuur boeking
    levering melding
""")


def is_end(label: str, key: str) -> bool:
    """Whether a date of a label's nodes ends them: what died, closed or left; not a case that was closed."""
    words = {*plain_words(key)}
    return bool(words & ENDS) and DONE.isdisjoint(plain_words(label))


def is_event(owner: str, key: str, others: Iterable[str] = ()) -> bool:
    """Whether a date says when something takes place that needs its people and things alive. `others`: names that also speak of it."""
    words = {*plain_words(key)}
    if words & (OVER | ENDS) or not (words & HAPPENS or not moment_words(key)):
        return False
    said = {word for name in (owner, key, *others) for word in plain_words(name)}
    return AFTERWARDS.isdisjoint(said)
