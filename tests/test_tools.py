"""A missing tool skips a test with the command that installs it, and fails it where tools are demanded."""

from __future__ import annotations

import pytest

from tests.tools import require_data, require_tool


def test_a_missing_tool_skips_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without EVH_REQUIRE_TOOLS a missing tool is a skip whose reason can be pasted into a shell."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("EVH_REQUIRE_TOOLS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="sudo apt-get install libreoffice-calc-nogui"):
        require_tool("soffice")


def test_a_missing_tool_fails_where_tools_are_demanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With EVH_REQUIRE_TOOLS=1 nothing is skipped in silence."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("EVH_REQUIRE_TOOLS", "1")
    with pytest.raises(pytest.fail.Exception, match="chromium is not here"):
        require_tool("chromium")


def test_a_tool_on_the_path_is_given_with_its_path() -> None:
    """git, which the packaging tests need, is found by its full path."""
    assert require_tool("git").endswith("git")


def test_named_data_that_is_not_there_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """A wrong EVH_TEST_DATA is told, not skipped."""
    monkeypatch.setenv("EVH_TEST_DATA", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="is not a folder"):
        require_data("refusals")
