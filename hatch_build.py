"""What the build does to the README: the package index shows it without the checkout, and links to `docs/` die there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")


class ReadmeOfTheIndex(MetadataHookInterface):
    """`readme` of the metadata, from README.md and, once it is set, `[project.urls] Source`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `readme` in the `[project]` table; the version stands there already."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        text = readme_of_index(text, source, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def readme_of_index(text: str, source: str, tag: str) -> str:
    """The README with links to the files of a release. `source` is the address of the repository, or empty as long as
    there is no public one: then pictures go, and a link is its text alone."""
    base = source.rstrip("/")

    def link(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups(default="")
        if not base:
            return "" if picture else words
        return f"{picture}[{words}]({base}/{'raw' if picture else 'blob'}/{tag}/{target}{anchor})"

    return re.sub(r"\n{3,}", "\n\n", LINK.sub(link, text))
