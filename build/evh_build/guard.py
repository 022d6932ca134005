"""What stops a public build before a page is made, and what still stands when one was stopped."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.store.clock import stamp
from evh.store.text import plural
from evh_build.leaks import unquoted
from evh_build.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evh.project.find import Project
    from evh_build.public import PublicGathered

_SHELVES = ("baselines", "captures", "datasets", "label", "labels", "logs", "references", "runs")
"""Where links are looked for before anything is read; the other shelves refuse one that they meet."""
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60


def check(gathered: PublicGathered, out: Path | None = None) -> None:
    """Refuse a public build of records that cannot be read, or of items whose ids name something hidden.

    Args:
        gathered: the records of a public build.
        out: where the site goes: a refusal tells whether an old one still stands there.

    Raises:
        Refusal: ``unread-records`` with every link that leads out of the project, before anything is read
            through it, and with every record that cannot be read: nobody can tell whether it is private, or
            what it is private of. ``must-not-be-published`` with every item of a public dataset whose id
            names a hidden dataset.
    """
    linked = list(_links_out(gathered.project))
    if linked:
        raise Refusal(
            "unread-records",
            f"the public catalog was not built: {plural(len(linked), 'link')} in data/ would be read "
            "outside the project",
            why=linked,
            next="replace each by a file or a folder of the project's own" + standing(gathered.project, out),
        )
    unread = gathered.sources.unreadable
    if unread:
        raise Refusal(
            "unread-records",
            f"the public catalog was not built: {plural(len(unread), 'record')} cannot be read, "
            "and what cannot be read may be private",
            why=[reason for one in unread for reason in one.why or (one.what,)],
            next="mend each, or move it out of data/ (evh validate lists them)"
            + standing(gathered.project, out),
        )
    hidden = {one.name for one in gathered.shown.left_out if one.noun == "dataset"}
    named = [
        f"{name}: {item.item_id}: its id names {', '.join(sorted(told))}, which is private"
        for name, dataset in gathered.datasets.items()
        for item in dataset.items
        if (told := hidden.intersection(unquoted(item.item_id).split("/")[:-1]))
    ]
    if named:
        raise Refusal(
            "must-not-be-published",
            f"the public catalog was not built: the ids of {plural(len(named), 'item')} name what is private",
            why=named,
            next="write the dataset anew with other ids (evh dataset-create), or make it private or the one "
            "that its ids name public (evh dataset-set)" + standing(gathered.project, out),
        )


def _links_out(project: Project) -> Iterator[str]:
    """Give a line for each link on a shelf that leads out of the project; no link is followed."""
    measured = sorted(path.name for path in project.data.glob("runs-*"))
    waiting = [project.data / name for name in (*_SHELVES, *measured)]
    while waiting:
        place = waiting.pop()
        if place.is_symlink():
            if not project.inside(place):
                yield f"{project.show(place)}: a link leads out of the project; it is not read"
        elif place.is_dir():
            with os.scandir(place) as found:
                waiting += [place / one.name for one in found if one.is_symlink() or one.is_dir()]


def standing(project: Project, out: Path | None) -> str:
    """Return a clause on the site that an earlier build left: where it is, and how old; empty for none."""
    path = out / MANIFEST if out is not None else None
    if out is None or path is None or not path.is_file():
        return ""
    made = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    age = _age((project.now() - made).total_seconds())
    return f"; the site that was built before still stands in {project.show(out)}, as of {stamp(made)}{age}"


def _age(seconds: float) -> str:
    for span, noun in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= span:
            return f", {plural(int(seconds // span), noun)} old"
    return ", less than a minute old" if seconds >= 0 else ""  # its clock and EVH_NOW differ
