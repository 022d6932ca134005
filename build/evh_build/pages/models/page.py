"""The model records: which model and build a name stands for, and who asks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.records.model import PRICES
from evh_build import known, urls
from evh_build.page import Crumb, Frame, Leaf, Page
from evh_build.pages.captures.page import Link
from evh_build.source import command, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evh.acts.models import ModelLine
    from evh_build.page import Command
    from evh_build.source import Source


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model record. Prices are US dollars a million tokens.

    ``asked`` is when `arm-smoke` last asked it, ``answered`` whether it answered then; empty and None where
    it was never asked. ``facts`` are its build and settings.
    """

    model_id: str
    upstream: str
    price_in: str
    price_out: str
    arms: tuple[Link, ...]
    asked: str
    answered: bool | None
    facts: tuple[tuple[str, str], ...]
    notes: str
    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Frame):
    """The model records.

    Attributes:
        models: a record each, by id.
        lacking: records that configs name and that are not here, with those configs.
    """

    models: tuple[ModelView, ...]
    lacking: tuple[tuple[str, tuple[Link, ...]], ...]


def make(source: Source) -> Iterator[Leaf]:
    """Give the one page."""
    found = source.gathered.deciding.models
    yield Leaf(
        urls.MODELS,
        Context(
            title="Models",
            section="arms",
            crumbs=(Crumb("Home", urls.HOME), Crumb("Arms", urls.ARMS)),
            commands=_commands(source, found.lines, tuple(found.lacking)),
            models=tuple(_view(source, one) for one in found.lines),
            lacking=tuple(
                (name, tuple(Link(arm, source.urls.arm(arm)) for arm in arms))
                for name, arms in found.lacking.items()
            ),
        ),
    )


def _view(source: Source, one: ModelLine) -> ModelView:
    model, smoke = one.model, one.smoke
    prices = [model.prices.get(name) for name in PRICES]
    return ModelView(
        model_id=model.model_id,
        upstream=model.name,
        price_in="" if prices[0] is None else f"{prices[0]:g}",
        price_out="" if prices[1] is None else f"{prices[1]:g}",
        arms=tuple(Link(arm, source.urls.arm(arm)) for arm in one.arms),
        asked=str(smoke.get("at") or "") if smoke else "",
        answered=bool(smoke.get("ok")) if smoke else None,
        facts=(
            *flat({"build": dict(model.deployment)} if model.deployment else {}),
            *flat({"setting": dict(model.settings)} if model.settings else {}),
        ),
        notes=model.notes,
        identity=model.identity(),
    )


def _commands(source: Source, lines: tuple[ModelLine, ...], lacking: tuple[str, ...]) -> tuple[Command, ...]:
    arm = next((line.arms[0] for line in lines if line.arms), known.an_arm(source))
    name = lacking[0] if lacking else "MODEL"
    return (
        command("the same on the terminal", "models"),
        command("write or change a record", "model-record", "--model", name, "--price", "in=USD"),
        command("ask one item, and keep what came back", "arm-smoke", "--config", arm),
    )


PAGE = Page("models", Context, make)
