"""What a query that ran behind PROFILE looked at in the store."""

from __future__ import annotations

from typing import Any


def hits(plan: dict[str, Any]) -> int:
    """The hits of all steps of a plan together."""
    return int(plan.get("dbHits", 0)) + sum(map(hits, plan.get("children", ())))
