"""A gate: a threshold that the user set, and what it came to."""

from __future__ import annotations

from typing import Literal

from kgeval.records.base import Public, Record

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")  # worst first


class Gate(Record):
    """A threshold that the user set, and whether it is met.

    `name`: a metric, a check or figure of a graph, a figure of a pair; or `ratchet`, `fail-on`, `baseline`. `of`: the system, the pair
    (`A vs B`) or the file that it is about; `at`: the aspect or level. `limit`: as text, its number last: `>= 0.8`, `share <= 0.05`.
    `value`: what is held against it. `met` null: there is no answer, which is not a pass; `reason`: why there is none, or what misses it.
    `severity`: of a check that breaks it (null: the check's own). `decides`: missed or unanswered, it changes the exit code.
    """

    name: Public
    of: Public | None = None
    at: Public | None = None
    limit: Public
    severity: Severity | None = None
    value: float | None = None
    met: bool | None = None
    reason: Public | None = None
    decides: bool = True

    @property
    def figure(self) -> str:
        """What is held against the limit: `faithfulness`, `relative (overall)`."""
        return f"{self.name} ({self.at})" if self.at else self.name

    @property
    def wanted(self) -> str:
        """What is asked, without of whom: `faithfulness >= 0.8`, `relative (overall) >= 0`, `self-loop warning: share <= 0.5`."""
        severity = f" {self.severity}:" if self.severity else ""
        return f"{self.figure}{severity} {self.limit}"

    @property
    def text(self) -> str:
        """`vector: faithfulness >= 0.8`, names as they are."""
        return f"{self.of}: {self.wanted}" if self.of else self.wanted
