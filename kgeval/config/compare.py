"""The options of `kgeval compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from kgeval.config.answer import SPECS, Specs, SystemOptions
from kgeval.config.audit import GATES
from kgeval.config.base import Section
from kgeval.config.flags import Flag
from kgeval.config.rows import FILTERS, ROWS, SEEDS, FilterOptions, KnownOptions, mapped_fields
from kgeval.config.score import WORKERS, one_path, several

# headings of --help
PAIRS, JUDGING, LENGTHS, SYSTEMS = "Which pairs", "How it is judged", "Answers of one length", "Systems that answer anew"
STOPPING, CALIBRATION, SHOWN, SIMULATION = "Stopping early", "Checks on the comparison", "What is written", "Simulation"
Judged = Literal["scores", "single", "pairwise-choice", "differential"]
_Texts = Annotated[tuple[str, ...], BeforeValidator(one_path)]


class CompareOptions(KnownOptions, FilterOptions, SystemOptions):
    """Who is compared, how it is judged and how often: keywords of kgeval.compare, flags of `kgeval compare`, keys of `[compare]` in
    kgeval.toml. None: as the description says."""

    questions: Annotated[Path | None, Flag(metavar="FILE")] = Field(
        default=None, description="The questions; joined with the answers by id.",
    )
    systems: Specs = Field(
        default=(), description=f"A system that is asked, or by the name of a file's system its hook for lengths: {SPECS}.",
    )
    against: Annotated[str | None, Flag(metavar="SYSTEM")] = Field(
        default=None, description="Compare every other system with this one only [default: all pairs].",
    )
    procedure: Annotated[Judged | None, Flag()] = Field(default=None, description="How the judge is asked [default: scores].")
    trials: Annotated[int | None, Flag(metavar="M")] = Field(default=None, ge=1, le=1000, description=(
        "Trials over all questions, at most: no request is sent again that an earlier trial has sent [default: 25]."
    ))

    pairs: Annotated[_Texts, Flag(metavar="A:B", heading=PAIRS)] = Field(
        default=(), description="Compare these pairs only (repeatable).",
    )
    self_checks: Annotated[_Texts, Flag("--self-check", "SYSTEM[=OTHER]", heading=PAIRS)] = Field(default=(), description=(
        "A/A check: the system beside a second run of itself; OTHER: the system of a second run's file (repeatable)."
    ))
    allow_missing: Annotated[bool, Flag(heading=PAIRS)] = Field(
        default=False, description="Compare two systems on the questions that both have; the others are listed.",
    )

    show: Annotated[Literal["reference", "evidence", "both", "none"] | None, Flag(heading=JUDGING)] = Field(
        default=None, description="What the judge is shown of the right answer [default: what the questions have].",
    )
    aspects: Annotated[tuple[str, ...], BeforeValidator(several), Flag(metavar="NAMES", commas=True, heading=JUDGING)] = Field(
        default=(), description="Which aspects, comma or repeated; zeng: the paper's four [default: these, and correctness and "
        "completeness where the judge is shown something of the right answer].",
    )
    grades: Annotated[Path | None, Flag(metavar="TOML", heading=JUDGING)] = Field(
        default=None, description="Aspects and grades of your own (kgeval help judge-procedures).",
    )
    repeats: Annotated[int | None, Flag(metavar="N", heading=JUDGING)] = Field(default=None, ge=1, le=100, description=(
        "Calls for one order of two answers; one where the judge has temperature 0 [default: 2]."
    ))
    temperature: Annotated[float | None, Flag(metavar="X", heading=JUDGING)] = Field(default=None, ge=0, le=2, description=(
        "Of the judge; above 0 the same request gives another draw in each trial and repeat [default: 0]."
    ))
    wordings: Annotated[int | None, Flag(metavar="W", heading=JUDGING)] = Field(default=None, ge=1, le=10, description=(
        "Wordings of aspects and grades, which trials take in turn; kgeval's own have 3 [default: 1]."
    ))
    trial_kind: Annotated[Literal["regenerate", "rejudge"] | None, Flag(heading=JUDGING)] = Field(default=None, description=(
        "Does a trial have systems answer again? [default: regenerate where all can be called, else rejudge]."
    ))
    seed: Annotated[int, Flag(heading=JUDGING)] = Field(default=0, ge=0, lt=SEEDS, description="Seed of orders and intervals")

    align: Annotated[Literal["pair", "longest", "none"] | None, Flag(heading=LENGTHS)] = Field(default=None, description=(
        "Bring two answers to one length, all to the longest, or not [default: pair; differential: none]."
    ))
    tolerance: Annotated[int | None, Flag(metavar="WORDS", heading=LENGTHS)] = Field(
        default=None, ge=0, le=10_000, description="Words that may differ [default: 10].",
    )
    attempts: Annotated[int | None, Flag(heading=LENGTHS)] = Field(
        default=None, ge=0, le=100, description="Times that a system is asked for a length [default: 5].",
    )
    align_model: Annotated[str | None, Flag(metavar="NAME", heading=LENGTHS)] = Field(
        default=None, description="Model that adds words [default: the reader's of built-in systems, else the judge].",
    )
    no_force: Annotated[bool, Flag(heading=LENGTHS)] = Field(
        default=False, description="Have no model add words [default: the reader's of built-in systems does, else the judge].",
    )
    meaning_sample: Annotated[int, Flag(metavar="N", heading=LENGTHS)] = Field(default=30, ge=0, le=100_000, description=(
        "Aligned answers a pair of which the judge says whether they keep their claims, 0: none"
    ))

    stop_when_sure: Annotated[bool, Flag(heading=STOPPING)] = Field(
        default=False, description="Stop a pair when its always-valid interval decides [then trials: 3].",
    )
    tie_region: Annotated[float | None, Flag(metavar="X", heading=JUDGING)] = Field(
        default=None, ge=0, le=0.99, allow_inf_nan=False, description="Relative win rate that counts as equal [default: 0.1].",
    )
    no_tie_band: Annotated[bool, Flag(heading=JUDGING)] = Field(default=False, description=(
        "Let any difference of points decide a question [default: one within the judge's own noise between both orders is a tie]."
    ))
    cluster: Annotated[str | None, Flag(metavar="FIELD", heading=JUDGING)] = Field(default=None, description=(
        "What questions are drawn with: document, entity, dataset, level, question or a field of yours [default: the first known of "
        "document, entity, question]."
    ))

    baseline_biased: Annotated[bool, Flag(heading=CALIBRATION)] = Field(
        default=False, description="Also the biased way: one order, one trial, free lengths, no ties.",
    )
    contrast: Annotated[tuple[Judged, ...], BeforeValidator(one_path), Flag(heading=CALIBRATION)] = Field(
        default=(), description="Also another procedure beside it (repeatable).",
    )
    anchors: Annotated[Path | None, Flag(metavar="FILE", heading=CALIBRATION)] = Field(
        default=None, description="Pairs with people's verdicts, judged again: has the judge moved?",
    )
    labels: Annotated[Path | None, Flag(metavar="FILE", heading=CALIBRATION)] = Field(
        default=None, description="Labels of people on a random sample: correct the judge by them.",
    )
    baseline: Annotated[Path | None, Flag(metavar="JSON", heading=CALIBRATION)] = Field(
        default=None, description="An earlier comparison (.json): what has changed.",
    )

    thresholds: Annotated[_Texts, Flag("--threshold", "[A[:B]:]FIGURE[@ASPECT]>=X", heading=GATES)] = Field(default=(), description=(
        "E.g. new:low>=-0.05; FIGURE: relative, low, high, win, tie, loss, gap; missed: exit 1 (comma or repeated)."
    ))

    verdicts: Annotated[Path | None, Flag(metavar="FILE", heading=SHOWN)] = Field(
        default=None, description="All verdicts: .jsonl or .csv.",
    )
    drill: Annotated[int, Flag("--examples", heading=SHOWN)] = Field(
        default=200, ge=0, le=100_000, description="Examples that the report opens: questions with all their verdicts",
    )

    reader: Annotated[str | None, Flag(metavar="NAME", heading=SYSTEMS)] = Field(
        default=None, description="Model of built-in systems [default: model.reader.name of kgeval.toml].",
    )
    fresh_answers: Annotated[bool, Flag(heading=SYSTEMS)] = Field(
        default=False, description="Ask the systems again, whatever earlier runs kept of their answers.",
    )

    filter_systems: Annotated[tuple[str, ...], BeforeValidator(several), Flag("--filter-system", "NAME", commas=True, heading=FILTERS)] = (
        Field(default=(), description="Only these systems of the files.")
    )
    map: Annotated[dict[str, str], AfterValidator(mapped_fields), Flag(metavar="NAME=FIELD", heading=ROWS)] = Field(
        default_factory=dict, description="Which field of the files is what: answer=response (repeatable).",
    )
    allow_duplicates: Annotated[bool, Flag(heading=ROWS)] = Field(
        default=False, description="Of several rows with one id, keep the first and count the rest.",
    )
    max_bad_rows: Annotated[float, Flag(heading=ROWS)] = Field(
        default=0.0, ge=0, le=1, description="Share of bad rows that are left out and counted; where there are more, nothing is done.",
    )
    shard: Annotated[str | None, Flag(metavar="K/N", heading=WORKERS)] = Field(
        default=None, description="Only shard K of N, by question: a part of the run; kgeval merge-shards puts the N parts together.",
    )


class SimulateOptions(Section):
    """The proof by simulation that the procedure is unbiased: `kgeval compare --simulate`. None: as SimulationSettings has it."""

    simulate: Annotated[bool, Flag(heading=SIMULATION)] = Field(
        default=False, description="No answers: show on judges with known biases that the procedure has none.",
    )
    runs: Annotated[int | None, Flag("--simulate-runs", "N", heading=SIMULATION)] = Field(
        default=None, ge=1, le=100_000, description="With --simulate: how many comparisons are drawn.",
    )
    n_questions: Annotated[int | None, Flag("--simulate-questions", "N", heading=SIMULATION)] = Field(
        default=None, ge=2, le=100_000, description="With --simulate: questions of a comparison.",
    )
    seed: int = 0
    trials: int | None = None
    repeats: int | None = None
    tie_region: float | None = None
