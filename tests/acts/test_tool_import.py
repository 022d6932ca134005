"""Exports of other labelling tools: one set an annotator, what is no label said, nothing guessed.

The files of `tests/cases/exports` are made by hand in the forms that the tools' sources and documents give:
Label Studio's task format (labelstud.io/guide/task_format) and the converter of label-studio-sdk
(``converter.py``: JSON-MIN; ``exports/csv2.py``: CSV; ``utils.py``: ``prettify_result``); doccano's
``backend/data_export`` (``formatters.py``: lists in JSONL, ``A#B`` in CSV; ``celery_tasks.py``: a file for
each member in a zip, ``all`` where a project is shared); Prodigy's annotation interfaces
(prodi.gy/docs/api-interfaces) with the keys that ``db-out`` adds; argilla's ``records/_io/_generic.py``
(``to_list(flatten=True)``).
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evh.project import labels
from evh.project.find import Project
from evh.store.hashing import sha256
from tests.conftest import CommandLine
from tests.helpers import Builder, tree_bytes
from tests.schema import check

CASES = Path(__file__).parents[1] / "cases" / "exports"
TEXTS = {
    "r1": "Good case, excellent value.",
    "r2": "What a waste of money and time!",
    "r3": "The goose neck needs a little coaxing",
}
ANN, BOB = "4e9588d6-e2d6-450d-82c6-b33324d94708", "7d9588d6-e2d6-450d-82c6-b33324d94799"


@pytest.fixture
def builder(project: Project) -> Builder:
    """Three reviews."""
    made = Builder(project)
    made.dataset("d", TEXTS, task="t")
    return made


@pytest.fixture
def load(project: Project, builder: Builder, evh: CommandLine) -> Any:
    """Import an export; return (set → item → label, set → what was dropped, the document)."""
    del builder

    def call(tool: str, path: Path, *more: str) -> tuple[dict[str, dict[str, str]], dict[str, Any], Any]:
        document = check(evh.ok(*line(tool, path, *more), "--json").json, "label-import")
        read = {row["set"]: labels.read(project, "d", row["set"]) for row in document["label_sets"]}
        texts = {name: labels.texts(project, one, verify=True) for name, one in read.items()}
        return texts, {name: (one.tool or {})["dropped"] for name, one in read.items()}, document

    return call


def line(tool: str, path: Path, *more: str) -> list[str]:
    """Return the words that import an export into ``d``."""
    words = ["label-import", str(path), "--dataset-id", "d", "--set", "s", "--by", "owner", "--format", tool]
    return [*words, *more]


def write(path: Path, value: Any, *, lines: bool = False) -> Path:
    """Write an export of one's own: JSON, or JSONL."""
    text = "".join(json.dumps(row) + "\n" for row in value) if lines else json.dumps(value)
    path.write_text(text, "utf-8")
    return path


