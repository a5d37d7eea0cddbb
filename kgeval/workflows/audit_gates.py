"""The gates of an audit: thresholds, fail_on, ratchet, write_ratchet and `[[ignore]]`; and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.errors import ConfigError, KgevalError, UsageError, raise_together, tried
from kgeval.format import first_of
from kgeval.workflows.result import exit_code

if TYPE_CHECKING:
    from kgeval.auditing.engine import Audit
    from kgeval.auditing.gates import Gates, Limits, WrittenThreshold
    from kgeval.config import AuditOptions, Config
    from kgeval.records import AuditReport, Finding, Ratchet
    from kgeval.workflows.session import Session

T = TypeVar("T")
_MOST = 5  # names in one note


@dataclass(frozen=True)
class GatePlan:
    """The gates that are asked for, and the file to write accepted hits to."""

    gates: Gates
    write: Path | None = None


def planned_gates(session: Session, options: AuditOptions, limits: Limits, *, today: date, several: bool = False) -> GatePlan:
    """The gates that are asked for. `limits`: what the thresholds mean; `several`: more than one graph.

    Raises: UsageError, InputError, before anything is run; where several things are wrong, a UsageError with all of them.
    """
    from kgeval.auditing.gates import Gates, Waiver, read_ratchet

    write, ratchet = options.write_ratchet, options.ratchet
    faults: list[KgevalError] = []
    tried(lambda: _check_structure(limits, options), faults)
    if several and (write or ratchet):
        faults.append(UsageError("--ratchet and --write-ratchet are about one graph", fix="audit the graphs one by one"))
    tried(lambda: check_part(limits, options), faults)
    tried(lambda: _check_files(session, options), faults)
    ratchet_known = tried(lambda: read_ratchet(ratchet), faults) if ratchet else None
    raise_together(faults)
    waivers = tuple(Waiver(waiver.rule, waiver.reason, waiver.match, waiver.until) for waiver in session.config.ignore)
    return GatePlan(Gates(limits, waivers, ratchet_known, today, remember=write is not None), write)


def _check_structure(limits: Limits, options: AuditOptions) -> None:
    if options.no_structure and (lost := [name for name, of in limits.items() if of[0].unit == ""]):
        raise UsageError(f"--no-structure leaves out what thresholds ask for: {', '.join(lost)}", fix="leave out one of the two")


def gated(
    report: AuditReport, found: Audit, gates: Gates, fail_on: Any, say: Callable[[str], None], *, several: bool = False,
    void: str | None = None,
) -> AuditReport:
    """The report with its gates and waivers as they were answered, and the exit code that they come to. What must be known is also said;
    `several`: with the graph's name, for it is one of several. `void`: why no gate can be answered, whatever the findings are."""
    from kgeval.auditing.gates import gate_rows, silenced, waiver_notes, waiver_rows

    pairs = [(finding, list[int]()) if _own(finding) else silenced(finding, gates) for finding in report.findings]
    findings = [finding for finding, _ in pairs]
    own = [finding for finding in findings if _own(finding)]
    rows = gate_rows(gates, findings, report.structure, report.structure_skipped, fail_on=fail_on, own=_own)
    if void:
        rows = [row.model_copy(update={"value": None, "met": None, "reason": void}) for row in rows]
    judged = found.judged.values()
    taken = [*(outcome.taken for outcome in judged), *({places[0]: finding.suppressed} for finding, places in pairs if places)]
    matched = [*(outcome.matched for outcome in judged), *(dict.fromkeys(places, finding.suppressed) for finding, places in pairs)]
    unlisted = {name for name, check in found.judged.items() if not check.listed}
    waivers = waiver_rows(gates, taken, matched, findings, unlisted=unlisted, joining=joining_checks())
    notes = [*waiver_notes(waivers), *ratchet_notes(report, gates, own)]
    where = f"graph {report.graph}: " if several and report.graph else ""
    for text in (*notes, *_unfinished(findings, figures=found.structure.incomplete)):
        say(f"warning: {where}{text}")
    code = exit_code(rows, incomplete=found.incomplete)
    update = {"gates": rows, "waivers": waivers, "findings": findings, "notes": [*report.notes, *notes]}
    return report.model_copy(update={**update, "run": report.run.model_copy(update={"exit_code": code})})


