"""A public build where someone tries to have it tell more, and where what it reads tells less than all."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.project import labels
from evh.project.find import Project
from evh_build import leaks, shown, withheld
from evh_build.gather import Gathered
from evh_build.public import PublicGathered
from tests.conftest import CommandLine
from tests.evh_build.public_of import build, everything, noted
from tests.helpers import Builder

NONE: frozenset[str] = frozenset()
NOTHING = shown.Shown(
    datasets=NONE, texts=NONE, captures=NONE, sets=NONE, references=NONE, runs=NONE, configs=NONE, goals=NONE,
    judges=NONE, left_out=(), names=NONE,
)  # fmt: skip


def open_project(project: Project) -> Builder:
    """Write one public dataset with a label set, a reference, a capture, a config and a run."""
    made = Builder(project)
    made.capture("c1", [{"record_id": "r1"}])
    made.dataset(
        "tickets_pub", {"t1": "printer is broken\n"}, visibility="public",
        lineage={"t1": {"capture": "c1", "record_id": "r1"}},
    )  # fmt: skip
    held = made.labels("tickets_pub", "ann", {"t1": "yes"})
    made.reference("gold/open", held)
    made.config("open_arm", dataset_id="tickets_pub")
    made.run("open_arm", "tickets_pub", {"t1": "yes"})
    made.pick("tickets_pub", "t1", targets=("next_pub",))
    return made


def refused(project: Project) -> Refusal:
    """Return how a public build is refused."""
    with pytest.raises(Refusal) as found:
        build(project)
    return found.value


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("datasets/tickets_pub.json", "tickets_pub.json"),
        ("labels/tickets_pub/ann/*.json", "ann"),
        ("references/gold/open/*.json", "open"),
        ("captures/c1/*.json", "c1"),
        ("configs/open_arm.yaml", "open_arm.yaml"),
        ("runs/*/metrics.json", "open_arm_20261001T000000Z"),
        ("picks.jsonl", "picks.jsonl"),
    ],
)
def test_what_cannot_be_read_may_be_private(
    project: Project, evh: CommandLine, pattern: str, named: str
) -> None:
    """A broken record of any shelf stops the public build and its dry run, by name; no site is made."""
    open_project(project)
    found = list(project.data.glob(pattern))
    assert len(found) == 1
    found[0].write_text("{ broken: [\n")
    refusal = refused(project)
    assert refusal.code == "unread-records"
    assert any(named in line for line in refusal.why), refusal.why
    assert not (project.root / ".build" / "public").exists()
    evh.refused("unread-records", "catalog-build", "--public", "--dry-run")


@pytest.mark.parametrize("place", ["pages/home.html", "macros/runs.html", "static/extra.css"])
def test_no_template_is_a_link_to_another_file(project: Project, tmp_path: Path, place: str) -> None:
    """A link in site_templates to a file elsewhere is refused, of a template as of a static file."""
    open_project(project)
    secret = tmp_path / "elsewhere.txt"
    secret.write_text("Quillfeather's mortgage")
    link = project.root / "site_templates" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(secret)
    refusal = refused(project)
    assert refusal.code == "outside"
    assert f"site_templates/{place}" in refusal.why[0]


def test_a_folder_of_templates_is_no_link_either(project: Project, tmp_path: Path) -> None:
    """A link in place of ``static/`` or of the whole folder leads nowhere; one to a file beside it does."""
    open_project(project)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "id_rsa.css").write_text("secret")
    own = project.root / "site_templates"
    (own / "static").mkdir(parents=True)
    (own / "static" / "a.css").write_text("body {}")
    (own / "static" / "b.css").symlink_to("a.css")
    assert build(project).n_pages > 0
    (own / "static" / "a.css").unlink()
    (own / "static" / "b.css").unlink()
    (own / "static").rmdir()
    (own / "static").symlink_to(outside)
    assert refused(project).code == "outside"
    (own / "static").unlink()
    own.rmdir()
    own.symlink_to("/etc")
    assert refused(project).code == "outside"


@pytest.mark.parametrize("shelf", ["configs", "goals", "judges"])
def test_a_record_that_is_a_link_out_is_not_read(
    project: Project, tmp_path_factory: pytest.TempPathFactory, shelf: str
) -> None:
    """``data/configs/x.yaml`` → a file elsewhere is a finding, and none of that file's words are told."""
    open_project(project)
    outside = tmp_path_factory.mktemp("outside") / "passwd"
    outside.write_text("root_secret: [x\n")
    (project.data / shelf).mkdir(exist_ok=True)
    (project.data / shelf / "x.yaml").symlink_to(outside)
    gathered = Gathered(project)
    assert (set(gathered.configs), set(gathered.deciding.goals), set(gathered.deciding.judges)) == (
        {"open_arm"}, set(), set(),
    )  # fmt: skip
    told = [line for one in gathered.problems for line in (one.what, *one.why)]
    assert any(f"data/{shelf}/x.yaml" in line and "a link leads to" in line for line in told)
    assert not any("root_secret" in line for line in told)
    assert refused(project).code == "unread-records"


