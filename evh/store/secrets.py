"""Finding secrets in text: tokens, keys and passwords, and what names this machine.

The rules are few and precise, for a capture with a hit is refused. A bare run of hex digits is no secret: it
is a hash, a commit or an id. A path or a host counts only when it is this machine's. Every pattern runs in
time linear in the text: its repeats are bounded.
"""

from __future__ import annotations

import base64
import binascii
import getpass
import math
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evh.store import strict

Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Args:
        name: what it is called in a finding.
        needles: texts one of which is in every match (lower case); they spare the pattern most texts.
        pattern: its first group, else the whole match, is the secret.
        check: what the secret must be, over the pattern, to count.
    """

    name: str
    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret that was found. ``shown`` is its first four characters: a finding never repeats a secret.

    ``place`` is the path of keys to the text in a record, such as ``messages[2].content``.
    """

    rule: str
    place: str
    start: int
    shown: str


def find(text: str, rules: Sequence[Rule] | None = None, *, place: str = "") -> list[Hit]:
    """Return what in ``text`` looks like a secret, in the order of the rules; `BUNDLED` by default."""
    hits: list[Hit] = []
    lowered = text.lower()
    for rule in BUNDLED if rules is None else rules:
        if not any(needle in lowered for needle in rule.needles):
            continue
        for match in rule.pattern.finditer(text):
            group = 1 if match.re.groups else 0
            secret = match.group(group)
            if secret and (rule.check is None or rule.check(secret)):
                hits.append(Hit(rule.name, place, match.start(group), f"{secret[:4]}…"))
    return hits


def find_in(value: object, rules: Sequence[Rule] | None = None) -> list[Hit]:
    """Return what looks like a secret in any text of a JSON value, keys and nested texts too."""
    every = BUNDLED if rules is None else rules
    whole = strict.compact(value).lower()
    likely = [rule for rule in every if any(needle in whole for needle in rule.needles)]
    if not likely:
        return []
    hits: list[Hit] = []
    for place, key, text in _texts(value, "", ""):
        found = find(text, likely, place=place)
        if not found and _SECRET_KEY.fullmatch(key) and looks_random(text):
            found = [Hit("assigned-secret", place, 0, f"{text[:4]}…")]
        hits += found
    return hits


def this_machine(
    home: Path | None = None, user: str | None = None, host: str | None = None
) -> tuple[Rule, ...]:
    """Return the rules that find this machine's home folder and ``user@host``.

    A home or a host that many machines share (``/root``, ``localhost``) names none and gives no rule.
    """
    folder = str(home if home is not None else _home()).rstrip("/")
    who = user if user is not None else _user()
    where = (host if host is not None else socket.gethostname()).lower()
    made: list[Rule] = []
    if folder.count("/") >= 2 and folder.lower() not in _SHARED_HOMES:
        made.append(Rule("home-folder", (folder.lower(),), re.compile(re.escape(folder) + r"(?![\w.-])")))
    if who and where and where.split(".")[0] not in _SHARED_HOSTS:
        address = f"{who}@{where}"
        made.append(
            Rule(
                "user-at-host",
                (address.lower(),),
                re.compile(rf"(?i)(?<![\w.-]){re.escape(address)}(?![\w-])"),
            )
        )
    return tuple(made)


def looks_random(value: str) -> bool:
    """Tell whether a value is dense enough to be a made-up secret and not a word, a path or a placeholder."""
    if not _TOKEN.fullmatch(value) or _PLACEHOLDER.search(value):
        return False
    kinds = sum(
        [
            any(char.islower() for char in value),
            any(char.isupper() for char in value),
            any(char.isdigit() for char in value),
        ]
    )
    return kinds >= 2 and any(char.isdigit() for char in value) and entropy(value) >= _ENTROPY


def entropy(text: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts) if text else 0.0


def _texts(value: object, place: str, key: str) -> Iterator[tuple[str, str, str]]:
    """Yield (place, key, text) of every text in a JSON value, without recursion: nesting may be deep."""
    waiting: list[tuple[object, str, str]] = [(value, place, key)]
    while waiting:
        one, where, name = waiting.pop()
        if isinstance(one, str):
            yield where, name, one
        elif isinstance(one, Mapping):
            for inner, held in reversed(list(one.items())):
                below = f"{where}.{inner}" if where else str(inner)
                waiting.append((held, below, str(inner)))
                waiting.append((str(inner), f"{where} (a key)".strip(), ""))
        elif isinstance(one, list | tuple):
            waiting.extend((held, f"{where}[{at}]", name) for at, held in reversed(list(enumerate(one))))


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, in a container
        return ""


def _has_digit(secret: str) -> bool:
    return any(char.isdigit() for char in secret) and entropy(secret) >= 3.0


def _not_example(secret: str) -> bool:
    return not secret.endswith("EXAMPLE") and entropy(secret) >= 2.5


def _is_model_key(secret: str) -> bool:
    longest = max(len(part) for part in re.split(r"[-_]", secret))
    return longest >= 20 and _has_digit(secret)


