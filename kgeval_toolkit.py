"""Where the commands `kgeval` and `kgeval-toolkit` begin: a module that no other distribution has.

The distribution `kgeval` of the package index is another project's, with a module and a command of the same names. Installed beside this
one it overwrites files of the package `kgeval`, and what runs is a mix of both. So nothing of `kgeval` is imported
before that is ruled out.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

# What pip installs. The command and the module that users import are called kgeval.
DISTRIBUTION = "kgeval-toolkit"
REINSTALL = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"
FOLDER = Path(__file__).parent


def main() -> None:
    """The command line. Exits: 2, with one message, where the module `kgeval` is not this distribution's alone."""
    if found := conflict():
        sys.stderr.write(f"kgeval: {found}\n")
        sys.exit(2)
    from kgeval.__main__ import main as start

    start()


def conflict() -> str:
    """What is wrong with the module `kgeval` of this environment, and the way out; "" where it is that of this distribution."""
    spec = find_spec("kgeval")
    origin = Path(spec.origin) if spec and spec.origin else None
    imported_from = origin.parents[1] if origin else FOLDER
    prefix = "" if is_overwritten(FOLDER) else "kgeval-"
    if others := [owner for folder in dict.fromkeys((FOLDER, imported_from)) for owner in other_owners(folder, prefix)]:
        return shared_with(others, imported_from)
    if origin is None:
        return f"files of {DISTRIBUTION} are missing in {FOLDER}, as after another kgeval was uninstalled\nFix: {REINSTALL}"
    if imported_from != FOLDER:
        return (
            f"Python finds another module kgeval first: {origin}, not that of {DISTRIBUTION} in {FOLDER}\n"
            f"Fix: take {imported_from} out of PYTHONPATH, or uninstall what brought it there"
        )
    return ""


def other_owners(folder: Path, prefix: str = "kgeval-") -> list[str]:
    """Name and version of each other distribution in a folder of `sys.path` that installed a module `kgeval` there. `prefix`: how the name
    of its metadata begins, "" for any, which reads the lists of files of all that is installed."""
    # importlib.metadata answers this too, but to import it takes a fifth of the time of `kgeval --version`
    found = []
    for about in sorted(entry for entry in folder.glob("*.dist-info") if entry.name.lower().startswith(prefix)):
        name, _, version = about.stem.partition("-")
        if name.replace("_", "-").lower() != DISTRIBUTION and module_line(about):
            found.append(f"{name} {version}")
    return found


def is_overwritten(folder: Path) -> bool:
    """Whether the package `kgeval` in a folder of `sys.path` begins with another file than this distribution installed there."""
    module = folder / "kgeval" / "__init__.py"
    lines = [module_line(about) for about in folder.glob(f"{DISTRIBUTION.replace('-', '_')}-*.dist-info")]
    sizes = [line.rpartition(",")[2] for line in lines if line]  # none of a checkout
    return bool(sizes) and module.is_file() and str(module.stat().st_size) not in sizes


def module_line(about: Path) -> str:
    """What the RECORD in a folder of metadata says of `kgeval/__init__.py`: path, hash, size; "" where it is not among its files."""
    record = about / "RECORD"
    if not record.is_file():
        return ""
    with record.open(encoding="utf-8") as files:
        return next((line.rstrip() for line in files if line.startswith("kgeval/__init__.py,")), "")


def shared_with(others: list[str], folder: Path) -> str:
    """What to say where other distributions have a module `kgeval` in the same folder, or in one that Python looks into first."""
    names = " ".join(owner.split()[0] for owner in others)
    return (
        f"{' and '.join(others)} has a module kgeval too, and is installed here: files of one overwrite those of the other in {folder}\n"
        f"Fix: pip uninstall -y {names} && {REINSTALL}"
    )


if __name__ == "__main__":
    main()
