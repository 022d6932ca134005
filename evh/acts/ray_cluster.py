"""A Ray cluster, joined or started, and the batches that it is given: what every ``--engine ray`` shares."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evh.errors import Refusal
from evh.store.hashing import sha256_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

BATCH = 32
"""How many jobs a worker asks about before it writes a part: so many may be asked again when it is killed."""
WINDOW = 64
"""How many batches are with the cluster at once."""
WINDOW_CHARACTERS = 64_000_000
IN_FLIGHT = 16
"""Requests in flight on one worker, where ``--concurrency`` says nothing."""
NO_RAY = "ray: it is not installed"
INSTALL = "pip install 'evh[ray]'"

J = TypeVar("J")


def uncounted(caps: Mapping[str, object]) -> list[str]:
    """Return why caps cannot be kept over a cluster, a sentence for each option that is given."""
    return [
        f"{name}: nobody counts over a whole cluster" for name, value in caps.items() if value is not None
    ]


def not_installed() -> list[str]:
    """Return that Ray is missing, as a reason; none where it is here."""
    return [NO_RAY] if importlib.util.find_spec("ray") is None else []


def no_ray() -> Refusal:
    """Return the Refusal for a machine without Ray."""
    return Refusal("no-ray", "--engine ray needs Ray", why=[NO_RAY], next=INSTALL)


def windows(
    jobs: Iterable[J], key: Callable[[J], str], size: Callable[[J], int], *, batch_size: int = BATCH
) -> Iterator[dict[str, dict[str, J]]]:
    """Yield batches by the name of their part, as many at a time as the cluster is given at once.

    Args:
        jobs: what is asked, taken as it is needed.
        key: what tells a job from every other.
        size: characters or bytes of a job: a window holds about `WINDOW_CHARACTERS` of them.
        batch_size: jobs in one batch.
    """
    window: dict[str, dict[str, J]] = {}
    batch: dict[str, J] = {}
    characters = 0
    for job in jobs:
        batch[key(job)] = job
        characters += size(job)
        if len(batch) == batch_size or characters >= WINDOW_CHARACTERS:
            window[sha256_lines(batch)] = batch
            batch = {}
        if len(window) == WINDOW or characters >= WINDOW_CHARACTERS:
            yield window
            window, characters = {}, 0
    if batch:
        window[sha256_lines(batch)] = batch
    if window:
        yield window


class Cluster:
    """Ray, joined or started. A context manager; leaving it leaves a cluster that it joined as it was.

    The cluster is the one that ``RAY_ADDRESS`` names or that runs here; else one is started on this machine.

    Args:
        again: what a person does where the cluster gives up.
    """

    def __init__(self, again: str) -> None:
        self._again = again

    def __enter__(self) -> Self:
        """Join the cluster, or start one on this machine."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
        with contextlib.ExitStack() as stack:
            # Ray prints what its processes say: stdout is the command's own, a JSON document perhaps.
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
            self._ray: Any = importlib.import_module("ray")
            self._data: Any = importlib.import_module("ray.data")
            if not self._ray.is_initialized():
                self._guard(lambda: self._ray.init(log_to_driver=False, logging_level=logging.ERROR))
                stack.callback(self._ray.shutdown)
            logging.getLogger("ray.data").setLevel(logging.ERROR)
            self._data.DataContext.get_current().enable_progress_bars = False
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave it."""
        self._stack.close()

    @property
    def workers(self) -> int:
        """How many batches it works on at once: one a processor."""
        return max(1, int(self._guard(self._ray.cluster_resources).get("CPU", 1)))

    def map(
        self,
        rows: Sequence[Mapping[str, Any]],
        deed: Callable[..., dict[str, Any]],
        work: object,
    ) -> Iterator[dict[str, Any]]:
        """Give each batch's receipt, in the order in which they come.

        Args:
            rows: the batches, as Ray Data holds them.
            deed: what a worker does with one: ``deed(row, work=work)`` returns its receipt.
            work: what every worker is given.
        """
        made = self._data.from_items([dict(row) for row in rows], override_num_blocks=len(rows)).map(
            deed, fn_kwargs={"work": work}
        )  # a task whose worker dies is begun again, by Ray Data's own default as often as it takes
        receipts = iter(made.iter_rows())
        while (one := self._guard(lambda: next(receipts, None))) is not None:
            yield dict(one)

    def _guard(self, step: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever Ray gives
        try:
            return step()
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            told = str(error).strip().splitlines() or [type(error).__name__]
            raise Refusal(
                "cluster-gave-up", "the Ray cluster gave up", why=[told[-1][:500]], next=self._again
            ) from error
