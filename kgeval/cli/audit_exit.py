"""The exit code of an audit: what its findings and gates come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgeval.records import AuditGate, Finding

SEVERITIES = ("error", "warning", "info")  # as in kgeval.records, without its imports: --help names them


def exit_code(findings: Sequence[Finding], gates: Sequence[AuditGate], fail_on: str | None, *, incomplete: bool) -> int:
    """3 if something did not run to its end or a gate that decides has no answer: no answer is not a pass. 1 if a check of `fail_on` or a
    worse severity fails (after waivers and ratchet), or a gate that decides is missed. Else 0."""
    deciding = [gate for gate in gates if gate.decides]
    if incomplete or any(gate.met is None for gate in deciding):
        return 3
    worst = SEVERITIES.index(fail_on) if fail_on else -1
    failed = any(one.status == "failed" and SEVERITIES.index(one.severity) <= worst for one in findings)
    return int(failed or any(gate.met is False for gate in deciding))
