"""The pages of comparisons, picks, the guide and search: what each says, counted by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evh.project.find import Project
from evh_build import known, search, site
from evh_build.guide import topics
from evh_build.markdown import document, render
from evh_build.text import script_json
from tests.evh_build.pages_of import build, commands, found_in, words
from tests.evh_build.projects import hostile, small
from tests.helpers import Builder

# --------------------------------------------------------------------------------------- two arms compared


def test_a_comparison_says_what_moved(project: Project) -> None:
    """Counted by hand: of i1 i2 i3 the two decided i1 alike; cheap is better on i2, production on i3.

    i2: production no, cheap yes, right yes. i3: production no, cheap yes, right no. i4: cheap failed.
    """
    out = build(small(project))
    page = out / "compare/d/production/cheap/index.html"
    text = words(page)
    assert "Of 4 items, both decided 3: 1 alike (33.3 %)" in text
    assert "production" in text
    rows = re.findall(r'<tr><th scope="row"><a href="[^"]*">(i\d)</a>.*?</tr>', page.read_text(), re.DOTALL)
    assert rows == ["i2", "i3", "i4"]
    assert re.search(r"i2 report 2 no ✗ wrong yes ✓ right better yes", text)
    assert re.search(r"i3 report 3 no ✓ right better yes ✗ wrong no", text)
    assert "1 way of deciding differently" in text
    assert "silver outcome by correct" in text
    assert "evh inspect --dataset-id d --runs production,cheap --disagree" in commands(page)


def test_a_comparison_is_what_the_terminal_says(project: Project, evh: Any) -> None:
    """The page's counts and items are those of `evh inspect --runs A,B --json`."""
    out = build(small(project))
    told = evh.ok("inspect", "--dataset-id", "d", "--runs", "production,cheap", "--json").json
    page = (out / "compare/d/production/cheap/index.html").read_text()
    shown = re.findall(r'<tr><th scope="row"><a href="[^"]*">(i\d)</a>', page)
    text = json.dumps(told)
    assert all(f'"{item}"' in text for item in shown)


def test_every_arm_stands_beside_the_first_and_the_baseline(project: Project) -> None:
    """Four arms, production first, b promoted: a b c beside production, and a c beside b; not a beside c."""
    made = Builder(project)
    made.dataset("d", {"x": "one", "y": "two"})
    made.config("prod", params={"provider": "recorded", "capture": "k"})
    decided = {"x": "yes", "y": "no"}
    made.run("prod", "d", decided, params={"provider": "recorded", "capture": "k"})
    runs = {name: made.run(name, "d", decided) for name in ("a", "b", "c")}
    folder = project.data / "baselines"
    folder.mkdir()
    (folder / "d_baseline.json").write_text(
        json.dumps({"dataset_id": "d", "promoted_from": runs["b"].run_id, "reason": "it was best"})
    )
    out = build(project)
    pairs = {"/".join(path.parts[-3:-1]) for path in (out / "compare" / "d").rglob("index.html")}
    assert pairs == {"prod/a", "prod/b", "prod/c", "b/a", "b/c"}
    assert "it was best" in words(out / "datasets/d/index.html")
    assert "Promoted as the baseline of d from the run" in words(out / "arms/b/index.html")
    assert "baseline" in words(out / "arms/index.html")


def test_a_dataset_with_one_arm_compares_nothing(project: Project) -> None:
    """One arm: no page, no section, and no broken link."""
    made = Builder(project)
    made.dataset("d", {"x": "one"})
    made.run("only", "d", {"x": "yes"})
    out = build(project)
    assert not (out / "compare").exists()
    assert "Arms compared" not in words(out / "datasets/d/index.html")


# --------------------------------------------------------------------------------------------------- picks


def test_picks_are_listed_with_where_they_came_from(project: Project) -> None:
    """One pick for v1 with its dataset, capture, labels by source, tag and note; one that names no target."""
    small(project)
    Builder(project).pick("d", "i3", capture="c")
    out = build(project)
    text = words(out / "picks/index.html")
    assert "Waiting for v1" in text
    assert "i3 d capture c" in text
    assert "person ann" in text
    assert "rule outcome" in text
    assert "case=missed" in text
    assert "look" in text
    assert "Waiting, for no dataset yet" in text
    dataset = words(out / "datasets/v1/index.html")
    assert "Picks waiting for it" in dataset
    assert "case=missed" in dataset


def test_a_version_names_what_it_added_and_the_pick_is_used(project: Project) -> None:
    """v2 = v1 and i2 of d: the page says so with capture, dataset and labels; the pick is history by then."""
    small(project)
    lineage = {"i2": {"capture": "c", "dataset": "d", "item_id": "i2", "record_id": "r2", "pick": True}}
    Builder(project).dataset(
        "v2",
        {"old": "report 1\n", "own": "only here\n", "i2": "report 2\n"},
        task="triage",
        parent="v1",
        lineage=lineage,
    )
    out = build(project)
    text = words(out / "datasets/v2/index.html")
    assert "Added since v1" in text
    assert "1 item that v1 has not" in text
    assert "i2 d c person ann rule outcome" in text
    assert "next version v2" in words(out / "datasets/v1/index.html")
    assert "Picks waiting for it" not in words(out / "datasets/v1/index.html")
    assert "1 pick that a version took" in words(out / "picks/index.html")


