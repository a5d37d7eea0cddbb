"""Runs checks and structure figures over a graph: layout in, AuditReport out. A failing check never ends the run."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import JsonValue

from kgeval.auditing.asked_labels import as_in, asked_layout, telling_properties, why_not_asked, without_technical
from kgeval.auditing.attempts import PartFailure, PartResult, attempt
from kgeval.auditing.causes import EVERY, Causes, Explained
from kgeval.auditing.check import CheckOutcome, CheckRun, CheckSettings, Embedding, SharedReads
from kgeval.auditing.gates import CheckJudgement, Gates, judged
from kgeval.auditing.gates.limits import limits_text
from kgeval.auditing.graph_reader import GraphReader
from kgeval.auditing.kept import KeptAnswers
from kgeval.auditing.malloc import trim_heap, tune_malloc
from kgeval.auditing.merging import UNIQUE, RepairEvidence, read_entities, read_unique
from kgeval.auditing.partial_scan import PartialScan
from kgeval.auditing.repair import MERGE, is_extracted, query_lists, reads_evidence, repair_for, why_not_offered
from kgeval.auditing.roles import HIDDEN, Missing, missing_roles, read_share
from kgeval.auditing.rulebook import Rule, Setting, load_rules, words_of
from kgeval.auditing.structure import ServerState, StructureFigures, StructureOptions, StructureParts, counting
from kgeval.auditing.tasks import CLIENT, GDS, Task, run_tasks
from kgeval.graph.binding import query_of_graph
from kgeval.graph.connect import Graph
from kgeval.graph.pace import working_time
from kgeval.graph.queries import all_queries
from kgeval.graph.views import sharing
from kgeval.profiling.record import GraphProfile
from kgeval.records import Example, Finding, Layout, Reading, Repair

# `$sample` of a query must be a number: this one means all
ALL = 1_000_000_000
# Checks that read the same, and for whom: they run one behind the other, so that nothing else's arrays lie beside what was read.
SAME_READS = {
    "type-conflict": "duplicate-name", "name-not-in-source": "ends-not-in-source", "name-in-other-language": "ends-not-in-source",
    "wrongly-cited-chunk": "ends-not-in-source",
}
LISTED = 10_000  # hits that are looked at one by one, whatever is shown: by type, against waivers and ratchet
SMALL = 20_000  # entities, relations and chunks, below which a query takes less than the way to a server that is far away
Progress = Callable[[str, str], None]
SettingsByRule = Mapping[str, Mapping[str, Setting]]


@dataclass(frozen=True)
class EngineOptions:
    """What to run and how. `timeout`: seconds a query. `examples`: of a finding, 0 = all. `gates`: limits, waivers, ratchet. `settings`: by
    rule id and name, where they are no defaults.

    `schema`: the `$schema` map of the schema checks; `unanswered`: why this schema cannot answer a check, by rule id.
    `embedding`: what makes vectors where checks need them and the graph has none. `shared`: what checks of this audit have just read;
    `declared`: what is known of the database's constraints; `causes`: what its checks have found that explains hits of others.
    `concurrent_queries`: parts that run at once, each in a session of its own with the server. `kept`: where answers are kept, and taken
    from. `profile`: what the graph is, if that is known: by it a check is asked of some labels only, and graver or less grave.
    """

    rules: list[Rule]
    examples: int = 5
    timeout: float = 120.0
    gates: Gates = field(default_factory=Gates)
    part: PartialScan = field(default_factory=PartialScan)
    settings: SettingsByRule = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    embedding: Embedding | None = None
    unanswered: Mapping[str, str] = field(default_factory=dict)
    structure: StructureOptions | None = field(default_factory=StructureOptions)
    shared: SharedReads = field(default_factory=SharedReads)
    causes: Causes = field(default_factory=Causes)
    declared: SharedReads = field(default_factory=SharedReads)
    concurrent_queries: int = 1
    kept: KeptAnswers = field(default_factory=KeptAnswers)
    profile: GraphProfile | None = None

    @property
    def telling(self) -> Mapping[str, Sequence[str]]:
        """By relation type the properties that tell two relations of one pair apart."""
        return telling_properties(self.profile)


@dataclass(frozen=True)
class Audit:
    """What an audit found. `judged`: by rule id what became of the hits, without their examples. `reading`: how much of the graph it
    looked at; None where that could not be counted in time."""

    structure: StructureFigures
    findings: list[Finding]
    reading: Reading | None = None
    judged: Mapping[str, CheckJudgement] = field(default_factory=dict)

    @property
    def incomplete(self) -> bool:
        """True if a check or a figure timed out or failed."""
        return self.structure.incomplete or any(f.status in ("incomplete", "error") for f in self.findings)


def audit(graph: Graph, layout: Layout, options: EngineOptions, *, progress: Progress = lambda kind, name: None) -> Audit:
    """Structure figures and one finding a rule, in the rules' order. The layout must be bound (layouts.bind).

    The graph is projected once for all of them.
    """
    # the same options may audit several graphs
    rules = [as_in(rule, options.profile) for rule in options.rules]
    options = replace(options, shared=SharedReads(), declared=options.declared.copy(), causes=Causes(), rules=rules)
    layout = without_technical(layout, options.profile)
    # before the first large array: what is taken already stays where it is
    tune_malloc()
    with sharing(graph):
        run = _AuditRun(graph, layout, options, progress)
        run_tasks(run.causes(), 1, ending=run.end)
        run_tasks(run.tasks(), options.concurrent_queries, ending=run.end)
        return run.audit()


class _AuditRun:
    """One audit: its tasks, and what they found."""

    def __init__(self, graph: Graph, layout: Layout, options: EngineOptions, progress: Progress) -> None:
        """Counts what many parts must know, so that they do not count it each for itself."""
        self.graph, self.layout, self.options, self.progress = graph, layout, options, progress
        self.state = ServerState()
        self.structure: StructureParts | None = None
        self.reading: Reading | None = None
        self.findings: dict[str, Finding] = {}
        self.judgements: dict[str, CheckJudgement] = {}
        self.seconds: dict[str, float] = {}  # of the server, for checks that were asked ahead
        self.crowded: set[str] = set()  # checks that may come to their end if nothing else is asked meanwhile
        if options.structure is not None:
            self.structure = StructureParts(
                graph, layout, options.structure, progress=lambda part: progress("structure", part), state=self.state, kept=options.kept,
            )
        with graph.remembering():
            known_roles = _kept_roles(layout, options)
            if known_roles is None or (self.structure is not None and not self.structure.knows_counts()):
                GraphReader(graph, layout, options.timeout).ahead([(name, {}) for name in counting(layout)] + [("roles", {})])
            if self.structure is not None:
                self.structure.count()
            self.roles = known_roles or _roles(graph, layout, options, self.structure.numbers if self.structure else {})

    def causes(self) -> list[Task]:
        """The checks whose hits are taken out of others, which therefore come first, one after the other."""
        rules = sorted((rule for rule in self.options.rules if rule.explains), key=lambda rule: EVERY not in rule.explains)
        single = [rule for rule in rules if not rule.step] if self._is_small() else []
        together = [Task(partial(self._check_together, single))] if single else []
        return [*(Task(partial(self._check, [rule])) for rule in rules if rule not in single), *together]

    def tasks(self) -> list[Task]:
        """All but `causes`, in the order in which they are run one by one. Of several at once: first what only one may do at a time, and of
        that the algorithms, which take longest; the single queries fill what is left."""
        checks: dict[str, list[Rule]] = {}
        for rule in (rule for rule in self.options.rules if not rule.explains):
            checks.setdefault(SAME_READS.get(rule.id, rule.id), []).append(rule)
        together = self._together(checks.values())
        alone = [rules for rules in checks.values() if not any(rules[0] in group for group in together)]
        tasks = [
            Task(self._read_share), *(Task(partial(self._check, rules), _held(rules[0])) for rules in alone),
            *(Task(partial(self._check_together, group)) for group in together),
        ]
        if self.structure is not None:
            tasks = [*self.structure.tasks(), *tasks]
        if self.options.concurrent_queries > 1:
            tasks.sort(key=lambda task: 0 if GDS in task.holds else 1 if CLIENT in task.holds else 2)
        return tasks

    def _together(self, checks: Iterable[list[Rule]]) -> list[list[Rule]]:
        """The checks of a small graph that are one query each, in as many groups as there are sessions. Of a large graph none: each query
        takes its time there, and whoever is free takes the next."""
        if not self._is_small():
            return []
        single = [rules[0] for rules in checks if len(rules) == 1 and not rules[0].step and not _held(rules[0])]
        at_once = self.options.concurrent_queries
        return [group for at in range(at_once) if (group := single[at::at_once])]

    def _is_small(self) -> bool:
        """Whether a query of this graph takes less than the way to a server that is far away."""
        numbers = self.structure.numbers if self.structure else {}
        size: int = sum(numbers.get(name, SMALL) for name in ("entities", "relations")) + numbers.get("chunks", 0)
        return size < SMALL

    def audit(self) -> Audit:
        """What was found, in the order of the rules."""
        return Audit(
            self.structure.figures() if self.structure else StructureFigures(),
            [self.findings[rule.id] for rule in self.options.rules], self.reading, self.judgements,
        )

    def end(self) -> None:
        """Ends what other threads ask; they ask nothing more."""
        self.state.lost = PartFailure("incomplete", "interrupted", lost=True)
        self.graph.stop()

    def _read_share(self) -> bool:
        if self.state.lost is not None:
            return False
        self.progress("check", "what the graph has")
        kept, question = self.options.kept, ("reading", self.layout.model_dump(mode="json"))
        if (known := kept.take(*question)) is not None:
            self.reading = Reading.model_validate(known)
            return False
        result = attempt(lambda: read_share(self.graph, self.layout, timeout=self.options.timeout))
        self.reading = result.value
        if result.failure is not None and result.failure.lost:
            self.state.lost = result.failure
        if result.value is not None:
            kept.keep(result.value.model_dump(mode="json"), *question)
        return result.failure is not None and result.failure.crowded

    def _check(self, rules: list[Rule]) -> bool:
        """Checks that share what they read, mostly one, anew. Whether one may come to its end if nothing else is asked meanwhile."""
        for rule in self._left(rules):
            self._check_one(rule)
        if rules[0].step:  # only one task at a time reads for itself
            self.options.shared.forget()
        return any(rule.id in self.crowded for rule in rules)

    def _left(self, rules: list[Rule]) -> list[Rule]:
        """Those that are to be asked, or asked once more: what had its end stays, and so does everything where the server has gone away."""
        return [rule for rule in rules if rule.id not in self.findings or (rule.id in self.crowded and self.state.lost is None)]

    def _check_together(self, rules: list[Rule]) -> bool:
        """As `_check`, for checks that are one query each: all in one message."""
        with self.graph.remembering():
            left = self._left(rules)
            self._ask_ahead([
                rule for rule in left if not _why_not(self.graph, rule, self.options, self.roles, self.state.lost)
            ])
            return self._check(rules)

    def _ask_ahead(self, wanted: list[Rule]) -> None:
        checks = [_check_run(self.graph, self.layout, rule, self.options) for rule in wanted]
        left = [check for check in checks if self.options.kept.take_outcome(check) is None]
        taken = self.graph.read_ahead([check.asked(check.query) for check in left], timeout=self.options.timeout) if left else []
        self.seconds |= dict(zip((check.query.name for check in left), taken, strict=True))

    def _check_one(self, rule: Rule) -> None:
        self.progress("check", rule.id)
        taken = self.seconds.pop(rule.id, 0.0)
        finding, result = _run(self.graph, self.layout, rule, self.options, self.roles, self.state.lost, taken=taken)
        self.findings[rule.id] = finding
        if isinstance(result, CheckJudgement):
            self.judgements[rule.id] = result
        elif result is not None and result.lost:  # the checks that are left are told so, and ask nothing
            self.state.lost = result
        if isinstance(result, PartFailure) and result.crowded:
            self.crowded.add(rule.id)


def _held(rule: Rule) -> frozenset[str]:
    """What a check needs for itself: GDS, and the memory of this process where a step of Python goes through the entities."""
    return frozenset({GDS} if {"gds", "nearness"} & {*rule.needs} else ()) | frozenset({CLIENT} if rule.step else ())


def _roles(graph: Graph, layout: Layout, options: EngineOptions, numbers: Mapping[str, Any]) -> PartResult[Missing]:
    has = {"has_schema": options.schema is not None, "has_embedder": options.embedding is not None, "has_vectors": _has_vectors(options)}
    result = attempt(lambda: missing_roles(graph, layout, numbers, timeout=options.timeout, **has))
    if result.value is not None:
        options.kept.keep(result.value, *_roles_question(layout, options))
    return result


def _kept_roles(layout: Layout, options: EngineOptions) -> PartResult[Missing] | None:
    """What `_roles` gave the audit that is gone on with; None where it did not."""
    known = options.kept.take(*_roles_question(layout, options))
    return None if known is None else PartResult(value=known)


def _roles_question(layout: Layout, options: EngineOptions) -> tuple[object, ...]:
    given = options.schema is not None, options.embedding is not None, _has_vectors(options)
    return "roles", layout.model_dump(mode="json"), *given


def _has_vectors(options: EngineOptions) -> bool:
    """Whether some label keeps embeddings, whatever the property is called."""
    return options.profile is not None and any(label.embeddings for label in options.profile.labels)


def run_check(graph: Graph, layout: Layout, rule_id: str, *, settings: Mapping[str, Any] | None = None, **options: Any) -> Finding:
    """One check's finding; options as in EngineOptions, but settings those of the rule alone. Missing roles are looked up first."""
    rule = load_rules()[rule_id]
    chosen = EngineOptions(rules=[rule], structure=None, settings={rule_id: settings or {}}, **options)
    return _run(graph, layout, rule, chosen, _roles(graph, layout, chosen, {}), None)[0]


