"""`kgeval checks`: the checks as pages."""

from __future__ import annotations

import click

from kgeval.cli.derive import CommandGroup
from kgeval.cli.show import form_option
from kgeval.errors import UsageError


@click.group(cls=CommandGroup)
def checks() -> None:
    """The checks: what each finds, why it matters, how to repair."""


@checks.command("list")
@form_option()
def list_(form: str) -> None:
    """List all checks by group."""
    from kgeval.auditing.rulebook import load_rules

    rules = load_rules().values()
    if form == "json":
        import json

        click.echo(json.dumps([r.model_dump() for r in rules], ensure_ascii=False, indent=2))
        return
    group = ""
    for rule in rules:
        if rule.group != group:
            group = rule.group
            click.echo(f"\n{group}" if rule is not next(iter(rules)) else group)
        click.echo(f"  {rule.id:26} {rule.severity:8} {rule.title}")


@checks.command()
@click.argument("rule_id", metavar="ID")
def show(rule_id: str) -> None:
    """Print a check's page: what it finds, why, example, limits, repair (printed, never run)."""
    from kgeval.auditing.rule_pages import rule_page
    from kgeval.auditing.rulebook import load_rules

    rules = load_rules()
    if rule_id not in rules:
        from difflib import get_close_matches

        near = ", ".join(get_close_matches(rule_id, rules))
        raise UsageError(f"no such check: {rule_id}", fix=f"did you mean: {near}" if near else "kgeval checks list names all")
    click.echo(rule_page(rules[rule_id]), nl=False)
