"""`kgeval questions`: the group of commands that sample, make, check and describe questions, and those of them that are short."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from kgeval.cli.common import say, silence_stdout, visible
from kgeval.cli.derive import CommandGroup, flags_of, options_from
from kgeval.cli.options import config_option, connection_options, layout_options, model_flags, session_from
from kgeval.cli.questions_check import check
from kgeval.cli.questions_coverage import coverage
from kgeval.cli.questions_generate import generate
from kgeval.cli.questions_kinds import kinds, profiles
from kgeval.cli.show import form_option, quiet_option, report_options_of, show_plan, show_report, show_result
from kgeval.config import ClassifyOptions, QuestionFileOptions, SampleOptions
from kgeval.format import first_of

if TYPE_CHECKING:
    from kgeval.records import Structure

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
STDOUT = Path("-")
MOST_NAMES = 8


@click.group(cls=CommandGroup)
def questions() -> None:
    """Questions grounded in a graph and its texts: make them, check them, say what a set covers."""


for _command in (check, coverage, generate, kinds, profiles):
    questions.add_command(_command)


@questions.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.jsonl", help="The questions with levels; needed but for --dry-run.",
)
@flags_of(ClassifyOptions)
@form_option("md", "html")
@quiet_option
@config_option
@model_flags("judge")
def classify(file: Path, output: Path | None, **options: Any) -> int:
    """Give every question of FILE one of four levels: fact_retrieval, complex_reasoning, contextual_summarize, creative_generation.

    A judge labels several questions a call, each with a reason. The questions are written again with `level` set and their
    kind kept; the reason, and the level that the file had, stand in `extra.classified`. A question that got no label has no level, and
    its cause there. Beside the output, FILE.run.json has shares and manifest. The same command again costs nothing.

    Exit codes: 0 done, 2 wrong input, 3 incomplete (budget reached, too many failures), 130 interrupted.
    """
    from kgeval.workflows import questions_files as workflow

    with session_from("questions classify", options, outputs=(), file=str(file), output=output and str(output)) as session:
        chosen = options_from(ClassifyOptions, options)
        if session.dry:
            return show_plan(workflow.plan_classify(session, file, chosen))
        return show_result(workflow.classify(session, file, output, chosen), options, ())


@questions.command()
@click.argument("file", metavar="QUESTIONS", type=FILE)
@click.argument("sheets", nargs=-1, type=FILE)
@click.option("-o", "--output", type=OUT, metavar="FILE.jsonl", help="The questions that are kept.")
@click.option(
    "--undecided", type=click.Choice(["refuse", "keep", "drop"]), default="refuse", show_default=True,
    help="What becomes of questions without a decision, or with as many for as against.",
)
@click.option("--sheet", type=OUT, metavar="FILE.csv", help="Write a sheet for these questions, and stop.")
def confirm(
    file: Path, sheets: tuple[Path, ...], output: Path | None, undecided: Literal["refuse", "keep", "drop"], sheet: Path | None,
) -> int:
    """Take over what people decided: QUESTIONS is a question file, SHEETS are its sheets, filled in (keep or drop, texts corrected).

    Several sheets: most people decide. Kept questions have the check `confirmed`; one whose text was changed has its text before in
    `extra`, and loses the checks of that text.

    Exit codes: 0 done, 2 wrong input, 3 questions without a decision (nothing is written).
    """
    from kgeval.questions.sheet import write_sheet
    from kgeval.tables.rows import read_questions
    from kgeval.workflows import questions_files as workflow
    from kgeval.workflows.session import Session

    if sheet is not None:
        write_sheet(sheet, read_questions(file))
        say(f"wrote {sheet}: fill in the column decision, then give it to kgeval questions confirm")
        return 0
    place = None if output == STDOUT else output
    kept, code = workflow.confirm(Session("questions confirm", say=say), file, sheets, place, undecided)
    for question in kept if place is None else ():
        click.echo(question.model_dump_json(exclude_defaults=True))
    return code


@questions.command()
@flags_of(SampleOptions)
@click.option(
    "-o", "--output", type=OUT, metavar="FILE.jsonl",
    help="Write the structures with their passages, one a line; FILE.run.json beside it says how they came to be. - is stdout.",
)
@connection_options
@layout_options
def sample(output: Path | None, **options: Any) -> int:
    """Draw pieces of a graph: single entities and relations, paths, chains, subgraphs, neighbourhoods, pairs, communities.

    Prints what it drew, a line each; -o writes it with descriptions and passages. Where the graph gives fewer than asked for, it says
    what it can give.

    Exit codes: 0 done, 2 wrong input or no connection, 3 fewer than asked for, 130 interrupted.
    """
    from kgeval.workflows import questions_sample as workflow

    place, read = None if output == STDOUT else output, True

    def show(structure: Structure) -> None:
        nonlocal read
        if not read:
            return
        try:
            click.echo(structure.model_dump_json(exclude_defaults=True) if output == STDOUT else visible(_line(structure)))
        except BrokenPipeError:
            if place is None:
                raise
            silence_stdout()  # the file is written as a whole, also where nobody reads what is printed any more
            read = False

    with session_from("questions sample", options, outputs=(), output=output and str(output)) as session:
        return workflow.run(session, options_from(SampleOptions, options), place, show)


@questions.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@flags_of(QuestionFileOptions)
@report_options_of("Report file: .html .json .md", ("text", "json", "md", "html"), without=("redact",))
def stats(files: tuple[Path, ...], **options: Any) -> int:
    """What the question FILES are made of: levels, kinds, breadth and depth, lengths, evidence; several files side by side.

    Files of kgeval, GraphRAG-Bench, HotpotQA and others are read. Breadth (relations that an answer needs) and depth (hops between them)
    are the file's own, else counted from its gold triples. Every figure says how many questions it is over; - : none has it.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.workflows import questions_files as workflow

    session = session_from("questions stats", options, outputs=options["outputs"], files=[str(path) for path in files])
    show_report(workflow.stats(session, files, options_from(QuestionFileOptions, options)).report, options, session.outputs)
    return 0


def _line(structure: Structure) -> str:
    """A structure as one line: its number, what it is made of, and how much it comes from."""
    names = [node.name for node in structure.nodes]
    if structure.kind in ("node", "pair"):
        shown = " / ".join(f"{node.name} ({node.type})" if node.type else node.name for node in structure.nodes)
    elif structure.kind in ("edge", "path"):
        shown = "; ".join(structure.text_of(relation) for relation in structure.relations)
    else:
        shown = first_of(names, MOST_NAMES)
    sizes = f"{len(names)} nodes, {len(structure.relations)} relations, {len(structure.passages)} passages"
    return " ".join(f"{structure.number}  {shown}  [{sizes}]{f'  {structure.stratum}' if structure.stratum else ''}".splitlines())
