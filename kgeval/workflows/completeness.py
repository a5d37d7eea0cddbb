"""Completeness: what a graph lacks of a gold set, of an extractor's graph of the same documents, and of gold sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kgeval.config import BuildOptions, CompletenessOptions
from kgeval.format import first_lines
from kgeval.llm.plan import Plan
from kgeval.workflows.build import extractor_of
from kgeval.workflows.progress import shows_progress
from kgeval.workflows.result import Result, exit_code
from kgeval.workflows.session import Session, refuse

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.auditing.completeness.fact_files import GoldFacts
    from kgeval.auditing.completeness.facts import FactOptions
    from kgeval.auditing.completeness.gold import Gold
    from kgeval.auditing.completeness.ideal import Ideal
    from kgeval.llm.plan import PlannedStage
    from kgeval.llm.session import Models
    from kgeval.manifest import ModelUsage
    from kgeval.records import CompletenessReport, FactRetention, Gate, Layout, Proportion
    from kgeval.stats.thresholds import Threshold
    from kgeval.text.extract.mentions import Extractor

FACTS = "fact_retention"
FIGURES = (
    "entity_coverage", "relation_completeness", "relation_completeness_directed", "relation_completeness_with_predicate", "relation_pairs",
    FACTS,
)
UNMATCHED = "no document of the gold set could be matched with the graph's; --whole-graph takes the figures"
SHOWN_FAULTS = 5
MOST_TOKENS = 12_000  # of a fact and 200 relations, generously


@dataclass(frozen=True)
class CompletenessResult(Result):
    """What a graph lacks. `report`: a CompletenessReport."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a gold item, first those that the graph has: kind, name, level (None: missing), and what stands for it."""
        import pandas as pd

        return pd.DataFrame([item.model_dump(mode="json") for item in (*self.report.matched, *self.report.missing)])


@dataclass(frozen=True)
class CompletenessPlan(Plan):
    """What a measurement would ask of models. `lines`: what asks none."""


@dataclass(frozen=True)
class _Measuring:
    """One measurement: what was read and opened before the graph. `gold`: of the files; `extractor`: makes the gold set of --ideal, and is
    called `made_by`. `models`: all that are asked."""

    session: Session
    options: CompletenessOptions
    thresholds: Sequence[Threshold]
    gold: Gold
    control: Gold | None
    facts: GoldFacts | None
    judge: Models | None
    extractor: Extractor | None = None
    made_by: str = ""
    models: tuple[Models, ...] = ()


def plan(session: Session, options: CompletenessOptions) -> CompletenessPlan:
    """What `run` would ask of models. Nothing is sent; the graph is read for --facts alone. Raises: as `run`."""
    from kgeval.building.state import Cutting, sources_of
    from kgeval.text.documents import read_documents
    from kgeval.text.extract.model import ModelExtractor

    measuring = _opened(session, options)
    stages: list[PlannedStage] = []
    lines = [] if options.ideal or measuring.facts else ["--gold asks no judge"]
    if measuring.extractor is not None:
        documents = read_documents(options.ideal, follow_symlinks=options.follow_symlinks).documents
        sources = [source for document in documents for source in sources_of(document, Cutting())]
        if isinstance(measuring.extractor, ModelExtractor):
            stages += measuring.extractor.plan(sources)
        else:
            lines = [f"{len(sources)} chunks; {measuring.extractor.name} asks no model"]
    if measuring.facts is not None and measuring.judge is not None:
        stages.append(_facts_planned(measuring, measuring.facts, measuring.judge))
    if not stages:
        lines.append("dry run: nothing was sent")
    return CompletenessPlan(tuple(stages), session.limits, lines=tuple(lines), asks=bool(stages))


def run(session: Session, options: CompletenessOptions) -> CompletenessResult:
    """The session's graph held against gold items, an extractor's graph and gold sentences, whichever the options name.

    What can fail at once (options, files, connection) is tried before anything that takes long or costs money.
    Raises: UsageError, InputError, ConnectError, LayoutError, QueryError, ModelError, IncompleteError.
    """
    from kgeval.auditing.completeness.run import measure
    from kgeval.graph.server_info import view_notes

    measuring = _opened(session, options)
    graph, layout = session.graph, session.bound_layout()
    try:
        ideal = _ideal(measuring)
        gold = _of_documents(session, ideal.gold, options) if ideal else measuring.gold
        report = measure(
            graph, layout, gold, options, embedder=session.embedder if "embedding" in options.levels else None, control=measuring.control,
            progress=(lambda stage: session.say(f"{stage} ...")) if shows_progress(session.show) else (lambda stage: None),
        )
        facts = _facts_judged(measuring, layout)
    except KeyboardInterrupt:
        if measuring.models:
            session.say("finished calls are in the journal: the same command goes on, and pays none of them twice")
        raise
    notes = [*view_notes(graph.info), *report.notes]
    report = report.model_copy(update={"facts": facts, "ideal": ideal.record if ideal else None, "notes": notes})
    gates = list(_answered(report, measuring.thresholds))
    manifest = session.manifest(
        options, server=graph.info, hashes=report.run.query_hashes, asked=_together([models.asked() for models in measuring.models]),
        inputs=[path for read in (gold, measuring.control, measuring.facts) if read for path in read.inputs],
        exit_code=exit_code(gates, incomplete=any(models.exit_code for models in measuring.models)),
    )
    return CompletenessResult(report.model_copy(update={"run": manifest, "gates": gates}), redact=session.redact)


