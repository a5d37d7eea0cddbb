"""How batches are made."""

from __future__ import annotations

from dataclasses import dataclass

# what OpenAI's batch endpoint takes in one file: 50,000 requests and 200 MB
MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class BatchSettings:
    """`window`: how long the provider may take (its word for it). `poll`: seconds between looks. `requests`, `bytes`: of one file at
    most. `factor`: price of a batch call as a share of a live one's; None: not known, and then costs are counted in full."""

    window: str = "24h"
    poll: float = 30.0
    requests: int = MOST_REQUESTS
    bytes: int = MOST_BYTES
    factor: float | None = None
