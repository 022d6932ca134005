"""What the tests of ``--engine ray`` share: two nodes on this machine, and whether Ray is here."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evh.acts import ray_engine

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'evh[ray]'"
)


def two_nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give two nodes on this machine, which ``RAY_ADDRESS`` names: the body of a fixture."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", str(Path(ray_engine.__file__).parents[2]))
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100_000_000}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        made.add_node(num_cpus=1, object_store_memory=100_000_000)
        monkeypatch.setenv("RAY_ADDRESS", made.address)
        yield made
    finally:
        made.shutdown()
