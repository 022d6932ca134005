"""The agreement matrix: its figures, what a cell holds, and that it reads well in light and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evh.project.find import Project
from evh_build import site
from evh_build.matrix import step_of
from tests.helpers import Builder

STATIC = Path(__file__).resolve().parents[2] / "site_templates" / "static"
WIDE = '{"accept": ["1", "2"]}'


@pytest.fixture
def pages(project: Project) -> Path:
    """A site over four sets: two people, one's second pass, a rule with accept-lists; and a small fifth."""
    made = Builder(project)
    items = {f"i{n:02}": f"text {n}" for n in range(30)}
    made.dataset("d", items, task="t")
    first = {item: "123"[n % 3] for n, item in enumerate(items)}
    people = {kind: {"kind": "person", "by": kind} for kind in ("ann", "bob")}
    made.labels("d", "a", first, source=people["ann"])
    made.labels("d", "again", first | {"i00": "2"}, source=people["ann"], relabel_of="a")
    made.labels("d", "b", first | {"i00": "3", "i01": "1", "i03": "2"}, source=people["bob"])
    made.labels(
        "d", "rule", {item: WIDE if label == "1" else label for item, label in first.items()},
        source={"kind": "rule", "capture": "c", "rules_file": "rules/r.yaml"},
    )  # fmt: skip
    made.labels("d", "small", {"i00": "1", "i01": "2"}, source={"kind": "person", "by": "cat"})
    return site.commit(project, site.plan(project)).index.parent


def panel(text: str, key: str) -> str:
    """Return the panel of a figure."""
    return re.split(r'<div class="panel p-', text.partition(f'<div class="panel p-{key}">')[2])[0]


def test_each_figure_that_a_pair_gives_has_a_matrix(pages: Path) -> None:
    """Three answers that are numbers: weighted kappa too; an accept-list: MASI too. The first is chosen."""
    text = (pages / "datasets/d/index.html").read_text(encoding="utf-8")
    keys = re.findall(r'name="figure-0" value="(\w+)"( checked)?', text)
    assert [key for key, _ in keys] == ["kappa", "ac1", "alpha", "same", "linear", "quadratic", "masi"]
    assert [key for key, checked in keys if checked] == ["kappa"]
    css = (STATIC / "site.css").read_text(encoding="utf-8") + (STATIC / "agreement.css").read_text("utf-8")
    for key, _ in keys:
        assert f'.tabs:has([value="{key}"]:checked) .p-{key}' in css


def test_a_cell_holds_figure_interval_n_and_what_to_mind(pages: Path) -> None:
    """The pair a, b: 27 of 30 the same; the second pass is named; too few are said, not coloured."""
    text = panel((pages / "datasets/d/index.html").read_text(encoding="utf-8"), "kappa")
    cells = re.findall(r'<td class="(cell[^"]*)">(.*?)</td>', text, re.DOTALL)
    assert len(cells) == 25
    shown = [(kind, " ".join(re.sub(r"<[^>]+>", " ", cell).split())) for kind, cell in cells]
    assert shown[0] == ("cell diagonal", "labels 30 100.0 % of the items")
    assert re.fullmatch(r"0\.\d\d 0\.\d\d to 1\.00 n = 30 ann twice", shown[1][1])
    assert re.fullmatch(r"0\.85 0\.\d\d to 1\.00 n = 30", shown[2][1])
    assert shown[2][0] == "cell r7"
    assert shown[3][1].endswith("n = 30 10 share one")
    assert shown[4] == ("cell few", "1.00 n = 2 too few to say")


def test_the_page_says_why_accept_lists_look_low(pages: Path) -> None:
    """In words beside the matrix: how many labels accept several answers, how many items share one."""
    text = " ".join((pages / "datasets/d/index.html").read_text(encoding="utf-8").split())
    assert "10 labels of" in text
    assert "on <b>10 of 30</b> items the two share an answer" in text
    assert "Alpha with the MASI distance, which gives part of the credit for that, is" in text


def test_what_costs_most_leads_to_the_sheets_row(pages: Path) -> None:
    """The cell of a and b with most items comes first, each item a link into the sheet."""
    text = (pages / "datasets/d/index.html").read_text(encoding="utf-8")
    part = text.partition('id="pair-0-1"')[2].partition("</details>")[0]
    parts = re.findall(r"<li><b>(\d+)</b> <q>(\d)</q> against <q>(\d)</q>: <a href=\"([^\"]+)\"", part)
    assert [(n, a, b) for n, a, b, _ in parts] == [("1", "1", "2"), ("1", "1", "3"), ("1", "2", "1")]
    assert all("sheets/d/" in link for *_, link in parts)


def test_a_sets_page_has_its_row_of_the_matrix(pages: Path) -> None:
    """The set a beside the four others, each leading to their confusion on the dataset's page."""
    text = (pages / "labels/d/a/index.html").read_text(encoding="utf-8")
    part = text.partition('id="agreement-heading"')[2].partition("</section>")[0]
    anchors = re.findall(r'href="[^"]*datasets/d/index\.html#(pair-0-\d)"', part)
    assert anchors == ["pair-0-0", "pair-0-1", "pair-0-2", "pair-0-3"]
    assert "ann labelled both: a ceiling" in part
    assert "10 differ and share an answer" in part
    assert "too few to say" in part


@pytest.mark.parametrize(
    ("value", "step"),
    [(None, None), (-0.4, 0), (0.0, 0), (0.12, 1), (0.5, 4), (0.888, 7), (0.89, 8), (1.0, 8)],
)
def test_the_ramp_has_nine_equal_steps(value: float | None, step: int | None) -> None:
    """Chance or worse is the first, 8/9 and more the last."""
    assert step_of(value) == step


def luminance(colour: str) -> float:
    """Return a colour's relative luminance (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_each_step_has_contrast_in_light_and_dark() -> None:
    """At least 4.5 : 1 between text and ground, nine steps, both schemes; the grounds go one way."""
    css = (STATIC / "site.css").read_text(encoding="utf-8")
    colour = r"light-dark\((#[0-9a-fA-F]{6}), (#[0-9a-fA-F]{6})\)"
    for scheme in (0, 1):
        grounds = []
        for step in range(9):
            found = re.search(rf"\.r{step} {{ background: {colour}; color: {colour}; }}", css)
            assert found is not None, step
            ground, ink = (luminance(found.group(1 + scheme)), luminance(found.group(3 + scheme)))
            assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 4.5, (step, scheme)
            grounds.append(ground)
        assert grounds == sorted(grounds, reverse=scheme == 0)