SETTINGS = {
    "api_base": "acme-llm",
    "baseUrl": "acme-llm",
    "gateway": "acme-llm",
    "via": "gw.acme-llm.example",
    "args": ["--host", "gpu-acme-llm:8000"],
    "command": ["python", "run.py", "--to", "https://acme-llm.example/v1"],
    "remark": "ask acme-llm first",
    "nested": {"note": "see /srv/acme-llm/prompts for it", "depth": 2},
    "model": "openai/small-4.1",
    "provider": "openai",
    "stop": ["END", "http://acme-llm"],
    "tag": "C:\\acme-llm\\weights",
    "revision": "kept under \\\\acme-llm\\share",
    "version": "registry of acme-llm:5000",
    "temperature": 0.25,
    "max_tokens": 512,
    "json": True,
    "mode": "greedy",
    "prompt_sha256": "ab" * 32,
    "libraries": {"numpy": "1.26.4", "torch": "10.1.2.3"},
}
KEPT = {
    "via": "left out",
    "args": "left out",
    "command": "left out",
    "remark": "left out",
    "nested": {"note": "left out", "depth": 2},
    "model": "openai/small-4.1",
    "provider": "openai",
    "stop": "left out",
    "tag": "left out",
    "revision": "left out",
    "version": "left out",
    "temperature": 0.25,
    "max_tokens": 512,
    "json": True,
    "mode": "greedy",
    "prompt_sha256": "ab" * 32,
    "libraries": {"numpy": "1.26.4", "torch": "left out"},
}


def test_settings_are_shown_by_a_list(project: Project) -> None:
    """Of settings that nobody listed only plain ones are shown; no page has a server, a host or a path."""
    assert withheld.settings(SETTINGS, NOTHING) == KEPT
    made = open_project(project)
    made.config("far_arm", params=SETTINGS, dataset_id="tickets_pub")
    made.run(
        "far_arm", "tickets_pub", {"t1": "no"}, params=SETTINGS, build={"commit": "ab" * 20, "via": "x:80"},
        fingerprint={"hash": "f" * 64, "system_under_test": {"provider": "openai", "params": SETTINGS}},
    )  # fmt: skip
    built = everything(build(project).index.parent)
    assert "openai/small-4.1" in built["arms/far_arm/index.html"]
    assert [path for path, text in built.items() if "acme-llm" in text] == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2026-09-01T00:00:00Z", True),
        ("adapters/own.py", True),
        ("qwen2.5:14b", True),
        ("anthropic.model-v2:1", True),
        ("yes and/or no", True),
        ("at 10.1.2.3", False),
        ("x (/home/ann/x)", False),
        ("--file=/srv/x", False),
        ("ann@acme.example", False),
        ("s3://bucket/x", False),
        ("[::1]:8000", False),
        ("~/models", False),
        ("D:\\x", False),
    ],
)
def test_an_address_or_path_is_found_within_a_text(text: str, kept: bool) -> None:
    """Addresses of any scheme, hosts with a port, paths of both kinds of system; no model's name or time."""
    assert ("note" in withheld.values({"note": text}, NOTHING)) is kept