def write_debt(
    plan: GatePlan, report: AuditReport, found: Audit, say: Callable[[str], None], *, redact: bool,
) -> KgevalError | None:
    """Writes --write-ratchet, private to the user; what went wrong is given back, so that the report is shown all the same."""
    from kgeval.tables.output import write_text

    if plan.write is None:
        return None
    debt = _debt(report, found, redact=redact)
    try:
        write_text(plan.write, debt.model_dump_json(indent=1) + "\n")
    except KgevalError as fault:
        return fault
    silent = [finding.rule_id for finding in report.findings if finding.count is None]
    say(f"wrote {plan.write}: {sum(rule.count for rule in debt.rules):,} accepted hits of {len(debt.rules)} checks")
    if silent:
        say(f"not in it, for they have no answer here: {', '.join(silent)}")
    return None


def _debt(report: AuditReport, found: Audit, *, redact: bool) -> Ratchet:
    from kgeval.auditing.gates.ratchet import hidden
    from kgeval.records import Ratchet

    rules = [check.debt for check in found.judged.values() if check.debt is not None]
    return Ratchet(
        kgeval=report.run.kgeval, written=report.run.started, graph=report.graph, layout=report.layout.name, hashed=redact,
        rules=[hidden(rule) for rule in rules] if redact else rules,
    )


def check_part(limits: Limits, options: AuditOptions) -> None:
    """Raises: UsageError for limits in hits of checks that look at a part only: they count the part's hits, and would pass."""
    from kgeval.graph.queries import all_queries

    if (options.sample_share or 1.0) >= 1:
        return
    partly = {query.name for query in all_queries().values() if any(param.name == "sample_share" for param in query.params)}
    lost = [f"{name} ({limit.text})" for name, of in limits.items() if name in partly for limit in of if limit.unit == "hits"]
    if lost:
        raise UsageError(
            f"--sample-share counts a part of the hits, so that a limit in hits says nothing: {', '.join(lost)}",
            fix="give the limit as a share (ID<=0.01), or leave --sample-share out",
        )


def _check_files(session: Session, options: AuditOptions) -> None:
    """Raises: UsageError where a file that is read would be replaced, or the file cannot be made."""
    from kgeval.config import DEFAULT_FILE
    from kgeval.tables.output import blocked

    write, outputs = options.write_ratchet, session.outputs
    named = [options.ratchet, session.config_file or DEFAULT_FILE, session.layout, options.schema_file, options.corpus]
    read = {Path(path).resolve() for path in [*named, *options.with_reports] if path}
    faults = [f"{path} is read and would be replaced" for path in outputs if path.resolve() in read]
    read |= {Path(path).resolve() for path in [options.baseline] if path}
    if write is not None:
        faults += [f"--write-ratchet {write}: {why}" for why in _faults_of(write, read, outputs, blocked(write))]
    if faults:
        raise UsageError("; ".join(faults), fix="name another file")


def _faults_of(write: Path, read: set[Path], outputs: Sequence[Path], why: str) -> Iterator[str]:
    if write.resolve() in read:
        yield "is read and would be replaced; write to another file, then rename it"
    if write.resolve() in {path.resolve() for path in outputs}:
        yield "is also a report (-o)"
    if write.exists() and not write.is_file() and not why:
        yield "is no plain file"
    if why:
        yield why


def _own(finding: Finding) -> bool:
    """Whether it is of a check of this audit, not of a report that joined."""
    from kgeval.auditing.rulebook import load_rules

    return finding.rule_id in load_rules()


