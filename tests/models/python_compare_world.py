"""A comparison from Python, on answers that are given as rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path
from typing import Any

import kgeval
from kgeval.llm.fake import FakeServer

_JOURNALS = numbers()


def asked_of(
    server: FakeServer, given: dict[str, Any], *, count: int, documents: int | None = None, levels: Callable[[int], str] | None = None,
    **options: Any,
) -> Any:
    """The comparison of these answers to `count` questions, question n being from document n modulo `documents`."""
    questions = [
        {"id": f"q{n}", "question": f"Who built mill {n}?", "level": levels(n) if levels else "node"}
        | ({"document": f"d{n % documents}"} if documents else {}) for n in range(count)
    ]
    with server as running:
        return kgeval.compare(given, **{
            "questions": questions, "judge": "judge-1", "base_url": running.base_url, "config": False, "trials": 1, "repeats": 1,
            "journal": Path(f"j{next(_JOURNALS)}.sqlite"), **options,
        })
