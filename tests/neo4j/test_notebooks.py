"""The notebooks of docs/notebooks run as they are; an interrupted cell leaves driver and server usable; a bar where a notebook has one."""

from __future__ import annotations

import json
import queue
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer

# of Jupyter's libraries, about themselves
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client"),
    pytest.mark.filterwarnings("ignore:Jupyter is migrating its paths:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq"),
]
FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
SAMPLE = Path(kgeval.__file__).parent / "sample" / "graph.json"


@pytest.fixture
def environment(address: Address, graph: Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a user sets before Jupyter starts; its own files in a folder that goes."""
    monkeypatch.chdir(tmp_path)
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name, value in {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password,
        "PYTHONPATH": str(Path(kgeval.__file__).parents[1]), "JUPYTER_PLATFORM_DIRS": "1",
    }.items():
        monkeypatch.setenv(name, value)


def executed(name: str) -> list[Any]:
    """The cells of a notebook after all of them ran. Raises: nbclient's error for the first cell that fails."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=280, kernel_name="python3").execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell: Any) -> str:
    """All that a cell shows as text, but the pages of reports."""
    parts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join("".join(part) for part in parts)


def page_of(cells: list[Any], start: str) -> str:
    """The HTML that a cell shows."""
    cell = next(cell for cell in cells if cell.source.startswith(start))
    return str(cell.outputs[-1]["data"]["text/html"])


@pytest.mark.long
def test_a_graph_is_audited_fixed_and_audited_again(environment: None) -> None:
    cells = executed("audit-and-fix")
    assert page_of(cells, "before = ").startswith("<iframe")
    fixes = next(text_of(cell) for cell in cells if cell.source.startswith("def repair("))
    assert [line.partition(":")[0] for line in fixes.splitlines()] == ["missing-type", "duplicate-name"]
    assert "0 nodes merged" in fixes.splitlines()[0] and "1 nodes merged" in fixes.splitlines()[1]
    gates = next(text_of(cell) for cell in cells if cell.source.startswith("for gate in"))
    assert len(gates.splitlines()) == 3 and gates.count(" True") == 3
    assert not [cell.source for cell in cells if "\x1b" in text_of(cell)], "no control characters of a terminal"
    assert not [cell.source for cell in cells for output in cell.outputs if output.get("name") == "stderr"]


@pytest.mark.long
@pytest.mark.skipif(not {"answer", "compare"} <= set(kgeval.__all__), reason="there is no kgeval.answer or kgeval.compare yet")
def test_two_systems_are_compared_with_a_model_behind_an_address(environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(dimensions=32) as server:
        for name, value in {
            "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "any", "MODEL": "fake", "EMBEDDING_URL": server.base_url,
            "EMBEDDING_MODEL": "fake-vectors",
        }.items():
            monkeypatch.setenv(name, value)
        cells = executed("compare-two-systems")
    assert server.stats().requests > 0 and Path("two-systems.html").is_file()
    for start in ("scores = ", "comparison = ", "whole = "):
        assert page_of(cells, start).startswith("<iframe")


@pytest.fixture
def kernel(environment: None) -> Iterator[Any]:
    """A kernel as a notebook has one, and its client."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run_cell(client: Any, code: str, *, timeout: float = 200) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The reply to a cell and what it put out."""
    outputs: list[dict[str, Any]] = []
    reply = client.execute_interactive(code, timeout=timeout, output_hook=outputs.append)
    return reply["content"], outputs


OPENING = f"""
import os, neo4j, kgeval
driver = neo4j.GraphDatabase.driver(os.environ["NEO4J_URI"], auth=("neo4j", os.environ["NEO4J_PASSWORD"]))
kgeval.import_graph({str(SAMPLE)!r}, graph="velmouth", connection=driver, config=False, replace=True)
"""


def wait_for_rounds(client: Any, count: int) -> dict[str, Any] | None:
    """The reply to the cell that says 'again' after each round; None where it does so that often first."""
    rounds = 0
    while rounds < count:
        with suppress(queue.Empty):
            return dict(client.get_shell_msg(timeout=0.1))
        with suppress(queue.Empty):
            rounds += "again" in json.dumps(client.get_iopub_msg(timeout=0.1)["content"], default=str)
    return None


@pytest.mark.long
def test_an_interrupted_cell_leaves_the_driver_and_the_server_usable(kernel: Any) -> None:
    manager, client = kernel
    assert run_cell(client, OPENING)[0]["status"] == "ok"
    # stop_on_error: a kernel aborts for a moment whatever is sent right behind a cell that failed
    endless = "while True:\n    kgeval.audit(driver, graph='velmouth', config=False)\n    print('again', flush=True)"
    number = client.execute(endless, stop_on_error=False)
    wait_for_rounds(client, 1)
    reply = None
    while reply is None:  # Python drops an interrupt that falls into a finaliser: who pressed the button presses it again
        manager.interrupt_kernel()
        reply = wait_for_rounds(client, 3)  # the first may have been said before
    assert reply["parent_header"]["msg_id"] == number and reply["content"]["ename"] == "KeyboardInterrupt"
    after = """
assert driver.execute_query("RETURN 1 AS one").records[0]["one"] == 1
assert driver.execute_query("CALL gds.graph.list() YIELD graphName RETURN graphName").records == []
print(kgeval.audit(driver, graph="velmouth", checks="isolated-entity", no_structure=True, config=False).findings[0].count)
"""
    content, outputs = run_cell(client, after)
    assert content["status"] == "ok", content
    assert "1\n" in [output["content"].get("text") for output in outputs]


@pytest.mark.long
def test_a_cell_shows_one_bar_that_goes_and_no_line_a_step(kernel: Any) -> None:
    _, client = kernel
    assert run_cell(client, OPENING)[0]["status"] == "ok"
    call = "result = kgeval.audit(driver, graph='velmouth', config=False{})"
    content, outputs = run_cell(client, call.format(""))
    assert content["status"] == "ok", content
    shown = [output for output in outputs if output["msg_type"] in ("display_data", "update_display_data", "stream")]
    assert [output["msg_type"] for output in shown[:2]] == ["display_data", "update_display_data"], "one output, replaced as it goes on"
    assert {output["msg_type"] for output in shown[1:]} == {"update_display_data"}
    assert len({output["content"]["transient"]["display_id"] for output in shown}) == 1
    looks = [output["content"]["data"] for output in shown]
    assert all("connecting" in look["text/plain"] or re.search(r"\d+/\d+", look["text/plain"]) for look in looks[1:-1])
    assert any("\u2501" in look["text/plain"] and "<pre" in look["text/html"] for look in looks[:-1]), "a bar"
    assert looks[-1] == {"text/plain": "", "text/html": ""}, "gone at the end"
    content, outputs = run_cell(client, call.format(", progress=False"))
    assert content["status"] == "ok" and not [one for one in outputs if one["msg_type"] in ("display_data", "stream")]


@pytest.mark.long
def test_calls_of_models_show_their_bar_in_the_cell_from_their_threads(kernel: Any) -> None:
    _, client = kernel
    with FakeServer(delay=0.3) as server:
        code = f"""
import os, kgeval
os.environ["OPENAI_API_KEY"] = "any"
rows = [{{"question": f"Q{{n}}?", "answer": "A", "contexts": ["C"]}} for n in range(6)]
scores = kgeval.score(rows, metrics="faithfulness", judge="fake", base_url={server.base_url!r}, journal="j.sqlite", config=False)
"""
        content, outputs = run_cell(client, code)
    assert content["status"] == "ok", content
    shown = [output for output in outputs if output["msg_type"] in ("display_data", "update_display_data", "stream")]
    assert len({output["content"]["transient"]["display_id"] for output in shown}) == 1 and len(shown) > 2
    assert any(re.search(r"[1-6]/6", output["content"]["data"]["text/plain"]) for output in shown)
