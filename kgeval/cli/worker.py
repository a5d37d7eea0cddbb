"""A shard as a worker does it: `python -m kgeval.cli.worker`, its task as JSON on standard input, messages on stderr."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kgeval.cli.common import say
from kgeval.cli.main import code_of, end_with


def work(given: dict[str, Any]) -> int:
    """Does the shard and gives its exit code. `given`: session, answers, options, as Session.portable and the options have them."""
    from kgeval.config import ScoreOptions
    from kgeval.workflows import score
    from kgeval.workflows.session import Session

    with Session.from_portable(given["session"], say=say) as session:
        result = score.run(session, [Path(path) for path in given["answers"]], ScoreOptions.model_validate(given["options"]))
    for message in result.messages:
        say(message)
    return result.exit_code


if __name__ == "__main__":
    end_with(lambda: code_of(lambda: work(json.load(sys.stdin))))
