"""name-in-other-language: entities whose name is in another script or language than the chunks that they come from."""

from __future__ import annotations

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.source_names import sourced_names
from kgeval.auditing.steps.name_not_in_source import first_of_names
from kgeval.records import Example


def run(check: CheckRun) -> CheckOutcome:
    """`count`: entities of which no name is in their chunks, and none could be; `total`: entities with a chunk that has text."""
    found = sourced_names(check)
    roll = found.sources.known.roll
    shown = first_of_names(found, found.elsewhere, check.sample)
    examples = [Example(items=[roll.reference(at)], why=f"the names are {found.where}") for at in shown]
    return CheckOutcome(len(found.elsewhere), found.testable, examples)
