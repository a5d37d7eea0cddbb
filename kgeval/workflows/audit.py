"""The audit of a graph: what is wrong with it, what it looks like, and what its gates come to. Reads only."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import AuditOptions
from kgeval.errors import InputError, KgevalError, UsageError, did_you_mean, raise_together, together, tried
from kgeval.format import percent
from kgeval.llm.plan import Plan
from kgeval.workflows.audit_gates import GatePlan, gated, planned_gates, thresholds_in_force, write_debt
from kgeval.workflows.progress import steps_bar
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session, options_of

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.auditing.check import Embedding
    from kgeval.auditing.engine import Audit, EngineOptions
    from kgeval.auditing.gates import Limits, WrittenThreshold
    from kgeval.auditing.kept import KeptAnswers
    from kgeval.auditing.partial_scan import PartialScan
    from kgeval.auditing.report_files import JoinedReport
    from kgeval.auditing.rulebook import Rule, Setting
    from kgeval.config import Config
    from kgeval.graph.algorithms import Algorithms
    from kgeval.graph.connect import Graph
    from kgeval.graph.memory import MemoryEstimate
    from kgeval.graph.state import GraphState
    from kgeval.llm.check_store import KeptState
    from kgeval.manifest import ModelUsage
    from kgeval.records import AuditDiff, AuditReport, Finding, FindingChange, Gate, Layout, Resumed, Severity

LARGE_NODES, LARGE_RELATIONS = 1_000_000, 5_000_000
BY_PART = ("ratchet", "write_ratchet")


class AuditResult(Result):
    """What an audit came to. `report`: the record, as the JSON report has it."""

    report: AuditReport

    @property
    def findings(self) -> list[Finding]:
        """One a check, in the order of the checks: status, count, total, share, examples and the Cypher behind it."""
        return self.report.findings

    @property
    def figures(self) -> dict[str, Any]:
        """The structure figures by name; see the page of the structure figures for each."""
        return dict(self.report.structure)

    def to_pandas(self) -> pd.DataFrame:
        """A row a check: check, group, status, severity, count, total, share (0 to 1), title, examples (list of dicts)."""
        import pandas as pd

        columns = ["check", "group", "status", "severity", "count", "total", "share", "title", "examples"]
        rows = [
            [finding.rule_id, finding.group, finding.status, finding.severity, finding.count, finding.total, finding.share, finding.title,
             [example.model_dump(mode="json") for example in finding.examples]]
            for finding in self.findings
        ]
        return pd.DataFrame(rows, columns=columns)

    def show_graph(self, check: str | None = None) -> Any:
        """What lies around the first example of a check's finding, as nodes and relations to move about in a notebook: neo4j-viz, which is
        installed apart. `check` None: of the finding to look at first.

        Raises: UsageError for a check that has no picture; ConfigError where neo4j-viz is not installed.
        """
        from kgeval.overview.priorities import failed
        from kgeval.reports.pictures import colours_of, movable
        from kgeval.reports.redact import redacted

        report = redacted(self.report) if self.redact else self.report
        drawn = {one.rule_id: one.picture for one in reversed(failed(report)) if one.picture}
        name = check or next(reversed(drawn), "")
        if name not in drawn:
            there = f"those of: {', '.join(reversed(drawn))}" if drawn else "none: no check failed on things that have neighbours"
            raise UsageError(f"{check or 'this audit'} has no picture", fix=f"the audit has {there}")
        return movable(drawn[name], colours_of(drawn.values())).render()


@dataclass(frozen=True)
class AuditPlan(Plan):
    """What an audit would take: a dry run, in the words of `lines`; it asks no model."""


@dataclass(frozen=True)
class AuditRequest:
    """What an audit is asked for, read once. `options`: as they stand in the manifest, with all thresholds in force as texts. `rules`,
    `settings`, `limits`: what checks, settings (by rule id and name) and thresholds mean. `faults`: what is wrong with those, by option;
    `threshold_faults`: each of the thresholds'."""

    options: AuditOptions
    rules: list[Rule]
    settings: Mapping[str, Mapping[str, Setting]]
    limits: Limits
    faults: Mapping[str, KgevalError] = field(default_factory=dict, compare=False)
    threshold_faults: Sequence[str] = ()


