"""What the evidence labeler is told: the options of a command over ``[labeler]`` of ``evh.toml``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evh.acts.evidence_overlap import MODEL as OVERLAP_MODEL
from evh.acts.server_url import bad_url
from evh.errors import Refusal
from evh.llm.budget import CONTEXT_TOKENS
from evh.llm.prompt import PROMPT_SHA
from evh.records.shape import Shape

if TYPE_CHECKING:
    from evh.project.find import Project
    from evh.records.chunk import Query

PROVIDERS = ("openai", "overlap")
MODEL = "reasoning"
THINK_TOKENS = 2_048
ANSWER_TOKENS = 128
TEMPERATURE = 0.6
TOP_P = 0.95
TABLE = "labeler"


@dataclass(frozen=True, slots=True)
class Options:
    """What a command asks for; None leaves it to ``evh.toml``, then to the default.

    Attributes:
        provider: ``openai`` (any chat server) or ``overlap`` (the lexical baseline, no server).
        base_url: the server, with the version.
        model: what a request calls it.
        think_tokens: room to think before the answer; 0 for models that do not.
        answer_tokens: room for the answer.
        temperature, top_p: as sent.
        context_tokens: prompt and answer together.
        constrain: ask the server for a structured answer.
        repeat: readings a chunk, with other seeds.
        concurrency: requests in flight; None adapts.
        limit: chunks to label at most, in this run.
        max_calls: requests at most, tries counted.
        max_cost: US dollars at most.
        probes: questions with a known answer, mixed in.
        journal: the journal's name; empty for the first one.
        engine: ``ray`` maps the jobs over a cluster; empty: this process.
    """

    provider: str | None = None
    base_url: str | None = None
    model: str | None = None
    think_tokens: int | None = None
    answer_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    context_tokens: int | None = None
    constrain: bool = False
    repeat: int = 1
    concurrency: int | None = None
    limit: int | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    probes: int = 0
    journal: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Labeler:
    """Who labels and how, all of it decided. Picklable: it crosses to workers.

    ``key`` comes from the environment and is in no ``repr``.
    """

    provider: str
    model: str
    base_url: str
    think_tokens: int
    answer_tokens: int
    temperature: float
    top_p: float
    context_tokens: int
    constrain: bool
    repeat: int
    concurrency: int | None
    usd_per_mtok_in: float | None
    usd_per_mtok_out: float | None
    key: Any = None

    def __repr__(self) -> str:
        """Return it without the key."""
        return f"Labeler({self.provider!r}, {self.model!r}, {self.base_url!r})"

    @property
    def asks_server(self) -> bool:
        """Whether a model server is asked."""
        return self.provider != "overlap"

    @property
    def max_tokens(self) -> int:
        """The room of a reply: thought and answer."""
        return self.think_tokens + self.answer_tokens

    def asked(self, query: Query) -> dict[str, Any]:
        """Return what makes a journal: with any of it changed, the labels are others'."""
        from evh.acts import evidence_overlap

        made: dict[str, Any] = {
            "question_sha": query.question_sha,
            "provider": self.provider,
            "model": self.model,
            "repeat": self.repeat,
        }
        if not self.asks_server:
            return {**made, "prompt_sha": evidence_overlap.PROMPT_SHA}
        return {
            **made,
            "prompt_sha": PROMPT_SHA,
            "think_tokens": self.think_tokens,
            "answer_tokens": self.answer_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "constrain": self.constrain,
        }

    def cost(self, tokens_in: int | None, tokens_out: int | None, said: float | None) -> float | None:
        """Return what a reply cost in US dollars: as the server says, else its tokens at the prices."""
        if said is not None:
            return said
        total, known = 0.0, False
        for count, price in ((tokens_in, self.usd_per_mtok_in), (tokens_out, self.usd_per_mtok_out)):
            if count is not None and price is not None:
                total, known = total + count * price / 1_000_000, True
        return total if known else None


