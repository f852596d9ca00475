"""Reading from one HTTP server that the user named, within bounds: bytes, seconds, and no other host than that one.

No proxy is asked: a server of one's own network is reached straight. TLS trusts whom the system trusts (SSL_CERT_FILE is heeded).
"""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Mapping
from threading import Timer
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlencode, urlsplit

from msgspec import Struct

from gpuassist.model.text import Text, text, verbatim

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

ANSWER_AT_MOST_BYTES = 64 << 20
SECONDS_AT_MOST = 10.0
_REDIRECTS_AT_MOST = 3
_PORTS = {"http": 80, "https": 443}
_FILE_AT_MOST_BYTES = 1 << 16
_PIECE = 1 << 18


class WebError(Exception):
    """Nothing was read, for this reason."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason.message)
        self.reason = reason


class WebAddress(Struct, frozen=True):
    """`path` is what stands before that of every question, without a slash at its end."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def shown(self) -> str:
        """As people write it, and never with a password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


class Credentials(Struct, frozen=True):
    """What goes into the Authorization header; nowhere else is it shown."""

    header: str = ""

    def __repr__(self) -> str:
        return "Credentials(…)" if self.header else "Credentials()"


NOBODY = Credentials()


class WebAnswer(Struct, frozen=True):
    """The status, and what was sent."""

    status: int
    body: bytes


def read_address(words: str) -> tuple[WebAddress, Credentials]:
    """What `host:9090`, `http://host:9090/prometheus` or `https://user:password@host` name; raises `WebError`."""
    given = words.strip()
    try:
        parts = urlsplit(given if "://" in given else f"http://{given}")
        port = parts.port
    except ValueError:
        raise WebError(_NO_ADDRESS) from None
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or not host or any(one.isspace() or ord(one) < ord("!") for one in given):
        raise WebError(_NO_ADDRESS)
    path = parts.path.rstrip("/").removesuffix("/api/v1/query").removesuffix("/graph").rstrip("/")
    user = unquote(parts.username) if parts.username is not None else ""
    credentials = basic(user, unquote(parts.password or "")) if user else Credentials()
    return WebAddress(parts.scheme, host, port or _PORTS[parts.scheme], path), credentials


def basic(user: str, password: str) -> Credentials:
    return Credentials("Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())


def token_in(path: str) -> Credentials:
    """The bearer token that a file holds; raises `WebError`."""
    token = _small_file(path).decode("ascii", "replace").strip()
    if not token or not token.isprintable() or not token.isascii() or " " in token:
        raise WebError(text("{path} holds no token: one line of letters and digits", path=path))
    return Credentials(f"Bearer {token}")


def netrc_of(host: str, variables: Mapping[str, str], home: str) -> Credentials:
    """What the user's own netrc has for a host, which may be nothing; raises `WebError` for one that cannot be read."""
    path = variables.get("NETRC") or os.path.join(home, ".netrc")
    if not os.path.exists(path):
        return Credentials()
    _small_file(path)  # a FIFO or a huge file would hold us up
    from netrc import NetrcParseError, netrc

    try:
        found = netrc(path).authenticators(host)
    except NetrcParseError as error:
        raise WebError(
            text("{path}, line {line}, cannot be read: {words}", path=path, line=error.lineno or 0, words=error.msg)
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise WebError(_unreadable(path, error)) from None
    return basic(found[0], found[2] or "") if found is not None else Credentials()


class WebReader:
    """Asks one server, a connection for each question; used by one thread."""

    def __init__(self, address: WebAddress, credentials: Credentials = NOBODY, *, seconds: float = SECONDS_AT_MOST) -> None:
        self.address, self._credentials, self._seconds = address, credentials, seconds
        self.says_who = bool(credentials.header)
        self._socket: socket.socket | None = None
        self._ended = self._late = False

    def get(self, path: str, question: Mapping[str, str]) -> WebAnswer:
        """Raises `WebError`; an answer with the status of an error is an answer."""
        wanted = f"{self.address.path}{path}?{urlencode(question)}"
        for _ in range(_REDIRECTS_AT_MOST + 1):
            self._late = False
            answer, location = self._once(wanted)
            if not location:
                return answer
            wanted = self._same_server(location)
        raise WebError(text("it sends on and on, from one address to the next"))

    def interrupt(self) -> None:
        """From any thread: what is under way fails, and so does what comes."""
        self._ended = True
        self._cut()

    def _once(self, wanted: str) -> tuple[WebAnswer, str]:
        from http.client import HTTPException

        timer = Timer(self._seconds, self._run_out)
        timer.daemon = True
        timer.start()
        try:
            connection = self._connect()
            connection.connect()
            self._socket = connection.sock  # which the connection forgets once an answer begins
            if self._ended:
                raise WebError(_STOPPED)
            connection.request("GET", wanted, headers=self._headers())
            with connection.getresponse() as response:
                return WebAnswer(response.status, self._body(response)), _location(response)
        except (OSError, HTTPException, ValueError, AttributeError) as error:  # the last where the socket was closed meanwhile
            raise WebError(self._why(error)) from None
        finally:
            timer.cancel()
            self._cut()

    def _connect(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        address = self.address
        if address.scheme == "http":
            return HTTPConnection(address.host, address.port, timeout=self._seconds)
        try:
            from ssl import create_default_context
        except ImportError:
            raise WebError(text("this Python has no TLS: only http:// can be asked")) from None

        return HTTPSConnection(address.host, address.port, timeout=self._seconds, context=create_default_context())

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close", "User-Agent": "gpuassist"}
        return {**headers, "Authorization": self._credentials.header} if self._credentials.header else headers

    def _body(self, response: HTTPResponse) -> bytes:
        pieces, size = [], 0
        while piece := response.read(_PIECE):
            size += len(piece)
            if size > ANSWER_AT_MOST_BYTES:
                raise WebError(text("its answer is longer than {size} MiB", size=ANSWER_AT_MOST_BYTES >> 20))
            pieces.append(piece)
        if self._late:
            raise TimeoutError
        if response.length:  # left of what was announced: reading in pieces does not tell
            raise WebError(_CUT_SHORT)
        packed = response.getheader("Content-Encoding", "identity").strip().lower()
        if packed not in {"", "identity"}:
            raise WebError(text("its answer is packed ({how}), which nobody asked for: is there a proxy between?", how=packed[:20]))
        return b"".join(pieces)

    def _same_server(self, location: str) -> str:
        """The path that it sends on to; credentials are nobody else's, so that another server is refused."""
        here = self.address
        try:
            parts = urlsplit(location)
            port = parts.port or _PORTS.get(parts.scheme, here.port)
        except ValueError:
            raise WebError(_NOWHERE) from None
        if parts.netloc and (parts.scheme or here.scheme, parts.hostname, port) != (here.scheme, here.host, here.port):
            elsewhere = f"{parts.scheme or here.scheme}://{parts.netloc.rpartition('@')[2]}"
            raise WebError(
                text(
                    "it sends on to {elsewhere}, which nobody named: name that address if it is the right one", elsewhere=elsewhere
                )
            )
        if not parts.path.startswith("/"):
            raise WebError(_NOWHERE)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path

    def _run_out(self) -> None:
        self._late = True
        self._cut()

    def _cut(self) -> None:
        made, self._socket = self._socket, None
        if made is not None:
            try:
                made.shutdown(socket.SHUT_RDWR)  # wakes whoever reads; `close` alone does not
            except OSError:
                pass
            made.close()

    def _why(self, error: Exception) -> Text:
        if self._ended:
            return _STOPPED
        if self._late or isinstance(error, TimeoutError):
            return text("no answer within {seconds:.0f} s", seconds=self._seconds)
        insecure = _why_insecure(error) if self.address.scheme == "https" else None
        if insecure is not None:
            return insecure
        if isinstance(error, socket.gaierror):
            return text("no machine of that name is known here")
        if isinstance(error, ConnectionRefusedError):
            return text("nothing listens there")
        if type(error).__name__ == "BadStatusLine":  # not by its class: the module is not imported before something is asked
            return text("what listens there is no web server: is the port right?")
        if type(error).__name__ == "IncompleteRead":
            return _CUT_SHORT
        words = verbatim((str(error.strerror or error) if isinstance(error, OSError) else str(error)) or type(error).__name__)
        if isinstance(error, ConnectionResetError) and self.address.scheme == "http":
            return text("the connection broke off: {words}. If it speaks TLS, its address begins with https://", words=words)
        return text("the connection broke off: {words}", words=words)


_NO_ADDRESS = text("this is no address of a server: it looks like http://HOST:9090")
_NOWHERE = text("it sends on to an address that is none")
_STOPPED = text("it is no longer wanted")
_CUT_SHORT = text("the connection broke off in the middle of its answer")


def _why_insecure(error: Exception) -> Text | None:
    from ssl import SSLCertVerificationError, SSLError  # it is there, or nobody would have asked by it

    if isinstance(error, SSLCertVerificationError):
        return text("its certificate is not trusted on this machine: {words}", words=verbatim(error.verify_message))
    if isinstance(error, SSLError):
        return text("no secure connection: {words} (is it http:// there?)", words=verbatim(str(error.reason or error)))
    return None


def _location(response: HTTPResponse) -> str:
    return response.getheader("Location", "") if response.status in {301, 302, 303, 307, 308} else ""


def _small_file(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            content = stream.read(_FILE_AT_MOST_BYTES + 1)
    except OSError as error:
        raise WebError(_unreadable(path, error)) from None
    if len(content or b"") > _FILE_AT_MOST_BYTES:
        raise WebError(text("{path} is larger than any such file", path=path))
    return content or b""


def _unreadable(path: str, error: Exception) -> Text:
    words = error.strerror if isinstance(error, OSError) else type(error).__name__
    return text("{path} cannot be read: {words}", path=path, words=verbatim(words or type(error).__name__))
