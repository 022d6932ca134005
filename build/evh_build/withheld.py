"""Values of records as a public build shows them: no address, no path of a machine, no name of the hidden."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh_build.shown import Shown

NOT_PUBLIC = "a record that is not public"
"""What stands in place of the names of what an item, a dataset or a capture was made of."""
FROM = "from"
"""The key under which lineage says so."""
LEFT = "left out"
"""What stands in place of a setting that is not shown."""
LONGEST_SETTING = 120
SHOWN_SETTINGS = frozenset(
    ["provider", "model", "temperature", "top_p", "top_k", "min_p", "max_tokens", "seed", "stop",
     "reasoning_effort", "effort", "response_format", "frequency_penalty", "presence_penalty", "prompt_file",
     "prompt_sha", "prompt_sha256", "prompt_version", "capture", "capture_sha256", "field", "adapter",
     "version", "revision", "tag", "digest", "quantization", "dtype", "harness", "fitted_on", "dataset",
     "labels", "reference", "reference_id", "goal", "config_id", "model_record"]
)  # fmt: skip
"""Settings whose text is shown; of any other only a number, yes or no, a digest, a version or one word."""
_LINEAGE = {
    "capture": ("capture", "record_id"),
    "dataset": ("dataset", "item_id", "pick"),
    "log": ("log", "query", "record_id"),
}
"""What lineage names, each with the keys that are told where that is shown."""
_KEYS = re.compile(
    r"(?:.*_)?(?:urls?|uri|endpoints?|hosts?|hostname|server|gateway|proxy|base|addr|address|ip|port|socket|dsn"
    r"|user|username|login|account|owner|author|email|cwd|home|headers?|env|organi[sz]ation|org|tenant"
    r"|api_key\w*|(?:api|access|auth|bearer|refresh)_token|secret|password|passwd|credentials?|cookies?)"
)
_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-.\s]+")
_LOCAL = re.compile(r"(?i)(?:[/~\\]|[a-z]:[\\/]|file:|[^/]*/?\.\.[\\/])")
_AT = r"(?:^|(?<=[\s\"'`=(,:;\[{<>|]))"
"""Where a path may begin in a text: not within a word, as in ``and/or``."""
_PLACE = re.compile(
    r"(?i)(?:[a-z][a-z0-9+.-]*:)?//[\w\[][^\s\"'<>]*"  # any scheme, and none
    rf"|{_AT}~?[\w.-]*(?<![\w.-])/[\w.~-][^\s\"'<>:,)]*|{_AT}~[\w.-]*/[^\s\"'<>:,)]*"
    rf"|{_AT}(?:\.\.[\\/])+[^\s\"'<>]*"
    rf"|{_AT}[a-z]:[\\/][^\s\"'<>]*|{_AT}\\\\[\w.-]+[^\s\"'<>]*|{_AT}[\w.-]+\\[\w.-]+\\[^\s\"'<>]*"
    r"|(?<![\w.:-])(?!\d{4}-\d\d-\d\dt)(?:[\w.-]*[a-z][\w.-]*|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]):\d{2,5}\b"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|\blocalhost\b"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_PLAIN = re.compile(
    r"[A-Za-z][A-Za-z0-9_]{0,31}|[0-9a-f]{8,64}|[+-]?\d+(?:\.\d+)?"
    r"|v?\d+(?:\.\d+){1,2}(?:[.-]?(?:a|b|rc|post|dev)\d+)?"
)


def text(value: str, shown: Shown, *, instead: str = "") -> str:
    """Return a note or another sentence about a record; ``instead`` of one that names something hidden."""
    return instead if shown.names_hidden(value) else value


def placeless(value: str) -> str:
    """Return a text with ``…`` in place of each address and path in it."""
    return _PLACE.sub("…", value)


def source_file(value: str, shown: Shown) -> str:
    """Return where a chunk comes from: of a machine's path or an address its last part, else as it is."""
    if _LOCAL.match(value) or "//" in value:
        value = re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return "" if shown.hides(value) else value


def values(told: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
    """Return a record's values without addresses, users, local paths and names of the hidden, at any depth.

    What holds an address or a path anywhere in its text goes as a whole.
    """
    made: dict[str, Any] = {}
    for key, value in told.items():
        if _is_kept(key, shown):
            kept = _value(value, shown)
            if kept is not None or value is None:
                made[key] = kept
    return made


def settings(told: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
    """Return the settings of what answers, at any depth: `SHOWN_SETTINGS`, and of others what is plain.

    A setting of another text is told as `LEFT`; one that names an address, a user or the hidden is not there.
    """
    made: dict[str, Any] = {}
    for key, value in told.items():
        if _is_kept(key, shown):
            kept = _setting(_spelt(key), value, shown)
            if kept is not None or value is None:
                made[key] = kept
    return made


def lineage(told: Mapping[str, Any], shown: Shown) -> dict[str, Any]:
    """Return where an item came from, as far as that is shown; `FROM` says so where something is left out.

    A record's id is told with its capture or log alone, an item's and a pick's with their dataset.
    """
    named = {
        "capture": told.get("capture") in shown.captures,
        "dataset": told.get("dataset") in shown.datasets,
        "log": isinstance(told.get("log"), str) and not shown.hides(told["log"]),
    }
    open_keys = [key for name, keys in _LINEAGE.items() if named[name] for key in keys]
    kept = values({key: told[key] for key in open_keys if told.get(key) is not None}, shown)
    known = {key for keys in _LINEAGE.values() for key in keys}
    lost = any(value is not None and key in known and key not in kept for key, value in told.items())
    return {**kept, FROM: NOT_PUBLIC} if lost else kept


def is_withheld(lineage: Mapping[str, Any]) -> bool:
    """Tell whether lineage, as `lineage` gives it, leaves something out."""
    return lineage.get(FROM) == NOT_PUBLIC


def _setting(name: str, value: object, shown: Shown) -> object:
    if isinstance(value, dict):
        return settings(value, shown)
    if isinstance(value, list | tuple):
        each = [_setting(name, one, shown) for one in value]
        return LEFT if any(one is None or one == LEFT for one in each) else each
    if not isinstance(value, str):
        return value
    if shown.hides(value):
        return None
    if _is_placed(value):
        return LEFT if name in SHOWN_SETTINGS - {"capture", "prompt_file"} or _PLAIN.fullmatch(name) else None
    if name in SHOWN_SETTINGS:
        return value if len(value) <= LONGEST_SETTING else LEFT
    return value if not value or _PLAIN.fullmatch(value) else LEFT


def _value(value: object, shown: Shown) -> object:
    if isinstance(value, dict):
        return values(value, shown)
    if isinstance(value, list | tuple):
        return [kept for one in value if (kept := _value(one, shown)) is not None]
    if isinstance(value, str) and (_is_placed(value) or shown.hides(value)):
        return None
    return value


def _is_kept(key: str, shown: Shown) -> bool:
    return not (_KEYS.fullmatch(_spelt(key)) or _is_placed(key) or shown.hides(key))


def _is_placed(value: str) -> bool:
    """Tell whether a text holds an address or a path of a machine."""
    return _LOCAL.match(value) is not None or _PLACE.search(value) is not None


def _spelt(key: str) -> str:
    """Return a key as ``_KEYS`` has it: ``apiBase`` and ``api-base`` are ``api_base``."""
    return _JOINT.sub("_", key).lower()
