"""Projects for the catalog's tests: a small one with all the nouns, and one whose every text is hostile."""

from __future__ import annotations

from typing import Any

from evh.acts import judge, judge_validate, promote
from evh.project import models
from evh.project.find import Project
from evh.records.model import Model
from evh.store import spreadsheet
from evh.store.hashing import sha256
from tests.helpers import Builder

SCRIPT = "<script>window.ran = 1</script>"
QUOTES = "\" onmouseover='window.ran=1' x=\"`"
LINK = "[click](javascript:window.ran=1) <a href='javascript:1'>x</a> ![i](http://example.org/i.png)"
BIDI = "abc\u202efdp.exe\u2066\u200b\ufeff"
CONTROL = "a\x1b[31mred\x07\x00b"
HOSTILE_IDS = [
    "../../../etc/passwd",
    "a/b\\c",
    "CON",
    ".hidden",
    "index",
    "<img src=x onerror=1>",
    "x\u202ey",
    "%2e%2e",
    "a#b?c=d&e",
    "UPPER",
    "upper",
    "'; DROP TABLE items; --",
    "日本語 " + "長" * 60,
]


def small(project: Project) -> Project:
    """Write two datasets, three label sets, a reference, a capture, a recorded arm, a candidate, a pick."""
    made = Builder(project)
    records = [{"record_id": f"r{n}", "ts": f"2026-09-0{n}T00:00:00Z"} for n in range(1, 5)]
    made.capture("c", records, time_range=("2026-09-01T00:00:00Z", "2026-09-04T00:00:00Z"))
    texts = {f"i{n}": f"report {n}\n" for n in range(1, 5)}
    lineage = {f"i{n}": {"capture": "c", "record_id": f"r{n}"} for n in range(1, 5)}
    fields = {f"i{n}": {"vendor": "acme" if n < 3 else "zeta", "year": 2020 + n} for n in range(1, 5)}
    made.dataset("d", texts, task="triage", fields=fields, lineage=lineage)
    made.dataset("v1", {"old": "report 1\n", "own": "only here\n"}, task="triage", governed=True)
    rule = {"kind": "rule", "capture": "c", "rules_file": "rules/outcome.yaml", "rules_sha256": "0" * 64}
    rules = (
        {"name": "listed", "because": "it was listed", "n_matched": 2, "n_labelled": 2, "n_preceding": 1,
         "n_timed": 2, "reads_output": False},
    )  # fmt: skip
    outcome = made.labels(
        "d", "outcome", {"i1": "yes", "i2": "yes", "i3": "no", "i4": '{"accept": ["maybe", "no"]}'},
        source=rule, rules=rules,
    )  # fmt: skip
    made.labels("d", "ann", {"i1": "yes", "i2": "no", "i3": "no"})
    made.labels("d", "tone", {"i1": "calm"}, task="tone")
    made.reference("silver/outcome", outcome)
    made.config("production", params={"provider": "recorded", "capture": "c"})
    made.config("cheap", params={"provider": "echo", "model": "small"})
    decided = {"i1": "yes", "i2": "no", "i3": "no", "i4": "yes"}
    right = {"i1": 1.0, "i2": 0.0, "i3": 1.0, "i4": 0.0}
    run = made.run("production", "d", decided, params={"provider": "recorded", "capture": "c"})
    made.rescored(
        run, decided, {key: {"correct": value} for key, value in right.items()}, against="silver/outcome",
        figures={"balanced_accuracy": 0.5, "correct": 0.5}, primary_metric="correct",
    )  # fmt: skip
    guessed = {"i1": "yes", "i2": "yes", "i3": "yes", "i4": None}
    run = made.run("cheap", "d", guessed, at="20261002T000000Z", n_errors=1)
    made.rescored(
        run, guessed, {"i1": {"correct": 1.0}, "i2": {"correct": 1.0}, "i3": {"correct": 0.0}},
        against="silver/outcome", figures={"balanced_accuracy": 0.75, "correct": 2 / 3},
        primary_metric="correct",
    )  # fmt: skip
    made.pick("d", "i2", targets=("v1",), tags={"case": "missed"}, note="look")
    return project


def hostile(project: Project) -> Project:
    """Write a project in which every text that comes from outside tries to be more than text."""
    made = Builder(project)
    bad = [SCRIPT, QUOTES, LINK, BIDI, CONTROL, "</textarea></script>" + SCRIPT, "{{ 7 * 7 }}{% raw %}"]
    texts = {item_id: f"{n} {bad[n % len(bad)]}" for n, item_id in enumerate(HOSTILE_IDS)}
    texts["huge"] = "x" * 50_000 + SCRIPT
    fields = {item_id: {QUOTES: SCRIPT, "n": n} for n, item_id in enumerate(texts)}
    lineage = {item_id: {"record_id": SCRIPT, "capture": "../../x"} for item_id in texts}
    made.dataset("index.html", texts, task=SCRIPT, fields=fields, lineage=lineage, description=LINK + SCRIPT)
    labels = {item_id: bad[n % len(bad)].replace("\x00", "") for n, item_id in enumerate(texts)}
    held = made.labels("index.html", "s", labels, source={"kind": "person", "by": SCRIPT}, imported_by=QUOTES)
    made.reference("gold/r", held, reason=SCRIPT + BIDI, promoted_by=QUOTES, caveat=LINK)
    made.config("arm", params={"provider": "recorded", "model": SCRIPT, "capture": "../../x", "k": [QUOTES]})
    decisions = {item_id: bad[(n + 1) % len(bad)] for n, item_id in enumerate(texts)}
    scores = {item_id: {"correct": 0.0, "<b>": 1.0} for item_id in texts}
    made.run(
        "arm", "index.html", decisions, scores=scores, against="gold/r", primary_metric="correct",
        params={"provider": "recorded", "model": SCRIPT}, adapter=SCRIPT,
    )  # fmt: skip
    made.pick("index.html", HOSTILE_IDS[0], targets=("index.html",), tags={SCRIPT: QUOTES}, note=LINK)
    return project


