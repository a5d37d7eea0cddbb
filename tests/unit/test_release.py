"""What a release needs agrees: version, citation, workflows, image, the README of the index; tools/release.py."""

from __future__ import annotations

import re
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kgeval import __version__
from kgeval.graph.server.lines import DEFAULT_LINE, load_line
from kgeval_toolkit import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
from release import faults  # noqa: E402

from hatch_build import readme_of_index  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))["services"]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
ACTIONS = ROOT / ".github" / "workflows"
WORKFLOWS = {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(ACTIONS.glob("*.yml"))}
SOURCE = "https://example.org/kg/kgeval/"


def test_the_citation_says_what_the_project_says() -> None:
    assert (CITATION["cff-version"], CITATION["type"]) == ("1.2.0", "software")
    assert CITATION["message"] and CITATION["abstract"]
    assert (CITATION["title"], CITATION["version"]) == ("kgeval", __version__)
    assert PROJECT["name"] == DISTRIBUTION and DISTRIBUTION in CITATION["message"]
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["authors"] == PROJECT["authors"]
    assert CITATION.get("repository-code") == PROJECT.get("urls", {}).get("Source")


def test_what_people_and_code_hosts_look_for_is_there_and_the_readme_names_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in ("LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"):
        assert (ROOT / name).is_file() and f"]({name})" in readme, name
    assert "](docs/release.md)" in readme and "](docs/install.md)" in readme


@pytest.mark.parametrize(("text", "without", "with_source"), [
    ("[a](docs/a.md)", "a", f"[a]({SOURCE}blob/v1/docs/a.md)"),
    ("[a](docs/a.md#b)", "a", f"[a]({SOURCE}blob/v1/docs/a.md#b)"),
    ("x\n\n![p](docs/p.png)\n\ny", "x\n\ny", f"x\n\n![p]({SOURCE}raw/v1/docs/p.png)\n\ny"),
    *[(same, same, same) for same in ("[s](#install)", "[o](https://example.org/)")],
])
def test_links_of_the_readme_lead_to_the_release_or_nowhere(text: str, without: str, with_source: str) -> None:
    assert readme_of_index(text, "", "v1") == without
    assert readme_of_index(text, SOURCE, "v1") == with_source


def test_all_faults_of_a_release_come_at_once(tmp_path: Path) -> None:
    checkout(tmp_path, version="0.1.0", changelog="## Unreleased\n\n- a\n", citation="version: 0.1.0\n")
    assert faults(tmp_path, "v0.2.0") == [
        "kgeval/__init__.py: the version is 0.1.0, the tag says 0.2.0",
        "CHANGELOG.md: no heading '## 0.2.0 (YYYY-MM-DD)'",
        "CHANGELOG.md: changes stand under 'Unreleased'",
        "CITATION.cff: version is 0.1.0, not 0.2.0",
    ]
    for tag in ("0.2.0", "v0.2", "v0.2.0-rc1", "v0.2.0 ", "v00.2.0\n"):
        assert len(faults(tmp_path, tag)) == 1


@pytest.mark.parametrize(("date", "said"), [
    ("2026-12-01", []),
    ("2026-12-02", ["CITATION.cff: date-released is 2026-12-02, not 2026-12-01"]),
    (None, ["CITATION.cff: date-released is None, not 2026-12-01"]),
])
def test_a_release_that_agrees_has_no_fault(date: str | None, said: list[str], tmp_path: Path) -> None:
    citation = 'version: "0.2.0rc1"\n' + (f"date-released: {date}\n" if date else "")
    changelog = "## Unreleased\n\n## 0.2.0rc1 (2026-12-01)\n\n- a\n"
    checkout(tmp_path, version="0.2.0rc1", changelog=changelog, citation=citation)
    assert faults(tmp_path, "v0.2.0rc1") == said