def test_the_next_version_s_command_waits_for_its_act(project: Project, monkeypatch: Any) -> None:
    """Where evh can extend a dataset, the page gives that command with every pick; else none."""
    small(project)
    monkeypatch.setattr(known, "can", lambda act: act != "dataset-extend")
    out = build(project)
    page = out / "datasets/v1/index.html"
    assert not [line for line in commands(page) if "dataset-extend" in line]
    monkeypatch.setattr(known, "can", lambda _: True)
    site.commit(project, site.plan(project, rehash=True))
    assert "evh dataset-extend v1 --dataset-id v2 --picks" in commands(page)
    assert 'value="i2"' in page.read_text()


# -------------------------------------------------------------------------------------------- commands, ids


PLACEHOLDER = re.compile(
    r"(--dataset-id|--capture|--config|--labels|--runs) ('?)(D|C|S|SET|ARM|D/SET)\2( |$)"
)


def test_commands_name_what_is_there(project: Project) -> None:
    """On no page of a project with all the nouns does a command say D, C, ARM or SET where an id is known."""
    out = build(small(project))
    for path in sorted(out.rglob("*.html")):
        for line in commands(path):
            assert not PLACEHOLDER.search(line), (path.relative_to(out).as_posix(), line)


def test_every_page_ends_with_the_next_command(project: Project) -> None:
    """Each page of the small project has at least one command at its end."""
    out = build(small(project))
    for path in sorted(out.rglob("*.html")):
        assert 'id="next-heading"' in path.read_text(), path


def test_the_right_answer_stands_beside_each_wrong_one(project: Project) -> None:
    """production against silver/outcome: i2 decided no, right yes; i4 decided yes, right maybe or no."""
    out = build(small(project))
    text = words(out / "runs/runs-rescored/production_20261001T000000Z/index.html")
    assert "1 decided “ no ” where" in text or "1 decided no where the label says yes" in text
    assert "Item Decided Right Error i2 no yes — i4 yes maybe or no —" in text


def test_a_guideline_is_named_as_people_know_it(project: Project) -> None:
    """A rule set's guideline is its rule file's name; a person's Markdown guideline is its first heading."""
    from evh.project import datasets, labels
    from evh.records.labelset import LabelItem, LabelSet
    from evh.store.hashing import sha256

    made = Builder(project)
    made.dataset("d", {"x": "one"})
    rule = {"kind": "rule", "rules_file": "data/rules/seen.yaml", "rules_sha256": sha256(b"a: 1\n")}
    sha = datasets.read(project, "d").by_id["x"].sha256
    for name, source, ending, text in (
        ("hand", {"kind": "person", "by": "ann"}, ".md", b"# How to judge\n\nLook *twice*.\n"),
        ("rules", rule, ".yaml", b"a: 1\n"),
    ):  # fmt: skip
        one = LabelSet("d", name, source, {"x": LabelItem(sha)}, "", created_at="2026-10-01T00:00:00Z")
        written = labels.write_new(project, one, {"x": b"yes"}, guideline=(ending, text))
        made.reference(f"silver/{name}", written)
    out = build(project)
    shown = words(out / "labels/index.html")
    assert "How to judge" in shown
    assert "seen.yaml" in shown
    assert "guideline." not in shown
    page = (out / "labels/d/hand/index.html").read_text()
    assert "<em>twice</em>" in page
    assert "Guideline: How to judge" in words(out / "labels/d/hand/index.html")
    assert "Labelled by How to judge" in words(out / "references/silver/hand/index.html")
    assert "Labelled by seen.yaml" in words(out / "references/silver/rules/index.html")


# ---------------------------------------------------------------------------------------------------- large


def test_a_dataset_over_the_limit_has_rows_in_place_of_pages(project: Project) -> None:
    """item_pages = 3 and four items: no item page; links lead to the row of the sheet instead."""
    toml = project.root / "evh.toml"
    toml.write_text(toml.read_text() + "[catalog]\nitem_pages = 3\n")
    again = Project.find(home=project.root)
    small(again)
    out = build(again)
    assert not list((out / "items").glob("d/*"))
    assert (out / "items" / "v1" / "own.html").exists()
    page = (out / "labels/d/ann/index.html").read_text()
    assert 'href="../../../sheets/d/index.html#row=i1"' in page
    assert found_in(out)["item", "i1"] == "sheets/d/index.html#row=i1"


# --------------------------------------------------------------------------------------------------- search


def test_everything_can_be_found_and_its_link_leads_to_a_page(project: Project) -> None:
    """Each record of the small project is an entry, and the path of every entry is a file of the site."""
    out = build(small(project))
    found = found_in(out)
    for key in (
        ("dataset", "d"), ("item", "i1"), ("item", "own"), ("label set", "ann"), ("reference set", "outcome"),
        ("capture", "c"), ("arm", "cheap"), ("run", "cheap_20261002T000000Z"), ("page", "Arms"),
        ("guide", topics()[0].page.title),
    ):  # fmt: skip
        assert key in found, key
    for key, path in found.items():
        assert (out / path.partition("#")[0]).is_file(), (key, path)