@dataclass(frozen=True)
class Prepared:
    """What is asked for, checked before a connection is made. `baseline`: earlier reports to compare with; `memory_limit`: in bytes."""

    options: AuditOptions
    engine: EngineOptions
    joined: list[JoinedReport]
    gates: GatePlan
    baseline: Baseline | None = None
    memory_limit: int | None = None
    several: bool = False


def audit_request(config: Config, given: Mapping[str, Any]) -> AuditRequest:
    """What is given over `[audit]` of kgeval.toml; settings and thresholds add up, by check. Names and limits that cannot be are faults of
    the request, which `prepare` raises with all others.

    Raises: UsageError with all faults of the options' values.
    """
    section, given = config.audit, dict(given)
    flags = options_of(AuditOptions, {"thresholds": given.get("thresholds") or ()}).thresholds
    thresholds = thresholds_in_force(config, flags)
    given["thresholds"] = tuple(threshold.text for threshold in thresholds)
    given["settings"] = {**section.settings, **(given.get("settings") or {})}
    return _request(options_of(AuditOptions, given, section), thresholds)


def _request(options: AuditOptions, thresholds: Sequence[WrittenThreshold]) -> AuditRequest:
    from kgeval.auditing.gates import read_limits
    from kgeval.auditing.gates.limits import FIX
    from kgeval.auditing.rulebook import choose

    rules: list[Rule] = []
    settings: dict[str, dict[str, Setting]] = {}
    faults: dict[str, KgevalError] = {}
    try:
        rules = choose(options.checks, options.skip)
    except UsageError as fault:
        faults["checks"] = fault
    try:
        settings = read_settings(options.settings)
    except UsageError as fault:
        faults["settings"] = fault
    limits, threshold_faults = read_limits(thresholds)
    if threshold_faults:
        faults["thresholds"] = UsageError("faulty thresholds: " + "; ".join(threshold_faults), fix=FIX)
        limits = {}
    return AuditRequest(options, rules, settings, limits, faults, threshold_faults)


def names(_: Session, options: AuditOptions) -> Iterator[Callable[[], object]]:
    """The check of names in the options: of checks, of their settings, and in thresholds. Raises: UsageError with all faults."""
    from kgeval.auditing.gates import written_as_flag
    from kgeval.stats.thresholds import split

    request = _request(options, [written_as_flag(flag) for flag in split(options.thresholds)])
    yield lambda: raise_together(list(request.faults.values()))


def prepare(session: Session, request: AuditRequest, *, several: bool = False) -> Prepared:
    """The audit as it will be run. Raises: UsageError, InputError, ConfigError for whatever is wrong with options and files."""
    from kgeval.auditing.report_files import read_joined
    from kgeval.records import AuditReport, GraphsReport
    from kgeval.reports.write import check_outputs

    options, faults = request.options, list[KgevalError]()
    tried(lambda: check_outputs(session.outputs, GraphsReport if several else AuditReport), faults)
    faults += request.faults.values()
    today = datetime.now().astimezone().date()
    gates = tried(lambda: planned_gates(session, options, request.limits, today=today, several=several), faults)
    joined = tried(lambda: read_joined(options.with_reports), faults) or []
    baseline = tried(lambda: read_baseline(session, options), faults)
    memory_limit = tried(lambda: memory_limit_bytes(options), faults)
    if session.dry and several:
        faults.append(UsageError("--dry-run looks at one graph", fix="name one graph, or leave --dry-run out"))
    if options.memory_limit and session.gds_session is not None:
        what = "--memory-limit is for the database's own GDS; a session has memory of its own"
        faults.append(UsageError(what, fix="use --gds-session-memory"))
    if gates is None or faults:
        raise together(faults)
    engine = replace(engine_options(request, gates), embedding=embedding_of(session, options))
    return Prepared(options, engine, joined, gates, baseline, memory_limit, several)


