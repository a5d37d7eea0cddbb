"""Where a writer finds the database. The model's endpoint is in OPENAI_BASE_URL, where every package looks by itself."""

from __future__ import annotations

import os

URI = os.environ.get("WRITERS_URI", "")
USER = "neo4j"


def password() -> str:
    return os.environ["WRITERS_PASSWORD"]
