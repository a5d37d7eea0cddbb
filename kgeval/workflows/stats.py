"""Statistics on plain files of scores and verdicts, for people who have their own judge. No model is asked.

Scores of several systems, question by question: `paired`, `aa`, `power`. Verdicts of a pairwise judge: `rank`, `judge`, `sequential`.
A judge compared with people: `correct`, `drift`. Each takes a session, the files and its options, and gives a StatsResult.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.config import (
    ConfidenceOptions,
    CorrectOptions,
    DriftOptions,
    PowerOptions,
    RankOptions,
    ScoreTableOptions,
    SequentialOptions,
    StatsOptions,
    VerdictOptions,
)
from kgeval.errors import InputError, UsageError
from kgeval.rounding import is_equal, side
from kgeval.workflows.result import Result
from kgeval.workflows.rows import STDIN
from kgeval.workflows.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.comparison.given.scores import ScoreColumn, Span
    from kgeval.comparison.given.tables import GivenPairs
    from kgeval.records import Anchor, CorrectedRate, Drift, PairedResult, PairResult, PowerRow, StatsKind
    from kgeval.tables.label_files import PairLabel
    from kgeval.tables.score_tables import Scores
    from kgeval.tables.verdict_files import Verdicts

SHOWN = 20  # questions named in a message


@dataclass(frozen=True)
class StatsResult(Result):
    """Statistics of files. `report`: a StatsReport; only the parts of its `kind` are filled."""

    def to_pandas(self) -> pd.DataFrame:
        """A row a pair, judge, share, check or sequence, whichever the kind is about, with the fields that the JSON report has for it."""
        import pandas as pd

        report = self.report
        rows = {
            "paired": report.paired, "rank": report.pairs, "judge": report.judge, "power": report.power, "aa": report.self_checks,
            "correct": report.corrected or report.shares, "sequential": report.sequences, "drift": [report.drift],
        }[report.kind]
        return pd.DataFrame([row.model_dump(mode="json") for row in rows])


def paired(session: Session, files: Sequence[Path], options: ScoreTableOptions) -> StatsResult:
    """Systems on the same questions: differences with intervals, tests, effect sizes. Raises: UsageError, InputError."""
    from kgeval.comparison.given.scores import means, missing_of, outcomes_of, paired_results, scale_of

    _check_outputs(session, files)
    scores, columns = _scores(files, options)
    if len(columns) < 2:
        there = ", ".join(f"'{column.system}' ({column.metric})" for column in columns) or "none"
        raise InputError(
            f"two systems are needed, found: {there}", fix="give a file of another system, or name columns: --filter-system A,B",
        )
    scale, seed, confidence = scale_of(columns, _span(options.bounds)), options.seed, options.confidence
    results = paired_results(columns, seed=seed, confidence=confidence, scale=scale)
    if not results:
        raise InputError("no metric is there for two systems", fix="give the same metric for both; --map metric=FIELD names its field")
    return _result(
        session, "paired", options, files, scores.rows, systems=means(columns, seed=seed, confidence=confidence, scale=scale),
        paired=results, missing=missing_of(columns), outcomes=outcomes_of(
            columns, results, seed=seed, confidence=confidence, scale=scale, unit=options.cluster or "document",
        ),
        notes=[*scores.notes, *_cautions(results), *_group_notes(results, options), *_scale_notes(results, scale)],
    )


def aa(session: Session, files: Sequence[Path], options: ScoreTableOptions) -> StatsResult:
    """Whether two independent runs of one system differ, by scores or by verdicts between them. Raises: UsageError, InputError."""
    from kgeval.comparison.given.scores import missing_of, paired_results, scale_of
    from kgeval.comparison.given.verdicts import self_check_of
    from kgeval.records import SelfCheck

    _check_outputs(session, files)
    if _has_verdicts(files):
        of_verdicts = VerdictOptions(map=options.map, seed=options.seed, bounds=options.bounds, allow_missing=options.allow_missing)
        verdicts, tables = _verdicts(files, of_verdicts)
        checks = [self_check_of(table, seed=options.seed, confidence=options.confidence) for table in tables.tables]
        return _result(session, "aa", options, files, verdicts.rows, self_checks=checks, notes=_notes(verdicts, tables))
    scores, columns = _two_runs(files, options)
    scale = scale_of(columns, _span(options.bounds))
    results = paired_results(columns, seed=options.seed, confidence=options.confidence, scale=scale)
    checks = [
        SelfCheck(
            system=f"{pair.system_a} / {pair.system_b}, {pair.metric}", relative=pair.difference, n=pair.n_scored,
            passed=_holds_zero(pair),
        ) for pair in results
    ]
    return _result(
        session, "aa", options, files, scores.rows, self_checks=checks, paired=results, missing=missing_of(columns),
        notes=[*scores.notes, *_cautions(results), *_group_notes(results, options), *_scale_notes(results, scale)],
    )


def power(session: Session, files: Sequence[Path], options: PowerOptions) -> StatsResult:
    """How many questions a difference needs, or what a number of questions can find. Without files `sd` is needed.

    Raises: UsageError, InputError.
    """
    from kgeval.comparison.given.scores import paired_results, scale_of

    _check_outputs(session, files)
    _check_power(files, options)
    bounds = _span(options.bounds)
    if not files and options.sd is not None:
        return _result(session, "power", options, files, {}, power=[_power_row(options, options.sd, bounds)])
    scores, columns = _scores(files, options)
    scale = scale_of(columns, bounds)
    results = paired_results(columns, seed=options.seed, confidence=options.confidence, scale=scale)
    if not results:
        raise InputError("two systems are needed to see a spread", fix="give the scores of two systems, or --sd")
    rows = [_power_row(options, options.sd if options.sd is not None else _sd_of(pair), scale, pair) for pair in results]
    flat = [f"{pair.system_a} - {pair.system_b}: no spread is seen, so nothing can be said" for pair in results if not pair.sd]
    return _result(session, "power", options, files, scores.rows, power=rows, notes=[*scores.notes, *flat])


def rank(session: Session, files: Sequence[Path], options: RankOptions) -> StatsResult:
    """Systems in order by pairwise verdicts: Bradley-Terry with ties, intervals over questions, average win rates. Writes the outcomes of
    `export`. Raises: UsageError, InputError."""
    from kgeval.comparison.given.tables import single_outcomes
    from kgeval.comparison.given.verdicts import ranking_of
    from kgeval.comparison.results.pair import pair_results, with_holm
    from kgeval.tables.verdict_files import write_duels

    _check_outputs(session, files)
    _check_export(session, files, options.export)
    verdicts, tables = _verdicts(files, options)
    pairs = with_holm(
        result for table in tables.tables
        for result in pair_results(
            table, seed=options.seed, by=("all",), aspects=("overall",), pairs=len(tables.tables), confidence=options.confidence,
        )
    )
    ranking = ranking_of(tables.tables, seed=options.seed, confidence=options.confidence, half=options.ties == "half")
    missing = {" - ".join(pair): gone for pair, gone in tables.lacking.items()} if not verdicts.by_row else {}
    if options.export is not None:
        write_duels(options.export, single_outcomes(tables.tables))
    return _result(
        session, "rank", options, files, verdicts.rows, ranking=ranking, pairs=pairs, missing=missing,
        notes=[*_notes(verdicts, tables), *_cautions(pairs)],
    )


def judge(session: Session, files: Sequence[Path], options: VerdictOptions) -> StatsResult:
    """What the verdicts say of the judge: preference for a position, winners that turn with the order, ties, repeats, length.

    Raises: UsageError, InputError.
    """
    from kgeval.comparison.given.verdicts import judge_reports

    _check_outputs(session, files)
    verdicts, tables = _verdicts(files, options)
    reports = judge_reports(tables, verdicts.verdicts, seed=options.seed)
    return _result(session, "judge", options, files, verdicts.rows, judge=reports, notes=_notes(verdicts, tables))


def sequential(session: Session, files: Sequence[Path], options: SequentialOptions) -> StatsResult:
    """An interval of win - loss that holds at every question, and when it was sure. Raises: UsageError, InputError."""
    from kgeval.comparison.given.verdicts import sequence_of

    _check_outputs(session, files)
    if not 0 <= options.tie_region < 1:
        raise UsageError(f"--tie-region {options.tie_region:g} is not from 0 to below 1", fix="e.g. --tie-region 0.1")
    verdicts, tables = _verdicts(files, options)
    sequences = [
        sequence_of(
            table, seed=options.seed, confidence=options.confidence, tie_region=options.tie_region, order=options.order,
            least=options.least,
        ) for table in tables.tables
    ]
    return _result(session, "sequential", options, files, verdicts.rows, sequences=sequences, notes=_notes(verdicts, tables))


def correct(session: Session, files: Sequence[Path], options: CorrectOptions) -> StatsResult:
    """A judge corrected by few labels of people: PPI++ and Rogan-Gladen. Win rates of verdicts with `human`, else a share of rows.

    Raises: UsageError, InputError.
    """
    from kgeval.comparison.corrected import SELECTED, ShareItem, corrected_shares, selected
    from kgeval.tables.label_files import read_labels, read_shares
    from kgeval.tables.winners import said_by

    read = [*files, *options.labels]
    _check_outputs(session, read)
    if options.labels:
        verdicts, tables = _verdicts(files, options)
        rates = _rates(tables, read_labels(options.labels, winners=said_by(options.winners)), options)
        warning = selected(rates)
        notes = [*([warning] if warning else []), *_notes(verdicts, tables)]
        return _result(session, "correct", options, read, verdicts.rows, corrected=rates, notes=notes)
    rows, notes = read_shares(files, options.map)
    shares, p = corrected_shares([ShareItem(row.judge, row.human, row.cluster) for row in rows])
    if p is not None and p < SELECTED:
        notes = [f"the labelled rows are no random part of the judged ones (p = {p:.2g}): the corrections are not to be trusted", *notes]
    counts = {files[0].name if len(files) == 1 else "all files": len(rows)}
    return _result(session, "correct", options, read, counts, shares=shares, selection_p=p, notes=notes)


def drift(session: Session, files: Sequence[Path], options: DriftOptions) -> StatsResult:
    """Whether a judge moved: its verdicts on a fixed set of labelled pairs (`anchors`), against people and against `baseline`.

    Raises: UsageError, InputError.
    """
    from kgeval.comparison.drift import drift as measure
    from kgeval.tables.label_files import read_anchors

    if options.anchors is None:
        raise UsageError("the labelled pairs are needed", fix="give --anchors FILE")
    read = [*files, options.anchors, *([options.baseline] if options.baseline else [])]
    _check_outputs(session, read)
    labelled, lenient = read_anchors(options.anchors), options.model_copy(update={"allow_missing": True})
    verdicts, tables = _verdicts(files, lenient)
    _check_known(labelled, verdicts)
    seed, confidence, procedure = options.seed, options.confidence, tables.procedure
    before = None
    if options.baseline is not None:
        before = report_drift(options.baseline)
        if before is None:
            earlier, _ = _verdicts([options.baseline], lenient)
            _check_known(labelled, earlier)
            before = measure(labelled, earlier.verdicts, None, seed=seed, confidence=confidence, procedure=procedure)
    measured = measure(labelled, verdicts.verdicts, before, seed=seed, confidence=confidence, procedure=procedure)
    return _result(session, "drift", options, read, verdicts.rows, drift=measured, notes=_notes(verdicts, tables))


def report_drift(path: Path) -> Drift | None:
    """The drift that a JSON report keeps; None where the file is no report. Raises: InputError for a report without one."""
    from pydantic import ValidationError

    from kgeval.records import Drift
    from kgeval.tables import read_json

    if path.suffix.lower() != ".json":
        return None
    try:
        value = read_json(path)
    except InputError as cause:
        if "not JSON" in cause.message:
            return None  # lines of verdicts under a .json name
        raise
    if not isinstance(value, dict) or "run" not in value:
        return None
    if value.get("drift") is None:
        raise InputError(f"{path}: the report holds no anchors", fix="give a report of a run with --anchors, or its verdicts")
    try:
        return Drift.model_validate(value["drift"])
    except ValidationError as cause:
        raise InputError(f"{path}: drift: {cause.errors()[0]['msg']}", fix="give a report as kgeval writes it") from cause


def _check_outputs(session: Session, read: Sequence[Path]) -> None:
    """Before anything is read. `read`: every file that will be."""
    from kgeval.records import StatsReport
    from kgeval.reports.write import check_outputs

    check_outputs(session.outputs, StatsReport, read=read)


def _result(
    session: Session, kind: StatsKind, options: StatsOptions, read: Sequence[Path], rows: Mapping[str, int], **parts: Any,
) -> StatsResult:
    """The report. `rows`: file -> rows read; `parts`: fields of StatsReport that this kind fills."""
    from kgeval.records import StatsInput, StatsReport

    return StatsResult(StatsReport(
        run=session.manifest(options, inputs=[path for path in read if path != STDIN], seed=options.seed), kind=kind, seed=options.seed,
        confidence=options.confidence if isinstance(options, ConfidenceOptions) else 0.95,
        inputs=[StatsInput(file=file, rows=n) for file, n in rows.items()], **parts,
    ))


def _span(text: str | None) -> Span | None:
    """--range LOW,HIGH. Raises: UsageError for another form."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        # no span: refused below with those that are none
        low = high = 0.0
    if not low < high or high == float("inf") or low == float("-inf"):
        raise UsageError(f"faulty --range: '{text}'", fix="write LOW,HIGH with LOW below HIGH, e.g. --range 0,1")
    return low, high


