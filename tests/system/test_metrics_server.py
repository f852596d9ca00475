"""Who scrapes is answered, on loopback, and whoever only holds a connection holds up nobody."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpuassist.model.words import ENGLISH
from gpuassist.system import metrics_server
from gpuassist.system.metrics_server import ListenAddress, ListenError, MetricsServer, read_listen_address
from tests.rows import for_each


class One(Collector):
    """Tells one figure."""

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("one", "One.", 1.0)


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    made = MetricsServer(ListenAddress("127.0.0.1", 0), One())
    yield made
    made.stop()


def read(server: MetricsServer, path: str = "/metrics") -> str:
    with urlopen(f"http://127.0.0.1:{server.address.port}{path}", timeout=5) as answer:
        return str(answer.read().decode())


@for_each(
    "words, host, port",
    (
        ("9400", "127.0.0.1", 9400),
        (":9400", "127.0.0.1", 9400),
        ("0.0.0.0:9400", "0.0.0.0", 9400),
        ("[::1]:9400", "::1", 9400),
        ("localhost:0", "localhost", 0),
    ),
)
def test_where_is_listened(words: str, host: str, port: int) -> None:
    assert read_listen_address(words) == ListenAddress(host, port)
    assert read_listen_address(words).is_loopback is (host != "0.0.0.0")


@for_each("words", ("", "x", "host:", "host:70000", "http://host:9400", "host:9400/metrics", "a b:1", "host:-1", "host:９４００"))
def test_what_is_no_place_to_listen(words: str) -> None:
    with pytest.raises(ListenError):
        read_listen_address(words)


def test_metrics_are_there_and_nothing_else(server: MetricsServer) -> None:
    assert "one 1.0" in read(server)
    assert "/metrics" in read(server, "/")
    with pytest.raises(HTTPError) as caught, urlopen(f"http://127.0.0.1:{server.address.port}/../etc/passwd", timeout=5):
        pass
    assert caught.value.code == 404
    caught.value.close()


def test_who_says_nothing_holds_up_nobody(server: MetricsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    place = ("127.0.0.1", server.address.port)
    silent = [socket.create_connection(place) for _ in range(metrics_server._AT_ONCE - 1)]
    assert "one 1.0" in read(server)
    for one in silent:
        one.close()


def test_nonsense_is_answered_and_the_next_one_served(server: MetricsServer) -> None:
    for nonsense in (b"\0\xff\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"A" * 70_000 + b"\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.address.port), timeout=5) as one:
            try:
                one.sendall(nonsense)
                one.recv(4096)
            except OSError:
                pass  # it was cut
    assert "one 1.0" in read(server)


def test_why_it_cannot_listen(server: MetricsServer) -> None:
    for wanted, words in ((server.address, "is taken"), (ListenAddress("203.0.113.7", 0), "no address of this machine")):
        with pytest.raises(ListenError) as caught:
            MetricsServer(wanted, One())
        assert words in ENGLISH(caught.value.reason)


def test_what_has_stopped_listens_no_more() -> None:
    server = MetricsServer(ListenAddress("127.0.0.1", 0), One())
    server.stop()
    MetricsServer(server.address, One()).stop()  # the port is free
