"""Questions made from a graph and its texts, each with a reference answer and its evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from kgeval.config import GenerateOptions
from kgeval.config.questions import PROFILES
from kgeval.errors import KgevalError, UsageError, raise_together, together, tried
from kgeval.llm.plan import Plan
from kgeval.workflows.result import INCOMPLETE, QuestionsResult, beside
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.graph.connect import Graph
    from kgeval.llm.asker import Asker
    from kgeval.llm.embed import Embedder
    from kgeval.llm.session import Models
    from kgeval.questions.checking.run import CheckContext
    from kgeval.questions.duplicates import Twins
    from kgeval.questions.generate import Generation, GenerationSettings, GenerationTools, KindTally, StructureSource
    from kgeval.questions.kinds import KindOrder
    from kgeval.questions.spool import QuestionSpool
    from kgeval.records import GenerationReport, Layout



@dataclass(frozen=True)
class GenerateResult(QuestionsResult):
    """What was made. `report`: a GenerationReport."""

    def rendered(self, form: str, *, redact: bool | None = None) -> str:
        """The counts as text or json. Raises: UsageError for another form."""
        from kgeval.reports.questions_text import terminal

        if form == "json":
            return str(self.report.model_dump_json(indent=1)) + "\n"
        if form != "text":
            raise UsageError(f"the counts of questions have no {form}", fix="text or json")
        return terminal(self.report, written=self.written)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.rendered('text'))}</pre>"


@dataclass(frozen=True)
class GeneratePlan(Plan):
    """What making questions would ask of the model. `notes`: what the lower and higher figures mean."""


@dataclass
class _Making:
    """One run: what was asked for, and, once opened, what it is done with. `output`: where the questions go, if into a file."""

    session: Session
    options: GenerateOptions
    orders: tuple[KindOrder, ...]
    settings: GenerationSettings
    output: Path | None
    models: Models | None = None
    graph: Graph | None = None
    layout: Layout | None = None
    notes: list[str] = field(default_factory=list)

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
        self.session.say(text)


def names(_: Session, options: GenerateOptions) -> Iterator[Callable[[], object]]:
    """The check of names of kinds. Raises: UsageError with its faults."""
    yield lambda: _orders(options)


def plan(session: Session, options: GenerateOptions) -> GeneratePlan:
    """What the run would ask of the model: calls that are not in the journal yet, counted by the code that makes them."""
    from kgeval.llm.asker import Dry
    from kgeval.questions.generate import Generation, GenerationTools
    from kgeval.questions.spool import QuestionSpool

    making = _prepared(session, options)
    with ExitStack() as held:
        sampler = _opened(making, held)
        twins = _twins(making, _embedder(making))
        if making.models is None:
            return GeneratePlan((), session.limits)
        dry = Dry(making.models)
        bench = GenerationTools(
            sampler, twins, dry, graph=making.graph, layout=making.layout, model=making.models.endpoint.model, say=session.say,
        )
        orders = [order for order in making.orders if options.check or order.kind.name in making.asking]
        kept = held.enter_context(QuestionSpool())
        generation = Generation(orders, making.settings, bench, kept.add_question if options.check else lambda _question: None)
        generation.run()
        notes = [f"lower figures: every structure gives a question; higher: --tries {options.tries} structures a question are needed"]
        if options.check:
            _count_checks(making, dry, kept, generation.tallies)
            notes.append(
                "of checks, lower: those of questions that are there already, no answer is judged; higher: all are checked and judged",
            )
        for tally in generation.tallies:
            if tally.lacking and tally.why:
                session.say(f"{tally.order.kind.name}: {tally.lacking} fewer than asked: {tally.why}")
        return GeneratePlan(dry.stages(), making.models.limits, notes=tuple(notes))


def run(session: Session, options: GenerateOptions, out: IO[str] | None = None) -> GenerateResult:
    """Makes the questions and writes them where the session's one output says, else to `out`; what is there when a run is broken off is
    written, too.

    Raises: UsageError, InputError, ConnectError, ModelError before anything is paid, and what ended the run.
    """
    from kgeval.questions.generate import Generation
    from kgeval.questions.spool import QuestionSpool

    making = _prepared(session, options)
    with ExitStack() as held:
        sampler = _opened(making, held)
        embedder = _embedder(making)
        bench = replace(_bench(making, sampler, _twins(making, embedder)), embed=embedder.embed if embedder is not None else None)
        kept, checked = held.enter_context(QuestionSpool()), held.enter_context(QuestionSpool()) if options.check else None
        generation = Generation(making.orders, making.settings, bench, kept.add_question)
        try:
            generation.run()
            for tally in generation.tallies:
                if tally.passages_left_out:
                    making.note(
                        f"{tally.order.kind.name}: {tally.passages_left_out:,} passages of {tally.cut:,} questions were left out of the "
                        "summaries (--max-passages)",
                    )
            if checked is not None:
                _add_checks(making, kept, checked)
        except (KeyboardInterrupt, KgevalError) as end:
            if kept.count and (making.output or out):
                code = 130 if isinstance(end, KeyboardInterrupt) else INCOMPLETE
                _write(making, _all(kept, checked), _report(making, generation, code=code, complete=False), out)
                session.say(f"stopped after {kept.count:,} questions, which are written to {making.output or '-'}")
            again = "replies that came are in the journal: the same command goes on" if making.models else "the same command begins anew"
            session.say(again)
            raise
        stopped = making.models is not None and making.models.exit_code != 0
        short = any(tally.lacking for tally in generation.tallies)
        code = INCOMPLETE if stopped or (short and not options.allow_fewer) else 0
        report = _report(making, generation, code=code, complete=not stopped)
        return _result(making, _all(kept, checked), report, out)


def _prepared(session: Session, options: GenerateOptions) -> _Making:
    """A run with everything checked that can be before anything is opened. Raises: UsageError, InputError."""
    from kgeval.questions.generate import GenerationSettings
    from kgeval.questions.kinds import MakingOptions, question_profile

    orders, profile = _orders(options), question_profile(options.profile)
    output = next(iter(session.outputs), None)
    _check_places(session, options, output)
    _check_model(session, options, orders)
    earlier: tuple[str, ...] = ()
    if options.earlier:
        from kgeval.tables.rows import read_questions

        earlier = tuple(question.question for question in read_questions(options.earlier))
    own = MakingOptions(
        seed=options.seed, profile=profile, language=session.asking.language, template=options.template,
        answers=options.answers is not False, earlier=earlier, several_passages=options.several_passages,
        max_passages=options.max_passages,
    )
    return _Making(session, options, orders, GenerationSettings(own, options.tries, options.stratify, options.dataset), output)


def _orders(options: GenerateOptions) -> tuple[KindOrder, ...]:
    """The kinds. Raises: UsageError."""
    from kgeval.questions.kinds import all_kinds, orders_of

    if not options.kinds:
        fix = f"give --kind, for example --kind node,edge; kinds are {', '.join(all_kinds())}"
        raise UsageError("no kind of question is named", fix=fix)
    orders = orders_of(options.kinds, options.n)
    without = [order.kind.name for order in orders if not order.kind.template]
    if options.template and len(without) == len(orders):
        with_form = ", ".join(kind.name for kind in all_kinds().values() if kind.template) or "none"
        raise UsageError(f"--template: none of these kinds has a template: {', '.join(without)}", fix=f"kinds with one: {with_form}")
    return orders


def _check_places(session: Session, options: GenerateOptions, output: Path | None) -> None:
    """Refuses places that cannot be written, or that would replace something that is needed. Raises: UsageError."""
    from kgeval.reports.write import check_outputs, check_replaced
    from kgeval.tables.output import blocked

    sheet = options.sheet
    if output is not None and output.suffix.lower() != ".jsonl":
        raise UsageError(f"{output}: questions are written as .jsonl", fix="give -o questions.jsonl, or -o - for stdout")
    if sheet is not None and sheet.exists():
        raise UsageError(f"{sheet}: is there already, and may hold decisions", fix="choose another name, or move the file away")
    if sheet is not None and sheet.suffix.lower() != ".csv":
        raise UsageError(f"{sheet}: the sheet is written as .csv", fix="give --sheet sheet.csv")
    if sheet is not None and (why := blocked(sheet)):
        raise UsageError(f"{sheet}: {why}", fix="name a file that can be written with --sheet")
    if output is None:
        return
    check_outputs([beside(output)])
    named = [options.earlier, _own_profile(options), session.config_file, session.asking.prices, session.layout, *options.chunks]
    check_replaced([output, beside(output)], [Path(path) for path in named if path])


def _own_profile(options: GenerateOptions) -> str | None:
    """The file of a profile that is not kgeval's."""
    return None if options.profile in PROFILES else options.profile


