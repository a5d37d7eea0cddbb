"""Names for the local index: read first, embedded after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kgeval.audit.check import Check
from kgeval.audit.nearness import _items
from kgeval.graph.queries import all_queries
from kgeval.records import Layout


class Names:
    """As much of a Graph as is read: five names. `ended`: whether the query was closed."""

    ended = False

    def stream(self, *_: Any, timeout: float | None) -> Iterator[dict[str, str]]:
        try:
            yield from ({"element_id": f"4:x:{at}", "name": f"n{at}"} for at in range(5))
        finally:
            self.ended = True


@pytest.mark.parametrize(("most", "found"), [(3, 3), (9, 5)])
def test_the_query_is_over_before_a_name_is_embedded(most: int, found: int) -> None:
    graph: Any = Names()
    layout = Layout(name="a", entity_labels=["E"], name_keys=["name"], relation_types=["R"])
    items = _items(Check(graph, layout, all_queries()["similar-entity"], {"max_embedded": most}))
    assert graph.ended
    assert [one.text for one in items] == [f"n{at}" for at in range(found)]
