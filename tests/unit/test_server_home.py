"""A home on disk: private, marked, never somebody else's folder; and what its log says when things go wrong."""

from __future__ import annotations

import errno
import shutil
import socket
import stat
from pathlib import Path

import psutil
import pytest

from kgeval.errors import ServerError
from kgeval.graph import server
from kgeval.graph.server.faults import PortTakenError, clear_io_errors, failure
from kgeval.graph.server.home import Home, StartedServer, credentials
from kgeval.graph.server.lines import Neo4jLine
from kgeval.graph.server.memory import check_fits, heap_mb
from kgeval.graph.server.process import check_port, find, free_port

LINE = Neo4jLine("5.26", "5.26.28", "2.13.9", "Main", ("org.neo4j.gds",), ())


def made(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    home.claim(None)
    return home


def quiet(_: str) -> None:
    pass


def test_a_home_and_its_password_are_for_the_user_alone(tmp_path: Path) -> None:
    home = made(tmp_path)
    home.prepare(LINE, [])
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(home.password_file.stat().st_mode) == 0o600
    assert stat.S_IMODE((home.path / "data" / "dbms" / "auth.ini").stat().st_mode) == 0o600
    assert len(home.password()) >= 32


def test_password_and_data_are_kept_once_a_server_was_ready(tmp_path: Path) -> None:
    home = made(tmp_path)
    home.prepare(LINE, [])
    first = home.password()
    home.prepare(LINE, [])
    assert home.password() != first  # nothing of the user's is in it yet: a broken first start is begun anew
    kept = home.password()
    home.mark_used()
    (home.path / "data" / "graph").write_text("x")
    home.prepare(LINE, [])
    assert home.password() == kept and (home.path / "data" / "graph").exists()


def test_a_store_that_was_deleted_is_begun_anew_with_the_password_of_the_home(tmp_path: Path) -> None:
    home = made(tmp_path)
    home.prepare(LINE, [])
    home.mark_used()
    kept, entry = home.password(), home.path / "data" / "dbms" / "auth.ini"
    for _ in range(2):
        shutil.rmtree(home.path / "data")
        home.prepare(LINE, [])  # else Neo4j starts with neo4j/neo4j
        salt = bytes.fromhex(entry.read_text().split(",")[2])
        assert home.password() == kept and entry.read_text() == credentials(kept, salt)
        (home.path / "data").mkdir(exist_ok=True)
    shutil.rmtree(home.path / "data")
    home.password_file.unlink()
    home.prepare(LINE, [])
    assert home.password() != kept


def test_a_lost_password_file_says_the_way_out(tmp_path: Path) -> None:
    home = made(tmp_path)
    home.mark_used()
    (home.path / "data" / "databases").mkdir(parents=True)
    with pytest.raises(ServerError, match="kgeval server remove"):
        home.prepare(LINE, [])


def test_credentials_are_those_of_neo4js_own_tool() -> None:
    salt = bytes.fromhex("6c746fb9139223476890143cc1841375addf492bf0f0dd8eab91e71435ce34e9")
    expected = "10a6cb8d5ba03996bc618c9459f0505ecbccfd0ca8001c51d8ce94f6abb579ab"  # AdminTool 5.26.28 wrote it
    assert credentials("devpassword", salt) == f"neo4j:SHA-256,{expected},{salt.hex()},1024:\n"


def test_a_folder_with_other_things_is_never_used_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ServerError, match="no home of kgeval, and not empty"):
        server.ensure_started(tmp_path, say=quiet)
    with pytest.raises(ServerError, match="nothing was removed"):
        server.remove(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_marker_that_is_none_of_ours_protects_a_folder_too(tmp_path: Path) -> None:
    (tmp_path / "kgeval-home.json").write_text('{"name": "other"}')
    with pytest.raises(ServerError, match="nothing was removed"):
        server.remove(tmp_path)


def test_remove_deletes_a_home_but_not_what_its_links_point_to(tmp_path: Path) -> None:
    home = made(tmp_path)
    (tmp_path / "jar").write_text("x")
    (home.path / "plugins").mkdir()
    (home.path / "plugins" / "link.jar").symlink_to(tmp_path / "jar")
    (home.path / "linked").symlink_to(tmp_path)
    server.remove(home.path)
    assert not home.path.exists() and (tmp_path / "jar").exists()


def test_another_line_is_refused_with_the_way_out(tmp_path: Path) -> None:
    home = made(tmp_path)
    marker = home.path / "kgeval-home.json"
    marker.write_text(marker.read_text().replace('"5.26"', '"2026.01"'))
    with pytest.raises(ServerError, match=r"holds graphs of Neo4j 2026\.01"):
        server.ensure_started(home.path, say=quiet, neo4j="5.26")
    marker.write_text(marker.read_text().replace('"2026.01"', '"2031.01"'))
    with pytest.raises(ServerError, match=r"holds graphs of Neo4j 2031\.01, which this kgeval cannot start"):
        server.ensure_started(home.path, say=quiet)


def test_a_new_home_takes_the_environments_line_and_an_old_one_keeps_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGEVAL_NEO4J_LINE", raising=False)
    old = made(tmp_path)
    monkeypatch.setenv("KGEVAL_NEO4J_LINE", "2026.01")
    new = Home(tmp_path / "new")
    new.create()
    assert (new.claim(None).name, old.claim(None).name) == ("2026.01", "5.26")
    monkeypatch.setenv("KGEVAL_NEO4J_LINE", "1.0")
    assert old.claim(None).name == "5.26"
    with pytest.raises(ServerError, match="KGEVAL_NEO4J_LINE"):
        Home(tmp_path / "another").claim(None)


def test_a_home_of_a_later_kgeval_is_left_alone(tmp_path: Path) -> None:
    home = made(tmp_path)
    marker = home.path / "kgeval-home.json"
    marker.write_text(marker.read_text().replace('"kgeval_home":"1"', '"kgeval_home":"9"'))
    with pytest.raises(ServerError, match="later kgeval"):
        server.status(home.path)


def test_a_home_that_does_not_exist_does_not_run(tmp_path: Path) -> None:
    assert server.status(tmp_path / "none").running is False
    assert server.stop(tmp_path / "none") is False and server.logs(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("pid", [None, 1, 2**22 + 5])
def test_a_stale_record_is_not_a_server(tmp_path: Path, pid: int | None) -> None:
    home = made(tmp_path)
    home.write_running(StartedServer(port=1, heap="1g", pid=pid, created=1.0, ready=True))
    assert find(home) is None and server.stop(home.path) is False


def test_another_process_with_the_pid_and_the_start_time_is_not_a_server(tmp_path: Path) -> None:
    """A pid is given again, and start times are coarse: whoever is no Java of this home is left alone. Here it is this process."""
    home, this = made(tmp_path), psutil.Process()
    home.write_running(StartedServer(port=1, heap="1g", pid=this.pid, created=this.create_time(), ready=True))
    assert find(home) is None


def test_a_path_that_java_cannot_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="no colon"):
        server.ensure_started(tmp_path / "a:b", say=quiet)


@pytest.mark.parametrize("heap", ["1", "g", "1t", "-1g", "1.5g", "0g", "1g ", "100m", "٣g"])
def test_a_heap_that_is_none_is_refused_before_anything_is_made(tmp_path: Path, heap: str) -> None:
    with pytest.raises(ServerError, match="heap"):
        server.ensure_started(tmp_path / "home", say=quiet, heap=heap)
    assert not (tmp_path / "home").exists()


def test_heaps_are_read_in_mebibytes_and_must_fit() -> None:
    assert (heap_mb("512m"), heap_mb("2G")) == (512, 2048)
    with pytest.raises(ServerError, match="of memory here"):
        check_fits("9000g")


def test_a_port_in_use_is_named() -> None:
    check_port(free_port())
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} is taken"):
            check_port(port)
    with pytest.raises(ServerError, match="no port"):
        check_port(70000)