def _check_once(files: Sequence[Path]) -> None:
    """Raises: UsageError where one file is given twice."""
    if twice := sorted({str(path) for path in files if list(files).count(path) > 1}):
        raise UsageError(f"given twice: {', '.join(twice)}", fix="give each file once")


def _refuse_missing(missing: Mapping[str, Sequence[str]], what: str) -> None:
    """Raises: InputError with the questions that are lacking, if any are."""
    if missing:
        lines = [f"{name} lacks {len(gone)}: {', '.join(gone[:SHOWN])}" + " ..." * (len(gone) > SHOWN) for name, gone in missing.items()]
        raise InputError(what, fix="add what is lacking, or go on with the questions that both have: --allow-missing", faults=lines)


# --- scores


def _scores(files: Sequence[Path], options: ScoreTableOptions) -> tuple[Scores, list[ScoreColumn]]:
    """The scores by system and metric. Raises: InputError for faults, and for systems with different questions unless allowed."""
    from kgeval.comparison.given.scores import columns_of, missing_of
    from kgeval.tables.score_tables import ScoreSelection, read_score_tables

    _check_once(files)
    maps = options.map | ({"question_id": options.paired_by} if options.paired_by else {})
    scores = read_score_tables(files, ScoreSelection(maps, options.systems, options.metrics, _span(options.bounds), options.cluster))
    columns = columns_of(scores.cells)
    if not options.allow_missing:
        _refuse_missing(missing_of(columns), "systems have different questions")
    return scores, columns


