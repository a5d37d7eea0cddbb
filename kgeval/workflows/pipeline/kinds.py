"""The kinds of stages, each a row: its command, its options, and the workflow that it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgeval.config import (
    AccuracyOptions,
    AnswerOptions,
    AuditOptions,
    BuildOptions,
    CheckOptions,
    CompareOptions,
    CompletenessOptions,
    ContaminationOptions,
    CoverageOptions,
    CrossingOptions,
    GenerateOptions,
    ImportOptions,
    ReportOptions,
    ScoreOptions,
    environment,
)
from kgeval.config.session import AURA, CONNECTION, EMBEDDING, LAYOUT, SHOWN, WORKING
from kgeval.llm.plan import Plan
from kgeval.records import (
    AccuracyReport,
    AuditReport,
    CheckReport,
    ComparisonReport,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    CrossedReport,
    OverviewReport,
    ScoreReport,
)
from kgeval.tables.score_forms import is_folder
from kgeval.tables.scores import is_result
from kgeval.workflows import (
    accuracy,
    answer,
    audit,
    build,
    compare,
    completeness,
    contamination,
    imports,
    matrix,
    questions_check,
    questions_coverage,
    questions_generate,
    report,
    score,
    score_parts,
)
from kgeval.workflows.pipeline.stages import StageKind
from kgeval.workflows.session import Session


def _has_graph(session: Session) -> bool:
    """Whether a graph was named for questions: NEO4J_URI alone names none, for most checks need none."""
    named = session.graph_name is not None or session.home is not None or session.layout is not None
    return named or (session.connection is not None and session.connection != environment("NEO4J_URI"))


def _checked(session: Session, files: Sequence[Path], options: CheckOptions) -> object:
    return questions_check.run(session, files, options, graph=_has_graph(session))


def _check_planned(session: Session, files: Sequence[Path], options: CheckOptions) -> Plan:
    return questions_check.plan(session, files, options, graph=_has_graph(session))


_ROWS = (
    StageKind(
        "build", ("build",), BuildOptions, CONNECTION + EMBEDDING + WORKING + ("graph_name", "outputs", "form"), "extractor",
        run=build.run, plan=build.plan, section="build", files="docs",
    ),
    StageKind(
        "import", ("import",), ImportOptions, CONNECTION + WORKING + ("graph_name",),
        run=lambda session, files, options: imports.run(session, files[0] if files else None, options),
    ),
    StageKind(
        "audit", ("audit",), AuditOptions, CONNECTION + LAYOUT + EMBEDDING + AURA + WORKING + SHOWN + ("cache_dir",),
        run=lambda session, files, request: audit.run(session, request), section="audit", files="graphs", record=AuditReport,
        resumes="resume",
    ),
    StageKind(
        "completeness", ("completeness",), CompletenessOptions, CONNECTION + LAYOUT + EMBEDDING + WORKING + SHOWN, "judge",
        run=lambda session, files, options: completeness.run(session, options),
        plan=lambda session, files, options: completeness.plan(session, options), section="completeness", record=CompletenessReport,
    ),
    StageKind(
        "accuracy", ("accuracy",), AccuracyOptions, CONNECTION + LAYOUT + EMBEDDING + WORKING + SHOWN, "judge",
        run=lambda session, files, options: accuracy.run(session, options),
        plan=lambda session, files, options: accuracy.plan(session, options), section="accuracy", record=AccuracyReport,
    ),
    StageKind(
        "questions", ("questions", "generate"), GenerateOptions,
        CONNECTION + LAYOUT + EMBEDDING + WORKING + ("outputs", "form", "quiet"), "generator",
        run=lambda session, files, options: questions_generate.run(session, options),
        plan=lambda session, files, options: questions_generate.plan(session, options), section="questions", writes=lambda path: False,
    ),
    StageKind(
        "check", ("questions", "check"), CheckOptions, CONNECTION + LAYOUT + EMBEDDING + WORKING + SHOWN, "judge", run=_checked,
        plan=_check_planned, files="files", writes=lambda path: path.suffix.lower() != ".jsonl", record=CheckReport,
    ),
    StageKind(
        "coverage", ("questions", "coverage"), CoverageOptions, CONNECTION + LAYOUT + SHOWN, run=questions_coverage.run, files="files",
        record=CoverageReport,
    ),
    StageKind(
        "answers", ("answer",), AnswerOptions, CONNECTION + LAYOUT + EMBEDDING + WORKING + ("outputs", "quiet"), "reader",
        run=lambda session, files, options: answer.run(session, files[0], options),
        plan=lambda session, files, options: answer.plan(session, files[0], options), file="questions", resumes="retry_errors",
        writes=lambda path: False,
    ),
    StageKind(
        "scores", ("score",), ScoreOptions, CONNECTION + LAYOUT + EMBEDDING + WORKING + SHOWN, "judge", batches=True, run=score_parts.run,
        plan=score.plan, section="score", files="answers", resumes="retry_errors", writes=lambda path: not is_result(path),
        record=ScoreReport,
    ),
    StageKind(
        "contamination", ("contamination",), ContaminationOptions, CONNECTION + LAYOUT + WORKING + SHOWN, "judge",
        run=lambda session, files, options: contamination.run(session, files[0], options),
        plan=lambda session, files, options: contamination.plan(session, files[0], options), section="contamination", file="questions",
        record=ContaminationReport,
    ),
    StageKind(
        "compare", ("compare",), CompareOptions, CONNECTION + LAYOUT + EMBEDDING + WORKING + SHOWN, "judge", batches=True,
        run=compare.run, plan=compare.plan, section="compare", files="answers",
        writes=lambda path: path.suffix.lower() != ".jsonl" and not is_folder(path), record=ComparisonReport,
    ),
    StageKind(
        "matrix", ("report", "score-matrix"), CrossingOptions, ("outputs", "form", "quiet"),
        run=lambda session, files, options: matrix.run(session, files[0], options), file="folder", record=CrossedReport,
    ),
    StageKind("report", ("report",), ReportOptions, (*SHOWN, "config_file"), run=report.run, files="runs", record=OverviewReport),
)
KINDS = {kind.name: kind for kind in _ROWS}
