"""Models behind a key that expires and behind a certificate of one's own: what `kgeval --key-command` and
`--ca-file` do, over real HTTP and TLS."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tls_world import TlsProxy, make_certificates, secret_command

from kgeval.cli.main import run
from kgeval.errors import ConfigError, ModelError
from kgeval.llm.embed import open_embedder
from kgeval.llm.fake import FakeServer
from kgeval.systems.outside.http import HttpSystem
from kgeval.systems.system import Ask, Opening

FIRST, SECOND = "sk-first-0123456789", "sk-second-0123456789"


@pytest.fixture(autouse=True)
def bare(alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key in the environment: one that is needed comes from a command."""
    monkeypatch.delenv("OPENAI_API_KEY")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(key=FIRST) as running:
        yield running


def change_key(server: FakeServer, key: str) -> None:
    server.model.options = replace(server.model.options, key=key)


def score(url: str, *before: str, rows: int = 4) -> int:
    """A score of some answers by one metric of a judge."""
    folder = Path.cwd()
    lines = [
        {"question": f"Who built mill {n}?", "answer": f"Ada {n}.", "reference": f"Ada {n} did."}
        for n in range(rows)
    ]
    (folder / "answers.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    return run(
        [
            *before,
            "score",
            "answers.jsonl",
            "--metrics",
            "factual_correctness",
            "--model",
            "m",
            "--base-url",
            url,
            "--no-progress",
            "--journal",
            "j.sqlite",
            "-o",
            "scores.json",
        ]
    )


@pytest.mark.long
def test_a_key_that_a_command_prints_is_asked_for_once_and_again_when_the_endpoint_refuses_it(
    server: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command, kept, runs = secret_command(tmp_path / "with blanks", FIRST)
    assert score(server.base_url, "--key-command", command) == 0
    assert runs.read_text().count("ran") == 1
    change_key(server, SECOND)
    kept.write_text(f"{SECOND}\n", encoding="ascii")
    assert score(server.base_url, "--key-command", command, rows=9) == 0
    assert runs.read_text().count("ran") == 2, "the key that had expired was refused once"
    with pytest.MonkeyPatch.context() as patch:  # who embeds asks the same command
        patch.setenv("KGEVAL_KEY_COMMAND", command)
        with open_embedder("e", base_url=server.base_url, cache_dir=tmp_path / "cache") as embedder:
            assert embedder.embed(["a", "b"]).shape == (2, 64)
        change_key(server, FIRST)
        kept.write_text(f"{FIRST}\n", encoding="ascii")
        with HttpSystem(
            server.base_url, Opening(settings={"model": "m"})
        ) as system:  # and so does a system that is a chat
            assert system.answer(Ask("q", "Who?")).error is None
    assert runs.read_text().count("ran") == 3
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path != kept)
    assert FIRST.encode() not in written and SECOND.encode() not in written
    assert "sk-" not in "".join(capsys.readouterr())


def test_a_key_that_is_refused_again_ends_the_run_and_names_the_command(
    server: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command, _, runs = secret_command(tmp_path, "sk-wrong-0123456789")
    assert score(server.base_url, "--key-command", command) == 2
    said = capsys.readouterr().err
    assert (
        "refuses the key" in said and "--key-command (KGEVAL_KEY_COMMAND)" in said and "sk-wrong" not in said
    )
    assert runs.read_text().count("ran") == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program-of-anyone", "cannot be run: No such file"),
        ("'", "cannot be run: No closing quotation"),
        (" ", "cannot be run"),
        ("sh -c 'exit 3'", "ended with exit code 3"),
        ("true", "printed nothing"),
        ("printf 'one\\ntwo'", "something else than one line"),
        ("sleep 5", "did not end within 0.3 s"),
        ("echo $(id)", "something else than one line"),
        ("echo sk > stolen", ""),
    ],
)
def test_a_command_that_prints_no_key_is_said_before_anything_is_sent(
    server: FakeServer,
    command: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kgeval.access.SECONDS", 0.3)
    code = score(server.base_url, "--key-command", command)
    err = capsys.readouterr().err
    if command.startswith("echo"):  # no shell: what it would do is printed as it stands, and is no key here
        assert code == 2 and "refuses the key" in err and not Path("stolen").exists()
        return
    assert (
        code == 2 and said in err and "--key-command (KGEVAL_KEY_COMMAND)" in err and "run it by hand" in err
    )
    assert server.stats().requests == 0


def test_a_command_never_comes_from_a_configuration_file(
    server: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = f"{sys.executable} -c \"open('pwned', 'w')\""
    for place in ("[limits]", "[model.judge]", "[graph]", "[score]"):
        Path("kgeval.toml").write_text(f"{place}\nkey_command = {json.dumps(command)}\n", encoding="utf-8")
        for words in (["score"], ["-c", "kgeval.toml"]):
            assert run(["score", "answers.jsonl", *words[1:]]) == 2
        assert "key_command: unknown key" in capsys.readouterr().err
    assert not Path("pwned").exists()


@pytest.mark.long
def test_an_endpoint_with_a_certificate_of_ones_own_is_trusted_with_its_authoritys_file_and_not_without(
    server: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = make_certificates(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", FIRST)
    with TlsProxy("127.0.0.1", server.port, world) as proxy:
        url = f"https://localhost:{proxy.port}/v1"
        assert score(url) == 2
        assert (
            "no authority that is known here" in (said := capsys.readouterr().err)
            and "--ca-file FILE" in said
        )
        with open_embedder("e", base_url=url, cache_dir=tmp_path / "c1") as embedder:
            monkeypatch.setattr("kgeval.llm.embed_sources.RETRIES", 0)
            with pytest.raises(ModelError, match="embedding endpoint") as caught:
                embedder.embed(["a"])
        assert "--ca-file FILE" in caught.value.fix
        assert score(url, "--ca-file", str(world.authority)) == 0
        monkeypatch.setenv("KGEVAL_CA_FILE", str(world.authority))
        with open_embedder("e", base_url=url, cache_dir=tmp_path / "c2") as embedder:
            assert embedder.embed(["a", "b"]).shape == (2, 64)
        monkeypatch.delenv("KGEVAL_CA_FILE")
        for file, said in (("nowhere.pem", "No such file"), ("answers.jsonl", "cannot be used")):
            assert score(url, "--ca-file", file) == 2
            assert (
                f"--ca-file (KGEVAL_CA_FILE): {file} cannot be used" in (err := capsys.readouterr().err)
                and said in err
            )


def test_several_secrets_for_neo4j_and_an_unknown_kind_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from kgeval.graph.login import find_secret

    monkeypatch.setenv("NEO4J_PASSWORD", "p")
    monkeypatch.setenv("NEO4J_BEARER_TOKEN", "b")
    with pytest.raises(ConfigError, match="NEO4J_PASSWORD and NEO4J_BEARER_TOKEN are set"):
        find_secret(None)
    monkeypatch.setenv("KGEVAL_NEO4J_AUTH", "bearer")
    assert find_secret(None) == ("bearer", "b", None)
    monkeypatch.setenv("KGEVAL_NEO4J_AUTH", "kerberos")
    with pytest.raises(ConfigError, match="there is no Kerberos ticket"):
        find_secret(None)
    monkeypatch.setenv("KGEVAL_NEO4J_AUTH", "ldap")
    with pytest.raises(ConfigError, match="no kind 'ldap'"):
        find_secret(None)
