"""A part of the graph in place of the whole: what the interval of its finding is worth."""

from __future__ import annotations

import random

from kgeval.auditing.partial_scan import PartialScan
from kgeval.graph.queries import all_queries


def test_the_interval_of_a_part_holds_the_share_of_the_whole_about_as_often_as_it_says() -> None:
    """Drawn without replacement from 400 things of which 60 are hits, half of them at a time."""
    query, drawn, things = all_queries()["pronoun-entity"], random.Random(1), [1] * 60 + [0] * 340
    held, widths = 0, []
    for _ in range(1000):
        found = PartialScan(0.5).interval(query, sum(drawn.sample(things, 200)), 200)
        assert found is not None
        held += found.low <= 0.15 <= found.high
        widths.append(found.high - found.low)
    assert 0.93 <= held / 1000 <= 0.975
    assert 0.065 < sum(widths) / 1000 < 0.075  # 2 * 1.96 * sqrt(0.15 * 0.85 / 200 * 200 / 399) = 0.070; of draws with replacement 0.099
