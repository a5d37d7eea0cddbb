"""The page of a rule, in Markdown: the same text on the terminal and in docs/rules/."""

from __future__ import annotations

from kgeval.auditing.measured import measured_section
from kgeval.auditing.repair import lists_hits, query_lists, repair_query
from kgeval.auditing.rulebook import Rule


def rule_page(rule: Rule) -> str:
    """What the rule finds, why it matters, an example, limits, what it was worth where that was measured, settings and repair."""
    measured = measured_section(rule.id)
    parts = [
        f"# {rule.id}: {rule.title}",
        f"Group: {rule.group} · severity: {rule.severity} · share of: {rule.total_of} · passes up to a share of {rule.threshold:g}",
        "## What it finds", rule.finds_text.strip(),
        "## Why it matters", rule.why.strip(),
        "## Example", rule.example.strip(),
        "## Known limits", rule.filled(rule.limits).strip(),
        *(["## Measured", measured] if measured else []),
        "## Needs", ", ".join(rule.needs) or "nothing but entities",
        "## Settings", _settings(rule),
        "## What to do", rule.advice.strip(),
        *_repair(rule),
        "## List all", _list_all(rule),
    ]
    return "\n\n".join(parts) + "\n"


def _repair(rule: Rule) -> list[str]:
    query = repair_query(rule)
    if query is None:
        return ["## Repair", rule.no_repair]
    safe = "safe to run as it stands" if rule.repair_safe else "**unsafe**: look at each case first"
    head = "## Look closer (reads only)" if query.mode == "read" else f"## Repair ({safe}; printed, never run)"
    filled = "its hits and the layout" if lists_hits(rule, query) else "the layout"
    where = (
        "It touches the graph that `$layout` names and nothing else. "
        f"`kgeval cypher show {query.name} --graph NAME` prints it with the `:param` line of your graph; "
        f"the report of an audit (HTML, JSON) has {filled} filled in."
    )
    without = [f"- Without `{role}` in the layout there is none: {why}." for role, why in rule.repair_needs.items()]
    notes = [rule.repair_note] if rule.repair_note else []
    return [head, *notes, where, *(["\n".join(without)] if without else []), f"```cypher\n{query.text.strip()};\n```"]


def _list_all(rule: Rule) -> str:
    file = f"`kgeval audit --check {rule.id} --examples 0 -o hits.csv` lists every hit."
    if query_lists(rule) == "rows":
        return f"{file} `kgeval cypher show {rule.id}` prints the query of the rows in which a step in Python finds them."
    return f"{file} `kgeval cypher show {rule.id}` prints the query that does, with its parameters for Neo4j Browser."


def _settings(rule: Rule) -> str:
    lines = [f"- `{rule.id}.{name}` = {value!r}" for name, value in rule.settings.items()]
    lines += [f"- `{name}`: the words of `kgeval/text/words/{stem}.toml`" for name, stem in rule.words.items()]
    return "\n".join(lines) or "none"
