"""`kgeval run`: from a graph, documents or answers to the one report, by kgeval.toml."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import HOME, listed, say, silence_stdout, visible
from kgeval.cli.interrupts import patient
from kgeval.cli.run_check import check, is_to_come
from kgeval.cli.run_graph import check_graphs, orders_of

if TYPE_CHECKING:
    from kgeval.config import Config
    from kgeval.records import StageRun, StageState
    from kgeval.run.carry import Orders
    from kgeval.run.data import Given
    from kgeval.run.ledger import Ledger
    from kgeval.run.stages import Stage


@click.command()
@click.argument("config_file", required=False, type=click.Path(path_type=Path), metavar="[KGEVAL.TOML]")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Where everything is written [default: [run] folder].")
@click.option("--stage", "wanted", multiple=True, metavar="NAME", help="Only these stages and what they need (comma or repeated).")
@click.option("--again", multiple=True, metavar="NAME", help="Do these stages again, although they are up to date (comma or repeated).")
@click.option("--list", "only_list", is_flag=True, help="Print the stages, their commands and whether they are up to date; run nothing.")
@click.option("--dry-run", is_flag=True, help="As --list, and what the next stages would ask of models; nothing is sent or written.")
@click.option("--home", type=click.Path(path_type=Path), help=HOME)
@click.option("-j", "--max-concurrency", type=click.IntRange(1, 1024), help="Requests in flight [default: 8].")
@click.option("--journal", type=click.Path(path_type=Path), help="Journal of finished calls [default: in the cache folder].")
@click.option("--cache-dir", type=click.Path(path_type=Path), help="Cache folder [default: the user's].")
@click.option("-q", "--quiet", is_flag=True, help="No word on stdout but the path of the report.")
def run(**options: Any) -> int:
    """Carry out everything that KGEVAL.TOML [default: kgeval.toml] describes: graph, questions, answers, scores, comparison, report.

    Each stage is a command of kgeval that is printed and can be run by hand. A stage that is up to date is passed over; one that was
    interrupted goes on; what failed holds up only the stages that need it. [limits] cost and calls are for the run as a whole.

    Exit codes: 0 done, 1 a gate is missed, 2 wrong configuration or a stage failed, 3 a stage is incomplete, 130 interrupted; the same
    command goes on.
    """
    from kgeval import config as configuration
    from kgeval.run.carry import chosen
    from kgeval.run.ledger import Ledger
    from kgeval.run.lock import alone
    from kgeval.run.plan import stages_of

    config, faults = configuration.read(options["config_file"])
    given = _given(config, options)
    stages = stages_of(given)
    check(config, stages, faults, options["config_file"])
    stages = chosen(stages, listed(options["wanted"]))
    if options["only_list"] or options["dry_run"]:
        ledger = Ledger(given.folder)
        return _listed(stages, ledger, orders_of(config, given.folder, stages, options), dry=options["dry_run"])
    with alone(given.folder) as held:
        ledger = Ledger(given.folder)
        orders = orders_of(config, given.folder, stages, options)
        check_graphs(stages, ledger, config, options)
        with patient():
            return _carried_out(stages, ledger, orders, held, quiet=options["quiet"])


def _given(config: Config, options: Mapping[str, Any]) -> Given:
    from kgeval.config import DEFAULT_FILE
    from kgeval.run.data import Given

    file = options["config_file"] or (Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None)
    pairs = (("--journal", options["journal"]), ("--cache-dir", options["cache_dir"]), ("-j", options["max_concurrency"]))
    common = tuple(word for flag, value in pairs if value is not None for word in (flag, str(value)))
    home = ("--home", str(options["home"])) if options["home"] else ()
    return Given(config, file, options["folder"] or config.run.folder, home, common)


def _listed(stages: Sequence[Stage], ledger: Ledger, orders: Orders, *, dry: bool) -> int:
    """Prints the stages; with `dry` also what each would ask, where its files are there already."""
    from kgeval.run.carry import states_of

    graphs: list[str] = []  # stages that would make a graph
    for stage, state in states_of(stages, ledger, orders):
        click.echo(visible(f"{state:12}  {stage.id}\n              {stage.line}"))
        if state == "up to date":
            continue
        if dry and stage.asks:
            _say_plan(stage, [one for one in graphs if one in stage.needs])
        if stage.makes is not None:
            graphs.append(stage.id)
    return 0


def _say_plan(stage: Stage, graphs: Sequence[str]) -> None:
    """What the stage's own dry run says, indented; or why it cannot say anything yet. `graphs`: stages that make its graph first."""
    import subprocess

    missing = [f"the graph of {one}" for one in graphs]
    missing += [word for word in stage.words if is_to_come(word) and word not in map(str, stage.outputs)]
    if missing:
        click.echo(visible(f"              its calls are known once {', '.join(missing)} is there"))
        return
    done = subprocess.run(
        [sys.executable, "-m", "kgeval", *stage.words, "--dry-run"], capture_output=True, text=True, encoding="utf-8", errors="replace",
        check=False,
    )
    for line in (done.stdout if done.returncode == 0 else done.stderr).splitlines():
        click.echo(visible(f"              {line}"))


def _carried_out(stages: Sequence[Stage], ledger: Ledger, orders: Orders, held: int, *, quiet: bool) -> int:
    from kgeval.run.carry import USABLE, carry_out, exit_code, log_of
    from kgeval.run.process import Commands

    states: dict[str, StageState] = {}
    for stage, done, what in carry_out(stages, ledger, orders, Commands((held,))):
        if done is None:
            say(f"{stage.id}: {stage.line}")
            continue
        states[stage.id] = done.state
        seconds = f" in {done.seconds:.1f} s" if done.seconds is not None and what != "up to date" else ""
        if not quiet:
            _print(f"[{len(states)}/{len(stages)}] {stage.id}: {what}{seconds}{_why(done, what)}")
        if done.state == "failed":
            _say_end(log_of(orders.folder, stage))
    if states.get("report") in USABLE:
        _print(f"report: {orders.folder / 'report.html'}")
    return exit_code(list(states.values()))


def _why(done: StageRun, what: str) -> str:
    return f" ({done.reason})" if done.reason and done.reason not in what else ""


def _print(line: str) -> None:
    """A line on stdout; a closed pipe stops no run."""
    try:
        click.echo(visible(line))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def _say_end(log: Path) -> None:
    """The last lines of a stage that failed."""
    if log.is_file():
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]:
            say(f"    {line}")
