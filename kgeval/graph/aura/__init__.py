"""Graph algorithms beyond one machine: sessions of Aura Graph Analytics. Reads stay in the user's database."""

from kgeval.graph.aura.options import MEMORIES, AuraOptions, Credentials, credentials
from kgeval.graph.aura.session import in_session

__all__ = ["MEMORIES", "AuraOptions", "Credentials", "credentials", "in_session"]
