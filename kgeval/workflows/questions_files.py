"""What is done with files of questions: their figures side by side, levels given by a judge, decisions of people taken over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.config import ClassifyOptions, QuestionFileOptions
from kgeval.errors import UsageError
from kgeval.workflows.result import INCOMPLETE, QuestionsResult, Result, beside
from kgeval.workflows.rows import STDIN, questions_of
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.llm.plan import Plan
    from kgeval.llm.session import Models
    from kgeval.questions.classify import LevelCounts
    from kgeval.questions.sheet import Undecided
    from kgeval.records import Classification, Question

SHOWN = 5  # questions without a decision


@dataclass(frozen=True)
class QuestionStatsResult(Result):
    """What sets of questions are made of. `report`: a QuestionStats."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a set, its figures as the JSON report has them."""
        import pandas as pd

        return pd.DataFrame([figures.model_dump(mode="json") for figures in self.report.sets])


def stats(session: Session, files: Sequence[Path], options: QuestionFileOptions) -> QuestionStatsResult:
    """Levels, kinds, breadth and depth, lengths and evidence of each file. Raises: UsageError, InputError."""
    from kgeval.questions.figures import figures
    from kgeval.records import QuestionStats
    from kgeval.reports.write import check_outputs

    check_outputs(session.outputs, QuestionStats, read=files)
    sets = []
    for path in files:
        with questions_of(session, path, options) as questions:
            sets.append(figures(questions, "standard input" if path == STDIN else path))
    run = session.manifest(options, inputs=[path for path in files if path != STDIN])
    return QuestionStatsResult(QuestionStats(run=run, sets=sets))


def plan_classify(session: Session, file: Path, options: ClassifyOptions) -> Plan:
    """What giving levels would ask of the judge. Nothing is sent. Raises: UsageError, InputError, ModelError."""
    from kgeval.llm.plan import Plan
    from kgeval.questions.classify import PROMPT, tasks

    models = session.models("judge", options)
    with questions_of(session, file, options) as questions:
        judged = tasks(questions, models.prompt(PROMPT), options.questions_per_call)
        return Plan((models.plan(task for task, _ in judged),), models.limits)


def classify(session: Session, file: Path, output: Path | None, options: ClassifyOptions) -> QuestionsResult:
    """The questions with one of four levels each, as a judge gives them, written to `output`; beside it shares and manifest. The result's
    `report` is a Classification.

    Raises: UsageError, InputError, ModelError.
    """
    from kgeval.questions.classify import LevelCounts, classified
    from kgeval.reports.write import check_replaced, write_report
    from kgeval.tables.output import replacing

    if output is None or output.suffix.lower() != ".jsonl":
        fault = "no output is named" if output is None else f"{output}: questions are written as .jsonl"
        raise UsageError(fault, fix="give -o questions-with-levels.jsonl; --dry-run needs none")
    check_replaced([output, beside(output)], [file])
    models = session.models("judge", options)
    with questions_of(session, file, options) as questions:
        counts = LevelCounts()
        try:
            with replacing(output) as out:  # written as a whole, or not at all
                for labelled in classified(models, questions, batch=options.questions_per_call, total=len(questions)):
                    counts.add(labelled)
                    out.write(labelled.question.model_dump_json(exclude_defaults=True) + "\n")
        except KeyboardInterrupt:
            session.say("replies that came are in the journal: the same command goes on; the output was not written")
            raise
    report = _classification(session, models, file, counts, options)
    write_report(report, beside(output))
    return QuestionsResult(report, file=output, written=(output, beside(output)))


def confirm(
    session: Session, file: Path, sheets: Sequence[Path], output: Path | None, undecided: Undecided,
) -> tuple[list[Question], int]:
    """The questions that people keep, by their filled sheets: most of them decide. Written to `output`, if there is one. With the exit
    code: 3 where questions have no decision and `undecided` is refuse; then nothing is kept or written.

    Raises: UsageError; InputError with every fault of the sheets.
    """
    from kgeval.questions.sheet import Confirmed, confirmed
    from kgeval.reports.write import check_replaced
    from kgeval.tables.output import replacing
    from kgeval.tables.rows import read_questions

    if not sheets:
        raise UsageError("no sheet is given", fix="give the sheets that people filled in, or --sheet FILE.csv to write one")
    check_replaced([] if output is None else [output], [file, *sheets])
    counts = Confirmed()
    kept = list(confirmed(read_questions(file), sheets, undecided, counts))
    if counts.undecided and undecided == "refuse":
        first = ", ".join(counts.undecided[:SHOWN]) + (", ..." if len(counts.undecided) > SHOWN else "")
        session.say(f"{len(counts.undecided):,} questions have no decision: {first}; nothing was written")
        session.say("Fix: fill in the column decision, or give --undecided keep or --undecided drop")
        return [], INCOMPLETE
    if output is not None:
        with replacing(output) as out:
            out.writelines(question.model_dump_json(exclude_defaults=True) + "\n" for question in kept)
        session.say(f"wrote {output}")
    session.say(
        f"{counts.kept:,} kept ({counts.edited:,} with another text), {counts.dropped:,} dropped, {len(counts.undecided):,} undecided",
    )
    return kept, 0


def _classification(session: Session, models: Models, file: Path, counts: LevelCounts, options: ClassifyOptions) -> Classification:
    from kgeval.records import Classification

    compared, same, kappa = counts.compared()
    run = session.manifest(options, inputs=[] if file == STDIN else [file], asked=models.asked(), exit_code=models.exit_code)
    return Classification(
        run=run, complete=models.stopped is None, file="standard input" if file == STDIN else str(file), n=counts.n,
        labelled=counts.levels.total(), levels=counts.shares, failures=dict(sorted(counts.failures.items())),
        changes=counts.rows(counts.changes), by_kind=counts.rows(counts.by_kind), compared=compared, agreement=same, kappa=kappa,
        notes=list(models.notes),
    )