def run(session: Session, request: AuditRequest) -> AuditResult:
    """The audit of one graph. `write_ratchet` is written last; if that cannot be done, the result is there all the same (`fault`).

    Raises: UsageError, InputError, ConfigError, ConnectError, LayoutError.
    """
    prepared = prepare(session, request)
    report, audit_data = audited(session, prepared, session.graph_name)
    fault = write_debt(prepared.gates, report, audit_data, session.say, redact=session.redact)
    return AuditResult(report=report, fault=fault, redact=session.redact)


def plan(session: Session, request: AuditRequest) -> AuditPlan:
    """What `run` would take: sizes by the count store, checks, memory by GDS's estimates. Reads no more.

    Raises: as `run`.
    """
    prepared = prepare(session, request)
    bound = session.bound_layout()
    memory = None if session.gds_session is None else session.gds_session.memory_told
    rules = [rule.id for rule in prepared.engine.rules]
    with _memory_limited(session.graph, prepared.memory_limit):
        return AuditPlan((), lines=tuple(dry_run_lines(session.graph, bound, request.options, rules, session=memory)), asks=False)


@contextmanager
def _memory_limited(graph: Graph, memory_limit: int | None) -> Iterator[None]:
    """The limit of this audit on the graph, which other tasks of the session share."""
    graph.memory_limit = memory_limit
    try:
        yield
    finally:
        graph.memory_limit = None


def audited(
    session: Session, prepared: Prepared, graph_name: str | None, *, bound: tuple[Layout, str | None] | None = None,
) -> tuple[AuditReport, Audit]:
    """The report of one graph, what its gates come to as its run's exit code, and what it was made from. `bound`: what
    `session.bind` gave, if that is known."""
    from kgeval.auditing.attempts import attempt
    from kgeval.auditing.check import SharedReads
    from kgeval.auditing.construction import construction
    from kgeval.auditing.engine import audit
    from kgeval.auditing.graph_reader import GraphReader
    from kgeval.auditing.kept import GOES_ON
    from kgeval.auditing.merging import UNIQUE, read_unique
    from kgeval.auditing.report_files import joined_findings, joined_warnings
    from kgeval.graph.layouts.catalogue import look_ahead
    from kgeval.profiling.engine import profile_or_note

    graph, options = session.graph, prepared.options
    with graph.remembering():
        look_ahead(graph)
        notes = size_notes(graph, session.say)
        gds = graph.info.gds is not None and not options.no_structure
        # of a large graph a second is nothing, and the memory of its checks is
        page = not notes and any(path.suffix.lower() == ".html" for path in session.outputs)
        threading.Thread(target=_load_ahead, kwargs={"gds": gds, "page": page}, name="kgeval-load", daemon=True).start()
        session.open_algorithms()
        layout, half_loaded = bound or session.bind(graph_name)
        built = construction(graph, layout)  # of what binding has read
        kept = open_kept(session, options, layout)
        profile, unknown = profile_or_note(graph, layout, seed=options.seed, timeout=options.timeout)
        declared = SharedReads()
        attempt(lambda: declared.get(UNIQUE, lambda: read_unique(GraphReader(graph, layout, options.timeout))))  # the profile has asked
    engine = replace(prepared.engine, kept=kept, profile=profile, declared=declared)
    if options.schema_file:
        from kgeval.auditing.schema import read_schema

        schema = read_schema(options.schema_file, graph)
        engine = replace(engine, schema=schema.parameters(), unanswered=schema.unanswered())
    with kept, _memory_limited(graph, prepared.memory_limit), steps_bar(len(engine.rules) + 9, show=session.show) as progress:
        audit_data = audit(graph, layout, engine, progress=progress)
        if kept.resumed() and (why := kept.outdated(graph)):  # never two states of a graph in one report
            session.say(f"warning: --resume: {why}: the audit begins anew")
            profile, unknown = profile_or_note(graph, layout, seed=options.seed, timeout=options.timeout)
            engine = replace(engine, profile=profile)
            audit_data = audit(graph, layout, engine, progress=progress)
    for warning in joined_warnings(prepared.joined, layout.scope_value or graph_name):
        session.say(f"warning: --with: {warning}")
    audit_data = replace(audit_data, findings=[*audit_data.findings, *joined_findings(prepared.joined)])
    resumed = kept.resumed()
    notes = [*resumed_notes(resumed, kept.state), *notes, *unknown]
    report = _report(session, layout, audit_data, prepared, notes, graph_name)
    told = {"resumed": resumed, "construction": built, "profile": profile and profile.without_properties()}
    report = _pictured(graph, report.model_copy(update=told), options.timeout)
    report = report.model_copy(update={"notes": [*change_notes(graph, kept.state), *report.notes]})
    if half_loaded:
        report = report.model_copy(update={"notes": [half_loaded, *report.notes]})
    report = gated(report, audit_data, engine.gates, options.fail_on, session.say, several=prepared.several, void=half_loaded)
    if audit_data.incomplete and kept.kept:
        session.say(GOES_ON)
    return compare_with_baseline(report, prepared.baseline, session.say, alone=not prepared.several, void=half_loaded), audit_data


