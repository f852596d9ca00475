"""Names that one program of this machine at a time may hold, whoever its user: held until it ends in whatever way, with no file.

Each is an address in the abstract namespace of Unix sockets (unix(7)), which the kernel gives once and takes back by itself. A
container with a network of its own has names of its own.
"""

from __future__ import annotations

import errno
from typing import Any

_PREFIX = "\0gpuassist/"


class Claims:
    """What this program holds."""

    def __init__(self) -> None:
        self._held: dict[str, Any] = {}

    def take(self, name: str) -> bool:
        """Holds the name from now on; false where another program does."""
        if name in self._held:
            return True
        import socket  # 4 ms

        one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            one.bind((_PREFIX + name).encode())
        except OSError as error:
            one.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        self._held[name] = one
        return True

    def close(self) -> None:
        """Gives all of them back."""
        self.give_back(*self._held)

    def give_back(self, *names: str) -> None:
        for name in tuple(names):
            held = self._held.pop(name, None)
            if held is not None:
                held.close()