def _cautions(results: Sequence[PairedResult] | Sequence[PairResult]) -> list[str]:
    """What must be said of the size of the sample."""
    from kgeval.stats.power import tier

    scored = [result.n_scored for result in results]
    if not any(scored):
        return ["no question has a value of two systems"]
    least = min(scored)
    if least == 1:
        return ["one question only: there is no interval and no test"]
    caution = tier(least).caution
    return [caution] if caution else []


def _group_notes(results: Sequence[PairedResult], options: ScoreTableOptions) -> list[str]:
    """What intervals and tests are over where questions come in groups, and why there is no interval where these are few."""
    from kgeval.stats.grouped import LEAST_GROUPS

    grouped = [result for result in results if result.groups is not None]
    if not grouped:
        return []
    least = min(grouped, key=lambda result: result.groups or 0)
    field, drawn = options.cluster or "document", f"{least.n_scored:,} questions of {least.groups:,} groups"
    if (least.groups or 0) < LEAST_GROUPS:
        return [
            f"no interval: {drawn} ({field}), and fewer than {LEAST_GROUPS} do not tell what another would say "
            "(--cluster question takes each question as drawn alone)",
        ]
    return [f"intervals, p and what would be found are over groups of questions ({field}): {drawn}"]


def _sd_of(pair: PairedResult) -> float:
    """As questions that stand alone would be spread to be as unsure."""
    sd = pair.sd or 0.0
    return sd if pair.effective is None or not pair.effective else sd * (pair.n_scored / pair.effective) ** 0.5


