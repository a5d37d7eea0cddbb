"""Every option of a command without a graph that writes a file, over hostile texts: rights, wholeness, cells."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from answer_world import SIMPLE, script
from compare_world import PairJudge
from output_walk import HOSTILE, STEERING, Case, unwalked, walk

from kgeval.cli.main import run
from kgeval.llm.fake import Chat, FakeServer

LEVELS = ("fact_retrieval", "complex_reasoning")
SYSTEMS = {"=good": 4, f"@poor{STEERING}": 2}
MATRIX = Path(__file__).parents[1] / "goldens" / "inputs" / "matrix-run"
EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_world(folder: Path, n: int = 6) -> None:
    """Questions, answers and what is made of them, full of formulas and escape characters."""
    write_rows(folder / "questions.jsonl", [
        {
            "id": f"{'=+-@'[i % 4]}q{i}{STEERING}", "question": f"{HOSTILE} {i}?", "reference": f"{HOSTILE} {i}.",
            "level": LEVELS[i % 2], "dataset": f"+d{i % 2}", "evidence": [{"text": HOSTILE, "chunk_id": f"@{i}"}], "hops": 1 + i % 2,
        } for i in range(n)
    ])
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    for name, (system, worth) in zip(("a", "b"), SYSTEMS.items(), strict=True):
        write_rows(folder / f"{name}.jsonl", [
            {"question_id": row["id"], "system": system, "answer": f"{HOSTILE} {i}, worth {worth if i else 3}.", "contexts": [HOSTILE]}
            for i, row in enumerate(asked)
        ])
    verdicts = [
        {
            "question_id": row["id"], "system_a": "=good", "system_b": "@poor", "first": first, "winner": "ab"[i % 5 == 0],
            "procedure": "pairwise-choice", "aspect": "=overall", "length_a": 10 + i, "length_b": 12,
        } for i, row in enumerate(asked) for first in ("=good", "@poor")
    ]
    write_rows(folder / "verdicts.jsonl", verdicts)
    write_rows(folder / "labels.jsonl", [{"question_id": row["id"], "label": "a"} for row in asked])
    write_rows(folder / "judged.jsonl", [
        {"question_id": row["id"], "score": 0.25 + 0.5 * (i % 2), "label": i % 2 if i < 4 else None} for i, row in enumerate(asked)
    ])
    write_rows(folder / "human.jsonl", [
        {
            "id": f"i{i}", "annotator": name, "label": str(i % 3 - 1), "question_id": row["id"], "metric": "correctness",
            "system_a": "=good", "system_b": list(SYSTEMS)[1], "note": HOSTILE,
        } for i, row in enumerate(asked) for name in ("=ann", "bob")
    ])
    rows = [
        {
            "dataset": "=kiwi", "query_id": row["id"], "query": HOSTILE, "gt_answer": HOSTILE,
            "model1": {"model_name": "=x", "response": HOSTILE}, "model2": {"model_name": "@y", "response": HOSTILE},
            "correctness_label": 2, "completeness_label": -1, "overall_label": 0,
        } for row in asked
    ]
    (folder / "ragchecker.json").write_text(json.dumps(rows))
    (folder / "run.toml").write_text(
        'schema_version = "1"\n[questions]\nfile = "questions.jsonl"\n[answers]\nfiles = ["a.jsonl", "b.jsonl"]\n'
        '[metrics]\nnames = ["lexical"]\n[run]\nfolder = "elsewhere"\n',
    )
    script(folder, SIMPLE)
    write_rows(folder / "anchors.jsonl", [
        {"id": row["id"], "question": HOSTILE, "answer_a": HOSTILE, "answer_b": "b", "label": "a"} for row in asked
    ])


@pytest.fixture
def server() -> Iterator[FakeServer]:
    judge = PairJudge()

    def reply(chat: Chat) -> Any:
        names = set((chat.schema or {}).get("properties", {}))
        return judge(chat) if names & {"overall", "correctness", "winner"} else None

    with FakeServer(reply) as running:
        yield running


@pytest.fixture
def world(alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(tmp_path / "cache"))
    write_world(tmp_path)
    return tmp_path


def cases() -> list[Case]:
    scored = "a.jsonl b.jsonl --questions questions.jsonl --metrics lexical --no-progress"
    scores = (f"score {scored} -o scores.jsonl",)
    parts = tuple(f"score {scored} --shard {part}/2 -o part{part}.jsonl" for part in (1, 2))
    reports = "-o {out}/r.html -o {out}/r.json -o {out}/r.md"
    report_files = ("r.html", "r.json", "r.md")
    stats = [
        Case(f"stats {name} {words} {reports}", report_files, [(f"stats {name}", "-o")], codes=(0, 1, 3), first=scores) for name, words in (
            ("aa", "scores.jsonl"), ("judge", "verdicts.jsonl"), ("paired", "scores.jsonl"), ("power", "scores.jsonl"),
            ("sequential", "verdicts.jsonl"), ("correct", "judged.jsonl --map judge=score --map human=label"),
            ("drift", "verdicts.jsonl --anchors anchors.jsonl"),
        )
    ]
    return [
        *stats,
        Case(f"stats rank verdicts.jsonl --export {{out}}/d.csv {reports}", ("d.csv", *report_files),
             [("stats rank", "-o"), ("stats rank", "--export")], again=True),
        Case(f"score {scored} -o {{out}}/s.csv -o {{out}}/s.jsonl -o {{out}}/s.parquet -o {{out}}/r.html -o {{out}}/r.xml",
             ("s.csv", "s.jsonl", "s.parquet", "r.html", "r.xml"), [("score", "-o")], shared=("r.xml",), codes=(0, 3)),
        Case(f"score {scored} --redact -o {{out}}/r.html -o {{out}}/r.json", ("r.html", "r.json"), [], shared=("r.html", "r.json"),
             codes=(0, 3)),
        Case(f"score {scored} -o {{out}}/folder/", ("folder/results.jsonl",), [], codes=(0, 3)),
        Case("merge-shards part1.jsonl part2.jsonl -o {out}/m.csv -o {out}/r.md", ("m.csv", "r.md"), [("merge-shards", "-o")],
             codes=(0, 3), first=parts),
        Case(f"metrics correlate scores.jsonl {reports}", report_files, [("metrics correlate", "-o")], codes=(0, 3), first=scores),
        Case(f"metrics sensitivity a.jsonl --questions questions.jsonl --metrics lexical --no-progress {reports}", report_files,
             [("metrics sensitivity", "-o")], codes=(0, 3)),
        Case("compare a.jsonl b.jsonl --questions questions.jsonl --model m --no-progress --trials 1 --verdicts {out}/v.csv "
             "-o {out}/r.html -o {out}/r.csv -o {out}/r.xml -o {out}/v.jsonl", ("v.csv", "v.jsonl", "r.html", "r.csv", "r.xml"),
             [("compare", "-o"), ("compare", "--verdicts")], shared=("r.csv", "r.xml"), codes=(0, 3)),
        Case("answer questions.jsonl -o {out}/a.csv -o {out}/a.jsonl -o {out}/a.parquet --no-progress",
             ("a.csv", "a.jsonl", "a.parquet"), [("answer", "-o")], more=("--system", f"@mine=command:{sys.executable} mine.py")),
        Case("annotate sheet a.jsonl b.jsonl --questions questions.jsonl --annotators ann,bob --show contexts,reference "
             "-o {out}/sheets --key {out}/key.json", ("sheets/ann.csv", "sheets/bob.html", "key.json"),
             [("annotate sheet", "-o"), ("annotate sheet", "--key")], refuses=True, again=True),
        Case("annotate read ragchecker.json --labels-format ragchecker -o {out}/l.jsonl --write-answers {out}/a.jsonl "
             "--write-questions {out}/q.jsonl", ("l.jsonl", "a.jsonl", "q.jsonl"),
             [("annotate read", "-o"), ("annotate read", "--write-answers"), ("annotate read", "--write-questions")], again=True),
        Case(f"annotate agreement human.jsonl --scores scores.jsonl {reports}", report_files, [("annotate agreement", "-o")],
             codes=(0, 3), first=scores),
        Case(f"audit diff {EXAMPLE} {EXAMPLE} {reports} -o {{out}}/r.xml", (*report_files, "r.xml"), [("audit diff", "-o")]),
        Case("cache recover --journal j.sqlite -o {out}/new.sqlite", ("new.sqlite",), [("cache recover", "-o")], refuses=True,
             first=("questions classify questions.jsonl --model m --no-progress --journal j.sqlite -o classified.jsonl",), grows=True),
        Case(f"contamination questions.jsonl --answers a.jsonl --closed-book =good --marked {{out}}/m.txt {reports} --no-progress",
             ("m.txt", *report_files), [("contamination", "-o"), ("contamination", "--marked")], codes=(0, 3)),
        Case("help --for-agents -o {out}/SKILL.md", ("SKILL.md",), [("help", "-o")], shared=("SKILL.md",), refuses=True, again=True),
        Case("init . -o {out}/kgeval.toml", ("kgeval.toml",), [("init", "-o")], shared=("kgeval.toml",), refuses=True,
             again=True),
        Case("init . -o {out}/kgeval.toml --force", ("kgeval.toml",), [], shared=("kgeval.toml",), again=True),
        Case(f"questions check questions.jsonl --no-model --no-embeddings --no-progress {reports} -o {{out}}/q.jsonl",
             (*report_files, "q.jsonl"), [("questions check", "-o")], codes=(0, 3)),
        Case("questions classify questions.jsonl --model m --no-progress -o {out}/q.jsonl", ("q.jsonl",), [("questions classify", "-o")],
             codes=(0, 3)),
        Case("questions confirm questions.jsonl --sheet {out}/s.csv", ("s.csv",), [("questions confirm", "--sheet")], refuses=True,
             again=True),
        Case("questions confirm questions.jsonl sheet.csv --undecided keep -o {out}/q.jsonl", ("q.jsonl",), [("questions confirm", "-o")],
             first=("questions confirm questions.jsonl --sheet sheet.csv",)),
        Case(f"questions stats questions.jsonl {reports}", report_files, [("questions stats", "-o")]),
        Case("run run.toml --folder {out}/run", (), [("run", "--folder")], codes=(0, 1, 3), again=True),  # the same command goes on
        Case(f"report score-matrix {MATRIX} {reports}", report_files, [("report score-matrix", "-o")], codes=(0, 3)),
        Case(f"report {EXAMPLE} {reports} -o {{out}}/r.xml", (*report_files, "r.xml"), [("report", "-o")], shared=("r.xml",),
             codes=(0, 1, 3)),
        Case("--log-file {out}/k.log score a.jsonl --questions questions.jsonl --metrics lexical --no-progress", (), [("", "--log-file")],
             codes=(0, 3), grows=True),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=lambda case: " ".join(case.words.split()[:3]))
def test_what_a_command_writes(case: Case, world: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    walk(case, world, monkeypatch)


def test_every_option_that_writes_is_walked() -> None:
    assert unwalked(cases(), "models") == set()


def report_of(line: str, name: str) -> dict[str, Any]:
    assert run([*line.split(), "-o", name]) in (0, 3), line
    report: dict[str, Any] = json.loads(Path(name).read_text(encoding="utf-8"))
    return {part: value for part, value in report.items() if part not in ("run", "costs", "files")}


def test_what_is_read_back_from_csv_is_what_was_written(world: Path) -> None:
    """Scores and answers with formulas and escape characters in all names: the same figures from CSV as from JSONL."""
    scored = "--questions questions.jsonl --metrics lexical --no-progress"
    assert run(f"score a.jsonl b.jsonl {scored} -o s.csv -o s.jsonl".split()) in (0, 3)
    paired = [report_of(f"stats paired s.{form}", f"{form}.json") for form in ("csv", "jsonl")]
    assert json.loads(json.dumps(paired[0]).replace("s.csv", "s.jsonl")) == paired[1]
    agreed = [report_of(f"annotate agreement human.jsonl --scores s.{form}", f"g-{form}.json") for form in ("csv", "jsonl")]
    assert json.loads(json.dumps(agreed[0]).replace("s.csv", "s.jsonl")) == agreed[1]
    answers = ["answer", "questions.jsonl", "--system", f"@mine=command:{sys.executable} mine.py", "--no-progress"]
    assert run([*answers, "-o", "x.csv", "-o", "x.jsonl"]) == 0
    for form in ("csv", "jsonl"):
        assert run(f"score x.{form} {scored} -o from-{form}.jsonl".split()) in (0, 3)
    assert Path("from-csv.jsonl").read_text(encoding="utf-8") == Path("from-jsonl.jsonl").read_text(encoding="utf-8")
