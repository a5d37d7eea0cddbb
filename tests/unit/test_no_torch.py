"""An audit needs none of the model libraries: it runs where they are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

FORBIDDEN = ("torch", "sentence_transformers", "transformers", "lancedb", "openai")
HIDE = f"""
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {FORBIDDEN!r}:
            raise ModuleNotFoundError(f"hidden by the test: {{name}}", name=name)
        return None

sys.meta_path.insert(0, Hidden())
"""


def test_the_hook_hides_torch() -> None:
    done = python(HIDE + "import torch")
    assert done.returncode == 1
    assert "hidden by the test: torch" in done.stderr


@pytest.mark.slow
def test_audit_loads_and_shows_its_help_without_model_libraries() -> None:
    done = python(HIDE + "import kgeval.cli.audit\nfrom kgeval.cli.main import run\nsys.exit(run(['audit', '--help']))")
    assert done.returncode == 0, done.stderr
    assert "--fail-on" in done.stdout


@pytest.mark.long
def test_every_room_that_an_audit_uses_loads_without_model_libraries() -> None:
    code = """
import importlib, pkgutil, kgeval
for room in ("stats", "graph", "text", "auditing", "reports", "workflows", "cli"):
    package = importlib.import_module(f"kgeval.{room}")
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
print([m for m in FORBIDDEN if m in sys.modules])
"""
    done = python(HIDE + f"FORBIDDEN = {FORBIDDEN!r}\n" + code)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
