"""Write a model record, or change keys of the one that is there."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.acts import known_keys
from evh.errors import Refusal
from evh.project import models
from evh.records.model import PRICES, Model
from evh.records.shape import is_character_text, is_number
from evh.store import strict
from evh.store.names import check_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.project.find import Project

SHORT = {"in": "usd_per_mtok_in", "out": "usd_per_mtok_out"}
SERVER = "server_settings"
_SECRETS = ("api_key", "key", "token", "secret", "password")


@dataclass(frozen=True, slots=True)
class Change:
    """One key that is set: its value before and after; None is absent."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written: the record, what changes, and whether it is a new one."""

    model: Model
    given: Given
    changes: tuple[Change, ...]
    new: bool

    def says(self) -> list[str]:
        """Return what would be done, a sentence each."""
        first = f"{'write' if self.new else 'change'} data/models/{self.model.model_id}.json"
        return [first, *(f"{one.key}: {_shown(one.before)} → {_shown(one.after)}" for one in self.changes)]


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked for: pairs of (dotted key, value); a value of None takes the key away."""

    upstream: str | None
    deployment: tuple[tuple[str, Any], ...]
    settings: tuple[tuple[str, Any], ...]
    prices: tuple[tuple[str, Any], ...]
    notes: str | None


def plan(
    project: Project,
    model_id: str,
    *,
    upstream: str | None = None,
    deployment: Sequence[str] = (),
    settings: Sequence[str] = (),
    prices: Sequence[str] = (),
    notes: str | None = None,
) -> Plan:
    """Return the record that would be written.

    Args:
        project: the project.
        model_id: the record's id.
        upstream: the name that the server knows the model by; the id by default.
        deployment: ``key=value`` texts: ``tag``, ``digest``, ``server``, ``server_settings.NAME`` or others.
        settings: ``key=value`` texts, a value being JSON where it reads as JSON.
        prices: ``in=USD`` and ``out=USD``, US dollars a million tokens.
        notes: a remark.

    Raises:
        Refusal: every text that is no ``key=value``, every price that is none, a key that names a secret, a
            text that holds one; nothing given for a record that is there.
    """
    check_id(model_id, "model")
    reasons: list[str] = []
    given = Given(
        upstream=upstream,
        deployment=_pairs("--deployment", deployment, reasons, texts=True),
        settings=_pairs("--setting", settings, reasons),
        prices=_prices(prices, reasons),
        notes=notes,
    )
    if upstream is not None and not (
        upstream.strip() and is_character_text(upstream) and upstream.isprintable()
    ):
        reasons.append("--upstream: is no name")
    parts = {
        "--upstream": upstream,
        "--deployment": dict(given.deployment),
        "--setting": dict(given.settings),
        "--notes": notes,
    }
    held = {option: known_keys.found_in(project, value) for option, value in parts.items() if value}
    reasons += [
        f"{option}: {told}: a secret is never written into a file" for option, told in held.items() if told
    ]
    before = models.read(project, model_id) if models.exists(project, model_id) else None
    if before and given == Given(None, (), (), (), None):
        reasons.append(f"models/{model_id}.json: is there already, and nothing to change was given")
    if reasons:
        raise Refusal(
            "bad-options", f"no record of {model_id} is written", why=reasons, next="evh model-record --help"
        )
    made = _applied(project, model_id, before, given)
    return Plan(made, given, _changes(before, made), before is None)


def commit(project: Project, plan: Plan) -> Model:
    """Write the record under its lock and return it; another command's smoke call since then is kept."""
    name = plan.model.model_id
    return models.update(project, name, lambda before: _applied(project, name, before, plan.given))


def _applied(project: Project, model_id: str, before: Model | None, given: Given) -> Model:
    base = before or Model(model_id, upstream=model_id, created_at=project.stamp())
    return replace(
        base,
        upstream=base.name if given.upstream is None else given.upstream,
        deployment=_merged(base.deployment, given.deployment),
        settings=_merged(base.settings, given.settings),
        prices=_merged(base.prices, given.prices),
        notes=base.notes if given.notes is None else given.notes,
    )


def _merged(base: Any, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:  # noqa: ANN401 - a mapping of JSON
    made = dict(base)
    for key, value in pairs:
        head, dot, rest = key.partition(".")
        if dot and head == SERVER:
            inner = made.get(SERVER)
            value = _merged(inner if isinstance(inner, dict) else {}, [(rest, value)])  # noqa: PLW2901
            key = SERVER  # noqa: PLW2901
        if value is None or value == {}:
            made.pop(key, None)
        else:
            made[key] = value
    return made


def _pairs(
    option: str, given: Sequence[str], reasons: list[str], *, texts: bool = False
) -> tuple[tuple[str, Any], ...]:
    made = []
    for one in given:
        key, sign, value = one.partition("=")
        key = key.strip()
        if not sign or not key or not key.isprintable() or not is_character_text(one):
            reasons.append(f"{option} {one}: is no key=value")
        elif any(key.lower().rsplit(".", 1)[-1].endswith(word) for word in _SECRETS):
            reasons.append(f"{option} {key}: a secret is never written into a file")
        else:
            plain = texts and not key.startswith(f"{SERVER}.")
            made.append((key, (value or None) if plain else _value(value)))
    return tuple(made)


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    if not text:
        return None
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text
    return text if found is None else found


def _prices(given: Sequence[str], reasons: list[str]) -> tuple[tuple[str, float | None], ...]:
    made: list[tuple[str, float | None]] = []
    for one in given:
        key, sign, value = one.partition("=")
        name = SHORT.get(key.strip(), key.strip())
        if not sign or name not in PRICES:
            reasons.append(f"--price {one}: is neither in=USD nor out=USD, US dollars a million tokens")
            continue
        amount = _value(value)
        if amount is not None and not (is_number(amount) and amount >= 0):
            reasons.append(f"--price {one}: is not an amount of US dollars")
            continue
        made.append((name, amount))
    return tuple(made)


def _changes(before: Model | None, after: Model) -> tuple[Change, ...]:
    def flat(model: Model | None) -> dict[str, Any]:
        if model is None:
            return {}
        made: dict[str, Any] = {"upstream": model.name, "notes": model.notes or None}
        for name in ("deployment", "settings", "prices"):
            made |= {f"{name}.{key}": value for key, value in getattr(model, name).items()}
        return made

    old, new = flat(before), flat(after)
    return tuple(
        Change(key, old.get(key), new.get(key))
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    )


def _shown(value: object) -> str:
    return "nothing" if value is None else value if isinstance(value, str) else strict.compact(value)