def _opened(session: Session, options: CompletenessOptions) -> _Measuring:
    """Everything that can be checked, read and opened before the graph. An extractor's documents are read after it."""
    from kgeval.auditing.completeness.fact_files import read_facts
    from kgeval.auditing.completeness.gold import GoldItems, distinct
    from kgeval.auditing.completeness.gold_files import read_gold
    from kgeval.records import CompletenessReport
    from kgeval.reports.write import check_outputs
    from kgeval.text.extract.model import ModelExtractor

    thresholds = parse_gates(options.thresholds)
    _check(options)
    read = [*options.gold, *options.ideal, options.facts, options.control, options.triples, options.ideal_labels]
    check_outputs(session.outputs, CompletenessReport, read=read)
    control = read_gold([options.control]) if options.control else None
    if control:
        _say_faults(session, control, options.examples)
    facts = read_facts([options.facts]) if options.facts else None
    for fault in facts.faults[:SHOWN_FAULTS] if facts else ():
        session.say(f"warning: --facts: {fault}")
    judge = session.models("judge", options) if facts else None
    gold = _of_documents(session, read_gold(options.gold), options) if options.gold else distinct(GoldItems())
    measuring = _Measuring(session, options, thresholds, gold, control, facts, judge, models=(judge,) if judge else ())
    if not options.ideal:
        return measuring
    if options.ideal_extractor == "model":
        models = session.models("extractor", options)
        return replace(measuring, extractor=ModelExtractor(models), made_by=models.endpoint.model, models=(*measuring.models, models))
    made_by = {
        "rules": "kgeval's rules extractor", "spacy": f"spaCy {options.spacy_model}",
        "triples-file": f"the triples of {options.triples.name}" if options.triples else "",
    }[options.ideal_extractor]
    build = BuildOptions(extractor=options.ideal_extractor, spacy_model=options.spacy_model, triples=options.triples)
    return replace(measuring, extractor=extractor_of(session, build), made_by=made_by)


def _check(options: CompletenessOptions) -> None:
    """Raises: UsageError with all options that do not fit together."""
    faults = []
    if options.gold and options.ideal:
        faults.append(("--gold and --ideal are two gold sets", "measure them one after the other"))
    if not options.gold and not options.ideal:
        if not options.facts:
            faults.append(("nothing to hold the graph against", "give --gold FILE, --ideal DOCS or --facts FILE"))
        elif options.documents:
            faults.append(("--filter-document chooses among the gold of --gold or --ideal", "leave --filter-document out"))
    wrong = []
    if not options.ideal and (options.ideal_export or options.ideal_labels):
        wrong.append("--ideal-export and --ideal-labels belong to --ideal DOCS")
    if options.ideal_sample and not options.ideal_export:
        wrong.append("--ideal-sample says how many items --ideal-export writes; give that file too")
    if options.ideal_export and options.ideal_labels:
        wrong.append("--ideal-export writes an empty sheet, --ideal-labels reads a labelled one: one after the other")
    if options.ideal_export and options.ideal_export.exists():
        wrong.append(f"--ideal-export {options.ideal_export}: is there already, and may hold labels; choose another name")
    if (options.ideal_extractor == "triples-file") != bool(options.triples):
        wrong.append("--ideal-extractor triples-file and --triples FILE belong together")
    faults += [(fault, "kgeval completeness --help lists the options") for fault in wrong]
    refuse(faults)


def _of_documents(session: Session, gold: Gold, options: CompletenessOptions) -> Gold:
    """The gold of the documents that are wanted; its broken items are told."""
    from kgeval.auditing.completeness.gold import only_documents

    chosen = only_documents(gold, options.documents) if options.documents else gold
    _say_faults(session, chosen, options.examples)
    return chosen


