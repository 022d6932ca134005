"""Takes the pictures of the three catalogs that the documents show: ``make screenshots``, or a folder named.

Each is ``<catalog>-<page>-<light|dark>.png``; ``narrow`` is the home page on a narrow screen. A picture has
256 colours, for the pictures are kept with the code: the browser that took it finds them.
"""

from __future__ import annotations

import base64
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

from evh.project.find import Project
from evh_build import site
from evh_build.gather import Gathered
from evh_build.urls import Urls, href
from tests.examples.built import ROOT, make
from tests.tools import require_tool

SIZE = (1200, 800)
NARROW = (390, 800)
MOST_BYTES = 2_500_000
"""All pictures together: they are kept with the code."""
CATALOGS = {
    # the dataset, the item and the arm that are worth looking at first
    "sample": ("cve_2024_07_08", "CVE-2024-29824", "production_v1"),
    "pairwise-preferences": ("comparisons", "pair-087", "gpt-3.5-turbo"),
    "claims": ("answers", "nq-4073418639113603971", "gpt4"),
}


# Draws a picture and gives its 256 most frequent colours and, for each pixel, the nearest of them.
PALETTE = """async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const pixels = new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const one of pixels) counts.set(one, (counts.get(one) ?? 0) + 1);
  const colours = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 256).map(([one]) => one);
  const parts = (one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255];
  const palette = colours.map(parts);
  const nearest = new Map(colours.map((one, at) => [one, at]));
  let indices = "";
  for (const one of pixels) {
    if (!nearest.has(one)) {
      const [r, g, b] = parts(one);
      const far = palette.map(([x, y, z]) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2);
      nearest.set(one, far.indexOf(Math.min(...far)));
    }
    indices += String.fromCharCode(nearest.get(one));
  }
  return { width: image.width, height: image.height, palette, indices: btoa(indices) };
}"""


def small(tab: Any, png: bytes) -> bytes:
    """Return a picture with a palette of at most 256 colours; ``tab`` is any page of the browser.

    Source: Portable Network Graphics, third edition: IHDR, PLTE and IDAT, no filter.
    """
    found = tab.evaluate(PALETTE, base64.b64encode(png).decode())
    width, height = found["width"], found["height"]
    pixels = base64.b64decode(found["indices"])
    rows = b"".join(b"\0" + pixels[at * width : (at + 1) * width] for at in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    palette = bytes(part for colour in found["palette"] for part in colour)
    chunks = [(b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def pages(project: Project, dataset_id: str, item_id: str, arm: str) -> dict[str, str]:
    """Return the pages to show, by the name of their picture."""
    urls = Urls(Gathered(project))
    found = {
        "home": "index.html",
        "agreement": f"{urls.dataset(dataset_id)}#labels-heading",
        "sheet": urls.sheet(dataset_id),
        "item": urls.item(dataset_id, item_id),
        "arm": urls.arm(arm),
    }
    missing = [name for name, path in found.items() if not path]
    if missing:
        raise SystemExit(f"the catalog of {project.name} has no page for: {', '.join(missing)}")
    return {name: path for name, path in found.items() if path}


def take(browser: Any, base: str, shown: dict[str, str], folder: Path, catalog: str) -> list[Path]:
    """Write a catalog's pictures and return their files."""
    made = []
    blank = browser.new_page()  # the site's own pages let no picture in
    views = [(name, path, scheme, SIZE) for scheme in ("light", "dark") for name, path in shown.items()]
    for name, path, scheme, (width, height) in [*views, ("narrow", shown["home"], "light", NARROW)]:
        tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        tab.goto(base + href(path))
        made.append(folder / f"{catalog}-{name}-{scheme}.png")
        made[-1].write_bytes(small(blank, tab.screenshot()))
        tab.close()
    blank.close()
    return made


def main(folder: Path) -> None:
    """Build the three catalogs aside and write their pictures into a folder."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with tempfile.TemporaryDirectory() as aside, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=require_tool("chromium"), args=["--no-sandbox"])
        for catalog, (dataset_id, item_id, arm) in CATALOGS.items():
            root = ROOT if catalog == "sample" else make(catalog, Path(aside))
            project = Project.find(home=root)
            built = site.commit(project, site.plan(project, out=Path(aside) / f"{catalog}-site"))
            base = built.index.parent.as_uri() + "/"
            made += take(browser, base, pages(project, dataset_id, item_id, arm), folder, catalog)
        browser.close()
    size = sum(path.stat().st_size for path in made)
    print(f"{len(made)} pictures in {folder}, {size / 1e6:.2f} MB")
    if size > MOST_BYTES:
        raise SystemExit(
            f"the pictures are larger than {MOST_BYTES / 1e6} MB together: show fewer, or smaller ones"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
