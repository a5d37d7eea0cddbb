# ruff: noqa: E501 - a command line is one line
"""The table of cases: every command at least once, on small inputs that stay as they are. See README.md.

COMMANDS need no server, MODELS a fake model behind HTTP, GRAPHS a Neo4j.
"""

from __future__ import annotations

from golden import Case

ANSWERS = ("<sample/answers/graph.jsonl", "<sample/answers/vector.jsonl", "<sample/answers/questions.jsonl")
SCORED = "score graph.jsonl vector.jsonl --questions questions.jsonl --no-progress -q"
SHEETS = "annotate sheet graph.jsonl vector.jsonl --questions questions.jsonl --n 4 --annotators ann,ben --per-item 2 --aspects relevance --key key.json"
TALL = "question_id,system,score\n" + "".join(
    f"q{n:02},{system},{(n * step) % 7 / 6:.3f}\n" for system, step in (("one", 3), ("two", 5), ("three", 2)) for n in range(1, 13)
)
DUELS = "question_id,left,right,winner\n" + "".join(
    f"q{n:02},{a},{b},{('left', 'right', 'left', 'tie')[(n + len(a)) % 4]}\n"
    for n in range(1, 25) for a, b in (("one", "two"), ("two", "three"), ("one", "three"))
)
JUDGED = "question_id,left,right,winner,first\n" + "".join(
    f"q{n:02},one,two,{('left', 'left', 'tie', 'right')[(n + turn) % 4]},{('one', 'two')[turn]}\n" for n in range(1, 13) for turn in (0, 1)
)
CONFIG = """
[source]
files = ["graph.json"]
[graph]
name = "harbour"
[questions]
kinds = ["hops=2", "negative=1"]
[[systems]]
name = "mine"
spec = "command:{python} mine.py"
[run]
skip = ["audit", "check", "coverage"]
[run.options.questions]
template = true
allow_fewer = true
"""
SYSTEM = """import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    said = {"hello": {"name": "mine", "version": "1"}} if "hello" in ask else {"id": ask["id"], "answer": "Velmouth", "contexts": ["A port."]}
    print(json.dumps(said), flush=True)
"""
BAD_QUESTIONS = '{"id": "q1"}\n{"id": 2, "question": "Who?", "hops": "two"}\nno JSON\n'
LABELLED = "id,judge,human\n" + "".join(f"r{n},{(n % 3 > 0) * 1},{'' if n > 24 else (n % 4 > 0) * 1}\n" for n in range(1, 81))
ANCHORS = "".join(
    f'{{"id": "q{n:02}", "question": "Who?", "answer_a": "Ada.", "answer_b": "Ben.", "label": "{("a", "b", "tie")[n % 3]}"}}\n'
    for n in range(1, 13)
)
CLOSED = "".join(
    f'{{"question_id": "v{n:02}", "system": "closed-book", "answer": "{("I do not know.", "Livia Tarrant.", "Piet Dorning.")[n % 3]}"}}\n'
    for n in range(1, 17)
)
FILLED = ("<inputs/sheets",)
AUDITS = ("before.json<inputs/audit-before.json", "after.json<inputs/audit-after.json")
ALL_KINDS = tuple(f"runs/{kind}.json<examples/{path}" for kind, path in {
    "build": "index-record/valid/harbour.json", "audit": "audit-report/valid/small.json",
    "completeness": "completeness-report/valid/harbour.json", "accuracy": "accuracy-report/valid/harbour.json",
    "questions": "generation-report/valid/two-kinds.json", "question-stats": "question-stats/valid/two-questions.json",
    "classification": "classification/valid/one-of-two.json", "check": "check-report/valid/two-sets.json",
    "coverage": "coverage-report/valid/one-set.json", "answers": "answer-report/valid/two-systems.json",
    "scores": "score-report/valid/harbour.json", "sensitivity": "sensitivity-report/valid/one-metric.json",
    "contamination": "contamination-report/valid/ten-questions.json", "comparison": "comparison-report/valid/two-systems.json",
    "matrix": "crossed-report/valid/two-data-sets.json", "agreement": "agreement-report/valid/one-aspect.json",
    "metric-matrix": "matrix-report/valid/one-group.json", "stats": "stats-report/valid/paired.json",
    "simulation": "simulation-report/valid/one-world.json", "load": "load-report/valid/two-systems.json",
}.items())
LATENCY = r"(?<![\d.])0\.\d+(?![\d.])"  # measured seconds
BAD_SCORES = "question_id,system,score\nq1,one,0.5\nq1,one,0.7\nq2,one,high\n"

