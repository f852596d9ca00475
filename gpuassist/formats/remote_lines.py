"""What comes over a connection to another machine: lines of ours among whatever its start-up files print. All of it is foreign.

A line of ours begins with a token that was drawn for this connection, so that neither a banner nor a program that prints in the
background is taken for an answer; one that is damaged by such output is no answer, and is counted.
"""

from __future__ import annotations

from typing import Any

from gpuassist.model.json_reader import NotJsonError, read_json

LINE_AT_MOST_BYTES = 1 << 20
STRANGE_KEPT_BYTES = 4 << 10
NONE = "none"
"""All that a machine without Python says."""


class RemoteLines:
    """Takes bytes as they come and gives the messages in them."""

    def __init__(self, token: str) -> None:
        self._mark = token.encode() + b" "
        self._pending = bytearray()
        self._skips = False
        self.damaged = self.strange_bytes = 0
        self._strange = b""

    def take(self, piece: bytes) -> list[dict[str, Any]]:
        """The messages that are whole now; a line that is longer than any of ours is left out as it comes."""
        self._pending += piece
        *lines, rest = bytes(self._pending).split(b"\n")
        self._pending = bytearray(rest)
        messages = []
        for line in lines:
            if not self._skips and (message := self._message(line)) is not None:
                messages.append(message)
            else:
                self._is_strange(line + b"\n")
            self._skips = False
        if len(self._pending) > LINE_AT_MOST_BYTES:
            self.damaged += not self._skips and self._pending.startswith(self._mark)
            self._skips = True
            self._is_strange(self._pending)
            self._pending.clear()
        return messages

    @property
    def strange(self) -> str:
        """The last that came and was not ours."""
        kept = self._strange if self._pending.startswith(self._mark) else self._strange + self._pending
        return bytes(kept[-STRANGE_KEPT_BYTES:]).decode("utf-8", "replace")

    def _is_strange(self, line: bytes | bytearray) -> None:
        self.strange_bytes += len(line)
        self._strange = (self._strange + bytes(line[-STRANGE_KEPT_BYTES:]))[-STRANGE_KEPT_BYTES:]

    def _message(self, line: bytes) -> dict[str, Any] | None:
        if not line.startswith(self._mark) or len(line) > LINE_AT_MOST_BYTES:
            return None
        words = line[len(self._mark) :].strip()
        if words == NONE.encode():
            return {NONE: 1}
        try:
            message = read_json(words)
        except NotJsonError:
            message = None
        if not isinstance(message, dict):
            self.damaged += 1
            return None
        return message
