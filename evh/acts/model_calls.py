"""The provider that asks a model server, any ``/v1/chat/completions``: what is sent, and what a reply is.

A config names it as ``openai``, or by the name of a table ``[providers.<name>]`` of ``evh.toml``, which gives
``base_url`` and ``api_key_env``; ``params`` of the config override both. A key comes from the environment
alone: settings name the variable.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.acts import model_prompt
from evh.acts.run_keep import Answer
from evh.acts.server_url import bad_url
from evh.adapters import Result, providers
from evh.errors import Refusal
from evh.llm.reply import Failure, Reply
from evh.records.config import PROVIDERS
from evh.records.model import PRICES
from evh.records.run import Prediction
from evh.records.shape import is_number, without_empty
from evh.store import strict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.acts.model_prompt import Prompt
    from evh.llm.client import Server
    from evh.project.find import Project
    from evh.records.config import Config
    from evh.records.dataset import Item
    from evh.records.model import Model

OPENAI = "openai"
TABLE = "providers"
NUMBERS = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
COUNTS = ("max_tokens", "max_completion_tokens")
SETTINGS = (*NUMBERS, *COUNTS, "seed", "stop", "reasoning_effort", "response_format")
"""What is sent as the config says it; anything else goes under ``extra_body``."""
OWN = (
    "provider",
    "model",
    "system",
    "prompt",
    "prompt_file",
    "base_url",
    "api_key_env",
    "timeout_s",
    "extra_body",
)
RESERVED = ("model", "messages", "stream", "n")
PASSING = frozenset(
    {"unreachable", "timeout", "broken-off", "failing", "not-json", "no-choices", "redirect", "stopped"}
)
"""Failures that say nothing of the item. So does a refusal by one of these statuses:"""
PASSING_STATUSES = frozenset({401, 402, 403, 404, 407, 408, 409, 421, 425, 429})
_WAYS = {
    "no-base-url": "name the server: params.base_url, or base_url under [providers.{name}] in evh.toml",
    "no-key": "set the variable in the environment; a key is never written into a file",
    "no-model": "write params.model, or model_record with a record that is here: evh models",
    "no-such-prompt": "write the prompt, or mend the config",
    "bad-params": "mend the config: evh help configs",
}


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """One model of one server, with everything that is sent but the item.

    Attributes:
        name: the provider, as the config says it.
        server: where it is asked.
        model: what a request calls it.
        prompt: the messages.
        sent: the other keys of a request's body.
        prices: US dollars a million tokens, by the keys of `PRICES`.
        identity: what a fingerprint says of it.
    """

    name: str
    server: Server
    model: str
    prompt: Prompt
    sent: Mapping[str, Any]
    prices: Mapping[str, Any]
    identity: Mapping[str, Any]
    threads: int = 1
    timed: bool = True
    notes: tuple[str, ...] = field(default=(), compare=False)

    def body(self, text: str, fields: Mapping[str, Any], number: int = 1) -> dict[str, Any]:
        """Return the request for an item.

        Args:
            text: the item's text.
            fields: the item's fields.
            number: which of the repeats it is, from 1: a ``seed`` is sent as seed + number − 1.
        """
        made = {"model": self.model, "messages": self.prompt.messages(text, fields), **self.sent}
        return {**made, **self.repeated(number)}

    def repeated(self, number: int) -> dict[str, Any]:
        """Return the settings that a repeat sends otherwise than the first."""
        seed = self.sent.get("seed")
        return {"seed": seed + number - 1} if isinstance(seed, int) else {}

    def answer_of(self, item: Item, found: Reply | Failure) -> Answer:
        """Return what a reply, or its lack, is to an item: the row, the output, and whether it may pass."""
        spent = Result("", found.tokens_in, found.tokens_out, found.cost_usd)
        cost = providers.priced(spent, self.prices)
        if isinstance(found, Reply):
            meta = {
                "finish_reason": found.finish_reason,
                "model": found.model,
                "system_fingerprint": found.system_fingerprint,
                "reasoning": found.reasoning,
                "tries": found.tries,
                "notes": list(found.notes) or None,
            }
            row = Prediction(
                item.item_id,
                latency_ms=found.latency_ms,
                tokens_in=found.tokens_in,
                tokens_out=found.tokens_out,
                cost_usd=cost,
                hidden={"_meta": without_empty(meta)},
            )
            return Answer(row, found.text)
        meta = {
            "failure": found.kind,
            "status": found.status,
            "tries": found.tries,
            "notes": list(found.notes) or None,
        }
        row = Prediction(
            item.item_id,
            tokens_in=found.tokens_in,
            tokens_out=found.tokens_out,
            cost_usd=cost,
            error=f"{found.kind}: {found.says}",
            hidden={"_meta": without_empty(meta)},
        )
        return Answer(row, may_pass=may_pass(found))

    def answer(self, item: Item, data: bytes, place: str) -> Result:
        """Refuse: a model is asked many items at once, by `run_asking`."""
        raise NotImplementedError

    def stop(self) -> None:
        """Nothing runs outside of the asking."""


def may_pass(failure: Failure) -> bool:
    """Tell whether a failure says nothing of the item: the server, the network or the key failed.

    What the server refused about this very request (400, 413, 422), a prompt that is too long, and a reply
    that is empty, cut before its answer or too large stand.
    """
    if failure.kind == "refused":
        return failure.status in PASSING_STATUSES
    return failure.kind in PASSING


def is_model(project: Project, config: Config) -> bool:
    """Tell whether a config's provider is a model server."""
    name = config.provider
    return name == OPENAI or (name not in PROVIDERS and name in _tables(project))