def _check_model(session: Session, options: GenerateOptions, orders: tuple[KindOrder, ...]) -> None:
    """Raises: UsageError where kinds need a model and none is named, before anything is opened."""
    from kgeval.questions.kinds import MakingOptions

    own = MakingOptions(seed=0, template=options.template)
    needing = [order.kind.name for order in orders if "model" in order.kind.needs_of(own)]
    if needing and not session.names_model("generator"):
        with_form = [order.kind.name for order in orders if order.kind.template and order.kind.name in needing]
        raise UsageError(
            f"no model is named for the generator, and these kinds need one: {', '.join(needing)}",
            fix="give --model NAME, or name = ... in [model.generator] of kgeval.toml"
            + (f"; --template makes {', '.join(with_form)} without one" if with_form else ""),
        )


def _opened(making: _Making, held: ExitStack) -> StructureSource:
    """Opens the model first (nothing is sent), then the graph, and checks that both can do what the kinds need."""
    from kgeval.auditing.accuracy.chunks import read_chunks
    from kgeval.questions.sampling.sampler import open_sampler

    session, options = making.session, making.options
    chunks = read_chunks(options.chunks) if options.chunks else None
    for note in chunks.notes if chunks else ():
        making.note(note)
    if making.needs("model") or ((options.check or making.asking) and session.names_model("generator")):
        making.models = session.models("generator", options)
    graph, layout = session.graph, session.bound_layout()
    making.graph, making.layout = graph, layout
    making.settings = replace(making.settings, dataset=making.settings.dataset or layout.scope_value or session.graph_name)
    _check_graph(making, graph, layout, chunks=chunks is not None)
    return held.enter_context(open_sampler(graph, layout, seed=options.seed, timeout=options.timeout, chunks=chunks))


