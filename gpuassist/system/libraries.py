"""Whether the dynamic linker finds shared libraries, without starting anything (ld.so(8))."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gpuassist.system.files import Files

_CACHE = "/etc/ld.so.cache"


def not_in_cache(files: Files, names: Iterable[str]) -> tuple[str, ...]:
    """Those that the linker's cache does not name: none of them may be missing all the same. It takes a tenth of a millisecond."""
    try:
        with open(files.place(_CACHE), "rb") as file:
            known = file.read()
    except OSError:
        known = b""
    return tuple(name for name in names if b"/" + os.fsencode(name) + b"\0" not in known)  # as the end of its path


def why_not_loaded(path: str) -> str:
    """Why a library cannot be loaded with all that it needs, in the linker's words; empty where it can. It stays loaded."""
    import ctypes  # 8 ms, for what hardly ever happens

    try:
        ctypes.CDLL(path)
    except OSError as error:
        return str(error)
    return ""