def open_model(
    project: Project, config: Config, record: Model | None, *, keyless: bool = False
) -> ModelCalls:
    """Return what asks the model of a config.

    Args:
        project: the project.
        config: the arm; its provider is a model server.
        record: the model record that it names, or None.
        keyless: nothing will be asked, so that a key that is not set is no matter.

    Raises:
        Refusal: with every reason at once: no server, a key that is named and not set, no model, no prompt
            where one is named, and each setting that cannot be sent.
    """
    from evh.llm.client import READ_S, Server

    params, place = config.params, config.config_id
    reasons: list[tuple[str, str]] = []
    base_url = _base_url(project, config, reasons)
    key = None if keyless else _key(project, config, reasons)
    timeout = params.get("timeout_s", READ_S)
    if not is_number(timeout) or timeout <= 0:
        reasons.append(("bad-params", f"{place}: params.timeout_s: is not a number of seconds above 0"))
        timeout = READ_S
    model = params.get("model") or (record.name if record else None)
    if not isinstance(model, str):
        reasons.append(("no-model", f"{place}: params.model: {'is not a text' if model else 'is missing'}"))
        model = ""
    prompt, wrong, notes = model_prompt.read(project, config)
    gone = [reason for reason in wrong if reason.endswith("no such file")]
    reasons += [("no-such-prompt" if reason in gone else "bad-params", reason) for reason in wrong]
    sent = _sent(config, reasons)
    prices = prices_of(config, record)
    reasons += [
        ("bad-params", f"{place}: params.{name}: is not an amount of US dollars")
        for name in PRICES
        if prices.get(name) is not None and not (is_number(prices[name]) and prices[name] >= 0)
    ]
    if reasons or prompt is None:
        raise _refusal(config, reasons)
    unknown = [name for name in params if name not in (*OWN, *SETTINGS, *PRICES, "api_key")]
    notes += [
        f"params.{name} is not sent: it is no setting that evh knows. What else is to be sent: extra_body"
        for name in unknown
    ]
    return ModelCalls(
        name=config.provider,
        server=Server(base_url, key, float(timeout)),
        model=model,
        prompt=prompt,
        sent=sent,
        prices=prices,
        identity={
            **model_prompt.prompt_sha(project, config),
            "request": {
                "base_url": base_url,
                "body": {"model": model, "messages": prompt.template(), **sent},
            },
            "libraries": _libraries(),
        },
        notes=tuple(f"{place}: {note}" for note in notes),
    )


def prices_of(config: Config, record: Model | None) -> dict[str, Any]:
    """Return the prices that a config gives, else its model record, by the keys of `PRICES`."""
    own = {name: config.params[name] for name in PRICES if config.params.get(name) is not None}
    return {**(record.prices if record else {}), **own}


def _tables(project: Project) -> Mapping[str, Any]:
    found = project.settings.extra.get(TABLE)
    return found if isinstance(found, dict) else {}


