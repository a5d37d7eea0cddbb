"""A projection that several steps use: made once, each step with its own time limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from kgeval.graph.algorithms import Expected
from kgeval.graph.views import SharedViews
from kgeval.records import Layout

LAYOUT = Layout(name="a", entity_labels=["E"], name_keys=["name"], relation_types=["R"])
EXPECTED = Expected(2, 1, 0)


class Where:
    made = 0

    @contextmanager
    def projected(self, *_: Any, timeout: float | None) -> Iterator[Any]:
        self.made += 1
        yield SimpleNamespace(timeout=timeout)


def test_each_step_has_its_own_time_limit_on_the_one_projection() -> None:
    where: Any = Where()
    views = SharedViews()
    first = views.view(where, LAYOUT, EXPECTED, timeout=120)
    assert first.timeout == 120
    assert views.view(where, LAYOUT, EXPECTED, timeout=3) is first
    assert first.timeout == 3
    assert views.known(LAYOUT, timeout=None) is first
    assert (first.timeout, where.made) == (None, 1)
