"""The annotation page in a real browser: items, labels by mouse and keys, a reload, the download, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import Browser, browser
from people_world import key_at, write_world
from waiting import wait_until

from kgeval.cli.main import run
from kgeval.comparison.people.reading import read_filled


def downloaded(folder: Path, name: str) -> dict[str, object]:
    # a browser puts an empty file there first, and moves the whole one over it
    wait_until(lambda: (folder / name).is_file() and (folder / name).stat().st_size > 0)
    found: dict[str, object] = json.loads((folder / name).read_text())
    return found


@pytest.mark.slow
def test_labels_survive_a_reload_and_come_back_by_download(tmp_path: Path) -> None:
    assert run(["annotate", "sheet", *write_world(tmp_path), "-o", str(tmp_path / "s"), "--key", str(tmp_path / "key.json"), "--n", "4",
                "--annotators", "ann", "--per-item", "1", "--aspects", "relevance"]) == 0
    key = key_at(tmp_path / "key.json")
    page = tmp_path / "s" / "ann.html"
    with browser(tmp_path / "profile") as chrome:
        chrome.open(page)
        assert shown(chrome) == 1 and chrome.evaluate("document.querySelectorAll('article').length") == 4
        assert chrome.evaluate("document.querySelector('#progress').textContent") == "0 of 8 labels"
        chrome.evaluate("document.querySelector('article:not([hidden]) input[value=\"1 much\"]').click()")
        chrome.evaluate("document.querySelector('#next').click()")
        chrome.press("g")  # the rightmost label of the first aspect of item 2, then the focus moves on
        chrome.press("d")
        assert chrome.evaluate("document.body.dataset.labels") == "3"
        chrome.reload(until="document.body.dataset.labels === '3'")
        assert chrome.evaluate("document.querySelectorAll('input:checked').length") == 3
        (tmp_path / "out").mkdir()
        chrome.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "out"))
        chrome.evaluate("document.querySelector('#save').click()")
        saved = downloaded(tmp_path / "out", "ann.json")
        assert [one["label"] for one in saved["labels"]] == ["1 much", "2 much", "equal"]  # type: ignore[index, attr-defined]
        chrome.evaluate("document.querySelector('#all').click()")
        assert shown(chrome) == 4
    labels = read_filled([tmp_path / "out" / "ann.json"], key).labels
    first = key.first["ann"]
    order = list(dict.fromkeys(label.id for label in labels))
    assert [label.metric for label in labels] == ["relevance", "relevance", "overall"]
    assert labels[0].label == ("2" if first[order[0]] == labels[0].system_a else "-2")
    assert labels[1].label == ("-2" if first[order[1]] == labels[1].system_a else "2")


def shown(chrome: Browser) -> int:
    found: int = chrome.evaluate("[...document.querySelectorAll('article')].filter((one) => one.offsetHeight > 0).length")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("text", [
    "<img src=x onerror='document.title=1'>", "</script><script>document.title = 'run'</script>", "\u202eabc",
])
def test_texts_of_answers_run_nothing(tmp_path: Path, text: str) -> None:
    for system in ("a", "b"):
        row = {"question_id": "q", "question": f"Is it {text}", "system": system, "answer": f"{text} {system}"}
        (tmp_path / f"{system}.jsonl").write_text(json.dumps(row) + "\n")
    assert run(["annotate", "sheet", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "-o", str(tmp_path / "s"),
                "--key", str(tmp_path / "k.json"), "--annotators", "ann", "--per-item", "1"]) == 0
    with browser(tmp_path / "profile") as chrome:
        chrome.open(tmp_path / "s" / "ann.html")
        assert chrome.evaluate("document.title") == "Sheet of ann"
        assert sorted(chrome.evaluate("[...document.querySelectorAll('.answers .text')].map((one) => one.textContent)")) == sorted(
            [f"{text} a", f"{text} b"])