def test_nothing_but_a_tag_is_published_and_one_job_alone_can_say_who_it_is() -> None:
    release = WORKFLOWS["release.yml"]
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key `on` as true
    assert release["permissions"] == {}
    assert {name: job["permissions"] for name, job in release["jobs"].items()} == {
        "check": {"contents": "read"}, "build": {"contents": "read"}, "publish": {"id-token": "write", "attestations": "write"},
    }
    assert release["jobs"]["publish"]["needs"] == "build" and release["jobs"]["build"]["needs"] == "check"
    assert release["jobs"]["publish"]["environment"] == "release"
    assert commands(release["jobs"]["build"]) == [
        'python tools/release.py "$GITHUB_REF_NAME"', "make LOCKED=1 dist", "make LOCKED=1 sbom",
    ]
    # what could say who it is runs nothing of the repository, and nothing is uploaded before it is signed
    publish = release["jobs"]["publish"]
    assert commands(publish) == []
    assert [step["uses"].partition("@")[0] for step in publish["steps"]] == [
        "actions/download-artifact", "actions/download-artifact", "actions/attest", "actions/attest", "pypa/gh-action-pypi-publish",
    ]
    provenance, content = settings(publish, "actions/attest")
    assert provenance == {"subject-path": "dist/*"} and content["subject-path"] == "dist/*.whl"
    assert settings(publish, "pypa/gh-action-pypi-publish") == [{"attestations": True}]
    made = re.search(r"--output-file out/(sbom/\S+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert made and content["sbom-path"] == made[1]


def test_the_workflows_run_what_a_contributor_runs_with_pinned_actions_and_without_secrets() -> None:
    assert commands(WORKFLOWS["ci.yml"]["jobs"]["check"]) == ["bash .ci/run"]
    assert WORKFLOWS["ci.yml"]["permissions"] == {"contents": "read"}
    for name, workflow in WORKFLOWS.items():
        text = (ACTIONS / name).read_text(encoding="utf-8")
        assert "secrets." not in text and "pull_request_target" not in text
        for job in workflow["jobs"].values():
            assert job.get("uses", "./.github/workflows/ci.yml") == "./.github/workflows/ci.yml"
            used = [step["uses"] for step in job.get("steps", []) if "uses" in step]
            assert [action for action in used if not re.fullmatch(r"[\w/-]+@v\d+(\.\d+)*", action)] == []
            assert all(given["persist-credentials"] is False for given in settings(job, "actions/checkout"))


def test_the_pythons_of_the_workflows_and_of_the_image_are_those_of_the_project() -> None:
    known = set(re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"])))
    oldest = PROJECT["requires-python"].removeprefix(">=")
    matrix = WORKFLOWS["ci.yml"]["jobs"]["unit"]["strategy"]["matrix"]["python"]
    assert {oldest, *matrix} == known and oldest not in matrix
    for job in [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]:
        chosen = {given["python-version"] for given in settings(job, "actions/setup-python")}
        assert chosen <= {oldest, "${{ matrix.python }}"}
    assert argument("PYTHON") in known


def test_the_image_is_made_of_the_wheel_of_this_version_alone_and_is_not_roots() -> None:
    assert argument("VERSION") == __version__
    assert COMPOSE["kgeval"]["image"] == f"{DISTRIBUTION}:{__version__}"
    wheel = f"dist/kgeval_toolkit-{__version__}-py3-none-any.whl"
    copied = re.findall(r"^COPY (?!--from=build)(\S+)", DOCKERFILE, re.MULTILINE)
    assert copied == ["dist/kgeval_toolkit-${VERSION}-py3-none-any.whl"]
    ignored, taken = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1:]
    assert ignored == "*" and fnmatch(wheel, taken.removeprefix("!"))
    last = DOCKERFILE.rpartition("FROM ")[2]
    user, command = re.findall(r"^(?:USER|ENTRYPOINT) (.*)$", last, re.MULTILINE)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user) and command == '["kgeval"]'
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"python:${PYTHON}-slim"}
    assert not re.search(r"password|_key|token|secret", DOCKERFILE, re.IGNORECASE)


def test_the_servers_of_compose_are_those_that_kgeval_knows_and_take_no_stranger() -> None:
    neo4j, kgeval = COMPOSE["neo4j"], COMPOSE["kgeval"]
    assert neo4j["image"] == f"neo4j:{DEFAULT_LINE}-community"
    assert load_line(DEFAULT_LINE).neo4j.startswith(f"{DEFAULT_LINE}.")
    assert all(port.startswith("127.0.0.1:") for port in neo4j["ports"]) and "ports" not in kgeval
    passwords = (neo4j["environment"]["NEO4J_AUTH"], kgeval["environment"]["NEO4J_PASSWORD"])
    assert all("${NEO4J_PASSWORD:?" in password for password in passwords)
    assert kgeval["environment"]["NEO4J_URI"] == "bolt://neo4j:7687"
    assert kgeval["depends_on"] == {"neo4j": {"condition": "service_healthy"}}
    assert kgeval["profiles"] == ["kgeval"]  # `up` starts the server alone
    assert (kgeval["environment"]["OPENAI_API_KEY"], kgeval["environment"]["OPENAI_BASE_URL"]) == (None, None)


def commands(job: dict[str, Any]) -> list[str]:
    """What a job of a workflow runs, without its actions."""
    return [step["run"] for step in job["steps"] if "run" in step]


def settings(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    """What a job gives to an action, each time it uses it."""
    return [step["with"] for step in job.get("steps", []) if step.get("uses", "").startswith(f"{action}@")]


def argument(name: str) -> str:
    """What an ARG of the Dockerfile is when nobody sets it; once, for two could differ."""
    (value,) = re.findall(rf"^ARG {name}=(\S+)$", DOCKERFILE, re.MULTILINE)
    return str(value)


def checkout(folder: Path, **text: Any) -> None:
    (folder / "kgeval").mkdir()
    (folder / "kgeval" / "__init__.py").write_text(f'__version__ = "{text["version"]}"\n', encoding="utf-8")
    for name, key in (("CHANGELOG.md", "changelog"), ("CITATION.cff", "citation")):
        (folder / name).write_text(text[key], encoding="utf-8")


def locked(name: str) -> dict[str, str]:
    """The packages of a lock file with their versions. Each has hashes, and nothing says where it is to be had."""
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert "://" not in text and "--index" not in text
    entries = re.findall(r"^([\w.-]+)==(\S+)(.*(?:\n    .*)*)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\w", text, re.MULTILINE))
    assert all("--hash=sha256:" in rest for _, _, rest in entries)
    return {canonicalize_name(package): version for package, version, _ in entries}


def test_the_lock_has_what_pyproject_asks_for() -> None:
    """make lock renews it."""
    versions, extras, wanted = locked("dev.txt"), {"dev", "docs"}, [Requirement(text) for text in PROJECT["dependencies"]]
    while extras:
        for requirement in map(Requirement, PROJECT["optional-dependencies"][extras.pop()]):
            if requirement.name == DISTRIBUTION:
                extras |= requirement.extras
            else:
                wanted.append(requirement)
    wanted += map(Requirement, tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"])
    lacking = [str(one) for one in wanted if versions.get(canonicalize_name(one.name), "") not in one.specifier]
    assert lacking == [] and {"uv", "editables"} <= set(versions) and "cyclonedx-bom" in locked("sbom.txt")
