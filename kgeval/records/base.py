"""The base of all records: frozen, unknown fields are errors."""

from __future__ import annotations

import threading
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

SCHEMA_VERSION: Literal["1"] = "1"


_building = threading.RLock()


class StrictModel(BaseModel):
    """Frozen, and unknown fields are errors. Its schema is built when it is first used."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def model_rebuild(
        cls, *, force: bool = False, raise_errors: bool = True, _parent_namespace_depth: int = 2, _types_namespace: Any = None,
    ) -> bool | None:
        """As pydantic's, by one thread at a time: pydantic 2.11 and 2.12 fail where two threads use a model for the first time at once."""
        with _building:
            return super().model_rebuild(
                force=force, raise_errors=raise_errors, _parent_namespace_depth=_parent_namespace_depth + 1,
                _types_namespace=_types_namespace,
            )


class Record(StrictModel):
    """Base of all records."""


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
