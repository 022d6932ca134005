"""The project's settings, ``evh.toml``. Every one has a default; a secret is never among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Settings:
    """What ``evh.toml`` says; unknown tables are kept in ``extra``."""

    name: str = ""
    visibility: str = "private"
    adapter: str = ""
    trust_adapters: bool = False
    title: str = ""
    base_url: str = ""
    theme: str = ""
    out: str = ""
    public_sheets: bool = False
    public_logs: tuple[str, ...] = ()
    max_item_text: int = 200_000
    item_pages: int = 5_000
    port: int = 0
    min_overlap: int = 10
    resamples: int = 2_000
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)


def parse(raw: Mapping[str, Any], place: object) -> Settings:
    """Return the settings in a TOML table, or raise a Refusal with every key of a wrong type."""
    whole = Shape(raw, place)
    project = Shape(whole.mapping("project"), f"{place}: [project]")
    catalog = Shape(whole.mapping("catalog"), f"{place}: [catalog]")
    serve = Shape(whole.mapping("serve"), f"{place}: [serve]")
    statistics = Shape(whole.mapping("statistics"), f"{place}: [statistics]")
    made = Settings(
        name=project.text("name"),
        visibility=project.choice("visibility", ("public", "private"), "private"),
        adapter=project.text("adapter"),
        trust_adapters=project.flag("trust_adapters"),
        title=catalog.text("title"),
        base_url=catalog.text("base_url"),
        theme=catalog.text("theme"),
        out=catalog.text("out"),
        public_sheets=catalog.flag("public_sheets"),
        public_logs=catalog.texts("public_logs"),
        max_item_text=catalog.whole("max_item_text", 200_000),
        item_pages=catalog.whole("item_pages", 5_000),
        port=serve.whole("port", 0),
        min_overlap=statistics.whole("min_overlap", 10),
        resamples=statistics.whole("resamples", 2_000),
        seed=statistics.whole("seed", 0),
        extra=whole.rest(),
    )
    if not 0 <= made.port <= 65_535:
        serve.reasons.append(f"{place}: [serve]: port {made.port} is none; there are 1 to 65535")
    for part in (project, catalog, serve, statistics):
        whole.reasons.extend(part.reasons)
    whole.finish(f"{place} has settings that evh cannot read", next=f"mend {place}")
    return made
