"""A public build: what it leaves out, and that nothing of it is in any byte that was built."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cached_property
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import labels
from evh.project.find import Project
from evh_build import leaks, shown, site
from evh_build.gather import Gathered
from evh_build.public import PublicGathered
from tests.evh_build.public_of import build, everything, noted
from tests.helpers import Builder, tree_bytes

SECRET_NOTE = "the buyer called Ottokar twice about this invoice on Friday"
SECRET_TEXT = "Dear Ms Quillfeather, your mortgage of 412,000 was declined on the ninth of May\n"
SECRET_OUTPUT = "the applicant earns far too little for the house in Marlow Street"
CANARIES = [
    "quillfeather", "ottokar", "marlow street", "loans_2026", "ada_private", "loans_capture", "loans_arm_7",
    "marlowe", "workstation-17", "gpu-box-9", "loan-0001", "loan-0002", "secret guideline", "unread_folder",
    "trace-55-x", "sk-hidden",
]  # fmt: skip
"""Words of the private half that must be in no byte of a public build."""


def public_project(project: Project) -> Project:
    """Write a public and a private dataset that share bytes, and records that cross between them."""
    made = Builder(project)
    records = [{"record_id": f"r{n}"} for n in range(1, 4)]
    path = {"kind": "jsonl", "path": "/home/marlowe/exports/unread_folder/may.jsonl", "sha256": "0" * 64}
    made.capture("tickets_capture", records, source=path | {"host": "workstation-17"})
    made.capture("loans_capture", records, source=path)
    lineage = {f"t{n}": {"capture": "tickets_capture", "record_id": f"r{n}"} for n in range(1, 4)}
    lineage["t3"] = {"dataset": "loans_2026", "item_id": "loan-0001", "pick": "trace-55-x"}
    made.dataset(
        "tickets_pub", {"t1": "printer is broken\n", "t2": "screen is dark\n", "t3": "both share this\n"},
        visibility="public", task="triage", lineage=lineage, parent="loans_2026",
        description="Made to go with loans_2026.",
    )  # fmt: skip
    made.dataset(
        "loans_2026", {"loan-0001": SECRET_TEXT, "loan-0002": "both share this\n"},
        visibility="private", task="triage", governed=True,
        lineage={"loan-0001": {"capture": "loans_capture"}}, description="Letters of Ottokar",
    )  # fmt: skip
    yes = made.labels("tickets_pub", "ann", {"t1": "yes", "t2": "no", "t3": "yes"})
    hidden = made.labels("loans_2026", "ada_private", {"loan-0001": "no", "loan-0002": "no"})
    noted(project, "tickets_pub", "noted", {"t1": "as in loans_2026", "t2": "dust on the fuse"})
    noted(project, "loans_2026", "noted_hidden", {"loan-0001": SECRET_NOTE})
    made.reference("gold/open", yes, reason="as loans_2026 was done")
    made.reference("gold/crossed", yes, promoted_from={
        "labels": [hidden.ref], "source": [{"kind": "person", "by": "ada"}], "labels_sha256": ["0" * 64]
    })  # fmt: skip
    made.labels(
        "tickets_pub", "settled", {"t3": "no"}, parents=({"set": hidden.ref, "labels_sha256": "0" * 64},)
    )
    local = {
        "provider": "openai", "model": "m", "base_url": "http://gpu-box-9:8000/v1",
        "api_key_env": "LOANS_KEY", "prompt_file": "/home/marlowe/p.txt", "temperature": 0.5,
    }  # fmt: skip
    made.config("open_arm", params=local, dataset_id="tickets_pub", fitted_on=("loans_2026",))
    made.config("loans_arm_7", params={"provider": "echo"}, dataset_id="loans_2026")
    decided = {"t1": "yes", "t2": "no", "t3": "yes"}
    made.run("open_arm", "tickets_pub", decided, params=local, against="gold/open",
             scores={key: {"correct": 1.0} for key in decided}, primary_metric="correct",
             fingerprint={"host": {"name": "workstation-17"}, "hash": "f" * 64})  # fmt: skip
    made.run("crossed_arm", "tickets_pub", decided, against="gold/crossed",
             scores={key: {"correct": 0.0} for key in decided}, primary_metric="correct")  # fmt: skip
    made.run("loans_arm_7", "loans_2026", {"loan-0001": SECRET_OUTPUT, "loan-0002": "no"})
    made.pick("tickets_pub", "t1", targets=("loans_2026",), note="for the loans")
    made.pick("tickets_pub", "t2", targets=("tickets_pub",), note="keep; loans_2026 has it too")
    made.pick("loans_2026", "loan-0001", targets=("tickets_pub",), note=SECRET_NOTE)
    return project


@pytest.mark.parametrize("sheets", [False, True])
def test_no_byte_tells_what_is_hidden(project: Project, sheets: bool) -> None:
    """Private ids, texts, notes, guidelines, users and hosts are in no file; the public half is."""
    if sheets:
        (project.root / "evh.toml").write_text("[catalog]\npublic_sheets = true\n")
        project = Project.find(home=project.root)
    built = build(public_project(project))
    files = everything(built.index.parent)
    for path, text in files.items():
        for canary in CANARIES:
            assert canary not in text, (path, canary)
            assert canary not in path.lower()
    assert "printer is broken" in files["items/tickets_pub/t1.html"]
    assert (
        "dust on the fuse"
        in files["labels/tickets_pub/noted/index.html"] + files["items/tickets_pub/t2.html"]
    )
    assert "0.5" in files["arms/open_arm/index.html"]
    assert any(path.startswith("sheets/") for path in files) == sheets


def test_what_is_left_out_is_told_with_its_reason(project: Project) -> None:
    """What was made of something hidden is hidden too, through references and runs."""
    told = {(one.noun, one.name): one.why for one in build(public_project(project)).left_out}
    assert told == {
        ("dataset", "loans_2026"): "private",
        ("capture", "loans_capture"): "no public dataset was made of it",
        ("label set", "loans_2026/ada_private"): "of a dataset that is not shown",
        ("label set", "loans_2026/noted_hidden"): "of a dataset that is not shown",
        ("label set", "tickets_pub/settled"): "settled from labels that are not shown",
        ("reference set", "gold/crossed"): "promoted from labels that are not shown",
        ("run", "runs/crossed_arm_20261001T000000Z"): "scored against a reference that is not shown",
        ("run", "runs/loans_arm_7_20261001T000000Z"): "on a dataset that is not shown",
        ("arm", "loans_arm_7"): "no public dataset is its own and none of its runs is shown",
        ("pick", "loans_2026/loan-0001"): "of a private dataset",
    }


def test_figures_are_made_of_what_is_shown_alone(project: Project) -> None:
    """Agreement counts no hidden set: without one another set of the same bytes there is one pair fewer."""
    public_project(project)
    whole, part = Gathered(project).report("tickets_pub"), PublicGathered(project).report("tickets_pub")
    assert whole is not None
    assert part is not None
    refs = [{one.ref for task in report.tasks for one in task.sets} for report in (whole, part)]
    assert "loans_2026/ada_private" in refs[0]
    assert refs[1] == {"tickets_pub/ann", "tickets_pub/noted", "gold/open"}


def test_texts_that_may_not_be_redistributed_are_left_out(project: Project) -> None:
    """A public dataset without that right shows ids, short decisions and figures, and none of its texts."""
    made = Builder(project)
    text = "the quick brown fox jumps over the lazy dog and then it sleeps\n"
    made.dataset("news_items", {"n1": text}, visibility="public", redistributable=False)
    output = "It says that the quick brown fox jumps over the lazy dog and then sleeps"
    run = made.run("arm_of_news", "news_items", {"n1": output * 4})
    assert run.run_id
    built = build(project)
    files = everything(built.index.parent)
    assert "items/news_items/n1.html" in files
    for path, held in files.items():
        assert "brown fox" not in held, path


def test_a_quote_of_such_a_text_is_refused_by_page(project: Project) -> None:
    """A description that quotes eight words of it stops the build, naming the page; no site is made."""
    made = Builder(project)
    text = "the quick brown fox jumps over the lazy dog and then it sleeps\n"
    made.dataset(
        "news_items", {"n1": text}, visibility="public", redistributable=False,
        description="For example: The quick brown fox jumps over the *lazy* dog.",
    )  # fmt: skip
    with pytest.raises(Refusal) as refused:
        build(project)
    assert refused.value.code == "must-not-be-published"
    assert "datasets/news_items/index.html: it quotes an item of news_items" in refused.value.why
    assert not (project.root / ".build" / "public").exists()


def test_a_secret_in_an_output_is_refused_by_page_and_kind(project: Project) -> None:
    """A key in a public output names the page and the kind, and never repeats the key."""
    made = Builder(project)
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    made.dataset("tickets_pub", {"t1": "printer\n"}, visibility="public")
    made.run("open_arm", "tickets_pub", {"t1": f"use {key}"})
    with pytest.raises(Refusal) as refused:
        build(project)
    assert "items/tickets_pub/t1.html: github-token (ghp_…)" in refused.value.why
    assert key not in str(refused.value)


def test_a_public_text_that_names_the_hidden_is_refused(project: Project) -> None:
    """An item's own text is never changed: where it names a private dataset the build says so and stops."""
    made = Builder(project)
    made.dataset("tickets_pub", {"t1": "see loans_2026 for more\n"}, visibility="public")
    made.dataset("loans_2026", {"l1": "private\n"})
    with pytest.raises(Refusal) as refused:
        build(project)
    assert any("it names loans_2026, which is hidden" in line for line in refused.value.why)