def open_kept(session: Session, options: AuditOptions, layout: Layout) -> KeptAnswers:
    """Where the answers of an audit are kept, and with `resume` taken from. Where they cannot be kept, says so. Raises: ConfigError for a
    journal that cannot be used, with `resume`; ConnectionLost."""
    from kgeval import __version__
    from kgeval.auditing.kept import KeptAnswers, queries_digest
    from kgeval.errors import ConfigError, IncompleteError, QueryError
    from kgeval.graph.failures import ConnectionLost
    from kgeval.graph.state import read_state
    from kgeval.llm.check_store import CheckStore
    from kgeval.llm.places import journal_file

    graph = session.graph
    state: GraphState | None = None
    try:
        state = read_state(graph)
        name = f"{state.database} {layout.scope_value or ''}"
        store = CheckStore(journal_file(session.asking.journal, session.embedding.cache_dir), name, state.text())
    except ConnectionLost:
        raise
    except (ConfigError, IncompleteError, QueryError) as fault:
        if options.resume:
            raise
        session.say(f"warning: finished checks are not kept, so that --resume finds none: {fault.message}")
        return KeptAnswers(state=state)
    common = (
        __version__, queries_digest(), graph.info.neo4j, graph.info.gds, graph.info.hidden, type(graph.algorithms).__name__,
        options.memory_limit,
    )
    if options.resume:
        for text in resume_words(store.earlier, state):
            session.say(text)
    return KeptAnswers(store, common, state=state, taking=options.resume, say=session.say)


def resume_words(earlier: KeptState | None, state: GraphState) -> Iterator[str]:
    """What must be known of what `resume` finds: that it finds nothing, or that the graph is another one by now."""
    from kgeval.graph.state import read_text

    if earlier is None:
        yield "--resume: no audit of this graph is kept: all is asked"
    elif differences := state.differences(read_text(earlier.state)):
        when = datetime.fromtimestamp(earlier.since).astimezone().isoformat(" ", timespec="minutes")
        yield f"warning: --resume: the database has changed since {when} ({', '.join(differences)}): the audit begins anew"


def resumed_notes(resumed: Resumed | None, state: GraphState | None) -> list[str]:
    """What a reader must know of what was taken over."""
    if resumed is None:
        return []
    unmarked = state is not None and state.transaction is None
    sure = "by its counts and a sample of its nodes, for the server does not tell its last transaction" if unmarked else (
        "by its last transaction, its counts and a sample of its nodes"
    )
    number = f"{len(resumed.checks)} checks and {len(resumed.figures)} figures"
    return [f"resumed: {number} were answered from {resumed.since} on by an earlier audit; the database is the same, {sure}"]


def change_notes(graph: Graph, before: GraphState | None) -> list[str]:
    """What a reader must know where somebody wrote to the database while it was audited: figures of one report are then of several of its
    states."""
    from kgeval.errors import QueryError
    from kgeval.graph.state import read_change

    if before is None:
        return []
    try:
        now = read_change(graph, before)
    except QueryError as fault:
        return [f"whether somebody wrote to the database during the audit is not known: {fault.message}"]
    if now is None:
        return []
    counts = (before.nodes, before.relations), (now.nodes, now.relations)
    moved = "as many nodes and relations as before" if counts[0] == counts[1] else (
        f"{before.nodes:,} nodes and {before.relations:,} relations at its beginning, {now.nodes:,} and {now.relations:,} at its end"
    )
    return [f"somebody wrote to the database during the audit: {moved}; figures and totals of this report may be of different moments"]