def _run(
    graph: Graph, layout: Layout, rule: Rule, options: EngineOptions, roles: PartResult[Missing], lost: PartFailure | None, *,
    taken: float = 0.0,
) -> tuple[Finding, PartFailure | CheckJudgement | None]:
    """The finding of one rule: skipped (a role is missing, or there was nothing to look at), timed out, failed to run, or counted; and
    the failure or the judgement behind it. `taken`: seconds of the server, of a query that was asked ahead."""
    if why := _why_not(graph, rule, options, roles, lost):
        return _finding(rule, layout, why.status, options, reason=why.reason), why
    check = _check_run(graph, layout, rule, options)
    layout = check.layout
    result, seconds = _answer(check, rule, taken, options.kept)
    trim_heap()
    if result.value is None:
        failure = result.failure or PartFailure("error", "the check gave no result")
        return _finding(rule, layout, failure.status, options, reason=failure.reason, seconds=seconds), failure
    if result.value.cannot is not None:
        return _finding(rule, layout, "skipped", options, reason=result.value.cannot, seconds=seconds), None
    if not result.value.total and not result.value.count:  # of nothing, nothing can be said: this must never look like a pass
        reason = "; ".join(filter(None, [f"there is nothing to look at: 0 {rule.total_of}", result.value.note]))
        return _finding(rule, layout, "skipped", options, reason=reason, seconds=seconds), None
    extracted = roles.value is not None and is_extracted(layout, roles.value)
    explained = options.causes.take_out(rule, result.value)
    options.causes.add(rule, explained.outcome)
    return _counted(rule, GraphReader(graph, layout, options.timeout), explained, options, seconds, extracted=extracted)


