"""The page of a rule, in Markdown: the same text on the terminal and in docs/rules/."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kgeval.auditing.causes import EVERY
from kgeval.auditing.hit_shares import MADE, hit_shares, read_figures, seldom_true
from kgeval.auditing.merging import STAYS
from kgeval.auditing.repair import FIXED_TYPES, MERGE, lists_hits, query_lists, repair_query
from kgeval.auditing.rulebook import Rule
from kgeval.graph.queries import DRY

FILE = Path(__file__).with_name("measured.toml")  # what the duplicate checks were worth on labelled pairs of our own
TRUE_HITS = (
    "Two readers who did not see each other's labels read up to 30 hits of each finding on public graphs; a hit is true where both hold "
    "that the graph's owner would act on it (`make precision`)."
)
ABOUT = (
    "On {pairs} pairs of our own (`tests/labelled/pairs.csv` in the source), {same} of them the same thing: names in {classes} classes, "
    "chosen to be hard, in a small made graph where the two of a pair share none to three neighbours and have a few of their own. They "
    "are not a sample of anybody's graph, which has other pairs in other shares: `kgeval accuracy --kind duplicates` measures yours. "
    "Listed pairs are right if they are labelled the same. In brackets Wilson's 95 % interval, each pair counted as an independent draw."
)


class MeasuredShare(BaseModel):
    """A share (0..1) with its interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


class PairClass(BaseModel):
    """One class of labelled pairs: how many (`pairs`), how many are the same, how many are listed, how many of those are the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pairs: int
    same: int
    listed: int
    right: int


class MeasuredRun(BaseModel):
    """Some checks on all labelled pairs. `embedding`: the model whose vectors they had, "" = none. `precision`: None where none is listed.

    `bcubed`: precision, recall, F1. `unlabelled`: pairs that the checks list beside the labelled ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    checks: list[str]
    embedding: str = ""
    pairs: int
    same: int
    listed: int
    right: int
    unlabelled: int
    precision: MeasuredShare | None = None
    recall: MeasuredShare
    f1: float | None = None
    bcubed: tuple[float, float, float]
    classes: list[PairClass]


class MeasuredRuns(BaseModel):
    """All runs, in the file's order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: list[MeasuredRun]


@cache
def measured() -> MeasuredRuns:
    """The figures that the package carries. Raises: ConfigError for a broken file."""
    return read_figures(FILE, MeasuredRuns, "tools/measure_duplicates.py")


def true_hits_section(rule_id: str) -> str | None:
    """How many hits of a check are true, as Markdown; None where none was read."""
    own = [share for share in hit_shares().share if share.check == rule_id]
    lines = [TRUE_HITS, "", "| graphs | hits read | true | share (95 %) |", "|---|---|---|---|"]
    for share in own:
        kind = MADE[share.made]
        told = f"{share.true / share.labelled:.2f}"
        told += f" ({share.interval[0]:.2f} to {share.interval[1]:.2f})" if share.interval else ""
        told += "" if share.measured else ": too few to say something of other graphs"
        lines.append(f"| {share.graphs} {kind} | {share.labelled} | {share.true} | {told} |")
    return "\n".join(lines) if own else None


def measured_section(rule_id: str) -> str | None:
    """What is known of a rule's own errors, as Markdown; None for a rule that was not measured."""
    every = measured().run
    alone = [run for run in every if run.checks == [rule_id]]
    if not alone:
        return None
    lines = [
        ABOUT.format(pairs=alone[0].pairs, same=alone[0].same, classes=len(alone[0].classes)),
        "",
        "| | listed | right | precision | recall | F1 | B-cubed precision, recall, F1 |", "|---|---|---|---|---|---|---|",
    ]
    for run in (*alone, *(run for run in every if len(run.checks) > 1)):
        name = "this check" if len(run.checks) == 1 else "all three checks together"
        name += f", with `--embed` ({run.embedding})" if run.embedding else ""
        f1, bcubed = "none" if run.f1 is None else f"{run.f1:.2f}", ", ".join(f"{share:.2f}" for share in run.bcubed)
        precision = run.precision or "none is listed"
        lines.append(f"| {name} | {run.listed} | {run.right} | {precision} | {run.recall} | {f1} | {bcubed} |")
    heads = ["listed: right + wrong" + (", with `--embed`" if run.embedding else "") for run in alone]
    lines += ["", f"| class | pairs | same | {' | '.join(heads)} |", "|---|---|---|" + "---|" * len(heads)]
    for rows in zip(*(run.classes for run in alone), strict=True):
        listed = " | ".join(f"{row.right} + {row.listed - row.right}" for row in rows)
        lines.append(f"| {rows[0].name} | {rows[0].pairs} | {rows[0].same} | {listed} |")
    return "\n".join(lines)