def ratchet_notes(report: AuditReport, gates: Gates, findings: Sequence[Finding]) -> list[str]:
    """What makes the ratchet hard to hold against this audit, and failed checks of which it knows nothing: all their hits are new."""
    from kgeval.auditing.gates import differences

    if gates.ratchet is None:
        return []
    notes = [f"ratchet: {text}" for text in differences(gates.ratchet, report.graph, report.layout, report.run.kgeval)]
    ran = {finding.rule_id for finding in findings}
    if out := [rule.rule_id for rule in gates.ratchet.rules if rule.rule_id not in ran]:
        notes.append(f"ratchet: checks of it that were not run now, of which it says nothing: {first_of(out, _MOST)}")
    lost = [finding.rule_id for finding in findings if finding.status == "failed" and gates.debt(finding.rule_id) is None]
    return [*notes, f"ratchet: it holds nothing of {', '.join(lost)}: all their hits count as new"] if lost else notes


def _unfinished(findings: Sequence[Finding], *, figures: bool) -> list[str]:
    """What was begun and has no answer, in one line."""
    checks = [finding.rule_id for finding in findings if finding.status in ("incomplete", "error")]
    parts = [*(["some structure figures"] if figures else []), *checks]
    return [f"incomplete, the report has the reasons: {', '.join(parts)}"] if parts else []


def load_config(path: Path | None, *, named: bool = True) -> Config:
    """The configuration. Raises: ConfigError as config.read, and with every fault of the file, those of thresholds and waivers too."""
    from kgeval import config as configuration

    config, faults = configuration.read(path, named=named)
    faults = [*faults, *threshold_faults(config), *waiver_faults(config)]
    if faults:
        raise ConfigError(
            f"{path or configuration.DEFAULT_FILE}: " + "; ".join(faults),
            fix="known keys: kgeval help configuration; gates: kgeval help gates",
        )
    return config


def threshold_faults(config: Config) -> list[str]:
    """What is wrong with `[audit.thresholds]`, each with its key."""
    from kgeval.auditing.gates import read_limits

    return read_limits(threshold for _, threshold in _entries(config))[1]


def waiver_faults(config: Config) -> list[str]:
    """What is wrong with `[[ignore]]`, each with the rule and match that it has: a number would be another one where one is left out."""
    from kgeval.auditing.gates.waivers import waiver_faults as faults_of
    from kgeval.auditing.rulebook import load_rules

    joining = joining_checks()
    checks = [*load_rules(), *joining]
    return [
        f"ignore (rule {ignored.rule[:60]}{f', match {ignored.match[:60]}' if ignored.match else ''}): {fault}"
        for ignored in config.ignore for fault in faults_of(ignored.rule, ignored.match, checks, joining)
    ]


def joining_checks() -> dict[str, str]:
    """The checks that only other reports bring (--with), with their groups."""
    from kgeval.auditing.accuracy.findings import AILMENTS
    from kgeval.auditing.completeness.run import ADVICE

    return {ailment.rule_id: "accuracy" for kind in AILMENTS.values() for ailment in kind} | dict.fromkeys(ADVICE, "completeness")


def thresholds_in_force(config: Config, flags: Sequence[str]) -> list[WrittenThreshold]:
    """Those of the file whose check or figure no flag names, then the flags."""
    from kgeval.auditing.gates import written_as_flag
    from kgeval.stats.thresholds import split

    given = [written_as_flag(flag) for flag in split(flags)]
    named = {threshold.about for threshold in given}
    return [*(threshold for name, threshold in _entries(config) if name not in named), *given]


def _entries(config: Config) -> Iterator[tuple[str, WrittenThreshold]]:
    """Each of `[audit.thresholds]`, with its check or figure."""
    from kgeval.auditing.gates import written_in_file

    for name, value in config.audit.thresholds.items():
        where = f"audit.thresholds.{name}"
        if isinstance(value, dict):
            limits = ((severity, f"{where}.{severity}", limit) for severity, limit in value.items())
            yield from ((name, written_in_file(place, name, severity, _text(limit))) for severity, place, limit in limits)
        else:
            yield name, written_in_file(where, name, None, _text(value))


def _text(value: float | str) -> str:
    """As a flag has it: a number, and a text without a sign, follows `=`."""
    text = str(value).strip()
    return text if text.startswith(("<", ">", "=")) else f"={text}"
