"""What is left in names: kinds with cases that are hits and names that look like them and are none, written before the patterns."""

from __future__ import annotations

import pytest
from leftover_cases import MARKED, PLAIN, PUT_OUT

from kgeval.graph.leftovers import MARKUP, OUTPUT, name_leftover


@pytest.mark.parametrize(("name", "kind"), MARKED)
def test_markup_of_the_source_is_told(name: str, kind: str) -> None:
    assert name_leftover(name, MARKUP) == kind


@pytest.mark.parametrize(("name", "kind"), PUT_OUT)
def test_output_of_a_model_is_told(name: str, kind: str) -> None:
    assert name_leftover(name, OUTPUT) == kind


@pytest.mark.parametrize("name", PLAIN)
def test_names_with_signs_of_their_own_are_left_alone(name: str) -> None:
    assert (name_leftover(name, MARKUP), name_leftover(name, OUTPUT)) == (None, None)
