"""A built site served read-only on this machine: each project on a port of its own, its pages named.

A page from disk and a page served have the same bytes but for one line: where the site lies and on which
port it is served. The server puts that line in as it answers, so a build never depends on folder or port.

What a browser may be made to ask by other sites is refused: another host's name in ``Host`` (DNS rebinding),
and a script, a frame or a picture that a page of another origin wants (``Sec-Fetch-Site``).
"""

from __future__ import annotations

import html
import os
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

from evh.errors import Refusal
from evh.store.hashing import sha256, sha256_text
from evh.store.regular import read_file
from evh_build.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
FIRST, LAST = 20_000, 39_999
"""The ports that projects get: above those that services are known by."""
TRIES = 200
OWN = "/-/"
"""Where the server's own answers lie; no page of a site does."""
WAIT_S = 1.0
_NAMES = ("127.0.0.1", "localhost", "[::1]")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".gz": "application/gzip",
    ".parquet": "application/vnd.apache.parquet",
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_ASSETS = "assets/"


def port_of(root: Path) -> int:
    """Return the port of a project's own: the same every time, by the real path of its folder.

    It is 20000 plus the first 8 hex digits of the sha256 of that path, modulo 20,000.
    """
    return FIRST + int(sha256_text(os.path.realpath(root))[:8], 16) % (LAST - FIRST + 1)


def listening(out: Path, *, name: str, root: Path, port: int, fixed: bool = False) -> Server:
    """Return a server of the site in ``out`` that listens on loopback; `Server.serve_forever` answers.

    Args:
        out: the site's folder; it may be swapped for another at any time.
        name: the project's name.
        root: the project's folder, shown on the pages.
        port: the port; where it is taken, the next free one. 0 takes any that is free.
        fixed: take this port or none.

    Raises:
        Refusal: the port is taken or may not be used; none near it is free.
    """
    tried = [port] if fixed or port == 0 else list(_near(port))
    reasons = []
    for one in tried:
        try:
            return Server(out, name=name, root=root, port=one)
        except (OSError, OverflowError) as error:
            reasons.append(f"port {one}: {getattr(error, 'strerror', None) or error}")
    raise Refusal(
        "port-taken",
        f"the catalog cannot be served on port {port}",
        why=reasons,
        next="evh catalog-serve without --port takes the next free one",
    )


def _near(port: int) -> Iterator[int]:
    """Give the port, then those after it; after the last the first."""
    span = LAST - FIRST + 1
    for step in range(TRIES):
        yield FIRST + (port - FIRST + step) % span if FIRST <= port <= LAST else min(port + step, 65_535)


