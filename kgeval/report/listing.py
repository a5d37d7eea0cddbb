"""The Cypher that lists everything a finding counted, ready to paste into Neo4j Browser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgeval.records import AuditReport, Finding
from kgeval.report.display import code

_USES_LAYOUT = re.compile(r"\$layout\b")
_DECLARED = re.compile(r"^//\s*:param\s+(\w+)\s*=>\s*.*?(?:--\s*(.*))?$", re.MULTILINE)


@dataclass(frozen=True)
class Listing:
    """The `:param` lines of one finding without the report's layout, and its query. `shares_layout`: layout_line() has to
    be set before. `missing`: parameters that kgeval makes while it runs (name and what it is); the reader sets them by hand."""

    params: str
    query: str
    shares_layout: bool
    missing: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Parameter lines and the query."""
        return f"{self.params}\n{self.query}" if self.params else self.query


def layout_line(report: AuditReport) -> str:
    """The `:param layout => {...}` line that the report's queries share."""
    return _lines({"layout": report.layout.model_dump()})


def listing(report: AuditReport, finding: Finding) -> Listing | None:
    """How to list all that a finding counted, or null where there is no query. `sample` is raised to the count."""
    if not finding.query:
        return None
    own = dict(finding.parameters)
    if own.get("layout") == report.layout.model_dump():
        del own["layout"]
    given = own.get("sample")
    if isinstance(given, int):
        own["sample"] = max(given, finding.count or 0)
    query = code(finding.query.replace("\r\n", "\n").strip())
    missing = tuple((name, doc.strip()) for name, doc in _DECLARED.findall(query) if name not in {*own, "layout"})
    return Listing(_lines(own), query, "layout" not in own and _USES_LAYOUT.search(query) is not None, missing)


def _lines(parameters: Mapping[str, Any]) -> str:
    from kgeval.graph.literals import cypher_literal

    return "\n".join(code(f":param {name} => {cypher_literal(value)}") for name, value in sorted(parameters.items()))