COMMANDS = (
    # files about kgeval itself
    Case("schema-list", "schema list"),
    Case("schema-show", "schema show gold-triple"),
    Case("schema-check", "schema check question questions.jsonl", ANSWERS),
    Case("schema-check-faults", "schema check question bad.jsonl", texts={"bad.jsonl": BAD_QUESTIONS}),
    Case("metrics-list", "metrics list"),
    Case("metrics-show", "metrics show factual_correctness"),
    Case("metrics-show-unknown", "metrics show factual_corectness"),
    Case("rule-list", "checks list"),
    Case("rule-show", "checks show isolated-entity"),
    Case("cypher-list", "cypher list"),
    Case("layout-list", "layout list"),
    Case("layout-show", "layout show lightrag"),
    Case("skill", "help --for-agents"),
    Case("questions-kinds", "questions kinds"),
    Case("no-such-command", "adit"),
    # systems of others
    Case("system-list", "system list"),
    Case("system-show", "system show lightrag"),
    Case("system-remove", "system remove lightrag --yes"),
    Case("system-install-unknown", "system install lightray"),
    Case("system-index-not-installed", "system index lightrag --documents documents --folder index", ("<sample/documents",)),
    # memory
    Case("cache-stats-empty", "cache stats --cache-dir nothing"),
    Case("batches-list-empty", "cache batches list --journal nothing.sqlite"),
    # the embedded server, where none runs
    Case("server-status-none", "server status --home home"),
    Case("server-stop-none", "server stop --home home"),
    Case("server-logs-none", "server logs --home home"),
    Case("server-remove-none", "server remove --home home --yes"),
    # a configuration
    Case("init-empty", "init"),
    Case("init-answers", "init", ("own/graph.jsonl<sample/answers/graph.jsonl", "own/questions.jsonl<sample/answers/questions.jsonl")),
    Case("init-graph", "init", ("graph.json<sample/graph.json", "<sample/documents")),
    # questions
    Case("questions-stats", "questions stats questions.jsonl -o stats.json -o stats.md", ANSWERS),
    Case("questions-check-words", "questions check questions.jsonl --no-model -o checks.json -o checks.md", ANSWERS),
    Case("questions-confirm-sheet", "questions confirm questions.jsonl --sheet sheet.csv", ANSWERS),
    Case(
        "questions-confirm", "questions confirm two.jsonl sheet.csv -o kept.jsonl", before=("questions confirm two.jsonl --sheet made.csv",),
        texts={
            "two.jsonl": '{"id": "q1", "question": "Who built it?", "reference": "Ada."}\n{"id": "q2", "question": "What?", "reference": "Ben."}\n',
            "sheet.csv": "id,decision,question,reference\nq1,keep,Who built the mill?,Ada.\nq2,drop,What?,Ben.\n",
        },
    ),
    # scores
    Case(
        "score-lexical", "score graph.jsonl vector.jsonl --questions questions.jsonl --metrics lexical -o scores.json -o scores.md -o scores.xml --no-progress",
        ANSWERS, shown=("*.md", "*.xml"),
    ),
    Case(
        "score-rows", "score graph.jsonl --questions questions.jsonl --metrics token_f1,id_recall,path_coverage --limit 3 -o out.jsonl -o out.csv --no-progress",
        ANSWERS,
    ),
    Case("score-threshold-missed", SCORED + " --metrics token_f1 --threshold graph:token_f1>=0.99 --threshold token_f1>=0.1", ANSWERS),
    Case("score-redacted", "score graph.jsonl --questions questions.jsonl --metrics token_f1 --redact --no-progress", ANSWERS),
    Case("score-bad-rows", "score bad.jsonl --metrics token_f1", texts={"bad.jsonl": '{"question_id": "q1", "answer": 3}\n{"answer": "x"}\n'}),
    Case(
        "join-scores", "merge-shards parts/1.jsonl parts/2.jsonl -o joined.jsonl -o joined.md", ANSWERS,
        before=tuple(f"{SCORED} --metrics token_f1 --limit 6 --shard {n}/2 -o parts/{n}.jsonl" for n in (1, 2)),
    ),
    Case("sensitivity", "metrics sensitivity graph.jsonl --questions questions.jsonl --metrics token_f1,rouge_l -o s.json -o s.md --no-progress", ANSWERS, shown=("*.md",)),
    Case(
        "contamination", "contamination questions.jsonl --answers closed.jsonl --answers graph.jsonl -o c.json -o c.md --no-progress", ANSWERS,
        texts={"closed.jsonl": CLOSED}, shown=("*.md",),
    ),
    # statistics
    Case("stats-paired", "stats paired scores.csv -o paired.json -o paired.md", texts={"scores.csv": TALL}),
    Case("stats-paired-bad", "stats paired scores.csv", texts={"scores.csv": BAD_SCORES}),
    Case("stats-power", "stats power --sd 0.3 --difference 0.1"),
    Case("stats-power-pilot", "stats power scores.csv --filter-system one,two", texts={"scores.csv": TALL}),
    Case("stats-rank", "stats rank duels.csv --export outcomes.csv -o rank.json -o rank.md", texts={"duels.csv": DUELS}, shown=("*.json", "*.md")),
    Case("stats-sequential", "stats sequential duels.csv", texts={"duels.csv": DUELS}),
    Case("stats-judge", "stats judge judged.csv", texts={"judged.csv": JUDGED}),
    Case("stats-aa", "stats aa scores.csv --filter-system one,two", texts={"scores.csv": TALL}),
    Case("stats-correct", "stats correct labelled.csv", texts={"labelled.csv": LABELLED}),
    Case("stats-drift", "stats drift judged.csv --anchors anchors.jsonl", texts={"judged.csv": JUDGED, "anchors.jsonl": ANCHORS}),
    # people
    Case("agree-sheet", SHEETS + " -o sheets", ANSWERS, shown=("*.csv", "key.json")),
    Case("agree-read", "annotate read sheets/ann.csv sheets/ben.csv --key sheets/key.json -o labels.jsonl", FILLED),
    Case(
        "agree-measure", "annotate agreement labels.jsonl --scores scores.jsonl -o agreement.json -o agreement.md", (*ANSWERS, *FILLED),
        before=(
            "annotate read sheets/ann.csv sheets/ben.csv --key sheets/key.json -o labels.jsonl", f"{SCORED} --metrics token_f1 -o scores.jsonl",
        ), shown=("*.md",),
    ),
    Case("agree-matrix", "metrics correlate scores.jsonl -o matrix.json -o matrix.md", ANSWERS, before=(SCORED + " --metrics lexical -o scores.jsonl",), shown=("*.md",)),
    # what earlier runs left
    Case("audit-diff", "audit diff before.json after.json -o diff.json -o diff.md -o diff.xml", AUDITS),
    Case("audit-diff-gate", "audit diff before.json after.json --fail-on-worse error", AUDITS),
    Case("compare-simulate", "compare --simulate --simulate-runs 5 --simulate-questions 10 --trials 2 -o s.md", shown=()),
    Case(
        "report", "report scores.json classification.json -o report.json -o report.md",
        (*ANSWERS, "classification.json<examples/classification/valid/one-of-two.json"), before=(SCORED + " --metrics lexical -o scores.json",),
        shown=("*.md",), hidden=(r"\b[0-9a-f]{16}\b",),
    ),
    Case("report-all-kinds", "report runs -o report.md", ALL_KINDS),
    Case("report-of-answers", "report answers -f md", before=(
        "answer questions.jsonl --system 'one=command:{python} mine.py' --system 'two=command:{python} mine.py' --limit 2 -o answers/ --no-progress",
    ), inputs=ANSWERS, texts={"mine.py": SYSTEM}, hidden=(LATENCY, r"\b[0-9a-f]{16}\b")),
    Case("run-untrusted", "run --list", texts={"kgeval.toml": CONFIG, "mine.py": SYSTEM}),
    Case("trust", "trust", texts={"kgeval.toml": CONFIG, "mine.py": SYSTEM}),
    Case("run-dry", "run kgeval.toml --dry-run", ("graph.json<sample/graph.json",), texts={"kgeval.toml": CONFIG, "mine.py": SYSTEM}),
    Case("matrix", "report score-matrix matrix-run -o matrix.json -o matrix.md", ("<inputs/matrix-run",)),
    # answers
    Case(
        "answer-command", "answer questions.jsonl --system 'mine=command:{python} mine.py' --limit 2 -o answers.jsonl --no-progress", ANSWERS,
        texts={"mine.py": SYSTEM}, hidden=(LATENCY,),
    ),
)
ASKED = "--model m --base-url {url} --journal cache/journal.sqlite --no-progress"
TWO = "graph.jsonl vector.jsonl --questions questions.jsonl --limit 2"
JUDGE_TWO = f"score {TWO} {ASKED} --metrics factual_correctness"
MODELS = (
    Case("questions-check", f"questions check questions.jsonl --no-embeddings --limit 4 {ASKED} -o checks.md -o checked.jsonl", ANSWERS),
    Case("questions-classify", f"questions classify questions.jsonl --limit 4 {ASKED} -o levels.jsonl", ANSWERS, shown=("levels.jsonl",)),
    Case("score-judged", f"{JUDGE_TWO},faithfulness,context_relevance -o scores.md -o scores.jsonl", ANSWERS, shown=("*.md",)),
    Case("score-dry-run", f"{JUDGE_TWO},faithfulness --dry-run", ANSWERS),
    Case("score-budget", f"{JUDGE_TWO} --max-calls 2 -j 1 -q", ANSWERS),
    Case("score-batch", f"{JUDGE_TWO} --batch --batch-poll 0.01 -q", ANSWERS),
    Case("score-embedded", f"score {TWO} --metrics semantic_similarity --embedding-model e --embedding-url {{url}} {ASKED}", ANSWERS),
    Case("sensitivity-judged", f"metrics sensitivity {TWO} --metrics factual_correctness {ASKED}", ANSWERS),
    Case("contamination-judged", f"contamination questions.jsonl --answers closed.jsonl --limit 4 {ASKED}", ANSWERS, texts={"closed.jsonl": CLOSED}),
    Case(
        "compare", f"compare {TWO} --trials 2 --repeats 1 --align none {ASKED} -o c.md -o c.csv -o c.xml -o verdicts.jsonl", ANSWERS,
        shown=("*.md", "*.csv", "*.xml"),
    ),
    Case("compare-dry-run", f"compare {TWO} --trials 2 --baseline-biased --dry-run {ASKED}", ANSWERS),
    Case(
        "join-compare", "merge-shards parts/1.jsonl parts/2.jsonl --journal cache/journal.sqlite -o joined.md", ANSWERS, before=tuple(
            f"compare {TWO} --trials 1 --repeats 1 --align none {ASKED} --shard {n}/2 -o parts/{n}.jsonl -q" for n in (1, 2)
        ), shown=("*.md",), hidden=(r"(?<=@1:)[0-9a-f]{12}", r"(?<=&#64;1)(:|&#58;)[0-9a-f]{12}"),
    ),
    Case("answer-closed-book", f"answer questions.jsonl --system closed-book --limit 2 {ASKED} -o a.jsonl", ANSWERS, hidden=(LATENCY,)),
    Case("answer-dry-run", f"answer questions.jsonl --system closed-book --dry-run {ASKED}", ANSWERS),
    Case("cache-stats", "cache stats --cache-dir cache", ANSWERS, hidden=(r"20\d\d-\d\d-\d\d",), before=(JUDGE_TWO + " -q",)),
    Case(
        "cache-show", "cache show {call} --cache-dir cache", ANSWERS, hidden=(r"\b[0-9a-f]{64}\b",),
        before=(f"questions classify questions.jsonl --limit 2 {ASKED} -o levels.jsonl -q",),
    ),
    Case("cache-clear", "cache clear --cache-dir cache --yes", ANSWERS, before=(JUDGE_TWO + " -q",)),
    Case("batches-list", "cache batches list --journal cache/journal.sqlite", ANSWERS, before=(JUDGE_TWO + " -q",)),
    Case("batches-cancel", "cache batches cancel --journal cache/journal.sqlite", ANSWERS, before=(JUDGE_TWO + " -q",)),
)

