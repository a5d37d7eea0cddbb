"""Settings of metrics as people write them: converted, checked, and every fault named at once."""

from __future__ import annotations

from typing import Any

import pytest

from kgeval.errors import UsageError
from kgeval.metrics.definition import MetricSettings
from kgeval.metrics.options import make_settings


@pytest.mark.parametrize(("name", "written", "value"), [
    ("tau", "0.8", 0.8), ("tau", 1, 1.0), ("runs", "5", 5), ("runs", 5.0, 5), ("undirected", "Yes", True), ("undirected", False, False),
    ("undirected", 1, True), ("community", "louvain", "louvain"), ("community_seed", "0", 0), ("relevant_from", "1e0", 1.0),
])
def test_a_setting_gets_the_type_of_its_default(name: str, written: Any, value: Any) -> None:
    made = getattr(make_settings({name: written}), name)
    assert (made, type(made)) == (value, type(value))


@pytest.mark.parametrize(("name", "written", "fault"), [
    ("tau", "1.1", "is not between 0 and 1"), ("tau", "nan", "is not between"), ("tau", "", "is no number"), ("tau", True, "is no number"),
    ("runs", True, "is no number"), ("runs", "2.5", "is no whole number"), ("runs", 0, "is not between 1 and 1000"),
    ("delta", "inf", "is not between"), ("undirected", "perhaps", "is neither true nor false"), ("undirected", 1.5, "is neither"),
    ("community", "Leiden", "is none of leiden, louvain"), ("community", True, "is none of"), ("tao", "0.7", "no such setting"),
])
def test_a_value_that_cannot_be_is_refused_with_the_reason(name: str, written: Any, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        make_settings({name: written})


def test_all_faults_are_named_at_once_and_nothing_given_is_the_default() -> None:
    with pytest.raises(UsageError) as raised:
        make_settings({"tau": "x", "runs": "y", "tao": 1, "delta": 0.4})
    said = raised.value.message
    assert all(name in said for name in ("tau", "runs", "tao")) and "delta" not in said
    assert make_settings({}) == MetricSettings()