def test_an_ordinary_word_may_be_the_id_of_something_hidden(project: Project) -> None:
    """A private dataset `printer` forbids no word; a hidden item's id may stand in a shown text."""
    made = Builder(project)
    made.dataset("tickets_pub", {"t1": "the printer; see CVE-2024-0001\n"}, visibility="public")
    made.dataset("printer", {"CVE-2024-0001": "private\n"})
    assert build(project).n_pages > 0


def test_local_and_public_folders_stay_what_they_are(project: Project) -> None:
    """A folder built public is not rebuilt private, and the reverse; both refusals leave it as it was."""
    made = Builder(project)
    made.dataset("tickets_pub", {"t1": "printer\n"}, visibility="public")
    public = build(project).index.parent
    local = site.commit(project, site.plan(project)).index.parent
    assert public == project.root / ".build" / "public"
    assert [json.loads((one / "manifest.json").read_bytes())["public"] for one in (public, local)] == [
        True,
        False,
    ]
    for out, is_public in ((public, False), (local, True)):
        before = tree_bytes(out)
        with pytest.raises(Refusal) as refused:
            site.plan(project, out=out, public=is_public)
        assert refused.value.code == "other-catalog"
        assert tree_bytes(out) == before


def test_no_page_offers_to_label_or_pick(project: Project) -> None:
    """Outside the guide no command of the labelling kind is on a public page; with public_sheets they are."""
    public_project(project)
    command = re.compile(r"<code[^>]*>evh (?:pick|label-|adjudicate)")

    def offers(folder: Path) -> list[str]:
        return [p for p, t in everything(folder).items() if not p.startswith("guide/") and command.search(t)]

    assert offers(build(project).index.parent) == []
    (project.root / "evh.toml").write_text("[catalog]\npublic_sheets = true\n")
    assert offers(build(Project.find(home=project.root)).index.parent) != []