def _scale_notes(results: Sequence[PairedResult], scale: Span | None) -> list[str]:
    """Why there is no interval where all differences are equal and nobody said where scores can lie."""
    if scale is not None or not any(
        result.n_scored > 1 and result.difference.low is None and result.groups is None for result in results
    ):
        return []
    return ["no interval where all differences are equal: give --range LOW,HIGH, the least and largest score there can be"]


def _holds_zero(pair: PairedResult) -> bool | None:
    """Whether the interval holds 0. Without one, where all differences are equal: 0 lies in any interval of differences that are 0."""
    difference, a, b = pair.difference, pair.mean_a, pair.mean_b
    if a is None or b is None:
        return None
    if difference.low is None or difference.high is None:
        return True if pair.n_scored > 1 and is_equal(a, b) else None
    return not side(difference.low, difference.high, scale=max(abs(a), abs(b)))


def _two_runs(files: Sequence[Path], options: ScoreTableOptions) -> tuple[Scores, list[ScoreColumn]]:
    """Two columns a metric. Two files of one system with one name: the runs are called by their files."""
    from kgeval.comparison.given.scores import columns_of, missing_of
    from kgeval.tables.score_tables import Scores

    if len(files) == 2:
        lenient = options.model_copy(update={"allow_missing": True})
        alone = [_scores([path], lenient)[0] for path in files]
        names = [set(scores.systems) for scores in alone]
        if len(names[0]) == 1 and names[0] == names[1]:
            stems = [path.stem if files[0].stem != files[1].stem else str(path) for path in files]
            cells = [replace(cell, system=stem) for stem, scores in zip(stems, alone, strict=True) for cell in scores.cells]
            rows = {str(path): sum(scores.rows.values()) for path, scores in zip(files, alone, strict=True)}
            columns = columns_of(cells)
            if not options.allow_missing:
                _refuse_missing(missing_of(columns), "the runs have different questions")
            return Scores(tuple(cells), rows, alone[0].notes), columns
    scores, columns = _scores(files, options)
    if len(scores.systems) != 2:
        raise InputError(f"two runs are needed, found: {', '.join(scores.systems) or 'none'}", fix="choose two: --filter-system RUN1,RUN2")
    return scores, columns