DECIDED = tuple(f"i{n:02}" for n in range(12))


def decided(project: Project) -> Project:
    """Write a goal whose first baseline another replaced, a capture that matches in part, and a judge.

    Twelve items labelled by a person, ``yes`` on the even ones. ``best`` is right on all, ``near`` on eleven,
    ``far`` on two; production recorded what ``best`` says but on one item. Of four captured records one was
    made by an older model, two match, one names no model. The judge ``helpful`` preferred ``best`` to ``far``
    on ten items in both orders, people on eight of them: it is validated. ``tone`` judged nothing and is not.
    """
    made = Builder(project)
    ran = {"model": "agent-2", "prompt_version": "p2"}
    records: list[dict[str, Any]] = [
        {"record_id": f"r{n}", "ts": f"2026-09-0{1 + n // 2}T09:00:00Z", "production": told}
        for n, told in enumerate(({**ran, "model": "agent-1"}, ran, ran, None))
    ]
    made.capture("c", records, time_range=("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z"))
    lineage = {item: {"capture": "c", "record_id": f"r{at % 4}"} for at, item in enumerate(DECIDED)}
    made.dataset("d", {item: f"question {item}\n" for item in DECIDED}, task="triage", lineage=lineage)
    labels = {item: "no" if at % 2 else "yes" for at, item in enumerate(DECIDED)}
    made.reference("gold/ann", made.labels("d", "ann", labels))
    turned = {"yes": "no", "no": "yes"}

    def says(*wrong: int) -> dict[str, str | None]:
        return {
            item: turned[labels[item]] if at in wrong else labels[item] for at, item in enumerate(DECIDED)
        }

    params = {
        "provider": "openai", "model": "agent-2", "prompt": "Is it {{item}}?", "prompt_version": "p2",
        "temperature": 0.0,
    }  # fmt: skip
    models.update(
        project,
        "agent",
        lambda _: Model(
            "agent", upstream="agent-2", deployment={"tag": "v2"}, settings={"temperature": 0.5},
            prices={"usd_per_mtok_in": 2.5}, created_at="2026-09-01T00:00:00Z",
        ),
    )  # fmt: skip
    made.config("production", params={"provider": "recorded", "capture": "c"})
    for name in ("best", "near", "far"):
        made.config(name, params=params, model_record="agent")
    recorded = {"provider": "recorded", "capture": "c"}
    arms = (
        ("production", says(1), "20261001T000000Z", recorded),
        ("best", says(0, 1), "20260901T000000Z", {**params, "temperature": 0.5}),
        ("best", says(), "20261001T000000Z", params),
        ("near", says(2), "20261001T000000Z", params),
        ("far", says(*range(10)), "20261001T000000Z", params),
    )
    for name, decisions, at, sent in arms:
        scores = {item: {"correct": float(decisions[item] == labels[item])} for item in DECIDED}
        made.run(
            name, "d", decisions, at=at, scores=scores, against="gold/ann", params=sent, adapter="default",
            fingerprint={
                "version": 2, "hash": sha256(repr(sent).encode()),
                "arm": {"config_id": name, "temperature": sent.get("temperature")},
                "system_under_test": {"model": sent.get("model")},
            },
        )  # fmt: skip
    goals = project.data / "goals"
    goals.mkdir()
    text = "question: Which arm answers?\ndatasets: [d]\nmetric: correct\nagainst: gold/ann\n"
    (goals / "answers.yaml").write_text(text)
    for name, reason in (("near", "the first that was good enough"), ("best", "right on every item")):
        run = f"runs/{name}_20261001T000000Z"
        promote.commit(project, promote.plan(project, run, "answers", reason=reason))
    _judged(project, made)
    return project


def _judged(project: Project, made: Builder) -> None:
    """Write the judges, and what one of them said of `best` and `far` in both orders."""
    folder = project.data / "judges"
    folder.mkdir()
    rubric = "rubric: Which answer is right?\n"
    (folder / "helpful.yaml").write_text(f"scorer: helpful\nkind: pairwise\njudges: [asker]\n{rubric}")
    (folder / "tone.yaml").write_text(f"scorer: tone\nkind: grade\njudges: [asker]\n{rubric}")
    made.config("asker", params={"provider": "openai", "model": "asker"})
    pairs = (("best", "far"), ("far", "best"))
    rows = [[item, first, second, "best"] for item in DECIDED[:10] for first, second in pairs]
    path = project.root / "verdicts.csv"
    path.write_bytes(spreadsheet.write_rows(["item_id", "first", "second", "verdict"], rows))
    judge.commit(project, judge.plan(project, "helpful", "d", ["best", "far"], verdicts=path))
    said = dict.fromkeys(DECIDED[:8], "best") | dict.fromkeys(DECIDED[8:10], "far")
    made.labels("d", "who", said, task="who is best")
    judge_validate.write(project, judge_validate.measure(project, "helpful", "d/who"))
