"""Graph algorithms beyond one machine: sessions of Aura Graph Analytics. Reads stay in the user's database."""

from kgeval.graph.aura.options import MEMORIES, Credentials, SessionOptions, credentials
from kgeval.graph.aura.session import in_session

__all__ = ["MEMORIES", "Credentials", "SessionOptions", "credentials", "in_session"]