def _check_power(files: Sequence[Path], options: PowerOptions) -> None:
    """Raises: UsageError for options that do not go together."""
    sd, difference = options.sd, options.difference
    wrong = [number for number in (sd, difference) if number is not None and not abs(number) < float("inf")]
    if wrong or (sd is not None and sd <= 0):
        raise UsageError("--sd and --difference are finite numbers, --sd above 0", fix="e.g. --sd 0.3 --difference 0.05")
    if not files and sd is None:
        raise UsageError("no spread is known", fix="give --sd, or files of scores from a pilot")
    if not files and difference is None and options.n is None:
        raise UsageError("nothing is asked", fix="give --difference D for the n that it needs, or --n N for what N questions find")
    if difference == 0:
        raise UsageError("no number of questions finds a difference of 0", fix="give the smallest difference that matters")
    if 1 - options.confidence >= options.power:
        raise UsageError("--power must lie above 1 - --confidence", fix="e.g. --power 0.8 --confidence 0.95")


def _power_row(options: PowerOptions, sd: float, scale: Span | None, pair: PairedResult | None = None) -> PowerRow:
    """Without `n` the number of questions of the pair is taken; without `difference`, the difference seen in it."""
    from kgeval.comparison.given.scores import within
    from kgeval.records import PowerRow
    from kgeval.stats.power import detectable, needed, tier

    alpha, chance = 1 - options.confidence, options.power
    n = options.n if options.n is not None else pair.n_scored if pair else None
    difference = options.difference if options.difference is not None else pair.difference.value if pair else None
    names = {"system_a": pair.system_a, "system_b": pair.system_b, "metric": pair.metric} if pair else {}
    least = detectable(sd, n, power=chance, alpha=alpha) if n is not None and n > 1 else None
    questions = needed(difference or 0.0, sd, power=chance, alpha=alpha)
    return PowerRow(
        sd=sd, power=chance, n=n, detectable=within(least, None if scale is None else scale[1] - scale[0]),
        difference=difference, needed=questions.n, needed_above=questions.above,
        tier=tier(n).name if n is not None else None, **names,
    )


# --- verdicts


