"""PySide6 without that with which it describes Qt's functions, until somebody asks for a description.

shiboken6 carries Python modules that make the signatures of Qt's functions: for `help`, for what a `TypeError` says, for stubs. It
compiles their source at every start, and they compile large regular expressions: a quarter of the processor time of an empty window
(6.11.3). Here such a module runs its source when it is first asked for a name; a PySide6 with other modules starts as it does by
itself.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_FOLDER = "shibokensupport/signature"
# Those that only Python asks; into `mapping` C++ looks by itself (`adjustFuncName` in signature.cpp).
_SELDOM = ("errorhandler", "layout", "parser", "lib/enum_sig", "lib/pyi_generator", "lib/tool")
_PATHS = frozenset(f"{_FOLDER}/{name}.py" for name in _SELDOM)
_sources: dict[str, Any] = {}
_lock = threading.RLock()  # one of them asks others while it runs


@contextmanager
def signatures_late() -> Iterator[None]:
    """While PySide6 is first imported.

    shiboken6 puts its finder of these modules before all others, so that what it hands to `compile` is where they can be met.
    """
    real = builtins.compile

    def compile_late(source: Any, filename: Any, mode: str, *more: Any, **options: Any) -> Any:
        if filename not in _PATHS:
            return real(source, filename, mode, *more, **options)
        _sources[filename] = source
        return real(f"from {__name__} import when_asked\n__getattr__ = when_asked({filename!r}, globals())", filename, mode)

    builtins.compile = compile_late
    try:
        yield
    finally:
        builtins.compile = real


def when_asked(path: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module with these names that has not run yet; Python asks it for each name that is not there."""

    def asked(name: str) -> Any:
        with _lock:
            source = None if name.startswith("__") else _sources.pop(path, None)  # `__path__` and its like are asked by imports
            if source is not None:
                exec(compile(source, path, "exec"), names)
                names.pop("__getattr__", None)
        if name in names:
            return names[name]
        raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")

    return asked
