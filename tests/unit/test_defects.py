"""The list of planted defects: each can still be planted, and names tests that are there. tests/defects/plant.py plants them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def plant() -> ModuleType:
    spec = importlib.util.spec_from_file_location("plant", ROOT / "tests" / "defects" / "plant.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DEFECTS = plant().read()


def test_there_are_fifty_of_as_many_names() -> None:
    assert len({one.id for one in DEFECTS}) == len(DEFECTS) >= 50


@pytest.mark.parametrize("one", DEFECTS, ids=lambda one: one.id)
def test_a_defect_can_be_planted_and_names_its_tests(one) -> None:  # type: ignore[no-untyped-def]
    text = (ROOT / one.file).read_text(encoding="utf-8")
    assert text.count(one.old) == 1, f"{one.file} no longer holds the old text once: fix tests/defects/defects.toml, and plant it"
    assert one.new != one.old and one.suffers.strip()
    assert one.tests and all((ROOT / test.partition("::")[0]).is_file() for test in one.tests)