def test_a_short_id_is_no_less_hidden(project: Project) -> None:
    """A private dataset ``h1`` is no pick's target, no config's label set, no version that took a pick."""
    made = open_project(project)
    made.dataset("h1", {"x": "private\n"})
    made.labels("h1", "s", {"x": "no"})
    made.config("arm_b", params={"provider": "echo"}, dataset_id="tickets_pub", labels="h1/s")
    made.dataset("two_pub", {"u1": "screen is dark\n", "u2": "dust\n"}, visibility="public")
    made.pick("two_pub", "u1", targets=("h1", "two_pub"), tags={"from": "h1"})
    made.pick("two_pub", "u2", targets=("h1",))
    gathered = PublicGathered(project)
    assert gathered.configs["arm_b"].labels is None
    assert gathered.sources.picks["two_pub", "u1"].targets == ("two_pub",)
    assert gathered.sources.picks["two_pub", "u1"].tags == {}
    assert ("two_pub", "u2") not in gathered.sources.picks


def test_an_item_id_that_names_a_private_dataset_is_refused(project: Project) -> None:
    """An id as an extension makes it, ``customers/i1``, tells of a private ``customers``: refused by item."""
    made = open_project(project)
    made.dataset("customers", {"i1": "private\n"})
    made.dataset("next_pub", {"customers/i1": "a line\n", "x%2Fy": "more\n"}, visibility="public")
    refusal = refused(project)
    assert refusal.code == "must-not-be-published"
    assert refusal.why == ("next_pub: customers/i1: its id names customers, which is private",)
    assert "dataset-set" in str(refusal.next)


