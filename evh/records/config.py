"""A config: one arm, written by people in YAML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, without_empty

if TYPE_CHECKING:
    from collections.abc import Mapping

PROVIDERS = ("openai", "recorded", "python", "command", "echo")
MOST_REPEATS = 100
"""The most runs that one command makes."""


@dataclass(frozen=True, slots=True)
class Config:
    """An arm: a model with its prompt and settings, over any number of datasets.

    ``dataset_id`` is the dataset it runs on by default. ``adapter`` is a path, the name of a bundled
    adapter, or empty for the default one. A ``floor`` is an arm that shows what is easy, such as one that
    always says the same: sheets and rankings show it, and it never wins.
    """

    config_id: str
    dataset_id: str = ""
    adapter: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    model_record: str | None = None
    goal: str | None = None
    reference: str | None = None
    labels: str | None = None
    repeats: int = 1
    fitted_on: tuple[str, ...] = ()
    floor: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        """The name of what answers: one of `PROVIDERS`, or a foreign harness's word."""
        return str(self.params.get("provider") or "")

    @property
    def model(self) -> str:
        """The model's name, or an empty text."""
        return str(self.params.get("model") or "")

    @property
    def recorded(self) -> bool:
        """Whether this arm replays production's own decisions."""
        return self.provider == "recorded"


def parse(raw: Mapping[str, Any], place: object) -> Config:
    """Return the config in a YAML mapping, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    repeats = shape.whole("repeats", 1)
    if not 1 <= repeats <= MOST_REPEATS:
        shape.problem("repeats", f"is {raw.get('repeats')!r}; it can be 1 to {MOST_REPEATS}")
    config = Config(
        config_id=shape.identifier("config_id"),
        dataset_id=shape.text("dataset_id"),
        adapter=shape.text("adapter"),
        params=shape.mapping("params"),
        model_record=shape.maybe_text("model_record"),
        goal=shape.maybe_text("goal"),
        reference=shape.maybe_text("reference"),
        labels=shape.maybe_text("labels"),
        repeats=repeats,
        fitted_on=shape.texts("fitted_on"),
        floor=shape.flag("floor"),
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a config that evh can read", next=f"mend {place}")
    return config


def dump(config: Config) -> dict[str, Any]:
    """Return the config as the mapping that its YAML holds."""
    return {
        "config_id": config.config_id,
        **without_empty({"dataset_id": config.dataset_id or None, "adapter": config.adapter or None}),
        "params": dict(config.params),
        **without_empty(
            {
                "model_record": config.model_record,
                "goal": config.goal,
                "reference": config.reference,
                "labels": config.labels,
                "repeats": config.repeats if config.repeats > 1 else None,
                "fitted_on": list(config.fitted_on) or None,
                "floor": config.floor or None,
            }
        ),
        **config.extra,
    }
