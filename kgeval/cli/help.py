"""`kgeval help`: the pages of the docs, which come with kgeval, and a short guide for coding agents, put together from them."""

from __future__ import annotations

from pathlib import Path

import click

from kgeval.errors import UsageError

GUIDE = Path(__file__).with_name("skill.md")


def pages() -> dict[str, Path]:
    """Every page by its topic, `rules/self-loop` for one in a folder. A wheel has them inside the package, a checkout beside it."""
    inside = Path(__file__).parents[1] / "docs"
    folder = inside if inside.is_dir() else Path(__file__).parents[2] / "docs"
    by_topic = {page.relative_to(folder).with_suffix("").as_posix(): page for page in sorted(folder.rglob("*.md"))}
    return {topic: page for topic, page in by_topic.items() if topic != "README" and not topic.startswith("decisions/")}


@click.command("help")
@click.argument("topic", required=False)
@click.option(
    "--for-agents", is_flag=True, help="Print a short guide to kgeval for coding agents: Markdown with a head of name and description.",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
    help="With --for-agents: write the guide there; - is stdout. No file is replaced.",
)
def help_(topic: str | None, for_agents: bool, output: Path | None) -> None:
    """Print a page of the docs, as Markdown; without TOPIC, list all pages. Of checks and metrics: kgeval checks show, kgeval metrics show
    print the same pages.

    The guide for agents says when to use which command, how to read results honestly, what the exit codes mean and what to leave alone.

    Exit codes: 0 done, 2 no such page, or the file is there already or cannot be written.
    """
    if for_agents:
        if topic is not None:
            raise UsageError("--for-agents prints one guide, and no page", fix="leave TOPIC out")
        _guide(output)
        return
    if output is not None:
        raise UsageError("-o goes with --for-agents", fix="kgeval help TOPIC > FILE writes a page to a file")
    there = pages()
    if topic is None:
        many = ("metrics/", "rules/")  # a page for each: kgeval metrics list, kgeval checks list
        listed = sorted((name for name in there if not name.startswith(many)), key=lambda name: not name.startswith("tutorials/"))
        width = max(map(len, listed))
        for name in listed:
            click.echo(f"{name:{width}}  {_title(there[name])}")
        for folder in many:
            click.echo(f"{folder + '...':{width}}  {sum(name.startswith(folder) for name in there)} pages, such as {folder}README")
        return
    page_name = topic.removeprefix("docs/").removesuffix(".md")
    ends = [name for name in there if name.rpartition("/")[2] == page_name]
    matched = page_name if page_name in there else ends[0] if len(ends) == 1 else None
    if matched is None:
        from difflib import get_close_matches

        near = ends or get_close_matches(page_name, there, cutoff=0.6) or [name for name in there if page_name and page_name in name][:5]
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"no page is called '{topic}'", fix=f"{hint}kgeval help lists all")
    click.echo(there[matched].read_text(encoding="utf-8"), nl=False)


def _guide(output: Path | None) -> None:
    """Prints or writes the guide for coding agents. Raises: UsageError where the file is there, InputError where it
    cannot be written."""
    from kgeval.tables.output import write_text

    text = GUIDE.read_text(encoding="utf-8")
    if output is None or str(output) == "-":
        click.echo(text, nl=False)
        return
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is there already", fix="name another file, or remove it")
    write_text(output, text, shared=True, kept=False)
    click.echo(f"wrote {output}")


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), "")
