"""The page of a rule, in Markdown: the same text on the terminal and in docs/rules/."""

from __future__ import annotations

from kgeval.audit.measured import measured_section
from kgeval.audit.rulebook import Rule


def rule_page(rule: Rule) -> str:
    """What the rule finds, why it matters, an example, limits, what it was worth where that was measured, settings and repair."""
    measured = measured_section(rule.id)
    safe = "safe to run as it stands" if rule.repair_safe else "**unsafe**: look at each case first"
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
        f"## Repair ({safe}; printed, never run)", f"```cypher\n{rule.repair.strip()}\n```",
        "## List all", f"`kgeval cypher show {rule.id}` prints the query with its parameters for Neo4j Browser.",
    ]
    return "\n\n".join(parts) + "\n"


def _settings(rule: Rule) -> str:
    lines = [f"- `{rule.id}.{name}` = {value!r}" for name, value in rule.settings.items()]
    lines += [f"- `{name}`: the words of `kgeval/text/words/{stem}.toml`" for name, stem in rule.words.items()]
    return "\n".join(lines) or "none"
