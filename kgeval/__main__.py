"""`python -m kgeval`, and where the `kgeval` command begins: signals are listened to before anything else is imported."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # `python -m` looks into the working directory first: a json.py or click.py of a stranger's there is not what is meant
    del sys.path[0]

from kgeval.cli.interrupts import INTERRUPTED, listen

# Objects made before Python looks for cycles among them. With its own 700 an audit, which imports 2,500 modules, spends a seventh of its
# processor time on looking through them again and again, and a quarter of reading a large graph. The process is the command's own: what a
# library sets, it puts back.
NEW_OBJECTS = 50_000


def main() -> None:
    """The command line. Exits."""
    gc.set_threshold(NEW_OBJECTS, 20, 20)
    try:
        listen()
        from kgeval.cli.main import main as run

        run()
    except KeyboardInterrupt:  # while that was imported
        sys.exit(INTERRUPTED)
    finally:
        # The system takes the memory back at once; looking for cycles in all of it takes Python half a second. PyTorch brings Triton, which
        # complains on stderr of each of its functions that is still there at the end
        if "torch" not in sys.modules:
            gc.freeze()


if __name__ == "__main__":
    import kgeval_toolkit

    kgeval_toolkit.main()