def _why_not(
    graph: Graph, rule: Rule, options: EngineOptions, roles: PartResult[Missing], lost: PartFailure | None,
) -> PartFailure | None:
    """Why nothing is asked for a rule; None where it is."""
    if graph.info.hidden and "whole_view" in rule.needs:
        return PartFailure("skipped", HIDDEN)
    if unknown := lost or (roles.failure if {*rule.needs} - {"whole_view"} else None):
        return unknown
    reasons = [roles.value[role] for role in rule.needs if roles.value and role in roles.value]
    if not reasons and rule.id in options.unanswered:
        reasons = [options.unanswered[rule.id]]
    if not reasons and (why := why_not_asked(rule, options.profile)):
        reasons = [why]
    return PartFailure("skipped", "; ".join(reasons)) if reasons else None


def _check_run(graph: Graph, layout: Layout, rule: Rule, options: EngineOptions) -> CheckRun:
    return CheckRun(
        graph=graph, layout=asked_layout(rule, layout, options.profile), query=all_queries()[rule.id],
        settings=check_settings(rule, options),
        # more than is shown: waivers, ratchet and counts by type need every hit that can be listed
        sample=max(options.examples or ALL, LISTED), shown=min(options.examples or LISTED, LISTED),
        timeout=options.timeout, shared=options.shared,
    )


