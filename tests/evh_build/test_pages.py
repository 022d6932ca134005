"""Each page's template and Context agree; each query has a total order; each Context says what it holds."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import jinja2.filters
import jinja2.meta
import pytest
from jinja2 import nodes

from evh_build import assets, render
from evh_build.navigation import NAVIGATION
from evh_build.page import Frame, Page
from evh_build.pages import PAGES
from evh_build.source import PAGES as FOLDER

TEMPLATES = [assets.own_templates()]
IDS = [page.name for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_template_uses_only_what_its_context_has(page: Page) -> None:
    """Every free variable of a page's templates is a field of its Context, or given to every page."""
    made = render.environment(TEMPLATES)
    given = {field.name for field in dataclasses.fields(page.context)} | render.SITE_VARIABLES
    for name, text in render.sources(made, f"pages/{page.name}.html").items():
        tree = made.parse(text)
        known = _imported(tree) | (set() if name.startswith("macros/") else given)
        assert jinja2.meta.find_undeclared_variables(tree) <= known, name


def _imported(tree: nodes.Template) -> set[str]:
    """Return the names that a template imports; a block sees them, which the analysis does not know."""
    made = {one.target for one in tree.find_all(nodes.Import)}
    for one in tree.find_all(nodes.FromImport):
        made |= {name if isinstance(name, str) else name[1] for name in one.names}
    return made


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_context_documents_each_of_its_fields(page: Page) -> None:
    """The docstring of a Context names its own fields, each once, in their order."""
    own = [field.name for field in dataclasses.fields(page.context)]
    inherited = [field.name for field in dataclasses.fields(Frame)]
    told = re.findall(r"^\s{0,8}(\w+): ", inspect.getdoc(page.context) or "", re.MULTILINE)
    assert told == [name for name in own if name not in inherited]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_page_names_the_queries_that_lie_beside_it(page: Page) -> None:
    """A page's queries are its .sql files, no more and no fewer."""
    assert sorted(page.queries) == sorted(path.stem for path in (FOLDER / page.name).glob("*.sql"))


@pytest.mark.parametrize(
    "path", sorted(FOLDER.rglob("*.sql")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_query_ends_in_an_order(path: Path) -> None:
    """Without ORDER BY as its last clause a query may give its rows in any order."""
    last = path.read_text(encoding="utf-8").rpartition("ORDER BY")
    assert last[1], path
    assert not re.search(r"\b(SELECT|FROM|WHERE|UNION|GROUP)\b", last[2]), path


def test_every_template_is_of_a_page() -> None:
    """No template is left behind when a page goes."""
    assert sorted(path.stem for path in (TEMPLATES[0] / "pages").glob("*.html")) == sorted(IDS)


def test_no_page_holds_inline_script_or_style() -> None:
    """The policy forbids them, so a template that has one is broken."""
    for path in TEMPLATES[0].rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        data = r'(?:src=|type="application/json")'  # data runs nothing
        assert not re.search(rf"\sstyle=|\son\w+=|<style|<script(?![^>]*\s{data})|\|\s*safe", text), path


OWN_FILTERS = {
    name
    for name, made in render.environment(TEMPLATES).filters.items()
    if jinja2.filters.FILTERS.get(name) is not made
}
FILTERS = {"length", "join", "dictsort", "float", "int", "round", *OWN_FILTERS}
"""What a template pipes through: evh's own filters, and those of Jinja2's that other engines have alike."""
NODES = (
    nodes.Extends, nodes.Block, nodes.Import, nodes.FromImport, nodes.Macro, nodes.For, nodes.If,
    nodes.CondExpr, nodes.Assign, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr,
    nodes.Getitem, nodes.Slice, nodes.Filter, nodes.Test, nodes.Call, nodes.Compare, nodes.Operand,
    nodes.And, nodes.Or,
    nodes.Not, nodes.Add, nodes.Sub, nodes.Concat, nodes.Template, nodes.Tuple, nodes.List,
    nodes.Mul, nodes.Div,
)  # fmt: skip


@pytest.mark.parametrize(
    "path", sorted(TEMPLATES[0].rglob("*.html")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_template_stays_in_the_common_subset(path: Path) -> None:
    """Only what minijinja renders too: no method is called, no filter or construct is Jinja2's alone."""
    tree = render.environment(TEMPLATES).parse(path.read_text(encoding="utf-8"))
    macros = {one.name for one in tree.find_all(nodes.Macro)}
    modules = {one.target for one in tree.find_all(nodes.Import)}
    for taken in tree.find_all(nodes.FromImport):
        macros |= {name if isinstance(name, str) else name[1] for name in taken.names}
    for node in tree.find_all(nodes.Node):
        assert isinstance(node, NODES), (path, type(node).__name__, node.lineno)
    for piped in tree.find_all(nodes.Filter):
        assert piped.name in FILTERS, (path, piped.name)
    for asked in tree.find_all(nodes.Test):
        assert asked.name == "none", (path, asked.name)
    for call in tree.find_all(nodes.Call):
        called = call.node
        macro = isinstance(called, nodes.Name) and called.name in macros | {"range"}
        of_module = (
            isinstance(called, nodes.Getattr)
            and isinstance(called.node, nodes.Name)
            and called.node.name in modules
        )
        assert macro or of_module, (path, call.lineno)


def test_the_navigation_knows_every_section() -> None:
    """Each entry leads to a page of its own, and no two share a key."""
    entries = [entry for group in NAVIGATION for entry in group.entries]
    assert len({entry.key for entry in entries}) == len({entry.path for entry in entries}) == len(entries)
    assert all(group.keys == tuple(entry.key for entry in group.entries) for group in NAVIGATION)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2, 1..21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_is_that_of_the_standard() -> None:
    """Black on white is 21 to 1; #777777 on white is 4.48, as the standard's own tools say."""
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_the_ramp_reads_in_light_and_dark() -> None:
    """The nine steps of the matrix have a text contrast of at least 4.5 in both schemes."""
    css = (TEMPLATES[0] / "static" / "site.css").read_text(encoding="utf-8").lower()
    steps = re.findall(
        r"\.r(\d) \{ background: light-dark\((#\w{6}), (#\w{6})\); "
        r"color: light-dark\((#\w{6}), (#\w{6})\); \}",
        css,
    )
    assert [step[0] for step in steps] == list("012345678")
    for _, light, dark, light_text, dark_text in steps:
        assert _contrast(light, light_text) >= 4.5
        assert _contrast(dark, dark_text) >= 4.5


def test_the_words_read_in_light_and_dark() -> None:
    """Body, quiet, accent, bad, good and note colours have 4.5 on their backgrounds; the pills too."""
    css = (TEMPLATES[0] / "static" / "site.css").read_text(encoding="utf-8")
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", css)
    pairs = {name: (light, dark) for name, light, dark in found}
    for ink in ("fg", "quiet", "accent", "bad", "good", "note"):
        for ground in ("bg", "paper", "head"):
            for scheme in (0, 1):
                assert _contrast(pairs[ink][scheme], pairs[ground][scheme]) >= 4.5, (ink, ground, scheme)
    for ink, ground in (("bad", "bad-soft"), ("note", "note-soft"), ("accent", "accent-soft")):
        for scheme in (0, 1):
            assert _contrast(pairs[ink][scheme], pairs[ground][scheme]) >= 4.5, (ink, ground, scheme)
    fixed = dict(re.findall(r"--([\w-]+): (#\w{6});", css))
    assert _contrast(fixed["gold"], fixed["gold-ink"]) >= 4.5
    assert _contrast(fixed["silver"], fixed["silver-ink"]) >= 4.5
