"""What answers an item: the providers that a config can name, each behind one `answer`.

An item's failure is a Refusal about that item alone; what is wrong for all is refused by `open_provider`.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from evh.adapters.results import Result
from evh.errors import Refusal
from evh.project import captures
from evh.project.shelf import read_each
from evh.records.run import MOST_MEASURE
from evh.records.shape import is_number
from evh.store import strict
from evh.store.hashing import sha256_file, sha256_text
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evh.adapters.hooks import Adapter
    from evh.project.find import Project
    from evh.records.capture import Record
    from evh.records.config import Config
    from evh.records.dataset import Item

TIMEOUT_S = 60.0
COMMAND_THREADS = 4
NOT_RECORDED = "not recorded"
KEYS_SHOWN = 20
_STDERR_SHOWN = 300


class Provider(Protocol):
    """What answers an item."""

    @property
    def threads(self) -> int:
        """How many items are asked at once where nothing else is said."""

    @property
    def timed(self) -> bool:
        """Whether the time that an answer takes means something."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a fingerprint says of it beside the config's settings."""

    def answer(self, item: Item, data: bytes, place: str) -> Result:
        """Return the answer for an item's bytes, or raise a Refusal about this item."""

    def stop(self) -> None:
        """End what still runs: the command was interrupted."""


def open_provider(project: Project, config: Config, adapter: Adapter) -> Provider:
    """Return what a config names as its provider, one that asks no model server.

    Raises:
        Refusal: a provider that this version does not run, or settings that it cannot run with.
    """
    match config.provider:
        case "echo":
            return Echo()
        case "python":
            return _python(config, adapter)
        case "command":
            return _command(project, config)
        case "recorded":
            return _recorded(project, config, adapter)
        case other:
            known = "openai, echo, python, command, recorded, or a table [providers.<name>] of evh.toml"
            said = f"{other!r} is none of {known}" if other else "is missing"
            raise Refusal(
                "unknown-provider",
                f"the arm {config.config_id!r} cannot run here",
                why=[f"{config.config_id}: params.provider: {said}"],
                next="mend the config; a run that was made elsewhere is still shown, and can be scored again",
            )


@dataclass(frozen=True, slots=True)
class Echo:
    """Answers each item with its own text."""

    threads: int = 1
    timed: bool = False
    identity: Mapping[str, Any] = field(default_factory=dict)

    def answer(self, item: Item, data: bytes, place: str) -> Result:  # noqa: ARG002 - the contract of `Provider`
        """Return the item's text."""
        return Result(output=text_of(data, place))

    def stop(self) -> None:
        """Nothing runs."""


@dataclass(frozen=True, slots=True)
class Python:
    """Asks the adapter's ``call_system``."""

    adapter: Adapter
    params: Mapping[str, Any]
    identity: Mapping[str, Any]
    threads: int = 1
    timed: bool = True

    def answer(self, item: Item, data: bytes, place: str) -> Result:  # noqa: ARG002 - the contract of `Provider`
        """Return what ``call_system`` returns for the item's text."""
        return self.adapter.call_system(text_of(data, place), self.params, place)

    def stop(self) -> None:
        """A Python function cannot be ended from outside."""


