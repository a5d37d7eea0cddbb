"""What mkdocs does to a page of docs/ before it makes HTML of it; mkdocs.yml names this file. The pages are written for GitHub too."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

# pages of the site that are files of the checkout outside docs/, where people and code hosts look for them
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
ALSO_CALLED = re.compile(r"^\*Also called: (.+)\.\*$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((\.{0,2}/?[\w./-]+/|\.\./[\w./-]+)\)")
LINK_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)([\w./-]+)((?:#[\w-]+)?)\)")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
# what a search should show first of two pages that have the same words
BOOST = {"tutorials": 3, "how-to": 3, "cli.md": 0.5, "decisions": 0.5}


def on_files(files: Any, config: Any) -> Any:
    """The pages of docs/, and those outside it."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    for name in OUTSIDE:
        files.append(File.generated(config, name, content=as_in_docs((root / name).read_text(encoding="utf-8"))))
    return files


def as_in_docs(markdown: str) -> str:
    """The text of a page outside docs/ with its links as they would be inside."""

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match.groups()
        inside = target.removeprefix("docs/") if target.startswith("docs/") or target in OUTSIDE else f"../{target}"
        return f"[{text}]({inside}{anchor})"

    return LINK_OUTSIDE.sub(link, markdown)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page as the site wants it: lists, links out of docs/ and to folders; with its tags (the words of its line "Also called") and its
    weight in a search."""
    if words := ALSO_CALLED.search(markdown):
        page.meta["tags"] = words[1].split(", ")
    page.meta["search"] = {"boost": BOOST.get(page.file.src_uri.partition("/")[0], 1)}
    return links_inside(lists_apart(ALSO_CALLED.sub("", markdown)), posixpath.dirname(page.file.src_uri))


def links_inside(markdown: str, folder: str) -> str:
    """A link to a folder goes to its README, and one to a file of the checkout outside docs/ becomes its path, unless it is a page too."""

    def link(match: re.Match[str]) -> str:
        text, target = match.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        if path[3:] in OUTSIDE:
            return f"[{text}]({posixpath.relpath(path[3:], folder or '.')})"
        if path.startswith("../"):
            return text if path[3:] in text else f"{text} (`{path[3:]}`)"
        return f"[{text}]({target}README.md)" if target.endswith("/") else match[0]

    return LINK.sub(link, markdown)


def lists_apart(markdown: str) -> str:
    """An empty line before each list that follows a line of text, and items of inner lists four spaces in: GitHub needs neither."""
    lines: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and ITEM.match(line) and lines and lines[-1] and not lines[-1].startswith(" ") and not ITEM.match(lines[-1]):
            lines.append("")
        inner = not fenced and re.match(r" {2,3}(?=[-*] )", line)
        lines.append(f"    {line.lstrip()}" if inner else line)
    return "\n".join(lines)


# tags come from the text, so this must be done before the tags are collected
on_page_markdown.mkdocs_priority = 100  # type: ignore[attr-defined]