GOLD = """{"name": "Velmouth", "type": "Place"}
{"name": "Osric Venn", "type": "Person"}
{"name": "Atlantis"}
{"subject": "Velmouth", "predicate": "located in", "object": "Sarn County"}
{"subject": "Osric Venn", "predicate": "married", "object": "Ada Marsh"}
"""
MADE = "questions generate --graph harbour --kind hops=3,negative=2 --template --seed 3 -o made.jsonl --no-progress"
RULES = "build a.txt b.txt --graph built --extractor rules --cooccurrence"
TEXTS = {
    "a.txt": "Captain Elias Marsh commands the Northern Light. The ship belongs to the Velmouth Harbour Board in Velmouth. "
    "Elias Marsh was born in Velmouth. Greta Dorning visited Elias Marsh in Velmouth.",
    "b.txt": "Greta Dorning lives in Ostrava. Greta Dorning knows Anna Holm.",
}
HARBOUR = "harbour"
GRAPHS = (
    # they only read
    Case("audit", "audit --graph harbour -o audit.json -o audit.md -o audit.xml", world=HARBOUR, shown=("*.md", "*.xml")),
    Case("audit-redacted", "audit --graph harbour --check names,connectivity --redact", world=HARBOUR),
    Case("audit-gate", "audit --graph harbour --check names --fail-on error -q", world=HARBOUR),
    Case("audit-check-json", "audit --graph harbour --check empty-name -f json", world=HARBOUR),
    Case("accuracy", f"accuracy --graph harbour --n 6 --seed 1 {ASKED} -o accuracy.md", world=HARBOUR),
    Case(
        "completeness", "completeness --graph harbour --gold gold.jsonl --threshold entity_coverage>=0.9 -o c.md --no-progress", world=HARBOUR,
        texts={"gold.jsonl": GOLD},
    ),
    Case("questions-sample", "questions sample --graph harbour --structure path --hops 2 -n 2 --seed 1 -o -", world=HARBOUR),
    Case("questions-generate", MADE, world=HARBOUR, shown=("made.jsonl",)),
    Case("questions-generate-asked", f"questions generate --graph harbour --kind node=1,edge=1 --seed 2 {ASKED} -o made.jsonl", world=HARBOUR),
    Case("questions-check-proved", "questions check made.jsonl --graph harbour --no-model --no-progress", world=HARBOUR, before=(MADE,)),
    Case("questions-coverage", "questions coverage questions.jsonl --graph harbour -o coverage.md", ANSWERS, world=HARBOUR),
    Case(
        "answer-built-in", "answer questions.jsonl --graph harbour --system vector --system graph --extractive --limit 2 --embedding-model e "
        "--embedding-url {url} -o answers/ --no-progress", ANSWERS, world=HARBOUR, shown=("*.jsonl",), hidden=(r"(?<![\d.])\d+\.\d{3,}(?![\d.])", r"(?<=index=)[0-9a-f]{12}"),
    ),
    Case("score-kg", f"score {TWO} --metrics kg --graph harbour --embedding-model e --embedding-url {{url}} {ASKED}", ANSWERS, world=HARBOUR),
    Case("layout-detect", "layout detect", world=HARBOUR),
    Case("layout-check", "layout check kgeval --graph harbour", world=HARBOUR),
    Case("layout-init", "layout init -o mine.toml", world=HARBOUR),
    Case("cypher-show", "cypher show isolated-entity --graph harbour", world=HARBOUR),
    Case("cypher-run", "cypher run empty-name --graph harbour --param sample_share=1.0 --param sample_seed=0", world=HARBOUR),
    Case("doctor", "doctor --graph harbour", world=HARBOUR, hidden=(r"\d[\d,.]* (GB|MB|GiB|MiB|cores)",)),
    # they write
    Case("import", "import graph.json --graph harbour --no-progress", ("graph.json<sample/graph.json",), world="empty"),
    Case("import-dry-run", "import graph.json --graph harbour --dry-run --no-progress", ("graph.json<sample/graph.json",), world="empty"),
    Case("build", RULES + " -o index.json", texts=TEXTS, world="empty", hidden=(r"(?<![\d.])\d+\.\d+(?![\d.])",)),
    Case("merges-list", "build merges list --graph built", texts=TEXTS, world="empty", before=(RULES,)),
    Case("merges-undo", "build merges undo m-ea775258616e --graph built", texts=TEXTS, world="empty", before=(RULES,)),
    Case("merges-redo", "build merges redo m-ea775258616e --graph built", texts=TEXTS, world="empty", before=(RULES, "build merges undo m-ea775258616e --graph built")),
    Case(
        "run", "run kgeval.toml", ("graph.json<sample/graph.json",), texts={"kgeval.toml": CONFIG, "mine.py": SYSTEM}, world="empty", shown=(),
    ),
)
