"""Asking one server, within bounds; nothing here reaches further than loopback."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gpuassist.model.words import ENGLISH
from gpuassist.system import web
from gpuassist.system.web import Credentials, WebError, WebReader, basic, netrc_of, read_address, token_in
from tests.rows import for_each
from tests.scripted_http import Asked, Reply, serving


def reader(address: str, credentials: Credentials = web.NOBODY, seconds: float = 5.0) -> WebReader:
    return WebReader(read_address(address)[0], credentials, seconds=seconds)


def refused(server: WebReader) -> str:
    with pytest.raises(WebError) as caught:
        server.get("/x", {})
    return ENGLISH(caught.value.reason)


@for_each(
    "words, shown",
    (
        ("prom:9090", "http://prom:9090"),
        (" http://prom.example/ ", "http://prom.example"),
        ("https://prom:9090/a/b/", "https://prom:9090/a/b"),
        ("https://user:secret@prom", "https://prom"),
        ("http://[::1]:9090", "http://[::1]:9090"),
        ("http://prom:9090/graph?g0.expr=up", "http://prom:9090"),
        ("http://prom/prometheus/api/v1/query", "http://prom/prometheus"),
    ),
)
def test_an_address_is_shown_without_a_password(words: str, shown: str) -> None:
    address, credentials = read_address(words)
    assert address.shown == shown
    assert bool(credentials.header) is ("@" in words)
    assert "secret" not in repr((address, credentials))


@for_each("words", ("", "ftp://x", "http://", "http://a b", "http://x:99999", "http://x:y", "file:///etc/passwd", "http://\n"))
def test_what_is_no_address(words: str) -> None:
    with pytest.raises(WebError):
        read_address(words)


def test_what_is_asked_and_answered() -> None:
    with serving(lambda asked: Reply(asked.question["q"].encode(), 503)) as server:
        answer = reader(f"{server.address}/sub", basic("me", "word")).get("/api", {"q": "a&b=ü"})
    assert (answer.status, answer.body.decode()) == (503, "a&b=ü")
    assert server.asked[0].path == "/sub/api"
    assert server.asked[0].headers["Authorization"] == "Basic bWU6d29yZA=="


def test_another_path_of_the_same_server_is_gone_to_and_another_server_is_not() -> None:
    wanted = [""]

    def answer(asked: Asked) -> Reply:
        return Reply(b"here") if asked.path == "/login" else Reply(status=302, headers={"Location": wanted[0]})

    with serving(answer) as server:
        asking = reader(server.address, basic("me", "word"))
        for wanted[0] in ("/login", f"{server.address}/login"):
            assert asking.get("/x", {}).body == b"here"
        for wanted[0] in ("http://localhost/x", "//evil.example/x", f"http://127.0.0.1:{server.port + 1}/x", "https://127.0.0.1/x"):
            assert "sends on to" in refused(asking)
        for wanted[0] in ("http://[/", "x", "http://127.0.0.1:x/"):
            assert "an address that is none" in refused(asking)
        wanted[0] = "/x"
        assert "on and on" in refused(asking)


@for_each("reply", (Reply(hangs=True), Reply(b"half", headers={"Content-Length": "900"}, hangs=True, begun=True)))
def test_a_slow_one_is_left_after_its_time(reply: Reply) -> None:
    with serving(lambda _: reply) as server:
        assert "no answer within" in refused(reader(server.address, seconds=0.1))


def test_an_answer_of_any_length_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "ANSWER_AT_MOST_BYTES", 1 << 20)
    with serving(lambda _: Reply(b"x" * ((1 << 20) + 1))) as server:
        assert "longer than 1 MiB" in refused(reader(server.address))


def test_who_waits_is_woken() -> None:
    arrived = threading.Event()

    def answer(_: Asked) -> Reply:
        arrived.set()
        return Reply(hangs=True)

    with serving(answer) as server:
        asking = reader(server.address, seconds=60.0)

        def wake() -> None:
            arrived.wait()
            asking.interrupt()

        threading.Thread(target=wake, daemon=True).start()
        assert "no longer wanted" in refused(asking)


def test_a_server_that_is_not_there() -> None:
    for scheme in ("http", "https"):
        assert "nothing listens" in refused(reader(f"{scheme}://127.0.0.1:1"))


def test_http_where_https_was_named() -> None:
    with serving(lambda _: Reply()) as server:
        assert "no secure connection" in refused(reader(server.address.replace("http:", "https:")))


@for_each(
    ("bytes_sent", "words"),
    (
        (b"", "broke off"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "is the port right?"),
        (b"HTTP/1.1 abc\r\n\r\n", "is the port right?"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: " + b"b" * 70_000, "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "in the middle of its answer"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}", "in the middle of its answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", "gzip"),
    ),
)
def test_a_server_of_another_kind(bytes_sent: bytes, words: str) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(bytes_sent)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        assert words in refused(reader(f"http://127.0.0.1:{listening.getsockname()[1]}"))
        thread.join()


def test_a_netrc_is_read_as_others_read_it(tmp_path: Path) -> None:
    path = tmp_path / ".netrc"
    assert netrc_of("prom", {}, str(tmp_path)) == Credentials()
    path.write_text("machine prom login me password word\n")
    path.chmod(0o600)
    assert netrc_of("prom", {}, str(tmp_path)) == basic("me", "word")
    assert netrc_of("other", {}, str(tmp_path)) == Credentials()
    path.rename(tmp_path / "elsewhere")
    assert netrc_of("prom", {"NETRC": str(tmp_path / "elsewhere")}, "/") == basic("me", "word")


def test_a_netrc_or_a_token_that_cannot_be_read_is_told_and_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = (b"machine prom login me passwrd secret", b"\xff\xfe\0secret", b"secret " * 20_000)
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(WebError) as of_netrc:
            netrc_of("prom", {"NETRC": str(path)}, "/")
        with pytest.raises(WebError) as of_token:
            token_in(str(path))
        assert not any("secret" in ENGLISH(one.value.reason) for one in (of_netrc, of_token))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WebError):
        token_in(str(tmp_path / "pipe"))
    path.write_text("eyJhbGciOi.x-y_z\n")
    assert token_in(str(path)) == Credentials("Bearer eyJhbGciOi.x-y_z")