def _load_ahead(*, gds: bool, page: bool) -> None:
    """Loads in the background what algorithms and the page will need, while the server is what one waits for."""
    with suppress(Exception):  # whoever needs it says so
        if gds:
            import graphdatascience  # noqa: F401
        if page:
            from kgeval.reports import page as pages

            pages.load()


def _pictured(graph: Graph, report: AuditReport, timeout: float) -> AuditReport:
    """The report with pictures of the findings to look at first."""
    from kgeval.auditing.pictures import pictures
    from kgeval.overview.priorities import failed

    drawn = pictures(graph, report.layout, failed(report), timeout=timeout)
    findings = [one.model_copy(update={"picture": drawn[id(one)]}) if id(one) in drawn else one for one in report.findings]
    return report.model_copy(update={"findings": findings})


def _report(
    session: Session, layout: Layout, found: Audit, prepared: Prepared, notes: list[str], graph_name: str | None,
) -> AuditReport:
    from kgeval.graph.queries import all_queries
    from kgeval.graph.server_info import view_notes
    from kgeval.records import AuditReport

    graph = session.graph
    answered_checks = {f.rule_id for f in found.findings if f.status != "skipped"}
    ran = {q.name for q in all_queries().values() if q.name in answered_checks or q.folder in ("probe", "project")}
    manifest = session.manifest(
        prepared.options, server=graph.info, hashes={name: all_queries()[name].sha256 for name in ran},
        inputs=inputs_of(session, prepared.options), seed=prepared.options.seed, asked=models_of(prepared.engine.embedding),
    )
    return AuditReport(
        graph=layout.scope_value or graph_name, run=manifest, layout=layout, reading=found.reading,
        structure=found.structure.numbers, structure_skipped=found.structure.skipped, findings=found.findings,
        community_map=found.structure.community_map,
        notes=[*view_notes(graph.info), *gds_session_notes(graph.algorithms), *notes, *part_notes(prepared.engine.part)],
    )


def inputs_of(session: Session, options: AuditOptions) -> list[Path]:
    """The files that shaped the run: configuration, layout, schema, corpus, reports that joined."""
    from kgeval.config import DEFAULT_FILE

    named = [session.config_file or DEFAULT_FILE, session.layout, options.schema_file, options.corpus]
    return [Path(name) for name in (*named, *options.with_reports, options.baseline) if name and Path(name).is_file()]


def engine_options(request: AuditRequest, gates: GatePlan) -> EngineOptions:
    """The engine's options; every fault is raised before a connection is made."""
    from kgeval.auditing.engine import EngineOptions
    from kgeval.auditing.structure import StructureOptions

    options = request.options
    corpus = texts(options.corpus) if options.corpus else None
    structure = StructureOptions(timeout=options.timeout, community_seed=options.seed, corpus=corpus)
    return EngineOptions(
        rules=request.rules, examples=options.examples, timeout=options.timeout, gates=gates.gates, part=part_of(options),
        settings=request.settings, concurrent_queries=options.concurrent_queries, structure=None if options.no_structure else structure,
    )


def embedding_of(session: Session, options: AuditOptions) -> Embedding | None:
    """What makes the vectors; None without `embed`. The model is loaded and tried here, so that a wrong one is told at once.

    Raises: UsageError for a model that is chosen without `embed`; ModelError for a model or endpoint that cannot be used.
    """
    from kgeval.auditing.check import Embedding

    chosen = session.embedding
    if not options.embed:
        names = ("embedding_model", "embedding_url", "embedding_device")
        if flags := [f"--{name.replace('_', '-')}" for name in names if getattr(chosen, name)]:
            raise UsageError(f"{', '.join(flags)} without --embed", fix="add --embed, or --embed-anew where the graph has embeddings")
        return None
    if not session.dry:
        session.embedder.fresh("ready")
    return Embedding(session.embedder, anew=options.embed == "anew", cache_dir=chosen.cache_dir, say=session.say)


