"""Where each page lies: paths below the site's folder, made of checked or percent-encoded names alone."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

from evh.store.names import item_stem, item_stems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.records.dataset import Dataset
    from evh_build.gather import Gathered

HOME = "index.html"
ABOUT = "about/index.html"
DATASETS = "datasets/index.html"
CAPTURES = "captures/index.html"
LABELS = "labels/index.html"
REFERENCES = "references/index.html"
ARMS = "arms/index.html"
RUNS = "runs/index.html"
GOALS = "goals/index.html"
JUDGES = "judges/index.html"
MODELS = "models/index.html"
PICKS = "picks/index.html"
SEARCH = "search/index.html"
SEARCH_DATA = "search/data.js"
GUIDE = "guide/index.html"
DOWNLOADS = "downloads/index.html"
EVIDENCE = "evidence/index.html"


@lru_cache(maxsize=65_536)
def href(path: str, root: str = "") -> str:
    """Return the relative link to a page: ``path`` percent-encoded, its fragment kept, ``root`` before it."""
    page, mark, fragment = path.partition("#")
    return root + quote(page) + (f"#{quote(fragment, safe='=')}" if mark else "")


def root_of(path: str) -> str:
    """Return what leads from a page back to the site's folder: ``../../`` for one two folders down."""
    return "../" * path.count("/")


class Urls:
    """The path of each record's page; None for a record that has none."""

    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered
        self._items: dict[str, Mapping[str, str]] = {}
        self._positions: dict[str, Mapping[str, int]] = {}

    def dataset(self, dataset_id: str) -> str | None:
        """Return the page of a dataset."""
        return _page_of("datasets", dataset_id) if dataset_id in self._gathered.datasets else None

    def sheet(self, dataset_id: str) -> str | None:
        """Return the page of a dataset's sheet; None in a public build without sheets."""
        known = dataset_id in self._gathered.datasets and self._gathered.with_sheets
        return _page_of("sheets", dataset_id) if known else None

    def item(self, dataset_id: str, item_id: str) -> str | None:
        """Return the page of an item; None in a dataset too large for a page each (``item_pages``)."""
        return self.items(dataset_id).get(item_id)

    def items(self, dataset_id: str) -> Mapping[str, str]:
        """Return the page of each item of a dataset by its id; none where they have no page each."""
        if dataset_id not in self._items:
            dataset = self._gathered.datasets.get(dataset_id)
            most = self._gathered.project.settings.item_pages
            self._items[dataset_id] = (
                {}
                if dataset is None or len(dataset.items) > most
                else self._gathered.kept(
                    ("item pages", dataset_id), (), lambda: _items(dataset), _ids(dataset)
                )
            )
        return self._items[dataset_id]

    def full(self, dataset_id: str, item_id: str) -> str | None:
        """Return where an item is shown in full: its page, else its opened row in the dataset's sheet."""
        page = self.item(dataset_id, item_id)
        if page is not None or self.position(dataset_id, item_id) is None:
            return page
        sheet = self.sheet(dataset_id)
        return None if sheet is None else f"{sheet}#row={item_id}"

    def position(self, dataset_id: str, item_id: str) -> int | None:
        """Return an item's place in its dataset, from 1."""
        dataset = self._gathered.datasets.get(dataset_id)
        if dataset is None:
            return None
        if dataset_id not in self._positions:
            self._positions[dataset_id] = self._gathered.kept(
                ("positions", dataset_id), (),
                lambda: {item.item_id: place for place, item in enumerate(dataset.items, start=1)},
                _ids(dataset),
            )  # fmt: skip
        return self._positions[dataset_id].get(item_id)

    def label_set(self, ref: str) -> str | None:
        """Return the page of the label set ``<dataset>/<set>``."""
        return _page_of("labels", ref) if ref in self._gathered.label_sets else None

    def reference(self, ref: str) -> str | None:
        """Return the page of the reference set ``<tier>/<name>``."""
        return _page_of("references", ref) if ref in self._gathered.references else None

    def scored_against(self, ref: str | None) -> str | None:
        """Return the page of ``labels/<dataset>/<set>`` or ``<tier>/<name>``."""
        if ref is None:
            return None
        if ref.startswith("labels/"):
            return self.label_set(ref.removeprefix("labels/"))
        return self.reference(ref)

    def capture(self, capture_id: str) -> str | None:
        """Return the page of a capture."""
        return _page_of("captures", capture_id) if capture_id in self._gathered.captures else None

    def arm(self, config_id: str) -> str | None:
        """Return the page of an arm: a config, or one that only runs speak of."""
        known = config_id in self._gathered.configs or any(
            run.config_id == config_id for run in self._gathered.runs.values()
        )
        return _page_of("arms", config_id) if known else None

    def goal(self, goal_id: str | None) -> str | None:
        """Return the page of a goal."""
        return _page_of("goals", goal_id) if goal_id and goal_id in self._gathered.deciding.goals else None

    def judge(self, scorer: str) -> str | None:
        """Return the page of a judge, or of a sheet that somebody filled."""
        held = self._gathered.deciding
        return _page_of("judges", scorer) if scorer in held.judges or held.judged_runs(scorer) else None

    def model(self, model_id: str | None) -> str | None:
        """Return where a model record stands on its list."""
        known = any(line.model.model_id == model_id for line in self._gathered.deciding.models.lines)
        return f"{MODELS}#model-{model_id}" if known else None

    def compare(self, dataset_id: str, first: str, second: str) -> str:
        """Return the page that compares two arms on a dataset; `pairs.pairs` says which have one."""
        parts = (_part(name) for name in (dataset_id, first, second))
        return "/".join(["compare", *parts, "index.html"])

    def log(self, name: str) -> str | None:
        """Return the page of a transcript log."""
        return _page_of("evidence", name) if name in self._gathered.evidence.logs else None

    def chunks(self, log: str, number: int) -> str:
        """Return a page of a log's chunks, by its number from 1."""
        return f"evidence/{_part(log)}/chunks/{number}.html"

    def journal(self, log: str, stem: str, name: str = "index") -> str:
        """Return the page of a journal of evidence labels, or another page of it by its name."""
        return f"evidence/{_part(log)}/journals/{_part(stem)}/{name}.html"

    def guide(self, topic: str) -> str:
        """Return the page of a topic of the guide."""
        return f"guide/{_part(topic)}.html"

    def run(self, key: str) -> str | None:
        """Return the page of the run ``<folder>/<run_id>``."""
        return _page_of("runs", key) if key in self._gathered.runs else None


def _ids(dataset: Dataset) -> tuple[str, ...]:
    return tuple(item.item_id for item in dataset.items)


def _items(dataset: Dataset) -> dict[str, str]:
    folder = f"items/{_part(dataset.dataset_id)}"
    stems = item_stems([item.item_id for item in dataset.items])
    return {item_id: f"{folder}/{stem}.html" for item_id, stem in stems.items()}


@lru_cache(maxsize=8_192)
def _page_of(folder: str, ref: str) -> str:
    return "/".join([folder, *(_part(part) for part in ref.split("/")), "index.html"])


def _part(name: str) -> str:
    """Return a name as a folder of the site: never the name of a list's own file."""
    stem = item_stem(name)
    return "index%2Ehtml" if stem.lower() == "index.html" else stem
