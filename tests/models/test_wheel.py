"""The wheel carries everything: built, installed in a fresh environment, and used there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from kgeval import __version__

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the working tree."""
    out = tmp_path_factory.mktemp("wheel")
    done([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)], cwd=out)
    return next(out.glob("kgeval-*.whl"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`kgeval` in an environment of its own, which sees the libraries of this one but not this checkout."""
    home = tmp_path_factory.mktemp("venv")
    done([sys.executable, "-m", "venv", "--without-pip", str(home)], cwd=home)
    python = home / "bin" / "python"
    done([sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "-q", str(wheel)], cwd=home)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin" / "kgeval"


def test_the_installed_command_says_its_version(command: Path) -> None:
    assert run(command, "--version").strip().endswith(__version__)


def test_the_installed_package_is_the_wheel_and_not_the_checkout(command: Path) -> None:
    where = done([str(command.parent / "python"), "-c", "import kgeval; print(kgeval.__file__)"], cwd=command.parent)
    assert Path(where.strip()).is_relative_to(command.parents[1])


def test_the_installed_command_lists_every_rule_and_every_cypher_file(command: Path) -> None:
    assert "isolated-entity" in run(command, "checks", "list")
    assert "isolated-entity" in run(command, "cypher", "list")


def test_the_installed_command_has_the_pages_that_its_messages_name(command: Path) -> None:
    assert "answer-files" in run(command, "help")
    assert run(command, "help", "answer-files") == (ROOT / "docs" / "answer-files.md").read_text(encoding="utf-8")


def test_the_installed_command_lists_the_layouts(command: Path) -> None:
    listed = run(command, "layout", "list")
    assert all(name in listed for name in ("neo4j-graphrag", "lightrag", "kgeval"))


def test_every_file_that_is_no_python_is_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    data = [p for p in (ROOT / "kgeval").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    wanted = {p.relative_to(ROOT).as_posix() for p in data}
    for room in ("cypher", "schemas", "docs"):
        wanted |= {f"kgeval/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / room).rglob("*") if p.is_file()}
    assert wanted - inside == set()
    assert {"kgeval/sample/graph.json", "kgeval/sample/defects.json", "kgeval/py.typed"} <= inside


def test_the_wheel_carries_nothing_of_the_tests(wheel: Path) -> None:
    assert [name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(("kgeval/", "kgeval-"))] == []


def run(command: Path, *arguments: str) -> str:
    return done([str(command), *arguments], cwd=command.parent)


def done(arguments: list[str], *, cwd: Path) -> str:
    """What a command printed; its own words if it fails."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "KGEVAL", "NEO4J"))}
    found = subprocess.run(arguments, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout
