"""small-component: asked of the projected graph; Python only projects."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of
from kgeval.auditing.steps.projection import simple_graph


def run(check: CheckRun) -> CheckOutcome:
    """Small components beside the giant one, of all components of two or more entities."""
    with simple_graph(check.graph, check.layout, timeout=check.timeout) as view:
        if view is None:
            return CheckOutcome(0, 0)
        size, share = int(check.settings["max_size"]), float(check.settings["giant_share"])
        small = view.small_components(max_size=size, giant_share=share, sample=check.sample)
    return CheckOutcome(small.count, small.total, examples_of(small.sample))