@pytest.mark.parametrize(("line", "said"), [
    ("Caused by: java.io.IOException: No space left on device", "disk is full"),
    ("Invalid memory configuration - exceeds physical memory.", "memory does not fit"),
    ("Lock file has been locked by another process: /x/store_lock", "another server uses this home"),
    ("something new", "something new"),
    ("", "it was killed"),
])
def test_the_log_becomes_a_clear_error(line: str, said: str) -> None:
    assert said in str(failure([line], log=Path("console.log")))


def test_a_port_lost_in_the_race_can_be_told_from_other_faults() -> None:
    assert isinstance(failure(["Address already in use: bind"], log=Path("l")), PortTakenError)


@pytest.mark.parametrize(("number", "said"), [(errno.ENOSPC, "disk is full"), (errno.EACCES, "may write"), (errno.EIO, "another --home")])
def test_errors_of_the_file_system_say_the_way_out(number: int, said: str) -> None:
    with pytest.raises(ServerError) as caught, clear_io_errors("the home"):
        raise OSError(number, "words", "/x/y")
    assert said in str(caught.value) and "/x/y" in str(caught.value)


def test_the_log_is_read_from_its_end(tmp_path: Path) -> None:
    home = made(tmp_path)
    home.log.parent.mkdir()
    home.log.write_bytes(b"x" * 3_000_000 + b"\none\n\xff two\n")
    assert server.logs(home.path, 2) == ["one", "\ufffd two"]
