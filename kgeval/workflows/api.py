"""The functions of `import kgeval`. Each does what its command does: it reads kgeval.toml of the working directory (`config=False`: no
file) and NEO4J_URI, NEO4J_USERNAME, NEO4J_DATABASE, NEO4J_PASSWORD from the environment. It prints nothing and ends nothing: messages go
to the log `kgeval`, faults are raised as KgevalError."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from kgeval.config import (
    NAME,
    AccuracyOptions,
    AgreeOptions,
    AnswerOptions,
    AuditOptions,
    BatchOptions,
    BuildOptions,
    CheckOptions,
    CompareOptions,
    CompletenessOptions,
    Config,
    ContaminationOptions,
    Criterion,
    GenerateOptions,
    ImportOptions,
    ReportOptions,
    RunOptions,
    ScoreOptions,
)
from kgeval.errors import UsageError
from kgeval.profiling.options import ProfileOptions
from kgeval.workflows.keywords import Connection, Function, file_name, named_parts, new_session
from kgeval.workflows.result import Result
from kgeval.workflows.session import Session, options_of

if TYPE_CHECKING:
    import neo4j

    from kgeval.llm.plan import Plan
    from kgeval.metrics.own import OwnMetric
    from kgeval.profiling.task import ProfileResult
    from kgeval.workflows.accuracy import AccuracyResult
    from kgeval.workflows.agree import AgreementResult
    from kgeval.workflows.answer import AnswerPlan, AnswersResult
    from kgeval.workflows.answer_load import LoadResult
    from kgeval.workflows.audit import AuditPlan, AuditResult
    from kgeval.workflows.audit_several import GraphsResult
    from kgeval.workflows.build import BuildPlan, BuildResult
    from kgeval.workflows.compare import ComparePlan, CompareResult
    from kgeval.workflows.completeness import CompletenessPlan, CompletenessResult
    from kgeval.workflows.contamination import ContaminationResult
    from kgeval.workflows.imports import ImportResult
    from kgeval.workflows.questions_check import CheckResult
    from kgeval.workflows.questions_generate import GeneratePlan, GenerateResult
    from kgeval.workflows.report import ReportResult
    from kgeval.workflows.run import RunPlan, RunResult
    from kgeval.workflows.score import ScoreResult

NO_BATCHES = frozenset(BatchOptions.model_fields)  # of tasks that ask live only
CONNECT = Function("connect", Connection)
AUDIT = Function("audit", AuditOptions, task="audit")
ANSWER = Function(  # systems are named by `system`, which takes functions too
    "answer", AnswerOptions, role="reader", words=(("system", "system"), ("output", "output")),
    without=NO_BATCHES | {"systems", "sweep"},
)
SCORE = Function(  # what is for the terminal and for parts of a run is left to the command
    "score", ScoreOptions, role="judge", model="judge", task="score", without=frozenset((
        "resume", "retry_errors", "explain", "write_back", "sweep", "shard", "executor", "workers", "shards", "ray_address",
    )),
)
COMPARE = Function("compare", CompareOptions, role="judge", model="judge", without=frozenset(("verdicts", "shard")))
BUILD = Function("build", BuildOptions, role="extractor", without=NO_BATCHES | {"transaction_rows"})
IMPORT = Function("import_graph", ImportOptions)
REPORT = Function("report", ReportOptions)
AGREE = Function("agree", AgreeOptions)
ACCURACY = Function("accuracy", AccuracyOptions, role="judge", model="judge", without=NO_BATCHES, task="accuracy")
CONTAMINATION = Function("contamination", ContaminationOptions, role="judge", model="judge", without=NO_BATCHES, task="contamination")
COMPLETENESS = Function("completeness", CompletenessOptions, role="judge", without=NO_BATCHES, task="completeness")
PROFILE = Function("profile", ProfileOptions)
RUN = Function("run", RunOptions, without=frozenset((
    "graph", "layout", "layout_keys", "gds_session", "embedding_model", "embedding_url", "embedding_device", "embedding_batch",
)))
GENERATE = Function("generate_questions", GenerateOptions, role="generator", without=NO_BATCHES, task="questions_generate")
CHECK = Function("check_questions", CheckOptions, role="judge", model="judge", without=NO_BATCHES)
FUNCTIONS = {function.name: function for function in (
    AUDIT, PROFILE, ACCURACY, COMPLETENESS, ANSWER, SCORE, COMPARE, CONTAMINATION, BUILD, IMPORT, REPORT, AGREE, RUN, GENERATE, CHECK,
)}


def connect(connection: neo4j.Driver | str | None = None, **settings: Any) -> Session:
    """A session with a graph, for one or several tasks: `with kgeval.connect(driver, graph="novels") as session: kgeval.audit(session)`.

    Nothing is opened before it is needed; closing closes what the session opened, never a driver that was handed over.

    Args:
        connection: an open `neo4j.Driver`, an address (bolt://..., neo4j+s://...), or None: NEO4J_URI, else that of kgeval.toml, else the
            embedded server, started if need be. The password of an address comes from NEO4J_PASSWORD.
        graph: name of the graph, where a database holds several.
        layout: how the graph is stored: "auto" (recognised), the name of a layout, or a TOML file. `layout_keys`: keys of it, replaced.
        username, database: of an address; `database` of a driver too. `home`: folder of an embedded server.
        pause: seconds after each query, for a server that others use.
        config: a file or a Config; False: none.
        embedding_model, embedding_url, embedding_device, embedding_batch, cache_dir: what embeds, where that is asked for.
        gds_session: the graph algorithms run in a session of Aura Graph Analytics; a mapping of memory, ttl, cloud, name.
        progress: True: a bar; False: none; None: a bar in a notebook.

    Returns: a Session, a context manager; it belongs to one thread at a time.
    Raises: UsageError with everything that is wrong with the arguments; ConfigError for a faulty file.
    """
    with CONNECT.errors():
        unknown = CONNECT.unknown(settings)
        known = {name: value for name, value in settings.items() if name not in unknown and value is not None}
        return new_session(CONNECT, connection, known, list(unknown.values()))


@overload
def audit(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> AuditResult: ...
@overload
def audit(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., dry_run: Literal[True], **options: Any,
) -> AuditPlan: ...
@overload
def audit(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: Sequence[str], dry_run: Literal[False] = ..., **options: Any,
) -> GraphsResult: ...


def audit(
    connection: neo4j.Driver | str | Session | None = None, *, graph: str | Sequence[str] | None = None, dry_run: bool = False,
    **options: Any,
) -> AuditResult | AuditPlan | GraphsResult:
    """What is wrong with a graph in Neo4j, whatever wrote it. Reads only: the server refuses every write.

    Args:
        connection: as for `connect`, or a session that `connect` gave.
        graph: name of the graph, where a database holds several. A list of names and of JSON reports of earlier audits: they are put side
            by side.
        dry_run: True: only what it would take, as an AuditPlan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: an AuditResult: `findings` and `figures`, `to_pandas()` (a row a check), `gates` and `raise_for_gates()`, `save(path)`; a
    notebook shows the report. A list gives a GraphsResult.
    Raises: UsageError with everything that is wrong with the options; ConnectError, LayoutError, InputError, ConfigError, ModelError. A
    gate that is missed raises nothing.
    """
    from kgeval.workflows import audit as workflow
    from kgeval.workflows import audit_several

    several = None if graph is None or isinstance(graph, str) else graph
    faults = []
    if several is not None and not (isinstance(several, list | tuple) and all(isinstance(part, str | Path) for part in several)):
        faults.append(f"graph: a name or a list of names is needed, not {type(graph).__name__}")
    elif several is not None and not several:
        faults.append("graph: an empty list")
    with AUDIT.called(
        options, connection=connection, graph=graph if several is None else None, dry=dry_run, faults=faults,
    ) as call:
        session, chosen = call.session, workflow.audit_request(call.session.config, call.given)
        if several is not None:
            columns = audit_several.columns_of([str(part) for part in several], limited=bool(call.given.get("thresholds")))
            return call.worded(audit_several.run(session, chosen, columns))
        if dry_run:
            return call.worded(workflow.plan(session, chosen))
        result = workflow.run(session, chosen)
        if result.fault:
            session.say(f"warning: {result.fault.message}")  # the audit is there all the same
        return result


def profile(connection: neo4j.Driver | str | Session | None = None, *, graph: str | None = None, **options: Any) -> ProfileResult:
    """What a graph is: its kind, the role of each label, its keys and names, what each relation type says; each with its evidence.

    Args:
        connection: as for `connect`, or a session.
        graph: name of the graph, where a database holds several.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a ProfileResult: `profile` (labels, types, kind), `to_pandas()` (a row a label), `save(path)`; a notebook shows the report.
    Raises: UsageError with everything that is wrong with the options; ConnectError, LayoutError, QueryTimeout.
    """
    from kgeval.profiling import task

    with PROFILE.called(options, connection=connection, graph=graph) as call:
        return call.worded(task.run(call.session, options_of(ProfileOptions, call.given)))


@overload
def answer(
    questions: Any, *, system: Any = ..., model: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., output: str | Path | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> AnswersResult: ...
@overload
def answer(
    questions: Any, *, system: Any = ..., model: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., output: str | Path | None = ..., dry_run: Literal[True], **options: Any,
) -> AnswerPlan: ...


def answer(
    questions: Any, *, system: Any = None, model: str | None = None, connection: neo4j.Driver | str | Session | None = None,
    graph: neo4j.Driver | str | Session | None = None, output: str | Path | None = None, dry_run: bool = False, **options: Any,
) -> AnswersResult | AnswerPlan | LoadResult:
    """Has one or several systems answer questions. What a system's answer took (seconds, tokens, cost) is in its row.

    Args:
        questions: a file (.jsonl, .json, .csv, .parquet), a DataFrame, a list or an iterator of mappings: id, question, and what is known
            of the right answer, which no system is shown. An iterator is gone through once; what it raises comes through.
        system: "closed-book", "vector", "graph", "graph+text", "communities", "command:...", "http:URL", "file:PATH", an adapter,
            or a name of [[systems]] in kgeval.toml; a function of your own; or a mapping of names to these; or a list of all of them. None:
            all of [[systems]].
            A function gets the question's text (and question_id, trial, target_words where it names them; `settings` are further keywords)
            and gives a text, or a mapping or record with answer, contexts and other fields of an answer; it may be asynchronous. Of an
            object, its method `answer`, else the object itself, is called. What a function raises is the error of that row.
        model: the model that reads what built-in systems retrieve, and answers closed-book; its key comes from OPENAI_API_KEY.
        connection, graph: for systems that search a graph: as for `connect`; `graph` may be either, a name or a connection.
        output: a file, a folder, or a name with {system}: answers are in the journal as they come, and the same call goes on.
        dry_run: True: only what models would be asked, as an AnswerPlan; no function is called.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: an AnswersResult: iterate over the answers, `len`, `to_pandas()`, `save(path)`; `report` (an AnswerReport), `messages`. It can
        be given to `score`, with the questions. With `load`: a LoadResult, answers a second and latency at each level, and no answers.
    Raises: UsageError with everything that is wrong with the options; InputError with every bad row; ConnectError; ModelError,
        IncompleteError where a system cannot go on. An answer that failed raises nothing: the row has its `error`, and where too many
        failed `exit_code` is 3.
    """
    from kgeval.workflows import answer as workflow
    from kgeval.workflows import answer_load

    texts: list[str] = []
    functions: dict[str, Callable[..., Any]] = {}
    faults = list(_system_faults(system, texts, functions))
    if not (output is None or isinstance(output, str | Path)):
        faults.append(f"output: a path is needed, not {type(output).__name__}")
    if output is None and any(options.get(name) for name in ("resume", "retry_errors", "fresh_answers")):
        faults.append("resume, retry_errors, fresh_answers: need output: without it answers are not kept")
    with ANSWER.errors(), _outputs(output) as outputs, ANSWER.called(
        options | {"model": model}, connection=connection, graph=graph, dry=dry_run, faults=faults, keep_rows=True,
        outputs=outputs,
    ) as call:
        file = call.files.path(questions, "questions")
        call.session.arguments = {"questions": str(file)}
        chosen = options_of(AnswerOptions, {**call.given, "systems": tuple(texts)})
        task = (call.session, file, chosen, functions)
        if chosen.load:
            return call.worded(answer_load.plan(*task) if dry_run else answer_load.run(*task))
        return call.worded(workflow.plan(*task) if dry_run else workflow.run(*task))


@contextmanager
def _outputs(output: object) -> Iterator[tuple[Path, ...]]:
    """The output as a session has it; none for what is no path. Raises: UsageError."""
    from kgeval.tables.output import output_path

    if not isinstance(output, str | Path):
        yield ()
        return
    with output_path(output) as path:
        yield (path,)


def _system_faults(system: Any, texts: list[str], functions: dict[str, Callable[..., Any]]) -> Iterator[str]:
    """What is wrong with systems. Fills `texts` with them as --system has them, and `functions` with those that are functions, by name."""
    parts = [] if system is None else _listed(system)
    named = [pair for part in parts for pair in (part.items() if isinstance(part, Mapping) else [(None, part)])]
    for label, candidate in named:
        if label is not None and not (isinstance(label, str) and re.fullmatch(NAME, label)):
            yield f"system: {label!r} is no name (letters, digits, _ . + - @)"
            continue
        if isinstance(candidate, str):
            texts.append(f"{label}={candidate}" if label else candidate)
            continue
        method = getattr(candidate, "answer", None)
        function, name = method if callable(method) else candidate, str(label or getattr(candidate, "__name__", type(candidate).__name__))
        if not callable(function) or isinstance(candidate, type):
            what = f"the class {candidate.__name__}" if isinstance(candidate, type) else type(candidate).__name__
            yield f"system: a text, a function, an object with a method answer, or a mapping of names to these is needed, not {what}"
        elif not re.fullmatch(NAME, name):
            yield f"system: {name} has no name of its own: give system={{'mine': ...}}"
        elif name in functions:
            yield f"system: two are called {name}: give system={{'one': ..., 'other': ...}}"
        else:
            functions[name] = function
            texts.append(name)


@overload
def score(
    answers: Any, *, questions: Any = ..., judge: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> ScoreResult: ...
@overload
def score(
    answers: Any, *, questions: Any = ..., judge: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., dry_run: Literal[True], **options: Any,
) -> Plan: ...


def score(
    answers: Any, *, questions: Any = None, judge: str | None = None, connection: neo4j.Driver | str | Session | None = None,
    graph: neo4j.Driver | str | Session | None = None, dry_run: bool = False, **options: Any,
) -> ScoreResult | Plan:
    """The answers of one or several systems, measured: each row by each metric, means with intervals, gates.

    Args:
        answers: a file (.jsonl, .json, .csv, .parquet), a DataFrame, a list or an iterator of mappings; or a list of files and DataFrames.
            Fields as in docs/scoring.md: question_id, question, answer, contexts, reference... or by other names, with `map`. An iterator
            is gone through once; what it raises comes through.
        questions: the questions with their references, where the answers do not hold them, joined by id; of the same kinds.
        metrics: names of metrics and presets, functions with `@kgeval.metric`, and `kgeval.Criterion`s; one or a list.
        judge: the model that is asked; finished calls are never paid twice. Its key comes from OPENAI_API_KEY.
        connection, graph: for metrics that look into a graph: as for `connect`; `graph` may be either, a name or a connection.
        dry_run: True: only what the models would be asked, as a Plan: calls, tokens, money.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a ScoreResult: `report` (means, intervals, comparisons), `scores`, `verdicts`, `to_pandas()` (a row a score), `gates` and
        `raise_for_gates()`, `save(path)`; a notebook shows the report.
    Raises: UsageError with everything that is wrong with the options; InputError with every bad row; ConnectError, ModelError. What stops
        early (a budget, too many failures) raises nothing: `exit_code` is 3, and `messages` say why.
    """
    from kgeval.workflows import score as workflow
    from kgeval.workflows import score_parts

    functions, faults = _own_metrics(options)
    with SCORE.called(
        options | {"judge": judge}, connection=connection, graph=graph, dry=dry_run, faults=faults, keep_rows=True,
        functions=functions,
    ) as call:
        files = [call.files.path(part, name) for name, part in named_parts(answers)]
        given = call.given | ({} if questions is None else {"questions": call.files.path(questions, "questions")})
        call.session.arguments = {"answers": [str(path) for path in files]}
        chosen = options_of(ScoreOptions, given, call.session.config.score, names=partial(workflow.names, call.session))
        return call.worded(workflow.plan(call.session, files, chosen) if dry_run else score_parts.run(call.session, files, chosen))


def _own_metrics(options: dict[str, Any]) -> tuple[dict[str, OwnMetric], list[str]]:
    """Puts a name into `options["metrics"]` for each function there. The functions by these names, and what is wrong."""
    from kgeval.metrics.own import OwnMetric

    metrics = options.get("metrics")
    if metrics is None or isinstance(metrics, str):
        return {}, []
    names, functions, faults = list[Any](), dict[str, OwnMetric](), list[str]()
    for metric in metrics if isinstance(metrics, Iterable) and not isinstance(metrics, Criterion) else [metrics]:
        if isinstance(metric, OwnMetric):
            name = metric.reference or metric.metric.name
            if functions.setdefault(name, metric).metric is not metric.metric:
                faults.append(f"metrics: two are called {name}")
            names.append(name)
        elif callable(metric):
            faults.append(f"metrics: {getattr(metric, '__name__', metric)} is no metric (put @kgeval.metric above it)")
        else:
            names.append(metric)
    options["metrics"] = names
    return functions, faults


@overload
def compare(
    answers: Any = ..., *, questions: Any = ..., judge: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> CompareResult: ...
@overload
def compare(
    answers: Any = ..., *, questions: Any = ..., judge: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., dry_run: Literal[True], **options: Any,
) -> ComparePlan: ...


def compare(
    answers: Any = (), *, questions: Any = None, judge: str | None = None, connection: neo4j.Driver | str | Session | None = None,
    graph: neo4j.Driver | str | Session | None = None, dry_run: bool = False, **options: Any,
) -> CompareResult | ComparePlan:
    """Which of two or more systems answers better, judged pair by pair: answers of one length, both orders, written grades, ties.

    Args:
        answers: a mapping from a system's name to its answers: {"vector": ..., "mine": ...}; each a file (.jsonl, .json, .csv, .parquet), a
            DataFrame, a list or an iterator of mappings, or the rows of a result of this library. Or files and DataFrames whose rows name
            their systems, one or a list. None, where all `systems` are asked.
        questions: the questions, with right answers and evidence where there are some, joined by id; of the same kinds.
        judge: the model that is asked; finished calls are never paid twice. Its key comes from OPENAI_API_KEY.
        connection, graph: for `systems` that look into a graph: as for `connect`; `graph` may be either, a name or a connection.
        dry_run: True: only what the models would be asked, as a ComparePlan: calls, tokens, money.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a CompareResult: `report` (win rates with intervals, tests, ranking, the judge itself, questions opened), `to_pandas()` (a row
        a pair and aspect), `verdicts`, `gates` and `raise_for_gates()`, `save(path)`; a notebook shows the report.
    Raises: UsageError with everything that is wrong with the options; InputError with every bad row; ConnectError, ModelError. What stops
        early (a budget, too many failures) raises nothing: `exit_code` is 3, and `messages` say why.
    """
    from kgeval.workflows import compare as workflow

    with COMPARE.called(
        options | {"judge": judge}, connection=connection, graph=graph, dry=dry_run, keep_rows=True,
    ) as call:
        names: dict[Path, str] = {}
        if isinstance(answers, Mapping):
            names = {call.files.path(rows, file_name(name)): str(name) for name, rows in answers.items()}
            if len(names) < len(answers):
                raise UsageError("two systems have the same file of answers", fix="give each system answers of its own")
            files = list(names)
        else:
            files = [] if _is_nothing(answers) else [call.files.path(part, name) for name, part in named_parts(answers)]
        given = call.given | ({} if questions is None else {"questions": call.files.path(questions, "questions")})
        call.session.arguments = {"answers": [str(path) for path in files], "names": list(names.values())}
        chosen = options_of(CompareOptions, given, call.session.config.compare)
        if dry_run:
            return call.worded(workflow.plan(call.session, files, chosen, names=names))
        return call.worded(workflow.run(call.session, files, chosen, names=names))


@overload
def build(
    docs: Any = ..., *, graph: str, connection: neo4j.Driver | str | Session | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> BuildResult: ...
@overload
def build(
    docs: Any = ..., *, graph: str, connection: neo4j.Driver | str | Session | None = ..., dry_run: Literal[True], **options: Any,
) -> BuildPlan: ...


def build(
    docs: Any = (), *, graph: str, connection: neo4j.Driver | str | Session | None = None, dry_run: bool = False, **options: Any,
) -> BuildResult | BuildPlan:
    """A knowledge graph made from documents, with provenance, or brought up to date. Writes to Neo4j, into the graph of this name only.

    Args:
        docs: files and folders (text, Markdown, PDF, Word, JSONL), one or a list; or documents as a DataFrame, a list or an iterator of
            mappings: id, title, text. A document that is unchanged costs nothing.
        graph: the graph's name: one more label on its nodes.
        connection: as for `connect`, or a session.
        dry_run: True: only what would be extracted and asked, as a BuildPlan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a BuildResult: `report` (an IndexRecord: time, calls, tokens, cost, sizes), `to_pandas()`, `save("index.json")`.
    Raises: UsageError with everything that is wrong with the options; InputError, ConnectError, ModelError before anything is written;
        IncompleteError where nothing could be extracted; QueryError in the middle: the same call goes on.
    """
    from kgeval.workflows import build as workflow

    with BUILD.called(options, connection=connection, dry=dry_run, **_name_of(graph)) as call:
        several = [docs] if isinstance(docs, str | Path) else docs
        if not (isinstance(several, list | tuple) and all(isinstance(doc, str | Path) for doc in several)):
            several = [call.files.path(docs, "docs")]
        files = [Path(doc) for doc in several]
        call.session.arguments = {"docs": [str(path) for path in files]}
        chosen = workflow.build_options(call.session.config, call.given)
        return call.worded(workflow.plan(call.session, files, chosen) if dry_run else workflow.run(call.session, files, chosen))


def import_graph(
    path: str | Path | None = None, *, graph: str, connection: neo4j.Driver | str | Session | None = None, nodes: Any = None,
    relations: Any = None, chunks: Any = None, documents: Any = None, dry_run: bool = False, **options: Any,
) -> ImportResult:
    """A graph from files loaded into Neo4j, provenance kept. Writes into the graph of this name only.

    Args:
        path: a folder of MS GraphRAG, LightRAG or tables, or one file: GraphML, triples, node-link JSON.
        graph: the graph's name: one more label on its nodes.
        connection: as for `connect`, or a session.
        nodes, relations, chunks, documents: tables instead: a DataFrame, a file (CSV, Parquet), or a list of files. The columns are in
            docs/import.md.
        dry_run: True: the files are read and checked, and nothing is written.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: an ImportResult: `counts`, `notes`, `unchanged`.
    Raises: UsageError with everything that is wrong with the options; InputError; IncompleteError above the share of bad rows: nothing is
        written; ConnectError; QueryError in the middle: the graph may be half loaded, `replace=True` begins again.
    """
    from kgeval.workflows import imports as workflow

    tables = {"nodes": nodes, "relations": relations, "chunks": chunks, "documents": documents}
    named = _name_of(graph)
    if not (path is None or isinstance(path, str | Path)):
        named["faults"] = [*named.get("faults", ()), f"path: a file or a folder is needed, not {type(path).__name__}"]
    with IMPORT.called(options, connection=connection, dry=dry_run, **named) as call:
        files = {name: call.files.table(table, name) for name, table in tables.items() if table is not None}
        call.session.arguments = {"path": path and str(path)}
        chosen = options_of(ImportOptions, {**call.given, **files})
        return workflow.run(call.session, None if path is None else Path(path), chosen)


def _name_of(graph: object) -> dict[str, Any]:
    """The name of a graph that is written, as `called` takes it."""
    if isinstance(graph, str) and graph:
        return {"graph": graph}
    return {"faults": [f"graph: the graph's name is needed, not {graph!r}"]}


@overload
def generate_questions(
    connection: neo4j.Driver | str | Session | None = ..., *, kinds: Mapping[str, int] | Sequence[str] | str | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., earlier: Any = ..., dry_run: Literal[False] = ..., **options: Any,
) -> GenerateResult: ...
@overload
def generate_questions(
    connection: neo4j.Driver | str | Session | None = ..., *, kinds: Mapping[str, int] | Sequence[str] | str | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., earlier: Any = ..., dry_run: Literal[True], **options: Any,
) -> GeneratePlan: ...


def generate_questions(
    connection: neo4j.Driver | str | Session | None = None, *, kinds: Mapping[str, int] | Sequence[str] | str | None = None,
    graph: neo4j.Driver | str | Session | None = None, earlier: Any = None, dry_run: bool = False, **options: Any,
) -> GenerateResult | GeneratePlan:
    """Questions made from a graph and its texts, each from one piece of the graph, with a reference answer and its evidence. Reads only.

    Args:
        connection: as for `connect`, or a session.
        kinds: what is asked for: {"hops": 30, "negative": 10}, "hops=30,negative=10", or names alone, `n` of each; `kgeval questions
            kinds` lists them.
        graph: name of the graph, where a database holds several; or what `connection` may be.
        earlier: questions that must not come again: a file, a DataFrame, a list or an iterator of mappings, or what this function gave.
        dry_run: True: only what the model would be asked, as a GeneratePlan: calls, tokens, money.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a GenerateResult: go through it for the questions, or hand it to `check_questions` and `score`; `to_pandas()` (a row a
        question), `save("questions.jsonl")`, `report` (a GenerationReport: asked, made and why fewer, by kind). The same graph and seed
        give the same questions; finished calls are never paid twice.
    Raises: UsageError with everything that is wrong with the options; ConnectError, LayoutError, InputError, ModelError. Fewer questions
        than asked for raise nothing: `exit_code` is 3 (0 with allow_fewer), and `messages` say why.
    """
    from kgeval.workflows import questions_generate as workflow

    with GENERATE.called(
        options | {"kinds": kinds}, connection=connection, graph=graph, dry=dry_run, keep_rows=True,
    ) as call:
        given = call.given | ({} if earlier is None else {"earlier": call.files.path(earlier, "earlier")})
        chosen = options_of(GenerateOptions, given, call.session.config.questions, names=partial(workflow.names, call.session))
        return call.worded(workflow.plan(call.session, chosen) if dry_run else workflow.run(call.session, chosen))


@overload
def check_questions(
    questions: Any, *, judge: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., dry_run: Literal[False] = ..., **options: Any,
) -> CheckResult: ...
@overload
def check_questions(
    questions: Any, *, judge: str | None = ..., connection: neo4j.Driver | str | Session | None = ...,
    graph: neo4j.Driver | str | Session | None = ..., dry_run: Literal[True], **options: Any,
) -> Plan: ...


def check_questions(
    questions: Any, *, judge: str | None = None, connection: neo4j.Driver | str | Session | None = None,
    graph: neo4j.Driver | str | Session | None = None, dry_run: bool = False, **options: Any,
) -> CheckResult | Plan:
    """Checks of questions, whoever made them: is each answerable from its evidence, not known anyway, unique, said once, without a leak?

    Args:
        questions: a file, a DataFrame, a list or an iterator of mappings, or what `generate_questions` gave; or a list of two of them
            (not of mappings), which are checked side by side. Fields as in docs/question-files.md, or others, with `map`.
        judge: the model that is asked; `no_model=True`: the checks that need none.
        connection, graph: where answers are proved: as for `connect`; `graph` may be either, a name or a connection. NEO4J_URI alone
            opens nothing: most checks need no graph.
        dry_run: True: only what the judge would be asked, as a Plan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a CheckResult: `report` (a CheckReport: passed, failed and unscored of each check, with intervals and examples), `to_pandas()`
        (a row a check), `gates` and `raise_for_gates()`; go through it for the questions with their checks (of one set), or hand it to
        `score`; `save("checked.jsonl")`.
    Raises: UsageError with everything that is wrong with the options; InputError with every bad row; ConnectError, ModelError. What stops
        early raises nothing: `exit_code` is 3, and `messages` say why.
    """
    from kgeval.workflows import questions_check as workflow

    named = any(part is not None for part in (connection, graph, options.get("home"), options.get("layout")))
    with CHECK.called(
        options | {"judge": judge}, connection=connection, graph=graph, dry=dry_run, keep_rows=True,
    ) as call:
        parts = named_parts(questions, "questions")
        if isinstance(questions, list | tuple) and any(isinstance(part, list | tuple | str | Path | Result) for part in questions):
            parts = [(f"questions-{number}", part) for number, part in enumerate(questions, 1)]  # sets, some of them lists of rows
        files = [call.files.path(part, name) for name, part in parts]
        call.session.arguments = {"files": [str(path) for path in files]}
        chosen = options_of(CheckOptions, call.given)
        if dry_run:
            return call.worded(workflow.plan(call.session, files, chosen, graph=named))
        return call.worded(workflow.run(call.session, files, chosen, graph=named))


def report(runs: Any, *, baseline: Any = (), config: Any = None, **options: Any) -> ReportResult:
    """One report to make a decision from, over the results of other functions, report files, and folders of runs.

    Args:
        runs: a result of this library, a report file (.json, .html) or a folder of `kgeval run`; or a list of them.
        baseline: what an earlier run came to, of the same kinds, to compare with.
        config: as for `connect`.

    {options}

    Returns: a ReportResult: `report` (verdict, what to fix first, five scores, every figure with its interval, cost, what is missing),
        `to_pandas()` (a row a figure), `gates` and `raise_for_gates()`, `save(path)`; a notebook shows it.
    Raises: UsageError with everything that is wrong with the options; InputError for files that are no reports.
    """
    from kgeval.workflows import report as workflow

    with REPORT.called({**options, "config": config}) as call:
        files = [call.files.report(file, "runs") for file in _listed(runs)]
        before = tuple(call.files.report(file, "baseline") for file in _listed(baseline))
        call.session.arguments = {"runs": [str(path) for path in files]}
        return workflow.run(call.session, files, options_of(ReportOptions, {**call.given, "baseline": before}))


def agree(
    labels: Any, *, scores: Any = (), verdicts: Any = (), answers: Any = (), questions: Any = None, config: Any = None, **options: Any,
) -> AgreementResult:
    """How far people agree with each other, and metrics and judges with people.

    Args:
        labels: people's labels: files of `kgeval annotate read` or RAGChecker's; a DataFrame, a list or an iterator of mappings.
        scores: what `kgeval.score` gave for the labelled answers, files, or what another tool gave as a DataFrame (ragas'
            `to_pandas()`); one or a list.
        verdicts: files with verdicts of judges of pairs; one or a list.
        answers, questions: the labelled answers, of the kinds that `score` takes: how far length alone agrees with people.
        config: as for `connect`.

    {options}

    Returns: an AgreementResult: `report` (an AgreementReport: people, metrics, judges, n, intervals), `to_pandas()`, `save(path)`.
    Raises: UsageError with everything that is wrong with the options; InputError with every bad row.
    """
    from kgeval.workflows import agree as workflow

    with AGREE.called({**options, "config": config}) as call:
        files = [call.files.path(item, name) for name, item in named_parts(labels, "labels")]
        given = {
            **call.given, "verdicts": call.files.paths(verdicts, "verdicts") or (), "scores": call.files.paths(scores, "scores") or (),
            "answers": tuple(call.files.path(item, name) for name, item in named_parts(answers)) if not _is_nothing(answers) else (),
            "questions": None if questions is None else call.files.path(questions, "questions"),
        }
        call.session.arguments = {"labels": [str(path) for path in files]}
        return workflow.run(call.session, files, options_of(AgreeOptions, given))


@overload
def accuracy(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., judge: str | None = ..., labels: Any = ...,
    labelled_pairs: Any = ..., chunks: Any = ..., dry_run: Literal[False] = ..., **options: Any,
) -> AccuracyResult: ...
@overload
def accuracy(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., judge: str | None = ..., labels: Any = ...,
    labelled_pairs: Any = ..., chunks: Any = ..., dry_run: Literal[True], **options: Any,
) -> Plan: ...


def accuracy(
    connection: neo4j.Driver | str | Session | None = None, *, graph: str | None = None, judge: str | None = None, labels: Any = (),
    labelled_pairs: Any = None, chunks: Any = (), dry_run: bool = False, **options: Any,
) -> AccuracyResult | Plan:
    """How much of a graph is true: a sample of it, each item read against its passages by a judge, by people, or by both. Reads only.

    Args:
        connection: as for `connect`, or a session.
        graph: name of the graph, where a database holds several.
        judge: the model that is asked; finished calls are never paid twice. Its key comes from OPENAI_API_KEY.
        labels: people's labels: the filled sheets of `sheet`; or a DataFrame, a list or an iterator of mappings with id and label (and
            annotator, where there are several). Of the same sample: kind, seed, strata and per_passage must be those it was drawn with.
        labelled_pairs: with kind="duplicates", labelled pairs: a file or rows with name_a, name_b, label (same, different).
        chunks: texts of chunks that the graph does not hold: files, or rows with id and text.
        dry_run: True: only what the judge would be asked, as a Plan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: an AccuracyResult: `estimates` (shares with intervals), `to_pandas()` (a row a drawn item), `gates` and `raise_for_gates()`,
        `save(path)`; a notebook shows the report.
    Raises: UsageError with everything that is wrong with the options; InputError with every faulty label, before anything is paid;
        ConnectError, LayoutError, ModelError. What stops early raises nothing: `exit_code` is 3.
    """
    from kgeval.workflows import accuracy as workflow

    with ACCURACY.called(options | {"judge": judge}, connection=connection, graph=graph, dry=dry_run) as call:
        given = {**call.given, "labels": call.files.paths(labels, "labels"), "chunks": call.files.paths(chunks, "chunks")}
        given["labelled_pairs"] = None if labelled_pairs is None else call.files.path(labelled_pairs, "labelled_pairs")
        chosen = options_of(AccuracyOptions, given, call.session.config.accuracy, names=partial(workflow.names, call.session))
        return call.worded(workflow.plan(call.session, chosen) if dry_run else workflow.run(call.session, chosen))


@overload
def completeness(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., gold: Any = ..., ideal: Any = ...,
    facts: Any = ..., control: Any = ..., dry_run: Literal[False] = ..., **options: Any,
) -> CompletenessResult: ...
@overload
def completeness(
    connection: neo4j.Driver | str | Session | None = ..., *, graph: str | None = ..., gold: Any = ..., ideal: Any = ...,
    facts: Any = ..., control: Any = ..., dry_run: Literal[True], **options: Any,
) -> CompletenessPlan: ...


def completeness(
    connection: neo4j.Driver | str | Session | None = None, *, graph: str | None = None, gold: Any = (), ideal: Any = (),
    facts: Any = None, control: Any = None, dry_run: bool = False, **options: Any,
) -> CompletenessResult | CompletenessPlan:
    """What a graph lacks of a gold set, by matching level. Reads only; needs no model, but for `ideal` and `facts`.

    Args:
        connection: as for `connect`, or a session.
        graph: name of the graph, where a database holds several.
        gold: gold entities and triples: a file (JSONL, JSON, CSV, Parquet), a DataFrame, a list or an iterator of mappings with name (and
            type), or subject, predicate, object; or a list of files and DataFrames. Records (GoldEntity, GoldTriple) are mappings too.
        ideal: documents instead: an extractor's graph of them is the gold set. Files and folders, or rows with id, title, text.
        facts: gold sentences, a file or rows: a judge says which of them follow from the graph.
        control: gold of another text, which should not be found, of the kinds that `gold` takes.
        dry_run: True: only what the models would be asked, as a CompletenessPlan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a CompletenessResult: `report` (coverage by level, with intervals), `to_pandas()` (a row a gold item, with what stands for
        it), `gates` and `raise_for_gates()`, `save(path)`; a notebook shows the report.
    Raises: UsageError with everything that is wrong with the options; InputError with every faulty gold item where none can be read;
        ConnectError, LayoutError, ModelError. What stops early raises nothing: `exit_code` is 3.
    """
    from kgeval.workflows import completeness as workflow

    with COMPLETENESS.called(options, connection=connection, graph=graph, dry=dry_run) as call:
        given = {**call.given, "gold": call.files.paths(gold, "gold"), "ideal": call.files.paths(ideal, "ideal")}
        given |= {
            name: None if rows is None else call.files.path(rows, name) for name, rows in (("facts", facts), ("control", control))
        }
        chosen = options_of(CompletenessOptions, given, call.session.config.completeness, names=partial(workflow.names, call.session))
        return call.worded(workflow.plan(call.session, chosen) if dry_run else workflow.run(call.session, chosen))


@overload
def contamination(
    questions: Any, *, answers: Any = ..., scores: Any = ..., documents: Any = ..., judge: str | None = ...,
    connection: neo4j.Driver | str | Session | None = ..., graph: neo4j.Driver | str | Session | None = ...,
    dry_run: Literal[False] = ..., **options: Any,
) -> ContaminationResult: ...
@overload
def contamination(
    questions: Any, *, answers: Any = ..., scores: Any = ..., documents: Any = ..., judge: str | None = ...,
    connection: neo4j.Driver | str | Session | None = ..., graph: neo4j.Driver | str | Session | None = ...,
    dry_run: Literal[True], **options: Any,
) -> Plan: ...


def contamination(
    questions: Any, *, answers: Any = (), scores: Any = (), documents: Any = None, judge: str | None = None,
    connection: neo4j.Driver | str | Session | None = None, graph: neo4j.Driver | str | Session | None = None, dry_run: bool = False,
    **options: Any,
) -> ContaminationResult | Plan:
    """What a model answers to questions without any text, and every score without the questions that it knows.

    Args:
        questions: a file, a DataFrame, a list or an iterator of mappings: id, question, reference, level, document...
        answers: of the closed book, and of other systems, as `score` takes them; or a list of files and DataFrames.
        scores: what `kgeval.score` gave for these answers, or files; one or a list. They are not judged again.
        documents: documents with dates of publication, a file or rows, for `model_cutoff`: published before it, a model may know them.
        judge: the model that says what is right; without one, words do. Its key comes from OPENAI_API_KEY.
        connection, graph: for `probe`: as for `connect`; `graph` may be either, a name or a connection.
        dry_run: True: only what the models would be asked, as a Plan.
        **options: those of `connect` (not with a session), and

    {options}

    Returns: a ContaminationResult: `report`, `marked` (ids of the questions that the closed book answers), `to_pandas()` (a row a metric
        of a system, with and without them), `save(path)`; a notebook shows the report.
    Raises: UsageError with everything that is wrong with the options; InputError with every bad row; ConnectError, ModelError. What stops
        early raises nothing: `exit_code` is 3, and `messages` say why.
    """
    from kgeval.workflows import contamination as workflow
    from kgeval.workflows.score import ScoreResult

    with CONTAMINATION.called(options | {"judge": judge}, connection=connection, graph=graph, dry=dry_run) as call:
        file = call.files.path(questions, "questions")
        scored = [call.files.saved(item, "scores") if isinstance(item, ScoreResult) else item for item in _listed(scores)]
        given = {
            **call.given, "answers": call.files.paths(answers, "answers"), "scores": tuple(scored) or None,
            "documents": None if documents is None else call.files.path(documents, "documents"),
        }
        call.session.arguments = {"questions": str(file)}
        chosen = options_of(ContaminationOptions, given, call.session.config.contamination)
        return call.worded(workflow.plan(call.session, file, chosen) if dry_run else workflow.run(call.session, file, chosen))


@overload
def run(
    config: str | Path | Config | None = ..., *, connection: neo4j.Driver | str | Session | None = ..., dry_run: Literal[False] = ...,
    **options: Any,
) -> RunResult: ...
@overload
def run(
    config: str | Path | Config | None = ..., *, connection: neo4j.Driver | str | Session | None = ..., dry_run: Literal[True],
    **options: Any,
) -> RunPlan: ...


def run(
    config: str | Path | Config | None = None, *, connection: neo4j.Driver | str | Session | None = None, dry_run: bool = False,
    **options: Any,
) -> RunResult | RunPlan:
    """Everything that a configuration describes, from graph, documents or answers to the one report, below one folder. What is up to date
    there is passed over; what was interrupted goes on.

    Args:
        config: the file (see docs/run.md), or a Config. None: ./kgeval.toml.
        connection: as for `connect`, or a session: what all stages work with that do not say otherwise.
        dry_run: True: only the stages, whether they are up to date, and what the next ones would ask of models, as a RunPlan.
        **options: username, database, home, progress as for `connect` (not with a session), and

    {options}

    Returns: a RunResult: `stages` (state, exit code, seconds, calls and cost of each), `report` (the report at the end), `to_pandas()` (a
        row a stage), `folder`; `exit_code` is that of the worst stage. Messages of a stage are in `folder/logs`.
    Raises: UsageError with everything that is wrong with the arguments; ConfigError with everything that is wrong with the file and what
        it names, before anything is started; ConnectError. A stage that fails raises nothing. KeyboardInterrupt: the same call goes on.
    """
    from kgeval.config import DEFAULT_FILE, read
    from kgeval.workflows import run as workflow

    if not (config is None or isinstance(config, str | Path | Config)):
        raise UsageError(f"config: a file or a Config is needed, not {type(config).__name__}", fix='e.g. kgeval.run("kgeval.toml")')
    faults: list[str] = []
    whole: Any = config
    file = None if isinstance(config, Config) else Path(config or DEFAULT_FILE)
    if file is not None:
        whole, faults = read(file, named=config is not None)
    mine = {} if isinstance(connection, Session) else {"config": whole}
    with RUN.called({**options, **mine}, connection=connection) as call:
        session = call.session
        session.config, session.config_file = whole, file
        chosen = options_of(RunOptions, call.given)
        if dry_run:
            return workflow.RunPlan(tuple(workflow.plan(session, chosen, faults=faults)))
        return workflow.run(session, chosen, faults=faults)


def _is_nothing(data: Any) -> bool:
    return data is None or (isinstance(data, list | tuple) and not data)


def _listed(data: Any) -> list[Any]:
    return list(data) if isinstance(data, list | tuple) else [data]


for _name, _function in FUNCTIONS.items():
    _function.describe(globals()[_name])
