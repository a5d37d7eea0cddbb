"""Schemas of records and of sections of kgeval.toml are built when they are first used."""

from __future__ import annotations

import threading
import time
from typing import Any

import pydantic
import pytest

from kgeval.config.base import Section
from kgeval.records.base import Record


@pytest.mark.parametrize("base", [Record, Section])
def test_threads_that_use_a_model_for_the_first_time_at_once_build_it_one_after_the_other(
    base: type[pydantic.BaseModel], monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, most, plain = [], [], pydantic.BaseModel.model_rebuild.__func__  # type: ignore[attr-defined]

    def slow(cls: type[pydantic.BaseModel], /, **given: Any) -> bool | None:
        inside.append(cls)
        time.sleep(0.02)
        most.append(len(inside))
        try:
            return plain(cls, **given)  # type: ignore[no-any-return]
        finally:
            inside.pop()

    class First(base):  # type: ignore[valid-type, misc]
        number: int

    class Second(base):  # type: ignore[valid-type, misc]
        first: First

    monkeypatch.setattr(pydantic.BaseModel, "model_rebuild", classmethod(slow))
    values: list[Any] = []
    threads = [
        threading.Thread(target=lambda: values.append(Second.model_validate({"first": {"number": 1}}))),
        threading.Thread(target=lambda: values.append(Second.model_validate({"first": {"number": 1}}))),
        threading.Thread(target=lambda: values.append(First.model_validate({"number": 1}))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 3 and set(most) == {1}
