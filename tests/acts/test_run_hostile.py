"""`evh run` against a server that repeats the key, counts what cannot be counted, and breaks the protocol."""

from __future__ import annotations

import json

import pytest

from evh.project.find import Project
from tests.acts.asking import KEY, arm, rows_of, run, short_waits, three_fields
from tests.conftest import CommandLine
from tests.helpers import tree_bytes
from tests.servers.replies import error, fine, http, message, raw
from tests.servers.scripted import Scripted


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is in the environment, and no test waits as long as a server asks for."""
    monkeypatch.setenv("MINE", KEY)
    short_waits(monkeypatch)


def test_a_key_that_the_server_repeats_stands_in_no_file(project: Project, evh: CommandLine) -> None:
    """In the answer, the thought, the model's name, the fingerprint, and cut off at the end of an error."""
    build = three_fields(project)
    said = message(f"yes {KEY}", reasoning=f"I got {KEY}") | {"system_fingerprint": KEY, "model": f"m{KEY}"}
    with Scripted([http(200, said), error(400, "x" * 285 + " " + KEY), http(200, said)]) as server:
        arm(build, server, api_key_env="MINE")
        outcome = run(evh, "--labels", "d/s", "--concurrency", "1", code=3)
    assert KEY in server.requests[0].headers["authorization"]
    files = tree_bytes(project.root)
    assert not [path for path, data in files.items() if b"sk-live" in data]
    assert "sk-live" not in outcome.out + outcome.err
    (folder,) = {path.rpartition("/")[0] for path in files if path.endswith("metrics.json")}
    assert files[f"{folder}/outputs/one.txt"] == b"yes [api key]"
    row = rows_of(project, outcome)["one"]
    assert row.hidden["_meta"]["notes"] == ["the reply held the API key: it was taken out"]
    note = "in 2 of 3 replies: the reply held the API key: it was taken out"
    assert json.loads(files[f"{folder}/metrics.json"])["problems"] == [note]
    assert any(note in warning for warning in outcome.json["warnings"])


@pytest.mark.parametrize("count", [10**400, 2**53, 10**18])
def test_a_count_that_is_none_ends_no_run(project: Project, evh: CommandLine, count: int) -> None:
    """A server that counted more tokens than there are: the run is finished without its count."""
    build = three_fields(project)
    said = message("yes", usage=None) | {"usage": {"prompt_tokens": count, "completion_tokens": 2}}

    with Scripted([http(200, said)]) as server:
        arm(build, server, usd_per_mtok_in=1, usd_per_mtok_out=1)
        outcome = run(evh, "--labels", "d/s", "--max-cost", "1")
    row = rows_of(project, outcome)["one"]
    assert (row.tokens_in, row.tokens_out) == (None, 2)
    assert row.hidden["_meta"]["notes"] == ["usage.prompt_tokens is no count: as if it were not reported"]
    assert evh.ok("runs", "--json").json["runs"][0]["totals"]["tokens_out"] == 6
    evh.ok("validate")


def test_asyncio_logs_no_traceback(
    project: Project, evh: CommandLine, caplog: pytest.LogCaptureFixture
) -> None:
    """A length of 5,000 digits is a broken protocol, tried again; the loop's own log stays empty."""
    build = three_fields(project)
    bad = raw(b"HTTP/1.1 200 OK\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n{}", close=True)

    with Scripted([bad, fine("yes")]) as server:
        arm(build, server)
        run(evh)
    assert not [one for one in caplog.records if one.name == "asyncio"]