@dataclass(frozen=True, slots=True)
class Command:
    """Runs a command for each item: the item's bytes on stdin, its stdout is the output."""

    argv: tuple[str, ...]
    cwd: Path
    timeout_s: float
    identity: Mapping[str, Any]
    threads: int = COMMAND_THREADS
    timed: bool = True
    _living: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, item: Item, data: bytes, place: str) -> Result:  # noqa: ARG002 - the contract of `Provider`
        """Return the command's stdout as text.

        Raises:
            Refusal: it exits with another code than 0, takes longer than ``timeout_s``, or its output is not
                UTF-8.
        """
        try:
            # A session of its own, so that a timeout ends what the command started too.
            process = subprocess.Popen(
                self.argv,
                cwd=self.cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise _failed(place, f"the command does not start: {error.strerror or error}") from error
        with self._lock:
            self._living.add(process.pid)
        try:
            out, err = process.communicate(data, timeout=self.timeout_s)
        except subprocess.TimeoutExpired as error:
            raise _failed(place, f"no answer within {self.timeout_s:g} s") from error
        finally:
            with self._lock:
                self._living.discard(process.pid)
            if process.returncode is None:
                _end(process.pid)
                process.communicate()
        if process.returncode != 0:
            said = err.decode("utf-8", "replace").strip()[-_STDERR_SHOWN:]
            raise _failed(
                place, f"the command ended with {process.returncode}" + (f": {said}" if said else "")
            )
        try:
            return Result(output=out.decode())
        except UnicodeDecodeError as error:
            raise _failed(place, f"the output is not UTF-8: byte {error.start}: {error.reason}") from error

    def stop(self) -> None:
        """End the commands that still run."""
        with self._lock:
            for pid in self._living:
                _end(pid)


class Recorded:
    """Reads what production answered from a capture. It calls nothing, so it has no latency and no cost.

    Args:
        adapter: knows a record's item and its recorded output.
        key: the record's key that holds the output, in place of the adapter's ``recorded_output``.
        capture_id: the capture.
        records: its records.
        family: the captures that hold the same records: ids mean the same among these.
        identity: what a fingerprint says of the capture.
    """

    threads = 1
    timed = False

    def __init__(
        self,
        adapter: Adapter,
        key: str | None,
        capture_id: str,
        records: Sequence[Record],
        *,
        family: frozenset[str],
        identity: Mapping[str, Any],
    ) -> None:
        self.identity = identity
        self._adapter = adapter
        self._key = key
        self._place = f"captures/{capture_id}"
        self._records = records
        self._family = family
        self._by_id = {str(record.get("record_id")): record for record in records}
        self._by_sha: dict[str, list[Record]] | None = None

    def answer(self, item: Item, data: bytes, place: str) -> Result:  # noqa: ARG002 - the contract of `Provider`
        """Return the recorded output of the item's record, or raise a Refusal: not recorded."""
        found = {self._output(record, place) for record in self.records_of(item)} - {None}
        if not found:
            raise Refusal("not-recorded", NOT_RECORDED)
        if len(found) > 1:
            raise _failed(place, f"{len(found)} records of these bytes hold different outputs")
        return Result(output=str(found.pop()))

    def stop(self) -> None:
        """Nothing runs."""

    def records_of(self, item: Item) -> Sequence[Record]:
        """Return the item's records: the one its lineage names, else those of its bytes.

        A record's id says something only among captures of the same records: another capture may number
        its records alike.
        """
        named, origin = item.lineage.get("record_id"), item.lineage.get("capture")
        if isinstance(named, str) and named in self._by_id and (origin is None or origin in self._family):
            return [self._by_id[named]]
        if self._by_sha is None:
            self._by_sha = {}
            for number, record in enumerate(self._records, start=1):
                text = self._adapter.item(record, f"{self._place}: record {number}")
                if text is not None:
                    self._by_sha.setdefault(sha256_text(text), []).append(record)
        return self._by_sha.get(item.sha256, [])

    def missing_outputs(self) -> list[str]:
        """Return why no record at all has a recorded output, a sentence each; none where one has."""
        problems: list[Refusal] = []  # a hook that fails has not said that there is none: the run tells it
        found = read_each(self._records, lambda one: self._output(one, self._place), problems)
        if problems or any(output is not None for output in found):
            return []
        keys = list(dict.fromkeys(key for record in self._records for key in record))
        read = f"the key {self._key!r}" if self._key else f"recorded_output of {self._adapter.shown_name}"
        more = f" and {len(keys) - KEYS_SHOWN} more" if len(keys) > KEYS_SHOWN else ""
        return [
            f"{self._place}: {read} gives nothing for any of {plural(len(self._records), 'record')}",
            f"{self._place}: the records have the keys {', '.join(keys[:KEYS_SHOWN])}{more}",
        ]

    def _output(self, record: Record, place: str) -> str | None:
        if self._key is None:
            return self._adapter.recorded_output(record, place)
        value = record.get(self._key)
        return value if value is None or isinstance(value, str) else strict.compact(value)


def priced(result: Result, params: Mapping[str, Any]) -> float | None:
    """Return what an answer cost in US dollars: as it says itself, else its tokens at the config's prices."""
    if result.cost_usd is not None:
        return result.cost_usd
    total, known = 0.0, False
    for tokens, key in ((result.tokens_in, "usd_per_mtok_in"), (result.tokens_out, "usd_per_mtok_out")):
        price = params.get(key)
        if tokens is not None and price is not None and is_number(price):
            total, known = total + tokens * float(price) / 1_000_000, True
    return total if known and total < MOST_MEASURE else None


def _python(config: Config, adapter: Adapter) -> Python:
    if not adapter.has("call_system"):
        why = f"{config.config_id}: the provider python needs an adapter with call_system(text, params)"
        if adapter.path or config.adapter:
            why += f"; {adapter.shown_name} has none"
        else:
            why += ", and neither the config nor evh.toml names one"
        raise Refusal(
            "no-call-system",
            f"the arm {config.config_id!r} has nothing that answers",
            why=[why],
            next=f"write call_system in {adapter.name}, or name another adapter in the config"
            if adapter.path
            else "evh help adapters",
        )
    wrong = adapter.unfit("call_system", "text", {})
    if wrong:
        raise Refusal(
            "no-call-system",
            f"the arm {config.config_id!r} has nothing that answers as it is asked",
            why=[f"{adapter.shown_name}: it is called with a text and the params, and is {wrong}"],
            next=f"write call_system(text, params) in {adapter.name}: evh help adapters",
        )
    return Python(adapter, config.params, {"libraries": {"python": platform.python_version()}})


def _command(project: Project, config: Config) -> Command:
    given = config.params.get("command")
    reasons: list[str] = []
    argv: list[str] = []
    place = f"{config.config_id}: params.command"
    if isinstance(given, str):
        try:
            argv = shlex.split(given)
        except ValueError as error:
            reasons.append(f"{place}: {error}")
    elif isinstance(given, list) and all(isinstance(word, str) for word in given):
        argv = list(given)
    if not argv and not reasons:
        reasons.append(f"{place}: is neither a command line nor a list of words")
    if argv and not _executable(project, argv[0]):
        reasons.append(f"{place}: there is no command {argv[0]!r}")
    timeout = config.params.get("timeout_s", TIMEOUT_S)
    if not is_number(timeout) or timeout <= 0:
        reasons.append(f"{config.config_id}: params.timeout_s: is not a number of seconds above 0")
    if reasons:
        raise Refusal(
            "bad-command", f"the arm {config.config_id!r} cannot run", why=reasons, next="mend the config"
        )
    files = {
        word: sha256_file(project.root / word)
        for word in argv
        if (project.root / word).is_file() and project.inside(project.root / word)
    }
    return Command(tuple(argv), project.root, float(timeout), {"command_files": files})


def _executable(project: Project, word: str) -> bool:
    if os.sep in word:
        return os.access(project.root / word, os.X_OK)
    return shutil.which(word) is not None


def _recorded(project: Project, config: Config, adapter: Adapter) -> Recorded:
    name, key = config.params.get("capture"), config.params.get("field")
    reasons = []
    if not isinstance(name, str) or not name:
        reasons.append(f"{config.config_id}: params.capture: a recorded arm names its capture")
    if key is not None and not isinstance(key, str):
        reasons.append(f"{config.config_id}: params.field: is not the name of a record's key")
    if reasons:
        raise Refusal(
            "bad-recorded", f"the arm {config.config_id!r} cannot run", why=reasons, next="mend the config"
        )
    capture = captures.read(project, str(name))
    return Recorded(
        adapter,
        key,
        capture.capture_id,
        captures.records(project, capture),
        family=frozenset(captures.family(project, capture.capture_id)),
        identity={"capture": capture.capture_id, "capture_sha256": capture.records_sha256},
    )


def text_of(data: bytes, place: str) -> str:
    """Return an item's text, or raise a Refusal about that item: it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _failed(place, f"the item is not UTF-8: byte {error.start}: {error.reason}") from error


def _failed(place: str, reason: str) -> Refusal:
    return Refusal("item-failed", "the item got no answer", why=[f"{place}: {reason}"])


def _end(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
