"""Is the checkout what a tag says it is? `python tools/release.py v0.2.0` lists all that is not, and exits with 1.

docs/release.md has the steps of a release; the workflow that publishes starts with this one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ("kgeval/__init__.py", "CHANGELOG.md", "CITATION.cff")
TAG = re.compile(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)")


def faults(root: Path, tag: str) -> list[str]:
    """What keeps the checkout in `root` from being the release `tag`, a line each."""
    if not (match := TAG.fullmatch(tag)):
        return [f"{tag}: a tag is v and the version: v0.2.0, v0.2.0rc1"]
    version = match[1]
    text = {name: (root / name).read_text(encoding="utf-8") for name in FILES}
    found = []
    if (there := _first(r'^__version__ = "(.*)"', text["kgeval/__init__.py"])) != version:
        found.append(f"kgeval/__init__.py: the version is {there}, the tag says {version}")
    date = _first(rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$", text["CHANGELOG.md"])
    if date is None:
        found.append(f"CHANGELOG.md: no heading '## {version} (YYYY-MM-DD)'")
    if (_first(r"^## Unreleased\n((?:(?!## ).*\n?)*)", text["CHANGELOG.md"]) or "").strip():
        found.append("CHANGELOG.md: changes stand under 'Unreleased'")
    for key, wanted in (("version", version), ("date-released", date)):
        if wanted and (there := _first(rf"^{key}: ['\"]?([^'\"\n]*)", text["CITATION.cff"])) != wanted:
            found.append(f"CITATION.cff: {key} is {there}, not {wanted}")
    return found


def _first(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("one tag: python tools/release.py v0.2.0")
    if wrong := faults(ROOT, sys.argv[1]):
        sys.exit("\n".join(wrong))
    print(f"{sys.argv[1]}: version, changelog and citation agree")
