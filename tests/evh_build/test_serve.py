"""A built site on a port: to this machine alone, read-only, each page whole, and named."""

from __future__ import annotations

import hashlib
import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from evh.errors import Refusal
from evh.store import atomic
from evh_build import serve
from evh_build.serve import Server
from tests.helpers import tree_bytes

PAGE = (
    b'<!doctype html>\n<html><head><title>x</title></head>\n<body class="page">\n<p>hello</p>\n</body></html>'
)


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes


def lay(place: Path) -> Path:
    """Lay a site: a home page, a page in a folder, an asset, data; and a folder without a page."""
    for path, data in {
        "index.html": PAGE,
        "runs/index.html": PAGE.replace(b"hello", b"runs"),
        "items/a%2Fb.html": PAGE.replace(b"hello", b"item"),
        "assets/site.0123456789ab.css": b"p { color: red }",
        "downloads/t.csv": b"a,b\n",
        "empty/data.js": b"evhData(1)\n",
    }.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    return place


@contextmanager
def served(out: Path, name: str = "triage", root: Path = Path("/srv/projects/triage")) -> Iterator[Server]:
    """Serve a site on a free port."""
    server = serve.listening(out, name=name, root=root, port=0)
    server.begin()
    try:
        yield server
    finally:
        server.end()


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> Answer:
    """Send one request, its path as it is."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in sent)
    for name, value in sent.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return Answer(answer.status, dict(answer.headers), body)


def test_a_port_is_a_projects_own() -> None:
    """By the sha256 of the real path (coreutils' sha256sum): the same every time, another for another."""
    assert serve.port_of(Path("/srv/projects/triage")) == 23_600  # 300fd3b0… % 20000 + 20000
    assert serve.port_of(Path("/srv/projects/other")) == 21_228  # 4ff7d20c…


def test_a_link_to_a_project_has_its_port(tmp_path: Path) -> None:
    """The path is the real one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert serve.port_of(tmp_path / "link") == serve.port_of(tmp_path / "real")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """By default the next free one is taken; a port that was asked for is that one or none."""
    site = lay(tmp_path / "site")
    with served(site) as first:
        second = serve.listening(site, name="n", root=tmp_path, port=first.port)
        try:
            assert second.port > first.port
        finally:
            second.end()
        with pytest.raises(Refusal) as caught:
            serve.listening(site, name="n", root=tmp_path, port=first.port, fixed=True)
        assert caught.value.code == "port-taken"
        assert str(first.port) in caught.value.why[0]
        assert not site.joinpath("x").exists()


def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    """No other address of this machine answers."""
    with served(lay(tmp_path / "site")) as server:
        assert server.server_address[0] == "127.0.0.1"
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            other.connect(("127.0.0.2", server.port))


def test_a_page_has_one_line_more_than_its_file(tmp_path: Path) -> None:
    """Project, folder and port stand in a served page right after <body>; the file has none of them."""
    site = lay(tmp_path / "site")
    before = tree_bytes(site)
    with served(site) as server:
        body = ask(server, "/index.html").body
        head, tail = PAGE.split(b'<body class="page">')
        assert body.startswith(head + b'<body class="page">')
        assert body.endswith(tail)
        line = body[len(head) + len(b'<body class="page">') : -len(tail)].decode()
        assert "<b>triage</b>" in line
        assert "<code>/srv/projects/triage</code>" in line
        assert f"port {server.port}" in line
        assert 'src="/-/serve.js"' in line
        for other in ("assets/site.0123456789ab.css", "downloads/t.csv", "empty/data.js"):
            assert ask(server, f"/{other}").body == (site / other).read_bytes()
    assert tree_bytes(site) == before


def test_names_are_text(tmp_path: Path) -> None:
    """A project's name and folder are no HTML, and hide no characters."""
    name, root = "<script>x</script>\u202e", Path('/srv/"<img src=x onerror=1>\n/p')
    with served(lay(tmp_path / "site"), name, root) as server:
        body = ask(server, "/").body.decode()
    assert "<script>x" not in body
    assert "&lt;script&gt;x&lt;/script&gt;⟨U+202E⟩" in body
    assert "<img" not in body
    assert "\u202e" not in body


def test_paths_lead_to_pages(tmp_path: Path) -> None:
    """A folder with a page gives it; without the last slash it leads there; a coded name is one name."""
    with served(lay(tmp_path / "site")) as server:
        assert b"hello" in ask(server, "/").body
        assert b"hello" in ask(server, "/?x=1#y").body
        assert b"runs" in ask(server, "/runs/").body
        moved = ask(server, "/runs")
        assert (moved.status, moved.headers["Location"]) == (302, "/runs/")
        assert b"item" in ask(server, "/items/a%252Fb.html").body
        kinds = {
            "/": "text/html; charset=utf-8",
            "/empty/data.js": "text/javascript; charset=utf-8",
            "/downloads/t.csv": "text/csv; charset=utf-8",
            "/assets/site.0123456789ab.css": "text/css; charset=utf-8",
            "/-/serve.js": "text/javascript; charset=utf-8",
            "/-/serve.css": "text/css; charset=utf-8",
        }
        assert {path: ask(server, path).headers["Content-Type"] for path in kinds} == kinds


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/runs/../../secret.txt", "/runs/..",
        "//etc/passwd", "/./index.html", "/runs//index.html", "/..\\secret.txt", "/%00", "/index.html%00",
        "/%ff", "/empty/", "/empty", "/out.txt", "/linked/secret.txt", "http://127.0.0.1/index.html", "*",
        "/index.html/", "/" + "x" * 5_000, "/-/", "/-/other.js",
    ],
)  # fmt: skip
def test_nothing_but_the_sites_files(tmp_path: Path, path: str) -> None:
    """No step upward, no link out of the site, no list of a folder, no other form of a path."""
    (tmp_path / "secret.txt").write_text("a secret")
    site = lay(tmp_path / "site")
    (site / "out.txt").symlink_to(tmp_path / "secret.txt")
    (site / "linked").symlink_to(tmp_path)
    with served(site) as server:
        answer = ask(server, path)
    assert answer.status == 404
    assert b"secret" not in answer.body
    assert b"data.js" not in answer.body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "0.0.0.0"])
