"""`kgeval audit diff`: what became worse, better, new and gone between two reports, and the gate on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgeval.cli.common import say
from kgeval.cli.derive import HeadedCommand, flags_of
from kgeval.cli.options import session_from
from kgeval.cli.show import report_options_of, show_report
from kgeval.config import AuditOptions, Section

FORMS = ("text", "json", "md", "html", "xml")


@click.command("diff", cls=HeadedCommand)
@click.argument("before", type=click.Path(path_type=Path), metavar="BEFORE.json")
@click.argument("after", type=click.Path(path_type=Path), metavar="AFTER.json")
@flags_of(AuditOptions, only=("fail_on_worse",), heading="")
@report_options_of("Report file: .html .json .md .xml (JUnit)", FORMS)
def diff(before: Path, after: Path, **options: Any) -> int:
    """What changed between two audits of a graph: two JSON reports of kgeval audit, the earlier one first. Needs no database.

    Every check and every figure: worse, better, the same, new, gone, or not comparable with the reason; by type where both reports count
    by type.

    Exit codes: 0 done, 1 --fail-on-worse found something, 2 wrong input, 3 --fail-on-worse has no answer for a check.
    """
    from kgeval.auditing.diff import diff_all
    from kgeval.auditing.report_files import read_audits
    from kgeval.records import AuditDiff
    from kgeval.reports.write import check_outputs
    from kgeval.workflows.audit import warn_of_another, worse_gate

    session = session_from(
        "audit diff", options, outputs=options["outputs"], fail_on_worse=options["fail_on_worse"], before=str(before), after=str(after),
    )
    check_outputs(session.outputs, AuditDiff, read=[before, after])
    sides = read_audits(before), read_audits(after)
    changes = diff_all(*sides, names=(str(before), str(after)), fail_on_worse=options["fail_on_worse"])
    if len(sides[0]) == len(sides[1]) == 1:
        warn_of_another(sides[0][0], sides[1][0], f"{before} is an audit of", f"{after} of", say)
    code = worse_gate(changes, say)
    changes = changes.model_copy(update={"run": session.manifest(Section(), inputs=dict.fromkeys((before, after)), exit_code=code)})
    show_report(changes, options, options["outputs"])
    return code
