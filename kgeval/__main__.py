"""`python -m kgeval`, and where the `kgeval` command begins: signals are listened to before anything else is imported."""

from __future__ import annotations

from kgeval.cli.interrupts import INTERRUPTED, listen


def main() -> None:
    """The command line. Exits."""
    import sys

    try:
        listen()
        from kgeval.cli.main import main as run

        run()
    except KeyboardInterrupt:  # while that was imported
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