def test_another_name_for_this_machine_is_refused(tmp_path: Path, host: str) -> None:
    """DNS rebinding: a page of elsewhere whose name leads here sends its own name as Host."""
    with served(lay(tmp_path / "site")) as server:
        answer = ask(server, "/", Host=host)
        assert answer.status == 403
        assert b"hello" not in answer.body
        for good in ("127.0.0.1", f"localhost:{server.port}", "LOCALHOST", "[::1]:1"):
            assert ask(server, "/", Host=good).status == 200


def test_pages_of_other_sites_read_nothing(tmp_path: Path) -> None:
    """A script or picture that another origin asks for is refused; a link that a reader follows is not."""
    with served(lay(tmp_path / "site")) as server:
        for site in ("cross-site", "same-site"):
            asked = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": "no-cors"}
            assert ask(server, "/empty/data.js", **asked).status == 403
            assert ask(server, "/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200
        assert ask(server, "/", Sec_Fetch_Site="same-origin", Sec_Fetch_Mode="no-cors").status == 200
        headers = ask(server, "/").headers
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT"])
def test_it_writes_nothing(tmp_path: Path, method: str) -> None:
    """Every method but GET and HEAD is refused."""
    site = lay(tmp_path / "site")
    before = tree_bytes(site)
    with served(site) as server:
        answer = ask(server, "/index.html", method, Content_Length="0")
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
        assert ask(server, "/").status == 200
    assert tree_bytes(site) == before


def test_head_says_what_get_would(tmp_path: Path) -> None:
    """The same headers, no body."""
    with served(lay(tmp_path / "site")) as server:
        whole, head = ask(server, "/"), ask(server, "/", "HEAD")
        assert head.body == b""
        kept = ("Content-Length", "Content-Type", "ETag", "Cache-Control")
        assert {key: head.headers[key] for key in kept} == {key: whole.headers[key] for key in kept}


def test_a_page_that_is_known_is_not_sent_again(tmp_path: Path) -> None:
    """Its ETag gives 304, until its bytes change; hashed assets are never asked for again."""
    site = lay(tmp_path / "site")
    with served(site) as server:
        first = ask(server, "/")
        assert first.headers["Cache-Control"] == "no-cache"
        again = ask(server, "/", If_None_Match=f'"other", W/{first.headers["ETag"]}')
        assert (again.status, again.body) == (304, b"")
        (site / "index.html").write_bytes(PAGE.replace(b"hello", b"HELLO"))
        assert ask(server, "/", If_None_Match=first.headers["ETag"]).status == 200
        asset = ask(server, "/assets/site.0123456789ab.css")
        assert asset.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_an_open_page_hears_that_it_was_rebuilt(tmp_path: Path) -> None:
    """What it is known by is in the page and in the script that it asks for: the built bytes' hash."""
    site = lay(tmp_path / "site")
    with served(site) as server:
        known = hashlib.sha256(PAGE).hexdigest()[:32]
        assert f'data-tag="{known}"'.encode() in ask(server, "/").body
        for page in ("%2F", "%2Findex.html"):
            assert ask(server, f"/-/now.js?page={page}&at=1").body == f'evhServed("{known}");\n'.encode()
        (site / "index.html").write_bytes(b"<body>new")
        assert known.encode() not in ask(server, "/-/now.js?page=%2F").body
        for page in ("%2Fgone.html", "%2F..%2Fx", "%22)%3Balert(1)%2F%2F", ""):
            assert ask(server, f"/-/now.js?page={page}").body == b'evhServed("");\n'


def test_a_swap_shows_no_half(tmp_path: Path) -> None:
    """While the site is swapped 150 times, its page is there each time, whole: the old or the new."""
    site = lay(tmp_path / "site")
    wrong: list[object] = []
    n, done = [0], threading.Event()

    def read(server: Server) -> None:
        while not done.is_set():
            answer = ask(server, "/runs/index.html")
            n[0] += 1
            bodies = [answer.body.count(b"runs %d!" % one) for one in range(2)]
            if answer.status != 200 or sorted(bodies) != [0, 2_000]:
                wrong.append((answer.status, bodies))

    def build(number: int) -> None:
        with atomic.replaced_folder(site, flushed=False) as writer:
            writer.add("manifest.json", b"{}")
            writer.add("runs/index.html", b"<body>" + b"runs %d!" % (number % 2) * 2_000)

    build(0)
    with served(site) as server:
        readers = [threading.Thread(target=read, args=(server,)) for _ in range(3)]
        for one in readers:
            one.start()
        for number in range(150):
            build(number)
        done.set()
        for one in readers:
            one.join()
    assert wrong == []
    assert n[0] > 30
