"""`python -m kgeval`."""

from kgeval.cli.main import main

main()
