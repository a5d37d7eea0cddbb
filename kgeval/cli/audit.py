"""`kgeval audit`: the main job. Reads a graph, prints what is wrong, writes reports, answers a gate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.audit_diff import diff
from kgeval.cli.audit_group import CommandWithMore, OwnArgument
from kgeval.cli.common import say
from kgeval.cli.derive import flags_of, given_of
from kgeval.cli.interrupts import patient
from kgeval.cli.options import rest_of_connection, session_from, which_graph
from kgeval.cli.show import report_options_of, show_plan, show_report, show_result
from kgeval.config import AuditOptions, SessionOptions
from kgeval.config.session import AURA, EMBEDDING, WORKING
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.records import AuditReport

FORMS = ("text", "json", "md", "html", "xml", "sarif", "csv")
SESSION_SECONDS = 30.0  # a session of Aura that is not deleted costs money until Aura ends it
DRY_RUN = "Say how large the graph is, which checks are asked for, what memory GDS takes; read no more."


@click.group(cls=CommandWithMore, invoke_without_command=True)
@click.argument("graphs", nargs=-1, metavar="[GRAPH | REPORT.json]...", cls=OwnArgument)
@which_graph
@flags_of(AuditOptions)
@report_options_of("Report file: .html .json .md .csv (hits; of several graphs their figures); of one graph .xml (JUnit) .sarif", FORMS)
@flags_of(SessionOptions, only=WORKING, texts={"dry_run": DRY_RUN})
@rest_of_connection
@flags_of(SessionOptions, only=(*EMBEDDING, "cache_dir", *AURA))
def audit(**options: Any) -> int:
    """Find what is wrong with a graph in Neo4j, whatever wrote it. Reads only: the server refuses every write.

    \b
    kgeval audit --uri neo4j://localhost -o report.html
    kgeval audit novels --fail-on error

    GRAPH: as --graph. Several graphs, or JSON reports of earlier audits, are put side by side: one table and one plot a figure.
    `kgeval audit diff BEFORE.json AFTER.json` says what changed between two reports. (A graph called diff: --graph diff.)

    Exit codes: 0 done, 1 a gate failed (--fail-on, --fail-on-worse, or a --threshold is missed), 2 wrong input or no connection,
    3 incomplete (a check timed out, a gate has no answer), 130 interrupted. Of several graphs: the worst.
    """
    from kgeval.records import AuditReport, GraphsReport
    from kgeval.reports.write import check_form
    from kgeval.workflows import audit as workflow
    from kgeval.workflows import audit_several
    from kgeval.workflows.audit_gates import load_config
    from kgeval.workflows.result import gate_lines

    config = load_config(options["config_file"])
    options = one_graph(options)
    chosen = workflow.audit_request(config, given_of(AuditOptions, options))
    columns = audit_several.columns_of(options["graphs"], limited=bool(options["thresholds"]))
    check_form(options["form"], GraphsReport if columns else AuditReport)
    session = session_from("audit", options, config=config, graphs=list(options["graphs"]))
    with patient(SESSION_SECONDS if session.gds_session and not session.dry else 0), session:
        if columns:
            beside = audit_several.run(session, chosen, columns, keep_interrupted=True)
            show_report(beside.report, options, session.outputs)
            for line in gate_lines(beside.gates):  # graphs that failed were named as they did
                say(line)
            return beside.exit_code
        if session.dry:
            return show_plan(workflow.plan(session, chosen))
        result = workflow.run(session, chosen)
    _say_what_csv_leaves_out(result.report, options["form"], session.outputs)
    return show_result(result, options, session.outputs)


def one_graph(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the only graph that is named as an argument as --graph. Raises: UsageError where both are given."""
    from kgeval.workflows.audit_several import is_file_name

    graphs = options["graphs"]
    if graphs and options["graph_name"] is not None and _from_environment("graph_name"):
        options = {**options, "graph_name": None}  # what stands in the command counts
    if graphs and options["graph_name"] is not None:
        raise UsageError("graphs are named as arguments and by --graph", fix="name all of them as arguments")
    single = len(graphs) == 1 and not is_file_name(graphs[0])
    return {**options, "graph_name": graphs[0], "graphs": ()} if single else options


def _from_environment(name: str) -> bool:
    """Whether an option was not given in the command but by a variable of the environment."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(name) is click.core.ParameterSource.ENVIRONMENT


def _say_what_csv_leaves_out(report: AuditReport, form: str, outputs: Sequence[Path]) -> None:
    """A CSV file of hits that are only examples says so on stderr."""
    from kgeval.auditing.identity import lists_all

    if form != "csv" and not any(path.suffix.lower() == ".csv" for path in outputs):
        return
    cut = [finding.rule_id for finding in report.findings if finding.count and not lists_all(finding)]
    if cut:
        say(f"warning: the CSV holds examples, not all hits, of {', '.join(cut)}: --examples 0 lists all")


audit.add_command(diff)
