"""What an audit finds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from kgeval.profiling.record import GraphProfile
from kgeval.records.base import PUBLIC, SCHEMA_VERSION, Public, PublicJson, Record
from kgeval.records.build import Construction
from kgeval.records.gate import Gate, Severity
from kgeval.records.graph import GraphRef, GraphReport
from kgeval.records.manifest import RunManifest, RunReport
from kgeval.records.pictures import CommunityMap, Picture

Status = Literal["passed", "failed", "skipped", "incomplete", "error"]
Group = Literal[
    "names", "duplicates", "merging", "connectivity", "relations", "types",
    "schema", "properties", "provenance", "vectors", "time", "store", "accuracy", "completeness",
]
GROUPS: tuple[Group, ...] = (
    "names", "duplicates", "merging", "connectivity", "relations", "types",
    "schema", "properties", "provenance", "vectors", "time", "store", "accuracy", "completeness",
)


class Example(Record):
    """One place where a finding shows: the graph things involved and, where it helps, why they are listed.

    `counts`: how much of the finding's count it stands for: a group of n like names counts n - 1. Over all examples of a check they sum
    up to its count. `waived`: the reason of the waiver that takes it out; `known`: all of it stands in the ratchet file. `repairable`:
    whether the check's repair is meant for it (a relation is turned round where the other way is the usual one).
    """

    items: list[GraphRef]
    why: str | None = None
    counts: int = 1
    waived: str | None = None
    known: bool = False
    repairable: bool = True


class Waived(Record):
    """A waiver (`[[ignore]]` of kgeval.toml) and what it did here: `hits` took out of a finding's count. An expired one takes nothing.
    `stale`: it is in force and all its checks ran, but it matches nothing."""

    rule: Public
    match: str | None = None
    reason: str
    until: Public | None = None
    expired: bool = False
    stale: bool = False
    hits: int = Field(default=0, ge=0)


class ShareInterval(Record):
    """The 95 % interval of a share that was estimated on a sample of the graph. `sampled` of `population` things were looked at."""

    low: float
    high: float
    sampled: int
    population: int
    method: Public


class Repair(Record):
    """Cypher about a finding that a person may run; kgeval never does. It touches only what the check looks at: the graph of the report.

    `query`: its name (`kgeval cypher show NAME`), null where it was made for this graph. `parameters`: what is known of them, such as the
    element ids of the hits that are listed and not waived; others that it declares are the reader's to choose. `reads`: it changes nothing.
    `dry_run`: of one that writes, Cypher that reads, with the same parameters: what the repair would do to this graph, in the columns that
    the repair returns; null where there is nothing to count (indexes).
    `safe`: right for every hit, without looking. `cypher` null: none is offered for this kind of graph, for it could lose a fact; `reason`
    says why, and also why one only shows what else would be merged. `note`: what to know of it, and what is left out.
    """

    query: Public | None = None
    cypher: Public | None = None
    dry_run: Public | None = None
    parameters: dict[Public, PublicJson] = Field(default_factory=dict)
    reads: bool = False
    safe: bool = False
    note: Public | None = None
    reason: Public | None = None


class Finding(Record):
    """What one check found. `count` of `total` (`total_of` names what is counted), `share` in 0..1 or null if total is 0.

    `suppressed` of the hits are waived, `known` stand in the ratchet file; only the others (count - suppressed - known) are held
    against `threshold`. `explained`: by the id of another check, how many more hits there are that it explains; they are not in `count`.
    `by_type`: hits that are not waived, by the type of the thing; null where not all could be listed.
    `examples`: where the hits show, all or the first; `examples_total`: how many there are in all where a hit is a pair of things,
    None where their counts sum up to `count`.
    `severity`: of the worst limit that is broken, else the check's own. `interval`: where only a sample was looked at (`--sample-share`);
    count and total are then those of the sample.

    `status`: passed (count 0 or within the threshold), failed, skipped (cannot be answered here; `reason` says why),
    incomplete (timed out), error (the query failed; `reason` has the server's words). With a count, `reason` says what the
    count leaves out. Skipped, incomplete and error
    findings have null count, total and share: an unanswered check is never a pass.

    `signature` stands for all that the check read of the settings: its own (`settings`), lists of words, a schema, what makes embeddings.

    `query`, which has the graph's names in it, lists the hits with `parameters` and, where it takes any, kgeval's lists of words (`kgeval
    cypher show` prints them); where `query_lists` is `rows` it lists what the check reads, and a step in Python finds the hits in that. A
    parameter that is called as a field of the report's layout has that value (more
    than 100 names, or one with a backslash, do not stand in a text). `query_hash`: of the check's file, the same for every graph.
    `repair`: what can be done about the hits; null without hits. `picture`: what lies around the first example; of the findings to look
    at first.
    """

    rule_id: Public
    group: Group
    status: Status
    severity: Severity
    title: Public
    count: int | None = None
    total: int | None = None
    total_of: Public = "entities"
    share: float | None = None
    interval: ShareInterval | None = None
    suppressed: int = 0
    known: int = 0
    explained: dict[Public, int] = Field(default_factory=dict)
    by_type: dict[Public, int] | None = None
    waived: list[Waived] = Field(default_factory=list)
    threshold: Public | None = None
    settings: dict[Public, PublicJson] = Field(default_factory=dict)
    signature: Public | None = None
    examples: list[Example] = Field(default_factory=list)
    examples_total: int | None = None
    query: Public | None = None
    query_hash: Public | None = None
    query_lists: Literal["hits", "rows"] = "hits"
    parameters: dict[Public, PublicJson] = Field(default_factory=dict)
    repair: Repair | None = None
    picture: Picture | None = None
    advice: Public = ""
    reason: str | None = None
    seconds: float | None = None


class StructureSkip(Record):
    """Structure figures that could not be computed here, and why."""

    ids: list[Public]
    reason: Public


ChangeOf = Literal["better", "worse", "changed", "same", "unanswered", "new", "gone", "not_comparable"]


class FindingChange(Record):
    """One check in two audits, whole (`label` null) or for one type of things. `verdict`: worse where there are new hits, by name and
    type, or more of them, better where there are fewer (of samples by share), waived hits left out; new and gone where only one audit
    has an answer, or only one graph has things of that type; gone too where there is nothing left to look at (total 0 now, and not
    before); unanswered where neither audit has an answer;
    not_comparable where settings or query differ; `reason` says why. `total`: what the share is of, null where there is none.
    `appeared`, `vanished`: examples that only one audit lists, by rule, type and normalised name; empty unless `examples_compared`:
    both list all their hits."""

    rule_id: Public
    group: Group
    title: Public
    label: Public | None = None
    verdict: ChangeOf
    status_before: Status | None = None
    status_after: Status | None = None
    severity: Severity
    reason: str | None = None
    count_before: int | None = None
    count_after: int | None = None
    total_before: int | None = None
    total_after: int | None = None
    share_before: float | None = None
    share_after: float | None = None
    suppressed_before: int = 0
    suppressed_after: int = 0
    examples_compared: bool = False
    appeared: list[Example] = Field(default_factory=list)
    vanished: list[Example] = Field(default_factory=list)


class FigureChange(Record):
    """One structure figure in two audits, whole (`label` null) or for one label, relation type or property. Which way is better is said
    for few figures only: the others are `changed`. `reason`: why one audit lacks it, or why the two cannot be compared."""

    id: Public
    label: Public | None = None
    verdict: ChangeOf
    reason: Public | None = None
    before: float | None = None
    after: float | None = None


class AuditDiff(Record):
    """What changed from one audit (`before`) to another (`after`) of the same graph; both are named by their files. `notes`: what makes
    them hard to compare: another graph, layout, kgeval, settings. `fail_on_worse`: the gate, where one was set. `graphs`: where the files
    hold several graphs, one diff a graph; this one's findings and figures are then empty. `only_before`, `only_after`: graphs that only
    one of the files holds (null: a whole database), of which the gate has no answer."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    before: Public
    after: Public
    graph_before: Public | None = None
    graph_after: Public | None = None
    findings: list[FindingChange] = Field(default_factory=list)
    figures: list[FigureChange] = Field(default_factory=list)
    notes: list[Public] = Field(default_factory=list)
    fail_on_worse: Severity | None = None
    graphs: list[AuditDiff] = Field(default_factory=list)
    only_before: list[Public | None] = Field(default_factory=list)
    only_after: list[Public | None] = Field(default_factory=list)
    run: RunManifest | None = None