def test_hostile_names_stay_in_their_line(project: Project) -> None:
    """No id or text ends the script, a line or a column; every link still leads to a page."""
    from urllib.parse import unquote

    out = build(hostile(project))
    raw = (out / "search" / "data.js").read_text(encoding="utf-8")
    assert not re.search(r"[<>&\u2028\u2029\u202e\x00]", raw)
    for key, path in found_in(out).items():
        assert (out / unquote(path.partition("#")[0])).is_file(), (key, path)


def test_script_json_holds_nothing_that_ends_a_script() -> None:
    """The five characters are written as escapes, and JSON reads the same value back."""
    value = {"a": "</script><!-- & \u2028\u2029 é"}
    text = script_json(value)
    assert text == '{"a":"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029 é"}'
    assert json.loads(text) == value


def test_a_large_index_is_sharded(monkeypatch: Any) -> None:
    """60,001 entries: words lie in shards by their order, entries in parts of 1,000; a common word is cut."""
    made = search.Index()
    for n in range(60_001):
        made.add(
            "item", f"item-{n:06}", f"items/d/item-{n:06}.html", f"report about {'tea' if n % 7 else 'milk'}"
        )
    files = {file.path: file for file in search.files(made)}
    head = json.loads(files["search/data.js"].make().decode()[len('evhSearch("data", ') : -3])
    assert head["part"] == 1_000
    assert len([path for path in files if path.startswith("search/e")]) == 61
    assert head["shards"] == sorted(head["shards"])
    at = max(n for n, start in enumerate(head["shards"]) if start <= "059999")
    shard = json.loads(files[f"search/s{at}.js"].make().decode().partition(", ")[2][:-3])["lines"].split("\n")
    assert "059999\t59999\t" in shard
    lines = "\n".join(
        json.loads(file.make().decode().partition(", ")[2][:-3])["lines"]
        for path, file in files.items()
        if path.startswith("search/s")
    )
    milk = next(line for line in lines.split("\n") if line.startswith("milk\t")).split("\t")
    assert milk[2] == "+"
    steps = [int(step) for step in milk[1].split(" ")]
    assert (len(steps), steps[:3]) == (5_000, [0, 7, 7])


# ------------------------------------------------------------------------------------------- guide, Markdown


def test_the_guide_has_a_page_a_topic() -> None:
    """Every Markdown file of evh/guide is a topic with a title, and links between them are those of pages."""
    names = {path.stem for path in (Path(__file__).parents[2] / "evh" / "guide").glob("*.md")}
    assert {one.name for one in topics()} == names
    assert all(one.page.title for one in topics())


def test_a_document_keeps_links_to_other_pages() -> None:
    """`[x](configs.md#a)` becomes the page's; any other relative link stays text; headings get places."""
    made = document(
        "# Title\n\nLead *here*.\n\n## One `two`\n\n"
        "[x](configs.md#a) [y](../etc) [z](https://e.org)\n\n## One two\n"
    )
    assert (made.title, made.lead) == ("Title", "Lead here.")
    assert [(one.title, one.anchor) for one in made.sections] == [
        ("One two", "one-two"),
        ("One two", "one-two-2"),
    ]
    assert '<a href="configs.html#a">x</a>' in made.html
    assert "[y](../etc)" in made.html
    assert '<a href="https://e.org" rel="noopener noreferrer nofollow">z</a>' in made.html
    assert "<h1" not in made.html


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<script>x</script>", "<script"),
        ("![i](https://e.org/x.png)", "<img"),
        ("[x](javascript:1)", "href"),
        ("[x](data:text/html,1)", "href"),
        ("| a |\n|--:|\n| 1 |", "style="),
        ('<https://e.org/"onclick=1>', "onclick=1>"),
    ],
)
def test_markdown_of_others_is_inert(text: str, never: str) -> None:
    """No raw HTML, image, style, script link or stray attribute comes out of Markdown."""
    assert never not in render(text)
    assert never not in document(text).html


# ------------------------------------------------------------------------------ what a set is good for


def test_an_arms_own_labels_are_not_offered_for_promotion(project: Project) -> None:
    """A person's set ends with the command that promotes it, an arm's with a sheet for a person."""
    made = small(project)
    source = {"kind": "model", "run_id": "best_1", "config_id": "best"}
    Builder(made).labels("d", "by_arm", {"i1": "yes"}, source=source)
    Builder(made).labels("d", "by_ann", {"i1": "yes"})
    folder = build(made)
    of_arm = " ".join(commands(folder / "labels" / "d" / "by_arm" / "index.html"))
    of_ann = " ".join(commands(folder / "labels" / "d" / "by_ann" / "index.html"))
    assert ("reference-promote" in of_arm, "label-sheet" in of_arm) == (False, True)
    assert "reference-promote --dataset-id d --labels by_ann" in of_ann
