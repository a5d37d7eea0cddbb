"""Puts the guide of `kgeval help --for-agents` together from tools/skill.md and the pages that it names.
Used by tools/generate.py."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).with_name("skill.md")
FROM = re.compile(r"^<!-- from (?P<page>\S+) # (?P<heading>.+?) : (?P<kind>table|code) (?P<number>\d+) -->$", re.MULTILINE)
CODE = re.compile(r"^```bash\n.*?^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\|$\n?)+", re.MULTILINE)


def skill_guide(docs: Path, source: Path = SOURCE) -> str:
    """The guide's text: `source`, with a table or a block of a page where a line begins with `<!-- from`. Raises: ValueError naming the
    line whose part does not exist."""
    text = FROM.sub(lambda found: _part(docs, found), source.read_text(encoding="utf-8"))
    if "<!-- from" in text:
        raise ValueError(f"skill.md: a line `<!-- from` of another form: {text[text.find('<!-- from'):][:80]}")
    return text.replace("```\n```bash\n", "")  # blocks that follow each other are one


def _part(docs: Path, found: re.Match[str]) -> str:
    """The n-th table or bash block below a heading of a page, without what stands around it."""
    lines = (docs / found["page"]).read_text(encoding="utf-8").split("\n")
    starts = [at for at, line in enumerate(lines) if line.lstrip("#").strip() == found["heading"] and line.startswith("#")]
    if not starts:
        raise ValueError(f"skill.md: {found['page']} has no heading {found['heading']!r}")
    level = len(lines[starts[0]]) - len(lines[starts[0]].lstrip("#"))
    inside, fenced = [], False
    for line in lines[starts[0] + 1:]:
        fenced ^= line.startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            break
        inside.append(line)
    parts = (CODE if found["kind"] == "code" else TABLE).findall("\n".join(inside))
    if len(parts) < int(found["number"]):
        raise ValueError(f"skill.md: {found['page']} # {found['heading']} has {len(parts)} of kind {found['kind']}")
    return str(parts[int(found["number"]) - 1]).rstrip("\n")