def task(number: int, text: str, results: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return a Label Studio task with one annotation by user 1."""
    annotation = {"id": number, "completed_by": 1, "was_cancelled": False, "result": results}
    return {"id": number, "data": {"text": text, **more}, "annotations": [annotation]}


def choice(*labels_: str, name: str = "q", **more: Any) -> dict[str, Any]:
    """Return a Label Studio result of type ``choices``."""
    value = {"choices": list(labels_), **more}
    return {"from_name": name, "to_name": "text", "type": "choices", "value": value}


def test_label_studio_json(project: Project, load: Any) -> None:
    """A set a person; skipped, empty and missing annotations are no labels; predictions are never read."""
    path = CASES / "label-studio.json"
    texts, dropped, document = load("label-studio", path, "--question", "sentiment", "--tool-version", "1.13")
    assert texts == {"s.ann-example.org": {"r1": "Positive"}, "s.10": {"r1": "Negative", "r2": "Negative"}}
    assert dropped == {
        "s.ann-example.org": {"skipped": 1, "no annotation": 1},
        "s.10": {"no answer": 1, "no annotation": 1},
    }
    made = labels.read(project, "d", "s.ann-example.org")
    assert made.source == {"kind": "person", "by": "ann@example.org"}
    assert (made.imported_by, made.task, made.sheet_sha256) == ("owner", "t", None)
    assert made.tool == {
        "name": "label-studio",
        "version": "1.13",
        "export_sha256": sha256(path.read_bytes()),
        "question": "sentiment",
        "dropped": {"skipped": 1, "no annotation": 1},
    }
    told = " ".join(document["warnings"])
    assert "no labels: 1 no annotation, 1 no answer, 1 skipped" in told
    assert "items found: 2 by item_id, 1 by text" in told


def test_label_studio_texts_are_labels_too(load: Any) -> None:
    """A text area is a question like any other."""
    texts, dropped, _ = load("label-studio", CASES / "label-studio.json", "--question", "why")
    assert texts == {"s.ann-example.org": {"r1": "because of the price"}}
    assert dropped["s.ann-example.org"] == {"skipped": 1, "no annotation": 1}


def test_several_questions_need_a_name(evh: CommandLine, builder: Builder) -> None:
    """One question is one set: which is asked, with the names."""
    del builder
    told = evh.refused("which-question", *line("label-studio", CASES / "label-studio.json")).json["refused"]
    assert told["why"][0].endswith("sentiment, why")
    evh.refused("which-question", *line("label-studio", CASES / "label-studio.json", "--question", "x"))


def test_label_studio_json_min_and_several_at_once(evh: CommandLine, load: Any) -> None:
    """Labels given at once are asked about: each is right, or one label; by default it is refused."""
    path = CASES / "label-studio-min.json"
    told = evh.refused("several-labels", *line("label-studio", path)).json["refused"]
    assert "task 2: sentiment: 2 labels at once: 'Negative', 'Angry'" in told["why"][0]
    assert "--several any" in told["next"]
    texts, dropped, _ = load("label-studio", path, "--several", "any")
    assert texts["s.10"] == {"r1": "Negative", "r2": '{"accept": ["Angry", "Negative"]}'}
    assert dropped["s.10"] == {"no annotation": 1}


def test_label_studio_csv(evh: CommandLine, load: Any) -> None:
    """Two questions stand among the columns; a rating is a number; several at once are JSON in the cell."""
    path = CASES / "label-studio.csv"
    told = evh.refused("which-question", *line("label-studio", path)).json["refused"]
    assert told["why"][0].endswith("sentiment, stars")
    texts, _, _ = load("label-studio", path, "--question", "stars")
    assert texts == {"s.ann-example.org": {"r1": "4"}, "s.10": {"r1": "2", "r2": "1"}}


def test_several_together_are_one_label(load: Any) -> None:
    """Joined in the order of the alphabet, so one meaning has one text."""
    texts, _, _ = load("label-studio", CASES / "label-studio-min.json", "--several", "together")
    assert texts["s.10"]["r2"] == "Angry, Negative"


def test_labels_with_a_comma_are_never_joined(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """``a, b`` and ``c`` joined would be three labels to a reader."""
    del builder
    path = write(tmp_path / "x.json", [task(1, TEXTS["r1"], [choice("a, b", "c")])])
    told = evh.refused("several-labels", *line("label-studio", path, "--several", "together")).json["refused"]
    assert "one holds a comma" in told["why"][0]


def test_doccano_zip(project: Project, load: Any, tmp_path: Path) -> None:
    """A file a member; an example without a label is none; comments are notes; other files are none."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(CASES / "doccano-ann.jsonl", "ann.jsonl")
        archive.write(CASES / "doccano-bob.jsonl", "../../bob.jsonl")
        archive.writestr("__MACOSX/._ann.jsonl", b"\x00")
    texts, dropped, document = load("doccano", path, "--several", "any")
    assert texts == {
        "s.ann": {"r1": "Positive", "r2": '{"accept": ["Angry", "Negative"]}'},
        "s.bob": {"r1": "Negative", "r2": "Negative", "r3": "C#"},
    }
    assert dropped == {"s.ann": {"no answer": 1}, "s.bob": {}}
    assert labels.read(project, "d", "s.ann").items["r1"].note == "sure\nvery"
    assert any("the names are those of the files" in told for told in document["warnings"])


def test_doccano_jsonl_and_csv(load: Any, tmp_path: Path) -> None:
    """One member's file alone; in CSV an empty cell is no label."""
    texts, _, _ = load("doccano", CASES / "doccano-bob.jsonl")
    assert texts == {"s.doccano-bob": {"r1": "Negative", "r2": "Negative", "r3": "C#"}}
    path = tmp_path / "eve.csv"
    path.write_bytes((CASES / "doccano.csv").read_bytes())
    texts, dropped, _ = load("doccano", path)
    assert texts == {"s.eve": {"r1": "Positive", "r2": "Negative"}}
    assert dropped == {"s.eve": {"no answer": 1}}


def test_doccano_csv_with_joined_labels_is_refused(
    builder: Builder, evh: CommandLine, tmp_path: Path
) -> None:
    """``C#`` may be one label or an empty one after C: only JSONL says."""
    del builder
    (tmp_path / "a.csv").write_text(f'id,text,label\n1,"{TEXTS["r1"]}",C#\n', "utf-8")
    told = evh.refused("not-a-label", *line("doccano", tmp_path / "a.csv")).json["refused"]
    assert "JSONL keeps them apart" in told["why"][0]


def test_prodigy_choice(load: Any) -> None:
    """Ignored, rejected and answered with nothing chosen are no labels; a session is an annotator."""
    texts, dropped, document = load("prodigy", CASES / "prodigy.jsonl")
    assert texts == {
        "s.reviews-ann": {"r1": "Positive", "r2": "Negative"},
        "s.reviews-bob": {"r2": "Negative"},
    }
    assert dropped == {"s.reviews-ann": {"ignored": 1}, "s.reviews-bob": {"no answer": 1, "rejected": 1}}
    assert "items found: 1 by item_id, 2 by text" in " ".join(document["warnings"])


def test_prodigy_binary_and_text(load: Any, tmp_path: Path) -> None:
    """An accepted label is one, a rejected one says what an item is not; a typed text is a label."""
    texts, dropped, _ = load("prodigy", CASES / "prodigy-binary.jsonl")
    assert texts == {"s.2026-10-11_13-28-10": {"r1": "Positive"}}
    assert dropped == {"s.2026-10-11_13-28-10": {"rejected": 1}}
    rows = [{"text": TEXTS["r1"], "user_input": "fine", "_view_id": "text_input", "answer": "accept"}]
    texts, _, document = load("prodigy", write(tmp_path / "x.jsonl", rows, lines=True))
    assert texts == {"s.unnamed": {"r1": "fine"}}
    assert any("do not say who answered" in told for told in document["warnings"])


def test_argilla_json(load: Any) -> None:
    """Only submitted answers are labels; a record's text finds the item, whatever its own id is."""
    texts, dropped, _ = load("argilla", CASES / "argilla.json", "--question", "label")
    assert texts == {f"s.{ANN}": {"r1": "Positive"}, f"s.{BOB}": {"r1": "Negative", "r2": "Positive"}}
    assert dropped == {f"s.{ANN}": {"discarded": 1, "draft": 1}, f"s.{BOB}": {}}


def test_argilla_other_forms(load: Any, tmp_path: Path) -> None:
    """JSONL, columns, and CSV whose lists are Python's hold the same as JSON; ratings are texts."""
    rows = json.loads((CASES / "argilla.json").read_bytes())
    expected = {f"s.{ANN}": {"r1": "4"}, f"s.{BOB}": {"r1": "2"}}
    jsonl = write(tmp_path / "a.jsonl", rows, lines=True)
    columns = write(tmp_path / "a.json", {name: [row[name] for row in rows] for name in rows[0]})
    import csv

    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)  # a list becomes its Python form, as pandas writes it
    (tmp_path / "a.csv").write_text(out.getvalue(), "utf-8")
    for number, path in enumerate((jsonl, columns, tmp_path / "a.csv")):
        made, _, _ = load("argilla", path, "--question", "stars", "--set", f"v{number}")
        assert {name.replace(f"v{number}.", "s."): one for name, one in made.items()} == expected


