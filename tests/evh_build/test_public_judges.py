"""A public build of what a judge judged, where the arm that it asks is not shown."""

from __future__ import annotations

import json

import pytest

from evh.project.find import Project
from tests.acts.judging import good, judge, judge_file, model, two_arms
from tests.conftest import CommandLine
from tests.evh_build.public_of import build, everything
from tests.servers.scripted import Scripted


@pytest.mark.parametrize(
    ("scorer", "asker"), [("grader-7", "grader-7"), ("helpful", "helpful"), ("helpful", "asker-8")]
)
def test_a_judge_may_have_the_name_of_the_arm_that_it_asks(
    project: Project, evh: CommandLine, scorer: str, asker: str
) -> None:
    """A hidden arm of the judge's own name stops no build; one of another name is on no page."""
    builder = two_arms(project)
    with Scripted(good) as server:
        model(builder, server.base_url, asker)
        judge_file(project, f"kind: pairwise\njudges: [{asker}]\n", scorer=scorer)
        judge(evh, scorer=scorer)
    path = project.data / "datasets" / "d.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "visibility": "public"}))
    built = build(project)
    assert ("arm", asker) in {(one.noun, one.name) for one in built.left_out}
    files = everything(built.index.parent)
    assert scorer in files[f"judges/{scorer}/index.html"]
    assert f"arms/{asker}/index.html" not in files
    if asker != scorer:
        assert not [path for path, text in files.items() if asker in text]
