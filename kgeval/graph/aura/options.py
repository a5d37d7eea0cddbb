"""What a session is asked to be, and the credentials that may create it: from the environment only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kgeval.errors import ConfigError, UsageError

MEMORIES = (
    "2GB", "4GB", "8GB", "16GB", "24GB", "32GB", "48GB", "64GB", "96GB", "128GB", "192GB", "256GB", "384GB", "512GB",
)  # what Aura offers; a test holds them against the client's own list
PROVIDERS = ("gcp", "aws", "azure")
# minutes; Aura lets no session wait longer than seven days
LONGEST_TTL = 7 * 24 * 60
_CLOUD = re.compile(r"^(?P<provider>[a-z]+):(?P<region>[a-z0-9-]+)$")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")


@dataclass(frozen=True)
class AuraOptions:
    """`memory`: one of MEMORIES, or None: what Aura's own estimate recommends. `ttl`: minutes without work after which Aura deletes
    the session by itself. `cloud`: 'PROVIDER:REGION', for databases outside Aura only. `name`: a session of the user's own, which is
    left alone at the end if it was there before; None: one of this process, always deleted.

    Raises: UsageError for a value that cannot be meant.
    """

    memory: str | None = None
    ttl: int = 60
    cloud: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and self.memory not in MEMORIES:
            raise UsageError(f"a session cannot have {self.memory} of memory", fix="take one of " + ", ".join(MEMORIES))
        if not 1 <= self.ttl <= LONGEST_TTL:
            raise UsageError(f"a session cannot wait {self.ttl} minutes", fix=f"1 to {LONGEST_TTL} minutes (7 days)")
        if self.cloud is not None and self.location is None:
            raise UsageError(f"'{self.cloud}' is no cloud location", fix="PROVIDER:REGION, such as gcp:europe-west1 (gcp, aws or azure)")
        if self.name is not None and not _NAME.match(self.name):
            raise UsageError(f"'{self.name}' is no name of a session", fix="letters, digits, - and _; 100 at most")

    @property
    def memory_told(self) -> str:
        """How much memory it will have, in words."""
        return f"{self.memory} of memory" if self.memory else "as much memory as Aura estimates"

    @property
    def location(self) -> tuple[str, str] | None:
        """(provider, region) of `cloud`."""
        match = _CLOUD.match(self.cloud or "")
        return (match["provider"], match["region"]) if match and match["provider"] in PROVIDERS else None


@dataclass(frozen=True)
class Credentials:
    """An Aura API key: never printed, never written. `project`: the Aura project, where the key belongs to several."""

    client_id: str
    client_secret: str = field(repr=False)
    project: str | None = None


def credentials(environ: Mapping[str, str]) -> Credentials:
    """The key from AURA_CLIENT_ID, AURA_CLIENT_SECRET and AURA_PROJECT_ID, else CLIENT_ID, CLIENT_SECRET and PROJECT_ID (the names in
    the file that the Aura console hands out).

    Raises: ConfigError naming what is missing.
    """
    for prefix in ("AURA_", ""):
        values = {name: environ.get(f"{prefix}{name}", "").strip() for name in ("CLIENT_ID", "CLIENT_SECRET", "PROJECT_ID")}
        if values["CLIENT_ID"] and values["CLIENT_SECRET"]:
            return Credentials(values["CLIENT_ID"], values["CLIENT_SECRET"], values["PROJECT_ID"] or None)
    missing = [name for name in ("AURA_CLIENT_ID", "AURA_CLIENT_SECRET") if not environ.get(name, "").strip()]
    raise ConfigError(
        f"--gds-session needs an Aura API key: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set",
        fix="create a key in the Aura console (API keys) and set both in the environment; kgeval help gds-sessions",
    )
