"""The commands that evh names after evidence labels are ones that it takes, and go on as was begun."""

from __future__ import annotations

import csv
import json
import shlex

import pytest

from evh.project import evidence
from evh.project.find import Project
from evh.store import spreadsheet
from evh.store.hashing import sha256_text
from tests.acts.evidence_logs import JOURNAL, OVERLAP, TEXTS, decide, import_texts, labelled
from tests.conftest import CommandLine
from tests.servers.replies import fine, http
from tests.servers.scripted import Play, Request, Scripted

FREEZE = ("evidence-freeze", "--project", "p", "--query", "q", "--set", "s")
SLICE = "evh label-sheet --dataset-id p.q --plus-random 100 --blind --choices yes,no --out sheet.csv"


def named(text: str, of: str) -> str:
    """Return the one command of a text that begins so."""
    (found,) = [line.strip() for line in text.splitlines() if line.strip().startswith(f"evh {of}")]
    return found


def answer(request: Request) -> Play:
    """Say no to every chunk."""
    if not request.path.endswith("/chat/completions"):
        return http(404, {"detail": "Not Found"})
    return fine("No. It does not.")


@pytest.mark.parametrize(
    ("toml", "given", "told"),
    [
        ("", (), ""),
        ("", ("--model", "small one", "--think-tokens", "0"), " --model 'small one' --think-tokens 0"),
        ("", ("--repeat", "3", "--temperature", "0"), " --temperature 0.0 --repeat 3"),
        ('model = "small"\nthink_tokens = 0\n', (), ""),
        ('provider = "overlap"\n', ("--provider", "openai"), None),
    ],
)
def test_what_is_left_is_asked_as_it_was_begun(
    project: Project, evh: CommandLine, toml: str, given: tuple[str, ...], told: str | None
) -> None:
    """The command that freezing and the run itself name has the run's own options, and labels the rest."""
    (project.root / "evh.toml").write_text(f'[project]\nname = "x"\n[labeler]\n{toml}')
    import_texts(evh)
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", "Where?")
    begin = ("label-evidence", "--project", "p", "--query", "q", *given, "--journal", "j", "--limit", "4")
    with Scripted(answer) as server:
        line = named(evh.ok(*begin, "--base-url", server.base_url).out, "label-evidence")
        refused = evh.refused("unlabelled-chunks", *FREEZE, "--journal", "j").json["refused"]["next"]
        assert refused == f"{line}; or take what is there: --partial"
        if told is not None:
            url = f" --base-url {server.base_url}"
            assert line == f"evh label-evidence --project p --query q --journal j{url}{told}"
        done = evh.ok(*shlex.split(line)[1:], "--json").json
    assert done["journals"][0]["n_left"] == 0
    report = evh.ok("evidence-report", "--project", "p").out
    assert "evh evidence-freeze --project p --query q --journal j --set S" in report


def test_the_rest_of_all_questions_is_asked_as_it_was_begun(evh: CommandLine) -> None:
    """The lexical baseline's is the lexical baseline's."""
    import_texts(evh)
    for query in ("q", "r"):
        evh.ok("query-add", "--project", "p", "--query", query, "--question", "Where is it?")
    words = ("label-evidence", "--project", "p", "--all-queries", "--provider", "overlap")
    line = named(evh.ok(*words, "--limit", "4").out, "label-evidence")
    assert line == "evh label-evidence --project p --all-queries --provider overlap"
    evh.ok(*shlex.split(line)[1:])


def test_one_slice_everywhere_and_it_is_taken(project: Project, evh: CommandLine) -> None:
    """The report and the freezing name the same sheet, blind and with its choices; importing it corrects."""
    labelled(evh)
    report = evh.ok("evidence-report", "--project", "p").out
    frozen = evh.ok(*FREEZE).out
    assert named(report, "label-sheet") == named(frozen, "label-sheet") == SLICE
    sheet = project.root / "sheet.csv"
    evh.ok(*[str(sheet) if word == "sheet.csv" else word for word in shlex.split(SLICE)[1:]])
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    answers = [[row["item_id"], "yes" if row["t"] in ("0", "1") else "no"] for row in rows]
    sheet.write_bytes(spreadsheet.write_rows(["item_id", "label (yes|no)"], answers))
    evh.ok("label-import", sheet, "--dataset-id", "p.q", "--set", "ann", "--by", "ann")
    people = evh.ok("evidence-report", "--project", "p", "--json").json["journals"][0]["people"]
    assert (people["hits"], people["missed"], people["false_yes"], people["right_no"]) == (1, 1, 1, 7)


def test_after_labels_of_a_log_the_report_is_next(project: Project, evh: CommandLine) -> None:
    """Not a config: without a controller the report, with its decisions recorded the arm that they are."""
    labelled(evh)
    evh.ok(*FREEZE)
    folder = project.root / "mine"
    folder.mkdir()
    for t in range(4):
        (folder / f"{t:06d}.txt").write_text("no")
    words = ("label-import", folder, "--dataset-id", "p.q", "--by", "ann", "--set")
    assert "evh evidence-report --project p --query q" in evh.ok(*words, "ann").out
    decide(project, *((t, t, t < 4) for t in range(10)))
    line = named(evh.ok(*words, "ann2").out, "capture ")
    assert line == "evh capture --as p.q --from-file data/logs/p/updates/q.jsonl --adapter r_update"
    evh.ok(*[word.replace("data/", f"{project.data}/") for word in shlex.split(line)[1:]])
    line = named(evh.ok(*words, "ann3").out, "arm-from-capture")
    assert line == "evh arm-from-capture --dataset-id p.q --capture p.q --as controller"
    evh.ok(*shlex.split(line)[1:])
    assert "evh rescore --dataset-id p.q --labels p.q/ann4" in evh.ok(*words, "ann4").out


def test_a_journal_of_another_harness_names_no_options(project: Project, evh: CommandLine) -> None:
    """How it was asked is not known: none are made up."""
    import_texts(evh)
    evh.ok("query-add", "--project", "p", "--query", "q", "--question", "Where?")
    at = evidence.place(project, "p", "q")
    at.folder.mkdir(parents=True)
    row = {"chunk_sha": sha256_text(TEXTS[0]), "t": 0, "label": True, "why": "It says so."}
    (project.data / JOURNAL).write_text(json.dumps(row) + "\n")
    told = evh.refused("unlabelled-chunks", *FREEZE).json["refused"]["next"]
    assert told == "evh label-evidence --project p --query q; or take what is there: --partial"
    assert OVERLAP[-1] not in told
