"""Answers `/metrics` over HTTP, for whoever scrapes: a thread a question, few at a time, none of them for long."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from threading import BoundedSemaphore, Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from msgspec import Struct

from gpuassist.model.text import Text, text, verbatim

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

_AT_ONCE = 16
_SECONDS_AT_MOST = 10.0
_STOP_SECONDS = 2.0
LOOPBACK = "127.0.0.1"


class ListenError(Exception):
    """Nothing is served, for this reason."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason.message)
        self.reason = reason


class ListenAddress(Struct, frozen=True):
    """Where is listened; a port of 0 is any that is free."""

    host: str
    port: int

    @property
    def shown(self) -> str:
        return f"http://[{self.host}]:{self.port}/metrics" if ":" in self.host else f"http://{self.host}:{self.port}/metrics"

    @property
    def is_loopback(self) -> bool:
        return self.host.startswith("127.") or self.host in {"::1", "localhost"}


def read_listen_address(words: str) -> ListenAddress:
    """`9400` and `:9400` are this machine's loopback; raises `ListenError`."""
    host, colon, port = words.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else ""
    if not port.isascii() or not port.isdigit() or int(port) > 65535 or any(one.isspace() or one in "/@" for one in host):
        raise ListenError(text("{words} is no address to listen on: it looks like 127.0.0.1:9400", words=verbatim(words or '""')))
    return ListenAddress(host or LOOPBACK, int(port))


class MetricsServer:
    """Made, it answers with what the collector tells; raises `ListenError` where it cannot listen."""

    def __init__(self, wanted: ListenAddress, collector: Collector) -> None:
        try:
            from prometheus_client import CollectorRegistry, make_wsgi_app
        except ImportError as error:  # it needs Python's ssl, which not every Python has
            words = verbatim(str(error))
            raise ListenError(
                text("{module} is not there, which answers Prometheus: {words}", module="prometheus-client", words=words)
            ) from error
        registry = CollectorRegistry(auto_describe=False)
        registry.register(collector)
        try:
            self._server = _Server(wanted)
        except (OSError, UnicodeError) as error:
            raise ListenError(_why(wanted, error)) from error
        self._server.set_app(_only_metrics(make_wsgi_app(registry)))
        self.address = ListenAddress(wanted.host, self._server.server_port)
        self._thread = Thread(target=self._server.serve_forever, name="gpuassist metrics", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No question is taken any more; one that is being answered has its end."""
        ending = Thread(target=self._server.shutdown, daemon=True)
        ending.start()
        try:
            self._server.socket.shutdown(socket.SHUT_RDWR)  # wakes the thread, which looks for an end twice a second alone
        except OSError:
            pass
        ending.join(_STOP_SECONDS)
        self._server.server_close()
        self._thread.join(_STOP_SECONDS)


class _Handler(WSGIRequestHandler):
    timeout = _SECONDS_AT_MOST
    server_version, sys_version = "gpuassist", ""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the terminal is the samples'."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, wanted: ListenAddress) -> None:
        self._free = BoundedSemaphore(_AT_ONCE)
        family, _, _, _, place = socket.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = family
        super().__init__((str(place[0]), int(place[1])), _Handler)

    def server_bind(self) -> None:
        """Without the name of the address, for which a name server would be asked."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "gpuassist", int(self.server_address[1])
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One that went away, or asked nonsense, is nobody's trouble but its own."""


def _only_metrics(metrics: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("PATH_INFO") == "/metrics":
            return metrics(environ, start_response)
        found = environ.get("PATH_INFO") == "/"
        start_response("200 OK" if found else "404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"/metrics\n" if found else b"not found: see /metrics\n"]

    return answer


def _why(wanted: ListenAddress, error: Exception) -> Text:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return text("port {port} of {host} is taken by another program", port=wanted.port, host=wanted.host)
    if number == errno.EACCES:
        return text("port {port} needs root: take one above 1023", port=wanted.port)
    if number == errno.EADDRNOTAVAIL or isinstance(error, (socket.gaierror, UnicodeError)):
        return text("{host} is no address of this machine", host=wanted.host)
    words = error.strerror if isinstance(error, OSError) else str(error)
    return text("{address} cannot be listened on: {words}", address=wanted.shown, words=verbatim(words or ""))
