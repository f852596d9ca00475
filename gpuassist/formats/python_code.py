"""Python that somebody else wrote, read and never run."""

from __future__ import annotations

import ast
import warnings


def parsed(source: str) -> ast.Module | None:
    """Its statements; none where it is no Python, or more than Python itself can take."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's `"\\d"` or `1if x` is nothing to tell this user of
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two of thousands of brackets or signs in a row
        return None
