"""Cypher about a finding, ready to paste into Neo4j Browser or cypher-shell: what lists its hits, and what can be done about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kgeval.format import code, of_graph
from kgeval.graph.binding import fields_left
from kgeval.graph.literals import cypher_literal
from kgeval.graph.queries import DRY
from kgeval.records import AuditReport, Finding, GraphRef, Repair

_DECLARED = re.compile(r"^//\s*:param\s+(\w+)\s*=>\s*.*?(?:--\s*(.*))?$", re.MULTILINE)


@dataclass(frozen=True)
class Listing:
    """The `:param` lines of one statement, and the statement. `shares_layout`: layout_lines() have to be set before.
    `missing`: parameters that kgeval makes while it runs, or that are the reader's to choose (name and what it is); the reader sets them
    by hand: without one the statement does not run."""

    params: str
    query: str
    shares_layout: bool
    missing: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Parameter lines and the statement."""
        return f"{self.params}\n{self.query}" if self.params else self.query

    def whole(self, report: AuditReport) -> str:
        """As text, with what it shares with others, and a comment for what is missing: it stands alone."""
        shared = parameter_lines(fields_left(self.query, report.layout))
        missing = "\n".join(f"// set ${name} first: {doc or 'kgeval makes it while it runs'}" for name, doc in self.missing)
        return "\n".join(filter(None, [missing, shared, self.text()]))


def layout_lines(report: AuditReport) -> str:
    """The `:param` lines that the report's statements share: what of its layout cannot stand in a text; "" mostly."""
    statements = [text for one in report.findings for text in (one.query, one.repair and one.repair.cypher) if text]
    return parameter_lines(fields_left("\n".join(statements), report.layout))


def listing(report: AuditReport, finding: Finding) -> Listing | None:
    """The check's query, which lists all that it counted or the rows that it reads (`Finding.query_lists`); null where there is none.
    `sample` is raised to the count."""
    if not finding.query:
        return None
    own = {**_word_lists(finding.rule_id, finding.query), **finding.parameters}
    given = own.get("sample")
    if isinstance(given, int):
        own["sample"] = max(given, finding.count or 0)
    return _listing(report, finding.query, own)


def _word_lists(rule_id: str, query: str) -> dict[str, list[str]]:
    """The lists of words that a check's query takes; no report holds them."""
    from kgeval.auditing.rulebook import load_rules, words_of

    rule = load_rules().get(rule_id)
    return {name: words for name, words in words_of(rule).items() if f"${name}" in query} if rule else {}


def hits(report: AuditReport, finding: Finding) -> Listing | None:
    """What shows the hits that the report lists as nodes and relations; null where hits have no element ids."""
    return _shown(report, [item.element_id for example in finding.examples for item in example.items])


def drawn(report: AuditReport, finding: Finding) -> Listing | None:
    """What Neo4j Browser draws the finding's picture from: it returns nodes and relations; null where there is no picture."""
    if finding.picture is None:
        return None
    return _shown(report, [*(one.element_id for one in finding.picture.nodes), *(one.element_id for one in finding.picture.relations)])


def _shown(report: AuditReport, element_ids: Iterable[str | None]) -> Listing | None:
    from kgeval.graph.queries import all_queries

    ids = list(dict.fromkeys(one for one in element_ids if one))
    text = without_header(all_queries()["look-at-hits"].text)
    return _listing(report, text, {"element_ids": ids}) if ids else None


def showing(item: GraphRef) -> str:
    """The statement that shows one thing in Neo4j Browser; "" without its element id."""
    if item.element_id is None:
        return ""
    own = cypher_literal(item.element_id)
    if item.kind == "relation":
        return f"MATCH hit = ()-[r]->() WHERE elementId(r) = {own} RETURN hit"
    return f"MATCH (hit) WHERE elementId(hit) = {own} RETURN hit"


def repair(report: AuditReport, finding: Finding) -> Listing | None:
    """What can be done about the hits; null where there is nothing for this graph (`Finding.repair` has the reason)."""
    if finding.repair is None or not finding.repair.cypher:
        return None
    return _listing(report, finding.repair.cypher, finding.repair.parameters)


def dry_run(report: AuditReport, finding: Finding) -> Listing | None:
    """What reads what the repair would do, with the same parameters; null where nothing is written, or nothing could be counted."""
    if finding.repair is None or not finding.repair.dry_run:
        return None
    return _listing(report, finding.repair.dry_run, finding.repair.parameters)


def graph_flag(report: AuditReport) -> str:
    """What names the graph in a command about it, where the audit's command did so."""
    given = report.run.arguments
    return of_graph(report.graph) if given.get("graph_name") or given.get("graphs") else ""


def repair_line(repair: Repair, graph: str = "") -> str:
    """Where the repair is, or why there is none, in one line. `graph`: as graph_flag has it."""
    if repair.cypher is None:
        return repair.reason or "No repair offered"
    if repair.query is None:
        return "repair: CREATE INDEX statements in the HTML and JSON reports"
    if repair.reads:
        return f"{f'{repair.reason}; ' if repair.reason else ''}look closer: kgeval cypher show {repair.query}{graph}"
    how = "safe" if repair.safe else "look at each hit first"
    return f"repair ({how}): kgeval cypher show {repair.query}{graph} (dry run: {DRY}{repair.query})"


def _listing(report: AuditReport, text: str, parameters: Mapping[str, Any]) -> Listing:
    own, left = dict(parameters), fields_left(text, report.layout)
    query = ended(code(text.replace("\r\n", "\n").strip()))
    missing = tuple((name, doc.strip()) for name, doc in _DECLARED.findall(query) if name not in own)
    return Listing(parameter_lines(own), query, bool(left), missing)


def without_header(text: str) -> str:
    """A file's statement, without the comments before it."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def ended(query: str) -> str:
    """The statement with the semicolon that cypher-shell waits for."""
    return query if query.endswith(";") else f"{query};"


def parameter_lines(parameters: Mapping[str, Any]) -> str:
    """A `:param` line for each, in the order of their names."""
    return "\n".join(code(f":param {name} => {cypher_literal(value)}") for name, value in sorted(parameters.items()))
