"""The distribution is kgeval-toolkit: no text names another to install, and the command refuses to run a mix of two packages' files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import kgeval_toolkit
from kgeval.cli.main import run
from kgeval_toolkit import DISTRIBUTION, conflict, other_owners

ROOT = Path(__file__).resolve().parents[2]
MADE = {".git", ".venv", "out", "dist", "build", "__pycache__", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
# what comes behind these words is a list of packages, to the end of the command
INSTALLING = re.compile(
    r"\b(?:pip[0-9.]* (?:install|download|wheel)|uv (?:add|tool install|tool run|run --with)|uvx|pipx (?:install|run|inject)"
    r"|(?:poetry|pdm|rye|pixi) add|(?:conda|mamba|micromamba) (?:install|create)|easy_install)\s([^`\n;|&#]*)",
)
FOREIGN = {
    "names an extra of it": re.compile(r"(?<![\w-])kgeval\[(?:[a-z]+[\],]|\{)"),
    "requires it": re.compile(r"(?<![\w./-])kgeval ?(?:===?|>=|<=|~=|!=) ?\d"),
    "links to it": re.compile(r"(?:/project|/simple|/p|shields\.io/pypi/\w+|pepy\.tech/\w+)/kgeval(?![\w-])"),
    "is an image of its name": re.compile(r"(?<![\w.-])kgeval:(?:latest|\d|\$)"),
    "is an action of its name": re.compile(r"uses: [\w-]+/kgeval@"),
    "is a file of its name": re.compile(r"(?<![\w-])kgeval-(?:\d|\$\{?VERSION)[\w.${}-]*(?:\.whl|\.tar\.gz)"),
}


def faults(text: str) -> list[str]:
    """What of a text names the other project's package as one to install."""
    lines = text.splitlines()
    # a line that names it, and the one before, for a command may be wrapped: looking into all of them takes ten seconds
    text = "\n".join(line for line, following in pairwise([*lines, ""]) if "kgeval" in line or "kgeval" in following)
    commands = [found[0] for found in INSTALLING.finditer(text) if any(is_other(word) for word in found[1].split())]
    return commands + [f"{kind}: {found[0]}" for kind, pattern in FOREIGN.items() for found in pattern.finditer(text)]


def is_other(word: str) -> bool:
    """Whether a word of a command is the bare name, with or without extras and version: not a path, nor kgeval-toolkit."""
    requirement = re.split(r"[\\'\"\[=<>~!)]", word.lstrip("'\"("))[0]
    return requirement.rstrip(".,:").lower() == "kgeval"


def texts() -> Iterator[tuple[Path, str]]:
    """Every file of the checkout that is text, but this one."""
    for folder, below, names in os.walk(ROOT):
        below[:] = sorted(set(below) - MADE - {name for name in below if name.startswith(".venv")})
        for path in (Path(folder) / name for name in sorted(names)):
            if path != Path(__file__).resolve():
                try:
                    yield path, path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue


@pytest.mark.slow
def test_no_text_says_to_install_a_package_that_is_not_ours() -> None:
    read = {path.relative_to(ROOT).as_posix(): text for path, text in texts()}
    assert [f"{name}: {fault}" for name, text in read.items() for fault in faults(text)] == []
    skill = "tests/goldens/expected/commands/skill.txt"
    assert {"README.md", "Makefile", "kgeval/errors.py", "docs/notebooks/audit-and-fix.ipynb", skill} - set(read) == set()


@pytest.mark.parametrize("text", [
    "pip install kgeval", "pip install 'kgeval[vectors]'", "pip3 install --upgrade kgeval", 'pip install -q "kgeval>=0.2"',
    "pip install\n'kgeval'", "pip install torch kgeval && kgeval doctor", "`pip install kgeval`", "run: pip install kgeval",
    "uv pip install --torch-backend=cpu 'kgeval[ray]'", "uv add kgeval", "uv tool install kgeval", "uvx kgeval audit", "pipx run kgeval",
    "conda install -c conda-forge kgeval", "poetry add kgeval", "!pip install kgeval\\n", "Install it with pip install kgeval.",
    "brings it (kgeval[bertscore])", "f\"pip install 'kgeval[{extra}]'\"", "kgeval==0.2.0", "kgeval >= 0.2",
    "https://example.org/project/kgeval/", "docker run kgeval:0.2.0", "uses: someone/kgeval@v1", "kgeval-0.2.0-py3-none-any.whl",
    "kgeval-${VERSION}-py3-none-any.whl",
])
def test_what_would_bring_the_other_package_is_found(text: str) -> None:
    assert faults(text)


@pytest.mark.parametrize("text", [
    "pip install kgeval-toolkit", "pip install 'kgeval-toolkit[vectors]'", "uvx kgeval-toolkit --help", "pip install . && kgeval doctor",
    "pip install ./kgeval", "pip uninstall -y kgeval && pip install --force-reinstall kgeval-toolkit", "pip install torch\nkgeval audit",
    "kgeval[0]", "the command is `kgeval`", "kgeval_toolkit-0.2.0.tar.gz", "docker run kgeval-toolkit:0.2.0", "kgeval: no such file",
    'value["kgeval"]', "pip install jgo; kgeval server start",
])
def test_what_brings_ours_or_nothing_is_left_alone(text: str) -> None:
    assert faults(text) == []