def test_a_link_that_is_encoded_twice_is_decoded_twice(project: Project) -> None:
    """``items/d/customers%252Fi1.html`` leads to a path that names customers."""
    hidden = replace(NOTHING, names=frozenset({"customers"}))
    watch = leaks.Watch(project, hidden, leaks.Probes(), frozenset())
    assert watch.check("a.html", b'<a href="items/d/customers%252Fi1.html">x</a>') == [
        "a.html: a link leads to customers, which is hidden"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "王小姐的房贷申请在五月九日被银行拒绝了",
        "คำขอสินเชื่อบ้านของคุณถูกปฏิเสธ",
        "申請は五月九日に却下されました",
    ],
)
def test_texts_without_spaces_are_looked_for(text: str) -> None:
    """A sentence in Chinese, Thai or Japanese is found in a longer text, and not where only half of it is."""
    probes = leaks.Probes()
    probes.add([("an item of d", text)])
    assert probes.find(f"<p>x: {text} y</p>") == "an item of d"
    assert probes.find(text[: len(text) // 3]) is None
    probes.excuse([text])
    assert probes.find(text) is None


def test_a_field_that_is_the_whole_text_is_left_out(project: Project) -> None:
    """Of a text that may not spread, and of a private one, however short; other fields stay."""
    made = open_project(project)
    made.dataset("loans", {"l1": "Declined in May\n"})
    made.dataset(
        "news_pub", {"n1": "Rain in Leeds\n", "n2": "天気は雨です今日も\n"}, visibility="public",
        redistributable=False,
        fields={"n1": {"head": "rain in  Leeds", "kind": "weather"}, "n2": {"head": "天気は雨です今日も"}},
    )  # fmt: skip
    made.dataset(
        "b_pub", {"b1": "x\n"}, visibility="public", fields={"b1": {"was": "Declined in May", "n": 1}}
    )
    gathered = PublicGathered(project)
    assert gathered.datasets["news_pub"].by_id["n1"].fields == {"kind": "weather"}
    assert gathered.datasets["news_pub"].by_id["n2"].fields == {}
    assert gathered.datasets["b_pub"].by_id["b1"].fields == {"n": 1}


def test_evhs_own_words_and_a_shared_reason_are_no_leak(project: Project) -> None:
    """A hidden guideline that quotes the guide, a generated caveat, and a reason both references have."""
    made = open_project(project)
    made.dataset("loans_2026", {"l1": "private\n"})
    hidden = noted(project, "loans_2026", "noted_hidden", {"l1": "as it is"})
    guide = (files("evh") / "guide" / "labels.md").read_text(encoding="utf-8")
    noted(project, "loans_2026", "by_guide", {"l1": guide[:2_000]})
    reason = "two people read every item twice and settled what they did not agree on"
    made.reference("gold/hidden", hidden, reason=reason, caveat="Its sets were made by different guidelines.")
    made.reference("gold/shown", labels.read(project, "tickets_pub", "ann"), reason=reason)
    assert build(project).n_pages > 0


def test_a_hidden_text_in_a_shown_reason_is_still_found(project: Project) -> None:
    """A reason excuses what hidden notes say too, never the text of a hidden item."""
    made = open_project(project)
    text = "Dear Ms Quillfeather, your mortgage was declined on the ninth of May"
    made.dataset("loans_2026", {"l1": f"{text}\n"})
    made.reference("gold/shown", labels.read(project, "tickets_pub", "ann"), reason=text)
    assert any("it quotes an item of loans_2026" in line for line in refused(project).why)


def test_a_refusal_tells_of_the_site_that_still_stands(project: Project) -> None:
    """After one that was refused the old public site is there; the refusal says where, and how old it is."""
    made = open_project(project)
    out = build(project).index.parent
    when = project.now().timestamp() - 3 * 86_400 - 60
    os.utime(out / "manifest.json", (when, when))
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    told = f"; the site that was built before still stands in .build/public, as of {stamp}, 3 days old"
    made.dataset("loans_2026", {"l1": "private\n"})
    made.dataset("late_pub", {"t9": "see loans_2026\n"}, visibility="public")
    assert str(refused(project).next).endswith(told)
    (project.data / "datasets" / "broken.json").write_text("{")
    assert str(refused(project).next).endswith(told)


@pytest.mark.parametrize(
    "name",
    ["datasets/tickets_pub.json", "captures/c1", "captures/c1/capture.json", "baselines",
     "labels/tickets_pub", "references/gold/open/manifest.json",
     "runs/open_arm_20261001T000000Z/metrics.json", "runs"],
)  # fmt: skip
def test_no_shelf_is_read_through_a_link_out(
    project: Project, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """A whole record that moved out and left a link is refused, and what is there is not read."""
    open_project(project)
    (project.data / "baselines").mkdir(exist_ok=True)
    outside = tmp_path_factory.mktemp("outside") / "moved"
    (project.data / name).rename(outside)
    (project.data / name).symlink_to(outside)
    told = refused(project)
    assert told.code == "unread-records"
    assert told.why == (f"data/{name}: a link leads out of the project; it is not read",)


def test_a_link_within_the_project_is_followed(project: Project) -> None:
    """A folder of runs that lies elsewhere in the project is read."""
    open_project(project)
    (project.data / "runs").rename(project.root / "kept_runs")
    (project.data / "runs").symlink_to(project.root / "kept_runs")
    assert build(project).n_pages > 0


def test_a_decision_that_is_the_items_text_is_left_out(project: Project) -> None:
    """An arm that echoes short texts that may not spread tells none of them; its other answers stay."""
    made = open_project(project)
    made.dataset(
        "news_pub", {"n1": "Rain in Leeds\n", "n2": "Sun\n", "n3": "Wind in Ayr\n"}, visibility="public",
        redistributable=False,
    )  # fmt: skip
    said = {"n1": "rain in Leeds", "n2": "weather", "n3": "He said: wind in Ayr"}
    run = made.run("echoes", "news_pub", said)
    found = {one.item_id: one.decision for one in PublicGathered(project).predictions(run)}
    assert found["n2"] == "weather"
    assert {found["n1"], found["n3"]} == {"(text 1 is not public)", "(text 2 is not public)"}
    files = everything(build(project).index.parent)
    assert not [path for path, text in files.items() if "in leeds" in text or "in ayr" in text]


def test_a_public_log_tells_no_place_of_a_machine(project: Project) -> None:
    """The source of a chunk is told by its file's name where it was an absolute path or an address."""
    from evh.project import logs
    from evh.records.chunk import Chunk
    from evh.store.hashing import sha256_text

    sources = ["/home/bob/talks/a.txt", "C:\\Users\\bob\\b.txt", "https://acme-llm.example/c", "week/d.txt"]
    texts = [f"turn {n}" for n in range(4)]
    chunks = [Chunk(n, text, sha256_text(text), sources[n], 2) for n, text in enumerate(texts)]
    logs.write_chunks(project, "talks", chunks, 4)
    (project.root / "evh.toml").write_text('[catalog]\npublic_logs = ["talks"]\n')
    project = Project.find(home=project.root)
    told = PublicGathered(project).evidence
    assert [one.source for one in told.chunks("talks")] == ["a.txt", "b.txt", "c", "week/d.txt"]
    size = told.size("talks")
    assert size is not None
    assert size.sources == {"a.txt": 1, "b.txt": 1, "c": 1, "week/d.txt": 1}
    files = everything(build(project).index.parent)
    assert not [path for path, text in files.items() if "bob" in text or "acme" in text]