def _answer(check: CheckRun, rule: Rule, taken: float, kept: KeptAnswers) -> tuple[PartResult[CheckOutcome], float]:
    """What a check comes to, or why to nothing, and the seconds that it took; from what was kept, where it stands there."""
    if (known := kept.take_outcome(check)) is not None:
        return PartResult(value=known[0]), known[1]
    started = working_time()
    result = attempt(lambda: _outcome(check, rule))
    seconds = taken + working_time() - started
    if result.value is not None:
        kept.keep_outcome(check, result.value, seconds)
    return result, seconds


def _outcome(check: CheckRun, rule: Rule) -> CheckOutcome:
    if rule.step:
        outcome: CheckOutcome = importlib.import_module(rule.step).run(check)
        return outcome
    return check.outcome()


def rule_settings(rule: Rule, given: Mapping[str, Setting]) -> dict[str, Any]:
    """The rule's own settings, those that are given in place of its defaults, and its word lists."""
    return {**rule.settings, **given, **words_of(rule)}


def check_settings(rule: Rule, options: EngineOptions) -> CheckSettings:
    """All that the rule declares: its own settings, and what it reads of the options of the whole audit."""
    own = rule_settings(rule, options.settings.get(rule.id, {}))
    return CheckSettings(rule.id, own | {str(name): getattr(options, name) for name in rule.reads})


