"""`kgeval doctor`: what will run on this database and machine, what is blocked, and the command that unblocks it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from kgeval import __version__
from kgeval.cli.common import visible
from kgeval.cli.derive import HeadedCommand
from kgeval.cli.options import connection_options, layout_options, session_from
from kgeval.errors import EXTRAS, ConfigError, ConnectError, KgevalError, install, installed
from kgeval.format import of_graph
from kgeval_toolkit import DISTRIBUTION, FOLDER, other_owners, shared_with

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.records import Layout

UNBLOCK = {
    "gds": "install the GDS plugin that fits your Neo4j (5.26: GDS 2.13), or unset NEO4J_URI to use the embedded server",
    "schema": "kgeval audit --schema FILE, or --schema database",
    "relations": "kgeval layout check: are the relation types of the layout right?",
    "names": "kgeval audit --set name_keys=PROPERTY (also FIRST+LAST, LABEL.PROPERTY)",
    "types": "kgeval audit --set type_key=PROPERTY",
    "relation_labels": "kgeval audit --set relation_label_key=PROPERTY, if a property holds the predicate",
    "chunks": "kgeval audit --set chunk_labels=LABEL, or import the chunks with the graph",
    "chunk_text": "import the chunk texts with the graph",
    "documents": "kgeval audit --set document_labels=LABEL",
    "mentions": "kgeval audit --set mention_types=TYPE, or entity_source_key=PROPERTY",
    "relation_sources": "kgeval audit --set relation_source_key=PROPERTY",
    "descriptions": "kgeval audit --set description_key=PROPERTY",
    "aliases": "kgeval audit --set alias_keys=PROPERTY",
    "embeddings": "kgeval audit --set embedding_key=PROPERTY, if a property holds vectors",
    "nearness": "kgeval audit --embed makes embeddings beside the graph",
    "validity": "kgeval audit --set valid_from_key=PROPERTY",
    "whole_view": "ask for the right to read the whole database: GRANT MATCH {*} ON GRAPH NAME TO ROLE",
    "document_states": "kgeval audit --set document_status_key=PROPERTY --set document_done_values=VALUE, if a property says it",
    "chunk_order": "kgeval audit --set next_chunk_types=TYPE, or chunk_index_key=PROPERTY",
    "communities": "kgeval audit --set community_labels=LABEL --set community_member_types=TYPE, if they are stored as nodes",
    "community_reports": "kgeval audit --set community_report_keys=PROPERTY",
    "community_parents": "kgeval audit --set community_parent_types=TYPE, or community_parent_key=PROPERTY",
    "memories": "kgeval audit --set memory_labels=LABEL, if it is the memory of an agent",
    "source_limit": "nothing: only writers that cut their source lists need this check",
}
PROFILE_SECONDS = 120.0  # a query


@click.command(cls=HeadedCommand)
@connection_options
@layout_options
@click.option("--schema", "schema_file", help="Schema that the audit will get: a file, or 'database'.")
def doctor(schema_file: str | None, **options: Any) -> int:
    """Say which checks and figures will run here, which are blocked, and what unblocks each."""
    _machine()
    if others := other_owners(FOLDER, prefix=""):
        click.echo(f"package     blocked: {shared_with(others, FOLDER)}")
        return 2
    try:
        opened = session_from("doctor", options)
    except ConfigError as wrong:
        click.echo(visible(f"config      blocked: {wrong}"))
        return wrong.exit_code
    with opened as session:
        try:
            graph = session.graph
        except ConnectError as wrong:
            click.echo(f"connection  blocked: {wrong}")
            return wrong.exit_code
        _server(graph)
        try:
            layout = session.bound_layout()
        except KgevalError as wrong:
            click.echo(f"layout      blocked: {wrong}")
            return wrong.exit_code
        return _checks(graph, layout, session.graph_name, has_schema=bool(schema_file or session.config.audit.schema_file))


def _machine() -> None:
    import sys

    click.echo(f"package     {DISTRIBUTION} {__version__}")
    click.echo(f"python      {sys.version.split()[0]}")
    for extra in dict.fromkeys(extra for extra, _ in EXTRAS.values()):
        modules = [module for module, (brought_by, _) in EXTRAS.items() if brought_by == extra]
        missing = [module for module in modules if not installed(module)]
        state = f"not installed: {install(missing[0])}" if missing else "installed"
        click.echo(f"extra       {extra:<10}  {', '.join(EXTRAS[module][1] for module in modules)}: {state}")


def _server(graph: Graph) -> None:
    from kgeval.graph.server_info import gds_warning

    info = graph.info
    kind = " (embedded)" if info.embedded else ""
    click.echo(f"server      Neo4j {info.neo4j} {info.edition} at {info.uri}, database {info.database}{kind}")
    click.echo(f"gds         {gds_warning(info) or info.gds}")


def _unblock(role: str, name: str | None) -> str:
    """The way out, for the graph that was named, and with the extra that it needs first."""
    advice = re.sub(r"kgeval (audit|layout check)\b", lambda command: command[0] + of_graph(name), UNBLOCK[role])
    if role == "nearness" and not installed("lancedb"):
        return f"{install('lancedb')}; then {advice}"
    return advice


def _checks(graph: Graph, layout: Layout, name: str | None, *, has_schema: bool) -> int:
    from kgeval.auditing.asked_labels import why_not_asked
    from kgeval.auditing.roles import missing_roles
    from kgeval.auditing.rulebook import load_rules
    from kgeval.auditing.structure import PARTS, gds_ids
    from kgeval.profiling.engine import profile_or_note

    click.echo(f"layout      {layout.name}{f', graph {layout.scope_value}' if layout.scope_value else ''}")
    missing = missing_roles(graph, layout, has_schema=has_schema)
    rules = load_rules().values()
    blocked = [(rule, [role for role in rule.needs if role in missing]) for rule in rules]
    profile, _ = profile_or_note(graph, layout, seed=0, timeout=PROFILE_SECONDS)
    left_out = {rule.id: why for rule, roles in blocked if not roles and (why := why_not_asked(rule, profile))}
    ready = [rule.id for rule, roles in blocked if not roles and rule.id not in left_out]
    click.echo(f"\n{len(ready)} of {len(blocked)} checks will run: {', '.join(ready)}")
    for why in dict.fromkeys(left_out.values()):
        click.echo(f"\nleft out: {', '.join(rule for rule, said in left_out.items() if said == why)}\n  why:      {why}")
    for role in dict.fromkeys(role for _, roles in blocked for role in roles):
        ids = ", ".join(rule.id for rule, roles in blocked if role in roles)
        click.echo(f"\nblocked: {ids}\n  why:      {missing[role]}\n  unblock:  {_unblock(role, name)}")
    for role, figures in (("gds", gds_ids()), ("chunk_text", PARTS["tokens"])):
        if role in missing:
            advice = _unblock(role, name) + ("" if role == "gds" else f", or kgeval audit{of_graph(name)} --corpus FILE")
            click.echo(f"\nblocked figures: {', '.join(figures)}\n  why:      {missing[role]}\n  unblock:  {advice}")
    return 0
