"""A run of `kgeval questions generate`: opens what the kinds need, makes the questions, writes them however the run ends."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.choose import layout_from_options
from kgeval.cli.common import coloured, open_from_options, say
from kgeval.cli.models import limits_from_options, open_embedder_from_options, open_models_from_options, progress_of, show_plan
from kgeval.cli.questions_run_check import add_checks, count_checks
from kgeval.errors import KgevalError, UsageError

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.llm.embed import Embedder
    from kgeval.llm.session import Models
    from kgeval.manifest import Started
    from kgeval.questions.duplicates import Twins
    from kgeval.questions.generate import Bench, Generation, Sampler, Settings
    from kgeval.questions.kept import Kept
    from kgeval.questions.kinds import Order
    from kgeval.records import GenerationReport, Layout, Question

STDOUT = Path("-")
INCOMPLETE = 3


@dataclass
class Job:
    """One run: what was asked for, and, once opened, what it is done with."""

    options: Mapping[str, Any]
    started: Started
    orders: tuple[Order, ...]
    settings: Settings
    threshold: float
    graph: Graph | None = None
    layout: Layout | None = None
    models: Models | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def output(self) -> Path:
        """Where the questions go."""
        path: Path = self.options["output"]
        return path

    def needs(self, what: str) -> list[str]:
        """The kinds that need something in this run."""
        return [order.kind.name for order in self.orders if what in order.kind.needs_of(self.settings.options)]

    @property
    def asking(self) -> list[str]:
        """The kinds that ask a model, if one is named."""
        return [order.kind.name for order in self.orders if order.kind.asks(self.settings.options)]

    def note(self, text: str) -> None:
        """Says something, and keeps it for the report."""
        self.notes.append(text)
        say(text)


def make(config: Config, job: Job) -> int:
    """The whole run, or its dry run. Returns the exit code."""
    from kgeval.questions.kept import Kept

    with ExitStack() as held:
        sampler = _open(config, job, held)
        embedder = _embedder(config, job, held)
        if job.options["dry_run"]:
            return _plan(config, job, sampler, _twins(job, embedder))
        bench = replace(_bench(job, sampler, _twins(job, embedder)), embed=embedder.embed if embedder is not None else None)
        return _finish(job, bench, held.enter_context(Kept()), held.enter_context(Kept()) if job.options["check"] else None)


def beside(output: Path) -> Path:
    """The report that stands beside the questions."""
    return output.with_name(f"{output.stem}.run.json")


def _open(config: Config, job: Job, held: ExitStack) -> Sampler:
    """Opens the model first (nothing is sent), then the graph, and checks that both can do what the kinds need."""
    from kgeval.auditing.accuracy.chunks import read_chunks
    from kgeval.questions.sampling.sampler import open_sampler

    options = job.options
    chunks = read_chunks(options["chunks"]) if options["chunks"] else None
    for note in chunks.notes if chunks else ():
        job.note(note)
    if job.needs("model") or ((options["check"] or job.asking) and (options["model"] or config.model.generator.name)):
        job.models = held.enter_context(open_models_from_options(config, "generator", options))
    graph = held.enter_context(open_from_options(config, **{name: options[name] for name in ("uri", "username", "database", "home")}))
    layout = layout_from_options(graph, config, **{name: options[name] for name in ("graph_name", "layout_option", "overrides")})
    job.graph, job.layout = graph, layout
    job.settings = replace(job.settings, dataset=job.settings.dataset or layout.scope_value or options["graph_name"])
    _check(job, graph, layout, chunks=chunks is not None)
    return held.enter_context(open_sampler(graph, layout, seed=options["seed"], timeout=options["timeout"], chunks=chunks))


def _check(job: Job, graph: Graph, layout: Layout, *, chunks: bool) -> None:
    """Raises: UsageError, ConnectError where the graph or the server lacks what a kind cannot do without."""
    if job.needs("gds"):
        graph.need_gds()
    in_graph = bool(layout.chunk_labels and layout.chunk_text_keys)
    lacking = [] if in_graph else job.needs("documents") if chunks else list(dict.fromkeys((*job.needs("chunks"), *job.needs("documents"))))
    if lacking:
        raise UsageError(
            f"the graph has no chunks with texts (layout {layout.name}), and these kinds need them: {', '.join(lacking)}",
            fix="leave them out; give the texts with --chunks FILE; or a layout that names the chunks: kgeval layout check",
        )
    if not in_graph and not chunks:
        job.note("the graph has no chunks: questions are made from names and descriptions alone, and have no evidence")


def _embedder(config: Config, job: Job, held: ExitStack) -> Embedder | None:
    """An embedder where a model makes questions, or where one is named for kinds that search texts; in a dry run none that would send
    something."""
    options = job.options
    named = bool(options["embedding_url"] or options["embedding_model"] or config.model.embedding.base_url)
    searching = named and any(order.kind.confirms for order in job.orders)
    if options["no_embedding"] or not (searching or (job.models is not None and job.asking)):
        return None
    if options["dry_run"] and (options["embedding_url"] or config.model.embedding.base_url):
        return None
    return held.enter_context(open_embedder_from_options(config, options))


def _twins(job: Job, embedder: Embedder | None) -> Twins:
    from kgeval.questions.duplicates import Twins, asked_by

    earlier = map(asked_by, job.settings.options.earlier)
    return Twins(embedder.embed if embedder is not None else None, job.threshold, earlier)


def _bench(job: Job, sampler: Sampler, twins: Twins) -> Bench:
    from kgeval.llm.asker import Live
    from kgeval.questions.generate import Bench

    models = job.models
    if models is None:
        return Bench(sampler, twins, graph=job.graph, layout=job.layout, say=say, progress=progress_of(job.options))
    return Bench(
        sampler, twins, Live(models), models.map, job.graph, job.layout, models.endpoint.model, lambda: models.stopped is not None,
        say, progress_of(job.options),
    )


def _plan(config: Config, job: Job, sampler: Sampler, twins: Twins) -> int:
    """The dry run: the calls that are not in the journal, counted by the code that makes them."""
    from kgeval.llm.asker import Dry
    from kgeval.llm.plan import Plan
    from kgeval.questions.generate import Bench, Generation
    from kgeval.questions.kept import Kept

    if job.models is None:
        show_plan(Plan((), limits_from_options(config, job.options)))
        return 0
    dry = Dry(job.models)
    bench = Bench(sampler, twins, dry, graph=job.graph, layout=job.layout, model=job.models.endpoint.model, say=say)
    orders = [order for order in job.orders if job.options["check"] or order.kind.name in job.asking]
    with Kept() as kept:
        generation = Generation(orders, job.settings, bench, kept.add if job.options["check"] else _drop)
        generation.run()
        if job.options["check"]:
            count_checks(job, dry, kept, generation.tallies)
    show_plan(Plan(dry.stages(), job.models.limits))
    click.echo(f"lower figures: every structure gives a question; higher: --tries {job.settings.tries} structures a question are needed")
    if job.options["check"]:
        click.echo("of checks, lower: those of questions that are there already, no answer is judged; higher: all are checked and judged")
    for tally in generation.tallies:
        if tally.lacking and tally.why:
            say(f"{tally.order.kind.name}: {tally.lacking} fewer than asked: {tally.why}")
    return 0


def _drop(_question: Question) -> None:
    """A dry run keeps nothing."""


def _finish(job: Job, bench: Bench, kept: Kept, checked: Kept | None) -> int:
    """Makes the questions, checks them where `checked` takes them, writes what there is, and tells. Raises again what ended the run."""
    from kgeval.questions.generate import Generation

    generation = Generation(job.orders, job.settings, bench, kept.add)
    try:
        generation.run()
        if checked is not None:
            add_checks(job, kept, checked)
    except (KeyboardInterrupt, KgevalError) as end:
        if kept.count:
            code = 130 if isinstance(end, KeyboardInterrupt) else INCOMPLETE
            _written(job, _all(kept, checked), _report(job, generation, code=code, complete=False))
            say(f"stopped after {kept.count:,} questions, which are written to {job.output}")
        say("replies that came are in the journal: the same command goes on" if job.models else "the same command begins anew")
        raise
    stopped = job.models is not None and job.models.exit_code != 0
    short = any(tally.lacking for tally in generation.tallies)
    code = INCOMPLETE if stopped or (short and not job.options["allow_fewer"]) else 0
    report = _report(job, generation, code=code, complete=not stopped)
    _told(job, report, _written(job, _all(kept, checked), report))
    return code


def _all(kept: Kept, checked: Kept | None) -> Kept:
    """The questions with their checks, if the run came to that."""
    return checked if checked is not None and checked.count == kept.count else kept


def _report(job: Job, generation: Generation, *, code: int, complete: bool) -> GenerationReport:
    from kgeval.config import DEFAULT_FILE
    from kgeval.graph.queries import all_queries
    from kgeval.records import GenerationReport

    options, models = job.options, job.models
    named = [options["config_file"] or DEFAULT_FILE, options["layout_option"], options["earlier"], *options["chunks"]]
    run = job.started.manifest(
        server=job.graph.info if job.graph else None, inputs=[Path(name) for name in named if name and Path(name).is_file()],
        seed=options["seed"], exit_code=code, asked=models.asked() if models else None,
        hashes={query.name: query.sha256 for query in all_queries().values() if query.folder == "questions"},
    )
    return GenerationReport(
        run=run, dataset=job.settings.dataset, graph=(job.layout.scope_value if job.layout else None) or options["graph_name"],
        layout=job.layout.name if job.layout else None, seed=options["seed"], profile=job.settings.options.profile, complete=complete,
        kinds=[tally.count() for tally in generation.tallies], notes=[*job.notes, *(models.notes if models else [])],
    )


def _written(job: Job, kept: Kept, report: GenerationReport) -> list[Path]:
    """Writes the questions, the report beside them and the sheet. Returns the files."""
    from kgeval.files.partial import private

    if job.output == STDOUT:
        kept.write(sys.stdout)
        sys.stdout.flush()
        done = []
    else:
        with private(job.output) as file:
            kept.write(file)
        with private(beside(job.output)) as file:
            file.write(report.model_dump_json(indent=1) + "\n")
        done = [job.output, beside(job.output)]
    if job.options["sheet"] is not None and kept.count:
        from kgeval.questions.sheet import write_sheet

        write_sheet(job.options["sheet"], kept)
        done.append(job.options["sheet"])
    return done


def _told(job: Job, report: GenerationReport, written: list[Path]) -> None:
    """The counts: on stdout, or on stderr where the questions themselves go there."""
    import shutil

    from kgeval.reports.questions_text import terminal

    if not job.options["quiet"]:
        err = job.output == STDOUT
        if job.options["form"] == "json":
            click.echo(report.model_dump_json(indent=1), err=err)
        else:
            width, colour = shutil.get_terminal_size((100, 40)).columns, coloured(sys.stderr if err else sys.stdout)
            click.echo(terminal(report, width=width, colour=colour, written=written), nl=False, err=err)
    if report.made < report.asked:
        more = "" if job.options["allow_fewer"] else "; --allow-fewer takes that"
        say(f"{report.made:,} of {report.asked:,} questions were made{more}")
    if not report.complete:
        say("incomplete: replies that came are in the journal; the same command goes on")
