"""The `kgeval` command: gathers the groups lazily, turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import click

from kgeval import __version__
from kgeval.cli import interrupts
from kgeval.cli.common import silence_stdout
from kgeval.cli.logs import log_options, start_logging
from kgeval.cli.suggest import suggested
from kgeval_toolkit import DISTRIBUTION

COMPLETION = "_KGEVAL_COMPLETE"  # set by a shell that wants completions
# name -> "module:attribute", what it does; imported only when asked for, so that `kgeval --help` stays fast
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Graphs": {
        "build": ("kgeval.cli.build:build", "Build a knowledge graph from documents, or bring it up to date; which names it merged."),
        "import": ("kgeval.cli.import_:import_", "Load a graph from files into Neo4j, provenance kept."),
        "audit": ("kgeval.cli.audit:audit", "Find what is wrong with a graph in Neo4j, whatever wrote it."),
        "profile": ("kgeval.profiling.command:profile", "Say what a graph is: kind, labels, keys, names, relations; and why."),
        "accuracy": ("kgeval.cli.accuracy:accuracy", "Measure how much of a graph is true, by a sample of it."),
        "completeness": ("kgeval.cli.completeness:completeness", "Find what a graph lacks of a gold set."),
        "layout": ("kgeval.cli.layout:layout", "How a graph is stored: list, show, detect, check, init."),
        "checks": ("kgeval.cli.rule:checks", "The checks of an audit: what each finds, why it matters, how to repair."),
        "cypher": ("kgeval.cli.cypher:cypher", "The Cypher behind every figure, ready for Neo4j Browser."),
    },
    "Questions and answers": {
        "questions": ("kgeval.cli.questions:questions", "Questions grounded in a graph and its texts: make, check, describe."),
        "answer": ("kgeval.cli.answer:answer", "Have systems answer questions: closed book, vector, graph, or your own."),
        "system": ("kgeval.cli.system:system", "Other GraphRAG packages as systems under test: list, show, install, index, remove."),
        "contamination": (
            "kgeval.cli.contamination:contamination", "What a model knows without any text, and what that does to the scores.",
        ),
    },
    "Scores and comparisons": {
        "score": ("kgeval.cli.score:score", "Score the answers of RAG systems: any metrics, with intervals, failures and costs."),
        "compare": ("kgeval.cli.compare:compare", "Which system answers better: one length, both orders, trials, grades, intervals."),
        "metrics": ("kgeval.cli.metrics:metrics", "The metrics: what each measures, needs, costs; do they tell right from wrong here?"),
        "annotate": ("kgeval.cli.agree:annotate", "People as judges of answers: blind sheets, labels, agreement."),
        "stats": ("kgeval.cli.stats:stats", "Statistics on your own scores and verdicts: pairs, order, judge, power, corrections."),
        "merge-shards": ("kgeval.cli.join:join", "Put the shards of a score or a comparison together, to the result of one run."),
    },
    "Whole runs and reports": {
        "run": ("kgeval.cli.run:run", "Everything that kgeval.toml describes, from graph to report, as one command."),
        "report": ("kgeval.cli.report:report", "One report over everything that a run came to; the scores of all its places."),
    },
    "Set-up and look-ups": {
        "init": ("kgeval.cli.init:init", "Write a kgeval.toml to start from, after a look at what is there."),
        "trust": ("kgeval.cli.trust:trust", "Let a kgeval.toml that you have read run code and choose addresses; list, revoke."),
        "doctor": ("kgeval.cli.doctor:doctor", "What will run here, what is blocked, and how to unblock it."),
        "server": ("kgeval.cli.server:server", "The embedded Neo4j: start, stop, status, logs, remove."),
        "cache": ("kgeval.cli.cache:cache", "What models were asked before: calls, embeddings, batches under way; show, clear."),
        "schema": ("kgeval.cli.schema:schema", "The records that kgeval reads and writes, as JSON Schemas; check a file against one."),
        "help": ("kgeval.cli.help:help_", "The pages of the docs: what a word, a file or a figure means; a guide for agents."),
    },
}
COMMANDS = {name: command for commands in SECTIONS.values() for name, command in commands.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used; the list comes from COMMANDS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        name_variables(command, (cmd_name,))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


def name_variables(command: click.Command, path: tuple[str, ...]) -> None:
    """Gives every option its environment variable: KGEVAL_AUDIT_EXAMPLES for `kgeval audit --examples`, after the flag's own name."""
    for option in command.params:
        if isinstance(option, click.Option):
            flag = max(option.opts, key=len).lstrip("-")
            own = "_".join(("kgeval", *path, flag)).replace("-", "_").upper()
            set_in_code = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or [])
            option.envvar = list(dict.fromkeys([*set_in_code, own]))
    if isinstance(command, click.Group):
        for child_name, child in command.commands.items():
            name_variables(child, (*path, child_name))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="kgeval", message=f"%(prog)s, version %(version)s ({DISTRIBUTION})")
