"""What another tool recorded of one item, in the form that every reader of a log returns."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from evh.errors import Refusal
from evh.store import strict

NO_NUMBER = "score that is no number"


@dataclass(frozen=True, slots=True)
class Row:
    """One item's output and scores, as a tool recorded them.

    Attributes:
        place: the file, and the line or sample in it, for messages.
        part: which of the file's arms this belongs to: a filter, a provider, an epoch; "" where there is one.
        item_id: the item, where the log names it by ``item_id``: it must be there.
        ids: the tool's own names of the sample; one counts where the dataset has an item of that id.
        texts: texts of the sample, one of which may be the item's bytes.
        item_sha256: the hash of the item's bytes, where the log carries it.
        output: what the arm answered, or None.
        error: why there is no answer; such a row has no scores.
        scores: metric → the value as recorded; whether it is a finite number is checked by `import_run`.
        latency_ms: how long the answer took, as recorded; `import_run` checks this and the other measures.
        tokens_in: of the prompt.
        tokens_out: of the answer.
        cost_usd: of the call.
        meta: what else is kept beside the prediction.
    """

    place: str
    part: str = ""
    item_id: str | None = None
    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    item_sha256: str | None = None
    output: str | None = None
    error: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    latency_ms: float | None = None
    tokens_in: float | None = None
    tokens_out: float | None = None
    cost_usd: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Log:
    """A tool's log of one evaluation.

    Attributes:
        rows: in the order of the file.
        version: of the tool, where the log says it.
        made_at: when it was made, as the tool writes it.
        model: the model's name; of one part where ``models`` has it.
        models: part → model, where the parts differ by it.
        settings: what was sent with every call, as far as the log tells.
        prompts: part → the sha256 of its prompt.
        repeats: whether the parts are repeats of one arm, not arms of their own.
        primary: the metric that stands for the run.
        dropped: why → how much of the log was not taken.
        notes: what a person should know, a sentence each.
    """

    rows: tuple[Row, ...]
    version: str | None = None
    made_at: str | None = None
    model: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False
    primary: str | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def bad_log(tool: str, why: str, *, next: str) -> Refusal:
    """Return the Refusal for a file that is no log of a tool."""
    return Refusal("bad-log", f"this is no log of {tool} that evh reads", why=[why], next=next)


def parse_json(data: bytes, place: str) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the JSON value of another tool's file.

    NaN and Infinity are let through, for tools write them into aggregates that are not read and as marks of
    their own; a score that is one is dealt with by whoever reads it.

    Raises:
        Refusal: not JSON, or a key twice in one object.
    """
    return _loads(strict.decode(data, place), place)


def parse_lines(data: bytes, place: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the object of each line with its number; blank lines are passed over. See `parse_json`."""
    made = []
    reasons = []
    for number, line in enumerate(strict.decode(data, place).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{place}: line {number}"
        value = _loads(line, where)
        if isinstance(value, dict):
            made.append((number, value))
        else:
            reasons.append(f"{where}: not a JSON object")
    if reasons:
        raise Refusal("bad-json", f"{place} holds lines that are not JSON objects", why=reasons)
    return made


def text_of(value: object) -> str | None:
    """Return an output as text: a text as it is, another JSON value as compact JSON, null as None."""
    if value is None or isinstance(value, str):
        return value
    return _compact(value)


def score_of(value: object, dropped: Counter[str]) -> float | None:
    """Return a recorded score as a number, NaN and Infinity too; another value is counted as dropped."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return value
    if value is not None:
        dropped[NO_NUMBER] += 1
    return None


class Taker:
    """Takes the parts of a log that are of the type that they must be, and counts those of another one.

    Attributes:
        dropped: why → how much of the log was not taken; null and what is absent is not counted.
    """

    def __init__(self) -> None:
        self.dropped: Counter[str] = Counter()

    def mapping(self, holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Return the object under a key; an empty one where there is none."""
        value = holder.get(key)
        if value is not None and not isinstance(value, dict):
            self.dropped[f"{key} that is no object"] += 1
        return mapping(value)

    def listing(self, holder: Mapping[str, Any], key: str) -> list[Any]:
        """Return the list under a key; an empty one where there is none."""
        value = holder.get(key)
        if value is not None and not isinstance(value, list):
            self.dropped[f"{key} that is no list"] += 1
        return listing(value)

    def measure(self, holder: Mapping[str, Any], key: str) -> float | None:
        """Return the number under a key as recorded: whether a measure can be that is looked at later."""
        value = holder.get(key)
        number = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124
        if value is not None and not number:
            self.dropped[f"{key} that is no number"] += 1
        return value if number else None

    def settings(self, holder: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
        """Return what stands under some keys and can be written: NaN and Infinity have no form in JSON."""
        made = {key: holder[key] for key in keys if holder.get(key) is not None}
        wrong = [key for key, value in made.items() if _plain(value) != value]
        for key in wrong:
            self.dropped[f"{key} that is not finite"] += 1
        return {key: value for key, value in made.items() if key not in wrong}


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """Return a list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def texts_in(value: object) -> tuple[str, ...]:
    """Return the texts among the values of a mapping."""
    return tuple(one for one in mapping(value).values() if isinstance(one, str) and one)


def named(*places: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the ``item_id`` and ``item_sha256`` that the first of some mappings with an item_id carries."""
    for place in places:
        item_id, sha = place.get("item_id"), place.get("item_sha256")
        if isinstance(item_id, str | int) and not isinstance(item_id, bool) and str(item_id):
            return str(item_id), sha if isinstance(sha, str) and sha else None
    return None, None


def words(*values: object) -> tuple[str, ...]:
    """Return what of some values can be an id: texts and whole numbers, without repeats."""
    made = [
        str(one) for one in values if isinstance(one, str | int) and not isinstance(one, bool) and str(one)
    ]
    return tuple(dict.fromkeys(made))


def _compact(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _plain(value: object) -> object:
    """Return a JSON value without NaN and Infinity: they have no form in JSON, so null stands for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        doubled = next(key for key, count in counts.items() if count > 1)
        raise ValueError(f"the key {doubled!r} stands twice in one object")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _loads(text: str, place: str) -> Any:  # noqa: ANN401 - JSON is any value
    try:
        return _DECODER.decode(text)
    except RecursionError:
        _refuse(place, "nested too deeply")
    except ValueError as error:
        _refuse(place, str(error))


def _refuse(place: str, why: str) -> NoReturn:
    raise Refusal(
        "bad-json", f"{place} is not JSON", why=[f"{place}: {why}"], next="export the log again, whole"
    )
