"""The report holds what a bug report needs and no name of the project's."""

from __future__ import annotations

import getpass
import platform
import socket

from evh import __version__
from evh.project.find import Project
from tests.conftest import CommandLine
from tests.helpers import Builder
from tests.schema import check


def test_the_report_counts_and_names_nothing(project: Project, evh: CommandLine) -> None:
    """No id, text, path, host or user of the project stands in it, in either form."""
    build = Builder(project)
    build.dataset("xq-dataset", {"xq-item": "xq-text", "xq-item2": "more"})
    build.capture("xq-capture", [{"record_id": "xq-record", "item": "a"}])
    build.labels("xq-dataset", "xq-set", {"xq-item": "xq-label"})
    build.config("xq-config")
    build.run("xq-config", "xq-dataset", {"xq-item": "xq-answer"})
    (project.data / "labels" / "xq-dataset" / "xq-set" / "xq-item.txt").write_bytes(b"edited")
    made = evh.ok("doctor", "--json")
    check(made.json, "doctor")
    (report,) = made.json["reports"]
    assert report["evh"]["version"] == __version__
    assert report["machine"]["system"] == platform.system()
    assert report["libraries"]["pyarrow"]
    assert report["records"]["items"] == 2
    assert (report["records"]["label_sets"], report["records"]["runs"]) == (1, 1)
    assert report["sizes"]["sources"] == {"files": 2, "bytes": 11}
    assert sum(report["findings"]["error"].values()) >= 1
    for text in (made.out, evh.ok("doctor").out):
        for private in ("xq-", str(project.root), socket.gethostname(), f" {getpass.getuser()} "):
            assert private not in text


def test_a_broken_tree_still_gets_a_report(project: Project, evh: CommandLine) -> None:
    """That is when it is needed: what cannot be read is counted."""
    (project.data / "datasets").mkdir()
    (project.data / "datasets" / "xq.json").write_bytes(b"{")
    report = evh.ok("doctor", "--json").json["reports"][0]
    assert report["records"]["unreadable"] == 1
    assert report["findings"]["error"]


def test_settings_that_point_elsewhere_are_told_by_name(project: Project, evh: CommandLine) -> None:
    """That a variable is set, never what it says."""
    told = evh.ok("doctor", "--json").json["reports"][0]["settings"]
    assert (told["overrides"], told["clock_set"], told["git"]) == ([], True, False)