def test_files_for_hosts_and_search_engines(project: Project) -> None:
    """_headers, robots.txt and sitemap.xml are there, each as its readers expect; a local build has none."""
    made = Builder(project)
    made.dataset("tickets_pub", {"t1": "printer\n"}, visibility="public")
    out = build(project, base_url="https://example.org/a&b").index.parent
    sitemap = (out / "sitemap.xml").read_text()
    assert "<loc>https://example.org/a&amp;b/</loc>" in sitemap
    assert "<loc>https://example.org/a&amp;b/items/tickets_pub/t1.html</loc>" in sitemap
    assert (out / "robots.txt").read_text().splitlines()[-1] == "Sitemap: https://example.org/a&b/sitemap.xml"
    headers = (out / "_headers").read_text()
    assert "X-Content-Type-Options: nosniff" in headers
    assert "/assets/*\n  Cache-Control: public, max-age=31536000, immutable" in headers
    base = (Path(__file__).resolve().parents[2] / "site_templates" / "base.html").read_text()
    csp = re.search(r'Content-Security-Policy" content="([^"]*)"', base)
    assert csp is not None
    assert f"Content-Security-Policy: {csp[1]}; frame-ancestors" in headers
    build(project, index=False)
    assert (out / "robots.txt").read_text() == "User-agent: *\nDisallow: /\n"
    assert "noindex" in (out / "_headers").read_text()
    assert not (out / "sitemap.xml").exists()
    local = site.commit(project, site.plan(project)).index.parent
    assert not any((local / name).exists() for name in ("_headers", "robots.txt", "sitemap.xml"))


@pytest.mark.parametrize(
    "url",
    ["example.org", "ftp://example.org/", "https://", "https://u:p@example.org/", "https://e.org/?q=1",
     "https://e.org/#a", 'https://e.org/"<', "https://e.org/a b", "https://[::1"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(project: Project, url: str) -> None:
    """Nothing but an http(s) address of a folder goes into a sitemap."""
    with pytest.raises(Refusal) as refused:
        site.plan(project, public=True, base_url=url)
    assert refused.value.code == "bad-base-url"


def test_options_of_a_public_build_alone_are_refused_on_a_local_one(project: Project) -> None:
    """Both reasons at once."""
    with pytest.raises(Refusal) as refused:
        site.plan(project, base_url="https://example.org/", index=False)
    assert len(refused.value.why) == 2


def test_a_public_build_that_changes_nothing_makes_nothing(project: Project) -> None:
    """A second one, one that asks every file, and one that reads all of it leave the files as they are."""
    public_project(project)
    out = build(project).index.parent
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("*")}
    for options in ({}, {"verify": True}, {"rehash": True}):
        assert build(project, **options).nothing_changed
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("*")} == before


