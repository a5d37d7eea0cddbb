"""Properties that a sample makes suspect, from the profile: what checks of values look at exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.graph.connect import Row
from kgeval.names.forms import without_marks
from kgeval.profiling.record import GraphProfile, PropertyProfile
from kgeval.records import Example, GraphRef, Layout
from kgeval.text.predicates import uncamel
from kgeval.text.wordlists import word_set

Side = Literal["node", "start", "relation", "end"]
TEXT = "STRING"
# what is written in digits and is no number: nobody adds up or compares two of them
NO_NUMBER = re.compile(
    r"(?:(?<!he)(?<!pa)id|ids|code|zip|postal|plz|phone|tel|fax|mobile|isbn|issn|ean|iban|bic|ssn|vat|number|num|no|nr|key|uuid|guid|hash|version|ref|"
    r"address|ip|account|license|licence|serial|sku|nummer|num[eé]ro|n[uú]mero|c[oó]digo|codice|kennung|kennziffer|schl(?:ü|ue)ssel|"
    r"postleitzahl|tel[eé]fono|t[eé]l[eé]phone|telefoon|handy|m[oó]vil|konto|siret|siren|blz|ean\d+|gtin\d*|(?:^|[_\W])(?:cap|cp|cep|nif|dni))$",
    re.IGNORECASE,
)
# whose codes differ in length from country to country
POSTAL = re.compile(
    r"(?:zip|postal|plz|postleitzahl|(?:post|zip|postal)_?code|zip_?plus|code_?postal|c[oó]digo_?postal|(?:^|[_\W])(?:cap|cp|cep))$",
    re.IGNORECASE,
)
LETTERED = word_set("""
    house haus maison casa huis room zimmer raum chambre habitacion stanza kamer sala flat apartment apt wohnung suite floor etage piso
    planta platform gleis quai gate seat sitz platz asiento siege chapter kapitel chapitre capitulo capitolo section abschnitt paragraph
    paragraf article artikel articulo articolo artigo page seite pagina track line linie ligne linea linha route bus tram lot parcel
    parzelle flurstuck flurstueck entrance plot stall bay exit stairs treppe civico huisnummer
""")  # of what is numbered, and may have a letter behind its number: 11a
ONLY_DATES = word_set("date time datetime timestamp at on dt ts day year of is was the")
ELSEWHERE = word_set("""
    datum zeit uhrzeit jahr tag heure annee jour fecha data hora ano dia anno giorno ora tijd jaar dag de du di del des la le el
""")  # the same in other languages
TEMPORAL = frozenset(("DATE", "LOCAL DATETIME", "ZONED DATETIME"))
DATED = 0.9  # share of values that are dates
PLANS = word_set("""
    due required require expected planned scheduled schedule deadline target eta etd estimated promised best use expiry expires expiration
    valid until next renewal renew review warranty
    bis soll plan vorgesehen erwartet ziel zieldatum termin stichtag garantie naechste nachste wiedervorlage
    prevu prevue prevus echeance limite attendu attendue estime estimee butoir peremption garantie prochain prochaine jusqu valable
    plazo limite previsto prevista vencimiento vence caducidad caduca esperado esperada estimado estimada programado programada proximo
    proxima garantia hasta vigencia valido valida
    scadenza scade termine previsto prevista atteso attesa stimato stimata programmato programmata prossimo prossima garanzia fino
    prazo vencimento vence previsto prevista esperado estimado validade proximo ate
    vervaldatum vervalt verwacht verwachte gepland geplande geschat streefdatum deadline uiterlijk geldig volgende garantie tot
""")  # of what may come earlier or later than it was meant to
# what need not be there
OPTIONAL = word_set("""
    review comment comments note notes remark remarks description bio biography summary suffix middle second alias aliases nickname fax
    homepage website url link image photo picture logo tagline subtitle discount reason
    bemerkung bemerkungen notiz notizen beschreibung anmerkung kommentar zusatz remarque remarques commentaire
    observacion observaciones comentario nota notas descripcion osservazioni commento descrizione opmerking opmerkingen beschrijving
""")
# the same within a longer word: Rückgabefrist, Fälligkeitsdatum, Solltermin, Gültigkeit, uiterste
PLANNED = re.compile(
    r"frist|faellig|fallig|geplant|^plan(?!t)|^soll|ablauf|gueltig|gultig|haltbar|^uiterste|^echeanc|^vencim|^scaden|^caducid|^previst",
)


@dataclass(frozen=True)
class PropertyAt:
    """A property of a node, or at a side of a relation. `owner`: the label or type that has it."""

    side: Side
    owner: str
    key: str


@dataclass(frozen=True)
class KeptProperty:
    """A property on nodes of a label or relations of a type that people keep. `of`: how many of these there are, `sampled`: of them in the
    sample; `keys`: properties that tell the label's nodes apart."""

    owner: str
    values: PropertyProfile
    of: int
    sampled: int
    is_relation: bool = False
    keys: tuple[str, ...] = ()

    @property
    def holders(self) -> float:
        """About how many have it."""
        return self.of * self.values.filled

    @property
    def name(self) -> str:
        """As people name it."""
        return property_name(self.owner, self.values.key)

    def asked(self) -> dict[str, str | None]:
        """As the queries take it."""
        label, type_ = (None, self.owner) if self.is_relation else (self.owner, None)
        return {"label": label, "type": type_, "key": self.values.key}