def _check_graph(making: _Making, graph: Graph, layout: Layout, *, chunks: bool) -> None:
    """Raises: UsageError, ConnectError where the graph or the server lacks what a kind cannot do without."""
    if making.needs("gds"):
        graph.need_gds()
    in_graph = bool(layout.chunk_labels and layout.chunk_text_keys)
    documents = making.needs("documents")
    lacking = [] if in_graph else documents if chunks else list(dict.fromkeys((*making.needs("chunks"), *documents)))
    if lacking:
        raise UsageError(
            f"the graph has no chunks with texts (layout {layout.name}), and these kinds need them: {', '.join(lacking)}",
            fix="leave them out; give the texts with --chunks FILE; or a layout that names the chunks: kgeval layout check",
        )
    if not in_graph and not chunks:
        making.note("the graph has no chunks: questions are made from names and descriptions alone, and have no evidence")


def _embedder(making: _Making) -> Embedder | None:
    """An embedder where a model makes questions, or where one is named for kinds that search texts; in a dry run none that would send
    something."""
    session, embedding, section = making.session, making.session.embedding, making.session.config.model.embedding
    named = bool(embedding.embedding_url or embedding.embedding_model or section.base_url)
    searching = named and any(order.kind.confirms for order in making.orders)
    if making.options.no_embeddings or not (searching or (making.models is not None and making.asking)):
        return None
    if session.dry and (embedding.embedding_url or section.base_url):
        return None
    return session.embedder


def _twins(making: _Making, embedder: Embedder | None) -> Twins:
    from kgeval.questions.duplicates import Twins, text_fingerprint

    earlier = map(text_fingerprint, making.settings.options.earlier)
    return Twins(embedder.embed if embedder is not None else None, making.options.duplicate_threshold, earlier)


def _bench(making: _Making, sampler: StructureSource, twins: Twins) -> GenerationTools:
    from kgeval.llm.asker import Live
    from kgeval.questions.generate import GenerationTools

    models, session = making.models, making.session
    if models is None:
        return GenerationTools(sampler, twins, graph=making.graph, layout=making.layout, say=session.say, progress=session.call_progress)
    return GenerationTools(
        sampler, twins, Live(models), models.map, making.graph, making.layout, models.endpoint.model, lambda: models.stopped is not None,
        session.say, session.call_progress,
    )


def _all(kept: QuestionSpool, checked: QuestionSpool | None) -> QuestionSpool:
    """The questions with their checks, if the run came to that."""
    return checked if checked is not None and checked.count == kept.count else kept


def _report(making: _Making, generation: Generation, *, code: int, complete: bool) -> GenerationReport:
    from kgeval.config import DEFAULT_FILE
    from kgeval.graph.queries import all_queries
    from kgeval.records import GenerationReport

    session, options, models = making.session, making.options, making.models
    named = [session.config_file or DEFAULT_FILE, session.layout, options.earlier, _own_profile(options), *options.chunks]
    run = session.manifest(
        options, server=making.graph.info if making.graph else None,
        inputs=[Path(name) for name in named if name and Path(name).is_file()],
        seed=options.seed, exit_code=code, asked=models.asked() if models else None,
        hashes={query.name: query.sha256 for query in all_queries().values() if query.folder == "questions"},
    )
    return GenerationReport(
        run=run, dataset=making.settings.dataset, graph=(making.layout.scope_value if making.layout else None) or session.graph_name,
        layout=making.layout.name if making.layout else None, seed=options.seed,
        profile=making.settings.options.profile.label, complete=complete,
        kinds=[tally.count() for tally in generation.tallies], notes=[*making.notes, *(models.notes if models else [])],
    )