def test_a_nested_argilla_export_is_refused(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Its answers lack the status: discarded ones would pass for labels."""
    del builder
    nested = [{"id": "r1", "fields": {"text": "x"}, "responses": {"label": [{"value": "a", "user_id": "u"}]}}]
    told = evh.refused("bad-export", *line("argilla", write(tmp_path / "a.json", nested))).json["refused"]
    assert "flatten=True" in told["next"]


@pytest.mark.parametrize(
    ("code", "words", "entry"),
    [
        ("unknown-item", "task 7, annotation 7: it has no item_id", task(7, "another text", [choice("a")])),
        (
            "unknown-item",
            "annotation 7: there is no item 'r9'",
            task(7, TEXTS["r1"], [choice("a")], item_id="r9"),
        ),
        (
            "changed-text",
            "annotation 7: r2: the text that was labelled",
            task(7, TEXTS["r1"], [choice("a")], item_id="r2"),
        ),
        (
            "changed-item",
            "its item_sha256",
            task(7, TEXTS["r1"], [choice("a")], item_id="r1", item_sha256="0"),
        ),
        ("unknown-item", "several items: r1 and r2", task(7, TEXTS["r1"], [choice("a")], other=TEXTS["r2"])),
        ("not-a-label", "choices of a part of the item", task(7, TEXTS["r1"], [choice("a", start=1, end=2)])),
        ("bad-label", "it is blank", task(7, TEXTS["r1"], [choice(" ")])),
        ("bad-label", "accept", task(7, TEXTS["r1"], [choice('{"accept": []}')])),
        ("nothing-filled", "none of them answered", {"id": 7, "data": {"text": "x"}, "annotations": []}),
        ("bad-export", "it has no data", {"id": 7, "annotations": []}),
        ("bad-export", "neither annotations nor an annotator", {"id": 7}),
        ("bad-export", "entry 1 is not an object", 5),
    ],
)
def test_what_cannot_be_a_label_is_refused(  # noqa: PLR0917 - fixtures and the case
    project: Project, builder: Builder, evh: CommandLine, tmp_path: Path, code: str, words: str, entry: Any
) -> None:
    """Each with the task's number, and nothing is written."""
    del builder
    path = write(tmp_path / "x.json", [entry])
    before = tree_bytes(project.root)
    assert words in evh.refused(code, *line("label-studio", path)).json["refused"]["why"][0]
    assert tree_bytes(project.root) == before


def test_all_wrong_tasks_are_told_at_once(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Three tasks, three reasons."""
    del builder
    tasks = [task(n, f"unknown {n}", [choice("a")]) for n in (1, 2, 3)]
    assert (
        len(
            evh.refused("unknown-item", *line("label-studio", write(tmp_path / "x.json", tasks))).json[
                "refused"
            ]["why"]
        )
        == 3
    )


def test_two_answers_of_one_person_are_refused(builder: Builder, evh: CommandLine, tmp_path: Path) -> None:
    """Of one item, or of two with equal bytes; the same answer twice is counted."""
    builder.dataset("e", {"a": "same", "b": "same"})
    tasks = [task(1, TEXTS["r1"], [choice("a")]), task(2, TEXTS["r1"], [choice("b")])]
    told = evh.refused("two-answers", *line("label-studio", write(tmp_path / "x.json", tasks))).json[
        "refused"
    ]
    assert "task 2, annotation 2: r1: 1 says 'b' here and 'a' in" in told["why"][0]
    tasks = [task(1, "same", [choice("x")], item_id="a"), task(2, "same", [choice("y")], item_id="b")]
    words = line("label-studio", write(tmp_path / "y.json", tasks))
    words[3] = "e"
    assert "equal bytes: a" in evh.refused("two-answers", *words).json["refused"]["why"][0]


def test_line_ends_and_outer_space_do_not_hide_an_item(
    builder: Builder, evh: CommandLine, tmp_path: Path, project: Project
) -> None:
    """Tools strip what surrounds a text: its item is found, and how is said."""
    builder.dataset("f", {"a": "  one\r\ntwo \n", "b": "one two"})
    words = line("label-studio", write(tmp_path / "x.json", [task(1, "one\ntwo", [choice("a")])]))
    words[3] = "f"
    told = evh.ok(*words, "--json").json["warnings"]
    assert "items found: 1 by text but for line ends and outer space" in told
    assert list(labels.read(project, "f", "s.1").items) == ["a"]


def test_sets_that_are_there_are_refused_and_a_crash_is_finished(
    project: Project, load: Any, evh: CommandLine
) -> None:
    """All there: refused. One lost, as a crash leaves it: the same command makes it alone."""
    import shutil

    load("prodigy", CASES / "prodigy.jsonl")
    told = evh.refused("existing-set", *line("prodigy", CASES / "prodigy.jsonl")).json["refused"]
    assert "it was made from this export" in told["why"][0]
    shutil.rmtree(project.data / "labels" / "d" / "s.reviews-bob")
    texts, _, document = load("prodigy", CASES / "prodigy.jsonl")
    assert list(texts) == ["s.reviews-bob"]
    assert any("d/s.reviews-ann is there already" in told for told in document["warnings"])


def test_another_export_never_touches_a_set(
    load: Any, evh: CommandLine, tmp_path: Path, project: Project
) -> None:
    """The same names from another export are refused whole, the annotator that is new too."""
    load("prodigy", CASES / "prodigy.jsonl")
    before = tree_bytes(project.root)
    rows = [
        {"text": TEXTS["r1"], "accept": ["x"], "answer": "accept", "_session_id": name}
        for name in ("reviews-ann", "new")
    ]
    path = write(tmp_path / "x.jsonl", rows, lines=True)
    held = tree_bytes(project.root)
    evh.refused("existing-set", *line("prodigy", path))
    assert tree_bytes(project.root) == held
    assert before.items() <= held.items()


def test_annotators_names_become_ids(
    builder: Builder, evh: CommandLine, tmp_path: Path, project: Project
) -> None:
    """Paths, marks, long and equal-looking names: each its own set, the person's name kept as it is."""
    del builder
    names = ["../../etc/passwd", "a b", "a-b", "A B", "名前", "x" * 200]
    rows = [{"text": TEXTS["r1"], "accept": ["x"], "answer": "accept", "_session_id": name} for name in names]
    evh.ok(*line("prodigy", write(tmp_path / "x.jsonl", rows, lines=True)))
    made = [labels.read(project, "d", ref.partition("/")[2]) for ref in labels.refs(project)]
    assert {one.by for one in made} == set(names)
    assert len({one.set.casefold() for one in made}) == len(names)
    assert all(len(one.set) <= 100 for one in made)


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("evh", ["--question", "q"]),
        ("evh", ["--several", "any"]),
        ("evh", ["--tool-version", "1"]),
        ("prodigy", ["--key", "k"]),
        ("prodigy", ["--adjudicates", "a,b"]),
        ("prodigy", ["--encoding", "cp1252"]),
    ],
)
def test_options_of_the_other_kind_are_refused(
    builder: Builder, evh: CommandLine, tool: str, more: list[str]
) -> None:
    """A sheet has no question, an export no key."""
    del builder
    evh.refused("bad-options", *line(tool, CASES / "prodigy.jsonl", *more))