def _ideal(measuring: _Measuring) -> Ideal | None:
    """The extractor's graph of the documents of --ideal, after a sheet of it was written or read back; None without --ideal."""
    from kgeval.auditing.completeness.ideal import ideal_gold
    from kgeval.auditing.completeness.ideal_sheet import checked, sampled, write_sheet
    from kgeval.text.documents import read_documents

    session, options = measuring.session, measuring.options
    if measuring.extractor is None:
        return None
    read = read_documents(options.ideal, follow_symlinks=options.follow_symlinks)
    for fault in read.faults[:SHOWN_FAULTS]:
        session.say(f"warning: {fault}")
    for note in read.notes:
        session.say(f"note: {note}")
    ideal = ideal_gold(read.documents, measuring.extractor, made_by=measuring.made_by, faults=read.faults)
    ideal = replace(ideal, gold=replace(ideal.gold, inputs=tuple(read.inputs)))
    if options.ideal_labels:
        return checked(ideal, options.ideal_labels)
    if options.ideal_export:
        items = sampled(ideal, options.ideal_sample or 100)
        write_sheet(options.ideal_export, items)
        session.say(f"wrote {options.ideal_export}: {len(items)} items to label; give it back with --ideal-labels")
        return replace(ideal, record=ideal.record.model_copy(update={"sampled": len(items)}))
    return ideal


def _facts_judged(measuring: _Measuring, layout: Layout) -> FactRetention | None:
    """Which of the sentences follow from the graph; None without --facts."""
    from kgeval.auditing.completeness.facts import fact_retention

    session, facts, judge = measuring.session, measuring.facts, measuring.judge
    if facts is None or judge is None:
        return None
    retention = fact_retention(session.graph, layout, facts.facts, judge, session.embedder, options=_fact_options(measuring.options))
    return retention.model_copy(update={"notes": [*retention.notes, *(f"--facts: {fault}" for fault in facts.faults), *judge.notes]})


def _facts_planned(measuring: _Measuring, facts: GoldFacts, judge: Models) -> PlannedStage:
    """What judging would cost; asks the judge nothing. What embeds behind an address is not asked either: then these are bounds."""
    from kgeval.auditing.completeness.facts import PROMPT, fact_tasks

    session, prompt = measuring.session, judge.prompt(PROMPT)
    graph, layout = session.graph, session.bound_layout()
    if session.embedding.embedding_url or session.config.model.embedding.base_url:
        return judge.bound(prompt, calls=(0, len(facts.facts)), slot_tokens=(0, MOST_TOKENS))
    return judge.plan(fact_tasks(graph, layout, facts.facts, prompt, session.embedder, options=_fact_options(measuring.options)))


def _fact_options(options: CompletenessOptions) -> FactOptions:
    from kgeval.auditing.completeness.facts import FactOptions

    return FactOptions(top_k=options.top_k, hops=options.hops, timeout=options.timeout)


def _together(parts: Sequence[ModelUsage]) -> ModelUsage:
    """What several sessions asked, as one."""
    from kgeval.manifest import ModelUsage

    return ModelUsage(
        [model for part in parts for model in part.models], [use for part in parts for use in part.use],
        {name: prompt for part in parts for name, prompt in part.prompt_hashes.items()},
    )


def names(_: Session, options: CompletenessOptions) -> Iterator[Callable[[], object]]:
    """Checks of what options name or ask for together, before anything is read. Each raises: UsageError with its faults."""
    yield lambda: parse_gates(options.thresholds)
    yield lambda: _check(options)


def parse_gates(given: Sequence[str]) -> list[Threshold]:
    """`ID>=0.7`, `ID=0.7`, `ID<=0.7` or `ID@LEVEL>=0.7`; without a level the verdict's is meant. Raises: UsageError with all faults."""
    from kgeval.records import LEVELS
    from kgeval.stats.thresholds import parse_thresholds

    def faults(threshold: Threshold) -> list[str]:
        is_known = threshold.of is None and threshold.name in FIGURES and (threshold.at is None or threshold.at in LEVELS)
        return [] if is_known else ["no such figure or level"]

    fix = f"write ID>=SHARE, ID<=SHARE or ID=SHARE (at least); figures: {', '.join(FIGURES)}; levels: {', '.join(LEVELS)}"
    return parse_thresholds(given, faults, fix=fix)


def _answered(report: CompletenessReport, thresholds: Iterable[Threshold]) -> Iterator[Gate]:
    """The thresholds, each met, missed or without an answer."""
    for threshold in thresholds:
        resolved, figure = threshold.resolved("higher"), _figure(report, threshold.name, threshold.at)
        if report.scope == "unmatched" and threshold.name != FACTS:
            yield resolved.gate(None, None, reason=UNMATCHED)
        elif figure is None or figure.share is None:
            yield resolved.gate(None, None, reason="there is no such figure here")
        else:
            yield resolved.gate(figure.share, resolved.met(figure.share))


def _figure(report: CompletenessReport, figure: str, level: str | None) -> Proportion | None:
    if figure == FACTS:
        return report.facts.retention if report.facts else None
    name: Any = level or report.verdict_level
    coverage = report.levels.get(name)
    value: Proportion | None = getattr(coverage, figure) if coverage else None
    return value


def _say_faults(session: Session, gold: Gold, limit: int) -> None:
    if not gold.faults:
        return
    session.say(f"warning: {len(gold.faults)} broken gold items are passed over (all are in the report):")
    for line in first_lines(gold.faults, limit or len(gold.faults)):
        session.say(f"  {line}")
