"""What an audit says of a graph, by check and by name."""

from __future__ import annotations

from typing import Any

import kgeval
from kgeval.graph.connect import Graph


def audited(graph: Graph, checks: str, *, examples: int = 20) -> dict[str, Any]:
    """The findings of some checks (comma)."""
    found = kgeval.audit(graph.driver, checks=checks, no_structure=True, examples=examples).findings
    return {finding.rule_id: finding for finding in found}


def whys(finding: Any) -> dict[str, str]:
    """By the name of the first thing of each example, why it is a hit."""
    return {example.items[0].name: example.why for example in finding.examples}


def told(graph: Graph, check: str, *, examples: int = 20) -> dict[str, str]:
    """What one check says."""
    return whys(audited(graph, check, examples=examples)[check])
