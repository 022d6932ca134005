"""``evh help TOPIC``: the guide on the terminal."""

from __future__ import annotations

import click

from evh.cli import common
from evh.errors import Refusal

ORDER = (
    "tutorial", "project", "data", "labels", "label-rules", "configs", "adapters", "runs", "sheet",
    "versions", "goals", "judges", "evidence", "importing", "catalog",
)  # fmt: skip
"""The pages in the order of reading them: as the README has them. Others follow by name."""


@common.command("help", example="evh help tutorial")
@click.argument("topic", required=False)
def help(*, topic: str | None, as_json: bool) -> None:  # noqa: A001 - the command's name
    """The guide: a tutorial, and a page a topic. Without a topic, what there is."""
    from importlib.resources import files

    pages = {
        page.name.removesuffix(".md"): page.read_text(encoding="utf-8")
        for page in files("evh").joinpath("guide").iterdir()
        if page.name.endswith(".md")
    }
    if topic is not None and topic not in pages:
        raise Refusal(
            "no-such-topic",
            f"the guide has no page {topic!r}",
            why=[f"there is {', '.join(sorted(pages))}"],
            next="evh help",
        )
    rank = {name: at for at, name in enumerate(ORDER)}
    shown = sorted(pages, key=lambda name: (rank.get(name, len(rank)), name)) if topic is None else [topic]
    if as_json:
        common.emit("help", "topics", [{"topic": name, "text": pages[name]} for name in shown])
    elif topic is None:
        for name in shown:
            common.say(f"{name:14} {pages[name].splitlines()[0].lstrip('# ')}")
        common.next_steps([f"evh help {shown[0]}"])
    else:
        common.say(pages[topic].rstrip())