def models_of(embedding: Embedding | None) -> ModelUsage | None:
    """The embedding model, for the manifest; None where none was used."""
    from kgeval.manifest import ModelUsage
    from kgeval.records import ModelRef

    if embedding is None:
        return None
    embedder = embedding.embedder
    return ModelUsage(models=[ModelRef(role="embedding", name=embedder.name, base_url=embedder.base_url)])


def gds_session_notes(where: Algorithms | None) -> list[str]:
    """What a reader must know of where the algorithms ran. `where`: as Graph.algorithms."""
    from kgeval.graph.aura.session import AuraSession

    if not isinstance(where, AuraSession):
        return []
    if not where.used:
        return ["a session of Aura Graph Analytics was asked for; none was used"]
    return ["the graph algorithms ran in a session of Aura Graph Analytics, not in the database"]


def part_of(options: AuditOptions) -> PartialScan:
    """What the checks of strings look at. Raises: UsageError beside a ratchet, which counts single hits."""
    from kgeval.auditing.partial_scan import PartialScan

    share = options.sample_share or 1.0
    if share < 1 and (named := [name for name in BY_PART if getattr(options, name)]):
        flags = ", ".join("--" + name.replace("_", "-") for name in named)
        raise UsageError(f"--sample-share does not go with {flags}, which counts single hits", fix="leave one of them out")
    return PartialScan(share, options.seed)


def memory_limit_bytes(options: AuditOptions) -> int | None:
    """The bytes of `memory_limit`; None without it. Raises: UsageError."""
    from kgeval.graph.memory import size_of

    return size_of(options.memory_limit) if options.memory_limit else None


def size_notes(graph: Graph, say: Callable[[str], None]) -> list[str]:
    """Says that a database is large, before it is read; the same for the report. Of plain counts, which Neo4j answers from
    its count store where it gives that away."""
    from kgeval.graph.queries import all_queries

    held = graph.read(all_queries()["layout-tokens"])[0]
    if held["nodes"] <= LARGE_NODES and held["relations"] <= LARGE_RELATIONS:
        return []
    note = f"a large database: {held['nodes']:,} nodes, {held['relations']:,} relations"
    say(
        f"warning: {note}; an audit reads all of it. --dry-run says what it will take; --sample-share 0.1, --memory-limit, --timeout, "
        "--skip and --no-structure make it lighter",
    )
    return [note]


def part_notes(part: PartialScan) -> list[str]:
    """What a reader must know where checks looked at a part."""
    if part.whole:
        return []
    return [
        f"the checks of names and texts looked at {part.sample_share:.3g} of the things, picked by their ids (seed {part.sample_seed}): "
        "their shares are estimates with an interval, and a rare fault may be missed; all other checks read everything"
    ]


def dry_run_lines(
    graph: Graph, layout: Layout, options: AuditOptions, rules: list[str], *, session: str | None = None,
) -> Iterator[str]:
    """The lines of --dry-run: sizes by the count store where that is possible, memory by GDS's estimates, checks that are asked for.
    `session`: where the algorithms run in one, its memory in words."""
    from kgeval.graph.algorithms import missing
    from kgeval.graph.layouts import catalogue
    from kgeval.graph.memory import estimate

    held = catalogue(graph)
    entities = min(held.nodes, sum(held.labels.get(label, 0) for label in layout.entity_labels))
    relations = sum(held.types.get(name, 0) for name in layout.relation_types)
    source = "by the count store" if held.source == "count store" else "counted: this server does not give its count store away"
    yield f"database    {held.nodes:,} nodes, {held.relations:,} relations ({source})"
    scope = f", of all graphs here, not only of {layout.scope_value}" if layout.scope_value else ""
    yield f"graph       layout {layout.name}: at most {entities:,} entities, {relations:,} relations{scope}"
    most = f"at most {options.timeout:g} s each"
    yield f"checks      {len(rules)} asked for (kgeval doctor says which can run), {most}: {', '.join(rules)}"
    if options.no_structure:
        yield "algorithms  none for figures (--no-structure)"
    elif session is not None:
        yield f"algorithms  in a session of Aura Graph Analytics with {session}; nothing was asked of Aura"
    elif reason := missing(graph):
        yield f"algorithms  none: {reason}"
    else:
        yield from _memory(estimate(graph, entities, relations))


