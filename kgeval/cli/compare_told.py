"""What a run of `kgeval compare` says of itself: its settings and signature, how many calls there are, how it ended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgeval.comparison.results.build import STOPPED
from kgeval.comparison.results.pair import is_first
from kgeval.reports.display import beyond

if TYPE_CHECKING:
    from pydantic import JsonValue

    from kgeval.cli.compare_run import Job
    from kgeval.records import ComparisonReport, PairResult

MISSED, INCOMPLETE = 1, 3


def counted_line(job: Job) -> str:
    """How the number of calls comes about, in one line a procedure."""
    lines = []
    for one in job.settings.rounds:
        questions = sum(len(pairing.questions) for pairing in job.pairings)
        lines.append(
            f"{one.way.procedure}: pairs {len(job.pairings):,}, questions over all pairs {questions:,}, trials {one.trials} "
            f"({job.opened.aligned.trial_kind}), orders {one.way.positions}, repeats {one.repeats}"
        )
    if job.options["stop_when_sure"]:
        lines.append("--stop-when-sure: the counts are of a run to the end; pairs that are clear stop before it")
    return "\n".join(lines)


def settings_told(job: Job) -> dict[str, JsonValue]:
    """All that the signature stands for."""
    at, rule, main = job.opened.models.endpoint, job.settings.rule, job.settings.main
    prompts = {name: job.opened.models.prompt(name).hash for name in main.way.prompts}
    return {
        "procedure": main.way.procedure, "aspects": list(main.way.names), "prompts": dict(prompts), "trials": main.trials,
        "repeats": main.repeats, "wordings": main.wordings, "show": job.settings.show,
        "orders": main.way.positions, "trial_kind": job.opened.aligned.trial_kind,
        "align": "none" if not rule.on else "longest" if rule.to_longest else "pair", "tolerance": rule.tolerance,
        "attempts": rule.attempts, "force": rule.force, "words_by": _writer(job),
        "judge": at.model, "endpoint": at.name, "parameters": dict(at.parameters),
        "language": job.opened.models.language,
        **({"tie_region": job.settings.tie_region} if job.options["stop_when_sure"] else {}),
    }


def _writer(job: Job) -> str | None:
    """The model that adds words: the reader's where a built-in system is asked with one, else the judge; null where nobody does."""
    rule = job.settings.rule
    return (job.opened.box.models or job.opened.models).endpoint.model if rule.on and rule.force else None


def signature_of(job: Job) -> str:
    """compare-PROCEDURE@1:12 hex digits, a SHA-256 of the settings and grades. Answers and questions are no part of it."""
    main = job.settings.main
    shown = [main.way.shown(wording) for wording in range(main.wordings)]
    told = json.dumps([settings_told(job), shown], sort_keys=True, ensure_ascii=False)
    return f"compare-{job.settings.main.way.procedure}@1:{hashlib.sha256(told.encode()).hexdigest()[:12]}"


def exit_code(job: Job, report: ComparisonReport) -> int:
    """3: not complete, nothing could be judged, or a threshold without an answer; 1: one is missed."""
    stopped = not report.complete or job.opened.aligned.exit_code or job.opened.free.exit_code
    nothing = _nothing(report) and not job.options["shard"]  # a shard may have no questions
    if stopped or nothing or any(gate.met is None for gate in report.gates):
        return INCOMPLETE
    return MISSED if any(gate.met is False for gate in report.gates) else 0


@dataclass(frozen=True)
class _Counted:
    """Questions over all pairs: asked, with a result, failed, discarded. `results`, `lost`, `trials`: the same by question and trial."""

    asked: int
    scored: int
    failed: int
    discarded: int
    results: int
    lost: int
    trials: int


def _counted(pairs: Sequence[PairResult]) -> _Counted:
    whole = [one for one in pairs if is_first(one)]
    return _Counted(
        sum(one.n for one in whole), sum(one.n_scored for one in whole), sum(sum(one.failures.values()) for one in whole),
        sum(one.discarded for one in whole), sum(one.results for one in whole), sum(one.lost for one in whole),
        sum(one.n * one.trials for one in whole),
    )


def _nothing(report: ComparisonReport) -> bool:
    """Whether no pair has a result; of a run that is only an A/A check, whether that has none."""
    if report.pairs:
        return not _counted(report.pairs).scored
    return not any(one.n for one in report.self_checks)


def last_words(report: ComparisonReport) -> Sequence[str]:
    """Messages for a run that is not complete, and for thresholds that are missed or have no answer."""
    lines = list(_why_incomplete(report)) if report.run.exit_code == INCOMPLETE else []
    for gate in report.gates:
        name, sign = f"{gate.figure} of {gate.aspect}, {gate.system_a} against {gate.system_b}", ">=" if gate.least else "<="
        if gate.met is None:
            lines.append(f"threshold not answered: {name}: it has no value" if gate.value is None else f"threshold not answered: {name}")
        elif not gate.met:
            lines.append(f"threshold missed: {name} is {beyond(gate.value or 0.0, gate.limit)}, wanted {sign} {gate.limit:g}")
    return lines


def _why_incomplete(report: ComparisonReport) -> Iterator[str]:
    whole = _counted(report.pairs)
    if STOPPED in report.notes:
        yield (
            f"incomplete: the run was stopped with results for {whole.results:,} of {whole.trials:,} trials of questions; "
            "the same command goes on"
        )
        return
    if _nothing(report) and whole.discarded:
        yield (
            f"nothing could be judged: {whole.discarded:,} of {whole.asked:,} questions were discarded, because the answers could not be "
            "brought to one length; give the systems hooks (--system NAME=SPEC), let a model add words (no --no-force), or judge them as "
            "they are (--align none)"
        )
    elif _nothing(report):
        yield "nothing could be judged: no question has a result (the report has the causes)"
    for name, one in (("", whole), *((f"{name}: ", _counted(pairs)) for name, pairs in report.contrast.items())):
        if one.failed:
            yield f"{name}{one.failed:,} of {one.asked:,} questions failed (the report has the causes); the same command goes on"
        elif one.lost:
            yield (
                f"{name}{one.lost:,} of {one.lost + one.results:,} trials of questions were lost, because calls failed; the same command "
                "goes on"
            )