def _table(project: Project, config: Config) -> Mapping[str, Any]:
    found = _tables(project).get(config.provider)
    return found if isinstance(found, dict) else {}


def _base_url(project: Project, config: Config, reasons: list[tuple[str, str]]) -> str:
    given, place = config.params.get("base_url"), f"{config.config_id}: params.base_url"
    if given is None:
        given, place = (
            _table(project, config).get("base_url"),
            f"evh.toml: [{TABLE}.{config.provider}]: base_url",
        )
    if given is None:
        reasons.append(("no-base-url", f"{config.config_id}: params.base_url: is missing, and {place} too"))
        return ""
    wrong = "is not a text" if not isinstance(given, str) else bad_url(given)
    if wrong:
        reasons.append(("bad-params", f"{place}: {wrong}"))
    return str(given).rstrip("/")


def _key(project: Project, config: Config, reasons: list[tuple[str, str]]) -> str | None:
    place = f"{config.config_id}: params.api_key_env"
    if "api_key" in config.params:
        reasons.append(
            (
                "bad-params",
                f"{config.config_id}: params.api_key: a key is never in a file; name its variable",
            )
        )
    named = config.params.get("api_key_env")
    if named is None:
        named, place = (
            _table(project, config).get("api_key_env"),
            f"evh.toml: [{TABLE}.{config.provider}]: api_key_env",
        )
    if named is None:
        return None
    if not isinstance(named, str) or not named.replace("_", "a").isalnum() or not named.isascii():
        reasons.append(("bad-params", f"{place}: is not the name of an environment variable"))
        return None
    key = project.environ.get(named, "").strip()
    if not key:
        reasons.append(("no-key", f"{place}: the variable {named} is not set"))
        return None
    if not key.isascii() or not key.isprintable():
        reasons.append(
            ("no-key", f"{place}: what {named} holds cannot be a key: a sign that no header can hold")
        )
        return None
    return key


def _sent(config: Config, reasons: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the keys of a request besides the model and the messages, after noting what cannot be sent."""
    params, place = config.params, f"{config.config_id}: params"
    made = {name: params[name] for name in SETTINGS if params.get(name) is not None}
    wrong = {name: told for name, value in made.items() if (told := _bad_setting(name, value))}
    reasons += [("bad-params", f"{place}.{name}: {told}") for name, told in wrong.items()]
    more = params.get("extra_body")
    if more is None:
        return made
    if not isinstance(more, dict):
        reasons.append(("bad-params", f"{place}.extra_body: is not a mapping"))
        return made
    for name in more:
        if name in RESERVED:
            reasons.append(("bad-params", f"{place}.extra_body.{name}: is evh's own"))
        elif name in made:
            reasons.append(("bad-params", f"{place}.extra_body.{name}: stands in params too"))
    try:
        strict.compact(more)
    except (TypeError, ValueError) as error:
        reasons.append(("bad-params", f"{place}.extra_body: cannot be sent as JSON: {error}"))
    return {**made, **more}


def _bad_setting(name: str, value: object) -> str | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name in NUMBERS:
        return None if is_number(value) else "is not a number"
    if name in COUNTS:
        return None if whole and isinstance(value, int) and value >= 1 else "is not a whole number from 1"
    if name == "seed":
        return None if whole else "is not a whole number"
    if name == "stop":
        texts = value if isinstance(value, list) else [value]
        return (
            None
            if texts and all(isinstance(one, str) for one in texts)
            else "is not a text or a list of texts"
        )
    if name == "reasoning_effort":
        return None if isinstance(value, str) else "is not a text"
    return None if isinstance(value, dict) else "is not a mapping"


def _libraries() -> dict[str, str]:
    import httpx

    return {"httpx": httpx.__version__, "python": platform.python_version()}


def _refusal(config: Config, reasons: list[tuple[str, str]]) -> Refusal:
    codes = list(dict.fromkeys(code for code, _ in reasons))
    return Refusal(
        codes[0] if len(codes) == 1 else "cannot-ask",
        f"the arm {config.config_id!r} cannot ask a model",
        why=[reason for _, reason in reasons],
        next="; ".join(_WAYS[code].format(name=config.provider) for code in codes),
    )