def kept_properties(check: CheckRun) -> list[KeptProperty]:
    """The properties of things, records and relations that people keep, not a writer of texts; but for those that the layout has in a role
    of its own (a name, a type, a description)."""
    own = layout_keys(check.layout)
    return [found for found in every_property(check) if found.values.key not in own]


def every_property(check: CheckRun) -> list[KeptProperty]:
    """As `kept_properties`, with those that the layout has in a role."""
    profile: GraphProfile | None = check.settings["profile"]
    if profile is None:
        return []
    kept = [label for label in profile.labels if not label.is_from_texts]
    things = [label for label in kept if label.role in ("entity", "record", "value") and label.label]
    types = [] if profile.is_from_texts else profile.types
    of_labels = [
        KeptProperty(label.label, found, label.nodes, label.sampled, keys=tuple(label.keys))
        for label in things for found in label.properties
    ]
    of_types = [
        KeptProperty(relation.type, found, relation.count, relation.sampled, is_relation=True)
        for relation in types for found in relation.properties
    ]
    return [*of_labels, *of_types]


def text_properties(check: CheckRun) -> list[KeptProperty]:
    """Those that hold text."""
    return [found for found in kept_properties(check) if found.values.types.get(TEXT, 0.0) > 0]


def share_of_numbers(values: PropertyProfile) -> float:
    """Share of the values that are numbers, or texts that hold one."""
    types = values.types
    return types.get("INTEGER", 0.0) + types.get("FLOAT", 0.0) + types.get(TEXT, 0.0) * values.formats.get("number", 0.0)


def sizes_of_things(profile: GraphProfile, least: int) -> dict[str, int]:
    """By label of things and records its nodes, where there are so many."""
    things = (label for label in profile.labels if label.label and label.role in ("entity", "record"))
    return {label.label: label.nodes for label in things if label.nodes >= least}


def layout_keys(layout: Layout) -> frozenset[str]:
    """The properties that the layout has in a role of its own (a name, a type, a description, a time)."""
    return frozenset(_keys_in(layout))


def property_reference(owner: str, key: str) -> GraphRef:
    """A property of a label or relation type for a report."""
    name = property_name(owner, key)
    return GraphRef(key=name, name=name, type=owner, kind="property")


def key_words(key: str) -> list[str]:
    """The words of a name of a property or type in small letters, without those that say only that it is a date: dateOfBirth is birth."""
    return [word for word in name_words(key) if word not in ONLY_DATES]


def name_words(key: str) -> list[str]:
    """All words of a name of a property or type in small letters."""
    return [word for word in re.split(r"[\W_]+", uncamel(key).lower()) if word]


def plain_words(key: str) -> list[str]:
    """All words of a name in small letters without accents."""
    return [without_marks(word) for word in name_words(key)]


def is_plan(key: str) -> bool:
    """Whether a name of a date says that it is a plan, a deadline or the end of a validity, which is no event."""
    return any(word in PLANS or PLANNED.search(word) for word in plain_words(key))


def moment_words(key: str) -> list[str]:
    """As `key_words`, without accents, and without words for a date in other languages: date_de_décès is deces."""
    return [word for word in plain_words(key) if word not in ONLY_DATES and word not in ELSEWHERE]


def without_words(key: str, words: Collection[str]) -> set[tuple[str, ...]]:
    """What is left of a name without one of the words, or two that stand together (check_in), for each that is in it."""
    of = moment_words(key)
    return {(*of[:at], *of[at + size :]) for size in (1, 2) for at in range(len(of) - size + 1) if "_".join(of[at : at + size]) in words}


def is_date(found: PropertyProfile) -> bool:
    """Whether nearly all sampled values of a property are dates."""
    return sum(found.types.get(name, 0.0) for name in TEMPORAL) >= DATED or found.formats.get("date", 0.0) >= DATED


def property_name(owner: str, key: str) -> str:
    """A property as people name it: Order.shipRegion."""
    return f"{owner[:100]}.{key[:100]}"


def judged_properties(
    check: CheckRun, known: list[KeptProperty], suspects: list[KeptProperty], why: Callable[[KeptProperty, Row], str | None], *,
    more: Mapping[str, Mapping[str, str | int]] | None = None,
) -> CheckOutcome:
    """`count`: suspects of which `why` says what is wrong, of all `known`; each is an example. `more`: what the query is told of a suspect
    besides, by its name."""
    asked = [{**suspect.asked(), **(more or {}).get(suspect.name, {})} for suspect in suspects]
    rows = _rows(check, asked)
    found = [(suspect, said) for suspect in suspects if (row := rows.get(suspect.name)) is not None and (said := why(suspect, row))]
    examples = [
        Example(items=[property_reference(suspect.owner, suspect.values.key)], why=said)
        for suspect, said in found[: check.sample]
    ]
    return CheckOutcome(len(found), len(known), examples, parameters={"suspects": asked})


def _rows(check: CheckRun, asked: Sequence[Mapping[str, str | int | None]]) -> dict[str, Row]:
    """What the check's query says of each; nothing is asked where none is suspect."""
    if not asked:
        return {}
    rows = check.own_rows(suspects=asked)
    return {property_name(row["owner"], row["key"]): row for row in rows}


def _keys_in(layout: Layout) -> Iterator[str]:
    for name, value in layout.model_dump().items():
        if name.endswith("_key") and isinstance(value, str):
            yield value
        elif name.endswith("_keys") and isinstance(value, list):
            yield from (key for key in value if isinstance(key, str))
