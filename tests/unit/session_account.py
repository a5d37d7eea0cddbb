"""A stand-in for an Aura account: sessions that exist only here. Every call must fit the signature of the client's own GdsSessions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from graphdatascience.session import CloudLocation, GdsSessions, SessionMemory

from kgeval.graph.aura.options import Credentials
from kgeval.graph.connect import Address
from kgeval.graph.pace import Pace
from kgeval.records import ServerInfo

KEY = {"AURA_CLIENT_ID": "id", "AURA_CLIENT_SECRET": "geheim", "AURA_PROJECT_ID": "project"}


@dataclass
class Account:
    """`events`: what was asked of it, in order. `fault`: raised by the call of this name. `client`: makes what get_or_create gives."""

    sessions: dict[str, str] = field(default_factory=dict)  # name -> id
    events: list[str] = field(default_factory=list)
    faults: dict[str, BaseException] = field(default_factory=dict)
    client: Callable[[], Any] = lambda: SimpleNamespace(close=lambda: None)
    asked: dict[str, Any] = field(default_factory=dict)
    key: Credentials | None = None

    def connect(self, key: Credentials) -> Account:
        self.key = key
        self._called("connect", None, {})
        return self

    def list(self) -> list[Any]:
        self._called("list", GdsSessions.list, {})
        return [SimpleNamespace(name=name, id=number) for name, number in self.sessions.items()]

    def delete(self, **which: Any) -> bool:
        self._called("delete", GdsSessions.delete, which)
        gone = [name for name, number in self.sessions.items() if which in ({"session_name": name}, {"session_id": number})]
        for name in gone:
            del self.sessions[name]
        return bool(gone)

    def get_or_create(self, **asked: Any) -> Any:
        self.sessions.setdefault(asked["session_name"], "new")  # as Aura does: it is there before it is ready
        self.asked = asked
        self._called("create", GdsSessions.get_or_create, asked)
        return self.client()

    def estimate(self, **sizes: Any) -> Any:
        self._called("estimate", GdsSessions.estimate, sizes)
        return SessionMemory.m_8GB

    def available_cloud_locations(self) -> list[CloudLocation]:
        self._called("locations", GdsSessions.available_cloud_locations, {})
        return [CloudLocation("gcp", "europe-west1"), CloudLocation("aws", "us-east-1")]

    def _called(self, name: str, real: Any, given: dict[str, Any]) -> None:
        if real is not None:
            inspect.signature(real).bind(None, **given)
        self.events.append(name)
        if name in self.faults:
            raise self.faults[name]


class Database:
    """As much of a Graph as the life of a session touches."""

    def __init__(self, *, aura: bool = True, versions: tuple[str, ...] = ("v3",)) -> None:
        uri = "neo4j+s://abc12345-x.databases.neo4j.io" if aura else "neo4j://cluster.example:7687"
        self.info = ServerInfo(uri=uri, database="neo4j", neo4j="5.27-aura", edition="enterprise", aura=aura)
        self.address = Address(uri, "neo4j", "word")
        self.algorithms: Any = None
        self.pace = Pace()
        self.versions = list(versions)

    def read(self, query: Any, params: Any = None, *, timeout: float | None = None) -> list[dict[str, Any]]:
        assert query.name == "session-protocols"
        return [{"versions": self.versions}]
