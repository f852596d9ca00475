"""An HTTP server on loopback whose every answer a test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass
class Reply:
    """A status, headers and a body; `hangs` holds it back until the server is closed, after the headers where `begun`."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    begun: bool = False


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    question: dict[str, str]
    headers: dict[str, str]


@dataclass
class ScriptedServer:
    """`answer` may be replaced at any time."""

    answer: Callable[[Asked], Reply]
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[ScriptedServer]:
    script = ScriptedServer(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            question = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            asked = Asked(parts.path, question, dict(self.headers.items()))
            script.asked.append(asked)
            reply = script.answer(asked)
            if reply.hangs and not reply.begun:
                script.closing.wait()
                return
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(reply.body)
                if reply.hangs:
                    self.wfile.flush()
                    script.closing.wait()
            except OSError:
                pass  # whoever asked has gone

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def page(words: str, status: int = 200) -> Reply:
    return Reply(words.encode(), status, {"Content-Type": "text/html"})


def document(content: object, status: int = 200) -> Reply:
    return Reply(json.dumps(content).encode(), status, {"Content-Type": "application/json"})
