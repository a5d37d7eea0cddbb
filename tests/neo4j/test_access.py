"""Ways into a database beside user and password, with a real server: secrets that expire, tokens, TLS with
certificates of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bolt_proxy import BoltProxy
from tls_world import KEY_PASSWORD, Certificates, TlsProxy, make_certificates, secret_command

from kgeval.auditing.attempts import attempt
from kgeval.cli.main import run
from kgeval.errors import ConfigError, ConnectError
from kgeval.graph.connect import Address, Graph
from kgeval.workflows.session import Session

FIRST, SECOND, TOKEN = "the-first-secret", "the-second-secret", "token-0123456789abcdef"
USER = "rotating"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def rotating(graph: Graph) -> Iterator[Graph]:
    """The suite's graph, with one more user, whose password is FIRST."""
    graph.write(f"CREATE OR REPLACE USER {USER} SET PASSWORD '{FIRST}' CHANGE NOT REQUIRED")
    yield graph
    graph.write(f"DROP USER {USER}")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def behind(address: Address) -> tuple[str, int]:
    server = urlsplit(address.uri)
    return server.hostname or "", server.port or 0


@pytest.mark.both_lines
@pytest.mark.long
def test_a_password_that_a_command_prints_is_asked_for_again_when_the_server_refuses_it(
    rotating: Graph,
    address: Address,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command, kept, runs = secret_command(tmp_path, FIRST)
    monkeypatch.setenv("KGEVAL_NEO4J_KEY_COMMAND", command)
    with BoltProxy(*behind(address)) as proxy, Session("test", proxy.uri, username=USER) as session:
        graph = session.graph
        assert graph.read("SHOW CURRENT USER YIELD user") == [{"user": USER}]
        assert runs.read_text().count("ran") == 1

        def change(password: str) -> None:
            rotating.write(f"ALTER USER {USER} SET PASSWORD '{password}' CHANGE NOT REQUIRED")
            kept.write_text(f"{password}\n", encoding="ascii")
            proxy.break_all()

        change(SECOND)
        assert graph.read("RETURN 1 AS one", timeout=20) == [{"one": 1}]
        assert runs.read_text().count("ran") == 2
        change(FIRST)
        assert (
            attempt(lambda: graph.ask_gds(lambda gds: str(gds.server_version()), timeout=20)).failure is None
        )
        change(SECOND)
        assert [row["i"] for row in graph.stream("UNWIND [1, 2] AS i RETURN i", timeout=20)] == [1, 2]
        assert runs.read_text().count("ran") == 4
        kept.write_text("neither-of-them\n", encoding="ascii")
    with pytest.raises(ConnectError, match="refuses the password that --neo4j-key-command") as caught:
        rotating.write(f"ALTER USER {USER} SET PASSWORD '{FIRST}' CHANGE NOT REQUIRED")
        with Session("test", address.uri, username=USER) as session:
            session.graph.read("RETURN 1")
    assert "neither" not in str(caught.value)


@pytest.mark.long
def test_tls_with_an_authority_and_a_client_certificate_of_ones_own(
    graph: Graph,
    address: Address,
    world: Certificates,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph.write("CREATE (:Person {name: 'Ada'})-[:KNOWS]->(:Person {name: 'Bo'})")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    certificates = {"NEO4J_CLIENT_CERTIFICATE": str(world.client), "NEO4J_CLIENT_KEY": str(world.client_key)}
    with TlsProxy(*behind(address), world, wants_client=True) as proxy:
        look = ["layout", "detect", "--uri", f"bolt+s://localhost:{proxy.port}"]
        trusting = ["--ca-file", str(world.authority), *look]
        assert run(look) == 2
        assert "cannot be reached" in (said := capsys.readouterr().err) and "--ca-file FILE" in said
        assert run(trusting) == 2, "the server wants a client certificate"
        assert proxy.sent == b""
        for name, value in certificates.items():
            monkeypatch.setenv(name, value)
        assert run(trusting) == 2
        assert "NEO4J_CLIENT_KEY_PASSWORD" in capsys.readouterr().err
        monkeypatch.setenv("NEO4J_CLIENT_KEY_PASSWORD", KEY_PASSWORD)
        assert run(trusting) == 0
        assert b"gds.version" in proxy.sent
        assert run(["layout", "detect", "--uri", address.uri]) == 2
        assert "this address is not encrypted" in capsys.readouterr().err
        with Session(
            "test", f"bolt+ssc://localhost:{proxy.port}"
        ) as session:  # whatever certificate comes; a client's is shown
            assert session.graph.gds.server_version()


@pytest.mark.parametrize(
    ("kind", "variable"), [("bearer", "NEO4J_BEARER_TOKEN"), ("kerberos", "NEO4J_KERBEROS_TICKET")]
)
@pytest.mark.usefixtures("graph")
def test_a_token_is_sent_as_what_it_is_and_a_refusal_names_it(
    address: Address,
    world: Certificates,
    kind: str,
    variable: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The embedded server takes neither: what it was sent is seen on the way, and what it says to it is
    told."""
    monkeypatch.setenv(variable, TOKEN)
    monkeypatch.setenv("KGEVAL_CA_FILE", str(world.authority))
    with TlsProxy(*behind(address), world) as proxy:
        where = f"bolt+s://localhost:{proxy.port}"
        with (
            pytest.raises(ConnectError, match="Neo4j refuses the") as caught,
            Session("test", where) as session,
        ):
            assert session.graph
        assert kind.encode() in proxy.sent and TOKEN.encode() in proxy.sent and b"basic" not in proxy.sent
        assert variable in caught.value.fix and TOKEN not in str(caught.value)
        monkeypatch.delenv(variable)
        monkeypatch.setenv("KGEVAL_NEO4J_AUTH", kind)
        command, _, runs = secret_command(tmp_path, TOKEN[::-1])
        monkeypatch.setenv("KGEVAL_NEO4J_KEY_COMMAND", command)
        with pytest.raises(ConnectError, match="that --neo4j-key-command"), Session("test", where) as session:
            assert session.graph
        assert TOKEN[::-1].encode() in proxy.sent and runs.read_text().count("ran") == 2


@pytest.mark.usefixtures("graph")
def test_a_login_without_a_secret_is_one_and_takes_none_from_a_command(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGEVAL_NEO4J_AUTH", "none")
    with pytest.raises(ConnectError, match="Neo4j wants a login"), Session("test", address.uri) as session:
        assert session.graph
    monkeypatch.setenv("KGEVAL_NEO4J_KEY_COMMAND", "echo x")
    with pytest.raises(ConfigError, match="leave one of them out"), Session("test", address.uri) as session:
        assert session.graph
