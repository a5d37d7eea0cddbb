"""Writes what is generated: docs/cli.md, docs/glossary.md, docs/rules/*.md, docs/metrics/*.md, the tables of docs/python.md and of
the pages in `parts`, the generated part of mkdocs.yml, schemas/*.schema.json, kgeval/cli/skill.md. `--check` only says what is stale.

Run by `make docs`; tests/unit/test_docs.py holds the files against it.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections import Counter
from pathlib import Path

import click
from skill_guide import skill_guide

from kgeval.auditing.rule_pages import rule_page
from kgeval.auditing.rulebook import load_rules
from kgeval.cli.main import cli
from kgeval.comparison.judge.grades import load_grades
from kgeval.graph.layouts.profile import profiles
from kgeval.llm.fake.__main__ import main as fake_model
from kgeval.metrics.pages import metric_pages
from kgeval.overview.rubric import FACETS
from kgeval.overview.structure import FIGURES
from kgeval.records import (
    GROUPS,
    AccuracyReport,
    AgreementReport,
    Anchor,
    Answer,
    AnswerReport,
    AuditDiff,
    AuditReport,
    CheckReport,
    Chunk,
    Classification,
    ComparisonReport,
    ComparisonVerdict,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    CrossedReport,
    Document,
    Finding,
    GenerationReport,
    GoldEntity,
    GoldTriple,
    GraphRef,
    GraphsReport,
    HumanLabel,
    IndexRecord,
    Layout,
    LoadReport,
    MatrixReport,
    Merge,
    ModelUse,
    OverviewReport,
    Passage,
    PipelineRun,
    ProfileReport,
    Question,
    QuestionStats,
    Ratchet,
    RunManifest,
    Score,
    ScoreReport,
    SensitivityReport,
    SheetKey,
    SimulationReport,
    StatsReport,
    Structure,
    Triple,
    Verdict,
)
from kgeval.reports.glossary import TERMS
from kgeval.systems.builtin.settings import SETTINGS, Settings
from kgeval.tables.fields import DOCUMENTS, ROWS, TRIPLES, Aliases
from kgeval.tables.shapes import shapes
from kgeval.workflows.api import FUNCTIONS

ROOT = Path(__file__).resolve().parents[1]
SHARED_BY = 5  # commands or functions: an option that so many have, word for word, is described once
RECORDS = {
    "agreement-report": AgreementReport, "matrix-report": MatrixReport, "sheet-key": SheetKey,
    "accuracy-report": AccuracyReport, "anchor": Anchor, "answer": Answer, "answer-report": AnswerReport,
    "audit-diff": AuditDiff, "audit-report": AuditReport, "graphs-report": GraphsReport, "ratchet": Ratchet, "check-report": CheckReport,
    "chunk": Chunk,
    "classification": Classification,
    "comparison-report": ComparisonReport, "comparison-verdict": ComparisonVerdict,
    "completeness-report": CompletenessReport, "contamination-report": ContaminationReport,
    "profile-report": ProfileReport, "coverage-report": CoverageReport,
    "crossed-report": CrossedReport, "pipeline-run": PipelineRun,
    "document": Document, "finding": Finding, "generation-report": GenerationReport,
    "gold-entity": GoldEntity,
    "gold-triple": GoldTriple, "graph-ref": GraphRef, "human-label": HumanLabel, "index-record": IndexRecord, "layout": Layout,
    "load-report": LoadReport,
    "merge": Merge, "model-use": ModelUse, "overview-report": OverviewReport, "passage": Passage, "question": Question,
    "question-stats": QuestionStats, "run-manifest": RunManifest, "score": Score,
    "score-report": ScoreReport, "sensitivity-report": SensitivityReport,
    "simulation-report": SimulationReport, "stats-report": StatsReport,
    "structure": Structure, "triple": Triple, "verdict": Verdict,
}

# How pages name the papers of docs/sources.md: paper -> pattern.
SOURCES = {
    "Z": "Zeng et al\\.", "D": "Dong et al\\.", "X": "Xiang et al\\.|GraphRAG-Bench", "K": "Kasiak(?: et al\\.)?",
    "M": "GraphRAG evaluation methodology|evaluation methodology for GraphRAG|methodology for GraphRAG",
}

# kgeval's own words, which reports do not explain: they stand in flags, files and pages.
HOUSE_WORDS = {
    "check": 'One question about a graph, such as "which entities have no relation?"; its page says why it matters and what it misses.',
    "dangling end": "An end of a relation that only the relation names: the source has no entity of that name.",
    "extra": "A part of kgeval that is installed by its name in brackets: `pip install 'kgeval-toolkit[vectors]'`.",
    "finding": "What a check has to say of a graph: how many hits, among how many of what, with examples.",
    "forced alignment": "The last way to bring two answers to one length: a model adds words that say nothing new, or takes words away.",
    "gate": "A rule that turns results into exit code 0 or 1, so that a CI job can stop.",
    "hit": "One thing that a check lists: an entity, a pair, a relation, a type.",
    "journal": "The file that keeps every reply of a model, so that the same call is never paid twice.",
    "layout": "How a graph is stored: which labels and properties are entities, names, texts and sources.",
    "ratchet": "A file of the hits that are accepted for now: only what is new or worse misses the gate, so a graph can only get better.",
    "reader": "The model that answers questions from what a system found; the judge is another.",
    "scope": "The label or the property that parts several graphs in one database, so that `--graph` can choose one.",
    "trial": "One round over all questions in which something differs: the answers, the judge's wording, or its temperature.",
    "waiver": "A rule in `kgeval.toml` that takes a hit out of the gates, with a reason; the hit is still counted.",
}


def generated() -> dict[Path, str]:
    """Every generated file with its text."""
    files = {ROOT / "docs" / "cli.md": cli_reference(), ROOT / "docs" / "glossary.md": glossary()}
    rules = load_rules()
    files |= {ROOT / "docs" / "rules" / f"{rule.id}.md": with_sources(rule_page(rule)) for rule in rules.values()}
    files[ROOT / "docs" / "rules" / "README.md"] = rule_index()
    files |= {ROOT / "docs" / path: with_sources(text) for path, text in metric_pages().items()}
    for name, record in RECORDS.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **record.model_json_schema()}
        files[ROOT / "schemas" / f"{name}.schema.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    for page, part, text in parts():
        path = ROOT / "docs" / page
        files[path] = with_part(files.get(path) or path.read_text(encoding="utf-8"), part, text)
    files[ROOT / "docs" / "python.md"] = with_options((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))
    files[ROOT / "kgeval" / "cli" / "skill.md"] = skill_guide(ROOT / "docs")
    files[ROOT / "mkdocs.yml"] = with_pages((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), files)
    return files


def glossary() -> str:
    """The words that reports explain, and kgeval's own, as one page."""
    words = sorted((TERMS | HOUSE_WORDS).items(), key=lambda pair: pair[0].lower())
    head = "# Glossary\n\nTechnical words of pages and reports, one sentence each. Generated; do not edit.\n"
    return "\n".join([head, "| word | meaning |", "|---|---|", *(f"| {word} | {meaning} |" for word, meaning in words), ""])


