"""Whether metrics tell right answers from wrong ones, on the user's own data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import SensitivityOptions
from kgeval.format import plural
from kgeval.workflows.result import INCOMPLETE, Result
from kgeval.workflows.rows import check_places
from kgeval.workflows.score import Scoring, planned, prepare_metrics, walk
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    from kgeval.llm.plan import Plan
    from kgeval.metrics.conditions import Conditions
    from kgeval.tables.label_files import WrongAnswers
    from kgeval.tables.rows import Rows


@dataclass(frozen=True)
class SensitivityResult(Result):
    """`report`: a SensitivityReport. `messages`: why nothing could be compared."""

    messages: Sequence[str] = ()


def plan(session: Session, answers: Sequence[Path], options: SensitivityOptions) -> Plan:
    """What it would ask of models. Nothing is sent."""
    from kgeval.metrics.conditions import conditions

    scoring, given = _prepared(session, answers, options), _wrong_answers(options)
    with scoring.open_rows() as rows, conditions(rows, options.seed, given) as by_condition:
        scoring.open_tools()
        return planned(scoring, chain.from_iterable(by_condition.values()), lambda row, asker: walk(scoring, [row], asker))


def run(session: Session, answers: Sequence[Path], options: SensitivityOptions) -> SensitivityResult:
    """Scores the answers, their references in their place, and wrong ones: answers to other questions, or given. Raises: as
    workflows.score.run; InputError for wrong answers with faults, or that are right."""
    from kgeval.metrics.conditions import conditions

    scoring, given = _prepared(session, answers, options), _wrong_answers(options)
    with scoring.open_rows() as rows, conditions(rows, options.seed, given) as by_condition:
        scoring.open_tools()
        return _measured(scoring, rows, by_condition, options.wrong_answers)


def _wrong_answers(options: SensitivityOptions) -> WrongAnswers | None:
    from kgeval.tables.label_files import read_wrong_answers

    return read_wrong_answers(options.wrong_answers) if options.wrong_answers else None


def _prepared(session: Session, answers: Sequence[Path], options: SensitivityOptions) -> Scoring:
    from kgeval.records import SensitivityReport
    from kgeval.reports.write import check_outputs

    check_outputs(list(session.outputs), SensitivityReport)
    scoring = prepare_metrics(session, answers, options)
    check_places(session.outputs, scoring.wanted, session.config_file, session.asking.prices, options.wrong_answers)
    return scoring


def _measured(scoring: Scoring, rows: Rows, made: Conditions, given: Path | None) -> SensitivityResult:
    from kgeval.metrics.sensitivity import sensitivity
    from kgeval.records import SensitivityReport

    results = sensitivity(made, scoring.selection, scoring.tools, scoring.settings)
    asking = scoring.asking_summary()
    unused = [f"{given.name}: {plural(made.unused, 'line')} about other questions"] if given is not None and made.unused else []
    report = SensitivityReport(
        run=scoring.manifest(rows, given, exit_code=INCOMPLETE if asking.stopped or not results else 0), complete=not asking.stopped,
        seed=scoring.options.seed, rows=made.sizes["answered"], left_out=made.left_out, reused=made.reused,
        wrong_given=given is not None, metrics=scoring.infos, results=results, notes=[*rows.notes, *unused, *asking.notes],
    )
    why = "; ".join(made.left_out) or "there are no answers"
    return SensitivityResult(report, messages=() if results else (f"nothing can be compared: {why}",))