class Server(ThreadingHTTPServer):
    """The site of one folder on 127.0.0.1, a thread a connection, read-only."""

    daemon_threads = True
    # On Windows the flag would let two servers take one port.
    allow_reuse_address = os.name == "posix"
    request_queue_size = 64

    def __init__(self, out: Path, *, name: str, root: Path, port: int) -> None:
        self.out = out
        self._thread: Thread | None = None
        super().__init__((HOST, port), _Answer)
        self.port = int(self.server_address[1])
        self._told = tuple(html.escape(visible(one)) for one in (name, str(root)))
        self.own = {
            f"{OWN}{one}": read_file(Path(__file__).with_name(one)) for one in ("serve.js", "serve.css")
        }

    def begin(self) -> None:
        """Answer, in a thread of its own, until `end`."""
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Answer no more, and give the port back."""
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
        self.server_close()

    def server_bind(self) -> None:
        """Take the port; the standard server would ask the network for this machine's name too."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the home page."""
        return f"http://{HOST}:{self.port}/"

    def page(self, path: str) -> bytes | None:
        """Return what is served for a path of the site (``runs/index.html``), or None: there is no such file.

        A page has the server's line; everything else is as it was built. A file is opened by its whole path,
        so that it is the old site's or the new one's while one is put in place of the other.
        """
        data = self._read(path)
        if data is None or not path.endswith(".html"):
            return data
        at = data.find(b"<body")
        end = data.find(b">", at) + 1 if at >= 0 else 0
        return data[:end] + b"\n" + self._bar(tag(data)) + data[end:]

    def tag(self, path: str) -> str:
        """Return what a page of the site is known by now; empty where there is none."""
        data = self._read(path)
        return "" if data is None else tag(data)

    def _bar(self, known_by: str) -> bytes:
        """Return the line that a served page begins with: it names the project, its folder and the port."""
        name, root = self._told
        return (
            f'<link rel="stylesheet" href="{OWN}serve.css"><script src="{OWN}serve.js" defer></script>\n'
            f'<aside class="evh-served" aria-label="Served from" data-tag="{known_by}"><b>{name}</b> '
            f"<code>{root}</code> <span>port {self.port}</span> "
            f'<span class="evh-served-news" role="status"></span></aside>\n'
        ).encode("utf-8", "replace")

    def is_folder(self, path: str) -> bool:
        """Tell whether the site has a folder of that name with a page of its own."""
        return self._read(f"{path}/index.html") is not None

    def _read(self, path: str) -> bytes | None:
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                return read_file(self.out / path, follow=False) if self._inside(path) else None
            except (FileNotFoundError, NotADirectoryError):
                # Where folders cannot be exchanged in one step, the site's place is empty for an instant.
                if self.out.is_dir() or time.monotonic() > deadline:
                    return None
                time.sleep(0.005)
            except (OSError, ValueError):
                return None

    def _inside(self, path: str) -> bool:
        """Tell whether no folder on the way is a link out of the site."""
        base = os.path.realpath(self.out)
        return Path(os.path.realpath(self.out / path)).is_relative_to(base)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away in the middle of an answer."""


class _Answer(BaseHTTPRequestHandler):
    """One request: GET or HEAD of a file of the site, or of the server's own answers."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "evh"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        """Answer with the file."""
        refused = self._refused()
        if refused is not None:
            self._say(HTTPStatus.FORBIDDEN, refused)
            return
        if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
            self.close_connection = True  # what it sends is not read, and must not pass for a request
        target, _, query = self.path.partition("#")[0].partition("?")
        if target in self.server.own:
            self._send(Path(target).suffix, self.server.own[target])
        elif target == f"{OWN}now.js":
            self._send(".js", self._now(parse_qs(query).get("page", [""])[-1]))
        else:
            self._file(target)

    do_HEAD = do_GET  # noqa: N815 - the standard server's name

    def _refused(self) -> str | None:
        """Return why the request is not one of this site's own, or None."""
        host = self.headers.get("Host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if name.lower() not in _NAMES:
            return f"this catalog answers to {self.server.url} alone"
        site, mode = self.headers.get("Sec-Fetch-Site"), self.headers.get("Sec-Fetch-Mode")
        if site in ("cross-site", "same-site") and mode != "navigate":
            return "pages of other sites read nothing here"
        return None

    def _now(self, page: str) -> bytes:
        """Return a script that tells what a page is known by now: an open page with another is old."""
        path = _path(page)
        return b'evhServed("%s");\n' % ("" if path is None else self.server.tag(path)).encode()

    def _file(self, target: str) -> None:
        path = _path(target)
        data = None if path is None else self.server.page(path)
        if data is not None and path is not None:
            hashed = path.startswith(_ASSETS)
            self._send(Path(path).suffix, data, lasting=hashed)
        elif path is not None and self.server.is_folder(path):
            self.send_response(HTTPStatus.FOUND)
            self._end({"Location": f"/{quote(path)}/", "Content-Length": "0"})
        else:
            self._say(HTTPStatus.NOT_FOUND, "there is no such page in this catalog")

    def _send(self, ending: str, data: bytes, *, lasting: bool = False) -> None:
        known_by = f'"{tag(data)}"'
        cache = "public, max-age=31536000, immutable" if lasting else "no-cache"
        headers = {"ETag": known_by, "Cache-Control": cache}
        known = [one.strip().removeprefix("W/") for one in self.headers.get("If-None-Match", "").split(",")]
        if known_by in known or known == ["*"]:
            self.send_response(HTTPStatus.NOT_MODIFIED)
            self._end(headers)
            return
        self.send_response(HTTPStatus.OK)
        kind = _TYPES.get(ending.lower(), "application/octet-stream")
        self._end({**headers, "Content-Type": kind, "Content-Length": str(len(data))}, data)

    def _say(self, status: HTTPStatus, text: str) -> None:
        data = f"{text}\n".encode()
        self.send_response(status)
        headers = {"Content-Type": _TYPES[".txt"], "Content-Length": str(len(data))}
        self._end({**headers, "Cache-Control": "no-store"}, data)

    def _end(self, headers: dict[str, str], data: bytes = b"") -> None:
        for name, value in {**_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what cannot be answered: another method, a request that is none."""
        del explain
        self.close_connection = True
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        text = (message or status.phrase).encode("ascii", "replace") + b"\n"
        self.send_response(status)
        self.send_header("Allow", "GET, HEAD")
        self.send_header("Connection", "close")
        self._end({"Content-Type": _TYPES[".txt"], "Content-Length": str(len(text))}, text)

    def log_message(self, *args: object) -> None:
        """Say nothing of each request."""


def _path(target: str) -> str | None:
    """Return the path below the site that a URL's path names, or None: it names none.

    ``/`` at the end means the folder's ``index.html``. A ``..``, an empty step or a separator of another
    system is no path.
    """
    if not target.startswith("/"):
        return None
    try:
        path = unquote(target[1:], errors="strict")
    except UnicodeDecodeError:
        return None
    if path == "" or path.endswith("/"):
        path += "index.html"
    steps = path.split("/")
    if any(step in ("", ".", "..") or "\\" in step or "\0" in step for step in steps):
        return None
    return path


def tag(data: bytes) -> str:
    """Return what bytes are known by: the start of their sha256."""
    return sha256(data)[:32]
