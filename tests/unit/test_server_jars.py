"""The pinned list, and fetching from it: from a repository of our own on this machine, with every fault we can think of."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kgeval.errors import ServerError
from kgeval.graph.server.jars import ensure_jars, is_pinned, jars_folder, repository
from kgeval.graph.server.lines import DEFAULT_LINE, Jar, Neo4jLine, known_lines, line_of_new_homes, load_line

CONTENT = {"a": b"a" * 200_000, "b": b"b" * 10, "c": b""}
JARS = tuple(Jar(f"org.x:{name}:1.0", len(data), hashlib.sha256(data).hexdigest()) for name, data in CONTENT.items())
LINE = Neo4jLine("1.0", "1.0", "1.0", "Main", ("org.x",), JARS)


@dataclass
class Repository:
    """A Maven repository. `spoiled`: paths that are served wrong, so many times."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    spoiled: dict[str, int] = field(default_factory=dict)


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    state = Repository()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            jar = next((jar for jar in JARS if self.path == f"/maven/{jar.path}"), None)
            data = CONTENT[jar.coordinate.split(":")[1]] if jar else b""
            if state.spoiled.get(self.path, 0) > 0:
                state.spoiled[self.path] -= 1
                data = data[:-1] + b"?"
            self.send_response(200 if jar else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
    thread.start()
    state.url = f"http://127.0.0.1:{httpd.server_address[1]}/maven"
    monkeypatch.setenv("KGEVAL_MAVEN_URL", state.url)
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield state
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def fetch(line: Neo4jLine = LINE, source: Path | None = None) -> list[str]:
    return [file.name for file in ensure_jars(line, source=source, say=lambda _: None)]


def test_the_first_fetch_downloads_and_the_second_does_not(maven: Repository) -> None:
    assert fetch() == fetch() == ["a-1.0.jar", "b-1.0.jar", "c-1.0.jar"]
    assert sorted(maven.asked) == [f"/maven/org/x/{name}/1.0/{name}-1.0.jar" for name in "abc"]


def test_progress_ends_at_the_whole(maven: Repository) -> None:
    seen: list[tuple[int, int]] = []
    ensure_jars(LINE, source=None, say=lambda _: None, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (200_010, 200_010)


@pytest.mark.parametrize("damage", [b"", b"half", b"b" * 11, b"?" * 10])
def test_a_damaged_jar_is_fetched_again(maven: Repository, damage: bytes) -> None:
    fetch()
    (jars_folder() / "b-1.0.jar").write_bytes(damage)
    fetch()
    assert (jars_folder() / "b-1.0.jar").read_bytes() == CONTENT["b"] and len(maven.asked) == 4


def test_what_a_killed_download_left_is_cleared(maven: Repository) -> None:
    jars_folder().mkdir(parents=True)
    (jars_folder() / "tmpx1y2").write_bytes(b"half")
    fetch()
    assert sorted(file.name for file in jars_folder().glob("*")) == [".lock", "a-1.0.jar", "b-1.0.jar", "c-1.0.jar"]


@pytest.mark.slow
def test_a_spoiled_transfer_is_tried_again(maven: Repository) -> None:
    maven.spoiled[f"/maven/{JARS[0].path}"] = 1
    fetch()
    assert is_pinned(jars_folder() / "a-1.0.jar", JARS[0])


def test_a_file_that_is_not_the_pinned_one_is_refused_and_not_kept(maven: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    maven.spoiled[f"/maven/{JARS[0].path}"] = 99
    with pytest.raises(ServerError, match=r"cannot download org\.x:a:1\.0.*SHA256") as caught:
        fetch()
    assert "--jars" in caught.value.fix and not (jars_folder() / "a-1.0.jar").exists()


def test_a_missing_file_names_its_coordinate_and_hides_the_mirrors_password(
    maven: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("KGEVAL_MAVEN_URL", maven.url.replace("//", "//user:secret@"))
    with pytest.raises(ServerError, match=r"org\.x:z:1\.0: 404") as caught:
        fetch(Neo4jLine("1.0", "1.0", "1.0", "Main", (), (Jar("org.x:z:1.0", 5, "0" * 64),)))
    assert "secret" not in str(caught.value)


def test_a_folder_of_jars_serves_without_network(maven: Repository, tmp_path: Path) -> None:
    for name, data in CONTENT.items():
        file = tmp_path / "stick" / name / f"{name}-1.0.jar"
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
    assert len(fetch(source=tmp_path / "stick")) == 3 and maven.asked == []


def test_a_folder_that_lacks_jars_names_them(maven: Repository, tmp_path: Path) -> None:
    (tmp_path / "a-1.0.jar").write_bytes(CONTENT["a"])
    (tmp_path / "b-1.0.jar").write_bytes(b"other")
    with pytest.raises(ServerError, match=r"2 of 3 jars are missing: b-1\.0\.jar \(another file than the pinned one\), c-1\.0\.jar"):
        fetch(source=tmp_path)


def test_an_address_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGEVAL_MAVEN_URL", "repo")
    with pytest.raises(ServerError, match="KGEVAL_MAVEN_URL"):
        repository()


@pytest.mark.parametrize("name", known_lines())
def test_a_pinned_list_is_sound(name: str) -> None:
    line = load_line(name)
    assert line.neo4j.startswith(f"{name}.") and len(line.jars) > 300
    assert len({jar.file for jar in line.jars}) == len(line.jars)
    assert all(len(jar.sha256) == 64 and jar.size > 0 and len(jar.coordinate.split(":")) in (3, 4) for jar in line.jars)
    assert {jar.coordinate for jar in line.jars} >= {f"org.neo4j:neo4j:{line.neo4j}", f"org.neo4j.gds:proc:{line.gds}"}
    assert all(jar.coordinate.split(":")[2] == line.gds for jar in line.jars if jar.group in line.plugin_groups)


def test_an_unknown_line_lists_the_known_ones() -> None:
    with pytest.raises(ServerError, match=r"known lines: 5\.26"):
        load_line("../5.26")


def test_there_are_two_lines_and_the_oldest_comes_first() -> None:
    assert known_lines() == ["5.26", "2026.01"]
    assert {line: load_line(line).main_class.rpartition(".")[2] for line in known_lines()} == {
        "5.26": "CommunityEntryPoint", "2026.01": "Neo4jCommunity",
    }


def test_each_line_has_the_gds_that_a_connection_expects_beside_it() -> None:
    from kgeval.graph.server_info import GDS_LINES

    assert {line: load_line(line).gds.rpartition(".")[0] for line in known_lines()} == GDS_LINES


def test_the_line_of_new_homes_is_the_default_or_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGEVAL_NEO4J_LINE", raising=False)
    assert line_of_new_homes() == DEFAULT_LINE
    monkeypatch.setenv("KGEVAL_NEO4J_LINE", "2026.01")
    assert line_of_new_homes() == "2026.01"
    monkeypatch.setenv("KGEVAL_NEO4J_LINE", "4.4")
    with pytest.raises(ServerError, match=r"KGEVAL_NEO4J_LINE: there is no embedded Neo4j '4\.4'") as caught:
        line_of_new_homes()
    assert "5.26, 2026.01" in caught.value.fix


def test_a_classifier_stands_in_file_and_path() -> None:
    jar = Jar("io.netty:netty-epoll:4.1:linux-x86_64", 1, "0" * 64)
    assert jar.path == "io/netty/netty-epoll/4.1/netty-epoll-4.1-linux-x86_64.jar"
