"""Choosing a layout when the server is slow, and what of a layout the user sets."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from kgeval.config import Config
from kgeval.graph.failures import QueryTimeout
from kgeval.workflows.layouts import choose_layout, layout_settings


class Slow:
    """A graph whose server ends every query."""

    remembering = nullcontext

    def read_ahead(self, *_: object, **__: object) -> None:
        """What failed is raised by `read`."""

    def read(self, *_: object, **__: object) -> list[dict[str, Any]]:
        raise QueryTimeout("stopped at its time limit", fix="raise --timeout")


@pytest.mark.parametrize("named", ["auto", "kgeval"])
def test_a_look_that_the_server_ends_is_told_as_one_and_names_the_servers_limit(named: str) -> None:
    graph: Any = Slow()
    with pytest.raises(QueryTimeout, match="the look at labels and counts") as caught:
        choose_layout(graph, named, None, {}, say=print)
    assert caught.value.fix == "raise db.transaction.timeout on the server for this user or this time"


def test_what_the_user_sets_of_a_layout_is_told_and_a_layout_that_stands_as_it_is_is_nothing(tmp_path: Path) -> None:
    """It stands in signatures: two runs with other keys under one layout's name would else go on as one."""
    plain, in_file = Config(), Config.model_validate({"graph": {"layout": {"extends": "generic", "name_keys": ["title"]}}})
    assert layout_settings(plain, None, {}) == layout_settings(plain, "generic", {}) == {}
    assert layout_settings(plain, None, {"name_keys": "label"}) == {"keys": {"name_keys": "label"}}
    assert layout_settings(in_file, None, {"type_key": "kind"}) == {"keys": {"name_keys": ["title"], "type_key": "kind"}}
    assert layout_settings(in_file, "kgeval", {}) == {}, "the keys of the file are of another layout"
    own = tmp_path / "mine.toml"
    own.write_text('extends = "generic"\nname = "mine"\nname_keys = ["title"]\n', encoding="utf-8")
    first = layout_settings(plain, str(own), {})
    own.write_text('extends = "generic"\nname = "mine"\nname_keys = ["label"]\n', encoding="utf-8")
    assert first != layout_settings(plain, str(own), {}) and set(first) == {"file"}
