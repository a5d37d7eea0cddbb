"""Commands that ask a model: the shipped fake one, which gives the same reply to the same request. See tests/goldens/README.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "goldens"))
from cases import MODELS
from golden import EXPECTED, Case, check, check_names, transcript

from kgeval.llm.fake import FakeServer


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with FakeServer(seed=7) as server:
        yield server.base_url


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that would start Neo4j belongs to GRAPHS."""
    from kgeval.graph import server

    monkeypatch.setattr(server, "ensure_started", lambda *_, **__: pytest.fail("this case starts Neo4j"))


def test_every_golden_of_a_model_has_a_case() -> None:
    check_names("models", [f"{case.name}.txt" for case in MODELS])


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_command(case: Case, url: str, tmp_path: Path) -> None:
    check(EXPECTED / "models" / f"{case.name}.txt", transcript(case, tmp_path, {"url": url}))
