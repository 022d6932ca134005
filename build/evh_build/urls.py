"""Where each page lies: paths below the site's folder, made of checked or percent-encoded names alone."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from evh.store.names import item_stem, item_stems

if TYPE_CHECKING:
    from evh_build.gather import Gathered

HOME = "index.html"
ABOUT = "about/index.html"
DATASETS = "datasets/index.html"
CAPTURES = "captures/index.html"
LABELS = "labels/index.html"
REFERENCES = "references/index.html"
ARMS = "arms/index.html"
RUNS = "runs/index.html"


def href(path: str, root: str = "") -> str:
    """Return the relative link to a page: ``path`` percent-encoded, its fragment kept, ``root`` before it."""
    page, mark, fragment = path.partition("#")
    return root + quote(page) + (f"#{quote(fragment)}" if mark else "")


def root_of(path: str) -> str:
    """Return what leads from a page back to the site's folder: ``../../`` for one two folders down."""
    return "../" * path.count("/")


class Urls:
    """The path of each record's page; None for a record that has none."""

    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered
        self._stems: dict[str, dict[str, str]] = {}
        self._positions: dict[str, dict[str, int]] = {}

    def dataset(self, dataset_id: str) -> str | None:
        """Return the page of a dataset."""
        return self._page("datasets", dataset_id) if dataset_id in self._gathered.datasets else None

    def sheet(self, dataset_id: str) -> str | None:
        """Return the page of a dataset's sheet."""
        return self._page("sheets", dataset_id) if dataset_id in self._gathered.datasets else None

    def item(self, dataset_id: str, item_id: str) -> str | None:
        """Return the page of an item."""
        dataset = self._gathered.datasets.get(dataset_id)
        if dataset is None:
            return None
        if dataset_id not in self._stems:
            self._stems[dataset_id] = item_stems([item.item_id for item in dataset.items])
        stem = self._stems[dataset_id].get(item_id)
        return None if stem is None else f"items/{_part(dataset_id)}/{stem}.html"

    def position(self, dataset_id: str, item_id: str) -> int | None:
        """Return an item's place in its dataset, from 1."""
        dataset = self._gathered.datasets.get(dataset_id)
        if dataset is None:
            return None
        if dataset_id not in self._positions:
            places = enumerate(dataset.items, start=1)
            self._positions[dataset_id] = {item.item_id: place for place, item in places}
        return self._positions[dataset_id].get(item_id)

    def label_set(self, ref: str) -> str | None:
        """Return the page of the label set ``<dataset>/<set>``."""
        return self._page("labels", ref) if ref in self._gathered.label_sets else None

    def reference(self, ref: str) -> str | None:
        """Return the page of the reference set ``<tier>/<name>``."""
        return self._page("references", ref) if ref in self._gathered.references else None

    def scored_against(self, ref: str | None) -> str | None:
        """Return the page of ``labels/<dataset>/<set>`` or ``<tier>/<name>``."""
        if ref is None:
            return None
        if ref.startswith("labels/"):
            return self.label_set(ref.removeprefix("labels/"))
        return self.reference(ref)

    def capture(self, capture_id: str) -> str | None:
        """Return the page of a capture."""
        return self._page("captures", capture_id) if capture_id in self._gathered.captures else None

    def arm(self, config_id: str) -> str | None:
        """Return the page of an arm: a config, or one that only runs speak of."""
        known = config_id in self._gathered.configs or any(
            run.config_id == config_id for run in self._gathered.runs.values()
        )
        return self._page("arms", config_id) if known else None

    def run(self, key: str) -> str | None:
        """Return the page of the run ``<folder>/<run_id>``."""
        return self._page("runs", key) if key in self._gathered.runs else None

    def _page(self, folder: str, ref: str) -> str:
        return "/".join([folder, *(_part(part) for part in ref.split("/")), "index.html"])


def _part(name: str) -> str:
    """Return a name as a folder of the site: never the name of a list's own file."""
    stem = item_stem(name)
    return "index%2Ehtml" if stem.lower() == "index.html" else stem