def _write(making: _Making, kept: QuestionSpool, report: GenerationReport, out: IO[str] | None) -> tuple[Path, ...]:
    """Writes the questions, the report beside them and the sheet. Returns the files. Raises: KgevalError where some cannot
    be written, after all others were."""
    from kgeval.tables.output import keep_unsaved, replacing, write_text

    def write_questions(path: Path) -> None:
        with replacing(path) as file:
            kept.write(file)

    faults: list[KgevalError] = []
    written: list[Path] = []
    if making.output is not None:
        tried(partial(write_questions, making.output), faults)
        tried(partial(write_text, beside(making.output), report.model_dump_json(indent=1) + "\n"), faults)
        written += [making.output, beside(making.output)]
    elif out is not None:
        try:
            kept.write(out)
            out.flush()
        except BrokenPipeError:
            raise
        except OSError as cause:  # a full disk, where a shell sends them to a file
            faults.append(keep_unsaved("standard output", "questions.jsonl", kept.write, cause))
    if making.options.sheet is not None and kept.count:
        from kgeval.questions.sheet import write_sheet

        tried(partial(write_sheet, making.options.sheet, kept), faults)
        written.append(making.options.sheet)
    raise_together(faults)
    return tuple(written)


def _result(making: _Making, kept: QuestionSpool, report: GenerationReport, out: IO[str] | None) -> GenerateResult:
    from kgeval.tables.output import replacing
    from kgeval.tables.temporary import private_folder

    faults: list[KgevalError] = []
    written = tried(lambda: _write(making, kept, report, out), faults) or ()
    folder = private_folder("questions") if making.output is None and making.session.keep_rows else None
    file = folder.path / "questions.jsonl" if folder else making.output
    if folder and file:
        with replacing(file) as rows:
            kept.write(rows)
    messages = []
    if report.made < report.asked:
        more = "" if making.options.allow_fewer else "; --allow-fewer takes that"
        messages.append(f"{report.made:,} of {report.asked:,} questions were made{more}")
    if not report.complete:
        messages.append("incomplete: replies that came are in the journal; the same command goes on")
    fault = together(faults) if faults else None
    return GenerateResult(report, fault, file=file, written=written, messages=tuple(messages), _folder=folder)


def _add_checks(making: _Making, kept: QuestionSpool, done: QuestionSpool) -> None:
    """Fills `done` with all questions of `kept`, with the checks that their makers did not do; where that is broken off, the rest goes in
    as it is.

    Raises: what ends a run (ModelError, ConnectionLost, Ctrl-C).
    """
    from kgeval.questions.checking.figures import CheckTally
    from kgeval.questions.checking.run import check_questions, with_checks

    try:
        desk = _desk(making, kept)
        results = CheckTally(str(making.output or "-"), desk.checks, examples=0)
        for question, checks in check_questions(kept, desk, making.models):
            done.add_question(with_checks(question, checks))
            results.add(question, checks)
    except BaseException:
        for question in islice(kept, done.count, None):
            done.add_question(question)
        raise
    parts = []
    for figure in results.result().figures:
        of = figure.passed + figure.failed
        lost = f" ({figure.unscored:,} unscored)" if figure.unscored else ""
        if of or lost:
            parts.append(f"{figure.check} {figure.passed:,} of {of:,}{lost}")
    if parts:
        making.note(f"checks passed: {', '.join(parts)}")


def _count_checks(making: _Making, asker: Asker, kept: QuestionSpool, tallies: Iterable[KindTally]) -> None:
    """Dry run: the calls for questions that are there, by the code that makes them; for the others how many there can be."""
    from kgeval.questions.checking.run import checked, count_unknown

    desk = replace(_desk(making, kept), asker=asker)
    for question in kept:
        checked(question, desk)
    for tally in tallies:
        count_unknown(asker, tally.order.kind.name, tally.open)


def _desk(making: _Making, kept: QuestionSpool) -> CheckContext:
    from kgeval.questions.checking.check_table import chosen_checks
    from kgeval.questions.checking.path_checks import path_checks
    from kgeval.questions.checking.run import ALONE, CheckContext

    possible = chosen_checks((), model=making.models is not None, graph=making.graph is not None)
    graph, layout, timeout = making.graph, making.layout, making.options.timeout
    paths = path_checks(kept, graph, layout, timeout=timeout) if graph is not None and layout is not None else {}
    return CheckContext([name for name in possible if name in ALONE], None, graph, timeout, paths=paths, lacking=True)
