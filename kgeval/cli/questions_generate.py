"""`kgeval questions generate`: questions made from a graph and its texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_options
from kgeval.cli.common import F, Seconds, arguments, connection_options, listed
from kgeval.cli.models import embedding_options, limit_options, model_options
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.questions.generate import Settings
    from kgeval.questions.kinds import Order

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
SHARE = click.FloatRange(0, 1, min_open=True)
STDOUT = Path("-")


def _making_options(command: F) -> F:
    """What is made, how much of it, and where it goes."""
    for option in reversed((
        click.option(
            "--kind", "kinds", multiple=True, metavar="KIND[=N]",
            help="Kinds or groups of kinds, with a number of their own if need be (comma or repeated); kgeval questions kinds lists them.",
        ),
        click.option("-n", "--n", type=click.IntRange(1, 1_000_000), help="Questions of each kind [default: 50]."),
        click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Same seed, graph: same questions."),
        click.option(
            "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=STDOUT, show_default=True, metavar="FILE.jsonl",
            help="The questions; FILE.run.json beside it has counts and manifest. - is stdout.",
        ),
        click.option("--template", is_flag=True, help="Kinds that have one are made by template: no model is asked."),
        click.option(
            "--profile", type=click.Choice(["generic", "narrative", "medical"]), help="What the texts are like [default: generic].",
        ),
        click.option("--answers/--no-answers", default=None, help="Ask for a reference answer where a kind can do without."),
        click.option(
            "--several-passages", is_flag=True, help="No hop question of several relations that the graph says one passage tells all of.",
        ),
        click.option("--check", is_flag=True, help="Check each question as kgeval questions check does, where its maker did not."),
        click.option("--earlier", type=FILE, metavar="FILE", help="Questions that must not come again: any question file."),
        click.option(
            "--stratify", type=click.Choice(["type", "degree", "document", "community"]),
            help="Draw structures evenly over these, not uniformly over all.",
        ),
        click.option("--tries", type=click.IntRange(1, 1_000), help="Structures tried a question at most [default: 3]."),
        click.option("--allow-fewer", is_flag=True, help="Fewer questions than asked for are no failure (else exit 3)."),
        click.option("--duplicate-threshold", type=SHARE, help="Cosine from which two questions are one [default: 0.9]."),
        click.option("--no-embedding", is_flag=True, help="Compare questions by their words only; no embedding model is loaded."),
        click.option("--dataset", metavar="NAME", help="The questions' dataset [default: the graph's name]."),
        click.option(
            "--chunks", multiple=True, type=FILE, metavar="FILE",
            help="Chunk texts that are not in the graph: JSONL, or LightRAG's kv_store_text_chunks.json (repeatable).",
        ),
        click.option(
            "--sheet", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.csv",
            help="Also write a sheet for people to confirm the questions; kgeval questions confirm reads it back.",
        ),
        click.option("--timeout", type=Seconds(), default=600, show_default=True, help="Seconds a query may take."),
        click.option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The counts."),
        click.option("-q", "--quiet", is_flag=True, help="No counts on the screen."),
    )):
        command = option(command)
    return command


@click.command()
@_making_options
@connection_options
@layout_options
@model_options("generator")
@limit_options
@embedding_options
def generate(**options: Any) -> int:
    """Make questions from a graph and its texts, each from one piece of the graph, with a reference answer and its evidence.

    Replies of the model are kept: the same command again costs nothing and gives the same file. Where a budget or Ctrl-C ends a run,
    what was made so far is written. Questions that repeat one before are dropped and counted.

    Exit codes: 0 done, 2 wrong input or no connection, 3 incomplete (fewer than asked for, budget reached, too many failures),
    130 interrupted; the same command goes on.
    """
    from kgeval import config as configuration
    from kgeval.cli.questions_run import Job, make
    from kgeval.manifest import Started

    config = configuration.load(options["config_file"])
    started = Started("questions generate", arguments(options))
    orders = _orders(config, options)
    _check_places(options)
    _check_model(config, options, orders)
    return make(config, Job(options, started, orders, _settings(config, options), _threshold(config, options)))


def _orders(config: Config, options: Mapping[str, Any]) -> tuple[Order, ...]:
    """The kinds: flag, else kgeval.toml. Raises: UsageError."""
    from kgeval.questions.kinds import all_kinds, orders_of

    words = listed(options["kinds"]) or config.questions.kinds
    if not words:
        fix = f"give --kind, for example --kind node,edge; kinds are {', '.join(all_kinds())}"
        raise UsageError("no kind of question is named", fix=fix)
    orders = orders_of(words, options["n"] or config.questions.n)
    without = [order.kind.name for order in orders if not order.kind.template]
    if options["template"] and len(without) == len(orders):
        with_form = ", ".join(kind.name for kind in all_kinds().values() if kind.template) or "none"
        raise UsageError(f"--template: none of these kinds has a template: {', '.join(without)}", fix=f"kinds with one: {with_form}")
    return orders


def _settings(config: Config, options: Mapping[str, Any]) -> Settings:
    from kgeval.questions.generate import Settings
    from kgeval.questions.kind import MakingOptions

    section = config.questions
    earlier: tuple[str, ...] = ()
    if options["earlier"]:
        from kgeval.files.rows import read_questions

        earlier = tuple(question.question for question in read_questions(options["earlier"]))
    making = MakingOptions(
        seed=options["seed"], profile=options["profile"] or section.profile, language=options["language"], template=options["template"],
        answers=section.answers if options["answers"] is None else options["answers"], earlier=earlier,
        several_passages=options["several_passages"],
    )
    return Settings(making, options["tries"] or section.tries, options["stratify"], options["dataset"])


def _threshold(config: Config, options: Mapping[str, Any]) -> float:
    given: float | None = options["duplicate_threshold"]
    return config.questions.duplicate_threshold if given is None else given


def _check_places(options: Mapping[str, Any]) -> None:
    """Refuses places that cannot be written, or that would replace something that is needed. Raises: UsageError."""
    from kgeval.cli.questions_run import beside
    from kgeval.reports.write import blocked, check_outputs

    output, sheet = options["output"], options["sheet"]
    if output != STDOUT and output.suffix.lower() != ".jsonl":
        raise UsageError(f"{output}: questions are written as .jsonl", fix="give -o questions.jsonl, or -o - for stdout")
    if sheet is not None and sheet.exists():
        raise UsageError(f"{sheet}: is there already, and may hold decisions", fix="choose another name, or move the file away")
    if sheet is not None and sheet.suffix.lower() != ".csv":
        raise UsageError(f"{sheet}: the sheet is written as .csv", fix="give --sheet sheet.csv")
    if sheet is not None and (why := blocked(sheet)):
        raise UsageError(f"{sheet}: {why}", fix="name a file that can be written with --sheet")
    if output == STDOUT:
        return
    check_outputs([beside(output)])
    named = [options["earlier"], options["config_file"], options["prices"], options["layout_option"], *options["chunks"]]
    read = {Path(path).resolve(): path for path in named if path}
    lost = [str(read[path.resolve()]) for path in (output, beside(output)) if path.resolve() in read]
    if lost:
        raise UsageError(f"-o would replace a file that is read: {', '.join(lost)}", fix="name another file with -o")


def _check_model(config: Config, options: Mapping[str, Any], orders: tuple[Order, ...]) -> None:
    """Raises: UsageError where kinds need a model and none is named, before anything is opened."""
    from kgeval.questions.kind import MakingOptions

    making = MakingOptions(seed=0, template=options["template"])
    needing = [order.kind.name for order in orders if "model" in order.kind.needs_of(making)]
    if needing and not (options["model"] or config.model.generator.name):
        with_form = [order.kind.name for order in orders if order.kind.template and order.kind.name in needing]
        raise UsageError(
            f"no model is named for the generator, and these kinds need one: {', '.join(needing)}",
            fix="give --model NAME, or name = ... in [model.generator] of kgeval.toml"
            + (f"; --template makes {', '.join(with_form)} without one" if with_form else ""),
        )
