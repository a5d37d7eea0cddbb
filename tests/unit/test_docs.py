"""Docs cannot drift: generated pages are current, and every command, option, rule and schema is in docs/."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from kgeval.auditing.rulebook import load_rules
from kgeval.graph.queries import all_queries

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from generate import with_sources  # noqa: E402

DOCS = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.slow
def test_generated_docs_and_schemas_are_current() -> None:
    done = subprocess.run([sys.executable, "tools/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("rule_id", sorted(load_rules()))
def test_every_rule_has_a_query_and_a_page(rule_id: str) -> None:
    assert rule_id in all_queries()
    assert (ROOT / "docs" / "rules" / f"{rule_id}.md").is_file()


@pytest.mark.parametrize("rule_id", sorted(load_rules()))
def test_every_setting_in_a_rules_text_exists_and_is_used_by_its_query_or_step(rule_id: str) -> None:
    rule = load_rules()[rule_id]
    named = set(re.findall(r"\{(\w+)\}", rule.finds))
    assert named <= set(rule.settings)
    declared = {p.name for p in all_queries()[rule_id].params}
    if rule.step is None:
        assert set(rule.settings) | set(rule.words) <= declared
        given = {"suspects", "layout", "sample", "shown", "sample_share", "sample_seed"}
        assert declared <= {*rule.settings, *rule.words, *rule.reads, *given}


def test_every_audit_query_belongs_to_a_rule() -> None:
    assert {q.name for q in all_queries().values() if q.folder == "audit"} == set(load_rules())


@pytest.mark.parametrize("path", sorted((ROOT / "schemas").glob("*.schema.json")), ids=lambda p: p.name)
def test_every_schema_is_in_the_docs_and_judges_its_examples(path: Path) -> None:
    name = path.name.removesuffix(".schema.json")
    assert path.name in DOCS
    judge = jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))
    examples = ROOT / "schemas" / "examples" / name
    valid, invalid = sorted((examples / "valid").glob("*.json")), sorted((examples / "invalid").glob("*.json"))
    assert valid and invalid
    for example in valid:
        judge.validate(json.loads(example.read_text(encoding="utf-8")))
    for example in invalid:
        assert not judge.is_valid(json.loads(example.read_text(encoding="utf-8"))), example.name


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_are_kept_without_outputs_and_named_and_their_links_lead_somewhere(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", "".join("".join(cell["source"]) for cell in notebook["cells"]))
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []
    assert f"notebooks/{path.name}" in DOCS


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken


@pytest.mark.parametrize(("text", "linked"), [
    ("False mergers: Kasiak et al., section 5.", "False mergers: [Kasiak et al.](../sources.md), section 5."),
    ("Kasiak 4.1. Kasiak 5.2.", "[Kasiak](../sources.md) 4.1. Kasiak 5.2."),
    ("Xiang et al. (GraphRAG-Bench)", "[Xiang et al.](../sources.md) (GraphRAG-Bench)"),
    ("# Kasiak et al.\n```text\nKasiak et al.\n```\n`Kasiak`", "# Kasiak et al.\n```text\nKasiak et al.\n```\n`Kasiak`"),
    ("(arXiv 2408.08067)", "([arXiv 2408.08067](https://arxiv.org/abs/2408.08067))"),
])
def test_a_generated_page_links_a_paper_where_it_first_names_it(text: str, linked: str) -> None:
    assert with_sources(text) == linked