def rule_page(rule: Rule) -> str:
    """What the rule finds, why it matters, an example, limits, what it was worth where that was measured, settings and repair."""
    measured = "\n\n".join(filter(None, (true_hits_section(rule.id), measured_section(rule.id))))
    settings = [f"- `{rule.id}.{name}` = {value!r}" for name, value in rule.settings.items()]
    settings += [f"- `{name}`: the words of `kgeval/text/words/{stem}.toml`" for name, stem in rule.words.items()]
    listed = "of the rows in which a step in Python finds them"
    if query_lists(rule) == "hits":
        listed = "that does, with its parameters for Neo4j Browser"
    parts = [
        f"# {rule.id}: {rule.title}",
        f"Group: {rule.group} · severity: {rule.severity} · share of: {rule.total_of} · passes up to a share of {rule.threshold:g}",
        "## What it finds", rule.filled(rule.finds).strip(),
        "## Why it matters", rule.why.strip(),
        "## Example", rule.example.strip(),
        "## Known limits", rule.filled(rule.limits).strip(),
        *(["## Measured", measured] if measured else []),
        "## Needs", ", ".join(rule.needs) or "nothing but entities",
        *_asked_of(rule),
        *_explains(rule),
        "## Settings", "\n".join(settings) or "none",
        "## What to do", rule.advice.strip(),
        *([f"In a graph that people made: {rule.advice_made}"] if rule.advice_made else []),
        *_repair(rule),
        "## List all",
        f"`kgeval audit --check {rule.id} --examples 0 -o hits.csv` lists every hit. "
        f"`kgeval cypher show {rule.id}` prints the query {listed}.",
    ]
    return "\n\n".join(parts) + "\n"


def _explains(rule: Rule) -> list[str]:
    """Of a cause: which findings it takes hits out of."""
    if not rule.explains:
        return ["## A cause", "Stands before other findings where it touches much of the graph."] if rule.cause else []
    others = "all other checks" if EVERY in rule.explains else ", ".join(f"`{name}`" for name in rule.explains)
    return ["## A cause", (
        f"What is a hit of this check is left out of the counts of {others}, which say how many more it explains; in an audit without this "
        "check they count all. Where not each hit of both is listed, none is left out."
    )]


def _asked_of(rule: Rule) -> list[str]:
    """Of which graphs and labels the check is asked, and where its hits are graver or less grave."""
    lines = []
    if rule.kinds and rule.whole:
        lines.append(f"Asked where a label is {_either(rule.kinds)}, of the whole graph; elsewhere it is skipped.")
    elif rule.kinds:
        lines.append(f"Asked of labels that are {_either(rule.kinds)}; others are left out.")
    if rule.roles:
        lines.append(f"Of labels that nobody extracted, only of those whose role is {_either(rule.roles)}.")
    if rule.where_names_identify:
        lines.append("Labels that nobody extracted are left out where names do not tell which thing is meant (answers, runs, versions).")
    by_severity = sorted({(severity, kind) for kind, severity in rule.severity_in.items()})
    for severity in dict.fromkeys(severity for severity, _ in by_severity):
        lines.append(f"Severity {severity} in graphs that are {_either([kind for other, kind in by_severity if other == severity])}.")
    lines += list(_information(rule))
    return ["## Asked of", " ".join([*lines, "What a graph is, `kgeval profile` says, with the evidence."])] if lines else []


def _information(rule: Rule) -> Iterator[str]:
    """Where fewer than half of the hits are true; once for both kinds of graph if the figure is the same."""
    found = {made: share for made in MADE if rule.severity != "info" and (share := seldom_true(rule.id, made)) is not None}
    figures = {made: f"{share.true} of {share.labelled} hits that readers saw are true" for made, share in found.items()}
    if len(figures) == len(MADE) and len({*figures.values()}) == 1:
        yield f"Info at most: {figures['made']}."
    else:
        yield from (f"Info at most in graphs that are {MADE[made]}: {figure}." for made, figure in figures.items())


def _either(words: Sequence[str]) -> str:
    return " or ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} or {words[-1]}"


def _repair(rule: Rule) -> list[str]:
    query = repair_query(rule)
    if query is None:
        return ["## Repair", rule.no_repair]
    safe = "safe to run as it stands" if rule.repair_safe else "**unsafe**: look at each case first"
    head = "## Look closer (reads only)" if query.mode == "read" else f"## Repair ({safe}; printed, never run)"
    filled = "them and its hits" if lists_hits(rule, query) else "them"
    where = (
        "It touches one graph and nothing else. This is the file, which speaks of roles (`@Entity`): "
        f"`kgeval cypher show {query.name} --graph NAME` prints it with the labels, types and properties of your graph, "
        f"and the report of an audit (HTML, JSON) has {filled} filled in."
    )
    without = [f"- Without `{role}` in the layout none is offered: {why}." for role, why in rule.repair_needs.items()]
    if rule.repair_only_extracted:
        without.append(
            "- Offered only for graphs that a writer extracted from texts (a layout that kgeval knows, not `generic` or one of your own, "
            f"and entities linked to texts): elsewhere {rule.repair_only_extracted}."
        )
    if rule.repair_renames_types:
        without.append(f"- Not offered where the layout lists the types of relations and no property holds their name: {FIXED_TYPES}.")
    notes = [rule.repair_note] if rule.repair_note else []
    if query.mode == "write":
        notes.append(
            f"Count first what it would do: `kgeval cypher show {DRY}{query.name}`, and the report beside the repair. That is "
            "the statement without the part between `// writes:` and `// counts:`; it reads, and returns what the repair returns."
        )
    if query.name == MERGE:
        notes.append(
            "The report has the groups filled in: of its examples those that are surely one thing, for the names say so, the types are the "
            "same, and no declared key and nothing that never changes (a date of birth, an ISBN) differs. The others are to be looked at. "
            f"There {STAYS}."
        )
    return [head, *notes, where, *(["\n".join(without)] if without else []), f"```cypher\n{query.text.strip()};\n```"]
