"""The exit code of an audit: what its gates come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgeval.records import AuditGate

SEVERITIES = ("error", "warning", "info")  # as in kgeval.records, without its imports: --help names them


def exit_code(gates: Sequence[AuditGate], *, incomplete: bool) -> int:
    """3 if something did not run to its end or a gate that decides has no answer: no answer is not a pass. 1 if a gate that decides is
    missed, --fail-on among them. Else 0."""
    deciding = [gate for gate in gates if gate.decides]
    if incomplete or any(gate.met is None for gate in deciding):
        return 3
    return int(any(gate.met is False for gate in deciding))