def labeler(project: Project, options: Options, *, keyless: bool = False) -> Labeler:
    """Return who labels.

    Args:
        project: the project; ``[labeler]`` of its settings stands behind the options.
        options: what the command says.
        keyless: nothing will be asked: neither a server nor a key has to be named.

    Raises:
        Refusal: with every reason: no server, a key that is named and not set, numbers that cannot be.
    """
    raw = project.settings.extra.get(TABLE)
    shape = Shape(raw if isinstance(raw, dict) else {}, f"evh.toml: [{TABLE}]")
    if raw is not None and not isinstance(raw, dict):
        shape.problem(TABLE, "is not a table")
    if "api_key" in shape.raw:
        shape.problem("api_key", "a key is never in a file; name its variable: api_key_env")
    provider = options.provider or shape.choice("provider", PROVIDERS, "openai")
    base_url = options.base_url if options.base_url is not None else shape.text("base_url")
    named = shape.maybe_text("api_key_env")
    made = Labeler(
        provider=provider,
        model=options.model or shape.text("model") or MODEL,
        base_url=base_url.rstrip("/"),
        think_tokens=_count(options.think_tokens, shape, "think_tokens", THINK_TOKENS),
        answer_tokens=_count(options.answer_tokens, shape, "answer_tokens", ANSWER_TOKENS),
        temperature=_number(options.temperature, shape, "temperature", TEMPERATURE),
        top_p=_number(options.top_p, shape, "top_p", TOP_P),
        context_tokens=_count(options.context_tokens, shape, "context_tokens", CONTEXT_TOKENS),
        constrain=options.constrain,
        repeat=options.repeat,
        concurrency=options.concurrency or shape.count("concurrency") or None,
        usd_per_mtok_in=shape.maybe_number("usd_per_mtok_in"),
        usd_per_mtok_out=shape.maybe_number("usd_per_mtok_out"),
    )
    shape.reasons += _wrong(made)
    reasons = [("bad-settings", reason) for reason in shape.reasons]
    if provider not in PROVIDERS:
        reasons.append(("bad-settings", f"provider {provider!r} is none of {', '.join(PROVIDERS)}"))
    if not made.asks_server:
        reasons += [("bad-settings", reason) for reason in _without_server(options)]
        made = replace(made, model=OVERLAP_MODEL, base_url="", think_tokens=0, answer_tokens=0, repeat=1)
    elif not keyless:
        wrong = bad_url(made.base_url) if made.base_url else "no server is named"
        if wrong:
            reasons.append(("no-base-url" if not made.base_url else "bad-settings", f"base_url: {wrong}"))
        if named is not None:
            key = project.environ.get(named, "").strip()
            if not key:
                reasons.append(("no-key", f"evh.toml: [{TABLE}]: api_key_env: {named} is not set"))
            elif not key.isascii() or not key.isprintable():
                reasons.append(("no-key", f"{named}: what it holds cannot be a key"))
            made = replace(made, key=_Key(key))
    if reasons:
        raise _refusal(reasons)
    return made


class _Key(str):
    """A key that shows itself nowhere."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "[key]"


def _refusal(reasons: list[tuple[str, str]]) -> Refusal:
    ways = {
        "no-base-url": f"--base-url http://…/v1, or base_url under [{TABLE}] in evh.toml; without a server: "
        "--provider overlap",
        "no-key": "set the variable in the environment; a key is never written into a file",
        "bad-settings": f"mend the options, or [{TABLE}] in evh.toml",
    }
    codes = list(dict.fromkeys(code for code, _ in reasons))
    return Refusal(
        codes[0] if len(codes) == 1 else "bad-settings",
        "the labeler cannot be asked like this",
        why=[reason for _, reason in reasons],
        next="; ".join(ways[code] for code in codes),
    )


def _wrong(made: Labeler) -> list[str]:
    reasons = []
    if made.answer_tokens < 1:
        reasons.append("answer_tokens: at least 1")
    if not 0 <= made.temperature <= 10:
        reasons.append(f"temperature {made.temperature:g}: from 0 to 10")
    if not 0 < made.top_p <= 1:
        reasons.append(f"top_p {made.top_p:g}: above 0, at most 1")
    if made.max_tokens >= made.context_tokens:
        reasons.append(
            f"think_tokens + answer_tokens ({made.max_tokens:,}) leave no room in a context of "
            f"{made.context_tokens:,} tokens"
        )
    return reasons


def _without_server(options: Options) -> list[str]:
    given = {
        "--base-url": options.base_url,
        "--model": options.model,
        "--think-tokens": options.think_tokens,
        "--answer-tokens": options.answer_tokens,
        "--temperature": options.temperature,
        "--top-p": options.top_p,
        "--constrain": options.constrain or None,
        "--repeat": options.repeat if options.repeat > 1 else None,
        "--max-calls": options.max_calls,
        "--max-cost": options.max_cost,
    }
    return [f"{name}: --provider overlap asks no model" for name, value in given.items() if value is not None]


def _count(given: int | None, shape: Shape, key: str, default: int) -> int:
    found = shape.count(key, default)
    return found if given is None else given


def _number(given: float | None, shape: Shape, key: str, default: float) -> float:
    found = shape.maybe_number(key)
    return float(given if given is not None else default if found is None else found)
