"""Parts of a comparison put together: verdicts from the parts, lengthened answers from the journal, the report by the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import CompareOptions, ModelOptions
from kgeval.errors import InputError
from kgeval.workflows.compare import CompareResult, ComparisonRun, carry_out, prepare, whole_of
from kgeval.workflows.rows import STDIN
from kgeval.workflows.score import AskingSummary
from kgeval.workflows.score_parts import asked_by, check_there, merging_session
from kgeval.workflows.session import Session, options_of

if TYPE_CHECKING:
    from kgeval.comparison.engine import JudgeRun
    from kgeval.comparison.verdict_store import VerdictStore
    from kgeval.tables.verdict_parts import VerdictPart

NOT_OF_THE_WHOLE = ("shard", "verdicts")


def merge(
    session: Session, paths: Sequence[Path], moved: Mapping[str, Any], *, journal: Path | None = None, imported: bool = False,
) -> CompareResult:
    """Writes verdicts and report of the whole comparison from its parts. Nobody is asked.

    `session`: its outputs, and what it redacts. `moved`: `answers`, `questions` and `config_file`, where they are not where the parts read
    them. `journal`: where what a model wrote for the parts is looked up; None: where the parts had it, or, with `imported`, where the
    calls of their own journals were taken over to.

    Raises: InputError for parts that make up no run, where the files are no longer what the parts read, and where the journal lacks
    what a model wrote for the parts.
    """
    from kgeval import __version__
    from kgeval.reports.write import check_replaced
    from kgeval.tables.score_forms import beside
    from kgeval.tables.verdict_parts import read_verdict_parts

    parts = read_verdict_parts(paths, kgeval=__version__)
    files = (file for part in parts for file in (part.path, part.verdicts, beside(part.path, "run.json")))
    check_replaced(session.outputs, files, what="of a part")
    arguments = {**parts[0].run.arguments, **{name: value for name, value in moved.items() if value}}
    asking = ModelOptions.model_validate({
        **{name: arguments[name] for name in ModelOptions.model_fields if name in arguments},
        "journal": journal or (None if imported else _common(parts, "journal")),
        "cache_dir": None if journal or imported else _common(parts, "cache_dir"),
    })
    # as a dry run is: whoever would be asked looks into the journal, and no further
    whole = merging_session(
        session, arguments, paths, named=bool(moved.get("config_file")), dry=True, asking=asking, show=False,
    )
    kept = CompareOptions.model_fields.keys() - set(NOT_OF_THE_WHOLE)
    options = options_of(CompareOptions, {name: value for name, value in arguments.items() if name in kept}, whole.config.compare)
    answers = [Path(name) for name in arguments.get("answers", ())]
    named = [*answers, options.questions, options.grades, options.labels, options.baseline, options.without_known]
    check_there([path for path in named if path != STDIN])
    with whole, ExitStack() as stack:
        comparison = prepare(whole, answers, options, stack=stack)
        comparison.asking = AskingSummary(
            stopped=not all(part.complete for part in parts),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)), asked=asked_by([part.run for part in parts]),
        )
        _check_same(comparison, parts)
        return carry_out(comparison, partial(_rejoined, parts))


def _common(parts: Sequence[VerdictPart], name: str) -> Path | None:
    """A place that all parts were made with, if it is here."""
    places = {str(part.run.arguments[name]) for part in parts if part.run.arguments.get(name)}
    place = Path(places.pop()) if len(places) == 1 else None
    return place if place is not None and place.exists() else None


def _check_same(comparison: ComparisonRun, parts: Sequence[VerdictPart]) -> None:
    """Raises: InputError where the files, the configuration or the pairs are not those of the parts."""
    part, now = parts[0].part, whole_of(comparison)
    faults = []
    if now["rows"] != part.rows:
        faults.append("the files have other questions or answers than the parts were made from")
    if (now["signature"],) != part.signatures:
        faults.append(f"the judge or its settings are other ones: {now['signature']}; those of the parts are {part.signatures[0]}")
    if not faults and now["run"] != part.run:
        faults.append("pairs, alignment or procedures are not those of the parts")
    if faults:
        fix = "give the same files in the same order (--answers, --questions) and the same kgeval.toml (--config)"
        raise InputError("the parts do not belong to this comparison; nothing was written", fix=fix, faults=faults)


def _rejoined(parts: Sequence[VerdictPart], comparison: ComparisonRun, verdicts: VerdictStore) -> JudgeRun:
    from kgeval.comparison.engine import ComparedAnswers
    from kgeval.comparison.rejoined import Rejoined
    from kgeval.tables.verdict_parts import MergedVerdicts

    opened = comparison.opened
    judgements = Rejoined(
        opened.models, opened.judge, ComparedAnswers(opened.aligned, opened.free), verdicts, comparison.pairings,
        comparison.settings.procedures, parts=MergedVerdicts(parts),
    )
    judgements.carry_out()
    if opened.aligned.settings.rule.on:
        opened.aligned.check_meaning()
    return judgements
