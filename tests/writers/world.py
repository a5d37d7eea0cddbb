"""An invented place: four short documents, and what a model finds in each. Everything here is ours; the writers add only their own form.

Faults are planted, so that the checks have something to find that is known beforehand:

    one person in two spellings        Ilsa Brandt, ILSA BRANDT
    one company in two forms           Vell Company, Vell Co.
    one name with two types            Harrowmere: Place, Town
    an entity without relations        Lighthouse Fund
    an entity that no text names       Silver Comet
    a relation to itself               Lake Osk FLOWS_INTO Lake Osk
    a relation to what is not found    Ruth Amsel BORN_IN Old Quarry: no entity of that name is found
    a document without entities        weather.txt
    a time that ends before it begins  Vell Co. OPERATES Grey Heron (for writers that keep times)

This module runs in every writer's own environment: it imports nothing but the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass

DOCUMENTS = {
    "town.txt": (
        "Harrowmere is a town on Lake Osk. Its mayor, Ilsa Brandt, opened the Lantern Museum in Harrowmere in 1987. "
        "The Lighthouse Fund looks after the harbour."
    ),
    "mill.txt": (
        "Tomas Vell built the Osk Mill on the north shore of Lake Osk. The mill belongs to the Vell Company. "
        "Later he married ILSA BRANDT, who comes from Harrowmere."
    ),
    "ferry.txt": (
        "The Grey Heron is the ferry across Lake Osk. The Vell Co. runs it. Ruth Amsel, a cousin of Tomas Vell, is its captain. "
        "She was born at the Old Quarry. The ferry took the place of an older ship, and the lake flows into itself."
    ),
    "weather.txt": "It rains a lot in spring, and the fog is thick until noon. Nobody minds.",
}
TYPES = ("Person", "Place", "Town", "Building", "Organization", "Ship")


@dataclass(frozen=True)
class Found:
    """What the model finds in one document. Entities: name -> type. Relations: head, predicate, tail, sentence."""

    entities: dict[str, str]
    relations: tuple[tuple[str, str, str, str], ...]


FOUND = {
    "town.txt": Found(
        {
            "Harrowmere": "Place", "Lake Osk": "Place", "Ilsa Brandt": "Person", "Lantern Museum": "Building",
            "Lighthouse Fund": "Organization",
        },
        (
            ("Harrowmere", "LIES_ON", "Lake Osk", "Harrowmere lies on Lake Osk."),
            ("Ilsa Brandt", "MAYOR_OF", "Harrowmere", "Ilsa Brandt is the mayor of Harrowmere."),
            ("Ilsa Brandt", "OPENED", "Lantern Museum", "Ilsa Brandt opened the Lantern Museum."),
            ("Lantern Museum", "LOCATED_IN", "Harrowmere", "The Lantern Museum is in Harrowmere."),
        ),
    ),
    "mill.txt": Found(
        {
            "Tomas Vell": "Person", "Osk Mill": "Building", "Lake Osk": "Place", "Vell Company": "Organization",
            "ILSA BRANDT": "Person", "Harrowmere": "Town",
        },
        (
            ("Tomas Vell", "BUILT", "Osk Mill", "Tomas Vell built the Osk Mill."),
            ("Osk Mill", "LIES_ON", "Lake Osk", "The Osk Mill lies on Lake Osk."),
            ("Vell Company", "OWNS", "Osk Mill", "The Osk Mill belongs to the Vell Company."),
            ("Tomas Vell", "MARRIED", "ILSA BRANDT", "Tomas Vell married ILSA BRANDT."),
            ("ILSA BRANDT", "COMES_FROM", "Harrowmere", "ILSA BRANDT comes from Harrowmere."),
        ),
    ),
    "ferry.txt": Found(
        {
            "Grey Heron": "Ship", "Lake Osk": "Place", "Vell Co.": "Organization", "Ruth Amsel": "Person", "Tomas Vell": "Person",
            "Silver Comet": "Ship",
        },
        (
            ("Grey Heron", "CROSSES", "Lake Osk", "The Grey Heron crosses Lake Osk."),
            ("Vell Co.", "OPERATES", "Grey Heron", "The Vell Co. runs the Grey Heron."),
            ("Ruth Amsel", "CAPTAIN_OF", "Grey Heron", "Ruth Amsel is captain of the Grey Heron."),
            ("Ruth Amsel", "COUSIN_OF", "Tomas Vell", "Ruth Amsel is a cousin of Tomas Vell."),
            ("Ruth Amsel", "BORN_IN", "Old Quarry", "Ruth Amsel was born at the Old Quarry."),
            ("Grey Heron", "REPLACED", "Silver Comet", "The Grey Heron took the place of the Silver Comet."),
            ("Lake Osk", "FLOWS_INTO", "Lake Osk", "Lake Osk flows into Lake Osk."),
        ),
    ),
    "weather.txt": Found({}, ()),
}
# predicate -> (holds from, holds until), for writers that keep times
TIMES = {
    "OPENED": ("1987-05-01T00:00:00Z", None),
    "MAYOR_OF": ("1981-01-01T00:00:00Z", "1995-01-01T00:00:00Z"),
    "OPERATES": ("2001-03-01T00:00:00Z", "1999-03-01T00:00:00Z"),
}


def found_in(prompt: str) -> Found:
    """What is to be found in the document that a prompt shows. If it shows several, the last: writers put earlier ones in front."""
    shown = {name: prompt.rfind(text[:60]) for name, text in DOCUMENTS.items()}
    name = max(shown, key=lambda name: shown[name])
    return FOUND[name] if shown[name] >= 0 else Found({}, ())


def type_of(name: str, found: Found) -> str:
    """The type of an entity in a document; of one that was not found there: the type anywhere, else Place."""
    return found.entities.get(name) or next((f.entities[name] for f in FOUND.values() if name in f.entities), "Place")