class RatchetRule(Record):
    """What a graph's debt is for one check: `count` hits of `total`, waived ones left out; how many hits each key has (type and normalised
    name, or a hash of both). `keys` null: too many to list, or without lasting names; then only a larger share is worse."""

    rule_id: str
    count: int
    total: int
    keys: dict[str, int] | None = None


class Ratchet(Record):
    """The debt that is accepted for now (`--write-ratchet`): only what is new or worse fails from then on. `hashed`: the keys are hashes
    (`--redact`)."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    kgeval: str
    written: str
    graph: str | None = None
    layout: str
    hashed: bool = False
    rules: list[RatchetRule] = Field(default_factory=list)


class Reading(Record):
    """How much of the graph the layout reads. `nodes`, `relations`: all of them; `nodes_without_role`, `relations_without_role`: how many
    of each label and type are neither entities, texts, relations between entities or links to texts, nor a writer's own structure."""

    nodes: int
    relations: int
    nodes_without_role: dict[Public, int] = Field(default_factory=dict)
    relations_without_role: dict[Public, int] = Field(default_factory=dict)


class Resumed(Record):
    """What an audit took over from one of the same state of the graph that did not come to its end (`--resume`): the checks and structure
    figures that were not asked again. `since`: when the first of them was answered."""

    since: Public
    checks: list[Public] = Field(default_factory=list)
    figures: list[Public] = Field(default_factory=list)