def site(folder: Path, *, module: str = "ours") -> Path:
    """A folder of installed packages: this distribution's entry module, and a package kgeval whose command prints whose it is."""
    (folder / "kgeval").mkdir(parents=True)
    (folder / "kgeval_toolkit.py").write_text(Path(kgeval_toolkit.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "kgeval" / "__init__.py").write_text("", encoding="utf-8")
    (folder / "kgeval" / "__main__.py").write_text(f"def main():\n    print({module!r})\n", encoding="utf-8")
    installed(folder, "kgeval_toolkit-0.2.0", "kgeval/__init__.py", "kgeval_toolkit.py")
    return folder


def installed(folder: Path, described: str, *files: str) -> None:
    """What an installer writes of a distribution and its files."""
    about = folder / f"{described}.dist-info"
    about.mkdir(parents=True)
    (about / "RECORD").write_text("".join(f"{file},sha256=0,0\n" for file in files), encoding="utf-8")


def started(*folders: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command, where Python looks into these folders."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", "from kgeval_toolkit import main; main()"], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": os.pathsep.join(map(str, folders))}, cwd=folders[0],
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_starts_where_the_package_is_ours_alone(tmp_path: Path) -> None:
    assert started(site(tmp_path / "site")) == (0, "ours\n", "")


@pytest.mark.parametrize(("described", "files"), [
    ("kgeval-0.1.0", ["_editable_impl_kgeval.pth", "kgeval/cypher/audit/self-loop.cypher"]),  # a checkout of ours, under the name it had
    ("kgeval_plugins-1.0", ["kgeval_plugins/__init__.py"]), ("other-1.0", ["other/kgeval/__init__.py"]),
])
def test_a_distribution_that_has_no_module_of_that_name_is_no_other_owner(described: str, files: list[str], tmp_path: Path) -> None:
    installed(site(tmp_path), described, *files)
    assert started(tmp_path) == (0, "ours\n", "") and other_owners(tmp_path, "") == []


@pytest.mark.parametrize("described", ["Kgeval-0.2.1", "graph_measures-1.0"])
def test_a_distribution_of_any_name_that_overwrote_the_module_is_named(described: str, tmp_path: Path) -> None:
    folder = site(tmp_path, module="a mix")
    (folder / "kgeval" / "__init__.py").write_text("__version__ = 'of another'\n", encoding="utf-8")
    installed(folder, described, "kgeval/__init__.py")
    code, out, err = started(folder)
    assert (code, out) == (2, "") and described.replace("-", " ") in err and f"pip uninstall -y {described.partition('-')[0]} " in err


def test_the_command_does_not_run_a_mix_of_two_packages(tmp_path: Path) -> None:
    installed(site(tmp_path, module="a mix"), "kgeval-0.1.1", "kgeval/__init__.py", "kgeval/cli.py")
    assert started(tmp_path) == (2, "", (
        f"kgeval: kgeval 0.1.1 has a module kgeval too, and is installed here: files of one overwrite those of the other in {tmp_path}\n"
        "Fix: pip uninstall -y kgeval && pip install --force-reinstall --no-deps kgeval-toolkit\n"
    ))


def test_it_says_so_where_the_other_package_lies_in_a_folder_that_python_looks_into_first(tmp_path: Path) -> None:
    other, ours = tmp_path / "other", site(tmp_path / "ours")
    (other / "kgeval").mkdir(parents=True)
    (other / "kgeval" / "__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    code, printed, told = started(other, ours)
    assert (code, printed) == (2, "") and "PYTHONPATH" in told and str(other / "kgeval" / "__init__.py") in told
    installed(other, "kgeval-0.1.1", "kgeval/__init__.py")
    assert "kgeval 0.1.1 has a module kgeval too" in started(other, ours)[2]
    assert started(ours, other) == (0, "ours\n", "")


def test_it_says_so_where_uninstalling_the_other_package_took_files_of_ours(tmp_path: Path) -> None:
    (site(tmp_path) / "kgeval" / "__init__.py").unlink()
    code, _, told = started(tmp_path)
    assert code == 2 and "are missing" in told and told.endswith("Fix: pip install --force-reinstall --no-deps kgeval-toolkit\n")


def test_the_doctor_names_every_distribution_with_such_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    installed(tmp_path, "kgeval_toolkit-0.2.0", "kgeval/__init__.py")
    installed(tmp_path, "graph_tools-3.1", "kgeval/__init__.py", "graph_tools.py")
    monkeypatch.setattr("kgeval.cli.doctor.FOLDER", tmp_path)
    assert run(["doctor", "--uri", "bolt://127.0.0.1:1"]) == 2
    printed = capsys.readouterr().out
    assert "blocked: graph_tools 3.1 has a module kgeval too" in printed and "pip uninstall -y graph_tools && " in printed


def test_python_m_kgeval_begins_at_the_same_place() -> None:
    words = [sys.executable, "-m", "kgeval", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert DISTRIBUTION in done.stdout and conflict() == ""


@pytest.mark.parametrize("earlier", [True, False])
def test_making_the_environment_uninstalls_a_checkout_that_was_installed_under_the_other_name(earlier: bool, tmp_path: Path) -> None:
    ran = tmp_path / "ran.txt"
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    for name in ("python", "uv"):
        (tmp_path / "venv" / "bin" / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {ran}\n', encoding="utf-8")
        (tmp_path / "venv" / "bin" / name).chmod(0o755)
    if earlier:
        installed(tmp_path / "venv" / "lib" / "python3.11" / "site-packages", "kgeval-0.1.0")
    target = [f"VENV={tmp_path}/venv", "PYTHON=true", f"{tmp_path}/venv/.ready"]
    subprocess.run(["make", "-s", *target], cwd=ROOT, check=True, capture_output=True)
    steps = ["uninstall" if "uninstall" in line else "install" for line in ran.read_text(encoding="utf-8").splitlines()]
    assert steps == ["install", *["uninstall"] * earlier, "install"]