def cli_reference() -> str:
    """The help of every command, as one page. What reads the same under several is described once, at the top."""
    pages = [(path, command, context_of(path, command)) for path, command in commands(cli, ("kgeval",))]
    records = Counter(
        record for _, command, context in pages for option in command.get_params(context)
        if isinstance(option, click.Option) and (record := option.get_help_record(context)) is not None
    )
    shared: dict[str, tuple[str, str]] = {}  # of a flag that has two texts (`--map`), only the more frequent one
    for record, times in records.most_common():
        if times >= SHARED_BY:
            shared.setdefault(record[0].split()[0].rstrip(","), record)
    formatter = click.HelpFormatter(width=100, max_width=100)
    formatter.write_dl(sorted(shared.values(), key=lambda record: record[0].lstrip("-")))
    parts = [
        "# Command reference\n\nGenerated from `kgeval --help`; do not edit.\n",
        "## Options that several commands share\n\nEach command names those that it has.\n\n"
        f"```text\n{formatter.getvalue().rstrip()}\n```\n",
    ]
    for path, command, context in pages:
        options = command.get_params(context)
        elsewhere = [option for option in options if option.get_help_record(context) in shared.values()]
        flags = [f"`{option.opts[-1]}`" for option in elsewhere if "--help" not in option.opts]
        for option in elsewhere:
            vars(option)["hidden"] = True  # in this process alone, which writes the page and ends
        page = f"## {' '.join(path)}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
        parts.append(page + (f"\nShared: {', '.join(flags)}.\n" if flags else ""))
    return "\n".join(parts)


def context_of(path: tuple[str, ...], command: click.Command) -> click.Context:
    """What a command's help is written with."""
    return click.Context(command, info_name=" ".join(path), terminal_width=100, max_content_width=100)


def commands(group: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    """A command and all below it, depth first, each with its full name."""
    found = [(path, group)]
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None:
                found += commands(command, (*path, name))
    return found


def with_sources(page: str) -> str:
    """A page of docs/rules or docs/metrics with a link to docs/sources.md where it first names each of its papers in running text."""
    lines, linked, fenced = page.split("\n"), set(), False
    for at, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if fenced or line.startswith(("#", "|", "```")):
            continue
        for source, names in SOURCES.items():
            named = re.search(rf"(?<![\w/`-])(?:{names})(?![\w`-])", lines[at])
            if named and source not in linked:
                linked.add(source)
                lines[at] = f"{lines[at][: named.start()]}[{named[0]}](../sources.md){lines[at][named.end() :]}"
        lines[at] = re.sub(r"arXiv (\d{4}\.\d{5})", r"[arXiv \1](https://arxiv.org/abs/\1)", lines[at])
    return "\n".join(lines)


def with_options(page: str) -> str:
    """A page with the tables of the options classes that it names; a row of many is in "several functions" alone."""
    tables = {name: list(FUNCTIONS[name].rows()) for name in re.findall(r"<!-- options of (\w+) -->", page)}
    times = Counter(row for rows in tables.values() for row in rows)
    shared = [row for row in times if times[row] >= SHARED_BY]

    def table(match: re.Match[str]) -> str:
        rows = tables.get(match[1])
        lines = ["| keyword | type | default | |", "|---|---|---|---|"]
        for name, kind, default, text in shared if rows is None else [row for row in rows if row not in shared]:
            lines.append(f"| `{name}` | {kind.replace('|', 'or')} | {default} | {text} |")
        also = ", ".join(f"`{row[0]}`" for row in rows or () if row in shared)
        lines += ["", f"Shared: {also}."] if also else []
        return "\n".join([match[0].partition("\n")[0], *lines, "<!-- end of options -->"])

    return re.sub(r"<!-- options of (several functions|\w+) -->\n.*?<!-- end of options -->", table, page, flags=re.DOTALL)


def with_pages(site: str, files: dict[Path, str]) -> str:
    """mkdocs.yml with the generated pages of docs/rules and docs/metrics in its navigation, each folder's README first."""
    for folder in ("metrics", "rules"):
        pages = sorted((path.name for path in files if path.parent == ROOT / "docs" / folder), key=lambda name: (name != "README.md", name))
        listed = "".join(f"          - {folder}/{name}\n" for name in pages)
        site = re.sub(rf"( +# {folder} \(.*\)\n)[^#]*( +# end of {folder}\n)", rf"\g<1>{listed}\g<2>", site)
    return site


def parts() -> list[tuple[str, str, str]]:
    """What stands in code or data once and is shown on pages that people write: page, name of the part, its Markdown."""
    return [
        ("answer-files.md", "tools", tools()),
        ("answer-files.md", "names", aliases({field: row.names for field, row in ROWS.items()})),
        ("build-documents.md", "fields", aliases(DOCUMENTS)),
        ("built-in-systems.md", "settings", builtin_settings()),
        ("fake-model.md", "options", f"```text\n{fake_model.get_help(context_of(('python -m kgeval.llm.fake',), fake_model))}\n```"),
        ("import.md", "triples", aliases(TRIPLES)),
        ("judge-procedures.md", "grades", grades()),
        ("layouts.md", "layouts", layouts()),
        ("one-report.md", "rubric", rubric()),
        ("records.md", "records", records()),
        ("structure.md", "figures", structure_figures()),
    ]


def with_part(page: str, part: str, text: str) -> str:
    """A page with the text between `<!-- PART, made by tools/generate.py -->` and `<!-- end of PART -->` made anew."""
    begin, end = f"<!-- {part}, made by tools/generate.py -->\n\n", f"\n\n<!-- end of {part} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"docs: no part {part!r} between {begin.strip()!r} and {end.strip()!r}")
    return before + begin + text + end + after


def tools() -> str:
    """The tools whose files are read: by which names a file is known, and what its fields are. Names that are kgeval's own are left out."""
    lines = ["| tool | known by | read as |", "|---|---|---|"]
    for shape in shapes():
        known = ", ".join(code_of(need) for need in shape.needs) or "none of these"
        read = ", ".join(f"{code_of(theirs)} {ours}" for ours, theirs in shape.fields.items() if theirs.split("|")[0] != ours)
        lines.append(f"| {shape.name} | {known} | {read} |")
    return "\n".join(lines)


def aliases(fields: Aliases) -> str:
    """The fields of a kind of file, with the other names that are read."""
    other = {field: [name for name in names if name != field] for field, names in fields.items()}
    rows = [f"| `{field}` | {code_of('|'.join(names), ', ')} |" for field, names in other.items() if names]
    alone = [field for field, names in other.items() if not names]
    last = ["", f"By no other name: {code_of('|'.join(alone), ', ')}."] if alone else []
    return "\n".join(["| field | also called |", "|---|---|", *rows, *last])


def code_of(names: str, between: str = " or ") -> str:
    """`a|b` as it stands in running text."""
    return between.join(f"`{name}`" for name in names.split("|"))


def layouts() -> str:
    """The built-in layouts: what each role is called."""
    lines = ["| name | written by, and how | type | relation's name | texts | several graphs |", "|---|---|---|---|---|---|"]
    for profile in profiles().values():
        layout = profile.layout
        texts = f"{code_of('|'.join(layout.chunk_labels))}, by {code_of('|'.join(layout.mention_types))}" if layout.chunk_labels else ""
        scope = "by label" if layout.scope_label else f"by `{layout.scope_property}`" if layout.scope_property else ""
        kind = f"`{layout.type_key}`" if layout.type_key else "label"
        name = f"`{layout.relation_label_key}`" if layout.relation_label_key else "type"
        if name == "type" and len(layout.relation_types) == 1:  # a type that all relations have names none of them
            name = f"none (`{layout.relation_types[0]}`)"
        about = profile.description.replace("_", "\\_")
        lines.append(f"| `{profile.name}` | {about} | {kind} | {name} | {texts} | {scope} |")
    return "\n".join(lines)


def rubric() -> str:
    """The figures of each dimension of the rubric, with the limits between the scores."""
    lines = ["| dimension | figures (the first that is there) | scores |", "|---|---|---|"]
    for dimension, facets in FACETS.items():
        lines += [f"| {dimension} | {', '.join(f'`{name}`' for name in facet.names)} | {facet.bands.words} |" for facet in facets]
    return "\n".join(lines)


def structure_figures() -> str:
    """The structure figures with their sentence."""
    rows = [f"| `{figure.id}` | {figure.what} |" for figure in FIGURES]
    return "\n".join(["| id | what it is |", "|---|---|", *rows])


def records() -> str:
    """The schemas as a table: each with the first sentence of its record, as `kgeval schema list` prints it."""
    first = {name: (inspect.getdoc(record) or "").split("\n")[0].partition(". ")[0].rstrip(".") for name, record in RECORDS.items()}
    rows = [f"| `{name}.schema.json` | {first[name]} |" for name in sorted(first)]
    return "\n".join(["| schema | what |", "|---|---|", *rows])


def grades() -> str:
    """The aspects of a comparison with their grades, a table each."""
    lines = []
    for aspect in load_grades().values():
        rows = [f"| {points} | {text} |" for points, text in enumerate(aspect.grades)]
        lines += [f"**{aspect.name}**: {aspect.asks}", "", "| points | what they mean |", "|---|---|", *rows, ""]
    return "\n".join(lines).rstrip()


def builtin_settings() -> str:
    """The settings of the built-in systems as a table."""
    lines = ["| setting | systems | default | bounds | meaning |", "|---|---|---|---|---|"]
    for setting in SETTINGS:
        default = getattr(Settings("vector"), setting.name)
        if setting.name == "k":
            default = "5; graphs 20"
        elif isinstance(default, bool):
            default = "yes" if default else "no"
        bounds = " or ".join(setting.choices) or setting.type
        if setting.low is not None and setting.high is not None:
            bounds = f"{setting.low:,} to {setting.high:,}"
        shown = "-" if default in (None, "", ()) else default
        about = setting.about.rstrip(".").replace("A|B", "`A\\|B`")
        lines.append(f"| `{setting.name}` | {', '.join(setting.systems)} | {shown} | {bounds} | {about} |")
    return "\n".join(lines)


def rule_index() -> str:
    """The list of rules by group."""
    lines = ["# Checks", "", "Each page is what `kgeval checks show ID` prints. Generated; do not edit.", ""]
    for group in GROUPS:
        rules = [rule for rule in load_rules().values() if rule.group == group]
        if rules:
            lines += [f"## {group}", "", *(f"- [{rule.id}]({rule.id}.md): {rule.title} ({rule.severity})" for rule in rules), ""]
    return "\n".join(lines)


def main() -> int:
    """Writes or checks. Returns 1 if `--check` finds stale files."""
    files = generated()
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    extra = [path for folder in ("rules", "metrics") for path in (ROOT / "docs" / folder).glob("*.md") if path not in files]
    if "--check" in sys.argv:
        for path in [*stale, *extra]:
            print(f"stale: {path.relative_to(ROOT)}")
        return 1 if stale or extra else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
    for path in extra:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
