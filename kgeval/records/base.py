"""The base of all records: frozen, unknown fields are errors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

SCHEMA_VERSION: Literal["1"] = "1"


class Record(BaseModel):
    """Base of all records: frozen, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


# A redacted report holds a short hash in place of every text but those that are marked with these (reports/redact.py): our own words, and
# the names of systems, metrics, files, types and settings. A new field is a user's text until somebody says that it is not.
PUBLIC, CAUSE, PATH = "public", "cause", "path"
Public = Annotated[str, PUBLIC]
PublicJson = Annotated[JsonValue, PUBLIC]
Cause = Annotated[str, CAUSE]  # why something failed: a few plain words stay, another text does not
FilePath = Annotated[str, PATH]  # its last part stays


class PublicRecord(Record):
    """A record that no user's text goes into, but what the user typed on the command line: all of it stays in a redacted report."""


class OfPair(Record):
    """What is said of a pair of systems. Differences are A minus B."""

    system_a: Public
    system_b: Public


class OfMetric(Record):
    """What is said of one metric of one system."""

    system: Public
    metric: Public
