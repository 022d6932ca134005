"""Every code block of the page on adapters runs, against the adapter that the page itself shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from evh.adapters.bundled import BUNDLED
from evh.adapters.hooks import HOOKS
from evh.adapters.scorers_bundled import SCORERS

PAGE = (Path(__file__).resolve().parents[2] / "evh" / "guide" / "adapters.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def adapter() -> dict[str, Any]:
    """The names of the page's adapter; the model that it calls always answers "file"."""
    names: dict[str, Any] = {"my_model": lambda _text, _model: "file"}
    exec(compile(BLOCKS[0], "adapters.md", "exec"), names)
    return names


@pytest.mark.parametrize("number", range(1, len(BLOCKS)))
def test_the_block_runs(number: int, adapter: dict[str, Any]) -> None:
    """Its assertions hold; ROUGE's is skipped where the package is not installed."""
    if "rouge" in BLOCKS[number]:
        pytest.importorskip("rouge_score", reason="pip install rouge-score")
    exec(compile(BLOCKS[number], f"adapters.md, block {number}", "exec"), adapter)


def test_every_block_but_the_adapter_asserts_something() -> None:
    """A block that could not fail would prove nothing."""
    assert len(BLOCKS) > 10
    for block in BLOCKS[1:]:
        assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(block)))


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_is_called_in_an_example(hook: str) -> None:
    """A hook that is only defined is not yet shown at work."""
    called = {
        node.func.id
        for block in BLOCKS[1:]
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert hook in called


@pytest.mark.parametrize("name", sorted({*BUNDLED, *SCORERS} - {"r_update"}))
def test_each_bundled_adapter_is_on_the_page(name: str) -> None:
    """Whoever reads the page finds every word that a config may name (the evidence labeler has its own)."""
    assert f"`{name}`" in PAGE
