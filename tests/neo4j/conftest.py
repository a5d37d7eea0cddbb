"""One server for the whole suite, or for each of its workers. KGEVAL_TEST_URI and KGEVAL_TEST_PASSWORD use a running one (it is wiped!).

KGEVAL_NEO4J_LINE chooses the line of Neo4j. On a line other than the default one the files of ONE_LINE are left out: what they
prove is the same whatever answers, and every query that they send is sent by another file too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from server_world import empty, new_server

from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.server.lines import DEFAULT_LINE, line_of_new_homes

# Files that prove things around a graph (options, models, files, sums), not what a server answers
ONE_LINE = {
    "test_audit_with_reports.py": "reads reports of other tools beside an audit",
    "test_contamination_probe.py": "questions that models know by heart",
    "test_end_to_end.py": "hop questions, answers and scores, each of which has a file of its own",
    "test_generate_cli.py": "options and files of question generation; the queries are those of test_question_proofs.py",
    "test_goldens_graphs.py": "what users see, on the default line",
    "test_notebooks.py": "the notebooks of the docs; every query that they send is sent by another file",
    "test_novels.py": "figures of two novels",
    "test_run_cli.py": "steps of a run file",
    "test_sampling_laws.py": "laws of drawing; the queries are those of test_sampling.py",
    "test_tutorials.py": "the tutorials of the docs; every query that they send is sent by another file",
}
# Files that ask the queries of an audit. To plan them all takes a server as long as ten audits, so one worker has these files, first.
# The first of all wants a server that nothing was written to
AUDITING = (
    "test_goldens_graphs.py", "test_accuracy.py", "test_api_on_a_graph.py", "test_audit_*.py", "test_bound_queries.py", "test_build_cli.py",
    "test_checks_*.py", "test_demo.py", "test_hand_made.py", "test_labelled_pairs.py", "test_no_secret_is_told.py", "test_notebooks.py",
    "test_safe_reading.py", "test_written_by_writers.py", "test_repairs.py", "test_tutorials.py",
)
# Files that make and drop indexes or constraints: each time a server forgets the plans of all queries; so they come late
REPLANNING = (
    "test_api_on_a_graph.py", "test_builtin_index.py", "test_builtin_sweep.py", "test_build_cli.py", "test_checks_schema.py",
    "test_checks_store.py", "test_checks_vectors.py", "test_repairs.py", "test_written_by_writers.py",
)
# Files that write hundreds of labels and types. A server never forgets one, and every look at its layout asks it for each label with each
# type: whatever came after them took many times as long (half of the suite's time), so they come last of this folder
CROWDING = ("test_novels.py", "test_known_answers.py", "test_import_known_answers.py")
HERE = Path(__file__).parent
FOLDER = "tests/neo4j"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts what makes a server slow behind the rest, and leaves out what need not run once more on another line (pytest counts it as
    deselected)."""
    ours = [at for at, item in enumerate(items) if item.path.parent == HERE]
    for at, item in zip(ours, sorted((items[at] for at in ours), key=lateness), strict=True):
        items[at] = item
    if line_of_new_homes() == DEFAULT_LINE:
        return
    left_out = [item for item in items if item.path.name in ONE_LINE]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item.path.name not in ONE_LINE]


def lateness(item: pytest.Item) -> tuple[bool, bool, bool, bool]:
    """Where an item of this folder is to stand among the others."""
    name = item.path.name
    return name in CROWDING, not audits(name), name in REPLANNING, name != AUDITING[0]


def audits(name: str) -> bool:
    """Whether a file asks the queries of an audit."""
    return any(fnmatch(name, pattern) for pattern in AUDITING)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Deals files out, those that audit as if they were one. A server warms up for a minute and is a process of its own, so that half as
    many workers as there are cores have one; the others take what needs none."""
    from xdist.scheduler import LoadFileScheduling

    class Dealing(LoadFileScheduling):
        def __init__(self, config: pytest.Config, log: Any) -> None:
            super().__init__(config, log)
            self.hosts: set[Any] = set()

        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return f"{FOLDER}/audits" if audits(file.rpartition("/")[2]) else file

        def _assign_work_unit(self, node: Any) -> None:
            served = [scope for scope in self.workqueue if scope.startswith(FOLDER)]
            others = [scope for scope in self.workqueue if not scope.startswith(FOLDER)]
            self.hosts &= set(self.nodes)  # one that died is replaced
            most = os.cpu_count() or 1
            if node in self.hosts or len(self.hosts) < (max(1, most // 2) if others else most):
                self.hosts.add(node)
                others = served + others
            if not others:
                node.shutdown()
                return
            self.workqueue.move_to_end(others[0], last=False)
            super()._assign_work_unit(node)

    return Dealing(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def address() -> Iterator[Address]:
    """Where the suite's Neo4j is: a running one by environment, else an embedded one in a home of its own."""
    uri = os.environ.get("KGEVAL_TEST_URI")
    if uri:
        if os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") != "1":
            pytest.exit("KGEVAL_TEST_URI is one server that every test wipes: run pytest without -n", returncode=4)
        yield Address(uri, "neo4j", os.environ["KGEVAL_TEST_PASSWORD"], source="KGEVAL_TEST_URI")
        return
    with new_server() as found:
        yield found


@pytest.fixture(scope="session")
def connection(address: Address) -> Iterator[Graph]:
    with open_graph(address) as graph:
        yield graph


@pytest.fixture
def graph(connection: Graph) -> Graph:
    """The connection, database emptied."""
    empty(connection)
    return connection


@pytest.fixture
def draw(graph: Graph) -> Callable[[str], None]:
    """Draws a picture: runs one writing statement on the emptied database."""

    def run(statement: str) -> None:
        graph.write(statement)

    return run


@pytest.fixture(autouse=True)
def every_hit_stands_in_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law of gates, on every graph of the suite: where all examples of a check are listed, what they count is its count."""
    from kgeval.auditing import engine
    from kgeval.auditing.check import CheckOutcome
    from kgeval.auditing.gates import CheckJudgement, Gates
    from kgeval.auditing.gates.keys import keys_of, recounted
    from kgeval.auditing.rulebook import Rule
    from kgeval.records import Example

    real = engine.judged

    def checked(rule: Rule, outcome: CheckOutcome, gates: Gates, *, explained: Sequence[Example]) -> CheckJudgement:
        examples = recounted(outcome.examples) if rule.hit == "pairs" else outcome.examples
        if len(examples) < engine.LISTED:
            assert sum(example.counts for example in examples) == outcome.count, rule.id
        if rule.hit in ("first", "group", "items"):
            assert all(sum(n for _, n in keys_of(one, rule.hit)) == one.counts for one in examples), rule.id
        found = real(rule, outcome, gates, explained=explained)
        assert found.held + found.suppressed + found.known == outcome.count
        return found

    monkeypatch.setattr(engine, "judged", checked)