HALF_LOADED = "half-loaded, not the whole graph"  # how the note begins that voids an audit: it leads the report


class AuditReport(GraphReport):
    """The audit of one graph. `structure` holds plain numbers under the ids of the structure page of the docs,
    maps (name -> number) only for the by-type ones, and text only for names of methods and tokenizers. `waivers`: all of kgeval.toml,
    with what each took out; `gates`: the limits that the user set, as they were answered; `notes`: what a reader must know of how it was
    measured; `diff`: against --baseline. `community_map`: the largest communities, where they were found. `resumed`: what was taken over
    from an audit that was cut off. `profile`: what the graph is, without its
    properties (`kgeval profile` has them); null where that could not be told."""

    profile: GraphProfile | None = None
    reading: Reading | None = None
    structure: Annotated[dict[str, float | int | str | dict[str, float | int | dict[str, Any]] | None], PUBLIC] = Field(
        default_factory=dict,
    )
    structure_skipped: list[StructureSkip] = Field(default_factory=list)
    community_map: CommunityMap | None = None
    findings: list[Finding] = Field(default_factory=list)
    gates: list[Gate] = Field(default_factory=list)
    waivers: list[Waived] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    diff: AuditDiff | None = None
    construction: Construction | None = None
    resumed: Resumed | None = None


class FigureRow(Record):
    """One structure figure of several graphs, in the order of `GraphsReport.reports`; null where it could not be measured."""

    id: Public
    values: list[float | None]


class CheckCell(Record):
    """One check of one graph; a check that did not run there has its status and no count. `suppressed`, `known`: as in Finding."""

    status: Status | None = None
    count: int | None = None
    total: int | None = None
    share: float | None = None
    suppressed: int = 0
    known: int = 0
    reason: str | None = None


class CheckRow(Record):
    """One check of several graphs, in the order of `GraphsReport.reports`."""

    rule_id: Public
    group: Group
    title: Public
    severity: Severity
    cells: list[CheckCell]


class GraphsReport(RunReport):
    """Several graphs side by side: each one's audit, and the same figures and checks as rows."""

    names: list[Public]
    reports: list[AuditReport]
    figures: list[FigureRow] = Field(default_factory=list)
    checks: list[CheckRow] = Field(default_factory=list)
    gates: list[Gate] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