def test_a_dataset_made_private_is_gone_at_the_next_build(project: Project) -> None:
    """Pages that were taken over are looked at again when something else is hidden."""
    made = Builder(project)
    made.dataset("tickets_pub", {"t1": "printer\n"}, visibility="public")
    made.dataset("loans_2026", {"l1": SECRET_TEXT}, visibility="public")
    out = build(project).index.parent
    assert (out / "items" / "loans_2026" / "l1.html").exists()
    path = project.data / "datasets" / "loans_2026.json"
    path.write_text(path.read_text().replace('"public"', '"private"'))
    build(project)
    assert all("loans_2026" not in text and "quillfeather" not in text for text in everything(out).values())


def test_every_way_to_a_record_is_filtered(project: Project) -> None:
    """What Gathered offers is overridden in PublicGathered, or made of what is: new ways are thought of."""
    made_of_others = {
        "datasets", "label_sets", "references", "runs", "arms", "sheet", "report", "set_texts",
        "reference_texts", "predictions", "outputs", "outputs_chain", "text_places", "digest", "kept", "view",
        "with_sheets", "kept_of", "is_sound", "places_of",
    }  # fmt: skip
    ways = {name for name in vars(Gathered) if not name.startswith("__")}
    own = {name for name in vars(PublicGathered) if not name.startswith("__")}
    assert {name for name in ways - own if not name.startswith("_")} == made_of_others - own
    assert isinstance(vars(PublicGathered)["sources"], cached_property)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("loans_2026", True),
        ("<b>loans_2026</b>", True),
        ("loans_<wbr>2026", True),
        ("loans_2026.csv", True),
        ("x/loans_2026/y", True),
        ("loans\\u005f2026", True),
        ("loans&#95;2026", True),
        ("loans%5F2026", True),
        ("loans_20261", False),
        ("my-loans_2026", False),
    ],
)
def test_an_id_is_found_as_a_whole_word_however_it_is_written(
    project: Project, text: str, found: bool
) -> None:
    """Entities, escapes of scripts and percent-encoding are undone; a longer word is another id."""
    watch = leaks.Watch(project, _hidden("loans_2026"), leaks.Probes(), frozenset())
    assert bool(watch.check("a.html", f"<p>{text}</p>".encode())) is found


def test_compressed_data_of_a_script_is_looked_into(project: Project) -> None:
    """gzip in base64, as a sheet's data has it, hides nothing."""
    packed = base64.b64encode(gzip.compress(b'{"a": "the loans_2026 set"}' * 3, mtime=0)).decode()
    watch = leaks.Watch(project, _hidden("loans_2026"), leaks.Probes(), frozenset())
    assert watch.check("sheets/d/data.js", f'evhData("{packed}")'.encode()) == [
        "sheets/d/data.js: it names loans_2026, which is hidden"
    ]


def test_where_the_project_lies_is_never_published(project: Project) -> None:
    """The project's folder in a page is found and told by its kind."""
    watch = leaks.Watch(project, _hidden(), leaks.Probes(), frozenset())
    found = watch.check("a.html", f"<p>{project.root}/data</p>".encode())
    assert found
    assert "project-folder" in found[0]


def _hidden(*names: str) -> shown.Shown:
    none: frozenset[str] = frozenset()
    return shown.Shown(
        datasets=none, texts=none, captures=none, sets=none, references=none, runs=none, configs=none,
        goals=none, judges=none, left_out=(), names=frozenset(names), ids=frozenset(names),
    )  # fmt: skip


def test_evhs_own_words_are_no_secret(project: Project) -> None:
    """A hidden reference's caveat is a sentence of evh's: a public note may have it, and the guide too."""
    public_project(project)
    caveat = "Its sets were made by different guidelines, it leaves 2 texts of differing answers."
    hidden = labels.read(project, "loans_2026", "ada_private")
    Builder(project).reference("silver/loans_2026_ref", hidden, caveat=caveat)
    noted(project, "tickets_pub", "caveated", {"t1": caveat})
    guide = "One YAML file an arm, written by people"
    noted(project, "loans_2026", "guided", {"loan-0001": f"{guide}: data configs config yaml"})
    assert build(project).n_pages
