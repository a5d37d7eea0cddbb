"""What a release publishes: built, checked, installed in a fresh environment without a network, and used there.

`make dist` has KGEVAL_DIST name the folder of what was built: then those files are tested, not some of the tests' own.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from kgeval import __version__
from kgeval_toolkit import DISTRIBUTION

ROOT = Path(__file__).parents[2]
BUILT_AT = os.environ.get("SOURCE_DATE_EPOCH", "1700000000")
# with the hatchling that is here, so that no network is needed; `make dist` builds with the newest one, here too
BUILD = [sys.executable, "-m", "build", *([] if "KGEVAL_DIST" in os.environ else ["--no-isolation"])]
LEFT_BEHIND = re.compile(
    r"^(out|dist|build)/|(^|/)(__pycache__|\.\w+_cache|\.hypothesis|\.venv[^/]*|\.git)/"
    r"|\.(pyc|sqlite|log|orig|rej|swp)$|~$",
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of the working tree and the wheel that was built from it."""
    if chosen := os.environ.get("KGEVAL_DIST"):
        return ROOT / chosen
    out = tmp_path_factory.mktemp("dist")
    done([*BUILD, "--outdir", str(out), str(ROOT)], cwd=out)
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return dist / f"kgeval_toolkit-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def sdist(dist: Path) -> Path:
    return dist / f"kgeval_toolkit-{__version__}.tar.gz"


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist as somebody who packages it has it: a folder, without git."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"kgeval_toolkit-{__version__}"


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    return email.message_from_bytes(zipfile.ZipFile(wheel).read(f"kgeval_toolkit-{__version__}.dist-info/METADATA"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`kgeval` in an environment of its own, which sees the libraries of this one but not this checkout."""
    home = environment(tmp_path_factory.mktemp("venv"))
    pip(home, "install", "--no-deps", str(wheel))
    return home / "bin" / "kgeval"


@pytest.fixture(scope="module")
def other_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package kgeval of other people: a module and a command of the same names."""
    named = "kgeval-0.9.0"
    path = tmp_path_factory.mktemp("other") / f"{named}-py3-none-any.whl"
    about = f"{named}.dist-info"
    files = {
        "kgeval/__init__.py": "from kgeval.cli import main\n", "kgeval/cli.py": "def main():\n    print('another kgeval')\n",
        "kgeval/__main__.py": "from kgeval.cli import main\nmain()\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: kgeval\nVersion: 0.9.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\nkgeval = kgeval.cli:main\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_one_sdist_and_one_wheel_are_there_and_the_index_takes_both(dist: Path, wheel: Path, sdist: Path) -> None:
    assert sorted(dist.iterdir()) == sorted([wheel, sdist])
    done([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], cwd=dist)


def test_the_metadata_say_what_it_is(metadata: Message, wheel: Path) -> None:
    assert (metadata["Name"], metadata["Version"], metadata["Requires-Python"]) == (DISTRIBUTION, __version__, ">=3.11")
    assert (metadata["License-Expression"], metadata.get_all("License-File")) == ("Apache-2.0", ["LICENSE"])
    licence = zipfile.ZipFile(wheel).read(f"kgeval_toolkit-{__version__}.dist-info/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()
    # the expression says it, and indexes refuse a classifier beside it
    assert not [classifier for classifier in metadata.get_all("Classifier", []) if classifier.startswith("License")]
    assert metadata["Summary"] and metadata["Keywords"] and metadata["Description-Content-Type"] == "text/markdown"


def test_the_readme_of_the_index_has_no_link_into_the_checkout(metadata: Message) -> None:
    targets = re.findall(r"\]\(([^)]*)\)", str(metadata.get_payload()))
    assert targets and [target for target in targets if not target.startswith(("#", "https://"))] == []


def test_the_same_tree_gives_the_same_bytes_also_from_the_sdist(dist: Path, unpacked: Path, tmp_path: Path) -> None:
    done([*BUILD, "--wheel", "--outdir", str(tmp_path / "tree"), str(ROOT)], cwd=tmp_path)
    done([*BUILD, "--sdist", "--outdir", str(tmp_path / "again"), str(unpacked)], cwd=tmp_path)
    for made in [*(tmp_path / "tree").iterdir(), *(tmp_path / "again").iterdir()]:
        assert made.read_bytes() == (dist / made.name).read_bytes(), made
    times = {item.date_time for item in zipfile.ZipFile(next((tmp_path / "tree").iterdir())).infolist()}
    assert len(times) == 1


def test_the_installed_command_says_its_version(command: Path) -> None:
    assert run(command, "--version").strip() == f"kgeval, version {__version__} ({DISTRIBUTION})"
    assert run(command.with_name(DISTRIBUTION), "--version") == run(command, "--version")


def test_the_installed_package_is_the_wheel_and_not_the_checkout(command: Path) -> None:
    where = done([str(command.parent / "python"), "-c", "import kgeval; print(kgeval.__file__)"], cwd=command.parent)
    assert Path(where.strip()).is_relative_to(command.parents[1])


def test_the_libraries_that_are_here_are_what_the_wheel_asks_for(command: Path) -> None:
    words = [sys.executable, "-m", "pip", "--python", str(command.parent / "python"), "check"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    assert listed and [line for line in listed.splitlines() if line.startswith("kgeval")] == [], listed


def test_the_installed_command_lists_every_rule_and_every_cypher_file(command: Path) -> None:
    assert "isolated-entity" in run(command, "checks", "list")
    assert "isolated-entity" in run(command, "cypher", "list")


def test_the_installed_command_has_the_pages_that_its_messages_name(command: Path) -> None:
    assert "answer-files" in run(command, "help")
    assert run(command, "help", "answer-files") == (ROOT / "docs" / "answer-files.md").read_text(encoding="utf-8")


def test_the_installed_command_lists_the_layouts(command: Path) -> None:
    listed = run(command, "layout", "list")
    assert all(name in listed for name in ("neo4j-graphrag", "lightrag", "kgeval"))


def test_the_installed_doctor_lists_what_is_installed_before_it_looks_for_a_server(command: Path) -> None:
    listed = done([str(command), "doctor", "--uri", "bolt://127.0.0.1:1"], cwd=command.parent, code=2)
    assert listed.startswith(f"package     {DISTRIBUTION} {__version__}\n")
    assert re.search(r"^python +3\.", listed, re.MULTILINE)
    assert re.search(r"^extra +vectors .*: installed$", listed, re.MULTILINE)
    assert "connection  blocked" in listed


def test_the_installed_command_scores_the_sample_that_it_brings(command: Path, tmp_path: Path) -> None:
    sample = next(command.parents[1].glob("lib/python*/site-packages/kgeval/sample/answers"))
    answers = [str(sample / name) for name in ("graph.jsonl", "vector.jsonl")]
    report = tmp_path / "scores.json"
    questions = str(sample / "questions.jsonl")
    run(command, "score", *answers, "--questions", questions, "--metrics", "lexical", "-o", str(report))
    scores = json.loads(report.read_text(encoding="utf-8"))
    assert scores["complete"] and [(s["system"], s["answers"]) for s in scores["systems"]] == [("graph", 16), ("vector", 16)]


def test_every_file_that_is_no_python_is_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    data = [p for p in (ROOT / "kgeval").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    wanted = {p.relative_to(ROOT).as_posix() for p in data}
    for room in ("cypher", "schemas", "docs"):
        wanted |= {f"kgeval/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / room).rglob("*") if p.is_file()}
    assert wanted - inside == set()
    assert {"kgeval/sample/graph.json", "kgeval/sample/defects.json", "kgeval/py.typed"} <= inside


def test_the_wheel_carries_nothing_of_the_tests_no_caches_and_no_paths_of_who_built_it(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    rooms = ("kgeval/", "kgeval_toolkit.py", f"kgeval_toolkit-{__version__}.dist-info/")
    assert [name for name in archive.namelist() if not name.startswith(rooms)] == []
    assert [name for name in archive.namelist() if LEFT_BEHIND.search(name)] == []
    mine = [f"{place}/".encode() for place in (ROOT, Path.home()) if place != Path("/")]
    assert [name for name in archive.namelist() if any(place in archive.read(name) for place in mine)] == []


def test_the_sdist_carries_all_that_git_has_and_nothing_that_a_run_leaves_behind(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        there = {name.partition("/")[2] for name in archive.getnames()}
    assert [name for name in there if LEFT_BEHIND.search(name)] == []
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("what git has is known in a checkout alone")
    tracked = done(["git", "ls-files", "--cached", "--deduplicate"], cwd=ROOT).splitlines()
    assert {name for name in tracked if (ROOT / name).is_file()} - there == set()


def test_the_tests_of_the_sdist_run_on_what_is_in_it(unpacked: Path, tmp_path: Path) -> None:
    names = ("test_cypher_headers", "test_layout_files", "test_thresholds", "test_release")
    tests = [f"tests/unit/{name}.py" for name in names]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "base")]
    said = done([*words, *tests], cwd=unpacked, PYTHONPATH=str(unpacked), PYTHONDONTWRITEBYTECODE="1")
    assert re.search(r"\d+ passed", said) and "failed" not in said


@pytest.mark.parametrize("ours_first", [True, False])
def test_beside_another_kgeval_the_command_says_how_to_repair_it_and_that_repairs_it(
    ours_first: bool, wheel: Path, other_wheel: Path, tmp_path: Path,
) -> None:
    home = environment(tmp_path)
    for chosen in (wheel, other_wheel) if ours_first else (other_wheel, wheel):
        pip(home, "install", "--no-deps", str(chosen))
    # installed last, its command `kgeval` has taken the place of ours, and fails: it imports our package kgeval.cli in place of its module
    for name in [DISTRIBUTION] if ours_first else [DISTRIBUTION, "kgeval"]:
        told = refused(home / "bin" / name, "doctor")
        assert told.startswith("kgeval: kgeval 0.9.0 has a module kgeval too") and told.count("\n") == 2, told
    for step in told.partition("Fix: ")[2].split(" && "):
        pip(home, *step.split()[1:], PIP_FIND_LINKS=str(wheel.parent))
    assert run(home / "bin" / "kgeval", "--version").strip() == f"kgeval, version {__version__} ({DISTRIBUTION})"
    assert "isolated-entity" in run(home / "bin" / "kgeval", "checks", "list")


def environment(home: Path) -> Path:
    """An empty environment that sees the libraries of this one."""
    done([sys.executable, "-m", "venv", "--without-pip", str(home)], cwd=home)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home


def pip(home: Path, *words: str, **env: str) -> None:
    """pip in an environment, without the network."""
    done([sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), *words, "-q"], cwd=home, PIP_NO_INDEX="1", **env)


def refused(command: Path, *arguments: str) -> str:
    """What a command that does not run prints to stderr."""
    found = subprocess.run([str(command), *arguments], cwd=command.parent, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, ""), found.stdout
    return found.stderr


def run(command: Path, *arguments: str) -> str:
    return done([str(command), *arguments], cwd=command.parent)


def done(arguments: list[str], *, cwd: Path, code: int = 0, **env: str) -> str:
    """What a command printed; its own words if it ends otherwise."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "KGEVAL", "NEO4J"))}
    clean |= {"SOURCE_DATE_EPOCH": BUILT_AT} | env
    found = subprocess.run(arguments, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert found.returncode == code, found.stdout + found.stderr
    return found.stdout