@log_options
@click.option(
    "--file-limit", "file_limits", multiple=True, envvar="KGEVAL_FILE_LIMIT", metavar="NAME=VALUE",
    help="Read larger files: unpacked=2GB, ratio, elements, pages, seconds, defaults (repeatable; kgeval help configuration).",
)
@click.option(
    "--ca-file", type=click.Path(), envvar="KGEVAL_CA_FILE", metavar="FILE",
    help="Trust these certificate authorities too (PEM), for Neo4j and for models (kgeval help access).",
)
@click.option(
    "--key-command", envvar="KGEVAL_KEY_COMMAND", metavar="COMMAND",
    help="A command that prints the key of models; run again when it has expired.",
)
@click.option(
    "--neo4j-key-command", envvar="KGEVAL_NEO4J_KEY_COMMAND", metavar="COMMAND",
    help="A command that prints the password or token for Neo4j; run again when it has expired.",
)
@click.option(
    "--neo4j-auth", type=click.Choice(["password", "bearer", "kerberos", "none"]), envvar="KGEVAL_NEO4J_AUTH",
    help="How Neo4j is logged in to [default: by the secret that is set].",
)
@click.pass_context
def cli(
    context: click.Context, verbose: int, log_file: Path | None, file_limits: tuple[str, ...], ca_file: str | None,
    key_command: str | None, neo4j_key_command: str | None, neo4j_auth: str | None,
) -> None:
    """Evaluate knowledge graphs stored in Neo4j, and the GraphRAG systems built on them.

    Without NEO4J_URI, commands start an embedded Neo4j by themselves and say so. `kgeval COMMAND -h` is one screen, `--help` describes
    every option.
    """
    context.call_on_close(start_logging(verbose, log_file))
    if file_limits:
        from kgeval.limits import limits_in_force

        context.with_resource(limits_in_force(" ".join(file_limits)))
    if any((ca_file, key_command, neo4j_key_command, neo4j_auth)):
        from kgeval.access import CA_FILE, KEY_COMMAND, NEO4J_AUTH, NEO4J_KEY_COMMAND, access_in_force

        context.with_resource(access_in_force({
            CA_FILE: ca_file, KEY_COMMAND: key_command, NEO4J_KEY_COMMAND: neo4j_key_command, NEO4J_AUTH: neo4j_auth,
        }))


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits: 0, 1 (a gate failed), 2 (input), 3 (incomplete), 130 (interrupted)."""
    end_with(lambda: run(arguments))


def end_with(call: Callable[[], int]) -> NoReturn:
    """Makes a call that may be interrupted, and exits with its code."""
    code = interrupts.INTERRUPTED
    try:
        try:
            interrupts.listen()
            code = call()
        finally:
            interrupts.done()
    except KeyboardInterrupt:  # before the command began, or after it had ended
        pass
    interrupts.leave_if_received()
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """The exit code of the command line, messages printed to stderr."""
    # else click itself would print errors and exit, with codes of its own (1 for Ctrl-C)
    return code_of(lambda: cli.main(args=arguments, prog_name="kgeval", standalone_mode=False))


def code_of(call: Callable[[], object]) -> int:
    """The exit code that a call comes to; what it raises is printed to stderr."""
    from kgeval.errors import KgevalError

    for library in ("neo4j", "graphdatascience"):  # what they log reaches the user as our own message
        logging.getLogger(library).addHandler(logging.NullHandler())
    try:
        with interrupts.one_interruption():
            result = call()
            # while a closed pipe or a full disk can still be told: at exit Python only prints that it was ignored
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as wrong:
        suggested(wrong).show()
        return wrong.exit_code
    except KgevalError as wrong:
        from kgeval.cli.common import say

        say(f"kgeval: {wrong}")
        return wrong.exit_code
    except ImportError as wrong:
        from kgeval.cli.common import say
        from kgeval.errors import library_missing

        if (missing := library_missing(wrong)) is None:
            raise
        say(f"kgeval: {missing}")
        return missing.exit_code
    except (KeyboardInterrupt, click.Abort):
        with suppress(OSError):  # the terminal may be gone
            click.echo("interrupted", err=True)
        return interrupts.INTERRUPTED
    except (BrokenPipeError, SystemExit) as end:  # click turns a closed pipe into SystemExit
        if isinstance(end, SystemExit) and COMPLETION in os.environ and isinstance(end.code, int):  # how click ends when a shell asked
            return end.code
        if isinstance(end, SystemExit) and not type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):  # click's, where a pipe closed
            click.echo(f"kgeval: something ended the program: {end!r}", err=True)
            return 2
        silence_stdout()
        return 0
    except OSError as wrong:  # a full disk, a device that is gone: report files are written before anything is printed
        silence_stdout()
        click.echo(f"kgeval: {wrong.strerror or wrong}", err=True)
        click.echo("Fix: free space, or write to another place; report files are whole or absent", err=True)
        return 2
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    main()