def _counted(
    rule: Rule, reader: GraphReader, explained: Explained, options: EngineOptions, seconds: float, *, extracted: bool,
) -> tuple[Finding, CheckJudgement]:
    """The finding with the first examples; its judgement is kept without any, for there may be ten thousand."""
    layout, outcome = reader.layout, explained.outcome
    gated = judged(rule, outcome, options.gates, explained=explained.hits)
    share = outcome.count / outcome.total if outcome.total else None
    examples = gated.examples[: options.examples or None]
    hits = outcome.count > gated.suppressed
    finding = _finding(
        rule, layout, gated.status, options, asked=outcome.parameters, severity=gated.severity, count=outcome.count, total=outcome.total,
        share=share,
        interval=options.part.interval(all_queries()[rule.id], outcome.count, outcome.total),
        suppressed=gated.suppressed, known=gated.known, explained=explained.by,
        waived=[options.gates.waivers[at].record(hits=n) for at, n in gated.taken.items()],
        examples=examples, examples_total=outcome.examples_total, by_type=gated.by_type, seconds=seconds, reason=gated.note,
        repair=_repair(rule, reader, examples, outcome, options, extracted=extracted) if hits else None,
    )
    return finding, replace(gated, examples=[])


def _repair(
    rule: Rule, reader: GraphReader, examples: Sequence[Example], outcome: CheckOutcome, options: EngineOptions, *, extracted: bool,
) -> Repair:
    """What can be done about the hits. What cannot be read of the graph makes none of them sure."""
    evidence = RepairEvidence()
    if reads_evidence(rule) and why_not_offered(rule, reader.layout, extracted=extracted) is None:
        evidence = attempt(lambda: _evidence(rule, reader, examples, options)).value or RepairEvidence(unique=None)
    return repair_for(rule, reader.layout, examples, outcome.repair, extracted=extracted, evidence=evidence)


def _evidence(rule: Rule, reader: GraphReader, examples: Sequence[Example], options: EngineOptions) -> RepairEvidence:
    unique = options.declared.get(UNIQUE, lambda: read_unique(reader))
    entities = read_entities(reader, examples, unique) if rule.repair == MERGE else {}
    made = [label.label for label in options.profile.labels if not label.is_from_texts] if options.profile else []
    return RepairEvidence(unique, entities, frozenset(made))


def _finding(
    rule: Rule, layout: Layout, status: str, options: EngineOptions, asked: Mapping[str, Any] | None = None, **more: Any,
) -> Finding:
    """A finding with the rule's texts. Word lists stay out: they are kgeval's own, and the printed query has them. `asked`: what its step
    gave the query besides."""
    used = check_settings(rule, options)
    settings: dict[str, JsonValue] = {name: used[name] for name in rule.settings}
    query = all_queries().get(rule.id)
    declared = {p.name for p in query.params} - rule.words.keys() if query else set()
    pool = {**used, **PartialScan().params(), **(asked or {})}
    parameters = {name: value for name, value in pool.items() if name in declared and value is not None}
    return Finding.model_validate({
        "rule_id": rule.id, "group": rule.group, "status": status, "severity": rule.severity, "title": rule.title,
        "total_of": rule.total_of, "threshold": limits_text(options.gates.of(rule)), "settings": settings, "signature": used.signature,
        "advice": rule.advice,
        "query": query_of_graph(query, layout) if query else None, "query_hash": query.code_hash if query else None,
        "query_lists": query_lists(rule),
        "parameters": {**parameters, **dict.fromkeys(declared & {"sample", "shown"}, ALL)},
        **more,
    })
