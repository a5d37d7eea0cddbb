"""An audit by a kgeval without its extras finds what one with all of them finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kgeval.cli.main import run
from kgeval.errors import EXTRAS
from kgeval.graph.connect import Address, Graph

pytestmark = pytest.mark.long
SAMPLE = Path(__file__).parents[2] / "kgeval" / "sample" / "graph.json"


def test_no_extra_is_needed_for_an_audit(graph: Graph, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password}.items():
        monkeypatch.setenv(name, value)
    assert run(["import", str(SAMPLE), "--graph", "sample"]) == 0

    def audited(name: str, hidden: list[str]) -> dict[str, Any]:
        code = f"import sys; sys.modules.update(dict.fromkeys({hidden!r})); from kgeval.cli.main import run; sys.exit(run(sys.argv[1:]))"
        words = [sys.executable, "-c", code, "audit", "--graph", "sample", "-q", "-o", f"{name}.json", "-o", f"{name}.html"]
        done = subprocess.run(words, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"{name}.html").is_file()
        report = json.loads((tmp_path / f"{name}.json").read_text())
        return {key: report[key] for key in ("findings", "structure", "skipped") if key in report}

    core, whole = audited("core", [*EXTRAS, "torch", "transformers", "tokenizers", "huggingface_hub"]), audited("whole", [])
    for report in (core, whole):
        for finding in report["findings"]:
            finding.pop("seconds", None)
        for name, value in report["structure"].items():
            if isinstance(value, float):
                report["structure"][name] = float(f"{value:.12g}")  # GDS adds up in several threads, each time in another order
    assert core == whole and len(core["findings"]) > 30