def _memory(found: MemoryEstimate) -> Iterator[str]:
    from kgeval.graph.memory import PROJECTION, amount

    if not found.steps:
        yield "algorithms  what memory they take cannot be told here"
        return
    parts = ", ".join(f"{step} {amount(found.needed(step))}" for step in sorted(found.steps, key=found.needed) if step != PROJECTION)
    yield f"algorithms  up to {amount(found.peak)} of the server's heap: projection {amount(found.steps[PROJECTION])}; with it {parts}"
    for step in found.steps:
        if refusal := found.refusal(step):
            yield f"            {step}: {refusal}: will be skipped"


KINDS = {bool: "yes or no", int: "whole number", float: "finite number", str: "text"}


def read_settings(given: Mapping[str, Setting]) -> dict[str, dict[str, Setting]]:
    """The settings by rule id and name, each in the type of its default. `given`: by `ID.NAME`. Raises: UsageError with all faults."""
    from kgeval.auditing.rulebook import load_rules

    settings: dict[str, dict[str, Setting]] = {}
    faults = []
    for name, value in given.items():
        rule_id, _, setting = name.strip().partition(".")
        rule = load_rules().get(rule_id)
        if rule is None or setting not in rule.settings:
            setting_names = [f"{rule.id}.{setting_name}" for rule in load_rules().values() for setting_name in rule.settings]
            faults.append(f"'{name}' is no setting{did_you_mean(name, setting_names)}")
            continue
        kind = type(rule.settings[setting])
        try:
            settings.setdefault(rule_id, {})[setting] = _setting(kind, value)
        except ValueError:
            faults.append(f"'{name}={value}' is no {KINDS[kind]}")
    if faults:
        raise UsageError("faulty settings: " + "; ".join(faults), fix="kgeval checks show ID lists a check's settings")
    return settings


def _setting(kind: type, value: Setting) -> Setting:
    """The value in the setting's type. Raises: ValueError."""
    if kind is str:
        return str(value)
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
        if (word := str(value).strip().casefold()) not in words:
            raise ValueError(value)
        return words[word]
    if isinstance(value, bool) or (kind is int and isinstance(value, float)):
        raise ValueError(value)
    number: int | float = kind(value)
    # Cypher has 64-bit integers; what is near their end would overflow in a sum
    if not (math.isfinite(number) and abs(number) < 2**62):
        raise ValueError(value)
    return number


def texts(path: Path) -> list[str]:
    """The texts of a file, or of all .txt and .md files of a folder."""
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".txt", ".md"))
    if not files:
        raise InputError(f"{path}: no .txt or .md files", fix="give a text file, or a folder that holds some")
    try:
        return [file.read_text(encoding="utf-8") for file in files]
    except (UnicodeDecodeError, OSError) as cause:
        raise InputError(f"{path}: {cause}", fix="the corpus must be text in UTF-8") from cause


@dataclass(frozen=True)
class Baseline:
    """The earlier reports that an audit is held against, by their file, and the gate on what became worse."""

    path: Path
    reports: Sequence[AuditReport]
    fail_on_worse: Severity | None

    def of(self, graph: str | None, *, alone: bool) -> AuditReport | None:
        """The report of the graph. The only one of the file stands for any graph if just one is audited (`alone`)."""
        if alone and len(self.reports) == 1:
            return self.reports[0]
        return next((report for report in self.reports if report.graph == graph), None)


def read_baseline(session: Session, options: AuditOptions) -> Baseline | None:
    """The baseline that is asked for. Raises: UsageError, InputError, before anything is run."""
    from kgeval.auditing.report_files import read_audits
    from kgeval.reports.write import check_replaced

    path = options.baseline
    if path is None:
        if options.fail_on_worse:
            raise UsageError("--fail-on-worse needs an earlier report to compare with", fix="give it with --baseline REPORT.json")
        return None
    check_replaced(session.outputs, [path])
    return Baseline(path, read_audits(path), options.fail_on_worse)


