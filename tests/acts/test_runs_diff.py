"""`evh runs --diff` and `score-preview`: exactly what differs, and what a changed scorer would move."""

from __future__ import annotations

import pytest

from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check
from tests.servers.replies import fine
from tests.servers.scripted import Request, Scripted

SCORER = "def decide(output):\n    return output.strip()\n"
LOOSER = """
def decide(output):
    return output.strip().casefold()

def score(output, reference):
    return {} if reference is None else {"correct": float(decide(output) == reference)}
"""


@pytest.fixture
def build(project: Project) -> Builder:
    """Two items with labels; an arm whose adapter is the project's own."""
    made = Builder(project)
    made.dataset("d", {"a": "Yes", "b": "no"})
    made.labels("d", "s", {"a": "yes", "b": "no"})
    write(project, SCORER)
    made.config("c", dataset_id="d", labels="d/s", adapter="../adapters/mine.py")
    made.config("other", dataset_id="d", labels="d/s")
    return made


def write(project: Project, text: str) -> None:
    """Write the adapter."""
    (project.data / "adapters").mkdir(exist_ok=True)
    (project.data / "adapters" / "mine.py").write_text(text)


def test_what_differs_key_by_key(build: Builder, evh: CommandLine) -> None:
    """A setting and the seed that differ, an item decided otherwise; the host and the build do not."""

    def play(request: Request) -> object:
        return fine("warm" if request.body.get("temperature") and request.number == 3 else "yes")

    with Scripted(play) as server:  # type: ignore[arg-type]
        params = {"provider": "openai", "model": "m", "base_url": server.base_url, "temperature": 0}
        build.config("x", dataset_id="d", params=params)
        one = evh.ok("run", "--config", "x", "--concurrency", "1", "--json").json["runs"][0]["run_id"]
        path = build.project.data / "configs" / "x.yaml"
        path.write_bytes(path.read_bytes().replace(b"temperature: 0", b"temperature: 1"))
        two = evh.ok("run", "--config", "x", "--concurrency", "1", "--json").json["runs"][0]["run_id"]
    document = evh.ok("runs", "--diff", one, two, "--json").json
    check(document, "runs-diff")
    assert [
        (row["key"], row["a"], row["b"]) for row in document["differences"] if row["moves_fingerprint"]
    ] == [
        ("system_under_test.params.temperature", 0, 1),
        ("system_under_test.request.body.temperature", 0, 1),
    ]
    assert [row["key"] for row in document["differences"] if not row["moves_fingerprint"]] == [
        "params.temperature"
    ]
    assert (document["same_fingerprint"], document["n_both"], document["changed"]) == (False, 2, ["b"])
    said = evh.ok("runs", "--diff", one, two).out
    assert "system_under_test.params.temperature: 0 → 1" in said
    assert "of 2 items that both answered 1 decided otherwise" in said


def test_runs_of_one_make_say_so(build: Builder, evh: CommandLine) -> None:
    """Two runs of one fingerprint; a run that is not here is refused."""
    runs = [evh.ok("run", "--config", "c", "--json").json["runs"][0] for _ in range(2)]
    names = [f"{row['folder']}/{row['run_id']}" for row in runs]
    document = evh.ok("runs", "--diff", *names, "--json").json
    assert (document["same_fingerprint"], document["differences"], document["changed"]) == (True, [], [])
    assert "their fingerprints have one hash" in evh.ok("runs", "--diff", *names).out
    evh.refused("no-such-run", "runs", "--diff", names[0], "nope")


def test_a_changed_scorer_is_previewed(build: Builder, evh: CommandLine) -> None:
    """Before: 1 of 2 is right. A scorer that folds case would make it 2; nothing is written."""
    evh.ok("run", "--config", "c")
    evh.ok("run", "--config", "other")
    document = evh.ok("score-preview", "--config", "c", "--json").json
    check(document, "score-preview")
    assert (document["n_moved"], [one["same_scorer"] for one in document["arms"]]) == (0, [True])
    assert "nothing would move" in evh.ok("score-preview", "--config", "c").out
    write(build.project, LOOSER)
    before = tree_bytes(build.project.root)
    document = evh.ok("score-preview", "--config", "c", "--json").json
    check(document, "score-preview")
    assert tree_bytes(build.project.root) == before
    (arm,) = document["arms"]
    assert (arm["config_id"], arm["against"], arm["same_scorer"]) == ("c", "labels/d/s", False)
    assert {"name": "correct", "before": 0.5, "after": 1.0} in arm["figures"]
    assert (arm["scores"], arm["decisions"]) == (
        ["a", "b"],
        ["a"],
    )  # b loses text_f1, which LOOSER does not give
    said = evh.ok("score-preview", "--config", "c").out
    assert "correct: 0.5000 → 1.0000" in said
    assert "evh rescore --dataset-id d" in said


def test_a_scorer_that_would_fail_is_told(build: Builder, evh: CommandLine) -> None:
    """The items on which it raises, with the line; the preview itself succeeds."""
    evh.ok("run", "--config", "c")
    write(build.project, "def decide(output):\n    return {'no': output}[output]\n")
    (arm,) = evh.ok("score-preview", "--config", "c", "--json").json["arms"]
    assert [one["item_id"] for one in arm["errors"]] == ["a"]
    assert "KeyError" in arm["errors"][0]["error"]


def test_a_preview_of_nothing_is_refused(build: Builder, evh: CommandLine) -> None:
    """No such config; an arm that has no score yet; an unknown dataset."""
    evh.refused("no-such-config", "score-preview", "--config", "nope")
    evh.refused("nothing-scored", "score-preview", "--config", "c")
    evh.refused("no-such-dataset", "score-preview", "--config", "c", "--dataset-id", "nope")
