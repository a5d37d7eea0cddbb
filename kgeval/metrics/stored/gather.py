"""Finds out, by asking the stored graph, the facts that metrics read: grounding, steps@graph, cypher, expired."""

from __future__ import annotations

from kgeval.graph.connect import Graph
from kgeval.llm.asker import Asker
from kgeval.metrics.definition import Subject
from kgeval.metrics.stored.candidates import Store
from kgeval.metrics.stored.cypher_run import cypher_run
from kgeval.metrics.stored.expired import expired
from kgeval.metrics.stored.grounding import grounding
from kgeval.metrics.stored.names import Shelf
from kgeval.metrics.stored.steps import step_texts, steps_in_graph
from kgeval.records import Layout

FACTS = frozenset(("grounding", "steps@graph", "cypher", "expired"))
_SHELF = Shelf()  # lives as long as its runs do; see there


def stored_facts(subject: Subject, wanted: frozenset[str], graph: Graph, layout: Layout, asker: Asker | None) -> None:
    """Fills in `subject.facts` what is wanted and the stored graph tells; other names are passed over. May be called from any thread.

    Each query has `settings.query_timeout` seconds. What the database refuses for this row is a fact with the failure graph_error.
    In a dry run only what a model would be asked is found out.
    Raises: ConnectionLost; what the asker raises: what ends a run.
    """
    mine = wanted & FACTS
    if not mine:
        return
    store = Store(graph, layout, _SHELF.names(asker or layout, graph, layout), subject.settings)
    facts, row = subject.facts, subject.row
    if "grounding" in mine and asker is not None:
        facts.grounded = grounding(subject, store, asker)
    if asker is not None and asker.dry:
        return
    if "steps@graph" in mine and step_texts(row.question):
        facts.checks["steps@graph"] = steps_in_graph(row.question, store)
    if "cypher" in mine:
        facts.cypher = cypher_run(row, graph, subject.settings)
    if "expired" in mine:
        facts.expired = expired(row, store)
