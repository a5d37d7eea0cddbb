"""The exit code of an audit: what its findings and gates come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgeval.audit.engine import Audit

SEVERITIES = ("error", "warning", "info")


def unanswered(found: Audit, gated: set[str]) -> list[str]:
    """Rules with a threshold of the user's whose check was skipped or left out: no answer is not a pass."""
    answered = {f.rule_id for f in found.findings if f.status in ("passed", "failed")}
    return sorted(gated - answered)


def exit_code(found: Audit, fail_on: str | None, gated: set[str]) -> int:
    """3 if something did not run to its end or a gate has no answer, 1 if a gate failed, else 0.

    `gated`: rules with a threshold of the user's.
    """
    if found.incomplete or unanswered(found, gated):
        return 3
    worst = SEVERITIES.index(fail_on) if fail_on else -1
    failed = [f for f in found.findings if f.status == "failed"]
    return 1 if any(SEVERITIES.index(f.severity) <= worst or f.rule_id in gated for f in failed) else 0