def _verdicts(files: Sequence[Path], options: VerdictOptions) -> tuple[Verdicts, GivenPairs]:
    """The verdicts and their tables. Raises: InputError for faults, and for pairs with different questions unless allowed."""
    from kgeval.comparison.given.tables import tables_of_verdicts
    from kgeval.tables.verdict_files import VerdictsWanted, read_verdicts
    from kgeval.tables.winners import said_by

    _check_once(files)
    verdicts = read_verdicts(files, VerdictsWanted(options.map, said_by(options.winners), _span(options.bounds)))
    tables = tables_of_verdicts(verdicts.verdicts, procedure=options.procedure)
    if not tables.tables:
        raise InputError(f"no verdict of the procedure '{options.procedure}'", fix=f"choose among: {', '.join(tables.others)}")
    if not verdicts.by_row and not options.allow_missing:
        lacking = {" - ".join(pair): gone for pair, gone in tables.lacking.items()}
        _refuse_missing(lacking, "pairs were judged on different questions")
    return verdicts, tables


def _notes(verdicts: Verdicts, tables: GivenPairs) -> list[str]:
    """What a reader must know of how the verdicts were read."""
    left = [f"{n} verdicts of the procedure '{name}' left out: --procedure {name} takes them" for name, n in tables.others.items()]
    return [*verdicts.notes, *left, *tables.notes]


def _has_verdicts(files: Sequence[Path]) -> bool:
    """Whether the only file holds verdicts: two systems in a row."""
    from kgeval.tables.given import Faults, fields_of, sheet_of
    from kgeval.tables.verdict_files import FIELDS

    if len(files) != 1 or files[0] == STDIN:
        return False
    fields = fields_of(sheet_of(files[0], Faults()), FIELDS, {})
    return "system_a" in fields and "system_b" in fields


def _check_export(session: Session, files: Sequence[Path], path: Path | None) -> None:
    """Raises: UsageError for a file of --export that is no CSV, cannot be written, or is read."""
    from kgeval.reports.write import check_replaced
    from kgeval.tables.output import blocked

    if path is None:
        return
    if path.suffix.lower() != ".csv":
        raise UsageError(f"--export {path}: unknown ending", fix="name a file that ends in .csv")
    if path in session.outputs:
        raise UsageError(f"--export and -o name one file: {path}", fix="name two files")
    if why := blocked(path):
        raise UsageError(f"--export {path}: {why}", fix="name another file")
    check_replaced([path], files, flag="--export")


# --- people


def _rates(tables: GivenPairs, labels: Sequence[PairLabel], options: CorrectOptions) -> list[CorrectedRate]:
    """The corrections of every pair with labels. Raises: InputError where labels are about nothing that was judged."""
    from kgeval.comparison.corrected import corrected, labels_of

    if len(tables.tables) > 1 and any(label.system_a is None for label in labels):
        raise InputError("the labels do not say which systems they are about, and there are several pairs", fix="add system_a and system_b")
    rates: list[CorrectedRate] = []
    unknown: list[str] = []
    pairs = [{table.system_a, table.system_b} for table in tables.tables]
    for table in tables.tables:
        labelled = labels_of(table, labels)
        unknown += labelled.unknown
        if labelled.values:
            rates += corrected(table, labelled, seed=options.seed)
    unknown += [
        f"{label.where}: no verdict on '{label.system_a}' and '{label.system_b}'"
        for label in labels if label.system_a is not None and {label.system_a, label.system_b} not in pairs
    ]
    if unknown and (not options.allow_missing or not rates):
        fix = "give the labels of these verdicts" + ("" if not rates else ", or leave the others out: --allow-missing")
        raise InputError(f"{len(unknown)} labels are about nothing that was judged", fix=fix, faults=unknown)
    if not rates:
        raise InputError("there is no label at all", fix="fill the field of the labels: a, b, tie, or a number from -1 to 1")
    return rates


def _check_known(anchors: Sequence[Anchor], verdicts: Verdicts) -> None:
    """Raises: InputError where no verdict is about an anchor."""
    questions = dict.fromkeys(verdict.question_id for verdict in verdicts.verdicts)
    if not questions.keys() & {anchor.id for anchor in anchors}:
        raise InputError(
            f"no verdict is about an anchor; the verdicts are about: {', '.join(list(questions)[:SHOWN])}",
            fix=f"the question_id of a verdict must be the anchor's id, such as '{anchors[0].id}'",
        )
