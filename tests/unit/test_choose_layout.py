"""Choosing a layout when the server is slow."""

from __future__ import annotations

from typing import Any

import pytest

from kgeval.graph.failures import QueryTimeout
from kgeval.workflows.layouts import choose_layout


class Slow:
    """A graph whose server ends every query."""

    def read(self, *_: object, **__: object) -> list[dict[str, Any]]:
        raise QueryTimeout("stopped at its time limit", fix="raise --timeout")


@pytest.mark.parametrize("named", ["auto", "kgeval"])
def test_a_look_that_the_server_ends_is_told_as_one_and_names_the_servers_limit(named: str) -> None:
    graph: Any = Slow()
    with pytest.raises(QueryTimeout, match="the look at labels and counts") as caught:
        choose_layout(graph, named, None, {}, say=print)
    assert caught.value.fix == "raise db.transaction.timeout on the server for this user or this time"
