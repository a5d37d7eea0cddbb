"""A page as a reader has it: its parts, and what it holds compressed."""

from __future__ import annotations

import base64
import gzip
import html
import re
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "link", "img"}

_PACKED = re.compile(r'(<script type="application/gzip" id="report">)(.*?)(?=</script>)', re.DOTALL)


class Page(HTMLParser):
    """What the page consists of: tags must close in order; texts, attributes and scripts are kept."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.feed(re.sub(r"</?abbr[^>]*>", "", text))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        kind = self.open[-1] if self.open else ""
        {"script": self.scripts, "style": self.styles}.get(kind, self.texts).append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]

    @property
    def report(self) -> str:
        """The JSON that the page holds."""
        return _decompressed(self.scripts[0])

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


def unpacked(text: str) -> str:
    """A page with what a reader would find in it: the JSON that it holds in place of the compressed one, characters in place of their
    escapes, no hashes of its scripts; any other form as it is.

    What a page must not say is sought in this: compressed or escaped it would not be found, and base64 has any three letters by chance.
    """
    if not text.startswith("<!doctype html"):
        return text
    opened, pages = _PACKED.subn(lambda found: found[1] + _decompressed(found[2]), text)
    assert pages == 1, "the page holds its report in another way than this reads"
    return html.unescape(re.sub(r"</?abbr[^>]*>|sha256-[\w+/=]+", "", opened))


def _decompressed(data: str) -> str:
    return gzip.decompress(base64.b64decode(data)).decode()