@pytest.mark.parametrize("tool", ["label-studio", "doccano", "prodigy", "argilla"])
@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff", b"[]", b"{}", b'[{"a": 1}]', b"[" * 100_000, b"a,b\n1,2\n", b"PK\x03\x04x"]
)
def test_what_is_no_export_is_refused(
    builder: Builder, evh: CommandLine, tmp_path: Path, tool: str, data: bytes
) -> None:
    """Nothing, bytes, JSON of another kind, nesting without end, a torn archive: never a traceback."""
    del builder
    (tmp_path / "x.jsonl").write_bytes(data)
    outcome = evh(*line(tool, tmp_path / "x.jsonl"), "--json")
    assert outcome.code == 1
    check(outcome.json, "refused")


def test_an_import_for_people_says_what_it_did(builder: Builder, evh: CommandLine) -> None:
    """Each set, its items and who labelled; what was dropped; the next commands."""
    del builder
    outcome = evh.ok(*line("prodigy", CASES / "prodigy.jsonl"))
    assert "made 2 sets of 3 labels" in outcome.out
    assert "d/s.reviews-ann: 2 of 3 items, by reviews-ann" in outcome.out
    assert "no labels: 1 ignored, 1 no answer, 1 rejected" in outcome.err
    assert "evh labels --dataset-id d" in outcome.out
