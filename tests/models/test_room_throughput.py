"""A session keeps an endpoint nearly as busy as the bare openai client does, for not much more CPU. The bench has the figures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from llm_throughput import compare, median


@pytest.mark.long
def test_a_session_is_nearly_as_fast_as_the_bare_client_in_the_same_run() -> None:
    """Looser than the bench, because other work may run beside: 3/4 of the bare client's throughput, 3 times its CPU at most."""
    rooms, clients = compare(calls=400, delay=0.1, in_flight=16, rounds=2)
    assert median(rooms, "wall") < median(clients, "wall") / 0.75
    assert median(rooms, "ms") < 3 * median(clients, "ms")