def compare_with_baseline(
    report: AuditReport, baseline: Baseline | None, say: Callable[[str], None], *, alone: bool = True, void: str | None = None,
) -> AuditReport:
    """The report with its diff against the baseline, its notes, and what the gate on it comes to.

    `alone`: it is the only graph that is audited. `void`: why the gate has no answer, whatever the diff says.
    """
    from kgeval.auditing.diff import diff as compared
    from kgeval.auditing.identity import called

    if baseline is None:
        return report
    then = baseline.of(report.graph, alone=alone)
    if then is None:
        note = f"{baseline.path} holds no audit of {called(report.graph)}: nothing to compare with"
        say(f"warning: --baseline: {note}")
        gates = [*report.gates, *_row(baseline.fail_on_worse, None, note)]
        return _with_code(report, 3 if baseline.fail_on_worse else 0, notes=[*report.notes, note], gates=gates)
    changes = compared(then, report, names=(str(baseline.path), "this audit"), fail_on_worse=baseline.fail_on_worse)
    warn_of_another(then, report, f"--baseline: {baseline.path} is an audit of", "this one of", say)
    if void and baseline.fail_on_worse:
        return _with_code(report, 3, diff=changes, gates=[*report.gates, *_row(baseline.fail_on_worse, None, void)])
    code = worse_gate(changes, say)
    return _with_code(report, code, diff=changes, gates=[*report.gates, *_row(baseline.fail_on_worse, code, "checks cannot be compared")])


def warn_of_another(then: AuditReport, report: AuditReport, one: str, other: str, say: Callable[[str], None]) -> None:
    """Says that two audits that are compared are of different graphs."""
    from kgeval.auditing.identity import called

    if then.graph != report.graph:
        say(f"warning: {one} {called(then.graph)}, {other} {called(report.graph)}")


def _row(limit: Severity | None, code: int | None, reason: str) -> list[Gate]:
    """--fail-on-worse as a row among the audit's gates; none where it was not asked for. `code`: what it came to; None: no answer."""
    from kgeval.records import Gate

    if limit is None:
        return []
    met = {0: True, 1: False}.get(-1 if code is None else code)
    wording = f"no check of severity {limit} or above is worse than in the baseline"
    return [Gate(name="baseline", limit=wording, met=met, reason=reason if met is None else None)]


def _with_code(report: AuditReport, code: int, **update: object) -> AuditReport:
    run = report.run.model_copy(update={"exit_code": worst((report.run.exit_code, code))})
    return report.model_copy(update={"run": run, **update})


def worst(codes: Sequence[int]) -> int:
    """The exit code of several results: what is incomplete stands above a gate that failed."""
    return next((code for code in (130, 2, 3, 1) if code in codes), 0)


def worse_gate(made: AuditDiff, say: Callable[[str], None]) -> int:
    """What --fail-on-worse comes to: 3 if a check or a graph has no answer, 1 if a check is worse, else 0. Says which."""
    from kgeval.auditing.diff import silent, unanswered_at, worse_at

    if made.fail_on_worse is None:
        return 0
    lost, bad = unanswered_at(made, made.fail_on_worse), worse_at(made, made.fail_on_worse)
    for change in bad:
        say(f"worse than before: {change.rule_id} ({_amounts(change)})")
    for change in lost:
        say(f"gate not answered: {change.rule_id}: {change.reason}")
    alone = silent(made, made.fail_on_worse)
    for text in alone:
        say(f"gate not answered: {text}")
    return 3 if lost or alone else 1 if bad else 0


def _amounts(one: FindingChange) -> str:
    was = _amount(one.count_before, one.share_before)
    return f"{was} before, {_amount(one.count_after, one.share_after)} now"


def _amount(count: int | None, share: float | None) -> str:
    if count is None:
        return "no answer"
    return f"{count:,} {'hit' if count == 1 else 'hits'}" + (f" ({percent(share)})" if share is not None else "")
