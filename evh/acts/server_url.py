"""Whether an address can be that of a model server."""

from __future__ import annotations

from urllib.parse import urlsplit


def bad_url(url: str) -> str | None:
    """Return why no server can be asked at an address, or None where one can.

    Args:
        url: with the version, as in ``http://localhost:8000/v1``.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"is not a URL: {error}"
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or any(not sign.isprintable() for sign in url)
    ):
        return "is not a URL that begins with http:// or https://"
    if parts.username is not None or parts.password is not None:
        return "holds a password: a secret is never in a file; name its variable in api_key_env"
    if parts.query or parts.fragment:
        return "holds a query or a fragment"
    if parts.path.rstrip("/").endswith("/chat/completions"):
        return "leave /chat/completions off: it is added"
    if port == 0:
        return "names the port 0, which no server has"
    return _bad_host(url, parts.hostname)


def _bad_host(url: str, host: str) -> str | None:
    import httpx

    if " " in host:
        return "holds a blank in the server's name"
    try:
        asked = httpx.URL(url).host
        if ":" not in asked:  # the name is looked up in this form; an address of IPv6 is not
            asked.encode("idna")
    except (httpx.InvalidURL, UnicodeError) as error:
        told = "a part of it is empty or longer than 63 signs" if "label" in str(error) else str(error)
        return f"holds a server's name that no network can look up: {told[:200]}"
    return None
