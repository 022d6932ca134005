"""A model record: which model and build a name stands for, its settings, prices and smoke calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, is_number
from evh.store import strict
from evh.store.hashing import sha256_text

if TYPE_CHECKING:
    from collections.abc import Mapping

PRICES = ("usd_per_mtok_in", "usd_per_mtok_out")
"""US dollars a million tokens."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model as an arm asks it.

    ``upstream`` is the name that the server knows it by. ``deployment`` is its build: ``tag``, ``digest``,
    ``server``, ``server_settings``. ``smokes`` are the calls of `arm-smoke`, oldest first.
    """

    model_id: str
    upstream: str = ""
    deployment: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    prices: Mapping[str, float] = field(default_factory=dict)
    smokes: tuple[Mapping[str, Any], ...] = ()
    created_at: str = ""
    notes: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a request calls it."""
        return self.upstream or self.model_id

    def identity(self) -> str:
        """Return the sha256 of what makes it this model: its name, deployment and settings.

        Prices, notes and smoke calls are left out: a new price, or a call that shows that it still answers,
        is no other model.
        """
        parts = {"upstream": self.name, "deployment": dict(self.deployment), "settings": dict(self.settings)}
        return sha256_text(strict.compact(parts))


def parse(raw: Mapping[str, Any], place: object) -> Model:
    """Return the model in a record, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    prices = shape.mapping("prices")
    for name in PRICES:
        value = prices.get(name)
        if value is not None and not (is_number(value) and value >= 0):
            shape.problem(f"prices.{name}", "is not an amount of US dollars")
    smokes = shape.listing("smokes")
    if not all(isinstance(one, dict) for one in smokes):
        shape.problem("smokes", "holds something that is not a mapping")
        smokes = []
    made = Model(
        model_id=shape.identifier("model_id"),
        upstream=shape.text("upstream"),
        deployment=shape.mapping("deployment"),
        settings=shape.mapping("settings"),
        prices=prices,
        smokes=tuple(smokes),
        created_at=shape.text("created_at"),
        notes=shape.text("notes"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a model record that evh can read", next=f"mend {place}")
    return made


def dump(model: Model) -> dict[str, Any]:
    """Return the record as its file holds it."""
    return {
        **model.extra,
        "model_id": model.model_id,
        "upstream": model.name,
        "deployment": dict(model.deployment),
        "settings": dict(model.settings),
        "prices": dict(model.prices),
        "smokes": [dict(one) for one in model.smokes],
        "created_at": model.created_at,
        "notes": model.notes,
    }
