"""What counts as a secret, what does not, and that finding one takes linear time."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from evh.store import rows, secrets

# Every value below is made up in the form that its issuer documents. They are put together here so that no
# scanner takes this file for a leak.
DIGITS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
SECRETS = {
    "private-key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn",
    "aws-key-id": "AKIA" + "Z7Q3M5T2W4R6Y2UX",
    "aws-secret-key": "aws_secret_access_key = " + DIGITS[:38] + "/+",
    "github-token": "ghp_" + DIGITS[:36],
    "gitlab-token": "glpat-" + DIGITS[:20],
    "slack-token": "xoxb-" + "123456789012-" + DIGITS[:24],
    "slack-webhook": "https://hooks.slack.com/services/" + "T0AB12CD3/B0AB12CD3/" + DIGITS[:24],
    "model-api-key": "sk-proj-" + DIGITS[:40],
    "google-api-key": "AIza" + DIGITS[:35],
    "google-oauth": "GOCSPX-" + DIGITS[:28],
    "stripe-key": "sk_" + "live_" + DIGITS[:24],
    "sendgrid-key": "SG." + DIGITS[:22] + "." + (DIGITS * 2)[:43],
    "hugging-face-token": "hf_" + DIGITS[:34],
    "npm-token": "npm_" + DIGITS[:36],
    "pypi-token": "pypi-AgEIcHlwaS" + (DIGITS * 2)[:60],
    # The header {"alg":"HS256","typ":"JWT"} and body of RFC 7519's introduction at jwt.io.
    "jwt": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + DIGITS,
    "authorization-header": "Authorization: Bearer " + DIGITS[:30],
    "url-credentials": "postgres://admin:" + "s3cr3tPw" + "@db.internal:5432/x",
    "assigned-secret": 'db_password="' + DIGITS[:16] + '"',
}

HARMLESS = (
    "the commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed it",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "A hardcoded password vulnerability allows a remote attacker to read the api key.",
    "password: the user's password is stored in plain text",
    "password=changeme",
    "PASSWORD = os.environ['DB_PASSWORD_2024']",
    "api_key: ${OPENAI_API_KEY_2}",
    "token = <your-token-here-123>",
    "secret_key='xxxxxxxxxxxx1X'",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "https://user:password@example.org/path",
    "http://user:***@host/",
    "https://example.org:8080/a@b",
    "mailto:someone@example.org",
    "/home/alice/.ssh/id_rsa and /root/.bashrc are read",
    "sk-learn-pipelines-are-a-good-example-of-this",
    "task-force-2024-on-risk-models-and-their-use",
    "eyJhbGciOiJI",
    "-----BEGIN PUBLIC KEY-----",
    "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
)


@pytest.mark.parametrize("rule", SECRETS)
def test_a_secret_is_found_by_its_rule(rule: str) -> None:
    """In the middle of a text, by the rule of its issuer; four characters at most are shown."""
    hits = secrets.find(f"before {SECRETS[rule]} after")
    assert rule in {hit.rule for hit in hits}
    for hit in hits:
        assert hit.shown == f"before {SECRETS[rule]} after"[hit.start : hit.start + 4] + "…"


def test_there_is_a_case_for_every_rule() -> None:
    """A new rule needs a secret here."""
    assert {rule.name for rule in secrets.BUNDLED} == set(SECRETS)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_is_none(text: str) -> None:
    """Hashes, ids, placeholders, published examples, words, and paths of other machines."""
    assert secrets.find(text) == []


def test_secrets_are_found_anywhere_in_a_record() -> None:
    """Nested values, lists and keys; the place is told."""
    record = {"a": {"b": ["x", SECRETS["aws-key-id"]]}, SECRETS["github-token"]: 1, "n": 5, "none": None}
    assert [(hit.rule, hit.place) for hit in secrets.find_in(record)] == [
        ("aws-key-id", "a.b[1]"),
        ("github-token", "(a key)"),
    ]


def test_a_key_that_names_a_secret_makes_its_value_one() -> None:
    """`{"password": …}` counts when the value is no word; a token count does not."""
    assert [hit.place for hit in secrets.find_in({"db": {"password": "q8Zr2Lx9Tm4W"}})] == ["db.password"]
    assert (
        secrets.find_in(
            {"password": "forgotten", "api_key": None, "tokens": "1234567890", "key": "q8Zr2Lx9T"}
        )
        == []
    )


def test_only_this_machines_home_and_host_count() -> None:
    """Another's home does not; a longer name that starts alike does not."""
    rules = secrets.this_machine(Path("/home/mira"), "mira", "box.lan")
    assert [hit.rule for hit in secrets.find("in /home/mira/x by mira@box.lan", rules)] == [
        "home-folder",
        "user-at-host",
    ]
    assert secrets.find("/home/miranda /home/ann mira@other.lan xmira@box.lan", rules) == []


def test_a_home_or_host_that_many_machines_share_gives_no_rule() -> None:
    """/root and localhost name nobody."""
    assert secrets.this_machine(Path("/root"), "root", "localhost") == ()
    assert secrets.this_machine(Path("/"), "", "") == ()


HOSTILE = (
    "eyJ" * 30_000,
    "eyJ" + "a" * 90_000 + ".",
    "://" + "a:" * 40_000,
    "://a" * 25_000,
    "password" * 12_000,
    "password:" * 11_000,
    "a_" * 45_000 + "password",
    "-----BEGIN " + "A " * 45_000,
    "aws secret " * 9_000,
    "sk-" * 30_000,
    "authorization: bearer " * 4_000,
    "xox" + "b-" * 45_000,
    '"' * 90_000 + "key token secret passw",
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    """Twice the text takes about twice the time, far from the fourfold of a quadratic pattern."""

    def seconds(part: str) -> float:
        best = 9.0
        for _ in range(3):
            start = time.process_time()
            secrets.find(part)
            best = min(best, time.process_time() - start)
        return best

    half, whole = seconds(text[: len(text) // 2]), seconds(text)
    assert whole < max(3.3 * half, 0.05)


def test_the_samples_records_hold_no_secret() -> None:
    """1,076 vulnerability reports, full of words such as password and token, give no hit."""
    file = Path(__file__).resolve().parents[2] / "data" / "raw" / "cve-triage.jsonl"
    taken = rows.read(file)
    assert len(taken) == 1076
    assert [hit for row in taken for hit in secrets.find_in(row)] == []


def test_random_hex_is_never_a_secret() -> None:
    """Ten thousand hashes of 32, 40 and 64 digits."""
    draw = random.Random(0)
    text = " ".join(draw.randbytes(size).hex() for size in (16, 20, 32) for _ in range(3334))
    assert secrets.find(text) == []
