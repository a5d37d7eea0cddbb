"""The site of docs/ (mkdocs.yml): each page is in its navigation once, and every link and anchor leads somewhere, on GitHub too."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from command_lines import faults

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = sorted(DOCS.rglob("*.md"))
HOW_TO = sorted((DOCS / "how-to").glob("*.md"))
sys.path.insert(0, str(ROOT / "tools"))
from site_hooks import OUTSIDE, as_in_docs, links_inside, lists_apart, on_page_markdown  # noqa: E402


def test_each_page_stands_in_the_navigation_once_and_nothing_else_does() -> None:
    listed = Counter(leaves(SITE["nav"]))
    assert set(listed) == {page.relative_to(DOCS).as_posix() for page in PAGES} | set(OUTSIDE)
    assert [page for page, times in listed.items() if times > 1] == []


def test_the_navigation_has_four_parts_after_the_first_page() -> None:
    assert [next(iter(part)) for part in SITE["nav"][1:]] == ["Tutorials", "How-to", "Reference", "Explanation"]


def test_nothing_is_fetched_from_elsewhere_and_what_is_broken_fails() -> None:
    assert SITE["theme"]["font"] is False
    assert set(SITE["validation"]["links"].values()) | set(SITE["validation"]["nav"].values()) == {"warn"}
    assert not {"extra_javascript", "repo_url"} & set(SITE)
    assert all((DOCS / path).is_file() for path in SITE["extra_css"])


def test_links_name_what_is_there_and_a_folder_of_docs_has_a_first_page() -> None:
    wrong = []
    for page in [ROOT / "README.md", *(ROOT / name for name in OUTSIDE), *PAGES]:
        for target in {target for target, _ in links(page)} - {""}:
            there = (page.parent / target).resolve()
            if not there.exists() or (there.is_dir() and there.is_relative_to(DOCS) and not (there / "README.md").is_file()):
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
    assert wrong == []


@pytest.mark.slow
def test_anchors_lead_to_a_heading_on_github_and_on_the_site() -> None:
    wrong = []
    for page in [ROOT / "README.md", *(ROOT / name for name in OUTSIDE), *PAGES]:
        for target, anchor in links(page):
            there = (page.parent / target) if target else page
            if anchor and there.suffix == ".md" and not all(anchor in anchors for anchors in anchors_of(there)):
                wrong.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert wrong == []


@pytest.mark.parametrize(("text", "anchor", "site", "github"), [
    ("## What to do", "what-to-do", True, True),
    ("## What to do, then", "what-to-do-then", True, True),
    ("## A & B", "a-b", True, False),
    ("## A & B", "a--b", False, True),
    ("```\n## In code\n```", "in-code", False, False),
])
def test_an_anchor_that_one_of_the_two_lacks_would_be_found(text: str, anchor: str, site: bool, github: bool, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert [anchor in anchors for anchors in anchors_of(tmp_path / "page.md")] == [site, github]


def test_the_start_page_and_the_readme_begin_with_the_tutorials() -> None:
    tutorials = [page.relative_to(DOCS).as_posix() for page in PAGES if page.parent.name == "tutorials"]
    for page, prefix in ((DOCS / "README.md", ""), (ROOT / "README.md", "docs/")):
        first = [target for target, _ in links(page) if target.endswith(".md")][:3]
        assert sorted(first) == [prefix + tutorial for tutorial in tutorials]


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_page_is_short_and_kgeval_takes_its_lines(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code = "".join(re.findall(r"^```(?:bash|yaml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    lines = re.findall(r"^(?:- run: )?(kgeval .*)$", code, re.MULTILINE)
    assert len(text.splitlines()) <= 60
    assert [fault for line in lines for fault in faults(line)] == []
    if page.name != "README.md":
        assert lines and re.search(r"^\*Also called: .+\.\*$", text, re.MULTILINE)


def test_the_index_of_how_to_has_every_page_and_the_words_of_the_trade() -> None:
    text = (DOCS / "how-to" / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in HOW_TO if page.name != "README.md"} <= {target for target, _ in links(DOCS / "how-to" / "README.md")}
    for word in ("CI", "GitHub Actions", "deduplication", "entity resolution", "hallucination", "precision", "recall", "Text2Cypher",
                 "faithfulness", "RAG evaluation", "LLM as a judge"):
        assert word in text


def test_the_words_of_a_page_are_its_tags_and_go_from_its_text() -> None:
    page: Any = SimpleNamespace(meta={}, file=SimpleNamespace(src_uri="how-to/x.md"))
    assert on_page_markdown("# X\n\nText.\n\n*Also called: one, two words.*\n", page=page).strip() == "# X\n\nText."
    assert page.meta == {"tags": ["one", "two words"], "search": {"boost": 3}}


def test_links_that_the_site_does_not_have_become_what_it_has() -> None:
    assert links_inside("see [classes](../kgeval/errors.py).", "") == "see classes (`kgeval/errors.py`)."
    assert links_inside("[cypher/a.cypher](../cypher/a.cypher)", "") == "cypher/a.cypher"
    assert links_inside("[why](decisions/), [all](../rules/)", "how-to") == "[why](decisions/README.md), [all](../rules/README.md)"
    for same in ("[gates](../gates.md)", "[one](rules/x.md)", "[part](gates.md#waivers)", "[out](https://example.org/)"):
        assert links_inside(same, "how-to") == same


def test_pages_outside_docs_are_pages_of_the_site_too() -> None:
    assert links_inside("[changes](../CHANGELOG.md), [how](../CONTRIBUTING.md)", "") == "[changes](CHANGELOG.md), [how](CONTRIBUTING.md)"
    assert links_inside("[changes](../../CHANGELOG.md)", "how-to") == "[changes](../CHANGELOG.md)"
    there = as_in_docs("[how](docs/install.md#what-it-costs) [safe](SECURITY.md) [terms](LICENSE) [out](https://example.org/) [here](#x)")
    assert there == "[how](install.md#what-it-costs) [safe](SECURITY.md) [terms](../LICENSE) [out](https://example.org/) [here](#x)"
    assert links_inside(there, "").startswith("[how](install.md#what-it-costs) [safe](SECURITY.md) terms (`LICENSE`)")


def test_lists_are_set_apart_for_the_site() -> None:
    assert lists_apart("Text:\n- a\n  b\n- c\n  - d") == "Text:\n\n- a\n  b\n- c\n    - d"
    assert lists_apart("```\ntext\n- a\n```") == "```\ntext\n- a\n```"


@pytest.mark.long
def test_the_site_is_built_strictly(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the site needs pip install 'kgeval-toolkit[docs]'")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    html = "".join(page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html"))
    assert re.findall(r'<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"', html) == []
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 100_000


def leaves(nav: Any) -> Iterator[str]:
    """The pages of a navigation, in its order."""
    for part in nav:
        if isinstance(part, str):
            yield part
        else:
            for below in part.values():
                yield from [below] if isinstance(below, str) else leaves(below)


def prose(page: Path) -> str:
    """A page without its code."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def links(page: Path) -> list[tuple[str, str]]:
    """The relative links of a page: file (empty for the page itself) and anchor."""
    return [(target, anchor) for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", prose(page)) if "://" not in target]


def anchors_of(page: Path) -> tuple[set[str], set[str]]:
    """The anchors of a page's headings: as Python-Markdown makes them for the site, and as GitHub does."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", line) for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    plain = [unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode() for heading in headings]
    site = [re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in plain]
    github = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings]
    return (
        {f"{slug}_{n}" if n else slug for slug, n in numbered(site)}, {f"{slug}-{n}" if n else slug for slug, n in numbered(github)},
    )


def numbered(slugs: list[str]) -> list[tuple[str, int]]:
    """Each with how often it came before."""
    return [(slug, slugs[:at].count(slug)) for at, slug in enumerate(slugs)]