def _is_jwt(secret: str) -> bool:
    head = secret.split(".", 1)[0]
    try:
        return b'"alg"' in base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return False


def _is_password(secret: str) -> bool:
    return not _PLACEHOLDER.search(secret) and secret.strip("*x.•") != ""


_ENTROPY = 3.0
_TOKEN = re.compile(r"[!-~]{10,400}")
_PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|redacted|changeme|change_me|your[_-]|my[_-]?(?:password|secret|token|key)|xxxx|\*\*\*"
    r"|^(?:user(?:name)?|pass(?:word|wd)?|pwd|secret|token|null|none|true|false)$|[<>{}$%()\[\]]"
)
_SECRET_KEY = re.compile(
    r"(?i)(?:[a-z0-9]{1,20}[_-]){0,3}(?:password|passwd|passphrase|api[_-]?key|apikey|secret[_-]?key|client[_-]?secret"
    r"|access[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token"
    r"|private[_-]?key)"
)
_SHARED_HOMES = frozenset(
    ["/home/user", "/home/ubuntu", "/home/runner", "/home/app", "/home/node", "/users/runner", "/var/root",
     "/var/empty", "/nonexistent", "/home/vscode", "/home/jovyan", "/home/ec2-user"]
)  # fmt: skip

_SHARED_HOSTS = frozenset(
    ["localhost", "host", "example", "vm", "ubuntu", "debian", "server", "docker", "kali", "test"]
)


def _rule(name: str, needles: str, pattern: str, check: Check | None = None) -> Rule:
    return Rule(name, tuple(needles.split()), re.compile(pattern), check)


BUNDLED: tuple[Rule, ...] = (
    _rule("private-key", "-----begin", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
    _rule(
        "aws-key-id", "akia asia", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])", _not_example
    ),
    _rule(
        "aws-secret-key",
        "secret",
        r"(?i)aws.{0,20}secret.{0,20}[=:]\s{0,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        _not_example,
    ),
    _rule(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"(?<![A-Za-z0-9_])(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{40,90})(?![A-Za-z0-9_])",
        _has_digit,
    ),
    _rule("gitlab-token", "glpat-", r"(?<![\w-])glpat-[\w-]{20,60}(?![\w-])", _has_digit),
    _rule("slack-token", "xox", r"(?<![\w-])xox[abeoprs]-[A-Za-z0-9-]{10,250}(?![\w-])", _has_digit),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,20}/[A-Z0-9]{6,20}/[A-Za-z0-9]{16,40}",
    ),
    _rule(
        "model-api-key",
        "sk-",
        r"(?<![A-Za-z0-9_-])sk-(?:ant-|proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,250}(?![A-Za-z0-9_-])",
        _is_model_key,
    ),
    _rule("google-api-key", "aiza", r"(?<![\w-])AIza[\w-]{35}(?![\w-])", _has_digit),
    _rule(
        "google-oauth",
        "ya29. gocspx-",
        r"(?<![\w-])(?:ya29\.[\w-]{20,400}|GOCSPX-[\w-]{28})(?![\w-])",
        _has_digit,
    ),
    _rule("stripe-key", "k_live_", r"(?<![A-Za-z0-9])[sr]k_live_[A-Za-z0-9]{16,120}(?![A-Za-z0-9])"),
    _rule("sendgrid-key", "sg.", r"(?<![\w.-])SG\.[\w-]{22}\.[\w-]{43}(?![\w-])"),
    _rule("hugging-face-token", "hf_", r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{34,40}(?![A-Za-z0-9_])"),
    _rule("npm-token", "npm_", r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9_])", _has_digit),
    _rule("pypi-token", "pypi-ageicHlwas".lower(), r"(?<![\w-])pypi-AgEIcHlwaS[\w-]{50,400}"),
    _rule("jwt", "eyj", r"(?<![\w.-])eyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{16,2000}(?![\w-])", _is_jwt),
    _rule(
        "authorization-header",
        "authorization",
        r"(?i)(?<![\w-])authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3}"
        r"([A-Za-z0-9._~+/=-]{16,2000})",
        looks_random,
    ),
    _rule(
        "url-credentials",
        "://",
        r"://[^\s/:@?#\"'<>]{1,64}:([^\s/@?#\"'<>]{3,128})@[A-Za-z0-9\[]",
        _is_password,
    ),
    _rule(
        "assigned-secret",
        "passw passphrase key token secret",
        r"(?i)(?<![A-Za-z0-9])(?:[a-z0-9]{1,20}[_-]){0,3}(?:password|passwd|passphrase|api[_-]?key|secret[_-]?key"
        r"|client[_-]?secret|access[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token)"
        r"[\"']?\s{0,3}(?:=|:=|:|=>)\s{0,3}[\"']?([^\s\"'<>,;&|`\\]{10,400})",
        looks_random,
    ),
)
"""The rules that a capture and a public catalog are held against."""
