"""`kgeval help`: the pages of the docs, which come with kgeval."""

from __future__ import annotations

from pathlib import Path

import click

from kgeval.errors import UsageError


def pages() -> dict[str, Path]:
    """Every page by its topic, `rules/self-loop` for one in a folder. A wheel has them inside the package, a checkout beside it."""
    inside = Path(__file__).parents[1] / "docs"
    folder = inside if inside.is_dir() else Path(__file__).parents[2] / "docs"
    found = {page.relative_to(folder).with_suffix("").as_posix(): page for page in sorted(folder.rglob("*.md"))}
    return {topic: page for topic, page in found.items() if topic != "README" and not topic.startswith("decisions/")}


@click.command("help")
@click.argument("topic", required=False)
def help_(topic: str | None) -> None:
    """Print a page of the docs, as Markdown; without TOPIC, list all pages. Of checks and metrics: kgeval rule show, kgeval metrics show
    print the same pages."""
    there = pages()
    if topic is None:
        for name, page in there.items():
            if "/" not in name:
                click.echo(f"{name:24} {_title(page)}")
        folders = sorted({name.partition("/")[0] for name in there if "/" in name})
        for folder in folders:
            click.echo(f"{folder + '/...':24} {sum(name.startswith(folder + '/') for name in there)} pages, such as "
                       + next(name for name in there if name.startswith(folder + "/")))
        return
    wanted = topic.removeprefix("docs/").removesuffix(".md")
    ends = [name for name in there if name.rpartition("/")[2] == wanted]
    found = wanted if wanted in there else ends[0] if len(ends) == 1 else None
    if found is None:
        from difflib import get_close_matches

        near = ends or get_close_matches(wanted, there, cutoff=0.6) or [name for name in there if wanted and wanted in name][:5]
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"no page is called '{topic}'", fix=f"{hint}kgeval help lists all")
    click.echo(there[found].read_text(encoding="utf-8"), nl=False)


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), "")
